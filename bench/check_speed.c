/* check_speed.c: how fast the checker runs a kernel, and that its memory does not grow with the run.
 *
 *   check_speed [INSTRUCTIONS...]     default: 1000000 10000000 100000000
 *
 * The kernel is a pipeline of eight engines with double buffers and a trip count of the run: each stage waits for the one before
 * it, and for the one behind it two trips earlier. A trip has 8 operations with one or two waits and an update each, and 8
 * register operations; only these 16 count as instructions here, the two steps of loop control per engine do not. A second
 * kernel has the stages in two loops.
 *
 * Every size is checked in a process of its own, so that its largest resident set can be told by wait4. Exits 1 when a bound
 * below is not kept or the verdict is not "right".
 */
#define _DEFAULT_SOURCE /* wait4 */
#include <sluice/sluice.h>

#include <sluice/check.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* PIPELINE: all stages in one loop. APART: two loops of four, which run at the same time, but only the last operation of the
 * second waits for the first: the sequential order that gives the dependences has the whole first loop before it. */
enum shape { SHAPE_PIPELINE, SHAPE_APART, SHAPES };
static const struct {
  const char *name;
  int dependences;
} shapes[SHAPES] = { { "pipeline", 14 }, { "two loops", 13 } };
enum { STAGES = 8, INSTRUCTIONS_PER_TRIP = 2 * STAGES, TEXT_SIZE = 4096 };
static const double least_per_second = 10e6, most_megabytes = 1000, most_growth = 1.5;

static void print_message(void *user, const sluice_diag *diag)
{
  char *text;
  (void)user;
  if (sluice_diag_format(&text, diag) == SLUICE_OK)
    fputs(text, stderr);
  sluice_string_free(text);
}

__attribute__((format(printf, 2, 3))) static void add(char *text, const char *format, ...)
{
  size_t length = strlen(text);
  va_list args;
  va_start(args, format);
  vsnprintf(text + length, TEXT_SIZE - length, format, args);
  va_end(args);
}

/* One stage of a trip. Counters start at 1, so that `>= i` asks for what was done two trips before, and `>= %t` with t = i + 2
 * for this trip's. */
static void write_stage(char *text, int k, int first, int end, bool apart)
{
  add(text, "    e%d.reg_add %%t, i, 2\n    x%d: e%d.op", k, k, k);
  const char *separator = " wait";
  if (k > first) {
    add(text, "%s s%d >= %%t", separator, k - 1);
    separator = ",";
  }
  if (k + 1 < end) {
    add(text, "%s s%d >= i", separator, k + 1);
    separator = ",";
  }
  if (apart && k + 1 == STAGES)
    add(text, "%s s%d >= %%all", separator, STAGES / 2 - 1);
  add(text, " inc s%d\n", k);
}

static void write_loop(char *text, int first, int end, bool apart)
{
  add(text, "  loop i < n {\n");
  for (int k = first; k < end; k++)
    write_stage(text, k, first, end, apart);
  add(text, "  }\n");
}

static void write_kernel(char *text, enum shape shape)
{
  add(text, "sluice 1\nkernel pipeline(n = 1) target generic explicit {\n");
  for (int k = 0; k < STAGES; k++)
    add(text, "  sem s%d = 1\n", k);
  int half = shape == SHAPE_APART ? STAGES / 2 : STAGES;
  if (shape == SHAPE_APART)
    add(text, "  e%d.reg_add %%all, n, 1\n", STAGES - 1);
  write_loop(text, 0, half, false);
  if (shape == SHAPE_APART)
    write_loop(text, half, STAGES, true);
  add(text, "  epilogue\n");
  for (int k = 0; k + 1 < STAGES; k++)
    if (k + 1 != half)
      add(text, "  dep x%d -> x%d\n  dep x%d -> x%d (i: 2)\n", k, k + 1, k + 1, k);
  if (shape == SHAPE_APART)
    add(text, "  dep x%d -> x%d\n", half - 1, STAGES - 1);
  add(text, "}\n");
}

