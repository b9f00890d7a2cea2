/* walk.h: walking a kernel's tree: control flow, registers, expressions, opaque conditions.
 *
 * The sequential reference walks the whole tree with one walk; the concurrent interpreter gives every issue stream a
 * walk of its own. Both decide loops and branches by the same rules, here. Test support: allocation failure aborts.
 *
 * Glossary
 *   view         what is computed once per kernel: who walks which statement, where opaque conditions stand
 *   issue stream the stream whose sequencer executes a statement: an engine, for a queue its trigger
 *   place        one textual occurrence of `?name` in a branch or `while` condition. Each place has its own sequence
 *   of
 *                values, the same for every engine; places are matched between two kernels by name and occurrence.
 */
#ifndef SL_TESTS_ORACLE_WALK_H
#define SL_TESTS_ORACLE_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/program.h"

enum { SL_ORACLE_MAX_STREAMS = 64 }; /* stream sets are 64-bit masks */

/* calloc that aborts instead of failing. */
void *sl_oracle_calloc(size_t count, size_t size);
/* Grows an array of *cap elements to hold one more than len. */
void *sl_oracle_grow(void *array, uint32_t len, uint32_t *cap, size_t size);

struct sl_oracle_view {
  const sl_program *program;
  const struct sl_kernel *kernel;
  uint64_t participants; /* issue streams that execute any statement */
  uint64_t *walkers;     /* by statement: issue streams that execute it, or something in it */
  uint64_t *places;      /* by comparison: identity of an opaque place */
  uint32_t name_count;
};

/* The kernel's streams must be resolved (sluice_program_verify). false: more streams than a mask holds. */
bool sl_oracle_view_init(struct sl_oracle_view *view, const sl_program *program, const struct sl_kernel *kernel);
void sl_oracle_view_free(struct sl_oracle_view *view);
/* The streams of an op: engines and queues, `*` expanded to every participant. */
uint64_t sl_oracle_op_streams(const struct sl_oracle_view *view, const struct sl_op *op);
uint32_t sl_oracle_issue_stream(const struct sl_kernel *kernel, uint32_t stream);

struct sl_oracle_register {
  uint32_t value;
  bool defined;
};

enum sl_walk_error { SL_WALK_OK, SL_WALK_UNDEFINED /* register */, SL_WALK_ARITHMETIC, SL_WALK_BUDGET };

/* What the run decides: values of parameters (by index in the kernel) and of opaque conditions. */
struct sl_oracle_inputs {
  const int64_t *params;
  uint32_t param_count;
  uint64_t opaque_seed;
};

struct sl_oracle_walk {
  const struct sl_oracle_view *view;
  const struct sl_oracle_inputs *inputs;
  uint64_t streams;                     /* issue streams whose statements this walk executes */
  sl_index stmt;                        /* the op, barrier or epilogue it stands at; SL_NONE: the end */
  uint64_t budget;                      /* statements it may still pass */
  int64_t *values;                      /* by name: parameters and loop variables */
  int64_t *bounds;                      /* by loop: upper bound and step, two each */
  uint32_t *asked;                      /* by comparison: how often an opaque place was evaluated */
  struct sl_oracle_register *registers; /* [stream * name_count + name]; shared by the walks of one machine */
  enum sl_walk_error error;
  sl_name culprit; /* UNDEFINED: the register */
  /* Told of arrivals at blocks (loops' bodies) and of ends of iterations; may be NULL. */
  void (*arrival)(void *user, sl_index block);
  void (*iteration_end)(void *user, sl_index block);
  void *user;
};

struct sl_oracle_register *sl_oracle_registers_new(const struct sl_oracle_view *view);
void sl_oracle_walk_init(struct sl_oracle_walk *walk, const struct sl_oracle_view *view, uint64_t streams,
                         const struct sl_oracle_inputs *inputs, struct sl_oracle_register *registers);
void sl_oracle_walk_free(struct sl_oracle_walk *walk);
/* Moves to the first statement of the kernel, opaque sequences from their start. */
void sl_oracle_walk_start(struct sl_oracle_walk *walk);
/* Moves to the next op, barrier or epilogue, deciding the loops and branches on the way. */
void sl_oracle_walk_advance(struct sl_oracle_walk *walk);

/* Outcome number n, from 0, of the opaque condition `name` at the place that is its `occurrence`-th in the text. */
bool sl_oracle_outcome(uint64_t opaque_seed, const char *name, uint32_t occurrence, uint32_t n);

/* Values on one stream's registers. A failure sets walk->error and gives 0. */
int64_t sl_oracle_eval(struct sl_oracle_walk *walk, uint32_t stream, sl_index expr);
uint32_t sl_oracle_register_value(struct sl_oracle_walk *walk, uint32_t stream, sl_name name);
uint32_t sl_oracle_operand_value(struct sl_oracle_walk *walk, uint32_t stream, const struct sl_operand *operand);
/* The values that the declarations give parameters (0 where they give none). `values` has one element per parameter.
 * */
void sl_oracle_defaults(const struct sl_oracle_view *view, int64_t *values);
/* Executes a register operation, or gives a reg_load's register its assumed value. */
void sl_oracle_register_op(struct sl_oracle_walk *walk, uint32_t stream, const struct sl_op *op);

#endif
