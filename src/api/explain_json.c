/* explain_json.c: an explanation as JSON; docs/simulator.md has the keys. */
#include "api/explain_parts.h"
#include "base/json.h"

struct writer {
  sl_json_writer json;
  struct sl_explanation *e;
  sl_buf text; /* scratch */
};

static void put_line(struct writer *w, sl_loc loc)
{
  sl_place place = sl_source_place(&w->e->source, loc);
  if (place.line)
    sl_json_put_int(&w->json, "line", place.line);
}

/* An instruction that another one waits for. */
static void put_op(struct writer *w, const char *label_key, const char *stream_key, sl_index stmt)
{
  sl_json_put_text(&w->json, label_key, sl_explain_op_name(w->e, stmt));
  sl_json_put_text(&w->json, stream_key, sl_explain_stream_name(w->e, sl_stmt_op(w->e->kernel, stmt)->stream));
}

static void put_block(struct writer *w, const char *key, sl_index block)
{
  w->text.len = 0;
  sl_explain_put_block(&w->text, w->e, block);
  sl_json_put_text(&w->json, key, sl_buf_text(&w->text));
}

/* ---- dependences ---- */

static void put_buffers(struct writer *w, const struct sl_explained_edge *explained)
{
  static const char *const hazards[] = { [SL_HAZARD_READS_WRITTEN] = "read-after-write",
                                         [SL_HAZARD_OVERWRITES_WRITTEN] = "write-after-write",
                                         [SL_HAZARD_OVERWRITES_READ] = "write-after-read" };
  sl_json_open(&w->json, "buffers", '[', false);
  for (uint32_t i = 0; i < explained->buffers.len; i++) {
    sl_json_open(&w->json, NULL, '{', true);
    sl_json_put_text(&w->json, "name", sl_text(w->e->program, explained->buffers.data[i].buffer));
    sl_json_put_text(&w->json, "hazard", hazards[explained->buffers.data[i].hazard]);
    sl_json_close(&w->json, '}');
  }
  sl_json_close(&w->json, ']');
}

static void put_access(struct writer *w, const char *key, sl_index stmt, uint16_t operand)
{
  w->text.len = 0;
  sl_explain_put_access(&w->text, w->e, stmt, operand);
  if (w->text.len)
    sl_json_put_text(&w->json, key, sl_buf_text(&w->text));
}

/* Leaves the object open. */
static void open_edge(struct writer *w, const struct sl_explained_edge *explained)
{
  const struct sl_edge *edge = explained->edge;
  w->text.len = 0;
  sl_edge_print(&w->text, w->e->program, w->e->kernel, edge);
  sl_json_open(&w->json, NULL, '{', false);
  sl_json_put_text(&w->json, "text", sl_buf_text(&w->text));
  put_line(w, sl_edge_loc(w->e->kernel, edge));
  put_op(w, "producer", "stream", edge->producer);
  put_block(w, "carried_by", edge->block);
  sl_json_put_int(&w->json, "distance", edge->k);
  sl_json_put_bool(&w->json, "across", edge->across);
  if (sl_edge_is_vector(edge)) {
    put_block(w, "inner", edge->inner_block);
    sl_json_put_int(&w->json, "inner_distance", edge->inner_k);
  }
  sl_json_put_text(&w->json, "kind", sl_edge_kind_name((enum sl_edge_kind)edge->kind));
  if (sl_explain_is_found(explained)) {
    put_access(w, "access", edge->consumer, edge->consumer_operand);
    put_access(w, "producer_access", edge->producer, edge->producer_operand);
  }
  put_buffers(w, explained);
}

static void put_implied_by(struct writer *w, const struct sl_reduced *reduced)
{
  sl_json_open(&w->json, reduced->what == SL_REDUCE_SAME ? "same_as" : "implied_by", '[', false);
  for (uint32_t i = 0; i < reduced->count; i++) {
    w->text.len = 0;
    sl_edge_print(&w->text, w->e->program, w->e->kernel,
                  &w->e->edges.data[w->e->reductions.paths.data[reduced->first + i]]);
    sl_json_put_text(&w->json, NULL, sl_buf_text(&w->text));
  }
  sl_json_close(&w->json, ']');
}

static void put_reason(struct writer *w, const struct sl_explained_edge *explained)
{
  sl_json_put_text(&w->json, "ordered_by", explained->is_kept ? "stream" : "others");
  if (!explained->is_kept && sl_explain_is_implied(explained))
    put_implied_by(w, explained->reduced);
}

static void put_edges(struct writer *w, const char *key, const sl_explained_edges *edges, bool with_reason)
{
  sl_json_open(&w->json, key, '[', false);
  for (uint32_t i = 0; i < edges->len; i++) {
    open_edge(w, &edges->data[i]);
    if (with_reason)
      put_reason(w, &edges->data[i]);
    sl_json_close(&w->json, '}');
  }
  sl_json_close(&w->json, ']');
}

/* ---- waits ---- */

static void put_raised_by(struct writer *w, const struct sl_explained_wait *wait)
{
  sl_json_open(&w->json, "raised_by", '[', false);
  for (uint32_t i = 0; i < wait->raised_by.len; i++) {
    sl_json_open(&w->json, NULL, '{', true);
    put_op(w, "label", "stream", wait->raised_by.data[i]);
    sl_json_close(&w->json, '}');
  }
  sl_json_close(&w->json, ']');
}

