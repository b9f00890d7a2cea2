/* choices.c: see choices.h. */
#include "check/choices.h"

#include <assert.h>

#include "base/hash.h"
#include "ir/eval.h"
#include "ir/ir.h"
#include "run/input.h"

enum { LARGE_TRIPS = 1000 };

struct collector {
  struct sl_choices *choices;
  const struct sl_machine_code *code;
  const sluice_check_options *options;
  struct sl_reach reach;
  sl_vec(int64_t) moduli;
  bool *used_names, *used_registers; /* by name: steer control */
  bool *fixed_found;                 /* by fixed input */
};

/* ---- what steers control ---- */

/* Recursion is bounded by the limit on the nesting of expressions. */
static void use_expr(struct collector *c, sl_index index)
{
  if (!index)
    return;
  const struct sl_expr *expr = &c->code->kernel->exprs.data[index];
  switch ((enum sl_expr_kind)expr->kind) {
  case SL_EXPR_INT: return;
  case SL_EXPR_NAME: c->used_names[expr->u.value] = true; return;
  case SL_EXPR_REG: c->used_registers[expr->u.value] = true; return;
  case SL_EXPR_NEG: use_expr(c, expr->u.sub.lhs); return;
  default: use_expr(c, expr->u.sub.lhs); use_expr(c, expr->u.sub.rhs);
  }
}

static void use_cond(struct collector *c, struct sl_cond cond)
{
  for (uint32_t i = 0; i < cond.count; i++) {
    const struct sl_cmp *cmp = &c->code->kernel->cmps.data[cond.first + i];
    if (cmp->op == SL_CMP_OPAQUE)
      continue;
    use_expr(c, cmp->lhs);
    use_expr(c, cmp->rhs);
  }
}

static void use_op(struct collector *c, const struct sl_op *op)
{
  const struct sl_kernel *kernel = c->code->kernel;
  enum sl_op_class op_class = sl_opcode_table[op->code].op_class;
  for (uint32_t i = 0; i < op->wait_count; i++) {
    const struct sl_gate *gate = &kernel->waits.data[op->first_wait + i];
    if (gate->threshold == SL_THRESHOLD_REG)
      c->used_registers[gate->value] = true;
    use_expr(c, gate->event_index);
  }
  for (uint32_t i = 0; i < op->attr_count && op_class == SL_CLASS_LOAD; i++)
    if (kernel->attrs.data[op->first_attr + i].kind == SL_ATTR_EXPR)
      use_expr(c, kernel->attrs.data[op->first_attr + i].expr);
  for (uint32_t i = 1; i < op->dst_count && op_class == SL_CLASS_REGISTER; i++) {
    const struct sl_operand *operand = &kernel->operands.data[op->first_operand + i];
    if (operand->kind == SL_OPERAND_NAME)
      c->used_names[operand->value] = true;
    else if (operand->kind == SL_OPERAND_REG)
      c->used_registers[operand->value] = true;
  }
}

static void find_uses(struct collector *c)
{
  const struct sl_kernel *kernel = c->code->kernel;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind == SL_STMT_LOOP) {
      const struct sl_loop *loop = sl_stmt_loop(kernel, at);
      use_expr(c, loop->lo);
      use_expr(c, loop->hi);
      use_expr(c, loop->step);
      use_cond(c, loop->while_cond);
    } else if (kernel->stmts.data[at].kind == SL_STMT_IF) {
      use_cond(c, sl_stmt_branch(kernel, at)->cond);
    } else if (kernel->stmts.data[at].kind == SL_STMT_OP) {
      use_op(c, sl_stmt_op(kernel, at));
    }
  }
  for (uint32_t i = kernel->params.len; i-- > 0;) /* a parameter whose default names another one */
    if (c->used_names[kernel->params.data[i].name])
      use_expr(c, kernel->params.data[i].value);
}

static void find_moduli(struct collector *c, const struct sl_kernel *kernel)
{
  enum { LARGEST = 64 };
  for (sl_index i = 1; i < kernel->exprs.len; i++) {
    const struct sl_expr *expr = &kernel->exprs.data[i];
    if (expr->kind != SL_EXPR_MOD || kernel->exprs.data[expr->u.sub.rhs].kind != SL_EXPR_INT)
      continue;
    int64_t modulus = kernel->exprs.data[expr->u.sub.rhs].u.value;
    bool known = modulus < 2 || modulus > LARGEST;
    for (uint32_t k = 0; k < c->moduli.len; k++)
      known |= c->moduli.data[k] == modulus;
    if (!known)
      sl_vec_add(c->choices->heap, &c->moduli, modulus);
  }
}

