/* legality_access.c: what one operation touches: indices within dimensions, memory that the operation and its
 * engine reach, partition starts, banks, and shapes that fit each other. O(dimensions of the operands).
 *
 * Shapes fit when they are equal up to broadcasting, aligned at the last dimension: a dimension of 1, or one
 * that is missing, stands for any. Partition dimensions are compared with each other. Data that is only cut
 * up differently fits too: what lies behind one another in a partition (elementwise), or in all (same count),
 * has the same number of elements.
 */
#include "target/legality_parts.h"

static const char *buffer_text(const struct sl_legality *l, const struct sl_access *access)
{
  return sl_text(l->program, l->kernel->buffers.data[access->buffer].name);
}

static bool known(struct sl_constant value)
{
  return value.state == SL_CONST_KNOWN;
}

/* ---- reading an access ---- */

static struct sl_extent read_index(struct sl_legality *l, const struct sl_access_index *index, struct sl_constant size)
{
  struct sl_constant unknown = sl_constant_none(SL_CONST_UNKNOWN);
  struct sl_extent extent = { .first = sl_constant_of(0), .length = size };
  struct sl_constant second;
  switch ((enum sl_access_kind)index->kind) {
  case SL_INDEX_ALL: break;
  case SL_INDEX_ANY: extent.first = extent.length = unknown; break;
  case SL_INDEX_AT:
    extent.first = sl_eval_params(&l->params, index->first);
    extent.length = sl_constant_of(1);
    extent.dropped = true;
    break;
  case SL_INDEX_RANGE:
    extent.first = sl_eval_params(&l->params, index->first);
    second = sl_eval_params(&l->params, index->second);
    extent.length = sl_constant_binary(SL_EXPR_SUB, second, extent.first);
    break;
  case SL_INDEX_LENGTH:
    extent.first = sl_eval_params(&l->params, index->first);
    extent.length = sl_eval_params(&l->params, index->second);
    break;
  }
  return extent;
}

/* False after reporting. Only what is known is judged. */
static bool check_extent(struct sl_legality *l, const struct sl_access *access, uint32_t dim,
                         const struct sl_extent *extent, struct sl_constant size)
{
  const char *name = buffer_text(l, access);
  struct sl_constant end = sl_constant_binary(SL_EXPR_ADD, extent->first, extent->length);
  bool failed =
      extent->first.state > SL_CONST_UNKNOWN || extent->length.state > SL_CONST_UNKNOWN || end.state > SL_CONST_UNKNOWN;
  if (failed)
    sl_legality_error(l, SL_RULE_DIMENSIONS, access->loc, "the index of dimension %u of '%s' cannot be computed: %s",
                      dim, name,
                      extent->first.state == SL_CONST_DIVISION || extent->length.state == SL_CONST_DIVISION
                          ? "it divides by zero"
                          : "it does not fit 64 bits");
  else if (known(extent->length) && extent->length.value < 1)
    sl_legality_error(l, SL_RULE_DIMENSIONS, access->loc, "the range of dimension %u of '%s' is empty: %lld elements",
                      dim, name, (long long)extent->length.value);
  else if (known(extent->first) && extent->first.value < 0)
    sl_legality_error(l, SL_RULE_DIMENSIONS, access->loc, "index %lld of dimension %u of '%s' is negative",
                      (long long)extent->first.value, dim, name);
  else if (known(size) && known(end) && end.value > size.value)
    sl_legality_error(l, SL_RULE_DIMENSIONS, access->loc,
                      "index %lld of dimension %u of '%s' is out of range: it has %lld "
                      "elements",
                      (long long)(end.value - 1), dim, name, (long long)size.value);
  else if (known(size) && known(extent->length) && extent->length.value > size.value)
    sl_legality_error(l, SL_RULE_DIMENSIONS, access->loc,
                      "a range of %lld elements in dimension %u of '%s', which has "
                      "%lld",
                      (long long)extent->length.value, dim, name, (long long)size.value);
  else
    return true;
  return false;
}

