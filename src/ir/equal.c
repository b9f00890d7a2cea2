/* equal.c: whether two programs are the same; see sl_program_equal in program.h.
 *
 * Names are compared by their text, lists by what they hold: indices, source offsets, resolved streams and array entries that
 * nothing refers to do not count. Neither do differences that the text cannot show: an empty line before the first item of a
 * block or before a kernel, `-` before a number as an operator or as its sign, SL_GENERATED.
 * Requires trees within the nesting limits of ir.h. O(size), allocates nothing.
 */
#include "ir/eval.h"
#include "ir/ir.h"

struct pair {
  const sl_program *a, *b;
  const struct sl_kernel *ka, *kb;
  const char *why; /* the first difference */
};

/* Notes a difference unless one is known; returns false. */
static bool differ(struct pair *pair, const char *why)
{
  if (!pair->why)
    pair->why = why;
  return false;
}

static bool same_name(const struct pair *pair, sl_name a, sl_name b)
{
  uint32_t length = sl_names_length(&pair->a->names, a);
  return (a == 0) == (b == 0) && length == sl_names_length(&pair->b->names, b) &&
         memcmp(sl_text(pair->a, a), sl_text(pair->b, b), length) == 0;
}

/* ---- trivia and origins ---- */

static bool same_trivia(struct pair *pair, sl_index a, sl_index b)
{
  static const struct sl_trivia none = { SL_NONE, 0 };
  const struct sl_trivia *ta = a ? &pair->ka->trivias.data[a] : &none;
  const struct sl_trivia *tb = b ? &pair->kb->trivias.data[b] : &none;
  sl_index ca = ta->first_comment, cb = tb->first_comment;
  while (ca && cb) {
    if (!same_name(pair, pair->ka->comments.data[ca].text, pair->kb->comments.data[cb].text))
      return differ(pair, "a comment");
    ca = pair->ka->comments.data[ca].next;
    cb = pair->kb->comments.data[cb].next;
  }
  if (ca || cb)
    return differ(pair, "the number of comments");
  return same_name(pair, ta->trailing, tb->trailing) || differ(pair, "a trailing comment");
}

static bool same_origin(struct pair *pair, sl_index a, sl_index b)
{
  if (!a || !b)
    return !a == !b || differ(pair, "a location of another tool");
  const struct sl_origin_loc *oa = &pair->ka->origins.data[a], *ob = &pair->kb->origins.data[b];
  return (same_name(pair, oa->file, ob->file) && oa->line == ob->line && oa->column == ob->column) ||
         differ(pair, "a location of another tool");
}

/* Flags of an item; an empty line before the first one is not printed. */
static bool same_flags(struct pair *pair, uint8_t a, uint8_t b, bool first)
{
  return first || (a & SL_BLANK_BEFORE) == (b & SL_BLANK_BEFORE) || differ(pair, "an empty line");
}

/* ---- expressions, conditions, attributes ---- */

static bool equal_expr(const struct pair *pair, sl_index a, sl_index b)
{
  int64_t va = 0, vb = 0;
  if (!a || !b)
    return !a == !b;
  const struct sl_expr *ea = &pair->ka->exprs.data[a], *eb = &pair->kb->exprs.data[b];
  bool ia = sl_expr_is_integer(pair->ka, ea, &va), ib = sl_expr_is_integer(pair->kb, eb, &vb);
  if (ia || ib)
    return ia && ib && va == vb;
  if (ea->kind != eb->kind)
    return false;
  if (ea->kind == SL_EXPR_NAME || ea->kind == SL_EXPR_REG)
    return same_name(pair, (sl_name)ea->u.value, (sl_name)eb->u.value);
  return equal_expr(pair, ea->u.sub.lhs, eb->u.sub.lhs) &&
         (ea->kind == SL_EXPR_NEG || equal_expr(pair, ea->u.sub.rhs, eb->u.sub.rhs));
}

static bool same_expr(struct pair *pair, sl_index a, sl_index b)
{
  return equal_expr(pair, a, b) || differ(pair, "an expression");
}

