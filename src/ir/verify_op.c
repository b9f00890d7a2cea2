/* verify_op.c: operations: label, streams, operands, attributes, waits, updates and events. O(size of the
 * operation). */
#include "ir/verify.h"

static const char *op_text(const struct sl_verifier *v, const struct sl_op *op)
{
  return sl_text(v->program, op->opcode);
}

static sl_loc op_loc(const struct sl_verifier *v)
{
  return v->kernel->stmts.data[v->at].loc;
}

static void check_label(struct sl_verifier *v, const struct sl_op *op)
{
  if (!op->label)
    return;
  struct sl_label_entry *entry = &v->labels.data[op->label];
  const char *text = sl_text(v->program, op->label);
  if (entry->kernel == v->scope.kernel) {
    sl_loc first = v->kernel->stmts.data[entry->stmt].loc;
    sl_verify_begin(v, SL_RULE_REDEFINED, op_loc(v), "label '%s' stands already", text);
    sl_verify_end_at(v, first, "first here");
    return;
  }
  *entry = (struct sl_label_entry){ v->scope.kernel, v->at };
  if (sl_label_number(text))
    v->has_copies = true;
}

/* Registers and immediate operations belong to a sequencer; a queue has none. */
static bool needs_engine(const struct sl_op *op)
{
  switch ((enum sl_op_class)sl_opcode_table[op->code].op_class) {
  case SL_CLASS_REGISTER:
  case SL_CLASS_LOAD:
  case SL_CLASS_SEMAPHORE:
  case SL_CLASS_DRAIN: return true;
  default: return false;
  }
}

static void check_streams(struct sl_verifier *v, const struct sl_op *op)
{
  uint32_t mark = ++v->mark;
  for (uint32_t k = 0; k < op->stream_count; k++) {
    uint32_t stream = sl_op_stream(v->kernel, op, k);
    const struct sl_stream *s = &v->kernel->streams.data[stream];
    if (v->stream_marks.data[stream] == mark)
      sl_verify_error(v, SL_RULE_ENGINE, op_loc(v), "'%s' is named twice: one copy per engine",
                      sl_text(v->program, s->name));
    v->stream_marks.data[stream] = mark;
    if (s->is_queue && needs_engine(op))
      sl_verify_error(v, SL_RULE_ENGINE, op_loc(v), "'%s' belongs to an engine, '%s' is a queue", op_text(v, op),
                      sl_text(v->program, s->name));
  }
}

/* ---- operands ---- */

static const struct sl_operand *operand_at(const struct sl_verifier *v, const struct sl_op *op, uint32_t i)
{
  return &v->kernel->operands.data[op->first_operand + i];
}

static void check_indices(struct sl_verifier *v, const struct sl_operand *operand)
{
  for (uint32_t i = 0; i < operand->index_count; i++) {
    struct sl_access_index index = v->kernel->indices.data[operand->first_index + i];
    (void)sl_verify_expr(v, index.first, SL_MAY_USE_LOOPS | SL_MAY_USE_REGISTERS);
    (void)sl_verify_expr(v, index.second, SL_MAY_USE_LOOPS | SL_MAY_USE_REGISTERS);
  }
}

static void check_memory(struct sl_verifier *v, const struct sl_op *op, const struct sl_operand *operand)
{
  if (operand->kind != SL_OPERAND_NAME) {
    sl_verify_error(v, SL_RULE_OPERANDS, operand->loc, "'%s' needs a buffer here", op_text(v, op));
    return;
  }
  (void)sl_verify_name(v, (sl_name)operand->value, operand->loc, 1u << SL_SYMBOL_BUFFER, "a buffer");
  check_indices(v, operand);
}

static void check_register(struct sl_verifier *v, const struct sl_op *op, const struct sl_operand *operand)
{
  if (operand->kind != SL_OPERAND_REG || operand->read_write)
    sl_verify_error(v, SL_RULE_OPERANDS, operand->loc, "the destination of '%s' is a register", op_text(v, op));
}

/* A register, an integer, a parameter or an enclosing loop variable. */
static void check_scalar(struct sl_verifier *v, const struct sl_op *op, const struct sl_operand *operand)
{
  if (operand->read_write || operand->indexed) {
    sl_verify_error(v, SL_RULE_OPERANDS, operand->loc, "a number for '%s' has no '+' and no indices", op_text(v, op));
    return;
  }
  if (operand->kind == SL_OPERAND_NAME)
    (void)sl_verify_name(v, (sl_name)operand->value, operand->loc, 1u << SL_SYMBOL_PARAM | 1u << SL_SYMBOL_LOOP,
                         "a register, number, parameter or enclosing loop variable");
  else if (operand->kind == SL_OPERAND_INT && operand->value < 0)
    sl_verify_error(v, SL_RULE_OPERANDS, operand->loc, "a number for '%s' cannot be negative", op_text(v, op));
}

