/* explore.c: see explore.h.
 *
 * First the engines' runs are traced, then the needs are turned into places in the streams, then the states are visited
 * depth first. A state is an array of words: positions of the engines, retired counts of the streams, values of the
 * objects (semaphores, then events element by element).
 */
#include "oracle/explore.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

const char *sl_fault_name(enum sl_fault_kind kind)
{
  static const char *const names[SL_FAULT_KINDS] = { "race", "deadlock", "leak", "order" };
  return names[kind];
}

enum action_kind {
  ACTION_ISSUE,  /* enters a pipeline */
  ACTION_LOADED, /* behind a load: goes on when it has retired */
  ACTION_SET,    /* sem_set */
  ACTION_DRAIN,
  ACTION_CONTROL, /* a register operation that waits */
  ACTION_MEET,
  ACTION_MEET_RESET
};

struct gate {
  uint32_t object, threshold;
  bool equal, takes; /* takes: an event */
};

struct update {
  uint32_t object, by;
};

struct need {
  uint32_t stream, ordinal; /* as many instructions must have retired there */
  uint32_t dep;             /* of the reference */
};

struct action {
  uint8_t kind;
  bool eager; /* see explore.h, `reduce` */
  sl_index stmt;
  uint32_t stream, ordinal; /* ISSUE, LOADED: where it retires, and as which one, from 1 */
  uint32_t object, value;   /* SET */
  uint32_t first_gate, gate_count, first_update, update_count, first_need, need_count;
  uint32_t instance; /* ISSUE: place in the engine's sequence of the reference + 1 */
};

/* A growing array of actions, or of indices of actions. */
struct trace {
  struct action *actions;
  uint32_t len, cap;
  uint32_t instances; /* of the reference, met so far */
};

struct pipeline {
  uint32_t *engines, *positions; /* of the action that is the n-th on the stream, n from 0 */
  bool *visible;                 /* its retirement can be seen */
  uint32_t len, cap;
};

/* Where the instances of an instruction of the reference are: ordinals on its stream. */
struct places {
  uint32_t stream, *ordinals, len, cap;
};

struct explorer {
  struct sl_explored *out;
  const struct sl_explore_options *options;
  const struct sl_oracle_reference *reference;
  const struct sl_kernel *kernel;
  struct sl_oracle_view view;
  struct sl_oracle_register *registers;
  uint32_t stream_count, object_count, sem_count;
  uint32_t *sem_of, *first_element; /* by name; by event */
  uint32_t *event_of;
  uint32_t original_stream[SL_ORACLE_MAX_STREAMS];
  struct trace traces[SL_ORACLE_MAX_STREAMS]; /* by engine's stream */
  struct pipeline pipelines[SL_ORACLE_MAX_STREAMS];
  struct places *places; /* by instruction of the reference */
  struct gate *gates;
  uint32_t gate_len, gate_cap;
  struct update *updates;
  uint32_t update_len, update_cap;
  struct need *needs;
  uint32_t need_len, need_cap;
  uint64_t *waiting; /* by object: engines that wait for it */
  bool *takes_back;  /* by object: its value can be taken back, or an `==` waits for it */
  /* states */
  uint32_t width, state_count, state_cap;
  uint32_t *words; /* state_count * width */
  uint32_t *parents, *steps;
  uint32_t *table, table_size; /* state + 1; a power of two */
  uint32_t *pending, pending_len, pending_cap;
  uint32_t *now; /* the state being expanded */
};

static uint64_t bit(uint32_t stream)
{
  return (uint64_t)1 << stream;
}

static const char *text_of(const struct explorer *x, sl_name name)
{
  return sl_text(x->view.program, name);
}

static const char *stream_text(const struct explorer *x, uint32_t stream)
{
  return text_of(x, x->kernel->streams.data[stream].name);
}

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size, const char *format, ...)
{
  size_t length = strlen(text);
  va_list args;
  va_start(args, format);
  vsnprintf(text + length, size - length, format, args);
  va_end(args);
}

