/* json_in.c: a program from its JSON form (docs/kernel.schema.json): declarations, statements, kernels.
 *
 * Several errors are reported in one run. What is accepted is what the text language can write.
 * Requires: an empty program whose source holds the JSON text.
 * Cost: O(length); recursion is bounded by SL_NESTING_BLOCKS.
 */
#include <assert.h>

#include "ir/construct.h"
#include "ir/json_read.h"

/* ---- declarations ---- */

/* The flags of an item. An empty line before the first item of a block is none. */
static uint8_t read_flags(const struct sl_input *in, const struct sl_members *m, bool is_first)
{
  unsigned blank = sl_input_true(in, m->at[BLANK]) && !is_first ? SL_BLANK_BEFORE : 0;
  return (uint8_t)(blank | (sl_input_true(in, m->at[SAME_LINE]) ? SL_SAME_LINE : 0));
}

/* Whether nothing stands before the next item of the kernel, or of one of its blocks. */
static bool is_first_item(const struct sl_kernel *kernel, sl_index block)
{
  bool is_root = block == kernel->root;
  return !kernel->blocks.data[block].first && !(is_root && (kernel->decls.len || kernel->deps.len));
}

static bool read_dim(struct sl_input *in, uint32_t node, struct sl_dim *dim)
{
  enum { SIZE, PARTITION };
  static const struct sl_field fields[] = { { "size", TAKES_STRING | REQUIRED }, { "partition", TAKES_BOOL } };
  struct sl_members m;
  if (!READ_MEMBERS(in, node, "a dimension", fields, &m))
    return false;
  dim->partition = sl_input_true(in, m.at[PARTITION]);
  dim->size = sl_input_expr(in, m.at[SIZE]);
  return dim->size != SL_NONE;
}

static bool read_queue(struct sl_input *in, const struct sl_members *m, uint32_t *item)
{
  enum { NAME = FIRST_OWN, VIA };
  sl_loc loc = sl_input_node(in, m->object)->loc;
  sl_name name = sl_input_name(in, m->at[NAME]), trigger = m->at[VIA] ? sl_input_name(in, m->at[VIA]) : 0;
  if (!name || (m->at[VIA] && !trigger))
    return false;
  *item = sl_queue_declare(in->kernel, name, trigger, loc);
  if (*item != SL_NO_STREAM)
    return true;
  sl_error(in->report, SL_RULE_REDEFINED, sl_input_node(in, m->at[NAME])->loc, "the queue '%s' is declared twice",
           sl_text(in->program, name));
  return false;
}

static bool read_buffer(struct sl_input *in, const struct sl_members *m, uint32_t *item)
{
  enum { NAME = FIRST_OWN, SPACE, TYPE, DIMS, PARTITION_START, ADDRESS, ATTRIBUTES };
  struct sl_kernel *kernel = in->kernel;
  struct sl_buffer buffer = { .name = sl_input_name(in, m->at[NAME]),
                              .space = sl_input_name(in, m->at[SPACE]),
                              .type = sl_input_name(in, m->at[TYPE]) };
  bool ok = buffer.name && buffer.space && buffer.type && sl_input_count(in, m->at[DIMS], &buffer.dim_count);
  if (ok && buffer.dim_count == 0) {
    INPUT_ERROR(in, m->at[DIMS], "a buffer has at least one dimension");
    return false;
  }
  buffer.first_dim = kernel->dims.len;
  FOR_EACH (in, node, ok ? m->at[DIMS] : 0) {
    struct sl_dim dim = { 0 };
    ok &= read_dim(in, node, &dim);
    sl_vec_add(kernel->heap, &kernel->dims, dim);
  }
  buffer.has_partition_start = m->at[PARTITION_START] != 0;
  buffer.has_address = m->at[ADDRESS] != 0;
  if (buffer.has_partition_start && !buffer.has_address) {
    INPUT_ERROR(in, m->object, "\"partition_start\" needs an \"address\"");
    return false;
  }
  if (buffer.has_partition_start)
    ok &= sl_input_int(in, m->at[PARTITION_START], 0, INT64_MAX, &buffer.partition_start);
  if (buffer.has_address)
    ok &= (buffer.address = sl_input_expr(in, m->at[ADDRESS])) != SL_NONE;
  ok &= sl_input_attributes(in, m->at[ATTRIBUTES], &buffer.first_attr, &buffer.attr_count);
  *item = kernel->buffers.len;
  sl_vec_add(kernel->heap, &kernel->buffers, buffer);
  return ok;
}

