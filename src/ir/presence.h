/* presence.h: which engines take part in what. An engine executes the statements of its own stream and those of the queues
 * it triggers; it walks a loop or branch when it has a statement in it at any depth; a barrier is a statement of all.
 *
 * Requires streams resolved against the target (sl_issue_stream). Engines with at least one statement are numbered
 * densely: those with statements of their own in the order of their first, then those that only trigger queues in the
 * order in which these were declared. So statements that were taken out leave no trace in the order. Sets of engines
 * are 64-bit masks (machine descriptions have at most 64). Linear.
 */
#ifndef SL_IR_PRESENCE_H
#define SL_IR_PRESENCE_H

#include "ir/program.h"

typedef uint64_t sl_engines;

struct sl_presence {
  sl_vec(uint32_t) engines; /* dense engine -> stream */
  uint32_t *engine_of;      /* stream -> dense engine that issues it; of streams without statements: 0 */
  sl_engines all;
  sl_engines *inside;       /* by block: engines with a statement in it at any depth; the root: all */
  bool *has_barrier;        /* by block, at any depth */
};

void sl_presence_find(struct sl_presence *presence, sl_heap *heap, const struct sl_kernel *kernel);

/* Engines that execute one op (several for `a|b.` and `*.`). */
sl_engines sl_presence_of_op(const struct sl_presence *presence, const struct sl_kernel *kernel, const struct sl_op *op);

/* Engines that walk a loop or branch. */
sl_engines sl_presence_inside(const struct sl_presence *presence, const struct sl_kernel *kernel, sl_index stmt);

/* Engines as a loop: for (sl_engines rest = set; rest; rest &= rest - 1) { uint32_t e = sl_first_engine(rest); ... } */
static inline uint32_t sl_first_engine(sl_engines set)
{
  return (uint32_t)__builtin_ctzll(set);
}
static inline uint32_t sl_engine_count(sl_engines set)
{
  return (uint32_t)__builtin_popcountll(set);
}

#endif
