/* report.c: simulations as one HTML page: the frame, style and script of page.* with the data in between as JSON.
 *
 * The data is kept as text while a simulation runs. What would grow with the run is bounded: at most max_slices slices are
 * kept, and the overview of the whole run has BUCKETS spans of time, which double when the run gets longer than they reach.
 * Time: O(1) per slice, expected.
 */
#include <sluice/view.h>

#include <assert.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/names.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "view/embedded.h"
#include "view/filter.h"

enum { BUCKETS = 512, FIRST_SPAN = 16 /* ticks */, STALLS = 50 };

/* A slice takes its numbers off its predecessor's in the same stream, which makes them short. */
struct shown_stream {
  bool is_shown;
  sl_buf slices;
  uint64_t last_start;
  uint64_t *busy; /* ticks, by bucket */
};

struct sluice_report {
  sl_heap heap;
  sl_guard guard;
  sluice_report_options options;
  sluice_trace trace;
  int status;
  sl_buf versions; /* JSON of those that have ended */
  /* of the version that has begun */
  sl_heap *scratch; /* NULL: none has */
  char *name;
  double ticks_per_ns;
  sl_names texts;
  struct shown_stream *streams;
  uint32_t stream_count;
  size_t slices;
  uint64_t cut;  /* where the earliest slice begins that is not kept */
  uint64_t span; /* ticks of a bucket */
  uint64_t end;
};

/* ---- JSON inside of HTML ---- */

/* A quoted string in which nothing looks like a tag. */
static void put_string(sl_buf *buf, const char *text)
{
  size_t left = strlen(text);
  sl_buf_putc(buf, '"');
  while (left) {
    unsigned char c = (unsigned char)*text;
    size_t length = sl_utf8_length(text, left);
    if (c < 0x20 || c == '<' || c == '>' || c == '&') {
      sl_buf_printf(buf, "\\u%04x", (unsigned)c);
    } else if (length == 0) {
      sl_buf_putc(buf, '?');
      length = 1;
    } else {
      if (c == '"' || c == '\\')
        sl_buf_putc(buf, '\\');
      sl_buf_add(buf, text, length);
    }
    text += length;
    left -= length;
  }
  sl_buf_putc(buf, '"');
}

static void put_member(sl_buf *buf, const char *key, const char *text)
{
  sl_buf_printf(buf, "\"%s\":", key);
  put_string(buf, text);
  sl_buf_putc(buf, ',');
}

static void put_count(sl_buf *buf, const char *key, uint64_t value)
{
  sl_buf_printf(buf, "\"%s\":%llu,", key, (unsigned long long)value);
}

/* The last member has no comma. */
static void close_object(sl_buf *buf)
{
  assert(buf->len && buf->data[buf->len - 1] == ',');
  buf->data[buf->len - 1] = '}';
}

/* ---- the trace ---- */

struct sent {
  sluice_report *report;
  const sluice_trace_head *head;
  const sluice_slice *slice;
  const sluice_sim_result *result;
  const char *name;
  char *printed;
  size_t length;
};

static int run(sluice_report *report, int (*work)(void *sent), struct sent *sent)
{
  if (report->status == SLUICE_OK && sl_guard_run(&report->guard, work, sent) != SLUICE_OK)
    report->status = SLUICE_E_NO_MEMORY;
  return report->status;
}

static int begin_guarded(void *arg)
{
  const struct sent *sent = arg;
  sluice_report *report = sent->report;
  report->ticks_per_ns = sent->head->ticks_per_ns;
  report->stream_count = (uint32_t)sent->head->stream_count;
  report->streams = sl_heap_calloc(report->scratch, report->stream_count + 1u, sizeof *report->streams);
  for (uint32_t s = 0; s < report->stream_count; s++) {
    struct shown_stream *stream = &report->streams[s];
    stream->is_shown = sl_view_is_named(&report->options.filter, sent->head->streams[s].name);
    stream->busy = sl_heap_calloc(report->scratch, BUCKETS, sizeof *stream->busy);
    sl_buf_init(&stream->slices, report->scratch);
  }
  return SLUICE_OK;
}

