/* cmd_sim.c: `sluice sim`: what a synchronized kernel costs by the model of its target. */
#include "cli.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option cli_sim_options[] = {
  { "sync", 0, CLI_NAME, "MODE",
    "as-written (the default), or ideal: instructions wait for exactly what their dependences ask, and that costs "
    "nothing" },
  { "against", 0, CLI_FILE, "FILE",
    "with --sync=ideal: take the dependences from this kernel, matching instructions by label" },
  { "define", 'D', CLI_NAME, "NAME=VALUE[,VALUE...]",
    "the value of a parameter, or the sequence of a loaded register or of a condition's outcomes (0 or 1), which "
    "starts again at "
    "its end; a condition's may be random:SEED; NAME@ENGINE is for one engine; may be repeated" },
  { "set", 0, CLI_NAME, "NAME=VALUE",
    "another value for a parameter of the target, or for qd, shared (on, off), ring_depth, fetch_window, fetch_miss; "
    "may be repeated" },
  { "top", 0, CLI_NUMBER, "N", "print the N waits that cost most (default 10)" },
  { "max-steps", 0, CLI_NUMBER, "N", "give up after N executed steps; 0 is no limit (default 2000000000)" },
  { "alloc", 0, CLI_STRATEGY, "STRATEGY",
    "synchronize kernels first that have no synchronization; repeated, each strategy is simulated, and with "
    "--sync=ideal also the "
    "limit" },
  { "trace", 0, CLI_FILE, "FILE", "write a trace of the simulation for Perfetto or chrome://tracing (JSON)" },
  { "html", 0, CLI_FILE, "FILE",
    "write a page with a timeline, the waits that cost most, and a comparison of what was simulated" },
  { "range", 0, CLI_NAME, "FROM:TO",
    "timelines: only this part of the run, as in 10us:25us; the unit can be ns, us, ms or s" },
  { "streams", 0, CLI_NAME, "NAME,...", "timelines: only these engines and queues" },
  { "flows", 0, CLI_FLAG, NULL, "trace: an arrow to each wait from the instruction that ended it" },
  { "json", 0, CLI_FLAG, NULL, "print JSON" },
  { "kernel", 0, CLI_NAME, "NAME", "only the kernel of that name" },
  { "from", 0, CLI_FORM, "FORM", "form of the inputs; by default json when a name ends with .json, else slu" },
  { "target-file", 0, CLI_FILE, "FILE", "load more targets; may be repeated" },
  { 0 }
};

/* ---- text ---- */

/* A time in a unit that leaves three or four digits. */
static void print_time(double ns)
{
  if (ns < 9999.5)
    printf("%.1f ns", ns);
  else if (ns < 9999500)
    printf("%.2f us", ns / 1e3);
  else
    printf("%.3f ms", ns / 1e6);
}

static void print_share(uint64_t part, uint64_t whole)
{
  printf("%7.1f %%", whole ? 100.0 * (double)part / (double)whole : 0.0);
}

static void print_path(const sluice_sim_summary *summary)
{
  printf("critical path:");
  for (int i = 0; i < SLUICE_PATH_PARTS; i++)
    printf("%s %s %.1f %%", i ? "," : "", sluice_path_part_name((enum sluice_path_part)i),
           summary->ticks ? 100.0 * (double)summary->path[i] / (double)summary->ticks : 0.0);
  putchar('\n');
}

static void print_streams(const sluice_sim_result *result, uint64_t ticks)
{
  size_t count, width = 6;
  const sluice_sim_stream *streams = sluice_sim_streams(result, &count);
  for (size_t i = 0; i < count; i++)
    width = strlen(streams[i].name) > width ? strlen(streams[i].name) : width;
  printf("  %-*s %9s %9s %9s %9s %13s\n", (int)width, "stream", "busy", "stalled", "control", "barrier", "instructions");
  for (size_t i = 0; i < count; i++) {
    const sluice_sim_stream *stream = &streams[i];
    printf("  %-*s ", (int)width, stream->name);
    print_share(stream->busy, ticks);
    if (stream->is_queue)
      printf(" %9s %9s %9s", "", "", "");
    for (int k = 0; k < 3 && !stream->is_queue; k++) {
      putchar(' ');
      print_share(k == 0 ? stream->stalled : k == 1 ? stream->control : stream->barrier, ticks);
    }
    printf(" %13llu\n", (unsigned long long)stream->instructions);
  }
}

