/* cost.c: see cost.h. A recursive descent parser (depth limited) emits code for a stack machine; literal parts are folded. */
#include "target/cost.h"

#include <assert.h>
#include <math.h>

#include "target/scan.h"

const char *const sl_cost_unit_text[3] = { "value", "cycles", "ns" };

const struct sl_cost_variable_info sl_cost_variables[SL_COST_VARIABLE_COUNT] = {
#define SL_COST_VARIABLE(name, text, summary) { text, summary },
  SL_COST_VARIABLES
#undef SL_COST_VARIABLE
};

enum step_kind {
  STEP_CONSTANT,
  STEP_PARAM,
  STEP_VARIABLE,
  STEP_ON,
  STEP_DST_IN,
  STEP_SRC_IN,
  STEP_TYPE,
  STEP_HAS,
  STEP_ATTR,
  STEP_IS,
  STEP_NEGATE,
  STEP_NOT,
  STEP_FLOOR,
  STEP_CEIL, /* one operand */
  STEP_ADD,
  STEP_SUB,
  STEP_MUL,
  STEP_DIV,
  STEP_MIN,
  STEP_MAX, /* two operands */
  STEP_EQ,
  STEP_NE,
  STEP_LT,
  STEP_LE,
  STEP_GT,
  STEP_GE,
  STEP_AND,
  STEP_OR, /* two operands */
  STEP_IF  /* three operands */
};

struct cost_step {
  uint8_t kind;
  uint32_t index; /* parameter, variable, engine or space */
  double constant;
  const char *name, *word; /* attribute or type; word of `is` */
};

struct sl_cost {
  sl_vec(struct cost_step) steps;
  uint32_t depth; /* of the stack, at most */
};

/* ---- arithmetic ---- */

static double clamp(double x)
{
  if (isnan(x))
    return 0;
  return x > 1e150 ? 1e150 : x < -1e150 ? -1e150 : x;
}

/* Beyond 2^53 every double is whole. */
static double round_down(double x)
{
  if (x >= 9007199254740992.0 || x <= -9007199254740992.0)
    return x;
  double whole = (double)(int64_t)x;
  return whole > x ? whole - 1 : whole;
}

static double apply_one(enum step_kind kind, double a)
{
  switch (kind) {
  case STEP_NEGATE: return -a;
  case STEP_NOT: return a == 0;
  case STEP_FLOOR: return round_down(a);
  default: assert(kind == STEP_CEIL); return -round_down(-a);
  }
}

static double apply_two(enum step_kind kind, double a, double b)
{
  switch (kind) {
  case STEP_ADD: return clamp(a + b);
  case STEP_SUB: return clamp(a - b);
  case STEP_MUL: return clamp(a * b);
  case STEP_DIV: return b == 0 ? 0 : clamp(a / b);
  case STEP_MIN: return a < b ? a : b;
  case STEP_MAX: return a > b ? a : b;
  case STEP_EQ: return a == b;
  case STEP_NE: return a != b;
  case STEP_LT: return a < b;
  case STEP_LE: return a <= b;
  case STEP_GT: return a > b;
  case STEP_GE: return a >= b;
  case STEP_AND: return a != 0 && b != 0;
  default: assert(kind == STEP_OR); return a != 0 || b != 0;
  }
}

/* ---- compiling ---- */

struct compiler {
  sl_heap *heap;
  const struct sl_target *target;
  const struct sl_cost_text *text;
  sl_report *report;
  struct sl_cost *cost;
  const char *at;
  uint32_t stack, nesting;
  bool failed;
};

static bool compile_or(struct compiler *c);

/* The first error of a formula is the one worth reading. */
__attribute__((format(printf, 3, 4))) static bool fail(struct compiler *c, const char *at, const char *format, ...)
{
  if (!c->failed && c->report) {
    sl_loc loc = c->text->fixed ? c->text->loc : c->text->loc + (sl_loc)(at - c->text->formula);
    va_list args;
    va_start(args, format);
    sl_report_vbegin(c->report, SLUICE_ERROR, SL_RULE_TARGET, loc, format, args);
    va_end(args);
    sl_report_end(c->report);
  }
  c->failed = true;
  return false;
}

