/* test_explore: the explorer of tests/oracle on hand-written kernels whose reachable faults are known, with and without
 * reduction.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sluice/sluice.h>

#include "oracle/explore.h"

static sluice_targets *targets;

enum {
  RACE = 1 << SL_FAULT_RACE,
  DEADLOCK = 1 << SL_FAULT_DEADLOCK,
  LEAK = 1 << SL_FAULT_LEAK,
  ORDER = 1 << SL_FAULT_ORDER
};

static void complain(void *user, const sluice_diag *diag)
{
  (void)user;
  print_error("%u:%u: %s [%s]\n", diag->line, diag->column, diag->text, diag->rule);
}

static sluice_program *read_kernel(const char *body)
{
  static const sluice_sink sink = { complain, NULL };
  char text[4000];
  sluice_program *program = NULL;
  int length = snprintf(text, sizeof text, "sluice 1\nkernel k(n = 2) target generic explicit {\n%s\n}\n", body);
  assert_true(length > 0 && (size_t)length < sizeof text);
  assert_int_equal(sluice_program_parse(&program, "k.slu", text, (size_t)length, &sink), SLUICE_OK);
  assert_int_equal(sluice_program_verify(program, targets, &sink), SLUICE_OK);
  return program;
}

static struct sl_explored last;

static void explore(const char *original, const char *synced, int64_t n, const struct sl_explore_options *options)
{
  sluice_program *reads = read_kernel(original), *runs = read_kernel(synced);
  struct sl_oracle_hardware hardware = { true, true };
  struct sl_oracle_inputs inputs = { &n, 1, 1 };
  struct sl_oracle_reference reference;
  assert_int_equal(sl_oracle_reference_init(&reference, reads, reads->kernels.data[0], hardware, &inputs, 100),
                   SL_REFERENCE_OK);
  sl_oracle_explore(&last, &reference, runs, runs->kernels.data[0], options);
  sl_oracle_reference_free(&reference);
  sluice_program_free(reads);
  sluice_program_free(runs);
}

/* The faults of a kernel that brings its dependences along; the same with and without reduction. */
static unsigned faults(const char *body, int64_t n)
{
  struct sl_explore_options options = SL_EXPLORE_OPTIONS_INIT;
  explore(body, body, n, &options);
  assert_false(last.too_big || last.meaningless);
  unsigned reduced = last.faults;
  options.reduce = false;
  explore(body, body, n, &options);
  assert_false(last.too_big);
  assert_int_equal(last.faults, reduced);
  return reduced;
}

#define PAIR "dep p -> c"

static void issue_and_retirement_are_two_steps(void **state)
{
  (void)state;
  struct sl_explore_options options = SL_EXPLORE_OPTIONS_INIT;
  options.reduce = false;
  explore("a: e0.op\nb: e1.op", "a: e0.op\nb: e1.op", 0, &options);
  assert_int_equal(last.states, 9); /* each not issued, in flight, retired */
  explore("a: e0.op\nb: e0.op", "a: e0.op\nb: e0.op", 0, &options);
  assert_int_equal(last.states, 6); /* (issued, retired): 00 10 11 20 21 22 */
  options.reduce = true;
  explore("a: e0.op\nb: e1.op", "a: e0.op\nb: e1.op", 0, &options);
  assert_int_equal(last.states, 5); /* one order is as good as another */
}

static void waits_are_judged(void **state)
{
  (void)state;
  assert_int_equal(faults("sem s\np: e1.op inc s\nc: e0.op wait s >= 1\nepilogue\n" PAIR, 0), 0);
  assert_int_equal(faults("p: e1.op\nc: e0.op\nepilogue\n" PAIR, 0), RACE);
  assert_int_equal(faults("sem s\nx: e1.op inc s\np: e1.op inc s\nc: e0.op wait s >= 1\nepilogue\n" PAIR, 0), RACE);
  assert_int_equal(faults("sem s\np: e1.op inc s\nc: e0.op wait s >= 2\nepilogue\n" PAIR, 0), DEADLOCK);
  assert_int_equal(faults("sem s\np: e1.op inc s\nc: e0.op wait s >= 1\n" PAIR, 0), LEAK);
  assert_int_equal(faults("sem s\np: e1.op inc s\nc: e0.op wait s >= 1\ne0.sem_set s, 0\n" PAIR, 0), 0);
}

static void several_writers_can_stand_in_for_each_other(void **state)
{
  (void)state;
  assert_int_equal(faults("sem s\nx: e2.op inc s\np: e1.op inc s\nc: e0.op wait s >= 1\nepilogue\n" PAIR, 0), RACE);
  assert_int_equal(faults("sem s\nx: e2.op inc s\np: e1.op inc s\nc: e0.op wait s >= 2\nepilogue\n" PAIR, 0), 0);
}

