/* reduce_test: the reduction of dependences (deps/reduce.h) on random kernels.
 *
 *   - Nothing is lost: in drawn runs, instance by instance, the edges that are kept order whatever the dropped ones ask for.
 *     The same with some edges made to hold across visits or to be distance vectors.
 *   - What is told is true: of an implied edge, the edges of its path alone, with the order of the streams, are enough.
 *   - At least what the verified procedure (oracle/reduce_reference.h) drops is dropped; how much more is printed.
 *   - End to end: of some kernels only the kept lines are synchronized, and the checker finds all lines kept.
 *
 * A judge that sees nothing would pass all this: of every few kernels a kept edge is dropped too, and a campaign in which
 * too few of these are noticed fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sluice/check.h>

#include "deps/deps.h"
#include "deps/reduce.h"
#include "oracle/happens.h"
#include "oracle/reduce_reference.h"
#include "property/campaign.h"
#include "property/judge.h"

enum { RUNS = 4, MAX_EVENTS = 160, PATH_RUNS = 2, SYNC_EVERY = 8, MAX_CHECK_RUNS = 60, MAX_CHECK_EVENTS = 60000 };

struct campaign_state {
  const sluice_targets *targets;
  uint64_t kernels, edges, given, same, implied, kept;
  uint64_t both, only_ours, only_reference;
  uint64_t varied, varied_dropped, runs, events, long_runs, synchronized;
  uint64_t broken, noticed;
};

struct subject {
  struct campaign_state *state;
  sluice_program *original, *program; /* as read; its copies expanded */
  struct sl_kernel *kernel;
  const struct sl_target *target;
  sl_heap *heap;
  sl_edges edges;
  struct sl_oracle_edge *oracle;
  bool *enforced;
  sl_reductions reductions;
  uint64_t random;
  struct sl_failure *failure;
};

static uint64_t draw(struct subject *subject, uint64_t count)
{
  return sl_generate_random(&subject->random) % count;
}

static const char *label(const struct subject *subject, sl_index stmt)
{
  return sl_text(subject->program, sl_stmt_op(subject->kernel, stmt)->label);
}

static const char *edge_text(struct subject *subject, uint32_t edge)
{
  sl_buf buf;
  sl_buf_init(&buf, subject->heap);
  const struct sl_edge *e = &subject->edges.data[edge];
  sl_buf_printf(&buf, "%s -> %s k %u depth-block %u%s", label(subject, e->producer), label(subject, e->consumer), e->k,
                e->block, e->across ? " across" : "");
  if (e->inner_block)
    sl_buf_printf(&buf, " inner %u: %d", e->inner_block, e->inner_k);
  return sl_buf_text(&buf);
}

/* ---- edges ---- */

static bool load_orders(const struct sl_kernel *kernel, const struct sl_op *producer, const struct sl_op *consumer)
{
  return producer->code == SL_OP_REG_LOAD && kernel->streams.data[consumer->stream].trigger == producer->stream;
}

static bool stream_orders(const struct subject *subject, const struct sl_op *producer, const struct sl_op *consumer)
{
  const struct sl_stream *stream = &subject->kernel->streams.data[producer->stream];
  if (producer->stream != consumer->stream)
    return false;
  return stream->is_queue ? subject->target->queue.ordered : subject->target->engines.data[stream->engine].interlock;
}

static void describe_edges(struct subject *subject)
{
  const struct sl_kernel *kernel = subject->kernel;
  subject->oracle = sl_heap_calloc(subject->heap, subject->edges.len + 1u, sizeof *subject->oracle);
  subject->enforced = sl_heap_calloc(subject->heap, subject->edges.len + 1u, sizeof *subject->enforced);
  for (uint32_t i = 0; i < subject->edges.len; i++) {
    const struct sl_edge *edge = &subject->edges.data[i];
    const struct sl_op *producer = sl_stmt_op(kernel, edge->producer), *consumer = sl_stmt_op(kernel, edge->consumer);
    bool load = load_orders(kernel, producer, consumer), given = load || stream_orders(subject, producer, consumer);
    subject->oracle[i] =
        (struct sl_oracle_edge){ edge->producer, edge->consumer, edge->block, edge->inner_block, edge->k,
                                 edge->inner_k,  edge->across,   given,       load || !given };
  }
}