static void skip_blanks(struct compiler *c)
{
  while (*c->at == ' ' || *c->at == '\t' || *c->at == '\r' || *c->at == '\n')
    c->at++;
}

static bool is_name_start(char ch)
{
  return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
}

static bool is_name_char(char ch)
{
  return is_name_start(ch) || (ch >= '0' && ch <= '9');
}

/* Length of the name at the current place; 0 when there is none. */
static size_t name_length(struct compiler *c)
{
  skip_blanks(c);
  size_t length = 0;
  if (is_name_start(*c->at))
    while (is_name_char(c->at[length]))
      length++;
  return length;
}

static bool accept_mark(struct compiler *c, const char *mark)
{
  skip_blanks(c);
  if (strncmp(c->at, mark, strlen(mark)) != 0)
    return false;
  c->at += strlen(mark);
  return true;
}

static bool accept_word(struct compiler *c, const char *word)
{
  size_t length = name_length(c);
  if (length != strlen(word) || memcmp(c->at, word, length) != 0)
    return false;
  c->at += length;
  return true;
}

/* `more` values will be on top of what is on the stack now. */
static void note_depth(struct compiler *c, uint32_t more)
{
  if (c->stack + more > c->cost->depth)
    c->cost->depth = c->stack + more;
}

static bool emit(struct compiler *c, struct cost_step step)
{
  uint32_t operands = step.kind < STEP_NEGATE ? 0 : step.kind < STEP_ADD ? 1 : step.kind < STEP_IF ? 2 : 3;
  assert(c->stack >= operands);
  bool literal = operands >= 1 && operands <= 2;
  uint32_t first = c->cost->steps.len - operands; /* of the operands, if each is one step */
  for (uint32_t i = 0; literal && i < operands; i++)
    literal = c->cost->steps.data[first + i].kind == STEP_CONSTANT;
  c->stack -= operands;
  if (literal) {
    const struct cost_step *given = &c->cost->steps.data[first];
    double value = operands == 1 ? apply_one(step.kind, given[0].constant)
                                 : apply_two(step.kind, given[0].constant, given[1].constant);
    c->cost->steps.len = first;
    step = (struct cost_step){ .kind = STEP_CONSTANT, .constant = value };
  }
  if (c->cost->steps.len >= SL_COST_STEPS_MAX || c->stack >= SL_COST_STACK_MAX)
    return fail(c, c->at, "the formula is too long");
  sl_vec_add(c->heap, &c->cost->steps, step);
  note_depth(c, 1);
  c->stack++;
  return true;
}

static bool emit_kind(struct compiler *c, enum step_kind kind)
{
  return emit(c, (struct cost_step){ .kind = (uint8_t)kind });
}

/* Reports a name that nothing declares, with the closest that something does. */
static bool fail_unknown(struct compiler *c, const char *at, const char *what, const char *name,
                         const char *const *known, size_t count)
{
  const char *closest = sl_closest(name, known, count);
  return closest ? fail(c, at, "unknown %s '%s'; did you mean '%s'?", what, name, closest)
                 : fail(c, at, "unknown %s '%s'", what, name);
}

static bool fail_unknown_name(struct compiler *c, const char *at, const char *name)
{
  const struct sl_target *target = c->target;
  sl_vec(const char *) known = { 0 };
  for (size_t i = 0; i < SL_COST_VARIABLE_COUNT; i++)
    sl_vec_add(c->heap, &known, sl_cost_variables[i].name);
  for (uint32_t i = 0; i < target->params.len; i++)
    sl_vec_add(c->heap, &known, target->params.data[i].name);
  for (uint32_t i = 0; i < c->text->define_count; i++)
    sl_vec_add(c->heap, &known, target->defines.data[i].name);
  return fail_unknown(c, at, "variable, parameter or define", name, known.data, known.len);
}

static bool unit_fits(struct compiler *c, const char *at, const char *name, enum sl_cost_unit unit)
{
  enum sl_cost_unit wanted = c->text->unit;
  if (unit == SL_COST_VALUE || wanted == SL_COST_VALUE || unit == wanted)
    return true;
  return fail(c, at, "'%s' is in %s, the formula in %s", name, sl_cost_unit_text[unit], sl_cost_unit_text[wanted]);
}

