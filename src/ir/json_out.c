/* json_out.c: a program as JSON (docs/kernel.schema.json), in the order of the text.
 *
 * Carries everything that the text carries: comments, empty lines and locations of other tools too. Expressions and
 * conditions are strings in the language's own syntax; everything around them is structured. What is absent is left
 * out; null stands only for an empty line in a list of comments. Deep nesting costs no C stack: the statements are
 * walked in text order along the links of the tree. O(size of the program).
 */
#include <assert.h>

#include "base/json.h"
#include "ir/ir.h"

struct printer {
  const sl_program *program;
  const struct sl_kernel *kernel;
  sl_json_writer json;
  sl_buf scratch; /* for expressions */
};

/* ---- small parts ---- */

static void put_name(struct printer *out, const char *key, sl_name name)
{
  const sl_names *names = &out->program->names;
  sl_json_put_string(&out->json, key, sl_names_text(names, name), sl_names_length(names, name));
}

static void put_optional_name(struct printer *out, const char *key, sl_name name)
{
  if (name)
    put_name(out, key, name);
}

static void put_flag(struct printer *out, const char *key, bool value)
{
  if (value)
    sl_json_put_bool(&out->json, key, true);
}

static void put_expr(struct printer *out, const char *key, sl_index expr)
{
  out->scratch.len = 0;
  sl_print_expr(&out->scratch, out->program, out->kernel, expr);
  sl_json_put_string(&out->json, key, out->scratch.data, out->scratch.len);
}

static void put_optional_expr(struct printer *out, const char *key, sl_index expr)
{
  if (expr)
    put_expr(out, key, expr);
}

static void put_cond(struct printer *out, const char *key, struct sl_cond cond)
{
  out->scratch.len = 0;
  sl_print_cond(&out->scratch, out->program, out->kernel, cond);
  sl_json_put_string(&out->json, key, out->scratch.data, out->scratch.len);
}

/* One line of a list of comments: null is an empty line. */
static void put_comment(struct printer *out, sl_name text)
{
  if (text)
    put_name(out, NULL, text);
  else
    sl_json_put_null(&out->json, NULL);
}

static void put_file_comments(struct printer *out, const char *key, const sl_name *comments, uint32_t count)
{
  if (!count)
    return;
  sl_json_open(&out->json, key, '[', false);
  for (uint32_t i = 0; i < count; i++)
    put_comment(out, comments[i]);
  sl_json_close(&out->json, ']');
}

static void put_comments(struct printer *out, const char *key, sl_index trivia)
{
  sl_index comment = out->kernel->trivias.data[trivia].first_comment;
  if (!trivia || !comment)
    return;
  sl_json_open(&out->json, key, '[', false);
  for (; comment; comment = out->kernel->comments.data[comment].next)
    put_comment(out, out->kernel->comments.data[comment].text);
  sl_json_close(&out->json, ']');
}

static void put_trailing(struct printer *out, const char *key, sl_index trivia)
{
  put_optional_name(out, key, out->kernel->trivias.data[trivia].trailing);
}

/* What stands before an item of the text: an empty line, comments. */
static void put_lead(struct printer *out, uint8_t flags, sl_index trivia)
{
  put_flag(out, "blank", flags & SL_BLANK_BEFORE);
  /* What it means hangs on the trailing comment. */
  put_flag(out, "same_line", (flags & SL_SAME_LINE) && out->kernel->trivias.data[trivia].trailing);
  put_comments(out, "comments", trivia);
}

static void put_end_trivia(struct printer *out, const char *comments, const char *trailing, sl_index trivia)
{
  put_comments(out, comments, trivia);
  put_trailing(out, trailing, trivia);
}

static void put_origin(struct printer *out, sl_index origin)
{
  if (!origin)
    return;
  const struct sl_origin_loc *at = &out->kernel->origins.data[origin];
  sl_json_open(&out->json, "from", '{', true);
  put_name(out, "file", at->file);
  sl_json_put_int(&out->json, "line", at->line);
  if (at->column)
    sl_json_put_int(&out->json, "column", at->column);
  sl_json_close(&out->json, '}');
}

