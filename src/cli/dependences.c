/* dependences.c: the dependences of a kernel as text and as JSON. graph.c has the third form. */
#include "cli.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is shown ---- */

bool cli_dependence_is_kept(const sluice_dep *dep)
{
  return dep->status == SLUICE_DEP_KEPT || dep->status == SLUICE_DEP_SPILLED;
}

static bool is_of_class(const struct cli_dependences *shown, const sluice_dep *dep)
{
  return !shown->memory_class || strcmp(dep->overlap.memory_class, shown->memory_class) == 0;
}

bool cli_dependence_is_shown(const struct cli_dependences *shown, const sluice_dep *dep)
{
  return is_of_class(shown, dep) && (shown->with_implied || cli_dependence_is_kept(dep));
}

/* ---- text ---- */

enum { COLUMNS = 4, WIDEST = 60 /* of a column; longer texts push the others aside */ };

/* The cells of a row but the last one, which needs no width; each of up to three parts. */
struct cell {
  const char *parts[3];
};
struct row {
  struct cell cells[COLUMNS];
};

static struct row row_of(const struct cli_dependences *shown, const sluice_dep *dep)
{
  size_t count;
  const sluice_deps_instruction *producer = &sluice_deps_instructions(shown->result, &count)[dep->producer.instruction];
  bool has_distance = dep->distances[0], has_accesses = dep->producer.access[0] && dep->consumer.access[0];
  return (struct row){ {
      { { sluice_dep_kind_name(dep->kind), "", "" } },
      { { producer->name, "", "" } },
      { { has_distance ? "(" : "", dep->distances, has_distance ? ")" : "" } },
      { { dep->producer.access, has_accesses ? " -> " : "", dep->consumer.access } },
  } };
}

static int width_of(const struct cell *cell)
{
  size_t width = strlen(cell->parts[0]) + strlen(cell->parts[1]) + strlen(cell->parts[2]);
  return width > WIDEST ? WIDEST : (int)width;
}

static void find_widths(int widths[COLUMNS], const struct cli_dependences *shown)
{
  size_t count;
  const sluice_dep *deps = sluice_deps_edges(shown->result, &count);
  memset(widths, 0, COLUMNS * sizeof *widths);
  for (size_t i = 0; i < count; i++) {
    if (!cli_dependence_is_shown(shown, &deps[i]))
      continue;
    struct row row = row_of(shown, &deps[i]);
    for (int c = 0; c < COLUMNS; c++)
      widths[c] = width_of(&row.cells[c]) > widths[c] ? width_of(&row.cells[c]) : widths[c];
  }
}

static void print_path(FILE *file, const sluice_dep *deps, const sluice_dep *dep)
{
  for (size_t i = 0; i < dep->path_length; i++)
    fprintf(file, "%s%s", i ? ", " : "", deps[dep->path[i]].text);
}

/* Why it needs no wait, or is kept although it needs none. */
static void print_reason(FILE *file, const sluice_dep *deps, const sluice_dep *dep)
{
  switch (dep->status) {
  case SLUICE_DEP_KEPT: return;
  case SLUICE_DEP_HARDWARE: fputs("; the hardware orders them", file); return;
  case SLUICE_DEP_SPILLED: fputs("; kept because of a spilled buffer, implied by ", file); break;
  case SLUICE_DEP_SAME: fputs("; says no more than ", file); break;
  case SLUICE_DEP_IMPLIED: fputs("; implied by ", file); break;
  }
  print_path(file, deps, dep);
  if (dep->path_length == 0)
    fputs("the order of the streams", file);
}

static void print_row(FILE *file, const struct cli_dependences *shown, const sluice_dep *deps, const sluice_dep *dep,
                      const int widths[COLUMNS])
{
  struct row row = row_of(shown, dep);
  int blanks = 0; /* owed: none stand at the end of a line */
  for (int c = 0; c < COLUMNS; c++) {
    const struct cell *cell = &row.cells[c];
    int width = width_of(cell), before = widths[c] ? blanks + 2 : blanks;
    if (width)
      fprintf(file, "%*s%s%s%s", before, "", cell->parts[0], cell->parts[1], cell->parts[2]);
    blanks = width ? widths[c] - width : before + widths[c];
  }
  if (dep->overlap.text[0])
    fprintf(file, "%*s%s", blanks + 2, "", dep->overlap.text);
  else if (dep->kind == SLUICE_DEP_STATED && dep->line)
    fprintf(file, "%*sline %" PRIu32, blanks + 2, "", dep->line);
  print_reason(file, deps, dep);
  fputc('\n', file);
}

