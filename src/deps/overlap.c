/* overlap.c: see overlap.h. Accesses of one buffer are intersected dimension by dimension, of two buffers as hulls of bytes. */
#include "deps/overlap.h"

#include <assert.h>
#include <stdlib.h>

/* ---- all accesses ---- */

static void add_block(struct sl_accesses *accesses, sl_index block);

static void add_loop(struct sl_accesses *accesses, sl_index stmt)
{
  struct sl_footprints *f = &accesses->footprints;
  const struct sl_loop *loop = sl_stmt_loop(f->kernel, stmt);
  sl_form before = f->forms.variables.data[loop->var];
  (void)sl_footprints_enter(f, stmt);
  add_block(accesses, loop->body);
  f->forms.variables.data[loop->var] = before;
}

static void add_block(struct sl_accesses *accesses, sl_index block)
{
  const struct sl_kernel *kernel = accesses->footprints.kernel;
  for (sl_index at = kernel->blocks.data[block].first; at; at = kernel->stmts.data[at].next) {
    enum sl_stmt_kind kind = (enum sl_stmt_kind)kernel->stmts.data[at].kind;
    uint32_t before = accesses->footprints.accesses.len;
    if (kind == SL_STMT_OP) {
      sl_footprints_add(&accesses->footprints, at, 0); /* nobody asks where it stands in the text */
      accesses->first_of[at] = accesses->footprints.accesses.len > before ? before + 1 : 0;
    } else if (kind == SL_STMT_LOOP) {
      add_loop(accesses, at);
    } else if (kind == SL_STMT_IF) {
      add_block(accesses, sl_stmt_branch(kernel, at)->then_block);
      if (sl_stmt_branch(kernel, at)->else_block)
        add_block(accesses, sl_stmt_branch(kernel, at)->else_block);
    }
  }
}

void sl_accesses_init(struct sl_accesses *accesses, sl_heap *heap, const sl_program *program,
                      const struct sl_kernel *kernel, const struct sl_target *target)
{
  accesses->program = program;
  sl_footprints_init(&accesses->footprints, heap, program, kernel, target);
  accesses->first_of = sl_heap_calloc(heap, kernel->stmts.len, sizeof *accesses->first_of);
  add_block(accesses, kernel->root);
}

const struct sl_footprint *sl_accesses_get(const struct sl_accesses *accesses, sl_index stmt, uint32_t *count)
{
  uint32_t first = accesses->first_of[stmt], end = first, all = accesses->footprints.accesses.len;
  *count = 0;
  if (!first)
    return NULL;
  while (end <= all && accesses->footprints.accesses.data[end - 1].stmt == stmt)
    end++;
  *count = end - first;
  return &accesses->footprints.accesses.data[first - 1];
}

const struct sl_footprint *sl_access_of_operand(const struct sl_accesses *accesses, sl_index stmt, uint16_t operand)
{
  uint32_t count;
  const struct sl_footprint *of_stmt = sl_accesses_get(accesses, stmt, &count);
  for (uint32_t i = 0; i < count; i++)
    if (of_stmt[i].operand == operand)
      return &of_stmt[i];
  return NULL;
}

/* ---- intersections ---- */

static struct sl_interval intersect(struct sl_interval a, struct sl_interval b)
{
  return (struct sl_interval){ a.min > b.min ? a.min : b.min, a.max < b.max ? a.max : b.max };
}

/* An interval around a sum, over all values of the sum. */
static struct sl_interval spread(const struct sl_forms *forms, struct sl_interval around, sl_sum sum)
{
  return sl_interval_widen(around, sl_sum_range(forms, sum));
}

/* Elements of one dimension over all iterations; size -1 = not known. */
static struct sl_interval cover(const struct sl_forms *forms, const struct sl_access_dim *dim, int64_t size)
{
  struct sl_interval all = { 0, size < 0 ? SL_NO_MAX : size };
  if (!dim->first.is_known)
    return all;
  int64_t first = dim->first.constant;
  struct sl_interval around = { first, dim->length ? sl_add_ends(first, dim->length, SL_NO_MAX) : SL_NO_MAX };
  return intersect(all, spread(forms, around, dim->first.sum));
}

/* ---- how a sum moves ---- */

/* What a sum, or an atom, is `edge->k` iterations before, less what it is now; false when that differs from time to time. */
static bool shift_of_sum(const struct sl_forms *forms, sl_sum sum, const struct sl_edge *edge, int64_t *shift);

