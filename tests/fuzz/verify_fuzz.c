/* verify_fuzz.c: any bytes to the parser, what it reads to the verifier and the legality check. They must
 * end, and accept or report; what is accepted is accepted again, also after printing and reading.
 */
#include <sluice/sluice.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void fail(const char *what, const char *text)
{
  fprintf(stderr, "%s\n%s\n", what, text);
  abort();
}

/* Verifies and compares the answer with what was reported. */
static bool is_accepted(sluice_program *program, const sluice_targets *targets)
{
  size_t errors = 0;
  sluice_sink sink = { count_error, &errors };
  int status = sluice_program_verify(program, targets, &sink);
  if ((status == SLUICE_OK) != (errors == 0))
    fail(errors ? "accepted with errors" : "refused without an error", "");
  return status == SLUICE_OK;
}

static void check_accepted(sluice_program *program, const sluice_targets *targets)
{
  char *text;
  size_t length;
  sluice_program *again;
  if (!is_accepted(program, targets))
    fail("accepted once, then refused", "");
  if (sluice_program_print(&text, &length, program) != SLUICE_OK)
    abort();
  if (sluice_program_parse(&again, "again", text, length, NULL) != SLUICE_OK)
    fail("printed and not read", text);
  if (!is_accepted(again, targets))
    fail("accepted, printed, and then refused", text);
  sluice_program_free(again);
  sluice_string_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const sluice_targets *targets = fuzz_targets();
  sluice_program *program;
  size_t errors = 0;
  sluice_sink sink = { count_error, &errors };
  if (sluice_program_parse(&program, "input", (const char *)data, size, &sink) != SLUICE_OK)
    return 0;
  if (is_accepted(program, targets))
    check_accepted(program, targets);
  sluice_program_free(program);
  return 0;
}
