/* layout.h: where the buffers of a kernel lie: bytes within partitions of spaces, from the declarations alone. Buffers
 * without an address get places that overlap nothing. Test support: allocation failure aborts.
 */
#ifndef SL_TESTS_ORACLE_LAYOUT_H
#define SL_TESTS_ORACLE_LAYOUT_H

#include "oracle/walk.h"

enum { SL_LAYOUT_DIMS = 8, SL_LAYOUT_SPACES = 8, SL_LAYOUT_ONE_PARTITION = -1 };

struct sl_layout_buffer {
  uint32_t space;
  int64_t element_bytes;
  int64_t sizes[SL_LAYOUT_DIMS], strides[SL_LAYOUT_DIMS]; /* strides in bytes; 0 for the partition dimension */
  uint32_t dim_count;
  int partition_dim;          /* or SL_LAYOUT_ONE_PARTITION */
  int64_t partition, address; /* of the first element */
};

struct sl_layout_space {
  sl_name name;
  int64_t partitions, bytes; /* that buffers use; bytes per partition */
  uint64_t first_cell;       /* its first byte, when those of all spaces and partitions are counted through */
};

struct sl_layout {
  struct sl_layout_buffer *buffers; /* by buffer of the kernel, from 1 */
  uint32_t *buffer_of;              /* by name; 0 = no buffer */
  struct sl_layout_space spaces[SL_LAYOUT_SPACES];
  uint32_t space_count;
  uint64_t cells; /* bytes of all partitions of all spaces */
};

/* Sizes and addresses must be constants or, with the inputs given, parameters. */
void sl_layout_init(struct sl_layout *layout, const struct sl_oracle_view *view, const struct sl_oracle_inputs *inputs);
void sl_layout_free(struct sl_layout *layout);

/* The buffer that an operand names, 0 when it names none. */
uint32_t sl_layout_buffer_of(const struct sl_layout *layout, const struct sl_operand *operand);
/* Whether an operation reads, writes through its operand of that number. */
bool sl_operand_reads(const struct sl_op *op, const struct sl_operand *operand, uint32_t number);
bool sl_operand_writes(const struct sl_op *op, uint32_t number);
/* Whether an expression holds a register. */
bool sl_holds_register(const struct sl_kernel *kernel, sl_index expr);
/* The index of an access in a dimension; the whole dimension when it has none. */
struct sl_access_index sl_index_of_dim(const struct sl_kernel *kernel, const struct sl_operand *operand, uint32_t dim);
/* Whether what an index stands for is known when the kernel is compiled, given the loop variables. */
bool sl_index_is_known(const struct sl_kernel *kernel, const struct sl_access_index *index);
bool sl_operand_is_known(const struct sl_kernel *kernel, const struct sl_operand *operand);

#endif
