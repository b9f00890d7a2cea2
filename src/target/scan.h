/* scan.h: tokens of target descriptions. Line oriented: the end of a line is a token. Any bytes are safe input.
 * The grammar is in docs/targets.md.
 */
#ifndef SL_TARGET_SCAN_H
#define SL_TARGET_SCAN_H

#include "base/source.h"

enum sl_token_kind {
  SL_TOKEN_END,    /* of the text */
  SL_TOKEN_LINE,   /* end of a line */
  SL_TOKEN_WORD,   /* letter or _, then letters, digits and _ - / */
  SL_TOKEN_NUMBER, /* 12, 2.4, 1e9 */
  SL_TOKEN_STRING, /* "..." on one line, no escapes */
  SL_TOKEN_MARK,   /* { } = , * or .. */
  SL_TOKEN_BAD     /* anything else, and a string that does not end */
};

struct sl_token {
  uint8_t kind;
  sl_loc loc;
  const char *text; /* into the source; without the quotes of a string */
  uint32_t length;
  double number;
};

struct sl_scan {
  const char *text;
  uint32_t length, at;
  struct sl_token token; /* the current one */
};

/* The number at the start of a text that starts with a digit: `12`, `2.4`, `1e9`; infinite when it is out of range. Returns its
 * length. Independent of the locale; the nearest double for up to 15 digits and exponents to 22. */
size_t sl_scan_double(double *value, const char *text, size_t length);

void sl_scan_init(struct sl_scan *scan, const char *text, uint32_t length);
/* Goes to the next token. */
void sl_scan_next(struct sl_scan *scan);
/* Whether the current token is this word or mark. */
bool sl_scan_is(const struct sl_scan *scan, const char *text);
/* Goes past it if it is. */
bool sl_scan_accept(struct sl_scan *scan, const char *text);
/* A formula starting at the current token: everything up to a unit (`cycles`, `ns`, `value`) outside parentheses, or to the end of
 * the line; inside parentheses it may go on on the next line. The current token is then what follows
 * it. SL_TOKEN_BAD when a parenthesis stays open. */
struct sl_token sl_scan_formula(struct sl_scan *scan);
/* Error recovery: to the end of the line, or past the end of the block that the rest of the line opens. */
void sl_scan_skip(struct sl_scan *scan);

#endif
