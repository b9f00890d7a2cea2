/* infer_test: dependence inference before judges that know nothing of it, on random kernels (generate_affine.c).
 *
 * For each kernel, with several parameters and outcomes of opaque conditions:
 *
 *   judges   the dependences between instances, byte by byte from an execution (oracle/hazards.c) and from the tree by
 *            libisl (oracle/isl_deps.c), are the same relation once they are closed under transitivity;
 *   sound    what the edges of sl_deps_resolve promise, closed under the order of the streams, holds every one of them;
 *   exact    what the edges promise beyond them belongs to one of the classes of docs/deps.md, "Where the result is a bound".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/hazards.h"
#include "oracle/isl_deps.h"
#include "oracle/order.h"
#include "property/judge.h"

enum {
  INSTANCE_LIMIT = 500,
  RUNS = 3,
  DATAFLOW_EVERY = 5,    /* kernels for which isl's own dataflow is computed; of the others all pairs */
  MAX_TOO_HARD_PERCENT = 2
};

struct tally {
  uint64_t kernels, runs, too_long, instances, hazards;
  uint64_t by_isl, by_dataflow, too_hard;
};

struct state {
  const sluice_targets *targets;
  bool isl_absent;
  struct tally tally;
};

/* One kernel, its copies expanded. */
struct subject {
  struct state *state;
  struct sl_case test;
  uint64_t random;
  struct sl_failure *failure;
};

static uint64_t draw(struct subject *s, uint64_t below)
{
  return sl_generate_random(&s->random) % below;
}

static int expand(void *arg)
{
  sluice_program *program = arg;
  sl_expand_copies(program, sl_case_kernel(program));
  return SLUICE_OK;
}

static bool prepare(struct subject *s, const char *text)
{
  s->test.original = sl_read_program(s->state->targets, text, s->failure);
  return s->test.original && sl_guard_run(&s->test.original->guard, expand, s->test.original) == SLUICE_OK;
}

/* ---- the judges ---- */

/* Fails for the first pair that one of two relations has and the other has not. */
static bool same_relation(struct subject *s, const struct sl_trace *trace, const struct sl_relation *by_bytes,
                          const struct sl_relation *by_isl)
{
  char x[120], y[120];
  for (uint32_t later = 0; later < trace->count; later++) {
    for (uint32_t earlier = 0; earlier < later; earlier++) {
      bool executed = sl_relation_has(by_bytes, earlier, later), solved = sl_relation_has(by_isl, earlier, later);
      if (executed == solved)
        continue;
      sl_trace_describe(trace, earlier, x, sizeof x);
      sl_trace_describe(trace, later, y, sizeof y);
      return sl_fail(s->failure, executed ? "isl lacks a dependence" : "isl has one more", "%s -> %s", x, y);
    }
  }
  return true;
}

/* `hazards` is closed. */
static bool isl_agrees(struct subject *s, const struct sl_trace *trace, const struct sl_oracle_inputs *inputs,
                       const struct sl_relation *hazards)
{
  struct tally *tally = &s->state->tally;
  enum sl_isl_method method = draw(s, DATAFLOW_EVERY) == 0 ? SL_ISL_LAST : SL_ISL_ALL;
  struct sl_isl_deps deps;
  enum sl_isl_status status = sl_isl_find(&deps, s->test.original, sl_case_kernel(s->test.original), inputs, method);
  bool holds = true;
  s->state->isl_absent = status == SL_ISL_ABSENT;
  tally->too_hard += status == SL_ISL_TOO_HARD;
  if (status == SL_ISL_OK) {
    struct sl_relation found = sl_relation_new(trace->count);
    sl_isl_relate(&found, &deps, trace);
    sl_relation_close(&found);
    holds = same_relation(s, trace, hazards, &found);
    sl_relation_free(&found);
    *(method == SL_ISL_LAST ? &tally->by_dataflow : &tally->by_isl) += 1;
  }
  sl_isl_free(&deps);
  return holds;
}

