/* parse_op.c: operations with their streams, operands and clauses; see parse.h. Names stay names: what they are is found out
 * by verify.c. Operands without an arrow are counted as destinations.
 */
#include "ir/parse.h"

/* ---- operands and clauses ---- */

static bool parse_index(struct parser *p, struct sl_access_index *index)
{
  if (accept(p, SL_TOKEN_QUESTION)) {
    index->kind = SL_INDEX_ANY;
    return true;
  }
  if (accept(p, SL_TOKEN_COLON)) {
    index->kind = SL_INDEX_ALL;
    return true;
  }
  index->kind = SL_INDEX_AT;
  if (!sl_parse_expression(p, &index->first))
    return false;
  if (accept(p, SL_TOKEN_COLON))
    index->kind = SL_INDEX_RANGE;
  else if (accept(p, SL_TOKEN_PLUS_COLON))
    index->kind = SL_INDEX_LENGTH;
  return index->kind == SL_INDEX_AT || sl_parse_expression(p, &index->second);
}

/* At the `[`. */
static bool parse_indices(struct parser *p, struct sl_operand *operand)
{
  operand->indexed = true;
  operand->first_index = p->kernel->indices.len;
  next(p);
  do {
    struct sl_access_index index = { 0, SL_NONE, SL_NONE };
    if (!parse_index(p, &index) || !sl_parse_count(p, &operand->index_count, "indices"))
      return false;
    sl_vec_add(p->heap, &p->kernel->indices, index);
  } while (accept(p, SL_TOKEN_COMMA));
  return expect(p, SL_TOKEN_RBRACKET, "',' or ']'");
}

static bool parse_operand(struct parser *p)
{
  struct sl_operand operand = { .loc = p->lex.loc };
  switch (p->lex.kind) {
  case SL_TOKEN_REGISTER:
    operand.kind = SL_OPERAND_REG;
    operand.value = intern_token(p);
    next(p);
    break;
  case SL_TOKEN_INT:
    operand.kind = SL_OPERAND_INT;
    if (!sl_parse_int(p, &operand.value, 0, INT64_MAX, "an integer"))
      return false;
    break;
  default:
    operand.kind = SL_OPERAND_NAME;
    operand.read_write = accept(p, SL_TOKEN_PLUS);
    operand.value = sl_parse_name(p, operand.read_write ? "a buffer after '+'" : "an operand");
    if (!operand.value || (at(p, SL_TOKEN_LBRACKET) && !parse_indices(p, &operand)))
      return false;
    break;
  }
  sl_vec_add(p->heap, &p->kernel->operands, operand);
  return true;
}

static bool parse_operands(struct parser *p, uint16_t *count)
{
  do {
    if (!parse_operand(p) || !sl_parse_count(p, count, "operands"))
      return false;
  } while (accept(p, SL_TOKEN_COMMA));
  return true;
}

/* `name [ "[" expr "]" ]`, the name read. */
static bool parse_event_index(struct parser *p, sl_index *index)
{
  if (!accept(p, SL_TOKEN_LBRACKET))
    return true;
  return sl_parse_expression(p, index) && expect(p, SL_TOKEN_RBRACKET, "']'");
}

static bool parse_gate(struct parser *p, struct sl_gate *gate)
{
  gate->loc = p->lex.loc;
  gate->name = sl_parse_name(p, "a semaphore or event");
  if (!gate->name)
    return false;
  if (at(p, SL_TOKEN_GT) || at(p, SL_TOKEN_LT) || at(p, SL_TOKEN_LE) || at(p, SL_TOKEN_NE) || at(p, SL_TOKEN_ASSIGN))
    return sl_parse_expected(p, "'>=' or '=='");
  gate->equal = at(p, SL_TOKEN_EQ);
  if (!gate->equal && !at(p, SL_TOKEN_GE)) {
    gate->kind = SL_GATE_EVENT;
    return parse_event_index(p, &gate->event_index);
  }
  next(p);
  switch (p->lex.kind) {
  case SL_TOKEN_INT:
    gate->threshold = SL_THRESHOLD_INT;
    return sl_parse_int(p, &gate->value, 0, INT64_MAX, "a threshold");
  case SL_TOKEN_REGISTER:
    gate->threshold = SL_THRESHOLD_REG;
    gate->value = intern_token(p);
    next(p);
    return true;
  default:
    gate->threshold = SL_THRESHOLD_NAME;
    gate->value = sl_parse_name(p, "a threshold (an integer, a register or a loop variable)");
    return gate->value != 0;
  }
}

