/* judge.h: one synchronized kernel with fixed inputs before both judges: the checker and the explorer of tests/oracle.
 */
#ifndef SL_TESTS_PROPERTY_JUDGE_H
#define SL_TESTS_PROPERTY_JUDGE_H

#include <sluice/check.h>

#include "oracle/explore.h"
#include "property/campaign.h"
#include "target/target.h"

enum { SL_JUDGE_MAX_INPUTS = 64 };

struct sl_case {
  const sluice_targets *targets;
  sluice_program *original, *program; /* what gives the dependences, and what is judged; one kernel each */
  int64_t params[SL_JUDGE_MAX_INPUTS];
  uint64_t opaque_seed;
  struct sl_oracle_inputs inputs; /* of both judges; set by sl_case_start */
  struct sl_oracle_reference reference;
  struct sl_explore_options options;
};

static inline struct sl_kernel *sl_case_kernel(const sluice_program *program)
{
  return program->kernels.data[0];
}

/* What a target orders without waits. */
struct sl_oracle_hardware sl_target_hardware(const struct sl_target *target);

/* A verified program; NULL after a failure. */
sluice_program *sl_read_program(const sluice_targets *targets, const char *text, struct sl_failure *failure);
/* The same, read from what another program prints as, so that everything in it has a place in the text. */
sluice_program *sl_read_again(const sluice_targets *targets, const sluice_program *program, struct sl_failure *failure);

/* A kernel with what is found in it written as lines: oracles read nothing else. Takes over a program of one kernel, whose
 * instructions have labels; an `explicit` one is left as it is. NULL after a failure. */
sluice_program *sl_state_dependences(const sluice_targets *targets, sluice_program *program,
                                     struct sl_failure *failure);

/* Whether one opaque condition stands at two places: the checker then gives both one sequence, the oracle does not. Loops
 * that were unrolled repeat theirs. */
bool sl_case_repeats_a_condition(const sluice_program *program);
/* The values the original declares for its parameters. */
void sl_case_default_params(struct sl_case *test);
/* Makes the reference for params and opaque_seed, and the explorer's options for the target. To be freed only when it
 * answers OK. */
enum sl_reference_status sl_case_start(struct sl_case *test, uint32_t instance_limit);
void sl_case_end(struct sl_case *test);

void sl_case_explore(const struct sl_case *test, const struct sl_explore_options *options,
                     struct sl_explored *explored);
/* Asks the checker for the same inputs; NULL after a failure. `against`: dependences from the original. */
sluice_check_result *sl_case_check(const struct sl_case *test, bool against, bool judge_waits,
                                   struct sl_failure *failure);

enum sl_answer {
  SL_ANSWER_OK,
  SL_ANSWER_FAULT,
  SL_ANSWER_DECLARED, /* undecided, for a use of semaphores that is documented as such */
  SL_ANSWER_UNDECIDED
};
/* The checker's answer, with its last finding; of a fault the rule is the name of its kind. */
enum sl_answer sl_check_answer(const sluice_check_result *result, const char **rule, const char **text);
/* Whether the wait of the judged program is reported by a rule. */
bool sl_case_reports(const struct sl_case *test, const sluice_check_result *result, const char *rule, uint32_t wait);
/* "ok", "race or leak", ... */
void sl_name_faults(unsigned faults, char *text, size_t size);
/* What the explorer says about its first fault. */
const char *sl_first_fault_text(const struct sl_explored *explored);

#endif
