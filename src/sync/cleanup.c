/* cleanup.c: see cleanup.h. Recursion depth is the nesting of the kernel, which the verifier bounds. */
#include "sync/cleanup.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"

/* ---- common subexpressions and implied waits: value numbering over structured code ---- */

/* A computed value: available in `holder` as long as that register still has this value number. */
struct expression {
  uint64_t key_a, key_b;
  uint32_t op, value, holder, next; /* next of the bucket, index + 1 */
};

struct change {
  sl_vreg vreg;
  uint32_t value;
};

/* The largest number that the engine has surely waited for on a semaphore, before it grew. */
struct passed_number {
  uint32_t sem, before;
};

enum { OP_WAIT = SL_OPCODE_COUNT /* an expression that means: waited for */ };

struct numbering {
  struct sl_regcode *code;
  uint32_t *value;              /* by vreg: its value number now */
  sl_vec(sl_vreg) holder;       /* by value number: the first register that got it */
  sl_vec(struct expression) expressions;
  uint32_t *buckets, bucket_count;
  sl_vec(struct change) log;    /* changes inside a branch, to undo at its else */
  uint32_t *passed;             /* by semaphore */
  sl_vec(struct passed_number) passed_log;
  bool values, waits;
};

static uint32_t fresh(struct numbering *n, sl_vreg vreg)
{
  sl_vec_add(n->code->heap, &n->holder, vreg);
  return n->holder.len - 1;
}

static void assign(struct numbering *n, sl_vreg vreg, uint32_t value)
{
  sl_vec_add(n->code->heap, &n->log, ((struct change){ vreg, n->value[vreg] }));
  n->value[vreg] = value;
}

/* The register to read instead: the first that got this value, if it still has it. */
static void read_value(const struct numbering *n, struct sl_value *value)
{
  if (value->kind != SL_VALUE_VREG)
    return;
  uint32_t number = n->value[value->value];
  sl_vreg holder = n->holder.data[number];
  if (n->value[holder] == number)
    value->value = holder;
}

static uint64_t key_of(const struct numbering *n, struct sl_value value)
{
  uint32_t detail = value.kind == SL_VALUE_VREG ? n->value[value.value] : value.value;
  return (uint64_t)value.kind << 32 | detail;
}

static uint32_t *bucket_of(const struct numbering *n, uint32_t op, uint64_t a, uint64_t b)
{
  uint64_t hash = sl_hash_mix(a ^ sl_hash_mix(b + op));
  return &n->buckets[hash & (n->bucket_count - 1)];
}

static struct expression *find_expression(const struct numbering *n, uint32_t op, uint64_t a, uint64_t b)
{
  for (uint32_t at = *bucket_of(n, op, a, b); at; at = n->expressions.data[at - 1].next) {
    struct expression *e = &n->expressions.data[at - 1];
    if (e->op == op && e->key_a == a && e->key_b == b && n->value[e->holder] == e->value)
      return e;
  }
  return NULL;
}

static void add_expression(struct numbering *n, uint32_t op, uint64_t a, uint64_t b, uint32_t value, sl_vreg holder)
{
  uint32_t *bucket = bucket_of(n, op, a, b);
  sl_vec_add(n->code->heap, &n->expressions, ((struct expression){ a, b, op, value, holder, *bucket }));
  *bucket = n->expressions.len;
}

static void number_wait(struct numbering *n, struct sl_code *item)
{
  if (n->values)
    read_value(n, &item->a);
  if (!n->waits)
    return;
  if (item->a.kind == SL_VALUE_INT) {
    item->dead = item->a.value <= n->passed[item->dst];
    if (!item->dead) {
      sl_vec_add(n->code->heap, &n->passed_log, ((struct passed_number){ item->dst, n->passed[item->dst] }));
      n->passed[item->dst] = item->a.value;
    }
    return;
  }
  uint64_t key = key_of(n, item->a);
  if (find_expression(n, OP_WAIT, item->dst, key))
    item->dead = true;
  else
    add_expression(n, OP_WAIT, item->dst, key, n->value[0], 0); /* register 0 never changes: valid as long as in scope */
}

