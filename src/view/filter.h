/* filter.h: which slices a view shows, in the units of a trace. */
#ifndef SL_VIEW_FILTER_H
#define SL_VIEW_FILTER_H

#include <string.h>

#include <sluice/view.h>

/* Time rounded down to whole nanoseconds. It never turns the order of two times around, so slices that do not overlap in
 * ticks do not overlap in nanoseconds. */
static inline uint64_t sl_view_ns(uint64_t ticks, double ticks_per_ns)
{
  return (uint64_t)((double)ticks / ticks_per_ns);
}

static inline bool sl_view_is_named(const sluice_view_filter *filter, const char *stream)
{
  for (size_t i = 0; i < filter->stream_count; i++)
    if (strcmp(filter->streams[i], stream) == 0)
      return true;
  return filter->stream_count == 0;
}

static inline bool sl_view_is_in_range(const sluice_view_filter *filter, const sluice_slice *slice, double ticks_per_ns)
{
  return (double)slice->end / ticks_per_ns >= filter->from_ns && (double)slice->start / ticks_per_ns < filter->to_ns;
}

/* "execute", "wait", ...: names of kinds of slices. */
static inline const char *sl_view_kind_name(enum sluice_slice_kind kind)
{
  static const char *const names[] = { "execute", "flight", "control", "load", "wait", "blocked", "drain", "barrier" };
  return names[kind];
}

#endif
