/* shadow_plan.c: what the strategy of shadow counters decides before it writes code: which form each threshold has,
 * which registers each engine keeps, where semaphores start. See shadow.c for the values.
 *
 * Cheaper forms than sn and its delay lines, of the same values:
 *   - constant: a producer in the kernel's root runs once.
 *   - latest: a wait that a distance of 1 carries, ahead of its producer, in the innermost block around both, needs the
 *     latest instance, sn, where no visit starts anew (across visits, or in a loop that is visited once);
 *   - alias: when all updates of s stand in one run and p is the last, sn is always sg;
 *   - grouped: when all N updates of s stand in one run, in block P, then after n iterations of P it has start + N * n
 *     once everything has retired, and a wait of e on p, the K-th of them, that
 *       is in P, carried by P at distance k:               start + N * (n - k) + K
 *       needs the latest instance and is not in P:         start + N * (n - 1) + K.
 *     These differ by constants: one register holds the least of them (bumped by N at the tail of P), and the others add
 *     the difference. Semaphores with the same P and N share it. Where a visit starts anew the distance k has a delay
 *     line of that register; its zeros read the difference, so s starts at the largest of these, and where n may be
 *     below k (or 1) at N * k - K at least: credits. Where N is 1, P belongs to a loop from 0 on that is visited once,
 *     and all the waits are in P, the loop's own variable is n, and there is no register.
 * An engine that needs sg of a semaphore anyway has only the waits grouped that else would have a delay line.
 */
#include "sync/shadow.h"

#include <assert.h>

#include "base/prefetch.h"
#include "ir/eval.h"

/* ---- what each edge needs ---- */

/* A producer in the root runs exactly once and is awaited at distance 0 alone: its value is a number, unless its
 * semaphore is updated inside loops too. */
static bool is_constant(const struct sl_shadow *s, const struct sl_edge *edge)
{
  const struct sl_plan *plan = s->plan;
  return edge->producer_block == plan->kernel->root &&
         (s->root_is_alone || plan->sems.data[plan->stmt[edge->producer].update_sem].only_root);
}

/* Static parameters have the values that the dependences were found for. */
static void find_repeats(struct sl_shadow *s)
{
  const struct sl_kernel *kernel = s->plan->kernel;
  struct sl_param_values values;
  sl_param_values_init(&values, s->plan->heap, kernel, true);
  s->repeats = sl_heap_calloc(s->plan->heap, kernel->blocks.len, sizeof *s->repeats);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    bool repeats = s->repeats[kernel->stmts.data[at].block];
    if (kernel->stmts.data[at].kind == SL_STMT_LOOP) {
      const struct sl_loop *loop = sl_stmt_loop(kernel, at);
      uint64_t trips;
      s->repeats[loop->body] = repeats || !sl_eval_trips(&values, loop, &trips) || trips > 1;
    } else if (kernel->stmts.data[at].kind == SL_STMT_IF) {
      const struct sl_branch *branch = sl_stmt_branch(kernel, at);
      s->repeats[branch->then_block] = repeats;
      if (branch->else_block)
        s->repeats[branch->else_block] = repeats;
    }
  }
}

/* Of the body of a loop. */
static bool is_visited_once(const struct sl_shadow *s, sl_index body)
{
  return !s->repeats[sl_block_parent(s->plan->kernel, body)];
}

/* Whether the first iterations of a visit wait as those of the first one do. */
static bool goes_on(const struct sl_shadow *s, const struct sl_edge *edge)
{
  return edge->across || is_visited_once(s, edge->block);
}

/* Whether the latest instance of the producer is what the consumer needs, unless both are in one block below the
 * carrying one. */
static bool needs_latest(const struct sl_shadow *s, const struct sl_edge *edge)
{
  const struct sl_plan *plan = s->plan;
  return edge->k == 0 || (edge->k == 1 && goes_on(s, edge) &&
                          plan->stmt[edge->consumer].position < plan->stmt[edge->producer].position &&
                          edge->block == sl_common_block(plan->kernel, edge->producer, edge->consumer));
}

