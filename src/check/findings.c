/* findings.c: see findings.h. */
#include "check/findings.h"

#include <assert.h>

#include "ir/ir.h"

struct writer {
  struct sl_finding_context *context;
  sl_index stmt; /* what the finding is about, in the checked kernel; 0 = none */
  sl_vec(const char *) notes;
  sl_vec(uint32_t) lines;
  sl_vec(uint32_t) columns;
  sl_vec(sluice_diag) diags; /* the notes once more, as messages */
};

static const char *keep(struct sl_finding_context *context, sl_buf *buf)
{
  return sl_heap_strndup(context->heap, sl_buf_text(buf), buf->len);
}

__attribute__((format(printf, 2, 0))) static const char *keep_formatted(struct sl_finding_context *context,
                                                                         const char *format, va_list args)
{
  sl_buf buf;
  sl_buf_init(&buf, context->heap);
  sl_buf_vprintf(&buf, format, args);
  return keep(context, &buf);
}

/* A message at a place; without one when the source is NULL. */
static sluice_diag message(struct sl_finding_context *context, sl_source *source, sl_loc loc, enum sluice_severity severity,
                           const char *rule, const char *text)
{
  sluice_diag diag = { .severity = severity, .rule = rule, .file = context->own_source->name, .text = text };
  if (!source)
    return diag;
  sl_place place = sl_source_place(source, loc);
  diag.file = source->name;
  diag.line = place.line;
  diag.column = place.column;
  diag.source_line = sl_source_line(source, context->heap, place.line);
  return diag;
}

__attribute__((format(printf, 4, 5))) static void note(struct writer *w, sl_source *source, sl_loc loc, const char *format, ...)
{
  struct sl_finding_context *context = w->context;
  va_list args;
  va_start(args, format);
  sluice_diag diag = message(context, source, loc, SLUICE_NOTE, "", keep_formatted(context, format, args));
  va_end(args);
  sl_vec_add(context->heap, &w->notes, diag.text);
  sl_vec_add(context->heap, &w->lines, diag.line);
  sl_vec_add(context->heap, &w->columns, diag.column);
  sl_vec_add(context->heap, &w->diags, diag);
}

/* The place in another tool's file that the statement came from, if it did. */
static void set_origin(const struct writer *w, sluice_diag *diag)
{
  const struct sl_machine_code *code = &w->context->machine->code;
  sl_origin from = w->stmt ? sl_stmt_origin(code->program, code->kernel, w->stmt) : (sl_origin){ NULL, 0, 0 };
  if (!from.file)
    return;
  diag->origin_file = sl_heap_strndup(w->context->heap, from.file, strlen(from.file));
  diag->origin_line = from.line;
  diag->origin_column = from.column;
}

/* Adds a finding with the notes collected so far. */
__attribute__((format(printf, 5, 6))) static void add(struct writer *w, enum sluice_severity severity, const char *rule,
                                                      sl_loc loc, const char *format, ...)
{
  struct sl_finding_context *context = w->context;
  va_list args;
  va_start(args, format);
  sluice_diag *diag = sl_heap_alloc(context->heap, sizeof *diag);
  *diag = message(context, context->own_source, loc, severity, rule, keep_formatted(context, format, args));
  va_end(args);
  set_origin(w, diag);
  diag->notes = w->diags.data;
  diag->note_count = w->diags.len;
  sluice_finding finding = { .severity = severity, .rule = rule, .kernel = context->kernel, .text = diag->text,
                             .line = diag->line, .column = diag->column, .notes = w->notes.data,
                             .note_lines = w->lines.data, .note_columns = w->columns.data, .note_count = w->notes.len,
                             .diag = diag };
  sl_vec_add(context->heap, &context->findings->list, finding);
  if (severity == SLUICE_ERROR)
    context->findings->errors++;
}

/* Whether this kind of finding at this place is new. */
static bool is_new(struct sl_finding_context *context, enum sl_run_status status, uint32_t place, uint32_t detail)
{
  bool new_here;
  uint64_t key = (uint64_t)status << 58 | (uint64_t)(place & 0x1fffffff) << 29 | (detail & 0x1fffffff);
  (void)sl_map_put(&context->findings->seen, context->heap, key, &new_here);
  return new_here;
}

