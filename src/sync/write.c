/* write.c: a finished plan goes into the tree. See sl_plan_write in plan.h.
 *
 * Register instructions are inserted where their anchors say, engine by engine; the waits of an instruction become one slice, but
 * those with register operations behind them, which stand on a wait-only slot before it; producers whose semaphore some wait still
 * names get an increment, and those semaphores are declared.
 */
#include "sync/cleanup.h"
#include "sync/plan.h"

#include <assert.h>

struct writer {
  struct sl_plan *plan;
  sl_map taken;     /* names of the kernel's namespace */
  sl_map registers; /* the author's registers */
  sl_map numbers;   /* wished name -> number to try next */
  sl_name opcode_names[SL_OPCODE_COUNT];
};

static void take(struct writer *w, sl_name name)
{
  *sl_map_put(&w->taken, w->plan->heap, name, NULL) = 1;
}

static void take_register(struct writer *w, sl_name name)
{
  *sl_map_put(&w->registers, w->plan->heap, name, NULL) = 1;
}

static void take_declared_names(struct writer *w)
{
  const struct sl_kernel *kernel = w->plan->kernel;
  for (uint32_t i = 0; i < kernel->params.len; i++)
    take(w, kernel->params.data[i].name);
  for (uint32_t i = 1; i < kernel->buffers.len; i++)
    take(w, kernel->buffers.data[i].name);
  for (uint32_t i = 1; i < kernel->sems.len; i++)
    take(w, kernel->sems.data[i].name);
  for (uint32_t i = 1; i < kernel->events.len; i++)
    take(w, kernel->events.data[i].name);
  for (uint32_t i = 1; i < kernel->loops.len; i++)
    take(w, kernel->loops.data[i].var);
}

/* The author's registers: each is written by some operation, which the verifier checked. */
static void take_registers(struct writer *w)
{
  const struct sl_kernel *kernel = w->plan->kernel;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind != SL_STMT_OP)
      continue;
    sl_name written = sl_op_written_register(kernel, sl_stmt_op(kernel, at));
    if (written)
      take_register(w, written);
  }
}

/* `wished`, or `wished_2`, `wished_3`, ... : the first that neither set has. `numbers` remembers where to go on, since sibling
 * loops of one name wish the same again and again. */
static sl_name unique_name(struct writer *w, sl_map *numbers, const sl_map *taken, const sl_map *also_taken, sl_name wished)
{
  sl_program *program = w->plan->program;
  uint32_t *number = sl_map_put(numbers, w->plan->heap, wished, NULL);
  sl_name name = *number ? sl_internf(program, "%s_%u", sl_text(program, wished), *number) : wished;
  *number = *number ? *number : 1;
  for (;;) {
    ++*number;
    if (!sl_map_get(taken, name) && !(also_taken && sl_map_get(also_taken, name)))
      return name;
    name = sl_internf(program, "%s_%u", sl_text(program, wished), *number);
  }
}

static sl_name free_name(struct writer *w, sl_name wished)
{
  sl_name name = unique_name(w, &w->numbers, &w->taken, NULL, wished);
  take(w, name);
  return name;
}

static sl_index new_op(struct writer *w, enum sl_opcode code, uint32_t stream)
{
  struct sl_kernel *kernel = w->plan->kernel;
  sl_index stmt = sl_op_stmt_new(kernel, SL_NO_LOC);
  kernel->stmts.data[stmt].flags = SL_GENERATED;
  struct sl_op *op = sl_stmt_op(kernel, stmt);
  op->opcode = w->opcode_names[code];
  op->code = (uint8_t)code;
  op->stream_count = 1;
  op->stream = stream;
  return stmt;
}

/* ---- waits ---- */

static bool is_needed_wait(const struct sl_plan *plan, const struct sl_code *item)
{
  /* A threshold the semaphore starts at holds always: a dependence without an instance. */
  return item->a.kind != SL_VALUE_INT || item->a.value > plan->sems.data[item->dst].start;
}

/* Counters only grow, so of two immediate thresholds on one semaphore the larger is enough. */
static bool merge_wait(struct sl_kernel *kernel, uint32_t first, const struct sl_gate *gate)
{
  for (uint32_t i = first; i < kernel->waits.len; i++) {
    struct sl_gate *known = &kernel->waits.data[i];
    if (known->name != gate->name || known->threshold != gate->threshold)
      continue;
    if (gate->threshold == SL_THRESHOLD_INT) {
      if (gate->value > known->value)
        known->value = gate->value;
      return true;
    }
    if (known->value == gate->value)
      return true;
  }
  return false;
}

