/* regcode.c: see regcode.h. Folding and stripping are the classic forward and backward passes over structured code; a loop
 * is seen twice at most per nesting level. */
#include "sync/regcode.h"

#include <assert.h>

void sl_regcode_init(struct sl_regcode *code, sl_heap *heap, uint32_t stream)
{
  memset(code, 0, sizeof *code);
  code->heap = heap;
  code->stream = stream;
  (void)sl_vec_push(heap, &code->roles);
}

sl_vreg sl_regcode_vreg(struct sl_regcode *code, struct sl_vreg_role role)
{
  sl_vec_add(code->heap, &code->roles, role);
  return code->roles.len - 1;
}

void sl_regcode_anchor(struct sl_regcode *code, enum sl_anchor anchor, sl_index at)
{
  code->anchor = (uint8_t)anchor;
  code->anchor_at = at;
}

static struct sl_code *append(struct sl_regcode *code, enum sl_code_kind kind)
{
  struct sl_code *item = sl_vec_push(code->heap, &code->code);
  item->kind = (uint8_t)kind;
  item->anchor = code->anchor;
  item->at = code->anchor_at;
  return item;
}

void sl_regcode_op(struct sl_regcode *code, enum sl_opcode op, sl_vreg dst, struct sl_value a, struct sl_value b)
{
  struct sl_code *item = append(code, SL_CODE_REG);
  item->op = (uint8_t)op;
  item->dst = dst;
  item->a = a;
  item->b = b;
}

void sl_regcode_set(struct sl_regcode *code, sl_vreg dst, struct sl_value a)
{
  sl_regcode_op(code, SL_OP_REG_SET, dst, a, sl_value_int(0));
}

void sl_regcode_wait(struct sl_regcode *code, sl_index consumer, uint32_t sem, struct sl_value threshold)
{
  struct sl_code *item = append(code, SL_CODE_WAIT);
  item->at = consumer;
  item->dst = sem;
  item->a = threshold;
}

static void open_item(struct sl_regcode *code, enum sl_code_kind kind)
{
  sl_vec_add(code->heap, &code->open, code->code.len);
  (void)append(code, kind);
}

static void close_item(struct sl_regcode *code, enum sl_code_kind kind)
{
  assert(code->open.len > 0);
  uint32_t opener = code->open.data[--code->open.len];
  code->code.data[opener].pair = code->code.len;
  (void)append(code, kind);
}

void sl_regcode_open_loop(struct sl_regcode *code, uint32_t variable)
{
  open_item(code, SL_CODE_LOOP);
  code->code.data[code->code.len - 1].dst = variable;
}

void sl_regcode_close_loop(struct sl_regcode *code)
{
  close_item(code, SL_CODE_END_LOOP);
}

void sl_regcode_open_if(struct sl_regcode *code)
{
  open_item(code, SL_CODE_IF);
}

void sl_regcode_else(struct sl_regcode *code)
{
  close_item(code, SL_CODE_ELSE);
  sl_vec_add(code->heap, &code->open, code->code.len - 1);
}

void sl_regcode_close_if(struct sl_regcode *code)
{
  close_item(code, SL_CODE_END_IF);
}

/* ---- arithmetic ---- */

static uint32_t evaluate(enum sl_opcode op, uint32_t a, uint32_t b)
{
  switch (op) {
  case SL_OP_REG_SET: return a;
  case SL_OP_REG_ADD: return a + b;
  case SL_OP_REG_SUB: return a - b;
  case SL_OP_REG_MUL: return a * b;
  case SL_OP_REG_GT: return a > b;
  case SL_OP_REG_MIN: return a < b ? a : b;
  case SL_OP_REG_MAX: return a > b ? a : b;
  default: assert(false && "not a register operation"); return 0;
  }
}

static void become_set(struct sl_code *item, struct sl_value value)
{
  item->op = SL_OP_REG_SET;
  item->a = value;
  item->b = sl_value_int(0);
}

static bool is_int(struct sl_value value, uint32_t number)
{
  return value.kind == SL_VALUE_INT && value.value == number;
}

