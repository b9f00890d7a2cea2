/* sync_test: random kernels through every strategy, executed over many schedules and judged by the oracle.
 *
 * For each kernel: the input verifies; `shadow` and `barrier` accept it, `per-loop` may answer that it cannot
 * express a dependence; the output survives printing and parsing; and for several trip counts (0, 1, 2, 3, 5 by
 * parameter) and outcomes of opaque conditions every run finishes, respects every dependence instance and, for the
 * counting strategies, waits for nothing else; the closed forms as published take at most four registers for every
 * loop and arm. Some are synchronized for a target with hardly more semaphores than streams. The kernels of
 * bench/table2 are tried too, with trip counts scaled down.
 *
 * The judge is watched as well: of every few kernels a mutant (a wait or an update taken out, a register off by one)
 * runs, and a campaign that catches too few of them fails.
 *
 * Per choice of inputs and strategy there is one schedule for every stream that retires last (this finds every
 * race), and one of each other mode.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/interpreter.h"
#include "property/campaign.h"
#include "property/judge.h"
#include "property/published.h"
#include "target/target.h"

enum { STRATEGIES = 5, ASSIGNMENTS = 6, INSTANCE_LIMIT = 1000, STEP_LIMIT = 200000, MAX_PARAMS = 32, MAX_DISTANCE = 4 };

/* What is done to a synchronized kernel to see whether the oracle notices, and the least share that must be noticed:
 * a wait may be implied by others, a register may count what is never waited for in the runs tried. */
enum mutation { MUTATION_WAIT, MUTATION_UPDATE, MUTATION_REGISTER, MUTATIONS };
static const struct {
  const char *name;
  unsigned least_percent;
} mutations[MUTATIONS] = { { "wait taken out", 35 }, { "update taken out", 35 }, { "register off by one", 35 } };
enum { MUTANT_EVERY = 3 };

static const struct strategy {
  enum sluice_alloc alloc;
  const char *name;
  bool may_refuse, is_exact;
} strategies[STRATEGIES] = { { SLUICE_ALLOC_SHADOW, "shadow", false, true },
                             { SLUICE_ALLOC_PER_LOOP, "per-loop", true, true },
                             { SLUICE_ALLOC_PER_INSTRUCTION, "per-instruction", true, true },
                             { SLUICE_ALLOC_PER_ENGINE, "per-engine", false, true },
                             { SLUICE_ALLOC_BARRIER, "barrier", false, false } };

struct campaign_state {
  const sluice_targets *targets, *few; /* few: with semaphores for the streams and little more */
  bool show; /* print the synchronized kernels that fail */
  uint64_t kernels, accepted[STRATEGIES], refused[STRATEGIES], runs, steps, instances, long_references, undecided;
  uint64_t mutants[MUTATIONS], caught[MUTATIONS];
  uint64_t waited[MAX_DISTANCE + 1]; /* by distance: instances that wait for something, hardware order aside */
  uint64_t waited_across, waited_vector[3]; /* of these; vectors whose inner distance is negative, 0, positive */
};

/* One kernel, synchronized by every strategy that accepts it. */
struct subject {
  struct campaign_state *state;
  sluice_program *input, *synced[STRATEGIES];
  sluice_program *original; /* the input with its dependences as lines, which is what the oracle reads */
  bool is_cut[STRATEGIES]; /* a vector's outer distance alone is kept, as was said: it may wait for more */
  uint64_t random; /* state of the generator that decides inputs and schedules */
  struct sl_failure *failure;
};

static uint64_t draw(struct subject *subject, uint64_t below)
{
  return sl_generate_random(&subject->random) % below;
}

static const struct sl_kernel *kernel_of(const sluice_program *program)
{
  return program->kernels.data[0];
}

static struct sl_oracle_hardware hardware_of(const struct subject *subject)
{
  const char *name = sl_text(subject->original, kernel_of(subject->original)->target);
  return sl_target_hardware(sl_target_find(subject->state->targets, name));
}

/* ---- synchronizing ---- */

