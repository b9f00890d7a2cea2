/* deps.c: sluice_deps: the dependences of a kernel as rows for callers.
 *
 * Requires a verified program. Works on a copy whose copies of operations are expanded; what is given to the caller is owned by
 * the result alone. O(statements + edges log edges) beside what finding and reducing take.
 */
#include <sluice/deps.h>

#include <assert.h>
#include <stdlib.h>

#include "api/call.h"
#include "deps/deps.h"
#include "deps/ordered.h"
#include "deps/overlap.h"
#include "deps/reduce.h"
#include "ir/ir.h"

struct sluice_deps_result {
  sl_heap heap;
  sl_guard guard;
  sl_vec(sluice_dep) edges;
  sl_vec(sluice_deps_instruction) instructions;
  sl_vec(sluice_deps_block) blocks;
  sl_vec(const char *) classes;
};

struct deps_call {
  struct sl_kernel_call call;
  sluice_deps_result *result;
  const sluice_deps_options *options;
  sl_edges edges;
  sl_reductions reductions;
  struct sl_accesses accesses;
  uint32_t *block_number;       /* by block: its row */
  uint32_t *instruction_number; /* by statement: its row */
  uint32_t *edge_number;        /* by edge: its row */
  sl_buf text;                  /* of what is being made */
};

_Static_assert((int)SLUICE_DEP_STATED == SL_EDGE_STATED && (int)SLUICE_DEP_FLOW == SL_EDGE_FLOW &&
                   (int)SLUICE_DEP_ANTI == SL_EDGE_ANTI && (int)SLUICE_DEP_OUTPUT == SL_EDGE_OUTPUT &&
                   (int)SLUICE_DEP_ORDERED == SL_EDGE_ORDERED && (int)SLUICE_DEP_INDEX == SL_EDGE_INDEX,
               "the public kinds are those of edges");

const char *sluice_dep_kind_name(enum sluice_dep_kind kind)
{
  return sl_edge_kind_name((enum sl_edge_kind)kind);
}

const char *sluice_dep_status_name(enum sluice_dep_status status)
{
  static const char *const names[] = { "kept", "spilled", "hardware", "same", "implied" };
  return names[status];
}

/* ---- texts ---- */

static const char *keep(struct deps_call *call, const char *text)
{
  return sl_heap_strndup(&call->result->heap, text, strlen(text));
}

/* What stands in the buffer, which is empty afterwards. */
static const char *keep_text(struct deps_call *call)
{
  const char *kept = keep(call, sl_buf_text(&call->text));
  call->text.len = 0;
  return kept;
}

static const char *name_text(const struct deps_call *call, sl_name name)
{
  return sl_text(call->call.program, name);
}

/* ---- blocks and instructions ---- */

static void add_block(struct deps_call *call, sl_index block, const char *name, const char *text, sl_loc loc)
{
  sl_index owner = call->call.kernel->blocks.data[block].owner;
  sl_place place = sl_source_place(&call->call.source, loc);
  sl_index parent = sl_block_parent(call->call.kernel, block);
  sluice_deps_block row = { .name = keep(call, name), .text = keep(call, text),
                            .parent = parent ? call->block_number[parent] : 0,
                            .is_loop = owner && call->call.kernel->stmts.data[owner].kind == SL_STMT_LOOP,
                            .line = place.line, .column = place.column };
  call->block_number[block] = call->result->blocks.len;
  sl_vec_add(&call->result->heap, &call->result->blocks, row);
}

static void add_loop(struct deps_call *call, sl_index stmt)
{
  const struct sl_loop *loop = sl_stmt_loop(call->call.kernel, stmt);
  sl_print_stmt_head(&call->text, call->call.program, call->call.kernel, stmt);
  add_block(call, loop->body, name_text(call, loop->var), keep_text(call), call->call.kernel->stmts.data[stmt].loc);
}

