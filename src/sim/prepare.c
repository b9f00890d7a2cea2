/* prepare.c: from a kernel and options to a machine that can run: settings, inputs, code with costs, and for ideal
 * synchronization the code without what only synchronizes. Linear, but for loops nested in each other, which are looked at once
 * per level.
 */
#include <assert.h>

#include "ir/ir.h"
#include "run/input.h"
#include "run/statics.h"
#include "sim/simulator.h"

/* ---- settings ---- */

/* What is no parameter of a description. */
static const char *const own_settings[] = { "qd", "shared", "ring_depth", "fetch_window", "fetch_miss" };
enum { OWN_SETTINGS = sizeof own_settings / sizeof *own_settings };

static double setting(const struct sl_simulator *sim, const char *name, double otherwise)
{
  for (size_t i = sim->options->setting_count; i-- > 0;)
    if (strcmp(sim->options->settings[i].name, name) == 0)
      return sim->options->settings[i].value;
  return otherwise;
}

static bool is_own(const char *name)
{
  for (size_t i = 0; i < OWN_SETTINGS; i++)
    if (strcmp(own_settings[i], name) == 0)
      return true;
  return false;
}

static void report_unknown(struct sl_simulator *sim, const char *name)
{
  sl_vec(const char *) known = { 0 };
  for (uint32_t i = 0; i < sim->target->params.len; i++)
    sl_vec_add(sim->heap, &known, sim->target->params.data[i].name);
  for (size_t i = 0; i < OWN_SETTINGS; i++)
    sl_vec_add(sim->heap, &known, own_settings[i]);
  const char *closest = sl_closest(name, known.data, known.len);
  sl_report_begin(sim->report, SLUICE_ERROR, SL_RULE_UNDEFINED, SL_NO_LOC, "'%s' is no parameter of target '%s'", name,
                  sim->target->name);
  if (closest)
    sl_report_note(sim->report, SL_NO_LOC, "did you mean '%s'?", closest);
  sl_report_end(sim->report);
}

/* The parameters are the simulator's own copy. */
static int apply_settings(struct sl_simulator *sim)
{
  int status = SLUICE_OK;
  for (size_t i = 0; i < sim->options->setting_count; i++) {
    const sluice_setting *given = &sim->options->settings[i];
    int at = sl_target_param_index(sim->target, given->name);
    if (!(given->value >= 0 && given->value <= 1e12)) {
      sl_error(sim->report, SL_RULE_LITERAL, SL_NO_LOC, "the value of '%s' is not a number from 0 to 1e12", given->name);
      status = SLUICE_E_INPUT;
    } else if (at >= 0) {
      sim->target->params.data[at].fact.value = given->value;
    } else if (!is_own(given->name)) {
      report_unknown(sim, given->name);
      status = SLUICE_E_INPUT;
    }
  }
  return status;
}

static uint32_t whole(double value, double most)
{
  return (uint32_t)(value < most ? value : most);
}

static void read_costs(struct sl_simulator *sim)
{
  const struct sl_target *target = sim->target;
  struct sl_control_costs *costs = &sim->costs;
  costs->register_op = sl_ticks_of_param(target, "register_op", 0);
  costs->register_load = sl_ticks_of_param(target, "register_load", 0);
  costs->branch = sl_ticks_of_param(target, "branch", 0);
  costs->semaphore_set = sl_ticks_of_param(target, "semaphore_set", 0);
  costs->dispatch = sl_ticks_of_param(target, "dispatch", 0);
  costs->visibility = sl_ticks_of_param(target, "semaphore_visibility", 0);
  costs->drain = sl_ticks_of_param(target, "drain", 0);
  costs->arrive = sl_ticks_of_param(target, "handshake_arrive", 0);
  costs->release = sl_ticks_of_param(target, "handshake_release", 0);
  costs->clear = sl_ticks_of_param(target, "range_clear", 0);
  costs->run_ahead = whole(setting(sim, "qd", sl_target_param(target, "run_ahead", 0)), SL_RUN_AHEAD_MAX);
  costs->ring_depth = whole(setting(sim, "ring_depth", 1024), 1u << 20);
  if (costs->ring_depth == 0)
    costs->ring_depth = 1;
  costs->fetch_window = whole(setting(sim, "fetch_window", 0), 1u << 30);
  costs->fetch_miss = sl_ticks_of_ns(target, setting(sim, "fetch_miss", 1300));
  costs->is_shared = setting(sim, "shared", 1) > 0;
  costs->has_classes = sl_target_param(target, "dma_qos", 0) > 0;
}

