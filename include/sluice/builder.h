/* sluice/builder.h: building a kernel in C instead of writing text.
 *
 * The builder makes the tree statement by statement in text order: open a loop or branch, add what is inside, end it.
 * Names and strings are copied. Errors (a wrong name, an `end` too many) are kept and reported by sluice_builder_finish,
 * so that calls need not be checked one by one; each call also returns its status.
 *
 *   sluice_builder *b;
 *   sluice_builder_new(&b, "softsum");
 *   sluice_build_kernel(b, "softsum", "trn2", 0);
 *   sluice_build_param(b, "n", sluice_expr_int(b, 8), false);
 *   ...
 *   sluice_builder_finish(&program, b, &sink);   // ends the builder in every case
 */
#ifndef SLUICE_BUILDER_H
#define SLUICE_BUILDER_H

#include <sluice/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sluice_builder sluice_builder;

/** Handle of an expression of this builder; 0 is "none". */
typedef uint32_t sluice_expr;

enum sluice_binary { SLUICE_ADD, SLUICE_SUB, SLUICE_MUL, SLUICE_DIV, SLUICE_MOD };
enum sluice_compare { SLUICE_EQ, SLUICE_NE, SLUICE_LT, SLUICE_LE, SLUICE_GT, SLUICE_GE };

/** A builder of a program; `name` stands for the file in diagnostics. Returns SLUICE_OK or SLUICE_E_NO_MEMORY. */
SLUICE_API int sluice_builder_new(sluice_builder **builder, const char *name);
/** Hands over the program, reporting every error kept so far, and frees the builder in every case. */
SLUICE_API int sluice_builder_finish(sluice_program **program, sluice_builder *builder, const sluice_sink *sink);
/** Gives up. NULL is allowed. */
SLUICE_API void sluice_builder_free(sluice_builder *builder);

/** Expressions. A name is a parameter or an enclosing loop variable. sluice_expr_text reads one in the language's syntax.
 * An expression belongs to the kernel that is open; it may be used any number of times there. 0 = it failed. */
SLUICE_API sluice_expr sluice_expr_int(sluice_builder *builder, int64_t value);
SLUICE_API sluice_expr sluice_expr_name(sluice_builder *builder, const char *name);
SLUICE_API sluice_expr sluice_expr_register(sluice_builder *builder, const char *name);
SLUICE_API sluice_expr sluice_expr_binary(sluice_builder *builder, enum sluice_binary op, sluice_expr a, sluice_expr b);
SLUICE_API sluice_expr sluice_expr_text(sluice_builder *builder, const char *text);

/** A condition: comparisons joined by `and`, or by `or` when any is set. An opaque one has only a name: `?name`. */
typedef struct sluice_comparison {
  enum sluice_compare op;
  sluice_expr a, b;
  const char *opaque; /**< NULL unless opaque */
} sluice_comparison;
typedef struct sluice_condition {
  const sluice_comparison *comparisons;
  size_t count;
  bool any;
} sluice_condition;

/** One index of an access: `first`, `first:second`, `first +: second`, `:`, `?`. */
enum sluice_index_kind { SLUICE_INDEX_AT, SLUICE_INDEX_RANGE, SLUICE_INDEX_LENGTH, SLUICE_INDEX_ALL, SLUICE_INDEX_ANY };
typedef struct sluice_index {
  enum sluice_index_kind kind;
  sluice_expr first, second;
} sluice_index;

enum sluice_operand_kind { SLUICE_OPERAND_MEMORY, SLUICE_OPERAND_REGISTER, SLUICE_OPERAND_INT, SLUICE_OPERAND_NAME };
typedef struct sluice_operand {
  enum sluice_operand_kind kind;
  const char *name;            /**< buffer, register, or other name */
  int64_t value;               /**< INT */
  bool read_write;             /**< `+name` */
  const sluice_index *indices; /**< MEMORY: NULL for the whole buffer */
  size_t index_count;
} sluice_operand;

/** Threshold of a wait: a register of the stream when reg is set, an enclosing loop variable when name is set, else value. */
typedef struct sluice_wait {
  const char *semaphore;
  const char *reg, *name;
  uint32_t value;
  bool equal;              /**< `==` instead of `>=` */
  const char *event;       /**< a wait on an event when set; semaphore is NULL then */
  sluice_expr event_index; /**< of an array of events, else 0 */
} sluice_wait;
typedef struct sluice_update {
  const char *semaphore;
  uint32_t by; /**< >= 1 */
} sluice_update;
typedef struct sluice_event_set {
  const char *event;
  sluice_expr index; /**< of an array of events, else 0 */
} sluice_event_set;
/** `name = value`: exactly one of the four is set. */
typedef struct sluice_attribute {
  const char *name;
  sluice_expr value;
  const sluice_condition *condition;
  const char *number; /**< a floating-point number as text, e.g. "0.5" */
  const char *string;
} sluice_attribute;