static void add_arms(struct deps_call *call, sl_index stmt)
{
  const struct sl_branch *branch = sl_stmt_branch(call->call.kernel, stmt);
  sl_loc loc = call->call.kernel->stmts.data[stmt].loc;
  sl_print_stmt_head(&call->text, call->call.program, call->call.kernel, stmt);
  add_block(call, branch->then_block, "then", keep_text(call), loc);
  if (branch->else_block)
    add_block(call, branch->else_block, "else", "else", loc);
}

static void add_instruction(struct deps_call *call, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(call->call.kernel, stmt);
  enum sl_op_class op_class = sl_opcode_table[op->code].op_class;
  if (op_class == SL_CLASS_REGISTER || op_class == SL_CLASS_SEMAPHORE)
    return;
  sl_place place = sl_source_place(&call->call.source, call->call.kernel->stmts.data[stmt].loc);
  sl_edge_print_end(&call->text, call->call.program, call->call.kernel, stmt);
  sluice_deps_instruction row = { .name = keep_text(call),
                                  .stream = keep(call, name_text(call, call->call.kernel->streams.data[op->stream].name)),
                                  .opcode = keep(call, name_text(call, op->opcode)),
                                  .block = call->block_number[call->call.kernel->stmts.data[stmt].block],
                                  .line = place.line, .column = place.column };
  call->instruction_number[stmt] = call->result->instructions.len;
  sl_vec_add(&call->result->heap, &call->result->instructions, row);
}

static void add_tree(struct deps_call *call)
{
  const struct sl_kernel *kernel = call->call.kernel;
  call->block_number = sl_heap_calloc(&call->call.scratch, kernel->blocks.len, sizeof *call->block_number);
  call->instruction_number = sl_heap_calloc(&call->call.scratch, kernel->stmts.len, sizeof *call->instruction_number);
  add_block(call, kernel->root, "", name_text(call, kernel->name), kernel->loc);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at))
    switch ((enum sl_stmt_kind)kernel->stmts.data[at].kind) {
    case SL_STMT_OP: add_instruction(call, at); break;
    case SL_STMT_LOOP: add_loop(call, at); break;
    case SL_STMT_IF: add_arms(call, at); break;
    case SL_STMT_BARRIER:
    case SL_STMT_BARRIER_RESET:
    case SL_STMT_EPILOGUE: break;
    }
}

/* ---- memory classes ---- */

static void add_class(struct deps_call *call, const char *name)
{
  for (uint32_t i = 0; i < call->result->classes.len; i++)
    if (strcmp(call->result->classes.data[i], name) == 0)
      return;
  sl_vec_add(&call->result->heap, &call->result->classes, keep(call, name));
}

static void add_classes(struct deps_call *call)
{
  for (uint32_t i = 0; i < call->call.target->spaces.len; i++)
    add_class(call, call->call.target->spaces.data[i].memory_class);
  add_class(call, SL_CLASS_ALIAS);
}

/* ---- edges ---- */

static bool has_accesses(const struct sl_edge *edge)
{
  return edge->kind == SL_EDGE_FLOW || edge->kind == SL_EDGE_ANTI || edge->kind == SL_EDGE_OUTPUT ||
         edge->kind == SL_EDGE_INDEX;
}

static sluice_dep_end end_of(struct deps_call *call, const struct sl_edge *edge, sl_index stmt, uint16_t number)
{
  sluice_dep_end end = { .instruction = call->instruction_number[stmt], .access = "", .buffer = "" };
  const struct sl_op *op = sl_stmt_op(call->call.kernel, stmt);
  if (edge->kind == SL_EDGE_STATED)
    return end;
  if (number == SL_NO_OPERAND)
    return end;
  const struct sl_operand *operand = &call->call.kernel->operands.data[op->first_operand + number];
  sl_print_operand(&call->text, call->call.program, call->call.kernel, operand);
  end.access = keep_text(call);
  if (has_accesses(edge))
    end.buffer = keep(call, name_text(call, (sl_name)operand->value));
  return end;
}

