/* test_json.c: the JSON reader and writer of base/json.h. */
#include "unit.h"

#include <jansson.h>
#include <string.h>

#include "base/json.h"

struct seen {
  char text[200];
  uint32_t line, column;
  int count;
};

static void keep(void *user, const sluice_diag *diag)
{
  struct seen *seen = user;
  if (seen->count++ == 0) {
    snprintf(seen->text, sizeof seen->text, "%s", diag->text);
    seen->line = diag->line;
    seen->column = diag->column;
  }
}

static bool read_text(sl_json *json, sl_heap *heap, const char *text, size_t length, struct seen *seen)
{
  const sluice_sink sink = { keep, seen };
  sl_source *source = sl_heap_alloc(heap, sizeof *source);
  sl_report report;
  memset(seen, 0, sizeof *seen);
  sl_source_init(source, heap, "t.json", text, length);
  sl_report_init(&report, heap, &sink, source);
  bool ok = sl_json_read(json, heap, source->text, source->length, &report);
  assert_int_equal(ok, seen->count == 0);
  return ok;
}

static void test_values_and_their_places(void **state)
{
  struct seen seen;
  sl_json json;
  const char *text = "{\"a\": [1, -9223372036854775808, 1.50, \"\\u00e9\\ud83d\\ude00\\n\"],\n \"b\": {}, \"c\": null}";
  assert_true(read_text(&json, *state, text, strlen(text), &seen));
  const struct sl_json_node *root = sl_json_at(&json, SL_JSON_ROOT);
  assert_int_equal(root->kind, SL_JSON_OBJECT);
  assert_int_equal(root->count, 3);
  uint32_t a = root->u.first, b = sl_json_at(&json, a)->next, c = sl_json_at(&json, b)->next;
  assert_string_equal(sl_json_key(&json, a), "a");
  assert_int_equal(sl_json_at(&json, a)->key_loc, 2);
  assert_int_equal(sl_json_at(&json, a)->loc, 7);
  assert_int_equal(sl_json_at(&json, b)->loc, strstr(text, "{}") - text + 1);
  assert_int_equal(sl_json_at(&json, c)->kind, SL_JSON_NULL);
  assert_int_equal(sl_json_at(&json, c)->next, 0);
  uint32_t one = sl_json_at(&json, a)->u.first, least = sl_json_at(&json, one)->next;
  uint32_t fraction = sl_json_at(&json, least)->next, string = sl_json_at(&json, fraction)->next;
  assert_int_equal(sl_json_at(&json, one)->u.integer, 1);
  assert_true(sl_json_at(&json, least)->u.integer == INT64_MIN);
  assert_string_equal(sl_json_string(&json, fraction), "1.50");
  assert_string_equal(sl_json_string(&json, string), "\xc3\xa9\xf0\x9f\x98\x80\n");
  assert_int_equal(sl_json_at(&json, string)->count, 7);
}

/* The first error and its place. */
static void test_errors(void **state)
{
  static const struct {
    const char *text, *message;
    uint32_t line, column;
  } cases[] = {
    { "", "expected a value, found the end of the text", 1, 1 },
    { "{\"a\": 1,}", "expected a key in quotes, found '}'", 1, 9 },
    { "[1,\n2 3]", "expected ',' or ']', found '3'", 2, 3 },
    { "[tru]", "expected a value, found 't'", 1, 2 },
    { "\"a", "expected the end of the string, found the end of the text", 1, 3 },
    { "\"a\tb\"", "expected the end of the string, found byte 0x09", 1, 3 },
    { "-", "expected a digit, found the end of the text", 1, 2 },
    { "1e", "expected a digit, found the end of the text", 1, 3 },
    { "-9223372036854775809", "the integer does not fit 64 bits", 1, 1 },
    { "\"\\u12g4\"", "expected four hexadecimal digits, found 'g'", 1, 6 },
    { "\"\\udc00\"", "half a surrogate pair", 1, 2 },
    { "\"\xc0\x80\"", "expected well-formed UTF-8, found byte 0xc0", 1, 2 },
    { "\"\xed\xa0\x80\"", "expected well-formed UTF-8, found byte 0xed", 1, 2 },
    { "\"\xf4\x90\x80\x80\"", "expected well-formed UTF-8, found byte 0xf4", 1, 2 },
    { "\xef\xbb\xbf{}", "expected a value, found byte 0xef", 1, 1 },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct seen seen;
    sl_json json;
    assert_false(read_text(&json, *state, cases[i].text, strlen(cases[i].text), &seen));
    assert_string_equal(seen.text, cases[i].message);
    assert_int_equal(seen.line, cases[i].line);
    assert_int_equal(seen.column, cases[i].column);
    assert_int_equal(seen.count, 1);
  }
}

