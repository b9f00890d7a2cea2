/* cmd_targets.c: `sluice targets`: the machine descriptions. */
#include "cli.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option cli_targets_options[] = { { "json", 0, CLI_FLAG, NULL, "print JSON" },
                                                  { "target-file", 0, CLI_FILE, "FILE",
                                                    "load more targets; may be repeated" },
                                                  { 0 } };

static int list_as_json(const sluice_targets *targets)
{
  json_t *list = json_array();
  for (size_t i = 0; i < sluice_targets_count(targets); i++)
    json_array_append_new(list, json_pack("{ssss}", "name", sluice_targets_name(targets, i), "summary",
                                          sluice_targets_summary(targets, i)));
  json_t *root = json_pack("{sososo}", "schema", json_string("sluice-targets-1"), "targets", list, "sluice",
                           json_string(sluice_version()));
  int failed = json_dumpf(root, stdout, JSON_INDENT(2));
  json_decref(root);
  putchar('\n');
  return failed ? CLI_BAD : CLI_DONE;
}

static int list(const sluice_targets *targets)
{
  size_t count = sluice_targets_count(targets), width = 0;
  for (size_t i = 0; i < count; i++) {
    size_t length = strlen(sluice_targets_name(targets, i));
    width = length > width ? length : width;
  }
  for (size_t i = 0; i < count; i++)
    printf("%-*s  %s\n", (int)width, sluice_targets_name(targets, i), sluice_targets_summary(targets, i));
  return CLI_DONE;
}

static int describe(const sluice_targets *targets, const char *name, bool json)
{
  char *text;
  int status = sluice_targets_describe(&text, targets, name, json);
  if (status == SLUICE_OK) {
    bool ok = cli_write(NULL, text, strlen(text));
    sluice_string_free(text);
    return ok ? CLI_DONE : CLI_BAD;
  }
  if (status != SLUICE_E_INPUT)
    return cli_exit_code(status);
  size_t count = sluice_targets_count(targets);
  const char **names = cli_alloc(count * sizeof *names);
  for (size_t i = 0; i < count; i++)
    names[i] = sluice_targets_name(targets, i);
  cli_error("target", "unknown target '%s'", name);
  cli_suggest(name, names, count);
  free(names);
  return CLI_BAD;
}

int cli_targets(struct cli_call *call)
{
  sluice_targets *targets;
  bool json = cli_has(call, "json");
  int code = cli_load_targets(&targets, call);
  if (code != CLI_DONE)
    return code;
  if (call->argument_count)
    code = describe(targets, call->arguments[0], json);
  else
    code = json ? list_as_json(targets) : list(targets);
  sluice_targets_free(targets);
  return code;
}