static bool same_cond(struct pair *pair, struct sl_cond a, struct sl_cond b)
{
  if (a.count != b.count || (a.count > 1 && a.any != b.any))
    return differ(pair, "a condition");
  for (uint32_t i = 0; i < a.count; i++) {
    const struct sl_cmp *ca = &pair->ka->cmps.data[a.first + i], *cb = &pair->kb->cmps.data[b.first + i];
    bool opaque = ca->op == SL_CMP_OPAQUE;
    if (ca->op != cb->op || (opaque && !same_name(pair, ca->opaque, cb->opaque)))
      return differ(pair, "a condition");
    if (!opaque && (!same_expr(pair, ca->lhs, cb->lhs) || !same_expr(pair, ca->rhs, cb->rhs)))
      return false;
  }
  return true;
}

static bool same_attr(struct pair *pair, const struct sl_attr *a, const struct sl_attr *b)
{
  if (!same_name(pair, a->name, b->name) || a->kind != b->kind)
    return differ(pair, "an attribute");
  if (a->kind == SL_ATTR_EXPR)
    return same_expr(pair, a->expr, b->expr);
  if (a->kind == SL_ATTR_COND)
    return same_cond(pair, a->cond, b->cond);
  return same_name(pair, a->text, b->text) || differ(pair, "the value of an attribute");
}

static bool same_attrs(struct pair *pair, uint32_t first_a, uint32_t count_a, uint32_t first_b, uint32_t count_b)
{
  if (count_a != count_b)
    return differ(pair, "the number of attributes");
  for (uint32_t i = 0; i < count_a; i++)
    if (!same_attr(pair, &pair->ka->attrs.data[first_a + i], &pair->kb->attrs.data[first_b + i]))
      return false;
  return true;
}

/* ---- operations ---- */

static bool same_operand(struct pair *pair, const struct sl_operand *a, const struct sl_operand *b)
{
  if (a->kind != b->kind)
    return differ(pair, "the kind of an operand");
  if (a->kind == SL_OPERAND_INT)
    return a->value == b->value || differ(pair, "an operand");
  if (!same_name(pair, (sl_name)a->value, (sl_name)b->value))
    return differ(pair, "an operand");
  if (a->kind == SL_OPERAND_REG)
    return true;
  if (a->read_write != b->read_write || a->indexed != b->indexed || (a->indexed && a->index_count != b->index_count))
    return differ(pair, "an operand");
  for (uint32_t i = 0; a->indexed && i < a->index_count; i++) {
    const struct sl_access_index *ia = &pair->ka->indices.data[a->first_index + i];
    const struct sl_access_index *ib = &pair->kb->indices.data[b->first_index + i];
    if (ia->kind != ib->kind)
      return differ(pair, "an index");
    if (ia->kind == SL_INDEX_ALL || ia->kind == SL_INDEX_ANY)
      continue;
    if (!same_expr(pair, ia->first, ib->first) ||
        (ia->kind != SL_INDEX_AT && !same_expr(pair, ia->second, ib->second)))
      return false;
  }
  return true;
}

static bool same_gate(struct pair *pair, const struct sl_gate *a, const struct sl_gate *b)
{
  if (a->kind != b->kind || !same_name(pair, a->name, b->name))
    return differ(pair, "a wait");
  if (a->kind == SL_GATE_EVENT)
    return same_expr(pair, a->event_index, b->event_index);
  bool same_value = a->threshold == SL_THRESHOLD_INT ? a->value == b->value
                                                     : same_name(pair, (sl_name)a->value, (sl_name)b->value);
  if (a->equal != b->equal || a->threshold != b->threshold || !same_value)
    return differ(pair, "the threshold of a wait");
  return true;
}

static bool same_clauses(struct pair *pair, const struct sl_op *a, const struct sl_op *b)
{
  const struct sl_kernel *ka = pair->ka, *kb = pair->kb;
  if (a->wait_count != b->wait_count || a->inc_count != b->inc_count || a->set_count != b->set_count)
    return differ(pair, "the number of waits or updates");
  for (uint32_t i = 0; i < a->wait_count; i++)
    if (!same_gate(pair, &ka->waits.data[a->first_wait + i], &kb->waits.data[b->first_wait + i]))
      return false;
  for (uint32_t i = 0; i < a->inc_count; i++) {
    const struct sl_inc *ia = &ka->incs.data[a->first_inc + i], *ib = &kb->incs.data[b->first_inc + i];
    if (!same_name(pair, ia->sem, ib->sem) || ia->by != ib->by)
      return differ(pair, "an update");
  }
  for (uint32_t i = 0; i < a->set_count; i++) {
    const struct sl_event_set *sa = &ka->sets.data[a->first_set + i], *sb = &kb->sets.data[b->first_set + i];
    if (!same_name(pair, sa->event, sb->event) || !same_expr(pair, sa->index, sb->index))
      return differ(pair, "a set event");
  }
  return true;
}

