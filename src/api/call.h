/* call.h: what every entry point does around its work: a guard, a scratch heap, a reporter. */
#ifndef SL_API_CALL_H
#define SL_API_CALL_H

#include "base/report.h"
#include "ir/program.h"

enum { SL_SHOWN_ERRORS = 20 /* further errors of one call are counted, not shown */ };

/* Work on a program, under the program's guard. The scratch heap ends with the call; messages live there. */
struct sl_call {
  sl_program *program;
  sl_heap scratch;
  sl_report report;
};

void sl_call_begin(struct sl_call *call, sl_program *program, const sluice_sink *sink);
/* Runs `work(arg)`, says how many errors were not shown, and frees the scratch heap. */
int sl_call_run(struct sl_call *call, int (*work)(void *arg), void *arg);

#endif
