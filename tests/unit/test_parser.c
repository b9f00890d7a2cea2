/* test_parser.c: what the lexer and the parser put into the tree (ir/parser.c and its parts, ir/opcodes.c). Messages are tested
 * by tests/text/parse.
 */
#include "unit.h"

#include <string.h>

#include <sluice/program.h>

#include "ir/ir.h"
#include "ir/lexer.h"

struct reading {
  sl_program *program;
  sl_report report;
  int status;
};

static int read_guarded(void *arg)
{
  struct reading *reading = arg;
  sl_report_init(&reading->report, &reading->program->heap, NULL, &reading->program->source);
  return sl_parse_program(reading->program, &reading->report);
}

static struct reading read_text(const char *text)
{
  struct reading reading = { .program = sl_program_new("test", text, strlen(text)) };
  assert_non_null(reading.program);
  reading.status = sl_guard_run(&reading.program->guard, read_guarded, &reading);
  return reading;
}

static sl_program *parse(const char *text)
{
  struct reading reading = read_text(text);
  assert_int_equal(reading.status, SLUICE_OK);
  return reading.program;
}

static struct sl_kernel *parse_kernel(sl_program **program, const char *body)
{
  char text[2000] = "kernel k target t {\n";
  assert_true(strlen(text) + strlen(body) + 3 < sizeof text);
  strcat(strcat(text, body), "\n}\n");
  *program = parse(text);
  assert_int_equal((*program)->kernels.len, 1);
  return (*program)->kernels.data[0];
}

static sl_index first_stmt(const struct sl_kernel *kernel)
{
  sl_index first = kernel->blocks.data[kernel->root].first;
  assert_int_not_equal(first, SL_NONE);
  return first;
}

#define assert_name(program, name, text) assert_string_equal(sl_text((program), (sl_name)(name)), (text))

static void test_operands(void **state)
{
  (void)state;
  sl_program *program;
  struct sl_kernel *kernel = parse_kernel(&program, "l.0: q.op a, +b[i, 2:3, 0 +: n, :, ?] <- %r, 7");
  const struct sl_op *op = sl_stmt_op(kernel, first_stmt(kernel));
  assert_name(program, op->label, "l.0");
  assert_name(program, op->opcode, "op");
  assert_int_equal(op->code, SL_OP_TARGET);
  assert_true(op->has_arrow);
  assert_int_equal(op->dst_count, 2);
  assert_int_equal(op->src_count, 2);
  const struct sl_operand *operands = &kernel->operands.data[op->first_operand];
  assert_false(operands[0].indexed);
  assert_true(operands[1].read_write);
  assert_int_equal(operands[1].index_count, 5);
  static const int kinds[] = { SL_INDEX_AT, SL_INDEX_RANGE, SL_INDEX_LENGTH, SL_INDEX_ALL, SL_INDEX_ANY };
  for (uint32_t i = 0; i < 5; i++)
    assert_int_equal(kernel->indices.data[operands[1].first_index + i].kind, kinds[i]);
  assert_int_equal(operands[2].kind, SL_OPERAND_REG);
  assert_name(program, operands[2].value, "r");
  assert_int_equal(operands[3].value, 7);
  sluice_program_free(program);
}

static void test_register_operations_count_all_operands_as_destinations(void **state)
{
  (void)state;
  sl_program *program;
  struct sl_kernel *kernel = parse_kernel(&program, "sp.reg_add %a, %b, 1");
  const struct sl_op *op = sl_stmt_op(kernel, first_stmt(kernel));
  assert_int_equal(op->code, SL_OP_REG_ADD);
  assert_int_equal(op->dst_count, 3);
  assert_int_equal(op->src_count, 0);
  assert_false(op->has_arrow);
  sluice_program_free(program);
}

