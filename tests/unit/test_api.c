/* test_api.c: the entry points of sluice/program.h and what every one of them promises. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <sluice/sluice.h>

static const char two_kernels[] = "sluice 1\n"
                                  "\n"
                                  "kernel first(n = 4, m = 2) target generic explicit {\n"
                                  "  a: e0.op\n"
                                  "  b: e1.op\n"
                                  "\n"
                                  "  dep a -> b\n"
                                  "}\n"
                                  "\n"
                                  "kernel second(n = 3) target trn2 {\n"
                                  "  a: act.nop\n"
                                  "}\n";

struct messages {
  char text[40000];
  int count;
};

static void keep(void *user, const sluice_diag *diag)
{
  struct messages *messages = user;
  char *text;
  size_t length = strlen(messages->text);
  messages->count++;
  assert_int_equal(sluice_diag_format(&text, diag), SLUICE_OK);
  snprintf(messages->text + length, sizeof messages->text - length, "%s", text);
  sluice_string_free(text);
}

static sluice_program *parse(const char *text)
{
  sluice_program *program;
  assert_int_equal(sluice_program_parse(&program, "t.slu", text, strlen(text), NULL), SLUICE_OK);
  return program;
}

static void assert_prints(const sluice_program *program, const char *expected)
{
  char *text;
  size_t length;
  assert_int_equal(sluice_program_print(&text, &length, program), SLUICE_OK);
  assert_string_equal(text, expected);
  assert_int_equal(length, strlen(text));
  sluice_string_free(text);
}

static void test_reading_and_printing(void **state)
{
  (void)state;
  sluice_program *program = parse(two_kernels), *again;
  assert_prints(program, two_kernels);
  assert_int_equal(sluice_program_kernel_count(program), 2);
  assert_string_equal(sluice_program_kernel_name(program, 1), "second");
  char *json;
  size_t length;
  assert_int_equal(sluice_program_print_json(&json, &length, program), SLUICE_OK);
  assert_int_equal(sluice_program_parse_json(&again, "t.json", json, length, NULL), SLUICE_OK);
  assert_true(sluice_program_equal(program, again, NULL));
  sluice_string_free(json);
  sluice_program_free(again);
  sluice_program_free(program);
}

/* The text need not end with a NUL, and may go away. */
static void test_length_counts(void **state)
{
  (void)state;
  char text[] = "kernel k target generic {\n}\ngarbage";
  sluice_program *program;
  assert_int_equal(sluice_program_parse(&program, "t", text, strlen("kernel k target generic {\n}\n"), NULL),
                   SLUICE_OK);
  memset(text, 'x', sizeof text);
  assert_prints(program, "kernel k target generic {\n}\n");
  sluice_program_free(program);
  assert_int_equal(sluice_program_parse(&program, "t", NULL, 0, NULL), SLUICE_OK);
  assert_int_equal(sluice_program_kernel_count(program), 0);
  sluice_program_free(program);
  sluice_program_free(NULL);
}

static void test_failure_gives_null_and_messages(void **state)
{
  (void)state;
  struct messages messages = { "", 0 };
  const sluice_sink sink = { keep, &messages };
  sluice_program *program = (sluice_program *)&messages;
  const char *text = "kernel k target generic {\n  a e0.op\n  b e0.op\n}\n";
  assert_int_equal(sluice_program_parse(&program, "t.slu", text, strlen(text), &sink), SLUICE_E_INPUT);
  assert_null(program);
  assert_int_equal(messages.count, 2);
  assert_non_null(strstr(messages.text, "t.slu:3:3: error: "));
  assert_non_null(strstr(messages.text, "\n    b e0.op\n    ^\n"));
  program = (sluice_program *)&messages;
  assert_int_equal(sluice_program_parse_json(&program, "t.json", "{", 1, &sink), SLUICE_E_INPUT);
  assert_null(program);
  assert_int_equal(messages.count, 3);
}

