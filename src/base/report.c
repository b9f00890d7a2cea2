/* report.c: see report.h. Messages are complete, with notes, before the sink sees them. */
#include "base/report.h"

#include <assert.h>
#include <string.h>

struct sl_message {
  sluice_diag diag;
  sl_vec(sluice_diag) notes;
};

static const sluice_rule rules[] = {
#define SL_RULE(name, id, family, summary) { id, family, summary },
#include "base/rules.def"
#undef SL_RULE
};

const sluice_rule *sluice_rules(size_t *count)
{
  *count = sizeof rules / sizeof *rules;
  return rules;
}

const char *sl_rule_id(enum sl_rule rule)
{
  assert((unsigned)rule < SL_RULE_COUNT);
  return rules[rule].id;
}

void sl_report_init(sl_report *report, sl_heap *heap, const sluice_sink *sink, sl_source *source)
{
  memset(report, 0, sizeof *report);
  report->heap = heap;
  report->sink = sink;
  report->source = source;
}

static sluice_diag make_diag(sl_report *report, enum sluice_severity severity, const char *rule, sl_loc loc,
                             const char *format, va_list args)
{
  sl_buf text;
  sl_buf_init(&text, report->heap);
  sl_buf_vprintf(&text, format, args);
  sl_place place = sl_source_place(report->source, loc);
  sluice_diag diag = { .severity = severity, .rule = rule, .file = report->source->name, .line = place.line,
                       .column = place.column, .text = sl_buf_text(&text) };
  diag.source_line = sl_source_line(report->source, report->heap, place.line);
  return diag;
}

void sl_report_vbegin(sl_report *report, enum sluice_severity severity, enum sl_rule rule, sl_loc loc,
                      const char *format, va_list args)
{
  assert(!report->open && "a message is open already");
  if (severity == SLUICE_ERROR)
    report->errors++;
  else if (severity == SLUICE_WARNING)
    report->warnings++;
  if (severity == SLUICE_ERROR && report->error_limit && report->errors > report->error_limit)
    return;
  report->open = sl_heap_calloc(report->heap, 1, sizeof *report->open);
  report->open->diag = make_diag(report, severity, sl_rule_id(rule), loc, format, args);
}

void sl_report_begin(sl_report *report, enum sluice_severity severity, enum sl_rule rule, sl_loc loc,
                     const char *format, ...)
{
  va_list args;
  va_start(args, format);
  sl_report_vbegin(report, severity, rule, loc, format, args);
  va_end(args);
}

void sl_report_origin(sl_report *report, sl_origin origin)
{
  if (!report->open || !origin.file)
    return;
  report->open->diag.origin_file = origin.file;
  report->open->diag.origin_line = origin.line;
  report->open->diag.origin_column = origin.column;
}

void sl_report_note(sl_report *report, sl_loc loc, const char *format, ...)
{
  if (!report->open)
    return;
  va_list args;
  va_start(args, format);
  sluice_diag note = make_diag(report, SLUICE_NOTE, "", loc, format, args);
  va_end(args);
  sl_vec_add(report->heap, &report->open->notes, note);
}

void sl_report_end(sl_report *report)
{
  struct sl_message *message = report->open;
  report->open = NULL;
  if (!message)
    return;
  message->diag.notes = message->notes.data;
  message->diag.note_count = message->notes.len;
  if (report->sink && report->sink->emit)
    report->sink->emit(report->sink->user, &message->diag);
}

void sl_error(sl_report *report, enum sl_rule rule, sl_loc loc, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  sl_report_vbegin(report, SLUICE_ERROR, rule, loc, format, args);
  va_end(args);
  sl_report_end(report);
}

void sl_warning(sl_report *report, enum sl_rule rule, sl_loc loc, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  sl_report_vbegin(report, SLUICE_WARNING, rule, loc, format, args);
  va_end(args);
  sl_report_end(report);
}

enum { CLOSEST_MAX = 48 };

/* Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours, each 1. Rows of the usual table,
 * the last three of them; both strings shorter than CLOSEST_MAX. */
static unsigned edit_distance(const char *a, const char *b)
{
  unsigned rows[3][CLOSEST_MAX + 1];
  size_t b_length = strlen(b);
  for (size_t j = 0; j <= b_length; j++)
    rows[0][j] = (unsigned)j;
  size_t i = 1;
  for (; a[i - 1]; i++) {
    unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= b_length; j++) {
      unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);
      if (row[j - 1] + 1 < best)
        best = row[j - 1] + 1;
      if (above[j] + 1 < best)
        best = above[j] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && two_above[j - 2] + 1 < best)
        best = two_above[j - 2] + 1;
      row[j] = best;
    }
  }
  return rows[(i - 1) % 3][b_length];
}

const char *sl_closest(const char *text, const char *const *candidates, size_t count)
{
  size_t length = strlen(text);
  if (length == 0 || length >= CLOSEST_MAX)
    return NULL;
  const char *best = NULL;
  unsigned best_distance = (unsigned)(length < 4 ? 1 : length / 3) + 1;
  for (size_t i = 0; i < count; i++) {
    if (strlen(candidates[i]) >= CLOSEST_MAX)
      continue;
    unsigned distance = edit_distance(text, candidates[i]);
    if (distance < best_distance && distance < length) {
      best_distance = distance;
      best = candidates[i];
    }
  }
  return best;
}
