/* scope.h: what the names of one kernel stand for while its statements are walked in text order. Parameters, buffers,
 * semaphores, events and loop variables share one namespace; a loop variable is known inside its loop alone.
 *
 * Names are integers, so the table is an array; entries carry the number of the kernel that wrote them, and one array
 * serves all kernels of a program without being cleared.
 */
#ifndef SL_IR_SCOPE_H
#define SL_IR_SCOPE_H

#include "base/report.h"
#include "ir/program.h"

enum sl_symbol_kind {
  SL_SYMBOL_NONE,
  SL_SYMBOL_PARAM,
  SL_SYMBOL_BUFFER,
  SL_SYMBOL_SEM,
  SL_SYMBOL_EVENT,
  SL_SYMBOL_LOOP,       /* variable of an enclosing loop; item: its statement */
  SL_SYMBOL_CLOSED_LOOP /* variable of a loop of the kernel that is not around this place */
};

struct sl_symbol {
  uint32_t kernel; /* which kernel wrote the entry, from 1 */
  uint8_t kind;
  sl_index item;
  sl_loc loc;
};

struct sl_scope {
  sl_heap *heap;
  const sl_program *program;
  uint32_t kernel;
  sl_vec(struct sl_symbol) symbols; /* by name */
  uint32_t suggestions;             /* "did you mean" searches left: each costs a scan of the table */
};

void sl_scope_init(struct sl_scope *scope, sl_heap *heap, const sl_program *program);
/* Forgets everything: what follows belongs to the next kernel. O(1). */
void sl_scope_next_kernel(struct sl_scope *scope);

/* The entry of a name; kind NONE when nothing declares it. Good until the next kernel. */
struct sl_symbol *sl_scope_find(struct sl_scope *scope, sl_name name);
void sl_scope_set(struct sl_scope *scope, sl_name name, enum sl_symbol_kind kind, sl_index item, sl_loc loc);

/* "a buffer", "a loop variable": for messages. */
const char *sl_symbol_text(enum sl_symbol_kind kind);
/* The declared name of one of the kinds (bit i: kind i) closest to a misspelt one, or NULL. */
const char *sl_scope_closest(struct sl_scope *scope, sl_name name, unsigned kinds);

#endif
