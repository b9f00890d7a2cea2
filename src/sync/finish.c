/* finish.c: what every strategy ends with: the epilogue, and the limits of the target. See passes.h. */
#include <inttypes.h>

#include "sync/passes.h"

void sl_add_epilogue(struct sl_kernel *kernel)
{
  sl_index epilogue = sl_stmt_new(kernel, SL_STMT_EPILOGUE, SL_NO_LOC);
  kernel->stmts.data[epilogue].flags = SL_GENERATED;
  sl_stmt_append(kernel, kernel->root, epilogue);
}

static void check_semaphores(const sl_program *program, const struct sl_kernel *kernel, const struct sl_target *target,
                             sl_report *report)
{
  uint32_t used = kernel->sems.len - 1, usable = sl_target_usable_sems(target);
  if (used > usable)
    sl_error(report, SL_RULE_LIMIT, kernel->loc, "kernel '%s' needs %u semaphores, and %s has %u (%u of %u are reserved)",
             sl_text(program, kernel->name), used, target->name, usable, target->sem.reserved, target->sem.count);
}

/* ---- registers ---- */

struct register_count {
  sl_heap *heap;
  sl_map seen;     /* (stream, register) */
  uint32_t *count; /* by stream */
};

static void count_registers(struct register_count *c, const struct sl_kernel *kernel)
{
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind != SL_STMT_OP)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, at);
    sl_name written = sl_op_written_register(kernel, op);
    if (!written)
      continue;
    bool is_new;
    (void)sl_map_put(&c->seen, c->heap, sl_map_pair(op->stream, written), &is_new);
    c->count[op->stream] += is_new;
  }
}

static void check_registers(const sl_program *program, const struct sl_kernel *kernel, const struct sl_target *target,
                            sl_report *report, sl_heap *heap)
{
  struct register_count c = { .heap = heap };
  c.count = sl_heap_calloc(heap, kernel->streams.len + 1u, sizeof *c.count);
  count_registers(&c, kernel);
  uint32_t usable = sl_target_usable_registers(target);
  for (uint32_t s = 0; s < kernel->streams.len; s++)
    if (c.count[s] > usable)
      sl_error(report, SL_RULE_LIMIT, kernel->loc, "kernel '%s' needs %u registers on %s, and %s has %u (%u of %u are reserved)",
               sl_text(program, kernel->name), c.count[s], sl_text(program, kernel->streams.data[s].name), target->name,
               usable, target->registers.reserved, target->registers.count);
}

/* ---- values of semaphores ---- */

uint64_t sl_most_executions(const struct sl_kernel *kernel, sl_index stmt)
{
  uint64_t times = 1;
  for (sl_index block = kernel->stmts.data[stmt].block; block; block = sl_block_parent(kernel, block)) {
    sl_index owner = kernel->blocks.data[block].owner;
    if (!owner || kernel->stmts.data[owner].kind != SL_STMT_LOOP)
      continue;
    const struct sl_loop *loop = sl_stmt_loop(kernel, owner);
    if (!loop->has_range || !loop->short_range || kernel->exprs.data[loop->hi].kind != SL_EXPR_INT)
      return UINT64_MAX;
    int64_t trips = kernel->exprs.data[loop->hi].u.value;
    if (trips <= 0)
      return 0;
    if (times > UINT64_MAX / 2 / (uint64_t)trips)
      return UINT64_MAX / 2;
    times *= (uint64_t)trips;
  }
  return times;
}

/* With plain compare a counter must not outgrow its width. Trip counts that are not numbers cannot be bounded here: the
 * checker samples them. Under modular compare only differences matter, and those are bounded by the checks on distances. */
static void check_counts(const sl_program *program, const struct sl_kernel *kernel, const struct sl_target *target,
                         sl_report *report, sl_heap *heap)
{
  sl_map totals = { 0 }; /* semaphore name -> index + 1 into sums */
  sl_vec(uint64_t) sums = { 0 };
  for (uint32_t s = 1; s < kernel->sems.len; s++) {
    sl_vec_add(heap, &sums, kernel->sems.data[s].initial);
    *sl_map_put(&totals, heap, kernel->sems.data[s].name, NULL) = sums.len;
  }
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind != SL_STMT_OP || !sl_stmt_op(kernel, at)->inc_count)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, at);
    uint64_t times = sl_most_executions(kernel, at);
    for (uint32_t i = 0; i < op->inc_count && times != UINT64_MAX; i++) {
      const uint32_t *total = sl_map_get(&totals, kernel->incs.data[op->first_inc + i].sem);
      if (total && sums.data[*total - 1] < UINT64_MAX / 4)
        sums.data[*total - 1] += times > UINT64_MAX / 4 ? UINT64_MAX / 4 : times;
    }
  }
  for (uint32_t s = 1; s < kernel->sems.len && !target->sem.modular; s++)
    if (sums.data[s - 1] > sl_target_largest_sem(target))
      sl_error(report, SL_RULE_LIMIT, kernel->loc,
               "semaphore '%s' would count to %" PRIu64 ", and %s has semaphores of %u bits (up to %" PRIu64 ")",
               sl_text(program, kernel->sems.data[s].name), sums.data[s - 1], target->name, target->sem.width,
               sl_target_largest_sem(target));
}

int sl_check_limits(sl_program *program, struct sl_kernel *kernel, const struct sl_target *target, sl_report *report)
{
  uint32_t errors = report->errors;
  sl_heap *scratch = sl_heap_child_new(&program->heap);
  check_semaphores(program, kernel, target, report);
  check_registers(program, kernel, target, report, scratch);
  check_counts(program, kernel, target, report, scratch);
  sl_heap_child_free(scratch);
  return report->errors == errors ? SLUICE_OK : SLUICE_E_ANSWER;
}
