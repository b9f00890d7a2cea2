/* json_op.c: operations of the JSON form: operands, attributes, clauses. Linear in what it reads. */
#include "ir/construct.h"
#include "ir/json_read.h"
#include "ir/lexer.h"

static bool read_index(struct sl_input *in, uint32_t node, struct sl_access_index *index)
{
  enum { AT, LO, HI, LENGTH };
  static const struct sl_field fields[] = {
    { "at", TAKES_STRING }, { "lo", TAKES_STRING }, { "hi", TAKES_STRING }, { "length", TAKES_STRING }
  };
  struct sl_members m;
  if (!sl_input_check_kind(in, node, "an index", TAKES_STRING | TAKES_OBJECT))
    return false;
  if (sl_input_node(in, node)->kind == SL_JSON_STRING) {
    bool all = strcmp(sl_json_string(&in->json, node), "all") == 0;
    index->kind = all ? SL_INDEX_ALL : SL_INDEX_ANY;
    if (all || strcmp(sl_json_string(&in->json, node), "any") == 0)
      return true;
    INPUT_ERROR(in, node, "an index is \"all\", \"any\" or an object");
    return false;
  }
  if (!READ_MEMBERS(in, node, "an index", fields, &m))
    return false;
  bool is_range = m.at[HI] != 0;
  uint32_t second = is_range ? m.at[HI] : m.at[LENGTH];
  if (!(m.at[AT] ? !m.at[LO] && !second : m.at[LO] && second && !(m.at[HI] && m.at[LENGTH]))) {
    INPUT_ERROR(in, node, "an index has \"at\", or \"lo\" with \"hi\", or \"lo\" with \"length\"");
    return false;
  }
  index->kind = m.at[AT] ? SL_INDEX_AT : is_range ? SL_INDEX_RANGE : SL_INDEX_LENGTH;
  index->first = sl_input_expr(in, m.at[AT] ? m.at[AT] : m.at[LO]);
  index->second = second ? sl_input_expr(in, second) : SL_NONE;
  return index->first && (index->second || !second);
}

static bool read_indices(struct sl_input *in, uint32_t array, struct sl_operand *operand)
{
  struct sl_kernel *kernel = in->kernel;
  operand->indexed = array != 0;
  bool ok = sl_input_count(in, array, &operand->index_count);
  if (operand->indexed && operand->index_count == 0 && ok) {
    INPUT_ERROR(in, array, "an access has at least one index");
    return false;
  }
  operand->first_index = kernel->indices.len;
  FOR_EACH (in, node, ok ? array : 0) {
    struct sl_access_index index = { 0 };
    ok &= read_index(in, node, &index);
    sl_vec_add(kernel->heap, &kernel->indices, index);
  }
  return ok;
}

/* {"register": r} or {"name": n}: exactly one of the two; false after reporting. */
static bool read_reference(struct sl_input *in, uint32_t object, uint32_t reg, uint32_t name, sl_name *value)
{
  if (!reg == !name) {
    INPUT_ERROR(in, object, "exactly one of \"name\" and \"register\" is wanted");
    return false;
  }
  const char *text = sl_json_string(&in->json, reg);
  bool reserved = reg && sl_is_reserved(text, sl_input_node(in, reg)->count); /* fine behind a `%` */
  *value = reserved ? sl_input_string(in, reg) : sl_input_name(in, reg ? reg : name);
  return *value != 0;
}

static bool read_operand(struct sl_input *in, uint32_t node, struct sl_operand *operand)
{
  enum { NAME, REGISTER, READ_WRITE, INDEX };
  static const struct sl_field fields[] = {
    { "name", TAKES_STRING }, { "register", TAKES_STRING }, { "read_write", TAKES_BOOL }, { "index", TAKES_ARRAY }
  };
  struct sl_members m;
  sl_name name;
  operand->loc = sl_input_node(in, node)->loc;
  if (!sl_input_check_kind(in, node, "an operand", TAKES_INT | TAKES_OBJECT))
    return false;
  if (sl_input_node(in, node)->kind == SL_JSON_INT) {
    operand->kind = SL_OPERAND_INT;
    return sl_input_int(in, node, 0, INT64_MAX, &operand->value);
  }
  if (!READ_MEMBERS(in, node, "an operand", fields, &m) || !read_reference(in, node, m.at[REGISTER], m.at[NAME], &name))
    return false;
  operand->value = name;
  operand->kind = m.at[REGISTER] ? SL_OPERAND_REG : SL_OPERAND_NAME;
  operand->read_write = sl_input_true(in, m.at[READ_WRITE]);
  if (m.at[REGISTER] && (m.at[READ_WRITE] || m.at[INDEX])) {
    INPUT_ERROR(in, node, "a register has neither \"read_write\" nor \"index\"");
    return false;
  }
  return read_indices(in, m.at[INDEX], operand);
}

