/* occupancy.h: how much of the on-chip buffers is in use, for traces.
 *
 * A copy of a buffer is what the dimensions before its partitions choose: `xt : sbuf bf16[2, 128p, 512]` has two. It is in use
 * from the issue of the first write (of any access, when nobody writes it first) to the retirement of the last access before it is
 * written anew: before a write that does not read, after it has been read.
 *
 * That an access was the last one is known only later, so changes are kept until they are certain. What is kept is bounded: a copy
 * that nobody touches while some ten thousand changes pass counts as in use meanwhile.
 *
 * Time: O(copies touched) per instruction; O(log kept + copies / kept) per change.
 */
#ifndef SL_SIM_OCCUPANCY_H
#define SL_SIM_OCCUPANCY_H

#include "sim/operation.h"

/* Copies of a buffer that an instruction in flight touches. */
struct sl_occupancy_touch {
  struct sl_occupancy_touch *next;
  uint32_t buffer;       /* tracked one */
  uint32_t first, count; /* its copies */
};

struct sl_copy {
  uint64_t until;     /* the latest retirement of what has touched it */
  uint32_t in_flight; /* instructions */
  bool is_in_use, was_read;
};

/* A buffer on the chip. */
struct sl_tracked {
  uint32_t buffer;   /* of the kernel */
  uint32_t choosing; /* leading dimensions that choose a copy */
  uint32_t first_copy, copy_count;
  uint32_t in_use; /* copies, as far as it was told */
  uint64_t copy_bytes;
};

struct sl_usage_change {
  uint64_t time;
  uint32_t buffer; /* tracked one */
  int32_t copies;  /* +1 or -1 */
};

struct sl_occupancy {
  sl_heap *heap;
  const struct sl_operations *operations;
  const sluice_trace *trace;
  sl_vec(struct sl_tracked) tracked;
  sl_vec(sluice_trace_buffer) buffers; /* the same, for the head of a trace */
  uint32_t *tracked_of;                /* by buffer: tracked one + 1 */
  struct sl_copy *copies;
  uint32_t copy_count;
  sl_vec(struct sl_usage_change) changes;
  uint32_t enough; /* changes after which some are told */
  uint64_t told;   /* up to which time */
};

/* Tracks nothing when the trace does not ask for it. */
void sl_occupancy_init(struct sl_occupancy *occupancy, sl_heap *heap, const struct sl_operations *operations,
                       const sluice_trace *trace);

/* An instruction is issued; what it touches is to be given to sl_occupancy_end, at any time, when it is known when it retires.
 * `now`: no instruction will be issued before. */
struct sl_occupancy_touch *sl_occupancy_begin(struct sl_occupancy *occupancy, sl_index stmt, uint64_t time, uint64_t now,
                                    sl_eval_lookup lookup, void *user);
void sl_occupancy_end(struct sl_occupancy *occupancy, struct sl_occupancy_touch *touches, uint64_t time);

/* The run is over: tells the rest. */
void sl_occupancy_finish(struct sl_occupancy *occupancy);

#endif
