/* test_names.c: interned strings of base/names.h. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/names.h"

static sl_name add(sl_names *names, sl_heap *heap, const char *text)
{
  return sl_names_add(names, heap, text, strlen(text));
}

static void test_equal_strings_have_equal_ids(void **state)
{
  sl_heap *heap = *state;
  sl_names names;
  sl_names_init(&names, heap);
  sl_name pe = add(&names, heap, "pe"), act = add(&names, heap, "act");
  assert_int_not_equal(pe, 0);
  assert_int_not_equal(pe, act);
  assert_int_equal(add(&names, heap, "pe"), pe);
  assert_int_equal(sl_names_add(&names, heap, "pexyz", 2), pe);
  assert_string_equal(sl_names_text(&names, act), "act");
  assert_int_equal(sl_names_length(&names, act), 3);
}

static void test_no_name_is_the_empty_text(void **state)
{
  sl_names names;
  sl_names_init(&names, *state);
  assert_string_equal(sl_names_text(&names, 0), "");
  assert_int_equal(sl_names_length(&names, 0), 0);
}

static void test_find_does_not_add(void **state)
{
  sl_heap *heap = *state;
  sl_names names;
  sl_names_init(&names, heap);
  assert_int_equal(sl_names_find(&names, "pe", 2), 0);
  uint32_t length = names.len;
  sl_name pe = add(&names, heap, "pe");
  assert_int_equal(names.len, length + 1);
  assert_int_equal(sl_names_find(&names, "pe", 2), pe);
  assert_int_equal(sl_names_find(&names, "p", 1), 0);
}

static void test_names_with_nul_and_every_length(void **state)
{
  sl_heap *heap = *state;
  sl_names names;
  sl_names_init(&names, heap);
  char text[100];
  memset(text, 'x', sizeof text);
  sl_name ids[100];
  for (size_t length = 1; length < 100; length++)
    ids[length] = sl_names_add(&names, heap, text, length);
  for (size_t length = 1; length < 100; length++) {
    assert_int_equal(sl_names_find(&names, text, length), ids[length]);
    assert_int_equal(sl_names_length(&names, ids[length]), length);
  }
  sl_name with_nul = sl_names_add(&names, heap, "a\0b", 3);
  assert_int_not_equal(with_nul, sl_names_add(&names, heap, "a\0c", 3));
}

static void test_every_byte_counts_at_every_length(void **state)
{
  sl_heap *heap = *state;
  sl_names names;
  sl_names_init(&names, heap);
  for (size_t length = 1; length < 20; length++) {
    char text[20];
    memset(text, 'x', sizeof text);
    sl_name plain = sl_names_add(&names, heap, text, length);
    for (size_t at = 0; at < length; at++) {
      text[at] = 'y';
      assert_int_equal(sl_names_find(&names, text, length), 0);
      sl_name changed = sl_names_add(&names, heap, text, length);
      assert_int_not_equal(changed, plain);
      assert_int_equal(sl_names_find(&names, text, length), changed);
      text[at] = 'x';
    }
    assert_int_equal(sl_names_find(&names, text, length), plain);
  }
}

static void test_many_names_survive_growth(void **state)
{
  sl_heap *heap = *state;
  enum { COUNT = 20000 };
  static sl_name ids[COUNT];
  sl_names names;
  sl_names_init(&names, heap);
  char text[20];
  for (int i = 0; i < COUNT; i++) {
    snprintf(text, sizeof text, "name%d", i);
    ids[i] = add(&names, heap, text);
  }
  for (int i = 0; i < COUNT; i++) {
    snprintf(text, sizeof text, "name%d", i);
    assert_int_equal(sl_names_find(&names, text, strlen(text)), ids[i]);
    assert_string_equal(sl_names_text(&names, ids[i]), text);
  }
}

static void test_a_copy_is_apart(void **state)
{
  sl_heap *heap = *state;
  sl_names names, copy;
  sl_names_init(&names, heap);
  sl_name pe = add(&names, heap, "pe");
  sl_names_copy(&copy, heap, &names);
  sl_name only_here = add(&names, heap, "act");
  assert_int_equal(sl_names_find(&copy, "pe", 2), pe);
  assert_int_equal(sl_names_find(&copy, "act", 3), 0);
  char text[20];
  for (int i = 0; i < 1000; i++) {
    snprintf(text, sizeof text, "copy%d", i);
    (void)add(&copy, heap, text);
  }
  assert_int_equal(sl_names_find(&names, "copy5", 5), 0);
  assert_string_equal(sl_names_text(&names, only_here), "act");
  assert_string_equal(sl_names_text(&copy, pe), "pe");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    unit_test_with_heap(test_equal_strings_have_equal_ids),
    unit_test_with_heap(test_no_name_is_the_empty_text),
    unit_test_with_heap(test_find_does_not_add),
    unit_test_with_heap(test_names_with_nul_and_every_length),
    unit_test_with_heap(test_every_byte_counts_at_every_length),
    unit_test_with_heap(test_many_names_survive_growth),
    unit_test_with_heap(test_a_copy_is_apart),
  };
  return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
