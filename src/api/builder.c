/* builder.c: the entry points of sluice/builder.h. The builder writes the program tree directly.
 *
 * Each call packs its arguments, runs under the program's guard and leaves the tree in a state that can be freed, whatever
 * happens. Errors are kept as text until finish reports them. What is accepted is what the language can write, so that a
 * finished program can be printed and read again. O(1) per call and element.
 */
#include <sluice/builder.h>

#include <assert.h>
#include <stdlib.h>

#include "api/call.h"
#include "ir/construct.h"
#include "ir/lexer.h"
#include "ir/verify.h"

enum { EXPR_NODES = 10000 /* of one expression: shared parts count each time */ };

struct kept_error {
  enum sl_rule rule;
  const char *text;
};

/* A block that is open, and the statement that it belongs to. */
struct open_block {
  sl_index stmt, block;
};

/* What is known of an expression by its index. */
struct expr_size {
  uint32_t nodes, depth; /* nodes 0: not an expression of the builder's user */
  bool used;             /* stands in the tree already: a further use is a copy */
};

struct sluice_builder {
  sl_program *program;
  sl_heap *heap; /* of what ends with the builder; a child of the program's */
  struct sl_kernel *kernel; /* NULL between kernels */
  sl_vec(struct open_block) open;
  sl_vec(struct expr_size) sizes;
  sl_vec(struct kept_error) errors;
  bool out_of_memory;
};

/* ---- calls and errors ---- */

__attribute__((format(printf, 3, 4))) static int fail(sluice_builder *b, enum sl_rule rule, const char *format, ...)
{
  sl_buf text;
  sl_buf_init(&text, b->heap);
  va_list args;
  va_start(args, format);
  sl_buf_vprintf(&text, format, args);
  va_end(args);
  struct kept_error error = { rule, sl_buf_text(&text) };
  sl_vec_add(b->heap, &b->errors, error);
  return SLUICE_E_INPUT;
}

struct build_call {
  sluice_builder *builder;
  int (*work)(sluice_builder *b, void *arg);
  void *arg;
};

static int build_guarded(void *arg)
{
  struct build_call *call = arg;
  return call->work(call->builder, call->arg);
}

static int run(sluice_builder *b, int (*work)(sluice_builder *b, void *arg), void *arg)
{
  assert(b);
  if (b->out_of_memory)
    return SLUICE_E_NO_MEMORY;
  struct build_call call = { b, work, arg };
  int status = sl_guard_run(&b->program->guard, build_guarded, &call);
  b->out_of_memory = status == SLUICE_E_NO_MEMORY;
  return status;
}

/* The same for what needs an open kernel. */
static int in_kernel(sluice_builder *b, void *arg)
{
  const struct build_call *call = arg;
  if (!b->kernel)
    return fail(b, SL_RULE_SYNTAX, "no kernel is open");
  return call->work(b, call->arg);
}

static int run_in_kernel(sluice_builder *b, int (*work)(sluice_builder *b, void *arg), void *arg)
{
  struct build_call call = { b, work, arg };
  return run(b, in_kernel, &call);
}

/* ---- the builder's life ---- */

static int new_guarded(void *arg)
{
  sluice_builder *b = arg;
  b->heap = sl_heap_child_new(&b->program->heap);
  b->program->has_version = true;
  b->program->version = SL_LANGUAGE_VERSION;
  return SLUICE_OK;
}

int sluice_builder_new(sluice_builder **builder, const char *name)
{
  assert(builder && name);
  *builder = NULL;
  sluice_builder *b = calloc(1, sizeof *b);
  if (!b)
    return SLUICE_E_NO_MEMORY;
  b->program = sl_program_new(name, NULL, 0);
  if (!b->program || sl_guard_run(&b->program->guard, new_guarded, b) != SLUICE_OK) {
    sluice_builder_free(b);
    return SLUICE_E_NO_MEMORY;
  }
  *builder = b;
  return SLUICE_OK;
}

void sluice_builder_free(sluice_builder *builder)
{
  if (!builder)
    return;
  sluice_program_free(builder->program);
  free(builder);
}

struct finish_call {
  struct sl_call call;
  sluice_builder *builder;
};

static int finish_guarded(void *arg)
{
  struct finish_call *finish = arg;
  sluice_builder *b = finish->builder;
  if (b->kernel)
    fail(b, SL_RULE_SYNTAX, "kernel '%s' is not ended: %u open block%s", sl_text(b->program, b->kernel->name),
         b->open.len + 1, b->open.len ? "s" : "");
  for (uint32_t i = 0; i < b->errors.len; i++)
    sl_error(&finish->call.report, b->errors.data[i].rule, SL_NO_LOC, "%s", b->errors.data[i].text);
  return b->errors.len ? SLUICE_E_INPUT : SLUICE_OK;
}

int sluice_builder_finish(sluice_program **program, sluice_builder *builder, const sluice_sink *sink)
{
  assert(program && builder);
  struct finish_call finish = { .builder = builder };
  sl_call_begin(&finish.call, builder->program, sink);
  int status = builder->out_of_memory ? SLUICE_E_NO_MEMORY : sl_call_run(&finish.call, finish_guarded, &finish);
  *program = NULL;
  if (status == SLUICE_OK) {
    *program = builder->program;
    builder->program = NULL;
    sl_heap_child_free(builder->heap);
  }
  sluice_builder_free(builder);
  return status;
}

/* ---- names ---- */

