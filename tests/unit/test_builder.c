/* test_builder.c: kernels built through sluice/builder.h are those that the text says, and errors are kept. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <sluice/sluice.h>

struct messages {
  char text[4000];
};

static void keep(void *user, const sluice_diag *diag)
{
  struct messages *messages = user;
  size_t length = strlen(messages->text);
  snprintf(messages->text + length, sizeof messages->text - length, "%s: %s [%s]\n", diag->file, diag->text,
           diag->rule);
}

static sluice_builder *new_builder(void)
{
  sluice_builder *b;
  assert_int_equal(sluice_builder_new(&b, "built"), SLUICE_OK);
  return b;
}

static void assert_reads_as(const sluice_program *built, const char *text, size_t length)
{
  sluice_program *parsed;
  const char *why = "";
  assert_int_equal(sluice_program_parse(&parsed, "text", text, length, NULL), SLUICE_OK);
  if (!sluice_program_equal(built, parsed, &why))
    fail_msg("%s differs from:\n%s", why, text);
  sluice_program_free(parsed);
}

/* Finishes a builder that must succeed; what it made is what the text says, and can be printed and read again. */
static void finish_and_compare(sluice_builder *b, const char *text)
{
  struct messages messages = { "" };
  const sluice_sink sink = { keep, &messages };
  sluice_program *built;
  char *printed;
  size_t length;
  assert_int_equal(sluice_builder_finish(&built, b, &sink), SLUICE_OK);
  assert_string_equal(messages.text, "");
  assert_reads_as(built, text, strlen(text));
  assert_int_equal(sluice_program_print(&printed, &length, built), SLUICE_OK);
  assert_reads_as(built, printed, length);
  sluice_string_free(printed);
  sluice_program_free(built);
}

/* Finishes a builder that must fail with exactly these messages. */
static void finish_and_fail(sluice_builder *b, const char *expected)
{
  struct messages messages = { "" };
  const sluice_sink sink = { keep, &messages };
  sluice_program *program = (sluice_program *)b;
  assert_int_equal(sluice_builder_finish(&program, b, &sink), SLUICE_E_INPUT);
  assert_null(program);
  assert_string_equal(messages.text, expected);
}

