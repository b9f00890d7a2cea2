/* test_reduce: which dependences of small kernels are implied, and by which others (deps/reduce.h). */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <sluice/sluice.h>

#include "deps/deps.h"
#include "deps/reduce.h"

static sluice_targets *targets;

static void complain(void *user, const sluice_diag *diag)
{
  (void)user;
  print_error("%u:%u: %s [%s]\n", diag->line, diag->column, diag->text, diag->rule);
}

static const sluice_sink sink = { complain, NULL };

/* A kernel of the body, on target generic; its edges in the order of the lines. */
struct reduced {
  sluice_program *program;
  sl_edges edges;
  sl_reductions reductions;
};

static void reduce_on(struct reduced *reduced, const char *target_name, const char *body)
{
  char text[4000];
  sl_report report;
  int length =
      snprintf(text, sizeof text, "sluice 1\nkernel k(n = 3, static m = 4, static z = 0) target %s explicit {\n%s\n}\n",
               target_name, body);
  assert_true(length > 0 && (size_t)length < sizeof text);
  memset(reduced, 0, sizeof *reduced);
  assert_int_equal(sluice_program_parse(&reduced->program, "k.slu", text, (size_t)length, &sink), SLUICE_OK);
  assert_int_equal(sluice_program_verify(reduced->program, targets, &sink), SLUICE_OK);
  struct sl_kernel *kernel = reduced->program->kernels.data[0];
  const struct sl_target *target = sl_target_find(targets, target_name);
  sl_heap *heap = &reduced->program->heap;
  sl_report_init(&report, heap, &sink, &reduced->program->source);
  assert_int_equal(sl_deps_resolve(&reduced->edges, heap, reduced->program, kernel, target, &report), SLUICE_OK);
  sl_deps_reduce(&reduced->reductions, heap, reduced->program, kernel, target, &reduced->edges);
}

/* One letter per edge: kept, hardware, same, implied, spilled. */
static void expect_on(const char *target, const char *decisions, const char *body)
{
  struct reduced reduced;
  char found[64] = "";
  reduce_on(&reduced, target, body);
  assert_true(reduced.edges.len < sizeof found);
  for (uint32_t i = 0; i < reduced.edges.len; i++)
    found[i] = "khsiS"[reduced.reductions.edges[i].what];
  assert_string_equal(found, decisions);
  sluice_program_free(reduced.program);
}

static void expect(const char *decisions, const char *body)
{
  expect_on("generic", decisions, body);
}

/* The path of one edge, as numbers of edges. */
static void expect_path(const char *path, uint32_t edge, const char *body)
{
  struct reduced reduced;
  char found[200] = "";
  reduce_on(&reduced, "generic", body);
  const struct sl_reduced *of = &reduced.reductions.edges[edge];
  assert_true(of->what == SL_REDUCE_IMPLIED || of->what == SL_REDUCE_SAME);
  for (uint32_t i = 0; i < of->count; i++)
    snprintf(found + strlen(found), sizeof found - strlen(found), "%s%u", i ? " " : "",
             reduced.reductions.paths.data[of->first + i]);
  assert_string_equal(found, path);
  sluice_program_free(reduced.program);
}

/* ---- straight-line code ---- */

static void test_a_later_retirement_implies_earlier_ones(void **state) /* c12 */
{
  (void)state;
  expect("iik", "v0: e0.op\nv1: e0.op\nv2: e0.op\nc: e1.op\ndep v0 -> c\ndep v1 -> c\ndep v2 -> c");
}

static void test_a_chain_of_edges(void **state)
{
  (void)state;
#define CHAIN "a: e0.op\nb: e1.op\nc: e2.op\nd: e2.op\ndep a -> b\ndep b -> c\ndep a -> d"
  expect("kki", CHAIN);
  expect_path("0 1", 2, CHAIN);
}

