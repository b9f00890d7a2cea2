/* printer.c: canonical text of programs, what `sluice fmt` prints. docs/language.md, "Canonical form", says how it looks.
 *
 * Requires  a tree within the nesting limits of ir.h, whose names are names of the language.
 * Leaves    text that the parser reads back as an equal program and that prints the same again: the layout depends on nothing
 *           but what sl_program_equal compares.
 * Cost      O(length of the text); a line that gets too long is printed twice.
 *
 * Map: lines | comments | expressions, conditions | operands, clauses, operations | heads | declarations | dependences |
 * blocks | kernel, program
 */
#include "base/prefetch.h"
#include "ir/eval.h"
#include "ir/ir.h"

enum { LINE_WIDTH = 100, INDENT = 2, BREAK_INDENT = 4, BUFFER_NAME_MAX = 24 };

struct printer {
  sl_buf *buf;
  const sl_program *program;
  const struct sl_kernel *kernel;
  size_t indent;
  /* The current line. */
  size_t line_start;
  size_t break_at;     /* the blank where the line may break, 0 = none */
  bool break_is_inner; /* it stands inside the brackets of an operand: taken only when there is no other */
  size_t break_indent; /* of the line after such a break */
  bool breaking;       /* the line did not fit: break it */
  /* Empty lines. */
  bool blank_wanted;
  bool blank_allowed; /* something stands above in this block or file */
  size_t name_width;  /* of the buffers declared in a row */
};

/* ---- lines ---- */

static inline void put(struct printer *out, const char *text)
{
  sl_buf_puts(out->buf, text);
}

static inline void put_name(struct printer *out, sl_name name)
{
  sl_buf_add(out->buf, sl_text(out->program, name), sl_names_length(&out->program->names, name));
}

static void begin_line(struct printer *out)
{
  if (out->blank_wanted && out->blank_allowed)
    sl_buf_putc(out->buf, '\n');
  out->blank_wanted = false;
  out->blank_allowed = true;
  out->line_start = out->buf->len;
  out->break_at = 0;
  out->break_indent = out->indent + BREAK_INDENT;
  sl_buf_fill(out->buf, ' ', out->indent);
}

/* Breaks the line at the last place that allows it, if it has become too long. */
static void wrap(struct printer *out)
{
  sl_buf *buf = out->buf;
  if (!out->breaking || !out->break_at || buf->len - out->line_start <= LINE_WIDTH)
    return;
  size_t tail = buf->len - (out->break_at + 1);
  sl_buf_fill(buf, ' ', out->break_indent); /* the blank at break_at becomes the line end */
  char *rest = buf->data + out->break_at + 1;
  memmove(rest + out->break_indent, rest, tail);
  memset(rest, ' ', out->break_indent);
  buf->data[out->break_at] = '\n';
  out->line_start = out->break_at + 1;
  out->break_at = 0;
}

/* `, ` between the elements of a list that may be broken. */
static inline void comma(struct printer *out)
{
  sl_buf_putc(out->buf, ',');
  if (out->breaking) {
    wrap(out);
    out->break_at = out->buf->len;
    out->break_is_inner = false;
  }
  sl_buf_putc(out->buf, ' ');
}

/* The same between the indices of an operand. */
static inline void inner_comma(struct printer *out)
{
  sl_buf_putc(out->buf, ',');
  if (out->breaking) {
    wrap(out);
    if (!out->break_at || out->break_is_inner) {
      out->break_at = out->buf->len;
      out->break_is_inner = true;
    }
  }
  sl_buf_putc(out->buf, ' ');
}

/* Before a clause: two blanks, or a line of its own. */
static void begin_clause(struct printer *out, const char *word)
{
  if (out->breaking) {
    wrap(out);
    sl_buf_putc(out->buf, '\n');
    out->line_start = out->buf->len;
    out->break_at = 0;
    out->break_indent = out->indent + 2 * BREAK_INDENT;
    sl_buf_fill(out->buf, ' ', out->indent + BREAK_INDENT);
  } else {
    put(out, "  ");
  }
  put(out, word);
}

/* One line of the text by `print`; again with breaks when it does not fit. The line end is left to the caller. */
static void put_line(struct printer *out, void (*print)(struct printer *out, sl_index item), sl_index item)
{
  begin_line(out);
  size_t start = out->line_start;
  print(out, item);
  if (out->buf->len - start <= LINE_WIDTH)
    return;
  out->buf->len = start;
  out->breaking = true;
  begin_line(out);
  print(out, item);
  wrap(out);
  out->breaking = false;
}

