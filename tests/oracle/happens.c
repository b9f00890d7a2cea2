/* happens.c: see happens.h. */
#include "oracle/happens.h"

#include <stdlib.h>
#include <string.h>

#include "ir/eval.h"
#include "oracle/walk.h"
#include "property/generate.h"

struct sl_oracle_frame {
  sl_index block;
  uint32_t visit;     /* number of this visit of the block */
  uint32_t iteration; /* in this visit, from 1 */
  uint32_t total;     /* in all visits, from 1 */
  const struct sl_oracle_frame *around;
  struct sl_oracle_frame *next; /* of all frames */
};

struct drawing {
  struct sl_oracle_run *run;
  uint64_t random;
  uint32_t limit;
  uint32_t *visits, *iterations, *ordinals; /* by block, by block, by stream */
  sl_heap heap;
  sl_guard guard;
  struct sl_param_values values;
};

/* ---- drawing a run ---- */

static bool is_constant(struct drawing *d, sl_index expr, int64_t otherwise, int64_t *value)
{
  struct sl_constant constant = expr ? sl_eval_params(&d->values, expr) : sl_constant_of(otherwise);
  *value = constant.value;
  return constant.state == SL_CONST_KNOWN;
}

static uint32_t draw_trips(struct drawing *d, const struct sl_loop *loop)
{
  int64_t lo, hi, step, trips = 0;
  bool known = loop->has_range && is_constant(d, loop->lo, 0, &lo) && is_constant(d, loop->hi, 0, &hi) &&
               is_constant(d, loop->step, 1, &step);
  if (known && !loop->while_cond.count) {
    for (int64_t i = lo; i < hi && trips <= d->limit; i += step)
      trips++;
    return (uint32_t)trips;
  }
  static const uint32_t counts[] = { 2, 3, 1, 0, 2, 4, 6, 1 };
  return d->run->len > d->limit / 2 ? sl_generate_random(&d->random) % 2 : counts[sl_generate_random(&d->random) % 8];
}

static void draw_block(struct drawing *d, sl_index block, uint32_t trips, const struct sl_oracle_frame *around);

static void draw_stmt(struct drawing *d, sl_index at, const struct sl_oracle_frame *frame)
{
  const struct sl_kernel *kernel = d->run->kernel;
  struct sl_oracle_run *run = d->run;
  if (kernel->stmts.data[at].kind == SL_STMT_OP) {
    uint32_t stream = sl_stmt_op(kernel, at)->stream;
    run->events = sl_oracle_grow(run->events, run->len, &run->cap, sizeof *run->events);
    run->events[run->len++] =
        (struct sl_oracle_event){ at, stream, sl_oracle_issue_stream(kernel, stream), ++d->ordinals[stream], frame };
  } else if (kernel->stmts.data[at].kind == SL_STMT_LOOP) {
    const struct sl_loop *loop = sl_stmt_loop(kernel, at);
    draw_block(d, loop->body, draw_trips(d, loop), frame);
  } else if (kernel->stmts.data[at].kind == SL_STMT_IF) {
    const struct sl_branch *branch = sl_stmt_branch(kernel, at);
    bool is_taken = sl_generate_random(&d->random) % 2;
    sl_index arm = is_taken ? branch->then_block : branch->else_block;
    if (arm)
      draw_block(d, arm, 1, frame);
  }
}

/* Recursion is bounded by SL_NESTING_BLOCKS. */
static void draw_block(struct drawing *d, sl_index block, uint32_t trips, const struct sl_oracle_frame *around)
{
  const struct sl_kernel *kernel = d->run->kernel;
  uint32_t visit = ++d->visits[block];
  for (uint32_t i = 1; i <= trips && !d->run->is_too_long; i++) {
    struct sl_oracle_frame *frame = sl_oracle_calloc(1, sizeof *frame);
    *frame = (struct sl_oracle_frame){ block, visit, i, ++d->iterations[block], around, d->run->frames };
    d->run->frames = frame;
    for (sl_index at = kernel->blocks.data[block].first; at; at = kernel->stmts.data[at].next)
      draw_stmt(d, at, frame);
    d->run->is_too_long = d->run->len > d->limit || d->iterations[block] > d->limit;
  }
}

void sl_oracle_run_draw(struct sl_oracle_run *run, const struct sl_kernel *kernel, uint64_t seed, uint32_t limit)
{
  struct drawing d = { .run = run, .random = seed, .limit = limit };
  memset(run, 0, sizeof *run);
  run->kernel = kernel;
  d.visits = sl_oracle_calloc(kernel->blocks.len, sizeof *d.visits);
  d.iterations = sl_oracle_calloc(kernel->blocks.len, sizeof *d.iterations);
  d.ordinals = sl_oracle_calloc(kernel->streams.len + 1u, sizeof *d.ordinals);
  sl_heap_init(&d.heap, &d.guard);
  sl_param_values_init(&d.values, &d.heap, kernel, true);
  draw_block(&d, kernel->root, 1, NULL);
  run->clocks = sl_oracle_calloc((size_t)run->len * kernel->streams.len + 1, sizeof *run->clocks);
  sl_heap_free_all(&d.heap);
  free(d.visits);
  free(d.iterations);
  free(d.ordinals);
}

