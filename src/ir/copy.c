/* copy.c: see copy.h. */
#include "ir/copy.h"

#include <assert.h>

#include "ir/eval.h"

/* ---- expressions ---- */

static bool is_number(const struct sl_copier *c, sl_index expr)
{
  return expr && c->kernel->exprs.data[expr].kind == SL_EXPR_INT;
}

sl_index sl_copy_expr(const struct sl_copier *c, sl_index index)
{
  if (!index)
    return SL_NONE;
  const struct sl_expr expr = c->kernel->exprs.data[index];
  if (expr.kind == SL_EXPR_NAME) {
    sl_index value = c->substitute(c->user, (sl_name)expr.u.value);
    return value ? value : index;
  }
  if (expr.kind == SL_EXPR_INT || expr.kind == SL_EXPR_REG)
    return index;
  sl_index lhs = sl_copy_expr(c, expr.u.sub.lhs);
  sl_index rhs = expr.kind == SL_EXPR_NEG ? SL_NONE : sl_copy_expr(c, expr.u.sub.rhs);
  if (lhs == expr.u.sub.lhs && (expr.kind == SL_EXPR_NEG || rhs == expr.u.sub.rhs))
    return index;
  sl_index copy = sl_expr_binary(c->kernel, (enum sl_expr_kind)expr.kind, lhs, rhs, expr.loc);
  if (!is_number(c, lhs) || (rhs && !is_number(c, rhs)))
    return copy;
  struct sl_constant value = sl_eval(c->kernel, copy, NULL, NULL);
  return value.state == SL_CONST_KNOWN ? sl_expr_int(c->kernel, value.value, expr.loc) : copy;
}

struct sl_cond sl_copy_cond(const struct sl_copier *c, struct sl_cond cond)
{
  struct sl_cond copy = cond;
  copy.first = c->kernel->cmps.len;
  for (uint32_t i = 0; i < cond.count; i++) {
    struct sl_cmp cmp = c->kernel->cmps.data[cond.first + i];
    cmp.lhs = sl_copy_expr(c, cmp.lhs);
    cmp.rhs = sl_copy_expr(c, cmp.rhs);
    sl_vec_add(c->kernel->heap, &c->kernel->cmps, cmp);
  }
  return copy;
}

bool sl_copy_is_opaque(const struct sl_kernel *kernel, struct sl_cond cond)
{
  for (uint32_t i = 0; i < cond.count; i++)
    if (kernel->cmps.data[cond.first + i].op == SL_CMP_OPAQUE)
      return true;
  return false;
}

int sl_copy_decide(const struct sl_copier *c, struct sl_cond cond)
{
  const struct sl_kernel *kernel = c->kernel;
  bool is_open = false;
  for (uint32_t i = 0; i < cond.count; i++) {
    const struct sl_cmp cmp = kernel->cmps.data[cond.first + i];
    sl_index a = cmp.op == SL_CMP_OPAQUE ? SL_NONE : sl_copy_expr(c, cmp.lhs);
    sl_index b = cmp.op == SL_CMP_OPAQUE ? SL_NONE : sl_copy_expr(c, cmp.rhs);
    if (!is_number(c, a) || !is_number(c, b)) {
      is_open = true;
      continue;
    }
    if (sl_compare_holds((enum sl_compare)cmp.op, kernel->exprs.data[a].u.value, kernel->exprs.data[b].u.value) == cond.any)
      return cond.any;
  }
  return is_open ? -1 : !cond.any;
}

/* ---- operations ---- */

bool sl_copy_can(const struct sl_copier *c, const struct sl_op *op)
{
  uint32_t count = (uint32_t)op->dst_count + op->src_count;
  for (uint32_t i = 0; i < count; i++) {
    const struct sl_operand *operand = &c->kernel->operands.data[op->first_operand + i];
    sl_index value = operand->kind == SL_OPERAND_NAME ? c->substitute(c->user, (sl_name)operand->value) : SL_NONE;
    if (value && !is_number(c, value))
      return false;
  }
  return true;
}

static struct sl_operand copy_operand(const struct sl_copier *c, struct sl_operand operand)
{
  struct sl_kernel *kernel = c->kernel;
  sl_index value = operand.kind == SL_OPERAND_NAME ? c->substitute(c->user, (sl_name)operand.value) : SL_NONE;
  if (value) {
    assert(is_number(c, value) && "sl_copy_can was asked");
    operand.kind = SL_OPERAND_INT;
    operand.value = kernel->exprs.data[value].u.value;
  }
  uint32_t from = operand.first_index;
  operand.first_index = sl_vec_extend(kernel->heap, &kernel->indices, operand.index_count);
  for (uint32_t k = 0; k < operand.index_count; k++) {
    struct sl_access_index index = kernel->indices.data[from + k];
    index.first = sl_copy_expr(c, index.first);
    index.second = sl_copy_expr(c, index.second);
    kernel->indices.data[operand.first_index + k] = index;
  }
  return operand;
}

