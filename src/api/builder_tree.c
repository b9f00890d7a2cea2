/* builder_tree.c: what a builder puts into the tree: kernels, declarations, operations, loops, dependence lines. See
 * builder.c.
 */
#include <assert.h>

#include "api/builder_parts.h"

/* ---- kernels and declarations ---- */

struct kernel_call {
  const char *name, *target;
  unsigned flags;
};

static int build_kernel(sluice_builder *b, void *arg)
{
  const struct kernel_call *call = arg;
  if (b->kernel)
    return sl_builder_fail(b, SL_RULE_SYNTAX, "kernel '%s' begins inside of kernel '%s'", call->name,
                           sl_text(b->program, b->kernel->name));
  b->open.len = b->sizes.len = 0;
  b->kernel = sl_kernel_add(b->program);
  b->kernel->is_explicit = call->flags & SLUICE_KERNEL_EXPLICIT;
  b->kernel->name = sl_builder_name(b, "kernel", call->name);
  if (!call->target || !sl_is_target_name(call->target, strlen(call->target)))
    return sl_builder_fail(b, SL_RULE_SYNTAX, "'%s' is not the name of a target", call->target ? call->target : "");
  b->kernel->target = sl_intern(b->program, call->target);
  return b->kernel->name ? SLUICE_OK : SLUICE_E_INPUT;
}

int sluice_build_kernel(sluice_builder *builder, const char *name, const char *target, unsigned flags)
{
  struct kernel_call call = { name, target, flags };
  return sl_builder_run(builder, build_kernel, &call);
}

static void add_decl(sluice_builder *b, enum sl_decl_kind kind, uint32_t item)
{
  struct sl_decl decl = { .kind = (uint8_t)kind, .item = item };
  sl_vec_add(b->kernel->heap, &b->kernel->decls, decl);
}

struct decl_call {
  const char *name, *a, *b;
  uint32_t number;
  sluice_expr value;
  bool is_static;
};

static int build_param(sluice_builder *b, void *arg)
{
  const struct decl_call *call = arg;
  struct sl_param param = { .name = sl_builder_name(b, "parameter", call->name), .is_static = call->is_static };
  if (call->value)
    param.value = sl_builder_expr(b, "parameter", call->value);
  if (!param.name || (call->value && !param.value))
    return SLUICE_E_INPUT;
  sl_vec_add(b->kernel->heap, &b->kernel->params, param);
  return SLUICE_OK;
}

int sluice_build_param(sluice_builder *builder, const char *name, sluice_expr value, bool is_static)
{
  struct decl_call call = { .name = name, .value = value, .is_static = is_static };
  return sl_builder_run_in_kernel(builder, build_param, &call);
}

static int build_queue(sluice_builder *b, void *arg)
{
  const struct decl_call *call = arg;
  sl_name name = sl_builder_name(b, "queue", call->name),
          trigger = call->a ? sl_builder_name(b, "trigger", call->a) : 0;
  if (!name || (call->a && !trigger))
    return SLUICE_E_INPUT;
  uint32_t stream = sl_queue_declare(b->kernel, name, trigger, SL_NO_LOC);
  if (stream == SL_NO_STREAM)
    return sl_builder_fail(b, SL_RULE_REDEFINED, "queue '%s' is declared twice, or after its first use", call->name);
  add_decl(b, SL_DECL_QUEUE, stream);
  return SLUICE_OK;
}

int sluice_build_queue(sluice_builder *builder, const char *name, const char *trigger)
{
  struct decl_call call = { .name = name, .a = trigger };
  return sl_builder_run_in_kernel(builder, build_queue, &call);
}

struct buffer_call {
  const char *name, *space, *type;
  const sluice_expr *dims;
  size_t dim_count;
  int partition_dim;
};

