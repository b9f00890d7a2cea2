/* generate.h: a byte string becomes a kernel, written as .slu text. The same bytes give the same text.
 *
 * Every choice takes one byte; when the bytes are used up every choice is 0, the simplest one. So shorter strings and
 * smaller bytes make smaller kernels, which is all that shrinking needs. Any byte string is good.
 */
#ifndef SL_TESTS_PROPERTY_GENERATE_H
#define SL_TESTS_PROPERTY_GENERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sl_generate_mode {
  SL_GENERATE_SYNTAX, /* every feature of the grammar; parses, but means nothing */
  SL_GENERATE_SYNC, /* verifies on target generic or generic-weak; explicit dependences, none backward at distance 0 */
  SL_GENERATE_TRANSFERS, /* the same on target trn2: queues that move large pieces at the same time */
  SL_GENERATE_HAND, /* small, synchronized by hand; most of them right */
  SL_GENERATE_AFFINE /* verifies on target generic or generic-weak; accesses, no dependence lines */
};

/* Accesses of SL_GENERATE_AFFINE lie within their buffers for all parameters up to this. */
enum { SL_AFFINE_MAX_PARAM = 4 };

/* NUL-terminated; free() it. Allocation failure aborts. */
char *sl_generate_text(enum sl_generate_mode mode, const uint8_t *bytes, size_t length);

/* Bytes of a seed, and how many of them: small kernels are the most frequent. */
enum { SL_GENERATE_MAX_BYTES = 400 };
size_t sl_generate_bytes(uint64_t seed, uint8_t bytes[SL_GENERATE_MAX_BYTES]);

/* splitmix64: the next number of a stream of them. */
uint64_t sl_generate_random(uint64_t *state);

/* Looks for a smaller byte string that still fails: chunks are taken out, bytes made smaller. Changes `bytes` in
 * place and returns the new length. `tries` bounds the calls of `fails`. */
size_t sl_generate_shrink(uint8_t *bytes, size_t length, bool (*fails)(void *user, const uint8_t *bytes, size_t length),
                          void *user, unsigned tries);

#endif
