/* walk.c: walking a kernel's tree. See walk.h.
 *
 * Requires: a verified kernel. Leaves the kernel as it is. One advance costs as many steps as statements it passes;
 * the budget bounds what a loop without visible statements can cost.
 */
#include "oracle/walk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

void *sl_oracle_calloc(size_t count, size_t size)
{
  void *block = calloc(count ? count : 1, size);
  if (!block)
    abort();
  return block;
}

void *sl_oracle_grow(void *array, uint32_t len, uint32_t *cap, size_t size)
{
  if (len < *cap)
    return array;
  *cap = *cap ? 2 * *cap : 16;
  array = realloc(array, *cap * size);
  if (!array)
    abort();
  return array;
}

static uint64_t bit(uint32_t stream)
{
  assert(stream < SL_ORACLE_MAX_STREAMS);
  return (uint64_t)1 << stream;
}

static uint32_t lowest(uint64_t mask)
{
  assert(mask);
  uint32_t stream = 0;
  while (!(mask >> stream & 1))
    stream++;
  return stream;
}

/* ---- the view ---- */

uint32_t sl_oracle_issue_stream(const struct sl_kernel *kernel, uint32_t stream)
{
  uint32_t trigger = kernel->streams.data[stream].trigger;
  return trigger == SL_NO_STREAM ? stream : trigger;
}

uint64_t sl_oracle_op_streams(const struct sl_oracle_view *view, const struct sl_op *op)
{
  if (op->all_engines)
    return view->participants;
  uint64_t mask = 0;
  for (uint32_t k = 0; k < op->stream_count; k++)
    mask |= bit(sl_op_stream(view->kernel, op, k));
  return mask;
}

static uint64_t issue_mask(const struct sl_oracle_view *view, const struct sl_stmt *stmt)
{
  if (stmt->kind == SL_STMT_LOOP || stmt->kind == SL_STMT_IF)
    return 0;
  if (stmt->kind != SL_STMT_OP)
    return view->participants;
  uint64_t streams = sl_oracle_op_streams(view, &view->kernel->ops.data[stmt->item]), mask = 0;
  for (uint32_t s = 0; s < view->kernel->streams.len; s++) {
    if (streams & bit(s))
      mask |= bit(sl_oracle_issue_stream(view->kernel, s));
  }
  return mask;
}

static void add_walkers(struct sl_oracle_view *view, sl_index stmt, uint64_t mask)
{
  const struct sl_kernel *kernel = view->kernel;
  while (stmt) {
    view->walkers[stmt] |= mask;
    stmt = kernel->blocks.data[kernel->stmts.data[stmt].block].owner;
  }
}

struct place_counter {
  sl_name *names;
  uint32_t *counts;
  uint32_t len, cap;
};

static uint32_t next_occurrence(struct place_counter *counter, sl_name name)
{
  for (uint32_t i = 0; i < counter->len; i++) {
    if (counter->names[i] == name)
      return counter->counts[i]++;
  }
  uint32_t cap = counter->cap;
  counter->names = sl_oracle_grow(counter->names, counter->len, &counter->cap, sizeof *counter->names);
  counter->counts = sl_oracle_grow(counter->counts, counter->len, &cap, sizeof *counter->counts);
  counter->names[counter->len] = name;
  counter->counts[counter->len++] = 1;
  return 0;
}

static uint64_t place_of(const char *name, uint32_t occurrence)
{
  return sl_hash_mix((uint64_t)sl_hash_bytes(name, strlen(name)) << 32 | occurrence);
}

static void number_places(struct sl_oracle_view *view, struct sl_cond cond, struct place_counter *counter)
{
  for (uint32_t i = cond.first; i < cond.first + cond.count; i++) {
    const struct sl_cmp *cmp = &view->kernel->cmps.data[i];
    if (cmp->op != SL_CMP_OPAQUE)
      continue;
    view->places[i] = place_of(sl_text(view->program, cmp->opaque), next_occurrence(counter, cmp->opaque));
  }
}

