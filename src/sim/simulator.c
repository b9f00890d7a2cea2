/* simulator.c: the run. Always the engine or ring that is earliest takes its next step, so that whoever tests a counter knows
 * all updates before that time; an engine that has to wait is given the time at which the updates known so far suffice, and
 * again another one when an earlier update turns up.
 *
 * Time per step: O(1), and O(engines) when the turn changes. Memory: what is in flight.
 */
#include "sim/simulator.h"

#include <assert.h>

#include "ir/ir.h"

/* ---- traces ---- */

static bool is_traced(const struct sl_simulator *sim)
{
  return sim->options->trace && sim->options->trace->slice;
}

static const char *name_of(const struct sl_simulator *sim, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(sim->kernel, stmt);
  return sl_text(sim->program, op->label ? op->label : op->opcode);
}

/* Good until the next call. */
static const char *iteration_of(struct sl_simulator *sim, uint32_t engine, sl_index stmt)
{
  sim->iteration.len = 0;
  sl_print_iteration(&sim->iteration, &sim->code, &sim->states[engine], stmt);
  return sl_buf_text(&sim->iteration);
}

static void send(const struct sl_simulator *sim, sluice_slice slice, sl_index stmt, const char *iteration)
{
  if (stmt) {
    sl_place place = sl_source_place(sim->report->source, sim->kernel->stmts.data[stmt].loc);
    slice.line = place.line;
    slice.column = place.column;
  }
  slice.iteration = iteration ? iteration : "";
  sim->options->trace->slice(sim->options->trace->user, &slice);
}

/* A slice of the sequencer. */
static void trace_control(struct sl_simulator *sim, uint32_t engine, enum sluice_slice_kind kind, uint64_t start,
                          uint64_t end, sl_index stmt, const char *name)
{
  if (!is_traced(sim) || start >= end)
    return;
  bool is_op = stmt && sim->kernel->stmts.data[stmt].kind == SL_STMT_OP;
  const char *iteration = stmt ? iteration_of(sim, engine, stmt) : "";
  sluice_slice slice = { .stream = sim->code.presence.engines.data[engine], .lane = SLUICE_LANE_CONTROL, .kind = kind,
                         .start = start, .end = end, .name = name ? name : is_op ? name_of(sim, stmt) : "" };
  send(sim, slice, stmt, iteration);
}

static void trace_wait(struct sl_simulator *sim, uint32_t engine, const struct sl_posted *cause, const char *what,
                       sl_index stmt)
{
  const struct sl_sim_engine *own = &sim->engines[engine];
  sluice_slice slice = { .stream = sim->code.presence.engines.data[engine], .lane = SLUICE_LANE_CONTROL,
                         .kind = SLUICE_SLICE_WAIT, .start = own->since, .end = own->now.at, .name = what,
                         .awaited = cause->instance, .awaited_stream = cause->stream,
                         .waiting = name_of(sim, stmt) };
  send(sim, slice, stmt, iteration_of(sim, engine, stmt));
}

static void trace_flight(const struct sl_simulator *sim, uint32_t stream, sl_index stmt, uint64_t instance, uint64_t start,
                         uint64_t end, const char *iteration)
{
  if (!is_traced(sim))
    return;
  sluice_slice slice = { .stream = stream, .lane = SLUICE_LANE_FLIGHT, .kind = SLUICE_SLICE_FLIGHT, .start = start,
                         .end = end, .name = name_of(sim, stmt), .instance = instance };
  send(sim, slice, stmt, iteration);
}

static void trace_execution(const struct sl_simulator *sim, uint32_t stream, sl_index stmt, uint64_t instance, uint64_t start,
                            uint64_t end, const char *iteration)
{
  if (!is_traced(sim))
    return;
  sluice_slice slice = { .stream = stream, .lane = SLUICE_LANE_DATAPATH, .kind = SLUICE_SLICE_EXECUTE, .start = start,
                         .end = end, .name = name_of(sim, stmt), .instance = instance };
  send(sim, slice, stmt, iteration);
}

struct counter_watch {
  const struct sl_simulator *sim;
  uint32_t counter;
};

static void counter_changed(void *user, uint64_t time, uint32_t value)
{
  const struct counter_watch *watch = user;
  const sluice_trace *trace = watch->sim->options->trace;
  trace->counter(trace->user, watch->counter, time, value);
}

/* ---- stopping ---- */

static void stop(struct sl_simulator *sim, int status)
{
  if (sim->status == SLUICE_OK)
    sim->status = status;
}

static void stop_input(struct sl_simulator *sim, enum sl_rule rule, sl_index stmt, const char *text)
{
  if (sim->status != SLUICE_OK)
    return;
  sl_error(sim->report, rule, stmt ? sim->kernel->stmts.data[stmt].loc : sim->kernel->loc, "%s", text);
  stop(sim, SLUICE_E_INPUT);
}

static void stop_budget(struct sl_simulator *sim)
{
  sl_error(sim->report, SL_RULE_BUDGET, sim->kernel->loc, "the simulation of '%s' is given up after %llu steps",
           sl_text(sim->program, sim->kernel->name), (unsigned long long)sim->steps);
  stop(sim, SLUICE_E_BUDGET);
}

