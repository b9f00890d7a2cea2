/* vec.c: see vec.h. */
#include "base/vec.h"

void sl_vec_grow(sl_heap *heap, void **data, uint32_t *cap, uint32_t len, uint32_t more, size_t element)
{
  if (more > UINT32_MAX - 1 - len)
    sl_guard_fail(heap->guard); /* 2^32 elements: beyond what indices can name */
  uint32_t need = len + more;
  uint64_t wanted = *cap ? (uint64_t)*cap * 2 : 8;
  if (wanted < need)
    wanted = need;
  if (wanted > UINT32_MAX - 1)
    wanted = UINT32_MAX - 1;
  *data = sl_heap_realloc(heap, *data, (size_t)wanted * element);
  *cap = (uint32_t)wanted;
}
