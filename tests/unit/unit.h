/* unit.h: what every cmocka test includes, and a heap with its guard for tests that run inside one. */
#ifndef SLUICE_TESTS_UNIT_H
#define SLUICE_TESTS_UNIT_H

/* cmocka.h needs these four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/heap.h"

/* A guard that nothing has armed: an allocation that fails in these tests is a crash, which is what it should be. */
struct unit_heap {
  sl_guard guard;
  sl_heap heap;
};

static inline int unit_heap_setup(void **state)
{
  static struct unit_heap unit;
  sl_heap_init(&unit.heap, &unit.guard);
  *state = &unit.heap;
  return 0;
}

static inline int unit_heap_teardown(void **state)
{
  sl_heap_free_all(*state);
  return 0;
}

#define unit_test_with_heap(test) cmocka_unit_test_setup_teardown(test, unit_heap_setup, unit_heap_teardown)

#endif
