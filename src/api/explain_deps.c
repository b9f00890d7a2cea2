/* explain_deps.c: sluice_deps_explain: why there is or is not a dependence between two instructions, in words.
 *
 * Requires a verified program. What was found is listed first, with what becomes of it; then every pair of accesses is asked
 * again whether it meets (conflict.h). A pair that meets and has no dependence is followed through those that lead from one
 * end to the other: an access in between ends it. O(pairs of accesses * loops around both) beside finding, and one walk
 * over the dependences for each such pair.
 */
#include <sluice/deps.h>

#include <assert.h>

#include "api/call.h"
#include "deps/conflict.h"
#include "deps/deps.h"
#include "deps/explicit.h"
#include "deps/infer.h"
#include "deps/overlap.h"
#include "deps/reduce.h"
#include "ir/ir.h"

struct explain {
  struct sl_kernel_call call;
  const char *labels[2];
  sl_heap *scratch;
  const sl_program *program; /* of the call */
  struct sl_kernel *kernel;
  sl_edges all;    /* before `nodep` lines */
  sl_edges edges;  /* after them */
  sl_reductions reductions;
  struct sl_accesses accesses;
  uint32_t *position; /* by statement: number in the text */
  sl_index producer, consumer; /* the pair at hand */
  sl_index common;             /* innermost block around both */
  sl_buf out;
  char *text; /* the answer, for the caller */
};

/* ---- words ---- */

static const char *name_text(const struct explain *e, sl_name name)
{
  return sl_text(e->program, name);
}

static const struct sl_block *block_at(const struct explain *e, sl_index block)
{
  return &e->kernel->blocks.data[block];
}

static bool is_loop_body(const struct explain *e, sl_index block)
{
  sl_index owner = block_at(e, block)->owner;
  return owner && e->kernel->stmts.data[owner].kind == SL_STMT_LOOP;
}

static const char *loop_name(const struct explain *e, sl_index body)
{
  return name_text(e, sl_stmt_loop(e->kernel, block_at(e, body)->owner)->var);
}

static uint32_t line_of(struct explain *e, sl_loc loc)
{
  return sl_source_place(&e->call.source, loc).line;
}

static void put_instruction(struct explain *e, sl_index stmt)
{
  const struct sl_op *op = sl_stmt_op(e->kernel, stmt);
  uint32_t line = line_of(e, e->kernel->stmts.data[stmt].loc);
  sl_buf_printf(&e->out, "`%s` on %s", name_text(e, op->label), name_text(e, e->kernel->streams.data[op->stream].name));
  if (line)
    sl_buf_printf(&e->out, " (line %u)", line);
}

static void put_access(struct explain *e, const struct sl_footprint *access)
{
  const struct sl_op *op = sl_stmt_op(e->kernel, access->stmt);
  sl_print_operand(&e->out, e->program, e->kernel, &e->kernel->operands.data[op->first_operand + access->operand]);
}

static bool writes(const struct sl_footprint *access)
{
  return access->flags & SL_FOOTPRINT_WRITES;
}

static const char *verb(const struct sl_footprint *access)
{
  return !writes(access) ? "reads" : access->flags & SL_FOOTPRINT_READS ? "updates" : "writes";
}

static void put_edge(struct explain *e, const struct sl_edge *edge)
{
  sl_edge_print_ends(&e->out, e->program, e->kernel, edge);
}

/* ---- the dependences between both ---- */

static bool is_between(const struct explain *e, const struct sl_edge *edge)
{
  return edge->producer == e->producer && edge->consumer == e->consumer;
}

static void put_path(struct explain *e, const struct sl_reduced *reduced)
{
  for (uint32_t i = 0; i < reduced->count; i++) {
    sl_buf_puts(&e->out, i ? ", " : "");
    put_edge(e, &e->edges.data[e->reductions.paths.data[reduced->first + i]]);
  }
  if (reduced->count == 0)
    sl_buf_puts(&e->out, "the order of the streams");
}

