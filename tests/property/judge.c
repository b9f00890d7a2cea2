/* judge.c: see judge.h. */
#include "property/judge.h"

#include <sluice/deps.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "property/text.h"

enum { OUTCOMES = 64 /* values given for an opaque condition */ };

struct sl_oracle_hardware sl_target_hardware(const struct sl_target *target)
{
  struct sl_oracle_hardware hardware = { true, target->queue.ordered };
  for (uint32_t e = 0; e < target->engines.len; e++)
    hardware.engines_interlock = hardware.engines_interlock && target->engines.data[e].interlock;
  return hardware;
}

sluice_program *sl_read_program(const sluice_targets *targets, const char *text, struct sl_failure *failure)
{
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_program *program = NULL;
  if (sluice_program_parse(&program, "generated.slu", text, strlen(text), &sink) != SLUICE_OK)
    sl_fail(failure, "does not parse", "%s", messages.first);
  else if (sluice_program_verify(program, targets, &sink) != SLUICE_OK)
    sl_fail(failure, "does not verify", "%s", messages.first);
  else
    return program;
  sluice_program_free(program);
  return NULL;
}

sluice_program *sl_read_again(const sluice_targets *targets, const sluice_program *program, struct sl_failure *failure)
{
  char *text = NULL;
  if (sluice_program_print(&text, NULL, program) != SLUICE_OK)
    abort();
  sluice_program *again = sl_read_program(targets, text, failure);
  sluice_string_free(text);
  return again;
}

/* ---- dependences ---- */

static void add_lines(struct sl_text *text, const sluice_deps_result *found)
{
  size_t count;
  const sluice_dep *edges = sluice_deps_edges(found, &count);
  for (size_t i = 0; i < count; i++)
    if (edges[i].kind != SLUICE_DEP_STATED && edges[i].status != SLUICE_DEP_HARDWARE)
      sl_text_printf(text, "  dep %s\n", edges[i].text);
}

sluice_program *sl_state_dependences(const sluice_targets *targets, sluice_program *program, struct sl_failure *failure)
{
  if (sl_case_kernel(program)->is_explicit)
    return program;
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  const sluice_deps_options options = { .reduce = false };
  sluice_deps_result *found = NULL;
  sluice_program *stated = NULL;
  char *printed = NULL;
  if (sluice_deps(&found, program, 0, targets, &options, &sink) == SLUICE_OK) {
    sl_case_kernel(program)->is_explicit = true;
    if (sluice_program_print(&printed, NULL, program) != SLUICE_OK)
      abort();
    struct sl_text text = { 0 };
    *strrchr(printed, '}') = '\0';
    sl_text_puts(&text, printed);
    add_lines(&text, found);
    sl_text_puts(&text, "}\n");
    stated = sl_read_program(targets, text.data, failure);
    free(text.data);
  } else {
    sl_fail(failure, "its dependences are not found", "%s", messages.first);
  }
  sluice_string_free(printed);
  sluice_deps_result_free(found);
  sluice_program_free(program);
  return stated;
}

/* ---- inputs ---- */

/* The names of opaque conditions, one per place. */
static uint32_t opaque_names(const struct sl_kernel *kernel, sl_name names[SL_JUDGE_MAX_INPUTS])
{
  uint32_t count = 0;
  for (uint32_t c = 0; c < kernel->cmps.len && count < SL_JUDGE_MAX_INPUTS; c++) {
    if (kernel->cmps.data[c].op == SL_CMP_OPAQUE)
      names[count++] = kernel->cmps.data[c].opaque;
  }
  return count;
}

bool sl_case_repeats_a_condition(const sluice_program *program)
{
  sl_name names[SL_JUDGE_MAX_INPUTS];
  uint32_t count = opaque_names(sl_case_kernel(program), names);
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t j = 0; j < i; j++) {
      if (names[i] == names[j])
        return true;
    }
  }
  return false;
}

void sl_case_default_params(struct sl_case *test)
{
  struct sl_oracle_view view;
  if (sl_case_kernel(test->original)->params.len > SL_JUDGE_MAX_INPUTS)
    abort();
  if (sl_oracle_view_init(&view, test->original, sl_case_kernel(test->original)))
    sl_oracle_defaults(&view, test->params);
  sl_oracle_view_free(&view);
}

enum sl_reference_status sl_case_start(struct sl_case *test, uint32_t instance_limit)
{
  const struct sl_kernel *kernel = sl_case_kernel(test->original);
  const struct sl_target *target = sl_target_find(test->targets, sl_text(test->original, kernel->target));
  struct sl_oracle_hardware hardware = sl_target_hardware(target);
  test->inputs = (struct sl_oracle_inputs){ test->params, kernel->params.len, test->opaque_seed };
  test->options = (struct sl_explore_options)SL_EXPLORE_OPTIONS_INIT;
  test->options.modular = target->sem.modular;
  test->options.is_signed = target->sem.is_signed;
  enum sl_reference_status status =
      sl_oracle_reference_init(&test->reference, test->original, kernel, hardware, &test->inputs, instance_limit);
  if (status != SL_REFERENCE_OK)
    sl_oracle_reference_free(&test->reference);
  return status;
}