/* The same where sn has it: it is set before the first instruction of the producer's run. */
static bool reads_latest(const struct sl_shadow *s, const struct sl_edge *edge)
{
  const struct sl_plan_stmt *stmt = s->plan->stmt;
  return needs_latest(s, edge) && (edge->k == 0 || stmt[edge->consumer].run != stmt[edge->producer].run);
}

static uint32_t sem_of(const struct sl_shadow *s, const struct sl_edge *edge)
{
  return s->plan->stmt[edge->producer].update_sem;
}

/* Whether the wait is in the block of the updates, and that carries it. */
static bool is_inside(const struct sl_edge *edge)
{
  return edge->block == edge->producer_block;
}

/* Whether a group has a delay line for the edge. */
static bool is_past(const struct sl_shadow *s, const struct sl_edge *edge)
{
  return edge->k > 0 && is_inside(edge) && !goes_on(s, edge);
}

/* What the threshold of an edge is ahead of start + N * n, as one of a group. */
static int64_t offset_of(const struct sl_shadow *s, const struct sl_edge *edge)
{
  int64_t back = !is_inside(edge) ? 1 : is_past(s, edge) ? 0 : edge->k;
  return (int64_t)s->plan->stmt[edge->producer].place_in_run - back * s->plan->sems.data[sem_of(s, edge)].updates;
}

/* How far each semaphore may be ahead at the start: what it can count to, less its updates; where their number is not
 * known, a share of it. Registers hold 32 bits. */
static void find_room(struct sl_shadow *s)
{
  enum { SHARE = 16 };
  const struct sl_plan *plan = s->plan;
  const struct sl_kernel *kernel = plan->kernel;
  uint64_t largest = sl_target_largest_sem(plan->target);
  s->room = sl_heap_calloc(plan->heap, plan->sems.len, sizeof *s->room);
  for (uint32_t sem = 1; sem < plan->sems.len; sem++)
    s->room[sem] = plan->target->sem.modular ? largest / 2 : largest;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    uint32_t sem = plan->stmt[at].update_sem;
    if (!sem || plan->target->sem.modular || plan->sems.data[sem].only_root)
      continue;
    uint64_t times = sl_most_executions(kernel, at), *room = &s->room[sem];
    if (times == UINT64_MAX)
      *room = *room < largest / SHARE ? *room : largest / SHARE;
    else
      *room = *room > times ? *room - times : 0;
  }
  for (uint32_t sem = 1; sem < plan->sems.len; sem++)
    s->room[sem] = s->room[sem] < INT32_MAX ? s->room[sem] : INT32_MAX;
}

/* Whether the edge can be one of a group. */
static bool can_be_grouped(const struct sl_shadow *s, const struct sl_edge *edge)
{
  const struct sl_plan_sem *sem = &s->plan->sems.data[sem_of(s, edge)];
  if (sem->runs != 1 || sl_edge_is_vector(edge) || (!is_inside(edge) && !needs_latest(s, edge)))
    return false;
  int64_t credit = is_past(s, edge) ? sem->updates : -offset_of(s, edge);
  return credit <= (int64_t)s->room[sem_of(s, edge)];
}

static enum sl_wait_form choose_form(const struct sl_shadow *s, const struct sl_edge *edge, bool is_general)
{
  if (sl_edge_is_vector(edge))
    return SL_VECTOR;
  bool is_better = !is_general || (edge->k > 0 && is_inside(edge) && !is_past(s, edge));
  if (is_better && can_be_grouped(s, edge))
    return is_past(s, edge) ? SL_PAST : SL_NOW;
  return reads_latest(s, edge) ? SL_LATEST : SL_DELAYED;
}

/* ---- which vectors have the form ---- */

uint32_t sl_shadow_updates_in_block(struct sl_shadow *s, sl_index block, uint32_t sem)
{
  const struct sl_plan *plan = s->plan;
  const struct sl_kernel *kernel = plan->kernel;
  bool is_new, varies = false;
  uint32_t *count = sl_map_put(&s->updates_of, plan->heap, sl_map_pair(block, sem), &is_new);
  for (sl_index at = is_new ? kernel->blocks.data[block].first : SL_NONE; at; at = kernel->stmts.data[at].next) {
    *count += plan->stmt[at].update_sem == sem;
    if (kernel->stmts.data[at].kind == SL_STMT_LOOP) {
      varies |= sl_plan_updates_inside(plan, sl_stmt_loop(kernel, at)->body, sem);
    } else if (kernel->stmts.data[at].kind == SL_STMT_IF) {
      const struct sl_branch *branch = sl_stmt_branch(kernel, at);
      varies |= sl_plan_updates_inside(plan, branch->then_block, sem) ||
                (branch->else_block && sl_plan_updates_inside(plan, branch->else_block, sem));
    }
  }
  if (varies)
    *count = 0;
  return *count;
}

