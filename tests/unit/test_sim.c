/* test_sim.c: the entry points of sluice/sim.h, the parts of the cost model one by one, and the independent checks of the
 * model: documented figures that no number of it was chosen by.
 */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sluice/sluice.h>

struct session {
  sluice_targets *targets;
  sluice_program *program;
  sluice_sim_result *result;
  sluice_sim_options options;
  sluice_setting settings[8];
  char messages[2000];
};

static void keep(void *user, const sluice_diag *diag)
{
  struct session *session = user;
  size_t length = strlen(session->messages);
  snprintf(session->messages + length, sizeof session->messages - length, "%u: %s [%s]\n", diag->line, diag->text, diag->rule);
}

static void begin(struct session *session, const char *text)
{
  *session = (struct session){ .options = SLUICE_SIM_OPTIONS_INIT };
  const sluice_sink sink = { keep, session };
  assert_int_equal(sluice_targets_new(&session->targets), SLUICE_OK);
  if (sluice_program_parse(&session->program, "k.slu", text, strlen(text), &sink) != SLUICE_OK ||
      sluice_program_verify(session->program, session->targets, &sink) != SLUICE_OK)
    fail_msg("%s", session->messages);
}

static void end(struct session *session)
{
  sluice_sim_result_free(session->result);
  sluice_program_free(session->program);
  sluice_targets_free(session->targets);
}

static int run(struct session *session)
{
  const sluice_sink sink = { keep, session };
  sluice_sim_result_free(session->result);
  session->messages[0] = '\0';
  return sluice_sim(&session->result, session->program, 0, session->targets, &session->options, &sink);
}

static void set(struct session *session, const char *name, double value)
{
  session->settings[session->options.setting_count++] = (sluice_setting){ name, value };
  session->options.settings = session->settings;
}

static double ns_of(struct session *session)
{
  assert_int_equal(run(session), SLUICE_OK);
  return sluice_sim_summary_get(session->result)->ns;
}

/* The latency of a kernel's text, with one setting when it has a name. */
static double latency(const char *text, const char *name, double value)
{
  struct session session;
  begin(&session, text);
  if (name)
    set(&session, name, value);
  double ns = ns_of(&session);
  end(&session);
  return ns;
}

static void assert_near(double value, double wanted, double percent)
{
  if (fabs(value - wanted) > wanted * percent / 100)
    fail_msg("%.2f is not within %.0f %% of %.2f", value, percent, wanted);
}

/* ---- the parts of the model ---- */

#define TILES                         \
  "  buffer a : sbuf f32[128p, 960]\n" \
  "  buffer b : sbuf f32[128p, 960]\n" \
  "  buffer c : sbuf f32[128p, 960]\n" \
  "  buffer x : hbm f32[128, 960]\n"

static const char one_copy[] = "kernel k target trn2 explicit {\n" TILES "  x0: act.tensor_copy b <- a\n}\n";

static void test_an_instruction_takes_dispatch_interval_and_latency(void **state)
{
  (void)state;
  assert_near(latency(one_copy, NULL, 0), 5 + 960 / 1.2 + 143, 0.1);
  assert_near(latency(one_copy, "dispatch", 1000), 1000 + 960 / 1.2 + 143, 0.1);
}

/* 512 columns of the matrix engine take 213.3 ns, cold 426.7. */
static const char matmuls[] = "kernel k(n = 1) target trn2 explicit {\n  buffer a : sbuf bf16[128p, 128]\n"
                              "  buffer b : sbuf bf16[128p, 512]\n  buffer c : psum f32[128p, 512]\n  loop i < n {\n"
                              "    x0: pe.nc_matmul c <- a, b\n  }\n}\n";

struct executions {
  uint64_t starts[64], lengths[64];
  int count;
};

static void note_execution(void *user, const sluice_slice *slice)
{
  struct executions *executions = user;
  if (slice->kind != SLUICE_SLICE_EXECUTE || executions->count == 64)
    return;
  executions->starts[executions->count] = slice->start;
  executions->lengths[executions->count++] = slice->end - slice->start;
}

/* Control is made to take no time, so that the engine is always busy, or `gap` ns before each instruction. */
static struct executions execute(double warm_up, double gap)
{
  struct session session;
  struct executions executions = { .count = 0 };
  const int64_t n = 64;
  const sluice_input input = { "n", &n, 1, 0 };
  const sluice_trace trace = { .slice = note_execution, .user = &executions };
  begin(&session, matmuls);
  set(&session, "warm_up", warm_up);
  set(&session, "dispatch", 0);
  set(&session, "branch", 0);
  set(&session, "register_op", gap);
  session.options.inputs = &input;
  session.options.input_count = 1;
  session.options.trace = &trace;
  assert_int_equal(run(&session), SLUICE_OK);
  end(&session);
  assert_int_equal(executions.count, 64);
  return executions;
}

