/* conflict.c: see conflict.h. Per question: dimensions times terms, times at most PERIOD_MAX^2 iterations where remainders are
 * tried out. */
#include "deps/conflict.h"

#include "deps/edge.h"

enum { PARTS_MAX = 8, PERIOD_MAX = 64, TRIPS_MAX = 128, DISTANCES_MAX = 4096, DIMS_MAX = 16 };

/* Beyond these nothing is computed, so that no sum overflows: such an access may be anywhere. */
static const int64_t FACTOR_MAX = (int64_t)1 << 31, ELEMENT_MAX = (int64_t)1 << 60;

/* A term whose value depends on the iteration of the carrying loop in no simple way. */
struct part {
  int64_t factor;
  uint32_t atom;
  bool of_consumer;
};

/* One dimension: consumer's first element minus producer's, in [low, high] when they overlap:
 * constant + slope * k + free + parts. */
struct dimension {
  int64_t low, high, constant, slope;
  struct sl_range free; /* what the other loops can add */
  int64_t step;         /* in multiples of this; 0: nothing */
  struct part parts[PARTS_MAX];
  uint32_t part_count;
};

struct question {
  struct sl_footprints *footprints;
  struct sl_forms *forms;
  sl_index carrying; /* body of the loop whose iterations are tried and counted, or 0 */
  sl_index outside;  /* block whose loops, with those around it, are in the same iteration for both */
  int64_t trips;
  struct sl_fixed fixed; /* body 0: none */
  sl_index shifted;      /* body of a loop outside whose iterations are `shift` apart, not the same; 0: none */
  int64_t shift;
  struct dimension dims[DIMS_MAX];
  uint32_t dim_count;
  int64_t period; /* iterations after which all parts repeat, or all there are */
  int64_t shares; /* values of what the parts share that have to be tried */
  sl_sum shared;  /* what parts hold of loops outside and parameters: the same sum in all of them */
  bool has_shared, has_parts, has_steps;
};

enum class { SHARED, CARRIED, FREE };

static enum class class_of_sum(const struct question *q, sl_sum sum);

static enum class class_of(const struct question *q, uint32_t index) {
  const struct sl_atom *atom = &q->forms->atoms.data[index]; enum class a, b; switch ((enum sl_atom_kind)atom->kind){
    case SL_ATOM_PARAM : return SHARED; case SL_ATOM_LOOP : if (atom->a == q->carrying) return CARRIED;
    return sl_block_contains(q->forms->kernel, atom->a, q->outside) ? SHARED : FREE;
    case SL_ATOM_MOD : case SL_ATOM_DIV : return class_of_sum(q, atom->a);
    case SL_ATOM_PRODUCT : a = class_of(q, atom->a);
    b = class_of(q, (uint32_t)atom->b);
    return a == SHARED && b == SHARED ? SHARED : FREE;
  }
return FREE;
}

static enum class class_of_sum(const struct question *q, sl_sum sum) {
  enum class worst = SHARED; uint32_t count; const struct sl_term *terms = sl_sum_terms(q->forms, sum, &count);
  for (uint32_t i = 0; i < count && worst != FREE; i++){ enum class this = class_of(q, terms[i].atom);
                                                         worst = this > worst ? this : worst; }
return worst;
}

/* ---- building the dimensions ---- */

static bool in_range(int64_t value, int64_t most)
{
  return -most <= value && value <= most;
}