bool sl_oracle_view_init(struct sl_oracle_view *view, const sl_program *program, const struct sl_kernel *kernel)
{
  if (kernel->streams.len > SL_ORACLE_MAX_STREAMS)
    return false;
  view->program = program;
  view->kernel = kernel;
  view->participants = 0;
  view->name_count = program->names.len + 1;
  view->walkers = sl_oracle_calloc(kernel->stmts.len, sizeof *view->walkers);
  view->places = sl_oracle_calloc(kernel->cmps.len, sizeof *view->places);
  struct place_counter counter = { NULL, NULL, 0, 0 };
  /* First who takes part at all: `*` and barriers mean these. */
  for (sl_index s = sl_walk_first(kernel, kernel->root); s; s = sl_walk_next(kernel, kernel->root, s)) {
    const struct sl_stmt *stmt = sl_stmt_get(kernel, s);
    if (stmt->kind == SL_STMT_OP && !kernel->ops.data[stmt->item].all_engines)
      view->participants |= issue_mask(view, stmt);
  }
  for (sl_index s = sl_walk_first(kernel, kernel->root); s; s = sl_walk_next(kernel, kernel->root, s)) {
    const struct sl_stmt *stmt = sl_stmt_get(kernel, s);
    add_walkers(view, s, issue_mask(view, stmt));
    if (stmt->kind == SL_STMT_LOOP)
      number_places(view, kernel->loops.data[stmt->item].while_cond, &counter);
    else if (stmt->kind == SL_STMT_IF)
      number_places(view, kernel->branches.data[stmt->item].cond, &counter);
  }
  free(counter.names);
  free(counter.counts);
  return true;
}

void sl_oracle_view_free(struct sl_oracle_view *view)
{
  free(view->walkers);
  free(view->places);
}

/* ---- values ---- */

uint32_t sl_oracle_register_value(struct sl_oracle_walk *walk, uint32_t stream, sl_name name)
{
  const struct sl_oracle_register *reg = &walk->registers[(size_t)stream * walk->view->name_count + name];
  if (!reg->defined && !walk->error) {
    walk->error = SL_WALK_UNDEFINED;
    walk->culprit = name;
  }
  return reg->defined ? reg->value : 0;
}

/* Arithmetic wraps around at 64 bits, as unsigned C arithmetic does; division rounds down. */
static int64_t binary(struct sl_oracle_walk *walk, uint8_t kind, int64_t a, int64_t b)
{
  uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
  switch (kind) {
  case SL_EXPR_ADD: return (int64_t)(ua + ub);
  case SL_EXPR_SUB: return (int64_t)(ua - ub);
  case SL_EXPR_MUL: return (int64_t)(ua * ub);
  default: break;
  }
  if (b == 0 || (b == -1 && a == INT64_MIN)) {
    walk->error = walk->error ? walk->error : SL_WALK_ARITHMETIC;
    return 0;
  }
  bool rounds_up = a % b != 0 && (a < 0) != (b < 0);
  if (kind == SL_EXPR_DIV)
    return a / b - rounds_up;
  return rounds_up ? a % b + b : a % b;
}

int64_t sl_oracle_eval(struct sl_oracle_walk *walk, uint32_t stream, sl_index index)
{
  const struct sl_expr *expr = &walk->view->kernel->exprs.data[index];
  switch (expr->kind) {
  case SL_EXPR_INT: return expr->u.value;
  case SL_EXPR_NAME: return walk->values[expr->u.value];
  case SL_EXPR_REG: return sl_oracle_register_value(walk, stream, (sl_name)expr->u.value);
  case SL_EXPR_NEG: return (int64_t)(0 - (uint64_t)sl_oracle_eval(walk, stream, expr->u.sub.lhs));
  default: break;
  }
  int64_t a = sl_oracle_eval(walk, stream, expr->u.sub.lhs);
  int64_t b = sl_oracle_eval(walk, stream, expr->u.sub.rhs);
  return binary(walk, expr->kind, a, b);
}

/* Five of eight true: `while ?w` runs 1.7 times on average. */
static bool outcome(uint64_t seed, uint64_t place, uint32_t n)
{
  return (sl_hash_mix(seed + sl_hash_mix(place + n)) >> 32) % 8 < 5;
}

bool sl_oracle_outcome(uint64_t opaque_seed, const char *name, uint32_t occurrence, uint32_t n)
{
  return outcome(opaque_seed, place_of(name, occurrence), n);
}

static bool opaque_value(struct sl_oracle_walk *walk, uint32_t cmp)
{
  return outcome(walk->inputs->opaque_seed, walk->view->places[cmp], walk->asked[cmp]++);
}

static bool compare(struct sl_oracle_walk *walk, uint32_t stream, uint32_t index)
{
  const struct sl_cmp *cmp = &walk->view->kernel->cmps.data[index];
  if (cmp->op == SL_CMP_OPAQUE)
    return opaque_value(walk, index);
  int64_t a = sl_oracle_eval(walk, stream, cmp->lhs), b = sl_oracle_eval(walk, stream, cmp->rhs);
  switch (cmp->op) {
  case SL_CMP_EQ: return a == b;
  case SL_CMP_NE: return a != b;
  case SL_CMP_LT: return a < b;
  case SL_CMP_LE: return a <= b;
  case SL_CMP_GT: return a > b;
  default: return a >= b;
  }
}

