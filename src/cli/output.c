/* output.c: writing results. A file is written beside its place and renamed, so that a failure leaves the old one. */
#define _XOPEN_SOURCE 700 /* mkstemp, realpath, fchmod, sigaction */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool failed(const char *path)
{
  cli_error("io", "cannot write '%s': %s", path, strerror(errno));
  return false;
}

bool cli_flush(void)
{
  if (fflush(stdout) == 0 && !ferror(stdout))
    return true;
  return failed("<stdout>");
}

static bool write_all(int file, const char *text, size_t length)
{
  while (length > 0) {
    ssize_t wrote = write(file, text, length);
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote < 0)
      return false;
    text += wrote;
    length -= (size_t)wrote;
  }
  return true;
}

/* ---- the temporary file ---- */

/* Removed when a signal ends the program. Set while the file exists. */
static const char *volatile unfinished;

static void remove_unfinished(int signal_number)
{
  const char *path = unfinished;
  if (path)
    unlink(path);
  raise(signal_number); /* the handler is reset: this ends the program */
}

static void watch_signals(void)
{
  static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
  struct sigaction action = { .sa_handler = remove_unfinished, .sa_flags = (int)SA_RESETHAND | SA_NODEFER };
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct sigaction old;
    if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
      sigaction(signals[i], &action, NULL);
  }
}

/* The name pattern of a temporary file in the directory of `path`. */
static char *temporary_beside(const char *path)
{
  static const char pattern[] = ".sluice.XXXXXX";
  const char *slash = strrchr(path, '/');
  size_t directory = slash ? (size_t)(slash - path) + 1 : 0;
  char *temporary = cli_alloc(directory + sizeof pattern);
  memcpy(temporary, path, directory);
  memcpy(temporary + directory, pattern, sizeof pattern);
  return temporary;
}

static mode_t mode_of_new_file(void)
{
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

/* Writes the temporary file and renames it to `path`. */
static bool replace(const char *path, mode_t mode, const char *text, size_t length)
{
  char *temporary = temporary_beside(path);
  watch_signals();
  int file = mkstemp(temporary);
  bool ok = file >= 0;
  if (ok) {
    unfinished = temporary;
    ok = fchmod(file, mode) == 0 && write_all(file, text, length);
    int error = errno;
    ok = close(file) == 0 && ok;
    if (!ok)
      errno = error ? error : errno;
    ok = ok && rename(temporary, path) == 0;
    error = errno;
    if (!ok)
      unlink(temporary);
    unfinished = NULL;
    errno = error;
  }
  free(temporary);
  return ok;
}

/* A device, a pipe: cannot be replaced, only written to. */
static bool write_into(const char *path, const char *text, size_t length)
{
  int file = open(path, O_WRONLY);
  if (file < 0)
    return false;
  bool ok = write_all(file, text, length);
  int error = errno;
  ok = close(file) == 0 && ok;
  errno = error;
  return ok;
}

static bool write_to(const char *path, const char *text, size_t length)
{
  if (!path || strcmp(path, "-") == 0) {
    if (length && fwrite(text, 1, length, stdout) != length)
      return failed("<stdout>");
    return cli_flush();
  }
  struct stat about;
  bool exists = stat(path, &about) == 0;
  if (exists && S_ISDIR(about.st_mode)) {
    errno = EISDIR;
    return failed(path);
  }
  if (exists && !S_ISREG(about.st_mode))
    return write_into(path, text, length) || failed(path);
  /* Through a symbolic link, so that the link stays one. */
  char *real = exists ? realpath(path, NULL) : NULL;
  mode_t mode = exists ? about.st_mode & 07777 : mode_of_new_file();
  bool ok = replace(real ? real : path, mode, text, length);
  int error = errno;
  free(real);
  errno = error;
  return ok || failed(path);
}

/* One file at a time, in whatever thread: one name is enough for the handler, and umask is the process's. */
bool cli_write(const char *path, const char *text, size_t length)
{
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  bool ok = write_to(path, text, length);
  pthread_mutex_unlock(&mutex);
  return ok;
}

int cli_render(char **text, size_t *length, const sluice_program *program, bool json)
{
  int status = json ? sluice_program_print_json(text, length, program) : sluice_program_print(text, length, program);
  return cli_exit_code(status);
}
