/* map.h: hash map from 64-bit keys to 32-bit values. Expected O(1); no deletion. Iteration is by insertion order only if
 * the caller keeps its own list: the map itself is for lookup.
 */
#ifndef SL_BASE_MAP_H
#define SL_BASE_MAP_H

#include <stdint.h>

#include "base/heap.h"

typedef struct sl_map {
  struct sl_map_slot {
    uint64_t key;
    uint32_t value;
    uint32_t used;
  } * slots;
  uint32_t slot_count, len;
} sl_map;

/* The value stored under the key, or NULL. Good until the next put. */
uint32_t *sl_map_get(const sl_map *map, uint64_t key);
/* The place of the key's value, made with value 0 when it is new; `*is_new` (may be NULL) says which. */
uint32_t *sl_map_put(sl_map *map, sl_heap *heap, uint64_t key, bool *is_new);
void sl_map_free(sl_map *map, sl_heap *heap);

static inline uint64_t sl_map_pair(uint32_t a, uint32_t b)
{
  return (uint64_t)a << 32 | b;
}

#endif