static void test_the_matrix_engine_warms_up(void **state)
{
  (void)state;
  enum { TICKS = 1024, WINDOW = 3000 * 24 / 5, STEP = WINDOW / 16 };
  struct executions off = execute(0, 0), busy = execute(1, 0), idle = execute(1, 1000);
  uint64_t warm_from = 0;
  for (int i = 0; i < 64; i++) {
    assert_int_equal(off.lengths[i], TICKS);
    assert_true(busy.lengths[i] == TICKS || busy.lengths[i] == 2 * TICKS);
    assert_int_equal(idle.lengths[i], 2 * TICKS); /* 427 of 1427 ns */
    if (busy.lengths[i] == TICKS && !warm_from)
      warm_from = busy.starts[i];
    assert_true(!warm_from || busy.lengths[i] == TICKS); /* it stays warm */
  }
  /* Busy for more than half of the window: when half has passed, by steps, and the instruction before it is over. */
  assert_in_range(warm_from, WINDOW / 2, WINDOW / 2 + 2 * STEP + 2 * TICKS);
}

static void test_a_loop_costs_a_counter_and_a_branch(void **state)
{
  (void)state;
  static const char text[] = "kernel k target trn2 explicit {\n" TILES "  loop i < 10 {\n    x0: act.tensor_copy b <- a\n  }\n}\n";
  double start = 60 + 220, step = 5 + 960 / 1.2 + 60 + 220; /* the last result is there before the last branch is done */
  assert_near(latency(text, NULL, 0), start + 10 * step, 0.1);
  assert_near(latency(text, "branch", 0), 60 + 10 * (5 + 800 + 60) + 143 - 60, 0.1);
}

static void test_control_may_run_ahead(void **state)
{
  (void)state;
  static const char text[] = "kernel k target trn2 explicit {\n" TILES "  loop i < 10 {\n    x0: act.tensor_copy b <- a\n  }\n}\n";
  assert_near(latency(text, "qd", 4), 60 + 220 + 5 + 10 * 800 + 143, 0.5);
}

static void test_an_update_takes_its_time_to_be_seen(void **state)
{
  (void)state;
  static const char text[] = "kernel k target trn2 explicit {\n" TILES "  sem s\n"
                             "  x0: act.tensor_copy b <- a  inc s\n"
                             "  x1: dve.tensor_copy c <- b  wait s >= 1\n}\n";
  double first = 5 + 800 + 143, second = 5 + 960 / 0.96 + 104;
  assert_near(latency(text, NULL, 0), first + 100 + second, 0.1);
  assert_near(latency(text, "semaphore_visibility", 700), first + 700 + second, 0.1);
}

static void test_a_transfer_has_five_parts(void **state)
{
  (void)state;
  static const char text[] = "kernel k target trn2 explicit {\n  queue q via sp\n" TILES "  x0: q.dma_copy a <- x\n}\n";
  double parts = 40 + 417 + 1300 + 100, rate = 435.0 * 3840 / (3840 + 816);
  assert_near(latency(text, NULL, 0), parts + 128 * 3840 / fmin(rate, 354), 0.1);
  assert_near(latency(text, "dma_start", 2000), parts + 700 + 128 * 3840 / fmin(rate, 354), 0.1);
}

static void test_rings_share_the_bandwidth(void **state)
{
  (void)state;
  static const char text[] = "kernel k target trn2 explicit {\n  queue q0, q1 via sp\n" TILES
                             "  x0: q0.dma_copy a <- x\n  x1: q1.dma_copy b <- x\n}\n";
  double alone = 128 * 3840 / 354.0, first = 40 + 417 + 1300;
  /* The second may start 600 ns after the first: its generator is busy so long. */
  assert_near(latency(text, "shared", 0), first + 600 + alone + 100, 0.1);
  assert_near(latency(text, "shared", 1), first + 2 * alone + 100, 0.1);
}

