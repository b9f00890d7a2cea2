/* findings.h: what the checker has to say, as text with places and witnesses. Strings are copied into the result's heap. */
#ifndef SL_CHECK_FINDINGS_H
#define SL_CHECK_FINDINGS_H

#include <sluice/check.h>

#include "check/choices.h"
#include "check/machine.h"

typedef struct sl_findings {
  sl_vec(sluice_finding) list;
  sl_map seen; /* hash of rule and place -> 1: each is said once */
  uint32_t errors;
  bool undecided;
} sl_findings;

/* What a finding is about. */
struct sl_finding_context {
  sl_heap *heap;
  sl_findings *findings;
  struct sl_machine *machine;
  struct sl_reference *reference;
  const struct sl_choices *choices;
  const struct sl_bound_inputs *inputs; /* of the reference, selected */
  sl_source *own_source, *other_source;
  const char *kernel;
  uint32_t row;
};

/* The end of a run that was not right: the machine's witness says why. */
void sl_finding_add_run(struct sl_finding_context *context, enum sl_run_status status);
/* A wait that is stronger than needed: rule "redundant", "loose" or "deletable". */
void sl_finding_add_wait(struct sl_finding_context *context, const char *rule, sl_index stmt, uint32_t wait);
/* Reasons to be undecided. */
void sl_finding_exhausted(struct sl_finding_context *context);
void sl_finding_not_judged(struct sl_finding_context *context);
void sl_finding_meaningless(struct sl_finding_context *context);
/* No run had an instance of a dependence whose distance is beyond what the choices make sure of. */
void sl_finding_untested(struct sl_finding_context *context, uint32_t need, uint32_t distance);

#endif