static void describe_action(const struct explorer *x, const struct action *action, char *text, size_t size)
{
  static const char *const names[] = { "", "loaded", "sem_set", "drain", "register", "barrier", "barrier reset" };
  bool labelled =
      sl_stmt_get(x->kernel, action->stmt)->kind == SL_STMT_OP && sl_stmt_op(x->kernel, action->stmt)->label;
  append(text, size, "%s", labelled ? text_of(x, sl_stmt_op(x->kernel, action->stmt)->label) : names[action->kind]);
}

/* ---- tracing ---- */

static void declare_objects(struct explorer *x)
{
  const struct sl_kernel *kernel = x->kernel;
  x->sem_of = sl_oracle_calloc(x->view.name_count, sizeof *x->sem_of);
  x->event_of = sl_oracle_calloc(x->view.name_count, sizeof *x->event_of);
  x->first_element = sl_oracle_calloc(kernel->events.len, sizeof *x->first_element);
  for (uint32_t s = 1; s < kernel->sems.len; s++)
    x->sem_of[kernel->sems.data[s].name] = s - 1;
  x->sem_count = kernel->sems.len - 1;
  x->object_count = x->sem_count;
  for (uint32_t e = 1; e < kernel->events.len; e++) {
    x->event_of[kernel->events.data[e].name] = e;
    x->first_element[e] = x->object_count;
    x->object_count += kernel->events.data[e].count;
  }
  x->waiting = sl_oracle_calloc(x->object_count, sizeof *x->waiting);
  x->takes_back = sl_oracle_calloc(x->object_count, sizeof *x->takes_back);
}

static uint32_t event_object(struct explorer *x, struct sl_oracle_walk *walk, uint32_t stream, sl_name name,
                             sl_index index)
{
  uint32_t event = x->event_of[name];
  int64_t element = index ? sl_oracle_eval(walk, stream, index) : 0;
  if (element >= 0 && element < x->kernel->events.data[event].count)
    return x->first_element[event] + (uint32_t)element;
  x->out->meaningless = true;
  return x->first_element[event];
}

static uint32_t threshold_of(struct sl_oracle_walk *walk, uint32_t stream, const struct sl_gate *gate)
{
  switch (gate->threshold) {
  case SL_THRESHOLD_INT: return (uint32_t)gate->value;
  case SL_THRESHOLD_REG: return sl_oracle_register_value(walk, stream, (sl_name)gate->value);
  default: return (uint32_t)walk->values[gate->value];
  }
}

static void trace_gates(struct explorer *x, struct sl_oracle_walk *walk, uint32_t engine, const struct sl_op *op,
                        struct action *action)
{
  action->first_gate = x->gate_len;
  for (uint32_t w = op->first_wait; w < op->first_wait + op->wait_count; w++) {
    const struct sl_gate *from = &x->kernel->waits.data[w];
    if (x->options->deleted == w + 1)
      continue;
    struct gate gate = { .equal = from->equal, .takes = from->kind == SL_GATE_EVENT };
    if (gate.takes) {
      gate.object = event_object(x, walk, engine, from->name, from->event_index);
    } else {
      gate.object = x->sem_of[from->name];
      gate.threshold = threshold_of(walk, engine, from);
      if (x->options->lowered == w + 1)
        gate.threshold -= gate.threshold < x->options->by ? gate.threshold : x->options->by;
    }
    x->waiting[gate.object] |= bit(engine);
    x->takes_back[gate.object] |= gate.equal;
    x->gates = sl_oracle_grow(x->gates, x->gate_len, &x->gate_cap, sizeof *x->gates);
    x->gates[x->gate_len++] = gate;
  }
  action->gate_count = x->gate_len - action->first_gate;
}

static void add_update(struct explorer *x, uint32_t object, uint32_t by)
{
  x->updates = sl_oracle_grow(x->updates, x->update_len, &x->update_cap, sizeof *x->updates);
  x->updates[x->update_len++] = (struct update){ object, by };
}

static void trace_updates(struct explorer *x, struct sl_oracle_walk *walk, uint32_t engine, const struct sl_op *op,
                          struct action *action)
{
  action->first_update = x->update_len;
  for (uint32_t i = op->first_inc; i < op->first_inc + op->inc_count; i++)
    add_update(x, x->sem_of[x->kernel->incs.data[i].sem], x->kernel->incs.data[i].by);
  for (uint32_t i = op->first_set; i < op->first_set + op->set_count; i++) {
    const struct sl_event_set *set = &x->kernel->sets.data[i];
    add_update(x, event_object(x, walk, engine, set->event, set->index), 1);
  }
  action->update_count = x->update_len - action->first_update;
}

