/* reference.h: what a kernel's dependences ask of each instruction instance, in sequential order.
 *
 * For an instance of consumer c and a dependence (p, c, block, k) the need is the latest instance of p that must have retired:
 * for k = 0 the last that precedes this instance in the text's order; for k >= 1, with i the iteration of `block` in its
 * current visit (across: of all visits together), none when i - k < 1, else the last up to the end of iteration i - k. For a
 * vector see run/vectors.h. It is given as a chain position: the instances of all producers on p's stream, counted from kernel
 * start; 0 = nothing. (Streams retire in order, so position n retired means that all before it have.)
 *
 * Made on demand, one instance at a time, and queued per engine, so that memory follows how far engines are apart and not how
 * long the run is.
 */
#ifndef SL_CHECK_REFERENCE_H
#define SL_CHECK_REFERENCE_H

#include "deps/deps.h"
#include "run/code.h"
#include "run/vectors.h"

/* A dependence to be tested. */
struct sl_need {
  struct sl_edge edge;
  uint32_t ordinal_of; /* index into producers and latest */
};

/* One instance in an engine's queue: the statement and, for a consumer, its needs in order. */
struct sl_instance_queue {
  sl_vec(uint32_t) data; /* statement, needs...; read from `from` */
  uint32_t from;
};

struct sl_reference {
  struct sl_machine_code code; /* of all engines at once */
  sl_vec(struct sl_need) needs; /* by consumer in text order */
  uint32_t *first_need, *need_count; /* by statement */
  uint32_t *producer_of;       /* by statement: index + 1 into producers */
  sl_vec(sl_index) producers;
  /* state of a run */
  struct sl_engine_state *states;
  struct sl_thread thread;
  uint32_t *latest;            /* by producer: chain position of its latest instance */
  uint32_t *chain;             /* by stream: producers' instances so far */
  uint64_t limit;              /* steps; when they are used up the reference ends and `exhausted` is set */
  bool exhausted;
  uint32_t *delay;             /* delay lines: k entries per need with k >= 1 */
  size_t delay_words;
  size_t *delay_at;            /* by need: its line in `delay`; of a vector its index in `vectors` */
  struct sl_vectors vectors;
  uint32_t *needs_of_block;    /* by block: list of needs carried there, vectors aside, index + 1 */
  uint32_t *next_of_block;     /* by need */
  struct sl_instance_queue *queues; /* by engine */
  uint64_t queued;             /* numbers in all of them that are not read yet */
};

/* Prepares the reference of a kernel whose copies are expanded. Dependences that the hardware gives are left out. Returns
 * SLUICE_OK or SLUICE_E_INPUT (reported). */
int sl_reference_init(struct sl_reference *reference, sl_heap *heap, sl_program *program, struct sl_kernel *kernel,
                      const struct sl_target *target, sl_report *report);
void sl_reference_start(struct sl_reference *reference, const struct sl_inputs *inputs, uint64_t limit);
/* The next instance of an engine: a pointer to {statement, needs...}, good until the next call; NULL at the end. */
const uint32_t *sl_reference_next(struct sl_reference *reference, sl_heap *heap, uint32_t engine);

/* Whether much would have to be queued for the others until the next instance of an engine comes. */
bool sl_reference_is_far(struct sl_reference *reference, sl_heap *heap, uint32_t engine);

/* Writes the iteration ("i = 2, j = 0") and answers the statement of the producer at a chain position of a stream, by running
 * the reference again; SL_NONE when there is none. */
sl_index sl_reference_locate(struct sl_reference *reference, sl_heap *heap, const struct sl_inputs *inputs, uint32_t stream,
                             uint32_t position, sl_buf *iteration);
/* The same for an engine's instance of that number, from 1. */
void sl_reference_iteration(struct sl_reference *reference, sl_heap *heap, const struct sl_inputs *inputs, uint32_t engine,
                            uint32_t instance, sl_buf *iteration);

#endif