static void number_op(struct numbering *n, struct sl_code *item)
{
  if (!n->values) {
    assign(n, item->dst, fresh(n, item->dst));
    return;
  }
  read_value(n, &item->a);
  read_value(n, &item->b);
  if (item->op == SL_OP_REG_SET && item->a.kind == SL_VALUE_VREG) {
    assign(n, item->dst, n->value[item->a.value]);
    return;
  }
  if (item->op == SL_OP_REG_SET && item->a.kind == SL_VALUE_INT) { /* nothing is cheaper than a number */
    assign(n, item->dst, fresh(n, item->dst));
    return;
  }
  uint64_t a = key_of(n, item->a), b = key_of(n, item->b);
  const struct expression *known = find_expression(n, item->op, a, b);
  if (known) {
    item->op = SL_OP_REG_SET; /* a copy, which nobody reads in the end */
    item->a = sl_value_vreg(known->holder);
    item->b = sl_value_int(0);
    assign(n, item->dst, known->value);
    return;
  }
  uint32_t value = fresh(n, item->dst);
  assign(n, item->dst, value);
  add_expression(n, item->op, a, b, value, item->dst);
}

/* What was found in a region does not hold behind it. */
static void leave_region(struct numbering *n, uint32_t mark, uint32_t passed)
{
  while (n->passed_log.len > passed) {
    const struct passed_number *number = &n->passed_log.data[--n->passed_log.len];
    n->passed[number->sem] = number->before;
  }
  while (n->expressions.len > mark) {
    const struct expression *e = &n->expressions.data[--n->expressions.len];
    *bucket_of(n, e->op, e->key_a, e->key_b) = e->next;
  }
}

static void renumber_written(struct numbering *n, uint32_t from, uint32_t to)
{
  for (uint32_t i = from; i < to; i++)
    if (n->code->code.data[i].kind == SL_CODE_REG && !n->code->code.data[i].dead)
      assign(n, n->code->code.data[i].dst, fresh(n, n->code->code.data[i].dst));
}

static void undo(struct numbering *n, uint32_t mark)
{
  while (n->log.len > mark) {
    const struct change *change = &n->log.data[--n->log.len];
    n->value[change->vreg] = change->value;
  }
}

static void number_range(struct numbering *n, uint32_t from, uint32_t to)
{
  for (uint32_t i = from; i < to; i++) {
    struct sl_code *item = &n->code->code.data[i];
    uint32_t mark = n->expressions.len, log = n->log.len, passed = n->passed_log.len;
    if (item->kind == SL_CODE_LOOP) {
      uint32_t end = item->pair;
      renumber_written(n, i + 1, end);
      number_range(n, i + 1, end);
      leave_region(n, mark, passed);
      renumber_written(n, i + 1, end);
      i = end;
    } else if (item->kind == SL_CODE_IF) {
      uint32_t otherwise = item->pair, end = n->code->code.data[otherwise].pair;
      number_range(n, i + 1, otherwise);
      leave_region(n, mark, passed);
      undo(n, log);
      number_range(n, otherwise + 1, end);
      leave_region(n, mark, passed);
      undo(n, log);
      renumber_written(n, i + 1, end);
      i = end;
    } else if (item->kind == SL_CODE_WAIT) {
      number_wait(n, item);
    } else if (item->kind == SL_CODE_REG && !item->dead) {
      number_op(n, item);
    }
  }
}