static void put_status(struct explain *e, const struct sl_reduced *reduced)
{
  switch ((enum sl_reduction)reduced->what) {
  case SL_REDUCE_KEPT: sl_buf_puts(&e->out, "waits enforce it"); return;
  case SL_REDUCE_HARDWARE: sl_buf_puts(&e->out, "the hardware orders both, no wait is needed"); return;
  case SL_REDUCE_SAME: sl_buf_puts(&e->out, "it says no more than "); break;
  case SL_REDUCE_IMPLIED: sl_buf_puts(&e->out, "no wait is needed, it is implied by "); break;
  case SL_REDUCE_SPILLED: sl_buf_puts(&e->out, "kept because a spilled buffer takes part, though implied by "); break;
  }
  put_path(e, reduced);
}

static void put_reason(struct explain *e, const struct sl_edge *edge)
{
  static const char *const reasons[] = { /* by kind */
    "stated",
    "flow: the second reads what the first writes",
    "anti: the second overwrites what the first reads",
    "output: the second overwrites what the first writes",
    "ordered: the second uses a register that the first loads",
    "index: the second goes where the tensor says that the first writes",
  };
  sl_buf_puts(&e->out, reasons[edge->kind]);
  if (edge->kind == SL_EDGE_STATED && line_of(e, sl_edge_loc(e->kernel, edge)))
    sl_buf_printf(&e->out, " in line %u", line_of(e, sl_edge_loc(e->kernel, edge)));
}

static bool same_edge(const struct sl_edge *a, const struct sl_edge *b)
{
  return a->producer == b->producer && a->consumer == b->consumer && a->block == b->block && a->k == b->k &&
         a->line == b->line && a->inner_block == b->inner_block && a->inner_k == b->inner_k && a->across == b->across;
}

static bool is_left(const struct explain *e, const struct sl_edge *edge)
{
  for (uint32_t i = 0; i < e->edges.len; i++)
    if (same_edge(edge, &e->edges.data[i]))
      return true;
  return false;
}

/* Whether a line names an instruction: by its label, or by what that is a copy of. */
static bool line_names(const struct explain *e, sl_name named, sl_index stmt)
{
  const char *label = name_text(e, sl_stmt_op(e->kernel, stmt)->label), *name = name_text(e, named);
  size_t length = strlen(name);
  return strncmp(label, name, length) == 0 && (!label[length] || sl_label_number(label + length) == label + length);
}

/* The `nodep` lines that name both ends. */
static void put_removed(struct explain *e)
{
  for (uint32_t i = 0; i < e->kernel->deps.len; i++) {
    const struct sl_dep *dep = &e->kernel->deps.data[i];
    if (!dep->removed || !line_names(e, dep->producer, e->producer) || !line_names(e, dep->consumer, e->consumer))
      continue;
    uint32_t line = line_of(e, dep->loc);
    sl_buf_puts(&e->out, "    `nodep`");
    if (line)
      sl_buf_printf(&e->out, " in line %u", line);
    sl_buf_printf(&e->out, ": %s\n", name_text(e, dep->reason));
  }
}

static uint32_t put_edges(struct explain *e)
{
  uint32_t found = 0;
  for (uint32_t i = 0; i < e->edges.len; i++) {
    if (!is_between(e, &e->edges.data[i]))
      continue;
    sl_buf_puts(&e->out, "  ");
    put_edge(e, &e->edges.data[i]);
    sl_buf_puts(&e->out, ", ");
    put_reason(e, &e->edges.data[i]);
    sl_buf_puts(&e->out, "; ");
    put_status(e, &e->reductions.edges[i]);
    sl_buf_putc(&e->out, '\n');
    found++;
  }
  for (uint32_t i = 0; i < e->all.len; i++) {
    if (!is_between(e, &e->all.data[i]) || is_left(e, &e->all.data[i]))
      continue;
    sl_buf_puts(&e->out, "  ");
    put_edge(e, &e->all.data[i]);
    sl_buf_puts(&e->out, ", ");
    put_reason(e, &e->all.data[i]);
    sl_buf_puts(&e->out, "; taken away:\n");
    put_removed(e);
    found++;
  }
  return found;
}

