/* sluice/base.h: status codes, version and linkage of the public C API.
 *
 * Rules that hold for every function of the API:
 *  - It returns 0 (SLUICE_OK) or one of the negative codes below; messages go to the diagnostic sink.
 *  - The out-parameter comes first and is set to NULL/0 when the call fails.
 *  - `_new`, `_parse`, `_build`, `_sync` hand over ownership, to be ended by the matching `_free`;
 *    `_get` and accessors borrow from the object and stay valid until it is freed.
 *  - The library keeps no global state, never prints and never exits. Different objects may be used from different
 *    threads at once; one object by one thread at a time, except that any number of threads may read it together.
 *  - A caller's mistake (NULL where an object is required) is asserted, not reported.
 */
#ifndef SLUICE_BASE_H
#define SLUICE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLUICE_VERSION_MAJOR 0
#define SLUICE_VERSION_MINOR 1
#define SLUICE_VERSION_PATCH 0
#define SLUICE_VERSION "0.1.0"

#if defined(__GNUC__)
#define SLUICE_API __attribute__((visibility("default")))
#else
#define SLUICE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What a call answers. */
enum sluice_status {
  SLUICE_OK = 0,
  SLUICE_E_INPUT = -1,     /**< the input is not a legal kernel or target; diagnostics say where */
  SLUICE_E_ANSWER = -2,    /**< the input is fine and the answer is no: a limit, a dependence a strategy cannot express */
  SLUICE_E_NO_MEMORY = -3, /**< an allocation failed; nothing was changed */
  SLUICE_E_IO = -4,        /**< a file or a writer failed */
  SLUICE_E_BUDGET = -5     /**< undecided within the budget */
};

/** The version of the library that is linked, as in SLUICE_VERSION. Static storage. */
SLUICE_API const char *sluice_version(void);

/** A short English name of a status code. Static storage; never NULL. */
SLUICE_API const char *sluice_status_name(int status);

/** Frees a string that the API returned through a `char **`. NULL is allowed. */
SLUICE_API void sluice_string_free(char *text);

#ifdef __cplusplus
}
#endif
#endif