static void put_attributes(struct printer *out, uint32_t first, uint32_t count)
{
  if (!count)
    return;
  sl_json_open(&out->json, "attributes", '[', false);
  for (uint32_t i = first; i < first + count; i++) {
    const struct sl_attr *attr = &out->kernel->attrs.data[i];
    sl_json_open(&out->json, NULL, '{', true);
    put_name(out, "name", attr->name);
    switch ((enum sl_attr_kind)attr->kind) {
    case SL_ATTR_EXPR: put_expr(out, "expr", attr->expr); break;
    case SL_ATTR_COND: put_cond(out, "cond", attr->cond); break;
    case SL_ATTR_FLOAT: put_name(out, "float", attr->text); break;
    case SL_ATTR_STRING: put_name(out, "string", attr->text); break;
    }
    sl_json_close(&out->json, '}');
  }
  sl_json_close(&out->json, ']');
}

/* ---- declarations ---- */

static void put_buffer(struct printer *out, const struct sl_buffer *buffer)
{
  put_name(out, "name", buffer->name);
  put_name(out, "space", buffer->space);
  put_name(out, "type", buffer->type);
  sl_json_open(&out->json, "dims", '[', true);
  for (uint32_t i = buffer->first_dim; i < buffer->first_dim + buffer->dim_count; i++) {
    sl_json_open(&out->json, NULL, '{', true);
    put_expr(out, "size", out->kernel->dims.data[i].size);
    put_flag(out, "partition", out->kernel->dims.data[i].partition);
    sl_json_close(&out->json, '}');
  }
  sl_json_close(&out->json, ']');
  if (buffer->has_partition_start)
    sl_json_put_int(&out->json, "partition_start", buffer->partition_start);
  if (buffer->has_address)
    put_expr(out, "address", buffer->address);
  put_attributes(out, buffer->first_attr, buffer->attr_count);
}

static void put_sem(struct printer *out, const struct sl_sem *sem)
{
  put_name(out, "name", sem->name);
  if (sem->initial)
    sl_json_put_int(&out->json, "initial", sem->initial);
  if (sem->has_id)
    sl_json_put_int(&out->json, "at", sem->id);
}

static void put_event(struct printer *out, const struct sl_event *event)
{
  put_name(out, "name", event->name);
  if (event->is_array)
    sl_json_put_int(&out->json, "count", event->count);
  put_name(out, "setter", event->from);
  put_name(out, "waiter", event->to);
  if (event->has_id)
    sl_json_put_int(&out->json, "at", event->id);
}

static void put_decl(struct printer *out, const struct sl_decl *decl)
{
  static const char *const kinds[] = { "queue", "buffer", "alias", "sem", "event" };
  const struct sl_kernel *kernel = out->kernel;
  sl_json_open(&out->json, NULL, '{', decl->kind != SL_DECL_BUFFER && !decl->trivia);
  put_lead(out, decl->flags, decl->trivia);
  sl_json_put_text(&out->json, "kind", kinds[decl->kind]);
  switch ((enum sl_decl_kind)decl->kind) {
  case SL_DECL_QUEUE:
    put_name(out, "name", kernel->streams.data[decl->item].name);
    put_optional_name(out, "via", kernel->streams.data[decl->item].trigger_name);
    break;
  case SL_DECL_BUFFER: put_buffer(out, &kernel->buffers.data[decl->item]); break;
  case SL_DECL_ALIAS:
    put_name(out, "a", kernel->aliases.data[decl->item].a);
    put_name(out, "b", kernel->aliases.data[decl->item].b);
    break;
  case SL_DECL_SEM: put_sem(out, &kernel->sems.data[decl->item]); break;
  case SL_DECL_EVENT: put_event(out, &kernel->events.data[decl->item]); break;
  }
  put_trailing(out, "trailing", decl->trivia);
  sl_json_close(&out->json, '}');
}

static void put_params(struct printer *out)
{
  if (!out->kernel->params.len)
    return;
  sl_json_open(&out->json, "params", '[', false);
  for (uint32_t i = 0; i < out->kernel->params.len; i++) {
    const struct sl_param *param = &out->kernel->params.data[i];
    sl_json_open(&out->json, NULL, '{', true);
    put_name(out, "name", param->name);
    put_flag(out, "static", param->is_static);
    put_optional_expr(out, "value", param->value);
    sl_json_close(&out->json, '}');
  }
  sl_json_close(&out->json, ']');
}

/* ---- operations ---- */

