/* fuzz.h: what the fuzz entries share. */
#ifndef SL_TESTS_FUZZ_H
#define SL_TESTS_FUZZ_H

#include <sluice/sluice.h>

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A sink that counts errors (`user`: a size_t) and makes every diagnostic a text. */
static inline void count_error(void *user, const sluice_diag *diag)
{
  size_t *errors = user;
  char *text;
  if (diag->severity == SLUICE_ERROR)
    ++*errors;
  if (sluice_diag_format(&text, diag) != SLUICE_OK)
    abort();
  sluice_string_free(text);
}

#endif