static bool read_operands(struct sl_input *in, uint32_t array, uint16_t *count)
{
  bool ok = sl_input_count(in, array, count);
  FOR_EACH (in, node, ok ? array : 0) {
    struct sl_operand operand = { 0 };
    ok &= read_operand(in, node, &operand);
    sl_vec_add(in->kernel->heap, &in->kernel->operands, operand);
  }
  return ok;
}

static bool read_threshold(struct sl_input *in, uint32_t node, struct sl_gate *gate)
{
  enum { NAME, REGISTER };
  static const struct sl_field fields[] = { { "name", TAKES_STRING }, { "register", TAKES_STRING } };
  struct sl_members m;
  sl_name name;
  gate->threshold = SL_THRESHOLD_INT;
  if (sl_input_node(in, node)->kind == SL_JSON_INT)
    return sl_input_int(in, node, 0, INT64_MAX, &gate->value);
  if (!READ_MEMBERS(in, node, "a threshold", fields, &m) ||
      !read_reference(in, node, m.at[REGISTER], m.at[NAME], &name))
    return false;
  gate->threshold = m.at[REGISTER] ? SL_THRESHOLD_REG : SL_THRESHOLD_NAME;
  gate->value = name;
  return true;
}

static bool read_gate(struct sl_input *in, uint32_t node, struct sl_gate *gate)
{
  enum { SEMAPHORE, AT_LEAST, EQUALS, EVENT, INDEX };
  static const struct sl_field fields[] = { { "semaphore", TAKES_STRING },
                                            { "at_least", TAKES_INT | TAKES_OBJECT },
                                            { "equals", TAKES_INT | TAKES_OBJECT },
                                            { "event", TAKES_STRING },
                                            { "index", TAKES_STRING } };
  struct sl_members m;
  if (!READ_MEMBERS(in, node, "a wait", fields, &m))
    return false;
  bool on_sem = m.at[SEMAPHORE] && !m.at[EVENT] && !m.at[INDEX] && !m.at[AT_LEAST] != !m.at[EQUALS];
  bool on_event = m.at[EVENT] && !m.at[SEMAPHORE] && !m.at[AT_LEAST] && !m.at[EQUALS];
  if (!on_sem && !on_event) {
    INPUT_ERROR(in, node, "a wait has \"semaphore\" with \"at_least\" or \"equals\", or \"event\"");
    return false;
  }
  gate->loc = sl_input_node(in, node)->loc;
  gate->kind = on_sem ? SL_GATE_SEM : SL_GATE_EVENT;
  gate->equal = m.at[EQUALS] != 0;
  gate->name = sl_input_name(in, on_sem ? m.at[SEMAPHORE] : m.at[EVENT]);
  if (on_sem)
    return read_threshold(in, gate->equal ? m.at[EQUALS] : m.at[AT_LEAST], gate) && gate->name;
  if (m.at[INDEX])
    gate->event_index = sl_input_expr(in, m.at[INDEX]);
  return gate->name && (gate->event_index || !m.at[INDEX]);
}

static bool read_inc(struct sl_input *in, uint32_t node, struct sl_inc *inc)
{
  enum { SEMAPHORE, BY };
  static const struct sl_field fields[] = { { "semaphore", TAKES_STRING | REQUIRED }, { "by", TAKES_INT } };
  struct sl_members m;
  if (!READ_MEMBERS(in, node, "an update", fields, &m))
    return false;
  inc->loc = sl_input_node(in, node)->loc;
  inc->by = 1;
  inc->sem = sl_input_name(in, m.at[SEMAPHORE]);
  return inc->sem && (!m.at[BY] || sl_input_uint32(in, m.at[BY], 1, &inc->by));
}

static bool read_set(struct sl_input *in, uint32_t node, struct sl_event_set *set)
{
  enum { EVENT, INDEX };
  static const struct sl_field fields[] = { { "event", TAKES_STRING | REQUIRED }, { "index", TAKES_STRING } };
  struct sl_members m;
  if (!READ_MEMBERS(in, node, "a set", fields, &m))
    return false;
  set->loc = sl_input_node(in, node)->loc;
  set->event = sl_input_name(in, m.at[EVENT]);
  if (m.at[INDEX])
    set->index = sl_input_expr(in, m.at[INDEX]);
  return set->event && (set->index || !m.at[INDEX]);
}

