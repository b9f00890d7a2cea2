/* needs.c: see needs.h. Time per instance: its dependences, and the delay lines of iterations that end. */
#include "sim/needs.h"

/* Puts the edges that software keeps in the order of their consumers. */
static void sort_edges(struct sl_needs *n, const sl_edges *all)
{
  uint32_t stmts = n->code.kernel->stmts.len, kept = 0;
  for (uint32_t i = 0; i < all->len; i++)
    if (!sl_hardware_orders(n->code.kernel, n->code.target, &all->data[i])) {
      n->count[all->data[i].consumer]++;
      kept++;
    }
  for (sl_index at = 0, next = 0; at < stmts; at++) {
    n->first[at] = next;
    next += n->count[at];
    n->count[at] = 0;
  }
  (void)sl_vec_extend(n->heap, &n->edges, kept);
  for (uint32_t i = 0; i < all->len; i++) {
    const struct sl_edge *edge = &all->data[i];
    if (sl_hardware_orders(n->code.kernel, n->code.target, edge))
      continue;
    n->edges.data[n->first[edge->consumer] + n->count[edge->consumer]++] = *edge;
    if (!n->producer[edge->producer])
      n->producer[edge->producer] = ++n->producer_count;
  }
}

static void make_lines(struct sl_needs *n)
{
  uint32_t blocks = n->code.kernel->blocks.len;
  n->line_at = sl_heap_calloc(n->heap, n->edges.len + 1u, sizeof *n->line_at);
  n->next_of_block = sl_heap_calloc(n->heap, n->edges.len + 1u, sizeof *n->next_of_block);
  n->of_block = sl_heap_calloc(n->heap, blocks, sizeof *n->of_block);
  n->code.carries = sl_heap_calloc(n->heap, blocks, sizeof *n->code.carries);
  for (uint32_t i = 0; i < n->edges.len; i++) {
    const struct sl_edge *edge = &n->edges.data[i];
    if (edge->k == 0)
      continue;
    n->code.carries[edge->block] = true;
    if (sl_edge_is_vector(edge)) {
      n->code.carries[edge->inner_block] = true;
      n->line_at[i] = n->vector_count++;
      continue;
    }
    n->line_at[i] = n->line_words;
    n->line_words += edge->k;
    n->next_of_block[i] = n->of_block[edge->block];
    n->of_block[edge->block] = i + 1;
  }
}

int sl_needs_init(struct sl_needs *n, sl_heap *heap, sl_program *program, struct sl_kernel *kernel,
                  const struct sl_target *target, sl_report *report)
{
  memset(n, 0, sizeof *n);
  n->heap = heap;
  sl_code_init(&n->code, heap, program, kernel, target);
  sl_edges all = { 0 };
  int status = sl_deps_resolve(&all, heap, program, kernel, target, report);
  if (status != SLUICE_OK)
    return status;
  n->first = sl_heap_calloc(heap, kernel->stmts.len, sizeof *n->first);
  n->count = sl_heap_calloc(heap, kernel->stmts.len, sizeof *n->count);
  n->producer = sl_heap_calloc(heap, kernel->stmts.len, sizeof *n->producer);
  sort_edges(n, &all);
  sl_vec_free(heap, &all);
  make_lines(n);
  sl_code_compile(&n->code, n->code.presence.all);
  n->own = sl_heap_calloc(heap, n->code.presence.engines.len + 1u, sizeof(struct sl_need_walk *));
  n->delivered = sl_heap_calloc(heap, n->code.presence.engines.len + 1u, sizeof *n->delivered);
  return SLUICE_OK;
}

/* ---- walks ---- */

/* In the order in which make_lines counts them. */
static void add_vectors(const struct sl_needs *n, struct sl_need_walk *walk)
{
  for (uint32_t i = 0; i < n->edges.len; i++) {
    const struct sl_edge *edge = &n->edges.data[i];
    if (sl_edge_is_vector(edge))
      (void)sl_vectors_add(&walk->vectors, n->heap, n->code.kernel,
                           (struct sl_vector){ .outer = edge->block,
                                               .inner = edge->inner_block,
                                               .k = edge->k,
                                               .inner_k = edge->inner_k,
                                               .producer = n->producer[edge->producer] });
  }
}

static struct sl_need_walk *new_walk(struct sl_needs *n, sl_engines wanted)
{
  struct sl_need_walk *walk = sl_heap_calloc(n->heap, 1, sizeof *walk);
  uint32_t engines = n->code.presence.engines.len;
  walk->wanted = wanted;
  walk->latest = sl_heap_calloc(n->heap, n->producer_count + 1u, sizeof *walk->latest);
  walk->retiring = sl_heap_calloc(n->heap, n->code.kernel->streams.len + 1u, sizeof *walk->retiring);
  walk->lines = sl_heap_calloc(n->heap, n->line_words + 1, sizeof *walk->lines);
  add_vectors(n, walk);
  walk->queues = sl_heap_calloc(n->heap, engines + 1u, sizeof *walk->queues);
  sl_engine_states_init(&walk->states, &n->code, n->heap);
  for (uint32_t e = 0; e < engines; e++)
    sl_engine_state_reset(&walk->states[e], &n->code, n->inputs);
  sl_thread_init(&walk->thread, &n->code, walk->states, n->inputs, 0, n->code.presence.all);
  return walk;
}

void sl_needs_start(struct sl_needs *n, const struct sl_inputs *inputs)
{
  n->inputs = inputs;
  n->common = new_walk(n, n->code.presence.all);
}

