/* prefetch.h: asking for memory before it is needed, in loops over lists that point all over a large array. Only a hint. */
#ifndef SL_BASE_PREFETCH_H
#define SL_BASE_PREFETCH_H

/* How many elements ahead a loop asks: enough to hide a miss behind the work on as many elements. */
enum { SL_PREFETCH_AHEAD = 32 };

#define sl_prefetch(address) __builtin_prefetch(address)

#endif
