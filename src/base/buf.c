/* buf.c: see buf.h. */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sl_buf_init(sl_buf *buf, sl_heap *heap)
{
  memset(buf, 0, sizeof *buf);
  buf->heap = heap;
}

void sl_buf_grow(sl_buf *buf, size_t more)
{
  if (more > SIZE_MAX / 4 - buf->len)
    sl_guard_fail(buf->heap->guard);
  size_t wanted = buf->cap ? buf->cap * 2 : 128;
  if (wanted < buf->len + more)
    wanted = buf->len + more;
  buf->data = sl_heap_realloc(buf->heap, buf->data, wanted);
  buf->cap = wanted;
}

void sl_buf_fill(sl_buf *buf, char c, size_t count)
{
  if (!count)
    return;
  sl_buf_reserve(buf, count);
  memset(buf->data + buf->len, c, count);
  buf->len += count;
}

void sl_buf_int(sl_buf *buf, int64_t value)
{
  char digits[24];
  char *end = digits + sizeof digits, *p = end;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do {
    *--p = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest);
  if (value < 0)
    *--p = '-';
  sl_buf_add(buf, p, (size_t)(end - p));
}

void sl_buf_vprintf(sl_buf *buf, const char *format, va_list args)
{
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  if (length > 0) {
    sl_buf_reserve(buf, (size_t)length + 1);
    vsnprintf(buf->data + buf->len, (size_t)length + 1, format, again);
    buf->len += (size_t)length;
  }
  va_end(again);
}

void sl_buf_printf(sl_buf *buf, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  sl_buf_vprintf(buf, format, args);
  va_end(args);
}

const char *sl_buf_text(sl_buf *buf)
{
  sl_buf_reserve(buf, 1);
  buf->data[buf->len] = '\0';
  return buf->data;
}

char *sl_buf_export(sl_buf *buf)
{
  (void)sl_buf_text(buf);
  char *text = sl_heap_detach(buf->heap, buf->data, buf->len + 1);
  sl_buf_init(buf, buf->heap);
  return text;
}