/* ---- comments ---- */

/* `# text`; `#!` and rows of `#` as they were. */
static void put_comment(struct printer *out, sl_name text)
{
  char first = sl_text(out->program, text)[0];
  put(out, first == '\0' || first == '#' || first == '!' ? "#" : "# ");
  put_name(out, text);
}

static void put_comment_line(struct printer *out, sl_name text)
{
  if (!text) {
    out->blank_wanted = true;
    return;
  }
  begin_line(out);
  put_comment(out, text);
  sl_buf_putc(out->buf, '\n');
}

/* The empty line and the comments before an item. */
static void put_lead(struct printer *out, uint8_t flags, sl_index trivia)
{
  if (flags & SL_BLANK_BEFORE)
    out->blank_wanted = true;
  if (!trivia)
    return;
  const struct sl_kernel *kernel = out->kernel;
  for (sl_index i = kernel->trivias.data[trivia].first_comment; i; i = kernel->comments.data[i].next)
    put_comment_line(out, kernel->comments.data[i].text);
}

static void end_line(struct printer *out, sl_index trivia)
{
  if (trivia && out->kernel->trivias.data[trivia].trailing) {
    put(out, "  ");
    put_comment(out, out->kernel->trivias.data[trivia].trailing);
  }
  sl_buf_putc(out->buf, '\n');
}

static bool has_comments_before(const struct sl_kernel *kernel, sl_index trivia)
{
  return trivia && kernel->trivias.data[trivia].first_comment;
}

static bool has_trailing(const struct sl_kernel *kernel, sl_index trivia)
{
  return trivia && kernel->trivias.data[trivia].trailing;
}

/* Whether comments and empty lines let an item stand on the line of the one before it. What a trailing comment says may not
 * hold for other items, so it keeps the company that its author gave it. */
static bool may_share_line(const struct sl_kernel *kernel, sl_index before, uint8_t flags, sl_index trivia)
{
  return !(flags & SL_BLANK_BEFORE) && !has_trailing(kernel, before) && !has_comments_before(kernel, trivia) &&
         (!has_trailing(kernel, trivia) || (flags & SL_SAME_LINE));
}

/* ---- expressions ---- */

/* Where an expression stands: what may stand there without parentheses. */
enum level { LEVEL_SUM, LEVEL_TERM, LEVEL_FACTOR };

static enum level level_of(const struct sl_kernel *kernel, const struct sl_expr *expr)
{
  int64_t value;
  if (sl_expr_is_integer(kernel, expr, &value))
    return value < 0 ? LEVEL_SUM : LEVEL_FACTOR;
  switch (expr->kind) {
  case SL_EXPR_NAME: case SL_EXPR_REG: return LEVEL_FACTOR;
  case SL_EXPR_MUL: case SL_EXPR_DIV: case SL_EXPR_MOD: return LEVEL_TERM;
  default: return LEVEL_SUM;
  }
}

/* `*` stands without blanks unless a `/` or `%` stands in the same term before it. */
static bool is_spaced(const struct sl_kernel *kernel, const struct sl_expr *expr)
{
  while (expr->kind == SL_EXPR_MUL)
    expr = &kernel->exprs.data[expr->u.sub.lhs];
  return expr->kind == SL_EXPR_DIV || expr->kind == SL_EXPR_MOD;
}

static const char *operator_text(const struct sl_kernel *kernel, const struct sl_expr *expr)
{
  switch (expr->kind) {
  case SL_EXPR_ADD: return " + ";
  case SL_EXPR_SUB: return " - ";
  case SL_EXPR_MUL: return is_spaced(kernel, expr) ? " * " : "*";
  case SL_EXPR_DIV: return " / ";
  default: return " % ";
  }
}

static void put_expr(struct printer *out, sl_index index, enum level level);

/* An expression without the parentheses that its place may ask for. */
static void put_bare_expr(struct printer *out, const struct sl_expr *expr, enum level own)
{
  int64_t value;
  if (sl_expr_is_integer(out->kernel, expr, &value)) {
    sl_buf_int(out->buf, value);
    return;
  }
  switch (expr->kind) {
  case SL_EXPR_REG: sl_buf_putc(out->buf, '%'); /* fall through */
  case SL_EXPR_NAME: put_name(out, (sl_name)expr->u.value); break;
  case SL_EXPR_NEG:
    sl_buf_putc(out->buf, '-');
    put_expr(out, expr->u.sub.lhs, LEVEL_TERM);
    break;
  default:
    put_expr(out, expr->u.sub.lhs, own);
    put(out, operator_text(out->kernel, expr));
    put_expr(out, expr->u.sub.rhs, own == LEVEL_SUM ? LEVEL_TERM : LEVEL_FACTOR);
    break;
  }
}

