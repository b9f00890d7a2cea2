/* bench_tables.c: the tables of `sluice bench` as text, CSV and JSON. One list of columns serves all three. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

/* The columns of counts, once for every form of output. */
static const struct column {
  const char *title; /* of the table */
  const char *key;   /* in JSON and CSV */
  int width;
  size_t offset;
} columns[] = {
#define COLUMN(title, key, width)                   \
  {                                                 \
    title, #key, width, offsetof(sluice_stats, key) \
  }
  COLUMN("waits", waits, 6),
  COLUMN("updates", updates, 7),
  COLUMN("semaphores", semaphores, 10),
  COLUMN("registers", registers, 9),
  COLUMN("reg. ops", register_operations, 8),
  COLUMN("barriers", barriers, 8),
  COLUMN("slots", slots, 7),
  COLUMN("bytes", bytes, 8),
#undef COLUMN
};

enum { COLUMN_COUNT = sizeof columns / sizeof *columns };
/* Widths of the other columns. */
enum { LATENCY = 10, RATIO = 10, SPREAD = 6, OF_IDEAL = 10, BY_RULE = 14, USED = 6 };

static uint64_t value_of(const sluice_stats *stats, const struct column *column)
{
  uint64_t value;
  memcpy(&value, (const char *)stats + column->offset, sizeof value);
  return value;
}

/* ---- the grid ---- */

static int by_value(const void *x, const void *y)
{
  const double *a = x, *b = y;
  return (*a > *b) - (*a < *b);
}

struct bench_spread bench_spread_of(const struct bench_ratio *ratio)
{
  double sorted[BENCH_POINTS];
  memcpy(sorted, ratio->points, sizeof sorted);
  qsort(sorted, BENCH_POINTS, sizeof *sorted, by_value);
  double middle = (sorted[(BENCH_POINTS - 1) / 2] + sorted[BENCH_POINTS / 2]) / 2;
  return (struct bench_spread){ sorted[0], middle, sorted[BENCH_POINTS - 1] };
}

/* ---- text ---- */

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
    printf(" | %10s %9s %6s %7s %10s", "-", "-", "-", "-", "-");
    return;
  }
  if (published->registers != CLI_UNPUBLISHED)
    snprintf(registers, sizeof registers, "%d", published->registers);
  printf(" | %10d %9s %6u %7s %10.2f", published->semaphores, registers, cli_published_slots(published),
         code_size(code, sizeof code, published->code), published->latency / 100.0);
}

/* Registers that only thresholds are computed with: what the published rule says, and what there is. */
static void print_registers(const struct bench_row *row)
{
  char rule[24] = "-", used[24] = "-";
  if (row->has_rule)
    snprintf(rule, sizeof rule, "%llu", (unsigned long long)row->rule_registers);
  if (row->has_counts)
    snprintf(used, sizeof used, "%llu", (unsigned long long)row->stats.wait_registers);
  printf(" | %*s %*s", BY_RULE, rule, USED, used);
}

static int name_width(const struct bench_table *table)
{
  size_t width = strlen("strategy");
  for (size_t i = 0; i < table->count; i++) {
    size_t length = strlen(table->rows[i].strategy);
    width = length > width ? length : width;
  }
  return (int)width;
}

static int numbers_width(const struct bench_look *look)
{
  int width = LATENCY + RATIO + OF_IDEAL + 3 + (look->with_grid ? 3 * (SPREAD + 1) : 0);
  for (size_t c = 0; c < COLUMN_COUNT; c++)
    width += columns[c].width + 1;
  return width;
}

/* What the grid is, in words of --set. */
static void print_points(void)
{
  printf("  least, median, most: over %d points, these parameters and each of", BENCH_POINTS);
  for (size_t i = 1; i < BENCH_POINTS; i++)
    printf("%s %s=%g", i == 1 ? "" : ",", bench_points[i].setting, bench_points[i].value);
  putchar('\n');
}

static void print_heading(const struct bench_look *look, const struct bench_table *table, int width)
{
  printf("%s  (%s)\n", table->kernel, table->path);
  if (look->with_published)
    printf("  %-*s%*s | published in %s; not measured here | registers for waits\n", width, "", numbers_width(look), "",
           cli_published_source);
  if (look->with_grid)
    print_points();
  printf("  %-*s", width, "strategy");
  for (size_t c = 0; c < COLUMN_COUNT; c++)
    printf(" %*s", columns[c].width, columns[c].title);
  printf(" %*s %*s", LATENCY, "latency us", RATIO, "to barrier");
  if (look->with_grid)
    printf(" %*s %*s %*s", SPREAD, "least", SPREAD, "median", SPREAD, "most");
  printf(" %*s", OF_IDEAL, "% of ideal");
  if (look->with_published)
    printf(" | %10s %9s %6s %7s %10s | %*s %*s", "semaphores", "registers", "slots", "code", "to barrier", BY_RULE,
           "published rule", USED, "used");
  putchar('\n');
}

