/* test_target.c: reading target descriptions, the built-in ones, and what kernels' streams become on them. */
#include "unit.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include <sluice/program.h>

#include "ir/program.h"
#include "target/resolve.h"
#include "target/schema.h"

/* ---- catching messages ---- */

enum { MESSAGES_MAX = 64 };

struct caught {
  uint32_t count;
  char text[MESSAGES_MAX][300]; /* line:column: text [rule] */
};

static void catch_diag(void *user, const sluice_diag *diag)
{
  struct caught *caught = user;
  assert_true(caught->count < MESSAGES_MAX);
  snprintf(caught->text[caught->count++], sizeof *caught->text, "%u:%u: %s [%s]", diag->line, diag->column, diag->text,
           diag->rule);
}

static int load(sluice_targets *targets, const char *text, struct caught *caught)
{
  memset(caught, 0, sizeof *caught);
  sluice_sink sink = { catch_diag, caught };
  return sluice_targets_load(targets, "test.target", text, strlen(text), &sink);
}

static int setup(void **state)
{
  return sluice_targets_new((sluice_targets **)state);
}

static int teardown(void **state)
{
  sluice_targets_free(*state);
  return 0;
}

/* ---- the built-in targets ---- */

static void test_built_in_targets_in_order(void **state)
{
  static const char *const names[] = { "trn1", "trn2", "generic", "generic-weak" };
  assert_int_equal(sluice_targets_count(*state), 4);
  for (size_t i = 0; i < 4; i++) {
    assert_string_equal(sluice_targets_name(*state, i), names[i]);
    assert_true(strlen(sluice_targets_summary(*state, i)) > 0);
    const struct sl_target *target = sl_target_find(*state, names[i]);
    assert_non_null(target);
    for (uint32_t o = 0; o < target->opcodes.len; o++) {
      assert_non_null(target->opcodes.data[o].interval_cost);
      assert_non_null(target->opcodes.data[o].latency_cost);
      assert_int_equal(sl_target_opcode(target, target->opcodes.data[o].name), o);
    }
  }
  assert_null(sl_target_find(*state, "trn"));
}

static void test_trainium(void **state)
{
  static const char *const engines[] = { "pe", "act", "pool", "dve", "sp" };
  for (int generation = 1; generation <= 2; generation++) {
    const struct sl_target *target = sl_target_find(*state, generation == 1 ? "trn1" : "trn2");
    assert_int_equal(target->engines.len, 5);
    for (uint32_t i = 0; i < 5; i++) {
      assert_int_equal(sl_target_engine(target, engines[i]), i);
      assert_int_equal(target->engines.data[i].ordinal, i);
      assert_true(target->engines.data[i].interlock);
      assert_int_equal(target->engines.data[i].may_trigger, i == 1 || i == 2 || i == 4);
    }
    assert_int_equal(sl_target_usable_sems(target), 253);
    assert_int_equal(sl_target_usable_registers(target), 62);
    assert_int_equal(target->events.count - target->events.reserved, 244);
    assert_false(target->sem.is_signed || target->sem.modular);
    assert_int_equal(target->sem.width, 32);
    assert_int_equal(target->slot.waits, 1);
    assert_int_equal(target->slot.updates, 1);
    assert_int_equal(target->slot.carrier_waits, 2);
    assert_true(target->slot.shared_value);
    assert_int_equal(target->slot.bytes, 64);
    assert_int_equal(target->queue.per_transfer, 16);
    const struct sl_space_desc *sbuf = &target->spaces.data[sl_target_space(target, "sbuf")];
    assert_int_equal(sbuf->partitions, 128);
    assert_int_equal(sbuf->bytes, generation == 1 ? 192 * 1024 : 224 * 1024);
    assert_int_equal(sbuf->usable, generation == 1 ? 180224 : 212984);
    const struct sl_space_desc *psum = &target->spaces.data[sl_target_space(target, "psum")];
    assert_int_equal(psum->bytes, 8 * psum->bank_bytes);
    assert_int_equal(psum->usable, psum->bytes);
    uint64_t pool_reaches = target->engines.data[2].reads | target->engines.data[2].writes;
    assert_false(pool_reaches >> sl_target_space(target, "psum") & 1);
    const struct sl_opcode_desc *gather = &target->opcodes.data[sl_target_opcode(target, "gather")];
    assert_int_equal(gather->engines, 1u << 2);
    assert_true(gather->on_queue && !gather->on_engine);
  }
}

