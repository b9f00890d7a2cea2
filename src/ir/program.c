/* program.c: making, copying and editing the program tree; see program.h. Every edit is O(1). */
#include "ir/program.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/buf.h"

struct new_call {
  sl_program *program;
  const char *name, *text;
  size_t length;
};

static int new_guarded(void *arg)
{
  struct new_call *call = arg;
  sl_names_init(&call->program->names, &call->program->heap);
  sl_source_init(&call->program->source, &call->program->heap, call->name, call->text, call->length);
  return 0;
}

sl_program *sl_program_new(const char *name, const char *text, size_t length)
{
  sl_program *program = calloc(1, sizeof *program);
  if (!program)
    return NULL;
  sl_heap_init(&program->heap, &program->guard);
  struct new_call call = { program, name, text, length };
  if (sl_guard_run(&program->guard, new_guarded, &call) != 0) {
    sl_heap_free_all(&program->heap);
    free(program);
    return NULL;
  }
  return program;
}

sl_name sl_intern(sl_program *program, const char *text)
{
  return sl_names_add(&program->names, &program->heap, text, strlen(text));
}

sl_name sl_internf(sl_program *program, const char *format, ...)
{
  sl_buf buf;
  sl_buf_init(&buf, &program->heap);
  va_list args;
  va_start(args, format);
  sl_buf_vprintf(&buf, format, args);
  va_end(args);
  sl_name name = sl_names_add(&program->names, &program->heap, buf.data ? buf.data : "", buf.len);
  sl_heap_free(&program->heap, buf.data);
  return name;
}

/* Reserves entry 0 of the arrays whose index 0 means "none". */
static void reserve_none(struct sl_kernel *kernel)
{
  sl_heap *heap = kernel->heap;
  (void)sl_vec_push(heap, &kernel->buffers);
  (void)sl_vec_push(heap, &kernel->aliases);
  (void)sl_vec_push(heap, &kernel->sems);
  (void)sl_vec_push(heap, &kernel->events);
  (void)sl_vec_push(heap, &kernel->stmts);
  (void)sl_vec_push(heap, &kernel->blocks);
  (void)sl_vec_push(heap, &kernel->ops);
  (void)sl_vec_push(heap, &kernel->loops);
  (void)sl_vec_push(heap, &kernel->branches);
  (void)sl_vec_push(heap, &kernel->exprs);
  (void)sl_vec_push(heap, &kernel->comments);
  (void)sl_vec_push(heap, &kernel->trivias);
  (void)sl_vec_push(heap, &kernel->origins);
}

struct sl_kernel *sl_kernel_add(sl_program *program)
{
  struct sl_kernel *kernel = sl_heap_arena(&program->heap, sizeof *kernel);
  kernel->heap = &program->heap;
  reserve_none(kernel);
  kernel->root = sl_block_new(kernel, SL_NONE);
  sl_vec_add(&program->heap, &program->kernels, kernel);
  return kernel;
}

static void copy_kernel(struct sl_kernel *to, sl_heap *heap, const struct sl_kernel *from)
{
  *to = *from;
  to->heap = heap;
#define COPY(array)                                  \
  do {                                               \
    memset(&to->array, 0, sizeof to->array);         \
    sl_vec_copy(heap, &to->array, &from->array);     \
  } while (0)
  COPY(params);
  COPY(streams);
  COPY(decls);
  COPY(buffers);
  COPY(aliases);
  COPY(sems);
  COPY(events);
  COPY(dims);
  COPY(stmts);
  COPY(blocks);
  COPY(ops);
  COPY(loops);
  COPY(branches);
  COPY(operands);
  COPY(indices);
  COPY(attrs);
  COPY(waits);
  COPY(incs);
  COPY(sets);
  COPY(stream_lists);
  COPY(exprs);
  COPY(cmps);
  COPY(deps);
  COPY(distances);
  COPY(comments);
  COPY(trivias);
  COPY(origins);
#undef COPY
  memset(&to->stream_by_name, 0, sizeof to->stream_by_name);
  for (uint32_t i = 0; i < to->streams.len; i++)
    *sl_map_put(&to->stream_by_name, heap, to->streams.data[i].name, NULL) = i;
}

