/* mutation_test: what breaks when somebody breaks the synchronization a little, and whether the checker says so.
 *
 * Subjects, with trip counts scaled down: the kernels of bench/table2 as the strategies synchronize them, the versions
 * synchronized by hand beside them (NAME.manual.slu), those of tests/mutation, and the kernels of
 * tests/mutation/to_synchronize as the strategies synchronize them. Of each, every wait is deleted,
 * every threshold lowered by one update, every update removed and moved to its neighbours on its stream and off it,
 * every semaphore swapped for every other (a sample of some 1,500 where there are more).
 *
 * Each mutant must be named a race, a deadlock or a leak, or its wait must be reported redundant or loose in the kernel
 * it was made from, or, where no wait became weaker, be harmless: every mutant that the checker passes is confirmed by
 * the explorer to have no reachable fault. And no mutant may be named a fault that no interleaving shows. What
 * remains is unexplained; there must be none. Undecided is an answer only for uses declared so (sem_set, and `==` on a
 * counter that several streams write).
 *
 * --long: larger sizes, and all kernels of the table, as well.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "property/judge.h"
#include "property/mutate.h"

enum { MOST_MUTANTS = 1500 };
enum { INSTANCE_LIMIT = 2000, MAX_ACTIONS = 3000, MAX_STATES = 2000000, SHOWN = 10 };

enum outcome {
  OUTCOME_RACE,
  OUTCOME_DEADLOCK,
  OUTCOME_LEAK,
  OUTCOME_LIMIT, /* named by the checker */
  OUTCOME_REDUNDANT,
  OUTCOME_LOOSE,    /* passed, and reported in the kernel that was mutated */
  OUTCOME_HARMLESS, /* passed, another mutation */
  OUTCOME_DECLARED,
  OUTCOME_NO_PROGRAM, /* it no longer verifies */
  OUTCOME_UNEXPLAINED,
  OUTCOMES
};
static const char *const outcome_names[OUTCOMES] = { "race",  "deadlock", "leak",      "limit",      "redundant",
                                                     "loose", "harmless", "undecided", "no program", "unexplained" };

struct campaign_state {
  const sluice_targets *targets;
  unsigned subjects, skipped, shown;
  uint64_t counts[SL_MUTATION_KINDS][OUTCOMES], confirmed, not_shown, states;
  unsigned failed;
  unsigned size; /* which trip counts */
  bool long_run;
};

struct subject {
  struct campaign_state *state;
  char name[300];
  struct sl_case test;
  sluice_check_result *judged; /* of the kernel that is mutated: which waits are reported */
};

static void complain(struct subject *s, const char *what, const char *text)
{
  if (s->state->shown++ < SHOWN)
    printf("FAILED: %s: %s: %s\n", s->name, what, text);
}

static enum outcome unexplained(struct subject *s, const char *what, const char *text)
{
  complain(s, what, text);
  return OUTCOME_UNEXPLAINED;
}

/* ---- one mutant ---- */

static enum outcome explain_pass(struct subject *s, const struct sl_case *mutant, const struct sl_mutation *mutation,
                                 const char *what)
{
  struct sl_explored *explored = sl_oracle_calloc(1, sizeof *explored);
  struct sl_explore_options options = mutant->options;
  options.enough = ~0u;
  sl_case_explore(mutant, &options, explored);
  bool harmless = !explored->faults && !explored->too_big && !explored->meaningless;
  s->state->confirmed += harmless;
  s->state->states += explored->states;
  enum outcome outcome = OUTCOME_HARMLESS;
  if (!harmless)
    outcome =
        unexplained(s, what, explored->too_big ? "passed, and too big to explore" : sl_first_fault_text(explored));
  else if (mutation->kind != SL_MUTATE_DELETE_WAIT && mutation->kind != SL_MUTATE_LOWER_WAIT)
    outcome = OUTCOME_HARMLESS;
  else if (sl_case_reports(&s->test, s->judged, "redundant", mutation->clause))
    outcome = OUTCOME_REDUNDANT;
  else if (mutation->kind == SL_MUTATE_LOWER_WAIT && sl_case_reports(&s->test, s->judged, "loose", mutation->clause))
    outcome = OUTCOME_LOOSE;
  else if (mutation->kind == SL_MUTATE_DELETE_WAIT ||
           !sl_case_kernel(s->test.program)->waits.data[mutation->clause].equal)
    outcome = unexplained(s, what, "passed, but the wait is not reported");
  free(explored);
  return outcome;
}