/* ---- what ends an access in between ---- */

/* Whether the ends have a dependence that says as much as `k` iterations of a block, 0 = the same iteration. */
static bool has_edge(const struct explain *e, sl_index block, uint32_t k)
{
  for (uint32_t i = 0; i < e->all.len; i++) {
    const struct sl_edge *edge = &e->all.data[i];
    if (is_between(e, edge) && (edge->k == 0 || edge->across || (edge->block == block && edge->k <= k)))
      return true;
  }
  return false;
}

/* Iterations that a dependence spans of a block; false when it is of no use for a way within so many. */
static bool spans(const struct explain *e, const struct sl_edge *edge, sl_index block, uint32_t *k)
{
  *k = edge->block == block ? edge->k : 0;
  return edge->line == SL_NO_LINE && (edge->k == 0 || sl_block_contains(e->kernel, block, edge->block)) &&
         edge->kind != SL_EDGE_ORDERED;
}

/* The way from the producer to every statement over dependences that were found, with the fewest iterations of a block. */
struct ways {
  uint32_t *last;  /* by statement: number + 1 of the last dependence on the way */
  uint32_t *k;     /* by statement: iterations so far */
};

static bool improve(const struct explain *e, struct ways *ways, uint32_t number, sl_index block, uint32_t most)
{
  const struct sl_edge *edge = &e->all.data[number];
  uint32_t k, before = edge->producer == e->producer ? 0 : ways->k[edge->producer];
  bool starts = edge->producer == e->producer || ways->last[edge->producer];
  if (!starts || is_between(e, edge) || !spans(e, edge, block, &k) || before + k > most)
    return false;
  if (ways->last[edge->consumer] && ways->k[edge->consumer] <= before + k)
    return false;
  ways->last[edge->consumer] = number + 1;
  ways->k[edge->consumer] = before + k;
  return true;
}

static struct ways find_ways(struct explain *e, sl_index block, uint32_t most)
{
  struct ways ways = { sl_heap_calloc(e->scratch, e->kernel->stmts.len, sizeof *ways.last),
                       sl_heap_calloc(e->scratch, e->kernel->stmts.len, sizeof *ways.k) };
  enum { ROUNDS = 64 }; /* longer ways than this are no explanation */
  bool changed = true;
  for (int round = 0; changed && round < ROUNDS; round++) {
    changed = false;
    for (uint32_t i = 0; i < e->all.len; i++)
      changed |= improve(e, &ways, i, block, most);
  }
  return ways;
}

/* "`w` in between: a -> w, w -> b": why two accesses that meet have no dependence. */
static void put_ending(struct explain *e, sl_index block, uint32_t k)
{
  struct ways ways = find_ways(e, block, k);
  sl_vec(uint32_t) path = { 0 };
  for (sl_index at = e->consumer; ways.last[at] && path.len < e->all.len;) {
    uint32_t number = ways.last[at] - 1;
    sl_vec_add(e->scratch, &path, number);
    at = e->all.data[number].producer;
    if (at == e->producer)
      break;
  }
  if (path.len == 0) {
    sl_buf_puts(&e->out, "; others in between order it");
    return;
  }
  sl_buf_puts(&e->out, "; ended in between, by ");
  for (uint32_t i = path.len; i-- > 0;) {
    put_edge(e, &e->all.data[path.data[i]]);
    sl_buf_puts(&e->out, i ? ", " : "");
  }
}

/* ---- pairs of accesses ---- */

/* Loops outside of the common block may hold different iterations of both; inside, any. */
static bool is_exclusive(const struct explain *e)
{
  const struct sl_kernel *kernel = e->kernel;
  sl_index p = kernel->stmts.data[e->producer].block, c = kernel->stmts.data[e->consumer].block;
  sl_index of_p = SL_NONE, of_c = SL_NONE;
  for (; p != e->common; p = sl_block_parent(kernel, p))
    of_p = p;
  for (; c != e->common; c = sl_block_parent(kernel, c))
    of_c = c;
  return of_p && of_c && of_p != of_c && block_at(e, of_p)->owner == block_at(e, of_c)->owner;
}

