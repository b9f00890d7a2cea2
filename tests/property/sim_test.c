/* sim_test: random kernels, synchronized by every strategy, through the simulator.
 *
 *   order     no instruction issues before what it depends on has retired, by the reference of tests/oracle, which shares no
 *             code with the simulator; for every strategy and for ideal synchronization
 *   ideal     is never slower than a strategy, when rings do not share bandwidth; with sharing, exceptions are listed (who starts
 *             earlier can hold up others) and may not be more than 2 % of the comparisons in which sharing changes a latency
 *   sums      the parts of the critical path are the latency, no stream is busy longer than the run, and a trace changes nothing
 *   memory    what a trace says of the buffers in use is what their definition gives for the instructions in flight
 *   waiting   a simulation whose semaphores take longer to be seen is not faster
 *
 * First on the generic targets, where engines have no contention and transfers little, then on trn2 with large transfers on several
 * queues. And `ideal` for the kernels of bench/table2 in full size.
 */
#include <sluice/sluice.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/eval.h"
#include "oracle/reference.h"
#include "property/campaign.h"
#include "property/judge.h"

enum { OUTCOMES = 4096, INSTANCES = 3000, MOST_VALUES = 4 };

static const struct strategy {
  enum sluice_alloc alloc;
  const char *name;
} strategies[] = { { SLUICE_ALLOC_SHADOW, "shadow" },
                   { SLUICE_ALLOC_PER_LOOP, "per-loop" },
                   { SLUICE_ALLOC_PER_INSTRUCTION, "per-instruction" },
                   { SLUICE_ALLOC_PER_ENGINE, "per-engine" },
                   { SLUICE_ALLOC_BARRIER, "barrier" },
                   { SLUICE_ALLOC_UNROLL, "unroll" } };
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

/* A strategy that is faster than ideal synchronization when transfers share the bandwidth. */
struct exception {
  uint64_t seed, strategy_ticks, ideal_ticks;
  const char *strategy;
};
enum { MOST_EXCEPTIONS = 1000 };

struct campaign_state {
  const sluice_targets *targets;
  const char *name;
  uint64_t kernels, simulated, instances, needs, usages, compared, contended;
  bool wants_contention; /* else the campaign has shown nothing */
  struct exception exceptions[MOST_EXCEPTIONS];
  uint64_t exception_count;
};

/* An execution, as the trace tells it. */
struct flight {
  uint64_t instance, start, end;
  uint32_t stream;
  char name[48], iteration[80];
};

/* How much of a buffer is in use from a time on. */
struct usage {
  uint64_t time, bytes;
};

struct usages {
  struct usage *list;
  size_t count, room;
};
enum { MOST_BUFFERS = 32 };

struct recording {
  struct flight *flights;
  uint32_t count, room;
  char streams[64][32];
  size_t stream_count;
  char buffers[MOST_BUFFERS][32];
  size_t buffer_count;
  struct usages usages[MOST_BUFFERS];
  uint64_t last_usage; /* time of the latest change */
  bool has_order;      /* changes of all buffers came in order of time */
};

struct subject {
  struct campaign_state *state;
  struct sl_failure *failure;
  uint64_t seed;
  struct sl_case test;
  sluice_input inputs[2 * SL_JUDGE_MAX_INPUTS];
  size_t input_count;
  int64_t outcomes[SL_JUDGE_MAX_INPUTS][OUTCOMES];
};

/* ---- inputs ---- */

static void give_inputs(struct subject *subject)
{
  const struct sl_kernel *kernel = sl_case_kernel(subject->test.original);
  const sluice_program *program = subject->test.original;
  subject->input_count = 0;
  for (uint32_t p = 0; p < kernel->params.len; p++)
    subject->inputs[subject->input_count++] =
        (sluice_input){ sl_text(program, kernel->params.data[p].name), &subject->test.params[p], 1, 0 };
  uint32_t count = 0;
  for (uint32_t c = 0; c < kernel->cmps.len && count < SL_JUDGE_MAX_INPUTS; c++) {
    if (kernel->cmps.data[c].op != SL_CMP_OPAQUE)
      continue;
    const char *name = sl_text(program, kernel->cmps.data[c].opaque);
    for (uint32_t i = 0; i < OUTCOMES; i++)
      subject->outcomes[count][i] = sl_oracle_outcome(subject->test.opaque_seed, name, 0, i);
    subject->inputs[subject->input_count++] = (sluice_input){ name, subject->outcomes[count++], OUTCOMES, 0 };
  }
}

