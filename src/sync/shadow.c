/* shadow.c: the strategy of shadow counters and delay lines.
 *
 * Each engine e keeps, for every semaphore s it waits on, the value s will have once its producing stream has retired
 * everything before this point of the walk (the shadow counter sg), and for every producer p it waits on the value at p's
 * latest instance (sn). A loop A that carries a distance k >= 1 has a delay line dl_1..dl_k: shifted at the tail of each
 * iteration, zeroed on arrival. Thresholds: sn for distance 0, dl_k for k. Zeros make "no instance yet" pass.
 *
 * Requires a prepared plan. Exact for every carrying loop and distance, nesting, branches and zero trips, with unsigned
 * arithmetic. The order of the operations matters and is kept as follows:
 *   - at the start of every run, before the engine's first instruction in it: every sn of the run from the old sg, then every
 *     sg of the run; then the instructions with their waits;
 *   - before each arrival at a loop: its delay lines become 0;
 *   - at the tail of a loop's body: delay lines shift from the far end, then dl_1 := sn.
 * An engine without an instruction in a loop that updates one of its semaphores still counts it: at once by a multiply-add
 * where the trip count is at hand, else in a shell of the loop.
 *
 * Producers directly in the kernel's root need no register: their values are numbers. Two cheaper forms of the same values,
 * chosen per engine and semaphore:
 *   - alias: when all updates of s stand in one run and p is the last, sn is always sg;
 *   - direct: when all updates of s stand in one run and every wait of e on s is carried by the block of that run, sn is
 *     bumped by N at the tail of the block and sg is not kept: one operation per producer and iteration.
 *
 * Cost: linear in the tree times the engines that walk it, plus edges.
 */
#include "sync/passes.h"
#include "sync/plan.h"

#include <assert.h>

#include "base/prefetch.h"

enum use_form { USE_GENERAL, USE_DIRECT };

/* Engine e waits on semaphore s. */
struct use {
  uint32_t engine, sem;
  uint8_t form;
  sl_vreg sg;         /* USE_GENERAL */
  uint32_t next;      /* of the same semaphore */
  uint32_t producers; /* list by next_of_use */
};

/* Engine e waits for producer p. */
struct awaited {
  sl_index producer;
  uint32_t use;
  sl_vreg sn;
  uint32_t next_of_stmt, next_of_use, next_of_block; /* lists, 0 ends */
};

/* Delay line of (awaited, loop body). */
struct delay {
  uint32_t awaited;
  sl_index block;
  uint32_t length;
  sl_vreg first; /* dl_1; dl_j is first + j - 1 */
  uint32_t next; /* of the same block */
};

struct shadow {
  struct sl_plan *plan;
  sl_vec(struct use) uses;        /* (from 1) */
  sl_vec(struct awaited) awaited; /* (from 1) */
  sl_vec(struct delay) delays;    /* (from 1) */
  sl_map use_of;      /* (engine, sem) */
  sl_map awaited_of;  /* (use, statement) */
  sl_map delay_of;    /* (awaited, block) */
  uint32_t *uses_of_sem, *awaited_of_stmt, *delays_of_block, *direct_of_block; /* heads of the lists */
  sl_vec(uint32_t) touched; /* semaphores of the run at hand */
  uint32_t *in_run;         /* by semaphore: updates in the run at hand */
};

static struct sl_regcode *code_of(struct shadow *s, uint32_t use)
{
  return &s->plan->code[s->uses.data[use].engine];
}

static sl_index block_of(const struct shadow *s, sl_index stmt)
{
  return s->plan->kernel->stmts.data[stmt].block;
}

/* A producer in the root runs exactly once and is awaited at distance 0 alone: its value is a number, unless its semaphore is
 * updated inside loops too. */
static bool is_constant(const struct shadow *s, sl_index producer)
{
  const struct sl_plan_stmt *stmt = &s->plan->stmt[producer];
  return stmt->block == s->plan->kernel->root && s->plan->sems.data[stmt->update_sem].only_root;
}

/* ---- collecting what each engine has to know ---- */