static int build_buffer(sluice_builder *b, void *arg)
{
  const struct buffer_call *call = arg;
  struct sl_kernel *kernel = b->kernel;
  if (call->dim_count == 0)
    return sl_builder_fail(b, SL_RULE_SYNTAX, "buffer '%s' has no dimension", call->name);
  if (!sl_builder_fits(b, "dimensions", call->dim_count))
    return SLUICE_E_INPUT;
  struct sl_buffer buffer = { .name = sl_builder_name(b, "buffer", call->name),
                              .space = sl_builder_name(b, "space", call->space),
                              .type = sl_builder_name(b, "type", call->type),
                              .first_dim = kernel->dims.len,
                              .dim_count = (uint16_t)call->dim_count };
  bool ok = buffer.name && buffer.space && buffer.type;
  for (size_t i = 0; i < call->dim_count; i++) {
    struct sl_dim dim = { sl_builder_expr(b, "dimension", call->dims[i]), (int64_t)i == call->partition_dim };
    ok &= dim.size != SL_NONE;
    sl_vec_add(kernel->heap, &kernel->dims, dim);
  }
  if (!ok)
    return SLUICE_E_INPUT;
  add_decl(b, SL_DECL_BUFFER, kernel->buffers.len);
  sl_vec_add(kernel->heap, &kernel->buffers, buffer);
  return SLUICE_OK;
}

int sluice_build_buffer(sluice_builder *builder, const char *name, const char *space, const char *type,
                        const sluice_expr *dims, size_t dim_count, int partition_dim)
{
  struct buffer_call call = { name, space, type, dims, dim_count, partition_dim };
  return sl_builder_run_in_kernel(builder, build_buffer, &call);
}

/* The newest buffer, or NULL after keeping an error. */
static struct sl_buffer *newest_buffer(sluice_builder *b)
{
  if (b->kernel->buffers.len > 1)
    return &b->kernel->buffers.data[b->kernel->buffers.len - 1];
  sl_builder_fail(b, SL_RULE_SYNTAX, "no buffer is declared yet");
  return NULL;
}

struct place_call {
  int64_t partition_start;
  sluice_expr address;
};

static int build_buffer_at(sluice_builder *b, void *arg)
{
  const struct place_call *call = arg;
  struct sl_buffer *buffer = newest_buffer(b);
  sl_index address = sl_builder_expr(b, "address", call->address);
  if (!buffer || !address)
    return SLUICE_E_INPUT;
  buffer->has_address = true;
  buffer->address = address;
  buffer->has_partition_start = call->partition_start >= 0;
  buffer->partition_start = call->partition_start >= 0 ? call->partition_start : 0;
  return SLUICE_OK;
}

int sluice_build_buffer_at(sluice_builder *builder, int64_t partition_start, sluice_expr address)
{
  struct place_call call = { partition_start, address };
  return sl_builder_run_in_kernel(builder, build_buffer_at, &call);
}

static int build_buffer_attribute(sluice_builder *b, void *arg)
{
  struct sl_kernel *kernel = b->kernel;
  struct sl_buffer *buffer = newest_buffer(b);
  struct sl_attr attr = { 0 };
  if (!buffer || !sl_builder_attribute(b, arg, &attr) || !sl_builder_fits(b, "attributes", buffer->attr_count + 1u))
    return SLUICE_E_INPUT;
  if (buffer->attr_count == 0)
    buffer->first_attr = kernel->attrs.len;
  if (buffer->first_attr + buffer->attr_count != kernel->attrs.len)
    return sl_builder_fail(b, SL_RULE_SYNTAX, "an operation stands between the attributes of buffer '%s'",
                           sl_text(b->program, buffer->name));
  sl_vec_add(kernel->heap, &kernel->attrs, attr);
  buffer->attr_count++;
  return SLUICE_OK;
}

int sluice_build_buffer_attribute(sluice_builder *builder, const sluice_attribute *attribute)
{
  assert(attribute);
  sluice_attribute copy = *attribute;
  return sl_builder_run_in_kernel(builder, build_buffer_attribute, &copy);
}

static int build_alias(sluice_builder *b, void *arg)
{
  const struct decl_call *call = arg;
  struct sl_alias alias = { sl_builder_name(b, "alias", call->a), sl_builder_name(b, "alias", call->b) };
  if (!alias.a || !alias.b)
    return SLUICE_E_INPUT;
  add_decl(b, SL_DECL_ALIAS, b->kernel->aliases.len);
  sl_vec_add(b->kernel->heap, &b->kernel->aliases, alias);
  return SLUICE_OK;
}

