/* reference.h: what a kernel means: its instruction instances in sequential order, and for each of them what must
 * have retired before it may issue, computed from the unsynchronized kernel's dep lines alone.
 *
 * For a dependence (producer p, consumer c, carrying loop S, distance k) and an instance of c the need is a number of
 * instances of p, cumulative since the start of the kernel:
 *   k = 0   all instances of p that precede this instance of c in sequential order;
 *   k >= 1  let i be the 1-based iteration of the current visit of S: none when i - k < 1, else all instances of p
 *   up to
 *           the end of iteration i - k of this visit, those of earlier visits included. A distance across visits counts
 *           iterations from the start of the kernel instead of the current visit.
 *
 * A line with two distances (k at S, b at a loop T directly in S) is a vector: with j the iteration of T's current visit,
 * none when i - k < 1 or j - b < 1, else all instances of p up to the end of iteration j - b of T's visit in iteration
 * i - k of S, or of its last iteration if it had fewer. Of any other line with several distances the first that is not 0 counts.
 *
 * Glossary
 *   instruction  a labelled op that goes through a pipeline, on one stream: an op on several streams is several
 *   instance     one execution of an instruction
 */
#ifndef SL_TESTS_ORACLE_REFERENCE_H
#define SL_TESTS_ORACLE_REFERENCE_H

#include "oracle/walk.h"

/* What the hardware orders without waits. */
struct sl_oracle_hardware {
  bool engines_interlock; /* dependent instructions of one engine */
  bool queues_ordered;    /* transfers of one queue */
};

struct sl_oracle_instruction {
  sl_index stmt;
  uint32_t stream, issue;        /* where it retires, where it issues */
  uint32_t first_dep, dep_count; /* dependences it consumes */
};

/* One visit of a vector's inner loop. */
struct sl_oracle_visit {
  uint32_t *ends; /* retired count of the producer on arrival, then at the end of each iteration */
  uint32_t len, cap;
};

struct sl_oracle_dep {
  uint32_t producer, consumer; /* instructions */
  sl_index carrier;            /* body of the carrying loop; SL_NONE when k is 0 */
  uint32_t k;
  bool across;    /* counted through all visits */
  bool free;      /* the hardware gives it */
  uint32_t *ends; /* retired count of the producer at the end of each iteration of the current visit (across: of all) */
  uint32_t ends_len, ends_cap;
  sl_index inner; /* of a vector: body of the inner loop; else SL_NONE */
  int64_t b;
  struct sl_oracle_visit *visits; /* of the inner loop in the current visit of the carrier, one per iteration */
  uint32_t visit_count, visit_cap;
};

struct sl_oracle_instance {
  uint32_t instruction, first_need; /* needs: one per dependence of the instruction, in order */
};

struct sl_oracle_sequence {
  struct sl_oracle_instance *instances;
  uint32_t len, cap;
};

struct sl_oracle_reference {
  struct sl_oracle_view view;
  struct sl_oracle_inputs inputs;
  struct sl_oracle_instruction *instructions;
  uint32_t instruction_count, instruction_cap;
  struct sl_oracle_dep *deps;
  uint32_t dep_count, dep_cap;
  struct sl_oracle_sequence sequences[SL_ORACLE_MAX_STREAMS]; /* by issue stream */
  uint32_t *needs;
  uint32_t need_count, need_cap;
  uint32_t *counts; /* by instruction: instances so far */
  uint32_t instance_count, instance_limit;
};

enum sl_reference_status {
  SL_REFERENCE_OK,
  SL_REFERENCE_LONG,        /* more instances than the limit */
  SL_REFERENCE_UNSUPPORTED, /* a negative distance, too many streams */
  SL_REFERENCE_BAD          /* undefined register or arithmetic: the kernel has no meaning */
};

/* The reference of a verified kernel for one choice of inputs, which must live as long. Free it in every case. */
enum sl_reference_status sl_oracle_reference_init(struct sl_oracle_reference *reference, const sl_program *program,
                                                  const struct sl_kernel *kernel, struct sl_oracle_hardware hardware,
                                                  const struct sl_oracle_inputs *inputs, uint32_t instance_limit);
void sl_oracle_reference_free(struct sl_oracle_reference *reference);

const char *sl_oracle_label(const struct sl_oracle_reference *reference, uint32_t instruction);
/* The instruction that an op of another version of the kernel is: by its label and stream; copies are `label.N`
 * there. UINT32_MAX when there is none. */
uint32_t sl_oracle_match(const struct sl_oracle_reference *reference, const char *label, const char *stream);

#endif
