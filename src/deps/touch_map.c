/* touch_map.c: see touch_map.h. */
#include "deps/touch_map.h"

#include <assert.h>

enum {
  LEAF_SIZE = 64,
  /* Intervals with so many touches are crowded: for hulls, and for what touches all of its place, where what others ended
   * matters more. */
  CROWD_OF_HULLS = 32,
  CROWD = 1024
};

struct sl_touch_leaf {
  uint32_t count;
  struct sl_touched at[LEAF_SIZE];
};

void sl_touches_init(struct sl_touches *touches, sl_heap *heap)
{
  memset(touches, 0, sizeof *touches);
  touches->heap = heap;
  (void)sl_vec_push(heap, &touches->list);
}

/* ---- touches ---- */

static uint32_t new_touch(struct sl_touches *touches, struct sl_touch touch)
{
  uint32_t at = touches->free;
  if (at)
    touches->free = touches->list.data[at].next;
  else {
    at = touches->list.len;
    (void)sl_vec_push(touches->heap, &touches->list);
  }
  touches->list.data[at] = touch;
  return at;
}

static void free_touch(struct sl_touches *touches, uint32_t at)
{
  touches->list.data[at].next = touches->free;
  touches->free = at;
}

static uint32_t copy_list(struct sl_touches *touches, uint32_t first)
{
  uint32_t copy = 0, last = 0;
  for (uint32_t at = first; at; at = touches->list.data[at].next) {
    struct sl_touch touch = touches->list.data[at];
    touch.next = 0;
    uint32_t made = new_touch(touches, touch);
    if (last)
      touches->list.data[last].next = made;
    else
      copy = made;
    last = made;
  }
  return copy;
}

/* ---- places ---- */

/* The last leaf that starts at or before `min`, else the first. */
static uint32_t find_leaf(struct sl_touch_map *map, int64_t min)
{
  uint32_t low = map->last_found, high = low + 1;
  bool is_same = high <= map->leaves.len && map->starts.data[low] <= min &&
                 (high == map->leaves.len || min < map->starts.data[high]);
  if (is_same)
    return low;
  low = 0;
  high = map->leaves.len;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (map->starts.data[middle] <= min)
      low = middle;
    else
      high = middle;
  }
  map->last_found = low;
  return low;
}

struct sl_touch_cursor sl_touch_find(struct sl_touch_map *map, int64_t min)
{
  uint32_t low = find_leaf(map, min);
  struct sl_touch_cursor cursor = { low, 0 };
  if (low >= map->leaves.len)
    return cursor;
  const struct sl_touch_leaf *leaf = map->leaves.data[low];
  uint32_t from = 0, to = leaf->count;
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    if (leaf->at[middle].max <= min)
      from = middle + 1;
    else
      to = middle;
  }
  cursor.at = from;
  return cursor;
}

struct sl_touched *sl_touch_get(const struct sl_touch_map *map, struct sl_touch_cursor *cursor)
{
  while (cursor->leaf < map->leaves.len && cursor->at >= map->leaves.data[cursor->leaf]->count) {
    cursor->leaf++;
    cursor->at = 0;
  }
  return cursor->leaf < map->leaves.len ? &map->leaves.data[cursor->leaf]->at[cursor->at] : NULL;
}

static void insert_leaf(struct sl_touch_map *map, sl_heap *heap, uint32_t at)
{
  struct sl_touch_leaf *leaf = sl_heap_alloc(heap, sizeof *leaf);
  leaf->count = 0;
  sl_vec_add(heap, &map->leaves, NULL);
  sl_vec_add(heap, &map->starts, 0);
  uint32_t behind = map->leaves.len - 1 - at;
  memmove(&map->leaves.data[at + 1], &map->leaves.data[at], behind * sizeof *map->leaves.data);
  memmove(&map->starts.data[at + 1], &map->starts.data[at], behind * sizeof *map->starts.data);
  map->leaves.data[at] = leaf;
}

