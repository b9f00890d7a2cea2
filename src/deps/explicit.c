/* explicit.c: see explicit.h. */
#include "deps/explicit.h"

#include <assert.h>

#include "base/prefetch.h"

struct copy_list {
  sl_vec(sl_name) labels;
};

/* What a label's ends need of an instruction, in one place: dependences jump about in a large kernel. */
struct labelled {
  sl_index stmt; /* 0 = no such label */
  sl_index block;
  uint32_t position;
  uint32_t stream;  /* of an operation on one stream */
  uint8_t op_class; /* enum sl_op_class */
};

struct resolver {
  sl_heap *heap;
  sl_program *program;
  struct sl_kernel *kernel;
  sl_report *report;
  sl_edges *edges;                  /* NULL: only to be checked, each line that is cut is said once */
  sl_vec(struct labelled) by_label; /* by name */
  sl_map copies;                    /* base name -> index into copy_lists */
  sl_vec(struct copy_list) copy_lists;
};

static void note_copy(struct resolver *r, sl_name base, sl_name label)
{
  bool is_new;
  uint32_t *at = sl_map_put(&r->copies, r->heap, base, &is_new);
  if (is_new) {
    *at = r->copy_lists.len;
    (void)sl_vec_push(r->heap, &r->copy_lists);
  }
  sl_vec_add(r->heap, &r->copy_lists.data[*at].labels, label);
}

static void find_labels(struct resolver *r)
{
  const struct sl_kernel *kernel = r->kernel;
  (void)sl_vec_extend(r->heap, &r->by_label, r->program->names.len);
  uint32_t position = 0;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at)) {
    position++;
    if (kernel->stmts.data[at].kind != SL_STMT_OP || !sl_stmt_op(kernel, at)->label)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, at);
    sl_name label = op->label;
    r->by_label.data[label] =
        (struct labelled){ at, kernel->stmts.data[at].block, position, op->stream, sl_opcode_table[op->code].op_class };
    /* Every prefix that ends before a number names this copy too: "ld", "ld.0" for "ld.0.1". */
    const char *text = sl_text(r->program, label);
    for (const char *number = sl_label_number(text); number; number = sl_label_number(number + 1)) {
      sl_name base = sl_names_find(&r->program->names, text, (size_t)(number - text));
      if (base)
        note_copy(r, base, label);
    }
  }
}

/* The instructions a label names, as labels: itself, else its copies. `*label` must live as long as the answer. */
static const sl_name *find_ends(struct resolver *r, const sl_name *label, uint32_t *count)
{
  *count = 1;
  if (*label < r->by_label.len && r->by_label.data[*label].stmt)
    return label;
  const uint32_t *at = sl_map_get(&r->copies, *label);
  *count = at ? r->copy_lists.data[*at].labels.len : 0;
  return at ? r->copy_lists.data[*at].labels.data : NULL;
}

/* What a label is a copy of, the next level up: "ld.0" for "ld.0.1"; 0 = nothing. */
static sl_name base_of(const struct resolver *r, sl_name label)
{
  const char *text = sl_text(r->program, label), *last = NULL;
  for (const char *number = sl_label_number(text); number; number = sl_label_number(number + 1))
    last = number;
  return last ? sl_names_find(&r->program->names, text, (size_t)(last - text)) : 0;
}

/* The body of the loop of that variable around both ends, or 0. */
static sl_index carrying_block(const struct sl_kernel *kernel, sl_index common, sl_name loop)
{
  for (sl_index block = common; block; block = sl_block_parent(kernel, block)) {
    sl_index owner = kernel->blocks.data[block].owner;
    if (owner && kernel->stmts.data[owner].kind == SL_STMT_LOOP && sl_stmt_loop(kernel, owner)->var == loop)
      return block;
  }
  return SL_NONE;
}

