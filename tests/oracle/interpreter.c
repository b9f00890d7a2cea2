/* interpreter.c: the concurrent machine and its judge. See interpreter.h.
 *
 * Requires: both kernels verified; the synchronized one has the parameters of the original in the same order.
 * Cost: O(steps * streams), each step looks only at streams whose head may have changed.
 */
#include "oracle/interpreter.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { NO_INSTRUCTION = UINT32_MAX, KERNEL_RUNS = 2 };

const char *sl_verdict_name(enum sl_verdict verdict)
{
  static const char *const names[SL_VERDICT_COUNT] = { "ok",   "race",  "overwait",           "deadlock",
                                                       "leak", "order", "undefined register", "budget" };
  return verdict < SL_VERDICT_COUNT ? names[verdict] : "?";
}

struct in_flight {
  sl_index stmt;
  uint32_t instruction;
};

struct pipeline {
  struct in_flight *items;
  uint32_t head, len, cap; /* items[head..len) are in flight, oldest first */
};

enum stream_state { STREAM_RUNS, STREAM_LOADS, STREAM_MEETS, STREAM_ENDED };

struct machine {
  const struct sl_oracle_case *test;
  const struct sl_oracle_schedule *schedule;
  struct sl_oracle_outcome *outcome;
  struct sl_oracle_view view;
  const struct sl_kernel *kernel;
  struct sl_oracle_register *registers;
  uint32_t stream_count;
  uint32_t *instruction_of;    /* [stmt * stream_count + stream]: instruction of the reference */
  uint32_t *sem_of, *event_of; /* by name: index into kernel->sems / events */
  uint32_t *sems;
  uint32_t *first_event, *event_counts; /* elements of event e: event_counts[first_event[e] ..) */
  uint32_t event_total;
  uint32_t *retired; /* by instruction, in this run of the kernel */
  struct sl_oracle_walk walks[SL_ORACLE_MAX_STREAMS];
  struct pipeline pipelines[SL_ORACLE_MAX_STREAMS];
  enum stream_state states[SL_ORACLE_MAX_STREAMS];
  uint32_t positions[SL_ORACLE_MAX_STREAMS];       /* in the reference's sequence; by stream of this kernel */
  uint32_t original_stream[SL_ORACLE_MAX_STREAMS]; /* stream of the original kernel, or UINT32_MAX */
  uint32_t weights[SL_ORACLE_MAX_STREAMS];
  uint64_t stale; /* streams whose head must be looked at again */
  uint64_t ready; /* streams whose head can step */
  uint64_t random;
  uint32_t kernel_run;
};

static uint64_t draw(struct machine *machine)
{
  machine->random += 0x9e3779b97f4a7c15u;
  return sl_hash_mix(machine->random);
}

__attribute__((format(printf, 3, 4))) static void judge(struct machine *machine, enum sl_verdict verdict,
                                                        const char *format, ...)
{
  struct sl_oracle_outcome *outcome = machine->outcome;
  if (outcome->verdict != SL_VERDICT_OK)
    return; /* the first finding counts */
  outcome->verdict = verdict;
  int length = snprintf(outcome->text, sizeof outcome->text, "run %u, step %llu: ", machine->kernel_run + 1,
                        (unsigned long long)outcome->steps);
  va_list args;
  va_start(args, format);
  vsnprintf(outcome->text + length, sizeof outcome->text - (size_t)length, format, args);
  va_end(args);
}

static const char *text_of(const struct machine *machine, sl_name name)
{
  return sl_text(machine->view.program, name);
}

static const char *stream_text(const struct machine *machine, uint32_t stream)
{
  return text_of(machine, machine->kernel->streams.data[stream].name);
}

static bool is_participant(const struct machine *machine, uint32_t stream)
{
  return machine->view.participants >> stream & 1;
}

/* ---- setting up ---- */

