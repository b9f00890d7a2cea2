/* plan.c: preparing a plan: engines, dependences that need a wait, sharing of semaphores, divergence. See plan.h.
 * Near-linear in statements and edges, times the nesting depth where blocks are climbed. */
#include "sync/plan.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/prefetch.h"

/* ---- which dependences need a wait ---- */

/* Everything about statements that needs one walk; and which registers each engine's own code writes, for shells. */
static void find_statements(struct sl_plan *plan)
{
  const struct sl_kernel *kernel = plan->kernel;
  plan->stmt = sl_heap_calloc(plan->heap, kernel->stmts.len, sizeof *plan->stmt);
  uint32_t position = 0, run = 0;
  sl_index previous = SL_NONE;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    const struct sl_stmt *stmt = &kernel->stmts.data[at];
    struct sl_plan_stmt *planned = &plan->stmt[at];
    bool goes_on = stmt->prev && stmt->prev == previous && kernel->stmts.data[previous].kind == SL_STMT_OP;
    run += !goes_on;
    previous = at;
    planned->position = ++position;
    planned->run = run;
    if (stmt->kind != SL_STMT_OP)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, at);
    planned->stream = op->stream;
    sl_name written = sl_op_written_register(kernel, op);
    if (written)
      *sl_map_put(&plan->written, plan->heap, sl_map_pair(op->stream, written), NULL) = 1;
  }
}

static void drop_needless(struct sl_plan *plan, bool barriers_everywhere)
{
  uint32_t kept = 0;
  for (uint32_t i = 0; i < plan->edges.len; i++) {
    const struct sl_edge *edge = &plan->edges.data[i];
    if (sl_hardware_orders(plan->kernel, plan->target, edge))
      continue;
    if (barriers_everywhere && (edge->k > 0 || plan->stmt[edge->producer].run != plan->stmt[edge->consumer].run))
      continue;
    plan->edges.data[kept++] = *edge;
  }
  plan->edges.len = kept;
}

/* Dependences are mostly listed in the order of their consumers. */
static bool is_sorted_by_consumer(const struct sl_plan *plan)
{
  uint32_t last = 0;
  for (uint32_t i = 0; i < plan->edges.len; i++) {
    uint32_t position = plan->stmt[plan->edges.data[i].consumer].position;
    if (position < last)
      return false;
    last = position;
  }
  return true;
}

/* Stable counting sort of the edges by the consumer's place in the text. */
static void sort_by_consumer(struct sl_plan *plan)
{
  if (is_sorted_by_consumer(plan))
    return;
  uint32_t positions = plan->kernel->stmts.len + 1u;
  uint32_t *start = sl_heap_calloc(plan->heap, (size_t)positions + 1, sizeof *start);
  for (uint32_t i = 0; i < plan->edges.len; i++)
    start[plan->stmt[plan->edges.data[i].consumer].position + 1]++;
  for (uint32_t p = 1; p <= positions; p++)
    start[p] += start[p - 1];
  sl_edges sorted = { 0 };
  (void)sl_vec_extend(plan->heap, &sorted, plan->edges.len);
  for (uint32_t i = 0; i < plan->edges.len; i++)
    sorted.data[start[plan->stmt[plan->edges.data[i].consumer].position]++] = plan->edges.data[i];
  sl_heap_free(plan->heap, start);
  sl_vec_free(plan->heap, &plan->edges);
  plan->edges = sorted;
}

struct sort_key {
  uint64_t group;  /* carrying block and producer's block */
  uint64_t vector; /* inner block and inner distance of a vector, else 0 */
  uint32_t stream;
  bool across;
  uint64_t order; /* distance ascending, then the producer's place descending */
  struct sl_edge edge;
};

static int compare_groups(const struct sort_key *a, const struct sort_key *b)
{
  if (a->group != b->group)
    return a->group < b->group ? -1 : 1;
  if (a->vector != b->vector)
    return a->vector < b->vector ? -1 : 1;
  if (a->stream != b->stream)
    return a->stream < b->stream ? -1 : 1;
  return a->across - b->across;
}

