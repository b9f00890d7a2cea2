/* explain_text.c: an explanation in words. */
#include <assert.h>

#include "api/explain_parts.h"
#include "deps/ordered.h"

/* ---- words ---- */

const char *sl_explain_op_name(const struct sl_explanation *e, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(e->kernel, stmt);
  return sl_text(e->program, op->label ? op->label : op->opcode);
}

const char *sl_explain_stream_name(const struct sl_explanation *e, uint32_t stream)
{
  return sl_text(e->program, e->kernel->streams.data[stream].name);
}

bool sl_explain_is_register_op(const struct sl_explanation *e, sl_index stmt)
{
  if (e->kernel->stmts.data[stmt].kind != SL_STMT_OP)
    return false;
  uint8_t op_class = sl_opcode_table[sl_stmt_op(e->kernel, stmt)->code].op_class;
  return op_class == SL_CLASS_REGISTER || op_class == SL_CLASS_LOAD;
}

void sl_explain_put_block(sl_buf *out, const struct sl_explanation *e, sl_index block)
{
  sl_index owner = e->kernel->blocks.data[block].owner;
  if (owner && e->kernel->stmts.data[owner].kind == SL_STMT_LOOP)
    sl_buf_printf(out, "loop %s", sl_text(e->program, sl_stmt_loop(e->kernel, owner)->var));
  else if (owner) {
    sl_buf_puts(out, "a branch in ");
    sl_explain_put_block(out, e, sl_block_parent(e->kernel, block));
  } else
    sl_buf_puts(out, "the kernel");
}

void sl_explain_put_position(sl_buf *out, const struct sl_explanation *e, sl_index stmt)
{
  sl_index next = stmt, block = e->kernel->stmts.data[stmt].block;
  while (next && sl_explain_is_register_op(e, next))
    next = e->kernel->stmts.data[next].next;
  if (!next) {
    bool is_root = block == e->kernel->root;
    sl_buf_puts(out, is_root ? "at the end of " : "at the end of the body of ");
    sl_explain_put_block(out, e, block);
    return;
  }
  switch ((enum sl_stmt_kind)e->kernel->stmts.data[next].kind) {
  case SL_STMT_OP: sl_buf_printf(out, "before `%s` in ", sl_explain_op_name(e, sl_stmt_waiting(e->kernel, next))); break;
  case SL_STMT_LOOP:
    sl_buf_printf(out, "before loop %s", sl_text(e->program, sl_stmt_loop(e->kernel, next)->var));
    return;
  case SL_STMT_IF: sl_buf_puts(out, "before a branch in "); break;
  case SL_STMT_BARRIER:
  case SL_STMT_BARRIER_RESET: sl_buf_puts(out, "before a barrier in "); break;
  case SL_STMT_EPILOGUE: sl_buf_puts(out, "before the epilogue of "); break;
  }
  sl_explain_put_block(out, e, block);
}

void sl_explain_put_access(sl_buf *out, const struct sl_explanation *e, sl_index stmt, uint16_t operand)
{
  if (operand != SL_NO_OPERAND)
    sl_print_operand(out, e->program, e->kernel,
                     &e->kernel->operands.data[sl_stmt_op(e->kernel, stmt)->first_operand + operand]);
}

static void put_place(sl_buf *out, struct sl_explanation *e, sl_loc loc)
{
  sl_place place = sl_source_place(&e->source, loc);
  if (place.line)
    sl_buf_printf(out, "%s:%u", e->source.name, place.line);
  else
    sl_buf_puts(out, e->source.name);
}

static void put_head(sl_buf *out, struct sl_explanation *e, sl_index stmt)
{
  uint32_t stream = sl_stmt_op(e->kernel, stmt)->stream, issuer = sl_issue_stream(e->kernel, stream);
  sl_buf_printf(out, "`%s` on %s", sl_explain_op_name(e, stmt), sl_explain_stream_name(e, stream));
  if (issuer != stream)
    sl_buf_printf(out, ", issued by %s", sl_explain_stream_name(e, issuer));
  sl_buf_puts(out, ", in ");
  sl_explain_put_block(out, e, e->kernel->stmts.data[stmt].block);
  sl_buf_puts(out, ", ");
  put_place(out, e, e->kernel->stmts.data[stmt].loc);
  sl_buf_putc(out, '\n');
}

/* ---- dependences ---- */

static void put_buffers(sl_buf *out, const struct sl_explanation *e, const struct sl_explained_edge *explained)
{
  static const char *const words[][2] = { [SL_HAZARD_READS_WRITTEN] = { "reads", "writes" },
                                          [SL_HAZARD_OVERWRITES_WRITTEN] = { "overwrites", "writes" },
                                          [SL_HAZARD_OVERWRITES_READ] = { "overwrites", "reads" } };
  for (uint32_t i = 0; i < explained->buffers.len; i++) {
    const struct sl_shared_buffer *shared = &explained->buffers.data[i];
    sl_buf_printf(out, "     it %s %s, which `%s` %s\n", words[shared->hazard][0], sl_text(e->program, shared->buffer),
                  sl_explain_op_name(e, explained->edge->producer), words[shared->hazard][1]);
  }
}

