/* view_test: traces of simulations are what a viewer needs, on random kernels and on the rows of bench/table2.
 *
 * The text of a trace is read again, one event a line, by another JSON library: every slice is on a lane that was announced
 * and inside of or apart from the others there; the slices of a stream's datapath add up to what the simulation's answer says
 * of it; arrows begin and end in slices; a filter leaves out exactly the slices that it should. Of the memory in use a range shows
 * what the whole shows there, some streams no more than all, and in the end nothing is in use. And a trace that is a hundred
 * times as long takes no more memory.
 */
#define _XOPEN_SOURCE 700 /* getrusage */
#include <sluice/view.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "property/campaign.h"

enum { PROCESSES = 64, THREADS = 256, KINDS = 2 };

/* Times in ns: whole numbers. */
struct span {
  uint32_t process, thread;
  int64_t start, end;
};

/* So many bytes of a space are in use from then on. */
struct usage {
  char space[16];
  int64_t at;
  uint64_t bytes;
};

/* What a trace says. */
struct reading {
  struct span *spans;
  size_t span_count, room;
  bool is_announced[PROCESSES][THREADS];
  uint64_t busy[PROCESSES], executed[PROCESSES]; /* ticks, and how many instructions */
  uint64_t counters, begun, ended;               /* values of counters; ends of arrows */
  struct span *arrows;
  size_t arrow_count, arrow_room;
  uint32_t memory; /* process of the memory in use, 0 = none */
  struct usage *usages;
  size_t usage_count, usage_room;
};

struct subject {
  const sluice_targets *targets;
  struct sl_failure *failure;
  char *text;
  size_t length, room;
};

struct totals {
  const sluice_targets *targets;
  uint64_t traces, slices, arrows, usages;
  unsigned rows, failed;
};

static bool keep(void *user, const char *text, size_t length)
{
  struct subject *subject = user;
  if (subject->length + length + 1 > subject->room) {
    subject->room = 2 * (subject->length + length + 1);
    subject->text = realloc(subject->text, subject->room);
    if (!subject->text)
      abort();
  }
  memcpy(subject->text + subject->length, text, length);
  subject->length += length;
  subject->text[subject->length] = '\0';
  return true;
}

/* ---- reading ---- */

static void add_span(struct span **list, size_t *count, size_t *room, struct span span)
{
  if (*count == *room) {
    *room = *room ? 2 * *room : 64;
    *list = realloc(*list, *room * sizeof **list);
    if (!*list)
      abort();
  }
  (*list)[(*count)++] = span;
}

static int64_t ns_of(const json_t *event, const char *key)
{
  return (int64_t)(json_number_value(json_object_get(event, key)) * 1000 + .5);
}

static bool read_counter(struct reading *reading, const json_t *event, uint32_t process, struct sl_failure *failure)
{
  json_t *value = json_object_get(json_object_get(event, "args"), "value");
  if (!json_is_integer(value) || json_integer_value(value) < 0)
    return sl_fail(failure, "counter", "no value");
  if (process != reading->memory) {
    reading->counters++;
    return true;
  }
  if (reading->usage_count == reading->usage_room) {
    reading->usage_room = reading->usage_room ? 2 * reading->usage_room : 64;
    reading->usages = realloc(reading->usages, reading->usage_room * sizeof *reading->usages);
    if (!reading->usages)
      abort();
  }
  struct usage *usage = &reading->usages[reading->usage_count++];
  *usage = (struct usage){ .at = ns_of(event, "ts"), .bytes = (uint64_t)json_integer_value(value) };
  snprintf(usage->space, sizeof usage->space, "%s", json_string_value(json_object_get(event, "name")));
  return true;
}

static void read_metadata(struct reading *reading, const json_t *event, uint32_t process, uint32_t thread)
{
  const char *name = json_string_value(json_object_get(json_object_get(event, "args"), "name"));
  reading->is_announced[process][thread] = true;
  if (name && strcmp(name, "bytes in use") == 0)
    reading->memory = process;
}

