/* test_cost.c: cost formulas (target/cost.h), and the costs of the built-in targets against figures that the vendor or
 * published measurements give.
 */
#include "unit.h"

#include <string.h>

#include "target/cost.h"

/* ---- formulas by themselves ---- */

struct fixture {
  struct unit_heap unit;
  sluice_targets *targets;
  const struct sl_target *trn1, *trn2;
};

static int setup(void **state)
{
  static struct fixture fixture;
  sl_heap_init(&fixture.unit.heap, &fixture.unit.guard);
  if (sluice_targets_new(&fixture.targets) != SLUICE_OK)
    return 1;
  fixture.trn1 = sl_target_find(fixture.targets, "trn1");
  fixture.trn2 = sl_target_find(fixture.targets, "trn2");
  *state = &fixture;
  return 0;
}

static int teardown(void **state)
{
  struct fixture *fixture = *state;
  sl_heap_free_all(&fixture->unit.heap);
  sluice_targets_free(fixture->targets);
  return 0;
}

struct caught {
  char text[200];
  uint32_t column;
};

static void catch_diag(void *user, const sluice_diag *diag)
{
  struct caught *caught = user;
  strncpy(caught->text, diag->text, sizeof caught->text - 1);
  caught->column = diag->column;
}

/* The value of a formula on trn2, or -1 when it does not compile; then *caught has the message. */
static double evaluate(struct fixture *fixture, const char *formula, enum sl_cost_unit unit,
                       const struct sl_cost_env *env, struct caught *caught)
{
  sl_heap *heap = &fixture->unit.heap;
  sluice_sink sink = { catch_diag, caught };
  sl_source source;
  sl_report report;
  sl_source_init(&source, heap, "formula", formula, strlen(formula));
  sl_report_init(&report, heap, &sink, &source);
  struct sl_cost_text text = { formula, (uint8_t)unit, fixture->trn2->defines.len, 1, false };
  struct sl_cost *cost = sl_cost_compile(heap, fixture->trn2, &text, &report);
  assert_int_equal(report.errors, cost ? 0 : 1);
  return cost ? sl_cost_eval(cost, fixture->trn2, env) : -1;
}

static void test_arithmetic(void **state)
{
  static const struct {
    const char *formula;
    double value;
  } cases[] = {
    { "1 + 2 * 3", 7 },
    { "(1 + 2) * 3", 9 },
    { "10 - 4 - 3", 3 },
    { "24 / 4 / 2", 3 },
    { "2 * -3 + 10", 4 },
    { "1.5e1 + .5 * 0", -1 }, /* no digit before the point */
    { "1.5e1", 15 },
    { "25e-2 * 4", 1 },
    { "min(3, 1, 2) + max(3, 1, 2)", 4 },
    { "floor(2.7) + ceil(2.2)", 5 },
    { "0 - floor(0 - 2.5)", 3 },
    { "0 - ceil(0 - 2.5)", 2 },
    { "if(2 > 1, 10, 20) + if(2 < 1, 1, 2)", 12 },
    { "1 < 2 and 2 <= 2 and 3 > 2 and 2 >= 2 and 1 == 1 and 1 != 2", 1 },
    { "0 or 0", 0 },
    { "1 or 0", 1 },
    { "not 0 + 1", 2 },
    { "if(\n  1,\n  7, 8)", 7 },
    { "3 - 5", 0 }, /* a cost is never negative */
    { "N / P", 0 }, /* nor is it infinite */
    { "1e150 * 1e150 * 1e150 - 1e150 * 1e150 + 1", 1 },
    { "N * 1e150 * 1e150", 0 },
  };
  struct sl_cost_env env;
  sl_cost_env_init(&env, 0, NULL, 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct caught caught = { "", 0 };
    double value = evaluate(*state, cases[i].formula, SL_COST_VALUE, &env, &caught);
    if (value != cases[i].value)
      fail_msg("%s: %g instead of %g %s", cases[i].formula, value, cases[i].value, caught.text);
  }
}