static bool parse_waits(struct parser *p, struct sl_op *op)
{
  do {
    struct sl_gate gate = { 0 };
    if (!parse_gate(p, &gate))
      return false;
    sl_vec_add(p->heap, &p->kernel->waits, gate);
    op->wait_count++;
  } while (accept(p, SL_TOKEN_COMMA));
  return true;
}

static bool parse_incs(struct parser *p, struct sl_op *op)
{
  do {
    struct sl_inc inc = { 0, 1, p->lex.loc };
    inc.sem = sl_parse_name(p, "a semaphore");
    if (!inc.sem || (accept_word(p, "by") && !sl_parse_u32(p, &inc.by, 1, "the increment")) ||
        !sl_parse_count(p, &op->inc_count, "increments on one operation"))
      return false;
    sl_vec_add(p->heap, &p->kernel->incs, inc);
  } while (accept(p, SL_TOKEN_COMMA));
  return true;
}

static bool parse_sets(struct parser *p, struct sl_op *op)
{
  do {
    struct sl_event_set set = { 0, SL_NONE, p->lex.loc };
    set.event = sl_parse_name(p, "an event");
    if (!set.event || !parse_event_index(p, &set.index) || !sl_parse_count(p, &op->set_count, "events set by one operation"))
      return false;
    sl_vec_add(p->heap, &p->kernel->sets, set);
  } while (accept(p, SL_TOKEN_COMMA));
  return true;
}

static bool parse_clauses(struct parser *p, struct sl_op *op, sl_index *origin)
{
  for (;;) {
    bool fine;
    if (!at(p, SL_TOKEN_NAME))
      return true;
    if (accept_word(p, "wait"))
      fine = parse_waits(p, op);
    else if (accept_word(p, "inc"))
      fine = parse_incs(p, op);
    else if (accept_word(p, "set"))
      fine = parse_sets(p, op);
    else if (accept_word(p, "from"))
      fine = sl_parse_origin(p, origin);
    else
      return true;
    if (!fine)
      return false;
  }
}

/* ---- operations ---- */

/* stream = "*" | name { "|" name }, the first name read. */
static bool parse_streams(struct parser *p, struct sl_op *op, sl_name name, sl_loc loc)
{
  struct sl_kernel *kernel = p->kernel;
  op->stream = sl_stream_put(kernel, name, loc);
  op->stream_count = 1;
  if (!at(p, SL_TOKEN_PIPE))
    return true;
  uint32_t first = kernel->stream_lists.len;
  sl_vec_add(p->heap, &kernel->stream_lists, op->stream);
  op->stream = first;
  while (accept(p, SL_TOKEN_PIPE)) {
    loc = p->lex.loc;
    name = sl_parse_name(p, "an engine or queue after '|'");
    if (!name || !sl_parse_count(p, &op->stream_count, "streams of one operation"))
      return false;
    sl_vec_add(p->heap, &kernel->stream_lists, sl_stream_put(kernel, name, loc));
  }
  return true;
}