/* Interns a name of the language; 0 after keeping an error. */
static sl_name take_name(sluice_builder *b, const char *what, const char *text)
{
  if (text && sl_is_name(text, strlen(text)))
    return sl_intern(b->program, text);
  fail(b, SL_RULE_SYNTAX, "%s: '%s' is not a name", what, text ? text : "");
  return 0;
}

static sl_name take_label(sluice_builder *b, const char *text)
{
  if (text && sl_is_label(text, strlen(text)))
    return sl_intern(b->program, text);
  fail(b, SL_RULE_SYNTAX, "'%s' is not a label", text ? text : "");
  return 0;
}

/* Interns a string; 0 after keeping an error. */
static sl_name take_string(sluice_builder *b, const char *what, const char *text)
{
  if (sl_is_string(text))
    return sl_intern(b->program, text);
  fail(b, SL_RULE_LITERAL, "%s: the string is not UTF-8", what);
  return 0;
}

/* Whether a number of elements fits the tree's 16 bits. */
static bool fits(sluice_builder *b, const char *what, size_t count)
{
  if (count <= UINT16_MAX)
    return true;
  fail(b, SL_RULE_SYNTAX, "more than %d %s", UINT16_MAX, what);
  return false;
}

/* ---- expressions ---- */

static struct expr_size *size_of_expr(sluice_builder *b, sl_index expr)
{
  if (b->sizes.len <= expr)
    (void)sl_vec_extend(b->heap, &b->sizes, expr + 1 - b->sizes.len);
  return &b->sizes.data[expr];
}

static int made_expr(sluice_builder *b, sl_index expr, uint32_t nodes, uint32_t depth)
{
  *size_of_expr(b, expr) = (struct expr_size){ nodes, depth, false };
  return SLUICE_OK;
}

/* Recursion is bounded by SL_NESTING_EXPR. */
static sl_index copy_expr(struct sl_kernel *kernel, sl_index expr)
{
  struct sl_expr node = kernel->exprs.data[expr];
  if (node.kind >= SL_EXPR_NEG)
    node.u.sub.lhs = copy_expr(kernel, node.u.sub.lhs);
  if (node.kind > SL_EXPR_NEG)
    node.u.sub.rhs = copy_expr(kernel, node.u.sub.rhs);
  sl_index copy = sl_expr_new(kernel, (enum sl_expr_kind)node.kind, node.loc);
  kernel->exprs.data[copy] = node;
  return copy;
}

static bool is_expr(const sluice_builder *b, sluice_expr expr)
{
  return expr < b->sizes.len && b->sizes.data[expr].nodes > 0;
}

/* An expression for one place of the tree; passes may edit expressions where they stand, so none stands in two places.
 * SL_NONE after keeping an error. */
static sl_index take_expr(sluice_builder *b, const char *what, sluice_expr expr)
{
  if (!is_expr(b, expr)) {
    fail(b, SL_RULE_SYNTAX, "%s: not an expression of the open kernel", what);
    return SL_NONE;
  }
  if (b->sizes.data[expr].used)
    return copy_expr(b->kernel, expr);
  b->sizes.data[expr].used = true;
  return expr;
}

struct expr_call {
  sluice_expr made;
  int64_t value;
  const char *text;
  enum sl_expr_kind kind;
  sluice_expr lhs, rhs;
};

static int build_int(sluice_builder *b, void *arg)
{
  struct expr_call *call = arg;
  call->made = sl_expr_int(b->kernel, call->value, SL_NO_LOC);
  return made_expr(b, call->made, 1, 1);
}

static int build_expr_name(sluice_builder *b, void *arg)
{
  struct expr_call *call = arg;
  sl_name name = take_name(b, "expression", call->text);
  if (!name)
    return SLUICE_E_INPUT;
  call->made = sl_expr_name(b->kernel, call->kind, name, SL_NO_LOC);
  return made_expr(b, call->made, 1, 1);
}

static int build_binary(sluice_builder *b, void *arg)
{
  struct expr_call *call = arg;
  if (!is_expr(b, call->lhs) || !is_expr(b, call->rhs))
    return fail(b, SL_RULE_SYNTAX, "an operand is not an expression of the open kernel");
  struct expr_size lhs_size = b->sizes.data[call->lhs], rhs_size = b->sizes.data[call->rhs];
  uint32_t nodes = lhs_size.nodes + rhs_size.nodes + 1;
  uint32_t depth = (lhs_size.depth > rhs_size.depth ? lhs_size.depth : rhs_size.depth) + 1;
  if (nodes > EXPR_NODES || depth > SL_NESTING_EXPR)
    return fail(b, SL_RULE_NESTING, "an expression has more than %d parts or nests deeper than %d levels", EXPR_NODES,
                SL_NESTING_EXPR);
  sl_index lhs = take_expr(b, "expression", call->lhs), rhs = take_expr(b, "expression", call->rhs);
  call->made = sl_expr_binary(b->kernel, call->kind, lhs, rhs, SL_NO_LOC);
  return made_expr(b, call->made, nodes, depth);
}

