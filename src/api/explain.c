/* explain.c: sluice_explain: the waits of one instruction in words.
 *
 * Requires a verified program. Works on a copy whose copies of operations are expanded. A wait belongs to the dependences whose
 * producer updates its semaphore; its threshold is followed backwards through the register operations of the engine.
 */
#include <sluice/explain.h>

#include <assert.h>

#include "deps/deps.h"
#include "ir/ir.h"
#include "target/target.h"

/* A register whose value before a statement is asked for. */
struct question {
  sl_index use;
  sl_name reg;
};

struct explain {
  const sluice_program *input;
  size_t kernel_number;
  const char *label;
  const sluice_targets *targets;
  const sluice_explain_options *options;
  sl_program *program; /* the copy */
  struct sl_kernel *kernel;
  const struct sl_target *target;
  sl_source source; /* where places are */
  sl_heap scratch;
  sl_report report;
  sl_edges edges;
  bool *is_used; /* by statement: register operations that the threshold at hand comes from */
  sl_vec(struct question) questions;
  sl_vec(sl_index) slots; /* of the instruction at hand: those its waits stand on */
  sl_buf out;
  char *text; /* the answer, for the caller */
};

/* ---- words ---- */

static const char *name_text(const struct explain *e, sl_name name)
{
  return sl_text(e->program, name);
}

static const char *op_name(const struct explain *e, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(e->kernel, stmt);
  return name_text(e, op->label ? op->label : op->opcode);
}

static const char *stream_name(const struct explain *e, uint32_t stream)
{
  return name_text(e, e->kernel->streams.data[stream].name);
}

static void put_place(struct explain *e, sl_loc loc)
{
  sl_place place = sl_source_place(&e->source, loc);
  if (place.line)
    sl_buf_printf(&e->out, "%s:%u", e->source.name, place.line);
  else
    sl_buf_puts(&e->out, e->source.name);
}

/* "loop t", "a branch in loop t"; "the kernel" outside of loops. */
static void put_block(struct explain *e, sl_index block)
{
  sl_index owner = e->kernel->blocks.data[block].owner;
  if (owner && e->kernel->stmts.data[owner].kind == SL_STMT_LOOP)
    sl_buf_printf(&e->out, "loop %s", name_text(e, sl_stmt_loop(e->kernel, owner)->var));
  else if (owner) {
    sl_buf_puts(&e->out, "a branch in ");
    put_block(e, sl_block_parent(e->kernel, block));
  } else
    sl_buf_puts(&e->out, "the kernel");
}

static bool is_register_op(const struct explain *e, sl_index stmt)
{
  if (e->kernel->stmts.data[stmt].kind != SL_STMT_OP)
    return false;
  uint8_t op_class = sl_opcode_table[sl_stmt_op(e->kernel, stmt)->code].op_class;
  return op_class == SL_CLASS_REGISTER || op_class == SL_CLASS_LOAD;
}

/* Where a register operation stands, by what follows it. */
static void put_position(struct explain *e, sl_index stmt)
{
  sl_index next = stmt, block = e->kernel->stmts.data[stmt].block;
  while (next && is_register_op(e, next))
    next = e->kernel->stmts.data[next].next;
  if (!next) {
    bool is_root = block == e->kernel->root;
    sl_buf_puts(&e->out, is_root ? "at the end of " : "at the end of the body of ");
    put_block(e, block);
    return;
  }
  switch ((enum sl_stmt_kind)e->kernel->stmts.data[next].kind) {
  case SL_STMT_OP: sl_buf_printf(&e->out, "before `%s` in ", op_name(e, sl_stmt_waiting(e->kernel, next))); break;
  case SL_STMT_LOOP: sl_buf_printf(&e->out, "before loop %s", name_text(e, sl_stmt_loop(e->kernel, next)->var)); return;
  case SL_STMT_IF: sl_buf_puts(&e->out, "before a branch in "); break;
  case SL_STMT_BARRIER:
  case SL_STMT_BARRIER_RESET: sl_buf_puts(&e->out, "before a barrier in "); break;
  case SL_STMT_EPILOGUE: sl_buf_puts(&e->out, "before the epilogue of "); break;
  }
  put_block(e, block);
}

