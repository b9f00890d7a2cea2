/* infer.c: see infer.h.
 *
 * One walk over the tree in text order keeps, for every byte, the accesses that a later one may have to wait for: the last
 * writers and the readers since (touch_map.h). Each new access meets those: dependences of the same iteration. At the end of a
 * loop every access in it meets once more what its body has left behind: dependences carried by the loop. Then the loop is
 * left: accesses in it become what they cover in all iterations, for the loops around.
 *
 * An access ends others, which then need not be met any more: a write those that it covers, a read those of its own stream
 * that read the same (a stream retires in order). What has ended is ordered before the one that ended it, and whoever would meet
 * it meets that one, provided that the one runs whenever the other did: in an arm, or in a loop that may make no trip, what
 * stands outside ends only until the arm or loop ends (scopes, undo).
 *
 * Places are kept per sum of varying terms (groups): accesses of one group have fixed places to each other, whatever the
 * iteration; those of different groups are met within the bounds of the sums' difference and then compared exactly
 * (conflict.h).
 *
 * Straight-line code: O((accesses + edges) log accesses). Loops: once more per loop around an access. The number of groups
 * of one memory open at a time, and of accesses that meet without touching, multiply.
 */
#include "deps/infer.h"

#include <assert.h>

#include "deps/conflict.h"
#include "deps/ordered.h"
#include "deps/ring.h"
#include "deps/touch_map.h"

struct group { /* accesses of one memory with equal varying sums */
  uint32_t memory;
  sl_sum varying;
  uint32_t next; /* of the memory */
  bool is_open;
  struct sl_touch_map map;
};

/* A piece of an access that ended in a scope in which the one that ended it may not run. */
struct ended {
  uint32_t group;
  int64_t min, max;
  struct sl_touch touch;
};

/* Code that may not run: an arm, a loop. */
struct scope {
  uint32_t first_access; /* what stands before it is outside */
  uint32_t first_ended;
};

struct hidden { /* accesses [first, end) of the other arm */
  uint32_t first, end;
};

/* Of a stream: the edge from its latest instruction, in the block at hand, to a consumer. */
struct latest {
  sl_index consumer; /* 0: none */
  uint32_t edge, access;
};

struct inference {
  sl_heap *heap; /* scratch */
  sl_heap *edge_heap;
  const struct sl_kernel *kernel;
  sl_edges *edges;
  struct sl_footprints f;
  struct sl_touches touches;
  sl_vec(struct group) groups; /* (from 1) */
  sl_map group_of;             /* (memory, varying) -> group */
  uint32_t *groups_of;         /* by memory: list of the open ones */
  struct scope scope;
  sl_vec(struct ended) ended;
  sl_vec(struct hidden) hidden;
  uint32_t position; /* of the statement at hand: number in the text, from 1 */
  bool *is_weak;     /* by name: `nodep` lines name it; what bears it proves nothing */
  bool has_weak;
  uint8_t *index_source; /* by name of an opcode: the source that says where the others go, from 1; 0 = none */
  const sl_program *program;
  uint32_t query;        /* number of the last one: accesses remember which met them */
  bool keeps_all;        /* every dependence is wanted: all, or some are taken away, or buffers are `spilled` */
  bool keeps_any_number; /* because of the latter two: however many of one consumer */
  struct latest *latest; /* by stream */
  uint32_t first_alike;  /* accesses from here on stand in the block at hand, nothing but instructions in between */
  uint32_t *edge_of;     /* by producer: index + 1 of its edge to the consumer at hand */
  uint32_t first_edge;   /* of the consumer at hand */
  sl_map edge_of_pair;   /* (producer, consumer) -> index + 1 of the edge at their innermost common loop or block */
  uint32_t loops_open;
};

static const struct sl_footprint *access_at(const struct inference *in, uint32_t access)
{
  return &in->f.accesses.data[access];
}

enum { KEPT_MAX = 256 };

/* Whether each dependence of the consumer at hand is wanted. A consumer of very many is told the first ones, and then the
 * latest producer of each stream: pairs of accesses are too many where each is met by half of the others. */
static bool keeps_all(const struct inference *in)
{
  return in->keeps_all && (in->keeps_any_number || in->edges->len - in->first_edge < KEPT_MAX);
}

static bool writes(const struct sl_footprint *access)
{
  return access->flags & SL_FOOTPRINT_WRITES;
}

static enum sl_touch_list list_of(const struct sl_footprint *access)
{
  return writes(access) ? SL_TOUCH_WRITERS : SL_TOUCH_READERS;
}

/* ---- edges ---- */

/* The source that says where a gather or scatter goes. */
static bool is_index(const struct inference *in, const struct sl_footprint *access)
{
  const struct sl_op *op = sl_stmt_op(in->kernel, access->stmt);
  uint8_t source = in->index_source[op->opcode];
  return source && access->operand == op->dst_count + source - 1u;
}

