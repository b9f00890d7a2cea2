/* reduce.c: which dependences are implied: preparation and the order of the passes; reduce_pass.c decides. See reduce.h.
 *
 * The graph has two nodes per instruction x, issue I(x) and retirement R(x). I -> I along what a stream issues and R -> R along
 * what a stream retires have weight 0, and 1 around the back edge of a loop; I(x) -> R(x) has 0; a dependence (p, c, block, k)
 * is R(p) -> I(c) with k. It is implied when another path from R(p) to I(c) weighs no more (min-plus; all implied ones can go
 * at once, because no cycle weighs 0). A queue's chain of retirements is its own, never its trigger's.
 *
 * Blocks are done one by one, inner ones first. In the pass of a block:
 *   - a path may only go through instructions that are sure, for others may not be there; but it may begin and end in blocks
 *     that may not run: from p to whatever in p's block surely follows its last instance, and likewise before c;
 *   - edges carried by the block count with their distance, edges of distance 0 in the sure parts of it too; edges carried
 *     further in or out do not count;
 *   - decided are the edges that the block carries, and those carried further out whose ends have it as their innermost
 *     common block: at weight 0 they are implied, because "all instances so far" includes those of earlier visits.
 * Edges `across` count like others of their block. They are decided in a pass of their own where only edges across and
 * those of distance 0 count: these hold from one visit to the next. With weight 1 there, all earlier iterations of all
 * visits are known, so that edges carried further out are implied too. A vector counts with its outer distance plus one
 * (everything before the visit it names) unless its first inner iterations do not wait at all.
 *
 * Instead of matrices there are vector clocks in text order: per issue and per producer's retirement, the latest moment known
 * of every chain. On one chain moments are ordered, so one number per chain is enough. A loop's body is walked until
 * nothing changes; each round adds at least one to the weight of the paths found, so that the largest distance bounds
 * the rounds.
 *
 * What the hardware orders needs no wait and is no evidence either: the ends of such an edge are kept apart in the pipeline, but
 * the consumer may issue before the producer has retired. A load that its own engine stops for is the exception.
 *
 * Cost: O((statements + edges) * chains * depth), in loops times the rounds; no more than ROUNDS_MAX rounds and TRIES_MAX edges
 * per producer (reduce_pass.c) where distances or blocks are large: what is not found is kept. Memory: a clock per producer.
 * Basis: Sluice's own; the same with matrices, but for sure loops, vectors and `across`, is tests/oracle/reduce_reference.h.
 */
#include "deps/reduce_parts.h"

#include <assert.h>
#include <stdlib.h>

#include "ir/eval.h"

/* ---- blocks ---- */

static bool surely_runs(const struct sl_param_values *values, const struct sl_loop *loop)
{
  uint64_t trips;
  return !loop->while_cond.count && !loop->divergent && sl_eval_trips(values, loop, &trips) && trips > 0;
}

struct numbering {
  struct sl_reducer *r;
  struct sl_param_values values;
  uint32_t position;
};

static void number_block(struct numbering *n, sl_index block, uint32_t depth, sl_index region);

static void number_stmt(struct numbering *n, sl_index at, uint32_t depth, sl_index region)
{
  const struct sl_kernel *kernel = n->r->kernel;
  n->r->position[at] = ++n->position;
  if (kernel->stmts.data[at].kind == SL_STMT_LOOP) {
    const struct sl_loop *loop = sl_stmt_loop(kernel, at);
    number_block(n, loop->body, depth + 1, surely_runs(&n->values, loop) ? region : loop->body);
  } else if (kernel->stmts.data[at].kind == SL_STMT_IF) {
    const struct sl_branch *branch = sl_stmt_branch(kernel, at);
    number_block(n, branch->then_block, depth + 1, branch->then_block);
    if (branch->else_block)
      number_block(n, branch->else_block, depth + 1, branch->else_block);
  }
}

