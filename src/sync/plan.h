/* plan.h: the plan of one kernel's synchronization: what every strategy starts from and fills in.
 *
 * sl_plan_prepare drops the dependences that need no wait; a strategy then chooses semaphores
 * (sl_plan_share), appends register code per engine, and sl_plan_write puts the result into the tree.
 *
 * Engines are numbered densely as in ir/presence.h.
 */
#ifndef SL_SYNC_PLAN_H
#define SL_SYNC_PLAN_H

#include <sluice/sync.h>

#include "deps/deps.h"
#include "ir/presence.h"
#include "sync/passes.h"
#include "sync/regcode.h"

/* A semaphore of the plan: counts retirements of instructions of one block on one stream. */
struct sl_plan_sem {
  sl_index block;
  uint32_t stream;     /* retire stream of its updates */
  uint32_t start;      /* value at kernel start and end (a credit) */
  uint32_t updates;    /* updating instructions: N */
  sl_index producer;   /* the only one, when nothing is shared */
  bool only_root;      /* all of them stand directly in the kernel's root */
  sl_index only_block; /* where they stand when it is one block; else SL_NONE */
  uint32_t runs;       /* runs that hold them */
  bool is_used;        /* some wait names it (known when the code is written) */
  sl_name name;        /* given by sl_plan_write */
};

/* What is asked of a statement again and again, in one place: edges jump about in a large kernel. What is asked of producers
 * comes first: 16 bytes, which lie in one line of the cache. */
struct sl_plan_stmt {
  uint32_t stream;         /* it retires on (instructions) */
  uint32_t update_sem;     /* semaphore it increments, or 0 */
  uint32_t place_in_run;   /* 1-based place among the updates of its semaphore in its run */
  uint32_t place_in_block; /* the same in its block */
  uint32_t position;       /* in text order, from 1 */
  uint32_t run;            /* number of its run (instructions): a maximal sequence of instructions */
  uint32_t first_edge, edge_count; /* edges of which it is the consumer */
};

struct sl_plan_node { /* lists kept per block */
  uint32_t sem, next;
};

struct sl_plan {
  sl_heap *heap; /* scratch: ends with the pass */
  sl_program *program;
  struct sl_kernel *kernel;
  const struct sl_target *target;
  sl_report *report;
  const char *strategy; /* for messages */
  unsigned cleanups;    /* enum sluice_cleanup */
  bool waits_in_turn;   /* register operations may stand between the waits of one instruction */
  sl_name (*register_name)(void *state, const struct sl_regcode *code, struct sl_vreg_role role); /* of the strategy */
  void *state;                                                                                    /* its argument */

  sl_edges edges;           /* to be enforced by waits, by consumer in text order */
  struct sl_plan_stmt *stmt; /* by statement of the author's */

  struct sl_presence presence;

  sl_vec(struct sl_plan_sem) sems; /* (from 1) */
  sl_map inside;            /* (block, sem) -> 1: the block holds an update of sem at any depth */
  sl_vec(struct sl_plan_node) nodes; /* (from 1) */
  uint32_t *sems_inside;    /* by block: list of the semaphores updated inside */

  struct sl_regcode *code;  /* by engine */
  sl_map written;           /* (stream, register) -> 1: registers the author's code writes */
};

/* Thins the dependences. `barriers_everywhere`: the strategy's barriers satisfy everything but distance 0 within one run. */
void sl_plan_prepare(struct sl_plan *plan, bool barriers_everywhere);

/* A plan to be prepared, with a scratch heap of its own. */
struct sl_plan sl_plan_of(const struct sl_allocation *allocation);

/* Gives each awaited producer a semaphore. Fills updates, runs and places. `across_barriers`: runs go on across a barrier of
 * the author's, which does not reset semaphores, so that places can be thresholds by themselves. */
void sl_plan_share(struct sl_plan *plan, enum sl_sharing sharing, bool across_barriers);

/* Refuses divergent loops that hold an update of a semaphore another engine waits on: the engines would not agree
 * on how often the update has run. */
int sl_plan_check_divergence(struct sl_plan *plan);

/* Folds and strips the register code and writes everything into the tree: registers, waits, increments, declarations. */
void sl_plan_write(struct sl_plan *plan);

/* The stream an instruction retires on, and the engine that issues it. */
static inline uint32_t sl_plan_retires(const struct sl_plan *plan, sl_index stmt)
{
  return plan->stmt[stmt].stream;
}
static inline uint32_t sl_plan_issues(const struct sl_plan *plan, sl_index stmt)
{
  return plan->presence.engine_of[plan->stmt[stmt].stream];
}
static inline bool sl_plan_updates_inside(const struct sl_plan *plan, sl_index block, uint32_t sem)
{
  return sl_map_get(&plan->inside, sl_map_pair(block, sem)) != NULL;
}
/* Reports that the strategy cannot express an edge, why, and which strategy can. */
void sl_plan_inexpressible(struct sl_plan *plan, const struct sl_edge *edge, const char *why, const char *instead);

/* Reports that of a vector only the outermost distance is kept, and why. */
void sl_plan_report_cut(const struct sl_plan *plan, const struct sl_edge *edge, const char *why);

/* A label as part of a generated name: labels of copies hold `.` and `@`, which names cannot. */
void sl_plan_add_label(sl_buf *buf, const struct sl_plan *plan, sl_index stmt);
/* The name of a block in messages and generated names: "i" for loop i, "if1", "else1", "" for the root. */
const char *sl_plan_block_name(const struct sl_plan *plan, sl_index block, char buffer[static 48]);

/* ---- walk.c: one walk over the tree that appends register code for all engines ---- */

/* What a strategy does at each point. `engines` are those that walk the block at hand. */
struct sl_walk_rules {
  void (*block_start)(void *strategy, sl_index block, sl_engines engines);
  /* A maximal sequence of instructions [first, end) between loops, branches and barriers; end 0 = end of the block. */
  void (*run)(void *strategy, sl_index first, sl_index end, sl_engines engines);
  /* Before a loop or branch: appends what belongs on arrival and answers which engines without a statement inside it walk
   * it all the same (shells). */
  sl_engines (*arrive)(void *strategy, sl_index stmt, sl_engines engines);
  void (*block_end)(void *strategy, sl_index block, sl_engines engines);
};
/* Returns SLUICE_OK, or SLUICE_E_ANSWER when a shell needs a register its engine does not have (reported). */
int sl_plan_walk(struct sl_plan *plan, const struct sl_walk_rules *rules, void *strategy);

/* Trip count of a loop as an operand (integer, parameter, or variable of a loop outside `outer`), if it has that form.
 * Registers do not count: an engine without instructions in the loop may not have the same one. */
bool sl_plan_trip_count(const struct sl_plan *plan, sl_index loop_stmt, sl_index outer, struct sl_value *count);

#endif