void sl_cleanup_common(struct sl_regcode *code, uint32_t sem_count, bool values, bool waits)
{
  sl_heap *heap = sl_heap_child_new(code->heap);
  sl_heap *outer = code->heap;
  struct numbering n = { .code = code, .bucket_count = 64, .values = values, .waits = waits };
  while (n.bucket_count < code->code.len && n.bucket_count < 1u << 30)
    n.bucket_count *= 2;
  code->heap = heap; /* the tables end with this pass */
  n.value = sl_heap_calloc(heap, code->roles.len, sizeof *n.value);
  n.passed = sl_heap_calloc(heap, sem_count + 1u, sizeof *n.passed);
  n.buckets = sl_heap_calloc(heap, n.bucket_count, sizeof *n.buckets);
  for (sl_vreg vreg = 0; vreg < code->roles.len; vreg++)
    n.value[vreg] = fresh(&n, vreg);
  number_range(&n, 0, code->code.len);
  code->heap = outer;
  sl_heap_child_free(heap);
}

/* ---- loop-invariant motion ---- */

struct motion {
  struct sl_regcode *code;
  sl_vec(struct sl_code) out;
  uint32_t *writes;  /* by vreg: instructions that write it, in all */
  uint32_t *written; /* by vreg: stamp of the loop that writes it */
  uint32_t stamp;
  bool *has_moved;   /* by vreg */
  uint32_t moved, most; /* temporaries that moved, and may move */
};

/* Whether a loop does not change a value. Of the author's registers that is not known. */
static bool is_invariant(const struct motion *m, struct sl_value value, const struct sl_code *loop)
{
  switch ((enum sl_value_kind)value.kind) {
  case SL_VALUE_INT: return true;
  case SL_VALUE_VREG: return m->written[value.value] != m->stamp;
  case SL_VALUE_NAME: return value.value != loop->dst;
  case SL_VALUE_REG: break;
  }
  return false;
}

static bool can_move(const struct motion *m, const struct sl_code *item, const struct sl_code *loop)
{
  bool has_room = m->moved < m->most || m->has_moved[item->dst];
  return has_room && item->kind == SL_CODE_REG && !item->dead && m->code->roles.data[item->dst].kind == 0 &&
         m->writes[item->dst] == 1 && is_invariant(m, item->a, loop) && is_invariant(m, item->b, loop);
}

static void move_range(struct motion *m, uint32_t from, uint32_t to);

/* The body is in `out` behind `start`: what can move goes before it. */
static void move_out(struct motion *m, uint32_t start, const struct sl_code *loop)
{
  sl_heap *heap = m->code->heap;
  uint32_t count = m->out.len - start, depth = 0;
  struct sl_code *body = sl_heap_alloc(heap, (count + 1u) * sizeof *body);
  if (count)
    memcpy(body, &m->out.data[start], count * sizeof *body);
  m->stamp++;
  for (uint32_t i = 0; i < count; i++)
    if (body[i].kind == SL_CODE_REG && !body[i].dead)
      m->written[body[i].dst] = m->stamp;
  m->out.len = start;
  for (uint32_t i = 0; i < count; i++) {
    uint8_t kind = body[i].kind;
    depth += kind == SL_CODE_LOOP || kind == SL_CODE_IF;
    depth -= kind == SL_CODE_END_LOOP || kind == SL_CODE_END_IF;
    if (depth != 0 || !can_move(m, &body[i], loop))
      continue;
    struct sl_code moved = body[i];
    moved.anchor = loop->anchor;
    moved.at = loop->at;
    m->written[moved.dst] = 0;
    m->moved += !m->has_moved[moved.dst];
    m->has_moved[moved.dst] = true;
    sl_vec_add(heap, &m->out, moved);
    body[i].dead = true;
  }
  sl_vec_add(heap, &m->out, *loop);
  for (uint32_t i = 0; i < count; i++)
    if (!body[i].dead || body[i].kind != SL_CODE_REG)
      sl_vec_add(heap, &m->out, body[i]);
  sl_heap_free(heap, body);
}

