/* overlap.h: what two accesses have in common, for people: an interval of partitions and one of bytes. */
#ifndef SL_DEPS_OVERLAP_H
#define SL_DEPS_OVERLAP_H

#include "deps/edge.h"
#include "deps/footprint.h"

/* All accesses of a kernel, as seen from inside their loops. */
struct sl_accesses {
  const sl_program *program;
  struct sl_footprints footprints;
  uint32_t *first_of; /* by statement: index + 1 of its first access, 0 = none */
};

/* Requires a verified and resolved kernel, its copies expanded. O(statements + operands). */
void sl_accesses_init(struct sl_accesses *accesses, sl_heap *heap, const sl_program *program,
                      const struct sl_kernel *kernel, const struct sl_target *target);
/* Those of an instruction, in the order of its operands. */
const struct sl_footprint *sl_accesses_get(const struct sl_accesses *accesses, sl_index stmt, uint32_t *count);
/* That of an operand; NULL when it is no access of a buffer. */
const struct sl_footprint *sl_access_of_operand(const struct sl_accesses *accesses, sl_index stmt, uint16_t operand);

/* What is common to both ends of an edge: around a sum when it moves with the loops of the consumer, else over all iterations. */
struct sl_overlap {
  const char *memory_class;             /* of the target; SL_CLASS_ALIAS of two buffers under `alias` */
  bool is_anywhere;                     /* where one of them goes cannot be told */
  bool is_placed;                       /* bytes count from the start of the space; else from the start of the buffer */
  struct sl_interval partitions, bytes; /* SL_NO_MAX: no end is known; empty (min >= max): nothing in common */
  sl_sum bytes_around;                  /* bytes count from there; of iteration numbers of the consumer's loops */
};
#define SL_CLASS_ALIAS "Alias"

/* Of two accesses of one memory. `edge`: how far apart the two are; NULL: in any iterations. O(dimensions * terms). */
struct sl_overlap sl_overlap_of(struct sl_accesses *accesses, const struct sl_footprint *producer,
                                const struct sl_footprint *consumer, const struct sl_edge *edge);
bool sl_overlap_is_empty(const struct sl_overlap *overlap);
/* Why two accesses of one memory never meet, in whatever iterations. */
struct sl_disjoint {
  bool by_partition;
  uint32_t index; /* that tells them apart, from 1; its elements are given. 0: bytes or partitions are */
  struct sl_interval of_producer, of_consumer;
};
bool sl_overlap_is_disjoint(struct sl_disjoint *disjoint, const struct sl_accesses *accesses,
                            const struct sl_footprint *producer, const struct sl_footprint *consumer);
/* "SB partitions 0:128, bytes 0:2048 + 2048*(i % 2)"; "DRAM anywhere in bytes 0:65536"; an end that is not known is `?`. */
void sl_overlap_print(sl_buf *buf, const struct sl_accesses *accesses, const struct sl_overlap *overlap);
/* "2048*(i % 2)": a loop's variable stands for the number of its iteration. */
void sl_overlap_print_sum(sl_buf *buf, const struct sl_accesses *accesses, sl_sum sum);

#endif
