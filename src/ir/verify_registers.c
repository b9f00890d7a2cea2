/* verify_registers.c: registers of the engines.
 *
 * Two rules. [register]: an engine that reads a register has written it earlier in text order. [uniform]: the
 * engines that walk a loop or branch compute the registers of its bound or condition alike, because each of
 * them decides on its own how often it goes round; a divergent loop is free of that.
 *
 * Requires: a kernel correct in all else; when sl_registers_need_target, also resolved against its target.
 *
 * "Alike" is decided by comparing the writes of the two registers as programs, in text order: the same
 * number, each in the same block, the same operation, the same operands; a source register is compared in
 * turn, with the same number of its own writes before the place of the read; a loaded word must come from the
 * same place, with the same number of the kernel's writes to that buffer before it. Pairs under comparison
 * count as equal (coinduction: a difference, if there is one, shows in some write). Only writes that can
 * reach the read count: those before it in text order, or inside the outermost loop around it. What a
 * divergent loop writes is never alike.
 *
 * Complexity: O(statements * engines) for `*` operations, otherwise O(size); each pair of registers is
 * compared once.
 */
#include "ir/verify.h"

#include <assert.h>

enum { ENGINE_LIMIT = 64, REPORT_LIMIT = 20 };

/* The writes of one register on one engine, in text order. */
struct write_list {
  uint32_t bit; /* engine */
  sl_name reg;
  bool reported;
  sl_vec(sl_index) stmts;
};

/* A bound or condition with registers: to be compared when all writes are known. */
struct query {
  sl_index stmt;
  sl_name reg;
  sl_loc loc;
  bool each_trip; /* tested inside the loop (`while`), not once before it */
};

/* `count` writes of two lists that are, or must be, alike. */
struct comparison {
  uint32_t a, b;
  uint32_t from, to;
};

struct checker {
  sl_heap *heap;
  sl_program *program;
  struct sl_kernel *kernel;
  sl_report *report;
  sl_vec(uint8_t) bit_of;          /* by stream: bit of the engine that issues for it; ENGINE_LIMIT when none */
  sl_vec(sl_name) engine_names;    /* by bit */
  uint64_t all;                    /* engines with a statement of their own: what `*` means */
  sl_vec(uint64_t) masks;          /* by block: engines with a statement in it at any depth */
  sl_vec(uint32_t) positions;      /* by statement: text order, from 1 */
  sl_vec(uint32_t) last_positions; /* by block: of the last statement in it at any depth */
  sl_vec(struct write_list) lists;
  sl_map list_of; /* (bit, register) -> list */
  sl_vec(struct query) queries;
  sl_map alike; /* (list, list) -> writes known to be alike */
  sl_vec(struct comparison) work;
  sl_vec(sl_name) written; /* buffers in the order of write_positions' lists */
  sl_map buffer_writes;    /* buffer name -> index into write_positions */
  sl_vec(struct position_list { sl_vec(uint32_t) positions; }) write_positions;
  bool buffers_known;
  sl_index at; /* the statement whose reads are checked */
  uint64_t at_mask;
  sl_index differ_a, differ_b; /* where the last comparison failed */
};

/* ---- engines ---- */

/* Asks declarations alone, so that the answer is the same before and after resolution. */
bool sl_registers_need_target(const struct sl_kernel *kernel)
{
  sl_name engines[ENGINE_LIMIT];
  uint32_t count = 0;
  for (uint32_t i = 0; i < kernel->streams.len; i++) {
    const struct sl_stream *stream = &kernel->streams.data[i];
    sl_name engine = stream->is_queue ? stream->trigger_name : stream->name;
    if (!engine)
      return true;
    uint32_t known = 0;
    while (known < count && engines[known] != engine)
      known++;
    if (known == ENGINE_LIMIT)
      return true;
    engines[known] = engine;
    count = known == count ? count + 1 : count;
  }
  return false;
}

/* The name of the engine that issues for a stream. */
static sl_name engine_name(const struct sl_kernel *kernel, const struct sl_stream *stream)
{
  if (!stream->is_queue)
    return stream->name;
  return stream->engine != SL_NO_STREAM ? kernel->streams.data[stream->trigger].name : stream->trigger_name;
}