static void begin_visit(const struct sl_needs *n, struct sl_need_walk *walk, sl_index block)
{
  sl_vectors_arrive(&walk->vectors, n->heap, block, walk->latest);
  for (uint32_t i = n->of_block[block]; i; i = n->next_of_block[i - 1])
    if (!n->edges.data[i - 1].across)
      memset(&walk->lines[n->line_at[i - 1]], 0, n->edges.data[i - 1].k * sizeof *walk->lines);
}

static void end_iteration(const struct sl_needs *n, struct sl_need_walk *walk, sl_index block)
{
  sl_vectors_tail(&walk->vectors, n->heap, block, walk->latest);
  for (uint32_t i = n->of_block[block]; i; i = n->next_of_block[i - 1]) {
    uint32_t *line = &walk->lines[n->line_at[i - 1]];
    memmove(line + 1, line, (n->edges.data[i - 1].k - 1) * sizeof *line);
    line[0] = walk->latest[n->producer[n->edges.data[i - 1].producer]];
  }
}

static void keep_instance(const struct sl_needs *n, struct sl_need_walk *walk, uint32_t engine, sl_index stmt)
{
  struct sl_need_queue *queue = &walk->queues[engine];
  sl_vec_add(n->heap, &queue->data, stmt);
  for (uint32_t i = n->first[stmt]; i < n->first[stmt] + n->count[stmt]; i++) {
    const struct sl_edge *edge = &n->edges.data[i];
    uint32_t number;
    if (edge->k == 0)
      number = walk->latest[n->producer[edge->producer]];
    else if (sl_edge_is_vector(edge))
      number = sl_vectors_need(&walk->vectors, (uint32_t)n->line_at[i]);
    else
      number = walk->lines[n->line_at[i] + edge->k - 1];
    sl_vec_add(n->heap, &queue->data, number);
  }
  walk->kept += 1 + n->count[stmt];
}

static void pass_instance(const struct sl_needs *n, struct sl_need_walk *walk, uint32_t engine, sl_index stmt)
{
  if (walk->wanted >> engine & 1)
    keep_instance(n, walk, engine, stmt);
  if (n->producer[stmt])
    walk->latest[n->producer[stmt]] = ++walk->retiring[sl_stmt_op(n->code.kernel, stmt)->stream];
}

/* To the next step; false at the end, after an error or when the limit is reached. */
static bool walk_on(struct sl_needs *n, struct sl_need_walk *walk, uint64_t limit)
{
  uint64_t before = walk->thread.steps;
  const struct sl_step *step = sl_thread_next(&walk->thread, n->heap, limit > n->steps ? limit - n->steps : 0);
  n->steps += walk->thread.steps - before;
  n->error = walk->thread.error;
  n->error_at = walk->thread.error_at;
  if (!step || step->kind == SL_STEP_END)
    return false;
  switch ((enum sl_step_kind)step->kind) {
  case SL_STEP_ARRIVE: begin_visit(n, walk, step->a); break;
  case SL_STEP_TAIL: end_iteration(n, walk, step->a); break;
  case SL_STEP_OP:
  case SL_STEP_DRAIN:
    if (sl_needs_has(n, step->a))
      pass_instance(n, walk, step->engine, step->a);
    break;
  default: break;
  }
  return true;
}

static const uint32_t *take(const struct sl_needs *n, struct sl_need_walk *walk, uint32_t engine)
{
  struct sl_need_queue *queue = &walk->queues[engine];
  const uint32_t *instance = &queue->data.data[queue->from];
  queue->from += 1 + n->count[*instance];
  walk->kept -= 1 + n->count[*instance];
  return instance;
}

static void compact(struct sl_need_queue *queue)
{
  uint32_t left = queue->data.len - queue->from;
  if (queue->from < 1024 || queue->from < left)
    return;
  memmove(queue->data.data, &queue->data.data[queue->from], left * sizeof *queue->data.data);
  queue->data.len = left;
  queue->from = 0;
}

/* The next instance of the engine in a walk; NULL when there is none, or too much to be kept for others. */
static const uint32_t *next_in(struct sl_needs *n, struct sl_need_walk *walk, uint32_t engine, uint64_t limit)
{
  enum { MUCH = 1 << 20 };
  struct sl_need_queue *queue = &walk->queues[engine];
  compact(queue);
  while (queue->from == queue->data.len)
    if (walk->kept > MUCH || !walk_on(n, walk, limit))
      return NULL;
  return take(n, walk, engine);
}

/* A walk of its own, up to where the engine is. */
static struct sl_need_walk *leave_common_walk(struct sl_needs *n, uint32_t engine, uint64_t limit)
{
  struct sl_need_walk *walk = new_walk(n, (sl_engines)1 << engine);
  for (uint64_t i = 0; i < n->delivered[engine]; i++)
    if (!next_in(n, walk, engine, limit))
      break;
  n->common->wanted &= ~walk->wanted;
  n->own[engine] = walk;
  return walk;
}

const uint32_t *sl_needs_next(struct sl_needs *n, uint32_t engine, uint64_t limit)
{
  struct sl_need_walk *walk = n->own[engine] ? n->own[engine] : n->common;
  const uint32_t *instance = next_in(n, walk, engine, limit);
  bool is_too_far = !instance && walk == n->common && walk->kept && !n->error && n->steps < limit;
  if (is_too_far)
    instance = next_in(n, leave_common_walk(n, engine, limit), engine, limit);
  n->delivered[engine] += instance != NULL;
  return instance;
}
