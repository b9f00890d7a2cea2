/* warmth.c: see warmth.h. */
#include "sim/warmth.h"

#include <assert.h>
#include <string.h>

void sl_warmth_init(struct sl_warmth *warmth, uint64_t window, double share, double rate)
{
  *warmth = (struct sl_warmth){ .share = share, .rate = rate };
  if (window > 0 && rate > 0 && rate < 1)
    warmth->step = window < SL_WARMTH_STEPS ? 1 : window / SL_WARMTH_STEPS;
}

/* A step is over. */
static void end_step(struct sl_warmth *warmth)
{
  uint64_t busy = 0;
  for (uint32_t i = 0; i < SL_WARMTH_STEPS; i++)
    busy += warmth->busy[i];
  double needed = warmth->share * (double)warmth->step * SL_WARMTH_STEPS;
  if ((double)busy > needed)
    warmth->is_warm = true;
  else if ((double)busy < needed)
    warmth->is_warm = false;
  warmth->at = (warmth->at + 1) % SL_WARMTH_STEPS;
  warmth->busy[warmth->at] = 0;
}

/* Time passes up to `until`, busy or not. A span of two windows leaves nothing of what was before. */
static void pass_time(struct sl_warmth *warmth, uint64_t until, bool is_busy)
{
  uint64_t most = 2 * SL_WARMTH_STEPS * warmth->step;
  assert(until >= warmth->time);
  if (until - warmth->time > most)
    warmth->time += (until - warmth->time - most) / warmth->step * warmth->step;
  while (warmth->time < until) {
    uint64_t end = (warmth->time / warmth->step + 1) * warmth->step, to = end < until ? end : until;
    warmth->busy[warmth->at] += is_busy ? to - warmth->time : 0;
    warmth->time = to;
    if (to == end)
      end_step(warmth);
  }
}

uint64_t sl_warmth_pass(struct sl_warmth *warmth, uint64_t start, uint64_t interval)
{
  if (!warmth->step)
    return interval;
  pass_time(warmth, start, false);
  if (!warmth->is_warm)
    interval = (uint64_t)((double)interval / warmth->rate + 0.5);
  pass_time(warmth, start + interval, true);
  return interval;
}