/* Nodes and depth of an expression just read. Recursion is bounded by the parser's limit on depth. */
static struct expr_size measure(const struct sl_kernel *kernel, sl_index expr)
{
  const struct sl_expr *node = &kernel->exprs.data[expr];
  struct expr_size size = { 1, 1, false };
  if (node->kind >= SL_EXPR_NEG) {
    struct expr_size lhs = measure(kernel, node->u.sub.lhs), rhs = { 0, 0, false };
    if (node->kind > SL_EXPR_NEG)
      rhs = measure(kernel, node->u.sub.rhs);
    size.nodes += lhs.nodes + rhs.nodes;
    size.depth += lhs.depth > rhs.depth ? lhs.depth : rhs.depth;
  }
  return size;
}

/* Takes a reporter whose sink keeps each message as an error of the builder. */
static void keep_diag(void *user, const sluice_diag *diag)
{
  enum sl_rule rule = strcmp(diag->rule, sl_rule_id(SL_RULE_NESTING)) == 0 ? SL_RULE_NESTING : SL_RULE_SYNTAX;
  fail(user, rule, "%s", diag->text);
}

static int build_text(sluice_builder *b, void *arg)
{
  struct expr_call *call = arg;
  const sluice_sink sink = { keep_diag, b };
  sl_report report;
  sl_report_init(&report, b->heap, &sink, &b->program->source);
  sl_index expr = sl_expr_from_text(b->program, b->kernel, call->text, SL_NO_LOC, &report);
  if (!expr)
    return SLUICE_E_INPUT;
  struct expr_size size = measure(b->kernel, expr);
  call->made = expr;
  return made_expr(b, expr, size.nodes, size.depth);
}

static sluice_expr expr_result(sluice_builder *b, int (*work)(sluice_builder *b, void *arg), struct expr_call *call)
{
  return run_in_kernel(b, work, call) == SLUICE_OK ? call->made : 0;
}

sluice_expr sluice_expr_int(sluice_builder *builder, int64_t value)
{
  struct expr_call call = { .value = value };
  return expr_result(builder, build_int, &call);
}

sluice_expr sluice_expr_name(sluice_builder *builder, const char *name)
{
  struct expr_call call = { .text = name, .kind = SL_EXPR_NAME };
  return expr_result(builder, build_expr_name, &call);
}

sluice_expr sluice_expr_register(sluice_builder *builder, const char *name)
{
  struct expr_call call = { .text = name, .kind = SL_EXPR_REG };
  return expr_result(builder, build_expr_name, &call);
}

sluice_expr sluice_expr_binary(sluice_builder *builder, enum sluice_binary op, sluice_expr a, sluice_expr b)
{
  static const enum sl_expr_kind kinds[] = { SL_EXPR_ADD, SL_EXPR_SUB, SL_EXPR_MUL, SL_EXPR_DIV, SL_EXPR_MOD };
  assert((unsigned)op < sizeof kinds / sizeof *kinds);
  struct expr_call call = { .kind = kinds[op], .lhs = a, .rhs = b };
  return expr_result(builder, build_binary, &call);
}

sluice_expr sluice_expr_text(sluice_builder *builder, const char *text)
{
  assert(text);
  struct expr_call call = { .text = text };
  return expr_result(builder, build_text, &call);
}

static bool take_comparison(sluice_builder *b, const sluice_comparison *from, struct sl_cmp *to)
{
  static const uint8_t ops[] = { SL_CMP_EQ, SL_CMP_NE, SL_CMP_LT, SL_CMP_LE, SL_CMP_GT, SL_CMP_GE };
  if (from->opaque) {
    to->op = SL_CMP_OPAQUE;
    return (to->opaque = take_name(b, "condition", from->opaque)) != 0;
  }
  assert((unsigned)from->op < sizeof ops);
  to->op = ops[from->op];
  to->lhs = take_expr(b, "condition", from->a);
  to->rhs = take_expr(b, "condition", from->b);
  return to->lhs && to->rhs;
}

static bool take_condition(sluice_builder *b, const sluice_condition *from, struct sl_cond *to)
{
  if (!from || from->count == 0) {
    fail(b, SL_RULE_SYNTAX, "a condition needs a comparison");
    return false;
  }
  if (!fits(b, "comparisons", from->count))
    return false;
  to->first = b->kernel->cmps.len;
  to->count = (uint16_t)from->count;
  to->any = from->any && from->count > 1;
  bool ok = true;
  for (size_t i = 0; i < from->count; i++) {
    struct sl_cmp cmp = { 0 };
    ok &= take_comparison(b, &from->comparisons[i], &cmp);
    sl_vec_add(b->kernel->heap, &b->kernel->cmps, cmp);
  }
  return ok;
}

static bool take_attribute(sluice_builder *b, const sluice_attribute *from, struct sl_attr *to)
{
  if (!!from->value + !!from->condition + !!from->number + !!from->string != 1) {
    fail(b, SL_RULE_SYNTAX, "attribute '%s' needs exactly one value", from->name ? from->name : "");
    return false;
  }
  to->name = take_name(b, "attribute", from->name);
  if (from->value) {
    to->kind = SL_ATTR_EXPR;
    return (to->expr = take_expr(b, "attribute", from->value)) && to->name;
  }
  if (from->condition) {
    to->kind = SL_ATTR_COND;
    return take_condition(b, from->condition, &to->cond) && to->name;
  }
  to->kind = from->number ? SL_ATTR_FLOAT : SL_ATTR_STRING;
  if (from->number && !sl_is_float(from->number, strlen(from->number))) {
    fail(b, SL_RULE_LITERAL, "'%s' is not a floating-point number", from->number);
    return false;
  }
  to->text = take_string(b, "attribute", from->number ? from->number : from->string);
  return to->name && to->text;
}

