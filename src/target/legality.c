/* legality.c: see legality.h. Operations and limits; legality_buffers.c and legality_access.c have memory and shapes.
 *
 * Requires: sl_verify_program accepted the kernel, sl_target_resolve gave every stream its engine.
 * Leaves true: every operation exists on the target and is legal where it stands, as far as it is known before the run;
 * what the kernel declares and names fits the target's limits.
 * Ids: the runtime keeps the highest of the semaphore, event and register ids; `at` may ask for the others.
 */
#include "target/legality.h"

#include <stdarg.h>

#include "ir/ir.h"
#include "target/legality_parts.h"

static void begin(struct sl_legality *l, enum sl_rule rule, sl_loc loc, const char *format, va_list args)
{
  if (loc == SL_NO_LOC && l->at)
    loc = l->kernel->stmts.data[l->at].loc;
  sl_report_vbegin(l->report, SLUICE_ERROR, rule, loc, format, args);
  l->limit_errors += rule == SL_RULE_LIMIT;
  if (l->at)
    sl_report_origin(l->report, sl_stmt_origin(l->program, l->kernel, l->at));
}

void sl_legality_begin(struct sl_legality *l, enum sl_rule rule, sl_loc loc, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  begin(l, rule, loc, format, args);
  va_end(args);
}

void sl_legality_error(struct sl_legality *l, enum sl_rule rule, sl_loc loc, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  begin(l, rule, loc, format, args);
  va_end(args);
  sl_report_end(l->report);
}

static sl_loc stmt_loc(const struct sl_legality *l)
{
  return l->kernel->stmts.data[l->at].loc;
}

/* ---- limits ---- */

static void check_sem_value(struct sl_legality *l, sl_loc loc, uint64_t value, const char *what)
{
  uint64_t largest = sl_target_largest_sem(l->target);
  if (l->target->sem.width > 0 && value > largest)
    sl_legality_error(l, SL_RULE_LIMIT, loc, "%s %llu: semaphores of '%s' count to %llu", what,
                      (unsigned long long)value, l->target->name, (unsigned long long)largest);
}

/* Ids that declarations ask for: in range, and each once. `first`: id -> declaration that has it. */
static void check_id(struct sl_legality *l, sl_map *first, const char *what, uint32_t id, uint32_t usable, sl_loc loc)
{
  if (id >= usable) {
    sl_legality_error(l, SL_RULE_LIMIT, loc, "%s id %u: '%s' has ids 0 to %u for kernels", what, id, l->target->name,
                      usable - 1);
    return;
  }
  bool is_new;
  uint32_t *at = sl_map_put(first, l->heap, id, &is_new);
  if (is_new) {
    *at = loc;
    return;
  }
  sl_legality_begin(l, SL_RULE_LIMIT, loc, "%s id %u is taken", what, id);
  if (*at != SL_NO_LOC)
    sl_report_note(l->report, *at, "by this one");
  sl_report_end(l->report);
}

static void check_semaphores(struct sl_legality *l)
{
  uint32_t usable = sl_target_usable_sems(l->target), count = 0;
  sl_map ids = { 0 };
  for (uint32_t i = 0; i < l->kernel->decls.len; i++) {
    if (l->kernel->decls.data[i].kind != SL_DECL_SEM)
      continue;
    const struct sl_sem *sem = &l->kernel->sems.data[l->kernel->decls.data[i].item];
    sl_loc loc = l->kernel->decls.data[i].loc;
    if (count++ == usable)
      sl_legality_error(l, SL_RULE_LIMIT, loc, "more than the %u semaphores that kernels can use on '%s', from '%s' on",
                        usable, l->target->name, sl_text(l->program, sem->name));
    check_sem_value(l, loc, sem->initial, "initial value");
    if (sem->has_id)
      check_id(l, &ids, "semaphore", sem->id, usable, loc);
  }
  sl_map_free(&ids, l->heap);
}

/* An event joins engines of the target or queues of the kernel. */
static void check_event_side(struct sl_legality *l, sl_name side, sl_loc loc)
{
  const char *text = sl_text(l->program, side);
  uint32_t stream = sl_stream_get(l->kernel, side);
  if ((stream != SL_NO_STREAM && l->kernel->streams.data[stream].is_queue) || sl_target_engine(l->target, text) >= 0)
    return;
  sl_legality_error(l, SL_RULE_EVENT, loc, "'%s' is neither an engine of '%s' nor a queue", text, l->target->name);
}

