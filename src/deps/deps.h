/* deps.h: the dependences of a kernel: found from its accesses and stated by its lines. What strategies, checker and
 * simulator ask; the parts are infer.h (accesses), explicit.h (lines) and reduce.h (which ones others imply).
 */
#ifndef SL_DEPS_DEPS_H
#define SL_DEPS_DEPS_H

#include "deps/edge.h"
#include "target/target.h"

/* Appends the dependences of a kernel whose copies are expanded and that is verified and resolved against `target`:
 * of an `explicit` kernel its lines, of others what its accesses ask for and what lines add; `nodep` lines take away. Nothing
 * is reduced. Reports what is wrong with lines; returns SLUICE_OK or SLUICE_E_INPUT. */
int sl_deps_resolve(sl_edges *edges, sl_heap *heap, sl_program *program, struct sl_kernel *kernel,
                    const struct sl_target *target, sl_report *report);

/* The same, but of what is found as little as says it all (SL_INFER_ENOUGH): for making waits, not for showing or judging. */
int sl_deps_resolve_enough(sl_edges *edges, sl_heap *heap, sl_program *program, struct sl_kernel *kernel,
                           const struct sl_target *target, sl_report *report);

/* Takes the edges away that others imply (reduce.h); of an `explicit` kernel none, its lines are taken as they stand. */
void sl_deps_drop_implied(sl_edges *edges, sl_heap *heap, const sl_program *program, const struct sl_kernel *kernel,
                          const struct sl_target *target);
/* Both, for making waits. */
int sl_deps_resolve_reduced(sl_edges *edges, sl_heap *heap, sl_program *program, struct sl_kernel *kernel,
                            const struct sl_target *target, sl_report *report);

#endif