static enum sl_cost_unit param_unit(const struct sl_cost_param *param)
{
  return strcmp(param->unit, "ns") == 0       ? SL_COST_NS
         : strcmp(param->unit, "cycles") == 0 ? SL_COST_CYCLES
                                              : SL_COST_VALUE;
}

/* The steps of a define, in place. One that did not compile has been reported already. */
static bool splice_define(struct compiler *c, const char *at, uint32_t index)
{
  const struct sl_define *define = &c->target->defines.data[index];
  if (!define->cost)
    c->failed = true;
  if (c->failed || !unit_fits(c, at, define->name, define->unit))
    return false;
  const struct sl_cost *part = define->cost;
  if (part->steps.len > SL_COST_STEPS_MAX - c->cost->steps.len || part->depth > SL_COST_STACK_MAX - c->stack)
    return fail(c, at, "the formula is too long with '%s' written out", define->name);
  uint32_t start = sl_vec_extend(c->heap, &c->cost->steps, part->steps.len);
  memcpy(c->cost->steps.data + start, part->steps.data, part->steps.len * sizeof *part->steps.data);
  note_depth(c, part->depth);
  c->stack++;
  return true;
}

static bool compile_name(struct compiler *c, const char *at, const char *name)
{
  for (uint32_t i = 0; i < SL_COST_VARIABLE_COUNT; i++)
    if (strcmp(sl_cost_variables[i].name, name) == 0)
      return emit(c, (struct cost_step){ .kind = STEP_VARIABLE, .index = i });
  for (uint32_t i = 0; i < c->text->define_count; i++)
    if (strcmp(c->target->defines.data[i].name, name) == 0)
      return splice_define(c, at, i);
  int param = sl_target_param_index(c->target, name);
  if (param < 0)
    return fail_unknown_name(c, at, name);
  return unit_fits(c, at, name, param_unit(&c->target->params.data[param])) &&
         emit(c, (struct cost_step){ .kind = STEP_PARAM, .index = (uint32_t)param });
}

/* A bare word as argument of a function. */
static const char *word_argument(struct compiler *c)
{
  size_t length = name_length(c);
  if (!length) {
    fail(c, c->at, "expected a name");
    return NULL;
  }
  const char *word = sl_heap_strndup(c->heap, c->at, length);
  c->at += length;
  return word;
}

static bool compile_engine(struct compiler *c)
{
  const char *at = c->at, *name = word_argument(c);
  if (!name)
    return false;
  int index = sl_target_engine(c->target, name);
  if (index >= 0)
    return emit(c, (struct cost_step){ .kind = STEP_ON, .index = (uint32_t)index });
  sl_vec(const char *) known = { 0 };
  for (uint32_t i = 0; i < c->target->engines.len; i++)
    sl_vec_add(c->heap, &known, c->target->engines.data[i].name);
  return fail_unknown(c, at, "engine", name, known.data, known.len);
}

static bool compile_space(struct compiler *c, enum step_kind kind)
{
  const char *at = c->at, *name = word_argument(c);
  if (!name)
    return false;
  int index = sl_target_space(c->target, name);
  if (index >= 0)
    return emit(c, (struct cost_step){ .kind = (uint8_t)kind, .index = (uint32_t)index });
  sl_vec(const char *) known = { 0 };
  for (uint32_t i = 0; i < c->target->spaces.len; i++)
    sl_vec_add(c->heap, &known, c->target->spaces.data[i].name);
  return fail_unknown(c, at, "space", name, known.data, known.len);
}

static bool compile_word(struct compiler *c, enum step_kind kind)
{
  struct cost_step step = { .kind = (uint8_t)kind, .name = word_argument(c) };
  if (step.name && kind == STEP_IS) {
    if (!accept_mark(c, ","))
      return fail(c, c->at, "expected ','");
    step.word = word_argument(c);
  }
  return !c->failed && emit(c, step);
}

