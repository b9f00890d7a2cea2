/* operation.c: see operation.h.
 *
 * Addresses. An engine computes an address that changes from iteration to iteration with one register operation; addresses that
 * differ by a constant only share it. So an access is known by how its byte offset changes between made-up values of the
 * variables. Rotations (`i % 2`) are taken to be free: a copy is chosen by unrolling or toggling, not by arithmetic.
 */
#include "sim/operation.h"

#include <assert.h>

#include "ir/ir.h"
#include "ir/types.h"
#include "target/scan.h"

enum { PROBES = 4, WINDOW = 8 /* instructions back that a result may still be awaited from */ };

/* ---- time ---- */

static uint64_t ticks_of(double ticks)
{
  double limit = (double)SL_TICKS_MAX;
  return ticks >= limit ? SL_TICKS_MAX : (uint64_t)(ticks + 0.5);
}

uint64_t sl_ticks_of_ns(const struct sl_target *target, double ns)
{
  return ticks_of(ns * target->tick_ghz.value);
}

uint64_t sl_ticks_of_param(const struct sl_target *target, const char *name, double otherwise_ns)
{
  return sl_ticks_of_ns(target, sl_target_param(target, name, otherwise_ns));
}

static uint64_t ticks_of_cycles(const struct sl_target *target, uint32_t engine, double cycles)
{
  return ticks_of(cycles * target->engines.data[engine].ticks_per_cycle.value);
}

/* ---- values ---- */

/* Parameters have their values, everything else a made-up one: small, so that products stay small, and different for
 * different names. */
struct probe {
  const struct sl_operations *operations;
  uint32_t number;
};

static struct sl_constant look_up_probe(void *user, enum sl_expr_kind kind, sl_name name)
{
  const struct probe *probe = user;
  uint32_t param = kind == SL_EXPR_NAME ? probe->operations->param_of[name] : 0;
  if (param)
    return sl_constant_of(probe->operations->params[param - 1]);
  if (probe->number == 0)
    return sl_constant_of(0);
  uint32_t mixed = (name * 2654435761u) ^ (probe->number * 40503u * 65537u);
  mixed ^= mixed >> 15;
  return sl_constant_of(1 + (int64_t)(mixed * 2246822519u >> 24));
}

struct lookup {
  sl_eval_lookup function;
  void *user;
  bool failed;
};

static int64_t value_of(const struct sl_operations *o, struct lookup *lookup, sl_index expr)
{
  struct sl_constant value = sl_eval(o->kernel, expr, lookup->function, lookup->user);
  if (value.state != SL_CONST_KNOWN)
    lookup->failed = true;
  return value.state == SL_CONST_KNOWN ? value.value : 0;
}

/* ---- accesses ---- */

uint32_t sl_operation_buffer(const struct sl_operations *o, const struct sl_operand *operand)
{
  return operand->kind == SL_OPERAND_NAME ? o->buffer_of[operand->value] : 0;
}

static const struct sl_buffer *buffer_of(const struct sl_operations *o, const struct sl_operand *operand)
{
  uint32_t index = sl_operation_buffer(o, operand);
  return index ? &o->kernel->buffers.data[index] : NULL;
}

static const struct sl_access_index *index_of(const struct sl_operations *o, const struct sl_operand *operand, uint32_t dim)
{
  static const struct sl_access_index all = { .kind = SL_INDEX_ALL };
  return dim < operand->index_count ? &o->kernel->indices.data[operand->first_index + dim] : &all;
}

/* Elements that an index takes of a dimension; `?` is one row at a time, as indirect transfers work. */
static int64_t extent_of(const struct sl_operations *o, struct lookup *lookup, const struct sl_access_index *index, int64_t size)
{
  int64_t length = 1, first;
  switch ((enum sl_access_kind)index->kind) {
  case SL_INDEX_ALL: length = size; break;
  case SL_INDEX_AT:
  case SL_INDEX_ANY: break;
  case SL_INDEX_LENGTH: length = value_of(o, lookup, index->second); break;
  case SL_INDEX_RANGE:
    first = value_of(o, lookup, index->first);
    if (__builtin_sub_overflow(value_of(o, lookup, index->second), first, &length))
      lookup->failed = true;
    break;
  }
  return length > 0 ? length : 0;
}

