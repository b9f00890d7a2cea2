/* eval.h: the value of an expression where it is known. Safe on every input: arithmetic is 64-bit and
 * checked.
 *
 * Division rounds down and the remainder has the divisor's sign, so that `(i - 1) % 2` names a copy of a
 * rotation also at i = 0. O(size of the expression).
 */
#ifndef SL_IR_EVAL_H
#define SL_IR_EVAL_H

#include "ir/ir.h"

/* In order of precedence: the state of a result is the worst of its parts. */
enum sl_constant_state {
  SL_CONST_KNOWN,
  SL_CONST_UNKNOWN,  /* depends on a register, a loop variable or a parameter without a known value */
  SL_CONST_OVERFLOW, /* does not fit 64 bits, or nests deeper than SL_NESTING_EXPR */
  SL_CONST_DIVISION  /* division or modulo by zero */
};

struct sl_constant {
  uint8_t state; /* enum sl_constant_state */
  int64_t value; /* when KNOWN */
};

static inline struct sl_constant sl_constant_of(int64_t value)
{
  return (struct sl_constant){ SL_CONST_KNOWN, value };
}
static inline struct sl_constant sl_constant_none(enum sl_constant_state state)
{
  return (struct sl_constant){ (uint8_t)state, 0 };
}

/* Applies a binary kind (ADD ... MOD) to two values. */
struct sl_constant sl_constant_binary(enum sl_expr_kind kind, struct sl_constant a, struct sl_constant b);

/* Whether a comparison, not an opaque one, holds. */
bool sl_compare_holds(enum sl_compare op, int64_t a, int64_t b);

/* The value of an expression that is an integer, whether its minus sign is an operator or part of it: the text is the same. */
bool sl_expr_is_integer(const struct sl_kernel *kernel, const struct sl_expr *expr, int64_t *value);

/* What a NAME or REG stands for. */
typedef struct sl_constant (*sl_eval_lookup)(void *user, enum sl_expr_kind kind, sl_name name);

/* The value of an expression of the kernel; `lookup` NULL: every name is unknown. */
struct sl_constant sl_eval(const struct sl_kernel *kernel, sl_index expr, sl_eval_lookup lookup, void *user);

/* Values of a kernel's parameters: a table to be made once and asked often. */
struct sl_param_values {
  const struct sl_kernel *kernel;
  sl_map index; /* name -> index into kernel->params */
  sl_vec(struct sl_constant) values;
};

/* Evaluates the defaults in order. `static_only`: parameters that are not `static` are unknown, because the
 * run decides. */
void sl_param_values_init(struct sl_param_values *values, sl_heap *heap, const struct sl_kernel *kernel,
                          bool static_only);
void sl_param_values_free(struct sl_param_values *values, sl_heap *heap);

/* The value of an expression over parameters. */
struct sl_constant sl_eval_params(const struct sl_param_values *values, sl_index expr);

/* The trips of a loop in one visit, at most when it has a `while` too. False when bounds or step are not known before
 * the run, or the step is not positive. */
bool sl_eval_trips(const struct sl_param_values *values, const struct sl_loop *loop, uint64_t *trips);

#endif
