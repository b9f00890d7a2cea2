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

static const char *const forms[] = { "slu", "json" }, *const reports[] = { "text", "json", "sarif" };
/* In the order of enum sluice_counters. */
static const char *const counters[] = { "auto", "loop", "instruction", "engine" };
static const char *const no_cleanup = "none", *const all_cleanups = "all";

static size_t copy_words(const char ***words, const char *const *from, size_t count)
{
  *words = cli_alloc(count * sizeof **words);
  memcpy(*words, from, count * sizeof **words);
  return count;
}

static size_t strategy_words(const char ***words)
{
  size_t count;
  const sluice_strategy *strategies = sluice_strategies(&count);
  *words = cli_alloc(count * sizeof **words);
  for (size_t i = 0; i < count; i++)
    (*words)[i] = strategies[i].name;
  return count;
}

static size_t pass_words(const char ***words)
{
  size_t count;
  const sluice_pass *passes = sluice_passes(&count);
  *words = cli_alloc((count + 1) * sizeof **words);
  for (size_t i = 0; i < count; i++)
    (*words)[i] = passes[i].name;
  (*words)[count] = "all";
  return count + 1;
}

static size_t cleanup_words(const char ***words)
{
  size_t count;
  const sluice_cleanup_row *cleanups = sluice_cleanups(&count);
  *words = cli_alloc((count + 2) * sizeof **words);
  (*words)[0] = all_cleanups;
  (*words)[1] = no_cleanup;
  for (size_t i = 0; i < count; i++)
    (*words)[i + 2] = cleanups[i].name;
  return count + 2;
}

size_t cli_words(enum cli_value kind, const char ***words)
{
  *words = NULL;
  switch (kind) {
  case CLI_FORM: return copy_words(words, forms, sizeof forms / sizeof *forms);
  case CLI_REPORT: return copy_words(words, reports, sizeof reports / sizeof *reports);
  case CLI_COUNTERS: return copy_words(words, counters, sizeof counters / sizeof *counters);
  case CLI_STRATEGY: return strategy_words(words);
  case CLI_PASS: return pass_words(words);
  case CLI_CLEANUPS: return cleanup_words(words);
  case CLI_FLAG:
  case CLI_FILE:
  case CLI_NAME:
  case CLI_NUMBER: break;
  }
  return 0;
}

static const char *kind_name(enum cli_value kind)
{
  return kind == CLI_STRATEGY   ? "strategy"
         : kind == CLI_PASS     ? "pass"
         : kind == CLI_COUNTERS ? "kind of counters"
         : kind == CLI_CLEANUPS ? "clean-up"
                                : "form";
}

/* A decimal number that fits 64 bits. */
static bool is_number(const char *text)
{
  char *end;
  errno = 0;
  (void)strtoull(text, &end, 10);
  return text[0] >= '0' && text[0] <= '9' && !*end && !errno;
}

static bool check_word(const struct cli_option *option, const char *value)
{
  const char **words;
  size_t count = cli_words(option->kind, &words);
  bool ok = count == 0;
  for (size_t i = 0; i < count; i++)
    ok |= strcmp(words[i], value) == 0;
  if (!ok) {
    cli_error("usage", "--%s: unknown %s '%s'", option->name, kind_name(option->kind), value);
    cli_suggest(value, words, count);
  }
  free(words);
  return ok;
}

/* The clean-ups of one name. */
static unsigned cleanups_of(const char *name)
{
  size_t count;
  const sluice_cleanup_row *rows = sluice_cleanups(&count);
  if (strcmp(name, all_cleanups) == 0)
    return SLUICE_CLEANUP_ALL;
  for (size_t i = 0; i < count; i++)
    if (strcmp(rows[i].name, name) == 0)
      return (unsigned)rows[i].cleanup;
  return SLUICE_CLEANUP_NONE;
}

/* Reads `none`, `all` or NAME,NAME. With an option it checks the names; false after reporting. */
static bool read_cleanups(unsigned *set, const char *value, const struct cli_option *option)
{
  char *names = cli_copy(value), *at = names;
  bool ok = true, is_list = strchr(value, ',') != NULL;
  *set = SLUICE_CLEANUP_NONE;
  while (ok && at) {
    char *comma = strchr(at, ',');
    if (comma)
      *comma = '\0';
    ok = !option || check_word(option, at);
    if (ok && option && is_list && (strcmp(at, all_cleanups) == 0 || strcmp(at, no_cleanup) == 0)) {
      cli_error("usage", "--%s: '%s' stands alone", option->name, at);
      ok = false;
    }
    *set |= cleanups_of(at);
    at = comma ? comma + 1 : NULL;
  }
  free(names);
  return ok;
}