/* Gives every engine a bit. False when there are too many, which no target accepts. */
static bool number_engines(struct checker *c)
{
  sl_map bits = { 0 };
  for (uint32_t i = 0; i < c->kernel->streams.len; i++) {
    sl_name name = engine_name(c->kernel, &c->kernel->streams.data[i]);
    bool is_new;
    uint32_t *bit = sl_map_put(&bits, c->heap, name, &is_new);
    if (is_new) {
      if (c->engine_names.len == ENGINE_LIMIT)
        return false;
      *bit = c->engine_names.len;
      sl_vec_add(c->heap, &c->engine_names, name);
    }
    sl_vec_add(c->heap, &c->bit_of, (uint8_t)*bit);
  }
  sl_map_free(&bits, c->heap);
  return true;
}

static uint64_t op_mask(const struct checker *c, const struct sl_op *op)
{
  if (op->all_engines)
    return c->all;
  uint64_t mask = 0;
  for (uint32_t k = 0; k < op->stream_count; k++)
    mask |= (uint64_t)1 << c->bit_of.data[sl_op_stream(c->kernel, op, k)];
  return mask;
}

/* ---- the tree: positions, and who walks which block ---- */

static uint64_t stmt_mask(const struct checker *c, sl_index stmt)
{
  switch ((enum sl_stmt_kind)c->kernel->stmts.data[stmt].kind) {
  case SL_STMT_OP: return op_mask(c, sl_stmt_op(c->kernel, stmt));
  case SL_STMT_LOOP:
  case SL_STMT_IF: return 0; /* what is inside counts */
  default: return c->all;    /* barriers and the epilogue are statements of all */
  }
}

static void find_all_engines(struct checker *c)
{
  const struct sl_kernel *kernel = c->kernel;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at))
    if (kernel->stmts.data[at].kind == SL_STMT_OP)
      c->all |= op_mask(c, sl_stmt_op(kernel, at));
}

static void add_to_block(struct checker *c, sl_index block, uint64_t mask, uint32_t last)
{
  c->masks.data[block] |= mask;
  if (last > c->last_positions.data[block])
    c->last_positions.data[block] = last;
}

static void number_statements(struct checker *c)
{
  const struct sl_kernel *kernel = c->kernel;
  sl_vec(sl_index) order = { 0 };
  (void)sl_vec_extend(c->heap, &c->masks, kernel->blocks.len);
  (void)sl_vec_extend(c->heap, &c->last_positions, kernel->blocks.len);
  (void)sl_vec_extend(c->heap, &c->positions, kernel->stmts.len);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    sl_vec_add(c->heap, &order, at);
    c->positions.data[at] = order.len;
  }
  /* Backwards, so that what is inside a loop or branch is known before its block is added to the one around it. */
  for (uint32_t i = order.len; i > 0; i--) {
    const struct sl_stmt *stmt = &kernel->stmts.data[order.data[i - 1]];
    uint64_t mask = stmt_mask(c, order.data[i - 1]);
    add_to_block(c, stmt->block, mask, i);
    sl_index inside[2] = { SL_NONE, SL_NONE };
    if (stmt->kind == SL_STMT_LOOP)
      inside[0] = kernel->loops.data[stmt->item].body;
    else if (stmt->kind == SL_STMT_IF) {
      inside[0] = kernel->branches.data[stmt->item].then_block;
      inside[1] = kernel->branches.data[stmt->item].else_block;
    }
    for (int k = 0; k < 2; k++)
      if (inside[k])
        add_to_block(c, stmt->block, c->masks.data[inside[k]], c->last_positions.data[inside[k]]);
  }
  sl_vec_free(c->heap, &order);
}

/* The last position whose writes can reach a read at a statement: the end of the outermost loop around it. `each_trip`
 * counts the statement's own loop too. */