int sluice_build_alias(sluice_builder *builder, const char *buffer, const char *other)
{
  struct decl_call call = { .a = buffer, .b = other };
  return sl_builder_run_in_kernel(builder, build_alias, &call);
}

static int build_semaphore(sluice_builder *b, void *arg)
{
  const struct decl_call *call = arg;
  struct sl_sem sem = { .name = sl_builder_name(b, "semaphore", call->name), .initial = call->number };
  if (!sem.name)
    return SLUICE_E_INPUT;
  add_decl(b, SL_DECL_SEM, b->kernel->sems.len);
  sl_vec_add(b->kernel->heap, &b->kernel->sems, sem);
  return SLUICE_OK;
}

int sluice_build_semaphore(sluice_builder *builder, const char *name, uint32_t initial)
{
  struct decl_call call = { .name = name, .number = initial };
  return sl_builder_run_in_kernel(builder, build_semaphore, &call);
}

static int build_event(sluice_builder *b, void *arg)
{
  const struct decl_call *call = arg;
  struct sl_event event = { .name = sl_builder_name(b, "event", call->name),
                            .from = sl_builder_name(b, "stream", call->a),
                            .to = sl_builder_name(b, "stream", call->b),
                            .is_array = call->number > 0,
                            .count = call->number ? call->number : 1 };
  if (!event.name || !event.from || !event.to)
    return SLUICE_E_INPUT;
  add_decl(b, SL_DECL_EVENT, b->kernel->events.len);
  sl_vec_add(b->kernel->heap, &b->kernel->events, event);
  return SLUICE_OK;
}

int sluice_build_event(sluice_builder *builder, const char *name, uint32_t count, const char *from, const char *to)
{
  struct decl_call call = { .name = name, .a = from, .b = to, .number = count };
  return sl_builder_run_in_kernel(builder, build_event, &call);
}

/* ---- operations ---- */

static sl_index current_block(const sluice_builder *b)
{
  return b->open.len ? b->open.data[b->open.len - 1].block : b->kernel->root;
}

/* An empty line sets the statements off from the declarations, and the dependence lines from both. */
static uint8_t first_of_section(const sluice_builder *b, bool is_first)
{
  bool something_before = b->kernel->decls.len || b->kernel->blocks.data[b->kernel->root].first;
  return is_first && something_before ? SL_BLANK_BEFORE : 0;
}

static sl_index append_stmt(sluice_builder *b, enum sl_stmt_kind kind)
{
  bool is_first = !b->kernel->blocks.data[b->kernel->root].first;
  sl_index stmt = sl_stmt_new(b->kernel, kind, SL_NO_LOC);
  b->kernel->stmts.data[stmt].flags |= first_of_section(b, is_first);
  sl_stmt_append(b->kernel, current_block(b), stmt);
  return stmt;
}

static bool take_index(sluice_builder *b, const sluice_index *from, struct sl_access_index *to)
{
  static const uint8_t kinds[] = { SL_INDEX_AT, SL_INDEX_RANGE, SL_INDEX_LENGTH, SL_INDEX_ALL, SL_INDEX_ANY };
  assert((unsigned)from->kind < sizeof kinds);
  to->kind = kinds[from->kind];
  if (from->kind >= SLUICE_INDEX_ALL)
    return true;
  to->first = sl_builder_expr(b, "index", from->first);
  if (from->kind != SLUICE_INDEX_AT)
    to->second = sl_builder_expr(b, "index", from->second);
  return to->first && (to->second || from->kind == SLUICE_INDEX_AT);
}

