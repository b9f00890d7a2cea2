/* ordered.c: see ordered.h.
 *
 * One walk in text order keeps, for every register that is loaded somewhere, the loads that may have given it its value. Arms
 * and loops, which may not run, add to what was there before; at the end of a loop, uses that nothing in the body surely
 * comes before meet the loads that the body leaves behind.
 */
#include "deps/ordered.h"

#include <assert.h>

enum { LOADS_MAX = 8 /* that may have given a value; those before them come first anyway, an engine stops for each */ };

/* What a register may hold. */
struct value {
  sl_index loads[LOADS_MAX]; /* statements, the latest first; 0 = no more */
  uint32_t written;          /* position of the last write that surely ran before, 0 = none */
};

struct change {
  uint32_t slot;
  struct value before;
};

struct use {
  uint32_t slot;
  sl_index stmt;
  uint16_t operand;
  uint32_t written; /* as of its value */
};

struct ordered {
  sl_heap *heap;
  const struct sl_kernel *kernel;
  uint32_t *position; /* by statement: number in the text, from 1 */
  sl_edges *edges;
  sl_heap *edge_heap;
  sl_map slot_of;             /* (engine, register) -> slot + 1, of registers that are loaded */
  sl_vec(struct value) now;   /* by slot */
  sl_vec(struct value) other; /* by slot: at the end of the then-arm */
  sl_vec(uint32_t) seen;      /* by slot: the last merge that met it */
  uint32_t merges;
  sl_vec(struct change) changes;
  sl_vec(struct use) uses;
};

/* ---- edges ---- */

static void add_edge(struct ordered *o, sl_index load, const struct use *use, sl_index block, uint32_t k)
{
  struct sl_edge edge = { .producer = load,
                          .consumer = use->stmt,
                          .block = block,
                          .k = k,
                          .line = SL_NO_LINE,
                          .kind = SL_EDGE_ORDERED,
                          .consumer_operand = use->operand,
                          .producer_stalls = true,
                          .producer_block = o->kernel->stmts.data[load].block,
                          .producer_position = o->position[load],
                          .producer_stream = sl_stmt_op(o->kernel, load)->stream };
  sl_vec_add(o->edge_heap, o->edges, edge);
}

/* ---- uses ---- */

static void use_register(struct ordered *o, sl_index stmt, sl_name reg, uint16_t operand)
{
  uint32_t engine = sl_issue_stream(o->kernel, sl_stmt_op(o->kernel, stmt)->stream);
  const uint32_t *slot = sl_map_get(&o->slot_of, sl_map_pair(engine, reg));
  bool is_again = o->uses.len && slot && o->uses.data[o->uses.len - 1].stmt == stmt &&
                  o->uses.data[o->uses.len - 1].slot == *slot - 1;
  if (!slot || is_again)
    return;
  const struct value *value = &o->now.data[*slot - 1];
  struct use use = { *slot - 1, stmt, operand, value->written };
  sl_vec_add(o->heap, &o->uses, use);
  for (uint32_t i = 0; i < LOADS_MAX && value->loads[i]; i++)
    add_edge(o, value->loads[i], &use, sl_common_block(o->kernel, value->loads[i], stmt), 0);
}

static void use_expr(struct ordered *o, sl_index stmt, sl_index index, uint16_t operand)
{
  if (!index)
    return;
  const struct sl_expr *expr = &o->kernel->exprs.data[index];
  if (expr->kind == SL_EXPR_REG)
    use_register(o, stmt, (sl_name)expr->u.value, operand);
  if (expr->kind >= SL_EXPR_NEG)
    use_expr(o, stmt, expr->u.sub.lhs, operand);
  if (expr->kind > SL_EXPR_NEG)
    use_expr(o, stmt, expr->u.sub.rhs, operand);
}

static void use_operand(struct ordered *o, sl_index stmt, uint16_t number)
{
  const struct sl_operand *operand = &o->kernel->operands.data[sl_stmt_op(o->kernel, stmt)->first_operand + number];
  if (operand->kind == SL_OPERAND_REG)
    use_register(o, stmt, (sl_name)operand->value, number);
  for (uint32_t i = 0; i < operand->index_count; i++) {
    const struct sl_access_index *index = &o->kernel->indices.data[operand->first_index + i];
    use_expr(o, stmt, index->first, number);
    use_expr(o, stmt, index->second, number);
  }
}

