/* interpreter.h: executes a synchronized kernel over one schedule, twice in a row, and judges it against the
 * reference.
 *
 * Streams step independently. Control (register operations, loops, branches) is atomic in stream order. A datapath
 * op issues when all its waits hold and retires later, in order, on its retire stream: its engine, or its queue;
 * `inc` and `set` act at retirement; any number may be in flight. A reg_load issues like that and its stream stops
 * until it has retired. A drain waits for the stream's own work in flight and that of its queues. At a barrier every
 * stream drains and meets; `barrier reset` and `epilogue` then give every semaphore its declared value before anyone
 * goes on. Semaphores and registers are 32-bit unsigned. Registers are undefined at the start of each run.
 *
 * Judged: no instruction issues before its dependences have retired (race); with `exact`, none waits at the head of
 * its stream once they have (overwait); every stream finishes (deadlock); each labelled instruction executes as
 * often, and in the same order on its issue stream, as in the reference (order); at the end of a kernel without
 * epilogue every semaphore has its declared value (leak).
 *
 * Completeness. On programs whose counters only grow between meetings, a race on a dependence with producer p exists
 * in some schedule iff it shows when the retirements of p's stream come last (HOLD_RETIRE of that stream):
 * everything that can happen without the next of them has happened before it. Deadlock does not depend on the
 * schedule.
 */
#ifndef SL_TESTS_ORACLE_INTERPRETER_H
#define SL_TESTS_ORACLE_INTERPRETER_H

#include "oracle/reference.h"

enum sl_schedule_mode {
  SL_SCHEDULE_UNIFORM,     /* any enabled step, equally likely */
  SL_SCHEDULE_LAZY,        /* retirements only when nothing can issue */
  SL_SCHEDULE_EAGER,       /* retirements first */
  SL_SCHEDULE_WEIGHTED,    /* each stream with a speed of its own */
  SL_SCHEDULE_HOLD_RETIRE, /* the victim stream retires last of all */
  SL_SCHEDULE_HOLD_ISSUE,  /* the victim stream issues last of all */
  SL_SCHEDULE_MODES
};

struct sl_oracle_schedule {
  enum sl_schedule_mode mode;
  uint32_t victim; /* stream of the synchronized kernel */
  uint64_t seed;
};

enum sl_verdict {
  SL_VERDICT_OK,
  SL_VERDICT_RACE,
  SL_VERDICT_OVERWAIT,
  SL_VERDICT_DEADLOCK,
  SL_VERDICT_LEAK,
  SL_VERDICT_ORDER,     /* executes something else than the original */
  SL_VERDICT_UNDEFINED, /* an undefined register is read, or arithmetic fails */
  SL_VERDICT_BUDGET,    /* undecided: more steps than allowed */
  SL_VERDICT_COUNT
};
const char *sl_verdict_name(enum sl_verdict verdict);

struct sl_oracle_outcome {
  enum sl_verdict verdict;
  uint64_t steps;
  char text[400]; /* what happened; "" when all is well */
};

struct sl_oracle_case {
  const struct sl_oracle_reference *reference;
  const sl_program *program; /* the synchronized one */
  const struct sl_kernel *kernel;
  bool exact;
  uint64_t step_limit;
};

void sl_oracle_run(struct sl_oracle_outcome *outcome, const struct sl_oracle_case *test,
                   const struct sl_oracle_schedule *schedule);

#endif
