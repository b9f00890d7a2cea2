/* test_oracle: the judge is judged. Hand-written synchronized kernels, right ones and wrong ones: the interpreter
 * must accept the right ones for every trip count and name what is wrong with each of the others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <sluice/sluice.h>

#include "oracle/interpreter.h"

static sluice_targets *targets;

static void complain(void *user, const sluice_diag *diag)
{
  (void)user;
  print_error("%u:%u: %s [%s]\n", diag->line, diag->column, diag->text, diag->rule);
}

static sluice_program *read_kernel(const char *target, const char *body)
{
  static const sluice_sink sink = { complain, NULL };
  char text[4000];
  sluice_program *program = NULL;
  int length = snprintf(text, sizeof text, "sluice 1\nkernel k(n = 2) target %s explicit {\n%s\n}\n", target, body);
  assert_true(length > 0 && (size_t)length < sizeof text);
  assert_int_equal(sluice_program_parse(&program, "k.slu", text, (size_t)length, &sink), SLUICE_OK);
  assert_int_equal(sluice_program_verify(program, targets, &sink), SLUICE_OK);
  return program;
}

struct trial {
  const char *target;
  const char *original, *synced;
  int64_t n;
  bool exact;
  uint64_t opaque_seed;
};

/* The first verdict other than ok over every schedule that holds one stream's retirements back, and the other modes.
 * */
static enum sl_verdict verdict_of(struct trial trial)
{
  const char *target = trial.target ? trial.target : "generic";
  bool weak = strcmp(target, "generic") != 0;
  sluice_program *original = read_kernel(target, trial.original), *synced = read_kernel(target, trial.synced);
  struct sl_oracle_hardware hardware = { !weak, !weak };
  struct sl_oracle_inputs inputs = { &trial.n, 1, trial.opaque_seed };
  struct sl_oracle_reference reference;
  assert_int_equal(sl_oracle_reference_init(&reference, original, original->kernels.data[0], hardware, &inputs, 1000),
                   SL_REFERENCE_OK);
  struct sl_oracle_case test = { &reference, synced, synced->kernels.data[0], trial.exact, 10000 };
  struct sl_oracle_outcome outcome = { .verdict = SL_VERDICT_OK };
  uint32_t streams = test.kernel->streams.len;
  for (uint32_t i = 0; i < SL_SCHEDULE_MODES * streams && outcome.verdict == SL_VERDICT_OK; i++) {
    struct sl_oracle_schedule schedule = { (enum sl_schedule_mode)(i / streams), i % streams, i };
    sl_oracle_run(&outcome, &test, &schedule);
  }
  if (outcome.verdict != SL_VERDICT_OK)
    print_message("  (%s: %s)\n", sl_verdict_name(outcome.verdict), outcome.text);
  sl_oracle_reference_free(&reference);
  sluice_program_free(original);
  sluice_program_free(synced);
  return outcome.verdict;
}

static void accepts_for_all_trips(struct trial trial)
{
  static const int64_t trips[] = { 0, 1, 2, 3, 5 };
  for (unsigned t = 0; t < 5; t++) {
    trial.n = trips[t];
    trial.opaque_seed = t;
    assert_int_equal(verdict_of(trial), SL_VERDICT_OK);
  }
}

/* ---- one loop, forward dependence and one carried over two iterations ---- */

#define RING "loop i < n {\n p: e1.op\n c: e0.op\n}\ndep p -> c\ndep c -> p (i: 2)"

/* Where the initial value, the two waits and the bump stand can be varied. */
#define RING_SYNCED(start, wait_p, wait_c, bump_before, bump_after)   \
  "sem sp, sc\n"                                                      \
  "e0.reg_set %p, " start "\n"                                        \
  "e1.reg_set %c, 0; e1.reg_set %c1, 0; e1.reg_set %c2, 0\n"          \
  "loop i < n {\n"                                                    \
  "  p: e1.op " wait_p " inc sp\n"                                    \
  "  " bump_before "\n"                                               \
  "  c: e0.op " wait_c " inc sc\n"                                    \
  "  " bump_after "\n"                                                \
  "  e1.reg_set %c2, %c1; e1.reg_add %c, %c, 1; e1.reg_set %c1, %c\n" \
  "}\nepilogue\n"
#define BUMP "e0.reg_add %p, %p, 1"