static void add_action(struct explorer *x, uint32_t engine, struct action action)
{
  struct trace *trace = &x->traces[engine];
  trace->actions = sl_oracle_grow(trace->actions, trace->len, &trace->cap, sizeof *trace->actions);
  trace->actions[trace->len++] = action;
  if (++x->out->actions > x->options->max_actions)
    x->out->too_big = true;
}

static void fault(struct explorer *x, enum sl_fault_kind kind)
{
  x->out->faults |= 1u << kind;
}

/* Whether this instance of a labelled instruction is the one that the reference has next; notes where it is. */
static void trace_instance(struct explorer *x, uint32_t engine, struct action *action)
{
  const struct sl_oracle_reference *reference = x->reference;
  const struct sl_op *op = sl_stmt_op(x->kernel, action->stmt);
  uint32_t original = x->original_stream[engine];
  uint32_t instruction = UINT32_MAX;
  if (op->label && original != UINT32_MAX)
    instruction = sl_oracle_match(reference, text_of(x, op->label), stream_text(x, action->stream));
  if (instruction == UINT32_MAX)
    return;
  const struct sl_oracle_sequence *sequence = &reference->sequences[original];
  uint32_t position = x->traces[engine].instances++;
  if (position >= sequence->len || sequence->instances[position].instruction != instruction) {
    fault(x, SL_FAULT_ORDER);
    return;
  }
  action->instance = position + 1;
  struct places *places = &x->places[instruction];
  places->stream = action->stream;
  places->ordinals = sl_oracle_grow(places->ordinals, places->len, &places->cap, sizeof *places->ordinals);
  places->ordinals[places->len++] = action->ordinal;
}

static void enter_pipeline(struct explorer *x, uint32_t engine, struct action *action)
{
  struct pipeline *pipeline = &x->pipelines[action->stream];
  uint32_t cap = pipeline->cap, cap2 = pipeline->cap;
  pipeline->engines = sl_oracle_grow(pipeline->engines, pipeline->len, &cap, sizeof *pipeline->engines);
  pipeline->visible = sl_oracle_grow(pipeline->visible, pipeline->len, &cap2, sizeof *pipeline->visible);
  pipeline->positions = sl_oracle_grow(pipeline->positions, pipeline->len, &pipeline->cap, sizeof *pipeline->positions);
  pipeline->engines[pipeline->len] = engine;
  pipeline->visible[pipeline->len] = action->update_count > 0;
  pipeline->positions[pipeline->len++] = x->traces[engine].len;
  action->ordinal = pipeline->len;
}

static uint32_t retire_stream(const struct explorer *x, uint32_t engine, const struct sl_op *op)
{
  uint64_t streams = sl_oracle_op_streams(&x->view, op);
  if (streams & bit(engine))
    return engine;
  uint32_t stream = 0;
  while (!(streams & bit(stream)) || sl_oracle_issue_stream(x->kernel, stream) != engine)
    stream++;
  return stream;
}

static void trace_op(struct explorer *x, struct sl_oracle_walk *walk, uint32_t engine, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(x->kernel, stmt);
  /* An empty list of operands may have no array behind it. */
  const struct sl_operand *operands = op->dst_count ? x->kernel->operands.data + op->first_operand : NULL;
  struct action action = { .kind = ACTION_ISSUE, .stmt = stmt, .stream = retire_stream(x, engine, op) };
  trace_gates(x, walk, engine, op, &action);
  trace_updates(x, walk, engine, op, &action);
  switch (sl_opcode_table[op->code].op_class) {
  case SL_CLASS_REGISTER:
    action.kind = ACTION_CONTROL;
    if (action.gate_count)
      add_action(x, engine, action);
    sl_oracle_register_op(walk, engine, op);
    return;
  case SL_CLASS_SEMAPHORE:
    action.kind = ACTION_SET;
    action.object = x->sem_of[operands[0].value];
    action.value = sl_oracle_operand_value(walk, engine, &operands[1]);
    x->takes_back[action.object] = true;
    break;
  case SL_CLASS_DRAIN: action.kind = ACTION_DRAIN; break;
  default:
    enter_pipeline(x, engine, &action);
    trace_instance(x, engine, &action);
    break;
  }
  add_action(x, engine, action);
  if (sl_opcode_table[op->code].op_class != SL_CLASS_LOAD)
    return;
  add_action(
      x, engine,
      (struct action){ .kind = ACTION_LOADED, .stmt = stmt, .stream = action.stream, .ordinal = action.ordinal });
  sl_oracle_register_op(walk, engine, op);
}

