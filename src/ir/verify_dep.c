/* verify_dep.c: dependence lines: their labels, the loops of their distances, and the distances themselves. A
 * label without an instruction of its own names its copies `label.N`, all of them. O(labels + lines * depth);
 * lines without distances cost O(1). Which instances a line orders is decided in deps/explicit.c.
 */
#include "base/prefetch.h"
#include "ir/verify.h"

struct dep_check {
  struct sl_verifier *v;
  sl_map copies; /* base name -> block around all of its copies */
};

static sl_index common_block(const struct sl_verifier *v, sl_index a, sl_index b)
{
  const uint32_t *depth = v->depth_of.data;
  while (a != b) {
    if (depth[a] >= depth[b])
      a = sl_block_parent(v->kernel, a);
    else
      b = sl_block_parent(v->kernel, b);
  }
  return a;
}

/* Every proper prefix that ends before a number names this copy too: "ld" and "ld.0" for "ld.0.1". */
static void note_copy(struct dep_check *check, sl_name label, sl_index stmt)
{
  const struct sl_verifier *v = check->v;
  const char *text = sl_text(v->program, label);
  sl_index block = v->kernel->stmts.data[stmt].block;
  for (const char *number = sl_label_number(text); number; number = sl_label_number(number + 1)) {
    sl_name base = sl_names_find(&v->program->names, text, (size_t)(number - text));
    if (!base)
      continue; /* nothing mentions it */
    bool is_new;
    uint32_t *at = sl_map_put(&check->copies, v->heap, base, &is_new);
    *at = is_new ? block : common_block(v, *at, block);
  }
}

/* An instruction for several engines is printed as copies of its own, whose labels must be free. */
static void check_own_copies(struct dep_check *check, sl_index stmt)
{
  struct sl_verifier *v = check->v;
  const struct sl_op *op = sl_stmt_op(v->kernel, stmt);
  if ((!op->all_engines && op->stream_count < 2) || !op->label || !sl_map_get(&check->copies, op->label))
    return;
  const char *text = sl_text(v->program, op->label);
  sl_verify_error(v, SL_RULE_REDEFINED, v->kernel->stmts.data[stmt].loc,
                  "'%s' stands for several copies, and a label '%s.N' stands elsewhere", text, text);
}

static void find_copies(struct dep_check *check)
{
  struct sl_verifier *v = check->v;
  const struct sl_kernel *kernel = v->kernel;
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at))
    if (kernel->stmts.data[at].kind == SL_STMT_OP && sl_stmt_op(kernel, at)->label)
      note_copy(check, sl_stmt_op(kernel, at)->label, at);
  for (sl_index at = sl_walk_first(kernel, kernel->root); at; at = sl_walk_next(kernel, kernel->root, at))
    if (kernel->stmts.data[at].kind == SL_STMT_OP)
      check_own_copies(check, at);
}

static void report_label(struct dep_check *check, sl_name label, sl_loc loc)
{
  struct sl_verifier *v = check->v;
  const char *closest = NULL;
  if (v->scope.suggestions > 0 && sl_names_length(&v->program->names, label) > 1) {
    v->scope.suggestions--;
    sl_vec(const char *) labels = { 0 };
    for (sl_name name = 1; name < v->labels.len; name++)
      if (v->labels.data[name].kernel == v->scope.kernel)
        sl_vec_add(v->heap, &labels, sl_text(v->program, name));
    closest = sl_closest(sl_text(v->program, label), labels.data, labels.len);
    sl_vec_free(v->heap, &labels);
  }
  sl_verify_error(v, SL_RULE_DEP, loc, "no instruction is labelled '%s'%s%s%s", sl_text(v->program, label),
                  closest ? ": did you mean '" : "", closest ? closest : "", closest ? "'?" : "");
}

/* The innermost block around everything the label names, or 0 after reporting. */
static sl_index block_of_label(struct dep_check *check, sl_name label, sl_loc loc)
{
  const struct sl_verifier *v = check->v;
  const struct sl_label_entry *entry = &v->labels.data[label];
  if (entry->kernel == v->scope.kernel)
    return v->kernel->stmts.data[entry->stmt].block;
  const uint32_t *block = v->has_copies ? sl_map_get(&check->copies, label) : NULL;
  if (!block)
    report_label(check, label, loc);
  return block ? *block : SL_NONE;
}

/* The loop of that variable around a block, or 0. */
static sl_index loop_around(const struct sl_verifier *v, sl_index block, sl_name var)
{
  sl_index loop = v->loop_of.data[block];
  while (loop && sl_stmt_loop(v->kernel, loop)->var != var)
    loop = v->loop_of.data[v->kernel->stmts.data[loop].block];
  return loop;
}

