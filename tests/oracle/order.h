/* order.h: what follows from the order of the streams: which instances of a run have retired when another one issues.
 * */
#ifndef SL_TESTS_ORACLE_ORDER_H
#define SL_TESTS_ORACLE_ORDER_H

#include "oracle/reference.h"
#include "oracle/relation.h"
#include "oracle/trace.h"

/* Whether the machine orders two instances without a wait: one engine with interlock, one ordered queue, or a load
 * that its engine stops for. */
bool sl_hardware_gives(const struct sl_trace *trace, struct sl_oracle_hardware hardware, uint32_t earlier,
                       uint32_t later);

/* Closes "must have retired before it issues" (`waits`; pairs that the hardware orders do not count) under the order
 * of issue and of retirement: each row of `before` is what has retired when that instance issues. O(instances^3 / 64).
 * */
void sl_order_close(struct sl_relation *before, const struct sl_relation *waits, const struct sl_trace *trace,
                    struct sl_oracle_hardware hardware);

#endif
