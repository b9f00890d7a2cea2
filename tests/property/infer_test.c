/* infer_test: dependence inference before judges that know nothing of it, on random kernels (generate_affine.c).
 *
 * For each kernel, with several parameters and outcomes of opaque conditions:
 *
 *   judges   the dependences between instances, byte by byte from an execution (oracle/hazards.c) and from the tree by
 *            libisl (oracle/isl_deps.c), are the same relation once they are closed under transitivity;
 *   sound    what the edges of sl_deps_resolve promise, closed under the order of the streams, holds every one of them;
 *   exact    what the edges promise beyond them belongs to one of the classes of docs/deps.md, "Where the result is a
 *            bound".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/hazards.h"
#include "oracle/isl_deps.h"
#include "property/bounds.h"
#include "property/inferred.h"
#include "property/promise.h"

enum {
  INSTANCE_LIMIT = 500,
  RUNS = 3,
  DATAFLOW_EVERY = 5, /* kernels for which isl's own dataflow is computed; of the others all pairs */
  MAX_TOO_HARD_PERCENT = 2
};

enum edge_form { EDGE_SAME_ITERATION, EDGE_CARRIED, EDGE_ACROSS, EDGE_VECTOR, EDGE_FORMS };
static const char *const edge_form_names[EDGE_FORMS] = { "of the same iteration", "carried", "across visits",
                                                         "vectors" };

struct tally {
  uint64_t kernels, runs, too_long, instances, hazards;
  uint64_t by_isl, by_dataflow, too_hard, crashed, disagreed;
  uint64_t edges[EDGE_FORMS], promised, excess[SL_BOUNDS];
};

struct state {
  const sluice_targets *targets;
  bool isl_absent;
  struct tally tally;
};

/* What the runs say about an edge. */
struct found {
  bool is_witnessed;    /* some instances depend on each other at just the distance of the edge */
  uint64_t unexplained; /* instances that wait for too much, and only such others can be the reason */
  char first[300];      /* of them */
};

struct subject {
  struct state *state;
  struct sl_inferred inferred;
  struct found *found; /* by edge */
  uint64_t random;
  struct sl_failure *failure;
};

