/* hazards.h: the flow, anti and output dependences between the instances of a run, found byte by byte: the last
 * writer, and the readers since. Knows nothing of src/deps.
 */
#ifndef SL_TESTS_ORACLE_HAZARDS_H
#define SL_TESTS_ORACLE_HAZARDS_H

#include "oracle/relation.h"
#include "oracle/trace.h"

/* Adds, for each instance, the earlier ones it directly depends on. What may write leaves earlier writers in force.
 * Accesses to two buffers that are declared aliases depend on each other whatever their indices are.
 * O(instances^2 + bytes touched * accesses to each since the last write). */
void sl_hazards_find(struct sl_relation *hazards, const struct sl_trace *trace);

/* Adds, for each instance, all earlier ones that touch a common byte, or an alias, when one of the two writes. */
void sl_conflicts_find(struct sl_relation *conflicts, const struct sl_trace *trace);

#endif
