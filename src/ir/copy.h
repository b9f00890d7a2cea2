/* copy.h: copying statements of a kernel within it, with names replaced: for passes that write loops out.
 *
 * Expressions are shared where nothing in them is replaced, and folded where what is replaced makes them numbers. Recursion is
 * bounded by the limits on nesting. Linear in what is copied.
 */
#ifndef SL_IR_COPY_H
#define SL_IR_COPY_H

#include "ir/program.h"

struct sl_copier {
  sl_program *program;
  struct sl_kernel *kernel;
  /* The expression that stands for a name, or SL_NONE to keep the name. */
  sl_index (*substitute)(void *user, sl_name name);
  /* The label of a copy; labels are never 0 here. */
  sl_name (*relabel)(void *user, sl_name label);
  void *user;
  bool keeps_comments;
};

sl_index sl_copy_expr(const struct sl_copier *copier, sl_index expr);
struct sl_cond sl_copy_cond(const struct sl_copier *copier, struct sl_cond cond);

/* 1 or 0 when a condition, with names replaced, is decided by numbers alone; else -1. */
int sl_copy_decide(const struct sl_copier *copier, struct sl_cond cond);

/* Whether a condition asks the run (`?name`). Each textual place has a sequence of its own, so a copy means something else. */
bool sl_copy_is_opaque(const struct sl_kernel *kernel, struct sl_cond cond);

/* A copy of an operation's statement, not linked yet. A name that stands as an operand by itself is replaced only by a number:
 * sl_copy_can says whether that is so for all of an operation's operands. */
bool sl_copy_can(const struct sl_copier *copier, const struct sl_op *op);
sl_index sl_copy_op(const struct sl_copier *copier, sl_index stmt);

/* Appends copies of everything in a block. */
void sl_copy_block(const struct sl_copier *copier, sl_index from, sl_index to);

#endif
