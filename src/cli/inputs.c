/* inputs.c: `-D NAME=VALUE,...`: what a run decides, for commands that run kernels. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One `-D name=value,...`; false after reporting. */
static bool add_input(struct cli_inputs *inputs, const char *definition)
{
  const char *equals = strchr(definition, '=');
  size_t count = 0, room = strlen(definition) + 1;
  int64_t *values = cli_alloc(room * sizeof *values);
  bool ok = equals && equals != definition;
  for (const char *at = equals; ok && at && *at; count++) {
    char *end;
    errno = 0;
    long long value = strtoll(at + 1, &end, 10);
    ok = end != at + 1 && !errno && value >= 0 && (*end == ',' || !*end);
    values[count] = value;
    at = end;
  }
  if (!ok) {
    free(values);
    cli_error("usage", "-D %s: expected NAME=INTEGER or NAME=INTEGER,INTEGER,..., none negative", definition);
    return false;
  }
  char *name = cli_copy(definition);
  name[equals - definition] = '\0';
  inputs->list = cli_realloc(inputs->list, (inputs->count + 1) * sizeof *inputs->list);
  inputs->list[inputs->count++] = (sluice_input){ name, values, count };
  return true;
}

bool cli_read_inputs(struct cli_inputs *inputs, const struct cli_call *call)
{
  for (size_t i = 0; i < call->given_count; i++)
    if (strcmp(call->given[i].option->name, "define") == 0 && !add_input(inputs, call->given[i].value))
      return false;
  return true;
}

void cli_free_inputs(struct cli_inputs *inputs)
{
  for (size_t i = 0; i < inputs->count; i++) {
    free((char *)inputs->list[i].name);
    free((int64_t *)inputs->list[i].values);
  }
  free(inputs->list);
}
