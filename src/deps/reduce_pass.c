/* reduce_pass.c: the pass of one block: clocks in text order, and what they say about its edges. See reduce.c.
 *
 * A clock has one moment per chain. Instructions that are sure in the block are walked in rounds, the end of one round being
 * the start of the next, an iteration later. What was learnt at one instruction only ever grows, so that the rounds may end
 * at any time. The last round decides: it also enters blocks that may not run, as far as consumers in them are asked for; what
 * is learnt there is forgotten behind them.
 *
 * A loop that is sure is walked once, like straight-line code. In it, a moment of the present iteration means the loop's own
 * present iteration; behind it and one iteration of the block later, it means the last one.
 *
 * Leaves true: for producers that are sure in a finished block, their clocks at weight 0, for edges that leave the block;
 * for those asked for from outside, how they look from there (views).
 */
#include "deps/reduce_parts.h"

#include <assert.h>

#include "base/prefetch.h"

enum {
  ROUNDS_MAX = 32, /* of one pass */
  TRIES_MAX = 64   /* edges that leave a producer's block and are looked at, per producer and pass */
};

struct sl_reduce_memory {
  uint32_t passes, frames; /* so far */
  /* Clocks of producers' retirements: those that are sure in the block, and those in blocks that may not run. The second are
   * of the present pass only; the first stay. With the pass that wrote them. */
  sl_moment *clocks[2];
  uint32_t *written[2];
  sl_moment *lanes, *start; /* clock at the last issue of each lane; at the start of the round */
  sl_moment *second;        /* the second best of each chain where edges meet */
  uint32_t *kept_in;        /* by lane: the last frame that kept it */
  sl_vec(uint32_t) kept_lanes;
  sl_vec(sl_moment) kept_clocks;
};

struct pass {
  struct sl_reducer *r;
  struct sl_reduce_memory *memory;
  sl_index block;
  uint32_t id, depth, frame;
  uint64_t span; /* positions of an iteration */
  bool across;   /* only what holds from visit to visit counts */
  bool decides, changed;
};

struct path {
  uint32_t edges[SL_REDUCE_PATH_MAX]; /* from the consumer on */
  uint32_t count;
};

struct sl_reduce_memory *sl_reduce_memory_new(struct sl_reducer *r)
{
  struct sl_reduce_memory *memory = sl_heap_calloc(r->heap, 1, sizeof *memory);
  uint32_t tables = r->order.len > 1 ? 2 : 1;
  for (uint32_t t = 0; t < tables; t++) {
    memory->clocks[t] = sl_heap_alloc(r->heap, ((size_t)r->producers.len * r->width + 1) * sizeof(sl_moment));
    memory->written[t] = sl_heap_calloc(r->heap, r->producers.len, sizeof(uint32_t));
  }
  size_t lanes = (size_t)r->lanes * r->width + 1;
  memory->lanes = sl_heap_calloc(r->heap, lanes, sizeof(sl_moment));
  memory->start = sl_heap_calloc(r->heap, lanes, sizeof(sl_moment));
  memory->second = sl_heap_calloc(r->heap, r->width + 1u, sizeof(sl_moment));
  memory->kept_in = sl_heap_calloc(r->heap, r->lanes + 1u, sizeof(uint32_t));
  return memory;
}

/* ---- moments ---- */

static sl_moment moment_at(uint32_t position)
{
  return ((sl_moment)SL_ORIGIN + position) << 32;
}

/* So many positions earlier. What lies before the beginning of time is not known. */
static sl_moment ago(sl_moment moment, uint64_t positions)
{
  return moment >> 32 > positions ? moment - (positions << 32) : 0;
}

/* The least moment that is at or after a position `positions` ago. */
static sl_moment least_moment(uint32_t position, uint64_t positions)
{
  sl_moment moment = ago(moment_at(position), positions);
  return moment ? moment : (sl_moment)1 << 32;
}

static uint32_t via(sl_moment moment)
{
  return (uint32_t)moment;
}

static sl_moment by_way_of(sl_moment moment, uint32_t edge)
{
  return moment ? (moment >> 32 << 32) | (edge + 1u) : 0;
}

static sl_moment *clock_of(const struct pass *p, uint32_t producer, bool nested)
{
  return &p->memory->clocks[nested][(size_t)producer * p->r->width];
}

static sl_moment *lane_clock(const struct pass *p, uint32_t lane)
{
  return &p->memory->lanes[(size_t)lane * p->r->width];
}

