/* verify.h: what the files of the verifier (verify*.c) share. */
#ifndef SL_IR_VERIFY_H
#define SL_IR_VERIFY_H

#include "ir/eval.h"
#include "ir/ir.h"
#include "ir/scope.h"

struct sl_label_entry {
  uint32_t kernel; /* which kernel wrote the entry, from 1 */
  sl_index stmt;
};

struct sl_verifier {
  sl_heap *heap; /* scratch */
  sl_program *program;
  struct sl_kernel *kernel;
  sl_report *report;
  struct sl_scope scope;
  sl_map kernel_numbers;                /* kernel name -> number of the first of that name, from 1 */
  sl_index at;                          /* the statement being checked; 0 in declarations and dependence lines */
  sl_vec(struct sl_label_entry) labels; /* by name */
  sl_vec(uint32_t) stream_marks;        /* by stream: the last list that named it */
  sl_vec(uint32_t) attr_marks;          /* by name: the last attribute list that named it */
  uint32_t mark;                        /* number of the last list */
  /* Of the kernel being checked, by block: */
  sl_vec(sl_index) loop_of;  /* innermost loop statement around the block, or 0 */
  sl_vec(uint32_t) depth_of; /* loops and branches around the block */
  sl_vec(sl_index) open;     /* loops around `at`, outermost first */
  uint32_t divergent_open;   /* how many of them are divergent */
  bool has_copies;           /* a label with a copy number exists */
  bool too_deep;
  sl_index epilogue;
};

/* Starts an error at a place of the current statement, with the statement's location in another tool's
 * source; notes may follow, sl_report_end ends it. sl_verify_error is the whole of it. */
__attribute__((format(printf, 4, 5))) void sl_verify_begin(struct sl_verifier *v, enum sl_rule rule, sl_loc loc,
                                                           const char *format, ...);
__attribute__((format(printf, 4, 5))) void sl_verify_error(struct sl_verifier *v, enum sl_rule rule, sl_loc loc,
                                                           const char *format, ...);
/* Ends an open error with a note at the place of a declaration; without a place there is no note. */
void sl_verify_end_at(struct sl_verifier *v, sl_loc loc, const char *note);

/* verify_expr.c: names and expressions. */
enum { SL_MAY_USE_LOOPS = 1, SL_MAY_USE_REGISTERS = 2 };
/* Checks an expression (0 is allowed: nothing) and returns its value as far as literals alone tell it. */
struct sl_constant sl_verify_expr(struct sl_verifier *v, sl_index expr, unsigned may_use);
void sl_verify_cond(struct sl_verifier *v, struct sl_cond cond, unsigned may_use);
void sl_verify_attrs(struct sl_verifier *v, uint32_t first, uint32_t count, unsigned may_use);
/* Whether the name is declared as one of the kinds (bit i: kind i); reports when not: "`what` expected". */
bool sl_verify_name(struct sl_verifier *v, sl_name name, sl_loc loc, unsigned kinds, const char *what);

void sl_verify_decls(struct sl_verifier *v);             /* verify_decl.c */
void sl_verify_op(struct sl_verifier *v, sl_index stmt); /* verify_op.c */
void sl_verify_deps(struct sl_verifier *v);              /* verify_dep.c */

/* verify_registers.c: registers are written before they are read, and engines agree on bounds and conditions.
 * Requires a kernel that is otherwise correct. Which engine issues for a queue without `via` is known only
 * after resolution against the target: when sl_registers_need_target, sl_verify_program leaves the check to
 * its caller, after sl_target_resolve. Returns SLUICE_OK or SLUICE_E_INPUT. */
bool sl_registers_need_target(const struct sl_kernel *kernel);
int sl_verify_registers(sl_program *program, struct sl_kernel *kernel, sl_report *report);

#endif