/* Moves the upper half of a full leaf into a new one behind it; the cursor stays with its interval. */
static void split_leaf(struct sl_touch_map *map, sl_heap *heap, struct sl_touch_cursor *cursor)
{
  insert_leaf(map, heap, cursor->leaf + 1);
  struct sl_touch_leaf *leaf = map->leaves.data[cursor->leaf], *upper = map->leaves.data[cursor->leaf + 1];
  /* At the end of the map what comes next will too: the leaf stays full. */
  uint32_t kept = cursor->at == leaf->count ? leaf->count : leaf->count / 2;
  upper->count = leaf->count - kept;
  memcpy(upper->at, &leaf->at[kept], upper->count * sizeof *upper->at);
  leaf->count = kept;
  map->starts.data[cursor->leaf + 1] = upper->count ? upper->at[0].min : INT64_MAX;
  if (cursor->at >= kept) {
    cursor->leaf++;
    cursor->at -= kept;
  }
}

/* Makes room at the cursor and puts an interval there. */
static void insert(struct sl_touch_map *map, sl_heap *heap, struct sl_touch_cursor *cursor, struct sl_touched interval)
{
  if (map->leaves.len == 0)
    insert_leaf(map, heap, 0);
  if (cursor->leaf == map->leaves.len) { /* behind the last one */
    cursor->leaf--;
    cursor->at = map->leaves.data[cursor->leaf]->count;
  }
  if (map->leaves.data[cursor->leaf]->count == LEAF_SIZE)
    split_leaf(map, heap, cursor);
  struct sl_touch_leaf *leaf = map->leaves.data[cursor->leaf];
  memmove(&leaf->at[cursor->at + 1], &leaf->at[cursor->at], (leaf->count - cursor->at) * sizeof *leaf->at);
  leaf->at[cursor->at] = interval;
  leaf->count++;
  map->starts.data[cursor->leaf] = leaf->at[0].min;
}

static void remove_at(struct sl_touch_map *map, sl_heap *heap, struct sl_touch_cursor *cursor)
{
  struct sl_touch_leaf *leaf = map->leaves.data[cursor->leaf];
  leaf->count--;
  memmove(&leaf->at[cursor->at], &leaf->at[cursor->at + 1], (leaf->count - cursor->at) * sizeof *leaf->at);
  if (leaf->count) {
    map->starts.data[cursor->leaf] = leaf->at[0].min;
    return;
  }
  sl_heap_free(heap, leaf);
  map->leaves.len--;
  map->starts.len--;
  uint32_t behind = map->leaves.len - cursor->leaf;
  memmove(&map->leaves.data[cursor->leaf], &map->leaves.data[cursor->leaf + 1], behind * sizeof *map->leaves.data);
  memmove(&map->starts.data[cursor->leaf], &map->starts.data[cursor->leaf + 1], behind * sizeof *map->starts.data);
  cursor->at = 0;
}

/* Cuts the interval at the cursor in two at a byte inside; the cursor is at the lower part. */
static void cut(struct sl_touch_map *map, struct sl_touches *touches, struct sl_touch_cursor *cursor, int64_t byte)
{
  struct sl_touched *interval = sl_touch_get(map, cursor), lower = *interval;
  assert(interval->min < byte && byte < interval->max);
  lower.max = byte;
  for (uint32_t list = 0; list < SL_TOUCH_LISTS; list++)
    lower.first[list] = copy_list(touches, interval->first[list]);
  interval->min = byte;
  insert(map, touches->heap, cursor, lower);
}

static bool is_crowded(const struct sl_touches *touches, const struct sl_touched *interval, uint32_t crowd)
{
  uint32_t count = 0;
  for (uint32_t list = 0; list < SL_TOUCH_LISTS; list++)
    for (uint32_t at = interval->first[list]; at && count < crowd; at = touches->list.data[at].next)
      count++;
  return count == crowd;
}

/* The first interval behind `min`, cut so that it does not begin before it, unless it is crowded. */
static struct sl_touch_cursor find_from(struct sl_touch_map *map, struct sl_touches *touches, int64_t min,
                                        uint32_t crowd)
{
  struct sl_touch_cursor cursor = sl_touch_find(map, min);
  const struct sl_touched *interval = sl_touch_get(map, &cursor);
  if (interval && interval->min < min && !is_crowded(touches, interval, crowd)) {
    cut(map, touches, &cursor, min);
    cursor.at++;
  }
  return cursor;
}

