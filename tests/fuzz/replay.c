/* replay.c: main of a fuzz target without libFuzzer. Runs LLVMFuzzerTestOneInput on every file of the given directories (and
 * on the empty input), so that what fuzzing once found stays found. Prints one TAP line per file; an input that fails ends
 * the process, and the name printed before it tells which.
 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
  FILE *file = fopen(path, "rb");
  if (!file)
    return -1;
  uint8_t *data = NULL;
  size_t size = 0, room = 0, got;
  do {
    room = room ? room * 2 : 4096;
    uint8_t *more = realloc(data, room);
    if (!more)
      abort();
    data = more;
    got = fread(data + size, 1, room - size, file);
    size += got;
  } while (size == room);
  fclose(file);
  /* An exact copy, so that a sanitizer sees the first byte read beyond the end. */
  uint8_t *exact = malloc(size ? size : 1);
  if (!exact)
    abort();
  memcpy(exact, data, size);
  free(data);
  LLVMFuzzerTestOneInput(exact, size);
  free(exact);
  return 0;
}

static int is_input(const struct dirent *entry)
{
  return entry->d_name[0] != '.';
}

static int replay_directory(const char *directory)
{
  struct dirent **entries;
  int count = scandir(directory, &entries, is_input, alphasort);
  if (count <= 0) {
    printf("not ok - %s: no inputs\n", directory);
    return 1;
  }
  int failed = 0;
  for (int i = 0; i < count; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
    printf("# %s\n", path);
    fflush(stdout);
    int status = replay_file(path);
    printf("%s - replay %s\n", status == 0 ? "ok" : "not ok", entries[i]->d_name);
    failed |= status != 0;
    free(entries[i]);
  }
  free(entries);
  return failed;
}

int main(int argc, char **argv)
{
  int failed = 0;
  static const uint8_t nothing[1];
  LLVMFuzzerTestOneInput(nothing, 0);
  for (int i = 1; i < argc; i++)
    failed |= replay_directory(argv[i]);
  return failed;
}
