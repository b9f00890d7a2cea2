/* test_printer.c: the printer (ir/printer.c) on trees that were not read from text, and equality (ir/equal.c). The canonical
 * form of texts is tested by tests/text/fmt.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <sluice/program.h>

#include "ir/ir.h"

static sl_program *parse(const char *text)
{
  sluice_program *program;
  assert_int_equal(sluice_program_parse(&program, "test", text, strlen(text), NULL), SLUICE_OK);
  return program;
}

static char *print(const sl_program *program)
{
  char *text;
  assert_int_equal(sluice_program_print(&text, NULL, program), SLUICE_OK);
  return text;
}

/* Prints, reads back, compares, prints again; gives the text. */
static char *round_trip(const sl_program *program)
{
  char *first = print(program);
  sl_program *again = parse(first);
  const char *why = NULL;
  if (!sluice_program_equal(program, again, &why))
    fail_msg("%s differs after reading back:\n%s", why, first);
  char *second = print(again);
  assert_string_equal(first, second);
  sluice_string_free(second);
  sluice_program_free(again);
  return first;
}

static sl_program *empty_kernel(struct sl_kernel **kernel)
{
  sl_program *program = sl_program_new("built", NULL, 0);
  assert_non_null(program);
  *kernel = sl_kernel_add(program);
  (*kernel)->name = sl_intern(program, "k");
  (*kernel)->target = sl_intern(program, "t");
  return program;
}

static sl_index add_op(sl_program *program, struct sl_kernel *kernel, sl_index block, const char *stream,
                       const char *opcode)
{
  sl_index stmt = sl_op_stmt_new(kernel, SL_NO_LOC);
  struct sl_op *op = sl_stmt_op(kernel, stmt);
  op->opcode = sl_intern(program, opcode);
  op->code = (uint8_t)sl_opcode_find(opcode, strlen(opcode));
  op->stream = sl_stream_put(kernel, sl_intern(program, stream), SL_NO_LOC);
  op->stream_count = 1;
  sl_stmt_append(kernel, block, stmt);
  return stmt;
}

static sl_index add_trivia(sl_program *program, struct sl_kernel *kernel, const char *comment, const char *trailing)
{
  sl_index index = kernel->trivias.len;
  (void)sl_vec_push(kernel->heap, &kernel->trivias);
  if (comment) {
    kernel->trivias.data[index].first_comment = kernel->comments.len;
    sl_vec_push(kernel->heap, &kernel->comments)->text = sl_intern(program, comment);
  }
  if (trailing)
    kernel->trivias.data[index].trailing = sl_intern(program, trailing);
  return index;
}

static sl_index negate(struct sl_kernel *kernel, sl_index operand)
{
  return sl_expr_binary(kernel, SL_EXPR_NEG, operand, SL_NONE, SL_NO_LOC);
}

/* Every tree of one operator over small operands, negative ones among them, in one kernel. */
static void test_expressions_of_every_shape(void **state)
{
  (void)state;
  struct sl_kernel *kernel;
  sl_program *program = empty_kernel(&kernel);
  sl_index leaves[64];
  size_t count = 0;
  leaves[count++] = sl_expr_int(kernel, 3, SL_NO_LOC);
  leaves[count++] = sl_expr_int(kernel, -3, SL_NO_LOC);
  leaves[count++] = sl_expr_int(kernel, INT64_MIN, SL_NO_LOC);
  leaves[count++] = sl_expr_name(kernel, SL_EXPR_NAME, sl_intern(program, "n"), SL_NO_LOC);
  leaves[count++] = sl_expr_name(kernel, SL_EXPR_REG, sl_intern(program, "r"), SL_NO_LOC);
  size_t plain = count;
  for (size_t i = 0; i < plain; i++)
    leaves[count++] = negate(kernel, leaves[i]);
  leaves[count++] = negate(kernel, sl_expr_int(kernel, 0, SL_NO_LOC));
  for (int kind = SL_EXPR_ADD; kind <= SL_EXPR_MOD; kind++)
    leaves[count++] = sl_expr_binary(kernel, (enum sl_expr_kind)kind, leaves[3], leaves[0], SL_NO_LOC);
  for (int kind = SL_EXPR_ADD; kind <= SL_EXPR_MOD; kind++) {
    for (size_t i = 0; i < count * count; i++) {
      sl_index expr = sl_expr_binary(kernel, (enum sl_expr_kind)kind, leaves[i / count], leaves[i % count], SL_NO_LOC);
      if (i % 3 == 0)
        expr = negate(kernel, expr);
      sl_index stmt = add_op(program, kernel, kernel->root, "e", "op");
      sl_stmt_op(kernel, stmt)->first_attr = kernel->attrs.len;
      sl_stmt_op(kernel, stmt)->attr_count = 1;
      struct sl_attr *attr = sl_vec_push(kernel->heap, &kernel->attrs);
      attr->name = sl_intern(program, "v");
      attr->expr = expr;
    }
  }
  sluice_string_free(round_trip(program));
  sluice_program_free(program);
}