static bool is_asked(const sluice_program *program, const char *text)
{
  const struct sl_kernel *kernel = sl_case_kernel(program);
  for (uint32_t p = 0; p < kernel->params.len; p++)
    if (strcmp(sl_text(program, kernel->params.data[p].name), text) == 0)
      return true;
  for (uint32_t c = 0; c < kernel->cmps.len; c++)
    if (kernel->cmps.data[c].op == SL_CMP_OPAQUE && strcmp(sl_text(program, kernel->cmps.data[c].opaque), text) == 0)
      return true;
  return false;
}

/* Those that the kernel, which may have been written out, still asks for. */
static size_t select_inputs(const struct subject *subject, const sluice_program *program, sluice_input *inputs)
{
  size_t count = 0;
  for (size_t i = 0; i < subject->input_count; i++)
    if (is_asked(program, subject->inputs[i].name))
      inputs[count++] = subject->inputs[i];
  return count;
}

/* ---- recording ---- */

static void begin(void *user, const sluice_trace_head *head)
{
  struct recording *recording = user;
  recording->stream_count = head->stream_count;
  for (size_t s = 0; s < head->stream_count && s < 64; s++)
    snprintf(recording->streams[s], sizeof recording->streams[s], "%s", head->streams[s].name);
  if (head->buffer_count > MOST_BUFFERS)
    abort();
  recording->has_order = true;
  recording->buffer_count = head->buffer_count;
  for (size_t b = 0; b < head->buffer_count; b++)
    snprintf(recording->buffers[b], sizeof recording->buffers[b], "%s", head->buffers[b].name);
}

static void add_usage(struct usages *usages, uint64_t time, uint64_t bytes)
{
  if (usages->count == usages->room) {
    usages->room = usages->room ? 2 * usages->room : 64;
    usages->list = realloc(usages->list, usages->room * sizeof *usages->list);
    if (!usages->list)
      abort();
  }
  usages->list[usages->count++] = (struct usage){ time, bytes };
}

static void add_buffer(void *user, uint32_t buffer, uint64_t time, uint64_t bytes)
{
  struct recording *recording = user;
  recording->has_order &= time >= recording->last_usage;
  recording->last_usage = time;
  add_usage(&recording->usages[buffer], time, bytes);
}

static void free_recording(struct recording *recording)
{
  free(recording->flights);
  for (size_t b = 0; b < recording->buffer_count; b++)
    free(recording->usages[b].list);
}

static void add_slice(void *user, const sluice_slice *slice)
{
  struct recording *recording = user;
  if (slice->kind != SLUICE_SLICE_FLIGHT)
    return;
  if (recording->count == recording->room) {
    recording->room = recording->room ? 2 * recording->room : 256;
    recording->flights = realloc(recording->flights, recording->room * sizeof *recording->flights);
    if (!recording->flights)
      abort();
  }
  struct flight *flight = &recording->flights[recording->count++];
  *flight = (struct flight){ slice->instance, slice->start, slice->end, slice->stream, "", "" };
  snprintf(flight->iteration, sizeof flight->iteration, "%s", slice->iteration);
  snprintf(flight->name, sizeof flight->name, "%s", slice->name);
}

static int by_instance(const void *x, const void *y)
{
  const struct flight *a = x, *b = y;
  return a->instance < b->instance ? -1 : a->instance > b->instance;
}

/* ---- the order ---- */

struct orders {
  const struct sl_oracle_reference *reference;
  uint64_t *ends;    /* by instruction * INSTANCES + number: when it retired */
  uint32_t *done;    /* by instruction */
  uint32_t next[SL_ORACLE_MAX_STREAMS]; /* by issue stream: of its sequence */
};

