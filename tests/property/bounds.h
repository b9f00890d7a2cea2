/* bounds.h: why dependence inference may make an instance wait for more than it depends on: the classes of
 * docs/deps.md, "Where the result is a bound", read from the text of the kernel alone.
 */
#ifndef SL_TESTS_PROPERTY_BOUNDS_H
#define SL_TESTS_PROPERTY_BOUNDS_H

#include "deps/edge.h"
#include "oracle/layout.h"

enum sl_bound {
  /* Of one instance, whatever its accesses look like. */
  SL_BOUND_NOTHING_RAN,
  SL_BOUND_REST_OF_ITERATION,
  SL_BOUND_LEAST_DISTANCE,
  /* Of accesses. */
  SL_BOUND_UNKNOWN_INDEX,
  SL_BOUND_VARYING_EXTENT,
  SL_BOUND_SEVERAL_DIMENSIONS,
  SL_BOUND_SEVERAL_LOOPS,
  SL_BOUND_SHARED_MEMORY,
  SL_BOUND_UNKNOWN_CONTROL,
  SL_BOUNDS,
  SL_NO_BOUND = SL_BOUNDS
};
extern const char *const sl_bound_names[SL_BOUNDS];

/* The class of the accesses of an edge's ends; SL_NO_BOUND when they are compared exactly. */
enum sl_bound sl_bound_of_accesses(const struct sl_kernel *kernel, const struct sl_edge *edge);

#endif