/* "ex on act, line 13", and what its row's columns are. */
static void print_consumer(FILE *file, const struct cli_dependences *shown, const sluice_dep *dep)
{
  size_t count;
  const sluice_deps_instruction *consumer = &sluice_deps_instructions(shown->result, &count)[dep->consumer.instruction];
  const sluice_deps_block *block = &sluice_deps_blocks(shown->result, &count)[consumer->block];
  fprintf(file, "\n%s on %s", consumer->name, consumer->stream);
  if (block->name[0])
    fprintf(file, ", %s%s", block->is_loop ? "loop " : "", block->name);
  if (consumer->line)
    fprintf(file, ", line %" PRIu32, consumer->line);
  fputc('\n', file);
}

/* "rmsnorm: 12 dependences; 20 more need no wait: 15 ordered by the hardware, 5 implied by others". */
static void print_counts(FILE *file, const struct cli_dependences *shown)
{
  static const char *const words[SLUICE_DEP_STATUSES] = { "", "", "ordered by the hardware", "that say no more than another",
                                                          "implied by others" };
  size_t count, of[SLUICE_DEP_STATUSES] = { 0 }, without = 0;
  const sluice_dep *deps = sluice_deps_edges(shown->result, &count);
  for (size_t i = 0; i < count; i++)
    if (is_of_class(shown, &deps[i]))
      of[deps[i].status]++;
  size_t kept = of[SLUICE_DEP_KEPT] + of[SLUICE_DEP_SPILLED];
  fprintf(file, "%s: %zu dependence%s", shown->kernel, kept, kept == 1 ? "" : "s");
  if (shown->memory_class)
    fprintf(file, " through %s", shown->memory_class);
  for (int s = SLUICE_DEP_HARDWARE; s < SLUICE_DEP_STATUSES; s++)
    without += of[s];
  if (without)
    fprintf(file, "; %zu more need%s no wait: ", without, without == 1 ? "s" : "");
  for (int s = SLUICE_DEP_HARDWARE, first = 1; s < SLUICE_DEP_STATUSES; s++)
    if (of[s]) {
      fprintf(file, "%s%zu %s", first ? "" : ", ", of[s], words[s]);
      first = 0;
    }
  if (without && !shown->with_implied)
    fputs(" (--all shows them)", file);
  fputc('\n', file);
}

void cli_print_dependences(FILE *file, const struct cli_dependences *shown)
{
  int widths[COLUMNS];
  size_t count, consumer = SIZE_MAX;
  const sluice_dep *deps = sluice_deps_edges(shown->result, &count);
  print_counts(file, shown);
  find_widths(widths, shown);
  for (size_t i = 0; i < count; i++) {
    if (!cli_dependence_is_shown(shown, &deps[i]))
      continue;
    if (deps[i].consumer.instruction != consumer)
      print_consumer(file, shown, &deps[i]);
    consumer = deps[i].consumer.instruction;
    print_row(file, shown, deps, &deps[i], widths);
  }
  if (consumer != SIZE_MAX)
    fputc('\n', file);
}

/* ---- JSON ---- */

static void put_place(json_t *json, uint32_t line, uint32_t column)
{
  if (!line)
    return;
  json_object_set_new(json, "line", json_integer(line));
  json_object_set_new(json, "column", json_integer(column));
}

static json_t *json_of_block(const sluice_deps_block *block, size_t number)
{
  json_t *json = json_pack("{ssssss}", "kind", number == 0 ? "kernel" : block->is_loop ? "loop" : "arm", "name",
                           block->name, "text", block->text);
  if (number > 0)
    json_object_set_new(json, "parent", json_integer((json_int_t)block->parent));
  put_place(json, block->line, block->column);
  return json;
}

