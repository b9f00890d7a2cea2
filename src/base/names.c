/* names.c: see names.h. Open addressing with linear probing at a load of at most one half. */
#include "base/names.h"

#include "base/hash.h"

enum { FIRST_SLOTS = 64 };

void sl_names_init(sl_names *names, sl_heap *heap)
{
  memset(names, 0, sizeof *names);
  names->slot_count = FIRST_SLOTS;
  names->slots = sl_heap_calloc(heap, FIRST_SLOTS, sizeof *names->slots);
  names->cap = FIRST_SLOTS / 2;
  names->entries = sl_heap_calloc(heap, names->cap, sizeof *names->entries);
  names->len = 1; /* id 0 means no name */
}

void sl_names_copy(sl_names *to, sl_heap *heap, const sl_names *from)
{
  memset(to, 0, sizeof *to);
  sl_vec_copy(heap, &to->text, &from->text);
  to->len = from->len;
  to->cap = from->cap;
  to->entries = sl_heap_alloc(heap, (size_t)from->cap * sizeof *to->entries);
  memcpy(to->entries, from->entries, (size_t)from->len * sizeof *to->entries);
  to->slot_count = from->slot_count;
  to->slots = sl_heap_alloc(heap, (size_t)from->slot_count * sizeof *to->slots);
  memcpy(to->slots, from->slots, (size_t)from->slot_count * sizeof *to->slots);
}

static uint32_t find_slot(const sl_names *names, const char *text, size_t length, uint32_t hash)
{
  uint32_t mask = names->slot_count - 1;
  for (uint32_t slot = hash & mask;; slot = (slot + 1) & mask) {
    uint32_t id = names->slots[slot];
    if (!id)
      return slot;
    const struct sl_name_entry *entry = &names->entries[id];
    if (entry->hash == hash && entry->length == length &&
        memcmp(names->text.data + entry->start, text, length) == 0)
      return slot;
  }
}

static void rehash(sl_names *names, sl_heap *heap)
{
  uint32_t count = names->slot_count * 2;
  uint32_t *slots = sl_heap_calloc(heap, count, sizeof *slots);
  for (uint32_t id = 1; id < names->len; id++) {
    uint32_t slot = names->entries[id].hash & (count - 1);
    while (slots[slot])
      slot = (slot + 1) & (count - 1);
    slots[slot] = id;
  }
  sl_heap_free(heap, names->slots);
  names->slots = slots;
  names->slot_count = count;
  names->entries = sl_heap_realloc(heap, names->entries, (size_t)(count / 2) * sizeof *names->entries);
  names->cap = count / 2;
}

sl_name sl_names_find(const sl_names *names, const char *text, size_t length)
{
  return names->slots[find_slot(names, text, length, sl_hash_bytes(text, length))];
}

sl_name sl_names_add(sl_names *names, sl_heap *heap, const char *text, size_t length)
{
  uint32_t hash = sl_hash_bytes(text, length);
  uint32_t slot = find_slot(names, text, length, hash);
  if (names->slots[slot])
    return names->slots[slot];
  if (names->len == names->cap) {
    rehash(names, heap);
    slot = find_slot(names, text, length, hash);
  }
  uint32_t start = sl_vec_extend(heap, &names->text, length + 1);
  memcpy(names->text.data + start, text, length);
  sl_name id = names->len++;
  names->entries[id].start = start;
  names->entries[id].length = (uint32_t)length;
  names->entries[id].hash = hash;
  names->slots[slot] = id;
  return id;
}
