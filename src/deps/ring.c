/* ring.c: see ring.h. O(terms) per dimension. */
#include "deps/ring.h"

struct ring {
  struct sl_forms *forms;
  sl_index outer, inner;
  uint32_t inner_atom; /* the inner loop's iteration */
  sl_form number;      /* trips * outer iteration + inner iteration */
};

static int64_t factor_of(const struct ring *ring, sl_sum sum, uint32_t atom)
{
  uint32_t count;
  const struct sl_term *terms = sl_sum_terms(ring->forms, sum, &count);
  for (uint32_t i = 0; i < count; i++)
    if (terms[i].atom == atom)
      return terms[i].factor;
  return 0;
}

/* Takes the number out of a sum, as often as the inner iteration is in it, and looks at what is left: nothing of the two loops but
 * remainders and quotients of sums of the same kind. `modulus`: of the remainder around the sum, whose factors count modulo
 * it; 0: none. */
static bool goes_on(const struct ring *ring, sl_sum sum, int64_t modulus)
{
  sl_form rest =
      sl_form_add(ring->forms, (sl_form){ 0, sum, true }, ring->number, -factor_of(ring, sum, ring->inner_atom));
  for (uint32_t i = 0; rest.is_known && i < ring->forms->sums.data[rest.sum].count; i++) {
    struct sl_term term = ring->forms->terms.data[ring->forms->sums.data[rest.sum].first + i];
    const struct sl_atom atom = ring->forms->atoms.data[term.atom];
    bool is_of_ring =
        sl_atom_depends(ring->forms, term.atom, ring->outer) || sl_atom_depends(ring->forms, term.atom, ring->inner);
    if (!is_of_ring || (modulus && term.factor % modulus == 0))
      continue;
    bool is_inside = atom.kind == SL_ATOM_MOD || atom.kind == SL_ATOM_DIV;
    if (!is_inside || !goes_on(ring, atom.a, atom.kind == SL_ATOM_MOD ? atom.b : 0))
      return false;
  }
  return rest.is_known;
}

static bool find_number(struct ring *ring, const struct sl_trips *trips, int64_t outer_trips)
{
  struct sl_forms *forms = ring->forms;
  sl_form inner = sl_form_iteration(forms, ring->inner, trips->most);
  sl_form outer = sl_form_iteration(forms, ring->outer, outer_trips);
  if (!trips->count.is_known || inner.sum == 0 || sl_sum_depends(forms, trips->count.sum, ring->outer))
    return false;
  ring->inner_atom = forms->terms.data[forms->sums.data[inner.sum].first].atom;
  ring->number = sl_form_add(forms, sl_form_multiply(forms, trips->count, outer), inner, 1);
  return ring->number.is_known;
}

bool sl_ring_goes_on(struct sl_footprints *f, const struct sl_footprint *access, sl_index outer, sl_index inner)
{
  struct ring ring = { .forms = &f->forms, .outer = outer, .inner = inner };
  if (!find_number(&ring, &f->trips.data[inner], sl_footprint_trips(f, outer)))
    return false;
  if (access->first_dim == SL_NO_DIMS)
    return goes_on(&ring, access->byte_sum, 0) && goes_on(&ring, access->row_sum, 0);
  uint32_t count = f->kernel->buffers.data[access->buffer].dim_count;
  for (uint32_t i = 0; i < count; i++) {
    sl_form first = f->dims.data[access->first_dim + i].first;
    if (!first.is_known || !goes_on(&ring, first.sum, 0))
      return false;
  }
  return true;
}
