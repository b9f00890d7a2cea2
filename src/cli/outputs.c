/* outputs.c: where the result of every file goes.
 *
 * One file and no more said: to -o FILE or stdout. Else every file gives its name: NAME.slu in a directory (-o DIR), or
 * beside it with another end (--suffix). No output may be an input or another one's output: with several threads, who
 * comes first would decide what is read.
 */
#define _XOPEN_SOURCE 700 /* stat, mkdir */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_directory(const char *path)
{
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static bool ends_with(const char *text, const char *end)
{
  size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* ---- names ---- */

/* The path of an input, or its name in `directory`, with `suffix` instead of .slu or .json. */
static char *name_of_output(const char *input, const char *directory, const char *suffix)
{
  const char *slash = strrchr(input, '/'), *name = directory && slash ? slash + 1 : input;
  size_t length = strlen(name) - (ends_with(name, ".slu") ? 4 : ends_with(name, ".json") ? 5 : 0);
  size_t size = (directory ? strlen(directory) + 1 : 0) + length + strlen(suffix) + 1;
  char *path = cli_alloc(size);
  snprintf(path, size, "%s%s%.*s%s", directory ? directory : "", directory && !ends_with(directory, "/") ? "/" : "",
           (int)length, name, suffix);
  return path;
}

/* ---- conflicts ---- */

struct claim {
  const char *output, *input;
};

static int compare_claims(const void *a, const void *b)
{
  return strcmp(((const struct claim *)a)->output, ((const struct claim *)b)->output);
}

/* Whether two inputs have one output; reported. */
static bool claim_twice(char *const *outputs, const struct cli_call *call)
{
  size_t count = call->argument_count;
  struct claim *claims = cli_alloc(count * sizeof *claims);
  bool found = false;
  for (size_t i = 0; i < count; i++)
    claims[i] = (struct claim){ outputs[i], call->arguments[i] };
  qsort(claims, count, sizeof *claims, compare_claims);
  for (size_t i = 1; i < count && !found; i++) {
    found = strcmp(claims[i - 1].output, claims[i].output) == 0;
    if (found)
      cli_error("usage", "sync: the outputs of '%s' and '%s' would both be '%s'", claims[i - 1].input, claims[i].input,
                claims[i].output);
  }
  free(claims);
  return found;
}

struct identity {
  dev_t device;
  ino_t node;
  const char *path;
};

static int compare_identities(const void *a, const void *b)
{
  const struct identity *x = a, *y = b;
  if (x->device != y->device)
    return x->device < y->device ? -1 : 1;
  return x->node < y->node ? -1 : x->node > y->node;
}

static bool identify(struct identity *identity, const char *path)
{
  struct stat about;
  if (stat(path, &about) != 0)
    return false; /* an input that is not there is reported when it is read */
  *identity = (struct identity){ about.st_dev, about.st_ino, path };
  return true;
}

/* Whether an output is one of the inputs, whatever name it goes by; reported. */
static bool replace_input(char *const *outputs, const struct cli_call *call)
{
  size_t count = 0;
  struct identity *inputs = cli_alloc(call->argument_count * sizeof *inputs);
  bool found = false;
  for (size_t i = 0; i < call->argument_count; i++)
    count += identify(&inputs[count], call->arguments[i]);
  qsort(inputs, count, sizeof *inputs, compare_identities);
  for (size_t i = 0; i < call->argument_count && !found; i++) {
    struct identity output, *input = NULL;
    if (identify(&output, outputs[i]))
      input = bsearch(&output, inputs, count, sizeof *inputs, compare_identities);
    found = input != NULL;
    if (found)
      cli_error("usage", "sync: the output of '%s' would replace the input '%s'", call->arguments[i], input->path);
  }
  free(inputs);
  return found;
}

/* ---- the plan ---- */

/* Whether a directory is there or can be made. */
static bool may_be_directory(const char *path)
{
  struct stat about;
  return *path && strcmp(path, "-") != 0 && (stat(path, &about) != 0 || S_ISDIR(about.st_mode));
}

/* Whether -o and --suffix fit the arguments; false after reporting. */
static bool is_sensible(const struct cli_call *call, bool is_named)
{
  const char *output = cli_value_of(call, "output"), *suffix = cli_value_of(call, "suffix");
  if (call->argument_count > 1 && !output && !suffix)
    cli_error("usage", "sync: several files need -o DIR or --suffix=SUFFIX");
  else if (suffix && (!*suffix || strchr(suffix, '/')))
    cli_error("usage", "--suffix: expected the end of a file name, not '%s'", suffix);
  else if (is_named && output && !may_be_directory(output))
    cli_error("usage", "sync: with %s, -o is a directory, and '%s' is none", suffix ? "--suffix" : "several files",
              output);
  else
    return true;
  return false;
}

static bool have_names(const struct cli_call *call)
{
  for (size_t i = 0; i < call->argument_count; i++)
    if (strcmp(call->arguments[i], "-") == 0) {
      cli_error("usage", "sync: '-' has no name that its output could take; give one file and -o FILE");
      return false;
    }
  return true;
}

static bool make_directory(const char *path)
{
  if (!path || mkdir(path, 0777) == 0 || (errno == EEXIST && is_directory(path)))
    return true;
  cli_error("io", "cannot make the directory '%s': %s", path, strerror(errno));
  return false;
}

char **cli_outputs(const struct cli_call *call)
{
  const char *output = cli_value_of(call, "output"), *suffix = cli_value_of(call, "suffix");
  bool is_named = call->argument_count > 1 || suffix || (output && (is_directory(output) || ends_with(output, "/")));
  if (!is_sensible(call, is_named) || (is_named && !have_names(call)))
    return NULL;
  char **outputs = cli_alloc(call->argument_count * sizeof *outputs);
  const char *end = suffix ? suffix : cli_has_value(call, "emit", "json") ? ".json" : ".slu";
  for (size_t i = 0; i < call->argument_count; i++)
    outputs[i] = is_named ? name_of_output(call->arguments[i], output, end) : output ? cli_copy(output) : NULL;
  if (!is_named || (!claim_twice(outputs, call) && !replace_input(outputs, call) && make_directory(output)))
    return outputs;
  cli_outputs_free(outputs, call);
  return NULL;
}

void cli_outputs_free(char **outputs, const struct cli_call *call)
{
  for (size_t i = 0; outputs && i < call->argument_count; i++)
    free(outputs[i]);
  free(outputs);
}
