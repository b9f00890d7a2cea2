/* source.h: the text a program came from, and how an offset becomes a line and a column.
 *
 * A location (sl_loc) is a byte offset plus one; 0 means "no place". Line lookup is O(log lines); the table of lines is
 * built on the first lookup, so programs without diagnostics never pay for it.
 */
#ifndef SL_BASE_SOURCE_H
#define SL_BASE_SOURCE_H

#include <stdint.h>

#include "base/vec.h"

typedef uint32_t sl_loc;

enum { SL_NO_LOC = 0 };

typedef struct sl_source {
  sl_heap *heap;
  const char *name; /* as the caller gave it */
  const char *text; /* NUL-terminated copy, or NULL for programs built by the API */
  uint32_t length;
  sl_vec(uint32_t) lines; /* offset of the start of each line */
} sl_source;

typedef struct sl_place {
  uint32_t line, column; /* from 1; 0 when unknown */
} sl_place;

/* Copies name and text into the heap. */
void sl_source_init(sl_source *source, sl_heap *heap, const char *name, const char *text, size_t length);
sl_place sl_source_place(sl_source *source, sl_loc loc);
/* Copy of one line (from 1), NUL-terminated, without its end; NULL when unknown. */
char *sl_source_line(sl_source *source, sl_heap *heap, uint32_t line);

#endif