static void trace_engine(struct explorer *x, uint32_t engine)
{
  struct sl_oracle_walk walk;
  sl_oracle_walk_init(&walk, &x->view, bit(engine), &x->reference->inputs, x->registers);
  sl_oracle_walk_start(&walk);
  while (walk.stmt && !walk.error && !x->out->too_big) {
    enum sl_stmt_kind kind = (enum sl_stmt_kind)sl_stmt_get(x->kernel, walk.stmt)->kind;
    if (kind == SL_STMT_OP)
      trace_op(x, &walk, engine, walk.stmt);
    else
      add_action(
          x, engine,
          (struct action){ .kind = kind == SL_STMT_BARRIER ? ACTION_MEET : ACTION_MEET_RESET, .stmt = walk.stmt });
    if (!walk.error)
      sl_oracle_walk_advance(&walk);
  }
  x->out->too_big |= walk.error == SL_WALK_BUDGET;
  x->out->meaningless |= walk.error != SL_WALK_OK && walk.error != SL_WALK_BUDGET;
  sl_oracle_walk_free(&walk);
}

/* ---- needs ---- */

static void add_need(struct explorer *x, uint32_t dep, uint32_t count)
{
  const struct places *places = &x->places[x->reference->deps[dep].producer];
  if (count > places->len) { /* the producer never executes so often here */
    fault(x, SL_FAULT_ORDER);
    return;
  }
  uint32_t ordinal = places->ordinals[count - 1];
  x->pipelines[places->stream].visible[ordinal - 1] = true;
  x->needs = sl_oracle_grow(x->needs, x->need_len, &x->need_cap, sizeof *x->needs);
  x->needs[x->need_len++] = (struct need){ places->stream, ordinal, dep };
}

static void find_needs(struct explorer *x, uint32_t engine)
{
  const struct sl_oracle_reference *reference = x->reference;
  struct trace *trace = &x->traces[engine];
  for (uint32_t a = 0; a < trace->len; a++) {
    struct action *action = &trace->actions[a];
    action->first_need = x->need_len;
    if (!action->instance)
      continue;
    const struct sl_oracle_instance *instance =
        &reference->sequences[x->original_stream[engine]].instances[action->instance - 1];
    const struct sl_oracle_instruction *consumer = &reference->instructions[instance->instruction];
    for (uint32_t d = 0; d < consumer->dep_count; d++) {
      uint32_t dep = consumer->first_dep + d, count = reference->needs[instance->first_need + d];
      if (!reference->deps[dep].free && count)
        add_need(x, dep, count);
    }
    action->need_count = x->need_len - action->first_need;
  }
  uint32_t original = x->original_stream[engine];
  if (original != UINT32_MAX && trace->instances != reference->sequences[original].len)
    fault(x, SL_FAULT_ORDER);
}

/* Possible once, possible for good, and nobody else can tell whether it has been done. */
static bool is_eager(const struct explorer *x, const struct action *action)
{
  for (uint32_t g = action->first_gate; g < action->first_gate + action->gate_count; g++) {
    uint64_t waiting = x->waiting[x->gates[g].object];
    if (x->takes_back[x->gates[g].object] || (x->gates[g].takes && (waiting & (waiting - 1))))
      return false;
  }
  switch ((enum action_kind)action->kind) {
  case ACTION_ISSUE:
  case ACTION_LOADED:
  case ACTION_CONTROL: return true;
  case ACTION_DRAIN: return action->update_count == 0;
  default: return false;
  }
}