static bool take_operand(sluice_builder *b, const sluice_operand *from)
{
  struct sl_kernel *kernel = b->kernel;
  struct sl_operand to = { .kind = SL_OPERAND_NAME, .value = from->value };
  bool ok = sl_builder_fits(b, "indices", from->index_count);
  if (from->kind == SLUICE_OPERAND_INT) {
    to.kind = SL_OPERAND_INT;
    if (from->value < 0) {
      sl_builder_fail(b, SL_RULE_LITERAL, "an operand cannot be the negative number %lld", (long long)from->value);
      ok = false;
    }
  } else {
    if (from->kind == SLUICE_OPERAND_REGISTER)
      to.kind = SL_OPERAND_REG;
    sl_name name = sl_builder_name(b, "operand", from->name);
    to.value = name;
    ok &= name != 0;
  }
  if (from->kind == SLUICE_OPERAND_MEMORY && ok) {
    to.read_write = from->read_write;
    to.indexed = from->index_count > 0;
    to.index_count = (uint16_t)from->index_count;
    to.first_index = kernel->indices.len;
    for (size_t i = 0; i < from->index_count; i++) {
      struct sl_access_index index = { 0 };
      ok &= take_index(b, &from->indices[i], &index);
      sl_vec_add(kernel->heap, &kernel->indices, index);
    }
  }
  sl_vec_add(kernel->heap, &kernel->operands, to);
  return ok;
}

static bool take_wait(sluice_builder *b, const sluice_wait *from, struct sl_gate *to)
{
  if (!from->semaphore == !from->event) {
    sl_builder_fail(b, SL_RULE_SYNTAX, "a wait is on a semaphore or on an event");
    return false;
  }
  to->name = sl_builder_name(b, "wait", from->event ? from->event : from->semaphore);
  if (from->event) {
    to->kind = SL_GATE_EVENT;
    if (from->event_index)
      to->event_index = sl_builder_expr(b, "wait", from->event_index);
    return to->name && (to->event_index || !from->event_index);
  }
  to->kind = SL_GATE_SEM;
  to->equal = from->equal;
  to->threshold = from->reg ? SL_THRESHOLD_REG : from->name ? SL_THRESHOLD_NAME : SL_THRESHOLD_INT;
  to->value = from->value;
  if (to->threshold != SL_THRESHOLD_INT)
    to->value = sl_builder_name(b, "wait", from->reg ? from->reg : from->name);
  return to->name && (to->value || to->threshold == SL_THRESHOLD_INT);
}

static bool take_update(sluice_builder *b, const sluice_update *from, struct sl_inc *to)
{
  if (from->by == 0) {
    sl_builder_fail(b, SL_RULE_SYNTAX, "an update is by 1 or more");
    return false;
  }
  to->by = from->by;
  return (to->sem = sl_builder_name(b, "update", from->semaphore)) != 0;
}

static bool take_set(sluice_builder *b, const sluice_event_set *from, struct sl_event_set *to)
{
  to->event = sl_builder_name(b, "set", from->event);
  if (from->index)
    to->index = sl_builder_expr(b, "set", from->index);
  return to->event && (to->index || !from->index);
}

/* Each element is taken before it is added, because taking may add to other arrays only. */
static bool take_clauses(sluice_builder *b, const sluice_op *from, struct sl_op *to)
{
  struct sl_kernel *kernel = b->kernel;
  bool ok = true;
  to->first_attr = kernel->attrs.len;
  to->attr_count = (uint16_t)from->attribute_count;
  for (size_t i = 0; i < from->attribute_count; i++)
    ok &= sl_builder_attribute(b, &from->attributes[i], sl_vec_push(kernel->heap, &kernel->attrs));
  to->first_wait = kernel->waits.len;
  to->wait_count = (uint16_t)from->wait_count;
  for (size_t i = 0; i < from->wait_count; i++)
    ok &= take_wait(b, &from->waits[i], sl_vec_push(kernel->heap, &kernel->waits));
  to->first_inc = kernel->incs.len;
  to->inc_count = (uint16_t)from->update_count;
  for (size_t i = 0; i < from->update_count; i++)
    ok &= take_update(b, &from->updates[i], sl_vec_push(kernel->heap, &kernel->incs));
  to->first_set = kernel->sets.len;
  to->set_count = (uint16_t)from->set_count;
  for (size_t i = 0; i < from->set_count; i++)
    ok &= take_set(b, &from->sets[i], sl_vec_push(kernel->heap, &kernel->sets));
  return ok;
}