/* count 0: two or more arguments, folded pairwise. */
static bool compile_arguments(struct compiler *c, enum step_kind kind, uint32_t count)
{
  uint32_t given = 0;
  do {
    if (!compile_or(c))
      return false;
    given++;
    if (!count && given > 1 && !emit_kind(c, kind))
      return false;
  } while (accept_mark(c, ","));
  if (count ? given != count : given < 2)
    return fail(c, c->at, "wrong number of arguments");
  return !count || emit_kind(c, kind);
}

static const struct function {
  const char *name;
  uint8_t kind, arguments; /* of expressions; 0 = two or more */
} functions[] = {
  { "min", STEP_MIN, 0 },       { "max", STEP_MAX, 0 }, { "if", STEP_IF, 3 },     { "floor", STEP_FLOOR, 1 },
  { "ceil", STEP_CEIL, 1 },     { "on", STEP_ON, 0 },   { "type", STEP_TYPE, 0 }, { "dst_in", STEP_DST_IN, 0 },
  { "src_in", STEP_SRC_IN, 0 }, { "has", STEP_HAS, 0 }, { "attr", STEP_ATTR, 0 }, { "is", STEP_IS, 0 },
};

static bool compile_call(struct compiler *c, const char *at, const char *name)
{
  const char *known[sizeof functions / sizeof *functions];
  const struct function *function = NULL;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    known[i] = functions[i].name;
    if (strcmp(functions[i].name, name) == 0)
      function = &functions[i];
  }
  if (!function)
    return fail_unknown(c, at, "function", name, known, sizeof known / sizeof *known);
  bool done = false;
  switch (function->kind) {
  case STEP_ON: done = compile_engine(c); break;
  case STEP_DST_IN:
  case STEP_SRC_IN: done = compile_space(c, function->kind); break;
  case STEP_TYPE:
  case STEP_HAS:
  case STEP_ATTR:
  case STEP_IS: done = compile_word(c, function->kind); break;
  default: done = compile_arguments(c, function->kind, function->arguments); break;
  }
  if (done && !accept_mark(c, ")"))
    return fail(c, c->at, "expected ')'");
  return done;
}

static bool compile_number(struct compiler *c)
{
  double value;
  size_t length = sl_scan_double(&value, c->at, strlen(c->at));
  if (!isfinite(value) || is_name_char(c->at[length]) || c->at[length] == '.')
    return fail(c, c->at, "not a number");
  c->at += length;
  return emit(c, (struct cost_step){ .kind = STEP_CONSTANT, .constant = clamp(value) });
}

static bool compile_factor_inside(struct compiler *c)
{
  skip_blanks(c);
  const char *at = c->at;
  if (*at >= '0' && *at <= '9')
    return compile_number(c);
  if (accept_mark(c, "("))
    return compile_or(c) && (accept_mark(c, ")") || fail(c, c->at, "expected ')'"));
  size_t length = name_length(c);
  if (!length)
    return fail(c, at, *at ? "expected a number, a name or '('" : "the formula ends too early");
  const char *name = sl_heap_strndup(c->heap, at, length);
  c->at += length;
  return accept_mark(c, "(") ? compile_call(c, at, name) : compile_name(c, at, name);
}

static bool compile_factor(struct compiler *c)
{
  if (++c->nesting > SL_COST_NESTING_MAX)
    return fail(c, c->at, "the formula nests too deep");
  bool done;
  if (accept_mark(c, "-"))
    done = compile_factor(c) && emit_kind(c, STEP_NEGATE);
  else if (accept_word(c, "not"))
    done = compile_factor(c) && emit_kind(c, STEP_NOT);
  else
    done = compile_factor_inside(c);
  c->nesting--;
  return done;
}

/* Whether the divisor whose steps begin at `first` is surely 0. */
static bool divisor_is_zero(struct compiler *c, uint32_t first)
{
  if (c->cost->steps.len != first + 1)
    return false;
  const struct cost_step *step = &c->cost->steps.data[first];
  return (step->kind == STEP_CONSTANT && step->constant == 0) ||
         (step->kind == STEP_PARAM && c->target->params.data[step->index].fact.value == 0);
}

