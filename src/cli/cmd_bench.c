/* cmd_bench.c: `sluice bench`: every strategy side by side, and the version synchronized by hand where there is one. A
 * strategy that cannot express a kernel is a row with the reason, not a failure.
 */
#define _XOPEN_SOURCE 700 /* access */
#include "cli.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct cli_option cli_bench_options[] = {
  { "json", 0, CLI_FLAG, NULL, "print JSON" },
  { "csv", 0, CLI_FLAG, NULL, "print comma-separated values" },
  { "published", 0, CLI_FLAG, NULL,
    "also print the published figures of the nine kernels of bench/table2, known by the name of their file" },
  { "alloc", 0, CLI_STRATEGY, "STRATEGY", "only this strategy, beside the version made by hand; may be repeated" },
  { "counters", 0, CLI_COUNTERS, "SHARING",
    "who shares a semaphore in the row shadow: loop (the default), instruction or "
    "engine" },
  { "cleanup", 0, CLI_CLEANUPS, "NAME,...",
    "clean-ups of the code that computes thresholds (default all; none is the published setting)" },
  { "kernel", 0, CLI_NAME, "NAME", "only the kernel of that name" },
  { "define", 'D', CLI_NAME, "NAME=VALUE", "give a parameter this default value; may be repeated" },
  { "from", 0, CLI_FORM, "FORM", "form of the input; by default json when its name ends with .json, else slu" },
  { "target-file", 0, CLI_FILE, "FILE", "load more targets; may be repeated" },
  { 0 }
};

/* One version of one kernel. */
struct row {
  const char *strategy; /* or "manual" */
  char *reason;         /* why it cannot; NULL when it can */
  sluice_stats stats;
  const struct cli_published *published; /* NULL: not asked for, or not there */
};

/* A kernel with its rows. */
struct table {
  const char *path, *kernel;
  struct row *rows;
  size_t count;
};

/* The columns, once for every form of output. */
static const struct column {
  const char *title; /* of the table */
  const char *key;   /* in JSON and CSV */
  size_t offset;
} columns[] = {
#define COLUMN(title, key)                   \
  {                                          \
    title, #key, offsetof(sluice_stats, key) \
  }
  COLUMN("waits", waits),
  COLUMN("updates", updates),
  COLUMN("semaphores", semaphores),
  COLUMN("registers", registers),
  COLUMN("reg. ops", register_operations),
  COLUMN("barriers", barriers),
  COLUMN("slots", slots),
  COLUMN("bytes", bytes),
#undef COLUMN
};

enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

static uint64_t value_of(const sluice_stats *stats, const struct column *column)
{
  uint64_t value;
  memcpy(&value, (const char *)stats + column->offset, sizeof value);
  return value;
}

struct bench {
  const struct cli_call *call;
  const sluice_targets *targets;
  json_t *json; /* array of kernels, with --json */
  bool is_first, with_published;
};

/* ---- printing ---- */

/* Tenths of a KiB as the published table has them: 1.7K, 1.2M. */
static const char *code_size(char *text, size_t size, unsigned tenths)
{
  enum { TENTHS_PER_MIB = 10240 };
  if (tenths < TENTHS_PER_MIB)
    snprintf(text, size, "%u.%uK", tenths / 10, tenths % 10);
  else
    snprintf(text, size, "%.1fM", (double)tenths / TENTHS_PER_MIB);
  return text;
}

static void print_published(const struct cli_published *published)
{
  char code[20], registers[20] = "-";
  if (!published) {
    printf(" | %10s %10s %10s %10s", "-", "-", "-", "-");
    return;
  }
  if (published->registers != CLI_UNPUBLISHED)
    snprintf(registers, sizeof registers, "%d", published->registers);
  printf(" | %10d %10s %10u %10s", published->semaphores, registers, cli_published_slots(published),
         code_size(code, sizeof code, published->code));
}

static int name_width(const struct table *table)
{
  size_t width = strlen("strategy");
  for (size_t i = 0; i < table->count; i++) {
    size_t length = strlen(table->rows[i].strategy);
    width = length > width ? length : width;
  }
  return (int)width;
}

static void print_heading(const struct bench *bench, const struct table *table, int width)
{
  int numbers = 11 * COLUMN_COUNT;
  printf("%s%s  (%s)\n", bench->is_first ? "" : "\n", table->kernel, table->path);
  if (bench->with_published)
    printf("  %-*s%*s | published in %s; not measured here\n", width, "", numbers, "", cli_published_source);
  printf("  %-*s", width, "strategy");
  for (size_t c = 0; c < COLUMN_COUNT; c++)
    printf(" %10s", columns[c].title);
  if (bench->with_published)
    printf(" | %10s %10s %10s %10s", "semaphores", "registers", "slots", "code");
  putchar('\n');
}