static void prepare(struct explorer *x)
{
  for (uint32_t stream = 0; stream < x->stream_count; stream++) {
    x->original_stream[stream] = UINT32_MAX;
    const struct sl_oracle_view *original = &x->reference->view;
    for (uint32_t o = 0; o < original->kernel->streams.len; o++) {
      if (!strcmp(stream_text(x, stream), sl_text(original->program, original->kernel->streams.data[o].name)))
        x->original_stream[stream] = o;
    }
  }
  for (uint32_t stream = 0; stream < x->stream_count; stream++) {
    if (x->view.participants & bit(stream))
      trace_engine(x, stream);
  }
  for (uint32_t stream = 0; stream < x->stream_count && !x->out->too_big && !x->out->meaningless; stream++) {
    if (x->view.participants & bit(stream))
      find_needs(x, stream);
  }
  for (uint32_t stream = 0; stream < x->stream_count; stream++) {
    for (uint32_t a = 0; a < x->traces[stream].len; a++)
      x->traces[stream].actions[a].eager = is_eager(x, &x->traces[stream].actions[a]);
  }
}

/* ---- states ---- */

static uint32_t *position_in(const struct explorer *x, uint32_t *state, uint32_t engine)
{
  (void)x;
  return &state[engine];
}

static uint32_t *retired_in(const struct explorer *x, uint32_t *state, uint32_t stream)
{
  return &state[x->stream_count + stream];
}

static uint32_t *object_in(const struct explorer *x, uint32_t *state, uint32_t object)
{
  return &state[2 * x->stream_count + object];
}

static uint64_t hash_of(const struct explorer *x, const uint32_t *state)
{
  uint64_t hash = 0;
  for (uint32_t w = 0; w < x->width; w++)
    hash = sl_hash_mix(hash ^ state[w]);
  return hash;
}

static void grow_table(struct explorer *x)
{
  free(x->table);
  x->table_size = x->table_size ? 2 * x->table_size : 1024;
  x->table = sl_oracle_calloc(x->table_size, sizeof *x->table);
  for (uint32_t s = 0; s < x->state_count; s++) {
    uint64_t at = hash_of(x, x->words + (size_t)s * x->width) & (x->table_size - 1);
    while (x->table[at])
      at = (at + 1) & (x->table_size - 1);
    x->table[at] = s + 1;
  }
}

/* Remembers a state, unless it is known, and that it must be expanded. */
static void reach(struct explorer *x, const uint32_t *state, uint32_t parent, uint32_t step)
{
  if (2 * x->state_count >= x->table_size)
    grow_table(x);
  uint64_t at = hash_of(x, state) & (x->table_size - 1);
  for (; x->table[at]; at = (at + 1) & (x->table_size - 1)) {
    if (!memcmp(x->words + (size_t)(x->table[at] - 1) * x->width, state, x->width * sizeof *state))
      return;
  }
  if (x->state_count >= x->options->max_states) {
    x->out->too_big = true;
    return;
  }
  uint32_t cap = x->state_cap, cap2 = x->state_cap;
  x->words = sl_oracle_grow(x->words, x->state_count, &cap, x->width * sizeof *x->words);
  x->parents = sl_oracle_grow(x->parents, x->state_count, &cap2, sizeof *x->parents);
  x->steps = sl_oracle_grow(x->steps, x->state_count, &x->state_cap, sizeof *x->steps);
  memcpy(x->words + (size_t)x->state_count * x->width, state, x->width * sizeof *state);
  x->parents[x->state_count] = parent;
  x->steps[x->state_count] = step;
  x->pending = sl_oracle_grow(x->pending, x->pending_len, &x->pending_cap, sizeof *x->pending);
  x->pending[x->pending_len++] = x->state_count;
  x->table[at] = ++x->state_count;
}

/* ---- steps ---- */

static const struct action *next_action(const struct explorer *x, uint32_t *state, uint32_t engine)
{
  uint32_t position = *position_in(x, state, engine);
  return position < x->traces[engine].len ? &x->traces[engine].actions[position] : NULL;
}