/* When the second queue's transfer ends, which may start 600 ns after the first one's. */
static double end_of_second(const char *text, double has_classes)
{
  struct session session;
  size_t count;
  begin(&session, text);
  set(&session, "dma_qos", has_classes);
  assert_int_equal(run(&session), SLUICE_OK);
  const sluice_sim_stream *streams = sluice_sim_streams(session.result, &count);
  assert_string_equal(streams[1].name, "q1");
  double ns = (double)streams[1].end / sluice_sim_summary_get(session.result)->ticks_per_ns;
  end(&session);
  return ns;
}

static void test_rings_are_served_by_class(void **state)
{
  (void)state;
#define CLASSES(first, second)                                                   \
  "kernel k(static m = 3) target trn2 explicit {\n  queue q0, q1 via sp\n" TILES \
  "  x0: q0.dma_copy a <- x { qos = " first " }\n  x1: q1.dma_copy b <- x { qos = " second " }\n}\n"
  double alone = 128 * 3840 / 354.0, start = 40 + 417 + 1300 + 600, left = alone - 600;
  double shared = start + 2 * left + (alone - left) + 100;
  assert_near(end_of_second(CLASSES("0", "2"), 0), shared, 0.5);
  assert_near(end_of_second(CLASSES("1", "1"), 1), shared, 0.5);
  assert_near(end_of_second(CLASSES("0", "m"), 1), start + alone + 100, 0.5);
  assert_near(end_of_second(CLASSES("m - 1", "1"), 1), start + left + alone + 100, 0.5);
  double both = 40 + 417 + 1300 + 2 * alone + 100; /* whoever is first, the bandwidth is used */
  static const char second_first[] = CLASSES("0", "3");
  assert_near(latency(second_first, "dma_qos", 0), both, 0.5);
  assert_near(latency(second_first, "dma_qos", 1), both, 0.5);
}

static void test_a_barrier_has_its_parts(void **state)
{
  (void)state;
  static const char text[] = "kernel k target trn2 explicit {\n" TILES "  x0: act.tensor_copy b <- a\n  barrier\n"
                             "  x1: act.tensor_copy c <- a\n}\n";
  double one = 5 + 800 + 143, barrier = 100 + 75 + 100 + 75 + 100;
  assert_near(latency(text, NULL, 0), one + barrier + one, 0.1);
  assert_near(latency(text, "drain", 1000), one + barrier + 900 + one, 0.1);
}

static void test_exclusions_hold_engines_back(void **state)
{
  (void)state;
#define BANKS(address)                                                                                               \
  "kernel k target trn2 explicit {\n" TILES "  buffer p0 : psum f32[128p, 480] at 0\n  buffer p1 : psum f32[128p, 480] " \
  "at " address "\n  x0: act.tensor_copy b[:, 0:480] <- p0\n  x1: dve.tensor_copy c[:, 0:480] <- p1\n}\n"
  double dve = 5 + 480 / 0.96 + 104; /* act is done before it */
  static const char other_bank[] = BANKS("2048"), same_bank[] = BANKS("0");
  assert_near(latency(other_bank, NULL, 0), dve, 0.5);
  assert_near(latency(same_bank, NULL, 0), 5 + 480 / 1.2 + dve - 5, 0.5);
}

static void test_ideal_leaves_out_synchronization(void **state)
{
  (void)state;
  static const char text[] = "kernel k target trn2 explicit {\n" TILES "  sem s\n  dve.reg_set %t, 0\n"
                             "  x0: act.tensor_copy b <- a  inc s\n  dve.reg_add %t, %t, 1\n"
                             "  x1: dve.tensor_copy c <- b  wait s >= %t\n  epilogue\n  dep x0 -> x1\n}\n";
  struct session session;
  begin(&session, text);
  session.options.sync = SLUICE_SIM_IDEAL;
  assert_near(ns_of(&session), 5 + 800 + 143 + 5 + 1000 + 104, 0.1);
  assert_int_equal(sluice_sim_summary_get(session.result)->register_operations, 0);
  size_t count;
  const sluice_sim_stall *stalls = sluice_sim_stalls(session.result, &count);
  assert_int_equal(count, 1);
  assert_string_equal(stalls[0].waits_for, "x0 -> x1");
  assert_string_equal(stalls[0].producer, "x0");
  end(&session);
}

static void test_addresses_of_an_iteration_are_computed_once(void **state)
{
  (void)state;
  static const char text[] = "kernel k target trn2 explicit {\n  buffer a : sbuf f32[10, 128p, 960]\n"
                             "  buffer b : sbuf f32[2, 128p, 960]\n  loop i < 10 {\n"
                             "    x0: act.tensor_copy b[i % 2] <- a[i]\n    x1: act.tensor_copy b[i % 2] <- a[i]\n  }\n}\n";
  assert_near(latency(text, NULL, 0), 280 + 10 * (60 + 2 * 805 + 280), 0.1);
}

