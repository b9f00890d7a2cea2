/* explore.h: all interleavings of a small synchronized kernel, one state at a time, judged against the reference.
 *
 * What a stream does is fixed by the inputs (registers belong to one engine, loads give their assumed values), only the
 * order between streams is not. So each engine's run is written down once, as a list of actions with their waits,
 * updates and needs as numbers, and a state is: how far each engine is in its list, how many instructions each stream
 * has retired, the values of semaphores and events. Steps are those of interpreter.h: issue and retirement are two,
 * any number may be in flight, sem_set acts at once, a barrier is passed when every engine stands there, drained.
 * Every reachable state is visited, and every fault that some interleaving shows is found:
 *
 *   race      a consumer can issue although an instance it needs has not retired
 *   deadlock  nothing can step and something is left to do
 *   leak      a semaphore ends with another value than it starts with, or an event is left over
 *   order     an engine executes something else than in the reference
 *
 * `reduce` leaves out orders that cannot matter: a step that stays possible whatever others do and that nobody else can
 * see (an issue, unless something of its semaphores can be taken back; the retirement of an instruction without updates
 * that nobody needs) is taken at once and alone. Without it nothing is left out.
 *
 * Requires verified kernels. Shares no code with src/check and src/sync. Memory and time O(states).
 */
#ifndef SL_TESTS_ORACLE_EXPLORE_H
#define SL_TESTS_ORACLE_EXPLORE_H

#include "oracle/reference.h"

enum sl_fault_kind { SL_FAULT_RACE, SL_FAULT_DEADLOCK, SL_FAULT_LEAK, SL_FAULT_ORDER, SL_FAULT_KINDS };
const char *sl_fault_name(enum sl_fault_kind kind);

struct sl_explore_options {
  uint32_t max_states, max_actions; /* of all engines together; SL_EXPLORE_OPTIONS_INIT */
  bool reduce;
  bool modular, is_signed; /* how semaphores are compared; all are 32 bits wide */
  unsigned enough;         /* faults, any of which ends the search; 0: all are looked for */
  uint32_t deleted;        /* index + 1 into kernel->waits of a wait that is taken for absent; 0 = none */
  uint32_t lowered, by;    /* likewise, of one whose threshold is lowered by `by`, not below 0 */
};
#define SL_EXPLORE_OPTIONS_INIT                              \
  {                                                          \
    .max_states = 300000, .max_actions = 400, .reduce = true \
  }

enum { SL_EXPLORE_TEXT = 1600 };
struct sl_explored {
  unsigned faults;  /* bits 1 << kind; complete unless too_big, meaningless or ended by `enough` */
  bool too_big;     /* more states or actions than allowed */
  bool meaningless; /* an undefined register, arithmetic, an event that does not exist */
  uint32_t states, actions;
  char text[SL_FAULT_KINDS][SL_EXPLORE_TEXT]; /* what happens, and an interleaving that shows it */
};

void sl_oracle_explore(struct sl_explored *explored, const struct sl_oracle_reference *reference,
                       const sl_program *program, const struct sl_kernel *kernel,
                       const struct sl_explore_options *options);

#endif
