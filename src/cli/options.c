/* options.c: the options of a command, read with getopt_long from the command's table. */
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { HELP = 256, FIRST_OPTION /* getopt's value of the first option of the command */ };

static size_t count_options(const struct cli_command *command)
{
  size_t count = 0;
  while (command->options[count].name)
    count++;
  return count;
}

/* ---- values ---- */

/* Words that a kind of value knows; *words is freed by the caller, the words are not. */
static size_t known_words(enum cli_value kind, const char ***words)
{
  size_t count = 0;
  if (kind == CLI_STRATEGY) {
    const sluice_strategy *strategies = sluice_strategies(&count);
    *words = cli_alloc(count * sizeof **words);
    for (size_t i = 0; i < count; i++)
      (*words)[i] = strategies[i].name;
  } else if (kind == CLI_PASS) {
    const sluice_pass *passes = sluice_passes(&count);
    *words = cli_alloc((count + 1) * sizeof **words);
    for (size_t i = 0; i < count; i++)
      (*words)[i] = passes[i].name;
    (*words)[count++] = "all";
  } else if (kind == CLI_FORM) {
    *words = cli_alloc(2 * sizeof **words);
    (*words)[count++] = "slu";
    (*words)[count++] = "json";
  } else if (kind == CLI_REPORT) {
    *words = cli_alloc(3 * sizeof **words);
    (*words)[count++] = "text";
    (*words)[count++] = "json";
    (*words)[count++] = "sarif";
  }
  return count;
}

/* A decimal number that fits 64 bits. */
static bool is_number(const char *text)
{
  char *end;
  errno = 0;
  (void)strtoull(text, &end, 10);
  return text[0] >= '0' && text[0] <= '9' && !*end && !errno;
}

static bool check_value(const struct cli_option *option, const char *value)
{
  if (option->kind == CLI_NUMBER) {
    if (!is_number(value))
      cli_error("usage", "--%s: expected a number, not '%s'", option->name, value);
    return is_number(value);
  }
  const char **words = NULL;
  size_t count = known_words(option->kind, &words);
  bool ok = count == 0;
  for (size_t i = 0; i < count; i++)
    ok |= strcmp(words[i], value) == 0;
  if (!ok) {
    cli_error("usage", "--%s: unknown %s '%s'", option->name,
              option->kind == CLI_STRATEGY ? "strategy"
              : option->kind == CLI_PASS   ? "pass"
                                           : "form",
              value);
    cli_suggest(value, words, count);
  }
  free(words);
  return ok;
}

/* ---- getopt ---- */

struct tables {
  struct option *options;
  char *letters;
};

static struct tables make_tables(const struct cli_command *command)
{
  size_t count = count_options(command), letters = 0;
  struct tables tables = { cli_alloc((count + 2) * sizeof *tables.options), cli_alloc(2 * count + 4) };
  tables.letters[letters++] = ':'; /* tells a missing value from an unknown option */
  tables.letters[letters++] = 'h';
  for (size_t i = 0; i < count; i++) {
    const struct cli_option *option = &command->options[i];
    bool has_value = option->kind != CLI_FLAG;
    tables.options[i] =
        (struct option){ option->name, has_value ? required_argument : no_argument, NULL, FIRST_OPTION + (int)i };
    if (!option->letter)
      continue;
    tables.letters[letters++] = option->letter;
    if (has_value)
      tables.letters[letters++] = ':';
  }
  tables.letters[letters] = '\0';
  tables.options[count] = (struct option){ "help", no_argument, NULL, HELP };
  tables.options[count + 1] = (struct option){ 0 };
  return tables;
}

static const struct cli_option *find_option(const struct cli_command *command, int value)
{
  size_t count = count_options(command);
  if (value >= FIRST_OPTION && (size_t)(value - FIRST_OPTION) < count)
    return &command->options[value - FIRST_OPTION];
  for (size_t i = 0; i < count; i++)
    if (command->options[i].letter && command->options[i].letter == value)
      return &command->options[i];
  return NULL;
}

static void unknown_long_option(const struct cli_command *command, const char *word)
{
  enum { LONGEST = 40 };
  size_t count = count_options(command), length = strcspn(word, "=");
  char *given = cli_copy(word), (*names)[LONGEST] = cli_alloc((count + 1) * sizeof *names);
  const char **pointers = cli_alloc((count + 1) * sizeof *pointers);
  for (size_t i = 0; i <= count; i++) {
    snprintf(names[i], LONGEST, "--%s", i < count ? command->options[i].name : "help");
    pointers[i] = names[i];
  }
  given[length] = '\0';
  cli_error("usage", "%s: unknown option '%s'", command->name, given);
  cli_suggest(given, pointers, count + 1);
  free(pointers);
  free(names);
  free(given);
}

