/* sim.c: the entry points of sluice/sim.h: copies to work on, the run, the result. */
#include <sluice/sim.h>

#include <assert.h>
#include <stdlib.h>

#include "ir/ir.h"
#include "sim/simulator.h"

struct sluice_sim_result {
  sl_heap heap;
  sl_guard guard;
  sluice_sim_summary summary;
  sluice_sim_stream *streams;
  size_t stream_count;
  sl_vec(sluice_sim_stall) stalls;
};

struct sim_call {
  sluice_sim_result *result;
  const sluice_program *input, *against;
  size_t kernel;
  const sluice_targets *targets;
  const sluice_sim_options *options;
  sl_program *own, *other; /* copies with expanded copies of operations */
  sl_source source;        /* a view with a table of lines of its own */
  sl_heap scratch;
  sl_report report;
};

const char *sluice_path_part_name(enum sluice_path_part part)
{
  static const char *const names[SLUICE_PATH_PARTS] = { "datapath", "dma", "semaphore", "control", "barrier" };
  assert((unsigned)part < SLUICE_PATH_PARTS);
  return names[part];
}

/* ---- the result ---- */

static const char *keep(struct sim_call *call, const char *text)
{
  return sl_heap_strndup(&call->result->heap, text, strlen(text));
}

static void keep_summary(struct sim_call *call, const struct sl_simulator *sim)
{
  sluice_sim_summary *summary = &call->result->summary;
  summary->kernel = keep(call, sl_text(sim->program, sim->kernel->name));
  summary->target = keep(call, sim->target->name);
  summary->ticks = sim->end.at;
  summary->ticks_per_ns = sim->target->tick_ghz.value;
  summary->ns = (double)sim->end.at / sim->target->tick_ghz.value;
  memcpy(summary->path, sim->end.part, sizeof summary->path);
  summary->instructions = sim->totals.instructions;
  summary->register_operations = sim->totals.register_operations;
  summary->branches = sim->totals.branches;
  summary->wait_slots = sim->totals.wait_slots;
  summary->barriers = sim->totals.barriers;
}

static void keep_streams(struct sim_call *call, const struct sl_simulator *sim)
{
  uint32_t count = sim->kernel->streams.len;
  call->result->streams = sl_heap_calloc(&call->result->heap, count + 1u, sizeof *call->result->streams);
  call->result->stream_count = count;
  for (uint32_t s = 0; s < count; s++) {
    call->result->streams[s] = sim->streams[s];
    call->result->streams[s].name = keep(call, sim->streams[s].name);
  }
}

static const char *label_of(const struct sl_simulator *sim, sl_index stmt)
{
  if (!stmt || sim->kernel->stmts.data[stmt].kind != SL_STMT_OP)
    return "";
  const struct sl_op *op = sl_stmt_op(sim->kernel, stmt);
  return sl_text(sim->program, op->label ? op->label : op->opcode);
}

/* As the gate is written; the dependence when there are no gates. */
static void print_gate(sl_buf *buf, const struct sl_simulator *sim, uint32_t number)
{
  if (sim->is_ideal) {
    sl_edge_print(buf, sim->giving_program, sim->giving, &sim->needs.edges.data[number]);
    return;
  }
  const struct sl_gate *gate = &sim->kernel->waits.data[number];
  sl_buf_puts(buf, sl_text(sim->program, gate->name));
  if (gate->event_index) {
    sl_buf_putc(buf, '[');
    sl_print_expr(buf, sim->program, sim->kernel, gate->event_index);
    sl_buf_putc(buf, ']');
  }
  if (gate->kind == SL_GATE_EVENT)
    return;
  sl_buf_puts(buf, gate->equal ? " == " : " >= ");
  if (gate->threshold == SL_THRESHOLD_INT)
    sl_buf_int(buf, gate->value);
  else
    sl_buf_printf(buf, "%s%s", gate->threshold == SL_THRESHOLD_REG ? "%" : "", sl_text(sim->program, (sl_name)gate->value));
}

/* Sums by gate and producer, those of one gate as neighbours, its greatest first. */
static int by_gate(const void *x, const void *y)
{
  const struct sl_stall_sum *a = x, *b = y;
  if (a->gate != b->gate)
    return a->gate < b->gate ? -1 : 1;
  if (a->ticks != b->ticks)
    return a->ticks > b->ticks ? -1 : 1;
  return a->producer < b->producer ? -1 : a->producer > b->producer;
}

static int by_ticks(const void *x, const void *y)
{
  const sluice_sim_stall *a = x, *b = y;
  if (a->ticks != b->ticks)
    return a->ticks > b->ticks ? -1 : 1;
  if (a->line != b->line)
    return a->line < b->line ? -1 : 1;
  return strcmp(a->waits_for, b->waits_for);
}