static enum sl_edge_kind kind_of(const struct inference *in, const struct sl_footprint *p, const struct sl_footprint *c)
{
  if (writes(p) && c->flags & SL_FOOTPRINT_READS)
    return is_index(in, c) ? SL_EDGE_INDEX : SL_EDGE_FLOW;
  return writes(p) ? SL_EDGE_OUTPUT : SL_EDGE_ANTI;
}

/* Of several reasons for one edge the value that flows is shown. */
static bool says_more(enum sl_edge_kind a, enum sl_edge_kind b)
{
  return (a == SL_EDGE_FLOW || a == SL_EDGE_INDEX) && b != SL_EDGE_FLOW && b != SL_EDGE_INDEX;
}

static struct sl_edge make_edge(const struct inference *in, const struct sl_footprint *p, const struct sl_footprint *c,
                                sl_index block, uint32_t k)
{
  return (struct sl_edge){ .producer = p->stmt,
                           .consumer = c->stmt,
                           .block = block,
                           .k = k,
                           .line = SL_NO_LINE,
                           .kind = (uint8_t)kind_of(in, p, c),
                           .producer_operand = p->operand,
                           .consumer_operand = c->operand,
                           .producer_block = p->block,
                           .producer_stalls = p->flags & SL_FOOTPRINT_STALLS,
                           .producer_position = p->position,
                           .producer_stream = p->stream };
}

static void give_reason(struct sl_edge *edge, const struct sl_edge *found)
{
  edge->kind = found->kind;
  edge->producer_operand = found->producer_operand;
  edge->consumer_operand = found->consumer_operand;
}

/* The edge that the ends already have for this consumer and block, or NULL. */
static struct sl_edge *find_edge(const struct inference *in, const struct sl_footprint *p, const struct sl_footprint *c,
                                 sl_index block)
{
  enum { FEW = 16 };
  uint32_t count = in->edges->len - in->first_edge, at = in->edges->len;
  if (count <= FEW) /* they are at hand */
    while (at > in->first_edge && in->edges->data[at - 1].producer != p->stmt)
      at--;
  else
    at = in->edge_of[p->stmt];
  if (at <= in->first_edge || at > in->edges->len)
    return NULL;
  struct sl_edge *edge = &in->edges->data[at - 1];
  return edge->producer == p->stmt && edge->consumer == c->stmt && edge->block == block ? edge : NULL;
}

/* Appends an edge, or strengthens the one that its ends already have for this consumer and block. */
static struct sl_edge *put_edge(struct inference *in, const struct sl_footprint *p, const struct sl_footprint *c,
                                sl_index block, uint32_t k)
{
  struct sl_edge found = make_edge(in, p, c, block, k), *edge = find_edge(in, p, c, block);
  if (!edge) {
    sl_vec_add(in->edge_heap, in->edges, found);
    in->edge_of[p->stmt] = in->edges->len;
    return &in->edges->data[in->edges->len - 1];
  }
  if (k < edge->k || (k == edge->k && says_more((enum sl_edge_kind)found.kind, (enum sl_edge_kind)edge->kind)))
    give_reason(edge, &found);
  edge->k = k < edge->k ? k : edge->k;
  return edge;
}

/* In one block a stream's latest instruction speaks for those before it, which retire first. */
static struct sl_edge *put_latest(struct inference *in, uint32_t producer, const struct sl_footprint *c)
{
  const struct sl_footprint *p = access_at(in, producer);
  struct latest *latest = &in->latest[p->stream];
  if (latest->consumer != c->stmt) {
    struct sl_edge *edge = put_edge(in, p, c, p->block, 0);
    *latest = (struct latest){ c->stmt, (uint32_t)(edge - in->edges->data), producer };
    return edge;
  }
  struct sl_edge *edge = &in->edges->data[latest->edge], found = make_edge(in, p, c, p->block, 0);
  bool is_later = edge->producer_position < p->position;
  bool is_clearer =
      edge->producer == p->stmt && says_more((enum sl_edge_kind)found.kind, (enum sl_edge_kind)edge->kind);
  if (is_later || is_clearer)
    *edge = found;
  latest->access = is_later ? producer : latest->access;
  return edge;
}

static void remember(struct inference *in, const struct sl_footprint *p, const struct sl_footprint *c,
                     const struct sl_edge *edge)
{
  uint32_t *at = sl_map_put(&in->edge_of_pair, in->heap, sl_map_pair(p->stmt, c->stmt), NULL);
  if (!*at)
    *at = (uint32_t)(edge - in->edges->data) + 1;
}

static struct sl_edge *edge_between(const struct inference *in, const struct sl_footprint *p,
                                    const struct sl_footprint *c)
{
  const uint32_t *at = sl_map_get(&in->edge_of_pair, sl_map_pair(p->stmt, c->stmt));
  return at ? &in->edges->data[*at - 1] : NULL;
}

/* ---- meeting ---- */