static int64_t greatest_divisor(int64_t a, int64_t b)
{
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

static void add_free(struct question *q, struct dimension *dim, uint32_t atom, int64_t factor)
{
  if (factor == 0)
    return;
  dim->free = sl_range_add(dim->free, sl_range_scale(q->forms->atoms.data[atom].range, factor));
  dim->step = greatest_divisor(dim->step, factor);
  q->has_steps = true;
}

/* What a part's atom holds inside of things that are the same for both; false when it is not what other parts hold. */
static bool share(struct question *q, uint32_t atom)
{
  const struct sl_atom *inside = &q->forms->atoms.data[atom];
  if (inside->kind == SL_ATOM_LOOP)
    return true;
  sl_form shared = { 0, 0, true };
  sl_sum sum = inside->a;
  for (uint32_t i = 0; i < q->forms->sums.data[sum].count; i++) {
    struct sl_term term = q->forms->terms.data[q->forms->sums.data[sum].first + i];
    enum class class = class_of(q, term.atom);
    if (class == SHARED)
      shared = sl_form_add(q->forms, shared, sl_form_of_atom(q->forms, term.atom), term.factor);
    else if (q->forms->atoms.data[term.atom].kind != SL_ATOM_LOOP && !share(q, term.atom))
      return false;
  }
  if (!shared.is_known || (q->has_shared && q->shared != shared.sum))
    return false;
  q->shared = shared.sum;
  q->has_shared = true;
  return true;
}

/* How a term moves on in the iteration, or in what is shared: `period` steps on it has grown by `growth`. */
struct cycle {
  int64_t period; /* 0: not small */
  int64_t growth;
};

static struct cycle cycle_of(const struct question *q, uint32_t index, bool of_shared);

/* Two terms together. */
static struct cycle join(struct cycle a, struct cycle b, int64_t factor_of_b)
{
  if (!a.period || !b.period || !in_range(factor_of_b, FACTOR_MAX))
    return (struct cycle){ 0, 0 };
  int64_t period = a.period / greatest_divisor(a.period, b.period) * b.period;
  int64_t of_a, of_b, growth;
  if (period > PERIOD_MAX || __builtin_mul_overflow(a.growth, period / a.period, &of_a) ||
      __builtin_mul_overflow(b.growth, factor_of_b, &of_b) || __builtin_mul_overflow(of_b, period / b.period, &of_b) ||
      __builtin_add_overflow(of_a, of_b, &growth))
    return (struct cycle){ 0, 0 };
  return (struct cycle){ period, growth };
}

static struct cycle cycle_inside(const struct question *q, const struct sl_atom *atom, bool of_shared)
{
  struct cycle inside = { 1, 0 };
  bool has_shared = false;
  uint32_t count;
  const struct sl_term *terms = sl_sum_terms(q->forms, atom->a, &count);
  for (uint32_t i = 0; i < count; i++)
    if (class_of(q, terms[i].atom) == SHARED)
      has_shared = true; /* once, however many terms it is */
    else
      inside = join(inside, cycle_of(q, terms[i].atom, of_shared), terms[i].factor);
  return has_shared && of_shared ? join(inside, (struct cycle){ 1, 1 }, 1) : inside;
}

/* A remainder or quotient by b is back where it was, or further by a whole number, when the sum inside has grown by a
 * multiple of b. */
static struct cycle cycle_of(const struct question *q, uint32_t index, bool of_shared)
{
  const struct sl_atom *atom = &q->forms->atoms.data[index];
  struct cycle none = { 0, 0 };
  if (atom->kind == SL_ATOM_LOOP)
    return (struct cycle){ 1, !of_shared };
  if ((atom->kind != SL_ATOM_MOD && atom->kind != SL_ATOM_DIV) || atom->b > PERIOD_MAX ||
      !in_range(atom->constant, FACTOR_MAX))
    return none;
  struct cycle inside = cycle_inside(q, atom, of_shared);
  if (!inside.period || !in_range(inside.growth, FACTOR_MAX))
    return none;
  int64_t times = atom->b / greatest_divisor(atom->b, inside.growth);
  if (inside.period * times > PERIOD_MAX)
    return none;
  return (struct cycle){ inside.period * times, atom->kind == SL_ATOM_MOD ? 0 : inside.growth * times / atom->b };
}

/* Takes a term as one whose iterations are tried out, when they are few. */
static bool add_part(struct question *q, struct dimension *dim, uint32_t atom, int64_t factor, bool of_consumer)
{
  if (factor == 0)
    return true;
  struct cycle cycle = join((struct cycle){ q->period, 0 }, cycle_of(q, atom, false), factor);
  struct cycle shared = join((struct cycle){ q->shares, 0 }, cycle_of(q, atom, true), factor);
  if (dim->part_count == PARTS_MAX || !cycle.period || !shared.period || !share(q, atom))
    return false;
  q->period = cycle.period;
  q->shares = shared.period;
  dim->parts[dim->part_count++] = (struct part){ factor, atom, of_consumer };
  q->has_parts = true;
  return true;
}

/* A term of the loop whose iterations are a fixed number apart. */
static void add_shifted(struct question *q, struct dimension *dim, uint32_t atom, int64_t consumer, int64_t producer)
{
  int64_t by, constant;
  if (consumer == producer && q->forms->atoms.data[atom].kind == SL_ATOM_LOOP &&
      !__builtin_mul_overflow(producer, q->shift, &by) && !__builtin_add_overflow(dim->constant, by, &constant) &&
      in_range(constant, ELEMENT_MAX)) {
    dim->constant = constant;
    return;
  }
  add_free(q, dim, atom, consumer);
  add_free(q, dim, atom, -producer);
}

/* A term that the consumer has with one factor and the producer with another; 0 = not at all. */
static void add_term(struct question *q, struct dimension *dim, uint32_t atom, int64_t consumer, int64_t producer)
{
  enum class class = class_of(q, atom);
  if (class == SHARED && q->shifted && sl_atom_depends(q->forms, atom, q->shifted)) {
    add_shifted(q, dim, atom, consumer, producer);
    return;
  }
  if (class == SHARED) {
    add_free(q, dim, atom, consumer - producer);
    return;
  }
  if (class == CARRIED && q->forms->atoms.data[atom].kind == SL_ATOM_LOOP && consumer == producer) {
    dim->slope = consumer;
    return;
  }
  if (class == CARRIED && add_part(q, dim, atom, consumer, true) && add_part(q, dim, atom, -producer, false))
    return;
  add_free(q, dim, atom, consumer);
  add_free(q, dim, atom, -producer);
}

static void add_difference(struct question *q, struct dimension *dim, sl_sum consumer, sl_sum producer)
{
  for (struct sl_sum_pair pair = sl_sum_pair_of(q->forms, consumer, producer); sl_sum_pair_next(&pair);)
    add_term(q, dim, pair.atom, pair.factor_a, pair.factor_b);
}

static sl_form fix(const struct question *q, sl_form form, bool of_consumer)
{
  if (!q->fixed.body || !form.is_known)
    return form;
  return sl_form_substitute(q->forms, form, q->fixed.body, of_consumer ? q->fixed.of_consumer : q->fixed.of_producer);
}

/* Elements [first, first + length) of both; nothing is asked when one is not known. */
static void add_dimension(struct question *q, sl_form consumer, int64_t consumer_length, sl_form producer,
                          int64_t producer_length)
{
  consumer = fix(q, consumer, true);
  producer = fix(q, producer, false);
  int64_t constant;
  bool is_known = consumer.is_known && producer.is_known && consumer_length > 0 && producer_length > 0 &&
                  consumer_length < ELEMENT_MAX && producer_length < ELEMENT_MAX &&
                  !__builtin_sub_overflow(consumer.constant, producer.constant, &constant) &&
                  in_range(constant, ELEMENT_MAX);
  if (!is_known || q->dim_count == DIMS_MAX)
    return;
  struct dimension *dim = &q->dims[q->dim_count++];
  memset(dim, 0, sizeof *dim);
  dim->low = 1 - consumer_length;
  dim->high = producer_length - 1;
  dim->constant = constant;
  add_difference(q, dim, consumer.sum, producer.sum);
}

static void add_bytes(struct question *q, const struct sl_footprint *p, const struct sl_footprint *c)
{
  const struct sl_memory_buffer *buffers = q->footprints->buffers.data;
  int64_t c_span, p_span;
  if (p->buffer != c->buffer && (buffers[p->buffer].is_aliased || buffers[c->buffer].is_aliased))
    return; /* they may overlap anywhere */
  bool is_known = c->bytes.max != SL_NO_MAX && p->bytes.max != SL_NO_MAX && c->bytes.min != SL_NO_MIN &&
                  p->bytes.min != SL_NO_MIN && !__builtin_sub_overflow(c->bytes.max, c->bytes.min, &c_span) &&
                  !__builtin_sub_overflow(p->bytes.max, p->bytes.min, &p_span);
  if (is_known)
    add_dimension(q, (sl_form){ c->bytes.min, c->byte_sum, true }, c_span, (sl_form){ p->bytes.min, p->byte_sum, true },
                  p_span);
  if (c->row_max != INT32_MAX && p->row_max != INT32_MAX)
    add_dimension(q, (sl_form){ c->row_min, c->row_sum, true }, c->row_max - c->row_min,
                  (sl_form){ p->row_min, p->row_sum, true }, p->row_max - p->row_min);
}

static bool is_by_element(const struct sl_footprint *p, const struct sl_footprint *c)
{
  return p->buffer == c->buffer && p->first_dim != SL_NO_DIMS && c->first_dim != SL_NO_DIMS;
}

static bool ends_before(const struct sl_access_dim *a, const struct sl_access_dim *b)
{
  int64_t end;
  return a->length > 0 && !__builtin_add_overflow(a->first.constant, a->length, &end) && end <= b->first.constant;
}

/* Whether constants alone tell them apart, in whatever iterations: of many columns of one buffer most pairs are such. */
static bool never_overlap(const struct sl_footprints *f, const struct sl_footprint *p, const struct sl_footprint *c)
{
  uint32_t count = is_by_element(p, c) ? f->kernel->buffers.data[c->buffer].dim_count : 0;
  for (uint32_t i = 0; i < count; i++) {
    const struct sl_access_dim *a = &f->dims.data[p->first_dim + i], *b = &f->dims.data[c->first_dim + i];
    if (sl_form_is_constant(a->first) && sl_form_is_constant(b->first) && (ends_before(a, b) || ends_before(b, a)))
      return true;
  }
  return false;
}

static void ask(struct question *q, struct sl_footprints *f, const struct sl_footprint *p, const struct sl_footprint *c)
{
  q->footprints = f;
  q->forms = &f->forms;
  q->period = q->shares = 1;
  if (!is_by_element(p, c)) {
    add_bytes(q, p, c);
    return;
  }
  uint32_t count = f->kernel->buffers.data[c->buffer].dim_count;
  for (uint32_t i = 0; i < count; i++) {
    struct sl_access_dim a = f->dims.data[c->first_dim + i], b = f->dims.data[p->first_dim + i];
    add_dimension(q, a.first, a.length, b.first, b.length);
  }
}

/* ---- answering ---- */

/* False when it does not fit. */
static bool value_of(const struct question *q, uint32_t index, int64_t iteration, int64_t shared, int64_t *value)
{
  const struct sl_atom *atom = &q->forms->atoms.data[index];
  *value = iteration;
  if (atom->kind == SL_ATOM_LOOP)
    return true;
  int64_t sum = atom->constant, term;
  bool has_shared = false;
  uint32_t count;
  const struct sl_term *terms = sl_sum_terms(q->forms, atom->a, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (class_of(q, terms[i].atom) == SHARED)
      has_shared = true;
    else if (!value_of(q, terms[i].atom, iteration, shared, &term) ||
             __builtin_mul_overflow(term, terms[i].factor, &term) || __builtin_add_overflow(sum, term, &sum))
      return false;
  }
  if (__builtin_add_overflow(sum, has_shared ? shared : 0, &sum))
    return false;
  int64_t rest = sum % atom->b;
  *value = atom->kind == SL_ATOM_DIV ? sum / atom->b - (rest < 0) : rest < 0 ? rest + atom->b : rest;
  return true;
}

static bool fits_dimension(const struct question *q, const struct dimension *dim, int64_t k, int64_t iteration,
                           int64_t shared)
{
  int64_t value, product;
  if (__builtin_mul_overflow(dim->slope, k, &product) || !in_range(product, ELEMENT_MAX))
    return true;
  value = dim->constant + product;
  for (uint32_t i = 0; i < dim->part_count; i++) {
    const struct part *part = &dim->parts[i];
    int64_t of_part;
    if (!value_of(q, part->atom, part->of_consumer ? iteration : iteration - k, shared, &of_part) ||
        __builtin_mul_overflow(of_part, part->factor, &of_part) || __builtin_add_overflow(value, of_part, &value))
      return true;
  }
  if (!in_range(value, 4 * ELEMENT_MAX - 1))
    return true;
  int64_t low = dim->low - value, high = dim->high - value; /* what the free part must be */
  if (dim->free.min != SL_NO_MIN && dim->free.min > low)
    low = dim->free.min;
  if (dim->free.max != SL_NO_MAX && dim->free.max < high)
    high = dim->free.max;
  if (dim->step <= 1)
    return dim->step == 0 ? dim->low <= value && value <= dim->high : low <= high;
  int64_t first = dim->free.min != SL_NO_MIN ? dim->free.min : 0; /* values are first + multiples of the step */
  int64_t above, least;
  if (__builtin_sub_overflow(low, first, &above))
    return true;
  int64_t steps = above / dim->step + (above % dim->step > 0);
  return __builtin_mul_overflow(steps, dim->step, &least) || __builtin_add_overflow(least, first, &least) ||
         least <= high;
}

static bool fits_all(const struct question *q, int64_t k, int64_t iteration, int64_t shared)
{
  for (uint32_t i = 0; i < q->dim_count; i++)
    if (!fits_dimension(q, &q->dims[i], k, iteration, shared))
      return false;
  return true;
}

/* Whether some iteration t >= k and t - k overlap. */
static bool overlaps_at(const struct question *q, int64_t k)
{
  if (!q->has_parts)
    return fits_all(q, k, k, 0);
  int64_t last = q->period + k - 1, shares = q->has_shared && q->shared ? q->shares : 1;
  if (q->trips != SL_NO_MAX && last > q->trips - 1)
    last = q->trips - 1;
  for (int64_t shared = 0; shared < shares; shared++)
    for (int64_t iteration = k; iteration <= last; iteration++)
      if (fits_all(q, k, iteration, shared))
        return true;
  return false;
}

static int64_t drift_of(const struct question *q, const struct dimension *dim, bool of_shared)
{
  struct cycle all = { 1, 0 };
  for (uint32_t i = 0; i < dim->part_count; i++)
    all = join(all, cycle_of(q, dim->parts[i].atom, of_shared), dim->parts[i].factor);
  return all.growth;
}

/* Quotients and sums with unequal factors drift apart: a dimension repeats only when the consumer's side grows as fast as the
 * producer's. Where it does not, all iterations of a short loop are tried, else the parts are anything in their range. */
static void settle_period(struct question *q)
{
  bool tries_all = false;
  for (uint32_t i = 0; i < q->dim_count; i++) {
    struct dimension *dim = &q->dims[i];
    bool drifts_with_others = drift_of(q, dim, true) != 0;
    if (!drifts_with_others && drift_of(q, dim, false) == 0)
      continue;
    if (!drifts_with_others && q->trips <= TRIPS_MAX) {
      tries_all = true;
      continue;
    }
    for (uint32_t n = 0; n < dim->part_count; n++)
      add_free(q, dim, dim->parts[n].atom, dim->parts[n].factor);
    dim->part_count = 0;
  }
  if (tries_all && q->trips > q->period)
    q->period = q->trips;
}

/* a - b, when that and its negative fit. */
static bool subtract_end(int64_t a, int64_t b, int64_t *difference)
{
  return !__builtin_sub_overflow(a, b, difference) && *difference != INT64_MIN;
}

/* Narrows [*min, *max] to distances at which a dimension can overlap at all. */
static void narrow(const struct question *q, const struct dimension *dim, int64_t *min, int64_t *max)
{
  struct sl_range rest = dim->free;
  for (uint32_t i = 0; i < dim->part_count; i++)
    rest = sl_range_add(rest, sl_range_scale(q->forms->atoms.data[dim->parts[i].atom].range, dim->parts[i].factor));
  int64_t slope = dim->slope;
  int64_t low = 0, high = 0; /* of slope * k */
  bool has_low = rest.max != SL_NO_MAX && subtract_end(dim->low - dim->constant, rest.max, &low);
  bool has_high = rest.min != SL_NO_MIN && subtract_end(dim->high - dim->constant, rest.min, &high);
  if (slope == 0) {
    if ((has_low && low > 0) || (has_high && high < 0))
      *max = SL_NO_MIN;
    return;
  }
  if (slope < 0) { /* as if both signs were turned */
    int64_t turned_low = has_high ? -high : 0, turned_high = has_low ? -low : 0;
    bool had_low = has_low;
    has_low = has_high;
    has_high = had_low;
    low = turned_low;
    high = turned_high;
    slope = -slope;
  }
  if (has_low) {
    int64_t least = low / slope + (low % slope > 0);
    *min = least > *min ? least : *min;
  }
  if (has_high) {
    int64_t most = high / slope - (high % slope < 0);
    *max = most < *max ? most : *max;
  }
}

static uint32_t least_distance(struct question *q)
{
  int64_t min = 1, max = q->trips == SL_NO_MAX ? SL_NO_MAX : q->trips - 1;
  bool repeats = true; /* in k, with the period */
  for (uint32_t i = 0; i < q->dim_count; i++) {
    narrow(q, &q->dims[i], &min, &max);
    repeats = repeats && q->dims[i].slope == 0;
  }
  if (min > INT32_MAX)
    return min <= max ? SL_DISTANCE_MAX : 0;
  bool first_is_it = !q->has_parts && !q->has_steps;
  int64_t last = repeats && q->period < DISTANCES_MAX ? min + q->period - 1 : SL_NO_MAX;
  last = last < max ? last : max;
  for (int64_t k = min; k <= last; k++) {
    bool is_tried_out = k - min >= DISTANCES_MAX; /* then it may be this one */
    if (first_is_it || is_tried_out || overlaps_at(q, k))
      return k < SL_DISTANCE_MAX ? (uint32_t)k : SL_DISTANCE_MAX;
  }
  return 0;
}

/* ---- questions ---- */

/* A loop around both whose remainders do not cancel: its iterations are tried out. */
static sl_index loop_to_try(const struct sl_footprints *f, const struct sl_footprint *a, sl_index common)
{
  for (sl_index block = common; block; block = sl_block_parent(f->kernel, block)) {
    sl_index owner = f->kernel->blocks.data[block].owner;
    if (!owner || f->kernel->stmts.data[owner].kind != SL_STMT_LOOP)
      continue;
    if (a->first_dim == SL_NO_DIMS)
      continue;
    for (uint32_t i = 0; i < f->kernel->buffers.data[a->buffer].dim_count; i++) {
      sl_form first = f->dims.data[a->first_dim + i].first;
      for (uint32_t n = 0; first.is_known && n < f->forms.sums.data[first.sum].count; n++) {
        uint32_t atom = f->forms.terms.data[f->forms.sums.data[first.sum].first + n].atom;
        if (f->forms.atoms.data[atom].kind != SL_ATOM_LOOP && sl_atom_depends(&f->forms, atom, block))
          return block;
      }
    }
  }
  return SL_NONE;
}

bool sl_conflict_same(struct sl_footprints *f, const struct sl_footprint *producer, const struct sl_footprint *consumer,
                      sl_index common)
{
  if (never_overlap(f, producer, consumer))
    return false;
  struct question q = { .outside = common, .trips = SL_NO_MAX };
  q.carrying = loop_to_try(f, consumer, common);
  if (!q.carrying)
    q.carrying = loop_to_try(f, producer, common);
  if (q.carrying)
    q.trips = sl_footprint_trips(f, q.carrying);
  ask(&q, f, producer, consumer);
  settle_period(&q);
  return overlaps_at(&q, 0);
}

uint32_t sl_conflict_distance(struct sl_footprints *f, const struct sl_footprint *producer,
                              const struct sl_footprint *consumer, sl_index body, int64_t trips)
{
  if (never_overlap(f, producer, consumer))
    return 0;
  struct question q = { .carrying = body, .outside = sl_block_parent(f->kernel, body), .trips = trips };
  ask(&q, f, producer, consumer);
  settle_period(&q);
  return least_distance(&q);
}

bool sl_conflict_at(struct sl_footprints *f, const struct sl_footprint *producer, const struct sl_footprint *consumer,
                    sl_index body, int64_t trips, int64_t k, struct sl_fixed fixed)
{
  struct question q = { .carrying = body, .outside = sl_block_parent(f->kernel, body), .trips = trips, .fixed = fixed };
  ask(&q, f, producer, consumer);
  settle_period(&q);
  return (trips == SL_NO_MAX || k < trips) && overlaps_at(&q, k);
}

bool sl_conflict_inner(struct sl_footprints *f, const struct sl_footprint *producer,
                       const struct sl_footprint *consumer, sl_index outer, int64_t k, sl_index inner, int64_t trips,
                       int64_t *least)
{
  struct question q = {
    .carrying = inner, .outside = sl_block_parent(f->kernel, inner), .trips = trips, .shifted = outer, .shift = k
  };
  ask(&q, f, producer, consumer);
  settle_period(&q);
  int64_t min = trips == SL_NO_MAX ? SL_NO_MIN : 1 - trips, max = trips == SL_NO_MAX ? SL_NO_MAX : trips - 1;
  for (uint32_t i = 0; i < q.dim_count; i++)
    narrow(&q, &q.dims[i], &min, &max);
  *least = min;
  return !q.has_parts && min != SL_NO_MIN;
}
