/* test_map.c: hash map of base/map.h. */
#include "unit.h"

#include "base/map.h"

static void test_an_empty_map_has_nothing(void **state)
{
  (void)state;
  sl_map map = { 0 };
  assert_null(sl_map_get(&map, 0));
  assert_null(sl_map_get(&map, UINT64_MAX));
}

static void test_put_tells_what_is_new(void **state)
{
  sl_heap *heap = *state;
  sl_map map = { 0 };
  bool is_new;
  uint32_t *value = sl_map_put(&map, heap, 0, &is_new);
  assert_true(is_new);
  assert_int_equal(*value, 0);
  *value = 17;
  assert_int_equal(*sl_map_put(&map, heap, 0, &is_new), 17);
  assert_false(is_new);
  assert_int_equal(*sl_map_put(&map, heap, 0, NULL), 17);
  assert_int_equal(map.len, 1);
  assert_int_equal(*sl_map_get(&map, 0), 17);
  assert_null(sl_map_get(&map, 1));
}

/* Keys that agree in their low or in their high half must not meet in one place. */
static void test_keys_of_every_shape(void **state)
{
  sl_heap *heap = *state;
  enum { COUNT = 5000 };
  sl_map map = { 0 };
  for (uint32_t i = 0; i < COUNT; i++) {
    *sl_map_put(&map, heap, sl_map_pair(i, 0), NULL) = i + 1;
    *sl_map_put(&map, heap, sl_map_pair(0x80000000u, i), NULL) = i + 2;
    *sl_map_put(&map, heap, sl_map_pair(i + COUNT, i), NULL) = i + 3;
  }
  assert_int_equal(map.len, 3 * COUNT);
  for (uint32_t i = 0; i < COUNT; i++) {
    assert_int_equal(*sl_map_get(&map, sl_map_pair(i, 0)), i + 1);
    assert_int_equal(*sl_map_get(&map, sl_map_pair(0x80000000u, i)), i + 2);
    assert_int_equal(*sl_map_get(&map, sl_map_pair(i + COUNT, i)), i + 3);
    assert_null(sl_map_get(&map, sl_map_pair(0x40000000u, i)));
  }
}

static void test_free_makes_it_empty(void **state)
{
  sl_heap *heap = *state;
  sl_map map = { 0 };
  *sl_map_put(&map, heap, 5, NULL) = 1;
  sl_map_free(&map, heap);
  assert_null(sl_map_get(&map, 5));
  assert_null(heap->blocks);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    unit_test_with_heap(test_an_empty_map_has_nothing),
    unit_test_with_heap(test_put_tells_what_is_new),
    unit_test_with_heap(test_keys_of_every_shape),
    unit_test_with_heap(test_free_makes_it_empty),
  };
  return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
