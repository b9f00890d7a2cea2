/* legality_parts.h: what the files of the legality check (legality*.c) share. */
#ifndef SL_TARGET_LEGALITY_PARTS_H
#define SL_TARGET_LEGALITY_PARTS_H

#include "ir/eval.h"
#include "target/legality.h"

/* A buffer as far as it is known before the run. */
struct sl_placed_buffer {
  int space; /* index into the target's spaces, -1 when there is none of that name */
  uint32_t element_bytes;
  int partition_dim;             /* index of the `p` dimension, -1 = none */
  bool is_whole;                 /* everything about its dimensions was legal: accesses can be judged */
  struct sl_constant partitions; /* 1 without a partition dimension */
  struct sl_constant bytes;      /* of one partition, or of the whole buffer where there are none */
  struct sl_constant address;    /* UNKNOWN when the buffer is not placed */
  sl_loc loc;
};

/* One dimension of an access: `length` elements from `first` on. */
struct sl_extent {
  struct sl_constant first, length;
  bool dropped; /* a single index: the dimension does not count for shapes */
};

/* What an operand touches. */
struct sl_access {
  sl_loc loc;
  sl_index buffer;       /* index into the kernel's buffers */
  uint32_t first_extent; /* into `extents`, one per dimension of the buffer */
  uint32_t extent_count;
  bool is_judged; /* false: an index was illegal, or the buffer's dimensions are; nothing more is said of it */
  bool anywhere;  /* has a `?`: its shape is not known */
};

struct sl_legality {
  sl_heap *heap; /* scratch */
  sl_program *program;
  struct sl_kernel *kernel;
  const struct sl_target *target;
  sl_report *report;
  uint32_t limit_errors;                   /* of the errors reported: exceeded limits */
  struct sl_param_values params;           /* static ones */
  sl_vec(struct sl_constant) dims;         /* value of every dimension of every buffer */
  sl_vec(struct sl_placed_buffer) buffers; /* as the kernel's buffers */
  sl_map buffer_of;                        /* name -> index into the kernel's buffers */
  sl_vec(struct sl_access) accesses;       /* of the operation being checked, in the order of its operands */
  sl_vec(struct sl_extent) extents;
  sl_index at; /* the statement being checked, 0 in declarations */
};

/* Starts an error at a place; sl_report_end ends it. sl_legality_error is the whole of it. */
__attribute__((format(printf, 4, 5))) void sl_legality_begin(struct sl_legality *l, enum sl_rule rule, sl_loc loc,
                                                             const char *format, ...);
__attribute__((format(printf, 4, 5))) void sl_legality_error(struct sl_legality *l, enum sl_rule rule, sl_loc loc,
                                                             const char *format, ...);

/* The k-th stream of an operation that executes it; SL_NO_STREAM for a queue under `*`. Requires k < sl_op_copies. */
static inline uint32_t sl_op_copies(const struct sl_legality *l, const struct sl_op *op)
{
  return op->all_engines ? l->kernel->streams.len : op->stream_count;
}
static inline uint32_t sl_op_copy_stream(const struct sl_legality *l, const struct sl_op *op, uint32_t k)
{
  if (op->all_engines)
    return l->kernel->streams.data[k].is_queue ? SL_NO_STREAM : k;
  return sl_op_stream(l->kernel, op, k);
}

/* legality_buffers.c: fills `buffers` and checks spaces, dimensions, sizes and addresses. */
void sl_legality_buffers(struct sl_legality *l);

/* legality_access.c: the accesses of one operation of the target: dimensions, memory, shapes, banks. */
void sl_legality_accesses(struct sl_legality *l, const struct sl_op *op, const struct sl_opcode_desc *opcode);
/* The same for reg_load, which sequencers execute and targets do not describe: dimensions alone. */
void sl_legality_load(struct sl_legality *l, const struct sl_op *op);

#endif
