/* cmd_sync.c: `sluice sync`: dependences in, synchronized kernels out, checked before they are written. Several files
 * are done in threads: a program belongs to one of them, the targets are shared and only read.
 */
#define _XOPEN_SOURCE 700 /* clock_gettime */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct cli_option cli_sync_options[] = {
  { "output", 'o', CLI_FILE, "FILE|DIR",
    "write to FILE instead of stdout; of several files, or when it is a directory: write NAME.slu for every NAME.slu "
    "into "
    "DIR, which is made if it is not there" },
  { "suffix", 0, CLI_NAME, "SUFFIX",
    "write NAME with this end instead of .slu, beside NAME.slu or into the DIR of -o" },
  { "jobs", 'j', CLI_NUMBER, "N", "synchronize several files in N threads; by default one for each processor" },
  { "depfile", CLI_PAIR('M', 'F'), CLI_FILE, "FILE",
    "also write a make rule to FILE: outputs depend on their inputs and on target files; nothing when a file fails" },
  { "deptarget", CLI_PAIR('M', 'T'), CLI_NAME, "TARGET",
    "the target of that rule instead of the outputs, as it stands; may be repeated" },
  { "alloc", 0, CLI_STRATEGY, "STRATEGY", "how waits are made (default shadow)" },
  { "counters", 0, CLI_COUNTERS, "SHARING",
    "with --alloc=shadow, who shares a semaphore: instruction, none; loop, the instructions of one loop and stream; "
    "engine, those of one stream; auto (the default), as few as there are semaphores for" },
  { "cleanup", 0, CLI_CLEANUPS, "NAME,...",
    "clean-ups of the code that computes thresholds (default all; none is the published setting)" },
  { "resync", 0, CLI_FLAG, NULL, "strip the synchronization that is there first, instead of refusing the kernel" },
  { "no-check", 0, CLI_FLAG, NULL, "write the result without running the checker on it" },
  { "kernel", 0, CLI_NAME, "NAME", "only the kernel of that name" },
  { "define", 'D', CLI_NAME, "NAME=VALUE", "give a parameter this default value; may be repeated" },
  { "emit", 0, CLI_FORM, "FORM", "form of the output: slu (the default) or json" },
  { "from", 0, CLI_FORM, "FORM", "form of the input; by default json when its name ends with .json, else slu" },
  { "target-file", 0, CLI_FILE, "FILE", "load more targets; may be repeated" },
  { "stats", 0, CLI_FLAG, NULL, "print what each kernel uses, on stderr" },
  { "passes", 0, CLI_FLAG, NULL, "list the passes in their order, and stop" },
  { "print-after", 0, CLI_PASS, "PASS", "print the kernels, or of deps and reduce the dependences, after this pass (or all), on stderr; may be repeated" },
  { "time-passes", 0, CLI_FLAG, NULL, "print the CPU time of every step, on stderr" },
  { 0 }
};

/* ---- passes: what they print and how long they take ---- */

struct step {
  const char *name;
  double seconds;
};

struct watch {
  const struct cli_call *call;
  const sluice_targets *targets;
  struct step *steps;
  size_t step_count;
};

static void add_step(struct watch *watch, const char *name, double seconds)
{
  watch->steps = cli_realloc(watch->steps, (watch->step_count + 1) * sizeof *watch->steps);
  watch->steps[watch->step_count++] = (struct step){ name, seconds };
}