static bool has_failed(struct sl_simulator *sim, uint8_t error, sl_index at)
{
  switch ((enum sl_thread_error)error) {
  case SL_THREAD_OK: return false;
  case SL_THREAD_UNDEFINED:
    stop_input(sim, SL_RULE_REGISTER, at, "a register is used that has no value in this run");
    break;
  case SL_THREAD_DISAGREE:
    stop_input(sim, SL_RULE_UNIFORM, at, "engines disagree on a loop or branch that is not divergent");
    break;
  case SL_THREAD_ARITHMETIC:
    stop_input(sim, SL_RULE_LITERAL, at, "a value cannot be computed: it divides by zero or does not fit 64 bits");
    break;
  }
  return true;
}

static bool thread_failed(struct sl_simulator *sim, const struct sl_thread *thread)
{
  return has_failed(sim, thread->error, thread->error_at);
}

static void stop_deadlock(struct sl_simulator *sim, uint32_t engine)
{
  const struct sl_sim_engine *own = &sim->engines[engine];
  const char *kernel = sl_text(sim->program, sim->kernel->name);
  const char *name = sl_text(sim->program, sim->kernel->streams.data[sim->code.presence.engines.data[engine]].name);
  sl_index stmt = own->step ? own->step->a : SL_NONE;
  sl_loc loc = stmt ? sim->kernel->stmts.data[stmt].loc : sim->kernel->loc;
  const char *iteration = stmt ? iteration_of(sim, engine, stmt) : "";
  if (stmt && own->status == SL_ENGINE_WAITS)
    sl_error(sim->report, SL_RULE_DEADLOCK, loc, "'%s' stops for ever: %s waits at '%s'%s%s", kernel, name,
             name_of(sim, stmt), *iteration ? ", " : "", iteration);
  else
    sl_error(sim->report, SL_RULE_DEADLOCK, loc, "'%s' stops for ever: %s is at a barrier that others do not reach", kernel,
             name);
  stop(sim, SLUICE_E_ANSWER);
}

/* ---- turns ---- */

static void be_ready(struct sl_simulator *sim, struct sl_sim_engine *engine, uint64_t when)
{
  engine->status = SL_ENGINE_READY;
  engine->wake = when;
  if (when < sim->limit)
    sim->limit = when;
}

static void sleep(struct sl_sim_engine *engine, enum sl_engine_status status)
{
  engine->status = (uint8_t)status;
  engine->wake = SL_NEVER;
}

static bool advance_counter(struct sl_simulator *sim, uint32_t index, uint64_t time, const struct sl_asked *asked)
{
  struct counter_watch context = { sim, index };
  struct sl_counter_watch watch = { counter_changed, &context };
  bool is_watched = sim->options->trace && sim->options->trace->counter && !sim->is_ideal;
  return sl_counter_advance(&sim->counters[index], sim->target, time, asked, is_watched ? &watch : NULL);
}

/* ---- gates ---- */

/* A gate of an instruction, or in ideal synchronization one of its needs. */
struct gate {
  uint32_t counter;
  uint32_t number; /* in waits, or in the needs' edges */
  struct sl_asked asked;
};

static bool event_counter(struct sl_simulator *sim, uint32_t engine, sl_index stmt, sl_name name, sl_index index,
                          uint32_t *counter)
{
  struct sl_thread *thread = &sim->engines[engine].thread;
  uint32_t first = sim->event_of[name] - 1, count = 1;
  for (uint32_t v = 1; v < sim->kernel->events.len; v++)
    if (sim->kernel->events.data[v].name == name)
      count = sim->kernel->events.data[v].count;
  int64_t value = index ? sl_thread_value(thread, engine, index, stmt) : 0;
  if (thread_failed(sim, thread))
    return false;
  if (value < 0 || value >= count) {
    stop_input(sim, SL_RULE_SEMAPHORE, stmt, "the index of an event is outside its array");
    return false;
  }
  *counter = first + (uint32_t)value;
  return true;
}

static bool read_gate(struct sl_simulator *sim, uint32_t engine, sl_index stmt, uint32_t n, struct gate *gate)
{
  const struct sl_op *op = sl_stmt_op(sim->kernel, stmt);
  struct sl_sim_engine *own = &sim->engines[engine];
  if (sim->is_ideal) {
    gate->number = sim->needs.first[sim->matched[stmt]] + n;
    sl_index producer = sim->needs.edges.data[gate->number].producer;
    uint32_t stream = sim->own_stream[sl_stmt_op(sim->giving, producer)->stream];
    gate->counter = stream == SL_NO_STREAM ? sim->counter_count : stream; /* one more, which stays 0 */
    gate->asked = (struct sl_asked){ own->needs.data[n], false };
    return true;
  }
  gate->number = op->first_wait + n;
  const struct sl_gate *wait = &sim->kernel->waits.data[gate->number];
  if (wait->kind == SL_GATE_EVENT) {
    gate->asked = (struct sl_asked){ 1, false };
    return event_counter(sim, engine, stmt, wait->name, wait->event_index, &gate->counter);
  }
  gate->counter = sim->sem_of[wait->name] - 1;
  gate->asked = (struct sl_asked){ sl_thread_threshold(&own->thread, engine, wait), wait->equal };
  return true;
}

static void count_stall(struct sl_simulator *sim, sl_index stmt, uint32_t gate, sl_index producer, uint64_t ticks)
{
  bool is_new;
  uint32_t *at = sl_map_put(&sim->stall_of, sim->heap, sl_map_pair(gate, producer), &is_new);
  if (is_new) {
    *at = sim->stalls.len;
    sl_vec_add(sim->heap, &sim->stalls, ((struct sl_stall_sum){ .stmt = stmt, .gate = gate, .producer = producer }));
  }
  struct sl_stall_sum *sum = &sim->stalls.data[*at];
  sum->ticks += ticks;
  sum->count++;
  if (ticks > sum->longest)
    sum->longest = ticks;
}

