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
 *   mask = (h_S > k); left out where k = 0, and h_S with it where no wait needs it (trip-register elision). Without clean-ups it
 *   is as published: every loop is counted, and where S carries a distance above 0 its waits at k = 0 have a mask too.
 *
 * Distances across visits have the same forms without the mask, where it is the loop's first k iterations that go below zero.
 *
 * A branch arm is a loop of 0 or 1 trips. 32-bit unsigned: where a form may go below zero and hang, its semaphore starts with
 * a credit that is added to every threshold: N where the count may still be 0 and K < N, N * k - K across visits.
 *
 * Everything else is refused with the name of the edge. Exact where it applies. Linear in the tree times engines.
 */
#include <assert.h>

#include "sync/passes.h"
#include "sync/plan.h"

enum form { FORM_NONE, FORM_DIRECT, FORM_NESTED, FORM_NESTED_BEFORE };

/* What one engine counts of one block. */
struct counter {
  uint32_t engine;
  sl_index block;
  sl_vreg r, h; /* 0 = not kept */
  uint32_t next; /* of the same block */
};

/* The published setting: a no-wait mask, computed once per iteration of its loop for every distance in use. */
struct mask {
  uint32_t engine, k;
  sl_index block;
  sl_vreg vreg;
  uint32_t next; /* of the same block */
};

struct closed_form {
  struct sl_plan *plan;
  uint8_t *form; /* by edge */
  sl_vec(struct counter) counters; /* (from 1) */
  sl_map counter_of;               /* (engine, block) */
  uint32_t *counters_of_block;
  bool *has_masks; /* by block, in the published setting: its waits at distance 0 have masks too; else NULL */
  sl_vec(struct mask) masks; /* (from 1) */
  uint32_t *masks_of_block;
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

static struct counter *put_counter(struct closed_form *p, uint32_t engine, sl_index block)
{
  bool is_new;
  uint32_t *at = sl_map_put(&p->counter_of, p->plan->heap, sl_map_pair(engine, block), &is_new);
  if (is_new) {
    *at = p->counters.len;
    struct counter *counter = sl_vec_push(p->plan->heap, &p->counters);
    counter->engine = engine;
    counter->block = block;
  }
  return &p->counters.data[*at];
}

enum role { ROLE_ALL = 1, ROLE_VISIT, ROLE_MASK };

static sl_name register_name(void *state, const struct sl_regcode *code, struct sl_vreg_role role)
{
  const struct sl_plan *plan = ((struct closed_form *)state)->plan;
  char buffer[48];
  (void)code;
  const char *block = sl_plan_block_name(plan, role.index, buffer);
  if (role.kind == ROLE_MASK)
    return sl_internf(plan->program, "m_%s_%u", block, role.number);
  return sl_internf(plan->program, "%s_%s", role.kind == ROLE_ALL ? "r" : "h", block[0] ? block : "root");
}

static void need_r(struct closed_form *p, uint32_t engine, sl_index block)
{
  struct counter *counter = put_counter(p, engine, block);
  if (!counter->r)
    counter->r = sl_regcode_vreg(&p->plan->code[engine], (struct sl_vreg_role){ ROLE_ALL, block, 0 });
}

static void need_h(struct closed_form *p, uint32_t engine, sl_index block)
{
  struct counter *counter = put_counter(p, engine, block);
  if (!counter->h)
    counter->h = sl_regcode_vreg(&p->plan->code[engine], (struct sl_vreg_role){ ROLE_VISIT, block, 0 });
}

static struct mask *put_mask(struct closed_form *p, uint32_t engine, sl_index block, uint32_t k)
{
  for (uint32_t m = p->masks_of_block[block]; m; m = p->masks.data[m].next) /* few: engines times distances */
    if (p->masks.data[m].engine == engine && p->masks.data[m].k == k)
      return &p->masks.data[m];
  sl_vreg vreg = sl_regcode_vreg(&p->plan->code[engine], (struct sl_vreg_role){ ROLE_MASK, block, k });
  sl_vec_add(p->plan->heap, &p->masks, ((struct mask){ engine, k, block, vreg, p->masks_of_block[block] }));
  p->masks_of_block[block] = p->masks.len - 1;
  return &p->masks.data[p->masks.len - 1];
}

/* As published: a wait has a no-wait mask, also at distance 0, when its loop carries some distance above 0; and every engine
 * counts every loop it walks, whether or not a wait reads the counter. Clean-ups make both pointless: a mask gt(h, 0) is 1
 * inside the loop. */
static void follow_publication(struct closed_form *p)
{
  const struct sl_plan *plan = p->plan;
  const struct sl_kernel *kernel = plan->kernel;
  p->has_masks = sl_heap_calloc(plan->heap, kernel->blocks.len, sizeof *p->has_masks);
  p->masks_of_block = sl_heap_calloc(plan->heap, kernel->blocks.len, sizeof *p->masks_of_block);
  (void)sl_vec_push(plan->heap, &p->masks);
  for (uint32_t i = 0; i < plan->edges.len; i++)
    p->has_masks[plan->edges.data[i].block] |= plan->edges.data[i].k > 0 && !plan->edges.data[i].across;
  for (uint32_t i = 0; i < plan->edges.len; i++)
    if (p->has_masks[plan->edges.data[i].block] && !plan->edges.data[i].across)
      (void)put_mask(p, sl_plan_issues(plan, plan->edges.data[i].consumer), plan->edges.data[i].block,
                     plan->edges.data[i].k);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind != SL_STMT_LOOP)
      continue;
    sl_index body = sl_stmt_loop(kernel, at)->body;
    for (sl_engines rest = plan->presence.inside[body]; rest; rest &= rest - 1) {
      need_r(p, sl_first_engine(rest), body);
      if (p->has_masks[body])
        need_h(p, sl_first_engine(rest), body);
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
    need_r(p, engine, block_of(p, edge->producer));
    if (edge->k > 0 && !edge->across)
      need_h(p, engine, edge->block);
    if (p->form[i] == FORM_NESTED_BEFORE)
      need_h(p, engine, block_of(p, edge->producer));
    raise_start(sem, p->form[i], edge, plan->stmt[edge->producer].place_in_block);
  }
  return failed ? SLUICE_E_ANSWER : SLUICE_OK;
}