static void report_backward(struct resolver *r, const struct sl_dep *dep, sl_index producer, sl_index consumer)
{
  const struct sl_kernel *kernel = r->kernel;
  const char *p = sl_text(r->program, dep->producer), *c = sl_text(r->program, dep->consumer);
  if (producer == consumer)
    sl_report_begin(r->report, SLUICE_ERROR, SL_RULE_DEP_BACKWARD, dep->loc,
                    "'%s' cannot wait for itself in the same iteration: give the line a distance", p);
  else
    sl_report_begin(r->report, SLUICE_ERROR, SL_RULE_DEP_BACKWARD, dep->loc,
                    "'%s' stands after its consumer '%s' and has no instance before it in this iteration: move it "
                    "before '%s', or give the line a distance",
                    p, c, c);
  sl_report_note(r->report, kernel->stmts.data[consumer].loc, "the consumer is here");
  if (producer != consumer)
    sl_report_note(r->report, kernel->stmts.data[producer].loc, "the producer is here");
  sl_report_end(r->report);
}

static bool has_loop_around(const struct sl_kernel *kernel, sl_index body)
{
  for (sl_index block = sl_block_parent(kernel, body); block; block = sl_block_parent(kernel, block)) {
    sl_index owner = kernel->blocks.data[block].owner;
    if (owner && kernel->stmts.data[owner].kind == SL_STMT_LOOP)
      return true;
  }
  return false;
}

static bool report_negative(struct resolver *r, const struct sl_dep *dep)
{
  sl_error(r->report, SL_RULE_DEP_BACKWARD, dep->loc,
           "the outermost distance of '%s' -> '%s' is negative: the producer would run after its consumer",
           sl_text(r->program, dep->producer), sl_text(r->program, dep->consumer));
  return false;
}

static bool report_far(struct resolver *r, const struct sl_dep *dep, int32_t k)
{
  sl_error(r->report, SL_RULE_DEP, dep->loc, "a distance of %d iterations is too large: at most %d", k, SL_DISTANCE_MAX);
  return false;
}

/* Why a line's distances behind the outermost one do not count, NULL when they do; as static text. */
static const char *why_cut(const struct sl_kernel *kernel, const struct sl_edge *edge, sl_index inner, uint32_t behind)
{
  if (behind > 1)
    return "a vector has two distances";
  sl_index owner = kernel->blocks.data[inner].owner;
  return kernel->stmts.data[owner].block == edge->block ? NULL : "the other loop does not stand directly in that one";
}

/* Fills block, k and the inner component from the line's distances; false after reporting. Zeros in front say nothing. What
 * is no vector of two loops, one directly in the other, is cut at the outermost: `*cut` says why. */
static bool place_edge(struct resolver *r, const struct sl_dep *dep, sl_index common, struct sl_edge *edge,
                       const char **cut)
{
  const struct sl_kernel *kernel = r->kernel;
  const struct sl_distance *inner = NULL;
  sl_index inner_block = SL_NONE;
  uint32_t behind = 0; /* the outermost distance that is not 0 */
  edge->block = common;
  for (uint32_t i = 0; i < dep->distance_count; i++) {
    const struct sl_distance *distance = &kernel->distances.data[dep->first_distance + i];
    sl_index block = carrying_block(kernel, common, distance->loop);
    if (!block) {
      sl_error(r->report, SL_RULE_DEP, dep->loc, "loop '%s' is not around both '%s' and '%s'",
               sl_text(r->program, distance->loop), sl_text(r->program, dep->producer),
               sl_text(r->program, dep->consumer));
      return false;
    }
    if (edge->k > 0) {
      inner = distance;
      inner_block = block;
      behind++;
    } else if (distance->k < 0) {
      return report_negative(r, dep);
    } else if (distance->k > SL_DISTANCE_MAX) {
      return report_far(r, dep, distance->k);
    } else if (distance->k > 0) {
      edge->block = block;
      edge->k = (uint32_t)distance->k;
      edge->across = distance->across && has_loop_around(kernel, block); /* of a single visit it says nothing */
    }
  }
  const char *why = behind ? why_cut(kernel, edge, inner_block, behind) : NULL;
  if (behind && !why) {
    edge->inner_block = inner_block;
    edge->inner_k = inner->k;
  }
  *cut = why ? why : *cut;
  return true;
}