static uint32_t put_use(struct shadow *s, uint32_t engine, uint32_t sem)
{
  bool is_new;
  uint32_t *at = sl_map_put(&s->use_of, s->plan->heap, sl_map_pair(engine, sem), &is_new);
  if (is_new) {
    *at = s->uses.len;
    struct use *use = sl_vec_push(s->plan->heap, &s->uses);
    use->engine = engine;
    use->sem = sem;
    use->form = s->plan->sems.data[sem].runs == 1 ? USE_DIRECT : USE_GENERAL;
  }
  return *at;
}

static uint32_t put_awaited(struct shadow *s, uint32_t use, sl_index producer)
{
  bool is_new;
  uint32_t *at = sl_map_put(&s->awaited_of, s->plan->heap, sl_map_pair(use, producer), &is_new);
  if (is_new) {
    *at = s->awaited.len;
    struct awaited *a = sl_vec_push(s->plan->heap, &s->awaited);
    a->producer = producer;
    a->use = use;
  }
  return *at;
}

static void put_delay(struct shadow *s, uint32_t awaited, sl_index block, uint32_t k)
{
  bool is_new;
  uint32_t *at = sl_map_put(&s->delay_of, s->plan->heap, sl_map_pair(awaited, block), &is_new);
  if (is_new) {
    *at = s->delays.len;
    struct delay *delay = sl_vec_push(s->plan->heap, &s->delays);
    delay->awaited = awaited;
    delay->block = block;
  }
  if (s->delays.data[*at].length < k)
    s->delays.data[*at].length = k;
}

static void collect(struct shadow *s)
{
  const struct sl_plan *plan = s->plan;
  for (uint32_t i = 0; i < plan->edges.len; i++) {
    const struct sl_edge *edge = &plan->edges.data[i];
    if (is_constant(s, edge->producer))
      continue;
    uint32_t use = put_use(s, sl_plan_issues(plan, edge->consumer), plan->stmt[edge->producer].update_sem);
    uint32_t awaited = put_awaited(s, use, edge->producer);
    if (edge->k > 0)
      put_delay(s, awaited, edge->block, edge->k);
    if (edge->block != block_of(s, edge->producer))
      s->uses.data[use].form = USE_GENERAL;
  }
}

/* ---- registers ---- */

enum role { ROLE_COUNTER = 1, ROLE_PRODUCER, ROLE_DELAY };