static void test_empty_lines_at_the_start_of_blocks_are_not_printed(void **state)
{
  (void)state;
  struct sl_kernel *kernel;
  sl_program *program = empty_kernel(&kernel);
  kernel->flags = SL_BLANK_BEFORE;
  sl_index stmt = add_op(program, kernel, kernel->root, "e", "nop");
  kernel->stmts.data[stmt].flags = SL_BLANK_BEFORE | SL_GENERATED;
  kernel->stmts.data[stmt].trivia = add_trivia(program, kernel, "c", NULL);
  stmt = add_op(program, kernel, kernel->root, "e", "nop");
  kernel->stmts.data[stmt].flags = SL_BLANK_BEFORE;
  char *text = round_trip(program);
  assert_string_equal(text, "kernel k target t {\n  # c\n  e.nop\n\n  e.nop\n}\n");
  sluice_string_free(text);
  sluice_program_free(program);
}

static void test_strings_and_comments_of_any_text(void **state)
{
  (void)state;
  struct sl_kernel *kernel;
  sl_program *program = empty_kernel(&kernel);
  static const char *const comments[] = { "", "#", "##", "!x", "  indented", "a # b", "\"", "caf\xc3\xa9" };
  for (size_t i = 0; i < sizeof comments / sizeof *comments; i++) {
    sl_index stmt = add_op(program, kernel, kernel->root, "e", "nop");
    kernel->stmts.data[stmt].trivia = add_trivia(program, kernel, comments[i], comments[i]);
  }
  char every[130];
  size_t length = 0;
  for (int c = 1; c < 128; c++)
    every[length++] = (char)c;
  sl_index stmt = add_op(program, kernel, kernel->root, "e", "op");
  sl_stmt_op(kernel, stmt)->attr_count = 1;
  struct sl_attr *attr = sl_vec_push(kernel->heap, &kernel->attrs);
  attr->name = sl_intern(program, "s");
  attr->kind = SL_ATTR_STRING;
  attr->text = sl_names_add(&program->names, &program->heap, every, length);
  sluice_string_free(round_trip(program));
  sluice_program_free(program);
}

/* Trailing comments keep the line of their author, others let register operations and declarations be joined. */
static void test_shared_lines(void **state)
{
  (void)state;
  struct sl_kernel *kernel;
  sl_program *program = empty_kernel(&kernel);
  (void)add_op(program, kernel, kernel->root, "e", "reg_set");
  (void)add_op(program, kernel, kernel->root, "e", "reg_set");
  sl_index stmt = add_op(program, kernel, kernel->root, "e", "reg_set");
  kernel->stmts.data[stmt].trivia = add_trivia(program, kernel, NULL, "alone");
  (void)add_op(program, kernel, kernel->root, "e", "reg_set");
  stmt = add_op(program, kernel, kernel->root, "e", "reg_set");
  kernel->stmts.data[stmt].trivia = add_trivia(program, kernel, NULL, "both");
  kernel->stmts.data[stmt].flags = SL_SAME_LINE;
  (void)add_op(program, kernel, kernel->root, "f", "reg_set");
  char *text = round_trip(program);
  assert_string_equal(text, "kernel k target t {\n  e.reg_set;  e.reg_set\n  e.reg_set  # alone\n"
                            "  e.reg_set;  e.reg_set  # both\n  f.reg_set\n}\n");
  sluice_string_free(text);
  sluice_program_free(program);
}

#define LONG_STATEMENT                                                                                               \
  "l: a|b.op x <- y  wait s >= 1, tttttttttttttttttttttttttttttttttttttt >= 1, uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu >= 1"

static void test_statement_heads_for_messages(void **state)
{
  (void)state;
  sl_program *program = parse("kernel k target t {\n  loop i < n while ?c { }\n  if a < b { }\n  barrier reset\n"
                              "  " LONG_STATEMENT "\n}\n");
  static const char *const heads[] = { "loop i < n while ?c", "if a < b", "barrier reset", LONG_STATEMENT };
  const struct sl_kernel *kernel = program->kernels.data[0];
  sl_index stmt = kernel->blocks.data[kernel->root].first;
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++, stmt = kernel->stmts.data[stmt].next) {
    sl_buf buf;
    sl_buf_init(&buf, &program->heap);
    sl_print_stmt_head(&buf, program, kernel, stmt);
    assert_string_equal(sl_buf_text(&buf), heads[i]);
  }
  sluice_program_free(program);
}