/* ---- kernels and declarations ---- */

struct kernel_call {
  const char *name, *target;
  unsigned flags;
};

static int build_kernel(sluice_builder *b, void *arg)
{
  const struct kernel_call *call = arg;
  if (b->kernel)
    return fail(b, SL_RULE_SYNTAX, "kernel '%s' begins inside of kernel '%s'", call->name,
                sl_text(b->program, b->kernel->name));
  b->open.len = b->sizes.len = 0;
  b->kernel = sl_kernel_add(b->program);
  b->kernel->is_explicit = call->flags & SLUICE_KERNEL_EXPLICIT;
  b->kernel->name = take_name(b, "kernel", call->name);
  if (!call->target || !sl_is_target_name(call->target, strlen(call->target)))
    return fail(b, SL_RULE_SYNTAX, "'%s' is not the name of a target", call->target ? call->target : "");
  b->kernel->target = sl_intern(b->program, call->target);
  return b->kernel->name ? SLUICE_OK : SLUICE_E_INPUT;
}

int sluice_build_kernel(sluice_builder *builder, const char *name, const char *target, unsigned flags)
{
  struct kernel_call call = { name, target, flags };
  return run(builder, build_kernel, &call);
}

static void add_decl(sluice_builder *b, enum sl_decl_kind kind, uint32_t item)
{
  struct sl_decl decl = { .kind = (uint8_t)kind, .item = item };
  sl_vec_add(b->kernel->heap, &b->kernel->decls, decl);
}

struct decl_call {
  const char *name, *a, *b;
  uint32_t number;
  sluice_expr value;
  bool is_static;
};

static int build_param(sluice_builder *b, void *arg)
{
  const struct decl_call *call = arg;
  struct sl_param param = { .name = take_name(b, "parameter", call->name), .is_static = call->is_static };
  if (call->value)
    param.value = take_expr(b, "parameter", call->value);
  if (!param.name || (call->value && !param.value))
    return SLUICE_E_INPUT;
  sl_vec_add(b->kernel->heap, &b->kernel->params, param);
  return SLUICE_OK;
}

int sluice_build_param(sluice_builder *builder, const char *name, sluice_expr value, bool is_static)
{
  struct decl_call call = { .name = name, .value = value, .is_static = is_static };
  return run_in_kernel(builder, build_param, &call);
}

static int build_queue(sluice_builder *b, void *arg)
{
  const struct decl_call *call = arg;
  sl_name name = take_name(b, "queue", call->name), trigger = call->a ? take_name(b, "trigger", call->a) : 0;
  if (!name || (call->a && !trigger))
    return SLUICE_E_INPUT;
  uint32_t stream = sl_queue_declare(b->kernel, name, trigger, SL_NO_LOC);
  if (stream == SL_NO_STREAM)
    return fail(b, SL_RULE_REDEFINED, "queue '%s' is declared twice, or after its first use", call->name);
  add_decl(b, SL_DECL_QUEUE, stream);
  return SLUICE_OK;
}

int sluice_build_queue(sluice_builder *builder, const char *name, const char *trigger)
{
  struct decl_call call = { .name = name, .a = trigger };
  return run_in_kernel(builder, build_queue, &call);
}

struct buffer_call {
  const char *name, *space, *type;
  const sluice_expr *dims;
  size_t dim_count;
  int partition_dim;
};

static int build_buffer(sluice_builder *b, void *arg)
{
  const struct buffer_call *call = arg;
  struct sl_kernel *kernel = b->kernel;
  if (call->dim_count == 0)
    return fail(b, SL_RULE_SYNTAX, "buffer '%s' has no dimension", call->name);
  if (!fits(b, "dimensions", call->dim_count))
    return SLUICE_E_INPUT;
  struct sl_buffer buffer = { .name = take_name(b, "buffer", call->name),
                              .space = take_name(b, "space", call->space),
                              .type = take_name(b, "type", call->type),
                              .first_dim = kernel->dims.len,
                              .dim_count = (uint16_t)call->dim_count };
  bool ok = buffer.name && buffer.space && buffer.type;
  for (size_t i = 0; i < call->dim_count; i++) {
    struct sl_dim dim = { take_expr(b, "dimension", call->dims[i]), (int64_t)i == call->partition_dim };
    ok &= dim.size != SL_NONE;
    sl_vec_add(kernel->heap, &kernel->dims, dim);
  }
  if (!ok)
    return SLUICE_E_INPUT;
  add_decl(b, SL_DECL_BUFFER, kernel->buffers.len);
  sl_vec_add(kernel->heap, &kernel->buffers, buffer);
  return SLUICE_OK;
}

int sluice_build_buffer(sluice_builder *builder, const char *name, const char *space, const char *type,
                        const sluice_expr *dims, size_t dim_count, int partition_dim)
{
  struct buffer_call call = { name, space, type, dims, dim_count, partition_dim };
  return run_in_kernel(builder, build_buffer, &call);
}

/* The newest buffer, or NULL after keeping an error. */
static struct sl_buffer *newest_buffer(sluice_builder *b)
{
  if (b->kernel->buffers.len > 1)
    return &b->kernel->buffers.data[b->kernel->buffers.len - 1];
  fail(b, SL_RULE_SYNTAX, "no buffer is declared yet");
  return NULL;
}

struct place_call {
  int64_t partition_start;
  sluice_expr address;
};