static void test_clauses_of_one_kind_are_contiguous(void **state)
{
  (void)state;
  sl_program *program;
  struct sl_kernel *kernel =
    parse_kernel(&program, "e.nop wait s >= 4, t == %r inc u by 3 wait v >= i, ev[2] set ev, f[1] inc w from \"f\":1:2");
  sl_index stmt = first_stmt(kernel);
  const struct sl_op *op = sl_stmt_op(kernel, stmt);
  assert_int_equal(op->wait_count, 4);
  const struct sl_gate *gates = &kernel->waits.data[op->first_wait];
  assert_int_equal(gates[0].threshold, SL_THRESHOLD_INT);
  assert_int_equal(gates[0].value, 4);
  assert_true(gates[1].equal);
  assert_int_equal(gates[1].threshold, SL_THRESHOLD_REG);
  assert_int_equal(gates[2].threshold, SL_THRESHOLD_NAME);
  assert_name(program, gates[2].value, "i");
  assert_int_equal(gates[3].kind, SL_GATE_EVENT);
  assert_int_not_equal(gates[3].event_index, SL_NONE);
  assert_int_equal(op->inc_count, 2);
  assert_int_equal(kernel->incs.data[op->first_inc].by, 3);
  assert_int_equal(kernel->incs.data[op->first_inc + 1].by, 1);
  assert_int_equal(op->set_count, 2);
  const struct sl_origin_loc *origin = &kernel->origins.data[kernel->stmts.data[stmt].origin];
  assert_name(program, origin->file, "f");
  assert_int_equal(origin->line, 1);
  assert_int_equal(origin->column, 2);
  sluice_program_free(program);
}

static void test_streams(void **state)
{
  (void)state;
  sl_program *program;
  struct sl_kernel *kernel = parse_kernel(&program, "queue q via sp\nqueue r\na|q|b.nop\n*.nop\na.nop");
  sl_index stmt = first_stmt(kernel);
  const struct sl_op *op = sl_stmt_op(kernel, stmt);
  assert_int_equal(op->stream_count, 3);
  const char *const names[] = { "a", "q", "b" };
  for (uint32_t i = 0; i < 3; i++)
    assert_name(program, kernel->streams.data[sl_op_stream(kernel, op, i)].name, names[i]);
  stmt = kernel->stmts.data[stmt].next;
  assert_true(sl_stmt_op(kernel, stmt)->all_engines);
  assert_int_equal(sl_stmt_op(kernel, stmt)->stream_count, 0);
  stmt = kernel->stmts.data[stmt].next;
  assert_int_equal(sl_stmt_op(kernel, stmt)->stream, sl_stream_get(kernel, sl_intern(program, "a")));
  const struct sl_stream *queue = &kernel->streams.data[sl_stream_get(kernel, sl_intern(program, "q"))];
  assert_true(queue->is_queue);
  assert_name(program, queue->trigger_name, "sp");
  assert_int_equal(queue->trigger, SL_NO_STREAM);
  assert_int_equal(kernel->streams.data[sl_stream_get(kernel, sl_intern(program, "r"))].trigger_name, 0);
  assert_int_equal(sl_stream_get(kernel, sl_intern(program, "sp")), SL_NO_STREAM);
  sluice_program_free(program);
}

