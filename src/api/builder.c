/* builder.c: the life of a builder (sluice/builder.h), its names and its expressions.
 *
 * The builder writes the program tree directly. Each call packs its arguments, runs under the program's guard and
 * leaves the tree in a state that can be freed, whatever happens. Errors are kept as text until finish reports them.
 * What is accepted is what the language can write, so that a finished program can be printed and read again. O(1) per
 * call and element.
 */
#include "api/builder_parts.h"

#include <assert.h>
#include <stdlib.h>

#include "api/call.h"
#include "ir/lexer.h"
#include "ir/verify.h"

enum { EXPR_NODES = 10000 /* of one expression: shared parts count each time */ };

/* ---- calls and errors ---- */

int sl_builder_fail(sluice_builder *b, enum sl_rule rule, const char *format, ...)
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

int sl_builder_run(sluice_builder *b, int (*work)(sluice_builder *b, void *arg), void *arg)
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
    return sl_builder_fail(b, SL_RULE_SYNTAX, "no kernel is open");
  return call->work(b, call->arg);
}

int sl_builder_run_in_kernel(sluice_builder *b, int (*work)(sluice_builder *b, void *arg), void *arg)
{
  struct build_call call = { b, work, arg };
  return sl_builder_run(b, in_kernel, &call);
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
    sl_builder_fail(b, SL_RULE_SYNTAX, "kernel '%s' is not ended: %u open block%s",
                    sl_text(b->program, b->kernel->name), b->open.len + 1, b->open.len ? "s" : "");
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
sl_name sl_builder_name(sluice_builder *b, const char *what, const char *text)
{
  if (text && sl_is_name(text, strlen(text)))
    return sl_intern(b->program, text);
  sl_builder_fail(b, SL_RULE_SYNTAX, "%s: '%s' is not a name", what, text ? text : "");
  return 0;
}

sl_name sl_builder_label(sluice_builder *b, const char *text)
{
  if (text && sl_is_label(text, strlen(text)))
    return sl_intern(b->program, text);
  sl_builder_fail(b, SL_RULE_SYNTAX, "'%s' is not a label", text ? text : "");
  return 0;
}

/* Interns a string; 0 after keeping an error. */
sl_name sl_builder_string(sluice_builder *b, const char *what, const char *text)
{
  if (sl_is_string(text))
    return sl_intern(b->program, text);
  sl_builder_fail(b, SL_RULE_LITERAL, "%s: the string is not UTF-8", what);
  return 0;
}

/* Whether a number of elements fits the tree's 16 bits. */
bool sl_builder_fits(sluice_builder *b, const char *what, size_t count)
{
  if (count <= UINT16_MAX)
    return true;
  sl_builder_fail(b, SL_RULE_SYNTAX, "more than %d %s", UINT16_MAX, what);
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
sl_index sl_builder_expr(sluice_builder *b, const char *what, sluice_expr expr)
{
  if (!is_expr(b, expr)) {
    sl_builder_fail(b, SL_RULE_SYNTAX, "%s: not an expression of the open kernel", what);
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
  sl_name name = sl_builder_name(b, "expression", call->text);
  if (!name)
    return SLUICE_E_INPUT;
  call->made = sl_expr_name(b->kernel, call->kind, name, SL_NO_LOC);
  return made_expr(b, call->made, 1, 1);
}

static int build_binary(sluice_builder *b, void *arg)
{
  struct expr_call *call = arg;
  if (!is_expr(b, call->lhs) || !is_expr(b, call->rhs))
    return sl_builder_fail(b, SL_RULE_SYNTAX, "an operand is not an expression of the open kernel");
  struct expr_size lhs_size = b->sizes.data[call->lhs], rhs_size = b->sizes.data[call->rhs];
  uint32_t nodes = lhs_size.nodes + rhs_size.nodes + 1;
  uint32_t depth = (lhs_size.depth > rhs_size.depth ? lhs_size.depth : rhs_size.depth) + 1;
  if (nodes > EXPR_NODES || depth > SL_NESTING_EXPR)
    return sl_builder_fail(b, SL_RULE_NESTING, "an expression has more than %d parts or nests deeper than %d levels",
                           EXPR_NODES, SL_NESTING_EXPR);
  sl_index lhs = sl_builder_expr(b, "expression", call->lhs), rhs = sl_builder_expr(b, "expression", call->rhs);
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
  sl_builder_fail(user, rule, "%s", diag->text);
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
  return sl_builder_run_in_kernel(b, work, call) == SLUICE_OK ? call->made : 0;
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
    return (to->opaque = sl_builder_name(b, "condition", from->opaque)) != 0;
  }
  assert((unsigned)from->op < sizeof ops);
  to->op = ops[from->op];
  to->lhs = sl_builder_expr(b, "condition", from->a);
  to->rhs = sl_builder_expr(b, "condition", from->b);
  return to->lhs && to->rhs;
}

bool sl_builder_condition(sluice_builder *b, const sluice_condition *from, struct sl_cond *to)
{
  if (!from || from->count == 0) {
    sl_builder_fail(b, SL_RULE_SYNTAX, "a condition needs a comparison");
    return false;
  }
  if (!sl_builder_fits(b, "comparisons", from->count))
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

bool sl_builder_attribute(sluice_builder *b, const sluice_attribute *from, struct sl_attr *to)
{
  if (!!from->value + !!from->condition + !!from->number + !!from->string != 1) {
    sl_builder_fail(b, SL_RULE_SYNTAX, "attribute '%s' needs exactly one value", from->name ? from->name : "");
    return false;
  }
  to->name = sl_builder_name(b, "attribute", from->name);
  if (from->value) {
    to->kind = SL_ATTR_EXPR;
    return (to->expr = sl_builder_expr(b, "attribute", from->value)) && to->name;
  }
  if (from->condition) {
    to->kind = SL_ATTR_COND;
    return sl_builder_condition(b, from->condition, &to->cond) && to->name;
  }
  to->kind = from->number ? SL_ATTR_FLOAT : SL_ATTR_STRING;
  if (from->number && !sl_is_float(from->number, strlen(from->number))) {
    sl_builder_fail(b, SL_RULE_LITERAL, "'%s' is not a floating-point number", from->number);
    return false;
  }
  to->text = sl_builder_string(b, "attribute", from->number ? from->number : from->string);
  return to->name && to->text;
}