static void match_instructions(struct machine *machine)
{
  const struct sl_kernel *kernel = machine->kernel;
  for (sl_index s = sl_walk_first(kernel, kernel->root); s; s = sl_walk_next(kernel, kernel->root, s)) {
    uint32_t *row = machine->instruction_of + (size_t)s * machine->stream_count;
    for (uint32_t stream = 0; stream < machine->stream_count; stream++)
      row[stream] = NO_INSTRUCTION;
    if (sl_stmt_get(kernel, s)->kind != SL_STMT_OP)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, s);
    uint8_t op_class = sl_opcode_table[op->code].op_class;
    bool is_work = op_class == SL_CLASS_DATAPATH || (op_class == SL_CLASS_LOAD && op->label);
    uint64_t streams = sl_oracle_op_streams(&machine->view, op);
    for (uint32_t stream = 0; stream < machine->stream_count; stream++) {
      if (!(streams >> stream & 1) || !(op->label || is_work))
        continue;
      row[stream] =
          sl_oracle_match(machine->test->reference, text_of(machine, op->label), stream_text(machine, stream));
      if (machine->original_stream[sl_oracle_issue_stream(kernel, stream)] == UINT32_MAX)
        row[stream] = NO_INSTRUCTION;
      if (row[stream] == NO_INSTRUCTION && is_work)
        judge(machine, SL_VERDICT_ORDER, "%s on %s is no instruction of the original kernel",
              text_of(machine, op->label), stream_text(machine, stream));
    }
  }
}

static void match_streams(struct machine *machine)
{
  const struct sl_oracle_view *original = &machine->test->reference->view;
  for (uint32_t stream = 0; stream < machine->stream_count; stream++) {
    machine->original_stream[stream] = UINT32_MAX;
    for (uint32_t o = 0; o < original->kernel->streams.len; o++) {
      if (!strcmp(stream_text(machine, stream), sl_text(original->program, original->kernel->streams.data[o].name)))
        machine->original_stream[stream] = o;
    }
  }
}

static void declare_counters(struct machine *machine)
{
  const struct sl_kernel *kernel = machine->kernel;
  machine->sem_of = sl_oracle_calloc(machine->view.name_count, sizeof *machine->sem_of);
  machine->event_of = sl_oracle_calloc(machine->view.name_count, sizeof *machine->event_of);
  machine->sems = sl_oracle_calloc(kernel->sems.len, sizeof *machine->sems);
  machine->first_event = sl_oracle_calloc(kernel->events.len, sizeof *machine->first_event);
  for (uint32_t s = 1; s < kernel->sems.len; s++)
    machine->sem_of[kernel->sems.data[s].name] = s;
  for (uint32_t e = 1; e < kernel->events.len; e++) {
    machine->event_of[kernel->events.data[e].name] = e;
    machine->first_event[e] = machine->event_total;
    machine->event_total += kernel->events.data[e].count;
  }
  machine->event_counts = sl_oracle_calloc(machine->event_total, sizeof *machine->event_counts);
}

static void reset_semaphores(struct machine *machine)
{
  for (uint32_t s = 1; s < machine->kernel->sems.len; s++)
    machine->sems[s] = machine->kernel->sems.data[s].initial;
}

/* Work of one stream that nobody else can see: executed as part of the step before it. */
static void settle(struct machine *machine, uint32_t stream)
{
  struct sl_oracle_walk *walk = &machine->walks[stream];
  const struct sl_kernel *kernel = machine->kernel;
  while (walk->stmt && !walk->error && sl_stmt_get(kernel, walk->stmt)->kind == SL_STMT_OP) {
    const struct sl_op *op = sl_stmt_op(kernel, walk->stmt);
    if (sl_opcode_table[op->code].op_class != SL_CLASS_REGISTER || op->wait_count || op->inc_count || op->set_count)
      break;
    sl_oracle_register_op(walk, stream, op);
    if (!walk->error)
      sl_oracle_walk_advance(walk);
  }
  if (walk->error == SL_WALK_BUDGET)
    judge(machine, SL_VERDICT_BUDGET, "%s passes too many statements", stream_text(machine, stream));
  else if (walk->error)
    judge(machine, SL_VERDICT_UNDEFINED, "%s: %s%s", stream_text(machine, stream),
          walk->error == SL_WALK_UNDEFINED ? "undefined register %" : "arithmetic fails",
          walk->error == SL_WALK_UNDEFINED ? text_of(machine, walk->culprit) : "");
  machine->states[stream] = walk->stmt ? STREAM_RUNS : STREAM_ENDED;
  machine->stale |= (uint64_t)1 << stream;
}