/* Appends the access of an operand; nothing when it names no buffer. */
static void add_access(struct sl_legality *l, const struct sl_operand *operand)
{
  const uint32_t *at = operand->kind == SL_OPERAND_NAME ? sl_map_get(&l->buffer_of, (uint64_t)operand->value) : NULL;
  if (!at)
    return;
  const struct sl_buffer *buffer = &l->kernel->buffers.data[*at];
  struct sl_access access = { .loc = operand->loc,
                              .buffer = *at,
                              .first_extent = l->extents.len,
                              .extent_count = buffer->dim_count,
                              .is_judged = l->buffers.data[*at].is_whole };
  if (operand->index_count > buffer->dim_count) {
    sl_legality_error(l, SL_RULE_DIMENSIONS, operand->loc, "%u indices for '%s', which has %u dimension%s",
                      operand->index_count, buffer_text(l, &access), buffer->dim_count,
                      buffer->dim_count == 1 ? "" : "s");
    access.is_judged = false;
  }
  for (uint32_t i = 0; i < buffer->dim_count; i++) {
    static const struct sl_access_index all = { .kind = SL_INDEX_ALL };
    const struct sl_access_index *index =
        i < operand->index_count ? &l->kernel->indices.data[operand->first_index + i] : &all;
    struct sl_constant size = l->dims.data[buffer->first_dim + i];
    struct sl_extent extent = read_index(l, index, size);
    access.anywhere = access.anywhere || index->kind == SL_INDEX_ANY;
    access.is_judged = access.is_judged && check_extent(l, &access, i, &extent, size);
    sl_vec_add(l->heap, &l->extents, extent);
  }
  sl_vec_add(l->heap, &l->accesses, access);
}

static const struct sl_extent *extents_of(const struct sl_legality *l, const struct sl_access *access)
{
  return l->extents.data + access->first_extent;
}

/* ---- memory ---- */

static void report_space(struct sl_legality *l, const struct sl_access *access, const char *who, bool writes,
                         uint64_t allowed)
{
  sl_buf list;
  sl_buf_init(&list, l->heap);
  for (uint32_t i = 0; i < l->target->spaces.len && i < 64; i++)
    if (allowed >> i & 1u)
      sl_buf_printf(&list, "%s%s", list.len ? ", " : "", l->target->spaces.data[i].name);
  const struct sl_space_desc *space = &l->target->spaces.data[l->buffers.data[access->buffer].space];
  sl_legality_error(l, SL_RULE_MEMORY, access->loc, "'%s' cannot %s '%s', which is in %s (only: %s)", who,
                    writes ? "write" : "read", buffer_text(l, access), space->name,
                    list.len ? sl_buf_text(&list) : "none");
  sl_heap_free(l->heap, list.data);
}

/* By the operation, then by each engine that executes it; a queue's reach is that of its operations alone. */
static void check_reach(struct sl_legality *l, const struct sl_op *op, const struct sl_opcode_desc *opcode,
                        const struct sl_access *access, bool writes)
{
  int space = l->buffers.data[access->buffer].space;
  if (space < 0)
    return;
  uint64_t reach = writes ? opcode->dst_spaces : opcode->src_spaces;
  if (!(writes ? opcode->dst_all : opcode->src_all) && !(reach >> space & 1u)) {
    report_space(l, access, opcode->name, writes, reach);
    return;
  }
  for (uint32_t k = 0; k < sl_op_copies(l, op); k++) {
    uint32_t stream = sl_op_copy_stream(l, op, k);
    if (stream == SL_NO_STREAM || l->kernel->streams.data[stream].is_queue)
      continue;
    const struct sl_engine_desc *engine = &l->target->engines.data[l->kernel->streams.data[stream].engine];
    uint64_t engine_reach = writes ? engine->writes : engine->reads;
    if ((writes ? engine->writes_all : engine->reads_all) || (engine_reach >> space & 1u))
      continue;
    report_space(l, access, engine->name, writes, engine_reach);
    return;
  }
}

/* More than 64 partitions start at 0, more than 32 at 0 or 64, fewer at a multiple of 32. */
static bool is_partition_start(int64_t first, int64_t count)
{
  if (count > 64)
    return first == 0;
  return first % (count > 32 ? 64 : 32) == 0;
}

/* Engines read and write from certain partitions on; DMA from any. */
static void check_partition_start(struct sl_legality *l, const struct sl_op *op, const struct sl_access *access)
{
  const struct sl_placed_buffer *placed = &l->buffers.data[access->buffer];
  if (!access->is_judged || placed->partition_dim < 0 || placed->space < 0 ||
      !l->target->spaces.data[placed->space].partition_start_rule)
    return;
  if (op->stream_count == 1 && l->kernel->streams.data[op->stream].is_queue)
    return;
  const struct sl_buffer *buffer = &l->kernel->buffers.data[access->buffer];
  const struct sl_extent *extent = &extents_of(l, access)[placed->partition_dim];
  struct sl_constant start = sl_constant_of(buffer->has_partition_start ? buffer->partition_start : 0);
  start = sl_constant_binary(SL_EXPR_ADD, start, extent->first);
  if (known(start) && known(extent->length) && !is_partition_start(start.value, extent->length.value))
    sl_legality_error(l, SL_RULE_SIZE, access->loc,
                      "an engine cannot access %lld partition%s of '%s' from partition %lld "
                      "on: %s",
                      (long long)extent->length.value, extent->length.value == 1 ? "" : "s", buffer_text(l, access),
                      (long long)start.value,
                      extent->length.value > 64   ? "more than 64 start at 0"
                      : extent->length.value > 32 ? "33 to 64 start at 0 or 64"
                                                  : "up to 32 start at 0, 32, 64 or 96");
}