static bool survives_printing(const sluice_program *program, const char *strategy, struct sl_failure *failure)
{
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_program *again = NULL;
  char *text = NULL;
  size_t length = 0;
  const char *why = "";
  bool holds;
  if (sluice_program_print(&text, &length, program) != SLUICE_OK)
    return sl_fail(failure, "print", "%s: printing fails", strategy);
  if (sluice_program_parse(&again, "synced.slu", text, length, &sink) != SLUICE_OK)
    holds = sl_fail(failure, "output does not parse", "%s: %s", strategy, messages.first);
  else
    holds = sluice_program_equal(program, again, &why) ||
            sl_fail(failure, "output differs after parsing", "%s: %s", strategy, why);
  sluice_string_free(text);
  sluice_program_free(again);
  return holds;
}

/* As published: at most four registers of an engine for each block but the kernel's own, beside those that the author wrote and
 * nobody reads. */
static bool keeps_few_registers(struct subject *subject, unsigned s)
{
  const sluice_program *synced = subject->synced[s];
  sluice_stats before, after;
  if (sluice_program_stats(&before, subject->original, 0, subject->state->targets) != SLUICE_OK ||
      sluice_program_stats(&after, synced, 0, subject->state->targets) != SLUICE_OK)
    return sl_fail(subject->failure, "no statistics", "%s", strategies[s].name);
  uint64_t most = before.wait_registers + 4 * (uint64_t)(kernel_of(synced)->blocks.len - 2); /* entry 0 is none */
  return after.wait_registers <= most ||
         sl_fail(subject->failure, "more registers than published", "%s: %llu, at most %llu", strategies[s].name,
                 (unsigned long long)after.wait_registers, (unsigned long long)most);
}

static bool synchronize(struct subject *subject, unsigned s)
{
  const struct strategy *strategy = &strategies[s];
  struct campaign_state *state = subject->state;
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  char kind[64];
  options.alloc = strategy->alloc;
  /* Mostly as users get it; the rest with some clean-ups off and another sharing of semaphores. */
  if (draw(subject, 3) == 0) {
    options.cleanups = draw(subject, 2) ? SLUICE_CLEANUP_NONE : (unsigned)draw(subject, SLUICE_CLEANUP_ALL + 1);
    options.counters = (enum sluice_counters)draw(subject, SLUICE_COUNTERS_ENGINE + 1);
  }
  bool may_share = options.counters == SLUICE_COUNTERS_AUTO && strategy->alloc == SLUICE_ALLOC_SHADOW;
  bool has_few = may_share && draw(subject, 4) == 0;
  const sluice_targets *targets = has_few ? state->few : state->targets;
  int status = sluice_sync(&subject->synced[s], subject->input, targets, &options, &sink);
  if (status == SLUICE_E_ANSWER && strategy->may_refuse) {
    state->refused[s]++;
    if (sl_all_published(kernel_of(subject->original)))
      return sl_fail(subject->failure, "refused though published", "%s: %s", strategy->name, messages.first);
    return messages.first[0] || sl_fail(subject->failure, "refused without a message", "%s", strategy->name);
  }
  snprintf(kind, sizeof kind, "%s refuses", strategy->name);
  if (status != SLUICE_OK)
    return sl_fail(subject->failure, kind, "status %d: %s", status, messages.first);
  state->accepted[s]++;
  subject->is_cut[s] = messages.has_cut;
  if (sluice_program_verify(subject->synced[s], state->targets, &sink) != SLUICE_OK)
    return sl_fail(subject->failure, "output does not verify", "%s: %s", strategy->name, messages.first);
  bool is_published = strategy->may_refuse && options.cleanups == SLUICE_CLEANUP_NONE;
  if (is_published && !keeps_few_registers(subject, s))
    return false;
  return survives_printing(subject->synced[s], strategy->name, subject->failure);
}

static bool prepare(struct subject *subject, const char *text)
{
  const sluice_targets *targets = subject->state->targets;
  subject->input = sl_read_program(targets, text, subject->failure);
  sluice_program *again = subject->input ? sl_read_program(targets, text, subject->failure) : NULL;
  if (!again)
    return false;
  subject->original = sl_state_dependences(targets, again, subject->failure);
  if (!subject->original)
    return false;
  for (unsigned s = 0; s < STRATEGIES; s++) {
    if (!synchronize(subject, s))
      return false;
  }
  return true;
}

