/* check.c: the checker's entry point: kernels, runs, findings. See sluice/check.h.
 *
 * For each kernel: prepare reference and machine, choose runs, run them all, then judge the waits by running again with one of
 * them weakened. Ends early when the budget is used up, and says so.
 */
#include <sluice/check.h>

#include <assert.h>
#include <stdlib.h>

#include "check/choices.h"
#include "check/findings.h"
#include "check/machine.h"
#include "ir/ir.h"
#include "run/input.h"
#include "run/statics.h"

struct sluice_check_result {
  sl_heap heap;
  sl_guard guard;
  sl_findings findings;
  sl_vec(sluice_check_summary) summaries;
};

struct check_call {
  sluice_check_result *result;
  const sluice_targets *targets;
  const sluice_check_options *options;
  const sluice_program *input, *against; /* as given */
  sl_program *own, *other;               /* copies with expanded copies of operations */
  sl_source own_source, other_source;    /* views with tables of lines of their own */
  sl_report report;
  bool *input_found; /* by fixed input: some kernel has it */
  bool all_ready;    /* every kernel could be run, so an input that was not found is nowhere */
};

/* One kernel being checked. */
struct subject {
  struct check_call *call;
  struct sl_reference reference;
  struct sl_machine machine;
  struct sl_choices choices;
  struct sl_bound_inputs own, of_reference;
  struct sl_finding_context context;
  uint64_t events, instances;
  uint32_t runs, meaningless;
  bool undecided;
};

/* ---- running ---- */

static uint64_t budget_left(const struct subject *s)
{
  uint64_t most = s->call->options->max_events;
  if (!most)
    return UINT64_MAX;
  return most > s->events ? most - s->events : 0;
}

static void tell_progress(const struct subject *s, bool is_judging, uint64_t done, uint64_t total)
{
  const sluice_check_options *options = s->call->options;
  if (options->progress)
    options->progress(options->progress_context,
                      &(sluice_check_progress){ s->context.kernel, is_judging, done, total, s->events });
}

static enum sl_run_status run_row(struct subject *s, uint32_t row, struct sl_weakening weakening)
{
  sl_bound_inputs_select(&s->own, row);
  sl_bound_inputs_select(&s->of_reference, row);
  s->context.row = row;
  enum sl_run_status status =
    sl_machine_run(&s->machine, &s->own.inputs, &s->of_reference.inputs, weakening, budget_left(s));
  s->events += s->machine.steps;
  s->instances += s->machine.instances;
  s->machine.instances = 0;
  return status;
}

/* All rows; errors become findings, one per kind and place. Stops when there are enough of them. */
static void run_all(struct subject *s)
{
  enum { ENOUGH = 20 };
  const struct sl_weakening none = { NULL, 0 };
  for (uint32_t row = 0; row < s->choices.row_count; row++) {
    enum sl_run_status status = run_row(s, row, none);
    s->runs++;
    tell_progress(s, false, s->runs, s->choices.row_count);
    switch (status) {
    case SL_RUN_OK: break;
    case SL_RUN_MEANINGLESS: s->meaningless++; break;
    case SL_RUN_EXHAUSTED:
      sl_finding_exhausted(&s->context);
      s->undecided = true;
      if (budget_left(s) == 0)
        return;
      break;
    case SL_RUN_UNDECIDED:
      s->undecided = true;
      sl_finding_add_run(&s->context, status);
      break;
    default:
      sl_finding_add_run(&s->context, status);
      if (s->context.findings->errors >= ENOUGH)
        return;
    }
  }
  if (s->meaningless == s->runs) {
    s->undecided = true;
    sl_finding_meaningless(&s->context);
  }
}

/* ---- judging waits ---- */

/* Whether every run is still right with this weakening. The row that said no last time is asked first: mutants die alike. */
static bool still_right(struct subject *s, struct sl_weakening weakening, uint32_t *killer)
{
  for (uint32_t i = 0; i <= s->choices.row_count; i++) {
    uint32_t row = i == 0 ? *killer : i - 1;
    if (i > 0 && row == *killer)
      continue;
    enum sl_run_status status = run_row(s, row, weakening);
    if (status != SL_RUN_OK && status != SL_RUN_MEANINGLESS) {
      *killer = row;
      return false;
    }
  }
  return true;
}

