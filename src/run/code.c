/* code.c: see code.h. */
#include "run/code.h"

#include <assert.h>

#include "ir/eval.h"
#include "ir/ir.h"

/* ---- preparing ---- */

static void add_slot(struct sl_machine_code *code, sl_name name)
{
  if (!code->slot_of[name])
    code->slot_of[name] = ++code->slot_count;
}

static void add_register(struct sl_machine_code *code, sl_name name)
{
  if (!code->register_of[name])
    code->register_of[name] = ++code->register_count;
}

static void number_places(struct sl_machine_code *code, struct sl_cond cond)
{
  for (uint32_t i = 0; i < cond.count; i++) {
    const struct sl_cmp *cmp = &code->kernel->cmps.data[cond.first + i];
    if (cmp->op != SL_CMP_OPAQUE)
      continue;
    code->place_of[cond.first + i] = code->place_count++;
    sl_vec_add(code->heap, &code->place_names, cmp->opaque);
  }
}

void sl_code_init(struct sl_machine_code *code, sl_heap *heap, const sl_program *program, const struct sl_kernel *kernel,
                  const struct sl_target *target)
{
  memset(code, 0, sizeof *code);
  code->heap = heap;
  code->program = program;
  code->kernel = kernel;
  code->target = target;
  sl_presence_find(&code->presence, heap, kernel);
  code->slot_of = sl_heap_calloc(heap, program->names.len, sizeof *code->slot_of);
  code->register_of = sl_heap_calloc(heap, program->names.len, sizeof *code->register_of);
  code->place_of = sl_heap_calloc(heap, kernel->cmps.len + 1u, sizeof *code->place_of);
  for (uint32_t i = 0; i < kernel->params.len; i++)
    add_slot(code, kernel->params.data[i].name);
  for (uint32_t i = 0; i < kernel->operands.len; i++)
    if (kernel->operands.data[i].kind == SL_OPERAND_REG)
      add_register(code, (sl_name)kernel->operands.data[i].value);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind == SL_STMT_LOOP) {
      add_slot(code, sl_stmt_loop(kernel, at)->var);
      number_places(code, sl_stmt_loop(kernel, at)->while_cond);
    } else if (kernel->stmts.data[at].kind == SL_STMT_IF) {
      number_places(code, sl_stmt_branch(kernel, at)->cond);
    }
  }
}

/* ---- compiling ---- */

static uint32_t emit(struct sl_machine_code *code, enum sl_step_kind kind, sl_index a)
{
  struct sl_step *step = sl_vec_push(code->heap, &code->steps);
  step->kind = (uint8_t)kind;
  step->a = a;
  return code->steps.len - 1;
}

static void compile_block(struct sl_machine_code *code, sl_index block, sl_engines engines);

static void compile_loop(struct sl_machine_code *code, sl_index at, sl_engines engines)
{
  sl_index body = sl_stmt_loop(code->kernel, at)->body;
  bool carries = code->carries && code->carries[body];
  if (carries)
    emit(code, SL_STEP_ARRIVE, body);
  emit(code, SL_STEP_LOOP, at);
  uint32_t test = emit(code, SL_STEP_TEST, at);
  compile_block(code, body, engines);
  if (carries)
    emit(code, SL_STEP_TAIL, body);
  uint32_t next = emit(code, SL_STEP_NEXT, at);
  code->steps.data[next].to = test;
  code->steps.data[test].to = code->steps.len;
  emit(code, SL_STEP_RESTORE, at);
}

static void compile_branch(struct sl_machine_code *code, sl_index at, sl_engines engines)
{
  const struct sl_branch branch = *sl_stmt_branch(code->kernel, at);
  uint32_t test = emit(code, SL_STEP_IF, at);
  compile_block(code, branch.then_block, engines);
  uint32_t jump = emit(code, SL_STEP_JUMP, at);
  code->steps.data[test].to = code->steps.len;
  if (branch.else_block)
    compile_block(code, branch.else_block, engines);
  code->steps.data[jump].to = code->steps.len;
}

