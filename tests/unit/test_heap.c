/* test_heap.c: blocks, arenas and guards of base/heap.h. Leaks and overruns show in the sanitized build. */
#include "unit.h"

#include <string.h>

#include <sluice/base.h>

static void test_blocks_keep_their_content(void **state)
{
  sl_heap *heap = *state;
  char *blocks[50];
  for (int i = 0; i < 50; i++) {
    blocks[i] = sl_heap_alloc(heap, (size_t)i + 1);
    memset(blocks[i], i, (size_t)i + 1);
    assert_int_equal((uintptr_t)blocks[i] % 16, 0);
  }
  for (int i = 0; i < 50; i++)
    for (int k = 0; k <= i; k++)
      assert_int_equal(blocks[i][k], i);
}

static void test_calloc_is_zero(void **state)
{
  uint32_t *numbers = sl_heap_calloc(*state, 1000, sizeof *numbers);
  for (int i = 0; i < 1000; i++)
    assert_int_equal(numbers[i], 0);
}

static void test_realloc_keeps_the_start(void **state)
{
  sl_heap *heap = *state;
  char *text = sl_heap_realloc(heap, NULL, 4);
  memcpy(text, "abc", 4);
  char *other = sl_heap_alloc(heap, 16);
  text = sl_heap_realloc(heap, text, 100000);
  assert_string_equal(text, "abc");
  sl_heap_free(heap, other);
  text = sl_heap_realloc(heap, text, 4);
  assert_string_equal(text, "abc");
}

static void test_free_in_any_order(void **state)
{
  sl_heap *heap = *state;
  void *first = sl_heap_alloc(heap, 1), *second = sl_heap_alloc(heap, 1), *third = sl_heap_alloc(heap, 1);
  sl_heap_free(heap, second);
  sl_heap_free(heap, third);
  sl_heap_free(heap, first);
  sl_heap_free(heap, NULL);
  assert_null(heap->blocks);
}

static void test_free_all_leaves_an_empty_heap(void **state)
{
  sl_heap *heap = *state;
  for (int i = 0; i < 10; i++)
    (void)sl_heap_arena(heap, 100);
  sl_heap_free_all(heap);
  assert_null(heap->blocks);
  char *again = sl_heap_arena(heap, 8);
  assert_int_equal(again[7], 0);
}

static void test_arena_objects_are_zero_aligned_and_apart(void **state)
{
  sl_heap *heap = *state;
  enum { COUNT = 500 };
  static unsigned char *objects[COUNT];
  static const size_t sizes[] = { 1, 16, 17, 1000, 20000, 100000 };
  for (int i = 0; i < COUNT; i++) {
    size_t size = sizes[i % 6];
    objects[i] = sl_heap_arena(heap, size);
    assert_int_equal((uintptr_t)objects[i] % 16, 0);
    for (size_t k = 0; k < size; k++)
      assert_int_equal(objects[i][k], 0);
    memset(objects[i], 1 + i % 255, size);
  }
  for (int i = 0; i < COUNT; i++) {
    assert_int_equal(objects[i][0], 1 + i % 255);
    assert_int_equal(objects[i][sizes[i % 6] - 1], 1 + i % 255);
  }
  assert_non_null(sl_heap_arena(heap, 0));
}

static void test_strndup_ends_the_string(void **state)
{
  assert_string_equal(sl_heap_strndup(*state, "abcdef", 3), "abc");
  assert_string_equal(sl_heap_strndup(*state, "", 0), "");
}

static void test_a_child_ends_alone(void **state)
{
  sl_heap *heap = *state;
  sl_heap *first = sl_heap_child_new(heap), *second = sl_heap_child_new(heap), *third = sl_heap_child_new(heap);
  char *kept = sl_heap_strndup(third, "kept", 4);
  (void)sl_heap_alloc(second, 100);
  (void)sl_heap_child_new(second);
  sl_heap_child_free(second);
  sl_heap_child_free(first);
  assert_string_equal(kept, "kept");
  assert_ptr_equal(heap->children, third);
  sl_heap_child_free(third);
  assert_null(heap->children);
  assert_null(heap->blocks);
}

static void test_children_end_with_their_parent(void **state)
{
  sl_heap *heap = *state;
  sl_heap *child = sl_heap_child_new(heap);
  sl_heap *grandchild = sl_heap_child_new(child);
  (void)sl_heap_arena(grandchild, 100000);
  (void)sl_heap_alloc(child, 10);
  sl_heap_free_all(heap);
  assert_null(heap->children);
  assert_null(heap->blocks);
}