/* Why a vector has to be cut, or NULL. */
static const char *obstacle(struct sl_shadow *s, const struct sl_edge *edge)
{
  enum { MOST_AHEAD = 1 << 30 /* updates: added to a counter that has a width of its own */ };
  uint32_t sem = s->plan->stmt[edge->producer].update_sem;
  if (edge->producer_block != edge->inner_block)
    return "the producer does not stand directly in the inner loop";
  uint32_t updates = sl_shadow_updates_in_block(s, edge->inner_block, sem);
  if (updates == 0)
    return "its semaphore is updated in a loop or branch inside the inner loop too";
  if (edge->inner_k < 0 && (int64_t)updates * -(int64_t)edge->inner_k > MOST_AHEAD)
    return "the inner distance is beyond what is counted";
  return s->plan->target->sem.modular ? "values of semaphores may run around" : NULL;
}

static void cut_vectors(struct sl_shadow *s)
{
  const struct sl_plan *plan = s->plan;
  for (uint32_t i = 0; i < plan->edges.len; i++) {
    struct sl_edge *edge = &plan->edges.data[i];
    const char *why = sl_edge_is_vector(edge) ? obstacle(s, edge) : NULL;
    if (!why)
      continue;
    sl_plan_report_cut(plan, edge, why);
    edge->inner_block = SL_NONE;
    edge->inner_k = 0;
  }
}

/* ---- collecting what each engine has to know ---- */

static uint32_t put_use(struct sl_shadow *s, uint32_t engine, uint32_t sem)
{
  bool is_new;
  uint32_t *at = sl_map_put(&s->use_of, s->plan->heap, sl_map_pair(engine, sem), &is_new);
  if (is_new) {
    *at = s->uses.len;
    struct sl_shadow_use *use = sl_vec_push(s->plan->heap, &s->uses);
    use->engine = engine;
    use->sem = sem;
    use->least = INT64_MAX;
  }
  return *at;
}

static uint32_t put_awaited(struct sl_shadow *s, uint32_t use, sl_index producer)
{
  bool is_new;
  uint32_t *at = sl_map_put(&s->awaited_of, s->plan->heap, sl_map_pair(use, producer), &is_new);
  if (is_new) {
    *at = s->awaited.len;
    struct sl_shadow_awaited *a = sl_vec_push(s->plan->heap, &s->awaited);
    a->producer = producer;
    a->use = use;
    a->next_of_use = s->uses.data[use].awaited;
    s->uses.data[use].awaited = *at;
  }
  return *at;
}

/* A kernel has fewer blocks than half of what an index can count: each takes several characters of its text. */
static uint64_t delay_key(uint32_t awaited, sl_index block, bool across)
{
  assert(block < UINT32_MAX / 2);
  return sl_map_pair(awaited, 2 * block + across);
}

static void put_delay(struct sl_shadow *s, uint32_t awaited, sl_index block, bool across, uint32_t k)
{
  bool is_new;
  uint32_t *at = sl_map_put(&s->delay_of, s->plan->heap, delay_key(awaited, block, across), &is_new);
  if (is_new) {
    *at = s->delays.len;
    struct sl_shadow_delay *delay = sl_vec_push(s->plan->heap, &s->delays);
    delay->awaited = awaited;
    delay->block = block;
    delay->across = across;
  }
  if (s->delays.data[*at].line.length < k)
    s->delays.data[*at].line.length = k;
}