/* Values that no sane caller passes must not trap or give nonsense. */
static void test_wild_variables(void **state)
{
  static const double wild[] = { 1e308, -1e308, 0, 1.0 / 3, 1e-320 };
  static const char *const formulas[] = { "N * P * N * P", "N / P - P / N", "floor(N * P) - ceil(N)", "dma_rate",
                                          "row" };
  struct caught caught = { "", 0 };
  for (size_t f = 0; f < sizeof formulas / sizeof *formulas; f++)
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++)
      for (size_t j = 0; j < sizeof wild / sizeof *wild; j++) {
        struct sl_cost_env env;
        sl_cost_env_init(&env, 0, NULL, 0);
        for (int v = 0; v < SL_COST_VARIABLE_COUNT; v++)
          env.variables[v] = v & 1 ? wild[i] : wild[j];
        double value = evaluate(*state, formulas[f], SL_COST_VALUE, &env, &caught);
        assert_true(value >= 0 && value <= 1e150);
      }
}

static void test_questions_about_the_operation(void **state)
{
  struct fixture *fixture = *state;
  const struct sl_cost_attr attrs[] = { { "op", "add", 0 }, { "scale", NULL, 2.5 } };
  struct sl_cost_env env;
  sl_cost_env_init(&env, (uint32_t)sl_target_engine(fixture->trn2, "dve"), attrs, 2);
  struct sl_cost_operand operand = { .space = (uint32_t)sl_target_space(fixture->trn2, "psum"),
                                     .type = "f32",
                                     .type_bytes = 4,
                                     .partitions = 128,
                                     .elements = 512 };
  sl_cost_env_add(&env, &operand, false);
  sl_cost_env_add(&env, &operand, false);
  operand.space = (uint32_t)sl_target_space(fixture->trn2, "sbuf");
  operand.type_bytes = 2;
  operand.type = "bf16";
  operand.elements = 256;
  operand.stride = 8;
  sl_cost_env_add(&env, &operand, true);
  static const struct {
    const char *formula;
    double value;
  } cases[] = {
    { "on(dve)", 1 },       { "on(pe)", 0 },      { "src_in(psum)", 2 },  { "dst_in(psum)", 0 },
    { "dst_in(sbuf)", 1 },  { "type(f32)", 1 },   { "type(bf16)", 0 },    { "has(op)", 1 },
    { "has(func)", 0 },     { "is(op, add)", 1 }, { "is(op, max)", 0 },   { "is(scale, add)", 0 },
    { "attr(scale)", 2.5 }, { "attr(op)", 0 },    { "attr(nothing)", 0 }, { "N", 512 },
    { "P", 128 },           { "src_n", 512 },     { "dst_n", 256 },       { "src_p", 128 },
    { "bytes", 262144 },    { "chunk", 512 },     { "stride", 8 },        { "contiguous", 0 },
    { "widest", 4 },        { "narrowest", 2 },   { "src_bytes", 4 },     { "dst_bytes", 2 },
    { "srcs", 2 },          { "dsts", 1 },        { "min_interval", 64 }, { "sixteen_bit", 0 },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct caught caught = { "", 0 };
    double value = evaluate(fixture, cases[i].formula, SL_COST_VALUE, &env, &caught);
    if (value != cases[i].value)
      fail_msg("%s: %g instead of %g %s", cases[i].formula, value, cases[i].value, caught.text);
  }
}

