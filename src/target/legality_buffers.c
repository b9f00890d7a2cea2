/* legality_buffers.c: the buffers of a kernel against the memory spaces of its target. O(buffers log buffers). */
#include "target/legality_parts.h"

#include <stdlib.h>

#include "ir/types.h"

static const char *buffer_name(const struct sl_legality *l, sl_index buffer)
{
  return sl_text(l->program, l->kernel->buffers.data[buffer].name);
}

static const struct sl_space_desc *space_of(const struct sl_legality *l, sl_index buffer)
{
  int space = l->buffers.data[buffer].space;
  return space < 0 ? NULL : &l->target->spaces.data[space];
}

static void check_space(struct sl_legality *l, sl_index index, struct sl_placed_buffer *placed)
{
  const char *name = sl_text(l->program, l->kernel->buffers.data[index].space);
  placed->space = sl_target_space(l->target, name);
  if (placed->space >= 0)
    return;
  sl_vec(const char *) names = { 0 };
  for (uint32_t i = 0; i < l->target->spaces.len; i++)
    sl_vec_add(l->heap, &names, l->target->spaces.data[i].name);
  const char *closest = sl_closest(name, names.data, names.len);
  sl_legality_error(l, SL_RULE_MEMORY, placed->loc, "target '%s' has no memory space '%s'%s%s%s", l->target->name, name,
                    closest ? ": did you mean '" : "", closest ? closest : "", closest ? "'?" : "");
  sl_vec_free(l->heap, &names);
}

/* False after reporting. */
static bool check_dim(struct sl_legality *l, sl_index index, uint32_t dim, struct sl_constant size, sl_loc loc)
{
  if (size.state == SL_CONST_DIVISION)
    sl_legality_error(l, SL_RULE_DIMENSIONS, loc, "dimension %u of buffer '%s' divides by zero", dim,
                      buffer_name(l, index));
  else if (size.state == SL_CONST_OVERFLOW)
    sl_legality_error(l, SL_RULE_SIZE, loc, "dimension %u of buffer '%s' does not fit 64 bits", dim,
                      buffer_name(l, index));
  else if (size.state == SL_CONST_KNOWN && size.value < 1)
    sl_legality_error(l, SL_RULE_DIMENSIONS, loc, "dimension %u of buffer '%s' is %lld: at least 1 is needed", dim,
                      buffer_name(l, index), (long long)size.value);
  else
    return true;
  return false;
}

/* Evaluates the dimensions; whole when all are legal. */
static void measure(struct sl_legality *l, sl_index index, struct sl_placed_buffer *placed)
{
  const struct sl_buffer *buffer = &l->kernel->buffers.data[index];
  const struct sl_element_type *type = sl_element_type_find(sl_text(l->program, buffer->type));
  placed->element_bytes = type ? type->bytes : 1;
  placed->partition_dim = -1;
  placed->partitions = sl_constant_of(1);
  placed->bytes = sl_constant_of(placed->element_bytes);
  placed->address = sl_constant_none(SL_CONST_UNKNOWN);
  placed->is_whole = true;
  for (uint32_t i = 0; i < buffer->dim_count; i++) {
    const struct sl_dim *dim = &l->kernel->dims.data[buffer->first_dim + i];
    struct sl_constant size = sl_eval_params(&l->params, dim->size);
    l->dims.data[buffer->first_dim + i] = size;
    placed->is_whole = check_dim(l, index, i, size, placed->loc) && placed->is_whole;
    if (dim->partition) {
      placed->partition_dim = (int)i;
      placed->partitions = size;
    } else {
      placed->bytes = sl_constant_binary(SL_EXPR_MUL, placed->bytes, size);
    }
  }
}

static void check_partition_dim(struct sl_legality *l, sl_index index, struct sl_placed_buffer *placed)
{
  const struct sl_space_desc *space = space_of(l, index);
  const struct sl_buffer *buffer = &l->kernel->buffers.data[index];
  bool has_dim = placed->partition_dim >= 0;
  if (space->partitions == 0) {
    if (has_dim || buffer->has_partition_start)
      sl_legality_error(l, SL_RULE_DIMENSIONS, placed->loc, "space '%s' has no partitions: buffer '%s' cannot have %s",
                        space->name, buffer_name(l, index), has_dim ? "a 'p' dimension" : "a start partition");
    placed->is_whole = placed->is_whole && !has_dim;
    return;
  }
  if (!has_dim) {
    placed->is_whole = false;
    sl_legality_error(l, SL_RULE_DIMENSIONS, placed->loc,
                      "buffer '%s' needs a partition dimension in space '%s': mark "
                      "it with 'p', as in 128p",
                      buffer_name(l, index), space->name);
    return;
  }
  if (placed->partitions.state != SL_CONST_KNOWN || placed->partitions.value < 1)
    return;
  int64_t start = buffer->has_partition_start ? buffer->partition_start : 0, count = placed->partitions.value;
  if (start > space->partitions || count > space->partitions - start)
    sl_legality_error(l, SL_RULE_SIZE, placed->loc, "buffer '%s' needs partitions %lld to %lld, '%s' has %u",
                      buffer_name(l, index), (long long)start, (long long)(start + count - 1), space->name,
                      space->partitions);
}