/* Recursion is bounded by SL_NESTING_BLOCKS. */
static void number_block(struct numbering *n, sl_index block, uint32_t depth, sl_index region)
{
  const struct sl_kernel *kernel = n->r->kernel;
  struct sl_reduce_block *info = &n->r->blocks[block];
  sl_vec_add(n->r->heap, &n->r->order, block);
  info->depth = info->asked_from = depth;
  info->region = region;
  info->begin = n->position + 1;
  for (sl_index at = kernel->blocks.data[block].first; at; at = kernel->stmts.data[at].next)
    number_stmt(n, at, depth, region);
  info->end = n->position;
}

static void find_blocks(struct sl_reducer *r)
{
  struct numbering n = { .r = r };
  r->blocks = sl_heap_calloc(r->heap, r->kernel->blocks.len, sizeof *r->blocks);
  r->position = sl_heap_calloc(r->heap, r->kernel->stmts.len, sizeof *r->position);
  sl_param_values_init(&n.values, r->heap, r->kernel, true);
  number_block(&n, r->kernel->root, 0, r->kernel->root);
  assert(n.position < SL_ORIGIN && "positions are indices of statements in memory");
}

/* ---- the edges, by consumer ---- */

static uint32_t weight_of(const struct sl_edge *edge)
{
  if (!sl_edge_is_vector(edge))
    return edge->k;
  bool always_waits = edge->inner_k <= 0;
  return always_waits && edge->k < SL_NO_WEIGHT - 1 ? edge->k + 1 : SL_NO_WEIGHT;
}

/* The innermost common block carries distance 0, and mostly the others. */
static sl_index common_of(const struct sl_reducer *r, const struct sl_edge *edge)
{
  if (edge->k == 0)
    return edge->block;
  return sl_common_block_of(r->kernel, edge->producer_block, r->kernel->stmts.data[edge->consumer].block);
}

static struct sl_reduce_edge incoming_of(const struct sl_reducer *r, uint32_t index)
{
  const struct sl_edge *edge = &r->edges[index];
  uint32_t depth = r->blocks[edge->block].depth;
  return (struct sl_reduce_edge){
    .edge = index,
    .producer = r->producer_of[edge->producer],
    .weight = weight_of(edge),
    .depth = (uint8_t)depth,
    .common_depth = (uint8_t)r->blocks[common_of(r, edge)].depth,
    .is_sure = r->blocks[r->blocks[edge->producer_block].region].depth <= depth,
    .across = edge->across,
  };
}

/* Marks what the hardware orders, and numbers the producers of all other edges in text order. An own load is both: nothing
 * has to wait for it, and others learn from it. */
static bool *find_producers(struct sl_reducer *r, const struct sl_target *target, uint32_t count)
{
  const struct sl_kernel *kernel = r->kernel;
  bool *counts = sl_heap_calloc(r->heap, count + 1u, sizeof *counts);
  r->producer_of = sl_heap_calloc(r->heap, kernel->stmts.len, sizeof *r->producer_of);
  for (uint32_t i = 0; i < count; i++) {
    bool is_given = sl_hardware_orders(kernel, target, &r->edges[i]);
    if (is_given)
      r->out->edges[i].what = SL_REDUCE_HARDWARE;
    counts[i] = !is_given || sl_edge_is_own_load(kernel, &r->edges[i]);
    if (counts[i])
      r->producer_of[r->edges[i].producer] = 1;
  }
  (void)sl_vec_push(r->heap, &r->producers);
  (void)sl_vec_push(r->heap, &r->views);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (!r->producer_of[at])
      continue;
    r->producer_of[at] = r->producers.len;
    sl_vec_add(r->heap, &r->producers,
               ((struct sl_reduce_producer){
                   .position = r->position[at], .block = kernel->stmts.data[at].block, .outermost = UINT32_MAX }));
  }
  return counts;
}

/* Counting sort by the consumer. */
static void sort_by_consumer(struct sl_reducer *r, const bool *counts, uint32_t count)
{
  uint32_t stmts = r->kernel->stmts.len, *start = sl_heap_calloc(r->heap, stmts + 2u, sizeof *start);
  for (uint32_t i = 0; i < count; i++)
    start[r->edges[i].consumer + 2] += counts[i];
  for (uint32_t s = 2; s < stmts + 2u; s++)
    start[s] += start[s - 1];
  r->incoming = sl_heap_alloc(r->heap, (start[stmts + 1] + 1u) * sizeof *r->incoming);
  for (uint32_t i = 0; i < count; i++)
    if (counts[i])
      r->incoming[start[r->edges[i].consumer + 1]++] = incoming_of(r, i);
  r->first_incoming = start;
  r->incoming_count = start[stmts];
}