static bool is_indirect(const struct sl_operations *o, const struct sl_operand *operand)
{
  for (uint32_t i = 0; i < operand->index_count; i++)
    if (o->kernel->indices.data[operand->first_index + i].kind == SL_INDEX_ANY)
      return true;
  return false;
}

/* An indirect transfer's last source holds the row numbers: descriptor generation reads it, no data of it is moved. */
static uint32_t moved_operands(const struct sl_operations *o, const struct sl_op *op)
{
  uint32_t count = (uint32_t)op->dst_count + op->src_count;
  for (uint32_t i = 0; i < count && op->src_count > 1; i++)
    if (is_indirect(o, &o->kernel->operands.data[op->first_operand + i]))
      return count - 1;
  return count;
}

/* Doubles: sizes are only measured, and a product may be larger than 64 bits. */
static void shape_of(const struct sl_operations *o, struct lookup *lookup, const struct sl_operand *operand,
                     const struct sl_buffer *buffer, struct sl_cost_operand *shape)
{
  double bytes = shape->type_bytes, run = bytes, step = bytes;
  bool whole = true, has_inner = false;
  shape->partitions = shape->elements = 1;
  for (uint32_t i = buffer->dim_count; i > 0; i--) {
    int64_t size = o->dims[buffer->first_dim + i - 1];
    const struct sl_access_index *index = index_of(o, operand, i - 1);
    double length = (double)extent_of(o, lookup, index, size);
    if (o->kernel->dims.data[buffer->first_dim + i - 1].partition) {
      shape->partitions = length;
      continue;
    }
    if (length > 1 && !has_inner) {
      shape->stride = step;
      has_inner = true;
    }
    shape->elements *= length;
    if (whole)
      run *= length;
    whole = whole && length == (double)size;
    step *= (double)size;
  }
  shape->chunk = run;
}

/* ---- costs ---- */

/* Attributes as formulas see them: a word, a number, or just there. At most MOST are looked at. */
enum { ATTRS_MOST = 32 };

static size_t read_attrs(const struct sl_operations *o, struct lookup *lookup, const struct sl_op *op,
                         struct sl_cost_attr attrs[ATTRS_MOST])
{
  size_t count = op->attr_count < ATTRS_MOST ? op->attr_count : ATTRS_MOST;
  for (size_t i = 0; i < count; i++) {
    const struct sl_attr *attr = &o->kernel->attrs.data[op->first_attr + i];
    attrs[i] = (struct sl_cost_attr){ .name = sl_text(o->program, attr->name) };
    const struct sl_expr *expr = attr->kind == SL_ATTR_EXPR ? &o->kernel->exprs.data[attr->expr] : NULL;
    bool is_word = expr && expr->kind == SL_EXPR_NAME && !o->param_of[expr->u.value] && strcmp(attrs[i].name, "cycles") != 0;
    if (is_word)
      attrs[i].word = sl_text(o->program, (sl_name)expr->u.value);
    else if (expr)
      attrs[i].value = (double)value_of(o, lookup, attr->expr);
    else if (attr->kind == SL_ATTR_STRING)
      attrs[i].word = sl_text(o->program, attr->text);
    else if (attr->kind == SL_ATTR_FLOAT)
      (void)sl_scan_double(&attrs[i].value, sl_text(o->program, attr->text), strlen(sl_text(o->program, attr->text)));
  }
  return count;
}

/* What a transfer asks for; 0 without a word. */
static uint64_t service_class(const struct sl_cost_attr *attrs, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (strcmp(attrs[i].name, "qos") == 0 && attrs[i].value > 0)
      return (uint64_t)attrs[i].value;
  return 0;
}

static double define_value(const struct sl_operations *o, int define, const struct sl_cost_env *env)
{
  return define < 0 ? 0 : sl_cost_eval(o->target->defines.data[define].cost, o->target, env);
}