static void test_loops_and_branches(void **state)
{
  (void)state;
  sl_program *program;
  struct sl_kernel *kernel = parse_kernel(&program, "loop i < n { e.nop }\n"
                                                    "loop j in 1..n step 2 while a < b or ?c divergent unroll 4 { }\n"
                                                    "loop k while ?go { }\n"
                                                    "if a < b and b < c { e.nop } else if ?x { } else { e.nop }");
  sl_index stmt = first_stmt(kernel);
  const struct sl_loop *loop = sl_stmt_loop(kernel, stmt);
  assert_true(loop->has_range && loop->short_range && !loop->lo && !loop->step && loop->hi);
  assert_int_equal(kernel->blocks.data[loop->body].owner, stmt);
  stmt = kernel->stmts.data[stmt].next;
  loop = sl_stmt_loop(kernel, stmt);
  assert_true(loop->has_range && !loop->short_range && loop->lo && loop->divergent);
  assert_int_equal(kernel->exprs.data[loop->step].u.value, 2);
  assert_int_equal(loop->while_cond.count, 2);
  assert_true(loop->while_cond.any);
  assert_int_equal(loop->unroll, 4);
  stmt = kernel->stmts.data[stmt].next;
  assert_false(sl_stmt_loop(kernel, stmt)->has_range);
  stmt = kernel->stmts.data[stmt].next;
  const struct sl_branch *branch = sl_stmt_branch(kernel, stmt);
  assert_false(branch->cond.any);
  sl_index inner = kernel->blocks.data[branch->else_block].first;
  assert_int_equal(kernel->stmts.data[inner].kind, SL_STMT_IF);
  assert_int_equal(kernel->stmts.data[inner].next, SL_NONE);
  assert_int_not_equal(sl_stmt_branch(kernel, inner)->else_block, SL_NONE);
  sluice_program_free(program);
}

static void test_declarations(void **state)
{
  (void)state;
  sl_program *program;
  struct sl_kernel *kernel =
    parse_kernel(&program, "buffer x : sbuf f32[2, 128p, n*2] at 32p, 64 { scratch = 1 }\nbuffer y : hbm i8[4] at 7\n"
                           "sem s, t = 4 at 9\nevent e[3] : v -> w at 2\nalias x y");
  assert_int_equal(kernel->decls.len, 6);
  const struct sl_buffer *x = &kernel->buffers.data[1], *y = &kernel->buffers.data[2];
  assert_int_equal(x->dim_count, 3);
  assert_true(kernel->dims.data[x->first_dim + 1].partition && !kernel->dims.data[x->first_dim].partition);
  assert_true(x->has_partition_start);
  assert_int_equal(x->partition_start, 32);
  assert_int_equal(x->attr_count, 1);
  assert_true(y->has_address && !y->has_partition_start);
  assert_int_equal(kernel->sems.data[2].initial, 4);
  assert_true(kernel->sems.data[2].has_id && !kernel->sems.data[1].has_id);
  assert_int_equal(kernel->events.data[1].count, 3);
  assert_name(program, kernel->aliases.data[1].b, "y");
  sluice_program_free(program);
}

static void test_dependences(void **state)
{
  (void)state;
  sl_program *program;
  struct sl_kernel *kernel = parse_kernel(&program, "a: e.nop\ndep a -> a.0 (i: 2, j: -1)\nnodep a -> a \"why\\n\"\n"
                                                   "dep a -> a (across i: 3)\ndep a -> a (across: 1)\n"
                                                   "dep a -> a (across across: 1)");
  assert_int_equal(kernel->deps.len, 5);
  assert_name(program, kernel->deps.data[0].consumer, "a.0");
  assert_int_equal(kernel->deps.data[0].distance_count, 2);
  assert_int_equal(kernel->distances.data[1].k, -1);
  assert_true(kernel->deps.data[1].removed);
  assert_name(program, kernel->deps.data[1].reason, "why\n");
  const struct sl_distance *across = &kernel->distances.data[2];
  assert_true(!kernel->distances.data[0].across && across[0].across && across[0].k == 3);
  assert_name(program, across[0].loop, "i");
  assert_true(!across[1].across && across[2].across); /* a loop may be called so */
  assert_name(program, across[1].loop, "across");
  assert_name(program, across[2].loop, "across");
  sluice_program_free(program);
}

static sl_index parse_value(struct sl_kernel **kernel, sl_program **program, const char *text)
{
  char body[1000] = "e.op { v = ";
  strcat(strcat(body, text), " }");
  *kernel = parse_kernel(program, body);
  return (*kernel)->attrs.data[sl_stmt_op(*kernel, first_stmt(*kernel))->first_attr].expr;
}