static void compile_op(struct sl_machine_code *code, sl_index at, sl_engines engines)
{
  const struct sl_op *op = sl_stmt_op(code->kernel, at);
  sl_engines own = sl_presence_of_op(&code->presence, code->kernel, op);
  if (!(own & engines))
    return;
  enum sl_step_kind kind = SL_STEP_OP;
  switch ((enum sl_op_class)sl_opcode_table[op->code].op_class) {
  case SL_CLASS_REGISTER: kind = SL_STEP_REGISTER; break;
  case SL_CLASS_SEMAPHORE: kind = SL_STEP_SEM_SET; break;
  case SL_CLASS_DRAIN: kind = SL_STEP_DRAIN; break;
  default: break;
  }
  if (kind == SL_STEP_REGISTER && op->wait_count) { /* others see it wait: the gates are a step of their own */
    uint32_t gates = emit(code, SL_STEP_OP, at);
    code->steps.data[gates].engine = (uint8_t)sl_first_engine(own);
  }
  uint32_t step = emit(code, kind, at);
  code->steps.data[step].engine = (uint8_t)sl_first_engine(own);
}

/* Recursion depth is bounded by the limit on nesting. */
static void compile_block(struct sl_machine_code *code, sl_index block, sl_engines engines)
{
  const struct sl_kernel *kernel = code->kernel;
  for (sl_index at = kernel->blocks.data[block].first; at; at = kernel->stmts.data[at].next) {
    switch ((enum sl_stmt_kind)kernel->stmts.data[at].kind) {
    case SL_STMT_OP: compile_op(code, at, engines); break;
    case SL_STMT_LOOP:
      if (sl_presence_inside(&code->presence, kernel, at) & engines)
        compile_loop(code, at, engines);
      break;
    case SL_STMT_IF:
      if (sl_presence_inside(&code->presence, kernel, at) & engines)
        compile_branch(code, at, engines);
      break;
    case SL_STMT_BARRIER: emit(code, SL_STEP_BARRIER, at); break;
    case SL_STMT_BARRIER_RESET: emit(code, SL_STEP_BARRIER_RESET, at); break;
    case SL_STMT_EPILOGUE: emit(code, SL_STEP_EPILOGUE, at); break;
    }
  }
}

void sl_code_compile(struct sl_machine_code *code, sl_engines engines)
{
  sl_vec_add(code->heap, &code->entries, code->steps.len);
  compile_block(code, code->kernel->root, engines);
  emit(code, SL_STEP_END, SL_NONE);
}

/* ---- engines ---- */

void sl_engine_states_init(struct sl_engine_state **states, const struct sl_machine_code *code, sl_heap *heap)
{
  uint32_t count = code->presence.engines.len;
  *states = sl_heap_calloc(heap, count + 1u, sizeof **states);
  for (uint32_t e = 0; e < count; e++) {
    struct sl_engine_state *state = &(*states)[e];
    state->slots = sl_heap_calloc(heap, code->slot_count + 1u, sizeof *state->slots);
    state->registers = sl_heap_calloc(heap, code->register_count + 1u, sizeof *state->registers);
    state->defined = sl_heap_calloc(heap, code->register_count + 1u, sizeof *state->defined);
    state->hi = sl_heap_calloc(heap, code->kernel->loops.len, sizeof *state->hi);
    state->step = sl_heap_calloc(heap, code->kernel->loops.len, sizeof *state->step);
    state->asked = sl_heap_calloc(heap, code->place_count + 1u, sizeof *state->asked);
    state->loads = sl_heap_calloc(heap, code->register_count + 1u, sizeof *state->loads);
  }
}

void sl_engine_state_reset(struct sl_engine_state *state, const struct sl_machine_code *code, const struct sl_inputs *inputs)
{
  const struct sl_kernel *kernel = code->kernel;
  for (uint32_t i = 0; i < kernel->params.len; i++)
    state->slots[code->slot_of[kernel->params.data[i].name]] = inputs->params[i];
  memset(state->defined, 0, (code->register_count + 1u) * sizeof *state->defined);
  memset(state->asked, 0, (code->place_count + 1u) * sizeof *state->asked);
  memset(state->loads, 0, (code->register_count + 1u) * sizeof *state->loads);
}

void sl_thread_init(struct sl_thread *thread, const struct sl_machine_code *code, struct sl_engine_state *states,
                    const struct sl_inputs *inputs, uint32_t entry, sl_engines engines)
{
  memset(thread, 0, sizeof *thread);
  thread->code = code;
  thread->inputs = inputs;
  thread->engines = states;
  thread->pc = code->entries.data[entry];
  thread->active = engines;
}

/* ---- values ---- */

