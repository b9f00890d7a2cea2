/* reference.c: see reference.h. Time per instance: its needs, plus the delay lines of loops it ends. */
#include "check/reference.h"

#include <assert.h>

/* Whether the two ends are ordered without waits: one engine with interlock, one ordered queue, or a load that its own engine
 * stops for. */
static bool given_by_hardware(const struct sl_machine_code *code, sl_index producer, sl_index consumer)
{
  const struct sl_kernel *kernel = code->kernel;
  uint32_t p = sl_stmt_op(kernel, producer)->stream, c = sl_stmt_op(kernel, consumer)->stream;
  bool load = sl_opcode_table[sl_stmt_op(kernel, producer)->code].op_class == SL_CLASS_LOAD;
  if (load && p == sl_issue_stream(kernel, c))
    return true;
  if (p != c)
    return false;
  if (kernel->streams.data[p].is_queue)
    return code->target->queue.ordered;
  return code->target->engines.data[kernel->streams.data[p].engine].interlock;
}

static uint32_t number_producer(struct sl_reference *r, sl_heap *heap, sl_index stmt)
{
  if (!r->producer_of[stmt]) {
    sl_vec_add(heap, &r->producers, stmt);
    r->producer_of[stmt] = r->producers.len;
  }
  return r->producer_of[stmt] - 1;
}

/* Edges as needs, counted by consumer so that those of one statement are neighbours. */
static void sort_needs(struct sl_reference *r, sl_heap *heap, const sl_edges *edges)
{
  uint32_t stmts = r->code.kernel->stmts.len;
  for (uint32_t i = 0; i < edges->len; i++)
    r->need_count[edges->data[i].consumer]++;
  uint32_t next = 0;
  for (sl_index at = 0; at < stmts; at++) {
    r->first_need[at] = next;
    next += r->need_count[at];
    r->need_count[at] = 0;
  }
  (void)sl_vec_extend(heap, &r->needs, edges->len);
  for (uint32_t i = 0; i < edges->len; i++) {
    const struct sl_edge *edge = &edges->data[i];
    uint32_t at = r->first_need[edge->consumer] + r->need_count[edge->consumer]++;
    r->needs.data[at] = (struct sl_need){ *edge, number_producer(r, heap, edge->producer) };
  }
}

static void make_delay_lines(struct sl_reference *r, sl_heap *heap)
{
  size_t total = 0;
  uint32_t blocks = r->code.kernel->blocks.len;
  r->delay_at = sl_heap_calloc(heap, r->needs.len + 1u, sizeof *r->delay_at);
  r->next_of_block = sl_heap_calloc(heap, r->needs.len + 1u, sizeof *r->next_of_block);
  r->needs_of_block = sl_heap_calloc(heap, blocks, sizeof *r->needs_of_block);
  r->code.carries = sl_heap_calloc(heap, blocks, sizeof *r->code.carries);
  for (uint32_t n = 0; n < r->needs.len; n++) {
    const struct sl_need *need = &r->needs.data[n];
    if (need->edge.k == 0)
      continue;
    r->code.carries[need->edge.block] = true;
    if (sl_edge_is_vector(&need->edge)) {
      r->code.carries[need->edge.inner_block] = true;
      r->delay_at[n] = sl_vectors_add(&r->vectors, heap, r->code.kernel,
                                      (struct sl_vector){ .outer = need->edge.block, .inner = need->edge.inner_block,
                                                          .k = need->edge.k, .inner_k = need->edge.inner_k,
                                                          .producer = need->ordinal_of });
      continue;
    }
    r->delay_at[n] = total;
    total += need->edge.k;
    r->next_of_block[n] = r->needs_of_block[need->edge.block];
    r->needs_of_block[need->edge.block] = n + 1;
  }
  r->delay = sl_heap_calloc(heap, total + 1, sizeof *r->delay);
  r->delay_words = total;
}

/* Keeps the edges that software has to order. */
static void keep_edges(const struct sl_reference *r, sl_edges *edges)
{
  uint32_t kept = 0;
  for (uint32_t i = 0; i < edges->len; i++)
    if (!given_by_hardware(&r->code, edges->data[i].producer, edges->data[i].consumer))
      edges->data[kept++] = edges->data[i];
  edges->len = kept;
}

