/* bench_chart.c: `sluice bench --svg`: latencies of all kernels against those with barriers, as a bar chart. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

/* Kernels are groups, strategies the bars in them. */
struct chart {
  const struct bench_table *const *tables;
  size_t count;
  const char **kernels, **strategies;
  size_t strategy_count;
  double *values;
};

static size_t index_of(const struct chart *chart, const char *strategy)
{
  size_t i = 0;
  while (i < chart->strategy_count && strcmp(chart->strategies[i], strategy) != 0)
    i++;
  return i;
}

/* In the order in which they turn up. */
static void collect_strategies(struct chart *chart)
{
  size_t room = 0;
  for (size_t t = 0; t < chart->count; t++)
    room += chart->tables[t]->count;
  chart->strategies = cli_alloc((room + 1) * sizeof *chart->strategies);
  for (size_t t = 0; t < chart->count; t++)
    for (size_t r = 0; r < chart->tables[t]->count; r++) {
      const char *strategy = chart->tables[t]->rows[r].strategy;
      if (index_of(chart, strategy) == chart->strategy_count)
        chart->strategies[chart->strategy_count++] = strategy;
    }
}

static void collect_values(struct chart *chart)
{
  size_t size = chart->count * chart->strategy_count;
  chart->values = cli_alloc((size + 1) * sizeof *chart->values);
  chart->kernels = cli_alloc((chart->count + 1) * sizeof *chart->kernels);
  for (size_t i = 0; i < size; i++)
    chart->values[i] = -1;
  for (size_t t = 0; t < chart->count; t++) {
    chart->kernels[t] = chart->tables[t]->kernel;
    for (size_t r = 0; r < chart->tables[t]->count; r++) {
      const struct bench_row *row = &chart->tables[t]->rows[r];
      if (row->to_barrier.is_known)
        chart->values[t * chart->strategy_count + index_of(chart, row->strategy)] = row->to_barrier.value;
    }
  }
}

int bench_write_chart(const char *path, const struct bench_table *const *tables, size_t count)
{
  struct chart chart = { .tables = tables, .count = count };
  collect_strategies(&chart);
  collect_values(&chart);
  const sluice_chart shown = { .title = "Latency, that with barriers = 1",
                               .note = "Predicted by the model of the target, not measured; shorter is better.",
                               .groups = chart.kernels, .group_count = count, .series = chart.strategies,
                               .series_count = chart.strategy_count, .values = chart.values, .reference = 1 };
  char *text;
  size_t length;
  int code = cli_exit_code(sluice_chart_print(&text, &length, &shown));
  if (code == CLI_DONE && !cli_write(path, text, length))
    code = CLI_BAD;
  sluice_string_free(text);
  free(chart.values);
  free(chart.kernels);
  free(chart.strategies);
  return code;
}