static void keep_stall(struct sim_call *call, const struct sl_simulator *sim, const struct sl_stall_sum *sum)
{
  sl_buf buf;
  sl_buf_init(&buf, &call->result->heap);
  print_gate(&buf, sim, sum->gate);
  const struct sl_op *op = sl_stmt_op(sim->kernel, sum->stmt);
  uint32_t engine = sl_issue_stream(sim->kernel, op->stream);
  sl_place place = sl_source_place(&call->source, sim->kernel->stmts.data[sum->stmt].loc);
  sluice_sim_stall *stall = sl_vec_push(&call->result->heap, &call->result->stalls);
  stall->engine = call->result->streams[engine].name;
  stall->label = keep(call, label_of(sim, sl_stmt_waiting(sim->kernel, sum->stmt)));
  stall->line = place.line;
  stall->column = place.column;
  stall->waits_for = sl_buf_text(&buf);
  stall->producer = keep(call, label_of(sim, sum->producer));
  stall->producer_stream =
      sum->producer ? call->result->streams[sl_stmt_op(sim->kernel, sum->producer)->stream].name : "";
}

static void keep_stalls(struct sim_call *call, struct sl_simulator *sim)
{
  if (!sim->stalls.len)
    return;
  qsort(sim->stalls.data, sim->stalls.len, sizeof *sim->stalls.data, by_gate);
  for (uint32_t i = 0; i < sim->stalls.len; i++) {
    const struct sl_stall_sum *sum = &sim->stalls.data[i];
    if (i == 0 || sum[-1].gate != sum->gate)
      keep_stall(call, sim, sum);
    sluice_sim_stall *stall = &call->result->stalls.data[call->result->stalls.len - 1];
    stall->ticks += sum->ticks;
    stall->count += sum->count;
    stall->longest = sum->longest > stall->longest ? sum->longest : stall->longest;
  }
  qsort(call->result->stalls.data, call->result->stalls.len, sizeof *call->result->stalls.data, by_ticks);
}

/* ---- the call ---- */

static void begin_trace(const struct sl_simulator *sim)
{
  const sluice_trace *trace = sim->options->trace;
  if (!trace || !trace->begin)
    return;
  const sluice_trace_head head = { .kernel = sl_text(sim->program, sim->kernel->name),
                                   .target = sim->target->name,
                                   .ticks_per_ns = sim->target->tick_ghz.value,
                                   .streams = sim->streams,
                                   .stream_count = sim->kernel->streams.len,
                                   .counters = sim->counter_names.data,
                                   .counter_count = sim->is_ideal ? 0 : sim->counter_names.len,
                                   .buffers = sim->occupancy.buffers.data,
                                   .buffer_count = sim->occupancy.buffers.len };
  trace->begin(trace->user, &head);
}

static struct sl_kernel *kernel_of_name(const sl_program *program, const char *name)
{
  for (uint32_t i = 0; i < program->kernels.len; i++)
    if (strcmp(sl_text(program, program->kernels.data[i]->name), name) == 0)
      return program->kernels.data[i];
  return NULL;
}

/* A copy of the target whose parameters may be set. Counters of ideal synchronization are plain numbers. */
static struct sl_target *copy_target(struct sim_call *call, const struct sl_target *from, bool is_ideal)
{
  struct sl_target *target = sl_heap_alloc(&call->scratch, sizeof *target);
  *target = *from;
  memset(&target->params, 0, sizeof target->params);
  sl_vec_copy(&call->scratch, &target->params, &from->params);
  if (!is_ideal)
    return target;
  target->sem.modular = target->sem.is_signed = false;
  target->sem.width = 32;
  return target;
}

static int prepare(struct sim_call *call, struct sl_simulator *sim)
{
  const sluice_sim_options *options = call->options;
  sl_program_copy_into(call->own, call->input);
  struct sl_kernel *kernel = call->own->kernels.data[call->kernel];
  sl_expand_copies(call->own, kernel);
  const struct sl_target *target = sl_target_find(call->targets, sl_text(call->own, kernel->target));
  assert(target && "the program is verified, so its target is known");
  bool is_ideal = options->sync == SLUICE_SIM_IDEAL;
  *sim = (struct sl_simulator){ .heap = &call->scratch, .program = call->own, .kernel = kernel, .options = options,
                                .report = &call->report, .is_ideal = is_ideal, .giving_program = call->own,
                                .giving = kernel, .target = copy_target(call, target, is_ideal) };
  if (is_ideal && call->against) {
    const char *name = sl_text(call->own, kernel->name);
    sl_program_copy_into(call->other, call->against);
    sim->giving_program = call->other;
    sim->giving = kernel_of_name(call->other, name);
    if (!sim->giving) {
      sl_error(&call->report, SL_RULE_UNDEFINED, kernel->loc, "there is no kernel '%s' in %s", name, call->against->source.name);
      return SLUICE_E_INPUT;
    }
    sl_expand_copies(call->other, sim->giving);
  }
  return SLUICE_OK;
}