static sluice_dep_overlap overlap_of(struct deps_call *call, const struct sl_edge *edge)
{
  sluice_dep_overlap row = { .memory_class = "", .text = "", .bytes_around = "" };
  if (!has_accesses(edge))
    return row;
  const struct sl_footprint *p = sl_access_of_operand(&call->accesses, edge->producer, edge->producer_operand);
  const struct sl_footprint *c = sl_access_of_operand(&call->accesses, edge->consumer, edge->consumer_operand);
  assert(p && c && "the dependence was found between them");
  struct sl_overlap overlap = sl_overlap_of(&call->accesses, p, c, edge);
  if (sl_overlap_is_empty(&overlap)) { /* found by a bound that is coarser than this */
    overlap.is_anywhere = true;
    overlap.bytes = overlap.partitions = (struct sl_interval){ 0, SL_NO_MAX };
    overlap.bytes_around = 0;
  }
  sl_overlap_print(&call->text, &call->accesses, &overlap);
  row.memory_class = keep(call, overlap.memory_class);
  row.text = keep_text(call);
  row.is_anywhere = overlap.is_anywhere;
  row.is_placed = overlap.is_placed;
  row.partition_min = overlap.partitions.min;
  row.partition_max = overlap.partitions.max; /* SL_NO_MAX is INT64_MAX, as documented */
  row.byte_min = overlap.bytes.min;
  row.byte_max = overlap.bytes.max;
  sl_overlap_print_sum(&call->text, &call->accesses, overlap.bytes_around);
  row.bytes_around = keep_text(call);
  return row;
}

static enum sluice_dep_status status_of(enum sl_reduction what)
{
  switch (what) {
  case SL_REDUCE_KEPT: return SLUICE_DEP_KEPT;
  case SL_REDUCE_HARDWARE: return SLUICE_DEP_HARDWARE;
  case SL_REDUCE_SAME: return SLUICE_DEP_SAME;
  case SL_REDUCE_IMPLIED: return SLUICE_DEP_IMPLIED;
  case SL_REDUCE_SPILLED: return SLUICE_DEP_SPILLED;
  }
  assert(false && "unknown answer of the reduction");
  return SLUICE_DEP_KEPT;
}

static void add_status(struct deps_call *call, uint32_t edge, sluice_dep *row)
{
  if (!call->options->reduce)
    return;
  const struct sl_reduced *reduced = &call->reductions.edges[edge];
  size_t *path = sl_heap_arena(&call->result->heap, (reduced->count + 1u) * sizeof *path);
  for (uint32_t i = 0; i < reduced->count; i++)
    path[i] = call->edge_number[call->reductions.paths.data[reduced->first + i]];
  row->status = status_of((enum sl_reduction)reduced->what);
  row->path = path;
  row->path_length = reduced->count;
}

static void add_edge(struct deps_call *call, uint32_t number)
{
  const struct sl_edge *edge = &call->edges.data[number];
  sl_place place = sl_source_place(&call->call.source, sl_edge_loc(call->call.kernel, edge));
  sluice_dep row = { .kind = (enum sluice_dep_kind)edge->kind, .block = call->block_number[edge->block],
                     .distance = edge->k, .across = edge->across, .is_vector = sl_edge_is_vector(edge),
                     .inner_distance = edge->inner_k, .line = place.line, .column = place.column };
  row.producer = end_of(call, edge, edge->producer, edge->producer_operand);
  row.consumer = end_of(call, edge, edge->consumer, edge->consumer_operand);
  row.inner_block = row.is_vector ? call->block_number[edge->inner_block] : 0;
  sl_edge_print_ends(&call->text, call->call.program, call->call.kernel, edge);
  row.text = keep_text(call);
  sl_edge_print_distances(&call->text, call->call.program, call->call.kernel, edge);
  row.distances = keep_text(call);
  row.overlap = overlap_of(call, edge);
  add_status(call, number, &row);
  sl_vec_add(&call->result->heap, &call->result->edges, row);
}