static double cpu_seconds(void)
{
  struct timespec time = { 0, 0 };
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* What the passes about dependences leave is no part of the kernels: it is shown as `sluice deps` does. */
static void print_dependences(const struct watch *watch, const sluice_program *program, bool is_reduced)
{
  const sluice_deps_options options = { .reduce = is_reduced };
  for (size_t i = 0; i < sluice_program_kernel_count(program); i++) {
    sluice_deps_result *result;
    if (cli_exit_code(sluice_deps(&result, program, i, watch->targets, &options, NULL)) != CLI_DONE)
      return;
    const struct cli_dependences shown = { sluice_program_kernel_name(program, i), result, NULL, is_reduced };
    cli_print_dependences(cli_messages(), &shown);
    sluice_deps_result_free(result);
  }
}

static void after_pass(void *user, const char *pass, const sluice_program *program, double seconds)
{
  struct watch *watch = user;
  char *text;
  size_t length;
  bool is_reduced = strcmp(pass, "reduce") == 0;
  add_step(watch, pass, seconds);
  if (!cli_has_value(watch->call, "print-after", pass) && !cli_has_value(watch->call, "print-after", "all"))
    return;
  if (is_reduced || strcmp(pass, "deps") == 0) {
    fprintf(cli_messages(), "# after %s\n", pass);
    print_dependences(watch, program, is_reduced);
    return;
  }
  if (cli_render(&text, &length, program, false) != CLI_DONE)
    return;
  fprintf(cli_messages(), "# after %s\n", pass);
  fwrite(text, 1, length, cli_messages());
  sluice_string_free(text);
}

static void print_times(const struct watch *watch)
{
  double total = 0;
  for (size_t i = 0; i < watch->step_count; i++)
    total += watch->steps[i].seconds;
  fprintf(cli_messages(), "   seconds   share  pass\n");
  for (size_t i = 0; i < watch->step_count; i++)
    fprintf(cli_messages(), "%10.6f  %5.1f%%  %s\n", watch->steps[i].seconds,
            total > 0 ? 100 * watch->steps[i].seconds / total : 0.0, watch->steps[i].name);
  fprintf(cli_messages(), "%10.6f  100.0%%  total\n", total);
}

static int list_passes(void)
{
  size_t count;
  const sluice_pass *passes = sluice_passes(&count);
  for (size_t i = 0; i < count; i++)
    printf("%-12s %s\n", passes[i].name, passes[i].summary);
  return CLI_DONE;
}

/* ---- statistics ---- */

static int print_stats(const sluice_program *program, const sluice_targets *targets)
{
  for (size_t i = 0; i < sluice_program_kernel_count(program); i++) {
    sluice_stats stats;
    int status = sluice_program_stats(&stats, program, i, targets);
    if (status != SLUICE_OK)
      return cli_exit_code(status);
    const struct {
      const char *name;
      uint64_t value;
    } rows[] = { { "instructions", stats.instructions },
                 { "waits", stats.waits },
                 { "updates", stats.updates },
                 { "semaphores", stats.semaphores },
                 { "registers", stats.registers },
                 { "of these for waits", stats.wait_registers },
                 { "register operations", stats.register_operations },
                 { "barriers", stats.barriers },
                 { "slots", stats.slots },
                 { "bytes", stats.bytes } };
    fprintf(cli_messages(), "%s\n", sluice_program_kernel_name(program, i));
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
      fprintf(cli_messages(), "  %-20s %10llu\n", rows[k].name, (unsigned long long)rows[k].value);
  }
  return CLI_DONE;
}

/* ---- the checker's word on the result ---- */

/* What the result does is known from the input already, so only errors are news. */
static void emit_error(void *user, const sluice_diag *diag)
{
  (void)user;
  if (diag->severity == SLUICE_ERROR)
    cli_sink.emit(cli_sink.user, diag);
}

/* Prints what speaks against the result. A counter that outgrows its width is the target's limit, all else is our fault. */
static void print_errors(const sluice_check_result *checked)
{
  size_t count;
  bool only_limits = true;
  const sluice_finding *findings = sluice_check_findings(checked, &count);
  for (size_t i = 0; i < count; i++)
    if (findings[i].severity == SLUICE_ERROR) {
      cli_print_finding(cli_messages(), &findings[i]);
      only_limits &= strcmp(findings[i].rule, "limit") == 0;
    }
  if (only_limits)
    fprintf(cli_messages(),
            "sluice: note: nothing is written; --alloc=barrier resets its semaphores, and trip counts that are "
            "smaller can be `static` parameters\n");
  else
    cli_error("",
              "the result fails the check, and nothing is written: this is a fault of sluice, please report it with "
              "the kernel");
}

static void print_doubts(const sluice_check_result *checked)
{
  size_t count;
  const sluice_finding *findings = sluice_check_findings(checked, &count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(findings[i].rule, "undecided") == 0)
      fprintf(cli_messages(), "sluice: note: kernel '%s' is not checked completely: %s\n", findings[i].kernel,
              findings[i].text);
}

/* Judges the result against the kernel it was made from. Returns an exit code; other than done, nothing may be written. */
static int check_result(const sluice_program *result, const sluice_program *program, const sluice_targets *targets,
                        struct watch *watch)
{
  enum { EVENTS = 5000000 /* about a second */ };
  sluice_check_result *checked;
  sluice_check_options options = SLUICE_CHECK_OPTIONS_INIT;
  options.against = program;
  options.max_events = EVENTS;
  options.judge_waits = false;
  const sluice_sink errors = { emit_error, NULL };
  double start = cpu_seconds();
  int code = cli_exit_code(sluice_check(&checked, result, targets, &options, &errors));
  add_step(watch, "check", cpu_seconds() - start);
  if (code != CLI_DONE)
    return code;
  if (sluice_check_verdict(checked) == SLUICE_VERDICT_WRONG) {
    print_errors(checked);
    code = CLI_NO;
  } else {
    print_doubts(checked);
  }
  sluice_check_result_free(checked);
  return code;
}

/* ---- the command ---- */

/* Loads and verifies, timed. Returns an exit code. */
static int load(sluice_program **program, const char *path, const sluice_targets *targets, struct watch *watch)
{
  struct cli_text text;
  *program = NULL;
  if (!cli_read(&text, path))
    return CLI_BAD;
  double start = cpu_seconds();
  int code = cli_load(program, watch->call, &text, cli_is_json(watch->call, path));
  add_step(watch, "parse", cpu_seconds() - start);
  free(text.data);
  if (code != CLI_DONE)
    return code;
  start = cpu_seconds();
  code = cli_exit_code(sluice_program_verify(*program, targets, &cli_sink));
  add_step(watch, "verify-input", cpu_seconds() - start);
  return code;
}

/* Prints the result and writes it, the last step, so that nothing is written when another one fails. */
static int write_result(const sluice_program *program, const char *path, const sluice_targets *targets,
                        struct watch *watch)
{
  char *text;
  size_t length;
  const struct cli_call *call = watch->call;
  double start = cpu_seconds();
  int code = cli_render(&text, &length, program, cli_has_value(call, "emit", "json"));
  add_step(watch, "print", cpu_seconds() - start);
  if (code != CLI_DONE)
    return code;
  if (cli_has(call, "stats"))
    code = print_stats(program, targets);
  if (code == CLI_DONE && !cli_write(path, text, length))
    code = CLI_BAD;
  sluice_string_free(text);
  return code;
}

static int sync_file(const char *path, const char *output, const sluice_targets *targets, struct watch *watch)
{
  sluice_program *program, *result = NULL;
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  cli_choose(&options, watch->call);
  options.resync = cli_has(watch->call, "resync");
  options.after_pass = after_pass;
  options.user = watch;
  int code = load(&program, path, targets, watch);
  if (code == CLI_DONE)
    code = cli_exit_code(sluice_sync(&result, program, targets, &options, &cli_sink));
  if (code == CLI_DONE && !cli_has(watch->call, "no-check"))
    code = check_result(result, program, targets, watch);
  sluice_program_free(program);
  if (code == CLI_DONE)
    code = write_result(result, output, targets, watch);
  sluice_program_free(result);
  return code;
}

/* ---- one file or many ---- */

struct batch {
  const struct cli_call *call;
  const sluice_targets *targets;
  char **outputs; /* by argument */
};

static int sync_item(void *context, size_t i)
{
  const struct batch *batch = context;
  const struct cli_call *call = batch->call;
  struct watch watch = { .call = call, .targets = batch->targets };
  bool shows_more = cli_has(call, "stats") || cli_has(call, "time-passes") || cli_has(call, "print-after");
  if (call->argument_count > 1 && shows_more)
    fprintf(cli_messages(), "# %s\n", call->arguments[i]);
  int code = sync_file(call->arguments[i], batch->outputs[i], batch->targets, &watch);
  if (cli_has(call, "time-passes"))
    print_times(&watch);
  free(watch.steps);
  return code;
}

/* Every file, whatever becomes of the others. Returns the worst exit code. */
static int sync_all(struct batch *batch)
{
  size_t count = batch->call->argument_count, failed = 0;
  int worst = CLI_DONE, *codes = cli_alloc(count * sizeof *codes);
  cli_parallel(codes, count, (size_t)cli_number(batch->call, "jobs", cli_processor_count()), sync_item, batch);
  for (size_t i = 0; i < count; i++) {
    failed += codes[i] != CLI_DONE;
    worst = codes[i] > worst ? codes[i] : worst;
  }
  free(codes);
  fprintf(stderr, "%zu files: %zu synchronized, %zu failed\n", count, count - failed, failed);
  return worst;
}

static int sync_batch(struct batch *batch)
{
  const struct cli_call *call = batch->call;
  batch->outputs = cli_outputs(call);
  if (!batch->outputs)
    return CLI_BAD;
  int code = CLI_BAD;
  if (cli_depfile_is_sensible(call, batch->outputs))
    code = call->argument_count == 1 ? sync_item(batch, 0) : sync_all(batch);
  if (code == CLI_DONE)
    code = cli_write_depfile(call, batch->outputs);
  cli_outputs_free(batch->outputs, call);
  return code;
}

/* What the table of options cannot say. */
static bool is_sensible(const struct cli_call *call)
{
  enum { MOST_JOBS = 1024 };
  uint64_t jobs = cli_number(call, "jobs", 1);
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  cli_choose(&options, call);
  if (call->argument_count == 0)
    cli_error("usage", "sync needs a file: sluice sync FILE ('-' is stdin)");
  else if (jobs < 1 || jobs > MOST_JOBS)
    cli_error("usage", "--jobs: expected a number from 1 to %d", MOST_JOBS);
  else if (cli_has(call, "counters") && options.alloc != SLUICE_ALLOC_SHADOW)
    cli_error("usage", "--counters is for --alloc=shadow, not for --alloc=%s", cli_value_of(call, "alloc"));
  else
    return true;
  return false;
}

int cli_sync(struct cli_call *call)
{
  sluice_targets *targets;
  if (cli_has(call, "passes"))
    return list_passes();
  if (!is_sensible(call))
    return CLI_BAD;
  int code = cli_load_targets(&targets, call);
  if (code != CLI_DONE)
    return code;
  struct batch batch = { call, targets, NULL };
  code = sync_batch(&batch);
  sluice_targets_free(targets);
  return code;
}