static void right_ring_is_accepted(void **state)
{
  (void)state;
  accepts_for_all_trips((struct trial){
      .original = RING, .exact = true, .synced = RING_SYNCED("0", "wait sc >= %c2", "wait sp >= %p", BUMP, "") });
}

static void missing_wait_is_a_race(void **state)
{
  (void)state;
  assert_int_equal(verdict_of((struct trial){
                       .original = RING, .n = 1, .synced = RING_SYNCED("0", "wait sc >= %c2", "", BUMP, "") }),
                   SL_VERDICT_RACE);
  struct trial carried = { .original = RING, .synced = RING_SYNCED("0", "", "wait sp >= %p", BUMP, "") };
  carried.n = 2; /* distance 2 shows from the third iteration on */
  assert_int_equal(verdict_of(carried), SL_VERDICT_OK);
  carried.n = 3;
  assert_int_equal(verdict_of(carried), SL_VERDICT_RACE);
}

static void threshold_too_small_is_a_race(void **state)
{
  (void)state;
  assert_int_equal(
      verdict_of((struct trial){
          .original = RING, .n = 3, .synced = RING_SYNCED("0", "wait sc >= %c2", "wait sp >= %p", "", BUMP) }),
      SL_VERDICT_RACE);
}

static void threshold_too_large_hangs(void **state)
{
  (void)state;
  assert_int_equal(
      verdict_of((struct trial){
          .original = RING, .n = 3, .synced = RING_SYNCED("1", "wait sc >= %c2", "wait sp >= %p", BUMP, "") }),
      SL_VERDICT_DEADLOCK);
}

static void stronger_wait_is_an_overwait(void **state)
{
  (void)state;
  struct trial trial = { .original = RING, .synced = RING_SYNCED("0", "wait sc >= %c1", "wait sp >= %p", BUMP, "") };
  accepts_for_all_trips(trial); /* safe: distance 1 instead of 2 */
  trial.exact = true;
  trial.n = 2;
  assert_int_equal(verdict_of(trial), SL_VERDICT_OVERWAIT);
}

static void instruction_left_out_is_noticed(void **state)
{
  (void)state;
  struct trial trial = { .original = "p: e1.op\nloop i < n {\n c: e0.op\n}", .n = 2 };
  trial.synced = "p: e1.op\nloop i < n - 1 {\n c: e0.op\n}\nepilogue";
  assert_int_equal(verdict_of(trial), SL_VERDICT_ORDER);
  trial.synced = "p: e1.op\nloop i < n + 1 {\n c: e0.op\n}\nepilogue";
  assert_int_equal(verdict_of(trial), SL_VERDICT_ORDER);
  trial = (struct trial){ .original = "a: e0.op\nb: e0.op", .synced = "b: e0.op\na: e0.op\nepilogue" };
  assert_int_equal(verdict_of(trial), SL_VERDICT_ORDER);
}

/* ---- 32-bit unsigned: N * r - (N - K) with r = 0 ---- */

#define TWO_UPDATES "loop i < n {\n p: e1.op\n q: e1.op\n}\nc: e0.op\ndep p -> c"
#define TWO_UPDATES_SYNCED(declared, offset)            \
  "sem s" declared "\n"                                 \
  "e0.reg_mul %w, n, 2\n"                               \
  "e0." offset "\n"                                     \
  "loop i < n {\n p: e1.op inc s\n q: e1.op inc s\n}\n" \
  "c: e0.op wait s >= %w\nepilogue\n"

static void unsigned_underflow_hangs(void **state)
{
  (void)state;
  struct trial trial = { .original = TWO_UPDATES,
                         .exact = true,
                         .synced = TWO_UPDATES_SYNCED("", "reg_sub %w, %w, 1") };
  trial.n = 2;
  assert_int_equal(verdict_of(trial), SL_VERDICT_OK);
  trial.n = 0;
  trial.exact = false;
  assert_int_equal(verdict_of(trial), SL_VERDICT_DEADLOCK);
  /* With a credit of N = 2 the threshold is N * r + K. */
  accepts_for_all_trips((struct trial){
      .original = TWO_UPDATES, .exact = true, .synced = TWO_UPDATES_SYNCED(" = 2", "reg_add %w, %w, 1") });
}

/* ---- two runs in a row ---- */

#define PAIR "p: e1.op\nc: e0.op\ndep p -> c"

