/* utf8.h: well-formed UTF-8, as Unicode's table 3-7 has it. */
#ifndef SL_BASE_UTF8_H
#define SL_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the sequence at the start of a text of length >= 1; 0 when it is not well-formed. */
static inline size_t sl_utf8_length(const char *text, size_t length)
{
  const uint8_t *byte = (const uint8_t *)text;
  uint8_t first = byte[0];
  size_t need = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (need == 0 || need > length)
    return 0;
  for (size_t i = 1; i < need; i++)
    if ((byte[i] & 0xc0) != 0x80)
      return 0;
  bool overlong = (first == 0xe0 && byte[1] < 0xa0) || (first == 0xf0 && byte[1] < 0x90);
  bool surrogate = first == 0xed && byte[1] > 0x9f, beyond = first == 0xf4 && byte[1] > 0x8f;
  return overlong || surrogate || beyond ? 0 : need;
}

#endif
