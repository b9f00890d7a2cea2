/* sync.c: the pipeline of synchronization: sluice_sync and the tables of strategies and passes.
 *
 * Works on a copy of the input, kernel by kernel, so that the input is never half changed. Every pass reports its own
 * errors; the first pass that fails ends the call.
 */
#define _XOPEN_SOURCE 700 /* clock_gettime */
#include <sluice/sync.h>

#include <assert.h>
#include <stdlib.h>
#include <time.h>

#include "ir/verify.h"
#include "sync/passes.h"
#include "target/legality.h"

static const sluice_strategy strategies[] = {
  { SLUICE_ALLOC_SHADOW, "shadow", "shadow counters and delay lines: every carrying loop and distance (default)" },
  { SLUICE_ALLOC_PER_LOOP, "per-loop", "the published closed form: one semaphore per loop and stream" },
  { SLUICE_ALLOC_PER_INSTRUCTION, "per-instruction", "the published closed form: one semaphore per awaited instruction" },
  { SLUICE_ALLOC_PER_ENGINE, "per-engine", "shadow counters with one semaphore per stream" },
  { SLUICE_ALLOC_UNROLL, "unroll", "loops with static trip counts written out, thresholds are numbers" },
  { SLUICE_ALLOC_BARRIER, "barrier", "all engines meet at every loop arrival and iteration end" },
};

const sluice_strategy *sluice_strategies(size_t *count)
{
  *count = sizeof strategies / sizeof *strategies;
  return strategies;
}

static const char *name_of(enum sluice_alloc alloc)
{
  for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++)
    if (strategies[i].alloc == alloc)
      return strategies[i].name;
  return "?";
}

static const sluice_cleanup_row cleanups[] = {
  { SLUICE_CLEANUP_FOLD, "fold", "constant folding and propagation" },
  { SLUICE_CLEANUP_COMMON, "cse", "common subexpressions (implies registers)" },
  { SLUICE_CLEANUP_INVARIANT, "licm", "loop-invariant motion (implies registers)" },
  { SLUICE_CLEANUP_DEAD, "dead", "counters and registers that no wait needs" },
  { SLUICE_CLEANUP_WAITS, "waits", "waits that an earlier one of the same engine implies" },
  { SLUICE_CLEANUP_REGISTERS, "registers", "temporaries share registers" },
};

const sluice_cleanup_row *sluice_cleanups(size_t *count)
{
  *count = sizeof cleanups / sizeof *cleanups;
  return cleanups;
}

/* The dependences of one kernel, on a heap of their own, which the strategy takes over. */
struct found {
  sl_heap *heap;
  sl_edges edges;
};

struct pipeline {
  const sluice_program *input;
  const sluice_targets *targets;
  const sluice_sync_options *options;
  uint32_t only_kernel;         /* of sluice_published_registers */
  uint64_t published_registers; /* its answer */
  sl_program *program; /* the copy */
  struct sl_kernel *kernel;
  const struct sl_target *target;
  struct found *found;   /* of the kernel */
  struct found *all_found; /* by kernel */
  sl_source source; /* of the input: the copy's statements keep their places in it */
  sl_heap scratch;
  sl_report report;
};

/* ---- the passes ---- */

static int pass_strip(struct pipeline *p)
{
  sl_loc where;
  if (!sl_has_synchronization(p->kernel, &where))
    return SLUICE_OK;
  if (p->options->resync) {
    sl_strip_synchronization(p->program, p->kernel);
    return SLUICE_OK;
  }
  sl_report_begin(&p->report, SLUICE_ERROR, SL_RULE_SYNCED, where,
                  "kernel '%s' already carries synchronization: --resync strips it first",
                  sl_text(p->program, p->kernel->name));
  sl_report_end(&p->report);
  return SLUICE_E_INPUT;
}

static int pass_expand(struct pipeline *p)
{
  sl_expand_copies(p->program, p->kernel);
  return SLUICE_OK;
}

static int pass_unroll(struct pipeline *p)
{
  if (p->options->alloc == SLUICE_ALLOC_UNROLL)
    return sl_unroll_all(p->program, p->kernel, p->target, &p->report);
  sl_unroll_requested(p->program, p->kernel, &p->report);
  return SLUICE_OK;
}

