/* barrier.c: the baseline strategy: all-engine barriers that reset the semaphores, on arrival at every loop and branch and at
 * the end of every iteration and arm. Between two of them code is straight-line, so a wait is a static count: the place of
 * its producer among the awaited instructions of its stream in the run.
 *
 * Every dependence across runs is satisfied by the drains. Every engine takes part in every barrier, so every engine walks
 * every loop; none may be divergent. Linear in statements and edges.
 */
#include "sync/passes.h"
#include "sync/plan.h"

static void insert_barrier(struct sl_kernel *kernel, sl_index before, sl_index end_of_block)
{
  sl_index barrier = sl_stmt_new(kernel, SL_STMT_BARRIER_RESET, SL_NO_LOC);
  kernel->stmts.data[barrier].flags = SL_GENERATED;
  if (before)
    sl_stmt_insert_before(kernel, before, barrier);
  else
    sl_stmt_append(kernel, end_of_block, barrier);
}

static void insert_barriers(struct sl_kernel *kernel)
{
  /* First collect, then edit: the walk would meet its own insertions. */
  uint32_t stmts = kernel->stmts.len, blocks = kernel->blocks.len;
  for (sl_index at = 1; at < stmts; at++) {
    uint8_t kind = kernel->stmts.data[at].kind;
    if (kernel->stmts.data[at].block && (kind == SL_STMT_LOOP || kind == SL_STMT_IF))
      insert_barrier(kernel, at, SL_NONE);
  }
  for (sl_index block = 1; block < blocks; block++)
    if (kernel->blocks.data[block].owner && kernel->stmts.data[kernel->blocks.data[block].owner].block)
      insert_barrier(kernel, SL_NONE, block);
}

static int check_divergent_loops(const struct sl_plan *plan)
{
  const struct sl_kernel *kernel = plan->kernel;
  uint32_t errors = plan->report->errors;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at))
    if (kernel->stmts.data[at].kind == SL_STMT_LOOP && sl_stmt_loop(kernel, at)->divergent)
      sl_error(plan->report, SL_RULE_DIVERGENT, kernel->stmts.data[at].loc,
               "--alloc=barrier needs every engine at the barriers of loop '%s', and engines may disagree on how often it "
               "runs", sl_text(plan->program, sl_stmt_loop(kernel, at)->var));
  return plan->report->errors == errors ? SLUICE_OK : SLUICE_E_ANSWER;
}

/* ---- the rules of the walk: waits with static thresholds ---- */

static void start_block(void *strategy, sl_index block, sl_engines engines)
{
  (void)strategy;
  (void)block;
  (void)engines;
}

static void do_run(void *strategy, sl_index first, sl_index end, sl_engines engines)
{
  struct sl_plan *plan = strategy;
  (void)engines;
  for (sl_index at = first; at != end; at = plan->kernel->stmts.data[at].next)
    for (uint32_t i = 0; i < plan->stmt[at].edge_count; i++) {
      sl_index producer = plan->edges.data[plan->stmt[at].first_edge + i].producer;
      sl_regcode_wait(&plan->code[sl_plan_issues(plan, at)], at, plan->stmt[producer].update_sem,
                      sl_value_int(plan->stmt[producer].place_in_run));
    }
}

static sl_engines arrive(void *strategy, sl_index stmt, sl_engines engines)
{
  (void)strategy;
  (void)stmt;
  return engines; /* all of them, for the barriers: checks that each knows the bound */
}

int sl_allocate_barrier(const struct sl_allocation *allocation)
{
  static const struct sl_walk_rules rules = { start_block, do_run, arrive, start_block };
  struct sl_plan plan = sl_plan_of(allocation);
  plan.cleanups &= ~(unsigned)SLUICE_CLEANUP_WAITS; /* the barriers reset what waits have passed */
  sl_plan_prepare(&plan, true);
  int status = check_divergent_loops(&plan);
  if (status == SLUICE_OK) {
    sl_plan_share(&plan, SL_SHARE_STREAM, true);
    status = sl_plan_walk(&plan, &rules, &plan);
  }
  if (status == SLUICE_OK) {
    sl_plan_write(&plan);
    insert_barriers(allocation->kernel);
  }
  sl_heap_child_free(plan.heap);
  return status;
}