/* The dependences of one execution; all flights have been entered in `ends`. */
static bool needs_hold(struct subject *subject, const struct orders *orders, const struct flight *flight, uint32_t index,
                       uint32_t first_need, const char *what)
{
  const struct sl_oracle_reference *r = orders->reference;
  const struct sl_oracle_instruction *consumer = &r->instructions[index];
  for (uint32_t d = 0; d < consumer->dep_count; d++) {
    const struct sl_oracle_dep *dep = &r->deps[consumer->first_dep + d];
    uint32_t need = r->needs[first_need + d];
    if (dep->free || need == 0)
      continue;
    subject->state->needs++;
    uint64_t retired = orders->ends[(size_t)dep->producer * INSTANCES + need - 1];
    if (retired > flight->start)
      return sl_fail(subject->failure, "order", "%s: '%s' issues at %llu, but execution %u of '%s' retires at %llu", what,
                     flight->name, (unsigned long long)flight->start, need, sl_oracle_label(r, dep->producer),
                     (unsigned long long)retired);
  }
  return true;
}

static uint32_t instruction_of(const struct orders *orders, const struct recording *recording, const struct flight *flight)
{
  char label[sizeof flight->name]; /* without the iteration of a loop that was unrolled */
  snprintf(label, sizeof label, "%.*s", (int)strcspn(flight->name, "@"), flight->name);
  return sl_oracle_match(orders->reference, label, recording->streams[flight->stream]);
}

static bool order_holds(struct subject *subject, struct recording *recording, const char *what)
{
  const struct sl_oracle_reference *r = &subject->test.reference;
  struct orders orders = { .reference = r };
  orders.ends = sl_oracle_calloc((size_t)r->instruction_count * INSTANCES + 1, sizeof *orders.ends);
  orders.done = sl_oracle_calloc(r->instruction_count + 1u, sizeof *orders.done);
  if (recording->count)
    qsort(recording->flights, recording->count, sizeof *recording->flights, by_instance);
  bool holds = true;
  uint32_t met = 0;
  for (uint32_t i = 0; i < recording->count; i++) {
    uint32_t index = instruction_of(&orders, recording, &recording->flights[i]);
    if (index != UINT32_MAX && orders.done[index] < INSTANCES) {
      orders.ends[(size_t)index * INSTANCES + orders.done[index]++] = recording->flights[i].end;
      met++;
    }
  }
  if (met != r->instance_count)
    holds = sl_fail(subject->failure, "executions", "%s: %u executions instead of %u", what, met, r->instance_count);
  for (uint32_t i = 0; i < recording->count && holds; i++) {
    uint32_t index = instruction_of(&orders, recording, &recording->flights[i]);
    if (index == UINT32_MAX)
      continue;
    uint32_t issue = r->instructions[index].issue, at = orders.next[issue]++;
    if (at >= r->sequences[issue].len || r->sequences[issue].instances[at].instruction != index)
      holds = sl_fail(subject->failure, "sequence", "%s: '%s' comes out of its engine's order", what, recording->flights[i].name);
    else
      holds = needs_hold(subject, &orders, &recording->flights[i], index, r->sequences[issue].instances[at].first_need, what);
  }
  subject->state->instances += met;
  free(orders.done);
  free(orders.ends);
  return holds;
}

/* ---- memory ---- */

struct iteration {
  const sluice_program *program;
  const char *text; /* like "i = 2, j = 0" */
};

static struct sl_constant look_up_iteration(void *user, enum sl_expr_kind kind, sl_name name)
{
  const struct iteration *iteration = user;
  const char *variable = sl_text(iteration->program, name);
  size_t length = strlen(variable);
  for (const char *at = iteration->text; kind == SL_EXPR_NAME && at && *at;
       at = strstr(at, ", ") ? strstr(at, ", ") + 2 : NULL)
    if (strncmp(at, variable, length) == 0 && strncmp(at + length, " = ", 3) == 0)
      return sl_constant_of(strtoll(at + length + 3, NULL, 10));
  return sl_constant_none(SL_CONST_UNKNOWN);
}