/* ---- memory in use ---- */

enum { W, ONCE, XT, TRACKED };

struct uses {
  uint64_t bytes[TRACKED], most[TRACKED], changes[TRACKED], last[TRACKED];
  uint64_t time, end;
};

static void note_names(void *user, const sluice_trace_head *head)
{
  (void)user;
  assert_int_equal(head->buffer_count, TRACKED);
  assert_string_equal(head->buffers[XT].name, "xt");
  assert_string_equal(head->buffers[XT].space, "sbuf");
  for (size_t s = 0; s < head->stream_count; s++) {
    bool touches = strcmp(head->streams[s].name, "q0") == 0 || strcmp(head->streams[s].name, "dve") == 0;
    assert_int_equal(head->buffers[XT].is_touched[s], touches);
  }
}

static void note_use(void *user, uint32_t buffer, uint64_t time, uint64_t bytes)
{
  struct uses *uses = user;
  assert_true(time >= uses->time && bytes != uses->bytes[buffer]);
  uses->time = uses->last[buffer] = time;
  uses->bytes[buffer] = bytes;
  uses->changes[buffer]++;
  uses->most[buffer] = bytes > uses->most[buffer] ? bytes : uses->most[buffer];
}

static void note_end(void *user, uint64_t ticks)
{
  ((struct uses *)user)->end = ticks;
}

/* w is read after the loop, once is written and never read, xt rotates. */
static const char uses_text[] =
    "kernel k(n) target trn2 explicit {\n  queue q0 via sp\n  buffer x : hbm bf16[128, 64]\n  buffer w : sbuf "
    "bf16[128p, 64]\n"
    "  buffer once : sbuf bf16[128p, 64]\n  buffer xt : sbuf bf16[2, 128p, 64]\n  lw: act.memset w { value = 0 }\n"
    "  lo: act.memset once { value = 0 }\n  loop i < n {\n    ld: q0.dma_copy xt[i % 2] <- x\n"
    "    mul: dve.tensor_copy w <- xt[i % 2]\n  }\n  st: q0.dma_copy x <- w\n  dep ld -> mul\n  dep mul -> ld (i: 2)\n"
    "  dep mul -> st\n}\n";

static struct uses find_uses(int64_t n)
{
  struct session session;
  struct uses uses = { .time = 0 };
  const sluice_input input = { "n", &n, 1, 0 };
  const sluice_trace trace = { .begin = note_names, .buffer = note_use, .end = note_end, .user = &uses };
  const sluice_sync_options sync = SLUICE_SYNC_OPTIONS_INIT;
  begin(&session, uses_text);
  sluice_program *plain = session.program;
  assert_int_equal(sluice_sync(&session.program, plain, session.targets, &sync, NULL), SLUICE_OK);
  sluice_program_free(plain);
  session.options.inputs = &input;
  session.options.input_count = 1;
  session.options.trace = &trace;
  assert_int_equal(run(&session), SLUICE_OK);
  end(&session);
  for (int b = 0; b < TRACKED; b++)
    assert_int_equal(uses.bytes[b], 0);
  return uses;
}

static void test_buffers_are_in_use_from_write_to_last_read(void **state)
{
  (void)state;
  enum { FEW = 5, MANY = 60000, COPY = 128 * 64 * 2 };
  struct uses few = find_uses(FEW), many = find_uses(MANY);
  for (int i = 0; i < 2; i++) {
    const struct uses *uses = i ? &many : &few;
    assert_int_equal(uses->changes[W], 2); /* written in the loop, but not read there: it stays in use */
    assert_true(uses->last[W] > uses->last[XT]);
    assert_int_equal(uses->changes[ONCE], 2);
    assert_int_equal(uses->most[XT], 2 * COPY);
    assert_int_equal(uses->most[W], COPY);
  }
  assert_true(few.last[ONCE] < few.end / 2);
  assert_true(many.last[ONCE] < many.end); /* not certain for long, so told late, but not for ever */
  assert_true(many.changes[XT] > MANY && many.changes[XT] <= 2 * MANY); /* each copy is given up and taken again */
}

/* ---- settings, inputs, answers ---- */