static int compare_keys(const void *x, const void *y)
{
  const struct sort_key *a = x, *b = y;
  int order = compare_groups(a, b);
  if (order)
    return order;
  return a->order < b->order ? -1 : a->order > b->order;
}

/* Of one consumer's edges to producers of one block and stream, carried by one loop in one form, drops those that another
 * implies: the same or a later producer at the same or a smaller distance retires no earlier, since a stream retires in
 * order. (With a smaller distance a producer that stands earlier in the block implies it only when the block runs in every
 * iteration.) */
static uint32_t thin_group(const struct sort_key *keys, uint32_t count, struct sl_edge *out)
{
  uint32_t kept = 0, latest_place = 0, least_distance = 0;
  for (uint32_t i = 0; i < count; i++) {
    const struct sl_edge *edge = &keys[i].edge;
    uint32_t place = edge->producer_position;
    if (i == 0 || compare_groups(&keys[i], &keys[i - 1]) != 0) {
      latest_place = 0;
      least_distance = edge->k;
    }
    bool every_iteration = edge->producer_block == edge->block;
    if (place <= latest_place || (every_iteration && edge->k > least_distance))
      continue;
    latest_place = place;
    out[kept++] = *edge;
  }
  return kept;
}

static uint32_t thin_consumer(struct sl_plan *plan, uint32_t from, uint32_t to, struct sl_edge *out,
                              struct sort_key *keys)
{
  for (uint32_t i = from; i < to; i++) {
    const struct sl_edge *edge = &plan->edges.data[i];
    keys[i - from] = (struct sort_key){
      .group = sl_map_pair(edge->block, edge->producer_block),
      .vector = sl_map_pair(edge->inner_block, (uint32_t)edge->inner_k),
      .stream = edge->producer_stream,
      .across = edge->across,
      .order = sl_map_pair(edge->k, UINT32_MAX - edge->producer_position),
      .edge = *edge,
    };
  }
  if (to - from > 1)
    qsort(keys, to - from, sizeof *keys, compare_keys);
  return thin_group(keys, to - from, out);
}

static void thin_edges(struct sl_plan *plan)
{
  struct sl_edge *edges = plan->edges.data;
  uint32_t kept = 0, most = 0;
  for (uint32_t from = 0, to; from < plan->edges.len; from = to) {
    for (to = from; to < plan->edges.len && edges[to].consumer == edges[from].consumer; to++)
      ;
    most = to - from > most ? to - from : most;
  }
  struct sort_key *keys = sl_heap_calloc(plan->heap, (size_t)most + 1, sizeof *keys);
  for (uint32_t from = 0, to; from < plan->edges.len; from = to) {
    sl_index consumer = edges[from].consumer;
    for (to = from; to < plan->edges.len && edges[to].consumer == consumer; to++)
      ;
    uint32_t count = thin_consumer(plan, from, to, &edges[kept], keys);
    assert(kept + count <= to && "what is still to be read has not been written over");
    plan->stmt[consumer].first_edge = kept;
    plan->stmt[consumer].edge_count = count;
    kept += count;
  }
  plan->edges.len = kept;
  sl_heap_free(plan->heap, keys);
}

/* Register code for each engine, with room for the waits that the edges become. */
static void init_code(struct sl_plan *plan)
{
  uint32_t engines = plan->presence.engines.len;
  plan->code = sl_heap_calloc(plan->heap, engines, sizeof *plan->code);
  uint32_t *waits = sl_heap_calloc(plan->heap, engines, sizeof *waits);
  for (uint32_t i = 0; i < plan->edges.len; i++)
    waits[sl_plan_issues(plan, plan->edges.data[i].consumer)]++;
  for (uint32_t e = 0; e < engines; e++) {
    sl_regcode_init(&plan->code[e], plan->heap, plan->presence.engines.data[e]);
    sl_vec_reserve(plan->heap, &plan->code[e].code, waits[e]);
  }
  sl_heap_free(plan->heap, waits);
}