static void test_issue_order_is_not_retirement(void **state)
{
  (void)state; /* p before x on one stream: that x issues does not say that p retired */
  expect("kk", "p: e0.op\nx: e0.op\nc: e1.op\nd: e2.op\ndep x -> c\ndep p -> d");
}

static void test_a_queue_retires_by_itself(void **state) /* E16 */
{
  (void)state;
  expect("kk", "queue q via e0\ndma: q.op\nx: e0.op\nc: e1.op\ndep dma -> c\ndep x -> c");
  expect("ik", "queue q via e0\ndma: q.op\nx: q.op\nc: e1.op\ndep dma -> c\ndep x -> c");
  expect("kki", "queue q via e0\na: e1.op\ndma: q.op\nx: e0.op\ny: e1.op\ndep a -> dma\ndep dma -> y\ndep a -> x");
}

static void test_hardware_is_no_evidence(void **state)
{
  (void)state; /* a -> b needs no wait, but b may issue before a retires, and so may dma */
  expect("hk", "queue q via e0\na: e0.op\nb: e0.op\ndma: q.op\ndep a -> b\ndep a -> dma");
  expect_on("generic-weak", "ki", "queue q via e0\na: e0.op\nb: e0.op\ndma: q.op\ndep a -> b\ndep a -> dma");
}

static void test_a_load_is_evidence(void **state)
{
  (void)state; /* its engine stops for it */
  expect("hki", "buffer t : hbm i32[4]\nld: e0.reg_load %r <- t[0] { assume = 1 }\nx: e0.op\nc: e1.op\n"
                "dep ld -> x\ndep x -> c\ndep ld -> c");
  expect("kk", "buffer t : hbm i32[4]\nqueue q via e0\nld: e0.reg_load %r <- t[0] { assume = 1 }\nx: q.op\nc: e1.op\n"
               "dep x -> c\ndep ld -> c");
}

/* ---- distances ---- */

static void test_parallel_edges(void **state)
{
  (void)state;
#define PARALLEL \
  "loop i < n {\n p: e0.op\n c: e1.op\n}\ndep p -> c (i: 2)\ndep p -> c (i: 1)\ndep p -> c (i: 1)\ndep p -> c (i: 3)"
  expect("skss", PARALLEL);
  expect_path("1", 0, PARALLEL);
  expect("kss", "loop i < n {\n p: e0.op\n c: e1.op\n}\ndep p -> c\ndep p -> c (i: 1)\ndep p -> c (i: 4)");
}

static void test_distance_0_implies_those_of_loops_around(void **state)
{
  (void)state;
  expect("ki", "loop i < n {\n loop j < n {\n p: e0.op\n c: e1.op\n }\n}\ndep p -> c\ndep p -> c (i: 1)");
  expect("kk", "loop i < n {\n loop j < n {\n p: e0.op\n c: e1.op\n }\n}\ndep p -> c (j: 1)\ndep p -> c (i: 1)");
  expect("ks", "loop i < n {\n p: e0.op\n loop j < n {\n c: e1.op\n }\n}\ndep p -> c\ndep p -> c (i: 1)");
}

static void test_distances_add_up(void **state) /* c24: the back pressure is implied */
{
  (void)state;
#define SKEWED(back) \
  "loop i < n {\n s: e0.op\n m: e0.op\n x: e1.op\n}\ndep s -> x\ndep x -> m (i: 1)\ndep x -> s (i: " back ")"
  expect("kki", SKEWED("2"));
  expect_path("1", 2, SKEWED("2"));
  expect("kik", SKEWED("1"));
}

static void test_around_the_back_edge(void **state)
{
  (void)state;
#define AROUND(k)                                      \
  "loop i < n {\n a: e0.op\n b: e1.op\n c: e2.op\n}\n" \
  "dep c -> b (i: 1)\ndep b -> a (i: 1)\ndep a -> c (i: 1)\ndep c -> a (i: " k ")"
  expect("kkki", AROUND("2"));
  expect_path("0 1", 3, AROUND("2"));
}

/* ---- blocks that may not run ---- */