static uint64_t count_pairs(const struct sl_relation *relation)
{
  uint64_t pairs = 0;
  for (uint32_t later = 0; later < relation->count; later++) {
    for (uint32_t earlier = 0; earlier < later; earlier++)
      pairs += sl_relation_has(relation, earlier, later);
  }
  return pairs;
}

static bool judge_run(struct subject *s, const struct sl_trace *trace, const struct sl_oracle_inputs *inputs, bool ask_isl)
{
  struct sl_relation hazards = sl_relation_new(trace->count);
  sl_hazards_find(&hazards, trace);
  s->state->tally.runs++;
  s->state->tally.instances += trace->count;
  s->state->tally.hazards += count_pairs(&hazards);
  sl_relation_close(&hazards);
  bool holds = !ask_isl || isl_agrees(s, trace, inputs, &hazards);
  sl_relation_free(&hazards);
  return holds;
}

/* ---- one kernel ---- */

/* isl is slow and is asked once a kernel. */
static bool try_run(struct subject *s, unsigned run)
{
  struct sl_oracle_inputs inputs = { s->test.params, sl_case_kernel(s->test.original)->params.len,
                                     sl_generate_random(&s->random) };
  for (uint32_t p = 0; run > 0 && p < inputs.param_count; p++)
    s->test.params[p] = (int64_t)draw(s, SL_AFFINE_MAX_PARAM + 1);
  struct sl_trace trace;
  enum sl_trace_status status =
      sl_trace_init(&trace, s->test.original, sl_case_kernel(s->test.original), &inputs, INSTANCE_LIMIT);
  bool holds = status != SL_TRACE_BAD || sl_fail(s->failure, "no run", "the generated kernel cannot be executed");
  s->state->tally.too_long += status == SL_TRACE_LONG;
  if (status == SL_TRACE_OK)
    holds = judge_run(s, &trace, &inputs, run == 0);
  sl_trace_free(&trace);
  return holds;
}

static bool inference_holds(void *user, const char *text, uint64_t seed, struct sl_failure *failure)
{
  struct subject s = { .state = user, .random = seed, .failure = failure };
  s.test.targets = s.state->targets;
  bool holds = prepare(&s, text);
  s.state->tally.kernels++;
  if (holds)
    sl_case_default_params(&s.test);
  for (unsigned run = 0; run < RUNS && holds; run++)
    holds = try_run(&s, run);
  sluice_program_free(s.test.original);
  return holds;
}

/* ---- the campaign ---- */

static unsigned report_judges(const struct state *state)
{
  const struct tally *tally = &state->tally;
  if (state->isl_absent)
    printf("libisl judges nothing: it was not found when the build was configured (package libisl-dev)\n");
  printf("judges: %llu runs of %llu kernels, %llu instances, %llu dependences between them, %llu runs too long\n",
         (unsigned long long)tally->runs, (unsigned long long)tally->kernels, (unsigned long long)tally->instances,
         (unsigned long long)tally->hazards, (unsigned long long)tally->too_long);
  printf("libisl: agrees on %llu kernels by all pairs and on %llu by dataflow, %llu were too hard for it\n",
         (unsigned long long)tally->by_isl, (unsigned long long)tally->by_dataflow, (unsigned long long)tally->too_hard);
  if (100 * tally->too_hard <= MAX_TOO_HARD_PERCENT * tally->kernels || tally->kernels < 100)
    return 0;
  printf("FAILED: more than %d %% of the kernels are too hard for libisl\n", MAX_TOO_HARD_PERCENT);
  return 1;
}

int main(int argc, char **argv)
{
  struct sl_campaign campaign;
  sl_campaign_options(&campaign, argc, argv, 500, 20000);
  sluice_targets *targets = NULL;
  if (sluice_targets_new(&targets) != SLUICE_OK) {
    printf("infer: no targets\n");
    return 1;
  }
  struct state state = { .targets = targets };
  unsigned failed = sl_campaign_run(&campaign, SL_GENERATE_AFFINE, inference_holds, &state);
  failed += report_judges(&state);
  printf("infer: %llu kernels, %u failures\n", (unsigned long long)state.tally.kernels, failed);
  sluice_targets_free(targets);
  return sl_campaign_exit_code(&campaign, failed);
}
