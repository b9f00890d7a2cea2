/* affine.c: see affine.h. Time per expression: its size, expected. */
#include "deps/affine.h"

#include <assert.h>
#include <stdlib.h>

enum { TERMS_MAX = 16, DEPTH_MAX = SL_NESTING_EXPR };

/* A sum being made. */
struct draft {
  struct sl_term terms[TERMS_MAX];
  uint32_t count;
  bool failed; /* too many terms, or a factor does not fit */
};

/* ---- ranges ---- */

struct sl_range sl_range_add(struct sl_range a, struct sl_range b)
{
  return (struct sl_range){ sl_add_ends(a.min, b.min, SL_NO_MIN), sl_add_ends(a.max, b.max, SL_NO_MAX) };
}

static int64_t scale_end(int64_t end, int64_t factor, int64_t none)
{
  int64_t product;
  bool is_none = end == SL_NO_MIN || end == SL_NO_MAX;
  return is_none || __builtin_mul_overflow(end, factor, &product) ? none : product;
}

struct sl_range sl_range_scale(struct sl_range range, int64_t factor)
{
  if (factor == 0)
    return (struct sl_range){ 0, 0 };
  if (factor > 0)
    return (struct sl_range){ scale_end(range.min, factor, SL_NO_MIN), scale_end(range.max, factor, SL_NO_MAX) };
  return (struct sl_range){ scale_end(range.max, factor, SL_NO_MIN), scale_end(range.min, factor, SL_NO_MAX) };
}

struct sl_range sl_sum_range(const struct sl_forms *forms, sl_sum sum)
{
  struct sl_range range = { 0, 0 };
  uint32_t count;
  const struct sl_term *terms = sl_sum_terms(forms, sum, &count);
  for (uint32_t i = 0; i < count; i++)
    range = sl_range_add(range, sl_range_scale(forms->atoms.data[terms[i].atom].range, terms[i].factor));
  return range;
}

static struct sl_range form_range(const struct sl_forms *forms, sl_form form)
{
  struct sl_range constant = { form.constant, form.constant };
  return sl_range_add(sl_sum_range(forms, form.sum), constant);
}

/* ---- interning ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

static bool same_atom(const struct sl_atom *a, const struct sl_atom *b)
{
  return a->kind == b->kind && a->a == b->a && a->b == b->b && a->constant == b->constant;
}

static uint32_t intern_atom(struct sl_forms *forms, struct sl_atom atom)
{
  uint64_t hash = mix(mix(mix(mix(1, atom.kind), atom.a), (uint64_t)atom.b), (uint64_t)atom.constant);
  uint32_t *first = sl_map_put(&forms->atom_of, forms->heap, hash, NULL);
  for (uint32_t at = *first; at; at = forms->next_atom.data[at - 1])
    if (same_atom(&forms->atoms.data[at - 1], &atom))
      return at - 1;
  sl_vec_add(forms->heap, &forms->atoms, atom);
  sl_vec_add(forms->heap, &forms->next_atom, *first);
  *first = forms->atoms.len;
  return forms->atoms.len - 1;
}

static sl_sum intern_sum(struct sl_forms *forms, const struct draft *draft)
{
  if (draft->count == 0)
    return 0;
  uint64_t hash = 2;
  for (uint32_t i = 0; i < draft->count; i++)
    hash = mix(mix(hash, draft->terms[i].atom), (uint64_t)draft->terms[i].factor);
  uint32_t *first = sl_map_put(&forms->sum_of, forms->heap, hash, NULL);
  for (uint32_t at = *first; at; at = forms->sums.data[at].next) {
    const struct sl_sum_row *row = &forms->sums.data[at];
    bool same = row->count == draft->count;
    for (uint32_t i = 0; same && i < row->count; i++) {
      const struct sl_term *term = &forms->terms.data[row->first + i];
      same = term->atom == draft->terms[i].atom && term->factor == draft->terms[i].factor;
    }
    if (same)
      return at;
  }
  struct sl_sum_row row = { forms->terms.len, draft->count, *first };
  for (uint32_t i = 0; i < draft->count; i++)
    sl_vec_add(forms->heap, &forms->terms, draft->terms[i]);
  *first = forms->sums.len;
  sl_vec_add(forms->heap, &forms->sums, row);
  return *first;
}

void sl_forms_init(struct sl_forms *forms, sl_heap *heap, const struct sl_kernel *kernel, uint32_t names)
{
  memset(forms, 0, sizeof *forms);
  forms->heap = heap;
  forms->kernel = kernel;
  sl_param_values_init(&forms->params, heap, kernel, true);
  (void)sl_vec_push(heap, &forms->sums);
  (void)sl_vec_extend(heap, &forms->variables, names);
}

/* ---- arithmetic ---- */