static void put_head(struct explain *e, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(e->kernel, stmt);
  sl_buf_printf(&e->out, "`%s` on %s", op_name(e, stmt), stream_name(e, op->stream));
  if (sl_issue_stream(e->kernel, op->stream) != op->stream)
    sl_buf_printf(&e->out, ", issued by %s", stream_name(e, sl_issue_stream(e->kernel, op->stream)));
  sl_buf_puts(&e->out, ", in ");
  put_block(e, e->kernel->stmts.data[stmt].block);
  sl_buf_puts(&e->out, ", ");
  put_place(e, e->kernel->stmts.data[stmt].loc);
  sl_buf_putc(&e->out, '\n');
}

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

/* What the two ends have in common, a line per buffer. */
static void put_buffers(struct explain *e, const struct sl_edge *edge)
{
  const struct sl_op *from = sl_stmt_op(e->kernel, edge->producer), *to = sl_stmt_op(e->kernel, edge->consumer);
  sl_name seen = 0;
  for (uint32_t i = 0; i < (uint32_t)to->dst_count + to->src_count; i++) {
    const struct sl_operand *operand = &e->kernel->operands.data[to->first_operand + i];
    sl_name name = operand->kind == SL_OPERAND_NAME ? (sl_name)operand->value : 0;
    if (!name || name == seen || !is_buffer(e, name))
      continue;
    unsigned before = touch(e, from, name), after = touch(e, to, name);
    seen = name;
    if (before & WRITES && after & READS)
      sl_buf_printf(&e->out, "     it reads %s, which `%s` writes\n", name_text(e, name), op_name(e, edge->producer));
    else if (before & WRITES && after & WRITES)
      sl_buf_printf(&e->out, "     it overwrites %s, which `%s` writes\n", name_text(e, name),
                    op_name(e, edge->producer));
    else if (before & READS && after & WRITES)
      sl_buf_printf(&e->out, "     it overwrites %s, which `%s` reads\n", name_text(e, name),
                    op_name(e, edge->producer));
  }
}