/* Chains of the streams that take part; lanes are columns of clocks only when blocks nest, for only exits need them. */
static void find_chains(struct sl_reducer *r, const bool *counts, uint32_t count)
{
  const struct sl_kernel *kernel = r->kernel;
  r->chain_of = sl_heap_calloc(r->heap, kernel->streams.len + 1u, sizeof *r->chain_of);
  r->lane_of = sl_heap_calloc(r->heap, kernel->streams.len + 1u, sizeof *r->lane_of);
  for (uint32_t i = 0; i < count; i++)
    if (counts[i])
      r->chain_of[r->edges[i].producer_stream] = r->chain_of[sl_retires_on(kernel, r->edges[i].consumer)] = 1;
  for (uint32_t stream = 0; stream < kernel->streams.len; stream++)
    if (r->chain_of[stream]) {
      r->chain_of[stream] = r->retire_chains++;
      r->lane_of[sl_issue_stream(kernel, stream)] = 1;
    }
  for (uint32_t stream = 0; stream < kernel->streams.len; stream++)
    if (r->lane_of[stream])
      r->lane_of[stream] = r->lanes++;
  for (uint32_t stream = 0; stream < kernel->streams.len; stream++)
    r->lane_of[stream] = r->lane_of[sl_issue_stream(kernel, stream)];
  r->width = r->retire_chains + (r->order.len > 1 ? r->lanes : 0);
}

/* ---- edges of the same ends ---- */

struct same_key {
  uint64_t ends;  /* producer, block, across; the consumer is the same */
  uint64_t outer; /* inner block, distance */
  int32_t inner_k;
  struct sl_reduce_edge incoming;
};

static int compare_same(const void *x, const void *y)
{
  const struct same_key *a = x, *b = y;
  if (a->ends != b->ends)
    return a->ends < b->ends ? -1 : 1;
  if (a->outer != b->outer)
    return a->outer < b->outer ? -1 : 1;
  if (a->inner_k != b->inner_k)
    return a->inner_k < b->inner_k ? -1 : 1;
  return a->incoming.edge < b->incoming.edge ? -1 : a->incoming.edge > b->incoming.edge;
}

static void tell_path(struct sl_reducer *r, uint32_t edge, enum sl_reduction what, uint32_t by)
{
  r->out->edges[edge] = (struct sl_reduced){ (uint8_t)what, r->out->paths.len, 1 };
  sl_vec_add(r->out_heap, &r->out->paths, by);
}

/* In a group of the same ends, block and inner block, by distance: an edge is implied by one of a distance that is no larger in
 * either component, for that one waits whenever this one does, and for more. */
static void drop_same(struct sl_reducer *r, struct same_key *keys, uint32_t count)
{
  uint32_t least = 0;
  for (uint32_t i = 1; i < count; i++) {
    bool together = keys[i].ends == keys[least].ends && keys[i].outer >> 32 == keys[least].outer >> 32;
    if (!together || keys[i].inner_k < keys[least].inner_k) {
      least = i;
      continue;
    }
    if (r->out->edges[keys[i].incoming.edge].what == SL_REDUCE_KEPT)
      tell_path(r, keys[i].incoming.edge, SL_REDUCE_SAME, keys[least].incoming.edge);
    keys[i].incoming.weight = SL_NO_WEIGHT;
  }
}

