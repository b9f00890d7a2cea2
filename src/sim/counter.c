/* counter.c: see counter.h. */
#include "sim/counter.h"

bool sl_counter_holds(const struct sl_target *target, uint32_t value, struct sl_asked asked)
{
  if (asked.equal)
    return value == asked.threshold;
  return sl_target_sem_reached(target, value, asked.threshold);
}

static uint32_t apply(uint32_t value, const struct sl_posted *posted)
{
  return posted->is_set ? posted->by : value + posted->by;
}

/* Room at the front is used again when nothing is waiting there, or when it is more than half. */
static void compact(struct sl_counter *counter)
{
  uint32_t left = counter->posted.len - counter->from;
  if (left > counter->from)
    return;
  if (left)
    memmove(counter->posted.data, &counter->posted.data[counter->from], left * sizeof *counter->posted.data);
  counter->posted.len = left;
  counter->from = 0;
}

void sl_counter_post(struct sl_counter *counter, sl_heap *heap, const struct sl_posted *posted)
{
  sl_vec_add(heap, &counter->posted, *posted);
  struct sl_posted *list = counter->posted.data;
  for (uint32_t i = counter->posted.len - 1; i > counter->from && list[i - 1].when.at > posted->when.at; i--) {
    list[i] = list[i - 1];
    list[i - 1] = *posted;
  }
}

bool sl_counter_advance(struct sl_counter *counter, const struct sl_target *target, uint64_t time,
                        const struct sl_asked *asked, const struct sl_counter_watch *watch)
{
  bool holds = asked && sl_counter_holds(target, counter->value, *asked);
  while (counter->from < counter->posted.len && counter->posted.data[counter->from].when.at <= time) {
    if (holds && asked->equal) /* once an `==` holds it is passed, whatever else is visible by then */
      break;
    const struct sl_posted *posted = &counter->posted.data[counter->from++];
    counter->value = apply(counter->value, posted);
    holds = asked && sl_counter_holds(target, counter->value, *asked);
    counter->latest = *posted;
    if (watch && watch->changed)
      watch->changed(watch->user, posted->when.at, counter->value);
  }
  compact(counter);
  return holds;
}

uint64_t sl_counter_when(const struct sl_counter *counter, const struct sl_target *target, struct sl_asked asked)
{
  uint32_t value = counter->value;
  for (uint32_t i = counter->from; i < counter->posted.len; i++) {
    value = apply(value, &counter->posted.data[i]);
    if (sl_counter_holds(target, value, asked))
      return counter->posted.data[i].when.at;
  }
  return SL_NEVER;
}

void sl_counter_reset(struct sl_counter *counter, uint32_t value)
{
  counter->value = value;
  counter->posted.len = counter->from = 0;
}