/* Reports why getopt_long answered `answer` (':' or '?'). `word` is the argument it had read. */
static void report_option(const struct cli_command *command, int answer, const char *word)
{
  const struct cli_option *option = find_option(command, optopt);
  if (option && answer == ':') {
    cli_error("usage", "%s: the option '%s' needs a value (%s)", command->name, word, option->value_name);
  } else if ((option || optopt == HELP) && word[0] == '-' && word[1] == '-') {
    cli_error("usage", "%s: the option '--%s' takes no value", command->name, option ? option->name : "help");
  } else if (optopt) {
    cli_error("usage", "%s: unknown option '-%c'", command->name, optopt);
  } else {
    unknown_long_option(command, word);
  }
}

static void add_given(struct cli_call *call, const struct cli_option *option, const char *value)
{
  call->given = cli_realloc(call->given, (call->given_count + 1) * sizeof *call->given);
  call->given[call->given_count++] = (struct cli_given){ option, option->kind == CLI_FLAG ? NULL : value };
}

static bool read_options(struct cli_call *call, int argc, char **argv, const struct tables *tables)
{
  bool ok = true;
  opterr = 0;
  optind = 1;
  for (;;) {
    int before = optind;
    int answer = getopt_long(argc, argv, tables->letters, tables->options, NULL);
    if (answer == -1)
      return ok;
    const struct cli_option *option = find_option(call->command, answer);
    if (answer == 'h' || answer == HELP) {
      call->wants_help = true;
    } else if (answer == '?' || answer == ':') {
      report_option(call->command, answer, argv[optind > before ? optind - 1 : before]);
      ok = false;
    } else if (option) {
      ok &= option->kind == CLI_FLAG || check_value(option, optarg);
      add_given(call, option, optarg);
    }
  }
}

static bool check_arguments(const struct cli_call *call)
{
  const struct cli_command *command = call->command;
  if (call->argument_count < command->least)
    cli_error("usage", "%s needs an argument: sluice %s %s", command->name, command->name, command->arguments);
  else if (call->argument_count > command->most)
    cli_error("usage", "%s: unexpected argument '%s'", command->name, call->arguments[command->most]);
  else
    return true;
  return false;
}

bool cli_parse(struct cli_call *call, const struct cli_command *command, int argc, char **argv)
{
  *call = (struct cli_call){ .command = command };
  struct tables tables = make_tables(command);
  bool ok = read_options(call, argc, argv, &tables);
  free(tables.options);
  free(tables.letters);
  call->arguments = argv + optind;
  call->argument_count = (size_t)(argc - optind);
  return ok && (call->wants_help || check_arguments(call));
}

void cli_call_free(struct cli_call *call)
{
  free(call->given);
}

/* ---- asking ---- */

const char *cli_value_of(const struct cli_call *call, const char *option)
{
  for (size_t i = call->given_count; i-- > 0;)
    if (strcmp(call->given[i].option->name, option) == 0)
      return call->given[i].value;
  return NULL;
}

bool cli_has(const struct cli_call *call, const char *option)
{
  for (size_t i = 0; i < call->given_count; i++)
    if (strcmp(call->given[i].option->name, option) == 0)
      return true;
  return false;
}

bool cli_has_value(const struct cli_call *call, const char *option, const char *value)
{
  for (size_t i = 0; i < call->given_count; i++)
    if (strcmp(call->given[i].option->name, option) == 0 && strcmp(call->given[i].value, value) == 0)
      return true;
  return false;
}

uint64_t cli_number(const struct cli_call *call, const char *option, uint64_t otherwise)
{
  const char *value = cli_value_of(call, option);
  return value ? strtoull(value, NULL, 10) : otherwise;
}

enum sluice_alloc cli_strategy(const struct cli_call *call)
{
  size_t count;
  const sluice_strategy *strategies = sluice_strategies(&count);
  const char *name = cli_value_of(call, "alloc");
  for (size_t i = 0; name && i < count; i++)
    if (strcmp(strategies[i].name, name) == 0)
      return strategies[i].alloc;
  return SLUICE_ALLOC_SHADOW;
}