/* Cuts the latency of a transfer in its parts. When they are not parts of it, it is all in the start. */
static void cut_latency(const struct sl_operations *o, const struct sl_cost_env *env, struct sl_cost_ticks *cost)
{
  cost->trigger = o->trigger;
  cost->generation = sl_ticks_of_ns(o->target, define_value(o, o->generation_define, env));
  cost->generation_busy = sl_ticks_of_ns(o->target, define_value(o, o->busy_define, env));
  cost->done = o->done;
  double share = o->share_define < 0 ? 1 : define_value(o, o->share_define, env);
  cost->share = share >= 1 ? SL_WHOLE_SHARE : 1 + (uint64_t)(share * (SL_WHOLE_SHARE - 1));
  if (cost->latency < cost->trigger + cost->generation + cost->done)
    cost->generation = cost->generation_busy = cost->done = 0;
  uint64_t parts = cost->trigger + cost->generation + cost->done;
  cost->start = cost->latency > parts ? cost->latency - parts : 0;
}

static bool measure(struct sl_cost_ticks *cost, const struct sl_operations *o, sl_index stmt, struct lookup *lookup)
{
  const struct sl_op *op = sl_stmt_op(o->kernel, stmt);
  const struct sl_stream *stream = &o->kernel->streams.data[op->stream];
  const struct sl_opcode_desc *opcode = o->list[stmt].opcode;
  struct sl_cost_attr attrs[ATTRS_MOST];
  struct sl_cost_env env;
  memset(cost, 0, sizeof *cost);
  size_t attr_count = read_attrs(o, lookup, op, attrs);
  sl_cost_env_init(&env, stream->engine, attrs, attr_count);
  for (uint32_t i = 0; i < moved_operands(o, op); i++) {
    const struct sl_operand *operand = &o->kernel->operands.data[op->first_operand + i];
    const struct sl_buffer *buffer = buffer_of(o, operand);
    if (!buffer)
      continue;
    const char *type = sl_text(o->program, buffer->type);
    const struct sl_element_type *element = sl_element_type_find(type);
    int space = sl_target_space(o->target, sl_text(o->program, buffer->space));
    if (!element || space < 0)
      continue;
    struct sl_cost_operand shape = { .space = (uint32_t)space, .type = type, .type_bytes = element->bytes };
    shape_of(o, lookup, operand, buffer, &shape);
    sl_cost_env_add(&env, &shape, i < op->dst_count);
  }
  cost->interval = ticks_of_cycles(o->target, stream->engine, sl_cost_interval(o->target, opcode, &env));
  cost->latency = ticks_of_cycles(o->target, stream->engine, sl_cost_latency(o->target, opcode, &env));
  cost->forward = o->forward_define < 0 ? cost->latency : sl_ticks_of_ns(o->target, define_value(o, o->forward_define, &env));
  if (stream->is_queue) {
    cut_latency(o, &env, cost);
    cost->service_class = service_class(attrs, attr_count);
  }
  return !lookup->failed;
}

bool sl_operation_measure(struct sl_cost_ticks *cost, const struct sl_operations *operations, sl_index stmt,
                          sl_eval_lookup function, void *user)
{
  struct lookup lookup = { function, user, false };
  return measure(cost, operations, stmt, &lookup);
}

static void measure_first(struct sl_operations *o, sl_index stmt)
{
  struct sl_operation *operation = &o->list[stmt];
  const struct sl_op *op = sl_stmt_op(o->kernel, stmt);
  int at = op->code == SL_OP_TARGET ? sl_target_opcode(o->target, sl_text(o->program, op->opcode)) : -1;
  operation->is_constant = true;
  if (at < 0)
    return;
  operation->opcode = &o->target->opcodes.data[at];
  for (uint32_t i = 0; i < PROBES; i++) {
    struct probe probe = { o, i };
    struct sl_cost_ticks cost;
    bool ok = sl_operation_measure(&cost, o, stmt, look_up_probe, &probe);
    if (i == 0)
      operation->cost = cost;
    operation->is_constant &= ok && memcmp(&cost, &operation->cost, sizeof cost) == 0;
  }
}

/* ---- slots ---- */

static uint32_t divide_up(uint32_t a, uint32_t b)
{
  return b ? (a + b - 1) / b : 0;
}

