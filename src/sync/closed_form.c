/* closed_form.c: the published strategies per-loop and per-instruction: thresholds in closed form (arXiv 2608.13757, 5.2-5.5),
 * with one semaphore per (loop, stream) or one per awaited instruction (then N = K = 1 below).
 *
 * On each engine r_l counts all iterations of loop l so far, h_l those of the current visit. With S the innermost common
 * loop, P the producer's own, N the updates in P's body on the producer's stream and K the producer's place among them:
 *
 *   producer in S, any k:                              mask * (N * (r_S - k) - (N - K))
 *   producer nested below S, before the consumer, k=0:        N * r_P - (N - K)
 *   producer nested below S, after the consumer,  k=1: mask * (N * r_P - (N - K))
 *   the same, before the consumer, k=1, P directly in S: mask * (N * (r_P - h_P) - (N - K))
 *   mask = (h_S > k); left out where k = 0, and h_S with it where no wait needs it (trip-register elision)
 *   producer directly in the kernel, which runs once:  K
 *
 * Without clean-ups the code is as published. Every loop is counted; what a loop carries has a mask, which is set to 1 where it has
 * no h; "times N" and "minus (N - K)" are there whatever N and K are; and everything is computed again at every wait, into one mask
 * of S and one threshold of P. So the waits of an instruction are tested one after the other.
 *
 * Distances across visits have the same forms with a mask of 1, where it is the loop's first k iterations that go below zero.
 *
 * A branch arm is a loop of 0 or 1 trips. 32-bit unsigned: where a form may go below zero and hang, its semaphore starts with
 * a credit that is added to every threshold: N where the count may still be 0 and K < N, N * k - K across visits.
 *
 * Everything else is refused with the name of the edge. Exact where it applies. Linear in the tree times engines.
 */
#include <assert.h>
#include <stdlib.h>

#include "sync/passes.h"
#include "sync/plan.h"

enum form { FORM_NONE, FORM_DIRECT, FORM_NESTED, FORM_NESTED_BEFORE };

/* The registers that one engine keeps of one block; 0 = not kept. */
struct family {
  uint32_t engine;
  sl_index block;
  sl_vreg r, h;
  sl_vreg mask, threshold; /* published setting: the mask of what the block carries, the thresholds for its producers */
  uint32_t mask_run, mask_distance; /* in this run the mask is that of this distance */
  uint32_t next; /* of the same block */
};

struct closed_form {
  struct sl_plan *plan;
  uint8_t *form; /* by edge */
  sl_vec(struct family) families; /* (from 1) */
  sl_map family_of;               /* (engine, block) */
  uint32_t *families_of_block;
  bool as_published;
  bool *has_h; /* by block, in the published setting: it carries a distance above 0 within its visits */
  uint32_t run;    /* number of the run at hand */
  sl_engines *counting, *counting_below; /* by block: engines that count it or some block below; strictly below */
};

static sl_index block_of(const struct closed_form *p, sl_index stmt)
{
  return p->plan->kernel->stmts.data[stmt].block;
}

/* ---- which form an edge has ---- */

static enum form classify(struct closed_form *p, const struct sl_edge *edge)
{
  const struct sl_plan *plan = p->plan;
  const struct sl_kernel *kernel = plan->kernel;
  const char *other = "shadow";
  sl_index block = block_of(p, edge->producer);
  if (sl_edge_is_vector(edge)) {
    sl_plan_inexpressible(p->plan, edge, "it has distances at two loops", other);
    return FORM_NONE;
  }
  if (edge->block != sl_common_block(kernel, edge->producer, edge->consumer)) {
    sl_plan_inexpressible(p->plan, edge, "it is not carried by the innermost loop around both ends", other);
    return FORM_NONE;
  }
  if (block == edge->block && edge->across &&
      (uint64_t)edge->k * plan->sems.data[plan->stmt[edge->producer].update_sem].updates > INT32_MAX) {
    sl_plan_inexpressible(p->plan, edge, "the start value that its distance needs is beyond 31 bits", other);
    return FORM_NONE;
  }
  if (block == edge->block)
    return FORM_DIRECT;
  bool forward = edge->producer_position < plan->stmt[edge->consumer].position;
  if (edge->k == (forward ? 0u : 1u))
    return FORM_NESTED;
  if (forward && edge->k == 1 && sl_block_parent(kernel, block) == edge->block)
    return FORM_NESTED_BEFORE;
  sl_plan_inexpressible(p->plan, edge, forward ? "its producer is nested in a loop below the carrying one, where only distance 0 "
                                                 "(or 1, directly below) has a closed form"
                                               : "its producer is nested in a loop below the carrying one and stands after the "
                                                 "consumer, where only distance 1 has a closed form", other);
  return FORM_NONE;
}

