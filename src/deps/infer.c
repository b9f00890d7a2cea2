/* infer.c: see infer.h. */
#include "deps/infer.h"

void sl_deps_infer(sl_edges *edges, sl_heap *heap, const sl_program *program, const struct sl_kernel *kernel,
                   const struct sl_target *target)
{
  (void)edges, (void)heap, (void)program, (void)kernel, (void)target;
}
