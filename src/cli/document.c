/* document.c: the table of commands as help, man page and shell completion. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 79 };

/* Words broken into lines of WIDTH columns; `column` is where the text starts, `indent` where further lines start. */
static void print_wrapped(FILE *file, const char *text, int column, int indent)
{
  bool at_start = true;
  while (*text) {
    int length = (int)strcspn(text, " ");
    if (!at_start && column + 1 + length > WIDTH) {
      fprintf(file, "\n%*s", indent, "");
      column = indent;
    } else if (!at_start) {
      fputc(' ', file);
      column++;
    }
    fprintf(file, "%.*s", length, text);
    column += length;
    at_start = false;
    text += length;
    text += strspn(text, " ");
  }
  fputc('\n', file);
}

static const char *const exit_codes[] = {
  "done",
  "the answer is no: a race, a deadlock, a limit, an inexpressible dependence, a file not in canonical form",
  "the input or the call is bad",
  "undecided within the budget",
};
enum { EXIT_CODE_COUNT = sizeof exit_codes / sizeof *exit_codes };

/* ---- help ---- */

void cli_print_usage(FILE *file)
{
  fputs("usage: sluice COMMAND [OPTION...] [ARGUMENT...]\n       sluice --help\n", file);
}

void cli_print_help(FILE *file)
{
  fputs("sluice: synchronization of kernels for accelerators with several engines\n\n", file);
  cli_print_usage(file);
  fputs("\ncommands:\n", file);
  for (size_t i = 0; i < cli_command_count; i++)
    fprintf(file, "  %-12s %s\n", cli_commands[i].name, cli_commands[i].summary);
  fputs("\noptions:\n"
        "  -h, --help      show this; after a command: the command's help\n"
        "  -V, --version   show the version\n"
        "  --man           print the man page (roff)\n"
        "  --completion    print the completion for bash\n"
        "\nexit codes:\n",
        file);
  for (int i = 0; i < EXIT_CODE_COUNT; i++) {
    fprintf(file, "  %d  ", i);
    print_wrapped(file, exit_codes[i], 5, 5);
  }
  fputs("\n'-' as a file name is stdin or stdout.\n", file);
}

/* The summary of an option, and for strategies and clean-ups the words it knows. To be freed. */
static char *whole_summary(const struct cli_option *option)
{
  bool lists_words = option->kind == CLI_STRATEGY || option->kind == CLI_CLEANUPS;
  const char **words = NULL;
  size_t count = lists_words ? cli_words(option->kind, &words) : 0, size = strlen(option->summary) + 1;
  for (size_t i = 0; i < count; i++)
    size += strlen(words[i]) + 2;
  char *text = cli_alloc(size), *at = text + sprintf(text, "%s", option->summary);
  for (size_t i = 0; i < count; i++)
    at += sprintf(at, "%s%s", i ? ", " : ": ", words[i]);
  free(words);
  return text;
}

static void print_option_help(FILE *file, const struct cli_option *option)
{
  char head[80];
  int length = option->letter ? snprintf(head, sizeof head, "-%s, ", cli_letters(option).text)
                              : snprintf(head, sizeof head, "    ");
  length += snprintf(head + length, sizeof head - (size_t)length, "--%s%s%s", option->name,
                     option->kind == CLI_FLAG ? "" : "=", option->kind == CLI_FLAG ? "" : option->value_name);
  fprintf(file, "  %-26s ", head);
  char *summary = whole_summary(option);
  print_wrapped(file, summary, length > 26 ? length + 3 : 29, 29);
  free(summary);
}

void cli_print_command_help(FILE *file, const struct cli_command *command)
{
  bool has_options = command->options[0].name != NULL;
  fprintf(file, "usage: sluice %s%s %s\n\n", command->name, has_options ? " [OPTION...]" : "", command->arguments);
  print_wrapped(file, command->description, 0, 0);
  fputs("\noptions:\n", file);
  for (const struct cli_option *option = command->options; option->name; option++)
    print_option_help(file, option);
  static const struct cli_option help = { "help", 'h', CLI_FLAG, NULL, "show this" };
  print_option_help(file, &help);
}

/* ---- man page ---- */

/* Text of a man page: hyphens that are typed, no line that starts like a request. */
static void print_roff(FILE *file, const char *text)
{
  if (*text == '.' || *text == '\'')
    fputs("\\&", file);
  for (; *text; text++) {
    if (*text == '-')
      fputs("\\-", file);
    else if (*text == '\\')
      fputs("\\e", file);
    else
      fputc(*text, file);
  }
}

static void print_man_line(FILE *file, const char *text)
{
  print_roff(file, text);
  fputc('\n', file);
}

static void print_man_option(FILE *file, const struct cli_option *option)
{
  fputs(".TP\n.B ", file);
  if (option->letter)
    fprintf(file, "\\-%s, ", cli_letters(option).text);
  fputs("\\-\\-", file);
  print_roff(file, option->name);
  if (option->kind != CLI_FLAG) {
    fputs("=\\fI", file);
    print_roff(file, option->value_name);
    fputs("\\fR", file);
  }
  fputc('\n', file);
  char *summary = whole_summary(option);
  print_man_line(file, summary);
  free(summary);
}

