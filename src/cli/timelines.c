/* timelines.c: `sluice sim --trace` and `--html`: what simulations look like, each of them sent to both as it runs. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

/* A time at *text, in ns, with a unit or without; moves *text behind it. */
static bool read_time(double *ns, const char **text)
{
  static const struct {
    const char *name;
    double ns;
  } units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
  char *end;
  *ns = strtod(*text, &end);
  if (end == *text || !(*ns >= 0))
    return false;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strncmp(end, units[i].name, strlen(units[i].name)) == 0) {
      *ns *= units[i].ns;
      end += strlen(units[i].name);
      break;
    }
  *text = end;
  return true;
}

/* FROM:TO, either of which may be left out. False after reporting. */
static bool read_range(sluice_view_filter *filter, const char *text)
{
  const char *at = text;
  bool ok = *at == ':' || read_time(&filter->from_ns, &at);
  ok = ok && *at++ == ':' && (!*at || read_time(&filter->to_ns, &at)) && !*at && filter->from_ns < filter->to_ns;
  if (!ok)
    cli_error("usage", "--range %s: expected FROM:TO, as in 10us:25us, the first one less", text);
  return ok;
}

/* Cuts NAME,NAME into names. */
static void read_streams(struct cli_timelines *timelines, const char *text)
{
  size_t count = 1;
  for (const char *at = text; *at; at++)
    count += *at == ',';
  timelines->text = cli_copy(text);
  timelines->names = cli_alloc(count * sizeof *timelines->names);
  for (char *at = timelines->text; at;) {
    char *comma = strchr(at, ',');
    if (comma)
      *comma = '\0';
    timelines->names[timelines->filter.stream_count++] = at;
    at = comma ? comma + 1 : NULL;
  }
  timelines->filter.streams = timelines->names;
}

static bool is_stdout(const char *path)
{
  return path && strcmp(path, "-") == 0;
}

/* What has no sense. */
static bool is_sensible(const struct cli_timelines *timelines, const struct cli_call *call)
{
  static const char *const dependent[] = { "range", "streams", "flows" };
  bool is_wanted = timelines->trace_path || timelines->html_path;
  if (is_stdout(timelines->trace_path) && is_stdout(timelines->html_path)) {
    cli_error("usage", "sim: only one of --trace and --html can be stdout");
    return false;
  }
  if (cli_timelines_use_stdout(timelines) && cli_has(call, "json")) {
    cli_error("usage", "sim: --json and a timeline cannot both be stdout");
    return false;
  }
  for (size_t i = 0; i < sizeof dependent / sizeof *dependent; i++)
    if (!is_wanted && cli_has(call, dependent[i])) {
      cli_error("usage", "sim: --%s needs --trace or --html", dependent[i]);
      return false;
    }
  if (cli_has(call, "flows") && !timelines->trace_path) {
    cli_error("usage", "sim: --flows needs --trace");
    return false;
  }
  return true;
}

bool cli_timelines_use_stdout(const struct cli_timelines *timelines)
{
  return is_stdout(timelines->trace_path) || is_stdout(timelines->html_path);
}

/* ---- one simulation, sent to both ---- */

static void tee_begin(void *user, const sluice_trace_head *head)
{
  struct cli_timelines *timelines = user;
  for (size_t i = 0; i < timelines->filter.stream_count; i++) {
    size_t found = 0;
    while (found < head->stream_count && strcmp(head->streams[found].name, timelines->names[i]) != 0)
      found++;
    if (found == head->stream_count && !timelines->unknown)
      timelines->unknown = timelines->names[i];
  }
  for (size_t i = 0; i < timelines->to_count; i++)
    timelines->to[i]->begin(timelines->to[i]->user, head);
}

static void tee_slice(void *user, const sluice_slice *slice)
{
  const struct cli_timelines *timelines = user;
  for (size_t i = 0; i < timelines->to_count; i++)
    timelines->to[i]->slice(timelines->to[i]->user, slice);
}

static void tee_counter(void *user, uint32_t counter, uint64_t time, uint64_t value)
{
  const struct cli_timelines *timelines = user;
  for (size_t i = 0; i < timelines->to_count; i++)
    if (timelines->to[i]->counter)
      timelines->to[i]->counter(timelines->to[i]->user, counter, time, value);
}

static void tee_buffer(void *user, uint32_t buffer, uint64_t time, uint64_t bytes)
{
  const struct cli_timelines *timelines = user;
  for (size_t i = 0; i < timelines->to_count; i++)
    if (timelines->to[i]->buffer)
      timelines->to[i]->buffer(timelines->to[i]->user, buffer, time, bytes);
}

static void tee_end(void *user, uint64_t ticks)
{
  const struct cli_timelines *timelines = user;
  for (size_t i = 0; i < timelines->to_count; i++)
    timelines->to[i]->end(timelines->to[i]->user, ticks);
}