static void add_pair(struct resolver *r, uint32_t line, const struct labelled *producer,
                     const struct labelled *consumer, const char **cut)
{
  const struct sl_dep *dep = &r->kernel->deps.data[line];
  struct sl_edge edge = { .producer = producer->stmt,
                          .consumer = consumer->stmt,
                          .line = line,
                          .producer_stalls = producer->op_class == SL_CLASS_LOAD,
                          .producer_block = producer->block,
                          .producer_position = producer->position,
                          .producer_stream = producer->stream };
  if (!place_edge(r, dep, sl_common_block_of(r->kernel, producer->block, consumer->block), &edge, cut))
    return;
  if (edge.k == 0 && producer->position >= consumer->position) {
    report_backward(r, dep, edge.producer, edge.consumer);
    return;
  }
  if (r->edges)
    sl_vec_add(r->heap, r->edges, edge);
}

/* Register operations and sem_set are control: they are done when they are passed, nothing can wait for them. */
static bool check_ends(struct resolver *r, const struct sl_dep *dep, const sl_name *labels, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) {
    const struct labelled *end = &r->by_label.data[labels[i]];
    if (end->op_class != SL_CLASS_REGISTER && end->op_class != SL_CLASS_SEMAPHORE)
      continue;
    sl_report_begin(r->report, SLUICE_ERROR, SL_RULE_DEP, dep->loc,
                    "'%s' is a control operation: only instructions can be ends of a dependence",
                    sl_text(r->program, labels[i]));
    sl_report_note(r->report, r->kernel->stmts.data[end->stmt].loc, "it is here");
    sl_report_end(r->report);
    return false;
  }
  return true;
}

static void add_line(struct resolver *r, uint32_t line)
{
  const struct sl_dep *dep = &r->kernel->deps.data[line];
  uint32_t producer_count, consumer_count;
  const sl_name *producers = find_ends(r, &dep->producer, &producer_count);
  const sl_name *consumers = find_ends(r, &dep->consumer, &consumer_count);
  if (!check_ends(r, dep, producers, producer_count) || !check_ends(r, dep, consumers, consumer_count))
    return;
  const char *cut = NULL;
  for (uint32_t i = 0; i < producer_count; i++)
    for (uint32_t j = 0; j < consumer_count; j++)
      add_pair(r, line, &r->by_label.data[producers[i]], &r->by_label.data[consumers[j]], &cut);
  if (cut && !r->edges)
    sl_warning(r->report, SL_RULE_VECTOR_CUT, dep->loc,
               "'%s' -> '%s': only the distance at the outermost loop counts, which may wait longer: %s",
               sl_text(r->program, dep->producer), sl_text(r->program, dep->consumer), cut);
}

static bool is_inner_component(const struct sl_kernel *kernel, const struct sl_edge *edge,
                               const struct sl_distance *distance)
{
  if (!sl_edge_is_vector(edge) || distance->k != edge->inner_k)
    return false;
  sl_index owner = kernel->blocks.data[edge->inner_block].owner;
  return sl_stmt_loop(kernel, owner)->var == distance->loop;
}

/* Whether a nodep line names just the distance of an edge. */
static bool same_distance(const struct sl_kernel *kernel, const struct sl_edge *edge, const struct sl_dep *removed)
{
  uint32_t non_zero = 0;
  for (uint32_t i = 0; i < removed->distance_count; i++) {
    const struct sl_distance *distance = &kernel->distances.data[removed->first_distance + i];
    if (distance->k == 0 && !(non_zero && sl_edge_is_vector(edge)))
      continue;
    sl_index block = carrying_block(kernel, edge->block, distance->loop);
    bool is_outer = block == edge->block && distance->k == (int64_t)edge->k && distance->across == edge->across;
    if (!(non_zero == 0 ? is_outer : is_inner_component(kernel, edge, distance)))
      return false;
    non_zero++;
  }
  return non_zero == (edge->k > 0) + (uint32_t)sl_edge_is_vector(edge);
}

/* The rows of nodep lines for the ends of an edge: the labels of its line, or those of its instructions and what they are copies
 * of. */
static const uint32_t *find_nodep(const struct resolver *r, const sl_map *by_ends, const struct sl_edge *edge)
{
  if (edge->line != SL_NO_LINE) {
    const struct sl_dep *dep = &r->kernel->deps.data[edge->line];
    return sl_map_get(by_ends, sl_map_pair(dep->producer, dep->consumer));
  }
  sl_name producer = sl_stmt_op(r->kernel, edge->producer)->label;
  sl_name consumer = sl_stmt_op(r->kernel, edge->consumer)->label;
  const uint32_t *found = NULL;
  for (sl_name p = producer; p && !found; p = base_of(r, p))
    for (sl_name c = consumer; c && !found; c = base_of(r, c))
      found = sl_map_get(by_ends, sl_map_pair(p, c));
  return found;
}