static void test_a_loop_that_may_not_run_proves_nothing_behind_it(void **state) /* c01, c02 */
{
  (void)state;
  expect("kk", "d: e0.op\nloop i in 1..n {\n r: e1.op\n}\nlast: e1.op\ndep d -> r\ndep d -> last");
  expect("kkk", "d: e0.op\nv: e1.op\nloop i < n {\n s: e2.op\n}\nlast: e2.op\ndep d -> v\ndep v -> s\ndep d -> last");
}

static void test_a_loop_of_known_count_does(void **state)
{
  (void)state;
  expect("ki", "d: e0.op\nloop i < m {\n r: e1.op\n}\nlast: e1.op\ndep d -> r\ndep d -> last");
  expect("kk", "d: e0.op\nloop i < z {\n r: e1.op\n}\nlast: e1.op\ndep d -> r\ndep d -> last");
  expect("kk", "d: e0.op\nloop i < m while ?c {\n r: e1.op\n}\nlast: e1.op\ndep d -> r\ndep d -> last");
  expect("kki", "d: e0.op\nloop i < m {\n loop j in 2..4 {\n r: e1.op\n }\n}\nx: e2.op\nlast: e3.op\n"
                "dep d -> r\ndep r -> x\ndep d -> x");
  /* its last iteration, not its first */
  expect("kk", "loop i < m {\n p: e0.op\n c: e1.op\n}\nx: e2.op\ndep p -> c (i: 1)\ndep p -> x");
}

static void test_an_end_inside_a_loop(void **state)
{
  (void)state;
  /* whoever follows c in its loop knows what c knows; whoever comes after the loop, what its last iteration knows */
  expect("ki", "d: e0.op\nloop i < n {\n c: e1.op\n x: e1.op\n}\ndep d -> c\ndep d -> x");
  expect("ki", "loop i < n {\n p: e0.op\n x: e1.op\n}\nc: e1.op\ndep p -> x\ndep p -> c");
  expect("ik", "loop i < n {\n p: e0.op\n x: e0.op\n}\nc: e1.op\ndep p -> c\ndep x -> c");
  expect("kk", "loop i < n {\n p: e0.op\n x: e1.op\n}\nc: e1.op\ndep p -> x (i: 1)\ndep p -> c");
}

static void test_arms(void **state)
{
  (void)state;
  expect("kk", "d: e0.op\nif ?x {\n r: e1.op\n}\nlast: e1.op\ndep d -> r\ndep d -> last");
  expect("ki", "loop i < n {\n if ?x {\n p: e0.op\n c: e1.op\n }\n}\ndep p -> c\ndep p -> c (i: 2)");
  expect("ki", "if ?x {\n p: e0.op\n c: e1.op\n} else {\n d: e1.op\n}\ndep p -> c\ndep p -> d");
  expect("kk", "loop i < n {\n if ?x {\n p: e0.op\n } else {\n c: e1.op\n d: e2.op\n }\n}\ndep p -> c\ndep p -> d");
  /* an edge out of an arm, and what follows its consumer */
  expect("kki",
         "if ?x {\n if ?y {\n p: e0.op\n }\n a: e1.op\n}\nb: e2.op\nc: e2.op\ndep p -> a\ndep a -> b\ndep p -> c");
}

/* ---- across visits, vectors ---- */