static bool read_alias(struct sl_input *in, const struct sl_members *m, uint32_t *item)
{
  enum { A = FIRST_OWN, B };
  struct sl_alias alias = { sl_input_name(in, m->at[A]), sl_input_name(in, m->at[B]) };
  *item = in->kernel->aliases.len;
  sl_vec_add(in->kernel->heap, &in->kernel->aliases, alias);
  return alias.a && alias.b;
}

static bool read_sem(struct sl_input *in, const struct sl_members *m, uint32_t *item)
{
  enum { NAME = FIRST_OWN, INITIAL, AT };
  struct sl_sem sem = { .name = sl_input_name(in, m->at[NAME]), .has_id = m->at[AT] != 0 };
  bool ok = sem.name != 0;
  if (m->at[INITIAL])
    ok &= sl_input_uint32(in, m->at[INITIAL], 0, &sem.initial);
  if (sem.has_id)
    ok &= sl_input_uint32(in, m->at[AT], 0, &sem.id);
  *item = in->kernel->sems.len;
  sl_vec_add(in->kernel->heap, &in->kernel->sems, sem);
  return ok;
}

static bool read_event(struct sl_input *in, const struct sl_members *m, uint32_t *item)
{
  enum { NAME = FIRST_OWN, COUNT, SETTER, WAITER, AT };
  struct sl_event event = { .name = sl_input_name(in, m->at[NAME]),
                            .from = sl_input_name(in, m->at[SETTER]),
                            .to = sl_input_name(in, m->at[WAITER]),
                            .is_array = m->at[COUNT] != 0,
                            .count = 1,
                            .has_id = m->at[AT] != 0 };
  bool ok = event.name && event.from && event.to;
  if (event.is_array)
    ok &= sl_input_uint32(in, m->at[COUNT], 1, &event.count);
  if (event.has_id)
    ok &= sl_input_uint32(in, m->at[AT], 0, &event.id);
  *item = in->kernel->events.len;
  sl_vec_add(in->kernel->heap, &in->kernel->events, event);
  return ok;
}

static const struct sl_field queue_fields[] = { COMMON_FIELDS,
                                                { "name", TAKES_STRING | REQUIRED },
                                                { "via", TAKES_STRING } };
static const struct sl_field buffer_fields[] = { COMMON_FIELDS,
                                                 { "name", TAKES_STRING | REQUIRED },
                                                 { "space", TAKES_STRING | REQUIRED },
                                                 { "type", TAKES_STRING | REQUIRED },
                                                 { "dims", TAKES_ARRAY | REQUIRED },
                                                 { "partition_start", TAKES_INT },
                                                 { "address", TAKES_STRING },
                                                 { "attributes", TAKES_ARRAY } };
static const struct sl_field alias_fields[] = { COMMON_FIELDS,
                                                { "a", TAKES_STRING | REQUIRED },
                                                { "b", TAKES_STRING | REQUIRED } };
static const struct sl_field sem_fields[] = {
  COMMON_FIELDS, { "name", TAKES_STRING | REQUIRED }, { "initial", TAKES_INT }, { "at", TAKES_INT }
};
static const struct sl_field event_fields[] = { COMMON_FIELDS,
                                                { "name", TAKES_STRING | REQUIRED },
                                                { "count", TAKES_INT },
                                                { "setter", TAKES_STRING | REQUIRED },
                                                { "waiter", TAKES_STRING | REQUIRED },
                                                { "at", TAKES_INT } };

/* Declarations by enum sl_decl_kind. */
static const struct decl_form {
  const char *kind, *what;
  const struct sl_field *fields;
  size_t field_count;
  bool (*read)(struct sl_input *in, const struct sl_members *m, uint32_t *item);
} decl_forms[] = {
#define FORM(name, what)                                                                  \
  {                                                                                       \
#name, what, name##_fields, sizeof name##_fields / sizeof *name##_fields, read_##name \
  }
  FORM(queue, "a queue"),   FORM(buffer, "a buffer"), FORM(alias, "an alias"),
  FORM(sem, "a semaphore"), FORM(event, "an event"),
#undef FORM
};