/* Good until the next call. */
static const char *text_of_gate(struct sl_simulator *sim, const struct gate *gate)
{
  sl_buf *buf = &sim->text;
  buf->len = 0;
  if (sim->is_ideal)
    sl_edge_print(buf, sim->giving_program, sim->giving, &sim->needs.edges.data[gate->number]);
  else if (sim->kernel->waits.data[gate->number].kind == SL_GATE_EVENT)
    sl_buf_puts(buf, sim->counter_names.data[gate->counter]);
  else
    sl_buf_printf(buf, "%s %s %u", sim->counter_names.data[gate->counter], gate->asked.equal ? "==" : ">=",
                  gate->asked.threshold);
  return sl_buf_text(buf);
}

/* The wait is over: by the latest update, when the engine stood still for it. */
static void pass_gate(struct sl_simulator *sim, uint32_t engine, sl_index stmt, const struct gate *gate)
{
  struct sl_sim_engine *own = &sim->engines[engine];
  struct sl_counter *counter = &sim->counters[gate->counter];
  if (counter->takes)
    counter->value--;
  own->gates_passed++;
  if (own->since == SL_NEVER)
    return;
  sl_stamp_join(&own->now, &counter->latest.when);
  uint64_t ticks = own->now.at - own->since;
  sim->streams[sim->code.presence.engines.data[engine]].stalled += ticks;
  if (ticks)
    count_stall(sim, stmt, gate->number, counter->latest.stmt, ticks);
  if (ticks && is_traced(sim))
    trace_wait(sim, engine, &counter->latest, text_of_gate(sim, gate), stmt);
  own->since = SL_NEVER;
}

/* Tests the gates that are left; false: the engine waits, or the run has stopped. */
static bool pass_gates(struct sl_simulator *sim, uint32_t engine, sl_index stmt, uint32_t count)
{
  struct sl_sim_engine *own = &sim->engines[engine];
  while (own->gates_passed < count) {
    struct gate gate;
    if (!read_gate(sim, engine, stmt, own->gates_passed, &gate))
      return false;
    struct sl_counter *counter = &sim->counters[gate.counter];
    if (!advance_counter(sim, gate.counter, sim->clock, &gate.asked)) {
      if (own->since == SL_NEVER)
        own->since = own->now.at;
      counter->waiting |= (sl_engines)1 << engine;
      own->status = SL_ENGINE_WAITS;
      own->wake = sl_counter_when(counter, sim->target, gate.asked);
      return false;
    }
    counter->waiting &= ~((sl_engines)1 << engine);
    pass_gate(sim, engine, stmt, &gate);
  }
  return true;
}

/* What the dependences ask of the instance; false: it is not the one they are about. */
static bool read_needs(struct sl_simulator *sim, uint32_t engine, sl_index stmt)
{
  struct sl_sim_engine *own = &sim->engines[engine];
  if (own->is_met || !sim->matched[stmt])
    return true;
  uint32_t theirs = sim->their_engine[engine];
  uint64_t most = sim->options->max_steps;
  const uint32_t *instance = theirs == UINT32_MAX ? NULL : sl_needs_next(&sim->needs, theirs, most ? most : UINT64_MAX);
  if (has_failed(sim, sim->needs.error, SL_NONE))
    return false;
  if (most && sim->needs.steps >= most) {
    stop_budget(sim);
    return false;
  }
  if (!instance || instance[0] != sim->matched[stmt]) {
    stop_input(sim, SL_RULE_MISMATCH, stmt, "its stream executes other instructions, or in another order, than the kernel "
                                            "that gives the dependences");
    return false;
  }
  own->needs.len = 0;
  for (uint32_t i = 0; i < sim->needs.count[instance[0]]; i++)
    sl_vec_add(sim->heap, &own->needs, instance[1 + i]);
  own->is_met = true;
  return true;
}

/* All that an instruction waits for, and the slots that this takes. */
static bool is_let_through(struct sl_simulator *sim, uint32_t engine, sl_index stmt)
{
  struct sl_sim_engine *own = &sim->engines[engine];
  if (sim->is_ideal) {
    if (!read_needs(sim, engine, stmt))
      return false;
    return pass_gates(sim, engine, stmt, sim->matched[stmt] ? sim->needs.count[sim->matched[stmt]] : 0);
  }
  return pass_gates(sim, engine, stmt, sl_stmt_op(sim->kernel, stmt)->wait_count) && own->status == SL_ENGINE_READY;
}

static void charge(struct sl_simulator *sim, uint32_t engine, uint64_t ticks)
{
  sl_stamp_add(&sim->engines[engine].now, SLUICE_PATH_CONTROL, ticks);
  sim->streams[sim->code.presence.engines.data[engine]].control += ticks;
}

static void charge_carriers(struct sl_simulator *sim, uint32_t engine, sl_index stmt)
{
  if (sim->is_ideal || !sim->operations.list[stmt].carriers)
    return;
  sim->totals.wait_slots += sim->operations.list[stmt].carriers;
  charge(sim, engine, sim->operations.list[stmt].carriers * sim->costs.dispatch);
}

/* ---- retirement ---- */