static void print_table(const struct bench *bench, const struct table *table)
{
  int width = name_width(table);
  print_heading(bench, table, width);
  for (size_t i = 0; i < table->count; i++) {
    const struct row *row = &table->rows[i];
    printf("  %-*s", width, row->strategy);
    for (size_t c = 0; c < COLUMN_COUNT && !row->reason; c++)
      printf(" %10llu", (unsigned long long)value_of(&row->stats, &columns[c]));
    if (row->reason)
      printf(" cannot: %s", row->reason);
    if (row->reason && row->published)
      printf("\n  %*s", width + 11 * COLUMN_COUNT, "");
    if (bench->with_published && (!row->reason || row->published))
      print_published(row->published);
    putchar('\n');
  }
}

static void print_quoted(const char *text)
{
  putchar('"');
  for (; *text; text++) {
    if (*text == '"')
      putchar('"');
    putchar(*text);
  }
  putchar('"');
}

static void print_csv_heading(const struct bench *bench)
{
  printf("file,kernel,strategy");
  for (size_t c = 0; c < COLUMN_COUNT; c++)
    printf(",%s", columns[c].key);
  printf(",reason");
  if (bench->with_published)
    printf(",published_semaphores,published_registers,published_slots,published_code_kib,published_source");
  putchar('\n');
}

static void print_csv_published(const struct cli_published *published)
{
  if (!published) {
    printf(",,,,,");
    return;
  }
  printf(",%d,", published->semaphores);
  if (published->registers != CLI_UNPUBLISHED)
    printf("%d", published->registers);
  printf(",%u,%u.%u,", cli_published_slots(published), published->code / 10, published->code % 10);
  print_quoted(cli_published_source);
}

static void print_csv(const struct bench *bench, const struct table *table)
{
  if (bench->is_first)
    print_csv_heading(bench);
  for (size_t i = 0; i < table->count; i++) {
    const struct row *row = &table->rows[i];
    print_quoted(table->path);
    printf(",%s,%s", table->kernel, row->strategy);
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
      putchar(',');
      if (!row->reason)
        printf("%llu", (unsigned long long)value_of(&row->stats, &columns[c]));
    }
    putchar(',');
    if (row->reason)
      print_quoted(row->reason);
    if (bench->with_published)
      print_csv_published(row->published);
    putchar('\n');
  }
}

static json_t *json_of_published(const struct cli_published *published)
{
  json_t *json = json_pack("{sisi}", "semaphores", published->semaphores, "slots", (int)cli_published_slots(published));
  if (published->registers != CLI_UNPUBLISHED)
    json_object_set_new(json, "registers", json_integer(published->registers));
  json_object_set_new(json, "code_kib", json_real(published->code / 10.0));
  return json;
}

static void add_json(const struct bench *bench, const struct table *table)
{
  json_t *list = json_array();
  for (size_t i = 0; i < table->count; i++) {
    const struct row *from = &table->rows[i];
    json_t *row = json_pack("{ss}", "strategy", from->strategy);
    for (size_t c = 0; c < COLUMN_COUNT && !from->reason; c++)
      json_object_set_new(row, columns[c].key, json_integer((json_int_t)value_of(&from->stats, &columns[c])));
    if (from->reason)
      json_object_set_new(row, "reason", cli_json_text(from->reason));
    if (from->published)
      json_object_set_new(row, "published", json_of_published(from->published));
    json_array_append_new(list, row);
  }
  json_array_append_new(bench->json, json_pack("{sossso}", "file", cli_json_text(table->path), "kernel", table->kernel,
                                               "strategies", list));
}

/* ---- running ---- */

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

/* One strategy on the only kernel of a verified program. Returns an exit code other than 1. */
static int run_strategy(struct row *row, const sluice_strategy *strategy, const sluice_program *program,
                        const struct bench *bench)
{
  sluice_program *result;
  const sluice_sink sink = { keep_reason, &row->reason };
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  cli_choose(&options, bench->call);
  options.alloc = strategy->alloc;
  options.resync = true;
  int status = sluice_sync(&result, program, bench->targets, &options, &sink);
  if (status == SLUICE_OK)
    status = sluice_program_stats(&row->stats, result, 0, bench->targets);
  sluice_program_free(result);
  if (status != SLUICE_OK && !row->reason)
    row->reason = cli_copy(sluice_status_name(status));
  return status == SLUICE_E_NO_MEMORY ? CLI_BAD : CLI_DONE;
}

static struct row *add_row(struct table *table, const struct bench *bench, const char *strategy)
{
  struct row *row = &table->rows[table->count++];
  *row = (struct row){ .strategy = strategy };
  if (bench->with_published)
    row->published = cli_published(table->path, strategy);
  return row;
}

static void print(struct bench *bench, const struct table *table)
{
  if (bench->json)
    add_json(bench, table);
  else if (cli_has(bench->call, "csv"))
    print_csv(bench, table);
  else
    print_table(bench, table);
  bench->is_first = false;
}