static void judge_wait(struct subject *s, sl_index stmt, uint32_t wait, bool *deleted, uint32_t *killer)
{
  deleted[wait] = true;
  bool redundant = still_right(s, (struct sl_weakening){ deleted, 0 }, killer);
  deleted[wait] = false;
  const struct sl_gate *gate = &s->machine.code.kernel->waits.data[wait];
  bool counts = gate->kind == SL_GATE_SEM && !gate->equal; /* a lower `==` would be another wait, not a weaker one */
  bool loose = !redundant && counts && still_right(s, (struct sl_weakening){ NULL, wait + 1 }, killer);
  if (budget_left(s) == 0)
    return;
  if (redundant)
    sl_finding_add_wait(&s->context, "redundant", stmt, wait);
  else if (loose)
    sl_finding_add_wait(&s->context, "loose", stmt, wait);
}

static void for_each_wait(struct subject *s, void (*judge)(struct subject *s, sl_index stmt, uint32_t wait, bool *deleted,
                                                           uint32_t *killer))
{
  const struct sl_kernel *kernel = s->machine.code.kernel;
  bool *deleted = sl_heap_calloc(s->machine.heap, kernel->waits.len + 1u, sizeof *deleted);
  uint32_t killer = 0, judged = 0;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind != SL_STMT_OP)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, at);
    for (uint32_t i = 0; i < op->wait_count && budget_left(s); i++) {
      judge(s, at, op->first_wait + i, deleted, &killer);
      tell_progress(s, true, ++judged, kernel->waits.len);
    }
  }
  sl_heap_free(s->machine.heap, deleted);
  if (!budget_left(s))
    sl_finding_not_judged(&s->context);
}

/* Deletes greedily, in text order: what stays deleted may be deleted together. */
static void try_deleting(struct subject *s, sl_index stmt, uint32_t wait, bool *deleted, uint32_t *killer)
{
  deleted[wait] = true;
  if (still_right(s, (struct sl_weakening){ deleted, 0 }, killer) && budget_left(s))
    sl_finding_add_wait(&s->context, "deletable", stmt, wait);
  else
    deleted[wait] = false;
}

/* ---- one kernel ---- */

enum { LARGEST_DISTANCE = 64 }; /* up to this, a loop's trips are chosen so that every distance is tested */

/* How many trips a loop needs before the edge asks for all that it may: the larger of a vector's distances, whatever its sign. */
static uint32_t reach_of(const struct sl_edge *edge)
{
  uint32_t inner = edge->inner_k < 0 ? 0u - (uint32_t)edge->inner_k : (uint32_t)edge->inner_k;
  return edge->k > inner ? edge->k : inner;
}

/* What the dependences ask of the choice of runs. */
static struct sl_reach find_reach(const struct sl_reference *reference)
{
  struct sl_reach reach = { 0, false };
  for (uint32_t i = 0; i < reference->needs.len; i++) {
    const struct sl_edge *edge = &reference->needs.data[i].edge;
    uint32_t own = reach_of(edge);
    reach.largest = own > reach.largest ? own : reach.largest;
    reach.into_other_visits |= edge->across || sl_edge_is_vector(edge);
  }
  if (reach.largest > LARGEST_DISTANCE)
    reach.largest = LARGEST_DISTANCE;
  return reach;
}

/* A distance beyond that may have met no run that is long enough, and silence would pass for "ok". */
static void find_untested(struct subject *s)
{
  for (uint32_t i = 0; i < s->reference.needs.len; i++) {
    uint32_t reach = reach_of(&s->reference.needs.data[i].edge);
    if (reach > LARGEST_DISTANCE && !s->machine.is_tested[i]) {
      sl_finding_untested(&s->context, i, reach);
      s->undecided = true;
    }
  }
}

static void add_summary(struct subject *s, sl_heap *heap)
{
  sl_buf buf;
  sl_buf_init(&buf, heap);
  sl_print_choices(&buf, &s->choices);
  sluice_check_summary *summary = sl_vec_push(heap, &s->call->result->summaries);
  summary->kernel = s->context.kernel;
  summary->runs = s->runs;
  summary->events = s->events;
  summary->instances = s->instances;
  summary->is_sample = s->choices.is_sample;
  summary->is_exact = !s->undecided;
  summary->runs_text = sl_buf_text(&buf);
}

static struct sl_kernel *kernel_of_name(const sl_program *program, const char *name)
{
  for (uint32_t i = 0; i < program->kernels.len; i++)
    if (strcmp(sl_text(program, program->kernels.data[i]->name), name) == 0)
      return program->kernels.data[i];
  return NULL;
}