static void test_errors(void **state)
{
  static const struct {
    const char *formula;
    enum sl_cost_unit unit;
    uint32_t column;
    const char *text;
  } cases[] = {
    { "", SL_COST_VALUE, 1, "the formula ends too early" },
    { "1 +", SL_COST_VALUE, 4, "the formula ends too early" },
    { "1 2", SL_COST_VALUE, 3, "the formula should end here, or an operator is missing" },
    { "1 < 2 < 3", SL_COST_VALUE, 7, "the formula should end here, or an operator is missing" },
    { "(1", SL_COST_VALUE, 3, "expected ')'" },
    { "min(1)", SL_COST_VALUE, 6, "wrong number of arguments" },
    { "if(1, 2)", SL_COST_VALUE, 8, "wrong number of arguments" },
    { "floor(1, 2)", SL_COST_VALUE, 11, "wrong number of arguments" },
    { "mim(1, 2)", SL_COST_VALUE, 1, "unknown function 'mim'; did you mean 'min'?" },
    { "1 + min_intervall", SL_COST_VALUE, 5,
      "unknown variable, parameter or define 'min_intervall'; did you mean 'min_interval'?" },
    { "on(poool)", SL_COST_VALUE, 4, "unknown engine 'poool'; did you mean 'pool'?" },
    { "src_in(psam)", SL_COST_VALUE, 8, "unknown space 'psam'; did you mean 'psum'?" },
    { "is(op)", SL_COST_VALUE, 6, "expected ','" },
    { "has(3)", SL_COST_VALUE, 5, "expected a name" },
    { "1 / 0", SL_COST_VALUE, 5, "division by zero" },
    { "N / (2 - 2)", SL_COST_VALUE, 5, "division by zero" },
    { "N / run_ahead", SL_COST_VALUE, 5, "division by zero" },
    { "drain", SL_COST_CYCLES, 1, "'drain' is in ns, the formula in cycles" },
    { "min_interval", SL_COST_NS, 1, "'min_interval' is in cycles, the formula in ns" },
    { "act_latency + 1", SL_COST_CYCLES, 1, "'act_latency' is in ns, the formula in cycles" },
    { "1e400", SL_COST_VALUE, 1, "not a number" },
    { "1.2.3", SL_COST_VALUE, 1, "not a number" },
    { "12abc", SL_COST_VALUE, 1, "not a number" },
    { "2 $ 3", SL_COST_VALUE, 3, "the formula should end here, or an operator is missing" },
  };
  struct sl_cost_env env;
  sl_cost_env_init(&env, 0, NULL, 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct caught caught = { "", 0 };
    assert_true(evaluate(*state, cases[i].formula, cases[i].unit, &env, &caught) < 0);
    assert_string_equal(caught.text, cases[i].text);
    assert_int_equal(caught.column, cases[i].column);
  }
}

/* Deep nesting and long formulas are refused, not recursed into. */
static void test_limits(void **state)
{
  struct fixture *fixture = *state;
  struct sl_cost_env env;
  sl_cost_env_init(&env, 0, NULL, 0);
  enum { LENGTH = 100000 };
  char *text = sl_heap_alloc(&fixture->unit.heap, LENGTH + 1);
  text[LENGTH] = '\0';
  static const struct {
    char pattern[4];
    const char *message;
  } cases[] = { { "(", "the formula nests too deep" },
                { "-", "the formula nests too deep" },
                { "N+", "the formula is too long" } };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t length = strlen(cases[i].pattern);
    for (size_t at = 0; at < LENGTH; at++)
      text[at] = cases[i].pattern[at % length];
    struct caught caught = { "", 0 };
    assert_true(evaluate(fixture, text, SL_COST_VALUE, &env, &caught) < 0);
    assert_string_equal(caught.text, cases[i].message);
  }
  /* Every level of if() holds two values while the third is computed. */
  sl_buf nested;
  sl_buf_init(&nested, &fixture->unit.heap);
  for (int i = 0; i < 39; i++)
    sl_buf_puts(&nested, "if(N, N, ");
  sl_buf_puts(&nested, "N");
  sl_buf_fill(&nested, ')', 39);
  struct caught caught = { "", 0 };
  assert_true(evaluate(fixture, sl_buf_text(&nested), SL_COST_VALUE, &env, &caught) < 0);
  assert_string_equal(caught.text, "the formula is too long");
}

