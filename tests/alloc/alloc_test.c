/* alloc_test.c: every allocation of every scenario fails once, alone and together with all that follow it.
 *
 * The program defines malloc, calloc, realloc and free itself, so that the library and what it links all allocate
 * through it; the real work is glibc's. After each run the answer must be SLUICE_E_NO_MEMORY, or the usual one where
 * the library could do without the memory, and as many blocks must be alive as before. Quadratic in the allocations
 * of a scenario.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <sluice/base.h>

#include "scenarios.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

static struct {
  unsigned long count;   /* allocations since the run began */
  unsigned long fail_at; /* the allocation that fails, from 1; 0 = none */
  bool fail_on;          /* all after it fail too */
  long alive;            /* blocks in use */
} memory;

static bool must_fail(void)
{
  memory.count++;
  return memory.fail_at != 0 && (memory.count == memory.fail_at || (memory.fail_on && memory.count > memory.fail_at));
}

void *malloc(size_t size)
{
  void *block = must_fail() ? NULL : __libc_malloc(size);
  memory.alive += block != NULL;
  return block;
}

void *calloc(size_t count, size_t size)
{
  void *block = must_fail() ? NULL : __libc_calloc(count, size);
  memory.alive += block != NULL;
  return block;
}

void *realloc(void *block, size_t size)
{
  if (must_fail())
    return NULL;
  void *moved = __libc_realloc(block, size);
  memory.alive += (block == NULL && moved != NULL) - (block != NULL && size == 0);
  return moved;
}

void free(void *block)
{
  memory.alive -= block != NULL;
  __libc_free(block);
}

struct outcome {
  int status;
  long leaked;
  unsigned long allocations;
};

static struct outcome run(const struct scenario *scenario, unsigned long fail_at, bool fail_on)
{
  long alive = memory.alive;
  memory.count = 0;
  memory.fail_on = fail_on;
  memory.fail_at = fail_at;
  int status = scenario->run();
  memory.fail_at = 0;
  return (struct outcome){ status, memory.alive - alive, memory.count };
}

static bool fail_each(const struct scenario *scenario, bool fail_on)
{
  unsigned long n = 0, refused = 0;
  struct outcome outcome;
  do {
    n++;
    /* A crash ends the process: the line before tells where. */
    outcome = run(scenario, n, fail_on);
    refused += outcome.status == SLUICE_E_NO_MEMORY;
    if ((outcome.status != SLUICE_E_NO_MEMORY && outcome.status != scenario->expected) || outcome.leaked != 0) {
      printf("not ok - %s: allocation %lu fails%s\n#   status %d, %ld blocks leaked\n", scenario->name, n,
             fail_on ? " and all after it" : "", outcome.status, outcome.leaked);
      return false;
    }
  } while (outcome.allocations >= n);
  /* The first allocation of each scenario is one that it cannot do without. */
  bool passed = refused > 0;
  printf("%s - %s: each of %lu allocations fails%s\n", passed ? "ok" : "not ok", scenario->name, n - 1,
         fail_on ? " with all after it" : "");
  return passed;
}

static bool check(const struct scenario *scenario)
{
  printf("# %s\n", scenario->name);
  fflush(stdout);
  struct outcome outcome = run(scenario, 0, false);
  bool usual = outcome.status == scenario->expected && outcome.leaked == 0;
  printf("%s - %s: enough memory\n", usual ? "ok" : "not ok", scenario->name);
  if (!usual) {
    printf("#   status %d instead of %d, %ld blocks leaked\n", outcome.status, scenario->expected, outcome.leaked);
    return false;
  }
  bool alone = fail_each(scenario, false);
  return fail_each(scenario, true) && alone;
}

int main(void)
{
  if (sluice_targets_new(&scenario_targets) != SLUICE_OK) {
    printf("not ok - no targets\n");
    return EXIT_FAILURE;
  }
  bool passed = true;
  for (size_t i = 0; i < scenario_count; i++) {
    passed &= check(&scenarios[i]);
    fflush(stdout);
  }
  sluice_targets_free(scenario_targets);
  return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