/* ---- inputs ---- */

/* The last input for a name, of this engine before those of all; NULL: none. */
static const sluice_input *find_input(const struct sl_engine_inputs *inputs, const char *name)
{
  const struct sl_simulator *sim = inputs->sim;
  const sluice_input *found = NULL;
  size_t length = strlen(name);
  bool is_own_input = false;
  for (size_t i = 0; i < sim->options->input_count; i++) {
    const sluice_input *input = &sim->options->inputs[i];
    if (strncmp(input->name, name, length) != 0)
      continue;
    if (!input->name[length] && !is_own_input) {
      found = input;
    } else if (input->name[length] == '@' && inputs->engine != UINT32_MAX) {
      uint32_t stream = sim->code.presence.engines.data[inputs->engine];
      if (strcmp(input->name + length + 1, sl_text(sim->program, sim->kernel->streams.data[stream].name)) != 0)
        continue;
      found = input;
      is_own_input = true;
    }
  }
  return found;
}

static const char *text_of(const struct sl_engine_inputs *inputs, sl_name name)
{
  return sl_text(inputs->code->program, name);
}

static bool outcome(const struct sl_inputs *base, sl_name opaque, uint32_t place, uint32_t n)
{
  const struct sl_engine_inputs *inputs = base->user;
  const char *name = text_of(inputs, opaque);
  const sluice_input *input = find_input(inputs, name);
  (void)place;
  return input && sl_input_value(input, name, n) != 0;
}

static uint32_t loaded(const struct sl_inputs *base, sl_name reg, sl_index stmt, uint32_t n)
{
  const struct sl_engine_inputs *inputs = base->user;
  const char *name = text_of(inputs, reg);
  const sluice_input *input = find_input(inputs, name);
  (void)stmt;
  return input ? (uint32_t)sl_input_value(input, name, n) : 0;
}

struct param_lookup {
  const struct sl_kernel *kernel;
  const int64_t *values;
  uint32_t known;
};

static struct sl_constant look_up_param(void *user, enum sl_expr_kind kind, sl_name name)
{
  const struct param_lookup *lookup = user;
  for (uint32_t i = 0; i < lookup->known && kind == SL_EXPR_NAME; i++)
    if (lookup->kernel->params.data[i].name == name)
      return sl_constant_of(lookup->values[i]);
  return sl_constant_none(SL_CONST_UNKNOWN);
}

/* Values in the order of the parameters; a default may name earlier ones. */
static int bind_params(struct sl_simulator *sim, struct sl_engine_inputs *inputs, const struct sl_machine_code *code,
                       uint32_t engine)
{
  const struct sl_kernel *kernel = code->kernel;
  *inputs = (struct sl_engine_inputs){ .sim = sim, .engine = engine, .code = code };
  inputs->params = sl_heap_calloc(sim->heap, kernel->params.len + 1u, sizeof *inputs->params);
  inputs->inputs = (struct sl_inputs){ inputs->params, outcome, loaded, inputs };
  for (uint32_t i = 0; i < kernel->params.len; i++) {
    const struct sl_param *param = &kernel->params.data[i];
    const sluice_input *input = find_input(inputs, text_of(inputs, param->name));
    struct param_lookup lookup = { kernel, inputs->params, i };
    bool is_given = input && !sl_input_is_random(input) && input->count;
    struct sl_constant value = is_given       ? sl_constant_of(input->values[input->count - 1])
                               : param->value ? sl_eval(kernel, param->value, look_up_param, &lookup)
                                              : sl_constant_none(SL_CONST_UNKNOWN);
    if (value.state != SL_CONST_KNOWN || value.value < 0) {
      sl_error(sim->report, SL_RULE_UNDEFINED, param->loc, "parameter '%s' of kernel '%s' needs a value: -D %s=VALUE",
               text_of(inputs, param->name), text_of(inputs, kernel->name), text_of(inputs, param->name));
      return SLUICE_E_INPUT;
    }
    inputs->params[i] = value.value;
  }
  return SLUICE_OK;
}

