/* expand.c: multi-stream operations become one copy per engine. See ir.h. O(statements * streams of each). */
#include "ir/ir.h"

/* Engines (as streams) that have a statement of their own, for `*`. A queue's statement is one of its trigger. */
static void find_engines(const struct sl_kernel *kernel, bool *has_statement)
{
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind != SL_STMT_OP)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, at);
    for (uint32_t k = 0; k < op->stream_count; k++)
      has_statement[sl_issue_stream(kernel, sl_op_stream(kernel, op, k))] = true;
  }
}

/* Copy number `k` of the statement, on one stream, linked before it. */
static void add_copy(sl_program *program, struct sl_kernel *kernel, sl_index at, uint32_t stream, uint32_t k)
{
  sl_index copy = sl_op_stmt_new(kernel, kernel->stmts.data[at].loc);
  struct sl_op *op = sl_stmt_op(kernel, copy);
  *op = *sl_stmt_op(kernel, at);
  op->all_engines = false;
  op->stream_count = 1;
  op->stream = stream;
  if (op->label) {
    sl_name label = sl_internf(program, "%s.%u", sl_text(program, op->label), k);
    sl_stmt_op(kernel, copy)->label = label;
  }
  struct sl_stmt *stmt = &kernel->stmts.data[copy];
  stmt->origin = kernel->stmts.data[at].origin;
  if (k == 0) {
    stmt->trivia = kernel->stmts.data[at].trivia;
    stmt->flags = kernel->stmts.data[at].flags;
  }
  sl_stmt_insert_before(kernel, at, copy);
}

static void expand_one(sl_program *program, struct sl_kernel *kernel, sl_index at, const bool *has_statement)
{
  const struct sl_op op = *sl_stmt_op(kernel, at);
  uint32_t k = 0;
  if (op.all_engines) {
    for (uint32_t stream = 0; stream < kernel->streams.len; stream++)
      if (has_statement[stream])
        add_copy(program, kernel, at, stream, k++);
  } else {
    for (; k < op.stream_count; k++)
      add_copy(program, kernel, at, sl_op_stream(kernel, &op, k), k);
  }
  sl_stmt_unlink(kernel, at);
}

void sl_expand_copies(sl_program *program, struct sl_kernel *kernel)
{
  sl_heap *scratch = sl_heap_child_new(&program->heap);
  bool *has_statement = sl_heap_calloc(scratch, kernel->streams.len + 1u, sizeof *has_statement);
  find_engines(kernel, has_statement);
  for (sl_index at = sl_walk_first(kernel, kernel->root), next; at; at = next) {
    next = sl_walk_next(kernel, kernel->root, at);
    if (kernel->stmts.data[at].kind != SL_STMT_OP)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, at);
    if (op->all_engines || op->stream_count > 1)
      expand_one(program, kernel, at, has_statement);
  }
  sl_heap_child_free(scratch);
}
