/* cmd_bench.c: `sluice bench`: every strategy side by side, and the version synchronized by hand where there is one. A
 * strategy that cannot express a kernel is a row with the reason, not a failure; so is a kernel that cannot be simulated.
 */
#define _XOPEN_SOURCE 700 /* access */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct cli_option cli_bench_options[] = {
  { "json", 0, CLI_FLAG, NULL, "print JSON" },
  { "csv", 0, CLI_FLAG, NULL, "print comma-separated values" },
  { "svg", 0, CLI_FILE, "FILE", "also write the latencies, against that with barriers, as a bar chart" },
  { "published", 0, CLI_FLAG, NULL,
    "also print the published figures of the nine kernels of bench/table2, known by the name of their file, and how "
    "many "
    "registers the published rule gives" },
  { "grid", 0, CLI_FLAG, NULL,
    "simulate at twelve points of the parameters, and print the least, the median and the greatest ratio" },
  { "set", 0, CLI_NAME, "NAME=VALUE",
    "another value for a parameter of the target, as for `sluice sim`; may be repeated" },
  { "max-steps", 0, CLI_NUMBER, "N", "no latency after N executed steps; 0 is no limit (default 2000000000)" },
  { "alloc", 0, CLI_STRATEGY, "STRATEGY", "only this strategy, beside the version made by hand; may be repeated" },
  { "counters", 0, CLI_COUNTERS, "SHARING",
    "who shares a semaphore in the row shadow: auto (the default), instruction, loop or engine" },
  { "cleanup", 0, CLI_CLEANUPS, "NAME,...",
    "clean-ups of the code that computes thresholds (default all; none is the published setting)" },
  { "kernel", 0, CLI_NAME, "NAME", "only the kernel of that name" },
  { "define", 'D', CLI_NAME, "NAME=VALUE[,VALUE...]",
    "the value of a parameter, also for the strategies, or what a loaded register or a condition decides, as for "
    "`sluice sim`; may "
    "be repeated" },
  { "from", 0, CLI_FORM, "FORM", "form of the input; by default json when its name ends with .json, else slu" },
  { "target-file", 0, CLI_FILE, "FILE", "load more targets; may be repeated" },
  { 0 }
};

/* One change of a parameter at a time; docs/simulator.md says why these. */
const struct bench_point bench_points[BENCH_POINTS] = {
  { NULL, 0 },
  { "register_op", 30 },
  { "register_op", 90 },
  { "branch", 100 },
  { "branch", 350 },
  { "semaphore_visibility", 40 },
  { "semaphore_visibility", 200 },
  { "drain", 300 },
  { "dma_start", 2000 },
  { "dma_sustained", 180 },
  { "qd", 1 },
  { "qd", 4 },
};

struct bench {
  const struct cli_call *call;
  const sluice_targets *targets;
  struct cli_settings settings;
  struct cli_inputs inputs;
  struct bench_look look;
  struct bench_file *files; /* one for every argument */
};

/* What became of one argument. */
struct bench_file {
  struct bench_table *tables;
  size_t count;
};

/* ---- one version ---- */

/* Keeps the first error's text instead of printing it. */
static void keep_reason(void *user, const sluice_diag *diag)
{
  char **reason = user;
  if (*reason || diag->severity != SLUICE_ERROR)
    return;
  size_t size = strlen(diag->text) + strlen(diag->rule) + 4;
  *reason = cli_alloc(size);
  snprintf(*reason, size, "%s [%s]", diag->text, diag->rule);
}

static int worse(int code, int other)
{
  return other > code ? other : code;
}

/* The latency of the only kernel of a verified program, at the parameters asked for and, when wanted, over the grid. What is
 * missing has its reason in *why. Returns an exit code other than 1. */
