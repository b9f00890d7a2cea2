/* verify.c: checks a program without knowing the machine: names and scopes, operands, clauses, structure,
 * dependence lines, registers and uniformity.
 *
 * Requires: a well-formed tree, from the parser, the JSON reader or the builder.
 * Leaves true: every name is declared and of the right kind; labels are unique; expressions and blocks nest
 * within SL_NESTING_EXPR and SL_NESTING_BLOCKS, so that later stages may recurse over them; distances name common
 * loops and are not negative; a register is written before it is read, on each engine; engines agree on the
 * bounds and conditions of what they walk together, unless the loop is divergent (the last two wait for the
 * target when it decides triggers).
 * Complexity: O(size of the program) expected, plus O(depth) per distance of a dependence line.
 *
 * Map: verify.c structure; verify_decl.c declarations; verify_op.c operations; verify_expr.c names and
 * expressions; verify_dep.c dependence lines; verify_registers.c registers; scope.c the table of names;
 * eval.c constants.
 */
#include "ir/verify.h"

#include <stdarg.h>

void sl_verify_end_at(struct sl_verifier *v, sl_loc loc, const char *note)
{
  if (loc != SL_NO_LOC)
    sl_report_note(v->report, loc, "%s", note);
  sl_report_end(v->report);
}

static void begin(struct sl_verifier *v, enum sl_rule rule, sl_loc loc, const char *format, va_list args)
{
  sl_report_vbegin(v->report, SLUICE_ERROR, rule, loc, format, args);
  if (v->at)
    sl_report_origin(v->report, sl_stmt_origin(v->program, v->kernel, v->at));
}

void sl_verify_begin(struct sl_verifier *v, enum sl_rule rule, sl_loc loc, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  begin(v, rule, loc, format, args);
  va_end(args);
}

void sl_verify_error(struct sl_verifier *v, enum sl_rule rule, sl_loc loc, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  begin(v, rule, loc, format, args);
  va_end(args);
  sl_report_end(v->report);
}

/* ---- loops ---- */

/* Variables of loops that are around nothing yet: their use elsewhere is out of scope, not undefined. */
static void announce_loops(struct sl_verifier *v)
{
  for (sl_index i = 1; i < v->kernel->loops.len; i++) {
    sl_name var = v->kernel->loops.data[i].var;
    if (sl_scope_find(&v->scope, var)->kind == SL_SYMBOL_NONE)
      sl_scope_set(&v->scope, var, SL_SYMBOL_CLOSED_LOOP, SL_NONE, SL_NO_LOC);
  }
}

static void open_variable(struct sl_verifier *v, const struct sl_loop *loop, sl_loc loc)
{
  const struct sl_symbol *known = sl_scope_find(&v->scope, loop->var);
  const char *text = sl_text(v->program, loop->var);
  if (known->kind == SL_SYMBOL_NONE || known->kind == SL_SYMBOL_CLOSED_LOOP) {
    sl_scope_set(&v->scope, loop->var, SL_SYMBOL_LOOP, v->at, loc);
    return;
  }
  sl_loc first = known->loc;
  if (known->kind == SL_SYMBOL_LOOP)
    sl_verify_begin(v, SL_RULE_SCOPE, loc, "loop variable '%s' shadows that of an enclosing loop", text);
  else
    sl_verify_begin(v, SL_RULE_REDEFINED, loc, "loop variable '%s' is declared already, as %s", text,
                    sl_symbol_text(known->kind));
  sl_verify_end_at(v, first, "first declared here");
}

static void check_step(struct sl_verifier *v, const struct sl_loop *loop, sl_loc loc)
{
  if (!loop->step)
    return;
  struct sl_constant step = sl_verify_expr(v, loop->step, 0);
  if (step.state != SL_CONST_KNOWN)
    sl_verify_error(v, SL_RULE_LITERAL, loc, "the step of loop '%s' is not a constant", sl_text(v->program, loop->var));
  else if (step.value < 1)
    sl_verify_error(v, SL_RULE_LITERAL, loc, "loop '%s' steps by %lld: at least 1 is needed",
                    sl_text(v->program, loop->var), (long long)step.value);
}