/* ---- names ---- */

static sl_loc loc_of(const struct sl_finding_context *context, sl_index stmt)
{
  return stmt ? context->machine->code.kernel->stmts.data[stmt].loc : SL_NO_LOC;
}

/* An instruction as messages name it: by label, else as it is written. */
static const char *name_of(struct sl_finding_context *context, const struct sl_machine_code *code, sl_index stmt)
{
  const struct sl_kernel *kernel = code->kernel;
  sl_buf buf;
  sl_buf_init(&buf, context->heap);
  if (stmt && kernel->stmts.data[stmt].kind == SL_STMT_OP && sl_stmt_op(kernel, stmt)->label)
    sl_buf_puts(&buf, sl_text(code->program, sl_stmt_op(kernel, stmt)->label));
  else if (stmt)
    sl_print_stmt_head(&buf, code->program, kernel, stmt);
  else
    sl_buf_puts(&buf, "its end");
  return keep(context, &buf);
}

static const char *stream_name(const struct sl_machine_code *code, uint32_t stream)
{
  return sl_text(code->program, code->kernel->streams.data[stream].name);
}

static const char *engine_name(const struct sl_machine *machine, uint32_t engine)
{
  return stream_name(&machine->code, machine->code.presence.engines.data[engine]);
}

static void note_run(struct writer *w)
{
  sl_buf buf;
  sl_buf_init(&buf, w->context->heap);
  sl_print_row(&buf, w->context->choices, w->context->row);
  if (buf.len)
    note(w, NULL, SL_NO_LOC, "in the run with %s", sl_buf_text(&buf));
  else
    note(w, NULL, SL_NO_LOC, "in the only run");
}

static const char *at_iteration(struct sl_finding_context *context, const char *iteration)
{
  sl_buf buf;
  sl_buf_init(&buf, context->heap);
  if (iteration[0])
    sl_buf_printf(&buf, " at %s", iteration);
  return keep(context, &buf);
}

/* ---- races ---- */

/* " at i = 2" of the consumer. */
static const char *consumer_iteration(struct sl_finding_context *context, const struct sl_witness *witness)
{
  sl_buf iteration;
  sl_buf_init(&iteration, context->heap);
  if (!witness->instance)
    return at_iteration(context, witness->iteration);
  sl_reference_iteration(context->reference, context->heap, &context->inputs->inputs,
                         context->machine->reference_engine[witness->engine], witness->instance, &iteration);
  return at_iteration(context, sl_buf_text(&iteration));
}

static void note_dependence(struct writer *w, const struct sl_need *need)
{
  const struct sl_finding_context *context = w->context;
  const struct sl_machine_code *code = &context->reference->code;
  sl_buf dep;
  sl_buf_init(&dep, context->heap);
  sl_edge_print(&dep, code->program, code->kernel, &need->edge);
  note(w, context->other_source, sl_edge_loc(code->kernel, &need->edge), "dependence %s", sl_buf_text(&dep));
}

static void add_race(struct sl_finding_context *context)
{
  const struct sl_witness witness = context->machine->witness;
  if (!is_new(context, SL_RUN_RACE, witness.stmt, witness.need))
    return;
  struct writer w = { .context = context, .stmt = witness.stmt };
  struct sl_reference *reference = context->reference;
  const struct sl_need *need = &reference->needs.data[witness.need];
  const char *consumer = name_of(context, &context->machine->code, witness.stmt);
  const char *producer = name_of(context, &reference->code, need->edge.producer);
  sl_buf iteration;
  sl_buf_init(&iteration, context->heap);
  const char *stream = stream_name(&reference->code, witness.stream);
  sl_index late = sl_reference_locate(reference, context->heap, &context->inputs->inputs, witness.stream, witness.position,
                                      &iteration);
  note_dependence(&w, need);
  note(&w, context->other_source, reference->code.kernel->stmts.data[need->edge.producer].loc,
       "it needs everything on %s up to '%s'%s (number %u of the awaited instructions there)", stream,
       name_of(context, &reference->code, late ? late : need->edge.producer), at_iteration(context, sl_buf_text(&iteration)),
       witness.position);
  note(&w, NULL, SL_NO_LOC, "when it issues, %s is known to have retired %u of them", stream, witness.seen);
  note_run(&w);
  add(&w, SLUICE_ERROR, "race", loc_of(context, witness.stmt), "'%s'%s on %s may issue before '%s' on %s has retired", consumer,
      consumer_iteration(context, &witness), engine_name(context->machine, witness.engine), producer, stream);
}