static void test_the_sign_of_a_lone_integer_is_part_of_it(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    uint8_t kind;
    int64_t value;
  } rows[] = {
    { "-5", SL_EXPR_INT, -5 },
    { "-(5)", SL_EXPR_INT, -5 },
    { "-9223372036854775808", SL_EXPR_INT, INT64_MIN },
    { "9223372036854775807", SL_EXPR_INT, INT64_MAX },
    { "0xffff", SL_EXPR_INT, 65535 },
    { "-5*n", SL_EXPR_NEG, 0 },
    { "-(-5)", SL_EXPR_NEG, 0 },
    { "-5 + n", SL_EXPR_ADD, 0 },
    { "a - b - c", SL_EXPR_SUB, 0 },
    { "a*b % c", SL_EXPR_MOD, 0 },
    { "n % r", SL_EXPR_MOD, 0 },
    { "%r", SL_EXPR_REG, 0 },
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct sl_kernel *kernel;
    sl_program *program;
    sl_index value = parse_value(&kernel, &program, rows[i].text);
    const struct sl_expr *expr = &kernel->exprs.data[value];
    assert_int_equal(expr->kind, rows[i].kind);
    if (expr->kind == SL_EXPR_INT)
      assert_true(expr->u.value == rows[i].value);
    sluice_program_free(program);
  }
}

static void test_comments_belong_to_items(void **state)
{
  (void)state;
  sl_program *program = parse("# head\nsluice 1\n# k\nkernel k target t { # open\n  # a\n\n  # b\n  e.nop # c\n\n"
                              "  e.nop\n  # end\n} # closed\n# foot\n");
  const struct sl_kernel *kernel = program->kernels.data[0];
  assert_name(program, program->header_comments.data[0], "head");
  assert_name(program, program->footer_comments.data[0], "foot");
  const struct sl_trivia *trivia = &kernel->trivias.data[kernel->trivia];
  assert_name(program, kernel->comments.data[trivia->first_comment].text, "k");
  assert_name(program, trivia->trailing, "open");
  sl_index stmt = first_stmt(kernel);
  trivia = &kernel->trivias.data[kernel->stmts.data[stmt].trivia];
  const struct sl_comment *comment = &kernel->comments.data[trivia->first_comment];
  assert_name(program, comment->text, "a");
  comment = &kernel->comments.data[comment->next];
  assert_int_equal(comment->text, SL_NONE); /* the empty line */
  assert_name(program, kernel->comments.data[comment->next].text, "b");
  assert_name(program, trivia->trailing, "c");
  assert_int_equal(kernel->stmts.data[stmt].flags, 0);
  assert_name(program, kernel->trivias.data[kernel->end_trivia].trailing, "closed");
  sluice_program_free(program);
}

static void test_locations_are_offsets_plus_one(void **state)
{
  (void)state;
  sl_program *program;
  struct sl_kernel *kernel = parse_kernel(&program, "l: e.op x");
  sl_index stmt = first_stmt(kernel);
  sl_place place = sl_source_place(&program->source, kernel->stmts.data[stmt].loc);
  assert_int_equal(place.line, 2);
  assert_int_equal(place.column, 1);
  place = sl_source_place(&program->source, kernel->operands.data[sl_stmt_op(kernel, stmt)->first_operand].loc);
  assert_int_equal(place.column, 9);
  sluice_program_free(program);
}

static void test_several_errors_are_counted(void **state)
{
  (void)state;
  struct reading reading = read_text("kernel k target t {\n lop\n e.\n e.nop\n if x { }\n}\n");
  assert_int_equal(reading.status, SLUICE_E_INPUT);
  assert_int_equal(reading.report.errors, 3);
  sluice_program_free(reading.program);
}

static void test_nul_bytes_do_not_end_the_text(void **state)
{
  (void)state;
  static const char text[] = "kernel k target t { }\n\0";
  struct reading reading = { .program = sl_program_new("test", text, sizeof text - 1) };
  reading.status = sl_guard_run(&reading.program->guard, read_guarded, &reading);
  assert_int_equal(reading.status, SLUICE_E_INPUT);
  sluice_program_free(reading.program);
}

