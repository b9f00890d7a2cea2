/* needs.h: what the dependences ask of each instruction, for ideal synchronization.
 *
 * The kernel that gives the dependences is walked in sequential order, on demand. For a dependence (p, c, block, k) an
 * instance of c needs the latest instance of p before it (k = 0), or the latest up to the end of iteration i - k of the block's
 * current visit (across: of all its visits together); none before the first iteration. For a vector see run/vectors.h. It is
 * given as a number: so many producers of p's stream must have retired. Dependences that the hardware keeps are left out.
 *
 * One walk serves all engines, and keeps for each what it passes. An engine for which it would have to keep much for the others is
 * given a walk of its own: memory does not depend on how far engines are apart in sequential order.
 */
#ifndef SL_SIM_NEEDS_H
#define SL_SIM_NEEDS_H

#include "deps/deps.h"
#include "run/code.h"
#include "run/vectors.h"

struct sl_need_queue {
  sl_vec(uint32_t) data; /* statement, numbers of its needs...; read from `from` */
  uint32_t from;
};

/* One pass over the kernel. */
struct sl_need_walk {
  sl_engines wanted;             /* whose instances it keeps */
  uint32_t *latest;              /* by producer: number of its latest instance */
  uint32_t *retiring;            /* by stream: producers' instances so far */
  uint32_t *lines;               /* delay lines, the latest iteration first */
  struct sl_vectors vectors;
  struct sl_engine_state *states;
  struct sl_thread thread;
  struct sl_need_queue *queues;  /* by engine */
  uint64_t kept;                 /* words in all queues */
};

struct sl_needs {
  sl_heap *heap;
  struct sl_machine_code code;   /* of all engines at once */
  sl_edges edges;                /* by consumer */
  uint32_t *first, *count;       /* by statement: into edges */
  uint32_t *producer;            /* by statement: number of a producer, from 1 */
  uint32_t producer_count, vector_count;
  size_t line_words;
  size_t *line_at;               /* by edge: its delay line; of a vector its number among them */
  uint32_t *of_block, *next_of_block; /* by block, by edge: list of edges carried there, vectors aside, index + 1 */
  const struct sl_inputs *inputs;
  struct sl_need_walk *common;
  struct sl_need_walk **own;     /* by engine: NULL = the common one */
  uint64_t *delivered;           /* by engine: instances so far */
  uint64_t steps;                /* of all walks */
  uint8_t error;                 /* of a walk: enum sl_thread_error */
  sl_index error_at;
};

/* The kernel's copies are expanded. Returns SLUICE_OK or SLUICE_E_INPUT (reported). */
int sl_needs_init(struct sl_needs *needs, sl_heap *heap, sl_program *program, struct sl_kernel *kernel,
                  const struct sl_target *target, sl_report *report);
void sl_needs_start(struct sl_needs *needs, const struct sl_inputs *inputs);

/* Whether the statement is an end of a dependence. */
static inline bool sl_needs_has(const struct sl_needs *needs, sl_index stmt)
{
  return needs->count[stmt] || needs->producer[stmt];
}

/* The next instance of an engine: {statement, numbers in the order of its edges...}, good until the next call; NULL at the end,
 * after an error, or when `limit` steps in all did not suffice. */
const uint32_t *sl_needs_next(struct sl_needs *needs, uint32_t engine, uint64_t limit);

#endif
