/* check_fuzz.c: any bytes to the parser, the verifier and, when they accept, to the checker with a small budget. It must end
 * with a verdict that fits its findings, and the same one again.
 */
#include <sluice/sluice.h>

#include <sluice/check.h>

#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

static void fail(const char *what)
{
  fprintf(stderr, "%s\n", what);
  abort();
}

/* Whether the verdict is the one that the findings and the summaries call for. */
static bool fits(const sluice_check_result *result)
{
  size_t findings, summaries, errors = 0;
  const sluice_finding *finding = sluice_check_findings(result, &findings);
  const sluice_check_summary *summary = sluice_check_summaries(result, &summaries);
  bool inexact = false;
  for (size_t i = 0; i < findings; i++) {
    errors += finding[i].severity == SLUICE_ERROR;
    if (!finding[i].text[0] || !finding[i].rule[0] || !finding[i].kernel[0])
      fail("a finding without text, rule or kernel");
    for (size_t n = 0; n < finding[i].note_count; n++)
      if (!finding[i].notes[n][0])
        fail("an empty note");
  }
  for (size_t i = 0; i < summaries; i++)
    inexact |= !summary[i].is_exact;
  enum sluice_verdict verdict = sluice_check_verdict(result);
  if ((verdict == SLUICE_VERDICT_WRONG) != (errors > 0))
    return false;
  return verdict != SLUICE_VERDICT_OK || !inexact;
}

static enum sluice_verdict check(const sluice_program *program, const sluice_targets *targets)
{
  sluice_check_options options = SLUICE_CHECK_OPTIONS_INIT;
  options.max_events = 20000;
  options.max_runs = 64;
  options.minimal = true;
  sluice_check_result *result;
  if (sluice_check(&result, program, targets, &options, NULL) != SLUICE_OK)
    fail("a verified program is not checked");
  if (!fits(result))
    fail("the verdict does not fit the findings");
  enum sluice_verdict verdict = sluice_check_verdict(result);
  sluice_check_result_free(result);
  return verdict;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const sluice_targets *targets = fuzz_targets();
  sluice_program *program = read_verified(data, size);
  if (program && check(program, targets) != check(program, targets))
    fail("checked twice, two verdicts");
  sluice_program_free(program);
  return 0;
}
