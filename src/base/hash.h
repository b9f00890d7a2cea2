/* hash.h: hash functions of the library. Fixed seeds: the same input gives the same output on every run. */
#ifndef SL_BASE_HASH_H
#define SL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Finalizer of splitmix64 (Steele, Lea, Flood 2014): mixes all bits. */
static inline uint64_t sl_hash_mix(uint64_t x)
{
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  x ^= x >> 31;
  return x;
}

/* Four bytes, the first the lowest; compilers make one load of it. */
static inline uint32_t sl_load_four(const char *text)
{
  const uint8_t *byte = (const uint8_t *)text;
  return (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 | (uint32_t)byte[3] << 24;
}

/* Up to eight bytes as a number, the first byte the lowest: in loads that overlap, as copying a few bytes into a word and
 * reading the word waits for the copy. */
static inline uint64_t sl_load_few(const char *text, size_t length)
{
  if (length >= 4)
    return sl_load_four(text) | (uint64_t)sl_load_four(text + length - 4) << 8 * (length - 4);
  uint64_t word = 0;
  for (size_t i = 0; i < length; i++)
    word |= (uint64_t)(uint8_t)text[i] << 8 * i;
  return word;
}

/* Eight bytes at a time, mixed by multiplication. */
static inline uint32_t sl_hash_bytes(const char *text, size_t length)
{
  uint64_t hash = 0x9e3779b97f4a7c15u ^ length;
  while (length >= 8) {
    hash = (hash ^ sl_load_few(text, 8)) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
    text += 8;
    length -= 8;
  }
  return (uint32_t)sl_hash_mix(hash ^ sl_load_few(text, length));
}

#endif