static bool has_condition(const struct sl_machine_code *code, sl_name name)
{
  for (uint32_t i = 0; i < code->place_names.len; i++)
    if (code->place_names.data[i] == name)
      return true;
  return false;
}

/* Whether the kernel asks for what an input, `length` bytes of its name, gives. */
static bool is_asked_for(const struct sl_machine_code *code, const sluice_input *input, size_t length)
{
  sl_name name = sl_names_find(&code->program->names, input->name, length);
  if (!name)
    return false;
  if (sl_input_is_random(input))
    return has_condition(code, name);
  for (uint32_t i = 0; i < code->kernel->params.len; i++)
    if (code->kernel->params.data[i].name == name)
      return true;
  return has_condition(code, name) || code->register_of[name] != 0;
}

static bool has_engine(const struct sl_simulator *sim, const char *name)
{
  for (uint32_t e = 0; e < sim->code.presence.engines.len; e++) {
    uint32_t stream = sim->code.presence.engines.data[e];
    if (strcmp(name, sl_text(sim->program, sim->kernel->streams.data[stream].name)) == 0)
      return true;
  }
  return false;
}

static void report_unknown_input(const struct sl_simulator *sim, const sluice_input *input)
{
  bool is_random = sl_input_is_random(input);
  sl_report_begin(sim->report, SLUICE_ERROR, SL_RULE_UNDEFINED, SL_NO_LOC, "kernel '%s' has no %s '%s'",
                  sl_text(sim->program, sim->kernel->name),
                  is_random ? "opaque condition" : "parameter, opaque condition or loaded register", input->name);
  if (is_random)
    sl_report_note(sim->report, SL_NO_LOC, "%s", sl_only_conditions_are_random);
  sl_report_end(sim->report);
}

static int check_inputs(const struct sl_simulator *sim)
{
  int status = SLUICE_OK;
  for (size_t i = 0; i < sim->options->input_count && !sim->options->ignore_unknown_inputs; i++) {
    const sluice_input *input = &sim->options->inputs[i];
    size_t length = strcspn(input->name, "@");
    bool is_known =
        is_asked_for(&sim->code, input, length) || (sim->is_ideal && is_asked_for(&sim->needs.code, input, length));
    if (is_known && (!input->name[length] || has_engine(sim, input->name + length + 1)))
      continue;
    report_unknown_input(sim, input);
    status = SLUICE_E_INPUT;
  }
  return status;
}

/* ---- counters ---- */

static void number_counters(struct sl_simulator *sim)
{
  const struct sl_kernel *kernel = sim->kernel;
  uint32_t names = sim->program->names.len;
  sim->sem_of = sl_heap_calloc(sim->heap, names, sizeof *sim->sem_of);
  sim->event_of = sl_heap_calloc(sim->heap, names, sizeof *sim->event_of);
  for (uint32_t s = 1; s < kernel->sems.len; s++) {
    sim->sem_of[kernel->sems.data[s].name] = s;
    sl_vec_add(sim->heap, &sim->counter_names, sl_text(sim->program, kernel->sems.data[s].name));
  }
  sim->sem_count = sim->counter_count = kernel->sems.len - 1u;
  for (uint32_t v = 1; v < kernel->events.len; v++) {
    const struct sl_event *event = &kernel->events.data[v];
    sim->event_of[event->name] = sim->counter_count + 1;
    for (uint32_t i = 0; i < event->count; i++) {
      sl_buf buf;
      sl_buf_init(&buf, sim->heap);
      sl_buf_printf(&buf, event->is_array ? "%s[%u]" : "%s", sl_text(sim->program, event->name), i);
      sl_vec_add(sim->heap, &sim->counter_names, sl_buf_text(&buf));
    }
    sim->counter_count += event->count;
  }
  if (sim->is_ideal) /* one per stream: what it has retired */
    sim->counter_count = sim->sem_count = kernel->streams.len;
  sim->counters = sl_heap_calloc(sim->heap, sim->counter_count + 1u, sizeof *sim->counters);
  for (uint32_t c = 0; c < sim->counter_count; c++) {
    sim->counters[c].takes = c >= sim->sem_count;
    if (!sim->is_ideal && c < sim->sem_count)
      sim->counters[c].value = kernel->sems.data[c + 1].initial;
  }
}

