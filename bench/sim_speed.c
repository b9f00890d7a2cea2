/* sim_speed.c: how fast the simulator runs, and that its memory does not grow with the run.
 *
 *   sim_speed [ITERATIONS...]     default: 100000 1000000 10000000
 *
 * The kernel is bench/table2/add_many.slu, synchronized by shadow counters, by barriers, and ideal. Executed operations are datapath
 * instructions, register operations (the counters of loops among them), branches and wait-only slots. Every size runs in a process of
 * its own, so that its largest resident set can be told by wait4. Exits 1 when a bound below is not kept.
 */
#define _DEFAULT_SOURCE /* wait4 */
#include <sluice/sluice.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static const double least_per_second = 10e6, most_megabytes = 200;

static const struct mode {
  const char *name;
  bool is_ideal;
  enum sluice_alloc alloc;
} modes[] = { { "shadow", false, SLUICE_ALLOC_SHADOW },
              { "barrier", false, SLUICE_ALLOC_BARRIER },
              { "ideal", true, SLUICE_ALLOC_SHADOW } };
enum { MODES = sizeof modes / sizeof *modes, TEXT_SIZE = 16384 };

static void print_message(void *user, const sluice_diag *diag)
{
  char *text;
  (void)user;
  if (sluice_diag_format(&text, diag) == SLUICE_OK)
    fputs(text, stderr);
  sluice_string_free(text);
}

static int parse(sluice_program **program, const sluice_targets *targets, int64_t iterations, const sluice_sink *sink)
{
  static char text[TEXT_SIZE];
  FILE *file = fopen(SLUICE_SOURCE_DIR "/bench/table2/add_many.slu", "rb");
  size_t length = file ? fread(text, 1, sizeof text, file) : 0;
  if (file)
    fclose(file);
  int status = length ? sluice_program_parse(program, "add_many.slu", text, length, sink) : SLUICE_E_IO;
  if (status == SLUICE_OK)
    status = sluice_program_define(*program, "N", iterations, sink);
  return status == SLUICE_OK ? sluice_program_verify(*program, targets, sink) : status;
}

/* Simulates and answers the number of executed operations, 0 after a failure. */
static uint64_t simulate(const struct mode *mode, int64_t iterations)
{
  sluice_sink sink = { print_message, NULL };
  sluice_targets *targets = NULL;
  sluice_program *program = NULL, *synced = NULL;
  sluice_sync_options sync_options = SLUICE_SYNC_OPTIONS_INIT;
  sluice_sim_options options = SLUICE_SIM_OPTIONS_INIT;
  sluice_sim_result *result = NULL;
  sync_options.alloc = mode->alloc;
  options.sync = mode->is_ideal ? SLUICE_SIM_IDEAL : SLUICE_SIM_AS_WRITTEN;
  options.max_steps = 0;
  if (sluice_targets_new(&targets) != SLUICE_OK || parse(&program, targets, iterations, &sink) != SLUICE_OK ||
      sluice_sync(&synced, program, targets, &sync_options, &sink) != SLUICE_OK ||
      sluice_sim(&result, mode->is_ideal ? program : synced, 0, targets, &options, &sink) != SLUICE_OK)
    return 0;
  const sluice_sim_summary *summary = sluice_sim_summary_get(result);
  uint64_t executed = summary->instructions + summary->register_operations + 2 * summary->branches + summary->wait_slots;
  sluice_sim_result_free(result);
  sluice_program_free(synced);
  sluice_program_free(program);
  sluice_targets_free(targets);
  return executed;
}

static double seconds(struct timeval t)
{
  return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* One size in a process of its own, which sends its number through a pipe; false when it failed. */
static bool measure(const struct mode *mode, int64_t iterations, double *time, double *megabytes, uint64_t *executed)
{
  struct rusage usage;
  int status = 0, ends[2];
  if (pipe(ends) != 0)
    return false;
  pid_t child = fork();
  if (child == 0) {
    uint64_t count = simulate(mode, iterations);
    _exit(count && write(ends[1], &count, sizeof count) == (ssize_t)sizeof count ? 0 : 1);
  }
  close(ends[1]);
  bool ok = child > 0 && read(ends[0], executed, sizeof *executed) == (ssize_t)sizeof *executed;
  close(ends[0]);
  if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return false;
  *time = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  *megabytes = (double)usage.ru_maxrss * 1024 / 1e6;
  return ok;
}

int main(int argc, char **argv)
{
  static const char *const usual[] = { "100000", "1000000", "10000000" };
  int count = argc > 1 ? argc - 1 : 3, failed = 0;
  for (int i = 0; i < count * MODES; i++) {
    const struct mode *mode = &modes[i % MODES];
    long long iterations = strtoll(argc > 1 ? argv[i / MODES + 1] : usual[i / MODES], NULL, 10);
    double time, megabytes;
    uint64_t executed = 0;
    if (iterations < 1 || !measure(mode, iterations, &time, &megabytes, &executed)) {
      fprintf(stderr, "usage: sim_speed [ITERATIONS...]; or the simulation failed\n");
      return 2;
    }
    double per_second = (double)executed / time;
    printf("%-8s %12" PRIu64 " operations  %7.2f s  %6.1f million per second  %6.1f MB resident\n", mode->name, executed, time,
           per_second / 1e6, megabytes);
    bool is_long = executed > 10000000; /* shorter runs measure the start */
    if ((is_long && per_second < least_per_second) || megabytes > most_megabytes) {
      printf("  NOT KEPT: at least %.0f million per second, at most %.0f MB\n", least_per_second / 1e6, most_megabytes);
      failed = 1;
    }
  }
  return failed;
}
