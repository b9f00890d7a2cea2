/* unroll_factor.c: carries out `loop v < e unroll c`: c copies of the body in a loop of a c-th of the trips.
 *
 * Requires a kernel whose copies are expanded. In copy j the loop variable stands for c*v + j and labels end in `.j`, so that a
 * line that names `x` still means all copies. Lines with both ends in the loop are rewritten when the loop or something inside
 * it carries them: a consumer in copy b at distance k needs the producer in copy (b - k) mod c, ceil((k - b) / c) iterations
 * ago. Everything else holds as it stands: an outer loop's distance asks for all copies.
 *
 * A loop keeps its request, with a warning, where this cannot be done (obstacle). Inner loops first. Linear in the output, times
 * the number of requests for what is asked of lines.
 */
#include <assert.h>

#include "ir/copy.h"
#include "ir/eval.h"
#include "sync/passes.h"
#include "sync/plan.h"

typedef sl_vec(struct sl_dep) dep_list;

struct factor {
  sl_heap *heap;
  sl_program *program;
  struct sl_kernel *kernel;
  struct sl_copier copier;
  sl_index loop, body;
  sl_name var;
  uint32_t copy;      /* being made */
  sl_index value;     /* expression that stands for the variable in it */
  sl_map inside;      /* label of the body, and every prefix of one that names copies -> 1: exact, 2: prefix */
  sl_map inner_loops; /* variables of loops in the body -> 1 */
};

static sl_index substitute(void *user, sl_name name)
{
  const struct factor *f = user;
  return name == f->var ? f->value : SL_NONE;
}

static sl_name relabel(void *user, sl_name label)
{
  const struct factor *f = user;
  return sl_internf(f->program, "%s.%u", sl_text(f->program, label), f->copy);
}

/* ---- what lines are about ---- */

enum { EXACT = 1, PREFIX = 2 };

static void note_labels(struct factor *f)
{
  const struct sl_kernel *kernel = f->kernel;
  for (sl_index at = sl_walk_first(kernel, f->body); at; at = sl_walk_next(kernel, f->body, at)) {
    if (kernel->stmts.data[at].kind == SL_STMT_LOOP)
      *sl_map_put(&f->inner_loops, f->heap, sl_stmt_loop(kernel, at)->var, NULL) = 1;
    if (kernel->stmts.data[at].kind != SL_STMT_OP || !sl_stmt_op(kernel, at)->label)
      continue;
    sl_name label = sl_stmt_op(kernel, at)->label;
    const char *text = sl_text(f->program, label);
    for (const char *number = sl_label_number(text); number; number = sl_label_number(number + 1)) {
      sl_name prefix = sl_names_find(&f->program->names, text, (size_t)(number - text));
      if (prefix)
        *sl_map_put(&f->inside, f->heap, prefix, NULL) |= PREFIX;
    }
    *sl_map_put(&f->inside, f->heap, label, NULL) |= EXACT;
  }
}

static uint32_t place_of(const struct factor *f, sl_name label)
{
  const uint32_t *at = sl_map_get(&f->inside, label);
  return at ? *at : 0;
}

/* Whether the loop, or something inside it, carries the line: then *own is its component for the loop. */
static bool is_carried_here(const struct factor *f, const struct sl_dep *dep, struct sl_distance *own)
{
  *own = (struct sl_distance){ .loop = f->var };
  for (uint32_t i = 0; i < dep->distance_count; i++) {
    const struct sl_distance *distance = &f->kernel->distances.data[dep->first_distance + i];
    if (distance->loop == f->var)
      *own = *distance;
    else if (!sl_map_get(&f->inner_loops, distance->loop))
      return false;
  }
  return true;
}

