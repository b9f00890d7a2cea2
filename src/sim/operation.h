/* operation.h: what each instruction of a kernel costs on its target, in ticks, found before the run where it can be.
 *
 * The tree gives the operands' shapes, the target's formulas do the rest. Shapes and attributes that depend on loop variables
 * or registers are measured at a few made-up values of these: when the costs agree they are taken for constant (a length
 * like `W*n + W - W*n`), else the cost is measured again at each execution.
 */
#ifndef SL_SIM_OPERATION_H
#define SL_SIM_OPERATION_H

#include "ir/eval.h"
#include "ir/presence.h"
#include "sim/rings.h"
#include "target/cost.h"

/* Costs of one execution. Of a transfer `interval` is the time its data moves when it is alone, `latency` is cut in parts. */
struct sl_cost_ticks {
  uint64_t interval, latency;
  uint64_t forward; /* from the end of the interval until the same engine can use the result */
  uint64_t trigger, generation, generation_busy, start, done;
  uint64_t share;   /* of the bandwidth, in SL_WHOLE_SHARE */
  uint64_t service_class;
};

struct sl_operation {
  const struct sl_opcode_desc *opcode; /* NULL: of the language */
  bool is_constant;
  struct sl_cost_ticks cost;
  uint32_t carriers;    /* wait-only slots it needs */
  uint32_t address_operations; /* register operations for its addresses */
  uint32_t first_result, result_count; /* into results: instructions before it whose results it reads */
  uint32_t first_exclusion, exclusion_count; /* into exclusions */
};

struct sl_operations {
  sl_heap *heap;
  const sl_program *program;
  const struct sl_kernel *kernel;
  const struct sl_target *target;
  const struct sl_presence *presence;
  const int64_t *params;
  struct sl_operation *list;  /* by statement */
  uint32_t *head_addresses;   /* by loop * engines + engine: register operations at the start of an iteration */
  sl_vec(sl_index) results;   /* statements */
  sl_vec(uint32_t) exclusions; /* indices into target->exclusions */
  /* tables for measuring */
  uint32_t *buffer_of;        /* by name: index */
  uint32_t *param_of;         /* by name: index + 1 */
  int64_t *dims;              /* sizes of all dimensions */
  uint64_t *bank_of;          /* by buffer: address in its space, made up for those that have none */
  int generation_define, busy_define, forward_define, share_define; /* `dge`, ..., or -1 */
  uint64_t trigger, done;     /* dma_trigger, dma_done */
};

/* Measures all instructions; the kernel's copies are expanded. O(statements * operands). */
void sl_operations_init(struct sl_operations *operations, sl_heap *heap, const sl_program *program,
                        const struct sl_kernel *kernel, const struct sl_target *target, const struct sl_presence *presence,
                        const int64_t *params);

/* The cost of one execution, with the names' values given by `lookup`. False: something has no value. */
bool sl_operation_measure(struct sl_cost_ticks *cost, const struct sl_operations *operations, sl_index stmt,
                          sl_eval_lookup lookup, void *user);

/* The buffer of the kernel that an operand names, 0: none. */
uint32_t sl_operation_buffer(const struct sl_operations *operations, const struct sl_operand *operand);

/* The banks of a space that an execution touches, as a set of bank numbers modulo 64. */
uint64_t sl_operation_banks(const struct sl_operations *operations, sl_index stmt, uint32_t space, sl_eval_lookup lookup,
                            void *user);

/* A parameter of the target in ns, or a time in ns or cycles, as ticks. */
uint64_t sl_ticks_of_ns(const struct sl_target *target, double ns);
uint64_t sl_ticks_of_param(const struct sl_target *target, const char *name, double otherwise_ns);

#endif
