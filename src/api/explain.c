/* explain.c: sluice_explain: what is known of the waits of one instruction; explain_text.c and explain_json.c say it.
 *
 * Requires a verified program. Works on a copy whose copies of operations are expanded. A wait belongs to the dependences whose
 * producer updates its semaphore; its threshold is followed backwards through the register operations of the engine.
 */
#include <assert.h>

#include "api/explain_parts.h"

/* A register whose value before a statement is asked for. */
struct question {
  sl_index use;
  sl_name reg;
};

struct explain {
  const sluice_program *input;
  size_t kernel_number;
  const sluice_targets *targets;
  struct sl_explanation found;
  struct sl_kernel *kernel; /* of what is found */
  sl_heap scratch;
  sl_report report;
  bool *is_used; /* by statement: register operations that the threshold at hand comes from */
  sl_vec(struct question) questions;
  char *text; /* the answer, for the caller */
};

/* ---- dependences ---- */

enum { READS = 1, WRITES = 2 };

/* How an instruction touches a buffer. */
static unsigned touch(const struct explain *e, const struct sl_op *op, sl_name buffer)
{
  unsigned how = 0;
  for (uint32_t i = 0; i < (uint32_t)op->dst_count + op->src_count; i++) {
    const struct sl_operand *operand = &e->kernel->operands.data[op->first_operand + i];
    if (operand->kind != SL_OPERAND_NAME || (sl_name)operand->value != buffer)
      continue;
    how |= i < op->dst_count ? WRITES : READS;
    how |= operand->read_write ? READS | WRITES : 0;
  }
  return how;
}

static bool is_buffer(const struct explain *e, sl_name name)
{
  for (uint32_t i = 1; i < e->kernel->buffers.len; i++)
    if (e->kernel->buffers.data[i].name == name)
      return true;
  return false;
}

/* How the consumer stands to the producer by one buffer; false: neither minds the other. */
static bool find_hazard(enum sl_hazard_kind *hazard, unsigned before, unsigned after)
{
  if (before & WRITES && after & READS)
    *hazard = SL_HAZARD_READS_WRITTEN;
  else if (before & WRITES && after & WRITES)
    *hazard = SL_HAZARD_OVERWRITES_WRITTEN;
  else if (before & READS && after & WRITES)
    *hazard = SL_HAZARD_OVERWRITES_READ;
  else
    return false;
  return true;
}

/* What the two ends have in common. */
static void find_buffers(struct explain *e, struct sl_explained_edge *explained)
{
  const struct sl_op *from = sl_stmt_op(e->kernel, explained->edge->producer);
  const struct sl_op *to = sl_stmt_op(e->kernel, explained->edge->consumer);
  sl_name seen = 0;
  for (uint32_t i = 0; i < (uint32_t)to->dst_count + to->src_count; i++) {
    const struct sl_operand *operand = &e->kernel->operands.data[to->first_operand + i];
    sl_name name = operand->kind == SL_OPERAND_NAME ? (sl_name)operand->value : 0;
    enum sl_hazard_kind hazard;
    if (!name || name == seen || !is_buffer(e, name))
      continue;
    seen = name;
    if (find_hazard(&hazard, touch(e, from, name), touch(e, to, name)))
      sl_vec_add(&e->scratch, &explained->buffers, ((struct sl_shared_buffer){ name, hazard }));
  }
}

static bool updates(const struct explain *e, sl_index stmt, sl_name sem)
{
  const struct sl_op *op = sl_stmt_op(e->kernel, stmt);
  for (uint32_t i = 0; i < op->inc_count; i++)
    if (e->kernel->incs.data[op->first_inc + i].sem == sem)
      return true;
  return false;
}

static bool sets(const struct explain *e, sl_index stmt, sl_name event)
{
  const struct sl_op *op = sl_stmt_op(e->kernel, stmt);
  for (uint32_t i = 0; i < op->set_count; i++)
    if (e->kernel->sets.data[op->first_set + i].event == event)
      return true;
  return false;
}

/* Whether an instruction raises what a gate waits for. */
static bool raises(const struct explain *e, sl_index stmt, const struct sl_gate *gate)
{
  return gate->kind == SL_GATE_EVENT ? sets(e, stmt, gate->name) : updates(e, stmt, gate->name);
}