/* ---- deadlocks ---- */

static void note_gate(struct writer *w, uint32_t engine, sl_index stmt, const struct sl_gate *gate)
{
  struct sl_machine *machine = w->context->machine;
  const sl_program *program = machine->code.program;
  const char *who = engine_name(machine, engine), *name = name_of(w->context, &machine->code, stmt);
  sl_loc loc = gate->loc ? gate->loc : loc_of(w->context, stmt);
  if (gate->kind == SL_GATE_EVENT) {
    note(w, w->context->own_source, loc, "%s stands at '%s' and waits for event %s", who, name, sl_text(program, gate->name));
    return;
  }
  const struct sl_sem_state *sem = &machine->sems[machine->sem_of[gate->name]];
  note(w, w->context->own_source, loc, "%s stands at '%s' and waits for %s %s %u; it is %u", who, name,
       sl_text(program, gate->name), gate->equal ? "==" : ">=",
       sl_thread_threshold(&machine->engines[engine].thread, engine, gate), sem->value);
}

static bool gate_is_open(const struct sl_machine *machine, uint32_t engine, const struct sl_gate *gate)
{
  if (gate->kind == SL_GATE_EVENT)
    return false;
  const struct sl_sem_state *sem = &machine->sems[machine->sem_of[gate->name]];
  uint32_t threshold = sl_thread_threshold(&machine->engines[engine].thread, engine, gate);
  return gate->equal ? sem->value == threshold : sem->value >= threshold;
}

/* Every engine that stopped, and what each waits for: who follows the semaphores finds the cycle. */
static void note_stopped(struct writer *w)
{
  struct sl_machine *machine = w->context->machine;
  const struct sl_kernel *kernel = machine->code.kernel;
  for (uint32_t e = 0; e < machine->code.presence.engines.len; e++) {
    const struct sl_machine_engine *engine = &machine->engines[e];
    if (engine->finished || !engine->step)
      continue;
    if (engine->at_barrier) {
      note(w, w->context->own_source, loc_of(w->context, engine->step->a), "%s has arrived at a barrier",
           engine_name(machine, e));
      continue;
    }
    const struct sl_op *op = sl_stmt_op(kernel, engine->step->a);
    for (uint32_t i = 0; i < op->wait_count; i++) {
      const struct sl_gate *gate = &kernel->waits.data[op->first_wait + i];
      if (!gate_is_open(machine, e, gate))
        note_gate(w, e, engine->step->a, gate);
    }
  }
}

/* Which engine could still raise what a stopped engine waits for: the first that holds an update and is stopped too. */
static uint32_t waits_for_engine(const struct sl_machine *machine, uint32_t engine)
{
  const struct sl_kernel *kernel = machine->code.kernel;
  const struct sl_op *op = sl_stmt_op(kernel, machine->engines[engine].step->a);
  for (uint32_t i = 0; i < op->wait_count; i++) {
    const struct sl_gate *gate = &kernel->waits.data[op->first_wait + i];
    if (gate->kind != SL_GATE_SEM || gate_is_open(machine, engine, gate))
      continue;
    for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
      if (kernel->stmts.data[at].kind != SL_STMT_OP)
        continue;
      const struct sl_op *update = sl_stmt_op(kernel, at);
      uint32_t owner = machine->code.presence.engine_of[update->stream];
      for (uint32_t k = 0; k < update->inc_count; k++)
        if (kernel->incs.data[update->first_inc + k].sem == gate->name && !machine->engines[owner].finished)
          return owner;
    }
  }
  return UINT32_MAX;
}