static void begin(void *user, const sluice_trace_head *head)
{
  struct sent sent = { .report = user, .head = head };
  (void)run(user, begin_guarded, &sent);
}

static void double_span(sluice_report *report)
{
  for (uint32_t s = 0; s < report->stream_count; s++) {
    uint64_t *busy = report->streams[s].busy;
    for (uint32_t b = 0; b < BUCKETS; b++)
      busy[b] = b < BUCKETS / 2 ? busy[2 * b] + busy[2 * b + 1] : 0;
  }
  report->span *= 2;
}

static void add_to_overview(sluice_report *report, const sluice_slice *slice)
{
  while (slice->end / BUCKETS >= report->span)
    double_span(report);
  uint64_t *busy = report->streams[slice->stream].busy;
  for (uint64_t at = slice->start; at < slice->end;) {
    uint64_t bucket = at / report->span, next = (bucket + 1) * report->span;
    next = next < slice->end ? next : slice->end;
    busy[bucket] += next - at;
    at = next;
  }
}

static uint32_t number_of(sluice_report *report, const char *text)
{
  return *text ? sl_names_add(&report->texts, report->scratch, text, strlen(text)) : 0;
}

/* kind, start since the last one's, length, name, iteration, line, stream of what ended a wait, what waited. */
static int slice_guarded(void *arg)
{
  const struct sent *sent = arg;
  sluice_report *report = sent->report;
  const sluice_slice *slice = sent->slice;
  struct shown_stream *stream = &report->streams[slice->stream];
  sl_buf *buf = &stream->slices;
  const int64_t numbers[] = { (int64_t)slice->kind, (int64_t)(slice->start - stream->last_start),
                              (int64_t)(slice->end - slice->start), (int64_t)number_of(report, slice->name),
                              (int64_t)number_of(report, slice->iteration), (int64_t)slice->line,
                              slice->awaited ? (int64_t)slice->awaited_stream + 1 : 0,
                              (int64_t)number_of(report, slice->waiting ? slice->waiting : "") };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    if (buf->len)
      sl_buf_putc(buf, ',');
    sl_buf_int(buf, numbers[i]);
  }
  stream->last_start = slice->start;
  return SLUICE_OK;
}

static void slice_sent(void *user, const sluice_slice *slice)
{
  sluice_report *report = user;
  struct sent sent = { .report = report, .slice = slice };
  if (report->status != SLUICE_OK)
    return;
  if (slice->kind == SLUICE_SLICE_EXECUTE)
    add_to_overview(report, slice);
  if (!report->streams[slice->stream].is_shown ||
      !sl_view_is_in_range(&report->options.filter, slice, report->ticks_per_ns))
    return;
  if (report->slices < report->options.max_slices) {
    report->slices++;
    (void)run(report, slice_guarded, &sent);
  } else if (slice->start < report->cut) {
    report->cut = slice->start;
  }
}

static void end(void *user, uint64_t ticks)
{
  sluice_report *report = user;
  report->end = ticks;
}

/* ---- a version ---- */

static int begin_version(void *arg)
{
  const struct sent *sent = arg;
  sluice_report *report = sent->report;
  report->scratch = sl_heap_child_new(&report->heap);
  report->name = sl_heap_strndup(report->scratch, sent->name, strlen(sent->name));
  sl_names_init(&report->texts, report->scratch);
  report->slices = 0;
  report->cut = UINT64_MAX;
  report->span = FIRST_SPAN;
  return SLUICE_OK;
}

static void put_overview(sl_buf *buf, const sluice_report *report, const struct shown_stream *stream)
{
  uint64_t count = report->end / report->span + 1;
  sl_buf_puts(buf, "\"overview\":[");
  for (uint64_t b = 0; b < count && b < BUCKETS; b++)
    sl_buf_printf(buf, "%s%u", b ? "," : "", (unsigned)(100 * stream->busy[b] / report->span));
  sl_buf_puts(buf, "],");
}

