/* infer_same_test: dependence inference before kernels that mean the same. Random kernels (generate_affine.c) are
 * renamed, moved in memory, get an access split in two or a loop unrolled by two; what happens before what in a run,
 * by the edges found and the order of the streams, must stay.
 *
 * Where an edge is a bound (docs/deps.md) another text may get a better or a worse one: unrolling makes two distances
 * of one. So unrolled and split kernels are compared when the original waits for nothing but what it depends on in
 * that run, and no accesses of the new one belong to a class of bounds; renamed and moved ones always.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/hazards.h"
#include "property/bounds.h"
#include "property/inferred.h"
#include "property/transform.h"

enum { INSTANCE_LIMIT = 300, RUNS = 2, LEAST_COMPARED = 8 /* per cent of the runs, of each transformation */ };

struct state {
  const sluice_targets *targets;
  bool show;
  uint64_t runs[SL_TRANSFORMS], compared[SL_TRANSFORMS];
};

struct subject {
  struct state *state;
  enum sl_transform transform;
  struct sl_inferred original, variant;
  uint64_t random;
  struct sl_failure *failure;
};

/* A kernel that means the same; NULL when there is nothing to change, or after a failure. */
static sluice_program *make_variant(struct subject *s, const char *text)
{
  sluice_program *program = sl_read_program(s->state->targets, text, s->failure), *variant = NULL;
  if (program && sl_transform(program, s->transform, sl_generate_random(&s->random)))
    variant = sl_read_again(s->state->targets, program, s->failure);
  sluice_program_free(program);
  return variant;
}

static bool same_instances(const struct sl_trace *a, const struct sl_trace *b)
{
  if (a->count != b->count)
    return false;
  for (uint32_t i = 0; i < a->count; i++) {
    const struct sl_trace_instance *x = &a->instances[i], *y = &b->instances[i];
    if (x->stream != y->stream || x->issue != y->issue)
      return false;
  }
  return true;
}

/* Whether two kernels' runs depend alike: the transformation is what it says. */
static bool same_hazards(struct subject *s, const struct sl_trace *a, const struct sl_trace *b,
                         struct sl_relation *hazards)
{
  struct sl_relation other = sl_relation_new(b->count);
  sl_hazards_find(hazards, a);
  sl_hazards_find(&other, b);
  sl_relation_close(hazards);
  sl_relation_close(&other);
  bool same = !memcmp(hazards->bits, other.bits, (size_t)hazards->count * hazards->words * sizeof *hazards->bits);
  sl_relation_free(&other);
  return same || sl_fail(s->failure, "the transformation is wrong", "other dependences when %s",
                         sl_transform_names[s->transform]);
}

/* Whether the edges make a run wait for what it depends on, and nothing else. */
static bool is_exact(const struct subject *s, const struct sl_trace *trace, const struct sl_relation *hazards,
                     const struct sl_relation *promised)
{
  struct sl_relation required = sl_relation_new(trace->count);
  sl_order_close(&required, hazards, trace, s->original.hardware);
  bool exact = !memcmp(required.bits, promised->bits, (size_t)required.count * required.words * sizeof *required.bits);
  sl_relation_free(&required);
  return exact;
}

static bool has_bounds(const struct sl_inferred *inferred)
{
  for (uint32_t e = 0; e < inferred->edge_count; e++) {
    if (sl_bound_of_accesses(inferred->kernel, &inferred->edges[e]) != SL_NO_BOUND)
      return true;
  }
  return false;
}

/* What the transformations may not change at all. */
static bool keeps_bounds(enum sl_transform transform)
{
  return transform == SL_TRANSFORM_RENAME || transform == SL_TRANSFORM_MOVE;
}

static bool same_promise(struct subject *s, const struct sl_trace *a, const struct sl_relation *x,
                         const struct sl_relation *y)
{
  char p[120], c[120];
  for (uint32_t later = 0; later < x->count; later++) {
    for (uint32_t earlier = 0; earlier < later; earlier++) {
      if (sl_relation_has(x, earlier, later) == sl_relation_has(y, earlier, later))
        continue;
      sl_trace_describe(a, earlier, p, sizeof p);
      sl_trace_describe(a, later, c, sizeof c);
      return sl_fail(s->failure, sl_transform_names[s->transform], "%s before %s: %s", p, c,
                     sl_relation_has(x, earlier, later) ? "no more" : "only then");
    }
  }
  return true;
}