/* Sources of a target's operation: a buffer, or a number. */
static void check_source(struct sl_verifier *v, const struct sl_op *op, const struct sl_operand *operand)
{
  if (operand->read_write) {
    sl_verify_error(v, SL_RULE_OPERANDS, operand->loc, "'+' marks a destination that is also read; sources need none");
    return;
  }
  if (operand->kind != SL_OPERAND_NAME) {
    check_scalar(v, op, operand);
    return;
  }
  unsigned kind = sl_scope_find(&v->scope, (sl_name)operand->value)->kind;
  if (kind == SL_SYMBOL_BUFFER)
    check_indices(v, operand);
  else if (kind == SL_SYMBOL_PARAM || kind == SL_SYMBOL_LOOP)
    check_scalar(v, op, operand);
  else
    (void)sl_verify_name(v, (sl_name)operand->value, operand->loc,
                         1u << SL_SYMBOL_BUFFER | 1u << SL_SYMBOL_PARAM | 1u << SL_SYMBOL_LOOP, "a buffer");
}

static void check_target_operands(struct sl_verifier *v, const struct sl_op *op)
{
  for (uint32_t i = 0; i < op->dst_count; i++)
    check_memory(v, op, operand_at(v, op, i));
  for (uint32_t i = 0; i < op->src_count; i++)
    check_source(v, op, operand_at(v, op, op->dst_count + i));
}

static const char *plural(int count)
{
  return count == 1 ? "" : "s";
}

/* Destination first, then sources, behind commas: `reg_add %a, %b, 1`, `sem_set s, 0`. */
static void check_control_operands(struct sl_verifier *v, const struct sl_op *op, const struct sl_opcode_info *info)
{
  int count = op->dst_count + op->src_count, wanted = info->destinations + info->sources;
  bool is_sem = info->op_class == SL_CLASS_SEMAPHORE;
  if (op->has_arrow) {
    sl_verify_error(v, SL_RULE_OPERANDS, op_loc(v), "'%s' touches no memory: separate its operands with ',', not '<-'",
                    info->text);
    return;
  }
  if (count != wanted) {
    sl_verify_error(v, SL_RULE_OPERANDS, op_loc(v), "'%s' takes a %s and %d number%s: %d operand%s given", info->text,
                    is_sem ? "semaphore" : "destination register", info->sources, plural(info->sources), count,
                    count == 1 ? " is" : "s are");
    return;
  }
  const struct sl_operand *first = operand_at(v, op, 0);
  if (!is_sem)
    check_register(v, op, first);
  else if (first->kind != SL_OPERAND_NAME || first->indexed || first->read_write)
    sl_verify_error(v, SL_RULE_OPERANDS, first->loc, "the destination of 'sem_set' is a semaphore");
  else
    (void)sl_verify_name(v, (sl_name)first->value, first->loc, 1u << SL_SYMBOL_SEM, "a semaphore");
  for (int i = 1; i < count; i++)
    check_scalar(v, op, operand_at(v, op, (uint32_t)i));
}

static void check_load_operands(struct sl_verifier *v, const struct sl_op *op)
{
  if (!op->has_arrow || op->dst_count != 1 || op->src_count != 1) {
    sl_verify_error(v, SL_RULE_OPERANDS, op_loc(v), "'reg_load' is written 'reg_load %%register <- buffer[index]'");
    return;
  }
  const struct sl_operand *source = operand_at(v, op, 1);
  check_register(v, op, operand_at(v, op, 0));
  if (source->read_write)
    sl_verify_error(v, SL_RULE_OPERANDS, source->loc, "'reg_load' only reads its buffer: no '+'");
  check_memory(v, op, source);
}

static void check_operands(struct sl_verifier *v, const struct sl_op *op)
{
  const struct sl_opcode_info *info = &sl_opcode_table[op->code];
  switch ((enum sl_op_class)info->op_class) {
  case SL_CLASS_DATAPATH: check_target_operands(v, op); break;
  case SL_CLASS_REGISTER:
  case SL_CLASS_SEMAPHORE: check_control_operands(v, op, info); break;
  case SL_CLASS_LOAD: check_load_operands(v, op); break;
  case SL_CLASS_NOP:
  case SL_CLASS_DRAIN:
    if (op->dst_count + op->src_count > 0)
      sl_verify_error(v, SL_RULE_OPERANDS, op_loc(v), "'%s' takes no operands", info->text);
    break;
  }
}

/* ---- clauses ---- */

static void check_semaphore_gate(struct sl_verifier *v, const struct sl_gate *gate)
{
  (void)sl_verify_name(v, gate->name, gate->loc, 1u << SL_SYMBOL_SEM, "a semaphore");
  if (gate->threshold == SL_THRESHOLD_NAME)
    (void)sl_verify_name(v, (sl_name)gate->value, gate->loc, 1u << SL_SYMBOL_LOOP,
                         "a number, register or enclosing loop variable");
  else if (gate->threshold == SL_THRESHOLD_INT && gate->value < 0)
    sl_verify_error(v, SL_RULE_LITERAL, gate->loc, "a semaphore cannot be waited to a negative value");
}

