/* sluice/sim.h: predicting what a kernel costs: a discrete-event simulation with the cost model of its target.
 *
 * docs/simulator.md has the model and says how far its numbers can be trusted. Time is in ticks of the target (integers);
 * the same call gives the same answer on every machine.
 */
#ifndef SLUICE_SIM_H
#define SLUICE_SIM_H

#include <sluice/check.h>
#include <sluice/program.h>
#include <sluice/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Gives a parameter of the target another value for one call. Beside the parameters that `sluice targets NAME` lists, in
 * their units: `qd` (run_ahead), `shared` (0: every DMA ring has the whole bandwidth to itself), `ring_depth` (transfers that
 * a ring holds before its trigger stops), `fetch_window` (instruction slots that stay loaded; 0: all), `fetch_miss` (ns of a
 * jump out of them). */
typedef struct sluice_setting {
  const char *name;
  double value;
} sluice_setting;

enum sluice_sim_sync {
  SLUICE_SIM_AS_WRITTEN,
  /** The limit every strategy is compared with: same loops, branches and address operations, but an instruction waits for
   * exactly what its dependences ask, without threshold operations, wait slots, barriers or visibility delay. */
  SLUICE_SIM_IDEAL
};

/* ---- traces ---- */

/** One stream that issues or retires: an engine or a queue. */
typedef struct sluice_sim_stream {
  const char *name;
  bool is_queue;
  uint32_t trigger;   /**< queues: index of the engine that issues for them; engines: their own index */
  uint64_t busy;      /**< ticks: datapath or ring occupied */
  uint64_t stalled;   /**< ticks: at a wait, or held back by an exclusion of the target; 0 for queues */
  uint64_t control;   /**< ticks: register operations, branches, dispatch, DMA triggers, loads into registers; 0 for queues */
  uint64_t barrier;   /**< ticks: drains, barriers, the epilogue; 0 for queues */
  uint64_t instructions; /**< executed on it: datapath instructions or transfers */
  uint64_t end;       /**< tick of its last activity */
} sluice_sim_stream;

/** A buffer on the chip. */
typedef struct sluice_trace_buffer {
  const char *name, *space;
  const bool *is_touched; /**< by stream: it has an instruction that names the buffer */
} sluice_trace_buffer;

/** What a trace starts with; valid until the call returns. */
typedef struct sluice_trace_head {
  const char *kernel, *target;
  double ticks_per_ns;
  const sluice_sim_stream *streams; /**< names and triggers; the rest is 0 */
  size_t stream_count;
  const char *const *counters;      /**< names: semaphores, then events (elements as `e[1]`) */
  size_t counter_count;
  const sluice_trace_buffer *buffers; /**< when there is a callback for them */
  size_t buffer_count;
} sluice_trace_head;

enum sluice_lane {
  SLUICE_LANE_CONTROL,  /**< the sequencer of an engine; slices never overlap and come in order */
  SLUICE_LANE_DATAPATH, /**< the datapath of an engine, the data phase of a queue; never overlap, in order */
  SLUICE_LANE_FLIGHT    /**< from issue to retirement; may overlap, retire in order */
};

enum sluice_slice_kind {
  SLUICE_SLICE_EXECUTE, /**< an instruction on the datapath, a transfer */
  SLUICE_SLICE_FLIGHT,  /**< an instruction from issue to retirement */
  SLUICE_SLICE_CONTROL, /**< register operations, branches, dispatch of one instruction, together */
  SLUICE_SLICE_LOAD,    /**< reg_load, while the stream stops */
  SLUICE_SLICE_WAIT,    /**< at a wait that does not hold yet */
  SLUICE_SLICE_BLOCKED, /**< held back by an exclusion, a full ring or a busy datapath */
  SLUICE_SLICE_DRAIN,   /**< drain, and the drain part of a barrier */
  SLUICE_SLICE_BARRIER  /**< from its own drain to the release */
};

/** A span of time on one lane of one stream. Texts are valid during the call. */
typedef struct sluice_slice {
  uint32_t stream;       /**< index into the head's streams */
  enum sluice_lane lane;
  enum sluice_slice_kind kind;
  uint64_t start, end;   /**< ticks, start <= end */
  const char *name;      /**< label, or opcode without one; of a WAIT: what it waits for, as in `s >= 12` */
  const char *iteration; /**< "i = 2, j = 0"; "" outside of loops */
  uint64_t instance;     /**< number of the instruction's execution, from 1: ties its slices together; 0 = none */
  uint32_t line, column; /**< of the statement in its source, 0 = unknown */
  uint64_t awaited;      /**< WAIT: instance whose retirement ended it, 0 = unknown */
  uint32_t awaited_stream; /**< WAIT with awaited: its stream */
  const char *waiting;   /**< WAIT: label, or opcode, of the instruction that waits; else NULL */
} sluice_slice;

/** Called while the simulation runs; any may be NULL. Slices of one lane come in order of `start` (of FLIGHT: of issue),
 * changes of one counter in order of time, those of all buffers together; between lanes there is no order. */
