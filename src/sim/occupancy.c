/* occupancy.c: see occupancy.h. */
#include "sim/occupancy.h"

#include <assert.h>
#include <stdlib.h>

#include "ir/ir.h"
#include "ir/types.h"

enum { MOST_COPIES = 1 << 16, KEPT = 1 << 14 };
#define MOST_BYTES 1e15

/* ---- buffers ---- */

/* The dimension of partitions; the number of dimensions when there is none. */
static uint32_t partition_dim(const struct sl_kernel *kernel, const struct sl_buffer *buffer)
{
  uint32_t dim = 0;
  while (dim < buffer->dim_count && !kernel->dims.data[buffer->first_dim + dim].partition)
    dim++;
  return dim;
}

static double size_of(const struct sl_occupancy *o, const struct sl_buffer *buffer, uint32_t from, uint32_t to)
{
  double size = 1;
  for (uint32_t i = from; i < to; i++)
    size *= (double)o->operations->dims[buffer->first_dim + i];
  return size;
}

/* Which streams have an instruction that names the buffer. */
static const bool *find_streams(const struct sl_occupancy *o, uint32_t b)
{
  const struct sl_kernel *kernel = o->operations->kernel;
  bool *is_touched = sl_heap_calloc(o->heap, kernel->streams.len + 1u, sizeof *is_touched);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind != SL_STMT_OP)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, at);
    for (uint32_t i = 0; i < (uint32_t)op->dst_count + op->src_count; i++)
      if (sl_operation_buffer(o->operations, &kernel->operands.data[op->first_operand + i]) == b)
        is_touched[op->stream] = true;
  }
  return is_touched;
}

/* Of more copies than can be told apart the whole buffer is one. */
static void track(struct sl_occupancy *o, uint32_t b, const struct sl_space_desc *space)
{
  const struct sl_kernel *kernel = o->operations->kernel;
  const struct sl_buffer *buffer = &kernel->buffers.data[b];
  const struct sl_element_type *element = sl_element_type_find(sl_text(o->operations->program, buffer->type));
  uint32_t choosing = partition_dim(kernel, buffer);
  if (size_of(o, buffer, 0, choosing) > MOST_COPIES)
    choosing = 0;
  double bytes = (element ? element->bytes : 1) * size_of(o, buffer, choosing, buffer->dim_count);
  struct sl_tracked tracked = { .buffer = b,
                                .choosing = choosing,
                                .first_copy = o->copy_count,
                                .copy_count = (uint32_t)size_of(o, buffer, 0, choosing),
                                .copy_bytes = (uint64_t)(bytes < MOST_BYTES ? bytes : MOST_BYTES) };
  o->copy_count += tracked.copy_count;
  sl_vec_add(o->heap, &o->tracked, tracked);
  o->tracked_of[b] = o->tracked.len;
  sl_vec_add(o->heap, &o->buffers,
             ((sluice_trace_buffer){ sl_text(o->operations->program, buffer->name), space->name, find_streams(o, b) }));
}

void sl_occupancy_init(struct sl_occupancy *o, sl_heap *heap, const struct sl_operations *operations,
                       const sluice_trace *trace)
{
  const struct sl_kernel *kernel = operations->kernel;
  *o = (struct sl_occupancy){ .heap = heap, .operations = operations, .trace = trace, .enough = KEPT };
  if (!trace || !trace->buffer)
    return;
  o->tracked_of = sl_heap_calloc(heap, kernel->buffers.len, sizeof *o->tracked_of);
  for (uint32_t b = 1; b < kernel->buffers.len; b++) {
    int space = sl_target_space(operations->target, sl_text(operations->program, kernel->buffers.data[b].space));
    if (space >= 0 && operations->target->spaces.data[space].partitions)
      track(o, b, &operations->target->spaces.data[space]);
  }
  o->copies = sl_heap_calloc(heap, o->copy_count + 1u, sizeof *o->copies);
}

/* ---- telling ---- */

