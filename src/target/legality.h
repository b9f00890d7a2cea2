/* legality.h: whether a kernel is legal on its target: opcodes, engines, operands, attributes, memory, sizes,
 * shapes and limits. Everything is asked of the target's description. What depends on values that only the
 * run knows (registers, loop variables, parameters that are not `static`, `?`) is not judged.
 */
#ifndef SL_TARGET_LEGALITY_H
#define SL_TARGET_LEGALITY_H

#include "ir/program.h"
#include "target/target.h"

/* Checks one kernel that sl_verify_program accepts and sl_target_resolve has resolved. Returns SLUICE_OK;
 * SLUICE_E_INPUT when the kernel is not legal; SLUICE_E_ANSWER when it only exceeds limits of the target
 * ([E-limit]); all reported. O(size of the kernel) expected. */
int sl_legality_check(sl_program *program, struct sl_kernel *kernel, const struct sl_target *target, sl_report *report);

#endif