static void semaphores_must_return_to_their_start(void **state)
{
  (void)state;
  struct trial trial = { .original = PAIR, .exact = true };
  trial.synced = "sem s\np: e1.op inc s\nc: e0.op wait s >= 1";
  assert_int_equal(verdict_of(trial), SL_VERDICT_LEAK);
  trial.synced = "sem s = 1\np: e1.op inc s\nc: e0.op wait s >= 2\ne0.drain\ne0.sem_set s, 0";
  assert_int_equal(verdict_of(trial), SL_VERDICT_LEAK);
  trial.synced = "sem s = 1\np: e1.op inc s\nc: e0.op wait s >= 2\ne0.drain\ne0.sem_set s, 1";
  assert_int_equal(verdict_of(trial), SL_VERDICT_OK);
}

static void early_reset_is_noticed(void **state)
{
  (void)state;
  struct trial trial = { .original = PAIR };
  trial.synced = "sem s\np: e1.op inc s\nc: e0.op wait s >= 1\ne1.sem_set s, 0"; /* acts before p has retired */
  assert_int_not_equal(verdict_of(trial), SL_VERDICT_OK);
  trial.synced = "sem s\np: e1.op inc s\nc: e0.op wait s >= 1\ne1.drain\ne1.sem_set s, 0"; /* c may come too late */
  assert_int_equal(verdict_of(trial), SL_VERDICT_DEADLOCK);
}

/* ---- queues, loads, several streams, weak hardware ---- */

static void queue_retires_on_its_own_chain(void **state)
{
  (void)state;
  struct trial trial = { .exact = true };
  trial.original = "queue q via e0\nbuffer b : hbm f32[8]\nbuffer t : hbm f32[8]\n"
                   "d: q.dma_copy t <- b\nx: e0.op\nc: e1.op\ndep d -> c\ndep x -> c";
#define QUEUE_SYNCED(waits)                                                    \
  "queue q via e0\nbuffer b : hbm f32[8]\nbuffer t : hbm f32[8]\nsem sq, sx\n" \
  "d: q.dma_copy t <- b inc sq\nx: e0.op inc sx\nc: e1.op wait " waits "\nepilogue"
  trial.exact = true;
  trial.synced = QUEUE_SYNCED("sq >= 1, sx >= 1");
  assert_int_equal(verdict_of(trial), SL_VERDICT_OK);
  trial.synced = QUEUE_SYNCED("sx >= 1");
  assert_int_equal(verdict_of(trial), SL_VERDICT_RACE);
  trial.synced = QUEUE_SYNCED("sq >= 1");
  assert_int_equal(verdict_of(trial), SL_VERDICT_RACE);
}

static void same_stream_needs_a_wait_on_weak_hardware(void **state)
{
  (void)state;
  struct trial trial = { .original = "p: e0.op\nc: e0.op\ndep p -> c", .synced = "p: e0.op\nc: e0.op\nepilogue" };
  assert_int_equal(verdict_of(trial), SL_VERDICT_OK);
  trial.target = "generic-weak";
  assert_int_equal(verdict_of(trial), SL_VERDICT_RACE);
  trial.synced = "sem s\np: e0.op inc s\nc: e0.op wait s >= 1\nepilogue";
  trial.exact = true;
  assert_int_equal(verdict_of(trial), SL_VERDICT_OK);
}

#define LOADS                                                                   \
  "buffer b : hbm i32[4]\np: e2.op\nld: *.reg_load %t <- b[0] { assume = n }\n" \
  "loop i < %t {\n c: e0.op\n d: e1.op\n}\ndep p -> ld\ndep c -> d"
#define LOADS_SYNCED(wait1)                                                 \
  "buffer b : hbm i32[4]\nsem sp, sc\n e1.reg_set %c, 0\np: e2.op inc sp\n" \
  "ld.0: e2.reg_load %t <- b[0] { assume = n }\n"                           \
  "ld.1: e0.reg_load %t <- b[0] { assume = n }  wait sp >= 1\n"             \
  "ld.2: e1.reg_load %t <- b[0] { assume = n }  " wait1 "\n"                \
  "loop i < %t {\n c: e0.op inc sc\n e1.reg_add %c, %c, 1\n d: e1.op wait sc >= %c\n}\nepilogue"

