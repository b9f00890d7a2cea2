/* transform.c: see transform.h. */
#include "property/transform.h"

#include <stdlib.h>

#include "ir/copy.h"
#include "ir/ir.h"
#include "oracle/walk.h"

enum { FAR = 1 << 13 /* bytes: no generated buffer has as many per partition */ };

const char *const sl_transform_names[SL_TRANSFORMS] = { "renamed", "moved", "split", "unrolled" };

struct transforming {
  sl_program *program;
  struct sl_kernel *kernel;
  enum sl_transform transform;
  uint64_t random;
  bool changed;
};

/* ---- names ---- */

static void rename_to(struct transforming *t, sl_name *new_names, sl_name name)
{
  if (name && !new_names[name])
    new_names[name] = sl_internf(t->program, "z%u", (unsigned)(t->random % 100 + 1000 - name));
}

static void replace(const sl_name *new_names, sl_name *name)
{
  if (new_names[*name])
    *name = new_names[*name];
}

/* What is declared and labelled, then every place that refers to it. */
static void rename_all(struct transforming *t)
{
  struct sl_kernel *kernel = t->kernel;
  sl_name *new_names = sl_oracle_calloc(t->program->names.len + 1u, sizeof *new_names);
  for (uint32_t p = 0; p < kernel->params.len; p++)
    rename_to(t, new_names, kernel->params.data[p].name);
  for (sl_index b = 1; b < kernel->buffers.len; b++)
    rename_to(t, new_names, kernel->buffers.data[b].name);
  for (sl_index l = 1; l < kernel->loops.len; l++)
    rename_to(t, new_names, kernel->loops.data[l].var);
  for (sl_index o = 1; o < kernel->ops.len; o++)
    rename_to(t, new_names, kernel->ops.data[o].label);
  for (uint32_t p = 0; p < kernel->params.len; p++)
    replace(new_names, &kernel->params.data[p].name);
  for (sl_index b = 1; b < kernel->buffers.len; b++)
    replace(new_names, &kernel->buffers.data[b].name);
  for (sl_index a = 1; a < kernel->aliases.len; a++) {
    replace(new_names, &kernel->aliases.data[a].a);
    replace(new_names, &kernel->aliases.data[a].b);
  }
  for (sl_index l = 1; l < kernel->loops.len; l++)
    replace(new_names, &kernel->loops.data[l].var);
  for (sl_index o = 1; o < kernel->ops.len; o++)
    replace(new_names, &kernel->ops.data[o].label);
  for (sl_index e = 1; e < kernel->exprs.len; e++) {
    struct sl_expr *expr = &kernel->exprs.data[e];
    if (expr->kind == SL_EXPR_NAME && new_names[expr->u.value])
      expr->u.value = new_names[expr->u.value];
  }
  for (uint32_t o = 0; o < kernel->operands.len; o++) {
    struct sl_operand *operand = &kernel->operands.data[o];
    if (operand->kind == SL_OPERAND_NAME && new_names[operand->value])
      operand->value = new_names[operand->value];
  }
  t->changed = true;
  free(new_names);
}

/* ---- places ---- */

/* Those with an address all by the same distance, so that their overlaps stay; the others get places of their own, far
 * away, and in the other order. */
static void move_buffers(struct transforming *t)
{
  struct sl_kernel *kernel = t->kernel;
  int64_t bytes = 8 * (int64_t)(t->random % 100), partitions = (int64_t)(t->random / 100 % 5);
  for (sl_index b = 1; b < kernel->buffers.len; b++) {
    struct sl_buffer *buffer = &kernel->buffers.data[b];
    bool has_partitions = false;
    for (uint32_t d = 0; d < buffer->dim_count; d++)
      has_partitions = has_partitions || kernel->dims.data[buffer->first_dim + d].partition;
    sl_index away =
        sl_expr_int(kernel, buffer->has_address ? bytes : FAR * (int64_t)(kernel->buffers.len - b), SL_NO_LOC);
    buffer->address =
        buffer->has_address ? sl_expr_binary(kernel, SL_EXPR_ADD, buffer->address, away, SL_NO_LOC) : away;
    buffer->has_address = true;
    buffer->partition_start += has_partitions ? partitions : 0;
    buffer->has_partition_start = has_partitions;
    t->changed = true;
  }
}

/* ---- accesses ---- */

