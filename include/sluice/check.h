/* sluice/check.h: judging synchronized programs.
 *
 * The checker runs a kernel for many choices of what the run decides (trip counts, conditions) and asks, for every instance
 * of every dependence, whether the waits order it in all interleavings. It knows nothing of how the waits were made.
 * docs/check.md says what is exact and what is "holds for the runs tried".
 */
#ifndef SLUICE_CHECK_H
#define SLUICE_CHECK_H

#include <sluice/program.h>
#include <sluice/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Fixes what the run decides: the values tried for a parameter (each >= 0), or the sequence of values of a loaded register or
 * of outcomes of an opaque condition (0 or 1), repeated from the start when it runs out; or that the outcomes of a condition are
 * drawn at random: by the seed, the condition's name and how many were drawn before, hence the same everywhere. */
typedef struct sluice_input {
  const char *name;
  const int64_t *values; /**< NULL: random outcomes */
  size_t count;          /**< >= 1, of values */
  uint64_t seed;         /**< of random outcomes */
} sluice_input;

/** How far a check is. */
typedef struct sluice_check_progress {
  const char *kernel;   /**< valid during the call */
  bool is_judging;      /**< false: trying runs; true: looking at waits that may be stronger than needed */
  uint64_t done, total; /**< runs, or waits when judging */
  uint64_t events;      /**< instructions executed so far for this kernel */
} sluice_check_progress;

typedef struct sluice_check_options {
  /** Take the dependences from this verified program instead (the unsynchronized kernel), matching instructions by label;
   * kernels are matched by name. NULL: the program's own. */
  const sluice_program *against;
  /** Fixed inputs. A `static` parameter takes one value where dependences are found from accesses: they are those of that value. */
  const sluice_input *inputs;
  size_t input_count;
  uint64_t max_events; /**< executed instructions over all runs, 0 = unlimited */
  uint32_t max_runs;   /**< runs per kernel before sampling */
  uint64_t seed;       /**< of the sample */
  bool judge_waits;    /**< also look for redundant and loose waits */
  bool minimal;        /**< find a set of redundant waits that may be deleted together */
  /** Called after every run and every judged wait, on the calling thread; it must return and not use the result. May be NULL. */
  void (*progress)(void *context, const sluice_check_progress *progress);
  void *progress_context;
} sluice_check_options;
#define SLUICE_CHECK_OPTIONS_INIT { NULL, NULL, 0, 50000000, 4096, 1, true, false, NULL, NULL }

/** One finding about a kernel. Text is owned by the result. */
typedef struct sluice_finding {
  enum sluice_severity severity; /**< error: the kernel is wrong; warning: it waits more than it must */
  const char *rule;              /**< of the family "check" in sluice_rules: "race", "deadlock", ... */
  const char *kernel;
  const char *text;              /**< one line */
  uint32_t line, column;         /**< of the instruction or wait it is about, in the checked program; 0 = unknown */
  const char *const *notes;      /**< the witness, a line each */
  const uint32_t *note_lines, *note_columns; /**< places of the notes, 0 = none */
  size_t note_count;
  const sluice_diag *diag;       /**< all of it as a message, with file names and source lines: for sluice_diag_format */
} sluice_finding;

enum sluice_verdict {
  SLUICE_VERDICT_OK,        /**< right for all runs tried (which ones: see `runs_text`) */
  SLUICE_VERDICT_WRONG,     /**< an error was found */
  SLUICE_VERDICT_UNDECIDED  /**< no error found, but not everything could be decided within the budget */
};

typedef struct sluice_check_result sluice_check_result;

/** Checks every kernel of a verified program. Returns SLUICE_OK with a result whatever the verdict is;
 * SLUICE_E_INPUT (reported) when the call makes no sense (an unknown input name, no kernel of that name in `against`). */
SLUICE_API int sluice_check(sluice_check_result **result, const sluice_program *program, const sluice_targets *targets,
                            const sluice_check_options *options, const sluice_sink *sink);
/** Frees a result. NULL is allowed. */
SLUICE_API void sluice_check_result_free(sluice_check_result *result);

/** WRONG when a finding is an error, else UNDECIDED when something was not decided, else OK. */
SLUICE_API enum sluice_verdict sluice_check_verdict(const sluice_check_result *result);
/** Findings in the order of kernels; borrowed. */
SLUICE_API const sluice_finding *sluice_check_findings(const sluice_check_result *result, size_t *count);

/** What was run for one kernel. */
typedef struct sluice_check_summary {
  const char *kernel;
  uint64_t runs, events, instances; /**< runs, executed instructions, dependence instances tested */
  bool is_sample;                   /**< the choices were too many: a seeded pairwise sample was run */
  bool is_exact;                    /**< within each run the answer covers all interleavings */
  const char *runs_text;            /**< which choices, e.g. "n in {0..4, 1000}; ?c in 6 patterns" */
} sluice_check_summary;
/** One summary per kernel that was run; borrowed. */
SLUICE_API const sluice_check_summary *sluice_check_summaries(const sluice_check_result *result, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