/* Pairs of kernel bodies that say the same. */
static void test_equal(void **state)
{
  (void)state;
  static const char *const pairs[][2] = {
    { "e.nop", "\n\n  e . nop ;" },
    { "loop i < n { e.nop }", "loop i < n {\n\n e.nop\n\n }" },
    { "e.op { a = -5 }", "e.op { a = -(5) }" },
    { "e.op { a = 16 }", "e.op { a = 0x10 }" },
    { "if a < b { } else if c < d { }", "if a < b { } else { if c < d { } }" },
    { "queue q, r via sp", "queue q via sp\nqueue r via sp" },
    { "sem s = 0, t", "sem s\nsem t" },
    { "e.nop wait s >= 1 inc t wait u >= 1", "e.nop wait s >= 1, u >= 1 inc t by 1" },
    { "e.nop # c", "e.nop   #c  " },
    { "f.nop\ne.reg_set %a, 0; e.reg_set %b, 0 # c", "f.nop\ne.reg_set %a, 0\ne.reg_set %b, 0 # c" },
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    char a[300], b[300];
    snprintf(a, sizeof a, "kernel k target t {\n%s\n}\n", pairs[i][0]);
    snprintf(b, sizeof b, "kernel k target t {\n%s\n}\n", pairs[i][1]);
    sl_program *pa = parse(a), *pb = parse(b);
    const char *why = NULL;
    if (!sluice_program_equal(pa, pb, &why))
      fail_msg("%s and %s differ: %s", pairs[i][0], pairs[i][1], why);
    sluice_program_free(pa);
    sluice_program_free(pb);
  }
}

static void check_differ(const char *a, const char *b, const char *expected)
{
  sl_program *pa = parse(a), *pb = parse(b);
  const char *why = "nothing";
  assert_true(sluice_program_equal(pa, pa, NULL));
  if (sluice_program_equal(pa, pb, &why))
    fail_msg("equal, but should differ:\n%s\n%s", a, b);
  assert_string_equal(why, expected);
  assert_false(sluice_program_equal(pb, pa, NULL));
  sluice_program_free(pa);
  sluice_program_free(pb);
}