static bool compile_product(struct compiler *c)
{
  if (!compile_factor(c))
    return false;
  for (;;) {
    bool times = accept_mark(c, "*");
    if (!times && !accept_mark(c, "/"))
      return true;
    skip_blanks(c);
    const char *at = c->at;
    uint32_t first = c->cost->steps.len;
    if (!compile_factor(c))
      return false;
    if (!times && divisor_is_zero(c, first))
      return fail(c, at, "division by zero");
    if (!emit_kind(c, times ? STEP_MUL : STEP_DIV))
      return false;
  }
}

static bool compile_sum(struct compiler *c)
{
  if (!compile_product(c))
    return false;
  for (;;) {
    bool plus = accept_mark(c, "+");
    if (!plus && !accept_mark(c, "-"))
      return true;
    if (!compile_product(c) || !emit_kind(c, plus ? STEP_ADD : STEP_SUB))
      return false;
  }
}

static bool compile_compare(struct compiler *c)
{
  static const struct {
    const char *mark;
    uint8_t kind;
  } marks[] = { { "==", STEP_EQ }, { "!=", STEP_NE }, { "<=", STEP_LE },
                { ">=", STEP_GE }, { "<", STEP_LT },  { ">", STEP_GT } };
  if (!compile_sum(c))
    return false;
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
    if (accept_mark(c, marks[i].mark))
      return compile_sum(c) && emit_kind(c, marks[i].kind);
  return true;
}

static bool compile_and(struct compiler *c)
{
  if (!compile_compare(c))
    return false;
  while (accept_word(c, "and"))
    if (!compile_compare(c) || !emit_kind(c, STEP_AND))
      return false;
  return true;
}

static bool compile_or(struct compiler *c)
{
  if (!compile_and(c))
    return false;
  while (accept_word(c, "or"))
    if (!compile_and(c) || !emit_kind(c, STEP_OR))
      return false;
  return true;
}

struct sl_cost *sl_cost_compile(sl_heap *heap, const struct sl_target *target, const struct sl_cost_text *text,
                                sl_report *report)
{
  struct compiler c = { .heap = heap, .target = target, .text = text, .report = report, .at = text->formula };
  c.cost = sl_heap_arena(heap, sizeof *c.cost);
  if (!compile_or(&c))
    return NULL;
  skip_blanks(&c);
  if (*c.at) {
    fail(&c, c.at, "the formula should end here, or an operator is missing");
    return NULL;
  }
  assert(c.stack == 1);
  return c.cost;
}

/* ---- evaluating ---- */

static const struct sl_cost_attr *find_attr(const struct sl_cost_env *env, const char *name)
{
  for (size_t i = 0; i < env->attr_count; i++)
    if (strcmp(env->attrs[i].name, name) == 0)
      return &env->attrs[i];
  return NULL;
}

static double leaf(const struct cost_step *step, const struct sl_target *target, const struct sl_cost_env *env)
{
  const struct sl_cost_attr *attr = step->kind >= STEP_HAS ? find_attr(env, step->name) : NULL;
  switch (step->kind) {
  case STEP_CONSTANT: return step->constant;
  case STEP_PARAM: return clamp(target->params.data[step->index].fact.value);
  case STEP_VARIABLE: return clamp(env->variables[step->index]);
  case STEP_ON: return env->engine == step->index;
  case STEP_DST_IN: return env->dst_in[step->index];
  case STEP_SRC_IN: return env->src_in[step->index];
  case STEP_TYPE: return strcmp(env->type, step->name) == 0;
  case STEP_HAS: return attr != NULL;
  case STEP_ATTR: return attr && !attr->word ? clamp(attr->value) : 0;
  default: assert(step->kind == STEP_IS); return attr && attr->word && strcmp(attr->word, step->word) == 0;
  }
}

