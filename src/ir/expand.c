/* expand.c: multi-stream operations become one copy per engine, and instructions whose dependences are found get the labels by
 * which they are known. See ir.h. O(statements * streams of each). */
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

/* An instruction that may read or write memory. */
static bool touches_memory(const struct sl_op *op)
{
  return (op->code == SL_OP_TARGET || op->code == SL_OP_REG_LOAD) && op->dst_count + op->src_count > 0;
}

/* `e0_1` for the first instruction of e0 without a label, `e0_2`, ...: the same in a kernel and in what was made of it, since
 * passes put nothing of the kind between them. */
static void label_instructions(sl_program *program, struct sl_kernel *kernel, sl_heap *scratch)
{
  uint32_t *count = sl_heap_calloc(scratch, kernel->streams.len + 1u, sizeof *count);
  sl_map taken = { 0 };
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at))
    if (kernel->stmts.data[at].kind == SL_STMT_OP && sl_stmt_op(kernel, at)->label)
      (void)sl_map_put(&taken, scratch, sl_stmt_op(kernel, at)->label, NULL);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind != SL_STMT_OP || sl_stmt_op(kernel, at)->label || !touches_memory(sl_stmt_op(kernel, at)))
      continue;
    uint32_t stream = sl_stmt_op(kernel, at)->stream;
    const char *name = sl_text(program, kernel->streams.data[stream].name);
    sl_name label = sl_internf(program, "%s_%u", name, ++count[stream]);
    while (sl_map_get(&taken, label))
      label = sl_internf(program, "%s_", sl_text(program, label));
    sl_stmt_op(kernel, at)->label = label;
  }
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
  if (!kernel->is_explicit)
    label_instructions(program, kernel, scratch);
  sl_heap_child_free(scratch);
}