static void print_number(bool is_known, int width, int digits, double value)
{
  if (is_known)
    printf(" %*.*f", width, digits, value);
  else
    printf(" %*s", width, "-");
}

static void print_latency(const struct bench_look *look, const struct bench_row *row)
{
  const struct bench_ratio *ratio = &row->to_barrier;
  print_number(row->own.is_known, LATENCY, 2, row->own.ns / 1e3);
  print_number(ratio->is_known, RATIO, 3, ratio->value);
  if (look->with_grid) {
    struct bench_spread spread = bench_spread_of(ratio);
    print_number(ratio->has_grid, SPREAD, 3, spread.least);
    print_number(ratio->has_grid, SPREAD, 3, spread.median);
    print_number(ratio->has_grid, SPREAD, 3, spread.most);
  }
  print_number(row->of_ideal.is_known, OF_IDEAL, 1, 100 * row->of_ideal.value);
}

static void print_row(const struct bench_look *look, const struct bench_row *row, int width)
{
  printf("  %-*s", width, row->strategy);
  for (size_t c = 0; c < COLUMN_COUNT && !row->reason; c++) {
    if (row->has_counts)
      printf(" %*llu", columns[c].width, (unsigned long long)value_of(&row->stats, &columns[c]));
    else
      printf(" %*s", columns[c].width, "-");
  }
  if (!row->reason)
    print_latency(look, row);
  else
    printf(" cannot: %s", row->reason);
  if (row->reason && row->published)
    printf("\n  %*s", width + numbers_width(look), "");
  if (look->with_published && (!row->reason || row->published)) {
    print_published(row->published);
    print_registers(row);
  }
  putchar('\n');
}

/* Rows often lack a latency for the same reason: it is said once. */
static void print_missing(const struct bench_table *table)
{
  const char *said = "";
  for (size_t i = 0; i < table->count; i++) {
    const struct bench_row *row = &table->rows[i];
    if (row->reason || !row->no_latency || strcmp(row->no_latency, said) == 0)
      continue;
    printf("  no %s of %s: %s\n", row->own.is_known ? "comparison" : "latency", row->strategy, row->no_latency);
    said = row->no_latency;
  }
}

void bench_print_table(const struct bench_look *look, const struct bench_table *table, bool is_first)
{
  int width = name_width(table);
  if (!is_first)
    putchar('\n');
  print_heading(look, table, width);
  for (size_t i = 0; i < table->count; i++)
    print_row(look, &table->rows[i], width);
  print_missing(table);
}

/* ---- CSV ---- */

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

static void print_csv_heading(const struct bench_look *look)
{
  printf("file,kernel,strategy");
  for (size_t c = 0; c < COLUMN_COUNT; c++)
    printf(",%s", columns[c].key);
  printf(",reason,latency_ns,to_barrier,of_ideal");
  if (look->with_grid)
    printf(",to_barrier_least,to_barrier_median,to_barrier_most,of_ideal_least,of_ideal_median,of_ideal_most");
  if (look->with_published)
    printf(",published_semaphores,published_registers,published_slots,published_code_kib,published_to_barrier,"
           "published_source,rule_registers,wait_registers");
  putchar('\n');
}

static void print_csv_published(const struct cli_published *published)
{
  if (!published) {
    printf(",,,,,,");
    return;
  }
  printf(",%d,", published->semaphores);
  if (published->registers != CLI_UNPUBLISHED)
    printf("%d", published->registers);
  printf(",%u,%u.%u,%u.%02u,", cli_published_slots(published), published->code / 10, published->code % 10,
         published->latency / 100, published->latency % 100);
  print_quoted(cli_published_source);
}

static void print_csv_registers(const struct bench_row *row)
{
  putchar(',');
  if (row->has_rule)
    printf("%llu", (unsigned long long)row->rule_registers);
  putchar(',');
  if (row->has_counts)
    printf("%llu", (unsigned long long)row->stats.wait_registers);
}

static void print_csv_number(bool is_known, double value)
{
  putchar(',');
  if (is_known)
    printf("%.6g", value);
}

