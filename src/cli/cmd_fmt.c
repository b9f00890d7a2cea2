/* cmd_fmt.c: `sluice fmt`: canonical form of kernels. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

const struct cli_option cli_fmt_options[] = {
  { "output", 'o', CLI_FILE, "FILE", "write to FILE instead of stdout" },
  { "in-place", 'i', CLI_FLAG, NULL, "write each result over its file" },
  { "check", 0, CLI_FLAG, NULL, "print nothing; exit with 1 when a file is not in canonical form" },
  { "verify", 0, CLI_FLAG, NULL, "also verify the kernels against their targets" },
  { "emit", 0, CLI_FORM, "FORM", "form of the output, slu or json; the form of the input by default" },
  { "from", 0, CLI_FORM, "FORM", "form of the input; by default json when its name ends with .json, else slu" },
  { "kernel", 0, CLI_NAME, "NAME", "only the kernel of that name" },
  { "define", 'D', CLI_NAME, "NAME=VALUE", "give a parameter this default value; may be repeated" },
  { "target-file", 0, CLI_FILE, "FILE", "load more targets, for --verify; may be repeated" },
  { 0 }
};

static bool options_fit(const struct cli_call *call)
{
  bool in_place = cli_has(call, "in-place"), check = cli_has(call, "check"), output = cli_has(call, "output");
  if (in_place + check + output > 1)
    cli_error("usage", "fmt: only one of --in-place, --check and --output can be given");
  else if (call->argument_count > 1 && !in_place && !check)
    cli_error("usage", "fmt: several files need --in-place or --check");
  else
    return true;
  return false;
}

/* The line of the first difference, from 1. */
static size_t first_difference(const struct cli_text *text, const char *canonical, size_t length)
{
  size_t line = 1;
  for (size_t i = 0; i < text->length && i < length && text->data[i] == canonical[i]; i++)
    line += canonical[i] == '\n';
  return line;
}

static int finish_file(const struct cli_call *call, const char *path, const struct cli_text *text,
                       const char *canonical, size_t length)
{
  bool same = length == text->length && memcmp(canonical, text->data, length) == 0;
  if (cli_has(call, "check")) {
    if (!same)
      fprintf(stderr, "%s:%zu: not in canonical form\n", text->name, first_difference(text, canonical, length));
    return same ? CLI_DONE : CLI_NO;
  }
  if (!cli_has(call, "in-place"))
    return cli_write(cli_value_of(call, "output"), canonical, length) ? CLI_DONE : CLI_BAD;
  /* A file that is canonical already keeps its time stamp. */
  return (same && strcmp(path, "-") != 0) || cli_write(path, canonical, length) ? CLI_DONE : CLI_BAD;
}

static int format_text(const struct cli_call *call, const char *path, const struct cli_text *text,
                       const sluice_targets *targets)
{
  sluice_program *program;
  char *canonical = NULL;
  size_t length;
  bool from_json = cli_is_json(call, path);
  const char *emit = cli_value_of(call, "emit");
  int code = cli_load(&program, call, text, from_json);
  if (code == CLI_DONE && targets)
    code = cli_exit_code(sluice_program_verify(program, targets, &cli_sink));
  if (code == CLI_DONE)
    code = cli_render(&canonical, &length, program, emit ? strcmp(emit, "json") == 0 : from_json);
  if (code == CLI_DONE)
    code = finish_file(call, path, text, canonical, length);
  sluice_string_free(canonical);
  sluice_program_free(program);
  return code;
}

int cli_fmt(struct cli_call *call)
{
  sluice_targets *targets = NULL;
  if (!options_fit(call))
    return CLI_BAD;
  int worst = cli_has(call, "verify") ? cli_load_targets(&targets, call) : CLI_DONE;
  if (worst != CLI_DONE)
    return worst;
  for (size_t i = 0; i < call->argument_count; i++) {
    struct cli_text text;
    int code = CLI_BAD;
    if (cli_read(&text, call->arguments[i])) {
      code = format_text(call, call->arguments[i], &text, targets);
      free(text.data);
    }
    if (code > worst)
      worst = code;
  }
  sluice_targets_free(targets);
  return worst;
}
