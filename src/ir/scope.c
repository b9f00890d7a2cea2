/* scope.c: see scope.h. */
#include "ir/scope.h"

enum { SUGGESTION_LIMIT = 20 };

void sl_scope_init(struct sl_scope *scope, sl_heap *heap, const sl_program *program)
{
  memset(scope, 0, sizeof *scope);
  scope->heap = heap;
  scope->program = program;
  scope->suggestions = SUGGESTION_LIMIT;
  (void)sl_vec_extend(heap, &scope->symbols, program->names.len);
}

void sl_scope_next_kernel(struct sl_scope *scope)
{
  scope->kernel++;
}

struct sl_symbol *sl_scope_find(struct sl_scope *scope, sl_name name)
{
  struct sl_symbol *symbol = &scope->symbols.data[name];
  if (symbol->kernel != scope->kernel)
    *symbol = (struct sl_symbol){ .kernel = scope->kernel };
  return symbol;
}

void sl_scope_set(struct sl_scope *scope, sl_name name, enum sl_symbol_kind kind, sl_index item, sl_loc loc)
{
  *sl_scope_find(scope, name) =
      (struct sl_symbol){ .kernel = scope->kernel, .kind = (uint8_t)kind, .item = item, .loc = loc };
}

const char *sl_symbol_text(enum sl_symbol_kind kind)
{
  switch (kind) {
  case SL_SYMBOL_PARAM: return "a parameter";
  case SL_SYMBOL_BUFFER: return "a buffer";
  case SL_SYMBOL_SEM: return "a semaphore";
  case SL_SYMBOL_EVENT: return "an event";
  case SL_SYMBOL_LOOP:
  case SL_SYMBOL_CLOSED_LOOP: return "a loop variable";
  default: return "unknown";
  }
}

const char *sl_scope_closest(struct sl_scope *scope, sl_name name, unsigned kinds)
{
  if (scope->suggestions == 0 || sl_names_length(&scope->program->names, name) < 2)
    return NULL; /* every single letter is close to every other */
  scope->suggestions--;
  sl_vec(const char *) candidates = { 0 };
  for (sl_name other = 1; other < scope->symbols.len; other++) {
    const struct sl_symbol *symbol = &scope->symbols.data[other];
    if (symbol->kernel == scope->kernel && (kinds >> symbol->kind & 1u) != 0 && other != name)
      sl_vec_add(scope->heap, &candidates, sl_text(scope->program, other));
  }
  const char *closest = sl_closest(sl_text(scope->program, name), candidates.data, candidates.len);
  sl_vec_free(scope->heap, &candidates);
  return closest;
}
