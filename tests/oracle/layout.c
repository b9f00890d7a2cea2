/* layout.c: see layout.h. */
#include "oracle/layout.h"

#include <assert.h>
#include <stdlib.h>

#include "ir/types.h"

static uint32_t space_of(struct sl_layout *layout, sl_name name)
{
  for (uint32_t s = 0; s < layout->space_count; s++) {
    if (layout->spaces[s].name == name)
      return s;
  }
  assert(layout->space_count < SL_LAYOUT_SPACES);
  layout->spaces[layout->space_count].name = name;
  return layout->space_count++;
}

/* Row-major within a partition: the last dimension is the fastest. Returns the bytes of a partition. */
static int64_t measure(struct sl_layout_buffer *placed, struct sl_oracle_walk *walk, const struct sl_buffer *buffer)
{
  const struct sl_kernel *kernel = walk->view->kernel;
  int64_t bytes = placed->element_bytes;
  assert(buffer->dim_count <= SL_LAYOUT_DIMS);
  placed->dim_count = buffer->dim_count;
  placed->partition_dim = SL_LAYOUT_ONE_PARTITION;
  for (uint32_t d = buffer->dim_count; d-- > 0;) {
    const struct sl_dim *dim = &kernel->dims.data[buffer->first_dim + d];
    placed->sizes[d] = sl_oracle_eval(walk, 0, dim->size);
    if (dim->partition) {
      placed->partition_dim = (int)d;
    } else {
      placed->strides[d] = bytes;
      bytes *= placed->sizes[d];
    }
  }
  return bytes;
}

static int64_t larger(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static int64_t partitions_of(const struct sl_layout_buffer *placed)
{
  return placed->partition_dim < 0 ? 1 : placed->sizes[placed->partition_dim];
}

/* Those with an address first, so that the others can lie behind them. */
static void place(struct sl_layout *layout, struct sl_oracle_walk *walk, bool with_address)
{
  const struct sl_kernel *kernel = walk->view->kernel;
  for (sl_index b = 1; b < kernel->buffers.len; b++) {
    const struct sl_buffer *buffer = &kernel->buffers.data[b];
    struct sl_layout_buffer *placed = &layout->buffers[b];
    if (buffer->has_address != with_address)
      continue;
    placed->space = space_of(layout, buffer->space);
    placed->element_bytes = sl_element_type_find(sl_text(walk->view->program, buffer->type))->bytes;
    struct sl_layout_space *space = &layout->spaces[placed->space];
    int64_t bytes = measure(placed, walk, buffer);
    placed->address = with_address ? sl_oracle_eval(walk, 0, buffer->address) : space->bytes;
    placed->partition = buffer->has_partition_start ? buffer->partition_start : 0;
    space->bytes = larger(space->bytes, placed->address + bytes);
    space->partitions = larger(space->partitions, placed->partition + partitions_of(placed));
  }
}

void sl_layout_init(struct sl_layout *layout, const struct sl_oracle_view *view, const struct sl_oracle_inputs *inputs)
{
  const struct sl_kernel *kernel = view->kernel;
  struct sl_oracle_walk walk;
  *layout = (struct sl_layout){ .buffers = sl_oracle_calloc(kernel->buffers.len, sizeof *layout->buffers),
                                .buffer_of = sl_oracle_calloc(view->name_count, sizeof *layout->buffer_of) };
  sl_oracle_walk_init(&walk, view, UINT64_MAX, inputs, NULL);
  for (uint32_t p = 0; p < kernel->params.len; p++)
    walk.values[kernel->params.data[p].name] = inputs->params[p];
  for (sl_index b = 1; b < kernel->buffers.len; b++)
    layout->buffer_of[kernel->buffers.data[b].name] = b;
  place(layout, &walk, true);
  place(layout, &walk, false);
  for (uint32_t s = 0; s < layout->space_count; s++) {
    layout->spaces[s].first_cell = layout->cells;
    layout->cells += (uint64_t)(layout->spaces[s].partitions * layout->spaces[s].bytes);
  }
  sl_oracle_walk_free(&walk);
}

void sl_layout_free(struct sl_layout *layout)
{
  free(layout->buffers);
  free(layout->buffer_of);
}

uint32_t sl_layout_buffer_of(const struct sl_layout *layout, const struct sl_operand *operand)
{
  return operand->kind == SL_OPERAND_NAME ? layout->buffer_of[operand->value] : 0;
}

bool sl_operand_reads(const struct sl_op *op, const struct sl_operand *operand, uint32_t number)
{
  return number >= op->dst_count || operand->read_write;
}

bool sl_operand_writes(const struct sl_op *op, uint32_t number)
{
  return number < op->dst_count;
}

bool sl_holds_register(const struct sl_kernel *kernel, sl_index index)
{
  const struct sl_expr *expr = &kernel->exprs.data[index];
  switch (expr->kind) {
  case SL_EXPR_INT:
  case SL_EXPR_NAME: return false;
  case SL_EXPR_REG: return true;
  case SL_EXPR_NEG: return sl_holds_register(kernel, expr->u.sub.lhs);
  default: return sl_holds_register(kernel, expr->u.sub.lhs) || sl_holds_register(kernel, expr->u.sub.rhs);
  }
}

struct sl_access_index sl_index_of_dim(const struct sl_kernel *kernel, const struct sl_operand *operand, uint32_t dim)
{
  if (dim < operand->index_count)
    return kernel->indices.data[operand->first_index + dim];
  return (struct sl_access_index){ .kind = SL_INDEX_ALL };
}

bool sl_index_is_known(const struct sl_kernel *kernel, const struct sl_access_index *index)
{
  switch ((enum sl_access_kind)index->kind) {
  case SL_INDEX_ALL: return true;
  case SL_INDEX_ANY: return false;
  case SL_INDEX_AT: return !sl_holds_register(kernel, index->first);
  default: return !sl_holds_register(kernel, index->first) && !sl_holds_register(kernel, index->second);
  }
}

bool sl_operand_is_known(const struct sl_kernel *kernel, const struct sl_operand *operand)
{
  for (uint32_t i = 0; i < operand->index_count; i++) {
    if (!sl_index_is_known(kernel, &kernel->indices.data[operand->first_index + i]))
      return false;
  }
  return true;
}
