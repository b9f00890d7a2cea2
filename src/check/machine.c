/* machine.c: see machine.h. Time per step: its waits and updates times the lanes. Memory: the updates that some engine may
 * still ask for. */
#include "check/machine.h"

#include <assert.h>
#include <stdlib.h>

#include "ir/ir.h"

enum { QUANTUM = 512 /* steps of one engine before the next has its turn: keeps them close together */ };

/* ---- preparing ---- */

static void number_sems(struct sl_machine *m)
{
  const struct sl_kernel *kernel = m->code.kernel;
  uint32_t names = m->code.program->names.len;
  m->sem_of = sl_heap_calloc(m->heap, names, sizeof *m->sem_of);
  m->event_of = sl_heap_calloc(m->heap, names, sizeof *m->event_of);
  for (uint32_t s = 1; s < kernel->sems.len; s++)
    m->sem_of[kernel->sems.data[s].name] = s;
  uint32_t next = 1;
  for (uint32_t v = 1; v < kernel->events.len; v++) {
    m->event_of[kernel->events.data[v].name] = next;
    next += kernel->events.data[v].count;
  }
  m->sem_count = kernel->sems.len;
  m->event_count = next;
  m->sems = sl_heap_calloc(m->heap, m->sem_count + m->event_count + 1u, sizeof *m->sems);
  for (uint32_t v = 1; v < kernel->events.len; v++)
    m->sems[m->sem_count + m->event_of[kernel->events.data[v].name]].elements = kernel->events.data[v].count;
}

/* The elements of an array are used alike, as far as can be told without running. */
static void spread_uses(struct sl_machine *m)
{
  for (uint32_t v = m->sem_count + 1; v < m->sem_count + m->event_count; v++)
    for (uint32_t i = 1; i < m->sems[v].elements; i++) {
      m->sems[v + i].is_multi = m->sems[v].is_multi;
      m->sems[v + i].waiting = m->sems[v].waiting;
    }
}

/* Keeps the numbers of states far from 32 bits. */
static bool has_too_many_events(const struct sl_kernel *kernel)
{
  enum { MOST = 1 << 20 };
  uint64_t count = 0;
  for (uint32_t v = 1; v < kernel->events.len; v++)
    count += kernel->events.data[v].count;
  return count > MOST;
}

/* Statically: who writes each semaphore, who waits for each event, whether issue lanes are needed. */
static void find_uses(struct sl_machine *m)
{
  const struct sl_kernel *kernel = m->code.kernel;
  uint32_t *writer = sl_heap_calloc(m->heap, m->sem_count + m->event_count + 1u, sizeof *writer);
  for (uint32_t s = 1; s < m->sem_count; s++)
    m->sems[s].largest_update = 1;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind != SL_STMT_OP)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, at);
    m->has_issue_lanes |= op->code == SL_OP_SEM_SET;
    for (uint32_t i = 0; i < (uint32_t)op->inc_count + op->set_count; i++) {
      bool is_inc = i < op->inc_count;
      uint32_t s = is_inc ? m->sem_of[kernel->incs.data[op->first_inc + i].sem]
                          : m->sem_count + m->event_of[kernel->sets.data[op->first_set + i - op->inc_count].event];
      if (writer[s] && writer[s] != op->stream + 1)
        m->sems[s].is_multi = true;
      writer[s] = op->stream + 1;
      if (is_inc && kernel->incs.data[op->first_inc + i].by > m->sems[s].largest_update)
        m->sems[s].largest_update = kernel->incs.data[op->first_inc + i].by;
    }
    sl_engines engine = (sl_engines)1 << m->code.presence.engine_of[op->stream];
    for (uint32_t i = 0; i < op->wait_count; i++) {
      const struct sl_gate *gate = &kernel->waits.data[op->first_wait + i];
      m->has_exact_waits |= gate->equal;
      uint32_t s = gate->kind == SL_GATE_EVENT ? m->sem_count + m->event_of[gate->name] : m->sem_of[gate->name];
      m->sems[s].waiting |= engine;
    }
  }
  spread_uses(m);
  m->has_issue_lanes |= m->has_exact_waits;
  for (uint32_t s = 0; m->has_issue_lanes && s < m->sem_count + m->event_count; s++) {
    m->sems[s].last_wait = sl_heap_calloc(m->heap, m->code.presence.engines.len + 1u, sizeof(uint32_t));
    m->sems[s].last_update = sl_heap_calloc(m->heap, kernel->streams.len + 1u, sizeof(uint32_t));
  }
  sl_heap_free(m->heap, writer);
}

static enum sl_run_status cannot(struct sl_machine *m, enum sl_run_status status, sl_index stmt, const char *why)
{
  m->status = status;
  m->witness.stmt = stmt;
  m->witness.why = why;
  return status;
}

/* Names the first instruction of the reference that has no match. */
static enum sl_run_status report_missing(struct sl_machine *m)
{
  const struct sl_reference *r = m->reference;
  const struct sl_kernel *theirs = r->code.kernel;
  bool *is_matched = sl_heap_calloc(m->heap, theirs->stmts.len, sizeof *is_matched);
  for (uint32_t at = 1; at < m->code.kernel->stmts.len; at++)
    is_matched[m->matched[at]] = true;
  for (sl_index at = sl_walk_first(theirs, theirs->root); at; at = sl_walk_next(theirs, theirs->root, at))
    if (!is_matched[at] && (r->need_count[at] || r->producer_of[at])) {
      m->witness.missing = at;
      break;
    }
  sl_heap_free(m->heap, is_matched);
  return cannot(m, SL_RUN_MISMATCH, SL_NONE, "an instruction with dependences is missing");
}