static int build_buffer_at(sluice_builder *b, void *arg)
{
  const struct place_call *call = arg;
  struct sl_buffer *buffer = newest_buffer(b);
  sl_index address = take_expr(b, "address", call->address);
  if (!buffer || !address)
    return SLUICE_E_INPUT;
  buffer->has_address = true;
  buffer->address = address;
  buffer->has_partition_start = call->partition_start >= 0;
  buffer->partition_start = call->partition_start >= 0 ? call->partition_start : 0;
  return SLUICE_OK;
}

int sluice_build_buffer_at(sluice_builder *builder, int64_t partition_start, sluice_expr address)
{
  struct place_call call = { partition_start, address };
  return run_in_kernel(builder, build_buffer_at, &call);
}

static int build_buffer_attribute(sluice_builder *b, void *arg)
{
  struct sl_kernel *kernel = b->kernel;
  struct sl_buffer *buffer = newest_buffer(b);
  struct sl_attr attr = { 0 };
  if (!buffer || !take_attribute(b, arg, &attr) || !fits(b, "attributes", buffer->attr_count + 1u))
    return SLUICE_E_INPUT;
  if (buffer->attr_count == 0)
    buffer->first_attr = kernel->attrs.len;
  if (buffer->first_attr + buffer->attr_count != kernel->attrs.len)
    return fail(b, SL_RULE_SYNTAX, "an operation stands between the attributes of buffer '%s'",
                sl_text(b->program, buffer->name));
  sl_vec_add(kernel->heap, &kernel->attrs, attr);
  buffer->attr_count++;
  return SLUICE_OK;
}

int sluice_build_buffer_attribute(sluice_builder *builder, const sluice_attribute *attribute)
{
  assert(attribute);
  sluice_attribute copy = *attribute;
  return run_in_kernel(builder, build_buffer_attribute, &copy);
}

static int build_alias(sluice_builder *b, void *arg)
{
  const struct decl_call *call = arg;
  struct sl_alias alias = { take_name(b, "alias", call->a), take_name(b, "alias", call->b) };
  if (!alias.a || !alias.b)
    return SLUICE_E_INPUT;
  add_decl(b, SL_DECL_ALIAS, b->kernel->aliases.len);
  sl_vec_add(b->kernel->heap, &b->kernel->aliases, alias);
  return SLUICE_OK;
}

int sluice_build_alias(sluice_builder *builder, const char *buffer, const char *other)
{
  struct decl_call call = { .a = buffer, .b = other };
  return run_in_kernel(builder, build_alias, &call);
}

static int build_semaphore(sluice_builder *b, void *arg)
{
  const struct decl_call *call = arg;
  struct sl_sem sem = { .name = take_name(b, "semaphore", call->name), .initial = call->number };
  if (!sem.name)
    return SLUICE_E_INPUT;
  add_decl(b, SL_DECL_SEM, b->kernel->sems.len);
  sl_vec_add(b->kernel->heap, &b->kernel->sems, sem);
  return SLUICE_OK;
}

int sluice_build_semaphore(sluice_builder *builder, const char *name, uint32_t initial)
{
  struct decl_call call = { .name = name, .number = initial };
  return run_in_kernel(builder, build_semaphore, &call);
}

static int build_event(sluice_builder *b, void *arg)
{
  const struct decl_call *call = arg;
  struct sl_event event = { .name = take_name(b, "event", call->name),
                            .from = take_name(b, "stream", call->a),
                            .to = take_name(b, "stream", call->b),
                            .is_array = call->number > 0,
                            .count = call->number ? call->number : 1 };
  if (!event.name || !event.from || !event.to)
    return SLUICE_E_INPUT;
  add_decl(b, SL_DECL_EVENT, b->kernel->events.len);
  sl_vec_add(b->kernel->heap, &b->kernel->events, event);
  return SLUICE_OK;
}

int sluice_build_event(sluice_builder *builder, const char *name, uint32_t count, const char *from, const char *to)
{
  struct decl_call call = { .name = name, .a = from, .b = to, .number = count };
  return run_in_kernel(builder, build_event, &call);
}

/* ---- operations ---- */

static sl_index current_block(const sluice_builder *b)
{
  return b->open.len ? b->open.data[b->open.len - 1].block : b->kernel->root;
}

/* An empty line sets the statements off from the declarations, and the dependence lines from both. */
static uint8_t first_of_section(const sluice_builder *b, bool is_first)
{
  bool something_before = b->kernel->decls.len || b->kernel->blocks.data[b->kernel->root].first;
  return is_first && something_before ? SL_BLANK_BEFORE : 0;
}

static sl_index append_stmt(sluice_builder *b, enum sl_stmt_kind kind)
{
  bool is_first = !b->kernel->blocks.data[b->kernel->root].first;
  sl_index stmt = sl_stmt_new(b->kernel, kind, SL_NO_LOC);
  b->kernel->stmts.data[stmt].flags |= first_of_section(b, is_first);
  sl_stmt_append(b->kernel, current_block(b), stmt);
  return stmt;
}

static bool take_index(sluice_builder *b, const sluice_index *from, struct sl_access_index *to)
{
  static const uint8_t kinds[] = { SL_INDEX_AT, SL_INDEX_RANGE, SL_INDEX_LENGTH, SL_INDEX_ALL, SL_INDEX_ANY };
  assert((unsigned)from->kind < sizeof kinds);
  to->kind = kinds[from->kind];
  if (from->kind >= SLUICE_INDEX_ALL)
    return true;
  to->first = take_expr(b, "index", from->first);
  if (from->kind != SLUICE_INDEX_AT)
    to->second = take_expr(b, "index", from->second);
  return to->first && (to->second || from->kind == SLUICE_INDEX_AT);
}

