/* mutate.c: see mutate.h. Clauses of an op lie side by side in the kernel's arrays: an op that gets one more has all of
 * its own copied to the end. */
#include "property/mutate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

const char *sl_mutation_name(enum sl_mutation_kind kind)
{
  static const char *const names[SL_MUTATION_KINDS] = { "wait deleted",
                                                        "threshold lowered",
                                                        "threshold raised",
                                                        "update removed",
                                                        "update moved to a neighbour",
                                                        "update moved to another stream",
                                                        "other semaphore awaited",
                                                        "other semaphore updated" };
  return names[kind];
}

static bool is_op(const struct sl_kernel *kernel, sl_index stmt)
{
  return sl_stmt_get(kernel, stmt)->kind == SL_STMT_OP;
}

uint32_t sl_largest_update(const struct sl_kernel *kernel, sl_name sem)
{
  uint32_t largest = 1;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    const struct sl_op *op = sl_stmt_op(kernel, at);
    for (uint32_t i = 0; is_op(kernel, at) && i < op->inc_count; i++) {
      const struct sl_inc *inc = &kernel->incs.data[op->first_inc + i];
      if (inc->sem == sem && inc->by > largest)
        largest = inc->by;
    }
  }
  return largest;
}

/* ---- finding ---- */

static void add(struct sl_mutations *mutations, enum sl_mutation_kind kind, sl_index stmt, uint32_t clause, uint32_t to)
{
  if (mutations->len == mutations->cap) {
    mutations->cap = 2 * mutations->cap + 32;
    mutations->list = realloc(mutations->list, mutations->cap * sizeof *mutations->list);
    if (!mutations->list)
      abort();
  }
  mutations->list[mutations->len++] = (struct sl_mutation){ kind, stmt, clause, to };
}

static void find_for_wait(struct sl_mutations *mutations, const struct sl_kernel *kernel, sl_index stmt, uint32_t wait)
{
  const struct sl_gate *gate = &kernel->waits.data[wait];
  add(mutations, SL_MUTATE_DELETE_WAIT, stmt, wait, 0);
  if (gate->kind != SL_GATE_SEM)
    return;
  bool one_stream = sl_stmt_op(kernel, stmt)->stream_count == 1;
  if (gate->threshold == SL_THRESHOLD_INT ? gate->value > 0 : one_stream)
    add(mutations, SL_MUTATE_LOWER_WAIT, stmt, wait, 0);
  if (gate->threshold == SL_THRESHOLD_INT || one_stream)
    add(mutations, SL_MUTATE_RAISE_WAIT, stmt, wait, 0);
  for (uint32_t s = 1; s < kernel->sems.len; s++) {
    if (kernel->sems.data[s].name != gate->name)
      add(mutations, SL_MUTATE_SWAP_WAIT, stmt, wait, s);
  }
}

/* Whether the op can carry an update. */
static bool retires(const struct sl_kernel *kernel, sl_index stmt)
{
  if (!is_op(kernel, stmt))
    return false;
  const struct sl_op *op = sl_stmt_op(kernel, stmt);
  uint8_t op_class = sl_opcode_table[op->code].op_class;
  return op->stream_count == 1 && op_class != SL_CLASS_REGISTER && op_class != SL_CLASS_SEMAPHORE;
}

/* The nearest instruction before and behind `stmt` in the text, on its stream or not. */
static void find_moves(struct sl_mutations *mutations, const struct sl_kernel *kernel, sl_index stmt, uint32_t clause,
                       bool same_stream)
{
  uint32_t stream = sl_stmt_op(kernel, stmt)->stream;
  sl_index before = SL_NONE, behind = SL_NONE;
  bool passed = false;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at && !behind; at = sl_walk_next(kernel, kernel->root, at)) {
    if (at == stmt)
      passed = true;
    else if (retires(kernel, at) && (sl_stmt_op(kernel, at)->stream == stream) == same_stream)
      *(passed ? &behind : &before) = at;
  }
  enum sl_mutation_kind kind = same_stream ? SL_MUTATE_MOVE_UPDATE : SL_MUTATE_MOVE_AWAY;
  if (before)
    add(mutations, kind, stmt, clause, before);
  if (behind)
    add(mutations, kind, stmt, clause, behind);
}

