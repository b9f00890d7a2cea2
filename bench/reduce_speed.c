/* reduce_speed.c: how long the reduction of dependences takes (src/deps/reduce.h), and how much it drops.
 *
 *   reduce_speed            all shapes below
 *   reduce_speed FILE...    the first kernel of each file
 *
 *   straight   N instructions on 8 streams, 3 N dependences on earlier ones, most of them near
 *   nest       three loops, 10,000 instructions in the innermost body, 3 dependences each, carried by any of the loops
 *   branches   3,000 if/else in a row, an instruction in each arm; neighbours depend on each other
 *   nests      3,000 nests of three loops in a row, likewise
 *
 * Only the reduction is timed, in CPU time. Exits 1 when a bound below is not kept. Built with the tests, for it looks inside the library.
 */
#define _XOPEN_SOURCE 700 /* clock_gettime */
#include <sluice/sluice.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "deps/deps.h"
#include "deps/reduce.h"

enum { STREAMS = 8, NEAR = 32, ROW = 3000, BODY = 10000 };

struct text {
  char *data;
  size_t length, capacity;
  uint64_t random;
};

static uint64_t below(struct text *text, uint64_t bound)
{
  uint64_t z = (text->random += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (z ^ (z >> 31)) % bound;
}

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
  if (text->capacity - text->length < 256) {
    text->capacity = 2 * text->capacity + 4096;
    text->data = realloc(text->data, text->capacity);
    if (!text->data)
      abort();
  }
  va_list args;
  va_start(args, format);
  text->length += (size_t)vsnprintf(text->data + text->length, 256, format, args);
  va_end(args);
}

static void add_op(struct text *text, uint64_t number)
{
  add(text, "x%" PRIu64 ": e%" PRIu64 ".op\n", number, below(text, STREAMS));
}

static uint64_t near_before(struct text *text, uint64_t number)
{
  return number - 1 - below(text, number < NEAR ? number : NEAR);
}

static void write_straight(struct text *text, uint64_t count)
{
  for (uint64_t i = 0; i < count; i++)
    add_op(text, i);
  for (uint64_t i = 1; i < count; i++) {
    add(text, "dep x%" PRIu64 " -> x%" PRIu64 "\n", near_before(text, i), i);
    add(text, "dep x%" PRIu64 " -> x%" PRIu64 "\n", near_before(text, i), i);
    add(text, "dep x%" PRIu64 " -> x%" PRIu64 "\n", below(text, i), i);
  }
}

static void write_nest(struct text *text, uint64_t count)
{
  static const char *const loops[] = { "i", "j", "k" };
  add(text, "loop i < n {\nloop j < n {\nloop k < n {\n");
  for (uint64_t i = 0; i < count; i++)
    add_op(text, i);
  add(text, "}\n}\n}\n");
  for (uint64_t i = 1; i < count; i++) {
    add(text, "dep x%" PRIu64 " -> x%" PRIu64 "\n", near_before(text, i), i);
    for (unsigned n = 0; n < 2; n++)
      add(text, "dep x%" PRIu64 " -> x%" PRIu64 " (%s: %" PRIu64 ")\n", below(text, count), i, loops[below(text, 3)],
          1 + below(text, 4));
  }
}

static void write_row_deps(struct text *text, uint64_t count)
{
  for (uint64_t i = 1; i < count; i++) {
    add(text, "dep x%" PRIu64 " -> x%" PRIu64 "\n", i - 1, i);
    if (i >= NEAR)
      add(text, "dep x%" PRIu64 " -> x%" PRIu64 "\n", near_before(text, i), i);
  }
}

static void write_branches(struct text *text, uint64_t count)
{
  for (uint64_t i = 0; i < count; i++) {
    add(text, "if ?c {\n");
    add_op(text, 2 * i);
    add(text, "} else {\n");
    add_op(text, 2 * i + 1);
    add(text, "}\n");
  }
  write_row_deps(text, 2 * count);
}