static void add_term(struct draft *draft, int64_t factor, uint32_t atom)
{
  uint32_t at = 0;
  while (at < draft->count && draft->terms[at].atom < atom)
    at++;
  if (at < draft->count && draft->terms[at].atom == atom) {
    if (__builtin_add_overflow(draft->terms[at].factor, factor, &draft->terms[at].factor))
      draft->failed = true;
    if (draft->terms[at].factor == 0) {
      memmove(&draft->terms[at], &draft->terms[at + 1], (draft->count - at - 1) * sizeof *draft->terms);
      draft->count--;
    }
    return;
  }
  if (factor == 0)
    return;
  if (draft->count == TERMS_MAX) {
    draft->failed = true;
    return;
  }
  memmove(&draft->terms[at + 1], &draft->terms[at], (draft->count - at) * sizeof *draft->terms);
  draft->terms[at] = (struct sl_term){ factor, atom };
  draft->count++;
}

static void add_scaled(const struct sl_forms *forms, struct draft *draft, sl_sum sum, int64_t factor)
{
  uint32_t count;
  const struct sl_term *terms = sl_sum_terms(forms, sum, &count);
  for (uint32_t i = 0; i < count; i++) {
    int64_t product;
    if (__builtin_mul_overflow(terms[i].factor, factor, &product))
      draft->failed = true;
    else
      add_term(draft, product, terms[i].atom);
  }
}

static sl_form finish(struct sl_forms *forms, const struct draft *draft, int64_t constant)
{
  bool fits = !draft->failed;
  for (uint32_t i = 0; i < draft->count; i++)
    fits = fits && -SL_FACTOR_MAX <= draft->terms[i].factor && draft->terms[i].factor <= SL_FACTOR_MAX;
  if (!fits)
    return sl_form_unknown();
  return (sl_form){ constant, intern_sum(forms, draft), true };
}

sl_form sl_form_add(struct sl_forms *forms, sl_form a, sl_form b, int64_t factor_of_b)
{
  int64_t constant;
  if (!a.is_known || !b.is_known || __builtin_mul_overflow(b.constant, factor_of_b, &constant) ||
      __builtin_add_overflow(a.constant, constant, &constant))
    return sl_form_unknown();
  if (b.sum == 0)
    return (sl_form){ constant, a.sum, true };
  struct draft draft = { .count = 0 };
  add_scaled(forms, &draft, a.sum, 1);
  add_scaled(forms, &draft, b.sum, factor_of_b);
  return finish(forms, &draft, constant);
}

sl_form sl_form_scale(struct sl_forms *forms, sl_form form, int64_t factor)
{
  return sl_form_add(forms, sl_form_constant(0), form, factor);
}

static struct sl_range product_range(struct sl_range a, struct sl_range b)
{
  if (a.min < 0 || b.min < 0)
    return (struct sl_range){ SL_NO_MIN, SL_NO_MAX };
  int64_t min = scale_end(a.min, b.min, SL_NO_MIN);
  return (struct sl_range){ min < 0 ? 0 : min, b.max == SL_NO_MAX ? SL_NO_MAX : scale_end(a.max, b.max, SL_NO_MAX) };
}

