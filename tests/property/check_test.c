/* check_test: random kernels through every strategy and then the checker: what a strategy accepts, the checker accepts.
 *
 * For each kernel: the input verifies; `shadow`, `per-engine` and `barrier` accept it, the closed forms may answer that they
 * cannot express a dependence; and the checker, which takes the dependences from the kernel that was not synchronized, finds
 * no error in the runs it chooses. The only thing it may leave open is what did not fit in its budget. The tests of the
 * strategies (sync_test) ask the same of another judge, the interpreter of tests/oracle.
 *
 * A checker that is blind would pass all this, so it is watched: of every few kernels a mutant, with one wait or update taken
 * out, is checked too, and a campaign that refuses too few of them fails. agree_test says which of them must be refused.
 */
#include <sluice/check.h>

#include <stdio.h>
#include <string.h>

#include "ir/program.h"
#include "property/campaign.h"
#include "property/judge.h"

/* MAX_EVENTS is for all runs of a kernel: a thousand a run, and a few long runs. */
enum { STRATEGIES = 6, MAX_RUNS = 200, MAX_EVENTS = 200000, MUTANT_EVERY = 2 };

/* What is taken out of a synchronized kernel, and the least share of mutants that must be refused: a wait may be implied by
 * others. Without an update its waits are never satisfied or the counter is short at the end, but where it never executes. */
enum mutation { MUTATION_WAIT, MUTATION_UPDATE, MUTATIONS };
static const struct {
  const char *name;
  unsigned least_percent;
} mutations[MUTATIONS] = { { "wait taken out", 50 }, { "update taken out", 70 } };

static const struct strategy {
  enum sluice_alloc alloc;
  const char *name;
  bool may_refuse;
} strategies[STRATEGIES] = { { SLUICE_ALLOC_SHADOW, "shadow", false },
                             { SLUICE_ALLOC_PER_LOOP, "per-loop", true },
                             { SLUICE_ALLOC_PER_INSTRUCTION, "per-instruction", true },
                             { SLUICE_ALLOC_PER_ENGINE, "per-engine", false },
                             { SLUICE_ALLOC_UNROLL, "unroll", true },
                             { SLUICE_ALLOC_BARRIER, "barrier", false } };

struct campaign_state {
  const sluice_targets *targets;
  bool show; /* print the synchronized kernels that fail */
  uint64_t kernels, accepted[STRATEGIES], refused[STRATEGIES], judged[STRATEGIES], in_part[STRATEGIES];
  uint64_t runs, events, instances, samples;
  uint64_t mutants[MUTATIONS], caught[MUTATIONS];
};

struct subject {
  struct campaign_state *state;
  sluice_program *original, *synced;
  uint64_t random;
  struct sl_failure *failure;
};

static const struct sl_kernel *kernel_of(const sluice_program *program)
{
  return program->kernels.data[0];
}

static bool prepare(struct subject *subject, const char *text)
{
  subject->original = sl_read_program(subject->state->targets, text, subject->failure);
  return subject->original != NULL;
}

/* Leaves subject->synced NULL when the strategy may and does refuse. */
static bool synchronize(struct subject *subject, unsigned s)
{
  const struct strategy *strategy = &strategies[s];
  struct campaign_state *state = subject->state;
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  char kind[64];
  options.alloc = strategy->alloc;
  int status = sluice_sync(&subject->synced, subject->original, state->targets, &options, &sink);
  if (status == SLUICE_E_ANSWER && strategy->may_refuse) {
    state->refused[s]++;
    return true;
  }
  snprintf(kind, sizeof kind, "%s refuses", strategy->name);
  if (status != SLUICE_OK)
    return sl_fail(subject->failure, kind, "status %d: %s", status, messages.first);
  state->accepted[s]++;
  if (sluice_program_verify(subject->synced, state->targets, &sink) != SLUICE_OK)
    return sl_fail(subject->failure, "output does not verify", "%s: %s", strategy->name, messages.first);
  return true;
}

/* ---- checking ---- */

static sluice_check_result *check(struct subject *subject, char *why, size_t size)
{
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_check_options options = SLUICE_CHECK_OPTIONS_INIT;
  options.against = subject->original;
  options.max_runs = MAX_RUNS;
  options.max_events = MAX_EVENTS;
  options.seed = sl_generate_random(&subject->random);
  options.judge_waits = false;
  sluice_check_result *result = NULL;
  int status = sluice_check(&result, subject->synced, subject->state->targets, &options, &sink);
  if (status != SLUICE_OK)
    snprintf(why, size, "status %d: %s", status, messages.first);
  return result;
}

static void count(struct campaign_state *state, unsigned s, const sluice_check_result *result)
{
  size_t length;
  const sluice_check_summary *summary = sluice_check_summaries(result, &length);
  state->judged[s] += sluice_check_verdict(result) == SLUICE_VERDICT_OK;
  state->in_part[s] += sluice_check_verdict(result) == SLUICE_VERDICT_UNDECIDED;
  state->runs += length ? summary->runs : 0;
  state->events += length ? summary->events : 0;
  state->instances += length ? summary->instances : 0;
  state->samples += length && summary->is_sample;
}

/* Errors are failures, and so is what the checker cannot decide, unless it ran out of events. */
static bool all_well(struct subject *subject, unsigned s, const sluice_check_result *result)
{
  size_t length;
  const sluice_finding *findings = sluice_check_findings(result, &length);
  for (size_t i = 0; i < length; i++) {
    if (findings[i].severity != SLUICE_ERROR && strstr(findings[i].text, "budget"))
      continue;
    char kind[64];
    snprintf(kind, sizeof kind, "%s: %s", strategies[s].name, findings[i].rule);
    const char *run = findings[i].note_count ? findings[i].notes[findings[i].note_count - 1] : "";
    return sl_fail(subject->failure, kind, "%s (%s)", findings[i].text, run);
  }
  return true;
}

