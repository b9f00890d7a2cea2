/* rings.c: see rings.h. Time per event: the number of queues. */
#include "sim/rings.h"

#include <assert.h>

enum { SPEED_BITS = 12, FULL_SPEED = 1 << SPEED_BITS };

void sl_rings_init(struct sl_rings *rings, sl_heap *heap, const struct sl_kernel *kernel, bool is_shared)
{
  memset(rings, 0, sizeof *rings);
  rings->heap = heap;
  rings->rings = sl_heap_calloc(heap, kernel->streams.len + 1u, sizeof *rings->rings);
  rings->queues = sl_heap_calloc(heap, kernel->streams.len + 1u, sizeof *rings->queues);
  rings->moving = sl_heap_calloc(heap, kernel->streams.len + 1u, sizeof *rings->moving);
  for (uint32_t s = 0; s < kernel->streams.len; s++)
    if (kernel->streams.data[s].is_queue)
      rings->queues[rings->queue_count++] = s;
  rings->is_shared = is_shared;
  rings->next = SL_NEVER;
}

static struct sl_transfer *head(const struct sl_ring *ring)
{
  return ring->from < ring->transfers.len ? &ring->transfers.data[ring->from] : NULL;
}

/* The time at which an active transfer is finished while nothing changes. */
static uint64_t finish_time(const struct sl_rings *rings, const struct sl_ring *ring)
{
  return rings->time + (ring->left + ring->speed - 1) / ring->speed;
}

static uint64_t event_time(const struct sl_rings *rings, const struct sl_ring *ring)
{
  const struct sl_transfer *first = head(ring);
  if (!first)
    return SL_NEVER;
  if (ring->is_active)
    return finish_time(rings, ring);
  return first->ready.at > ring->free.at ? first->ready.at : ring->free.at;
}

static void find_next(struct sl_rings *rings)
{
  rings->next = SL_NEVER;
  for (uint32_t i = 0; i < rings->queue_count; i++) {
    uint64_t time = event_time(rings, &rings->rings[rings->queues[i]]);
    if (time >= rings->next)
      continue;
    rings->next = time;
    rings->next_ring = rings->queues[i];
  }
}

static void pass_time(struct sl_rings *rings, uint64_t time)
{
  assert(time >= rings->time);
  for (uint32_t i = 0; i < rings->moving_count; i++) {
    struct sl_ring *ring = &rings->rings[rings->moving[i]];
    uint64_t progress = (time - rings->time) * ring->speed;
    ring->left = progress < ring->left ? ring->left - progress : 0;
  }
  rings->time = time;
}

static const struct sl_transfer *moving(const struct sl_rings *rings, uint32_t i)
{
  return head(&rings->rings[rings->moving[i]]);
}

/* Class by class, from the smallest share to the largest: each gets its share if that is no more than its part of what is left. */
static void divide_bandwidth(struct sl_rings *rings)
{
  uint32_t left = SL_WHOLE_SHARE;
  for (uint32_t i = 0, end = 0; i < rings->moving_count; i++) {
    while (end <= i ||
           (end < rings->moving_count && moving(rings, end)->service_class == moving(rings, i)->service_class))
      end++;
    struct sl_ring *ring = &rings->rings[rings->moving[i]];
    uint32_t share = head(ring)->share, part = left / (end - i);
    uint32_t given = share < part || !rings->is_shared ? share : part;
    uint64_t speed = ((uint64_t)given << SPEED_BITS) / share;
    ring->speed = speed > 0 ? (uint32_t)speed : 1;
    left -= rings->is_shared ? given : 0;
  }
}

static bool comes_before(const struct sl_transfer *a, const struct sl_transfer *b)
{
  return a->service_class != b->service_class ? a->service_class > b->service_class : a->share < b->share;
}

static void start_moving(struct sl_rings *rings, uint32_t stream)
{
  uint32_t at = rings->moving_count++;
  for (; at > 0 && comes_before(head(&rings->rings[stream]), moving(rings, at - 1)); at--)
    rings->moving[at] = rings->moving[at - 1];
  rings->moving[at] = stream;
}

static void stop_moving(struct sl_rings *rings, uint32_t stream)
{
  uint32_t at = 0;
  while (rings->moving[at] != stream)
    at++;
  rings->moving_count--;
  memmove(&rings->moving[at], &rings->moving[at + 1], (rings->moving_count - at) * sizeof *rings->moving);
}

static void compact(struct sl_ring *ring)
{
  uint32_t left = ring->transfers.len - ring->from;
  if (left > ring->from)
    return;
  if (left)
    memmove(ring->transfers.data, &ring->transfers.data[ring->from], left * sizeof *ring->transfers.data);
  ring->transfers.len = left;
  ring->from = 0;
}

void sl_rings_add(struct sl_rings *rings, uint32_t stream, const struct sl_transfer *transfer)
{
  struct sl_ring *ring = &rings->rings[stream];
  compact(ring);
  sl_vec_add(rings->heap, &ring->transfers, *transfer);
  if (sl_ring_length(ring) > 1)
    return;
  uint64_t time = event_time(rings, ring);
  if (time < rings->next) {
    rings->next = time;
    rings->next_ring = stream;
  }
}

bool sl_rings_step(struct sl_rings *rings, struct sl_transfer *ended, struct sl_stamp *finish, uint32_t *stream)
{
  struct sl_ring *ring = &rings->rings[rings->next_ring];
  struct sl_transfer *first = head(ring);
  uint64_t time = rings->next;
  *stream = rings->next_ring;
  pass_time(rings, time);
  bool ends = ring->is_active;
  if (ends) {
    *ended = *first;
    *finish = sl_stamp_plus(&first->begun, SLUICE_PATH_DMA, time - first->begun.at);
    ring->free = *finish;
    stop_moving(rings, rings->next_ring);
    ring->from++;
  } else {
    first->begun = first->ready;
    sl_stamp_join(&first->begun, &ring->free);
    ring->left = first->work << SPEED_BITS;
    start_moving(rings, rings->next_ring);
  }
  ring->is_active = !ends;
  divide_bandwidth(rings);
  find_next(rings);
  return ends;
}