static uint64_t draw(struct subject *s, uint64_t below)
{
  return sl_generate_random(&s->random) % below;
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

/* Whether isl finds the same relation by one of its methods; `status` says whether it could. */
static bool isl_agrees_by(struct subject *s, enum sl_isl_method method, const struct sl_trace *trace,
                          const struct sl_oracle_inputs *inputs, const struct sl_relation *hazards,
                          enum sl_isl_status *status)
{
  struct sl_isl_deps deps;
  bool holds = true;
  *status = sl_isl_find(&deps, s->inferred.program, s->inferred.kernel, inputs, method);
  if (*status == SL_ISL_OK) {
    struct sl_relation found = sl_relation_new(trace->count);
    sl_isl_relate(&found, &deps, trace);
    sl_relation_close(&found);
    holds = same_relation(s, trace, hazards, &found);
    sl_relation_free(&found);
  }
  sl_isl_free(&deps);
  return holds;
}

/* `hazards` is closed. What isl's dataflow crashes on or judges otherwise is judged by all pairs: libisl 0.25 writes out
 * of bounds there for rare kernels (isl_basic_map_swap_div; valgrind on seeds 10695 and 11087 shows it). */
static bool isl_agrees(struct subject *s, const struct sl_trace *trace, const struct sl_oracle_inputs *inputs,
                       const struct sl_relation *hazards)
{
  struct tally *tally = &s->state->tally;
  enum sl_isl_status status = SL_ISL_OK;
  bool by_dataflow = draw(s, DATAFLOW_EVERY) == 0, holds = true;
  if (by_dataflow) {
    holds = isl_agrees_by(s, SL_ISL_LAST, trace, inputs, hazards, &status);
    if (!holds || status == SL_ISL_CRASHED) {
      *(holds ? &tally->crashed : &tally->disagreed) += 1;
      by_dataflow = false;
      *s->failure = (struct sl_failure){ 0 };
    }
  }
  if (!by_dataflow)
    holds = isl_agrees_by(s, SL_ISL_ALL, trace, inputs, hazards, &status);
  s->state->isl_absent = status == SL_ISL_ABSENT;
  tally->too_hard += status == SL_ISL_TOO_HARD;
  if (status == SL_ISL_OK)
    *(by_dataflow ? &tally->by_dataflow : &tally->by_isl) += 1;
  return holds;
}

/* ---- the edges ---- */

/* What a run says about its instances. */
struct relations {
  struct sl_relation hazards;   /* closed */
  struct sl_relation conflicts; /* all pairs that touch the same memory */
  struct sl_relation
      required; /* what must have retired when an instance issues: hazards under the order of the streams */
  struct sl_relation promised; /* the same of the edges */
};

static bool is_sound(struct subject *s, const struct sl_trace *trace, const struct relations *r)
{
  char x[120], y[120];
  for (uint32_t later = 0; later < trace->count; later++) {
    for (uint32_t earlier = 0; earlier < later; earlier++) {
      if (!sl_relation_has(&r->conflicts, earlier, later) || sl_relation_has(&r->promised, earlier, later) ||
          sl_hardware_gives(trace, s->inferred.hardware, earlier, later))
        continue;
      sl_trace_describe(trace, earlier, x, sizeof x);
      sl_trace_describe(trace, later, y, sizeof y);
      return sl_fail(s->failure, "a dependence is not found", "%s -> %s", x, y);
    }
  }
  return true;
}

/* Whether an instance depends on one of the producer's that execute in the awaited part of the run. */
static bool depends_there(const struct sl_trace *trace, const struct sl_relation *conflicts, const struct sl_edge *edge,
                          uint32_t consumer, bool *nothing_ran)
{
  struct sl_target_time target = sl_edge_target(trace, edge, consumer);
  const struct sl_trace_list *producers = &trace->of_stmt[edge->producer];
  *nothing_ran = true;
  for (uint32_t i = 0; i < producers->count; i++) {
    uint32_t producer = producers->instances[i];
    uint64_t time = trace->instances[producer].time;
    if (time < target.start || time >= target.end)
      continue;
    *nothing_ran = false;
    if (sl_relation_has(conflicts, producer, consumer))
      return true;
  }
  return false;
}

static void judge_excess(struct subject *s, const struct sl_trace *trace, const struct relations *r, uint32_t number)
{
  const struct sl_edge *edge = &s->inferred.edges[number];
  struct found *found = &s->found[number];
  const struct sl_trace_list *consumers = &trace->of_stmt[edge->consumer];
  for (uint32_t i = 0; i < consumers->count; i++) {
    uint32_t consumer = consumers->instances[i], needed = sl_edge_needs(trace, edge, consumer);
    bool nothing_ran, depends = depends_there(trace, &r->conflicts, edge, consumer, &nothing_ran);
    found->is_witnessed = found->is_witnessed || depends;
    if (needed == SL_NO_INSTANCE || sl_hardware_gives(trace, s->inferred.hardware, needed, consumer))
      continue;
    s->state->tally.promised++;
    if (sl_relation_has(&r->required, needed, consumer))
      continue;
    if (nothing_ran || depends) {
      s->state->tally.excess[nothing_ran ? SL_BOUND_NOTHING_RAN : SL_BOUND_REST_OF_ITERATION]++;
    } else if (found->unexplained++ == 0) {
      char text[120], x[80], y[80];
      sl_inferred_describe(&s->inferred, edge, text, sizeof text);
      sl_trace_describe(trace, needed, x, sizeof x);
      sl_trace_describe(trace, consumer, y, sizeof y);
      snprintf(found->first, sizeof found->first, "edge %s: %s -> %s", text, x, y);
    }
  }
}

/* After all runs: what only the distances of other instances can explain needs such instances. */
static bool excess_is_explained(struct subject *s)
{
  for (uint32_t e = 0; e < s->inferred.edge_count; e++) {
    const struct found *found = &s->found[e];
    enum sl_bound bound =
        found->is_witnessed ? SL_BOUND_LEAST_DISTANCE : sl_bound_of_accesses(s->inferred.kernel, &s->inferred.edges[e]);
    if (found->unexplained && bound == SL_NO_BOUND)
      return sl_fail(s->failure, "an edge without reason", "%s", found->first);
    if (found->unexplained)
      s->state->tally.excess[bound] += found->unexplained;
  }
  return true;
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

static bool judge_run(struct subject *s, const struct sl_trace *trace, const struct sl_oracle_inputs *inputs,
                      bool ask_isl)
{
  uint32_t n = trace->count;
  struct relations r = { sl_relation_new(n), sl_relation_new(n), sl_relation_new(n), sl_relation_new(n) };
  sl_hazards_find(&r.hazards, trace);
  s->state->tally.runs++;
  s->state->tally.instances += n;
  s->state->tally.hazards += count_pairs(&r.hazards);
  sl_order_close(&r.required, &r.hazards, trace, s->inferred.hardware);
  sl_relation_close(&r.hazards);
  sl_conflicts_find(&r.conflicts, trace);
  sl_inferred_close(&s->inferred, trace, &r.promised);
  bool holds = (!ask_isl || isl_agrees(s, trace, inputs, &r.hazards)) && is_sound(s, trace, &r);
  for (uint32_t e = 0; e < s->inferred.edge_count && holds; e++)
    judge_excess(s, trace, &r, e);
  sl_relation_free(&r.hazards);
  sl_relation_free(&r.conflicts);
  sl_relation_free(&r.required);
  sl_relation_free(&r.promised);
  return holds;
}

/* ---- one kernel ---- */

/* isl is slow and is asked once a kernel. */
static bool try_run(struct subject *s, unsigned run)
{
  int64_t params[SL_JUDGE_MAX_INPUTS];
  struct sl_oracle_inputs inputs = { params, sl_inferred_params(&s->inferred, run, &s->random, params),
                                     sl_generate_random(&s->random) };
  struct sl_trace trace;
  enum sl_trace_status status = sl_trace_init(&trace, s->inferred.program, s->inferred.kernel, &inputs, INSTANCE_LIMIT);
  bool holds = status != SL_TRACE_BAD || sl_fail(s->failure, "no run", "the generated kernel cannot be executed");
  s->state->tally.too_long += status == SL_TRACE_LONG;
  if (status == SL_TRACE_OK)
    holds = judge_run(s, &trace, &inputs, run == 0);
  sl_trace_free(&trace);
  return holds;
}

static void count_edges(struct subject *s)
{
  for (uint32_t e = 0; e < s->inferred.edge_count; e++) {
    const struct sl_edge *edge = &s->inferred.edges[e];
    enum edge_form form = sl_edge_is_vector(edge) ? EDGE_VECTOR
                          : edge->across          ? EDGE_ACROSS
                          : edge->k > 0           ? EDGE_CARRIED
                                                  : EDGE_SAME_ITERATION;
    s->state->tally.edges[form]++;
  }
}

static bool inference_holds(void *user, const char *text, uint64_t seed, struct sl_failure *failure)
{
  struct subject s = { .state = user, .random = seed, .failure = failure };
  sluice_program *program = sl_read_program(s.state->targets, text, failure);
  s.state->tally.kernels++;
  if (!program)
    return false;
  bool holds = sl_inferred_init(&s.inferred, program, s.state->targets, failure);
  count_edges(&s);
  s.found = sl_oracle_calloc(s.inferred.edge_count, sizeof *s.found);
  for (unsigned run = 0; run < RUNS && holds; run++)
    holds = try_run(&s, run);
  holds = holds && excess_is_explained(&s);
  free(s.found);
  sl_inferred_free(&s.inferred);
  return holds;
}

/* ---- faults that were found ---- */

static const struct fault {
  const char *name, *body;
} faults[] = {
  { "aliases were compared by partition", "  buffer a : sbuf f32[2p]\n  buffer b : sbuf f32[2p, 2]\n  alias a b\n"
                                          "  x0: e0.op b[0, :]\n  x1: e1.op a[1]\n" },
  { "a remainder of a quotient repeats later than either",
    "  buffer a : sbuf f32[2p]\n  loop i < 5 {\n"
    "    x0: e0.op <- a[(i / 2) % 2]\n    x1: e1.op a[1]\n  }\n" },
  { "a quotient of a quotient grows later than either", "  buffer a : sbuf f32[2p]\n  loop i < 8 {\n"
                                                        "    x0: e0.op <- a[i / 2 / 2]\n    x1: e1.op a[1]\n  }\n" },
};

static unsigned try_faults(struct state *state)
{
  unsigned failed = 0;
  for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
    struct sl_failure failure = { "", "" };
    char text[1000];
    snprintf(text, sizeof text, "kernel fault target generic {\n%s}\n", faults[f].body);
    if (inference_holds(state, text, f, &failure))
      continue;
    printf("FAILED: %s: %s: %s\n", faults[f].name, failure.kind, failure.text);
    failed++;
  }
  return failed;
}

/* ---- the campaign ---- */

static double share(uint64_t part, uint64_t whole)
{
  return whole ? 100.0 * (double)part / (double)whole : 0;
}

static unsigned report_judges(const struct state *state)
{
  const struct tally *tally = &state->tally;
  if (state->isl_absent)
    printf("libisl judges nothing: it was not found when the build was configured (package libisl-dev)\n");
  printf("judges: %llu runs of %llu kernels, %llu instances, %llu dependences between them, %llu runs too long\n",
         (unsigned long long)tally->runs, (unsigned long long)tally->kernels, (unsigned long long)tally->instances,
         (unsigned long long)tally->hazards, (unsigned long long)tally->too_long);
  printf("libisl: agrees on %llu kernels by all pairs and on %llu by dataflow, %llu were too hard for it\n",
         (unsigned long long)tally->by_isl, (unsigned long long)tally->by_dataflow,
         (unsigned long long)tally->too_hard);
  if (tally->crashed + tally->disagreed)
    printf("libisl's dataflow crashed on %llu kernels and disagreed on %llu with its all pairs, which judged them\n",
           (unsigned long long)tally->crashed, (unsigned long long)tally->disagreed);
  bool too_many_hard = 100 * tally->too_hard > MAX_TOO_HARD_PERCENT * tally->kernels && tally->kernels >= 100;
  bool too_many_wrong = tally->crashed + tally->disagreed > 3 + tally->by_dataflow / 100;
  if (too_many_hard)
    printf("FAILED: more than %d %% of the kernels are too hard for libisl\n", MAX_TOO_HARD_PERCENT);
  if (too_many_wrong)
    printf("FAILED: more kernels than a few are not judged by libisl's dataflow\n");
  return too_many_hard + too_many_wrong;
}

/* A campaign that never saw one of the forms shows nothing about it. */
static unsigned report_excess(const struct tally *tally)
{
  uint64_t total = 0;
  printf("edges:");
  for (unsigned f = 0; f < EDGE_FORMS; f++)
    printf("%s %llu %s", f ? "," : "", (unsigned long long)tally->edges[f], edge_form_names[f]);
  printf("\nof %llu waits of an instance for another through an edge, these hold it back for what it does not depend "
         "on:\n",
         (unsigned long long)tally->promised);
  for (unsigned b = 0; b < SL_BOUNDS; b++) {
    total += tally->excess[b];
    printf("  %5.2f %% %s\n", share(tally->excess[b], tally->promised), sl_bound_names[b]);
  }
  printf("  %5.2f %% in all\n", share(total, tally->promised));
  for (unsigned f = 0; f < EDGE_FORMS && tally->kernels >= 200; f++) {
    if (tally->edges[f] == 0) {
      printf("FAILED: no kernel has edges %s\n", edge_form_names[f]);
      return 1;
    }
  }
  return 0;
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
  failed += campaign.only_one ? 0 : try_faults(&state);
  failed += report_judges(&state);
  failed += report_excess(&state.tally);
  printf("infer: %llu kernels, %u failures\n", (unsigned long long)state.tally.kernels, failed);
  sluice_targets_free(targets);
  return sl_campaign_exit_code(&campaign, failed);
}