/* A flood of errors is cut off and counted. */
static void test_many_errors(void **state)
{
  (void)state;
  enum { STATEMENTS = 50 };
  char text[STATEMENTS * 40 + 200] = "{\"schema\": \"sluice-kernel-1\", \"kernels\": "
                                     "[{\"name\": \"k\", \"target\": \"generic\", \"body\": [{}";
  for (int i = 1; i < STATEMENTS; i++)
    strcat(text, ", {}");
  strcat(text, "]}]}");
  struct messages messages = { "", 0 };
  const sluice_sink sink = { keep, &messages };
  sluice_program *program;
  assert_int_equal(sluice_program_parse_json(&program, "t.json", text, strlen(text), &sink), SLUICE_E_INPUT);
  assert_int_equal(messages.count, 21);
  assert_non_null(strstr(messages.text, "t.json: note: 30 more errors are not shown\n"));
}

static void test_selecting_and_defining(void **state)
{
  (void)state;
  struct messages messages = { "", 0 };
  const sluice_sink sink = { keep, &messages };
  sluice_program *program = parse(two_kernels);
  assert_int_equal(sluice_program_define(program, "n", 9, &sink), SLUICE_OK);
  assert_int_equal(sluice_program_define(program, "nn", 9, &sink), SLUICE_E_INPUT);
  assert_int_equal(sluice_program_select(program, "secnd", &sink), SLUICE_E_INPUT);
  assert_string_equal(messages.text, "t.slu: error: no kernel has a parameter 'nn'; did you mean 'n'? [undefined]\n"
                                     "t.slu: error: no kernel is named 'secnd'; did you mean 'second'? [undefined]\n");
  assert_int_equal(sluice_program_kernel_count(program), 2);
  assert_int_equal(sluice_program_select(program, "second", &sink), SLUICE_OK);
  assert_int_equal(sluice_program_kernel_count(program), 1);
  assert_prints(program, "sluice 1\n\nkernel second(n = 9) target trn2 {\n  a: act.nop\n}\n");
  assert_int_equal(sluice_program_define(program, "m", 1, NULL), SLUICE_E_INPUT);
  sluice_program_free(program);
}

static void test_equality_names_the_difference(void **state)
{
  (void)state;
  sluice_program *a = parse(two_kernels), *b = parse(two_kernels);
  const char *why = NULL;
  assert_true(sluice_program_equal(a, b, &why));
  assert_int_equal(sluice_program_define(b, "m", 3, NULL), SLUICE_OK);
  assert_false(sluice_program_equal(a, b, &why));
  assert_non_null(why);
  sluice_program_free(a);
  sluice_program_free(b);
}

static void test_verifying_reports_all_kernels(void **state)
{
  (void)state;
  struct messages messages = { "", 0 };
  const sluice_sink sink = { keep, &messages };
  sluice_targets *targets;
  assert_int_equal(sluice_targets_new(&targets), SLUICE_OK);
  sluice_program *program = parse(two_kernels);
  assert_int_equal(sluice_program_verify(program, targets, &sink), SLUICE_OK);
  sluice_program_free(program);
  program = parse("kernel a target genric {\n}\nkernel b target trn2 {\n  x: nobody.nop\n}\n");
  assert_int_equal(sluice_program_verify(program, targets, &sink), SLUICE_E_INPUT);
  assert_int_equal(messages.count, 2);
  assert_non_null(strstr(messages.text,
                         "t.slu:1:1: error: kernel 'a': unknown target 'genric'; did you mean 'generic'? "
                         "[target]\n"));
  assert_non_null(strstr(messages.text, "[engine]\n"));
  sluice_program_free(program);
  sluice_targets_free(targets);
}

static void test_closest(void **state)
{
  (void)state;
  const char *const words[] = { "sync", "bench", "fmt" };
  assert_string_equal(sluice_closest("snyc", words, 3), "sync");
  assert_string_equal(sluice_closest("benhc", words, 3), "bench");
  assert_null(sluice_closest("targets", words, 3));
  assert_null(sluice_closest("", words, 3));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_reading_and_printing),
    cmocka_unit_test(test_length_counts),
    cmocka_unit_test(test_failure_gives_null_and_messages),
    cmocka_unit_test(test_many_errors),
    cmocka_unit_test(test_selecting_and_defining),
    cmocka_unit_test(test_equality_names_the_difference),
    cmocka_unit_test(test_verifying_reports_all_kernels),
    cmocka_unit_test(test_closest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
