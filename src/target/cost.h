/* cost.h: cost formulas of target descriptions: compiled once when the description is read, evaluated for each instruction.
 *
 *   formula  = or .                    or  = and { "or" and } .          and = compare { "and" compare } .
 *   compare  = sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ] .      sum = product { ("+" | "-") product } .
 *   product  = factor { ("*" | "/") factor } .
 *   factor   = number | "-" factor | "not" factor | "(" formula ")" | name | name "(" arguments ")" .
 *
 * A name is a variable of the operation (enum sl_cost_variable), a parameter or a define of the target. Comparisons give 1 or
 * 0. Functions: min(a, b, ...) max(a, b, ...) if(condition, then, else) floor(a) ceil(a), and about the operation
 * on(ENGINE), type(TYPE), dst_in(SPACE), src_in(SPACE), has(ATTRIBUTE), attr(ATTRIBUTE), is(ATTRIBUTE, WORD).
 *
 * Arithmetic is in double, total and without traps: a result outside +-1e150 is clamped there, division by zero gives 0 (a
 * divisor that is the constant 0 is an error when the description is read). A cost is never below 0.
 */
#ifndef SL_TARGET_COST_H
#define SL_TARGET_COST_H

#include "target/target.h"

/* SL_COST_VARIABLE(ENUM, "name in formulas", "meaning") */
#define SL_COST_VARIABLES                                                                                     \
  SL_COST_VARIABLE(N, "N", "elements per partition, the largest over all operands")                           \
  SL_COST_VARIABLE(P, "P", "partitions, the largest over all operands")                                       \
  SL_COST_VARIABLE(DST_N, "dst_n", "elements per partition of the first destination")                         \
  SL_COST_VARIABLE(SRC_N, "src_n", "elements per partition of the first source")                              \
  SL_COST_VARIABLE(SRC_P, "src_p", "partitions of the first source")                                          \
  SL_COST_VARIABLE(BYTES, "bytes", "bytes of the largest operand, over all partitions")                       \
  SL_COST_VARIABLE(CHUNK, "chunk", "bytes of the shortest contiguous run over all operands")                  \
  SL_COST_VARIABLE(CONTIGUOUS, "contiguous", "1 when neighbouring elements of every operand touch, else 0")   \
  SL_COST_VARIABLE(STRIDE, "stride", "bytes from an element to its neighbour, the largest over all operands") \
  SL_COST_VARIABLE(WIDEST, "widest", "bytes of the widest element type")                                      \
  SL_COST_VARIABLE(NARROWEST, "narrowest", "bytes of the narrowest element type")                             \
  SL_COST_VARIABLE(DST_BYTES, "dst_bytes", "bytes of an element of the first destination")                    \
  SL_COST_VARIABLE(SRC_BYTES, "src_bytes", "bytes of an element of the first source")                         \
  SL_COST_VARIABLE(DSTS, "dsts", "number of destinations")                                                    \
  SL_COST_VARIABLE(SRCS, "srcs", "number of sources")

enum sl_cost_variable {
#define SL_COST_VARIABLE(name, text, summary) SL_COST_##name,
  SL_COST_VARIABLES
#undef SL_COST_VARIABLE
      SL_COST_VARIABLE_COUNT
};
struct sl_cost_variable_info {
  const char *name, *summary;
};
extern const struct sl_cost_variable_info sl_cost_variables[SL_COST_VARIABLE_COUNT];

/* An attribute of the operation: a word (`op = add`), a number (`scale = 2`: value), or both absent. */
struct sl_cost_attr {
  const char *name;
  const char *word; /* NULL when it is a number */
  double value;
};

/* What a formula can ask about one operation. Start from sl_cost_env_init, then add the operands. */
struct sl_cost_env {
  double variables[SL_COST_VARIABLE_COUNT];
  uint32_t engine;  /* that executes it, or that triggers its queue */
  const char *type; /* element type of the first source; of the first destination when there is none; "" at first */
  uint8_t dst_in[64], src_in[64]; /* by space: operands there */
  const struct sl_cost_attr *attrs;
  size_t attr_count;
};

/* One memory operand, as far as costs depend on it. */
struct sl_cost_operand {
  uint32_t space;   /* index into the target's spaces */
  const char *type; /* "bf16" */
  double type_bytes;
  double partitions; /* 1 in a space without partitions */
  double elements;   /* per partition */
  double chunk;      /* bytes that lie together without a gap; 0 = elements * type_bytes */
  double stride;     /* bytes from an element to its neighbour; 0 = type_bytes */
};

void sl_cost_env_init(struct sl_cost_env *env, uint32_t engine, const struct sl_cost_attr *attrs, size_t attr_count);
/* Adds an operand: destinations and sources each in their order. O(1). */
void sl_cost_env_add(struct sl_cost_env *env, const struct sl_cost_operand *operand, bool is_destination);

/* A compiled formula: code for a stack machine. */
struct sl_cost;

/* A formula and where errors in it are shown. */
struct sl_cost_text {
  const char *formula;
  uint8_t unit;          /* enum sl_cost_unit: a parameter or define in another unit of time is an error */
  uint32_t define_count; /* the target's first defines, which the formula may name */
  sl_loc loc;
  bool fixed; /* loc is the place to show, not the place of the formula's first character */
};

/* Compiles a formula against the names of a target. NULL after reporting [target] errors (report NULL: in silence).
 * O(length), defines expanded. */
struct sl_cost *sl_cost_compile(sl_heap *heap, const struct sl_target *target, const struct sl_cost_text *text,
                                sl_report *report);
enum { SL_COST_STEPS_MAX = 2000, SL_COST_STACK_MAX = 64, SL_COST_NESTING_MAX = 40 };

/* The value in the formula's own unit, never negative, never above 1e150. O(steps). */
double sl_cost_eval(const struct sl_cost *cost, const struct sl_target *target, const struct sl_cost_env *env);

/* Cycles of env->engine until its stream may start the next operation (an attribute `cycles` overrides), and from there until
 * the result is visible and a semaphore may count. */
double sl_cost_interval(const struct sl_target *target, const struct sl_opcode_desc *opcode,
                        const struct sl_cost_env *env);
double sl_cost_latency(const struct sl_target *target, const struct sl_opcode_desc *opcode,
                       const struct sl_cost_env *env);
/* Cycles of an engine in nanoseconds. */
double sl_cost_ns(const struct sl_target *target, uint32_t engine, double cycles);

#endif
