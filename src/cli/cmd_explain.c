/* cmd_explain.c: `sluice explain`: why an instruction waits. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

const struct cli_option cli_explain_options[] = {
  { "alloc", 0, CLI_STRATEGY, "STRATEGY",
    "how a kernel without synchronization is synchronized first (default shadow)" },
  { "counters", 0, CLI_COUNTERS, "SHARING",
    "who shares a semaphore with --alloc=shadow: auto (the default), instruction, loop or engine" },
  { "cleanup", 0, CLI_CLEANUPS, "NAME,...", "clean-ups of the code that computes thresholds (default all)" },
  { "define", 'D', CLI_NAME, "NAME=VALUE[,VALUE...]",
    "the value of a parameter, also for the strategy, or what a loaded register or a condition decides, as for `sluice "
    "sim`; may be "
    "repeated" },
  { "set", 0, CLI_NAME, "NAME=VALUE",
    "another value for a parameter of the target, as for `sluice sim`; may be repeated" },
  { "max-steps", 0, CLI_NUMBER, "N", "no costs after N executed steps; 0 is no limit (default 2000000000)" },
  { "json", 0, CLI_FLAG, NULL, "print JSON" },
  { "kernel", 0, CLI_NAME, "NAME", "only the kernel of that name" },
  { "from", 0, CLI_FORM, "FORM", "form of the input; by default json when its name ends with .json, else slu" },
  { "target-file", 0, CLI_FILE, "FILE", "load more targets; may be repeated" },
  { 0 }
};

struct explain {
  const struct cli_call *call;
  const sluice_targets *targets;
  struct cli_settings settings;
  struct cli_inputs inputs;
  const sluice_program *origin; /* as it was read */
};

/* That a kernel is already synchronized is no error here: it is explained as it stands. */
static void emit_unless_synced(void *user, const sluice_diag *diag)
{
  bool *is_synced = user;
  if (strcmp(diag->rule, "synced") == 0)
    *is_synced = true;
  else
    cli_sink.emit(cli_sink.user, diag);
}

/* *result is NULL when the program carries synchronization. Returns an exit code. */
static int synchronize(sluice_program **result, const struct explain *explain)
{
  bool is_synced = false;
  const sluice_sink sink = { emit_unless_synced, &is_synced };
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  cli_choose(&options, explain->call);
  int status = sluice_sync(result, explain->origin, explain->targets, &options,
                           cli_has(explain->call, "alloc") ? &cli_sink : &sink);
  return is_synced ? CLI_DONE : cli_exit_code(status);
}

static void keep_reason(void *user, const sluice_diag *diag)
{
  char **reason = user;
  if (!*reason && diag->severity == SLUICE_ERROR)
    *reason = cli_copy(diag->text);
}

/* Prints what is known of one kernel's instruction; when the kernel cannot be simulated, without costs. */
static int explain_kernel(const struct explain *explain, const sluice_program *program, size_t kernel)
{
  char *text, *reason = NULL;
  sluice_sim_result *costs = NULL;
  const sluice_sink sink = { keep_reason, &reason };
  sluice_sim_options options = SLUICE_SIM_OPTIONS_INIT;
  options.settings = explain->settings.list;
  options.setting_count = explain->settings.count;
  options.inputs = explain->inputs.list;
  options.input_count = explain->inputs.count;
  options.ignore_unknown_inputs = true; /* the kernel as written has them all */
  options.max_steps = cli_number(explain->call, "max-steps", options.max_steps);
  int status = sluice_sim(&costs, program, kernel, explain->targets, &options, &sink);
  const sluice_explain_options how = { explain->origin, costs, reason ? reason : sluice_status_name(status),
                                       cli_has(explain->call, "json") };
  int code = cli_exit_code(
      sluice_explain(&text, program, kernel, explain->call->arguments[1], explain->targets, &how, &cli_sink));
  if (code == CLI_DONE)
    fputs(text, stdout);
  sluice_string_free(text);
  sluice_sim_result_free(costs);
  free(reason);
  return code;
}

/* Reads, gives parameters their values, and verifies. */
static int load(sluice_program **program, const struct explain *explain)
{
  struct cli_text text;
  const char *path = explain->call->arguments[0];
  *program = NULL;
  if (!cli_read(&text, path))
    return CLI_BAD;
  int code = cli_load_as_written(program, explain->call, &text, cli_is_json(explain->call, path));
  free(text.data);
  if (code != CLI_DONE)
    return code;
  cli_define_parameters(*program, &explain->inputs);
  code = cli_exit_code(sluice_program_verify(*program, explain->targets, &cli_sink));
  return code == CLI_DONE ? cli_check_inputs(*program, explain->targets, &explain->inputs) : code;
}

static int explain_program(struct explain *explain)
{
  sluice_program *program, *result = NULL;
  int code = load(&program, explain);
  explain->origin = program;
  if (code == CLI_DONE && sluice_program_kernel_count(program) != 1) {
    cli_error("usage", "%s has %zu kernels: choose one with --kernel", explain->call->arguments[0],
              sluice_program_kernel_count(program));
    code = CLI_BAD;
  }
  if (code == CLI_DONE)
    code = synchronize(&result, explain);
  if (code == CLI_DONE)
    code = explain_kernel(explain, result ? result : program, 0);
  sluice_program_free(result);
  sluice_program_free(program);
  return code;
}

int cli_explain(struct cli_call *call)
{
  struct explain explain = { .call = call };
  sluice_targets *targets = NULL;
  int code = CLI_BAD;
  if (cli_read_settings(&explain.settings, call) && cli_read_inputs(&explain.inputs, call))
    code = cli_load_targets(&targets, call);
  explain.targets = targets;
  if (code == CLI_DONE)
    code = explain_program(&explain);
  sluice_targets_free(targets);
  cli_free_inputs(&explain.inputs);
  cli_free_settings(&explain.settings);
  return code;
}
