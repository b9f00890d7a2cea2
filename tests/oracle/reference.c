/* reference.c: the sequential meaning of a kernel. See reference.h.
 *
 * Requires: a verified kernel, streams resolved. One sequential walk; memory O(instances * dependences per consumer).
 */
#include "oracle/reference.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *sl_oracle_label(const struct sl_oracle_reference *reference, uint32_t instruction)
{
  const struct sl_kernel *kernel = reference->view.kernel;
  return sl_text(reference->view.program, sl_stmt_op(kernel, reference->instructions[instruction].stmt)->label);
}

/* Whether `text` is `label` or, with copies, `label.N.M...`. */
static bool names_label(const char *text, const char *label, bool copies)
{
  size_t length = strlen(label);
  if (strncmp(text, label, length) != 0)
    return false;
  if (text[length] == 0)
    return true;
  if (!copies || text[length] != '.')
    return false;
  for (const char *c = text + length; *c; c++) {
    if (!(isdigit((unsigned char)*c) || *c == '.'))
      return false;
  }
  return true;
}

uint32_t sl_oracle_match(const struct sl_oracle_reference *reference, const char *label, const char *stream)
{
  const struct sl_kernel *kernel = reference->view.kernel;
  uint32_t copy = UINT32_MAX;
  for (uint32_t i = 0; i < reference->instruction_count; i++) {
    const char *own_stream =
        sl_text(reference->view.program, kernel->streams.data[reference->instructions[i].stream].name);
    if (strcmp(own_stream, stream) != 0)
      continue;
    if (names_label(label, sl_oracle_label(reference, i), false))
      return i;
    if (names_label(label, sl_oracle_label(reference, i), true))
      copy = i;
  }
  return copy;
}

/* ---- instructions and dependences ---- */

static bool is_pipelined(const struct sl_op *op)
{
  enum sl_op_class op_class = (enum sl_op_class)sl_opcode_table[op->code].op_class;
  return op_class == SL_CLASS_DATAPATH || op_class == SL_CLASS_LOAD || op_class == SL_CLASS_NOP;
}

static void collect_instructions(struct sl_oracle_reference *reference)
{
  const struct sl_kernel *kernel = reference->view.kernel;
  for (sl_index s = sl_walk_first(kernel, kernel->root); s; s = sl_walk_next(kernel, kernel->root, s)) {
    if (sl_stmt_get(kernel, s)->kind != SL_STMT_OP)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, s);
    uint64_t streams = op->label && is_pipelined(op) ? sl_oracle_op_streams(&reference->view, op) : 0;
    for (uint32_t stream = 0; stream < kernel->streams.len; stream++) {
      if (!(streams >> stream & 1))
        continue;
      reference->instructions = sl_oracle_grow(reference->instructions, reference->instruction_count,
                                               &reference->instruction_cap, sizeof *reference->instructions);
      reference->instructions[reference->instruction_count++] = (struct sl_oracle_instruction){
        .stmt = s, .stream = stream, .issue = sl_oracle_issue_stream(kernel, stream)
      };
    }
  }
}

static bool block_contains(const struct sl_kernel *kernel, sl_index outer, sl_index block)
{
  while (block && block != outer)
    block = sl_block_parent(kernel, block);
  return block != SL_NONE;
}

/* The body of the loop of that variable around both statements; SL_NONE: none. */
static sl_index common_loop(const struct sl_kernel *kernel, sl_index producer, sl_index consumer, sl_name var)
{
  sl_index block = sl_stmt_get(kernel, consumer)->block;
  for (; block; block = sl_block_parent(kernel, block)) {
    sl_index owner = kernel->blocks.data[block].owner;
    if (owner && sl_stmt_get(kernel, owner)->kind == SL_STMT_LOOP && sl_stmt_loop(kernel, owner)->var == var &&
        block_contains(kernel, block, sl_stmt_get(kernel, producer)->block))
      return block;
  }
  return SL_NONE;
}

static bool hardware_orders(const struct sl_kernel *kernel, uint32_t producer, uint32_t consumer,
                            struct sl_oracle_hardware hardware)
{
  if (producer != consumer)
    return false;
  return kernel->streams.data[producer].is_queue ? hardware.queues_ordered : hardware.engines_interlock;
}

/* Zeros in front of the first other distance say nothing; behind it, exactly one at a loop directly below makes a vector. */
static bool read_distances(const struct sl_kernel *kernel, const struct sl_dep *line, sl_index producer,
                           sl_index consumer, struct sl_oracle_dep *dep)
{
  const struct sl_distance *distances = sl_dep_distances(kernel, line);
  uint32_t first = 0;
  while (first < line->distance_count && distances[first].k == 0)
    first++;
  if (first == line->distance_count)
    return true;
  dep->carrier = common_loop(kernel, producer, consumer, distances[first].loop);
  dep->k = (uint32_t)distances[first].k;
  dep->across = distances[first].across;
  if (!dep->carrier || distances[first].k < 0)
    return false;
  if (first + 2 != line->distance_count)
    return true;
  sl_index inner = common_loop(kernel, producer, consumer, distances[first + 1].loop);
  if (inner && sl_block_parent(kernel, inner) == dep->carrier) {
    dep->inner = inner;
    dep->b = distances[first + 1].k;
  }
  return true;
}