typedef struct sluice_trace {
  void (*begin)(void *user, const sluice_trace_head *head);
  void (*slice)(void *user, const sluice_slice *slice);
  void (*counter)(void *user, uint32_t counter, uint64_t time, uint64_t value); /**< as waits see it */
  /** How many bytes of a buffer are in use from here on, of all its copies; docs/simulator.md has what that means. */
  void (*buffer)(void *user, uint32_t buffer, uint64_t time, uint64_t bytes);
  void (*end)(void *user, uint64_t ticks);
  void *user;
} sluice_trace;

/* ---- the call ---- */

typedef struct sluice_sim_options {
  enum sluice_sim_sync sync;
  const sluice_program *against; /**< IDEAL: the verified program that gives the dependences; NULL: the program's own */
  /** Values of parameters, of loaded registers without `assume`, of opaque conditions: `name`, or `name@engine` for one
   * engine's own. The last value of a parameter counts; sequences start again at their end. Otherwise: the defaults, 0, 0. */
  const sluice_input *inputs;
  size_t input_count;
  /** For kernels made of another one, which may have lost a condition: inputs that they do not ask for are no error. */
  bool ignore_unknown_inputs;
  const sluice_setting *settings;
  size_t setting_count;
  uint64_t max_steps;        /**< executed steps of all engines, 0 = unlimited */
  const sluice_trace *trace; /**< NULL: none */
  /** What the program was synchronized from: lines are those of its text. NULL: the program was itself read from text. */
  const sluice_program *origin;
} sluice_sim_options;
#define SLUICE_SIM_OPTIONS_INIT                                                  \
  {                                                                              \
    SLUICE_SIM_AS_WRITTEN, NULL, NULL, 0, false, NULL, 0, 2000000000, NULL, NULL \
  }

typedef struct sluice_sim_result sluice_sim_result;

/** Whether the kernel asks for all of the options' inputs: SLUICE_OK, or SLUICE_E_INPUT (reported). Nothing is simulated. */
SLUICE_API int sluice_sim_check_inputs(const sluice_program *program, size_t kernel, const sluice_targets *targets,
                                       const sluice_sim_options *options, const sluice_sink *sink);

/** Simulates one kernel of a verified program. Returns SLUICE_OK with a result; SLUICE_E_INPUT: unknown settings, inputs, a
 * parameter without a value, values that cannot be computed; SLUICE_E_ANSWER: the kernel deadlocks; SLUICE_E_BUDGET; all
 * reported. Time: O(executed steps); memory does not depend on trip counts. */
SLUICE_API int sluice_sim(sluice_sim_result **result, const sluice_program *program, size_t kernel,
                          const sluice_targets *targets, const sluice_sim_options *options, const sluice_sink *sink);
SLUICE_API void sluice_sim_result_free(sluice_sim_result *result);

/** The latency alone, in ticks, and in nanoseconds when ns is not NULL: for tables. Returns as sluice_sim. */
SLUICE_API int sluice_sim_latency(uint64_t *ticks, double *ns, const sluice_program *program, size_t kernel,
                                  const sluice_targets *targets, const sluice_sim_options *options,
                                  const sluice_sink *sink);

/* ---- the answer ---- */

/** What the critical path consists of: its parts add up to the latency. */
enum sluice_path_part {
  SLUICE_PATH_DATAPATH,  /**< instructions on engines, until their results are there */
  SLUICE_PATH_DMA,       /**< descriptor generation, start, transfer, completion */
  SLUICE_PATH_SEMAPHORE, /**< updates becoming visible */
  SLUICE_PATH_CONTROL,   /**< register operations, branches, dispatch, loads into registers */
  SLUICE_PATH_BARRIER,   /**< drains, handshakes, clearing */
  SLUICE_PATH_PARTS
};
/** "datapath", "dma", "semaphore", "control", "barrier". Static storage. */
SLUICE_API const char *sluice_path_part_name(enum sluice_path_part part);

typedef struct sluice_sim_summary {
  const char *kernel, *target;
  uint64_t ticks;      /**< from the start until everything has retired and every engine has ended */
  double ns, ticks_per_ns;
  uint64_t path[SLUICE_PATH_PARTS]; /**< ticks */
  uint64_t instructions;   /**< executed datapath instructions and transfers */
  uint64_t register_operations, branches, wait_slots, barriers; /**< executed; barriers by all engines together count 1 */
} sluice_sim_summary;
SLUICE_API const sluice_sim_summary *sluice_sim_summary_get(const sluice_sim_result *result);

/** Engines and queues in the order of the kernel's streams; borrowed. */
SLUICE_API const sluice_sim_stream *sluice_sim_streams(const sluice_sim_result *result, size_t *count);

/** Idle time before one instruction because of one wait, summed over its executions. Texts are owned by the result. */
typedef struct sluice_sim_stall {
  const char *engine;         /**< that was idle */
  const char *label; /**< of the instruction that waited, or whose wait-only slot did; its opcode without label */
  uint32_t line, column;
  const char *waits_for;      /**< "s4 >= %r"; IDEAL: the dependence, "ld -> mul (i: 2)" */
  const char *producer;       /**< label of the instruction whose retirement ended most of the wait, "" when none did */
  const char *producer_stream;
  uint64_t ticks;             /**< idle in all */
  uint64_t longest;           /**< of one execution */
  uint64_t count;             /**< executions that were idle */
} sluice_sim_stall;
/** All of them, longest in all first; borrowed. */
SLUICE_API const sluice_sim_stall *sluice_sim_stalls(const sluice_sim_result *result, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