static void write_nests(struct text *text, uint64_t count)
{
  for (uint64_t i = 0; i < count; i++) {
    add(text, "loop i < n {\nloop j < n {\nloop k < n {\n");
    add_op(text, 2 * i);
    add_op(text, 2 * i + 1);
    add(text, "}\n}\n}\n");
  }
  write_row_deps(text, 2 * count);
}

static void print_message(void *user, const sluice_diag *diag)
{
  (void)user;
  fprintf(stderr, "%u: %s\n", diag->line, diag->text);
}

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct measured {
  double seconds;
  uint32_t edges, kept;
};

static void reduce(struct measured *measured, sluice_program *program, const sluice_targets *targets)
{
  static const sluice_sink sink = { print_message, NULL };
  struct sl_kernel *kernel = program->kernels.data[0];
  const struct sl_target *target = sl_target_find(targets, sl_text(program, kernel->target));
  sl_heap *heap = sl_heap_child_new(&program->heap);
  sl_report report;
  sl_edges edges = { 0 };
  sl_reductions reductions;
  sl_report_init(&report, heap, &sink, &program->source);
  sl_expand_copies(program, kernel);
  if (sl_deps_resolve(&edges, heap, program, kernel, target, &report) != SLUICE_OK)
    exit(2);
  double start = seconds();
  sl_deps_reduce(&reductions, heap, program, kernel, target, &edges);
  measured->seconds = seconds() - start;
  measured->edges = edges.len;
  for (uint32_t i = 0; i < edges.len; i++)
    measured->kept += sl_reduced_is_kept(&reductions.edges[i]);
}

static const struct shape {
  const char *name;
  void (*write)(struct text *text, uint64_t count);
  uint64_t count;
  double most_seconds;
} shapes[] = { { "straight", write_straight, 100000, 0.2 },
               { "straight", write_straight, 1000000, 2 },
               { "nest", write_nest, BODY, 1 },
               { "branches", write_branches, ROW, 0.2 },
               { "nests", write_nests, ROW, 0.2 } };

static struct measured measure(const char *name, const char *text, size_t length, const sluice_targets *targets)
{
  static const sluice_sink sink = { print_message, NULL };
  struct measured measured = { 0, 0, 0 };
  sluice_program *program = NULL;
  if (sluice_program_parse(&program, name, text, length, &sink) != SLUICE_OK ||
      sluice_program_verify(program, targets, &sink) != SLUICE_OK)
    exit(2);
  reduce(&measured, program, targets);
  sluice_program_free(program);
  return measured;
}

static void print(const char *name, const struct measured *measured, const char *remark)
{
  printf("%-9s  %8u edges, %8u kept  %.3f s%s\n", name, measured->edges, measured->kept, measured->seconds, remark);
}

static bool try_shape(const struct shape *shape, const sluice_targets *targets)
{
  struct text text = { NULL, 0, 0, 1 };
  add(&text, "sluice 1\nkernel k(n = 4) target generic explicit {\n");
  shape->write(&text, shape->count);
  add(&text, "}\n");
  struct measured measured = measure(shape->name, text.data, text.length, targets);
  free(text.data);
  bool is_slow = measured.seconds > shape->most_seconds;
  print(shape->name, &measured, is_slow ? "  TOO SLOW" : "");
  return !is_slow;
}

static void try_file(const char *path, const sluice_targets *targets)
{
  struct text text = { NULL, 0, 0, 1 };
  FILE *file = fopen(path, "r");
  char piece[200];
  if (!file)
    exit(2);
  while (fgets(piece, sizeof piece, file))
    add(&text, "%s", piece);
  fclose(file);
  struct measured measured = measure(path, text.data, text.length, targets);
  free(text.data);
  print(path, &measured, "");
}

int main(int argc, char **argv)
{
  sluice_targets *targets = NULL;
  bool holds = true;
  if (sluice_targets_new(&targets) != SLUICE_OK)
    return 2;
  for (int i = 1; i < argc; i++)
    try_file(argv[i], targets);
  for (size_t s = 0; argc == 1 && s < sizeof shapes / sizeof *shapes; s++)
    holds &= try_shape(&shapes[s], targets);
  sluice_targets_free(targets);
  return !holds;
}