static bool shift_of_atom(const struct sl_forms *forms, const struct sl_atom *atom, const struct sl_edge *edge,
                          int64_t *shift)
{
  int64_t inside, other;
  *shift = 0;
  switch ((enum sl_atom_kind)atom->kind) {
  case SL_ATOM_PARAM: return true;
  case SL_ATOM_LOOP:
    *shift = atom->a == edge->block ? -(int64_t)edge->k : 0;
    return sl_block_contains(forms->kernel, atom->a, edge->block);
  case SL_ATOM_MOD: return shift_of_sum(forms, atom->a, edge, &inside) && inside % atom->b == 0;
  case SL_ATOM_DIV:
    if (!shift_of_sum(forms, atom->a, edge, &inside) || inside % atom->b != 0)
      return false;
    *shift = inside / atom->b;
    return true;
  case SL_ATOM_PRODUCT:
    return shift_of_atom(forms, &forms->atoms.data[atom->a], edge, &inside) && inside == 0 &&
           shift_of_atom(forms, &forms->atoms.data[atom->b], edge, &other) && other == 0;
  }
  return false;
}

static bool shift_of_sum(const struct sl_forms *forms, sl_sum sum, const struct sl_edge *edge, int64_t *shift)
{
  uint32_t count;
  const struct sl_term *terms = sl_sum_terms(forms, sum, &count);
  *shift = 0;
  for (uint32_t i = 0; i < count; i++) {
    int64_t of_atom, product;
    if (!shift_of_atom(forms, &forms->atoms.data[terms[i].atom], edge, &of_atom) ||
        __builtin_mul_overflow(of_atom, terms[i].factor, &product) || __builtin_add_overflow(*shift, product, shift))
      return false;
  }
  return true;
}

/* ---- accesses of one buffer ---- */

/* The elements of one dimension that both touch, counted from the sum they share; false when they do not go together. */
static bool overlap_together(const struct sl_forms *forms, const struct sl_access_dim *producer,
                             const struct sl_access_dim *consumer, const struct sl_edge *edge, struct sl_interval *both)
{
  int64_t shift, first = producer->first.constant;
  bool is_together = edge && !edge->across && !sl_edge_is_vector(edge) && producer->first.is_known &&
                     consumer->first.is_known && producer->first.sum == consumer->first.sum && producer->length &&
                     consumer->length && shift_of_sum(forms, producer->first.sum, edge, &shift) &&
                     !__builtin_add_overflow(first, shift, &first);
  if (!is_together)
    return false;
  struct sl_interval of_producer = { first, sl_add_ends(first, producer->length, SL_NO_MAX) };
  first = consumer->first.constant;
  *both = intersect(of_producer, (struct sl_interval){ first, sl_add_ends(first, consumer->length, SL_NO_MAX) });
  return both->min < both->max;
}

/* What the elements in one dimension add to the bytes before them. */
static void add_bytes(struct sl_interval *bytes, struct sl_interval elements, int64_t stride)
{
  int64_t first, last;
  bool has_first = stride >= 0 && !__builtin_mul_overflow(elements.min, stride, &first);
  bool has_last = stride >= 0 && elements.max != SL_NO_MAX && !__builtin_mul_overflow(elements.max - 1, stride, &last);
  bytes->min = has_first ? sl_add_ends(bytes->min, first, SL_NO_MIN) : 0;
  bytes->max = has_last ? sl_add_ends(bytes->max, last, SL_NO_MAX) : SL_NO_MAX;
}

/* Adds one dimension; a varying first partition is not told apart. */
static void overlap_dimension(struct sl_footprints *f, const struct sl_footprint *producer,
                              const struct sl_footprint *consumer, const struct sl_edge *edge, uint32_t number,
                              struct sl_overlap *overlap)
{
  const struct sl_memory_buffer *memory = &f->buffers.data[consumer->buffer];
  const struct sl_access_dim *p = &f->dims.data[producer->first_dim + number];
  const struct sl_access_dim *c = &f->dims.data[consumer->first_dim + number];
  bool is_partition = (int)number == memory->partition_dim;
  int64_t size = f->sizes.data[memory->first_size + number], stride = f->strides.data[memory->first_stride + number];
  struct sl_interval both;
  sl_form around = { 0, overlap->bytes_around, true };
  if (!is_partition && stride >= 0 && overlap_together(&f->forms, p, c, edge, &both))
    around = sl_form_add(&f->forms, around, (sl_form){ 0, c->first.sum, true }, stride);
  else
    both = intersect(cover(&f->forms, p, size), cover(&f->forms, c, size));
  overlap->bytes_around = around.is_known ? around.sum : 0;
  if (is_partition)
    overlap->partitions = (struct sl_interval){ sl_add_ends(both.min, memory->partition_start, SL_NO_MIN),
                                                sl_add_ends(both.max, memory->partition_start, SL_NO_MAX) };
  else if (both.min >= both.max || !around.is_known)
    overlap->bytes = (struct sl_interval){ 0, around.is_known ? 0 : SL_NO_MAX };
  else if (overlap->bytes.min < overlap->bytes.max)
    add_bytes(&overlap->bytes, both, stride);
}