static void start_kernel(struct machine *machine)
{
  size_t registers = (size_t)machine->stream_count * machine->view.name_count;
  memset(machine->registers, 0, registers * sizeof *machine->registers);
  memset(machine->retired, 0, machine->test->reference->instruction_count * sizeof *machine->retired);
  memset(machine->event_counts, 0, machine->event_total * sizeof *machine->event_counts);
  for (uint32_t stream = 0; stream < machine->stream_count; stream++) {
    machine->positions[stream] = 0;
    machine->pipelines[stream].head = machine->pipelines[stream].len = 0;
    machine->weights[stream] = 1u << draw(machine) % 7;
    machine->states[stream] = STREAM_ENDED;
    if (!is_participant(machine, stream))
      continue;
    sl_oracle_walk_start(&machine->walks[stream]);
    settle(machine, stream);
  }
}

static void machine_init(struct machine *machine, struct sl_oracle_outcome *outcome, const struct sl_oracle_case *test,
                         const struct sl_oracle_schedule *schedule)
{
  memset(machine, 0, sizeof *machine);
  memset(outcome, 0, sizeof *outcome);
  machine->test = test;
  machine->schedule = schedule;
  machine->outcome = outcome;
  machine->kernel = test->kernel;
  machine->random = schedule->seed;
  bool fits = sl_oracle_view_init(&machine->view, test->program, test->kernel);
  assert(fits && test->kernel->params.len == test->reference->view.kernel->params.len);
  (void)fits;
  machine->stream_count = test->kernel->streams.len;
  machine->registers = sl_oracle_registers_new(&machine->view);
  machine->retired = sl_oracle_calloc(test->reference->instruction_count, sizeof *machine->retired);
  machine->instruction_of =
      sl_oracle_calloc((size_t)test->kernel->stmts.len * machine->stream_count, sizeof *machine->instruction_of);
  declare_counters(machine);
  reset_semaphores(machine);
  match_streams(machine);
  match_instructions(machine);
  for (uint32_t stream = 0; stream < machine->stream_count; stream++)
    sl_oracle_walk_init(&machine->walks[stream], &machine->view, (uint64_t)1 << stream, &test->reference->inputs,
                        machine->registers);
}

static void machine_free(struct machine *machine)
{
  for (uint32_t stream = 0; stream < machine->stream_count; stream++) {
    sl_oracle_walk_free(&machine->walks[stream]);
    free(machine->pipelines[stream].items);
  }
  sl_oracle_view_free(&machine->view);
  free(machine->registers);
  free(machine->retired);
  free(machine->instruction_of);
  free(machine->sem_of);
  free(machine->event_of);
  free(machine->sems);
  free(machine->first_event);
  free(machine->event_counts);
}

/* ---- waits and dependences ---- */

static uint32_t *event_counter(struct machine *machine, uint32_t stream, sl_name name, sl_index index)
{
  uint32_t event = machine->event_of[name];
  int64_t element = index ? sl_oracle_eval(&machine->walks[stream], stream, index) : 0;
  if (element < 0 || element >= machine->kernel->events.data[event].count) {
    judge(machine, SL_VERDICT_UNDEFINED, "event %s has no element %lld", text_of(machine, name), (long long)element);
    element = 0;
  }
  return &machine->event_counts[machine->first_event[event] + (uint32_t)element];
}

static uint32_t threshold(struct machine *machine, uint32_t stream, const struct sl_gate *gate)
{
  struct sl_oracle_walk *walk = &machine->walks[stream];
  switch (gate->threshold) {
  case SL_THRESHOLD_INT: return (uint32_t)gate->value;
  case SL_THRESHOLD_REG: return sl_oracle_register_value(walk, stream, (sl_name)gate->value);
  default: return (uint32_t)walk->values[gate->value];
  }
}

static bool gate_open(struct machine *machine, uint32_t stream, const struct sl_gate *gate)
{
  if (gate->kind == SL_GATE_EVENT)
    return *event_counter(machine, stream, gate->name, gate->event_index) > 0;
  uint32_t value = machine->sems[machine->sem_of[gate->name]], wanted = threshold(machine, stream, gate);
  return gate->equal ? value == wanted : value >= wanted;
}

/* The first gate that is shut, or NULL. */
static const struct sl_gate *shut_gate(struct machine *machine, uint32_t stream, const struct sl_op *op)
{
  for (uint32_t w = op->first_wait; w < op->first_wait + op->wait_count; w++) {
    const struct sl_gate *gate = &machine->kernel->waits.data[w];
    if (!gate_open(machine, stream, gate))
      return gate;
  }
  return NULL;
}