/* The fault that the checker names must be one that some interleaving shows. */
static enum outcome confirm_fault(struct subject *s, const struct sl_case *mutant, const char *rule, const char *text,
                                  const char *what)
{
  if (!strcmp(rule, "limit"))
    return OUTCOME_LIMIT;
  unsigned kind = SL_FAULT_RACE;
  while (kind < SL_FAULT_KINDS && strcmp(rule, sl_fault_name((enum sl_fault_kind)kind)) != 0)
    kind++;
  struct sl_explored *explored = sl_oracle_calloc(1, sizeof *explored);
  struct sl_explore_options options = mutant->options;
  options.enough = 1u << kind;
  sl_case_explore(mutant, &options, explored);
  s->state->states += explored->states;
  bool shown = kind < SL_FAULT_ORDER && (explored->faults >> kind & 1);
  s->state->not_shown += !shown && explored->too_big;
  enum outcome outcome = (enum outcome)(OUTCOME_RACE + (int)kind);
  if (!shown && !explored->too_big)
    outcome = unexplained(s, what, text);
  free(explored);
  return outcome;
}

static enum outcome judge(struct subject *s, const struct sl_case *mutant, const struct sl_mutation *mutation,
                          const char *what)
{
  struct sl_failure failure = { "", "" };
  sluice_check_result *result = sl_case_check(mutant, true, false, &failure);
  if (!result)
    return unexplained(s, what, failure.text);
  const char *rule, *text;
  enum outcome outcome = OUTCOME_DECLARED;
  switch (sl_check_answer(result, &rule, &text)) {
  case SL_ANSWER_OK: outcome = explain_pass(s, mutant, mutation, what); break;
  case SL_ANSWER_FAULT: outcome = confirm_fault(s, mutant, rule, text, what); break;
  case SL_ANSWER_UNDECIDED: outcome = unexplained(s, what, text); break;
  default: break;
  }
  sluice_check_result_free(result);
  return outcome;
}

static void try_mutation(struct subject *s, const struct sl_mutation *mutation)
{
  struct sl_failure failure = { "", "" };
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  struct sl_case mutant = s->test;
  char what[200];
  mutant.program = sl_read_again(s->state->targets, s->test.program, &failure);
  if (!mutant.program)
    abort();
  sl_mutation_describe(mutation, mutant.program, sl_case_kernel(mutant.program), what, sizeof what);
  sl_mutation_apply(mutant.program, sl_case_kernel(mutant.program), mutation);
  enum outcome outcome = OUTCOME_NO_PROGRAM;
  if (sluice_program_verify(mutant.program, s->state->targets, &sink) == SLUICE_OK)
    outcome = judge(s, &mutant, mutation, what);
  s->state->counts[mutation->kind][outcome]++;
  sluice_program_free(mutant.program);
}

/* ---- one subject ---- */

/* The kernel as it is must be right, for both judges. */
static bool starts_right(struct subject *s)
{
  struct sl_failure failure = { "", "" };
  const char *rule, *text;
  s->judged = sl_case_check(&s->test, true, true, &failure);
  if (!s->judged) {
    complain(s, "not checked", failure.text);
    return false;
  }
  if (sl_check_answer(s->judged, &rule, &text) != SL_ANSWER_OK) {
    complain(s, rule, text);
    return false;
  }
  struct sl_explored *explored = sl_oracle_calloc(1, sizeof *explored);
  sl_case_explore(&s->test, &s->test.options, explored);
  bool right = !explored->faults && !explored->too_big;
  if (!right)
    complain(s, "explored", explored->too_big ? "too big" : sl_first_fault_text(explored));
  free(explored);
  return right;
}

static void mutate_all(struct subject *s)
{
  struct sl_mutations mutations;
  sl_mutations_find(&mutations, sl_case_kernel(s->test.program));
  /* An evenly spread sample where there are more: written-out loops have as many as instructions times semaphores. */
  uint32_t stride = mutations.len / MOST_MUTANTS + 1;
  for (uint32_t m = 0; m < mutations.len; m += stride) {
    if (mutations.list[m].kind != SL_MUTATE_RAISE_WAIT)
      try_mutation(s, &mutations.list[m]);
  }
  free(mutations.list);
}

