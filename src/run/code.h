/* code.h: a kernel as straight code with jumps, for machines that execute it many times.
 *
 * Code is made for a set of engines: one engine for a stream of its own in the machine, all of them for the sequential
 * reference. A thread of execution steps through it and stops at what others can see: an instruction, a barrier, ...
 *
 * Values that the run decides (parameters, loads, opaque conditions) come from `struct sl_inputs`. Registers are 32-bit
 * unsigned and wrap around.
 */
#ifndef SL_RUN_CODE_H
#define SL_RUN_CODE_H

#include "ir/presence.h"
#include "target/target.h"

enum sl_step_kind {
  SL_STEP_OP,            /* a: instruction, or a register operation that waits: its gates; e: its engine */
  SL_STEP_SEM_SET,       /* a: instruction */
  SL_STEP_DRAIN,         /* a: instruction */
  SL_STEP_BARRIER, SL_STEP_BARRIER_RESET, SL_STEP_EPILOGUE, /* a: statement */
  SL_STEP_ARRIVE,        /* a: block of a loop that carries dependences; only in reference code */
  SL_STEP_TAIL,          /* a: the same, at the end of an iteration */
  SL_STEP_END,
  /* inside a thread, never seen by others: */
  SL_STEP_REGISTER, SL_STEP_LOOP, SL_STEP_TEST, SL_STEP_NEXT, SL_STEP_IF, SL_STEP_JUMP, SL_STEP_RESTORE,
  SL_STEP_SKIP,          /* nothing: what a machine has taken out */
  SL_STEP_KINDS
};

struct sl_step {
  uint8_t kind;
  uint8_t engine;
  sl_index a;     /* statement, block */
  uint32_t to;    /* jump target of TEST (exit), NEXT (head), IF (else), JUMP */
  uint32_t cost;  /* what a machine with a clock charges for it; 0 when compiled */
};

/* One kernel prepared for execution. */
struct sl_machine_code {
  sl_heap *heap;
  const sl_program *program;
  const struct sl_kernel *kernel;
  const struct sl_target *target;
  struct sl_presence presence;
  sl_vec(struct sl_step) steps;
  sl_vec(uint32_t) entries;   /* by engine; the reference has one */
  uint32_t *slot_of;          /* by name: slot of a parameter or loop variable + 1 */
  uint32_t *register_of;      /* by name: slot of a register + 1 */
  uint32_t slot_count, register_count;
  uint32_t *place_of;         /* by cmp: number of the opaque place */
  uint32_t place_count;
  sl_vec(sl_name) place_names; /* by place */
  bool *carries;              /* by block: ARRIVE and TAIL are wanted; NULL = nowhere */
};

/* What the run decides. */
struct sl_inputs {
  const int64_t *params; /* by index in kernel->params */
  /* Outcome number n of an opaque place; value of load number n of a statement when it has no `assume`. */
  bool (*outcome)(const struct sl_inputs *inputs, sl_name opaque, uint32_t place, uint32_t n);
  uint32_t (*loaded)(const struct sl_inputs *inputs, sl_name reg, sl_index stmt, uint32_t n);
  const void *user;
};

enum sl_thread_error { SL_THREAD_OK, SL_THREAD_ARITHMETIC, SL_THREAD_UNDEFINED, SL_THREAD_DISAGREE };

/* State of one engine. */
struct sl_engine_state {
  int64_t *slots;       /* parameters and loop variables */
  uint32_t *registers;
  bool *defined;        /* registers */
  int64_t *hi, *step;   /* by loop */
  uint32_t *asked;      /* by opaque place */
  uint32_t *loads;      /* by op: number of loads so far */
};

struct sl_thread {
  const struct sl_machine_code *code;
  const struct sl_inputs *inputs;
  struct sl_engine_state *engines; /* by engine */
  uint32_t pc;
  sl_engines active;
  sl_vec(sl_engines) saved;        /* active sets of open loops and branches, for divergent ones */
  const struct sl_step *load;      /* a load just passed: its register is written when the thread goes on */
  uint64_t steps;                  /* executed so far, of every kind */
  uint64_t cost;                   /* of the inner steps executed so far */
  uint64_t done[SL_STEP_KINDS];    /* inner steps executed so far, by kind */
  uint8_t error;                   /* enum sl_thread_error; ends the thread */
  sl_index error_at;               /* statement */
};

/* Prepares tables and presence. The kernel's copies are expanded and its streams resolved. */
void sl_code_init(struct sl_machine_code *code, sl_heap *heap, const sl_program *program, const struct sl_kernel *kernel,
                  const struct sl_target *target);
/* Appends the code of a set of engines; its entry becomes the next of `entries`. O(statements of the set). */
void sl_code_compile(struct sl_machine_code *code, sl_engines engines);

void sl_engine_states_init(struct sl_engine_state **states, const struct sl_machine_code *code, sl_heap *heap);
/* Back to the kernel's start. */
void sl_engine_state_reset(struct sl_engine_state *state, const struct sl_machine_code *code, const struct sl_inputs *inputs);
void sl_thread_init(struct sl_thread *thread, const struct sl_machine_code *code, struct sl_engine_state *states,
                    const struct sl_inputs *inputs, uint32_t entry, sl_engines engines);

/* Runs to the next step that others can see, and answers it; the thread stands behind it. SL_STEP_END also after an error. At
 * most `limit` steps are executed: NULL when they were used up first. */
const struct sl_step *sl_thread_next(struct sl_thread *thread, sl_heap *heap, uint64_t limit);

/* The value of a wait's threshold, as a 32-bit number. */
uint32_t sl_thread_threshold(const struct sl_thread *thread, uint32_t engine, const struct sl_gate *gate);

/* The value of an expression as an engine sees it now; sets the thread's error when it has none. */
int64_t sl_thread_value(struct sl_thread *thread, uint32_t engine, sl_index expr, sl_index at);

/* The value of an operand that is no memory. */
uint32_t sl_thread_operand(struct sl_thread *thread, uint32_t engine, const struct sl_operand *operand, sl_index at);

/* "i = 2, j = 0": the iteration of a statement on an engine, outermost loop first; "" outside loops. */
void sl_print_iteration(sl_buf *buf, const struct sl_machine_code *code, const struct sl_engine_state *state, sl_index stmt);

#endif