/* The operation of that label, or of which the label names a copy. */
static const struct sl_op *find_op(const sluice_program *program, const char *label)
{
  const struct sl_kernel *kernel = sl_case_kernel(program);
  for (size_t length = strlen(label); length > 0; length--) {
    if (label[length] && label[length] != '.')
      continue;
    for (uint32_t i = 0; i < kernel->ops.len; i++) {
      const char *own = kernel->ops.data[i].label ? sl_text(program, kernel->ops.data[i].label) : "";
      if (strncmp(own, label, length) == 0 && !own[length])
        return &kernel->ops.data[i];
    }
  }
  return NULL;
}

/* One copy of a generated tile, whose buffers all are `sbuf bf16[2, 128p, columns]`. */
struct tile_copy {
  uint64_t from, until; /* of the use so far */
  bool is_in_use, was_read;
};

struct edge_of_use {
  uint64_t time;
  int copies;
};

static int by_edge_time(const void *x, const void *y)
{
  const struct edge_of_use *a = x, *b = y;
  return a->time < b->time ? -1 : a->time > b->time;
}

struct tile {
  const char *name;
  struct tile_copy copies[2];
  struct edge_of_use *edges;
  size_t edge_count;
};

static void end_use(struct tile *tile, struct tile_copy *copy)
{
  tile->edges[tile->edge_count++] = (struct edge_of_use){ copy->from, 1 };
  tile->edges[tile->edge_count++] = (struct edge_of_use){ copy->until, -1 };
}

static void use(struct tile *tile, struct tile_copy *copy, const struct flight *flight, bool writes)
{
  if (copy->is_in_use && writes && copy->was_read && flight->start > copy->until) {
    end_use(tile, copy);
    copy->is_in_use = false;
  }
  if (!copy->is_in_use)
    *copy = (struct tile_copy){ flight->start, flight->end, true, false };
  copy->was_read = !writes;
  copy->until = flight->end > copy->until ? flight->end : copy->until;
}

static void use_operands(struct tile *tile, const sluice_program *program, const struct flight *flight)
{
  const struct sl_kernel *kernel = sl_case_kernel(program);
  const struct sl_op *op = find_op(program, flight->name);
  uint32_t count = op ? (uint32_t)op->dst_count + op->src_count : 0;
  struct iteration iteration = { program, flight->iteration };
  for (uint32_t n = 0; n < count; n++) {
    uint32_t i = (n + op->dst_count) % count; /* sources first */
    const struct sl_operand *operand = &kernel->operands.data[op->first_operand + i];
    if (operand->kind != SL_OPERAND_NAME || strcmp(sl_text(program, (sl_name)operand->value), tile->name) != 0)
      continue;
    struct sl_constant index =
        sl_eval(kernel, kernel->indices.data[operand->first_index].first, look_up_iteration, &iteration);
    if (index.state != SL_CONST_KNOWN)
      abort();
    use(tile, &tile->copies[index.value], flight, i < op->dst_count);
  }
}

static uint64_t bytes_of_copy(const sluice_program *program, const char *name)
{
  const struct sl_kernel *kernel = sl_case_kernel(program);
  for (uint32_t b = 1; b < kernel->buffers.len; b++)
    if (strcmp(sl_text(program, kernel->buffers.data[b].name), name) == 0)
      return 2 * 128 *
             (uint64_t)sl_eval(kernel, kernel->dims.data[kernel->buffers.data[b].first_dim + 2].size, NULL, NULL).value;
  abort();
}

/* What the flights, in the order in which they were issued, make of one buffer. */
static void find_usages(struct usages *usages, const struct recording *recording, const sluice_program *program,
                        size_t buffer)
{
  struct tile tile = { .name = recording->buffers[buffer] };
  tile.edges = sl_oracle_calloc(4 * (size_t)recording->count + 4, sizeof *tile.edges);
  for (uint32_t i = 0; i < recording->count; i++)
    use_operands(&tile, program, &recording->flights[i]);
  for (int c = 0; c < 2; c++)
    if (tile.copies[c].is_in_use)
      end_use(&tile, &tile.copies[c]);
  if (tile.edge_count)
    qsort(tile.edges, tile.edge_count, sizeof *tile.edges, by_edge_time);
  uint64_t in_use = 0, told = 0, each = bytes_of_copy(program, tile.name);
  for (size_t i = 0; i < tile.edge_count; i++) {
    in_use += tile.edges[i].copies > 0 ? each : -each;
    bool is_last = i + 1 == tile.edge_count || tile.edges[i + 1].time != tile.edges[i].time;
    if (is_last && in_use != told)
      add_usage(usages, tile.edges[i].time, in_use);
    told = is_last ? in_use : told;
  }
  free(tile.edges);
}

