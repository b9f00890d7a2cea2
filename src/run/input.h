/* input.h: what a caller fixes of a run: a list of values that starts again at its end, or outcomes drawn at random. */
#ifndef SL_RUN_INPUT_H
#define SL_RUN_INPUT_H

#include <sluice/check.h>

static inline bool sl_input_is_random(const sluice_input *input)
{
  return !input->values;
}

/* Outcome number n of a condition: a function of these three alone, so every engine, and every tool, draws the same. */
bool sl_random_outcome(uint64_t seed, const char *condition, uint64_t n);

/* Value number n of an input for `name`. */
int64_t sl_input_value(const sluice_input *input, const char *name, uint64_t n);

/* Why `random` is refused for what is no condition; for messages. */
extern const char sl_only_conditions_are_random[];

#endif