static void put_streams(sl_buf *buf, const sluice_report *report, const sluice_sim_result *result)
{
  size_t count;
  const sluice_sim_stream *streams = sluice_sim_streams(result, &count);
  sl_buf_puts(buf, "\"streams\":[");
  for (size_t i = 0; i < count; i++) {
    const sluice_sim_stream *stream = &streams[i];
    sl_buf_puts(buf, i ? ",\n{" : "\n{");
    put_member(buf, "name", stream->name);
    put_member(buf, "trigger", stream->is_queue ? streams[stream->trigger].name : "");
    put_count(buf, "busy", stream->busy);
    put_count(buf, "stalled", stream->stalled);
    put_count(buf, "control", stream->control);
    put_count(buf, "barrier", stream->barrier);
    put_count(buf, "instructions", stream->instructions);
    sl_buf_puts(buf, report->streams[i].is_shown ? "\"shown\":true," : "\"shown\":false,");
    put_overview(buf, report, &report->streams[i]);
    sl_buf_puts(buf, "\"slices\":[");
    sl_buf_add(buf, report->streams[i].slices.data, report->streams[i].slices.len);
    sl_buf_puts(buf, "]}");
  }
  sl_buf_puts(buf, "],");
}

static void put_stalls(sl_buf *buf, const sluice_sim_result *result)
{
  size_t count;
  const sluice_sim_stall *stalls = sluice_sim_stalls(result, &count);
  put_count(buf, "stall_count", count);
  sl_buf_puts(buf, "\"stalls\":[");
  for (size_t i = 0; i < count && i < STALLS; i++) {
    sl_buf_puts(buf, i ? ",\n{" : "\n{");
    put_member(buf, "engine", stalls[i].engine);
    put_member(buf, "label", stalls[i].label);
    put_member(buf, "waits_for", stalls[i].waits_for);
    put_member(buf, "producer", stalls[i].producer);
    put_member(buf, "producer_stream", stalls[i].producer_stream);
    put_count(buf, "line", stalls[i].line);
    put_count(buf, "ticks", stalls[i].ticks);
    put_count(buf, "longest", stalls[i].longest);
    put_count(buf, "count", stalls[i].count);
    close_object(buf);
  }
  sl_buf_puts(buf, "],");
}

static void put_path(sl_buf *buf, const sluice_sim_summary *summary)
{
  sl_buf_puts(buf, "\"path\":{");
  for (int i = 0; i < SLUICE_PATH_PARTS; i++)
    put_count(buf, sluice_path_part_name((enum sluice_path_part)i), summary->path[i]);
  close_object(buf);
  sl_buf_putc(buf, ',');
}

static void put_texts(sl_buf *buf, const sl_names *texts, uint32_t count)
{
  sl_buf_puts(buf, "\"texts\":[\"\"");
  for (sl_name i = 1; i < count; i++) {
    sl_buf_putc(buf, ',');
    put_string(buf, sl_names_text(texts, i));
  }
  sl_buf_puts(buf, "],");
}

static int end_version(void *arg)
{
  const struct sent *sent = arg;
  sluice_report *report = sent->report;
  sl_buf *buf = &report->versions;
  const sluice_sim_summary *summary = sluice_sim_summary_get(sent->result);
  sl_buf_puts(buf, buf->len ? ",\n{" : "\n{");
  put_member(buf, "name", report->name);
  put_member(buf, "kernel", summary->kernel);
  put_member(buf, "target", summary->target);
  sl_buf_printf(buf, "\"ticks_per_ns\":%.9g,", summary->ticks_per_ns);
  put_count(buf, "ticks", summary->ticks);
  put_count(buf, "instructions", summary->instructions);
  put_count(buf, "register_operations", summary->register_operations);
  put_count(buf, "branches", summary->branches);
  put_count(buf, "wait_slots", summary->wait_slots);
  put_count(buf, "barriers", summary->barriers);
  put_count(buf, "span", report->span);
  put_count(buf, "cut", report->cut < summary->ticks ? report->cut : summary->ticks);
  put_path(buf, summary);
  put_texts(buf, &report->texts, report->texts.len);
  put_stalls(buf, sent->result);
  put_streams(buf, report, sent->result);
  close_object(buf);
  return SLUICE_OK;
}

