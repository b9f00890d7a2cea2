/* json_fuzz.c: any bytes as JSON. What is accepted must survive every way around: JSON to JSON, and through the text.
 * Ours and jansson's reader must also agree on what is JSON.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sluice/sluice.h>

#include "base/json.h"

#define REQUIRE(condition)                                      \
  do {                                                          \
    if (!(condition)) {                                         \
      fprintf(stderr, "json_fuzz: not true: %s\n", #condition); \
      abort();                                                  \
    }                                                           \
  } while (0)

/* ---- the reader against jansson ---- */

struct read_call {
  sl_heap *heap;
  const char *text;
  size_t length;
};

static int read_guarded(void *arg)
{
  struct read_call *call = arg;
  sl_json json;
  sl_source source;
  sl_report report;
  sl_source_init(&source, call->heap, "fuzz", call->text, call->length);
  sl_report_init(&report, call->heap, NULL, &source);
  return sl_json_read(&json, call->heap, source.text, source.length, &report);
}

static bool is_json(const char *text, size_t length)
{
  sl_guard guard;
  sl_heap heap;
  sl_heap_init(&heap, &guard);
  struct read_call call = { &heap, text, length };
  int answer = sl_guard_run(&guard, read_guarded, &call);
  sl_heap_free_all(&heap);
  REQUIRE(answer >= 0);
  return answer != 0;
}

static void compare_with_jansson(const char *text, size_t length)
{
  json_error_t error;
  if (memchr(text, '\0', length))
    return; /* jansson takes a NUL behind the value for the end of the text */
  json_t *value = json_loadb(text, length, JSON_DECODE_ANY, &error);
  /* Limits differ: of a double, which ours does not make, and of depth, where jansson counts simple values too. */
  bool is_limit = !value && (json_error_code(&error) == json_error_numeric_overflow ||
                             json_error_code(&error) == json_error_stack_overflow);
  if (!is_limit)
    REQUIRE(is_json(text, length) == (value != NULL));
  json_decref(value);
}

/* ---- around ---- */

static sluice_program *reread(char *text, size_t length, bool json)
{
  sluice_program *program;
  int status = json ? sluice_program_parse_json(&program, "again", text, length, NULL)
                    : sluice_program_parse(&program, "again", text, length, NULL);
  REQUIRE(status == SLUICE_OK);
  sluice_string_free(text);
  return program;
}

static void require_equal(const sluice_program *a, sluice_program *b)
{
  const char *why = "";
  if (!sluice_program_equal(a, b, &why))
    fprintf(stderr, "json_fuzz: differs: %s\n", why);
  REQUIRE(sluice_program_equal(a, b, NULL));
  sluice_program_free(b);
}

static void go_around(const sluice_program *program)
{
  char *text;
  size_t length;
  REQUIRE(sluice_program_print_json(&text, &length, program) == SLUICE_OK);
  require_equal(program, reread(text, length, true));
  REQUIRE(sluice_program_print(&text, &length, program) == SLUICE_OK);
  require_equal(program, reread(text, length, false));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *text = (const char *)data;
  sluice_program *program;
  compare_with_jansson(text, size);
  if (sluice_program_parse_json(&program, "fuzz", text, size, NULL) != SLUICE_OK)
    return 0;
  go_around(program);
  sluice_program_free(program);
  return 0;
}