static void drop_same_ends(struct sl_reducer *r)
{
  struct same_key *keys = NULL;
  uint32_t capacity = 0;
  for (uint32_t stmt = 0; stmt < r->kernel->stmts.len; stmt++) {
    struct sl_reduce_edge *list = &r->incoming[r->first_incoming[stmt]];
    uint32_t count = r->first_incoming[stmt + 1] - r->first_incoming[stmt];
    if (count < 2)
      continue;
    if (count > capacity)
      keys = sl_heap_realloc(r->heap, keys, (capacity = 2 * count) * sizeof *keys);
    for (uint32_t i = 0; i < count; i++) {
      const struct sl_edge *edge = &r->edges[list[i].edge];
      keys[i] =
          (struct same_key){ .ends = (uint64_t)list[i].producer << 32 | (uint64_t)list[i].depth << 1 | list[i].across,
                             .outer = sl_map_pair(edge->inner_block, edge->k),
                             .inner_k = edge->inner_k,
                             .incoming = list[i] };
    }
    qsort(keys, count, sizeof *keys, compare_same);
    drop_same(r, keys, count);
    for (uint32_t i = 0; i < count; i++)
      list[i] = keys[i].incoming;
  }
  sl_heap_free(r->heap, keys);
}

/* ---- what each block has to decide ---- */

/* From which blocks' passes the consumer's block is looked at. */
static void ask_for(struct sl_reducer *r, sl_index block, uint32_t depth)
{
  for (; r->blocks[block].asked_from > depth; block = sl_block_parent(r->kernel, block))
    r->blocks[block].asked_from = depth;
}

static void note_edge(struct sl_reducer *r, uint32_t index)
{
  const struct sl_reduce_edge *in = &r->incoming[index];
  const struct sl_edge *edge = &r->edges[in->edge];
  struct sl_reduce_block *carrying = &r->blocks[edge->block];
  struct sl_reduce_producer *producer = &r->producers.data[in->producer];
  sl_index consumer_block = r->kernel->stmts.data[edge->consumer].block;
  carrying->has_across |= in->across;
  if (in->depth < producer->outermost)
    producer->outermost = in->depth;
  ask_for(r, consumer_block, in->common_depth);
  ask_for(r, consumer_block, in->depth);
  if (!in->is_sure && in->weight != SL_NO_WEIGHT)
    sl_vec_add(r->heap, &r->exports,
               ((struct sl_reduce_export){ sl_map_pair(edge->block, r->blocks[producer->block].region),
                                           producer->position, index }));
  if (r->out->edges[in->edge].what != SL_REDUCE_KEPT)
    return;
  carrying->targets++;
  if (edge->k > carrying->most[in->across])
    carrying->most[in->across] = edge->k;
  if (in->common_depth != in->depth)
    r->blocks[common_of(r, edge)].targets++;
}

static int compare_exports(const void *x, const void *y)
{
  const struct sl_reduce_export *a = x, *b = y;
  if (a->blocks != b->blocks)
    return a->blocks < b->blocks ? -1 : 1;
  if (a->position != b->position)
    return a->position < b->position ? -1 : 1;
  return a->incoming < b->incoming ? -1 : a->incoming > b->incoming;
}

static void note_edges(struct sl_reducer *r)
{
  for (uint32_t i = 0; i < r->incoming_count; i++)
    note_edge(r, i);
  if (r->exports.len)
    qsort(r->exports.data, r->exports.len, sizeof *r->exports.data, compare_exports);
  for (uint32_t p = r->producers.len - 1; p > 0; p--) {
    struct sl_reduce_producer *producer = &r->producers.data[p];
    struct sl_reduce_block *block = &r->blocks[producer->block];
    if (producer->outermost >= block->depth)
      continue;
    producer->next = block->producers;
    block->producers = p;
  }
}

/* ---- spilled buffers ---- */

struct spills {
  bool *is_spilled; /* by name */
  bool any;
};

static bool is_set(const struct sl_param_values *values, const struct sl_attr *attr)
{
  struct sl_constant value = attr->kind == SL_ATTR_EXPR ? sl_eval_params(values, attr->expr) : sl_constant_of(1);
  return value.state != SL_CONST_KNOWN || value.value != 0;
}

