/* hash.h: hash functions of the library. Fixed seeds: the same input gives the same output on every run. */
#ifndef SL_BASE_HASH_H
#define SL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* Eight bytes at a time, mixed by multiplication. */
static inline uint32_t sl_hash_bytes(const char *text, size_t length)
{
  uint64_t hash = 0x9e3779b97f4a7c15u ^ length;
  while (length >= 8) {
    uint64_t word;
    memcpy(&word, text, 8);
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
    text += 8;
    length -= 8;
  }
  uint64_t word = 0;
  memcpy(&word, text, length);
  return (uint32_t)sl_hash_mix(hash ^ word);
}

#endif