struct sl_plan sl_plan_of(const struct sl_allocation *allocation)
{
  return (struct sl_plan){ .heap = allocation->heap, .program = allocation->program, .kernel = allocation->kernel,
                           .target = allocation->target, .report = allocation->report, .strategy = allocation->strategy,
                           .cleanups = allocation->cleanups, .edges = allocation->edges };
}

void sl_plan_prepare(struct sl_plan *plan, bool barriers_everywhere)
{
  sl_presence_find(&plan->presence, plan->heap, plan->kernel);
  find_statements(plan);
  drop_needless(plan, barriers_everywhere);
  sort_by_consumer(plan);
  thin_edges(plan);
  init_code(plan);
}

/* ---- semaphores ---- */

static void note_inside(struct sl_plan *plan, sl_index block, uint32_t sem)
{
  for (; block; block = sl_block_parent(plan->kernel, block)) {
    bool is_new;
    (void)sl_map_put(&plan->inside, plan->heap, sl_map_pair(block, sem), &is_new);
    if (!is_new)
      return;
    sl_vec_add(plan->heap, &plan->nodes, ((struct sl_plan_node){ sem, plan->sems_inside[block] }));
    plan->sems_inside[block] = plan->nodes.len - 1;
  }
}

/* ---- how much is shared when there are not semaphores enough ---- */

/* The awaited instructions of one block and stream. */
struct party {
  sl_index block;
  uint32_t depth, number, producers;
  uint8_t sharing; /* enum sl_sharing */
};

struct parties {
  const struct sl_plan *plan;
  const bool *awaited; /* by statement */
  sl_map number_of;    /* (block, stream) */
  sl_vec(struct party) list;
  uint32_t streams;
};

static int compare_parties(const void *x, const void *y)
{
  const struct party *a = x, *b = y;
  if (a->depth != b->depth)
    return a->depth > b->depth ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

static uint32_t depth_of(const struct sl_kernel *kernel, sl_index block)
{
  uint32_t depth = 0;
  for (; block != kernel->root; block = sl_block_parent(kernel, block))
    depth++;
  return depth;
}

static uint32_t *number_of_party(struct parties *parties, sl_index stmt, bool *is_new)
{
  const struct sl_plan *plan = parties->plan;
  uint64_t key = sl_map_pair(plan->kernel->stmts.data[stmt].block, sl_plan_retires(plan, stmt));
  return sl_map_put(&parties->number_of, plan->heap, key, is_new);
}

static void find_parties(struct parties *parties)
{
  const struct sl_plan *plan = parties->plan;
  const struct sl_kernel *kernel = plan->kernel;
  bool *has_party = sl_heap_calloc(plan->heap, kernel->streams.len + 1u, sizeof *has_party);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (!parties->awaited[at])
      continue;
    bool is_new;
    uint32_t *number = number_of_party(parties, at, &is_new);
    if (is_new) {
      sl_index block = kernel->stmts.data[at].block;
      *number = parties->list.len;
      sl_vec_add(plan->heap, &parties->list,
                 ((struct party){ block, depth_of(kernel, block), *number, 0, SL_SHARE_BLOCK }));
      parties->streams += !has_party[sl_plan_retires(plan, at)];
      has_party[sl_plan_retires(plan, at)] = true;
    }
    parties->list.data[*number].producers++;
  }
  sl_heap_free(plan->heap, has_party);
}

/* With one semaphore for each party there are too many: one for each stream, and for parties as far as they go. */
static void merge(struct parties *parties, uint32_t usable)
{
  uint32_t left = usable > parties->streams ? usable - parties->streams : 0;
  for (uint32_t p = 0; p < parties->list.len; p++) {
    struct party *party = &parties->list.data[p];
    party->sharing = left > 0 ? SL_SHARE_BLOCK : SL_SHARE_STREAM;
    left -= left > 0;
  }
}

