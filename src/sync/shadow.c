/* shadow.c: the strategy of shadow counters and delay lines.
 *
 * Each engine e keeps, for every semaphore s it waits on, the value s will have once its producing stream has retired
 * everything before this point of the walk (the shadow counter sg), and for every producer p it waits on the value at
 * p's latest instance (sn). A loop A that carries a distance k >= 1 has a delay line dl_1..dl_k: shifted at the tail of
 * each iteration, zeroed on arrival. Thresholds: sn for distance 0, dl_k for k. Zeros make "no instance yet" pass.
 * Distances across visits have delay lines of their own, which are zeroed once, at the start.
 *
 * Requires a prepared plan. Exact for every carrying loop and distance, nesting, branches and zero trips, with unsigned
 * arithmetic. The order of the operations matters and is kept as follows:
 *   - at the start of every run, before the engine's first instruction in it: every sn of the run from the old sg, then
 *     every sg of the run; then the instructions with their waits;
 *   - before each arrival at a loop: its delay lines become 0;
 *   - at the tail of a loop's body: delay lines shift from the far end, then dl_1 := sn.
 * An engine without an instruction in a loop that updates one of its semaphores still counts it: at once by a
 * multiply-add where the trip count is at hand, else in a shell of the loop.
 *
 * A vector (a at A, b at B, B directly in A, p directly in B, whose body holds N updates of s, p the K-th) has the
 * threshold
 *   min( at_a + N * (h_B - b) - (N - K), dl_a of (p, A) ), times gt(h_B, b) when b > 0
 * h_B counts the iterations of the current visit, from 1, and at_0, at_1, ... are what sg was on this and the earlier
 * arrivals at B: shifted on arrival, also when B then runs 0 times. The delay line clamps it where that visit was
 * shorter, and its zeros let the first a iterations of A pass. Nothing falls below 0: where the mask is 1, h_B - b is
 * at least 1. What does not have this form is cut at A, which waits longer, and reported.
 *
 * shadow_plan.c has cheaper forms of the same values, and chooses.
 *
 * Cost: linear in the tree times the engines that walk it, plus edges.
 */
#include "sync/shadow.h"

#include <assert.h>

#include "base/prefetch.h"

static struct sl_regcode *code_of(struct sl_shadow *s, uint32_t use)
{
  return &s->plan->code[s->uses.data[use].engine];
}

/* ---- the rules of the walk ---- */

static void zero_line(struct sl_regcode *code, const struct sl_shadow_line *line)
{
  for (uint32_t j = 0; j < line->length; j++)
    sl_regcode_set(code, line->first + j, sl_value_int(0));
}

static void shift_line(struct sl_regcode *code, const struct sl_shadow_line *line, sl_vreg newest)
{
  for (uint32_t j = line->length; j >= 2; j--)
    sl_regcode_set(code, line->first + j - 1, sl_value_vreg(line->first + j - 2));
  if (line->length)
    sl_regcode_set(code, line->first, sl_value_vreg(newest));
}

/* Kernel start: sg at the semaphore's start value, sn at 0; groups at their first value. Delay lines across visits are
 * zeroed here alone, and what no vector reads before it is set has to have a value. */
static void set_start_values(struct sl_shadow *s)
{
  const struct sl_plan *plan = s->plan;
  for (uint32_t u = 1; u < s->uses.len; u++)
    if (s->uses.data[u].is_general)
      sl_regcode_set(code_of(s, u), s->uses.data[u].sg, sl_value_int(plan->sems.data[s->uses.data[u].sem].start));
  for (uint32_t a = 1; a < s->awaited.len; a++) {
    const struct sl_shadow_awaited *awaited = &s->awaited.data[a];
    const struct sl_shadow_use *use = &s->uses.data[awaited->use];
    if (use->is_general && awaited->sn != use->sg)
      sl_regcode_set(code_of(s, awaited->use), awaited->sn, sl_value_int(0));
  }
  for (uint32_t g = 1; g < s->groups.len; g++) {
    const struct sl_shadow_group *group = &s->groups.data[g];
    if (group->now)
      sl_regcode_set(&plan->code[group->engine], group->now, sl_value_int(group->first));
  }
  for (uint32_t d = 1; d < s->delays.len; d++)
    if (s->delays.data[d].across)
      zero_line(code_of(s, s->awaited.data[s->delays.data[d].awaited].use), &s->delays.data[d].line);
  for (uint32_t a = 1; a < s->arrivals.len; a++)
    zero_line(code_of(s, s->arrivals.data[a].use), &s->arrivals.data[a].line);
}

