/* explicit.h: dependence lines of a kernel as edges between instructions.
 *
 * An edge (producer, consumer, block, k) says: the consumer, in iteration i of `block`, needs the producer retired through
 * iteration i - k of it, everything up to there; no wait when i - k lies before the current visit of the block
 * began. k = 0 is carried by the innermost common block. A vector with several non-zero components keeps them in its line.
 */
#ifndef SL_DEPS_EXPLICIT_H
#define SL_DEPS_EXPLICIT_H

#include "ir/ir.h"

struct sl_edge {
  sl_index producer, consumer; /* statements */
  sl_index block;              /* carrying block; for a vector that of its outermost non-zero component */
  uint32_t k;
  uint32_t line; /* index into kernel->deps */
  bool is_vector;
  /* Of the producer, kept here because edges point all over a large kernel: where it stands, its number in the text, and
   * (copies being expanded) the stream it retires on. */
  sl_index producer_block;
  uint32_t producer_position, producer_stream;
};
typedef sl_vec(struct sl_edge) sl_edges;

/* The innermost block around both statements. O(depth). */
sl_index sl_common_block(const struct sl_kernel *kernel, sl_index a, sl_index b);
/* Whether `outer` is `block` or a block around it. O(depth). */
bool sl_block_contains(const struct sl_kernel *kernel, sl_index outer, sl_index block);

/* Appends one edge per pair of instructions that a `dep` line names (a label names all its copies), less those a `nodep`
 * line takes away. Requires a program that sl_verify_program accepts. Reports backward edges at distance 0 and lines whose
 * ends are not instructions; returns SLUICE_OK or SLUICE_E_INPUT. O(statements + edges * depth). */
int sl_deps_resolve(sl_edges *edges, sl_heap *heap, sl_program *program, struct sl_kernel *kernel, sl_report *report);

/* The checks of sl_deps_resolve alone, for verification. */
int sl_deps_check(sl_program *program, struct sl_kernel *kernel, sl_report *report);

/* "ld -> ex (i: 2)", as the line is written. */
void sl_print_dep(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel, uint32_t line);

#endif
