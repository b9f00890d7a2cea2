/* explicit.h: dependence lines of a kernel as edges between instructions. */
#ifndef SL_DEPS_EXPLICIT_H
#define SL_DEPS_EXPLICIT_H

#include "deps/edge.h"

/* Appends one edge per pair of instructions that a `dep` line names (a label names all its copies). Requires a program that
 * sl_verify_program accepts. Reports backward edges at distance 0 and lines whose ends are not instructions; returns
 * SLUICE_OK or SLUICE_E_INPUT. O(statements + edges * depth). */
int sl_lines_resolve(sl_edges *edges, sl_heap *heap, sl_program *program, struct sl_kernel *kernel, sl_report *report);

/* Takes away the edges that `nodep` lines name, and reports what each line took. O(edges + lines) but for lines that share
 * both ends. */
void sl_lines_remove(sl_edges *edges, sl_heap *heap, sl_program *program, struct sl_kernel *kernel, sl_report *report);

/* The checks of sl_lines_resolve alone, for verification; and a warning for each line of which only the outermost distance
 * counts (it has more than two, or the second names a loop that does not stand directly in the first). */
int sl_lines_check(sl_program *program, struct sl_kernel *kernel, sl_report *report);

#endif
