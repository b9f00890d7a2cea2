/* bounds.c: see bounds.h. */
#include "property/bounds.h"

const char *const sl_bound_names[SL_BOUNDS] = {
  [SL_BOUND_NOTHING_RAN] = "nothing of the producer runs in the awaited iteration",
  [SL_BOUND_REST_OF_ITERATION] = "the rest of the awaited iteration",
  [SL_BOUND_LEAST_DISTANCE] = "the least of several distances",
  [SL_BOUND_UNKNOWN_INDEX] = "an index that is not known",
  [SL_BOUND_VARYING_EXTENT] = "a range of varying length",
  [SL_BOUND_SEVERAL_DIMENSIONS] = "dimensions that only together exclude each other",
  [SL_BOUND_SEVERAL_LOOPS] = "an index that several loops move, or a remainder of a loop inside",
  [SL_BOUND_SHARED_MEMORY] = "two buffers that share memory",
  [SL_BOUND_UNKNOWN_CONTROL] = "a branch or bound that the run decides",
};

/* ---- expressions ---- */

static bool holds_name(const struct sl_kernel *kernel, sl_index index, sl_name name)
{
  const struct sl_expr *expr = &kernel->exprs.data[index];
  switch (expr->kind) {
  case SL_EXPR_INT:
  case SL_EXPR_REG: return false;
  case SL_EXPR_NAME: return (sl_name)expr->u.value == name;
  case SL_EXPR_NEG: return holds_name(kernel, expr->u.sub.lhs, name);
  default: return holds_name(kernel, expr->u.sub.lhs, name) || holds_name(kernel, expr->u.sub.rhs, name);
  }
}

static bool holds_any_loop(const struct sl_kernel *kernel, sl_index expr)
{
  for (sl_index l = 1; l < kernel->loops.len; l++) {
    if (holds_name(kernel, expr, kernel->loops.data[l].var))
      return true;
  }
  return false;
}

static bool index_holds(const struct sl_kernel *kernel, const struct sl_access_index *index, sl_name name)
{
  switch ((enum sl_access_kind)index->kind) {
  case SL_INDEX_ALL:
  case SL_INDEX_ANY: return false;
  case SL_INDEX_AT: return holds_name(kernel, index->first, name);
  default: return holds_name(kernel, index->first, name) || holds_name(kernel, index->second, name);
  }
}

/* ---- accesses ---- */

/* 0:i + 1. What is written as `e:e + 2` has a length that does not vary, but looks like it. */
static bool extent_varies(const struct sl_kernel *kernel, const struct sl_operand *operand)
{
  for (uint32_t i = 0; i < operand->index_count; i++) {
    const struct sl_access_index *index = &kernel->indices.data[operand->first_index + i];
    if (index->kind == SL_INDEX_RANGE && holds_any_loop(kernel, index->second))
      return true;
    if (index->kind == SL_INDEX_LENGTH && holds_any_loop(kernel, index->second))
      return true;
  }
  return false;
}

/* The index of an access in a dimension, NULL when it has none there. */
static const struct sl_access_index *index_in(const struct sl_kernel *kernel, const struct sl_operand *operand,
                                              uint32_t dim)
{
  return dim < operand->index_count ? &kernel->indices.data[operand->first_index + dim] : NULL;
}

static bool moves(const struct sl_kernel *kernel, sl_index loop, const struct sl_operand *operand, uint32_t dim)
{
  const struct sl_access_index *index = index_in(kernel, operand, dim);
  return index && index_holds(kernel, index, kernel->loops.data[loop].var);
}

/* Whether one variable moves the two accesses in several dimensions. */
static bool couples_dimensions(const struct sl_kernel *kernel, const struct sl_operand *p, const struct sl_operand *c)
{
  for (sl_index l = 1; l < kernel->loops.len; l++) {
    unsigned dims = 0;
    for (uint32_t d = 0; d < p->index_count || d < c->index_count; d++)
      dims += moves(kernel, l, p, d) || moves(kernel, l, c, d);
    if (dims > 1)
      return true;
  }
  return false;
}

static bool holds_remainder(const struct sl_kernel *kernel, sl_index index)
{
  const struct sl_expr *expr = &kernel->exprs.data[index];
  switch (expr->kind) {
  case SL_EXPR_INT:
  case SL_EXPR_REG:
  case SL_EXPR_NAME: return false;
  case SL_EXPR_MOD:
  case SL_EXPR_DIV: return true;
  case SL_EXPR_NEG: return holds_remainder(kernel, expr->u.sub.lhs);
  default: return holds_remainder(kernel, expr->u.sub.lhs) || holds_remainder(kernel, expr->u.sub.rhs);
  }
}

/* Whether several loops move the two accesses in one dimension: different variables, or one that is not the same
 * loop's for both (loops inside the common block), with a remainder among them. */
static bool joins_loops(const struct sl_kernel *kernel, const struct sl_operand *p, const struct sl_operand *c)
{
  for (uint32_t d = 0; d < p->index_count || d < c->index_count; d++) {
    unsigned loops = 0;
    for (sl_index l = 1; l < kernel->loops.len; l++)
      loops += moves(kernel, l, p, d) || moves(kernel, l, c, d);
    const struct sl_access_index *x = index_in(kernel, p, d), *y = index_in(kernel, c, d);
    bool remainder =
        (x && x->first && holds_remainder(kernel, x->first)) || (y && y->first && holds_remainder(kernel, y->first));
    if (loops > 1 || (loops == 1 && remainder))
      return true;
  }
  return false;
}

static enum sl_bound bound_of_pair(const struct sl_kernel *kernel, const struct sl_operand *p,
                                   const struct sl_operand *c)
{
  if (!sl_operand_is_known(kernel, p) || !sl_operand_is_known(kernel, c))
    return SL_BOUND_UNKNOWN_INDEX;
  if (p->value != c->value)
    return SL_BOUND_SHARED_MEMORY;
  if (extent_varies(kernel, p) || extent_varies(kernel, c))
    return SL_BOUND_VARYING_EXTENT;
  if (couples_dimensions(kernel, p, c))
    return SL_BOUND_SEVERAL_DIMENSIONS;
  if (joins_loops(kernel, p, c))
    return SL_BOUND_SEVERAL_LOOPS;
  return SL_NO_BOUND;
}

/* Whether the run decides if a statement executes: it stands in a branch, or in a loop whose trips no constant gives.
 * */
static bool control_is_unknown(const struct sl_kernel *kernel, sl_index stmt)
{
  for (sl_index at = stmt, owner; (owner = kernel->blocks.data[sl_stmt_get(kernel, at)->block].owner) != SL_NONE;
       at = owner) {
    if (sl_stmt_get(kernel, owner)->kind == SL_STMT_IF ||
        kernel->exprs.data[sl_stmt_loop(kernel, owner)->hi].kind != SL_EXPR_INT)
      return true;
  }
  return false;
}

enum sl_bound sl_bound_of_accesses(const struct sl_kernel *kernel, const struct sl_edge *edge)
{
  const struct sl_op *p = sl_stmt_op(kernel, edge->producer), *c = sl_stmt_op(kernel, edge->consumer);
  enum sl_bound bound = bound_of_pair(kernel, &kernel->operands.data[p->first_operand + edge->producer_operand],
                                      &kernel->operands.data[c->first_operand + edge->consumer_operand]);
  if (bound != SL_NO_BOUND)
    return bound;
  bool unknown = control_is_unknown(kernel, edge->producer) || control_is_unknown(kernel, edge->consumer);
  return unknown ? SL_BOUND_UNKNOWN_CONTROL : SL_NO_BOUND;
}