/* x+0, x-0, x*1 are x; x*0 is 0. */
static void simplify(struct sl_code *item)
{
  switch (item->op) {
  case SL_OP_REG_ADD:
    if (is_int(item->b, 0))
      become_set(item, item->a);
    else if (is_int(item->a, 0))
      become_set(item, item->b);
    break;
  case SL_OP_REG_SUB:
    if (is_int(item->b, 0))
      become_set(item, item->a);
    break;
  case SL_OP_REG_MUL:
    if (is_int(item->a, 0) || is_int(item->b, 0))
      become_set(item, sl_value_int(0));
    else if (is_int(item->b, 1))
      become_set(item, item->a);
    else if (is_int(item->a, 1))
      become_set(item, item->b);
    break;
  default: break;
  }
}

static sl_vreg new_temporary(struct sl_regcode *code, enum sl_temporary letter)
{
  return sl_regcode_vreg(code, (struct sl_vreg_role){ 0, code->temporaries_used++, letter });
}

struct sl_value sl_regcode_value(struct sl_regcode *code, enum sl_opcode op, struct sl_value a, struct sl_value b)
{
  if (a.kind == SL_VALUE_INT && b.kind == SL_VALUE_INT)
    return sl_value_int(evaluate(op, a.value, b.value));
  struct sl_code item = { .op = (uint8_t)op, .a = a, .b = b };
  simplify(&item);
  if (item.op == SL_OP_REG_SET)
    return item.a;
  sl_vreg dst = new_temporary(code, op == SL_OP_REG_GT ? SL_TEMPORARY_MASK : SL_TEMPORARY_VALUE);
  sl_regcode_op(code, op, dst, a, b);
  return sl_value_vreg(dst);
}

void sl_regcode_release(struct sl_regcode *code)
{
  code->temporaries_used = 0;
}

/* ---- folding ---- */

struct known {
  bool is_known;
  uint32_t value;
};

struct change {
  sl_vreg vreg;
  struct known value;
};
typedef sl_vec(struct change) change_list;

struct folder {
  struct sl_regcode *code;
  struct known *known; /* by vreg */
  change_list log;     /* inside loops and branches: values before each change, to go back to */
  uint32_t regions;    /* open loops and branches */
  uint32_t *stamp;     /* by vreg; marks membership in a list */
  uint32_t last_stamp;
  struct known *other; /* by vreg, with a stamp: value at the end of the other arm */
};

static void set_known(struct folder *f, sl_vreg vreg, struct known value)
{
  if (f->regions)
    sl_vec_add(f->code->heap, &f->log, ((struct change){ vreg, f->known[vreg] }));
  f->known[vreg] = value;
}

static void fold_value(const struct folder *f, struct sl_value *value)
{
  if (value->kind == SL_VALUE_VREG && f->known[value->value].is_known)
    *value = sl_value_int(f->known[value->value].value);
}

static void fold_reg(struct folder *f, struct sl_code *item)
{
  fold_value(f, &item->a);
  fold_value(f, &item->b);
  if (item->a.kind == SL_VALUE_INT && item->b.kind == SL_VALUE_INT)
    become_set(item, sl_value_int(evaluate(item->op, item->a.value, item->b.value)));
  else
    simplify(item);
  const struct known *before = &f->known[item->dst];
  struct known result = { false, 0 };
  if (item->op == SL_OP_REG_SET && item->a.kind == SL_VALUE_INT)
    result = (struct known){ true, item->a.value };
  bool copies_itself = item->op == SL_OP_REG_SET && item->a.kind == SL_VALUE_VREG && item->a.value == item->dst;
  bool there_already = result.is_known && before->is_known && before->value == result.value;
  if (copies_itself || there_already)
    item->dead = true;
  else
    set_known(f, item->dst, result);
}

/* Before a loop: what its body writes is unknown at its head, unless it only ever writes the constant already there. */
static void forget_written(struct folder *f, uint32_t from, uint32_t to)
{
  for (uint32_t i = from; i < to; i++) {
    const struct sl_code *item = &f->code->code.data[i];
    if (item->kind != SL_CODE_REG || !f->known[item->dst].is_known)
      continue;
    bool same = item->op == SL_OP_REG_SET && is_int(item->a, f->known[item->dst].value);
    if (!same)
      set_known(f, item->dst, (struct known){ false, 0 });
  }
}