static void add_product(struct sl_forms *forms, struct draft *draft, int64_t factor, uint32_t a, uint32_t b)
{
  struct sl_atom atom = { .kind = SL_ATOM_PRODUCT, .a = a < b ? a : b, .b = a < b ? b : a };
  atom.size = 1 + forms->atoms.data[a].size + forms->atoms.data[b].size;
  atom.range = product_range(forms->atoms.data[a].range, forms->atoms.data[b].range);
  if (atom.size > SL_ATOM_SIZE_MAX)
    draft->failed = true;
  else
    add_term(draft, factor, intern_atom(forms, atom));
}

sl_form sl_form_multiply(struct sl_forms *forms, sl_form a, sl_form b)
{
  if (!a.is_known || !b.is_known)
    return sl_form_unknown();
  if (a.sum == 0)
    return sl_form_scale(forms, b, a.constant);
  if (b.sum == 0)
    return sl_form_scale(forms, a, b.constant);
  struct draft draft = { .count = 0 };
  int64_t constant;
  if (__builtin_mul_overflow(a.constant, b.constant, &constant))
    return sl_form_unknown();
  add_scaled(forms, &draft, a.sum, b.constant);
  add_scaled(forms, &draft, b.sum, a.constant);
  uint32_t left = forms->sums.data[a.sum].count, right = forms->sums.data[b.sum].count;
  for (uint32_t i = 0; i < left; i++)
    for (uint32_t j = 0; j < right; j++) {
      struct sl_term x = forms->terms.data[forms->sums.data[a.sum].first + i];
      struct sl_term y = forms->terms.data[forms->sums.data[b.sum].first + j];
      int64_t factor;
      if (__builtin_mul_overflow(x.factor, y.factor, &factor))
        return sl_form_unknown();
      add_product(forms, &draft, factor, x.atom, y.atom);
    }
  return finish(forms, &draft, constant);
}

static int64_t floor_div(int64_t a, int64_t b)
{
  assert(b > 0);
  return a / b - (a % b < 0);
}

static int64_t floor_mod(int64_t a, int64_t b)
{
  int64_t rest = a % b;
  return rest < 0 ? rest + b : rest;
}

sl_form sl_form_of_atom(struct sl_forms *forms, uint32_t atom)
{
  struct draft draft = { .terms = { { 1, atom } }, .count = 1 };
  return finish(forms, &draft, 0);
}

static sl_form of_atom(struct sl_forms *forms, struct sl_atom atom)
{
  return sl_form_of_atom(forms, intern_atom(forms, atom));
}

/* A remainder or quotient of a sum. */
static sl_form of_division(struct sl_forms *forms, struct sl_atom atom)
{
  uint32_t count;
  const struct sl_term *terms = sl_sum_terms(forms, atom.a, &count);
  atom.size = 1;
  for (uint32_t i = 0; i < count; i++)
    atom.size += forms->atoms.data[terms[i].atom].size;
  return atom.size > SL_ATOM_SIZE_MAX ? sl_form_unknown() : of_atom(forms, atom);
}

/* a % m: factors and constant modulo m first, so that what differs by multiples of m is one atom. */
static sl_form remainder_of(struct sl_forms *forms, sl_form a, int64_t m)
{
  struct draft draft = { .count = 0 };
  uint32_t count = forms->sums.data[a.sum].count;
  for (uint32_t i = 0; i < count; i++) {
    struct sl_term term = forms->terms.data[forms->sums.data[a.sum].first + i];
    add_term(&draft, floor_mod(term.factor, m), term.atom);
  }
  sl_form inside = finish(forms, &draft, floor_mod(a.constant, m));
  if (!inside.is_known || inside.sum == 0)
    return inside;
  struct sl_range range = form_range(forms, inside);
  if (range.min >= 0 && range.max < m)
    return inside;
  return of_division(
      forms, (struct sl_atom){
                 .kind = SL_ATOM_MOD, .a = inside.sum, .b = m, .constant = inside.constant, .range = { 0, m - 1 } });
}