int sl_reference_init(struct sl_reference *r, sl_heap *heap, sl_program *program, struct sl_kernel *kernel,
                      const struct sl_target *target, sl_report *report)
{
  memset(r, 0, sizeof *r);
  sl_code_init(&r->code, heap, program, kernel, target);
  sl_edges edges = { 0 };
  int status = sl_deps_resolve(&edges, heap, program, kernel, target, report);
  if (status != SLUICE_OK)
    return status;
  keep_edges(r, &edges);
  r->first_need = sl_heap_calloc(heap, kernel->stmts.len, sizeof *r->first_need);
  r->need_count = sl_heap_calloc(heap, kernel->stmts.len, sizeof *r->need_count);
  r->producer_of = sl_heap_calloc(heap, kernel->stmts.len, sizeof *r->producer_of);
  sort_needs(r, heap, &edges);
  sl_vec_free(heap, &edges);
  make_delay_lines(r, heap);
  r->latest = sl_heap_calloc(heap, r->producers.len + 1u, sizeof *r->latest);
  r->chain = sl_heap_calloc(heap, kernel->streams.len + 1u, sizeof *r->chain);
  sl_code_compile(&r->code, r->code.presence.all);
  sl_engine_states_init(&r->states, &r->code, heap);
  r->queues = sl_heap_calloc(heap, r->code.presence.engines.len + 1u, sizeof *r->queues);
  return SLUICE_OK;
}

void sl_reference_start(struct sl_reference *r, const struct sl_inputs *inputs, uint64_t limit)
{
  for (uint32_t e = 0; e < r->code.presence.engines.len; e++) {
    sl_engine_state_reset(&r->states[e], &r->code, inputs);
    r->queues[e].data.len = r->queues[e].from = 0;
  }
  memset(r->latest, 0, (r->producers.len + 1u) * sizeof *r->latest);
  memset(r->chain, 0, (r->code.kernel->streams.len + 1u) * sizeof *r->chain);
  memset(r->delay, 0, r->delay_words * sizeof *r->delay);
  sl_vectors_start(&r->vectors);
  r->queued = 0;
  r->limit = limit;
  r->exhausted = false;
  sl_thread_init(&r->thread, &r->code, r->states, inputs, 0, r->code.presence.all);
}

static void arrive(struct sl_reference *r, sl_heap *heap, sl_index block)
{
  sl_vectors_arrive(&r->vectors, heap, block, r->latest);
  for (uint32_t n = r->needs_of_block[block]; n; n = r->next_of_block[n - 1])
    if (!r->needs.data[n - 1].edge.across)
      memset(&r->delay[r->delay_at[n - 1]], 0, r->needs.data[n - 1].edge.k * sizeof *r->delay);
}

/* Entry j holds the position at the end of the iteration j + 1 before the current one. */
static void end_iteration(struct sl_reference *r, sl_heap *heap, sl_index block)
{
  sl_vectors_tail(&r->vectors, heap, block, r->latest);
  for (uint32_t n = r->needs_of_block[block]; n; n = r->next_of_block[n - 1]) {
    const struct sl_need *need = &r->needs.data[n - 1];
    uint32_t *line = &r->delay[r->delay_at[n - 1]];
    assert(need->edge.k > 0 && "a need of this iteration has no delay line");
    memmove(line + 1, line, (need->edge.k - 1) * sizeof *line);
    line[0] = r->latest[need->ordinal_of];
  }
}

static void queue_instance(struct sl_reference *r, sl_heap *heap, uint32_t engine, sl_index stmt)
{
  struct sl_instance_queue *queue = &r->queues[engine];
  sl_vec_add(heap, &queue->data, stmt);
  for (uint32_t i = 0; i < r->need_count[stmt]; i++) {
    uint32_t n = r->first_need[stmt] + i;
    const struct sl_need *need = &r->needs.data[n];
    uint32_t position;
    if (need->edge.k == 0)
      position = r->latest[need->ordinal_of];
    else if (sl_edge_is_vector(&need->edge))
      position = sl_vectors_need(&r->vectors, (uint32_t)r->delay_at[n]);
    else
      position = r->delay[r->delay_at[n] + need->edge.k - 1];
    sl_vec_add(heap, &queue->data, position);
  }
  r->queued += 1 + r->need_count[stmt];
  if (r->producer_of[stmt])
    r->latest[r->producer_of[stmt] - 1] = ++r->chain[sl_stmt_op(r->code.kernel, stmt)->stream];
}