/* As docs/targets.md counts them. */
static uint32_t carriers_of(const struct sl_operations *o, const struct sl_op *op)
{
  const struct sl_target *target = o->target;
  bool steps_by_one = op->inc_count == 0 || o->kernel->incs.data[op->first_inc].by == 1;
  bool update_has_value = target->slot.shared_value && op->wait_count && op->inc_count && !steps_by_one;
  uint32_t own_waits = update_has_value ? 0 : target->slot.waits, own_updates = target->slot.updates;
  uint32_t waits = op->wait_count > own_waits ? op->wait_count - own_waits : 0;
  uint32_t updates = op->inc_count > own_updates ? op->inc_count - own_updates : 0;
  return divide_up(waits, target->slot.carrier_waits) + divide_up(updates, target->slot.carrier_updates);
}

/* ---- places ---- */

/* An index that only chooses a copy. */
static bool is_rotation(const struct sl_operations *o, const struct sl_access_index *index)
{
  return index->kind == SL_INDEX_AT && o->kernel->exprs.data[index->first].kind == SL_EXPR_MOD;
}

/* Byte offset of an access, without rotations when `address` is asked for; false when it has none. */
static bool offset_of(const struct sl_operations *o, struct lookup *lookup, const struct sl_operand *operand,
                      const struct sl_buffer *buffer, bool address, double *offset)
{
  const struct sl_element_type *element = sl_element_type_find(sl_text(o->program, buffer->type));
  double step = element ? element->bytes : 1;
  *offset = 0;
  for (uint32_t i = buffer->dim_count; i > 0; i--) {
    const struct sl_access_index *index = index_of(o, operand, i - 1);
    bool counts = !(address && is_rotation(o, index)) && index->first;
    if (counts && (index->kind == SL_INDEX_AT || index->kind == SL_INDEX_RANGE || index->kind == SL_INDEX_LENGTH))
      *offset += step * (double)value_of(o, lookup, index->first);
    if (!o->kernel->dims.data[buffer->first_dim + i - 1].partition)
      step *= (double)o->dims[buffer->first_dim + i - 1];
  }
  return !lookup->failed;
}

/* Bytes within a partition from the first to behind the last element. */
static double span_of(const struct sl_operations *o, struct lookup *lookup, const struct sl_operand *operand,
                      const struct sl_buffer *buffer)
{
  const struct sl_element_type *element = sl_element_type_find(sl_text(o->program, buffer->type));
  double step = element ? element->bytes : 1, span = step;
  for (uint32_t i = buffer->dim_count; i > 0; i--) {
    int64_t size = o->dims[buffer->first_dim + i - 1];
    if (o->kernel->dims.data[buffer->first_dim + i - 1].partition)
      continue;
    span += step * ((double)extent_of(o, lookup, index_of(o, operand, i - 1), size) - 1);
    step *= (double)size;
  }
  return span;
}

uint64_t sl_operation_banks(const struct sl_operations *o, sl_index stmt, uint32_t space, sl_eval_lookup function, void *user)
{
  const struct sl_op *op = sl_stmt_op(o->kernel, stmt);
  uint64_t bank = o->target->spaces.data[space].bank_bytes, banks = 0;
  if (bank == 0)
    return UINT64_MAX;
  for (uint32_t i = 0; i < (uint32_t)op->dst_count + op->src_count; i++) {
    const struct sl_operand *operand = &o->kernel->operands.data[op->first_operand + i];
    const struct sl_buffer *buffer = buffer_of(o, operand);
    if (!buffer || sl_target_space(o->target, sl_text(o->program, buffer->space)) != (int)space)
      continue;
    struct lookup lookup = { function, user, false };
    double offset;
    if (!offset_of(o, &lookup, operand, buffer, false, &offset))
      return UINT64_MAX;
    double first = (double)o->bank_of[o->buffer_of[operand->value]] + offset;
    double last = first + span_of(o, &lookup, operand, buffer) - 1;
    uint64_t from = (uint64_t)(first / (double)bank), to = (uint64_t)(last / (double)bank);
    if (lookup.failed || first < 0 || to - from >= 63)
      return UINT64_MAX;
    for (uint64_t b = from; b <= to; b++)
      banks |= (uint64_t)1 << (b & 63);
  }
  return banks;
}