static void put_vector(struct sl_shadow *s, uint32_t u, const struct sl_edge *edge)
{
  sl_heap *heap = s->plan->heap;
  uint32_t engine = s->uses.data[u].engine;
  bool is_new;
  uint32_t *at = sl_map_put(&s->arrivals_of, heap, sl_map_pair(u, edge->inner_block), &is_new);
  if (is_new) {
    *at = s->arrivals.len;
    sl_vec_add(heap, &s->arrivals, ((struct sl_shadow_arrivals){ .use = u, .block = edge->inner_block }));
  }
  struct sl_shadow_line *line = &s->arrivals.data[*at].line;
  line->length = line->length > edge->k ? line->length : edge->k + 1; /* and the current visit */
  at = sl_map_put(&s->trips_of, heap, sl_map_pair(engine, edge->inner_block), &is_new);
  if (is_new) {
    *at = s->trips.len;
    sl_vec_add(heap, &s->trips, ((struct sl_shadow_trips){ .engine = engine, .block = edge->inner_block }));
  }
}

/* No threshold of a group is below 0, and what a delay line's zero reads, with the difference added, must still pass.
 * */
static void give_credits(struct sl_shadow *s, const uint32_t *use_of)
{
  const struct sl_plan *plan = s->plan;
  for (uint32_t i = 0; i < plan->edges.len; i++) {
    const struct sl_edge *edge = &plan->edges.data[i];
    struct sl_plan_sem *sem = &s->plan->sems.data[sem_of(s, edge)];
    int64_t credit = 0;
    if (s->waits[i].form == SL_PAST)
      credit = offset_of(s, edge) - s->uses.data[use_of[i]].least;
    else if (s->waits[i].form == SL_NOW)
      credit = -offset_of(s, edge);
    if (credit > sem->start)
      sem->start = (uint32_t)credit;
  }
}

/* First who waits on what, and for which semaphores sg is needed; only then delay lines, which groups do not need. */
static void collect(struct sl_shadow *s)
{
  const struct sl_plan *plan = s->plan;
  uint32_t *use_of = sl_heap_calloc(plan->heap, plan->edges.len + 1u, sizeof *use_of); /* by edge; 0: a constant */
  for (uint32_t i = 0; i < plan->edges.len; i++) {
    const struct sl_edge *edge = &plan->edges.data[i];
    if (is_constant(s, edge))
      continue;
    use_of[i] = put_use(s, sl_plan_issues(plan, edge->consumer), sem_of(s, edge));
    (void)put_awaited(s, use_of[i], edge->producer);
    s->uses.data[use_of[i]].is_general |= !can_be_grouped(s, edge);
  }
  for (uint32_t i = 0; i < plan->edges.len; i++) {
    const struct sl_edge *edge = &plan->edges.data[i];
    struct sl_shadow_wait *wait = &s->waits[i];
    struct sl_shadow_use *use = &s->uses.data[use_of[i]];
    if (!use_of[i])
      continue;
    wait->form = (uint8_t)choose_form(s, edge, use->is_general);
    if (wait->form == SL_DELAYED || wait->form == SL_VECTOR)
      put_delay(s, put_awaited(s, use_of[i], edge->producer), edge->block, edge->across, edge->k);
    if (wait->form == SL_VECTOR)
      put_vector(s, use_of[i], edge);
    if (wait->form != SL_NOW && wait->form != SL_PAST)
      continue;
    use->is_grouped = true;
    use->is_outside |= !is_inside(edge);
    use->least = offset_of(s, edge) < use->least ? offset_of(s, edge) : use->least;
    if (wait->form == SL_PAST && edge->k > use->length)
      use->length = edge->k;
  }
  give_credits(s, use_of);
  sl_heap_free(plan->heap, use_of);
}

static sl_index block_of_use(const struct sl_shadow *s, const struct sl_shadow_use *use)
{
  return s->plan->sems.data[use->sem].only_block;
}

/* The least threshold in the first iteration. */
static uint32_t first_value(const struct sl_shadow *s, const struct sl_shadow_use *use)
{
  return (uint32_t)(s->plan->sems.data[use->sem].start + use->least);
}

/* Start values are free as long as they are not too small: they are raised so that what an engine counts in equal steps
 * in one block has one least threshold, which takes no addition. `first` begins their list; `is_fixed`: by semaphore.
 * */