/* What a sum's difference may be: a list of intervals [min, max]. */
enum { SHIFTS_MAX = 16, VALUES_MAX = 8 };
struct shifts {
  uint32_t count;
  struct sl_range at[SHIFTS_MAX];
};

static void add_to_shifts(struct shifts *shifts, struct sl_range range, int64_t step)
{
  bool has_ends = range.min != SL_NO_MIN && range.max != SL_NO_MAX && step > 0;
  int64_t width, values = SHIFTS_MAX + 1;
  if (has_ends && !__builtin_sub_overflow(range.max, range.min, &width) && width / step < VALUES_MAX)
    values = width / step + 1;
  if (values > VALUES_MAX || (int64_t)shifts->count * values > SHIFTS_MAX) {
    for (uint32_t i = 0; i < shifts->count; i++)
      shifts->at[i] = sl_range_add(shifts->at[i], range);
    return;
  }
  struct shifts before = *shifts;
  shifts->count = 0;
  for (int64_t n = 0; n < values; n++)
    for (uint32_t i = 0; i < before.count; i++) {
      struct sl_range value = { range.min + n * step, range.min + n * step };
      shifts->at[shifts->count++] = sl_range_add(before.at[i], value);
    }
}

static int64_t magnitude(int64_t value)
{
  return value == INT64_MIN ? INT64_MAX : value < 0 ? -value : value;
}

static void add_term(struct inference *in, struct shifts *shifts, uint32_t atom, int64_t factor)
{
  if (factor)
    add_to_shifts(shifts, sl_range_scale(in->f.forms.atoms.data[atom].range, factor), magnitude(factor));
}

/* One atom in both sums: of the carrying loop it has another value on each side, of others the same. */
static void add_terms(struct inference *in, struct shifts *shifts, sl_index carrying, uint32_t atom, int64_t consumer,
                      int64_t producer)
{
  const struct sl_forms *forms = &in->f.forms;
  if (!carrying || !sl_atom_depends(forms, atom, carrying)) {
    add_term(in, shifts, atom, consumer - producer);
  } else if (consumer == producer && forms->atoms.data[atom].kind == SL_ATOM_LOOP) {
    struct sl_range later = forms->atoms.data[atom].range;
    later.min = 1;
    add_to_shifts(shifts, sl_range_scale(later, consumer), magnitude(consumer));
  } else {
    add_term(in, shifts, atom, consumer);
    add_term(in, shifts, atom, -producer);
  }
}

/* consumer's sum minus producer's, in the same iteration or with `carrying` at least one later. */
static struct shifts shifts_between(struct inference *in, sl_sum consumer, sl_sum producer, sl_index carrying)
{
  struct shifts shifts = { .count = 1 };
  for (struct sl_sum_pair pair = sl_sum_pair_of(&in->f.forms, consumer, producer); sl_sum_pair_next(&pair);)
    add_terms(in, &shifts, carrying, pair.atom, pair.factor_a, pair.factor_b);
  return shifts;
}

/* A query: the accesses [first, end) that an access meets. */
struct meeting {
  uint32_t consumer, first, end;
  sl_index carrying; /* body of the loop whose earlier iterations are met; 0: the same iteration */
  void (*meet)(struct inference *in, const struct meeting *meeting, uint32_t producer);
};

static bool is_hidden(const struct inference *in, uint32_t access)
{
  for (uint32_t i = 0; i < in->hidden.len; i++)
    if (in->hidden.data[i].first <= access && access < in->hidden.data[i].end)
      return true;
  return false;
}

/* Whether an earlier instruction of a stream need not be looked at, for a later one is awaited. */
static bool is_spoken_for(const struct inference *in, const struct meeting *meeting, const struct sl_footprint *c,
                          const struct sl_touch *touch)
{
  const struct latest *latest = &in->latest[touch->stream];
  return !meeting->carrying && !in->loops_open && touch->access >= in->first_alike && latest->consumer == c->stmt &&
         latest->access > touch->access && !keeps_all(in);
}

static void meet_list(struct inference *in, const struct meeting *meeting, uint32_t first)
{
  const struct sl_footprint *c = access_at(in, meeting->consumer);
  int32_t row_min = c->place_row_min, row_max = c->place_row_max;
  for (uint32_t at = first; at; at = in->touches.list.data[at].next) {
    const struct sl_touch *touch = &in->touches.list.data[at];
    uint32_t access = touch->access;
    if (access < meeting->first || access >= meeting->end || touch->row_max <= row_min || row_max <= touch->row_min ||
        is_spoken_for(in, meeting, c, touch) || in->f.accesses.data[access].met == in->query ||
        (!meeting->carrying && is_hidden(in, access)))
      continue;
    in->f.accesses.data[access].met = in->query;
    meeting->meet(in, meeting, access);
  }
}

