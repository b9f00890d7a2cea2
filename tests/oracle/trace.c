/* trace.c: see trace.h. Memory O(instances * bytes of their accesses). */
#include "oracle/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t sl_loop_depth(const struct sl_kernel *kernel, sl_index block)
{
  uint32_t depth = 0;
  for (sl_index owner; (owner = kernel->blocks.data[block].owner) != SL_NONE; block = sl_stmt_get(kernel, owner)->block)
    depth += sl_stmt_get(kernel, owner)->kind == SL_STMT_LOOP;
  return depth;
}

sl_index sl_loop_at(const struct sl_kernel *kernel, sl_index block, uint32_t depth)
{
  for (;; block = sl_block_parent(kernel, block)) {
    sl_index owner = kernel->blocks.data[block].owner;
    if (sl_stmt_get(kernel, owner)->kind == SL_STMT_LOOP && sl_loop_depth(kernel, block) == depth + 1)
      return owner;
  }
}

/* ---- accesses ---- */

struct extent {
  int64_t first, end; /* elements */
};

/* False when it lies outside the dimension. */
static bool read_extent(struct extent *extent, struct sl_oracle_walk *walk, uint32_t stream,
                        const struct sl_access_index *index, int64_t size)
{
  *extent = (struct extent){ 0, size };
  if (index->kind == SL_INDEX_ALL || !sl_index_is_known(walk->view->kernel, index))
    return true;
  extent->first = sl_oracle_eval(walk, stream, index->first);
  if (index->kind == SL_INDEX_AT)
    extent->end = extent->first + 1;
  else
    extent->end = sl_oracle_eval(walk, stream, index->second) + (index->kind == SL_INDEX_LENGTH ? extent->first : 0);
  return extent->first >= 0 && extent->first < extent->end && extent->end <= size;
}

static void add_cell(struct sl_trace *trace, uint64_t cell)
{
  trace->cells = sl_oracle_grow(trace->cells, trace->cell_count, &trace->cell_cap, sizeof *trace->cells);
  trace->cells[trace->cell_count++] = (uint32_t)cell;
}

/* All bytes of the elements whose indices lie in the extents, one dimension after the other. */
static void add_cells(struct sl_trace *trace, const struct sl_layout_buffer *buffer, const struct extent *extents,
                      uint32_t dim, int64_t partition, int64_t byte)
{
  const struct sl_layout_space *space = &trace->layout.spaces[buffer->space];
  if (dim == buffer->dim_count) {
    for (int64_t b = 0; b < buffer->element_bytes; b++)
      add_cell(trace, space->first_cell + (uint64_t)(partition * space->bytes + byte + b));
    return;
  }
  for (int64_t i = extents[dim].first; i < extents[dim].end; i++)
    add_cells(trace, buffer, extents, dim + 1, partition + ((int)dim == buffer->partition_dim ? i : 0),
              byte + i * buffer->strides[dim]);
}

/* False when the operand's index lies outside its dimension. */
static bool add_access(struct sl_trace *trace, struct sl_oracle_walk *walk, const struct sl_op *op, uint32_t number)
{
  const struct sl_kernel *kernel = trace->view.kernel;
  const struct sl_operand *operand = &kernel->operands.data[op->first_operand + number];
  uint32_t index = sl_layout_buffer_of(&trace->layout, operand);
  if (!index)
    return true;
  const struct sl_layout_buffer *buffer = &trace->layout.buffers[index];
  struct extent extents[SL_LAYOUT_DIMS];
  for (uint32_t d = 0; d < buffer->dim_count; d++) {
    struct sl_access_index in_dim = sl_index_of_dim(kernel, operand, d);
    if (!read_extent(&extents[d], walk, op->stream, &in_dim, buffer->sizes[d]))
      return false;
  }
  struct sl_trace_access access = { .instance = trace->count,
                                    .operand = number,
                                    .buffer = index,
                                    .reads = sl_operand_reads(op, operand, number),
                                    .writes = sl_operand_writes(op, number),
                                    .may = !sl_operand_is_known(kernel, operand),
                                    .first_cell = trace->cell_count };
  add_cells(trace, buffer, extents, 0, buffer->partition, buffer->address);
  access.cell_count = trace->cell_count - access.first_cell;
  trace->accesses = sl_oracle_grow(trace->accesses, trace->access_count, &trace->access_cap, sizeof *trace->accesses);
  trace->accesses[trace->access_count++] = access;
  return true;
}

/* ---- the run ---- */

static void add_visit(struct sl_trace_block *block, uint64_t arrival)
{
  block->visits = sl_oracle_grow(block->visits, block->visit_count, &block->visit_cap, sizeof *block->visits);
  block->visits[block->visit_count++] = (struct sl_trace_visit){ arrival, block->iteration_count };
}

static void note_arrival(void *user, sl_index index)
{
  struct sl_trace *trace = user;
  add_visit(&trace->blocks[index], trace->clock++);
}

static bool is_loop_body(const struct sl_kernel *kernel, sl_index block)
{
  sl_index owner = kernel->blocks.data[block].owner;
  return owner && sl_stmt_get(kernel, owner)->kind == SL_STMT_LOOP;
}

/* Arrivals at arms are not told of: anything after the last visit does. */
static void note_end(void *user, sl_index index)
{
  struct sl_trace *trace = user;
  struct sl_trace_block *block = &trace->blocks[index];
  if (!is_loop_body(trace->view.kernel, index))
    add_visit(block, block->iteration_count ? block->iterations[block->iteration_count - 1].end : 0);
  block->iterations =
      sl_oracle_grow(block->iterations, block->iteration_count, &block->iteration_cap, sizeof *block->iterations);
  block->iterations[block->iteration_count++] = (struct sl_trace_iteration){ trace->clock++, block->visit_count - 1 };
}