static struct family *put_family(struct closed_form *p, uint32_t engine, sl_index block)
{
  bool is_new;
  uint32_t *at = sl_map_put(&p->family_of, p->plan->heap, sl_map_pair(engine, block), &is_new);
  if (is_new) {
    *at = p->families.len;
    struct family *family = sl_vec_push(p->plan->heap, &p->families);
    family->engine = engine;
    family->block = block;
  }
  return &p->families.data[*at];
}

enum role { ROLE_ALL = 1, ROLE_VISIT, ROLE_MASK, ROLE_THRESHOLD };

static sl_name register_name(void *state, const struct sl_regcode *code, struct sl_vreg_role role)
{
  static const char letters[] = { [ROLE_ALL] = 'r', [ROLE_VISIT] = 'h', [ROLE_MASK] = 'm', [ROLE_THRESHOLD] = 'w' };
  const struct sl_plan *plan = ((struct closed_form *)state)->plan;
  char buffer[48];
  (void)code;
  return sl_internf(plan->program, "%c_%s", letters[role.kind], sl_plan_block_name(plan, role.index, buffer));
}

/* A register of a family, from now on kept. */
static sl_vreg keep(struct closed_form *p, uint32_t engine, sl_index block, enum role role)
{
  struct family *family = put_family(p, engine, block);
  sl_vreg *of_role[] = { [ROLE_ALL] = &family->r,
                         [ROLE_VISIT] = &family->h,
                         [ROLE_MASK] = &family->mask,
                         [ROLE_THRESHOLD] = &family->threshold };
  if (!*of_role[role])
    *of_role[role] = sl_regcode_vreg(&p->plan->code[engine], (struct sl_vreg_role){ role, block, 0 });
  return *of_role[role];
}

/* The distance below which a visit of the loop has nothing to wait for. */
static uint32_t masked_distance(const struct sl_edge *edge)
{
  return edge->across ? 0 : edge->k;
}

static void find_h(struct closed_form *p)
{
  const struct sl_plan *plan = p->plan;
  p->has_h = sl_heap_calloc(plan->heap, plan->kernel->blocks.len, sizeof *p->has_h);
  for (uint32_t i = 0; i < plan->edges.len; i++)
    p->has_h[plan->edges.data[i].block] |= masked_distance(&plan->edges.data[i]) > 0;
}

/* As published: every engine counts every loop it walks, whether or not a wait reads the counter. */
static void follow_publication(struct closed_form *p)
{
  const struct sl_plan *plan = p->plan;
  const struct sl_kernel *kernel = plan->kernel;
  find_h(p);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind != SL_STMT_LOOP)
      continue;
    sl_index body = sl_stmt_loop(kernel, at)->body;
    for (sl_engines rest = plan->presence.inside[body]; rest; rest &= rest - 1) {
      (void)keep(p, sl_first_engine(rest), body, ROLE_ALL);
      if (p->has_h[body])
        (void)keep(p, sl_first_engine(rest), body, ROLE_VISIT);
    }
  }
}

/* The start value, a credit, below which some threshold of the edge would fall below 0. */
static void raise_start(struct sl_plan_sem *sem, enum form form, const struct sl_edge *edge, uint32_t place)
{
  uint32_t least = 0;
  if (form != FORM_DIRECT && place < sem->updates)
    least = sem->updates;
  else if (form == FORM_DIRECT && edge->across)
    least = sem->updates * edge->k - place;
  if (least > sem->start)
    sem->start = least;
}

