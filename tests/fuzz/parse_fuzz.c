/* parse_fuzz.c: any bytes to the parser. It must end, report an error or give a program; a program that was read must print,
 * read back as equal, and print the same again.
 */
#include <sluice/sluice.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void fail(const char *what, const char *first, const char *second)
{
  fprintf(stderr, "%s\n--- first\n%s\n--- second\n%s\n", what, first, second);
  abort();
}

static char *print(const sluice_program *program)
{
  char *text;
  if (sluice_program_print(&text, NULL, program) != SLUICE_OK)
    abort();
  return text;
}

static void check_round_trip(const sluice_program *program)
{
  size_t errors = 0;
  sluice_sink sink = { count_error, &errors };
  sluice_program *again;
  char *first = print(program);
  const char *why = "";
  if (sluice_program_parse(&again, "again", first, strlen(first), &sink) != SLUICE_OK)
    fail("canonical text is refused", first, "");
  char *second = print(again);
  if (!sluice_program_equal(program, again, &why))
    fail(why, first, second);
  if (strcmp(first, second) != 0)
    fail("printing is not stable", first, second);
  sluice_string_free(first);
  sluice_string_free(second);
  sluice_program_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  size_t errors = 0;
  sluice_sink sink = { count_error, &errors };
  sluice_program *program;
  int status = sluice_program_parse(&program, "fuzz", (const char *)data, size, &sink);
  if (status == SLUICE_OK) {
    check_round_trip(program);
    sluice_program_free(program);
  } else if (status != SLUICE_E_INPUT || errors == 0) {
    abort(); /* refused without a word */
  }
  return 0;
}
