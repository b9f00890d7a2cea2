/* campaign.c: options, diagnostics, files, and the loop over generated kernels. See campaign.h. */
#define _DEFAULT_SOURCE /* scandir */
#include "property/campaign.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { SHRINK_TRIES = 1500, SHOWN_FAILURES = 3 };

static void usage(const char *program)
{
  fprintf(stderr, "usage: %s [--seed N] [--count N] [--seconds N] [--long] [--one SEED] [DIRECTORY]\n", program);
  exit(2);
}

static uint64_t number(const char *program, const char *text)
{
  char *end;
  errno = 0;
  unsigned long long value = text ? strtoull(text, &end, 0) : 0;
  if (!text || !*text || *end || errno)
    usage(program);
  return value;
}

void sl_campaign_options(struct sl_campaign *campaign, int argc, char **argv, uint64_t count, uint64_t long_count)
{
  *campaign = (struct sl_campaign){ .seed = 1, .source = SLUICE_SOURCE_DIR };
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--long")) {
      campaign->long_run = true;
    } else if (!strcmp(argv[i], "--seed")) {
      campaign->seed = number(argv[0], argv[++i]);
    } else if (!strcmp(argv[i], "--count")) {
      campaign->count = number(argv[0], argv[++i]);
    } else if (!strcmp(argv[i], "--seconds")) {
      campaign->seconds = number(argv[0], argv[++i]);
    } else if (!strcmp(argv[i], "--one")) {
      campaign->only_one = true;
      campaign->seed = number(argv[0], argv[++i]);
      campaign->count = 1;
    } else if (argv[i][0] == '-') {
      usage(argv[0]);
    } else {
      campaign->source = argv[i];
    }
  }
  if (campaign->count == 0)
    campaign->count = campaign->long_run ? long_count : count;
  if (campaign->seconds == 0)
    campaign->seconds = campaign->long_run ? 6000 : 240;
}

bool sl_fail(struct sl_failure *failure, const char *kind, const char *format, ...)
{
  if (failure->kind[0])
    return false;
  snprintf(failure->kind, sizeof failure->kind, "%s", kind);
  va_list args;
  va_start(args, format);
  vsnprintf(failure->text, sizeof failure->text, format, args);
  va_end(args);
  return false;
}

static void keep_message(void *user, const sluice_diag *diag)
{
  struct sl_messages *messages = user;
  messages->has_cut |= strcmp(diag->rule, "vector-cut") == 0;
  if (diag->severity == SLUICE_ERROR && !messages->first[0])
    snprintf(messages->first, sizeof messages->first, "%s:%u:%u: %s [%s]", diag->file, diag->line, diag->column,
             diag->text, diag->rule);
}

sluice_sink sl_messages_sink(struct sl_messages *messages)
{
  messages->first[0] = 0;
  messages->has_cut = false;
  return (sluice_sink){ keep_message, messages };
}

/* ---- files ---- */

char *sl_read_file(const char *path, size_t *length)
{
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  char *text = NULL;
  size_t len = 0, cap = 0, got;
  do {
    cap = 2 * cap + 4096;
    text = realloc(text, cap);
    if (!text)
      abort();
    got = fread(text + len, 1, cap - len - 1, file);
    len += got;
  } while (got);
  fclose(file);
  text[len] = 0;
  *length = len;
  return text;
}

static int is_wanted(const struct dirent *entry)
{
  return entry->d_name[0] != '.' && strcmp(entry->d_name, "build") != 0;
}

void sl_each_slu(const char *directory, void (*fn)(void *user, const char *path), void *user)
{
  struct dirent **entries;
  int count = scandir(directory, &entries, is_wanted, alphasort);
  for (int i = 0; i < count; i++) {
    char path[4096];
    struct stat info;
    int length = snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
    free(entries[i]);
    if (length < 4 || (size_t)length >= sizeof path || lstat(path, &info) != 0)
      continue;
    if (S_ISDIR(info.st_mode))
      sl_each_slu(path, fn, user);
    else if (!strcmp(path + length - 4, ".slu"))
      fn(user, path);
  }
  if (count >= 0)
    free(entries);
}

/* ---- generated kernels ---- */

struct attempt {
  enum sl_generate_mode mode;
  sl_property property;
  void *user;
  uint64_t seed;
  const char *kind; /* of the failure that is being shrunk */
};

static bool fails_alike(void *user, const uint8_t *bytes, size_t length)
{
  const struct attempt *attempt = user;
  struct sl_failure failure = { "", "" };
  char *text = sl_generate_text(attempt->mode, bytes, length);
  bool holds = attempt->property(attempt->user, text, attempt->seed, &failure);
  free(text);
  return !holds && !strcmp(failure.kind, attempt->kind);
}

static void show_failure(struct attempt *attempt, uint8_t *bytes, size_t length, struct sl_failure *failure,
                         bool shrink)
{
  char kind[sizeof failure->kind];
  memcpy(kind, failure->kind, sizeof kind);
  attempt->kind = kind;
  printf("FAILED: kernel of seed %llu: %s: %s\n", (unsigned long long)attempt->seed, failure->kind, failure->text);
  if (shrink)
    length = sl_generate_shrink(bytes, length, fails_alike, attempt, SHRINK_TRIES);
  char *text = sl_generate_text(attempt->mode, bytes, length);
  memset(failure, 0, sizeof *failure);
  attempt->property(attempt->user, text, attempt->seed, failure);
  printf("%s kernel:\n%s%s: %s\n", shrink ? "smallest failing" : "the", text, failure->kind, failure->text);
  free(text);
}

unsigned sl_campaign_run(struct sl_campaign *campaign, enum sl_generate_mode mode, sl_property property, void *user)
{
  unsigned failed = 0;
  for (uint64_t n = 0; n < campaign->count && failed < SHOWN_FAILURES; n++) {
    if ((uint64_t)clock() / (uint64_t)CLOCKS_PER_SEC >= campaign->seconds) {
      campaign->untried += campaign->count - n;
      break;
    }
    struct attempt attempt = { mode, property, user, campaign->seed + n, "" };
    struct sl_failure failure = { "", "" };
    uint8_t bytes[SL_GENERATE_MAX_BYTES];
    size_t length = sl_generate_bytes(attempt.seed, bytes);
    char *text = sl_generate_text(mode, bytes, length);
    if (campaign->only_one)
      printf("%s", text);
    bool holds = property(user, text, attempt.seed, &failure);
    free(text);
    if (!holds) {
      failed++;
      show_failure(&attempt, bytes, length, &failure, !campaign->only_one);
    }
  }
  return failed;
}

int sl_campaign_exit_code(const struct sl_campaign *campaign, unsigned failed)
{
  if (failed)
    return 1;
  if (campaign->untried)
    printf("undecided: %llu kernels were not tried within %llu s\n", (unsigned long long)campaign->untried,
           (unsigned long long)campaign->seconds);
  return campaign->untried ? 3 : 0;
}