static struct spills find_spills(struct sl_reducer *r, const sl_program *program)
{
  const struct sl_kernel *kernel = r->kernel;
  struct spills spills = { NULL, false };
  sl_name spilled = sl_names_find(&program->names, "spilled", strlen("spilled"));
  if (!spilled)
    return spills;
  struct sl_param_values values = { 0 };
  sl_param_values_init(&values, r->heap, kernel, false);
  spills.is_spilled = sl_heap_calloc(r->heap, program->names.len + 1u, sizeof *spills.is_spilled);
  for (uint32_t b = 1; b < kernel->buffers.len; b++) {
    const struct sl_buffer *buffer = &kernel->buffers.data[b];
    for (uint32_t a = 0; a < buffer->attr_count; a++) {
      const struct sl_attr *attr = &kernel->attrs.data[buffer->first_attr + a];
      if (attr->name == spilled && is_set(&values, attr))
        spills.any = spills.is_spilled[buffer->name] = true;
    }
  }
  return spills;
}

/* The spilled buffer that an operand names; 0: none. */
static sl_name spilled_operand(const struct sl_kernel *kernel, const struct spills *spills, sl_index stmt,
                               uint32_t number)
{
  const struct sl_operand *operand = &kernel->operands.data[sl_stmt_op(kernel, stmt)->first_operand + number];
  sl_name name = operand->kind == SL_OPERAND_NAME ? (sl_name)operand->value : 0;
  return name && spills->is_spilled[name] ? name : 0;
}

static uint32_t operand_count(const struct sl_kernel *kernel, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(kernel, stmt);
  return (uint32_t)op->dst_count + op->src_count;
}

/* Whether both ends access one spilled buffer; of an edge that was found for its accesses, whether one of these does. */
static bool is_spilled(const struct sl_kernel *kernel, const struct spills *spills, const struct sl_edge *edge)
{
  if (edge->kind == SL_EDGE_ORDERED)
    return false;
  if (edge->kind != SL_EDGE_STATED)
    return spilled_operand(kernel, spills, edge->producer, edge->producer_operand) ||
           spilled_operand(kernel, spills, edge->consumer, edge->consumer_operand);
  for (uint32_t i = 0; i < operand_count(kernel, edge->producer); i++) {
    sl_name name = spilled_operand(kernel, spills, edge->producer, i);
    for (uint32_t j = 0; name && j < operand_count(kernel, edge->consumer); j++)
      if (spilled_operand(kernel, spills, edge->consumer, j) == name)
        return true;
  }
  return false;
}

/* A reload is ordered in ways that are not seen here: what is implied for a spilled buffer is kept all the same. */
static void keep_spilled(struct sl_reducer *r, const sl_program *program, uint32_t count)
{
  struct spills spills = find_spills(r, program);
  for (uint32_t i = 0; i < count && spills.any; i++) {
    uint8_t *what = &r->out->edges[i].what;
    if ((*what == SL_REDUCE_SAME || *what == SL_REDUCE_IMPLIED) && is_spilled(r->kernel, &spills, &r->edges[i]))
      *what = SL_REDUCE_SPILLED;
  }
}

/* ---- all of it ---- */

void sl_deps_reduce(sl_reductions *out, sl_heap *heap, const sl_program *program, const struct sl_kernel *kernel,
                    const struct sl_target *target, const sl_edges *edges)
{
  *out = (sl_reductions){ .edges = sl_heap_calloc(heap, edges->len + 1u, sizeof *out->edges) };
  sl_heap *scratch = sl_heap_child_new(heap);
  struct sl_reducer r = { .heap = scratch, .out_heap = heap, .kernel = kernel, .edges = edges->data, .out = out };
  find_blocks(&r);
  bool *counts = find_producers(&r, target, edges->len);
  find_chains(&r, counts, edges->len);
  for (uint32_t i = 0; i < edges->len; i++)
    if (counts[i])
      r.producers.data[r.producer_of[edges->data[i].producer]].chain = r.chain_of[edges->data[i].producer_stream];
  sort_by_consumer(&r, counts, edges->len);
  drop_same_ends(&r);
  note_edges(&r);
  struct sl_reduce_memory *memory = sl_reduce_memory_new(&r);
  for (uint32_t i = r.order.len; i-- > 0;)
    sl_reduce_block_decide(&r, memory, r.order.data[i]);
  keep_spilled(&r, program, edges->len);
  sl_heap_child_free(scratch);
}
