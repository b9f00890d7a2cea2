/* touch_map.h: who touched which bytes last: a map from disjoint intervals of bytes to lists of accesses, each with the
 * partitions for which it still counts.
 *
 * Intervals are kept in order in leaves of bounded size, so that finding a byte is O(log) and what a new access changes is
 * near it. Time per call: O(log intervals + intervals and accesses met).
 *
 * Each end of an access cuts an interval in two, with a copy of its list. Where many accesses overlap that would be
 * cubic, so crowded intervals are not cut: what ends inside one counts for all of it. So the map may hold an access for
 * more than it touches, never for less; whoever meets one there compares the two.
 */
#ifndef SL_DEPS_TOUCH_MAP_H
#define SL_DEPS_TOUCH_MAP_H

#include "base/vec.h"

struct sl_touch { /* an access that counts for some partitions of an interval */
  uint32_t access;
  uint32_t stream;          /* of the access, at hand without looking it up */
  int32_t row_min, row_max; /* [row_min, row_max) */
  uint32_t next;            /* of the interval, or of the free ones; 0 = none */
};

/* Touches that wrote, and those that only read. */
enum sl_touch_list { SL_TOUCH_WRITERS, SL_TOUCH_READERS, SL_TOUCH_LISTS };

struct sl_touched {               /* an interval of bytes, never without a touch */
  int64_t min, max;               /* [min, max) */
  uint32_t first[SL_TOUCH_LISTS]; /* into touches */
};

struct sl_touch_leaf;

struct sl_touch_map {
  sl_vec(struct sl_touch_leaf *) leaves;
  sl_vec(int64_t) starts; /* of the first interval of each leaf */
  uint32_t last_found;    /* leaf: whoever asks mostly asks there again */
};

/* The touches of all maps. */
struct sl_touches {
  sl_heap *heap;
  sl_vec(struct sl_touch) list; /* (from 1) */
  uint32_t free;
};

void sl_touches_init(struct sl_touches *touches, sl_heap *heap);

/* A place in a map: good until the map changes. */
struct sl_touch_cursor {
  uint32_t leaf, at;
};

/* The first interval that ends behind `min`; sl_touch_get answers NULL at the end. */
struct sl_touch_cursor sl_touch_find(struct sl_touch_map *map, int64_t min);
struct sl_touched *sl_touch_get(const struct sl_touch_map *map, struct sl_touch_cursor *cursor);
static inline void sl_touch_step(struct sl_touch_cursor *cursor)
{
  cursor->at++;
}

/* Adds an access for [min, max) and partitions, or for a little more (see the head). NEW: it is in no list yet; else where it is
 * its partitions are joined. HULL: it does not touch all of the interval. */
enum { SL_TOUCH_NEW = 1, SL_TOUCH_HULL = 2 };
void sl_touch_add(struct sl_touch_map *map, struct sl_touches *touches, int64_t min, int64_t max,
                  enum sl_touch_list list, struct sl_touch touch, unsigned how);

/* Which touches end, and who is told. */
enum { SL_TOUCH_ANY_STREAM = 0xffffffffu };
struct sl_touch_sweep {
  bool writers;           /* also those that wrote */
  uint32_t stream, first; /* only accesses of this stream, from this number on */
  void *user;
  bool (*ends)(void *user, uint32_t access); /* asked of each; NULL: all end */
  uint32_t told_before; /* of accesses below this number `ended` is told: the interval and the partitions */
  void (*ended)(void *user, int64_t min, int64_t max, const struct sl_touch *touch);
};
/* Takes the partitions [row_min, row_max) of every touch that ends out of [min, max); with `ends`, out of all intervals that
 * meet it, for such a touch has just this place. What ends only for a part of a crowded interval stays. */
void sl_touch_remove(struct sl_touch_map *map, struct sl_touches *touches, int64_t min, int64_t max, int32_t row_min,
                     int32_t row_max, const struct sl_touch_sweep *sweep);

/* Gives the touches back. */
void sl_touch_map_free(struct sl_touch_map *map, struct sl_touches *touches);

#endif