static void test_everything_once(void **state)
{
  (void)state;
  sluice_builder *b = new_builder();
  sluice_build_kernel(b, "k", "generic-weak", SLUICE_KERNEL_EXPLICIT);
  sluice_build_param(b, "n", sluice_expr_int(b, 8), false);
  sluice_build_param(b, "m", 0, true);
  sluice_build_queue(b, "q0", "e0");
  sluice_build_queue(b, "q1", NULL);
  const sluice_expr dims[] = { sluice_expr_int(b, 128), sluice_expr_text(b, "n*2") };
  sluice_build_buffer(b, "x", "hbm", "f32", dims, 2, -1);
  sluice_build_buffer_attribute(b, &(sluice_attribute){ .name = "scratch", .value = sluice_expr_int(b, 1) });
  const sluice_expr same_dims[] = { dims[0], dims[1] };
  sluice_build_buffer(b, "t", "sbuf", "f32", same_dims, 2, 0);
  sluice_build_buffer_at(b, 32, sluice_expr_int(b, 64));
  sluice_build_alias(b, "x", "t");
  sluice_build_semaphore(b, "s", 4);
  sluice_build_event(b, "v", 2, "e0", "e1");

  const sluice_operand registers[] = { { .kind = SLUICE_OPERAND_REGISTER, .name = "r" },
                                       { .kind = SLUICE_OPERAND_NAME, .name = "n" },
                                       { .kind = SLUICE_OPERAND_INT, .value = 3 } };
  sluice_build_op(b, &(sluice_op){ .stream = "e0",
                                   .opcode = "reg_add",
                                   .destinations = registers,
                                   .destination_count = 1,
                                   .sources = registers + 1,
                                   .source_count = 2 });
  const sluice_comparison comparisons[] = { { SLUICE_LT, sluice_expr_name(b, "n"), sluice_expr_register(b, "r"), NULL },
                                            { .opaque = "c" } };
  const sluice_condition either = { comparisons, 2, true }, opaque = { comparisons + 1, 1, true };
  sluice_build_if(b, &either);
  sluice_build_barrier(b, false);
  sluice_build_else(b);
  sluice_build_barrier(b, true);
  sluice_build_end(b);

  sluice_build_loop_range(b, "i", sluice_expr_int(b, -1), sluice_expr_name(b, "n"), sluice_expr_int(b, 2),
                          SLUICE_LOOP_DIVERGENT);
  sluice_build_unroll(b, 2);
  const sluice_expr i = sluice_expr_name(b, "i");
  const sluice_index indices[] = { { SLUICE_INDEX_AT, sluice_expr_binary(b, SLUICE_MOD, i, sluice_expr_int(b, 2)), 0 },
                                   { SLUICE_INDEX_RANGE, sluice_expr_int(b, 0), i },
                                   { SLUICE_INDEX_LENGTH, i, sluice_expr_int(b, 4) },
                                   { SLUICE_INDEX_ALL, 0, 0 },
                                   { SLUICE_INDEX_ANY, 0, 0 } };
  const sluice_operand x = { .kind = SLUICE_OPERAND_MEMORY, .name = "x", .indices = indices, .index_count = 5 };
  const sluice_operand t = { .kind = SLUICE_OPERAND_MEMORY, .name = "t", .read_write = true };
  const sluice_attribute attributes[] = { { .name = "cycles", .value = sluice_expr_int(b, 64) },
                                          { .name = "first", .condition = &opaque },
                                          { .name = "scale", .number = "0.5" },
                                          { .name = "note", .string = "a \"b\"" } };
  const sluice_wait waits[] = { { .semaphore = "s", .value = 7 },
                                { .semaphore = "s", .reg = "r" },
                                { .semaphore = "s", .name = "i", .equal = true },
                                { .event = "v", .event_index = i } };
  const sluice_update updates[] = { { "s", 1 }, { "s", 3 } };
  const sluice_event_set sets[] = { { "v", i } };
  sluice_build_op(b, &(sluice_op){ .label = "a.0",
                                   .stream = "e0|q0",
                                   .opcode = "op",
                                   .destinations = &t,
                                   .destination_count = 1,
                                   .sources = &x,
                                   .source_count = 1,
                                   .attributes = attributes,
                                   .attribute_count = 4,
                                   .waits = waits,
                                   .wait_count = 4,
                                   .updates = updates,
                                   .update_count = 2,
                                   .sets = sets,
                                   .set_count = 1,
                                   .origin_file = "f.pto",
                                   .origin_line = 12,
                                   .origin_column = 3 });
  sluice_build_end(b);
  sluice_build_while(b, "w", &opaque, 0);
  sluice_build_op(b, &(sluice_op){ .stream = "*", .opcode = "nop" });
  sluice_build_end(b);
  sluice_build_epilogue(b);
  sluice_build_dep(b, "a", "a", (const sluice_distance[]){ { .loop = "i", .k = 1 } }, 1);
  sluice_build_dep(b, "a", "a", &(sluice_distance){ .loop = "i", .k = 2, .across = true }, 1);
  sluice_build_nodep(b, "a", "a.0", NULL, 0, "known");
  sluice_build_end(b);
  sluice_build_kernel(b, "empty", "trn2", 0);
  sluice_build_end(b);
  finish_and_compare(b, "sluice 1\n"
                        "\n"
                        "kernel k(n = 8, static m) target generic-weak explicit {\n"
                        "  queue q0 via e0\n"
                        "  queue q1\n"
                        "  buffer x : hbm f32[128, n*2] { scratch = 1 }\n"
                        "  buffer t : sbuf f32[128p, n*2] at 32p, 64\n"
                        "  alias x t\n"
                        "  sem s = 4\n"
                        "  event v[2] : e0 -> e1\n"
                        "\n"
                        "  e0.reg_add %r, n, 3\n"
                        "  if n < %r or ?c {\n"
                        "    barrier\n"
                        "  } else {\n"
                        "    barrier reset\n"
                        "  }\n"
                        "  loop i in -1..n step 2 divergent unroll 2 {\n"
                        "    a.0: e0|q0.op +t <- x[i % 2, 0:i, i +: 4, :, ?] { cycles = 64,\n"
                        "        first = ?c, scale = 0.5, note = \"a \\\"b\\\"\" }\n"
                        "        wait s >= 7, s >= %r, s == i, v[i]\n"
                        "        inc s, s by 3  set v[i]  from \"f.pto\":12:3\n"
                        "  }\n"
                        "  loop w while ?c {\n"
                        "    *.nop\n"
                        "  }\n"
                        "  epilogue\n"
                        "\n"
                        "  dep a -> a (i: 1)\n"
                        "  dep a -> a (across i: 2)\n"
                        "  nodep a -> a.0 \"known\"\n"
                        "}\n"
                        "\n"
                        "kernel empty target trn2 {\n"
                        "}\n");
}

/* An expression may be used often; what it stands for is written out each time, up to a limit. */
static void test_shared_expressions(void **state)
{
  (void)state;
  sluice_builder *b = new_builder();
  sluice_build_kernel(b, "k", "generic", 0);
  sluice_expr n = sluice_expr_int(b, 1), sum = n;
  for (int i = 0; i < 3; i++)
    sum = sluice_expr_binary(b, SLUICE_SUB, sum, sum);
  sluice_build_param(b, "a", sum, false);
  sluice_build_param(b, "b", n, false);
  sluice_build_end(b);
  finish_and_compare(b, "sluice 1\n"
                        "\n"
                        "kernel k(a = 1 - 1 - (1 - 1) - (1 - 1 - (1 - 1)), b = 1) target generic {\n"
                        "}\n");
  b = new_builder();
  sluice_build_kernel(b, "k", "generic", 0);
  sum = sluice_expr_int(b, 1);
  for (int i = 0; i < 14; i++)
    sum = sluice_expr_binary(b, SLUICE_ADD, sum, sum);
  assert_int_equal(sum, 0);
  sluice_builder_free(b);
}

