/* inferred.c: see inferred.h. */
#include "property/inferred.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deps/deps.h"
#include "property/promise.h"

struct inferring {
  struct sl_inferred *inferred;
  const sluice_targets *targets;
};

/* Under the program's guard. */
static int infer(void *arg)
{
  const struct inferring *inferring = arg;
  sluice_program *program = inferring->inferred->program;
  struct sl_kernel *kernel = sl_case_kernel(program);
  const struct sl_target *target = sl_target_find(inferring->targets, sl_text(program, kernel->target));
  sl_report report;
  sl_edges edges = { NULL, 0, 0 };
  sl_expand_copies(program, kernel);
  sl_report_init(&report, &program->heap, NULL, &program->source);
  int status = sl_deps_resolve(&edges, &program->heap, program, kernel, target, &report);
  inferring->inferred->edges = edges.data;
  inferring->inferred->edge_count = edges.len;
  inferring->inferred->hardware = sl_target_hardware(target);
  return status;
}

bool sl_inferred_init(struct sl_inferred *inferred, sluice_program *program, const sluice_targets *targets,
                      struct sl_failure *failure)
{
  struct inferring inferring = { inferred, targets };
  *inferred = (struct sl_inferred){ .program = program, .kernel = sl_case_kernel(program) };
  int status = sl_guard_run(&program->guard, infer, &inferring);
  return status == SLUICE_OK || sl_fail(failure, "inference fails", "status %d", status);
}

void sl_inferred_free(struct sl_inferred *inferred)
{
  sluice_program_free(inferred->program); /* and with its heap the edges */
}

uint32_t sl_inferred_params(const struct sl_inferred *inferred, unsigned run, uint64_t *random,
                            int64_t params[SL_JUDGE_MAX_INPUTS])
{
  struct sl_case test = { .original = inferred->program };
  uint32_t count = inferred->kernel->params.len;
  sl_case_default_params(&test);
  for (uint32_t p = 0; p < count; p++)
    params[p] = run ? (int64_t)(sl_generate_random(random) % (SL_AFFINE_MAX_PARAM + 1)) : test.params[p];
  return count;
}

void sl_inferred_close(const struct sl_inferred *inferred, const struct sl_trace *trace, struct sl_relation *promised)
{
  struct sl_relation waits = sl_relation_new(trace->count);
  for (uint32_t e = 0; e < inferred->edge_count; e++) {
    const struct sl_trace_list *consumers = &trace->of_stmt[inferred->edges[e].consumer];
    for (uint32_t i = 0; i < consumers->count; i++) {
      uint32_t needed = sl_edge_needs(trace, &inferred->edges[e], consumers->instances[i]);
      if (needed != SL_NO_INSTANCE)
        sl_relation_add(&waits, needed, consumers->instances[i]);
    }
  }
  sl_order_close(promised, &waits, trace, inferred->hardware);
  sl_relation_free(&waits);
}

void sl_inferred_describe(const struct sl_inferred *inferred, const struct sl_edge *edge, char *text, size_t size)
{
  sl_heap heap;
  sl_buf buf;
  sl_heap_init(&heap, &inferred->program->guard);
  sl_buf_init(&buf, &heap);
  sl_edge_print(&buf, inferred->program, inferred->kernel, edge);
  snprintf(text, size, "%s", sl_buf_text(&buf));
  sl_heap_free_all(&heap);
}
