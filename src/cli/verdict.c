/* verdict.c: what the checker found, as text and as JSON. sarif.c has the third form. */
#include "cli.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- what all forms need ---- */

const char *cli_verdict_name(enum sluice_verdict verdict)
{
  static const char *const names[] = { "ok", "wrong", "undecided" };
  return names[verdict];
}

enum sluice_verdict cli_kernel_verdict(const char *kernel, const sluice_finding *findings, size_t count,
                                       const sluice_check_summary *summary)
{
  bool undecided = summary && !summary->is_exact;
  for (size_t i = 0; i < count; i++) {
    if (strcmp(findings[i].kernel, kernel) != 0)
      continue;
    if (findings[i].severity == SLUICE_ERROR)
      return SLUICE_VERDICT_WRONG;
    undecided |= strcmp(findings[i].rule, "undecided") == 0;
  }
  return undecided ? SLUICE_VERDICT_UNDECIDED : SLUICE_VERDICT_OK;
}

/* NULL when the kernel was not run. */
static const sluice_check_summary *summary_of(const sluice_check_result *result, const char *kernel)
{
  size_t count;
  const sluice_check_summary *summaries = sluice_check_summaries(result, &count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(summaries[i].kernel, kernel) == 0)
      return &summaries[i];
  return NULL;
}

/* ---- text ---- */

void cli_print_finding(FILE *file, const sluice_finding *finding)
{
  char *text;
  if (sluice_diag_format(&text, finding->diag) != SLUICE_OK) {
    fprintf(file, "%s: %s\n", finding->diag->file, finding->text);
    return;
  }
  fputs(text, file);
  sluice_string_free(text);
}

static size_t count_of(const char *kernel, enum sluice_severity severity, const sluice_finding *findings, size_t count)
{
  size_t found = 0;
  for (size_t i = 0; i < count; i++)
    found += findings[i].severity == severity && strcmp(findings[i].kernel, kernel) == 0;
  return found;
}

static void print_runs(const sluice_check_summary *summary)
{
  printf("%llu run%s (%s%s); %llu events, %llu dependence instance%s", (unsigned long long)summary->runs,
         summary->runs == 1 ? "" : "s", summary->runs_text,
         summary->is_sample       ? "; a sample of the combinations"
         : summary->runs > 1      ? "; all combinations"
                                  : "",
         (unsigned long long)summary->events, (unsigned long long)summary->instances,
         summary->instances == 1 ? "" : "s");
}

/* One line: what is known about the kernel, and what stands behind it. */
static void print_verdict(const struct cli_report *report, const char *kernel)
{
  size_t count;
  const sluice_finding *findings = sluice_check_findings(report->result, &count);
  const sluice_check_summary *summary = summary_of(report->result, kernel);
  enum sluice_verdict verdict = cli_kernel_verdict(kernel, findings, count, summary);
  size_t errors = count_of(kernel, SLUICE_ERROR, findings, count);
  printf("%s: %s", kernel, cli_verdict_name(verdict));
  if (errors)
    printf(", %zu error%s", errors, errors == 1 ? "" : "s");
  if (summary) {
    printf(verdict == SLUICE_VERDICT_OK ? " in all interleavings of " : ": ");
    print_runs(summary);
  } else {
    printf(": not run");
  }
  size_t warnings = count_of(kernel, SLUICE_WARNING, findings, count);
  if (verdict == SLUICE_VERDICT_OK && warnings)
    printf("; %zu wait%s stronger than needed", warnings, warnings == 1 ? " is" : "s are");
  putchar('\n');
}

void cli_report_text(const struct cli_report *report)
{
  size_t count;
  const sluice_finding *findings = sluice_check_findings(report->result, &count);
  for (size_t i = 0; i < count; i++)
    cli_print_finding(stdout, &findings[i]);
  for (size_t i = 0; i < sluice_program_kernel_count(report->program); i++)
    print_verdict(report, sluice_program_kernel_name(report->program, i));
}

/* ---- JSON ---- */

json_t *cli_json_text(const char *text)
{
  json_t *json = json_string(text);
  if (json)
    return json;
  char *plain = cli_copy(text); /* a file name that is not UTF-8 */
  for (char *at = plain; *at; at++)
    if ((unsigned char)*at >= 0x80)
      *at = '?';
  json = json_string(plain);
  free(plain);
  return json;
}

static json_t *json_of_place(const sluice_diag *diag)
{
  json_t *place = json_pack("{soso}", "text", cli_json_text(diag->text), "file", cli_json_text(diag->file));
  if (diag->line) {
    json_object_set_new(place, "line", json_integer(diag->line));
    json_object_set_new(place, "column", json_integer(diag->column));
  }
  return place;
}

static json_t *json_of_finding(const sluice_finding *finding)
{
  static const char *const severities[] = { "error", "warning", "note" };
  const sluice_diag *diag = finding->diag;
  json_t *notes = json_array(), *json = json_of_place(diag);
  for (size_t i = 0; i < diag->note_count; i++)
    json_array_append_new(notes, json_of_place(&diag->notes[i]));
  json_object_set_new(json, "rule", json_string(finding->rule));
  json_object_set_new(json, "severity", json_string(severities[finding->severity]));
  json_object_set_new(json, "kernel", json_string(finding->kernel));
  json_object_set_new(json, "notes", notes);
  if (diag->origin_file)
    json_object_set_new(json, "origin",
                        json_pack("{sosisi}", "file", cli_json_text(diag->origin_file), "line", (int)diag->origin_line,
                                  "column", (int)diag->origin_column));
  return json;
}

static json_t *json_of_kernel(const struct cli_report *report, const char *kernel)
{
  size_t count;
  const sluice_finding *findings = sluice_check_findings(report->result, &count);
  const sluice_check_summary *summary = summary_of(report->result, kernel);
  const char *verdict = cli_verdict_name(cli_kernel_verdict(kernel, findings, count, summary));
  if (!summary)
    return json_pack("{ssss}", "name", kernel, "verdict", verdict);
  return json_pack("{sssssIsIsIsbsbss}", "name", kernel, "verdict", verdict, "runs", (json_int_t)summary->runs, "events",
                   (json_int_t)summary->events, "instances", (json_int_t)summary->instances, "sample",
                   (int)summary->is_sample, "exact", (int)summary->is_exact, "tried", summary->runs_text);
}

int cli_print_json(json_t *root)
{
  int failed = root ? json_dumpf(root, stdout, JSON_INDENT(2)) : -1;
  json_decref(root);
  putchar('\n');
  return failed ? CLI_BAD : CLI_DONE;
}

int cli_report_json(const struct cli_report *report)
{
  size_t count;
  const sluice_finding *findings = sluice_check_findings(report->result, &count);
  json_t *kernels = json_array(), *list = json_array();
  for (size_t i = 0; i < sluice_program_kernel_count(report->program); i++)
    json_array_append_new(kernels, json_of_kernel(report, sluice_program_kernel_name(report->program, i)));
  for (size_t i = 0; i < count; i++)
    json_array_append_new(list, json_of_finding(&findings[i]));
  json_t *root = json_pack("{sssssosssoso}", "schema", "sluice-check-1", "sluice", sluice_version(), "file",
                           cli_json_text(report->file), "verdict", cli_verdict_name(sluice_check_verdict(report->result)),
                           "kernels", kernels, "findings", list);
  if (report->against)
    json_object_set_new(root, "against", cli_json_text(report->against));
  return cli_print_json(root);
}