static void start_block(void *strategy, sl_index block, sl_engines engines)
{
  struct sl_shadow *s = strategy;
  (void)engines; /* whoever counts trips has a consumer in the block */
  if (block == s->plan->kernel->root)
    set_start_values(s);
  for (uint32_t t = s->trips_of_block[block]; t; t = s->trips.data[t].next)
    sl_regcode_op(&s->plan->code[s->trips.data[t].engine], SL_OP_REG_ADD, s->trips.data[t].count,
                  sl_value_vreg(s->trips.data[t].count), sl_value_int(1));
}

static void count_run(struct sl_shadow *s, sl_index first, sl_index end)
{
  const struct sl_plan *plan = s->plan;
  for (sl_index at = first; at != end; at = plan->kernel->stmts.data[at].next) {
    uint32_t sem = plan->stmt[at].update_sem;
    if (sem && s->in_run[sem]++ == 0)
      sl_vec_add(plan->heap, &s->touched, sem);
  }
}

/* The producers' values, from the counters as they stand before the run. */
static void set_producers(struct sl_shadow *s, sl_index first, sl_index end, sl_engines engines)
{
  const struct sl_plan *plan = s->plan;
  for (sl_index at = first; at != end; at = plan->kernel->stmts.data[at].next)
    for (uint32_t a = s->awaited_of_stmt[at]; a; a = s->awaited.data[a].next_of_stmt) {
      const struct sl_shadow_awaited *awaited = &s->awaited.data[a];
      const struct sl_shadow_use *use = &s->uses.data[awaited->use];
      if (use->is_general && awaited->sn != use->sg && (engines >> use->engine & 1))
        sl_regcode_op(code_of(s, awaited->use), SL_OP_REG_ADD, awaited->sn, sl_value_vreg(use->sg),
                      sl_value_int(plan->stmt[at].place_in_run));
    }
}

static void bump_counters(struct sl_shadow *s, sl_engines engines)
{
  for (uint32_t i = 0; i < s->touched.len; i++) {
    uint32_t sem = s->touched.data[i];
    for (uint32_t u = s->uses_of_sem[sem]; u; u = s->uses.data[u].next) {
      const struct sl_shadow_use *use = &s->uses.data[u];
      if (use->is_general && (engines >> use->engine & 1))
        sl_regcode_op(code_of(s, u), SL_OP_REG_ADD, use->sg, sl_value_vreg(use->sg), sl_value_int(s->in_run[sem]));
    }
    s->in_run[sem] = 0;
  }
  s->touched.len = 0;
}

/* The threshold of a vector, which the delay line's value clamps; see the head of the file. */
static struct sl_value vector_threshold(struct sl_shadow *s, const struct sl_edge *edge, struct sl_value clamp)
{
  const struct sl_plan_stmt *producer = &s->plan->stmt[edge->producer];
  uint32_t engine = sl_plan_issues(s->plan, edge->consumer);
  uint32_t u = *sl_map_get(&s->use_of, sl_map_pair(engine, producer->update_sem));
  struct sl_regcode *code = code_of(s, u);
  uint32_t n = sl_shadow_updates_in_block(s, edge->inner_block, producer->update_sem);
  uint32_t t = *sl_map_get(&s->trips_of, sl_map_pair(engine, edge->inner_block));
  uint32_t a = *sl_map_get(&s->arrivals_of, sl_map_pair(u, edge->inner_block));
  struct sl_value trips = sl_value_vreg(s->trips.data[t].count);
  struct sl_value arrival = sl_value_vreg(s->arrivals.data[a].line.first + edge->k), value;
  bool is_behind = edge->inner_k > 0;
  if (is_behind)
    value = sl_regcode_value(code, SL_OP_REG_SUB, trips, sl_value_int((uint32_t)edge->inner_k));
  else
    value = sl_regcode_value(code, SL_OP_REG_ADD, trips, sl_value_int(0u - (uint32_t)edge->inner_k));
  value = sl_regcode_value(code, SL_OP_REG_MUL, value, sl_value_int(n));
  value = sl_regcode_value(code, SL_OP_REG_ADD, value, arrival);
  value = sl_regcode_value(code, SL_OP_REG_SUB, value, sl_value_int(n - producer->place_in_block));
  value = sl_regcode_value(code, SL_OP_REG_MIN, value, clamp);
  if (!is_behind)
    return value;
  struct sl_value mask = sl_regcode_value(code, SL_OP_REG_GT, trips, sl_value_int((uint32_t)edge->inner_k));
  return sl_regcode_value(code, SL_OP_REG_MUL, mask, value);
}