static void test_generic(void **state)
{
  const struct sl_target *generic = sl_target_find(*state, "generic"), *weak = sl_target_find(*state, "generic-weak");
  const struct sl_target *trn2 = sl_target_find(*state, "trn2");
  assert_int_equal(generic->engines.len, 13);
  assert_true(sl_target_engine(generic, "e0") >= 0 && sl_target_engine(generic, "e7") >= 0);
  assert_int_equal(sl_target_usable_sems(generic), UINT32_MAX);
  assert_int_equal(sl_target_usable_registers(generic), UINT32_MAX);
  assert_true(generic->events.unlimited);
  for (uint32_t i = 0; i < trn2->opcodes.len; i++) {
    int index = sl_target_opcode(generic, trn2->opcodes.data[i].name);
    assert_true(index >= 0);
    assert_int_equal(generic->opcodes.data[index].engines, (1u << 13) - 1);
    assert_int_equal(generic->opcodes.data[index].dst_min, trn2->opcodes.data[i].dst_min);
    assert_int_equal(generic->opcodes.data[index].src_spaces, 7);
    assert_true(generic->opcodes.data[index].on_engine && generic->opcodes.data[index].on_queue);
  }
  const struct sl_opcode_desc *op = &generic->opcodes.data[sl_target_opcode(generic, "op")];
  assert_true(op->dst_min == 0 && op->dst_max == -1 && op->src_min == 0 && op->src_max == -1);
  assert_true(generic->queue.ordered && !weak->queue.ordered);
  for (uint32_t i = 0; i < 13; i++)
    assert_true(generic->engines.data[i].interlock && !weak->engines.data[i].interlock);
}

/* Every number says how far it can be trusted, and where it comes from unless it is ours. */
static void test_every_number_has_a_provenance(void **state)
{
  for (uint32_t t = 0; t < ((const sluice_targets *)*state)->targets.len; t++) {
    const struct sl_target *target = ((const sluice_targets *)*state)->targets.data[t];
    for (uint32_t i = 0; i < target->params.len; i++) {
      const struct sl_cost_param *param = &target->params.data[i];
      assert_true(param->fact.provenance == SL_ASSUMED || strlen(param->fact.source) > 0);
    }
    for (uint32_t i = 0; i < sl_standard_param_count; i++)
      assert_true(sl_target_param(target, sl_standard_params[i].name, -1) >= 0);
  }
}

/* ---- reading ---- */

/* The smallest complete target, with places where a test may put something else. */
#define HEAD "target t \"a test\" {\n"
#define TICK "  tick 1 GHz assumed\n"
#define ENGINE                                                                                       \
  "  engine a { ordinal 0 assumed\n clock 1 GHz assumed\n ticks 1 assumed\n interlock yes assumed\n" \
  " trigger yes assumed\n reads any assumed\n writes any assumed\n }\n"
#define SECTIONS                                                                                                       \
  "  semaphores { count 8 assumed\n width 32 assumed\n compare unsigned assumed\n wrap plain assumed\n }\n"            \
  "  registers { count 8 assumed\n width 32 assumed\n }\n"                                                             \
  "  queues { ordered yes assumed\n per-transfer 1 assumed\n limit unlimited assumed\n }\n"                            \
  "  slots { bytes 64 assumed\n waits 1 assumed\n updates 1 assumed\n carrier-waits 2 assumed\n carrier-updates 1 "    \
  "assumed\n"                                                                                                          \
  " shared-value no assumed\n register-op 1 assumed\n branch 1 assumed\n loop-setup 1 assumed\n loop-step 2 assumed\n" \
  " barrier-engine 3 assumed\n barrier-once 0 assumed\n barrier-reset-once 1 assumed\n epilogue-engine 3 assumed\n"    \
  " epilogue-once 1 assumed\n }\n"
