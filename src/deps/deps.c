/* deps.c: see deps.h. */
#include "deps/deps.h"

#include "deps/explicit.h"
#include "deps/infer.h"

int sl_deps_resolve(sl_edges *edges, sl_heap *heap, sl_program *program, struct sl_kernel *kernel,
                    const struct sl_target *target, sl_report *report)
{
  if (!kernel->is_explicit)
    sl_deps_infer(edges, heap, program, kernel, target);
  int status = sl_lines_resolve(edges, heap, program, kernel, report);
  if (status == SLUICE_OK)
    sl_lines_remove(edges, heap, program, kernel, report);
  return status;
}