/* The threshold of edge `i`; as one of a group it may take an addition. */
static struct sl_value threshold_of(struct sl_shadow *s, uint32_t i)
{
  const struct sl_kernel *kernel = s->plan->kernel;
  const struct sl_edge *edge = &s->plan->edges.data[i];
  const struct sl_shadow_wait *wait = &s->waits[i];
  struct sl_value value = sl_value_vreg(wait->vreg);
  switch ((enum sl_wait_form)wait->form) {
  case SL_CONSTANT: return sl_value_int(wait->number);
  case SL_NOW:
    if (!wait->vreg)
      value = (struct sl_value){ SL_VALUE_NAME, sl_stmt_loop(kernel, kernel->blocks.data[edge->block].owner)->var };
    break;
  case SL_VECTOR: return vector_threshold(s, edge, value);
  case SL_PAST:
  case SL_LATEST:
  case SL_DELAYED: break;
  }
  struct sl_regcode *code = &s->plan->code[sl_plan_issues(s->plan, edge->consumer)];
  return sl_regcode_value(code, SL_OP_REG_ADD, value, sl_value_int(wait->number));
}

static void add_waits(struct sl_shadow *s, sl_index consumer)
{
  const struct sl_plan *plan = s->plan;
  uint32_t first = plan->stmt[consumer].first_edge, count = plan->stmt[consumer].edge_count;
  if (count == 0)
    return;
  struct sl_regcode *code = &plan->code[sl_plan_issues(plan, consumer)];
  sl_regcode_anchor(code, SL_BEFORE_STMT, consumer);
  sl_regcode_release(code);
  s->values.len = 0;
  for (uint32_t i = first; i < first + count; i++) {
    if (i + SL_PREFETCH_AHEAD < plan->edges.len)
      sl_prefetch(&plan->stmt[plan->edges.data[i + SL_PREFETCH_AHEAD].producer]);
    sl_vec_add(plan->heap, &s->values, threshold_of(s, i));
  }
  for (uint32_t i = 0; i < count; i++)
    sl_regcode_wait(code, consumer, plan->stmt[plan->edges.data[first + i].producer].update_sem, s->values.data[i]);
}

static void do_run(void *strategy, sl_index first, sl_index end, sl_engines engines)
{
  struct sl_shadow *s = strategy;
  count_run(s, first, end);
  set_producers(s, first, end, engines);
  bump_counters(s, engines);
  for (sl_index at = first; at != end; at = s->plan->kernel->stmts.data[at].next)
    add_waits(s, at);
}

static void end_block(void *strategy, sl_index block, sl_engines engines)
{
  struct sl_shadow *s = strategy;
  for (uint32_t d = s->delays_of_block[block]; d; d = s->delays.data[d].next) {
    const struct sl_shadow_delay *delay = &s->delays.data[d];
    const struct sl_shadow_awaited *awaited = &s->awaited.data[delay->awaited];
    shift_line(code_of(s, awaited->use), &delay->line, awaited->sn);
  }
  for (uint32_t g = s->groups_of_block[block]; g; g = s->groups.data[g].next) {
    const struct sl_shadow_group *group = &s->groups.data[g];
    struct sl_regcode *code = &s->plan->code[group->engine];
    if (!group->now || !(engines >> group->engine & 1))
      continue; /* the loop counts, or it was counted at once */
    shift_line(code, &group->past, group->now);
    sl_regcode_op(code, SL_OP_REG_ADD, group->now, sl_value_vreg(group->now), sl_value_int(group->step));
  }
}

/* ---- loops that an engine counts without walking them ---- */

/* Whether the updates of `sem` inside `block` can be counted by multiplication: no branch that holds some, and every
 * inner loop that holds some has a trip count known at arrival at `outer`. */
