/* generate.c: bytes, choices and shrinking; the kernels themselves are made by
 * generate_syntax.c, generate_sync.c, generate_hand.c and generate_affine.c. */
#include "property/generate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "property/text.h"

unsigned sl_choose(struct sl_choices *choices, unsigned count)
{
  return choices->used < choices->length ? choices->bytes[choices->used++] % count : 0;
}

bool sl_chance(struct sl_choices *choices, unsigned in)
{
  return sl_choose(choices, in) == in - 1 && in > 1;
}

static void reserve(struct sl_text *text, size_t more)
{
  if (text->capacity - text->length > more)
    return;
  text->capacity = 2 * text->capacity + more + 64;
  text->data = realloc(text->data, text->capacity);
  if (!text->data)
    abort();
}

void sl_text_puts(struct sl_text *text, const char *string)
{
  size_t length = strlen(string);
  reserve(text, length);
  memcpy(text->data + text->length, string, length + 1);
  text->length += length;
}

void sl_text_printf(struct sl_text *text, const char *format, ...)
{
  char piece[512];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(piece, sizeof piece, format, args);
  va_end(args);
  if (length < 0 || (size_t)length >= sizeof piece)
    abort();
  sl_text_puts(text, piece);
}

void sl_text_indent(struct sl_text *text, unsigned depth)
{
  for (unsigned i = 0; i < depth; i++)
    sl_text_puts(text, "  ");
}

char *sl_generate_text(enum sl_generate_mode mode, const uint8_t *bytes, size_t length)
{
  struct sl_choices choices = { bytes, length, 0 };
  struct sl_text text = { NULL, 0, 0 };
  sl_text_puts(&text, "");
  if (mode == SL_GENERATE_SYNTAX)
    sl_generate_syntax(&text, &choices);
  else if (mode == SL_GENERATE_HAND)
    sl_generate_hand(&text, &choices);
  else if (mode == SL_GENERATE_AFFINE)
    sl_generate_affine(&text, &choices);
  else if (mode == SL_GENERATE_TRANSFERS)
    sl_generate_transfers(&text, &choices);
  else
    sl_generate_sync(&text, &choices);
  return text.data;
}

uint64_t sl_generate_random(uint64_t *state)
{
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

size_t sl_generate_bytes(uint64_t seed, uint8_t bytes[SL_GENERATE_MAX_BYTES])
{
  uint64_t state = seed;
  size_t limit = sl_generate_random(&state) % 4 ? 200 : SL_GENERATE_MAX_BYTES;
  size_t length = 30 + sl_generate_random(&state) % (limit - 30);
  for (size_t i = 0; i < length; i++)
    bytes[i] = (uint8_t)(sl_generate_random(&state) >> 32);
  return length;
}

/* ---- shrinking ---- */

struct shrinking {
  uint8_t *bytes, *candidate;
  size_t length;
  bool (*fails)(void *user, const uint8_t *bytes, size_t length);
  void *user;
  unsigned tries;
};

static bool accept(struct shrinking *state, size_t length)
{
  if (state->tries == 0)
    return false;
  state->tries--;
  if (!state->fails(state->user, state->candidate, length))
    return false;
  memcpy(state->bytes, state->candidate, length);
  state->length = length;
  return true;
}

static bool take_out(struct shrinking *state, size_t at, size_t count)
{
  memcpy(state->candidate, state->bytes, at);
  memcpy(state->candidate + at, state->bytes + at + count, state->length - at - count);
  return accept(state, state->length - count);
}

static bool lower(struct shrinking *state, size_t at, uint8_t value)
{
  memcpy(state->candidate, state->bytes, state->length);
  state->candidate[at] = value;
  return accept(state, state->length);
}

static bool shrink_round(struct shrinking *state)
{
  bool progress = false;
  for (size_t count = state->length / 2; count > 0; count /= 2) {
    for (size_t at = 0; at + count <= state->length;) {
      if (take_out(state, at, count))
        progress = true;
      else
        at += count;
    }
  }
  for (size_t at = 0; at < state->length; at++) {
    uint8_t old = state->bytes[at];
    if (old && (lower(state, at, 0) || (old > 1 && lower(state, at, old / 2)) || lower(state, at, (uint8_t)(old - 1))))
      progress = true;
  }
  return progress;
}

size_t sl_generate_shrink(uint8_t *bytes, size_t length, bool (*fails)(void *user, const uint8_t *bytes, size_t length),
                          void *user, unsigned tries)
{
  struct shrinking state = { bytes, malloc(length ? length : 1), length, fails, user, tries };
  if (!state.candidate)
    abort();
  while (state.tries && shrink_round(&state)) {
  }
  free(state.candidate);
  return state.length;
}