static bool touches(const struct sl_operations *o, const struct sl_op *op, uint32_t space)
{
  for (uint32_t i = 0; i < (uint32_t)op->dst_count + op->src_count; i++) {
    const struct sl_buffer *buffer = buffer_of(o, &o->kernel->operands.data[op->first_operand + i]);
    if (buffer && sl_target_space(o->target, sl_text(o->program, buffer->space)) == (int)space)
      return true;
  }
  return false;
}

static void find_exclusions(struct sl_operations *o, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(o->kernel, stmt);
  const struct sl_stream *stream = &o->kernel->streams.data[op->stream];
  struct sl_operation *operation = &o->list[stmt];
  operation->first_exclusion = o->exclusions.len;
  for (uint32_t i = 0; i < o->target->exclusions.len && !stream->is_queue && operation->opcode; i++) {
    const struct sl_exclusion *exclusion = &o->target->exclusions.data[i];
    if ((stream->engine == exclusion->a || stream->engine == exclusion->b) && touches(o, op, exclusion->space))
      sl_vec_add(o->heap, &o->exclusions, i);
  }
  operation->exclusion_count = o->exclusions.len - operation->first_exclusion;
}

/* ---- results of the instruction before ---- */

/* Whether a source of `consumer` may lie in a destination of `producer`, both in one iteration. */
static bool reads_result(const struct sl_operations *o, sl_index producer, sl_index consumer)
{
  const struct sl_op *p = sl_stmt_op(o->kernel, producer), *c = sl_stmt_op(o->kernel, consumer);
  for (uint32_t i = 0; i < p->dst_count; i++)
    for (uint32_t k = c->dst_count; k < (uint32_t)c->dst_count + c->src_count; k++) {
      const struct sl_operand *written = &o->kernel->operands.data[p->first_operand + i];
      const struct sl_operand *read = &o->kernel->operands.data[c->first_operand + k];
      const struct sl_buffer *buffer = buffer_of(o, written);
      if (!buffer || buffer != buffer_of(o, read))
        continue;
      for (uint32_t n = 0; n < PROBES; n++) {
        struct probe probe = { o, n };
        struct lookup lookup = { look_up_probe, &probe, false };
        double from, to;
        if (!offset_of(o, &lookup, written, buffer, false, &from) || !offset_of(o, &lookup, read, buffer, false, &to))
          return true;
        if (from < to + span_of(o, &lookup, read, buffer) && to < from + span_of(o, &lookup, written, buffer))
          return true;
      }
    }
  return false;
}

/* Among the last instructions of the same engine in the same block. Results from further back are there by then. */
static void find_results(struct sl_operations *o, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(o->kernel, stmt);
  struct sl_operation *operation = &o->list[stmt];
  operation->first_result = o->results.len;
  if (operation->opcode && !o->kernel->streams.data[op->stream].is_queue) {
    uint32_t seen = 0, steps = 0;
    for (sl_index at = o->kernel->stmts.data[stmt].prev; at && seen < WINDOW && steps < 16 * WINDOW;
         at = o->kernel->stmts.data[at].prev, steps++) {
      if (o->kernel->stmts.data[at].kind != SL_STMT_OP || sl_stmt_op(o->kernel, at)->stream != op->stream ||
          !o->list[at].opcode)
        continue;
      seen++;
      if (reads_result(o, at, stmt))
        sl_vec_add(o->heap, &o->results, at);
    }
  }
  operation->result_count = o->results.len - operation->first_result;
}

/* ---- addresses ---- */

struct address {
  uint32_t engine;
  sl_index loop;      /* statement: computed once in each of its iterations */
  double change[PROBES - 1];
};

struct addresses {
  struct sl_operations *operations;
  sl_map seen; /* hash -> index + 1 into list, of the latest one with that hash */
  sl_vec(struct address) list;
};

/* Whether an expression names a variable or has a register. Depth is limited by the language. */
static bool mentions(const struct sl_kernel *kernel, sl_index expr, sl_name var, bool *has_register)
{
  const struct sl_expr *e = &kernel->exprs.data[expr];
  switch ((enum sl_expr_kind)e->kind) {
  case SL_EXPR_INT: return false;
  case SL_EXPR_REG: *has_register = true; return false;
  case SL_EXPR_NAME: return (sl_name)e->u.value == var;
  case SL_EXPR_NEG: return mentions(kernel, e->u.sub.lhs, var, has_register);
  default: {
    bool left = mentions(kernel, e->u.sub.lhs, var, has_register);
    return mentions(kernel, e->u.sub.rhs, var, has_register) || left;
  }
  }
}