static int simulate(struct bench_latency *latency, char **why, const sluice_program *program, enum sluice_sim_sync sync,
                    const struct bench *bench)
{
  size_t count = bench->settings.count;
  const sluice_sink sink = { keep_reason, why };
  sluice_setting *settings = cli_alloc((count + 1) * sizeof *settings);
  sluice_sim_options options = SLUICE_SIM_OPTIONS_INIT;
  for (size_t i = 0; i < count; i++)
    settings[i] = bench->settings.list[i];
  options.sync = sync;
  options.settings = settings;
  options.setting_count = count;
  options.max_steps = cli_number(bench->call, "max-steps", options.max_steps);
  options.inputs = bench->inputs.list;
  options.input_count = bench->inputs.count;
  options.ignore_unknown_inputs = true; /* the kernel as written has them all */
  int status = sluice_sim_latency(&latency->ticks, &latency->ns, program, 0, bench->targets, &options, &sink);
  latency->is_known = status == SLUICE_OK;
  latency->points[0] = latency->ns;
  for (size_t i = 1; i < BENCH_POINTS && status == SLUICE_OK && bench->look.with_grid; i++) {
    uint64_t ticks;
    settings[count] = (sluice_setting){ bench_points[i].setting, bench_points[i].value };
    options.setting_count = count + 1;
    status = sluice_sim_latency(&ticks, &latency->points[i], program, 0, bench->targets, &options, &sink);
  }
  latency->has_grid = bench->look.with_grid && status == SLUICE_OK;
  free(settings);
  if (status != SLUICE_OK && !*why)
    *why = cli_copy(sluice_status_name(status));
  return status == SLUICE_E_NO_MEMORY ? CLI_BAD : CLI_DONE;
}

/* Counts and latency of a synchronized version. */
static int measure(struct bench_row *row, const sluice_program *program, const struct bench *bench)
{
  int code = cli_exit_code(sluice_program_stats(&row->stats, program, 0, bench->targets));
  row->has_counts = code == CLI_DONE;
  return worse(code, simulate(&row->own, &row->no_latency, program, SLUICE_SIM_AS_WRITTEN, bench));
}

/* What can be reached at all: for a version with loops of its own that of those, for all others that of the kernel. */
static int limit(struct bench_row *row, const sluice_program *result, const struct bench_row *ideal,
                 const struct bench *bench, enum sluice_alloc alloc)
{
  row->limit = ideal->own;
  if (alloc != SLUICE_ALLOC_UNROLL)
    return CLI_DONE;
  return simulate(&row->limit, &row->no_latency, result, SLUICE_SIM_IDEAL, bench);
}

/* One strategy on the only kernel of a verified program. Returns an exit code other than 1. */
static int run_strategy(struct bench_row *row, const sluice_strategy *strategy, const sluice_program *program,
                        const struct bench_row *ideal, const struct bench *bench)
{
  sluice_program *result;
  const sluice_sink sink = { keep_reason, &row->reason };
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  cli_choose(&options, bench->call);
  options.alloc = strategy->alloc;
  options.resync = true;
  int status = sluice_sync(&result, program, bench->targets, &options, &sink), code = CLI_DONE;
  if (status == SLUICE_OK)
    code = measure(row, result, bench);
  if (status == SLUICE_OK)
    code = worse(code, limit(row, result, ideal, bench, strategy->alloc));
  sluice_program_free(result);
  if (status != SLUICE_OK && !row->reason)
    row->reason = cli_copy(sluice_status_name(status));
  return status == SLUICE_E_NO_MEMORY ? CLI_BAD : code;
}

/* The published rule is one for the closed form. */
static void apply_rule(struct bench_row *row, const sluice_strategy *strategy, const sluice_program *program,
                       const struct bench *bench)
{
  if (bench->look.with_published && strategy->alloc == SLUICE_ALLOC_PER_LOOP)
    row->has_rule = sluice_published_registers(&row->rule_registers, program, 0, bench->targets) == SLUICE_OK;
}