static bool has_kind(const struct sl_kernel *kernel, enum sl_stmt_kind kind)
{
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at))
    if (kernel->stmts.data[at].kind == kind)
      return true;
  return false;
}

/* Where loops were written out, an instruction without an instance (no trip, an arm never taken) is not there. That every
 * instance is there is found by running. */
static bool is_written_out(const struct sl_machine *m)
{
  const struct sl_kernel *theirs = m->reference->code.kernel;
  return !has_kind(m->code.kernel, SL_STMT_LOOP) && (has_kind(theirs, SL_STMT_LOOP) || has_kind(theirs, SL_STMT_IF));
}

/* Every instruction that is an end of a dependence in the reference must be here under the same label, once, on the stream
 * of the same name. */
static enum sl_run_status match_instructions(struct sl_machine *m)
{
  const struct sl_reference *r = m->reference;
  const struct sl_kernel *theirs = r->code.kernel, *ours = m->code.kernel;
  const sl_program *program = m->code.program, *other = r->code.program;
  sl_map by_label = { 0 };
  for (sl_index at = sl_walk_first(theirs, theirs->root); at; at = sl_walk_next(theirs, theirs->root, at))
    if (theirs->stmts.data[at].kind == SL_STMT_OP && (r->need_count[at] || r->producer_of[at]))
      *sl_map_put(&by_label, m->heap, sl_stmt_op(theirs, at)->label, NULL) = at;
  sl_map found = { 0 };
  for (sl_index at = sl_walk_first(ours, ours->root); at; at = sl_walk_next(ours, ours->root, at)) {
    if (ours->stmts.data[at].kind != SL_STMT_OP || !sl_stmt_op(ours, at)->label)
      continue;
    const char *label = sl_text(program, sl_stmt_op(ours, at)->label);
    sl_name name = sl_names_find(&other->names, label, strlen(label));
    const uint32_t *theirs_at = name ? sl_map_get(&by_label, name) : NULL;
    /* A copy that unrolling made: `mm@2.0` and `mm.1` are `mm` when that has no such copy itself. */
    for (size_t length = strlen(label); !theirs_at && length > 0;) {
      while (length > 0 && label[length - 1] != '.' && label[length - 1] != '@')
        length--;
      length -= length > 0;
      name = sl_names_find(&other->names, label, length);
      theirs_at = name ? sl_map_get(&by_label, name) : NULL;
    }
    if (!theirs_at)
      continue;
    uint32_t stream = sl_stmt_op(theirs, *theirs_at)->stream;
    if (m->stream_of_reference[stream] != sl_stmt_op(ours, at)->stream)
      return cannot(m, SL_RUN_MISMATCH, at, "it runs on another stream than in the kernel that gives the dependences");
    m->matched[at] = *theirs_at;
    *sl_map_put(&found, m->heap, *theirs_at, NULL) = 1;
  }
  return found.len == by_label.len || is_written_out(m) ? SL_RUN_OK : report_missing(m);
}

/* The engine of the same name in the kernel that gives the dependences. */
static void map_engines(struct sl_machine *m)
{
  const struct sl_presence *ours = &m->code.presence, *theirs = &m->reference->code.presence;
  m->reference_engine = sl_heap_calloc(m->heap, ours->engines.len + 1u, sizeof *m->reference_engine);
  for (uint32_t e = 0; e < ours->engines.len; e++) {
    m->reference_engine[e] = UINT32_MAX;
    for (uint32_t t = 0; t < theirs->engines.len; t++)
      if (m->stream_of_reference[theirs->engines.data[t]] == ours->engines.data[e])
        m->reference_engine[e] = t;
  }
}

static void map_streams(struct sl_machine *m)
{
  const struct sl_kernel *theirs = m->reference->code.kernel;
  m->stream_of_reference = sl_heap_calloc(m->heap, theirs->streams.len + 1u, sizeof *m->stream_of_reference);
  for (uint32_t s = 0; s < theirs->streams.len; s++) {
    const char *text = sl_text(m->reference->code.program, theirs->streams.data[s].name);
    sl_name name = sl_names_find(&m->code.program->names, text, strlen(text));
    m->stream_of_reference[s] = name ? sl_stream_get(m->code.kernel, name) : SL_NO_STREAM;
  }
}

enum sl_run_status sl_machine_init(struct sl_machine *m, sl_heap *heap, const sl_program *program,
                                   const struct sl_kernel *kernel, const struct sl_target *target,
                                   struct sl_reference *reference)
{
  memset(m, 0, sizeof *m);
  m->heap = heap;
  m->reference = reference;
  m->held_stream = SL_NO_STREAM;
  sl_code_init(&m->code, heap, program, kernel, target);
  uint32_t engines = m->code.presence.engines.len, streams = kernel->streams.len;
  for (uint32_t e = 0; e < engines; e++)
    sl_code_compile(&m->code, (sl_engines)1 << e);
  if (has_too_many_events(kernel))
    return cannot(m, SL_RUN_UNDECIDED, SL_NONE, "it declares more events than are checked");
  number_sems(m);
  find_uses(m);
  m->producer_lane0 = 0;
  m->update_lane0 = streams;
  m->issue_lane0 = 2 * streams;
  m->lanes = 2 * streams + (m->has_issue_lanes ? engines : 0);
  sl_engine_states_init(&m->states, &m->code, heap);
  m->engines = sl_heap_calloc(heap, engines + 1u, sizeof *m->engines);
  m->engine_clock = sl_heap_calloc(heap, (size_t)(engines + 1u) * m->lanes, sizeof *m->engine_clock);
  m->stream_clock = sl_heap_calloc(heap, (size_t)(streams + 1u) * m->lanes, sizeof *m->stream_clock);
  m->is_held = sl_heap_calloc(heap, streams + 1u, sizeof *m->is_held);
  m->is_tested = sl_heap_calloc(heap, reference->needs.len + 1u, sizeof *m->is_tested);
  m->matched = sl_heap_calloc(heap, kernel->stmts.len, sizeof *m->matched);
  map_streams(m);
  map_engines(m);
  return match_instructions(m);
}