/* An engine that waits for the counter may go on earlier than it knew. */
static void wake_waiting(struct sl_simulator *sim, uint32_t index)
{
  for (sl_engines rest = sim->counters[index].waiting; rest; rest &= rest - 1) {
    uint32_t e = sl_first_engine(rest);
    struct sl_sim_engine *engine = &sim->engines[e];
    struct gate gate;
    if (!read_gate(sim, e, engine->step->a, engine->gates_passed, &gate))
      return;
    if (sl_counter_holds(sim->target, sim->counters[index].value, gate.asked))
      continue; /* its turn is due: others that waited for the same update were first */
    engine->wake = sl_counter_when(&sim->counters[index], sim->target, gate.asked);
    if (engine->wake < sim->limit)
      sim->limit = engine->wake;
  }
}

/* What became visible before now is applied when it is much: nobody may ever ask, and no wait that goes on holds by it. */
static void post(struct sl_simulator *sim, uint32_t index, const struct sl_posted *posted)
{
  enum { MANY = 16 };
  struct sl_counter *counter = &sim->counters[index];
  sl_counter_post(counter, sim->heap, posted);
  if (counter->posted.len - counter->from > MANY && sim->clock > 0)
    (void)advance_counter(sim, index, sim->clock - 1, NULL);
  if (counter->waiting)
    wake_waiting(sim, index);
}

/* The updates of an instruction that retires at `when`, whose engine still is where it issued it, or `events` was read there. */
static void update_counters(struct sl_simulator *sim, sl_index stmt, uint64_t instance, const struct sl_stamp *when,
                            const uint32_t *events)
{
  const struct sl_op *op = sl_stmt_op(sim->kernel, stmt);
  struct sl_posted posted = { .when = *when, .by = 1, .stmt = stmt, .stream = op->stream, .instance = instance };
  if (sim->is_ideal) {
    if (sim->matched[stmt] && sim->needs.producer[sim->matched[stmt]])
      post(sim, op->stream, &posted);
    return;
  }
  sl_stamp_add(&posted.when, SLUICE_PATH_SEMAPHORE, sim->costs.visibility);
  for (uint32_t i = 0; i < op->inc_count; i++) {
    const struct sl_inc *inc = &sim->kernel->incs.data[op->first_inc + i];
    posted.by = inc->by;
    post(sim, sim->sem_of[inc->sem] - 1, &posted);
  }
  posted.by = 1;
  for (uint32_t i = 0; i < op->set_count; i++)
    post(sim, events[i], &posted);
}

/* Events that an instruction sets, by the indices as they are now; false: one has no such element. */
static bool read_events(struct sl_simulator *sim, uint32_t engine, sl_index stmt, uint32_t events[SL_SETS_MOST])
{
  const struct sl_op *op = sl_stmt_op(sim->kernel, stmt);
  if (op->set_count > SL_SETS_MOST) {
    stop_input(sim, SL_RULE_LIMIT, stmt, "an instruction sets more events than are simulated");
    return false;
  }
  for (uint32_t i = 0; i < op->set_count && !sim->is_ideal; i++) {
    const struct sl_event_set *set = &sim->kernel->sets.data[op->first_set + i];
    if (!event_counter(sim, engine, stmt, set->event, set->index, &events[i]))
      return false;
  }
  return true;
}

/* ---- the datapath ---- */

static struct sl_constant look_up_thread(void *user, enum sl_expr_kind kind, sl_name name)
{
  const struct sl_sim_engine *own = user;
  const struct sl_machine_code *code = own->thread.code;
  const struct sl_engine_state *state = &own->thread.engines[own->inputs.engine];
  uint32_t slot = kind == SL_EXPR_NAME ? code->slot_of[name] : code->register_of[name];
  if (!slot || (kind == SL_EXPR_REG && !state->defined[slot]))
    return sl_constant_none(SL_CONST_UNKNOWN);
  return sl_constant_of(kind == SL_EXPR_NAME ? state->slots[slot] : (int64_t)state->registers[slot]);
}

static struct sl_cost_ticks cost_of(struct sl_simulator *sim, uint32_t engine, sl_index stmt)
{
  const struct sl_operation *operation = &sim->operations.list[stmt];
  struct sl_cost_ticks cost = operation->cost;
  if (!operation->is_constant &&
      !sl_operation_measure(&cost, &sim->operations, stmt, look_up_thread, &sim->engines[engine]))
    stop_input(sim, SL_RULE_DIMENSIONS, stmt, "what it costs cannot be computed: an index or attribute has no value");
  return cost;
}

/* The times at which banks of an exclusion are free of one of its sides. */
static uint64_t *held_until(const struct sl_simulator *sim, uint32_t exclusion, bool is_b)
{
  return &sim->held_until[((size_t)exclusion * 2 + is_b) * SL_BANKS];
}

static uint64_t banks_of(struct sl_simulator *sim, uint32_t engine, sl_index stmt, const struct sl_exclusion *exclusion)
{
  if (!exclusion->same_bank)
    return 1;
  return sl_operation_banks(&sim->operations, stmt, exclusion->space, look_up_thread, &sim->engines[engine]);
}

/* When exclusions let it start; then, with end > 0, keeps others out until there. */
static uint64_t respect_exclusions(struct sl_simulator *sim, uint32_t engine, sl_index stmt, uint64_t start, uint64_t end)
{
  const struct sl_operation *operation = &sim->operations.list[stmt];
  uint32_t target_engine = sim->kernel->streams.data[sl_stmt_op(sim->kernel, stmt)->stream].engine;
  for (uint32_t i = 0; i < operation->exclusion_count; i++) {
    uint32_t number = sim->operations.exclusions.data[operation->first_exclusion + i];
    const struct sl_exclusion *exclusion = &sim->target->exclusions.data[number];
    bool is_b = target_engine == exclusion->b;
    uint64_t *times = held_until(sim, number, end ? is_b : !is_b);
    for (uint64_t banks = banks_of(sim, engine, stmt, exclusion); banks; banks &= banks - 1) {
      uint64_t *until = &times[__builtin_ctzll(banks)];
      if (end && *until < end)
        *until = end;
      else if (!end && *until > start)
        start = *until;
    }
  }
  return start;
}