/* Destinations and sources. Register operations and the like take theirs behind commas, all counted as destinations. */
static bool take_operands(sluice_builder *b, const sluice_op *from, struct sl_op *to)
{
  uint8_t op_class = sl_opcode_table[to->code].op_class;
  bool has_arrow = from->source_count > 0 && (op_class == SL_CLASS_DATAPATH || op_class == SL_CLASS_LOAD);
  bool ok = true;
  to->first_operand = b->kernel->operands.len;
  to->has_arrow = has_arrow;
  to->dst_count = (uint16_t)(from->destination_count + (has_arrow ? 0 : from->source_count));
  to->src_count = (uint16_t)(has_arrow ? from->source_count : 0);
  for (size_t i = 0; i < from->destination_count; i++)
    ok &= take_operand(b, &from->destinations[i]);
  for (size_t i = 0; i < from->source_count; i++)
    ok &= take_operand(b, &from->sources[i]);
  return ok;
}

static bool counts_fit(sluice_builder *b, const sluice_op *op)
{
  bool ok = sl_builder_fits(b, "operands", op->destination_count) && sl_builder_fits(b, "operands", op->source_count);
  return ok && sl_builder_fits(b, "operands", op->destination_count + op->source_count) &&
         sl_builder_fits(b, "attributes", op->attribute_count) && sl_builder_fits(b, "waits", op->wait_count) &&
         sl_builder_fits(b, "updates", op->update_count) && sl_builder_fits(b, "sets", op->set_count);
}

static int build_op(sluice_builder *b, void *arg)
{
  const sluice_op *from = arg;
  struct sl_op op = { 0 };
  if (!from->stream || !sl_op_set_streams(b->program, b->kernel, &op, from->stream, SL_NO_LOC))
    return sl_builder_fail(b, SL_RULE_SYNTAX, "'%s' is not a stream, nor streams joined by '|', nor '*'",
                           from->stream ? from->stream : "");
  op.opcode = sl_builder_name(b, "opcode", from->opcode);
  if (!op.opcode || !counts_fit(b, from))
    return SLUICE_E_INPUT;
  op.code = (uint8_t)sl_opcode_find(from->opcode, strlen(from->opcode));
  if (from->label)
    op.label = sl_builder_label(b, from->label);
  bool ok = take_operands(b, from, &op);
  ok &= take_clauses(b, from, &op);
  struct sl_origin_loc origin = { 0, from->origin_line, from->origin_column };
  if (from->origin_file)
    ok &= (origin.file = sl_builder_string(b, "origin", from->origin_file)) != 0;
  if (!ok || (from->label && !op.label))
    return SLUICE_E_INPUT;
  sl_index stmt = append_stmt(b, SL_STMT_OP);
  b->kernel->stmts.data[stmt].item = b->kernel->ops.len;
  sl_vec_add(b->kernel->heap, &b->kernel->ops, op);
  if (origin.file) {
    b->kernel->stmts.data[stmt].origin = b->kernel->origins.len;
    sl_vec_add(b->kernel->heap, &b->kernel->origins, origin);
  }
  return SLUICE_OK;
}

int sluice_build_op(sluice_builder *builder, const sluice_op *op)
{
  assert(op);
  sluice_op copy = *op;
  return sl_builder_run_in_kernel(builder, build_op, &copy);
}

/* ---- loops and branches ---- */

static int open_block(sluice_builder *b, sl_index stmt, sl_index block)
{
  struct open_block open = { stmt, block };
  if (b->open.len + 1 >= SL_NESTING_BLOCKS) /* the kernel's own block counts */
    return sl_builder_fail(b, SL_RULE_NESTING, "blocks nest deeper than %d", SL_NESTING_BLOCKS);
  sl_vec_add(b->heap, &b->open, open);
  return SLUICE_OK;
}

struct loop_call {
  const char *var;
  bool has_range, short_range;
  sluice_expr lo, hi, step;
  const sluice_condition *condition;
  unsigned flags;
};

