/* agree_test: the checker against the explorer of tests/oracle, which shares no code with it and visits every
 * interleaving, on random small kernels: half of them synchronized by hand (generate_hand.c), the others by a strategy;
 * every second one is mutated.
 *
 * For the same inputs, what the checker calls ok has no reachable fault, and what it calls a race, a deadlock or a leak
 * is one that some interleaving shows. What it leaves undecided is counted by reason: sem_set that is not ordered with
 * the other uses of its semaphore, and `==` on a counter that several streams write, are declared so; of all else, and
 * of what the explorer cannot finish, at most 1 %.
 *
 * Waits are judged too: of a kernel without fault, the waits reported redundant are those that can be deleted without
 * making one, and of the others those reported loose are those whose threshold can be lowered by one update.
 *
 * The explorer is watched: on the smallest kernels its answer must be the same without reduction.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "property/judge.h"
#include "property/mutate.h"

enum {
  INSTANCE_LIMIT = 60,
  MAX_ACTIONS = 120,
  MAX_STATES = 150000,
  FULL_STATES = 1500,   /* with reduction; without it up to MAX_STATES */
  JUDGED_STATES = 3000, /* kernels whose waits are judged */
  STRATEGIES = 3
};

/* What the kernels compared make use of. */
enum feature {
  USES_SEVERAL_WRITERS,
  USES_QUEUES,
  USES_BARRIER,
  USES_RESET,
  USES_EVENT,
  USES_SEM_SET,
  USES_EQUAL,
  USES_START_VALUE,
  USES_REGISTER_WAIT,
  USES_LOAD,
  FEATURES
};
static const char *const feature_names[FEATURES] = { "several writers",
                                                     "queues",
                                                     "barrier",
                                                     "barrier reset",
                                                     "events",
                                                     "sem_set",
                                                     "==",
                                                     "start values",
                                                     "waiting register operations",
                                                     "loads" };

struct tally {
  uint64_t features[FEATURES];
  uint64_t kernels, mutants, refused, too_long, meaningless, too_big;
  uint64_t ok, faults[SL_FAULT_KINDS], several; /* as explored */
  uint64_t declared, undecided;
  uint64_t states, full, waits, redundant, loose;
  uint64_t same_faults[SL_FAULT_KINDS]; /* named by the checker */
};

struct state {
  const sluice_targets *targets;
  bool show, from_strategy;
  struct tally tally;
};

struct subject {
  struct state *state;
  struct sl_case test;
  uint64_t random;
  struct sl_failure *failure;
  char mutation[200];
};

static uint64_t draw(struct subject *s, uint64_t below)
{
  return sl_generate_random(&s->random) % below;
}

/* ---- making the kernel ---- */

/* What one of the strategies makes of the original; NULL when it refuses, or after a failure. */
static sluice_program *synchronize(struct subject *s)
{
  static const enum sluice_alloc allocs[STRATEGIES] = { SLUICE_ALLOC_SHADOW, SLUICE_ALLOC_PER_LOOP,
                                                        SLUICE_ALLOC_BARRIER };
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  options.alloc = allocs[draw(s, STRATEGIES)];
  sluice_program *made = NULL, *again = NULL;
  int status = sluice_sync(&made, s->test.original, s->state->targets, &options, &sink);
  if (status == SLUICE_OK)
    again = sl_read_again(s->state->targets, made, s->failure);
  else if (status == SLUICE_E_ANSWER)
    s->state->tally.refused++;
  else
    sl_fail(s->failure, "strategy fails", "%s", messages.first);
  sluice_program_free(made);
  return again;
}

