/* needs.c: see needs.h. Time per instance: its dependences, and the delay lines of iterations that end. */
#include "sim/needs.h"

static bool is_load(const struct sl_kernel *kernel, sl_index stmt)
{
  return sl_opcode_table[sl_stmt_op(kernel, stmt)->code].op_class == SL_CLASS_LOAD;
}

/* One engine that orders its own instructions, one ordered queue, or a load for which its engine stops. */
static bool kept_by_hardware(const struct sl_needs *n, const struct sl_edge *edge)
{
  const struct sl_kernel *kernel = n->code.kernel;
  uint32_t from = sl_stmt_op(kernel, edge->producer)->stream, to = sl_stmt_op(kernel, edge->consumer)->stream;
  if (is_load(kernel, edge->producer) && from == sl_issue_stream(kernel, to))
    return true;
  if (from != to)
    return false;
  const struct sl_target *target = n->code.target;
  return kernel->streams.data[from].is_queue ? target->queue.ordered
                                             : target->engines.data[kernel->streams.data[from].engine].interlock;
}

/* Puts the edges that software keeps in the order of their consumers. */
static void sort_edges(struct sl_needs *n, const sl_edges *all)
{
  uint32_t stmts = n->code.kernel->stmts.len, kept = 0, producers = 0;
  for (uint32_t i = 0; i < all->len; i++)
    if (!kept_by_hardware(n, &all->data[i])) {
      n->count[all->data[i].consumer]++;
      n->is_cut |= all->data[i].is_vector;
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
    if (kept_by_hardware(n, edge))
      continue;
    n->edges.data[n->first[edge->consumer] + n->count[edge->consumer]++] = *edge;
    if (!n->producer[edge->producer])
      n->producer[edge->producer] = ++producers;
  }
  n->latest = sl_heap_calloc(n->heap, producers + 1u, sizeof *n->latest);
}

static void make_lines(struct sl_needs *n)
{
  uint32_t total = 0, blocks = n->code.kernel->blocks.len;
  n->line_at = sl_heap_calloc(n->heap, n->edges.len + 1u, sizeof *n->line_at);
  n->next_of_block = sl_heap_calloc(n->heap, n->edges.len + 1u, sizeof *n->next_of_block);
  n->of_block = sl_heap_calloc(n->heap, blocks, sizeof *n->of_block);
  n->code.carries = sl_heap_calloc(n->heap, blocks, sizeof *n->code.carries);
  for (uint32_t i = 0; i < n->edges.len; i++) {
    const struct sl_edge *edge = &n->edges.data[i];
    if (edge->k == 0)
      continue;
    n->line_at[i] = total;
    total += edge->k;
    n->next_of_block[i] = n->of_block[edge->block];
    n->of_block[edge->block] = i + 1;
    n->code.carries[edge->block] = true;
  }
  n->lines = sl_heap_calloc(n->heap, total + 1u, sizeof *n->lines);
}

int sl_needs_init(struct sl_needs *n, sl_heap *heap, sl_program *program, struct sl_kernel *kernel,
                  const struct sl_target *target, sl_report *report)
{
  memset(n, 0, sizeof *n);
  n->heap = heap;
  sl_code_init(&n->code, heap, program, kernel, target);
  sl_edges all = { 0 };
  int status = sl_deps_resolve(&all, heap, program, kernel, report);
  if (status != SLUICE_OK)
    return status;
  n->first = sl_heap_calloc(heap, kernel->stmts.len, sizeof *n->first);
  n->count = sl_heap_calloc(heap, kernel->stmts.len, sizeof *n->count);
  n->producer = sl_heap_calloc(heap, kernel->stmts.len, sizeof *n->producer);
  n->retiring = sl_heap_calloc(heap, kernel->streams.len + 1u, sizeof *n->retiring);
  sort_edges(n, &all);
  sl_vec_free(heap, &all);
  make_lines(n);
  sl_code_compile(&n->code, n->code.presence.all);
  sl_engine_states_init(&n->states, &n->code, heap);
  n->queues = sl_heap_calloc(heap, n->code.presence.engines.len + 1u, sizeof *n->queues);
  return SLUICE_OK;
}

void sl_needs_start(struct sl_needs *n, const struct sl_inputs *inputs)
{
  for (uint32_t e = 0; e < n->code.presence.engines.len; e++)
    sl_engine_state_reset(&n->states[e], &n->code, inputs);
  sl_thread_init(&n->thread, &n->code, n->states, inputs, 0, n->code.presence.all);
}

static void begin_visit(struct sl_needs *n, sl_index block)
{
  for (uint32_t i = n->of_block[block]; i; i = n->next_of_block[i - 1])
    memset(&n->lines[n->line_at[i - 1]], 0, n->edges.data[i - 1].k * sizeof *n->lines);
}

static void end_iteration(struct sl_needs *n, sl_index block)
{
  for (uint32_t i = n->of_block[block]; i; i = n->next_of_block[i - 1]) {
    uint32_t *line = &n->lines[n->line_at[i - 1]];
    memmove(line + 1, line, (n->edges.data[i - 1].k - 1) * sizeof *line);
    line[0] = n->latest[n->producer[n->edges.data[i - 1].producer]];
  }
}

static void add_instance(struct sl_needs *n, uint32_t engine, sl_index stmt)
{
  struct sl_need_queue *queue = &n->queues[engine];
  sl_vec_add(n->heap, &queue->data, stmt);
  for (uint32_t i = n->first[stmt]; i < n->first[stmt] + n->count[stmt]; i++) {
    const struct sl_edge *edge = &n->edges.data[i];
    sl_vec_add(n->heap, &queue->data, edge->k ? n->lines[n->line_at[i] + edge->k - 1] : n->latest[n->producer[edge->producer]]);
  }
  if (n->producer[stmt])
    n->latest[n->producer[stmt]] = ++n->retiring[sl_stmt_op(n->code.kernel, stmt)->stream];
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

const uint32_t *sl_needs_next(struct sl_needs *n, uint32_t engine, uint64_t limit)
{
  struct sl_need_queue *queue = &n->queues[engine];
  compact(queue);
  while (queue->from == queue->data.len) {
    uint64_t before = n->thread.steps;
    const struct sl_step *step = sl_thread_next(&n->thread, n->heap, limit);
    limit -= n->thread.steps - before;
    if (!step || step->kind == SL_STEP_END)
      return NULL;
    switch ((enum sl_step_kind)step->kind) {
    case SL_STEP_ARRIVE: begin_visit(n, step->a); break;
    case SL_STEP_TAIL: end_iteration(n, step->a); break;
    case SL_STEP_OP:
    case SL_STEP_DRAIN:
      if (sl_needs_has(n, step->a))
        add_instance(n, step->engine, step->a);
      break;
    default: break;
    }
  }
  const uint32_t *instance = &queue->data.data[queue->from];
  queue->from += 1 + n->count[*instance];
  return instance;
}