/* ---- options ---- */

static void add_option(struct sl_choices *choices, const int64_t *values, uint32_t count)
{
  struct sl_option *option = sl_vec_push(choices->heap, &choices->options);
  option->first = choices->values.len;
  option->count = count;
  for (uint32_t i = 0; i < count; i++)
    sl_vec_add(choices->heap, &choices->values, values[i]);
}

static bool has_number(const struct sl_choices *choices, const struct sl_choice *choice, int64_t value)
{
  for (uint32_t i = choice->first_option; i < choices->options.len; i++)
    if (choices->options.data[i].count == 1 && choices->values.data[choices->options.data[i].first] == value)
      return true;
  return false;
}

static void add_number(struct sl_choices *choices, const struct sl_choice *choice, int64_t value)
{
  if (value >= 0 && !has_number(choices, choice, value))
    add_option(choices, &value, 1);
}

static void add_trip_counts(struct collector *c, const struct sl_choice *choice)
{
  for (int64_t trips = 0; trips <= (int64_t)c->reach.largest + 2; trips++)
    add_number(c->choices, choice, trips);
  for (uint32_t i = 0; i < c->moduli.len; i++)
    for (int64_t near = -1; near <= 1; near++)
      add_number(c->choices, choice, c->moduli.data[i] + near);
}

/* `trips` times true, then false: one visit of a `while`. */
static void add_visit(struct sl_choices *choices, int64_t trips)
{
  for (int64_t i = 0; i < trips; i++)
    sl_vec_add(choices->heap, &choices->values, 1);
  sl_vec_add(choices->heap, &choices->values, 0);
}

static void add_visits(struct sl_choices *choices, const int64_t *trips, uint32_t count)
{
  struct sl_option *option = sl_vec_push(choices->heap, &choices->options);
  option->first = choices->values.len;
  for (uint32_t i = 0; i < count; i++)
    add_visit(choices, trips[i]);
  option->count = choices->values.len - option->first;
}

static const int64_t rising[] = { 0, 1, 2 }, mixed[] = { 2, 0, 1 };

enum { STEEP = 5 };
/* More trips than any distance, with a visit of none, one of one trip, or another long one 1, 2 or 3 visits before. */
static void make_steep(const struct collector *c, int64_t trips[static STEEP])
{
  int64_t many = (int64_t)c->reach.largest + 2;
  const int64_t pattern[STEEP] = { many, 0, many, many, 1 };
  memcpy(trips, pattern, sizeof pattern);
}

static void add_outcome_options(struct collector *c, const struct sl_choice *choice)
{
  static const int64_t patterns[][3] = { { 0 }, { 1 }, { 0, 1 }, { 1, 0 }, { 0, 0, 1 }, { 1, 1, 0 } };
  static const uint32_t lengths[] = { 1, 1, 2, 2, 3, 3 };
  if (!choice->is_while) {
    for (uint32_t i = 0; i < 6; i++)
      add_option(c->choices, patterns[i], lengths[i]);
    return;
  }
  for (int64_t trips = 0; trips <= (int64_t)c->reach.largest + 2; trips++)
    add_visits(c->choices, &trips, 1);
  add_visits(c->choices, rising, 3);
  add_visits(c->choices, mixed, 3);
  int64_t steep[STEEP];
  make_steep(c, steep);
  if (c->reach.into_other_visits)
    add_visits(c->choices, steep, STEEP);
}

static const sluice_input *fixed_input(struct collector *c, enum sl_choice_kind kind, const char *name)
{
  for (size_t i = 0; i < c->options->input_count; i++) {
    const sluice_input *input = &c->options->inputs[i];
    if (strcmp(input->name, name) != 0 || (sl_input_is_random(input) && kind != SL_CHOICE_OUTCOMES))
      continue;
    c->fixed_found[i] = true;
    return input;
  }
  return NULL;
}

