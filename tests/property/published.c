/* published.c: see published.h. */
#include "property/published.h"

/* The chain of blocks from a statement's own to the root. */
struct chain {
  sl_index blocks[256];
  uint32_t length;
};

static struct chain chain_of(const struct sl_kernel *kernel, sl_index stmt)
{
  struct chain chain = { .length = 0 };
  for (sl_index block = kernel->stmts.data[stmt].block; block && chain.length < 256;
       block = sl_block_parent(kernel, block))
    chain.blocks[chain.length++] = block;
  return chain;
}

static sl_index innermost_common(const struct chain *a, const struct chain *b)
{
  for (uint32_t i = 0; i < a->length; i++)
    for (uint32_t j = 0; j < b->length; j++)
      if (a->blocks[i] == b->blocks[j])
        return a->blocks[i];
  return SL_NONE;
}

static sl_index statement_of(const struct sl_kernel *kernel, sl_name label, uint32_t *position)
{
  uint32_t at = 0;
  for (sl_index stmt = sl_walk_first(kernel, kernel->root); stmt; stmt = sl_walk_next(kernel, kernel->root, stmt)) {
    at++;
    if (kernel->stmts.data[stmt].kind == SL_STMT_OP && sl_stmt_op(kernel, stmt)->label == label) {
      *position = at;
      return stmt;
    }
  }
  return SL_NONE;
}

/* The loop variable of a block, 0 when it is no loop's body. */
static sl_name variable_of(const struct sl_kernel *kernel, sl_index block)
{
  sl_index owner = kernel->blocks.data[block].owner;
  return owner && kernel->stmts.data[owner].kind == SL_STMT_LOOP ? sl_stmt_loop(kernel, owner)->var : 0;
}

static bool is_published(const struct sl_kernel *kernel, const struct sl_dep *dep)
{
  uint32_t p_position = 0, c_position = 0;
  sl_index producer = statement_of(kernel, dep->producer, &p_position);
  sl_index consumer = statement_of(kernel, dep->consumer, &c_position);
  if (!producer || !consumer || dep->distance_count > 1)
    return false;
  struct chain p = chain_of(kernel, producer), c = chain_of(kernel, consumer);
  sl_index common = innermost_common(&p, &c), parent = p.blocks[0];
  int32_t k = 0;
  if (dep->distance_count == 1) {
    k = kernel->distances.data[dep->first_distance].k;
    if (k != 0 && variable_of(kernel, common) != kernel->distances.data[dep->first_distance].loop)
      return false; /* carried by a loop further out */
  }
  if (parent == common)
    return true; /* the producer is directly in the carrying loop: any distance */
  bool forward = p_position < c_position;
  if (forward)
    return k == 0 || (k == 1 && sl_block_parent(kernel, parent) == common);
  return k == 1;
}

bool sl_all_published(const struct sl_kernel *kernel)
{
  for (uint32_t i = 0; i < kernel->deps.len; i++)
    if (!is_published(kernel, &kernel->deps.data[i]))
      return false;
  return true;
}