/* When the datapath can begin: free, results there, no other engine in the way. */
static struct sl_stamp find_start(struct sl_simulator *sim, uint32_t engine, sl_index stmt)
{
  struct sl_sim_engine *own = &sim->engines[engine];
  const struct sl_operation *operation = &sim->operations.list[stmt];
  struct sl_stamp start = own->now;
  if (own->issued)
    sl_stamp_join(&start, &own->ends[(own->issued - 1) % (SL_RUN_AHEAD_MAX + 1)]);
  uint64_t at = start.at;
  for (uint32_t i = 0; i < operation->result_count; i++) {
    uint64_t result = sim->result_at[sim->operations.results.data[operation->first_result + i]];
    at = result > at ? result : at;
  }
  if (operation->exclusion_count)
    at = respect_exclusions(sim, engine, stmt, at, 0);
  sim->streams[sim->code.presence.engines.data[engine]].stalled += at - start.at;
  sl_stamp_add(&start, SLUICE_PATH_DATAPATH, at - start.at);
  return start;
}

/* An instruction is issued that may use on-chip buffers. */
static struct sl_occupancy_touch *touch_buffers(struct sl_simulator *sim, uint32_t engine, sl_index stmt, uint64_t issued)
{
  return sl_occupancy_begin(&sim->occupancy, stmt, issued, sim->clock, look_up_thread, &sim->engines[engine]);
}

static void do_datapath(struct sl_simulator *sim, uint32_t engine, sl_index stmt)
{
  struct sl_sim_engine *own = &sim->engines[engine];
  uint32_t stream = sim->code.presence.engines.data[engine], size = SL_RUN_AHEAD_MAX + 1;
  uint32_t events[SL_SETS_MOST];
  if (!read_events(sim, engine, stmt, events))
    return;
  struct sl_cost_ticks cost = cost_of(sim, engine, stmt);
  uint64_t dispatched = own->now.at;
  charge(sim, engine, sim->costs.dispatch);
  trace_control(sim, engine, SLUICE_SLICE_CONTROL, dispatched, own->now.at, stmt, NULL);
  struct sl_stamp start = find_start(sim, engine, stmt);
  cost.interval = sl_warmth_pass(&own->warmth, start.at, cost.interval);
  struct sl_stamp end = sl_stamp_plus(&start, SLUICE_PATH_DATAPATH, cost.interval);
  struct sl_stamp done = sl_stamp_plus(&end, SLUICE_PATH_DATAPATH, cost.latency);
  if (sim->operations.list[stmt].exclusion_count)
    (void)respect_exclusions(sim, engine, stmt, 0, end.at);
  sim->result_at[stmt] = end.at + cost.forward;
  sl_stamp_join(&own->retired, &done);
  uint64_t issued = own->now.at, number = own->issued++;
  own->ends[number % size] = end;
  if (number >= sim->costs.run_ahead)
    sl_stamp_join(&own->now, &own->ends[(number - sim->costs.run_ahead) % size]);
  sim->streams[stream].busy += cost.interval;
  sim->streams[stream].instructions++;
  uint64_t instance = ++sim->instance;
  if (is_traced(sim)) {
    trace_control(sim, engine, SLUICE_SLICE_BLOCKED, issued, own->now.at, stmt, NULL);
    trace_execution(sim, stream, stmt, instance, start.at, end.at, iteration_of(sim, engine, stmt));
    trace_flight(sim, stream, stmt, instance, dispatched, own->retired.at, iteration_of(sim, engine, stmt));
  }
  sl_occupancy_end(&sim->occupancy, touch_buffers(sim, engine, stmt, dispatched), own->retired.at);
  update_counters(sim, stmt, instance, &own->retired, events);
}

/* ---- queues ---- */

/* False: the ring is full, and the engine stops until it is not. */
static bool do_transfer(struct sl_simulator *sim, uint32_t engine, sl_index stmt, uint32_t stream)
{
  struct sl_sim_engine *own = &sim->engines[engine];
  if (sl_ring_length(&sim->rings.rings[stream]) >= sim->costs.ring_depth) {
    own->since = own->since == SL_NEVER ? own->now.at : own->since;
    sleep(own, SL_ENGINE_RING);
    return false;
  }
  if (own->since != SL_NEVER)
    trace_control(sim, engine, SLUICE_SLICE_BLOCKED, own->since, own->now.at, stmt, NULL);
  own->since = SL_NEVER;
  struct sl_transfer transfer = { .stmt = stmt, .issued = own->now.at, .instance = ++sim->instance };
  if (!read_events(sim, engine, stmt, transfer.events))
    return false;
  bool has_work = sim->operations.list[stmt].opcode != NULL; /* else a marker in the ring */
  struct sl_cost_ticks cost = cost_of(sim, engine, stmt);
  charge(sim, engine, has_work ? cost.trigger : sim->costs.dispatch);
  trace_control(sim, engine, SLUICE_SLICE_CONTROL, transfer.issued, own->now.at, stmt, NULL);
  transfer.ready = own->now;
  if (has_work) {
    sl_stamp_join(&transfer.ready, &own->generator);
    own->generator = sl_stamp_plus(&transfer.ready, SLUICE_PATH_DMA, cost.generation_busy);
    sl_stamp_add(&transfer.ready, SLUICE_PATH_DMA, cost.generation + cost.start);
  }
  transfer.work = cost.interval;
  transfer.share = has_work ? (uint32_t)cost.share : 1;
  transfer.service_class = sim->costs.has_classes ? (uint32_t)cost.service_class : 0;
  transfer.done = cost.done;
  if (is_traced(sim)) {
    const char *iteration = iteration_of(sim, engine, stmt);
    transfer.iteration = sl_heap_alloc(sim->heap, strlen(iteration) + 1);
    strcpy(transfer.iteration, iteration);
  }
  transfer.touches = touch_buffers(sim, engine, stmt, transfer.issued);
  own->in_rings++;
  sl_rings_add(&sim->rings, stream, &transfer);
  if (sim->rings.next < sim->limit)
    sim->limit = sim->rings.next;
  return true;
}