static void put_common(struct explain *e, const struct sl_footprint *p, const struct sl_footprint *c, sl_index block,
                       uint32_t k)
{
  struct sl_edge edge = { .producer = e->producer, .consumer = e->consumer, .block = block, .k = k };
  struct sl_overlap overlap = sl_overlap_of(&e->accesses, p, c, &edge);
  if (sl_overlap_is_empty(&overlap))
    return;
  sl_buf_puts(&e->out, " (");
  sl_overlap_print(&e->out, &e->accesses, &overlap);
  sl_buf_putc(&e->out, ')');
}

/* One way of meeting: k iterations of a block apart. */
static void put_meeting(struct explain *e, const struct sl_footprint *p, const struct sl_footprint *c, sl_index block,
                        uint32_t k)
{
  sl_buf_puts(&e->out, "      meet ");
  if (k == 0)
    sl_buf_puts(&e->out, is_loop_body(e, e->common) ? "in the same iteration" : "");
  else
    sl_buf_printf(&e->out, "%u iteration%s of loop %s apart%s", k, k == 1 ? "" : "s", loop_name(e, block),
                  k == 1 ? "" : ", and not before");
  put_common(e, p, c, block, k);
  if (e->kernel->is_explicit)
    sl_buf_puts(&e->out, "; the kernel is `explicit`: only its lines count");
  else if (!has_edge(e, block, k))
    put_ending(e, block, k);
  sl_buf_putc(&e->out, '\n');
}

static void put_interval(struct explain *e, struct sl_interval interval)
{
  sl_buf_int(&e->out, interval.min);
  sl_buf_putc(&e->out, ':');
  if (interval.max == SL_NO_MAX)
    sl_buf_putc(&e->out, '?');
  else
    sl_buf_int(&e->out, interval.max);
}

/* Why two accesses of one memory never meet, in whatever iterations. */
static bool put_disjoint(struct explain *e, const struct sl_footprint *p, const struct sl_footprint *c)
{
  struct sl_disjoint disjoint;
  if (!sl_overlap_is_disjoint(&disjoint, &e->accesses, p, c))
    return false;
  sl_buf_printf(&e->out, ": disjoint %s, ", disjoint.by_partition ? "partitions" : "bytes");
  if (disjoint.index)
    sl_buf_printf(&e->out, "index %u is ", disjoint.index);
  put_interval(e, disjoint.of_producer);
  sl_buf_puts(&e->out, " and ");
  put_interval(e, disjoint.of_consumer);
  sl_buf_putc(&e->out, '\n');
  return true;
}

/* Why the same iteration has no dependence; true when it has. */
static bool put_same_iteration(struct explain *e, const struct sl_footprint *p, const struct sl_footprint *c)
{
  if (is_exclusive(e))
    sl_buf_puts(&e->out, "      not in the same iteration: they stand in exclusive arms\n");
  else if (e->position[e->producer] >= e->position[e->consumer])
    sl_buf_printf(&e->out, "      not in the same iteration: `%s` %s\n",
                  name_text(e, sl_stmt_op(e->kernel, e->producer)->label),
                  e->producer == e->consumer ? "does not wait for itself" : "stands after the other");
  else if (!sl_conflict_same(&e->accesses.footprints, p, c, e->common))
    sl_buf_puts(&e->out, "      not in the same iteration: their indices never agree in it\n");
  else {
    put_meeting(e, p, c, e->common, 0);
    return true;
  }
  return false;
}

static void put_carried(struct explain *e, const struct sl_footprint *p, const struct sl_footprint *c, sl_index body)
{
  int64_t trips = sl_footprint_trips(&e->accesses.footprints, body);
  if (trips <= 1) {
    sl_buf_printf(&e->out, "      not carried by loop %s: it makes %s\n", loop_name(e, body),
                  trips < 1 ? "no trip" : "one trip");
    return;
  }
  uint32_t k = sl_conflict_distance(&e->accesses.footprints, p, c, body, trips);
  if (k)
    put_meeting(e, p, c, body, k);
  else
    sl_buf_printf(&e->out, "      not carried by loop %s: their indices agree in no two of its iterations\n",
                  loop_name(e, body));
}

