/* infer_sync_test: random kernels with accesses (generate_affine.c) whose dependences are found, not stated, through
 * `sync` and `check`: whatever is inferred, strategy shadow expresses it, and the checker accepts the result. Whether
 * what is inferred is right is another question: infer_test.
 */
#include <stdio.h>

#include "property/judge.h"

enum { MAX_RUNS = 200, MAX_EVENTS = 2000000, MAX_UNDECIDED_PERCENT = 1 };

struct state {
  const sluice_targets *targets;
  bool show;
  uint64_t kernels, waits, runs, instances, undecided;
};

static sluice_program *synchronize(const struct state *state, const sluice_program *original,
                                   struct sl_failure *failure)
{
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  sluice_program *synced = NULL, *again = NULL;
  options.alloc = SLUICE_ALLOC_SHADOW;
  int status = sluice_sync(&synced, original, state->targets, &options, &sink);
  if (status == SLUICE_OK)
    again = sl_read_again(state->targets, synced, failure);
  else
    sl_fail(failure, "shadow refuses", "status %d: %s", status, messages.first);
  sluice_program_free(synced);
  return again;
}

static bool is_accepted(struct state *state, const sluice_program *synced, const sluice_program *original,
                        struct sl_failure *failure)
{
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_check_options options = SLUICE_CHECK_OPTIONS_INIT;
  sluice_check_result *result = NULL;
  const char *rule, *text;
  size_t count;
  options.against = original;
  options.max_runs = MAX_RUNS;
  options.max_events = MAX_EVENTS;
  options.judge_waits = false;
  if (sluice_check(&result, synced, state->targets, &options, &sink) != SLUICE_OK)
    return sl_fail(failure, "the checker fails", "%s", messages.first);
  enum sl_answer answer = sl_check_answer(result, &rule, &text);
  bool holds = answer != SL_ANSWER_FAULT || sl_fail(failure, rule, "%s", text);
  const sluice_check_summary *summaries = sluice_check_summaries(result, &count);
  state->undecided += answer == SL_ANSWER_UNDECIDED || answer == SL_ANSWER_DECLARED;
  for (size_t i = 0; i < count; i++) {
    state->runs += summaries[i].runs;
    state->instances += summaries[i].instances;
  }
  sluice_check_result_free(result);
  return holds;
}

static bool sync_is_accepted(void *user, const char *text, uint64_t seed, struct sl_failure *failure)
{
  struct state *state = user;
  (void)seed;
  state->kernels++;
  sluice_program *original = sl_read_program(state->targets, text, failure);
  sluice_program *synced = original ? synchronize(state, original, failure) : NULL;
  bool holds = synced && is_accepted(state, synced, original, failure);
  if (synced) {
    state->waits += sl_case_kernel(synced)->waits.len;
    char *shown = NULL;
    if (state->show && sluice_program_print(&shown, NULL, synced) == SLUICE_OK)
      printf("%s", shown);
    sluice_string_free(shown);
  }
  sluice_program_free(synced);
  sluice_program_free(original);
  return holds;
}

int main(int argc, char **argv)
{
  struct sl_campaign campaign;
  sl_campaign_options(&campaign, argc, argv, 1000, 100000);
  sluice_targets *targets = NULL;
  if (sluice_targets_new(&targets) != SLUICE_OK) {
    printf("infer_sync: no targets\n");
    return 1;
  }
  struct state state = { .targets = targets, .show = campaign.only_one };
  unsigned failed = sl_campaign_run(&campaign, SL_GENERATE_AFFINE, sync_is_accepted, &state);
  if (state.kernels >= 100 &&
      (100 * state.undecided > MAX_UNDECIDED_PERCENT * state.kernels || state.waits < state.kernels)) {
    printf("FAILED: too many kernels are undecided, or too few wait for anything\n");
    failed++;
  }
  printf(
      "infer_sync: %llu kernels with %llu waits, %llu runs, %llu dependence instances, %llu undecided, %u failures\n",
      (unsigned long long)state.kernels, (unsigned long long)state.waits, (unsigned long long)state.runs,
      (unsigned long long)state.instances, (unsigned long long)state.undecided, failed);
  sluice_targets_free(targets);
  return sl_campaign_exit_code(&campaign, failed);
}