/* Why a line with both ends in the loop cannot be split; NULL if it can. */
static const char *obstacle_of_line(const struct factor *f, const struct sl_dep *dep, bool names_copies)
{
  const struct sl_distance *distances = sl_dep_distances(f->kernel, dep);
  struct sl_distance own;
  for (uint32_t i = 0; i < dep->distance_count; i++) {
    if (distances[i].loop == f->var && dep->distance_count > 1 && (i > 0 || distances[i].k != 0))
      return "a dependence line has two distances in it";
    bool is_inner = sl_map_get(&f->inner_loops, distances[i].loop) != NULL; /* it would become several loops */
    if (is_inner && distances[i].across)
      return "a dependence line counts through all visits of a loop in it";
    if (is_inner && !is_carried_here(f, dep, &own))
      return "a dependence line that is carried further out has a distance at a loop in it";
  }
  return names_copies && is_carried_here(f, dep, &own) ? "a dependence line names several copies in it" : NULL;
}

static const char *line_obstacle(const struct factor *f)
{
  const char *why = NULL;
  for (uint32_t line = 0; line < f->kernel->deps.len && !why; line++) {
    const struct sl_dep *dep = &f->kernel->deps.data[line];
    uint32_t p = place_of(f, dep->producer), c = place_of(f, dep->consumer);
    if (p && c)
      why = obstacle_of_line(f, dep, !(p & EXACT) || !(c & EXACT));
  }
  return why;
}

/* Why the loop cannot be unrolled, or NULL. */
static const char *obstacle(struct factor *f, const struct sl_param_values *params)
{
  const struct sl_kernel *kernel = f->kernel;
  const struct sl_loop *loop = sl_stmt_loop(kernel, f->loop);
  if (!loop->has_range || loop->while_cond.count || loop->divergent || !loop->short_range)
    return "it is not of the form `loop v < e`";
  struct sl_constant trips = sl_eval_params(params, loop->hi);
  if (trips.state != SL_CONST_KNOWN)
    return "its trip count is not static";
  if (trips.value < 0 || trips.value % loop->unroll != 0)
    return "the factor does not divide its trip count";
  f->value = sl_expr_name(f->kernel, SL_EXPR_NAME, f->var, SL_NO_LOC);
  for (sl_index at = sl_walk_first(kernel, f->body); at; at = sl_walk_next(kernel, f->body, at)) {
    uint8_t kind = kernel->stmts.data[at].kind;
    if (kind == SL_STMT_OP && !sl_copy_can(&f->copier, sl_stmt_op(kernel, at)))
      return "its variable is an operand of a register operation";
    if ((kind == SL_STMT_IF && sl_copy_is_opaque(kernel, sl_stmt_branch(kernel, at)->cond)) ||
        (kind == SL_STMT_LOOP && sl_copy_is_opaque(kernel, sl_stmt_loop(kernel, at)->while_cond)))
      return "an opaque condition in it has one sequence, not one per copy";
  }
  note_labels(f);
  return line_obstacle(f);
}

/* ---- carrying it out ---- */

/* Every visit makes a whole number of new trips, so a distance across visits is split as any other. */
static void split_line(struct factor *f, const struct sl_dep *dep, struct sl_distance own, int64_t copies, dep_list *out)
{
  int64_t k = own.k;
  for (int64_t b = 0; b < copies; b++) {
    int64_t r = ((b - k) % copies + copies) % copies, ago = (r - (b - k)) / copies;
    assert(r >= 0 && r < copies && ago >= 0 && "the copy that is needed ran in this iteration or before");
    struct sl_dep line = *dep;
    f->copy = (uint32_t)r;
    line.producer = relabel(f, dep->producer);
    f->copy = (uint32_t)b;
    line.consumer = relabel(f, dep->consumer);
    if (b > 0) { /* the first keeps what the author wrote around it */
      line.trivia = SL_NONE;
      line.flags = 0;
    }
    if (k != 0) {
      line.first_distance = f->kernel->distances.len;
      line.distance_count = ago ? 1 : 0;
      if (ago)
        sl_vec_add(f->kernel->heap, &f->kernel->distances, ((struct sl_distance){ f->var, (int32_t)ago, own.across }));
    }
    sl_vec_add(f->heap, out, line);
  }
}