/* The interval at the cursor if it begins before `max`, cut so that it ends there at the latest unless it is crowded; else NULL. */
static struct sl_touched *get_until(struct sl_touch_map *map, struct sl_touches *touches,
                                    struct sl_touch_cursor *cursor, int64_t max, uint32_t crowd)
{
  struct sl_touched *interval = sl_touch_get(map, cursor);
  if (!interval || interval->min >= max)
    return NULL;
  if (interval->max > max && !is_crowded(touches, interval, crowd))
    cut(map, touches, cursor, max);
  return sl_touch_get(map, cursor);
}

/* ---- adding ---- */

static void add_to_list(struct sl_touches *touches, uint32_t *first, struct sl_touch touch, bool is_new)
{
  for (uint32_t at = is_new ? 0 : *first; at; at = touches->list.data[at].next) {
    struct sl_touch *other = &touches->list.data[at];
    if (other->access != touch.access || other->row_max < touch.row_min || touch.row_max < other->row_min)
      continue;
    other->row_min = touch.row_min < other->row_min ? touch.row_min : other->row_min;
    other->row_max = touch.row_max > other->row_max ? touch.row_max : other->row_max;
    return;
  }
  touch.next = *first;
  *first = new_touch(touches, touch);
}

/* The interval just before the cursor; NULL when there is none. */
static struct sl_touched *one_before(struct sl_touch_map *map, const struct sl_touch_cursor *cursor)
{
  if (cursor->at > 0)
    return &map->leaves.data[cursor->leaf]->at[cursor->at - 1];
  const struct sl_touch_leaf *leaf = cursor->leaf > 0 ? map->leaves.data[cursor->leaf - 1] : NULL;
  return leaf ? &map->leaves.data[cursor->leaf - 1]->at[leaf->count - 1] : NULL;
}

/* Whether it is crowded some intervals on, and before `max`. */
static bool is_crowded_ahead(struct sl_touch_map *map, const struct sl_touches *touches, struct sl_touch_cursor cursor,
                             int64_t max, uint32_t crowd)
{
  const struct sl_touched *interval = sl_touch_get(map, &cursor);
  for (uint32_t i = 0; interval && i < CROWD_OF_HULLS; i++) {
    sl_touch_step(&cursor);
    interval = sl_touch_get(map, &cursor);
  }
  return interval && interval->min < max && is_crowded(touches, interval, crowd);
}

static void insert_new(struct sl_touch_map *map, struct sl_touches *touches, struct sl_touch_cursor *cursor,
                       int64_t min, int64_t max, enum sl_touch_list list, struct sl_touch touch)
{
  struct sl_touched made = { .min = min, .max = max };
  touch.next = 0;
  made.first[list] = new_touch(touches, touch);
  insert(map, touches->heap, cursor, made);
}

/* Where an access reaches over crowded intervals into a gap, its neighbour there takes the gap in: else each of many such
 * accesses, one a little further than the other, would leave an interval that all later ones are added to. */
void sl_touch_add(struct sl_touch_map *map, struct sl_touches *touches, int64_t min, int64_t max,
                  enum sl_touch_list list, struct sl_touch touch, unsigned how)
{
  assert(min < max);
  uint32_t crowd = how & SL_TOUCH_HULL ? CROWD_OF_HULLS : CROWD, crowds = 0, added = 0;
  struct sl_touch_cursor cursor = find_from(map, touches, min, crowd);
  while (min < max) {
    struct sl_touched *interval = get_until(map, touches, &cursor, max, crowd);
    int64_t gap_end = interval ? interval->min : max;
    if (min >= gap_end) {
      add_to_list(touches, &interval->first[list], touch, how & SL_TOUCH_NEW);
      crowds += is_crowded(touches, interval, crowd);
      added++;
      min = interval->max;
      sl_touch_step(&cursor);
    } else if (added && crowds >= CROWD_OF_HULLS) {
      one_before(map, &cursor)->max = min = gap_end;
    } else if (!added && interval && is_crowded_ahead(map, touches, cursor, max, crowd)) {
      interval->min = min;
      map->starts.data[cursor.leaf] = map->leaves.data[cursor.leaf]->at[0].min;
    } else {
      insert_new(map, touches, &cursor, min, gap_end, list, touch);
      added++;
      min = gap_end;
      sl_touch_step(&cursor);
    }
  }
}