/* ---- clocks ---- */

static uint32_t *engine_clock(struct sl_machine *m, uint32_t engine)
{
  return &m->engine_clock[(size_t)engine * m->lanes];
}

static uint32_t *stream_clock(struct sl_machine *m, uint32_t stream)
{
  return &m->stream_clock[(size_t)stream * m->lanes];
}

static void join(uint32_t *restrict clock, const uint32_t *restrict other, uint32_t lanes)
{
  for (uint32_t i = 0; i < lanes; i++)
    clock[i] = clock[i] > other[i] ? clock[i] : other[i];
}

/* ---- semaphores ---- */

static void reset_sem(struct sl_sem_state *sem, uint32_t value)
{
  sem->value = sem->base = value;
  sem->forgotten = sem->taken = 0;
  sem->updates.len = sem->clocks.len = 0;
  sem->last_found = sem->prune_at = 0;
  sem->exact.len = 0;
}

static void reset_sems(struct sl_machine *m)
{
  for (uint32_t s = 1; s < m->sem_count; s++)
    reset_sem(&m->sems[s], m->code.kernel->sems.data[s].initial);
}

static bool reached(const struct sl_machine *m, uint32_t value, uint32_t threshold)
{
  return sl_target_sem_reached(m->code.target, value, threshold);
}

/* The oldest kept update that brings the semaphore to `units` over its base; NULL when the waiter need not know one. Searched
 * from where the last one was found: waits ask for more and more. */
static const struct sl_update *find_update(struct sl_sem_state *sem, uint32_t units)
{
  const struct sl_update *updates = sem->updates.data;
  uint32_t low = 0, high = sem->updates.len, last = sem->last_found;
  if (last < high && updates[last].units >= units) {
    high = last;
  } else if (last < high) {
    uint32_t step = 1;
    for (low = last + 1; step <= high - low && updates[low + step - 1].units < units; step *= 2)
      low += step;
    high = step <= high - low ? low + step - 1 : high;
  }
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (updates[middle].units < units)
      low = middle + 1;
    else
      high = middle;
  }
  sem->last_found = low;
  return low < sem->updates.len ? &updates[low] : NULL;
}

/* A wait that holds teaches the engine what the awaited update knew. */
static void learn(struct sl_machine *m, uint32_t engine, struct sl_sem_state *sem, uint32_t threshold)
{
  uint32_t units = threshold - sem->base;
  if (units == 0 || !reached(m, threshold, sem->base))
    return;
  if (sem->is_multi) {
    m->multi_used = true;
    return;
  }
  const struct sl_update *update = units > sem->forgotten ? find_update(sem, units) : NULL;
  if (!update)
    return;
  assert(sem->clocks.len == sem->updates.len * m->lanes && "every update that is kept has its clock");
  const uint32_t *clock = &sem->clocks.data[(size_t)(update - sem->updates.data) * m->lanes];
  join(engine_clock(m, engine), clock, m->lanes);
}

/* ---- stopping ---- */

static void stop(struct sl_machine *m, enum sl_run_status status, uint32_t engine, sl_index stmt)
{
  if (m->status != SL_RUN_OK)
    return;
  m->status = status;
  m->witness.engine = engine;
  m->witness.stmt = stmt;
  sl_buf buf;
  sl_buf_init(&buf, m->heap);
  if (stmt)
    sl_print_iteration(&buf, &m->code, &m->states[engine], stmt);
  const char *text = sl_buf_text(&buf);
  strncpy(m->witness.iteration, text, sizeof m->witness.iteration - 1);
  m->witness.iteration[sizeof m->witness.iteration - 1] = '\0';
  sl_heap_free(m->heap, buf.data);
}

static void stop_because(struct sl_machine *m, enum sl_run_status status, uint32_t engine, sl_index stmt, const char *why)
{
  if (m->status == SL_RUN_OK)
    m->witness.why = why;
  stop(m, status, engine, stmt);
}

/* ---- issue ---- */

/* The state of an event, with the index as the engine sees it. NULL: it has no such element (reported). */
static struct sl_sem_state *event_state(struct sl_machine *m, uint32_t engine, sl_index stmt, sl_name name, sl_index index)
{
  struct sl_sem_state *first = &m->sems[m->sem_count + m->event_of[name]];
  int64_t value = index ? sl_thread_value(&m->engines[engine].thread, engine, index, stmt) : 0;
  if (m->engines[engine].thread.error)
    stop(m, SL_RUN_MEANINGLESS, engine, stmt);
  else if (value < 0 || value >= first->elements)
    stop_because(m, SL_RUN_UNDECIDED, engine, stmt, "the index of an event is outside its array");
  else
    return first + value;
  return NULL;
}

/* The state and the threshold of a gate, for an engine that stands at it. NULL: it cannot be decided (reported). */
static struct sl_sem_state *gate_state(struct sl_machine *m, uint32_t engine, sl_index stmt, const struct sl_gate *gate,
                                       uint32_t *threshold)
{
  if (gate->kind == SL_GATE_SEM) {
    *threshold = sl_thread_threshold(&m->engines[engine].thread, engine, gate);
    return &m->sems[m->sem_of[gate->name]];
  }
  struct sl_sem_state *event = event_state(m, engine, stmt, gate->name, gate->event_index);
  if (!event)
    return NULL;
  if (event->waiting & ~((sl_engines)1 << engine)) {
    stop_because(m, SL_RUN_UNDECIDED, engine, stmt, "an event with several waiting engines");
    return NULL;
  }
  *threshold = event->taken + 1;
  return event;
}