/* Members of parties get semaphores of their own while half of the usable ones are enough. In the root nothing would be won:
 * thresholds are numbers there. */
static void split(struct parties *parties, uint32_t usable)
{
  enum { MOST = 512 /* tables are searched that hold all the semaphores of a block */ };
  uint32_t room = usable / 2 < MOST ? usable / 2 : MOST, used = parties->list.len;
  for (uint32_t p = 0; p < parties->list.len; p++) {
    struct party *party = &parties->list.data[p];
    if (party->block == parties->plan->kernel->root || used + party->producers - 1 > room)
      continue;
    used += party->producers - 1;
    party->sharing = party->producers > 1 ? SL_SHARE_NOTHING : SL_SHARE_BLOCK;
  }
}

/* Fills `sharing` by statement awaited. Inner parties come first, then those of the text. */
static void choose_sharing(const struct sl_plan *plan, const bool *awaited, uint8_t *sharing)
{
  const struct sl_kernel *kernel = plan->kernel;
  struct parties parties = { .plan = plan, .awaited = awaited };
  find_parties(&parties);
  uint32_t count = parties.list.len, usable = sl_target_usable_sems(plan->target);
  if (count)
    qsort(parties.list.data, count, sizeof *parties.list.data, compare_parties);
  if (count > usable)
    merge(&parties, usable);
  else
    split(&parties, usable);
  uint8_t *by_number = sl_heap_calloc(plan->heap, count + 1u, sizeof *by_number);
  for (uint32_t p = 0; p < count; p++)
    by_number[parties.list.data[p].number] = parties.list.data[p].sharing;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at))
    if (awaited[at])
      sharing[at] = by_number[*number_of_party(&parties, at, NULL)];
  sl_heap_free(plan->heap, by_number);
  sl_vec_free(plan->heap, &parties.list);
  sl_map_free(&parties.number_of, plan->heap);
}

static uint32_t semaphore_for(struct sl_plan *plan, sl_map *by_key, sl_index producer, enum sl_sharing sharing)
{
  uint32_t stream = sl_plan_retires(plan, producer);
  sl_index block = sharing == SL_SHARE_STREAM ? plan->kernel->root : plan->kernel->stmts.data[producer].block;
  bool is_new;
  uint64_t key = sharing == SL_SHARE_NOTHING ? sl_map_pair(producer, UINT32_MAX) : sl_map_pair(block, stream);
  uint32_t *at = sl_map_put(by_key, plan->heap, key, &is_new);
  if (is_new) {
    *at = plan->sems.len;
    struct sl_plan_sem *sem = sl_vec_push(plan->heap, &plan->sems);
    sem->block = block;
    sem->stream = stream;
    sem->only_root = true;
    sem->producer = sharing == SL_SHARE_NOTHING ? producer : SL_NONE;
  }
  return *at;
}