/* Takes over both programs. */
static void try_subject(struct campaign_state *state, const char *path, const char *how, sluice_program *original,
                        sluice_program *program)
{
  struct subject *s = sl_oracle_calloc(1, sizeof *s);
  struct sl_failure failure = { "", "" };
  s->state = state;
  s->test.targets = state->targets;
  s->test.original = original = sl_state_dependences(state->targets, original, &failure);
  s->test.program = program;
  const char *base = strrchr(path, '/');
  snprintf(s->name, sizeof s->name, "%s %s", base ? base + 1 : path, how);
  if (!original) {
    complain(s, "dependences as lines", failure.text);
    state->failed++;
    sluice_program_free(program);
    free(s);
    return;
  }
  sl_case_default_params(&s->test);
  if (sl_case_start(&s->test, INSTANCE_LIMIT) == SL_REFERENCE_OK) {
    s->test.options.max_actions = MAX_ACTIONS;
    s->test.options.max_states = MAX_STATES;
    if (starts_right(s))
      mutate_all(s);
    else
      state->failed++;
    state->subjects++;
    sl_case_end(&s->test);
  } else {
    state->skipped++; /* too many instances */
  }
  sluice_check_result_free(s->judged);
  sluice_program_free(original);
  sluice_program_free(program);
  free(s);
}

/* ---- subjects ---- */

static bool bounds_a_loop(const struct sl_kernel *kernel, sl_name name)
{
  for (uint32_t l = 1; l < kernel->loops.len; l++) {
    const struct sl_expr *hi = &kernel->exprs.data[kernel->loops.data[l].hi];
    if (kernel->loops.data[l].hi && hi->kind == SL_EXPR_NAME && (sl_name)hi->u.value == name)
      return true;
  }
  return false;
}

/* The kernel of a file with small trip counts; NULL after a failure. */
/* `even`: the second loop, in which versions by hand take buffers in turn, makes an even number of trips. */
static sluice_program *read_scaled(struct campaign_state *state, const char *path, bool even)
{
  static const int64_t trips[][3] = { { 3, 2, 2 }, { 4, 2, 3 }, { 2, 3, 2 } };
  struct sl_failure failure = { "", "" };
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  size_t length = 0;
  char *text = sl_read_file(path, &length);
  sluice_program *program = text ? sl_read_program(state->targets, text, &failure) : NULL;
  sluice_program *scaled = NULL;
  free(text);
  if (program) {
    const struct sl_kernel *kernel = sl_case_kernel(program);
    for (uint32_t p = 0, bounds = 0; p < kernel->params.len; p++) {
      if (!bounds_a_loop(kernel, kernel->params.data[p].name))
        continue;
      int64_t count = trips[state->size][bounds % 3];
      if (even && bounds == 1)
        count += count % 2;
      sluice_program_define(program, sl_text(program, kernel->params.data[p].name), count, &sink);
      bounds++;
    }
    scaled = sl_read_again(state->targets, program, &failure);
  }
  if (!scaled) {
    printf("FAILED: %s: %s\n", path, failure.text);
    state->failed++;
  }
  sluice_program_free(program);
  return scaled;
}

static void try_strategies(struct campaign_state *state, const char *path)
{
  static const struct {
    enum sluice_alloc alloc;
    const char *name;
  } strategies[] = { { SLUICE_ALLOC_SHADOW, "shadow" },
                     { SLUICE_ALLOC_PER_LOOP, "per-loop" },
                     { SLUICE_ALLOC_PER_INSTRUCTION, "per-instruction" },
                     { SLUICE_ALLOC_PER_ENGINE, "per-engine" },
                     { SLUICE_ALLOC_UNROLL, "unroll" },
                     { SLUICE_ALLOC_BARRIER, "barrier" } };
  for (unsigned i = 0; i < sizeof strategies / sizeof *strategies; i++) {
    struct sl_failure failure = { "", "" };
    struct sl_messages messages;
    sluice_sink sink = sl_messages_sink(&messages);
    sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
    sluice_program *original = read_scaled(state, path, false), *synced = NULL, *program = NULL;
    options.alloc = strategies[i].alloc;
    if (original && sluice_sync(&synced, original, state->targets, &options, &sink) == SLUICE_OK)
      program = sl_read_again(state->targets, synced, &failure);
    else
      state->skipped++;
    if (program && strategies[i].alloc == SLUICE_ALLOC_UNROLL) {
      /* Its instructions have labels of their own, and dependence lines between them. */
      sluice_program_free(original);
      original = sl_read_again(state->targets, synced, &failure);
    }
    sluice_program_free(synced);
    if (program)
      try_subject(state, path, strategies[i].name, original, program);
    else
      sluice_program_free(original);
  }
}

