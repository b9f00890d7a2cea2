/* machine.h: one run of a synchronized kernel: all engines step until none can, every instruction retires at once.
 *
 * Counters only grow, so an enabled step stays enabled: this one maximal run decides deadlock, and the vector clocks it
 * carries decide, for every dependence instance, whether the waits order it in all interleavings and at any pipeline depth.
 *
 * Clocks. Every engine (for issue) and every stream (for retirement) has a clock; an entry says how far a stream is known to
 * have got. Entries ("lanes"): per stream the producers retired (tested against the reference's positions) and the updates
 * retired (to skip what a waiter knows already); per engine the instructions issued, where `==` or sem_set need it.
 *   I(x) = join(I(previous on the engine), R(update) of each wait's update);  R(x) = join(R(previous on the stream), I(x))
 *
 * What is exact. Semaphores with one writing stream, events with one waiting engine and one writing stream, barriers,
 * `barrier reset`, `==` waits and sem_set ordered against every other use: exactly all interleavings. A semaphore with several
 * writing streams gives no edge here (a sound under-approximation of the order); what then looks unordered is decided by a run
 * in which the producer's retirement is held back: the dependence fails iff the consumer still issues. Likewise an `==` may
 * be missed iff the counter passes its value in a run in which its engine stops in front of it. Anything else is answered
 * "undecided".
 */
#ifndef SL_CHECK_MACHINE_H
#define SL_CHECK_MACHINE_H

#include "check/reference.h"

enum sl_run_status {
  SL_RUN_OK,
  SL_RUN_RACE,       /* a dependence instance is not ordered */
  SL_RUN_DEADLOCK,   /* engines stop for ever */
  SL_RUN_LEAK,       /* a semaphore does not end where it began */
  SL_RUN_LIMIT,      /* a semaphore outgrows its width */
  SL_RUN_MISMATCH,   /* the kernel does not execute what the reference executes */
  SL_RUN_UNDECIDED,  /* a use of semaphores that is not handled */
  SL_RUN_MEANINGLESS, /* the inputs give no meaning: division by zero, engines disagree, an undefined register */
  SL_RUN_EXHAUSTED   /* out of budget */
};

/* A way to weaken the waits: deleted[w] for waits by index in kernel->waits; `lowered` is lowered by one update. */
struct sl_weakening {
  const bool *deleted;    /* NULL = none */
  uint32_t lowered;       /* index + 1, 0 = none */
};

/* What went wrong. */
struct sl_witness {
  sl_index stmt;              /* in the checked kernel */
  uint32_t engine;
  uint32_t need;              /* RACE: index into reference->needs */
  uint32_t position, seen;    /* RACE: chain position wanted, and the one known at issue */
  uint32_t instance;          /* RACE: the consumer's number among its engine's instances; 0 = `iteration` says it */
  uint32_t stream;            /* RACE: the producer's stream, in the reference's kernel */
  uint32_t sem;               /* LEAK, LIMIT: index into kernel->sems; UNDECIDED: what it is about */
  sl_index missing;           /* MISMATCH: an instruction of the reference's kernel that is not here; 0 = something else */
  bool is_event;
  uint32_t value;             /* LEAK: final value */
  const char *why;            /* UNDECIDED, MISMATCH, MEANINGLESS: static text */
  char iteration[256];        /* of stmt, on its engine */
};

/* A dependence instance that the clocks leave open: to be decided by a held-back run. */
struct sl_suspect {
  uint32_t stream, position;  /* the instance held back: stream of the reference's kernel */
  uint32_t engine, instance;  /* the consumer: its number among the engine's reference instances, from 1 */
  uint32_t need, seen;
  sl_index stmt;
};

/* An `==` that the clocks do not order before an update which passes its value: decided by a run in which its engine stops
 * in front of it. */
struct sl_exact_suspect {
  uint32_t engine, issue, sem, value;
  sl_index stmt;
};

struct sl_update {
  uint32_t units;    /* value of the semaphore behind it, minus base */
  uint32_t position; /* update position on its stream */
};

