/* parallel.c: the same work on many items, in threads.
 *
 * Items are begun in their order, by whichever thread is free. What an item says is kept until all items before it have
 * said theirs, so that stderr reads as if one had been done after the other.
 */
#define _XOPEN_SOURCE 700 /* open_memstream */
#include "cli.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct item {
  char *messages;
  size_t length;
  bool is_done;
};

struct team {
  int (*work)(void *context, size_t item);
  void *context;
  struct item *items;
  int *codes;
  size_t count;
  pthread_mutex_t mutex; /* of all below, and of codes and items */
  pthread_cond_t item_is_done;
  size_t next, done, failed;
};

/* ---- the threads ---- */

static void work_on(struct team *team, size_t i)
{
  struct item item = { NULL, 0, true };
  FILE *messages = open_memstream(&item.messages, &item.length);
  cli_redirect_messages(messages); /* when there is no memory for it, to stderr and perhaps out of order */
  int code = team->work(team->context, i);
  cli_redirect_messages(NULL);
  if (messages && fclose(messages) != 0)
    item.length = 0;
  pthread_mutex_lock(&team->mutex);
  team->codes[i] = code;
  team->items[i] = item;
  team->done++;
  team->failed += code != CLI_DONE;
  pthread_cond_signal(&team->item_is_done);
  pthread_mutex_unlock(&team->mutex);
}

static void *run_thread(void *user)
{
  struct team *team = user;
  for (;;) {
    pthread_mutex_lock(&team->mutex);
    size_t i = team->next;
    team->next += i < team->count;
    pthread_mutex_unlock(&team->mutex);
    if (i == team->count)
      return NULL;
    work_on(team, i);
  }
}

/* Starts up to `wanted` threads with a stack as that of a main thread. Returns how many there are. */
static size_t start_threads(pthread_t *threads, size_t wanted, struct team *team)
{
  enum { STACK = 8 << 20 };
  pthread_attr_t attributes;
  size_t started = 0;
  if (pthread_attr_init(&attributes) != 0)
    return 0;
  pthread_attr_setstacksize(&attributes, STACK);
  while (started < wanted && pthread_create(&threads[started], &attributes, run_thread, team) == 0)
    started++;
  pthread_attr_destroy(&attributes);
  return started;
}

/* ---- what is seen of it ---- */

static void draw(struct cli_progress *progress, const struct team *team)
{
  char failures[40] = "";
  if (team->done == team->count)
    return;
  if (team->failed)
    snprintf(failures, sizeof failures, ", %zu failed", team->failed);
  cli_progress_draw(progress, "%zu of %zu files done%s", team->done, team->count, failures);
}

/* Called with the mutex held, returns with it held. */
static void print_messages(struct team *team, size_t i, struct cli_progress *progress)
{
  struct item *item = &team->items[i];
  if (item->length) {
    cli_progress_clear(progress);
    pthread_mutex_unlock(&team->mutex);
    fwrite(item->messages, 1, item->length, stderr);
    pthread_mutex_lock(&team->mutex);
  }
  free(item->messages);
}

static void print_in_order(struct team *team)
{
  struct cli_progress progress = cli_progress_begin();
  pthread_mutex_lock(&team->mutex);
  for (size_t printed = 0; printed < team->count;) {
    if (team->items[printed].is_done) {
      print_messages(team, printed++, &progress);
      continue;
    }
    draw(&progress, team);
    pthread_cond_wait(&team->item_is_done, &team->mutex);
  }
  pthread_mutex_unlock(&team->mutex);
  cli_progress_clear(&progress);
}

void cli_parallel(int *codes, size_t count, size_t threads, int (*work)(void *context, size_t item), void *context)
{
  struct team team = { .work = work, .context = context, .codes = codes, .count = count };
  size_t wanted = threads < count ? threads : count;
  pthread_t *ids = cli_alloc(wanted * sizeof *ids);
  team.items = cli_alloc(count * sizeof *team.items);
  memset(team.items, 0, count * sizeof *team.items);
  pthread_mutex_init(&team.mutex, NULL);
  pthread_cond_init(&team.item_is_done, NULL);
  size_t started = start_threads(ids, wanted, &team);
  if (!started)
    run_thread(&team); /* the system gives no threads: do it here */
  print_in_order(&team);
  for (size_t i = 0; i < started; i++)
    pthread_join(ids[i], NULL);
  pthread_cond_destroy(&team.item_is_done);
  pthread_mutex_destroy(&team.mutex);
  free(team.items);
  free(ids);
}

size_t cli_processor_count(void)
{
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : (size_t)count;
}