static bool memory_holds(struct subject *subject, struct recording *recording, const sluice_program *program,
                         const char *what)
{
  bool holds = recording->has_order || sl_fail(subject->failure, "memory order", "%s: changes go back in time", what);
  if (recording->count)
    qsort(recording->flights, recording->count, sizeof *recording->flights, by_instance);
  for (size_t b = 0; b < recording->buffer_count && holds; b++) {
    struct usages expected = { NULL, 0, 0 };
    const struct usages *told = &recording->usages[b];
    find_usages(&expected, recording, program, b);
    size_t same = 0;
    while (same < told->count && same < expected.count &&
           memcmp(&told->list[same], &expected.list[same], sizeof *told->list) == 0)
      same++;
    if (same < told->count || same < expected.count)
      holds = sl_fail(subject->failure, "memory",
                      "%s: of the uses of %s, %zu are told, %zu expected, the first %zu are the same", what,
                      recording->buffers[b], told->count, expected.count, same);
    subject->state->usages += expected.count;
    free(expected.list);
  }
  return holds;
}

/* ---- one simulation ---- */

struct wanted {
  enum sluice_sim_sync sync;
  const sluice_program *against;
  double shared, visibility; /* negative: the target's */
  const sluice_trace *trace;
};

static bool simulate(struct subject *subject, const sluice_program *program, struct wanted wanted, const char *what,
                     uint64_t *ticks)
{
  struct sl_messages messages = { .first = "" };
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_setting settings[] = { { "shared", wanted.shared },
                                { "dma_qos",
                                  (double)(subject->seed % 2) }, /* half of the kernels with classes of service */
                                { "semaphore_visibility", wanted.visibility } };
  sluice_sim_options options = SLUICE_SIM_OPTIONS_INIT;
  options.sync = wanted.sync;
  options.against = wanted.against;
  sluice_input inputs[2 * SL_JUDGE_MAX_INPUTS];
  options.inputs = inputs;
  options.input_count = select_inputs(subject, wanted.against ? wanted.against : program, inputs);
  options.settings = settings;
  options.setting_count = wanted.visibility >= 0 ? 3 : 2;
  options.trace = wanted.trace;
  options.max_steps = 10000000;
  sluice_sim_result *result;
  int status = sluice_sim(&result, program, 0, subject->state->targets, &options, &sink);
  if (status != SLUICE_OK)
    return sl_fail(subject->failure, "not simulated", "%s: status %d: %s", what, status, messages.first);
  const sluice_sim_summary *summary = sluice_sim_summary_get(result);
  size_t count;
  const sluice_sim_stream *streams = sluice_sim_streams(result, &count);
  uint64_t sum = 0;
  bool holds = true;
  for (int i = 0; i < SLUICE_PATH_PARTS; i++)
    sum += summary->path[i];
  if (sum != summary->ticks)
    holds = sl_fail(subject->failure, "path", "%s: the critical path has %llu ticks, the run %llu", what,
                    (unsigned long long)sum, (unsigned long long)summary->ticks);
  for (size_t s = 0; s < count && holds; s++)
    if (streams[s].busy > summary->ticks || streams[s].stalled + streams[s].control + streams[s].barrier > summary->ticks)
      holds = sl_fail(subject->failure, "stream", "%s: %s is occupied longer than the run takes", what, streams[s].name);
  *ticks = summary->ticks;
  subject->state->simulated++;
  sluice_sim_result_free(result);
  return holds;
}