static void note_cycle(struct writer *w)
{
  const struct sl_machine *machine = w->context->machine;
  uint32_t count = machine->code.presence.engines.len;
  for (uint32_t start = 0; start < count; start++) {
    uint32_t at = start;
    sl_buf buf;
    sl_buf_init(&buf, w->context->heap);
    for (uint32_t n = 0; n < count; n++) {
      if (machine->engines[at].finished || !machine->engines[at].step || machine->engines[at].at_barrier)
        break;
      sl_buf_printf(&buf, "%s -> ", engine_name(machine, at));
      at = waits_for_engine(machine, at);
      if (at == UINT32_MAX)
        break;
      if (at == start) {
        note(w, NULL, SL_NO_LOC, "cycle: %s%s", sl_buf_text(&buf), engine_name(machine, start));
        return;
      }
    }
  }
}

static void add_deadlock(struct sl_finding_context *context)
{
  const struct sl_witness witness = context->machine->witness;
  if (!is_new(context, SL_RUN_DEADLOCK, witness.stmt, 0))
    return;
  struct writer w = { .context = context, .stmt = witness.stmt };
  if (!witness.why) {
    note_stopped(&w);
    note_cycle(&w);
  }
  note_run(&w);
  const char *name = name_of(context, &context->machine->code, witness.stmt);
  const char *where = at_iteration(context, witness.iteration);
  if (witness.why)
    add(&w, SLUICE_ERROR, "deadlock", loc_of(context, witness.stmt), "'%s'%s on %s may wait for ever: %s", name, where,
        engine_name(context->machine, witness.engine), witness.why);
  else
    add(&w, SLUICE_ERROR, "deadlock", loc_of(context, witness.stmt), "the kernel stops for ever: %s cannot get past '%s'%s",
        engine_name(context->machine, witness.engine), name, where);
}

/* ---- the rest ---- */

/* "e" or "e[2]": the event of a state's number. */
static const char *event_name(struct sl_finding_context *context, uint32_t number)
{
  const struct sl_machine *machine = context->machine;
  const struct sl_kernel *kernel = machine->code.kernel;
  sl_buf buf;
  sl_buf_init(&buf, context->heap);
  for (uint32_t v = 1; v < kernel->events.len; v++) {
    const struct sl_event *event = &kernel->events.data[v];
    uint32_t first = machine->event_of[event->name];
    if (number < first || number >= first + event->count)
      continue;
    sl_buf_puts(&buf, sl_text(machine->code.program, event->name));
    if (event->is_array)
      sl_buf_printf(&buf, "[%u]", number - first);
  }
  return keep(context, &buf);
}

static void add_leak(struct sl_finding_context *context)
{
  const struct sl_witness *witness = &context->machine->witness;
  const struct sl_machine_code *code = &context->machine->code;
  if (!is_new(context, SL_RUN_LEAK, witness->sem, witness->is_event))
    return;
  struct writer w = { .context = context };
  note_run(&w);
  if (witness->is_event) {
    add(&w, SLUICE_ERROR, "leak", code->kernel->loc, "event '%s' is set more often than it is waited for",
        event_name(context, witness->sem));
    return;
  }
  const struct sl_sem *sem = &code->kernel->sems.data[witness->sem];
  add(&w, SLUICE_ERROR, "leak", code->kernel->loc,
      "semaphore '%s' ends at %u, not at its start value %u: the next run would start wrong (an epilogue restores it)",
      sl_text(code->program, sem->name), witness->value, sem->initial);
}

static void add_limit(struct sl_finding_context *context)
{
  const struct sl_witness *witness = &context->machine->witness;
  const struct sl_machine_code *code = &context->machine->code;
  if (!is_new(context, SL_RUN_LIMIT, witness->sem, 0))
    return;
  struct writer w = { .context = context, .stmt = witness->stmt };
  note_run(&w);
  bool is_event = witness->sem >= context->machine->sem_count;
  add(&w, SLUICE_ERROR, "limit", loc_of(context, witness->stmt), "%s '%s' outgrows its %u bits",
      is_event ? "event" : "semaphore",
      is_event ? event_name(context, witness->sem - context->machine->sem_count)
               : sl_text(code->program, code->kernel->sems.data[witness->sem].name),
      code->target->sem.width);
}

