/* simulator.h: the machine: engines, their counters and rings, and what is measured. docs/simulator.md describes the model.
 *
 *   prepare.c    settings, inputs, code with costs, what ideal synchronization leaves out
 *   simulator.c  the run: always the engine or ring that is earliest takes its next step
 *   sim.c        the public entry points and the result
 */
#ifndef SL_SIM_SIMULATOR_H
#define SL_SIM_SIMULATOR_H

#include "base/buf.h"
#include "base/map.h"
#include "base/report.h"
#include "run/code.h"
#include "sim/counter.h"
#include "sim/needs.h"
#include "sim/occupancy.h"
#include "sim/operation.h"
#include "sim/rings.h"
#include "sim/warmth.h"

/* What the description and the settings say of a sequencer, in ticks. */
struct sl_control_costs {
  uint64_t register_op, register_load, branch, semaphore_set, dispatch, visibility;
  uint64_t drain, arrive, release, clear, fetch_miss;
  uint32_t run_ahead, ring_depth, fetch_window;
  bool is_shared;
  bool has_classes; /* transfers are served by class */
};
enum { SL_RUN_AHEAD_MAX = 64, SL_BANKS = 64 };

/* Values that the run needs and the kernel does not have, for one engine. */
struct sl_engine_inputs {
  struct sl_inputs inputs;
  const struct sl_simulator *sim;
  uint32_t engine;           /* UINT32_MAX: of the walk that gives the dependences */
  const struct sl_machine_code *code;
  int64_t *params;
};

enum sl_engine_status {
  SL_ENGINE_READY,
  SL_ENGINE_WAITS,   /* at a gate; `wake` is when it will hold as far as is known */
  SL_ENGINE_RING,    /* at a ring that is full */
  SL_ENGINE_DRAINS,  /* until its transfers have retired */
  SL_ENGINE_BARRIER, /* has arrived */
  SL_ENGINE_ENDED
};

/* One engine: a sequencer and a pipelined datapath. */
struct sl_sim_engine {
  struct sl_engine_inputs inputs;
  struct sl_thread thread;
  const struct sl_step *step; /* what it stands at, NULL: to be fetched */
  uint8_t status;             /* enum sl_engine_status */
  uint64_t wake;              /* when it has its next turn; SL_NEVER: others have to do something first */
  struct sl_stamp now;        /* of the sequencer */
  struct sl_stamp retired;    /* of its own latest instruction */
  struct sl_stamp ends[SL_RUN_AHEAD_MAX + 1]; /* when intervals end: instruction n at n modulo the size */
  uint64_t issued;            /* datapath instructions */
  struct sl_warmth warmth;
  struct sl_stamp generator;  /* when descriptor generation is free */
  uint32_t gates_passed;      /* of the instruction it stands at */
  bool is_met;                /* IDEAL: the needs of the same have been read */
  sl_vec(uint32_t) needs;     /* IDEAL: numbers, in the order of the edges */
  uint64_t since;             /* when its wait began; SL_NEVER: it does not wait */
  uint32_t in_rings;          /* transfers it has triggered that have not moved all their data */
  struct sl_stamp rings_retired;
};

/* Idle time because of one gate (or dependence), by whose retirement ended it. */
struct sl_stall_sum {
  sl_index stmt;
  uint32_t gate;     /* index into waits; IDEAL: into the needs' edges */
  sl_index producer; /* statement, SL_NONE = unknown */
  uint64_t ticks, longest, count;
};

struct sl_sim_totals {
  uint64_t instructions, wait_slots, barriers, register_operations, branches;
};

struct sl_simulator {
  sl_heap *heap;
  sl_program *program;
  struct sl_kernel *kernel;
  struct sl_target *target;   /* a copy with the settings */
  const sluice_sim_options *options;
  sl_report *report;
  bool is_ideal;
  struct sl_control_costs costs;
  struct sl_machine_code code;
  struct sl_operations operations;
  struct sl_engine_inputs base; /* of all engines alike */
  /* IDEAL */
  sl_program *giving_program;
  struct sl_kernel *giving;
  struct sl_needs needs;
  struct sl_engine_inputs needs_inputs;
  sl_index *matched;          /* by statement: of the kernel that gives the dependences */
  uint32_t *their_engine;     /* own engine -> theirs, or UINT32_MAX */
  uint32_t *own_stream;       /* their stream -> own */
  bool *is_kept;              /* by statement: it is executed */
  /* state */
  struct sl_sim_engine *engines;
  struct sl_engine_state *states;
  uint32_t engine_count;
  uint32_t *sem_of, *event_of; /* by name: index of the counter + 1 */
  struct sl_counter *counters;
  uint32_t counter_count, sem_count; /* semaphores first */
  struct sl_rings rings;
  uint64_t *held_until;       /* exclusions: by (exclusion, side, bank) until when others are kept out */
  uint64_t *result_at;        /* by statement: when the result of its latest execution is there */
  uint64_t clock;             /* all that happens before it has happened */
  uint64_t limit;             /* up to here the engine whose turn it is may go on */
  uint64_t steps, instance;
  int status;                 /* of the run */
  /* measured */
  sluice_sim_stream *streams;
  struct sl_sim_totals totals;
  sl_map stall_of;
  sl_vec(struct sl_stall_sum) stalls;
  struct sl_stamp end;
  /* trace */
  sl_vec(const char *) counter_names;
  struct sl_occupancy occupancy;
  sl_buf iteration, text;     /* scratch */
};

/* Only that the kernel asks for all inputs. Returns SLUICE_OK or SLUICE_E_INPUT (reported); the run needs sl_simulator_init. */
int sl_simulator_check_inputs(struct sl_simulator *sim);
/* Returns SLUICE_OK or SLUICE_E_INPUT (reported). `kernel` belongs to `program`, whose copies are expanded. */
int sl_simulator_init(struct sl_simulator *sim);
/* Returns SLUICE_OK, SLUICE_E_INPUT, SLUICE_E_ANSWER, SLUICE_E_BUDGET; all reported. */
int sl_simulator_run(struct sl_simulator *sim);

#endif