#define PARAMS                                                                                                   \
  "  param register_op 1 ns assumed\n param register_load 1 ns assumed\n param branch 1 ns assumed\n"            \
  "  param semaphore_set 1 ns assumed\n param dispatch 1 ns assumed\n param semaphore_visibility 1 ns assumed\n" \
  "  param drain 1 ns assumed\n param handshake_arrive 1 ns assumed\n param handshake_release 1 ns assumed\n"    \
  "  param range_clear 1 ns assumed\n param run_ahead 0 count assumed\n"
#define WHOLE HEAD TICK ENGINE SECTIONS PARAMS

static void test_smallest_target(void **state)
{
  struct caught caught;
  assert_int_equal(load(*state, WHOLE "}\n", &caught), SLUICE_OK);
  assert_int_equal(sluice_targets_count(*state), 5);
  assert_string_equal(sluice_targets_name(*state, 4), "t");
  assert_string_equal(sluice_targets_summary(*state, 4), "a test");
  const struct sl_target *target = sl_target_find(*state, "t");
  assert_int_equal(target->events.count, 0);
  assert_false(target->events.unlimited);
  assert_null(target->queue.default_trigger);
  char *text;
  assert_int_equal(sluice_targets_describe(&text, *state, "t", false), SLUICE_OK);
  assert_non_null(strstr(text, "events\n  none\n"));
  sluice_string_free(text);
}

static void test_a_known_name_is_replaced(void **state)
{
  struct caught caught;
  const char *text = "target trn2 \"slower control\" like trn2 {\n  param register_op 90 ns assumed\n}\n";
  double before = sl_target_param(sl_target_find(*state, "trn2"), "register_op", 0);
  assert_int_equal(load(*state, text, &caught), SLUICE_OK);
  assert_int_equal(sluice_targets_count(*state), 4);
  assert_string_equal(sluice_targets_name(*state, 1), "trn2");
  const struct sl_target *target = sl_target_find(*state, "trn2");
  assert_true(before == 60 && sl_target_param(target, "register_op", 0) == 90);
  assert_int_equal(target->opcodes.len, sl_target_find(*state, "trn1")->opcodes.len);
  assert_true(sl_target_param(sl_target_find(*state, "trn1"), "register_op", 0) == 60);
}

static void test_like_within_one_text(void **state)
{
  struct caught caught;
  const char *text = WHOLE "}\ntarget u \"next\" like t {\n  semaphores {\n    count 4 assumed\n  }\n}\n";
  assert_int_equal(load(*state, text, &caught), SLUICE_OK);
  assert_int_equal(sl_target_usable_sems(sl_target_find(*state, "t")), 8);
  assert_int_equal(sl_target_usable_sems(sl_target_find(*state, "u")), 4);
  assert_int_equal(sl_target_find(*state, "u")->slot.carrier_waits, 2);
}

static void test_nothing_is_added_on_error(void **state)
{
  struct caught caught;
  assert_int_equal(
      load(*state, WHOLE "}\ntarget u \"next\" like t {\n  semaphores {\n    count x assumed\n  }\n}\n", &caught),
      SLUICE_E_INPUT);
  assert_int_equal(sluice_targets_count(*state), 4);
  assert_null(sl_target_find(*state, "t"));
}