static void copies_are_matched_by_label_and_stream(void **state)
{
  (void)state;
  accepts_for_all_trips((struct trial){ .original = LOADS, .exact = true, .synced = LOADS_SYNCED("wait sp >= 1") });
  assert_int_equal(verdict_of((struct trial){ .original = LOADS, .n = 1, .synced = LOADS_SYNCED("") }),
                   SL_VERDICT_RACE);
}

/* ---- branches, barriers, undefined registers ---- */

#define BRANCH "loop i < n {\n if ?x {\n p: e1.op\n }\n c: e0.op\n}\ndep p -> c"

static void branch_not_taken_counts_earlier_instances(void **state)
{
  (void)state;
  accepts_for_all_trips((struct trial){
      .original = BRANCH,
      .exact = true,
      .synced = "sem s\n e0.reg_set %p, 0\n loop i < n {\n if ?x {\n p: e1.op inc s\n e0.reg_add %p, %p, 1\n }\n"
                "c: e0.op wait s >= %p\n}\nepilogue" });
}

static void carried_by_the_loop_around_a_branch(void **state)
{
  (void)state;
  struct trial trial = { .original = "loop i < n {\n if ?x {\n c: e0.op\n p: e1.op\n }\n}\ndep p -> c (i: 1)", .n = 5 };
  trial.synced = "loop i < n {\n if ?x {\n c: e0.op\n p: e1.op\n }\n}\nepilogue";
  assert_int_equal(verdict_of(trial), SL_VERDICT_RACE);
  trial.synced = "sem s\n e0.reg_set %p, 0\nloop i < n {\n if ?x {\n c: e0.op wait s >= %p\n p: e1.op inc s\n"
                 "e0.reg_add %p, %p, 1\n }\n}\nepilogue";
  trial.exact = true;
  assert_int_equal(verdict_of(trial), SL_VERDICT_OK);
}

#define BARRIERS "loop i < n {\n p: e1.op\n c: e0.op\n}\ndep p -> c\ndep c -> p (i: 1)"

static void barriers_join_and_reset(void **state)
{
  (void)state;
  accepts_for_all_trips((struct trial){
      .original = BARRIERS,
      .synced =
          "sem s\nbarrier reset\nloop i < n {\n p: e1.op inc s\n c: e0.op wait s >= 1\n barrier reset\n}\nepilogue" });
  assert_int_equal(
      verdict_of((struct trial){
          .original = BARRIERS,
          .n = 2,
          .synced = "sem s\nloop i < n {\n p: e1.op inc s\n c: e0.op wait s >= 1\n barrier\n}\nepilogue" }),
      SL_VERDICT_RACE); /* without the reset the second wait is open at once */
}

static void undefined_register_is_noticed(void **state)
{
  (void)state;
  struct trial trial = { .original = PAIR, .n = 1 };
  trial.synced = "sem s\nif n > 1 {\n e0.reg_set %w, 1\n}\np: e1.op inc s\nc: e0.op wait s >= %w\nepilogue";
  assert_int_equal(verdict_of(trial), SL_VERDICT_UNDEFINED);
  trial.n = 2;
  assert_int_equal(verdict_of(trial), SL_VERDICT_OK);
}

static int load_targets(void **state)
{
  (void)state;
  return sluice_targets_new(&targets);
}

static int free_targets(void **state)
{
  (void)state;
  sluice_targets_free(targets);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(right_ring_is_accepted),
    cmocka_unit_test(missing_wait_is_a_race),
    cmocka_unit_test(threshold_too_small_is_a_race),
    cmocka_unit_test(threshold_too_large_hangs),
    cmocka_unit_test(stronger_wait_is_an_overwait),
    cmocka_unit_test(instruction_left_out_is_noticed),
    cmocka_unit_test(unsigned_underflow_hangs),
    cmocka_unit_test(semaphores_must_return_to_their_start),
    cmocka_unit_test(early_reset_is_noticed),
    cmocka_unit_test(queue_retires_on_its_own_chain),
    cmocka_unit_test(same_stream_needs_a_wait_on_weak_hardware),
    cmocka_unit_test(copies_are_matched_by_label_and_stream),
    cmocka_unit_test(branch_not_taken_counts_earlier_instances),
    cmocka_unit_test(carried_by_the_loop_around_a_branch),
    cmocka_unit_test(barriers_join_and_reset),
    cmocka_unit_test(undefined_register_is_noticed),
  };
  return cmocka_run_group_tests(tests, load_targets, free_targets);
}
