/* bench.h: what the files of `sluice bench` share: the versions of one kernel side by side. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli.h"

#include <jansson.h>

/* The parameter points of --grid, the defaults first; the others change one thing. */
struct bench_point {
  const char *setting; /* NULL: the defaults */
  double value;
};
enum { BENCH_POINTS = 12 };
extern const struct bench_point bench_points[BENCH_POINTS];

/* A ratio at the parameters asked for, and over the grid. */
struct bench_ratio {
  bool is_known, has_grid;
  double value;
  double points[BENCH_POINTS]; /* with has_grid */
};

/* A latency in ns at the parameters asked for, and over the grid. */
struct bench_latency {
  bool is_known, has_grid;
  uint64_t ticks;
  double ns;
  double points[BENCH_POINTS]; /* ns, with has_grid */
};

/* One version of one kernel. */
struct bench_row {
  const char *strategy; /* or "manual" or "ideal" */
  char *reason;         /* why it cannot be made; NULL when it can */
  bool has_counts;      /* ideal has none */
  sluice_stats stats;
  char *no_latency;                        /* why there is no latency, or no grid; NULL when there is */
  struct bench_ratio to_barrier, of_ideal; /* latency against that of barriers; that of ideal against this one */
  struct bench_latency own, limit;         /* its latency, and the ideal one it is compared with */
  const struct cli_published *published;   /* NULL: not asked for, or not there */
  bool has_rule;                           /* of the published closed form, when asked for */
  uint64_t rule_registers;                 /* registers per engine by it */
};

/* A kernel with its rows. */
struct bench_table {
  const char *path;
  char *kernel;
  struct bench_row *rows;
  size_t count;
};

/* The least, middle and greatest value over the grid. */
struct bench_spread {
  double least, median, most;
};
struct bench_spread bench_spread_of(const struct bench_ratio *ratio);

/* How tables are shown. */
struct bench_look {
  bool with_published, with_grid;
};
void bench_print_table(const struct bench_look *look, const struct bench_table *table, bool is_first);
void bench_print_csv(const struct bench_look *look, const struct bench_table *table, bool is_first);
json_t *bench_json(const struct bench_table *table);
/* The points of the grid, each an object of the parameters that it sets. */
json_t *bench_json_points(void);
/* Writes the latencies as a bar chart. Returns an exit code. */
int bench_write_chart(const char *path, const struct bench_table *const *tables, size_t count);

#endif