/* A carried edge now and then holds across visits; or is a vector, where an inner loop is around both ends. */
static void vary_edge(struct subject *subject, struct sl_edge *edge)
{
  const struct sl_kernel *kernel = subject->kernel;
  if (edge->k == 0)
    return;
  edge->across = draw(subject, 2);
  edge->inner_block = SL_NONE;
  edge->inner_k = 0;
  sl_index common = sl_common_block(kernel, edge->producer, edge->consumer), inner = SL_NONE;
  for (sl_index block = common; block != edge->block; block = sl_block_parent(kernel, block))
    inner = block;
  bool is_loop = inner && kernel->stmts.data[kernel->blocks.data[inner].owner].kind == SL_STMT_LOOP;
  if (!is_loop || draw(subject, 3) == 0)
    return;
  edge->across = false;
  edge->inner_block = inner;
  edge->inner_k = (int32_t)draw(subject, 5) - 2;
}

/* An edge from the producer of one to the consumer of another, carried by any loop around both. */
static void add_edge(struct subject *subject, uint32_t count)
{
  const struct sl_kernel *kernel = subject->kernel;
  struct sl_edge edge = subject->edges.data[draw(subject, count)];
  edge.consumer = subject->edges.data[draw(subject, count)].consumer;
  edge.block = sl_common_block(kernel, edge.producer, edge.consumer);
  edge.k = 0;
  edge.across = false;
  edge.inner_block = SL_NONE;
  edge.inner_k = 0;
  bool is_backward = true;
  for (sl_index at = edge.producer; at && is_backward; at = sl_walk_next(kernel, kernel->root, at))
    is_backward = at != edge.consumer || at == edge.producer;
  if (is_backward || draw(subject, 2)) {
    while (edge.block != kernel->root && draw(subject, 3) == 0)
      edge.block = sl_block_parent(kernel, edge.block);
    while (edge.block != kernel->root && kernel->stmts.data[kernel->blocks.data[edge.block].owner].kind != SL_STMT_LOOP)
      edge.block = sl_block_parent(kernel, edge.block);
    edge.k = 1 + (uint32_t)draw(subject, 3);
    if (edge.block == kernel->root)
      return;
  }
  sl_vec_add(subject->heap, &subject->edges, edge);
}

static void vary_edges(struct subject *subject)
{
  uint32_t count = subject->edges.len;
  for (uint32_t i = 0; i < count && draw(subject, 8); i++)
    add_edge(subject, count);
  count = subject->edges.len;
  for (uint32_t i = 0; i < count; i++) {
    vary_edge(subject, &subject->edges.data[i]);
    if (draw(subject, 4) == 0) { /* another one of the same ends */
      struct sl_edge edge = subject->edges.data[i];
      edge.k += edge.k ? (uint32_t)draw(subject, 3) : 0;
      vary_edge(subject, &edge);
      sl_vec_add(subject->heap, &subject->edges, edge);
    }
  }
}

/* ---- nothing is lost ---- */

static bool run_keeps_all(struct subject *subject, struct sl_oracle_run *run)
{
  sl_oracle_order(run, subject->oracle, subject->enforced, subject->edges.len);
  for (uint32_t i = 0; i < subject->edges.len; i++) {
    uint32_t consumer;
    if (!subject->oracle[i].is_given && !sl_oracle_holds(run, &subject->oracle[i], &consumer))
      return sl_fail(subject->failure, "lost", "%s is not kept at event %u of %u", edge_text(subject, i), consumer,
                     run->len);
  }
  return true;
}

