/* warmth.h: an engine that is slow until it has been busy for a while, as the matrix engine of later cores is.
 *
 * It starts cold. It becomes warm when it was busy for more than a share of the last window, and cold again when it was for less.
 * The window moves in steps of a sixteenth. An instruction takes the rate that the engine has when it starts.
 *
 * Time per instruction: O(1) and a step for each sixteenth passed, at most a window's. Memory: fixed.
 */
#ifndef SL_SIM_WARMTH_H
#define SL_SIM_WARMTH_H

#include <stdbool.h>
#include <stdint.h>

enum { SL_WARMTH_STEPS = 16 };

struct sl_warmth {
  uint64_t step;      /* ticks; 0: always warm */
  double share, rate; /* of the window that it must be busy; of its speed when it is cold */
  bool is_warm;
  uint64_t time;                  /* up to which everything is known */
  uint64_t busy[SL_WARMTH_STEPS]; /* ticks in each of the last steps; the one at `at` is not over */
  uint32_t at;
};

void sl_warmth_init(struct sl_warmth *warmth, uint64_t window, double share, double rate);

/* An instruction starts that takes so long when the engine is warm; answers how long it takes. Starts come in order, none before the
 * last one's end. */
uint64_t sl_warmth_pass(struct sl_warmth *warmth, uint64_t start, uint64_t interval);

#endif
