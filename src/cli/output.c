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

/* Makes the temporary file; -1 with errno set when that fails. The name is to be freed by end_temporary. */
static int begin_temporary(const char *path, mode_t mode, char **temporary)
{
  *temporary = temporary_beside(path);
  watch_signals();
  int file = mkstemp(*temporary);
  if (file < 0)
    return -1;
  unfinished = *temporary;
  if (fchmod(file, mode) == 0)
    return file;
  int error = errno;
  unlink(*temporary);
  unfinished = NULL;
  close(file);
  errno = error;
  return -1;
}

/* Closes it and, when all went well, renames it to `path`; else removes it. False with errno set. */
static bool end_temporary(int file, char *temporary, const char *path, bool ok)
{
  int error = errno;
  if (file >= 0) {
    if (close(file) != 0 && ok) {
      error = errno;
      ok = false;
    }
    if (ok && rename(temporary, path) != 0) {
      error = errno;
      ok = false;
    }
    if (!ok)
      unlink(temporary);
    unfinished = NULL;
  }
  free(temporary);
  errno = error;
  return ok;
}

/* Writes the temporary file and renames it to `path`. */
static bool replace(const char *path, mode_t mode, const char *text, size_t length)
{
  char *temporary;
  int file = begin_temporary(path, mode, &temporary);
  return end_temporary(file, temporary, path, file >= 0 && write_all(file, text, length));
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

/* ---- piece by piece ---- */

struct cli_stream {
  const char *path;
  char *real, *temporary; /* of a file that is replaced; NULL: copied to where it belongs at the end */
  int file;
  FILE *copied;
};

struct cli_stream *cli_stream_open(const char *path)
{
  struct cli_stream *stream = cli_alloc(sizeof *stream);
  struct stat about;
  bool exists = strcmp(path, "-") != 0 && stat(path, &about) == 0;
  *stream = (struct cli_stream){ .path = path, .file = -1 };
  if (exists && S_ISDIR(about.st_mode)) {
    errno = EISDIR;
  } else if (strcmp(path, "-") == 0 || (exists && !S_ISREG(about.st_mode))) {
    stream->copied = tmpfile();
    stream->file = stream->copied ? fileno(stream->copied) : -1;
  } else {
    stream->real = exists ? realpath(path, NULL) : NULL;
    stream->real = stream->real ? stream->real : cli_copy(path);
    stream->file = begin_temporary(stream->real, exists ? about.st_mode & 07777 : mode_of_new_file(), &stream->temporary);
  }
  if (stream->file >= 0)
    return stream;
  failed(path);
  free(stream->temporary);
  free(stream->real);
  free(stream);
  return NULL;
}

bool cli_stream_write(void *stream, const char *text, size_t length)
{
  struct cli_stream *own = stream;
  return write_all(own->file, text, length) || failed(own->path);
}

/* To stdout, a device, a pipe. */
static bool copy_out(struct cli_stream *stream)
{
  char part[1 << 16];
  size_t length;
  bool is_stdout = strcmp(stream->path, "-") == 0;
  int file = is_stdout ? -1 : open(stream->path, O_WRONLY);
  bool ok = (is_stdout || file >= 0) && fseek(stream->copied, 0, SEEK_SET) == 0;
  while (ok && (length = fread(part, 1, sizeof part, stream->copied)) > 0)
    ok = is_stdout ? fwrite(part, 1, length, stdout) == length : write_all(file, part, length);
  ok = ok && !ferror(stream->copied);
  if (file >= 0)
    ok = close(file) == 0 && ok;
  return ok || failed(stream->path);
}

bool cli_stream_close(struct cli_stream *stream, bool keep)
{
  bool ok = true;
  if (stream->copied) {
    ok = !keep || copy_out(stream);
    fclose(stream->copied);
  } else if (!end_temporary(stream->file, stream->temporary, stream->real, keep) && keep) {
    ok = failed(stream->path);
  }
  free(stream->real);
  free(stream);
  return ok;
}

int cli_render(char **text, size_t *length, const sluice_program *program, bool json)
{
  int status = json ? sluice_program_print_json(text, length, program) : sluice_program_print(text, length, program);
  return cli_exit_code(status);
}