/* One error each: inside `target x "x" like generic { ... }`, whose first line is line 2. */
static const struct {
  const char *body, *message;
} body_errors[] = {
  { "enigne e9 {\n}", "2:1: unknown statement 'enigne'; did you mean 'engine'? [target]" },
  { "engine e0 {\n  clok 2 GHz assumed\n}", "3:3: unknown property 'clok'; did you mean 'clock'? [target]" },
  { "engine e0 {\n  clock 2 GHz\n}",
    "3:14: expected documented, derived, calibrated or assumed before the end of the line [target]" },
  { "engine e0 {\n  clock 2 MHz assumed\n}", "3:11: expected GHz, not 'MHz' [target]" },
  { "engine e0 {\n  clock two GHz assumed\n}", "3:9: expected a number, not 'two' [target]" },
  { "engine e0 {\n  clock 0 GHz assumed\n}", "3:9: 'clock' must be above 0 and at most 1e9 [target]" },
  { "engine e0 {\n  clock 1e999 GHz assumed\n}", "3:9: expected a number, not '1e999' [target]" },
  { "engine e0 {\n  interlock maybe assumed\n}", "3:13: expected no or yes, not 'maybe' [target]" },
  { "engine e0 {\n  interlock no assumed\n  interlock no assumed\n}", "4:3: 'interlock' is stated twice [target]" },
  { "engine e0 {\n  clock 2 GHz documented\n}", "3:25: expected a source tag before the end of the line [target]" },
  { "engine e0 {\n  clock 2 GHz documented T9\n}", "3:26: unknown source tag 'T9'; did you mean 'T1'? [target]" },
  { "engine e0 {\n  reads sbuff assumed\n}", "3:9: unknown space 'sbuff'; did you mean 'sbuf'? [target]" },
  { "engine e0 {\n  interlock no assumed \"unended\n}", "3:24: the string does not end on its line [target]" },
  { "engine e0 {\n  interlock no assumed 7\n}", "3:24: expected the end of the line, not '7' [target]" },
  { "engine e0 {\n  interlock \x01 assumed\n}", "3:13: expected no or yes; byte 0x01 does not belong here [target]" },
  { "engine e0 {\n}\nengine e0 {\n}", "4:8: engine 'e0' stands twice [target]" },
  { "engine e0 {\n  ordinal 1 assumed\n}", "2:8: engines 'act' and 'e0' have the same ordinal 1 [target]" },
  { "engine e0 {\n  ticks 3 assumed\n}",
    "2:8: engine 'e0': clock times ticks is 3.6 GHz, but the tick is 4.8 GHz [target]" },
  { "engine e-9 {\n}", "2:8: 'e-9' cannot be the name of an engine [target]" },
  { "engine all {\n}", "2:8: 'all' cannot be the name of an engine [target]" },
  { "engine e9 {\n  clock 2 GHz assumed\n", "4:1: the text ends inside 'engine'; '}' is missing [target]" },
  { "space sbuf {\n  bytes 1000 assumed\n}", "3:14: expected B, KiB, MiB or GiB, not 'assumed' [target]" },
  { "space sbuf {\n  bytes 1.5 KiB assumed\n}", "3:9: expected a whole number up to 1125899906842624 [target]" },
  { "space sbuf {\n  bytes 9999999999 GiB assumed\n}", "3:9: the size is too large [target]" },
  { "space sbuf {\n  bytes 0 B assumed\n}", "3:9: 'bytes' must be above 0, or unlimited [target]" },
  { "space sbuf {\n  usable unlimited assumed\n}", "3:10: 'usable' cannot be unlimited [target]" },
  { "space sbuf {\n  bytes 1 KiB assumed\n  usable 2 KiB assumed\n}",
    "2:7: space 'sbuf': 'usable' is more than 'bytes' [target]" },
  { "space psum {\n  bytes 3 KiB assumed\n  bank 2 KiB assumed\n}",
    "2:7: space 'psum': 'bytes' is not a multiple of 'bank' [target]" },
  { "space hbm {\n  partition-start aligned assumed\n}",
    "2:7: space 'hbm' has a rule for partitions but no partitions [target]" },
  { "semaphores {\n}\nsemaphores {\n}", "4:1: 'semaphores' stands twice [target]" },
  { "semaphores {\n  count 4 assumed\n  reserved 4 assumed\n}",
    "2:1: semaphores: 'reserved' must be below 'count' [target]" },
  { "semaphores {\n  width 7 assumed\n}", "2:1: semaphores: 'width' must be from 8 to 64 bits [target]" },
  { "registers {\n  count 99999999999 assumed\n}", "3:9: expected a whole number up to 2147483647 [target]" },
  { "slots {\n  carrier-waits 0 assumed\n}", "2:1: slots: 'carrier-waits' and 'carrier-updates' must be above 0: what "
                                             "an ordinary slot cannot carry goes there [target]" },
  { "slots {\n  carrier-updates 0 assumed\n}", "2:1: slots: 'carrier-waits' and 'carrier-updates' must be above 0: "
                                               "what an ordinary slot cannot carry goes there [target]" },
  { "slots {\n  bytes 0 assumed\n}", "2:1: slots: 'bytes' must be above 0 [target]" },
  { "queues {\n  default-trigger e8 assumed\n}", "2:1: unknown engine 'e8'; did you mean 'e0'? [target]" },
  { "engine e0 {\n  trigger no assumed\n}",
    "1:8: the default trigger 'e0' is not an engine that may trigger queues [target]" },
  { "param branch 1 cycles assumed", "2:7: 'branch' is in ns in the target it is inherited from [target]" },
  { "param extra 1 hours assumed", "2:15: unknown unit 'hours' [target]" },
  { "param N 1 ns assumed", "2:7: 'N' has another meaning in formulas [target]" },
  { "param row 1 ns assumed", "2:7: 'row' has another meaning in formulas [target]" },
  { "param x 1 ns assumed\nparam x 2 ns assumed", "3:7: parameter 'x' stands twice [target]" },
  { "define drain = 1 ns assumed", "2:8: 'drain' has another meaning in formulas [target]" },
  { "define x 1 ns assumed", "2:10: expected '=' [target]" },
  { "define x = 1 + 2",
    "2:17: expected the unit of the formula: cycles, ns or value before the end of the text [target]" },
  { "define x = ns assumed", "2:12: expected a formula [target]" },
  { "define x = later value assumed\ndefine later = 1 value assumed",
    "2:12: unknown variable, parameter or define 'later' [target]" },
  { "define x = 1 value assumed\ndefine x = 1 value assumed", "3:8: define 'x' stands twice [target]" },
  { "param dma_peak 0 B/ns assumed\ndefine x = 1 / dma_peak value assumed", "3:16: division by zero [target]" },
  { "source T1 \"a\"\nsource T1 \"b\"", "3:8: source 'T1' stands twice [target]" },
  { "source T1", "2:10: expected the title of the source in quotes [target]" },
  { "exclusive e0 e0 sbuf assumed", "2:11: an engine cannot exclude itself [target]" },
  { "exclusive e0 e1 sbuf assumed\nexclusive e1 e0 sbuf assumed", "3:11: this exclusion stands twice [target]" },
  { "exclusive e0 e8 sbuf assumed", "2:14: unknown engine 'e8'; did you mean 'e0'? [target]" },
  { "exclusive e0 e1 here assumed", "2:17: unknown space 'here' [target]" },
  { "opcode reg_add assumed {\n}", "2:8: 'reg_add' belongs to the language on every target [target]" },
  { "opcode mine {\n}", "2:13: expected documented, derived, calibrated or assumed, not '{' [target]" },
  { "opcode mine assumed {\n  on engines all\n  dst 0..\n  src 0..\n  shape any\n  slots 1 assumed\n  latency 0 ns "
    "assumed\n}",
    "2:8: opcode 'mine' does not state 'interval' [target]" },
  { "opcode op {\n  interval 1 value assumed\n}", "3:12: opcode 'op': 'interval' must be in cycles or ns [target]" },
  { "opcode op {\n  interval drain cycles assumed\n}", "3:12: 'drain' is in ns, the formula in cycles [target]" },
  { "opcode op {\n  interval min(N, 2 cycles assumed\n}", "3:12: a parenthesis of the formula stays open [target]" },
  { "opcode op {\n  dst 3..1\n}", "3:7: the range is empty [target]" },
  { "opcode op {\n  dst 101\n}", "3:7: expected a whole number up to 100 [target]" },
  { "opcode op {\n  dst\n}", "3:6: expected a number of operands before the end of the line [target]" },
  { "opcode op {\n  shape round\n}", "3:9: expected any, elementwise or same-count, not 'round' [target]" },
  { "opcode op {\n  attrs a b a\n}", "3:13: attribute 'a' stands twice [target]" },
  { "opcode op {\n  on both\n}", "3:10: expected the name of an engine, or all before the end of the line [target]" },
  { "opcode op {\n  on moon all\n}", "3:6: expected engines, queues or both, not 'moon' [target]" },
  { "opcode op {\n}\nopcode op {\n}", "4:8: opcode 'op' stands twice [target]" },
  { "opcode * {\n  one-bank no\n  one-bank no\n}", "4:3: 'one-bank' is stated twice [target]" },
  { "opcode * {\n  slots x assumed\n}", "3:9: expected a whole number, not 'x' [target]" },
  { "engine e0 {\n  writes none assumed\n}",
    "1:8: opcode 'dma_copy': engine 'e0' writes none of the spaces of its destinations [target]" },
  { "tick 1 GHz assumed\ntick 1 GHz assumed", "3:1: 'tick' is stated twice [target]" },
};