static uint32_t reach_of(const struct checker *c, sl_index stmt, bool each_trip)
{
  const struct sl_kernel *kernel = c->kernel;
  uint32_t reach = c->positions.data[stmt];
  if (each_trip && c->last_positions.data[sl_stmt_loop(kernel, stmt)->body] > reach)
    reach = c->last_positions.data[sl_stmt_loop(kernel, stmt)->body];
  for (sl_index block = kernel->stmts.data[stmt].block; block; block = sl_block_parent(kernel, block)) {
    sl_index owner = kernel->blocks.data[block].owner;
    if (owner && kernel->stmts.data[owner].kind == SL_STMT_LOOP)
      reach = c->last_positions.data[block];
  }
  return reach;
}

static bool in_divergent_loop(const struct sl_kernel *kernel, sl_index stmt)
{
  for (sl_index block = kernel->stmts.data[stmt].block; block; block = sl_block_parent(kernel, block)) {
    sl_index owner = kernel->blocks.data[block].owner;
    if (owner && kernel->stmts.data[owner].kind == SL_STMT_LOOP && sl_stmt_loop(kernel, owner)->divergent)
      return true;
  }
  return false;
}

/* ---- reads and writes ---- */

static uint32_t list_of(struct checker *c, uint32_t bit, sl_name reg)
{
  bool is_new;
  uint32_t *at = sl_map_put(&c->list_of, c->heap, sl_map_pair(bit, reg), &is_new);
  if (is_new) {
    *at = c->lists.len;
    struct write_list *list = sl_vec_push(c->heap, &c->lists);
    list->bit = bit;
    list->reg = reg;
  }
  return *at;
}

/* Good until the next list is made. */
static struct write_list *list_get(struct checker *c, uint32_t bit, sl_name reg)
{
  uint32_t index = list_of(c, bit, reg); /* may move the array */
  return &c->lists.data[index];
}

/* The lowest bit of a mask that is not 0. */
static uint32_t lowest(uint64_t mask)
{
  return (uint32_t)__builtin_ctzll(mask);
}

static void read_register(struct checker *c, sl_name reg, sl_loc loc)
{
  for (uint64_t mask = c->at_mask; mask; mask &= mask - 1) {
    struct write_list *list = list_get(c, lowest(mask), reg);
    if (list->stmts.len > 0 || list->reported)
      continue;
    list->reported = true;
    sl_report_begin(c->report, SLUICE_ERROR, SL_RULE_REGISTER, loc,
                    "register '%%%s' is read on '%s', which has not written it before", sl_text(c->program, reg),
                    sl_text(c->program, c->engine_names.data[list->bit]));
    sl_report_origin(c->report, sl_stmt_origin(c->program, c->kernel, c->at));
    sl_report_end(c->report);
  }
}

static void read_expr(struct checker *c, sl_index index)
{
  if (!index)
    return;
  const struct sl_expr *expr = &c->kernel->exprs.data[index];
  if (expr->kind == SL_EXPR_REG)
    read_register(c, (sl_name)expr->u.value, expr->loc ? expr->loc : c->kernel->stmts.data[c->at].loc);
  else if (expr->kind == SL_EXPR_NEG)
    read_expr(c, expr->u.sub.lhs);
  else if (expr->kind > SL_EXPR_NEG) {
    read_expr(c, expr->u.sub.lhs);
    read_expr(c, expr->u.sub.rhs);
  }
}

static void read_cond(struct checker *c, struct sl_cond cond)
{
  for (uint32_t i = 0; i < cond.count; i++) {
    const struct sl_cmp *cmp = &c->kernel->cmps.data[cond.first + i];
    if (cmp->op == SL_CMP_OPAQUE)
      continue;
    read_expr(c, cmp->lhs);
    read_expr(c, cmp->rhs);
  }
}

static void read_operand(struct checker *c, const struct sl_operand *operand)
{
  if (operand->kind == SL_OPERAND_REG)
    read_register(c, (sl_name)operand->value, operand->loc);
  for (uint32_t i = 0; i < operand->index_count; i++) {
    const struct sl_access_index *index = &c->kernel->indices.data[operand->first_index + i];
    read_expr(c, index->first);
    read_expr(c, index->second);
  }
}