/* Of an edge that is not kept, its path alone must do. */
static bool run_follows_paths(struct subject *subject, struct sl_oracle_run *run)
{
  bool *path = sl_heap_calloc(subject->heap, subject->edges.len + 1u, sizeof *path);
  for (uint32_t i = 0; i < subject->edges.len; i++) {
    const struct sl_reduced *reduced = &subject->reductions.edges[i];
    bool has_path = reduced->what == SL_REDUCE_SAME || reduced->what == SL_REDUCE_IMPLIED;
    uint32_t consumer;
    if (!has_path || reduced->count == SL_REDUCE_PATH_MAX)
      continue;
    memset(path, 0, subject->edges.len * sizeof *path);
    for (uint32_t j = 0; j < reduced->count; j++)
      path[subject->reductions.paths.data[reduced->first + j]] = true;
    if (path[i])
      return sl_fail(subject->failure, "circular", "%s implies itself", edge_text(subject, i));
    sl_oracle_order(run, subject->oracle, path, subject->edges.len);
    if (!sl_oracle_holds(run, &subject->oracle[i], &consumer))
      return sl_fail(subject->failure, "wrong path", "%s by %u edges, the first %s", edge_text(subject, i),
                     reduced->count,
                     reduced->count ? edge_text(subject, subject->reductions.paths.data[reduced->first]) : "none");
  }
  return true;
}

static bool runs_hold(struct subject *subject)
{
  bool holds = true;
  for (unsigned n = 0; n < RUNS && holds; n++) {
    struct sl_oracle_run run;
    sl_oracle_run_draw(&run, subject->kernel, draw(subject, UINT64_MAX), MAX_EVENTS);
    subject->state->runs++;
    subject->state->events += run.len;
    subject->state->long_runs += run.is_too_long;
    holds = run.is_too_long || (run_keeps_all(subject, &run) && (n >= PATH_RUNS || run_follows_paths(subject, &run)));
    sl_oracle_run_free(&run);
  }
  return holds;
}

/* Drops one kept edge too; whether that is noticed. */
static void try_without_one(struct subject *subject)
{
  struct sl_failure noticed = { "", "" }, *kept = subject->failure;
  uint32_t count = 0, chosen = 0;
  for (uint32_t i = 0; i < subject->edges.len; i++) {
    if (sl_reduced_is_kept(&subject->reductions.edges[i]) && draw(subject, ++count) == 0)
      chosen = i;
  }
  if (!count)
    return;
  subject->enforced[chosen] = false;
  subject->failure = &noticed;
  subject->state->broken++;
  for (unsigned n = 0; n < 4 * RUNS && !noticed.kind[0]; n++) {
    struct sl_oracle_run run;
    sl_oracle_run_draw(&run, subject->kernel, draw(subject, UINT64_MAX), MAX_EVENTS);
    (void)(run.is_too_long || run_keeps_all(subject, &run));
    sl_oracle_run_free(&run);
  }
  subject->state->noticed += noticed.kind[0] != 0;
  subject->failure = kept;
  subject->enforced[chosen] = true;
}

/* Reduces the edges as they are now; `enforced` is what is kept, and loads that their engine stops for. */
static bool reduce(struct subject *subject)
{
  describe_edges(subject);
  sl_deps_reduce(&subject->reductions, subject->heap, subject->program, subject->kernel, subject->target,
                 &subject->edges);
  for (uint32_t i = 0; i < subject->edges.len; i++) {
    const struct sl_reduced *reduced = &subject->reductions.edges[i];
    bool is_given = subject->oracle[i].is_given;
    if ((reduced->what == SL_REDUCE_HARDWARE) != is_given)
      return sl_fail(subject->failure, "hardware", "%s: %u", edge_text(subject, i), reduced->what);
    subject->enforced[i] = sl_reduced_is_kept(reduced) || (is_given && subject->oracle[i].counts);
  }
  return runs_hold(subject);
}

/* ---- the reference ---- */

