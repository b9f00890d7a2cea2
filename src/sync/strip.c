/* strip.c: taking synchronization out of a kernel. See passes.h. O(statements + register operands). */
#include "sync/passes.h"

bool sl_has_synchronization(const struct sl_kernel *kernel, sl_loc *where)
{
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    const struct sl_stmt *stmt = &kernel->stmts.data[at];
    bool found = stmt->kind == SL_STMT_BARRIER_RESET || stmt->kind == SL_STMT_EPILOGUE;
    if (stmt->kind == SL_STMT_OP) {
      const struct sl_op *op = sl_stmt_op(kernel, at);
      found = op->wait_count || op->inc_count || op->set_count || op->code == SL_OP_SEM_SET;
    }
    if (found) {
      *where = stmt->loc;
      return true;
    }
  }
  return false;
}

struct write_row {
  sl_index stmt;
  uint32_t next; /* index + 1 */
};

struct stripping {
  sl_heap *heap;
  const struct sl_kernel *kernel;
  sl_vec(sl_name) needed; /* registers whose writers are still to be looked at */
  sl_map is_needed;
  sl_map first_write; /* register -> index + 1 into writes */
  sl_vec(struct write_row) writes;
};

static void need_register(struct stripping *s, sl_name name)
{
  bool is_new;
  (void)sl_map_put(&s->is_needed, s->heap, name, &is_new);
  if (is_new)
    sl_vec_add(s->heap, &s->needed, name);
}

/* Recursion depth is bounded by the parser's and the verifier's limit on expression nesting. */
static void need_expr(struct stripping *s, sl_index index)
{
  if (!index)
    return;
  const struct sl_expr *expr = &s->kernel->exprs.data[index];
  switch (expr->kind) {
  case SL_EXPR_REG: need_register(s, (sl_name)expr->u.value); break;
  case SL_EXPR_INT:
  case SL_EXPR_NAME: break;
  case SL_EXPR_NEG: need_expr(s, expr->u.sub.lhs); break;
  default:
    need_expr(s, expr->u.sub.lhs);
    need_expr(s, expr->u.sub.rhs);
  }
}

static void need_cond(struct stripping *s, struct sl_cond cond)
{
  for (uint32_t i = 0; i < cond.count; i++) {
    const struct sl_cmp *cmp = &s->kernel->cmps.data[cond.first + i];
    if (cmp->op == SL_CMP_OPAQUE)
      continue;
    need_expr(s, cmp->lhs);
    need_expr(s, cmp->rhs);
  }
}

static bool is_register_op(const struct sl_op *op)
{
  return sl_opcode_table[op->code].op_class == SL_CLASS_REGISTER;
}

/* The registers an operation reads; of a register operation the first operand is written, not read. */
static void need_op(struct stripping *s, const struct sl_op *op)
{
  const struct sl_kernel *kernel = s->kernel;
  uint32_t count = (uint32_t)op->dst_count + op->src_count;
  bool writes_first = is_register_op(op) || op->code == SL_OP_REG_LOAD;
  for (uint32_t i = 0; i < count; i++) {
    const struct sl_operand *operand = &kernel->operands.data[op->first_operand + i];
    if (operand->kind == SL_OPERAND_REG && !(i == 0 && writes_first))
      need_register(s, (sl_name)operand->value);
    for (uint32_t k = 0; k < operand->index_count; k++) {
      need_expr(s, kernel->indices.data[operand->first_index + k].first);
      need_expr(s, kernel->indices.data[operand->first_index + k].second);
    }
  }
  for (uint32_t i = 0; i < op->attr_count; i++) {
    const struct sl_attr *attr = &kernel->attrs.data[op->first_attr + i];
    if (attr->kind == SL_ATTR_EXPR)
      need_expr(s, attr->expr);
    else if (attr->kind == SL_ATTR_COND)
      need_cond(s, attr->cond);
  }
}

