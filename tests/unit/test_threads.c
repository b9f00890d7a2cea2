/* test_threads.c: threads work on objects of their own, and read shared ones together. The thread sanitizer's build of
 * this program is what finds races; here and there the answers must not depend on the neighbours.
 */
#define _POSIX_C_SOURCE 200809L

#include "unit.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <sluice/sluice.h>

#include "alloc/scenarios.h"

enum { THREADS = 4, ROUNDS = 5 };

/* What one thread found: cmocka's assertions belong to the main thread. */
struct worker {
  pthread_t thread;
  unsigned number, mistakes;
  const sluice_targets *targets;
  const sluice_program *program;
  const char *expected[3]; /* text of the program synchronized by each strategy */
};

static void run_workers(struct worker workers[THREADS], void *(*work)(void *))
{
  for (unsigned i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  for (unsigned i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    assert_int_equal(workers[i].mistakes, 0);
  }
}

static void *run_scenarios(void *arg)
{
  struct worker *worker = arg;
  for (unsigned round = 0; round < ROUNDS; round++)
    for (size_t i = 0; i < scenario_count; i++) {
      const struct scenario *scenario = &scenarios[(i + worker->number * 5) % scenario_count];
      worker->mistakes += scenario->run() != scenario->expected;
    }
  return NULL;
}

static void test_threads_with_objects_of_their_own(void **state)
{
  (void)state;
  assert_int_equal(sluice_targets_new(&scenario_targets), SLUICE_OK);
  struct worker workers[THREADS] = { 0 };
  for (unsigned i = 0; i < THREADS; i++)
    workers[i].number = i;
  run_workers(workers, run_scenarios);
  sluice_targets_free(scenario_targets);
}

static const char shared_text[] = "kernel shared(n = 8) target generic explicit {\n"
                                  "  loop i < n {\n"
                                  "    a: e0.op\n"
                                  "    b: e1.op\n"
                                  "  }\n"
                                  "  dep a -> b\n"
                                  "  dep b -> a (i: 2)\n"
                                  "}\n";

static char *synchronized_text(const sluice_program *program, const sluice_targets *targets, unsigned alloc)
{
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  options.alloc = (enum sluice_alloc)alloc;
  sluice_program *out;
  char *text = NULL;
  sluice_stats stats;
  if (sluice_sync(&out, program, targets, &options, NULL) == SLUICE_OK &&
      sluice_program_stats(&stats, out, 0, targets) == SLUICE_OK && stats.instructions == 2)
    (void)sluice_program_print(&text, NULL, out);
  sluice_program_free(out);
  return text;
}

static void *use_shared_program(void *arg)
{
  struct worker *worker = arg;
  for (unsigned round = 0; round < ROUNDS; round++)
    for (unsigned i = 0; i < 3; i++) {
      unsigned alloc = (i + worker->number) % 3;
      char *text = synchronized_text(worker->program, worker->targets, alloc);
      worker->mistakes += text == NULL || strcmp(text, worker->expected[alloc]) != 0;
      sluice_string_free(text);
      char *json = NULL;
      worker->mistakes += sluice_program_print_json(&json, NULL, worker->program) != SLUICE_OK;
      sluice_string_free(json);
    }
  return NULL;
}

static void test_threads_that_read_one_program(void **state)
{
  (void)state;
  sluice_targets *targets;
  sluice_program *program;
  assert_int_equal(sluice_targets_new(&targets), SLUICE_OK);
  assert_int_equal(sluice_program_parse(&program, "shared.slu", shared_text, strlen(shared_text), NULL), SLUICE_OK);
  assert_int_equal(sluice_program_verify(program, targets, NULL), SLUICE_OK);
  char *expected[3];
  for (unsigned alloc = 0; alloc < 3; alloc++)
    assert_non_null(expected[alloc] = synchronized_text(program, targets, alloc));

  struct worker workers[THREADS] = { 0 };
  for (unsigned i = 0; i < THREADS; i++)
    workers[i] = (struct worker){ .number = i, .targets = targets, .program = program,
                                  .expected = { expected[0], expected[1], expected[2] } };
  run_workers(workers, use_shared_program);

  for (unsigned alloc = 0; alloc < 3; alloc++)
    sluice_string_free(expected[alloc]);
  sluice_program_free(program);
  sluice_targets_free(targets);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_threads_with_objects_of_their_own),
    cmocka_unit_test(test_threads_that_read_one_program),
  };
  return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
