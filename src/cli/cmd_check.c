/* cmd_check.c: `sluice check`: judges synchronized kernels. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option cli_check_options[] = {
  { "against", 0, CLI_FILE, "FILE", "take the dependences from this kernel, matching instructions by label" },
  { "define", 'D', CLI_NAME, "NAME=VALUE[,VALUE...]",
    "fix what is tried: the values of a parameter, or the sequence of a loaded register or of a condition's outcomes "
    "(0 or 1), "
    "which starts again at its end; a condition's may be random:SEED; may be repeated" },
  { "max-events", 0, CLI_NUMBER, "N",
    "stop after N executed instructions, undecided; 0 is no limit (default 50000000)" },
  { "max-runs", 0, CLI_NUMBER, "N", "sample when a kernel has more combinations of choices (default 4096)" },
  { "seed", 0, CLI_NUMBER, "N", "seed of the sample (default 1)" },
  { "no-judge", 0, CLI_FLAG, NULL, "do not look for waits that are stronger than needed" },
  { "minimal", 0, CLI_FLAG, NULL, "also name waits that may be deleted together" },
  { "format", 0, CLI_REPORT, "FORMAT", "form of the report: text (the default), json or sarif" },
  { "json", 0, CLI_FLAG, NULL, "the same as --format=json" },
  { "kernel", 0, CLI_NAME, "NAME", "only the kernel of that name" },
  { "from", 0, CLI_FORM, "FORM", "form of the inputs; by default json when a name ends with .json, else slu" },
  { "target-file", 0, CLI_FILE, "FILE", "load more targets; may be repeated" },
  { 0 }
};

/* ---- the command ---- */

static int print_report(const struct cli_call *call, const struct cli_report *report)
{
  const char *format = cli_value_of(call, "format");
  if (cli_has(call, "json") || (format && strcmp(format, "json") == 0))
    return cli_report_json(report);
  if (format && strcmp(format, "sarif") == 0)
    return cli_report_sarif(report);
  cli_report_text(report);
  return CLI_DONE;
}

static int exit_code_of(enum sluice_verdict verdict)
{
  return verdict == SLUICE_VERDICT_OK ? CLI_DONE : verdict == SLUICE_VERDICT_WRONG ? CLI_NO : CLI_UNDECIDED;
}

static void show_progress(void *context, const sluice_check_progress *progress)
{
  struct cli_progress *line = context;
  if (cli_progress_is_due(line))
    cli_progress_draw(line, "%s: %" PRIu64 " of %" PRIu64 " %s, %.1f million instructions", progress->kernel, progress->done,
                      progress->total, progress->is_judging ? "waits judged" : "runs", (double)progress->events / 1e6);
}

static int check(const struct cli_call *call, const struct cli_inputs *inputs, const sluice_program *program,
                 const sluice_program *against, const sluice_targets *targets)
{
  sluice_check_result *result;
  sluice_check_options options = SLUICE_CHECK_OPTIONS_INIT;
  options.against = against;
  options.inputs = inputs->list;
  options.input_count = inputs->count;
  options.max_events = cli_number(call, "max-events", options.max_events);
  options.max_runs = (uint32_t)cli_number(call, "max-runs", options.max_runs);
  options.seed = cli_number(call, "seed", options.seed);
  options.judge_waits = !cli_has(call, "no-judge");
  options.minimal = cli_has(call, "minimal");
  struct cli_progress line = cli_progress_begin();
  options.progress = show_progress;
  options.progress_context = &line;
  int code = cli_exit_code(sluice_check(&result, program, targets, &options, &cli_sink));
  cli_progress_clear(&line);
  if (code != CLI_DONE)
    return code;
  struct cli_report report = { program, call->arguments[0], cli_value_of(call, "against"), result };
  code = print_report(call, &report);
  if (code == CLI_DONE)
    code = exit_code_of(sluice_check_verdict(result));
  sluice_check_result_free(result);
  return code;
}

static int check_files(const struct cli_call *call, const struct cli_inputs *inputs, const sluice_targets *targets)
{
  sluice_program *program, *against = NULL;
  const char *other = cli_value_of(call, "against");
  int code = cli_load_verified(&program, call, call->arguments[0], targets);
  if (code == CLI_DONE && other)
    code = cli_load_verified(&against, call, other, targets);
  if (code == CLI_DONE)
    code = check(call, inputs, program, against, targets);
  sluice_program_free(against);
  sluice_program_free(program);
  return code;
}

/* What the table of options cannot say. */
static bool is_sensible(const struct cli_call *call)
{
  const char *against = cli_value_of(call, "against"), *format = cli_value_of(call, "format");
  uint64_t runs = cli_number(call, "max-runs", 1);
  if (against && strcmp(against, "-") == 0 && strcmp(call->arguments[0], "-") == 0)
    cli_error("usage", "check: only one of FILE and --against can be stdin");
  else if (cli_has(call, "json") && format && strcmp(format, "json") != 0)
    cli_error("usage", "check: --json and --format=%s contradict each other", format);
  else if (runs < 1 || runs > UINT32_MAX)
    cli_error("usage", "--max-runs: expected a number from 1 to %lu", (unsigned long)UINT32_MAX);
  else
    return true;
  return false;
}

int cli_check(struct cli_call *call)
{
  struct cli_inputs inputs = { NULL, 0 };
  sluice_targets *targets = NULL;
  int code = CLI_BAD;
  if (is_sensible(call) && cli_read_inputs(&inputs, call))
    code = cli_load_targets(&targets, call);
  if (code == CLI_DONE)
    code = check_files(call, &inputs, targets);
  sluice_targets_free(targets);
  cli_free_inputs(&inputs);
  return code;
}