static void print_csv_latency(const struct bench_look *look, const struct bench_row *row)
{
  putchar(',');
  if (row->own.is_known)
    printf("%.1f", row->own.ns);
  print_csv_number(row->to_barrier.is_known, row->to_barrier.value);
  print_csv_number(row->of_ideal.is_known, row->of_ideal.value);
  for (int i = 0; look->with_grid && i < 2; i++) {
    const struct bench_ratio *ratio = i == 0 ? &row->to_barrier : &row->of_ideal;
    struct bench_spread spread = bench_spread_of(ratio);
    print_csv_number(ratio->has_grid, spread.least);
    print_csv_number(ratio->has_grid, spread.median);
    print_csv_number(ratio->has_grid, spread.most);
  }
}

void bench_print_csv(const struct bench_look *look, const struct bench_table *table, bool is_first)
{
  if (is_first)
    print_csv_heading(look);
  for (size_t i = 0; i < table->count; i++) {
    const struct bench_row *row = &table->rows[i];
    print_quoted(table->path);
    printf(",%s,%s", table->kernel, row->strategy);
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
      putchar(',');
      if (!row->reason && row->has_counts)
        printf("%llu", (unsigned long long)value_of(&row->stats, &columns[c]));
    }
    putchar(',');
    if (row->reason)
      print_quoted(row->reason);
    print_csv_latency(look, row);
    if (look->with_published) {
      print_csv_published(row->published);
      print_csv_registers(row);
    }
    putchar('\n');
  }
}

/* ---- JSON ---- */

static json_t *json_of_published(const struct cli_published *published)
{
  json_t *json = json_pack("{sisi}", "semaphores", published->semaphores, "slots", (int)cli_published_slots(published));
  if (published->registers != CLI_UNPUBLISHED)
    json_object_set_new(json, "registers", json_integer(published->registers));
  json_object_set_new(json, "code_kib", json_real(published->code / 10.0));
  json_object_set_new(json, "to_barrier", json_real(published->latency / 100.0));
  return json;
}

static json_t *json_of_grid(const struct bench_ratio *ratio)
{
  struct bench_spread spread = bench_spread_of(ratio);
  json_t *points = json_array();
  for (size_t i = 0; i < BENCH_POINTS; i++)
    json_array_append_new(points, json_real(ratio->points[i]));
  return json_pack("{sfsfsfso}", "least", spread.least, "median", spread.median, "most", spread.most, "points", points);
}

static void add_ratio(json_t *row, const char *key, const char *grid_key, const struct bench_ratio *ratio)
{
  if (ratio->is_known)
    json_object_set_new(row, key, json_real(ratio->value));
  if (ratio->has_grid)
    json_object_set_new(row, grid_key, json_of_grid(ratio));
}

static void add_latency(json_t *json, const struct bench_row *row)
{
  if (row->no_latency)
    json_object_set_new(json, "no_latency", cli_json_text(row->no_latency));
  if (row->own.is_known) {
    json_object_set_new(json, "latency_ticks", json_integer((json_int_t)row->own.ticks));
    json_object_set_new(json, "latency_ns", json_real(row->own.ns));
  }
  add_ratio(json, "to_barrier", "to_barrier_grid", &row->to_barrier);
  add_ratio(json, "of_ideal", "of_ideal_grid", &row->of_ideal);
}

static json_t *json_of_row(const struct bench_row *from)
{
  json_t *row = json_pack("{ss}", "strategy", from->strategy);
  for (size_t c = 0; c < COLUMN_COUNT && !from->reason && from->has_counts; c++)
    json_object_set_new(row, columns[c].key, json_integer((json_int_t)value_of(&from->stats, &columns[c])));
  if (from->reason)
    json_object_set_new(row, "reason", cli_json_text(from->reason));
  else
    add_latency(row, from);
  if (from->has_counts)
    json_object_set_new(row, "wait_registers", json_integer((json_int_t)from->stats.wait_registers));
  if (from->has_rule)
    json_object_set_new(row, "rule_registers", json_integer((json_int_t)from->rule_registers));
  if (from->published)
    json_object_set_new(row, "published", json_of_published(from->published));
  return row;
}

json_t *bench_json(const struct bench_table *table)
{
  json_t *list = json_array();
  for (size_t i = 0; i < table->count; i++)
    json_array_append_new(list, json_of_row(&table->rows[i]));
  return json_pack("{sossso}", "file", cli_json_text(table->path), "kernel", table->kernel, "strategies", list);
}

json_t *bench_json_points(void)
{
  json_t *list = json_array();
  for (size_t i = 0; i < BENCH_POINTS; i++) {
    json_t *point = json_object();
    if (bench_points[i].setting)
      json_object_set_new(point, bench_points[i].setting, json_real(bench_points[i].value));
    json_array_append_new(list, point);
  }
  return list;
}