static void align(struct sl_shadow *s, uint32_t u, uint32_t first, bool *is_fixed)
{
  const struct sl_plan *plan = s->plan;
  const struct sl_shadow_use *own = &s->uses.data[u];
  uint32_t step = plan->sems.data[own->sem].updates, target = first_value(s, own), alike = 0;
  bool has_fixed = is_fixed[own->sem];
  for (uint32_t v = first; v; v = s->uses.data[v].next_alike) {
    const struct sl_shadow_use *use = &s->uses.data[v];
    if (plan->sems.data[use->sem].updates != step)
      continue;
    alike++;
    if (!has_fixed && (is_fixed[use->sem] || first_value(s, use) > target))
      target = first_value(s, use);
    has_fixed |= is_fixed[use->sem];
  }
  for (uint32_t v = first; v && alike > 1; v = s->uses.data[v].next_alike) {
    const struct sl_shadow_use *use = &s->uses.data[v];
    struct sl_plan_sem *sem = &s->plan->sems.data[use->sem];
    if (sem->updates != step || is_fixed[use->sem] || target < first_value(s, use) ||
        sem->start + (uint64_t)(target - first_value(s, use)) > s->room[use->sem])
      continue;
    sem->start += target - first_value(s, use);
    is_fixed[use->sem] = true;
  }
}

static void align_starts(struct sl_shadow *s)
{
  enum { MOST_ALIKE = 2000 /* quadratic: beyond that additions are not what matters */ };
  sl_heap *heap = s->plan->heap;
  sl_map first_of = { 0 };                                            /* (engine, block) -> first of the list */
  uint32_t *alike = sl_heap_calloc(heap, s->uses.len, sizeof *alike); /* by first: length of the list */
  bool *is_fixed = sl_heap_calloc(heap, s->plan->sems.len, sizeof *is_fixed);
  for (uint32_t u = s->uses.len; u-- > 1;) {
    struct sl_shadow_use *use = &s->uses.data[u];
    if (!use->is_grouped)
      continue;
    uint32_t *first = sl_map_put(&first_of, heap, sl_map_pair(use->engine, block_of_use(s, use)), NULL);
    alike[u] = alike[*first] + 1;
    use->next_alike = *first;
    *first = u;
  }
  for (uint32_t u = 1; u < s->uses.len; u++) {
    const struct sl_shadow_use *use = &s->uses.data[u];
    if (!use->is_grouped || is_fixed[use->sem])
      continue;
    uint32_t first = *sl_map_get(&first_of, sl_map_pair(use->engine, block_of_use(s, use)));
    if (alike[first] <= MOST_ALIKE)
      align(s, u, first, is_fixed);
  }
  sl_heap_free(heap, is_fixed);
  sl_heap_free(heap, alike);
  sl_map_free(&first_of, heap);
}

/* ---- registers ---- */

enum role { ROLE_COUNTER = 1, ROLE_PRODUCER, ROLE_DELAY, ROLE_NOW, ROLE_PAST, ROLE_ARRIVAL, ROLE_TRIPS };

static void add_sem(sl_buf *buf, const struct sl_plan *plan, uint32_t sem_index)
{
  const struct sl_plan_sem *sem = &plan->sems.data[sem_index];
  char buffer[48];
  const char *block = sl_plan_block_name(plan, sem->block, buffer);
  if (sem->producer)
    sl_plan_add_label(buf, plan, sem->producer);
  else
    sl_buf_printf(buf, "%s%s%s", block, block[0] ? "_" : "",
                  sl_text(plan->program, plan->kernel->streams.data[sem->stream].name));
}

/* %sg_<block>_<stream>, %sn_<label>, %dl_<label>_<loop>_<distance>; of groups %sg_... and
 * %dl_<block>_<stream>_<k>. Delay lines across visits: %da_...; of a vector's inner loop %at_<loop>_<stream>_<visits
 * ago> and %h_<loop>. */
