/* walk.c: the walk over the tree on which strategies append their register code. See plan.h.
 *
 * Every engine's code gets the loops and branches that the engine walks: those with a statement of its own, and those it
 * must count although it has none (shells). Depth of recursion: nesting of the kernel, bounded by the verifier.
 */
#include "sync/plan.h"

struct walk {
  struct sl_plan *plan;
  const struct sl_walk_rules *rules;
  void *strategy;
  bool failed;
};

static void walk_block(struct walk *w, sl_index block, sl_engines engines);

/* ---- shells must know what they count ---- */

static bool register_missing(const struct sl_plan *plan, sl_index expr, uint32_t stream, sl_name *missing)
{
  if (!expr)
    return false;
  const struct sl_expr *e = &plan->kernel->exprs.data[expr];
  switch (e->kind) {
  case SL_EXPR_INT:
  case SL_EXPR_NAME: return false;
  case SL_EXPR_REG:
    *missing = (sl_name)e->u.value;
    return !sl_map_get(&plan->written, sl_map_pair(stream, *missing));
  case SL_EXPR_NEG: return register_missing(plan, e->u.sub.lhs, stream, missing);
  default:
    return register_missing(plan, e->u.sub.lhs, stream, missing) || register_missing(plan, e->u.sub.rhs, stream, missing);
  }
}

static bool cond_register_missing(const struct sl_plan *plan, struct sl_cond cond, uint32_t stream, sl_name *missing)
{
  for (uint32_t i = 0; i < cond.count; i++) {
    const struct sl_cmp *cmp = &plan->kernel->cmps.data[cond.first + i];
    if (cmp->op != SL_CMP_OPAQUE &&
        (register_missing(plan, cmp->lhs, stream, missing) || register_missing(plan, cmp->rhs, stream, missing)))
      return true;
  }
  return false;
}

static bool bound_unknown(const struct sl_plan *plan, sl_index stmt, uint32_t stream, sl_name *missing)
{
  const struct sl_kernel *kernel = plan->kernel;
  if (kernel->stmts.data[stmt].kind == SL_STMT_IF)
    return cond_register_missing(plan, sl_stmt_branch(kernel, stmt)->cond, stream, missing);
  const struct sl_loop *loop = sl_stmt_loop(kernel, stmt);
  return register_missing(plan, loop->lo, stream, missing) || register_missing(plan, loop->hi, stream, missing) ||
         register_missing(plan, loop->step, stream, missing) ||
         cond_register_missing(plan, loop->while_cond, stream, missing);
}

static void check_shell(struct walk *w, sl_index stmt, uint32_t engine)
{
  struct sl_plan *plan = w->plan;
  sl_name missing;
  uint32_t stream = plan->presence.engines.data[engine];
  if (!bound_unknown(plan, stmt, stream, &missing))
    return;
  w->failed = true;
  const char *name = sl_text(plan->program, plan->kernel->streams.data[stream].name);
  const char *reg = sl_text(plan->program, missing);
  sl_error(plan->report, SL_RULE_SHELL, plan->kernel->stmts.data[stmt].loc,
           "%s has to count this %s for its waits, but never writes %%%s: write %%%s on %s too (`*.` does it on every engine)",
           name, plan->kernel->stmts.data[stmt].kind == SL_STMT_IF ? "branch" : "loop", reg, reg, name);
}

/* ---- the walk ---- */

static void walk_loop(struct walk *w, sl_index stmt, sl_engines engines)
{
  struct sl_plan *plan = w->plan;
  for (sl_engines rest = engines; rest; rest &= rest - 1)
    sl_regcode_open_loop(&plan->code[sl_first_engine(rest)], sl_stmt_loop(plan->kernel, stmt)->var);
  walk_block(w, sl_stmt_loop(plan->kernel, stmt)->body, engines);
  for (sl_engines rest = engines; rest; rest &= rest - 1)
    sl_regcode_close_loop(&plan->code[sl_first_engine(rest)]);
}

static void walk_branch(struct walk *w, sl_index stmt, sl_engines engines)
{
  struct sl_plan *plan = w->plan;
  const struct sl_branch branch = *sl_stmt_branch(plan->kernel, stmt);
  for (sl_engines rest = engines; rest; rest &= rest - 1)
    sl_regcode_open_if(&plan->code[sl_first_engine(rest)]);
  walk_block(w, branch.then_block, engines);
  for (sl_engines rest = engines; rest; rest &= rest - 1)
    sl_regcode_else(&plan->code[sl_first_engine(rest)]);
  if (branch.else_block)
    walk_block(w, branch.else_block, engines);
  for (sl_engines rest = engines; rest; rest &= rest - 1)
    sl_regcode_close_if(&plan->code[sl_first_engine(rest)]);
}

static void walk_nested(struct walk *w, sl_index stmt, sl_engines engines)
{
  struct sl_plan *plan = w->plan;
  for (sl_engines rest = engines; rest; rest &= rest - 1)
    sl_regcode_anchor(&plan->code[sl_first_engine(rest)], SL_BEFORE_STMT, stmt);
  sl_engines inside = sl_presence_inside(&plan->presence, plan->kernel, stmt);
  sl_engines shells = w->rules->arrive(w->strategy, stmt, engines) & engines & ~inside;
  for (sl_engines rest = shells; rest; rest &= rest - 1)
    check_shell(w, stmt, sl_first_engine(rest));
  sl_engines walking = (inside & engines) | shells;
  if (!walking)
    return;
  if (plan->kernel->stmts.data[stmt].kind == SL_STMT_LOOP)
    walk_loop(w, stmt, walking);
  else
    walk_branch(w, stmt, walking);
}

