/* test_buf.c: growing strings of base/buf.h. */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static void test_an_empty_buffer_is_the_empty_text(void **state)
{
  sl_buf buf;
  sl_buf_init(&buf, *state);
  assert_string_equal(sl_buf_text(&buf), "");
  sl_buf_add(&buf, NULL, 0);
  sl_buf_fill(&buf, 'x', 0);
  assert_int_equal(buf.len, 0);
}

static void test_pieces_join(void **state)
{
  sl_buf buf;
  sl_buf_init(&buf, *state);
  sl_buf_puts(&buf, "wait ");
  sl_buf_putc(&buf, 's');
  sl_buf_fill(&buf, ' ', 2);
  sl_buf_add(&buf, ">= garbage", 3);
  sl_buf_int(&buf, 42);
  sl_buf_printf(&buf, " %s %d", "inc", 7);
  assert_string_equal(sl_buf_text(&buf), "wait s  >= 42 inc 7");
  /* Reading the text in between changes nothing. */
  sl_buf_putc(&buf, '!');
  assert_string_equal(sl_buf_text(&buf), "wait s  >= 42 inc 7!");
}

static void test_integers_print_as_printf_does(void **state)
{
  static const int64_t values[] = { 0, 1, -1, 9, 10, -10, 1234567890123, INT64_MAX, INT64_MIN, INT64_MIN + 1 };
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    char expected[32];
    snprintf(expected, sizeof expected, "%" PRId64, values[i]);
    sl_buf buf;
    sl_buf_init(&buf, *state);
    sl_buf_int(&buf, values[i]);
    assert_string_equal(sl_buf_text(&buf), expected);
  }
}

static void test_long_text_grows(void **state)
{
  sl_buf buf;
  sl_buf_init(&buf, *state);
  for (int i = 0; i < 10000; i++)
    sl_buf_printf(&buf, "%04d", i);
  const char *text = sl_buf_text(&buf);
  assert_int_equal(strlen(text), 40000);
  for (int i = 0; i < 10000; i++) {
    char digits[5] = { text[4 * i], text[4 * i + 1], text[4 * i + 2], text[4 * i + 3], 0 };
    assert_int_equal(strtol(digits, NULL, 10), i);
  }
}

static void test_one_long_format(void **state)
{
  char long_text[5001];
  memset(long_text, 'a', 5000);
  long_text[5000] = '\0';
  sl_buf buf;
  sl_buf_init(&buf, *state);
  sl_buf_printf(&buf, "<%s>", long_text);
  assert_int_equal(strlen(sl_buf_text(&buf)), 5002);
}

static void test_export_outlives_the_heap(void **state)
{
  sl_heap *heap = *state;
  sl_buf buf;
  sl_buf_init(&buf, heap);
  char *empty = sl_buf_export(&buf);
  assert_string_equal(empty, "");
  sl_buf_puts(&buf, "kept");
  char *text = sl_buf_export(&buf);
  sl_heap_free_all(heap);
  assert_string_equal(text, "kept");
  free(text);
  free(empty);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    unit_test_with_heap(test_an_empty_buffer_is_the_empty_text),
    unit_test_with_heap(test_pieces_join),
    unit_test_with_heap(test_integers_print_as_printf_does),
    unit_test_with_heap(test_long_text_grows),
    unit_test_with_heap(test_one_long_format),
    unit_test_with_heap(test_export_outlives_the_heap),
  };
  return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
