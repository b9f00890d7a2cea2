/* unroll.c: the strategy unroll: every loop with a static trip count is written out, then thresholds are numbers.
 *
 * Requires a kernel whose copies are expanded. Leaves a kernel without loops: statements are copied in sequential order with
 * loop variables replaced by their values (and what becomes constant folded), labels get the iteration behind an `@`
 * (`mm@2.0`, outermost loop first), and each dependence becomes one line per instance, between the copies that it relates. So
 * the output can be judged by itself, and against the kernel it came from: a label before its `@` is the original's.
 *
 * What cannot be written out is refused: loops whose bounds are not numbers or static parameters, and producers inside a
 * branch that is decided by the run (which of their instances is the latest is not known here), `?conditions` inside loops.
 * Time and memory are linear in the output, which is bounded.
 */
#include <assert.h>

#include "ir/copy.h"
#include "ir/eval.h"
#include "sync/passes.h"
#include "sync/plan.h"

enum { MOST_STATEMENTS = 4000000 };

/* One visit of a vector's inner loop: the producer's latest copy on arrival, then at the end of each iteration. */
struct visit {
  sl_vec(sl_index) ends;
};

/* A dependence while its instances are being found. */
struct pending {
  sl_index producer, consumer, block;
  uint32_t k;
  bool across;
  sl_index inner_block; /* of a vector; else 0 */
  int64_t inner_k;
  sl_vec(struct visit) visits; /* of the inner loop, in the current visit of the outer one; bounded by the output */
  sl_loc loc; /* of the edge */
  uint32_t next_of_consumer, next_of_block, next_of_inner; /* lists, index + 1 */
  uint32_t delay;                           /* first of k entries */
};

struct unroller {
  sl_heap *heap;
  sl_program *program;
  struct sl_kernel *kernel;
  const struct sl_target *target;
  sl_report *report;
  struct sl_copier copier;
  struct sl_param_values params; /* static ones */
  sl_index *value;               /* by name: the number a loop variable stands for, or 0 */
  sl_vec(int64_t) iteration;     /* of the loops around, outermost first */
  sl_vec(struct pending) pending;
  uint32_t *of_consumer, *of_block, *of_inner; /* by statement, by block, by a vector's inner block */
  sl_index *latest;              /* by producer statement: its latest copy */
  sl_vec(sl_index) delays;
  sl_vec(struct sl_dep) deps;    /* of the output */
  uint32_t statements;
  bool is_deciding; /* a branch: see substitute */
  bool failed;
};

static void copy_block(struct unroller *u, sl_index from, sl_index to);

/* ---- names and labels ---- */

/* Loop variables become numbers; parameters keep their names, so that the output stays readable. A branch, as the bounds of
 * loops, is decided by static parameters too. */
static sl_index substitute(void *user, sl_name name)
{
  struct unroller *u = user;
  const uint32_t *at = u->is_deciding && !u->value[name] ? sl_map_get(&u->params.index, name) : NULL;
  if (!at || u->params.values.data[*at].state != SL_CONST_KNOWN)
    return u->value[name];
  return sl_expr_int(u->kernel, u->params.values.data[*at].value, SL_NO_LOC);
}

static sl_name relabel(void *user, sl_name label)
{
  struct unroller *u = user;
  if (!u->iteration.len)
    return label;
  sl_buf buf;
  sl_buf_init(&buf, u->heap);
  sl_buf_puts(&buf, sl_text(u->program, label));
  for (uint32_t i = 0; i < u->iteration.len; i++) {
    sl_buf_putc(&buf, i ? '.' : '@');
    sl_buf_int(&buf, u->iteration.data[i]);
  }
  sl_name name = sl_names_add(&u->program->names, &u->program->heap, buf.data, buf.len);
  sl_heap_free(u->heap, buf.data);
  return name;
}

static struct sl_constant lookup(void *user, enum sl_expr_kind kind, sl_name name)
{
  struct unroller *u = user;
  if (kind != SL_EXPR_NAME)
    return sl_constant_none(SL_CONST_UNKNOWN);
  if (u->value[name])
    return sl_constant_of(u->kernel->exprs.data[u->value[name]].u.value);
  const uint32_t *at = sl_map_get(&u->params.index, name);
  return at ? u->params.values.data[*at] : sl_constant_none(SL_CONST_UNKNOWN);
}

