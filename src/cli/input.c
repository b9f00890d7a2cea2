/* input.c: reading files, targets and programs. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_stream(struct cli_text *text, FILE *file)
{
  size_t room = 1 << 16;
  text->data = cli_alloc(room);
  text->length = 0;
  for (;;) {
    size_t got = fread(text->data + text->length, 1, room - text->length, file);
    text->length += got;
    if (text->length < room)
      break;
    room *= 2;
    text->data = cli_realloc(text->data, room);
  }
  if (!ferror(file))
    return true;
  cli_error("io", "cannot read '%s': %s", text->name, strerror(errno));
  free(text->data);
  text->data = NULL;
  return false;
}

bool cli_read(struct cli_text *text, const char *path)
{
  bool is_stdin = strcmp(path, "-") == 0;
  *text = (struct cli_text){ .name = is_stdin ? "<stdin>" : path };
  FILE *file = is_stdin ? stdin : fopen(path, "rb");
  if (!file) {
    cli_error("io", "cannot read '%s': %s", path, strerror(errno));
    return false;
  }
  bool ok = read_stream(text, file);
  if (!is_stdin)
    fclose(file);
  return ok;
}

bool cli_is_json(const struct cli_call *call, const char *path)
{
  const char *from = cli_value_of(call, "from");
  size_t length = strlen(path);
  if (from)
    return strcmp(from, "json") == 0;
  return length >= 5 && strcmp(path + length - 5, ".json") == 0;
}

int cli_load_targets(sluice_targets **targets, const struct cli_call *call)
{
  int status = sluice_targets_new(targets);
  for (size_t i = 0; status == SLUICE_OK && i < call->given_count; i++) {
    struct cli_text text;
    if (strcmp(call->given[i].option->name, "target-file") != 0)
      continue;
    if (cli_read(&text, call->given[i].value)) {
      status = sluice_targets_load(*targets, text.name, text.data, text.length, &cli_sink);
      free(text.data);
    } else {
      status = SLUICE_E_IO;
    }
  }
  if (status == SLUICE_OK)
    return CLI_DONE;
  sluice_targets_free(*targets);
  *targets = NULL;
  return cli_exit_code(status);
}

/* One `-D name=value`. Returns a status. */
static int define(sluice_program *program, const char *definition)
{
  const char *equals = strchr(definition, '=');
  char *end = NULL;
  errno = 0;
  long long value = equals ? strtoll(equals + 1, &end, 10) : -1;
  if (!equals || equals == definition || end == equals + 1 || *end || errno || value < 0) {
    cli_error("usage", "-D %s: expected NAME=INTEGER, the integer not negative", definition);
    return SLUICE_E_INPUT;
  }
  char *name = cli_copy(definition);
  name[equals - definition] = '\0';
  int status = sluice_program_define(program, name, value, &cli_sink);
  free(name);
  return status;
}

int cli_load_as_written(sluice_program **program, const struct cli_call *call, const struct cli_text *text, bool is_json)
{
  int (*parse)(sluice_program **, const char *, const char *, size_t, const sluice_sink *) =
      is_json ? sluice_program_parse_json : sluice_program_parse;
  int status = parse(program, text->name, text->data, text->length, &cli_sink);
  const char *kernel = cli_value_of(call, "kernel");
  if (status == SLUICE_OK && kernel)
    status = sluice_program_select(*program, kernel, &cli_sink);
  if (status == SLUICE_OK)
    return CLI_DONE;
  sluice_program_free(*program);
  *program = NULL;
  return cli_exit_code(status);
}

int cli_load(sluice_program **program, const struct cli_call *call, const struct cli_text *text, bool is_json)
{
  int code = cli_load_as_written(program, call, text, is_json), status = SLUICE_OK;
  if (code != CLI_DONE)
    return code;
  for (size_t i = 0; status == SLUICE_OK && i < call->given_count; i++)
    if (strcmp(call->given[i].option->name, "define") == 0)
      status = define(*program, call->given[i].value);
  if (status == SLUICE_OK)
    return CLI_DONE;
  sluice_program_free(*program);
  *program = NULL;
  return cli_exit_code(status);
}

static int load_verified(sluice_program **program, const struct cli_call *call, const char *path,
                         const sluice_targets *targets, bool with_defines)
{
  struct cli_text text;
  *program = NULL;
  if (!cli_read(&text, path))
    return CLI_BAD;
  bool is_json = cli_is_json(call, path);
  int code = with_defines ? cli_load(program, call, &text, is_json) : cli_load_as_written(program, call, &text, is_json);
  free(text.data);
  return code == CLI_DONE ? cli_exit_code(sluice_program_verify(*program, targets, &cli_sink)) : code;
}

int cli_load_verified(sluice_program **program, const struct cli_call *call, const char *path,
                      const sluice_targets *targets)
{
  return load_verified(program, call, path, targets, false);
}

int cli_load_defined(sluice_program **program, const struct cli_call *call, const char *path,
                     const sluice_targets *targets)
{
  return load_verified(program, call, path, targets, true);
}