/* The bytes of an access within a partition: from `*start`, which is UNKNOWN when it depends on the run,
 * `*span` in all. An unknown index whose steps are whole banks does not change the place within a bank, and
 * counts as 0. */
static void byte_range(const struct sl_legality *l, const struct sl_access *access, int64_t bank,
                       struct sl_constant *start, struct sl_constant *span)
{
  const struct sl_placed_buffer *placed = &l->buffers.data[access->buffer];
  const struct sl_buffer *buffer = &l->kernel->buffers.data[access->buffer];
  struct sl_constant stride = sl_constant_of(placed->element_bytes), one = sl_constant_of(1);
  *start = sl_constant_of(0);
  *span = stride;
  for (uint32_t i = access->extent_count; i > 0; i--) {
    if ((int)i - 1 == placed->partition_dim)
      continue;
    struct sl_extent extent = extents_of(l, access)[i - 1];
    bool whole_banks = known(stride) && stride.value % bank == 0;
    if (!known(extent.first) && whole_banks)
      extent.first = sl_constant_of(0);
    *start = sl_constant_binary(SL_EXPR_ADD, *start, sl_constant_binary(SL_EXPR_MUL, extent.first, stride));
    struct sl_constant steps = sl_constant_binary(SL_EXPR_SUB, extent.length, one);
    *span = sl_constant_binary(SL_EXPR_ADD, *span, sl_constant_binary(SL_EXPR_MUL, steps, stride));
    stride = sl_constant_binary(SL_EXPR_MUL, stride, l->dims.data[buffer->first_dim + i - 1]);
  }
  if (buffer->has_address) /* else the allocator starts it at a bank */
    *start = sl_constant_binary(SL_EXPR_ADD, *start, placed->address);
}

static void check_bank(struct sl_legality *l, const struct sl_opcode_desc *opcode, const struct sl_access *access)
{
  int space = l->buffers.data[access->buffer].space;
  int64_t bank = space < 0 ? 0 : (int64_t)l->target->spaces.data[space].bank_bytes;
  if (bank <= 0 || !access->is_judged)
    return;
  struct sl_constant start, span;
  byte_range(l, access, bank, &start, &span);
  if (!known(span))
    return;
  bool crosses = span.value > bank || (known(start) && start.value % bank + span.value > bank);
  if (crosses)
    sl_legality_error(l, SL_RULE_SIZE, access->loc,
                      "the destination of '%s' must lie in one bank of %lld bytes: '%s' takes "
                      "%lld bytes per partition%s",
                      opcode->name, (long long)bank, buffer_text(l, access), (long long)span.value,
                      span.value > bank ? "" : " across two banks");
}

/* ---- shapes ---- */

/* Steps from the last dimension to the first over those that count for the shape. The partition dimension is
 * left out when `free_only`. Returns false at the end. */
static bool next_dim(const struct sl_legality *l, const struct sl_access *access, bool free_only, uint32_t *at,
                     struct sl_constant *length)
{
  int partition_dim = l->buffers.data[access->buffer].partition_dim;
  while (*at > 0) {
    (*at)--;
    const struct sl_extent *extent = &extents_of(l, access)[*at];
    bool is_partition = (int)*at == partition_dim;
    if (extent->dropped || (free_only && is_partition))
      continue;
    *length = extent->length;
    return true;
  }
  return false;
}

/* Whether two lengths fit up to broadcasting. */
static bool lengths_fit(struct sl_constant a, struct sl_constant b)
{
  return !known(a) || !known(b) || a.value == b.value || a.value == 1 || b.value == 1;
}

static bool dims_fit(const struct sl_legality *l, const struct sl_access *a, const struct sl_access *b, bool free_only)
{
  uint32_t at_a = a->extent_count, at_b = b->extent_count;
  struct sl_constant x, y;
  while (next_dim(l, a, free_only, &at_a, &x) && next_dim(l, b, free_only, &at_b, &y))
    if (!lengths_fit(x, y))
      return false;
  return true;
}

static struct sl_constant count_elements(const struct sl_legality *l, const struct sl_access *access, bool free_only)
{
  struct sl_constant count = sl_constant_of(1), length;
  uint32_t at = access->extent_count;
  while (next_dim(l, access, free_only, &at, &length))
    count = sl_constant_binary(SL_EXPR_MUL, count, length);
  return count;
}

static struct sl_constant partitions_of(const struct sl_legality *l, const struct sl_access *access)
{
  return extents_of(l, access)[l->buffers.data[access->buffer].partition_dim].length;
}