/* The string under "kind" of an element, or NULL after reporting that there is none. */
static const char *read_kind(struct sl_input *in, uint32_t object, const char *what)
{
  if (!sl_input_check_kind(in, object, what, TAKES_OBJECT))
    return NULL;
  FOR_EACH (in, member, object)
    if (strcmp(sl_json_key(&in->json, member), "kind") == 0)
      return sl_input_check_kind(in, member, "kind", TAKES_STRING) ? sl_json_string(&in->json, member) : NULL;
  INPUT_ERROR(in, object, "%s lacks the key \"kind\"", what);
  return NULL;
}

static void unknown_kind(struct sl_input *in, uint32_t object, const char *what, const char *kind,
                         const char *const *known, size_t count)
{
  const char *closest = sl_closest(kind, known, count);
  INPUT_ERROR(in, object, "%s of unknown kind \"%.60s\"%s%s%s", what, kind, closest ? "; did you mean \"" : "",
              closest ? closest : "", closest ? "\"?" : "");
}

static bool read_decl(struct sl_input *in, uint32_t node)
{
  enum { FORMS = sizeof decl_forms / sizeof *decl_forms };
  const char *known[FORMS], *kind = read_kind(in, node, "a declaration");
  if (!kind)
    return false;
  for (uint32_t i = 0; i < FORMS; i++) {
    const struct decl_form *form = &decl_forms[i];
    known[i] = form->kind;
    if (strcmp(kind, form->kind) != 0)
      continue;
    struct sl_members m;
    struct sl_decl decl = { .kind = (uint8_t)i, .loc = sl_input_node(in, node)->loc };
    if (!sl_input_members(in, node, form->what, form->fields, form->field_count, &m) ||
        !sl_input_lead(in, m.at[COMMENTS], m.at[TRAILING], &decl.trivia) || !form->read(in, &m, &decl.item))
      return false;
    decl.flags = read_flags(in, &m, is_first_item(in->kernel, in->kernel->root));
    sl_vec_add(in->kernel->heap, &in->kernel->decls, decl);
    return true;
  }
  unknown_kind(in, node, "a declaration", kind, known, FORMS);
  return false;
}

static bool read_param(struct sl_input *in, uint32_t node)
{
  enum { NAME, STATIC, VALUE };
  static const struct sl_field fields[] = { { "name", TAKES_STRING | REQUIRED },
                                            { "static", TAKES_BOOL },
                                            { "value", TAKES_STRING } };
  struct sl_members m;
  if (!READ_MEMBERS(in, node, "a parameter", fields, &m))
    return false;
  struct sl_param param = { .name = sl_input_name(in, m.at[NAME]),
                            .is_static = sl_input_true(in, m.at[STATIC]),
                            .loc = sl_input_node(in, node)->loc };
  if (m.at[VALUE])
    param.value = sl_input_expr(in, m.at[VALUE]);
  sl_vec_add(in->kernel->heap, &in->kernel->params, param);
  return param.name && (param.value || !m.at[VALUE]);
}

/* ---- statements ---- */

static bool read_block(struct sl_input *in, uint32_t array, sl_index block, unsigned depth);

enum { VAR = FIRST_OWN, BOUND, LO, HI, STEP, WHILE, DIVERGENT, UNROLL, LOOP_FROM, BODY, END_COMMENTS, END_TRAILING };
static const struct sl_field loop_fields[] = { COMMON_FIELDS,
                                               { "var", TAKES_STRING | REQUIRED },
                                               { "bound", TAKES_STRING },
                                               { "lo", TAKES_STRING },
                                               { "hi", TAKES_STRING },
                                               { "step", TAKES_INT },
                                               { "while", TAKES_STRING },
                                               { "divergent", TAKES_BOOL },
                                               { "unroll", TAKES_INT },
                                               { "from", TAKES_OBJECT },
                                               { "body", TAKES_ARRAY | REQUIRED },
                                               { "end_comments", TAKES_ARRAY },
                                               { "end_trailing", TAKES_STRING } };