static void put_expr(struct printer *out, sl_index index, enum level level)
{
  const struct sl_expr *expr = &out->kernel->exprs.data[index];
  enum level own = level_of(out->kernel, expr);
  if (own < level)
    sl_buf_putc(out->buf, '(');
  put_bare_expr(out, expr, own);
  if (own < level)
    sl_buf_putc(out->buf, ')');
}

static bool is_atom(const struct sl_kernel *kernel, sl_index index)
{
  return level_of(kernel, &kernel->exprs.data[index]) == LEVEL_FACTOR;
}

/* Two bounds: tight when both are a single name or number. */
static void put_bounds(struct printer *out, sl_index low, const char *between, sl_index high)
{
  bool tight = is_atom(out->kernel, low) && is_atom(out->kernel, high);
  put_expr(out, low, LEVEL_SUM);
  put(out, tight ? "" : " ");
  put(out, between);
  put(out, tight ? "" : " ");
  put_expr(out, high, LEVEL_SUM);
}

static void put_cond(struct printer *out, struct sl_cond cond)
{
  static const char *const compare[] = { " == ", " != ", " < ", " <= ", " > ", " >= " };
  for (uint32_t i = 0; i < cond.count; i++) {
    const struct sl_cmp *cmp = &out->kernel->cmps.data[cond.first + i];
    if (i)
      put(out, cond.any ? " or " : " and ");
    if (cmp->op == SL_CMP_OPAQUE) {
      sl_buf_putc(out->buf, '?');
      put_name(out, cmp->opaque);
      continue;
    }
    put_expr(out, cmp->lhs, LEVEL_SUM);
    put(out, compare[cmp->op]);
    put_expr(out, cmp->rhs, LEVEL_SUM);
  }
}

/* ---- attributes, operands, clauses ---- */

static void put_string(struct printer *out, sl_name text)
{
  const char *at = sl_text(out->program, text);
  const char *end = at + sl_names_length(&out->program->names, text);
  sl_buf_putc(out->buf, '"');
  for (; at < end; at++) {
    switch (*at) {
    case '"': put(out, "\\\""); break;
    case '\\': put(out, "\\\\"); break;
    case '\n': put(out, "\\n"); break;
    case '\t': put(out, "\\t"); break;
    case '\r': put(out, "\\r"); break;
    default:
      if ((unsigned char)*at < 32 || *at == 127)
        sl_buf_printf(out->buf, "\\x%02x", (unsigned)(unsigned char)*at);
      else
        sl_buf_putc(out->buf, *at);
      break;
    }
  }
  sl_buf_putc(out->buf, '"');
}

static void put_attrs(struct printer *out, uint32_t first, uint32_t count)
{
  if (!count)
    return;
  put(out, " { ");
  for (uint32_t i = 0; i < count; i++) {
    const struct sl_attr *attr = &out->kernel->attrs.data[first + i];
    if (i)
      comma(out);
    put_name(out, attr->name);
    put(out, " = ");
    switch (attr->kind) {
    case SL_ATTR_EXPR: put_expr(out, attr->expr, LEVEL_SUM); break;
    case SL_ATTR_COND: put_cond(out, attr->cond); break;
    case SL_ATTR_FLOAT: put_name(out, attr->text); break;
    default: put_string(out, attr->text); break;
    }
  }
  put(out, " }");
}

static void put_index(struct printer *out, const struct sl_access_index *index)
{
  switch (index->kind) {
  case SL_INDEX_AT: put_expr(out, index->first, LEVEL_SUM); break;
  case SL_INDEX_RANGE: put_bounds(out, index->first, ":", index->second); break;
  case SL_INDEX_LENGTH:
    put_expr(out, index->first, LEVEL_SUM);
    put(out, " +: ");
    put_expr(out, index->second, LEVEL_SUM);
    break;
  case SL_INDEX_ALL: sl_buf_putc(out->buf, ':'); break;
  default: sl_buf_putc(out->buf, '?'); break;
  }
}