static void add_large(struct collector *c, struct sl_choice *choice)
{
  static const int64_t large = LARGE_TRIPS;
  choice->large = c->choices->options.len + 1;
  if (choice->kind == SL_CHOICE_OUTCOMES)
    add_visits(c->choices, &large, 1);
  else
    add_option(c->choices, &large, 1);
}

/* Adds a choice with its options, unless there is one of that kind, name and occurrence. `otherwise` is a parameter's default;
 * a parameter that does not steer control keeps it. */
static void add_choice(struct collector *c, enum sl_choice_kind kind, const char *name, uint32_t occurrence, bool is_while,
                       bool steers, struct sl_constant otherwise)
{
  struct sl_choices *choices = c->choices;
  for (uint32_t i = 0; i < choices->choices.len; i++) {
    const struct sl_choice *known = &choices->choices.data[i];
    if (known->kind == kind && known->occurrence == occurrence && strcmp(known->name, name) == 0)
      return;
  }
  struct sl_choice choice = { .kind = (uint8_t)kind, .name = name, .occurrence = occurrence, .is_while = is_while,
                              .first_option = choices->options.len };
  const sluice_input *fixed = fixed_input(c, kind, name);
  if (fixed && kind == SL_CHOICE_PARAM) {
    for (size_t i = 0; i < fixed->count; i++)
      add_number(choices, &choice, fixed->values[i]);
  } else if (fixed && sl_input_is_random(fixed)) {
    sl_vec_add(choices->heap, &choices->options, ((struct sl_option){ .is_random = true, .seed = fixed->seed }));
  } else if (fixed) {
    add_option(choices, fixed->values, (uint32_t)fixed->count);
  } else if (!steers) {
    int64_t value = otherwise.state == SL_CONST_KNOWN ? otherwise.value : 1;
    add_option(choices, &value, 1);
  } else if (kind == SL_CHOICE_OUTCOMES) {
    add_outcome_options(c, &choice);
  } else {
    add_trip_counts(c, &choice);
    if (kind == SL_CHOICE_LOADS) {
      add_option(choices, rising, 3);
      add_option(choices, mixed, 3);
      int64_t steep[STEEP];
      make_steep(c, steep);
      if (c->reach.into_other_visits)
        add_option(choices, steep, STEEP);
    } else if (otherwise.state == SL_CONST_KNOWN && otherwise.value <= LARGE_TRIPS) {
      add_number(choices, &choice, otherwise.value);
    }
  }
  choice.option_count = choices->options.len - choice.first_option;
  if (!fixed && steers && (kind != SL_CHOICE_OUTCOMES || is_while))
    add_large(c, &choice);
  sl_vec_add(choices->heap, &choices->choices, choice);
}

/* ---- collecting ---- */

static uint32_t occurrence_of(const struct sl_machine_code *code, uint32_t place)
{
  uint32_t occurrence = 0;
  for (uint32_t i = 0; i < place; i++)
    occurrence += code->place_names.data[i] == code->place_names.data[place];
  return occurrence;
}

static void add_places(struct collector *c, struct sl_cond cond, bool is_while)
{
  const struct sl_machine_code *code = c->code;
  for (uint32_t i = 0; i < cond.count; i++) {
    const struct sl_cmp *cmp = &code->kernel->cmps.data[cond.first + i];
    if (cmp->op == SL_CMP_OPAQUE)
      add_choice(c, SL_CHOICE_OUTCOMES, sl_text(code->program, cmp->opaque),
                 occurrence_of(code, code->place_of[cond.first + i]), is_while, true, sl_constant_none(SL_CONST_UNKNOWN));
  }
}

static bool is_assumed(const struct sl_machine_code *code, const struct sl_op *op)
{
  for (uint32_t i = 0; i < op->attr_count; i++)
    if (strcmp(sl_text(code->program, code->kernel->attrs.data[op->first_attr + i].name), "assume") == 0)
      return true;
  return false;
}