static void print_stalls(const sluice_sim_result *result, double ticks_per_ns, uint64_t most)
{
  size_t count;
  const sluice_sim_stall *stalls = sluice_sim_stalls(result, &count);
  for (size_t i = 0; i < count && i < most; i++) {
    const sluice_sim_stall *stall = &stalls[i];
    printf("  %s idle ", stall->engine);
    print_time((double)stall->ticks / ticks_per_ns);
    printf(" in total before `%s`, waiting for %s", stall->label, stall->waits_for);
    if (*stall->producer)
      printf(", producer `%s` on %s", stall->producer, stall->producer_stream);
    printf(" (%llu times, at most ", (unsigned long long)stall->count);
    print_time((double)stall->longest / ticks_per_ns);
    printf(")\n");
  }
  if (count > most)
    printf("  and %zu more waits\n", count - (size_t)most);
}

/* `version` is NULL when there is no choice. */
static void print_text(const sluice_sim_result *result, const char *version, uint64_t most, bool is_first)
{
  const sluice_sim_summary *summary = sluice_sim_summary_get(result);
  printf("%s%s on %s%s%s: ", is_first ? "" : "\n", summary->kernel, summary->target, version ? ", " : "",
         version ? version : "");
  print_time(summary->ns);
  printf(" (%llu ticks)\n", (unsigned long long)summary->ticks);
  print_path(summary);
  printf("executed: %llu instructions, %llu register operations, %llu branches, %llu wait-only slots, %llu barriers\n",
         (unsigned long long)summary->instructions, (unsigned long long)summary->register_operations,
         (unsigned long long)summary->branches, (unsigned long long)summary->wait_slots,
         (unsigned long long)summary->barriers);
  print_streams(result, summary->ticks);
  print_stalls(result, summary->ticks_per_ns, most);
}

/* ---- JSON ---- */

static json_t *number(uint64_t value)
{
  return json_integer((json_int_t)value);
}

static json_t *json_of_streams(const sluice_sim_result *result)
{
  size_t count;
  const sluice_sim_stream *streams = sluice_sim_streams(result, &count);
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    const sluice_sim_stream *s = &streams[i];
    json_array_append_new(list, json_pack("{s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", cli_json_text(s->name),
                                          "queue", s->is_queue, "trigger", cli_json_text(streams[s->trigger].name), "busy",
                                          number(s->busy), "stalled", number(s->stalled), "control", number(s->control),
                                          "barrier", number(s->barrier), "instructions", number(s->instructions), "end",
                                          number(s->end)));
  }
  return list;
}

static json_t *json_of_stalls(const sluice_sim_result *result)
{
  size_t count;
  const sluice_sim_stall *stalls = sluice_sim_stalls(result, &count);
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    const sluice_sim_stall *s = &stalls[i];
    json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "engine", cli_json_text(s->engine),
                                          "label", cli_json_text(s->label), "line", number(s->line), "waits_for",
                                          cli_json_text(s->waits_for), "producer", cli_json_text(s->producer),
                                          "producer_stream", cli_json_text(s->producer_stream), "ticks", number(s->ticks),
                                          "longest", number(s->longest), "count", number(s->count)));
  }
  return list;
}

static json_t *json_of(const sluice_sim_result *result)
{
  const sluice_sim_summary *s = sluice_sim_summary_get(result);
  json_t *path = json_object();
  for (int i = 0; i < SLUICE_PATH_PARTS; i++)
    json_object_set_new(path, sluice_path_part_name((enum sluice_path_part)i), number(s->path[i]));
  return json_pack("{s:o, s:o, s:o, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kernel", cli_json_text(s->kernel),
                   "target", cli_json_text(s->target), "ticks", number(s->ticks), "ns", s->ns, "ticks_per_ns", s->ticks_per_ns,
                   "critical_path", path, "instructions", number(s->instructions), "register_operations",
                   number(s->register_operations), "branches", number(s->branches), "wait_slots", number(s->wait_slots),
                   "barriers", number(s->barriers), "streams", json_of_streams(result), "stalls", json_of_stalls(result));
}