/* a / m, rounded down: what m divides comes out. */
static sl_form quotient_of(struct sl_forms *forms, sl_form a, int64_t m)
{
  struct draft whole = { .count = 0 }, rest = { .count = 0 };
  uint32_t count = forms->sums.data[a.sum].count;
  for (uint32_t i = 0; i < count; i++) {
    struct sl_term term = forms->terms.data[forms->sums.data[a.sum].first + i];
    if (term.factor % m == 0)
      add_term(&whole, term.factor / m, term.atom);
    else
      add_term(&rest, term.factor, term.atom);
  }
  sl_form outside = finish(forms, &whole, floor_div(a.constant, m));
  sl_form inside = finish(forms, &rest, floor_mod(a.constant, m));
  if (!outside.is_known || !inside.is_known || inside.sum == 0)
    return inside.is_known ? outside : inside;
  struct sl_range range = form_range(forms, inside);
  if (range.min >= 0 && range.max < m)
    return outside;
  struct sl_range divided = { range.min == SL_NO_MIN ? SL_NO_MIN : floor_div(range.min, m),
                              range.max == SL_NO_MAX ? SL_NO_MAX : floor_div(range.max, m) };
  sl_form atom = of_division(
      forms,
      (struct sl_atom){ .kind = SL_ATOM_DIV, .a = inside.sum, .b = m, .constant = inside.constant, .range = divided });
  return sl_form_add(forms, outside, atom, 1);
}

/* ---- expressions ---- */

static sl_form of_name(struct sl_forms *forms, sl_name name)
{
  const uint32_t *param = sl_map_get(&forms->params.index, name);
  if (!param)
    return forms->variables.data[name];
  struct sl_constant value = forms->params.values.data[*param];
  if (value.state == SL_CONST_KNOWN)
    return sl_form_constant(value.value);
  return of_atom(forms, (struct sl_atom){ .kind = SL_ATOM_PARAM, .a = name, .size = 1, .range = { 0, SL_NO_MAX } });
}

static sl_form of_expr(struct sl_forms *forms, sl_index index, uint32_t depth)
{
  const struct sl_expr expr = forms->kernel->exprs.data[index];
  if (depth > DEPTH_MAX)
    return sl_form_unknown();
  switch ((enum sl_expr_kind)expr.kind) {
  case SL_EXPR_INT: return sl_form_constant(expr.u.value);
  case SL_EXPR_NAME: return of_name(forms, (sl_name)expr.u.value);
  case SL_EXPR_REG: return sl_form_unknown();
  case SL_EXPR_NEG: return sl_form_scale(forms, of_expr(forms, expr.u.sub.lhs, depth + 1), -1);
  default: break;
  }
  sl_form a = of_expr(forms, expr.u.sub.lhs, depth + 1), b = of_expr(forms, expr.u.sub.rhs, depth + 1);
  switch ((enum sl_expr_kind)expr.kind) {
  case SL_EXPR_ADD: return sl_form_add(forms, a, b, 1);
  case SL_EXPR_SUB: return sl_form_add(forms, a, b, -1);
  case SL_EXPR_MUL: return sl_form_multiply(forms, a, b);
  default: break;
  }
  if (!a.is_known || !sl_form_is_constant(b) || b.constant <= 0)
    return sl_form_unknown();
  return expr.kind == SL_EXPR_MOD ? remainder_of(forms, a, b.constant) : quotient_of(forms, a, b.constant);
}

sl_form sl_form_of(struct sl_forms *forms, sl_index expr)
{
  return of_expr(forms, expr, 0);
}

