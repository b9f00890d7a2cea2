/* campaign.h: what the property tests share: options, collected diagnostics, one generated kernel after another, and
 * what to do with one that fails: shrink it and print it.
 */
#ifndef SL_TESTS_PROPERTY_CAMPAIGN_H
#define SL_TESTS_PROPERTY_CAMPAIGN_H

#include <sluice/sluice.h>

#include "property/generate.h"

struct sl_campaign {
  uint64_t seed;  /* of the campaign; kernel n has seed + n */
  uint64_t count; /* kernels to try */
  bool long_run;
  bool only_one;      /* --one: the kernel of `seed` alone, printed */
  const char *source; /* directory with .slu files */
  uint64_t seconds;   /* CPU time for generated kernels */
  uint64_t untried;   /* kernels left when it ran out; the test is then undecided: exit code 3 */
};

/* --seed N, --count N, --seconds N, --long, --one SEED, DIRECTORY. Prints usage and exits with 2 when they make no sense. */
void sl_campaign_options(struct sl_campaign *campaign, int argc, char **argv, uint64_t count, uint64_t long_count);

/* What went wrong with one kernel. */
struct sl_failure {
  char kind[64]; /* short: shrinking keeps it */
  char text[1000];
};
/* Notes the failure and returns false; the first one stays. */
__attribute__((format(printf, 3, 4))) bool sl_fail(struct sl_failure *failure, const char *kind, const char *format,
                                                   ...);

/* A sink that keeps the first error, and whether a vector was cut: then waits may be stronger than the dependences. */
struct sl_messages {
  char first[400];
  bool has_cut;
};
sluice_sink sl_messages_sink(struct sl_messages *messages);

/* Reads a file, NUL-terminated; NULL when it cannot. free() it. */
char *sl_read_file(const char *path, size_t *length);
/* Calls fn for every .slu file below a directory, in name order; hidden directories and build directories are
 * skipped. */
void sl_each_slu(const char *directory, void (*fn)(void *user, const char *path), void *user);

/* The property of one kernel. `seed` decides everything that is not the kernel. */
typedef bool (*sl_property)(void *user, const char *text, uint64_t seed, struct sl_failure *failure);

/* Tries `campaign->count` kernels; returns the number that failed (it stops after a few). */
unsigned sl_campaign_run(struct sl_campaign *campaign, enum sl_generate_mode mode, sl_property property, void *user);

/* The exit code for so many failures. */
int sl_campaign_exit_code(const struct sl_campaign *campaign, unsigned failed);

#endif
