/* footprint.c: see footprint.h. */
#include "deps/footprint.h"

#include <assert.h>
#include <stdlib.h>

#include "ir/types.h"

enum { NOT_KNOWN = -1, NO_ROW = INT32_MAX };

/* ---- buffers ---- */

static int64_t known_or(struct sl_constant value, int64_t otherwise)
{
  return value.state == SL_CONST_KNOWN ? value.value : otherwise;
}

/* Row-major strides in bytes, the partition dimension left out; behind a dimension of unknown size none is known. */
static void measure(struct sl_footprints *f, sl_index index)
{
  const struct sl_buffer *buffer = &f->kernel->buffers.data[index];
  struct sl_memory_buffer *memory = &f->buffers.data[index];
  int64_t stride = memory->element_bytes;
  memory->first_stride = sl_vec_extend(f->heap, &f->strides, buffer->dim_count);
  memory->first_size = sl_vec_extend(f->heap, &f->sizes, buffer->dim_count);
  memory->partition_dim = -1;
  for (uint32_t i = buffer->dim_count; i-- > 0;) {
    const struct sl_dim *dim = &f->kernel->dims.data[buffer->first_dim + i];
    int64_t size = known_or(sl_eval_params(&f->forms.params, dim->size), NOT_KNOWN);
    f->sizes.data[memory->first_size + i] = size;
    if (dim->partition) {
      memory->partition_dim = (int)i;
      continue;
    }
    f->strides.data[memory->first_stride + i] = stride;
    if (size < 0 || stride < 0 || __builtin_mul_overflow(stride, size, &stride))
      stride = NOT_KNOWN;
  }
  memory->bytes = stride;
}

static void add_buffer(struct sl_footprints *f, const sl_program *program, sl_index index)
{
  const struct sl_buffer *buffer = &f->kernel->buffers.data[index];
  const struct sl_element_type *type = sl_element_type_find(sl_text(program, buffer->type));
  struct sl_memory_buffer *memory = &f->buffers.data[index];
  memory->element_bytes = type ? type->bytes : 1;
  memory->space = sl_target_space(f->target, sl_text(program, buffer->space));
  memory->partition_start = buffer->has_partition_start ? buffer->partition_start : 0;
  measure(f, index);
  if (buffer->has_address) {
    int64_t address = known_or(sl_eval_params(&f->forms.params, buffer->address), NOT_KNOWN);
    memory->is_placed = address >= 0;
    memory->address = address >= 0 ? address : 0;
  }
  *sl_map_put(&f->buffer_of, f->heap, buffer->name, NULL) = index;
}

/* ---- memories: what may overlap ---- */

static uint32_t find_root(uint32_t *parent, uint32_t at)
{
  while (parent[at] != at)
    at = parent[at] = parent[parent[at]];
  return at;
}

struct placed {
  int space;
  int64_t first, last; /* [first, last) */
  sl_index buffer;
};