static bool read_event(struct reading *reading, const json_t *event, struct sl_failure *failure)
{
  const char *phase = json_string_value(json_object_get(event, "ph")), *category = json_string_value(json_object_get(event, "cat"));
  json_t *args = json_object_get(event, "args"), *ticks = json_object_get(args, "ticks");
  json_int_t process = json_integer_value(json_object_get(event, "pid")), thread = json_integer_value(json_object_get(event, "tid"));
  if (!phase || !json_is_string(json_object_get(event, "name")) || process < 1 || process >= PROCESSES || thread < 0 ||
      thread >= THREADS)
    return sl_fail(failure, "event", "an event is malformed");
  struct span span = { (uint32_t)process, (uint32_t)thread, ns_of(event, "ts"), ns_of(event, "ts") };
  switch (*phase) {
  case 'M': read_metadata(reading, event, span.process, span.thread); return true;
  case 'C': return read_counter(reading, event, span.process, failure);
  case 's':
  case 'f':
    reading->begun += *phase == 's';
    reading->ended += *phase == 'f';
    add_span(&reading->arrows, &reading->arrow_count, &reading->arrow_room, span);
    return true;
  case 'X': break;
  default: return sl_fail(failure, "event", "phase %s", phase);
  }
  span.end += ns_of(event, "dur");
  if (!json_is_integer(ticks) || !category || span.end < span.start || !reading->is_announced[process][thread])
    return sl_fail(failure, "slice", "on lane %d of %d", (int)thread, (int)process);
  add_span(&reading->spans, &reading->span_count, &reading->room, span);
  if (strcmp(category, "execute") == 0) {
    reading->busy[process] += (uint64_t)json_integer_value(ticks);
    reading->executed[process]++;
  }
  return true;
}

/* One event a line between the first line and the last. */
static bool read_trace(struct reading *reading, char *text, struct sl_failure *failure)
{
  static const char head[] = "{\"displayTimeUnit\":\"ns\",", tail[] = "\n]}\n";
  char *line = strchr(text, '\n'), *last = line ? text + strlen(text) - strlen(tail) : NULL;
  memset(reading, 0, sizeof *reading);
  if (!line || strncmp(text, head, strlen(head)) != 0 || line[-1] != '[' || last < line || strcmp(last, tail) != 0)
    return sl_fail(failure, "frame", "the trace has another head or end");
  *last = '\0';
  for (bool ok = true; line && ok;) {
    char *start = line + 1, *end = strchr(start, '\n');
    size_t length = end ? (size_t)(end - start) : strlen(start);
    if (end && start[--length] != ',')
      return sl_fail(failure, "frame", "no comma between events");
    json_error_t error;
    json_t *event = json_loadb(start, length, 0, &error);
    ok = event ? read_event(reading, event, failure) : sl_fail(failure, "JSON", "%s: %.*s", error.text, (int)length, start);
    json_decref(event);
    if (!ok)
      return false;
    line = end;
  }
  return true;
}

static void free_reading(struct reading *reading)
{
  free(reading->spans);
  free(reading->arrows);
  free(reading->usages);
}

/* ---- what must hold ---- */

/* By lane, then by start, what encloses first. */
static int by_lane(const void *x, const void *y)
{
  const struct span *a = x, *b = y;
  if (a->process != b->process)
    return a->process < b->process ? -1 : 1;
  if (a->thread != b->thread)
    return a->thread < b->thread ? -1 : 1;
  if (a->start != b->start)
    return a->start < b->start ? -1 : 1;
  return a->end > b->end ? -1 : a->end < b->end;
}

/* Of the slices that enclose the one at hand the ends never grow inwards, so a stack of ends decides. */
static bool is_nested(struct reading *reading, struct sl_failure *failure)
{
  int64_t *open = malloc((reading->span_count + 1) * sizeof *open);
  size_t depth = 0;
  bool holds = true;
  if (!open)
    abort();
  qsort(reading->spans, reading->span_count, sizeof *reading->spans, by_lane);
  for (size_t i = 0; i < reading->span_count && holds; i++) {
    const struct span *span = &reading->spans[i];
    if (i > 0 && (span[-1].process != span->process || span[-1].thread != span->thread))
      depth = 0;
    while (depth && open[depth - 1] <= span->start)
      depth--;
    holds = !depth || open[depth - 1] >= span->end ||
            sl_fail(failure, "overlap", "process %u, thread %u: a slice begins at %lld ns in another and ends behind it",
                    span->process, span->thread, (long long)span->start);
    open[depth++] = span->end;
  }
  free(open);
  return holds;
}