static void print_man_command(FILE *file, const struct cli_command *command)
{
  fputs(".SS ", file);
  print_man_line(file, command->name);
  fputs(".B sluice ", file);
  print_roff(file, command->name);
  fprintf(file, "%s ", command->options[0].name ? " [OPTION...]" : "");
  print_man_line(file, command->arguments);
  fputs(".PP\n", file);
  print_man_line(file, command->description);
  for (const struct cli_option *option = command->options; option->name; option++)
    print_man_option(file, option);
}

void cli_print_man(FILE *file)
{
  fprintf(file, ".TH SLUICE 1 \"\" \"sluice %s\" \"User Commands\"\n", sluice_version());
  fputs(".SH NAME\nsluice \\- synchronization of kernels for accelerators with several engines\n"
        ".SH SYNOPSIS\n.B sluice\n.I COMMAND\n[\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n"
        ".SH DESCRIPTION\n"
        "Reads kernels whose instructions run on several engines at once, and puts in the semaphore waits and updates\n"
        "that enforce their dependences. A file name\n.B \\-\nis stdin or stdout. Diagnostics go to stderr as\n"
        "file:line:column: error: text [rule]. An output file is written whole or not at all.\n"
        ".SH COMMANDS\n",
        file);
  for (size_t i = 0; i < cli_command_count; i++)
    print_man_command(file, &cli_commands[i]);
  fputs(".SH OPTIONS\n"
        ".TP\n.B \\-h, \\-\\-help\nShow the commands; after a command, its help.\n"
        ".TP\n.B \\-V, \\-\\-version\nShow the version.\n"
        ".TP\n.B \\-\\-man\nPrint this page (roff).\n"
        ".TP\n.B \\-\\-completion\nPrint the completion for bash.\n"
        ".SH EXIT STATUS\n",
        file);
  for (int i = 0; i < EXIT_CODE_COUNT; i++) {
    fprintf(file, ".TP\n.B %d\n", i);
    print_man_line(file, exit_codes[i]);
  }
  fputs(".SH EXAMPLES\n.nf\nsluice sync kernel.slu \\-o synchronized.slu\n"
        "sluice sync \\-\\-alloc=barrier \\-D n=256 kernel.slu\nsluice sync *.slu \\-o synchronized \\-MF "
        "synchronized.d\n"
        "sluice bench kernel.slu\n"
        "sluice check synchronized.slu \\-\\-against kernel.slu\n"
        "sluice fmt \\-i kernel.slu\n.fi\n",
        file);
}

/* ---- completion ---- */

/* The words that complete `--option=`; where there are none, files do. */
static void print_value_case(FILE *file, const struct cli_option *option)
{
  const char **words;
  size_t count = cli_words(option->kind, &words);
  if (count)
    fprintf(file, "        --%s) values=\"", option->name);
  for (size_t i = 0; i < count; i++)
    fprintf(file, "%s%s", i ? " " : "", words[i]);
  if (count)
    fputs("\" ;;\n", file);
  free(words);
}

static void print_command_case(FILE *file, const struct cli_command *command)
{
  fprintf(file, "    %s)\n      words=\"--help", command->name);
  for (const struct cli_option *option = command->options; option->name; option++)
    fprintf(file, " --%s%s", option->name, option->kind == CLI_FLAG ? "" : "=");
  fputs("\"\n      case \"$previous\" in\n", file);
  for (const struct cli_option *option = command->options; option->name; option++)
    print_value_case(file, option);
  fputs("      esac\n      ;;\n", file);
}

void cli_print_completion(FILE *file)
{
  fputs(
      "# bash completion of sluice; install as bash-completion/completions/sluice\n"
      "_sluice()\n{\n"
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\" words=\"\" values=\"\"\n"
      "  if [ \"$current\" = \"=\" ]; then current=\"\"\n"
      "  elif [ \"$previous\" = \"=\" ]; then previous=\"${COMP_WORDS[COMP_CWORD-2]}\"\n  fi\n"
      "  COMPREPLY=()\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \"",
      file);
  for (size_t i = 0; i < cli_command_count; i++)
    fprintf(file, "%s ", cli_commands[i].name);
  fputs("--help --version --man --completion\" -- \"$current\"))\n    return\n  fi\n"
        "  case \"${COMP_WORDS[1]}\" in\n",
        file);
  for (size_t i = 0; i < cli_command_count; i++)
    print_command_case(file, &cli_commands[i]);
  fputs("  esac\n"
        "  if [ -n \"$values\" ]; then COMPREPLY=($(compgen -W \"$values\" -- \"$current\"))\n"
        "  elif [ \"${current#-}\" != \"$current\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
        "  else COMPREPLY=($(compgen -f -- \"$current\"))\n  fi\n"
        "  case \"${COMPREPLY[0]}\" in *=) type compopt >/dev/null 2>&1 && compopt -o nospace ;; esac\n"
        "}\ncomplete -o filenames -F _sluice sluice\n",
        file);
}
