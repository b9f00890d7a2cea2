/* main.c: the table of commands, and what the tool does before and after one. */
#include "cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

const struct cli_option cli_no_options[] = { { 0 } };

const struct cli_command cli_commands[] = {
  { "sync", "put waits and updates into kernels", "FILE...",
    "Reads kernels with their dependences and writes them with the waits and updates that enforce these, and nothing "
    "else changed. A dependence that the strategy cannot express is an error that names it; nothing is written then. "
    "Several files are done in threads: what is said comes in their order, one that fails does not stop the others, "
    "and "
    "the exit code is that of the worst.",
    cli_sync_options, 0, (unsigned)-1, cli_sync },
  { "deps", "show the dependences of kernels and why each is there", "FILE [A B]",
    "Prints every dependence that waits have to enforce, under its consumer: kind, distance, producer, the two accesses and what "
    "they have in common; then how many need no wait, and why. --explain says why there is or is not a dependence of "
    "instruction B on instruction A. Kinds, distances and overlaps are explained in docs/deps.md.",
    cli_deps_options, 1, 3, cli_deps },
  { "check", "judge synchronized kernels: races, deadlocks, waits that are not needed", "FILE",
    "Runs each kernel for many trip counts and conditions, and decides for every instance of every dependence whether "
    "the "
    "waits order it in all interleavings. Prints what is wrong with a witness, then a line with the verdict and what "
    "was "
    "run. Exit code 0: right, perhaps with waits that are stronger than needed; 1: wrong; 3: undecided.",
    cli_check_options, 1, 1, cli_check },
  { "sim", "predict what a synchronized kernel costs: latency, stalls, critical path, timelines", "FILE...",
    "Simulates each kernel with the cost model of its target. Prints the latency, what the critical path consists of, how long "
    "each engine and queue was busy, and the waits that cost most. The model's numbers and how far they can be trusted: "
    "`sluice targets NAME` and docs/simulator.md.",
    cli_sim_options, 1, (unsigned)-1, cli_sim },
  { "explain", "say why an instruction waits", "FILE LABEL",
    "Prints for each wait of the instruction until when it waits, which dependence that is and what the two ends "
    "share, who raises the semaphore, how the threshold is computed, and what the wait costs by the model of `sluice "
    "sim`; and why its other dependences have no wait. A kernel without synchronization is synchronized first.",
    cli_explain_options, 2, 2, cli_explain },
  { "bench", "compare the strategies side by side", "FILE...",
    "Synchronizes every kernel with every strategy and prints what each one uses: waits, updates, semaphores, "
    "registers, register operations, barriers, instruction slots and bytes, and what it costs. Counts are static: each "
    "statement counts once, however often it runs. The latency is the one that `sluice sim` predicts, beside it its "
    "ratio to that of barriers, and how much of it is needed when waiting costs nothing (the row ideal; for unroll with "
    "its own code). A file NAME.manual.slu beside NAME.slu is the same kernel synchronized by hand: it "
    "is a "
    "row of its own, and no kernel to synchronize when both are given.",
    cli_bench_options, 1, (unsigned)-1, cli_bench },
  { "fmt", "print kernels in canonical form", "FILE...",
    "Reads kernels and prints them in the canonical form, comments included.", cli_fmt_options, 1, (unsigned)-1,
    cli_fmt },
  { "targets", "list the machine descriptions, or describe one", "[NAME]",
    "Without a name: the targets and what they are. With one: its engines, queues, memory, semaphores, registers, "
    "operations and cost parameters, each with its provenance.",
    cli_targets_options, 0, 1, cli_targets },
  { "rules", "list the rules that diagnostics name", "[ID...]",
    "Every diagnostic ends with the id of a rule in brackets. Prints the table of them, or the rows asked for.",
    cli_no_options, 0, (unsigned)-1, cli_rules },
  { "help", "show the help of a command", "[COMMAND]", "Shows the list of commands, or the help of one.",
    cli_no_options, 0, 1, cli_help },
};
const size_t cli_command_count = sizeof cli_commands / sizeof *cli_commands;