/* Goes back to the state at `mark` of the log. Fills `ends` (may be NULL) with the values that were current, one entry per
 * register changed since. */
static void go_back(struct folder *f, uint32_t mark, change_list *ends)
{
  uint32_t stamp = ++f->last_stamp;
  for (uint32_t i = f->log.len; ends && i > mark; i--) {
    sl_vreg vreg = f->log.data[i - 1].vreg;
    if (f->stamp[vreg] == stamp)
      continue;
    f->stamp[vreg] = stamp;
    sl_vec_add(f->code->heap, ends, ((struct change){ vreg, f->known[vreg] }));
  }
  for (uint32_t i = f->log.len; i > mark; i--)
    f->known[f->log.data[i - 1].vreg] = f->log.data[i - 1].value;
  f->log.len = mark;
}

/* A register that ends one arm with `mine` is known behind the branch only if the other way ends with the same value. */
static void merge_arm(struct folder *f, const change_list *mine, const change_list *other)
{
  uint32_t stamp = ++f->last_stamp;
  for (uint32_t i = 0; i < other->len; i++) {
    f->stamp[other->data[i].vreg] = stamp;
    f->other[other->data[i].vreg] = other->data[i].value;
  }
  for (uint32_t i = 0; i < mine->len; i++) {
    sl_vreg vreg = mine->data[i].vreg;
    struct known a = mine->data[i].value, b = f->stamp[vreg] == stamp ? f->other[vreg] : f->known[vreg];
    bool agree = a.is_known && b.is_known && a.value == b.value;
    set_known(f, vreg, agree ? a : (struct known){ false, 0 });
  }
}

static uint32_t fold_range(struct folder *f, uint32_t from, uint32_t to);

static uint32_t fold_if(struct folder *f, uint32_t at)
{
  uint32_t otherwise = f->code->code.data[at].pair, end = f->code->code.data[otherwise].pair;
  change_list then_ends = { 0 }, else_ends = { 0 };
  uint32_t mark = f->log.len;
  f->regions++;
  fold_range(f, at + 1, otherwise);
  go_back(f, mark, &then_ends);
  fold_range(f, otherwise + 1, end);
  go_back(f, mark, &else_ends);
  f->regions--;
  merge_arm(f, &then_ends, &else_ends);
  merge_arm(f, &else_ends, &then_ends);
  sl_vec_free(f->code->heap, &then_ends);
  sl_vec_free(f->code->heap, &else_ends);
  return end + 1;
}

static uint32_t fold_loop(struct folder *f, uint32_t at)
{
  uint32_t end = f->code->code.data[at].pair;
  forget_written(f, at + 1, end);
  uint32_t mark = f->log.len;
  f->regions++;
  fold_range(f, at + 1, end);
  go_back(f, mark, NULL); /* the loop may run zero times: what it learned does not hold behind it */
  f->regions--;
  return end + 1;
}

/* Recursion depth is the nesting depth of the kernel, which the verifier bounds. */
static uint32_t fold_range(struct folder *f, uint32_t from, uint32_t to)
{
  uint32_t i = from;
  while (i < to) {
    struct sl_code *item = &f->code->code.data[i];
    switch (item->kind) {
    case SL_CODE_LOOP: i = fold_loop(f, i); continue;
    case SL_CODE_IF: i = fold_if(f, i); continue;
    case SL_CODE_REG: fold_reg(f, item); break;
    case SL_CODE_WAIT: fold_value(f, &item->a); break;
    default: break;
    }
    i++;
  }
  return i;
}

void sl_regcode_fold(struct sl_regcode *code)
{
  struct folder f = { .code = code };
  f.known = sl_heap_calloc(code->heap, code->roles.len, sizeof *f.known);
  f.other = sl_heap_calloc(code->heap, code->roles.len, sizeof *f.other);
  f.stamp = sl_heap_calloc(code->heap, code->roles.len, sizeof *f.stamp);
  fold_range(&f, 0, code->code.len);
  sl_heap_free(code->heap, f.known);
  sl_heap_free(code->heap, f.other);
  sl_heap_free(code->heap, f.stamp);
  sl_vec_free(code->heap, &f.log);
}

/* ---- stripping ---- */

