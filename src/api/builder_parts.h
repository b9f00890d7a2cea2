/* builder_parts.h: the builder, and what its files share. */
#ifndef SL_API_BUILDER_PARTS_H
#define SL_API_BUILDER_PARTS_H

#include <sluice/builder.h>

#include "ir/construct.h"

struct kept_error {
  enum sl_rule rule;
  const char *text;
};

/* A block that is open, and the statement that it belongs to. */
struct open_block {
  sl_index stmt, block;
};

/* What is known of an expression by its index. */
struct expr_size {
  uint32_t nodes, depth; /* nodes 0: not an expression of the builder's user */
  bool used;             /* stands in the tree already: a further use is a copy */
};

struct sluice_builder {
  sl_program *program;
  sl_heap *heap;            /* of what ends with the builder; a child of the program's */
  struct sl_kernel *kernel; /* NULL between kernels */
  sl_vec(struct open_block) open;
  sl_vec(struct expr_size) sizes;
  sl_vec(struct kept_error) errors;
  bool out_of_memory;
};

/* Keeps an error for finish; SLUICE_E_INPUT. */
__attribute__((format(printf, 3, 4))) int sl_builder_fail(sluice_builder *b, enum sl_rule rule, const char *format,
                                                          ...);
/* Runs the work of one call under the program's guard; the second for what needs an open kernel. */
int sl_builder_run(sluice_builder *b, int (*work)(sluice_builder *b, void *arg), void *arg);
int sl_builder_run_in_kernel(sluice_builder *b, int (*work)(sluice_builder *b, void *arg), void *arg);

/* The following take what the caller gave into the program; 0 or false after keeping an error that names `what`. */
sl_name sl_builder_name(sluice_builder *b, const char *what, const char *text);
sl_name sl_builder_label(sluice_builder *b, const char *text);
sl_name sl_builder_string(sluice_builder *b, const char *what, const char *text);
/* Whether a number of elements fits the tree's 16 bits. */
bool sl_builder_fits(sluice_builder *b, const char *what, size_t count);
/* An expression for one place of the tree. */
sl_index sl_builder_expr(sluice_builder *b, const char *what, sluice_expr expr);
bool sl_builder_condition(sluice_builder *b, const sluice_condition *from, struct sl_cond *to);
bool sl_builder_attribute(sluice_builder *b, const sluice_attribute *from, struct sl_attr *to);

#endif
