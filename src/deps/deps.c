/* deps.c: see deps.h. */
#include "deps/deps.h"

#include "deps/explicit.h"
#include "deps/infer.h"
#include "deps/reduce.h"

static int resolve(sl_edges *edges, sl_heap *heap, sl_program *program, struct sl_kernel *kernel,
                   const struct sl_target *target, sl_report *report, enum sl_infer wanted)
{
  if (!kernel->is_explicit)
    sl_deps_infer(edges, heap, program, kernel, target, wanted);
  int status = sl_lines_resolve(edges, heap, program, kernel, report);
  if (status == SLUICE_OK)
    sl_lines_remove(edges, heap, program, kernel, report);
  return status;
}

int sl_deps_resolve(sl_edges *edges, sl_heap *heap, sl_program *program, struct sl_kernel *kernel,
                    const struct sl_target *target, sl_report *report)
{
  return resolve(edges, heap, program, kernel, target, report, SL_INFER_ALL);
}

int sl_deps_resolve_enough(sl_edges *edges, sl_heap *heap, sl_program *program, struct sl_kernel *kernel,
                           const struct sl_target *target, sl_report *report)
{
  return resolve(edges, heap, program, kernel, target, report, SL_INFER_ENOUGH);
}

void sl_deps_drop_implied(sl_edges *edges, sl_heap *heap, const sl_program *program, const struct sl_kernel *kernel,
                          const struct sl_target *target)
{
  if (kernel->is_explicit)
    return;
  sl_heap *scratch = sl_heap_child_new(heap);
  sl_reductions reductions = { 0 };
  sl_deps_reduce(&reductions, scratch, program, kernel, target, edges);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < edges->len; i++)
    if (sl_reduced_is_kept(&reductions.edges[i]))
      edges->data[kept++] = edges->data[i];
  edges->len = kept;
  sl_heap_child_free(scratch);
}

int sl_deps_resolve_reduced(sl_edges *edges, sl_heap *heap, sl_program *program, struct sl_kernel *kernel,
                            const struct sl_target *target, sl_report *report)
{
  int status = sl_deps_resolve_enough(edges, heap, program, kernel, target, report);
  if (status == SLUICE_OK)
    sl_deps_drop_implied(edges, heap, program, kernel, target);
  return status;
}
