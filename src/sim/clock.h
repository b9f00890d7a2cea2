/* clock.h: points in time that know what led to them.
 *
 * A stamp is a time in ticks and how much of it each part of the critical path took; the parts always add up to the time.
 * Everything that happens later than something else is made by adding to its stamp, and where several have to be there, the
 * latest one is kept: so the last stamp of a run is its critical path, and nothing has to be remembered of the run.
 */
#ifndef SL_SIM_CLOCK_H
#define SL_SIM_CLOCK_H

#include <sluice/sim.h>

struct sl_stamp {
  uint64_t at;
  uint64_t part[SLUICE_PATH_PARTS];
};

static inline void sl_stamp_add(struct sl_stamp *stamp, enum sluice_path_part part, uint64_t ticks)
{
  stamp->at += ticks;
  stamp->part[part] += ticks;
}

static inline struct sl_stamp sl_stamp_plus(const struct sl_stamp *stamp, enum sluice_path_part part, uint64_t ticks)
{
  struct sl_stamp sum = *stamp;
  sl_stamp_add(&sum, part, ticks);
  return sum;
}

/* Keeps the later one; the one that is there already when they are equal. */
static inline void sl_stamp_join(struct sl_stamp *stamp, const struct sl_stamp *other)
{
  if (other->at > stamp->at)
    *stamp = *other;
}

/* Times that a cost can reach without danger for sums of 64 bits: about a week of ticks. */
enum { SL_TICKS_BITS = 51 };
#define SL_TICKS_MAX ((uint64_t)1 << SL_TICKS_BITS)
#define SL_NEVER UINT64_MAX

#endif
