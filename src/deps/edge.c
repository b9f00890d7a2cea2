/* edge.c: see edge.h. */
#include "deps/edge.h"

#include <assert.h>

static uint32_t block_depth(const struct sl_kernel *kernel, sl_index block)
{
  uint32_t depth = 0;
  for (; block; block = sl_block_parent(kernel, block))
    depth++;
  return depth;
}

sl_index sl_common_block_of(const struct sl_kernel *kernel, sl_index x, sl_index y)
{
  if (x == y)
    return x;
  uint32_t x_depth = block_depth(kernel, x), y_depth = block_depth(kernel, y);
  for (; x_depth > y_depth; x_depth--)
    x = sl_block_parent(kernel, x);
  for (; y_depth > x_depth; y_depth--)
    y = sl_block_parent(kernel, y);
  while (x != y) {
    x = sl_block_parent(kernel, x);
    y = sl_block_parent(kernel, y);
  }
  assert(x && "two statements of one kernel share its root");
  return x;
}

sl_index sl_common_block(const struct sl_kernel *kernel, sl_index a, sl_index b)
{
  return sl_common_block_of(kernel, kernel->stmts.data[a].block, kernel->stmts.data[b].block);
}

bool sl_block_contains(const struct sl_kernel *kernel, sl_index outer, sl_index block)
{
  while (block && block != outer)
    block = sl_block_parent(kernel, block);
  return block == outer;
}

bool sl_edge_is_own_load(const struct sl_kernel *kernel, const struct sl_edge *edge)
{
  return edge->producer_stalls &&
         sl_issue_stream(kernel, sl_retires_on(kernel, edge->consumer)) == edge->producer_stream;
}

bool sl_hardware_orders(const struct sl_kernel *kernel, const struct sl_target *target, const struct sl_edge *edge)
{
  if (sl_edge_is_own_load(kernel, edge))
    return true;
  if (edge->producer_stream != sl_retires_on(kernel, edge->consumer))
    return false;
  const struct sl_stream *stream = &kernel->streams.data[edge->producer_stream];
  return stream->is_queue ? target->queue.ordered : target->engines.data[stream->engine].interlock;
}

/* ---- text ---- */

const char *sl_edge_kind_name(enum sl_edge_kind kind)
{
  static const char *const names[] = { "stated", "flow", "anti", "output", "ordered", "index" };
  return names[kind];
}

void sl_edge_print_end(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(kernel, stmt);
  if (op->label)
    sl_buf_puts(buf, sl_text(program, op->label));
  else if (op->stream_count == 1)
    sl_buf_printf(buf, "%s.%s", sl_text(program, kernel->streams.data[op->stream].name), sl_text(program, op->opcode));
  else
    sl_buf_puts(buf, sl_text(program, op->opcode));
}

/* The variable of a block's loop; "root", "then" or "else" of a block that is no loop's. */
static const char *block_text(const sl_program *program, const struct sl_kernel *kernel, sl_index block)
{
  sl_index owner = kernel->blocks.data[block].owner;
  if (!owner)
    return "root";
  if (kernel->stmts.data[owner].kind == SL_STMT_LOOP)
    return sl_text(program, sl_stmt_loop(kernel, owner)->var);
  return sl_stmt_branch(kernel, owner)->then_block == block ? "then" : "else";
}

void sl_edge_print_distances(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel,
                             const struct sl_edge *edge)
{
  if (edge->k == 0)
    return;
  sl_buf_printf(buf, "%s%s: %u", edge->across ? "across " : "", block_text(program, kernel, edge->block), edge->k);
  if (sl_edge_is_vector(edge))
    sl_buf_printf(buf, ", %s: %d", block_text(program, kernel, edge->inner_block), edge->inner_k);
}

void sl_edge_print_ends(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel,
                        const struct sl_edge *edge)
{
  sl_edge_print_end(buf, program, kernel, edge->producer);
  sl_buf_puts(buf, " -> ");
  sl_edge_print_end(buf, program, kernel, edge->consumer);
  if (edge->k == 0)
    return;
  sl_buf_puts(buf, " (");
  sl_edge_print_distances(buf, program, kernel, edge);
  sl_buf_putc(buf, ')');
}

static void print_line(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel, uint32_t line)
{
  const struct sl_dep *dep = &kernel->deps.data[line];
  sl_buf_printf(buf, "%s -> %s", sl_text(program, dep->producer), sl_text(program, dep->consumer));
  for (uint32_t i = 0; i < dep->distance_count; i++) {
    const struct sl_distance *distance = &kernel->distances.data[dep->first_distance + i];
    sl_buf_printf(buf, "%s%s%s: %d", i ? ", " : " (", distance->across ? "across " : "",
                  sl_text(program, distance->loop), distance->k);
  }
  if (dep->distance_count)
    sl_buf_putc(buf, ')');
}

void sl_edge_print(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel, const struct sl_edge *edge)
{
  if (edge->line == SL_NO_LINE)
    sl_edge_print_ends(buf, program, kernel, edge);
  else
    print_line(buf, program, kernel, edge->line);
}

sl_loc sl_edge_loc(const struct sl_kernel *kernel, const struct sl_edge *edge)
{
  return edge->line == SL_NO_LINE ? kernel->stmts.data[edge->consumer].loc : kernel->deps.data[edge->line].loc;
}
