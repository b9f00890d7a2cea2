/* sluice/deps.h: the dependences of a kernel: which there are, why, and which of them others imply.
 *
 * Of an `explicit` kernel these are its `dep` lines; of any other what its accesses ask for and what lines add. docs/deps.md says
 * what is found and how exactly. Nothing is known here of how waits are made.
 */
#ifndef SLUICE_DEPS_H
#define SLUICE_DEPS_H

#include <sluice/program.h>
#include <sluice/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Why a dependence is there. */
enum sluice_dep_kind {
  SLUICE_DEP_STATED = 0, /**< a `dep` line says so */
  SLUICE_DEP_FLOW,       /**< read after write */
  SLUICE_DEP_ANTI,       /**< write after read */
  SLUICE_DEP_OUTPUT,     /**< write after write */
  SLUICE_DEP_ORDERED,    /**< no data in memory: the consumer uses a register that the producer loads */
  SLUICE_DEP_INDEX       /**< read after write of the tensor that says where a gather or scatter goes */
};
/** "stated", "flow", ... Static storage. */
SLUICE_API const char *sluice_dep_kind_name(enum sluice_dep_kind kind);

/** What becomes of a dependence. */
enum sluice_dep_status {
  SLUICE_DEP_KEPT = 0, /**< waits have to enforce it */
  SLUICE_DEP_SPILLED,  /**< others imply it; kept because a buffer marked `spilled` takes part */
  SLUICE_DEP_HARDWARE, /**< the hardware orders its ends */
  SLUICE_DEP_SAME,     /**< another one of the same ends says as much */
  SLUICE_DEP_IMPLIED   /**< others and the order of the streams say as much */
};
enum { SLUICE_DEP_STATUSES = SLUICE_DEP_IMPLIED + 1 };
/** "kept", "spilled", "hardware", "same", "implied". Static storage. */
SLUICE_API const char *sluice_dep_status_name(enum sluice_dep_status status);

/** A part of the kernel: the whole of it, a loop's body, an arm of a branch. */
typedef struct sluice_deps_block {
  const char *name;      /**< the loop's variable; "then", "else"; "" of the whole */
  const char *text;      /**< "loop i < n"; "then", "else"; the kernel's name */
  size_t parent;         /**< index of the block around it; its own index for the whole, which is block 0 */
  bool is_loop;
  uint32_t line, column; /**< 0 = unknown */
} sluice_deps_block;

/** An instruction, each copy of `a|b.op` by itself. */
typedef struct sluice_deps_instruction {
  const char *name;   /**< its label; without one "e0_1", its engine and number, when dependences are found for it, else
                           "e0.nop" */
  const char *stream; /**< that it retires on */
  const char *opcode;
  size_t block;       /**< where it stands */
  uint32_t line, column;
} sluice_deps_instruction;

/** One of the two accesses of a dependence. */
typedef struct sluice_dep_end {
  size_t instruction;
  const char *access; /**< as written: "xt[i % 2]", "%n"; "" when the dependence is stated */
  const char *buffer; /**< "" when it is no access of a buffer */
} sluice_dep_end;

/** What both accesses of a dependence touch. Where that moves with the loops, bytes count from `bytes_around`; else it is over all
 * iterations, for each of the two. */
typedef struct sluice_dep_overlap {
  const char *memory_class; /**< of the memory, as the target calls it; "Alias" of two buffers under `alias`; "" when none */
  const char *text;         /**< all of it: "SB partitions 0:128, bytes 0:2048 + 2048*(i % 2)"; "" when there is none */
  bool is_anywhere;         /**< where one of them goes cannot be told before the run */
  bool is_placed;           /**< bytes count from the start of the space, not of the buffer */
  int64_t partition_min, partition_max; /**< [min, max); INT64_MAX = not known; 0, 1 in a space without partitions */
  int64_t byte_min, byte_max; /**< [min, max) within each partition; INT64_MAX = not known */
  const char *bytes_around; /**< "2048*(i % 2)", variables being the numbers of the consumer's iterations, from 0; or "" */
} sluice_dep_overlap;

/** A dependence: the consumer, in iteration i of a block, needs the producer retired through iteration i - distance of it, and
 * everything before that. Texts are owned by the result. */
typedef struct sluice_dep {
  enum sluice_dep_kind kind;
  enum sluice_dep_status status;
  sluice_dep_end producer, consumer;
  const char *text;       /**< as a line would say it: "ld -> ex (i: 2)" */
  const char *distances;  /**< of that: "i: 2"; "across i: 1"; "" for the same iteration of all loops around both */
  size_t block;           /**< that carries it: for distance 0 the innermost one around both ends */
  uint32_t distance;
  bool across;            /**< iterations are counted through all visits of the loop */
  bool is_vector;         /**< has a second distance, in a loop inside that one */
  size_t inner_block;     /**< of a vector */
  int32_t inner_distance; /**< of a vector; may be negative */
  sluice_dep_overlap overlap;
  const size_t *path;     /**< SAME, IMPLIED, SPILLED: the dependences that imply it, in order; indices. Of a long way the end */
  size_t path_length;     /**< 0: only the order of the streams does */
  uint32_t line, column;  /**< of the line that states it; else of its consumer */
} sluice_dep;

typedef struct sluice_deps_options {
  bool reduce; /**< find out which ones others imply; else each one that the hardware does not order is kept */
} sluice_deps_options;
#define SLUICE_DEPS_OPTIONS_INIT { true }

typedef struct sluice_deps_result sluice_deps_result;

/** Finds the dependences of one kernel of a verified program, kernel < sluice_program_kernel_count; those that `nodep` lines
 * take away are reported and left out. SLUICE_E_INPUT (reported): lines that make no sense together with what is found.
 * Near-linear for straight-line code. */
SLUICE_API int sluice_deps(sluice_deps_result **result, const sluice_program *program, size_t kernel,
                           const sluice_targets *targets, const sluice_deps_options *options, const sluice_sink *sink);
/** Frees a result. NULL is allowed. */
SLUICE_API void sluice_deps_result_free(sluice_deps_result *result);

/** Dependences, by the place of their consumer in the text; borrowed. */
SLUICE_API const sluice_dep *sluice_deps_edges(const sluice_deps_result *result, size_t *count);
/** Instructions in the order of the text, register operations left out; borrowed. */
SLUICE_API const sluice_deps_instruction *sluice_deps_instructions(const sluice_deps_result *result, size_t *count);
/** Blocks in the order of the text, each after the one around it; borrowed. */
SLUICE_API const sluice_deps_block *sluice_deps_blocks(const sluice_deps_result *result, size_t *count);
/** The memory classes of the kernel's target, and "Alias"; borrowed. */
SLUICE_API const char *const *sluice_deps_memory_classes(const sluice_deps_result *result, size_t *count);

/** Says why there is or is not a dependence of `consumer` on `producer`, two labels of one kernel of a verified program (a label
 * means all its copies): which of their accesses meet and how far apart, which do not and why, what ends one in between,
 * what implies the dependence, what takes it away. *text is freed with sluice_string_free.
 * SLUICE_E_INPUT (reported): no instruction has the label. */
SLUICE_API int sluice_deps_explain(char **text, const sluice_program *program, size_t kernel, const char *producer,
                                   const char *consumer, const sluice_targets *targets, const sluice_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