static void put_code(struct writer *w, const struct sl_explained_wait *wait)
{
  sl_json_open(&w->json, "code", '[', false);
  for (uint32_t i = 0; i < wait->code.len; i++) {
    sl_json_open(&w->json, NULL, '{', false);
    w->text.len = 0;
    sl_print_stmt_head(&w->text, w->e->program, w->e->kernel, wait->code.data[i]);
    sl_json_put_text(&w->json, "text", sl_buf_text(&w->text));
    w->text.len = 0;
    sl_explain_put_position(&w->text, w->e, wait->code.data[i]);
    sl_json_put_text(&w->json, "place", sl_buf_text(&w->text));
    sl_json_close(&w->json, '}');
  }
  sl_json_close(&w->json, ']');
}

static void put_threshold(struct writer *w, const struct sl_explained_wait *wait)
{
  const struct sl_gate *gate = wait->gate;
  if (gate->kind == SL_GATE_EVENT)
    return;
  sl_json_open(&w->json, "threshold", '{', false);
  if (gate->threshold == SL_THRESHOLD_INT) {
    sl_json_put_int(&w->json, "number", gate->value);
  } else {
    const char *name = sl_text(w->e->program, (sl_name)gate->value);
    sl_json_put_text(&w->json, gate->threshold == SL_THRESHOLD_NAME ? "loop_variable" : "register", name);
  }
  if (gate->threshold == SL_THRESHOLD_REG)
    put_code(w, wait);
  sl_json_close(&w->json, '}');
}

static void put_cost(struct writer *w, const sluice_sim_stall *cost)
{
  if (!w->e->options->costs)
    return;
  sl_json_open(&w->json, "cost", '{', true);
  sl_json_put_int(&w->json, "ticks", cost ? (int64_t)cost->ticks : 0);
  sl_json_put_int(&w->json, "longest", cost ? (int64_t)cost->longest : 0);
  sl_json_put_int(&w->json, "count", cost ? (int64_t)cost->count : 0);
  sl_json_close(&w->json, '}');
}

static void put_wait(struct writer *w, const struct sl_explained *instruction, const struct sl_explained_wait *wait)
{
  bool is_event = wait->gate->kind == SL_GATE_EVENT;
  sl_json_open(&w->json, NULL, '{', false);
  sl_json_put_text(&w->json, "text", wait->text);
  sl_json_put_bool(&w->json, "own_slot", wait->slot == instruction->stmt);
  sl_json_put_text(&w->json, is_event ? "event" : "semaphore", sl_text(w->e->program, wait->gate->name));
  put_edges(w, "dependences", &wait->edges, false);
  put_raised_by(w, wait);
  put_threshold(w, wait);
  put_cost(w, wait->cost);
  sl_json_close(&w->json, '}');
}

static void put_instruction(struct writer *w, const struct sl_explained *instruction)
{
  const struct sl_kernel *kernel = w->e->kernel;
  uint32_t engine = sl_issue_stream(kernel, sl_stmt_op(kernel, instruction->stmt)->stream);
  sl_json_open(&w->json, NULL, '{', false);
  put_op(w, "label", "stream", instruction->stmt);
  sl_json_put_text(&w->json, "engine", sl_explain_stream_name(w->e, engine));
  put_block(w, "in", kernel->stmts.data[instruction->stmt].block);
  put_line(w, kernel->stmts.data[instruction->stmt].loc);
  sl_json_open(&w->json, "waits", '[', false);
  for (uint32_t i = 0; i < instruction->waits.len; i++)
    put_wait(w, instruction, &instruction->waits.data[i]);
  sl_json_close(&w->json, ']');
  put_edges(w, "no_wait_for", &instruction->others, true);
  sl_json_close(&w->json, '}');
}

static void put_costs(struct writer *w)
{
  const sluice_explain_options *options = w->e->options;
  if (options->costs) {
    const sluice_sim_summary *summary = sluice_sim_summary_get(options->costs);
    sl_json_put_int(&w->json, "ticks", (int64_t)summary->ticks);
    sl_json_put_real(&w->json, "ticks_per_ns", summary->ticks_per_ns);
  } else if (options->no_costs_because) {
    sl_json_put_text(&w->json, "no_costs_because", options->no_costs_because);
  }
}

void sl_explain_json(sl_buf *out, struct sl_explanation *e)
{
  struct writer w = { .e = e };
  sl_json_writer_init(&w.json, out);
  sl_buf_init(&w.text, out->heap);
  sl_json_open(&w.json, NULL, '{', false);
  sl_json_put_text(&w.json, "schema", "sluice-explain-1");
  sl_json_put_text(&w.json, "sluice", sluice_version());
  sl_json_put_text(&w.json, "file", e->source.name);
  sl_json_put_text(&w.json, "kernel", sl_text(e->program, e->kernel->name));
  sl_json_put_text(&w.json, "target", e->target->name);
  put_costs(&w);
  sl_json_open(&w.json, "instructions", '[', false);
  for (uint32_t i = 0; i < e->instructions.len; i++)
    put_instruction(&w, &e->instructions.data[i]);
  sl_json_close(&w.json, ']');
  sl_json_close(&w.json, '}');
  sl_buf_putc(out, '\n');
}
