/* counter.h: a semaphore, an event or, for ideal synchronization, what a stream has retired: a value and the updates that will
 * become visible. Updates are kept in the order of time, so a waiting engine can be told when it will go on.
 */
#ifndef SL_SIM_COUNTER_H
#define SL_SIM_COUNTER_H

#include "base/vec.h"
#include "ir/presence.h"
#include "sim/clock.h"
#include "target/target.h"

/* An update that waits do not see before `when`. */
struct sl_posted {
  struct sl_stamp when;
  uint32_t by;         /* added; or the new value */
  bool is_set;
  sl_index stmt;       /* whose retirement it is */
  uint32_t stream;
  uint64_t instance;
};

struct sl_counter {
  uint32_t value;
  bool takes;          /* an event: a wait that holds takes one */
  sl_engines waiting;  /* engines that stand at a wait for it */
  sl_vec(struct sl_posted) posted; /* from `from` on, by time */
  uint32_t from;
  struct sl_posted latest; /* applied */
};

/* What a wait asks for. */
struct sl_asked {
  uint32_t threshold;
  bool equal;
};

/* What is told of each update when it becomes visible; may be NULL. */
struct sl_counter_watch {
  void (*changed)(void *user, uint64_t time, uint32_t value);
  void *user;
};

bool sl_counter_holds(const struct sl_target *target, uint32_t value, struct sl_asked asked);

/* Adds an update. O(1) unless it comes before ones that are there. */
void sl_counter_post(struct sl_counter *counter, sl_heap *heap, const struct sl_posted *posted);

/* Applies what is visible at `time`, up to the update that makes an `==` hold. Answers whether the wait holds. An engine that is
 * woken when its wait holds finds in counter->latest an update of that time. With asked NULL everything is applied. */
bool sl_counter_advance(struct sl_counter *counter, const struct sl_target *target, uint64_t time,
                        const struct sl_asked *asked, const struct sl_counter_watch *watch);

/* The time from which the wait holds by the updates that are known; SL_NEVER when they do not suffice. */
uint64_t sl_counter_when(const struct sl_counter *counter, const struct sl_target *target, struct sl_asked asked);

/* Drops all updates. */
void sl_counter_reset(struct sl_counter *counter, uint32_t value);

#endif