static bool read_range(struct sl_input *in, const struct sl_members *m, struct sl_loop *loop)
{
  bool short_range = m->at[BOUND] && !m->at[LO] && !m->at[HI] && !m->at[STEP];
  bool long_range = !m->at[BOUND] && m->at[LO] && m->at[HI];
  bool no_range = !m->at[BOUND] && !m->at[LO] && !m->at[HI] && !m->at[STEP] && m->at[WHILE];
  if (!short_range && !long_range && !no_range) {
    INPUT_ERROR(in, m->object, "a loop has \"bound\", or \"lo\" and \"hi\", or only \"while\"");
    return false;
  }
  loop->has_range = !no_range;
  loop->short_range = short_range;
  bool ok = true;
  if (short_range)
    ok &= (loop->hi = sl_input_expr(in, m->at[BOUND])) != SL_NONE;
  if (long_range) {
    ok &= (loop->lo = sl_input_expr(in, m->at[LO])) != SL_NONE;
    ok &= (loop->hi = sl_input_expr(in, m->at[HI])) != SL_NONE;
  }
  int64_t step;
  if (m->at[STEP]) {
    if (!sl_input_int(in, m->at[STEP], 1, INT64_MAX, &step))
      return false;
    loop->step = sl_expr_int(in->kernel, step, sl_input_node(in, m->at[STEP])->loc);
  }
  return ok;
}

static bool read_loop(struct sl_input *in, const struct sl_members *m, struct sl_loop *loop)
{
  bool ok = (loop->var = sl_input_name(in, m->at[VAR])) != 0;
  ok &= read_range(in, m, loop);
  if (m->at[WHILE])
    ok &= sl_input_cond(in, m->at[WHILE], &loop->while_cond);
  if (m->at[UNROLL])
    ok &= sl_input_uint32(in, m->at[UNROLL], 1, &loop->unroll);
  loop->divergent = sl_input_true(in, m->at[DIVERGENT]);
  return ok;
}

/* A block that is part of statement `owner`, with the comments at its end. */
static bool read_inner_block(struct sl_input *in, sl_index block, uint32_t array, uint32_t comments, uint32_t trailing,
                             unsigned depth)
{
  sl_index end_trivia = SL_NONE;
  bool ok = read_block(in, array, block, depth + 1);
  ok &= sl_input_end(in, comments, trailing, !in->kernel->blocks.data[block].first, &end_trivia);
  in->kernel->blocks.data[block].end_trivia = end_trivia;
  return ok;
}

static bool read_op_stmt(struct sl_input *in, const struct sl_members *m, sl_index stmt, unsigned depth)
{
  (void)depth;
  struct sl_op op = { 0 };
  bool ok = sl_input_op(in, m, &op);
  sl_index item = in->kernel->ops.len;
  sl_vec_add(in->kernel->heap, &in->kernel->ops, op);
  in->kernel->stmts.data[stmt].item = item;
  return ok;
}

static bool read_loop_stmt(struct sl_input *in, const struct sl_members *m, sl_index stmt, unsigned depth)
{
  struct sl_kernel *kernel = in->kernel;
  struct sl_loop loop = { 0 };
  bool ok = read_loop(in, m, &loop);
  sl_index body = loop.body = sl_block_new(kernel, stmt), item = kernel->loops.len;
  sl_vec_add(kernel->heap, &kernel->loops, loop);
  kernel->stmts.data[stmt].item = item;
  return read_inner_block(in, body, m->at[BODY], m->at[END_COMMENTS], m->at[END_TRAILING], depth) && ok;
}

enum { COND = FIRST_OWN, IF_FROM, THEN, THEN_COMMENTS, THEN_TRAILING, ELSE, ELSE_COMMENTS, ELSE_TRAILING };
static const struct sl_field if_fields[] = { COMMON_FIELDS,
                                             { "cond", TAKES_STRING | REQUIRED },
                                             { "from", TAKES_OBJECT },
                                             { "then", TAKES_ARRAY | REQUIRED },
                                             { "then_end_comments", TAKES_ARRAY },
                                             { "then_end_trailing", TAKES_STRING },
                                             { "else", TAKES_ARRAY },
                                             { "else_end_comments", TAKES_ARRAY },
                                             { "else_end_trailing", TAKES_STRING } };

