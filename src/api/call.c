/* call.c: see call.h. */
#include "api/call.h"

#include <assert.h>
#include <stdio.h>

#include "ir/ir.h"

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

static int copy_and_work(void *arg)
{
  struct sl_kernel_call *call = arg;
  sl_program_copy_into(call->program, call->input);
  call->kernel = call->program->kernels.data[call->number];
  call->target = sl_target_find(call->targets, sl_text(call->program, call->kernel->target));
  assert(call->target && "the program is verified, so its target is known");
  sl_expand_copies(call->program, call->kernel);
  return call->work(call->arg);
}

int sl_kernel_call_run(struct sl_kernel_call *call, sl_guard *guard, const sluice_sink *sink, int (*work)(void *arg),
                       void *arg)
{
  assert(call->number < call->input->kernels.len);
  call->work = work;
  call->arg = arg;
  call->program = sl_program_new(call->input->source.name, NULL, 0);
  if (!call->program)
    return SLUICE_E_NO_MEMORY;
  call->program->heap.guard = guard;
  sl_heap_init(&call->scratch, guard);
  call->source = call->origin ? call->origin->source : call->input->source;
  call->source.heap = &call->scratch;
  memset(&call->source.lines, 0, sizeof call->source.lines);
  sl_report_init(&call->report, &call->scratch, sink, &call->source);
  int status = sl_guard_run(guard, copy_and_work, call);
  sl_heap_free_all(&call->scratch);
  sluice_program_free(call->program);
  return status;
}
