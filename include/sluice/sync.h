/* sluice/sync.h: synchronizing programs, and counting what a synchronized program uses. */
#ifndef SLUICE_SYNC_H
#define SLUICE_SYNC_H

#include <sluice/program.h>
#include <sluice/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How waits are made. docs/strategies.md says what each can express. */
enum sluice_alloc {
  SLUICE_ALLOC_SHADOW = 0, /**< shadow counters and delay lines: every carrying loop and distance */
  SLUICE_ALLOC_PER_LOOP,   /**< the published closed form, one semaphore per (loop, stream) */
  SLUICE_ALLOC_BARRIER,    /**< all-engine barriers at every loop arrival and iteration end */
  SLUICE_ALLOC_PER_INSTRUCTION, /**< the published closed form, one semaphore per awaited instruction */
  SLUICE_ALLOC_UNROLL,     /**< loops with static trip counts written out, thresholds are numbers */
  SLUICE_ALLOC_PER_ENGINE  /**< one semaphore per stream, by shadow counters (the published sum is wrong) */
};

/** Which instructions share a semaphore, for SLUICE_ALLOC_SHADOW. */
enum sluice_counters {
  /** As few as the target has semaphores for, inner loops first: none while half of them are enough, those of one loop
   * body and stream, those of one stream. */
  SLUICE_COUNTERS_AUTO = 0,
  SLUICE_COUNTERS_LOOP,        /**< those of one loop body and stream */
  SLUICE_COUNTERS_INSTRUCTION, /**< none */
  SLUICE_COUNTERS_ENGINE       /**< those of one stream */
};

/** One row of the table of strategies, and the table, the default first; *count is its length. Static storage. */
typedef struct sluice_strategy {
  enum sluice_alloc alloc;
  const char *name;    /**< as in --alloc=NAME */
  const char *summary;
} sluice_strategy;
SLUICE_API const sluice_strategy *sluice_strategies(size_t *count);

/** Clean-ups of the code that computes thresholds; a set of them. None is the published setting: everything is computed again
 * at every wait, by the closed forms into the same few registers. */
enum sluice_cleanup {
  SLUICE_CLEANUP_NONE = 0,
  SLUICE_CLEANUP_FOLD = 1,       /**< constant folding and propagation */
  SLUICE_CLEANUP_COMMON = 2,     /**< common subexpressions; implies REGISTERS */
  SLUICE_CLEANUP_INVARIANT = 4,  /**< loop-invariant motion; implies REGISTERS */
  SLUICE_CLEANUP_DEAD = 8,       /**< counters and registers that no wait needs */
  SLUICE_CLEANUP_REGISTERS = 16, /**< temporaries share registers */
  SLUICE_CLEANUP_WAITS = 32,     /**< waits that an earlier one of the same engine implies */
  SLUICE_CLEANUP_ALL = 63
};
/** One row of the table of clean-ups, and the table. Static storage. */
typedef struct sluice_cleanup_row {
  enum sluice_cleanup cleanup;
  const char *name; /**< as in --cleanup=NAME,NAME */
  const char *summary;
} sluice_cleanup_row;
SLUICE_API const sluice_cleanup_row *sluice_cleanups(size_t *count);

/** One row of the table of passes, and the table, in the order they run. Static storage. */
typedef struct sluice_pass {
  const char *name;
  const char *summary;
} sluice_pass;
SLUICE_API const sluice_pass *sluice_passes(size_t *count);

typedef struct sluice_sync_options {
  enum sluice_alloc alloc;
  enum sluice_counters counters; /**< for SLUICE_ALLOC_SHADOW */
  unsigned cleanups;             /**< set of enum sluice_cleanup */
  bool resync; /**< strip existing synchronization first instead of refusing the kernel */
  /** Called after each pass with the program as it stands; NULL = not wanted. Seconds is the pass's own CPU time,
   * for all kernels together; the program is borrowed for the call. */
  void (*after_pass)(void *user, const char *pass, const sluice_program *program, double seconds);
  void *user;
} sluice_sync_options;
#define SLUICE_SYNC_OPTIONS_INIT { SLUICE_ALLOC_SHADOW, SLUICE_COUNTERS_AUTO, SLUICE_CLEANUP_ALL, false, NULL, NULL }

/** Synchronizes every kernel of a verified program. The input is not changed; on success *out is a new program, verified.
 * Returns SLUICE_OK; SLUICE_E_INPUT: the kernel is not legal input (already synchronized, ...); SLUICE_E_ANSWER: the
 * strategy cannot express a dependence, or a limit is exceeded; all reported. Nothing is dropped in silence. */
SLUICE_API int sluice_sync(sluice_program **out, const sluice_program *program, const sluice_targets *targets,
                           const sluice_sync_options *options, const sluice_sink *sink);

/** What a kernel uses, by the rules of its target. Static counts: each statement counts once, however often it runs. */
typedef struct sluice_stats {
  uint64_t instructions;  /**< datapath instructions */
  uint64_t waits;         /**< gates on instructions */
  uint64_t updates;       /**< increments on instructions */
  uint64_t semaphores;    /**< semaphores declared */
  uint64_t registers;     /**< largest number of registers named on one engine */
  uint64_t
      wait_registers; /**< the same of those that only thresholds are computed with, which the kernel itself does not need */
  uint64_t register_operations;
  uint64_t barriers;      /**< barrier statements */
  uint64_t slots;         /**< instruction slots over all engines: docs/targets.md has the rules */
  uint64_t bytes;         /**< slots times the slot size */
} sluice_stats;

/** Counts one kernel of a verified program, kernel < sluice_program_kernel_count. Returns SLUICE_OK or SLUICE_E_NO_MEMORY. */
SLUICE_API int sluice_program_stats(sluice_stats *stats, const sluice_program *program, size_t kernel,
                                    const sluice_targets *targets);

/** What the closed form needs by the rule of arXiv 2608.13757, in registers per engine: for every loop one that counts its
 * iterations, one that counts those of the current visit, a mask and a threshold; the second not where the loop carries no
 * distance above 0. To be compared with `wait_registers` of a kernel by SLUICE_ALLOC_PER_LOOP without clean-ups, which does not
 * keep what no wait of an engine needs. Of one kernel of a verified program without synchronization. Returns SLUICE_OK,
 * SLUICE_E_INPUT or SLUICE_E_ANSWER (its dependences cannot be resolved; said by sluice_sync) or SLUICE_E_NO_MEMORY. */
SLUICE_API int sluice_published_registers(uint64_t *count, const sluice_program *program, size_t kernel,
                                          const sluice_targets *targets);

#ifdef __cplusplus
}
#endif
#endif