static bool read_clauses(struct sl_input *in, uint32_t waits, uint32_t updates, uint32_t sets, struct sl_op *op)
{
  struct sl_kernel *kernel = in->kernel;
  op->wait_count = waits ? sl_input_node(in, waits)->count : 0;
  bool fits = sl_input_count(in, updates, &op->inc_count);
  fits &= sl_input_count(in, sets, &op->set_count);
  bool ok = fits;
  op->first_wait = kernel->waits.len;
  op->first_inc = kernel->incs.len;
  op->first_set = kernel->sets.len;
  FOR_EACH (in, node, waits)
    ok &= read_gate(in, node, sl_vec_push(kernel->heap, &kernel->waits));
  FOR_EACH (in, node, fits ? updates : 0)
    ok &= read_inc(in, node, sl_vec_push(kernel->heap, &kernel->incs));
  FOR_EACH (in, node, fits ? sets : 0)
    ok &= read_set(in, node, sl_vec_push(kernel->heap, &kernel->sets));
  return ok;
}

const struct sl_field sl_op_fields[OP_FIELDS] = { COMMON_FIELDS,
                                                  { "label", TAKES_STRING },
                                                  { "stream", TAKES_STRING | REQUIRED },
                                                  { "opcode", TAKES_STRING | REQUIRED },
                                                  { "operands", TAKES_ARRAY },
                                                  { "destinations", TAKES_ARRAY },
                                                  { "sources", TAKES_ARRAY },
                                                  { "attributes", TAKES_ARRAY },
                                                  { "waits", TAKES_ARRAY },
                                                  { "updates", TAKES_ARRAY },
                                                  { "sets", TAKES_ARRAY },
                                                  { "from", TAKES_OBJECT } };

static bool read_all_operands(struct sl_input *in, const struct sl_members *m, struct sl_op *op)
{
  op->has_arrow = m->at[OP_SOURCES] != 0;
  if (m->at[OP_OPERANDS] ? m->at[OP_DESTINATIONS] || m->at[OP_SOURCES]
                         : !m->at[OP_DESTINATIONS] != !m->at[OP_SOURCES]) {
    INPUT_ERROR(in, m->object,
                "an operation has \"destinations\" and \"sources\", or \"operands\" alone, or none of them");
    return false;
  }
  op->first_operand = in->kernel->operands.len;
  bool ok = read_operands(in, op->has_arrow ? m->at[OP_DESTINATIONS] : m->at[OP_OPERANDS], &op->dst_count);
  ok &= read_operands(in, m->at[OP_SOURCES], &op->src_count);
  if (ok && op->has_arrow && op->src_count == 0) {
    INPUT_ERROR(in, m->at[OP_SOURCES], "\"sources\" has at least one operand");
    return false;
  }
  return ok;
}

/* Fills an op; stays away from kernel->ops while it reads, since pointers into arrays do not survive pushes. */
bool sl_input_op(struct sl_input *in, const struct sl_members *m, struct sl_op *op)
{
  const char *stream = sl_json_string(&in->json, m->at[OP_STREAM]);
  bool ok = true;
  if (m->at[OP_LABEL])
    ok &= (op->label = sl_input_label(in, m->at[OP_LABEL])) != 0;
  ok &= (op->opcode = sl_input_name(in, m->at[OP_OPCODE])) != 0;
  op->code =
      (uint8_t)sl_opcode_find(sl_json_string(&in->json, m->at[OP_OPCODE]), sl_input_node(in, m->at[OP_OPCODE])->count);
  if (!sl_op_set_streams(in->program, in->kernel, op, stream, sl_input_node(in, m->at[OP_STREAM])->loc)) {
    INPUT_ERROR(in, m->at[OP_STREAM], "\"%.60s\" is not a stream, nor streams joined by '|', nor \"*\"", stream);
    ok = false;
  }
  ok &= read_all_operands(in, m, op);
  ok &= sl_input_attributes(in, m->at[OP_ATTRIBUTES], &op->first_attr, &op->attr_count);
  return read_clauses(in, m->at[OP_WAITS], m->at[OP_UPDATES], m->at[OP_SETS], op) && ok;
}
