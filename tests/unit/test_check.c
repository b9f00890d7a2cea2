/* test_check.c: the entry points of sluice/check.h, and what a result promises. What the checker decides is tested as text. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <sluice/sluice.h>

static const char race_and_right[] = "sluice 1\n"
                                     "\n"
                                     "kernel race(n = 4) target generic explicit {\n"
                                     "  sem s\n"
                                     "  loop i < n {\n"
                                     "    p: e0.op  inc s\n"
                                     "    c: e1.op  wait s >= i  from \"hand.pto\":7:3\n"
                                     "  }\n"
                                     "  epilogue\n"
                                     "\n"
                                     "  dep p -> c\n"
                                     "}\n"
                                     "\n"
                                     "kernel right target generic explicit {\n"
                                     "  sem s\n"
                                     "  a: e0.op  inc s\n"
                                     "  b: e1.op  wait s >= 1, s >= 0\n"
                                     "  epilogue\n"
                                     "\n"
                                     "  dep a -> b\n"
                                     "}\n";

static const char only_right[] = "kernel right target generic explicit {\n"
                                 "  a: e0.op\n"
                                 "  b: e1.op\n"
                                 "\n"
                                 "  dep a -> b\n"
                                 "}\n";

/* ---- what every test needs ---- */

struct session {
  sluice_targets *targets;
  sluice_program *program, *against;
  sluice_check_result *result;
  sluice_check_options options;
  char messages[4000];
};

static void keep(void *user, const sluice_diag *diag)
{
  struct session *session = user;
  size_t length = strlen(session->messages);
  snprintf(session->messages + length, sizeof session->messages - length, "%s:%u: %s [%s]\n", diag->file, diag->line,
           diag->text, diag->rule);
}

static sluice_program *parse(const struct session *session, const char *name, const char *text)
{
  sluice_program *program;
  assert_int_equal(sluice_program_parse(&program, name, text, strlen(text), NULL), SLUICE_OK);
  assert_int_equal(sluice_program_verify(program, session->targets, NULL), SLUICE_OK);
  return program;
}

static void begin(struct session *session, const char *text)
{
  *session = (struct session){ .options = SLUICE_CHECK_OPTIONS_INIT };
  assert_int_equal(sluice_targets_new(&session->targets), SLUICE_OK);
  session->program = parse(session, "s.slu", text);
}

static int check(struct session *session)
{
  const sluice_sink sink = { keep, session };
  sluice_check_result_free(session->result);
  session->messages[0] = '\0';
  return sluice_check(&session->result, session->program, session->targets, &session->options, &sink);
}

static void end(struct session *session)
{
  sluice_check_result_free(session->result);
  sluice_program_free(session->against);
  sluice_program_free(session->program);
  sluice_targets_free(session->targets);
}

static const sluice_finding *find(const struct session *session, const char *rule)
{
  size_t count;
  const sluice_finding *findings = sluice_check_findings(session->result, &count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(findings[i].rule, rule) == 0)
      return &findings[i];
  return NULL;
}

static const sluice_check_summary *summary(const struct session *session, size_t index, size_t expected)
{
  size_t count;
  const sluice_check_summary *summaries = sluice_check_summaries(session->result, &count);
  assert_int_equal(count, expected);
  return &summaries[index];
}

/* ---- tests ---- */

static void assert_is_the_race(const sluice_finding *race)
{
  assert_non_null(race);
  assert_int_equal(race->severity, SLUICE_ERROR);
  assert_string_equal(race->kernel, "race");
  assert_string_equal(race->text, "'c' at i = 0 on e1 may issue before 'p' on e0 has retired");
  assert_int_equal(race->line, 7);
  assert_int_equal(race->column, 5);
  assert_int_equal(race->note_count, 4);
  assert_string_equal(race->notes[0], "dependence p -> c");
  assert_int_equal(race->note_lines[0], 11);
  assert_int_equal(race->note_columns[0], 3);
  assert_string_equal(race->notes[3], "in the run with n = 1");
  assert_int_equal(race->note_lines[3], 0);
}