/* Loops that make no trip hold nothing that runs. */
static bool put_never_runs(struct explain *e)
{
  sl_index ends[2] = { e->producer, e->consumer };
  for (int i = 0; i < 2; i++)
    for (sl_index block = e->kernel->stmts.data[ends[i]].block; block; block = sl_block_parent(e->kernel, block))
      if (is_loop_body(e, block) && sl_footprint_trips(&e->accesses.footprints, block) == 0) {
        sl_buf_printf(&e->out, "  `%s` never runs: loop %s makes no trip\n",
                      name_text(e, sl_stmt_op(e->kernel, ends[i])->label), loop_name(e, block));
        return true;
      }
  return false;
}

static void put_pair(struct explain *e, const struct sl_footprint *p, const struct sl_footprint *c)
{
  sl_buf_printf(&e->out, "    `%s` %s ", name_text(e, sl_stmt_op(e->kernel, e->producer)->label), verb(p));
  put_access(e, p);
  sl_buf_printf(&e->out, ", `%s` %s ", name_text(e, sl_stmt_op(e->kernel, e->consumer)->label), verb(c));
  put_access(e, c);
  if (p->memory != c->memory) {
    sl_buf_puts(&e->out, ": different buffers, which share no memory\n");
    return;
  }
  if (put_disjoint(e, p, c))
    return;
  sl_buf_putc(&e->out, '\n');
  if (put_same_iteration(e, p, c))
    return; /* that holds for all iterations before as well */
  for (sl_index block = e->common; block; block = sl_block_parent(e->kernel, block))
    if (is_loop_body(e, block))
      put_carried(e, p, c, block);
}

static void put_pairs(struct explain *e)
{
  uint32_t p_count, c_count, read = 0;
  const struct sl_footprint *p = sl_accesses_get(&e->accesses, e->producer, &p_count);
  const struct sl_footprint *c = sl_accesses_get(&e->accesses, e->consumer, &c_count);
  if (p_count && c_count)
    sl_buf_puts(&e->out, "  accesses:\n");
  else
    sl_buf_printf(&e->out, "  `%s` touches no buffer\n",
                  name_text(e, sl_stmt_op(e->kernel, p_count ? e->consumer : e->producer)->label));
  for (uint32_t i = 0; i < p_count; i++)
    for (uint32_t j = 0; j < c_count; j++) {
      if (writes(&p[i]) || writes(&c[j]))
        put_pair(e, &p[i], &c[j]);
      else
        read++;
    }
  if (read)
    sl_buf_printf(&e->out, "    %u pair%s of accesses that only read ask%s for nothing\n", read, read == 1 ? "" : "s",
                  read == 1 ? "s" : "");
}

/* ---- the call ---- */

static void put_answer(struct explain *e)
{
  e->common = sl_common_block(e->kernel, e->producer, e->consumer);
  if (e->out.len)
    sl_buf_putc(&e->out, '\n');
  put_instruction(e, e->producer);
  sl_buf_puts(&e->out, ", then ");
  put_instruction(e, e->consumer);
  sl_buf_puts(&e->out, ":\n");
  if (put_never_runs(e))
    return;
  if (put_edges(e) == 0)
    sl_buf_puts(&e->out, "  no dependence\n");
  put_pairs(e);
}

/* The label itself, or a copy of it. */
static bool is_meant(const struct explain *e, sl_index stmt, const char *label)
{
  if (e->kernel->stmts.data[stmt].kind != SL_STMT_OP || !sl_stmt_op(e->kernel, stmt)->label)
    return false;
  const char *own = name_text(e, sl_stmt_op(e->kernel, stmt)->label);
  size_t length = strlen(label);
  return strncmp(own, label, length) == 0 && (!own[length] || own[length] == '.');
}