/* %sg_<block>_<stream>, %sn_<label>, %dl_<label>_<loop>_<distance>. */
static sl_name register_name(void *state, const struct sl_regcode *code, struct sl_vreg_role role)
{
  const struct shadow *s = state;
  const struct sl_plan *plan = s->plan;
  char buffer[48];
  sl_buf buf;
  (void)code;
  sl_buf_init(&buf, plan->heap);
  if (role.kind == ROLE_COUNTER) {
    const struct sl_plan_sem *sem = &plan->sems.data[s->uses.data[role.index].sem];
    const char *block = sl_plan_block_name(plan, sem->block, buffer);
    if (sem->producer) {
      sl_buf_puts(&buf, "sg_");
      sl_plan_add_label(&buf, plan, sem->producer);
    } else {
      sl_buf_printf(&buf, "sg_%s%s%s", block, block[0] ? "_" : "",
                    sl_text(plan->program, plan->kernel->streams.data[sem->stream].name));
    }
  } else if (role.kind == ROLE_PRODUCER) {
    sl_buf_puts(&buf, "sn_");
    sl_plan_add_label(&buf, plan, s->awaited.data[role.index].producer);
  } else {
    const struct delay *delay = &s->delays.data[role.index];
    sl_buf_puts(&buf, "dl_");
    sl_plan_add_label(&buf, plan, s->awaited.data[delay->awaited].producer);
    sl_buf_printf(&buf, "_%s_%u", sl_plan_block_name(plan, delay->block, buffer), role.number);
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

static sl_vreg new_register(struct shadow *s, uint32_t use, enum role kind, uint32_t index, uint32_t number)
{
  return sl_regcode_vreg(code_of(s, use), (struct sl_vreg_role){ kind, index, number });
}

static void make_registers(struct shadow *s)
{
  for (uint32_t u = 1; u < s->uses.len; u++)
    if (s->uses.data[u].form == USE_GENERAL)
      s->uses.data[u].sg = new_register(s, u, ROLE_COUNTER, u, 0);
  for (uint32_t a = 1; a < s->awaited.len; a++) {
    struct awaited *awaited = &s->awaited.data[a];
    const struct use *use = &s->uses.data[awaited->use];
    if (use->form == USE_GENERAL && is_last_of_only_run(s->plan, awaited->producer))
      awaited->sn = use->sg;
    else
      awaited->sn = new_register(s, awaited->use, ROLE_PRODUCER, a, 0);
  }
  for (uint32_t d = 1; d < s->delays.len; d++) {
    struct delay *delay = &s->delays.data[d];
    uint32_t use = s->awaited.data[delay->awaited].use;
    delay->first = new_register(s, use, ROLE_DELAY, d, 1);
    for (uint32_t j = 2; j <= delay->length; j++)
      (void)new_register(s, use, ROLE_DELAY, d, j); /* consecutive: dl_j is first + j - 1 */
  }
}

/* Lists by semaphore, statement and block, each in order of discovery (pushing at the head, last first). */
static void make_lists(struct shadow *s)
{
  sl_heap *heap = s->plan->heap;
  uint32_t blocks = s->plan->kernel->blocks.len;
  s->uses_of_sem = sl_heap_calloc(heap, s->plan->sems.len, sizeof(uint32_t));
  s->awaited_of_stmt = sl_heap_calloc(heap, s->plan->kernel->stmts.len, sizeof(uint32_t));
  s->delays_of_block = sl_heap_calloc(heap, blocks, sizeof(uint32_t));
  s->direct_of_block = sl_heap_calloc(heap, blocks, sizeof(uint32_t));
  s->in_run = sl_heap_calloc(heap, s->plan->sems.len, sizeof(uint32_t));
  for (uint32_t u = s->uses.len; u-- > 1;) {
    s->uses.data[u].next = s->uses_of_sem[s->uses.data[u].sem];
    s->uses_of_sem[s->uses.data[u].sem] = u;
  }
  for (uint32_t a = s->awaited.len; a-- > 1;) {
    struct awaited *awaited = &s->awaited.data[a];
    struct use *use = &s->uses.data[awaited->use];
    awaited->next_of_stmt = s->awaited_of_stmt[awaited->producer];
    s->awaited_of_stmt[awaited->producer] = a;
    awaited->next_of_use = use->producers;
    use->producers = a;
    if (use->form == USE_DIRECT) {
      awaited->next_of_block = s->direct_of_block[block_of(s, awaited->producer)];
      s->direct_of_block[block_of(s, awaited->producer)] = a;
    }
  }
  for (uint32_t d = s->delays.len; d-- > 1;) {
    s->delays.data[d].next = s->delays_of_block[s->delays.data[d].block];
    s->delays_of_block[s->delays.data[d].block] = d;
  }
}

/* ---- the rules of the walk ---- */

/* Kernel start: sg at the semaphore's start value, sn at 0 (or, in the direct form, at its first instance's value). */
static void set_start_values(struct shadow *s)
{
  const struct sl_plan *plan = s->plan;
  for (uint32_t u = 1; u < s->uses.len; u++)
    if (s->uses.data[u].form == USE_GENERAL)
      sl_regcode_set(code_of(s, u), s->uses.data[u].sg, sl_value_int(plan->sems.data[s->uses.data[u].sem].start));
  for (uint32_t a = 1; a < s->awaited.len; a++) {
    const struct awaited *awaited = &s->awaited.data[a];
    const struct use *use = &s->uses.data[awaited->use];
    uint32_t start = plan->sems.data[use->sem].start;
    if (use->form == USE_DIRECT)
      sl_regcode_set(code_of(s, awaited->use), awaited->sn, sl_value_int(start + plan->stmt[awaited->producer].place_in_run));
    else if (awaited->sn != use->sg)
      sl_regcode_set(code_of(s, awaited->use), awaited->sn, sl_value_int(0));
  }
}

static void start_block(void *strategy, sl_index block, sl_engines engines)
{
  struct shadow *s = strategy;
  (void)engines;
  if (block == s->plan->kernel->root)
    set_start_values(s);
}

static void count_run(struct shadow *s, sl_index first, sl_index end)
{
  const struct sl_plan *plan = s->plan;
  for (sl_index at = first; at != end; at = plan->kernel->stmts.data[at].next) {
    uint32_t sem = plan->stmt[at].update_sem;
    if (sem && s->in_run[sem]++ == 0)
      sl_vec_add(plan->heap, &s->touched, sem);
  }
}

/* The producers' values, from the counters as they stand before the run. */
static void set_producers(struct shadow *s, sl_index first, sl_index end, sl_engines engines)
{
  const struct sl_plan *plan = s->plan;
  for (sl_index at = first; at != end; at = plan->kernel->stmts.data[at].next)
    for (uint32_t a = s->awaited_of_stmt[at]; a; a = s->awaited.data[a].next_of_stmt) {
      const struct awaited *awaited = &s->awaited.data[a];
      const struct use *use = &s->uses.data[awaited->use];
      if (use->form == USE_GENERAL && awaited->sn != use->sg && (engines >> use->engine & 1))
        sl_regcode_op(code_of(s, awaited->use), SL_OP_REG_ADD, awaited->sn, sl_value_vreg(use->sg),
                      sl_value_int(plan->stmt[at].place_in_run));
    }
}

static void bump_counters(struct shadow *s, sl_engines engines)
{
  for (uint32_t i = 0; i < s->touched.len; i++) {
    uint32_t sem = s->touched.data[i];
    for (uint32_t u = s->uses_of_sem[sem]; u; u = s->uses.data[u].next) {
      const struct use *use = &s->uses.data[u];
      if (use->form == USE_GENERAL && (engines >> use->engine & 1))
        sl_regcode_op(code_of(s, u), SL_OP_REG_ADD, use->sg, sl_value_vreg(use->sg), sl_value_int(s->in_run[sem]));
    }
    s->in_run[sem] = 0;
  }
  s->touched.len = 0;
}

static void add_waits(struct shadow *s, sl_index consumer)
{
  const struct sl_plan *plan = s->plan;
  uint32_t engine = sl_plan_issues(plan, consumer);
  for (uint32_t i = 0; i < plan->stmt[consumer].edge_count; i++) {
    uint32_t number = plan->stmt[consumer].first_edge + i;
    const struct sl_edge *edge = &plan->edges.data[number];
    if (number + SL_PREFETCH_AHEAD < plan->edges.len)
      sl_prefetch(&plan->stmt[plan->edges.data[number + SL_PREFETCH_AHEAD].producer]);
    uint32_t sem = plan->stmt[edge->producer].update_sem;
    if (is_constant(s, edge->producer)) {
      sl_regcode_wait(&plan->code[engine], consumer, sem,
                      sl_value_int(plan->sems.data[sem].start + plan->stmt[edge->producer].place_in_block));
      continue;
    }
    uint32_t use = *sl_map_get(&s->use_of, sl_map_pair(engine, sem));
    uint32_t a = *sl_map_get(&s->awaited_of, sl_map_pair(use, edge->producer));
    sl_vreg threshold = s->awaited.data[a].sn;
    if (edge->k > 0)
      threshold = s->delays.data[*sl_map_get(&s->delay_of, sl_map_pair(a, edge->block))].first + edge->k - 1;
    sl_regcode_wait(&plan->code[engine], consumer, sem, sl_value_vreg(threshold));
  }
}

static void do_run(void *strategy, sl_index first, sl_index end, sl_engines engines)
{
  struct shadow *s = strategy;
  count_run(s, first, end);
  set_producers(s, first, end, engines);
  bump_counters(s, engines);
  for (sl_index at = first; at != end; at = s->plan->kernel->stmts.data[at].next)
    add_waits(s, at);
}

static void end_block(void *strategy, sl_index block, sl_engines engines)
{
  struct shadow *s = strategy;
  (void)engines; /* whoever has a delay line here has its consumer here */
  for (uint32_t d = s->delays_of_block[block]; d; d = s->delays.data[d].next) {
    const struct delay *delay = &s->delays.data[d];
    const struct awaited *awaited = &s->awaited.data[delay->awaited];
    struct sl_regcode *code = code_of(s, awaited->use);
    for (uint32_t j = delay->length; j >= 2; j--)
      sl_regcode_set(code, delay->first + j - 1, sl_value_vreg(delay->first + j - 2));
    sl_regcode_set(code, delay->first, sl_value_vreg(awaited->sn));
  }
  for (uint32_t a = s->direct_of_block[block]; a; a = s->awaited.data[a].next_of_block) {
    const struct awaited *awaited = &s->awaited.data[a];
    uint32_t updates = s->plan->sems.data[s->uses.data[awaited->use].sem].updates;
    sl_regcode_op(code_of(s, awaited->use), SL_OP_REG_ADD, awaited->sn, sl_value_vreg(awaited->sn), sl_value_int(updates));
  }
}

/* ---- loops that an engine counts without walking them ---- */

/* Whether the updates of `sem` inside `block` can be counted by multiplication: no branch that holds some, and every inner
 * loop that holds some has a trip count known at arrival at `outer`. */
static bool is_countable(const struct shadow *s, sl_index block, uint32_t sem, sl_index outer)
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

/* Updates of `sem` per iteration of `block` that stand behind statement `behind` (0: all of them), as a value. The constants
 * among them fold away later. */
static struct sl_value emit_updates(struct shadow *s, struct sl_regcode *code, sl_index block, uint32_t sem, sl_index outer,
                                    sl_index behind)
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
      assert(known && "is_countable answered yes");
      (void)known;
      struct sl_value each = emit_updates(s, code, sl_stmt_loop(kernel, at)->body, sem, outer, SL_NONE);
      sum = sl_regcode_value(code, SL_OP_REG_ADD, sum, sl_regcode_value(code, SL_OP_REG_MUL, trips, each));
    }
  }
  return direct ? sl_regcode_value(code, SL_OP_REG_ADD, sum, sl_value_int(direct)) : sum;
}

