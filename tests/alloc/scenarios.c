/* scenarios.c: see scenarios.h. Each run goes through public entry points only and stops at the first that fails. The
 * kernels are small: every run is repeated once per allocation it makes.
 */
#include "scenarios.h"

#include <sluice/sluice.h>

#include <stdlib.h>
#include <string.h>

static const char kernel_text[] =
    "# A kernel with a bit of everything.\n"
    "sluice 1\n"
    "\n"
    "kernel softsum(n = 8, m = 4) target trn2 explicit {\n"
    "  queue q0 via sp\n"
    "  queue q1 via pool\n"
    "  buffer x   : hbm  bf16[n, 128, 512]\n"
    "  buffer y   : hbm  f32[n, 128, 512]\n"
    "  buffer xt  : sbuf bf16[2, 128p, 512]\n"
    "  buffer tmp : sbuf f32[128p, 512]\n"
    "  buffer acc : sbuf f32[128p, 512]\n"
    "  loop i < n {  # tiles\n"
    "    ld: q0.dma_copy xt[i % 2] <- x[i]  from \"f.pto\":12:3\n"
    "    loop j < m {\n"
    "      ex: act.activation tmp <- xt[i % 2] { func = exp }\n"
    "      ad: dve.accumulate +acc <- tmp { start = j == 0 }\n"
    "    }\n"
    "    st: q1.dma_copy y[i] <- acc\n"
    "  }\n"
    "  dep ld -> ex\n"
    "  dep ex -> ad\n"
    "  dep ad -> ex (j: 1)\n"
    "  dep ad -> st\n"
    "  dep st -> ad (i: 1)\n"
    "  dep ex -> ld (i: 2)\n"
    "}\n";

/* What the closed form of per-loop covers. */
static const char two_engines_text[] =
    "kernel two_engines(n = 8) target generic explicit {\n"
    "  loop i < n {\n"
    "    a: e0.op\n"
    "    b: e1.op\n"
    "  }\n"
    "  dep a -> b\n"
    "  dep b -> a (i: 2)\n"
    "}\n";

/* Branches and opaque conditions, on the target without limits. */
static const char branch_text[] =
    "kernel branches(n = 3) target generic explicit {\n"
    "  loop i < n {\n"
    "    a: e0.op\n"
    "    if ?c {\n"
    "      b: e1.op\n"
    "    } else {\n"
    "      c: e2.op\n"
    "    }\n"
    "    d: e3.op\n"
    "  }\n"
    "  dep a -> b\n"
    "  dep a -> c\n"
    "  dep b -> d\n"
    "  dep d -> a (i: 1)\n"
    "}\n";

static const char malformed_text[] =
    "kernel broken(n = 8) target trn2 {\n"
    "  quue q0 via sp\n"
    "  buffer x : hbm bf16[n, 128,\n"
    "  loop i < { a: pe.matmul }\n"
    "  \"unterminated\n"
    "  dep a -> \n"
    "}\n";

static const char illegal_text[] =
    "kernel illegal(n = 8, n = 9) target trn3 {\n"
    "  buffer x : hbm bf16[m, 128, 512]\n"
    "  loop i < n {\n"
    "    a: act.activatoin x <- y\n"
    "    a: dve.copy x[j] <- x\n"
    "  }\n"
    "  dep a -> missing (k: 1)\n"
    "}\n";

static const char backward_text[] =
    "kernel backward target generic explicit {\n"
    "  a: e0.op\n"
    "  b: e1.op\n"
    "  dep b -> a\n"
    "}\n";

static const char synchronized_text[] =
    "kernel synced target generic explicit {\n"
    "  sem s\n"
    "  a: e0.op  inc s\n"
    "  b: e1.op  wait s >= 1\n"
    "  epilogue\n"
    "}\n";