static bool is_countable(const struct sl_shadow *s, sl_index block, uint32_t sem, sl_index outer)
{
  const struct sl_plan *plan = s->plan;
  const struct sl_kernel *kernel = plan->kernel;
  for (sl_index at = kernel->blocks.data[block].first; at; at = kernel->stmts.data[at].next) {
    struct sl_value trips;
    if (kernel->stmts.data[at].kind == SL_STMT_IF) {
      const struct sl_branch *branch = sl_stmt_branch(kernel, at);
      if (sl_plan_updates_inside(plan, branch->then_block, sem) ||
          (branch->else_block && sl_plan_updates_inside(plan, branch->else_block, sem)))
        return false;
    } else if (kernel->stmts.data[at].kind == SL_STMT_LOOP) {
      sl_index body = sl_stmt_loop(kernel, at)->body;
      if (sl_plan_updates_inside(plan, body, sem) &&
          (!sl_plan_trip_count(plan, at, outer, &trips) || !is_countable(s, body, sem, outer)))
        return false;
    }
  }
  return true;
}

/* The same of updates that stand in one block: whether the loops from it out to `loop` all have known trip counts. */
static bool is_countable_up(const struct sl_shadow *s, sl_index block, sl_index loop)
{
  const struct sl_kernel *kernel = s->plan->kernel;
  for (;; block = sl_block_parent(kernel, block)) {
    sl_index owner = kernel->blocks.data[block].owner;
    struct sl_value trips;
    if (kernel->stmts.data[owner].kind != SL_STMT_LOOP || !sl_plan_trip_count(s->plan, owner, loop, &trips))
      return false;
    if (owner == loop)
      return true;
  }
}

static bool can_count(const struct sl_shadow *s, uint32_t sem, sl_index loop)
{
  sl_index only_block = s->plan->sems.data[sem].only_block;
  return only_block ? is_countable_up(s, only_block, loop)
                    : is_countable(s, sl_stmt_loop(s->plan->kernel, loop)->body, sem, loop);
}

/* Updates of `sem` per iteration of `block` that stand behind statement `behind` (0: all of them), as a value. The
 * constants among them fold away later. */
static struct sl_value emit_updates(struct sl_shadow *s, struct sl_regcode *code, sl_index block, uint32_t sem,
                                    sl_index outer, sl_index behind)
{
  const struct sl_plan *plan = s->plan;
  const struct sl_kernel *kernel = plan->kernel;
  struct sl_value sum = sl_value_int(0);
  uint32_t direct = 0;
  sl_index at = behind ? kernel->stmts.data[behind].next : kernel->blocks.data[block].first;
  for (; at; at = kernel->stmts.data[at].next) {
    if (kernel->stmts.data[at].kind == SL_STMT_OP) {
      direct += plan->stmt[at].update_sem == sem;
    } else if (kernel->stmts.data[at].kind == SL_STMT_LOOP &&
               sl_plan_updates_inside(plan, sl_stmt_loop(kernel, at)->body, sem)) {
      struct sl_value trips;
      bool known = sl_plan_trip_count(plan, at, outer, &trips);
      assert(known && "can_count answered yes");
      (void)known;
      struct sl_value each = emit_updates(s, code, sl_stmt_loop(kernel, at)->body, sem, outer, SL_NONE);
      sum = sl_regcode_value(code, SL_OP_REG_ADD, sum, sl_regcode_value(code, SL_OP_REG_MUL, trips, each));
    }
  }
  return direct ? sl_regcode_value(code, SL_OP_REG_ADD, sum, sl_value_int(direct)) : sum;
}

/* How often a block runs in `loop`. */
static struct sl_value emit_runs(struct sl_shadow *s, struct sl_regcode *code, sl_index block, sl_index loop)
{
  const struct sl_kernel *kernel = s->plan->kernel;
  struct sl_value all = sl_value_int(1);
  for (;; block = sl_block_parent(kernel, block)) {
    sl_index owner = kernel->blocks.data[block].owner;
    struct sl_value trips;
    bool known = sl_plan_trip_count(s->plan, owner, loop, &trips);
    assert(known && "can_count answered yes");
    (void)known;
    all = sl_regcode_value(code, SL_OP_REG_MUL, trips, all);
    if (owner == loop)
      return all;
  }
}

/* Updates of `sem` in one visit of `loop`. */
static struct sl_value emit_total(struct sl_shadow *s, struct sl_regcode *code, uint32_t sem, sl_index loop)
{
  const struct sl_plan *plan = s->plan;
  const struct sl_plan_sem *planned = &plan->sems.data[sem];
  struct sl_value trips, each;
  if (planned->only_block) {
    trips = emit_runs(s, code, planned->only_block, loop);
    each = sl_value_int(planned->updates);
  } else {
    bool known = sl_plan_trip_count(plan, loop, loop, &trips);
    assert(known && "can_count answered yes");
    (void)known;
    each = emit_updates(s, code, sl_stmt_loop(plan->kernel, loop)->body, sem, loop, SL_NONE);
  }
  return sl_regcode_value(code, SL_OP_REG_MUL, trips, each);
}

