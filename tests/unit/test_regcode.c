/* test_regcode.c: the clean-ups of register code (sync/regcode.h, sync/cleanup.h): what disappears, and what must stay.
 * Random code is run before and after, and every wait must see the same threshold. */
#include "unit.h"

#include "base/hash.h"
#include "sync/cleanup.h"
#include "sync/regcode.h"

static struct sl_regcode make_code(sl_heap *heap)
{
  struct sl_regcode code;
  sl_regcode_init(&code, heap, 0);
  sl_regcode_anchor(&code, SL_BEFORE_STMT, 1);
  return code;
}

static sl_vreg new_vreg(struct sl_regcode *code)
{
  return sl_regcode_vreg(code, (struct sl_vreg_role){ 1, 0, 0 });
}

static void add(struct sl_regcode *code, sl_vreg dst, sl_vreg a, uint32_t b)
{
  sl_regcode_op(code, SL_OP_REG_ADD, dst, sl_value_vreg(a), sl_value_int(b));
}

static uint32_t alive(const struct sl_regcode *code)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < code->code.len; i++)
    count += code->code.data[i].kind == SL_CODE_REG && !code->code.data[i].dead;
  return count;
}

static const struct sl_code *wait_number(const struct sl_regcode *code, uint32_t number)
{
  for (uint32_t i = 0; i < code->code.len; i++)
    if (code->code.data[i].kind == SL_CODE_WAIT && number-- == 0)
      return &code->code.data[i];
  return NULL;
}

static void clean_up(struct sl_regcode *code)
{
  sl_regcode_fold(code);
  sl_regcode_strip(code);
}

static void test_straight_line_needs_no_register(void **state)
{
  struct sl_regcode code = make_code(*state);
  sl_vreg x = new_vreg(&code);
  sl_regcode_set(&code, x, sl_value_int(3));
  add(&code, x, x, 4);
  sl_regcode_wait(&code, 1, 1, sl_value_vreg(x));
  add(&code, x, x, 1);
  sl_regcode_wait(&code, 1, 1, sl_value_vreg(x));
  clean_up(&code);
  assert_int_equal(alive(&code), 0);
  assert_int_equal(wait_number(&code, 0)->a.kind, SL_VALUE_INT);
  assert_int_equal(wait_number(&code, 0)->a.value, 7);
  assert_int_equal(wait_number(&code, 1)->a.value, 8);
}

static void test_a_loop_keeps_its_counter(void **state)
{
  struct sl_regcode code = make_code(*state);
  sl_vreg x = new_vreg(&code), unread = new_vreg(&code);
  sl_regcode_set(&code, x, sl_value_int(0));
  sl_regcode_set(&code, unread, sl_value_int(0));
  sl_regcode_open_loop(&code, 0);
  add(&code, x, x, 1);
  add(&code, unread, unread, 1);
  sl_regcode_wait(&code, 1, 1, sl_value_vreg(x));
  sl_regcode_close_loop(&code);
  clean_up(&code);
  assert_int_equal(alive(&code), 2); /* the start value and the bump of x; a counter that only feeds itself goes */
  assert_int_equal(wait_number(&code, 0)->a.kind, SL_VALUE_VREG);
}

static void test_a_loop_may_run_zero_times(void **state)
{
  struct sl_regcode code = make_code(*state);
  sl_vreg x = new_vreg(&code);
  sl_regcode_set(&code, x, sl_value_int(0));
  sl_regcode_open_loop(&code, 0);
  sl_regcode_set(&code, x, sl_value_int(5));
  sl_regcode_close_loop(&code);
  sl_regcode_wait(&code, 1, 1, sl_value_vreg(x));
  clean_up(&code);
  assert_int_equal(alive(&code), 2);
  assert_int_equal(wait_number(&code, 0)->a.kind, SL_VALUE_VREG);
}

static void test_arms_that_agree_are_known(void **state)
{
  struct sl_regcode code = make_code(*state);
  sl_vreg x = new_vreg(&code), y = new_vreg(&code);
  sl_regcode_set(&code, x, sl_value_int(0));
  sl_regcode_set(&code, y, sl_value_int(0));
  sl_regcode_open_if(&code);
  add(&code, x, x, 2);
  add(&code, y, y, 1);
  sl_regcode_else(&code);
  add(&code, x, x, 2);
  sl_regcode_close_if(&code);
  sl_regcode_wait(&code, 1, 1, sl_value_vreg(x));
  sl_regcode_wait(&code, 1, 1, sl_value_vreg(y));
  clean_up(&code);
  assert_int_equal(wait_number(&code, 0)->a.kind, SL_VALUE_INT);
  assert_int_equal(wait_number(&code, 0)->a.value, 2);
  assert_int_equal(wait_number(&code, 1)->a.kind, SL_VALUE_VREG);
  assert_int_equal(alive(&code), 2); /* y := 0 before, y := 1 in one arm */
}

