/* test_report.c: messages, their rendering, the table of rules and "did you mean": base/report.h, sluice/diag.h. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"

/* A sink that renders what it receives, one message after another. */
struct capture {
  char text[4096];
  size_t messages, notes;
};

static void capture_message(void *user, const sluice_diag *diag)
{
  struct capture *capture = user;
  char *text;
  assert_int_equal(sluice_diag_format(&text, diag), SLUICE_OK);
  strncat(capture->text, text, sizeof capture->text - strlen(capture->text) - 1);
  sluice_string_free(text);
  capture->messages++;
  capture->notes += diag->note_count;
}

struct fixture {
  struct capture capture;
  sluice_sink sink;
  sl_source source;
  sl_report report;
};

static void start(struct fixture *fixture, sl_heap *heap, const char *text)
{
  memset(fixture, 0, sizeof *fixture);
  fixture->sink = (sluice_sink){ capture_message, &fixture->capture };
  sl_source_init(&fixture->source, heap, "k.slu", text, strlen(text));
  sl_report_init(&fixture->report, heap, &fixture->sink, &fixture->source);
}

static void test_an_error_shows_place_line_and_caret(void **state)
{
  struct fixture fixture;
  start(&fixture, *state, "one\n\tloop i\n");
  sl_error(&fixture.report, SL_RULE_SYNTAX, 11, "expected %s", "a bound");
  assert_string_equal(fixture.capture.text, "k.slu:2:7: error: expected a bound [syntax]\n"
                                            "  \tloop i\n"
                                            "  \t     ^\n");
  assert_int_equal(fixture.report.errors, 1);
}

static void test_a_message_without_a_place(void **state)
{
  struct fixture fixture;
  start(&fixture, *state, "x");
  sl_warning(&fixture.report, SL_RULE_SHELL, SL_NO_LOC, "counted");
  assert_string_equal(fixture.capture.text, "k.slu: warning: counted [shell]\n");
  assert_int_equal(fixture.report.errors, 0);
  assert_int_equal(fixture.report.warnings, 1);
}

static void test_notes_come_with_their_message(void **state)
{
  struct fixture fixture;
  start(&fixture, *state, "aaa\nbbb");
  sl_report_begin(&fixture.report, SLUICE_ERROR, SL_RULE_REDEFINED, 5, "'b' is declared twice");
  assert_int_equal(fixture.capture.messages, 0);
  sl_report_note(&fixture.report, 1, "the first is %s", "here");
  sl_report_note(&fixture.report, SL_NO_LOC, "somewhere");
  sl_report_end(&fixture.report);
  assert_int_equal(fixture.capture.messages, 1);
  assert_int_equal(fixture.capture.notes, 2);
  assert_string_equal(fixture.capture.text, "k.slu:2:1: error: 'b' is declared twice [redefined]\n"
                                            "  bbb\n  ^\n"
                                            "k.slu:1:1: note: the first is here\n"
                                            "  aaa\n  ^\n"
                                            "k.slu: note: somewhere\n");
}

static void test_the_location_of_another_tool(void **state)
{
  struct fixture fixture;
  start(&fixture, *state, "aaa");
  sl_report_begin(&fixture.report, SLUICE_ERROR, SL_RULE_LIMIT, 1, "too many");
  sl_report_origin(&fixture.report, (sl_origin){ "f.pto", 12, 3 });
  sl_report_end(&fixture.report);
  assert_non_null(strstr(fixture.capture.text, "f.pto:12:3: note: "));
}

static void test_errors_beyond_the_limit_only_count(void **state)
{
  struct fixture fixture;
  start(&fixture, *state, "aaa");
  fixture.report.error_limit = 2;
  for (int i = 0; i < 5; i++) {
    sl_report_begin(&fixture.report, SLUICE_ERROR, SL_RULE_SYNTAX, 1, "error %d", i);
    sl_report_note(&fixture.report, 1, "note");
    sl_report_end(&fixture.report);
  }
  assert_int_equal(fixture.report.errors, 5);
  assert_int_equal(fixture.capture.messages, 2);
  assert_null(strstr(fixture.capture.text, "error 2"));
}

static void test_no_sink_is_silence(void **state)
{
  struct fixture fixture;
  start(&fixture, *state, "aaa");
  fixture.report.sink = NULL;
  sl_error(&fixture.report, SL_RULE_SYNTAX, 1, "unheard");
  static const sluice_sink without_function = { NULL, NULL };
  fixture.report.sink = &without_function;
  sl_error(&fixture.report, SL_RULE_SYNTAX, 1, "unheard");
  assert_int_equal(fixture.report.errors, 2);
  assert_int_equal(fixture.capture.messages, 0);
}

static void test_the_table_of_rules(void **state)
{
  (void)state;
  size_t count;
  const sluice_rule *rules = sluice_rules(&count);
  assert_int_equal(count, SL_RULE_COUNT);
  assert_string_equal(sl_rule_id(SL_RULE_SYNTAX), "syntax");
  assert_string_equal(sl_rule_id(SL_RULE_LIMIT), "E-limit");
  for (size_t i = 0; i < count; i++) {
    assert_true(rules[i].id[0] && rules[i].family[0] && rules[i].summary[0]);
    for (size_t k = 0; k < i; k++)
      assert_string_not_equal(rules[i].id, rules[k].id);
  }
}

static void test_closest_suggests_what_is_meant(void **state)
{
  (void)state;
  static const char *const names[] = { "barrier", "per-loop", "shadow", "pe" };
  assert_string_equal(sl_closest("shadw", names, 4), "shadow");
  assert_string_equal(sl_closest("perloop", names, 4), "per-loop");
  assert_string_equal(sl_closest("barriers", names, 4), "barrier");
  assert_string_equal(sl_closest("pe", names, 4), "pe");
  assert_string_equal(sl_closest("ep1", (const char *const[]){ "ep" }, 1), "ep");
}

static void test_closest_is_silent_when_nothing_is_close(void **state)
{
  (void)state;
  static const char *const names[] = { "barrier", "per-loop", "shadow" };
  assert_null(sl_closest("xyzzy", names, 3));
  assert_null(sl_closest("", names, 3));
  assert_null(sl_closest("shadow", names, 0));
  char endless[200];
  memset(endless, 'a', sizeof endless - 1);
  endless[sizeof endless - 1] = '\0';
  assert_null(sl_closest(endless, names, 3));
  assert_null(sl_closest("aaaa", (const char *const[]){ endless }, 1));
}

static void test_status_names(void **state)
{
  (void)state;
  for (int status = SLUICE_E_BUDGET - 1; status <= SLUICE_OK + 1; status++)
    assert_true(sluice_status_name(status)[0]);
  assert_string_equal(sluice_status_name(SLUICE_OK), "ok");
  assert_string_equal(sluice_version(), SLUICE_VERSION);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    unit_test_with_heap(test_an_error_shows_place_line_and_caret),
    unit_test_with_heap(test_a_message_without_a_place),
    unit_test_with_heap(test_notes_come_with_their_message),
    unit_test_with_heap(test_the_location_of_another_tool),
    unit_test_with_heap(test_errors_beyond_the_limit_only_count),
    unit_test_with_heap(test_no_sink_is_silence),
    cmocka_unit_test(test_the_table_of_rules),
    cmocka_unit_test(test_closest_suggests_what_is_meant),
    cmocka_unit_test(test_closest_is_silent_when_nothing_is_close),
    cmocka_unit_test(test_status_names),
  };
  return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
