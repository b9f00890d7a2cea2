/* resolve.c: see resolve.h. */
#include "target/resolve.h"

static const char *closest_engine(const struct sl_target *target, const char *name, bool triggers_only)
{
  const char *known[64];
  size_t count = 0;
  for (uint32_t i = 0; i < target->engines.len; i++)
    if (!triggers_only || target->engines.data[i].may_trigger)
      known[count++] = target->engines.data[i].name;
  return sl_closest(name, known, count);
}

/* The engines that may trigger, for a note. */
static const char *trigger_list(const struct sl_target *target, sl_report *report)
{
  sl_buf list;
  sl_buf_init(&list, report->heap);
  for (uint32_t i = 0; i < target->engines.len; i++)
    if (target->engines.data[i].may_trigger)
      sl_buf_printf(&list, "%s%s", list.len ? ", " : "", target->engines.data[i].name);
  return list.len ? sl_buf_text(&list) : "none";
}

static void resolve_engine(sl_program *program, struct sl_kernel *kernel, uint32_t index,
                           const struct sl_target *target, sl_report *report)
{
  struct sl_stream *stream = &kernel->streams.data[index];
  const char *name = sl_text(program, stream->name);
  int engine = sl_target_engine(target, name);
  stream->trigger = index;
  stream->engine = engine < 0 ? SL_NO_STREAM : (uint32_t)engine;
  if (engine >= 0)
    return;
  const char *closest = closest_engine(target, name, false);
  if (closest)
    sl_error(report, SL_RULE_ENGINE, stream->loc,
             "target '%s' has no engine '%s', and no queue of that name is declared; "
             "did you mean '%s'?",
             target->name, name, closest);
  else
    sl_error(report, SL_RULE_ENGINE, stream->loc,
             "target '%s' has no engine '%s', and no queue of that name is declared", target->name, name);
}

/* The engine that triggers a queue, or -1 after an error. */
static int find_trigger(sl_program *program, const struct sl_stream *stream, const struct sl_target *target,
                        sl_report *report)
{
  const char *queue = sl_text(program, stream->name);
  const char *name = stream->trigger_name ? sl_text(program, stream->trigger_name) : target->queue.default_trigger;
  if (!name) {
    sl_report_begin(report, SLUICE_ERROR, SL_RULE_QUEUE, stream->loc,
                    "queue '%s' needs a trigger: target '%s' has no default", queue, target->name);
    sl_report_note(report, SL_NO_LOC, "write 'queue %s via ENGINE'; engines that may trigger: %s", queue,
                   trigger_list(target, report));
    sl_report_end(report);
    return -1;
  }
  int engine = sl_target_engine(target, name);
  if (engine >= 0 && target->engines.data[engine].may_trigger)
    return engine;
  if (engine >= 0) {
    sl_report_begin(report, SLUICE_ERROR, SL_RULE_QUEUE, stream->loc,
                    "queue '%s': engine '%s' may not trigger queues on target '%s'", queue, name, target->name);
  } else {
    const char *closest = closest_engine(target, name, true);
    sl_report_begin(report, SLUICE_ERROR, SL_RULE_QUEUE, stream->loc,
                    "queue '%s': target '%s' has no engine '%s'%s%s%s", queue, target->name, name,
                    closest ? "; did you mean '" : "", closest ? closest : "", closest ? "'?" : "");
  }
  sl_report_note(report, SL_NO_LOC, "engines that may trigger: %s", trigger_list(target, report));
  sl_report_end(report);
  return -1;
}

static void resolve_queue(sl_program *program, struct sl_kernel *kernel, uint32_t index, const struct sl_target *target,
                          sl_report *report)
{
  struct sl_stream *stream = &kernel->streams.data[index];
  stream->trigger = stream->engine = SL_NO_STREAM;
  if (sl_target_engine(target, sl_text(program, stream->name)) >= 0) {
    sl_error(report, SL_RULE_REDEFINED, stream->loc, "queue '%s' is named like an engine of target '%s'",
             sl_text(program, stream->name), target->name);
    return;
  }
  int engine = find_trigger(program, stream, target, report);
  if (engine < 0)
    return;
  sl_name name = sl_intern(program, target->engines.data[engine].name);
  uint32_t trigger = sl_stream_put(kernel, name, stream->loc);
  stream = &kernel->streams.data[index]; /* the array may have moved */
  stream->trigger = trigger;
  stream->engine = (uint32_t)engine;
}

int sl_target_resolve(sl_program *program, struct sl_kernel *kernel, const struct sl_target *target, sl_report *report)
{
  uint32_t errors = report->errors;
  /* Queues first: the engines they add are resolved with the others. */
  for (uint32_t i = 0, count = kernel->streams.len; i < count; i++)
    if (kernel->streams.data[i].is_queue)
      resolve_queue(program, kernel, i, target, report);
  for (uint32_t i = 0; i < kernel->streams.len; i++)
    if (!kernel->streams.data[i].is_queue)
      resolve_engine(program, kernel, i, target, report);
  return report->errors == errors ? SLUICE_OK : SLUICE_E_INPUT;
}