/* 1 when every loop from `loop` down to the producer's block runs at least once, else 0. */
static struct sl_value emit_runs_at_all(struct sl_shadow *s, struct sl_regcode *code, sl_index loop, sl_index producer)
{
  const struct sl_kernel *kernel = s->plan->kernel;
  struct sl_value all = sl_value_int(1);
  for (sl_index block = sl_shadow_block_of(s, producer);; block = sl_block_parent(kernel, block)) {
    sl_index owner = kernel->blocks.data[block].owner;
    struct sl_value trips;
    bool known = sl_plan_trip_count(s->plan, owner, loop, &trips);
    assert(known && "can_count answered yes");
    (void)known;
    all = sl_regcode_value(code, SL_OP_REG_MUL, all, sl_regcode_value(code, SL_OP_REG_GT, trips, sl_value_int(0)));
    if (owner == loop)
      return all;
  }
}

/* sn := value at p's last instance inside the loop, if there is one: sg + T*U - (updates behind that instance). */
static void count_producer(struct sl_shadow *s, uint32_t a, sl_index loop, struct sl_value total)
{
  const struct sl_plan *plan = s->plan;
  const struct sl_shadow_awaited *awaited = &s->awaited.data[a];
  const struct sl_shadow_use *use = &s->uses.data[awaited->use];
  struct sl_regcode *code = code_of(s, awaited->use);
  struct sl_value sg = sl_value_vreg(use->sg), sn = sl_value_vreg(awaited->sn), offset = total;
  if (plan->sems.data[use->sem].only_block) {
    uint32_t behind = plan->sems.data[use->sem].updates - plan->stmt[awaited->producer].place_in_block;
    offset = sl_regcode_value(code, SL_OP_REG_SUB, offset, sl_value_int(behind));
  }
  for (sl_index at = awaited->producer; at != loop && !plan->sems.data[use->sem].only_block;
       at = plan->kernel->blocks.data[sl_shadow_block_of(s, at)].owner) {
    struct sl_value behind = emit_updates(s, code, sl_shadow_block_of(s, at), use->sem, loop, at);
    offset = sl_regcode_value(code, SL_OP_REG_SUB, offset, behind);
  }
  struct sl_value runs = emit_runs_at_all(s, code, loop, awaited->producer);
  if (runs.kind == SL_VALUE_INT && runs.value == 1) {
    sl_regcode_op(code, SL_OP_REG_ADD, awaited->sn, sg, offset);
    return;
  }
  struct sl_value change = sl_regcode_value(code, SL_OP_REG_ADD, sg, offset);
  change = sl_regcode_value(code, SL_OP_REG_SUB, change, sn);
  change = sl_regcode_value(code, SL_OP_REG_MUL, change, runs);
  sl_regcode_op(code, SL_OP_REG_ADD, awaited->sn, sn, change);
}

static void count_group(struct sl_shadow *s, sl_index loop, struct sl_shadow_group *group)
{
  if (group->counted == loop || !group->now)
    return;
  struct sl_regcode *code = &s->plan->code[group->engine];
  sl_regcode_release(code);
  group->counted = loop;
  sl_regcode_op(code, SL_OP_REG_ADD, group->now, sl_value_vreg(group->now), emit_total(s, code, group->sem, loop));
}

static void count_loop(struct sl_shadow *s, sl_index loop, uint32_t u)
{
  const struct sl_plan *plan = s->plan;
  const struct sl_shadow_use *use = &s->uses.data[u];
  struct sl_regcode *code = code_of(s, u);
  sl_regcode_release(code);
  sl_index body = sl_stmt_loop(plan->kernel, loop)->body;
  struct sl_value total = emit_total(s, code, use->sem, loop);
  for (uint32_t a = use->awaited; a; a = s->awaited.data[a].next_of_use)
    if (s->awaited.data[a].sn != use->sg &&
        sl_block_contains(plan->kernel, body, sl_shadow_block_of(s, s->awaited.data[a].producer)))
      count_producer(s, a, loop, total);
  sl_regcode_op(code, SL_OP_REG_ADD, use->sg, sl_value_vreg(use->sg), total);
}

/* An engine without an instruction in the loop, for which some of its semaphores are updated inside: true when it
 * counted them at once, false when it has to walk the loop. */
