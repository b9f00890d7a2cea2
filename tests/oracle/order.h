/* order.h: what edges between instructions promise in one run, and what follows from it and from the order of the streams.
 * Reads edges by the meaning that deps/edge.h gives them; shares no code with src/deps.
 */
#ifndef SL_TESTS_ORACLE_ORDER_H
#define SL_TESTS_ORACLE_ORDER_H

#include "deps/edge.h"
#include "oracle/reference.h"
#include "oracle/relation.h"
#include "oracle/trace.h"

/* Whether the machine orders two instances without a wait: one engine with interlock, one ordered queue, or a load that its
 * engine stops for. */
bool sl_hardware_orders(const struct sl_trace *trace, struct sl_oracle_hardware hardware, uint32_t earlier, uint32_t later);

/* The part of a run that an edge makes an instance of its consumer wait for: what executes in [start, end). `end` is 0 when
 * it waits for nothing. An edge asks for everything up to `end`; what is before `start` belongs to earlier iterations. */
struct sl_target_time {
  uint64_t start, end;
};
struct sl_target_time sl_edge_target(const struct sl_trace *trace, const struct sl_edge *edge, uint32_t consumer);

/* The last instance of the producer that an instance of the consumer waits for; UINT32_MAX: none. */
uint32_t sl_edge_needs(const struct sl_trace *trace, const struct sl_edge *edge, uint32_t consumer);

/* Closes "must have retired before it issues" (`waits`; pairs that the hardware orders do not count) under the order of issue
 * and of retirement: each row of `before` is what has retired when that instance issues. O(instances^3 / 64). */
void sl_order_close(struct sl_relation *before, const struct sl_relation *waits, const struct sl_trace *trace,
                    struct sl_oracle_hardware hardware);

#endif