/* The first dependence of the stream's next instance that is not satisfied yet, or NULL. */
static const struct sl_oracle_dep *unmet_dep(const struct machine *machine, uint32_t issue, uint32_t instruction)
{
  const struct sl_oracle_reference *reference = machine->test->reference;
  const struct sl_oracle_sequence *sequence = &reference->sequences[machine->original_stream[issue]];
  uint32_t position = machine->positions[issue];
  if (position >= sequence->len || sequence->instances[position].instruction != instruction)
    return NULL; /* found out when it issues */
  uint32_t first_need = sequence->instances[position].first_need;
  const struct sl_oracle_instruction *consumer = &reference->instructions[instruction];
  for (uint32_t d = 0; d < consumer->dep_count; d++) {
    const struct sl_oracle_dep *dep = &reference->deps[consumer->first_dep + d];
    if (!dep->free && machine->retired[dep->producer] < reference->needs[first_need + d])
      return dep;
  }
  return NULL;
}

static bool drained(const struct machine *machine, uint32_t issue)
{
  for (uint32_t stream = 0; stream < machine->stream_count; stream++) {
    const struct pipeline *pipeline = &machine->pipelines[stream];
    if (sl_oracle_issue_stream(machine->kernel, stream) == issue && pipeline->head < pipeline->len)
      return false;
  }
  return true;
}

/* The stream an op at the head of `issue` retires on: of a multi-stream op, the one issued there. */
static uint32_t retire_stream(const struct machine *machine, uint32_t issue, const struct sl_op *op)
{
  uint64_t streams = sl_oracle_op_streams(&machine->view, op);
  if (streams >> issue & 1)
    return issue;
  for (uint32_t stream = 0; stream < machine->stream_count; stream++) {
    if ((streams >> stream & 1) && sl_oracle_issue_stream(machine->kernel, stream) == issue)
      return stream;
  }
  assert(false);
  return issue;
}

static void compare_with_reference(struct machine *machine, uint32_t issue, uint32_t instruction,
                                   const struct sl_gate *shut)
{
  const struct sl_oracle_reference *reference = machine->test->reference;
  const struct sl_oracle_dep *unmet = unmet_dep(machine, issue, instruction);
  const char *label = sl_oracle_label(reference, instruction), *on = stream_text(machine, issue);
  if (unmet && !shut)
    judge(machine, SL_VERDICT_RACE, "%s on %s may issue before %s has retired (distance %u; %u retired)", label, on,
          sl_oracle_label(reference, unmet->producer), unmet->k, machine->retired[unmet->producer]);
  else if (shut && !unmet && machine->test->exact)
    judge(machine, SL_VERDICT_OVERWAIT, "%s on %s waits for %s >= %u (it is %u) with every dependence satisfied", label,
          on, text_of(machine, shut->name), shut->kind == SL_GATE_SEM ? threshold(machine, issue, shut) : 1,
          shut->kind == SL_GATE_SEM ? machine->sems[machine->sem_of[shut->name]] : 0);
}

/* Whether the head of a stream can step; judges its waits on the way. */
static bool head_ready(struct machine *machine, uint32_t stream)
{
  if (machine->states[stream] != STREAM_RUNS)
    return false;
  sl_index s = machine->walks[stream].stmt;
  if (sl_stmt_get(machine->kernel, s)->kind != SL_STMT_OP)
    return drained(machine, stream);
  const struct sl_op *op = sl_stmt_op(machine->kernel, s);
  const struct sl_gate *shut = shut_gate(machine, stream, op);
  uint32_t retires_on = retire_stream(machine, stream, op);
  uint32_t instruction = machine->instruction_of[(size_t)s * machine->stream_count + retires_on];
  if (machine->walks[stream].error)
    judge(machine, SL_VERDICT_UNDEFINED, "%s waits for an undefined register", stream_text(machine, stream));
  if (instruction != NO_INSTRUCTION)
    compare_with_reference(machine, stream, instruction, shut);
  return !shut && (sl_opcode_table[op->code].op_class != SL_CLASS_DRAIN || drained(machine, stream));
}

