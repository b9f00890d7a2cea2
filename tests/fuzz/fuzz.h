/* fuzz.h: what the fuzz entries share. */
#ifndef SL_TESTS_FUZZ_H
#define SL_TESTS_FUZZ_H

#include <sluice/sluice.h>

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The built-in targets, read-only after they are made; the process ends with them. */
static inline const sluice_targets *fuzz_targets(void)
{
  static sluice_targets *targets;
  if (!targets && sluice_targets_new(&targets) != SLUICE_OK)
    abort();
  return targets;
}

/* The input as a program that verifies; NULL when it is none. To be freed. */
static inline sluice_program *read_verified(const uint8_t *data, size_t size)
{
  sluice_program *program;
  if (sluice_program_parse(&program, "input", (const char *)data, size, NULL) != SLUICE_OK)
    return NULL;
  if (sluice_program_verify(program, fuzz_targets(), NULL) == SLUICE_OK)
    return program;
  sluice_program_free(program);
  return NULL;
}

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