static void put_index(struct printer *out, const struct sl_access_index *index)
{
  if (index->kind == SL_INDEX_ALL || index->kind == SL_INDEX_ANY) {
    sl_json_put_text(&out->json, NULL, index->kind == SL_INDEX_ALL ? "all" : "any");
    return;
  }
  sl_json_open(&out->json, NULL, '{', true);
  put_expr(out, index->kind == SL_INDEX_AT ? "at" : "lo", index->first);
  if (index->kind != SL_INDEX_AT)
    put_expr(out, index->kind == SL_INDEX_RANGE ? "hi" : "length", index->second);
  sl_json_close(&out->json, '}');
}

static void put_operand(struct printer *out, const struct sl_operand *operand)
{
  if (operand->kind == SL_OPERAND_INT) {
    sl_json_put_int(&out->json, NULL, operand->value);
    return;
  }
  sl_json_open(&out->json, NULL, '{', true);
  put_name(out, operand->kind == SL_OPERAND_REG ? "register" : "name", (sl_name)operand->value);
  put_flag(out, "read_write", operand->read_write);
  if (operand->indexed) {
    sl_json_open(&out->json, "index", '[', true);
    for (uint32_t i = 0; i < operand->index_count; i++)
      put_index(out, &out->kernel->indices.data[operand->first_index + i]);
    sl_json_close(&out->json, ']');
  }
  sl_json_close(&out->json, '}');
}

static void put_operands(struct printer *out, const char *key, uint32_t first, uint32_t count)
{
  sl_json_open(&out->json, key, '[', count <= 1);
  for (uint32_t i = first; i < first + count; i++)
    put_operand(out, &out->kernel->operands.data[i]);
  sl_json_close(&out->json, ']');
}

/* "pe", "act|dve" or "*", as in the text. */
static void put_stream(struct printer *out, const struct sl_op *op)
{
  sl_buf *buf = &out->scratch;
  buf->len = 0;
  if (op->all_engines)
    sl_buf_putc(buf, '*');
  for (uint32_t k = 0; k < op->stream_count; k++) {
    if (k)
      sl_buf_putc(buf, '|');
    sl_buf_puts(buf, sl_text(out->program, out->kernel->streams.data[sl_op_stream(out->kernel, op, k)].name));
  }
  sl_json_put_string(&out->json, "stream", buf->data, buf->len);
}

static void put_gate(struct printer *out, const struct sl_gate *gate)
{
  sl_json_open(&out->json, NULL, '{', true);
  if (gate->kind == SL_GATE_EVENT) {
    put_name(out, "event", gate->name);
    put_optional_expr(out, "index", gate->event_index);
  } else {
    const char *key = gate->equal ? "equals" : "at_least";
    put_name(out, "semaphore", gate->name);
    if (gate->threshold == SL_THRESHOLD_INT) {
      sl_json_put_int(&out->json, key, gate->value);
    } else {
      sl_json_open(&out->json, key, '{', true);
      put_name(out, gate->threshold == SL_THRESHOLD_REG ? "register" : "name", (sl_name)gate->value);
      sl_json_close(&out->json, '}');
    }
  }
  sl_json_close(&out->json, '}');
}

static void put_clauses(struct printer *out, const struct sl_op *op)
{
  const struct sl_kernel *kernel = out->kernel;
  if (op->wait_count) {
    sl_json_open(&out->json, "waits", '[', op->wait_count == 1);
    for (uint32_t i = 0; i < op->wait_count; i++)
      put_gate(out, &kernel->waits.data[op->first_wait + i]);
    sl_json_close(&out->json, ']');
  }
  if (op->inc_count) {
    sl_json_open(&out->json, "updates", '[', op->inc_count == 1);
    for (uint32_t i = 0; i < op->inc_count; i++) {
      const struct sl_inc *inc = &kernel->incs.data[op->first_inc + i];
      sl_json_open(&out->json, NULL, '{', true);
      put_name(out, "semaphore", inc->sem);
      if (inc->by != 1)
        sl_json_put_int(&out->json, "by", inc->by);
      sl_json_close(&out->json, '}');
    }
    sl_json_close(&out->json, ']');
  }
  if (op->set_count) {
    sl_json_open(&out->json, "sets", '[', op->set_count == 1);
    for (uint32_t i = 0; i < op->set_count; i++) {
      const struct sl_event_set *set = &kernel->sets.data[op->first_set + i];
      sl_json_open(&out->json, NULL, '{', true);
      put_name(out, "event", set->event);
      put_optional_expr(out, "index", set->index);
      sl_json_close(&out->json, '}');
    }
    sl_json_close(&out->json, ']');
  }
}

