/* shadow.c: the strategy of shadow counters and delay lines.
 *
 * Each engine e keeps, for every semaphore s it waits on, the value s will have once its producing stream has retired
 * everything before this point of the walk (the shadow counter sg), and for every producer p it waits on the value at p's
 * latest instance (sn). A loop A that carries a distance k >= 1 has a delay line dl_1..dl_k: shifted at the tail of each
 * iteration, zeroed on arrival. Thresholds: sn for distance 0, dl_k for k. Zeros make "no instance yet" pass. Distances
 * across visits have delay lines of their own, which are zeroed once, at the start.
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
 * A vector (a at A, b at B, B directly in A, p directly in B, whose body holds N updates of s, p the K-th) has the threshold
 *   min( at_a + N * (h_B - b) - (N - K), dl_a of (p, A) ), times gt(h_B, b) when b > 0
 * h_B counts the iterations of the current visit, from 1, and at_0, at_1, ... are what sg was on this and the earlier arrivals
 * at B: shifted on arrival, also when B then runs 0 times. The delay line clamps it where that visit was shorter, and its zeros
 * let the first a iterations of A pass. Nothing falls below 0: where the mask is 1, h_B - b is at least 1.
 * What does not have this form is cut at A (cut_vectors), which waits longer, and reported.
 *
 * Producers directly in the kernel's root need no register: their values are numbers. Cheaper forms of the same values:
 *   - latest: a wait that a distance of 1 carries, ahead of its producer, needs the latest instance, sn, where no visit starts anew
 *     (across visits, or in a loop that is visited once);
 *   - alias: when all updates of s stand in one run and p is the last, sn is always sg;
 *   - direct, of engine and semaphore: when all N updates of s stand in one run, in block P, then after n iterations of P it has
 *     start + N * n once everything has retired, and a wait of e on p, the K-th of them, that
 *       is in P, carried by P at distance k:               start + N * (n - k) + K
 *       needs the latest instance and is not in P:         start + N * (n - 1) + K.
 *     These differ by constants: one register holds the least of them, and the others add the difference d. Where a visit starts
 *     anew the distance k has a delay line of that register instead; its zeros read d, so s starts at the largest d, and where n
 *     may be below k (or 1) at N * k - K at least: credits. Semaphores that count alike (same P, N and first value) share the
 *     register. Where N is 1, P belongs to a loop from 0 on that is visited once, and all the waits are in P, the loop's own
 *     variable is n, and there is no register.
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
  uint32_t group;     /* USE_DIRECT */
  int64_t least;      /* USE_DIRECT: least offset of its waits */
  bool is_outside;    /* USE_DIRECT: some of its waits is not in the block of the updates */
  uint32_t length;    /* USE_DIRECT: largest distance that has a delay line */
  uint32_t next;      /* of the same semaphore */
};

/* Engine e waits for producer p. */
struct awaited {
  sl_index producer;
  uint32_t use;
  sl_vreg sn;
  uint32_t next_of_stmt; /* list, 0 ends */
};

/* Registers 1, 2, ... iterations behind: dl_j is first + j - 1. */
struct line {
  uint32_t length;
  sl_vreg first;
};

/* Delay line of (awaited, loop body), within a visit or across visits. */
struct delay {
  uint32_t awaited;
  sl_index block;
  bool across;
  struct line line;
  uint32_t next; /* of the same block */
};

/* What sg was on arrival at the inner loop of vectors: `line` begins with the current visit. */
struct arrivals {
  uint32_t use;
  sl_index block;
  struct line line;
  uint32_t next; /* of the same block */
};

/* The iterations of the current visit of a loop that one engine counts for vectors. */
struct trips {
  uint32_t engine;
  sl_index block;
  sl_vreg count;
  uint32_t next; /* of the same block */
};

/* USE_DIRECT: what one engine counts of one block in steps of N, shared by all semaphores that count alike. */
struct group {
  uint32_t engine, step, first; /* first: value in the first iteration */
  sl_index block;
  uint32_t sem;       /* one of them, for the name */
  bool is_outside;    /* some of its waits is not in the block */
  sl_vreg now;        /* the least of its thresholds in this iteration; 0: the loop's variable has it, but for `first` */
  struct line past;   /* what it was */
  sl_index counted;   /* the loop at hand, when its iterations were added at once */
  uint32_t next;      /* of the same block */
};