/* How many instructions of a stream have issued when its engine stands at a position. */
static uint32_t issued(const struct explorer *x, uint32_t *state, uint32_t stream)
{
  const struct pipeline *pipeline = &x->pipelines[stream];
  if (pipeline->len == 0)
    return 0;
  uint32_t position = *position_in(x, state, pipeline->engines[0]), count = *retired_in(x, state, stream);
  while (count < pipeline->len && pipeline->positions[count] < position)
    count++;
  return count;
}

static bool in_flight(const struct explorer *x, uint32_t *state, uint32_t stream)
{
  return issued(x, state, stream) > *retired_in(x, state, stream);
}

static bool drained(const struct explorer *x, uint32_t *state, uint32_t engine)
{
  for (uint32_t stream = 0; stream < x->stream_count; stream++) {
    if (sl_oracle_issue_stream(x->kernel, stream) == engine && in_flight(x, state, stream))
      return false;
  }
  return true;
}

static bool reached(const struct explorer *x, uint32_t value, uint32_t threshold)
{
  if (x->options->modular)
    return (value - threshold) >> 31 == 0;
  if (x->options->is_signed) /* the sign bit turned over makes it an unsigned comparison */
    return (value ^ 0x80000000u) >= (threshold ^ 0x80000000u);
  return value >= threshold;
}

static bool gates_open(const struct explorer *x, uint32_t *state, const struct action *action)
{
  for (uint32_t g = action->first_gate; g < action->first_gate + action->gate_count; g++) {
    const struct gate *gate = &x->gates[g];
    uint32_t value = *object_in(x, state, gate->object);
    bool open = gate->takes ? value > 0 : gate->equal ? value == gate->threshold : reached(x, value, gate->threshold);
    if (!open)
      return false;
  }
  return true;
}

static bool is_enabled(const struct explorer *x, uint32_t *state, uint32_t engine, const struct action *action)
{
  switch ((enum action_kind)action->kind) {
  case ACTION_MEET:
  case ACTION_MEET_RESET: return false; /* all together: see can_meet */
  case ACTION_LOADED: return *retired_in(x, state, action->stream) >= action->ordinal;
  case ACTION_DRAIN: return gates_open(x, state, action) && drained(x, state, engine);
  default: return gates_open(x, state, action);
  }
}

static void apply_updates(const struct explorer *x, uint32_t *state, const struct action *action)
{
  for (uint32_t u = action->first_update; u < action->first_update + action->update_count; u++)
    *object_in(x, state, x->updates[u].object) += x->updates[u].by;
}

/* A step's number, for the witness: engine or stream, and what it does. */
enum { STEP_ISSUE, STEP_RETIRE, STEP_MEET, STEP_KINDS };

static void take(struct explorer *x, uint32_t from, uint32_t engine, const struct action *action)
{
  uint32_t *state = x->now + x->width;
  memcpy(state, x->now, x->width * sizeof *state);
  ++*position_in(x, state, engine);
  for (uint32_t g = action->first_gate; g < action->first_gate + action->gate_count; g++) {
    if (x->gates[g].takes)
      --*object_in(x, state, x->gates[g].object);
  }
  if (action->kind == ACTION_SET)
    *object_in(x, state, action->object) = action->value;
  else if (action->kind != ACTION_ISSUE)
    apply_updates(x, state, action);
  reach(x, state, from, STEP_KINDS * engine + STEP_ISSUE);
}

static void retire(struct explorer *x, uint32_t from, uint32_t stream)
{
  uint32_t *state = x->now + x->width;
  memcpy(state, x->now, x->width * sizeof *state);
  const struct pipeline *pipeline = &x->pipelines[stream];
  uint32_t n = (*retired_in(x, state, stream))++;
  apply_updates(x, state, &x->traces[pipeline->engines[n]].actions[pipeline->positions[n]]);
  reach(x, state, from, STEP_KINDS * stream + STEP_RETIRE);
}