static void put_op(struct printer *out, const struct sl_op *op)
{
  sl_json_put_text(&out->json, "kind", "op");
  put_optional_name(out, "label", op->label);
  put_stream(out, op);
  put_name(out, "opcode", op->opcode);
  if (op->has_arrow) {
    put_operands(out, "destinations", op->first_operand, op->dst_count);
    put_operands(out, "sources", op->first_operand + op->dst_count, op->src_count);
  } else if (op->dst_count) {
    put_operands(out, "operands", op->first_operand, op->dst_count);
  }
  put_attributes(out, op->first_attr, op->attr_count);
  put_clauses(out, op);
}

/* ---- statements ---- */

static void put_loop_head(struct printer *out, const struct sl_loop *loop)
{
  sl_json_put_text(&out->json, "kind", "loop");
  put_name(out, "var", loop->var);
  if (loop->has_range && loop->short_range) {
    put_expr(out, "bound", loop->hi);
  } else if (loop->has_range) {
    put_expr(out, "lo", loop->lo);
    put_expr(out, "hi", loop->hi);
    if (loop->step) {
      assert(out->kernel->exprs.data[loop->step].kind == SL_EXPR_INT && "the language has no other steps");
      sl_json_put_int(&out->json, "step", out->kernel->exprs.data[loop->step].u.value);
    }
  }
  if (loop->while_cond.count)
    put_cond(out, "while", loop->while_cond);
  put_flag(out, "divergent", loop->divergent);
  if (loop->unroll)
    sl_json_put_int(&out->json, "unroll", loop->unroll);
}

/* A statement up to, for a loop or a branch, the opening of its first block; *block is that block then. */
static void open_stmt(struct printer *out, const struct sl_stmt *stmt, sl_index *block)
{
  const struct sl_kernel *kernel = out->kernel;
  *block = SL_NONE;
  sl_json_open(&out->json, NULL, '{', false);
  put_lead(out, stmt->flags, stmt->trivia);
  switch ((enum sl_stmt_kind)stmt->kind) {
  case SL_STMT_OP: put_op(out, &kernel->ops.data[stmt->item]); break;
  case SL_STMT_LOOP:
    put_loop_head(out, &kernel->loops.data[stmt->item]);
    *block = kernel->loops.data[stmt->item].body;
    break;
  case SL_STMT_IF:
    sl_json_put_text(&out->json, "kind", "if");
    put_cond(out, "cond", kernel->branches.data[stmt->item].cond);
    *block = kernel->branches.data[stmt->item].then_block;
    break;
  case SL_STMT_BARRIER: sl_json_put_text(&out->json, "kind", "barrier"); break;
  case SL_STMT_BARRIER_RESET: sl_json_put_text(&out->json, "kind", "barrier reset"); break;
  case SL_STMT_EPILOGUE: sl_json_put_text(&out->json, "kind", "epilogue"); break;
  }
  put_origin(out, stmt->origin);
  put_trailing(out, "trailing", stmt->trivia);
  if (*block)
    sl_json_open(&out->json, stmt->kind == SL_STMT_LOOP ? "body" : "then", '[', false);
  else
    sl_json_close(&out->json, '}');
}

/* Ends a block and, unless a further block of its owner follows, the owner. Returns that further block or SL_NONE. */
static sl_index close_block(struct printer *out, sl_index block)
{
  const struct sl_kernel *kernel = out->kernel;
  const struct sl_stmt *owner = &kernel->stmts.data[kernel->blocks.data[block].owner];
  sl_index end_trivia = kernel->blocks.data[block].end_trivia;
  sl_json_close(&out->json, ']');
  if (owner->kind == SL_STMT_LOOP) {
    put_end_trivia(out, "end_comments", "end_trailing", end_trivia);
  } else {
    const struct sl_branch *branch = &kernel->branches.data[owner->item];
    if (block == branch->then_block) {
      put_end_trivia(out, "then_end_comments", "then_end_trailing", end_trivia);
      if (branch->else_block) {
        sl_json_open(&out->json, "else", '[', false);
        return branch->else_block;
      }
    } else {
      put_end_trivia(out, "else_end_comments", "else_end_trailing", end_trivia);
    }
  }
  sl_json_close(&out->json, '}');
  return SL_NONE;
}