static void check_events(struct sl_legality *l)
{
  uint32_t usable = l->target->events.unlimited ? UINT32_MAX : l->target->events.count - l->target->events.reserved;
  uint64_t count = 0;
  sl_map ids = { 0 };
  for (uint32_t i = 0; i < l->kernel->decls.len; i++) {
    if (l->kernel->decls.data[i].kind != SL_DECL_EVENT)
      continue;
    const struct sl_event *event = &l->kernel->events.data[l->kernel->decls.data[i].item];
    sl_loc loc = l->kernel->decls.data[i].loc;
    check_event_side(l, event->from, loc);
    check_event_side(l, event->to, loc);
    if (usable == 0) {
      sl_legality_error(l, SL_RULE_EVENT, loc, "target '%s' has no events", l->target->name);
      continue;
    }
    if (count <= usable && count + event->count > usable)
      sl_legality_error(l, SL_RULE_LIMIT, loc, "more than the %u events that kernels can use on '%s'", usable,
                        l->target->name);
    count += event->count;
    if (event->has_id)
      check_id(l, &ids, "event", event->id, usable, loc);
  }
  sl_map_free(&ids, l->heap);
}

static void check_queues(struct sl_legality *l)
{
  uint32_t count = 0, limit = l->target->queue.limit;
  for (uint32_t i = 0; limit && i < l->kernel->streams.len; i++)
    if (l->kernel->streams.data[i].is_queue && count++ == limit)
      sl_legality_error(l, SL_RULE_LIMIT, l->kernel->streams.data[i].loc, "more than the %u queues of '%s'", limit,
                        l->target->name);
}

/* ---- operations ---- */

static void report_opcode(struct sl_legality *l, const char *name)
{
  sl_vec(const char *) names = { 0 };
  for (uint32_t i = 0; i < l->target->opcodes.len; i++)
    sl_vec_add(l->heap, &names, l->target->opcodes.data[i].name);
  for (int i = SL_OP_TARGET + 1; i < SL_OPCODE_COUNT; i++)
    sl_vec_add(l->heap, &names, sl_opcode_table[i].text);
  const char *closest = sl_closest(name, names.data, names.len);
  sl_legality_error(l, SL_RULE_OPCODE, stmt_loc(l), "target '%s' has no operation '%s'%s%s%s", l->target->name, name,
                    closest ? ": did you mean '" : "", closest ? closest : "", closest ? "'?" : "");
  sl_vec_free(l->heap, &names);
}

static bool is_legal_on(const struct sl_opcode_desc *opcode, const struct sl_stream *stream)
{
  if (stream->is_queue ? !opcode->on_queue : !opcode->on_engine)
    return false;
  return opcode->engines_all || (opcode->engines >> stream->engine & 1u);
}

static void report_engine(struct sl_legality *l, const struct sl_opcode_desc *opcode, const struct sl_stream *stream)
{
  sl_buf list;
  sl_buf_init(&list, l->heap);
  for (uint32_t i = 0; i < l->target->engines.len && i < 64; i++)
    if ((opcode->engines_all || (opcode->engines >> i & 1u)) &&
        (opcode->on_engine || l->target->engines.data[i].may_trigger))
      sl_buf_printf(&list, "%s%s", list.len ? ", " : "", l->target->engines.data[i].name);
  const char *where =
      opcode->on_queue ? (opcode->on_engine ? "engines, and queues triggered by" : "queues triggered by") : "engines";
  sl_legality_error(l, SL_RULE_ENGINE, stmt_loc(l), "'%s' cannot do '%s': it is for %s %s",
                    sl_text(l->program, stream->name), opcode->name, where, list.len ? sl_buf_text(&list) : "none");
  sl_heap_free(l->heap, list.data);
}

/* Whether every stream that executes the operation can; reports the first that cannot. */
static bool check_engines(struct sl_legality *l, const struct sl_op *op, const struct sl_opcode_desc *opcode)
{
  for (uint32_t k = 0; k < sl_op_copies(l, op); k++) {
    uint32_t stream = sl_op_copy_stream(l, op, k);
    if (stream != SL_NO_STREAM && !is_legal_on(opcode, &l->kernel->streams.data[stream])) {
      report_engine(l, opcode, &l->kernel->streams.data[stream]);
      return false;
    }
  }
  return true;
}