sl_name sl_shadow_register_name(void *state, const struct sl_regcode *code, struct sl_vreg_role role)
{
  const struct sl_shadow *s = state;
  const struct sl_plan *plan = s->plan;
  char buffer[48];
  sl_buf buf;
  (void)code;
  sl_buf_init(&buf, plan->heap);
  switch ((enum role)role.kind) {
  case ROLE_COUNTER:
    sl_buf_puts(&buf, "sg_");
    add_sem(&buf, plan, s->uses.data[role.index].sem);
    break;
  case ROLE_PRODUCER:
    sl_buf_puts(&buf, "sn_");
    sl_plan_add_label(&buf, plan, s->awaited.data[role.index].producer);
    break;
  case ROLE_DELAY: {
    const struct sl_shadow_delay *delay = &s->delays.data[role.index];
    sl_buf_puts(&buf, delay->across ? "da_" : "dl_");
    sl_plan_add_label(&buf, plan, s->awaited.data[delay->awaited].producer);
    sl_buf_printf(&buf, "_%s_%u", sl_plan_block_name(plan, delay->block, buffer), role.number);
    break;
  }
  case ROLE_NOW:
    sl_buf_puts(&buf, "sg_");
    add_sem(&buf, plan, s->groups.data[role.index].sem);
    break;
  case ROLE_PAST:
    sl_buf_puts(&buf, "dl_");
    add_sem(&buf, plan, s->groups.data[role.index].sem);
    sl_buf_printf(&buf, "_%u", role.number);
    break;
  case ROLE_ARRIVAL: {
    const struct sl_shadow_arrivals *arrivals = &s->arrivals.data[role.index];
    uint32_t sem = s->uses.data[arrivals->use].sem;
    bool is_named = plan->sems.data[sem].block == arrivals->block && !plan->sems.data[sem].producer;
    sl_buf_printf(&buf, "at_%s%s", is_named ? "" : sl_plan_block_name(plan, arrivals->block, buffer),
                  is_named ? "" : "_");
    add_sem(&buf, plan, sem);
    sl_buf_printf(&buf, "_%u", role.number - 1);
    break;
  }
  case ROLE_TRIPS: sl_buf_printf(&buf, "h_%s", sl_plan_block_name(plan, s->trips.data[role.index].block, buffer));
  }
  sl_name name = sl_names_add(&plan->program->names, &plan->program->heap, buf.data, buf.len);
  sl_heap_free(plan->heap, buf.data);
  return name;
}

static bool is_last_of_only_run(const struct sl_plan *plan, sl_index producer)
{
  const struct sl_plan_sem *sem = &plan->sems.data[plan->stmt[producer].update_sem];
  return sem->runs == 1 && plan->stmt[producer].place_in_run == sem->updates;
}

static struct sl_regcode *code_of(struct sl_shadow *s, uint32_t use)
{
  return &s->plan->code[s->uses.data[use].engine];
}

static sl_vreg new_register(struct sl_shadow *s, uint32_t use, enum role kind, uint32_t index, uint32_t number)
{
  return sl_regcode_vreg(code_of(s, use), (struct sl_vreg_role){ kind, index, number });
}

/* Registers that are made one after the other are numbered so. */
static void make_line(struct sl_shadow_line *line, struct sl_regcode *code, enum role kind, uint32_t index)
{
  for (uint32_t j = 1; j <= line->length; j++) {
    sl_vreg vreg = sl_regcode_vreg(code, (struct sl_vreg_role){ kind, index, j });
    line->first = j == 1 ? vreg : line->first;
  }
}

static void make_general_registers(struct sl_shadow *s)
{
  for (uint32_t u = 1; u < s->uses.len; u++)
    if (s->uses.data[u].is_general)
      s->uses.data[u].sg = new_register(s, u, ROLE_COUNTER, u, 0);
  for (uint32_t a = 1; a < s->awaited.len; a++) {
    struct sl_shadow_awaited *awaited = &s->awaited.data[a];
    const struct sl_shadow_use *use = &s->uses.data[awaited->use];
    if (!use->is_general)
      continue;
    bool is_alias = is_last_of_only_run(s->plan, awaited->producer);
    awaited->sn = is_alias ? use->sg : new_register(s, awaited->use, ROLE_PRODUCER, a, 0);
  }
  for (uint32_t d = 1; d < s->delays.len; d++) {
    struct sl_shadow_delay *delay = &s->delays.data[d];
    make_line(&delay->line, code_of(s, s->awaited.data[delay->awaited].use), ROLE_DELAY, d);
  }
}