/* ---- operations ---- */

static void note_latest(struct unroller *u, struct pending *p)
{
  assert(p->visits.len > 0 && "an iteration follows its arrival");
  sl_vec_add(u->heap, &p->visits.data[p->visits.len - 1].ends, u->latest[p->producer]);
}

static sl_index vector_producer(const struct pending *p)
{
  if (p->visits.len <= p->k)
    return SL_NONE;
  const struct visit *now = &p->visits.data[p->visits.len - 1], *then = now - p->k;
  int64_t wanted = (int64_t)now->ends.len - p->inner_k; /* the current iteration has the number of what was noted so far */
  if (wanted < 1)
    return SL_NONE;
  return then->ends.data[wanted < (int64_t)then->ends.len ? wanted : (int64_t)then->ends.len - 1];
}

/* The copy of the producer that a consumer's instance here needs, or 0. */
static sl_index needed_producer(const struct unroller *u, const struct pending *p)
{
  if (p->inner_block)
    return vector_producer(p);
  return p->k ? u->delays.data[p->delay + p->k - 1] : u->latest[p->producer];
}

/* One line for each dependence that this instance of the consumer has, to the instance it needs. */
static void add_lines(struct unroller *u, sl_index consumer, sl_name label)
{
  const struct sl_kernel *kernel = u->kernel;
  for (uint32_t n = u->of_consumer[consumer]; n; n = u->pending.data[n - 1].next_of_consumer) {
    const struct pending *p = &u->pending.data[n - 1];
    sl_index producer = needed_producer(u, p);
    if (!producer)
      continue; /* no instance is owed yet */
    struct sl_dep line = { .producer = sl_stmt_op(kernel, producer)->label, .consumer = label,
                           .loc = p->loc };
    sl_vec_add(u->heap, &u->deps, line);
  }
}

static void copy_op(struct unroller *u, sl_index from, sl_index to)
{
  sl_index copy = sl_copy_op(&u->copier, from);
  sl_stmt_append(u->kernel, to, copy);
  add_lines(u, from, sl_stmt_op(u->kernel, copy)->label);
  u->latest[from] = copy;
}

/* ---- loops and branches ---- */

static bool bound(struct unroller *u, sl_index expr, int64_t otherwise, int64_t *value)
{
  *value = otherwise;
  if (!expr)
    return true;
  struct sl_constant constant = sl_eval(u->kernel, expr, lookup, u);
  *value = constant.value;
  return constant.state == SL_CONST_KNOWN;
}

static void arrive(struct unroller *u, sl_index block)
{
  for (uint32_t n = u->of_block[block]; n; n = u->pending.data[n - 1].next_of_block) {
    struct pending *p = &u->pending.data[n - 1];
    if (p->inner_block)
      p->visits.len = 0;
    else if (!p->across)
      memset(&u->delays.data[p->delay], 0, p->k * sizeof *u->delays.data);
  }
  for (uint32_t n = u->of_inner[block]; n; n = u->pending.data[n - 1].next_of_inner) {
    (void)sl_vec_push(u->heap, &u->pending.data[n - 1].visits);
    note_latest(u, &u->pending.data[n - 1]);
  }
}

static void end_iteration(struct unroller *u, sl_index block)
{
  for (uint32_t n = u->of_block[block]; n; n = u->pending.data[n - 1].next_of_block) {
    const struct pending *p = &u->pending.data[n - 1];
    if (p->inner_block)
      continue;
    sl_index *line = &u->delays.data[p->delay];
    memmove(line + 1, line, (p->k - 1) * sizeof *line);
    line[0] = u->latest[p->producer];
  }
  for (uint32_t n = u->of_inner[block]; n; n = u->pending.data[n - 1].next_of_inner)
    note_latest(u, &u->pending.data[n - 1]);
}

static void refuse(struct unroller *u, sl_index stmt, const char *why)
{
  if (!u->failed)
    sl_error(u->report, SL_RULE_INEXPRESSIBLE, u->kernel->stmts.data[stmt].loc,
             "--alloc=unroll cannot write this out: %s; --alloc=shadow keeps loops", why);
  u->failed = true;
}

