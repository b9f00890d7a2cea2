/* conflict.h: whether two accesses touch a common byte, and how many iterations apart.
 *
 * The question is about instances: (p in iteration t - k, c in iteration t) of one loop, the same iteration of every loop around it,
 * any iterations of the loops inside. Indices are compared dimension by dimension; in each the difference of the two first
 * elements must lie within the lengths. Exact where a dimension depends on one loop that is not the same for both, by sums with
 * equal factors, by remainders and quotients with small periods; else a bound: the answer is then "yes", and the least k that
 * cannot be excluded.
 */
#ifndef SL_DEPS_CONFLICT_H
#define SL_DEPS_CONFLICT_H

#include "deps/footprint.h"

/* Whether they may overlap in the same iteration of all loops around `common`, the innermost block around both. */
bool sl_conflict_same(struct sl_footprints *footprints, const struct sl_footprint *producer,
                      const struct sl_footprint *consumer, sl_index common);
/* The least k >= 1 such that they may overlap k iterations of the loop with that body apart; 0 when there is none, SL_DISTANCE_MAX
 * (edge.h) at the most. `trips`:
 * of the loop, SL_NO_MAX when not known. */
uint32_t sl_conflict_distance(struct sl_footprints *footprints, const struct sl_footprint *producer,
                              const struct sl_footprint *consumer, sl_index body, int64_t trips);

/* One iteration of a loop inside: of the producer and of the consumer. */
struct sl_fixed {
  sl_index body;
  int64_t of_producer, of_consumer;
};
/* Whether they may overlap k iterations apart, each in its given iteration of the loop inside. */
bool sl_conflict_at(struct sl_footprints *footprints, const struct sl_footprint *producer,
                    const struct sl_footprint *consumer, sl_index body, int64_t trips, int64_t k,
                    struct sl_fixed fixed);

/* Of instances that touch the same and are `k` iterations of an outer loop apart: the least number of iterations of the loop
 * inside, consumer's minus producer's (negative: the producer's is a later one of its visit). False when it is not
 * bounded, or not known. `trips`: of the inner loop. */
bool sl_conflict_inner(struct sl_footprints *footprints, const struct sl_footprint *producer,
                       const struct sl_footprint *consumer, sl_index outer, int64_t k, sl_index inner, int64_t trips,
                       int64_t *least);

#endif