/* A finding and its message say the same, and outlive the programs. */
static void test_findings_outlive_programs(void **state)
{
  (void)state;
  struct session session;
  begin(&session, race_and_right);
  session.against = parse(&session, "k.slu", race_and_right);
  session.options.against = session.against;
  assert_int_equal(check(&session), SLUICE_OK);
  sluice_program_free(session.program);
  sluice_program_free(session.against);
  session.program = session.against = NULL;
  const sluice_finding *race = find(&session, "race");
  assert_is_the_race(race);
  const sluice_diag *diag = race->diag;
  assert_string_equal(diag->text, race->text);
  assert_string_equal(diag->rule, "race");
  assert_string_equal(diag->file, "s.slu");
  assert_int_equal(diag->line, race->line);
  assert_int_equal(diag->column, race->column);
  assert_string_equal(diag->source_line, "    c: e1.op  wait s >= i  from \"hand.pto\":7:3");
  assert_string_equal(diag->origin_file, "hand.pto");
  assert_int_equal(diag->origin_line, 7);
  assert_int_equal(diag->note_count, race->note_count);
  assert_string_equal(diag->notes[0].file, "k.slu");
  assert_string_equal(diag->notes[0].source_line, "  dep p -> c");
  assert_string_equal(diag->notes[3].file, "s.slu");
  assert_null(diag->notes[3].source_line);
  end(&session);
}

static void test_verdicts(void **state)
{
  (void)state;
  struct session session;
  begin(&session, race_and_right);
  assert_int_equal(check(&session), SLUICE_OK);
  assert_int_equal(sluice_check_verdict(session.result), SLUICE_VERDICT_WRONG);
  assert_int_equal(sluice_program_select(session.program, "right", NULL), SLUICE_OK);
  assert_int_equal(check(&session), SLUICE_OK);
  assert_int_equal(sluice_check_verdict(session.result), SLUICE_VERDICT_OK);
  assert_null(find(&session, "race"));
  session.options.max_events = 1;
  assert_int_equal(check(&session), SLUICE_OK);
  assert_int_equal(sluice_check_verdict(session.result), SLUICE_VERDICT_UNDECIDED);
  assert_non_null(find(&session, "undecided"));
  assert_false(summary(&session, 0, 1)->is_exact);
  end(&session);
}

static void test_waits_are_judged_when_asked(void **state)
{
  (void)state;
  struct session session;
  begin(&session, race_and_right);
  assert_int_equal(check(&session), SLUICE_OK);
  const sluice_finding *redundant = find(&session, "redundant");
  assert_non_null(redundant);
  assert_int_equal(redundant->severity, SLUICE_WARNING);
  assert_int_equal(redundant->line, 17);
  assert_int_equal(redundant->column, 26);
  assert_null(find(&session, "deletable"));
  session.options.judge_waits = false;
  assert_int_equal(check(&session), SLUICE_OK);
  assert_null(find(&session, "redundant"));
  session.options.minimal = true;
  assert_int_equal(check(&session), SLUICE_OK);
  assert_non_null(find(&session, "deletable"));
  assert_int_equal(find(&session, "deletable")->severity, SLUICE_NOTE);
  end(&session);
}

/* Every rule that findings name is in the table of rules, in the family of the checker. */
static void test_rules_are_in_the_table(void **state)
{
  (void)state;
  static const char *const named[] = { "race",  "deadlock",  "leak",      "limit",    "mismatch", "redundant",
                                       "loose", "deletable", "undecided", "budget" };
  size_t count, found = 0, family = 0;
  const sluice_rule *rules = sluice_rules(&count);
  for (size_t i = 0; i < count; i++) {
    family += strcmp(rules[i].family, "check") == 0;
    for (size_t k = 0; k < sizeof named / sizeof *named; k++)
      found += strcmp(rules[i].id, named[k]) == 0;
  }
  assert_int_equal(found, sizeof named / sizeof *named);
  assert_int_equal(family, found);
}

static void test_summaries(void **state)
{
  (void)state;
  struct session session;
  begin(&session, race_and_right);
  assert_int_equal(check(&session), SLUICE_OK);
  const sluice_check_summary *first = summary(&session, 0, 2), *second = summary(&session, 1, 2);
  assert_string_equal(first->kernel, "race");
  assert_string_equal(first->runs_text, "n in {0, 1, 2, 4, and 1000}");
  assert_int_equal(first->runs, 5);
  assert_false(first->is_sample);
  assert_true(first->is_exact);
  assert_string_equal(second->kernel, "right");
  assert_string_equal(second->runs_text, "nothing to choose");
  assert_int_equal(second->runs, 1);
  assert_true(second->events > 0 && second->instances > 0);
  session.options.max_runs = 2;
  assert_int_equal(check(&session), SLUICE_OK);
  assert_true(summary(&session, 0, 2)->is_sample);
  end(&session);
}