static void meet_interval(struct inference *in, const struct meeting *meeting, uint32_t group, struct sl_interval place)
{
  struct sl_touch_map *map = &in->groups.data[group].map;
  bool all = writes(access_at(in, meeting->consumer));
  struct sl_touch_cursor cursor = sl_touch_find(map, place.min);
  for (const struct sl_touched *at; (at = sl_touch_get(map, &cursor)) != NULL && at->min < place.max;
       sl_touch_step(&cursor)) {
    meet_list(in, meeting, at->first[SL_TOUCH_WRITERS]);
    if (all)
      meet_list(in, meeting, at->first[SL_TOUCH_READERS]);
  }
}

/* Meets what a group holds where the access is when its sum is that much more than the group's. */
static void meet_shifted(struct inference *in, const struct meeting *meeting, uint32_t group, struct sl_range shift)
{
  const struct sl_footprint *c = access_at(in, meeting->consumer);
  for (uint32_t copy = 0; copy < c->copies; copy++) {
    struct sl_interval place = sl_footprint_place(c, copy);
    meet_interval(in, meeting, group, sl_interval_widen(place, shift));
  }
}

static void meet_group(struct inference *in, const struct meeting *meeting, uint32_t group)
{
  sl_sum varying = access_at(in, meeting->consumer)->varying, other = in->groups.data[group].varying;
  if (varying == other && (!meeting->carrying || !varying)) {
    meet_shifted(in, meeting, group, (struct sl_range){ 0, 0 });
    return;
  }
  struct shifts shifts = shifts_between(in, varying, other, meeting->carrying);
  for (uint32_t i = 0; i < shifts.count; i++)
    meet_shifted(in, meeting, group, shifts.at[i]);
}

static void meet_all(struct inference *in, const struct meeting *meeting)
{
  in->query++;
  for (uint32_t group = in->groups_of[access_at(in, meeting->consumer)->memory]; group;
       group = in->groups.data[group].next)
    meet_group(in, meeting, group);
}

/* ---- the same iteration ---- */

/* Whether they overlap whenever the varying sum is the same; what the map holds may be wider than they are. */
static bool surely_meet(const struct sl_footprint *a, const struct sl_footprint *b)
{
  return a->flags & b->flags & SL_FOOTPRINT_EXACT && a->varying == b->varying && a->place.min < b->place.max &&
         b->place.min < a->place.max;
}

static void meet_same(struct inference *in, const struct meeting *meeting, uint32_t producer)
{
  const struct sl_footprint *p = access_at(in, producer), *c = access_at(in, meeting->consumer);
  sl_index common = sl_common_block_of(in->kernel, p->block, c->block);
  if (!surely_meet(p, c) && !sl_conflict_same(&in->f, p, c, common))
    return;
  bool is_alike = p->block == c->block && !keeps_all(in);
  const struct sl_edge *edge = is_alike ? put_latest(in, producer, c) : put_edge(in, p, c, common, 0);
  if (in->loops_open)
    remember(in, p, c, edge);
}

/* ---- carried by a loop ---- */

static sl_index innermost_loop(const struct sl_kernel *kernel, sl_index block)
{
  while (block) {
    sl_index owner = kernel->blocks.data[block].owner;
    if (owner && kernel->stmts.data[owner].kind == SL_STMT_LOOP)
      return block;
    block = sl_block_parent(kernel, block);
  }
  return SL_NONE;
}

enum { ACROSS_MAX = 8 };

/* Whether every iteration of the outer loop surely visits the inner one: no arm, and no loop that may make no trip, in between. */
static bool surely_visits(const struct inference *in, sl_index outer, sl_index inner)
{
  for (sl_index block = sl_block_parent(in->kernel, inner); block != outer;
       block = sl_block_parent(in->kernel, block)) {
    sl_index owner = in->kernel->blocks.data[block].owner;
    if (in->kernel->stmts.data[owner].kind != SL_STMT_LOOP || in->f.trips.data[block].least == 0)
      return false;
  }
  return true;
}

/* Whether where an access is depends on the iteration of the loop. */
static bool moves_with(const struct inference *in, const struct sl_footprint *access, sl_index body)
{
  const struct sl_forms *forms = &in->f.forms;
  bool moves = sl_sum_depends(forms, access->byte_sum, body) || sl_sum_depends(forms, access->row_sum, body);
  uint32_t count = access->first_dim == SL_NO_DIMS ? 0 : in->kernel->buffers.data[access->buffer].dim_count;
  for (uint32_t i = 0; i < count && !moves; i++) {
    sl_form first = in->f.dims.data[access->first_dim + i].first;
    moves = first.is_known && sl_sum_depends(forms, first.sum, body);
  }
  return moves;
}

/* The least number of iterations of the inner loop, counted through its visits, that lie between two instances that touch the
 * same and are at least one iteration of the outer loop apart; at most `most`. The inner loop makes `trips` in every visit.
 * Requires as many visits as iterations of the outer loop, or accesses to which it is all the same which iteration of the outer
 * loop they are in: then only visits count. Visits in between, which a loop between the two may cause, make the number larger.
 * However many trips: fewer than ACROSS_MAX iterations reach from one visit into the next, and few visits fit into a distance. */