static void add_edge(struct explain *e, sl_explained_edges *list, uint32_t number)
{
  const struct sl_edge *edge = &e->found.edges.data[number];
  struct sl_explained_edge explained = { .edge = edge,
                                         .is_kept = sl_hardware_orders(e->kernel, e->found.target, edge) };
  if (!e->kernel->is_explicit)
    explained.reduced = &e->found.reductions.edges[number];
  find_buffers(e, &explained);
  sl_vec_add(&e->scratch, list, explained);
}

/* ---- semaphores and thresholds ---- */

static void find_updates(struct explain *e, struct sl_explained_wait *wait)
{
  for (sl_index at = sl_walk_first(e->kernel, e->kernel->root); at; at = sl_walk_next(e->kernel, e->kernel->root, at))
    if (e->kernel->stmts.data[at].kind == SL_STMT_OP && raises(e, at, wait->gate))
      sl_vec_add(&e->scratch, &wait->raised_by, at);
}

/* Whether a statement sets a register of an engine. */
static bool sets_register(const struct explain *e, sl_index stmt, uint32_t engine, sl_name reg)
{
  if (!sl_explain_is_register_op(&e->found, stmt))
    return false;
  const struct sl_op *op = sl_stmt_op(e->kernel, stmt);
  const struct sl_operand *destination = &e->kernel->operands.data[op->first_operand];
  return sl_issue_stream(e->kernel, op->stream) == engine && op->dst_count && destination->kind == SL_OPERAND_REG &&
         (sl_name)destination->value == reg;
}

static bool block_sets(const struct explain *e, sl_index block, uint32_t engine, sl_name reg)
{
  for (sl_index at = sl_walk_first(e->kernel, block); at; at = sl_walk_next(e->kernel, block, at))
    if (sets_register(e, at, engine, reg))
      return true;
  return false;
}

static bool inside_sets(const struct explain *e, sl_index stmt, uint32_t engine, sl_name reg)
{
  if (e->kernel->stmts.data[stmt].kind == SL_STMT_LOOP)
    return block_sets(e, sl_stmt_loop(e->kernel, stmt)->body, engine, reg);
  if (e->kernel->stmts.data[stmt].kind != SL_STMT_IF)
    return false;
  const struct sl_branch *branch = sl_stmt_branch(e->kernel, stmt);
  return block_sets(e, branch->then_block, engine, reg) ||
         (branch->else_block && block_sets(e, branch->else_block, engine, reg));
}

/* The one statement that gives a register the value it has before `use`; 0 when it may be one of several. */
static sl_index only_setter(const struct explain *e, sl_index use, uint32_t engine, sl_name reg)
{
  for (;;) {
    const struct sl_stmt *stmt = sl_stmt_get(e->kernel, use);
    sl_index owner = e->kernel->blocks.data[stmt->block].owner;
    if (stmt->prev) {
      use = stmt->prev;
      if (sets_register(e, use, engine, reg))
        return use;
      if (inside_sets(e, use, engine, reg))
        return SL_NONE;
      continue;
    }
    bool is_loop = owner && e->kernel->stmts.data[owner].kind == SL_STMT_LOOP;
    if (!owner || (is_loop && inside_sets(e, owner, engine, reg)))
      return SL_NONE;
    use = owner;
  }
}

/* Marks a register operation, and asks for what it reads. */
static void mark(struct explain *e, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(e->kernel, stmt);
  if (e->is_used[stmt])
    return;
  e->is_used[stmt] = true;
  for (uint32_t i = 1; i < (uint32_t)op->dst_count + op->src_count; i++) {
    const struct sl_operand *operand = &e->kernel->operands.data[op->first_operand + i];
    if (operand->kind == SL_OPERAND_REG)
      sl_vec_add(&e->scratch, &e->questions, ((struct question){ stmt, (sl_name)operand->value }));
  }
}

/* Marks the register operations that the value of a register before `use` comes from. */
static void mark_code(struct explain *e, uint32_t engine, sl_index use, sl_name reg)
{
  const struct sl_kernel *kernel = e->kernel;
  memset(e->is_used, 0, kernel->stmts.len * sizeof *e->is_used);
  e->questions.len = 0;
  sl_vec_add(&e->scratch, &e->questions, ((struct question){ use, reg }));
  while (e->questions.len) {
    struct question asked = e->questions.data[--e->questions.len];
    sl_index only = only_setter(e, asked.use, engine, asked.reg);
    if (only)
      mark(e, only);
    for (sl_index at = only ? SL_NONE : sl_walk_first(kernel, kernel->root); at;
         at = sl_walk_next(kernel, kernel->root, at))
      if (sets_register(e, at, engine, asked.reg))
        mark(e, at);
  }
}