static bool check_value(const struct cli_option *option, const char *value)
{
  unsigned set;
  if (option->kind == CLI_CLEANUPS)
    return read_cleanups(&set, value, option);
  if (option->kind != CLI_NUMBER)
    return check_word(option, value);
  if (!is_number(value))
    cli_error("usage", "--%s: expected a number, not '%s'", option->name, value);
  return is_number(value);
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
    int letter = option->letter > 0xff ? option->letter >> 8 : option->letter;
    if (!letter)
      continue;
    tables.letters[letters++] = (char)letter; /* twice is no harm: the first one counts */
    if (has_value)
      tables.letters[letters++] = ':';
  }
  tables.letters[letters] = '\0';
  tables.options[count] = (struct option){ "help", no_argument, NULL, HELP };
  tables.options[count + 1] = (struct option){ 0 };
  return tables;
}

struct cli_letters cli_letters(const struct cli_option *option)
{
  struct cli_letters letters = { "" };
  size_t length = 0;
  if (option->letter > 0xff)
    letters.text[length++] = (char)(option->letter >> 8);
  letters.text[length++] = (char)(option->letter & 0xff);
  return letters;
}

/* What getopt answered as an option. Of a pair it knows the first letter; the second one leads the value. */
static const struct cli_option *find_option(const struct cli_command *command, int answer, const char *value)
{
  size_t count = count_options(command);
  if (answer >= FIRST_OPTION && (size_t)(answer - FIRST_OPTION) < count)
    return &command->options[answer - FIRST_OPTION];
  int pair = value && answer > 0 ? CLI_PAIR(answer, (unsigned char)value[0]) : 0;
  for (size_t i = 0; i < count && answer; i++)
    if (command->options[i].letter == answer || (pair && command->options[i].letter == pair))
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
  const struct cli_option *option = find_option(command, optopt, NULL);
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

/* The value of `-MF`, as in -MFvalue or in the next argument; NULL after reporting that there is none. */
static const char *value_of_pair(const struct cli_call *call, const struct cli_option *option, int argc, char **argv)
{
  if (optarg[1])
    return optarg + 1;
  if (optind < argc)
    return argv[optind++];
  cli_error("usage", "%s: the option '-%s' needs a value (%s)", call->command->name, cli_letters(option).text,
            option->value_name);
  return NULL;
}

/* One option that getopt understood; false after reporting. */
static bool take_option(struct cli_call *call, int answer, int argc, char **argv)
{
  const struct cli_option *option = find_option(call->command, answer, optarg);
  const char *value = optarg;
  if (!option) { /* the first letter of a pair */
    cli_error("usage", "%s: unknown option '-%c%.1s'", call->command->name, answer, optarg);
    return false;
  }
  if (answer < HELP && option->letter > 0xff)
    value = value_of_pair(call, option, argc, argv);
  if (option->kind != CLI_FLAG && (!value || !check_value(option, value)))
    return false;
  add_given(call, option, value);
  return true;
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
    if (answer == 'h' || answer == HELP) {
      call->wants_help = true;
    } else if (answer == '?' || answer == ':') {
      report_option(call->command, answer, argv[optind > before ? optind - 1 : before]);
      ok = false;
    } else {
      ok &= take_option(call, answer, argc, argv);
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

void cli_choose(sluice_sync_options *options, const struct cli_call *call)
{
  size_t count;
  const sluice_strategy *strategies = sluice_strategies(&count);
  const char *alloc = cli_value_of(call, "alloc"), *sharing = cli_value_of(call, "counters"),
             *cleanups = cli_value_of(call, "cleanup");
  for (size_t i = 0; alloc && i < count; i++)
    if (strcmp(strategies[i].name, alloc) == 0)
      options->alloc = strategies[i].alloc;
  for (size_t i = 0; sharing && i < sizeof counters / sizeof *counters; i++)
    if (strcmp(counters[i], sharing) == 0)
      options->counters = (enum sluice_counters)i;
  if (cleanups)
    read_cleanups(&options->cleanups, cleanups, NULL);
}