/* Every kind of finding, two of them with a second file: several writers and a held-back run, an event array, a sem_set. */
static const char faulty_text[] =
    "kernel race(n = 3) target generic explicit {\n"
    "  sem s, t\n"
    "  e2.reg_set %v, 2\n"
    "  loop i < n {\n"
    "    p: e0.op  inc s\n"
    "    q: e1.op  wait t >= i  inc s\n"
    "    if ?c {\n"
    "      e2.nop\n"
    "    }\n"
    "    c: e2.op  wait s >= %v  inc t  from \"f.pto\":3:4\n"
    "    e2.reg_add %v, %v, 2\n"
    "  }\n"
    "  epilogue\n"
    "  dep p -> c\n"
    "  dep q -> c\n"
    "}\n"
    "kernel deadlock target generic explicit {\n"
    "  event e[2] : e0 -> e1\n"
    "  sem s, t\n"
    "  a: e0.op  wait t >= 1  inc s set e[1]\n"
    "  b: e1.op  wait s >= 1, e[1]  inc t\n"
    "  dep a -> b\n"
    "}\n"
    "kernel leak target generic explicit {\n"
    "  event e[2] : e0 -> e1\n"
    "  a: e0.op  set e[1]\n"
    "}\n"
    "kernel undecided(n = 3) target generic explicit {\n"
    "  sem s\n"
    "  loop i < n {\n"
    "    a: e0.op  inc s\n"
    "    b: e1.op  wait s == 1\n"
    "    e1.sem_set s, 0\n"
    "  }\n"
    "  epilogue\n"
    "  dep a -> b\n"
    "}\n"
    "kernel unneeded target generic explicit {\n"
    "  sem s\n"
    "  a: e0.op  inc s\n"
    "  b: e0.op  inc s\n"
    "  c: e1.op  wait s >= 2, s >= 1\n"
    "  epilogue\n"
    "  dep a -> c\n"
    "}\n";

/* Renders every message, as a user of the library does. */
static void render(void *user, const sluice_diag *diag)
{
  (void)user;
  char *text;
  (void)sluice_diag_format(&text, diag);
  sluice_string_free(text);
}

static const sluice_sink sink = { render, NULL };

sluice_targets *scenario_targets;

/* What a run holds. Everything starts as NULL and is freed at the end, wherever the run stopped. */
struct session {
  sluice_targets *targets; /* of its own */
  sluice_program *program, *other;
  char *text;
};

static void end(struct session *session)
{
  sluice_string_free(session->text);
  sluice_program_free(session->other);
  sluice_program_free(session->program);
  sluice_targets_free(session->targets);
}

/* Parses and verifies. */
static int open_program(struct session *session, const char *text)
{
  memset(session, 0, sizeof *session);
  int status = sluice_program_parse(&session->program, "kernel.slu", text, strlen(text), &sink);
  if (status == SLUICE_OK)
    status = sluice_program_verify(session->program, scenario_targets, &sink);
  return status;
}

static int only_open(const char *text)
{
  struct session session;
  int status = open_program(&session, text);
  end(&session);
  return status;
}

static int run_malformed(void)
{
  return only_open(malformed_text);
}

static int run_illegal(void)
{
  return only_open(illegal_text);
}

static int run_backward(void)
{
  return only_open(backward_text);
}

static int run_print(void)
{
  struct session session;
  int status = open_program(&session, kernel_text);
  if (status == SLUICE_OK)
    status = sluice_program_print(&session.text, NULL, session.program);
  end(&session);
  return status;
}

static int synchronize(const char *text, enum sluice_alloc alloc, bool resync)
{
  struct session session;
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  options.alloc = alloc;
  options.resync = resync;
  int status = open_program(&session, text);
  if (status == SLUICE_OK)
    status = sluice_sync(&session.other, session.program, scenario_targets, &options, &sink);
  if (status == SLUICE_OK)
    status = sluice_program_print(&session.text, NULL, session.other);
  sluice_stats stats;
  if (status == SLUICE_OK)
    status = sluice_program_stats(&stats, session.other, 0, scenario_targets);
  uint64_t registers;
  if (status == SLUICE_OK)
    status = sluice_published_registers(&registers, session.program, 0, scenario_targets);
  end(&session);
  return status;
}

static int run_shadow(void)
{
  return synchronize(kernel_text, SLUICE_ALLOC_SHADOW, false);
}

static int run_shadow_branches(void)
{
  return synchronize(branch_text, SLUICE_ALLOC_SHADOW, false);
}

static int run_per_loop(void)
{
  return synchronize(two_engines_text, SLUICE_ALLOC_PER_LOOP, false);
}

static int run_inexpressible(void)
{
  return synchronize(kernel_text, SLUICE_ALLOC_PER_LOOP, false);
}

static int run_barrier(void)
{
  return synchronize(kernel_text, SLUICE_ALLOC_BARRIER, false);
}