static bool operand_mentions(const struct sl_operations *o, const struct sl_operand *operand, sl_name var, bool *has_register)
{
  bool found = false;
  for (uint32_t i = 0; i < operand->index_count; i++) {
    const struct sl_access_index *index = &o->kernel->indices.data[operand->first_index + i];
    bool has_place = index->kind == SL_INDEX_AT || index->kind == SL_INDEX_RANGE || index->kind == SL_INDEX_LENGTH;
    if (has_place && !is_rotation(o, index))
      found |= mentions(o->kernel, index->first, var, has_register);
  }
  return found;
}

/* The innermost loop around the statement whose variable the address depends on; of one with a register, the innermost. */
static sl_index loop_of_address(const struct sl_operations *o, sl_index stmt, const struct sl_operand *operand)
{
  for (sl_index block = o->kernel->stmts.data[stmt].block; block; block = sl_block_parent(o->kernel, block)) {
    sl_index owner = o->kernel->blocks.data[block].owner;
    if (!owner || o->kernel->stmts.data[owner].kind != SL_STMT_LOOP)
      continue;
    bool has_register = false;
    if (operand_mentions(o, operand, sl_stmt_loop(o->kernel, owner)->var, &has_register) || has_register)
      return owner;
  }
  return SL_NONE;
}

static bool same_address(const struct address *a, const struct address *b)
{
  if (a->engine != b->engine || a->loop != b->loop)
    return false;
  for (uint32_t i = 0; i < PROBES - 1; i++)
    if (a->change[i] < b->change[i] || a->change[i] > b->change[i])
      return false;
  return true;
}

static uint64_t hash_of(const struct address *address)
{
  uint64_t hash = address->engine * 0x9e3779b97f4a7c15u + address->loop;
  for (uint32_t i = 0; i < PROBES - 1; i++) {
    uint64_t bits;
    memcpy(&bits, &address->change[i], sizeof bits);
    hash = (hash ^ bits) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 29;
  }
  return hash;
}

static bool is_new_address(struct addresses *a, const struct address *address)
{
  bool is_new;
  uint32_t *at = sl_map_put(&a->seen, a->operations->heap, hash_of(address), &is_new);
  if (!is_new && same_address(&a->list.data[*at - 1], address))
    return false;
  sl_vec_add(a->operations->heap, &a->list, *address);
  *at = a->list.len;
  return true;
}

/* How the address changes with the variables; false when it does not, or has no address. */
static bool find_change(const struct sl_operations *o, const struct sl_operand *operand, const struct sl_buffer *buffer,
                        struct address *address)
{
  double first = 0;
  bool changes = false;
  for (uint32_t i = 0; i < PROBES; i++) {
    struct probe probe = { o, i };
    struct lookup lookup = { look_up_probe, &probe, false };
    double offset;
    if (!offset_of(o, &lookup, operand, buffer, true, &offset))
      return false;
    if (i == 0)
      first = offset;
    else
      address->change[i - 1] = offset - first;
    changes |= i > 0 && (offset > first || offset < first);
  }
  return changes;
}

/* Computed before the first instruction that needs it; at the start of the iteration when that one stands deeper. */
static void add_addresses(struct addresses *a, sl_index stmt, uint32_t engine, uint32_t engines)
{
  struct sl_operations *o = a->operations;
  const struct sl_op *op = sl_stmt_op(o->kernel, stmt);
  for (uint32_t i = 0; i < (uint32_t)op->dst_count + op->src_count; i++) {
    const struct sl_operand *operand = &o->kernel->operands.data[op->first_operand + i];
    const struct sl_buffer *buffer = buffer_of(o, operand);
    struct address address = { .engine = engine };
    if (!buffer || !operand->index_count || !find_change(o, operand, buffer, &address))
      continue;
    address.loop = loop_of_address(o, stmt, operand);
    if (!address.loop || !is_new_address(a, &address))
      continue;
    if (o->kernel->blocks.data[o->kernel->stmts.data[stmt].block].owner == address.loop)
      o->list[stmt].address_operations++;
    else
      o->head_addresses[(size_t)o->kernel->stmts.data[address.loop].item * engines + engine]++;
  }
}