/* ---- the page ---- */

static const char *part(const char *name)
{
  for (unsigned i = 0; i < sl_embedded_page_count; i++)
    if (strcmp(sl_embedded_pages[i].name, name) == 0)
      return sl_embedded_pages[i].text;
  assert(false && "the build embeds all parts");
  return "";
}

/* Puts the parts where page.html has @css@, @data@ and @js@. */
static int print_guarded(void *arg)
{
  struct sent *sent = arg;
  sluice_report *report = sent->report;
  sl_buf buf;
  sl_buf_init(&buf, &report->heap);
  for (const char *at = part("html"); *at;) {
    size_t length = strcspn(at, "@");
    sl_buf_add(&buf, at, length);
    at += length;
    if (strncmp(at, "@css@", 5) == 0) {
      sl_buf_puts(&buf, part("css"));
      at += 5;
    } else if (strncmp(at, "@js@", 4) == 0) {
      sl_buf_puts(&buf, part("js"));
      at += 4;
    } else if (strncmp(at, "@data@", 6) == 0) {
      sl_buf_puts(&buf, "{\"sluice\":\"" SLUICE_VERSION "\",\"versions\":[");
      sl_buf_add(&buf, report->versions.data, report->versions.len);
      sl_buf_puts(&buf, "]}");
      at += 6;
    } else if (*at) {
      sl_buf_putc(&buf, *at++);
    }
  }
  sent->length = buf.len;
  sent->printed = sl_buf_export(&buf);
  return SLUICE_OK;
}

/* ---- entry points ---- */

int sluice_report_new(sluice_report **out, const sluice_report_options *options)
{
  assert(out && options);
  *out = NULL;
  sluice_report *report = calloc(1, sizeof *report);
  if (!report)
    return SLUICE_E_NO_MEMORY;
  sl_heap_init(&report->heap, &report->guard);
  sl_buf_init(&report->versions, &report->heap);
  report->options = *options;
  report->trace = (sluice_trace){ .begin = begin, .slice = slice_sent, .end = end, .user = report };
  *out = report;
  return SLUICE_OK;
}

/* A version that was begun and not ended leaves nothing. */
static void drop_version(sluice_report *report)
{
  if (report->scratch)
    sl_heap_child_free(report->scratch);
  report->scratch = NULL;
}

int sluice_report_begin(const sluice_trace **trace, sluice_report *report, const char *name)
{
  assert(trace && report && name);
  *trace = NULL;
  drop_version(report);
  struct sent sent = { .report = report, .name = name };
  int status = run(report, begin_version, &sent);
  if (status == SLUICE_OK)
    *trace = &report->trace;
  return status;
}

int sluice_report_end(sluice_report *report, const sluice_sim_result *result)
{
  assert(report && report->scratch && result);
  struct sent sent = { .report = report, .result = result };
  int status = run(report, end_version, &sent);
  drop_version(report);
  return status;
}

int sluice_report_print(char **text, size_t *length, sluice_report *report)
{
  assert(text && report);
  struct sent sent = { .report = report };
  int status = run(report, print_guarded, &sent);
  *text = status == SLUICE_OK ? sent.printed : NULL;
  if (length)
    *length = status == SLUICE_OK ? sent.length : 0;
  return status;
}

void sluice_report_free(sluice_report *report)
{
  if (!report)
    return;
  sl_heap_free_all(&report->heap);
  free(report);
}
