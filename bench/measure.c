/* measure.c: runs a command several times and prints what it took.
 *
 *   measure RUNS COMMAND [ARGUMENT...]   prints `SECONDS MEGABYTES`: the median of user + system time, and the largest
 *                                        resident set of any run (10^6 bytes)
 *
 * The command's standard output is discarded, its standard error is kept. Exits 1 when a run fails.
 */
#define _DEFAULT_SOURCE /* wait4 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_RUNS = 99 };

static double seconds(struct timeval t)
{
  return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static int compare_doubles(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* One run; false when it could not be started or did not exit with 0. */
static int run_once(char **command, struct rusage *usage)
{
  pid_t child = fork();
  if (child == 0) {
    int null = open("/dev/null", O_WRONLY);
    if (null >= 0)
      dup2(null, STDOUT_FILENO);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
  }
  int status = 0;
  return child > 0 && wait4(child, &status, 0, usage) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv)
{
  int runs = argc >= 3 ? atoi(argv[1]) : 0;
  double times[MAX_RUNS];
  long kilobytes = 0;
  if (runs < 1 || runs > MAX_RUNS) {
    fprintf(stderr, "usage: measure RUNS COMMAND [ARGUMENT...]   (1 <= RUNS <= %d)\n", MAX_RUNS);
    return 2;
  }
  for (int i = 0; i < runs; i++) {
    struct rusage usage;
    if (!run_once(argv + 2, &usage)) {
      fprintf(stderr, "measure: %s failed\n", argv[2]);
      return 1;
    }
    times[i] = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    if (usage.ru_maxrss > kilobytes)
      kilobytes = usage.ru_maxrss;
  }
  qsort(times, (size_t)runs, sizeof times[0], compare_doubles);
  printf("%.3f %.0f\n", times[runs / 2], (double)kilobytes * 1024 / 1e6);
  return 0;
}