static void copy_loop(struct unroller *u, sl_index stmt, sl_index to)
{
  const struct sl_loop loop = *sl_stmt_loop(u->kernel, stmt);
  int64_t lo, hi, step;
  bool known = loop.has_range && !loop.while_cond.count && !loop.divergent && bound(u, loop.lo, 0, &lo) &&
               bound(u, loop.hi, 0, &hi) && bound(u, loop.step, 1, &step) && step > 0;
  if (!known) {
    refuse(u, stmt, "the loop has no static trip count");
    return;
  }
  if (!u->kernel->blocks.data[loop.body].first)
    return; /* its trips would cost time and be counted nowhere */
  arrive(u, loop.body);
  sl_vec_add(u->heap, &u->iteration, 0);
  for (int64_t value = lo, n = 0; value < hi && !u->failed; n++) {
    u->value[loop.var] = sl_expr_int(u->kernel, value, SL_NO_LOC);
    u->iteration.data[u->iteration.len - 1] = n;
    copy_block(u, loop.body, to);
    end_iteration(u, loop.body);
    if ((uint64_t)hi - (uint64_t)value <= (uint64_t)step) /* unsigned: what is left may exceed a signed number */
      break;
    value += step;
  }
  u->iteration.len--;
  u->value[loop.var] = SL_NONE;
}

static bool holds_producer(const struct unroller *u, sl_index block)
{
  for (uint32_t i = 0; i < u->pending.len; i++)
    if (sl_block_contains(u->kernel, block, u->kernel->stmts.data[u->pending.data[i].producer].block))
      return true;
  return false;
}

static void copy_branch(struct unroller *u, sl_index stmt, sl_index to)
{
  struct sl_kernel *kernel = u->kernel;
  const struct sl_branch branch = *sl_stmt_branch(kernel, stmt);
  u->is_deciding = true;
  int decided = sl_copy_decide(&u->copier, branch.cond);
  u->is_deciding = false;
  if (decided >= 0) {
    sl_index taken = decided ? branch.then_block : branch.else_block;
    if (taken)
      copy_block(u, taken, to);
    return;
  }
  if (u->iteration.len && sl_copy_is_opaque(kernel, branch.cond)) {
    refuse(u, stmt, "a `?condition` in a loop would become several, each with outcomes of its own");
    return;
  }
  if (holds_producer(u, branch.then_block) || (branch.else_block && holds_producer(u, branch.else_block))) {
    refuse(u, stmt, "the branch is decided by the run and holds an awaited instruction");
    return;
  }
  sl_index copy = sl_stmt_new(kernel, SL_STMT_IF, kernel->stmts.data[stmt].loc);
  uint32_t item = kernel->branches.len;
  (void)sl_vec_push(kernel->heap, &kernel->branches);
  kernel->stmts.data[copy].item = item;
  struct sl_cond cond = sl_copy_cond(&u->copier, branch.cond);
  sl_index then_block = sl_block_new(kernel, copy);
  sl_index else_block = branch.else_block ? sl_block_new(kernel, copy) : SL_NONE;
  kernel->branches.data[item] = (struct sl_branch){ cond, then_block, else_block };
  sl_stmt_append(kernel, to, copy);
  copy_block(u, branch.then_block, then_block);
  if (else_block)
    copy_block(u, branch.else_block, else_block);
  if (else_block && !kernel->blocks.data[else_block].first)
    kernel->branches.data[item].else_block = SL_NONE;
}

static void copy_block(struct unroller *u, sl_index from, sl_index to)
{
  struct sl_kernel *kernel = u->kernel;
  for (sl_index at = kernel->blocks.data[from].first; at && !u->failed; at = kernel->stmts.data[at].next) {
    if (++u->statements > MOST_STATEMENTS) {
      refuse(u, at, "it would have more than 4,000,000 statements");
      break;
    }
    switch ((enum sl_stmt_kind)kernel->stmts.data[at].kind) {
    case SL_STMT_OP: copy_op(u, at, to); break;
    case SL_STMT_LOOP: copy_loop(u, at, to); break;
    case SL_STMT_IF: copy_branch(u, at, to); break;
    default: {
      sl_index copy = sl_stmt_new(kernel, (enum sl_stmt_kind)kernel->stmts.data[at].kind, kernel->stmts.data[at].loc);
      sl_stmt_append(kernel, to, copy);
    }
    }
  }
}

/* ---- dependences ---- */

