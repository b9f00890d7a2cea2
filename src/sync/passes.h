/* passes.h: the passes of synchronization, called in order by sync.c. Each works on one kernel of the output program. */
#ifndef SL_SYNC_PASSES_H
#define SL_SYNC_PASSES_H

#include <sluice/sync.h>

#include "deps/deps.h"
#include "target/target.h"

/* strip.c: whether a kernel carries synchronization, and taking it out: waits, updates, semaphores, events, `barrier reset`,
 * epilogue, unlabelled nops, and register operations that only fed waits. A plain `barrier` stays: it is the author's. */
bool sl_has_synchronization(const struct sl_kernel *kernel, sl_loc *where);
void sl_strip_synchronization(sl_program *program, struct sl_kernel *kernel);
/* The registers that stay then, as a set of names: those that bounds, conditions and operands name, and what they come from. */
void sl_find_own_registers(sl_map *own, sl_heap *heap, const struct sl_kernel *kernel);

/* Which instructions share a semaphore: those of one block and stream, none, those of one stream; or as few as there are
 * semaphores for (plan.c). */
enum sl_sharing { SL_SHARE_BLOCK, SL_SHARE_NOTHING, SL_SHARE_STREAM, SL_SHARE_SPARINGLY };

/* What a strategy works on. */
struct sl_allocation {
  sl_program *program;
  struct sl_kernel *kernel;
  const struct sl_target *target;
  sl_report *report;
  const char *strategy; /* its name, for messages */
  enum sl_sharing sharing;
  unsigned cleanups; /* enum sluice_cleanup */
  /* The dependences to be enforced, and the heap they are on: given away, the strategy works on it and ends it. */
  sl_heap *heap;
  sl_edges edges;
};

/* unroll.c: writes out every loop; see there. Returns SLUICE_OK, SLUICE_E_INPUT or SLUICE_E_ANSWER (reported). */
int sl_unroll_all(sl_program *program, struct sl_kernel *kernel, const struct sl_target *target, sl_report *report);

/* unroll_factor.c: carries out `unroll c` requests; what cannot be done is kept, with a warning. */
void sl_unroll_requested(sl_program *program, struct sl_kernel *kernel, sl_report *report);

/* shadow.c, closed_form.c, barrier.c: the strategies. Return SLUICE_OK, SLUICE_E_INPUT or SLUICE_E_ANSWER (reported). The closed
 * form cannot share a semaphore per stream; barriers always do. */
int sl_allocate_shadow(const struct sl_allocation *allocation);
int sl_allocate_closed_form(const struct sl_allocation *allocation);
/* The published rule for its registers per engine: see sluice_published_registers. Copies are expanded. */
void sl_count_published_registers(uint64_t *count, const struct sl_allocation *allocation);
int sl_allocate_barrier(const struct sl_allocation *allocation);

/* finish.c: the epilogue, and the limits of the target. */
/* A bound on the executions of a statement when every trip count around it is a number; UINT64_MAX when one is not. */
uint64_t sl_most_executions(const struct sl_kernel *kernel, sl_index stmt);
void sl_add_epilogue(struct sl_kernel *kernel);
int sl_check_limits(sl_program *program, struct sl_kernel *kernel, const struct sl_target *target, sl_report *report);

#endif