static int by_address(const void *x, const void *y)
{
  const struct placed *a = x, *b = y;
  if (a->space != b->space)
    return a->space < b->space ? -1 : 1;
  if (a->first != b->first)
    return a->first < b->first ? -1 : 1;
  return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

/* Placed buffers of one space whose bytes overlap, whatever their partitions. */
static void join_placed(struct sl_footprints *f, uint32_t *parent)
{
  sl_vec(struct placed) placed = { 0 };
  for (sl_index i = 1; i < f->buffers.len; i++) {
    const struct sl_memory_buffer *memory = &f->buffers.data[i];
    int64_t last;
    if (!memory->is_placed)
      continue;
    if (memory->bytes < 0 || __builtin_add_overflow(memory->address, memory->bytes, &last))
      last = SL_NO_MAX;
    sl_vec_add(f->heap, &placed, ((struct placed){ memory->space, memory->address, last, i }));
  }
  if (placed.len > 1)
    qsort(placed.data, placed.len, sizeof *placed.data, by_address);
  for (uint32_t i = 0, reach = 0; i < placed.len; i++) { /* reach: the one that ends last so far */
    const struct placed *before = &placed.data[reach], *at = &placed.data[i];
    bool overlaps = i > 0 && before->space == at->space && at->first < before->last;
    if (overlaps)
      parent[find_root(parent, at->buffer)] = find_root(parent, before->buffer);
    if (i > 0 && (before->space != at->space || at->last > before->last))
      reach = i;
  }
  sl_vec_free(f->heap, &placed);
}

static void join_aliased(struct sl_footprints *f, uint32_t *parent)
{
  for (uint32_t i = 1; i < f->kernel->aliases.len; i++) {
    const struct sl_alias *alias = &f->kernel->aliases.data[i];
    const uint32_t *a = sl_map_get(&f->buffer_of, alias->a), *b = sl_map_get(&f->buffer_of, alias->b);
    assert(a && b && "the program is verified");
    f->buffers.data[*a].is_aliased = f->buffers.data[*b].is_aliased = true;
    parent[find_root(parent, *a)] = find_root(parent, *b);
  }
}

static void number_memories(struct sl_footprints *f)
{
  uint32_t *parent = sl_heap_alloc(f->heap, (f->buffers.len + 1u) * sizeof *parent);
  for (uint32_t i = 0; i < f->buffers.len; i++)
    parent[i] = i;
  join_placed(f, parent);
  join_aliased(f, parent);
  for (sl_index i = 1; i < f->buffers.len; i++)
    f->buffers.data[i].memory = find_root(parent, i);
  sl_heap_free(f->heap, parent);
}

void sl_footprints_init(struct sl_footprints *f, sl_heap *heap, const sl_program *program,
                        const struct sl_kernel *kernel, const struct sl_target *target)
{
  memset(f, 0, sizeof *f);
  f->heap = heap;
  f->kernel = kernel;
  f->target = target;
  sl_forms_init(&f->forms, heap, kernel, program->names.len);
  (void)sl_vec_extend(heap, &f->trips, kernel->blocks.len);
  (void)sl_vec_extend(heap, &f->buffers, kernel->buffers.len);
  sl_vec_reserve(heap, &f->accesses, kernel->operands.len);
  for (sl_index i = 1; i < kernel->buffers.len; i++)
    add_buffer(f, program, i);
  number_memories(f);
}

/* ---- accesses ---- */

static struct sl_access_dim whole_dim(int64_t size)
{
  return (struct sl_access_dim){ sl_form_constant(0), size < 0 ? 0 : size };
}

static struct sl_access_dim anywhere(int64_t size)
{
  return (struct sl_access_dim){ sl_form_unknown(), size < 0 ? 0 : size };
}

/* Element count of lo:hi, when it is the same in every iteration. */
static int64_t length_between(struct sl_footprints *f, sl_form lo, sl_form hi)
{
  sl_form length = sl_form_add(&f->forms, hi, lo, -1);
  return sl_form_is_constant(length) && length.constant > 0 ? length.constant : 0;
}

static struct sl_access_dim read_dim(struct sl_footprints *f, const struct sl_access_index *index, int64_t size)
{
  struct sl_access_dim dim = { sl_form_unknown(), 0 };
  sl_form second;
  switch ((enum sl_access_kind)index->kind) {
  case SL_INDEX_ALL: return whole_dim(size);
  case SL_INDEX_ANY: return anywhere(size);
  case SL_INDEX_AT: dim = (struct sl_access_dim){ sl_form_of(&f->forms, index->first), 1 }; break;
  case SL_INDEX_RANGE:
    dim.first = sl_form_of(&f->forms, index->first);
    second = sl_form_of(&f->forms, index->second);
    dim.length = length_between(f, dim.first, second);
    break;
  case SL_INDEX_LENGTH:
    dim.first = sl_form_of(&f->forms, index->first);
    second = sl_form_of(&f->forms, index->second);
    dim.length = sl_form_is_constant(second) && second.constant > 0 ? second.constant : 0;
    break;
  }
  return dim.first.is_known ? dim : anywhere(size);
}

/* The bytes as one form and a hull; dense when the box has no holes, else *hole is the largest stride that leaves some. */
static void flatten(struct sl_footprints *f, struct sl_footprint *access, const struct sl_access_dim *dims,
                    int64_t *hole)
{
  const struct sl_memory_buffer *memory = &f->buffers.data[access->buffer];
  uint32_t count = f->kernel->buffers.data[access->buffer].dim_count;
  sl_form byte = sl_form_constant(memory->address);
  int64_t span = memory->element_bytes; /* of the dimensions further in, when they are taken whole */
  bool dense = true, known = !memory->is_aliased;
  *hole = 0;
  for (uint32_t i = count; i-- > 0;) {
    if ((int)i == memory->partition_dim)
      continue;
    int64_t stride = f->strides.data[memory->first_stride + i], steps;
    known = known && dims[i].first.is_known && dims[i].length > 0 && stride >= 0 &&
            !__builtin_mul_overflow(dims[i].length - 1, stride, &steps) && !__builtin_add_overflow(span, steps, &span);
    if (!known)
      break;
    bool has_holes = dims[i].length > 1 && span - steps != stride;
    dense = dense && !has_holes;
    *hole = has_holes ? stride : *hole;
    byte = sl_form_add(&f->forms, byte, dims[i].first, stride);
    known = byte.is_known;
  }
  int64_t end = SL_NO_MAX;
  known = known && !__builtin_add_overflow(byte.constant, span, &end);
  access->byte_sum = known ? byte.sum : 0;
  access->bytes = known ? (struct sl_interval){ byte.constant, end } : (struct sl_interval){ SL_NO_MIN, SL_NO_MAX };
  access->flags |= known && dense ? SL_FOOTPRINT_DENSE : 0;
}

static void find_rows(struct sl_footprints *f, struct sl_footprint *access, const struct sl_access_dim *dims)
{
  const struct sl_memory_buffer *memory = &f->buffers.data[access->buffer];
  access->row_min = 0;
  access->row_max = 1;
  if (memory->partition_dim < 0)
    return;
  struct sl_access_dim dim = dims[memory->partition_dim];
  int64_t start = memory->partition_start;
  bool fits = dim.first.is_known && dim.length > 0 && dim.first.constant >= 0 && dim.first.constant < NO_ROW / 4 &&
              dim.length < NO_ROW / 4 && start < NO_ROW / 4;
  access->row_sum = fits ? dim.first.sum : 0;
  access->row_min = fits ? (int32_t)(start + dim.first.constant) : 0;
  access->row_max = fits ? (int32_t)(start + dim.first.constant + dim.length) : NO_ROW;
  if (!fits || dim.first.sum != 0) /* candidates are found by bytes; rows that vary count as all */
    access->flags &= (uint8_t)~SL_FOOTPRINT_DENSE;
}

/* What covers a box with holes covers the whole of its outermost rows: as a place it counts for them, so that boxes of the same
 * rows have one place. */
static struct sl_interval whole_rows(struct sl_interval bytes, int64_t origin, int64_t row)
{
  int64_t min, max, rest_min, rest_max;
  if (row <= 0 || bytes.min == SL_NO_MIN || bytes.max == SL_NO_MAX || bytes.min < origin)
    return bytes;
  rest_min = (bytes.min - origin) % row;
  rest_max = (bytes.max - origin) % row;
  min = bytes.min - rest_min;
  if (__builtin_add_overflow(bytes.max, rest_max ? row - rest_max : 0, &max) || max == SL_NO_MAX)
    return bytes;
  return (struct sl_interval){ min, max };
}

static void place(struct sl_footprint *access, bool is_aliased, int64_t origin, int64_t hole)
{
  access->varying = access->byte_sum;
  access->place = whole_rows(access->bytes, origin, hole);
  access->copies = 1;
  bool any_row = access->row_sum || is_aliased; /* nothing is known of where the other buffer is */
  access->place_row_min = any_row ? 0 : access->row_min;
  access->place_row_max = any_row ? NO_ROW : access->row_max;
  if (access->flags & SL_FOOTPRINT_DENSE)
    access->flags |= SL_FOOTPRINT_EXACT;
}

/* Fills what the operand says into an access of which statement, operand and flags are known; nothing for other names. */
static void add_access(struct sl_footprints *f, struct sl_footprint access, const struct sl_operand *operand)
{
  const uint32_t *at = operand->kind == SL_OPERAND_NAME ? sl_map_get(&f->buffer_of, (uint64_t)operand->value) : NULL;
  if (!at)
    return;
  const struct sl_memory_buffer *memory = &f->buffers.data[*at];
  uint32_t count = f->kernel->buffers.data[*at].dim_count, first = sl_vec_extend(f->heap, &f->dims, count);
  access.buffer = *at;
  access.memory = memory->memory;
  access.first_dim = first;
  bool is_constant = count <= (memory->partition_dim < 0 ? 1u : 2u);
  for (uint32_t i = 0; i < count; i++) {
    int64_t size = f->sizes.data[memory->first_size + i];
    bool is_given = i < operand->index_count;
    struct sl_access_dim dim =
        is_given ? read_dim(f, &f->kernel->indices.data[operand->first_index + i], size) : whole_dim(size);
    f->dims.data[first + i] = dim;
    is_constant = is_constant && sl_form_is_constant(dim.first);
    access.flags |= dim.first.is_known ? 0 : SL_FOOTPRINT_ANYWHERE;
  }
  int64_t hole;
  flatten(f, &access, &f->dims.data[first], &hole);
  find_rows(f, &access, &f->dims.data[first]);
  place(&access, memory->is_aliased, memory->address, hole);
  if (is_constant && access.flags & SL_FOOTPRINT_DENSE) {
    access.first_dim = SL_NO_DIMS;
    f->dims.len = first;
  }
  sl_vec_add(f->heap, &f->accesses, access);
}

void sl_footprints_add(struct sl_footprints *f, sl_index stmt, uint32_t position)
{
  const struct sl_op *op = sl_stmt_op(f->kernel, stmt);
  struct sl_footprint access = {
    .stmt = stmt, .block = f->kernel->stmts.data[stmt].block, .position = position, .stream = op->stream
  };
  bool is_load = op->code == SL_OP_REG_LOAD;
  if (op->code != SL_OP_TARGET && !is_load)
    return;
  for (uint32_t i = 0; i < (uint32_t)op->dst_count + op->src_count; i++) {
    const struct sl_operand *operand = &f->kernel->operands.data[op->first_operand + i];
    bool writes = i < op->dst_count && !is_load;
    access.operand = (uint16_t)i;
    access.flags = writes ? SL_FOOTPRINT_WRITES : SL_FOOTPRINT_READS;
    access.flags |= operand->read_write ? SL_FOOTPRINT_READS : 0;
    access.flags |= is_load ? SL_FOOTPRINT_STALLS : 0;
    add_access(f, access, operand);
  }
}

/* ---- entering and leaving a loop ---- */

static int64_t trips_of_width(int64_t width, int64_t step)
{
  return width <= 0 ? 0 : width / step + (width % step > 0);
}

static struct sl_trips count_trips(struct sl_footprints *f, const struct sl_loop *loop, sl_form lo, int64_t step)
{
  struct sl_trips trips = { 0, SL_NO_MAX, sl_form_unknown() };
  if (!loop->has_range)
    return trips;
  sl_form width = sl_form_add(&f->forms, sl_form_of(&f->forms, loop->hi), lo, -1);
  if (!width.is_known)
    return trips;
  struct sl_range range = sl_sum_range(&f->forms, width.sum);
  range = sl_range_add(range, (struct sl_range){ width.constant, width.constant });
  if (range.min != SL_NO_MIN && loop->while_cond.count == 0)
    trips.least = trips_of_width(range.min, step);
  if (range.max != SL_NO_MAX)
    trips.most = trips_of_width(range.max, step);
  if (step == 1 && loop->while_cond.count == 0)
    trips.count = width;
  return trips;
}

struct sl_trips sl_footprints_enter(struct sl_footprints *f, sl_index stmt)
{
  const struct sl_loop *loop = sl_stmt_loop(f->kernel, stmt);
  sl_form lo = sl_form_constant(0), step = sl_form_constant(1);
  if (loop->has_range && loop->lo)
    lo = sl_form_of(&f->forms, loop->lo);
  if (loop->has_range && loop->step)
    step = sl_form_of(&f->forms, loop->step);
  assert(sl_form_is_constant(step) && step.constant > 0 && "a step is a number");
  struct sl_trips trips = count_trips(f, loop, lo, step.constant);
  f->trips.data[loop->body] = trips;
  sl_form iteration = sl_form_iteration(&f->forms, loop->body, trips.most);
  f->forms.variables.data[loop->var] = sl_form_add(&f->forms, lo, iteration, step.constant);
  return trips;
}

enum { COPIES_MAX = 8 };

/* Places of a term with few values, as copies; false when the access has copies already, or the places have no ends. */
static bool add_copies(struct sl_footprint *access, struct sl_range range, int64_t factor)
{
  int64_t values, stride = factor < 0 ? -factor : factor, first, span, length;
  if (access->copies > 1 || access->place.min == SL_NO_MIN || access->place.max == SL_NO_MAX ||
      range.min == SL_NO_MIN || range.max == SL_NO_MAX || __builtin_sub_overflow(range.max, range.min, &values) ||
      values >= COPIES_MAX || __builtin_sub_overflow(access->place.max, access->place.min, &length))
    return false;
  if (__builtin_mul_overflow(factor < 0 ? range.max : range.min, factor, &first) ||
      __builtin_mul_overflow(stride, values, &span) || __builtin_add_overflow(access->place.min, first, &first) ||
      first == SL_NO_MIN || __builtin_add_overflow(first, length, &values) ||
      __builtin_add_overflow(values, span, &values) || values == SL_NO_MAX)
    return false;
  access->place = (struct sl_interval){ first, first + length };
  access->copies = (uint8_t)(range.max - range.min + 1);
  access->stride = stride;
  return true;
}

/* Widens every copy; without ends there is one. */
static void widen(struct sl_footprint *access, struct sl_range range)
{
  access->place = sl_interval_widen(access->place, range);
  int64_t last;
  bool has_ends = access->place.min != SL_NO_MIN && access->place.max != SL_NO_MAX;
  if (!has_ends || __builtin_add_overflow(access->place.max, (access->copies - 1) * access->stride, &last)) {
    if (access->copies > 1)
      access->place = (struct sl_interval){ SL_NO_MIN, SL_NO_MAX };
    access->copies = 1;
  }
}

void sl_footprint_leave(struct sl_footprints *f, struct sl_footprint *access, sl_index body)
{
  if (access->varying == 0 || !sl_sum_depends(&f->forms, access->varying, body))
    return;
  sl_form rest = { 0, 0, true };
  uint32_t count = f->forms.sums.data[access->varying].count;
  struct sl_range range = { 0, 0 };
  for (uint32_t i = 0; i < count; i++) {
    struct sl_term term = f->forms.terms.data[f->forms.sums.data[access->varying].first + i];
    struct sl_range values = f->forms.atoms.data[term.atom].range;
    if (!sl_atom_depends(&f->forms, term.atom, body))
      rest = sl_form_add(&f->forms, rest, sl_form_of_atom(&f->forms, term.atom), term.factor);
    else if (!add_copies(access, values, term.factor))
      range = sl_range_add(range, sl_range_scale(values, term.factor));
  }
  access->flags &= (uint8_t)~SL_FOOTPRINT_EXACT;
  access->varying = rest.sum;
  widen(access, range);
}
