/* sluice/diag.h: diagnostics and the table of rules.
 *
 * The library reports through a sink: a callback that receives one diagnostic at a time, complete with notes. Everything a
 * diagnostic points at is borrowed for the duration of the call.
 */
#ifndef SLUICE_DIAG_H
#define SLUICE_DIAG_H

#include <sluice/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sluice_severity { SLUICE_ERROR = 0, SLUICE_WARNING = 1, SLUICE_NOTE = 2 };

/** One message. Lines and columns count from 1; line 0 means that no place is known. Columns count bytes. */
typedef struct sluice_diag {
  enum sluice_severity severity;
  const char *rule;        /**< stable rule id, e.g. "dep-backward"; "" on notes */
  const char *file;        /**< name of the input as the caller gave it; never NULL */
  uint32_t line, column;   /**< place in that file */
  const char *text;        /**< the message, one line, no full stop */
  const char *source_line; /**< the line of the input, NUL-terminated, without its end; NULL when unknown */
  const char *origin_file; /**< location from another tool (`from "f.pto":12:3`), NULL when there is none */
  uint32_t origin_line, origin_column;
  const struct sluice_diag *notes; /**< further places that belong to this message */
  size_t note_count;
} sluice_diag;

/** Where messages go. A NULL sink, or a NULL `emit`, discards them. */
typedef struct sluice_sink {
  void (*emit)(void *user, const sluice_diag *diag);
  void *user;
} sluice_sink;

/** Renders a message with source line, caret and notes, as compilers print it:
 * `file:line:col: error: text [rule]`. The text ends with a newline; free it with sluice_string_free. */
SLUICE_API int sluice_diag_format(char **text, const sluice_diag *diag);

/** The candidate closest to a text by edit distance, or NULL when none is close: for "did you mean". */
SLUICE_API const char *sluice_closest(const char *text, const char *const *candidates, size_t count);

/** One row of the table of rule ids. */
typedef struct sluice_rule {
  const char *id;      /**< stable */
  const char *family;  /**< "language", "program", "target", "sync", ... */
  const char *summary; /**< one sentence */
} sluice_rule;

/** The table of all rules, sorted as documented. Static storage. */
SLUICE_API const sluice_rule *sluice_rules(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
