/* report.h: how the library's inside reports. A reporter ties a sink to a source text and counts errors.
 *
 *   sl_error(report, SL_RULE_DEP, loc, "...", ...);            one message
 *   sl_report_begin(report, SLUICE_ERROR, SL_RULE_DEP, loc, "..."); sl_report_note(report, loc2, "..."); sl_report_end(report);
 */
#ifndef SL_BASE_REPORT_H
#define SL_BASE_REPORT_H

#include <stdarg.h>

#include <sluice/diag.h>

#include "base/buf.h"
#include "base/source.h"

enum sl_rule {
#define SL_RULE(name, id, family, summary) SL_RULE_##name,
#include "base/rules.def"
#undef SL_RULE
  SL_RULE_COUNT
};

const char *sl_rule_id(enum sl_rule rule);

/* A location of another tool: `from "file":line:column`. file NULL: none. */
typedef struct sl_origin {
  const char *file;
  uint32_t line, column;
} sl_origin;

typedef struct sl_report {
  sl_heap *heap; /* for text while a message is built */
  const sluice_sink *sink;
  sl_source *source;
  uint32_t errors, warnings;
  uint32_t error_limit; /* further errors are counted, not shown; 0 = no limit */
  struct sl_message *open;
} sl_report;

void sl_report_init(sl_report *report, sl_heap *heap, const sluice_sink *sink, sl_source *source);
__attribute__((format(printf, 5, 6))) void sl_report_begin(sl_report *report, enum sluice_severity severity,
                                                           enum sl_rule rule, sl_loc loc, const char *format, ...);
/* The same with the arguments of a caller that takes `...` itself. */
__attribute__((format(printf, 5, 0))) void sl_report_vbegin(sl_report *report, enum sluice_severity severity,
                                                            enum sl_rule rule, sl_loc loc, const char *format,
                                                            va_list args);
void sl_report_origin(sl_report *report, sl_origin origin);
__attribute__((format(printf, 3, 4))) void sl_report_note(sl_report *report, sl_loc loc, const char *format, ...);
void sl_report_end(sl_report *report);

__attribute__((format(printf, 4, 5))) void sl_error(sl_report *report, enum sl_rule rule, sl_loc loc,
                                                    const char *format, ...);
__attribute__((format(printf, 4, 5))) void sl_warning(sl_report *report, enum sl_rule rule, sl_loc loc,
                                                      const char *format, ...);

/* The candidate closest to `text` by edit distance, or NULL when none is close: for "did you mean". O(total length). */
const char *sl_closest(const char *text, const char *const *candidates, size_t count);

#endif