static void read_clauses(struct checker *c, const struct sl_op *op)
{
  const struct sl_kernel *kernel = c->kernel;
  for (uint32_t i = 0; i < op->attr_count; i++) {
    const struct sl_attr *attr = &kernel->attrs.data[op->first_attr + i];
    if (attr->kind == SL_ATTR_EXPR)
      read_expr(c, attr->expr);
    else if (attr->kind == SL_ATTR_COND)
      read_cond(c, attr->cond);
  }
  for (uint32_t i = 0; i < op->wait_count; i++) {
    const struct sl_gate *gate = &kernel->waits.data[op->first_wait + i];
    if (gate->kind == SL_GATE_SEM && gate->threshold == SL_THRESHOLD_REG)
      read_register(c, (sl_name)gate->value, gate->loc);
    read_expr(c, gate->event_index);
  }
  for (uint32_t i = 0; i < op->set_count; i++)
    read_expr(c, kernel->sets.data[op->first_set + i].index);
}

static void read_op(struct checker *c, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(c->kernel, stmt);
  sl_name reg = sl_op_written_register(c->kernel, op);
  c->at_mask = op_mask(c, op);
  for (uint32_t i = reg ? 1 : 0; i < (uint32_t)op->dst_count + op->src_count; i++)
    read_operand(c, &c->kernel->operands.data[op->first_operand + i]);
  read_clauses(c, op);
  if (!reg)
    return;
  for (uint64_t mask = c->at_mask; mask; mask &= mask - 1) {
    struct write_list *list = list_get(c, lowest(mask), reg);
    sl_vec_add(c->heap, &list->stmts, stmt);
  }
}

/* ---- what must be uniform ---- */

static void ask_expr(struct checker *c, sl_index index, bool each_trip)
{
  if (!index)
    return;
  const struct sl_expr *expr = &c->kernel->exprs.data[index];
  if (expr->kind == SL_EXPR_REG) {
    struct query *query = sl_vec_push(c->heap, &c->queries);
    *query = (struct query){ .stmt = c->at,
                             .reg = (sl_name)expr->u.value,
                             .each_trip = each_trip,
                             .loc = expr->loc ? expr->loc : c->kernel->stmts.data[c->at].loc };
  } else if (expr->kind >= SL_EXPR_NEG) {
    ask_expr(c, expr->u.sub.lhs, each_trip);
    if (expr->kind > SL_EXPR_NEG)
      ask_expr(c, expr->u.sub.rhs, each_trip);
  }
}

static void ask_cond(struct checker *c, struct sl_cond cond, bool each_trip)
{
  for (uint32_t i = 0; i < cond.count; i++) {
    const struct sl_cmp *cmp = &c->kernel->cmps.data[cond.first + i];
    if (cmp->op == SL_CMP_OPAQUE)
      continue;
    ask_expr(c, cmp->lhs, each_trip);
    ask_expr(c, cmp->rhs, each_trip);
  }
}

static uint64_t walkers(const struct checker *c, sl_index stmt)
{
  if (c->kernel->stmts.data[stmt].kind == SL_STMT_LOOP)
    return c->masks.data[sl_stmt_loop(c->kernel, stmt)->body];
  const struct sl_branch *branch = sl_stmt_branch(c->kernel, stmt);
  return c->masks.data[branch->then_block] | (branch->else_block ? c->masks.data[branch->else_block] : 0);
}

static void read_loop(struct checker *c, sl_index stmt)
{
  const struct sl_loop *loop = sl_stmt_loop(c->kernel, stmt);
  c->at_mask = walkers(c, stmt);
  read_expr(c, loop->lo);
  read_expr(c, loop->hi);
  read_cond(c, loop->while_cond);
  if (loop->divergent)
    return;
  ask_expr(c, loop->lo, false);
  ask_expr(c, loop->hi, false);
  ask_cond(c, loop->while_cond, true);
}