static void collect(struct collector *c, const struct sl_machine_code *code)
{
  const struct sl_kernel *kernel = code->kernel;
  sl_heap *heap = c->choices->heap;
  c->code = code;
  c->used_names = sl_heap_calloc(heap, code->program->names.len, sizeof *c->used_names);
  c->used_registers = sl_heap_calloc(heap, code->program->names.len, sizeof *c->used_registers);
  find_uses(c);
  find_moduli(c, kernel);
  struct sl_param_values defaults;
  sl_param_values_init(&defaults, heap, kernel, false);
  for (uint32_t i = 0; i < kernel->params.len; i++) {
    const struct sl_param *param = &kernel->params.data[i];
    struct sl_constant value = defaults.values.data[i];
    bool steers = c->used_names[param->name] && !(param->is_static && value.state == SL_CONST_KNOWN);
    add_choice(c, SL_CHOICE_PARAM, sl_text(code->program, param->name), 0, false, steers, value);
  }
  sl_param_values_free(&defaults, heap);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (kernel->stmts.data[at].kind == SL_STMT_LOOP) {
      add_places(c, sl_stmt_loop(kernel, at)->while_cond, true);
    } else if (kernel->stmts.data[at].kind == SL_STMT_IF) {
      add_places(c, sl_stmt_branch(kernel, at)->cond, false);
    } else if (kernel->stmts.data[at].kind == SL_STMT_OP && sl_stmt_op(kernel, at)->code == SL_OP_REG_LOAD) {
      const struct sl_op *op = sl_stmt_op(kernel, at);
      sl_name reg = (sl_name)kernel->operands.data[op->first_operand].value;
      if (!is_assumed(code, op))
        add_choice(c, SL_CHOICE_LOADS, sl_text(code->program, reg), 0, false, c->used_registers[reg],
                   sl_constant_none(SL_CONST_UNKNOWN));
    }
  }
}

/* ---- combinations ---- */

static uint32_t *add_row(struct sl_choices *choices, uint32_t *capacity)
{
  uint32_t width = choices->choices.len;
  if (choices->row_count == *capacity) {
    *capacity = *capacity ? *capacity * 2 : 16;
    choices->rows = sl_heap_realloc(choices->heap, choices->rows, ((size_t)*capacity * width + 1) * sizeof *choices->rows);
  }
  return &choices->rows[(size_t)choices->row_count++ * width];
}

static void add_all_rows(struct sl_choices *choices, uint64_t total, uint32_t *capacity)
{
  for (uint64_t n = 0; n < total; n++) {
    uint32_t *row = add_row(choices, capacity);
    uint64_t rest = n;
    for (uint32_t i = 0; i < choices->choices.len; i++) {
      const struct sl_choice *choice = &choices->choices.data[i];
      row[i] = choice->first_option + (uint32_t)(rest % choice->option_count);
      rest /= choice->option_count;
    }
  }
}

struct pairs {
  bool *covered;   /* by pair of options (row-major over all options) */
  uint32_t width;  /* options */
  uint64_t random;
};

static uint32_t draw(struct pairs *pairs, uint32_t below)
{
  pairs->random += 0x9e3779b97f4a7c15u;
  return (uint32_t)(sl_hash_mix(pairs->random) % below);
}

/* Marks the pairs of a row; answers how many were new. */
static uint32_t cover(const struct sl_choices *choices, struct pairs *pairs, const uint32_t *row, bool mark)
{
  uint32_t fresh = 0;
  for (uint32_t i = 0; i < choices->choices.len; i++)
    for (uint32_t j = i + 1; j < choices->choices.len; j++) {
      bool *covered = &pairs->covered[(size_t)row[i] * pairs->width + row[j]];
      fresh += !*covered;
      if (mark)
        *covered = true;
    }
  return fresh;
}

/* Greedy pairwise sample: the best of a few random rows each time, until the limit. */
static void add_sample(struct sl_choices *choices, uint32_t limit, uint64_t seed, uint32_t *capacity)
{
  enum { TRIES = 8, STALE = 32 };
  uint32_t width = choices->choices.len;
  struct pairs pairs = { .width = choices->options.len, .random = seed };
  pairs.covered = sl_heap_calloc(choices->heap, (size_t)pairs.width * pairs.width + 1, sizeof *pairs.covered);
  uint32_t *best = sl_heap_alloc(choices->heap, (width + 1u) * sizeof *best);
  uint32_t *attempt = sl_heap_alloc(choices->heap, (width + 1u) * sizeof *attempt);
  for (uint32_t stale = 0; choices->row_count < limit && stale < STALE;) {
    uint32_t most = 0;
    for (uint32_t t = 0; t < TRIES; t++) {
      for (uint32_t i = 0; i < width; i++)
        attempt[i] = choices->choices.data[i].first_option + draw(&pairs, choices->choices.data[i].option_count);
      uint32_t fresh = cover(choices, &pairs, attempt, false);
      if (t == 0 || fresh > most) {
        most = fresh;
        memcpy(best, attempt, width * sizeof *best);
      }
    }
    stale = most ? 0 : stale + 1;
    cover(choices, &pairs, best, true);
    memcpy(add_row(choices, capacity), best, width * sizeof *best);
  }
  choices->is_sample = true;
}