static void test_depth_has_a_limit(void **state)
{
  enum { DEEP = SL_JSON_DEPTH + 1 };
  char text[2 * DEEP];
  struct seen seen;
  sl_json json;
  memset(text, '[', DEEP);
  memset(text + DEEP, ']', DEEP);
  assert_true(read_text(&json, *state, text + 1, 2 * SL_JSON_DEPTH, &seen));
  assert_false(read_text(&json, *state, text, 2 * DEEP, &seen));
  assert_non_null(strstr(seen.text, "nests deeper"));
}

/* Every text of up to four characters of JSON's alphabet: ours and jansson's reader agree on what is JSON. */
static void test_agrees_with_jansson(void **state)
{
  static const char alphabet[] = "[]{},:\"\\u1-0.e t\n";
  enum { LETTERS = sizeof alphabet - 1, LONGEST = 4 };
  uint64_t total = 0, accepted = 0;
  (void)state;
  for (size_t length = 1; length <= LONGEST; length++) {
    uint64_t count = 1;
    for (size_t i = 0; i < length; i++)
      count *= LETTERS;
    for (uint64_t number = 0; number < count; number++, total++) {
      char text[LONGEST];
      uint64_t rest = number;
      for (size_t i = 0; i < length; i++, rest /= LETTERS)
        text[i] = alphabet[rest % LETTERS];
      struct unit_heap unit;
      sl_heap_init(&unit.heap, &unit.guard);
      struct seen seen;
      sl_json json;
      bool ours = read_text(&json, &unit.heap, text, length, &seen);
      sl_heap_free_all(&unit.heap);
      json_t *theirs = json_loadb(text, length, JSON_DECODE_ANY, NULL);
      if (ours != (theirs != NULL))
        fail_msg("'%.*s': ours %d, jansson's %d", (int)length, text, ours, theirs != NULL);
      accepted += ours;
      json_decref(theirs);
    }
  }
  assert_true(accepted > 500 && accepted < total / 10);
}

static void test_writing(void **state)
{
  sl_buf buf;
  sl_json_writer writer;
  sl_buf_init(&buf, *state);
  sl_json_writer_init(&writer, &buf);
  sl_json_open(&writer, NULL, '{', false);
  sl_json_put_text(&writer, "s", "a\"\\\n\x01\xc3\xa9\xff");
  sl_json_open(&writer, "line", '[', true);
  sl_json_put_int(&writer, NULL, INT64_MIN);
  sl_json_open(&writer, NULL, '{', false);
  sl_json_put_bool(&writer, "t", true);
  sl_json_put_null(&writer, "n");
  sl_json_close(&writer, '}');
  sl_json_close(&writer, ']');
  sl_json_open(&writer, "empty", '[', false);
  sl_json_close(&writer, ']');
  sl_json_close(&writer, '}');
  assert_string_equal(sl_buf_text(&buf), "{\n"
                                         "  \"s\": \"a\\\"\\\\\\u000a\\u0001\xc3\xa9\xef\xbf\xbd\",\n"
                                         "  \"line\": [-9223372036854775808, {\"t\": true, \"n\": null}],\n"
                                         "  \"empty\": []\n"
                                         "}");
  json_t *read = json_loads(sl_buf_text(&buf), 0, NULL);
  assert_non_null(read);
  json_decref(read);
}

/* Short where that is exact, and what is written is what is read again. */
static void test_writing_fractions(void **state)
{
  static const struct {
    double value;
    const char *text;
  } cases[] = {
    { 4.8, "4.8" },           { 0, "0" }, { -0.1, "-0.1" }, { 1e300, "1e+300" }, { 1.0 / 3, "0.33333333333333331" },
    { 16777217, "16777217" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    sl_buf buf;
    sl_json_writer writer;
    sl_buf_init(&buf, *state);
    sl_json_writer_init(&writer, &buf);
    sl_json_put_real(&writer, NULL, cases[i].value);
    assert_string_equal(sl_buf_text(&buf), cases[i].text);
    json_t *read = json_loads(sl_buf_text(&buf), JSON_DECODE_ANY, NULL);
    double value = json_number_value(read);
    assert_memory_equal(&value, &cases[i].value, sizeof value);
    json_decref(read);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    unit_test_with_heap(test_values_and_their_places),
    unit_test_with_heap(test_errors),
    unit_test_with_heap(test_depth_has_a_limit),
    cmocka_unit_test(test_agrees_with_jansson),
    unit_test_with_heap(test_writing),
    unit_test_with_heap(test_writing_fractions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