static int run_barrier_branches(void)
{
  return synchronize(branch_text, SLUICE_ALLOC_BARRIER, false);
}

static int run_refused(void)
{
  return synchronize(synchronized_text, SLUICE_ALLOC_SHADOW, false);
}

static int run_resync(void)
{
  return synchronize(synchronized_text, SLUICE_ALLOC_SHADOW, true);
}

/* Checks, and renders what was found. The number of runs is small: the runs are repeated for each allocation. */
static int check(const struct session *session)
{
  sluice_check_result *result;
  sluice_check_options options = SLUICE_CHECK_OPTIONS_INIT;
  const int64_t values[] = { 0, 2 };
  const sluice_input input = { "n", values, 2, 0 };
  size_t count;
  options.against = session->other;
  options.inputs = &input;
  options.input_count = 1;
  options.minimal = true;
  int status = sluice_check(&result, session->program, scenario_targets, &options, &sink);
  if (status != SLUICE_OK)
    return status;
  const sluice_finding *findings = sluice_check_findings(result, &count);
  for (size_t i = 0; i < count; i++)
    render(NULL, findings[i].diag);
  sluice_check_result_free(result);
  return count ? SLUICE_OK : SLUICE_E_ANSWER;
}

static int run_check(void)
{
  struct session session;
  int status = open_program(&session, faulty_text);
  if (status == SLUICE_OK)
    status = check(&session);
  end(&session);
  return status;
}

static int check_against(const char *other_text)
{
  struct session session;
  int status = open_program(&session, faulty_text);
  if (status == SLUICE_OK)
    status = sluice_program_parse(&session.other, "other.slu", other_text, strlen(other_text), &sink);
  if (status == SLUICE_OK)
    status = sluice_program_verify(session.other, scenario_targets, &sink);
  if (status == SLUICE_OK)
    status = check(&session);
  end(&session);
  return status;
}

static int run_check_against(void)
{
  return check_against(faulty_text);
}

static int run_check_other_kernels(void)
{
  return check_against(branch_text);
}

static int run_json(void)
{
  struct session session;
  int status = open_program(&session, kernel_text);
  if (status == SLUICE_OK)
    status = sluice_program_print_json(&session.text, NULL, session.program);
  if (status == SLUICE_OK)
    status = sluice_program_parse_json(&session.other, "kernel.json", session.text, strlen(session.text), &sink);
  const char *why;
  if (status == SLUICE_OK && !sluice_program_equal(session.program, session.other, &why))
    status = SLUICE_E_ANSWER;
  end(&session);
  return status;
}

static int parse_json_text(const char *text)
{
  struct session session = { 0 };
  int status = sluice_program_parse_json(&session.program, "kernel.json", text, strlen(text), &sink);
  end(&session);
  return status;
}

static int run_json_syntax(void)
{
  return parse_json_text("{ \"schema\": [1, 2, }");
}

static int run_json_schema(void)
{
  return parse_json_text("{ \"schema\": \"sluice-kernel-1\", \"kernels\": [ { \"name\": 5, \"unknown\": {} } ] }");
}

static int run_targets(void)
{
  struct session session = { 0 };
  int status = sluice_targets_new(&session.targets);
  end(&session);
  return status;
}

static int describe(bool json)
{
  struct session session = { 0 };
  int status = sluice_targets_describe(&session.text, scenario_targets, "trn2", json);
  end(&session);
  return status;
}

static int run_describe(void)
{
  return describe(false);
}

static int run_describe_json(void)
{
  return describe(true);
}

static int run_load_malformed_target(void)
{
  static const char text[] = "target broken \"refused\" like generic {\n  engnie pe\n  clock = \n}\n";
  struct session session = { 0 };
  int status = sluice_targets_new(&session.targets);
  if (status == SLUICE_OK)
    status = sluice_targets_load(session.targets, "broken.target", text, sizeof text - 1, &sink);
  end(&session);
  return status;
}

static int run_select_and_define(void)
{
  struct session session;
  int status = open_program(&session, kernel_text);
  if (status == SLUICE_OK)
    status = sluice_program_select(session.program, "softsum", &sink);
  if (status == SLUICE_OK)
    status = sluice_program_define(session.program, "n", 16, &sink);
  if (status == SLUICE_OK)
    status = sluice_program_select(session.program, "softsun", &sink);
  end(&session);
  return status;
}

