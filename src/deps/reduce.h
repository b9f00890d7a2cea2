/* reduce.h: which dependences others and the order of the streams imply. */
#ifndef SL_DEPS_REDUCE_H
#define SL_DEPS_REDUCE_H

#include "deps/edge.h"
#include "target/target.h"

enum sl_reduction {
  SL_REDUCE_KEPT,
  SL_REDUCE_HARDWARE, /* the hardware orders its ends */
  SL_REDUCE_SAME,     /* another edge of the same ends says as much */
  SL_REDUCE_IMPLIED,  /* other edges and the order of the streams say as much */
  SL_REDUCE_SPILLED   /* kept although others say as much: a buffer marked `spilled` takes part */
};

/* The most edges of a path that are told; of a longer one the last ones, those next to the consumer. */
enum { SL_REDUCE_PATH_MAX = 16 };

/* Of one edge: why it is kept or not, and the other edges that imply it, in order of the path from producer to consumer:
 * of SAME the one edge, of IMPLIED none when the order of the streams is enough. */
struct sl_reduced {
  uint8_t what;          /* enum sl_reduction */
  uint32_t first, count; /* into sl_reductions.paths */
};

typedef struct sl_reductions {
  struct sl_reduced *edges; /* one per edge */
  sl_vec(uint32_t) paths;   /* indices of edges */
} sl_reductions;

/* Decides for each edge. Requires copies expanded and no deadlock at distance 0 (sl_deps_resolve refuses them). Edges that
 * are not kept may be dropped all at once: what happens before what stays as it is. */
void sl_deps_reduce(sl_reductions *out, sl_heap *heap, const sl_program *program, const struct sl_kernel *kernel,
                    const struct sl_target *target, const sl_edges *edges);

/* Whether the edge has to be enforced by waits. */
static inline bool sl_reduced_is_kept(const struct sl_reduced *reduced)
{
  return reduced->what == SL_REDUCE_KEPT || reduced->what == SL_REDUCE_SPILLED;
}

#endif