static bool read_if_stmt(struct sl_input *in, const struct sl_members *m, sl_index stmt, unsigned depth)
{
  struct sl_kernel *kernel = in->kernel;
  struct sl_branch branch = { 0 };
  bool ok = sl_input_cond(in, m->at[COND], &branch.cond);
  branch.then_block = sl_block_new(kernel, stmt);
  if (m->at[ELSE])
    branch.else_block = sl_block_new(kernel, stmt);
  sl_index item = kernel->branches.len;
  sl_vec_add(kernel->heap, &kernel->branches, branch);
  kernel->stmts.data[stmt].item = item;
  if (!m->at[ELSE] && (m->at[ELSE_COMMENTS] || m->at[ELSE_TRAILING])) {
    INPUT_ERROR(in, m->object, "comments of an \"else\" that is not there");
    ok = false;
  }
  ok &= read_inner_block(in, branch.then_block, m->at[THEN], m->at[THEN_COMMENTS], m->at[THEN_TRAILING], depth);
  if (m->at[ELSE])
    ok &= read_inner_block(in, branch.else_block, m->at[ELSE], m->at[ELSE_COMMENTS], m->at[ELSE_TRAILING], depth);
  return ok;
}

static bool read_simple_stmt(struct sl_input *in, const struct sl_members *m, sl_index stmt, unsigned depth)
{
  (void)in, (void)m, (void)stmt, (void)depth;
  return true;
}

static const struct sl_field simple_fields[] = { COMMON_FIELDS };

/* Statements by enum sl_stmt_kind. */
static const struct stmt_form {
  const char *kind, *what;
  const struct sl_field *fields;
  size_t field_count;
  unsigned from; /* number of the key "from", or 0 */
  bool (*read)(struct sl_input *in, const struct sl_members *m, sl_index stmt, unsigned depth);
} stmt_forms[] = {
#define COUNT(fields) fields, sizeof fields / sizeof *fields
  { "op", "an operation", COUNT(sl_op_fields), OP_FROM, read_op_stmt },
  { "loop", "a loop", COUNT(loop_fields), LOOP_FROM, read_loop_stmt },
  { "if", "a branch", COUNT(if_fields), IF_FROM, read_if_stmt },
  { "barrier", "a barrier", COUNT(simple_fields), 0, read_simple_stmt },
  { "barrier reset", "a barrier", COUNT(simple_fields), 0, read_simple_stmt },
  { "epilogue", "an epilogue", COUNT(simple_fields), 0, read_simple_stmt },
#undef COUNT
};

static bool read_stmt_form(struct sl_input *in, uint32_t node, sl_index block, const struct stmt_form *form,
                           unsigned depth)
{
  struct sl_members m;
  sl_index trivia = SL_NONE, origin = SL_NONE;
  if (!sl_input_members(in, node, form->what, form->fields, form->field_count, &m) ||
      !sl_input_lead(in, m.at[COMMENTS], m.at[TRAILING], &trivia) ||
      !sl_input_origin(in, form->from ? m.at[form->from] : 0, &origin))
    return false;
  enum sl_stmt_kind kind = (enum sl_stmt_kind)(form - stmt_forms);
  sl_index index = sl_stmt_new(in->kernel, kind, sl_input_node(in, node)->loc);
  struct sl_stmt *stmt = &in->kernel->stmts.data[index];
  stmt->flags = read_flags(in, &m, is_first_item(in->kernel, block));
  stmt->trivia = trivia;
  stmt->origin = origin;
  sl_stmt_append(in->kernel, block, index);
  return form->read(in, &m, index, depth);
}

static bool read_stmt(struct sl_input *in, uint32_t node, sl_index block, unsigned depth)
{
  enum { FORMS = sizeof stmt_forms / sizeof *stmt_forms };
  const char *known[FORMS], *kind = read_kind(in, node, "a statement");
  if (!kind)
    return false;
  for (size_t i = 0; i < FORMS; i++) {
    known[i] = stmt_forms[i].kind;
    if (strcmp(kind, stmt_forms[i].kind) == 0)
      return read_stmt_form(in, node, block, &stmt_forms[i], depth);
  }
  unknown_kind(in, node, "a statement", kind, known, FORMS);
  return false;
}

/* Recursion is bounded by SL_NESTING_BLOCKS. */
static bool read_block(struct sl_input *in, uint32_t array, sl_index block, unsigned depth)
{
  if (depth > SL_NESTING_BLOCKS) {
    sl_error(in->report, SL_RULE_NESTING, sl_input_node(in, array)->loc, "statements nest deeper than %d levels",
             SL_NESTING_BLOCKS);
    return false;
  }
  bool ok = true;
  FOR_EACH (in, node, array)
    ok &= read_stmt(in, node, block, depth);
  return ok;
}

