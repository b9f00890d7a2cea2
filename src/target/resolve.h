/* resolve.h: what a kernel's streams are on a target. */
#ifndef SL_TARGET_RESOLVE_H
#define SL_TARGET_RESOLVE_H

#include "ir/program.h"
#include "target/target.h"

/* Fills engine and trigger of every stream of the kernel. A queue without `via` gets the target's default trigger; an engine
 * that only triggers queues becomes a stream too. Reports unknown engines [engine], triggers that are unknown or may not
 * trigger [queue], and queues that are named like an engine [redefined]. May be called again, after streams were added or with
 * another target. Returns SLUICE_OK or SLUICE_E_INPUT. O(streams). */
int sl_target_resolve(sl_program *program, struct sl_kernel *kernel, const struct sl_target *target, sl_report *report);

#endif