static void move_range(struct motion *m, uint32_t from, uint32_t to)
{
  for (uint32_t i = from; i < to; i++) {
    const struct sl_code item = m->code->code.data[i];
    if (item.kind != SL_CODE_LOOP) {
      sl_vec_add(m->code->heap, &m->out, item);
      continue;
    }
    uint32_t start = m->out.len;
    move_range(m, i + 1, item.pair);
    move_out(m, start, &item);
    sl_vec_add(m->code->heap, &m->out, m->code->code.data[item.pair]);
    i = item.pair;
  }
}

/* Pairs of the brackets, after instructions moved. */
static void find_pairs(struct sl_regcode *code)
{
  sl_vec(uint32_t) open = { 0 };
  for (uint32_t i = 0; i < code->code.len; i++) {
    switch (code->code.data[i].kind) {
    case SL_CODE_LOOP:
    case SL_CODE_IF: sl_vec_add(code->heap, &open, i); break;
    case SL_CODE_ELSE:
      code->code.data[open.data[open.len - 1]].pair = i;
      open.data[open.len - 1] = i;
      break;
    case SL_CODE_END_LOOP:
    case SL_CODE_END_IF: code->code.data[open.data[--open.len]].pair = i; break;
    default: break;
    }
  }
  sl_vec_free(code->heap, &open);
}

bool sl_cleanup_invariant(struct sl_regcode *code, uint32_t registers)
{
  struct motion m = { .code = code };
  uint32_t counters = 0;
  m.writes = sl_heap_calloc(code->heap, code->roles.len, sizeof *m.writes);
  m.written = sl_heap_calloc(code->heap, code->roles.len, sizeof *m.written);
  m.has_moved = sl_heap_calloc(code->heap, code->roles.len, sizeof *m.has_moved);
  for (uint32_t i = 0; i < code->code.len; i++) {
    const struct sl_code *item = &code->code.data[i];
    if (item->kind == SL_CODE_REG && !item->dead && m.writes[item->dst]++ == 0)
      counters += code->roles.data[item->dst].kind != 0;
  }
  m.most = registers > counters ? (registers - counters) / 2 : 0;
  move_range(&m, 0, code->code.len);
  sl_vec_free(code->heap, &code->code);
  code->code.data = m.out.data;
  code->code.len = m.out.len;
  code->code.cap = m.out.cap;
  find_pairs(code);
  sl_heap_free(code->heap, m.writes);
  sl_heap_free(code->heap, m.written);
  sl_heap_free(code->heap, m.has_moved);
  return m.moved > 0;
}

/* ---- few registers ---- */

/* From the first write to the last read, as positions in the code. */
struct range {
  sl_vreg vreg;
  uint32_t from, to;
};

struct ranges {
  const struct sl_regcode *code;
  uint32_t *from, *to; /* by vreg; position + 1 */
};

static void see_read(struct ranges *r, struct sl_value value, uint32_t position, const uint32_t *open, uint32_t depth)
{
  if (value.kind != SL_VALUE_VREG || r->code->roles.data[value.value].kind != 0 || !r->from[value.value])
    return;
  /* Read inside a loop that began behind the write: it must last through all iterations. */
  uint32_t last = position;
  for (uint32_t i = 0; i < depth; i++) {
    const struct sl_code *opener = &r->code->code.data[open[i]];
    if (opener->kind == SL_CODE_LOOP && open[i] + 1 > r->from[value.value]) {
      last = opener->pair;
      break;
    }
  }
  if (last + 1 > r->to[value.value])
    r->to[value.value] = last + 1;
}

