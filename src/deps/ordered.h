/* ordered.h: control order without data in memory: what uses a register comes after the loads that fill it. */
#ifndef SL_DEPS_ORDERED_H
#define SL_DEPS_ORDERED_H

#include "deps/edge.h"

enum { SL_NO_OPERAND = 0xffff };

/* Appends an edge for every `reg_load` whose value an instruction of the same engine, or of a queue that it triggers, may use
 * directly: in an operand (consumer_operand says in which), or in an attribute or clause (SL_NO_OPERAND). The hardware keeps all of
 * them, since an engine stops for what it loads; they are there to be shown. Near-linear; nothing but one look at the
 * operations when there is no load. */
void sl_deps_add_ordered(sl_edges *edges, sl_heap *heap, const struct sl_kernel *kernel);

#endif