static void build_body(sluice_builder *builder)
{
  sluice_build_kernel(builder, "built", "generic", SLUICE_KERNEL_EXPLICIT);
  const sluice_expr dims[] = { sluice_expr_name(builder, "n"), sluice_expr_int(builder, 4) };
  sluice_build_param(builder, "n", sluice_expr_int(builder, 8), false);
  sluice_build_queue(builder, "q0", "e0");
  sluice_build_buffer(builder, "x", "hbm", "f32", dims, 2, -1);
  sluice_build_loop(builder, "i", sluice_expr_text(builder, "n * 2 + 1"), 0);
  sluice_build_op(builder, &(sluice_op){ .label = "a", .stream = "q0", .opcode = "op" });
  const sluice_comparison comparison = { .opaque = "c" };
  sluice_build_if(builder, &(sluice_condition){ .comparisons = &comparison, .count = 1 });
  sluice_build_op(builder, &(sluice_op){ .label = "b", .stream = "e1", .opcode = "op" });
  sluice_build_end(builder);
  sluice_build_end(builder);
  sluice_build_dep(builder, "a", "b", NULL, 0);
  sluice_build_dep(builder, "b", "a", &(sluice_distance){ .loop = "i", .k = 2 }, 1);
  sluice_build_end(builder);
}

static int run_builder(void)
{
  struct session session = { 0 };
  sluice_builder *builder;
  int status = sluice_builder_new(&builder, "built");
  if (status != SLUICE_OK)
    return status;
  build_body(builder);
  status = sluice_builder_finish(&session.program, builder, &sink);
  if (status == SLUICE_OK)
    status = sluice_program_print(&session.text, NULL, session.program);
  end(&session);
  return status;
}

/* One instruction of a kernel that is synchronized and simulated first. */
static int explain(const char *label, bool as_json)
{
  struct session session;
  const sluice_sync_options how = SLUICE_SYNC_OPTIONS_INIT;
  const sluice_sim_options options = SLUICE_SIM_OPTIONS_INIT;
  sluice_explain_options shown = SLUICE_EXPLAIN_OPTIONS_INIT;
  sluice_sim_result *costs = NULL;
  int status = open_program(&session, kernel_text);
  if (status == SLUICE_OK)
    status = sluice_sync(&session.other, session.program, scenario_targets, &how, &sink);
  if (status == SLUICE_OK)
    status = sluice_sim(&costs, session.other, 0, scenario_targets, &options, &sink);
  shown.origin = session.program;
  shown.costs = costs;
  shown.as_json = as_json;
  if (status == SLUICE_OK)
    status = sluice_explain(&session.text, session.other, 0, label, scenario_targets, &shown, &sink);
  sluice_sim_result_free(costs);
  end(&session);
  return status;
}

static int run_explain(void)
{
  return explain("ad", false);
}

static int run_explain_json(void)
{
  return explain("ad", true);
}

static int run_explain_unknown(void)
{
  return explain("adx", false);
}

/* Found dependences of every kind, branches, registers, an alias. */
static const char found_text[] =
    "kernel found(n = 8) target generic {\n"
    "  queue q0, qg via e0\n"
    "  buffer x : hbm f32[64, 128, 256]\n"
    "  buffer cnt : hbm i32[64]\n"
    "  buffer ids : hbm i32[64, 128, 4]\n"
    "  buffer idx : sbuf i32[128p, 4] at 0\n"
    "  buffer raw : sbuf i8[128p, 16] at 8\n"
    "  buffer xt : sbuf f32[2, 128p, 256]\n"
    "  buffer g : sbuf f32[128p, 256]\n"
    "  buffer h : sbuf f32[128p, 256]\n"
    "  alias g h\n"
    "  loop i < n {\n"
    "    ld: q0.op xt[i % 2] <- x[i]\n"
    "    e0.reg_load %r <- cnt[i]\n"
    "    if ?c {\n"
    "      li: q0.op idx <- ids[i]\n"
    "    } else {\n"
    "      e0.reg_load %r <- cnt[i + 1]\n"
    "    }\n"
    "    a: e1|e2.op raw[:, 0:4]\n"
    "    ga: qg.gather g <- x[%r, ?], idx\n"
    "    st: e3.op h <- xt[i % 2]\n"
    "  }\n"
    "  dep ld -> st (i: 1)\n"
    "  nodep a -> ga \"why\"\n"
    "}\n";