struct usefulness {
  struct sl_regcode *code;
  bool *useful;          /* by vreg: can reach a wait */
  sl_vec(sl_vreg) found; /* useful ones whose definitions are still to be looked at */
};

static void need(struct usefulness *u, struct sl_value value)
{
  if (value.kind != SL_VALUE_VREG || u->useful[value.value])
    return;
  u->useful[value.value] = true;
  sl_vec_add(u->code->heap, &u->found, value.value);
}

/* Registers that can reach a wait at all, by any way: kills counters that only feed themselves. O(instructions). */
static void find_useful(struct sl_regcode *code, bool *useful)
{
  sl_heap *heap = code->heap;
  uint32_t count = code->code.len, vregs = code->roles.len;
  struct usefulness u = { .code = code, .useful = useful };
  /* Definitions of each register as a linked list: first_def[vreg], next_def[instruction], both index + 1. */
  uint32_t *first_def = sl_heap_calloc(heap, vregs, sizeof *first_def);
  uint32_t *next_def = sl_heap_calloc(heap, (size_t)count + 1, sizeof *next_def);
  for (uint32_t i = 0; i < count; i++) {
    const struct sl_code *item = &code->code.data[i];
    if (item->kind == SL_CODE_WAIT && !item->dead)
      need(&u, item->a);
    if (item->kind != SL_CODE_REG || item->dead)
      continue;
    next_def[i] = first_def[item->dst];
    first_def[item->dst] = i + 1;
  }
  while (u.found.len) {
    sl_vreg vreg = u.found.data[--u.found.len];
    for (uint32_t def = first_def[vreg]; def; def = next_def[def - 1]) {
      need(&u, code->code.data[def - 1].a);
      need(&u, code->code.data[def - 1].b);
    }
  }
  sl_heap_free(heap, first_def);
  sl_heap_free(heap, next_def);
  sl_vec_free(heap, &u.found);
}

struct kill {
  sl_vreg vreg;
  uint32_t live_since;
};

struct stripper {
  struct sl_regcode *code;
  uint32_t now;         /* event counter, from 1 */
  uint32_t *live_since; /* by vreg: 0 = dead, else when it became live (backward) */
  uint32_t regions;     /* open loops and branches */
  uint32_t *written;    /* by vreg: == scan when surely written in the scan for exposed reads */
  uint32_t scan;
  sl_vec(sl_vreg) inner_writes; /* of that scan, inside nested loops and arms */
  sl_vec(struct kill) killed;
};

static void make_live(struct stripper *s, sl_vreg vreg)
{
  if (!s->live_since[vreg])
    s->live_since[vreg] = ++s->now;
}

static void read_value(struct stripper *s, struct sl_value value)
{
  if (value.kind == SL_VALUE_VREG)
    make_live(s, value.value);
}

static void strip_reg(struct stripper *s, struct sl_code *item)
{
  if (item->dead)
    return;
  if (!s->live_since[item->dst]) {
    item->dead = true;
    return;
  }
  if (s->regions)
    sl_vec_add(s->code->heap, &s->killed, ((struct kill){ item->dst, s->live_since[item->dst] }));
  s->live_since[item->dst] = 0;
  read_value(s, item->a);
  read_value(s, item->b);
}

/* Makes live again what was live when the region began (backward) and a definition inside it killed: the region may be
 * skipped. */
static void restore_killed(struct stripper *s, uint32_t mark, uint32_t began)
{
  for (uint32_t i = mark; i < s->killed.len; i++) {
    const struct kill *kill = &s->killed.data[i];
    if (kill->live_since <= began && !s->live_since[kill->vreg])
      s->live_since[kill->vreg] = kill->live_since;
  }
  if (s->regions == 0)
    s->killed.len = 0;
}

static void read_exposed(struct stripper *s, struct sl_value value)
{
  if (value.kind == SL_VALUE_VREG && s->written[value.value] != s->scan)
    make_live(s, value.value);
}

/* What a nested loop or arm wrote is not surely written behind it. */
static void forget_inner_writes(struct stripper *s, uint32_t mark)
{
  while (s->inner_writes.len > mark)
    s->written[s->inner_writes.data[--s->inner_writes.len]] = 0;
}