static void count(struct subject *subject, uint32_t edge, bool by_reference)
{
  struct campaign_state *state = subject->state;
  uint8_t what = subject->reductions.edges[edge].what;
  bool ours = what == SL_REDUCE_SAME || what == SL_REDUCE_IMPLIED;
  state->edges++;
  state->given += what == SL_REDUCE_HARDWARE;
  state->same += what == SL_REDUCE_SAME;
  state->implied += what == SL_REDUCE_IMPLIED;
  state->kept += what == SL_REDUCE_KEPT;
  state->both += ours && by_reference;
  state->only_ours += ours && !by_reference;
  state->only_reference += !ours && by_reference;
}

/* The reference knows no vectors and nothing across visits: without them it drops no more. */
static bool drops_enough(struct subject *subject)
{
  struct sl_oracle_edge *plain = sl_heap_calloc(subject->heap, subject->edges.len + 1u, sizeof *plain);
  uint32_t *number = sl_heap_calloc(subject->heap, subject->edges.len + 1u, sizeof *number), plain_count = 0;
  bool *implied = sl_heap_calloc(subject->heap, subject->edges.len + 1u, sizeof *implied), enough = true;
  for (uint32_t i = 0; i < subject->edges.len; i++) {
    number[plain_count] = i;
    if (!subject->oracle[i].across && !subject->oracle[i].inner_block)
      plain[plain_count++] = subject->oracle[i];
  }
  sl_oracle_reduce(implied, subject->kernel, plain, plain_count);
  for (uint32_t i = 0; i < plain_count; i++) {
    count(subject, number[i], implied[i]);
    if (implied[i] && sl_reduced_is_kept(&subject->reductions.edges[number[i]]))
      enough = sl_fail(subject->failure, "kept", "%s is kept, the reference drops it", edge_text(subject, number[i]));
  }
  return enough;
}

/* ---- end to end ---- */

/* Takes out of the original's copy every line that has no edge left. */
static void drop_lines(struct subject *subject, sluice_program *reduced)
{
  struct sl_kernel *kernel = reduced->kernels.data[0];
  bool *is_needed = sl_heap_calloc(subject->heap, kernel->deps.len + 1u, sizeof *is_needed);
  for (uint32_t i = 0; i < subject->edges.len; i++)
    is_needed[subject->edges.data[i].line] |=
        subject->reductions.edges[i].what != SL_REDUCE_SAME && subject->reductions.edges[i].what != SL_REDUCE_IMPLIED;
  uint32_t left = 0;
  for (uint32_t line = 0; line < kernel->deps.len; line++) {
    if (is_needed[line])
      kernel->deps.data[left++] = kernel->deps.data[line];
  }
  kernel->deps.len = left;
}

static bool is_accepted(struct subject *subject, const sluice_program *synced)
{
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_check_options options = SLUICE_CHECK_OPTIONS_INIT;
  sluice_check_result *result = NULL;
  const char *rule, *text;
  options.against = subject->original;
  options.max_runs = MAX_CHECK_RUNS;
  options.max_events = MAX_CHECK_EVENTS;
  options.judge_waits = false;
  if (sluice_check(&result, synced, subject->state->targets, &options, &sink) != SLUICE_OK)
    return sl_fail(subject->failure, "not checked", "%s", messages.first);
  bool holds = sl_check_answer(result, &rule, &text) != SL_ANSWER_FAULT;
  if (!holds)
    sl_fail(subject->failure, "refused", "%s [%s]", text, rule);
  sluice_check_result_free(result);
  return holds;
}

static bool synchronizes(struct subject *subject, const char *text)
{
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  sluice_program *reduced = sl_read_program(subject->state->targets, text, subject->failure), *synced = NULL;
  if (!reduced)
    return false;
  drop_lines(subject, reduced);
  bool holds = sluice_sync(&synced, reduced, subject->state->targets, &options, &sink) == SLUICE_OK
                   ? is_accepted(subject, synced)
                   : sl_fail(subject->failure, "not synchronized", "%s", messages.first);
  subject->state->synchronized++;
  sluice_program_free(synced);
  sluice_program_free(reduced);
  return holds;
}