static void test_errors_in_a_target(void **state)
{
  for (size_t i = 0; i < sizeof body_errors / sizeof *body_errors; i++) {
    char text[1000];
    bool open = strstr(body_errors[i].message, "is missing") || strstr(body_errors[i].message, "end of the text");
    snprintf(text, sizeof text, "target x \"x\" like generic {\n%s%s", body_errors[i].body, open ? "" : "\n}\n");
    struct caught caught;
    if (load(*state, text, &caught) != SLUICE_E_INPUT || !caught.count)
      fail_msg("accepted: %s", body_errors[i].body);
    if (strcmp(caught.text[0], body_errors[i].message) != 0)
      fail_msg("%s\n  gives     %s\n  expected  %s", body_errors[i].body, caught.text[0], body_errors[i].message);
    assert_int_equal(sluice_targets_count(*state), 4);
  }
}

static void test_errors_around_targets(void **state)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
    { "", "0:0: the text holds no target [target]" },
    { "# nothing\n\n", "0:0: the text holds no target [target]" },
    { "target x \"caf\xe9\" like trn2 {\n}\n", "1:14: the text is not UTF-8 here [target]" },
    { "kernel k { }\n", "1:1: expected 'target' [target]" },
    { "}\n", "1:1: expected 'target' [target]" },
    { "target\n", "1:7: expected the name of a target before the end of the line [target]" },
    { "target x {\n}\n", "1:10: expected a summary of the target in quotes [target]" },
    { "target x \"x\"\n", "1:13: expected '{' [target]" },
    { "target x \"x\" like trn3 {\n}\n", "1:19: unknown target 'trn3'; did you mean 'trn1'? [target]" },
    { "target x \"x\" {\n", "2:1: the text ends inside 'target'; '}' is missing [target]" },
    { "target x \"x\" like trn2 {\n} }\n", "2:3: expected 'target' [target]" },
    { "target x \"x\" like trn2 {\n}\ntarget x \"x\" like trn2 {\n}\n", "3:8: target 'x' stands twice [target]" },
    { "target x \"x\" {\n  opcode * {\n  }\n}\n", "2:10: there are no inherited opcodes to change [target]" },
    { HEAD TICK SECTIONS PARAMS "}\n", "1:8: target 't' has no engine [target]" },
    { HEAD TICK ENGINE SECTIONS "}\n", "1:8: target 't' has no parameter 'register_op' (in ns: reg_set, reg_add and "
                                       "the other register operations) [target]" },
    { HEAD ENGINE SECTIONS PARAMS "}\n", "1:8: target does not state 'tick' [target]" },
    { HEAD TICK ENGINE PARAMS "}\n", "1:8: target 't' has no 'semaphores' [target]" },
    { WHOLE "engine b {\n ordinal 1 assumed\n}\n}\n", "50:8: engine 'b' does not state 'clock' [target]" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct caught caught;
    assert_int_equal(load(*state, cases[i].text, &caught), SLUICE_E_INPUT);
    assert_true(caught.count > 0);
    assert_string_equal(caught.text[0], cases[i].message);
    assert_int_equal(sluice_targets_count(*state), 4);
  }
}