static void put_operand(struct printer *out, const struct sl_operand *operand)
{
  if (operand->kind == SL_OPERAND_INT) {
    sl_buf_int(out->buf, operand->value);
    return;
  }
  if (operand->kind == SL_OPERAND_REG)
    sl_buf_putc(out->buf, '%');
  else if (operand->read_write)
    sl_buf_putc(out->buf, '+');
  put_name(out, (sl_name)operand->value);
  if (!operand->indexed)
    return;
  for (uint32_t i = 0; i < operand->index_count; i++) {
    if (i)
      inner_comma(out);
    else
      sl_buf_putc(out->buf, '[');
    put_index(out, &out->kernel->indices.data[operand->first_index + i]);
  }
  sl_buf_putc(out->buf, ']');
}

static void put_operands(struct printer *out, uint32_t first, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) {
    if (i)
      comma(out);
    put_operand(out, &out->kernel->operands.data[first + i]);
  }
}

static void put_event(struct printer *out, sl_name event, sl_index index)
{
  put_name(out, event);
  if (!index)
    return;
  sl_buf_putc(out->buf, '[');
  put_expr(out, index, LEVEL_SUM);
  sl_buf_putc(out->buf, ']');
}

static void put_gate(struct printer *out, const struct sl_gate *gate)
{
  if (gate->kind == SL_GATE_EVENT) {
    put_event(out, gate->name, gate->event_index);
    return;
  }
  put_name(out, gate->name);
  put(out, gate->equal ? " == " : " >= ");
  if (gate->threshold == SL_THRESHOLD_INT) {
    sl_buf_int(out->buf, gate->value);
    return;
  }
  if (gate->threshold == SL_THRESHOLD_REG)
    sl_buf_putc(out->buf, '%');
  put_name(out, (sl_name)gate->value);
}

static void put_origin(struct printer *out, sl_index origin)
{
  const struct sl_origin_loc *place = &out->kernel->origins.data[origin];
  put_string(out, place->file);
  sl_buf_putc(out->buf, ':');
  sl_buf_int(out->buf, place->line);
  if (!place->column)
    return;
  sl_buf_putc(out->buf, ':');
  sl_buf_int(out->buf, place->column);
}

static void put_clauses(struct printer *out, const struct sl_op *op, sl_index origin)
{
  const struct sl_kernel *kernel = out->kernel;
  for (uint32_t i = 0; i < op->wait_count; i++) {
    if (i)
      comma(out);
    else
      begin_clause(out, "wait ");
    put_gate(out, &kernel->waits.data[op->first_wait + i]);
  }
  for (uint32_t i = 0; i < op->inc_count; i++) {
    const struct sl_inc *inc = &kernel->incs.data[op->first_inc + i];
    if (i)
      comma(out);
    else
      begin_clause(out, "inc ");
    put_name(out, inc->sem);
    if (inc->by != 1) {
      put(out, " by ");
      sl_buf_int(out->buf, inc->by);
    }
  }
  for (uint32_t i = 0; i < op->set_count; i++) {
    const struct sl_event_set *set = &kernel->sets.data[op->first_set + i];
    if (i)
      comma(out);
    else
      begin_clause(out, "set ");
    put_event(out, set->event, set->index);
  }
  if (origin) {
    begin_clause(out, "from ");
    put_origin(out, origin);
  }
}

/* ---- operations and heads ---- */

static void put_streams(struct printer *out, const struct sl_op *op)
{
  if (op->all_engines)
    sl_buf_putc(out->buf, '*');
  for (uint32_t i = 0; i < op->stream_count; i++) {
    if (i)
      sl_buf_putc(out->buf, '|');
    put_name(out, out->kernel->streams.data[sl_op_stream(out->kernel, op, i)].name);
  }
}

static void put_op(struct printer *out, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(out->kernel, stmt);
  if (op->label) {
    put_name(out, op->label);
    put(out, ": ");
  }
  put_streams(out, op);
  sl_buf_putc(out->buf, '.');
  put_name(out, op->opcode);
  if (op->dst_count) {
    sl_buf_putc(out->buf, ' ');
    put_operands(out, op->first_operand, op->dst_count);
  }
  if (op->src_count) {
    put(out, " <- ");
    put_operands(out, op->first_operand + op->dst_count, op->src_count);
  }
  put_attrs(out, op->first_attr, op->attr_count);
  put_clauses(out, op, out->kernel->stmts.data[stmt].origin);
}

static void put_head_origin(struct printer *out, sl_index origin)
{
  if (!origin)
    return;
  put(out, " from ");
  put_origin(out, origin);
}

