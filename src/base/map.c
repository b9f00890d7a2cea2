/* map.c: see map.h. Open addressing, linear probing, load at most one half. A zeroed sl_map is an empty map. */
#include "base/map.h"

#include <string.h>

#include "base/hash.h"

enum { FIRST_SLOTS = 16 };

static struct sl_map_slot *find_slot(const sl_map *map, uint64_t key)
{
  uint32_t mask = map->slot_count - 1;
  uint32_t at = (uint32_t)sl_hash_mix(key) & mask;
  while (map->slots[at].used && map->slots[at].key != key)
    at = (at + 1) & mask;
  return &map->slots[at];
}

uint32_t *sl_map_get(const sl_map *map, uint64_t key)
{
  if (!map->slot_count)
    return NULL;
  struct sl_map_slot *slot = find_slot(map, key);
  return slot->used ? &slot->value : NULL;
}

static void grow(sl_map *map, sl_heap *heap)
{
  sl_map old = *map;
  map->slot_count = old.slot_count ? old.slot_count * 2 : FIRST_SLOTS;
  map->slots = sl_heap_calloc(heap, map->slot_count, sizeof *map->slots);
  for (uint32_t i = 0; i < old.slot_count; i++)
    if (old.slots[i].used)
      *find_slot(map, old.slots[i].key) = old.slots[i];
  sl_heap_free(heap, old.slots);
}

uint32_t *sl_map_put(sl_map *map, sl_heap *heap, uint64_t key, bool *is_new)
{
  if (map->len * 2 >= map->slot_count)
    grow(map, heap);
  struct sl_map_slot *slot = find_slot(map, key);
  if (is_new)
    *is_new = !slot->used;
  if (!slot->used) {
    slot->used = 1;
    slot->key = key;
    map->len++;
  }
  return &slot->value;
}

void sl_map_free(sl_map *map, sl_heap *heap)
{
  sl_heap_free(heap, map->slots);
  memset(map, 0, sizeof *map);
}