static void equality_can_be_missed(void **state)
{
  (void)state;
  assert_int_equal(faults("sem s\np: e1.op inc s\nx: e1.op inc s\nc: e0.op wait s == 1\nepilogue\n" PAIR, 0), DEADLOCK);
  assert_int_equal(faults("sem s, r\np: e1.op inc s\nx: e1.op wait r >= 1 inc s\nc: e0.op wait s == 1 inc r\n"
                          "epilogue\n" PAIR,
                          0),
                   0);
}

static void sem_set_acts_at_once(void **state)
{
  (void)state;
  /* The update is lost when the set comes behind it, and left over when it comes before. */
  assert_int_equal(faults("sem s\np: e1.op inc s\ne2.sem_set s, 0\nc: e0.op wait s >= 1\nepilogue\n" PAIR, 0),
                   DEADLOCK);
  assert_int_equal(faults("sem s\np: e1.op inc s\ne2.sem_set s, 0\n", 0), LEAK);
  /* A wait that was open is shut again: c may pass it before. */
  assert_int_equal(faults("sem s = 1\np: e1.op\ne1.drain\ne1.sem_set s, 2\nc: e0.op wait s >= 1\nepilogue\n" PAIR, 0),
                   RACE);
}

static void events_are_taken(void **state)
{
  (void)state;
  assert_int_equal(faults("event v : e1 -> e0\np: e1.op set v\nc: e0.op wait v\n" PAIR, 0), 0);
  assert_int_equal(faults("event v : e1 -> e0\np: e1.op set v\nx: e1.op set v\nc: e0.op wait v\n" PAIR, 0), LEAK);
  assert_int_equal(faults("event v : e1 -> e0\np: e1.op set v\nd: e0.op wait v\nc: e0.op wait v\n" PAIR, 0), DEADLOCK);
  assert_int_equal(faults("event v[3] : e1 -> e0\nloop i < n {\np: e1.op set v[i]\nc: e0.op wait v[i]\n}\n" PAIR, 3),
                   0);
  assert_int_equal(faults("event v[3] : e1 -> e0\nloop i < n {\np: e1.op set v[i]\nc: e0.op wait v[0]\n}\n" PAIR, 3),
                   DEADLOCK);
}

static void queues_retire_apart_from_their_trigger(void **state)
{
  (void)state;
  /* x retires on e1 while p is still under way on the queue that e1 triggers. */
  assert_int_equal(faults("queue q via e1\nsem s\np: q.op\nx: e1.op inc s\nc: e0.op wait s >= 1\nepilogue\n" PAIR, 0),
                   RACE);
  assert_int_equal(faults("queue q via e1\nsem s\np: q.op\ne1.drain inc s\nc: e0.op wait s >= 1\nepilogue\n" PAIR, 0),
                   0);
}

static void loads_stop_their_engine(void **state)
{
  (void)state;
  assert_int_equal(faults("buffer t : hbm i32[4]\np: e0.reg_load %r <- t[0]\nc: e0.op\nepilogue\n" PAIR, 0), 0);
  assert_int_equal(faults("buffer t : hbm i32[4]\nsem s\np: e1.reg_load %r <- t[0]\ne1.reg_set %z, 0 wait s >= 1\n"
                          "c: e0.op inc s\nepilogue\n" PAIR,
                          0),
                   RACE);
}

static void barriers_drain_and_meet(void **state)
{
  (void)state;
  assert_int_equal(faults("p: e1.op\nbarrier\nc: e0.op\nepilogue\n" PAIR, 0), 0);
  assert_int_equal(faults("sem s\np: e1.op inc s\nbarrier reset\nc: e0.op wait s >= 1\nepilogue\n" PAIR, 0), DEADLOCK);
  assert_int_equal(faults("sem s\np: e1.op inc s\nbarrier\nc: e0.op wait s >= 1\nepilogue\n" PAIR, 0), 0);
}

#define RING(start, wait_p)                                                                              \
  "sem a, b" start "\ne1.reg_set %t, 0\nloop i < n {\np: e0.op " wait_p " inc a\ne1.reg_add %t, %t, 1\n" \
  "c: e1.op wait a >= %t inc b\n}\nepilogue\ndep p -> c\ndep c -> p (i: 2)"

static void carried_dependences_need_their_distance(void **state)
{
  (void)state;
  for (int64_t n = 0; n <= 4; n++) {
    assert_int_equal(faults(RING(" = 1", "wait b >= i"), n), 0);
    assert_int_equal(faults(RING("", ""), n), n > 2 ? RACE : 0);
    assert_int_equal(faults(RING(" = 2", "wait b >= i"), n), n > 2 ? RACE : 0);
    assert_int_equal(faults(RING("", "wait b >= i"), n), 0); /* distance 1 instead of 2 */
  }
}