static bool take_operand(sluice_builder *b, const sluice_operand *from)
{
  struct sl_kernel *kernel = b->kernel;
  struct sl_operand to = { .kind = SL_OPERAND_NAME, .value = from->value };
  bool ok = fits(b, "indices", from->index_count);
  if (from->kind == SLUICE_OPERAND_INT) {
    to.kind = SL_OPERAND_INT;
    if (from->value < 0) {
      fail(b, SL_RULE_LITERAL, "an operand cannot be the negative number %lld", (long long)from->value);
      ok = false;
    }
  } else {
    if (from->kind == SLUICE_OPERAND_REGISTER)
      to.kind = SL_OPERAND_REG;
    sl_name name = take_name(b, "operand", from->name);
    to.value = name;
    ok &= name != 0;
  }
  if (from->kind == SLUICE_OPERAND_MEMORY && ok) {
    to.read_write = from->read_write;
    to.indexed = from->index_count > 0;
    to.index_count = (uint16_t)from->index_count;
    to.first_index = kernel->indices.len;
    for (size_t i = 0; i < from->index_count; i++) {
      struct sl_access_index index = { 0 };
      ok &= take_index(b, &from->indices[i], &index);
      sl_vec_add(kernel->heap, &kernel->indices, index);
    }
  }
  sl_vec_add(kernel->heap, &kernel->operands, to);
  return ok;
}

static bool take_wait(sluice_builder *b, const sluice_wait *from, struct sl_gate *to)
{
  if (!from->semaphore == !from->event) {
    fail(b, SL_RULE_SYNTAX, "a wait is on a semaphore or on an event");
    return false;
  }
  to->name = take_name(b, "wait", from->event ? from->event : from->semaphore);
  if (from->event) {
    to->kind = SL_GATE_EVENT;
    if (from->event_index)
      to->event_index = take_expr(b, "wait", from->event_index);
    return to->name && (to->event_index || !from->event_index);
  }
  to->kind = SL_GATE_SEM;
  to->equal = from->equal;
  to->threshold = from->reg ? SL_THRESHOLD_REG : from->name ? SL_THRESHOLD_NAME : SL_THRESHOLD_INT;
  to->value = from->value;
  if (to->threshold != SL_THRESHOLD_INT)
    to->value = take_name(b, "wait", from->reg ? from->reg : from->name);
  return to->name && (to->value || to->threshold == SL_THRESHOLD_INT);
}

static bool take_update(sluice_builder *b, const sluice_update *from, struct sl_inc *to)
{
  if (from->by == 0) {
    fail(b, SL_RULE_SYNTAX, "an update is by 1 or more");
    return false;
  }
  to->by = from->by;
  return (to->sem = take_name(b, "update", from->semaphore)) != 0;
}

static bool take_set(sluice_builder *b, const sluice_event_set *from, struct sl_event_set *to)
{
  to->event = take_name(b, "set", from->event);
  if (from->index)
    to->index = take_expr(b, "set", from->index);
  return to->event && (to->index || !from->index);
}

/* Each element is taken before it is added, because taking may add to other arrays only. */
static bool take_clauses(sluice_builder *b, const sluice_op *from, struct sl_op *to)
{
  struct sl_kernel *kernel = b->kernel;
  bool ok = true;
  to->first_attr = kernel->attrs.len;
  to->attr_count = (uint16_t)from->attribute_count;
  for (size_t i = 0; i < from->attribute_count; i++)
    ok &= take_attribute(b, &from->attributes[i], sl_vec_push(kernel->heap, &kernel->attrs));
  to->first_wait = kernel->waits.len;
  to->wait_count = (uint16_t)from->wait_count;
  for (size_t i = 0; i < from->wait_count; i++)
    ok &= take_wait(b, &from->waits[i], sl_vec_push(kernel->heap, &kernel->waits));
  to->first_inc = kernel->incs.len;
  to->inc_count = (uint16_t)from->update_count;
  for (size_t i = 0; i < from->update_count; i++)
    ok &= take_update(b, &from->updates[i], sl_vec_push(kernel->heap, &kernel->incs));
  to->first_set = kernel->sets.len;
  to->set_count = (uint16_t)from->set_count;
  for (size_t i = 0; i < from->set_count; i++)
    ok &= take_set(b, &from->sets[i], sl_vec_push(kernel->heap, &kernel->sets));
  return ok;
}

/* Destinations and sources. Register operations and the like take theirs behind commas, all counted as destinations. */
static bool take_operands(sluice_builder *b, const sluice_op *from, struct sl_op *to)
{
  uint8_t op_class = sl_opcode_table[to->code].op_class;
  bool has_arrow = from->source_count > 0 && (op_class == SL_CLASS_DATAPATH || op_class == SL_CLASS_LOAD);
  bool ok = true;
  to->first_operand = b->kernel->operands.len;
  to->has_arrow = has_arrow;
  to->dst_count = (uint16_t)(from->destination_count + (has_arrow ? 0 : from->source_count));
  to->src_count = (uint16_t)(has_arrow ? from->source_count : 0);
  for (size_t i = 0; i < from->destination_count; i++)
    ok &= take_operand(b, &from->destinations[i]);
  for (size_t i = 0; i < from->source_count; i++)
    ok &= take_operand(b, &from->sources[i]);
  return ok;
}