static void read_branch(struct checker *c, sl_index stmt)
{
  struct sl_cond cond = sl_stmt_branch(c->kernel, stmt)->cond;
  c->at_mask = walkers(c, stmt);
  read_cond(c, cond);
  ask_cond(c, cond, false);
}

/* ---- comparing two registers ---- */

/* How many of the list's writes stand at or before a position. */
static uint32_t writes_until(const struct checker *c, uint32_t list, uint32_t position)
{
  uint32_t low = 0, high = c->lists.data[list].stmts.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (c->positions.data[c->lists.data[list].stmts.data[middle]] <= position)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void note_buffer_write(struct checker *c, const struct sl_operand *operand, uint32_t position)
{
  if (operand->kind != SL_OPERAND_NAME)
    return;
  bool is_new;
  uint32_t *at = sl_map_put(&c->buffer_writes, c->heap, (uint64_t)operand->value, &is_new);
  if (is_new) {
    *at = c->write_positions.len;
    (void)sl_vec_push(c->heap, &c->write_positions);
  }
  sl_vec_add(c->heap, &c->write_positions.data[*at].positions, position);
}

static void find_buffer_writes(struct checker *c)
{
  const struct sl_kernel *kernel = c->kernel;
  c->buffers_known = true;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind != SL_STMT_OP)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, at);
    if (sl_opcode_table[op->code].op_class != SL_CLASS_DATAPATH)
      continue;
    for (uint32_t i = 0; i < op->dst_count; i++)
      note_buffer_write(c, &kernel->operands.data[op->first_operand + i], c->positions.data[at]);
  }
}

/* Whether the kernel writes the buffer between two places, in text order. */
static bool written_between(struct checker *c, sl_name buffer, uint32_t a, uint32_t b)
{
  if (!c->buffers_known)
    find_buffer_writes(c);
  const uint32_t *at = sl_map_get(&c->buffer_writes, buffer);
  if (!at)
    return false;
  uint32_t from = a < b ? a : b, to = a < b ? b : a;
  const struct position_list *list = &c->write_positions.data[*at];
  uint32_t low = 0, high = list->positions.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (list->positions.data[middle] <= from)
      low = middle + 1;
    else
      high = middle;
  }
  return low < list->positions.len && list->positions.data[low] < to;
}

/* Puts "the register of `a` as read at stmt_a equals that of `b` at stmt_b" on the work list. False when the numbers of
 * writes differ already. */
static bool compare_reads(struct checker *c, uint32_t a, sl_index stmt_a, uint32_t b, sl_index stmt_b, bool each_trip)
{
  uint32_t count = writes_until(c, a, reach_of(c, stmt_a, each_trip));
  /* A write at the place itself, `reg_add %x, %x, 1`, comes after the read. */
  uint32_t before_a = writes_until(c, a, c->positions.data[stmt_a] - 1);
  uint32_t before_b = writes_until(c, b, c->positions.data[stmt_b] - 1);
  if (before_a != before_b || count != writes_until(c, b, reach_of(c, stmt_b, each_trip)))
    return false;
  uint32_t *known = sl_map_put(&c->alike, c->heap, sl_map_pair(a, b), NULL);
  if (a != b && *known < count) {
    sl_vec_add(c->heap, &c->work, ((struct comparison){ a, b, *known, count }));
    *known = count;
  }
  return true;
}

static bool same_expr(struct checker *c, sl_index x, uint32_t bit_a, sl_index stmt_a, sl_index y, uint32_t bit_b,
                      sl_index stmt_b)
{
  const struct sl_expr *a = &c->kernel->exprs.data[x], *b = &c->kernel->exprs.data[y];
  if (a->kind != b->kind)
    return false;
  switch ((enum sl_expr_kind)a->kind) {
  case SL_EXPR_INT:
  case SL_EXPR_NAME: return a->u.value == b->u.value;
  case SL_EXPR_REG:
    return compare_reads(c, list_of(c, bit_a, (sl_name)a->u.value), stmt_a, list_of(c, bit_b, (sl_name)b->u.value),
                         stmt_b, false);
  case SL_EXPR_NEG: return same_expr(c, a->u.sub.lhs, bit_a, stmt_a, b->u.sub.lhs, bit_b, stmt_b);
  default:
    return same_expr(c, a->u.sub.lhs, bit_a, stmt_a, b->u.sub.lhs, bit_b, stmt_b) &&
           same_expr(c, a->u.sub.rhs, bit_a, stmt_a, b->u.sub.rhs, bit_b, stmt_b);
  }
}