static bool same_streams(struct pair *pair, const struct sl_op *a, const struct sl_op *b)
{
  if (a->all_engines != b->all_engines || a->stream_count != b->stream_count)
    return differ(pair, "the stream of an operation");
  for (uint32_t i = 0; i < a->stream_count; i++)
    if (!same_name(pair, pair->ka->streams.data[sl_op_stream(pair->ka, a, i)].name,
                   pair->kb->streams.data[sl_op_stream(pair->kb, b, i)].name))
      return differ(pair, "the stream of an operation");
  return true;
}

static bool same_op(struct pair *pair, const struct sl_op *a, const struct sl_op *b)
{
  if (!same_name(pair, a->label, b->label))
    return differ(pair, "a label");
  if (!same_name(pair, a->opcode, b->opcode))
    return differ(pair, "an opcode");
  if (!same_streams(pair, a, b))
    return false;
  if (a->dst_count != b->dst_count || a->src_count != b->src_count)
    return differ(pair, "the number of operands");
  for (uint32_t i = 0; i < (uint32_t)a->dst_count + a->src_count; i++)
    if (!same_operand(pair, &pair->ka->operands.data[a->first_operand + i],
                      &pair->kb->operands.data[b->first_operand + i]))
      return false;
  return same_attrs(pair, a->first_attr, a->attr_count, b->first_attr, b->attr_count) && same_clauses(pair, a, b);
}

/* ---- statements ---- */

static bool same_block(struct pair *pair, sl_index a, sl_index b);

static bool same_loop(struct pair *pair, const struct sl_loop *a, const struct sl_loop *b)
{
  if (!same_name(pair, a->var, b->var))
    return differ(pair, "a loop variable");
  if (a->has_range != b->has_range || (a->has_range && a->short_range != b->short_range) ||
      a->divergent != b->divergent || a->unroll != b->unroll)
    return differ(pair, "the head of a loop");
  if (a->has_range && !same_expr(pair, a->hi, b->hi))
    return false;
  if (a->has_range && !a->short_range && (!same_expr(pair, a->lo, b->lo) || !same_expr(pair, a->step, b->step)))
    return false;
  return same_cond(pair, a->while_cond, b->while_cond) && same_block(pair, a->body, b->body);
}

static bool same_branch(struct pair *pair, const struct sl_branch *a, const struct sl_branch *b)
{
  if (!same_cond(pair, a->cond, b->cond) || !same_block(pair, a->then_block, b->then_block))
    return false;
  if (!a->else_block != !b->else_block)
    return differ(pair, "an else");
  return !a->else_block || same_block(pair, a->else_block, b->else_block);
}

static bool same_stmt(struct pair *pair, sl_index a, sl_index b, bool first)
{
  const struct sl_stmt *sa = &pair->ka->stmts.data[a], *sb = &pair->kb->stmts.data[b];
  if (sa->kind != sb->kind)
    return differ(pair, "the kind of a statement");
  if (!same_flags(pair, sa->flags, sb->flags, first) || !same_trivia(pair, sa->trivia, sb->trivia) ||
      !same_origin(pair, sa->origin, sb->origin))
    return false;
  switch (sa->kind) {
  case SL_STMT_OP: return same_op(pair, sl_stmt_op(pair->ka, a), sl_stmt_op(pair->kb, b));
  case SL_STMT_LOOP: return same_loop(pair, sl_stmt_loop(pair->ka, a), sl_stmt_loop(pair->kb, b));
  case SL_STMT_IF: return same_branch(pair, sl_stmt_branch(pair->ka, a), sl_stmt_branch(pair->kb, b));
  default: return true;
  }
}