/* ---- costs of the built-in targets ---- */

/* One operand of a case: "psum f32" [partitions, elements]; space NULL = none. */
struct shape {
  const char *space, *type;
  double type_bytes, partitions, elements;
};

static double ns_of(const struct sl_target *target, const char *opcode, const char *engine, const struct shape *dsts,
                    const struct shape *srcs, const struct sl_cost_attr *attrs, size_t attr_count, bool latency)
{
  int index = sl_target_opcode(target, opcode), on = sl_target_engine(target, engine);
  assert_true(index >= 0 && on >= 0);
  assert_true(target->opcodes.data[index].engines >> on & 1);
  struct sl_cost_env env;
  sl_cost_env_init(&env, (uint32_t)on, attrs, attr_count);
  for (int side = 0; side < 2; side++)
    for (const struct shape *s = side ? srcs : dsts; s && s->space; s++) {
      struct sl_cost_operand operand = { .space = (uint32_t)sl_target_space(target, s->space),
                                         .type = s->type,
                                         .type_bytes = s->type_bytes,
                                         .partitions = s->partitions,
                                         .elements = s->elements };
      sl_cost_env_add(&env, &operand, side == 0);
    }
  double cycles = latency ? sl_cost_latency(target, &target->opcodes.data[index], &env)
                          : sl_cost_interval(target, &target->opcodes.data[index], &env);
  return sl_cost_ns(target, (uint32_t)on, cycles);
}

#define BF16(space, elements)       \
  {                                 \
    space, "bf16", 2, 128, elements \
  }
#define F32(space, elements)       \
  {                                \
    space, "f32", 4, 128, elements \
  }
#define NONE            \
  {                     \
    NULL, NULL, 0, 0, 0 \
  }

static void assert_near(const char *what, double value, double expected)
{
  if (value < expected * 0.999 || value > expected * 1.001)
    fail_msg("%s: %g ns instead of %g", what, value, expected);
}