static void put_body(struct printer *out)
{
  const struct sl_kernel *kernel = out->kernel;
  sl_index block = kernel->root, stmt = kernel->blocks.data[block].first;
  sl_json_open(&out->json, "body", '[', false);
  for (;;) {
    if (stmt) {
      sl_index inner;
      open_stmt(out, &kernel->stmts.data[stmt], &inner);
      if (inner)
        block = inner;
      stmt = inner ? kernel->blocks.data[inner].first : kernel->stmts.data[stmt].next;
      continue;
    }
    if (block == kernel->root)
      break;
    sl_index owner = kernel->blocks.data[block].owner, further = close_block(out, block);
    block = further ? further : kernel->stmts.data[owner].block;
    stmt = further ? kernel->blocks.data[further].first : kernel->stmts.data[owner].next;
  }
  sl_json_close(&out->json, ']');
}

/* ---- kernels ---- */

static void put_dep(struct printer *out, const struct sl_dep *dep)
{
  sl_json_open(&out->json, NULL, '{', !dep->trivia);
  put_lead(out, dep->flags, dep->trivia);
  sl_json_put_text(&out->json, "kind", dep->removed ? "nodep" : "dep");
  put_name(out, "producer", dep->producer);
  put_name(out, "consumer", dep->consumer);
  if (dep->distance_count) {
    sl_json_open(&out->json, "distance", '[', true);
    for (uint32_t i = 0; i < dep->distance_count; i++) {
      const struct sl_distance *distance = &out->kernel->distances.data[dep->first_distance + i];
      sl_json_open(&out->json, NULL, '{', true);
      put_name(out, "loop", distance->loop);
      sl_json_put_int(&out->json, "k", distance->k);
      put_flag(out, "across", distance->across);
      sl_json_close(&out->json, '}');
    }
    sl_json_close(&out->json, ']');
  }
  if (dep->removed)
    put_name(out, "reason", dep->reason);
  put_trailing(out, "trailing", dep->trivia);
  sl_json_close(&out->json, '}');
}

static void put_kernel(struct printer *out, const struct sl_kernel *kernel)
{
  out->kernel = kernel;
  sl_json_open(&out->json, NULL, '{', false);
  put_comments(out, "comments", kernel->trivia);
  put_name(out, "name", kernel->name);
  put_params(out);
  put_name(out, "target", kernel->target);
  put_flag(out, "explicit", kernel->is_explicit);
  put_origin(out, kernel->origin);
  put_trailing(out, "trailing", kernel->trivia);
  if (kernel->decls.len) {
    sl_json_open(&out->json, "decls", '[', false);
    for (uint32_t i = 0; i < kernel->decls.len; i++)
      put_decl(out, &kernel->decls.data[i]);
    sl_json_close(&out->json, ']');
  }
  put_body(out);
  if (kernel->deps.len) {
    sl_json_open(&out->json, "deps", '[', false);
    for (uint32_t i = 0; i < kernel->deps.len; i++)
      put_dep(out, &kernel->deps.data[i]);
    sl_json_close(&out->json, ']');
  }
  put_end_trivia(out, "end_comments", "end_trailing", kernel->end_trivia);
  sl_json_close(&out->json, '}');
}

void sl_print_json(sl_buf *buf, const sl_program *program)
{
  struct printer out = { .program = program };
  sl_json_writer_init(&out.json, buf);
  sl_buf_init(&out.scratch, buf->heap);
  sl_json_open(&out.json, NULL, '{', false);
  sl_json_put_text(&out.json, "schema", "sluice-kernel-1");
  if (program->has_version)
    sl_json_put_int(&out.json, "sluice", program->version);
  put_file_comments(&out, "header_comments", program->header_comments.data, program->header_comments.len);
  sl_json_open(&out.json, "kernels", '[', false);
  for (uint32_t i = 0; i < program->kernels.len; i++)
    put_kernel(&out, program->kernels.data[i]);
  sl_json_close(&out.json, ']');
  put_file_comments(&out, "footer_comments", program->footer_comments.data, program->footer_comments.len);
  sl_json_close(&out.json, '}');
  sl_buf_putc(buf, '\n');
  assert(out.json.depth == 0);
  sl_heap_free(buf->heap, out.scratch.data);
}