static struct sl_gate make_gate(struct sl_plan *plan, const struct sl_code *item, const sl_name *registers)
{
  struct sl_gate gate = { .kind = SL_GATE_SEM, .name = plan->sems.data[item->dst].name };
  switch (item->a.kind) {
  case SL_VALUE_INT:
    gate.threshold = SL_THRESHOLD_INT;
    gate.value = item->a.value;
    break;
  case SL_VALUE_NAME:
    gate.threshold = SL_THRESHOLD_NAME;
    gate.value = item->a.value;
    break;
  default:
    gate.threshold = SL_THRESHOLD_REG;
    gate.value = item->a.kind == SL_VALUE_VREG ? registers[item->a.value] : item->a.value;
  }
  assert(gate.name && "a semaphore that a wait needs has been named");
  assert((gate.threshold != SL_THRESHOLD_REG || gate.value) && "a threshold is computed before it is awaited");
  return gate;
}

/* An engine's code while its waits are written: they stand in the order of the text. */
struct wait_reader {
  const struct sl_regcode *code;
  const sl_name *registers; /* by vreg */
  uint32_t at;              /* the next item */
};

/* The next item of the code if it is a wait of that instruction, else NULL. */
static const struct sl_code *read_wait(struct wait_reader *reader, sl_index consumer)
{
  const struct sl_regcode *code = reader->code;
  while (reader->at < code->code.len && code->code.data[reader->at].kind != SL_CODE_WAIT)
    reader->at++;
  bool is_own = reader->at < code->code.len && code->code.data[reader->at].at == consumer;
  return is_own ? &code->code.data[reader->at++] : NULL;
}

/* Adds a wait to those of one slot, which begin at `first`. */
static void add_gate(struct sl_plan *plan, const struct sl_code *item, const sl_name *registers, uint32_t first)
{
  struct sl_kernel *kernel = plan->kernel;
  if (item->dead || !is_needed_wait(plan, item))
    return;
  struct sl_gate gate = make_gate(plan, item, registers);
  if (!merge_wait(kernel, first, &gate))
    sl_vec_add(kernel->heap, &kernel->waits, gate);
}

static void write_waits(struct sl_plan *plan, struct wait_reader *reader, sl_index consumer)
{
  struct sl_kernel *kernel = plan->kernel;
  uint32_t first = kernel->waits.len;
  for (const struct sl_code *item; (item = read_wait(reader, consumer));)
    add_gate(plan, item, reader->registers, first);
  struct sl_op *op = sl_stmt_op(kernel, consumer);
  op->first_wait = first;
  op->wait_count = kernel->waits.len - first;
}

static void write_increment(struct sl_plan *plan, sl_index producer)
{
  struct sl_kernel *kernel = plan->kernel;
  const struct sl_plan_sem *sem = &plan->sems.data[plan->stmt[producer].update_sem];
  if (!sem->is_used)
    return;
  struct sl_op *op = sl_stmt_op(kernel, producer);
  op->first_inc = kernel->incs.len;
  op->inc_count = 1;
  sl_vec_add(kernel->heap, &kernel->incs, ((struct sl_inc){ .sem = sem->name, .by = 1 }));
}

/* One walk over the author's instructions and not one for each engine: a large kernel does not fit the cache. `registers`: by
 * engine and vreg. */
static void write_clauses(struct sl_plan *plan, sl_name *const *registers)
{
  const struct sl_kernel *kernel = plan->kernel;
  uint32_t engines = plan->presence.engines.len;
  struct wait_reader *readers = sl_heap_calloc(plan->heap, engines, sizeof *readers);
  for (uint32_t e = 0; e < engines; e++)
    readers[e] = (struct wait_reader){ .code = &plan->code[e], .registers = registers[e] };
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (plan->stmt[at].update_sem)
      write_increment(plan, at);
    if (plan->stmt[at].edge_count)
      write_waits(plan, &readers[sl_plan_issues(plan, at)], at);
  }
  for (uint32_t e = 0; e < engines; e++)
    assert(!read_wait(&readers[e], SL_NONE) && readers[e].at == plan->code[e].code.len && "every wait has been written");
  sl_heap_free(plan->heap, readers);
}