static void test_documented_intervals(void **state)
{
  const struct fixture *fixture = *state;
  static const struct {
    int generation;
    const char *opcode, *engine;
    struct shape dsts[3], srcs[4];
    double ns;
  } cases[] = {
    /* 512 columns: 512 cycles of 2.4 GHz; fp32 takes four times as long; the least is 64 cycles. */
    { 2, "matmul", "pe", { F32("psum", 512), NONE }, { BF16("sbuf", 512), NONE }, 213.33 },
    { 2, "matmul", "pe", { F32("psum", 512), NONE }, { F32("sbuf", 512), NONE }, 853.33 },
    { 2, "matmul", "pe", { F32("psum", 16), NONE }, { BF16("sbuf", 16), NONE }, 26.67 },
    { 1, "matmul", "pe", { F32("psum", 512), NONE }, { BF16("sbuf", 512), NONE }, 182.86 },
    { 2, "nc_matmul", "pe", { F32("psum", 512), NONE }, { BF16("sbuf", 128), BF16("sbuf", 512), NONE }, 213.33 },
    { 2, "nc_matmul", "pe", { F32("psum", 16), NONE }, { BF16("sbuf", 32), BF16("sbuf", 16), NONE }, 13.33 },
    { 2, "load_weights", "pe", { NONE }, { BF16("sbuf", 128), NONE }, 26.67 },
    { 2, "transpose", "pe", { BF16("psum", 128), NONE }, { BF16("sbuf", 128), NONE }, 53.33 },
    /* One element a cycle; 64 more for the sum of the row. */
    { 2, "activation", "act", { BF16("sbuf", 2048), NONE }, { BF16("sbuf", 2048), F32("sbuf", 1), NONE }, 1706.67 },
    { 2, "activation", "act", { BF16("sbuf", 2048), F32("sbuf", 1), NONE }, { BF16("sbuf", 2048), NONE }, 1760 },
    { 2, "activation", "act", { F32("sbuf", 1), NONE }, { F32("sbuf", 1), NONE }, 53.33 },
    { 1, "activation", "act", { F32("sbuf", 1024), NONE }, { F32("sbuf", 1024), NONE }, 731.43 },
    /* The vector engine's modes: four, two and one element a cycle. */
    { 2, "tensor_copy", "dve", { BF16("sbuf", 2048), NONE }, { BF16("sbuf", 2048), NONE }, 533.33 },
    { 2, "tensor_copy", "dve", { BF16("sbuf", 2048), NONE }, { BF16("psum", 2048), NONE }, 1066.67 },
    { 2, "tensor_copy", "dve", { F32("sbuf", 512), NONE }, { F32("psum", 512), NONE }, 533.33 },
    { 1, "tensor_copy", "dve", { BF16("sbuf", 2048), NONE }, { BF16("sbuf", 2048), NONE }, 1828.57 },
    { 2, "tensor_copy", "act", { BF16("sbuf", 2048), NONE }, { BF16("psum", 2048), NONE }, 1706.67 },
    { 2, "tensor_scalar", "dve", { { "sbuf", "f8e4", 1, 128, 2048 }, NONE }, { BF16("sbuf", 2048), NONE }, 2133.33 },
    { 2,
      "tensor_tensor",
      "dve",
      { BF16("sbuf", 2048), NONE },
      { BF16("sbuf", 2048), BF16("sbuf", 2048), NONE },
      1066.67 },
    { 2, "tensor_tensor", "dve", { F32("sbuf", 1024), NONE }, { F32("sbuf", 1024), F32("sbuf", 1024), NONE }, 2133.33 },
    { 2, "tensor_tensor", "dve", { F32("sbuf", 512), NONE }, { F32("psum", 512), F32("sbuf", 512), NONE }, 533.33 },
    { 2,
      "scalar_tensor_tensor",
      "dve",
      { F32("sbuf", 1024), NONE },
      { F32("sbuf", 1024), F32("sbuf", 1024), NONE },
      2133.33 },
    { 2, "reciprocal", "dve", { F32("sbuf", 64), NONE }, { F32("sbuf", 64), NONE }, 533.33 },
    { 2, "reciprocal", "act", { F32("sbuf", 1024), NONE }, { F32("sbuf", 1024), NONE }, 853.33 },
    { 2, "bn_aggr", "dve", { F32("sbuf", 2), NONE }, { F32("sbuf", 96), NONE }, 433.33 },
    { 2, "select", "dve", { F32("sbuf", 96), NONE }, { F32("sbuf", 96), F32("sbuf", 96), NONE }, 200 },
    /* GPSIMD starts with 150 cycles. */
    { 2, "iota", "pool", { F32("sbuf", 90), NONE }, { NONE }, 200 },
    { 2, "tensor_tensor", "pool", { F32("sbuf", 1024), NONE }, { F32("sbuf", 1024), F32("sbuf", 1024), NONE }, 978.33 },
    { 2, "partition_reduce", "pool", { F32("sbuf", 1), NONE }, { F32("sbuf", 120), NONE }, 100 },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct sl_target *target = cases[i].generation == 1 ? fixture->trn1 : fixture->trn2;
    assert_near(cases[i].opcode,
                ns_of(target, cases[i].opcode, cases[i].engine, cases[i].dsts, cases[i].srcs, NULL, 0, false),
                cases[i].ns);
  }
}