static void find_code(struct explain *e, struct sl_explained_wait *wait)
{
  const struct sl_kernel *kernel = e->kernel;
  if (wait->gate->kind == SL_GATE_EVENT || wait->gate->threshold != SL_THRESHOLD_REG)
    return;
  uint32_t engine = sl_issue_stream(kernel, sl_stmt_op(kernel, wait->slot)->stream);
  mark_code(e, engine, wait->slot, (sl_name)wait->gate->value);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at))
    if (e->is_used[at])
      sl_vec_add(&e->scratch, &wait->code, at);
}

/* ---- costs ---- */

static const sluice_sim_stall *find_cost(const struct explain *e, sl_index stmt, const char *gate)
{
  size_t count = 0;
  const sluice_sim_result *costs = e->found.options->costs;
  const sluice_sim_stall *stalls = costs ? sluice_sim_stalls(costs, &count) : NULL;
  for (size_t i = 0; i < count; i++)
    if (strcmp(stalls[i].label, sl_explain_op_name(&e->found, stmt)) == 0 && strcmp(stalls[i].waits_for, gate) == 0)
      return &stalls[i];
  return NULL;
}

/* ---- one instruction ---- */

/* As the gate is written. */
static const char *gate_text(struct explain *e, const struct sl_gate *gate)
{
  sl_buf buf;
  sl_buf_init(&buf, &e->scratch);
  sl_buf_puts(&buf, sl_text(e->found.program, gate->name));
  if (gate->event_index) {
    sl_buf_putc(&buf, '[');
    sl_print_expr(&buf, e->found.program, e->kernel, gate->event_index);
    sl_buf_putc(&buf, ']');
  }
  if (gate->kind == SL_GATE_SEM) {
    sl_buf_puts(&buf, gate->equal ? " == " : " >= ");
    if (gate->threshold == SL_THRESHOLD_INT)
      sl_buf_int(&buf, gate->value);
    else
      sl_buf_printf(&buf, "%s%s", gate->threshold == SL_THRESHOLD_REG ? "%" : "",
                    sl_text(e->found.program, (sl_name)gate->value));
  }
  return sl_buf_text(&buf);
}

static void find_wait(struct explain *e, struct sl_explained *instruction, sl_index slot, const struct sl_gate *gate)
{
  struct sl_explained_wait wait = { .gate = gate, .slot = slot, .text = gate_text(e, gate) };
  for (uint32_t i = 0; i < e->found.edges.len; i++) {
    const struct sl_edge *edge = &e->found.edges.data[i];
    if (edge->consumer == instruction->stmt && raises(e, edge->producer, gate))
      add_edge(e, &wait.edges, i);
  }
  find_updates(e, &wait);
  find_code(e, &wait);
  wait.cost = find_cost(e, instruction->stmt, wait.text);
  sl_vec_add(&e->scratch, &instruction->waits, wait);
}

/* The dependences of an instruction that none of its waits is for. */
static void find_others(struct explain *e, struct sl_explained *instruction)
{
  for (uint32_t i = 0; i < e->found.edges.len; i++) {
    const struct sl_edge *edge = &e->found.edges.data[i];
    bool is_served = edge->consumer != instruction->stmt;
    for (uint32_t w = 0; w < instruction->waits.len && !is_served; w++)
      is_served = raises(e, edge->producer, instruction->waits.data[w].gate);
    if (!is_served)
      add_edge(e, &instruction->others, i);
  }
}

static void find_waits_of_slot(struct explain *e, struct sl_explained *instruction, sl_index slot)
{
  const struct sl_op *op = sl_stmt_op(e->kernel, slot);
  for (uint32_t i = 0; i < op->wait_count; i++)
    find_wait(e, instruction, slot, &e->kernel->waits.data[op->first_wait + i]);
}

/* The first of the slots that hold the waits of an instruction: a wait-only one before it, or itself. */
static sl_index first_slot(const struct explain *e, sl_index stmt)
{
  const struct sl_stmt *stmts = e->kernel->stmts.data;
  sl_index first = stmt;
  for (sl_index at = stmts[stmt].prev; at && stmts[at].kind == SL_STMT_OP; at = stmts[at].prev)
    if (sl_stmt_waiting(e->kernel, at) == stmt)
      first = at;
  return first;
}