static bool same_or_unknown(struct sl_constant a, struct sl_constant b)
{
  return !known(a) || !known(b) || a.value == b.value;
}

static bool shapes_fit(const struct sl_legality *l, const struct sl_access *a, const struct sl_access *b, uint8_t rule)
{
  bool partitioned = l->buffers.data[a->buffer].partition_dim >= 0 && l->buffers.data[b->buffer].partition_dim >= 0;
  if (!partitioned)
    return dims_fit(l, a, b, false) || same_or_unknown(count_elements(l, a, false), count_elements(l, b, false));
  struct sl_constant p = partitions_of(l, a), q = partitions_of(l, b);
  if (lengths_fit(p, q) && dims_fit(l, a, b, true))
    return true;
  if (same_or_unknown(p, q) && same_or_unknown(count_elements(l, a, true), count_elements(l, b, true)))
    return true;
  return rule == SL_SHAPE_SAME_COUNT && same_or_unknown(count_elements(l, a, false), count_elements(l, b, false));
}

/* "[2, 128p, 512]", with ? for what is not known. */
static void print_shape(sl_buf *buf, const struct sl_legality *l, const struct sl_access *access)
{
  uint32_t shown = 0;
  for (uint32_t i = 0; i < access->extent_count; i++) {
    const struct sl_extent *extent = &extents_of(l, access)[i];
    if (extent->dropped)
      continue;
    sl_buf_puts(buf, shown++ ? ", " : "[");
    if (known(extent->length))
      sl_buf_int(buf, extent->length.value);
    else
      sl_buf_putc(buf, '?');
    if ((int)i == l->buffers.data[access->buffer].partition_dim)
      sl_buf_putc(buf, 'p');
  }
  sl_buf_puts(buf, shown ? "]" : "[]");
}

static void report_shapes(struct sl_legality *l, const struct sl_opcode_desc *opcode, const struct sl_access *a,
                          const struct sl_access *b)
{
  sl_buf x, y;
  sl_buf_init(&x, l->heap);
  sl_buf_init(&y, l->heap);
  print_shape(&x, l, a);
  print_shape(&y, l, b);
  sl_legality_error(l, SL_RULE_SHAPE, b->loc, "the operands of '%s' do not fit: '%s' is %s, '%s' is %s", opcode->name,
                    buffer_text(l, a), sl_buf_text(&x), buffer_text(l, b), sl_buf_text(&y));
  sl_heap_free(l->heap, x.data);
  sl_heap_free(l->heap, y.data);
}

/* Every operand against the largest: what is smaller is broadcast, or reduced. */
static void check_shapes(struct sl_legality *l, const struct sl_opcode_desc *opcode)
{
  const struct sl_access *largest = NULL;
  int64_t size = 0;
  for (uint32_t i = 0; i < l->accesses.len; i++) {
    const struct sl_access *access = &l->accesses.data[i];
    struct sl_constant count = count_elements(l, access, false);
    if (!access->is_judged || access->anywhere || !known(count) || count.value <= size)
      continue;
    size = count.value;
    largest = access;
  }
  for (uint32_t i = 0; largest && i < l->accesses.len; i++) {
    const struct sl_access *access = &l->accesses.data[i];
    if (access == largest || !access->is_judged || access->anywhere || shapes_fit(l, largest, access, opcode->shape))
      continue;
    report_shapes(l, opcode, largest, access);
    return;
  }
}

/* ---- entry ---- */

static void read_accesses(struct sl_legality *l, const struct sl_op *op, uint32_t from, uint32_t to)
{
  for (uint32_t i = from; i < to; i++)
    add_access(l, &l->kernel->operands.data[op->first_operand + i]);
}

void sl_legality_accesses(struct sl_legality *l, const struct sl_op *op, const struct sl_opcode_desc *opcode)
{
  l->accesses.len = l->extents.len = 0;
  read_accesses(l, op, 0, op->dst_count);
  uint32_t written = l->accesses.len;
  read_accesses(l, op, op->dst_count, (uint32_t)op->dst_count + op->src_count);
  for (uint32_t i = 0; i < l->accesses.len; i++) {
    check_reach(l, op, opcode, &l->accesses.data[i], i < written);
    check_partition_start(l, op, &l->accesses.data[i]);
    if (opcode->dst_one_bank && i < written)
      check_bank(l, opcode, &l->accesses.data[i]);
  }
  if (opcode->shape != SL_SHAPE_ANY)
    check_shapes(l, opcode);
}

void sl_legality_load(struct sl_legality *l, const struct sl_op *op)
{
  l->accesses.len = l->extents.len = 0;
  read_accesses(l, op, op->dst_count, (uint32_t)op->dst_count + op->src_count);
}