/* Records a block that opens below the current statement. */
static void enter_block(struct sl_verifier *v, sl_index block, sl_index loop)
{
  uint32_t depth = v->depth_of.data[v->kernel->stmts.data[v->at].block] + 1;
  v->loop_of.data[block] = loop;
  v->depth_of.data[block] = depth;
  if (depth >= SL_NESTING_BLOCKS && !v->too_deep) {
    v->too_deep = true;
    sl_verify_error(v, SL_RULE_NESTING, v->kernel->stmts.data[v->at].loc, "loops and branches nest deeper than %d",
                    SL_NESTING_BLOCKS);
  }
}

static void open_loop(struct sl_verifier *v, sl_index stmt)
{
  struct sl_loop loop = *sl_stmt_loop(v->kernel, stmt);
  sl_loc loc = v->kernel->stmts.data[stmt].loc;
  unsigned may_use = SL_MAY_USE_LOOPS | SL_MAY_USE_REGISTERS;
  (void)sl_verify_expr(v, loop.lo, may_use);
  (void)sl_verify_expr(v, loop.hi, may_use);
  check_step(v, &loop, loc);
  open_variable(v, &loop, loc);
  sl_verify_cond(v, loop.while_cond, may_use); /* tested before each trip: sees the variable */
  enter_block(v, loop.body, stmt);
  sl_vec_add(v->heap, &v->open, stmt);
  v->divergent_open += loop.divergent;
}

static void close_loop(struct sl_verifier *v)
{
  sl_index stmt = v->open.data[--v->open.len];
  const struct sl_loop *loop = sl_stmt_loop(v->kernel, stmt);
  v->divergent_open -= loop->divergent;
  struct sl_symbol *symbol = sl_scope_find(&v->scope, loop->var);
  if (symbol->kind == SL_SYMBOL_LOOP && symbol->item == stmt)
    symbol->kind = SL_SYMBOL_CLOSED_LOOP;
}

static void open_branch(struct sl_verifier *v, sl_index stmt)
{
  struct sl_branch branch = *sl_stmt_branch(v->kernel, stmt);
  sl_index loop = v->loop_of.data[v->kernel->stmts.data[stmt].block];
  sl_verify_cond(v, branch.cond, SL_MAY_USE_LOOPS | SL_MAY_USE_REGISTERS);
  enter_block(v, branch.then_block, loop);
  if (branch.else_block)
    enter_block(v, branch.else_block, loop);
}

/* ---- barriers and the epilogue ---- */

static void check_barrier(struct sl_verifier *v, sl_loc loc)
{
  if (v->divergent_open == 0)
    return;
  sl_index divergent = SL_NONE;
  for (uint32_t i = 0; i < v->open.len && !divergent; i++)
    if (sl_stmt_loop(v->kernel, v->open.data[i])->divergent)
      divergent = v->open.data[i];
  sl_verify_begin(v, SL_RULE_BARRIER, loc,
                  "a barrier inside a divergent loop: engines would meet a different number of "
                  "times");
  sl_verify_end_at(v, v->kernel->stmts.data[divergent].loc, "the divergent loop");
}

static void check_epilogue(struct sl_verifier *v, sl_index stmt)
{
  const struct sl_stmt *s = &v->kernel->stmts.data[stmt];
  sl_loc loc = s->loc;
  if (v->epilogue) {
    sl_verify_begin(v, SL_RULE_EPILOGUE, loc, "a second epilogue");
    sl_verify_end_at(v, v->kernel->stmts.data[v->epilogue].loc, "the first one");
  } else if (s->block != v->kernel->root) {
    sl_verify_error(v, SL_RULE_EPILOGUE, loc, "the epilogue stands inside a loop or branch");
  } else if (s->next && v->kernel->stmts.data[s->next].kind != SL_STMT_EPILOGUE) {
    sl_loc next = v->kernel->stmts.data[s->next].loc;
    sl_verify_begin(v, SL_RULE_EPILOGUE, loc, "the epilogue is not the last statement");
    sl_verify_end_at(v, next, "this follows it");
  }
  v->epilogue = stmt;
}

