/* shadow.h: what the strategy of shadow counters decides before it writes code (shadow_plan.c), and writes by
 * (shadow.c).
 *
 * An engine that waits on a semaphore keeps, in registers, what the semaphore will read once the producers have retired
 * what they have to. See shadow.c for the values, and docs/strategies.md.
 */
#ifndef SL_SYNC_SHADOW_H
#define SL_SYNC_SHADOW_H

#include "sync/plan.h"

/* How the threshold of an edge is computed. */
enum sl_wait_form {
  SL_CONSTANT, /* a number: start + place */
  SL_NOW,      /* a register of a group, or a loop's variable, plus a number */
  SL_PAST,     /* a delay line of a group's register, plus a number */
  SL_LATEST,   /* sn of the producer */
  SL_DELAYED,  /* a delay line of sn */
  SL_VECTOR    /* see shadow.c; the register is that of SL_DELAYED, which clamps it */
};

struct sl_shadow_wait {
  uint8_t form;    /* enum sl_wait_form */
  sl_vreg vreg;    /* SL_NOW: 0 for the variable of the loop that carries the edge */
  uint32_t number; /* SL_CONSTANT, SL_NOW, SL_PAST */
};

/* Engine e waits on semaphore s. */
struct sl_shadow_use {
  uint32_t engine, sem;
  bool is_general; /* sg counts; some wait needs sn */
  bool is_grouped; /* some wait is SL_NOW or SL_PAST; what follows is of these */
  bool is_outside; /* one of them is not in the block of the updates */
  sl_vreg sg;
  uint32_t group;
  int64_t least;             /* least offset */
  uint32_t length;           /* largest distance that has a delay line */
  uint32_t awaited;          /* list of its producers */
  uint32_t next, next_alike; /* of the same semaphore; of the same engine and block (align) */
};

/* Engine e waits for producer p. */
struct sl_shadow_awaited {
  sl_index producer;
  uint32_t use;
  sl_vreg sn;
  uint32_t next_of_stmt, next_of_use; /* lists, 0 ends */
};

/* Registers 1, 2, ... iterations behind: dl_j is first + j - 1. */
struct sl_shadow_line {
  uint32_t length;
  sl_vreg first;
};

/* Delay line of (awaited, loop body), within a visit or across visits. */
struct sl_shadow_delay {
  uint32_t awaited;
  sl_index block;
  bool across;
  struct sl_shadow_line line;
  uint32_t next; /* of the same block */
};

/* What sg was on arrival at the inner loop of vectors: `line` begins with the current visit. */
struct sl_shadow_arrivals {
  uint32_t use;
  sl_index block;
  struct sl_shadow_line line;
  uint32_t next; /* of the same block */
};

/* The iterations of the current visit of a loop that one engine counts for vectors. */
struct sl_shadow_trips {
  uint32_t engine;
  sl_index block;
  sl_vreg count;
  uint32_t next; /* of the same block */
};

/* What one engine counts of one block in steps of N, for all semaphores of which the block holds N updates. */
struct sl_shadow_group {
  uint32_t engine, step, first; /* first: value in the first iteration */
  sl_index block;
  uint32_t sem;               /* one of them, for the name */
  bool is_outside;            /* some wait is not in the block */
  sl_vreg now;                /* the least of its thresholds in this iteration; 0: a loop's variable serves */
  struct sl_shadow_line past; /* what it was */
  sl_index counted;           /* the loop at hand, when its iterations were added at once */
  uint32_t next;              /* of the same block */
};

struct sl_shadow {
  struct sl_plan *plan;
  bool root_is_alone;                /* no semaphore counts both in the root and in loops */
  struct sl_shadow_wait *waits;      /* by edge */
  sl_vec(struct sl_shadow_use) uses; /* (from 1), as the others */
  sl_vec(struct sl_shadow_awaited) awaited;
  sl_vec(struct sl_shadow_delay) delays;
  sl_vec(struct sl_shadow_group) groups;
  sl_vec(struct sl_shadow_arrivals) arrivals;
  sl_vec(struct sl_shadow_trips) trips;
  sl_map use_of;      /* (engine, sem) */
  sl_map awaited_of;  /* (use, statement) */
  sl_map delay_of;    /* (awaited, block, across) */
  sl_map arrivals_of; /* (use, block) */
  sl_map trips_of;    /* (engine, block) */
  sl_map updates_of;  /* (block, sem): sl_shadow_updates_in_block */
  uint32_t *uses_of_sem, *awaited_of_stmt, *delays_of_block, *groups_of_block; /* heads of the lists */
  uint32_t *arrivals_of_block, *trips_of_block;
  uint64_t *room;                 /* by semaphore: its largest start value */
  bool *repeats;                  /* by block: it may run more than once */
  sl_vec(uint32_t) touched;       /* semaphores of the run at hand */
  uint32_t *in_run;               /* by semaphore: updates in the run at hand */
  sl_vec(struct sl_value) values; /* thresholds of the consumer at hand */
};

/* Fills everything of a shadow whose plan has its semaphores, but for what the walk has at hand; raises their start
 * values. Reports the vectors it cuts. Linear in the tree and the edges, times the nesting depth. */
void sl_shadow_prepare(struct sl_shadow *shadow);

/* N: the updates of a semaphore in one iteration of a block; 0 when a loop or branch in it makes them vary. */
uint32_t sl_shadow_updates_in_block(struct sl_shadow *shadow, sl_index block, uint32_t sem);

static inline sl_index sl_shadow_block_of(const struct sl_shadow *shadow, sl_index stmt)
{
  return shadow->plan->kernel->stmts.data[stmt].block;
}

/* Names of registers, for the plan. */
sl_name sl_shadow_register_name(void *shadow, const struct sl_regcode *code, struct sl_vreg_role role);

#endif
