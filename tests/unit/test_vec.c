/* test_vec.c: growing arrays of base/vec.h. */
#include "unit.h"

#include <sluice/base.h>

#include "base/vec.h"

struct pair {
  uint32_t a, b;
};

static void test_push_appends_zeroed_elements(void **state)
{
  sl_heap *heap = *state;
  sl_vec(struct pair) pairs = { 0 };
  for (uint32_t i = 0; i < 1000; i++) {
    struct pair *pair = sl_vec_push(heap, &pairs);
    assert_int_equal(pair->a, 0);
    assert_int_equal(pair->b, 0);
    pair->a = i;
    pair->b = i * 3;
  }
  assert_int_equal(pairs.len, 1000);
  for (uint32_t i = 0; i < 1000; i++) {
    assert_int_equal(pairs.data[i].a, i);
    assert_int_equal(pairs.data[i].b, i * 3);
  }
}

static void test_push_zeroes_room_that_was_used_before(void **state)
{
  sl_heap *heap = *state;
  sl_vec(uint32_t) numbers = { 0 };
  sl_vec_add(heap, &numbers, 7u);
  numbers.len = 0;
  assert_int_equal(*sl_vec_push(heap, &numbers), 0);
}

static void test_extend_returns_the_first_index(void **state)
{
  sl_heap *heap = *state;
  sl_vec(uint32_t) numbers = { 0 };
  uint32_t nothing = 0;
  sl_vec_add(heap, &numbers, 5u);
  assert_int_equal(sl_vec_extend(heap, &numbers, 300), 1);
  assert_int_equal(sl_vec_extend(heap, &numbers, nothing), 301);
  assert_int_equal(numbers.len, 301);
  assert_int_equal(numbers.data[0], 5);
  for (uint32_t i = 1; i < 301; i++)
    assert_int_equal(numbers.data[i], 0);
}

static void test_growth_is_amortized(void **state)
{
  sl_heap *heap = *state;
  sl_vec(uint32_t) numbers = { 0 };
  unsigned moves = 0;
  for (uint32_t i = 0; i < 100000; i++) {
    uint32_t room = numbers.cap;
    sl_vec_add(heap, &numbers, i);
    moves += numbers.cap != room;
  }
  assert_in_range(moves, 1, 40);
}

static void test_copy_is_equal_and_apart(void **state)
{
  sl_heap *heap = *state;
  sl_vec(uint32_t) from = { 0 };
  for (uint32_t i = 0; i < 10; i++)
    sl_vec_add(heap, &from, i);
  sl_vec(uint32_t) to = { 0 }, none = { 0 }, empty = { 0 };
  sl_vec_copy(heap, &to, &from);
  assert_int_equal(to.len, 10);
  assert_memory_equal(to.data, from.data, 10 * sizeof *to.data);
  from.data[0] = 99;
  assert_int_equal(to.data[0], 0);
  sl_vec_copy(heap, &none, &empty);
  assert_int_equal(none.len, 0);
}

static void test_free_makes_it_empty(void **state)
{
  sl_heap *heap = *state;
  sl_vec(uint32_t) numbers = { 0 };
  sl_vec_add(heap, &numbers, 1u);
  sl_vec_free(heap, &numbers);
  assert_null(numbers.data);
  assert_int_equal(numbers.len, 0);
  assert_null(heap->blocks);
}

static int grow_beyond_32_bits(void *arg)
{
  sl_heap *heap = arg;
  sl_vec(uint64_t) numbers = { 0 };
  sl_vec_add(heap, &numbers, 1u);
  sl_vec_reserve(heap, &numbers, UINT32_MAX);
  return SLUICE_OK;
}

static void test_more_than_32_bits_of_elements_is_out_of_memory(void **state)
{
  (void)state;
  sl_guard guard;
  sl_heap heap;
  sl_heap_init(&heap, &guard);
  assert_int_equal(sl_guard_run(&guard, grow_beyond_32_bits, &heap), SLUICE_E_NO_MEMORY);
  sl_heap_free_all(&heap);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    unit_test_with_heap(test_push_appends_zeroed_elements),
    unit_test_with_heap(test_push_zeroes_room_that_was_used_before),
    unit_test_with_heap(test_extend_returns_the_first_index),
    unit_test_with_heap(test_growth_is_amortized),
    unit_test_with_heap(test_copy_is_equal_and_apart),
    unit_test_with_heap(test_free_makes_it_empty),
    cmocka_unit_test(test_more_than_32_bits_of_elements_is_out_of_memory),
  };
  return cmocka_run_group_tests_name("vec", tests, NULL, NULL);
}
