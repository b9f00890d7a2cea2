/* depfile.c: a make rule that says what the outputs were made from, for build systems; as compilers write it with -MF. */
#define _XOPEN_SOURCE 700 /* open_memstream */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* A file name as make and ninja read it. A blank has one backslash more than twice those that stand before it. */
static void print_name(FILE *file, const char *name)
{
  int backslashes = 0;
  for (; *name; name++) {
    bool is_blank = *name == ' ' || *name == '\t';
    while (is_blank && backslashes-- > 0)
      fputc('\\', file);
    if (is_blank || *name == '#' || *name == ':')
      fputc('\\', file);
    if (*name == '$')
      fputc('$', file);
    fputc(*name, file);
    backslashes = *name == '\\' ? backslashes + 1 : 0;
  }
}

static void print_target_files(FILE *file, const struct cli_call *call)
{
  for (size_t i = 0; i < call->given_count; i++)
    if (strcmp(call->given[i].option->name, "target-file") == 0 && strcmp(call->given[i].value, "-") != 0) {
      fputc(' ', file);
      print_name(file, call->given[i].value);
    }
}

static void print_input(FILE *file, const char *path)
{
  if (strcmp(path, "-") == 0)
    return;
  fputc(' ', file);
  print_name(file, path);
}

/* One rule with the targets of -MT. */
static void print_own_rule(FILE *file, const struct cli_call *call)
{
  const char *before = "";
  for (size_t i = 0; i < call->given_count; i++) {
    if (strcmp(call->given[i].option->name, "deptarget") != 0)
      continue;
    fprintf(file, "%s%s", before, call->given[i].value);
    before = " ";
  }
  fputc(':', file);
  for (size_t i = 0; i < call->argument_count; i++)
    print_input(file, call->arguments[i]);
  print_target_files(file, call);
  fputc('\n', file);
}

static void print_rules(FILE *file, const struct cli_call *call, char *const *outputs)
{
  for (size_t i = 0; i < call->argument_count; i++) {
    print_name(file, outputs[i]);
    fputc(':', file);
    print_input(file, call->arguments[i]);
    print_target_files(file, call);
    fputc('\n', file);
  }
}

static bool is_writable(const char *name)
{
  if (!name || !strpbrk(name, "\n\r"))
    return true;
  cli_error("usage", "-MF: a file name with a line end cannot stand in a make rule");
  return false;
}

bool cli_depfile_is_sensible(const struct cli_call *call, char *const *outputs)
{
  bool has_targets = cli_has(call, "deptarget");
  if (!cli_has(call, "depfile")) {
    if (has_targets)
      cli_error("usage", "-MT is for the file that -MF names");
    return !has_targets;
  }
  for (size_t i = 0; i < call->argument_count; i++) {
    if (!has_targets && (!outputs[i] || strcmp(outputs[i], "-") == 0)) {
      cli_error("usage", "-MF: an output on stdout has no name; give -o FILE or -MT TARGET");
      return false;
    }
    if (!is_writable(outputs[i]) || !is_writable(call->arguments[i]))
      return false;
  }
  for (size_t i = 0; i < call->given_count; i++)
    if (strcmp(call->given[i].option->name, "target-file") == 0 && !is_writable(call->given[i].value))
      return false;
  return true;
}

int cli_write_depfile(const struct cli_call *call, char *const *outputs)
{
  const char *path = cli_value_of(call, "depfile");
  char *text = NULL;
  size_t length;
  if (!path)
    return CLI_DONE;
  FILE *file = open_memstream(&text, &length);
  if (file && cli_has(call, "deptarget"))
    print_own_rule(file, call);
  else if (file)
    print_rules(file, call, outputs);
  bool ok = file && fclose(file) == 0;
  if (!ok)
    cli_error("io", "out of memory");
  ok = ok && cli_write(path, text, length);
  free(text);
  return ok ? CLI_DONE : CLI_BAD;
}