static bool int_value(const struct sl_kernel *kernel, sl_index index, int64_t *value)
{
  const struct sl_expr *expr = &kernel->exprs.data[index];
  *value = expr->u.value;
  return expr->kind == SL_EXPR_INT;
}

static const struct sl_buffer *buffer_of(const struct sl_kernel *kernel, const struct sl_operand *operand)
{
  for (sl_index b = 1; b < kernel->buffers.len; b++) {
    if (operand->kind == SL_OPERAND_NAME && kernel->buffers.data[b].name == (sl_name)operand->value)
      return &kernel->buffers.data[b];
  }
  return NULL;
}

/* The number of elements of an index, when constants give it. */
static bool length_of(const struct sl_kernel *kernel, const struct sl_operand *operand, uint32_t dim, int64_t *length)
{
  const struct sl_access_index *index = &kernel->indices.data[operand->first_index + dim];
  int64_t first;
  switch ((enum sl_access_kind)index->kind) {
  case SL_INDEX_ALL:
    return int_value(kernel, kernel->dims.data[buffer_of(kernel, operand)->first_dim + dim].size, length);
  case SL_INDEX_LENGTH: return int_value(kernel, index->second, length);
  case SL_INDEX_RANGE:
    if (!int_value(kernel, index->first, &first) || !int_value(kernel, index->second, length))
      return false;
    *length -= first;
    return true;
  default: return false;
  }
}

/* A dimension that an access can be split in; false when there is none. */
static bool find_dim(const struct sl_kernel *kernel, const struct sl_operand *operand, uint32_t *dim, int64_t *length)
{
  for (*dim = 0; buffer_of(kernel, operand) && *dim < operand->index_count; (*dim)++) {
    if (length_of(kernel, operand, *dim, length) && *length >= 2)
      return true;
  }
  return false;
}

/* A copy of an operand that takes `length` elements of a dimension, `from` the first on. */
static struct sl_operand part_of(struct sl_kernel *kernel, const struct sl_operand *whole, uint32_t dim, int64_t from,
                                 int64_t length)
{
  struct sl_operand part = *whole;
  part.first_index = sl_vec_extend(kernel->heap, &kernel->indices, whole->index_count);
  for (uint32_t i = 0; i < whole->index_count; i++)
    kernel->indices.data[part.first_index + i] = kernel->indices.data[whole->first_index + i];
  struct sl_access_index index = kernel->indices.data[whole->first_index + dim];
  sl_index start = sl_expr_int(kernel, from, SL_NO_LOC);
  if (index.kind != SL_INDEX_ALL)
    start = sl_expr_binary(kernel, SL_EXPR_ADD, index.first, start, SL_NO_LOC);
  kernel->indices.data[part.first_index + dim] =
      (struct sl_access_index){ SL_INDEX_LENGTH, start, sl_expr_int(kernel, length, SL_NO_LOC) };
  return part;
}

static void split_operand(struct sl_kernel *kernel, struct sl_op *op, uint32_t number, uint32_t dim, int64_t length)
{
  uint32_t count = (uint32_t)op->dst_count + op->src_count,
           first = sl_vec_extend(kernel->heap, &kernel->operands, count + 1);
  for (uint32_t i = 0, to = first; i < count; i++) {
    struct sl_operand operand = kernel->operands.data[op->first_operand + i];
    bool is_split = i == number;
    kernel->operands.data[to++] = is_split ? part_of(kernel, &operand, dim, 0, length / 2) : operand;
    if (is_split)
      kernel->operands.data[to++] = part_of(kernel, &operand, dim, length / 2, length - length / 2);
  }
  op->first_operand = first;
  *(number < op->dst_count ? &op->dst_count : &op->src_count) += 1;
}

/* The `chosen`-th access that can be split, or the last one. */
static void split_access(struct transforming *t)
{
  struct sl_kernel *kernel = t->kernel;
  uint64_t chosen = t->random % 8;
  sl_index found = 0;
  uint32_t number = 0, dim = 0;
  int64_t length = 0;
  for (sl_index o = 1; o < kernel->ops.len; o++) {
    const struct sl_op *op = &kernel->ops.data[o];
    for (uint32_t n = 0; op->code == SL_OP_TARGET && n < (uint32_t)op->dst_count + op->src_count; n++) {
      uint32_t in_dim;
      int64_t of_length;
      if (!find_dim(kernel, &kernel->operands.data[op->first_operand + n], &in_dim, &of_length) ||
          (found && chosen-- == 0))
        continue;
      found = o, number = n, dim = in_dim, length = of_length;
    }
  }
  if (found)
    split_operand(kernel, &kernel->ops.data[found], number, dim, length);
  t->changed = found != 0;
}