static const char counted[] = "kernel k(n) target trn2 explicit {\n" TILES
                              "  loop i < n {\n    x0: act.tensor_copy b <- a\n  }\n  if ?c {\n    x1: dve.tensor_copy c <- a\n  }\n}\n";

static void test_inputs_are_needed_and_checked(void **state)
{
  (void)state;
  struct session session;
  const int64_t three = 3, one = 1;
  sluice_input inputs[] = { { "n", &three, 1, 0 }, { "c", &one, 1, 0 }, { "m", &one, 1, 0 } };
  begin(&session, counted);
  assert_int_equal(run(&session), SLUICE_E_INPUT);
  assert_non_null(strstr(session.messages, "parameter 'n' of kernel 'k' needs a value"));
  session.options.inputs = inputs;
  session.options.input_count = 2;
  assert_int_equal(run(&session), SLUICE_OK);
  assert_int_equal(sluice_sim_summary_get(session.result)->instructions, 4);
  session.options.input_count = 3;
  assert_int_equal(run(&session), SLUICE_E_INPUT);
  assert_non_null(strstr(session.messages, "'m'"));
  end(&session);
}

static void test_unknown_settings_are_errors(void **state)
{
  (void)state;
  struct session session;
  begin(&session, one_copy);
  set(&session, "dispach", 5);
  assert_int_equal(run(&session), SLUICE_E_INPUT);
  assert_non_null(strstr(session.messages, "'dispach' is no parameter of target 'trn2'"));
  end(&session);
  begin(&session, one_copy);
  set(&session, "dispatch", -1);
  assert_int_equal(run(&session), SLUICE_E_INPUT);
  end(&session);
}

static void test_a_deadlock_is_an_answer(void **state)
{
  (void)state;
  struct session session;
  begin(&session, "kernel k target trn2 explicit {\n" TILES "  sem s\n  x0: act.tensor_copy b <- a  wait s >= 1\n}\n");
  assert_int_equal(run(&session), SLUICE_E_ANSWER);
  assert_non_null(strstr(session.messages, "act waits at 'x0' [deadlock]"));
  end(&session);
}

static void test_steps_have_a_limit(void **state)
{
  (void)state;
  struct session session;
  begin(&session, "kernel k target trn2 explicit {\n" TILES "  loop i < 1000000000000 {\n    x0: act.tensor_copy b <- a\n  }\n}\n");
  session.options.max_steps = 10000;
  assert_int_equal(run(&session), SLUICE_E_BUDGET);
  end(&session);
}

static void test_latency_alone(void **state)
{
  (void)state;
  struct session session;
  begin(&session, one_copy);
  uint64_t ticks;
  double ns;
  assert_int_equal(sluice_sim_latency(&ticks, &ns, session.program, 0, session.targets, &session.options, NULL), SLUICE_OK);
  assert_near(ns, ns_of(&session), 0.001);
  assert_int_equal(ticks, sluice_sim_summary_get(session.result)->ticks);
  end(&session);
}

/* ---- independent checks ---- */

/* The library's own kernel, tile by tile: latency of one tile. */
static double rmsnorm_tile_us(const char *pieces)
{
  static char text[8000], wanted[8000];
  FILE *file = fopen(SLUICE_SOURCE_DIR "/tests/text/sim/Inputs/rmsnorm_quant.slu", "rb");
  assert_non_null(file);
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = '\0';
  char *at = strstr(text, "C = 16");
  assert_non_null(at);
  snprintf(wanted, sizeof wanted, "%.*sC = %s%s", (int)(at - text), text, pieces, at + strlen("C = 16"));
  struct session session;
  begin(&session, wanted);
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  sluice_program *synced;
  assert_int_equal(sluice_sync(&synced, session.program, session.targets, &options, NULL), SLUICE_OK);
  sluice_program_free(session.program);
  session.program = synced;
  double us = ns_of(&session) / 1e3 / 4;
  end(&session);
  return us;
}

static void test_library_rmsnorm(void **state)
{
  (void)state;
  assert_near(rmsnorm_tile_us("16"), 6287.0 / 128, 15); /* 32K rows of 8192 */
  assert_near(rmsnorm_tile_us("16"), 458.2 / 8, 15);    /* 2K rows */
  assert_near(rmsnorm_tile_us("32"), 13214.4 / 128, 15); /* rows of 16384 */
}