static int report_unknown(struct explain *e, const char *label)
{
  sl_vec(const char *) known = { 0 };
  for (sl_index at = sl_walk_first(e->kernel, e->kernel->root); at; at = sl_walk_next(e->kernel, e->kernel->root, at))
    if (e->kernel->stmts.data[at].kind == SL_STMT_OP && sl_stmt_op(e->kernel, at)->label)
      sl_vec_add(e->scratch, &known, name_text(e, sl_stmt_op(e->kernel, at)->label));
  const char *closest = sl_closest(label, known.data, known.len);
  sl_report_begin(&e->call.report, SLUICE_ERROR, SL_RULE_UNDEFINED, SL_NO_LOC,
                  "no instruction of kernel '%s' is called '%s'", name_text(e, e->kernel->name), label);
  if (closest)
    sl_report_note(&e->call.report, SL_NO_LOC, "did you mean '%s'?", closest);
  sl_report_end(&e->call.report);
  return SLUICE_E_INPUT;
}

typedef sl_vec(sl_index) stmts;

/* Instructions that a label names, in the order of the text; SLUICE_E_INPUT when there is none. */
static int find_meant(struct explain *e, const char *label, stmts *found)
{
  for (sl_index at = sl_walk_first(e->kernel, e->kernel->root); at; at = sl_walk_next(e->kernel, e->kernel->root, at))
    if (is_meant(e, at, label))
      sl_vec_add(e->scratch, found, at);
  return found->len ? SLUICE_OK : report_unknown(e, label);
}

/* As sl_deps_resolve, keeping what there was before `nodep` lines. */
static int find_edges(struct explain *e)
{
  struct sl_kernel_call *call = &e->call;
  if (!e->kernel->is_explicit)
    sl_deps_infer(&e->all, e->scratch, call->program, e->kernel, call->target, SL_INFER_ALL);
  int status = sl_lines_resolve(&e->all, e->scratch, call->program, e->kernel, &call->report);
  if (status != SLUICE_OK)
    return status;
  sl_vec_copy(e->scratch, &e->edges, &e->all);
  sl_lines_remove(&e->edges, e->scratch, call->program, e->kernel, &call->report);
  sl_deps_reduce(&e->reductions, e->scratch, e->program, e->kernel, call->target, &e->edges);
  return SLUICE_OK;
}

static void find_positions(struct explain *e)
{
  uint32_t position = 0;
  e->position = sl_heap_calloc(e->scratch, e->kernel->stmts.len, sizeof *e->position);
  for (sl_index at = sl_walk_first(e->kernel, e->kernel->root); at; at = sl_walk_next(e->kernel, e->kernel->root, at))
    e->position[at] = ++position;
}

static int explain(void *arg)
{
  struct explain *e = arg;
  stmts producers = { 0 }, consumers = { 0 };
  e->scratch = &e->call.scratch;
  e->program = e->call.program;
  e->kernel = e->call.kernel;
  int status = find_meant(e, e->labels[0], &producers);
  if (status == SLUICE_OK)
    status = find_meant(e, e->labels[1], &consumers);
  if (status == SLUICE_OK)
    status = find_edges(e);
  if (status != SLUICE_OK)
    return status;
  sl_accesses_init(&e->accesses, e->scratch, e->program, e->kernel, e->call.target);
  find_positions(e);
  sl_buf_init(&e->out, e->scratch);
  for (uint32_t i = 0; i < producers.len; i++)
    for (uint32_t j = 0; j < consumers.len; j++) {
      e->producer = producers.data[i];
      e->consumer = consumers.data[j];
      put_answer(e);
    }
  e->text = sl_buf_export(&e->out);
  return SLUICE_OK;
}

int sluice_deps_explain(char **text, const sluice_program *program, size_t kernel, const char *producer,
                        const char *consumer, const sluice_targets *targets, const sluice_sink *sink)
{
  assert(text && program && producer && consumer && targets && kernel < program->kernels.len);
  sl_guard guard;
  struct explain e = { .call = { .input = program, .number = kernel, .targets = targets },
                       .labels = { producer, consumer } };
  int status = sl_kernel_call_run(&e.call, &guard, sink, explain, &e);
  *text = e.text;
  return status;
}