static void check_count(struct sl_legality *l, const struct sl_opcode_desc *opcode, const char *what, int count,
                        int least, int most)
{
  if (count >= least && (most < 0 || count <= most))
    return;
  sl_buf wanted;
  sl_buf_init(&wanted, l->heap);
  if (most < 0)
    sl_buf_printf(&wanted, "at least %d", least);
  else if (least == most)
    sl_buf_printf(&wanted, "%d", least);
  else
    sl_buf_printf(&wanted, "%d to %d", least, most);
  sl_legality_error(l, SL_RULE_OPERANDS, stmt_loc(l), "'%s' takes %s %s%s, not %d", opcode->name, sl_buf_text(&wanted),
                    what, most == 1 && least == 1 ? "" : "s", count);
  sl_heap_free(l->heap, wanted.data);
}

/* A class of service is part of a transfer's descriptors, so it is known before the run. */
static void check_class(struct sl_legality *l, const struct sl_attr *attr)
{
  uint32_t classes = l->target->queue.classes ? l->target->queue.classes : 1;
  struct sl_constant value =
      attr->kind == SL_ATTR_EXPR ? sl_eval_params(&l->params, attr->expr) : sl_constant_none(SL_CONST_UNKNOWN);
  if (value.state != SL_CONST_KNOWN)
    sl_legality_error(l, SL_RULE_ATTRIBUTE, attr->loc,
                      "the class of service is a number, or computed from static parameters");
  else if (value.value < 0 || value.value >= classes)
    sl_legality_error(l, SL_RULE_LIMIT, attr->loc, "class of service %lld: queues of '%s' have classes 0 to %u",
                      (long long)value.value, l->target->name, classes - 1);
}

static bool is_transfer(const struct sl_legality *l, const struct sl_op *op)
{
  uint32_t stream = sl_op_copies(l, op) ? sl_op_copy_stream(l, op, 0) : SL_NO_STREAM;
  return op->code == SL_OP_TARGET && stream != SL_NO_STREAM && l->kernel->streams.data[stream].is_queue;
}

/* `known`: the names of an opcode's own attributes. Every operation may have `cycles`, every transfer `qos`. */
static void check_attrs(struct sl_legality *l, const struct sl_op *op, const char *const *known, size_t known_count)
{
  for (uint32_t i = 0; i < op->attr_count; i++) {
    const struct sl_attr *attr = &l->kernel->attrs.data[op->first_attr + i];
    const char *name = sl_text(l->program, attr->name);
    bool is_class = strcmp(name, "qos") == 0 && is_transfer(l, op);
    bool found = is_class || strcmp(name, "cycles") == 0;
    if (is_class)
      check_class(l, attr);
    for (size_t j = 0; j < known_count && !found; j++)
      found = strcmp(known[j], name) == 0;
    if (found)
      continue;
    const char *closest = sl_closest(name, known, known_count);
    sl_legality_error(l, SL_RULE_ATTRIBUTE, attr->loc, "'%s' knows no attribute '%s'%s%s%s",
                      sl_text(l->program, op->opcode), name, closest ? ": did you mean '" : "", closest ? closest : "",
                      closest ? "'?" : "");
  }
}

static void check_target_op(struct sl_legality *l, const struct sl_op *op)
{
  const char *name = sl_text(l->program, op->opcode);
  int index = sl_target_opcode(l->target, name);
  if (index < 0) {
    report_opcode(l, name);
    return;
  }
  const struct sl_opcode_desc *opcode = &l->target->opcodes.data[index];
  bool stands_right = check_engines(l, op, opcode);
  check_count(l, opcode, "destination", op->dst_count, opcode->dst_min, opcode->dst_max);
  check_count(l, opcode, "source", op->src_count, opcode->src_min, opcode->src_max);
  check_attrs(l, op, opcode->attrs.data, opcode->attrs.len);
  if (stands_right)
    sl_legality_accesses(l, op, opcode);
}