/* Classifies every edge, notes which counters each engine keeps and which semaphores need a credit. */
static int collect(struct closed_form *p)
{
  struct sl_plan *plan = p->plan;
  bool failed = false;
  p->form = sl_heap_calloc(plan->heap, plan->edges.len + 1u, sizeof *p->form);
  for (uint32_t i = 0; i < plan->edges.len; i++) {
    const struct sl_edge *edge = &plan->edges.data[i];
    p->form[i] = (uint8_t)classify(p, edge);
    failed |= p->form[i] == FORM_NONE;
    uint32_t engine = sl_plan_issues(plan, edge->consumer);
    struct sl_plan_sem *sem = &plan->sems.data[plan->stmt[edge->producer].update_sem];
    if (block_of(p, edge->producer) != plan->kernel->root)
      (void)keep(p, engine, block_of(p, edge->producer), ROLE_ALL);
    if (masked_distance(edge) > 0)
      (void)keep(p, engine, edge->block, ROLE_VISIT);
    if (p->form[i] == FORM_NESTED_BEFORE)
      (void)keep(p, engine, block_of(p, edge->producer), ROLE_VISIT);
    raise_start(sem, p->form[i], edge, plan->stmt[edge->producer].place_in_block);
  }
  return failed ? SLUICE_E_ANSWER : SLUICE_OK;
}

static void make_lists(struct closed_form *p)
{
  const struct sl_plan *plan = p->plan;
  uint32_t blocks = plan->kernel->blocks.len;
  p->families_of_block = sl_heap_calloc(plan->heap, blocks, sizeof *p->families_of_block);
  p->counting = sl_heap_calloc(plan->heap, blocks, sizeof *p->counting);
  p->counting_below = sl_heap_calloc(plan->heap, blocks, sizeof *p->counting_below);
  for (uint32_t c = p->families.len; c-- > 1;) {
    struct family *family = &p->families.data[c];
    sl_engines engine = (sl_engines)1 << family->engine;
    family->next = p->families_of_block[family->block];
    p->families_of_block[family->block] = c;
    p->counting[family->block] |= engine;
    for (sl_index b = sl_block_parent(plan->kernel, family->block); b && !(p->counting_below[b] & engine);
         b = sl_block_parent(plan->kernel, b)) {
      p->counting_below[b] |= engine;
      p->counting[b] |= engine;
    }
  }
}

/* ---- the rules of the walk ---- */

static void increment(struct sl_regcode *code, sl_vreg vreg)
{
  if (vreg)
    sl_regcode_op(code, SL_OP_REG_ADD, vreg, sl_value_vreg(vreg), sl_value_int(1));
}

static void start_block(void *strategy, sl_index block, sl_engines engines)
{
  struct closed_form *p = strategy;
  if (block == p->plan->kernel->root)
    for (uint32_t c = 1; c < p->families.len; c++)
      if (p->families.data[c].r)
        sl_regcode_set(&p->plan->code[p->families.data[c].engine], p->families.data[c].r, sl_value_int(0));
  for (uint32_t c = p->families_of_block[block]; c; c = p->families.data[c].next) {
    const struct family *family = &p->families.data[c];
    if (!(engines >> family->engine & 1))
      continue;
    increment(&p->plan->code[family->engine], family->r);
    increment(&p->plan->code[family->engine], family->h);
  }
}

/* One step of a threshold: as published it goes into the one register `into`, also where it changes nothing. */
static struct sl_value step(struct sl_regcode *code, sl_vreg into, enum sl_opcode op, struct sl_value a,
                            struct sl_value b)
{
  if (!into)
    return sl_regcode_value(code, op, a, b);
  sl_regcode_op(code, op, into, a, b);
  return sl_value_vreg(into);
}

static bool has_mask(const struct closed_form *p, const struct sl_edge *edge)
{
  return p->as_published ? edge->block != p->plan->kernel->root : masked_distance(edge) > 0;
}

/* 1 where the carrying loop is in its visit beyond the distance, else 0. As published it is computed where its distance changes
 * within a run, and also where it is surely 1: at distance 0, which clean-ups would make out. */
static struct sl_value mask_of(struct closed_form *p, uint32_t engine, const struct sl_edge *edge)
{
  struct sl_regcode *code = &p->plan->code[engine];
  uint32_t distance = masked_distance(edge);
  if (!p->as_published)
    return sl_regcode_value(code, SL_OP_REG_GT, sl_value_vreg(put_family(p, engine, edge->block)->h), sl_value_int(distance));
  sl_vreg mask = keep(p, engine, edge->block, ROLE_MASK);
  struct family *family = put_family(p, engine, edge->block);
  if (family->mask_run == p->run && family->mask_distance == distance)
    return sl_value_vreg(mask);
  family->mask_run = p->run;
  family->mask_distance = distance;
  if (family->h)
    sl_regcode_op(code, SL_OP_REG_GT, mask, sl_value_vreg(family->h), sl_value_int(distance));
  else
    sl_regcode_set(code, mask, sl_value_int(1));
  return sl_value_vreg(mask);
}

