/* ir.h: what the files of src/ir offer each other and the layers above. */
#ifndef SL_IR_IR_H
#define SL_IR_IR_H

#include "base/buf.h"
#include "base/report.h"
#include "ir/program.h"

/* How deep a tree may be, so that whoever walks it may recurse: blocks (the kernel's own included, each `else if` counts as
 * one), and operators or parentheses of one expression. Whoever builds trees keeps them (rule `nesting`). */
enum { SL_NESTING_BLOCKS = 200, SL_NESTING_EXPR = 1000 };

/* parser.c: reads program->source into the program. Errors are reported; returns SLUICE_OK or SLUICE_E_INPUT. */
int sl_parse_program(sl_program *program, sl_report *report);
/* One expression in the language's syntax, into the kernel; 0 after reporting an error. */
sl_index sl_parse_expr(sl_program *program, struct sl_kernel *kernel, const char *text, sl_report *report);
/* One condition likewise; false after reporting an error. Locations count from the start of `text`. */
bool sl_parse_cond(sl_program *program, struct sl_kernel *kernel, struct sl_cond *cond, const char *text,
                   sl_report *report);
/* Whether a text is a name of the language: an identifier and not reserved. */
bool sl_is_name(const char *text, size_t length);

/* printer.c: canonical text. */
void sl_print_program(sl_buf *buf, const sl_program *program);
void sl_print_expr(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel, sl_index expr);
void sl_print_cond(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel, struct sl_cond cond);
/* One operand as it is written, without the `+` of a destination that is read as well: "xt[i % 2]", "%n". */
void sl_print_operand(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel,
                      const struct sl_operand *operand);
/* One statement as it would be printed, in one line, without clauses' line breaks: for messages. */
void sl_print_stmt_head(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel, sl_index stmt);

/* json_out.c, json_in.c */
void sl_print_json(sl_buf *buf, const sl_program *program);
int sl_parse_json(sl_program *program, sl_report *report);

/* Where the next number of a copy (`.`) or an iteration (`@`) begins in a label, or NULL: "mm@2.0". */
static inline const char *sl_label_number(const char *label)
{
  return strpbrk(label, ".@");
}

/* Where a statement comes from in another tool's source, for sl_report_origin; file NULL when it does not say. */
static inline sl_origin sl_stmt_origin(const sl_program *program, const struct sl_kernel *kernel, sl_index stmt)
{
  sl_index origin = kernel->stmts.data[stmt].origin;
  if (!origin)
    return (sl_origin){ NULL, 0, 0 };
  struct sl_origin_loc from = kernel->origins.data[origin];
  return (sl_origin){ sl_text(program, from.file), from.line, from.column };
}

/* verify.c: names, scopes, registers, structure, dependence lines; needs no target. */
int sl_verify_program(sl_program *program, sl_report *report);

/* expand.c: one copy per engine of `a|b.op` and `*.op`, labelled `label.0`, `label.1`, ...; and in kernels that are not
 * `explicit` a label for every instruction that has operands and none: STREAM_1, STREAM_2, ... in the text's order of the
 * stream. Requires resolved streams. */
void sl_expand_copies(sl_program *program, struct sl_kernel *kernel);

#endif