/* ---- kernels ---- */

static void verify_stmt(struct sl_verifier *v, sl_index stmt)
{
  const struct sl_stmt *s = &v->kernel->stmts.data[stmt];
  v->at = stmt;
  while (v->open.len > 0 && v->open.data[v->open.len - 1] != v->loop_of.data[s->block])
    close_loop(v);
  switch ((enum sl_stmt_kind)s->kind) {
  case SL_STMT_OP: sl_verify_op(v, stmt); break;
  case SL_STMT_LOOP: open_loop(v, stmt); break;
  case SL_STMT_IF: open_branch(v, stmt); break;
  case SL_STMT_BARRIER:
  case SL_STMT_BARRIER_RESET: check_barrier(v, s->loc); break;
  case SL_STMT_EPILOGUE: check_epilogue(v, stmt); break;
  }
}

static void check_kernel_name(struct sl_verifier *v)
{
  struct sl_kernel *kernel = v->kernel;
  bool is_new;
  uint32_t *number = sl_map_put(&v->kernel_numbers, v->heap, kernel->name, &is_new);
  if (is_new) {
    *number = v->scope.kernel;
    return;
  }
  sl_verify_begin(v, SL_RULE_REDEFINED, kernel->loc, "kernel '%s' stands already", sl_text(v->program, kernel->name));
  sl_verify_end_at(v, v->program->kernels.data[*number - 1]->loc, "the first one");
}

/* `*` stands for the engines with another statement: there must be one, or the statement would be nobody's. */
static void check_every_engine(struct sl_verifier *v)
{
  const struct sl_kernel *kernel = v->kernel;
  sl_index everyone = SL_NONE;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind != SL_STMT_OP)
      continue;
    if (!sl_stmt_op(kernel, at)->all_engines)
      return;
    everyone = everyone ? everyone : at;
  }
  if (everyone)
    sl_verify_error(v, SL_RULE_ENGINE, kernel->stmts.data[everyone].loc,
                    "`*` means every engine with another statement, and no engine has one");
}

static void verify_kernel(struct sl_verifier *v, struct sl_kernel *kernel)
{
  v->kernel = kernel;
  v->at = v->epilogue = SL_NONE;
  v->has_copies = v->too_deep = false;
  v->loop_of.len = v->depth_of.len = 0;
  (void)sl_vec_extend(v->heap, &v->loop_of, kernel->blocks.len);
  (void)sl_vec_extend(v->heap, &v->depth_of, kernel->blocks.len);
  sl_scope_next_kernel(&v->scope);
  uint32_t errors = v->report->errors;
  check_kernel_name(v);
  sl_verify_decls(v);
  announce_loops(v);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at))
    verify_stmt(v, at);
  while (v->open.len > 0)
    close_loop(v);
  v->at = SL_NONE;
  check_every_engine(v);
  sl_verify_deps(v);
  if (v->report->errors == errors && !sl_registers_need_target(kernel))
    (void)sl_verify_registers(v->program, kernel, v->report);
}

int sl_verify_program(sl_program *program, sl_report *report)
{
  sl_heap *scratch = sl_heap_child_new(&program->heap);
  struct sl_verifier v = { .heap = scratch, .program = program, .report = report };
  uint32_t errors = report->errors;
  sl_scope_init(&v.scope, scratch, program);
  (void)sl_vec_extend(scratch, &v.labels, program->names.len);
  (void)sl_vec_extend(scratch, &v.attr_marks, program->names.len);
  for (uint32_t i = 0; i < program->kernels.len; i++)
    verify_kernel(&v, program->kernels.data[i]);
  sl_heap_child_free(scratch);
  return report->errors == errors ? SLUICE_OK : SLUICE_E_INPUT;
}