static int run_dependences(void)
{
  struct session session;
  const sluice_deps_options options = SLUICE_DEPS_OPTIONS_INIT;
  sluice_deps_result *result = NULL;
  int status = open_program(&session, found_text);
  if (status == SLUICE_OK)
    status = sluice_deps(&result, session.program, 0, scenario_targets, &options, &sink);
  sluice_deps_result_free(result);
  end(&session);
  return status;
}

/* What the analysis keeps for loops: rotation, a nest with a vector, a loop and arms that may not run, a hull seen from outside,
 * columns. */
static const char nest_text[] =
    "kernel nests(n = 2) target generic {\n"
    "  buffer b : hbm f32[8, 8]\n"
    "  buffer t : hbm f32[2, 8]\n"
    "  loop i < n {\n"
    "    ld: e0.op t[i % 2] <- b[:, 1]\n"
    "    loop j in 1..7 {\n"
    "      w: e1.op b[i, j] <- t[i % 2]\n"
    "      r: e2.op <- b[i + 1, j - 1 : j + 1]\n"
    "    }\n"
    "    if ?c {\n"
    "      th: e3.op b[:, 2]\n"
    "    } else {\n"
    "      el: e0.op b[i]\n"
    "    }\n"
    "  }\n"
    "  z: e3.op <- b\n"
    "}\n";

static int run_infer_nests(void)
{
  return synchronize(nest_text, SLUICE_ALLOC_SHADOW, false);
}

static int run_check_nests(void)
{
  struct session session;
  int status = open_program(&session, nest_text);
  if (status == SLUICE_OK)
    status = check(&session); /* races: nothing waits yet */
  end(&session);
  return status;
}

static int explain_dependence(const char *producer, const char *consumer)
{
  struct session session;
  int status = open_program(&session, found_text);
  if (status == SLUICE_OK)
    status = sluice_deps_explain(&session.text, session.program, 0, producer, consumer, scenario_targets, &sink);
  end(&session);
  return status;
}

static int run_explain_dependence(void)
{
  int status = explain_dependence("a", "ga");
  return status == SLUICE_OK ? explain_dependence("ld", "st") : status;
}

static int run_explain_unknown_dependence(void)
{
  return explain_dependence("ld", "sto");
}

static bool take(void *user, const char *text, size_t length)
{
  (void)user;
  return text && length;
}

/* Inputs that the kernel does not ask for: reported, and nothing is simulated. */
static int run_unknown_inputs(void)
{
  struct session session;
  const sluice_input input = { "nobody", NULL, 0, 1 };
  sluice_sim_options options = SLUICE_SIM_OPTIONS_INIT;
  options.inputs = &input;
  options.input_count = 1;
  int status = open_program(&session, kernel_text);
  if (status == SLUICE_OK)
    status = sluice_sim_check_inputs(session.program, 0, scenario_targets, &options, &sink);
  end(&session);
  return status;
}

/* Simulates the session's program once as a version of a report, once as a trace. */
static int view(struct session *session, sluice_trace_file *file, sluice_report *report)
{
  sluice_sim_options options = SLUICE_SIM_OPTIONS_INIT;
  sluice_sim_result *result = NULL;
  int status = sluice_report_begin(&options.trace, report, "version");
  if (status == SLUICE_OK)
    status = sluice_sim(&result, session->program, 0, scenario_targets, &options, &sink);
  if (status == SLUICE_OK)
    status = sluice_report_end(report, result);
  sluice_sim_result_free(result);
  result = NULL;
  options.trace = sluice_trace_file_get(file);
  if (status == SLUICE_OK)
    status = sluice_sim(&result, session->program, 0, scenario_targets, &options, &sink);
  if (status == SLUICE_OK)
    status = sluice_trace_file_status(file);
  if (status == SLUICE_OK)
    status = sluice_report_print(&session->text, NULL, report);
  sluice_sim_result_free(result);
  return status;
}