/* Of a stream's issues; a column only when blocks nest. */
static uint32_t lane_chain(const struct sl_reducer *r, uint32_t lane)
{
  return r->retire_chains + lane;
}

static uint32_t lane_of(const struct sl_reducer *r, sl_index stmt)
{
  return r->lane_of[sl_stmt_op(r->kernel, stmt)->stream];
}

/* ---- evidence ---- */

/* Whether an edge's block, the pass's or one inside it, is part of something that may not run. */
static bool is_nested(const struct pass *p, sl_index block)
{
  const struct sl_reduce_block *info = &p->r->blocks[block];
  return info->depth > p->depth && info->inline_pass != p->id;
}

/* The clock that the edge brings, or NULL. */
static const sl_moment *evidence_of(const struct pass *p, const struct sl_reduce_edge *in)
{
  if (!in->is_sure || in->weight == SL_NO_WEIGHT || in->depth < p->depth)
    return NULL;
  if (in->weight > 0 && (in->depth > p->depth || (p->across && !in->across)))
    return NULL;
  bool nested = in->depth > p->depth && is_nested(p, p->r->edges[in->edge].block);
  return p->memory->written[nested][in->producer] == p->id ? clock_of(p, in->producer, nested) : NULL;
}

static sl_moment larger(sl_moment a, sl_moment b)
{
  return a > b ? a : b;
}

static sl_moment smaller(sl_moment a, sl_moment b)
{
  return a < b ? a : b;
}

static void learn(struct pass *p, sl_moment *clock, const struct sl_reduce_edge *in, const sl_moment *evidence)
{
  sl_moment *second = p->memory->second;
  uint64_t positions = in->weight * p->span;
  for (uint32_t c = 0; c < p->r->width; c++) {
    sl_moment moment = by_way_of(ago(evidence[c], positions), in->edge);
    second[c] = larger(second[c], smaller(clock[c], moment));
    clock[c] = larger(clock[c], moment);
  }
}

static void learn_all(struct pass *p, sl_moment *clock, uint32_t from, uint32_t to)
{
  memset(p->memory->second, 0, p->r->width * sizeof(sl_moment));
  for (uint32_t i = from; i < to; i++) {
    const struct sl_reduce_edge *in = &p->r->incoming[i];
    const sl_moment *evidence = evidence_of(p, in);
    if (i + SL_PREFETCH_AHEAD < p->r->incoming_count)
      sl_prefetch(clock_of(p, p->r->incoming[i + SL_PREFETCH_AHEAD].producer, false));
    if (evidence)
      learn(p, clock, in, evidence);
  }
}

/* ---- paths ---- */

static void add_to_path(struct path *path, uint32_t edge)
{
  if (path->count < SL_REDUCE_PATH_MAX)
    path->edges[path->count++] = edge;
}

/* The edges by which a moment on a chain was learnt, from the last one back. Each producer's clock is at least as late as what
 * was learnt from it, so this goes back in time, or in the text at the same time. `inside`: in a finished block. */
static void trace(const struct pass *p, bool inside, uint32_t last, uint32_t chain, struct path *path)
{
  const struct sl_reducer *r = p->r;
  while (last && path->count < SL_REDUCE_PATH_MAX) {
    const struct sl_edge *edge = &r->edges[last - 1];
    bool nested = !inside && is_nested(p, edge->block);
    sl_moment moment = clock_of(p, r->producer_of[edge->producer], nested)[chain];
    assert(moment && "what was learnt from a clock is in it");
    add_to_path(path, last - 1);
    last = via(moment);
  }
}

/* What leads from the producer to a sign of it. */
static void trace_sign(const struct pass *p, uint32_t sign, struct path *path)
{
  while (sign) {
    const struct sl_reduce_sign *s = &p->r->signs.data[sign - 1];
    if (s->edge)
      add_to_path(path, s->edge - 1);
    trace(p, true, s->via, s->inner_chain, path);
    sign = s->inner_sign;
  }
}

static void tell(struct sl_reducer *r, uint32_t edge, const struct path *path)
{
  r->out->edges[edge] = (struct sl_reduced){ SL_REDUCE_IMPLIED, r->out->paths.len, path->count };
  for (uint32_t i = path->count; i > 0; i--)
    sl_vec_add(r->out_heap, &r->out->paths, path->edges[i - 1]);
}

/* ---- what shows a producer ---- */