static void test_matmul_rate(void **state)
{
  (void)state;
  static const char text[] = "kernel k target trn2 explicit {\n  buffer w : sbuf bf16[128p, 128]\n  buffer m : sbuf bf16[128p, 512]\n"
                             "  buffer p : psum f32[128p, 512] at 0\n  loop i < 100 unroll 10 {\n"
                             "    x0: pe.nc_matmul p <- w, m { start = 1 }\n  }\n}\n";
  struct session session;
  begin(&session, text);
  (void)ns_of(&session);
  size_t count;
  const sluice_sim_stream *streams = sluice_sim_streams(session.result, &count);
  double ns = (double)streams[0].busy / sluice_sim_summary_get(session.result)->ticks_per_ns / 100;
  assert_near(2.0 * 128 * 128 * 512 / ns / 1e3, 77.2, 15); /* TFLOPS, measured */
  end(&session);
}

static void test_transfer_on_one_engine(void **state)
{
  (void)state;
  struct session session;
  begin(&session, "kernel k target trn2 explicit {\n  queue q via sp\n  buffer x : hbm f32[4, 2048]\n"
                  "  buffer a : sbuf f32[4p, 2048]\n  x0: q.dma_copy a <- x\n}\n");
  set(&session, "dma_peak", 27.2);
  set(&session, "dma_sustained", 27.2);
  (void)ns_of(&session);
  size_t count;
  const sluice_sim_stream *streams = sluice_sim_streams(session.result, &count);
  for (size_t i = 0; i < count; i++)
    if (streams[i].is_queue)
      assert_near((double)streams[i].busy / sluice_sim_summary_get(session.result)->ticks_per_ns, 1416, 15);
  end(&session);
}

struct starts {
  uint64_t at[2];
  unsigned count;
};

static void note_start(void *user, const sluice_slice *slice)
{
  struct starts *starts = user;
  if (slice->kind == SLUICE_SLICE_EXECUTE && starts->count < 2)
    starts->at[starts->count++] = slice->start;
}

static void test_dependent_pair_on_act(void **state)
{
  (void)state;
  static const char *const sources[] = { "b", "c" };
  for (int dependent = 0; dependent < 2; dependent++) {
    char text[600];
    snprintf(text, sizeof text,
             "kernel k target trn1 explicit {\n  buffer a : sbuf bf16[128p, 1]\n  buffer b : sbuf bf16[128p, 1]\n"
             "  buffer c : sbuf bf16[128p, 1]\n  x0: act.activation b <- a { func = exp }\n"
             "  x1: act.activation a <- %s { func = exp }\n}\n", sources[!dependent]);
    struct session session;
    struct starts starts = { { 0, 0 }, 0 };
    const sluice_trace trace = { .slice = note_start, .user = &starts };
    begin(&session, text);
    session.options.trace = &trace;
    (void)ns_of(&session);
    assert_int_equal(starts.count, 2);
    double cycles = (double)(starts.at[1] - starts.at[0]) / sluice_sim_summary_get(session.result)->ticks_per_ns * 1.4;
    assert_near(cycles, dependent ? 264 : 64 + 5 * 1.4, 5);
    end(&session);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_an_instruction_takes_dispatch_interval_and_latency),
    cmocka_unit_test(test_the_matrix_engine_warms_up),
    cmocka_unit_test(test_a_loop_costs_a_counter_and_a_branch),
    cmocka_unit_test(test_control_may_run_ahead),
    cmocka_unit_test(test_an_update_takes_its_time_to_be_seen),
    cmocka_unit_test(test_a_transfer_has_five_parts),
    cmocka_unit_test(test_rings_share_the_bandwidth),
    cmocka_unit_test(test_rings_are_served_by_class),
    cmocka_unit_test(test_a_barrier_has_its_parts),
    cmocka_unit_test(test_exclusions_hold_engines_back),
    cmocka_unit_test(test_ideal_leaves_out_synchronization),
    cmocka_unit_test(test_addresses_of_an_iteration_are_computed_once),
    cmocka_unit_test(test_buffers_are_in_use_from_write_to_last_read),
    cmocka_unit_test(test_inputs_are_needed_and_checked),
    cmocka_unit_test(test_unknown_settings_are_errors),
    cmocka_unit_test(test_a_deadlock_is_an_answer),
    cmocka_unit_test(test_steps_have_a_limit),
    cmocka_unit_test(test_latency_alone),
    cmocka_unit_test(test_library_rmsnorm),
    cmocka_unit_test(test_matmul_rate),
    cmocka_unit_test(test_transfer_on_one_engine),
    cmocka_unit_test(test_dependent_pair_on_act),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