static void split_lines(struct factor *f, int64_t copies)
{
  struct sl_kernel *kernel = f->kernel;
  dep_list lines = { 0 };
  for (uint32_t i = 0; i < kernel->deps.len; i++) {
    const struct sl_dep dep = kernel->deps.data[i];
    struct sl_distance own;
    if (place_of(f, dep.producer) && place_of(f, dep.consumer) && is_carried_here(f, &dep, &own))
      split_line(f, &dep, own, copies, &lines);
    else
      sl_vec_add(f->heap, &lines, dep);
  }
  kernel->deps.len = 0;
  for (uint32_t i = 0; i < lines.len; i++)
    sl_vec_add(kernel->heap, &kernel->deps, lines.data[i]);
}

static void carry_out(struct factor *f)
{
  struct sl_kernel *kernel = f->kernel;
  uint32_t copies = sl_stmt_loop(kernel, f->loop)->unroll;
  sl_index body = sl_block_new(kernel, f->loop);
  for (f->copy = 0; f->copy < copies; f->copy++) {
    sl_index variable = sl_expr_name(kernel, SL_EXPR_NAME, f->var, SL_NO_LOC);
    sl_index scaled = sl_expr_binary(kernel, SL_EXPR_MUL, sl_expr_int(kernel, copies, SL_NO_LOC), variable, SL_NO_LOC);
    f->value = f->copy ? sl_expr_binary(kernel, SL_EXPR_ADD, scaled, sl_expr_int(kernel, f->copy, SL_NO_LOC), SL_NO_LOC)
                       : scaled;
    f->copier.keeps_comments = f->copy == 0;
    sl_copy_block(&f->copier, f->body, body);
  }
  split_lines(f, copies);
  sl_index trips = sl_stmt_loop(kernel, f->loop)->hi, divisor = sl_expr_int(kernel, copies, SL_NO_LOC);
  sl_index fewer = sl_expr_binary(kernel, SL_EXPR_DIV, trips, divisor, SL_NO_LOC);
  if (kernel->exprs.data[trips].kind == SL_EXPR_INT)
    fewer = sl_expr_int(kernel, kernel->exprs.data[trips].u.value / copies, SL_NO_LOC);
  struct sl_loop *loop = sl_stmt_loop(kernel, f->loop);
  loop->hi = fewer;
  loop->body = body;
  loop->unroll = 0;
}

static void unroll_one(sl_program *program, struct sl_kernel *kernel, sl_index loop, const struct sl_param_values *params,
                       sl_report *report)
{
  struct factor f = { .heap = sl_heap_child_new(&program->heap), .program = program, .kernel = kernel, .loop = loop };
  f.body = sl_stmt_loop(kernel, loop)->body;
  f.var = sl_stmt_loop(kernel, loop)->var;
  f.copier = (struct sl_copier){ program, kernel, substitute, relabel, &f, false };
  const char *why = obstacle(&f, params);
  if (!why)
    carry_out(&f);
  else
    sl_warning(report, SL_RULE_UNROLL_KEPT, kernel->stmts.data[loop].loc,
               "the request to unroll loop '%s' is kept, not carried out: %s", sl_text(program, f.var), why);
  sl_heap_child_free(f.heap);
}

void sl_unroll_requested(sl_program *program, struct sl_kernel *kernel, sl_report *report)
{
  sl_heap *heap = sl_heap_child_new(&program->heap);
  sl_vec(sl_index) loops = { 0 };
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at))
    if (kernel->stmts.data[at].kind == SL_STMT_LOOP && sl_stmt_loop(kernel, at)->unroll > 1)
      sl_vec_add(heap, &loops, at);
  struct sl_param_values params;
  sl_param_values_init(&params, heap, kernel, true);
  for (uint32_t i = loops.len; i-- > 0;) /* inner ones first: they come later in the text */
    unroll_one(program, kernel, loops.data[i], &params, report);
  sl_heap_child_free(heap);
}
