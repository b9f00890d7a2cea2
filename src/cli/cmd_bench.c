/* cmd_bench.c: `sluice bench`: every strategy side by side. A strategy that cannot express a kernel is a row with the
 * reason, not a failure.
 */
#include "cli.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option cli_bench_options[] = {
  { "json", 0, CLI_FLAG, NULL, "print JSON" },
  { "csv", 0, CLI_FLAG, NULL, "print comma-separated values" },
  { "kernel", 0, CLI_NAME, "NAME", "only the kernel of that name" },
  { "define", 'D', CLI_NAME, "NAME=VALUE", "give a parameter this default value; may be repeated" },
  { "from", 0, CLI_FORM, "FORM", "form of the input; by default json when its name ends with .json, else slu" },
  { "target-file", 0, CLI_FILE, "FILE", "load more targets; may be repeated" },
  { 0 }
};

/* One strategy on one kernel. */
struct row {
  const char *strategy;
  char *reason; /* why it cannot; NULL when it can */
  sluice_stats stats;
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
  bool is_first;
};

/* ---- printing ---- */

static void print_table(struct bench *bench, const char *path, const char *kernel, const struct row *rows, size_t count)
{
  printf("%s%s  (%s)\n", bench->is_first ? "" : "\n", kernel, path);
  printf("  %-10s", "strategy");
  for (size_t c = 0; c < COLUMN_COUNT; c++)
    printf(" %10s", columns[c].title);
  putchar('\n');
  for (size_t i = 0; i < count; i++) {
    printf("  %-10s", rows[i].strategy);
    for (size_t c = 0; c < COLUMN_COUNT && !rows[i].reason; c++)
      printf(" %10llu", (unsigned long long)value_of(&rows[i].stats, &columns[c]));
    if (rows[i].reason)
      printf(" cannot: %s", rows[i].reason);
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

static void print_csv(struct bench *bench, const char *path, const char *kernel, const struct row *rows, size_t count)
{
  if (bench->is_first) {
    printf("file,kernel,strategy");
    for (size_t c = 0; c < COLUMN_COUNT; c++)
      printf(",%s", columns[c].key);
    printf(",reason\n");
  }
  for (size_t i = 0; i < count; i++) {
    print_quoted(path);
    printf(",%s,%s", kernel, rows[i].strategy);
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
      putchar(',');
      if (!rows[i].reason)
        printf("%llu", (unsigned long long)value_of(&rows[i].stats, &columns[c]));
    }
    putchar(',');
    if (rows[i].reason)
      print_quoted(rows[i].reason);
    putchar('\n');
  }
}

static void add_json(struct bench *bench, const char *path, const char *kernel, const struct row *rows, size_t count)
{
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    json_t *row = json_pack("{ss}", "strategy", rows[i].strategy);
    for (size_t c = 0; c < COLUMN_COUNT && !rows[i].reason; c++)
      json_object_set_new(row, columns[c].key, json_integer((json_int_t)value_of(&rows[i].stats, &columns[c])));
    if (rows[i].reason)
      json_object_set_new(row, "reason", json_string(rows[i].reason));
    json_array_append_new(list, row);
  }
  json_array_append_new(bench->json, json_pack("{sssssO}", "file", path, "kernel", kernel, "strategies", list));
  json_decref(list);
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
                        const sluice_targets *targets)
{
  sluice_program *result;
  const sluice_sink sink = { keep_reason, &row->reason };
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  options.alloc = strategy->alloc;
  options.resync = true;
  *row = (struct row){ .strategy = strategy->name };
  int status = sluice_sync(&result, program, targets, &options, &sink);
  if (status == SLUICE_OK)
    status = sluice_program_stats(&row->stats, result, 0, targets);
  sluice_program_free(result);
  if (status != SLUICE_OK && !row->reason)
    row->reason = cli_copy(sluice_status_name(status));
  return status == SLUICE_E_NO_MEMORY ? CLI_BAD : CLI_DONE;
}

static int bench_kernel(struct bench *bench, const char *path, const sluice_program *program)
{
  size_t count;
  const sluice_strategy *strategies = sluice_strategies(&count);
  struct row *rows = cli_alloc(count * sizeof *rows);
  const char *kernel = sluice_program_kernel_name(program, 0);
  int code = CLI_DONE;
  for (size_t i = 0; i < count; i++) {
    int here = run_strategy(&rows[i], &strategies[i], program, bench->targets);
    code = here > code ? here : code;
  }
  if (bench->json)
    add_json(bench, path, kernel, rows, count);
  else if (cli_has(bench->call, "csv"))
    print_csv(bench, path, kernel, rows, count);
  else
    print_table(bench, path, kernel, rows, count);
  bench->is_first = false;
  for (size_t i = 0; i < count; i++)
    free(rows[i].reason);
  free(rows);
  return code;
}

/* Every kernel by itself, so that one that cannot be synchronized does not take the others along. */
static int bench_text(struct bench *bench, const char *path, const struct cli_text *text)
{
  sluice_program *all;
  bool is_json = cli_is_json(bench->call, path);
  int worst = cli_load(&all, bench->call, text, is_json);
  for (size_t i = 0; worst != CLI_BAD && i < sluice_program_kernel_count(all); i++) {
    sluice_program *program;
    int code = cli_load(&program, bench->call, text, is_json);
    if (code == CLI_DONE)
      code = cli_exit_code(sluice_program_select(program, sluice_program_kernel_name(all, i), &cli_sink));
    if (code == CLI_DONE)
      code = cli_exit_code(sluice_program_verify(program, bench->targets, &cli_sink));
    if (code == CLI_DONE)
      code = bench_kernel(bench, path, program);
    worst = code > worst ? code : worst;
    sluice_program_free(program);
  }
  sluice_program_free(all);
  return worst;
}

static int print_json(json_t *kernels)
{
  json_t *root = json_pack("{sssssO}", "schema", "sluice-bench-1", "sluice", sluice_version(), "kernels", kernels);
  int failed = json_dumpf(root, stdout, JSON_INDENT(2));
  json_decref(root);
  putchar('\n');
  return failed ? CLI_BAD : CLI_DONE;
}

int cli_bench(struct cli_call *call)
{
  sluice_targets *targets;
  if (cli_has(call, "json") && cli_has(call, "csv")) {
    cli_error("usage", "bench: only one of --json and --csv can be given");
    return CLI_BAD;
  }
  int worst = cli_load_targets(&targets, call);
  if (worst != CLI_DONE)
    return worst;
  struct bench bench = { call, targets, cli_has(call, "json") ? json_array() : NULL, true };
  for (size_t i = 0; i < call->argument_count; i++) {
    struct cli_text text;
    int code = CLI_BAD;
    if (cli_read(&text, call->arguments[i])) {
      code = bench_text(&bench, call->arguments[i], &text);
      free(text.data);
    }
    worst = code > worst ? code : worst;
  }
  if (bench.json && worst == CLI_DONE)
    worst = print_json(bench.json);
  json_decref(bench.json);
  sluice_targets_free(targets);
  return worst;
}