static void put_edge(struct explain *e, const struct sl_edge *edge)
{
  sl_edge_print(&e->out, e->program, e->kernel, edge);
  sl_buf_puts(&e->out, ", ");
  put_place(e, sl_edge_loc(e->kernel, edge));
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

static bool serves(const struct explain *e, const struct sl_gate *gate, const struct sl_edge *edge)
{
  return gate->kind == SL_GATE_EVENT ? sets(e, edge->producer, gate->name) : updates(e, edge->producer, gate->name);
}

/* Of a vector, how far that visit of the inner loop must be: "up to the iteration of loop j that is 1 ahead of its own"; the
 * visit may have been shorter. */
static void put_inner_distance(struct explain *e, const struct sl_edge *edge)
{
  sl_buf_puts(&e->out, edge->inner_k ? ", there up to the iteration of " : ", there up to the same iteration of ");
  put_block(e, edge->inner_block);
  if (edge->inner_k < 0)
    sl_buf_printf(&e->out, " that is %d ahead of its own", -edge->inner_k);
  else if (edge->inner_k > 0)
    sl_buf_printf(&e->out, " that is %d behind its own", edge->inner_k);
  sl_buf_puts(&e->out, ", or to its last");
}

/* "until ... has retired": the end of the dependence in words. */
static void put_edge_meaning(struct explain *e, const struct sl_edge *edge)
{
  sl_buf_printf(&e->out, "   until `%s` on %s has retired, ", op_name(e, edge->producer),
                stream_name(e, edge->producer_stream));
  if (edge->k == 0)
    sl_buf_puts(&e->out, "the latest before it");
  else
    sl_buf_printf(&e->out, "%u iteration%s before", edge->k, edge->k == 1 ? "" : "s");
  sl_buf_puts(&e->out, edge->across ? ", counted through all visits of " : " in ");
  put_block(e, edge->block);
  if (sl_edge_is_vector(edge))
    put_inner_distance(e, edge);
  sl_buf_puts(&e->out, "\n   dependence ");
  put_edge(e, edge);
  sl_buf_putc(&e->out, '\n');
  put_buffers(e, edge);
}

static void put_dependences(struct explain *e, sl_index stmt, const struct sl_gate *gate)
{
  uint32_t found = 0;
  for (uint32_t i = 0; i < e->edges.len; i++) {
    const struct sl_edge *edge = &e->edges.data[i];
    if (edge->consumer != stmt || !serves(e, gate, edge))
      continue;
    put_edge_meaning(e, edge);
    found++;
  }
  if (!found)
    sl_buf_puts(&e->out,
                "   no dependence line of it names an instruction that raises this: it is there for what comes after "
                "it,\n   or not needed; `sluice check` says which\n");
}

/* ---- semaphores and thresholds ---- */

enum { SHOWN_UPDATES = 8 };

/* Who raises it. */
static void put_updates(struct explain *e, const struct sl_gate *gate)
{
  uint32_t count = 0;
  sl_buf_printf(&e->out, "   %s is raised by", name_text(e, gate->name));
  for (sl_index at = sl_walk_first(e->kernel, e->kernel->root); at; at = sl_walk_next(e->kernel, e->kernel->root, at)) {
    if (e->kernel->stmts.data[at].kind != SL_STMT_OP)
      continue;
    if (!(gate->kind == SL_GATE_EVENT ? sets(e, at, gate->name) : updates(e, at, gate->name)))
      continue;
    if (count++ < SHOWN_UPDATES)
      sl_buf_printf(&e->out, "%s `%s` on %s", count > 1 ? "," : "", op_name(e, at),
                    stream_name(e, sl_stmt_op(e->kernel, at)->stream));
  }
  if (count > SHOWN_UPDATES)
    sl_buf_printf(&e->out, ", and %u more", count - SHOWN_UPDATES);
  sl_buf_puts(&e->out, count ? "\n" : " nothing\n");
}

/* Whether a statement sets a register of an engine. */
static bool sets_register(const struct explain *e, sl_index stmt, uint32_t engine, sl_name reg)
{
  if (!is_register_op(e, stmt))
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

static void put_register_code(struct explain *e, uint32_t engine, sl_index use, sl_name reg)
{
  enum { WIDTH = 42 };
  const struct sl_kernel *kernel = e->kernel;
  bool is_set = false;
  mark_code(e, engine, use, reg);
  sl_buf_printf(&e->out, "   threshold %%%s, which %s computes:\n", name_text(e, reg), stream_name(e, engine));
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (!e->is_used[at])
      continue;
    sl_buf_puts(&e->out, "     ");
    size_t start = e->out.len;
    sl_print_stmt_head(&e->out, e->program, kernel, at);
    size_t width = e->out.len - start;
    sl_buf_fill(&e->out, ' ', width < WIDTH ? WIDTH - width : 1);
    put_position(e, at);
    sl_buf_putc(&e->out, '\n');
    is_set = true;
  }
  if (!is_set)
    sl_buf_puts(&e->out, "     nothing sets it\n");
}

static void put_threshold(struct explain *e, sl_index stmt, const struct sl_gate *gate)
{
  if (gate->kind == SL_GATE_EVENT)
    return;
  if (gate->threshold == SL_THRESHOLD_INT)
    sl_buf_printf(&e->out, "   threshold %lld, a number\n", (long long)gate->value);
  else if (gate->threshold == SL_THRESHOLD_NAME)
    sl_buf_printf(&e->out, "   threshold %s, the loop's variable\n", name_text(e, (sl_name)gate->value));
  else
    put_register_code(e, sl_issue_stream(e->kernel, sl_stmt_op(e->kernel, stmt)->stream), stmt, (sl_name)gate->value);
}

/* ---- costs ---- */

static void put_time(struct explain *e, uint64_t ticks)
{
  double ns = (double)ticks / sluice_sim_summary_get(e->options->costs)->ticks_per_ns;
  if (ns < 9999.5)
    sl_buf_printf(&e->out, "%.1f ns", ns);
  else
    sl_buf_printf(&e->out, "%.2f us", ns / 1e3);
}

static void put_cost(struct explain *e, sl_index stmt, const char *gate)
{
  size_t count, at = 0;
  if (!e->options->costs)
    return;
  const sluice_sim_stall *stalls = sluice_sim_stalls(e->options->costs, &count);
  uint64_t all = sluice_sim_summary_get(e->options->costs)->ticks;
  while (at < count && (strcmp(stalls[at].label, op_name(e, stmt)) != 0 || strcmp(stalls[at].waits_for, gate) != 0))
    at++;
  if (at == count) {
    sl_buf_puts(&e->out, "   cost: never idle here\n");
    return;
  }
  sl_buf_printf(&e->out, "   cost: %s idle ", stalls[at].engine);
  put_time(e, stalls[at].ticks);
  sl_buf_printf(&e->out, " in %llu execution%s, at most ", (unsigned long long)stalls[at].count,
                stalls[at].count == 1 ? "" : "s");
  put_time(e, stalls[at].longest);
  sl_buf_printf(&e->out, " at once; %.1f %% of the latency\n",
                all ? 100 * (double)stalls[at].ticks / (double)all : 0.0);
}

/* ---- one instruction ---- */

/* As the gate is written. */
static const char *gate_text(struct explain *e, const struct sl_gate *gate)
{
  sl_buf buf;
  sl_buf_init(&buf, &e->scratch);
  sl_buf_puts(&buf, name_text(e, gate->name));
  if (gate->event_index) {
    sl_buf_putc(&buf, '[');
    sl_print_expr(&buf, e->program, e->kernel, gate->event_index);
    sl_buf_putc(&buf, ']');
  }
  if (gate->kind == SL_GATE_SEM) {
    sl_buf_puts(&buf, gate->equal ? " == " : " >= ");
    if (gate->threshold == SL_THRESHOLD_INT)
      sl_buf_int(&buf, gate->value);
    else
      sl_buf_printf(&buf, "%s%s", gate->threshold == SL_THRESHOLD_REG ? "%" : "", name_text(e, (sl_name)gate->value));
  }
  return sl_buf_text(&buf);
}

/* The slots that hold the waits of an instruction: wait-only ones before it, in order, and itself. */
static void find_slots(struct explain *e, sl_index stmt)
{
  sl_index first = stmt;
  for (sl_index at = e->kernel->stmts.data[stmt].prev; at && e->kernel->stmts.data[at].kind == SL_STMT_OP;
       at = e->kernel->stmts.data[at].prev)
    if (sl_stmt_waiting(e->kernel, at) == stmt)
      first = at;
  e->slots.len = 0;
  for (sl_index at = first; at != stmt; at = e->kernel->stmts.data[at].next)
    if (sl_stmt_waiting(e->kernel, at) == stmt)
      sl_vec_add(&e->scratch, &e->slots, at);
  sl_vec_add(&e->scratch, &e->slots, stmt);
}

static void put_wait(struct explain *e, sl_index stmt, sl_index slot, uint32_t gate_number, uint32_t number)
{
  const struct sl_gate *gate = &e->kernel->waits.data[gate_number];
  const char *text = gate_text(e, gate);
  sl_buf_printf(&e->out, "%u. wait %s%s\n", number, text, slot == stmt ? "" : ", in a slot before it");
  put_dependences(e, stmt, gate);
  put_updates(e, gate);
  put_threshold(e, slot, gate);
  put_cost(e, stmt, text);
}

/* Instructions of one engine, or of one queue, that the machine keeps in order; an engine stops for what it loads. */
static bool is_kept(const struct explain *e, const struct sl_edge *edge)
{
  const struct sl_op *producer = sl_stmt_op(e->kernel, edge->producer);
  uint32_t from = producer->stream, to = sl_stmt_op(e->kernel, edge->consumer)->stream;
  const struct sl_stream *stream = &e->kernel->streams.data[from];
  if (sl_opcode_table[producer->code].op_class == SL_CLASS_LOAD && from == sl_issue_stream(e->kernel, to))
    return true;
  if (from != to)
    return false;
  return stream->is_queue ? e->target->queue.ordered : e->target->engines.data[stream->engine].interlock;
}

static bool is_served(const struct explain *e, const struct sl_edge *edge)
{
  for (uint32_t s = 0; s < e->slots.len; s++) {
    const struct sl_op *op = sl_stmt_op(e->kernel, e->slots.data[s]);
    for (uint32_t w = 0; w < op->wait_count; w++)
      if (serves(e, &e->kernel->waits.data[op->first_wait + w], edge))
        return true;
  }
  return false;
}

/* The dependences of an instruction that none of its waits is for. */
static void put_others(struct explain *e, sl_index stmt)
{
  for (uint32_t i = 0; i < e->edges.len; i++) {
    const struct sl_edge *edge = &e->edges.data[i];
    if (edge->consumer != stmt || is_served(e, edge))
      continue;
    sl_buf_puts(&e->out, "no wait for ");
    put_edge(e, edge);
    if (is_kept(e, edge))
      sl_buf_printf(&e->out, ": %s keeps its instructions in order\n", stream_name(e, edge->producer_stream));
    else
      sl_buf_puts(&e->out, ": other waits or barriers order it (`sluice check` decides)\n");
  }
}

static void put_instruction(struct explain *e, sl_index stmt)
{
  uint32_t number = 0;
  if (e->out.len)
    sl_buf_putc(&e->out, '\n');
  put_head(e, stmt);
  find_slots(e, stmt);
  for (uint32_t s = 0; s < e->slots.len; s++) {
    const struct sl_op *op = sl_stmt_op(e->kernel, e->slots.data[s]);
    for (uint32_t i = 0; i < op->wait_count; i++)
      put_wait(e, stmt, e->slots.data[s], op->first_wait + i, ++number);
  }
  if (!number)
    sl_buf_puts(&e->out, "it waits for nothing\n");
  put_others(e, stmt);
}

/* The label itself, or a copy of it. */
static bool is_meant(const struct explain *e, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(e->kernel, stmt);
  size_t length = strlen(e->label);
  const char *label = op->label ? name_text(e, op->label) : "";
  return strncmp(label, e->label, length) == 0 && (!label[length] || label[length] == '.');
}

static int report_unknown(struct explain *e)
{
  sl_vec(const char *) known = { 0 };
  for (sl_index at = sl_walk_first(e->kernel, e->kernel->root); at; at = sl_walk_next(e->kernel, e->kernel->root, at))
    if (e->kernel->stmts.data[at].kind == SL_STMT_OP && sl_stmt_op(e->kernel, at)->label)
      sl_vec_add(&e->scratch, &known, name_text(e, sl_stmt_op(e->kernel, at)->label));
  const char *closest = sl_closest(e->label, known.data, known.len);
  sl_report_begin(&e->report, SLUICE_ERROR, SL_RULE_UNDEFINED, SL_NO_LOC,
                  "no instruction of kernel '%s' is called '%s'", name_text(e, e->kernel->name), e->label);
  if (closest)
    sl_report_note(&e->report, SL_NO_LOC, "did you mean '%s'?", closest);
  sl_report_end(&e->report);
  return SLUICE_E_INPUT;
}

/* ---- the call ---- */

static int explain_guarded(void *arg)
{
  struct explain *e = arg;
  uint32_t found = 0;
  sl_program_copy_into(e->program, e->input);
  e->kernel = e->program->kernels.data[e->kernel_number];
  e->target = sl_target_find(e->targets, name_text(e, e->kernel->target));
  assert(e->target && "the program is verified, so its target is known");
  sl_expand_copies(e->program, e->kernel);
  int status = sl_deps_resolve(&e->edges, &e->scratch, e->program, e->kernel, e->target, &e->report);
  if (status != SLUICE_OK)
    return status;
  sl_buf_init(&e->out, &e->scratch);
  e->is_used = sl_heap_calloc(&e->scratch, e->kernel->stmts.len, sizeof *e->is_used);
  for (sl_index at = sl_walk_first(e->kernel, e->kernel->root); at; at = sl_walk_next(e->kernel, e->kernel->root, at)) {
    if (e->kernel->stmts.data[at].kind != SL_STMT_OP || !is_meant(e, at))
      continue;
    put_instruction(e, at);
    found++;
  }
  if (!found)
    return report_unknown(e);
  e->text = sl_buf_export(&e->out);
  return SLUICE_OK;
}

int sluice_explain(char **text, const sluice_program *program, size_t kernel, const char *label,
                   const sluice_targets *targets, const sluice_explain_options *options, const sluice_sink *sink)
{
  assert(text && program && label && targets && options && kernel < program->kernels.len);
  *text = NULL;
  struct explain e = {
    .input = program, .kernel_number = kernel, .label = label, .targets = targets, .options = options
  };
  e.program = sl_program_new(program->source.name, NULL, 0);
  if (!e.program)
    return SLUICE_E_NO_MEMORY;
  sl_heap_init(&e.scratch, &e.program->guard);
  e.source = options->origin ? options->origin->source : program->source; /* a view with a table of lines of its own */
  e.source.heap = &e.scratch;
  memset(&e.source.lines, 0, sizeof e.source.lines);
  sl_report_init(&e.report, &e.scratch, sink, &e.source);
  int status = sl_guard_run(&e.program->guard, explain_guarded, &e);
  *text = e.text;
  sl_heap_free_all(&e.scratch);
  sluice_program_free(e.program);
  return status;
}
