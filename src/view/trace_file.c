/* trace_file.c: a simulation as JSON for Perfetto and Chrome.
 *
 *   process = stream      its threads = lanes: sequencer, datapath (of a queue: data), in flight, in flight 2, ...
 *   process semaphores    one counter track each
 *   process memory        one counter track per space on the chip: bytes in use of the buffers that the shown streams touch
 *
 * What is in flight overlaps; each such slice goes to the first lane that is free by then, so that no lane has slices that
 * overlap. Written as it comes, through one buffer: O(1) per slice (O(lanes) in flight), memory as in the head of view.h.
 *
 * Format: "Trace Event Format" of the Chromium project; complete (X), counter (C), flow (s, f) and metadata (M) events.
 */
#include <sluice/view.h>

#include <assert.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "base/vec.h"
#include "view/filter.h"

enum {
  BUFFER = 1 << 16,
  SEQUENCER = 1, /* threads of a process */
  DATAPATH,
  FIRST_FLIGHT,
  REMEMBERED = 1 << 12 /* instances that an arrow may still begin at; what ends a wait is seldom older */
};

/* Where an instance was in flight: the beginning of an arrow. */
struct flight {
  uint64_t instance, at; /* ns */
  uint32_t process, thread;
};

struct stream_lanes {
  bool is_shown, is_queue;
  sl_vec(uint64_t) free_at; /* of each lane of flights: when its last slice ends, in ticks */
};

/* A counter, of semaphores or of memory. */
struct counter_track {
  const char *name;
  uint32_t process;
  uint64_t value;
  uint64_t first;  /* value from before the range, which holds when that begins */
  bool is_pending; /* has such a value, which is not written yet */
};

/* A buffer whose use counts. */
struct counted_buffer {
  bool is_shown;
  uint32_t track;
  uint64_t bytes;
};

struct sluice_trace_file {
  sl_heap heap;
  sl_guard guard;
  sluice_trace_file_options options;
  sluice_writer writer;
  sluice_trace trace;
  int status;
  bool has_ended, has_events;
  double ticks_per_ns;
  struct stream_lanes *streams;
  uint32_t stream_count, counter_count; /* counters: semaphores, then spaces */
  struct counter_track *counters;
  struct counted_buffer *buffers;
  struct flight *flights;
  uint64_t arrows;
  size_t length;
  char buffer[BUFFER];
};

/* ---- text ---- */

static void flush(sluice_trace_file *file)
{
  if (file->status == SLUICE_OK && file->length && !file->writer.write(file->writer.user, file->buffer, file->length))
    file->status = SLUICE_E_IO;
  file->length = 0;
}

static void put(sluice_trace_file *file, const char *text, size_t length)
{
  while (length > BUFFER - file->length) {
    size_t part = BUFFER - file->length;
    memcpy(file->buffer + file->length, text, part);
    file->length = BUFFER;
    flush(file);
    text += part;
    length -= part;
  }
  memcpy(file->buffer + file->length, text, length);
  file->length += length;
}

static void puts_to(sluice_trace_file *file, const char *text)
{
  put(file, text, strlen(text));
}

static void put_number(sluice_trace_file *file, uint64_t number)
{
  char digits[24];
  char *at = digits + sizeof digits;
  do {
    *--at = (char)('0' + number % 10);
    number /= 10;
  } while (number);
  put(file, at, (size_t)(digits + sizeof digits - at));
}