/* Simulates with a trace and looks at the order. */
static bool simulate_in_order(struct subject *subject, const sluice_program *program, enum sluice_sim_sync sync,
                              const sluice_program *against, const char *what, uint64_t *ticks)
{
  struct recording recording = { 0 };
  const sluice_trace trace = { .begin = begin, .slice = add_slice, .buffer = add_buffer, .user = &recording };
  uint64_t with_trace = 0;
  bool holds = simulate(subject, program, (struct wanted){ sync, against, 1, -1, &trace }, what, &with_trace) &&
               simulate(subject, program, (struct wanted){ sync, against, 1, -1, NULL }, what, ticks) &&
               order_holds(subject, &recording, what) && memory_holds(subject, &recording, program, what);
  if (holds && with_trace != *ticks)
    holds = sl_fail(subject->failure, "trace", "%s: %llu ticks with a trace, %llu without", what,
                    (unsigned long long)with_trace, (unsigned long long)*ticks);
  free_recording(&recording);
  return holds;
}

/* ---- one kernel ---- */

struct limits {
  uint64_t shared, alone;
};

static bool has_unroll_request(const struct sl_kernel *kernel)
{
  for (uint32_t i = 1; i < kernel->loops.len; i++)
    if (kernel->loops.data[i].unroll)
      return true;
  return false;
}

/* The limit is that of the kernel as the strategy leaves it: loops written out have no control. */
static bool limit_holds(struct subject *subject, const struct strategy *strategy, const sluice_program *synced,
                        struct limits of_original, struct limits *ideal)
{
  const sluice_program *original = subject->test.original;
  char what[64];
  snprintf(what, sizeof what, "ideal of %s", strategy->name);
  if (!simulate_in_order(subject, synced, SLUICE_SIM_IDEAL, original, what, &ideal->shared) ||
      !simulate(subject, synced, (struct wanted){ SLUICE_SIM_IDEAL, original, 0, -1, NULL }, what, &ideal->alone))
    return false;
  bool is_same = strategy->alloc != SLUICE_ALLOC_UNROLL && !has_unroll_request(sl_case_kernel(original));
  if (is_same && (ideal->shared != of_original.shared || ideal->alone != of_original.alone))
    return sl_fail(subject->failure, "limit", "%s takes %llu ticks, ideal of the kernel without synchronization %llu", what,
                   (unsigned long long)ideal->alone, (unsigned long long)of_original.alone);
  return true;
}

/* With shared bandwidth. */
static void compare(struct subject *subject, const struct strategy *strategy, struct limits own, struct limits ideal)
{
  struct campaign_state *state = subject->state;
  state->compared++;
  state->contended += own.shared != own.alone || ideal.shared != ideal.alone;
  if (ideal.shared <= own.shared)
    return;
  if (state->exception_count < MOST_EXCEPTIONS)
    state->exceptions[state->exception_count] =
        (struct exception){ subject->seed, own.shared, ideal.shared, strategy->name };
  state->exception_count++;
}

static bool strategy_holds(struct subject *subject, const struct strategy *strategy, struct limits of_original)
{
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  sluice_program *made, *synced;
  struct limits ideal = { 0, 0 };
  options.alloc = strategy->alloc;
  if (sluice_sync(&made, subject->test.original, subject->state->targets, &options, &sink) != SLUICE_OK)
    return true; /* what a strategy may refuse is the matter of other tests */
  synced = sl_read_again(subject->state->targets, made, subject->failure);
  sluice_program_free(made);
  if (!synced)
    return false;
  struct limits own = { 0, 0 };
  uint64_t slow = 0;
  struct wanted plain = { SLUICE_SIM_AS_WRITTEN, NULL, 0, -1, NULL }, late = { SLUICE_SIM_AS_WRITTEN, NULL, 0, 5000, NULL };
  bool holds = limit_holds(subject, strategy, synced, of_original, &ideal) &&
               simulate_in_order(subject, synced, SLUICE_SIM_AS_WRITTEN, NULL, strategy->name, &own.shared) &&
               simulate(subject, synced, plain, strategy->name, &own.alone) &&
               simulate(subject, synced, late, strategy->name, &slow);
  sluice_program_free(synced);
  if (!holds)
    return false;
  compare(subject, strategy, own, ideal);
  if (ideal.alone > own.alone)
    return sl_fail(subject->failure, "ideal", "%s takes %llu ticks, ideal synchronization %llu", strategy->name,
                   (unsigned long long)own.alone, (unsigned long long)ideal.alone);
  if (slow < own.alone)
    return sl_fail(subject->failure, "visibility", "%s takes %llu ticks, with slower semaphores %llu", strategy->name,
                   (unsigned long long)own.alone, (unsigned long long)slow);
  return true;
}