struct lookup {
  struct sl_thread *thread;
  struct sl_engine_state *state;
};

static struct sl_constant look_up(void *user, enum sl_expr_kind kind, sl_name name)
{
  const struct lookup *lookup = user;
  const struct sl_machine_code *code = lookup->thread->code;
  if (kind == SL_EXPR_NAME) {
    uint32_t slot = code->slot_of[name];
    return slot ? sl_constant_of(lookup->state->slots[slot]) : sl_constant_none(SL_CONST_UNKNOWN);
  }
  uint32_t reg = code->register_of[name];
  if (!reg || !lookup->state->defined[reg])
    return sl_constant_none(SL_CONST_UNKNOWN);
  return sl_constant_of(lookup->state->registers[reg]);
}

static void fail(struct sl_thread *thread, enum sl_thread_error error, sl_index at)
{
  if (thread->error)
    return;
  thread->error = (uint8_t)error;
  thread->error_at = at;
}

static int64_t evaluate(struct sl_thread *thread, struct sl_engine_state *state, sl_index expr, int64_t otherwise, sl_index at)
{
  if (!expr)
    return otherwise;
  const struct sl_expr *e = &thread->code->kernel->exprs.data[expr];
  if (e->kind == SL_EXPR_INT)
    return e->u.value;
  struct lookup lookup = { thread, state };
  struct sl_constant value = sl_eval(thread->code->kernel, expr, look_up, &lookup);
  if (value.state == SL_CONST_KNOWN)
    return value.value;
  fail(thread, value.state == SL_CONST_UNKNOWN ? SL_THREAD_UNDEFINED : SL_THREAD_ARITHMETIC, at);
  return 0;
}

/* Every comparison is evaluated, also when the result is known: opaque places advance alike on all engines. */
static bool holds(struct sl_thread *thread, struct sl_engine_state *state, struct sl_cond cond, sl_index at)
{
  if (cond.count == 0)
    return true;
  const struct sl_machine_code *code = thread->code;
  bool result = !cond.any;
  for (uint32_t i = 0; i < cond.count; i++) {
    const struct sl_cmp *cmp = &code->kernel->cmps.data[cond.first + i];
    bool value;
    if (cmp->op == SL_CMP_OPAQUE) {
      uint32_t place = code->place_of[cond.first + i];
      value = thread->inputs->outcome(thread->inputs, cmp->opaque, place, state->asked[place]++);
    } else {
      int64_t a = evaluate(thread, state, cmp->lhs, 0, at);
      value = sl_compare_holds((enum sl_compare)cmp->op, a, evaluate(thread, state, cmp->rhs, 0, at));
    }
    result = cond.any ? result || value : result && value;
  }
  return result;
}

static uint32_t operand_value(struct sl_thread *thread, const struct sl_engine_state *state, const struct sl_operand *operand,
                              sl_index at)
{
  const struct sl_machine_code *code = thread->code;
  if (operand->kind == SL_OPERAND_INT)
    return (uint32_t)operand->value;
  if (operand->kind == SL_OPERAND_NAME)
    return (uint32_t)state->slots[code->slot_of[operand->value]];
  uint32_t reg = code->register_of[operand->value];
  if (!state->defined[reg])
    fail(thread, SL_THREAD_UNDEFINED, at);
  return state->registers[reg];
}

static uint32_t apply(enum sl_opcode op, uint32_t a, uint32_t b)
{
  switch (op) {
  case SL_OP_REG_ADD: return a + b;
  case SL_OP_REG_SUB: return a - b;
  case SL_OP_REG_MUL: return a * b;
  case SL_OP_REG_GT: return a > b;
  case SL_OP_REG_MIN: return a < b ? a : b;
  case SL_OP_REG_MAX: return a > b ? a : b;
  default: return a; /* reg_set */
  }
}

static void do_register(struct sl_thread *thread, const struct sl_step *step)
{
  const struct sl_op *op = sl_stmt_op(thread->code->kernel, step->a);
  const struct sl_operand *operands = &thread->code->kernel->operands.data[op->first_operand];
  struct sl_engine_state *state = &thread->engines[step->engine];
  uint32_t a = operand_value(thread, state, &operands[1], step->a);
  uint32_t b = op->code == SL_OP_REG_SET ? 0 : operand_value(thread, state, &operands[2], step->a);
  uint32_t dst = thread->code->register_of[operands[0].value];
  state->registers[dst] = apply((enum sl_opcode)op->code, a, b);
  state->defined[dst] = true;
}