static uint32_t weaken(const struct sl_machine *m, const struct sl_sem_state *sem, uint32_t wait, uint32_t threshold)
{
  if (m->weakening.lowered != wait + 1)
    return threshold;
  uint32_t over = threshold - sem->base;
  return reached(m, threshold, sem->base) && over >= sem->largest_update ? threshold - sem->largest_update : sem->base;
}

static bool gate_holds(struct sl_machine *m, uint32_t engine, sl_index stmt, uint32_t wait)
{
  const struct sl_gate *gate = &m->code.kernel->waits.data[wait];
  uint32_t threshold;
  struct sl_sem_state *sem = gate_state(m, engine, stmt, gate, &threshold);
  if (!sem)
    return false;
  if (gate->equal)
    return sem->value == threshold;
  return reached(m, sem->value, weaken(m, sem, wait, threshold));
}

static bool is_deleted(const struct sl_machine *m, uint32_t wait)
{
  return m->weakening.deleted && m->weakening.deleted[wait];
}

static bool gates_hold(struct sl_machine *m, uint32_t engine, sl_index stmt, const struct sl_op *op)
{
  for (uint32_t i = 0; i < op->wait_count; i++)
    if (!is_deleted(m, op->first_wait + i) && !gate_holds(m, engine, stmt, op->first_wait + i))
      return false;
  return true;
}

/* The units of the semaphore that an engine waits for where it stands, over its base; 0 = it does not. When it goes on it
 * will know all that came before them. */
static uint32_t units_awaited(const struct sl_machine *m, uint32_t engine, const struct sl_sem_state *sem)
{
  const struct sl_step *step = m->engines[engine].step;
  if (!step || step->kind > SL_STEP_DRAIN)
    return 0;
  const struct sl_op *op = sl_stmt_op(m->code.kernel, step->a);
  uint32_t most = 0;
  for (uint32_t i = 0; i < op->wait_count; i++) {
    const struct sl_gate *gate = &m->code.kernel->waits.data[op->first_wait + i];
    if (gate->kind != SL_GATE_SEM || &m->sems[m->sem_of[gate->name]] != sem || is_deleted(m, op->first_wait + i))
      continue;
    uint32_t threshold = sl_thread_threshold(&m->engines[engine].thread, engine, gate);
    threshold = weaken(m, sem, op->first_wait + i, threshold);
    if (reached(m, threshold, sem->base) && threshold - sem->base > most)
      most = threshold - sem->base;
  }
  return most;
}

/* How many of the oldest updates an engine will not ask for. */
static uint32_t count_done_with(struct sl_machine *m, uint32_t engine, uint32_t stream, const struct sl_sem_state *sem)
{
  uint32_t known = engine_clock(m, engine)[m->update_lane0 + stream], awaited = units_awaited(m, engine, sem), count = 0;
  while (count < sem->updates.len &&
         (sem->updates.data[count].position <= known || sem->updates.data[count].units < awaited))
    count++;
  return count;
}

/* Forgets updates that no engine will ask for. Tried again when their number has doubled, so that the time for it is in
 * proportion to the updates also when an engine lags behind. */
static void prune(struct sl_machine *m, uint32_t stream, struct sl_sem_state *sem)
{
  enum { ENOUGH = 64 };
  if (sem->updates.len < sem->prune_at || sem->updates.len < ENOUGH)
    return;
  uint32_t drop = sem->updates.len - 1;
  for (uint32_t e = 0; e < m->code.presence.engines.len; e++)
    if (!m->engines[e].finished && (sem->waiting >> e & 1)) {
      uint32_t count = count_done_with(m, e, stream, sem);
      drop = count < drop ? count : drop;
    }
  assert(drop < sem->updates.len && "the newest update stays");
  uint32_t left = sem->updates.len - drop;
  sem->prune_at = 2 * left;
  if (drop == 0)
    return;
  sem->forgotten = sem->updates.data[drop - 1].units;
  memmove(sem->updates.data, &sem->updates.data[drop], left * sizeof *sem->updates.data);
  memmove(sem->clocks.data, &sem->clocks.data[(size_t)drop * m->lanes], (size_t)left * m->lanes * sizeof *sem->clocks.data);
  sem->updates.len = left;
  sem->clocks.len = left * m->lanes;
  sem->last_found -= drop < sem->last_found ? drop : sem->last_found;
}

/* After a sem_set, later uses must be ordered behind it: then all interleavings agree on what is before and what after. */
static void check_after_set(struct sl_machine *m, uint32_t engine, sl_index stmt, const struct sl_sem_state *sem)
{
  if (!sem->set_engine || sem->set_engine == engine + 1)
    return;
  if (engine_clock(m, engine)[m->issue_lane0 + sem->set_engine - 1] < sem->set_issue)
    stop_because(m, SL_RUN_UNDECIDED, engine, stmt, "a sem_set is not ordered before this use of the semaphore");
}