/* The two accesses that a dependence was found between. */
static void put_accesses(sl_buf *out, const struct sl_explanation *e, const struct sl_edge *edge)
{
  static const char *const words[][2] = { /* by kind, of consumer and producer */
    [SL_EDGE_FLOW] = { "it reads", "writes" },       [SL_EDGE_ANTI] = { "it overwrites", "reads" },
    [SL_EDGE_OUTPUT] = { "it overwrites", "writes" }, [SL_EDGE_ORDERED] = { "it uses the value in", "loads" },
    [SL_EDGE_INDEX] = { "it goes where it reads in", "writes" },
  };
  sl_buf_printf(out, "     %s: %s ", sl_edge_kind_name((enum sl_edge_kind)edge->kind), words[edge->kind][0]);
  bool is_named = edge->consumer_operand != SL_NO_OPERAND;
  sl_explain_put_access(out, e, is_named ? edge->consumer : edge->producer,
                        is_named ? edge->consumer_operand : edge->producer_operand);
  sl_buf_printf(out, ", `%s` %s ", sl_explain_op_name(e, edge->producer), words[edge->kind][1]);
  sl_explain_put_access(out, e, edge->producer, edge->producer_operand);
  sl_buf_putc(out, '\n');
}

/* "ld -> ex (i: 2), k.slu:12"; what was found has no line of its own. */
static void put_edge(sl_buf *out, struct sl_explanation *e, const struct sl_explained_edge *explained)
{
  sl_edge_print(out, e->program, e->kernel, explained->edge);
  if (sl_explain_is_found(explained))
    return;
  sl_buf_puts(out, ", ");
  put_place(out, e, sl_edge_loc(e->kernel, explained->edge));
}

/* Of a vector, how far that visit of the inner loop must be: "up to the iteration of loop j that is 1 ahead of its own"; the
 * visit may have been shorter. */
static void put_inner_distance(sl_buf *out, const struct sl_explanation *e, const struct sl_edge *edge)
{
  sl_buf_puts(out, edge->inner_k ? ", there up to the iteration of " : ", there up to the same iteration of ");
  sl_explain_put_block(out, e, edge->inner_block);
  if (edge->inner_k < 0)
    sl_buf_printf(out, " that is %d ahead of its own", -edge->inner_k);
  else if (edge->inner_k > 0)
    sl_buf_printf(out, " that is %d behind its own", edge->inner_k);
  sl_buf_puts(out, ", or to its last");
}

/* "until ... has retired": the end of the dependence in words. */
static void put_edge_meaning(sl_buf *out, struct sl_explanation *e, const struct sl_explained_edge *explained)
{
  const struct sl_edge *edge = explained->edge;
  sl_buf_printf(out, "   until `%s` on %s has retired, ", sl_explain_op_name(e, edge->producer),
                sl_explain_stream_name(e, edge->producer_stream));
  if (edge->k == 0)
    sl_buf_puts(out, "the latest before it");
  else
    sl_buf_printf(out, "%u iteration%s before", edge->k, edge->k == 1 ? "" : "s");
  sl_buf_puts(out, edge->across ? ", counted through all visits of " : " in ");
  sl_explain_put_block(out, e, edge->block);
  if (sl_edge_is_vector(edge))
    put_inner_distance(out, e, edge);
  sl_buf_puts(out, sl_explain_is_found(explained) ? "\n   dependence found: " : "\n   dependence ");
  put_edge(out, e, explained);
  sl_buf_putc(out, '\n');
  if (sl_explain_is_found(explained))
    put_accesses(out, e, edge);
  else
    put_buffers(out, e, explained);
}

/* The dependences that imply one. */
static void put_path(sl_buf *out, const struct sl_explanation *e, const struct sl_reduced *reduced)
{
  for (uint32_t i = 0; i < reduced->count; i++) {
    sl_buf_puts(out, i ? ", " : "");
    sl_edge_print(out, e->program, e->kernel, &e->edges.data[e->reductions.paths.data[reduced->first + i]]);
  }
  sl_buf_puts(out, reduced->count ? "\n" : "the order of the streams\n");
}

static void put_others(sl_buf *out, struct sl_explanation *e, const struct sl_explained *instruction)
{
  for (uint32_t i = 0; i < instruction->others.len; i++) {
    const struct sl_explained_edge *other = &instruction->others.data[i];
    sl_buf_puts(out, "no wait for ");
    put_edge(out, e, other);
    if (other->is_kept) {
      sl_buf_printf(out, ": %s keeps its instructions in order\n",
                    sl_explain_stream_name(e, other->edge->producer_stream));
    } else if (sl_explain_is_implied(other)) {
      sl_buf_puts(out, other->reduced->what == SL_REDUCE_SAME ? ": it says no more than " : ": implied by ");
      put_path(out, e, other->reduced);
    } else {
      sl_buf_puts(out, ": other waits or barriers order it (`sluice check` decides)\n");
    }
  }
}

/* ---- waits ---- */