static bool is_instruction(const struct sl_op *op)
{
  uint8_t op_class = sl_opcode_table[op->code].op_class;
  return op_class == SL_CLASS_DATAPATH || op_class == SL_CLASS_LOAD || op_class == SL_CLASS_NOP;
}

static void note_in_list(struct sl_trace_list *list, uint32_t instance)
{
  list->instances = sl_oracle_grow(list->instances, list->count, &list->cap, sizeof *list->instances);
  list->instances[list->count++] = instance;
}

static bool add_instance(struct sl_trace *trace, struct sl_oracle_walk *walk, const struct sl_op *op)
{
  const struct sl_kernel *kernel = trace->view.kernel;
  sl_index block = sl_stmt_get(kernel, walk->stmt)->block;
  struct sl_trace_instance instance = { .stmt = walk->stmt,
                                        .stream = op->stream,
                                        .issue = sl_oracle_issue_stream(kernel, op->stream),
                                        .time = trace->clock++,
                                        .first_access = trace->access_count,
                                        .place = trace->of_stmt[walk->stmt].count };
  for (uint32_t d = sl_loop_depth(kernel, block); d-- > 0;)
    instance.values[d] = walk->values[sl_stmt_loop(kernel, sl_loop_at(kernel, block, d))->var];
  for (uint32_t n = 0; n < (uint32_t)op->dst_count + op->src_count; n++) {
    if (!add_access(trace, walk, op, n))
      return false;
  }
  instance.access_count = trace->access_count - instance.first_access;
  note_in_list(&trace->of_stmt[walk->stmt], trace->count);
  trace->instances = sl_oracle_grow(trace->instances, trace->count, &trace->cap, sizeof *trace->instances);
  trace->instances[trace->count++] = instance;
  return true;
}

static bool execute(struct sl_trace *trace, struct sl_oracle_walk *walk)
{
  if (sl_stmt_get(trace->view.kernel, walk->stmt)->kind != SL_STMT_OP)
    return true;
  const struct sl_op *op = sl_stmt_op(trace->view.kernel, walk->stmt);
  uint8_t op_class = sl_opcode_table[op->code].op_class;
  if (op_class == SL_CLASS_REGISTER || op_class == SL_CLASS_LOAD)
    sl_oracle_register_op(walk, op->stream, op);
  return !is_instruction(op) || add_instance(trace, walk, op);
}

enum sl_trace_status sl_trace_init(struct sl_trace *trace, const sl_program *program, const struct sl_kernel *kernel,
                                   const struct sl_oracle_inputs *inputs, uint32_t limit)
{
  memset(trace, 0, sizeof *trace);
  trace->blocks = sl_oracle_calloc(kernel->blocks.len, sizeof *trace->blocks);
  trace->of_stmt = sl_oracle_calloc(kernel->stmts.len, sizeof *trace->of_stmt);
  if (!sl_oracle_view_init(&trace->view, program, kernel))
    return SL_TRACE_BAD;
  sl_layout_init(&trace->layout, &trace->view, inputs);
  struct sl_oracle_register *registers = sl_oracle_registers_new(&trace->view);
  struct sl_oracle_walk walk;
  bool holds = true;
  sl_oracle_walk_init(&walk, &trace->view, UINT64_MAX, inputs, registers);
  walk.arrival = note_arrival;
  walk.iteration_end = note_end;
  walk.user = trace;
  for (sl_oracle_walk_start(&walk); walk.stmt && holds && trace->count <= limit; sl_oracle_walk_advance(&walk))
    holds = execute(trace, &walk) && !walk.error;
  note_end(trace, kernel->root);
  bool is_long = walk.error == SL_WALK_BUDGET || trace->count > limit;
  holds = holds && !walk.error;
  sl_oracle_walk_free(&walk);
  free(registers);
  return is_long ? SL_TRACE_LONG : holds ? SL_TRACE_OK : SL_TRACE_BAD;
}

void sl_trace_free(struct sl_trace *trace)
{
  for (uint32_t b = 0; trace->view.kernel && b < trace->view.kernel->blocks.len; b++) {
    free(trace->blocks[b].iterations);
    free(trace->blocks[b].visits);
  }
  for (uint32_t s = 0; trace->view.kernel && s < trace->view.kernel->stmts.len; s++)
    free(trace->of_stmt[s].instances);
  free(trace->blocks);
  free(trace->of_stmt);
  free(trace->instances);
  free(trace->accesses);
  free(trace->cells);
  sl_layout_free(&trace->layout);
  sl_oracle_view_free(&trace->view);
}

void sl_trace_describe(const struct sl_trace *trace, uint32_t index, char *text, size_t size)
{
  const struct sl_kernel *kernel = trace->view.kernel;
  const struct sl_trace_instance *instance = &trace->instances[index];
  sl_index block = sl_stmt_get(kernel, instance->stmt)->block;
  snprintf(text, size, "%s", sl_text(trace->view.program, sl_stmt_op(kernel, instance->stmt)->label));
  for (uint32_t d = 0; d < sl_loop_depth(kernel, block); d++) {
    const struct sl_loop *loop = sl_stmt_loop(kernel, sl_loop_at(kernel, block, d));
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s = %lld", d ? ", " : " (", sl_text(trace->view.program, loop->var),
             (long long)instance->values[d]);
  }
  if (sl_loop_depth(kernel, block) > 0 && strlen(text) + 1 < size)
    strcat(text, ")");
}