/* Both ends of an arrow lie in slices: `spans` is sorted by lane. */
static bool arrows_hit(const struct reading *reading, struct sl_failure *failure)
{
  if (reading->begun != reading->ended)
    return sl_fail(failure, "arrow", "%llu begin, %llu end", (unsigned long long)reading->begun, (unsigned long long)reading->ended);
  for (size_t i = 0; i < reading->arrow_count; i++) {
    const struct span *arrow = &reading->arrows[i];
    size_t low = 0, high = reading->span_count; /* the last span that is not behind it */
    while (low < high) {
      size_t middle = (low + high) / 2;
      const struct span *span = &reading->spans[middle];
      struct span at = *arrow;
      at.end = -1;
      if (by_lane(span, &at) <= 0)
        low = middle + 1;
      else
        high = middle;
    }
    const struct span *span = low ? &reading->spans[low - 1] : NULL;
    if (!span || span->process != arrow->process || span->thread != arrow->thread || span->end < arrow->start)
      return sl_fail(failure, "arrow", "an end at %lld ns is in no slice", (long long)arrow->start);
  }
  return true;
}

static bool adds_up(const struct reading *reading, const sluice_sim_result *result, struct sl_failure *failure)
{
  size_t count;
  const sluice_sim_stream *streams = sluice_sim_streams(result, &count);
  for (size_t i = 0; i < count; i++)
    if (!streams[i].is_queue && (reading->busy[i + 1] != streams[i].busy || reading->executed[i + 1] != streams[i].instructions))
      return sl_fail(failure, "sum", "%s: %llu ticks in %llu slices, but busy for %llu in %llu instructions", streams[i].name,
                     (unsigned long long)reading->busy[i + 1], (unsigned long long)reading->executed[i + 1],
                     (unsigned long long)streams[i].busy, (unsigned long long)streams[i].instructions);
  return true;
}

/* ---- memory in use ---- */

/* The most that is in use of a space at a time, which counts from the first change in that nanosecond on, and before it. */
static uint64_t most_in_use(const struct reading *reading, const char *space, int64_t at)
{
  uint64_t before = 0, most = 0;
  for (size_t i = 0; i < reading->usage_count && reading->usages[i].at <= at; i++) {
    const struct usage *usage = &reading->usages[i];
    if (strcmp(usage->space, space) != 0)
      continue;
    if (usage->at < at)
      before = usage->bytes;
    else
      most = usage->bytes > most ? usage->bytes : most;
  }
  return before > most ? before : most;
}

static bool memory_is_sane(const struct reading *reading, struct sl_failure *failure)
{
  for (size_t i = 0; i < reading->usage_count; i++) {
    const struct usage *usage = &reading->usages[i];
    bool is_last = true;
    for (size_t k = i + 1; k < reading->usage_count && is_last; k++)
      is_last = strcmp(reading->usages[k].space, usage->space) != 0;
    if (i > 0 && usage[-1].at > usage->at)
      return sl_fail(failure, "memory", "goes back in time at %lld ns", (long long)usage->at);
    if (is_last && usage->bytes)
      return sl_fail(failure, "memory", "%llu bytes of %s stay in use", (unsigned long long)usage->bytes, usage->space);
  }
  return true;
}

/* Whether the space has that value when that nanosecond begins, or takes it on during it. */
static bool is_value_at(const struct reading *reading, const struct usage *asked)
{
  uint64_t before = 0;
  bool is_met = false;
  for (size_t i = 0; i < reading->usage_count && reading->usages[i].at <= asked->at; i++) {
    const struct usage *usage = &reading->usages[i];
    if (strcmp(usage->space, asked->space) != 0)
      continue;
    if (usage->at < asked->at)
      before = usage->bytes;
    else
      is_met |= usage->bytes == asked->bytes;
  }
  return is_met || before == asked->bytes;
}