static void pass_gate(struct sl_machine *m, uint32_t engine, sl_index stmt, uint32_t wait)
{
  const struct sl_gate *gate = &m->code.kernel->waits.data[wait];
  uint32_t threshold;
  struct sl_sem_state *sem = gate_state(m, engine, stmt, gate, &threshold);
  assert(sem && "only a gate that holds is passed");
  threshold = weaken(m, sem, wait, threshold);
  if (gate->kind == SL_GATE_EVENT)
    sem->taken++;
  if (!m->with_clocks)
    return;
  learn(m, engine, sem, threshold);
  if (m->has_issue_lanes) {
    check_after_set(m, engine, stmt, sem);
    sem->last_wait[engine] = m->engines[engine].issued + 1;
  }
  if (gate->equal && sem->is_multi)
    stop_because(m, SL_RUN_UNDECIDED, engine, stmt, "`==` on a semaphore that several streams write");
  else if (gate->equal)
    sl_vec_add(m->heap, &sem->exact, ((struct sl_exact_wait){ threshold, engine, m->engines[engine].issued + 1, stmt }));
}

/* Tests the needs of an instance against what its engine knows at issue. */
static void test_needs(struct sl_machine *m, uint32_t engine, sl_index stmt, const uint32_t *instance)
{
  const struct sl_reference *r = m->reference;
  const uint32_t *clock = engine_clock(m, engine);
  for (uint32_t i = 0; i < r->need_count[instance[0]]; i++) {
    uint32_t need = r->first_need[instance[0]] + i, position = instance[1 + i];
    sl_index producer = r->needs.data[need].edge.producer;
    uint32_t stream = sl_stmt_op(r->code.kernel, producer)->stream, ours = m->stream_of_reference[stream];
    uint32_t seen = ours == SL_NO_STREAM ? 0 : clock[m->producer_lane0 + ours];
    m->instances++;
    m->is_tested[need] |= position > 0;
    if (seen >= position)
      continue;
    if (ours == SL_NO_STREAM) {
      m->witness.missing = producer;
      stop_because(m, SL_RUN_MISMATCH, engine, SL_NONE, "an instruction with dependences is missing");
      return;
    }
    if (m->multi_used) {
      sl_vec_add(m->heap, &m->suspects, ((struct sl_suspect){ stream, position, engine, m->engines[engine].instances, need,
                                                               seen, stmt }));
      continue;
    }
    m->witness.need = need;
    m->witness.position = position;
    m->witness.seen = seen;
    m->witness.stream = stream;
    stop(m, SL_RUN_RACE, engine, stmt);
    return;
  }
}

static const uint32_t *reference_instance(struct sl_machine *m, uint32_t engine)
{
  uint32_t theirs = m->reference_engine[engine];
  return theirs == UINT32_MAX ? NULL : sl_reference_next(m->reference, m->heap, theirs);
}

/* Whether the engine is so far ahead in sequential order that the reference would have to remember much for the others. It can
 * stand back: going on later changes nothing. */
static bool is_far_ahead(struct sl_machine *m, uint32_t engine, sl_index stmt)
{
  uint32_t theirs = m->reference_engine[engine];
  return m->with_clocks && !m->may_run_ahead && m->matched[stmt] && theirs != UINT32_MAX &&
         sl_reference_is_far(m->reference, m->heap, theirs);
}

static void follow_reference(struct sl_machine *m, uint32_t engine, sl_index stmt)
{
  if (!m->matched[stmt])
    return;
  m->engines[engine].instances++;
  if (!m->with_clocks)
    return;
  const uint32_t *instance = reference_instance(m, engine);
  if (!instance && m->reference->exhausted)
    stop(m, SL_RUN_EXHAUSTED, engine, stmt);
  else if (!instance || instance[0] != m->matched[stmt])
    stop_because(m, SL_RUN_MISMATCH, engine, stmt, "its stream executes other instructions, or in another order, than the "
                                                   "kernel that gives the dependences");
  else
    test_needs(m, engine, stmt, instance);
}

/* ---- retirement ---- */

/* An update that passes a value some `==` waits for must be ordered behind that wait, or it may be missed. */
static const char may_be_missed[] = "the counter may pass the value that an `==` waits for before the wait is tested";

static void check_exact_waits(struct sl_machine *m, uint32_t engine, struct sl_sem_state *sem)
{
  for (uint32_t i = 0; i < sem->exact.len; i++) {
    const struct sl_exact_wait *exact = &sem->exact.data[i];
    if (exact->engine == engine || engine_clock(m, engine)[m->issue_lane0 + exact->engine] >= exact->issue)
      continue;
    if (m->multi_used) /* what orders them may be a counter that gives no edges */
      sl_vec_add(m->heap, &m->exact_suspects,
                 ((struct sl_exact_suspect){ exact->engine, exact->issue, (uint32_t)(sem - m->sems), exact->value, exact->stmt }));
    else
      stop_because(m, SL_RUN_DEADLOCK, exact->engine, exact->stmt, may_be_missed);
  }
  sem->exact.len = 0;
}

static void add_units(struct sl_machine *m, uint32_t engine, sl_index stmt, struct sl_sem_state *sem, uint32_t by, uint32_t stream)
{
  uint64_t value = (uint64_t)sem->value + by;
  if (value > sl_target_largest_sem(m->code.target) && !m->code.target->sem.modular) {
    m->witness.sem = (uint32_t)(sem - m->sems);
    stop(m, SL_RUN_LIMIT, engine, stmt);
    return;
  }
  sem->value = (uint32_t)value;
  if (!m->with_clocks)
    return;
  if (m->has_issue_lanes) {
    check_after_set(m, engine, stmt, sem);
    check_exact_waits(m, engine, sem);
    sem->last_update[stream] = stream_clock(m, stream)[m->update_lane0 + stream];
  }
  if (sem->is_multi || !sem->waiting)
    return;
  const uint32_t *clock = stream_clock(m, stream);
  assert((sem->updates.len == 0 || sem->updates.data[sem->updates.len - 1].position <= clock[m->update_lane0 + stream]) &&
         "one stream writes it, so its updates come in order");
  sl_vec_add(m->heap, &sem->updates, ((struct sl_update){ sem->value - sem->base, clock[m->update_lane0 + stream] }));
  uint32_t at = sl_vec_extend(m->heap, &sem->clocks, m->lanes);
  memcpy(&sem->clocks.data[at], clock, m->lanes * sizeof *clock);
  prune(m, stream, sem);
}

