/* regcode.h: the register code that a strategy adds to one stream, as a list on the side, before it goes into the tree.
 *
 * A strategy walks the tree once and appends, per issue stream: register instructions, waits, and the loops and branches
 * that the stream walks. Virtual registers are numbered; the code is then folded (constants), improved (cleanup.h), stripped of what no wait
 * reads, and only then written into the tree. So a strategy states its rules plainly and never pays for it in the output.
 *
 * Registers hold 32-bit unsigned values and wrap around, as on the targets (machine descriptions give the width).
 */
#ifndef SL_SYNC_REGCODE_H
#define SL_SYNC_REGCODE_H

#include "ir/program.h"

typedef uint32_t sl_vreg; /* from 1; 0 = none */

enum sl_value_kind { SL_VALUE_INT, SL_VALUE_VREG, SL_VALUE_NAME /* parameter or loop variable */, SL_VALUE_REG /* the author's */ };

struct sl_value {
  uint8_t kind;
  uint32_t value; /* integer, vreg, or sl_name */
};

static inline struct sl_value sl_value_int(uint32_t value)
{
  return (struct sl_value){ SL_VALUE_INT, value };
}
static inline struct sl_value sl_value_vreg(sl_vreg vreg)
{
  return (struct sl_value){ SL_VALUE_VREG, vreg };
}

enum sl_code_kind {
  SL_CODE_REG,   /* dst := a op b, op an SL_OP_REG_* */
  SL_CODE_WAIT,  /* statement `at` waits for semaphore `dst` >= a */
  SL_CODE_LOOP, SL_CODE_END_LOOP,
  SL_CODE_IF, SL_CODE_ELSE, SL_CODE_END_IF,
  SL_CODE_SLOT_WAIT /* a wait in a slot of its own before the statement: only while the code is being written */
};

enum sl_anchor { SL_BEFORE_STMT, SL_END_OF_BLOCK };

struct sl_code {
  uint8_t kind, op, anchor;
  bool dead;
  struct sl_value a, b;
  uint32_t dst;  /* vreg; semaphore of a wait; of a LOOP its variable, a sl_name */
  sl_index at;   /* statement or block the instruction stands before / at the end of; the consumer of a wait */
  uint32_t pair; /* LOOP: index of its END_LOOP; IF: of its ELSE; ELSE: of its END_IF (filled when these are appended) */
};

/* What a virtual register stands for, in the strategy's own terms; the strategy turns it into a name when the register
 * turns out to be needed. kind 0: a temporary, written once: index is its place among those in use at one time, number its
 * letter (enum sl_temporary). */
struct sl_vreg_role {
  uint32_t kind, index, number;
};
enum sl_temporary { SL_TEMPORARY_VALUE /* %w */, SL_TEMPORARY_MASK /* %m */, SL_TEMPORARIES };

struct sl_regcode {
  sl_heap *heap;
  uint32_t stream; /* issue stream */
  sl_vec(struct sl_code) code;
  sl_vec(struct sl_vreg_role) roles; /* by vreg; entry 0 is unused */
  sl_vec(uint32_t) open;      /* stack of open LOOP / IF / ELSE */
  uint32_t temporaries_used;
  sl_index anchor_at;         /* where appended register instructions go */
  uint8_t anchor;
};

void sl_regcode_init(struct sl_regcode *code, sl_heap *heap, uint32_t stream);
sl_vreg sl_regcode_vreg(struct sl_regcode *code, struct sl_vreg_role role);
/* Sets the place of the register instructions appended from here on. */
void sl_regcode_anchor(struct sl_regcode *code, enum sl_anchor anchor, sl_index at);
void sl_regcode_op(struct sl_regcode *code, enum sl_opcode op, sl_vreg dst, struct sl_value a, struct sl_value b);
void sl_regcode_set(struct sl_regcode *code, sl_vreg dst, struct sl_value a);
/* a op b as a value: computed now when both are integers, one of them when the other is neutral, else in a new temporary. */
struct sl_value sl_regcode_value(struct sl_regcode *code, enum sl_opcode op, struct sl_value a, struct sl_value b);
/* Says that the temporaries made so far are not needed any more. */
void sl_regcode_release(struct sl_regcode *code);
void sl_regcode_wait(struct sl_regcode *code, sl_index consumer, uint32_t sem, struct sl_value threshold);
/* A loop with this variable. */
void sl_regcode_open_loop(struct sl_regcode *code, uint32_t variable);
void sl_regcode_close_loop(struct sl_regcode *code);
void sl_regcode_open_if(struct sl_regcode *code);
void sl_regcode_else(struct sl_regcode *code);
void sl_regcode_close_if(struct sl_regcode *code);

/* Constant folding and propagation, with algebraic identities. Values that a loop or branch changes are unknown after it
 * unless all ways agree. O(instructions * nesting depth). */
void sl_regcode_fold(struct sl_regcode *code);
/* Marks dead what no wait needs, directly or indirectly. O(instructions * nesting depth). */
void sl_regcode_strip(struct sl_regcode *code);

#endif