static bool kernel_holds(void *user, const char *text, uint64_t seed, struct sl_failure *failure)
{
  struct subject *subject = sl_oracle_calloc(1, sizeof *subject);
  subject->state = user;
  subject->failure = failure;
  subject->seed = seed;
  subject->test.targets = subject->state->targets;
  subject->test.original = sl_read_program(subject->state->targets, text, failure);
  bool holds = subject->test.original != NULL;
  if (holds && !sl_case_repeats_a_condition(subject->test.original)) {
    uint64_t random = seed;
    sl_case_default_params(&subject->test); /* static ones stay: synchronizing may build on them */
    for (uint32_t p = 0; p < sl_case_kernel(subject->test.original)->params.len; p++)
      if (!sl_case_kernel(subject->test.original)->params.data[p].is_static)
        subject->test.params[p] = (int64_t)(sl_generate_random(&random) % (MOST_VALUES + 1));
    subject->test.opaque_seed = sl_generate_random(&random);
    if (sl_case_start(&subject->test, INSTANCES) == SL_REFERENCE_OK) {
      struct limits ideal = { 0, 0 };
      give_inputs(subject);
      subject->state->kernels++;
      holds = simulate_in_order(subject, subject->test.original, SLUICE_SIM_IDEAL, NULL, "ideal", &ideal.shared) &&
              simulate(subject, subject->test.original, (struct wanted){ SLUICE_SIM_IDEAL, NULL, 0, -1, NULL }, "ideal", &ideal.alone);
      for (unsigned s = 0; s < STRATEGIES && holds; s++)
        holds = strategy_holds(subject, &strategies[s], ideal);
      sl_case_end(&subject->test);
    }
  }
  sluice_program_free(subject->test.original);
  free(subject);
  return holds;
}

/* ---- the kernels of the benchmark table ---- */

struct rows {
  struct campaign_state *state;
  unsigned count, failed;
};

static bool row_ticks(const struct rows *rows, const sluice_program *program, const sluice_program *against, bool is_ideal,
                      double shared, uint64_t *ticks)
{
  struct sl_messages messages = { .first = "" };
  sluice_sink sink = sl_messages_sink(&messages);
  const sluice_setting setting = { "shared", shared };
  sluice_sim_options options = SLUICE_SIM_OPTIONS_INIT;
  options.sync = is_ideal ? SLUICE_SIM_IDEAL : SLUICE_SIM_AS_WRITTEN;
  options.against = against;
  options.settings = &setting;
  options.setting_count = 1;
  if (sluice_sim_latency(ticks, NULL, program, 0, rows->state->targets, &options, &sink) == SLUICE_OK)
    return true;
  printf("FAILED: not simulated: %s\n", messages.first);
  return false;
}

/* False after printing. A strategy that cannot express the row says nothing. */
static bool row_holds(const struct rows *rows, const char *path, const sluice_program *program, unsigned s)
{
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  sluice_program *synced;
  options.alloc = strategies[s].alloc;
  if (sluice_sync(&synced, program, rows->state->targets, &options, NULL) != SLUICE_OK)
    return true;
  uint64_t alone = 0, shared = 0, ideal_alone = 0, ideal_shared = 0;
  bool holds = row_ticks(rows, synced, NULL, false, 0, &alone) && row_ticks(rows, synced, NULL, false, 1, &shared) &&
               row_ticks(rows, synced, program, true, 0, &ideal_alone) && row_ticks(rows, synced, program, true, 1, &ideal_shared);
  if (holds && ideal_alone > alone) {
    printf("FAILED: %s: %s takes %llu ticks, ideal synchronization %llu\n", path, strategies[s].name,
           (unsigned long long)alone, (unsigned long long)ideal_alone);
    holds = false;
  }
  if (holds && ideal_shared > shared)
    printf("%s: with shared bandwidth, ideal synchronization is slower than %s by %.3f %%\n", path, strategies[s].name,
           100.0 * (double)(ideal_shared - shared) / (double)shared);
  if (holds && (double)ideal_shared > 1.02 * (double)shared) {
    printf("FAILED: more than 2 %%\n");
    holds = false;
  }
  sluice_program_free(synced);
  return holds;
}

