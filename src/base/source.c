/* source.c: see source.h. */
#include "base/source.h"

#include <string.h>

void sl_source_init(sl_source *source, sl_heap *heap, const char *name, const char *text, size_t length)
{
  memset(source, 0, sizeof *source);
  source->heap = heap;
  source->name = sl_heap_strndup(heap, name, strlen(name));
  if (text) {
    char *copy = sl_heap_alloc(heap, length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    source->text = copy;
    source->length = (uint32_t)length;
  }
}

static void find_lines(sl_source *source)
{
  sl_vec_add(source->heap, &source->lines, 0);
  const char *at = source->text, *end = source->text + source->length;
  while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
    at++;
    sl_vec_add(source->heap, &source->lines, (uint32_t)(at - source->text));
  }
}

sl_place sl_source_place(sl_source *source, sl_loc loc)
{
  sl_place place = { 0, 0 };
  if (loc == SL_NO_LOC || !source->text)
    return place;
  if (!source->lines.len)
    find_lines(source);
  uint32_t offset = loc - 1, low = 0, high = source->lines.len;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (source->lines.data[middle] <= offset)
      low = middle;
    else
      high = middle;
  }
  place.line = low + 1;
  place.column = offset - source->lines.data[low] + 1;
  return place;
}

char *sl_source_line(sl_source *source, sl_heap *heap, uint32_t line)
{
  if (!source->text || line == 0)
    return NULL;
  if (!source->lines.len)
    find_lines(source);
  if (line > source->lines.len)
    return NULL;
  const char *start = source->text + source->lines.data[line - 1];
  const char *stop = memchr(start, '\n', (size_t)(source->text + source->length - start));
  size_t length = stop ? (size_t)(stop - start) : (size_t)(source->text + source->length - start);
  while (length && start[length - 1] == '\r')
    length--;
  return sl_heap_strndup(heap, start, length);
}