static int check_event_count(const struct sl_simulator *sim)
{
  enum { MOST = 1 << 20 };
  uint64_t count = 0;
  for (uint32_t v = 1; v < sim->kernel->events.len; v++)
    count += sim->kernel->events.data[v].count;
  if (count <= MOST)
    return SLUICE_OK;
  sl_error(sim->report, SL_RULE_LIMIT, sim->kernel->loc, "more than %d events are not simulated", MOST);
  return SLUICE_E_INPUT;
}

/* ---- ideal synchronization: the dependences ---- */

static void match_streams(struct sl_simulator *sim)
{
  const struct sl_presence *ours = &sim->code.presence, *theirs = &sim->needs.code.presence;
  sim->own_stream = sl_heap_calloc(sim->heap, sim->giving->streams.len + 1u, sizeof *sim->own_stream);
  for (uint32_t s = 0; s < sim->giving->streams.len; s++) {
    const char *text = sl_text(sim->giving_program, sim->giving->streams.data[s].name);
    sl_name name = sl_names_find(&sim->program->names, text, strlen(text));
    sim->own_stream[s] = name ? sl_stream_get(sim->kernel, name) : SL_NO_STREAM;
  }
  sim->their_engine = sl_heap_calloc(sim->heap, ours->engines.len + 1u, sizeof *sim->their_engine);
  for (uint32_t e = 0; e < ours->engines.len; e++) {
    sim->their_engine[e] = UINT32_MAX;
    for (uint32_t t = 0; t < theirs->engines.len; t++)
      if (sim->own_stream[theirs->engines.data[t]] == ours->engines.data[e])
        sim->their_engine[e] = t;
  }
}

/* The statement of that label there. A copy that unrolling made, `mm@2.0` or `mm.1`, is `mm` when that has no such copy itself. */
static sl_index find_match(const struct sl_simulator *sim, const sl_map *by_label, const char *label)
{
  for (size_t length = strlen(label); length > 0;) {
    sl_name name = sl_names_find(&sim->giving_program->names, label, length);
    const uint32_t *at = name ? sl_map_get(by_label, name) : NULL;
    if (at)
      return *at;
    while (length > 0 && label[length - 1] != '.' && label[length - 1] != '@')
      length--;
    length -= length > 0;
  }
  return SL_NONE;
}

static int mismatch(const struct sl_simulator *sim, sl_index stmt, const char *why)
{
  sl_loc loc = stmt ? sim->kernel->stmts.data[stmt].loc : sim->kernel->loc;
  sl_error(sim->report, SL_RULE_MISMATCH, loc, "kernel '%s': %s", sl_text(sim->program, sim->kernel->name), why);
  return SLUICE_E_INPUT;
}

/* Ends of dependences are matched by label. One that is missing may have no instances: the run tells. */
static int match_statements(struct sl_simulator *sim)
{
  const struct sl_kernel *theirs = sim->giving, *ours = sim->kernel;
  sl_map by_label = { 0 };
  for (sl_index at = sl_walk_first(theirs, theirs->root); at; at = sl_walk_next(theirs, theirs->root, at))
    if (theirs->stmts.data[at].kind == SL_STMT_OP && sl_needs_has(&sim->needs, at))
      *sl_map_put(&by_label, sim->heap, sl_stmt_op(theirs, at)->label, NULL) = at;
  sim->matched = sl_heap_calloc(sim->heap, ours->stmts.len, sizeof *sim->matched);
  for (sl_index at = sl_walk_first(ours, ours->root); at; at = sl_walk_next(ours, ours->root, at)) {
    if (ours->stmts.data[at].kind != SL_STMT_OP || !sl_stmt_op(ours, at)->label)
      continue;
    sl_index match = find_match(sim, &by_label, sl_text(sim->program, sl_stmt_op(ours, at)->label));
    if (!match)
      continue;
    if (sim->own_stream[sl_stmt_op(theirs, match)->stream] != sl_stmt_op(ours, at)->stream)
      return mismatch(sim, at, "it runs on another stream than in the kernel that gives the dependences");
    sim->matched[at] = match;
  }
  return SLUICE_OK;
}