void sl_program_copy_into(sl_program *to, const sl_program *from)
{
  sl_names_copy(&to->names, &to->heap, &from->names);
  to->version = from->version;
  to->has_version = from->has_version;
  for (uint32_t i = 0; i < from->kernels.len; i++) {
    struct sl_kernel *kernel = sl_heap_arena(&to->heap, sizeof *kernel);
    copy_kernel(kernel, &to->heap, from->kernels.data[i]);
    sl_vec_add(&to->heap, &to->kernels, kernel);
  }
  sl_vec_copy(&to->heap, &to->header_comments, &from->header_comments);
  sl_vec_copy(&to->heap, &to->footer_comments, &from->footer_comments);
}

uint32_t sl_stream_get(const struct sl_kernel *kernel, sl_name name)
{
  const uint32_t *at = sl_map_get(&kernel->stream_by_name, name);
  return at ? *at : SL_NO_STREAM;
}

uint32_t sl_stream_put(struct sl_kernel *kernel, sl_name name, sl_loc loc)
{
  uint32_t known = sl_stream_get(kernel, name);
  if (known != SL_NO_STREAM)
    return known;
  uint32_t index = kernel->streams.len;
  struct sl_stream *stream = sl_vec_push(kernel->heap, &kernel->streams);
  stream->name = name;
  stream->trigger = index;
  stream->engine = SL_NO_STREAM;
  stream->loc = loc;
  *sl_map_put(&kernel->stream_by_name, kernel->heap, name, NULL) = index;
  return index;
}

/* ---- statements ---- */

sl_index sl_stmt_new(struct sl_kernel *kernel, enum sl_stmt_kind kind, sl_loc loc)
{
  sl_index index = kernel->stmts.len;
  struct sl_stmt *stmt = sl_vec_push(kernel->heap, &kernel->stmts);
  stmt->kind = (uint8_t)kind;
  stmt->loc = loc;
  return index;
}

sl_index sl_op_stmt_new(struct sl_kernel *kernel, sl_loc loc)
{
  sl_index op = kernel->ops.len;
  (void)sl_vec_push(kernel->heap, &kernel->ops);
  sl_index stmt = sl_stmt_new(kernel, SL_STMT_OP, loc);
  kernel->stmts.data[stmt].item = op;
  return stmt;
}

sl_index sl_stmt_waiting(const struct sl_kernel *kernel, sl_index stmt)
{
  if (kernel->stmts.data[stmt].kind != SL_STMT_OP || !sl_op_is_wait_only(sl_stmt_op(kernel, stmt)))
    return stmt;
  uint32_t engine = sl_issue_stream(kernel, sl_stmt_op(kernel, stmt)->stream);
  sl_index at = kernel->stmts.data[stmt].next;
  for (; at && kernel->stmts.data[at].kind == SL_STMT_OP; at = kernel->stmts.data[at].next) {
    const struct sl_op *op = sl_stmt_op(kernel, at);
    bool is_code = sl_opcode_table[op->code].op_class == SL_CLASS_REGISTER || sl_op_is_wait_only(op);
    if (!is_code && sl_issue_stream(kernel, op->stream) == engine)
      return at;
  }
  return stmt;
}

sl_index sl_block_new(struct sl_kernel *kernel, sl_index owner)
{
  sl_index index = kernel->blocks.len;
  struct sl_block *block = sl_vec_push(kernel->heap, &kernel->blocks);
  block->owner = owner;
  return index;
}

/* Links a statement between two neighbours of a block; SL_NONE stands for the block's ends. */
static void link_between(struct sl_kernel *kernel, sl_index block, sl_index prev, sl_index stmt, sl_index next)
{
  struct sl_stmt *stmts = kernel->stmts.data;
  assert(stmt != SL_NONE && stmts[stmt].block == SL_NONE && "statement is linked already");
  stmts[stmt].block = block;
  stmts[stmt].prev = prev;
  stmts[stmt].next = next;
  if (prev)
    stmts[prev].next = stmt;
  else
    kernel->blocks.data[block].first = stmt;
  if (next)
    stmts[next].prev = stmt;
  else
    kernel->blocks.data[block].last = stmt;
}