static struct bench_ratio ratio_of(const struct bench_latency *a, const struct bench_latency *b)
{
  struct bench_ratio ratio = { .is_known = a->is_known && b->is_known && b->ns > 0 };
  ratio.has_grid = ratio.is_known && a->has_grid && b->has_grid;
  if (ratio.is_known)
    ratio.value = a->ns / b->ns;
  for (size_t i = 0; i < BENCH_POINTS && ratio.has_grid; i++)
    ratio.points[i] = a->points[i] / b->points[i];
  return ratio;
}

/* ---- one kernel ---- */

static struct bench_row *add_row(struct bench_table *table, const struct bench *bench, const char *strategy)
{
  struct bench_row *row = &table->rows[table->count++];
  *row = (struct bench_row){ .strategy = strategy };
  if (bench->look.with_published)
    row->published = cli_published(table->path, strategy);
  return row;
}

/* Barriers are simulated also when they have no row: they are what latencies are compared with. */
static int run_strategies(struct bench_table *table, struct bench_latency *barrier, const struct bench_row *ideal,
                          const sluice_program *program, const struct bench *bench)
{
  size_t count;
  int code = CLI_DONE;
  const sluice_strategy *strategies = sluice_strategies(&count);
  for (size_t i = 0; i < count; i++) {
    struct bench_row unseen = { .strategy = strategies[i].name }, *row = &unseen;
    bool is_barrier = strategies[i].alloc == SLUICE_ALLOC_BARRIER;
    bool is_seen = !cli_has(bench->call, "alloc") || cli_has_value(bench->call, "alloc", strategies[i].name);
    if (is_seen)
      row = add_row(table, bench, strategies[i].name);
    if (is_seen || is_barrier)
      code = worse(code, run_strategy(row, &strategies[i], program, ideal, bench));
    apply_rule(row, &strategies[i], program, bench);
    if (is_barrier)
      *barrier = row->own;
    free(unseen.reason);
    free(unseen.no_latency);
  }
  return code;
}

/* The rows of the only kernel of a verified program; `manual` is the same kernel synchronized by hand, or NULL. */
static int bench_kernel(struct bench_table *table, const struct bench *bench, const sluice_program *program,
                        const sluice_program *manual)
{
  size_t count;
  struct bench_latency barrier = { 0 };
  struct bench_row ideal = { .strategy = "ideal" };
  (void)sluice_strategies(&count);
  table->kernel = cli_copy(sluice_program_kernel_name(program, 0));
  table->rows = cli_alloc((count + 2) * sizeof *table->rows);
  int code = simulate(&ideal.own, &ideal.no_latency, program, SLUICE_SIM_IDEAL, bench);
  ideal.limit = ideal.own;
  code = worse(code, run_strategies(table, &barrier, &ideal, program, bench));
  if (manual && code == CLI_DONE) {
    struct bench_row *row = add_row(table, bench, "manual");
    row->limit = ideal.own;
    code = measure(row, manual, bench);
  }
  table->rows[table->count++] = ideal;
  for (size_t i = 0; i < table->count; i++) {
    struct bench_row *row = &table->rows[i];
    row->to_barrier = ratio_of(&row->own, &barrier);
    row->of_ideal = ratio_of(&row->limit, &row->own);
  }
  return code;
}

static void free_table(struct bench_table *table)
{
  for (size_t i = 0; i < table->count; i++) {
    free(table->rows[i].reason);
    free(table->rows[i].no_latency);
  }
  free(table->rows);
  free(table->kernel);
}

/* ---- one file ---- */

/* A file read, with its name. */
struct file {
  const char *path;
  struct cli_text text;
};

static bool has_kernel(const sluice_program *program, const char *name)
{
  for (size_t i = 0; i < sluice_program_kernel_count(program); i++)
    if (strcmp(sluice_program_kernel_name(program, i), name) == 0)
      return true;
  return false;
}

/* One kernel of a file, verified, its parameters with the values asked for; *program is NULL when the file does not have it.
 * Returns an exit code. */