/* Every comparison is evaluated, decided or not: an opaque place consumes one value per evaluation of its condition.
 * */
static bool holds(struct sl_oracle_walk *walk, uint32_t stream, struct sl_cond cond)
{
  bool all = true, some = false;
  for (uint32_t i = cond.first; i < cond.first + cond.count; i++) {
    bool value = compare(walk, stream, i);
    all = all && value;
    some = some || value;
  }
  return cond.any ? some : all;
}

uint32_t sl_oracle_operand_value(struct sl_oracle_walk *walk, uint32_t stream, const struct sl_operand *operand)
{
  switch (operand->kind) {
  case SL_OPERAND_INT: return (uint32_t)operand->value;
  case SL_OPERAND_REG: return sl_oracle_register_value(walk, stream, (sl_name)operand->value);
  default: return (uint32_t)walk->values[operand->value];
  }
}

static uint32_t assumed_value(struct sl_oracle_walk *walk, uint32_t stream, const struct sl_op *op)
{
  const struct sl_kernel *kernel = walk->view->kernel;
  for (uint32_t a = op->first_attr; a < op->first_attr + op->attr_count; a++) {
    const struct sl_attr *attr = &kernel->attrs.data[a];
    if (attr->kind == SL_ATTR_EXPR && !strcmp(sl_text(walk->view->program, attr->name), "assume"))
      return (uint32_t)sl_oracle_eval(walk, stream, attr->expr);
  }
  return 1;
}

static uint32_t register_result(uint8_t code, uint32_t a, uint32_t b)
{
  switch (code) {
  case SL_OP_REG_SET: return a;
  case SL_OP_REG_ADD: return a + b;
  case SL_OP_REG_SUB: return a - b;
  case SL_OP_REG_MUL: return a * b;
  case SL_OP_REG_GT: return a > b;
  case SL_OP_REG_MIN: return a < b ? a : b;
  default: break;
  }
  assert(code == SL_OP_REG_MAX);
  return a > b ? a : b;
}

void sl_oracle_register_op(struct sl_oracle_walk *walk, uint32_t stream, const struct sl_op *op)
{
  const struct sl_operand *operands = walk->view->kernel->operands.data + op->first_operand;
  uint32_t value;
  if (op->code == SL_OP_REG_LOAD) {
    value = assumed_value(walk, stream, op);
  } else {
    uint32_t count = (uint32_t)op->dst_count + op->src_count;
    uint32_t a = sl_oracle_operand_value(walk, stream, &operands[1]);
    uint32_t b = count > 2 ? sl_oracle_operand_value(walk, stream, &operands[2]) : 0;
    value = register_result(op->code, a, b);
  }
  struct sl_oracle_register *reg =
      &walk->registers[(size_t)stream * walk->view->name_count + (size_t)operands[0].value];
  reg->value = value;
  reg->defined = true;
}

/* ---- the walk ---- */

struct sl_oracle_register *sl_oracle_registers_new(const struct sl_oracle_view *view)
{
  return sl_oracle_calloc((size_t)view->kernel->streams.len * view->name_count, sizeof(struct sl_oracle_register));
}

void sl_oracle_walk_init(struct sl_oracle_walk *walk, const struct sl_oracle_view *view, uint64_t streams,
                         const struct sl_oracle_inputs *inputs, struct sl_oracle_register *registers)
{
  memset(walk, 0, sizeof *walk);
  walk->view = view;
  walk->inputs = inputs;
  walk->streams = streams;
  walk->registers = registers;
  walk->budget = 1000000;
  walk->values = sl_oracle_calloc(view->name_count, sizeof *walk->values);
  walk->bounds = sl_oracle_calloc(2 * (size_t)view->kernel->loops.len, sizeof *walk->bounds);
  walk->asked = sl_oracle_calloc(view->kernel->cmps.len, sizeof *walk->asked);
}

void sl_oracle_walk_free(struct sl_oracle_walk *walk)
{
  free(walk->values);
  free(walk->bounds);
  free(walk->asked);
}

void sl_oracle_defaults(const struct sl_oracle_view *view, int64_t *values)
{
  const struct sl_kernel *kernel = view->kernel;
  struct sl_oracle_inputs inputs = { NULL, 0, 0 };
  struct sl_oracle_walk walk;
  sl_oracle_walk_init(&walk, view, 0, &inputs, NULL);
  for (uint32_t p = 0; p < kernel->params.len; p++) {
    const struct sl_param *param = &kernel->params.data[p];
    values[p] = param->value ? sl_oracle_eval(&walk, 0, param->value) : 0;
    walk.values[param->name] = values[p];
  }
  sl_oracle_walk_free(&walk);
}