void sl_stmt_append(struct sl_kernel *kernel, sl_index block, sl_index stmt)
{
  link_between(kernel, block, kernel->blocks.data[block].last, stmt, SL_NONE);
}

void sl_stmt_insert_before(struct sl_kernel *kernel, sl_index at, sl_index stmt)
{
  const struct sl_stmt *next = &kernel->stmts.data[at];
  link_between(kernel, next->block, next->prev, stmt, at);
}

void sl_stmt_unlink(struct sl_kernel *kernel, sl_index index)
{
  struct sl_stmt *stmts = kernel->stmts.data;
  struct sl_stmt *stmt = &stmts[index];
  struct sl_block *block = &kernel->blocks.data[stmt->block];
  if (stmt->prev)
    stmts[stmt->prev].next = stmt->next;
  else
    block->first = stmt->next;
  if (stmt->next)
    stmts[stmt->next].prev = stmt->prev;
  else
    block->last = stmt->prev;
  stmt->block = stmt->next = stmt->prev = SL_NONE;
}

/* ---- walking ---- */

sl_index sl_walk_first(const struct sl_kernel *kernel, sl_index block)
{
  return kernel->blocks.data[block].first;
}

/* The first statement inside a loop or if, or SL_NONE when it is empty or a simple statement. */
static sl_index first_inside(const struct sl_kernel *kernel, sl_index index)
{
  const struct sl_stmt *stmt = &kernel->stmts.data[index];
  if (stmt->kind == SL_STMT_LOOP)
    return kernel->blocks.data[kernel->loops.data[stmt->item].body].first;
  if (stmt->kind != SL_STMT_IF)
    return SL_NONE;
  const struct sl_branch *branch = &kernel->branches.data[stmt->item];
  sl_index first = kernel->blocks.data[branch->then_block].first;
  if (!first && branch->else_block)
    first = kernel->blocks.data[branch->else_block].first;
  return first;
}

sl_index sl_walk_next(const struct sl_kernel *kernel, sl_index root_block, sl_index index)
{
  sl_index inside = first_inside(kernel, index);
  if (inside)
    return inside;
  for (;;) {
    const struct sl_stmt *stmt = &kernel->stmts.data[index];
    if (stmt->next)
      return stmt->next;
    if (stmt->block == root_block)
      return SL_NONE;
    sl_index owner = kernel->blocks.data[stmt->block].owner;
    if (!owner)
      return SL_NONE;
    if (kernel->stmts.data[owner].kind == SL_STMT_IF) {
      const struct sl_branch *branch = &kernel->branches.data[kernel->stmts.data[owner].item];
      if (branch->then_block == stmt->block && branch->else_block && kernel->blocks.data[branch->else_block].first)
        return kernel->blocks.data[branch->else_block].first;
    }
    index = owner;
  }
}

/* ---- expressions ---- */

sl_index sl_expr_new(struct sl_kernel *kernel, enum sl_expr_kind kind, sl_loc loc)
{
  sl_index index = kernel->exprs.len;
  struct sl_expr *expr = sl_vec_push(kernel->heap, &kernel->exprs);
  expr->kind = (uint8_t)kind;
  expr->loc = loc;
  return index;
}

sl_index sl_expr_int(struct sl_kernel *kernel, int64_t value, sl_loc loc)
{
  sl_index index = sl_expr_new(kernel, SL_EXPR_INT, loc);
  kernel->exprs.data[index].u.value = value;
  return index;
}

sl_index sl_expr_name(struct sl_kernel *kernel, enum sl_expr_kind kind, sl_name name, sl_loc loc)
{
  assert(kind == SL_EXPR_NAME || kind == SL_EXPR_REG);
  sl_index index = sl_expr_new(kernel, kind, loc);
  kernel->exprs.data[index].u.value = name;
  return index;
}

sl_index sl_expr_binary(struct sl_kernel *kernel, enum sl_expr_kind kind, sl_index lhs, sl_index rhs, sl_loc loc)
{
  sl_index index = sl_expr_new(kernel, kind, loc);
  kernel->exprs.data[index].u.sub.lhs = lhs;
  kernel->exprs.data[index].u.sub.rhs = rhs;
  return index;
}
