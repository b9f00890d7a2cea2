/* names.h: interned strings. Equal strings have equal ids, so names compare as integers and index arrays.
 * Id 0 is "no name". Lookup is O(length) expected; the table is never shrunk.
 */
#ifndef SL_BASE_NAMES_H
#define SL_BASE_NAMES_H

#include <stdint.h>

#include "base/vec.h"

typedef uint32_t sl_name;

/* A slot holds short names whole, so that looking one up costs one cache line and not four. */
struct sl_name_slot {
  sl_name id; /* 0 = free */
  uint32_t hash;
  uint64_t start; /* up to 7 bytes of the name and above them its length, or its first 7 bytes and 8 */
};

struct sl_name_entry {
  uint32_t start, length;
};

typedef struct sl_names {
  sl_vec(char) text; /* every name, NUL-terminated, one after another */
  struct sl_name_entry *entries;
  uint32_t len, cap;
  struct sl_name_slot *slots; /* open addressing */
  uint32_t slot_count;
} sl_names;

void sl_names_init(sl_names *names, sl_heap *heap);
void sl_names_copy(sl_names *to, sl_heap *heap, const sl_names *from);
/* The id of a string, made if it is new. */
sl_name sl_names_add(sl_names *names, sl_heap *heap, const char *text, size_t length);
/* Says that a string will be looked up soon: only a hint. */
void sl_names_expect(const sl_names *names, const char *text, size_t length);
/* The id of a string, or 0 when it was never added. */
sl_name sl_names_find(const sl_names *names, const char *text, size_t length);

static inline const char *sl_names_text(const sl_names *names, sl_name name)
{
  return name ? names->text.data + names->entries[name].start : "";
}
static inline uint32_t sl_names_length(const sl_names *names, sl_name name)
{
  return name ? names->entries[name].length : 0;
}

#endif