/* The barrier at which every engine stands, drained; NULL: not yet. */
static const struct action *can_meet(const struct explorer *x, uint32_t *state)
{
  const struct action *at = NULL;
  for (uint32_t engine = 0; engine < x->stream_count; engine++) {
    if (!(x->view.participants & bit(engine)))
      continue;
    const struct action *action = next_action(x, state, engine);
    if (!action || (action->kind != ACTION_MEET && action->kind != ACTION_MEET_RESET) ||
        (at && action->stmt != at->stmt) || !drained(x, state, engine))
      return NULL;
    at = action;
  }
  return at;
}

static void give_start_values(const struct explorer *x, uint32_t *state)
{
  for (uint32_t s = 0; s < x->sem_count; s++)
    *object_in(x, state, s) = x->kernel->sems.data[s + 1].initial;
}

static void meet(struct explorer *x, uint32_t from, const struct action *at)
{
  uint32_t *state = x->now + x->width;
  memcpy(state, x->now, x->width * sizeof *state);
  for (uint32_t engine = 0; engine < x->stream_count; engine++) {
    if (x->view.participants & bit(engine))
      ++*position_in(x, state, engine);
  }
  if (at->kind == ACTION_MEET_RESET)
    give_start_values(x, state);
  reach(x, state, from, STEP_MEET);
}

/* ---- faults ---- */

static void describe_path(const struct explorer *x, uint32_t to, char *text, size_t size)
{
  enum { LONGEST = 200 };
  uint32_t path[LONGEST], length = 0;
  for (uint32_t s = to; s && length < LONGEST; s = x->parents[s])
    path[length++] = s;
  append(text, size, " after:");
  while (length-- > 0) {
    uint32_t *before = x->words + (size_t)x->parents[path[length]] * x->width;
    uint32_t step = x->steps[path[length]], who = step / STEP_KINDS;
    if (step % STEP_KINDS == STEP_MEET) {
      append(text, size, " meet");
      continue;
    }
    append(text, size, step % STEP_KINDS == STEP_RETIRE ? " ~" : " ");
    const struct pipeline *pipeline = &x->pipelines[who];
    uint32_t n = *retired_in(x, before, who);
    describe_action(x,
                    step % STEP_KINDS == STEP_RETIRE ? &x->traces[pipeline->engines[n]].actions[pipeline->positions[n]]
                                                     : next_action(x, before, who),
                    text, size);
  }
}

/* Notes a fault of the state `at`; false when its kind is known already. */
static bool first_fault(struct explorer *x, enum sl_fault_kind kind)
{
  bool first = !(x->out->faults >> kind & 1);
  fault(x, kind);
  return first;
}

static void check_race(struct explorer *x, uint32_t at, const struct action *action)
{
  for (uint32_t n = action->first_need; n < action->first_need + action->need_count; n++) {
    const struct need *need = &x->needs[n];
    if (*retired_in(x, x->now, need->stream) >= need->ordinal || !first_fault(x, SL_FAULT_RACE))
      continue;
    char *text = x->out->text[SL_FAULT_RACE];
    describe_action(x, action, text, SL_EXPLORE_TEXT);
    append(text, SL_EXPLORE_TEXT, " can issue before %s (number %u on %s) has retired",
           sl_oracle_label(x->reference, x->reference->deps[need->dep].producer), need->ordinal,
           stream_text(x, need->stream));
    describe_path(x, at, text, SL_EXPLORE_TEXT);
  }
}

static void check_stop(struct explorer *x, uint32_t at)
{
  char *text;
  bool finished = true;
  for (uint32_t engine = 0; engine < x->stream_count; engine++)
    finished = finished && *position_in(x, x->now, engine) == x->traces[engine].len;
  if (!finished) {
    if (first_fault(x, SL_FAULT_DEADLOCK))
      describe_path(x, at, x->out->text[SL_FAULT_DEADLOCK], SL_EXPLORE_TEXT);
    return;
  }
  for (uint32_t o = 0; o < x->object_count; o++) {
    uint32_t value = *object_in(x, x->now, o);
    uint32_t wanted = o < x->sem_count ? x->kernel->sems.data[o + 1].initial : 0;
    if (value == wanted || !first_fault(x, SL_FAULT_LEAK))
      continue;
    text = x->out->text[SL_FAULT_LEAK];
    append(text, SL_EXPLORE_TEXT, "%s ends at %u",
           o < x->sem_count ? text_of(x, x->kernel->sems.data[o + 1].name) : "an event", value);
    describe_path(x, at, text, SL_EXPLORE_TEXT);
  }
}