static bool one_more_trip(struct sl_oracle_walk *walk, uint32_t stream, sl_index index)
{
  const struct sl_loop *loop = &walk->view->kernel->loops.data[index];
  if (walk->error || (loop->has_range && walk->values[loop->var] >= walk->bounds[2 * (size_t)index]))
    return false;
  return loop->while_cond.count == 0 || holds(walk, stream, loop->while_cond);
}

static bool enter_loop(struct sl_oracle_walk *walk, uint32_t stream, sl_index index)
{
  const struct sl_loop *loop = &walk->view->kernel->loops.data[index];
  walk->values[loop->var] = loop->lo ? sl_oracle_eval(walk, stream, loop->lo) : 0;
  walk->bounds[2 * (size_t)index] = loop->hi ? sl_oracle_eval(walk, stream, loop->hi) : 0;
  walk->bounds[2 * (size_t)index + 1] = loop->step ? sl_oracle_eval(walk, stream, loop->step) : 1;
  return one_more_trip(walk, stream, index);
}

/* Where to go on after the last statement of a block: again into a loop's body, or behind the owner. */
static sl_index after_block(struct sl_oracle_walk *walk, sl_index *block)
{
  const struct sl_kernel *kernel = walk->view->kernel;
  sl_index owner = kernel->blocks.data[*block].owner;
  const struct sl_stmt *stmt = sl_stmt_get(kernel, owner);
  if (walk->iteration_end)
    walk->iteration_end(walk->user, *block);
  if (stmt->kind == SL_STMT_LOOP) {
    sl_name var = kernel->loops.data[stmt->item].var;
    walk->values[var] = (int64_t)((uint64_t)walk->values[var] + (uint64_t)walk->bounds[2 * (size_t)stmt->item + 1]);
    if (one_more_trip(walk, lowest(walk->view->walkers[owner] & walk->streams), stmt->item))
      return kernel->blocks.data[*block].first;
  }
  *block = stmt->block;
  return stmt->next;
}

/* The block that a loop or branch statement leads into now; SL_NONE: none. */
static sl_index inner_block(struct sl_oracle_walk *walk, sl_index stmt)
{
  const struct sl_kernel *kernel = walk->view->kernel;
  uint32_t stream = lowest(walk->view->walkers[stmt] & walk->streams);
  if (sl_stmt_get(kernel, stmt)->kind == SL_STMT_IF) {
    const struct sl_branch *branch = sl_stmt_branch(kernel, stmt);
    return holds(walk, stream, branch->cond) ? branch->then_block : branch->else_block;
  }
  const struct sl_loop *loop = sl_stmt_loop(kernel, stmt);
  if (walk->arrival)
    walk->arrival(walk->user, loop->body);
  return enter_loop(walk, stream, sl_stmt_get(kernel, stmt)->item) ? loop->body : (sl_index)SL_NONE;
}

static void find_from(struct sl_oracle_walk *walk, sl_index at, sl_index block)
{
  const struct sl_kernel *kernel = walk->view->kernel;
  walk->stmt = SL_NONE;
  while (!walk->error) {
    if (walk->budget == 0) {
      walk->error = SL_WALK_BUDGET;
      return;
    }
    walk->budget--;
    if (at == SL_NONE) {
      if (kernel->blocks.data[block].owner == SL_NONE)
        return;
      at = after_block(walk, &block);
      continue;
    }
    const struct sl_stmt *stmt = sl_stmt_get(kernel, at);
    if (!(walk->view->walkers[at] & walk->streams)) {
      at = stmt->next;
    } else if (stmt->kind == SL_STMT_LOOP || stmt->kind == SL_STMT_IF) {
      sl_index inner = inner_block(walk, at);
      block = inner ? inner : block;
      at = inner ? kernel->blocks.data[inner].first : stmt->next;
    } else {
      walk->stmt = at;
      return;
    }
  }
}

void sl_oracle_walk_start(struct sl_oracle_walk *walk)
{
  const struct sl_kernel *kernel = walk->view->kernel;
  memset(walk->asked, 0, kernel->cmps.len * sizeof *walk->asked);
  for (uint32_t p = 0; p < kernel->params.len && p < walk->inputs->param_count; p++)
    walk->values[kernel->params.data[p].name] = walk->inputs->params[p];
  find_from(walk, kernel->blocks.data[kernel->root].first, kernel->root);
}

void sl_oracle_walk_advance(struct sl_oracle_walk *walk)
{
  const struct sl_stmt *stmt = sl_stmt_get(walk->view->kernel, walk->stmt);
  find_from(walk, stmt->next, stmt->block);
}