/* ---- running ---- */

static bool run_once(struct subject *subject, unsigned s, const struct sl_oracle_reference *reference,
                     const struct sl_oracle_schedule *schedule)
{
  bool is_exact = strategies[s].is_exact && !subject->is_cut[s];
  struct sl_oracle_case test = { reference, subject->synced[s], kernel_of(subject->synced[s]), is_exact, STEP_LIMIT };
  struct sl_oracle_outcome outcome;
  sl_oracle_run(&outcome, &test, schedule);
  subject->state->runs++;
  subject->state->steps += outcome.steps;
  if (outcome.verdict == SL_VERDICT_BUDGET) {
    subject->state->undecided++;
    return true;
  }
  if (outcome.verdict == SL_VERDICT_OK)
    return true;
  char kind[64], params[200] = "";
  const struct sl_kernel *kernel = reference->view.kernel;
  for (uint32_t p = 0, at = 0; p < kernel->params.len && at + 40 < sizeof params; p++)
    at += (uint32_t)snprintf(params + at, sizeof params - at, " %.20s=%lld",
                             sl_text(subject->original, kernel->params.data[p].name),
                             (long long)reference->inputs.params[p]);
  snprintf(kind, sizeof kind, "%s: %s", strategies[s].name, sl_verdict_name(outcome.verdict));
  sl_fail(subject->failure, kind, "%s (schedule %u of stream %u, inputs%s)", outcome.text, (unsigned)schedule->mode,
          (unsigned)schedule->victim, params);
  if (subject->state->show) {
    char *text = NULL;
    if (sluice_program_print(&text, NULL, subject->synced[s]) == SLUICE_OK)
      printf("%s", text);
    sluice_string_free(text);
  }
  return false;
}

static bool run_strategy(struct subject *subject, unsigned s, const struct sl_oracle_reference *reference)
{
  uint32_t streams = kernel_of(subject->synced[s])->streams.len;
  for (uint32_t victim = 0; victim < streams; victim++) {
    struct sl_oracle_schedule schedule = { SL_SCHEDULE_HOLD_RETIRE, victim, sl_generate_random(&subject->random) };
    if (!run_once(subject, s, reference, &schedule))
      return false;
  }
  for (unsigned mode = 0; mode < SL_SCHEDULE_MODES; mode++) {
    struct sl_oracle_schedule schedule = { (enum sl_schedule_mode)mode, streams ? (uint32_t)draw(subject, streams) : 0,
                                           sl_generate_random(&subject->random) };
    if (mode != SL_SCHEDULE_HOLD_RETIRE && !run_once(subject, s, reference, &schedule))
      return false;
  }
  return true;
}

/* Static parameters keep their values: the output may depend on them. */
static void choose_params(struct subject *subject, int64_t *params, unsigned kinds)
{
  static const int64_t trips[] = { 1, 2, 0, 3, 3, 5, 2 };
  const struct sl_kernel *kernel = kernel_of(subject->original);
  struct sl_oracle_view view;
  if (sl_oracle_view_init(&view, subject->original, kernel))
    sl_oracle_defaults(&view, params);
  sl_oracle_view_free(&view);
  for (uint32_t p = 0; p < kernel->params.len; p++) {
    if (!kernel->params.data[p].is_static)
      params[p] = trips[draw(subject, kinds)];
  }
}