static void show(const sluice_program *program)
{
  char *text = NULL;
  if (sluice_program_print(&text, NULL, program) == SLUICE_OK)
    printf("%s", text);
  sluice_string_free(text);
}

static bool is_accepted(struct subject *subject, unsigned s)
{
  char why[500];
  sluice_check_result *result = check(subject, why, sizeof why);
  if (!result)
    return sl_fail(subject->failure, "not checked", "%s: %s", strategies[s].name, why);
  count(subject->state, s, result);
  bool holds = all_well(subject, s, result);
  if (!holds && subject->state->show)
    show(subject->synced);
  sluice_check_result_free(result);
  return holds;
}

/* ---- mutants ---- */

static bool is_mutable(const struct sl_kernel *kernel, sl_index stmt, enum mutation mutation)
{
  if (kernel->stmts.data[stmt].kind != SL_STMT_OP)
    return false;
  const struct sl_op *op = sl_stmt_op(kernel, stmt);
  return mutation == MUTATION_WAIT ? op->wait_count > 0 : op->inc_count > 0;
}

/* Takes the last wait or update off one instruction; false when there is none. */
static bool mutate(struct subject *subject, enum mutation mutation)
{
  const struct sl_kernel *kernel = kernel_of(subject->synced);
  uint64_t found = 0;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at))
    found += is_mutable(kernel, at, mutation);
  if (!found)
    return false;
  uint64_t chosen = sl_generate_random(&subject->random) % found;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (!is_mutable(kernel, at, mutation) || chosen-- > 0)
      continue;
    struct sl_op *op = sl_stmt_op(kernel, at);
    if (mutation == MUTATION_WAIT)
      op->wait_count--;
    else
      op->inc_count--;
    return true;
  }
  return false;
}

static bool try_mutant(struct subject *subject)
{
  enum mutation mutation = (enum mutation)(sl_generate_random(&subject->random) % MUTATIONS);
  if (!mutate(subject, mutation))
    return true;
  char why[500];
  sluice_check_result *result = check(subject, why, sizeof why);
  if (!result)
    return sl_fail(subject->failure, "mutant not checked", "%s", why);
  subject->state->mutants[mutation]++;
  subject->state->caught[mutation] += sluice_check_verdict(result) == SLUICE_VERDICT_WRONG;
  sluice_check_result_free(result);
  return true;
}

static unsigned report_mutants(const struct campaign_state *state)
{
  unsigned blind = 0;
  for (unsigned m = 0; m < MUTATIONS; m++) {
    printf("mutants, %s: %llu of %llu refused\n", mutations[m].name, (unsigned long long)state->caught[m],
           (unsigned long long)state->mutants[m]);
    if (state->mutants[m] >= 50 && 100 * state->caught[m] < mutations[m].least_percent * state->mutants[m]) {
      printf("FAILED: fewer than %u %% of these mutants were refused\n", mutations[m].least_percent);
      blind++;
    }
  }
  return blind;
}

/* ---- the campaign ---- */

static bool strategies_are_accepted(void *user, const char *text, uint64_t seed, struct sl_failure *failure)
{
  struct subject subject = { .state = user, .random = seed, .failure = failure };
  subject.state->kernels++;
  bool holds = prepare(&subject, text);
  for (unsigned s = 0; s < STRATEGIES && holds; s++) {
    holds = synchronize(&subject, s);
    if (holds && subject.synced)
      holds = is_accepted(&subject, s);
    if (holds && s == 0 && seed % MUTANT_EVERY == 0)
      holds = try_mutant(&subject);
    sluice_program_free(subject.synced);
    subject.synced = NULL;
  }
  sluice_program_free(subject.original);
  return holds;
}

static double share(uint64_t part, uint64_t whole)
{
  return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void report_shares(const struct campaign_state *state)
{
  for (unsigned s = 0; s < STRATEGIES; s++) {
    uint64_t tried = state->accepted[s] + state->refused[s];
    printf(
        "%s: accepts %llu of %llu (%.1f %%); of these the checker accepts %llu (%.1f %%) and %llu as far as its budget "
        "went\n",
        strategies[s].name, (unsigned long long)state->accepted[s], (unsigned long long)tried,
        share(state->accepted[s], tried), (unsigned long long)state->judged[s],
        share(state->judged[s], state->accepted[s]), (unsigned long long)state->in_part[s]);
  }
}

int main(int argc, char **argv)
{
  struct sl_campaign campaign;
  sl_campaign_options(&campaign, argc, argv, 2000, 100000);
  sluice_targets *targets = NULL;
  if (sluice_targets_new(&targets) != SLUICE_OK) {
    printf("check: no targets\n");
    return 1;
  }
  struct campaign_state state = { .targets = targets, .show = campaign.only_one };
  unsigned failed = sl_campaign_run(&campaign, SL_GENERATE_SYNC, strategies_are_accepted, &state);
  report_shares(&state);
  failed += report_mutants(&state);
  printf("check: %llu random kernels, %llu runs (%llu programs by sample), %llu events, %llu instances tested, %u "
         "failures\n",
         (unsigned long long)state.kernels, (unsigned long long)state.runs, (unsigned long long)state.samples,
         (unsigned long long)state.events, (unsigned long long)state.instances, failed);
  sluice_targets_free(targets);
  return sl_campaign_exit_code(&campaign, failed);
}