static void other_instructions_are_noticed(void **state)
{
  (void)state;
  struct sl_explore_options options = SL_EXPLORE_OPTIONS_INIT;
  explore("a: e0.op\nb: e0.op", "b: e0.op\na: e0.op", 0, &options);
  assert_int_equal(last.faults, ORDER);
  explore("a: e0.op\nb: e0.op", "a: e0.op", 0, &options);
  assert_int_equal(last.faults, ORDER);
}

static void waits_can_be_weakened(void **state)
{
  (void)state;
  static const char *const body =
      "sem s\nx: e1.op inc s by 2\np: e1.op inc s by 2\nc: e0.op wait s >= 4\nepilogue\n" PAIR;
  struct sl_explore_options options = SL_EXPLORE_OPTIONS_INIT;
  options.deleted = 1;
  explore(body, body, 0, &options);
  assert_int_equal(last.faults, RACE);
  options.deleted = 0;
  options.lowered = 1;
  options.by = 1; /* 3 is reached with the same update as 4 */
  explore(body, body, 0, &options);
  assert_int_equal(last.faults, 0);
  options.by = 2;
  explore(body, body, 0, &options);
  assert_int_equal(last.faults, RACE);
}

static void comparison_is_the_targets(void **state)
{
  (void)state;
  static const char *const body = "sem s\ne0.reg_sub %t, 0, 1\nc: e0.op wait s >= %t\nepilogue\n";
  struct sl_explore_options options = SL_EXPLORE_OPTIONS_INIT;
  explore(body, body, 0, &options);
  assert_int_equal(last.faults, DEADLOCK);
  options.is_signed = true;
  explore(body, body, 0, &options);
  assert_int_equal(last.faults, 0);
  options.is_signed = false;
  options.modular = true;
  explore(body, body, 0, &options);
  assert_int_equal(last.faults, 0);
}

static void budget_and_nonsense_are_said(void **state)
{
  (void)state;
  struct sl_explore_options options = SL_EXPLORE_OPTIONS_INIT;
  options.max_states = 3;
  options.reduce = false;
  explore("a: e0.op\nb: e1.op", "a: e0.op\nb: e1.op", 0, &options);
  assert_true(last.too_big);
  options = (struct sl_explore_options)SL_EXPLORE_OPTIONS_INIT;
  options.max_actions = 3;
  explore("loop i < n {\na: e0.op\n}", "loop i < n {\na: e0.op\n}", 4, &options);
  assert_true(last.too_big);
  options = (struct sl_explore_options)SL_EXPLORE_OPTIONS_INIT;
  explore("a: e1.op\nb: e0.op", "event v[2] : e1 -> e0\na: e1.op set v[n]\nb: e0.op", 5, &options);
  assert_true(last.meaningless);
}

static void witness_shows_the_interleaving(void **state)
{
  (void)state;
  (void)faults("sem s\nx: e2.op inc s\np: e1.op inc s\nc: e0.op wait s >= 1\nepilogue\n" PAIR, 0);
  const char *text = last.text[SL_FAULT_RACE];
  assert_non_null(strstr(text, "c can issue before p (number 1 on e1) has retired after:"));
  assert_non_null(strstr(text, "~x"));
  assert_null(strstr(text, "~p"));
}

static int make_targets(void **state)
{
  (void)state;
  return sluice_targets_new(&targets) == SLUICE_OK ? 0 : -1;
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
    cmocka_unit_test(issue_and_retirement_are_two_steps),
    cmocka_unit_test(waits_are_judged),
    cmocka_unit_test(several_writers_can_stand_in_for_each_other),
    cmocka_unit_test(equality_can_be_missed),
    cmocka_unit_test(sem_set_acts_at_once),
    cmocka_unit_test(events_are_taken),
    cmocka_unit_test(queues_retire_apart_from_their_trigger),
    cmocka_unit_test(loads_stop_their_engine),
    cmocka_unit_test(barriers_drain_and_meet),
    cmocka_unit_test(carried_dependences_need_their_distance),
    cmocka_unit_test(other_instructions_are_noticed),
    cmocka_unit_test(waits_can_be_weakened),
    cmocka_unit_test(comparison_is_the_targets),
    cmocka_unit_test(budget_and_nonsense_are_said),
    cmocka_unit_test(witness_shows_the_interleaving),
  };
  return cmocka_run_group_tests(tests, make_targets, free_targets);
}
