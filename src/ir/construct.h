/* construct.h: what the front ends that make a tree without kernel text share: the JSON reader and the builder. They accept
 * exactly what the language can write, so that whatever they make can be printed and read again.
 */
#ifndef SL_IR_CONSTRUCT_H
#define SL_IR_CONSTRUCT_H

#include "ir/ir.h"

/* An expression or a condition in the language's syntax. `content` is the place of the text's first byte in the report's
 * source, or SL_NO_LOC: errors and nodes are placed from there on. Return SL_NONE or false after reporting. */
sl_index sl_expr_from_text(sl_program *program, struct sl_kernel *kernel, const char *text, sl_loc content,
                           sl_report *report);
bool sl_cond_from_text(sl_program *program, struct sl_kernel *kernel, struct sl_cond *cond, const char *text,
                       sl_loc content, sl_report *report);

/* name { "-" name } */
bool sl_is_target_name(const char *text, size_t length);
/* What a string of the language can hold: UTF-8. */
bool sl_is_string(const char *text);
/* A number with a fraction or an exponent, as the language writes it. */
bool sl_is_float(const char *text, size_t length);

/* Sets the streams of an op from "pe", "act|dve" or "*"; false when the text is none of these. */
bool sl_op_set_streams(sl_program *program, struct sl_kernel *kernel, struct sl_op *op, const char *text, sl_loc loc);

/* Declares a queue; SL_NO_STREAM when a stream of the name exists. trigger 0: the target's default. */
uint32_t sl_queue_declare(struct sl_kernel *kernel, sl_name name, sl_name trigger, sl_loc loc);

#endif