static bool same_block(struct pair *pair, sl_index a, sl_index b)
{
  const struct sl_block *ba = &pair->ka->blocks.data[a], *bb = &pair->kb->blocks.data[b];
  sl_index sa = ba->first, sb = bb->first;
  /* In the root the declarations come first; same_kernel has found as many of them in both. */
  bool first = a != pair->ka->root || pair->ka->decls.len == 0;
  for (; sa && sb; first = false) {
    if (!same_stmt(pair, sa, sb, first))
      return false;
    sa = pair->ka->stmts.data[sa].next;
    sb = pair->kb->stmts.data[sb].next;
  }
  if (sa || sb)
    return differ(pair, "the number of statements");
  return same_trivia(pair, ba->end_trivia, bb->end_trivia);
}

/* ---- declarations and dependences ---- */

static bool same_buffer(struct pair *pair, const struct sl_buffer *a, const struct sl_buffer *b)
{
  if (!same_name(pair, a->name, b->name) || !same_name(pair, a->space, b->space) ||
      !same_name(pair, a->type, b->type) || a->dim_count != b->dim_count)
    return differ(pair, "a buffer");
  for (uint32_t i = 0; i < a->dim_count; i++) {
    const struct sl_dim *da = &pair->ka->dims.data[a->first_dim + i], *db = &pair->kb->dims.data[b->first_dim + i];
    if (da->partition != db->partition)
      return differ(pair, "a dimension");
    if (!same_expr(pair, da->size, db->size))
      return false;
  }
  if (a->has_address != b->has_address)
    return differ(pair, "the address of a buffer");
  if (a->has_address && (a->has_partition_start != b->has_partition_start ||
                         (a->has_partition_start && a->partition_start != b->partition_start) ||
                         !equal_expr(pair, a->address, b->address)))
    return differ(pair, "the address of a buffer");
  return same_attrs(pair, a->first_attr, a->attr_count, b->first_attr, b->attr_count);
}

static bool same_queue(struct pair *pair, const struct sl_stream *a, const struct sl_stream *b)
{
  return (same_name(pair, a->name, b->name) && same_name(pair, a->trigger_name, b->trigger_name)) ||
         differ(pair, "a queue");
}

static bool same_sem(struct pair *pair, const struct sl_sem *a, const struct sl_sem *b)
{
  return (same_name(pair, a->name, b->name) && a->initial == b->initial && a->has_id == b->has_id &&
          (!a->has_id || a->id == b->id)) ||
         differ(pair, "a semaphore");
}

static bool same_event(struct pair *pair, const struct sl_event *a, const struct sl_event *b)
{
  return (same_name(pair, a->name, b->name) && same_name(pair, a->from, b->from) && same_name(pair, a->to, b->to) &&
          a->is_array == b->is_array && (!a->is_array || a->count == b->count) && a->has_id == b->has_id &&
          (!a->has_id || a->id == b->id)) ||
         differ(pair, "an event");
}

static bool same_alias(struct pair *pair, const struct sl_alias *a, const struct sl_alias *b)
{
  return (same_name(pair, a->a, b->a) && same_name(pair, a->b, b->b)) || differ(pair, "an alias");
}

static bool same_decl(struct pair *pair, uint32_t index)
{
  const struct sl_kernel *ka = pair->ka, *kb = pair->kb;
  const struct sl_decl *da = &ka->decls.data[index], *db = &kb->decls.data[index];
  if (da->kind != db->kind)
    return differ(pair, "the kind of a declaration");
  if (!same_flags(pair, da->flags, db->flags, index == 0) || !same_trivia(pair, da->trivia, db->trivia))
    return false;
  switch (da->kind) {
  case SL_DECL_QUEUE: return same_queue(pair, &ka->streams.data[da->item], &kb->streams.data[db->item]);
  case SL_DECL_BUFFER: return same_buffer(pair, &ka->buffers.data[da->item], &kb->buffers.data[db->item]);
  case SL_DECL_ALIAS: return same_alias(pair, &ka->aliases.data[da->item], &kb->aliases.data[db->item]);
  case SL_DECL_SEM: return same_sem(pair, &ka->sems.data[da->item], &kb->sems.data[db->item]);
  default: return same_event(pair, &ka->events.data[da->item], &kb->events.data[db->item]);
  }
}