/* The next change that is not the value with which a space begins in the part; that comes with the first change of the space. */
static size_t skip_beginnings(const struct reading *part, size_t next, int64_t from)
{
  while (next < part->usage_count && part->usages[next].at == from)
    next++;
  return next;
}

/* A part of the time shows what the whole has there; each space may begin with the value it has when the part begins. */
static bool part_of_memory_holds(const struct reading *whole, const struct reading *part, int64_t from, int64_t to,
                                 struct sl_failure *failure)
{
  size_t next = 0;
  for (size_t i = 0; i < part->usage_count; i++)
    if (part->usages[i].at == from && !is_value_at(whole, &part->usages[i]))
      return sl_fail(failure, "memory filter", "begins with another value than is in use");
  for (size_t i = 0; i < whole->usage_count; i++) {
    const struct usage *usage = &whole->usages[i];
    if (usage->at <= from || usage->at >= to)
      continue;
    next = skip_beginnings(part, next, from);
    if (next == part->usage_count || memcmp(&part->usages[next], usage, sizeof *usage) != 0)
      return sl_fail(failure, "memory filter", "a change at %lld ns is not there", (long long)usage->at);
    next++;
  }
  return skip_beginnings(part, next, from) == part->usage_count ||
         sl_fail(failure, "memory filter", "more changes than in the whole");
}

/* ---- one kernel ---- */

/* The trace's text is left in the subject. */
static sluice_sim_result *trace(struct subject *subject, const sluice_program *program, const sluice_trace_file_options *options)
{
  struct sl_messages messages = { .first = "" };
  sluice_sink sink = sl_messages_sink(&messages);
  const sluice_writer writer = { keep, subject };
  sluice_sim_options sim = SLUICE_SIM_OPTIONS_INIT;
  sluice_trace_file *file;
  sluice_sim_result *result = NULL;
  sim.max_steps = 1000000;
  subject->length = 0;
  if (sluice_trace_file_new(&file, options, &writer) != SLUICE_OK)
    abort();
  sim.trace = sluice_trace_file_get(file);
  int status = sluice_sim(&result, program, 0, subject->targets, &sim, &sink);
  if (status == SLUICE_OK && sluice_trace_file_status(file) != SLUICE_OK) {
    sluice_sim_result_free(result);
    result = NULL;
  }
  if (!result)
    sl_fail(subject->failure, "not simulated", "status %d: %s", status, messages.first);
  sluice_trace_file_free(file);
  return result;
}

/* The same with a part of the time and one stream: what is there is in the part, and it is what the whole has there. */
static bool filter_holds(struct subject *subject, const sluice_program *program, const struct reading *whole,
                         const sluice_sim_result *result, uint64_t seed)
{
  size_t count, expected = 0;
  const sluice_sim_stream *streams = sluice_sim_streams(result, &count);
  double end = sluice_sim_summary_get(result)->ns;
  sluice_trace_file_options options = SLUICE_TRACE_FILE_OPTIONS_INIT;
  uint32_t process = (uint32_t)(seed % count) + 1;
  options.filter.from_ns = (double)(uint64_t)(end / 4); /* whole, so that times rounded down decide alike */
  options.filter.to_ns = (double)(uint64_t)(end / 2);
  options.filter.streams = &streams[process - 1].name;
  options.filter.stream_count = 1;
  sluice_sim_result *again = trace(subject, program, &options);
  if (!again)
    return false;
  sluice_sim_result_free(again);
  struct reading part;
  bool holds = read_trace(&part, subject->text, subject->failure);
  for (size_t i = 0; i < whole->span_count; i++)
    expected += whole->spans[i].process == process && (double)whole->spans[i].end >= options.filter.from_ns &&
                (double)whole->spans[i].start < options.filter.to_ns;
  for (size_t i = 0; i < part.usage_count && holds; i++)
    holds = part.usages[i].bytes <= most_in_use(whole, part.usages[i].space, part.usages[i].at) ||
            sl_fail(subject->failure, "memory filter", "a stream has more in use than all");
  for (size_t i = 0; i < part.span_count && holds; i++)
    holds = part.spans[i].process == process || sl_fail(subject->failure, "filter", "a stream that is left out is there");
  if (holds && part.span_count != expected)
    holds = sl_fail(subject->failure, "filter", "%zu slices, the whole trace has %zu there", part.span_count, expected);
  free_reading(&part);
  return holds;
}

