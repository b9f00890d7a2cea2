/* sluice/program.h: programs: reading, writing, comparing.
 *
 * A program holds the kernels of one file, with or without synchronization. Text and JSON carry the same program;
 * docs/language.md has the grammar and the meaning, docs/kernel.schema.json the JSON schema.
 */
#ifndef SLUICE_PROGRAM_H
#define SLUICE_PROGRAM_H

#include <sluice/base.h>
#include <sluice/diag.h>
#include <sluice/target.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sluice_program sluice_program;

/** Reads kernel text (.slu). `name` is the file name for diagnostics; `text` need not be NUL-terminated and may be freed
 * after the call; at most 2^31 - 2 bytes. Several errors are reported in one call.
 * Returns SLUICE_OK, SLUICE_E_INPUT (reported), SLUICE_E_NO_MEMORY. O(length). */
SLUICE_API int sluice_program_parse(sluice_program **program, const char *name, const char *text, size_t length,
                                    const sluice_sink *sink);

/** The same for the JSON form. */
SLUICE_API int sluice_program_parse_json(sluice_program **program, const char *name, const char *text, size_t length,
                                         const sluice_sink *sink);

/** Frees a program. NULL is allowed. */
SLUICE_API void sluice_program_free(sluice_program *program);

/** Checks a program: names, scopes, registers, dependences, and against its target engines, opcodes, memory and sizes.
 * Resolves streams against the target, which sluice_sync and sluice_program_stats need.
 * Returns SLUICE_OK or SLUICE_E_INPUT (all errors reported), SLUICE_E_NO_MEMORY. */
SLUICE_API int sluice_program_verify(sluice_program *program, const sluice_targets *targets, const sluice_sink *sink);

/** Prints as canonical .slu text (what `sluice fmt` prints). *length may be NULL; it excludes the final NUL. */
SLUICE_API int sluice_program_print(char **text, size_t *length, const sluice_program *program);

/** Prints as JSON, two-space indented, ending with a newline. */
SLUICE_API int sluice_program_print_json(char **text, size_t *length, const sluice_program *program);

/** Whether two programs are the same, comments included and source positions excluded. When they differ and why is not
 * NULL, *why names the first difference (static storage). */
SLUICE_API bool sluice_program_equal(const sluice_program *a, const sluice_program *b, const char **why);

/** Number of kernels, and the name of one (borrowed). */
SLUICE_API size_t sluice_program_kernel_count(const sluice_program *program);
SLUICE_API const char *sluice_program_kernel_name(const sluice_program *program, size_t kernel);

/** Keeps only the kernel of that name. SLUICE_E_INPUT (reported) when there is none. */
SLUICE_API int sluice_program_select(sluice_program *program, const char *kernel, const sluice_sink *sink);

/** Gives a parameter of every kernel that has it another default value (`-D name=value`), value >= 0.
 * SLUICE_E_INPUT (reported) when no kernel has such a parameter. */
SLUICE_API int sluice_program_define(sluice_program *program, const char *name, int64_t value, const sluice_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