static void use_attribute(struct ordered *o, sl_index stmt, const struct sl_attr *attr)
{
  if (attr->kind == SL_ATTR_EXPR)
    use_expr(o, stmt, attr->expr, SL_NO_OPERAND);
  if (attr->kind != SL_ATTR_COND)
    return;
  for (uint32_t i = 0; i < attr->cond.count; i++) {
    const struct sl_cmp *cmp = &o->kernel->cmps.data[attr->cond.first + i];
    if (cmp->op == SL_CMP_OPAQUE)
      continue;
    use_expr(o, stmt, cmp->lhs, SL_NO_OPERAND);
    use_expr(o, stmt, cmp->rhs, SL_NO_OPERAND);
  }
}

/* Register operations are control and no ends of dependences. The register that a load writes is no use. */
static void use_all(struct ordered *o, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(o->kernel, stmt);
  enum sl_op_class op_class = sl_opcode_table[op->code].op_class;
  if (op_class == SL_CLASS_REGISTER || op_class == SL_CLASS_SEMAPHORE)
    return;
  uint16_t first = op_class == SL_CLASS_LOAD ? 1 : 0, count = (uint16_t)(op->dst_count + op->src_count);
  for (uint16_t i = first; i < count; i++)
    use_operand(o, stmt, i);
  for (uint32_t i = 0; i < op->attr_count; i++)
    use_attribute(o, stmt, &o->kernel->attrs.data[op->first_attr + i]);
  for (uint32_t i = 0; i < op->wait_count; i++) {
    const struct sl_gate *gate = &o->kernel->waits.data[op->first_wait + i];
    if (gate->kind == SL_GATE_SEM && gate->threshold == SL_THRESHOLD_REG)
      use_register(o, stmt, (sl_name)gate->value, SL_NO_OPERAND);
    use_expr(o, stmt, gate->event_index, SL_NO_OPERAND);
  }
}

/* ---- values ---- */

static void write_register(struct ordered *o, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(o->kernel, stmt);
  sl_name reg = sl_op_written_register(o->kernel, op);
  const uint32_t *slot = reg ? sl_map_get(&o->slot_of, sl_map_pair(op->stream, reg)) : NULL;
  if (!slot)
    return;
  sl_vec_add(o->heap, &o->changes, ((struct change){ *slot - 1, o->now.data[*slot - 1] }));
  bool is_load = sl_opcode_table[op->code].op_class == SL_CLASS_LOAD;
  o->now.data[*slot - 1] = (struct value){ { is_load ? stmt : SL_NONE }, o->position[stmt] };
}

/* Adds what a register may hold otherwise. Which of them ran is not known, but one did: the earlier write surely counts. */
static void join(struct value *value, const struct value *with)
{
  uint32_t count = 0;
  while (count < LOADS_MAX && value->loads[count])
    count++;
  for (uint32_t i = 0; i < LOADS_MAX && with->loads[i]; i++) {
    bool is_there = false;
    for (uint32_t n = 0; n < count; n++)
      is_there |= value->loads[n] == with->loads[i];
    if (!is_there && count < LOADS_MAX)
      value->loads[count++] = with->loads[i];
  }
  value->written = with->written < value->written ? with->written : value->written;
}

/* Each register changed since then once, with what it held before. */
static bool is_first(struct ordered *o, const struct change *change)
{
  bool first = o->seen.data[change->slot] != o->merges;
  o->seen.data[change->slot] = o->merges;
  return first;
}

static void join_before(struct ordered *o, uint32_t since)
{
  o->merges++;
  for (uint32_t i = since; i < o->changes.len; i++)
    if (is_first(o, &o->changes.data[i]))
      join(&o->now.data[o->changes.data[i].slot], &o->changes.data[i].before);
}

/* Goes back to before the then-arm, whose values are kept aside. */
static void swap_arms(struct ordered *o, uint32_t since)
{
  o->merges++;
  for (uint32_t i = since; i < o->changes.len; i++) {
    const struct change *change = &o->changes.data[i];
    if (!is_first(o, change))
      continue;
    o->other.data[change->slot] = o->now.data[change->slot];
    o->now.data[change->slot] = change->before;
  }
}

