/* reduce_parts.h: what the two files of the reduction share: reduce.c prepares, reduce_pass.c decides. See reduce.c.
 *
 * Glossary
 *   position  number of a statement in the text order of the kernel, from 1
 *   lane      what one issue stream issues, in order
 *   chain     what one stream retires in order, or a lane: a column of a clock
 *   sure      executed in every iteration of a block: directly in it, or in loops there whose trip count is known and not 0
 *   region    of a block: the nearest block around it that is not sure to run, or itself when it is not
 */
#ifndef SL_DEPS_REDUCE_PARTS_H
#define SL_DEPS_REDUCE_PARTS_H

#include "deps/reduce.h"

enum { SL_NO_WEIGHT = 0xffffffffu };

struct sl_reduce_block {
  uint32_t begin, end; /* positions of what is in it, at any depth */
  uint32_t depth;
  sl_index region;
  uint32_t producers; /* those in it that are asked for from outside: list through sl_reduce_producer.next */
  uint32_t targets;   /* edges to be decided in its pass */
  uint32_t most[2];   /* largest distance among them; [1]: of edges across visits */
  bool has_across;
  uint32_t asked_from;  /* least depth of a block whose pass decides about a consumer in here */
  uint32_t inline_pass; /* the last pass that walked it as a sure part of its block */
};

struct sl_reduce_producer {
  uint32_t position;
  sl_index block;
  uint32_t chain;
  uint32_t view;      /* from outside of the finished blocks around it that may not run; 0: it is seen as it is */
  uint32_t outermost; /* least depth of a block that carries one of its edges */
  uint32_t next;
};

/* How a producer in a block that may not run looks from outside of it: whoever knows one of its signs knows that the
 * producer has retired. */
struct sl_reduce_view {
  uint32_t first_exit, exit_count;             /* signs that stay: on the chains of the block */
  uint32_t first_arrival, arrival_count, pass; /* signs of one pass: consumers of edges that it counts */
  uint32_t inner;                              /* the view from inside the block, 0: as it is */
  sl_index block;
};

/* A moment on a chain, so many iterations after the producer. */
struct sl_reduce_sign {
  uint32_t chain, position, weight;
  uint32_t edge;     /* an arrival: the edge, plus 1; 0: an exit */
  sl_index consumer; /* of the edge */
  /* How it leads to the producer: inside the block by a moment on a chain, which was learnt there by way of an edge (plus 1;
   * 0: none), to a sign of the inner view (plus 1; 0: the producer itself). */
  uint32_t inner_chain, via, inner_sign;
};

/* An edge in the list of its consumer. */
struct sl_reduce_edge {
  uint32_t edge, producer;
  uint32_t weight;             /* as evidence: iterations of its block; SL_NO_WEIGHT: it is none */
  uint8_t depth, common_depth; /* of its block, of the innermost block around both ends */
  bool is_sure;                /* its producer is sure in its block */
  bool across;
};

/* An edge whose producer is not sure in its block, ordered by that block, the producer's region and its position. */
struct sl_reduce_export {
  uint64_t blocks;
  uint32_t position;
  uint32_t incoming;
};

/* When something is known to have happened, the later the more is known: an iteration of the pass's block is as long as the
 * block's text, and the present one is at SL_ORIGIN + position. Lower half: the last edge on the way, plus 1. 0: unknown. */
typedef uint64_t sl_moment;
enum { SL_ORIGIN = 0x80000000u };

struct sl_reducer {
  sl_heap *heap, *out_heap;
  const struct sl_kernel *kernel;
  const struct sl_edge *edges;
  sl_reductions *out;
  struct sl_reduce_block *blocks; /* by block */
  sl_vec(sl_index) order;         /* of the blocks: outer ones first */
  uint32_t *position;             /* by statement */
  uint32_t *first_incoming;       /* by statement and one more: into incoming */
  struct sl_reduce_edge *incoming;
  uint32_t incoming_count;
  uint32_t *producer_of;                       /* by statement; 0 none */
  sl_vec(struct sl_reduce_producer) producers; /* (from 1), in text order */
  sl_vec(struct sl_reduce_view) views;         /* (from 1) */
  sl_vec(struct sl_reduce_sign) signs;
  sl_vec(struct sl_reduce_export) exports;
  uint32_t *chain_of, *lane_of; /* by stream: where it retires, where it issues */
  uint32_t retire_chains, lanes;
  uint32_t width; /* of a clock: retire chains, then lanes when blocks nest */
};

/* Decides about the edges of one block and those inside it that an edge further out stands for; all blocks inside it
 * are done. Requires a memory of sl_reduce_memory_new. */
struct sl_reduce_memory;
struct sl_reduce_memory *sl_reduce_memory_new(struct sl_reducer *r);
void sl_reduce_block_decide(struct sl_reducer *r, struct sl_reduce_memory *memory, sl_index block);

#endif
