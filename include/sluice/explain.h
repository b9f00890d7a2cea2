/* sluice/explain.h: why an instruction waits: text for people, JSON for programs.
 *
 * Everything is found in the synchronized kernel and its dependences; nothing is known of how the waits were made, so
 * kernels from anywhere can be explained.
 */
#ifndef SLUICE_EXPLAIN_H
#define SLUICE_EXPLAIN_H

#include <sluice/program.h>
#include <sluice/sim.h>
#include <sluice/target.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sluice_explain_options {
  /** What the program was synchronized from: places are shown in its text. NULL: the program was itself read from text. */
  const sluice_program *origin;
  /** A simulation of the kernel, for what each wait costs. NULL: costs are left out. */
  const sluice_sim_result *costs;
  /** Why there are no costs, to be said with the answer; NULL: nothing is said. */
  const char *no_costs_because;
  /** The same answer as one JSON object; docs/simulator.md has its keys. */
  bool as_json;
} sluice_explain_options;
#define SLUICE_EXPLAIN_OPTIONS_INIT \
  {                                 \
    NULL, NULL, NULL, false         \
  }

/** Explains the waits of one instruction (each copy of it, if there are several) of a verified program: what it waits for, which
 * dependence that is, what the semaphore counts, how the threshold is computed, what it costs; and why its other
 * dependences have no wait. *text is freed with sluice_string_free. SLUICE_E_INPUT (reported): no instruction has the label.
 * O(statements * registers that go into one threshold + dependences). */
SLUICE_API int sluice_explain(char **text, const sluice_program *program, size_t kernel, const char *label,
                              const sluice_targets *targets, const sluice_explain_options *options,
                              const sluice_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