/* The rows of the only kernel of a verified program; `manual` is the same kernel synchronized by hand, or NULL. */
static int bench_kernel(struct bench *bench, const char *path, const sluice_program *program,
                        const sluice_program *manual)
{
  size_t count;
  const sluice_strategy *strategies = sluice_strategies(&count);
  struct table table = { path, sluice_program_kernel_name(program, 0), cli_alloc((count + 1) * sizeof(struct row)), 0 };
  int code = CLI_DONE;
  for (size_t i = 0; i < count; i++) {
    if (cli_has(bench->call, "alloc") && !cli_has_value(bench->call, "alloc", strategies[i].name))
      continue;
    int here = run_strategy(add_row(&table, bench, strategies[i].name), &strategies[i], program, bench);
    code = here > code ? here : code;
  }
  if (manual && code == CLI_DONE)
    code = cli_exit_code(sluice_program_stats(&add_row(&table, bench, "manual")->stats, manual, 0, bench->targets));
  print(bench, &table);
  for (size_t i = 0; i < table.count; i++)
    free(table.rows[i].reason);
  free(table.rows);
  return code;
}

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

/* One kernel of a file, verified; *program is NULL when the file does not have it. Returns an exit code. */
static int load_kernel(sluice_program **program, const struct bench *bench, const struct file *file, const char *kernel)
{
  int code = cli_load(program, bench->call, &file->text, cli_is_json(bench->call, file->path));
  if (code == CLI_DONE && !has_kernel(*program, kernel)) {
    sluice_program_free(*program);
    *program = NULL;
    return CLI_DONE;
  }
  if (code == CLI_DONE)
    code = cli_exit_code(sluice_program_select(*program, kernel, &cli_sink));
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
static int bench_files(struct bench *bench, const struct file *file, const struct file *manual)
{
  sluice_program *all;
  int worst = cli_load(&all, bench->call, &file->text, cli_is_json(bench->call, file->path));
  for (size_t i = 0; worst != CLI_BAD && i < sluice_program_kernel_count(all); i++) {
    const char *kernel = sluice_program_kernel_name(all, i);
    sluice_program *program, *by_hand = NULL;
    int code = load_kernel(&program, bench, file, kernel);
    int of_manual = manual->path ? load_kernel(&by_hand, bench, manual, kernel) : CLI_DONE;
    if (code == CLI_DONE)
      code = bench_kernel(bench, file->path, program, by_hand);
    worst = code > worst ? code : worst;
    worst = of_manual > worst ? of_manual : worst;
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

static int bench_path(struct bench *bench, const char *path)
{
  struct file file = { path, { 0 } }, manual = { NULL, { 0 } };
  char *by_hand = manual_path(path);
  int code = CLI_BAD;
  if (by_hand && access(by_hand, F_OK) == 0)
    manual.path = by_hand;
  if (cli_read(&file.text, path) && (!manual.path || cli_read(&manual.text, manual.path)))
    code = bench_files(bench, &file, &manual);
  free(file.text.data);
  free(manual.text.data);
  free(by_hand);
  return code;
}

static int print_json(const struct bench *bench)
{
  json_t *root = json_pack("{sssssO}", "schema", "sluice-bench-1", "sluice", sluice_version(), "kernels", bench->json);
  if (bench->with_published)
    json_object_set_new(root, "published",
                        json_pack("{ssss}", "source", cli_published_source, "note",
                                  "published figures, not measured here; slots are code size / 64"));
  return cli_print_json(root);
}

/* What the table of options cannot say. */
static bool is_sensible(const struct cli_call *call)
{
  if (cli_has(call, "json") && cli_has(call, "csv"))
    cli_error("usage", "bench: only one of --json and --csv can be given");
  else if (cli_has(call, "counters") && cli_has(call, "alloc") && !cli_has_value(call, "alloc", "shadow"))
    cli_error("usage", "--counters is for --alloc=shadow, not for --alloc=%s", cli_value_of(call, "alloc"));
  else
    return true;
  return false;
}

int cli_bench(struct cli_call *call)
{
  sluice_targets *targets;
  if (!is_sensible(call))
    return CLI_BAD;
  int worst = cli_load_targets(&targets, call);
  if (worst != CLI_DONE)
    return worst;
  struct bench bench = { call, targets, cli_has(call, "json") ? json_array() : NULL, true, cli_has(call, "published") };
  for (size_t i = 0; i < call->argument_count; i++) {
    if (is_shown_elsewhere(call, call->arguments[i]))
      continue;
    int code = bench_path(&bench, call->arguments[i]);
    worst = code > worst ? code : worst;
  }
  if (bench.json && worst == CLI_DONE)
    worst = print_json(&bench);
  json_decref(bench.json);
  sluice_targets_free(targets);
  return worst;
}
