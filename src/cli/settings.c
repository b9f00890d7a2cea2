/* settings.c: `--set NAME=VALUE`: parameters of the target, for commands that simulate. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* One `--set NAME=VALUE`; `on` and `off` are 1 and 0. False after reporting. */
static bool add_setting(struct cli_settings *settings, const char *text)
{
  const char *equals = strchr(text, '=');
  char *end = NULL;
  double value = 0;
  if (equals && strcmp(equals, "=on") == 0)
    value = 1;
  else if (equals && strcmp(equals, "=off") != 0)
    value = strtod(equals + 1, &end);
  if (!equals || equals == text || (end && (*end || end == equals + 1))) {
    cli_error("usage", "--set %s: expected NAME=NUMBER, or on or off", text);
    return false;
  }
  char *name = cli_copy(text);
  name[equals - text] = '\0';
  settings->list = cli_realloc(settings->list, (settings->count + 1) * sizeof *settings->list);
  settings->list[settings->count++] = (sluice_setting){ name, value };
  return true;
}

bool cli_read_settings(struct cli_settings *settings, const struct cli_call *call)
{
  for (size_t i = 0; i < call->given_count; i++)
    if (strcmp(call->given[i].option->name, "set") == 0 && !add_setting(settings, call->given[i].value))
      return false;
  return true;
}

void cli_free_settings(struct cli_settings *settings)
{
  for (size_t i = 0; i < settings->count; i++)
    free((char *)settings->list[i].name);
  free(settings->list);
}