static bool same_index(struct checker *c, struct sl_access_index x, uint32_t bit_a, sl_index stmt_a,
                       struct sl_access_index y, uint32_t bit_b, sl_index stmt_b)
{
  if (x.kind != y.kind || x.kind == SL_INDEX_ANY)
    return false;
  return (!x.first || same_expr(c, x.first, bit_a, stmt_a, y.first, bit_b, stmt_b)) &&
         (!x.second || same_expr(c, x.second, bit_a, stmt_a, y.second, bit_b, stmt_b));
}

static bool same_operand(struct checker *c, const struct sl_operand *x, uint32_t bit_a, sl_index stmt_a,
                         const struct sl_operand *y, uint32_t bit_b, sl_index stmt_b)
{
  if (x->kind != y->kind || x->index_count != y->index_count)
    return false;
  if (x->kind == SL_OPERAND_REG)
    return compare_reads(c, list_of(c, bit_a, (sl_name)x->value), stmt_a, list_of(c, bit_b, (sl_name)y->value), stmt_b,
                         false);
  if (x->value != y->value)
    return false;
  for (uint32_t i = 0; i < x->index_count; i++)
    if (!same_index(c, c->kernel->indices.data[x->first_index + i], bit_a, stmt_a,
                    c->kernel->indices.data[y->first_index + i], bit_b, stmt_b))
      return false;
  return true;
}

static bool same_write(struct checker *c, uint32_t bit_a, sl_index stmt_a, uint32_t bit_b, sl_index stmt_b)
{
  const struct sl_kernel *kernel = c->kernel;
  const struct sl_op *a = sl_stmt_op(kernel, stmt_a), *b = sl_stmt_op(kernel, stmt_b);
  if (kernel->stmts.data[stmt_a].block != kernel->stmts.data[stmt_b].block || a->code != b->code ||
      in_divergent_loop(kernel, stmt_a))
    return false;
  uint32_t count = (uint32_t)a->dst_count + a->src_count;
  assert(count == (uint32_t)b->dst_count + b->src_count && "one opcode, one number of operands");
  for (uint32_t i = 1; i < count; i++)
    if (!same_operand(c, &kernel->operands.data[a->first_operand + i], bit_a, stmt_a,
                      &kernel->operands.data[b->first_operand + i], bit_b, stmt_b))
      return false;
  return a->code != SL_OP_REG_LOAD || !written_between(c, (sl_name)kernel->operands.data[a->first_operand + 1].value,
                                                       c->positions.data[stmt_a], c->positions.data[stmt_b]);
}

static bool same_range(struct checker *c, struct comparison range)
{
  for (uint32_t i = range.from; i < range.to; i++) {
    const struct write_list *a = &c->lists.data[range.a], *b = &c->lists.data[range.b];
    uint32_t bit_a = a->bit, bit_b = b->bit;
    c->differ_a = a->stmts.data[i];
    c->differ_b = b->stmts.data[i];
    if (!same_write(c, bit_a, c->differ_a, bit_b, c->differ_b))
      return false;
  }
  return true;
}

static bool alike(struct checker *c, const struct query *query, uint32_t a, uint32_t b)
{
  c->differ_a = c->differ_b = SL_NONE;
  c->work.len = 0;
  if (!compare_reads(c, a, query->stmt, b, query->stmt, query->each_trip))
    return false;
  while (c->work.len > 0)
    if (!same_range(c, c->work.data[--c->work.len]))
      return false;
  return true;
}

