/* vectors.c: see vectors.h. Amortized O(1) per vector and step. */
#include "run/vectors.h"

#include <assert.h>

uint32_t sl_vectors_add(struct sl_vectors *vectors, sl_heap *heap, const struct sl_kernel *kernel, struct sl_vector vector)
{
  assert(vector.k > 0 && sl_block_parent(kernel, vector.inner) == vector.outer);
  if (!vectors->of_outer) {
    vectors->of_outer = sl_heap_calloc(heap, kernel->blocks.len, sizeof *vectors->of_outer);
    vectors->of_inner = sl_heap_calloc(heap, kernel->blocks.len, sizeof *vectors->of_inner);
  }
  vector.next_of_outer = vectors->of_outer[vector.outer];
  vector.next_of_inner = vectors->of_inner[vector.inner];
  sl_vec_add(heap, &vectors->list, vector);
  vectors->of_outer[vector.outer] = vectors->of_inner[vector.inner] = vectors->list.len;
  return vectors->list.len - 1;
}

static void forget(struct sl_vector *vector)
{
  vector->ends.len = vector->visits.len = 0;
}

void sl_vectors_start(struct sl_vectors *vectors)
{
  for (uint32_t i = 0; i < vectors->list.len; i++)
    forget(&vectors->list.data[i]);
}

/* Drops the visits that are too long ago once there are as many of them as are kept. */
static void drop_old(struct sl_vector *vector)
{
  if (vector->visits.len / 2 <= vector->k)
    return;
  uint32_t dropped = vector->visits.len - vector->k, first = vector->visits.data[dropped];
  vector->ends.len -= first;
  memmove(vector->ends.data, &vector->ends.data[first], vector->ends.len * sizeof *vector->ends.data);
  vector->visits.len -= dropped;
  for (uint32_t v = 0; v < vector->visits.len; v++)
    vector->visits.data[v] = vector->visits.data[v + dropped] - first;
}

void sl_vectors_arrive(struct sl_vectors *vectors, sl_heap *heap, sl_index block, const uint32_t *latest)
{
  if (!vectors->of_outer)
    return;
  for (uint32_t i = vectors->of_outer[block]; i; i = vectors->list.data[i - 1].next_of_outer)
    forget(&vectors->list.data[i - 1]);
  for (uint32_t i = vectors->of_inner[block]; i; i = vectors->list.data[i - 1].next_of_inner) {
    struct sl_vector *vector = &vectors->list.data[i - 1];
    drop_old(vector);
    sl_vec_add(heap, &vector->visits, vector->ends.len);
    sl_vec_add(heap, &vector->ends, latest[vector->producer]);
  }
}

void sl_vectors_tail(struct sl_vectors *vectors, sl_heap *heap, sl_index block, const uint32_t *latest)
{
  if (!vectors->of_inner)
    return;
  for (uint32_t i = vectors->of_inner[block]; i; i = vectors->list.data[i - 1].next_of_inner) {
    struct sl_vector *vector = &vectors->list.data[i - 1];
    sl_vec_add(heap, &vector->ends, latest[vector->producer]);
  }
}

uint32_t sl_vectors_need(const struct sl_vectors *vectors, uint32_t index)
{
  const struct sl_vector *vector = &vectors->list.data[index];
  uint32_t visits = vector->visits.len;
  assert(visits > 0 && "the consumer is in the inner loop");
  if (visits <= vector->k)
    return 0;
  uint32_t now = vector->visits.data[visits - 1], then = vector->visits.data[visits - 1 - vector->k];
  uint32_t trips = vector->visits.data[visits - vector->k] - then - 1;
  int64_t wanted = (int64_t)(vector->ends.len - now) - vector->inner_k; /* the current iteration: behind those that ended */
  if (wanted < 1)
    return 0;
  return vector->ends.data[then + (wanted < trips ? (uint32_t)wanted : trips)];
}