/* ---- dependence lines ---- */

static bool read_distance(struct sl_input *in, uint32_t node, struct sl_distance *distance)
{
  enum { LOOP, K, ACROSS };
  static const struct sl_field fields[] = { { "loop", TAKES_STRING | REQUIRED },
                                            { "k", TAKES_INT | REQUIRED },
                                            { "across", TAKES_BOOL } };
  struct sl_members m;
  int64_t k;
  if (!READ_MEMBERS(in, node, "a distance", fields, &m) || !sl_input_int(in, m.at[K], -INT32_MAX, INT32_MAX, &k))
    return false;
  distance->loop = sl_input_name(in, m.at[LOOP]);
  distance->k = (int32_t)k;
  distance->across = sl_input_true(in, m.at[ACROSS]);
  return distance->loop != 0;
}

static bool read_dep(struct sl_input *in, uint32_t node)
{
  enum { PRODUCER = FIRST_OWN, CONSUMER, DISTANCE, REASON };
  static const struct sl_field fields[] = { COMMON_FIELDS,
                                            { "producer", TAKES_STRING | REQUIRED },
                                            { "consumer", TAKES_STRING | REQUIRED },
                                            { "distance", TAKES_ARRAY },
                                            { "reason", TAKES_STRING } };
  static const char *const kinds[] = { "dep", "nodep" };
  struct sl_kernel *kernel = in->kernel;
  struct sl_members m;
  struct sl_dep dep = { .loc = sl_input_node(in, node)->loc, .first_distance = kernel->distances.len };
  if (!READ_MEMBERS(in, node, "a dependence line", fields, &m))
    return false;
  const char *kind = sl_json_string(&in->json, m.at[KIND]);
  dep.removed = strcmp(kind, kinds[1]) == 0;
  if (!dep.removed && strcmp(kind, kinds[0]) != 0) {
    unknown_kind(in, node, "a dependence line", kind, kinds, 2);
    return false;
  }
  if (dep.removed != (m.at[REASON] != 0)) {
    sl_error(in->report, SL_RULE_JSON, dep.loc, "a nodep line has a \"reason\", a dep line has none");
    return false;
  }
  bool ok = sl_input_lead(in, m.at[COMMENTS], m.at[TRAILING], &dep.trivia);
  dep.flags = read_flags(in, &m, is_first_item(kernel, kernel->root));
  ok &= (dep.producer = sl_input_label(in, m.at[PRODUCER])) != 0;
  ok &= (dep.consumer = sl_input_label(in, m.at[CONSUMER])) != 0;
  ok &= sl_input_count(in, m.at[DISTANCE], &dep.distance_count);
  if (dep.removed)
    dep.reason = sl_input_string(in, m.at[REASON]);
  FOR_EACH (in, at, ok ? m.at[DISTANCE] : 0)
    ok &= read_distance(in, at, sl_vec_push(kernel->heap, &kernel->distances));
  sl_vec_add(kernel->heap, &kernel->deps, dep);
  return ok;
}

/* ---- kernels ---- */

static bool read_each(struct sl_input *in, uint32_t array, bool (*read)(struct sl_input *in, uint32_t node))
{
  bool ok = true;
  FOR_EACH (in, node, array)
    ok &= read(in, node);
  return ok;
}

