/* call.h: what every entry point does around its work: a guard, a scratch heap, a reporter. */
#ifndef SL_API_CALL_H
#define SL_API_CALL_H

#include <sluice/program.h>

#include "base/report.h"
#include "ir/program.h"
#include "target/target.h"

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

/* Work on one kernel of a verified program, on a copy whose copies of operations are expanded, so that the input may be shared. */
struct sl_kernel_call {
  const sluice_program *input;
  size_t number;                /* of the kernel */
  const sluice_targets *targets;
  const sluice_program *origin; /* in whose text places are shown; NULL: the input's */
  sl_program *program;          /* the copy */
  struct sl_kernel *kernel;
  const struct sl_target *target;
  sl_source source;             /* a view with a table of lines of its own */
  sl_heap scratch;
  sl_report report;
  int (*work)(void *arg);
  void *arg;
};

/* Runs `work(arg)` under the guard, with all of the call filled in, and frees copy and scratch heap. */
int sl_kernel_call_run(struct sl_kernel_call *call, sl_guard *guard, const sluice_sink *sink, int (*work)(void *arg),
                       void *arg);

#endif