/* Both arms are over: registers changed in [since, between) by the first one, behind it by the second. */
static void join_arms(struct ordered *o, uint32_t since, uint32_t between)
{
  o->merges++;
  for (uint32_t i = since; i < o->changes.len; i++) {
    const struct change *change = &o->changes.data[i];
    if (is_first(o, change))
      join(&o->now.data[change->slot], i < between ? &o->other.data[change->slot] : &change->before);
  }
}

/* ---- the walk ---- */

static void walk(struct ordered *o, sl_index block);

static void walk_branch(struct ordered *o, sl_index stmt)
{
  const struct sl_branch *branch = sl_stmt_branch(o->kernel, stmt);
  uint32_t since = o->changes.len;
  walk(o, branch->then_block);
  if (!branch->else_block) {
    join_before(o, since);
    return;
  }
  uint32_t between = o->changes.len;
  swap_arms(o, since);
  walk(o, branch->else_block);
  join_arms(o, since, between);
}

/* A use that no write in the body surely comes before, and the loads that the iteration before has left. */
static void meet_carried(struct ordered *o, const struct use *use, sl_index body, uint32_t begin)
{
  const struct value *left = &o->now.data[use->slot];
  if (use->written > begin)
    return;
  for (uint32_t i = 0; i < LOADS_MAX && left->loads[i]; i++) {
    uint32_t at = o->position[left->loads[i]];
    if (at > begin && at >= o->position[use->stmt])
      add_edge(o, left->loads[i], use, body, 1);
  }
}

static void walk_loop(struct ordered *o, sl_index stmt)
{
  sl_index body = sl_stmt_loop(o->kernel, stmt)->body;
  uint32_t since = o->changes.len, first = o->uses.len;
  walk(o, body);
  for (uint32_t i = first; i < o->uses.len; i++)
    meet_carried(o, &o->uses.data[i], body, o->position[stmt]);
  join_before(o, since);
}

static void walk(struct ordered *o, sl_index block)
{
  for (sl_index at = o->kernel->blocks.data[block].first; at; at = o->kernel->stmts.data[at].next)
    switch ((enum sl_stmt_kind)o->kernel->stmts.data[at].kind) {
    case SL_STMT_OP:
      use_all(o, at);
      write_register(o, at);
      break;
    case SL_STMT_LOOP: walk_loop(o, at); break;
    case SL_STMT_IF: walk_branch(o, at); break;
    case SL_STMT_BARRIER:
    case SL_STMT_BARRIER_RESET:
    case SL_STMT_EPILOGUE: break;
    }
}

/* Gives every register that is loaded a slot; false when none is. */
static bool find_loaded(struct ordered *o)
{
  for (uint32_t i = 1; i < o->kernel->ops.len; i++) {
    const struct sl_op *op = &o->kernel->ops.data[i];
    if (sl_opcode_table[op->code].op_class != SL_CLASS_LOAD || op->stream_count != 1)
      continue;
    bool is_new;
    uint32_t *slot =
        sl_map_put(&o->slot_of, o->heap, sl_map_pair(op->stream, sl_op_written_register(o->kernel, op)), &is_new);
    if (is_new) {
      (void)sl_vec_push(o->heap, &o->now);
      *slot = o->now.len;
    }
  }
  (void)sl_vec_extend(o->heap, &o->other, o->now.len);
  (void)sl_vec_extend(o->heap, &o->seen, o->now.len);
  return o->now.len > 0;
}

static void find_positions(struct ordered *o)
{
  uint32_t position = 0;
  o->position = sl_heap_calloc(o->heap, o->kernel->stmts.len, sizeof *o->position);
  for (sl_index at = sl_walk_first(o->kernel, o->kernel->root); at; at = sl_walk_next(o->kernel, o->kernel->root, at))
    o->position[at] = ++position;
}

void sl_deps_add_ordered(sl_edges *edges, sl_heap *heap, const struct sl_kernel *kernel)
{
  sl_heap *scratch = sl_heap_child_new(heap);
  struct ordered o = { .heap = scratch, .kernel = kernel, .edges = edges, .edge_heap = heap };
  if (find_loaded(&o)) {
    find_positions(&o);
    walk(&o, kernel->root);
  }
  sl_heap_child_free(scratch);
}