static void count_waited(struct campaign_state *state, const struct sl_oracle_reference *reference)
{
  state->instances += reference->instance_count;
  for (uint32_t stream = 0; stream < reference->view.kernel->streams.len; stream++) {
    const struct sl_oracle_sequence *sequence = &reference->sequences[stream];
    for (uint32_t i = 0; i < sequence->len; i++) {
      const struct sl_oracle_instruction *consumer = &reference->instructions[sequence->instances[i].instruction];
      for (uint32_t d = 0; d < consumer->dep_count; d++) {
        const struct sl_oracle_dep *dep = &reference->deps[consumer->first_dep + d];
        if (dep->free || !reference->needs[sequence->instances[i].first_need + d] || dep->k > MAX_DISTANCE)
          continue;
        state->waited[dep->k]++;
        state->waited_across += dep->across;
        if (dep->inner)
          state->waited_vector[(dep->b > 0) - (dep->b < 0) + 1]++;
      }
    }
  }
}

/* One choice of inputs. Kernels that run for too long are tried with smaller trip counts. */
static bool run_assignment(struct subject *subject)
{
  for (unsigned kinds = 7;; kinds -= 3) {
    int64_t params[MAX_PARAMS] = { 0 };
    choose_params(subject, params, kinds);
    struct sl_oracle_inputs inputs = { params, kernel_of(subject->original)->params.len,
                                       sl_generate_random(&subject->random) };
    struct sl_oracle_reference reference;
    enum sl_reference_status status = sl_oracle_reference_init(
        &reference, subject->original, kernel_of(subject->original), hardware_of(subject), &inputs, INSTANCE_LIMIT);
    bool holds = true;
    subject->state->long_references += status == SL_REFERENCE_LONG;
    if (status == SL_REFERENCE_BAD || status == SL_REFERENCE_UNSUPPORTED)
      holds = sl_fail(subject->failure, "no reference", "status %d", (int)status);
    if (status == SL_REFERENCE_OK)
      count_waited(subject->state, &reference);
    for (unsigned s = 0; s < STRATEGIES && holds && status == SL_REFERENCE_OK; s++)
      holds = !subject->synced[s] || run_strategy(subject, s, &reference);
    sl_oracle_reference_free(&reference);
    if (status != SL_REFERENCE_LONG || kinds == 1)
      return holds;
  }
}

static void free_subject(struct subject *subject)
{
  sluice_program_free(subject->input);
  sluice_program_free(subject->original);
  for (unsigned s = 0; s < STRATEGIES; s++)
    sluice_program_free(subject->synced[s]);
}

/* ---- mutants ---- */

static bool is_mutable(const struct sl_kernel *kernel, sl_index stmt, enum mutation mutation)
{
  if (sl_stmt_get(kernel, stmt)->kind != SL_STMT_OP)
    return false;
  const struct sl_op *op = sl_stmt_op(kernel, stmt);
  switch (mutation) {
  case MUTATION_WAIT: return op->wait_count > 0;
  case MUTATION_UPDATE: return op->inc_count > 0;
  default: return op->code == SL_OP_REG_ADD && kernel->operands.data[op->first_operand + 2].kind == SL_OPERAND_INT;
  }
}

static void mutate_op(struct subject *subject, const struct sl_kernel *kernel, struct sl_op *op, enum mutation mutation)
{
  switch (mutation) {
  case MUTATION_WAIT:
    op->first_wait += (uint32_t)draw(subject, 2) && op->wait_count > 1; /* the first or the last one */
    op->wait_count--;
    break;
  case MUTATION_UPDATE: op->inc_count--; break;
  default: kernel->operands.data[op->first_operand + 2].value += draw(subject, 2) ? 1 : -1; break;
  }
}

/* Changes one op of the synchronized kernel; false when it has none to change. */
static bool mutate(struct subject *subject, unsigned s, enum mutation mutation)
{
  const struct sl_kernel *kernel = kernel_of(subject->synced[s]);
  uint64_t count = 0;
  for (sl_index i = sl_walk_first(kernel, kernel->root); i; i = sl_walk_next(kernel, kernel->root, i))
    count += is_mutable(kernel, i, mutation);
  uint64_t chosen = count ? draw(subject, count) : 0;
  for (sl_index i = sl_walk_first(kernel, kernel->root); i && count; i = sl_walk_next(kernel, kernel->root, i)) {
    if (is_mutable(kernel, i, mutation) && chosen-- == 0) {
      mutate_op(subject, kernel, sl_stmt_op(kernel, i), mutation);
      return true;
    }
  }
  return false;
}