static bool add_dep(struct sl_oracle_reference *reference, const struct sl_dep *line, uint32_t producer,
                    uint32_t consumer, struct sl_oracle_hardware hardware)
{
  const struct sl_kernel *kernel = reference->view.kernel;
  const struct sl_oracle_instruction *p = &reference->instructions[producer], *c = &reference->instructions[consumer];
  struct sl_oracle_dep dep = { .producer = producer,
                               .consumer = consumer,
                               .free = hardware_orders(kernel, p->stream, c->stream, hardware) };
  if (!read_distances(kernel, line, p->stmt, c->stmt, &dep))
    return false;
  reference->deps = sl_oracle_grow(reference->deps, reference->dep_count, &reference->dep_cap, sizeof *reference->deps);
  reference->deps[reference->dep_count++] = dep;
  return true;
}

/* Every dep line, for every copy of its labels, ordered by consumer. */
static bool collect_deps(struct sl_oracle_reference *reference, struct sl_oracle_hardware hardware)
{
  const struct sl_kernel *kernel = reference->view.kernel;
  const sl_program *program = reference->view.program;
  for (uint32_t c = 0; c < reference->instruction_count; c++) {
    reference->instructions[c].first_dep = reference->dep_count;
    for (uint32_t d = 0; d < kernel->deps.len; d++) {
      const struct sl_dep *line = &kernel->deps.data[d];
      if (line->removed || !names_label(sl_oracle_label(reference, c), sl_text(program, line->consumer), true))
        continue;
      for (uint32_t p = 0; p < reference->instruction_count; p++) {
        if (names_label(sl_oracle_label(reference, p), sl_text(program, line->producer), true) &&
            !add_dep(reference, line, p, c, hardware))
          return false;
      }
    }
    reference->instructions[c].dep_count = reference->dep_count - reference->instructions[c].first_dep;
  }
  return true;
}

/* ---- the sequential walk ---- */

static void forget_visits(struct sl_oracle_dep *dep)
{
  for (uint32_t v = 0; v < dep->visit_count; v++)
    free(dep->visits[v].ends);
  dep->visit_count = 0;
}

static void begin_visit(struct sl_oracle_dep *dep)
{
  dep->visits = sl_oracle_grow(dep->visits, dep->visit_count, &dep->visit_cap, sizeof *dep->visits);
  dep->visits[dep->visit_count++] = (struct sl_oracle_visit){ NULL, 0, 0 };
}

/* In the current visit of a vector's inner loop. */
static void note_count(struct sl_oracle_dep *dep, uint32_t count)
{
  struct sl_oracle_visit *visit = &dep->visits[dep->visit_count - 1];
  visit->ends = sl_oracle_grow(visit->ends, visit->len, &visit->cap, sizeof *visit->ends);
  visit->ends[visit->len++] = count;
}

static void note_arrival(void *user, sl_index block)
{
  struct sl_oracle_reference *reference = user;
  for (uint32_t d = 0; d < reference->dep_count; d++) {
    struct sl_oracle_dep *dep = &reference->deps[d];
    if (dep->carrier == block && !dep->across)
      dep->ends_len = 0;
    if (dep->carrier == block)
      forget_visits(dep);
    if (dep->inner == block) {
      begin_visit(dep);
      note_count(dep, reference->counts[dep->producer]);
    }
  }
}

static void note_iteration(void *user, sl_index block)
{
  struct sl_oracle_reference *reference = user;
  for (uint32_t d = 0; d < reference->dep_count; d++) {
    struct sl_oracle_dep *dep = &reference->deps[d];
    if (dep->inner == block)
      note_count(dep, reference->counts[dep->producer]);
    if (dep->carrier != block)
      continue;
    dep->ends = sl_oracle_grow(dep->ends, dep->ends_len, &dep->ends_cap, sizeof *dep->ends);
    dep->ends[dep->ends_len++] = reference->counts[dep->producer];
  }
}

static uint32_t vector_need(const struct sl_oracle_dep *dep)
{
  if (dep->visit_count <= dep->k)
    return 0;
  const struct sl_oracle_visit *now = &dep->visits[dep->visit_count - 1], *then = now - dep->k;
  int64_t wanted = (int64_t)now->len - dep->b; /* the current iteration is number `len`: its count on arrival comes first */
  if (wanted < 1)
    return 0;
  return then->ends[wanted < then->len ? wanted : then->len - 1];
}