/* One more row per choice with 1,000 trips, the others small. */
static void add_large_rows(struct sl_choices *choices, uint32_t *capacity)
{
  for (uint32_t i = 0; i < choices->choices.len; i++) {
    if (!choices->choices.data[i].large)
      continue;
    uint32_t *row = add_row(choices, capacity);
    for (uint32_t j = 0; j < choices->choices.len; j++) {
      const struct sl_choice *choice = &choices->choices.data[j];
      row[j] = choice->first_option + (choice->option_count > 2 ? 2 : choice->option_count - 1);
    }
    row[i] = choices->choices.data[i].large - 1;
  }
}

void sl_choices_init(struct sl_choices *choices, sl_heap *heap, const struct sl_machine_code *own,
                     const struct sl_machine_code *reference, struct sl_reach reach, const sluice_check_options *options,
                     bool *fixed_found)
{
  memset(choices, 0, sizeof *choices);
  choices->heap = heap;
  struct collector c = { .choices = choices, .options = options, .reach = reach, .fixed_found = fixed_found };
  find_moduli(&c, reference->kernel);
  collect(&c, own);
  collect(&c, reference);
  uint64_t total = 1;
  for (uint32_t i = 0; i < choices->choices.len && total <= options->max_runs; i++)
    total *= choices->choices.data[i].option_count;
  uint32_t capacity = 0;
  if (total <= options->max_runs)
    add_all_rows(choices, total, &capacity);
  else
    add_sample(choices, options->max_runs, options->seed, &capacity);
  add_large_rows(choices, &capacity);
}

/* ---- inputs of one row ---- */

static int64_t chosen(const struct sl_bound_inputs *bound, uint32_t choice, uint32_t n)
{
  const struct sl_option *option = &bound->choices->options.data[bound->row[choice]];
  if (option->is_random)
    return sl_random_outcome(option->seed, bound->choices->choices.data[choice].name, n);
  return bound->choices->values.data[option->first + n % option->count];
}

static bool outcome(const struct sl_inputs *inputs, sl_name opaque, uint32_t place, uint32_t n)
{
  const struct sl_bound_inputs *bound = inputs->user;
  (void)opaque;
  return chosen(bound, bound->choice_of_place[place] - 1, n) != 0;
}

static uint32_t loaded(const struct sl_inputs *inputs, sl_name reg, sl_index stmt, uint32_t n)
{
  const struct sl_bound_inputs *bound = inputs->user;
  const uint32_t *choice = sl_map_get(&bound->choice_of_register, reg);
  (void)stmt;
  return choice ? (uint32_t)chosen(bound, *choice - 1, n) : 0;
}

static uint32_t find_choice(const struct sl_choices *choices, enum sl_choice_kind kind, const char *name, uint32_t occurrence)
{
  for (uint32_t i = 0; i < choices->choices.len; i++) {
    const struct sl_choice *choice = &choices->choices.data[i];
    if (choice->kind == kind && choice->occurrence == occurrence && strcmp(choice->name, name) == 0)
      return i + 1;
  }
  return 0;
}