/* Checks one run of so many trips; the exit code of the process that does it. */
static int check(enum shape shape, int64_t trips)
{
  char text[TEXT_SIZE] = "";
  write_kernel(text, shape);
  sluice_sink sink = { print_message, NULL };
  sluice_input input = { "n", &trips, 1, 0 };
  sluice_check_options options = SLUICE_CHECK_OPTIONS_INIT;
  options.inputs = &input;
  options.input_count = 1;
  options.max_events = 0;
  options.judge_waits = false;
  sluice_targets *targets = NULL;
  sluice_program *program = NULL;
  sluice_check_result *result = NULL;
  if (sluice_targets_new(&targets) != SLUICE_OK ||
      sluice_program_parse(&program, "pipeline.slu", text, strlen(text), &sink) != SLUICE_OK ||
      sluice_program_verify(program, targets, &sink) != SLUICE_OK ||
      sluice_check(&result, program, targets, &options, &sink) != SLUICE_OK)
    return 2;
  size_t count;
  const sluice_check_summary *summary = sluice_check_summaries(result, &count);
  bool tested = count == 1 && summary->instances == (uint64_t)trips * (uint64_t)shapes[shape].dependences;
  int code = sluice_check_verdict(result) == SLUICE_VERDICT_OK && tested ? 0 : 1;
  sluice_check_result_free(result);
  sluice_program_free(program);
  sluice_targets_free(targets);
  return code;
}

static double seconds(struct timeval t)
{
  return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* One size in a process of its own: false when it failed. */
static bool measure(enum shape shape, int64_t trips, double *time, double *megabytes)
{
  struct rusage usage;
  int status = 0;
  pid_t child = fork();
  if (child == 0)
    _exit(check(shape, trips));
  if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return false;
  *time = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  *megabytes = (double)usage.ru_maxrss * 1024 / 1e6;
  return true;
}

/* All sizes of one shape; false when one does not keep the bounds. */
static bool try_shape(enum shape shape, const int64_t *trips, int count)
{
  bool kept = true;
  double first = 0;
  for (int i = 0; i < count; i++) {
    double time, megabytes;
    if (!measure(shape, trips[i], &time, &megabytes)) {
      fprintf(stderr, "check_speed: the check failed or its verdict is wrong\n");
      return false;
    }
    int64_t instructions = trips[i] * INSTRUCTIONS_PER_TRIP;
    double per_second = (double)instructions / time;
    first = i == 0 ? megabytes : first;
    printf("%-10s %12" PRId64 " instructions  %7.2f s  %6.1f million per second  %6.1f MB resident\n",
           shapes[shape].name, instructions, time, per_second / 1e6, megabytes);
    if (per_second < least_per_second || megabytes > most_megabytes || megabytes > most_growth * first) {
      printf("  NOT KEPT: at least %.0f million per second, at most %.0f MB and %.1f times the memory of the first\n",
             least_per_second / 1e6, most_megabytes, most_growth);
      kept = false;
    }
  }
  return kept;
}

int main(int argc, char **argv)
{
  enum { MOST = 16 };
  int64_t trips[MOST] = { 1000000 / INSTRUCTIONS_PER_TRIP, 10000000 / INSTRUCTIONS_PER_TRIP,
                          100000000 / INSTRUCTIONS_PER_TRIP };
  int count = argc > 1 ? argc - 1 : 3;
  for (int i = 1; i < argc && i <= MOST; i++)
    trips[i - 1] = strtoll(argv[i], NULL, 10) / INSTRUCTIONS_PER_TRIP;
  for (int i = 0; i < count; i++)
    if (count > MOST || trips[i] < 1) {
      fprintf(stderr, "usage: check_speed [INSTRUCTIONS...]   (at most %d, each at least %d)\n", MOST,
              INSTRUCTIONS_PER_TRIP);
      return 2;
    }
  bool kept = true;
  for (int shape = 0; shape < SHAPES; shape++)
    kept &= try_shape((enum shape)shape, trips, count);
  return kept ? 0 : 1;
}