static void test_fragments(void **state)
{
  (void)state;
  sl_program *program;
  struct sl_kernel *kernel = parse_kernel(&program, "e.nop");
  sl_report report;
  sl_report_init(&report, &program->heap, NULL, &program->source);
  sl_index expr = sl_parse_expr(program, kernel, "n*(m +\n 1)", &report);
  assert_int_equal(kernel->exprs.data[expr].kind, SL_EXPR_MUL);
  struct sl_cond cond;
  assert_true(sl_parse_cond(program, kernel, &cond, "a < b and ?c", &report));
  assert_int_equal(cond.count, 2);
  assert_int_equal(report.errors, 0);
  static const char *const bad[] = { "", "n +", "n n", "n;", "(n", "1.5", "n # c\n m", "wait" };
  for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(sl_parse_expr(program, kernel, bad[i], &report), SL_NONE);
    assert_int_equal(report.errors, i + 1);
  }
  assert_false(sl_parse_cond(program, kernel, &cond, "a < b c", &report));
  assert_int_equal(report.error_limit, 0);
  sluice_program_free(program);
}

static void test_words(void **state)
{
  (void)state;
  static const char *const names[] = { "a", "_", "loop", "x9_", "waits", "kernel" };
  static const char *const no_names[] = { "", "9x", "a-b", "a.0", "wait", "inc", "set", "from", "and", "or", "\xc3\xa9" };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    assert_true(sl_is_name(names[i], strlen(names[i])));
    assert_true(sl_is_label(names[i], strlen(names[i])));
  }
  for (size_t i = 0; i < sizeof no_names / sizeof *no_names; i++)
    assert_false(sl_is_name(no_names[i], strlen(no_names[i])));
  assert_true(sl_is_label("a.0.12", 6));
  static const char *const no_labels[] = { "a.", "a..0", "a.x", ".0", "a.0.", "a.0x", "wait.0" };
  for (size_t i = 0; i < sizeof no_labels / sizeof *no_labels; i++)
    assert_false(sl_is_label(no_labels[i], strlen(no_labels[i])));
}

static void test_opcodes(void **state)
{
  (void)state;
  for (int code = SL_OP_TARGET + 1; code < SL_OPCODE_COUNT; code++)
    assert_int_equal(sl_opcode_find(sl_opcode_table[code].text, strlen(sl_opcode_table[code].text)), code);
  static const char *const others[] = { "", "r", "reg_", "reg_se", "reg_sets", "matmul", "nopx", "dma_copy" };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_int_equal(sl_opcode_find(others[i], strlen(others[i])), SL_OP_TARGET);
  assert_int_equal(sl_opcode_table[SL_OP_REG_SET].op_class, SL_CLASS_REGISTER);
  assert_int_equal(sl_opcode_table[SL_OP_TARGET].op_class, SL_CLASS_DATAPATH);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_operands),
    cmocka_unit_test(test_register_operations_count_all_operands_as_destinations),
    cmocka_unit_test(test_clauses_of_one_kind_are_contiguous),
    cmocka_unit_test(test_streams),
    cmocka_unit_test(test_loops_and_branches),
    cmocka_unit_test(test_declarations),
    cmocka_unit_test(test_dependences),
    cmocka_unit_test(test_the_sign_of_a_lone_integer_is_part_of_it),
    cmocka_unit_test(test_comments_belong_to_items),
    cmocka_unit_test(test_locations_are_offsets_plus_one),
    cmocka_unit_test(test_several_errors_are_counted),
    cmocka_unit_test(test_nul_bytes_do_not_end_the_text),
    cmocka_unit_test(test_fragments),
    cmocka_unit_test(test_words),
    cmocka_unit_test(test_opcodes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