const struct cli_command *cli_find_command(const char *name)
{
  for (size_t i = 0; i < cli_command_count; i++)
    if (strcmp(cli_commands[i].name, name) == 0)
      return &cli_commands[i];
  const char **names = cli_alloc(cli_command_count * sizeof *names);
  for (size_t i = 0; i < cli_command_count; i++)
    names[i] = cli_commands[i].name;
  cli_error("usage", "unknown command '%s'", name);
  cli_suggest(name, names, cli_command_count);
  free(names);
  return NULL;
}

int cli_help(struct cli_call *call)
{
  if (call->argument_count == 0) {
    cli_print_help(stdout);
    return CLI_DONE;
  }
  const struct cli_command *command = cli_find_command(call->arguments[0]);
  if (!command)
    return CLI_BAD;
  cli_print_command_help(stdout, command);
  return CLI_DONE;
}

int cli_rules(struct cli_call *call)
{
  size_t count, found = 0;
  const sluice_rule *rules = sluice_rules(&count);
  for (size_t i = 0; i < count; i++) {
    bool wanted = call->argument_count == 0;
    for (size_t k = 0; k < call->argument_count; k++)
      wanted |= strcmp(call->arguments[k], rules[i].id) == 0;
    if (wanted)
      printf("%-14s %-9s %s\n", rules[i].id, rules[i].family, rules[i].summary);
    found += wanted;
  }
  if (found >= call->argument_count)
    return CLI_DONE;
  const char **ids = cli_alloc(count * sizeof *ids);
  for (size_t i = 0; i < count; i++)
    ids[i] = rules[i].id;
  for (size_t k = 0; k < call->argument_count; k++) {
    size_t i = 0;
    while (i < count && strcmp(ids[i], call->arguments[k]) != 0)
      i++;
    if (i < count)
      continue;
    cli_error("usage", "no rule is called '%s'", call->arguments[k]);
    cli_suggest(call->arguments[k], ids, count);
  }
  free(ids);
  return CLI_BAD;
}

static void print_version(FILE *file)
{
  fprintf(file, "sluice %s\n", sluice_version());
}

/* What can be asked of the tool itself. */
static const struct {
  const char *name, *letter;
  void (*print)(FILE *file);
} globals[] = {
  { "--help", "-h", cli_print_help },
  { "--version", "-V", print_version },
  { "--man", NULL, cli_print_man },
  { "--completion", NULL, cli_print_completion },
};

enum { GLOBAL_COUNT = sizeof globals / sizeof *globals };

static int run_global(const char *option)
{
  const char *names[GLOBAL_COUNT];
  for (size_t i = 0; i < GLOBAL_COUNT; i++) {
    names[i] = globals[i].name;
    if (strcmp(option, globals[i].name) != 0 && (!globals[i].letter || strcmp(option, globals[i].letter) != 0))
      continue;
    globals[i].print(stdout);
    return cli_flush() ? CLI_DONE : CLI_BAD;
  }
  cli_error("usage", "unknown option '%s' before a command", option);
  cli_suggest(option, names, GLOBAL_COUNT);
  return CLI_BAD;
}

static int run_command(const struct cli_command *command, int argc, char **argv)
{
  struct cli_call call;
  int code = CLI_BAD;
  if (cli_parse(&call, command, argc, argv)) {
    code = CLI_DONE;
    if (call.wants_help)
      cli_print_command_help(stdout, command);
    else
      code = command->run(&call);
  }
  cli_call_free(&call);
  return cli_flush() ? code : CLI_BAD;
}

/* What one pass frees the next asks for: given back to the system in between, each page would have to be cleared again. */
static void keep_memory(void)
{
#if defined(__GLIBC__)
  (void)mallopt(M_MMAP_THRESHOLD, INT_MAX);
  (void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

int main(int argc, char **argv)
{
  keep_memory();
  if (argc < 2) {
    cli_print_usage(stderr);
    return CLI_BAD;
  }
  if (argv[1][0] == '-')
    return run_global(argv[1]);
  const struct cli_command *command = cli_find_command(argv[1]);
  return command ? run_command(command, argc - 1, argv + 1) : CLI_BAD;
}