struct call {
  sl_heap *heap;
  sl_guard *inner_guard;
  size_t size;
  int inner_status, reached_end;
};

static int allocate(void *arg)
{
  struct call *call = arg;
  (void)sl_heap_alloc(call->heap, 10);
  (void)sl_heap_alloc(call->heap, call->size);
  call->reached_end = 1;
  return SLUICE_E_INPUT;
}

static void test_guard_hands_the_answer_through(void **state)
{
  (void)state;
  sl_guard guard;
  sl_heap heap;
  sl_heap_init(&heap, &guard);
  struct call call = { .heap = &heap, .size = 10 };
  assert_int_equal(sl_guard_run(&guard, allocate, &call), SLUICE_E_INPUT);
  assert_int_equal(call.reached_end, 1);
  sl_heap_free_all(&heap);
}

static void test_guard_catches_a_failed_allocation(void **state)
{
  (void)state;
  sl_guard guard;
  sl_heap heap;
  sl_heap_init(&heap, &guard);
  struct call call = { .heap = &heap, .size = SIZE_MAX };
  assert_int_equal(sl_guard_run(&guard, allocate, &call), SLUICE_E_NO_MEMORY);
  assert_int_equal(call.reached_end, 0);
  /* What was taken before the failure still belongs to the heap. */
  assert_non_null(heap.blocks);
  sl_heap_free_all(&heap);
}

static int allocate_with_inner_guard(void *arg)
{
  struct call *call = arg;
  sl_heap inner;
  sl_heap_init(&inner, call->inner_guard);
  struct call inner_call = { .heap = &inner, .size = SIZE_MAX };
  call->inner_status = sl_guard_run(call->inner_guard, allocate, &inner_call);
  sl_heap_free_all(&inner);
  (void)sl_heap_alloc(call->heap, call->size);
  call->reached_end = 1;
  return SLUICE_OK;
}

static void test_guards_nest(void **state)
{
  (void)state;
  sl_guard outer, inner;
  sl_heap heap;
  sl_heap_init(&heap, &outer);
  struct call call = { .heap = &heap, .inner_guard = &inner, .size = 10 };
  assert_int_equal(sl_guard_run(&outer, allocate_with_inner_guard, &call), SLUICE_OK);
  assert_int_equal(call.inner_status, SLUICE_E_NO_MEMORY);
  assert_int_equal(call.reached_end, 1);

  /* After an inner failure the outer guard still catches its own. */
  call.size = SIZE_MAX;
  call.reached_end = 0;
  assert_int_equal(sl_guard_run(&outer, allocate_with_inner_guard, &call), SLUICE_E_NO_MEMORY);
  assert_int_equal(call.reached_end, 0);
  sl_heap_free_all(&heap);
}

static int fail_each_size(void *arg)
{
  struct call *call = arg;
  switch (call->size) {
  case 0: (void)sl_heap_calloc(call->heap, SIZE_MAX / 2, 16); break;
  case 1: (void)sl_heap_realloc(call->heap, sl_heap_alloc(call->heap, 8), SIZE_MAX - 4); break;
  case 2: (void)sl_heap_arena(call->heap, SIZE_MAX - 2); break;
  default: (void)sl_heap_alloc(call->heap, SIZE_MAX - 8); break;
  }
  return SLUICE_OK;
}

static void test_sizes_that_overflow_fail(void **state)
{
  (void)state;
  sl_guard guard;
  sl_heap heap;
  sl_heap_init(&heap, &guard);
  for (size_t which = 0; which < 4; which++) {
    struct call call = { .heap = &heap, .size = which };
    assert_int_equal(sl_guard_run(&guard, fail_each_size, &call), SLUICE_E_NO_MEMORY);
  }
  sl_heap_free_all(&heap);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    unit_test_with_heap(test_blocks_keep_their_content),
    unit_test_with_heap(test_calloc_is_zero),
    unit_test_with_heap(test_realloc_keeps_the_start),
    unit_test_with_heap(test_free_in_any_order),
    unit_test_with_heap(test_free_all_leaves_an_empty_heap),
    unit_test_with_heap(test_arena_objects_are_zero_aligned_and_apart),
    unit_test_with_heap(test_strndup_ends_the_string),
    unit_test_with_heap(test_a_child_ends_alone),
    unit_test_with_heap(test_children_end_with_their_parent),
    cmocka_unit_test(test_guard_hands_the_answer_through),
    cmocka_unit_test(test_guard_catches_a_failed_allocation),
    cmocka_unit_test(test_guards_nest),
    cmocka_unit_test(test_sizes_that_overflow_fail),
  };
  return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}
