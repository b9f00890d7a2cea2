/* choices.h: which runs to try: what the run decides, the values tried for each, and their combinations.
 *
 * Tried for a parameter that steers control: 0 .. k+2 (k the largest distance of the kernel, but at most 64: waits in the
 * usual forms fail first at bound k+1), m-1, m, m+1 for every modulus m in the kernel, its default, and once 1,000. For an opaque condition of
 * a branch six patterns, for one of a `while` the same trip counts and two that vary from visit to visit; for a loaded register
 * likewise. Where a dependence looks into earlier visits, a third pattern varies by more than its distance. All combinations up to a limit, else a seeded sample in which every pair of values of two choices occurs.
 */
#ifndef SL_CHECK_CHOICES_H
#define SL_CHECK_CHOICES_H

#include <sluice/check.h>

#include "run/code.h"

enum sl_choice_kind { SL_CHOICE_PARAM, SL_CHOICE_OUTCOMES, SL_CHOICE_LOADS };

/* A value that is tried: one number, a sequence that repeats, or random outcomes. */
struct sl_option {
  uint32_t first, count; /* into values */
  bool is_random;
  uint64_t seed; /* of random outcomes */
};

struct sl_choice {
  uint8_t kind;
  const char *name;
  uint32_t occurrence;         /* OUTCOMES: which textual place of that name */
  uint32_t first_option, option_count; /* those that are combined */
  uint32_t large;              /* option + 1 with 1,000 trips, tried once; 0 = none */
  bool is_while;
};

struct sl_choices {
  sl_heap *heap;
  sl_vec(struct sl_choice) choices;
  sl_vec(struct sl_option) options;
  sl_vec(int64_t) values;
  uint32_t *rows;              /* row_count * choices.len options */
  uint32_t row_count;
  bool is_sample;
};

/* The inputs of one row as one kernel sees them: bind once per kernel, then select rows. */
struct sl_bound_inputs {
  struct sl_inputs inputs;
  const struct sl_choices *choices;
  const uint32_t *row;
  const struct sl_kernel *kernel;
  int64_t *params;
  uint32_t *choice_of_param;   /* + 1 */
  uint32_t *choice_of_place;   /* + 1 */
  sl_map choice_of_register;   /* name -> choice + 1 */
};

/* What the dependences ask of the runs. */
struct sl_reach {
  uint32_t largest;       /* distance */
  bool into_other_visits; /* one is a vector or across visits: trip counts should differ from visit to visit */
};

/* The choices of a pair of kernels (the checked one and the one that gives the dependences; may be the same). Sets fixed_found[i] for each fixed input i that one of the kernels has. */
void sl_choices_init(struct sl_choices *choices, sl_heap *heap, const struct sl_machine_code *own,
                     const struct sl_machine_code *reference, struct sl_reach reach, const sluice_check_options *options,
                     bool *fixed_found);
void sl_bound_inputs_init(struct sl_bound_inputs *bound, sl_heap *heap, const struct sl_choices *choices,
                          const struct sl_machine_code *code);
void sl_bound_inputs_select(struct sl_bound_inputs *bound, uint32_t row);

/* "n = 3, ?c = 0 1 ..." of one row, nothing when nothing varies; and what is tried of each choice. */
void sl_print_row(sl_buf *buf, const struct sl_choices *choices, uint32_t row);
void sl_print_choices(sl_buf *buf, const struct sl_choices *choices);

#endif