static void try_by_hand(struct campaign_state *state, const char *path, const char *original_path, bool even)
{
  sluice_program *original = read_scaled(state, original_path, even), *program = read_scaled(state, path, even);
  if (original && program) {
    try_subject(state, path, "by hand", original, program);
    return;
  }
  sluice_program_free(original);
  sluice_program_free(program);
}

/* The first two kernels at every size; the others of table 2 in long runs, at the smallest. */
static bool is_wanted(const struct campaign_state *state, const char *path)
{
  if (strstr(path, "/rmsnorm.") || strstr(path, "/tiled_matmul."))
    return true;
  return state->long_run && state->size == 0;
}

static void try_table2(void *user, const char *path)
{
  static const char ending[] = ".manual.slu";
  char original[4096];
  size_t length = strlen(path), cut = sizeof ending - 1;
  bool is_manual = length > cut && !strcmp(path + length - cut, ending);
  snprintf(original, sizeof original, "%.*s%s", (int)(is_manual ? length - cut : length), path,
           is_manual ? ".slu" : "");
  if (is_wanted(user, path) && is_manual)
    try_by_hand(user, path, original, true);
  else if (is_wanted(user, path))
    try_strategies(user, path);
}

static void try_own(void *user, const char *path)
{
  if (strstr(path, "/to_synchronize/"))
    try_strategies(user, path);
  else
    try_by_hand(user, path, path, false);
}

/* ---- the table ---- */

static uint64_t report(const struct campaign_state *state)
{
  uint64_t totals[OUTCOMES] = { 0 }, all = 0;
  printf("%-32s", "mutants");
  for (unsigned o = 0; o < OUTCOMES; o++)
    printf(" %11s", outcome_names[o]);
  printf("\n");
  for (unsigned kind = 0; kind < SL_MUTATION_KINDS; kind++) {
    if (kind == SL_MUTATE_RAISE_WAIT)
      continue;
    printf("%-32s", sl_mutation_name((enum sl_mutation_kind)kind));
    for (unsigned o = 0; o < OUTCOMES; o++) {
      printf(" %11llu", (unsigned long long)state->counts[kind][o]);
      totals[o] += state->counts[kind][o];
      all += state->counts[kind][o];
    }
    printf("\n");
  }
  printf("%-32s", "all");
  for (unsigned o = 0; o < OUTCOMES; o++)
    printf(" %11llu", (unsigned long long)totals[o]);
  printf("\nmutation: %u subjects (%u not tried: refused, or too long), %llu mutants, %llu passed and "
         "confirmed harmless, %llu faults named but too big to explore, %llu states, %llu unexplained\n",
         state->subjects, state->skipped, (unsigned long long)all, (unsigned long long)state->confirmed,
         (unsigned long long)state->not_shown, (unsigned long long)state->states,
         (unsigned long long)totals[OUTCOME_UNEXPLAINED]);
  return totals[OUTCOME_UNEXPLAINED];
}

int main(int argc, char **argv)
{
  struct sl_campaign campaign;
  sl_campaign_options(&campaign, argc, argv, 3, 3); /* how many sizes */
  sluice_targets *targets = NULL;
  if (sluice_targets_new(&targets) != SLUICE_OK) {
    printf("mutation: no targets\n");
    return 1;
  }
  struct campaign_state state = { .targets = targets, .long_run = campaign.long_run };
  char table2[4096], own[4096];
  snprintf(table2, sizeof table2, "%s/bench/table2", campaign.source);
  snprintf(own, sizeof own, "%s/tests/mutation", campaign.source);
  for (state.size = 0; state.size < campaign.count && state.size < 3; state.size++) {
    sl_each_slu(table2, try_table2, &state);
    sl_each_slu(own, try_own, &state);
  }
  uint64_t left = report(&state);
  sluice_targets_free(targets);
  return state.failed || left || state.subjects == 0;
}