struct order {
  uint32_t consumer, producer, edge; /* places in the text; the edge's number */
};

static int by_place(const void *x, const void *y)
{
  const struct order *a = x, *b = y;
  if (a->consumer != b->consumer)
    return a->consumer < b->consumer ? -1 : 1;
  if (a->producer != b->producer)
    return a->producer < b->producer ? -1 : 1;
  return a->edge < b->edge ? -1 : a->edge > b->edge;
}

static void add_edges(struct deps_call *call)
{
  uint32_t count = call->edges.len;
  struct order *order = sl_heap_alloc(&call->call.scratch, (count + 1u) * sizeof *order);
  call->edge_number = sl_heap_alloc(&call->call.scratch, (count + 1u) * sizeof *call->edge_number);
  for (uint32_t i = 0; i < count; i++)
    order[i] = (struct order){ call->instruction_number[call->edges.data[i].consumer],
                               call->instruction_number[call->edges.data[i].producer], i };
  qsort(order, count, sizeof *order, by_place);
  for (uint32_t i = 0; i < count; i++)
    call->edge_number[order[i].edge] = i;
  for (uint32_t i = 0; i < count; i++)
    add_edge(call, order[i].edge);
}

/* ---- the call ---- */

static int find(void *arg)
{
  struct deps_call *call = arg;
  const struct sl_kernel_call *on = &call->call;
  sl_heap *scratch = &call->call.scratch;
  int status = sl_deps_resolve(&call->edges, scratch, on->program, on->kernel, on->target, &call->call.report);
  if (status != SLUICE_OK)
    return status;
  if (call->options->reduce)
    sl_deps_reduce(&call->reductions, scratch, on->program, on->kernel, on->target, &call->edges);
  sl_accesses_init(&call->accesses, scratch, on->program, on->kernel, on->target);
  sl_buf_init(&call->text, scratch);
  add_tree(call);
  add_classes(call);
  add_edges(call);
  return SLUICE_OK;
}

int sluice_deps(sluice_deps_result **out, const sluice_program *program, size_t kernel, const sluice_targets *targets,
                const sluice_deps_options *options, const sluice_sink *sink)
{
  assert(out && program && targets && options && kernel < program->kernels.len);
  *out = NULL;
  sluice_deps_result *result = calloc(1, sizeof *result);
  if (!result)
    return SLUICE_E_NO_MEMORY;
  sl_heap_init(&result->heap, &result->guard);
  struct deps_call call = { .call = { .input = program, .number = kernel, .targets = targets }, .result = result,
                            .options = options };
  int status = sl_kernel_call_run(&call.call, &result->guard, sink, find, &call);
  if (status == SLUICE_OK)
    *out = result;
  else
    sluice_deps_result_free(result);
  return status;
}

void sluice_deps_result_free(sluice_deps_result *result)
{
  if (!result)
    return;
  sl_heap_free_all(&result->heap);
  free(result);
}

const sluice_dep *sluice_deps_edges(const sluice_deps_result *result, size_t *count)
{
  assert(result && count);
  *count = result->edges.len;
  return result->edges.data;
}

const sluice_deps_instruction *sluice_deps_instructions(const sluice_deps_result *result, size_t *count)
{
  assert(result && count);
  *count = result->instructions.len;
  return result->instructions.data;
}

const sluice_deps_block *sluice_deps_blocks(const sluice_deps_result *result, size_t *count)
{
  assert(result && count);
  *count = result->blocks.len;
  return result->blocks.data;
}

const char *const *sluice_deps_memory_classes(const sluice_deps_result *result, size_t *count)
{
  assert(result && count);
  *count = result->classes.len;
  return result->classes.data;
}