/* Breaks the program by one mutation, if it has any and the result is a program. */
static void mutate(struct subject *s)
{
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  struct sl_mutations mutations;
  sl_mutations_find(&mutations, sl_case_kernel(s->test.program));
  /* First a kind, so that those with many places do not drown the others; the next one when it has none. */
  unsigned kind = (unsigned)draw(s, SL_MUTATION_KINDS);
  uint32_t of_kind = 0, at = 0;
  for (unsigned tries = 0; tries < SL_MUTATION_KINDS && !of_kind; tries++) {
    kind = (kind + 1) % SL_MUTATION_KINDS;
    for (uint32_t m = 0; m < mutations.len; m++)
      of_kind += mutations.list[m].kind == kind;
  }
  uint64_t chosen = of_kind ? draw(s, of_kind) : 0;
  for (; of_kind && (mutations.list[at].kind != kind || chosen-- > 0); at++) {
  }
  sluice_program *broken = of_kind ? sl_read_again(s->state->targets, s->test.program, s->failure) : NULL;
  if (broken) {
    sl_mutation_describe(&mutations.list[at], broken, sl_case_kernel(broken), s->mutation, sizeof s->mutation);
    sl_mutation_apply(broken, sl_case_kernel(broken), &mutations.list[at]);
    bool fits = sluice_program_verify(broken, s->state->targets, &sink) == SLUICE_OK;
    if (fits) {
      sluice_program_free(s->test.program);
      s->test.program = sl_read_again(s->state->targets, broken, s->failure);
      s->state->tally.mutants++;
    } else {
      s->mutation[0] = 0;
    }
    sluice_program_free(broken);
  }
  free(mutations.list);
}

static bool prepare(struct subject *s, const char *text, uint64_t seed)
{
  const sluice_targets *targets = s->state->targets;
  s->test.targets = targets;
  s->test.original = sl_read_program(targets, text, s->failure);
  if (!s->test.original)
    return false;
  s->test.program = s->state->from_strategy ? synchronize(s) : sl_read_again(targets, s->test.original, s->failure);
  if (s->test.program && seed % 2)
    mutate(s);
  return s->test.program != NULL;
}

/* Parameters as they are declared for kernels made by hand, small ones for the others. */
static void choose_params(struct subject *s, unsigned attempt)
{
  static const int64_t trips[3][4] = { { 1, 2, 3, 2 }, { 1, 2, 0, 1 }, { 1, 1, 0, 1 } };
  const struct sl_kernel *kernel = sl_case_kernel(s->test.original);
  sl_case_default_params(&s->test);
  for (uint32_t p = 0; p < kernel->params.len && s->state->from_strategy; p++) {
    if (!kernel->params.data[p].is_static)
      s->test.params[p] = trips[attempt][draw(s, 4)];
  }
  s->test.opaque_seed = sl_generate_random(&s->random);
}

/* A reference for some choice of inputs that is short enough. */
static bool find_reference(struct subject *s)
{
  enum sl_reference_status status = SL_REFERENCE_LONG;
  for (unsigned attempt = 0; attempt < 3 && status != SL_REFERENCE_OK; attempt++) {
    choose_params(s, attempt);
    status = sl_case_start(&s->test, INSTANCE_LIMIT);
  }
  s->state->tally.too_long += status == SL_REFERENCE_LONG;
  s->state->tally.meaningless += status == SL_REFERENCE_BAD;
  return status == SL_REFERENCE_OK;
}

static sluice_check_result *check(struct subject *s, bool judge_waits)
{
  bool against = s->state->from_strategy || draw(s, 2);
  return sl_case_check(&s->test, against, judge_waits, s->failure);
}

/* ---- comparing ---- */

static bool differ(struct subject *s, const char *rule, const char *said, const struct sl_explored *explored)
{
  char kind[64], faults[64];
  sl_name_faults(explored->faults, faults, sizeof faults);
  snprintf(kind, sizeof kind, "checked: %.18s, explored: %.24s", rule, faults);
  for (unsigned f = 0; s->state->show && f < SL_FAULT_KINDS; f++)
    printf("explored %s: %s\n", sl_fault_name((enum sl_fault_kind)f), explored->text[f]);
  return sl_fail(s->failure, kind, "%s (mutation: %s; the checker: %s; explored: %.400s)", kind,
                 s->mutation[0] ? s->mutation : "none", said, sl_first_fault_text(explored));
}

static bool compare(struct subject *s, const sluice_check_result *result, const struct sl_explored *explored)
{
  struct tally *tally = &s->state->tally;
  const char *rule, *text;
  switch (sl_check_answer(result, &rule, &text)) {
  case SL_ANSWER_OK: return !explored->faults || differ(s, rule, text, explored);
  case SL_ANSWER_DECLARED: tally->declared++; return true;
  case SL_ANSWER_UNDECIDED:
    tally->undecided++;
    if (s->state->show)
      printf("undecided: %s\n", text);
    return true;
  default: break;
  }
  for (unsigned kind = 0; kind < SL_FAULT_KINDS; kind++) {
    if ((explored->faults >> kind & 1) && !strcmp(rule, sl_fault_name((enum sl_fault_kind)kind))) {
      tally->same_faults[kind]++;
      return true;
    }
  }
  return differ(s, rule, text, explored);
}