static void test_a_delay_line_stays_whole(void **state)
{
  struct sl_regcode code = make_code(*state);
  sl_vreg sn = new_vreg(&code), dl[3];
  for (int i = 0; i < 3; i++)
    dl[i] = new_vreg(&code);
  sl_regcode_set(&code, sn, sl_value_int(0));
  for (int i = 0; i < 3; i++)
    sl_regcode_set(&code, dl[i], sl_value_int(0));
  sl_regcode_open_loop(&code, 0);
  sl_regcode_wait(&code, 1, 1, sl_value_vreg(dl[2]));
  add(&code, sn, sn, 1);
  sl_regcode_set(&code, dl[2], sl_value_vreg(dl[1]));
  sl_regcode_set(&code, dl[1], sl_value_vreg(dl[0]));
  sl_regcode_set(&code, dl[0], sl_value_vreg(sn));
  sl_regcode_close_loop(&code);
  clean_up(&code);
  assert_int_equal(alive(&code), 8);
}

/* ---- random code, run before and after ---- */

enum { VREGS = 5, MOST_WAITS = 4096, MOST_VREGS = 4096, PARAMETER = 10 /* names: loop variables are 1, 2, ... */ };

struct machine {
  const uint32_t *color; /* by vreg: the place of a temporary, when it has been given one */
  uint32_t value[2 * MOST_VREGS], name[PARAMETER + 1];
  uint32_t seen[MOST_WAITS], count;
  uint64_t random;
};

static uint32_t draw(uint64_t *random, uint32_t below)
{
  *random += 0x9e3779b97f4a7c15u;
  return (uint32_t)(sl_hash_mix(*random) % below);
}

static uint32_t place_of(const struct machine *m, sl_vreg vreg)
{
  assert_true(vreg < MOST_VREGS);
  return m->color && m->color[vreg] ? MOST_VREGS + m->color[vreg] : vreg;
}

static uint32_t read_value(const struct machine *m, struct sl_value value)
{
  if (value.kind == SL_VALUE_NAME)
    return m->name[value.value];
  return value.kind == SL_VALUE_VREG ? m->value[place_of(m, value.value)] : value.value;
}

/* Loops run 0 to 2 times and branches go either way, by the machine's own random sequence. */
static void run(struct machine *m, const struct sl_regcode *code, uint32_t from, uint32_t to)
{
  for (uint32_t i = from; i < to; i++) {
    const struct sl_code *item = &code->code.data[i];
    if (item->kind == SL_CODE_LOOP) {
      uint32_t trips = draw(&m->random, 3);
      for (uint32_t trip = 0; trip < trips; trip++) {
        m->name[item->dst] = trip;
        run(m, code, i + 1, item->pair);
      }
      i = item->pair;
    } else if (item->kind == SL_CODE_IF) {
      uint32_t end = code->code.data[item->pair].pair;
      if (draw(&m->random, 2))
        run(m, code, i + 1, item->pair);
      else
        run(m, code, item->pair + 1, end);
      i = end;
    } else if (item->kind == SL_CODE_WAIT) {
      if (m->count < MOST_WAITS)
        m->seen[m->count++] = read_value(m, item->a);
    } else if (!item->dead) {
      uint32_t a = read_value(m, item->a), b = read_value(m, item->b);
      uint32_t *value = &m->value[place_of(m, item->dst)];
      switch (item->op) {
      case SL_OP_REG_SET: *value = a; break;
      case SL_OP_REG_ADD: *value = a + b; break;
      case SL_OP_REG_SUB: *value = a - b; break;
      case SL_OP_REG_MUL: *value = a * b; break;
      default: *value = a > b; break;
      }
    }
  }
}

/* Of the loops around, `loops`, bit by variable, the variables are known. */
static struct sl_value random_value(uint64_t *random, uint32_t loops)
{
  uint32_t name = 1 + draw(random, 4);
  switch (draw(random, 6)) {
  case 0: return (struct sl_value){ SL_VALUE_NAME, loops >> name & 1 ? name : PARAMETER };
  case 1:
  case 2: return sl_value_int(draw(random, 3));
  default: return sl_value_vreg(1 + draw(random, VREGS));
  }
}