/* ---- register instructions ---- */

static struct sl_operand make_operand(struct sl_value value, const sl_name *registers)
{
  struct sl_operand operand = { 0 };
  switch (value.kind) {
  case SL_VALUE_INT:
    operand.kind = SL_OPERAND_INT;
    operand.value = value.value;
    break;
  case SL_VALUE_NAME:
    operand.kind = SL_OPERAND_NAME;
    operand.value = value.value;
    break;
  case SL_VALUE_REG:
    operand.kind = SL_OPERAND_REG;
    operand.value = value.value;
    break;
  default:
    operand.kind = SL_OPERAND_REG;
    operand.value = registers[value.value];
    assert(operand.value && "a register that is read is written");
  }
  return operand;
}

static void write_register_op(struct writer *w, const struct sl_regcode *code, const struct sl_code *item,
                              const sl_name *registers)
{
  struct sl_kernel *kernel = w->plan->kernel;
  uint32_t first = kernel->operands.len;
  sl_vec_add(kernel->heap, &kernel->operands, make_operand(sl_value_vreg(item->dst), registers));
  sl_vec_add(kernel->heap, &kernel->operands, make_operand(item->a, registers));
  if (item->op != SL_OP_REG_SET)
    sl_vec_add(kernel->heap, &kernel->operands, make_operand(item->b, registers));
  sl_index stmt = new_op(w, item->op, code->stream);
  struct sl_op *op = sl_stmt_op(kernel, stmt);
  op->first_operand = first;
  op->dst_count = (uint16_t)(kernel->operands.len - first);
  if (item->anchor == SL_BEFORE_STMT)
    sl_stmt_insert_before(kernel, item->at, stmt);
  else
    sl_stmt_append(kernel, item->at, stmt);
}

static sl_name free_register(struct writer *w, struct writer *own, sl_name wished)
{
  sl_name name = unique_name(w, &own->numbers, &own->registers, &w->registers, wished);
  take_register(own, name);
  return name;
}

/* Temporaries that share a register share its name. Without the clean-up of registers each place of the pool is one. */
static sl_name name_temporary(struct writer *w, struct writer *own, sl_map *names, struct sl_vreg_role role, uint32_t color)
{
  uint64_t key = sl_map_pair(role.number, color ? color : role.index);
  bool is_new;
  uint32_t *name = sl_map_put(names, w->plan->heap, key, &is_new);
  if (is_new)
    *name = free_register(w, own, sl_intern(w->plan->program, role.number == SL_TEMPORARY_MASK ? "m" : "w"));
  return *name;
}

/* Names the registers that the code still mentions. Registers belong to an engine, so engines may use the same names. */
static sl_name *name_registers(struct writer *w, const struct sl_regcode *code)
{
  struct sl_plan *plan = w->plan;
  sl_name *registers = sl_heap_calloc(plan->heap, code->roles.len, sizeof *registers);
  uint32_t *color = sl_heap_calloc(plan->heap, code->roles.len, sizeof *color);
  struct writer own = { .plan = plan };
  sl_map temporaries = { 0 };
  if (plan->cleanups & SLUICE_CLEANUP_REGISTERS)
    (void)sl_cleanup_registers(code, color);
  for (uint32_t i = 0; i < code->code.len; i++) {
    const struct sl_code *item = &code->code.data[i];
    if (item->kind != SL_CODE_REG || item->dead || registers[item->dst])
      continue;
    struct sl_vreg_role role = code->roles.data[item->dst];
    registers[item->dst] = role.kind ? free_register(w, &own, plan->register_name(plan->state, code, role))
                                     : name_temporary(w, &own, &temporaries, role, color[item->dst]);
  }
  sl_map_free(&temporaries, plan->heap);
  sl_heap_free(plan->heap, color);
  sl_map_free(&own.registers, plan->heap);
  sl_map_free(&own.numbers, plan->heap);
  return registers;
}