/* The data of a transfer has moved. */
static void end_transfer(struct sl_simulator *sim, const struct sl_transfer *transfer, const struct sl_stamp *finish,
                         uint32_t stream)
{
  struct sl_ring *ring = &sim->rings.rings[stream];
  struct sl_sim_engine *engine = &sim->engines[sim->code.presence.engine_of[stream]];
  struct sl_stamp retired = sl_stamp_plus(finish, SLUICE_PATH_DMA, transfer->done);
  sl_stamp_join(&ring->retired, &retired);
  sim->streams[stream].busy += finish->at - transfer->begun.at;
  sim->streams[stream].instructions++;
  if (sim->streams[stream].end < ring->retired.at)
    sim->streams[stream].end = ring->retired.at;
  trace_execution(sim, stream, transfer->stmt, transfer->instance, transfer->begun.at, finish->at, transfer->iteration);
  trace_flight(sim, stream, transfer->stmt, transfer->instance, transfer->issued, ring->retired.at, transfer->iteration);
  sl_occupancy_end(&sim->occupancy, transfer->touches, ring->retired.at);
  update_counters(sim, transfer->stmt, transfer->instance, &ring->retired, transfer->events);
  sl_stamp_join(&engine->rings_retired, &ring->retired);
  engine->in_rings--;
  if (engine->status == SL_ENGINE_RING && sl_stmt_op(sim->kernel, engine->step->a)->stream == stream) {
    sl_stamp_join(&engine->now, finish);
    be_ready(sim, engine, engine->now.at);
  } else if (engine->status == SL_ENGINE_DRAINS && engine->in_rings == 0) {
    be_ready(sim, engine, engine->now.at > sim->clock ? engine->now.at : sim->clock);
  }
}

/* ---- control ---- */

static void do_load(struct sl_simulator *sim, uint32_t engine, sl_index stmt)
{
  struct sl_sim_engine *own = &sim->engines[engine];
  uint64_t start = own->now.at;
  charge(sim, engine, sim->costs.register_load);
  sl_stamp_join(&own->retired, &own->now);
  sl_stamp_join(&own->now, &own->retired);
  trace_control(sim, engine, SLUICE_SLICE_LOAD, start, own->now.at, stmt, NULL);
}

/* The new value takes as long as an update to be seen. */
static void do_sem_set(struct sl_simulator *sim, uint32_t engine, sl_index stmt)
{
  struct sl_sim_engine *own = &sim->engines[engine];
  const struct sl_op *op = sl_stmt_op(sim->kernel, stmt);
  const struct sl_operand *operands = &sim->kernel->operands.data[op->first_operand];
  uint64_t start = own->now.at;
  charge(sim, engine, sim->costs.semaphore_set);
  trace_control(sim, engine, SLUICE_SLICE_CONTROL, start, own->now.at, stmt, NULL);
  struct sl_posted posted = { .when = sl_stamp_plus(&own->now, SLUICE_PATH_SEMAPHORE, sim->costs.visibility),
                              .by = sl_thread_operand(&own->thread, engine, &operands[1], stmt), .is_set = true, .stmt = stmt,
                              .stream = op->stream, .instance = ++sim->instance };
  if (!thread_failed(sim, &own->thread))
    post(sim, sim->sem_of[operands[0].value] - 1, &posted);
}

/* Waits until all it has issued has retired; false: transfers are still under way. */
static bool has_drained(struct sl_simulator *sim, uint32_t engine, sl_index stmt)
{
  struct sl_sim_engine *own = &sim->engines[engine];
  if (own->since == SL_NEVER)
    own->since = own->now.at;
  if (own->in_rings) {
    sleep(own, SL_ENGINE_DRAINS);
    return false;
  }
  sl_stamp_join(&own->now, &own->retired);
  sl_stamp_join(&own->now, &own->rings_retired);
  sl_stamp_add(&own->now, SLUICE_PATH_BARRIER, sim->costs.drain);
  sim->streams[sim->code.presence.engines.data[engine]].barrier += own->now.at - own->since;
  trace_control(sim, engine, SLUICE_SLICE_DRAIN, own->since, own->now.at, stmt, "drain");
  own->since = SL_NEVER;
  return true;
}

static void reset_counters(struct sl_simulator *sim)
{
  for (uint32_t c = 0; c < sim->sem_count; c++) {
    (void)advance_counter(sim, c, sim->clock, NULL);
    sl_counter_reset(&sim->counters[c], sim->kernel->sems.data[c + 1].initial);
    if (sim->options->trace && sim->options->trace->counter)
      sim->options->trace->counter(sim->options->trace->user, c, sim->clock, sim->counters[c].value);
  }
}