/* A wait for what takes two temporaries. */
static void random_wait(struct sl_regcode *code, uint64_t *random, uint32_t loops)
{
  static const enum sl_opcode ops[] = { SL_OP_REG_ADD, SL_OP_REG_SUB, SL_OP_REG_MUL, SL_OP_REG_GT };
  sl_regcode_release(code);
  struct sl_value a = random_value(random, loops), b = random_value(random, loops);
  struct sl_value value = sl_regcode_value(code, ops[draw(random, 4)], a, b);
  value = sl_regcode_value(code, ops[draw(random, 4)], value, random_value(random, loops));
  sl_regcode_wait(code, 1, 1, value);
}

static void random_code(struct sl_regcode *code, uint64_t *random, uint32_t length, uint32_t depth, uint32_t loops)
{
  static const enum sl_opcode ops[] = { SL_OP_REG_SET, SL_OP_REG_SET, SL_OP_REG_ADD, SL_OP_REG_SUB,
                                        SL_OP_REG_MUL, SL_OP_REG_GT };
  for (uint32_t i = 0; i < length; i++) {
    uint32_t choice = draw(random, depth < 3 ? 10 : 8);
    if (choice < 4) {
      enum sl_opcode op = ops[draw(random, 6)];
      struct sl_value b = op == SL_OP_REG_SET ? sl_value_int(0) : random_value(random, loops);
      sl_regcode_op(code, op, 1 + draw(random, VREGS), random_value(random, loops), b);
    } else if (choice < 6) {
      sl_regcode_wait(code, 1, 1, random_value(random, loops));
    } else if (choice < 8) {
      random_wait(code, random, loops);
    } else if (choice == 8) {
      sl_regcode_open_loop(code, depth + 1);
      random_code(code, random, 1 + draw(random, 5), depth + 1, loops | 1u << (depth + 1));
      sl_regcode_close_loop(code);
    } else {
      sl_regcode_open_if(code);
      random_code(code, random, draw(random, 5), depth + 1, loops);
      sl_regcode_else(code);
      random_code(code, random, draw(random, 5), depth + 1, loops);
      sl_regcode_close_if(code);
    }
  }
}

/* Some of the clean-ups, in their order; those that let values live longer give the temporaries places. */
static const uint32_t *clean_up_some(struct sl_regcode *code, uint64_t *random)
{
  uint32_t *color = sl_heap_calloc(code->heap, code->roles.len, sizeof *color);
  bool common = draw(random, 2), invariant = draw(random, 2);
  if (draw(random, 2))
    sl_regcode_fold(code);
  if (common)
    sl_cleanup_common(code, 1, true, false);
  if (invariant && sl_cleanup_invariant(code, draw(random, 2) ? UINT32_MAX : draw(random, 12)) && common)
    sl_cleanup_common(code, 1, true, false);
  if (draw(random, 4))
    sl_regcode_strip(code);
  uint32_t count = sl_cleanup_registers(code, color);
  for (sl_vreg vreg = 1; vreg < code->roles.len; vreg++)
    assert_true(color[vreg] <= count);
  return color;
}

static void test_random_code_means_the_same(void **state)
{
  uint64_t random = 1;
  for (uint32_t round = 0; round < 20000; round++) {
    struct sl_regcode code = make_code(*state);
    for (uint32_t v = 0; v < VREGS; v++)
      sl_regcode_set(&code, new_vreg(&code), sl_value_int(v % 3));
    random_code(&code, &random, 6, 0, 0);
    static struct machine before[4], after;
    for (uint32_t way = 0; way < 4; way++) {
      memset(&before[way], 0, sizeof before[way]);
      before[way].random = random + way;
      before[way].name[PARAMETER] = 2;
      run(&before[way], &code, 0, code.code.len);
    }
    uint64_t wanted = random;
    const uint32_t *color = clean_up_some(&code, &wanted);
    for (uint32_t way = 0; way < 4; way++) {
      memset(&after, 0xa5, sizeof after); /* a register whose start value went missing shows */
      after.color = color;
      after.name[PARAMETER] = 2;
      after.count = 0;
      after.random = random + way;
      run(&after, &code, 0, code.code.len);
      assert_int_equal(after.count, before[way].count);
      assert_memory_equal(after.seen, before[way].seen, after.count * sizeof after.seen[0]);
    }
    sl_heap_free_all(*state);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    unit_test_with_heap(test_straight_line_needs_no_register),
    unit_test_with_heap(test_a_loop_keeps_its_counter),
    unit_test_with_heap(test_a_loop_may_run_zero_times),
    unit_test_with_heap(test_arms_that_agree_are_known),
    unit_test_with_heap(test_a_delay_line_stays_whole),
    unit_test_with_heap(test_random_code_means_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