static void overlap_elements(struct sl_footprints *f, const struct sl_footprint *producer,
                             const struct sl_footprint *consumer, const struct sl_edge *edge,
                             struct sl_overlap *overlap)
{
  const struct sl_memory_buffer *memory = &f->buffers.data[consumer->buffer];
  overlap->partitions = (struct sl_interval){ 0, 1 };
  overlap->bytes =
      (struct sl_interval){ memory->address, sl_add_ends(memory->address, memory->element_bytes, SL_NO_MAX) };
  for (uint32_t i = 0; i < f->kernel->buffers.data[consumer->buffer].dim_count; i++)
    overlap_dimension(f, producer, consumer, edge, i, overlap);
}

/* ---- accesses of two buffers ---- */

static struct sl_interval rows_of(const struct sl_forms *forms, const struct sl_footprint *access)
{
  struct sl_interval rows = { access->row_min, access->row_max == INT32_MAX ? SL_NO_MAX : access->row_max };
  return spread(forms, rows, access->row_sum);
}

static struct sl_interval bytes_of(const struct sl_forms *forms, const struct sl_footprint *access)
{
  struct sl_interval all = { 0, SL_NO_MAX };
  return intersect(all, spread(forms, access->bytes, access->byte_sum));
}

static bool is_by_element(const struct sl_footprint *a, const struct sl_footprint *b)
{
  return a->buffer == b->buffer && a->first_dim != SL_NO_DIMS && b->first_dim != SL_NO_DIMS;
}

struct sl_overlap sl_overlap_of(struct sl_accesses *accesses, const struct sl_footprint *producer,
                                const struct sl_footprint *consumer, const struct sl_edge *edge)
{
  struct sl_footprints *f = &accesses->footprints;
  const struct sl_memory_buffer *from = &f->buffers.data[producer->buffer], *to = &f->buffers.data[consumer->buffer];
  assert(producer->memory == consumer->memory && from->space >= 0 && "what can overlap shares a memory of a space");
  bool is_alias = producer->buffer != consumer->buffer && (from->is_aliased || to->is_aliased);
  struct sl_overlap overlap = { .memory_class =
                                    is_alias ? SL_CLASS_ALIAS : f->target->spaces.data[from->space].memory_class,
                                .is_anywhere = is_alias || (producer->flags | consumer->flags) & SL_FOOTPRINT_ANYWHERE,
                                .is_placed = from->is_placed && to->is_placed };
  if (is_by_element(producer, consumer)) {
    overlap_elements(f, producer, consumer, edge, &overlap);
  } else {
    overlap.partitions = intersect(rows_of(&f->forms, producer), rows_of(&f->forms, consumer));
    overlap.bytes = intersect(bytes_of(&f->forms, producer), bytes_of(&f->forms, consumer));
  }
  return overlap;
}

bool sl_overlap_is_empty(const struct sl_overlap *overlap)
{
  return overlap->bytes.min >= overlap->bytes.max || overlap->partitions.min >= overlap->partitions.max;
}

static bool is_apart(struct sl_interval a, struct sl_interval b)
{
  struct sl_interval both = intersect(a, b);
  return both.min >= both.max;
}