static void find_for_update(struct sl_mutations *mutations, const struct sl_kernel *kernel, sl_index stmt, uint32_t inc)
{
  add(mutations, SL_MUTATE_REMOVE_UPDATE, stmt, inc, 0);
  find_moves(mutations, kernel, stmt, inc, true);
  find_moves(mutations, kernel, stmt, inc, false);
  for (uint32_t s = 1; s < kernel->sems.len; s++) {
    if (kernel->sems.data[s].name != kernel->incs.data[inc].sem)
      add(mutations, SL_MUTATE_SWAP_UPDATE, stmt, inc, s);
  }
}

void sl_mutations_find(struct sl_mutations *mutations, const struct sl_kernel *kernel)
{
  *mutations = (struct sl_mutations){ NULL, 0, 0 };
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (!is_op(kernel, at))
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, at);
    for (uint32_t i = 0; i < op->wait_count; i++)
      find_for_wait(mutations, kernel, at, op->first_wait + i);
    for (uint32_t i = 0; i < op->inc_count; i++)
      find_for_update(mutations, kernel, at, op->first_inc + i);
    for (uint32_t i = 0; i < op->set_count; i++) {
      add(mutations, SL_MUTATE_REMOVE_UPDATE, at, kernel->incs.len + op->first_set + i, 0);
      find_moves(mutations, kernel, at, kernel->incs.len + op->first_set + i, true);
    }
  }
}

/* ---- applying ---- */

static void take_out(void *array, uint32_t first, uint32_t count, uint32_t at, size_t size)
{
  char *bytes = array;
  memmove(bytes + at * size, bytes + (at + 1) * size, (first + count - at - 1) * size);
}

static struct sl_operand operand(enum sl_operand_kind kind, int64_t value)
{
  return (struct sl_operand){ .kind = (uint8_t)kind, .value = value };
}

/* A register operation of the engine that issues `stmt`, in front of it. */
static void insert_before(sl_program *program, struct sl_kernel *kernel, sl_index stmt, enum sl_opcode code,
                          const struct sl_operand operands[3])
{
  uint32_t engine = sl_issue_stream(kernel, sl_stmt_op(kernel, stmt)->stream);
  sl_index added = sl_op_stmt_new(kernel, 0);
  struct sl_op *op = sl_stmt_op(kernel, added);
  op->code = (uint8_t)code;
  op->opcode = sl_intern(program, sl_opcode_table[code].text);
  op->stream_count = 1;
  op->stream = engine;
  op->first_operand = kernel->operands.len;
  op->dst_count = 3;
  for (unsigned i = 0; i < 3; i++)
    sl_vec_add(kernel->heap, &kernel->operands, operands[i]);
  sl_stmt_insert_before(kernel, stmt, added);
}

static void change_threshold(sl_program *program, struct sl_kernel *kernel, const struct sl_mutation *mutation)
{
  struct sl_gate *gate = &kernel->waits.data[mutation->clause];
  int64_t by = sl_largest_update(kernel, gate->name);
  bool lower = mutation->kind == SL_MUTATE_LOWER_WAIT;
  if (gate->threshold == SL_THRESHOLD_INT) {
    gate->value = lower ? (gate->value < by ? 0 : gate->value - by) : gate->value + by;
    return;
  }
  struct sl_operand scratch = operand(SL_OPERAND_REG, (int64_t)sl_intern(program, "mutated"));
  struct sl_operand old = operand(gate->threshold == SL_THRESHOLD_REG ? SL_OPERAND_REG : SL_OPERAND_NAME, gate->value);
  struct sl_operand step = operand(SL_OPERAND_INT, by);
  struct sl_operand clamp[3] = { scratch, old, step }, shift[3] = { scratch, scratch, step };
  gate->threshold = SL_THRESHOLD_REG;
  gate->value = scratch.value;
  if (lower) {
    insert_before(program, kernel, mutation->stmt, SL_OP_REG_MAX, clamp);
    insert_before(program, kernel, mutation->stmt, SL_OP_REG_SUB, shift);
  } else {
    insert_before(program, kernel, mutation->stmt, SL_OP_REG_ADD, clamp);
  }
}