static void update_semaphores(struct sl_machine *m, uint32_t engine, sl_index stmt, const struct sl_op *op)
{
  const struct sl_kernel *kernel = m->code.kernel;
  for (uint32_t i = 0; i < op->inc_count; i++) {
    const struct sl_inc *inc = &kernel->incs.data[op->first_inc + i];
    add_units(m, engine, stmt, &m->sems[m->sem_of[inc->sem]], inc->by, op->stream);
  }
  for (uint32_t i = 0; i < op->set_count; i++) {
    const struct sl_event_set *set = &kernel->sets.data[op->first_set + i];
    struct sl_sem_state *event = event_state(m, engine, stmt, set->event, set->index);
    if (event)
      add_units(m, engine, stmt, event, 1, op->stream);
  }
}

static void retire(struct sl_machine *m, uint32_t engine, sl_index stmt, const struct sl_op *op)
{
  uint32_t stream = op->stream;
  if (m->is_held[stream])
    return;
  uint32_t *clock = stream_clock(m, stream);
  if (m->matched[stmt] && m->reference->producer_of[m->matched[stmt]]) {
    uint32_t position = ++clock[m->producer_lane0 + stream];
    if (stream == m->held_stream && position == m->held_position) {
      m->is_held[stream] = true;
      return;
    }
  }
  if (m->with_clocks)
    join(clock, engine_clock(m, engine), m->lanes);
  if (op->inc_count || op->set_count) {
    clock[m->update_lane0 + stream]++;
    update_semaphores(m, engine, stmt, op);
  }
}

/* ---- steps of one engine ---- */

static bool do_op(struct sl_machine *m, uint32_t engine, const struct sl_step *step)
{
  struct sl_machine_engine *own = &m->engines[engine];
  const struct sl_op *op = sl_stmt_op(m->code.kernel, step->a);
  if (!gates_hold(m, engine, step->a, op) || is_far_ahead(m, engine, step->a))
    return false;
  for (uint32_t i = 0; i < op->wait_count; i++)
    if (!is_deleted(m, op->first_wait + i))
      pass_gate(m, engine, step->a, op->first_wait + i);
  own->issued++;
  if (m->has_issue_lanes)
    engine_clock(m, engine)[m->issue_lane0 + engine] = own->issued;
  if (m->status == SL_RUN_OK)
    follow_reference(m, engine, step->a);
  if (m->status == SL_RUN_OK)
    retire(m, engine, step->a, op);
  if (sl_opcode_table[op->code].op_class == SL_CLASS_LOAD) {
    if (m->is_held[op->stream])
      own->stopped = true; /* the stream stops until the load has retired */
    else if (m->with_clocks)
      join(engine_clock(m, engine), stream_clock(m, op->stream), m->lanes);
  }
  return true;
}

/* Everything the engine issued has retired: true at once, unless something of it is held back. */
static bool drained(struct sl_machine *m, uint32_t engine)
{
  const struct sl_kernel *kernel = m->code.kernel;
  for (uint32_t s = 0; s < kernel->streams.len; s++) {
    if (m->code.presence.engine_of[s] != engine || sl_issue_stream(kernel, s) != m->code.presence.engines.data[engine])
      continue;
    if (m->is_held[s])
      return false;
    if (m->with_clocks)
      join(engine_clock(m, engine), stream_clock(m, s), m->lanes);
  }
  return true;
}

static bool do_drain(struct sl_machine *m, uint32_t engine, const struct sl_step *step)
{
  const struct sl_op *op = sl_stmt_op(m->code.kernel, step->a);
  return gates_hold(m, engine, step->a, op) && drained(m, engine) && do_op(m, engine, step);
}

/* sem_set acts at once, in the stream's order. What came before must be ordered before it. */
static bool do_sem_set(struct sl_machine *m, uint32_t engine, const struct sl_step *step)
{
  const struct sl_op *op = sl_stmt_op(m->code.kernel, step->a);
  if (!gates_hold(m, engine, step->a, op))
    return false;
  for (uint32_t i = 0; i < op->wait_count; i++)
    if (!is_deleted(m, op->first_wait + i))
      pass_gate(m, engine, step->a, op->first_wait + i);
  struct sl_machine_engine *own = &m->engines[engine];
  own->issued++;
  engine_clock(m, engine)[m->issue_lane0 + engine] = own->issued;
  const struct sl_operand *operands = &m->code.kernel->operands.data[op->first_operand];
  struct sl_sem_state *sem = &m->sems[m->sem_of[operands[0].value]];
  if (m->with_clocks) {
    check_after_set(m, engine, step->a, sem);
    for (uint32_t e = 0; e < m->code.presence.engines.len; e++)
      if (e != engine && engine_clock(m, engine)[m->issue_lane0 + e] < sem->last_wait[e])
        stop_because(m, SL_RUN_UNDECIDED, engine, step->a, "an earlier wait on the semaphore is not ordered before this sem_set");
    for (uint32_t s = 0; s < m->code.kernel->streams.len; s++)
      if (engine_clock(m, engine)[m->update_lane0 + s] < sem->last_update[s])
        stop_because(m, SL_RUN_UNDECIDED, engine, step->a, "an earlier update of the semaphore is not ordered before this sem_set");
  }
  reset_sem(sem, sl_thread_operand(&own->thread, engine, &operands[1], step->a));
  sem->set_engine = engine + 1;
  sem->set_issue = own->issued;
  return true;
}