static uint32_t distance_across(struct inference *in, const struct sl_footprint *p, const struct sl_footprint *c,
                                sl_index outer, sl_index inner, int64_t trips, uint32_t most)
{
  int64_t outer_trips = sl_footprint_trips(&in->f, outer);
  for (int64_t distance = 1; distance < most; distance++)
    for (int64_t visits = 1; (visits - 1) * trips < distance; visits++) {
      int64_t apart = distance - visits * trips; /* consumer's iteration minus producer's */
      for (int64_t at = apart > 0 ? apart : 0; at < trips && at - apart < trips; at++) {
        struct sl_fixed fixed = { inner, at - apart, at };
        if (sl_conflict_at(&in->f, p, c, outer, outer_trips, visits, fixed))
          return (uint32_t)distance;
      }
    }
  return most;
}

/* The same for rings that go on from visit to visit, whatever the trips: the distance in a visit without end, or `most`. */
static bool distance_in_ring(struct inference *in, const struct sl_footprint *p, const struct sl_footprint *c,
                             sl_index outer, sl_index inner, uint32_t most, uint32_t *distance)
{
  if (sl_block_parent(in->kernel, inner) != outer || p->buffer != c->buffer ||
      !sl_ring_goes_on(&in->f, p, outer, inner) || !sl_ring_goes_on(&in->f, c, outer, inner))
    return false;
  uint32_t found = sl_conflict_distance(&in->f, p, c, inner, SL_NO_MAX);
  *distance = found && found < most ? found : most;
  return true;
}

/* How far apart, counted through the visits of the inner loop, an outer loop may carry the two; at most `most`; false when that is
 * not known. */
static bool find_distance_across(struct inference *in, const struct sl_footprint *p, const struct sl_footprint *c,
                                 sl_index outer, sl_index inner, uint32_t most, uint32_t *distance)
{
  *distance = 1;
  if (most == 1 || distance_in_ring(in, p, c, outer, inner, most, distance))
    return true;
  int64_t trips = sl_footprint_exact_trips(&in->f, inner);
  bool is_counted = surely_visits(in, outer, inner) || (!moves_with(in, p, outer) && !moves_with(in, c, outer));
  if (trips == SL_NO_MAX || most > ACROSS_MAX + 1 || !is_counted)
    return false;
  *distance = distance_across(in, p, c, outer, inner, trips, most);
  return true;
}

/* A dependence carried by a loop around the innermost one that both ends share: whether one counted through the visits of that one
 * says it, so that rings and single slots which go on from visit to visit need no wait of their own. */
static bool goes_across(struct inference *in, const struct sl_footprint *p, const struct sl_footprint *c,
                        sl_index outer, sl_index inner)
{
  struct sl_edge *edge = edge_between(in, p, c);
  uint32_t most = edge ? edge->k : ACROSS_MAX + 1, distance;
  bool is_far_out =
      !edge && sl_block_parent(in->kernel, inner) != outer; /* visits in between are not counted exactly */
  if (is_far_out || (edge && edge->block != inner) || !find_distance_across(in, p, c, outer, inner, most, &distance))
    return false;
  bool is_far = !edge && distance > ACROSS_MAX;
  if (is_far || (edge && !edge->across && distance < edge->k))
    return false;
  if (!edge) {
    edge = put_edge(in, p, c, inner, distance);
    remember(in, p, c, edge);
  }
  edge->k = distance < edge->k ? distance : edge->k;
  edge->across = true;
  return true;
}

enum { INNER_MAX = 64 };

/* The inner distance of a vector that says more exactly what is carried by the loop around: the producer stands directly in the
 * loop inside, which stands directly in the one around. Not above 0, so that all earlier visits are over as well; false
 * when the whole visit has to be over, or it is not known. */
static bool inner_distance(struct inference *in, const struct sl_footprint *p, const struct sl_footprint *c,
                           sl_index outer, uint32_t k, sl_index inner, int32_t *distance)
{
  int64_t least, trips = sl_footprint_trips(&in->f, inner);
  if (p->block != inner || sl_block_parent(in->kernel, inner) != outer ||
      !sl_conflict_inner(&in->f, p, c, outer, k, inner, trips, &least))
    return false;
  least = least > 0 ? 0 : least;
  *distance = (int32_t)least;
  return least >= -INNER_MAX && (trips == SL_NO_MAX || least > 1 - trips);
}

/* Carried by a loop around the innermost one, and not across: a vector if all accesses of the two say one of the same outer
 * distance, else the outer distance alone. */
