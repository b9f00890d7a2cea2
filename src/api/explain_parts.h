/* explain_parts.h: what is known of an instruction's waits, between finding it (explain.c) and saying it (explain_text.c,
 * explain_json.c). Both forms say the same because both are made of this.
 */
#ifndef SL_API_EXPLAIN_PARTS_H
#define SL_API_EXPLAIN_PARTS_H

#include <sluice/explain.h>

#include "deps/deps.h"
#include "deps/reduce.h"
#include "ir/ir.h"
#include "target/target.h"

/* What the ends of a dependence have in common. */
enum sl_hazard_kind {
  SL_HAZARD_READS_WRITTEN, /* the consumer reads what the producer writes */
  SL_HAZARD_OVERWRITES_WRITTEN,
  SL_HAZARD_OVERWRITES_READ
};

struct sl_shared_buffer {
  sl_name buffer;
  enum sl_hazard_kind hazard;
};

struct sl_explained_edge {
  const struct sl_edge *edge;
  sl_vec(struct sl_shared_buffer) buffers;
  bool is_kept; /* by the machine, which keeps the order of the two */
  const struct sl_reduced *reduced; /* which others imply it; NULL: not asked, of an `explicit` kernel */
};
typedef sl_vec(struct sl_explained_edge) sl_explained_edges;

struct sl_explained_wait {
  const struct sl_gate *gate;
  sl_index slot;                /* the statement that it stands on: the instruction, or a wait-only slot before it */
  const char *text;             /* as it is written */
  sl_explained_edges edges;     /* whose producers raise what it waits for */
  sl_vec(sl_index) raised_by;   /* all statements that raise it */
  sl_vec(sl_index) code;        /* a register's: the operations that its value comes from, in the order of the text */
  const sluice_sim_stall *cost; /* NULL: it never stands still here, or costs are not known */
};

struct sl_explained {
  sl_index stmt;
  sl_vec(struct sl_explained_wait) waits;
  sl_explained_edges others; /* its dependences that none of its waits is for */
};

struct sl_explanation {
  const char *label;   /* that was asked for */
  sl_program *program; /* a copy whose copies of operations are expanded */
  struct sl_kernel *kernel;
  const struct sl_target *target;
  const sluice_explain_options *options;
  sl_source source; /* where places are */
  sl_edges edges;
  sl_reductions reductions;
  sl_vec(struct sl_explained) instructions;
};

/* ---- words that both forms use ---- */

/* Label, or opcode without one. */
const char *sl_explain_op_name(const struct sl_explanation *e, sl_index stmt);
const char *sl_explain_stream_name(const struct sl_explanation *e, uint32_t stream);
/* An instruction that sets a register. */
bool sl_explain_is_register_op(const struct sl_explanation *e, sl_index stmt);
/* "loop t", "a branch in loop t"; "the kernel" outside of loops. */
void sl_explain_put_block(sl_buf *out, const struct sl_explanation *e, sl_index block);
/* Where a register operation stands, by what follows it. */
void sl_explain_put_position(sl_buf *out, const struct sl_explanation *e, sl_index stmt);

/* Whether a dependence was found, and not stated by a line. */
static inline bool sl_explain_is_found(const struct sl_explained_edge *explained)
{
  return explained->edge->line == SL_NO_LINE;
}
/* Whether others imply it. */
static inline bool sl_explain_is_implied(const struct sl_explained_edge *explained)
{
  return explained->reduced && !sl_reduced_is_kept(explained->reduced);
}
/* The access of an end of a dependence that was found, as it is written; nothing when it is in a clause. */
void sl_explain_put_access(sl_buf *out, const struct sl_explanation *e, sl_index stmt, uint16_t operand);

/* ---- the two forms ---- */

void sl_explain_text(sl_buf *out, struct sl_explanation *e);
void sl_explain_json(sl_buf *out, struct sl_explanation *e);

#endif