static void refresh(struct machine *machine)
{
  for (uint32_t stream = 0; stream < machine->stream_count; stream++) {
    uint64_t bit = (uint64_t)1 << stream;
    if (!(machine->stale & bit))
      continue;
    machine->ready = head_ready(machine, stream) ? machine->ready | bit : machine->ready & ~bit;
  }
  machine->stale = 0;
}

/* ---- steps ---- */

static void apply_updates(struct machine *machine, uint32_t issue, const struct sl_op *op)
{
  for (uint32_t i = op->first_inc; i < op->first_inc + op->inc_count; i++)
    machine->sems[machine->sem_of[machine->kernel->incs.data[i].sem]] += machine->kernel->incs.data[i].by;
  for (uint32_t e = op->first_set; e < op->first_set + op->set_count; e++)
    ++*event_counter(machine, issue, machine->kernel->sets.data[e].event, machine->kernel->sets.data[e].index);
  machine->stale = UINT64_MAX;
}

static void take_events(struct machine *machine, uint32_t stream, const struct sl_op *op)
{
  for (uint32_t w = op->first_wait; w < op->first_wait + op->wait_count; w++) {
    const struct sl_gate *gate = &machine->kernel->waits.data[w];
    if (gate->kind == SL_GATE_EVENT)
      --*event_counter(machine, stream, gate->name, gate->event_index);
  }
}

/* The instance that issues must be the one the reference has next on this stream. */
static void follow_reference(struct machine *machine, uint32_t issue, uint32_t instruction)
{
  const struct sl_oracle_reference *reference = machine->test->reference;
  const struct sl_oracle_sequence *sequence = &reference->sequences[machine->original_stream[issue]];
  uint32_t position = machine->positions[issue]++;
  if (position >= sequence->len)
    judge(machine, SL_VERDICT_ORDER, "%s on %s executes more often than in the original",
          sl_oracle_label(reference, instruction), stream_text(machine, issue));
  else if (sequence->instances[position].instruction != instruction)
    judge(machine, SL_VERDICT_ORDER, "%s on %s executes where the original has %s",
          sl_oracle_label(reference, instruction), stream_text(machine, issue),
          sl_oracle_label(reference, sequence->instances[position].instruction));
}

static void enter_pipeline(struct machine *machine, uint32_t stream, sl_index stmt, uint32_t instruction)
{
  struct pipeline *pipeline = &machine->pipelines[stream];
  if (pipeline->head == pipeline->len)
    pipeline->head = pipeline->len = 0;
  pipeline->items = sl_oracle_grow(pipeline->items, pipeline->len, &pipeline->cap, sizeof *pipeline->items);
  pipeline->items[pipeline->len++] = (struct in_flight){ stmt, instruction };
}

static void go_on(struct machine *machine, uint32_t stream)
{
  sl_oracle_walk_advance(&machine->walks[stream]);
  settle(machine, stream);
}

static void check_run_complete(struct machine *machine)
{
  const struct sl_oracle_reference *reference = machine->test->reference;
  for (uint32_t stream = 0; stream < machine->stream_count; stream++) {
    uint32_t original = machine->original_stream[stream];
    if (original != UINT32_MAX && machine->positions[stream] != reference->sequences[original].len)
      judge(machine, SL_VERDICT_ORDER, "%s executed %u instructions, %u in the original", stream_text(machine, stream),
            machine->positions[stream], reference->sequences[original].len);
  }
}

/* Every stream stands, drained, at a barrier or at the end of the kernel: which must be the same one. */
static void meet(struct machine *machine)
{
  sl_index at = SL_NONE;
  for (uint32_t stream = 0; stream < machine->stream_count; stream++) {
    if (!is_participant(machine, stream))
      continue;
    sl_index here = machine->walks[stream].stmt;
    if (at && here != at)
      judge(machine, SL_VERDICT_ORDER, "streams meet at different barriers");
    at = here;
  }
  enum sl_stmt_kind kind = (enum sl_stmt_kind)sl_stmt_get(machine->kernel, at)->kind;
  if (kind != SL_STMT_BARRIER)
    reset_semaphores(machine);
  if (kind == SL_STMT_EPILOGUE) {
    check_run_complete(machine);
    if (++machine->kernel_run < KERNEL_RUNS)
      start_kernel(machine);
    return;
  }
  for (uint32_t stream = 0; stream < machine->stream_count; stream++) {
    if (is_participant(machine, stream))
      go_on(machine, stream);
  }
}