static void test_across(void **state)
{
  (void)state;
#define TWO_LOOPS(body, deps) "loop o < n {\n loop i < n {\n" body " }\n}\n" deps
#define PAIR " p: e0.op\n c: e1.op\n"
  /* stronger than without, at the same distance */
  expect("ki", TWO_LOOPS(PAIR, "dep p -> c (across i: 1)\ndep p -> c (i: 1)"));
  expect("kk", TWO_LOOPS(PAIR, "dep p -> c (across i: 2)\ndep p -> c (i: 1)"));
  expect("ks", TWO_LOOPS(PAIR, "dep p -> c (across i: 1)\ndep p -> c (across i: 2)"));
  /* what holds in one visit does not hold from one to the next; distance 0 does */
#define THREE " a: e0.op\n b: e1.op\n c: e2.op\n"
  expect("kkk", TWO_LOOPS(THREE, "dep a -> b\ndep b -> c (i: 1)\ndep a -> c (across i: 1)"));
  expect("kki", TWO_LOOPS(THREE, "dep a -> b\ndep b -> c (across i: 1)\ndep a -> c (across i: 1)"));
  /* all earlier iterations: those of the loop around too */
  expect("ki", TWO_LOOPS(PAIR, "dep p -> c (across i: 1)\ndep p -> c (o: 1)"));
  expect("kk", TWO_LOOPS(PAIR, "dep p -> c (across i: 2)\ndep p -> c (o: 1)"));
}

static void test_vectors(void **state)
{
  (void)state;
  /* implied by its outer distance alone */
  expect("ki", TWO_LOOPS(PAIR, "dep p -> c (o: 1)\ndep p -> c (o: 1, i: -1)"));
  expect("kk", TWO_LOOPS(PAIR, "dep p -> c (o: 2)\ndep p -> c (o: 1, i: 1)"));
  /* itself it is worth one more, where each iteration waits */
  expect("ki", TWO_LOOPS(PAIR, "dep p -> c (o: 1, i: -1)\ndep p -> c (o: 2)"));
  expect("kk", TWO_LOOPS(PAIR, "dep p -> c (o: 1, i: 1)\ndep p -> c (o: 2)"));
  expect("ik", TWO_LOOPS(PAIR, "dep p -> c (o: 1, i: -1)\ndep p -> c (o: 1)"));
  /* another vector says as much when neither component is smaller */
  expect("kss", TWO_LOOPS(PAIR, "dep p -> c (o: 1, i: -1)\ndep p -> c (o: 1, i: 1)\ndep p -> c (o: 2, i: -1)"));
  expect("kk", TWO_LOOPS(PAIR, "dep p -> c (o: 1, i: 1)\ndep p -> c (o: 2, i: 0)"));
}

/* ---- spilled buffers ---- */

static void test_spilled_buffers_keep_their_edges(void **state)
{
  (void)state;
#define SPILL(attrs)                                                       \
  "buffer x : sbuf f32[128p, 8] " attrs "\nbuffer y : sbuf f32[128p, 8]\n" \
  "a: e0.op x <- y\nb: e0.op y <- y\nc: e1.op y <- x\nd: e1.op y <- y\ndep a -> c\ndep b -> c\ndep b -> d\ndep b -> d"
  expect("ikis", SPILL(""));
  expect("ikis", SPILL("{ spilled = 0 }"));
  expect("Skis", SPILL("{ spilled = 1 }"));
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
    cmocka_unit_test(test_a_later_retirement_implies_earlier_ones),
    cmocka_unit_test(test_a_chain_of_edges),
    cmocka_unit_test(test_issue_order_is_not_retirement),
    cmocka_unit_test(test_a_queue_retires_by_itself),
    cmocka_unit_test(test_hardware_is_no_evidence),
    cmocka_unit_test(test_a_load_is_evidence),
    cmocka_unit_test(test_parallel_edges),
    cmocka_unit_test(test_distance_0_implies_those_of_loops_around),
    cmocka_unit_test(test_distances_add_up),
    cmocka_unit_test(test_around_the_back_edge),
    cmocka_unit_test(test_a_loop_that_may_not_run_proves_nothing_behind_it),
    cmocka_unit_test(test_a_loop_of_known_count_does),
    cmocka_unit_test(test_an_end_inside_a_loop),
    cmocka_unit_test(test_arms),
    cmocka_unit_test(test_across),
    cmocka_unit_test(test_vectors),
    cmocka_unit_test(test_spilled_buffers_keep_their_edges),
  };
  return cmocka_run_group_tests(tests, load_targets, free_targets);
}