static uint32_t need_of(const struct sl_oracle_reference *reference, const struct sl_oracle_dep *dep)
{
  if (dep->k == 0)
    return reference->counts[dep->producer];
  if (dep->inner)
    return vector_need(dep);
  return dep->ends_len >= dep->k ? dep->ends[dep->ends_len - dep->k] : 0;
}

static void add_instance(struct sl_oracle_reference *reference, uint32_t index)
{
  const struct sl_oracle_instruction *instruction = &reference->instructions[index];
  struct sl_oracle_sequence *sequence = &reference->sequences[instruction->issue];
  sequence->instances = sl_oracle_grow(sequence->instances, sequence->len, &sequence->cap, sizeof *sequence->instances);
  sequence->instances[sequence->len++] =
      (struct sl_oracle_instance){ .instruction = index, .first_need = reference->need_count };
  for (uint32_t d = 0; d < instruction->dep_count; d++) {
    reference->needs =
        sl_oracle_grow(reference->needs, reference->need_count, &reference->need_cap, sizeof *reference->needs);
    reference->needs[reference->need_count++] = need_of(reference, &reference->deps[instruction->first_dep + d]);
  }
  reference->counts[index]++;
  reference->instance_count++;
}

static void execute(struct sl_oracle_reference *reference, struct sl_oracle_walk *walk, sl_index stmt)
{
  const struct sl_kernel *kernel = reference->view.kernel;
  const struct sl_op *op = sl_stmt_op(kernel, stmt);
  uint8_t op_class = sl_opcode_table[op->code].op_class;
  uint64_t streams = sl_oracle_op_streams(&reference->view, op);
  for (uint32_t stream = 0; stream < kernel->streams.len; stream++) {
    if ((streams >> stream & 1) && (op_class == SL_CLASS_REGISTER || op_class == SL_CLASS_LOAD))
      sl_oracle_register_op(walk, stream, op);
  }
  for (uint32_t i = 0; i < reference->instruction_count; i++) {
    if (reference->instructions[i].stmt == stmt)
      add_instance(reference, i);
  }
}

static enum sl_reference_status walk_sequentially(struct sl_oracle_reference *reference)
{
  struct sl_oracle_register *registers = sl_oracle_registers_new(&reference->view);
  struct sl_oracle_walk walk;
  sl_oracle_walk_init(&walk, &reference->view, UINT64_MAX, &reference->inputs, registers);
  walk.arrival = note_arrival;
  walk.iteration_end = note_iteration;
  walk.user = reference;
  sl_oracle_walk_start(&walk);
  while (walk.stmt && !walk.error && reference->instance_count <= reference->instance_limit) {
    if (sl_stmt_get(reference->view.kernel, walk.stmt)->kind == SL_STMT_OP)
      execute(reference, &walk, walk.stmt);
    if (!walk.error)
      sl_oracle_walk_advance(&walk);
  }
  enum sl_walk_error error = walk.error;
  sl_oracle_walk_free(&walk);
  free(registers);
  if (error == SL_WALK_BUDGET || reference->instance_count > reference->instance_limit)
    return SL_REFERENCE_LONG;
  return error ? SL_REFERENCE_BAD : SL_REFERENCE_OK;
}

enum sl_reference_status sl_oracle_reference_init(struct sl_oracle_reference *reference, const sl_program *program,
                                                  const struct sl_kernel *kernel, struct sl_oracle_hardware hardware,
                                                  const struct sl_oracle_inputs *inputs, uint32_t instance_limit)
{
  memset(reference, 0, sizeof *reference);
  reference->inputs = *inputs;
  reference->instance_limit = instance_limit;
  if (!sl_oracle_view_init(&reference->view, program, kernel))
    return SL_REFERENCE_UNSUPPORTED;
  collect_instructions(reference);
  reference->counts = sl_oracle_calloc(reference->instruction_count, sizeof *reference->counts);
  if (!collect_deps(reference, hardware))
    return SL_REFERENCE_UNSUPPORTED;
  return walk_sequentially(reference);
}

void sl_oracle_reference_free(struct sl_oracle_reference *reference)
{
  sl_oracle_view_free(&reference->view);
  for (uint32_t d = 0; d < reference->dep_count; d++) {
    forget_visits(&reference->deps[d]);
    free(reference->deps[d].visits);
    free(reference->deps[d].ends);
  }
  for (uint32_t s = 0; s < SL_ORACLE_MAX_STREAMS; s++)
    free(reference->sequences[s].instances);
  free(reference->instructions);
  free(reference->deps);
  free(reference->needs);
  free(reference->counts);
  memset(reference, 0, sizeof *reference);
}
