/* reduce_reference.h: which dependences are implied, by matrices: the procedure that was verified, word for word, and slow.
 *
 * For every block L, inner ones first, nodes I(x) and R(x) of every x anywhere inside L:
 *   b[u][v]  0 for I(x) -> R(x), x direct in L; 0 or 1 along issue streams and retire streams (0 when u stands in an earlier
 *            statement of L's body); 0 when u and v are in one arm M of L's body with D_M[u][v] = 0; k for each dependence of L
 *   pre(u)   u itself; of u inside a child M: pre_M(u) and the x direct in M with D_M[u][x] = 0;  suf(v) likewise
 *   F        min-plus closure of b over the direct events
 *   D_L[u][v] = min over x in pre(u), y in suf(v) of min(b[x][y], min over direct a, c of b[x][a] + F[a][c] + b[c][y])
 *   (p, c, L, k) is implied iff D_L[R(p)][I(c)] <= k without it.
 * Complete in one loop, incomplete in nests, never wrong. O(blocks * nodes^3 + dependences * nodes^3).
 */
#ifndef SL_TESTS_ORACLE_REDUCE_REFERENCE_H
#define SL_TESTS_ORACLE_REDUCE_REFERENCE_H

#include <stdbool.h>

#include "ir/program.h"

/* A dependence, with the meaning of src/deps/edge.h. */
struct sl_oracle_edge {
  sl_index producer, consumer, block, inner_block;
  uint32_t k;
  int32_t inner_k;
  bool across;
  bool is_given; /* by the hardware: nothing has to imply it */
  bool counts;   /* it holds whether or not it is given: others may rest on it */
};

/* Sets implied[i] for every edge that is not given; edges of the same ends: all but one of the least distance are implied.
 * The edges have no inner block and are not across; copies are expanded. */
void sl_oracle_reduce(bool *implied, const struct sl_kernel *kernel, const struct sl_oracle_edge *edges,
                      uint32_t count);

#endif