/* One step, if it can be taken. */
static bool try_step(struct sl_machine *m, uint32_t engine)
{
  struct sl_machine_engine *own = &m->engines[engine];
  bool issues = own->step->kind <= SL_STEP_DRAIN;
  if (issues && m->held_issue == own->issued + 1 && m->held_engine == engine)
    return false;
  switch ((enum sl_step_kind)own->step->kind) {
  case SL_STEP_OP: return do_op(m, engine, own->step);
  case SL_STEP_SEM_SET: return do_sem_set(m, engine, own->step);
  case SL_STEP_DRAIN: return do_drain(m, engine, own->step);
  default:
    if (!own->at_barrier && drained(m, engine))
      own->at_barrier = true;
    return false; /* goes on when all are there */
  }
}

/* Up to QUANTUM steps; false when it could not take any. */
static bool run_engine(struct sl_machine *m, uint32_t engine)
{
  struct sl_machine_engine *own = &m->engines[engine];
  bool moved = false;
  for (uint32_t n = 0; n < QUANTUM && !own->finished && !own->stopped && m->status == SL_RUN_OK; n++) {
    if (!own->step) {
      uint64_t before = own->thread.steps;
      own->step = sl_thread_next(&own->thread, m->heap, QUANTUM);
      m->steps += own->thread.steps - before;
      moved = true;
      if (own->thread.error)
        stop(m, SL_RUN_MEANINGLESS, engine, own->thread.error_at);
      if (m->steps > m->limit)
        stop(m, SL_RUN_EXHAUSTED, engine, SL_NONE);
      if (!own->step || m->status != SL_RUN_OK)
        continue;
      if (own->step->kind == SL_STEP_END) {
        own->finished = true;
        break;
      }
    }
    if (!try_step(m, engine))
      return moved;
    moved = true;
    own->step = NULL;
  }
  return moved;
}

/* ---- barriers and ends ---- */

/* All engines are at a barrier: everything before it is known to everybody behind it. */
static bool pass_barrier(struct sl_machine *m)
{
  uint32_t engines = m->code.presence.engines.len;
  for (uint32_t e = 0; e < engines; e++)
    if (!m->engines[e].at_barrier || m->engines[e].step->a != m->engines[0].step->a)
      return false;
  if (engines == 0)
    return false;
  enum sl_step_kind kind = (enum sl_step_kind)m->engines[0].step->kind;
  for (uint32_t e = 1; e < engines; e++)
    join(engine_clock(m, 0), engine_clock(m, e), m->lanes);
  for (uint32_t e = 1; e < engines; e++)
    memcpy(engine_clock(m, e), engine_clock(m, 0), m->lanes * sizeof *m->engine_clock);
  if (kind != SL_STEP_BARRIER) {
    reset_sems(m);
    for (uint32_t s = 1; s < m->sem_count; s++)
      m->sems[s].set_engine = 0;
  }
  for (uint32_t e = 0; e < engines; e++) {
    m->engines[e].at_barrier = false;
    m->engines[e].step = NULL;
  }
  return true;
}

static void forget_uses(struct sl_machine *m, struct sl_sem_state *sem)
{
  sem->set_engine = 0;
  if (!m->has_issue_lanes)
    return;
  memset(sem->last_wait, 0, m->code.presence.engines.len * sizeof *sem->last_wait);
  memset(sem->last_update, 0, m->code.kernel->streams.len * sizeof *sem->last_update);
}

static void start_run(struct sl_machine *m)
{
  uint32_t engines = m->code.presence.engines.len, streams = m->code.kernel->streams.len;
  for (uint32_t e = 0; e < engines; e++) {
    sl_vec_free(m->heap, &m->engines[e].thread.saved);
    m->engines[e] = (struct sl_machine_engine){ 0 };
    sl_engine_state_reset(&m->states[e], &m->code, &m->inputs);
    sl_thread_init(&m->engines[e].thread, &m->code, m->states, &m->inputs, e, (sl_engines)1 << e);
  }
  memset(m->engine_clock, 0, (size_t)engines * m->lanes * sizeof *m->engine_clock);
  memset(m->stream_clock, 0, (size_t)streams * m->lanes * sizeof *m->stream_clock);
  memset(m->is_held, 0, streams * sizeof *m->is_held);
  reset_sems(m);
  for (uint32_t s = 0; s < m->sem_count + m->event_count; s++)
    forget_uses(m, &m->sems[s]);
  for (uint32_t v = 0; v < m->event_count; v++)
    reset_sem(&m->sems[m->sem_count + v], 0);
  m->steps = 0;
  m->multi_used = m->may_run_ahead = false;
  m->suspects.len = m->exact_suspects.len = 0;
  m->status = SL_RUN_OK;
  memset(&m->witness, 0, sizeof m->witness);
}

static void run_to_the_end(struct sl_machine *m)
{
  uint32_t engines = m->code.presence.engines.len;
  bool moved = true;
  while (moved && m->status == SL_RUN_OK) {
    moved = false;
    for (uint32_t e = 0; e < engines && m->status == SL_RUN_OK; e++)
      moved |= run_engine(m, e);
    if (!moved && m->status == SL_RUN_OK)
      moved = pass_barrier(m);
    bool stand_back = !moved && !m->may_run_ahead; /* perhaps only because they are far ahead */
    m->may_run_ahead = stand_back;
    moved |= stand_back;
  }
}