/* 1 when every loop from `loop` down to the producer's block runs at least once, else 0. */
static struct sl_value emit_runs_at_all(struct shadow *s, struct sl_regcode *code, sl_index loop, sl_index producer)
{
  const struct sl_kernel *kernel = s->plan->kernel;
  struct sl_value all = sl_value_int(1);
  for (sl_index block = block_of(s, producer);; block = sl_block_parent(kernel, block)) {
    sl_index owner = kernel->blocks.data[block].owner;
    struct sl_value trips;
    bool known = sl_plan_trip_count(s->plan, owner, loop, &trips);
    assert(known && "is_countable answered yes");
    (void)known;
    all = sl_regcode_value(code, SL_OP_REG_MUL, all, sl_regcode_value(code, SL_OP_REG_GT, trips, sl_value_int(0)));
    if (owner == loop)
      return all;
  }
}

/* sn := value at p's last instance inside the loop, if there is one: sg + T*U - (updates behind that instance). */
static void count_producer(struct shadow *s, uint32_t a, sl_index loop, struct sl_value total)
{
  const struct sl_plan *plan = s->plan;
  const struct awaited *awaited = &s->awaited.data[a];
  const struct use *use = &s->uses.data[awaited->use];
  struct sl_regcode *code = code_of(s, awaited->use);
  struct sl_value sg = sl_value_vreg(use->sg), sn = sl_value_vreg(awaited->sn), offset = total;
  for (sl_index at = awaited->producer; at != loop; at = plan->kernel->blocks.data[block_of(s, at)].owner) {
    struct sl_value behind = emit_updates(s, code, block_of(s, at), use->sem, loop, at);
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

static void count_loop(struct shadow *s, sl_index loop, uint32_t u)
{
  const struct sl_plan *plan = s->plan;
  const struct use *use = &s->uses.data[u];
  struct sl_regcode *code = code_of(s, u);
  sl_regcode_release(code);
  sl_index body = sl_stmt_loop(plan->kernel, loop)->body;
  struct sl_value trips;
  bool known = sl_plan_trip_count(plan, loop, loop, &trips);
  assert(known && "is_countable answered yes");
  (void)known;
  struct sl_value each = emit_updates(s, code, body, use->sem, loop, SL_NONE);
  struct sl_value total = sl_regcode_value(code, SL_OP_REG_MUL, trips, each);
  for (uint32_t a = use->producers; a; a = s->awaited.data[a].next_of_use)
    if (s->awaited.data[a].sn != use->sg && sl_block_contains(plan->kernel, body, block_of(s, s->awaited.data[a].producer)))
      count_producer(s, a, loop, total);
  sl_regcode_op(code, SL_OP_REG_ADD, use->sg, sl_value_vreg(use->sg), total);
}

/* An engine without an instruction in the loop, for which some of its semaphores are updated inside: true when it counted
 * them at once, false when it has to walk the loop. */
static bool count_at_once(struct shadow *s, sl_index loop, uint32_t engine)
{
  const struct sl_plan *plan = s->plan;
  sl_index body = sl_stmt_loop(plan->kernel, loop)->body;
  struct sl_value trips;
  if (!sl_plan_trip_count(plan, loop, loop, &trips))
    return false;
  for (uint32_t n = plan->sems_inside[body]; n; n = plan->nodes.data[n].next)
    if (sl_map_get(&s->use_of, sl_map_pair(engine, plan->nodes.data[n].sem)) &&
        !is_countable(s, body, plan->nodes.data[n].sem, loop))
      return false;
  for (uint32_t n = plan->sems_inside[body]; n; n = plan->nodes.data[n].next) {
    const uint32_t *use = sl_map_get(&s->use_of, sl_map_pair(engine, plan->nodes.data[n].sem));
    if (use)
      count_loop(s, loop, *use);
  }
  return true;
}

static sl_engines waiters_on_updates_in(const struct shadow *s, sl_index block)
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
  struct shadow *s = strategy;
  const struct sl_kernel *kernel = s->plan->kernel;
  if (kernel->stmts.data[stmt].kind == SL_STMT_IF) {
    const struct sl_branch *branch = sl_stmt_branch(kernel, stmt);
    return waiters_on_updates_in(s, branch->then_block) | waiters_on_updates_in(s, branch->else_block);
  }
  sl_index body = sl_stmt_loop(kernel, stmt)->body;
  for (uint32_t d = s->delays_of_block[body]; d; d = s->delays.data[d].next)
    for (uint32_t j = 0; j < s->delays.data[d].length; j++)
      sl_regcode_set(code_of(s, s->awaited.data[s->delays.data[d].awaited].use), s->delays.data[d].first + j,
                     sl_value_int(0));
  sl_engines shells = 0;
  for (sl_engines rest = waiters_on_updates_in(s, body) & engines & ~s->plan->presence.inside[body]; rest; rest &= rest - 1) {
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
  struct shadow s = { .plan = &plan };
  plan.register_name = register_name;
  plan.state = &s;
  int status = sl_plan_prepare(&plan, false);
  if (status == SLUICE_OK) {
    sl_plan_share(&plan, allocation->sharing, false);
    status = sl_plan_check_divergence(&plan);
  }
  if (status == SLUICE_OK) {
    (void)sl_vec_push(plan.heap, &s.uses);
    (void)sl_vec_push(plan.heap, &s.awaited);
    (void)sl_vec_push(plan.heap, &s.delays);
    collect(&s);
    make_registers(&s);
    make_lists(&s);
    status = sl_plan_walk(&plan, &rules, &s);
  }
  if (status == SLUICE_OK)
    sl_plan_write(&plan);
  sl_heap_child_free(plan.heap);
  return status;
}
