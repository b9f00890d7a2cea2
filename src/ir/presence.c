/* presence.c: see presence.h. */
#include "ir/presence.h"

#include <assert.h>

static void add_engine(struct sl_presence *presence, sl_heap *heap, uint32_t stream)
{
  if (presence->engine_of[stream])
    return;
  sl_vec_add(heap, &presence->engines, stream);
  presence->engine_of[stream] = presence->engines.len; /* and one, for now */
}

/* `*` stands for the engines with another statement, so it adds none. */
static void find_engines(struct sl_presence *presence, sl_heap *heap, const struct sl_kernel *kernel)
{
  uint32_t streams = kernel->streams.len;
  bool *has_statement = sl_heap_calloc(heap, streams + 1u, sizeof *has_statement);
  presence->engine_of = sl_heap_calloc(heap, streams + 1u, sizeof *presence->engine_of);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind != SL_STMT_OP)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, at);
    for (uint32_t k = 0; k < op->stream_count; k++) {
      uint32_t stream = sl_op_stream(kernel, op, k);
      has_statement[stream] = true;
      if (sl_issue_stream(kernel, stream) == stream)
        add_engine(presence, heap, stream);
    }
  }
  for (uint32_t s = 0; s < streams; s++)
    if (has_statement[s])
      add_engine(presence, heap, sl_issue_stream(kernel, s));
  for (uint32_t s = 0; s < streams; s++)
    presence->engine_of[s] = presence->engine_of[sl_issue_stream(kernel, s)];
  for (uint32_t s = 0; s < streams; s++)
    presence->engine_of[s] -= presence->engine_of[s] > 0;
  uint32_t count = presence->engines.len;
  assert(count <= 64 && "machine descriptions have at most 64 engines");
  presence->all = count == 64 ? ~(sl_engines)0 : ((sl_engines)1 << count) - 1;
  sl_heap_free(heap, has_statement);
}

/* Adds engines to a block and to all around it; stops where they are known already. */
static void mark_inside(struct sl_presence *presence, const struct sl_kernel *kernel, sl_index block, sl_engines engines)
{
  while (block && (presence->inside[block] | engines) != presence->inside[block]) {
    presence->inside[block] |= engines;
    block = sl_block_parent(kernel, block);
  }
}

void sl_presence_find(struct sl_presence *presence, sl_heap *heap, const struct sl_kernel *kernel)
{
  memset(presence, 0, sizeof *presence);
  find_engines(presence, heap, kernel);
  presence->inside = sl_heap_calloc(heap, kernel->blocks.len, sizeof *presence->inside);
  presence->has_barrier = sl_heap_calloc(heap, kernel->blocks.len, sizeof *presence->has_barrier);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    const struct sl_stmt *stmt = &kernel->stmts.data[at];
    if (stmt->kind == SL_STMT_OP) {
      mark_inside(presence, kernel, stmt->block, sl_presence_of_op(presence, kernel, sl_stmt_op(kernel, at)));
    } else if (stmt->kind == SL_STMT_BARRIER || stmt->kind == SL_STMT_BARRIER_RESET) {
      mark_inside(presence, kernel, stmt->block, presence->all);
      for (sl_index b = stmt->block; b && !presence->has_barrier[b]; b = sl_block_parent(kernel, b))
        presence->has_barrier[b] = true;
    }
  }
  presence->inside[kernel->root] = presence->all;
}

sl_engines sl_presence_of_op(const struct sl_presence *presence, const struct sl_kernel *kernel, const struct sl_op *op)
{
  if (op->all_engines)
    return presence->all;
  sl_engines engines = 0;
  for (uint32_t k = 0; k < op->stream_count; k++)
    engines |= (sl_engines)1 << presence->engine_of[sl_op_stream(kernel, op, k)];
  return engines;
}

sl_engines sl_presence_inside(const struct sl_presence *presence, const struct sl_kernel *kernel, sl_index stmt)
{
  if (kernel->stmts.data[stmt].kind == SL_STMT_LOOP)
    return presence->inside[sl_stmt_loop(kernel, stmt)->body];
  const struct sl_branch *branch = sl_stmt_branch(kernel, stmt);
  return presence->inside[branch->then_block] | (branch->else_block ? presence->inside[branch->else_block] : 0);
}