/* A load takes its value from `assume`, else from the inputs. */
static void do_load(struct sl_thread *thread, const struct sl_step *step, const struct sl_op *op)
{
  const struct sl_kernel *kernel = thread->code->kernel;
  struct sl_engine_state *state = &thread->engines[step->engine];
  sl_name reg = (sl_name)kernel->operands.data[op->first_operand].value;
  uint32_t dst = thread->code->register_of[reg];
  sl_index assume = SL_NONE;
  for (uint32_t i = 0; i < op->attr_count; i++) {
    const struct sl_attr *attr = &kernel->attrs.data[op->first_attr + i];
    if (attr->kind == SL_ATTR_EXPR && strcmp(sl_text(thread->code->program, attr->name), "assume") == 0)
      assume = attr->expr;
  }
  uint32_t n = state->loads[dst]++;
  state->registers[dst] = assume ? (uint32_t)evaluate(thread, state, assume, 0, step->a)
                                 : thread->inputs->loaded(thread->inputs, reg, step->a, n);
  state->defined[dst] = true;
}

uint32_t sl_thread_operand(struct sl_thread *thread, uint32_t engine, const struct sl_operand *operand, sl_index at)
{
  return operand_value(thread, &thread->engines[engine], operand, at);
}

int64_t sl_thread_value(struct sl_thread *thread, uint32_t engine, sl_index expr, sl_index at)
{
  return evaluate(thread, &thread->engines[engine], expr, 0, at);
}

uint32_t sl_thread_threshold(const struct sl_thread *thread, uint32_t engine, const struct sl_gate *gate)
{
  const struct sl_engine_state *state = &thread->engines[engine];
  switch (gate->threshold) {
  case SL_THRESHOLD_INT: return (uint32_t)gate->value;
  case SL_THRESHOLD_NAME: return (uint32_t)state->slots[thread->code->slot_of[gate->value]];
  default: return state->registers[thread->code->register_of[gate->value]];
  }
}

/* ---- control ---- */

static sl_engines walking(const struct sl_thread *thread, sl_index at)
{
  return sl_presence_inside(&thread->code->presence, thread->code->kernel, at) & thread->active;
}

static void begin_loop(struct sl_thread *thread, sl_heap *heap, sl_index at)
{
  const struct sl_kernel *kernel = thread->code->kernel;
  const struct sl_loop *loop = sl_stmt_loop(kernel, at);
  uint32_t index = kernel->stmts.data[at].item, slot = thread->code->slot_of[loop->var];
  sl_vec_add(heap, &thread->saved, thread->active);
  for (sl_engines rest = walking(thread, at); rest; rest &= rest - 1) {
    struct sl_engine_state *state = &thread->engines[sl_first_engine(rest)];
    int64_t lo = evaluate(thread, state, loop->lo, 0, at);
    state->hi[index] = evaluate(thread, state, loop->hi, INT64_MAX, at);
    state->step[index] = evaluate(thread, state, loop->step, 1, at);
    state->slots[slot] = lo;
    if (state->step[index] <= 0)
      fail(thread, SL_THREAD_ARITHMETIC, at);
  }
}

/* Engines that have another iteration to do; all or none of those that walk the loop, unless it is divergent. */
static sl_engines going_on(struct sl_thread *thread, sl_index at, sl_engines walkers)
{
  const struct sl_kernel *kernel = thread->code->kernel;
  const struct sl_loop *loop = sl_stmt_loop(kernel, at);
  uint32_t index = kernel->stmts.data[at].item, slot = thread->code->slot_of[loop->var];
  sl_engines on = 0;
  for (sl_engines rest = walkers; rest; rest &= rest - 1) {
    uint32_t e = sl_first_engine(rest);
    struct sl_engine_state *state = &thread->engines[e];
    if (state->slots[slot] < state->hi[index] && holds(thread, state, loop->while_cond, at))
      on |= (sl_engines)1 << e;
  }
  if (on && on != walkers && !loop->divergent)
    fail(thread, SL_THREAD_DISAGREE, at);
  return on;
}

static void test_loop(struct sl_thread *thread, const struct sl_step *step)
{
  sl_engines on = going_on(thread, step->a, walking(thread, step->a));
  if (on)
    thread->active = on;
  else
    thread->pc = step->to;
}