/* ---- removing ---- */

struct removal {
  struct sl_touches *touches;
  const struct sl_touch_sweep *sweep;
  int32_t row_min, row_max;
};

/* Takes the partitions out of one touch; answers whether nothing is left of it. */
static bool shrink(struct removal *r, const struct sl_touched *interval, uint32_t at)
{
  struct sl_touch touch = r->touches->list.data[at], taken = touch;
  const struct sl_touch_sweep *sweep = r->sweep;
  bool is_of_stream =
      sweep->stream == SL_TOUCH_ANY_STREAM || (touch.stream == sweep->stream && touch.access >= sweep->first);
  if (!is_of_stream || r->row_max <= touch.row_min || touch.row_max <= r->row_min ||
      (sweep->ends && !sweep->ends(sweep->user, touch.access)))
    return false;
  taken.row_min = r->row_min > touch.row_min ? r->row_min : touch.row_min;
  taken.row_max = r->row_max < touch.row_max ? r->row_max : touch.row_max;
  if (touch.access < sweep->told_before)
    sweep->ended(sweep->user, interval->min, interval->max, &taken);
  bool below = touch.row_min < taken.row_min, above = taken.row_max < touch.row_max;
  if (below && above) {
    struct sl_touch upper = { touch.access, touch.stream, taken.row_max, touch.row_max, touch.next };
    uint32_t made = new_touch(r->touches, upper);
    r->touches->list.data[at].next = made;
  }
  if (below)
    r->touches->list.data[at].row_max = taken.row_min;
  else if (above)
    r->touches->list.data[at].row_min = taken.row_max;
  return !below && !above;
}

static void shrink_list(struct removal *r, struct sl_touched *interval, uint32_t *first)
{
  uint32_t previous = 0;
  for (uint32_t at = *first, next; at; at = next) {
    bool is_gone = shrink(r, interval, at);
    next = r->touches->list.data[at].next;
    if (!is_gone) {
      previous = at;
      continue;
    }
    if (previous)
      r->touches->list.data[previous].next = next;
    else
      *first = next;
    free_touch(r->touches, at);
  }
}

void sl_touch_remove(struct sl_touch_map *map, struct sl_touches *touches, int64_t min, int64_t max, int32_t row_min,
                     int32_t row_max, const struct sl_touch_sweep *sweep)
{
  struct removal removal = { touches, sweep, row_min, row_max };
  uint32_t crowd = sweep->ends ? 0 : CROWD; /* what ends has just this place: no cut is needed */
  struct sl_touch_cursor cursor = find_from(map, touches, min, crowd);
  for (struct sl_touched *interval; (interval = get_until(map, touches, &cursor, max, crowd)) != NULL;) {
    bool is_inside = min <= interval->min && interval->max <= max;
    if (!is_inside && !sweep->ends) {
      cursor.at++;
      continue;
    }
    if (sweep->writers)
      shrink_list(&removal, interval, &interval->first[SL_TOUCH_WRITERS]);
    shrink_list(&removal, interval, &interval->first[SL_TOUCH_READERS]);
    if (interval->first[SL_TOUCH_WRITERS] || interval->first[SL_TOUCH_READERS])
      cursor.at++;
    else
      remove_at(map, touches->heap, &cursor);
  }
}

void sl_touch_map_free(struct sl_touch_map *map, struct sl_touches *touches)
{
  for (uint32_t i = 0; i < map->leaves.len; i++) {
    struct sl_touch_leaf *leaf = map->leaves.data[i];
    for (uint32_t n = 0; n < SL_TOUCH_LISTS * leaf->count; n++)
      for (uint32_t at = leaf->at[n / SL_TOUCH_LISTS].first[n % SL_TOUCH_LISTS], next; at; at = next) {
        next = touches->list.data[at].next;
        free_touch(touches, at);
      }
    sl_heap_free(touches->heap, leaf);
  }
  sl_vec_free(touches->heap, &map->leaves);
  sl_vec_free(touches->heap, &map->starts);
}
