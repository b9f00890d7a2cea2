/* test_source.c: from offsets to lines and columns, base/source.h. */
#include "unit.h"

#include <string.h>

#include "base/source.h"

static void expect_place(sl_source *source, sl_loc loc, uint32_t line, uint32_t column)
{
  sl_place place = sl_source_place(source, loc);
  assert_int_equal(place.line, line);
  assert_int_equal(place.column, column);
}

static sl_source make_source(sl_heap *heap, const char *text)
{
  sl_source source;
  sl_source_init(&source, heap, "k.slu", text, strlen(text));
  return source;
}

static void test_places_count_from_one(void **state)
{
  sl_source source = make_source(*state, "ab\n\ncd\n");
  expect_place(&source, 1, 1, 1);
  expect_place(&source, 2, 1, 2);
  expect_place(&source, 3, 1, 3); /* the end of the first line */
  expect_place(&source, 4, 2, 1);
  expect_place(&source, 5, 3, 1);
  expect_place(&source, 7, 3, 3);
  expect_place(&source, 8, 4, 1); /* the end of the file */
}

static void test_no_place_and_no_text(void **state)
{
  sl_source source = make_source(*state, "ab");
  expect_place(&source, SL_NO_LOC, 0, 0);
  sl_source none;
  sl_source_init(&none, *state, "built", NULL, 0);
  expect_place(&none, 1, 0, 0);
  assert_null(sl_source_line(&none, *state, 1));
}

static void test_lines_are_without_their_end(void **state)
{
  sl_source source = make_source(*state, "first\nsecond\r\n\nlast");
  assert_string_equal(sl_source_line(&source, *state, 1), "first");
  assert_string_equal(sl_source_line(&source, *state, 2), "second");
  assert_string_equal(sl_source_line(&source, *state, 3), "");
  assert_string_equal(sl_source_line(&source, *state, 4), "last");
  assert_null(sl_source_line(&source, *state, 0));
  assert_null(sl_source_line(&source, *state, 5));
}

static void test_the_source_keeps_copies(void **state)
{
  char text[] = "abc\ndef", name[] = "k.slu";
  sl_source source;
  sl_source_init(&source, *state, name, text, strlen(text));
  memset(text, 'x', sizeof text - 1);
  memset(name, 'x', sizeof name - 1);
  assert_string_equal(source.text, "abc\ndef");
  assert_string_equal(source.name, "k.slu");
  assert_string_equal(sl_source_line(&source, *state, 2), "def");
}

static void test_every_offset_of_many_lines(void **state)
{
  enum { LINES = 300 };
  char text[LINES * 4];
  for (int i = 0; i < LINES; i++)
    memcpy(text + 4 * i, "abc\n", 4);
  sl_source source;
  sl_source_init(&source, *state, "k.slu", text, sizeof text);
  for (uint32_t offset = 0; offset < sizeof text; offset++)
    expect_place(&source, offset + 1, offset / 4 + 1, offset % 4 + 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    unit_test_with_heap(test_places_count_from_one),
    unit_test_with_heap(test_no_place_and_no_text),
    unit_test_with_heap(test_lines_are_without_their_end),
    unit_test_with_heap(test_the_source_keeps_copies),
    unit_test_with_heap(test_every_offset_of_many_lines),
  };
  return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