static bool counts_fit(sluice_builder *b, const sluice_op *op)
{
  bool ok = fits(b, "operands", op->destination_count) && fits(b, "operands", op->source_count);
  return ok && fits(b, "operands", op->destination_count + op->source_count) &&
         fits(b, "attributes", op->attribute_count) && fits(b, "waits", op->wait_count) &&
         fits(b, "updates", op->update_count) && fits(b, "sets", op->set_count);
}

static int build_op(sluice_builder *b, void *arg)
{
  const sluice_op *from = arg;
  struct sl_op op = { 0 };
  if (!from->stream || !sl_op_set_streams(b->program, b->kernel, &op, from->stream, SL_NO_LOC))
    return fail(b, SL_RULE_SYNTAX, "'%s' is not a stream, nor streams joined by '|', nor '*'",
                from->stream ? from->stream : "");
  op.opcode = take_name(b, "opcode", from->opcode);
  if (!op.opcode || !counts_fit(b, from))
    return SLUICE_E_INPUT;
  op.code = (uint8_t)sl_opcode_find(from->opcode, strlen(from->opcode));
  if (from->label)
    op.label = take_label(b, from->label);
  bool ok = take_operands(b, from, &op);
  ok &= take_clauses(b, from, &op);
  struct sl_origin_loc origin = { 0, from->origin_line, from->origin_column };
  if (from->origin_file)
    ok &= (origin.file = take_string(b, "origin", from->origin_file)) != 0;
  if (!ok || (from->label && !op.label))
    return SLUICE_E_INPUT;
  sl_index stmt = append_stmt(b, SL_STMT_OP);
  b->kernel->stmts.data[stmt].item = b->kernel->ops.len;
  sl_vec_add(b->kernel->heap, &b->kernel->ops, op);
  if (origin.file) {
    b->kernel->stmts.data[stmt].origin = b->kernel->origins.len;
    sl_vec_add(b->kernel->heap, &b->kernel->origins, origin);
  }
  return SLUICE_OK;
}

int sluice_build_op(sluice_builder *builder, const sluice_op *op)
{
  assert(op);
  sluice_op copy = *op;
  return run_in_kernel(builder, build_op, &copy);
}

/* ---- loops and branches ---- */

static int open_block(sluice_builder *b, sl_index stmt, sl_index block)
{
  struct open_block open = { stmt, block };
  if (b->open.len + 1 >= SL_NESTING_BLOCKS) /* the kernel's own block counts */
    return fail(b, SL_RULE_NESTING, "blocks nest deeper than %d", SL_NESTING_BLOCKS);
  sl_vec_add(b->heap, &b->open, open);
  return SLUICE_OK;
}

struct loop_call {
  const char *var;
  bool has_range, short_range;
  sluice_expr lo, hi, step;
  const sluice_condition *condition;
  unsigned flags;
};

/* The step is a positive number: the language has no other. */
static bool take_step(sluice_builder *b, sluice_expr step, struct sl_loop *loop)
{
  if (!step)
    return true;
  loop->step = take_expr(b, "step", step);
  if (loop->step && b->kernel->exprs.data[loop->step].kind == SL_EXPR_INT)
    return true;
  fail(b, SL_RULE_SYNTAX, "the step of a loop is a number");
  return false;
}

static int build_loop(sluice_builder *b, void *arg)
{
  const struct loop_call *call = arg;
  struct sl_kernel *kernel = b->kernel;
  struct sl_loop loop = { .var = take_name(b, "loop", call->var),
                          .has_range = call->has_range,
                          .short_range = call->short_range,
                          .divergent = call->flags & SLUICE_LOOP_DIVERGENT };
  bool ok = loop.var != 0;
  if (call->has_range) {
    ok &= (loop.hi = take_expr(b, "loop", call->hi)) != SL_NONE;
    if (!call->short_range)
      ok &= (loop.lo = take_expr(b, "loop", call->lo)) != SL_NONE;
    ok &= take_step(b, call->step, &loop);
  } else {
    ok &= take_condition(b, call->condition, &loop.while_cond);
  }
  /* Also a loop with an error is opened, so that its end finds it. */
  sl_index stmt = append_stmt(b, SL_STMT_LOOP);
  loop.body = sl_block_new(kernel, stmt);
  kernel->stmts.data[stmt].item = kernel->loops.len;
  sl_vec_add(kernel->heap, &kernel->loops, loop);
  int status = open_block(b, stmt, loop.body);
  return ok ? status : SLUICE_E_INPUT;
}

int sluice_build_loop(sluice_builder *builder, const char *var, sluice_expr bound, unsigned flags)
{
  struct loop_call call = { .var = var, .has_range = true, .short_range = true, .hi = bound, .flags = flags };
  return run_in_kernel(builder, build_loop, &call);
}

int sluice_build_loop_range(sluice_builder *builder, const char *var, sluice_expr lo, sluice_expr hi,
                            sluice_expr step, unsigned flags)
{
  struct loop_call call = { .var = var, .has_range = true, .lo = lo, .hi = hi, .step = step, .flags = flags };
  return run_in_kernel(builder, build_loop, &call);
}

int sluice_build_while(sluice_builder *builder, const char *var, const sluice_condition *condition, unsigned flags)
{
  struct loop_call call = { .var = var, .condition = condition, .flags = flags };
  return run_in_kernel(builder, build_loop, &call);
}