static bool count_at_once(struct sl_shadow *s, sl_index loop, uint32_t engine)
{
  const struct sl_plan *plan = s->plan;
  sl_index body = sl_stmt_loop(plan->kernel, loop)->body;
  struct sl_value trips;
  if (!sl_plan_trip_count(plan, loop, loop, &trips))
    return false;
  for (uint32_t n = plan->sems_inside[body]; n; n = plan->nodes.data[n].next) {
    uint32_t sem = plan->nodes.data[n].sem;
    if (sl_map_get(&s->use_of, sl_map_pair(engine, sem)) && !can_count(s, sem, loop))
      return false;
  }
  for (uint32_t n = plan->sems_inside[body]; n; n = plan->nodes.data[n].next) {
    const uint32_t *u = sl_map_get(&s->use_of, sl_map_pair(engine, plan->nodes.data[n].sem));
    if (u && s->uses.data[*u].is_grouped)
      count_group(s, loop, &s->groups.data[s->uses.data[*u].group]);
    if (u && s->uses.data[*u].is_general)
      count_loop(s, loop, *u);
  }
  return true;
}

static sl_engines waiters_on_updates_in(const struct sl_shadow *s, sl_index block)
{
  sl_engines engines = 0;
  const struct sl_plan *plan = s->plan;
  for (uint32_t n = block ? plan->sems_inside[block] : 0; n; n = plan->nodes.data[n].next)
    for (uint32_t u = s->uses_of_sem[plan->nodes.data[n].sem]; u; u = s->uses.data[u].next)
      engines |= (sl_engines)1 << s->uses.data[u].engine;
  return engines;
}

static sl_engines arrive(void *strategy, sl_index stmt, sl_engines engines)
{
  struct sl_shadow *s = strategy;
  const struct sl_kernel *kernel = s->plan->kernel;
  if (kernel->stmts.data[stmt].kind == SL_STMT_IF) {
    const struct sl_branch *branch = sl_stmt_branch(kernel, stmt);
    return waiters_on_updates_in(s, branch->then_block) | waiters_on_updates_in(s, branch->else_block);
  }
  sl_index body = sl_stmt_loop(kernel, stmt)->body;
  for (uint32_t d = s->delays_of_block[body]; d; d = s->delays.data[d].next)
    if (!s->delays.data[d].across)
      zero_line(code_of(s, s->awaited.data[s->delays.data[d].awaited].use), &s->delays.data[d].line);
  for (uint32_t g = s->groups_of_block[body]; g; g = s->groups.data[g].next)
    zero_line(&s->plan->code[s->groups.data[g].engine], &s->groups.data[g].past);
  for (uint32_t a = s->arrivals_of_block[body]; a; a = s->arrivals.data[a].next)
    shift_line(code_of(s, s->arrivals.data[a].use), &s->arrivals.data[a].line,
               s->uses.data[s->arrivals.data[a].use].sg);
  for (uint32_t t = s->trips_of_block[body]; t; t = s->trips.data[t].next)
    sl_regcode_set(&s->plan->code[s->trips.data[t].engine], s->trips.data[t].count, sl_value_int(0));
  sl_engines shells = 0;
  for (sl_engines rest = waiters_on_updates_in(s, body) & engines & ~s->plan->presence.inside[body]; rest;
       rest &= rest - 1) {
    uint32_t engine = sl_first_engine(rest);
    if (!count_at_once(s, stmt, engine))
      shells |= (sl_engines)1 << engine;
  }
  return shells;
}

int sl_allocate_shadow(const struct sl_allocation *allocation)
{
  static const struct sl_walk_rules rules = { start_block, do_run, arrive, end_block };
  struct sl_plan plan = sl_plan_of(allocation);
  struct sl_shadow s = { .plan = &plan };
  plan.register_name = sl_shadow_register_name;
  plan.state = &s;
  sl_plan_prepare(&plan, false);
  sl_plan_share(&plan, allocation->sharing, false);
  int status = sl_plan_check_divergence(&plan);
  if (status == SLUICE_OK) {
    sl_shadow_prepare(&s);
    s.in_run = sl_heap_calloc(plan.heap, plan.sems.len, sizeof *s.in_run);
    status = sl_plan_walk(&plan, &rules, &s);
  }
  if (status == SLUICE_OK)
    sl_plan_write(&plan);
  sl_heap_child_free(plan.heap);
  return status;
}
