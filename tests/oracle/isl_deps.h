/* isl_deps.h: the flow, anti and output dependences of a kernel as libisl computes them, from the program tree and not
 * by executing it: domains, schedule and accesses become integer relations. Knows nothing of src/deps, and nothing of
 * trace.h but the names of instances that it is compared with.
 *
 * What stands under an opaque condition may execute, what an index does not know may be touched: such accesses are
 * sources that do not hide earlier ones. Loops and indices must be affine up to division and remainder by constants;
 * parameters have the values of the inputs.
 */
#ifndef SL_TESTS_ORACLE_ISL_DEPS_H
#define SL_TESTS_ORACLE_ISL_DEPS_H

#include "oracle/relation.h"
#include "oracle/trace.h"

struct sl_isl_pair {
  struct sl_isl_end {
    sl_index stmt;
    int64_t values[SL_TRACE_LOOPS];
  } earlier, later;
};

struct sl_isl_deps {
  struct sl_isl_pair *pairs;
  uint32_t count, cap;
};

enum sl_isl_method {
  SL_ISL_ALL, /* every earlier instance that touches the same memory */
  SL_ISL_LAST /* isl's dataflow, the last sure writer and what comes since: the same when closed, but slower */
};
enum sl_isl_status {
  SL_ISL_OK,
  SL_ISL_TOO_HARD /* more operations than allowed */,
  SL_ISL_CRASHED, /* isl's dataflow ended its process: 0.25 does for rare kernels */
  SL_ISL_ABSENT /* built without libisl */
};

/* Requires copies expanded and at most SL_TRACE_LOOPS loops around an instruction. Free `deps` in every case. */
enum sl_isl_status sl_isl_find(struct sl_isl_deps *deps, const sl_program *program, const struct sl_kernel *kernel,
                               const struct sl_oracle_inputs *inputs, enum sl_isl_method method);
void sl_isl_free(struct sl_isl_deps *deps);

/* Adds the dependences between instances that are executed in a run. */
void sl_isl_relate(struct sl_relation *hazards, const struct sl_isl_deps *deps, const struct sl_trace *trace);

#endif
