/* buf.h: a growing string. */
#ifndef SL_BASE_BUF_H
#define SL_BASE_BUF_H

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/heap.h"

typedef struct sl_buf {
  sl_heap *heap;
  char *data; /* not NUL-terminated until sl_buf_text */
  size_t len, cap;
} sl_buf;

void sl_buf_init(sl_buf *buf, sl_heap *heap);
/* What sl_buf_reserve does when there is no room. */
void sl_buf_grow(sl_buf *buf, size_t more);

/* Makes room for `more` bytes. */
static inline void sl_buf_reserve(sl_buf *buf, size_t more)
{
  if (buf->cap - buf->len < more)
    sl_buf_grow(buf, more);
}

/* Inline, so that text of known length, which most is, takes no call. */
static inline void sl_buf_add(sl_buf *buf, const char *text, size_t length)
{
  if (!length)
    return;
  sl_buf_reserve(buf, length);
  memcpy(buf->data + buf->len, text, length);
  buf->len += length;
}

static inline void sl_buf_puts(sl_buf *buf, const char *text)
{
  sl_buf_add(buf, text, strlen(text));
}

static inline void sl_buf_putc(sl_buf *buf, char c)
{
  sl_buf_reserve(buf, 1);
  buf->data[buf->len++] = c;
}

void sl_buf_fill(sl_buf *buf, char c, size_t count);
void sl_buf_int(sl_buf *buf, int64_t value);
__attribute__((format(printf, 2, 3))) void sl_buf_printf(sl_buf *buf, const char *format, ...);
void sl_buf_vprintf(sl_buf *buf, const char *format, va_list args);
/* The text so far, NUL-terminated; owned by the buffer. */
const char *sl_buf_text(sl_buf *buf);
/* The text as memory of malloc, for callers outside the library (sluice_string_free). The buffer is empty afterwards. */
char *sl_buf_export(sl_buf *buf);

#endif