static void add_why(struct sl_finding_context *context, enum sl_run_status status, enum sluice_severity severity,
                    const char *rule)
{
  const struct sl_witness *witness = &context->machine->witness;
  if (!is_new(context, status, witness->stmt, 0))
    return;
  struct writer w = { .context = context, .stmt = witness->stmt };
  const char *why = witness->why ? witness->why : "it does not fit";
  if (witness->missing)
    note(&w, context->other_source, context->reference->code.kernel->stmts.data[witness->missing].loc, "'%s'",
         name_of(context, &context->reference->code, witness->missing));
  if (context->choices->row_count)
    note_run(&w);
  if (witness->stmt)
    add(&w, severity, rule, loc_of(context, witness->stmt), "'%s': %s",
        name_of(context, &context->machine->code, witness->stmt), why);
  else
    add(&w, severity, rule, context->machine->code.kernel->loc, "kernel '%s': %s", context->kernel, why);
}

void sl_finding_add_run(struct sl_finding_context *context, enum sl_run_status status)
{
  switch (status) {
  case SL_RUN_RACE: add_race(context); break;
  case SL_RUN_DEADLOCK: add_deadlock(context); break;
  case SL_RUN_LEAK: add_leak(context); break;
  case SL_RUN_LIMIT: add_limit(context); break;
  case SL_RUN_MISMATCH: add_why(context, status, SLUICE_ERROR, "mismatch"); break;
  default: add_why(context, status, SLUICE_WARNING, "undecided");
  }
}

static const char *gate_text(struct sl_finding_context *context, const struct sl_gate *gate)
{
  const sl_program *program = context->machine->code.program;
  sl_buf buf;
  sl_buf_init(&buf, context->heap);
  sl_buf_puts(&buf, sl_text(program, gate->name));
  if (gate->kind == SL_GATE_SEM) {
    sl_buf_puts(&buf, gate->equal ? " == " : " >= ");
    if (gate->threshold == SL_THRESHOLD_INT)
      sl_buf_int(&buf, gate->value);
    else
      sl_buf_printf(&buf, "%s%s", gate->threshold == SL_THRESHOLD_REG ? "%" : "", sl_text(program, (sl_name)gate->value));
  }
  return keep(context, &buf);
}

void sl_finding_add_wait(struct sl_finding_context *context, const char *rule, sl_index stmt, uint32_t wait)
{
  struct writer w = { .context = context, .stmt = stmt };
  const struct sl_gate *gate = &context->machine->code.kernel->waits.data[wait];
  const char *name = name_of(context, &context->machine->code, stmt), *text = gate_text(context, gate);
  sl_loc loc = gate->loc ? gate->loc : loc_of(context, stmt);
  if (strcmp(rule, "redundant") == 0)
    add(&w, SLUICE_WARNING, rule, loc, "'%s' need not wait for %s: without it every dependence still holds in all runs", name, text);
  else if (strcmp(rule, "loose") == 0)
    add(&w, SLUICE_WARNING, rule, loc, "'%s' waits longer than it must for %s: one update less is enough in all runs", name, text);
  else
    add(&w, SLUICE_NOTE, rule, loc, "%s of '%s' may be deleted together with the others named so", text, name);
}

void sl_finding_exhausted(struct sl_finding_context *context)
{
  if (!is_new(context, SL_RUN_EXHAUSTED, 0, 0))
    return;
  struct writer w = { .context = context };
  note_run(&w);
  add(&w, SLUICE_WARNING, "undecided", context->machine->code.kernel->loc, "the budget of events was used up in a run");
}

void sl_finding_not_judged(struct sl_finding_context *context)
{
  struct writer w = { .context = context };
  add(&w, SLUICE_NOTE, "budget", context->machine->code.kernel->loc,
      "the budget of events was used up before every wait was judged");
}

void sl_finding_meaningless(struct sl_finding_context *context)
{
  struct writer w = { .context = context };
  add(&w, SLUICE_WARNING, "undecided", context->machine->code.kernel->loc,
      "no choice of inputs gives the kernel a meaning: engines disagree on a loop, or arithmetic fails");
}

void sl_finding_untested(struct sl_finding_context *context, uint32_t need, uint32_t distance)
{
  struct writer w = { .context = context };
  const struct sl_need *untested = &context->reference->needs.data[need];
  note_dependence(&w, untested);
  add(&w, SLUICE_WARNING, "undecided", context->machine->code.kernel->loc,
      "no run had an instance of a dependence at distance %u", distance);
}