static bool compare(struct subject *s, const struct sl_trace *a, const struct sl_trace *b)
{
  if (!same_instances(a, b))
    return sl_fail(s->failure, "the transformation is wrong", "other instances when %s",
                   sl_transform_names[s->transform]);
  struct sl_relation hazards = sl_relation_new(a->count), before = sl_relation_new(a->count),
                     after = sl_relation_new(a->count);
  bool holds = same_hazards(s, a, b, &hazards);
  sl_inferred_close(&s->original, a, &before);
  sl_inferred_close(&s->variant, b, &after);
  s->state->runs[s->transform]++;
  bool is_bound = !keeps_bounds(s->transform) && (has_bounds(&s->variant) || !is_exact(s, a, &hazards, &before));
  if (holds && !is_bound) {
    s->state->compared[s->transform]++;
    holds = same_promise(s, a, &before, &after);
  }
  sl_relation_free(&hazards);
  sl_relation_free(&before);
  sl_relation_free(&after);
  return holds;
}

static bool try_run(struct subject *s, unsigned run)
{
  int64_t params[SL_JUDGE_MAX_INPUTS];
  struct sl_oracle_inputs inputs = { params, sl_inferred_params(&s->original, run, &s->random, params),
                                     sl_generate_random(&s->random) };
  struct sl_trace a, b;
  enum sl_trace_status x = sl_trace_init(&a, s->original.program, s->original.kernel, &inputs, INSTANCE_LIMIT);
  enum sl_trace_status y = sl_trace_init(&b, s->variant.program, s->variant.kernel, &inputs, INSTANCE_LIMIT);
  bool holds = x == y && x != SL_TRACE_BAD;
  if (!holds)
    sl_fail(s->failure, "the transformation is wrong", "another run when %s", sl_transform_names[s->transform]);
  else if (x == SL_TRACE_OK)
    holds = compare(s, &a, &b);
  sl_trace_free(&a);
  sl_trace_free(&b);
  return holds;
}

static bool try_transform(struct subject *s, const char *text)
{
  sluice_program *variant = make_variant(s, text);
  if (!variant)
    return !s->failure->kind[0];
  char *shown = NULL;
  if (s->state->show && sluice_program_print(&shown, NULL, variant) == SLUICE_OK)
    printf("%s:\n%s", sl_transform_names[s->transform], shown);
  sluice_string_free(shown);
  bool holds = sl_inferred_init(&s->variant, variant, s->state->targets, s->failure);
  for (unsigned run = 0; run < RUNS && holds; run++)
    holds = try_run(s, run);
  sl_inferred_free(&s->variant);
  return holds;
}

static bool meaning_decides(void *user, const char *text, uint64_t seed, struct sl_failure *failure)
{
  struct subject s = { .state = user, .random = seed, .failure = failure };
  sluice_program *original = sl_read_program(s.state->targets, text, failure);
  if (!original)
    return false;
  bool holds = sl_inferred_init(&s.original, original, s.state->targets, failure);
  for (unsigned t = 0; t < SL_TRANSFORMS && holds; t++) {
    s.transform = (enum sl_transform)t;
    holds = try_transform(&s, text);
  }
  sl_inferred_free(&s.original);
  return holds;
}

int main(int argc, char **argv)
{
  struct sl_campaign campaign;
  sl_campaign_options(&campaign, argc, argv, 1000, 20000);
  sluice_targets *targets = NULL;
  if (sluice_targets_new(&targets) != SLUICE_OK) {
    printf("infer_same: no targets\n");
    return 1;
  }
  struct state state = { .targets = targets, .show = campaign.only_one };
  unsigned failed = sl_campaign_run(&campaign, SL_GENERATE_AFFINE, meaning_decides, &state);
  for (unsigned t = 0; t < SL_TRANSFORMS; t++) {
    printf("infer_same: %s: %llu runs, %llu compared\n", sl_transform_names[t], (unsigned long long)state.runs[t],
           (unsigned long long)state.compared[t]);
    if (campaign.count >= 100 && 100 * state.compared[t] < LEAST_COMPARED * state.runs[t] + 1) {
      printf("FAILED: too few runs are compared\n");
      failed++;
    }
  }
  printf("infer_same: %u failures\n", failed);
  sluice_targets_free(targets);
  return sl_campaign_exit_code(&campaign, failed);
}