struct nodep_row {
  uint32_t line, next, taken; /* next: index + 1 of another row with the same ends */
};
typedef sl_vec(struct nodep_row) nodep_rows;

static void remove_edges(struct resolver *r, sl_map *by_ends, nodep_rows *rows)
{
  const struct sl_dep *deps = r->kernel->deps.data;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < r->edges->len; i++) {
    const uint32_t *first = find_nodep(r, by_ends, &r->edges->data[i]);
    bool taken = false;
    for (uint32_t row = first ? *first : 0; row && !taken; row = rows->data[row - 1].next) {
      const struct sl_dep *removed = &deps[rows->data[row - 1].line];
      taken = removed->distance_count == 0 || same_distance(r->kernel, &r->edges->data[i], removed);
      rows->data[row - 1].taken += taken;
    }
    if (!taken)
      r->edges->data[kept++] = r->edges->data[i];
  }
  r->edges->len = kept;
}

/* Applies the nodep lines and reports what each took. O(edges + lines) but for lines that share both ends. */
static void apply_nodeps(struct resolver *r)
{
  const struct sl_kernel *kernel = r->kernel;
  sl_map by_ends = { 0 };
  nodep_rows rows = { 0 };
  for (uint32_t line = 0; line < kernel->deps.len; line++) {
    const struct sl_dep *dep = &kernel->deps.data[line];
    if (!dep->removed)
      continue;
    uint32_t *first = sl_map_put(&by_ends, r->heap, sl_map_pair(dep->producer, dep->consumer), NULL);
    sl_vec_add(r->heap, &rows, ((struct nodep_row){ line, *first, 0 }));
    *first = rows.len;
  }
  if (rows.len)
    remove_edges(r, &by_ends, &rows);
  for (uint32_t i = 0; i < rows.len; i++) {
    const struct sl_dep *removed = &kernel->deps.data[rows.data[i].line];
    if (rows.data[i].taken)
      sl_warning(r->report, SL_RULE_NODEP, removed->loc, "'%s' -> '%s' is not enforced: %s",
                 sl_text(r->program, removed->producer), sl_text(r->program, removed->consumer),
                 sl_text(r->program, removed->reason));
  }
}

static void resolve_lines(struct resolver *r)
{
  find_labels(r);
  const struct sl_dep *deps = r->kernel->deps.data;
  uint32_t count = r->kernel->deps.len;
  for (uint32_t line = 0; line < count; line++) {
    if (line + SL_PREFETCH_AHEAD < count)
      sl_prefetch(&r->by_label.data[deps[line + SL_PREFETCH_AHEAD].producer]);
    if (!deps[line].removed)
      add_line(r, line);
  }
}

int sl_lines_resolve(sl_edges *edges, sl_heap *heap, sl_program *program, struct sl_kernel *kernel, sl_report *report)
{
  struct resolver r = { .heap = heap, .program = program, .kernel = kernel, .report = report, .edges = edges };
  uint32_t errors = report->errors;
  sl_vec_reserve(heap, edges, kernel->deps.len);
  resolve_lines(&r);
  return report->errors == errors ? SLUICE_OK : SLUICE_E_INPUT;
}

void sl_lines_remove(sl_edges *edges, sl_heap *heap, sl_program *program, struct sl_kernel *kernel, sl_report *report)
{
  struct resolver r = { .heap = heap, .program = program, .kernel = kernel, .report = report, .edges = edges };
  apply_nodeps(&r);
}

int sl_lines_check(sl_program *program, struct sl_kernel *kernel, sl_report *report)
{
  sl_heap *scratch = sl_heap_child_new(&program->heap);
  struct resolver r = { .heap = scratch, .program = program, .kernel = kernel, .report = report };
  uint32_t errors = report->errors;
  resolve_lines(&r);
  sl_heap_child_free(scratch);
  return report->errors == errors ? SLUICE_OK : SLUICE_E_INPUT;
}
