/* heap.c: see heap.h. Every operation is O(1) beside malloc's own work. */
#if defined(__linux__)
#define _DEFAULT_SOURCE /* madvise */
#endif
#include "base/heap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14; older kernels refuse it */
#endif
#endif

#include <sluice/base.h>

struct sl_heap_block {
  _Alignas(16) struct sl_heap_block *next;
  struct sl_heap_block *prev;
};

enum { ARENA_CHUNK = 64 * 1024, ARENA_ALIGN = 16 };

void sl_heap_init(sl_heap *heap, sl_guard *guard)
{
  memset(heap, 0, sizeof *heap);
  heap->guard = guard;
}

sl_heap *sl_heap_child_new(sl_heap *parent)
{
  sl_heap *child = sl_heap_alloc(parent, sizeof *child);
  sl_heap_init(child, parent->guard);
  child->parent = parent;
  child->next_child = parent->children;
  parent->children = child;
  return child;
}

void sl_heap_child_free(sl_heap *child)
{
  sl_heap *parent = child->parent;
  sl_heap **link = &parent->children;
  while (*link != child)
    link = &(*link)->next_child;
  *link = child->next_child;
  sl_heap_free_all(child);
  sl_heap_free(parent, child);
}

void sl_heap_free_all(sl_heap *heap)
{
  for (sl_heap *child = heap->children; child; child = child->next_child)
    sl_heap_free_all(child);
  heap->children = NULL;
  struct sl_heap_block *block = heap->blocks;
  while (block) {
    struct sl_heap_block *next = block->next;
    free(block);
    block = next;
  }
  heap->blocks = NULL;
  heap->arena = heap->arena_end = NULL;
}

_Noreturn void sl_guard_fail(sl_guard *guard)
{
  assert(guard && "allocation outside an API entry point");
  longjmp(guard->env, 1);
}

int sl_guard_run(sl_guard *guard, int (*fn)(void *arg), void *arg)
{
  if (setjmp(guard->env) != 0)
    return SLUICE_E_NO_MEMORY;
  return fn(arg);
}

/* A large block that is asked for at its full size will be written all over: one call brings its pages, where a fault each
 * would cost a tenth of the time on a million instructions. Only a hint; where it is refused nothing changes. */
static void expect_writes(void *block, size_t size)
{
#if defined(__linux__)
  enum { PAGE = 4096, LARGE = 1024 * 1024 };
  if (size < LARGE)
    return;
  uintptr_t start = ((uintptr_t)block + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
  uintptr_t end = ((uintptr_t)block + size) & ~(uintptr_t)(PAGE - 1);
  (void)madvise((void *)start, end - start, MADV_POPULATE_WRITE);
#else
  (void)block;
  (void)size;
#endif
}

static void link_block(sl_heap *heap, struct sl_heap_block *block)
{
  block->prev = NULL;
  block->next = heap->blocks;
  if (heap->blocks)
    heap->blocks->prev = block;
  heap->blocks = block;
}

static void unlink_block(sl_heap *heap, struct sl_heap_block *block)
{
  if (block->prev)
    block->prev->next = block->next;
  else
    heap->blocks = block->next;
  if (block->next)
    block->next->prev = block->prev;
}

void *sl_heap_alloc(sl_heap *heap, size_t size)
{
  if (size > SIZE_MAX / 2)
    sl_guard_fail(heap->guard);
  struct sl_heap_block *block = malloc(sizeof *block + size);
  if (!block)
    sl_guard_fail(heap->guard);
  expect_writes(block, size);
  link_block(heap, block);
  return block + 1;
}

void *sl_heap_calloc(sl_heap *heap, size_t count, size_t size)
{
  if (size != 0 && count > SIZE_MAX / 2 / size)
    sl_guard_fail(heap->guard);
  struct sl_heap_block *block = calloc(1, sizeof *block + count * size);
  if (!block)
    sl_guard_fail(heap->guard);
  expect_writes(block, count * size);
  link_block(heap, block);
  return block + 1;
}

void *sl_heap_realloc(sl_heap *heap, void *memory, size_t size)
{
  if (!memory)
    return sl_heap_alloc(heap, size);
  if (size > SIZE_MAX / 2)
    sl_guard_fail(heap->guard);
  struct sl_heap_block *block = (struct sl_heap_block *)memory - 1;
  unlink_block(heap, block);
  struct sl_heap_block *moved = realloc(block, sizeof *block + size);
  link_block(heap, moved ? moved : block);
  if (!moved)
    sl_guard_fail(heap->guard);
  return moved + 1;
}

char *sl_heap_detach(sl_heap *heap, void *memory, size_t length)
{
  struct sl_heap_block *block = (struct sl_heap_block *)memory - 1;
  unlink_block(heap, block);
  memmove(block, memory, length); /* over the head, so that free() knows the pointer */
  char *shrunk = realloc(block, length ? length : 1);
  return shrunk ? shrunk : (char *)block;
}

void sl_heap_free(sl_heap *heap, void *memory)
{
  if (!memory)
    return;
  struct sl_heap_block *block = (struct sl_heap_block *)memory - 1;
  unlink_block(heap, block);
  free(block);
}

void *sl_heap_arena(sl_heap *heap, size_t size)
{
#ifdef SL_ARENA_MALLOC
  return sl_heap_calloc(heap, 1, size ? size : 1);
#else
  if (size > SIZE_MAX / 2)
    sl_guard_fail(heap->guard);
  size = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
  if (size > (size_t)(heap->arena_end - heap->arena)) {
    if (size > ARENA_CHUNK / 4)
      return sl_heap_calloc(heap, 1, size);
    heap->arena = sl_heap_calloc(heap, 1, ARENA_CHUNK);
    heap->arena_end = heap->arena + ARENA_CHUNK;
  }
  void *memory = heap->arena;
  heap->arena += size;
  return memory;
#endif
}

char *sl_heap_strndup(sl_heap *heap, const char *text, size_t length)
{
  char *copy = sl_heap_arena(heap, length + 1);
  memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}