/* ---- the command ---- */

struct sim {
  const struct cli_call *call;
  const sluice_targets *targets;
  sluice_sim_options options;
  struct cli_inputs inputs;
  bool with_ideal;        /* --alloc: the limit is simulated too */
  struct cli_timelines timelines;
  json_t *list;           /* with --json */
  bool is_first;
};

static void print(struct sim *sim, const sluice_sim_result *result, const char *version)
{
  if (sim->list) {
    json_t *one = json_of(result);
    if (version)
      json_object_set_new(one, "version", cli_json_text(version));
    json_array_append_new(sim->list, one);
  } else if (!cli_timelines_use_stdout(&sim->timelines)) {
    print_text(result, version, cli_number(sim->call, "top", 10), sim->is_first);
  }
  sim->is_first = false;
}

/* `version` is what it is called beside others, `shown` where it is the only one or not. */
static int simulate(struct sim *sim, const sluice_program *program, size_t kernel, const char *version, const char *shown)
{
  sluice_sim_result *result;
  int code = cli_timelines_begin(&sim->options.trace, &sim->timelines, sluice_program_kernel_name(program, kernel), shown);
  if (code != CLI_DONE)
    return code;
  code = cli_exit_code(sluice_sim(&result, program, kernel, sim->targets, &sim->options, &cli_sink));
  if (code != CLI_DONE)
    return code;
  code = cli_timelines_end(&sim->timelines, result);
  if (code == CLI_DONE)
    print(sim, result, version);
  sluice_sim_result_free(result);
  return code;
}

/* Every kernel of a file, until one fails. */
static int simulate_all(struct sim *sim, const sluice_program *program, const char *version, const char *shown)
{
  int code = CLI_DONE;
  for (size_t k = 0; k < sluice_program_kernel_count(program) && code == CLI_DONE; k++)
    code = simulate(sim, program, k, version, shown);
  return code;
}

/* ---- --alloc ---- */

static bool is_synchronized(const sluice_program *program, const sluice_targets *targets)
{
  sluice_stats stats;
  for (size_t k = 0; k < sluice_program_kernel_count(program); k++)
    if (sluice_program_stats(&stats, program, k, targets) == SLUICE_OK && stats.waits + stats.updates + stats.barriers > 0)
      return true;
  return false;
}

static int simulate_strategy(struct sim *sim, const sluice_program *program, const char *name)
{
  size_t count;
  const sluice_strategy *strategies = sluice_strategies(&count);
  sluice_program *synced;
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  for (size_t i = 0; i < count; i++)
    if (strcmp(strategies[i].name, name) == 0)
      options.alloc = strategies[i].alloc;
  int code = cli_exit_code(sluice_sync(&synced, program, sim->targets, &options, &cli_sink));
  sim->options.origin = program;
  if (code == CLI_DONE)
    code = simulate_all(sim, synced, name, name);
  sim->options.origin = NULL;
  sluice_program_free(synced);
  return code;
}

static int simulate_strategies(struct sim *sim, sluice_program *program)
{
  int code = CLI_DONE;
  sim->options.sync = SLUICE_SIM_AS_WRITTEN;
  for (size_t i = 0; i < sim->call->given_count && code == CLI_DONE; i++)
    if (strcmp(sim->call->given[i].option->name, "alloc") == 0)
      code = simulate_strategy(sim, program, sim->call->given[i].value);
  if (code == CLI_DONE && sim->with_ideal) {
    sim->options.sync = SLUICE_SIM_IDEAL;
    code = simulate_all(sim, program, "ideal", "ideal");
    sim->options.sync = SLUICE_SIM_AS_WRITTEN;
  }
  return code;
}

/* ---- files ---- */

/* The file's name without directory and ending. To be freed. */
static char *version_of(const char *path)
{
  const char *slash = strrchr(path, '/');
  char *name = cli_copy(slash ? slash + 1 : path), *dot = strrchr(name, '.');
  if (dot && dot != name)
    *dot = '\0';
  return name;
}

