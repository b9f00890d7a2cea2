/* mutate.h: every way to break the synchronization of a kernel a little: a wait deleted, its threshold lowered or raised
 * by one update, an update removed or moved to a neighbour, a semaphore swapped for another. What a list of mutations
 * names are places in one tree: apply one to a program read from the same text.
 */
#ifndef SL_TESTS_PROPERTY_MUTATE_H
#define SL_TESTS_PROPERTY_MUTATE_H

#include "ir/program.h"

enum sl_mutation_kind {
  SL_MUTATE_DELETE_WAIT,
  SL_MUTATE_LOWER_WAIT, /* by the largest update of its semaphore, not below 0 */
  SL_MUTATE_RAISE_WAIT,
  SL_MUTATE_REMOVE_UPDATE, /* of a semaphore or event */
  SL_MUTATE_MOVE_UPDATE,   /* to the instruction before or behind it on its stream */
  SL_MUTATE_MOVE_AWAY,     /* to the instruction before or behind it on another stream: then two of them may write */
  SL_MUTATE_SWAP_WAIT,     /* another semaphore is awaited */
  SL_MUTATE_SWAP_UPDATE,   /* another semaphore is updated */
  SL_MUTATION_KINDS
};
const char *sl_mutation_name(enum sl_mutation_kind kind);

struct sl_mutation {
  enum sl_mutation_kind kind;
  sl_index stmt;   /* the instruction */
  uint32_t clause; /* its wait or update: index into kernel->waits, incs; incs.len and up: sets */
  uint32_t to;     /* MOVE: the other instruction. SWAP: index into kernel->sems */
};

struct sl_mutations {
  struct sl_mutation *list;
  uint32_t len, cap;
};

/* free(mutations->list). Streams must be resolved (verified). */
void sl_mutations_find(struct sl_mutations *mutations, const struct sl_kernel *kernel);
/* Changes the program's kernel; the program should be verified again. */
void sl_mutation_apply(sl_program *program, struct sl_kernel *kernel, const struct sl_mutation *mutation);
/* "wait 2 of x3 deleted" and the like. */
void sl_mutation_describe(const struct sl_mutation *mutation, const sl_program *program, const struct sl_kernel *kernel,
                          char *text, size_t size);
/* The largest update of a semaphore: one of kernel->sems. 1 when it is never updated. */
uint32_t sl_largest_update(const struct sl_kernel *kernel, sl_name sem);

#endif