/* Numbers of register operations fit a register, or a semaphore. */
static void check_numbers(struct sl_legality *l, const struct sl_op *op)
{
  uint64_t largest = sl_largest_value(l->target->registers.width, false);
  for (uint32_t i = 0; i < (uint32_t)op->dst_count + op->src_count; i++) {
    const struct sl_operand *operand = &l->kernel->operands.data[op->first_operand + i];
    if (operand->kind != SL_OPERAND_INT)
      continue;
    if (op->code == SL_OP_SEM_SET)
      check_sem_value(l, operand->loc, (uint64_t)operand->value, "value");
    else if (l->target->registers.width > 0 && (uint64_t)operand->value > largest)
      sl_legality_error(l, SL_RULE_LIMIT, operand->loc, "%lld does not fit a register of '%s': at most %llu",
                        (long long)operand->value, l->target->name, (unsigned long long)largest);
  }
}

static void check_op(struct sl_legality *l)
{
  static const char *const load_attrs[] = { "assume" };
  const struct sl_op *op = sl_stmt_op(l->kernel, l->at);
  switch ((enum sl_op_class)sl_opcode_table[op->code].op_class) {
  case SL_CLASS_DATAPATH: check_target_op(l, op); break;
  case SL_CLASS_LOAD:
    check_attrs(l, op, load_attrs, 1);
    sl_legality_load(l, op);
    break;
  case SL_CLASS_REGISTER:
  case SL_CLASS_SEMAPHORE:
    check_numbers(l, op);
    check_attrs(l, op, NULL, 0);
    break;
  case SL_CLASS_NOP:
  case SL_CLASS_DRAIN: check_attrs(l, op, NULL, 0); break;
  }
  for (uint32_t i = 0; i < op->wait_count; i++) {
    const struct sl_gate *gate = &l->kernel->waits.data[op->first_wait + i];
    if (gate->kind == SL_GATE_SEM && gate->threshold == SL_THRESHOLD_INT)
      check_sem_value(l, gate->loc, (uint64_t)gate->value, "threshold");
  }
  for (uint32_t i = 0; i < op->inc_count; i++)
    check_sem_value(l, l->kernel->incs.data[op->first_inc + i].loc, l->kernel->incs.data[op->first_inc + i].by,
                    "update by");
}

/* ---- registers ---- */

struct register_counts {
  sl_map known;   /* (engine stream, register) */
  uint32_t *used; /* by stream: different registers written there; every register read is written */
  uint32_t usable;
};

static void count_register(struct sl_legality *l, struct register_counts *counts, uint32_t stream, sl_name reg)
{
  bool is_new;
  (void)sl_map_put(&counts->known, l->heap, sl_map_pair(stream, reg), &is_new);
  if (!is_new || counts->used[stream]++ != counts->usable)
    return;
  sl_legality_error(l, SL_RULE_LIMIT, stmt_loc(l), "engine '%s' needs more than its %u registers, from '%%%s' on",
                    sl_text(l->program, l->kernel->streams.data[stream].name), counts->usable,
                    sl_text(l->program, reg));
}

static void check_registers(struct sl_legality *l)
{
  struct register_counts counts = { .usable = sl_target_usable_registers(l->target) };
  const struct sl_kernel *kernel = l->kernel;
  if (counts.usable == UINT32_MAX)
    return;
  counts.used = sl_heap_calloc(l->heap, kernel->streams.len + 1u, sizeof *counts.used);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind != SL_STMT_OP)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, at);
    sl_name written = sl_op_written_register(kernel, op);
    if (!written)
      continue;
    l->at = at;
    for (uint32_t k = 0; k < sl_op_copies(l, op); k++)
      if (sl_op_copy_stream(l, op, k) != SL_NO_STREAM)
        count_register(l, &counts, sl_op_copy_stream(l, op, k), written);
  }
  l->at = SL_NONE;
}

/* ---- entry ---- */

int sl_legality_check(sl_program *program, struct sl_kernel *kernel, const struct sl_target *target, sl_report *report)
{
  sl_heap *scratch = sl_heap_child_new(&program->heap);
  struct sl_legality l = { .heap = scratch, .program = program, .kernel = kernel, .target = target, .report = report };
  uint32_t errors = report->errors;
  sl_param_values_init(&l.params, scratch, kernel, true);
  sl_legality_buffers(&l);
  check_semaphores(&l);
  check_events(&l);
  check_queues(&l);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    l.at = at;
    if (kernel->stmts.data[at].kind == SL_STMT_OP)
      check_op(&l);
  }
  l.at = SL_NONE;
  check_registers(&l);
  sl_heap_child_free(scratch);
  if (report->errors == errors)
    return SLUICE_OK;
  return report->errors - errors == l.limit_errors ? SLUICE_E_ANSWER : SLUICE_E_INPUT;
}
