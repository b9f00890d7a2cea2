/* inferred.h: a kernel with the edges that src/deps finds, for tests that judge them.
 */
#ifndef SL_TESTS_PROPERTY_INFERRED_H
#define SL_TESTS_PROPERTY_INFERRED_H

#include "deps/edge.h"
#include "oracle/order.h"
#include "property/judge.h"

struct sl_inferred {
  sluice_program *program; /* one kernel, its copies expanded */
  const struct sl_kernel *kernel;
  struct sl_oracle_hardware hardware;
  struct sl_edge *edges;
  uint32_t edge_count;
};

/* Takes over a verified program; free `inferred` in every case. False after a failure. */
bool sl_inferred_init(struct sl_inferred *inferred, sluice_program *program, const sluice_targets *targets,
                      struct sl_failure *failure);
void sl_inferred_free(struct sl_inferred *inferred);

/* Inputs of one run: the parameters' own values in run 0, others below SL_AFFINE_MAX_PARAM in later ones. Returns
 * their number. */
uint32_t sl_inferred_params(const struct sl_inferred *inferred, unsigned run, uint64_t *random,
                            int64_t params[SL_JUDGE_MAX_INPUTS]);
/* What has retired when an instance issues, by the edges and the order of the streams. */
void sl_inferred_close(const struct sl_inferred *inferred, const struct sl_trace *trace, struct sl_relation *promised);
/* Writes "x1 -> x0 (i: 1)". */
void sl_inferred_describe(const struct sl_inferred *inferred, const struct sl_edge *edge, char *text, size_t size);

#endif
