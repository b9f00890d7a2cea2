/* input.c: see input.h. */
#include "run/input.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"

const char sl_only_conditions_are_random[] = "only the outcomes of an opaque condition can be random";

bool sl_random_outcome(uint64_t seed, const char *condition, uint64_t n)
{
  uint64_t start = sl_hash_mix(seed + sl_hash_bytes(condition, strlen(condition)) * 0x9e3779b97f4a7c15u);
  return sl_hash_mix(start + n * 0x9e3779b97f4a7c15u) & 1; /* splitmix64, at any position */
}

int64_t sl_input_value(const sluice_input *input, const char *name, uint64_t n)
{
  if (sl_input_is_random(input))
    return sl_random_outcome(input->seed, name, n);
  assert(input->count > 0);
  return input->values[n % input->count];
}