/* An engine that has not finished; one at a wait before those that others keep at a barrier. UINT32_MAX: all have finished. */
static uint32_t stopped_engine(const struct sl_machine *m)
{
  uint32_t stopped = UINT32_MAX;
  for (uint32_t e = 0; e < m->code.presence.engines.len; e++) {
    if (!m->engines[e].finished && !m->engines[e].at_barrier)
      return e;
    if (!m->engines[e].finished && stopped == UINT32_MAX)
      stopped = e;
  }
  return stopped;
}

static void check_end(struct sl_machine *m)
{
  uint32_t stopped = stopped_engine(m);
  if (stopped != UINT32_MAX)
    stop(m, SL_RUN_DEADLOCK, stopped, m->engines[stopped].step ? m->engines[stopped].step->a : SL_NONE);
  for (uint32_t e = 0; e < m->reference->code.presence.engines.len && m->status == SL_RUN_OK; e++) {
    const uint32_t *instance = sl_reference_next(m->reference, m->heap, e);
    if (!instance)
      continue;
    m->witness.missing = instance[0];
    stop_because(m, SL_RUN_MISMATCH, 0, SL_NONE, "a stream executes fewer instructions than in the kernel that gives the "
                                                 "dependences");
  }
  for (uint32_t s = 1; s < m->sem_count + m->event_count && m->status == SL_RUN_OK; s++) {
    bool is_event = s >= m->sem_count;
    uint32_t wanted = is_event ? m->sems[s].taken : s < m->code.kernel->sems.len ? m->code.kernel->sems.data[s].initial : 0;
    if (m->sems[s].value == wanted)
      continue;
    m->witness.sem = is_event ? s - m->sem_count : s;
    m->witness.is_event = is_event;
    m->witness.value = m->sems[s].value;
    stop(m, SL_RUN_LEAK, 0, SL_NONE);
  }
}

/* ---- held-back runs ---- */

static int compare_suspects(const void *x, const void *y)
{
  const struct sl_suspect *a = x, *b = y;
  if (a->stream != b->stream)
    return a->stream < b->stream ? -1 : 1;
  return a->position < b->position ? -1 : a->position > b->position;
}

/* A run with something held back, without clocks. The steps of all runs are added up. */
static void run_held(struct sl_machine *m)
{
  uint64_t used = m->steps;
  start_run(m);
  m->with_clocks = false;
  run_to_the_end(m);
  m->with_clocks = true;
  m->steps += used;
  if (m->steps > m->limit)
    stop(m, SL_RUN_EXHAUSTED, 0, SL_NONE);
}

/* One run per held instance serves all its consumers. */
static void try_suspects(struct sl_machine *m, const struct sl_suspect *suspects, uint32_t count)
{
  for (uint32_t i = 0; i < count && m->status == SL_RUN_OK;) {
    m->held_stream = m->stream_of_reference[suspects[i].stream];
    m->held_position = suspects[i].position;
    run_held(m);
    m->held_stream = SL_NO_STREAM;
    uint32_t first = i;
    for (; i < count && compare_suspects(&suspects[i], &suspects[first]) == 0 && m->status == SL_RUN_OK; i++) {
      const struct sl_suspect *suspect = &suspects[i];
      if (m->engines[suspect->engine].instances < suspect->instance)
        continue;
      m->witness = (struct sl_witness){ .need = suspect->need, .position = suspect->position, .seen = suspect->seen,
                                        .stream = suspect->stream, .instance = suspect->instance };
      stop(m, SL_RUN_RACE, suspect->engine, suspect->stmt);
      m->witness.iteration[0] = '\0'; /* the engines have run past it */
    }
  }
}

static void try_exact_suspects(struct sl_machine *m, const struct sl_exact_suspect *suspects, uint32_t count)
{
  for (uint32_t i = 0; i < count && m->status == SL_RUN_OK; i++) {
    m->held_engine = suspects[i].engine;
    m->held_issue = suspects[i].issue;
    run_held(m);
    m->held_issue = 0;
    uint32_t value = m->sems[suspects[i].sem].value;
    if (value != suspects[i].value && reached(m, value, suspects[i].value))
      stop_because(m, SL_RUN_DEADLOCK, suspects[i].engine, suspects[i].stmt, may_be_missed);
  }
}

/* Decides what the clocks left open. Waits that may be missed first: without them `==` is as good as `>=`. */
static void decide_open_questions(struct sl_machine *m)
{
  uint32_t count = m->suspects.len, exact_count = m->exact_suspects.len;
  if (count + exact_count == 0)
    return;
  struct sl_suspect *suspects = sl_heap_alloc(m->heap, (count + 1u) * sizeof *suspects);
  struct sl_exact_suspect *exact = sl_heap_alloc(m->heap, (exact_count + 1u) * sizeof *exact);
  if (count)
    memcpy(suspects, m->suspects.data, count * sizeof *suspects);
  if (exact_count)
    memcpy(exact, m->exact_suspects.data, exact_count * sizeof *exact);
  qsort(suspects, count, sizeof *suspects, compare_suspects);
  try_exact_suspects(m, exact, exact_count);
  try_suspects(m, suspects, count);
  sl_heap_free(m->heap, exact);
  sl_heap_free(m->heap, suspects);
}

enum sl_run_status sl_machine_run(struct sl_machine *m, const struct sl_inputs *own, const struct sl_inputs *of_reference,
                                  struct sl_weakening weakening, uint64_t limit)
{
  m->inputs = *own;
  m->weakening = weakening;
  m->limit = limit;
  m->with_clocks = true;
  sl_reference_start(m->reference, of_reference, limit);
  start_run(m);
  run_to_the_end(m);
  check_end(m);
  if (m->status == SL_RUN_OK && m->reference->thread.error)
    stop(m, SL_RUN_MEANINGLESS, 0, SL_NONE);
  if (m->status == SL_RUN_OK)
    decide_open_questions(m);
  return m->status;
}