static void make_lists(struct closed_form *p)
{
  const struct sl_plan *plan = p->plan;
  uint32_t blocks = plan->kernel->blocks.len;
  p->counters_of_block = sl_heap_calloc(plan->heap, blocks, sizeof *p->counters_of_block);
  p->counting = sl_heap_calloc(plan->heap, blocks, sizeof *p->counting);
  p->counting_below = sl_heap_calloc(plan->heap, blocks, sizeof *p->counting_below);
  for (uint32_t c = p->counters.len; c-- > 1;) {
    struct counter *counter = &p->counters.data[c];
    sl_engines engine = (sl_engines)1 << counter->engine;
    counter->next = p->counters_of_block[counter->block];
    p->counters_of_block[counter->block] = c;
    p->counting[counter->block] |= engine;
    for (sl_index b = sl_block_parent(plan->kernel, counter->block); b && !(p->counting_below[b] & engine);
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
    for (uint32_t c = 1; c < p->counters.len; c++)
      if (p->counters.data[c].r)
        sl_regcode_set(&p->plan->code[p->counters.data[c].engine], p->counters.data[c].r, sl_value_int(0));
  for (uint32_t c = p->counters_of_block[block]; c; c = p->counters.data[c].next) {
    const struct counter *counter = &p->counters.data[c];
    if (!(engines >> counter->engine & 1))
      continue;
    increment(&p->plan->code[counter->engine], counter->r);
    increment(&p->plan->code[counter->engine], counter->h);
  }
  for (uint32_t m = p->has_masks ? p->masks_of_block[block] : 0; m; m = p->masks.data[m].next) {
    const struct mask *mask = &p->masks.data[m];
    sl_regcode_op(&p->plan->code[mask->engine], SL_OP_REG_GT, mask->vreg,
                  sl_value_vreg(put_counter(p, mask->engine, block)->h), sl_value_int(mask->k));
  }
}

/* The threshold of edge `i`, computed into a temporary where it is not a register or a number already. */
static struct sl_value threshold_of(struct closed_form *p, uint32_t i)
{
  const struct sl_plan *plan = p->plan;
  const struct sl_edge *edge = &plan->edges.data[i];
  uint32_t engine = sl_plan_issues(plan, edge->consumer);
  struct sl_regcode *code = &plan->code[engine];
  const struct counter *own = put_counter(p, engine, block_of(p, edge->producer));
  const struct sl_plan_sem *sem = &plan->sems.data[plan->stmt[edge->producer].update_sem];
  uint32_t n = sem->updates, place = plan->stmt[edge->producer].place_in_block;

  struct sl_value mask = sl_value_int(1);
  if (edge->across)
    mask = sl_value_int(1);
  else if (p->has_masks && p->has_masks[edge->block])
    mask = sl_value_vreg(put_mask(p, engine, edge->block, edge->k)->vreg);
  else if (edge->k > 0)
    mask = sl_regcode_value(code, SL_OP_REG_GT, sl_value_vreg(put_counter(p, engine, edge->block)->h),
                            sl_value_int(edge->k));
  struct sl_value value = sl_value_vreg(own->r);
  if (p->form[i] == FORM_DIRECT)
    value = sl_regcode_value(code, SL_OP_REG_SUB, value, sl_value_int(edge->k));
  else if (p->form[i] == FORM_NESTED_BEFORE)
    value = sl_regcode_value(code, SL_OP_REG_SUB, value, sl_value_vreg(own->h));
  value = sl_regcode_value(code, SL_OP_REG_MUL, value, sl_value_int(n));
  uint32_t credit = sem->start + place; /* of which the form takes n */
  if (credit >= n)
    value = sl_regcode_value(code, SL_OP_REG_ADD, value, sl_value_int(credit - n));
  else
    value = sl_regcode_value(code, SL_OP_REG_SUB, value, sl_value_int(n - credit));
  return sl_regcode_value(code, SL_OP_REG_MUL, mask, value);
}

static void do_run(void *strategy, sl_index first, sl_index end, sl_engines engines)
{
  struct closed_form *p = strategy;
  const struct sl_plan *plan = p->plan;
  (void)engines;
  for (sl_index at = first; at != end; at = plan->kernel->stmts.data[at].next) {
    uint32_t from = plan->stmt[at].first_edge, count = plan->stmt[at].edge_count;
    if (!count)
      continue;
    struct sl_regcode *code = &plan->code[sl_plan_issues(plan, at)];
    sl_regcode_anchor(code, SL_BEFORE_STMT, at);
    sl_regcode_release(code);
    sl_heap *heap = plan->heap;
    struct sl_value *values = sl_heap_alloc(heap, count * sizeof *values);
    for (uint32_t i = 0; i < count; i++)
      values[i] = threshold_of(p, from + i);
    for (uint32_t i = 0; i < count; i++)
      sl_regcode_wait(code, at, plan->stmt[plan->edges.data[from + i].producer].update_sem, values[i]);
    sl_heap_free(heap, values);
  }
}

/* An engine without instructions in a loop whose iterations it counts adds the trip count at once where it is at hand. */
static bool count_at_once(struct closed_form *p, sl_index loop, uint32_t c)
{
  const struct sl_plan *plan = p->plan;
  const struct counter *counter = &p->counters.data[c];
  struct sl_value trips;
  if (counter->h || plan->presence.has_barrier[counter->block] || !sl_plan_trip_count(plan, loop, loop, &trips))
    return false;
  sl_regcode_op(&plan->code[counter->engine], SL_OP_REG_ADD, counter->r, sl_value_vreg(counter->r), trips);
  return true;
}

static void zero_visit(struct closed_form *p, sl_index block)
{
  for (uint32_t c = block ? p->counters_of_block[block] : 0; c; c = p->counters.data[c].next)
    if (p->counters.data[c].h)
      sl_regcode_set(&p->plan->code[p->counters.data[c].engine], p->counters.data[c].h, sl_value_int(0));
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
  for (uint32_t c = p->counters_of_block[body]; c; c = p->counters.data[c].next) {
    sl_engines engine = (sl_engines)1 << p->counters.data[c].engine;
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

int sl_allocate_closed_form(const struct sl_allocation *allocation)
{
  static const struct sl_walk_rules rules = { start_block, do_run, arrive, end_block };
  assert(allocation->sharing != SL_SHARE_STREAM && "the published sum per engine is wrong: shadow counters do it");
  struct sl_plan plan = sl_plan_of(allocation);
  struct closed_form p = { .plan = &plan };
  plan.register_name = register_name;
  plan.state = &p;
  sl_plan_prepare(&plan, false);
  sl_plan_share(&plan, allocation->sharing, false);
  (void)sl_vec_push(plan.heap, &p.counters);
  int status = collect(&p);
  if (plan.cleanups == SLUICE_CLEANUP_NONE)
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