static void test_several_errors_in_one_run(void **state)
{
  struct caught caught;
  const char *text = "target x \"x\" like trn2 {\n"
                     "  bogus pe {\n    one {\n    }\n  }\n"
                     "  engine pe {\n    clock fast\n    ticks 2 assumed\n    trigger perhaps assumed\n  }\n"
                     "  param y\n"
                     "}\n"
                     "target z \"z\" like nowhere {\n  tick 5\n}\n"
                     "target w \"w\" like trn2 {\n  tick\n}\n";
  assert_int_equal(load(*state, text, &caught), SLUICE_E_INPUT);
  static const char *const expected[] = { "2:3: ", "7:11: ", "9:13: ", "11:10: ", "13:19: ", "17:7: " };
  assert_int_equal(caught.count, sizeof expected / sizeof *expected);
  for (size_t i = 0; i < caught.count; i++)
    assert_memory_equal(caught.text[i], expected[i], strlen(expected[i]));
}

static void test_too_many_engines(void **state)
{
  char text[20000];
  size_t length = (size_t)snprintf(text, sizeof text, "target x \"x\" like generic {\n");
  for (int i = 0; i < 52; i++)
    length += (size_t)snprintf(
        text + length, sizeof text - length,
        "engine f%d {\nordinal %d assumed\nclock 1.2 GHz assumed\nticks 4 assumed\ninterlock yes assumed\n"
        "trigger yes assumed\nreads any assumed\nwrites any assumed\n}\n",
        i, i + 100);
  snprintf(text + length, sizeof text - length, "}\n");
  struct caught caught;
  assert_int_equal(load(*state, text, &caught), SLUICE_E_INPUT);
  assert_non_null(strstr(caught.text[0], "more than 64 of kind 'engine'"));
}

