/* edge.h: dependences as edges between instructions: what the analysis finds, what `dep` lines say, and what strategies,
 * checker and simulator enforce or judge.
 *
 * An edge (producer, consumer, block, k) says: the consumer, in iteration i of `block`, needs the producer retired through
 * iteration i - k of it, everything up to there; no wait when i - k lies before the current visit of the block
 * began. k = 0 is carried by the innermost common block. Two more forms:
 *   across   the iterations of `block` are counted through all its visits in the run, k >= 1: iteration i - k may lie in an
 *            earlier visit; no wait when it lies before the first one.
 *   vector   (k >= 1 at `block`, inner_k at `inner_block`, whose loop stands in `block`; inner_k may be 0 or negative): the
 *            consumer in iteration (i, j) needs the producer through iteration j - inner_k of the visit of inner_block in
 *            iteration i - k, or through that visit's last iteration when it has fewer, and everything before that; no
 *            wait when i - k or j - inner_k lies before the first iteration.
 */
#ifndef SL_DEPS_EDGE_H
#define SL_DEPS_EDGE_H

#include <assert.h>

#include "ir/ir.h"
#include "target/target.h"

/* Why an edge is there. */
enum sl_edge_kind {
  SL_EDGE_STATED,  /* a `dep` line */
  SL_EDGE_FLOW,    /* read after write */
  SL_EDGE_ANTI,    /* write after read */
  SL_EDGE_OUTPUT,  /* write after write */
  SL_EDGE_ORDERED, /* control order: what reads the register that a reg_load writes */
  SL_EDGE_INDEX    /* read after write of the tensor that says where a gather or scatter goes */
};

enum { SL_NO_LINE = 0xffffffffu };

/* The largest distance: whoever enforces or judges a dependence keeps something for each iteration of it. Lines that say more
 * are refused; of what is found, more is told as this, which is as sound. */
enum { SL_DISTANCE_MAX = 65536 };

struct sl_edge {
  sl_index producer, consumer; /* statements */
  sl_index block;              /* carrying block; of a vector the outer one */
  uint32_t k;
  sl_index inner_block; /* of a vector; else 0 */
  int32_t inner_k;
  uint32_t line; /* index into kernel->deps; SL_NO_LINE: found, not stated */
  uint8_t kind;  /* enum sl_edge_kind */
  uint16_t producer_operand,
      consumer_operand; /* FLOW, ANTI, OUTPUT, INDEX: the accesses, numbers of operands of their ops */
  bool across;
  /* Of the producer, kept here because edges point all over a large kernel: whether its own stream stops for it (a load),
   * where it stands, its number in the text, and (copies being expanded) the stream it retires on. */
  bool producer_stalls;
  sl_index producer_block;
  uint32_t producer_position, producer_stream;
};
typedef sl_vec(struct sl_edge) sl_edges;

static inline bool sl_edge_is_vector(const struct sl_edge *edge)
{
  return edge->inner_block != SL_NONE;
}

/* The innermost block around both statements, around both blocks. O(depth). */
sl_index sl_common_block(const struct sl_kernel *kernel, sl_index a, sl_index b);
sl_index sl_common_block_of(const struct sl_kernel *kernel, sl_index x, sl_index y);
/* Whether `outer` is `block` or a block around it. O(depth). */
bool sl_block_contains(const struct sl_kernel *kernel, sl_index outer, sl_index block);

/* "stated", "flow", "anti", "output", "ordered", "index". */
const char *sl_edge_kind_name(enum sl_edge_kind kind);
/* "ld -> ex (i: 2)", as its line is written or would be. */
void sl_edge_print(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel, const struct sl_edge *edge);
/* The same of the very edge: of a line that names copies, one of them. */
void sl_edge_print_ends(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel,
                        const struct sl_edge *edge);
/* What stands in the parentheses: "i: 2", "across i: 1"; nothing for the same iteration. */
void sl_edge_print_distances(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel,
                             const struct sl_edge *edge);
/* "ld"; "q0.dma_copy" for an instruction without a label. */
void sl_edge_print_end(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel, sl_index stmt);
/* The stream an instruction retires on. Requires copies expanded. */
static inline uint32_t sl_retires_on(const struct sl_kernel *kernel, sl_index stmt)
{
  assert(sl_stmt_op(kernel, stmt)->stream_count == 1 && "copies are expanded");
  return sl_stmt_op(kernel, stmt)->stream;
}
/* Whether the producer is a load for which the engine that issues the consumer stops: whatever that engine issues after the
 * load comes after its retirement. */
bool sl_edge_is_own_load(const struct sl_kernel *kernel, const struct sl_edge *edge);
/* Whether the hardware orders the two ends by itself: same stream of an engine with interlock, same ordered queue, or a
 * load that its own engine stops for. Requires copies expanded. */
bool sl_hardware_orders(const struct sl_kernel *kernel, const struct sl_target *target, const struct sl_edge *edge);

/* Where it is stated; where its consumer stands when it was found. */
sl_loc sl_edge_loc(const struct sl_kernel *kernel, const struct sl_edge *edge);

#endif