static void make_vector_registers(struct sl_shadow *s)
{
  for (uint32_t a = 1; a < s->arrivals.len; a++)
    make_line(&s->arrivals.data[a].line, code_of(s, s->arrivals.data[a].use), ROLE_ARRIVAL, a);
  for (uint32_t t = 1; t < s->trips.len; t++)
    s->trips.data[t].count =
        sl_regcode_vreg(&s->plan->code[s->trips.data[t].engine], (struct sl_vreg_role){ ROLE_TRIPS, t, 0 });
}

/* The group that counts what this use needs, made if it is new; groups of one engine and block are few. What has delay
 * lines needs the very first value, which its credit is for. */
static uint32_t put_group(struct sl_shadow *s, uint32_t u)
{
  const struct sl_shadow_use *use = &s->uses.data[u];
  const struct sl_plan_sem *sem = &s->plan->sems.data[use->sem];
  struct sl_shadow_group wanted = {
    .engine = use->engine, .step = sem->updates, .first = first_value(s, use), .block = sem->only_block, .sem = use->sem
  };
  for (uint32_t g = s->groups_of_block[wanted.block]; g; g = s->groups.data[g].next) {
    struct sl_shadow_group *group = &s->groups.data[g];
    bool is_free = use->length == 0 && (group->past.length == 0 || wanted.first > group->first);
    if (group->engine != wanted.engine || group->step != wanted.step || (!is_free && wanted.first != group->first))
      continue;
    group->first = wanted.first < group->first ? wanted.first : group->first;
    return g;
  }
  wanted.next = s->groups_of_block[wanted.block];
  s->groups_of_block[wanted.block] = s->groups.len;
  sl_vec_add(s->plan->heap, &s->groups, wanted);
  return s->groups.len - 1;
}

/* Whether the loop's variable is the number of its iterations so far, in all. What is added to it is computed once for
 * all waits of an iteration by the clean-ups; without them a register costs less. */
static bool is_loop_variable(const struct sl_shadow *s, const struct sl_shadow_group *group)
{
  enum { NEEDED = SLUICE_CLEANUP_COMMON | SLUICE_CLEANUP_INVARIANT };
  const struct sl_kernel *kernel = s->plan->kernel;
  sl_index owner = kernel->blocks.data[group->block].owner;
  if (group->step != 1 || group->is_outside || kernel->stmts.data[owner].kind != SL_STMT_LOOP)
    return false;
  const struct sl_loop *loop = sl_stmt_loop(kernel, owner);
  return loop->has_range && loop->short_range && is_visited_once(s, group->block) &&
         (s->plan->cleanups & NEEDED) == NEEDED;
}

static void make_groups(struct sl_shadow *s)
{
  for (uint32_t u = 1; u < s->uses.len; u++) {
    struct sl_shadow_use *use = &s->uses.data[u];
    if (!use->is_grouped)
      continue;
    use->group = put_group(s, u);
    struct sl_shadow_group *group = &s->groups.data[use->group];
    group->past.length = use->length > group->past.length ? use->length : group->past.length;
    group->is_outside |= use->is_outside;
  }
  for (uint32_t g = 1; g < s->groups.len; g++) {
    struct sl_shadow_group *group = &s->groups.data[g];
    struct sl_regcode *code = &s->plan->code[group->engine];
    if (!is_loop_variable(s, group))
      group->now = sl_regcode_vreg(code, (struct sl_vreg_role){ ROLE_NOW, g, 0 });
    make_line(&group->past, code, ROLE_PAST, g);
  }
}

