/* isl_deps.c: see isl_deps.h. Everything is written in isl's own notation and read by it:
 *
 *   domain     { S5[c0, c1] : 0 <= c0 < 4 and 0 <= c1 < c0 + 1 }          S5: statement 5; c0: variable of its
 * outermost loop
 *   schedule   { S5[c0, c1] -> [2, c0, 3, c1, 5, 0, 0] }                  numbers of the statements in the text
 *   access     { S5[c0, c1] -> m0[p, u] : ... }                           partition and unit in space 0
 *
 * The unit of a space is the largest number of bytes that divides all addresses and elements there.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream, fork */
#include "oracle/isl_deps.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void sl_isl_free(struct sl_isl_deps *deps)
{
  free(deps->pairs);
  *deps = (struct sl_isl_deps){ NULL, 0, 0 };
}

static uint32_t find_instance(const struct sl_trace *trace, const struct sl_isl_end *end)
{
  const struct sl_trace_list *list = &trace->of_stmt[end->stmt];
  for (uint32_t i = 0; i < list->count; i++) {
    if (!memcmp(trace->instances[list->instances[i]].values, end->values, sizeof end->values))
      return list->instances[i];
  }
  return SL_NO_INSTANCE;
}

void sl_isl_relate(struct sl_relation *hazards, const struct sl_isl_deps *deps, const struct sl_trace *trace)
{
  for (uint32_t i = 0; i < deps->count; i++) {
    uint32_t earlier = find_instance(trace, &deps->pairs[i].earlier),
             later = find_instance(trace, &deps->pairs[i].later);
    if (earlier != SL_NO_INSTANCE && later != SL_NO_INSTANCE)
      sl_relation_add(hazards, earlier, later);
  }
}

#ifndef SLUICE_HAVE_ISL

enum sl_isl_status sl_isl_find(struct sl_isl_deps *deps, const sl_program *program, const struct sl_kernel *kernel,
                               const struct sl_oracle_inputs *inputs, enum sl_isl_method method)
{
  (void)program, (void)kernel, (void)inputs, (void)method;
  *deps = (struct sl_isl_deps){ NULL, 0, 0 };
  return SL_ISL_ABSENT;
}

#else

#include <assert.h>
#include <isl/ctx.h>
#include <isl/flow.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <isl/val.h>
#include <stdio.h>

enum { MAX_OPERATIONS = 3000000 /* of isl, for one kernel: about a second */ };

struct translation {
  isl_ctx *ctx;
  const struct sl_kernel *kernel;
  struct sl_oracle_view view;
  struct sl_layout layout;
  int64_t units[SL_LAYOUT_SPACES];
  const struct sl_oracle_inputs *inputs;
  uint32_t *numbers; /* by statement: its place in the text */
  isl_union_map *schedule, *must_writes, *may_writes, *reads;
};

/* What is being written: one statement, and where its text goes. */
struct writing {
  struct translation *t;
  sl_index block; /* where the statement stands */
  FILE *out;
};

/* ---- expressions ---- */

/* The depth of the loop around the statement that has this variable, or -1. */
static int depth_of(const struct writing *w, sl_name var)
{
  for (uint32_t d = 0; d < sl_loop_depth(w->t->kernel, w->block); d++) {
    if (sl_stmt_loop(w->t->kernel, sl_loop_at(w->t->kernel, w->block, d))->var == var)
      return (int)d;
  }
  return -1;
}

static int64_t param_value(const struct translation *t, sl_name name)
{
  for (uint32_t p = 0; p < t->kernel->params.len; p++) {
    if (t->kernel->params.data[p].name == name)
      return t->inputs->params[p];
  }
  abort(); /* a name in an expression is a parameter or a loop variable */
}