static int prepare(struct subject *s, sl_heap *heap, struct sl_kernel *kernel, struct sl_kernel *giving)
{
  struct check_call *call = s->call;
  const char *name = sl_text(call->own, kernel->name);
  call->result->findings.seen = (sl_map){ 0 }; /* places are those of one kernel */
  const struct sl_target *target = sl_target_find(call->targets, sl_text(call->own, kernel->target));
  assert(target && "the program is verified, so its target is known");
  s->context = (struct sl_finding_context){ .heap = heap, .findings = &call->result->findings, .machine = &s->machine,
                                            .reference = &s->reference, .choices = &s->choices,
                                            .inputs = &s->of_reference, .own_source = &call->own_source,
                                            .other_source = &call->other_source,
                                            .kernel = sl_heap_strndup(heap, name, strlen(name)) };
  call->report.source = &call->other_source;
  int status = sl_reference_init(&s->reference, heap, call->other, giving, target, &call->report);
  call->report.source = &call->own_source;
  if (status != SLUICE_OK)
    return status;
  enum sl_run_status ready = sl_machine_init(&s->machine, heap, call->own, kernel, target, &s->reference);
  if (ready != SL_RUN_OK) {
    sl_finding_add_run(&s->context, ready);
    s->undecided = ready == SL_RUN_UNDECIDED;
    return SLUICE_E_ANSWER;
  }
  sl_choices_init(&s->choices, heap, &s->machine.code, &s->reference.code, find_reach(&s->reference), call->options,
                  call->input_found);
  return SLUICE_OK;
}

static const sluice_input *given_value(const struct check_call *call, const char *name)
{
  for (size_t i = 0; i < call->options->input_count; i++)
    if (strcmp(call->options->inputs[i].name, name) == 0)
      return &call->options->inputs[i];
  return NULL;
}

/* Gives the `static` parameters of a kernel the values that are fixed for them. */
static int set_given_statics(struct check_call *call, const sl_program *program, struct sl_kernel *kernel)
{
  for (uint32_t i = 0; i < kernel->params.len; i++) {
    const struct sl_param *param = &kernel->params.data[i];
    const sluice_input *given = param->is_static ? given_value(call, sl_text(program, param->name)) : NULL;
    if (!given || sl_input_is_random(given)) /* random: refused where choices are made */
      continue;
    if (given->count > 1) {
      sl_error(&call->report, SL_RULE_USAGE, param->loc,
               "'%s' is static and can have one value in a check: dependences that are found are those of one value",
               given->name);
      return SLUICE_E_INPUT;
    }
    sl_static_set(kernel, i, given->values[0]);
  }
  return SLUICE_OK;
}

/* Dependences that are found are those of the values that the run has: the given ones, else those of the checked kernel. */
static int choose_statics(struct check_call *call, struct sl_kernel *kernel, struct sl_kernel *giving)
{
  if (giving->is_explicit)
    return SLUICE_OK;
  int status = set_given_statics(call, call->own, kernel);
  call->report.source = &call->other_source;
  if (status == SLUICE_OK)
    status = set_given_statics(call, call->other, giving);
  call->report.source = &call->own_source;
  if (status == SLUICE_OK)
    sl_statics_agree(&call->result->heap, call->own, kernel, call->other, giving);
  return status;
}

static int check_kernel(struct check_call *call, struct sl_kernel *kernel)
{
  sl_heap *heap = &call->result->heap;
  const char *name = sl_text(call->own, kernel->name);
  struct sl_kernel *giving = kernel_of_name(call->other, name);
  if (!giving) {
    sl_error(&call->report, SL_RULE_UNDEFINED, kernel->loc, "there is no kernel '%s' in %s", name, call->against->source.name);
    return SLUICE_E_INPUT;
  }
  int status = choose_statics(call, kernel, giving);
  if (status != SLUICE_OK)
    return status;
  struct subject *s = sl_heap_calloc(heap, 1, sizeof *s);
  s->call = call;
  status = prepare(s, heap, kernel, giving);
  if (status == SLUICE_E_INPUT)
    return status;
  uint32_t errors = call->result->findings.errors;
  if (status == SLUICE_OK) {
    sl_bound_inputs_init(&s->own, heap, &s->choices, &s->machine.code);
    sl_bound_inputs_init(&s->of_reference, heap, &s->choices, &s->reference.code);
    run_all(s);
    if (call->result->findings.errors == errors)
      find_untested(s);
    bool clean = call->result->findings.errors == errors && !s->undecided;
    if (clean && call->options->judge_waits)
      for_each_wait(s, judge_wait);
    if (clean && call->options->minimal)
      for_each_wait(s, try_deleting);
    add_summary(s, heap);
  }
  call->all_ready &= status == SLUICE_OK;
  call->result->findings.undecided |= s->undecided;
  return SLUICE_OK;
}

