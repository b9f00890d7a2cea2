/* passes.h: the passes of synchronization, called in order by sync.c. Each works on one kernel of the output program. */
#ifndef SL_SYNC_PASSES_H
#define SL_SYNC_PASSES_H

#include <sluice/sync.h>

#include "ir/ir.h"
#include "target/target.h"

/* strip.c: whether a kernel carries synchronization, and taking it out: waits, updates, semaphores, events, `barrier reset`,
 * epilogue, unlabelled nops, and register operations that only fed waits. A plain `barrier` stays: it is the author's. */
bool sl_has_synchronization(const struct sl_kernel *kernel, sl_loc *where);
void sl_strip_synchronization(sl_program *program, struct sl_kernel *kernel);

/* shadow.c, per_loop.c, barrier.c: the strategies. Return SLUICE_OK, SLUICE_E_INPUT or SLUICE_E_ANSWER (reported). */
int sl_allocate_shadow(sl_program *program, struct sl_kernel *kernel, const struct sl_target *target, sl_report *report);
int sl_allocate_per_loop(sl_program *program, struct sl_kernel *kernel, const struct sl_target *target,
                         sl_report *report);
int sl_allocate_barrier(sl_program *program, struct sl_kernel *kernel, const struct sl_target *target, sl_report *report);

/* finish.c: the epilogue, and the limits of the target. */
void sl_add_epilogue(struct sl_kernel *kernel);
int sl_check_limits(sl_program *program, struct sl_kernel *kernel, const struct sl_target *target, sl_report *report);

#endif
