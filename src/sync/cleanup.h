/* cleanup.h: the clean-ups of register code that the published work names beside constant folding (regcode.h): common
 * subexpressions, loop-invariant motion, and few registers; and waits that an earlier one implies. Each keeps when every
 * instruction may issue. Near-linear in the code times its nesting depth.
 */
#ifndef SL_SYNC_CLEANUP_H
#define SL_SYNC_CLEANUP_H

#include "sync/regcode.h"

/* With `values`: a value that some register holds already is not computed again, later reads use that register. With `waits`:
 * a wait is dead when the engine has surely passed one on the same semaphore for the same value, or for a larger number.
 * Counters must not be reset in between. */
void sl_cleanup_common(struct sl_regcode *code, uint32_t sem_count, bool values, bool waits);

/* Temporaries whose operands a loop does not change are computed before it, as long as they take at most half of the registers
 * that counters leave of `registers`. Requires temporaries that are written once. Answers whether any moved. */
bool sl_cleanup_invariant(struct sl_regcode *code, uint32_t registers);

/* Puts temporaries that are never needed at the same time into one register: fills `color` (by vreg, from 1; 0: not a
 * temporary) and answers how many registers they take. Dead instructions do not count. */
uint32_t sl_cleanup_registers(const struct sl_regcode *code, uint32_t *color);

#endif