/* A loop without its `{`. */
static void put_loop(struct printer *out, sl_index stmt)
{
  const struct sl_loop *loop = sl_stmt_loop(out->kernel, stmt);
  put(out, "loop ");
  put_name(out, loop->var);
  if (loop->has_range && loop->short_range) {
    put(out, " < ");
    put_expr(out, loop->hi, LEVEL_SUM);
  } else if (loop->has_range) {
    put(out, " in ");
    put_bounds(out, loop->lo, "..", loop->hi);
    if (loop->step) {
      put(out, " step ");
      put_expr(out, loop->step, LEVEL_SUM);
    }
  }
  if (loop->while_cond.count) {
    put(out, " while ");
    put_cond(out, loop->while_cond);
  }
  if (loop->divergent)
    put(out, " divergent");
  if (loop->unroll) {
    put(out, " unroll ");
    sl_buf_int(out->buf, loop->unroll);
  }
  put_head_origin(out, out->kernel->stmts.data[stmt].origin);
}

/* An if without its `{`. */
static void put_if(struct printer *out, sl_index stmt)
{
  put(out, "if ");
  put_cond(out, sl_stmt_branch(out->kernel, stmt)->cond);
  put_head_origin(out, out->kernel->stmts.data[stmt].origin);
}

static void put_stmt(struct printer *out, sl_index stmt)
{
  switch (out->kernel->stmts.data[stmt].kind) {
  case SL_STMT_OP: put_op(out, stmt); break;
  case SL_STMT_LOOP: put_loop(out, stmt); break;
  case SL_STMT_IF: put_if(out, stmt); break;
  case SL_STMT_BARRIER: put(out, "barrier"); break;
  case SL_STMT_BARRIER_RESET: put(out, "barrier reset"); break;
  default: put(out, "epilogue"); break;
  }
}

/* ---- declarations ---- */

static bool is_digits(const struct sl_kernel *kernel, sl_index index)
{
  int64_t value;
  return sl_expr_is_integer(kernel, &kernel->exprs.data[index], &value) && value >= 0;
}

static void put_buffer(struct printer *out, sl_index item)
{
  const struct sl_buffer *buffer = &out->kernel->buffers.data[item];
  size_t length = sl_names_length(&out->program->names, buffer->name);
  put(out, "buffer ");
  put_name(out, buffer->name);
  sl_buf_fill(out->buf, ' ', length < out->name_width ? out->name_width - length : 0);
  put(out, " : ");
  put_name(out, buffer->space);
  sl_buf_putc(out->buf, ' ');
  put_name(out, buffer->type);
  sl_buf_putc(out->buf, '[');
  for (uint32_t i = 0; i < buffer->dim_count; i++) {
    const struct sl_dim *dim = &out->kernel->dims.data[buffer->first_dim + i];
    if (i)
      comma(out);
    put_expr(out, dim->size, dim->partition ? LEVEL_FACTOR : LEVEL_SUM);
    if (dim->partition)
      put(out, is_digits(out->kernel, dim->size) ? "p" : " p");
  }
  sl_buf_putc(out->buf, ']');
  if (buffer->has_address) {
    put(out, " at ");
    if (buffer->has_partition_start) {
      sl_buf_int(out->buf, buffer->partition_start);
      put(out, "p, ");
    }
    put_expr(out, buffer->address, LEVEL_SUM);
  }
  put_attrs(out, buffer->first_attr, buffer->attr_count);
}

static void put_id(struct printer *out, bool has_id, uint32_t id)
{
  if (!has_id)
    return;
  put(out, " at ");
  sl_buf_int(out->buf, id);
}

/* One declaration without what follows a list of them. */
static void put_decl(struct printer *out, sl_index index)
{
  const struct sl_kernel *kernel = out->kernel;
  const struct sl_decl *decl = &kernel->decls.data[index];
  switch (decl->kind) {
  case SL_DECL_QUEUE: put_name(out, kernel->streams.data[decl->item].name); break;
  case SL_DECL_SEM: {
    const struct sl_sem *sem = &kernel->sems.data[decl->item];
    put_name(out, sem->name);
    if (sem->initial) {
      put(out, " = ");
      sl_buf_int(out->buf, sem->initial);
    }
    put_id(out, sem->has_id, sem->id);
    break;
  }
  case SL_DECL_EVENT: {
    const struct sl_event *event = &kernel->events.data[decl->item];
    put_name(out, event->name);
    if (event->is_array)
      sl_buf_printf(out->buf, "[%u]", event->count);
    put(out, " : ");
    put_name(out, event->from);
    put(out, " -> ");
    put_name(out, event->to);
    put_id(out, event->has_id, event->id);
    break;
  }
  case SL_DECL_ALIAS:
    put(out, "alias ");
    put_name(out, kernel->aliases.data[decl->item].a);
    sl_buf_putc(out->buf, ' ');
    put_name(out, kernel->aliases.data[decl->item].b);
    break;
  default: put_buffer(out, decl->item); break;
  }
}