static int check_guarded(void *arg)
{
  struct sim_call *call = arg;
  struct sl_simulator *sim = sl_heap_calloc(&call->scratch, 1, sizeof *sim);
  int status = prepare(call, sim);
  return status == SLUICE_OK ? sl_simulator_check_inputs(sim) : status;
}

static int sim_guarded(void *arg)
{
  struct sim_call *call = arg;
  struct sl_simulator *sim = sl_heap_calloc(&call->scratch, 1, sizeof *sim);
  int status = prepare(call, sim);
  if (status == SLUICE_OK)
    status = sl_simulator_init(sim);
  if (status != SLUICE_OK)
    return status;
  begin_trace(sim);
  status = sl_simulator_run(sim);
  if (status != SLUICE_OK)
    return status;
  if (call->options->trace && call->options->trace->end)
    call->options->trace->end(call->options->trace->user, sim->end.at);
  keep_summary(call, sim);
  keep_streams(call, sim);
  keep_stalls(call, sim);
  return SLUICE_OK;
}

static int run(struct sim_call *call, int (*guarded)(void *call), const sluice_sink *sink)
{
  sl_guard *guard = &call->result->guard;
  sl_heap_init(&call->scratch, guard);
  call->own = sl_program_new(call->input->source.name, NULL, 0);
  call->other = sl_program_new(call->input->source.name, NULL, 0);
  int status = SLUICE_E_NO_MEMORY;
  if (call->own && call->other) {
    call->own->heap.guard = call->other->heap.guard = guard;
    call->source = call->options->origin ? call->options->origin->source : call->input->source;
    call->source.heap = &call->scratch;
    memset(&call->source.lines, 0, sizeof call->source.lines);
    sl_report_init(&call->report, &call->scratch, sink, &call->source);
    call->report.error_limit = 20;
    status = sl_guard_run(guard, guarded, call);
  }
  sluice_program_free(call->own);
  sluice_program_free(call->other);
  sl_heap_free_all(&call->scratch);
  return status;
}

/* *out is a result, which holds what `guarded` found; NULL when that failed. */
static int run_call(sluice_sim_result **out, int (*guarded)(void *call), const sluice_program *program, size_t kernel,
                    const sluice_targets *targets, const sluice_sim_options *options, const sluice_sink *sink)
{
  assert(program && targets && options && kernel < program->kernels.len);
  *out = NULL;
  sluice_sim_result *result = calloc(1, sizeof *result);
  if (!result)
    return SLUICE_E_NO_MEMORY;
  sl_heap_init(&result->heap, &result->guard);
  struct sim_call call = { .result = result, .input = program, .against = options->against, .kernel = kernel,
                           .targets = targets, .options = options };
  int status = run(&call, guarded, sink);
  if (status == SLUICE_OK)
    *out = result;
  else
    sluice_sim_result_free(result);
  return status;
}

int sluice_sim(sluice_sim_result **out, const sluice_program *program, size_t kernel, const sluice_targets *targets,
               const sluice_sim_options *options, const sluice_sink *sink)
{
  assert(out);
  return run_call(out, sim_guarded, program, kernel, targets, options, sink);
}

int sluice_sim_check_inputs(const sluice_program *program, size_t kernel, const sluice_targets *targets,
                            const sluice_sim_options *options, const sluice_sink *sink)
{
  sluice_sim_result *empty;
  int status = run_call(&empty, check_guarded, program, kernel, targets, options, sink);
  sluice_sim_result_free(empty);
  return status;
}

void sluice_sim_result_free(sluice_sim_result *result)
{
  if (!result)
    return;
  sl_heap_free_all(&result->heap);
  free(result);
}

int sluice_sim_latency(uint64_t *ticks, double *ns, const sluice_program *program, size_t kernel,
                       const sluice_targets *targets, const sluice_sim_options *options, const sluice_sink *sink)
{
  assert(ticks);
  sluice_sim_result *result;
  *ticks = 0;
  if (ns)
    *ns = 0;
  int status = sluice_sim(&result, program, kernel, targets, options, sink);
  if (status != SLUICE_OK)
    return status;
  *ticks = result->summary.ticks;
  if (ns)
    *ns = result->summary.ns;
  sluice_sim_result_free(result);
  return SLUICE_OK;
}

const sluice_sim_summary *sluice_sim_summary_get(const sluice_sim_result *result)
{
  assert(result);
  return &result->summary;
}

const sluice_sim_stream *sluice_sim_streams(const sluice_sim_result *result, size_t *count)
{
  assert(result && count);
  *count = result->stream_count;
  return result->streams;
}

const sluice_sim_stall *sluice_sim_stalls(const sluice_sim_result *result, size_t *count)
{
  assert(result && count);
  *count = result->stalls.len;
  return result->stalls.data;
}