/* The threshold of edge `i`, computed where it is not a register or a number already. The kernel itself runs once, so what
 * stands directly in it has retired as soon as its place is reached. */
static struct sl_value threshold_of(struct closed_form *p, uint32_t i)
{
  const struct sl_plan *plan = p->plan;
  const struct sl_edge *edge = &plan->edges.data[i];
  uint32_t engine = sl_plan_issues(plan, edge->consumer);
  struct sl_regcode *code = &plan->code[engine];
  const struct sl_plan_sem *sem = &plan->sems.data[plan->stmt[edge->producer].update_sem];
  uint32_t n = sem->updates, place = plan->stmt[edge->producer].place_in_block;
  sl_index block = block_of(p, edge->producer);
  if (block == plan->kernel->root)
    return sl_value_int(sem->start + place);

  sl_vreg into = p->as_published ? keep(p, engine, block, ROLE_THRESHOLD) : 0;
  struct sl_value mask = sl_value_int(1);
  if (has_mask(p, edge))
    mask = mask_of(p, engine, edge);
  const struct family *own = put_family(p, engine, block);
  struct sl_value value = sl_value_vreg(own->r);
  if (p->form[i] == FORM_DIRECT && edge->k > 0)
    value = step(code, into, SL_OP_REG_SUB, value, sl_value_int(edge->k));
  else if (p->form[i] == FORM_NESTED_BEFORE)
    value = step(code, into, SL_OP_REG_SUB, value, sl_value_vreg(own->h));
  value = step(code, into, SL_OP_REG_MUL, value, sl_value_int(n));
  uint32_t credit = sem->start + place; /* of which the form takes n */
  if (credit > n)
    value = step(code, into, SL_OP_REG_ADD, value, sl_value_int(credit - n));
  else
    value = step(code, into, SL_OP_REG_SUB, value, sl_value_int(n - credit));
  return has_mask(p, edge) ? step(code, into, SL_OP_REG_MUL, mask, value) : value;
}

/* The waits of one instruction: all thresholds first, so that what they have in common can be found. */
static void wait_at_once(struct closed_form *p, struct sl_regcode *code, sl_index consumer)
{
  const struct sl_plan *plan = p->plan;
  uint32_t from = plan->stmt[consumer].first_edge, count = plan->stmt[consumer].edge_count;
  struct sl_value *values = sl_heap_alloc(plan->heap, count * sizeof *values);
  for (uint32_t i = 0; i < count; i++)
    values[i] = threshold_of(p, from + i);
  for (uint32_t i = 0; i < count; i++)
    sl_regcode_wait(code, consumer, plan->stmt[plan->edges.data[from + i].producer].update_sem, values[i]);
  sl_heap_free(plan->heap, values);
}

static int compare_numbers(const void *x, const void *y)
{
  const uint64_t *a = x, *b = y;
  return (*a > *b) - (*a < *b);
}

/* As published: one wait after the other, each computed into the same registers; counters only grow, so what one has waited for
 * stays true. The farther back the sooner it is over: those come first, and the nearest is computed while nothing is lost. */
static void wait_in_turn(struct closed_form *p, struct sl_regcode *code, sl_index consumer)
{
  const struct sl_plan *plan = p->plan;
  uint32_t from = plan->stmt[consumer].first_edge, count = plan->stmt[consumer].edge_count;
  uint64_t *order = sl_heap_alloc(plan->heap, count * sizeof *order); /* distance descending, then the edge's number */
  for (uint32_t i = 0; i < count; i++)
    order[i] = sl_map_pair(UINT32_MAX - plan->edges.data[from + i].k, from + i);
  qsort(order, count, sizeof *order, compare_numbers);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t edge = (uint32_t)order[i];
    struct sl_value threshold = threshold_of(p, edge);
    sl_regcode_wait(code, consumer, plan->stmt[plan->edges.data[edge].producer].update_sem, threshold);
  }
  sl_heap_free(plan->heap, order);
}