static bool read_kernel(struct sl_input *in, uint32_t node)
{
  enum { K_COMMENTS, NAME, PARAMS, TARGET, EXPLICIT, FROM, K_TRAILING, DECLS, K_BODY, DEPS, K_END, K_END_TRAILING };
  static const struct sl_field fields[] = { { "comments", TAKES_ARRAY },        { "name", TAKES_STRING | REQUIRED },
                                            { "params", TAKES_ARRAY },          { "target", TAKES_STRING | REQUIRED },
                                            { "explicit", TAKES_BOOL },         { "from", TAKES_OBJECT },
                                            { "trailing", TAKES_STRING },       { "decls", TAKES_ARRAY },
                                            { "body", TAKES_ARRAY | REQUIRED }, { "deps", TAKES_ARRAY },
                                            { "end_comments", TAKES_ARRAY },    { "end_trailing", TAKES_STRING } };
  struct sl_members m;
  struct sl_kernel *kernel = in->kernel = sl_kernel_add(in->program);
  kernel->loc = sl_input_node(in, node)->loc;
  if (!READ_MEMBERS(in, node, "a kernel", fields, &m))
    return false;
  bool ok = (kernel->name = sl_input_name(in, m.at[NAME])) != 0;
  ok &= (kernel->target = sl_input_target(in, m.at[TARGET])) != 0;
  kernel->is_explicit = sl_input_true(in, m.at[EXPLICIT]);
  ok &= sl_input_lead(in, m.at[K_COMMENTS], m.at[K_TRAILING], &kernel->trivia);
  ok &= sl_input_origin(in, m.at[FROM], &kernel->origin);
  ok &= read_each(in, m.at[PARAMS], read_param);
  ok &= read_each(in, m.at[DECLS], read_decl);
  ok &= read_block(in, m.at[K_BODY], kernel->root, 1);
  ok &= read_each(in, m.at[DEPS], read_dep);
  bool is_empty = is_first_item(kernel, kernel->root);
  return sl_input_end(in, m.at[K_END], m.at[K_END_TRAILING], is_empty, &kernel->end_trivia) && ok;
}

static bool read_header(struct sl_input *in, uint32_t array)
{
  sl_comment_lines lines = { 0 };
  bool ok = sl_input_comments(in, array, SL_BLANK_LAST, &lines);
  sl_vec_copy(&in->program->heap, &in->program->header_comments, &lines);
  return ok;
}

static bool read_footer(struct sl_input *in, uint32_t array)
{
  sl_comment_lines lines = { 0 };
  bool ok = sl_input_comments(in, array, 0, &lines);
  sl_vec_copy(&in->program->heap, &in->program->footer_comments, &lines);
  return ok;
}

static bool read_version(struct sl_input *in, uint32_t node)
{
  if (!node)
    return true;
  in->program->has_version = true;
  if (!sl_input_uint32(in, node, 0, &in->program->version))
    return false;
  if (in->program->version == SL_LANGUAGE_VERSION)
    return true;
  sl_error(in->report, SL_RULE_VERSION, sl_input_node(in, node)->loc,
           "version %u of the language is unknown; this tool knows version %d", in->program->version,
           SL_LANGUAGE_VERSION);
  return false;
}

static bool read_program(struct sl_input *in)
{
  enum { SCHEMA, VERSION, HEADER, KERNELS, FOOTER };
  static const struct sl_field fields[] = { { "schema", TAKES_STRING | REQUIRED },
                                            { "sluice", TAKES_INT },
                                            { "header_comments", TAKES_ARRAY },
                                            { "kernels", TAKES_ARRAY | REQUIRED },
                                            { "footer_comments", TAKES_ARRAY } };
  struct sl_members m;
  if (!READ_MEMBERS(in, SL_JSON_ROOT, "a program", fields, &m))
    return false;
  if (strcmp(sl_json_string(&in->json, m.at[SCHEMA]), "sluice-kernel-1") != 0) {
    sl_error(in->report, SL_RULE_VERSION, sl_input_node(in, m.at[SCHEMA])->loc,
             "unknown schema \"%.60s\"; this tool knows \"sluice-kernel-1\"", sl_json_string(&in->json, m.at[SCHEMA]));
    return false;
  }
  if (m.at[HEADER] && !m.at[VERSION]) {
    INPUT_ERROR(in, m.at[HEADER], "\"header_comments\" needs \"sluice\"");
    return false;
  }
  bool ok = read_version(in, m.at[VERSION]);
  ok &= read_header(in, m.at[HEADER]);
  ok &= read_each(in, m.at[KERNELS], read_kernel);
  return read_footer(in, m.at[FOOTER]) && ok;
}

int sl_parse_json(sl_program *program, sl_report *report)
{
  struct sl_input in = { .program = program, .report = report };
  const sl_source *source = &program->source;
  if (!sl_json_read(&in.json, &program->heap, source->text, source->length, report) || !read_program(&in))
    return SLUICE_E_INPUT;
  assert(report->errors == 0 && "an error was reported and not returned");
  sl_vec_free(&program->heap, &in.json.nodes);
  sl_vec_free(&program->heap, &in.json.text);
  return SLUICE_OK;
}