struct shadow {
  struct sl_plan *plan;
  bool root_is_alone; /* no semaphore counts both in the root and in loops */
  sl_vec(struct use) uses;        /* (from 1) */
  sl_vec(struct awaited) awaited; /* (from 1) */
  sl_vec(struct delay) delays;    /* (from 1); USE_GENERAL */
  sl_vec(struct group) groups;    /* (from 1) */
  sl_vec(struct arrivals) arrivals; /* (from 1) */
  sl_vec(struct trips) trips;       /* (from 1) */
  sl_map use_of;      /* (engine, sem) */
  sl_map awaited_of;  /* (use, statement) */
  sl_map delay_of;    /* delay_key */
  sl_map arrivals_of; /* (use, block) */
  sl_map trips_of;    /* (engine, block) */
  sl_map updates_of;  /* (block, sem): updates_in_block */
  uint64_t *room;     /* by semaphore: its largest start value */
  uint32_t *uses_of_sem, *awaited_of_stmt, *delays_of_block, *groups_of_block; /* heads of the lists */
  uint32_t *arrivals_of_block, *trips_of_block;
  sl_vec(uint32_t) touched; /* semaphores of the run at hand */
  sl_vec(struct sl_value) thresholds; /* of the consumer at hand */
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
static bool is_constant(const struct shadow *s, const struct sl_edge *edge)
{
  const struct sl_plan *plan = s->plan;
  return edge->producer_block == plan->kernel->root &&
         (s->root_is_alone || plan->sems.data[plan->stmt[edge->producer].update_sem].only_root);
}

/* Of the body of a loop: whether it stands in no other. */
static bool is_visited_once(const struct sl_kernel *kernel, sl_index body)
{
  sl_index block = sl_block_parent(kernel, body);
  while (block != kernel->root && kernel->stmts.data[kernel->blocks.data[block].owner].kind != SL_STMT_LOOP)
    block = sl_block_parent(kernel, block);
  return block == kernel->root;
}

/* Whether the first iterations of a visit wait as those of the first one do. */
static bool goes_on(const struct shadow *s, const struct sl_edge *edge)
{
  return edge->across || is_visited_once(s->plan->kernel, edge->block);
}

/* Whether the consumer needs the latest instance of its producer, given that it is not in one block with it below the carrying
 * one: at distance 0, or when it stands before the producer and needs the iteration before. */
static bool needs_latest(const struct shadow *s, const struct sl_edge *edge)
{
  const struct sl_plan *plan = s->plan;
  return edge->k == 0 || (edge->k == 1 && plan->stmt[edge->consumer].position < plan->stmt[edge->producer].position &&
                          edge->block == sl_common_block(plan->kernel, edge->producer, edge->consumer) && goes_on(s, edge));
}

/* The same where sn has it: it is set before the first instruction of the producer's run. */
static bool reads_latest(const struct shadow *s, const struct sl_edge *edge)
{
  const struct sl_plan_stmt *stmt = s->plan->stmt;
  return !sl_edge_is_vector(edge) && needs_latest(s, edge) &&
         (edge->k == 0 || stmt[edge->consumer].run != stmt[edge->producer].run);
}

/* ---- the direct form ---- */

static const struct sl_plan_sem *sem_of(const struct shadow *s, const struct sl_edge *edge)
{
  return &s->plan->sems.data[s->plan->stmt[edge->producer].update_sem];
}

/* Whether the direct form has a delay line for the edge. */
static bool is_delayed(const struct shadow *s, const struct sl_edge *edge)
{
  return edge->k > 0 && edge->block == edge->producer_block && !goes_on(s, edge);
}

/* How far each semaphore may be ahead at the start: what it can count to, less its updates; where their number is not known, a
 * share of it. */
static void find_room(struct shadow *s)
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

/* What the threshold of an edge is ahead of start + N * n, in the direct form. */
static int64_t offset_of(const struct shadow *s, const struct sl_edge *edge)
{
  int64_t back = edge->block != edge->producer_block ? 1 : is_delayed(s, edge) ? 0 : edge->k;
  return (int64_t)s->plan->stmt[edge->producer].place_in_run - back * sem_of(s, edge)->updates;
}

static bool has_direct_form(const struct shadow *s, const struct sl_edge *edge)
{
  const struct sl_plan_sem *sem = sem_of(s, edge);
  if (sem->runs != 1 || sl_edge_is_vector(edge) || (edge->block != edge->producer_block && !needs_latest(s, edge)))
    return false;
  int64_t credit = is_delayed(s, edge) ? sem->updates : -offset_of(s, edge);
  return credit <= (int64_t)s->room[s->plan->stmt[edge->producer].update_sem];
}

/* ---- which vectors have the form ---- */

/* N: the updates of a semaphore in one iteration of a block; 0 when a loop or branch in it makes them vary. */
static uint32_t updates_in_block(struct shadow *s, sl_index block, uint32_t sem)
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
static const char *obstacle(struct shadow *s, const struct sl_edge *edge)
{
  enum { MOST_AHEAD = 1 << 30 /* updates: added to a counter that has a width of its own */ };
  uint32_t sem = s->plan->stmt[edge->producer].update_sem;
  if (edge->producer_block != edge->inner_block)
    return "the producer does not stand directly in the inner loop";
  uint32_t updates = updates_in_block(s, edge->inner_block, sem);
  if (updates == 0)
    return "its semaphore is updated in a loop or branch inside the inner loop too";
  if (edge->inner_k < 0 && (int64_t)updates * -(int64_t)edge->inner_k > MOST_AHEAD)
    return "the inner distance is beyond what is counted";
  return s->plan->target->sem.modular ? "values of semaphores may run around" : NULL;
}

static void cut_vectors(struct shadow *s)
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

static uint32_t put_use(struct shadow *s, uint32_t engine, uint32_t sem)
{
  bool is_new;
  uint32_t *at = sl_map_put(&s->use_of, s->plan->heap, sl_map_pair(engine, sem), &is_new);
  if (is_new) {
    *at = s->uses.len;
    struct use *use = sl_vec_push(s->plan->heap, &s->uses);
    use->engine = engine;
    use->sem = sem;
    use->form = USE_DIRECT;
    use->least = INT64_MAX;
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

/* A kernel has fewer blocks than half of what an index can count: each takes several characters of its text. */
static uint64_t delay_key(uint32_t awaited, sl_index block, bool across)
{
  assert(block < UINT32_MAX / 2);
  return sl_map_pair(awaited, 2 * block + across);
}

static void put_delay(struct shadow *s, uint32_t awaited, sl_index block, bool across, uint32_t k)
{
  bool is_new;
  uint32_t *at = sl_map_put(&s->delay_of, s->plan->heap, delay_key(awaited, block, across), &is_new);
  if (is_new) {
    *at = s->delays.len;
    struct delay *delay = sl_vec_push(s->plan->heap, &s->delays);
    delay->awaited = awaited;
    delay->block = block;
    delay->across = across;
  }
  if (s->delays.data[*at].line.length < k)
    s->delays.data[*at].line.length = k;
}

static void put_vector(struct shadow *s, uint32_t u, const struct sl_edge *edge)
{
  sl_heap *heap = s->plan->heap;
  uint32_t engine = s->uses.data[u].engine;
  bool is_new;
  uint32_t *at = sl_map_put(&s->arrivals_of, heap, sl_map_pair(u, edge->inner_block), &is_new);
  if (is_new) {
    *at = s->arrivals.len;
    sl_vec_add(heap, &s->arrivals, ((struct arrivals){ .use = u, .block = edge->inner_block }));
  }
  struct line *line = &s->arrivals.data[*at].line;
  line->length = line->length > edge->k ? line->length : edge->k + 1; /* and the current visit */
  at = sl_map_put(&s->trips_of, heap, sl_map_pair(engine, edge->inner_block), &is_new);
  if (is_new) {
    *at = s->trips.len;
    sl_vec_add(heap, &s->trips, ((struct trips){ .engine = engine, .block = edge->inner_block }));
  }
}

/* First who waits on what, and in which form; only then delay lines, which the direct form does not need. */
static void collect(struct shadow *s)
{
  const struct sl_plan *plan = s->plan;
  for (uint32_t i = 0; i < plan->edges.len; i++) {
    const struct sl_edge *edge = &plan->edges.data[i];
    if (is_constant(s, edge))
      continue;
    uint32_t use = put_use(s, sl_plan_issues(plan, edge->consumer), plan->stmt[edge->producer].update_sem);
    (void)put_awaited(s, use, edge->producer);
    if (!has_direct_form(s, edge))
      s->uses.data[use].form = USE_GENERAL;
  }
  for (uint32_t i = 0; i < plan->edges.len; i++) {
    const struct sl_edge *edge = &plan->edges.data[i];
    if (is_constant(s, edge))
      continue;
    uint32_t u = put_use(s, sl_plan_issues(plan, edge->consumer), plan->stmt[edge->producer].update_sem);
    struct use *use = &s->uses.data[u];
    if (use->form == USE_GENERAL) {
      if (!reads_latest(s, edge))
        put_delay(s, put_awaited(s, u, edge->producer), edge->block, edge->across, edge->k);
      if (sl_edge_is_vector(edge))
        put_vector(s, u, edge);
      continue;
    }
    if (offset_of(s, edge) < use->least)
      use->least = offset_of(s, edge);
    use->is_outside |= edge->block != edge->producer_block;
    if (is_delayed(s, edge) && edge->k > use->length)
      use->length = edge->k;
  }
}

/* No threshold of the direct form is below 0, and what a delay line's zero reads, with the difference added, must still pass. */
static void give_credits(struct shadow *s)
{
  const struct sl_plan *plan = s->plan;
  for (uint32_t i = 0; i < plan->edges.len; i++) {
    const struct sl_edge *edge = &plan->edges.data[i];
    if (is_constant(s, edge))
      continue;
    const struct use *use =
      &s->uses.data[put_use(s, sl_plan_issues(plan, edge->consumer), plan->stmt[edge->producer].update_sem)];
    struct sl_plan_sem *sem = &s->plan->sems.data[use->sem];
    int64_t credit = is_delayed(s, edge) ? offset_of(s, edge) - use->least : -offset_of(s, edge);
    if (use->form == USE_DIRECT && credit > sem->start)
      sem->start = (uint32_t)credit;
  }
}

static sl_index block_of_use(const struct shadow *s, const struct use *use)
{
  return s->plan->sems.data[use->sem].only_block;
}

/* The least threshold in the first iteration. */
static uint32_t first_value(const struct shadow *s, const struct use *use)
{
  return (uint32_t)(s->plan->sems.data[use->sem].start + use->least);
}

/* Start values are free as long as they are not too small: they are raised so that semaphores which an engine counts in equal
 * steps in one block count alike, and share their registers. `is_fixed`: by semaphore. */
static void align(struct shadow *s, uint32_t u, bool *is_fixed)
{
  const struct sl_plan *plan = s->plan;
  const struct use *own = &s->uses.data[u];
  uint32_t step = plan->sems.data[own->sem].updates, target = first_value(s, own), alike = 0;
  bool has_fixed = is_fixed[own->sem];
  for (uint32_t v = 1; v < s->uses.len; v++) {
    const struct use *use = &s->uses.data[v];
    const struct sl_plan_sem *sem = &plan->sems.data[use->sem];
    if (use->form != USE_DIRECT || use->engine != own->engine || sem->updates != step ||
        block_of_use(s, use) != block_of_use(s, own))
      continue;
    alike++;
    uint32_t first = first_value(s, use);
    if (!has_fixed && (is_fixed[use->sem] || first > target))
      target = first;
    has_fixed |= is_fixed[use->sem];
  }
  for (uint32_t v = 1; v < s->uses.len && alike > 1; v++) {
    const struct use *use = &s->uses.data[v];
    struct sl_plan_sem *sem = &s->plan->sems.data[use->sem];
    if (use->form != USE_DIRECT || use->engine != own->engine || sem->updates != step ||
        block_of_use(s, use) != block_of_use(s, own) || is_fixed[use->sem] || target < first_value(s, use) ||
        sem->start + (uint64_t)(target - first_value(s, use)) > s->room[use->sem])
      continue;
    sem->start += target - first_value(s, use);
    is_fixed[use->sem] = true;
  }
}

static void align_starts(struct shadow *s)
{
  enum { MOST_USES = 2000 /* quadratic: beyond that registers are not what matters */ };
  if (s->uses.len > MOST_USES)
    return;
  bool *is_fixed = sl_heap_calloc(s->plan->heap, s->plan->sems.len, sizeof *is_fixed);
  for (uint32_t u = 1; u < s->uses.len; u++)
    if (s->uses.data[u].form == USE_DIRECT && !is_fixed[s->uses.data[u].sem])
      align(s, u, is_fixed);
  sl_heap_free(s->plan->heap, is_fixed);
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

/* %sg_<block>_<stream>, %sn_<label>, %dl_<label>_<loop>_<distance>; in the direct form %sg_... and %dl_<block>_<stream>_<k>.
 * Delay lines across visits: %da_...; of a vector's inner loop %at_<loop>_<stream>_<visits ago> and %h_<loop>. */
static sl_name register_name(void *state, const struct sl_regcode *code, struct sl_vreg_role role)
{
  const struct shadow *s = state;
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
    const struct delay *delay = &s->delays.data[role.index];
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
    const struct arrivals *arrivals = &s->arrivals.data[role.index];
    uint32_t sem = s->uses.data[arrivals->use].sem;
    bool is_named = plan->sems.data[sem].block == arrivals->block && !plan->sems.data[sem].producer;
    sl_buf_printf(&buf, "at_%s%s", is_named ? "" : sl_plan_block_name(plan, arrivals->block, buffer), is_named ? "" : "_");
    add_sem(&buf, plan, sem);
    sl_buf_printf(&buf, "_%u", role.number - 1);
    break;
  }
  case ROLE_TRIPS:
    sl_buf_printf(&buf, "h_%s", sl_plan_block_name(plan, s->trips.data[role.index].block, buffer));
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

/* Registers that are made one after the other are numbered so. */
static void make_line(struct line *line, struct sl_regcode *code, enum role kind, uint32_t index)
{
  for (uint32_t j = 1; j <= line->length; j++) {
    sl_vreg vreg = sl_regcode_vreg(code, (struct sl_vreg_role){ kind, index, j });
    line->first = j == 1 ? vreg : line->first;
  }
}

static void make_general_registers(struct shadow *s)
{
  for (uint32_t u = 1; u < s->uses.len; u++)
    if (s->uses.data[u].form == USE_GENERAL)
      s->uses.data[u].sg = new_register(s, u, ROLE_COUNTER, u, 0);
  for (uint32_t a = 1; a < s->awaited.len; a++) {
    struct awaited *awaited = &s->awaited.data[a];
    const struct use *use = &s->uses.data[awaited->use];
    if (use->form != USE_GENERAL)
      continue;
    bool is_alias = is_last_of_only_run(s->plan, awaited->producer);
    awaited->sn = is_alias ? use->sg : new_register(s, awaited->use, ROLE_PRODUCER, a, 0);
  }
  for (uint32_t d = 1; d < s->delays.len; d++) {
    struct delay *delay = &s->delays.data[d];
    make_line(&delay->line, code_of(s, s->awaited.data[delay->awaited].use), ROLE_DELAY, d);
  }
}

static void make_vector_registers(struct shadow *s)
{
  for (uint32_t a = 1; a < s->arrivals.len; a++)
    make_line(&s->arrivals.data[a].line, code_of(s, s->arrivals.data[a].use), ROLE_ARRIVAL, a);
  for (uint32_t t = 1; t < s->trips.len; t++)
    s->trips.data[t].count =
      sl_regcode_vreg(&s->plan->code[s->trips.data[t].engine], (struct sl_vreg_role){ ROLE_TRIPS, t, 0 });
}

/* The group that counts as this use does, made if it is new; groups of one engine and block are few. */
static uint32_t put_group(struct shadow *s, uint32_t u)
{
  const struct use *use = &s->uses.data[u];
  const struct sl_plan_sem *sem = &s->plan->sems.data[use->sem];
  struct group wanted = { .engine = use->engine, .step = sem->updates, .first = first_value(s, use),
                          .block = sem->only_block, .sem = use->sem };
  for (uint32_t g = s->groups_of_block[wanted.block]; g; g = s->groups.data[g].next) {
    const struct group *group = &s->groups.data[g];
    if (group->engine == wanted.engine && group->step == wanted.step && group->first == wanted.first)
      return g;
  }
  wanted.next = s->groups_of_block[wanted.block];
  s->groups_of_block[wanted.block] = s->groups.len;
  sl_vec_add(s->plan->heap, &s->groups, wanted);
  return s->groups.len - 1;
}

/* Whether the loop's variable is the number of its iterations so far, in all. An addition to it is made once for all waits of an
 * iteration if common subexpressions are found; else a register costs less. */
static bool is_loop_variable(const struct shadow *s, const struct group *group)
{
  const struct sl_kernel *kernel = s->plan->kernel;
  sl_index owner = kernel->blocks.data[group->block].owner;
  if (group->step != 1 || group->is_outside || kernel->stmts.data[owner].kind != SL_STMT_LOOP)
    return false;
  const struct sl_loop *loop = sl_stmt_loop(kernel, owner);
  return loop->has_range && loop->short_range && is_visited_once(kernel, group->block) &&
         (s->plan->cleanups & SLUICE_CLEANUP_COMMON);
}

static void make_groups(struct shadow *s)
{
  for (uint32_t u = 1; u < s->uses.len; u++) {
    struct use *use = &s->uses.data[u];
    if (use->form != USE_DIRECT)
      continue;
    use->group = put_group(s, u);
    struct line *past = &s->groups.data[use->group].past;
    if (use->length > past->length)
      past->length = use->length;
    s->groups.data[use->group].is_outside |= use->is_outside;
  }
  for (uint32_t g = 1; g < s->groups.len; g++) {
    struct group *group = &s->groups.data[g];
    struct sl_regcode *code = &s->plan->code[group->engine];
    if (!is_loop_variable(s, group))
      group->now = sl_regcode_vreg(code, (struct sl_vreg_role){ ROLE_NOW, g, 0 });
    make_line(&group->past, code, ROLE_PAST, g);
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
  s->groups_of_block = sl_heap_calloc(heap, blocks, sizeof(uint32_t));
  s->arrivals_of_block = sl_heap_calloc(heap, blocks, sizeof(uint32_t));
  s->trips_of_block = sl_heap_calloc(heap, blocks, sizeof(uint32_t));
  s->in_run = sl_heap_calloc(heap, s->plan->sems.len, sizeof(uint32_t));
  for (uint32_t u = s->uses.len; u-- > 1;) {
    s->uses.data[u].next = s->uses_of_sem[s->uses.data[u].sem];
    s->uses_of_sem[s->uses.data[u].sem] = u;
  }
  for (uint32_t a = s->awaited.len; a-- > 1;) {
    struct awaited *awaited = &s->awaited.data[a];
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

/* ---- the rules of the walk ---- */

static void zero_line(struct sl_regcode *code, const struct line *line)
{
  for (uint32_t j = 0; j < line->length; j++)
    sl_regcode_set(code, line->first + j, sl_value_int(0));
}

static void shift_line(struct sl_regcode *code, const struct line *line, sl_vreg newest)
{
  for (uint32_t j = line->length; j >= 2; j--)
    sl_regcode_set(code, line->first + j - 1, sl_value_vreg(line->first + j - 2));
  if (line->length)
    sl_regcode_set(code, line->first, sl_value_vreg(newest));
}

/* Kernel start: sg at the semaphore's start value, sn at 0; in the direct form the value of the first instance. Delay lines
 * across visits are zeroed here alone, and what no vector reads before it is set has to have a value. */
static void set_start_values(struct shadow *s)
{
  const struct sl_plan *plan = s->plan;
  for (uint32_t u = 1; u < s->uses.len; u++)
    if (s->uses.data[u].form == USE_GENERAL)
      sl_regcode_set(code_of(s, u), s->uses.data[u].sg, sl_value_int(plan->sems.data[s->uses.data[u].sem].start));
  for (uint32_t a = 1; a < s->awaited.len; a++) {
    const struct awaited *awaited = &s->awaited.data[a];
    const struct use *use = &s->uses.data[awaited->use];
    if (use->form == USE_GENERAL && awaited->sn != use->sg)
      sl_regcode_set(code_of(s, awaited->use), awaited->sn, sl_value_int(0));
  }
  for (uint32_t g = 1; g < s->groups.len; g++) {
    const struct group *group = &s->groups.data[g];
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
  struct shadow *s = strategy;
  (void)engines; /* whoever counts trips has a consumer in the block */
  if (block == s->plan->kernel->root)
    set_start_values(s);
  for (uint32_t t = s->trips_of_block[block]; t; t = s->trips.data[t].next)
    sl_regcode_op(&s->plan->code[s->trips.data[t].engine], SL_OP_REG_ADD, s->trips.data[t].count,
                  sl_value_vreg(s->trips.data[t].count), sl_value_int(1));
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

/* The threshold of a vector, which the delay line's value clamps; see the head of the file. */
static struct sl_value vector_threshold(struct shadow *s, const struct sl_edge *edge, uint32_t u, struct sl_value clamp)
{
  const struct sl_plan_stmt *producer = &s->plan->stmt[edge->producer];
  struct sl_regcode *code = code_of(s, u);
  uint32_t n = updates_in_block(s, edge->inner_block, producer->update_sem);
  uint32_t t = *sl_map_get(&s->trips_of, sl_map_pair(s->uses.data[u].engine, edge->inner_block));
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

static struct sl_value variable_of(const struct shadow *s, const struct group *group)
{
  const struct sl_kernel *kernel = s->plan->kernel;
  return (struct sl_value){ SL_VALUE_NAME, sl_stmt_loop(kernel, kernel->blocks.data[group->block].owner)->var };
}

/* The threshold of one edge; in the direct form it may take an addition. */
static struct sl_value threshold_of(struct shadow *s, const struct sl_edge *edge)
{
  const struct sl_plan *plan = s->plan;
  const struct sl_plan_stmt *producer = &plan->stmt[edge->producer];
  if (is_constant(s, edge))
    return sl_value_int(plan->sems.data[producer->update_sem].start + producer->place_in_block);
  uint32_t engine = sl_plan_issues(plan, edge->consumer);
  uint32_t u = *sl_map_get(&s->use_of, sl_map_pair(engine, producer->update_sem));
  const struct use *use = &s->uses.data[u];
  if (use->form == USE_DIRECT) {
    const struct group *group = &s->groups.data[use->group];
    uint32_t ahead = (uint32_t)(offset_of(s, edge) - use->least);
    if (!group->now)
      return sl_regcode_value(&plan->code[engine], SL_OP_REG_ADD, variable_of(s, group), sl_value_int(group->first + ahead));
    sl_vreg least = is_delayed(s, edge) ? group->past.first + edge->k - 1 : group->now;
    return sl_regcode_value(&plan->code[engine], SL_OP_REG_ADD, sl_value_vreg(least), sl_value_int(ahead));
  }
  uint32_t a = *sl_map_get(&s->awaited_of, sl_map_pair(u, edge->producer));
  if (reads_latest(s, edge))
    return sl_value_vreg(s->awaited.data[a].sn);
  const uint32_t *delay = sl_map_get(&s->delay_of, delay_key(a, edge->block, edge->across));
  struct sl_value past = sl_value_vreg(s->delays.data[*delay].line.first + edge->k - 1);
  return sl_edge_is_vector(edge) ? vector_threshold(s, edge, u, past) : past;
}

static void add_waits(struct shadow *s, sl_index consumer)
{
  const struct sl_plan *plan = s->plan;
  uint32_t first = plan->stmt[consumer].first_edge, count = plan->stmt[consumer].edge_count;
  if (count == 0)
    return;
  struct sl_regcode *code = &plan->code[sl_plan_issues(plan, consumer)];
  sl_regcode_anchor(code, SL_BEFORE_STMT, consumer);
  sl_regcode_release(code);
  s->thresholds.len = 0;
  for (uint32_t i = first; i < first + count; i++) {
    if (i + SL_PREFETCH_AHEAD < plan->edges.len)
      sl_prefetch(&plan->stmt[plan->edges.data[i + SL_PREFETCH_AHEAD].producer]);
    sl_vec_add(plan->heap, &s->thresholds, threshold_of(s, &plan->edges.data[i]));
  }
  for (uint32_t i = 0; i < count; i++)
    sl_regcode_wait(code, consumer, plan->stmt[plan->edges.data[first + i].producer].update_sem, s->thresholds.data[i]);
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
  for (uint32_t d = s->delays_of_block[block]; d; d = s->delays.data[d].next) {
    const struct delay *delay = &s->delays.data[d];
    const struct awaited *awaited = &s->awaited.data[delay->awaited];
    shift_line(code_of(s, awaited->use), &delay->line, awaited->sn);
  }
  for (uint32_t g = s->groups_of_block[block]; g; g = s->groups.data[g].next) {
    const struct group *group = &s->groups.data[g];
    struct sl_regcode *code = &s->plan->code[group->engine];
    if (!group->now || !(engines >> group->engine & 1))
      continue; /* the loop counts, or it was counted at once */
    shift_line(code, &group->past, group->now);
    sl_regcode_op(code, SL_OP_REG_ADD, group->now, sl_value_vreg(group->now), sl_value_int(group->step));
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
  struct group *group = use->form == USE_DIRECT ? &s->groups.data[use->group] : NULL;
  if (group && (group->counted == loop || !group->now))
    return;
  struct sl_value each = emit_updates(s, code, body, use->sem, loop, SL_NONE);
  struct sl_value total = sl_regcode_value(code, SL_OP_REG_MUL, trips, each);
  if (group) {
    group->counted = loop;
    sl_regcode_op(code, SL_OP_REG_ADD, group->now, sl_value_vreg(group->now), total);
    return;
  }
  for (sl_index at = sl_walk_first(plan->kernel, body); at; at = sl_walk_next(plan->kernel, body, at))
    for (uint32_t a = s->awaited_of_stmt[at]; a; a = s->awaited.data[a].next_of_stmt)
      if (s->awaited.data[a].use == u && s->awaited.data[a].sn != use->sg)
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
    if (!s->delays.data[d].across)
      zero_line(code_of(s, s->awaited.data[s->delays.data[d].awaited].use), &s->delays.data[d].line);
  for (uint32_t g = s->groups_of_block[body]; g; g = s->groups.data[g].next)
    zero_line(&s->plan->code[s->groups.data[g].engine], &s->groups.data[g].past);
  for (uint32_t a = s->arrivals_of_block[body]; a; a = s->arrivals.data[a].next)
    shift_line(code_of(s, s->arrivals.data[a].use), &s->arrivals.data[a].line, s->uses.data[s->arrivals.data[a].use].sg);
  for (uint32_t t = s->trips_of_block[body]; t; t = s->trips.data[t].next)
    sl_regcode_set(&s->plan->code[s->trips.data[t].engine], s->trips.data[t].count, sl_value_int(0));
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
  struct shadow s = { .plan = &plan, .root_is_alone = allocation->sharing != SL_SHARE_STREAM };
  plan.register_name = register_name;
  plan.state = &s;
  sl_plan_prepare(&plan, false);
  sl_plan_share(&plan, allocation->sharing, false);
  int status = sl_plan_check_divergence(&plan);
  if (status == SLUICE_OK) {
    (void)sl_vec_push(plan.heap, &s.uses);
    (void)sl_vec_push(plan.heap, &s.awaited);
    (void)sl_vec_push(plan.heap, &s.delays);
    (void)sl_vec_push(plan.heap, &s.groups);
    (void)sl_vec_push(plan.heap, &s.arrivals);
    (void)sl_vec_push(plan.heap, &s.trips);
    cut_vectors(&s);
    find_room(&s);
    collect(&s);
    give_credits(&s);
    align_starts(&s);
    make_lists(&s);
    make_general_registers(&s);
    make_vector_registers(&s);
    make_groups(&s);
    status = sl_plan_walk(&plan, &rules, &s);
  }
  if (status == SLUICE_OK)
    sl_plan_write(&plan);
  sl_heap_child_free(plan.heap);
  return status;
}
