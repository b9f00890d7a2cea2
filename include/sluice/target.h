/* sluice/target.h: machine descriptions.
 *
 * A set of targets holds the descriptions a session works with: those built into the library and those loaded from text
 * (targets/NAME.target; docs/targets.md has the format). A set that is not being changed may be shared by threads.
 */
#ifndef SLUICE_TARGET_H
#define SLUICE_TARGET_H

#include <sluice/base.h>
#include <sluice/diag.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sluice_targets sluice_targets;

/** A set with the built-in targets: trn1, trn2, generic, generic-weak. */
SLUICE_API int sluice_targets_new(sluice_targets **targets);
SLUICE_API void sluice_targets_free(sluice_targets *targets);

/** Adds the descriptions in a text; one of a known name replaces it. SLUICE_E_INPUT (reported): nothing was added. */
SLUICE_API int sluice_targets_load(sluice_targets *targets, const char *name, const char *text, size_t length,
                                   const sluice_sink *sink);

/** Number of targets and their names, in order of addition (borrowed). */
SLUICE_API size_t sluice_targets_count(const sluice_targets *targets);
SLUICE_API const char *sluice_targets_name(const sluice_targets *targets, size_t index);
/** One-line summary of a target (borrowed). */
SLUICE_API const char *sluice_targets_summary(const sluice_targets *targets, size_t index);

/** A readable description of one target: engines, queues, memory, semaphores, registers, opcodes, parameters, each with its
 * provenance. `json` chooses JSON. SLUICE_E_INPUT when there is none of that name. */
SLUICE_API int sluice_targets_describe(char **text, const sluice_targets *targets, const char *name, bool json);

#ifdef __cplusplus
}
#endif
#endif