static int prepare_needs(struct sl_simulator *sim)
{
  int status = bind_params(sim, &sim->needs_inputs, &sim->needs.code, UINT32_MAX);
  if (status != SLUICE_OK)
    return status;
  match_streams(sim);
  return match_statements(sim);
}

/* ---- ideal synchronization: what is left out ---- */

struct liveness {
  struct sl_simulator *sim;
  bool *is_needed; /* by register slot */
  bool changed;
};

static void need_register(struct liveness *live, sl_name name)
{
  uint32_t slot = live->sim->code.register_of[name];
  if (!slot || live->is_needed[slot])
    return;
  live->is_needed[slot] = live->changed = true;
}

/* Depth is limited by the language. */
static void need_expr(struct liveness *live, sl_index expr)
{
  const struct sl_expr *e = &live->sim->kernel->exprs.data[expr];
  if (!expr || e->kind == SL_EXPR_INT || e->kind == SL_EXPR_NAME)
    return;
  if (e->kind == SL_EXPR_REG) {
    need_register(live, (sl_name)e->u.value);
    return;
  }
  need_expr(live, e->u.sub.lhs);
  if (e->kind != SL_EXPR_NEG)
    need_expr(live, e->u.sub.rhs);
}

static void need_cond(struct liveness *live, struct sl_cond cond)
{
  for (uint32_t i = 0; i < cond.count; i++) {
    const struct sl_cmp *cmp = &live->sim->kernel->cmps.data[cond.first + i];
    if (cmp->op == SL_CMP_OPAQUE)
      continue;
    need_expr(live, cmp->lhs);
    need_expr(live, cmp->rhs);
  }
}

static void need_operand(struct liveness *live, const struct sl_operand *operand)
{
  if (operand->kind == SL_OPERAND_REG)
    need_register(live, (sl_name)operand->value);
  for (uint32_t i = 0; i < operand->index_count; i++) {
    const struct sl_access_index *index = &live->sim->kernel->indices.data[operand->first_index + i];
    need_expr(live, index->first);
    need_expr(live, index->second);
  }
}

/* Register operations need their sources only when something needs their destination. */
static void need_op(struct liveness *live, const struct sl_op *op)
{
  const struct sl_kernel *kernel = live->sim->kernel;
  enum sl_op_class op_class = sl_opcode_table[op->code].op_class;
  if (op_class == SL_CLASS_SEMAPHORE)
    return;
  uint32_t first = op_class == SL_CLASS_REGISTER || op_class == SL_CLASS_LOAD ? 1 : 0;
  if (op_class == SL_CLASS_REGISTER) {
    int64_t destination = kernel->operands.data[op->first_operand].value;
    if (!live->is_needed[live->sim->code.register_of[destination]])
      return;
  }
  for (uint32_t i = first; i < (uint32_t)op->dst_count + op->src_count; i++)
    need_operand(live, &kernel->operands.data[op->first_operand + i]);
  for (uint32_t i = 0; i < op->attr_count; i++) {
    const struct sl_attr *attr = &kernel->attrs.data[op->first_attr + i];
    if (attr->kind == SL_ATTR_EXPR)
      need_expr(live, attr->expr);
    else if (attr->kind == SL_ATTR_COND)
      need_cond(live, attr->cond);
  }
}

static void find_needed(struct liveness *live)
{
  const struct sl_kernel *kernel = live->sim->kernel;
  do {
    live->changed = false;
    for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
      const struct sl_loop *loop = kernel->stmts.data[at].kind == SL_STMT_LOOP ? sl_stmt_loop(kernel, at) : NULL;
      if (loop) {
        need_expr(live, loop->lo);
        need_expr(live, loop->hi);
        need_expr(live, loop->step);
        need_cond(live, loop->while_cond);
      } else if (kernel->stmts.data[at].kind == SL_STMT_IF) {
        need_cond(live, sl_stmt_branch(kernel, at)->cond);
      } else if (kernel->stmts.data[at].kind == SL_STMT_OP) {
        need_op(live, sl_stmt_op(kernel, at));
      }
    }
  } while (live->changed);
}