static const char *list_word(const struct sl_decl *decl)
{
  switch (decl->kind) {
  case SL_DECL_QUEUE: return "queue ";
  case SL_DECL_SEM: return "sem ";
  case SL_DECL_EVENT: return "event ";
  default: return NULL;
  }
}

/* Whether declaration `index` may stand in one list with the one before it. */
static bool decl_joins(const struct sl_kernel *kernel, uint32_t index)
{
  const struct sl_decl *decl = &kernel->decls.data[index], *before = decl - 1;
  if (decl->kind != before->kind || !may_share_line(kernel, before->trivia, decl->flags, decl->trivia))
    return false;
  return decl->kind != SL_DECL_QUEUE ||
         kernel->streams.data[decl->item].trigger_name == kernel->streams.data[before->item].trigger_name;
}

/* A list of declarations from `first` on, as many as fit on a line; the index after the last. */
static uint32_t put_decl_list(struct printer *out, uint32_t first)
{
  const struct sl_kernel *kernel = out->kernel;
  const struct sl_decl *decl = &kernel->decls.data[first];
  sl_name trigger = decl->kind == SL_DECL_QUEUE ? kernel->streams.data[decl->item].trigger_name : 0;
  size_t suffix = trigger ? strlen(" via ") + sl_names_length(&out->program->names, trigger) : 0;
  begin_line(out);
  put(out, list_word(decl));
  put_decl(out, first);
  uint32_t index = first + 1;
  for (; index < kernel->decls.len && decl_joins(kernel, index); index++) {
    size_t before = out->buf->len;
    put(out, ", ");
    put_decl(out, index);
    if (out->buf->len - out->line_start + suffix > LINE_WIDTH) {
      out->buf->len = before;
      break;
    }
  }
  if (trigger) {
    put(out, " via ");
    put_name(out, trigger);
  }
  return index;
}

/* The width of the names of the buffers declared in a row from `first` on. */
static size_t buffer_width(struct printer *out, uint32_t first)
{
  const struct sl_kernel *kernel = out->kernel;
  size_t width = 0;
  for (uint32_t i = first; i < kernel->decls.len; i++) {
    const struct sl_decl *decl = &kernel->decls.data[i];
    if (decl->kind != SL_DECL_BUFFER || (i > first && (decl->flags & SL_BLANK_BEFORE)))
      break;
    size_t length = sl_names_length(&out->program->names, kernel->buffers.data[decl->item].name);
    if (length > width && length <= BUFFER_NAME_MAX)
      width = length;
  }
  return width;
}

static bool starts_buffers(const struct sl_kernel *kernel, uint32_t index)
{
  const struct sl_decl *decl = &kernel->decls.data[index];
  return decl->kind == SL_DECL_BUFFER &&
         (index == 0 || decl[-1].kind != SL_DECL_BUFFER || (decl->flags & SL_BLANK_BEFORE));
}

static void put_decls(struct printer *out)
{
  const struct sl_kernel *kernel = out->kernel;
  for (uint32_t i = 0; i < kernel->decls.len;) {
    const struct sl_decl *decl = &kernel->decls.data[i];
    put_lead(out, decl->flags, decl->trivia);
    if (starts_buffers(kernel, i))
      out->name_width = buffer_width(out, i);
    if (list_word(decl))
      i = put_decl_list(out, i);
    else
      put_line(out, put_decl, i++);
    end_line(out, kernel->decls.data[i - 1].trivia);
  }
}

/* ---- dependences ---- */

static void put_dep(struct printer *out, sl_index index)
{
  const struct sl_dep *dep = &out->kernel->deps.data[index];
  put(out, dep->removed ? "nodep " : "dep ");
  put_name(out, dep->producer);
  put(out, " -> ");
  put_name(out, dep->consumer);
  for (uint32_t i = 0; i < dep->distance_count; i++) {
    const struct sl_distance *distance = &out->kernel->distances.data[dep->first_distance + i];
    if (i)
      comma(out);
    else
      put(out, " (");
    if (distance->across)
      put(out, "across ");
    put_name(out, distance->loop);
    put(out, ": ");
    sl_buf_int(out->buf, distance->k);
  }
  if (dep->distance_count)
    sl_buf_putc(out->buf, ')');
  if (dep->removed) {
    sl_buf_putc(out->buf, ' ');
    put_string(out, dep->reason);
  }
}