/** One instruction. Zero what is not used: `sluice_op op = { .label = ..., ... };`. */
typedef struct sluice_op {
  const char *label;  /**< NULL = none */
  const char *stream; /**< "pe", "q0", "act|dve", "*" */
  const char *opcode;
  const sluice_operand *destinations, *sources;
  size_t destination_count, source_count;
  const sluice_attribute *attributes;
  size_t attribute_count;
  const sluice_wait *waits;
  size_t wait_count;
  const sluice_update *updates;
  size_t update_count;
  const sluice_event_set *sets;
  size_t set_count;
  const char *origin_file; /**< location in another tool's source; NULL = none */
  uint32_t origin_line, origin_column;
} sluice_op;

enum { SLUICE_KERNEL_EXPLICIT = 1 /**< only the given dependences count */ };
SLUICE_API int sluice_build_kernel(sluice_builder *builder, const char *name, const char *target, unsigned flags);
SLUICE_API int sluice_build_param(sluice_builder *builder, const char *name, sluice_expr value, bool is_static);
/** trigger NULL: the target's default. */
SLUICE_API int sluice_build_queue(sluice_builder *builder, const char *name, const char *trigger);
/** A buffer: dims[partition_dim] is the partition dimension, -1 for none. */
SLUICE_API int sluice_build_buffer(sluice_builder *builder, const char *name, const char *space, const char *type,
                                   const sluice_expr *dims, size_t dim_count, int partition_dim);
/** Where the newest buffer lies: byte offset, and its first partition (-1: not said). */
SLUICE_API int sluice_build_buffer_at(sluice_builder *builder, int64_t partition_start, sluice_expr address);
/** An attribute of the newest buffer, e.g. scratch = 1. */
SLUICE_API int sluice_build_buffer_attribute(sluice_builder *builder, const sluice_attribute *attribute);
SLUICE_API int sluice_build_alias(sluice_builder *builder, const char *buffer, const char *other);
SLUICE_API int sluice_build_semaphore(sluice_builder *builder, const char *name, uint32_t initial);
/** An event set by stream `from` and awaited by stream `to`; count 0: not an array. */
SLUICE_API int sluice_build_event(sluice_builder *builder, const char *name, uint32_t count, const char *from,
                                  const char *to);

SLUICE_API int sluice_build_op(sluice_builder *builder, const sluice_op *op);
enum { SLUICE_LOOP_DIVERGENT = 1 };
/** `loop var < bound`. */
SLUICE_API int sluice_build_loop(sluice_builder *builder, const char *var, sluice_expr bound, unsigned flags);
/** `loop var in lo..hi step step`; step 0 = 1. */
SLUICE_API int sluice_build_loop_range(sluice_builder *builder, const char *var, sluice_expr lo, sluice_expr hi,
                                       sluice_expr step, unsigned flags);
/** `loop var while condition`. */
SLUICE_API int sluice_build_while(sluice_builder *builder, const char *var, const sluice_condition *condition,
                                  unsigned flags);
/** Asks that the innermost open loop be unrolled; copies >= 1. */
SLUICE_API int sluice_build_unroll(sluice_builder *builder, uint32_t copies);
SLUICE_API int sluice_build_if(sluice_builder *builder, const sluice_condition *condition);
SLUICE_API int sluice_build_else(sluice_builder *builder);
/** Ends the innermost open loop, branch, or (when none is open) the kernel. */
SLUICE_API int sluice_build_end(sluice_builder *builder);
SLUICE_API int sluice_build_barrier(sluice_builder *builder, bool reset);
SLUICE_API int sluice_build_epilogue(sluice_builder *builder);

/** One component of a distance. */
typedef struct sluice_distance {
  const char *loop;
  int32_t k;
  bool across; /**< counted through all visits of the loop: `(across loop: k)`, the only component of its line */
} sluice_distance;
/** `dep producer -> consumer (loop: k, ...)`; count 0 = this iteration of the innermost common loop. */
SLUICE_API int sluice_build_dep(sluice_builder *builder, const char *producer, const char *consumer,
                                const sluice_distance *distances, size_t count);
/** `nodep producer -> consumer (...) "reason"`; count 0 = all distances. */
SLUICE_API int sluice_build_nodep(sluice_builder *builder, const char *producer, const char *consumer,
                                  const sluice_distance *distances, size_t count, const char *reason);

#ifdef __cplusplus
}
#endif
#endif