/* Bytes that kernels can use; 0 = unlimited. */
static uint64_t usable_bytes(const struct sl_space_desc *space)
{
  return space->usable ? space->usable : space->bytes;
}

static const char *per_partition(const struct sl_space_desc *space)
{
  return space->partitions ? " per partition" : "";
}

static void check_bytes(struct sl_legality *l, sl_index index, struct sl_placed_buffer *placed)
{
  const struct sl_space_desc *space = space_of(l, index);
  const struct sl_buffer *buffer = &l->kernel->buffers.data[index];
  if (placed->bytes.state == SL_CONST_OVERFLOW && placed->is_whole) {
    sl_legality_error(l, SL_RULE_SIZE, placed->loc, "the size of buffer '%s' does not fit 64 bits",
                      buffer_name(l, index));
    placed->is_whole = false;
    return;
  }
  struct sl_constant at = buffer->has_address ? sl_eval_params(&l->params, buffer->address) : sl_constant_of(0);
  if (at.state == SL_CONST_OVERFLOW || at.state == SL_CONST_DIVISION || (at.state == SL_CONST_KNOWN && at.value < 0)) {
    sl_legality_error(l, SL_RULE_SIZE, placed->loc, "the address of buffer '%s' is not a byte offset",
                      buffer_name(l, index));
    return;
  }
  if (buffer->has_address)
    placed->address = at;
  uint64_t usable = usable_bytes(space);
  if (usable == 0 || placed->bytes.state != SL_CONST_KNOWN || at.state != SL_CONST_KNOWN)
    return;
  if ((uint64_t)at.value > usable || (uint64_t)placed->bytes.value > usable - (uint64_t)at.value)
    sl_legality_error(l, SL_RULE_SIZE, placed->loc, "buffer '%s' takes %lld bytes%s from %lld on, '%s' has %llu",
                      buffer_name(l, index), (long long)placed->bytes.value, per_partition(space), (long long)at.value,
                      space->name, (unsigned long long)usable);
}

/* ---- all buffers of a space together ---- */

/* Buffers that are declared aliases share memory: of each group the largest counts. */
struct alias_groups {
  uint32_t *leader; /* by buffer */
};

static uint32_t find_leader(struct alias_groups *groups, uint32_t buffer)
{
  while (groups->leader[buffer] != buffer) {
    groups->leader[buffer] = groups->leader[groups->leader[buffer]]; /* halve the path */
    buffer = groups->leader[buffer];
  }
  return buffer;
}

static void make_groups(struct sl_legality *l, struct alias_groups *groups)
{
  uint32_t count = l->kernel->buffers.len;
  groups->leader = sl_heap_alloc(l->heap, (size_t)count * sizeof *groups->leader);
  for (uint32_t i = 0; i < count; i++)
    groups->leader[i] = i;
  for (sl_index i = 1; i < l->kernel->aliases.len; i++) {
    const uint32_t *a = sl_map_get(&l->buffer_of, l->kernel->aliases.data[i].a);
    const uint32_t *b = sl_map_get(&l->buffer_of, l->kernel->aliases.data[i].b);
    if (a && b)
      groups->leader[find_leader(groups, *a)] = find_leader(groups, *b);
  }
}

/* Bytes times partitions: buffers of few partitions may stand side by side. */
static uint64_t area(const struct sl_space_desc *space, const struct sl_placed_buffer *placed)
{
  uint64_t partitions = space->partitions ? (uint64_t)placed->partitions.value : 1, product;
  return __builtin_mul_overflow((uint64_t)placed->bytes.value, partitions, &product) ? UINT64_MAX : product;
}

static bool is_measured(const struct sl_placed_buffer *placed)
{
  return placed->space >= 0 && placed->is_whole && placed->bytes.state == SL_CONST_KNOWN &&
         placed->partitions.state == SL_CONST_KNOWN;
}

/* Reports, once per space, when what has no address cannot fit whatever addresses it gets. `largest`: by
 * leader, the area its group is counted with so far. */