/* A define that names the one before it twice: 2^40 steps if it were written out. */
static void test_defines_do_not_explode(void **state)
{
  char text[4000];
  for (int folded = 0; folded < 2; folded++) {
    size_t length = (size_t)snprintf(text, sizeof text, "target x \"x\" like trn2 {\ndefine d0 = %s value assumed\n",
                                     folded ? "1" : "N");
    for (int i = 1; i <= 40; i++)
      length += (size_t)snprintf(text + length, sizeof text - length, "define d%d = d%d + d%d value assumed\n", i,
                                 i - 1, i - 1);
    snprintf(text + length, sizeof text - length, "}\n");
    struct caught caught;
    assert_int_equal(load(*state, text, &caught), folded ? SLUICE_OK : SLUICE_E_INPUT);
    if (!folded) {
      assert_int_equal(caught.count, 1);
      assert_non_null(strstr(caught.text[0], "the formula is too long with 'd"));
    }
  }
}

/* ---- describing ---- */

static void test_descriptions(void **state)
{
  for (size_t i = 0; i < sluice_targets_count(*state); i++) {
    const char *name = sluice_targets_name(*state, i);
    char *text, *again;
    assert_int_equal(sluice_targets_describe(&text, *state, name, false), SLUICE_OK);
    assert_int_equal(sluice_targets_describe(&again, *state, name, false), SLUICE_OK);
    assert_string_equal(text, again);
    assert_non_null(strstr(text, "semaphores\n  count"));
    sluice_string_free(text);
    sluice_string_free(again);
    assert_int_equal(sluice_targets_describe(&text, *state, name, true), SLUICE_OK);
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(root);
    assert_string_equal(json_string_value(json_object_get(root, "name")), name);
    const struct sl_target *target = sl_target_find(*state, name);
    assert_int_equal(json_array_size(json_object_get(root, "opcodes")), target->opcodes.len);
    json_t *count = json_object_get(json_object_get(root, "semaphores"), "count");
    if (target->sem.count)
      assert_int_equal(json_integer_value(json_object_get(count, "value")), target->sem.count);
    else
      assert_true(json_is_null(json_object_get(count, "value")));
    assert_non_null(json_object_get(count, "provenance"));
    json_decref(root);
    sluice_string_free(text);
  }
  char *text = (char *)1;
  assert_int_equal(sluice_targets_describe(&text, *state, "trn9", false), SLUICE_E_INPUT);
  assert_null(text);
}

/* ---- streams ---- */

struct streams {
  sl_program *program;
  struct sl_kernel *kernel;
  sl_report report;
  struct caught caught;
  sluice_sink sink;
};

static void make_streams(struct streams *s)
{
  memset(s, 0, sizeof *s);
  s->program = sl_program_new("k.slu", NULL, 0);
  s->kernel = sl_kernel_add(s->program);
  s->sink = (sluice_sink){ catch_diag, &s->caught };
  sl_report_init(&s->report, &s->program->heap, &s->sink, &s->program->source);
}

static uint32_t add_stream(struct streams *s, const char *name, bool is_queue, const char *trigger)
{
  uint32_t index = sl_stream_put(s->kernel, sl_intern(s->program, name), SL_NO_LOC);
  s->kernel->streams.data[index].is_queue = is_queue;
  s->kernel->streams.data[index].trigger_name = trigger ? sl_intern(s->program, trigger) : 0;
  return index;
}