/* Places of the updating instructions in their runs and blocks, and the number of runs per semaphore. */
static void count_places(struct sl_plan *plan, bool across_barriers)
{
  const struct sl_kernel *kernel = plan->kernel;
  sl_map in_block = { 0 };
  uint32_t *in_run = sl_heap_calloc(plan->heap, plan->sems.len, sizeof *in_run);
  uint32_t *run_of = sl_heap_calloc(plan->heap, plan->sems.len, sizeof *run_of);
  uint32_t run = 0;
  sl_index previous = SL_NONE;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    const struct sl_stmt *stmt = &kernel->stmts.data[at];
    uint8_t before = previous ? kernel->stmts.data[previous].kind : SL_STMT_LOOP;
    bool goes_on = stmt->prev && stmt->prev == previous &&
                   (before == SL_STMT_OP || (before == SL_STMT_BARRIER && across_barriers));
    run += !goes_on;
    previous = at;
    struct sl_plan_stmt *planned = &plan->stmt[at];
    uint32_t s = planned->update_sem;
    if (!s)
      continue;
    assert(planned->stream == plan->sems.data[s].stream && "one stream writes each semaphore");
    if (run_of[s] != run) {
      run_of[s] = run;
      in_run[s] = 0;
      plan->sems.data[s].runs++;
    }
    struct sl_plan_sem *sem = &plan->sems.data[s];
    sem->only_block = sem->updates == 0 || sem->only_block == stmt->block ? stmt->block : SL_NONE;
    sem->updates++;
    sem->only_root &= stmt->block == kernel->root;
    planned->place_in_run = ++in_run[s];
    planned->place_in_block = ++*sl_map_put(&in_block, plan->heap, sl_map_pair(stmt->block, s), NULL);
    note_inside(plan, stmt->block, s);
  }
  sl_map_free(&in_block, plan->heap);
  sl_heap_free(plan->heap, in_run);
  sl_heap_free(plan->heap, run_of);
}

void sl_plan_share(struct sl_plan *plan, enum sl_sharing sharing, bool across_barriers)
{
  sl_map by_key = { 0 };
  bool *awaited = sl_heap_calloc(plan->heap, plan->kernel->stmts.len, sizeof *awaited);
  (void)sl_vec_push(plan->heap, &plan->sems);
  (void)sl_vec_push(plan->heap, &plan->nodes);
  plan->sems_inside = sl_heap_calloc(plan->heap, plan->kernel->blocks.len, sizeof *plan->sems_inside);
  for (uint32_t i = 0; i < plan->edges.len; i++) {
    if (i + SL_PREFETCH_AHEAD < plan->edges.len)
      sl_prefetch(&awaited[plan->edges.data[i + SL_PREFETCH_AHEAD].producer]);
    awaited[plan->edges.data[i].producer] = true;
  }
  const struct sl_kernel *kernel = plan->kernel;
  uint8_t *chosen = sl_heap_alloc(plan->heap, kernel->stmts.len);
  memset(chosen, (int)sharing, kernel->stmts.len);
  if (sharing == SL_SHARE_SPARINGLY)
    choose_sharing(plan, awaited, chosen);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at))
    if (awaited[at])
      plan->stmt[at].update_sem = semaphore_for(plan, &by_key, at, (enum sl_sharing)chosen[at]);
  sl_heap_free(plan->heap, chosen);
  count_places(plan, across_barriers);
  sl_map_free(&by_key, plan->heap);
  sl_heap_free(plan->heap, awaited);
}

/* ---- divergence ---- */

static sl_index divergent_around(const struct sl_kernel *kernel, sl_index stmt)
{
  sl_index found = SL_NONE; /* the outermost */
  for (sl_index block = kernel->stmts.data[stmt].block; block; block = sl_block_parent(kernel, block)) {
    sl_index owner = kernel->blocks.data[block].owner;
    if (owner && kernel->stmts.data[owner].kind == SL_STMT_LOOP && sl_stmt_loop(kernel, owner)->divergent)
      found = owner;
  }
  return found;
}

static void report_divergent(struct sl_plan *plan, const struct sl_edge *edge, sl_index updater, sl_index loop)
{
  const struct sl_kernel *kernel = plan->kernel;
  const char *producer = sl_text(plan->program, sl_stmt_op(kernel, edge->producer)->label);
  const char *consumer = sl_text(plan->program, sl_stmt_op(kernel, edge->consumer)->label);
  sl_report_begin(plan->report, SLUICE_ERROR, SL_RULE_DIVERGENT, sl_edge_loc(kernel, edge),
                  "'%s' -> '%s' is unsafe: engines may disagree on loop '%s', so '%s' cannot know how often '%s' runs",
                  producer, consumer, sl_text(plan->program, sl_stmt_loop(kernel, loop)->var), consumer,
                  sl_text(plan->program, sl_stmt_op(kernel, updater)->label));
  sl_report_note(plan->report, kernel->stmts.data[loop].loc,
                 "the loop is divergent here; a barrier outside it, or its trip count sent to every engine, is a way out");
  sl_report_end(plan->report);
}