static void put_outer(struct inference *in, const struct sl_footprint *p, const struct sl_footprint *c, sl_index outer,
                      uint32_t k, sl_index inner)
{
  int32_t distance = 0;
  bool is_vector = inner_distance(in, p, c, outer, k, inner, &distance);
  const struct sl_edge *before = find_edge(in, p, c, outer);
  bool is_same = !before || (sl_edge_is_vector(before) && before->k == k);
  if (before && is_same && before->inner_k < distance)
    distance = before->inner_k;
  struct sl_edge *edge = put_edge(in, p, c, outer, k);
  edge->inner_block = is_vector && is_same ? inner : SL_NONE;
  edge->inner_k = is_vector && is_same ? distance : 0;
}

static void meet_carried(struct inference *in, const struct meeting *meeting, uint32_t producer)
{
  const struct sl_footprint *p = access_at(in, producer), *c = access_at(in, meeting->consumer);
  const struct sl_edge *same = edge_between(in, p, c);
  if (same && same->k == 0)
    return; /* says this iteration and all before */
  int64_t trips = sl_footprint_trips(&in->f, meeting->carrying);
  uint32_t k = 1;
  bool is_always = surely_meet(p, c) && !sl_sum_depends(&in->f.forms, p->varying, meeting->carrying);
  if (!is_always)
    k = sl_conflict_distance(&in->f, p, c, meeting->carrying, trips);
  if (k == 0)
    return;
  sl_index inner = innermost_loop(in->kernel, sl_common_block_of(in->kernel, p->block, c->block));
  if (inner == meeting->carrying)
    remember(in, p, c, put_edge(in, p, c, meeting->carrying, k));
  else if (!goes_across(in, p, c, meeting->carrying, inner))
    put_outer(in, p, c, meeting->carrying, k, inner);
}

static void begin_consumer(struct inference *in)
{
  in->first_edge = in->edges->len;
}

static void find_carried(struct inference *in, sl_index body, uint32_t first)
{
  uint32_t end = in->f.accesses.len;
  for (uint32_t at = first; at < end; at++) {
    if (at == first || access_at(in, at)->stmt != access_at(in, at - 1)->stmt)
      begin_consumer(in);
    meet_all(in, &(struct meeting){ at, first, end, body, meet_carried });
  }
}

/* ---- what accesses end ---- */

static uint32_t open_group(struct inference *in, uint32_t memory, sl_sum varying)
{
  uint32_t *at = sl_map_put(&in->group_of, in->heap, sl_map_pair(memory, varying), NULL);
  if (*at && in->groups.data[*at].is_open)
    return *at;
  *at = in->groups.len;
  sl_vec_add(in->heap, &in->groups,
             ((struct group){ .memory = memory, .varying = varying, .is_open = true, .next = in->groups_of[memory] }));
  in->groups_of[memory] = *at;
  return *at;
}

/* An access that ends others. */
struct ending {
  struct inference *in;
  uint32_t access, group;
};

static bool same_box(const struct sl_footprints *f, const struct sl_footprint *a, const struct sl_footprint *b)
{
  if (a->buffer != b->buffer || a->first_dim == SL_NO_DIMS || b->first_dim == SL_NO_DIMS)
    return false;
  for (uint32_t i = 0; i < f->kernel->buffers.data[a->buffer].dim_count; i++) {
    struct sl_access_dim x = f->dims.data[a->first_dim + i], y = f->dims.data[b->first_dim + i];
    if (!x.first.is_known || !y.first.is_known || x.first.sum != y.first.sum || x.first.constant != y.first.constant ||
        x.length != y.length || x.length == 0)
      return false;
  }
  return true;
}

/* An access with holes ends only those of just the same box. */
static bool is_same_box(void *user, uint32_t access)
{
  struct ending *ending = user;
  return same_box(&ending->in->f, access_at(ending->in, ending->access), access_at(ending->in, access));
}

static void note_ended(void *user, int64_t min, int64_t max, const struct sl_touch *touch)
{
  struct ending *ending = user;
  sl_vec_add(ending->in->heap, &ending->in->ended, ((struct ended){ ending->group, min, max, *touch }));
}

/* Whether a `nodep` line names the instruction, by its label or by what its label is a copy of. */
static bool is_weak(const struct inference *in, sl_index stmt)
{
  sl_name label = sl_stmt_op(in->kernel, stmt)->label;
  if (!in->has_weak || !label)
    return false;
  if (in->is_weak[label])
    return true;
  const char *text = sl_text(in->program, label);
  for (const char *number = sl_label_number(text); number; number = sl_label_number(number + 1)) {
    sl_name base = sl_names_find(&in->program->names, text, (size_t)(number - text));
    if (base && in->is_weak[base])
      return true;
  }
  return false;
}

