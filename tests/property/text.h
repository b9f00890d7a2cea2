/* text.h: what both generators share: choices read from bytes, and growing text. Allocation failure aborts. */
#ifndef SL_TESTS_PROPERTY_TEXT_H
#define SL_TESTS_PROPERTY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sl_choices {
  const uint8_t *bytes;
  size_t length, used;
};

/* A number below `count` (at most 256): the next byte modulo count, 0 when there is none left. */
unsigned sl_choose(struct sl_choices *choices, unsigned count);
/* True in one of `in` cases; false when the bytes are used up. */
bool sl_chance(struct sl_choices *choices, unsigned in);

struct sl_text {
  char *data;
  size_t length, capacity;
};

__attribute__((format(printf, 2, 3))) void sl_text_printf(struct sl_text *text, const char *format, ...);
void sl_text_puts(struct sl_text *text, const char *string);
void sl_text_indent(struct sl_text *text, unsigned depth);

/* The generators: generate_syntax.c, generate_sync.c, generate_hand.c, generate_affine.c. */
void sl_generate_syntax(struct sl_text *text, struct sl_choices *choices);
void sl_generate_sync(struct sl_text *text, struct sl_choices *choices);
void sl_generate_transfers(struct sl_text *text, struct sl_choices *choices);
void sl_generate_hand(struct sl_text *text, struct sl_choices *choices);
void sl_generate_affine(struct sl_text *text, struct sl_choices *choices);

#endif