static void count_faults(struct tally *tally, const struct sl_explored *explored)
{
  tally->states += explored->states;
  tally->ok += explored->faults == 0;
  tally->several += (explored->faults & (explored->faults - 1)) != 0;
  for (unsigned kind = 0; kind < SL_FAULT_KINDS; kind++)
    tally->faults[kind] += explored->faults >> kind & 1;
}

/* Without reduction, where that is feasible. */
static bool explore_in_full(struct subject *s, const struct sl_explored *reduced)
{
  if (reduced->states > FULL_STATES)
    return true;
  struct sl_explore_options options = s->test.options;
  struct sl_explored *full = sl_oracle_calloc(1, sizeof *full);
  options.reduce = false;
  sl_case_explore(&s->test, &options, full);
  bool same = full->too_big || full->faults == reduced->faults;
  s->state->tally.full += !full->too_big;
  if (!same)
    differ(s, "reduced exploration differs", "", full);
  free(full);
  return same;
}

/* ---- judging waits ---- */

static bool still_right(struct subject *s, const struct sl_explore_options *options, struct sl_explored *explored)
{
  sl_case_explore(&s->test, options, explored);
  return !explored->faults && !explored->too_big;
}

static bool judge_wait(struct subject *s, const sluice_check_result *result, sl_index stmt, uint32_t wait,
                       struct sl_explored *explored)
{
  const struct sl_kernel *kernel = sl_case_kernel(s->test.program);
  const struct sl_gate *gate = &kernel->waits.data[wait];
  struct sl_explore_options options = s->test.options;
  options.deleted = wait + 1;
  bool redundant = still_right(s, &options, explored);
  s->state->tally.waits++;
  s->state->tally.redundant += redundant;
  if (redundant != sl_case_reports(&s->test, result, "redundant", wait))
    return differ(s, redundant ? "wait not redundant" : "wait redundant", sl_text(s->test.program, gate->name),
                  explored);
  if (redundant || gate->kind != SL_GATE_SEM || gate->equal || sl_stmt_op(kernel, stmt)->stream_count != 1)
    return redundant || !sl_case_reports(&s->test, result, "loose", wait) ||
           sl_fail(s->failure, "wait loose", "'%s' cannot be lowered", sl_text(s->test.program, gate->name));
  options.deleted = 0;
  options.lowered = wait + 1;
  options.by = sl_largest_update(kernel, gate->name);
  bool loose = still_right(s, &options, explored);
  s->state->tally.loose += loose;
  if (loose != sl_case_reports(&s->test, result, "loose", wait))
    return differ(s, loose ? "wait not loose" : "wait loose", sl_text(s->test.program, gate->name), explored);
  return true;
}

/* With sem_set or `==` deleting a wait may lead where the checker does not decide; it then reports nothing. */
static bool has_exact_classes_only(const struct sl_kernel *kernel)
{
  bool exact = true;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (sl_stmt_get(kernel, at)->kind != SL_STMT_OP)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, at);
    exact = exact && op->code != SL_OP_SEM_SET;
    for (uint32_t w = op->first_wait; w < op->first_wait + op->wait_count; w++)
      exact = exact && !kernel->waits.data[w].equal;
  }
  return exact;
}

static bool judge_waits(struct subject *s, const struct sl_explored *explored)
{
  const struct sl_kernel *kernel = sl_case_kernel(s->test.program);
  if (explored->faults || explored->states > JUDGED_STATES || !has_exact_classes_only(kernel))
    return true;
  sluice_check_result *result = check(s, true);
  struct sl_explored *weakened = sl_oracle_calloc(1, sizeof *weakened);
  bool holds = result != NULL;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at && holds; at = sl_walk_next(kernel, kernel->root, at)) {
    if (sl_stmt_get(kernel, at)->kind != SL_STMT_OP)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, at);
    for (uint32_t w = op->first_wait; w < op->first_wait + op->wait_count && holds && op->stream_count == 1; w++)
      holds = judge_wait(s, result, at, w, weakened);
  }
  free(weakened);
  sluice_check_result_free(result);
  return holds;
}