static void settle(struct inference *in, uint32_t access)
{
  const struct sl_footprint at = *access_at(in, access);
  if (at.place.min >= at.place.max)
    return;
  uint32_t group = open_group(in, at.memory, at.varying);
  struct ending ending = { in, access, group };
  uint32_t outside = in->scope.first_access; /* what stands before ends only for the time being */
  const struct sl_touch_sweep sweep = { .writers = writes(&at),
                                        .stream = writes(&at) ? SL_TOUCH_ANY_STREAM : at.stream,
                                        .first = outside,
                                        .user = &ending,
                                        .ends = at.flags & SL_FOOTPRINT_DENSE ? NULL : is_same_box,
                                        .told_before = outside,
                                        .ended = note_ended };
  if (!is_weak(in, at.stmt))
    sl_touch_remove(&in->groups.data[group].map, &in->touches, at.place.min, at.place.max, at.place_row_min,
                    at.place_row_max, &sweep);
  struct sl_touch touch = { access, at.stream, at.place_row_min, at.place_row_max, 0 };
  sl_touch_add(&in->groups.data[group].map, &in->touches, at.place.min, at.place.max, list_of(&at), touch,
               at.flags & SL_FOOTPRINT_DENSE ? SL_TOUCH_NEW : SL_TOUCH_NEW | SL_TOUCH_HULL);
}

/* ---- scopes ---- */

static struct scope enter_scope(struct inference *in)
{
  struct scope around = in->scope;
  in->scope = (struct scope){ in->f.accesses.len, in->ended.len };
  return around;
}

static void restore(struct inference *in, const struct ended *ended)
{
  const struct sl_footprint *access = access_at(in, ended->touch.access);
  sl_touch_add(&in->groups.data[ended->group].map, &in->touches, ended->min, ended->max, list_of(access), ended->touch,
               0);
}

static void leave_scope(struct inference *in, struct scope around)
{
  for (uint32_t i = in->scope.first_ended; i < in->ended.len; i++)
    restore(in, &in->ended.data[i]);
  in->ended.len = in->scope.first_ended;
  in->scope = around;
}

/* ---- the walk ---- */

static void walk(struct inference *in, sl_index block);

static void walk_op(struct inference *in, sl_index stmt)
{
  uint32_t first = in->f.accesses.len;
  sl_footprints_add(&in->f, stmt, in->position);
  uint32_t end = in->f.accesses.len;
  begin_consumer(in);
  for (uint32_t at = first; at < end; at++)
    meet_all(in, &(struct meeting){ at, 0, first, SL_NONE, meet_same });
  for (uint32_t at = first; at < end; at++)
    settle(in, at);
}

static void walk_branch(struct inference *in, sl_index stmt)
{
  const struct sl_branch *branch = sl_stmt_branch(in->kernel, stmt);
  struct scope around = enter_scope(in);
  struct hidden then_arm = { in->f.accesses.len, 0 };
  walk(in, branch->then_block);
  leave_scope(in, around);
  if (!branch->else_block)
    return;
  then_arm.end = in->f.accesses.len;
  sl_vec_add(in->heap, &in->hidden, then_arm);
  around = enter_scope(in);
  walk(in, branch->else_block);
  leave_scope(in, around);
  in->hidden.len--;
}

/* Adds an access to a group, all copies of its place. */
static void add_touches(struct inference *in, uint32_t group, uint32_t access, enum sl_touch_list list)
{
  const struct sl_footprint at = *access_at(in, access);
  struct sl_touch touch = { access, at.stream, at.place_row_min, at.place_row_max, 0 };
  for (uint32_t copy = 0; copy < at.copies; copy++) {
    struct sl_interval place = sl_footprint_place(&at, copy);
    sl_touch_add(&in->groups.data[group].map, &in->touches, place.min, place.max, list, touch,
                 at.copies == 1 ? SL_TOUCH_NEW | SL_TOUCH_HULL : SL_TOUCH_HULL);
  }
}

/* Moves what a group holds to where it is as seen from outside the loop. */
static void move_group(struct inference *in, uint32_t index)
{
  struct sl_touch_map map = in->groups.data[index].map;
  in->query++;
  struct sl_touch_cursor cursor = { 0, 0 };
  for (const struct sl_touched *at; (at = sl_touch_get(&map, &cursor)) != NULL; sl_touch_step(&cursor))
    for (uint32_t list = 0; list < SL_TOUCH_LISTS; list++)
      for (uint32_t touch = at->first[list]; touch; touch = in->touches.list.data[touch].next) {
        uint32_t access = in->touches.list.data[touch].access;
        if (in->f.accesses.data[access].met == in->query)
          continue;
        in->f.accesses.data[access].met = in->query;
        const struct sl_footprint moved = *access_at(in, access);
        uint32_t group = open_group(in, moved.memory, moved.varying);
        add_touches(in, group, access, (enum sl_touch_list)list);
      }
  sl_touch_map_free(&map, &in->touches);
}

static void close_group(struct inference *in, uint32_t index)
{
  struct group *group = &in->groups.data[index];
  group->is_open = false;
  uint32_t *link = &in->groups_of[group->memory];
  while (*link != index)
    link = &in->groups.data[*link].next;
  *link = group->next;
}