static void remove_update(struct sl_kernel *kernel, struct sl_op *op, uint32_t clause)
{
  uint32_t incs = kernel->incs.len;
  if (clause < incs)
    take_out(kernel->incs.data, op->first_inc, op->inc_count--, clause, sizeof *kernel->incs.data);
  else
    take_out(kernel->sets.data, op->first_set, op->set_count--, clause - incs, sizeof *kernel->sets.data);
}

static void move_update(struct sl_kernel *kernel, const struct sl_mutation *mutation)
{
  struct sl_op *from = sl_stmt_op(kernel, mutation->stmt), *to = sl_stmt_op(kernel, mutation->to);
  bool is_inc = mutation->clause < kernel->incs.len;
  struct sl_inc inc = is_inc ? kernel->incs.data[mutation->clause] : (struct sl_inc){ 0, 1, 0 };
  struct sl_event_set set = { 0, 0, 0 };
  if (!is_inc)
    set = kernel->sets.data[mutation->clause - kernel->incs.len];
  remove_update(kernel, from, mutation->clause);
  if (is_inc) {
    uint32_t first = kernel->incs.len;
    for (uint32_t i = 0; i < to->inc_count; i++) {
      struct sl_inc copy = kernel->incs.data[to->first_inc + i];
      sl_vec_add(kernel->heap, &kernel->incs, copy);
    }
    sl_vec_add(kernel->heap, &kernel->incs, inc);
    to->first_inc = first;
    to->inc_count++;
    return;
  }
  uint32_t first = kernel->sets.len;
  for (uint32_t i = 0; i < to->set_count; i++) {
    struct sl_event_set copy = kernel->sets.data[to->first_set + i];
    sl_vec_add(kernel->heap, &kernel->sets, copy);
  }
  sl_vec_add(kernel->heap, &kernel->sets, set);
  to->first_set = first;
  to->set_count++;
}

void sl_mutation_apply(sl_program *program, struct sl_kernel *kernel, const struct sl_mutation *mutation)
{
  struct sl_op *op = sl_stmt_op(kernel, mutation->stmt);
  switch (mutation->kind) {
  case SL_MUTATE_DELETE_WAIT:
    take_out(kernel->waits.data, op->first_wait, op->wait_count--, mutation->clause, sizeof *kernel->waits.data);
    break;
  case SL_MUTATE_LOWER_WAIT:
  case SL_MUTATE_RAISE_WAIT: change_threshold(program, kernel, mutation); break;
  case SL_MUTATE_REMOVE_UPDATE: remove_update(kernel, op, mutation->clause); break;
  case SL_MUTATE_MOVE_UPDATE:
  case SL_MUTATE_MOVE_AWAY: move_update(kernel, mutation); break;
  case SL_MUTATE_SWAP_WAIT: kernel->waits.data[mutation->clause].name = kernel->sems.data[mutation->to].name; break;
  default: kernel->incs.data[mutation->clause].sem = kernel->sems.data[mutation->to].name; break;
  }
}

void sl_mutation_describe(const struct sl_mutation *mutation, const sl_program *program, const struct sl_kernel *kernel,
                          char *text, size_t size)
{
  const struct sl_op *op = sl_stmt_op(kernel, mutation->stmt);
  bool is_wait = mutation->kind <= SL_MUTATE_RAISE_WAIT || mutation->kind == SL_MUTATE_SWAP_WAIT;
  bool is_set = !is_wait && mutation->clause >= kernel->incs.len;
  sl_name name = is_wait  ? kernel->waits.data[mutation->clause].name
                 : is_set ? kernel->sets.data[mutation->clause - kernel->incs.len].event
                          : kernel->incs.data[mutation->clause].sem;
  const char *label = op->label ? sl_text(program, op->label) : sl_text(program, op->opcode);
  int length = snprintf(text, size, "%s: '%s' of %s", sl_mutation_name(mutation->kind), sl_text(program, name), label);
  if (length < 0 || (size_t)length >= size)
    return;
  if (mutation->kind >= SL_MUTATE_SWAP_WAIT) {
    snprintf(text + length, size - (size_t)length, " -> '%s'", sl_text(program, kernel->sems.data[mutation->to].name));
  } else if (mutation->kind >= SL_MUTATE_MOVE_UPDATE) {
    const struct sl_op *to = sl_stmt_op(kernel, mutation->to);
    snprintf(text + length, size - (size_t)length, " -> %s", sl_text(program, to->label ? to->label : to->opcode));
  }
}
