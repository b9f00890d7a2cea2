/* construct.c: see construct.h. Each function is linear in its text. */
#include "ir/construct.h"

#include <string.h>

#include "base/utf8.h"

/* ---- pieces of text ---- */

/* The first error of a piece, kept until it can be placed. */
struct first_error {
  sl_heap *heap;
  enum sl_rule rule;
  char *text;
  uint32_t column;
};

static void keep_first_error(void *user, const sluice_diag *diag)
{
  struct first_error *error = user;
  if (error->text || diag->severity != SLUICE_ERROR)
    return;
  error->text = sl_heap_strndup(error->heap, diag->text, strlen(diag->text));
  error->column = diag->column;
  error->rule = SL_RULE_SYNTAX;
  for (int rule = 0; rule < SL_RULE_COUNT; rule++)
    if (strcmp(sl_rule_id((enum sl_rule)rule), diag->rule) == 0)
      error->rule = (enum sl_rule)rule;
}

static void report_piece(sl_report *report, const struct first_error *error, const char *text, sl_loc content)
{
  if (content == SL_NO_LOC)
    sl_error(report, error->rule, SL_NO_LOC, "%s in '%s'", error->text, text);
  else
    sl_error(report, error->rule, content + (error->column ? error->column - 1 : 0), "%s", error->text);
}

/* A place within the piece becomes one within the whole text. */
static sl_loc moved(sl_loc loc, sl_loc content)
{
  return content == SL_NO_LOC || loc == SL_NO_LOC ? SL_NO_LOC : content + loc - 1;
}

struct piece {
  struct first_error error;
  sluice_sink sink;
  sl_source source;
  sl_report report;
  uint32_t first_expr, first_cmp;
};

static void piece_begin(struct piece *piece, const struct sl_kernel *kernel, const char *text)
{
  memset(piece, 0, sizeof *piece);
  piece->error.heap = kernel->heap;
  piece->sink = (sluice_sink){ keep_first_error, &piece->error };
  sl_source_init(&piece->source, kernel->heap, "", text, strlen(text));
  sl_report_init(&piece->report, kernel->heap, &piece->sink, &piece->source);
  piece->first_expr = kernel->exprs.len;
  piece->first_cmp = kernel->cmps.len;
}

static void piece_end(struct piece *piece, struct sl_kernel *kernel, sl_loc content)
{
  for (uint32_t i = piece->first_expr; i < kernel->exprs.len; i++)
    kernel->exprs.data[i].loc = moved(kernel->exprs.data[i].loc, content);
  for (uint32_t i = piece->first_cmp; i < kernel->cmps.len; i++)
    kernel->cmps.data[i].loc = moved(kernel->cmps.data[i].loc, content);
  sl_heap_free(kernel->heap, (char *)piece->source.text);
}

sl_index sl_expr_from_text(sl_program *program, struct sl_kernel *kernel, const char *text, sl_loc content,
                           sl_report *report)
{
  struct piece piece;
  piece_begin(&piece, kernel, text);
  sl_index expr = sl_parse_expr(program, kernel, text, &piece.report);
  piece_end(&piece, kernel, content);
  if (!expr)
    report_piece(report, &piece.error, text, content);
  return expr;
}

bool sl_cond_from_text(sl_program *program, struct sl_kernel *kernel, struct sl_cond *cond, const char *text,
                       sl_loc content, sl_report *report)
{
  struct piece piece;
  piece_begin(&piece, kernel, text);
  bool ok = sl_parse_cond(program, kernel, cond, text, &piece.report);
  piece_end(&piece, kernel, content);
  if (!ok)
    report_piece(report, &piece.error, text, content);
  return ok;
}

/* ---- words ---- */

bool sl_is_target_name(const char *text, size_t length)
{
  for (const char *dash; (dash = memchr(text, '-', length)) != NULL;) {
    size_t word = (size_t)(dash - text);
    if (!sl_is_name(text, word))
      return false;
    text += word + 1;
    length -= word + 1;
  }
  return sl_is_name(text, length);
}

bool sl_is_string(const char *text)
{
  size_t length = strlen(text);
  for (size_t at = 0; at < length;) {
    size_t bytes = sl_utf8_length(text + at, length - at);
    if (bytes == 0)
      return false;
    at += bytes;
  }
  return true;
}

static size_t skip_digits(const char *text, size_t length, size_t at)
{
  while (at < length && text[at] >= '0' && text[at] <= '9')
    at++;
  return at;
}

bool sl_is_float(const char *text, size_t length)
{
  size_t at = length && text[0] == '-' ? 1 : 0, end = skip_digits(text, length, at);
  bool has_fraction = false;
  if (end == at)
    return false;
  if (end < length && text[end] == '.') {
    at = end + 1;
    end = skip_digits(text, length, at);
    has_fraction = end > at;
  }
  if (end < length && (text[end] == 'e' || text[end] == 'E')) {
    at = end + 1;
    if (at < length && (text[at] == '+' || text[at] == '-'))
      at++;
    end = skip_digits(text, length, at);
    has_fraction = end > at;
  }
  return has_fraction && end == length;
}

/* ---- streams ---- */

bool sl_op_set_streams(sl_program *program, struct sl_kernel *kernel, struct sl_op *op, const char *text, sl_loc loc)
{
  op->all_engines = strcmp(text, "*") == 0;
  op->stream_count = 0;
  if (op->all_engines)
    return true;
  uint32_t first = kernel->stream_lists.len;
  for (const char *name = text; name;) {
    const char *bar = strchr(name, '|');
    size_t length = bar ? (size_t)(bar - name) : strlen(name);
    if (!sl_is_name(name, length) || op->stream_count == UINT16_MAX)
      return false;
    sl_name id = sl_names_add(&program->names, &program->heap, name, length);
    uint32_t stream = sl_stream_put(kernel, id, loc);
    sl_vec_add(kernel->heap, &kernel->stream_lists, stream);
    op->stream_count++;
    name = bar ? bar + 1 : NULL;
  }
  op->stream = first;
  if (op->stream_count == 1) {
    op->stream = kernel->stream_lists.data[first];
    kernel->stream_lists.len = first;
  }
  return true;
}

uint32_t sl_queue_declare(struct sl_kernel *kernel, sl_name name, sl_name trigger, sl_loc loc)
{
  if (sl_stream_get(kernel, name) != SL_NO_STREAM)
    return SL_NO_STREAM;
  uint32_t index = sl_stream_put(kernel, name, loc);
  struct sl_stream *stream = &kernel->streams.data[index];
  stream->is_queue = true;
  stream->trigger_name = trigger;
  stream->trigger = SL_NO_STREAM;
  return index;
}