/* ---- the property ---- */

static bool prepare(struct subject *subject, const char *text)
{
  const sluice_targets *targets = subject->state->targets;
  subject->original = sl_read_program(targets, text, subject->failure);
  subject->program = subject->original ? sl_read_program(targets, text, subject->failure) : NULL;
  if (!subject->program)
    return false;
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  sl_report report;
  subject->kernel = subject->program->kernels.data[0];
  subject->target = sl_target_find(targets, sl_text(subject->program, subject->kernel->target));
  subject->heap = sl_heap_child_new(&subject->program->heap);
  sl_report_init(&report, subject->heap, &sink, &subject->program->source);
  sl_expand_copies(subject->program, subject->kernel);
  if (sl_deps_resolve(&subject->edges, subject->heap, subject->program, subject->kernel, subject->target, &report) !=
      SLUICE_OK)
    return sl_fail(subject->failure, "not resolved", "%s", messages.first);
  return true;
}

static bool reduction_is_right(void *user, const char *text, uint64_t seed, struct sl_failure *failure)
{
  struct subject subject = { .state = user, .random = seed, .failure = failure };
  subject.state->kernels++;
  bool holds = prepare(&subject, text) && reduce(&subject) && drops_enough(&subject);
  if (holds)
    try_without_one(&subject);
  if (holds && seed % SYNC_EVERY == 0)
    holds = synchronizes(&subject, text);
  if (holds) {
    vary_edges(&subject);
    holds = reduce(&subject);
    for (uint32_t i = 0; i < subject.edges.len && holds; i++)
      subject.state->varied_dropped += !sl_reduced_is_kept(&subject.reductions.edges[i]);
    subject.state->varied += subject.edges.len;
  }
  sluice_program_free(subject.original);
  sluice_program_free(subject.program);
  return holds;
}

static double percent(uint64_t part, uint64_t whole)
{
  return whole ? 100.0 * (double)part / (double)whole : 0;
}

int main(int argc, char **argv)
{
  struct sl_campaign campaign;
  sl_campaign_options(&campaign, argc, argv, 1500, 100000);
  sluice_targets *targets = NULL;
  if (sluice_targets_new(&targets) != SLUICE_OK) {
    printf("reduce: no targets\n");
    return 1;
  }
  struct campaign_state s = { .targets = targets };
  unsigned failed = sl_campaign_run(&campaign, SL_GENERATE_SYNC, reduction_is_right, &s);
  printf(
      "edges without vectors and across: %llu, by hardware %.1f %%, same ends %.1f %%, implied %.1f %%, kept %.1f %%\n",
      (unsigned long long)s.edges, percent(s.given, s.edges), percent(s.same, s.edges), percent(s.implied, s.edges),
      percent(s.kept, s.edges));
  printf("dropped: %llu by both, %llu by us alone, %llu by the reference alone\n", (unsigned long long)s.both,
         (unsigned long long)s.only_ours, (unsigned long long)s.only_reference);
  printf("varied: %llu of %llu dropped\n", (unsigned long long)s.varied_dropped, (unsigned long long)s.varied);
  printf("one kept edge dropped: %llu of %llu noticed\n", (unsigned long long)s.noticed, (unsigned long long)s.broken);
  if (s.broken >= 100 && 2 * s.noticed < s.broken) {
    printf("FAILED: fewer than half of these were noticed\n");
    failed++;
  }
  printf("reduce: %llu kernels, %llu runs (%llu too long), %.0f events each, %llu synchronized, %u failures\n",
         (unsigned long long)s.kernels, (unsigned long long)s.runs, (unsigned long long)s.long_runs,
         s.runs ? (double)s.events / (double)s.runs : 0, (unsigned long long)s.synchronized, failed);
  sluice_targets_free(targets);
  return sl_campaign_exit_code(&campaign, failed);
}