struct sl_exact_wait {
  uint32_t value, engine, issue;
  sl_index stmt;
};

struct sl_sem_state {
  uint32_t value, base;       /* now, and at the start of the epoch */
  uint32_t forgotten;         /* units of the newest update dropped: every waiter knows it */
  sl_vec(struct sl_update) updates; /* kept ones; clock snapshots beside them */
  sl_vec(uint32_t) clocks;
  uint32_t last_found;        /* where in `updates` the latest wait found its own */
  uint32_t prune_at;          /* number of updates at which the next attempt to drop some is due */
  uint32_t set_engine, set_issue; /* last sem_set: engine + 1, issue number */
  sl_vec(struct sl_exact_wait) exact; /* `==` waits whose value has not been passed */
  bool is_multi;              /* written by several streams */
  uint32_t largest_update;    /* largest `by` of its increments, at least 1 */
  sl_engines waiting;         /* engines with a wait on it */
  uint32_t *last_wait;        /* by engine: issue number of the latest wait; only with issue lanes */
  uint32_t *last_update;      /* by stream: position of the latest update; only with issue lanes */
  uint32_t taken;             /* events: waits that took one */
  uint32_t elements;          /* first of an event's states: how many there are */
};

struct sl_machine {
  sl_heap *heap;
  struct sl_machine_code code;
  struct sl_reference *reference;
  sl_index *matched;            /* by statement: the reference's statement, or 0 */
  uint32_t *reference_engine;   /* own engine -> the reference's, or UINT32_MAX */
  uint32_t *stream_of_reference; /* reference stream -> own stream, or SL_NO_STREAM */
  uint32_t lanes, producer_lane0, update_lane0, issue_lane0; /* lane of stream s: lane0 + s; issue: + engine */
  bool has_issue_lanes, has_exact_waits;
  uint32_t *sem_of, *event_of;  /* by name: index + 1 into kernel->sems / events */
  struct sl_sem_state *sems;    /* by index; events follow the semaphores */
  uint32_t sem_count, event_count;
  /* state of a run */
  struct sl_inputs inputs;
  struct sl_weakening weakening;
  struct sl_engine_state *states;
  struct sl_machine_engine *engines;
  uint32_t *engine_clock, *stream_clock; /* rows of `lanes` */
  uint64_t limit, steps;
  uint64_t instances;           /* dependence instances tested */
  bool *is_tested;              /* by need: some run so far had an instance of it */
  uint32_t held_stream, held_position; /* SL_NO_STREAM: none; in own streams */
  bool *is_held;                /* by stream: nothing retires any more */
  uint32_t held_engine, held_issue; /* the engine stops in front of that issue; 0: none */
  bool with_clocks, multi_used;
  bool may_run_ahead;           /* an engine may need what the reference comes to much later */
  enum sl_run_status status;
  struct sl_witness witness;
  sl_vec(struct sl_suspect) suspects;
  sl_vec(struct sl_exact_suspect) exact_suspects;
};

struct sl_machine_engine {
  struct sl_thread thread;
  const struct sl_step *step;   /* what it stands at, or NULL: to be fetched */
  bool at_barrier, finished;
  bool stopped;                 /* behind a load that is held back */
  uint32_t issued;              /* instructions */
  uint32_t instances;           /* reference instances issued */
};

/* Prepares a machine for the kernel; `reference` is prepared for the kernel that gives the dependences. Instructions are
 * matched by label. Returns SL_RUN_OK, SL_RUN_MISMATCH or SL_RUN_UNDECIDED with the witness filled. */
enum sl_run_status sl_machine_init(struct sl_machine *machine, sl_heap *heap, const sl_program *program,
                                   const struct sl_kernel *kernel, const struct sl_target *target,
                                   struct sl_reference *reference);

/* One run with clocks. `own` and `of_reference` are the inputs as the two kernels see them. The witness tells more. */
enum sl_run_status sl_machine_run(struct sl_machine *machine, const struct sl_inputs *own,
                                  const struct sl_inputs *of_reference, struct sl_weakening weakening, uint64_t limit);

#endif
