/* deps_fuzz.c: any bytes to the parser and the verifier; of what they accept the dependences are found, each one's ends are
 * explained, and waits are made for them. All of that must end, refuse only with an error, and say the same of the same; what is
 * synchronized must verify, also after printing and reading.
 */
#include <sluice/sluice.h>

#include <sluice/deps.h>
#include <sluice/sync.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { EXPLAINED_MAX = 8 };

static void fail(const char *what, const char *text)
{
  fprintf(stderr, "%s\n%s\n", what, text);
  abort();
}

static void require_reported(const char *what, int status, size_t errors)
{
  bool is_answer = status == SLUICE_OK || status == SLUICE_E_INPUT || status == SLUICE_E_ANSWER;
  if (!is_answer || (status == SLUICE_OK) != (errors == 0))
    fail("the status does not fit the errors reported", what);
}

/* ---- dependences ---- */

static void require_sound(const sluice_deps_result *result)
{
  size_t edges, instructions, blocks;
  const sluice_dep *dep = sluice_deps_edges(result, &edges);
  (void)sluice_deps_instructions(result, &instructions);
  (void)sluice_deps_blocks(result, &blocks);
  for (size_t i = 0; i < edges; i++) {
    if (dep[i].producer.instruction >= instructions || dep[i].consumer.instruction >= instructions ||
        dep[i].block >= blocks || (dep[i].is_vector && dep[i].inner_block >= blocks))
      fail("a dependence names what there is not", dep[i].text);
    for (size_t n = 0; n < dep[i].path_length; n++)
      if (dep[i].path[n] >= edges)
        fail("a dependence is implied by one that there is not", dep[i].text);
  }
}

static void require_same(const sluice_deps_result *a, const sluice_deps_result *b)
{
  size_t count, other_count;
  const sluice_dep *dep = sluice_deps_edges(a, &count), *other = sluice_deps_edges(b, &other_count);
  if (count != other_count)
    fail("found twice, another number of dependences", "");
  for (size_t i = 0; i < count; i++)
    if (dep[i].status != other[i].status || strcmp(dep[i].text, other[i].text) != 0 ||
        strcmp(dep[i].overlap.text, other[i].overlap.text) != 0)
      fail("found twice, another dependence", dep[i].text);
}

static void explain(const sluice_deps_result *result, const sluice_program *program, size_t kernel,
                    const sluice_targets *targets)
{
  size_t count, instruction_count;
  const sluice_dep *dep = sluice_deps_edges(result, &count);
  const sluice_deps_instruction *instructions = sluice_deps_instructions(result, &instruction_count);
  for (size_t i = 0; i < count && i < EXPLAINED_MAX; i++) {
    size_t errors = 0;
    sluice_sink sink = { count_error, &errors };
    char *text;
    int status = sluice_deps_explain(&text, program, kernel, instructions[dep[i].producer.instruction].name,
                                     instructions[dep[i].consumer.instruction].name, targets, &sink);
    require_reported("explain", status, errors); /* refused: it has no label */
    if (status == SLUICE_OK)
      sluice_string_free(text);
  }
}

static int find_dependences(sluice_deps_result **result, const sluice_program *program, size_t kernel,
                            const sluice_targets *targets)
{
  size_t errors = 0;
  sluice_sink sink = { count_error, &errors };
  sluice_deps_options options = SLUICE_DEPS_OPTIONS_INIT;
  int status = sluice_deps(result, program, kernel, targets, &options, &sink);
  require_reported("deps", status, errors);
  return status;
}

static void check_dependences(const sluice_program *program, size_t kernel, const sluice_targets *targets)
{
  sluice_deps_result *result, *again;
  int status = find_dependences(&result, program, kernel, targets);
  if (status != SLUICE_OK)
    return;
  require_sound(result);
  if (find_dependences(&again, program, kernel, targets) != SLUICE_OK)
    fail("found once, then refused", "");
  require_same(result, again);
  explain(result, program, kernel, targets);
  sluice_deps_result_free(again);
  sluice_deps_result_free(result);
}

/* ---- synchronization ---- */

static void check_synchronized(const sluice_program *synced, const sluice_targets *targets)
{
  char *text;
  size_t length, errors = 0;
  sluice_sink sink = { count_error, &errors };
  sluice_program *again;
  if (sluice_program_print(&text, &length, synced) != SLUICE_OK)
    abort();
  if (sluice_program_parse(&again, "synced", text, length, &sink) != SLUICE_OK)
    fail("synchronized and not read", text);
  if (sluice_program_verify(again, targets, &sink) != SLUICE_OK)
    fail("synchronized, and then refused", text);
  sluice_program_free(again);
  sluice_string_free(text);
}

static void synchronize(const sluice_program *program, const sluice_targets *targets)
{
  size_t errors = 0;
  sluice_sink sink = { count_error, &errors };
  sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  sluice_program *synced;
  options.resync = true;
  int status = sluice_sync(&synced, program, targets, &options, &sink);
  require_reported("sync", status, errors);
  if (status != SLUICE_OK)
    return;
  check_synchronized(synced, targets);
  sluice_program_free(synced);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const sluice_targets *targets = fuzz_targets();
  sluice_program *program = read_verified(data, size);
  if (program) {
    for (size_t kernel = 0; kernel < sluice_program_kernel_count(program); kernel++)
      check_dependences(program, kernel, targets);
    synchronize(program, targets);
  }
  sluice_program_free(program);
  return 0;
}