static void put_deps(struct printer *out)
{
  const struct sl_kernel *kernel = out->kernel;
  for (uint32_t i = 0; i < kernel->deps.len; i++) {
    if (i + 2 * SL_PREFETCH_AHEAD < kernel->deps.len)
      sl_prefetch(&out->program->names.entries[kernel->deps.data[i + 2 * SL_PREFETCH_AHEAD].producer]);
    if (i + SL_PREFETCH_AHEAD < kernel->deps.len)
      sl_prefetch(sl_text(out->program, kernel->deps.data[i + SL_PREFETCH_AHEAD].producer));
    put_lead(out, kernel->deps.data[i].flags, kernel->deps.data[i].trivia);
    put_line(out, put_dep, i);
    end_line(out, kernel->deps.data[i].trivia);
  }
}

/* ---- blocks ---- */

static void put_block(struct printer *out, sl_index block);

/* Ends the line of a head with `{`, prints the block and the indentation and `}` after it. */
static void put_braces(struct printer *out, sl_index block, sl_index head_trivia)
{
  put(out, " {");
  end_line(out, head_trivia);
  out->blank_allowed = out->blank_wanted = false;
  out->indent += INDENT;
  put_block(out, block);
  out->indent -= INDENT;
  out->blank_wanted = false;
  begin_line(out);
  sl_buf_putc(out->buf, '}');
}

/* The if that an else-block consists of, when `else if` says it all; else SL_NONE. */
static sl_index only_if(const struct sl_kernel *kernel, sl_index index)
{
  const struct sl_block *block = &kernel->blocks.data[index];
  if (!block->first || block->first != block->last || block->end_trivia)
    return SL_NONE;
  const struct sl_stmt *stmt = &kernel->stmts.data[block->first];
  bool plain = stmt->kind == SL_STMT_IF && !has_comments_before(kernel, stmt->trivia);
  return plain ? block->first : SL_NONE;
}

/* Statements from their head on, whose line has been begun, through the `}`; the line end is left to the caller. */
static void put_loop_rest(struct printer *out, sl_index stmt)
{
  put_braces(out, sl_stmt_loop(out->kernel, stmt)->body, out->kernel->stmts.data[stmt].trivia);
  end_line(out, out->kernel->blocks.data[sl_stmt_loop(out->kernel, stmt)->body].end_trivia);
}

static void put_if_rest(struct printer *out, sl_index stmt)
{
  const struct sl_kernel *kernel = out->kernel;
  for (;;) {
    const struct sl_branch *branch = sl_stmt_branch(kernel, stmt);
    put_braces(out, branch->then_block, kernel->stmts.data[stmt].trivia);
    sl_index end_trivia = kernel->blocks.data[branch->then_block].end_trivia;
    if (!branch->else_block) {
      end_line(out, end_trivia);
      return;
    }
    if (has_trailing(kernel, end_trivia)) {
      end_line(out, end_trivia);
      begin_line(out);
    } else {
      sl_buf_putc(out->buf, ' ');
    }
    put(out, "else");
    sl_index inner = only_if(kernel, branch->else_block);
    if (!inner) {
      put_braces(out, branch->else_block, SL_NONE);
      end_line(out, kernel->blocks.data[branch->else_block].end_trivia);
      return;
    }
    sl_buf_putc(out->buf, ' ');
    put_if(out, inner);
    stmt = inner;
  }
}

/* Whether a statement is a register operation of one engine with nothing else on it, so that it may share a line. */
static bool is_plain_register_op(const struct sl_kernel *kernel, sl_index index)
{
  const struct sl_stmt *stmt = &kernel->stmts.data[index];
  if (stmt->kind != SL_STMT_OP || stmt->origin)
    return false;
  const struct sl_op *op = &kernel->ops.data[stmt->item];
  return sl_opcode_table[op->code].op_class == SL_CLASS_REGISTER && op->stream_count == 1 && !op->label &&
         !op->wait_count && !op->inc_count && !op->set_count;
}

static bool stmt_joins(const struct sl_kernel *kernel, sl_index before, sl_index index)
{
  const struct sl_stmt *stmt = &kernel->stmts.data[index];
  return may_share_line(kernel, kernel->stmts.data[before].trivia, stmt->flags, stmt->trivia) &&
         is_plain_register_op(kernel, index) &&
         sl_stmt_op(kernel, index)->stream == sl_stmt_op(kernel, before)->stream;
}