void sl_case_end(struct sl_case *test)
{
  sl_oracle_reference_free(&test->reference);
}

/* ---- asking ---- */

void sl_case_explore(const struct sl_case *test, const struct sl_explore_options *options, struct sl_explored *explored)
{
  sl_oracle_explore(explored, &test->reference, test->program, sl_case_kernel(test->program), options);
}

struct given {
  sluice_input inputs[2 * SL_JUDGE_MAX_INPUTS];
  size_t count;
  int64_t outcomes[SL_JUDGE_MAX_INPUTS][OUTCOMES];
};

static void give_inputs(const struct sl_case *test, struct given *given)
{
  const struct sl_kernel *kernel = sl_case_kernel(test->original);
  for (uint32_t p = 0; p < kernel->params.len; p++)
    given->inputs[given->count++] =
        (sluice_input){ sl_text(test->original, kernel->params.data[p].name), &test->params[p], 1, 0 };
  sl_name names[SL_JUDGE_MAX_INPUTS];
  uint32_t count = opaque_names(kernel, names);
  for (uint32_t n = 0; n < count; n++) {
    const char *name = sl_text(test->original, names[n]);
    for (uint32_t i = 0; i < OUTCOMES; i++)
      given->outcomes[n][i] = sl_oracle_outcome(test->opaque_seed, name, 0, i);
    given->inputs[given->count++] = (sluice_input){ name, given->outcomes[n], OUTCOMES, 0 };
  }
}

sluice_check_result *sl_case_check(const struct sl_case *test, bool against, bool judge_waits,
                                   struct sl_failure *failure)
{
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  struct given *given = sl_oracle_calloc(1, sizeof *given);
  sluice_check_options options = SLUICE_CHECK_OPTIONS_INIT;
  sluice_check_result *result = NULL;
  give_inputs(test, given);
  options.inputs = given->inputs;
  options.input_count = given->count;
  options.judge_waits = judge_waits;
  options.against = against ? test->original : NULL;
  if (sluice_check(&result, test->program, test->targets, &options, &sink) != SLUICE_OK)
    sl_fail(failure, "the checker fails", "%s", messages.first);
  free(given);
  return result;
}

/* ---- answers ---- */

static bool is_declared(const char *text)
{
  return strstr(text, "sem_set") || strstr(text, "`==` on a semaphore that several streams write");
}

enum sl_answer sl_check_answer(const sluice_check_result *result, const char **rule, const char **text)
{
  size_t count;
  const sluice_finding *findings = sluice_check_findings(result, &count);
  enum sl_answer answer = SL_ANSWER_OK;
  *rule = *text = "ok";
  for (size_t f = 0; f < count; f++) {
    bool is_error = findings[f].severity == SLUICE_ERROR;
    if (!is_error && strcmp(findings[f].rule, "undecided") != 0)
      continue;
    *rule = findings[f].rule;
    *text = findings[f].text;
    answer = is_error ? SL_ANSWER_FAULT : is_declared(findings[f].text) ? SL_ANSWER_DECLARED : SL_ANSWER_UNDECIDED;
  }
  if (answer == SL_ANSWER_OK && sluice_check_verdict(result) != SLUICE_VERDICT_OK)
    answer = SL_ANSWER_UNDECIDED;
  return answer;
}

bool sl_case_reports(const struct sl_case *test, const sluice_check_result *result, const char *rule, uint32_t wait)
{
  sl_loc loc = sl_case_kernel(test->program)->waits.data[wait].loc;
  sl_place place = sl_source_place(&test->program->source, loc);
  size_t count;
  const sluice_finding *findings = sluice_check_findings(result, &count);
  for (size_t f = 0; f < count; f++) {
    if (!strcmp(findings[f].rule, rule) && findings[f].line == place.line && findings[f].column == place.column)
      return true;
  }
  return false;
}

void sl_name_faults(unsigned faults, char *text, size_t size)
{
  snprintf(text, size, "%s", faults ? "" : "ok");
  for (unsigned kind = 0; kind < SL_FAULT_KINDS; kind++) {
    if (faults >> kind & 1)
      snprintf(text + strlen(text), size - strlen(text), "%s%s", text[0] ? " or " : "",
               sl_fault_name((enum sl_fault_kind)kind));
  }
}

const char *sl_first_fault_text(const struct sl_explored *explored)
{
  unsigned first = 0;
  while (first + 1 < SL_FAULT_KINDS && !explored->text[first][0])
    first++;
  return explored->text[first];
}