double sl_cost_eval(const struct sl_cost *cost, const struct sl_target *target, const struct sl_cost_env *env)
{
  double stack[SL_COST_STACK_MAX + 1];
  uint32_t top = 0; /* number of values */
  for (uint32_t i = 0; i < cost->steps.len; i++) {
    const struct cost_step *step = &cost->steps.data[i];
    if (step->kind < STEP_NEGATE) {
      stack[top++] = leaf(step, target, env);
    } else if (step->kind < STEP_ADD) {
      stack[top - 1] = apply_one(step->kind, stack[top - 1]);
    } else if (step->kind < STEP_IF) {
      top--;
      stack[top - 1] = apply_two(step->kind, stack[top - 1], stack[top]);
    } else {
      top -= 2;
      stack[top - 1] = stack[top - 1] != 0 ? stack[top] : stack[top + 1];
    }
  }
  assert(top == 1);
  return stack[0] > 0 ? stack[0] : 0;
}

void sl_cost_env_init(struct sl_cost_env *env, uint32_t engine, const struct sl_cost_attr *attrs, size_t attr_count)
{
  memset(env, 0, sizeof *env);
  env->engine = engine;
  env->type = "";
  env->attrs = attrs;
  env->attr_count = attr_count;
  env->variables[SL_COST_CONTIGUOUS] = 1;
}

static void keep_largest(double *kept, double value)
{
  if (value > *kept)
    *kept = value;
}

/* 0 stands for "no operand yet". */
static void keep_smallest(double *kept, double value)
{
  if (*kept == 0 || value < *kept)
    *kept = value;
}

void sl_cost_env_add(struct sl_cost_env *env, const struct sl_cost_operand *operand, bool is_destination)
{
  double *v = env->variables;
  double stride = operand->stride > 0 ? operand->stride : operand->type_bytes;
  double row = operand->elements * operand->type_bytes;
  keep_largest(&v[SL_COST_N], operand->elements);
  keep_largest(&v[SL_COST_P], operand->partitions);
  keep_largest(&v[SL_COST_BYTES], row * operand->partitions);
  keep_smallest(&v[SL_COST_CHUNK], operand->chunk > 0 ? operand->chunk : row);
  keep_largest(&v[SL_COST_STRIDE], stride);
  keep_largest(&v[SL_COST_WIDEST], operand->type_bytes);
  keep_smallest(&v[SL_COST_NARROWEST], operand->type_bytes);
  if (stride > operand->type_bytes)
    v[SL_COST_CONTIGUOUS] = 0;
  bool first = v[is_destination ? SL_COST_DSTS : SL_COST_SRCS] == 0;
  if (is_destination && first) {
    v[SL_COST_DST_N] = operand->elements;
    v[SL_COST_DST_BYTES] = operand->type_bytes;
  } else if (first) {
    v[SL_COST_SRC_N] = operand->elements;
    v[SL_COST_SRC_P] = operand->partitions;
    v[SL_COST_SRC_BYTES] = operand->type_bytes;
  }
  if (first && (!is_destination || v[SL_COST_SRCS] == 0))
    env->type = operand->type;
  v[is_destination ? SL_COST_DSTS : SL_COST_SRCS] += 1;
  uint8_t *count = is_destination ? &env->dst_in[operand->space] : &env->src_in[operand->space];
  if (*count < UINT8_MAX)
    ++*count;
}

double sl_cost_ns(const struct sl_target *target, uint32_t engine, double cycles)
{
  double clock = target->engines.data[engine].clock_ghz.value;
  return clock > 0 ? cycles / clock : 0;
}

static double in_cycles(const struct sl_target *target, const struct sl_cost *cost, enum sl_cost_unit unit,
                        const struct sl_cost_env *env)
{
  double value = sl_cost_eval(cost, target, env);
  return unit == SL_COST_NS ? clamp(value * target->engines.data[env->engine].clock_ghz.value) : value;
}

double sl_cost_interval(const struct sl_target *target, const struct sl_opcode_desc *opcode,
                        const struct sl_cost_env *env)
{
  const struct sl_cost_attr *given = find_attr(env, "cycles");
  if (given && !given->word)
    return given->value > 0 ? clamp(given->value) : 0;
  return in_cycles(target, opcode->interval_cost, opcode->interval_unit, env);
}

double sl_cost_latency(const struct sl_target *target, const struct sl_opcode_desc *opcode,
                       const struct sl_cost_env *env)
{
  return in_cycles(target, opcode->latency_cost, opcode->latency_unit, env);
}