void sl_oracle_run_free(struct sl_oracle_run *run)
{
  while (run->frames) {
    struct sl_oracle_frame *next = run->frames->next;
    free(run->frames);
    run->frames = next;
  }
  free(run->events);
  free(run->clocks);
  memset(run, 0, sizeof *run);
}

/* ---- what a dependence asks for ---- */

static const struct sl_oracle_frame *frame_of(const struct sl_oracle_run *run, uint32_t event, sl_index block)
{
  const struct sl_oracle_frame *frame = run->events[event].frame;
  while (frame->block != block)
    frame = frame->around;
  return frame;
}

/* Whether the producer's event is before iteration `end` of the visit, or in an earlier visit. */
static bool is_before(const struct sl_oracle_frame *of, uint32_t visit, int64_t end)
{
  return of->visit < visit || (of->visit == visit && (int64_t)of->iteration < end);
}

static bool vector_needs(const struct sl_oracle_run *run, const struct sl_oracle_edge *edge, uint32_t producer,
                         uint32_t consumer)
{
  const struct sl_oracle_frame *p = frame_of(run, producer, edge->block), *c = frame_of(run, consumer, edge->block);
  int64_t outer = (int64_t)c->iteration - edge->k;
  int64_t inner = (int64_t)frame_of(run, consumer, edge->inner_block)->iteration - edge->inner_k;
  if (outer < 1 || inner < 1)
    return false;
  if (is_before(p, c->visit, outer))
    return true;
  return p->visit == c->visit && p->iteration == outer &&
         frame_of(run, producer, edge->inner_block)->iteration <= inner;
}

static bool is_needed(const struct sl_oracle_run *run, const struct sl_oracle_edge *edge, uint32_t producer,
                      uint32_t consumer)
{
  if (edge->k == 0)
    return true;
  if (edge->inner_block)
    return vector_needs(run, edge, producer, consumer);
  const struct sl_oracle_frame *p = frame_of(run, producer, edge->block), *c = frame_of(run, consumer, edge->block);
  if (edge->across)
    return (int64_t)p->total <= (int64_t)c->total - edge->k;
  return c->iteration > edge->k && is_before(p, c->visit, (int64_t)c->iteration - edge->k + 1);
}

uint32_t sl_oracle_needed(const struct sl_oracle_run *run, const struct sl_oracle_edge *edge, uint32_t consumer)
{
  for (uint32_t p = consumer; p-- > 0;) {
    if (run->events[p].stmt == edge->producer && is_needed(run, edge, p, consumer))
      return p;
  }
  return UINT32_MAX;
}

/* ---- clocks ---- */

static void join(uint32_t *to, const uint32_t *from, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    to[i] = from[i] > to[i] ? from[i] : to[i];
}

/* What is known at the retirement of an event: what its issue knew, and all before it on its stream. */
static void join_retirement(uint32_t *to, const struct sl_oracle_run *run, uint32_t event)
{
  uint32_t streams = run->kernel->streams.len;
  const struct sl_oracle_event *e = &run->events[event];
  for (uint32_t other = 0; other <= event; other++) {
    if (run->events[other].stream == e->stream)
      join(to, &run->clocks[(size_t)other * streams], streams);
  }
  if (to[e->stream] < e->ordinal)
    to[e->stream] = e->ordinal;
}

void sl_oracle_order(struct sl_oracle_run *run, const struct sl_oracle_edge *edges, const bool *enforced,
                     uint32_t count)
{
  uint32_t streams = run->kernel->streams.len;
  for (uint32_t i = 0; i < run->len; i++) {
    uint32_t *clock = &run->clocks[(size_t)i * streams];
    memset(clock, 0, streams * sizeof *clock);
    for (uint32_t before = i; before-- > 0;) {
      if (run->events[before].issue == run->events[i].issue) {
        join(clock, &run->clocks[(size_t)before * streams], streams);
        break;
      }
    }
    for (uint32_t e = 0; e < count; e++) {
      uint32_t needed =
          enforced[e] && edges[e].consumer == run->events[i].stmt ? sl_oracle_needed(run, &edges[e], i) : UINT32_MAX;
      if (needed != UINT32_MAX)
        join_retirement(clock, run, needed);
    }
  }
}

bool sl_oracle_holds(const struct sl_oracle_run *run, const struct sl_oracle_edge *edge, uint32_t *consumer)
{
  for (uint32_t c = 0; c < run->len; c++) {
    if (run->events[c].stmt != edge->consumer)
      continue;
    uint32_t needed = sl_oracle_needed(run, edge, c);
    const struct sl_oracle_event *producer = needed == UINT32_MAX ? NULL : &run->events[needed];
    *consumer = c;
    if (producer && run->clocks[(size_t)c * run->kernel->streams.len + producer->stream] < producer->ordinal)
      return false;
  }
  return true;
}