static void find_instruction(struct explain *e, sl_index stmt)
{
  struct sl_explained instruction = { .stmt = stmt };
  for (sl_index at = first_slot(e, stmt); at != stmt; at = e->kernel->stmts.data[at].next)
    if (sl_stmt_waiting(e->kernel, at) == stmt)
      find_waits_of_slot(e, &instruction, at);
  find_waits_of_slot(e, &instruction, stmt);
  find_others(e, &instruction);
  sl_vec_add(&e->scratch, &e->found.instructions, instruction);
}

/* The label itself, or a copy of it. */
static bool is_meant(const struct explain *e, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(e->kernel, stmt);
  size_t length = strlen(e->found.label);
  const char *label = op->label ? sl_text(e->found.program, op->label) : "";
  return strncmp(label, e->found.label, length) == 0 && (!label[length] || label[length] == '.');
}

static int report_unknown(struct explain *e)
{
  sl_vec(const char *) known = { 0 };
  for (sl_index at = sl_walk_first(e->kernel, e->kernel->root); at; at = sl_walk_next(e->kernel, e->kernel->root, at))
    if (e->kernel->stmts.data[at].kind == SL_STMT_OP && sl_stmt_op(e->kernel, at)->label)
      sl_vec_add(&e->scratch, &known, sl_text(e->found.program, sl_stmt_op(e->kernel, at)->label));
  const char *closest = sl_closest(e->found.label, known.data, known.len);
  sl_report_begin(&e->report, SLUICE_ERROR, SL_RULE_UNDEFINED, SL_NO_LOC,
                  "no instruction of kernel '%s' is called '%s'", sl_text(e->found.program, e->kernel->name),
                  e->found.label);
  if (closest)
    sl_report_note(&e->report, SL_NO_LOC, "did you mean '%s'?", closest);
  sl_report_end(&e->report);
  return SLUICE_E_INPUT;
}

/* ---- the call ---- */

static int find_all(struct explain *e)
{
  sl_program *program = e->found.program;
  sl_program_copy_into(program, e->input);
  e->kernel = e->found.kernel = program->kernels.data[e->kernel_number];
  e->found.target = sl_target_find(e->targets, sl_text(program, e->kernel->target));
  assert(e->found.target && "the program is verified, so its target is known");
  sl_expand_copies(program, e->kernel);
  int status = sl_deps_resolve(&e->found.edges, &e->scratch, program, e->kernel, e->found.target, &e->report);
  if (status != SLUICE_OK)
    return status;
  if (!e->kernel->is_explicit)
    sl_deps_reduce(&e->found.reductions, &e->scratch, program, e->kernel, e->found.target, &e->found.edges);
  e->is_used = sl_heap_calloc(&e->scratch, e->kernel->stmts.len, sizeof *e->is_used);
  for (sl_index at = sl_walk_first(e->kernel, e->kernel->root); at; at = sl_walk_next(e->kernel, e->kernel->root, at))
    if (e->kernel->stmts.data[at].kind == SL_STMT_OP && is_meant(e, at))
      find_instruction(e, at);
  return e->found.instructions.len ? SLUICE_OK : report_unknown(e);
}

static int explain_guarded(void *arg)
{
  struct explain *e = arg;
  sl_buf out;
  int status = find_all(e);
  if (status != SLUICE_OK)
    return status;
  sl_buf_init(&out, &e->scratch);
  if (e->found.options->as_json)
    sl_explain_json(&out, &e->found);
  else
    sl_explain_text(&out, &e->found);
  e->text = sl_buf_export(&out);
  return SLUICE_OK;
}

int sluice_explain(char **text, const sluice_program *program, size_t kernel, const char *label,
                   const sluice_targets *targets, const sluice_explain_options *options, const sluice_sink *sink)
{
  assert(text && program && label && targets && options && kernel < program->kernels.len);
  *text = NULL;
  struct explain e = { .input = program, .kernel_number = kernel, .targets = targets };
  e.found.label = label;
  e.found.options = options;
  e.found.program = sl_program_new(program->source.name, NULL, 0);
  if (!e.found.program)
    return SLUICE_E_NO_MEMORY;
  sl_heap_init(&e.scratch, &e.found.program->guard);
  sl_source *source = &e.found.source; /* a view with a table of lines of its own */
  *source = options->origin ? options->origin->source : program->source;
  source->heap = &e.scratch;
  memset(&source->lines, 0, sizeof source->lines);
  sl_report_init(&e.report, &e.scratch, sink, source);
  int status = sl_guard_run(&e.found.program->guard, explain_guarded, &e);
  *text = e.text;
  sl_heap_free_all(&e.scratch);
  sluice_program_free(e.found.program);
  return status;
}