static bool same_dep(struct pair *pair, uint32_t index)
{
  const struct sl_dep *da = &pair->ka->deps.data[index], *db = &pair->kb->deps.data[index];
  bool first = index == 0 && !pair->ka->decls.len && !pair->ka->blocks.data[pair->ka->root].first;
  if (!same_name(pair, da->producer, db->producer) || !same_name(pair, da->consumer, db->consumer) ||
      da->removed != db->removed || da->distance_count != db->distance_count ||
      (da->removed && !same_name(pair, da->reason, db->reason)))
    return differ(pair, "a dependence line");
  for (uint32_t i = 0; i < da->distance_count; i++) {
    const struct sl_distance *a = &pair->ka->distances.data[da->first_distance + i];
    const struct sl_distance *b = &pair->kb->distances.data[db->first_distance + i];
    if (!same_name(pair, a->loop, b->loop) || a->k != b->k || a->across != b->across)
      return differ(pair, "the distance of a dependence line");
  }
  return same_flags(pair, da->flags, db->flags, first) && same_trivia(pair, da->trivia, db->trivia);
}

/* ---- kernels and programs ---- */

static bool same_param(struct pair *pair, uint32_t index)
{
  const struct sl_param *a = &pair->ka->params.data[index], *b = &pair->kb->params.data[index];
  if (!same_name(pair, a->name, b->name) || a->is_static != b->is_static)
    return differ(pair, "a parameter");
  return same_expr(pair, a->value, b->value);
}

static bool same_kernel(struct pair *pair)
{
  const struct sl_kernel *ka = pair->ka, *kb = pair->kb;
  if (!same_name(pair, ka->name, kb->name) || !same_name(pair, ka->target, kb->target) ||
      ka->is_explicit != kb->is_explicit)
    return differ(pair, "the head of a kernel");
  if (ka->params.len != kb->params.len)
    return differ(pair, "the number of parameters");
  if (ka->decls.len != kb->decls.len)
    return differ(pair, "the number of declarations");
  if (ka->deps.len != kb->deps.len)
    return differ(pair, "the number of dependence lines");
  for (uint32_t i = 0; i < ka->params.len; i++)
    if (!same_param(pair, i))
      return false;
  for (uint32_t i = 0; i < ka->decls.len; i++)
    if (!same_decl(pair, i))
      return false;
  if (!same_block(pair, ka->root, kb->root))
    return false;
  for (uint32_t i = 0; i < ka->deps.len; i++)
    if (!same_dep(pair, i))
      return false;
  return same_origin(pair, ka->origin, kb->origin) && same_trivia(pair, ka->trivia, kb->trivia) &&
         same_trivia(pair, ka->end_trivia, kb->end_trivia);
}

static bool same_file_comments(struct pair *pair, const sl_name *a, uint32_t count_a, const sl_name *b,
                               uint32_t count_b)
{
  if (count_a != count_b)
    return differ(pair, "the number of comments of the file");
  for (uint32_t i = 0; i < count_a; i++)
    if (!same_name(pair, a[i], b[i]))
      return differ(pair, "a comment of the file");
  return true;
}

static bool same_program(struct pair *pair)
{
  const sl_program *a = pair->a, *b = pair->b;
  if (a->has_version != b->has_version || (a->has_version && a->version != b->version))
    return differ(pair, "the version");
  if (a->kernels.len != b->kernels.len)
    return differ(pair, "the number of kernels");
  for (uint32_t i = 0; i < a->kernels.len; i++) {
    pair->ka = a->kernels.data[i];
    pair->kb = b->kernels.data[i];
    if (!same_kernel(pair))
      return false;
  }
  return same_file_comments(pair, a->header_comments.data, a->header_comments.len, b->header_comments.data,
                            b->header_comments.len) &&
         same_file_comments(pair, a->footer_comments.data, a->footer_comments.len, b->footer_comments.data,
                            b->footer_comments.len);
}

bool sl_program_equal(const sl_program *a, const sl_program *b, const char **why)
{
  struct pair pair = { .a = a, .b = b };
  bool same = same_program(&pair);
  if (why)
    *why = pair.why;
  return same;
}