/* Lists by semaphore, statement and block, each in order of discovery (pushing at the head, last first). */
static void make_lists(struct sl_shadow *s)
{
  sl_heap *heap = s->plan->heap;
  uint32_t blocks = s->plan->kernel->blocks.len;
  s->uses_of_sem = sl_heap_calloc(heap, s->plan->sems.len, sizeof(uint32_t));
  s->awaited_of_stmt = sl_heap_calloc(heap, s->plan->kernel->stmts.len, sizeof(uint32_t));
  s->delays_of_block = sl_heap_calloc(heap, blocks, sizeof(uint32_t));
  s->groups_of_block = sl_heap_calloc(heap, blocks, sizeof(uint32_t));
  s->arrivals_of_block = sl_heap_calloc(heap, blocks, sizeof(uint32_t));
  s->trips_of_block = sl_heap_calloc(heap, blocks, sizeof(uint32_t));
  for (uint32_t u = s->uses.len; u-- > 1;) {
    s->uses.data[u].next = s->uses_of_sem[s->uses.data[u].sem];
    s->uses_of_sem[s->uses.data[u].sem] = u;
  }
  for (uint32_t a = s->awaited.len; a-- > 1;) {
    struct sl_shadow_awaited *awaited = &s->awaited.data[a];
    awaited->next_of_stmt = s->awaited_of_stmt[awaited->producer];
    s->awaited_of_stmt[awaited->producer] = a;
  }
  for (uint32_t d = s->delays.len; d-- > 1;) {
    s->delays.data[d].next = s->delays_of_block[s->delays.data[d].block];
    s->delays_of_block[s->delays.data[d].block] = d;
  }
  for (uint32_t a = s->arrivals.len; a-- > 1;) {
    s->arrivals.data[a].next = s->arrivals_of_block[s->arrivals.data[a].block];
    s->arrivals_of_block[s->arrivals.data[a].block] = a;
  }
  for (uint32_t t = s->trips.len; t-- > 1;) {
    s->trips.data[t].next = s->trips_of_block[s->trips.data[t].block];
    s->trips_of_block[s->trips.data[t].block] = t;
  }
}

/* ---- the thresholds ---- */

static void fill_wait(struct sl_shadow *s, uint32_t i)
{
  const struct sl_plan *plan = s->plan;
  const struct sl_edge *edge = &plan->edges.data[i];
  const struct sl_plan_stmt *producer = &plan->stmt[edge->producer];
  uint32_t start = plan->sems.data[producer->update_sem].start;
  struct sl_shadow_wait *wait = &s->waits[i];
  if (wait->form == SL_CONSTANT) {
    wait->number = start + producer->place_in_block;
    return;
  }
  uint32_t u = *sl_map_get(&s->use_of, sl_map_pair(sl_plan_issues(plan, edge->consumer), producer->update_sem));
  if (wait->form == SL_NOW || wait->form == SL_PAST) {
    const struct sl_shadow_group *group = &s->groups.data[s->uses.data[u].group];
    wait->number = (uint32_t)(start + offset_of(s, edge)) - (group->now ? group->first : 0);
    wait->vreg = wait->form == SL_PAST ? group->past.first + edge->k - 1 : group->now;
    return;
  }
  uint32_t a = *sl_map_get(&s->awaited_of, sl_map_pair(u, edge->producer));
  if (wait->form == SL_LATEST) {
    wait->vreg = s->awaited.data[a].sn;
  } else {
    const uint32_t *delay = sl_map_get(&s->delay_of, delay_key(a, edge->block, edge->across));
    wait->vreg = s->delays.data[*delay].line.first + edge->k - 1;
  }
}

void sl_shadow_prepare(struct sl_shadow *s)
{
  sl_heap *heap = s->plan->heap;
  s->waits = sl_heap_calloc(heap, s->plan->edges.len + 1u, sizeof *s->waits);
  (void)sl_vec_push(heap, &s->uses);
  (void)sl_vec_push(heap, &s->awaited);
  (void)sl_vec_push(heap, &s->delays);
  (void)sl_vec_push(heap, &s->groups);
  (void)sl_vec_push(heap, &s->arrivals);
  (void)sl_vec_push(heap, &s->trips);
  s->root_is_alone = true;
  for (uint32_t sem = 1; sem < s->plan->sems.len; sem++)
    s->root_is_alone &= s->plan->sems.data[sem].only_block != SL_NONE;
  cut_vectors(s);
  find_repeats(s);
  find_room(s);
  collect(s);
  align_starts(s);
  make_lists(s);
  make_general_registers(s);
  make_vector_registers(s);
  make_groups(s);
  for (uint32_t i = 0; i < s->plan->edges.len; i++) {
    if (i + SL_PREFETCH_AHEAD < s->plan->edges.len)
      sl_prefetch(&s->plan->stmt[s->plan->edges.data[i + SL_PREFETCH_AHEAD].producer]);
    fill_wait(s, i);
  }
}