/* Writes the waits from item `from` on that share a slot of their own; returns the index behind them. */
static uint32_t write_slot(struct writer *w, const struct sl_regcode *code, uint32_t from, const sl_name *registers)
{
  struct sl_kernel *kernel = w->plan->kernel;
  const struct sl_code *item = &code->code.data[from];
  sl_index consumer = item->at;
  uint32_t first = kernel->waits.len, at = from;
  for (; item->kind == SL_CODE_SLOT_WAIT && item->at == consumer; item = &code->code.data[++at])
    add_gate(w->plan, item, registers, first);
  if (kernel->waits.len == first)
    return at;
  sl_index stmt = new_op(w, SL_OP_NOP, code->stream);
  kernel->stmts.data[stmt].loc = kernel->stmts.data[consumer].loc;
  struct sl_op *op = sl_stmt_op(kernel, stmt);
  op->first_wait = first;
  op->wait_count = kernel->waits.len - first;
  sl_stmt_insert_before(kernel, consumer, stmt);
  return at;
}

/* Register operations and what stands between them. */
static void write_register_ops(struct writer *w, const struct sl_regcode *code, const sl_name *registers)
{
  for (uint32_t i = 0; i < code->code.len;) {
    const struct sl_code *item = &code->code.data[i];
    if (item->kind == SL_CODE_SLOT_WAIT) {
      i = write_slot(w, code, i, registers);
      continue;
    }
    if (item->kind == SL_CODE_REG && !item->dead)
      write_register_op(w, code, item, registers);
    i++;
  }
}

/* Of the waits of one instruction those with register operations behind them get slots of their own. */
static void find_slot_waits(struct sl_regcode *code)
{
  sl_index consumer = SL_NONE; /* whose waits are being passed, backwards */
  bool has_ops = false;        /* register operations stand behind, before a wait of it */
  for (uint32_t i = code->code.len; i-- > 0;) {
    struct sl_code *item = &code->code.data[i];
    if (item->kind == SL_CODE_REG) {
      has_ops |= !item->dead;
      continue;
    }
    bool is_same = item->kind == SL_CODE_WAIT && item->at == consumer;
    consumer = item->kind == SL_CODE_WAIT ? item->at : SL_NONE;
    has_ops &= is_same;
    if (has_ops)
      item->kind = SL_CODE_SLOT_WAIT;
  }
}

/* Clauses first: their walk is over the statements that the plan knows, before register operations come between them. */
static void write_code(struct writer *w)
{
  struct sl_plan *plan = w->plan;
  uint32_t engines = plan->presence.engines.len;
  for (uint32_t op = 0; op < SL_OPCODE_COUNT; op++)
    w->opcode_names[op] = sl_intern(plan->program, sl_opcode_table[op].text);
  sl_name **registers = sl_heap_calloc(plan->heap, engines, sizeof *registers);
  for (uint32_t e = 0; e < engines; e++)
    registers[e] = name_registers(w, &plan->code[e]);
  for (uint32_t e = 0; e < engines && plan->waits_in_turn; e++)
    find_slot_waits(&plan->code[e]);
  write_clauses(plan, registers);
  for (uint32_t e = 0; e < engines; e++) {
    write_register_ops(w, &plan->code[e], registers[e]);
    sl_heap_free(plan->heap, registers[e]);
  }
  sl_heap_free(plan->heap, registers);
}

/* ---- semaphores ---- */

static void name_semaphores(struct writer *w)
{
  struct sl_plan *plan = w->plan;
  for (uint32_t s = 1; s < plan->sems.len; s++) {
    struct sl_plan_sem *sem = &plan->sems.data[s];
    if (!sem->is_used)
      continue;
    char buffer[48];
    const char *block = sl_plan_block_name(plan, sem->block, buffer);
    sl_buf buf;
    sl_buf_init(&buf, plan->heap);
    if (sem->producer) {
      sl_buf_puts(&buf, "s_");
      sl_plan_add_label(&buf, plan, sem->producer);
    } else {
      sl_buf_printf(&buf, "s_%s%s%s", block, block[0] ? "_" : "",
                    sl_text(plan->program, plan->kernel->streams.data[sem->stream].name));
    }
    sem->name = free_name(w, sl_intern(plan->program, sl_buf_text(&buf)));
    sl_heap_free(plan->heap, buf.data);
  }
}

static void declare_semaphores(struct sl_plan *plan)
{
  struct sl_kernel *kernel = plan->kernel;
  for (uint32_t s = 1; s < plan->sems.len; s++) {
    const struct sl_plan_sem *sem = &plan->sems.data[s];
    if (!sem->is_used)
      continue;
    struct sl_decl *decl = sl_vec_push(kernel->heap, &kernel->decls);
    decl->kind = SL_DECL_SEM;
    decl->item = kernel->sems.len;
    struct sl_sem *declared = sl_vec_push(kernel->heap, &kernel->sems);
    declared->name = sem->name;
    declared->initial = sem->start;
    declared->generated = true;
  }
}

