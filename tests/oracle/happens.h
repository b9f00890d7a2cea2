/* happens.h: what happens before what, instance by instance, in one imagined run of a kernel.
 *
 * The run is drawn: trip counts and branches are random whatever their expressions say (no reduction looks at them), but for
 * loops whose trip count is known from constants and static parameters. A clock per instance, in sequential order, says which
 * retirements come before its issue when exactly the given dependences are enforced.
 */
#ifndef SL_TESTS_ORACLE_HAPPENS_H
#define SL_TESTS_ORACLE_HAPPENS_H

#include "oracle/reduce_reference.h"

struct sl_oracle_frame; /* an iteration of a block */

struct sl_oracle_event {
  sl_index stmt;
  uint32_t stream, issue; /* where it retires, where it issues */
  uint32_t ordinal;       /* on its stream, from 1 */
  const struct sl_oracle_frame *frame;
};

struct sl_oracle_run {
  const struct sl_kernel *kernel;
  struct sl_oracle_event *events;
  uint32_t len, cap;
  uint32_t *clocks; /* by event and stream: retirements on it before the event's issue */
  bool is_too_long;
  struct sl_oracle_frame *frames; /* to be freed */
};

/* Draws a run of at most `limit` events. Copies are expanded, streams resolved. Free it in every case. */
void sl_oracle_run_draw(struct sl_oracle_run *run, const struct sl_kernel *kernel, uint64_t seed, uint32_t limit);
void sl_oracle_run_free(struct sl_oracle_run *run);

/* The event that must have retired before event `consumer` issues, the last one for the edge; UINT32_MAX: none.
 * `consumer` is an event of the edge's consumer. */
uint32_t sl_oracle_needed(const struct sl_oracle_run *run, const struct sl_oracle_edge *edge, uint32_t consumer);

/* Fills the clocks, the edges chosen by `enforced` being enforced. */
void sl_oracle_order(struct sl_oracle_run *run, const struct sl_oracle_edge *edges, const bool *enforced,
                     uint32_t count);
/* Whether every instance of the edge's consumer comes after what it needs; else *consumer is one that does not. */
bool sl_oracle_holds(const struct sl_oracle_run *run, const struct sl_oracle_edge *edge, uint32_t *consumer);

#endif
