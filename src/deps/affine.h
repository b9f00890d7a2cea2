/* affine.h: index expressions in a normal form, so that two of them can be subtracted and told apart.
 *
 * A form is a constant plus a sum of terms, a term an integer times an atom: the iteration number of a loop (0, 1, ... in each
 * visit, whatever the loop's bounds and step), a parameter that only the run knows, a remainder or quotient of another sum
 * by a constant, or a product of two atoms. Sums and atoms are interned: equal ones have equal numbers. What does not fit
 * (registers, overflow, division by what is no constant, too large) is not known, and may be anything.
 */
#ifndef SL_DEPS_AFFINE_H
#define SL_DEPS_AFFINE_H

#include "ir/eval.h"

typedef uint32_t sl_sum; /* 0 = the empty sum */

typedef struct sl_form {
  int64_t constant;
  sl_sum sum;
  bool is_known;
} sl_form;

enum sl_atom_kind { SL_ATOM_LOOP, SL_ATOM_PARAM, SL_ATOM_MOD, SL_ATOM_DIV, SL_ATOM_PRODUCT };

/* Atoms share what is inside them: a short text (loops whose bounds use outer variables twice) can mean an enormous one, and
 * whoever looks into an atom meets all of it. A larger one is not known. */
enum { SL_ATOM_SIZE_MAX = 64 };

/* Ends of a range that has none. */
#define SL_NO_MIN INT64_MIN
#define SL_NO_MAX INT64_MAX

#define SL_FACTOR_MAX ((int64_t)1 << 61)

struct sl_range {
  int64_t min, max; /* both included */
};

struct sl_atom {
  uint8_t kind;
  uint32_t a;       /* LOOP: body block; PARAM: name; MOD, DIV: the sum inside; PRODUCT: an atom */
  int64_t b;        /* MOD, DIV: the divisor; PRODUCT: the other atom */
  int64_t constant; /* MOD, DIV: of the form inside */
  uint32_t size;    /* atoms in it, itself counted, each as often as it is met; at most SL_ATOM_SIZE_MAX */
  struct sl_range range;
};

struct sl_term {
  int64_t factor; /* not 0; no larger than SL_FACTOR_MAX, so that differences of two have room */
  uint32_t atom;
};

struct sl_sum_row {
  uint32_t first, count; /* into terms, by atom ascending */
  uint32_t next;         /* of the same hash, 0 = none */
};

struct sl_forms {
  sl_heap *heap;
  const struct sl_kernel *kernel;
  struct sl_param_values params; /* static ones */
  sl_vec(struct sl_term) terms;
  sl_vec(struct sl_sum_row) sums; /* (from 1; 0 the empty one) */
  sl_vec(struct sl_atom) atoms;
  sl_vec(uint32_t) next_atom; /* of the same hash, index + 1 */
  sl_map sum_of, atom_of;     /* hash -> first */
  sl_vec(sl_form) variables;  /* by name: what a loop variable stands for now */
};

void sl_forms_init(struct sl_forms *forms, sl_heap *heap, const struct sl_kernel *kernel, uint32_t names);

static inline sl_form sl_form_constant(int64_t value)
{
  return (sl_form){ value, 0, true };
}
static inline sl_form sl_form_unknown(void)
{
  return (sl_form){ 0, 0, false };
}
static inline bool sl_form_is_constant(sl_form form)
{
  return form.is_known && form.sum == 0;
}

/* An expression of the kernel, loop variables standing for what `variables` says. */
sl_form sl_form_of(struct sl_forms *forms, sl_index expr);
sl_form sl_form_add(struct sl_forms *forms, sl_form a, sl_form b, int64_t factor_of_b);
sl_form sl_form_scale(struct sl_forms *forms, sl_form form, int64_t factor);
sl_form sl_form_multiply(struct sl_forms *forms, sl_form a, sl_form b);
/* The iteration number of a loop, by its body; at most `trips` - 1 (SL_NO_MAX: not known). */
sl_form sl_form_iteration(struct sl_forms *forms, sl_index body, int64_t trips);

sl_form sl_form_of_atom(struct sl_forms *forms, uint32_t atom);

/* The form with a number in place of the iteration of a loop. */
sl_form sl_form_substitute(struct sl_forms *forms, sl_form form, sl_index body, int64_t iteration);

/* One after the other, by number, the atoms of two sums, with their factors; 0 where a sum does not hold it. */
struct sl_sum_pair {
  const struct sl_forms *forms;
  sl_sum a, b;
  uint32_t at_a, at_b; /* next terms */
  uint32_t atom;
  int64_t factor_a, factor_b;
};
static inline struct sl_sum_pair sl_sum_pair_of(const struct sl_forms *forms, sl_sum a, sl_sum b)
{
  return (struct sl_sum_pair){ .forms = forms, .a = a, .b = b };
}
bool sl_sum_pair_next(struct sl_sum_pair *pair);

/* Whether an atom, a sum holds the iteration number of the loop. */
bool sl_atom_depends(const struct sl_forms *forms, uint32_t atom, sl_index body);
bool sl_sum_depends(const struct sl_forms *forms, sl_sum sum, sl_index body);
struct sl_range sl_sum_range(const struct sl_forms *forms, sl_sum sum);
static inline const struct sl_term *sl_sum_terms(const struct sl_forms *forms, sl_sum sum, uint32_t *count)
{
  *count = forms->sums.data[sum].count;
  return *count ? forms->terms.data + forms->sums.data[sum].first : NULL;
}

/* The sum of two ends, `none` when one of them is that or the sum does not fit. */
static inline int64_t sl_add_ends(int64_t a, int64_t b, int64_t none)
{
  int64_t sum;
  return a == none || b == none || __builtin_add_overflow(a, b, &sum) ? none : sum;
}
/* Ranges; an end that does not fit is none. */
struct sl_range sl_range_add(struct sl_range a, struct sl_range b);
struct sl_range sl_range_scale(struct sl_range range, int64_t factor);

#endif