/* The event of a wait or set, with its index; NULL after reporting. */
static const struct sl_event *check_event(struct sl_verifier *v, sl_name name, sl_index index, sl_loc loc)
{
  if (!sl_verify_name(v, name, loc, 1u << SL_SYMBOL_EVENT, "an event"))
    return NULL;
  const struct sl_event *event = &v->kernel->events.data[sl_scope_find(&v->scope, name)->item];
  const char *text = sl_text(v->program, name);
  if (event->is_array && !index)
    sl_verify_error(v, SL_RULE_SEMAPHORE, loc, "event '%s' has %u elements: an index is needed", text, event->count);
  else if (!event->is_array && index)
    sl_verify_error(v, SL_RULE_SEMAPHORE, loc, "event '%s' is a single one: it takes no index", text);
  struct sl_constant at = sl_verify_expr(v, index, SL_MAY_USE_LOOPS | SL_MAY_USE_REGISTERS);
  if (event->is_array && at.state == SL_CONST_KNOWN && (at.value < 0 || at.value >= event->count))
    sl_verify_error(v, SL_RULE_SEMAPHORE, loc, "event '%s' has elements 0 to %u, not %lld", text, event->count - 1,
                    (long long)at.value);
  return event;
}

/* Whether work of the stream stands on the side of an event that names `side`. A queue waits on its trigger
 * and retires on itself, so a wait may name either; a trigger that the kernel leaves to the target is not
 * known here. */
static bool is_on_side(const struct sl_stream *stream, sl_name side, bool waits)
{
  if (stream->name == side)
    return true;
  return waits && stream->is_queue && (!stream->trigger_name || stream->trigger_name == side);
}

static void check_event_side(struct sl_verifier *v, const struct sl_op *op, const struct sl_event *event, sl_loc loc,
                             bool waits)
{
  sl_name side = waits ? event->to : event->from;
  bool fits = !op->all_engines;
  for (uint32_t k = 0; fits && k < op->stream_count; k++)
    fits = is_on_side(&v->kernel->streams.data[sl_op_stream(v->kernel, op, k)], side, waits);
  if (!fits)
    sl_verify_error(v, SL_RULE_SEMAPHORE, loc, "event '%s' is %s by '%s' alone", sl_text(v->program, event->name),
                    waits ? "waited for" : "set", sl_text(v->program, side));
}

static void check_waits(struct sl_verifier *v, const struct sl_op *op)
{
  for (uint32_t i = 0; i < op->wait_count; i++) {
    struct sl_gate gate = v->kernel->waits.data[op->first_wait + i];
    if (gate.kind == SL_GATE_SEM) {
      check_semaphore_gate(v, &gate);
      continue;
    }
    const struct sl_event *event = check_event(v, gate.name, gate.event_index, gate.loc);
    if (event)
      check_event_side(v, op, event, gate.loc, true);
  }
}

static void check_updates(struct sl_verifier *v, const struct sl_op *op)
{
  uint8_t op_class = sl_opcode_table[op->code].op_class;
  bool immediate = op_class == SL_CLASS_REGISTER || op_class == SL_CLASS_SEMAPHORE;
  if (immediate && op->inc_count + op->set_count > 0)
    sl_verify_error(v, SL_RULE_SEMAPHORE, op_loc(v),
                    "'%s' never retires, so it updates nothing: put the update on an "
                    "instruction or a nop",
                    op_text(v, op));
  if ((op->all_engines || op->stream_count > 1) && op->inc_count > 0)
    sl_verify_error(v, SL_RULE_SEMAPHORE, v->kernel->incs.data[op->first_inc].loc,
                    "copies cannot update a semaphore: its updates must come from one stream");
  for (uint32_t i = 0; i < op->inc_count; i++) {
    struct sl_inc inc = v->kernel->incs.data[op->first_inc + i];
    (void)sl_verify_name(v, inc.sem, inc.loc, 1u << SL_SYMBOL_SEM, "a semaphore");
    if (inc.by == 0)
      sl_verify_error(v, SL_RULE_LITERAL, inc.loc, "an update by 0 does nothing");
  }
  for (uint32_t i = 0; i < op->set_count; i++) {
    struct sl_event_set set = v->kernel->sets.data[op->first_set + i];
    const struct sl_event *event = check_event(v, set.event, set.index, set.loc);
    if (event)
      check_event_side(v, op, event, set.loc, false);
  }
}

void sl_verify_op(struct sl_verifier *v, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(v->kernel, stmt);
  check_label(v, op);
  check_streams(v, op);
  check_operands(v, op);
  sl_verify_attrs(v, op->first_attr, op->attr_count, SL_MAY_USE_LOOPS | SL_MAY_USE_REGISTERS);
  check_waits(v, op);
  check_updates(v, op);
}