/* The loop is over: accesses are seen from outside it. */
static void leave_loop(struct inference *in, sl_index body, uint32_t first_access, uint32_t first_group)
{
  for (uint32_t at = first_access; at < in->f.accesses.len; at++)
    sl_footprint_leave(&in->f, &in->f.accesses.data[at], body);
  uint32_t end = in->groups.len;
  for (uint32_t at = first_group; at < end; at++)
    if (in->groups.data[at].is_open && sl_sum_depends(&in->f.forms, in->groups.data[at].varying, body)) {
      close_group(in, at);
      move_group(in, at);
    }
}

/* Code that never runs is only numbered. */
static void pass_over(struct inference *in, sl_index block)
{
  for (sl_index at = sl_walk_first(in->kernel, block); at; at = sl_walk_next(in->kernel, block, at))
    in->position++;
}

static void walk_loop(struct inference *in, sl_index stmt)
{
  const struct sl_loop *loop = sl_stmt_loop(in->kernel, stmt);
  sl_form before = in->f.forms.variables.data[loop->var];
  struct sl_trips trips = sl_footprints_enter(&in->f, stmt);
  uint32_t first_access = in->f.accesses.len, first_group = in->groups.len;
  struct scope around = in->scope;
  if (trips.least == 0)
    around = enter_scope(in);
  in->loops_open++;
  if (trips.most > 0)
    walk(in, loop->body);
  else
    pass_over(in, loop->body);
  in->loops_open--;
  if (trips.most > 1)
    find_carried(in, loop->body, first_access);
  leave_loop(in, loop->body, first_access, first_group);
  if (trips.least == 0)
    leave_scope(in, around);
  in->f.forms.variables.data[loop->var] = before;
}

static void walk(struct inference *in, sl_index block)
{
  in->first_alike = in->f.accesses.len;
  for (sl_index at = in->kernel->blocks.data[block].first; at; at = in->kernel->stmts.data[at].next) {
    in->position++;
    switch ((enum sl_stmt_kind)in->kernel->stmts.data[at].kind) {
    case SL_STMT_OP: walk_op(in, at); break;
    case SL_STMT_LOOP: walk_loop(in, at); break;
    case SL_STMT_IF: walk_branch(in, at); break;
    case SL_STMT_BARRIER:
    case SL_STMT_BARRIER_RESET:
    case SL_STMT_EPILOGUE: break;
    }
    if (in->kernel->stmts.data[at].kind != SL_STMT_OP)
      in->first_alike = in->f.accesses.len;
  }
}

static void find_weak(struct inference *in)
{
  in->is_weak = sl_heap_calloc(in->heap, in->program->names.len, sizeof *in->is_weak);
  for (uint32_t i = 0; i < in->kernel->deps.len; i++) {
    const struct sl_dep *dep = &in->kernel->deps.data[i];
    if (!dep->removed)
      continue;
    in->is_weak[dep->producer] = in->is_weak[dep->consumer] = true;
    in->has_weak = true;
  }
}

static void find_index_sources(struct inference *in)
{
  const struct sl_target *target = in->f.target;
  in->index_source = sl_heap_calloc(in->heap, in->program->names.len, sizeof *in->index_source);
  for (uint32_t i = 0; i < target->opcodes.len; i++) {
    const struct sl_opcode_desc *opcode = &target->opcodes.data[i];
    sl_name name = sl_names_find(&in->program->names, opcode->name, strlen(opcode->name));
    if (name)
      in->index_source[name] = (uint8_t)opcode->index_source; /* at most the number of operands, 100 */
  }
}

void sl_deps_infer(sl_edges *edges, sl_heap *heap, const sl_program *program, const struct sl_kernel *kernel,
                   const struct sl_target *target, enum sl_infer wanted)
{
  sl_heap *scratch = sl_heap_child_new(heap);
  struct inference in = { .heap = scratch, .edge_heap = heap, .program = program, .kernel = kernel, .edges = edges };
  sl_footprints_init(&in.f, scratch, program, kernel, target);
  sl_touches_init(&in.touches, scratch);
  (void)sl_vec_push(scratch, &in.groups);
  in.groups_of = sl_heap_calloc(scratch, kernel->buffers.len, sizeof *in.groups_of);
  in.latest = sl_heap_calloc(scratch, kernel->streams.len + 1u, sizeof *in.latest);
  in.edge_of = sl_heap_calloc(scratch, kernel->stmts.len, sizeof *in.edge_of);
  find_weak(&in);
  find_index_sources(&in);
  in.keeps_any_number = in.has_weak || sl_names_find(&program->names, "spilled", strlen("spilled"));
  in.keeps_all = wanted == SL_INFER_ALL || in.keeps_any_number;
  walk(&in, kernel->root);
  sl_deps_add_ordered(edges, heap, kernel);
  sl_heap_child_free(scratch);
}
