/* scenarios.h: representative runs of the public API, for tests that make allocations fail and for tests with threads. */
#ifndef SLUICE_TESTS_ALLOC_SCENARIOS_H
#define SLUICE_TESTS_ALLOC_SCENARIOS_H

#include <stddef.h>

#include <sluice/target.h>

struct scenario {
  const char *name;
  int (*run)(void); /* frees everything it takes; returns a status */
  int expected;     /* what it returns when memory is never out */
};

/* The built-in targets, which the caller makes before the first run: they take a thousand allocations, and all scenarios
 * but those about targets only read them. */
extern sluice_targets *scenario_targets;

extern const struct scenario scenarios[];
extern const size_t scenario_count;

#endif