/* The k of one component; false after reporting. `*inner` is the loop of the component before, 0 at first. */
static bool check_component(struct dep_check *check, const struct sl_dep *dep, const struct sl_distance *distance,
                            sl_index common, sl_index *inner)
{
  struct sl_verifier *v = check->v;
  const char *var = sl_text(v->program, distance->loop);
  sl_index loop = loop_around(v, common, distance->loop);
  if (!loop) {
    sl_verify_error(v, SL_RULE_DEP, dep->loc, "loop '%s' is not around both '%s' and '%s'", var,
                    sl_text(v->program, dep->producer), sl_text(v->program, dep->consumer));
    return false;
  }
  if (*inner == loop) {
    sl_verify_error(v, SL_RULE_DEP, dep->loc, "loop '%s' has two distances", var);
    return false;
  }
  uint32_t depth = v->depth_of.data[v->kernel->stmts.data[loop].block];
  if (*inner && depth < v->depth_of.data[v->kernel->stmts.data[*inner].block]) {
    sl_verify_error(v, SL_RULE_DEP, dep->loc, "loop '%s' is around '%s': list the outermost first, each once", var,
                    sl_text(v->program, sl_stmt_loop(v->kernel, *inner)->var));
    return false;
  }
  *inner = loop;
  return true;
}

/* A distance across visits counts one loop's iterations through the whole run: backwards, and nothing beside it. */
static bool check_across(struct dep_check *check, const struct sl_dep *dep)
{
  struct sl_verifier *v = check->v;
  const struct sl_distance *distances = sl_dep_distances(v->kernel, dep);
  for (uint32_t i = 0; i < dep->distance_count; i++) {
    const char *var = sl_text(v->program, distances[i].loop);
    if (!distances[i].across)
      continue;
    if (dep->distance_count > 1)
      sl_verify_error(v, SL_RULE_DEP, dep->loc, "'across %s' counts through all visits of the loop: it is the only distance of "
                      "its line", var);
    else if (distances[i].k < 1)
      sl_verify_error(v, SL_RULE_DEP, dep->loc, "'across %s' needs a distance of at least 1", var);
    return dep->distance_count == 1 && distances[i].k >= 1;
  }
  return true;
}

static void check_distances(struct dep_check *check, const struct sl_dep *dep, sl_index common)
{
  struct sl_verifier *v = check->v;
  sl_index inner = SL_NONE;
  if (!check_across(check, dep))
    return;
  int32_t first = 0;
  for (uint32_t i = 0; i < dep->distance_count; i++) {
    struct sl_distance distance = v->kernel->distances.data[dep->first_distance + i];
    if (!check_component(check, dep, &distance, common, &inner))
      return;
    if (first == 0)
      first = distance.k;
  }
  if (first < 0)
    sl_verify_error(v, SL_RULE_DEP, dep->loc,
                    "the first distance that is not 0 is negative: '%s' would wait for a later "
                    "iteration",
                    sl_text(v->program, dep->consumer));
  else if (first == 0 && inner != v->loop_of.data[common])
    sl_verify_error(v, SL_RULE_DEP, dep->loc,
                    "distance 0 means this iteration of the innermost common loop, '%s': name "
                    "that loop, or none",
                    sl_text(v->program, sl_stmt_loop(v->kernel, v->loop_of.data[common])->var));
}

/* Most lines have no distance: then it is enough that the labels exist. */
static bool is_label(const struct dep_check *check, sl_name label)
{
  return check->v->labels.data[label].kernel == check->v->scope.kernel;
}

static void check_line(struct dep_check *check, const struct sl_dep *dep)
{
  if (dep->distance_count == 0 && !dep->removed && is_label(check, dep->producer) && is_label(check, dep->consumer))
    return;
  sl_index producer = block_of_label(check, dep->producer, dep->loc);
  sl_index consumer = block_of_label(check, dep->consumer, dep->loc);
  if (dep->removed && sl_names_length(&check->v->program->names, dep->reason) == 0)
    sl_verify_error(check->v, SL_RULE_DEP, dep->loc, "'nodep' needs a reason, in quotes");
  if (producer && consumer && dep->distance_count > 0)
    check_distances(check, dep, common_block(check->v, producer, consumer));
}

void sl_verify_deps(struct sl_verifier *v)
{
  struct dep_check check = { .v = v };
  if (v->has_copies)
    find_copies(&check);
  const struct sl_dep *deps = v->kernel->deps.data;
  for (uint32_t i = 0; i < v->kernel->deps.len; i++) {
    if (i + SL_PREFETCH_AHEAD < v->kernel->deps.len)
      sl_prefetch(&v->labels.data[deps[i + SL_PREFETCH_AHEAD].producer]);
    check_line(&check, &deps[i]);
  }
  sl_map_free(&check.copies, v->heap);
}
