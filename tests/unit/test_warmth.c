/* test_warmth.c: engines that warm up, against a window that is looked at tick by tick. */
#include "unit.h"

#include "sim/warmth.h"

enum { WINDOW = 160, STEP = WINDOW / SL_WARMTH_STEPS, TIME = 20000 };

/* What warmth.h says, without its short cuts. */
struct slow {
  bool is_busy[TIME];
  bool is_warm;
  uint64_t time;
};

static void look_at(struct slow *slow, uint64_t until, bool is_busy)
{
  for (; slow->time < until; slow->time++) {
    slow->is_busy[slow->time] = is_busy;
    uint64_t end = slow->time + 1, busy = 0;
    if (end % STEP != 0)
      continue;
    for (uint64_t t = end > WINDOW ? end - WINDOW : 0; t < end; t++)
      busy += slow->is_busy[t];
    slow->is_warm = 2 * busy > WINDOW ? true : 2 * busy < WINDOW ? false : slow->is_warm;
  }
}

static uint64_t next_random(uint64_t *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static void test_agrees_with_a_look_at_every_tick(void **state)
{
  (void)state;
  int changes = 0;
  for (uint64_t seed = 1; seed <= 50; seed++) {
    static struct slow slow;
    struct sl_warmth warmth;
    uint64_t random = seed, time = 0;
    slow = (struct slow){ .time = 0 };
    sl_warmth_init(&warmth, WINDOW, 0.5, 0.5);
    while (time < TIME - 5 * WINDOW) {
      uint64_t gap = next_random(&random) % 8 ? next_random(&random) % 30 : next_random(&random) % (3 * WINDOW);
      uint64_t interval = next_random(&random) % (time / 4000 % 2 ? 60 : 15);
      bool was_warm = slow.is_warm;
      look_at(&slow, time + gap, false);
      uint64_t expected = slow.is_warm ? interval : 2 * interval;
      assert_int_equal(sl_warmth_pass(&warmth, time + gap, interval), expected);
      look_at(&slow, time + gap + expected, true);
      changes += was_warm != slow.is_warm;
      time += gap + expected;
    }
  }
  assert_true(changes > 500);
}

static void test_without_a_window_nothing_is_slow(void **state)
{
  (void)state;
  struct sl_warmth warmth;
  sl_warmth_init(&warmth, 0, 0.5, 0.5);
  assert_int_equal(sl_warmth_pass(&warmth, 10, 7), 7);
  sl_warmth_init(&warmth, WINDOW, 0.5, 0); /* no rate: none is given */
  assert_int_equal(sl_warmth_pass(&warmth, 10, 7), 7);
}

static void test_long_times_take_no_time(void **state)
{
  (void)state;
  struct sl_warmth warmth;
  sl_warmth_init(&warmth, WINDOW, 0.5, 0.5);
  assert_int_equal(sl_warmth_pass(&warmth, (uint64_t)1 << 50, (uint64_t)1 << 50), (uint64_t)1 << 51);
  assert_int_equal(sl_warmth_pass(&warmth, (uint64_t)3 << 50, 10), 10);
  assert_int_equal(sl_warmth_pass(&warmth, (uint64_t)5 << 50, 10), 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_agrees_with_a_look_at_every_tick),
    cmocka_unit_test(test_without_a_window_nothing_is_slow),
    cmocka_unit_test(test_long_times_take_no_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