/* Marks the semaphores that some wait names; returns the number of such waits. */
static uint32_t find_used_semaphores(struct sl_plan *plan)
{
  uint32_t waits = 0;
  for (uint32_t e = 0; e < plan->presence.engines.len; e++)
    for (uint32_t i = 0; i < plan->code[e].code.len; i++) {
      const struct sl_code *item = &plan->code[e].code.data[i];
      if (item->kind == SL_CODE_WAIT && !item->dead && is_needed_wait(plan, item)) {
        plan->sems.data[item->dst].is_used = true;
        waits++;
      }
    }
  return waits;
}

/* Growing step by step, the clauses of a large kernel would be copied again and again. */
static void make_room(struct sl_plan *plan, uint32_t waits)
{
  uint32_t incs = 0;
  for (uint32_t s = 1; s < plan->sems.len; s++)
    incs += plan->sems.data[s].is_used ? plan->sems.data[s].updates : 0;
  sl_vec_reserve(plan->kernel->heap, &plan->kernel->waits, waits);
  sl_vec_reserve(plan->kernel->heap, &plan->kernel->incs, incs);
}

/* Clean-ups that let values live longer, and so take registers. */
enum { LONGER = SLUICE_CLEANUP_COMMON | SLUICE_CLEANUP_INVARIANT };

static void improve(const struct sl_plan *plan, struct sl_regcode *code, unsigned cleanups)
{
  if (cleanups & (SLUICE_CLEANUP_COMMON | SLUICE_CLEANUP_WAITS))
    sl_cleanup_common(code, plan->sems.len, cleanups & SLUICE_CLEANUP_COMMON, cleanups & SLUICE_CLEANUP_WAITS);
  bool has_moved = cleanups & SLUICE_CLEANUP_INVARIANT &&
                   sl_cleanup_invariant(code, sl_target_usable_registers(plan->target));
  if (has_moved && cleanups & SLUICE_CLEANUP_COMMON)
    sl_cleanup_common(code, plan->sems.len, true, false); /* what came out of several loops may be the same */
  if (cleanups & SLUICE_CLEANUP_DEAD)
    sl_regcode_strip(code);
}

/* The registers that the code takes on its engine, beside the author's. */
static uint32_t count_registers(const struct sl_regcode *code)
{
  uint32_t *color = sl_heap_calloc(code->heap, code->roles.len, sizeof *color);
  uint32_t count = sl_cleanup_registers(code, color);
  for (uint32_t i = 0; i < code->code.len; i++) {
    const struct sl_code *item = &code->code.data[i];
    if (item->kind != SL_CODE_REG || item->dead || code->roles.data[item->dst].kind == 0)
      continue;
    count += color[item->dst] == 0;
    color[item->dst] = 1;
  }
  sl_heap_free(code->heap, color);
  return count;
}

/* What would take more registers than there are is computed again where it is needed. */
static void clean_up(const struct sl_plan *plan, struct sl_regcode *code)
{
  assert(code->open.len == 0 && "register code has an open loop");
  if (plan->cleanups & SLUICE_CLEANUP_FOLD)
    sl_regcode_fold(code);
  uint32_t usable = sl_target_usable_registers(plan->target);
  sl_vec(struct sl_code) before = { 0 };
  bool may_exceed = plan->cleanups & LONGER && code->roles.len > usable;
  if (may_exceed)
    sl_vec_copy(code->heap, &before, &code->code);
  improve(plan, code, plan->cleanups);
  if (may_exceed && count_registers(code) > usable) {
    code->code.len = 0;
    sl_vec_copy(code->heap, &code->code, &before);
    improve(plan, code, plan->cleanups & ~(unsigned)LONGER);
  }
  sl_vec_free(code->heap, &before);
}

void sl_plan_write(struct sl_plan *plan)
{
  struct writer w = { .plan = plan };
  for (uint32_t e = 0; e < plan->presence.engines.len; e++)
    clean_up(plan, &plan->code[e]);
  make_room(plan, find_used_semaphores(plan));
  take_declared_names(&w);
  take_registers(&w);
  name_semaphores(&w);
  write_code(&w);
  declare_semaphores(plan);
}