static int load_kernel(sluice_program **program, const struct bench *bench, const struct file *file, const char *kernel)
{
  int code = cli_load_as_written(program, bench->call, &file->text, cli_is_json(bench->call, file->path));
  if (code == CLI_DONE && !has_kernel(*program, kernel)) {
    sluice_program_free(*program);
    *program = NULL;
    return CLI_DONE;
  }
  if (code == CLI_DONE)
    code = cli_exit_code(sluice_program_select(*program, kernel, &cli_sink));
  if (code == CLI_DONE)
    cli_define_parameters(*program, &bench->inputs);
  if (code == CLI_DONE)
    code = cli_exit_code(sluice_program_verify(*program, bench->targets, &cli_sink));
  if (code != CLI_DONE) {
    sluice_program_free(*program);
    *program = NULL;
  }
  return code;
}

/* Every kernel by itself, so that one that cannot be synchronized does not take the others along. Without a version made
 * by hand, manual->path is NULL. */
static int bench_kernels(struct bench_file *to, const struct bench *bench, const struct file *file,
                         const struct file *manual)
{
  sluice_program *all;
  int worst = cli_load_as_written(&all, bench->call, &file->text, cli_is_json(bench->call, file->path));
  if (worst != CLI_BAD)
    to->tables = cli_alloc(sluice_program_kernel_count(all) * sizeof *to->tables);
  for (size_t i = 0; worst != CLI_BAD && i < sluice_program_kernel_count(all); i++) {
    const char *kernel = sluice_program_kernel_name(all, i);
    sluice_program *program, *by_hand = NULL;
    int code = load_kernel(&program, bench, file, kernel);
    if (code == CLI_DONE)
      code = cli_check_inputs(program, bench->targets, &bench->inputs);
    int of_manual = manual->path ? load_kernel(&by_hand, bench, manual, kernel) : CLI_DONE;
    if (code == CLI_DONE) {
      struct bench_table *table = &to->tables[to->count++];
      *table = (struct bench_table){ .path = file->path };
      code = bench_kernel(table, bench, program, by_hand);
    }
    worst = worse(worse(worst, code), of_manual);
    sluice_program_free(by_hand);
    sluice_program_free(program);
  }
  sluice_program_free(all);
  return worst;
}

/* ---- files ---- */

/* NAME.manual.slu for NAME.slu; NULL when the name does not end so. */
static char *manual_path(const char *path)
{
  static const char *const ends[] = { ".slu", ".json" };
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    size_t length = strlen(path), end = strlen(ends[i]), size = length + sizeof ".manual";
    if (length < end || strcmp(path + length - end, ends[i]) != 0)
      continue;
    char *manual = cli_alloc(size);
    snprintf(manual, size, "%.*s.manual%s", (int)(length - end), path, ends[i]);
    return manual;
  }
  return NULL;
}

/* Whether an argument is the version by hand of another one, and has its row there. */
static bool is_shown_elsewhere(const struct cli_call *call, const char *path)
{
  bool found = false;
  for (size_t i = 0; i < call->argument_count && !found; i++) {
    char *manual = manual_path(call->arguments[i]);
    found = manual && strcmp(manual, path) == 0;
    free(manual);
  }
  return found;
}

static int bench_item(void *context, size_t i)
{
  const struct bench *bench = context;
  const char *path = bench->call->arguments[i];
  if (is_shown_elsewhere(bench->call, path))
    return CLI_DONE;
  struct file file = { path, { 0 } }, manual = { NULL, { 0 } };
  char *by_hand = manual_path(path);
  int code = CLI_BAD;
  if (by_hand && access(by_hand, F_OK) == 0)
    manual.path = by_hand;
  if (cli_read(&file.text, path) && (!manual.path || cli_read(&manual.text, manual.path)))
    code = bench_kernels(&bench->files[i], bench, &file, &manual);
  free(file.text.data);
  free(manual.text.data);
  free(by_hand);
  return code;
}

/* ---- all of them ---- */

