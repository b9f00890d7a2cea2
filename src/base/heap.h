/* heap.h: memory of the library. A heap owns every block taken from it; freeing the heap frees all of them.
 *
 * Allocation never returns NULL to its caller: on failure the heap jumps to its guard, set by the API entry point through
 * sl_guard_run, which frees the heaps involved and answers SLUICE_E_NO_MEMORY. So code between entry point and allocation
 * holds no resource that is not owned by a heap.
 *
 * Small objects of one lifetime come from an arena (sl_heap_arena). With -DSL_ARENA_MALLOC every arena allocation is a
 * malloc of its own, so that sanitizers see overruns.
 */
#ifndef SL_BASE_HEAP_H
#define SL_BASE_HEAP_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sl_guard {
  jmp_buf env;
} sl_guard;

struct sl_heap_block;

typedef struct sl_heap {
  struct sl_heap_block *blocks; /* doubly linked, newest first */
  sl_guard *guard;              /* where a failed allocation jumps; never NULL while allocating */
  char *arena, *arena_end;      /* free room of the current arena chunk */
  struct sl_heap *parent, *children, *next_child; /* scratch heaps end with their parent */
} sl_heap;

/* An empty heap whose failures jump to `guard`. */
void sl_heap_init(sl_heap *heap, sl_guard *guard);
/* A scratch heap that ends with its parent at the latest, also when a failed allocation unwinds past its maker. */
sl_heap *sl_heap_child_new(sl_heap *parent);
void sl_heap_child_free(sl_heap *child);
/* Frees every block and every child. The heap may be used again. */
void sl_heap_free_all(sl_heap *heap);

/* Uninitialized block of `size` bytes, aligned for any object. */
void *sl_heap_alloc(sl_heap *heap, size_t size);
/* The same, zeroed. */
void *sl_heap_calloc(sl_heap *heap, size_t count, size_t size);
/* Changes the size of a block of this heap; NULL allocates. */
void *sl_heap_realloc(sl_heap *heap, void *block, size_t size);
/* Takes a block out of the heap: its first `length` bytes as memory of malloc, for callers outside the library. */
char *sl_heap_detach(sl_heap *heap, void *block, size_t length);
/* Gives one block back early. NULL is allowed. */
void sl_heap_free(sl_heap *heap, void *block);
/* Memory that lives as long as the heap and cannot be given back alone; zeroed, 16-byte aligned. */
void *sl_heap_arena(sl_heap *heap, size_t size);
/* Arena copy of a string of known length, NUL-terminated. */
char *sl_heap_strndup(sl_heap *heap, const char *text, size_t length);

/* Runs fn(arg) with `guard` armed. Returns what fn returns, or SLUICE_E_NO_MEMORY after a failed allocation of any heap
 * that uses the guard. The caller frees the heaps in that case. Guards nest. */
int sl_guard_run(sl_guard *guard, int (*fn)(void *arg), void *arg);
/* Leaves the running guarded function as if an allocation had failed. */
_Noreturn void sl_guard_fail(sl_guard *guard);

#endif