/* The strategies' outputs have passed: keeps the first alone, breaks it, and counts whether that is noticed. */
static void try_mutant(struct subject *subject)
{
  struct sl_failure *kept = subject->failure, noticed = { "", "" };
  enum mutation mutation = (enum mutation)draw(subject, MUTATIONS);
  for (unsigned s = 1; s < STRATEGIES; s++) {
    sluice_program_free(subject->synced[s]);
    subject->synced[s] = NULL;
  }
  if (!mutate(subject, 0, mutation))
    return;
  bool holds = true, show = subject->state->show;
  subject->failure = &noticed;
  subject->state->show = false;
  for (unsigned a = 0; a < ASSIGNMENTS && holds; a++)
    holds = run_assignment(subject);
  subject->failure = kept;
  subject->state->show = show;
  subject->state->mutants[mutation]++;
  subject->state->caught[mutation] += !holds;
}

static bool kernel_is_synchronized(void *user, const char *text, uint64_t seed, struct sl_failure *failure)
{
  struct subject subject = { .state = user, .random = seed, .failure = failure };
  subject.state->kernels++;
  bool holds = prepare(&subject, text);
  for (unsigned a = 0; a < ASSIGNMENTS && holds; a++)
    holds = run_assignment(&subject);
  if (holds && seed % MUTANT_EVERY == 0)
    try_mutant(&subject);
  free_subject(&subject);
  return holds;
}

/* ---- the kernels of bench/table2 ---- */

static bool bounds_a_loop(const struct sl_kernel *kernel, sl_name name)
{
  for (uint32_t l = 1; l < kernel->loops.len; l++) {
    const struct sl_expr *hi = &kernel->exprs.data[kernel->loops.data[l].hi];
    if (kernel->loops.data[l].hi && hi->kind == SL_EXPR_NAME && (sl_name)hi->u.value == name)
      return true;
  }
  return false;
}

static bool try_scaled(struct campaign_state *state, const char *path, const char *text, unsigned attempt,
                       struct sl_failure *failure)
{
  static const int64_t trips[][3] = { { 2, 3, 2 }, { 3, 2, 5 }, { 1, 1, 1 }, { 5, 3, 3 }, { 4, 4, 4 } };
  struct subject subject = { .state = state, .random = attempt, .failure = failure };
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_program *program = NULL;
  if (sluice_program_parse(&program, path, text, strlen(text), &sink) != SLUICE_OK)
    return sl_fail(failure, "does not parse", "%s", messages.first);
  const struct sl_kernel *kernel = kernel_of(program);
  for (uint32_t p = 0, bounds = 0; p < kernel->params.len; p++) {
    if (bounds_a_loop(kernel, kernel->params.data[p].name))
      sluice_program_define(program, sl_text(program, kernel->params.data[p].name), trips[attempt][bounds++ % 3],
                            &sink);
  }
  char *scaled = NULL;
  bool holds = sluice_program_print(&scaled, NULL, program) == SLUICE_OK && prepare(&subject, scaled);
  for (unsigned a = 0; a < ASSIGNMENTS && holds; a++)
    holds = run_assignment(&subject);
  free_subject(&subject);
  sluice_string_free(scaled);
  sluice_program_free(program);
  return holds;
}

struct table2 {
  struct campaign_state *state;
  unsigned files, failed;
};

static void try_table2(void *user, const char *path)
{
  struct table2 *table = user;
  size_t length = 0;
  char *text = strstr(path, "hand") || strstr(path, ".manual.") ? NULL : sl_read_file(path, &length);
  for (unsigned attempt = 0; text && attempt < 5; attempt++) {
    struct sl_failure failure = { "", "" };
    if (try_scaled(table->state, path, text, attempt, &failure))
      continue;
    table->failed++;
    printf("FAILED: %s, attempt %u: %s: %s\n", path, attempt, failure.kind, failure.text);
  }
  table->files += text != NULL;
  free(text);
}