static int64_t floor_div(int64_t a, int64_t b)
{
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Whether an expression holds no loop variable, and then its value. */
static bool is_constant(const struct writing *w, sl_index index, int64_t *value)
{
  const struct sl_expr *expr = &w->t->kernel->exprs.data[index];
  int64_t a, b;
  switch (expr->kind) {
  case SL_EXPR_INT: *value = expr->u.value; return true;
  case SL_EXPR_NAME:
    if (depth_of(w, (sl_name)expr->u.value) >= 0)
      return false;
    *value = param_value(w->t, (sl_name)expr->u.value);
    return true;
  case SL_EXPR_NEG:
    if (!is_constant(w, expr->u.sub.lhs, &a))
      return false;
    *value = -a;
    return true;
  default: break;
  }
  if (!is_constant(w, expr->u.sub.lhs, &a) || !is_constant(w, expr->u.sub.rhs, &b))
    return false;
  switch (expr->kind) {
  case SL_EXPR_ADD: *value = a + b; break;
  case SL_EXPR_SUB: *value = a - b; break;
  case SL_EXPR_MUL: *value = a * b; break;
  case SL_EXPR_DIV: *value = floor_div(a, b); break;
  default: *value = a - b * floor_div(a, b); break;
  }
  return true;
}

static void write_expr(const struct writing *w, sl_index index);

static void write_binary(const struct writing *w, const char *before, sl_index lhs, const char *between, sl_index rhs)
{
  fputs(before, w->out);
  write_expr(w, lhs);
  fputs(between, w->out);
  write_expr(w, rhs);
  fputs(")", w->out);
}

static void write_expr(const struct writing *w, sl_index index)
{
  const struct sl_expr *expr = &w->t->kernel->exprs.data[index];
  int64_t value;
  if (is_constant(w, index, &value)) {
    fprintf(w->out, value < 0 ? "(%lld)" : "%lld", (long long)value);
    return;
  }
  sl_index lhs = expr->u.sub.lhs, rhs = expr->u.sub.rhs;
  switch (expr->kind) {
  case SL_EXPR_NAME: fprintf(w->out, "c%d", depth_of(w, (sl_name)expr->u.value)); break;
  case SL_EXPR_NEG:
    fputs("(-", w->out);
    write_expr(w, lhs);
    fputs(")", w->out);
    break;
  case SL_EXPR_ADD: write_binary(w, "(", lhs, " + ", rhs); break;
  case SL_EXPR_SUB: write_binary(w, "(", lhs, " - ", rhs); break;
  case SL_EXPR_MUL: write_binary(w, "(", lhs, " * ", rhs); break;
  case SL_EXPR_DIV: write_binary(w, "floor(", lhs, " / ", rhs); break;
  default: write_binary(w, "(", lhs, " mod ", rhs); break;
  }
}

/* ---- domains ---- */

/* " and lo <= c0 < hi", for the loop at a depth. */
static void write_bounds(const struct writing *w, uint32_t depth)
{
  const struct sl_loop *loop = sl_stmt_loop(w->t->kernel, sl_loop_at(w->t->kernel, w->block, depth));
  int64_t step = 1;
  fputs(" and ", w->out);
  if (loop->lo)
    write_expr(w, loop->lo);
  else
    fputs("0", w->out);
  fprintf(w->out, " <= c%u < ", depth);
  write_expr(w, loop->hi);
  if (loop->step && is_constant(w, loop->step, &step) && step > 1) {
    fprintf(w->out, " and (c%u - ", depth);
    write_expr(w, loop->lo);
    fprintf(w->out, ") mod %lld = 0", (long long)step);
  }
}

static bool is_opaque(const struct sl_kernel *kernel, struct sl_cond cond)
{
  for (uint32_t c = cond.first; c < cond.first + cond.count; c++) {
    if (kernel->cmps.data[c].op == SL_CMP_OPAQUE)
      return true;
  }
  return false;
}

/* What is known in one arm of a branch: " and (a or b)". Comparisons that the run decides are left out, and
 * alternatives with such a one say nothing. */
static void write_arm(const struct writing *w, struct sl_cond cond, bool is_then)
{
  static const char *const holds[] = { "=", "!=", "<", "<=", ">", ">=" }, *const fails[] = { "!=", "=",  ">=",
                                                                                             ">",  "<=", "<" };
  bool alternatives = cond.any == is_then, first = true;
  if (alternatives && is_opaque(w->t->kernel, cond))
    return;
  for (uint32_t c = cond.first; c < cond.first + cond.count; c++) {
    const struct sl_cmp *cmp = &w->t->kernel->cmps.data[c];
    if (cmp->op == SL_CMP_OPAQUE)
      continue;
    fputs(first ? " and (" : alternatives ? " or " : " and ", w->out);
    write_expr(w, cmp->lhs);
    fprintf(w->out, " %s ", is_then ? holds[cmp->op] : fails[cmp->op]);
    write_expr(w, cmp->rhs);
    first = false;
  }
  fputs(first ? "" : ")", w->out);
}

/* All that loops and branches around the statement say; false when its execution is not certain then. */
static bool write_domain(const struct writing *w)
{
  const struct sl_kernel *kernel = w->t->kernel;
  bool certain = true;
  fputs("true", w->out);
  for (uint32_t d = 0; d < sl_loop_depth(kernel, w->block); d++)
    write_bounds(w, d);
  for (sl_index block = w->block, owner; (owner = kernel->blocks.data[block].owner) != SL_NONE;
       block = sl_stmt_get(kernel, owner)->block) {
    if (sl_stmt_get(kernel, owner)->kind != SL_STMT_IF)
      continue;
    const struct sl_branch *branch = sl_stmt_branch(kernel, owner);
    write_arm(w, branch->cond, block == branch->then_block);
    certain = certain && !is_opaque(kernel, branch->cond);
  }
  return certain;
}

/* "S5[c0, c1]" */
static void write_instance(const struct writing *w, sl_index stmt)
{
  fprintf(w->out, "S%u[", (unsigned)stmt);
  for (uint32_t d = 0; d < sl_loop_depth(w->t->kernel, w->block); d++)
    fprintf(w->out, "%sc%u", d ? ", " : "", d);
  fputs("]", w->out);
}

/* ---- accesses ---- */

static bool is_whole(const struct writing *w, const struct sl_access_index *index)
{
  return index->kind == SL_INDEX_ALL || !sl_index_is_known(w->t->kernel, index);
}

static void write_first(const struct writing *w, const struct sl_access_index *index)
{
  if (is_whole(w, index))
    fputs("0", w->out);
  else
    write_expr(w, index->first);
}

/* The number of elements. */
static void write_length(const struct writing *w, const struct sl_access_index *index, int64_t size)
{
  if (is_whole(w, index))
    fprintf(w->out, "%lld", (long long)size);
  else if (index->kind == SL_INDEX_AT)
    fputs("1", w->out);
  else if (index->kind == SL_INDEX_LENGTH)
    write_expr(w, index->second);
  else
    write_binary(w, "(", index->second, " - ", index->first);
}

/* " and FROM + lo <= x < FROM + lo + length" */
static void write_interval(const struct writing *w, const char *variable, int64_t from,
                           const struct sl_access_index *index, int64_t size)
{
  fprintf(w->out, " and %lld + ", (long long)from);
  write_first(w, index);
  fprintf(w->out, " <= %s < %lld + ", variable, (long long)from);
  write_first(w, index);
  fputs(" + ", w->out);
  write_length(w, index, size);
}

/* The dimension whose elements are the outermost of those that lie behind one another without a gap: everything inside
 * it is taken whole. The partition dimension does not count. */
static uint32_t contiguous_dim(const struct writing *w, const struct sl_layout_buffer *buffer,
                               const struct sl_operand *operand)
{
  uint32_t found = buffer->dim_count;
  for (uint32_t d = buffer->dim_count; d-- > 0;) {
    struct sl_access_index index = sl_index_of_dim(w->t->kernel, operand, d);
    if ((int)d == buffer->partition_dim)
      continue;
    found = d;
    if (!is_whole(w, &index))
      break;
  }
  return found;
}

/* What lies outside the contiguous part: variables r0, r1, ... for the elements of ranges. */
static bool needs_variable(const struct writing *w, const struct sl_layout_buffer *buffer, uint32_t contiguous,
                           uint32_t dim, const struct sl_access_index *index)
{
  bool one_element = index->kind == SL_INDEX_AT && !is_whole(w, index);
  return dim < contiguous && (int)dim != buffer->partition_dim && !one_element;
}

/* "16 + 4*r0 + 2*(c0 + 1) + 2*lo": where the contiguous part begins, in units. */
static void write_offset(const struct writing *w, const struct sl_layout_buffer *buffer,
                         const struct sl_operand *operand, uint32_t contiguous)
{
  int64_t unit = w->t->units[buffer->space];
  fprintf(w->out, "%lld", (long long)(buffer->address / unit));
  for (uint32_t d = 0; d < buffer->dim_count && d <= contiguous; d++) {
    struct sl_access_index index = sl_index_of_dim(w->t->kernel, operand, d);
    if ((int)d == buffer->partition_dim)
      continue;
    fprintf(w->out, " + %lld*", (long long)(buffer->strides[d] / unit));
    if (needs_variable(w, buffer, contiguous, d, &index))
      fprintf(w->out, "r%u", d);
    else
      write_first(w, &index);
  }
}

/* "S5[c0] -> m0[p, u] : exists (r0 : ...)" */
static void write_access(const struct writing *w, sl_index stmt, const struct sl_operand *operand)
{
  const struct sl_layout_buffer *buffer = &w->t->layout.buffers[sl_layout_buffer_of(&w->t->layout, operand)];
  uint32_t contiguous = contiguous_dim(w, buffer, operand);
  struct sl_access_index index;
  write_instance(w, stmt);
  fprintf(w->out, " -> m%u[p, u] : exists (x", buffer->space);
  for (uint32_t d = 0; d < buffer->dim_count; d++) {
    index = sl_index_of_dim(w->t->kernel, operand, d);
    if (needs_variable(w, buffer, contiguous, d, &index))
      fprintf(w->out, ", r%u", d);
  }
  fputs(" : x = 0 and ", w->out); /* so that the list is never empty */
  write_domain(w);
  for (uint32_t d = 0; d < buffer->dim_count; d++) {
    char variable[16];
    snprintf(variable, sizeof variable, "r%u", d);
    index = sl_index_of_dim(w->t->kernel, operand, d);
    if (needs_variable(w, buffer, contiguous, d, &index))
      write_interval(w, variable, 0, &index, buffer->sizes[d]);
    else if ((int)d == buffer->partition_dim)
      write_interval(w, "p", buffer->partition, &index, buffer->sizes[d]);
  }
  if (buffer->partition_dim < 0)
    fputs(" and p = 0", w->out);
  fputs(" and ", w->out);
  write_offset(w, buffer, operand, contiguous);
  fputs(" <= u < ", w->out);
  write_offset(w, buffer, operand, contiguous);
  int64_t unit = w->t->units[buffer->space];
  if (contiguous == buffer->dim_count) {
    fprintf(w->out, " + %lld)", (long long)(buffer->element_bytes / unit));
    return;
  }
  index = sl_index_of_dim(w->t->kernel, operand, contiguous);
  fprintf(w->out, " + %lld*", (long long)(buffer->strides[contiguous] / unit));
  write_length(w, &index, buffer->sizes[contiguous]);
  fputs(")", w->out);
}

/* Reads what was written to `out`, the one relation "{ ... }", and adds it. */
static isl_union_map *add_relation(struct translation *t, isl_union_map *to, FILE *out, char **text)
{
  fputs(" }", out);
  fclose(out);
  isl_union_map *relation = isl_union_map_read_from_str(t->ctx, *text);
  free(*text);
  return isl_union_map_union(to, relation);
}

static FILE *begin_relation(char **text, size_t *size)
{
  FILE *out = open_memstream(text, size);
  if (!out)
    abort();
  fputs("{ ", out);
  return out;
}

static void add_operand(struct translation *t, sl_index stmt, uint32_t number, bool certain)
{
  const struct sl_op *op = sl_stmt_op(t->kernel, stmt);
  const struct sl_operand *operand = &t->kernel->operands.data[op->first_operand + number];
  struct writing w = { t, sl_stmt_get(t->kernel, stmt)->block, NULL };
  bool must = certain && sl_operand_is_known(t->kernel, operand);
  for (unsigned writes = 0; writes < 2; writes++) {
    if (writes ? !sl_operand_writes(op, number) : !sl_operand_reads(op, operand, number))
      continue;
    isl_union_map **to = !writes ? &t->reads : must ? &t->must_writes : &t->may_writes;
    char *text;
    size_t size;
    w.out = begin_relation(&text, &size);
    write_access(&w, stmt, operand);
    *to = add_relation(t, *to, w.out, &text);
  }
}

/* { S5[c0, c1] -> [2, c0, 3, c1, 5, 0, 0] : domain } */
static bool add_schedule(struct translation *t, sl_index stmt)
{
  struct writing w = { t, sl_stmt_get(t->kernel, stmt)->block, NULL };
  uint32_t depth = sl_loop_depth(t->kernel, w.block);
  char *text;
  size_t size;
  w.out = begin_relation(&text, &size);
  write_instance(&w, stmt);
  fputs(" -> [", w.out);
  for (uint32_t d = 0; d < depth; d++)
    fprintf(w.out, "%u, c%u, ", t->numbers[sl_loop_at(t->kernel, w.block, d)], d);
  fprintf(w.out, "%u", t->numbers[stmt]);
  for (uint32_t d = depth; d < SL_TRACE_LOOPS; d++)
    fputs(", 0, 0", w.out);
  fputs("] : ", w.out);
  bool certain = write_domain(&w);
  t->schedule = add_relation(t, t->schedule, w.out, &text);
  return certain;
}

static int64_t greatest_divisor(int64_t a, int64_t b)
{
  return b ? greatest_divisor(b, a % b) : a;
}

static void translate(struct translation *t)
{
  const struct sl_kernel *kernel = t->kernel;
  uint32_t number = 0;
  for (sl_index b = 1; b < kernel->buffers.len; b++) {
    const struct sl_layout_buffer *buffer = &t->layout.buffers[b];
    int64_t *unit = &t->units[buffer->space];
    *unit = greatest_divisor(greatest_divisor(*unit, buffer->element_bytes), buffer->address);
  }
  for (sl_index s = sl_walk_first(kernel, kernel->root); s; s = sl_walk_next(kernel, kernel->root, s)) {
    t->numbers[s] = number++;
    if (sl_stmt_get(kernel, s)->kind != SL_STMT_OP)
      continue;
    const struct sl_op *op = sl_stmt_op(kernel, s);
    bool certain = add_schedule(t, s);
    for (uint32_t n = 0; n < (uint32_t)op->dst_count + op->src_count; n++) {
      if (sl_layout_buffer_of(&t->layout, &kernel->operands.data[op->first_operand + n]))
        add_operand(t, s, n, certain);
    }
  }
}

/* ---- dependences ---- */

/* Keeps the pairs whose first comes earlier. */
static isl_union_map *in_order(const struct translation *t, isl_union_map *pairs)
{
  isl_union_map *before =
      isl_union_map_lex_lt_union_map(isl_union_map_copy(t->schedule), isl_union_map_copy(t->schedule));
  return isl_union_map_intersect(pairs, before);
}

/* The instances of `sinks` after those they depend on: the last of the sure writes, and of `others` what comes since.
 * */
static isl_union_map *last_sources(const struct translation *t, isl_union_map *sinks, isl_union_map *others)
{
  isl_union_access_info *info = isl_union_access_info_from_sink(sinks);
  info = isl_union_access_info_set_must_source(info, isl_union_map_copy(t->must_writes));
  info = isl_union_access_info_set_may_source(info, others);
  info = isl_union_access_info_set_schedule_map(info, isl_union_map_copy(t->schedule));
  isl_union_flow *result = isl_union_access_info_compute_flow(info);
  isl_union_map *dependences = isl_union_flow_get_may_dependence(result); /* the sure ones are part of it */
  isl_union_flow_free(result);
  return dependences;
}

/* The instances of `sinks` after all earlier ones of the sure writes and `others` that touch the same memory. */
static isl_union_map *all_sources(const struct translation *t, isl_union_map *sinks, isl_union_map *others)
{
  isl_union_map *sources = isl_union_map_union(others, isl_union_map_copy(t->must_writes));
  return in_order(t, isl_union_map_apply_range(sources, isl_union_map_reverse(sinks)));
}

/* The instances that access a buffer: { S5[c0] }. */
static isl_union_set *users(struct translation *t, sl_name name, bool writers_only)
{
  const struct sl_kernel *kernel = t->kernel;
  isl_union_set *all = isl_union_set_read_from_str(t->ctx, "{ }");
  isl_union_set *domain = isl_union_map_domain(isl_union_map_copy(t->schedule));
  for (sl_index s = sl_walk_first(kernel, kernel->root); s; s = sl_walk_next(kernel, kernel->root, s)) {
    const struct sl_op *op = sl_stmt_get(kernel, s)->kind == SL_STMT_OP ? sl_stmt_op(kernel, s) : NULL;
    for (uint32_t n = 0; op && n < (uint32_t)op->dst_count + op->src_count; n++) {
      const struct sl_operand *operand = &kernel->operands.data[op->first_operand + n];
      if (operand->kind != SL_OPERAND_NAME || operand->value != name || (writers_only && !sl_operand_writes(op, n)))
        continue;
      struct writing w = { t, sl_stmt_get(kernel, s)->block, NULL };
      char *text;
      size_t size;
      w.out = begin_relation(&text, &size);
      write_instance(&w, s);
      fputs(" }", w.out);
      fclose(w.out);
      all = isl_union_set_union(all, isl_union_set_read_from_str(t->ctx, text));
      free(text);
    }
  }
  return isl_union_set_intersect(all, domain);
}

/* Every access to one of two aliases with every later one to the other, when one of them writes. */
static isl_union_map *alias_dependences(struct translation *t, sl_name a, sl_name b)
{
  isl_union_map *pairs = isl_union_map_from_domain_and_range(users(t, a, true), users(t, b, false));
  pairs = isl_union_map_union(pairs, isl_union_map_from_domain_and_range(users(t, a, false), users(t, b, true)));
  pairs = isl_union_map_union(pairs, isl_union_map_reverse(isl_union_map_copy(pairs)));
  return in_order(t, pairs);
}

static isl_union_map *dependences(struct translation *t, enum sl_isl_method method)
{
  isl_union_map *(*sources)(const struct translation *t, isl_union_map *sinks, isl_union_map *others) =
      method == SL_ISL_LAST ? last_sources : all_sources;
  isl_union_map *writes = isl_union_map_union(isl_union_map_copy(t->must_writes), isl_union_map_copy(t->may_writes));
  isl_union_map *others = isl_union_map_union(isl_union_map_copy(t->reads), isl_union_map_copy(t->may_writes));
  isl_union_map *all = isl_union_map_union(sources(t, isl_union_map_copy(t->reads), isl_union_map_copy(t->may_writes)),
                                           sources(t, writes, others));
  for (sl_index i = 1; i < t->kernel->aliases.len; i++)
    all = isl_union_map_union(all, alias_dependences(t, t->kernel->aliases.data[i].a, t->kernel->aliases.data[i].b));
  return all;
}

/* ---- points ---- */

struct listing {
  struct sl_isl_deps *deps;
  struct sl_isl_pair pair; /* statements are set */
  uint32_t earlier_depth, later_depth;
};

static int64_t coordinate(isl_point *point, uint32_t at)
{
  isl_val *value = isl_point_get_coordinate_val(point, isl_dim_set, (int)at);
  int64_t number = isl_val_get_num_si(value);
  isl_val_free(value);
  return number;
}

static isl_stat list_point(isl_point *point, void *user)
{
  struct listing *listing = user;
  struct sl_isl_deps *deps = listing->deps;
  deps->pairs = sl_oracle_grow(deps->pairs, deps->count, &deps->cap, sizeof *deps->pairs);
  struct sl_isl_pair *pair = &deps->pairs[deps->count++];
  *pair = listing->pair;
  for (uint32_t d = 0; d < listing->earlier_depth; d++)
    pair->earlier.values[d] = coordinate(point, d);
  for (uint32_t d = 0; d < listing->later_depth; d++)
    pair->later.values[d] = coordinate(point, listing->earlier_depth + d);
  isl_point_free(point);
  return isl_stat_ok;
}

static sl_index stmt_of(isl_map *map, enum isl_dim_type type, uint32_t *depth)
{
  *depth = (uint32_t)isl_map_dim(map, type);
  return (sl_index)strtoul(isl_map_get_tuple_name(map, type) + 1, NULL, 10);
}

static isl_stat list_map(isl_map *map, void *user)
{
  struct listing listing = { .deps = user };
  listing.pair.earlier.stmt = stmt_of(map, isl_dim_in, &listing.earlier_depth);
  listing.pair.later.stmt = stmt_of(map, isl_dim_out, &listing.later_depth);
  isl_set *points = isl_map_wrap(map);
  isl_stat status = isl_set_foreach_point(points, list_point, &listing);
  isl_set_free(points);
  return status;
}

static enum sl_isl_status find(struct sl_isl_deps *deps, const sl_program *program, const struct sl_kernel *kernel,
                               const struct sl_oracle_inputs *inputs, enum sl_isl_method method)
{
  struct translation t = { .ctx = isl_ctx_alloc(), .kernel = kernel, .inputs = inputs };
  *deps = (struct sl_isl_deps){ NULL, 0, 0 };
  if (!sl_oracle_view_init(&t.view, program, kernel))
    abort();
  isl_options_set_on_error(t.ctx, ISL_ON_ERROR_CONTINUE);
  isl_ctx_set_max_operations(t.ctx, MAX_OPERATIONS);
  sl_layout_init(&t.layout, &t.view, inputs);
  t.numbers = sl_oracle_calloc(kernel->stmts.len, sizeof *t.numbers);
  isl_union_map **const relations[] = { &t.schedule, &t.must_writes, &t.may_writes, &t.reads };
  enum { RELATIONS = sizeof relations / sizeof *relations };
  for (unsigned r = 0; r < RELATIONS; r++)
    *relations[r] = isl_union_map_read_from_str(t.ctx, "{ }");
  translate(&t);
  isl_union_map *found = dependences(&t, method);
  isl_stat status = isl_union_map_foreach_map(found, list_map, deps);
  bool too_hard = isl_ctx_last_error(t.ctx) == isl_error_quota;
  assert((status == isl_stat_ok || too_hard) && "isl understands what is written for it");
  isl_union_map_free(found);
  for (unsigned r = 0; r < RELATIONS; r++)
    isl_union_map_free(*relations[r]);
  free(t.numbers);
  sl_layout_free(&t.layout);
  sl_oracle_view_free(&t.view);
  isl_ctx_free(t.ctx);
  return too_hard ? SL_ISL_TOO_HARD : SL_ISL_OK;
}

static void send(FILE *to, enum sl_isl_status status, const struct sl_isl_deps *deps)
{
  bool sent = fwrite(&status, sizeof status, 1, to) == 1 && fwrite(&deps->count, sizeof deps->count, 1, to) == 1 &&
              fwrite(deps->pairs, sizeof *deps->pairs, deps->count, to) == deps->count && fflush(to) == 0;
  _exit(sent ? 0 : 1);
}

static bool receive(enum sl_isl_status *status, struct sl_isl_deps *deps, FILE *from)
{
  uint32_t count;
  if (fread(status, sizeof *status, 1, from) != 1 || fread(&count, sizeof count, 1, from) != 1)
    return false;
  deps->pairs = sl_oracle_calloc(count, sizeof *deps->pairs);
  deps->count = deps->cap = (uint32_t)fread(deps->pairs, sizeof *deps->pairs, count, from);
  return deps->count == count;
}

/* In a process of its own, for isl may end it. */
static enum sl_isl_status find_apart(struct sl_isl_deps *deps, const sl_program *program,
                                     const struct sl_kernel *kernel, const struct sl_oracle_inputs *inputs,
                                     enum sl_isl_method method)
{
  enum { SECONDS_MOST = 60 /* what writes out of bounds may also never end */ };
  enum sl_isl_status status = SL_ISL_CRASHED;
  int ends[2], how = 0;
  fflush(NULL);
  if (pipe(ends) != 0)
    abort();
  pid_t child = fork();
  if (child < 0)
    abort();
  FILE *file = fdopen(ends[child == 0], child == 0 ? "w" : "r");
  close(ends[child != 0]);
  if (!file)
    abort();
  if (child == 0) {
    alarm(SECONDS_MOST);
    status = find(deps, program, kernel, inputs, method);
    send(file, status, deps);
  }
  *deps = (struct sl_isl_deps){ NULL, 0, 0 };
  bool received = receive(&status, deps, file);
  fclose(file);
  if (waitpid(child, &how, 0) != child)
    abort();
  return received && WIFEXITED(how) && WEXITSTATUS(how) == 0 ? status : SL_ISL_CRASHED;
}

enum sl_isl_status sl_isl_find(struct sl_isl_deps *deps, const sl_program *program, const struct sl_kernel *kernel,
                               const struct sl_oracle_inputs *inputs, enum sl_isl_method method)
{
  return (method == SL_ISL_LAST ? find_apart : find)(deps, program, kernel, inputs, method);
}

#endif