/* The step is a positive number: the language has no other. */
static bool take_step(sluice_builder *b, sluice_expr step, struct sl_loop *loop)
{
  if (!step)
    return true;
  loop->step = sl_builder_expr(b, "step", step);
  if (loop->step && b->kernel->exprs.data[loop->step].kind == SL_EXPR_INT)
    return true;
  sl_builder_fail(b, SL_RULE_SYNTAX, "the step of a loop is a number");
  return false;
}

static int build_loop(sluice_builder *b, void *arg)
{
  const struct loop_call *call = arg;
  struct sl_kernel *kernel = b->kernel;
  struct sl_loop loop = { .var = sl_builder_name(b, "loop", call->var),
                          .has_range = call->has_range,
                          .short_range = call->short_range,
                          .divergent = call->flags & SLUICE_LOOP_DIVERGENT };
  bool ok = loop.var != 0;
  if (call->has_range) {
    ok &= (loop.hi = sl_builder_expr(b, "loop", call->hi)) != SL_NONE;
    if (!call->short_range)
      ok &= (loop.lo = sl_builder_expr(b, "loop", call->lo)) != SL_NONE;
    ok &= take_step(b, call->step, &loop);
  } else {
    ok &= sl_builder_condition(b, call->condition, &loop.while_cond);
  }
  /* Also a loop with an error is opened, so that its end finds it. */
  sl_index stmt = append_stmt(b, SL_STMT_LOOP);
  loop.body = sl_block_new(kernel, stmt);
  kernel->stmts.data[stmt].item = kernel->loops.len;
  sl_vec_add(kernel->heap, &kernel->loops, loop);
  int status = open_block(b, stmt, loop.body);
  return ok ? status : SLUICE_E_INPUT;
}

int sluice_build_loop(sluice_builder *builder, const char *var, sluice_expr bound, unsigned flags)
{
  struct loop_call call = { .var = var, .has_range = true, .short_range = true, .hi = bound, .flags = flags };
  return sl_builder_run_in_kernel(builder, build_loop, &call);
}

int sluice_build_loop_range(sluice_builder *builder, const char *var, sluice_expr lo, sluice_expr hi, sluice_expr step,
                            unsigned flags)
{
  struct loop_call call = { .var = var, .has_range = true, .lo = lo, .hi = hi, .step = step, .flags = flags };
  return sl_builder_run_in_kernel(builder, build_loop, &call);
}

int sluice_build_while(sluice_builder *builder, const char *var, const sluice_condition *condition, unsigned flags)
{
  struct loop_call call = { .var = var, .condition = condition, .flags = flags };
  return sl_builder_run_in_kernel(builder, build_loop, &call);
}

/* The innermost open statement when it is of the kind, else NULL. */
static struct sl_stmt *innermost(const sluice_builder *b, enum sl_stmt_kind kind)
{
  if (!b->open.len)
    return NULL;
  struct sl_stmt *stmt = &b->kernel->stmts.data[b->open.data[b->open.len - 1].stmt];
  return stmt->kind == kind ? stmt : NULL;
}

static int build_unroll(sluice_builder *b, void *arg)
{
  const uint32_t *copies = arg;
  const struct sl_stmt *stmt = innermost(b, SL_STMT_LOOP);
  if (!stmt || *copies == 0)
    return sl_builder_fail(b, SL_RULE_SYNTAX, stmt ? "unrolling makes 1 copy or more" : "unrolling needs an open loop");
  b->kernel->loops.data[stmt->item].unroll = *copies;
  return SLUICE_OK;
}

int sluice_build_unroll(sluice_builder *builder, uint32_t copies)
{
  return sl_builder_run_in_kernel(builder, build_unroll, &copies);
}

static int build_if(sluice_builder *b, void *arg)
{
  const sluice_condition *const *condition = arg;
  struct sl_kernel *kernel = b->kernel;
  struct sl_branch branch = { 0 };
  bool ok = sl_builder_condition(b, *condition, &branch.cond);
  sl_index stmt = append_stmt(b, SL_STMT_IF);
  branch.then_block = sl_block_new(kernel, stmt);
  kernel->stmts.data[stmt].item = kernel->branches.len;
  sl_vec_add(kernel->heap, &kernel->branches, branch);
  int status = open_block(b, stmt, branch.then_block);
  return ok ? status : SLUICE_E_INPUT;
}

