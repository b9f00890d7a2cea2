/* scenarios.h: representative runs of the public API, for tests that make allocations fail. */
#ifndef SLUICE_TESTS_ALLOC_SCENARIOS_H
#define SLUICE_TESTS_ALLOC_SCENARIOS_H

#include <stddef.h>

struct scenario {
  const char *name;
  int (*run)(void); /* frees everything it takes; returns a status */
  int expected;     /* what it returns when memory is never out */
};

extern const struct scenario scenarios[];
extern const size_t scenario_count;

#endif
