/* messages.c: what the tool says, exit codes, memory. Messages go to stderr, or to where their thread keeps them. */
#include "cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local FILE *redirected;

FILE *cli_messages(void)
{
  return redirected ? redirected : stderr;
}

void cli_redirect_messages(FILE *file)
{
  redirected = file;
}

static void emit(void *user, const sluice_diag *diag)
{
  char *text;
  (void)user;
  if (sluice_diag_format(&text, diag) != SLUICE_OK) {
    fprintf(cli_messages(), "%s: %s\n", diag->file, diag->text);
    return;
  }
  fputs(text, cli_messages());
  sluice_string_free(text);
}

const sluice_sink cli_sink = { emit, NULL };

static void say(enum sluice_severity severity, const char *rule, const char *text)
{
  const sluice_diag diag = { .severity = severity, .rule = rule, .file = "sluice", .text = text };
  emit(NULL, &diag);
}

void cli_error(const char *rule, const char *format, ...)
{
  char text[2000];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  say(SLUICE_ERROR, rule, text);
}

void cli_suggest(const char *text, const char *const *words, size_t count)
{
  char note[200];
  const char *closest = sluice_closest(text, words, count);
  if (!closest)
    return;
  snprintf(note, sizeof note, "did you mean '%s'?", closest);
  say(SLUICE_NOTE, "", note);
}

int cli_exit_code(int status)
{
  switch (status) {
  case SLUICE_OK: return CLI_DONE;
  case SLUICE_E_ANSWER: return CLI_NO;
  case SLUICE_E_BUDGET: return CLI_UNDECIDED;
  case SLUICE_E_NO_MEMORY: cli_error("io", "out of memory"); return CLI_BAD;
  default: return CLI_BAD;
  }
}

void *cli_realloc(void *memory, size_t size)
{
  void *moved = realloc(memory, size ? size : 1);
  if (!moved) {
    cli_redirect_messages(NULL); /* nobody will print what was kept */
    cli_error("io", "out of memory");
    exit(CLI_BAD);
  }
  return moved;
}

void *cli_alloc(size_t size)
{
  return cli_realloc(NULL, size);
}

char *cli_copy(const char *text)
{
  size_t size = strlen(text) + 1;
  return memcpy(cli_alloc(size), text, size);
}
