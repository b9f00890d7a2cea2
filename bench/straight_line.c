/* straight_line.c: generates the kernel that the scale benchmark reads.
 *
 *   straight_line N          a .slu kernel: N instructions on 8 streams of target generic, 2N dependences, no loop
 *   straight_line N --mlir   N generic MLIR operations with two operands each, the same graph, for mlir-opt
 *
 * Requires N >= 8. The output depends on N alone: the generator has its own random numbers (splitmix64, fixed seed).
 * Each instruction depends on one of the 32 before it and on any earlier one; the last takes what is missing to 2N.
 * O(N) time, O(1) memory.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS = 8, NEAR = 32, FIRST_WITH_TWO = 2, MISSING = 3 };

static uint64_t random_state;

static uint64_t random_below(uint64_t bound)
{
  uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (z ^ (z >> 31)) % bound;
}

/* The two producers of instruction i >= 2, different from each other. */
static void choose_producers(uint64_t i, uint64_t producers[2])
{
  uint64_t reach = i < NEAR ? i : NEAR;
  producers[0] = i - 1 - random_below(reach);
  producers[1] = random_below(i - 1);
  if (producers[1] >= producers[0])
    producers[1]++;
}

static void print_slu(uint64_t count)
{
  printf("sluice 1\n\nkernel straight_line target generic explicit {\n");
  for (uint64_t i = 0; i < count; i++)
    printf("  i%" PRIu64 ": e%" PRIu64 ".op\n", i, random_below(STREAMS));
  printf("\n  dep i0 -> i1\n");
  for (uint64_t i = FIRST_WITH_TWO; i < count; i++) {
    uint64_t producers[2];
    choose_producers(i, producers);
    printf("  dep i%" PRIu64 " -> i%" PRIu64 "\n  dep i%" PRIu64 " -> i%" PRIu64 "\n", producers[0], i, producers[1], i);
    /* Instruction 0 has no producer and instruction 1 only one. */
    for (uint64_t extra = 0, p = 0; i == count - 1 && extra < MISSING; p++) {
      if (p != producers[0] && p != producers[1]) {
        printf("  dep i%" PRIu64 " -> i%" PRIu64 "\n", p, i);
        extra++;
      }
    }
  }
  printf("}\n");
}

static void print_mlir(uint64_t count)
{
  printf("module {\n  %%0 = \"s.e0\"() : () -> i32\n  %%1 = \"s.e1\"(%%0) : (i32) -> i32\n");
  for (uint64_t i = FIRST_WITH_TWO; i < count; i++) {
    uint64_t producers[2];
    choose_producers(i, producers);
    printf("  %%%" PRIu64 " = \"s.e%" PRIu64 "\"(%%%" PRIu64 ", %%%" PRIu64 ") : (i32, i32) -> i32\n", i,
           random_below(STREAMS), producers[0], producers[1]);
  }
  printf("}\n");
}

int main(int argc, char **argv)
{
  bool mlir = argc == 3 && strcmp(argv[2], "--mlir") == 0;
  char *end = NULL;
  uint64_t count = argc >= 2 ? strtoull(argv[1], &end, 10) : 0;
  if (argc < 2 || (argc == 3 && !mlir) || argc > 3 || *end != '\0' || count < STREAMS) {
    fprintf(stderr, "usage: straight_line N [--mlir]   (N >= %d)\n", STREAMS);
    return 2;
  }
  if (mlir)
    print_mlir(count);
  else
    print_slu(count);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "straight_line: cannot write\n");
    return 2;
  }
  return 0;
}
