/* scan.c: see scan.h. O(length); the text is never copied. */
#include "target/scan.h"

#include <math.h>
#include <string.h>

static bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static char peek(const struct sl_scan *scan, uint32_t ahead)
{
  return scan->length - scan->at > ahead ? scan->text[scan->at + ahead] : '\0';
}

void sl_scan_init(struct sl_scan *scan, const char *text, uint32_t length)
{
  memset(scan, 0, sizeof *scan);
  scan->text = text;
  scan->length = length;
  sl_scan_next(scan);
}

/* Digits from `at`; the value goes on from *value, *dropped counts digits that no longer fit. */
static size_t read_digits(const char *text, size_t length, size_t at, uint64_t *value, int *dropped)
{
  for (; at < length && is_digit(text[at]); at++) {
    if (*value < UINT64_MAX / 10 - 1)
      *value = *value * 10 + (uint64_t)(text[at] - '0');
    else if (*dropped < 10000)
      ++*dropped;
  }
  return at;
}

/* Exact up to 10^22; infinite beyond the range of double. */
static double power_of_ten(int exponent)
{
  double power = 1;
  for (int i = 0; i < exponent && i < 400; i++)
    power *= 10;
  return power;
}

size_t sl_scan_double(double *value, const char *text, size_t length)
{
  uint64_t digits = 0, exponent = 0;
  int dropped = 0, dropped_fraction = 0, scale = 0;
  size_t at = read_digits(text, length, 0, &digits, &dropped);
  if (at + 1 < length && text[at] == '.' && is_digit(text[at + 1])) { /* `1..2` is a range */
    size_t point = ++at;
    at = read_digits(text, length, at, &digits, &dropped_fraction);
    scale = (int)(at - point > 10000 ? 10000 : at - point) - dropped_fraction;
  }
  size_t mark = at;
  if (mark < length && (text[mark] == 'e' || text[mark] == 'E')) {
    bool sign = mark + 1 < length && (text[mark + 1] == '+' || text[mark + 1] == '-');
    int ignored = 0;
    size_t end = read_digits(text, length, mark + (sign ? 2 : 1), &exponent, &ignored);
    if (end > mark + (sign ? 2 : 1)) {
      at = end;
      int power = exponent > 10000 ? 10000 : (int)exponent;
      scale -= sign && text[mark + 1] == '-' ? -power : power;
    }
  }
  scale -= dropped;
  *value = digits == 0 ? 0 : scale > 0 ? (double)digits / power_of_ten(scale) : (double)digits * power_of_ten(-scale);
  return at;
}

static void scan_number(struct sl_scan *scan, struct sl_token *token)
{
  token->length = (uint32_t)sl_scan_double(&token->number, token->text, scan->length - scan->at);
  scan->at += token->length;
  token->kind = isfinite(token->number) && !is_letter(peek(scan, 0)) ? SL_TOKEN_NUMBER : SL_TOKEN_BAD;
}

static void scan_word(struct sl_scan *scan, struct sl_token *token)
{
  while (is_letter(peek(scan, 0)) || is_digit(peek(scan, 0)) || peek(scan, 0) == '-' || peek(scan, 0) == '/')
    scan->at++;
  token->kind = SL_TOKEN_WORD;
  token->length = scan->at - (token->loc - 1);
}

static void scan_string(struct sl_scan *scan, struct sl_token *token)
{
  scan->at++;
  token->text++;
  while (scan->at < scan->length && peek(scan, 0) != '"' && peek(scan, 0) != '\n' && peek(scan, 0) != '\0')
    scan->at++;
  token->length = scan->at - token->loc;
  if (peek(scan, 0) == '"') {
    token->kind = SL_TOKEN_STRING;
    scan->at++;
  }
}

static void skip_blanks(struct sl_scan *scan)
{
  while (peek(scan, 0) == ' ' || peek(scan, 0) == '\t' || peek(scan, 0) == '\r')
    scan->at++;
  if (peek(scan, 0) == '#')
    while (scan->at < scan->length && peek(scan, 0) != '\n')
      scan->at++;
}

void sl_scan_next(struct sl_scan *scan)
{
  skip_blanks(scan);
  struct sl_token token = { .kind = SL_TOKEN_BAD, .loc = scan->at + 1, .text = scan->text + scan->at, .length = 1 };
  char c = peek(scan, 0);
  if (scan->at >= scan->length) {
    token.kind = SL_TOKEN_END;
    token.length = 0;
  } else if (is_letter(c)) {
    scan_word(scan, &token);
  } else if (is_digit(c)) {
    scan_number(scan, &token);
  } else if (c == '"') {
    scan_string(scan, &token);
  } else if (c == '.' && peek(scan, 1) == '.') {
    token.kind = SL_TOKEN_MARK;
    token.length = 2;
    scan->at += 2;
  } else {
    token.kind = c == '\n' ? SL_TOKEN_LINE : c && strchr("{}=,*", c) ? SL_TOKEN_MARK : SL_TOKEN_BAD;
    scan->at++;
  }
  scan->token = token;
}

bool sl_scan_is(const struct sl_scan *scan, const char *text)
{
  const struct sl_token *token = &scan->token;
  return (token->kind == SL_TOKEN_WORD || token->kind == SL_TOKEN_MARK) && strlen(text) == token->length &&
         memcmp(text, token->text, token->length) == 0;
}

bool sl_scan_accept(struct sl_scan *scan, const char *text)
{
  if (!sl_scan_is(scan, text))
    return false;
  sl_scan_next(scan);
  return true;
}

/* Whether a unit stands here as a word of its own. */
static bool at_unit(const struct sl_scan *scan, uint32_t start)
{
  if (scan->at > start && (is_letter(scan->text[scan->at - 1]) || is_digit(scan->text[scan->at - 1])))
    return false;
  static const char *const units[] = { "cycles", "ns", "value" };
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    uint32_t length = (uint32_t)strlen(units[i]);
    if (scan->length - scan->at >= length && memcmp(scan->text + scan->at, units[i], length) == 0 &&
        !is_letter(peek(scan, length)) && !is_digit(peek(scan, length)))
      return true;
  }
  return false;
}

struct sl_token sl_scan_formula(struct sl_scan *scan)
{
  struct sl_token formula = { .kind = SL_TOKEN_STRING,
                              .loc = scan->token.loc,
                              .text = scan->text + scan->token.loc - 1 };
  uint32_t start = scan->token.loc - 1, depth = 0;
  scan->at = start;
  while (scan->at < scan->length && !strchr("#{}\"", peek(scan, 0)) &&
         (depth || (peek(scan, 0) != '\n' && !at_unit(scan, start)))) {
    if (peek(scan, 0) == '(')
      depth++;
    else if (peek(scan, 0) == ')' && depth)
      depth--;
    scan->at++;
  }
  if (depth)
    formula.kind = SL_TOKEN_BAD;
  formula.length = scan->at - start;
  while (formula.length && strchr(" \t\r\n", formula.text[formula.length - 1]))
    formula.length--;
  sl_scan_next(scan);
  return formula;
}

void sl_scan_skip(struct sl_scan *scan)
{
  uint32_t depth = 0;
  while (scan->token.kind != SL_TOKEN_END && (depth || scan->token.kind != SL_TOKEN_LINE)) {
    if (sl_scan_is(scan, "{"))
      depth++;
    else if (sl_scan_is(scan, "}") && depth)
      depth--;
    else if (sl_scan_is(scan, "}"))
      return; /* the end of the block around: its reader's business */
    sl_scan_next(scan);
  }
}