int sl_plan_check_divergence(struct sl_plan *plan)
{
  const struct sl_kernel *kernel = plan->kernel;
  uint32_t errors = plan->report->errors;
  /* For each semaphore one updater inside a divergent loop, if any. */
  sl_index *updater = sl_heap_calloc(plan->heap, plan->sems.len, sizeof *updater);
  bool any = false;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at))
    if (plan->stmt[at].update_sem && divergent_around(kernel, at)) {
      updater[plan->stmt[at].update_sem] = at;
      any = true;
    }
  for (uint32_t i = 0; i < plan->edges.len && any; i++) {
    const struct sl_edge *edge = &plan->edges.data[i];
    sl_index at = updater[plan->stmt[edge->producer].update_sem];
    if (at && sl_plan_issues(plan, at) != sl_plan_issues(plan, edge->consumer))
      report_divergent(plan, edge, at, divergent_around(kernel, at));
  }
  sl_heap_free(plan->heap, updater);
  return plan->report->errors == errors ? SLUICE_OK : SLUICE_E_ANSWER;
}

/* ---- messages ---- */

void sl_plan_inexpressible(struct sl_plan *plan, const struct sl_edge *edge, const char *why, const char *instead)
{
  const struct sl_kernel *kernel = plan->kernel;
  sl_buf line;
  sl_buf_init(&line, plan->heap);
  sl_edge_print(&line, plan->program, kernel, edge);
  sl_report_begin(plan->report, SLUICE_ERROR, SL_RULE_INEXPRESSIBLE, sl_edge_loc(kernel, edge),
                  "--alloc=%s cannot express '%s': %s; --alloc=%s can", plan->strategy, sl_buf_text(&line), why, instead);
  sl_report_note(plan->report, kernel->stmts.data[edge->producer].loc, "the producer is here");
  sl_report_note(plan->report, kernel->stmts.data[edge->consumer].loc, "the consumer is here");
  sl_report_end(plan->report);
}

void sl_plan_report_cut(const struct sl_plan *plan, const struct sl_edge *edge, const char *why)
{
  sl_buf line;
  sl_buf_init(&line, plan->heap);
  sl_edge_print(&line, plan->program, plan->kernel, edge);
  sl_report_begin(plan->report, SLUICE_WARNING, SL_RULE_VECTOR_CUT, sl_edge_loc(plan->kernel, edge),
                  "--alloc=%s keeps of '%s' only the outermost distance, %u, which may wait longer: %s", plan->strategy,
                  sl_buf_text(&line), edge->k, why);
  sl_report_note(plan->report, plan->kernel->stmts.data[edge->producer].loc, "the producer is here");
  sl_report_end(plan->report);
}

void sl_plan_add_label(sl_buf *buf, const struct sl_plan *plan, sl_index stmt)
{
  for (const char *label = sl_text(plan->program, sl_stmt_op(plan->kernel, stmt)->label); *label; label++)
    sl_buf_putc(buf, *label == '.' || *label == '@' ? '_' : *label);
}

const char *sl_plan_block_name(const struct sl_plan *plan, sl_index block, char buffer[static 48])
{
  const struct sl_kernel *kernel = plan->kernel;
  sl_index owner = kernel->blocks.data[block].owner;
  if (!owner)
    return "";
  if (kernel->stmts.data[owner].kind == SL_STMT_LOOP)
    return sl_text(plan->program, sl_stmt_loop(kernel, owner)->var);
  bool is_then = sl_stmt_branch(kernel, owner)->then_block == block;
  snprintf(buffer, 48, "%s%u", is_then ? "then" : "else", kernel->stmts.data[owner].item);
  return buffer;
}