static void test_attributes_count(void **state)
{
  const struct sl_target *trn2 = ((const struct fixture *)*state)->trn2;
  const struct shape row[] = { BF16("sbuf", 2048), NONE }, one[] = { BF16("sbuf", 1), NONE };
  const struct sl_cost_attr reduce[] = { { "reduce", "add", 0 } }, absmax[] = { { "op", "absmax", 0 } },
                            add[] = { { "op", "add", 0 } }, given[] = { { "cycles", NULL, 96 } },
                            zero[] = { { "value", NULL, 0 } }, seven[] = { { "value", NULL, 7 } };
  assert_near("reduce", ns_of(trn2, "activation", "act", row, row, reduce, 1, false), 1760);
  assert_near("absmax", ns_of(trn2, "tensor_reduce", "dve", one, row, absmax, 1, false), 1066.67);
  assert_near("add", ns_of(trn2, "tensor_reduce", "dve", one, row, add, 1, false), 1066.67);
  assert_near("other", ns_of(trn2, "tensor_reduce", "dve", one, row, reduce, 1, false), 2133.33);
  assert_near("cycles", ns_of(trn2, "activation", "act", row, row, given, 1, false), 80);
  assert_near("memset 0", ns_of(trn2, "memset", "dve", row, NULL, zero, 1, false), 1066.67);
  assert_near("memset 7", ns_of(trn2, "memset", "dve", row, NULL, seven, 1, false), 2133.33);
}

static void test_latencies(void **state)
{
  const struct sl_target *trn2 = ((const struct fixture *)*state)->trn2;
  const struct shape bf16[] = { BF16("sbuf", 64), NONE }, f32[] = { F32("sbuf", 64), NONE },
                     psum[] = { F32("psum", 64), NONE };
  assert_near("pe", ns_of(trn2, "matmul", "pe", psum, bf16, NULL, 0, true), 167);
  assert_near("act 16", ns_of(trn2, "activation", "act", bf16, bf16, NULL, 0, true), 185);
  assert_near("act 32", ns_of(trn2, "activation", "act", f32, bf16, NULL, 0, true), 143);
  assert_near("dve", ns_of(trn2, "tensor_copy", "dve", bf16, bf16, NULL, 0, true), 104);
  assert_near("pool", ns_of(trn2, "tensor_copy", "pool", bf16, bf16, NULL, 0, true), 104);
  assert_near("memset", ns_of(trn2, "memset", "dve", bf16, NULL, NULL, 0, true), 52);
}

/* BW(D) = 435 D / (D + 816), at most what was measured; and the fixed part of a small transfer. */
static void test_transfers(void **state)
{
  const struct fixture *fixture = *state;
  static const struct {
    double chunk, bytes_per_ns;
  } rates[] = { { 256, 103.88 }, { 512, 167.71 }, { 1024, 242.09 }, { 2048, 311.06 }, { 4096, 354 }, { 1e6, 354 } };
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    double bytes = 128 * rates[i].chunk;
    const struct shape side[] = { { "sbuf", "u8", 1, 128, rates[i].chunk }, NONE };
    assert_near("rate", bytes / ns_of(fixture->trn2, "dma_copy", "sp", side, side, NULL, 0, false),
                rates[i].bytes_per_ns);
  }
  const struct shape small[] = { { "sbuf", "u8", 1, 128, 4 }, NONE };
  assert_near("sp", ns_of(fixture->trn2, "dma_copy", "sp", small, small, NULL, 0, true), 40 + 417 + 1300 + 100);
  assert_near("pool", ns_of(fixture->trn2, "gather", "pool", small, small, NULL, 0, true), 40 + 583 + 1300 + 100);
  assert_near("v2", ns_of(fixture->trn1, "dma_copy", "sp", small, small, NULL, 0, true), 40 + 0 + 1300 + 100);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_arithmetic),
    cmocka_unit_test(test_wild_variables),
    cmocka_unit_test(test_questions_about_the_operation),
    cmocka_unit_test(test_errors),
    cmocka_unit_test(test_limits),
    cmocka_unit_test(test_documented_intervals),
    cmocka_unit_test(test_attributes_count),
    cmocka_unit_test(test_latencies),
    cmocka_unit_test(test_transfers),
  };
  return cmocka_run_group_tests_name("cost", tests, setup, teardown);
}
