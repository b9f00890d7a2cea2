/* stats.c: what a kernel uses, by the rules of its target (sluice_program_stats). Linear.
 *
 * Slots: an instruction takes what its opcode says; gates and increments beyond what an ordinary slot carries take wait-only
 * slots; a loop or branch takes its control slots on every engine that walks it; barriers and the epilogue as described.
 */
#include <sluice/sync.h>

#include <assert.h>

#include "ir/presence.h"
#include "sync/passes.h"
#include "target/target.h"

struct counting {
  sl_heap *heap;
  const sl_program *program;
  const struct sl_kernel *kernel;
  const struct sl_target *target;
  struct sl_presence presence;
  sl_map opcode_slots; /* opcode name -> slots + 1 */
  sl_map own_registers; /* that the kernel itself needs */
  sl_map registers;    /* (engine, register) */
  uint32_t register_count[64], wait_register_count[64]; /* by engine */
  sluice_stats *stats;
};

static uint32_t divide_up(uint32_t a, uint32_t b)
{
  return b ? (a + b - 1) / b : 0;
}

/* Slots that gates and increments need beyond the instruction's own. */
static uint32_t carrier_slots(const struct counting *c, const struct sl_op *op)
{
  const struct sl_target *target = c->target;
  uint32_t waits = op->wait_count, updates = op->inc_count;
  uint32_t own_waits = target->slot.waits, own_updates = target->slot.updates;
  bool step_is_one = op->inc_count == 0 || c->kernel->incs.data[op->first_inc].by == 1;
  if (target->slot.shared_value && waits && updates && !step_is_one)
    own_waits = 0; /* the one value of the slot is the update's */
  uint32_t more_waits = waits > own_waits ? waits - own_waits : 0;
  uint32_t more_updates = updates > own_updates ? updates - own_updates : 0;
  return divide_up(more_waits, target->slot.carrier_waits) + divide_up(more_updates, target->slot.carrier_updates);
}

static uint32_t opcode_slots(struct counting *c, const struct sl_op *op)
{
  if (op->code != SL_OP_TARGET)
    return c->target->slot.register_op;
  bool is_new;
  uint32_t *slots = sl_map_put(&c->opcode_slots, c->heap, op->opcode, &is_new);
  if (is_new) {
    int at = sl_target_opcode(c->target, sl_text(c->program, op->opcode));
    *slots = at < 0 ? 1 : c->target->opcodes.data[at].slots;
  }
  return *slots;
}

static void count_one_more(uint32_t *count, uint64_t *most)
{
  ++*count;
  *most = *count > *most ? *count : *most;
}

static void count_register(struct counting *c, sl_name name, bool only_waits, sl_engines engines)
{
  for (sl_engines rest = engines; rest; rest &= rest - 1) {
    uint32_t engine = sl_first_engine(rest);
    bool is_new;
    (void)sl_map_put(&c->registers, c->heap, sl_map_pair(engine, name), &is_new);
    if (is_new)
      count_one_more(&c->register_count[engine], &c->stats->registers);
    if (is_new && only_waits)
      count_one_more(&c->wait_register_count[engine], &c->stats->wait_registers);
  }
}

static void count_op(struct counting *c, const struct sl_op *op)
{
  sl_engines engines = sl_presence_of_op(&c->presence, c->kernel, op);
  uint64_t copies = op->all_engines ? sl_engine_count(engines) : op->stream_count;
  enum sl_op_class op_class = sl_opcode_table[op->code].op_class;
  c->stats->waits += copies * op->wait_count;
  c->stats->updates += copies * op->inc_count;
  c->stats->slots += copies * (opcode_slots(c, op) + carrier_slots(c, op));
  if (op_class == SL_CLASS_REGISTER)
    c->stats->register_operations += copies;
  else if (op_class != SL_CLASS_SEMAPHORE && !sl_op_is_wait_only(op))
    c->stats->instructions += copies;
  sl_name written = sl_op_written_register(c->kernel, op);
  if (written)
    count_register(c, written, op_class == SL_CLASS_REGISTER && !sl_map_get(&c->own_registers, written), engines);
}

static void count_stmt(struct counting *c, sl_index at)
{
  const struct sl_kernel *kernel = c->kernel;
  const struct sl_target *target = c->target;
  uint64_t all = sl_engine_count(c->presence.all);
  switch ((enum sl_stmt_kind)kernel->stmts.data[at].kind) {
  case SL_STMT_OP: count_op(c, sl_stmt_op(kernel, at)); break;
  case SL_STMT_LOOP:
    c->stats->slots += (uint64_t)sl_engine_count(sl_presence_inside(&c->presence, kernel, at)) *
                       (target->slot.loop_setup + target->slot.loop_step);
    break;
  case SL_STMT_IF: {
    const struct sl_branch *branch = sl_stmt_branch(kernel, at);
    uint32_t jumps = branch->cond.count + (branch->else_block ? 1u : 0u); /* and one over the other arm */
    c->stats->slots += (uint64_t)sl_engine_count(sl_presence_inside(&c->presence, kernel, at)) * jumps * target->slot.branch;
    break;
  }
  case SL_STMT_BARRIER_RESET:
    c->stats->slots += target->slot.barrier_reset_once;
    /* fallthrough */
  case SL_STMT_BARRIER:
    c->stats->barriers++;
    c->stats->slots += all * target->slot.barrier_engine + target->slot.barrier_once;
    break;
  case SL_STMT_EPILOGUE: c->stats->slots += all * target->slot.epilogue_engine + target->slot.epilogue_once; break;
  }
}

static int count_guarded(void *arg)
{
  struct counting *c = arg;
  const struct sl_kernel *kernel = c->kernel;
  sl_presence_find(&c->presence, c->heap, kernel);
  sl_find_own_registers(&c->own_registers, c->heap, kernel);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at))
    count_stmt(c, at);
  c->stats->semaphores = kernel->sems.len - 1u;
  c->stats->bytes = c->stats->slots * c->target->slot.bytes;
  return SLUICE_OK;
}

int sluice_program_stats(sluice_stats *stats, const sluice_program *program, size_t kernel, const sluice_targets *targets)
{
  assert(stats && program && targets && kernel < program->kernels.len);
  memset(stats, 0, sizeof *stats);
  sl_guard guard;
  sl_heap heap;
  sl_heap_init(&heap, &guard);
  struct counting c = { .heap = &heap, .program = program, .kernel = program->kernels.data[kernel], .stats = stats };
  c.target = sl_target_find(targets, sl_text(program, c.kernel->target));
  assert(c.target && "the program is verified, so its target is known");
  int status = sl_guard_run(&guard, count_guarded, &c);
  sl_heap_free_all(&heap);
  return status;
}
