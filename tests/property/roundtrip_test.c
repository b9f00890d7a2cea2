/* roundtrip_test: parse(print(x)) is x, through text and through JSON, and printing is idempotent: on generated
 * kernels that use every feature of the grammar, on generated kernels that verify, and on every .slu file of the
 * repository. Files that do not parse (tests of the parser's errors) are counted; those of bench/ and examples/ must
 * parse.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "property/campaign.h"

struct counts {
  unsigned long kernels;
  unsigned files, malformed, failed;
};

/* Text through the parser again: the same program, the same text. */
static bool survives_text(const sluice_program *program, const char *text, size_t length, struct sl_failure *failure)
{
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_program *again = NULL;
  char *text_again = NULL;
  const char *why = "";
  bool holds;
  if (sluice_program_parse(&again, "printed.slu", text, length, &sink) != SLUICE_OK)
    return sl_fail(failure, "printed text does not parse", "%s\n%s", messages.first, text);
  if (!sluice_program_equal(program, again, &why))
    holds = sl_fail(failure, "text differs", "%s\n%s", why, text);
  else if (sluice_program_print(&text_again, NULL, again) != SLUICE_OK)
    holds = sl_fail(failure, "print", "printing again fails");
  else
    holds =
        !strcmp(text, text_again) || sl_fail(failure, "fmt is not idempotent", "%s\nand then\n%s", text, text_again);
  sluice_string_free(text_again);
  sluice_program_free(again);
  return holds;
}

static bool survives_json(const sluice_program *program, const char *text, struct sl_failure *failure)
{
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_program *again = NULL;
  char *json = NULL, *text_again = NULL;
  size_t length = 0;
  const char *why = "";
  bool holds;
  if (sluice_program_print_json(&json, &length, program) != SLUICE_OK)
    return sl_fail(failure, "print json", "printing fails");
  if (sluice_program_parse_json(&again, "printed.json", json, length, &sink) != SLUICE_OK)
    holds = sl_fail(failure, "printed JSON does not parse", "%s", messages.first);
  else if (!sluice_program_equal(program, again, &why))
    holds = sl_fail(failure, "JSON differs", "%s\n%s", why, text);
  else if (sluice_program_print(&text_again, NULL, again) != SLUICE_OK)
    holds = sl_fail(failure, "print", "printing what came through JSON fails");
  else
    holds =
        !strcmp(text, text_again) || sl_fail(failure, "text after JSON differs", "%s\nand then\n%s", text, text_again);
  sluice_string_free(json);
  sluice_string_free(text_again);
  sluice_program_free(again);
  return holds;
}

static bool survives(const sluice_program *program, struct sl_failure *failure)
{
  char *text = NULL;
  size_t length = 0;
  if (sluice_program_print(&text, &length, program) != SLUICE_OK)
    return sl_fail(failure, "print", "printing fails");
  bool holds = survives_text(program, text, length, failure) && survives_json(program, text, failure);
  sluice_string_free(text);
  return holds;
}

static bool kernel_survives(void *user, const char *text, uint64_t seed, struct sl_failure *failure)
{
  (void)seed;
  struct counts *counts = user;
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_program *program = NULL;
  counts->kernels++;
  if (sluice_program_parse(&program, "generated.slu", text, strlen(text), &sink) != SLUICE_OK)
    return sl_fail(failure, "does not parse", "%s", messages.first);
  bool holds = survives(program, failure);
  sluice_program_free(program);
  return holds;
}

static void try_file(void *user, const char *path)
{
  struct counts *counts = user;
  size_t length = 0;
  char *text = sl_read_file(path, &length);
  struct sl_failure failure = { "", "" };
  struct sl_messages messages;
  sluice_sink sink = sl_messages_sink(&messages);
  sluice_program *program = NULL;
  counts->files++;
  if (!text) {
    sl_fail(&failure, "cannot be read", "%s", path);
  } else if (sluice_program_parse(&program, path, text, length, &sink) != SLUICE_OK) {
    counts->malformed++;
    if (!strstr(path, "/tests/"))
      sl_fail(&failure, "does not parse", "%s", messages.first);
  } else {
    survives(program, &failure);
  }
  if (failure.kind[0]) {
    counts->failed++;
    printf("FAILED: %s: %s: %s\n", path, failure.kind, failure.text);
  }
  sluice_program_free(program);
  free(text);
}

int main(int argc, char **argv)
{
  struct sl_campaign campaign;
  struct counts counts = { 0, 0, 0, 0 };
  sl_campaign_options(&campaign, argc, argv, 2000, 100000);
  counts.failed += sl_campaign_run(&campaign, SL_GENERATE_SYNTAX, kernel_survives, &counts);
  if (!campaign.only_one) {
    campaign.count = (campaign.count + 9) / 10;
    counts.failed += sl_campaign_run(&campaign, SL_GENERATE_SYNC, kernel_survives, &counts);
    sl_each_slu(campaign.source, try_file, &counts);
  }
  int code = sl_campaign_exit_code(&campaign, counts.failed);
  printf("roundtrip: %lu generated kernels, %u files (%u of them malformed on purpose), %u failures\n", counts.kernels,
         counts.files, counts.malformed, counts.failed);
  return code;
}