/* ---- entry ---- */

static int find_define(const struct sl_target *target, const char *name)
{
  for (uint32_t i = 0; i < target->defines.len; i++)
    if (strcmp(target->defines.data[i].name, name) == 0 && target->defines.data[i].cost)
      return (int)i;
  return -1;
}

/* Buffers that have no address get banks of their own, behind all others. */
static void place_buffers(struct sl_operations *o)
{
  const struct sl_kernel *kernel = o->kernel;
  struct probe probe = { o, 0 };
  struct lookup lookup = { look_up_probe, &probe, false };
  for (uint32_t i = 0; i < kernel->dims.len; i++) {
    int64_t size = value_of(o, &lookup, kernel->dims.data[i].size);
    o->dims[i] = size > 0 ? size : 1;
  }
  uint64_t next = (uint64_t)1 << 32;
  for (uint32_t b = 1; b < kernel->buffers.len; b++) {
    const struct sl_buffer *buffer = &kernel->buffers.data[b];
    int space = sl_target_space(o->target, sl_text(o->program, buffer->space));
    uint64_t bank = space < 0 ? 0 : o->target->spaces.data[space].bank_bytes;
    int64_t address = buffer->has_address ? value_of(o, &lookup, buffer->address) : 0;
    o->bank_of[b] = buffer->has_address ? (uint64_t)(address > 0 ? address : 0) : next;
    if (buffer->has_address || bank == 0)
      continue;
    const struct sl_operand whole = { .kind = SL_OPERAND_NAME };
    double banks = span_of(o, &lookup, &whole, buffer) / (double)bank;
    next += bank * (banks < 64 ? (uint64_t)banks + 1 : 64);
  }
}

static void make_tables(struct sl_operations *o)
{
  const struct sl_kernel *kernel = o->kernel;
  uint32_t names = o->program->names.len;
  o->buffer_of = sl_heap_calloc(o->heap, names, sizeof *o->buffer_of);
  o->param_of = sl_heap_calloc(o->heap, names, sizeof *o->param_of);
  o->dims = sl_heap_calloc(o->heap, kernel->dims.len + 1u, sizeof *o->dims);
  o->bank_of = sl_heap_calloc(o->heap, kernel->buffers.len, sizeof *o->bank_of);
  for (uint32_t b = 1; b < kernel->buffers.len; b++)
    o->buffer_of[kernel->buffers.data[b].name] = b;
  for (uint32_t p = 0; p < kernel->params.len; p++)
    o->param_of[kernel->params.data[p].name] = p + 1;
  o->generation_define = find_define(o->target, "dge");
  o->busy_define = find_define(o->target, "dge_busy");
  o->share_define = find_define(o->target, "dma_share");
  o->forward_define = find_define(o->target, "forward");
  o->trigger = sl_ticks_of_param(o->target, "dma_trigger", 0);
  o->done = sl_ticks_of_param(o->target, "dma_done", 0);
  place_buffers(o);
}

void sl_operations_init(struct sl_operations *o, sl_heap *heap, const sl_program *program, const struct sl_kernel *kernel,
                        const struct sl_target *target, const struct sl_presence *presence, const int64_t *params)
{
  uint32_t engines = presence->engines.len;
  memset(o, 0, sizeof *o);
  *o = (struct sl_operations){ .heap = heap, .program = program, .kernel = kernel, .target = target,
                               .presence = presence, .params = params };
  make_tables(o);
  o->list = sl_heap_calloc(heap, kernel->stmts.len, sizeof *o->list);
  o->head_addresses = sl_heap_calloc(heap, (size_t)kernel->loops.len * (engines + 1u), sizeof *o->head_addresses);
  struct addresses addresses = { .operations = o };
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind != SL_STMT_OP)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, at);
    assert(op->stream_count == 1 && "copies are expanded");
    measure_first(o, at);
    o->list[at].carriers = carriers_of(o, op);
    find_exclusions(o, at);
    find_results(o, at);
    if (o->list[at].opcode)
      add_addresses(&addresses, at, presence->engine_of[op->stream], engines);
  }
}