static void test_inputs(void **state)
{
  (void)state;
  struct session session;
  const int64_t values[] = { 0, 3 };
  const sluice_input inputs[] = { { "n", values, 2, 0 }, { "m", values, 1, 0 } };
  begin(&session, race_and_right);
  session.options.inputs = inputs;
  session.options.input_count = 1;
  assert_int_equal(check(&session), SLUICE_OK);
  assert_string_equal(summary(&session, 0, 2)->runs_text, "n in {0, 3}");
  assert_int_equal(summary(&session, 0, 2)->runs, 2);
  assert_string_equal(find(&session, "race")->notes[3], "in the run with n = 3");
  session.options.input_count = 2;
  assert_int_equal(check(&session), SLUICE_E_INPUT);
  assert_null(session.result);
  assert_string_equal(session.messages,
                      "s.slu:0: no kernel has a parameter, opaque condition or loaded register 'm' [undefined]\n");
  end(&session);
}

static void test_kernels_are_matched_by_name(void **state)
{
  (void)state;
  struct session session;
  begin(&session, race_and_right);
  session.against = parse(&session, "k.slu", only_right);
  session.options.against = session.against;
  assert_int_equal(check(&session), SLUICE_E_INPUT);
  assert_null(session.result);
  assert_string_equal(session.messages, "s.slu:3: there is no kernel 'race' in k.slu [undefined]\n");
  assert_int_equal(sluice_program_select(session.program, "right", NULL), SLUICE_OK);
  assert_int_equal(check(&session), SLUICE_OK);
  assert_int_equal(sluice_check_verdict(session.result), SLUICE_VERDICT_OK);
  end(&session);
}

/* What was synchronized in memory has no text; nothing is read again. */
struct seen {
  sluice_check_progress last[2]; /* by is_judging */
  uint32_t calls[2];
};

static void keep_progress(void *context, const sluice_check_progress *progress)
{
  struct seen *seen = context;
  assert_string_equal(progress->kernel, "right");
  assert_int_equal(progress->done, ++seen->calls[progress->is_judging]);
  assert_true(progress->events >= seen->last[progress->is_judging].events);
  seen->last[progress->is_judging] = *progress;
}

/* Every run and every wait is told, in order, up to the end. */
static void test_progress(void **state)
{
  (void)state;
  struct session session;
  struct seen seen = { 0 };
  begin(&session, race_and_right);
  assert_int_equal(sluice_program_select(session.program, "right", NULL), SLUICE_OK);
  session.options.progress = keep_progress;
  session.options.progress_context = &seen;
  assert_int_equal(check(&session), SLUICE_OK);
  const sluice_check_summary *right = summary(&session, 0, 1);
  assert_int_equal(seen.last[0].done, right->runs);
  assert_int_equal(seen.last[0].total, right->runs);
  assert_int_equal(seen.last[1].done, 2);
  assert_int_equal(seen.last[1].total, 2);
  assert_int_equal(seen.last[1].events, right->events);
  end(&session);
}

static void test_result_of_sync(void **state)
{
  (void)state;
  struct session session;
  sluice_program *synchronized;
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  begin(&session, only_right);
  session.against = session.program;
  session.options.against = session.against;
  assert_int_equal(sluice_sync(&synchronized, session.against, session.targets, &options, NULL), SLUICE_OK);
  session.program = synchronized;
  assert_int_equal(check(&session), SLUICE_OK);
  assert_int_equal(sluice_check_verdict(session.result), SLUICE_VERDICT_OK);
  session.program = session.against;
  assert_int_equal(check(&session), SLUICE_OK);
  assert_int_equal(sluice_check_verdict(session.result), SLUICE_VERDICT_WRONG);
  session.program = synchronized;
  end(&session);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_findings_outlive_programs),
    cmocka_unit_test(test_verdicts),
    cmocka_unit_test(test_waits_are_judged_when_asked),
    cmocka_unit_test(test_rules_are_in_the_table),
    cmocka_unit_test(test_summaries),
    cmocka_unit_test(test_inputs),
    cmocka_unit_test(test_kernels_are_matched_by_name),
    cmocka_unit_test(test_progress),
    cmocka_unit_test(test_result_of_sync),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