/* Who knows: a clock of a block's pass. */
struct witness {
  const sl_moment *clock;
  uint32_t depth;    /* of the block */
  sl_index consumer; /* whose issue it is; 0: something sure in the block */
  uint32_t edge;     /* an edge that does not count, plus 1 */
};

/* Where a producer shows: on a chain, by a sign (plus 1; 0: the producer itself). */
struct shown {
  bool is_known;
  uint32_t chain, sign;
};

/* Whether the sign is one for the witness, and how many iterations of `allowed` are left for reaching it. The consumer of an
 * edge may be in a block that may not run: then it is there for those after it in that block alone, in its present iteration. */
static bool sees(const struct pass *p, const struct witness *w, const struct sl_reduce_sign *sign, uint32_t allowed,
                 uint32_t *left)
{
  const struct sl_reducer *r = p->r;
  if (sign->weight > allowed || (sign->edge && sign->edge == w->edge))
    return false;
  *left = allowed - sign->weight;
  if (!sign->edge)
    return true;
  const struct sl_reduce_block *region = &r->blocks[r->blocks[r->kernel->stmts.data[sign->consumer].block].region];
  if (region->depth <= w->depth)
    return true;
  *left = 0;
  uint32_t at = w->consumer ? r->position[w->consumer] : 0;
  return region->begin <= at && at <= region->end;
}

static struct shown shown_by(const struct pass *p, const struct witness *w, uint32_t first, uint32_t count,
                             uint32_t allowed)
{
  for (uint32_t i = first; i < first + count; i++) {
    const struct sl_reduce_sign *sign = &p->r->signs.data[i];
    uint32_t left;
    if (sees(p, w, sign, allowed, &left) && w->clock[sign->chain] >= least_moment(sign->position, left * p->span))
      return (struct shown){ true, sign->chain, i + 1 };
  }
  return (struct shown){ false, 0, 0 };
}

/* Whether the witness knows that the producer, in one of its views, retired `allowed` iterations ago. */
static struct shown shown_to(const struct pass *p, const struct witness *w, const struct sl_reduce_producer *producer,
                             uint32_t view, uint32_t allowed)
{
  if (!view) {
    bool is_known = w->clock[producer->chain] >= least_moment(producer->position, allowed * p->span);
    return (struct shown){ is_known, producer->chain, 0 };
  }
  const struct sl_reduce_view *seen = &p->r->views.data[view];
  struct shown shown = shown_by(p, w, seen->first_exit, seen->exit_count, allowed);
  return shown.is_known ? shown : shown_by(p, w, seen->first_arrival, seen->arrival_count, allowed);
}

/* ---- edges that leave a block ---- */