/* The innermost open statement when it is of the kind, else NULL. */
static struct sl_stmt *innermost(const sluice_builder *b, enum sl_stmt_kind kind)
{
  if (!b->open.len)
    return NULL;
  struct sl_stmt *stmt = &b->kernel->stmts.data[b->open.data[b->open.len - 1].stmt];
  return stmt->kind == kind ? stmt : NULL;
}

static int build_unroll(sluice_builder *b, void *arg)
{
  const uint32_t *copies = arg;
  const struct sl_stmt *stmt = innermost(b, SL_STMT_LOOP);
  if (!stmt || *copies == 0)
    return fail(b, SL_RULE_SYNTAX, stmt ? "unrolling makes 1 copy or more" : "unrolling needs an open loop");
  b->kernel->loops.data[stmt->item].unroll = *copies;
  return SLUICE_OK;
}

int sluice_build_unroll(sluice_builder *builder, uint32_t copies)
{
  return run_in_kernel(builder, build_unroll, &copies);
}

static int build_if(sluice_builder *b, void *arg)
{
  const sluice_condition *const *condition = arg;
  struct sl_kernel *kernel = b->kernel;
  struct sl_branch branch = { 0 };
  bool ok = take_condition(b, *condition, &branch.cond);
  sl_index stmt = append_stmt(b, SL_STMT_IF);
  branch.then_block = sl_block_new(kernel, stmt);
  kernel->stmts.data[stmt].item = kernel->branches.len;
  sl_vec_add(kernel->heap, &kernel->branches, branch);
  int status = open_block(b, stmt, branch.then_block);
  return ok ? status : SLUICE_E_INPUT;
}

int sluice_build_if(sluice_builder *builder, const sluice_condition *condition)
{
  return run_in_kernel(builder, build_if, &condition);
}

static int build_else(sluice_builder *b, void *arg)
{
  (void)arg;
  const struct sl_stmt *stmt = innermost(b, SL_STMT_IF);
  if (!stmt || b->kernel->branches.data[stmt->item].else_block)
    return fail(b, SL_RULE_SYNTAX, "else without an open branch");
  struct open_block *open = &b->open.data[b->open.len - 1];
  sl_index item = stmt->item, block = sl_block_new(b->kernel, open->stmt);
  b->kernel->branches.data[item].else_block = open->block = block;
  return SLUICE_OK;
}

int sluice_build_else(sluice_builder *builder)
{
  return run_in_kernel(builder, build_else, NULL);
}

static int build_end(sluice_builder *b, void *arg)
{
  (void)arg;
  if (b->open.len)
    b->open.len--;
  else
    b->kernel = NULL;
  return SLUICE_OK;
}

int sluice_build_end(sluice_builder *builder)
{
  return run_in_kernel(builder, build_end, NULL);
}

static int build_simple(sluice_builder *b, void *arg)
{
  const enum sl_stmt_kind *kind = arg;
  append_stmt(b, *kind);
  return SLUICE_OK;
}

int sluice_build_barrier(sluice_builder *builder, bool reset)
{
  enum sl_stmt_kind kind = reset ? SL_STMT_BARRIER_RESET : SL_STMT_BARRIER;
  return run_in_kernel(builder, build_simple, &kind);
}

int sluice_build_epilogue(sluice_builder *builder)
{
  enum sl_stmt_kind kind = SL_STMT_EPILOGUE;
  return run_in_kernel(builder, build_simple, &kind);
}

/* ---- dependence lines ---- */

struct dep_call {
  const char *producer, *consumer;
  const sluice_distance *distances;
  size_t count;
  const char *reason; /* of a nodep line */
};

static int build_dep(sluice_builder *b, void *arg)
{
  const struct dep_call *call = arg;
  struct sl_kernel *kernel = b->kernel;
  if (!fits(b, "distances", call->count))
    return SLUICE_E_INPUT;
  struct sl_dep dep = { .producer = take_label(b, call->producer),
                        .consumer = take_label(b, call->consumer),
                        .removed = call->reason != NULL,
                        .flags = first_of_section(b, kernel->deps.len == 0),
                        .distance_count = (uint16_t)call->count,
                        .first_distance = kernel->distances.len };
  bool ok = dep.producer && dep.consumer;
  for (size_t i = 0; i < call->count; i++) {
    struct sl_distance distance = { take_name(b, "dependence", call->distances[i].loop), call->distances[i].k };
    ok &= distance.loop != 0;
    sl_vec_add(kernel->heap, &kernel->distances, distance);
  }
  if (call->reason)
    ok &= (dep.reason = take_string(b, "reason", call->reason)) != 0;
  if (ok)
    sl_vec_add(kernel->heap, &kernel->deps, dep);
  return ok ? SLUICE_OK : SLUICE_E_INPUT;
}

int sluice_build_dep(sluice_builder *builder, const char *producer, const char *consumer,
                     const sluice_distance *distances, size_t count)
{
  struct dep_call call = { producer, consumer, distances, count, NULL };
  return run_in_kernel(builder, build_dep, &call);
}

int sluice_build_nodep(sluice_builder *builder, const char *producer, const char *consumer,
                       const sluice_distance *distances, size_t count, const char *reason)
{
  assert(reason);
  struct dep_call call = { producer, consumer, distances, count, reason };
  return run_in_kernel(builder, build_dep, &call);
}