static json_t *json_of_instruction(const sluice_deps_instruction *instruction)
{
  json_t *json = json_pack("{sssssssI}", "name", instruction->name, "stream", instruction->stream, "opcode",
                           instruction->opcode, "block", (json_int_t)instruction->block);
  put_place(json, instruction->line, instruction->column);
  return json;
}

static json_t *json_of_end(const sluice_dep_end *end)
{
  json_t *json = json_pack("{sI}", "instruction", (json_int_t)end->instruction);
  if (end->access[0])
    json_object_set_new(json, "access", json_string(end->access));
  if (end->buffer[0])
    json_object_set_new(json, "buffer", json_string(end->buffer));
  return json;
}

/* [min, max]; null for an end that is not known. */
static json_t *json_of_interval(int64_t min, int64_t max)
{
  json_t *json = json_array();
  json_array_append_new(json, json_integer(min));
  json_array_append_new(json, max == INT64_MAX ? json_null() : json_integer(max));
  return json;
}

static json_t *json_of_overlap(const sluice_dep_overlap *overlap)
{
  json_t *json = json_pack("{sssssbsbsoso}", "class", overlap->memory_class, "text", overlap->text, "anywhere",
                           (int)overlap->is_anywhere, "placed", (int)overlap->is_placed, "partitions",
                           json_of_interval(overlap->partition_min, overlap->partition_max), "bytes",
                           json_of_interval(overlap->byte_min, overlap->byte_max));
  if (overlap->bytes_around[0])
    json_object_set_new(json, "bytes_around", json_string(overlap->bytes_around));
  return json;
}

static void put_distance(json_t *json, const sluice_dep *dep)
{
  json_t *distance = json_pack("{sIsIsb}", "block", (json_int_t)dep->block, "distance", (json_int_t)dep->distance,
                               "across", (int)dep->across);
  if (dep->is_vector)
    json_object_set_new(distance, "inner", json_pack("{sIsI}", "block", (json_int_t)dep->inner_block, "distance",
                                                     (json_int_t)dep->inner_distance));
  json_object_set_new(json, "carried", distance);
}

static json_t *json_of_dependence(const sluice_dep *dep, size_t id)
{
  json_t *json = json_pack("{sIsssssssoso}", "id", (json_int_t)id, "text", dep->text, "kind", sluice_dep_kind_name(dep->kind), "status",
                           sluice_dep_status_name(dep->status), "producer", json_of_end(&dep->producer), "consumer",
                           json_of_end(&dep->consumer));
  put_distance(json, dep);
  if (dep->overlap.text[0])
    json_object_set_new(json, "overlap", json_of_overlap(&dep->overlap));
  if (dep->path_length) {
    json_t *path = json_array();
    for (size_t i = 0; i < dep->path_length; i++)
      json_array_append_new(path, json_integer((json_int_t)dep->path[i]));
    json_object_set_new(json, "implied_by", path);
  }
  put_place(json, dep->line, dep->column);
  return json;
}

static json_t *json_of_dependences(const struct cli_dependences *shown)
{
  size_t count;
  const sluice_dep *deps = sluice_deps_edges(shown->result, &count);
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    if (is_of_class(shown, &deps[i]))
      json_array_append_new(list, json_of_dependence(&deps[i], i));
  return list;
}

json_t *cli_json_of_dependences(const struct cli_dependences *shown)
{
  size_t count;
  json_t *blocks = json_array(), *instructions = json_array();
  const sluice_deps_block *block = sluice_deps_blocks(shown->result, &count);
  for (size_t i = 0; i < count; i++)
    json_array_append_new(blocks, json_of_block(&block[i], i));
  const sluice_deps_instruction *instruction = sluice_deps_instructions(shown->result, &count);
  for (size_t i = 0; i < count; i++)
    json_array_append_new(instructions, json_of_instruction(&instruction[i]));
  return json_pack("{sssososo}", "name", shown->kernel, "blocks", blocks, "instructions", instructions, "dependences",
                   json_of_dependences(shown));
}