sl_form sl_form_iteration(struct sl_forms *forms, sl_index body, int64_t trips)
{
  if (trips == 1)
    return sl_form_constant(0);
  int64_t last = trips == SL_NO_MAX ? SL_NO_MAX : trips > 0 ? trips - 1 : 0;
  return of_atom(forms, (struct sl_atom){ .kind = SL_ATOM_LOOP, .a = body, .size = 1, .range = { 0, last } });
}

bool sl_atom_depends(const struct sl_forms *forms, uint32_t index, sl_index body)
{
  const struct sl_atom *atom = &forms->atoms.data[index];
  switch ((enum sl_atom_kind)atom->kind) {
  case SL_ATOM_LOOP: return atom->a == body;
  case SL_ATOM_PARAM: return false;
  case SL_ATOM_MOD:
  case SL_ATOM_DIV: return sl_sum_depends(forms, atom->a, body);
  case SL_ATOM_PRODUCT: return sl_atom_depends(forms, atom->a, body) || sl_atom_depends(forms, (uint32_t)atom->b, body);
  }
  return true;
}

bool sl_sum_depends(const struct sl_forms *forms, sl_sum sum, sl_index body)
{
  uint32_t count;
  const struct sl_term *terms = sl_sum_terms(forms, sum, &count);
  for (uint32_t i = 0; i < count; i++)
    if (sl_atom_depends(forms, terms[i].atom, body))
      return true;
  return false;
}

static sl_form substitute_atom(struct sl_forms *forms, uint32_t index, sl_index body, int64_t iteration)
{
  const struct sl_atom atom = forms->atoms.data[index];
  if (!sl_atom_depends(forms, index, body))
    return sl_form_of_atom(forms, index);
  switch ((enum sl_atom_kind)atom.kind) {
  case SL_ATOM_LOOP: return sl_form_constant(iteration);
  case SL_ATOM_PARAM: break;
  case SL_ATOM_PRODUCT:
    return sl_form_multiply(forms, substitute_atom(forms, atom.a, body, iteration),
                            substitute_atom(forms, (uint32_t)atom.b, body, iteration));
  case SL_ATOM_MOD:
  case SL_ATOM_DIV: {
    sl_form inside = sl_form_substitute(forms, (sl_form){ atom.constant, atom.a, true }, body, iteration);
    if (!inside.is_known)
      return inside;
    return atom.kind == SL_ATOM_MOD ? remainder_of(forms, inside, atom.b) : quotient_of(forms, inside, atom.b);
  }
  }
  return sl_form_unknown();
}

sl_form sl_form_substitute(struct sl_forms *forms, sl_form form, sl_index body, int64_t iteration)
{
  sl_form result = { form.constant, 0, form.is_known };
  for (uint32_t i = 0; result.is_known && i < forms->sums.data[form.sum].count; i++) {
    struct sl_term term = forms->terms.data[forms->sums.data[form.sum].first + i];
    result = sl_form_add(forms, result, substitute_atom(forms, term.atom, body, iteration), term.factor);
  }
  return result;
}

bool sl_sum_pair_next(struct sl_sum_pair *pair)
{
  const struct sl_forms *forms = pair->forms;
  const struct sl_sum_row *a = &forms->sums.data[pair->a], *b = &forms->sums.data[pair->b];
  struct sl_term none = { 0, UINT32_MAX };
  struct sl_term x = pair->at_a < a->count ? forms->terms.data[a->first + pair->at_a] : none;
  struct sl_term y = pair->at_b < b->count ? forms->terms.data[b->first + pair->at_b] : none;
  pair->atom = x.atom < y.atom ? x.atom : y.atom;
  pair->factor_a = x.atom == pair->atom ? x.factor : 0;
  pair->factor_b = y.atom == pair->atom ? y.factor : 0;
  pair->at_a += x.atom == pair->atom;
  pair->at_b += y.atom == pair->atom;
  return pair->atom != UINT32_MAX;
}