/* Whether an instruction does something besides synchronizing. */
static bool does_work(const struct liveness *live, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(live->sim->kernel, stmt);
  switch ((enum sl_op_class)sl_opcode_table[op->code].op_class) {
  case SL_CLASS_REGISTER:
    return live->is_needed[live->sim->code.register_of[live->sim->kernel->operands.data[op->first_operand].value]];
  case SL_CLASS_SEMAPHORE: return false;
  case SL_CLASS_NOP:
  case SL_CLASS_DRAIN: return live->sim->matched[stmt] != SL_NONE;
  default: return true;
  }
}

static bool is_live_step(const struct liveness *live, const struct sl_step *step)
{
  if (step->kind == SL_STEP_REGISTER)
    return does_work(live, step->a);
  if (step->kind == SL_STEP_OP || step->kind == SL_STEP_DRAIN) {
    const struct sl_op *op = sl_stmt_op(live->sim->kernel, step->a);
    bool only_gates = sl_opcode_table[op->code].op_class == SL_CLASS_REGISTER;
    return !only_gates && does_work(live, step->a);
  }
  return step->kind == SL_STEP_LOOP || step->kind == SL_STEP_TEST || step->kind == SL_STEP_NEXT ||
         step->kind == SL_STEP_IF || step->kind == SL_STEP_JUMP || step->kind == SL_STEP_RESTORE || step->kind == SL_STEP_END;
}

static bool has_work(const struct sl_step *steps, uint32_t from, uint32_t to)
{
  for (uint32_t i = from; i < to; i++)
    if (steps[i].kind == SL_STEP_OP || steps[i].kind == SL_STEP_DRAIN || steps[i].kind == SL_STEP_REGISTER)
      return true;
  return false;
}

static void skip(struct sl_step *steps, uint32_t from, uint32_t to)
{
  for (uint32_t i = from; i < to; i++)
    steps[i].kind = SL_STEP_SKIP;
}

/* Loops and branches in which an engine has nothing left to do are not walked by it. */
static void drop_shells(struct sl_machine_code *code)
{
  struct sl_step *steps = code->steps.data;
  for (uint32_t i = 0; i < code->steps.len; i++) {
    uint32_t end = 0; /* behind the whole */
    if (steps[i].kind == SL_STEP_LOOP)
      end = steps[i + 1].to + 1;
    else if (steps[i].kind == SL_STEP_IF)
      end = steps[steps[i].to - 1].to;
    if (end && !has_work(steps, i, end))
      skip(steps, i, end);
  }
}

static void drop_synchronization(struct sl_simulator *sim)
{
  struct liveness live = { .sim = sim };
  live.is_needed = sl_heap_calloc(sim->heap, sim->code.register_count + 1u, sizeof *live.is_needed);
  find_needed(&live);
  for (uint32_t i = 0; i < sim->code.steps.len; i++)
    if (!is_live_step(&live, &sim->code.steps.data[i]))
      sim->code.steps.data[i].kind = SL_STEP_SKIP;
  drop_shells(&sim->code);
}

/* ---- costs of control ---- */

/* Instruction slots of an engine's steps, as far as the fetch window is concerned. */
static uint64_t slots_of(const struct sl_simulator *sim, uint32_t from, uint32_t to)
{
  uint64_t slots = 0;
  for (uint32_t i = from; i < to; i++) {
    const struct sl_step *step = &sim->code.steps.data[i];
    const struct sl_operation *operation = &sim->operations.list[step->a];
    switch ((enum sl_step_kind)step->kind) {
    case SL_STEP_OP:
      slots += (operation->opcode ? operation->opcode->slots : sim->target->slot.register_op) + operation->carriers +
               operation->address_operations;
      break;
    case SL_STEP_REGISTER:
    case SL_STEP_SEM_SET:
    case SL_STEP_DRAIN: slots += sim->target->slot.register_op; break;
    case SL_STEP_IF:
    case SL_STEP_JUMP: slots += sim->target->slot.branch; break;
    case SL_STEP_LOOP: slots += sim->target->slot.loop_setup + sim->target->slot.loop_step; break;
    case SL_STEP_BARRIER:
    case SL_STEP_BARRIER_RESET: slots += sim->target->slot.barrier_engine; break;
    default: break;
    }
  }
  return slots;
}