/* Register code that belongs to a run stands before the engine's first instruction in it, or before the run. */
static void anchor_run(struct walk *w, sl_index first, sl_index end, sl_engines engines)
{
  struct sl_plan *plan = w->plan;
  const struct sl_kernel *kernel = plan->kernel;
  sl_engines placed = 0;
  for (sl_index at = first; at != end && (engines & ~placed); at = kernel->stmts.data[at].next) {
    sl_engines own = ((sl_engines)1 << sl_plan_issues(plan, at)) & engines & ~placed;
    if (own)
      sl_regcode_anchor(&plan->code[sl_first_engine(own)], SL_BEFORE_STMT, at);
    placed |= own;
  }
  for (sl_engines rest = engines & ~placed; rest; rest &= rest - 1)
    sl_regcode_anchor(&plan->code[sl_first_engine(rest)], SL_BEFORE_STMT, first);
}

static void anchor_block(struct walk *w, sl_index block, sl_engines engines, bool at_end)
{
  const struct sl_kernel *kernel = w->plan->kernel;
  sl_index first = kernel->blocks.data[block].first;
  for (sl_engines rest = engines; rest; rest &= rest - 1) {
    struct sl_regcode *code = &w->plan->code[sl_first_engine(rest)];
    if (at_end || !first)
      sl_regcode_anchor(code, SL_END_OF_BLOCK, block);
    else
      sl_regcode_anchor(code, SL_BEFORE_STMT, first);
  }
}

static void walk_block(struct walk *w, sl_index block, sl_engines engines)
{
  const struct sl_kernel *kernel = w->plan->kernel;
  anchor_block(w, block, engines, false);
  w->rules->block_start(w->strategy, block, engines);
  sl_index at = kernel->blocks.data[block].first;
  while (at) {
    enum sl_stmt_kind kind = kernel->stmts.data[at].kind;
    if (kind == SL_STMT_LOOP || kind == SL_STMT_IF) {
      walk_nested(w, at, engines);
      at = kernel->stmts.data[at].next;
    } else if (kind == SL_STMT_OP) {
      sl_index end = at;
      while (end && kernel->stmts.data[end].kind == SL_STMT_OP)
        end = kernel->stmts.data[end].next;
      anchor_run(w, at, end, engines);
      w->rules->run(w->strategy, at, end, engines);
      at = end;
    } else {
      at = kernel->stmts.data[at].next;
    }
  }
  anchor_block(w, block, engines, true);
  w->rules->block_end(w->strategy, block, engines);
}

int sl_plan_walk(struct sl_plan *plan, const struct sl_walk_rules *rules, void *strategy)
{
  struct walk w = { .plan = plan, .rules = rules, .strategy = strategy };
  walk_block(&w, plan->kernel->root, plan->presence.inside[plan->kernel->root]);
  return w.failed ? SLUICE_E_ANSWER : SLUICE_OK;
}

/* ---- trip counts ---- */

static bool integer_expr(const struct sl_kernel *kernel, sl_index expr, int64_t otherwise, int64_t *value)
{
  if (!expr) {
    *value = otherwise;
    return true;
  }
  *value = kernel->exprs.data[expr].u.value;
  return kernel->exprs.data[expr].kind == SL_EXPR_INT;
}

static bool is_param(const struct sl_kernel *kernel, sl_name name)
{
  for (uint32_t i = 0; i < kernel->params.len; i++)
    if (kernel->params.data[i].name == name)
      return true;
  return false;
}

/* A loop variable that is never negative, of a loop around `outer`'s statement. */
static bool is_outer_variable(const struct sl_kernel *kernel, sl_index outer, sl_name name)
{
  for (sl_index block = kernel->stmts.data[outer].block; block; block = sl_block_parent(kernel, block)) {
    sl_index owner = kernel->blocks.data[block].owner;
    if (!owner || kernel->stmts.data[owner].kind != SL_STMT_LOOP || sl_stmt_loop(kernel, owner)->var != name)
      continue;
    int64_t lo;
    return integer_expr(kernel, sl_stmt_loop(kernel, owner)->lo, 0, &lo) && lo >= 0;
  }
  return false;
}

bool sl_plan_trip_count(const struct sl_plan *plan, sl_index loop_stmt, sl_index outer, struct sl_value *count)
{
  const struct sl_kernel *kernel = plan->kernel;
  const struct sl_loop *loop = sl_stmt_loop(kernel, loop_stmt);
  int64_t lo, hi, step;
  if (!loop->has_range || loop->while_cond.count || loop->divergent || !integer_expr(kernel, loop->lo, 0, &lo) ||
      !integer_expr(kernel, loop->step, 1, &step) || step <= 0)
    return false;
  if (integer_expr(kernel, loop->hi, 0, &hi)) {
    /* unsigned: hi - lo of two 64-bit numbers fits when hi > lo */
    uint64_t trips = hi > lo ? ((uint64_t)hi - (uint64_t)lo - 1) / (uint64_t)step + 1 : 0;
    *count = sl_value_int((uint32_t)trips);
    return trips <= UINT32_MAX;
  }
  const struct sl_expr *bound = &kernel->exprs.data[loop->hi];
  if (lo != 0 || step != 1 || bound->kind != SL_EXPR_NAME)
    return false;
  sl_name name = (sl_name)bound->u.value;
  *count = (struct sl_value){ SL_VALUE_NAME, name };
  return is_param(kernel, name) || is_outer_variable(kernel, outer, name);
}
