/* eval.c: see eval.h. */
#include "ir/eval.h"

#include <assert.h>

static struct sl_constant divide(int64_t a, int64_t b)
{
  if (b == 0)
    return sl_constant_none(SL_CONST_DIVISION);
  if (b == -1)
    return a == INT64_MIN ? sl_constant_none(SL_CONST_OVERFLOW) : sl_constant_of(-a);
  int64_t quotient = a / b;
  bool rounded_up = a % b != 0 && (a < 0) != (b < 0);
  return sl_constant_of(rounded_up ? quotient - 1 : quotient);
}

static struct sl_constant modulo(int64_t a, int64_t b)
{
  if (b == 0)
    return sl_constant_none(SL_CONST_DIVISION);
  if (b == -1)
    return sl_constant_of(0);
  int64_t rest = a % b;
  return sl_constant_of(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

bool sl_expr_is_integer(const struct sl_kernel *kernel, const struct sl_expr *expr, int64_t *value)
{
  bool negated = expr->kind == SL_EXPR_NEG;
  if (negated)
    expr = &kernel->exprs.data[expr->u.sub.lhs];
  if (expr->kind != SL_EXPR_INT || (negated && expr->u.value < 0))
    return false;
  *value = negated ? -expr->u.value : expr->u.value;
  return true;
}

bool sl_compare_holds(enum sl_compare op, int64_t a, int64_t b)
{
  switch (op) {
  case SL_CMP_EQ: return a == b;
  case SL_CMP_NE: return a != b;
  case SL_CMP_LT: return a < b;
  case SL_CMP_LE: return a <= b;
  case SL_CMP_GT: return a > b;
  case SL_CMP_GE: return a >= b;
  case SL_CMP_OPAQUE: break;
  }
  assert(false && "an opaque condition compares nothing");
  return false;
}

struct sl_constant sl_constant_binary(enum sl_expr_kind kind, struct sl_constant a, struct sl_constant b)
{
  bool divides = kind == SL_EXPR_DIV || kind == SL_EXPR_MOD;
  if (divides && b.state == SL_CONST_KNOWN && b.value == 0)
    return sl_constant_none(SL_CONST_DIVISION);
  if (a.state != SL_CONST_KNOWN || b.state != SL_CONST_KNOWN)
    return a.state > b.state ? a : b;
  int64_t result = 0;
  bool overflow = false;
  switch (kind) {
  case SL_EXPR_ADD: overflow = __builtin_add_overflow(a.value, b.value, &result); break;
  case SL_EXPR_SUB: overflow = __builtin_sub_overflow(a.value, b.value, &result); break;
  case SL_EXPR_MUL: overflow = __builtin_mul_overflow(a.value, b.value, &result); break;
  case SL_EXPR_DIV: return divide(a.value, b.value);
  case SL_EXPR_MOD: return modulo(a.value, b.value);
  default: assert(kind > SL_EXPR_NEG && "not a binary expression"); return sl_constant_none(SL_CONST_UNKNOWN);
  }
  return overflow ? sl_constant_none(SL_CONST_OVERFLOW) : sl_constant_of(result);
}

struct evaluation {
  const struct sl_kernel *kernel;
  sl_eval_lookup lookup;
  void *user;
};

static struct sl_constant evaluate(const struct evaluation *e, sl_index index, uint32_t depth)
{
  const struct sl_expr *expr = &e->kernel->exprs.data[index];
  if (depth > SL_NESTING_EXPR)
    return sl_constant_none(SL_CONST_OVERFLOW);
  switch ((enum sl_expr_kind)expr->kind) {
  case SL_EXPR_INT: return sl_constant_of(expr->u.value);
  case SL_EXPR_NAME:
  case SL_EXPR_REG:
    return e->lookup ? e->lookup(e->user, (enum sl_expr_kind)expr->kind, (sl_name)expr->u.value)
                     : sl_constant_none(SL_CONST_UNKNOWN);
  case SL_EXPR_NEG: {
    struct sl_constant zero = sl_constant_of(0);
    return sl_constant_binary(SL_EXPR_SUB, zero, evaluate(e, expr->u.sub.lhs, depth + 1));
  }
  default:
    return sl_constant_binary((enum sl_expr_kind)expr->kind, evaluate(e, expr->u.sub.lhs, depth + 1),
                              evaluate(e, expr->u.sub.rhs, depth + 1));
  }
}

struct sl_constant sl_eval(const struct sl_kernel *kernel, sl_index expr, sl_eval_lookup lookup, void *user)
{
  struct evaluation e = { kernel, lookup, user };
  return evaluate(&e, expr, 0);
}

static struct sl_constant lookup_param(void *user, enum sl_expr_kind kind, sl_name name)
{
  const struct sl_param_values *values = user;
  const uint32_t *at = kind == SL_EXPR_NAME ? sl_map_get(&values->index, name) : NULL;
  return at ? values->values.data[*at] : sl_constant_none(SL_CONST_UNKNOWN);
}

void sl_param_values_init(struct sl_param_values *values, sl_heap *heap, const struct sl_kernel *kernel,
                          bool static_only)
{
  memset(values, 0, sizeof *values);
  values->kernel = kernel;
  for (uint32_t i = 0; i < kernel->params.len; i++) {
    const struct sl_param *param = &kernel->params.data[i];
    struct sl_constant value = sl_constant_none(SL_CONST_UNKNOWN);
    if (param->value && (param->is_static || !static_only))
      value = sl_eval_params(values, param->value); /* sees the earlier parameters alone */
    sl_vec_add(heap, &values->values, value);
    *sl_map_put(&values->index, heap, param->name, NULL) = i;
  }
}

void sl_param_values_free(struct sl_param_values *values, sl_heap *heap)
{
  sl_map_free(&values->index, heap);
  sl_vec_free(heap, &values->values);
}

struct sl_constant sl_eval_params(const struct sl_param_values *values, sl_index expr)
{
  return sl_eval(values->kernel, expr, lookup_param, (void *)(uintptr_t)values);
}

bool sl_eval_trips(const struct sl_param_values *values, const struct sl_loop *loop, uint64_t *trips)
{
  if (!loop->has_range)
    return false;
  struct sl_constant lo = loop->lo ? sl_eval_params(values, loop->lo) : sl_constant_of(0);
  struct sl_constant hi = sl_eval_params(values, loop->hi);
  struct sl_constant step = loop->step ? sl_eval_params(values, loop->step) : sl_constant_of(1);
  if (lo.state != SL_CONST_KNOWN || hi.state != SL_CONST_KNOWN || step.state != SL_CONST_KNOWN || step.value <= 0)
    return false;
  /* unsigned: hi - lo of two 64-bit numbers fits when hi > lo */
  *trips = hi.value > lo.value ? ((uint64_t)hi.value - (uint64_t)lo.value - 1) / (uint64_t)step.value + 1 : 0;
  return true;
}