/* A part of the time and all streams. */
static bool range_holds(struct subject *subject, const sluice_program *program, const struct reading *whole,
                        const sluice_sim_result *result)
{
  double end = sluice_sim_summary_get(result)->ns;
  sluice_trace_file_options options = SLUICE_TRACE_FILE_OPTIONS_INIT;
  options.filter.from_ns = (double)(uint64_t)(end / 3);
  options.filter.to_ns = (double)(uint64_t)(2 * end / 3);
  sluice_sim_result *again = trace(subject, program, &options);
  if (!again)
    return false;
  sluice_sim_result_free(again);
  struct reading part;
  bool holds = read_trace(&part, subject->text, subject->failure) &&
               part_of_memory_holds(whole, &part, (int64_t)options.filter.from_ns, (int64_t)options.filter.to_ns,
                                    subject->failure);
  free_reading(&part);
  return holds;
}

static bool try_program(struct subject *subject, const sluice_program *program, uint64_t seed, struct totals *totals)
{
  sluice_trace_file_options options = SLUICE_TRACE_FILE_OPTIONS_INIT;
  options.flows = true;
  sluice_sim_result *result = trace(subject, program, &options);
  if (!result)
    return false;
  struct reading reading;
  bool holds = read_trace(&reading, subject->text, subject->failure) && is_nested(&reading, subject->failure) &&
               arrows_hit(&reading, subject->failure) && adds_up(&reading, result, subject->failure) &&
               memory_is_sane(&reading, subject->failure) && filter_holds(subject, program, &reading, result, seed) &&
               range_holds(subject, program, &reading, result);
  totals->traces++;
  totals->slices += reading.span_count;
  totals->arrows += reading.begun;
  totals->usages += reading.usage_count;
  free_reading(&reading);
  sluice_sim_result_free(result);
  return holds;
}

/* Synchronized by one of the strategies that accept everything. */
static bool traces_hold(void *user, const char *text, uint64_t seed, struct sl_failure *failure)
{
  static const enum sluice_alloc allocs[KINDS] = { SLUICE_ALLOC_SHADOW, SLUICE_ALLOC_BARRIER };
  struct totals *totals = user;
  struct subject subject = { .targets = totals->targets, .failure = failure };
  struct sl_messages messages = { .first = "" };
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  sluice_program *program = NULL, *synced = NULL;
  options.alloc = allocs[seed % KINDS];
  int status = sluice_program_parse(&program, "kernel.slu", text, strlen(text), &sink);
  if (status == SLUICE_OK)
    status = sluice_program_verify(program, totals->targets, &sink);
  if (status == SLUICE_OK)
    status = sluice_sync(&synced, program, totals->targets, &options, &sink);
  bool holds = status == SLUICE_OK ? try_program(&subject, synced, seed, totals)
                                   : sl_fail(failure, "not synchronized", "status %d: %s", status, messages.first);
  sluice_program_free(synced);
  sluice_program_free(program);
  free(subject.text);
  return holds;
}

/* ---- the rows ---- */

static void try_row(void *user, const char *path)
{
  struct totals *totals = user;
  struct sl_failure failure = { "", "" };
  size_t length;
  char *text = strstr(path, ".manual.") ? NULL : sl_read_file(path, &length);
  if (!text)
    return;
  totals->rows++;
  if (!traces_hold(totals, text, totals->rows, &failure)) {
    totals->failed++;
    printf("FAILED: %s: %s: %s\n", path, failure.kind, failure.text);
  }
  free(text);
}

/* ---- memory ---- */

#if defined(__SANITIZE_ADDRESS__)
#define KEEPS_FREED_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEPS_FREED_MEMORY 1
#endif
#endif
#ifndef KEEPS_FREED_MEMORY
#define KEEPS_FREED_MEMORY 0
#endif