static void check_sums(struct sl_legality *l)
{
  struct alias_groups groups;
  make_groups(l, &groups);
  uint64_t *largest = sl_heap_calloc(l->heap, l->kernel->buffers.len, sizeof *largest);
  uint64_t *sums = sl_heap_calloc(l->heap, l->target->spaces.len + 1u, sizeof *sums);
  bool *reported = sl_heap_calloc(l->heap, l->target->spaces.len + 1u, sizeof *reported);
  for (sl_index i = 1; i < l->buffers.len; i++) {
    const struct sl_placed_buffer *placed = &l->buffers.data[i];
    if (!is_measured(placed) || l->kernel->buffers.data[i].has_address)
      continue;
    const struct sl_space_desc *space = &l->target->spaces.data[placed->space];
    uint64_t *sum = &sums[placed->space], *counted = &largest[find_leader(&groups, i)], size = area(space, placed);
    uint64_t more = size > *counted ? size - *counted : 0, room;
    *counted += more;
    *sum = *sum > UINT64_MAX - more ? UINT64_MAX : *sum + more;
    uint64_t usable = usable_bytes(space), width = space->partitions ? space->partitions : 1;
    if (__builtin_mul_overflow(usable, width, &room) || usable == 0 || *sum <= room || reported[placed->space])
      continue;
    reported[placed->space] = true;
    if (size <= room)
      sl_legality_error(l, SL_RULE_SIZE, placed->loc,
                        "buffers without an address overflow space '%s' at '%s': %llu bytes%s "
                        "are needed, %llu are there",
                        space->name, buffer_name(l, i), (unsigned long long)(*sum / width + (*sum % width != 0)),
                        per_partition(space), (unsigned long long)usable);
  }
  sl_heap_free(l->heap, groups.leader);
  sl_heap_free(l->heap, largest);
  sl_heap_free(l->heap, sums);
  sl_heap_free(l->heap, reported);
}

static void check_attrs(struct sl_legality *l, sl_index index, sl_loc loc)
{
  const struct sl_buffer *buffer = &l->kernel->buffers.data[index];
  for (uint32_t i = 0; i < buffer->attr_count; i++) {
    const struct sl_attr *attr = &l->kernel->attrs.data[buffer->first_attr + i];
    const char *name = sl_text(l->program, attr->name);
    if (strcmp(name, "scratch") != 0 && strcmp(name, "spilled") != 0)
      sl_legality_error(l, SL_RULE_ATTRIBUTE, attr->loc ? attr->loc : loc,
                        "buffer '%s': unknown attribute '%s', buffers know 'scratch' and 'spilled'", buffer_name(l, index),
                        name);
  }
}

/* Only buffers of one space can share memory. */
static void check_alias(struct sl_legality *l, const struct sl_decl *decl)
{
  const struct sl_alias *alias = &l->kernel->aliases.data[decl->item];
  const uint32_t *a = sl_map_get(&l->buffer_of, alias->a), *b = sl_map_get(&l->buffer_of, alias->b);
  int first = a ? l->buffers.data[*a].space : -1, second = b ? l->buffers.data[*b].space : -1;
  if (first >= 0 && second >= 0 && first != second)
    sl_legality_error(l, SL_RULE_MEMORY, decl->loc, "'%s' and '%s' cannot be aliases: one is in %s, the other in %s",
                      buffer_name(l, *a), buffer_name(l, *b), l->target->spaces.data[first].name,
                      l->target->spaces.data[second].name);
}

void sl_legality_buffers(struct sl_legality *l)
{
  const struct sl_kernel *kernel = l->kernel;
  (void)sl_vec_extend(l->heap, &l->buffers, kernel->buffers.len);
  (void)sl_vec_extend(l->heap, &l->dims, kernel->dims.len);
  for (uint32_t i = 0; i < kernel->decls.len; i++) {
    if (kernel->decls.data[i].kind != SL_DECL_BUFFER)
      continue;
    sl_index index = kernel->decls.data[i].item;
    struct sl_placed_buffer *placed = &l->buffers.data[index];
    placed->loc = kernel->decls.data[i].loc;
    *sl_map_put(&l->buffer_of, l->heap, kernel->buffers.data[index].name, NULL) = index;
    check_space(l, index, placed);
    measure(l, index, placed);
    check_attrs(l, index, placed->loc);
    if (placed->space < 0)
      continue;
    check_partition_dim(l, index, placed);
    check_bytes(l, index, placed);
  }
  for (uint32_t i = 0; i < kernel->decls.len; i++)
    if (kernel->decls.data[i].kind == SL_DECL_ALIAS)
      check_alias(l, &kernel->decls.data[i]);
  check_sums(l);
}