int sluice_build_if(sluice_builder *builder, const sluice_condition *condition)
{
  return sl_builder_run_in_kernel(builder, build_if, &condition);
}

static int build_else(sluice_builder *b, void *arg)
{
  (void)arg;
  const struct sl_stmt *stmt = innermost(b, SL_STMT_IF);
  if (!stmt || b->kernel->branches.data[stmt->item].else_block)
    return sl_builder_fail(b, SL_RULE_SYNTAX, "else without an open branch");
  struct open_block *open = &b->open.data[b->open.len - 1];
  sl_index item = stmt->item, block = sl_block_new(b->kernel, open->stmt);
  b->kernel->branches.data[item].else_block = open->block = block;
  return SLUICE_OK;
}

int sluice_build_else(sluice_builder *builder)
{
  return sl_builder_run_in_kernel(builder, build_else, NULL);
}

static int build_end(sluice_builder *b, void *arg)
{
  (void)arg;
  if (b->open.len)
    b->open.len--;
  else
    b->kernel = NULL;
  return SLUICE_OK;
}

int sluice_build_end(sluice_builder *builder)
{
  return sl_builder_run_in_kernel(builder, build_end, NULL);
}

static int build_simple(sluice_builder *b, void *arg)
{
  const enum sl_stmt_kind *kind = arg;
  append_stmt(b, *kind);
  return SLUICE_OK;
}

int sluice_build_barrier(sluice_builder *builder, bool reset)
{
  enum sl_stmt_kind kind = reset ? SL_STMT_BARRIER_RESET : SL_STMT_BARRIER;
  return sl_builder_run_in_kernel(builder, build_simple, &kind);
}

int sluice_build_epilogue(sluice_builder *builder)
{
  enum sl_stmt_kind kind = SL_STMT_EPILOGUE;
  return sl_builder_run_in_kernel(builder, build_simple, &kind);
}

/* ---- dependence lines ---- */

struct dep_call {
  const char *producer, *consumer;
  const sluice_distance *distances;
  size_t count;
  const char *reason; /* of a nodep line */
};

static int build_dep(sluice_builder *b, void *arg)
{
  const struct dep_call *call = arg;
  struct sl_kernel *kernel = b->kernel;
  if (!sl_builder_fits(b, "distances", call->count))
    return SLUICE_E_INPUT;
  struct sl_dep dep = { .producer = sl_builder_label(b, call->producer),
                        .consumer = sl_builder_label(b, call->consumer),
                        .removed = call->reason != NULL,
                        .flags = first_of_section(b, kernel->deps.len == 0),
                        .distance_count = (uint16_t)call->count,
                        .first_distance = kernel->distances.len };
  bool ok = dep.producer && dep.consumer;
  for (size_t i = 0; i < call->count; i++) {
    const sluice_distance *given = &call->distances[i];
    struct sl_distance distance = { sl_builder_name(b, "dependence", given->loop), given->k, given->across };
    ok &= distance.loop != 0;
    sl_vec_add(kernel->heap, &kernel->distances, distance);
  }
  if (call->reason)
    ok &= (dep.reason = sl_builder_string(b, "reason", call->reason)) != 0;
  if (ok)
    sl_vec_add(kernel->heap, &kernel->deps, dep);
  return ok ? SLUICE_OK : SLUICE_E_INPUT;
}

int sluice_build_dep(sluice_builder *builder, const char *producer, const char *consumer,
                     const sluice_distance *distances, size_t count)
{
  struct dep_call call = { producer, consumer, distances, count, NULL };
  return sl_builder_run_in_kernel(builder, build_dep, &call);
}

int sluice_build_nodep(sluice_builder *builder, const char *producer, const char *consumer,
                       const sluice_distance *distances, size_t count, const char *reason)
{
  assert(reason);
  struct dep_call call = { producer, consumer, distances, count, reason };
  return sl_builder_run_in_kernel(builder, build_dep, &call);
}