static void try_row(void *user, const char *path)
{
  struct rows *rows = user;
  if (strstr(path, ".manual."))
    return;
  struct sl_failure failure = { "", "" };
  size_t length;
  char *text = sl_read_file(path, &length);
  sluice_program *program = text ? sl_read_program(rows->state->targets, text, &failure) : NULL;
  rows->count++;
  bool holds = program != NULL;
  for (unsigned s = 0; s < STRATEGIES && holds; s++)
    holds = row_holds(rows, path, program, s);
  rows->failed += !holds;
  sluice_program_free(program);
  free(text);
}

static unsigned try_rows(struct campaign_state *state)
{
  struct rows rows = { state, 0, 0 };
  sl_each_slu(SLUICE_SOURCE_DIR "/bench/table2", try_row, &rows);
  printf("rows: %u kernels of the benchmark table, %u failures\n", rows.count, rows.failed);
  return rows.failed + (rows.count == 0);
}

/* ---- campaigns ---- */

/* Answers how many things are wrong with what the whole campaign has shown. */
static unsigned judge_contention(const struct campaign_state *state)
{
  for (uint64_t i = 0; i < state->exception_count && i < MOST_EXCEPTIONS; i++) {
    const struct exception *e = &state->exceptions[i];
    printf("%s: kernel of seed %llu: with shared bandwidth, ideal synchronization is slower than %s by %.3f %%\n",
           state->name, (unsigned long long)e->seed, e->strategy,
           100.0 * (double)(e->ideal_ticks - e->strategy_ticks) / (double)e->strategy_ticks);
  }
  printf(
      "%s: ideal synchronization is slower than a strategy in %llu of %llu comparisons with contention (%llu in all)\n",
      state->name, (unsigned long long)state->exception_count, (unsigned long long)state->contended,
      (unsigned long long)state->compared);
  unsigned failed = 0;
  if (50 * state->exception_count > state->contended) {
    printf("FAILED: more than 2 %%\n");
    failed++;
  }
  if (state->wants_contention && state->contended < state->kernels) {
    printf("FAILED: less comparisons with contention than kernels\n");
    failed++;
  }
  return failed;
}

static unsigned try_kernels(struct sl_campaign *campaign, enum sl_generate_mode mode, struct campaign_state *state)
{
  unsigned failed = sl_campaign_run(campaign, mode, kernel_holds, state);
  failed += judge_contention(state);
  printf("%s: %llu random kernels, %llu simulations, %llu executions and %llu needs in order, %llu changes of memory "
         "in use, %u failures\n",
         state->name, (unsigned long long)state->kernels, (unsigned long long)state->simulated,
         (unsigned long long)state->instances, (unsigned long long)state->needs, (unsigned long long)state->usages,
         failed);
  return failed;
}

int main(int argc, char **argv)
{
  struct sl_campaign campaign;
  sl_campaign_options(&campaign, argc, argv, 1000, 50000);
  sluice_targets *targets = NULL;
  if (sluice_targets_new(&targets) != SLUICE_OK) {
    printf("sim: no targets\n");
    return 1;
  }
  static struct campaign_state generic = { .name = "generic" }, transfers = { .name = "trn2" };
  generic.targets = transfers.targets = targets;
  transfers.wants_contention = !campaign.only_one;
  unsigned failed = try_kernels(&campaign, SL_GENERATE_SYNC, &generic);
  failed += try_kernels(&campaign, SL_GENERATE_TRANSFERS, &transfers);
  if (!campaign.only_one)
    failed += try_rows(&generic);
  sluice_targets_free(targets);
  return sl_campaign_exit_code(&campaign, failed);
}