/* ---- the search ---- */

static bool take_eager_step(struct explorer *x, uint32_t at)
{
  for (uint32_t engine = 0; engine < x->stream_count; engine++) {
    const struct action *action = next_action(x, x->now, engine);
    if (action && action->eager && is_enabled(x, x->now, engine, action)) {
      take(x, at, engine, action);
      return true;
    }
  }
  for (uint32_t stream = 0; stream < x->stream_count; stream++) {
    if (in_flight(x, x->now, stream) && !x->pipelines[stream].visible[*retired_in(x, x->now, stream)]) {
      retire(x, at, stream);
      return true;
    }
  }
  return false;
}

static void expand(struct explorer *x, uint32_t at)
{
  bool moved = false;
  memcpy(x->now, x->words + (size_t)at * x->width, x->width * sizeof *x->now);
  for (uint32_t engine = 0; engine < x->stream_count; engine++) {
    const struct action *action = next_action(x, x->now, engine);
    if (action && is_enabled(x, x->now, engine, action))
      check_race(x, at, action);
  }
  if (x->options->reduce && take_eager_step(x, at))
    return;
  for (uint32_t engine = 0; engine < x->stream_count; engine++) {
    const struct action *action = next_action(x, x->now, engine);
    if (!action || !is_enabled(x, x->now, engine, action))
      continue;
    take(x, at, engine, action);
    moved = true;
  }
  for (uint32_t stream = 0; stream < x->stream_count; stream++) {
    if (!in_flight(x, x->now, stream))
      continue;
    retire(x, at, stream);
    moved = true;
  }
  const struct action *barrier = can_meet(x, x->now);
  if (barrier)
    meet(x, at, barrier);
  else if (!moved)
    check_stop(x, at);
}

static void search(struct explorer *x)
{
  x->width = 2 * x->stream_count + x->object_count;
  x->now = sl_oracle_calloc(2 * (size_t)x->width, sizeof *x->now); /* and a scratch state behind it */
  give_start_values(x, x->now);
  reach(x, x->now, 0, STEP_MEET);
  while (x->pending_len && !x->out->too_big && !(x->out->faults & x->options->enough))
    expand(x, x->pending[--x->pending_len]);
  x->out->states = x->state_count;
}

static void explorer_free(struct explorer *x)
{
  for (uint32_t stream = 0; stream < x->stream_count; stream++) {
    free(x->traces[stream].actions);
    free(x->pipelines[stream].engines);
    free(x->pipelines[stream].positions);
    free(x->pipelines[stream].visible);
  }
  for (uint32_t i = 0; i < x->reference->instruction_count; i++)
    free(x->places[i].ordinals);
  void *blocks[] = { x->places,  x->sem_of,  x->event_of,   x->first_element, x->registers, x->gates, x->updates,
                     x->needs,   x->waiting, x->takes_back, x->words,         x->parents,   x->steps, x->table,
                     x->pending, x->now };
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
    free(blocks[b]);
  sl_oracle_view_free(&x->view);
  free(x);
}

void sl_oracle_explore(struct sl_explored *explored, const struct sl_oracle_reference *reference,
                       const sl_program *program, const struct sl_kernel *kernel,
                       const struct sl_explore_options *options)
{
  struct explorer *x = sl_oracle_calloc(1, sizeof *x);
  memset(explored, 0, sizeof *explored);
  x->out = explored;
  x->options = options;
  x->reference = reference;
  x->kernel = kernel;
  bool fits = sl_oracle_view_init(&x->view, program, kernel);
  assert(fits && kernel->params.len == reference->view.kernel->params.len);
  (void)fits;
  x->stream_count = kernel->streams.len;
  x->registers = sl_oracle_registers_new(&x->view);
  x->places = sl_oracle_calloc(reference->instruction_count, sizeof *x->places);
  declare_objects(x);
  prepare(x);
  if (!explored->too_big && !explored->meaningless && !(explored->faults >> SL_FAULT_ORDER & 1))
    search(x);
  explorer_free(x);
}