/* Pairs of kernel bodies that differ, and in what. */
static void test_different(void **state)
{
  (void)state;
  static const char *const rows[][3] = {
    { "a: e.nop", "b: e.nop", "a label" },
    { "a: e.nop", "e.nop", "a label" },
    { "e.nop", "f.nop", "the stream of an operation" },
    { "e.nop", "*.nop", "the stream of an operation" },
    { "e|f.nop", "f|e.nop", "the stream of an operation" },
    { "e.nop", "e.drain", "an opcode" },
    { "e.op a, b", "e.op a <- b", "the number of operands" },
    { "e.op a", "e.op %a", "the kind of an operand" },
    { "e.op a", "e.op +a", "an operand" },
    { "e.op 1", "e.op 2", "an operand" },
    { "e.op a", "e.op a[0]", "an operand" },
    { "e.op a[i]", "e.op a[?]", "an index" },
    { "e.op a[i:4]", "e.op a[i +: 4]", "an index" },
    { "e.op a[i:4]", "e.op a[i:5]", "an expression" },
    { "e.op a[i - (j - 1)]", "e.op a[i - j - 1]", "an expression" },
    { "e.op a[-i]", "e.op a[i]", "an expression" },
    { "e.op { a = 1 }", "e.op { b = 1 }", "an attribute" },
    { "e.op { a = 1 }", "e.op { a = 1, b = 1 }", "the number of attributes" },
    { "e.op { a = 1.0 }", "e.op { a = 1.00 }", "the value of an attribute" },
    { "e.op { a = \"x\" }", "e.op { a = x }", "an attribute" },
    { "e.op { a = x < 1 }", "e.op { a = x <= 1 }", "a condition" },
    { "e.op { a = ?x }", "e.op { a = ?y }", "a condition" },
    { "if a < 1 and b < 1 { }", "if a < 1 or b < 1 { }", "a condition" },
    { "if a < 1 { }", "if a < 1 { } else { }", "an else" },
    { "e.nop wait s >= 1", "e.nop wait s == 1", "the threshold of a wait" },
    { "e.nop wait s >= 1", "e.nop wait s >= 2", "the threshold of a wait" },
    { "e.nop wait s >= i", "e.nop wait s >= %i", "the threshold of a wait" },
    { "e.nop wait s >= 1", "e.nop wait s", "a wait" },
    { "e.nop wait s", "e.nop wait s[1]", "an expression" },
    { "e.nop inc s", "e.nop inc s by 2", "an update" },
    { "e.nop inc s", "e.nop set s", "the number of waits or updates" },
    { "e.nop set s", "e.nop set t", "a set event" },
    { "e.nop from \"f\":1", "e.nop from \"f\":1:1", "a location of another tool" },
    { "e.nop from \"f\":1", "e.nop", "a location of another tool" },
    { "loop i < n { }", "loop j < n { }", "a loop variable" },
    { "loop i < n { }", "loop i in 0..n { }", "the head of a loop" },
    { "loop i < n { }", "loop i < n divergent { }", "the head of a loop" },
    { "loop i < n { }", "loop i < n unroll 2 { }", "the head of a loop" },
    { "loop i < n { }", "loop i < n while ?c { }", "a condition" },
    { "loop i in 0..n { }", "loop i in 0..n step 1 { }", "an expression" },
    { "barrier", "barrier reset", "the kind of a statement" },
    { "e.nop", "e.nop\ne.nop", "the number of statements" },
    { "e.nop\ne.nop", "e.nop\n\ne.nop", "an empty line" },
    { "# a\ne.nop", "# b\ne.nop", "a comment" },
    { "# a\ne.nop", "# a\n# b\ne.nop", "the number of comments" },
    { "# a\n# b\ne.nop", "# a\n\n# b\ne.nop", "a comment" },
    { "e.nop # a", "e.nop", "a trailing comment" },
    { "e.nop #", "e.nop", "a trailing comment" },
    { "loop i < n { # a\n}", "loop i < n {\n# a\n}", "a trailing comment" },
    { "queue q", "queue q via sp", "a queue" },
    { "queue q", "sem q", "the kind of a declaration" },
    { "sem s", "sem s = 1", "a semaphore" },
    { "sem s", "sem s at 0", "a semaphore" },
    { "sem s", "sem s, t", "the number of declarations" },
    { "event e : a -> b", "event e : b -> a", "an event" },
    { "event e : a -> b", "event e[1] : a -> b", "an event" },
    { "alias a b", "alias b a", "an alias" },
    { "buffer x : s f[1]", "buffer x : s f[1p]", "a dimension" },
    { "buffer x : s f[1]", "buffer x : s f[1, 1]", "a buffer" },
    { "buffer x : s f[1]", "buffer x : s g[1]", "a buffer" },
    { "buffer x : s f[1]", "buffer x : s f[1] at 0", "the address of a buffer" },
    { "buffer x : s f[1] at 0", "buffer x : s f[1] at 0p, 0", "the address of a buffer" },
    { "dep a -> b", "dep b -> a", "a dependence line" },
    { "dep a -> b", "nodep a -> b \"r\"", "a dependence line" },
    { "dep a -> b", "dep a -> b (i: 0)", "a dependence line" },
    { "dep a -> b (i: 1)", "dep a -> b (i: -1)", "the distance of a dependence line" },
    { "dep a -> b (i: 1)", "dep a -> b (across i: 1)", "the distance of a dependence line" },
    { "dep a -> b", "dep a -> b\ndep a -> b", "the number of dependence lines" },
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char a[300], b[300];
    snprintf(a, sizeof a, "kernel k target t {\n%s\n}\n", rows[i][0]);
    snprintf(b, sizeof b, "kernel k target t {\n%s\n}\n", rows[i][1]);
    check_differ(a, b, rows[i][2]);
  }
}

static void test_different_files(void **state)
{
  (void)state;
  static const char *const rows[][3] = {
    { "sluice 1\n", "", "the version" },
    { "kernel k target t { }\n", "", "the number of kernels" },
    { "kernel k target t { }\n", "kernel k target u { }\n", "the head of a kernel" },
    { "kernel k target t { }\n", "kernel k target t explicit { }\n", "the head of a kernel" },
    { "kernel k(n) target t { }\n", "kernel k(static n) target t { }\n", "a parameter" },
    { "kernel k(n) target t { }\n", "kernel k(n, m) target t { }\n", "the number of parameters" },
    { "kernel k(n = 1) target t { }\n", "kernel k(n) target t { }\n", "an expression" },
    { "kernel k target t { }\n", "kernel k target t from \"f\":1 { }\n", "a location of another tool" },
    { "# a\nsluice 1\n", "sluice 1\n", "the number of comments of the file" },
    { "# a\nsluice 1\n", "# b\nsluice 1\n", "a comment of the file" },
    { "# a\n", "# b\n", "a comment of the file" },
    { "kernel k target t { } # a\n", "kernel k target t { }\n", "a trailing comment" },
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    check_differ(rows[i][0], rows[i][1], rows[i][2]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_expressions_of_every_shape),
    cmocka_unit_test(test_empty_lines_at_the_start_of_blocks_are_not_printed),
    cmocka_unit_test(test_strings_and_comments_of_any_text),
    cmocka_unit_test(test_shared_lines),
    cmocka_unit_test(test_statement_heads_for_messages),
    cmocka_unit_test(test_equal),
    cmocka_unit_test(test_different),
    cmocka_unit_test(test_different_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