static unsigned report_mutants(const struct campaign_state *state)
{
  unsigned blind = 0;
  for (unsigned m = 0; m < MUTATIONS; m++) {
    printf("mutants, %s: %llu of %llu noticed\n", mutations[m].name, (unsigned long long)state->caught[m],
           (unsigned long long)state->mutants[m]);
    if (state->mutants[m] >= 50 && 100 * state->caught[m] < mutations[m].least_percent * state->mutants[m]) {
      printf("FAILED: fewer than %u %% of these mutants were noticed\n", mutations[m].least_percent);
      blind++;
    }
  }
  return blind;
}

/* Whether the kernels had dependences of every form to wait for. */
static unsigned report_forms(const struct campaign_state *state)
{
  const uint64_t *vectors = state->waited_vector;
  printf("dependence instances to wait for, by distance:");
  for (unsigned k = 0; k <= MAX_DISTANCE; k++)
    printf(" %u: %llu%s", k, (unsigned long long)state->waited[k], k < MAX_DISTANCE ? "," : "\n");
  printf("of these across visits: %llu; vectors with an inner distance below 0: %llu, 0: %llu, above 0: %llu\n",
         (unsigned long long)state->waited_across, (unsigned long long)vectors[0], (unsigned long long)vectors[1],
         (unsigned long long)vectors[2]);
  bool has_all = state->waited_across && vectors[0] && vectors[1] && vectors[2];
  if (state->kernels < 500 || has_all)
    return 0;
  printf("FAILED: some form has no instance\n");
  return 1;
}

static double share(uint64_t part, uint64_t whole)
{
  return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* The kernels have at most five engines and three queues. */
static bool load_few(sluice_targets *targets)
{
  static const char text[] = "target generic \"few semaphores\" like generic {\n"
                             "  semaphores {\n    count 8 assumed\n    reserved 0 assumed\n  }\n}\n"
                             "target generic-weak \"few semaphores\" like generic-weak {\n"
                             "  semaphores {\n    count 8 assumed\n    reserved 0 assumed\n  }\n}\n";
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  return sluice_targets_load(targets, "few.target", text, sizeof text - 1, &sink) == SLUICE_OK;
}

int main(int argc, char **argv)
{
  struct sl_campaign campaign;
  sl_campaign_options(&campaign, argc, argv, 2000, 100000);
  sluice_targets *targets = NULL, *few = NULL;
  if (sluice_targets_new(&targets) != SLUICE_OK || sluice_targets_new(&few) != SLUICE_OK || !load_few(few)) {
    printf("sync: no targets\n");
    return 1;
  }
  struct campaign_state state = { .targets = targets, .few = few, .show = campaign.only_one };
  unsigned failed = sl_campaign_run(&campaign, SL_GENERATE_SYNC, kernel_is_synchronized, &state);
  uint64_t kernels = state.kernels;
  for (unsigned s = 0; s < STRATEGIES; s++)
    printf("%s: %llu accepted, %llu refused (%.1f %% of what was tried)\n", strategies[s].name,
           (unsigned long long)state.accepted[s], (unsigned long long)state.refused[s],
           share(state.accepted[s], state.accepted[s] + state.refused[s]));
  failed += report_mutants(&state);
  failed += report_forms(&state);
  struct table2 table = { &state, 0, 0 };
  if (!campaign.only_one) {
    char directory[4096];
    snprintf(directory, sizeof directory, "%s/bench/table2", campaign.source);
    sl_each_slu(directory, try_table2, &table);
  }
  int code = sl_campaign_exit_code(&campaign, failed + table.failed);
  printf(
      "sync: %llu random kernels, %u of table 2, %llu runs, %llu steps, %.0f instances per kernel run, %llu inputs too "
      "long, %llu runs undecided, %u failures\n",
      (unsigned long long)kernels, table.files, (unsigned long long)state.runs, (unsigned long long)state.steps,
      (double)state.instances / (double)(kernels ? ASSIGNMENTS * kernels : 1),
      (unsigned long long)state.long_references, (unsigned long long)state.undecided, failed + table.failed);
  sluice_targets_free(targets);
  sluice_targets_free(few);
  return code;
}