static void do_run(void *strategy, sl_index first, sl_index end, sl_engines engines)
{
  struct closed_form *p = strategy;
  const struct sl_plan *plan = p->plan;
  (void)engines;
  p->run++;
  for (sl_index at = first; at != end; at = plan->kernel->stmts.data[at].next) {
    if (!plan->stmt[at].edge_count)
      continue;
    struct sl_regcode *code = &plan->code[sl_plan_issues(plan, at)];
    sl_regcode_anchor(code, SL_BEFORE_STMT, at);
    sl_regcode_release(code);
    if (p->as_published)
      wait_in_turn(p, code, at);
    else
      wait_at_once(p, code, at);
  }
}

/* An engine without instructions in a loop whose iterations it counts adds the trip count at once where it is at hand. */
static bool count_at_once(struct closed_form *p, sl_index loop, uint32_t c)
{
  const struct sl_plan *plan = p->plan;
  const struct family *family = &p->families.data[c];
  struct sl_value trips;
  if (family->h || plan->presence.has_barrier[family->block] || !sl_plan_trip_count(plan, loop, loop, &trips))
    return false;
  sl_regcode_op(&plan->code[family->engine], SL_OP_REG_ADD, family->r, sl_value_vreg(family->r), trips);
  return true;
}

static void zero_visit(struct closed_form *p, sl_index block)
{
  for (uint32_t c = block ? p->families_of_block[block] : 0; c; c = p->families.data[c].next)
    if (p->families.data[c].h)
      sl_regcode_set(&p->plan->code[p->families.data[c].engine], p->families.data[c].h, sl_value_int(0));
}

static sl_engines arrive(void *strategy, sl_index stmt, sl_engines engines)
{
  struct closed_form *p = strategy;
  const struct sl_plan *plan = p->plan;
  const struct sl_kernel *kernel = plan->kernel;
  if (kernel->stmts.data[stmt].kind == SL_STMT_IF) {
    const struct sl_branch *branch = sl_stmt_branch(kernel, stmt);
    zero_visit(p, branch->then_block);
    zero_visit(p, branch->else_block);
    return p->counting[branch->then_block] | p->counting[branch->else_block];
  }
  sl_index body = sl_stmt_loop(kernel, stmt)->body;
  zero_visit(p, body);
  sl_engines shells = p->counting_below[body];
  for (uint32_t c = p->families_of_block[body]; c; c = p->families.data[c].next) {
    sl_engines engine = (sl_engines)1 << p->families.data[c].engine;
    if ((engine & engines & ~plan->presence.inside[body] & ~shells) && !count_at_once(p, stmt, c))
      shells |= engine;
  }
  return shells;
}

static void end_block(void *strategy, sl_index block, sl_engines engines)
{
  (void)strategy;
  (void)block;
  (void)engines;
}

void sl_count_published_registers(uint64_t *count, const struct sl_allocation *allocation)
{
  struct sl_plan plan = sl_plan_of(allocation);
  struct closed_form p = { .plan = &plan };
  const struct sl_kernel *kernel = allocation->kernel;
  sl_plan_prepare(&plan, false);
  find_h(&p);
  *count = 0;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at))
    if (kernel->stmts.data[at].kind == SL_STMT_LOOP)
      *count += 3 + p.has_h[sl_stmt_loop(kernel, at)->body];
  sl_heap_child_free(plan.heap);
}

int sl_allocate_closed_form(const struct sl_allocation *allocation)
{
  static const struct sl_walk_rules rules = { start_block, do_run, arrive, end_block };
  assert(allocation->sharing != SL_SHARE_STREAM && "the published sum per engine is wrong: shadow counters do it");
  struct sl_plan plan = sl_plan_of(allocation);
  struct closed_form p = { .plan = &plan, .as_published = allocation->cleanups == SLUICE_CLEANUP_NONE };
  plan.waits_in_turn = p.as_published;
  plan.register_name = register_name;
  plan.state = &p;
  sl_plan_prepare(&plan, false);
  sl_plan_share(&plan, allocation->sharing, false);
  (void)sl_vec_push(plan.heap, &p.families);
  int status = collect(&p);
  if (p.as_published)
    follow_publication(&p);
  if (status == SLUICE_OK)
    status = sl_plan_check_divergence(&plan);
  if (status == SLUICE_OK) {
    make_lists(&p);
    status = sl_plan_walk(&plan, &rules, &p);
  }
  if (status == SLUICE_OK)
    sl_plan_write(&plan);
  sl_heap_child_free(plan.heap);
  return status;
}