/* Nanoseconds in the format's unit, microseconds. */
static void put_time(sluice_trace_file *file, uint64_t ns)
{
  char rest[4] = { '.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10), (char)('0' + ns % 10) };
  put_number(file, ns / 1000);
  put(file, rest, sizeof rest);
}

/* Without quotes. Names can come from files in any encoding; JSON is UTF-8. */
static void put_escaped(sluice_trace_file *file, const char *text)
{
  static const char hex[] = "0123456789abcdef";
  size_t left = strlen(text);
  while (left) {
    unsigned char c = (unsigned char)*text;
    size_t length = sl_utf8_length(text, left);
    if (c < 0x20) {
      char escape[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };
      put(file, escape, sizeof escape);
    } else if (length == 0) {
      puts_to(file, "?");
      length = 1;
    } else {
      if (c == '"' || c == '\\')
        puts_to(file, "\\");
      put(file, text, length);
    }
    text += length;
    left -= length;
  }
}

/* ---- events ---- */

static void open_event(sluice_trace_file *file, char phase, uint32_t process, uint32_t thread)
{
  char kind[] = "{\"ph\":\"?\",\"pid\":";
  kind[7] = phase;
  puts_to(file, file->has_events ? ",\n" : "\n");
  file->has_events = true;
  puts_to(file, kind);
  put_number(file, process);
  puts_to(file, ",\"tid\":");
  put_number(file, thread);
}

static void put_metadata(sluice_trace_file *file, uint32_t process, uint32_t thread, const char *what, const char *name,
                         uint64_t number)
{
  open_event(file, 'M', process, thread);
  puts_to(file, ",\"name\":\"");
  puts_to(file, what);
  puts_to(file, "\",\"args\":{\"name\":\"");
  put_escaped(file, name);
  if (number) {
    puts_to(file, " ");
    put_number(file, number);
  }
  puts_to(file, "\"}}");
}

static void put_order(sluice_trace_file *file, uint32_t process, uint32_t thread)
{
  open_event(file, 'M', process, thread);
  puts_to(file, thread ? ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":"
                       : ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":");
  put_number(file, thread ? thread : process);
  puts_to(file, "}}");
}

static void put_thread(sluice_trace_file *file, uint32_t process, uint32_t thread, const char *name, uint64_t number)
{
  put_metadata(file, process, thread, "thread_name", name, number);
  put_order(file, process, thread);
}

static void put_counter(sluice_trace_file *file, uint32_t counter, uint64_t ns, uint64_t value)
{
  open_event(file, 'C', file->counters[counter].process, 0);
  puts_to(file, ",\"ts\":");
  put_time(file, ns);
  puts_to(file, ",\"name\":\"");
  put_escaped(file, file->counters[counter].name);
  puts_to(file, "\",\"args\":{\"value\":");
  put_number(file, value);
  puts_to(file, "}}");
}

static void put_slice(sluice_trace_file *file, const sluice_slice *slice, uint32_t thread, uint64_t start, uint64_t end)
{
  open_event(file, 'X', slice->stream + 1, thread);
  puts_to(file, ",\"ts\":");
  put_time(file, start);
  puts_to(file, ",\"dur\":");
  put_time(file, end - start);
  puts_to(file, slice->kind == SLUICE_SLICE_WAIT ? ",\"name\":\"wait " : ",\"name\":\"");
  put_escaped(file, *slice->name ? slice->name : sl_view_kind_name(slice->kind));
  puts_to(file, "\",\"cat\":\"");
  puts_to(file, sl_view_kind_name(slice->kind));
  puts_to(file, "\",\"args\":{\"ticks\":");
  put_number(file, slice->end - slice->start);
  if (slice->waiting) {
    puts_to(file, ",\"before\":\"");
    put_escaped(file, slice->waiting);
    puts_to(file, "\"");
  }
  if (*slice->iteration) {
    puts_to(file, ",\"iteration\":\"");
    put_escaped(file, slice->iteration);
    puts_to(file, "\"");
  }
  if (slice->line) {
    puts_to(file, ",\"line\":");
    put_number(file, slice->line);
  }
  puts_to(file, "}}");
}

/* One end of an arrow. Viewers look for the slice at that time on that thread. */
static void put_arrow_end(sluice_trace_file *file, char phase, uint32_t process, uint32_t thread, uint64_t ns)
{
  open_event(file, phase, process, thread);
  puts_to(file, ",\"ts\":");
  put_time(file, ns);
  puts_to(file, ",\"id\":");
  put_number(file, file->arrows);
  puts_to(file, phase == 'f' ? ",\"bp\":\"e\",\"cat\":\"awaited\",\"name\":\"awaited\"}"
                             : ",\"cat\":\"awaited\",\"name\":\"awaited\"}");
}

/* The last nanosecond that is inside of a slice. */
static uint64_t last_inside(uint64_t start, uint64_t end)
{
  return end > start ? end - 1 : start;
}

static void put_arrow(sluice_trace_file *file, const sluice_slice *wait, uint64_t start, uint64_t end)
{
  const struct flight *flight = &file->flights[wait->awaited % REMEMBERED];
  if (!wait->awaited || flight->instance != wait->awaited)
    return;
  file->arrows++;
  put_arrow_end(file, 's', flight->process, flight->thread, flight->at);
  put_arrow_end(file, 'f', wait->stream + 1, SEQUENCER, last_inside(start, end));
}

/* ---- the trace ---- */

/* A callback runs inside of the simulation, whose guard is not ours. */
struct sent {
  sluice_trace_file *file;
  const sluice_trace_head *head;
  const sluice_slice *slice;
};

static void run(sluice_trace_file *file, int (*work)(void *sent), struct sent *sent)
{
  if (file->status == SLUICE_OK && sl_guard_run(&file->guard, work, sent) != SLUICE_OK)
    file->status = SLUICE_E_NO_MEMORY;
}

static void put_stream(sluice_trace_file *file, const sluice_trace_head *head, uint32_t s)
{
  const sluice_sim_stream *stream = &head->streams[s];
  uint32_t process = s + 1;
  put_metadata(file, process, 0, "process_name", stream->name, 0);
  put_order(file, process, 0);
  if (!stream->is_queue)
    put_thread(file, process, SEQUENCER, "sequencer", 0);
  put_thread(file, process, DATAPATH, stream->is_queue ? "data" : "datapath", 0);
}

/* The first counter of a process announces it. */
static uint32_t add_counter(sluice_trace_file *file, const char *name, uint32_t process, const char *process_name)
{
  uint32_t counter = file->counter_count++;
  if (counter == 0 || file->counters[counter - 1].process != process) {
    put_metadata(file, process, 0, "process_name", process_name, 0);
    put_order(file, process, 0);
  }
  file->counters[counter] =
      (struct counter_track){ .name = sl_heap_strndup(&file->heap, name, strlen(name)), .process = process };
  return counter;
}

/* The track of a space, made when it is the first buffer there. */
static uint32_t track_of_space(sluice_trace_file *file, const char *space, uint32_t process)
{
  uint32_t counter = 0;
  while (counter < file->counter_count &&
         (file->counters[counter].process != process || strcmp(file->counters[counter].name, space) != 0))
    counter++;
  return counter < file->counter_count ? counter : add_counter(file, space, process, "bytes in use");
}

static bool is_buffer_shown(const sluice_trace_file *file, const sluice_trace_buffer *buffer)
{
  bool is_shown = file->options.filter.stream_count == 0;
  for (uint32_t s = 0; s < file->stream_count && !is_shown; s++)
    is_shown = file->streams[s].is_shown && buffer->is_touched[s];
  return is_shown;
}

static void begin_counters(sluice_trace_file *file, const sluice_trace_head *head)
{
  uint32_t semaphores = file->stream_count + 1, memory = semaphores + 1;
  file->counters = sl_heap_calloc(&file->heap, head->counter_count + head->buffer_count + 1, sizeof *file->counters);
  file->buffers = sl_heap_calloc(&file->heap, head->buffer_count + 1, sizeof *file->buffers);
  for (size_t c = 0; c < head->counter_count; c++)
    (void)add_counter(file, head->counters[c], semaphores, "semaphores");
  for (size_t b = 0; b < head->buffer_count; b++) {
    file->buffers[b].is_shown = is_buffer_shown(file, &head->buffers[b]);
    if (file->buffers[b].is_shown)
      file->buffers[b].track = track_of_space(file, head->buffers[b].space, memory);
  }
}

static int begin_guarded(void *arg)
{
  const struct sent *sent = arg;
  sluice_trace_file *file = sent->file;
  const sluice_trace_head *head = sent->head;
  file->ticks_per_ns = head->ticks_per_ns;
  file->stream_count = (uint32_t)head->stream_count;
  file->streams = sl_heap_calloc(&file->heap, head->stream_count + 1, sizeof *file->streams);
  file->flights = sl_heap_calloc(&file->heap, REMEMBERED, sizeof *file->flights);
  puts_to(file, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"kernel\":\"");
  put_escaped(file, head->kernel);
  puts_to(file, "\",\"target\":\"");
  put_escaped(file, head->target);
  puts_to(file, "\",\"producer\":\"sluice " SLUICE_VERSION "\"},\"traceEvents\":[");
  for (uint32_t s = 0; s < file->stream_count; s++) {
    file->streams[s].is_shown = sl_view_is_named(&file->options.filter, head->streams[s].name);
    if (file->streams[s].is_shown)
      put_stream(file, head, s);
  }
  begin_counters(file, head);
  return SLUICE_OK;
}

static void begin(void *user, const sluice_trace_head *head)
{
  struct sent sent = { .file = user, .head = head };
  run(user, begin_guarded, &sent);
}

/* The first lane that is free when the slice begins. */
static uint32_t thread_of_flight(sluice_trace_file *file, const sluice_slice *slice)
{
  struct stream_lanes *lanes = &file->streams[slice->stream];
  uint32_t lane = 0;
  while (lane < lanes->free_at.len && lanes->free_at.data[lane] > slice->start)
    lane++;
  if (lane == lanes->free_at.len) {
    sl_vec_add(&file->heap, &lanes->free_at, 0);
    put_thread(file, slice->stream + 1, FIRST_FLIGHT + lane, "in flight", lane ? lane + 1 : 0);
  }
  lanes->free_at.data[lane] = slice->end;
  return FIRST_FLIGHT + lane;
}

static int slice_guarded(void *arg)
{
  const struct sent *sent = arg;
  sluice_trace_file *file = sent->file;
  const sluice_slice *slice = sent->slice;
  uint64_t start = sl_view_ns(slice->start, file->ticks_per_ns), end = sl_view_ns(slice->end, file->ticks_per_ns);
  uint32_t thread = slice->lane == SLUICE_LANE_CONTROL    ? SEQUENCER
                    : slice->lane == SLUICE_LANE_DATAPATH ? DATAPATH
                                                          : thread_of_flight(file, slice);
  put_slice(file, slice, thread, start, end);
  if (slice->lane == SLUICE_LANE_FLIGHT)
    file->flights[slice->instance % REMEMBERED] =
        (struct flight){ slice->instance, last_inside(start, end), slice->stream + 1, thread };
  if (file->options.flows && slice->kind == SLUICE_SLICE_WAIT)
    put_arrow(file, slice, start, end);
  return SLUICE_OK;
}

static void slice_sent(void *user, const sluice_slice *slice)
{
  sluice_trace_file *file = user;
  struct sent sent = { .file = file, .slice = slice };
  if (file->status != SLUICE_OK || !file->streams[slice->stream].is_shown ||
      !sl_view_is_in_range(&file->options.filter, slice, file->ticks_per_ns))
    return;
  run(file, slice_guarded, &sent);
}

/* A value from before the range holds when the range begins. Only called when a later time is in the range or the run ends
 * there, so the beginning of the range fits. */
static void put_pending(sluice_trace_file *file, uint32_t counter)
{
  if (file->counters[counter].is_pending)
    put_counter(file, counter, (uint64_t)file->options.filter.from_ns, file->counters[counter].first);
  file->counters[counter].is_pending = false;
}

static void counter_sent(void *user, uint32_t counter, uint64_t time, uint64_t value)
{
  sluice_trace_file *file = user;
  const sluice_view_filter *filter = &file->options.filter;
  if (file->status != SLUICE_OK)
    return;
  struct counter_track *track = &file->counters[counter];
  double ns = (double)time / file->ticks_per_ns;
  bool is_before = ns < filter->from_ns, is_in_range = !is_before && ns < filter->to_ns;
  if (is_in_range)
    put_pending(file, counter);
  track->value = value;
  if (is_before) {
    track->first = value;
    track->is_pending = true;
  } else if (is_in_range) {
    put_counter(file, counter, sl_view_ns(time, file->ticks_per_ns), value);
  }
}

static void buffer_sent(void *user, uint32_t buffer, uint64_t time, uint64_t bytes)
{
  sluice_trace_file *file = user;
  struct counted_buffer *counted = file->status == SLUICE_OK ? &file->buffers[buffer] : NULL;
  if (!counted || !counted->is_shown)
    return;
  uint64_t in_use = file->counters[counted->track].value + bytes - counted->bytes;
  counted->bytes = bytes;
  counter_sent(file, counted->track, time, in_use);
}

static void end(void *user, uint64_t ticks)
{
  sluice_trace_file *file = user;
  if (file->status != SLUICE_OK)
    return;
  bool has_range = (double)ticks / file->ticks_per_ns >= file->options.filter.from_ns;
  for (uint32_t c = 0; c < file->counter_count && has_range; c++)
    put_pending(file, c);
  puts_to(file, "\n]}\n");
  flush(file);
  file->has_ended = true;
}

/* ---- entry points ---- */

int sluice_trace_file_new(sluice_trace_file **out, const sluice_trace_file_options *options, const sluice_writer *writer)
{
  assert(out && options && writer && writer->write);
  *out = NULL;
  sluice_trace_file *file = calloc(1, sizeof *file);
  if (!file)
    return SLUICE_E_NO_MEMORY;
  sl_heap_init(&file->heap, &file->guard);
  file->options = *options;
  if (!(file->options.filter.from_ns > 0))
    file->options.filter.from_ns = 0;
  file->writer = *writer;
  file->trace = (sluice_trace){ begin, slice_sent, counter_sent, buffer_sent, end, file };
  *out = file;
  return SLUICE_OK;
}

const sluice_trace *sluice_trace_file_get(sluice_trace_file *file)
{
  assert(file);
  return &file->trace;
}

int sluice_trace_file_status(const sluice_trace_file *file)
{
  assert(file);
  return file->status == SLUICE_OK && !file->has_ended ? SLUICE_E_IO : file->status;
}

void sluice_trace_file_free(sluice_trace_file *file)
{
  if (!file)
    return;
  sl_heap_free_all(&file->heap);
  free(file);
}