static void advance_loop(struct sl_thread *thread, const struct sl_step *step)
{
  const struct sl_kernel *kernel = thread->code->kernel;
  uint32_t index = kernel->stmts.data[step->a].item;
  uint32_t slot = thread->code->slot_of[sl_stmt_loop(kernel, step->a)->var];
  for (sl_engines rest = thread->active; rest; rest &= rest - 1) {
    struct sl_engine_state *state = &thread->engines[sl_first_engine(rest)];
    if (__builtin_add_overflow(state->slots[slot], state->step[index], &state->slots[slot]))
      fail(thread, SL_THREAD_ARITHMETIC, step->a);
  }
  thread->pc = step->to;
}

static void test_branch(struct sl_thread *thread, const struct sl_step *step)
{
  struct sl_cond cond = sl_stmt_branch(thread->code->kernel, step->a)->cond;
  sl_engines walkers = walking(thread, step->a), taken = 0;
  for (sl_engines rest = walkers; rest; rest &= rest - 1) {
    uint32_t e = sl_first_engine(rest);
    if (holds(thread, &thread->engines[e], cond, step->a))
      taken |= (sl_engines)1 << e;
  }
  if (taken && taken != walkers)
    fail(thread, SL_THREAD_DISAGREE, step->a);
  if (!taken)
    thread->pc = step->to;
}

/* Does a step that only the thread itself sees. */
static void do_inner(struct sl_thread *thread, sl_heap *heap, const struct sl_step *step)
{
  switch ((enum sl_step_kind)step->kind) {
  case SL_STEP_REGISTER:
    if (thread->active >> step->engine & 1)
      do_register(thread, step);
    break;
  case SL_STEP_LOOP: begin_loop(thread, heap, step->a); break;
  case SL_STEP_TEST: test_loop(thread, step); break;
  case SL_STEP_NEXT: advance_loop(thread, step); break;
  case SL_STEP_IF: test_branch(thread, step); break;
  case SL_STEP_JUMP: thread->pc = step->to; break;
  case SL_STEP_SKIP: break;
  default:
    assert(step->kind == SL_STEP_RESTORE);
    thread->active = thread->saved.data[--thread->saved.len];
  }
}

const struct sl_step *sl_thread_next(struct sl_thread *thread, sl_heap *heap, uint64_t limit)
{
  static const struct sl_step end = { SL_STEP_END, 0, SL_NONE, 0, 0 };
  if (thread->load)
    do_load(thread, thread->load, sl_stmt_op(thread->code->kernel, thread->load->a));
  thread->load = NULL;
  for (; limit > 0; limit--) {
    if (thread->error)
      return &end;
    const struct sl_step *step = &thread->code->steps.data[thread->pc];
    if (step->kind == SL_STEP_END)
      return step;
    thread->pc++;
    thread->steps++;
    if (step->kind > SL_STEP_END) {
      thread->cost += step->cost;
      thread->done[step->kind]++;
      do_inner(thread, heap, step);
      continue;
    }
    if (step->kind == SL_STEP_OP || step->kind == SL_STEP_SEM_SET || step->kind == SL_STEP_DRAIN) {
      if (!(thread->active >> step->engine & 1))
        continue;
      if (sl_stmt_op(thread->code->kernel, step->a)->code == SL_OP_REG_LOAD)
        thread->load = step;
    }
    return step;
  }
  return NULL;
}

void sl_print_iteration(sl_buf *buf, const struct sl_machine_code *code, const struct sl_engine_state *state, sl_index stmt)
{
  const struct sl_kernel *kernel = code->kernel;
  sl_index loops[SL_NESTING_BLOCKS];
  uint32_t count = 0;
  for (sl_index block = kernel->stmts.data[stmt].block; block && count < SL_NESTING_BLOCKS;
       block = sl_block_parent(kernel, block)) {
    sl_index owner = kernel->blocks.data[block].owner;
    if (owner && kernel->stmts.data[owner].kind == SL_STMT_LOOP)
      loops[count++] = owner;
  }
  const char *separator = "";
  while (count-- > 0) {
    sl_name var = sl_stmt_loop(kernel, loops[count])->var;
    sl_buf_printf(buf, "%s%s = %lld", separator, sl_text(code->program, var), (long long)state->slots[code->slot_of[var]]);
    separator = ", ";
  }
}
