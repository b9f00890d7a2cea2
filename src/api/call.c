/* call.c: see call.h. */
#include "api/call.h"

#include <stdio.h>

void sl_call_begin(struct sl_call *call, sl_program *program, const sluice_sink *sink)
{
  call->program = program;
  sl_heap_init(&call->scratch, &program->guard);
  sl_report_init(&call->report, &call->scratch, sink, &program->source);
  call->report.error_limit = SL_SHOWN_ERRORS;
}

struct run {
  struct sl_call *call;
  int (*work)(void *arg);
  void *arg;
};

static void emit_hidden(const sl_report *report)
{
  char text[64];
  uint32_t hidden = report->errors - report->error_limit;
  snprintf(text, sizeof text, "%u more error%s not shown", hidden, hidden == 1 ? " is" : "s are");
  const sluice_diag note = { .severity = SLUICE_NOTE, .rule = "", .file = report->source->name, .text = text };
  if (report->sink && report->sink->emit)
    report->sink->emit(report->sink->user, &note);
}

static int run_and_count(void *arg)
{
  struct run *run = arg;
  sl_report *report = &run->call->report;
  int status = run->work(run->arg);
  if (report->error_limit && report->errors > report->error_limit)
    emit_hidden(report);
  return status;
}

int sl_call_run(struct sl_call *call, int (*work)(void *arg), void *arg)
{
  struct run run = { call, work, arg };
  int status = sl_guard_run(&call->program->guard, run_and_count, &run);
  sl_heap_free_all(&call->scratch);
  return status;
}