static void find_ranges(struct ranges *r, sl_heap *heap)
{
  sl_vec(uint32_t) open = { 0 };
  for (uint32_t i = 0; i < r->code->code.len; i++) {
    const struct sl_code *item = &r->code->code.data[i];
    switch (item->kind) {
    case SL_CODE_LOOP:
    case SL_CODE_IF: sl_vec_add(heap, &open, i); break;
    case SL_CODE_END_LOOP:
    case SL_CODE_END_IF: open.len--; break;
    case SL_CODE_WAIT:
      if (!item->dead)
        see_read(r, item->a, i, open.data, open.len);
      break;
    case SL_CODE_REG:
      if (item->dead)
        break;
      see_read(r, item->a, i, open.data, open.len);
      see_read(r, item->b, i, open.data, open.len);
      if (!r->from[item->dst])
        r->from[item->dst] = i + 1;
      if (i + 1 > r->to[item->dst])
        r->to[item->dst] = i + 1;
      break;
    default: break;
    }
  }
  sl_vec_free(heap, &open);
}

static int compare_ranges(const void *x, const void *y)
{
  const struct range *a = x, *b = y;
  if (a->from != b->from)
    return a->from < b->from ? -1 : 1;
  return a->vreg < b->vreg ? -1 : a->vreg > b->vreg;
}

/* Numbers of which the least comes out first: a binary heap. */
typedef sl_vec(uint64_t) least_first;

static void put_number(sl_heap *heap, least_first *numbers, uint64_t number)
{
  sl_vec_add(heap, numbers, number);
  for (uint32_t at = numbers->len - 1, above; at > 0; at = above) {
    above = (at - 1) / 2;
    if (numbers->data[above] <= numbers->data[at])
      return;
    uint64_t swapped = numbers->data[above];
    numbers->data[above] = numbers->data[at];
    numbers->data[at] = swapped;
  }
}

static uint64_t take_least(least_first *numbers)
{
  uint64_t least = numbers->data[0], last = numbers->data[--numbers->len];
  uint32_t at = 0;
  for (uint32_t below = 1; below < numbers->len; below = 2 * at + 1) {
    below += below + 1 < numbers->len && numbers->data[below + 1] < numbers->data[below];
    if (last <= numbers->data[below])
      break;
    numbers->data[at] = numbers->data[below];
    at = below;
  }
  numbers->data[at] = last;
  return least;
}

uint32_t sl_cleanup_registers(const struct sl_regcode *code, uint32_t *color)
{
  sl_heap *heap = sl_heap_child_new(code->heap);
  struct ranges r = { .code = code };
  r.from = sl_heap_calloc(heap, code->roles.len, sizeof *r.from);
  r.to = sl_heap_calloc(heap, code->roles.len, sizeof *r.to);
  find_ranges(&r, heap);
  sl_vec(struct range) ranges = { 0 };
  for (sl_vreg vreg = 1; vreg < code->roles.len; vreg++)
    if (code->roles.data[vreg].kind == 0 && r.from[vreg])
      sl_vec_add(heap, &ranges, ((struct range){ vreg, r.from[vreg], r.to[vreg] }));
  if (ranges.len)
    qsort(ranges.data, ranges.len, sizeof *ranges.data, compare_ranges);
  /* Registers are shared among temporaries of one kind: masks, thresholds. */
  least_first busy = { 0 }, free_of_kind[SL_TEMPORARIES] = { { 0 } }; /* busy: (free from there on, number) */
  sl_vec(uint32_t) kinds = { 0 };                                     /* by number */
  for (uint32_t i = 0; i < ranges.len; i++) {
    const struct range *range = &ranges.data[i];
    uint32_t kind = code->roles.data[range->vreg].number;
    /* An instruction reads before it writes, so a register is free for the write of the last reader. */
    while (busy.len && busy.data[0] >> 32 <= range->from) {
      uint32_t number = (uint32_t)take_least(&busy);
      put_number(heap, &free_of_kind[kinds.data[number]], number);
    }
    uint32_t number = kinds.len;
    if (free_of_kind[kind].len)
      number = (uint32_t)take_least(&free_of_kind[kind]);
    else
      sl_vec_add(heap, &kinds, kind);
    put_number(heap, &busy, sl_map_pair(range->to, number));
    color[range->vreg] = number + 1;
  }
  uint32_t count = kinds.len;
  sl_heap_child_free(heap);
  return count;
}