static uint32_t as_cost(uint64_t ticks)
{
  return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

/* The counter and the jump back; a loop without a range still counts. A body larger than the fetch window is loaded again. */
static uint64_t loop_step(const struct sl_simulator *sim, uint32_t at)
{
  const struct sl_step *next = &sim->code.steps.data[at];
  uint64_t cost = sim->costs.register_op + sim->costs.branch;
  if (sim->costs.fetch_window && slots_of(sim, next->to, at) > sim->costs.fetch_window)
    cost += sim->costs.fetch_miss;
  return cost;
}

/* A barrier at the end of a loop's body stands at the loop's head in machine code, one place for arrival and all iterations:
 * the counter and the jump back come before it. */
static bool has_barrier_before(const struct sl_simulator *sim, uint32_t at)
{
  const struct sl_step *steps = sim->code.steps.data;
  return steps[at].kind == SL_STEP_NEXT && (steps[at - 1].kind == SL_STEP_BARRIER || steps[at - 1].kind == SL_STEP_BARRIER_RESET);
}

static void charge_step(struct sl_simulator *sim, uint32_t at, uint32_t engine)
{
  struct sl_step *step = &sim->code.steps.data[at];
  const struct sl_kernel *kernel = sim->kernel;
  const struct sl_control_costs *costs = &sim->costs;
  uint64_t cost = 0;
  switch ((enum sl_step_kind)step->kind) {
  case SL_STEP_OP: cost = sim->operations.list[step->a].address_operations * costs->register_op; break;
  case SL_STEP_REGISTER: cost = costs->register_op; break;
  case SL_STEP_LOOP: cost = costs->register_op + (sl_stmt_loop(kernel, step->a)->has_range ? costs->branch : 0); break;
  case SL_STEP_TEST: {
    size_t loop = kernel->stmts.data[step->a].item;
    cost = sl_stmt_loop(kernel, step->a)->while_cond.count * costs->branch +
           sim->operations.head_addresses[loop * sim->engine_count + engine] * costs->register_op;
    break;
  }
  case SL_STEP_NEXT: cost = has_barrier_before(sim, at) ? 0 : loop_step(sim, at); break;
  case SL_STEP_BARRIER:
  case SL_STEP_BARRIER_RESET: cost = has_barrier_before(sim, at + 1) ? loop_step(sim, at + 1) : 0; break;
  case SL_STEP_IF: cost = sl_stmt_branch(kernel, step->a)->cond.count * costs->branch; break;
  case SL_STEP_JUMP: cost = sl_stmt_branch(kernel, step->a)->else_block ? costs->branch : 0; break;
  default: break;
  }
  step->cost = as_cost(cost);
}

static void charge_steps(struct sl_simulator *sim)
{
  for (uint32_t e = 0; e < sim->engine_count; e++) {
    uint32_t end = e + 1 < sim->engine_count ? sim->code.entries.data[e + 1] : sim->code.steps.len;
    for (uint32_t i = sim->code.entries.data[e]; i < end; i++)
      charge_step(sim, i, e);
  }
}

/* ---- entry ---- */

/* The parameters ENGINE_warm_up, ..., if the target has them for the engine. */
static void prepare_warmth(struct sl_simulator *sim, uint32_t e)
{
  const struct sl_stream *stream = &sim->kernel->streams.data[sim->code.presence.engines.data[e]];
  static const char *const endings[] = { "warm_up", "warm_share", "cold_rate" };
  double values[3];
  for (int i = 0; i < 3; i++) {
    sl_buf name;
    sl_buf_init(&name, sim->heap);
    sl_buf_printf(&name, "%s_%s", sim->target->engines.data[stream->engine].name, endings[i]);
    values[i] = sl_target_param(sim->target, sl_buf_text(&name), 0);
  }
  double window = sl_target_param(sim->target, "warm_up", 0) > 0 ? values[0] : 0;
  sl_warmth_init(&sim->engines[e].warmth, sl_ticks_of_ns(sim->target, window), values[1], values[2]);
}

static void prepare_state(struct sl_simulator *sim)
{
  sim->engines = sl_heap_calloc(sim->heap, sim->engine_count + 1u, sizeof *sim->engines);
  for (uint32_t e = 0; e < sim->engine_count; e++)
    prepare_warmth(sim, e);
  sl_engine_states_init(&sim->states, &sim->code, sim->heap);
  sim->result_at = sl_heap_calloc(sim->heap, sim->kernel->stmts.len, sizeof *sim->result_at);
  sim->held_until = sl_heap_calloc(sim->heap, (sim->target->exclusions.len + 1u) * 2 * SL_BANKS, sizeof *sim->held_until);
  sl_buf_init(&sim->iteration, sim->heap);
  sl_buf_init(&sim->text, sim->heap);
  sl_rings_init(&sim->rings, sim->heap, sim->kernel, sim->costs.is_shared);
  sim->streams = sl_heap_calloc(sim->heap, sim->kernel->streams.len + 1u, sizeof *sim->streams);
  for (uint32_t s = 0; s < sim->kernel->streams.len; s++) {
    const struct sl_stream *stream = &sim->kernel->streams.data[s];
    sim->streams[s].name = sl_text(sim->program, stream->name);
    sim->streams[s].is_queue = stream->is_queue;
    sim->streams[s].trigger = stream->trigger;
  }
}

static void set_given_statics(struct sl_simulator *sim, const sl_program *program, struct sl_kernel *kernel)
{
  const struct sl_engine_inputs of_all = { .sim = sim, .engine = UINT32_MAX };
  for (uint32_t i = 0; i < kernel->params.len; i++) {
    const struct sl_param *param = &kernel->params.data[i];
    const sluice_input *input = param->is_static ? find_input(&of_all, sl_text(program, param->name)) : NULL;
    if (input && input->count && !sl_input_is_random(input))
      sl_static_set(kernel, i, input->values[input->count - 1]);
  }
}

/* Dependences that are found are those of the values that the run has: the given ones, else those of the simulated kernel. */
static void choose_statics(struct sl_simulator *sim)
{
  if (sim->giving->is_explicit)
    return;
  set_given_statics(sim, sim->program, sim->kernel);
  set_given_statics(sim, sim->giving_program, sim->giving);
  sl_statics_agree(sim->heap, sim->program, sim->kernel, sim->giving_program, sim->giving);
}

int sl_simulator_check_inputs(struct sl_simulator *sim)
{
  sl_code_init(&sim->code, sim->heap, sim->program, sim->kernel, sim->target);
  return check_inputs(sim);
}

int sl_simulator_init(struct sl_simulator *sim)
{
  sl_code_init(&sim->code, sim->heap, sim->program, sim->kernel, sim->target);
  sim->engine_count = sim->code.presence.engines.len;
  for (uint32_t e = 0; e < sim->engine_count; e++)
    sl_code_compile(&sim->code, (sl_engines)1 << e);
  int status = apply_settings(sim);
  if (status == SLUICE_OK && sim->is_ideal)
    choose_statics(sim);
  if (status == SLUICE_OK && sim->is_ideal)
    status = sl_needs_init(&sim->needs, sim->heap, sim->giving_program, sim->giving, sim->target, sim->report);
  if (status == SLUICE_OK)
    status = check_inputs(sim);
  if (status == SLUICE_OK)
    status = check_event_count(sim);
  if (status == SLUICE_OK)
    status = bind_params(sim, &sim->base, &sim->code, UINT32_MAX);
  if (status != SLUICE_OK)
    return status;
  read_costs(sim);
  sl_operations_init(&sim->operations, sim->heap, sim->program, sim->kernel, sim->target, &sim->code.presence,
                     sim->base.params);
  prepare_state(sim);
  for (uint32_t e = 0; e < sim->engine_count && status == SLUICE_OK; e++)
    status = bind_params(sim, &sim->engines[e].inputs, &sim->code, e);
  if (status == SLUICE_OK && sim->is_ideal)
    status = prepare_needs(sim);
  if (status != SLUICE_OK)
    return status;
  number_counters(sim);
  sl_occupancy_init(&sim->occupancy, sim->heap, &sim->operations, sim->options->trace);
  if (sim->is_ideal)
    drop_synchronization(sim);
  charge_steps(sim);
  return SLUICE_OK;
}