/* ---- what is covered ---- */

/* The streams that update a semaphore, and whether anyone waits for it. */
static bool has_several_writers(const struct sl_kernel *kernel, sl_name sem)
{
  uint64_t writers = 0;
  bool awaited = false;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    if (sl_stmt_get(kernel, at)->kind != SL_STMT_OP)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, at);
    for (uint32_t i = 0; i < op->inc_count; i++)
      writers |= kernel->incs.data[op->first_inc + i].sem == sem ? (uint64_t)1 << op->stream : 0;
    for (uint32_t w = op->first_wait; w < op->first_wait + op->wait_count; w++)
      awaited = awaited || kernel->waits.data[w].name == sem;
  }
  return awaited && (writers & (writers - 1));
}

static unsigned features_of_op(const struct sl_kernel *kernel, const struct sl_op *op)
{
  unsigned uses = 0;
  uint8_t op_class = sl_opcode_table[op->code].op_class;
  bool on_queue = op->stream_count == 1 && kernel->streams.data[op->stream].is_queue;
  uses |= (unsigned)(on_queue && (op->wait_count || op->inc_count)) << USES_QUEUES;
  uses |= (unsigned)(op->set_count > 0) << USES_EVENT;
  uses |= (unsigned)(op_class == SL_CLASS_SEMAPHORE) << USES_SEM_SET;
  uses |= (unsigned)(op_class == SL_CLASS_LOAD && op->stream_count == 1) << USES_LOAD;
  uses |= (unsigned)(op_class == SL_CLASS_REGISTER && op->wait_count) << USES_REGISTER_WAIT;
  for (uint32_t w = op->first_wait; w < op->first_wait + op->wait_count; w++)
    uses |= (unsigned)kernel->waits.data[w].equal << USES_EQUAL;
  return uses;
}

static void count_features(struct tally *tally, const struct sl_kernel *kernel)
{
  unsigned uses = 0;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    uint8_t kind = sl_stmt_get(kernel, at)->kind;
    uses |= (unsigned)(kind == SL_STMT_BARRIER) << USES_BARRIER;
    uses |= (unsigned)(kind == SL_STMT_BARRIER_RESET) << USES_RESET;
    if (kind == SL_STMT_OP)
      uses |= features_of_op(kernel, sl_stmt_op(kernel, at));
  }
  for (uint32_t sem = 1; sem < kernel->sems.len; sem++) {
    uses |= (unsigned)has_several_writers(kernel, kernel->sems.data[sem].name) << USES_SEVERAL_WRITERS;
    uses |= (unsigned)(kernel->sems.data[sem].initial > 0) << USES_START_VALUE;
  }
  for (unsigned f = 0; f < FEATURES; f++)
    tally->features[f] += uses >> f & 1;
}

/* ---- one kernel ---- */

static bool compare_answers(struct subject *s)
{
  struct tally *tally = &s->state->tally;
  struct sl_explored *explored = sl_oracle_calloc(1, sizeof *explored);
  s->test.options.max_actions = MAX_ACTIONS;
  s->test.options.max_states = MAX_STATES;
  sl_case_explore(&s->test, &s->test.options, explored);
  bool holds = true;
  tally->too_long += explored->actions > MAX_ACTIONS;
  tally->meaningless += explored->meaningless;
  if (explored->too_big || explored->meaningless) {
    tally->too_big += explored->too_big && explored->actions <= MAX_ACTIONS;
  } else {
    tally->kernels++;
    count_faults(tally, explored);
    count_features(tally, sl_case_kernel(s->test.program));
    sluice_check_result *result = check(s, false);
    holds = result && compare(s, result, explored);
    sluice_check_result_free(result);
    holds = holds && explore_in_full(s, explored) && judge_waits(s, explored);
  }
  free(explored);
  return holds;
}

static void show(const struct subject *s)
{
  char *text = NULL;
  if (sluice_program_print(&text, NULL, s->test.program) == SLUICE_OK)
    printf("%s", text);
  sluice_string_free(text);
}