/* Drops what was read once it outweighs what is left. */
static void compact(struct sl_instance_queue *queue)
{
  if (queue->from < 4096 || queue->from < queue->data.len / 2)
    return;
  uint32_t left = queue->data.len - queue->from;
  memmove(queue->data.data, &queue->data.data[queue->from], left * sizeof *queue->data.data);
  queue->data.len = left;
  queue->from = 0;
}

/* One step in sequential order; false at the end, also that of the budget. */
static bool advance(struct sl_reference *r, sl_heap *heap)
{
  const struct sl_step *step = sl_thread_next(&r->thread, heap, r->limit - r->thread.steps);
  if (!step) {
    r->exhausted = true;
    return false;
  }
  switch ((enum sl_step_kind)step->kind) {
  case SL_STEP_END: return false;
  case SL_STEP_ARRIVE: arrive(r, heap, step->a); break;
  case SL_STEP_TAIL: end_iteration(r, heap, step->a); break;
  case SL_STEP_OP:
  case SL_STEP_DRAIN:
    if (r->need_count[step->a] || r->producer_of[step->a])
      queue_instance(r, heap, step->engine, step->a);
    break;
  default: break;
  }
  return true;
}

static bool is_empty(const struct sl_instance_queue *queue)
{
  return queue->from == queue->data.len;
}

const uint32_t *sl_reference_next(struct sl_reference *r, sl_heap *heap, uint32_t engine)
{
  struct sl_instance_queue *queue = &r->queues[engine];
  compact(queue);
  while (is_empty(queue))
    if (!advance(r, heap))
      return NULL;
  const uint32_t *instance = &queue->data.data[queue->from];
  queue->from += 1 + r->need_count[*instance];
  assert(queue->from <= queue->data.len && "an instance and its needs are queued together");
  r->queued -= 1 + r->need_count[*instance];
  return instance;
}

bool sl_reference_is_far(struct sl_reference *r, sl_heap *heap, uint32_t engine)
{
  enum { MUCH = 1 << 16 };
  while (is_empty(&r->queues[engine]) && r->queued <= MUCH)
    if (!advance(r, heap))
      return false;
  return is_empty(&r->queues[engine]);
}

/* The next instruction that is an end of a dependence, NULL at the end: what a fresh reference steps through. */
static const struct sl_step *next_end(struct sl_reference *r, sl_heap *heap)
{
  for (;;) {
    const struct sl_step *step = sl_thread_next(&r->thread, heap, r->limit - r->thread.steps);
    if (!step || step->kind == SL_STEP_END)
      return NULL;
    bool is_op = step->kind == SL_STEP_OP || step->kind == SL_STEP_DRAIN;
    if (is_op && (r->need_count[step->a] || r->producer_of[step->a]))
      return step;
  }
}

sl_index sl_reference_locate(struct sl_reference *r, sl_heap *heap, const struct sl_inputs *inputs, uint32_t stream,
                             uint32_t position, sl_buf *iteration)
{
  sl_reference_start(r, inputs, r->limit);
  for (const struct sl_step *step; (step = next_end(r, heap)) != NULL;) {
    if (!r->producer_of[step->a] || sl_stmt_op(r->code.kernel, step->a)->stream != stream)
      continue;
    if (++r->chain[stream] == position) {
      sl_print_iteration(iteration, &r->code, &r->states[step->engine], step->a);
      return step->a;
    }
  }
  return SL_NONE;
}

void sl_reference_iteration(struct sl_reference *r, sl_heap *heap, const struct sl_inputs *inputs, uint32_t engine,
                            uint32_t instance, sl_buf *iteration)
{
  sl_reference_start(r, inputs, r->limit);
  for (const struct sl_step *step; (step = next_end(r, heap)) != NULL;)
    if (step->engine == engine && --instance == 0) {
      sl_print_iteration(iteration, &r->code, &r->states[engine], step->a);
      return;
    }
}