/* ---- loops ---- */

struct unrolling {
  struct transforming *t;
  sl_name var;
  int64_t copy; /* 0 or 1 */
};

static sl_index substitute(void *user, sl_name name)
{
  const struct unrolling *u = user;
  struct sl_kernel *kernel = u->t->kernel;
  if (name != u->var)
    return SL_NONE;
  sl_index twice = sl_expr_binary(kernel, SL_EXPR_MUL, sl_expr_int(kernel, 2, SL_NO_LOC),
                                  sl_expr_name(kernel, SL_EXPR_NAME, name, SL_NO_LOC), SL_NO_LOC);
  return u->copy ? sl_expr_binary(kernel, SL_EXPR_ADD, twice, sl_expr_int(kernel, u->copy, SL_NO_LOC), SL_NO_LOC)
                 : twice;
}

static sl_name relabel(void *user, sl_name label)
{
  const struct unrolling *u = user;
  return sl_internf(u->t->program, "%s_%d", sl_text(u->t->program, label), (int)u->copy);
}

static bool decides_something(const struct sl_kernel *kernel, sl_index block)
{
  for (sl_index s = sl_walk_first(kernel, block); s; s = sl_walk_next(kernel, block, s)) {
    if (sl_stmt_get(kernel, s)->kind == SL_STMT_IF && sl_copy_is_opaque(kernel, sl_stmt_branch(kernel, s)->cond))
      return true;
  }
  return false;
}

/* Two copies would ask for the values of `?name` in another order, so loops with such conditions stay. */
static bool can_unroll(const struct sl_kernel *kernel, sl_index stmt)
{
  int64_t trips;
  if (sl_stmt_get(kernel, stmt)->kind != SL_STMT_LOOP)
    return false;
  const struct sl_loop *loop = sl_stmt_loop(kernel, stmt);
  return loop->short_range && int_value(kernel, loop->hi, &trips) && trips >= 2 && trips % 2 == 0 &&
         !decides_something(kernel, loop->body);
}

static void unroll(struct transforming *t, sl_index stmt)
{
  struct sl_kernel *kernel = t->kernel;
  sl_index body = sl_stmt_loop(kernel, stmt)->body, twice = sl_block_new(kernel, stmt);
  struct unrolling unrolling = { t, sl_stmt_loop(kernel, stmt)->var, 0 };
  const struct sl_copier copier = { t->program, kernel, substitute, relabel, &unrolling, false };
  int64_t trips;
  for (; unrolling.copy < 2; unrolling.copy++)
    sl_copy_block(&copier, body, twice);
  struct sl_loop *loop = sl_stmt_loop(kernel, stmt);
  (void)int_value(kernel, loop->hi, &trips);
  loop->hi = sl_expr_int(kernel, trips / 2, SL_NO_LOC);
  sl_stmt_loop(kernel, stmt)->body = twice;
}

static void unroll_a_loop(struct transforming *t)
{
  struct sl_kernel *kernel = t->kernel;
  uint64_t chosen = t->random % 3;
  sl_index found = SL_NONE;
  for (sl_index s = sl_walk_first(kernel, kernel->root); s; s = sl_walk_next(kernel, kernel->root, s)) {
    if (can_unroll(kernel, s) && (!found || chosen-- > 0))
      found = s;
  }
  if (found)
    unroll(t, found);
  t->changed = found != SL_NONE;
}

static int run_transform(void *arg)
{
  static void (*const transforms[SL_TRANSFORMS])(struct transforming * t) = { rename_all, move_buffers, split_access,
                                                                              unroll_a_loop };
  struct transforming *t = arg;
  transforms[t->transform](t);
  return SLUICE_OK;
}

bool sl_transform(sl_program *program, enum sl_transform transform, uint64_t random)
{
  struct transforming t = { program, program->kernels.data[0], transform, random, false };
  return sl_guard_run(&program->guard, run_transform, &t) == SLUICE_OK && t.changed;
}