static int print_json(const struct bench *bench)
{
  json_t *kernels = json_array();
  for (size_t i = 0; i < bench->call->argument_count; i++)
    for (size_t k = 0; k < bench->files[i].count; k++)
      json_array_append_new(kernels, bench_json(&bench->files[i].tables[k]));
  json_t *root = json_pack("{sssssssoso}", "schema", "sluice-bench-1", "sluice", sluice_version(), "latency",
                           "predicted by the model of the target, not measured", "kernels", kernels, "grid",
                           bench->look.with_grid ? bench_json_points() : json_null());
  if (bench->look.with_published)
    json_object_set_new(root, "published",
                        json_pack("{ssss}", "source", cli_published_source, "note",
                                  "published figures, not measured here; slots are code size / 64"));
  return cli_print_json(root);
}

static void print_tables(const struct bench *bench)
{
  bool is_first = true;
  for (size_t i = 0; i < bench->call->argument_count; i++)
    for (size_t k = 0; k < bench->files[i].count; k++) {
      const struct bench_table *table = &bench->files[i].tables[k];
      if (cli_has(bench->call, "csv"))
        bench_print_csv(&bench->look, table, is_first);
      else
        bench_print_table(&bench->look, table, is_first);
      is_first = false;
    }
}

static int write_chart(const struct bench *bench, const char *path)
{
  size_t count = 0;
  for (size_t i = 0; i < bench->call->argument_count; i++)
    count += bench->files[i].count;
  const struct bench_table **tables = cli_alloc((count + 1) * sizeof *tables), **at = tables;
  for (size_t i = 0; i < bench->call->argument_count; i++)
    for (size_t k = 0; k < bench->files[i].count; k++)
      *at++ = &bench->files[i].tables[k];
  int code = bench_write_chart(path, tables, count);
  free(tables);
  return code;
}

/* In threads; a terminal gets a line that counts the files done. */
static int bench_all(struct bench *bench)
{
  size_t count = bench->call->argument_count;
  int worst = CLI_DONE, *codes = cli_alloc(count * sizeof *codes);
  bench->files = cli_alloc(count * sizeof *bench->files);
  memset(bench->files, 0, count * sizeof *bench->files);
  cli_parallel(codes, count, cli_processor_count(), bench_item, bench);
  for (size_t i = 0; i < count; i++)
    worst = worse(worst, codes[i]);
  if (!cli_has(bench->call, "json"))
    print_tables(bench);
  else if (worst == CLI_DONE)
    worst = print_json(bench);
  if (worst == CLI_DONE && cli_has(bench->call, "svg"))
    worst = write_chart(bench, cli_value_of(bench->call, "svg"));
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < bench->files[i].count; k++)
      free_table(&bench->files[i].tables[k]);
    free(bench->files[i].tables);
  }
  free(bench->files);
  free(codes);
  return worst;
}

/* What the table of options cannot say. */
static bool is_sensible(const struct cli_call *call)
{
  if (cli_has(call, "json") && cli_has(call, "csv"))
    cli_error("usage", "bench: only one of --json and --csv can be given");
  else if (cli_has_value(call, "svg", "-"))
    cli_error("usage", "bench: --svg needs a file, stdout has the table");
  else if (cli_has(call, "counters") && cli_has(call, "alloc") && !cli_has_value(call, "alloc", "shadow"))
    cli_error("usage", "--counters is for --alloc=shadow, not for --alloc=%s", cli_value_of(call, "alloc"));
  else
    return true;
  return false;
}

int cli_bench(struct cli_call *call)
{
  sluice_targets *targets = NULL;
  struct bench bench = { .call = call, .look = { cli_has(call, "published"), cli_has(call, "grid") } };
  int code = CLI_BAD;
  if (is_sensible(call) && cli_read_settings(&bench.settings, call) && cli_read_inputs(&bench.inputs, call))
    code = cli_load_targets(&targets, call);
  bench.targets = targets;
  if (code == CLI_DONE)
    code = bench_all(&bench);
  sluice_targets_free(targets);
  cli_free_inputs(&bench.inputs);
  cli_free_settings(&bench.settings);
  return code;
}