static const char long_kernel[] =
    "kernel long(n = 1) target trn2 explicit {\n  queue q0 via sp\n  buffer x : hbm f32[n, 128, 64]\n"
    "  buffer xt : sbuf f32[2, 128p, 64]\n  loop i < n {\n    ld: q0.dma_copy xt[i % 2] <- x[i]\n"
    "    mul: dve.tensor_scalar xt[i % 2] <- xt[i % 2] { op = mul }\n  }\n  dep ld -> mul\n  dep mul -> ld (i: 2)\n}\n";

static bool measure(void *user, const char *text, size_t length)
{
  (void)text;
  *(uint64_t *)user += length;
  return true;
}

/* KiB that the process has ever used, after a trace with n iterations; *length is the trace's. */
static long peak_after(const sluice_program *program, const sluice_targets *targets, int64_t n, uint64_t *length)
{
  const sluice_trace_file_options options = SLUICE_TRACE_FILE_OPTIONS_INIT;
  const sluice_writer writer = { measure, length };
  const sluice_input input = { "n", &n, 1, 0 };
  sluice_sim_options sim = SLUICE_SIM_OPTIONS_INIT;
  sluice_trace_file *file = NULL;
  sluice_sim_result *result = NULL;
  struct rusage usage;
  *length = 0;
  sim.inputs = &input;
  sim.input_count = 1;
  if (sluice_trace_file_new(&file, &options, &writer) != SLUICE_OK)
    abort();
  sim.trace = sluice_trace_file_get(file);
  if (sluice_sim(&result, program, 0, targets, &sim, NULL) != SLUICE_OK || sluice_trace_file_status(file) != SLUICE_OK)
    *length = 0;
  sluice_sim_result_free(result);
  sluice_trace_file_free(file);
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static unsigned memory_is_bounded(const sluice_targets *targets)
{
  enum { FEW = 500, MANY = 50000, MOST_KIB = 2048 };
  sluice_program *program = NULL, *synced = NULL;
  const sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  uint64_t small = 0, large = 0;
  long before = 0, after = 0;
  if (sluice_program_parse(&program, "long.slu", long_kernel, strlen(long_kernel), NULL) == SLUICE_OK &&
      sluice_program_verify(program, targets, NULL) == SLUICE_OK &&
      sluice_sync(&synced, program, targets, &options, NULL) == SLUICE_OK) {
    before = peak_after(synced, targets, FEW, &small);
    after = peak_after(synced, targets, MANY, &large);
  }
  sluice_program_free(synced);
  sluice_program_free(program);
  printf("a trace of %llu bytes takes %ld KiB, one of %llu bytes %ld KiB\n", (unsigned long long)small, before,
         (unsigned long long)large, after);
  if (small > 0 && large > 50 * small && (KEEPS_FREED_MEMORY || after - before <= MOST_KIB))
    return 0;
  printf("FAILED: memory grows with the trace, or there is none\n");
  return 1;
}

int main(int argc, char **argv)
{
  struct sl_campaign campaign;
  sl_campaign_options(&campaign, argc, argv, 1000, 50000);
  sluice_targets *targets = NULL;
  if (sluice_targets_new(&targets) != SLUICE_OK) {
    printf("view: no targets\n");
    return 1;
  }
  unsigned failed = campaign.only_one ? 0 : memory_is_bounded(targets); /* before anything else needs much */
  struct totals totals = { .targets = targets };
  failed += sl_campaign_run(&campaign, SL_GENERATE_SYNC, traces_hold, &totals);
  failed += sl_campaign_run(&campaign, SL_GENERATE_TRANSFERS, traces_hold, &totals);
  if (!campaign.only_one) {
    char directory[4096];
    snprintf(directory, sizeof directory, "%s/bench/table2", campaign.source);
    sl_each_slu(directory, try_row, &totals);
    failed += totals.failed + (totals.rows < 9);
  }
  printf(
      "view: %llu traces (%u rows of table 2), %llu slices, %llu arrows, %llu changes of memory in use, %u failures\n",
      (unsigned long long)totals.traces, totals.rows, (unsigned long long)totals.slices,
      (unsigned long long)totals.arrows, (unsigned long long)totals.usages, failed);
  failed += !campaign.only_one && totals.usages == 0;
  sluice_targets_free(targets);
  return sl_campaign_exit_code(&campaign, failed);
}