static void meet(struct sl_stamp *when, const struct sl_control_costs *costs)
{
  sl_stamp_add(when, SLUICE_PATH_BARRIER, costs->arrive + costs->visibility + costs->release + costs->visibility);
}

/* All engines have drained and arrived: the last one decides. */
static void release_barrier(struct sl_simulator *sim)
{
  struct sl_stamp when = sim->engines[0].now;
  enum sl_step_kind kind = (enum sl_step_kind)sim->engines[0].step->kind;
  for (uint32_t e = 1; e < sim->engine_count; e++)
    sl_stamp_join(&when, &sim->engines[e].now);
  meet(&when, &sim->costs);
  if (kind != SL_STEP_BARRIER) {
    sl_stamp_add(&when, SLUICE_PATH_BARRIER, sim->costs.clear);
    sim->clock = when.at;
    reset_counters(sim);
  }
  if (kind == SL_STEP_BARRIER_RESET)
    meet(&when, &sim->costs);
  for (uint32_t e = 0; e < sim->engine_count; e++) {
    struct sl_sim_engine *engine = &sim->engines[e];
    sim->streams[sim->code.presence.engines.data[e]].barrier += when.at - engine->now.at;
    trace_control(sim, e, SLUICE_SLICE_BARRIER, engine->now.at, when.at, engine->step->a,
                  kind == SL_STEP_EPILOGUE ? "epilogue" : kind == SL_STEP_BARRIER_RESET ? "barrier reset" : "barrier");
    engine->now = when;
    engine->step = NULL;
    be_ready(sim, engine, when.at);
  }
  sim->totals.barriers++;
}

/* Whether all are there; otherwise others have turns first. */
static void arrive(struct sl_simulator *sim, uint32_t engine)
{
  sleep(&sim->engines[engine], SL_ENGINE_BARRIER);
  sl_index stmt = sim->engines[engine].step->a;
  for (uint32_t e = 0; e < sim->engine_count; e++)
    if (sim->engines[e].status != SL_ENGINE_BARRIER || sim->engines[e].step->a != stmt)
      return;
  release_barrier(sim);
}

/* ---- steps ---- */

/* An instruction that goes through: false when it does not yet. */
static bool do_op(struct sl_simulator *sim, uint32_t engine, sl_index stmt)
{
  struct sl_sim_engine *own = &sim->engines[engine];
  const struct sl_op *op = sl_stmt_op(sim->kernel, stmt);
  enum sl_op_class op_class = sl_opcode_table[op->code].op_class;
  if (!is_let_through(sim, engine, stmt))
    return false;
  if (sim->kernel->streams.data[op->stream].is_queue) {
    if (!do_transfer(sim, engine, stmt, op->stream))
      return false;
    charge_carriers(sim, engine, stmt);
    return true;
  }
  if (op_class == SL_CLASS_DRAIN && !has_drained(sim, engine, stmt))
    return false;
  charge_carriers(sim, engine, stmt);
  if (op_class == SL_CLASS_DATAPATH) {
    do_datapath(sim, engine, stmt);
    return true;
  }
  uint32_t events[SL_SETS_MOST];
  uint64_t start = own->now.at;
  if (op_class == SL_CLASS_LOAD)
    do_load(sim, engine, stmt);
  else if (op_class == SL_CLASS_NOP)
    charge(sim, engine, sim->costs.dispatch);
  sim->totals.wait_slots += sl_op_is_wait_only(op);
  if (op_class == SL_CLASS_NOP)
    trace_control(sim, engine, SLUICE_SLICE_CONTROL, start, own->now.at, stmt, NULL);
  sl_stamp_join(&own->retired, &own->now);
  uint64_t instance = ++sim->instance;
  if (is_traced(sim) && op_class != SL_CLASS_REGISTER)
    trace_flight(sim, op->stream, stmt, instance, start, own->retired.at, iteration_of(sim, engine, stmt));
  if (read_events(sim, engine, stmt, events))
    update_counters(sim, stmt, instance, &own->retired, events);
  return true;
}

static bool take_step(struct sl_simulator *sim, uint32_t engine)
{
  const struct sl_step *step = sim->engines[engine].step;
  switch ((enum sl_step_kind)step->kind) {
  case SL_STEP_OP:
  case SL_STEP_DRAIN: return do_op(sim, engine, step->a);
  case SL_STEP_SEM_SET:
    if (!is_let_through(sim, engine, step->a))
      return false;
    charge_carriers(sim, engine, step->a);
    do_sem_set(sim, engine, step->a);
    return true;
  case SL_STEP_END: sleep(&sim->engines[engine], SL_ENGINE_ENDED); return false;
  default:
    if (has_drained(sim, engine, step->a))
      arrive(sim, engine);
    return false;
  }
}

/* Control up to the next step that others can see. */
static void fetch(struct sl_simulator *sim, uint32_t engine)
{
  struct sl_sim_engine *own = &sim->engines[engine];
  uint64_t most = sim->options->max_steps, steps = own->thread.steps, cost = own->thread.cost, start = own->now.at;
  own->step = sl_thread_next(&own->thread, sim->heap, most ? most - sim->steps : UINT64_MAX);
  sim->steps += own->thread.steps - steps;
  if (thread_failed(sim, &own->thread))
    return;
  if (!own->step || (most && sim->steps >= most) || own->now.at >= SL_TICKS_MAX) {
    stop_budget(sim);
    return;
  }
  charge(sim, engine, own->thread.cost - cost + own->step->cost);
  own->gates_passed = 0;
  own->is_met = false;
  trace_control(sim, engine, SLUICE_SLICE_CONTROL, start, own->now.at, SL_NONE, "control");
}