/* A kernel without epilogue ended: the next run starts when every stream has ended, with the semaphores as they are.
 * */
static void end_without_epilogue(struct machine *machine)
{
  check_run_complete(machine);
  for (uint32_t s = 1; s < machine->kernel->sems.len; s++) {
    const struct sl_sem *sem = &machine->kernel->sems.data[s];
    if (machine->sems[s] != sem->initial)
      judge(machine, SL_VERDICT_LEAK, "semaphore %s ends at %u, declared %u", text_of(machine, sem->name),
            machine->sems[s], sem->initial);
  }
  if (++machine->kernel_run < KERNEL_RUNS)
    start_kernel(machine);
}

static bool all_in_state(const struct machine *machine, enum stream_state state)
{
  for (uint32_t stream = 0; stream < machine->stream_count; stream++) {
    if (is_participant(machine, stream) && machine->states[stream] != state)
      return false;
  }
  return true;
}

static void step_op(struct machine *machine, uint32_t stream, sl_index s)
{
  const struct sl_op *op = sl_stmt_op(machine->kernel, s);
  struct sl_oracle_walk *walk = &machine->walks[stream];
  uint32_t retires_on = retire_stream(machine, stream, op);
  uint32_t instruction = machine->instruction_of[(size_t)s * machine->stream_count + retires_on];
  take_events(machine, stream, op);
  if (instruction != NO_INSTRUCTION)
    follow_reference(machine, stream, instruction);
  switch (sl_opcode_table[op->code].op_class) {
  case SL_CLASS_REGISTER:
    sl_oracle_register_op(walk, stream, op);
    apply_updates(machine, stream, op);
    break;
  case SL_CLASS_SEMAPHORE: {
    const struct sl_operand *operands = machine->kernel->operands.data + op->first_operand;
    machine->sems[machine->sem_of[operands[0].value]] = sl_oracle_operand_value(walk, stream, &operands[1]);
    apply_updates(machine, stream, op);
    break;
  }
  case SL_CLASS_DRAIN: apply_updates(machine, stream, op); break;
  case SL_CLASS_LOAD:
    enter_pipeline(machine, retires_on, s, instruction);
    machine->states[stream] = STREAM_LOADS;
    return;
  default: enter_pipeline(machine, retires_on, s, instruction); break;
  }
  go_on(machine, stream);
}

static void step(struct machine *machine, uint32_t stream)
{
  sl_index s = machine->walks[stream].stmt;
  machine->stale |= (uint64_t)1 << stream;
  if (sl_stmt_get(machine->kernel, s)->kind == SL_STMT_OP) {
    step_op(machine, stream, s);
    return;
  }
  machine->states[stream] = STREAM_MEETS;
  if (all_in_state(machine, STREAM_MEETS))
    meet(machine);
}

static void retire(struct machine *machine, uint32_t stream)
{
  struct pipeline *pipeline = &machine->pipelines[stream];
  struct in_flight item = pipeline->items[pipeline->head++];
  const struct sl_op *op = sl_stmt_op(machine->kernel, item.stmt);
  uint32_t issue = sl_oracle_issue_stream(machine->kernel, stream);
  if (item.instruction != NO_INSTRUCTION)
    machine->retired[item.instruction]++;
  apply_updates(machine, issue, op);
  if (op->code == SL_OP_REG_LOAD) {
    sl_oracle_register_op(&machine->walks[issue], issue, op);
    go_on(machine, issue);
  }
}

/* ---- schedules ---- */

static uint64_t busy_pipelines(const struct machine *machine)
{
  uint64_t mask = 0;
  for (uint32_t stream = 0; stream < machine->stream_count; stream++) {
    if (machine->pipelines[stream].head < machine->pipelines[stream].len)
      mask |= (uint64_t)1 << stream;
  }
  return mask;
}