/* Puts the register operations behind `stmt` on its line as long as they fit; the last statement of the line. */
static sl_index put_joined(struct printer *out, sl_index stmt)
{
  const struct sl_kernel *kernel = out->kernel;
  if (!is_plain_register_op(kernel, stmt))
    return stmt;
  for (;;) {
    sl_index next = kernel->stmts.data[stmt].next;
    size_t before = out->buf->len;
    if (!next || !stmt_joins(kernel, stmt, next))
      return stmt;
    put(out, ";  ");
    put_op(out, next);
    if (out->buf->len - out->line_start > LINE_WIDTH) {
      out->buf->len = before;
      return stmt;
    }
    stmt = next;
  }
}

static void put_block(struct printer *out, sl_index block)
{
  const struct sl_kernel *kernel = out->kernel;
  for (sl_index i = kernel->blocks.data[block].first; i; i = kernel->stmts.data[i].next) {
    put_lead(out, kernel->stmts.data[i].flags, kernel->stmts.data[i].trivia);
    put_line(out, put_stmt, i);
    switch (kernel->stmts.data[i].kind) {
    case SL_STMT_LOOP: put_loop_rest(out, i); break;
    case SL_STMT_IF: put_if_rest(out, i); break;
    default:
      i = put_joined(out, i);
      end_line(out, kernel->stmts.data[i].trivia);
      break;
    }
  }
  put_lead(out, 0, kernel->blocks.data[block].end_trivia);
}

/* ---- kernel and program ---- */

static void put_kernel_head(struct printer *out, sl_index unused)
{
  const struct sl_kernel *kernel = out->kernel;
  (void)unused;
  put(out, "kernel ");
  put_name(out, kernel->name);
  for (uint32_t i = 0; i < kernel->params.len; i++) {
    const struct sl_param *param = &kernel->params.data[i];
    if (i)
      comma(out);
    else
      sl_buf_putc(out->buf, '(');
    put(out, param->is_static ? "static " : "");
    put_name(out, param->name);
    if (param->value) {
      put(out, " = ");
      put_expr(out, param->value, LEVEL_SUM);
    }
  }
  put(out, kernel->params.len ? ") target " : " target ");
  put_name(out, kernel->target);
  put(out, kernel->is_explicit ? " explicit" : "");
  put_head_origin(out, kernel->origin);
  put(out, " {");
}

static void put_kernel(struct printer *out, const struct sl_kernel *kernel)
{
  out->kernel = kernel;
  out->blank_wanted = true;
  put_lead(out, 0, kernel->trivia);
  put_line(out, put_kernel_head, 0);
  end_line(out, kernel->trivia);
  out->blank_allowed = out->blank_wanted = false;
  out->indent = INDENT;
  put_decls(out);
  put_block(out, kernel->root);
  put_deps(out);
  put_lead(out, 0, kernel->end_trivia);
  out->indent = 0;
  out->blank_wanted = false;
  begin_line(out);
  sl_buf_putc(out->buf, '}');
  end_line(out, kernel->end_trivia);
}

void sl_print_program(sl_buf *buf, const sl_program *program)
{
  struct printer out = { .buf = buf, .program = program };
  for (uint32_t i = 0; i < program->header_comments.len; i++)
    put_comment_line(&out, program->header_comments.data[i]);
  if (program->has_version) {
    begin_line(&out);
    sl_buf_printf(buf, "sluice %u\n", program->version);
  }
  for (uint32_t i = 0; i < program->kernels.len; i++)
    put_kernel(&out, program->kernels.data[i]);
  out.blank_wanted = true;
  for (uint32_t i = 0; i < program->footer_comments.len; i++)
    put_comment_line(&out, program->footer_comments.data[i]);
}

void sl_print_expr(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel, sl_index expr)
{
  struct printer out = { .buf = buf, .program = program, .kernel = kernel };
  put_expr(&out, expr, LEVEL_SUM);
}

void sl_print_cond(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel, struct sl_cond cond)
{
  struct printer out = { .buf = buf, .program = program, .kernel = kernel };
  put_cond(&out, cond);
}

void sl_print_operand(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel,
                      const struct sl_operand *operand)
{
  struct printer out = { .buf = buf, .program = program, .kernel = kernel };
  struct sl_operand as_source = *operand;
  as_source.read_write = false;
  put_operand(&out, &as_source);
}

void sl_print_stmt_head(sl_buf *buf, const sl_program *program, const struct sl_kernel *kernel, sl_index stmt)
{
  struct printer out = { .buf = buf, .program = program, .kernel = kernel };
  put_stmt(&out, stmt);
}
