/* sarif.c: what the checker found, as SARIF 2.1.0 (OASIS), for tools that show results of code scanning. */
#include "cli.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* What to do about each rule; the rest of a rule's row comes from the library's table. */
static const struct {
  const char *id, *level, *help;
} advice[] = {
  { "race", "error",
    "Let the consumer wait until the producer has retired: a wait on a semaphore that the producer's stream increments, "
    "with the threshold that counts up to the awaited instance." },
  { "deadlock", "error",
    "Follow the cycle: one of its waits asks for an update that comes only after it, or for more updates than there are. "
    "Lower that threshold or move the update." },
  { "leak", "error", "End the kernel with an epilogue, which restores every semaphore, or let waits and updates of events match." },
  { "limit", "error", "Reset the semaphore at a `barrier reset` before it outgrows its width, or use a strategy that does." },
  { "mismatch", "error",
    "Both kernels must run the same labelled instructions on the same streams in the same order; check the right pair." },
  { "redundant", "warning", "The wait may be deleted: what it enforces, others enforce too." },
  { "loose", "warning", "The threshold may be one update lower." },
  { "undecided", "warning", "Raise --max-events, fix inputs with -D, or order the named use of the semaphore." },
  { "deletable", "note", "All waits named so may be deleted together." },
  { "budget", "note", "Raise --max-events to have every wait judged." },
};

enum { ADVICE_COUNT = sizeof advice / sizeof *advice };

static const char *summary_of_rule(const char *id)
{
  size_t count;
  const sluice_rule *rules = sluice_rules(&count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(rules[i].id, id) == 0)
      return rules[i].summary;
  return id;
}

static json_t *text_object(const char *text)
{
  return json_pack("{so}", "text", cli_json_text(text));
}

static json_t *all_rules(void)
{
  json_t *rules = json_array();
  for (size_t i = 0; i < ADVICE_COUNT; i++)
    json_array_append_new(rules, json_pack("{sssosos{ss}}", "id", advice[i].id, "shortDescription",
                                           text_object(summary_of_rule(advice[i].id)), "help", text_object(advice[i].help),
                                           "defaultConfiguration", "level", advice[i].level));
  return rules;
}

/* A file name as a URI reference: bytes that a URI cannot hold are percent-encoded. */
static json_t *uri_of(const char *file)
{
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  const char *scheme = file[0] == '/' ? "file://" : "";
  char *uri = cli_alloc(strlen(scheme) + 3 * strlen(file) + 1), *end = uri + sprintf(uri, "%s", scheme);
  for (const char *at = file; *at; at++)
    end += sprintf(end, strchr(plain, *at) ? "%c" : "%%%02X", (unsigned char)*at);
  json_t *json = json_string(uri);
  free(uri);
  return json;
}

/* Columns of SARIF count characters, ours count bytes. */
static int column_of(const sluice_diag *diag)
{
  int column = 1;
  const char *line = diag->source_line;
  for (uint32_t i = 0; i + 1 < diag->column; i++) {
    bool continues = line && *line && ((unsigned char)*line & 0xc0) == 0x80;
    column += !continues;
    if (line && *line)
      line++;
  }
  return column;
}

static json_t *physical_location(const sluice_diag *diag)
{
  json_t *place = json_pack("{s{so}}", "artifactLocation", "uri", uri_of(diag->file));
  if (diag->line)
    json_object_set_new(place, "region",
                        json_pack("{sisi}", "startLine", (int)diag->line, "startColumn", column_of(diag)));
  return place;
}

/* The finding and its notes, a line each: viewers that show no related locations keep the witness. */
static json_t *message_of(const sluice_diag *diag)
{
  size_t size = strlen(diag->text) + 1;
  for (size_t i = 0; i < diag->note_count; i++)
    size += strlen(diag->notes[i].text) + 1;
  char *text = cli_alloc(size), *end = text + sprintf(text, "%s", diag->text);
  for (size_t i = 0; i < diag->note_count; i++)
    end += sprintf(end, "\n%s", diag->notes[i].text);
  json_t *message = text_object(text);
  free(text);
  return message;
}

static json_t *related_locations(const sluice_diag *diag)
{
  json_t *list = json_array();
  for (size_t i = 0; i < diag->note_count; i++)
    if (diag->notes[i].line)
      json_array_append_new(list, json_pack("{sisoso}", "id", (int)i + 1, "physicalLocation",
                                            physical_location(&diag->notes[i]), "message",
                                            text_object(diag->notes[i].text)));
  return list;
}

static json_t *result_of(const sluice_finding *finding)
{
  static const char *const levels[] = { "error", "warning", "note" };
  int index = 0;
  while (index < ADVICE_COUNT && strcmp(advice[index].id, finding->rule) != 0)
    index++;
  json_t *result =
    json_pack("{sssssos[{sos[{ssss}]}]so}", "ruleId", finding->rule, "level", levels[finding->severity], "message",
              message_of(finding->diag), "locations", "physicalLocation", physical_location(finding->diag),
              "logicalLocations", "name", finding->kernel, "kind", "function", "relatedLocations",
              related_locations(finding->diag));
  if (index < ADVICE_COUNT)
    json_object_set_new(result, "ruleIndex", json_integer(index));
  return result;
}

int cli_report_sarif(const struct cli_report *report)
{
  size_t count;
  const sluice_finding *findings = sluice_check_findings(report->result, &count);
  json_t *results = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(results, result_of(&findings[i]));
  json_t *driver = json_pack("{ssssssso}", "name", "sluice", "version", sluice_version(), "semanticVersion",
                             sluice_version(), "rules", all_rules());
  json_t *run = json_pack("{s{so}sosss{ss}}", "tool", "driver", driver, "results", results, "columnKind",
                          "unicodeCodePoints", "properties", "verdict",
                          cli_verdict_name(sluice_check_verdict(report->result)));
  return cli_print_json(json_pack("{sssss[o]}", "$schema",
                                  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
                                  "version", "2.1.0", "runs", run));
}