void sl_bound_inputs_init(struct sl_bound_inputs *bound, sl_heap *heap, const struct sl_choices *choices,
                          const struct sl_machine_code *code)
{
  const struct sl_kernel *kernel = code->kernel;
  memset(bound, 0, sizeof *bound);
  bound->choices = choices;
  bound->kernel = kernel;
  bound->params = sl_heap_calloc(heap, kernel->params.len + 1u, sizeof *bound->params);
  bound->choice_of_param = sl_heap_calloc(heap, kernel->params.len + 1u, sizeof *bound->choice_of_param);
  bound->choice_of_place = sl_heap_calloc(heap, code->place_count + 1u, sizeof *bound->choice_of_place);
  for (uint32_t i = 0; i < kernel->params.len; i++)
    bound->choice_of_param[i] =
      find_choice(choices, SL_CHOICE_PARAM, sl_text(code->program, kernel->params.data[i].name), 0);
  for (uint32_t place = 0; place < code->place_count; place++)
    bound->choice_of_place[place] = find_choice(
      choices, SL_CHOICE_OUTCOMES, sl_text(code->program, code->place_names.data[place]), occurrence_of(code, place));
  for (uint32_t i = 0; i < choices->choices.len; i++) {
    const struct sl_choice *choice = &choices->choices.data[i];
    sl_name name = sl_names_find(&code->program->names, choice->name, strlen(choice->name));
    if (choice->kind == SL_CHOICE_LOADS && name)
      *sl_map_put(&bound->choice_of_register, heap, name, NULL) = i + 1;
  }
  bound->inputs = (struct sl_inputs){ bound->params, outcome, loaded, bound };
}

void sl_bound_inputs_select(struct sl_bound_inputs *bound, uint32_t row)
{
  bound->row = &bound->choices->rows[(size_t)row * bound->choices->choices.len];
  for (uint32_t i = 0; i < bound->kernel->params.len; i++)
    bound->params[i] = chosen(bound, bound->choice_of_param[i] - 1, 0);
}

/* ---- printing ---- */

static void print_option(sl_buf *buf, const struct sl_choices *choices, const struct sl_choice *choice, uint32_t index)
{
  enum { SHOWN = 8 };
  const struct sl_option *option = &choices->options.data[index];
  if (index + 1 == choice->large && choice->kind == SL_CHOICE_OUTCOMES) {
    sl_buf_printf(buf, "%d trips", LARGE_TRIPS);
    return;
  }
  if (option->is_random) {
    sl_buf_printf(buf, "random:%llu", (unsigned long long)option->seed);
    return;
  }
  for (uint32_t i = 0; i < option->count && i < SHOWN; i++)
    sl_buf_printf(buf, "%s%lld", i ? " " : "", (long long)choices->values.data[option->first + i]);
  if (choice->kind != SL_CHOICE_PARAM)
    sl_buf_puts(buf, " ...");
}

void sl_print_row(sl_buf *buf, const struct sl_choices *choices, uint32_t row)
{
  const char *separator = "";
  for (uint32_t i = 0; i < choices->choices.len; i++) {
    const struct sl_choice *choice = &choices->choices.data[i];
    if (choice->option_count == 1 && !choice->large && choice->kind == SL_CHOICE_PARAM)
      continue; /* never varies */
    sl_buf_printf(buf, "%s%s%s = ", separator, choice->kind == SL_CHOICE_OUTCOMES ? "?" : choice->kind == SL_CHOICE_LOADS ? "%" : "",
                  choice->name);
    print_option(buf, choices, choice, choices->rows[(size_t)row * choices->choices.len + i]);
    separator = ", ";
  }
}

void sl_print_choices(sl_buf *buf, const struct sl_choices *choices)
{
  const char *separator = "";
  for (uint32_t i = 0; i < choices->choices.len; i++) {
    const struct sl_choice *choice = &choices->choices.data[i];
    if (choice->kind == SL_CHOICE_PARAM) {
      sl_buf_printf(buf, "%s%s in {", separator, choice->name);
      for (uint32_t k = 0; k < choice->option_count; k++) {
        sl_buf_puts(buf, k ? ", " : "");
        print_option(buf, choices, choice, choice->first_option + k);
      }
      sl_buf_printf(buf, "%s}", choice->large ? ", and 1000" : "");
    } else {
      sl_buf_printf(buf, "%s%s%s in %u pattern%s%s", separator, choice->kind == SL_CHOICE_OUTCOMES ? "?" : "%", choice->name,
                    choice->option_count, choice->option_count == 1 ? "" : "s", choice->large ? ", and 1000" : "");
    }
    separator = "; ";
  }
  if (!separator[0])
    sl_buf_puts(buf, "nothing to choose");
}