static void note_write(struct stripping *s, sl_index at, const struct sl_op *op)
{
  sl_name dst = (sl_name)s->kernel->operands.data[op->first_operand].value;
  uint32_t *first = sl_map_put(&s->first_write, s->heap, dst, NULL);
  sl_vec_add(s->heap, &s->writes, ((struct write_row){ at, *first }));
  *first = s->writes.len;
}

/* What the program itself reads: bounds, conditions, operands of everything but register operations. */
static void find_roots(struct stripping *s)
{
  const struct sl_kernel *kernel = s->kernel;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    const struct sl_stmt *stmt = &kernel->stmts.data[at];
    if (stmt->kind == SL_STMT_LOOP) {
      const struct sl_loop *loop = sl_stmt_loop(kernel, at);
      need_expr(s, loop->lo);
      need_expr(s, loop->hi);
      need_expr(s, loop->step);
      need_cond(s, loop->while_cond);
    } else if (stmt->kind == SL_STMT_IF) {
      need_cond(s, sl_stmt_branch(kernel, at)->cond);
    } else if (stmt->kind == SL_STMT_OP) {
      const struct sl_op *op = sl_stmt_op(kernel, at);
      if (is_register_op(op))
        note_write(s, at, op);
      else
        need_op(s, op);
    }
  }
}

static void close_over_writers(struct stripping *s)
{
  while (s->needed.len) {
    sl_name name = s->needed.data[--s->needed.len];
    const uint32_t *first = sl_map_get(&s->first_write, name);
    for (uint32_t row = first ? *first : 0; row; row = s->writes.data[row - 1].next)
      need_op(s, sl_stmt_op(s->kernel, s->writes.data[row - 1].stmt));
  }
}

static bool is_synchronization(const struct stripping *s, sl_index at)
{
  const struct sl_kernel *kernel = s->kernel;
  const struct sl_stmt *stmt = &kernel->stmts.data[at];
  if (stmt->kind == SL_STMT_BARRIER_RESET || stmt->kind == SL_STMT_EPILOGUE)
    return true;
  if (stmt->kind != SL_STMT_OP)
    return false;
  const struct sl_op *op = sl_stmt_op(kernel, at);
  if (op->code == SL_OP_SEM_SET || (op->code == SL_OP_NOP && !op->label))
    return true;
  return is_register_op(op) && !op->label &&
         !sl_map_get(&s->is_needed, (uint64_t)kernel->operands.data[op->first_operand].value);
}

static void drop_declarations(struct sl_kernel *kernel)
{
  uint32_t kept = 0;
  for (uint32_t i = 0; i < kernel->decls.len; i++) {
    uint8_t kind = kernel->decls.data[i].kind;
    if (kind != SL_DECL_SEM && kind != SL_DECL_EVENT)
      kernel->decls.data[kept++] = kernel->decls.data[i];
  }
  kernel->decls.len = kept;
  kernel->sems.len = kernel->events.len = 1; /* entry 0 stays reserved */
}

void sl_find_own_registers(sl_map *own, sl_heap *heap, const struct sl_kernel *kernel)
{
  struct stripping s = { .heap = heap, .kernel = kernel };
  find_roots(&s);
  close_over_writers(&s);
  *own = s.is_needed;
}

void sl_strip_synchronization(sl_program *program, struct sl_kernel *kernel)
{
  struct stripping s = { .heap = sl_heap_child_new(&program->heap), .kernel = kernel };
  sl_find_own_registers(&s.is_needed, s.heap, kernel);
  for (sl_index at = sl_walk_first(kernel, kernel->root), next; at; at = next) {
    next = sl_walk_next(kernel, kernel->root, at);
    if (is_synchronization(&s, at)) {
      sl_stmt_unlink(kernel, at);
    } else if (kernel->stmts.data[at].kind == SL_STMT_OP) {
      struct sl_op *op = sl_stmt_op(kernel, at);
      op->wait_count = op->inc_count = op->set_count = 0;
    }
  }
  drop_declarations(kernel);
  sl_heap_child_free(s.heap);
}