/* An engine goes on while nobody else is earlier. */
static void take_turn(struct sl_simulator *sim, uint32_t engine)
{
  struct sl_sim_engine *own = &sim->engines[engine];
  own->status = SL_ENGINE_READY;
  while (sim->status == SLUICE_OK) {
    if (!own->step) {
      fetch(sim, engine);
    } else if (take_step(sim, engine)) {
      own->step = NULL;
    } else {
      return; /* its status and wake are set */
    }
    own->wake = own->now.at;
    if (own->wake > sim->limit)
      return;
    sim->clock = own->wake > sim->clock ? own->wake : sim->clock;
  }
}

static void step_rings(struct sl_simulator *sim)
{
  struct sl_transfer transfer;
  struct sl_stamp finish;
  uint32_t stream;
  if (!sl_rings_step(&sim->rings, &transfer, &finish, &stream))
    return;
  end_transfer(sim, &transfer, &finish, stream);
  sl_heap_free(sim->heap, transfer.iteration);
}

/* The earliest engine; sets the limit to the time of the next one. UINT32_MAX: none has a turn. */
static uint32_t earliest(struct sl_simulator *sim)
{
  uint32_t first = UINT32_MAX;
  uint64_t best = SL_NEVER;
  sim->limit = SL_NEVER;
  for (uint32_t e = 0; e < sim->engine_count; e++) {
    uint64_t wake = sim->engines[e].wake;
    if (wake < best) {
      sim->limit = best;
      best = wake;
      first = e;
    } else if (wake < sim->limit) {
      sim->limit = wake;
    }
  }
  return first;
}

static void start_run(struct sl_simulator *sim)
{
  for (uint32_t e = 0; e < sim->engine_count; e++) {
    struct sl_sim_engine *engine = &sim->engines[e];
    sl_engine_state_reset(&sim->states[e], &sim->code, &engine->inputs.inputs);
    sl_thread_init(&engine->thread, &sim->code, sim->states, &engine->inputs.inputs, e, (sl_engines)1 << e);
    engine->since = SL_NEVER;
  }
  if (sim->is_ideal)
    sl_needs_start(&sim->needs, &sim->needs_inputs.inputs);
}

/* Sums up what the engines have done. */
static void finish_run(struct sl_simulator *sim)
{
  for (uint32_t e = 0; e < sim->engine_count; e++) {
    struct sl_sim_engine *engine = &sim->engines[e];
    uint32_t stream = sim->code.presence.engines.data[e];
    const uint64_t *done = engine->thread.done;
    sl_stamp_join(&engine->now, &engine->retired);
    if (sim->streams[stream].end < engine->now.at)
      sim->streams[stream].end = engine->now.at;
    sl_stamp_join(&sim->end, &engine->now);
    sl_stamp_join(&sim->end, &engine->rings_retired);
    sim->totals.register_operations += done[SL_STEP_REGISTER];
    sim->totals.branches += done[SL_STEP_NEXT] + done[SL_STEP_IF] + done[SL_STEP_JUMP];
  }
  for (uint32_t s = 0; s < sim->kernel->streams.len; s++)
    sim->totals.instructions += sim->streams[s].instructions;
  for (uint32_t c = 0; c < sim->counter_count; c++)
    (void)advance_counter(sim, c, SL_NEVER, NULL);
  sl_occupancy_finish(&sim->occupancy);
}

/* An engine that has not ended, one at a wait before others; UINT32_MAX: all have. */
static uint32_t stopped_engine(const struct sl_simulator *sim)
{
  uint32_t stopped = UINT32_MAX;
  for (uint32_t e = 0; e < sim->engine_count; e++) {
    if (sim->engines[e].status == SL_ENGINE_WAITS)
      return e;
    if (sim->engines[e].status != SL_ENGINE_ENDED)
      stopped = e;
  }
  return stopped;
}

/* Everything that has dependences must have been executed. */
static void check_needs_end(struct sl_simulator *sim)
{
  for (uint32_t t = 0; t < sim->needs.code.presence.engines.len && sim->status == SLUICE_OK; t++)
    if (sl_needs_next(&sim->needs, t, sim->options->max_steps ? sim->options->max_steps : UINT64_MAX))
      stop_input(sim, SL_RULE_MISMATCH, SL_NONE, "a stream executes fewer instructions than in the kernel that gives the "
                                                 "dependences");
}

int sl_simulator_run(struct sl_simulator *sim)
{
  start_run(sim);
  while (sim->status == SLUICE_OK) {
    uint32_t engine = earliest(sim);
    uint64_t ring = sim->rings.next;
    if (engine == UINT32_MAX && ring == SL_NEVER)
      break;
    if (engine == UINT32_MAX || ring <= sim->engines[engine].wake) {
      sim->clock = ring;
      step_rings(sim);
      continue;
    }
    sim->limit = ring < sim->limit ? ring : sim->limit;
    sim->clock = sim->engines[engine].wake;
    take_turn(sim, engine);
  }
  uint32_t stopped = sim->status == SLUICE_OK ? stopped_engine(sim) : UINT32_MAX;
  if (stopped != UINT32_MAX)
    stop_deadlock(sim, stopped);
  if (sim->status == SLUICE_OK && sim->is_ideal)
    check_needs_end(sim);
  if (sim->status == SLUICE_OK)
    finish_run(sim);
  return sim->status;
}
