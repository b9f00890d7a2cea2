/* diag.c: rendering of diagnostics, status names and the small functions of base.h. */
#include <sluice/base.h>
#include <sluice/diag.h>

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

const char *sluice_version(void)
{
  return SLUICE_VERSION;
}

const char *sluice_status_name(int status)
{
  switch (status) {
  case SLUICE_OK: return "ok";
  case SLUICE_E_INPUT: return "bad input";
  case SLUICE_E_ANSWER: return "the answer is no";
  case SLUICE_E_NO_MEMORY: return "out of memory";
  case SLUICE_E_IO: return "input/output error";
  case SLUICE_E_BUDGET: return "undecided within the budget";
  default: return "unknown status";
  }
}

void sluice_string_free(char *text)
{
  free(text);
}

static const char *const severity_names[] = { "error", "warning", "note" };

/* A caret under the column; tabs of the source line are repeated so that it stands right. */
static void add_source_line(sl_buf *buf, const sluice_diag *diag)
{
  if (!diag->source_line || diag->column == 0)
    return;
  sl_buf_printf(buf, "  %s\n  ", diag->source_line);
  for (uint32_t i = 0; i + 1 < diag->column && diag->source_line[i]; i++)
    sl_buf_putc(buf, diag->source_line[i] == '\t' ? '\t' : ' ');
  sl_buf_puts(buf, "^\n");
}

static void add_diag(sl_buf *buf, const sluice_diag *diag)
{
  sl_buf_puts(buf, diag->file);
  if (diag->line)
    sl_buf_printf(buf, ":%u:%u", diag->line, diag->column);
  sl_buf_printf(buf, ": %s: %s", severity_names[diag->severity], diag->text);
  if (diag->rule[0])
    sl_buf_printf(buf, " [%s]", diag->rule);
  sl_buf_putc(buf, '\n');
  add_source_line(buf, diag);
  if (diag->origin_file)
    sl_buf_printf(buf, "%s:%u:%u: note: it comes from here\n", diag->origin_file, diag->origin_line,
                  diag->origin_column);
  for (size_t i = 0; i < diag->note_count; i++)
    add_diag(buf, &diag->notes[i]);
}

struct format_call {
  sl_heap *heap;
  const sluice_diag *diag;
  char *text;
};

static int format_guarded(void *arg)
{
  struct format_call *call = arg;
  sl_buf buf;
  sl_buf_init(&buf, call->heap);
  add_diag(&buf, call->diag);
  call->text = sl_buf_export(&buf);
  return SLUICE_OK;
}

int sluice_diag_format(char **text, const sluice_diag *diag)
{
  sl_guard guard;
  sl_heap heap;
  sl_heap_init(&heap, &guard);
  struct format_call call = { &heap, diag, NULL };
  int status = sl_guard_run(&guard, format_guarded, &call);
  sl_heap_free_all(&heap);
  *text = call.text;
  return status;
}