bool sl_overlap_is_disjoint(struct sl_disjoint *disjoint, const struct sl_accesses *accesses,
                            const struct sl_footprint *producer, const struct sl_footprint *consumer)
{
  const struct sl_footprints *f = &accesses->footprints;
  const struct sl_memory_buffer *memory = &f->buffers.data[consumer->buffer];
  uint32_t count = is_by_element(producer, consumer) ? f->kernel->buffers.data[consumer->buffer].dim_count : 0;
  for (uint32_t i = 0; i < count; i++) {
    int64_t size = f->sizes.data[memory->first_size + i];
    *disjoint = (struct sl_disjoint){ (int)i == memory->partition_dim, i + 1,
                                      cover(&f->forms, &f->dims.data[producer->first_dim + i], size),
                                      cover(&f->forms, &f->dims.data[consumer->first_dim + i], size) };
    if (is_apart(disjoint->of_producer, disjoint->of_consumer))
      return true;
  }
  if (count)
    return false;
  *disjoint = (struct sl_disjoint){ true, 0, rows_of(&f->forms, producer), rows_of(&f->forms, consumer) };
  if (is_apart(disjoint->of_producer, disjoint->of_consumer))
    return true;
  *disjoint = (struct sl_disjoint){ false, 0, bytes_of(&f->forms, producer), bytes_of(&f->forms, consumer) };
  return is_apart(disjoint->of_producer, disjoint->of_consumer);
}

/* ---- text ---- */

static void print_atom(sl_buf *buf, const struct sl_accesses *accesses, const struct sl_atom *atom)
{
  const struct sl_forms *forms = &accesses->footprints.forms;
  const struct sl_kernel *kernel = forms->kernel;
  bool is_sum;
  switch ((enum sl_atom_kind)atom->kind) {
  case SL_ATOM_LOOP:
    sl_buf_puts(buf, sl_text(accesses->program, sl_stmt_loop(kernel, kernel->blocks.data[atom->a].owner)->var));
    return;
  case SL_ATOM_PARAM: sl_buf_puts(buf, sl_text(accesses->program, atom->a)); return;
  case SL_ATOM_MOD:
  case SL_ATOM_DIV:
    is_sum = atom->constant || forms->sums.data[atom->a].count > 1;
    sl_buf_puts(buf, is_sum ? "((" : "(");
    sl_overlap_print_sum(buf, accesses, atom->a);
    if (atom->constant)
      sl_buf_printf(buf, " %c %lld", atom->constant < 0 ? '-' : '+', llabs((long long)atom->constant));
    sl_buf_printf(buf, "%s %c %lld)", is_sum ? ")" : "", atom->kind == SL_ATOM_MOD ? '%' : '/', (long long)atom->b);
    return;
  case SL_ATOM_PRODUCT:
    print_atom(buf, accesses, &forms->atoms.data[atom->a]);
    sl_buf_putc(buf, '*');
    print_atom(buf, accesses, &forms->atoms.data[atom->b]);
    return;
  }
}

void sl_overlap_print_sum(sl_buf *buf, const struct sl_accesses *accesses, sl_sum sum)
{
  uint32_t count;
  const struct sl_term *terms = sl_sum_terms(&accesses->footprints.forms, sum, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (i)
      sl_buf_puts(buf, " + ");
    if (terms[i].factor != 1)
      sl_buf_printf(buf, "%lld*", (long long)terms[i].factor);
    print_atom(buf, accesses, &accesses->footprints.forms.atoms.data[terms[i].atom]);
  }
}

static void print_interval(sl_buf *buf, const char *what, struct sl_interval interval)
{
  sl_buf_printf(buf, "%s%lld:", what, (long long)interval.min);
  if (interval.max == SL_NO_MAX)
    sl_buf_putc(buf, '?');
  else
    sl_buf_int(buf, interval.max);
}

static bool is_told(struct sl_interval interval)
{
  return interval.min > 0 || interval.max != SL_NO_MAX;
}

void sl_overlap_print(sl_buf *buf, const struct sl_accesses *accesses, const struct sl_overlap *overlap)
{
  bool tells_bytes = is_told(overlap->bytes) || overlap->bytes_around;
  bool has_partitions = overlap->partitions.min != 0 || overlap->partitions.max != 1;
  bool tells_partitions = has_partitions && is_told(overlap->partitions);
  sl_buf_puts(buf, overlap->memory_class);
  if (overlap->is_anywhere || (!tells_bytes && !tells_partitions))
    sl_buf_puts(buf, tells_bytes || tells_partitions ? " anywhere in" : " anywhere");
  if (tells_partitions)
    print_interval(buf, " partitions ", overlap->partitions);
  if (tells_bytes)
    print_interval(buf, tells_partitions ? ", bytes " : " bytes ", overlap->bytes);
  if (!overlap->bytes_around)
    return;
  sl_buf_puts(buf, " + ");
  sl_overlap_print_sum(buf, accesses, overlap->bytes_around);
}