/* The first export of a block from a region at or after a position. O(log exports). */
static uint32_t first_export(const struct sl_reducer *r, uint64_t blocks, uint32_t position)
{
  uint32_t low = 0, high = r->exports.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const struct sl_reduce_export *export = &r->exports.data[middle];
    if (export->blocks < blocks || (export->blocks == blocks && export->position < position))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The edge's consumer is a sign of the producer when the edge's producer surely follows it in the block of the view. */
static void add_arrival(const struct pass *p, const struct sl_reduce_producer *producer,
                        const struct sl_reduce_view *view, const struct sl_reduce_edge *in)
{
  struct sl_reducer *r = p->r;
  sl_index consumer = r->edges[in->edge].consumer;
  struct witness w = { .clock = clock_of(p, in->producer, false), .depth = r->blocks[view->block].depth };
  if (in->weight > 0 && (in->depth != p->depth || (p->across && !in->across)))
    return;
  struct shown shown = shown_to(p, &w, producer, view->inner, 0);
  if (shown.is_known)
    sl_vec_add(r->heap, &r->signs,
               ((struct sl_reduce_sign){ .chain = lane_chain(r, lane_of(r, consumer)),
                                         .position = r->position[consumer],
                                         .weight = in->weight,
                                         .edge = in->edge + 1,
                                         .consumer = consumer,
                                         .inner_chain = shown.chain,
                                         .via = via(w.clock[shown.chain]),
                                         .inner_sign = shown.sign }));
}

/* From one region around the producer, by the edges of one block. */
static void add_arrivals(const struct pass *p, const struct sl_reduce_producer *producer, uint32_t view, sl_index block,
                         uint32_t *tries)
{
  const struct sl_reducer *r = p->r;
  const struct sl_reduce_view *seen = &r->views.data[view];
  uint64_t blocks = sl_map_pair(block, seen->block);
  for (uint32_t i = first_export(r, blocks, producer->position); i<r->exports.len && * tries> 0; i++, --*tries) {
    if (r->exports.data[i].blocks != blocks)
      return;
    add_arrival(p, producer, seen, &r->incoming[r->exports.data[i].incoming]);
  }
}

/* The arrivals that this pass counts: edges of its block, or of sure loops in it around the producer, from any block that the
 * producer is in and that may not run. */
static void find_arrivals(const struct pass *p, const struct sl_reduce_producer *producer)
{
  struct sl_reducer *r = p->r;
  uint32_t tries = TRIES_MAX, first = r->signs.len;
  struct sl_reduce_view *seen = &r->views.data[producer->view];
  if (seen->pass == p->id)
    return;
  for (sl_index block = seen->block; block != p->block;) {
    block = sl_block_parent(r->kernel, block);
    for (uint32_t view = producer->view; view; view = r->views.data[view].inner)
      add_arrivals(p, producer, view, block, &tries);
  }
  seen->pass = p->id;
  seen->first_arrival = first;
  seen->arrival_count = r->signs.len - first;
}

/* ---- decisions ---- */

/* Of a producer that is sure, without the edge itself. A moment that the edge brings would be as late as asked for; one that
 * came around through it is earlier. */
static bool show_sure(const struct pass *p, const struct sl_reduce_edge *in, const sl_moment *clock, uint32_t allowed,
                      struct path *path)
{
  const struct sl_reduce_producer *producer = &p->r->producers.data[in->producer];
  sl_moment moment = clock[producer->chain];
  if (via(moment) == in->edge + 1)
    moment = p->memory->second[producer->chain];
  if (moment < least_moment(producer->position, allowed * p->span))
    return false;
  trace(p, false, via(moment), producer->chain, path);
  return true;
}

static bool show_view(const struct pass *p, sl_index consumer, const struct sl_reduce_edge *in, const sl_moment *clock,
                      uint32_t allowed, struct path *path)
{
  const struct sl_reduce_producer *producer = &p->r->producers.data[in->producer];
  struct witness w = { clock, p->depth, consumer, in->edge + 1 };
  find_arrivals(p, producer);
  struct shown shown = shown_to(p, &w, producer, producer->view, allowed);
  if (!shown.is_known)
    return false;
  trace(p, false, via(clock[shown.chain]), shown.chain, path);
  trace_sign(p, shown.sign, path);
  return true;
}

/* Whether this pass decides about the edge, and how many iterations a path may weigh. With weight 0 all earlier instances are
 * known, and with weight 1 when it holds across visits: enough for what is carried further out. */
static bool is_asked(const struct pass *p, const struct sl_reduce_edge *in, uint32_t *allowed)
{
  if (p->r->out->edges[in->edge].what != SL_REDUCE_KEPT)
    return false;
  bool is_own = in->depth == p->depth;
  *allowed = is_own ? p->r->edges[in->edge].k : p->across ? 1 : 0;
  return is_own ? in->across == p->across : in->depth < p->depth && in->common_depth == p->depth;
}

static void decide(const struct pass *p, sl_index consumer, const sl_moment *clock, uint32_t from, uint32_t to)
{
  struct sl_reducer *r = p->r;
  for (uint32_t i = from; i < to; i++) {
    const struct sl_reduce_edge *in = &r->incoming[i];
    struct path path = { .count = 0 };
    uint32_t allowed;
    if (!is_asked(p, in, &allowed))
      continue;
    if (r->producers.data[in->producer].view ? show_view(p, consumer, in, clock, allowed, &path)
                                             : show_sure(p, in, clock, allowed, &path))
      tell(r, in->edge, &path);
  }
}

/* ---- the walk ---- */

/* What a lane knew before a block that may not run, once for each of these blocks. */
static void keep(const struct pass *p, uint32_t lane)
{
  struct sl_reduce_memory *memory = p->memory;
  if (memory->kept_in[lane] == p->frame)
    return;
  memory->kept_in[lane] = p->frame;
  sl_vec_add(p->r->heap, &memory->kept_lanes, lane);
  uint32_t at = sl_vec_extend(p->r->heap, &memory->kept_clocks, p->r->width);
  memcpy(&memory->kept_clocks.data[at], lane_clock(p, lane), p->r->width * sizeof(sl_moment));
}

static void forget(const struct pass *p, uint32_t kept)
{
  struct sl_reduce_memory *memory = p->memory;
  while (memory->kept_lanes.len > kept) {
    assert(memory->kept_clocks.len == memory->kept_lanes.len * p->r->width && "one clock per lane");
    memory->kept_clocks.len -= p->r->width;
    memcpy(lane_clock(p, memory->kept_lanes.data[--memory->kept_lanes.len]),
           &memory->kept_clocks.data[memory->kept_clocks.len], p->r->width * sizeof(sl_moment));
  }
}

/* A retirement knows what its issue knew, and that all before it on its chain has retired. What these knew at their issue,
 * its own issue knows too: a stream has one lane. */
static void retire(struct pass *p, uint32_t producer, sl_moment *clock, bool nested)
{
  const struct sl_reduce_producer *info = &p->r->producers.data[producer];
  sl_moment *to = clock_of(p, producer, nested), issued = clock[info->chain];
  assert(issued <= moment_at(info->position) && "nothing is known to retire before its issue");
  size_t size = p->r->width * sizeof(sl_moment);
  clock[info->chain] = moment_at(info->position);
  if (p->memory->written[nested][producer] != p->id || memcmp(to, clock, size) != 0) {
    memcpy(to, clock, size);
    p->memory->written[nested][producer] = p->id;
    p->changed = true;
  }
  clock[info->chain] = issued;
}

static void visit(struct pass *p, sl_index at, bool nested)
{
  const struct sl_reducer *r = p->r;
  uint32_t from = r->first_incoming[at], to = r->first_incoming[at + 1], producer = r->producer_of[at];
  if (from == to && !producer)
    return;
  uint32_t lane = lane_of(r, at);
  sl_moment *clock = lane_clock(p, lane);
  if (nested)
    keep(p, lane);
  if (from != to)
    learn_all(p, clock, from, to);
  if (lane_chain(r, lane) < r->width)
    clock[lane_chain(r, lane)] = moment_at(r->position[at]);
  if (p->decides)
    decide(p, at, clock, from, to);
  if (producer)
    retire(p, producer, clock, nested);
}

static void walk(struct pass *p, sl_index block, bool nested);

static void walk_inner(struct pass *p, sl_index block, bool nested)
{
  struct sl_reduce_block *info = &p->r->blocks[block];
  bool may_not_run = info->region == block;
  if (!may_not_run) {
    info->inline_pass = nested ? 0 : p->id;
    walk(p, block, nested);
  } else if (p->decides && info->asked_from <= p->depth) {
    uint32_t frame = p->frame, kept = p->memory->kept_lanes.len;
    p->frame = ++p->memory->frames;
    walk(p, block, true);
    forget(p, kept);
    p->frame = frame;
  }
}

/* Recursion is bounded by SL_NESTING_BLOCKS. */
static void walk(struct pass *p, sl_index block, bool nested)
{
  const struct sl_kernel *kernel = p->r->kernel;
  for (sl_index at = kernel->blocks.data[block].first; at; at = kernel->stmts.data[at].next) {
    switch (kernel->stmts.data[at].kind) {
    case SL_STMT_OP: visit(p, at, nested); break;
    case SL_STMT_LOOP: walk_inner(p, sl_stmt_loop(kernel, at)->body, nested); break;
    case SL_STMT_IF:
      walk_inner(p, sl_stmt_branch(kernel, at)->then_block, nested);
      if (sl_stmt_branch(kernel, at)->else_block)
        walk_inner(p, sl_stmt_branch(kernel, at)->else_block, nested);
      break;
    default: break; /* barriers order more than what is used here */
    }
  }
}

/* The end of an iteration becomes the start of the next; whether that is another start than the last one. */
static bool next_iteration(struct pass *p)
{
  struct sl_reduce_memory *memory = p->memory;
  size_t count = (size_t)p->r->lanes * p->r->width;
  for (size_t i = 0; i < count; i++)
    memory->lanes[i] = ago(memory->lanes[i], p->span);
  bool is_new = memcmp(memory->start, memory->lanes, count * sizeof(sl_moment)) != 0;
  memcpy(memory->start, memory->lanes, count * sizeof(sl_moment));
  return is_new;
}

/* ---- leaving a block ---- */

/* At the end of the block: the producer's signs inside, on its own chain or on those of inner blocks, and each lane whose
 * last instruction knows of it. */
static void add_exits(const struct pass *p, const struct sl_reduce_producer *producer, struct sl_reduce_view *view)
{
  struct sl_reducer *r = p->r;
  uint32_t beyond = r->blocks[p->block].end + 1;
  struct sl_reduce_sign exit = { .chain = producer->chain, .position = beyond, .inner_chain = producer->chain };
  if (!view->inner)
    sl_vec_add(r->heap, &r->signs, exit);
  const struct sl_reduce_view inner = r->views.data[view->inner];
  for (uint32_t i = 0; i < inner.exit_count && view->inner; i++) {
    exit.chain = exit.inner_chain = r->signs.data[inner.first_exit + i].chain;
    exit.inner_sign = inner.first_exit + i + 1;
    sl_vec_add(r->heap, &r->signs, exit);
  }
  for (uint32_t lane = 0; lane < r->lanes; lane++) {
    struct witness w = { .clock = lane_clock(p, lane), .depth = p->depth };
    struct shown shown = shown_to(p, &w, producer, view->inner, 0);
    if (shown.is_known)
      sl_vec_add(r->heap, &r->signs,
                 ((struct sl_reduce_sign){ .chain = lane_chain(r, lane),
                                           .position = beyond,
                                           .inner_chain = shown.chain,
                                           .via = via(w.clock[shown.chain]),
                                           .inner_sign = shown.sign }));
  }
}

static uint32_t make_view(const struct pass *p, const struct sl_reduce_producer *producer)
{
  struct sl_reducer *r = p->r;
  struct sl_reduce_view view = { .inner = producer->view, .block = p->block };
  if (view.inner)
    find_arrivals(p, producer);
  view.first_exit = r->signs.len;
  add_exits(p, producer, &view);
  view.exit_count = r->signs.len - view.first_exit;
  sl_vec_add(r->heap, &r->views, view);
  return r->views.len - 1;
}

/* Producers that are asked for further out, as they look from outside the block. `p`: its pass, whose lanes are at the end. */
static void see_from_outside(const struct pass *p)
{
  struct sl_reducer *r = p->r;
  const struct sl_reduce_block *info = &r->blocks[p->block];
  for (uint32_t at = info->producers; at; at = r->producers.data[at].next)
    if (r->producers.data[at].outermost < info->depth)
      r->producers.data[at].view = make_view(p, &r->producers.data[at]);
}

/* They become the surrounding block's. */
static void hand_out(struct sl_reducer *r, sl_index block)
{
  const struct sl_reduce_block *info = &r->blocks[block];
  for (uint32_t at = info->producers, next; at; at = next) {
    struct sl_reduce_producer *producer = &r->producers.data[at];
    next = producer->next;
    if (producer->outermost >= info->depth)
      continue;
    struct sl_reduce_block *around = &r->blocks[sl_block_parent(r->kernel, block)];
    producer->next = around->producers;
    around->producers = at;
  }
}

/* ---- a block ---- */

/* A path that goes back in the text r times weighs at least r: so many rounds find it. */
static struct pass run_pass(struct sl_reducer *r, struct sl_reduce_memory *memory, sl_index block, bool across)
{
  const struct sl_reduce_block *info = &r->blocks[block];
  struct pass p = { .r = r,
                    .memory = memory,
                    .block = block,
                    .id = ++memory->passes,
                    .depth = info->depth,
                    .span = (uint64_t)info->end + 1 - info->begin,
                    .across = across };
  uint32_t rounds = across && info->most[1] == 0 ? 1 : info->most[across];
  size_t size = (size_t)r->lanes * r->width * sizeof(sl_moment);
  memset(memory->lanes, 0, size);
  memset(memory->start, 0, size);
  for (uint32_t round = 0; round < rounds && round < ROUNDS_MAX; round++) {
    p.changed = false;
    walk(&p, block, false);
    if (!next_iteration(&p) && !p.changed)
      break;
  }
  p.decides = true;
  walk(&p, block, false);
  return p;
}

void sl_reduce_block_decide(struct sl_reducer *r, struct sl_reduce_memory *memory, sl_index block)
{
  const struct sl_reduce_block *info = &r->blocks[block];
  bool may_not_run = info->region == block;
  if (info->targets && info->has_across)
    (void)run_pass(r, memory, block, true);
  if (info->targets || (info->producers && may_not_run)) {
    struct pass p = run_pass(r, memory, block, false);
    if (may_not_run)
      see_from_outside(&p);
  }
  hand_out(r, block);
}