static int collect(struct unroller *u)
{
  struct sl_kernel *kernel = u->kernel;
  sl_edges edges = { 0 };
  int status = sl_deps_resolve_reduced(&edges, u->heap, u->program, kernel, u->target, u->report);
  u->of_consumer = sl_heap_calloc(u->heap, kernel->stmts.len, sizeof *u->of_consumer);
  u->of_block = sl_heap_calloc(u->heap, kernel->blocks.len, sizeof *u->of_block);
  u->of_inner = sl_heap_calloc(u->heap, kernel->blocks.len, sizeof *u->of_inner);
  u->latest = sl_heap_calloc(u->heap, kernel->stmts.len, sizeof *u->latest);
  for (uint32_t i = edges.len; i-- > 0 && status == SLUICE_OK;) {
    const struct sl_edge *edge = &edges.data[i];
    struct pending pending = { .producer = edge->producer, .consumer = edge->consumer, .block = edge->block, .k = edge->k,
                               .across = edge->across, .inner_block = edge->inner_block, .inner_k = edge->inner_k,
                               .loc = sl_edge_loc(kernel, edge), .next_of_consumer = u->of_consumer[edge->consumer],
                               .delay = u->delays.len };
    if (edge->k)
      pending.next_of_block = u->of_block[edge->block];
    if (sl_edge_is_vector(edge))
      pending.next_of_inner = u->of_inner[edge->inner_block];
    else if (edge->k)
      (void)sl_vec_extend(u->heap, &u->delays, edge->k);
    sl_vec_add(u->heap, &u->pending, pending);
    u->of_consumer[edge->consumer] = u->pending.len;
    if (edge->k)
      u->of_block[edge->block] = u->pending.len;
    if (sl_edge_is_vector(edge))
      u->of_inner[edge->inner_block] = u->pending.len;
  }
  return status;
}

/* A condition that stands at several places is told apart by where it stands, and writing out moves places. */
static bool has_repeated_condition(struct unroller *u)
{
  const struct sl_kernel *kernel = u->kernel;
  sl_map seen = { 0 };
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    uint8_t kind = kernel->stmts.data[at].kind;
    if (kind != SL_STMT_IF && kind != SL_STMT_LOOP)
      continue;
    struct sl_cond cond = kind == SL_STMT_IF ? sl_stmt_branch(kernel, at)->cond : sl_stmt_loop(kernel, at)->while_cond;
    for (uint32_t i = 0; i < cond.count; i++) {
      const struct sl_cmp *cmp = &kernel->cmps.data[cond.first + i];
      bool is_new = true;
      if (cmp->op == SL_CMP_OPAQUE)
        (void)sl_map_put(&seen, u->heap, cmp->opaque, &is_new);
      if (is_new)
        continue;
      refuse(u, at, "its condition stands at several places, which writing out would confuse");
      return true;
    }
  }
  return false;
}

static void replace_body(struct unroller *u, sl_index root)
{
  struct sl_kernel *kernel = u->kernel;
  kernel->root = root;
  kernel->deps.len = kernel->distances.len = 0;
  for (uint32_t i = 0; i < u->deps.len; i++)
    sl_vec_add(kernel->heap, &kernel->deps, u->deps.data[i]);
  if (u->deps.len)
    kernel->deps.data[0].flags |= SL_BLANK_BEFORE;
}

int sl_unroll_all(sl_program *program, struct sl_kernel *kernel, const struct sl_target *target, sl_report *report)
{
  struct unroller u = { .heap = sl_heap_child_new(&program->heap), .program = program, .kernel = kernel, .target = target,
                        .report = report };
  u.copier = (struct sl_copier){ program, kernel, substitute, relabel, &u, false };
  sl_param_values_init(&u.params, u.heap, kernel, true);
  u.value = sl_heap_calloc(u.heap, program->names.len, sizeof *u.value);
  int status = collect(&u);
  if (status == SLUICE_OK && has_repeated_condition(&u))
    status = SLUICE_E_ANSWER;
  if (status == SLUICE_OK) {
    sl_index root = sl_block_new(kernel, SL_NONE);
    copy_block(&u, kernel->root, root);
    if (u.failed)
      status = SLUICE_E_ANSWER;
    else
      replace_body(&u, root);
  }
  sl_heap_child_free(u.heap);
  return status;
}
