/* promise.h: what an edge between instructions promises in one run, by the meaning that deps/edge.h gives it. Shares
 * no code with src/deps.
 */
#ifndef SL_TESTS_PROPERTY_PROMISE_H
#define SL_TESTS_PROPERTY_PROMISE_H

#include "deps/edge.h"
#include "oracle/trace.h"

/* The part of a run that an edge makes an instance of its consumer wait for: what executes in [start, end). `end` is 0
 * when it waits for nothing. An edge asks for everything up to `end`; what is before `start` belongs to earlier
 * iterations. */
struct sl_target_time {
  uint64_t start, end;
};
struct sl_target_time sl_edge_target(const struct sl_trace *trace, const struct sl_edge *edge, uint32_t consumer);

/* The last instance of the producer that an instance of the consumer waits for; SL_NO_INSTANCE: none. */
uint32_t sl_edge_needs(const struct sl_trace *trace, const struct sl_edge *edge, uint32_t consumer);

#endif
