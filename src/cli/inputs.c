/* inputs.c: `-D NAME=VALUE,...`: what a run decides, for commands that run kernels. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* `random` or `random:SEED`; false: it is not that. */
static bool read_random(uint64_t *seed, const char *text)
{
  static const char word[] = "random";
  const char *rest = text + sizeof word - 1;
  char *end;
  if (strncmp(text, word, sizeof word - 1) != 0)
    return false;
  *seed = 1;
  if (!*rest)
    return true;
  errno = 0;
  *seed = strtoull(rest + 1, &end, 10);
  return *rest == ':' && isdigit((unsigned char)rest[1]) && !errno && !*end;
}

/* `VALUE,...`; the count, 0 when it is not that. */
static size_t read_values(int64_t *values, const char *text)
{
  size_t count = 0;
  for (const char *at = text;; at++) {
    char *end;
    errno = 0;
    long long value = strtoll(at, &end, 10);
    if (end == at || errno || value < 0 || (*end != ',' && *end))
      return 0;
    values[count++] = value;
    at = end;
    if (!*at)
      return count;
  }
}

/* One `-D name=value,...`; false after reporting. */
static bool add_input(struct cli_inputs *inputs, const char *definition)
{
  const char *equals = strchr(definition, '=');
  sluice_input input = { .values = NULL };
  bool ok = equals && equals != definition;
  if (ok && !read_random(&input.seed, equals + 1)) {
    int64_t *values = cli_alloc((strlen(equals) + 1) * sizeof *values);
    input.values = values;
    input.count = read_values(values, equals + 1);
    ok = input.count > 0;
  }
  if (!ok) {
    free((int64_t *)input.values);
    cli_error("usage", "-D %s: expected NAME=INTEGER or NAME=INTEGER,INTEGER,..., none negative, or NAME=random:SEED",
              definition);
    return false;
  }
  char *name = cli_copy(definition);
  name[equals - definition] = '\0';
  input.name = name;
  inputs->list = cli_realloc(inputs->list, (inputs->count + 1) * sizeof *inputs->list);
  inputs->list[inputs->count++] = input;
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

static void ignore(void *user, const sluice_diag *diag)
{
  (void)user;
  (void)diag;
}

void cli_define_parameters(sluice_program *program, const struct cli_inputs *inputs)
{
  const sluice_sink sink = { ignore, NULL };
  for (size_t i = 0; i < inputs->count; i++)
    if (inputs->list[i].count > 0)
      (void)sluice_program_define(program, inputs->list[i].name, inputs->list[i].values[inputs->list[i].count - 1],
                                  &sink);
}

int cli_check_inputs(const sluice_program *program, const sluice_targets *targets, const struct cli_inputs *inputs)
{
  sluice_sim_options options = SLUICE_SIM_OPTIONS_INIT;
  int status = SLUICE_OK;
  options.inputs = inputs->list;
  options.input_count = inputs->count;
  for (size_t k = 0; k < sluice_program_kernel_count(program) && status == SLUICE_OK; k++)
    status = sluice_sim_check_inputs(program, k, targets, &options, &cli_sink);
  return cli_exit_code(status);
}
