/* vec.h: growing arrays on a heap, one macro family for every element type. Indices are 32-bit.
 *
 *   sl_vec(struct sl_op) ops;                    declares {data, len, cap}
 *   struct sl_op *op = sl_vec_push(heap, &ops);  appends one zeroed element
 *   uint32_t at = sl_vec_extend(heap, &ops, n);  appends n zeroed elements, returns the index of the first
 *
 * A pointer into a vector is good until the next push to it. Amortized O(1).
 */
#ifndef SL_BASE_VEC_H
#define SL_BASE_VEC_H

#include <stdint.h>
#include <string.h>

#include "base/heap.h"

#define sl_vec(type)   \
  struct {             \
    type *data;        \
    uint32_t len, cap; \
  }

void sl_vec_grow(sl_heap *heap, void **data, uint32_t *cap, uint32_t len, uint32_t more, size_t element);

/* Makes room for `more` elements. */
#define sl_vec_reserve(heap, vec, more)                                                                              \
  ((vec)->cap - (vec)->len >= (uint32_t)(more)                                                                       \
       ? (void)0                                                                                                     \
       : sl_vec_grow((heap), (void **)&(vec)->data, &(vec)->cap, (vec)->len, (uint32_t)(more), sizeof *(vec)->data))

#define sl_vec_push(heap, vec)                                                                            \
  (sl_vec_reserve((heap), (vec), 1), memset(&(vec)->data[(vec)->len], 0, sizeof *(vec)->data), (vec)->len++, \
   &(vec)->data[(vec)->len - 1])

#define sl_vec_add(heap, vec, value) (sl_vec_reserve((heap), (vec), 1), (vec)->data[(vec)->len++] = (value))

#define sl_vec_extend(heap, vec, count)                                                                  \
  (sl_vec_reserve((heap), (vec), (count)),                                                               \
   ((count) ? (void)memset(&(vec)->data[(vec)->len], 0, (size_t)(count) * sizeof *(vec)->data) : (void)0), \
   (vec)->len += (uint32_t)(count), (vec)->len - (uint32_t)(count))

/* A copy of `from` in another heap; `to` must be empty. */
#define sl_vec_copy(heap, to, from)                                                               \
  do {                                                                                            \
    sl_vec_reserve((heap), (to), (from)->len);                                                    \
    if ((from)->len)                                                                              \
      memcpy((to)->data, (from)->data, (size_t)(from)->len * sizeof *(to)->data);                 \
    (to)->len = (from)->len;                                                                      \
  } while (0)

#define sl_vec_free(heap, vec) (sl_heap_free((heap), (vec)->data), memset((vec), 0, sizeof *(vec)))

#endif