static int simulate_file(struct sim *sim, const char *path)
{
  sluice_program *program;
  bool is_one = sim->call->argument_count == 1;
  int code = cli_load_verified(&program, sim->call, path, sim->targets);
  if (code != CLI_DONE)
    return code;
  char *version = version_of(path);
  if (cli_has(sim->call, "alloc") && !is_synchronized(program, sim->targets)) {
    code = cli_check_inputs(program, sim->targets, &sim->inputs);
    cli_define_parameters(program, &sim->inputs);
    sim->options.ignore_unknown_inputs = true; /* a strategy may leave a condition out */
    code = code == CLI_DONE ? simulate_strategies(sim, program) : code;
    sim->options.ignore_unknown_inputs = false;
  } else {
    code = simulate_all(sim, program, is_one ? NULL : version, version);
  }
  free(version);
  sluice_program_free(program);
  return code;
}

static int simulate_files(struct sim *sim)
{
  sluice_program *against = NULL;
  const char *other = cli_value_of(sim->call, "against");
  int code = other ? cli_load_verified(&against, sim->call, other, sim->targets) : CLI_DONE;
  sim->options.against = against;
  for (size_t i = 0; i < sim->call->argument_count && code == CLI_DONE; i++)
    code = simulate_file(sim, sim->call->arguments[i]);
  sluice_program_free(against);
  return code;
}

static size_t count_stdin(const struct cli_call *call, const char *against)
{
  size_t count = against && strcmp(against, "-") == 0;
  for (size_t i = 0; i < call->argument_count; i++)
    count += strcmp(call->arguments[i], "-") == 0;
  return count;
}

/* What the table of options cannot say. */
static bool read_mode(struct sim *sim)
{
  const char *mode = cli_value_of(sim->call, "sync"), *against = cli_value_of(sim->call, "against");
  bool is_ideal = mode && strcmp(mode, "ideal") == 0;
  if (mode && !is_ideal && strcmp(mode, "as-written") != 0)
    cli_error("usage", "--sync: expected as-written or ideal, not '%s'", mode);
  else if (against && !is_ideal)
    cli_error("usage", "sim: --against needs --sync=ideal");
  else if (against && cli_has(sim->call, "alloc"))
    cli_error("usage", "sim: --against and --alloc exclude each other");
  else if (count_stdin(sim->call, against) > 1)
    cli_error("usage", "sim: only one of FILE and --against can be stdin");
  else {
    sim->with_ideal = is_ideal;
    sim->options.sync = is_ideal && !cli_has(sim->call, "alloc") ? SLUICE_SIM_IDEAL : SLUICE_SIM_AS_WRITTEN;
    return true;
  }
  return false;
}

int cli_sim(struct cli_call *call)
{
  struct sim sim = { .call = call, .options = SLUICE_SIM_OPTIONS_INIT, .is_first = true };
  struct cli_settings settings = { NULL, 0 };
  sluice_targets *targets = NULL;
  int code = CLI_BAD;
  if (cli_timelines_init(&sim.timelines, call) && read_mode(&sim) && cli_read_inputs(&sim.inputs, call) &&
      cli_read_settings(&settings, call))
    code = cli_load_targets(&targets, call);
  if (code == CLI_DONE) {
    sim.targets = targets;
    sim.options.inputs = sim.inputs.list;
    sim.options.input_count = sim.inputs.count;
    sim.options.settings = settings.list;
    sim.options.setting_count = settings.count;
    sim.options.max_steps = cli_number(call, "max-steps", sim.options.max_steps);
    sim.list = cli_has(call, "json") ? json_array() : NULL;
    code = simulate_files(&sim);
  }
  code = cli_timelines_finish(&sim.timelines, code);
  if (code == CLI_DONE && sim.list)
    code = cli_print_json(sim.list);
  else
    json_decref(sim.list);
  sluice_targets_free(targets);
  cli_free_settings(&settings);
  cli_free_inputs(&sim.inputs);
  return code;
}
