/* statics.h: the values of `static` parameters where dependences are found for a run.
 *
 * Which dependences a kernel has may depend on them: a trip count decides whether a rotation of buffers goes on from one visit of
 * a loop to the next. So they have to be found for the values that the run has, not for the defaults of the file.
 */
#ifndef SL_RUN_STATICS_H
#define SL_RUN_STATICS_H

#include "ir/ir.h"

/* Gives parameter number `param` another default. */
void sl_static_set(struct sl_kernel *kernel, uint32_t param, int64_t value);

/* Gives the `static` parameters of `giving`, a kernel of `other` that dependences are taken from, the values of those of
 * that name in the kernel that runs. */
void sl_statics_agree(sl_heap *scratch, const sl_program *program, const struct sl_kernel *kernel,
                      const sl_program *other, struct sl_kernel *giving);

#endif
