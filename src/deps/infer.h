/* infer.h: dependences found from what instructions read and write. */
#ifndef SL_DEPS_INFER_H
#define SL_DEPS_INFER_H

#include "deps/edge.h"
#include "target/target.h"

/* What is asked for. */
enum sl_infer {
  SL_INFER_ALL,   /* every dependence, for people and judges */
  SL_INFER_ENOUGH /* of several instructions of one stream in one block only the latest, which retires last: for waits */
};

/* Appends an edge for every hazard of the kernel that no chain of other appended edges and executions in between makes
 * superfluous: flow, anti and output dependences between accesses that may overlap, with carrying block and least distance, and the
 * control order of register loads. Accesses that cannot be told apart (indirect ones, indices that hold registers, extents
 * that only the run knows) are taken to overlap. Requires a verified kernel, resolved against `target`, its copies
 * expanded. Near-linear for straight-line code; see infer.c. */
void sl_deps_infer(sl_edges *edges, sl_heap *heap, const sl_program *program, const struct sl_kernel *kernel,
                   const struct sl_target *target, enum sl_infer wanted);

#endif