/* Who raises it. */
static void put_updates(sl_buf *out, const struct sl_explanation *e, const struct sl_explained_wait *wait)
{
  enum { SHOWN = 8 };
  uint32_t count = wait->raised_by.len;
  sl_buf_printf(out, "   %s is raised by", sl_text(e->program, wait->gate->name));
  for (uint32_t i = 0; i < count && i < SHOWN; i++) {
    sl_index at = wait->raised_by.data[i];
    sl_buf_printf(out, "%s `%s` on %s", i ? "," : "", sl_explain_op_name(e, at),
                  sl_explain_stream_name(e, sl_stmt_op(e->kernel, at)->stream));
  }
  if (count > SHOWN)
    sl_buf_printf(out, ", and %u more", count - SHOWN);
  sl_buf_puts(out, count ? "\n" : " nothing\n");
}

static void put_register_code(sl_buf *out, const struct sl_explanation *e, sl_index stmt,
                              const struct sl_explained_wait *wait)
{
  enum { WIDTH = 42 };
  uint32_t engine = sl_issue_stream(e->kernel, sl_stmt_op(e->kernel, stmt)->stream);
  sl_buf_printf(out, "   threshold %%%s, which %s computes:\n", sl_text(e->program, (sl_name)wait->gate->value),
                sl_explain_stream_name(e, engine));
  for (uint32_t i = 0; i < wait->code.len; i++) {
    sl_buf_puts(out, "     ");
    size_t start = out->len;
    sl_print_stmt_head(out, e->program, e->kernel, wait->code.data[i]);
    size_t width = out->len - start;
    sl_buf_fill(out, ' ', width < WIDTH ? WIDTH - width : 1);
    sl_explain_put_position(out, e, wait->code.data[i]);
    sl_buf_putc(out, '\n');
  }
  if (!wait->code.len)
    sl_buf_puts(out, "     nothing sets it\n");
}

static void put_threshold(sl_buf *out, const struct sl_explanation *e, sl_index stmt,
                          const struct sl_explained_wait *wait)
{
  const struct sl_gate *gate = wait->gate;
  if (gate->kind == SL_GATE_EVENT)
    return;
  if (gate->threshold == SL_THRESHOLD_INT)
    sl_buf_printf(out, "   threshold %lld, a number\n", (long long)gate->value);
  else if (gate->threshold == SL_THRESHOLD_NAME)
    sl_buf_printf(out, "   threshold %s, the loop's variable\n", sl_text(e->program, (sl_name)gate->value));
  else
    put_register_code(out, e, stmt, wait);
}

static void put_time(sl_buf *out, const struct sl_explanation *e, uint64_t ticks)
{
  double ns = (double)ticks / sluice_sim_summary_get(e->options->costs)->ticks_per_ns;
  if (ns < 9999.5)
    sl_buf_printf(out, "%.1f ns", ns);
  else
    sl_buf_printf(out, "%.2f us", ns / 1e3);
}

static void put_cost(sl_buf *out, const struct sl_explanation *e, const sluice_sim_stall *cost)
{
  if (!e->options->costs)
    return;
  if (!cost) {
    sl_buf_puts(out, "   cost: never idle here\n");
    return;
  }
  uint64_t all = sluice_sim_summary_get(e->options->costs)->ticks;
  sl_buf_printf(out, "   cost: %s idle ", cost->engine);
  put_time(out, e, cost->ticks);
  sl_buf_printf(out, " in %llu execution%s, at most ", (unsigned long long)cost->count, cost->count == 1 ? "" : "s");
  put_time(out, e, cost->longest);
  sl_buf_printf(out, " at once; %.1f %% of the latency\n", all ? 100 * (double)cost->ticks / (double)all : 0.0);
}

static void put_wait(sl_buf *out, struct sl_explanation *e, const struct sl_explained *instruction, uint32_t number)
{
  const struct sl_explained_wait *wait = &instruction->waits.data[number];
  sl_buf_printf(out, "%u. wait %s%s\n", number + 1, wait->text,
                wait->slot == instruction->stmt ? "" : ", in a slot before it");
  for (uint32_t i = 0; i < wait->edges.len; i++)
    put_edge_meaning(out, e, &wait->edges.data[i]);
  if (!wait->edges.len)
    sl_buf_puts(out,
                "   no dependence of it is on an instruction that raises this: it is there for what comes after "
                "it,\n   or not needed; `sluice check` says which\n");
  put_updates(out, e, wait);
  put_threshold(out, e, instruction->stmt, wait);
  put_cost(out, e, wait->cost);
}

void sl_explain_text(sl_buf *out, struct sl_explanation *e)
{
  for (uint32_t n = 0; n < e->instructions.len; n++) {
    const struct sl_explained *instruction = &e->instructions.data[n];
    sl_buf_puts(out, n ? "\n" : "");
    put_head(out, e, instruction->stmt);
    for (uint32_t i = 0; i < instruction->waits.len; i++)
      put_wait(out, e, instruction, i);
    if (!instruction->waits.len)
      sl_buf_puts(out, "it waits for nothing\n");
    put_others(out, e, instruction);
  }
  if (!e->options->costs && e->options->no_costs_because)
    sl_buf_printf(out, "costs are not known: %s\n", e->options->no_costs_because);
}
