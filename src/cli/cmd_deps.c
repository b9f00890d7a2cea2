/* cmd_deps.c: `sluice deps`: the dependences of kernels, as text, JSON or a graph. */
#include "cli.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option cli_deps_options[] = {
  { "all", 0, CLI_FLAG, NULL, "also show dependences that need no wait: implied by others, or ordered by the hardware" },
  { "memory-class", 0, CLI_NAME, "CLASS",
    "only dependences through memory of this class of the target (SB, PSUM, DRAM), or Alias: of two buffers under `alias`" },
  { "explain", 0, CLI_FLAG, NULL, "say why there is or is not a dependence of instruction B on instruction A" },
  { "json", 0, CLI_FLAG, NULL, "print all of them as JSON" },
  { "dot", 0, CLI_FLAG, NULL, "print a graph for Graphviz: `sluice deps --dot K.slu | dot -Tsvg`" },
  { "define", 'D', CLI_NAME, "NAME=VALUE", "give a parameter this default value; may be repeated" },
  { "kernel", 0, CLI_NAME, "NAME", "only the kernel of that name" },
  { "from", 0, CLI_FORM, "FORM", "form of the input; by default json when its name ends with .json, else slu" },
  { "target-file", 0, CLI_FILE, "FILE", "load more targets; may be repeated" },
  { 0 }
};

/* Whether the kernel's target has the class that was asked for; false after reporting. */
static bool has_class(const sluice_deps_result *result, const char *wanted)
{
  size_t count;
  const char *const *classes = sluice_deps_memory_classes(result, &count);
  for (size_t i = 0; i < count; i++)
    if (!wanted || strcmp(classes[i], wanted) == 0)
      return true;
  cli_error("usage", "--memory-class: the target has no class '%s'", wanted);
  cli_suggest(wanted, classes, count);
  return false;
}

static int find(sluice_deps_result **result, const struct cli_call *call, const sluice_program *program, size_t kernel,
                const sluice_targets *targets)
{
  const sluice_deps_options options = SLUICE_DEPS_OPTIONS_INIT;
  int code = cli_exit_code(sluice_deps(result, program, kernel, targets, &options, &cli_sink));
  if (code == CLI_DONE && !has_class(*result, cli_value_of(call, "memory-class"))) {
    sluice_deps_result_free(*result);
    return CLI_BAD;
  }
  return code;
}

static struct cli_dependences shown_of(const struct cli_call *call, const sluice_program *program, size_t kernel,
                                       const sluice_deps_result *result)
{
  return (struct cli_dependences){ sluice_program_kernel_name(program, kernel), result,
                                   cli_value_of(call, "memory-class"), cli_has(call, "all") };
}

static int print_all(const struct cli_call *call, const sluice_program *program, const sluice_targets *targets)
{
  int code = CLI_DONE;
  for (size_t i = 0; code == CLI_DONE && i < sluice_program_kernel_count(program); i++) {
    sluice_deps_result *result;
    code = find(&result, call, program, i, targets);
    if (code != CLI_DONE)
      break;
    struct cli_dependences shown = shown_of(call, program, i, result);
    if (cli_has(call, "dot"))
      cli_print_graph(stdout, &shown);
    else
      cli_print_dependences(stdout, &shown);
    sluice_deps_result_free(result);
  }
  return code;
}

static int print_json(const struct cli_call *call, const sluice_program *program, const sluice_targets *targets)
{
  json_t *kernels = json_array();
  int code = CLI_DONE;
  for (size_t i = 0; code == CLI_DONE && i < sluice_program_kernel_count(program); i++) {
    sluice_deps_result *result;
    code = find(&result, call, program, i, targets);
    if (code != CLI_DONE)
      break;
    struct cli_dependences shown = shown_of(call, program, i, result);
    json_array_append_new(kernels, cli_json_of_dependences(&shown));
    sluice_deps_result_free(result);
  }
  if (code == CLI_DONE)
    return cli_print_json(json_pack("{sssssoso}", "schema", "sluice-deps-1", "sluice", sluice_version(), "file",
                                    cli_json_text(call->arguments[0]), "kernels", kernels));
  json_decref(kernels);
  return code;
}

static int explain(const struct cli_call *call, const sluice_program *program, const sluice_targets *targets)
{
  char *text;
  if (sluice_program_kernel_count(program) != 1) {
    cli_error("usage", "%s has %zu kernels: choose one with --kernel", call->arguments[0],
              sluice_program_kernel_count(program));
    return CLI_BAD;
  }
  int code = cli_exit_code(
      sluice_deps_explain(&text, program, 0, call->arguments[1], call->arguments[2], targets, &cli_sink));
  if (code == CLI_DONE)
    fputs(text, stdout);
  sluice_string_free(text);
  return code;
}

/* What the table of options cannot say. */
static bool is_sensible(const struct cli_call *call)
{
  bool explains = cli_has(call, "explain");
  int forms = cli_has(call, "json") + cli_has(call, "dot") + explains;
  if (explains != (call->argument_count == 3))
    cli_error("usage", explains ? "--explain needs two labels: sluice deps FILE --explain A B"
                                : "deps takes one file; two labels behind it are for --explain");
  else if (forms > 1)
    cli_error("usage", "deps: choose one of --json, --dot and --explain");
  else
    return true;
  return false;
}

int cli_deps(struct cli_call *call)
{
  sluice_targets *targets;
  sluice_program *program = NULL;
  if (!is_sensible(call))
    return CLI_BAD;
  int code = cli_load_targets(&targets, call);
  if (code == CLI_DONE)
    code = cli_load_defined(&program, call, call->arguments[0], targets);
  if (code == CLI_DONE)
    code = cli_has(call, "explain") ? explain(call, program, targets)
           : cli_has(call, "json")  ? print_json(call, program, targets)
                                    : print_all(call, program, targets);
  sluice_program_free(program);
  sluice_targets_free(targets);
  return code;
}