static void test_streams_resolve(void **state)
{
  struct streams s;
  make_streams(&s);
  uint32_t q0 = add_stream(&s, "q0", true, "act"), pe = add_stream(&s, "pe", false, NULL);
  uint32_t q1 = add_stream(&s, "q1", true, NULL), q2 = add_stream(&s, "q2", true, "act");
  for (int again = 0; again < 2; again++) {
    assert_int_equal(sl_target_resolve(s.program, s.kernel, sl_target_find(*state, "trn2"), &s.report), SLUICE_OK);
    assert_int_equal(s.kernel->streams.len, 6); /* act and sp came with their queues */
    const struct sl_stream *streams = s.kernel->streams.data;
    assert_int_equal(streams[pe].engine, 0);
    assert_int_equal(streams[pe].trigger, pe);
    assert_int_equal(streams[q0].engine, 1);
    assert_int_equal(streams[q2].trigger, streams[q0].trigger);
    assert_string_equal(sl_text(s.program, streams[streams[q0].trigger].name), "act");
    assert_string_equal(sl_text(s.program, streams[streams[q1].trigger].name), "sp");
    assert_int_equal(streams[streams[q1].trigger].engine, 4);
    assert_int_equal(streams[streams[q1].trigger].trigger, streams[q1].trigger);
  }
  assert_int_equal(sl_target_resolve(s.program, s.kernel, sl_target_find(*state, "generic"), &s.report), SLUICE_OK);
  assert_string_equal(sl_text(s.program, s.kernel->streams.data[s.kernel->streams.data[q1].trigger].name), "e0");
  assert_int_equal(s.caught.count, 0);
  sluice_program_free(s.program);
}

static void test_streams_that_do_not_resolve(void **state)
{
  static const struct {
    const char *name, *trigger, *message;
    bool is_queue;
  } cases[] = {
    { "dvee", NULL,
      "0:0: target 'trn2' has no engine 'dvee', and no queue of that name is declared; did you mean 'dve'? [engine]",
      false },
    { "q", "pee", "0:0: queue 'q': target 'trn2' has no engine 'pee' [queue]", true },
    { "q", "acct", "0:0: queue 'q': target 'trn2' has no engine 'acct'; did you mean 'act'? [queue]", true },
    { "q", "dve", "0:0: queue 'q': engine 'dve' may not trigger queues on target 'trn2' [queue]", true },
    { "pe", "act", "0:0: queue 'pe' is named like an engine of target 'trn2' [redefined]", true },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct streams s;
    make_streams(&s);
    add_stream(&s, cases[i].name, cases[i].is_queue, cases[i].trigger);
    assert_int_equal(sl_target_resolve(s.program, s.kernel, sl_target_find(*state, "trn2"), &s.report), SLUICE_E_INPUT);
    assert_string_equal(s.caught.text[0], cases[i].message);
    sluice_program_free(s.program);
  }
  struct caught caught;
  assert_int_equal(load(*state, WHOLE "}\n", &caught), SLUICE_OK);
  struct streams s;
  make_streams(&s);
  add_stream(&s, "q", true, NULL);
  assert_int_equal(sl_target_resolve(s.program, s.kernel, sl_target_find(*state, "t"), &s.report), SLUICE_E_INPUT);
  assert_string_equal(s.caught.text[0], "0:0: queue 'q' needs a trigger: target 't' has no default [queue]");
  sluice_program_free(s.program);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
    TEST(test_built_in_targets_in_order),
    TEST(test_trainium),
    TEST(test_generic),
    TEST(test_every_number_has_a_provenance),
    TEST(test_smallest_target),
    TEST(test_a_known_name_is_replaced),
    TEST(test_like_within_one_text),
    TEST(test_nothing_is_added_on_error),
    TEST(test_errors_in_a_target),
    TEST(test_errors_around_targets),
    TEST(test_several_errors_in_one_run),
    TEST(test_too_many_engines),
    TEST(test_defines_do_not_explode),
    TEST(test_descriptions),
    TEST(test_streams_resolve),
    TEST(test_streams_that_do_not_resolve),
  };
  return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}