static bool checker_agrees(void *user, const char *text, uint64_t seed, struct sl_failure *failure)
{
  struct subject s = { .state = user, .random = seed, .failure = failure };
  bool holds = true;
  if (!prepare(&s, text, seed)) {
    holds = !failure->kind[0]; /* a strategy may refuse */
  } else if (!sl_case_repeats_a_condition(s.test.original) && !sl_case_repeats_a_condition(s.test.program) &&
             find_reference(&s)) {
    if (s.state->show)
      show(&s);
    holds = compare_answers(&s);
    sl_case_end(&s.test);
  }
  sluice_program_free(s.test.original);
  sluice_program_free(s.test.program);
  return holds;
}

static void report(const char *name, const struct tally *t)
{
  printf("%s: %llu kernels compared, %llu mutants made; explored %llu ok, %llu races, %llu deadlocks, %llu leaks (%llu "
         "with several), %.0f states each, %llu also in full\n",
         name, (unsigned long long)t->kernels, (unsigned long long)t->mutants, (unsigned long long)t->ok,
         (unsigned long long)t->faults[SL_FAULT_RACE], (unsigned long long)t->faults[SL_FAULT_DEADLOCK],
         (unsigned long long)t->faults[SL_FAULT_LEAK], (unsigned long long)t->several,
         (double)t->states / (double)(t->kernels ? t->kernels : 1), (unsigned long long)t->full);
  printf(
      "%s: the checker names %llu races, %llu deadlocks, %llu leaks; undecided as declared %llu, otherwise %llu; not "
      "explored within the budget %llu; not tried: %llu too long, %llu meaningless, %llu refused by the strategy\n",
      name, (unsigned long long)t->same_faults[SL_FAULT_RACE], (unsigned long long)t->same_faults[SL_FAULT_DEADLOCK],
      (unsigned long long)t->same_faults[SL_FAULT_LEAK], (unsigned long long)t->declared,
      (unsigned long long)t->undecided, (unsigned long long)t->too_big, (unsigned long long)t->too_long,
      (unsigned long long)t->meaningless, (unsigned long long)t->refused);
  printf("%s: kernels with", name);
  for (unsigned f = 0; f < FEATURES; f++)
    printf(" %s %llu%s", feature_names[f], (unsigned long long)t->features[f], f + 1 < FEATURES ? "," : "\n");
  printf("%s: %llu waits judged, %llu redundant, %llu loose\n", name, (unsigned long long)t->waits,
         (unsigned long long)t->redundant, (unsigned long long)t->loose);
}

/* The generator must keep making what the comparison is about. */
static unsigned too_few_features(const struct tally *t)
{
  unsigned missing = 0;
  for (unsigned f = 0; f < FEATURES && t->kernels >= 1000; f++) {
    if (100 * t->features[f] >= t->kernels)
      continue;
    printf("FAILED: less than 1 %% of the kernels have %s\n", feature_names[f]);
    missing++;
  }
  return missing;
}

static unsigned too_many_open(const struct tally *t)
{
  uint64_t tried = t->kernels + t->too_big;
  if (100 * (t->undecided + t->too_big) <= tried || tried < 100)
    return 0;
  printf("FAILED: more than 1 %% undecided\n");
  return 1;
}

int main(int argc, char **argv)
{
  struct sl_campaign campaign;
  sl_campaign_options(&campaign, argc, argv, 2000, 14000);
  sluice_targets *targets = NULL;
  if (sluice_targets_new(&targets) != SLUICE_OK) {
    printf("agree: no targets\n");
    return 1;
  }
  unsigned failed = 0;
  uint64_t compared = 0;
  for (unsigned by_strategy = 0; by_strategy < 2; by_strategy++) {
    struct state state = { .targets = targets, .show = campaign.only_one, .from_strategy = by_strategy };
    failed += sl_campaign_run(&campaign, by_strategy ? SL_GENERATE_SYNC : SL_GENERATE_HAND, checker_agrees, &state);
    report(by_strategy ? "by a strategy" : "by hand", &state.tally);
    failed += too_many_open(&state.tally) + (by_strategy ? 0 : too_few_features(&state.tally));
    compared += state.tally.kernels;
  }
  sluice_targets_free(targets);
  printf("agree: %llu kernels compared, %u differences\n", (unsigned long long)compared, failed);
  return sl_campaign_exit_code(&campaign, failed);
}