/* label and stream: `[ label ":" ] stream`. */
static bool parse_op_start(struct parser *p, struct sl_op *op)
{
  sl_loc loc = p->lex.loc;
  sl_name name = 0;
  if (!at(p, SL_TOKEN_STAR)) {
    bool dotted = at(p, SL_TOKEN_LABEL);
    name = sl_parse_label(p);
    if (!name)
      return false;
    if (dotted || at(p, SL_TOKEN_COLON)) {
      if (!expect(p, SL_TOKEN_COLON, "':' after the label"))
        return false;
      op->label = name;
      loc = p->lex.loc;
      name = at(p, SL_TOKEN_STAR) ? 0 : sl_parse_name(p, "an engine, a queue or '*' after the label");
      if (!name && !at(p, SL_TOKEN_STAR))
        return false;
    }
  }
  if (name)
    return parse_streams(p, op, name, loc);
  next(p);
  op->all_engines = true;
  return true;
}

/* Whether the token starts an operand rather than a clause or the end. */
static inline bool at_operand(const struct parser *p)
{
  switch (p->lex.kind) {
  case SL_TOKEN_NAME: return !sl_is_reserved(p->lex.start, p->lex.length);
  case SL_TOKEN_PLUS: case SL_TOKEN_REGISTER: case SL_TOKEN_INT: return true;
  default: return false;
  }
}

/* What follows the operands is neither a clause nor the line's end. When the last operand looks like a misspelled clause
 * (`wiat s >= 1`), that is the better message. */
static bool bad_op_end(struct parser *p, const struct sl_op *op)
{
  static const char *const clauses[] = { "wait", "inc", "set", "from" };
  uint32_t count = (uint32_t)op->dst_count + op->src_count;
  const struct sl_operand *last = count ? &p->kernel->operands.data[op->first_operand + count - 1] : NULL;
  if (last && last->kind == SL_OPERAND_NAME && !last->indexed && at(p, SL_TOKEN_NAME)) {
    const char *word = sl_text(p->program, (sl_name)last->value);
    const char *closest = sl_closest(word, clauses, sizeof clauses / sizeof *clauses);
    if (closest) {
      sl_error(p->report, SL_RULE_SYNTAX, last->loc, "expected a clause, found '%s': did you mean '%s'?", word, closest);
      return false;
    }
  }
  return sl_parse_line_end(p, "a clause (wait, inc, set, from) or the end of the line");
}

static bool parse_op_parts(struct parser *p, struct sl_op *op, sl_index *origin)
{
  if (!parse_op_start(p, op) || !expect(p, SL_TOKEN_DOT, "'.' and an opcode"))
    return false;
  if (at(p, SL_TOKEN_NAME))
    op->code = (uint8_t)sl_opcode_find(p->lex.start, p->lex.length);
  op->opcode = sl_parse_name(p, "an opcode");
  if (!op->opcode || (at_operand(p) && !parse_operands(p, &op->dst_count)))
    return false;
  if (accept(p, SL_TOKEN_LEFT_ARROW)) {
    op->has_arrow = true;
    if (!parse_operands(p, &op->src_count))
      return false;
  }
  if (at(p, SL_TOKEN_LBRACE) && !sl_parse_attrs(p, &op->first_attr, &op->attr_count))
    return false;
  return parse_clauses(p, op, origin) && (at_line_end(p) || bad_op_end(p, op));
}

bool sl_parse_op(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel;
  struct sl_op op = { 0 };
  sl_index origin = SL_NONE;
  op.first_operand = kernel->operands.len;
  op.first_attr = kernel->attrs.len;
  op.first_wait = kernel->waits.len;
  op.first_inc = kernel->incs.len;
  op.first_set = kernel->sets.len;
  if (!parse_op_parts(p, &op, &origin))
    return false;
  sl_index stmt = sl_op_stmt_new(kernel, p->item_loc);
  kernel->stmts.data[stmt].origin = origin;
  *sl_stmt_op(kernel, stmt) = op;
  sl_parse_finish_stmt(p, stmt, p->lex.pending.len);
  sl_stmt_append(kernel, p->block, stmt);
  return true;
}
