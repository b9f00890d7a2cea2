/* hazards.c: see hazards.h. */
#include "oracle/hazards.h"

#include <stdlib.h>

/* The accesses to one cell since its last sure write, that write the first of them. */
struct history {
  struct use {
    uint32_t instance;
    bool writes;
  } * uses;
  uint32_t count, cap;
};

static bool are_aliases(const struct sl_trace *trace, uint32_t a, uint32_t b)
{
  const struct sl_kernel *kernel = trace->view.kernel;
  for (sl_index i = 1; i < kernel->aliases.len; i++) {
    uint32_t x = trace->layout.buffer_of[kernel->aliases.data[i].a],
             y = trace->layout.buffer_of[kernel->aliases.data[i].b];
    if ((a == x && b == y) || (a == y && b == x))
      return true;
  }
  return false;
}

static void find_in_cell(struct sl_relation *hazards, const struct history *history, uint32_t instance, bool writes)
{
  for (uint32_t u = 0; u < history->count; u++) {
    const struct use *use = &history->uses[u];
    if (use->instance != instance && (writes || use->writes))
      sl_relation_add(hazards, use->instance, instance);
  }
}

static void note_use(struct history *history, uint32_t instance, const struct sl_trace_access *access)
{
  if (access->writes && !access->may)
    history->count = 0;
  history->uses = sl_oracle_grow(history->uses, history->count, &history->cap, sizeof *history->uses);
  history->uses[history->count++] = (struct use){ instance, access->writes };
}

static void find_aliases(struct sl_relation *hazards, const struct sl_trace *trace, uint32_t later)
{
  const struct sl_trace_instance *x = &trace->instances[later];
  for (uint32_t a = 0; a < x->first_access; a++) {
    const struct sl_trace_access *earlier = &trace->accesses[a];
    for (uint32_t b = x->first_access; b < x->first_access + x->access_count; b++) {
      const struct sl_trace_access *access = &trace->accesses[b];
      if ((earlier->writes || access->writes) && are_aliases(trace, earlier->buffer, access->buffer))
        sl_relation_add(hazards, earlier->instance, later);
    }
  }
}

void sl_hazards_find(struct sl_relation *hazards, const struct sl_trace *trace)
{
  struct history *cells = sl_oracle_calloc(trace->layout.cells, sizeof *cells);
  bool has_aliases = trace->view.kernel->aliases.len > 1;
  for (uint32_t n = 0; n < trace->count; n++) {
    const struct sl_trace_instance *instance = &trace->instances[n];
    const struct sl_trace_access *accesses = &trace->accesses[instance->first_access];
    for (uint32_t a = 0; a < instance->access_count; a++) {
      for (uint32_t c = 0; c < accesses[a].cell_count; c++)
        find_in_cell(hazards, &cells[trace->cells[accesses[a].first_cell + c]], n, accesses[a].writes);
    }
    if (has_aliases)
      find_aliases(hazards, trace, n);
    for (uint32_t a = 0; a < instance->access_count; a++) {
      for (uint32_t c = 0; c < accesses[a].cell_count; c++)
        note_use(&cells[trace->cells[accesses[a].first_cell + c]], n, &accesses[a]);
    }
  }
  for (uint32_t c = 0; c < trace->cell_count; c++) { /* not over all cells: most are never touched */
    free(cells[trace->cells[c]].uses);
    cells[trace->cells[c]].uses = NULL;
  }
  free(cells);
}

/* By cell a row of bits: the instances that have touched it. */
struct touched {
  uint64_t *readers, *writers;
};

static void find_conflicts(struct sl_relation *conflicts, const struct touched *touched, const struct sl_trace *trace,
                           const struct sl_trace_access *access)
{
  uint64_t *row = sl_relation_row(conflicts, access->instance);
  for (uint32_t c = access->first_cell; c < access->first_cell + access->cell_count; c++) {
    size_t at = (size_t)trace->cells[c] * conflicts->words;
    sl_row_join(row, touched->writers + at, conflicts->words);
    if (access->writes)
      sl_row_join(row, touched->readers + at, conflicts->words);
  }
}

static void touch(const struct touched *touched, uint32_t words, const struct sl_trace *trace,
                  const struct sl_trace_access *access)
{
  uint64_t *rows = access->writes ? touched->writers : touched->readers;
  for (uint32_t c = access->first_cell; c < access->first_cell + access->cell_count; c++)
    rows[(size_t)trace->cells[c] * words + access->instance / 64] |= (uint64_t)1 << (access->instance % 64);
}

void sl_conflicts_find(struct sl_relation *conflicts, const struct sl_trace *trace)
{
  size_t size = (size_t)trace->layout.cells * conflicts->words;
  struct touched touched = { sl_oracle_calloc(size, sizeof(uint64_t)), sl_oracle_calloc(size, sizeof(uint64_t)) };
  bool has_aliases = trace->view.kernel->aliases.len > 1;
  for (uint32_t n = 0; n < trace->count; n++) {
    const struct sl_trace_instance *instance = &trace->instances[n];
    const struct sl_trace_access *accesses = &trace->accesses[instance->first_access];
    for (uint32_t a = 0; a < instance->access_count; a++)
      find_conflicts(conflicts, &touched, trace, &accesses[a]);
    if (has_aliases)
      find_aliases(conflicts, trace, n);
    for (uint32_t a = 0; a < instance->access_count; a++)
      touch(&touched, conflicts->words, trace, &accesses[a]);
  }
  free(touched.readers);
  free(touched.writers);
}