static void test_every_error_is_reported_once(void **state)
{
  (void)state;
  sluice_builder *b = new_builder();
  assert_int_equal(sluice_expr_int(b, 1), 0);
  assert_int_equal(sluice_build_end(b), SLUICE_E_INPUT);
  assert_int_equal(sluice_build_kernel(b, "k", "generic", 0), SLUICE_OK);
  assert_int_equal(sluice_build_kernel(b, "l", "generic", 0), SLUICE_E_INPUT);
  assert_int_equal(sluice_build_queue(b, "wait", NULL), SLUICE_E_INPUT);
  assert_int_equal(sluice_build_queue(b, "q", NULL), SLUICE_OK);
  assert_int_equal(sluice_build_queue(b, "q", NULL), SLUICE_E_INPUT);
  assert_int_equal(sluice_build_param(b, "n", 17, false), SLUICE_E_INPUT);
  assert_int_equal(sluice_expr_text(b, "1 +"), 0);
  assert_int_equal(sluice_build_else(b), SLUICE_E_INPUT);
  assert_int_equal(sluice_build_unroll(b, 2), SLUICE_E_INPUT);
  assert_int_equal(sluice_build_op(b, &(sluice_op){ .stream = "e0|", .opcode = "nop" }), SLUICE_E_INPUT);
  assert_int_equal(sluice_build_op(b, &(sluice_op){ .label = "a.b", .stream = "e0", .opcode = "nop" }), SLUICE_E_INPUT);
  assert_int_equal(sluice_build_buffer_at(b, -1, 0), SLUICE_E_INPUT);
  assert_int_equal(
      sluice_build_loop_range(b, "i", sluice_expr_int(b, 0), sluice_expr_int(b, 9), sluice_expr_text(b, "1 + 1"), 0),
      SLUICE_E_INPUT);
  finish_and_fail(b, "built: no kernel is open [syntax]\n"
                     "built: no kernel is open [syntax]\n"
                     "built: kernel 'l' begins inside of kernel 'k' [syntax]\n"
                     "built: queue: 'wait' is not a name [syntax]\n"
                     "built: queue 'q' is declared twice, or after its first use [redefined]\n"
                     "built: parameter: not an expression of the open kernel [syntax]\n"
                     "built: expected an expression, found the end of the text in '1 +' [syntax]\n"
                     "built: else without an open branch [syntax]\n"
                     "built: unrolling needs an open loop [syntax]\n"
                     "built: 'e0|' is not a stream, nor streams joined by '|', nor '*' [syntax]\n"
                     "built: 'a.b' is not a label [syntax]\n"
                     "built: no buffer is declared yet [syntax]\n"
                     "built: address: not an expression of the open kernel [syntax]\n"
                     "built: the step of a loop is a number [syntax]\n"
                     "built: kernel 'k' is not ended: 2 open blocks [syntax]\n");
}

static void test_strings_are_utf8(void **state)
{
  (void)state;
  sluice_builder *b = new_builder();
  sluice_build_kernel(b, "k", "generic", 0);
  const sluice_attribute note = { .name = "note", .string = "\xff" };
  assert_int_equal(
      sluice_build_op(b, &(sluice_op){ .stream = "e0", .opcode = "op", .attributes = &note, .attribute_count = 1 }),
      SLUICE_E_INPUT);
  sluice_build_end(b);
  finish_and_fail(b, "built: attribute: the string is not UTF-8 [literal]\n");
}

static void test_nesting_has_the_limit_of_the_language(void **state)
{
  (void)state;
  sluice_builder *b = new_builder();
  int depth = 0;
  sluice_build_kernel(b, "k", "generic", 0);
  while (sluice_build_loop(b, "i", sluice_expr_int(b, 1), 0) == SLUICE_OK)
    assert_true(++depth < 1000);
  for (int i = 0; i < depth + 1; i++)
    sluice_build_end(b);
  sluice_program *program;
  assert_int_equal(sluice_builder_finish(&program, b, NULL), SLUICE_E_INPUT);
  b = new_builder();
  sluice_build_kernel(b, "k", "generic", 0);
  for (int i = 0; i < depth; i++)
    assert_int_equal(sluice_build_loop(b, "i", sluice_expr_int(b, 1), 0), SLUICE_OK);
  for (int i = 0; i < depth + 1; i++)
    sluice_build_end(b);
  assert_int_equal(sluice_builder_finish(&program, b, NULL), SLUICE_OK);
  char *text;
  size_t length;
  sluice_program *again;
  assert_int_equal(sluice_program_print(&text, &length, program), SLUICE_OK);
  assert_int_equal(sluice_program_parse(&again, "again", text, length, NULL), SLUICE_OK);
  sluice_string_free(text);
  sluice_program_free(again);
  sluice_program_free(program);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_everything_once),
    cmocka_unit_test(test_shared_expressions),
    cmocka_unit_test(test_every_error_is_reported_once),
    cmocka_unit_test(test_strings_are_utf8),
    cmocka_unit_test(test_nesting_has_the_limit_of_the_language),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