/* Opens the trace file for the first simulation; there is room for one. */
static int begin_trace(struct cli_timelines *timelines)
{
  if (timelines->file) {
    cli_error("usage", "sim: a trace shows one simulation; choose it, with --kernel for example");
    return CLI_BAD;
  }
  sluice_trace_file_options options = SLUICE_TRACE_FILE_OPTIONS_INIT;
  options.filter = timelines->filter;
  options.flows = timelines->with_flows;
  timelines->stream = cli_stream_open(timelines->trace_path);
  if (!timelines->stream)
    return CLI_BAD;
  const sluice_writer writer = { cli_stream_write, timelines->stream };
  int status = sluice_trace_file_new(&timelines->file, &options, &writer);
  if (status != SLUICE_OK)
    return cli_exit_code(status);
  timelines->to[timelines->to_count++] = sluice_trace_file_get(timelines->file);
  return CLI_DONE;
}

static int begin_version(struct cli_timelines *timelines, const char *kernel, const char *version)
{
  int status = SLUICE_OK;
  if (timelines->kernel && strcmp(timelines->kernel, kernel) != 0) {
    cli_error("usage", "sim: a report shows one kernel, not '%s' and '%s'; choose it with --kernel", timelines->kernel, kernel);
    return CLI_BAD;
  }
  if (!timelines->report) {
    sluice_report_options options = SLUICE_REPORT_OPTIONS_INIT;
    options.filter = timelines->filter;
    timelines->kernel = cli_copy(kernel);
    status = sluice_report_new(&timelines->report, &options);
  }
  if (status == SLUICE_OK)
    status = sluice_report_begin(&timelines->to[timelines->to_count], timelines->report, version);
  timelines->to_count += status == SLUICE_OK;
  return cli_exit_code(status);
}

int cli_timelines_begin(const sluice_trace **trace, struct cli_timelines *timelines, const char *kernel, const char *version)
{
  int code = CLI_DONE;
  *trace = NULL;
  timelines->to_count = 0;
  if (timelines->trace_path)
    code = begin_trace(timelines);
  if (code == CLI_DONE && timelines->html_path)
    code = begin_version(timelines, kernel, version);
  timelines->tee = (sluice_trace){ tee_begin, tee_slice, tee_counter, timelines->trace_path ? tee_buffer : NULL,
                                   tee_end,   timelines };
  if (code == CLI_DONE && timelines->to_count)
    *trace = &timelines->tee;
  return code;
}

int cli_timelines_end(struct cli_timelines *timelines, const sluice_sim_result *result)
{
  if (timelines->unknown) {
    cli_error("usage", "--streams: there is no stream '%s'", timelines->unknown);
    size_t count;
    const sluice_sim_stream *streams = sluice_sim_streams(result, &count);
    const char **names = cli_alloc((count + 1) * sizeof *names);
    for (size_t i = 0; i < count; i++)
      names[i] = streams[i].name;
    cli_suggest(timelines->unknown, names, count);
    free(names);
    return CLI_BAD;
  }
  int status = timelines->html_path ? sluice_report_end(timelines->report, result) : SLUICE_OK;
  if (status == SLUICE_OK && timelines->file)
    status = sluice_trace_file_status(timelines->file);
  return status == SLUICE_E_IO ? CLI_BAD : cli_exit_code(status); /* the stream has reported */
}

/* ---- all of them ---- */

bool cli_timelines_init(struct cli_timelines *timelines, const struct cli_call *call)
{
  const char *range = cli_value_of(call, "range"), *streams = cli_value_of(call, "streams");
  *timelines = (struct cli_timelines){ .trace_path = cli_value_of(call, "trace"), .html_path = cli_value_of(call, "html"),
                                       .with_flows = cli_has(call, "flows"), .filter = SLUICE_VIEW_FILTER_INIT };
  if (streams)
    read_streams(timelines, streams);
  return is_sensible(timelines, call) && (!range || read_range(&timelines->filter, range));
}

int cli_timelines_finish(struct cli_timelines *timelines, int code)
{
  if (timelines->stream && !cli_stream_close(timelines->stream, code == CLI_DONE))
    code = CLI_BAD;
  if (code == CLI_DONE && timelines->report) {
    char *text;
    size_t length;
    code = cli_exit_code(sluice_report_print(&text, &length, timelines->report));
    if (code == CLI_DONE && !cli_write(timelines->html_path, text, length))
      code = CLI_BAD;
    sluice_string_free(text);
  }
  sluice_trace_file_free(timelines->file);
  sluice_report_free(timelines->report);
  free(timelines->names);
  free(timelines->text);
  free(timelines->kernel);
  return code;
}