static int pass_deps(struct pipeline *p)
{
  p->found->heap = sl_heap_child_new(&p->program->heap);
  return sl_deps_resolve_enough(&p->found->edges, p->found->heap, p->program, p->kernel, p->target, &p->report);
}

static int pass_reduce(struct pipeline *p)
{
  sl_deps_drop_implied(&p->found->edges, p->found->heap, p->program, p->kernel, p->target);
  return SLUICE_OK;
}

/* Values that live longer than the instruction they were made for cannot stay in the places of the pool. */
static unsigned needed_with(unsigned wanted)
{
  bool longer = wanted & (SLUICE_CLEANUP_COMMON | SLUICE_CLEANUP_INVARIANT);
  return longer ? wanted | SLUICE_CLEANUP_REGISTERS : wanted;
}

static struct sl_allocation allocation_of(struct pipeline *p)
{
  static const enum sl_sharing sharing[] = { [SLUICE_COUNTERS_AUTO] = SL_SHARE_SPARINGLY,
                                             [SLUICE_COUNTERS_LOOP] = SL_SHARE_BLOCK,
                                             [SLUICE_COUNTERS_INSTRUCTION] = SL_SHARE_NOTHING,
                                             [SLUICE_COUNTERS_ENGINE] = SL_SHARE_STREAM };
  return (struct sl_allocation){ p->program, p->kernel, p->target, &p->report, name_of(p->options->alloc),
                                 sharing[p->options->counters], needed_with(p->options->cleanups),
                                 p->found->heap, p->found->edges };
}

static int pass_allocate(struct pipeline *p)
{
  struct sl_allocation allocation = allocation_of(p);
  switch (p->options->alloc) {
  case SLUICE_ALLOC_SHADOW: return sl_allocate_shadow(&allocation);
  case SLUICE_ALLOC_UNROLL:
  case SLUICE_ALLOC_PER_ENGINE: allocation.sharing = SL_SHARE_STREAM; return sl_allocate_shadow(&allocation);
  case SLUICE_ALLOC_PER_LOOP: allocation.sharing = SL_SHARE_BLOCK; return sl_allocate_closed_form(&allocation);
  case SLUICE_ALLOC_PER_INSTRUCTION: allocation.sharing = SL_SHARE_NOTHING; return sl_allocate_closed_form(&allocation);
  case SLUICE_ALLOC_BARRIER: return sl_allocate_barrier(&allocation);
  }
  assert(false && "unknown strategy");
  return SLUICE_E_INPUT;
}

static int pass_epilogue(struct pipeline *p)
{
  sl_add_epilogue(p->kernel);
  return SLUICE_OK;
}

/* Shells make engines walk loops they did not walk before: do they agree on the bounds? And written-out loops turn indices into
 * numbers: do they lie in the buffers? */
static int pass_verify(struct pipeline *p)
{
  int status = sl_verify_registers(p->program, p->kernel, &p->report);
  if (status == SLUICE_OK && p->options->alloc == SLUICE_ALLOC_UNROLL)
    status = sl_legality_check(p->program, p->kernel, p->target, &p->report);
  return status;
}

static int pass_limits(struct pipeline *p)
{
  return sl_check_limits(p->program, p->kernel, p->target, &p->report);
}

static const sluice_pass pass_table[] = {
  { "strip", "existing synchronization is refused, or with --resync taken out" },
  { "expand", "`a|b.op` and `*.op` become one copy per engine" },
  { "unroll", "loops are written out by the factor they ask for, with --alloc=unroll entirely" },
  { "deps", "dependences are found from accesses, or taken from the lines of an `explicit` kernel" },
  { "reduce", "dependences that others imply are dropped, but for those of an `explicit` kernel" },
  { "allocate", "semaphores, waits, updates and threshold code by the chosen strategy" },
  { "epilogue", "all streams meet and semaphores get their start values back" },
  { "verify", "engines agree on what they now count, indices that became numbers are in range" },
  { "limits", "semaphores, registers and counts fit the target" },
};
static int (*const pass_functions[])(struct pipeline *p) = { pass_strip,  pass_expand,   pass_unroll,
                                                             pass_deps,   pass_reduce,   pass_allocate,
                                                             pass_epilogue, pass_verify, pass_limits };
