/* progress.c: the line on a terminal that says how far long work is. */
#define _XOPEN_SOURCE 700 /* clock_gettime, isatty */
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static uint64_t milliseconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

struct cli_progress cli_progress_begin(void)
{
  return (struct cli_progress){ isatty(STDERR_FILENO) == 1, 0, milliseconds() };
}

bool cli_progress_is_due(struct cli_progress *progress)
{
  enum { PAUSE = 200 };
  if (!progress->is_shown || milliseconds() - progress->shown_at < PAUSE)
    return false;
  progress->shown_at = milliseconds();
  return true;
}

void cli_progress_clear(struct cli_progress *progress)
{
  if (progress->width)
    fprintf(stderr, "\r%*s\r", progress->width, "");
  progress->width = 0;
}

void cli_progress_draw(struct cli_progress *progress, const char *format, ...)
{
  char line[80]; /* a longer one would wrap and stay */
  if (!progress->is_shown)
    return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  cli_progress_clear(progress);
  progress->width = fprintf(stderr, "%s", line);
}
