/* names.c: see names.h. Open addressing with linear probing at a load of at most one half. */
#include "base/names.h"

#include "base/hash.h"
#include "base/prefetch.h"

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

enum { INLINE_LENGTH = 7 };

static uint64_t start_of(const char *text, size_t length)
{
  bool is_whole = length <= INLINE_LENGTH;
  uint64_t tag = is_whole ? length : INLINE_LENGTH + 1;
  return sl_load_few(text, is_whole ? length : INLINE_LENGTH) | tag << 8 * INLINE_LENGTH;
}

/* Where probing starts. Names that differ in their last character alone start near each other, so that labels numbered in a
 * row, looked up in a row, do not miss the cache each time; and with places between them, since those of another row may
 * start there too. */
static uint32_t hash_name(const char *text, size_t length)
{
  enum { NEIGHBOURS = 15, APART = 5 };
  if (!length)
    return 0;
  uint32_t neighbour = (uint8_t)text[length - 1] & NEIGHBOURS;
  return sl_hash_bytes(text, length - 1) + neighbour * APART;
}

static uint32_t find_slot(const sl_names *names, const char *text, size_t length, uint32_t hash)
{
  uint32_t mask = names->slot_count - 1;
  uint64_t start = start_of(text, length);
  for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
    const struct sl_name_slot *slot = &names->slots[at];
    if (!slot->id)
      return at;
    if (slot->hash != hash || slot->start != start)
      continue;
    if (length <= INLINE_LENGTH)
      return at;
    const struct sl_name_entry *entry = &names->entries[slot->id];
    if (entry->length == length && memcmp(names->text.data + entry->start, text, length) == 0)
      return at;
  }
}

static void rehash(sl_names *names, sl_heap *heap)
{
  uint32_t count = names->slot_count * 2;
  struct sl_name_slot *slots = sl_heap_calloc(heap, count, sizeof *slots);
  for (uint32_t i = 0; i < names->slot_count; i++) {
    const struct sl_name_slot *slot = &names->slots[i];
    if (!slot->id)
      continue;
    uint32_t at = slot->hash & (count - 1);
    while (slots[at].id)
      at = (at + 1) & (count - 1);
    slots[at] = *slot;
  }
  sl_heap_free(heap, names->slots);
  names->slots = slots;
  names->slot_count = count;
  names->entries = sl_heap_realloc(heap, names->entries, (size_t)(count / 2) * sizeof *names->entries);
  names->cap = count / 2;
}

void sl_names_expect(const sl_names *names, const char *text, size_t length)
{
  sl_prefetch(&names->slots[hash_name(text, length) & (names->slot_count - 1)]);
}

sl_name sl_names_find(const sl_names *names, const char *text, size_t length)
{
  return names->slots[find_slot(names, text, length, hash_name(text, length))].id;
}

sl_name sl_names_add(sl_names *names, sl_heap *heap, const char *text, size_t length)
{
  uint32_t hash = hash_name(text, length);
  uint32_t slot = find_slot(names, text, length, hash);
  if (names->slots[slot].id)
    return names->slots[slot].id;
  if (names->len == names->cap) {
    rehash(names, heap);
    slot = find_slot(names, text, length, hash);
  }
  uint32_t start = sl_vec_extend(heap, &names->text, length + 1);
  memcpy(names->text.data + start, text, length);
  sl_name id = names->len++;
  names->entries[id].start = start;
  names->entries[id].length = (uint32_t)length;
  names->slots[slot].id = id;
  names->slots[slot].hash = hash;
  names->slots[slot].start = start_of(text, length);
  return id;
}