static int run_view(void)
{
  struct session session;
  const sluice_writer writer = { take, NULL };
  const sluice_report_options report_options = SLUICE_REPORT_OPTIONS_INIT;
  sluice_trace_file_options file_options = SLUICE_TRACE_FILE_OPTIONS_INIT;
  sluice_trace_file *file = NULL;
  sluice_report *report = NULL;
  int status = open_program(&session, synchronized_text);
  file_options.flows = true;
  if (status == SLUICE_OK)
    status = sluice_trace_file_new(&file, &file_options, &writer);
  if (status == SLUICE_OK)
    status = sluice_report_new(&report, &report_options);
  if (status == SLUICE_OK)
    status = view(&session, file, report);
  sluice_report_free(report);
  sluice_trace_file_free(file);
  end(&session);
  return status;
}

static int run_chart(void)
{
  static const char *const groups[] = { "a", "b" }, *const series[] = { "one", "two" };
  static const double values[] = { 1, .5, 1, -1 };
  const sluice_chart chart = { "title", "note", groups, 2, series, 2, values, 1 };
  char *text;
  int status = sluice_chart_print(&text, NULL, &chart);
  sluice_string_free(text);
  return status;
}

static int run_builder_given_up(void)
{
  sluice_builder *builder;
  int status = sluice_builder_new(&builder, "built");
  if (status != SLUICE_OK)
    return status;
  build_body(builder);
  sluice_builder_free(builder);
  return SLUICE_OK;
}

static int run_builder_misused(void)
{
  struct session session = { 0 };
  sluice_builder *builder;
  int status = sluice_builder_new(&builder, "built");
  if (status != SLUICE_OK)
    return status;
  sluice_build_end(builder);
  sluice_build_loop(builder, "i", sluice_expr_text(builder, "n +"), 0);
  status = sluice_builder_finish(&session.program, builder, &sink);
  end(&session);
  return status;
}

const struct scenario scenarios[] = {
  { "parse, verify, print", run_print, SLUICE_OK },
  { "malformed text", run_malformed, SLUICE_E_INPUT },
  { "illegal kernel", run_illegal, SLUICE_E_INPUT },
  { "backward dependence", run_backward, SLUICE_E_INPUT },
  { "sync by shadow", run_shadow, SLUICE_OK },
  { "sync by shadow, branches", run_shadow_branches, SLUICE_OK },
  { "sync by per-loop", run_per_loop, SLUICE_OK },
  { "dependence that per-loop cannot express", run_inexpressible, SLUICE_E_ANSWER },
  { "sync by barrier", run_barrier, SLUICE_OK },
  { "sync by barrier, branches", run_barrier_branches, SLUICE_OK },
  { "synchronized kernel refused", run_refused, SLUICE_E_INPUT },
  { "resync", run_resync, SLUICE_OK },
  { "check", run_check, SLUICE_OK },
  { "check against another program", run_check_against, SLUICE_OK },
  { "check against other kernels", run_check_other_kernels, SLUICE_E_INPUT },
  { "JSON out and in", run_json, SLUICE_OK },
  { "JSON with a syntax error", run_json_syntax, SLUICE_E_INPUT },
  { "JSON against the schema", run_json_schema, SLUICE_E_INPUT },
  { "built-in targets", run_targets, SLUICE_OK },
  { "describe a target", run_describe, SLUICE_OK },
  { "describe a target as JSON", run_describe_json, SLUICE_OK },
  { "malformed target", run_load_malformed_target, SLUICE_E_INPUT },
  { "select and define", run_select_and_define, SLUICE_E_INPUT },
  { "trace and report of simulations", run_view, SLUICE_OK },
  { "unknown inputs of a simulation", run_unknown_inputs, SLUICE_E_INPUT },
  { "why an instruction waits", run_explain, SLUICE_OK },
  { "why an instruction waits, as JSON", run_explain_json, SLUICE_OK },
  { "why an unknown instruction waits", run_explain_unknown, SLUICE_E_INPUT },
  { "dependences", run_dependences, SLUICE_OK },
  { "sync by found dependences, nests", run_infer_nests, SLUICE_OK },
  { "check by found dependences, nests", run_check_nests, SLUICE_OK },
  { "why there is a dependence", run_explain_dependence, SLUICE_OK },
  { "why an unknown instruction has a dependence", run_explain_unknown_dependence, SLUICE_E_INPUT },
  { "chart", run_chart, SLUICE_OK },
  { "builder", run_builder, SLUICE_OK },
  { "builder given up", run_builder_given_up, SLUICE_OK },
  { "builder misused", run_builder_misused, SLUICE_E_INPUT },
};
const size_t scenario_count = sizeof scenarios / sizeof *scenarios;