static void report_difference(struct checker *c, const struct query *query, uint32_t bit_a, uint32_t bit_b)
{
  const char *a = sl_text(c->program, c->engine_names.data[bit_a]);
  const char *b = sl_text(c->program, c->engine_names.data[bit_b]);
  bool is_loop = c->kernel->stmts.data[query->stmt].kind == SL_STMT_LOOP;
  sl_report_begin(c->report, SLUICE_ERROR, SL_RULE_UNIFORM, query->loc,
                  "'%s' and '%s' may disagree on this %s: they do not compute '%%%s' alike%s", a, b,
                  is_loop ? "loop" : "branch", sl_text(c->program, query->reg),
                  is_loop ? "; declare the loop 'divergent' if they should not" : "");
  sl_report_origin(c->report, sl_stmt_origin(c->program, c->kernel, query->stmt));
  if (c->differ_a && c->differ_a == c->differ_b) {
    sl_report_note(c->report, c->kernel->stmts.data[c->differ_a].loc, "this differs from engine to engine");
  } else if (c->differ_a) {
    sl_report_note(c->report, c->kernel->stmts.data[c->differ_a].loc, "on '%s'", a);
    sl_report_note(c->report, c->kernel->stmts.data[c->differ_b].loc, "on '%s'", b);
  }
  sl_report_end(c->report);
}

/* Whether the engines that walk the statement agree on the register; reports when not. */
static bool check_query(struct checker *c, const struct query *query)
{
  uint64_t mask = walkers(c, query->stmt);
  if (!mask)
    return true;
  uint32_t first = lowest(mask);
  for (mask &= mask - 1; mask; mask &= mask - 1) {
    uint32_t a = list_of(c, first, query->reg), b = list_of(c, lowest(mask), query->reg);
    if (alike(c, query, a, b))
      continue;
    report_difference(c, query, first, lowest(mask));
    sl_map_free(&c->alike, c->heap); /* what was assumed may be wrong */
    return false;
  }
  return true;
}

/* One message for a statement is enough, and a failed comparison forgets what was known: hence the limit. */
static void check_queries(struct checker *c)
{
  uint32_t shown = 0;
  sl_index refused = SL_NONE;
  for (uint32_t i = 0; i < c->queries.len && shown < REPORT_LIMIT; i++) {
    const struct query *query = &c->queries.data[i];
    if (query->stmt == refused || check_query(c, query))
      continue;
    refused = query->stmt;
    shown++;
  }
}

/* ---- entry ---- */

/* Most kernels before synchronization have no registers at all. */
static bool uses_registers(const struct sl_kernel *kernel)
{
  for (uint32_t i = 0; i < kernel->operands.len; i++)
    if (kernel->operands.data[i].kind == SL_OPERAND_REG)
      return true;
  for (uint32_t i = 0; i < kernel->waits.len; i++)
    if (kernel->waits.data[i].kind == SL_GATE_SEM && kernel->waits.data[i].threshold == SL_THRESHOLD_REG)
      return true;
  for (uint32_t i = 1; i < kernel->exprs.len; i++)
    if (kernel->exprs.data[i].kind == SL_EXPR_REG)
      return true;
  return false;
}

static void check_kernel(struct checker *c)
{
  const struct sl_kernel *kernel = c->kernel;
  find_all_engines(c);
  number_statements(c);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    c->at = at;
    switch ((enum sl_stmt_kind)kernel->stmts.data[at].kind) {
    case SL_STMT_OP: read_op(c, at); break;
    case SL_STMT_LOOP: read_loop(c, at); break;
    case SL_STMT_IF: read_branch(c, at); break;
    default: break;
    }
  }
}

int sl_verify_registers(sl_program *program, struct sl_kernel *kernel, sl_report *report)
{
  if (!uses_registers(kernel))
    return SLUICE_OK;
  uint32_t errors = report->errors;
  sl_heap *scratch = sl_heap_child_new(&program->heap);
  struct checker c = { .heap = scratch, .program = program, .kernel = kernel, .report = report };
  if (number_engines(&c))
    check_kernel(&c);
  if (report->errors == errors)
    check_queries(&c);
  sl_heap_child_free(scratch);
  return report->errors == errors ? SLUICE_OK : SLUICE_E_INPUT;
}
