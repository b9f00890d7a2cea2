/* trace.h: one run of a kernel in sequential order: which instruction executes when, in which iterations, and which
 * bytes it touches. Made by execution; knows nothing of dependences.
 *
 * Times count arrivals at loops, ends of iterations and instances, so all of them differ. An index that is not known
 * before the run (`?`, a register) stands for its whole dimension, and an access through it only may happen.
 *
 * Glossary
 *   instance   one execution of an instruction; instances are numbered in sequential order
 *   cell       one byte of one partition of one space
 */
#ifndef SL_TESTS_ORACLE_TRACE_H
#define SL_TESTS_ORACLE_TRACE_H

#include "oracle/layout.h"

enum { SL_TRACE_LOOPS = 3 };
enum { SL_NO_INSTANCE = 0xffffffffu };

struct sl_trace_access {
  uint32_t instance, operand, buffer; /* operand: its number in the operation, from 0 */
  bool reads, writes, may;            /* may: not surely all of the cells */
  uint32_t first_cell, cell_count;    /* into cells */
};

struct sl_trace_instance {
  sl_index stmt;
  uint32_t stream, issue; /* where it retires, where it issues */
  uint64_t time;
  int64_t values[SL_TRACE_LOOPS]; /* of the variables of the loops around it, from the outside */
  uint32_t first_access, access_count;
  uint32_t place; /* how many of the statement's come before */
};

/* The iterations of one block in the run; those of a visit are neighbours. Blocks that are no loop's have one a visit.
 * */
struct sl_trace_block {
  struct sl_trace_iteration {
    uint64_t end;
    uint32_t visit;
  } * iterations;
  uint32_t iteration_count, iteration_cap;
  struct sl_trace_visit {
    uint64_t arrival; /* of an arm: some time after its last visit */
    uint32_t first_iteration;
  } * visits;
  uint32_t visit_count, visit_cap;
};

struct sl_trace {
  struct sl_oracle_view view;
  struct sl_layout layout;
  struct sl_trace_instance *instances;
  uint32_t count, cap;
  struct sl_trace_access *accesses;
  uint32_t access_count, access_cap;
  uint32_t *cells;
  uint32_t cell_count, cell_cap;
  struct sl_trace_block *blocks; /* by block */
  struct sl_trace_list {         /* by statement: its instances */
    uint32_t *instances, count, cap;
  } * of_stmt;
  uint64_t clock;
};

enum sl_trace_status { SL_TRACE_OK, SL_TRACE_LONG, SL_TRACE_BAD };

/* The run of a kernel whose copies are expanded, for inputs that must live as long. Free it in every case. LONG: more
 * instances than allowed. BAD: an undefined register, wrong arithmetic, an index out of its dimension. */
enum sl_trace_status sl_trace_init(struct sl_trace *trace, const sl_program *program, const struct sl_kernel *kernel,
                                   const struct sl_oracle_inputs *inputs, uint32_t limit);
void sl_trace_free(struct sl_trace *trace);

/* The depth of a block: loops around what stands in it. */
uint32_t sl_loop_depth(const struct sl_kernel *kernel, sl_index block);
/* The loop that is the `depth`-th around what stands in a block, counted from the outside. */
sl_index sl_loop_at(const struct sl_kernel *kernel, sl_index block, uint32_t depth);

/* Writes "x3 (i = 2, j = 0)". */
void sl_trace_describe(const struct sl_trace *trace, uint32_t instance, char *text, size_t size);

#endif