static int check_inputs(struct check_call *call)
{
  int status = SLUICE_OK;
  for (size_t i = 0; call->all_ready && i < call->options->input_count; i++)
    if (!call->input_found[i]) {
      const sluice_input *input = &call->options->inputs[i];
      bool is_random = sl_input_is_random(input);
      sl_report_begin(&call->report, SLUICE_ERROR, SL_RULE_UNDEFINED, SL_NO_LOC, "no kernel has %s '%s'",
                      is_random ? "an opaque condition" : "a parameter, opaque condition or loaded register",
                      input->name);
      if (is_random)
        sl_report_note(&call->report, SL_NO_LOC, "%s", sl_only_conditions_are_random);
      sl_report_end(&call->report);
      status = SLUICE_E_INPUT;
    }
  return status;
}

/* Findings outlive the programs, and name their files. */
static void keep_names(struct check_call *call)
{
  sl_heap *heap = &call->result->heap;
  call->own_source.name = sl_heap_strndup(heap, call->own_source.name, strlen(call->own_source.name));
  call->other_source.name = sl_heap_strndup(heap, call->other_source.name, strlen(call->other_source.name));
}

static int check_guarded(void *arg)
{
  struct check_call *call = arg;
  keep_names(call);
  call->all_ready = true;
  call->input_found = sl_heap_calloc(&call->result->heap, call->options->input_count + 1, sizeof *call->input_found);
  sl_program_copy_into(call->own, call->input);
  sl_program_copy_into(call->other, call->against);
  for (uint32_t i = 0; i < call->own->kernels.len; i++)
    sl_expand_copies(call->own, call->own->kernels.data[i]);
  for (uint32_t i = 0; i < call->other->kernels.len; i++)
    sl_expand_copies(call->other, call->other->kernels.data[i]);
  for (uint32_t i = 0; i < call->own->kernels.len; i++) {
    int status = check_kernel(call, call->own->kernels.data[i]);
    if (status != SLUICE_OK)
      return status;
  }
  return check_inputs(call);
}

/* A view of a program's source for one call: the program may be shared between threads, its table of lines may not. */
static sl_source view_of(const sluice_program *program, sl_heap *heap)
{
  sl_source view = program->source;
  view.heap = heap;
  memset(&view.lines, 0, sizeof view.lines);
  return view;
}

int sluice_check(sluice_check_result **out, const sluice_program *program, const sluice_targets *targets,
                 const sluice_check_options *options, const sluice_sink *sink)
{
  assert(out && program && targets && options);
  *out = NULL;
  sluice_check_result *result = calloc(1, sizeof *result);
  if (!result)
    return SLUICE_E_NO_MEMORY;
  sl_heap_init(&result->heap, &result->guard);
  struct check_call call = { .result = result, .targets = targets, .options = options, .input = program,
                             .against = options->against ? options->against : program };
  call.own = sl_program_new(call.input->source.name, NULL, 0);
  call.other = sl_program_new(call.against->source.name, NULL, 0);
  int status = SLUICE_E_NO_MEMORY;
  if (call.own && call.other) {
    call.own->heap.guard = call.other->heap.guard = &result->guard;
    call.own_source = view_of(call.input, &result->heap);
    call.other_source = view_of(call.against, &result->heap);
    sl_report_init(&call.report, &result->heap, sink, &call.own_source);
    status = sl_guard_run(&result->guard, check_guarded, &call);
  }
  sluice_program_free(call.own);
  sluice_program_free(call.other);
  if (status == SLUICE_OK) {
    *out = result;
    return SLUICE_OK;
  }
  sluice_check_result_free(result);
  return status;
}

void sluice_check_result_free(sluice_check_result *result)
{
  if (!result)
    return;
  sl_heap_free_all(&result->heap);
  free(result);
}

enum sluice_verdict sluice_check_verdict(const sluice_check_result *result)
{
  assert(result);
  if (result->findings.errors)
    return SLUICE_VERDICT_WRONG;
  return result->findings.undecided ? SLUICE_VERDICT_UNDECIDED : SLUICE_VERDICT_OK;
}

const sluice_finding *sluice_check_findings(const sluice_check_result *result, size_t *count)
{
  assert(result && count);
  *count = result->findings.list.len;
  return result->findings.list.data;
}

const sluice_check_summary *sluice_check_summaries(const sluice_check_result *result, size_t *count)
{
  assert(result && count);
  *count = result->summaries.len;
  return result->summaries.data;
}