static int by_time(const void *x, const void *y)
{
  const struct sl_usage_change *a = x, *b = y;
  if (a->time != b->time)
    return a->time < b->time ? -1 : 1;
  return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

/* What is certain before `limit`: of several changes of one buffer at one time the sum, nothing when that is 0. */
static void tell(struct sl_occupancy *o, uint64_t limit)
{
  struct sl_usage_change *changes = o->changes.data;
  uint32_t from = 0;
  while (from < o->changes.len && changes[from].time < limit) {
    uint32_t to = from;
    int64_t copies = 0;
    struct sl_tracked *tracked = &o->tracked.data[changes[from].buffer];
    for (; to < o->changes.len && by_time(&changes[from], &changes[to]) == 0; to++)
      copies += changes[to].copies;
    assert((int64_t)tracked->in_use + copies >= 0 && (int64_t)tracked->in_use + copies <= tracked->copy_count);
    tracked->in_use = (uint32_t)((int64_t)tracked->in_use + copies);
    if (copies)
      o->trace->buffer(o->trace->user, changes[from].buffer, changes[from].time, tracked->in_use * tracked->copy_bytes);
    from = to;
  }
  o->changes.len -= from;
  memmove(changes, changes + from, o->changes.len * sizeof *changes);
  o->told = limit;
}

/* The time before which nothing can change any more. */
static uint64_t certain_time(const struct sl_occupancy *o, uint64_t now)
{
  uint64_t time = now;
  for (uint32_t c = 0; c < o->copy_count; c++)
    if (o->copies[c].is_in_use && !o->copies[c].in_flight && o->copies[c].until < time)
      time = o->copies[c].until;
  return time;
}

/* Copies that have not been touched for long are taken to be in use up to a time. */
static void hold(struct sl_occupancy *o, uint64_t until)
{
  for (uint32_t c = 0; c < o->copy_count; c++)
    if (o->copies[c].is_in_use && o->copies[c].until < until)
      o->copies[c].until = until;
}

/* Tells at least a quarter of what is kept, if that much is in the past. */
static void tell_some(struct sl_occupancy *o, uint64_t now)
{
  qsort(o->changes.data, o->changes.len, sizeof *o->changes.data, by_time);
  uint64_t limit = certain_time(o, now), least = o->changes.data[o->changes.len / 4].time;
  least = least < now ? least : now;
  if (limit < least) {
    limit = least;
    hold(o, limit);
  }
  tell(o, limit);
  o->enough = 2 * o->changes.len > KEPT ? 2 * o->changes.len : KEPT;
}

static void change(struct sl_occupancy *o, uint32_t buffer, uint64_t time, int32_t copies)
{
  assert(time >= o->told);
  sl_vec_add(o->heap, &o->changes, ((struct sl_usage_change){ time, buffer, copies }));
}

/* ---- instructions ---- */

/* Copies that an index of a leading dimension chooses; false: it has no value, so any. */
static bool find_part(const struct sl_occupancy *o, const struct sl_access_index *index, int64_t size,
                      sl_eval_lookup lookup, void *user, int64_t *first, int64_t *count)
{
  const struct sl_kernel *kernel = o->operations->kernel;
  *first = 0;
  *count = size;
  if (index->kind == SL_INDEX_ALL || index->kind == SL_INDEX_ANY)
    return true;
  struct sl_constant from = sl_eval(kernel, index->first, lookup, user), to = sl_constant_of(1);
  if (index->kind != SL_INDEX_AT)
    to = sl_eval(kernel, index->second, lookup, user);
  if (from.state != SL_CONST_KNOWN || to.state != SL_CONST_KNOWN || from.value < 0 || from.value >= size)
    return false;
  int64_t length = index->kind == SL_INDEX_RANGE ? to.value - from.value : to.value;
  *first = from.value;
  *count = length < size - from.value ? length : size - from.value;
  return *count > 0;
}

/* Behind the first index that is no single one, all that follows is taken. */
static void find_copies(const struct sl_occupancy *o, const struct sl_operand *operand,
                        const struct sl_tracked *tracked, sl_eval_lookup lookup, void *user, struct sl_occupancy_touch *touch)
{
  const struct sl_kernel *kernel = o->operations->kernel;
  const struct sl_buffer *buffer = &kernel->buffers.data[tracked->buffer];
  touch->first = 0;
  touch->count = tracked->copy_count;
  for (uint32_t i = 0; i < tracked->choosing && i < operand->index_count; i++) {
    const struct sl_access_index *index = &kernel->indices.data[operand->first_index + i];
    int64_t size = o->operations->dims[buffer->first_dim + i], first, count;
    if (!find_part(o, index, size, lookup, user, &first, &count))
      return;
    uint32_t each = touch->count / (uint32_t)size;
    touch->first += (uint32_t)first * each;
    touch->count = (uint32_t)count * each;
    if (index->kind != SL_INDEX_AT)
      return;
  }
}

static void touch_copy(struct sl_occupancy *o, uint32_t buffer, struct sl_copy *copy, uint64_t time, bool reads,
                       bool writes)
{
  bool is_new = writes && !reads;
  if (!copy->is_in_use) {
    change(o, buffer, time, 1);
  } else if (is_new && copy->was_read && !copy->in_flight && copy->until < time) {
    change(o, buffer, copy->until, -1);
    change(o, buffer, time, 1);
  }
  copy->is_in_use = true;
  copy->was_read = reads || (copy->was_read && !is_new);
  copy->in_flight++;
}

static struct sl_occupancy_touch *touch_operand(struct sl_occupancy *o, const struct sl_operand *operand, bool writes,
                                      uint64_t time, sl_eval_lookup lookup, void *user)
{
  uint32_t buffer = o->tracked_of[sl_operation_buffer(o->operations, operand)];
  if (!buffer)
    return NULL;
  const struct sl_tracked *tracked = &o->tracked.data[buffer - 1];
  struct sl_occupancy_touch *touch = sl_heap_alloc(o->heap, sizeof *touch);
  touch->buffer = buffer - 1;
  find_copies(o, operand, tracked, lookup, user, touch);
  for (uint32_t c = 0; c < touch->count; c++)
    touch_copy(o, touch->buffer, &o->copies[tracked->first_copy + touch->first + c], time,
               !writes || operand->read_write, writes);
  return touch;
}

/* Sources first: what an instruction reads and writes it does not write anew. */
struct sl_occupancy_touch *sl_occupancy_begin(struct sl_occupancy *o, sl_index stmt, uint64_t time, uint64_t now,
                                    sl_eval_lookup lookup, void *user)
{
  const struct sl_op *op = sl_stmt_op(o->operations->kernel, stmt);
  struct sl_occupancy_touch *list = NULL;
  uint32_t count = o->tracked.len ? (uint32_t)op->dst_count + op->src_count : 0;
  const struct sl_operand *operands = count ? &o->operations->kernel->operands.data[op->first_operand] : NULL;
  for (uint32_t n = 0; n < count; n++) {
    uint32_t i = (n + op->dst_count) % count;
    struct sl_occupancy_touch *touch = touch_operand(o, &operands[i], i < op->dst_count, time, lookup, user);
    if (!touch)
      continue;
    touch->next = list;
    list = touch;
  }
  if (o->changes.len > o->enough)
    tell_some(o, now);
  return list;
}

void sl_occupancy_end(struct sl_occupancy *o, struct sl_occupancy_touch *touches, uint64_t time)
{
  while (touches) {
    struct sl_occupancy_touch *touch = touches;
    struct sl_copy *copies = &o->copies[o->tracked.data[touch->buffer].first_copy + touch->first];
    for (uint32_t c = 0; c < touch->count; c++) {
      assert(copies[c].in_flight > 0);
      copies[c].in_flight--;
      if (copies[c].until < time)
        copies[c].until = time;
    }
    touches = touch->next;
    sl_heap_free(o->heap, touch);
  }
}

void sl_occupancy_finish(struct sl_occupancy *o)
{
  for (uint32_t t = 0; t < o->tracked.len; t++)
    for (uint32_t c = 0; c < o->tracked.data[t].copy_count; c++) {
      const struct sl_copy *copy = &o->copies[o->tracked.data[t].first_copy + c];
      if (copy->is_in_use)
        change(o, t, copy->until, -1);
    }
  if (!o->changes.len)
    return;
  qsort(o->changes.data, o->changes.len, sizeof *o->changes.data, by_time);
  tell(o, UINT64_MAX);
}