/* A condition that the copy decides becomes the number 1 or 0. */
static struct sl_attr copy_attr(const struct sl_copier *c, struct sl_attr attr)
{
  int decided = attr.kind == SL_ATTR_COND ? sl_copy_decide(c, attr.cond) : -1;
  if (decided >= 0) {
    attr.kind = SL_ATTR_EXPR;
    attr.expr = sl_expr_int(c->kernel, decided, attr.loc);
    attr.cond = (struct sl_cond){ 0, 0, false };
  } else if (attr.kind == SL_ATTR_COND) {
    attr.cond = sl_copy_cond(c, attr.cond);
  } else if (attr.kind == SL_ATTR_EXPR) {
    attr.expr = sl_copy_expr(c, attr.expr);
  }
  return attr;
}

static sl_index new_copy(const struct sl_copier *c, sl_index stmt)
{
  struct sl_kernel *kernel = c->kernel;
  sl_index copy = sl_stmt_new(kernel, (enum sl_stmt_kind)kernel->stmts.data[stmt].kind, kernel->stmts.data[stmt].loc);
  kernel->stmts.data[copy].origin = kernel->stmts.data[stmt].origin;
  if (c->keeps_comments) {
    kernel->stmts.data[copy].trivia = kernel->stmts.data[stmt].trivia;
    kernel->stmts.data[copy].flags = kernel->stmts.data[stmt].flags;
  }
  return copy;
}

sl_index sl_copy_op(const struct sl_copier *c, sl_index stmt)
{
  struct sl_kernel *kernel = c->kernel;
  struct sl_op op = *sl_stmt_op(kernel, stmt);
  uint32_t count = (uint32_t)op.dst_count + op.src_count, operands = op.first_operand, attrs = op.first_attr;
  op.first_operand = sl_vec_extend(kernel->heap, &kernel->operands, count);
  for (uint32_t i = 0; i < count; i++) {
    struct sl_operand operand = copy_operand(c, kernel->operands.data[operands + i]);
    kernel->operands.data[op.first_operand + i] = operand;
  }
  op.first_attr = sl_vec_extend(kernel->heap, &kernel->attrs, op.attr_count);
  for (uint32_t i = 0; i < op.attr_count; i++) {
    struct sl_attr attr = copy_attr(c, kernel->attrs.data[attrs + i]);
    kernel->attrs.data[op.first_attr + i] = attr;
  }
  if (op.label)
    op.label = c->relabel(c->user, op.label);
  sl_index copy = new_copy(c, stmt);
  kernel->stmts.data[copy].item = kernel->ops.len;
  sl_vec_add(kernel->heap, &kernel->ops, op);
  return copy;
}

/* ---- blocks ---- */

static sl_index copy_loop(const struct sl_copier *c, sl_index stmt)
{
  struct sl_kernel *kernel = c->kernel;
  struct sl_loop loop = *sl_stmt_loop(kernel, stmt);
  sl_index body = loop.body, copy = new_copy(c, stmt);
  loop.lo = sl_copy_expr(c, loop.lo);
  loop.hi = sl_copy_expr(c, loop.hi);
  loop.step = sl_copy_expr(c, loop.step);
  loop.while_cond = sl_copy_cond(c, loop.while_cond);
  loop.body = sl_block_new(kernel, copy);
  kernel->stmts.data[copy].item = kernel->loops.len;
  sl_vec_add(kernel->heap, &kernel->loops, loop);
  sl_copy_block(c, body, loop.body);
  return copy;
}

static sl_index copy_branch(const struct sl_copier *c, sl_index stmt)
{
  struct sl_kernel *kernel = c->kernel;
  const struct sl_branch branch = *sl_stmt_branch(kernel, stmt);
  sl_index copy = new_copy(c, stmt);
  struct sl_branch made = { .cond = sl_copy_cond(c, branch.cond) };
  made.then_block = sl_block_new(kernel, copy);
  made.else_block = branch.else_block ? sl_block_new(kernel, copy) : SL_NONE;
  kernel->stmts.data[copy].item = kernel->branches.len;
  sl_vec_add(kernel->heap, &kernel->branches, made);
  sl_copy_block(c, branch.then_block, made.then_block);
  if (branch.else_block)
    sl_copy_block(c, branch.else_block, made.else_block);
  return copy;
}

void sl_copy_block(const struct sl_copier *c, sl_index from, sl_index to)
{
  for (sl_index at = c->kernel->blocks.data[from].first; at; at = c->kernel->stmts.data[at].next) {
    sl_index copy;
    switch ((enum sl_stmt_kind)c->kernel->stmts.data[at].kind) {
    case SL_STMT_OP: copy = sl_copy_op(c, at); break;
    case SL_STMT_LOOP: copy = copy_loop(c, at); break;
    case SL_STMT_IF: copy = copy_branch(c, at); break;
    default: copy = new_copy(c, at);
    }
    sl_stmt_append(c->kernel, to, copy);
  }
}
