/* rings.h: DMA queues. A ring moves its transfers one after the other; rings that move data at the same time share the
 * bandwidth, in turns so short that each simply gets its part of it.
 *
 * A transfer that is alone takes its work in ticks and then uses a share of the bandwidth, less than all of it when it is held up by
 * the cost of small descriptors. Several get equal parts, but none more than its share, and what one leaves the others divide
 * (max-min fairness). Progress is counted in 2^-12 ticks of work. With classes of service the highest class divides all of the
 * bandwidth, the next one what it leaves, and so on; a transfer for which nothing is left still creeps, at 2^-12 of its speed.
 */
#ifndef SL_SIM_RINGS_H
#define SL_SIM_RINGS_H

#include "base/vec.h"
#include "ir/program.h"
#include "sim/clock.h"

enum { SL_SETS_MOST = 16 /* events that one instruction may set */ };

struct sl_transfer {
  struct sl_stamp ready;   /* when its data could move */
  struct sl_stamp begun;   /* when it did */
  uint64_t work, done;     /* ticks: alone, and from the last byte to the update */
  uint32_t share;          /* of the bandwidth when it is alone, in SL_WHOLE_SHARE; at least 1 */
  uint32_t service_class;  /* the higher ones come first; 0 for all when rings take turns */
  sl_index stmt;
  /* for the owner */
  uint64_t instance, issued;
  uint32_t events[SL_SETS_MOST]; /* that it sets */
  char *iteration;         /* for traces */
  struct sl_occupancy_touch *touches; /* for traces: the buffers it moves between */
};

enum { SL_WHOLE_SHARE = 1 << 20 };

struct sl_ring {
  sl_vec(struct sl_transfer) transfers; /* from `from` on: the first one moves or will */
  uint32_t from;
  bool is_active;
  uint64_t left;           /* of the moving transfer's work, in 2^-12 ticks */
  uint32_t speed;          /* of its progress: 2^12 when it is not held up by others */
  struct sl_stamp free;    /* since when it is idle */
  struct sl_stamp retired; /* of the last one */
};

struct sl_rings {
  sl_heap *heap;
  struct sl_ring *rings;   /* by stream */
  uint32_t *queues;        /* streams that are queues */
  uint32_t queue_count;
  bool is_shared;
  uint32_t *moving; /* rings that move data, the highest class first, then by share */
  uint32_t moving_count;
  uint64_t time;           /* up to which `left` is known */
  uint64_t next;           /* of the next event; SL_NEVER = none */
  uint32_t next_ring;      /* stream */
};

void sl_rings_init(struct sl_rings *rings, sl_heap *heap, const struct sl_kernel *kernel, bool is_shared);

static inline uint32_t sl_ring_length(const struct sl_ring *ring)
{
  return ring->transfers.len - ring->from;
}

/* Adds a transfer behind the others of its ring. */
void sl_rings_add(struct sl_rings *rings, uint32_t stream, const struct sl_transfer *transfer);

/* Does the event that is due at rings->next. Answers true when it is the end of a transfer: *ended is it, its stamp
 * *finish the last byte. */
bool sl_rings_step(struct sl_rings *rings, struct sl_transfer *ended, struct sl_stamp *finish, uint32_t *stream);

#endif
