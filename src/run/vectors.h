/* vectors.h: what vectors of distances look back at, while their kernel is walked in sequential order.
 *
 * A vector (producer p, k at the outer block, inner_k at the inner one, which stands directly in it) asks in iteration (i, j) for p
 * up to the end of iteration j - inner_k of the inner loop's visit in iteration i - k, or of its last iteration when it had
 * fewer. So for each vector the number of p's latest instance is kept on arrival at the inner loop and at the end of each of its
 * iterations, for the current visit and the k before it within one visit of the outer loop.
 *
 * Memory: a number per iteration of the visits kept, so at most one per step of the walk, which is within its budget.
 */
#ifndef SL_RUN_VECTORS_H
#define SL_RUN_VECTORS_H

#include "ir/ir.h"

struct sl_vector {
  sl_index outer, inner;          /* blocks */
  uint32_t k;                     /* at least 1 */
  int64_t inner_k;
  uint32_t producer;              /* index into the numbers of latest instances */
  /* state of a walk */
  sl_vec(uint32_t) ends;          /* of visit after visit: on arrival, then at the end of each iteration */
  sl_vec(uint32_t) visits;        /* where each begins in ends; the last is the current one */
  uint32_t next_of_outer, next_of_inner; /* lists, index + 1 */
};

struct sl_vectors {
  sl_vec(struct sl_vector) list;
  uint32_t *of_outer, *of_inner;  /* by block; NULL: there are no vectors */
};

/* Adds a vector; its latest instance is at `producer` in the array that arrive and tail are given. Answers its index. */
uint32_t sl_vectors_add(struct sl_vectors *vectors, sl_heap *heap, const struct sl_kernel *kernel, struct sl_vector vector);
/* Forgets all visits: the walk starts again. */
void sl_vectors_start(struct sl_vectors *vectors);
/* The walk arrives at the loop of a block, also if it makes no trip; it is at the end of an iteration of the block. */
void sl_vectors_arrive(struct sl_vectors *vectors, sl_heap *heap, sl_index block, const uint32_t *latest);
void sl_vectors_tail(struct sl_vectors *vectors, sl_heap *heap, sl_index block, const uint32_t *latest);
/* The instance that the vector asks for here, in an iteration of its inner loop; 0 = none. */
uint32_t sl_vectors_need(const struct sl_vectors *vectors, uint32_t index);

#endif
