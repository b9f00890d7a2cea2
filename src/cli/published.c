/* published.c: what others have published of the nine benchmark kernels, to stand beside what we count.
 *
 * Source: arXiv 2608.13757, Table 2, columns latency, code, registers per engine and semaphores. Its kernels are not public:
 * those of bench/table2/ are derived from public kernels and from these code sizes, so the figures compare the order of
 * magnitude, not the instruction. Nothing here is measured by us.
 */
#include "cli.h"

#include <string.h>

const char cli_published_source[] = "arXiv 2608.13757, Table 2";

enum { VARIANT_COUNT = 4, NONE = CLI_UNPUBLISHED };

/* Our strategies under which the columns of the table stand: barrier-based, barrier-free per loop, manual, unrolled. */
static const char *const variants[VARIANT_COUNT] = { "barrier", "per-loop", "manual", "unroll" };

#define KIB(whole, tenths) (whole * 10 + tenths)

/* { semaphores, registers, code, latency }; sizes that the table gives in MB are rounded to two digits. No code: no such
 * variant. */
static const struct {
  const char *name; /* the file's base name */
  struct cli_published variants[VARIANT_COUNT];
} rows[] = {
  { "add_many",
    { { 3, NONE, KIB(2, 5), 100 }, { 4, 4, KIB(1, 7), 30 }, { 4, 0, KIB(1, 8), 22 }, { 4, NONE, KIB(1228, 8), 4 } } },
  { "adamw",
    { { 4, NONE, KIB(5, 3), 100 }, { 10, 4, KIB(7, 3), 74 }, { 4, 5, KIB(5, 3), 76 }, { 4, NONE, KIB(11, 8), 76 } } },
  { "flash_attn",
    { { 8, NONE, KIB(22, 5), 100 },
      { 19, 8, KIB(37, 1), 86 },
      { 8, 0, KIB(23, 5), 88 },
      { 8, NONE, KIB(1228, 8), 70 } } },
  { "rmsnorm",
    { { 4, NONE, KIB(4, 0), 100 }, { 6, 4, KIB(6, 1), 57 }, { 4, 5, KIB(3, 9), 56 }, { 4, NONE, KIB(508, 6), 56 } } },
  { "tiled_matmul",
    { { 5, NONE, KIB(4, 7), 100 }, { 7, 11, KIB(6, 3), 90 }, { 4, 7, KIB(3, 7), 71 }, { 4, NONE, KIB(177, 5), 39 } } },
  { "tiled_matmul_k",
    { { 5, NONE, KIB(6, 9), 100 }, { 6, 8, KIB(9, 3), 55 }, { 4, 7, KIB(6, 1), 61 }, { 4, NONE, KIB(177, 5), 55 } } },
  { "moe_384",
    { { 21, NONE, KIB(10, 3), 100 }, { 13, 4, KIB(9, 3), 87 }, { 21, 4, KIB(9, 8), 81 }, { NONE, NONE, 0, 0 } } },
  { "moe_2048",
    { { 21, NONE, KIB(10, 3), 100 }, { 13, 4, KIB(9, 3), 88 }, { 21, 4, KIB(6, 1), 79 }, { NONE, NONE, 0, 0 } } },
  { "moe_4096",
    { { 21, NONE, KIB(10, 3), 100 }, { 13, 4, KIB(9, 3), 88 }, { 21, 4, KIB(6, 1), 79 }, { NONE, NONE, 0, 0 } } },
};

static bool is_base_name(const char *name, const char *path)
{
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  size_t length = strlen(name);
  return strncmp(base, name, length) == 0 &&
         (strcmp(base + length, ".slu") == 0 || strcmp(base + length, ".json") == 0);
}

const struct cli_published *cli_published(const char *path, const char *strategy)
{
  size_t row = 0, variant = 0;
  while (row < sizeof rows / sizeof *rows && !is_base_name(rows[row].name, path))
    row++;
  while (variant < VARIANT_COUNT && strcmp(variants[variant], strategy) != 0)
    variant++;
  if (row == sizeof rows / sizeof *rows || variant == VARIANT_COUNT || !rows[row].variants[variant].code)
    return NULL;
  return &rows[row].variants[variant];
}

unsigned cli_published_slots(const struct cli_published *published)
{
  enum { SLOTS_PER_KIB = 1024 / 64 };
  return (published->code * SLOTS_PER_KIB + 5) / 10;
}
