/* ring.h: rings that go on from one visit of a loop to the next. */
#ifndef SL_DEPS_RING_H
#define SL_DEPS_RING_H

#include "deps/footprint.h"

/* Whether where an access is depends on two loops only through `trips of the inner one * iteration of the outer one + iteration of the
 * inner one`: as `(m*o + i) % 2` in `loop o { loop i < m { ... } }`. That is the number of the inner loop's iteration, counted
 * through its visits, when every iteration of the outer loop visits it once. */
bool sl_ring_goes_on(struct sl_footprints *footprints, const struct sl_footprint *access, sl_index outer,
                     sl_index inner);

#endif
