/* test_input.c: values that a caller fixes: lists that repeat, random outcomes; the simulator and the checker draw the same. */
#include "unit.h"

#include <string.h>

#include <sluice/sluice.h>

#include "run/input.h"

static void test_lists_start_again(void **state)
{
  (void)state;
  const int64_t values[] = { 4, 0, 7 };
  const sluice_input input = { "r", values, 3, 0 };
  for (uint64_t n = 0; n < 20; n++)
    assert_int_equal(sl_input_value(&input, "r", n), values[n % 3]);
}

/* Fair, and without a relation between neighbours, seeds or names: four standard deviations of so many coins. */
static void test_random_outcomes_are_fair(void **state)
{
  (void)state;
  enum { DRAWS = 40000, OFF = 400 };
  int ones = 0, same_as_before = 0, same_as_other_seed = 0, same_as_other_name = 0;
  for (uint64_t n = 0; n < DRAWS; n++) {
    bool drawn = sl_random_outcome(1, "c", n);
    ones += drawn;
    same_as_before += n > 0 && drawn == sl_random_outcome(1, "c", n - 1);
    same_as_other_seed += drawn == sl_random_outcome(2, "c", n);
    same_as_other_name += drawn == sl_random_outcome(1, "d", n);
  }
  assert_in_range(ones, DRAWS / 2 - OFF, DRAWS / 2 + OFF);
  assert_in_range(same_as_before, DRAWS / 2 - OFF, DRAWS / 2 + OFF);
  assert_in_range(same_as_other_seed, DRAWS / 2 - OFF, DRAWS / 2 + OFF);
  assert_in_range(same_as_other_name, DRAWS / 2 - OFF, DRAWS / 2 + OFF);
}

/* Two engines walk the branch, and must agree on it. */
static const char branching[] =
    "kernel k target generic explicit {\n  loop i < 200 {\n    if ?c {\n      x0: e0.op\n      x1: e1.op\n"
    "    }\n  }\n}\n";
enum { TRIPS = 200 };

struct session {
  sluice_targets *targets;
  sluice_program *program;
};

static void begin(struct session *session)
{
  assert_int_equal(sluice_targets_new(&session->targets), SLUICE_OK);
  assert_int_equal(sluice_program_parse(&session->program, "k.slu", branching, strlen(branching), NULL), SLUICE_OK);
  assert_int_equal(sluice_program_verify(session->program, session->targets, NULL), SLUICE_OK);
}

static void end(struct session *session)
{
  sluice_program_free(session->program);
  sluice_targets_free(session->targets);
}

static void simulate(const struct session *session, const sluice_input *input, uint64_t *instructions, uint64_t *ticks)
{
  sluice_sim_options options = SLUICE_SIM_OPTIONS_INIT;
  sluice_sim_result *result;
  options.inputs = input;
  options.input_count = 1;
  assert_int_equal(sluice_sim(&result, session->program, 0, session->targets, &options, NULL), SLUICE_OK);
  *instructions = sluice_sim_summary_get(result)->instructions;
  *ticks = sluice_sim_summary_get(result)->ticks;
  sluice_sim_result_free(result);
}

static uint64_t checked_events(const struct session *session, const sluice_input *input, const char *runs_text)
{
  sluice_check_options options = SLUICE_CHECK_OPTIONS_INIT;
  sluice_check_result *result;
  options.inputs = input;
  options.input_count = 1;
  size_t count;
  assert_int_equal(sluice_check(&result, session->program, session->targets, &options, NULL), SLUICE_OK);
  const sluice_check_summary *summary = sluice_check_summaries(result, &count);
  assert_int_equal(count, 1);
  if (runs_text)
    assert_string_equal(summary->runs_text, runs_text);
  uint64_t events = summary->events;
  sluice_check_result_free(result);
  return events;
}

/* A list of what is drawn does the same as drawing. */
static void test_random_is_what_is_drawn(void **state)
{
  (void)state;
  struct session session;
  int64_t values[TRIPS];
  uint64_t ones = 0, drawn[2], listed[2];
  for (uint64_t n = 0; n < TRIPS; n++)
    ones += (uint64_t)(values[n] = sl_random_outcome(7, "c", n));
  const sluice_input random = { "c", NULL, 0, 7 }, list = { "c", values, TRIPS, 0 };
  begin(&session);
  simulate(&session, &random, &drawn[0], &drawn[1]);
  simulate(&session, &list, &listed[0], &listed[1]);
  assert_int_equal(drawn[0], 2 * ones);
  assert_int_equal(drawn[0], listed[0]);
  assert_int_equal(drawn[1], listed[1]);
  assert_int_equal(checked_events(&session, &random, "?c in 1 pattern"), checked_events(&session, &list, NULL));
  end(&session);
}

static void test_only_conditions_are_random(void **state)
{
  (void)state;
  static const char text[] = "kernel k(n = 3) target generic explicit {\n  loop i < n {\n    x0: e0.op\n  }\n}\n";
  struct session session;
  const sluice_input random = { "n", NULL, 0, 1 };
  sluice_sim_options sim = SLUICE_SIM_OPTIONS_INIT;
  sluice_check_options check = SLUICE_CHECK_OPTIONS_INIT;
  sluice_sim_result *simulated;
  sluice_check_result *checked;
  sim.inputs = check.inputs = &random;
  sim.input_count = check.input_count = 1;
  begin(&session);
  sluice_program_free(session.program);
  assert_int_equal(sluice_program_parse(&session.program, "k.slu", text, strlen(text), NULL), SLUICE_OK);
  assert_int_equal(sluice_program_verify(session.program, session.targets, NULL), SLUICE_OK);
  assert_int_equal(sluice_sim(&simulated, session.program, 0, session.targets, &sim, NULL), SLUICE_E_INPUT);
  assert_int_equal(sluice_check(&checked, session.program, session.targets, &check, NULL), SLUICE_E_INPUT);
  assert_int_equal(sluice_sim_check_inputs(session.program, 0, session.targets, &sim, NULL), SLUICE_E_INPUT);
  sim.ignore_unknown_inputs = true; /* it has the name, but for something else: its own value holds */
  assert_int_equal(sluice_sim(&simulated, session.program, 0, session.targets, &sim, NULL), SLUICE_OK);
  assert_int_equal(sluice_sim_summary_get(simulated)->instructions, 3);
  sluice_sim_result_free(simulated);
  end(&session);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_lists_start_again),
    cmocka_unit_test(test_random_outcomes_are_fair),
    cmocka_unit_test(test_random_is_what_is_drawn),
    cmocka_unit_test(test_only_conditions_are_random),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