enum { PASS_COUNT = sizeof pass_table / sizeof *pass_table };
_Static_assert(sizeof pass_functions / sizeof *pass_functions == PASS_COUNT, "one function per row");

const sluice_pass *sluice_passes(size_t *count)
{
  *count = PASS_COUNT;
  return pass_table;
}

/* CPU time of this thread: others may synchronize at the same time. */
static double seconds(void)
{
  struct timespec time = { 0, 0 };
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void choose_kernel(struct pipeline *p, uint32_t k)
{
  p->kernel = p->program->kernels.data[k];
  p->found = &p->all_found[k];
  p->target = sl_target_find(p->targets, sl_text(p->program, p->kernel->target));
  assert(p->target && "the program is verified, so its target is known");
}

static int run_passes(struct pipeline *p)
{
  for (size_t i = 0; i < PASS_COUNT; i++) {
    double began = seconds();
    int status = SLUICE_OK;
    for (uint32_t k = 0; k < p->program->kernels.len && status == SLUICE_OK; k++) {
      choose_kernel(p, k);
      status = pass_functions[i](p);
    }
    if (status != SLUICE_OK)
      return status;
    if (p->options->after_pass)
      p->options->after_pass(p->options->user, pass_table[i].name, p->program, seconds() - began);
  }
  return SLUICE_OK;
}

static void copy_input(struct pipeline *p)
{
  sl_program_copy_into(p->program, p->input);
  p->all_found = sl_heap_calloc(&p->scratch, p->program->kernels.len + 1u, sizeof *p->all_found);
}

static int sync_guarded(void *arg)
{
  struct pipeline *p = arg;
  copy_input(p);
  return run_passes(p);
}

static void drop_copy(struct pipeline *p)
{
  sl_heap_free_all(&p->program->heap);
  free(p->program);
  p->program = NULL;
}

/* Does `work` on a copy of the input, p->program; on failure there is none afterwards. */
static int work_on_copy(struct pipeline *p, int (*work)(void *), const sluice_sink *sink)
{
  const sluice_program *input = p->input;
  p->program = sl_program_new(input->source.name, NULL, 0);
  if (!p->program)
    return SLUICE_E_NO_MEMORY;
  sl_heap_init(&p->scratch, &p->program->guard);
  p->source = input->source; /* a view with its own table of lines: the input may be shared between threads */
  p->source.heap = &p->scratch;
  memset(&p->source.lines, 0, sizeof p->source.lines);
  sl_report_init(&p->report, &p->scratch, sink, &p->source);
  int status = sl_guard_run(&p->program->guard, work, p);
  sl_heap_free_all(&p->scratch);
  if (status != SLUICE_OK)
    drop_copy(p);
  return status;
}

int sluice_sync(sluice_program **out, const sluice_program *program, const sluice_targets *targets,
                const sluice_sync_options *options, const sluice_sink *sink)
{
  assert(out && program && targets && options);
  struct pipeline p = { .input = program, .targets = targets, .options = options };
  int status = work_on_copy(&p, sync_guarded, sink);
  *out = p.program;
  return status;
}

static int count_guarded(void *arg)
{
  struct pipeline *p = arg;
  copy_input(p);
  choose_kernel(p, p->only_kernel);
  (void)pass_expand(p);
  int status = pass_deps(p);
  if (status != SLUICE_OK)
    return status;
  (void)pass_reduce(p);
  struct sl_allocation allocation = allocation_of(p);
  sl_count_published_registers(&p->published_registers, &allocation);
  return SLUICE_OK;
}

int sluice_published_registers(uint64_t *count, const sluice_program *program, size_t kernel,
                               const sluice_targets *targets)
{
  assert(count && program && targets && kernel < program->kernels.len);
  const sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  struct pipeline p = { .input = program, .targets = targets, .options = &options, .only_kernel = (uint32_t)kernel };
  int status = work_on_copy(&p, count_guarded, NULL);
  *count = p.published_registers;
  if (status == SLUICE_OK)
    drop_copy(&p);
  return status;
}