/* One of the streams in the two sets, by weight; *retires says from which set. */
static uint32_t pick(struct machine *machine, uint64_t issues, uint64_t retirements, bool *retires)
{
  bool weighted = machine->schedule->mode == SL_SCHEDULE_WEIGHTED;
  uint64_t total = 0;
  for (uint32_t i = 0; i < 2 * machine->stream_count; i++) {
    uint32_t stream = i / 2;
    if ((i % 2 ? retirements : issues) >> stream & 1)
      total += weighted ? machine->weights[i % 2 ? machine->stream_count - 1 - stream : stream] : 1;
  }
  uint64_t at = draw(machine) % total;
  for (uint32_t i = 0; i < 2 * machine->stream_count; i++) {
    uint32_t stream = i / 2;
    if (!((i % 2 ? retirements : issues) >> stream & 1))
      continue;
    uint64_t weight = weighted ? machine->weights[i % 2 ? machine->stream_count - 1 - stream : stream] : 1;
    if (at < weight) {
      *retires = i % 2;
      return stream;
    }
    at -= weight;
  }
  assert(false);
  return 0;
}

/* Takes out what the schedule puts off while anything else can step. */
static void restrict_choice(const struct machine *machine, uint64_t *issues, uint64_t *retirements)
{
  uint64_t victim = (uint64_t)1 << machine->schedule->victim;
  switch (machine->schedule->mode) {
  case SL_SCHEDULE_LAZY: *retirements = *issues ? 0 : *retirements; break;
  case SL_SCHEDULE_EAGER: *issues = *retirements ? 0 : *issues; break;
  case SL_SCHEDULE_HOLD_RETIRE:
    if (*issues || (*retirements & ~victim))
      *retirements &= ~victim;
    break;
  case SL_SCHEDULE_HOLD_ISSUE:
    if (*retirements || (*issues & ~victim))
      *issues &= ~victim;
    break;
  default: break;
  }
}

static void report_deadlock(struct machine *machine)
{
  char stuck[240] = "";
  size_t length = 0;
  for (uint32_t stream = 0; stream < machine->stream_count; stream++) {
    sl_index s = machine->walks[stream].stmt;
    if (!is_participant(machine, stream) || machine->states[stream] == STREAM_ENDED || length + 60 > sizeof stuck)
      continue;
    bool is_op = sl_stmt_get(machine->kernel, s)->kind == SL_STMT_OP;
    const struct sl_gate *gate = is_op ? shut_gate(machine, stream, sl_stmt_op(machine->kernel, s)) : NULL;
    int added = snprintf(stuck + length, sizeof stuck - length, "%s %s at %.20s waits for %.20s >= %u",
                         length ? "," : "", stream_text(machine, stream),
                         is_op ? text_of(machine, sl_stmt_op(machine->kernel, s)->label) : "barrier",
                         gate ? text_of(machine, gate->name) : "others",
                         gate && gate->kind == SL_GATE_SEM ? threshold(machine, stream, gate) : 1);
    length = added > 0 && (size_t)added < sizeof stuck - length ? length + (size_t)added : sizeof stuck - 1;
  }
  judge(machine, SL_VERDICT_DEADLOCK, "nothing can step:%s", stuck);
}

static void take_step(struct machine *machine)
{
  refresh(machine);
  uint64_t issues = machine->ready, retirements = busy_pipelines(machine);
  if (machine->outcome->verdict != SL_VERDICT_OK)
    return;
  if (!issues && !retirements) {
    if (all_in_state(machine, STREAM_ENDED))
      end_without_epilogue(machine);
    else
      report_deadlock(machine);
    return;
  }
  restrict_choice(machine, &issues, &retirements);
  bool retires = false;
  uint32_t stream = pick(machine, issues, retirements, &retires);
  if (retires)
    retire(machine, stream);
  else
    step(machine, stream);
  if (++machine->outcome->steps > machine->test->step_limit)
    judge(machine, SL_VERDICT_BUDGET, "more than %llu steps", (unsigned long long)machine->test->step_limit);
}

void sl_oracle_run(struct sl_oracle_outcome *outcome, const struct sl_oracle_case *test,
                   const struct sl_oracle_schedule *schedule)
{
  struct machine *machine = sl_oracle_calloc(1, sizeof *machine);
  machine_init(machine, outcome, test, schedule);
  if (outcome->verdict == SL_VERDICT_OK)
    start_kernel(machine);
  while (outcome->verdict == SL_VERDICT_OK && machine->kernel_run < KERNEL_RUNS)
    take_step(machine);
  machine_free(machine);
  free(machine);
}