/* Makes live what the body reads before it surely wrote it: the next iteration reads it. */
static void add_exposed_reads(struct stripper *s, uint32_t from, uint32_t to)
{
  s->scan++;
  sl_heap *heap = s->code->heap;
  sl_vec(uint32_t) marks = { 0 };
  for (uint32_t i = from; i < to; i++) {
    const struct sl_code *item = &s->code->code.data[i];
    if (item->dead)
      continue;
    switch (item->kind) {
    case SL_CODE_LOOP:
    case SL_CODE_IF: sl_vec_add(heap, &marks, s->inner_writes.len); break;
    case SL_CODE_ELSE: forget_inner_writes(s, marks.data[marks.len - 1]); break;
    case SL_CODE_END_LOOP:
    case SL_CODE_END_IF: forget_inner_writes(s, marks.data[--marks.len]); break;
    case SL_CODE_WAIT: read_exposed(s, item->a); break;
    default:
      read_exposed(s, item->a);
      read_exposed(s, item->b);
      if (s->written[item->dst] != s->scan && marks.len)
        sl_vec_add(heap, &s->inner_writes, item->dst);
      s->written[item->dst] = s->scan;
    }
  }
  sl_vec_free(heap, &marks);
}

static void strip_range(struct stripper *s, const uint32_t *opener, uint32_t from, uint32_t to);

static void strip_if(struct stripper *s, const uint32_t *opener, uint32_t at, uint32_t end)
{
  uint32_t otherwise = s->code->code.data[at].pair;
  uint32_t mark = s->killed.len, began = s->now;
  s->regions++;
  strip_range(s, opener, otherwise + 1, end);
  restore_killed(s, mark, began);
  mark = s->killed.len;
  began = s->now;
  strip_range(s, opener, at + 1, otherwise);
  s->regions--;
  restore_killed(s, mark, began);
}

static void strip_loop(struct stripper *s, const uint32_t *opener, uint32_t at, uint32_t end)
{
  uint32_t mark = s->killed.len, began = s->now;
  add_exposed_reads(s, at + 1, end);
  s->regions++;
  strip_range(s, opener, at + 1, end);
  s->regions--;
  restore_killed(s, mark, began);
}

/* Backward over [from, to). opener[i] is the LOOP / IF / ELSE that END item i closes. */
static void strip_range(struct stripper *s, const uint32_t *opener, uint32_t from, uint32_t to)
{
  uint32_t i = to;
  while (i > from) {
    struct sl_code *item = &s->code->code.data[--i];
    switch (item->kind) {
    case SL_CODE_END_LOOP:
      strip_loop(s, opener, opener[i], i);
      i = opener[i];
      break;
    case SL_CODE_END_IF: {
      uint32_t at = opener[opener[i]];
      strip_if(s, opener, at, i);
      i = at;
      break;
    }
    case SL_CODE_REG: strip_reg(s, item); break;
    case SL_CODE_WAIT:
      if (!item->dead)
        read_value(s, item->a);
      break;
    default: assert(false && "unbalanced register code"); break;
    }
  }
}

void sl_regcode_strip(struct sl_regcode *code)
{
  sl_heap *heap = code->heap;
  uint32_t vregs = code->roles.len;
  bool *useful = sl_heap_calloc(heap, vregs, sizeof *useful);
  find_useful(code, useful);
  uint32_t *opener = sl_heap_calloc(heap, code->code.len + 1, sizeof *opener);
  for (uint32_t i = 0; i < code->code.len; i++) {
    struct sl_code *item = &code->code.data[i];
    if (item->kind == SL_CODE_REG && !useful[item->dst])
      item->dead = true;
    if (item->kind == SL_CODE_LOOP || item->kind == SL_CODE_IF || item->kind == SL_CODE_ELSE)
      opener[item->pair] = i;
  }
  struct stripper s = { .code = code };
  s.live_since = sl_heap_calloc(heap, vregs, sizeof *s.live_since);
  s.written = sl_heap_calloc(heap, vregs, sizeof *s.written);
  strip_range(&s, opener, 0, code->code.len);
  sl_heap_free(heap, useful);
  sl_heap_free(heap, opener);
  sl_heap_free(heap, s.live_since);
  sl_heap_free(heap, s.written);
  sl_vec_free(heap, &s.inner_writes);
  sl_vec_free(heap, &s.killed);
}
