/* lexer.c: see lexer.h. One pass over the text, O(length): a line end looks ahead over blanks and comments, but only once per
 * run of them: the rest of the run belongs to the same line-end token, or the keyword that was found is remembered.
 */
#include "ir/lexer.h"

#include "base/utf8.h"
#include "ir/ir.h"

enum { SPACE = 1, LETTER = 2, DIGIT = 4, HEX = 8, CONTROL = 16, HIGH = 32, WORD = LETTER | DIGIT };

/* Classes of the 256 byte values. Control characters other than the blank ones are never legal; bytes from 128 are UTF-8,
 * legal in comments and strings. */
static const uint8_t class_of[256] = {
#define C CONTROL
#define S SPACE
#define D (DIGIT | HEX)
#define X (LETTER | HEX)
#define L LETTER
#define H HIGH
#define ROW(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p
  ROW(C, C, C, C, C, C, C, C, C, S, C, C, C, C, C, C), /* 0x09 is the tab */
  ROW(C, C, C, C, C, C, C, C, C, C, C, C, C, C, C, C),
  ROW(S, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), /* blank and punctuation */
  ROW(D, D, D, D, D, D, D, D, D, D, 0, 0, 0, 0, 0, 0), /* 0-9 */
  ROW(0, X, X, X, X, X, X, L, L, L, L, L, L, L, L, L), /* @ A-O */
  ROW(L, L, L, L, L, L, L, L, L, L, L, 0, 0, 0, 0, L), /* P-Z [ \ ] ^ _ */
  ROW(0, X, X, X, X, X, X, L, L, L, L, L, L, L, L, L), /* ` a-o */
  ROW(L, L, L, L, L, L, L, L, L, L, L, 0, 0, 0, 0, C), /* p-z { | } ~ DEL */
  ROW(H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H), ROW(H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H),
  ROW(H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H), ROW(H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H),
  ROW(H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H), ROW(H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H),
  ROW(H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H), ROW(H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H)
#undef C
#undef S
#undef D
#undef X
#undef L
#undef H
#undef ROW
};

static inline bool has_class(char c, unsigned mask)
{
  return (class_of[(uint8_t)c] & mask) != 0;
}

void sl_lexer_init(sl_lexer *lexer, sl_program *program, sl_report *report, const char *text, size_t length)
{
  memset(lexer, 0, sizeof *lexer);
  lexer->program = program;
  lexer->report = report;
  lexer->text = lexer->at = text;
  lexer->end = text + length;
  lexer->own_line = lexer->fresh = true;
  if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
    lexer->at += 3; /* byte order mark of other systems' editors */
  sl_lexer_next(lexer);
}

static sl_loc loc_of(const sl_lexer *lexer, const char *at)
{
  return (sl_loc)(at - lexer->text) + 1;
}

__attribute__((format(printf, 4, 5))) static void lexer_error(sl_lexer *lexer, enum sl_rule rule, const char *at,
                                                              const char *format, ...)
{
  if (lexer->quiet)
    return;
  va_list args;
  va_start(args, format);
  sl_report_vbegin(lexer->report, SLUICE_ERROR, rule, loc_of(lexer, at), format, args);
  va_end(args);
  sl_report_end(lexer->report);
}

/* Reports the first byte in [from, to) that comments and strings may not hold. */
static void check_text(sl_lexer *lexer, const char *from, const char *to)
{
  while (from < to) {
    size_t length = 1;
    if (has_class(*from, CONTROL) && *from != '\t') {
      lexer_error(lexer, SL_RULE_SYNTAX, from, "control character 0x%02x", (uint8_t)*from);
      return;
    }
    if (has_class(*from, HIGH) && (length = sl_utf8_length(from, (size_t)(to - from))) == 0) {
      lexer_error(lexer, SL_RULE_SYNTAX, from, "byte 0x%02x is not UTF-8", (uint8_t)*from);
      return;
    }
    from += length;
  }
}

/* ---- between tokens ---- */

static void add_pending(sl_lexer *lexer, sl_name text, bool own_line)
{
  struct sl_pending *pending = sl_vec_push(&lexer->program->heap, &lexer->pending);
  pending->text = text;
  pending->own_line = own_line;
}

/* Notes an empty line before what comes now. */
static inline void note_blank(sl_lexer *lexer)
{
  if (lexer->newlines >= 2)
    add_pending(lexer, SL_NONE, true);
  lexer->newlines = 0;
}

/* A comment: `at` stands on the `#`; moves to the line's end. */
static void read_comment(sl_lexer *lexer)
{
  note_blank(lexer);
  const char *from = lexer->at + 1;
  const char *to = memchr(from, '\n', (size_t)(lexer->end - from));
  if (!to)
    to = lexer->end;
  lexer->at = to;
  if (to > from && to[-1] == '\r')
    to--;
  check_text(lexer, from, to);
  if (from < to && *from == ' ')
    from++;
  while (to > from && has_class(to[-1], SPACE))
    to--;
  sl_name text = sl_names_add(&lexer->program->names, &lexer->program->heap, from, (size_t)(to - from));
  add_pending(lexer, text, lexer->own_line);
}

static bool is_clause_word(const char *at)
{
  size_t length = 0;
  while (has_class(at[length], WORD))
    length++;
  switch (length) {
  case 3: return memcmp(at, "inc", 3) == 0 || memcmp(at, "set", 3) == 0;
  case 4: return memcmp(at, "wait", 4) == 0 || memcmp(at, "from", 4) == 0;
  default: return false;
  }
}

/* Whether the first word on the lines from here on is a clause keyword, so that the line end before it does not count. */
static bool clause_follows(sl_lexer *lexer)
{
  const char *at = lexer->at;
  if (at < lexer->clause_at)
    return true; /* another line end before the same keyword */
  for (;;) {
    while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')
      at++;
    if (*at != '#') {
      if (!is_clause_word(at))
        return false;
      lexer->clause_at = at;
      return true;
    }
    at = memchr(at, '\n', (size_t)(lexer->end - at));
    if (!at)
      return false;
  }
}

/* Skips blanks, comments and line ends that do not count. True at a line end that does; `at` stands behind it then. */
static bool skip_to_token(sl_lexer *lexer)
{
  for (;;) {
    char c = *lexer->at;
    if (has_class(c, SPACE)) {
      lexer->at++;
    } else if (c == '\n' || (c == '\r' && lexer->at[1] == '\n')) {
      bool ends = !lexer->fresh && !lexer->glue && lexer->depth == 0 && !clause_follows(lexer);
      lexer->at += c == '\r' ? 2 : 1;
      lexer->own_line = true;
      lexer->newlines++;
      if (ends)
        return true;
    } else if (c == '#') {
      read_comment(lexer);
    } else if (c == ';' && lexer->fresh && lexer->depth == 0) {
      lexer->at++;
    } else {
      return false;
    }
  }
}

/* `;` is a line end; a comment behind it still belongs to its line. */
static void read_semicolon(sl_lexer *lexer)
{
  lexer->at++;
  if (lexer->depth)
    return;
  const char *at = lexer->at;
  while (has_class(*at, SPACE))
    at++;
  if (*at == '#') {
    lexer->at = at;
    read_comment(lexer);
  }
  lexer->fresh = true;
}

/* ---- tokens ---- */

static void read_name(sl_lexer *lexer)
{
  const char *at = lexer->start + 1;
  while (has_class(*at, WORD))
    at++;
  lexer->kind = SL_TOKEN_NAME;
  while ((*at == '.' || *at == '@') && has_class(at[1], DIGIT)) {
    lexer->kind = SL_TOKEN_LABEL;
    at++;
    while (has_class(*at, DIGIT))
      at++;
  }
  lexer->at = at;
}

static void bad_literal(sl_lexer *lexer, const char *at, const char *message)
{
  while (has_class(*at, WORD))
    at++;
  lexer->at = at;
  lexer->kind = SL_TOKEN_ERROR;
  lexer_error(lexer, SL_RULE_LITERAL, lexer->start, "%s '%.*s'", message,
           (int)(at - lexer->start < 60 ? at - lexer->start : 60), lexer->start);
}

/* Digits after the point and the exponent. False when this is no float. */
static bool read_float(sl_lexer *lexer, const char *at)
{
  bool is_float = false;
  if (*at == '.' && has_class(at[1], DIGIT)) {
    is_float = true;
    at++;
    while (has_class(*at, DIGIT))
      at++;
  }
  if (*at == 'e' || *at == 'E') {
    const char *exponent = at + 1;
    if (*exponent == '+' || *exponent == '-')
      exponent++;
    if (has_class(*exponent, DIGIT)) {
      is_float = true;
      at = exponent;
      while (has_class(*at, DIGIT))
        at++;
    }
  }
  if (!is_float)
    return false;
  if (has_class(*at, WORD)) {
    bad_literal(lexer, at, "malformed number");
    return true;
  }
  lexer->kind = SL_TOKEN_FLOAT;
  lexer->at = at;
  return true;
}

static unsigned digit_value(char c)
{
  return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
}

/* An integer or a float. `128p` is an integer and the name `p`. */
static void read_number(sl_lexer *lexer)
{
  const char *at = lexer->start;
  bool hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
  if (hex)
    at += 2;
  const char *digits = at;
  const uint64_t limit = (uint64_t)1 << 63, base = hex ? 16 : 10;
  uint64_t value = 0;
  bool too_large = false;
  for (; has_class(*at, hex ? HEX : DIGIT); at++) {
    unsigned digit = digit_value(*at);
    if (value > (limit - digit) / base)
      too_large = true;
    else
      value = value * base + digit;
  }
  if (!hex && read_float(lexer, at))
    return;
  bool partition = *at == 'p' && !has_class(at[1], WORD);
  if (at == digits || (has_class(*at, WORD) && !partition)) {
    bad_literal(lexer, at, "malformed number");
  } else if (too_large) {
    bad_literal(lexer, at, "integer does not fit into 64 bits:");
  } else {
    lexer->kind = SL_TOKEN_INT;
    lexer->value = value;
    lexer->at = at;
  }
}

/* Length of the escape sequence at a backslash, 0 when it is none. \xHH stands for the ASCII characters but NUL. */
static size_t escape_length(const char *at)
{
  switch (at[1]) {
  case '"': case '\\': case 'n': case 't': case 'r': return 2;
  case 'x':
    if (has_class(at[2], HEX) && has_class(at[3], HEX)) {
      unsigned value = digit_value(at[2]) * 16 + digit_value(at[3]);
      return value > 0 && value < 128 ? 4 : 0;
    }
    return 0;
  default: return 0;
  }
}

static void read_string(sl_lexer *lexer)
{
  const char *at = lexer->start + 1;
  while (*at != '"') {
    if (*at == '\n' || at == lexer->end || (*at == '\r' && at[1] == '\n')) {
      lexer->at = at;
      lexer->kind = SL_TOKEN_ERROR;
      lexer_error(lexer, SL_RULE_LITERAL, lexer->start, "string without closing '\"'");
      return;
    }
    size_t length = 1;
    if (*at == '\\' && (length = escape_length(at)) == 0) {
      lexer_error(lexer, SL_RULE_LITERAL, at,
               "unknown escape in a string; known are \\\" \\\\ \\n \\t \\r and \\x01 to \\x7f");
      length = at[1] == '\n' || at + 1 == lexer->end ? 1 : 2;
    }
    at += length;
  }
  lexer->kind = SL_TOKEN_STRING;
  lexer->at = at + 1;
  lexer->start++;
  lexer->length = (uint32_t)(at - lexer->start);
  check_text(lexer, lexer->start, at);
}

static void read_unknown(sl_lexer *lexer)
{
  const char *at = lexer->start;
  uint8_t byte = (uint8_t)*at;
  lexer->kind = SL_TOKEN_ERROR;
  lexer->at = at + 1;
  size_t length = has_class(*at, HIGH) ? sl_utf8_length(at, (size_t)(lexer->end - at)) : 0;
  if (length) {
    lexer->at = at + length;
    lexer_error(lexer, SL_RULE_SYNTAX, at, "'%.*s' can stand only in comments and strings",
             (int)length, at);
  } else if (has_class(*at, HIGH | CONTROL)) {
    lexer_error(lexer, SL_RULE_SYNTAX, at, "unexpected %sbyte 0x%02x", byte ? "" : "NUL ",
                byte);
  } else {
    lexer_error(lexer, SL_RULE_SYNTAX, at, "unexpected character '%c'", *at);
  }
}

/* Sets the kind of a token of one or, when the next character is `second`, of two characters. */
static void read_pair(sl_lexer *lexer, enum sl_token_kind one, char second, enum sl_token_kind two)
{
  bool both = lexer->start[1] == second;
  lexer->kind = both ? two : one;
  lexer->at = lexer->start + (both ? 2 : 1);
}

static void read_less(sl_lexer *lexer)
{
  read_pair(lexer, SL_TOKEN_LT, '=', SL_TOKEN_LE);
  if (lexer->start[1] == '-') {
    lexer->kind = SL_TOKEN_LEFT_ARROW;
    lexer->at = lexer->start + 2;
    lexer->glue = true;
  }
}

static void read_register(sl_lexer *lexer)
{
  if (!has_class(lexer->start[1], LETTER)) {
    lexer->kind = SL_TOKEN_PERCENT;
    lexer->at = lexer->start + 1;
    return;
  }
  lexer->start++;
  const char *at = lexer->start + 1;
  while (has_class(*at, WORD))
    at++;
  lexer->at = at;
  lexer->length = (uint32_t)(at - lexer->start);
  lexer->kind = SL_TOKEN_REGISTER;
}

static inline void single(sl_lexer *lexer, enum sl_token_kind kind)
{
  lexer->kind = kind;
  lexer->at = lexer->start + 1;
}

static void close_bracket(sl_lexer *lexer, enum sl_token_kind kind)
{
  single(lexer, kind);
  if (lexer->depth)
    lexer->depth--;
}

static void open_bracket(sl_lexer *lexer, enum sl_token_kind kind)
{
  single(lexer, kind);
  lexer->depth++;
}

static void read_punctuation(sl_lexer *lexer)
{
  switch (*lexer->start) {
  case '(': open_bracket(lexer, SL_TOKEN_LPAREN); break;
  case ')': close_bracket(lexer, SL_TOKEN_RPAREN); break;
  case '[': open_bracket(lexer, SL_TOKEN_LBRACKET); break;
  case ']': close_bracket(lexer, SL_TOKEN_RBRACKET); break;
  case '{':
    single(lexer, SL_TOKEN_LBRACE);
    lexer->fresh = true;
    break;
  case '}': single(lexer, SL_TOKEN_RBRACE); break;
  case ',':
    single(lexer, SL_TOKEN_COMMA);
    lexer->glue = true;
    break;
  case ':': single(lexer, SL_TOKEN_COLON); break;
  case '.': read_pair(lexer, SL_TOKEN_DOT, '.', SL_TOKEN_DOTDOT); break;
  case '+': read_pair(lexer, SL_TOKEN_PLUS, ':', SL_TOKEN_PLUS_COLON); break;
  case '-': read_pair(lexer, SL_TOKEN_MINUS, '>', SL_TOKEN_RIGHT_ARROW); break;
  case '*': single(lexer, SL_TOKEN_STAR); break;
  case '/': single(lexer, SL_TOKEN_SLASH); break;
  case '%': read_register(lexer); break;
  case '<': read_less(lexer); break;
  case '>': read_pair(lexer, SL_TOKEN_GT, '=', SL_TOKEN_GE); break;
  case '=': read_pair(lexer, SL_TOKEN_ASSIGN, '=', SL_TOKEN_EQ); break;
  case '!':
    if (lexer->start[1] == '=')
      read_pair(lexer, SL_TOKEN_NE, '=', SL_TOKEN_NE);
    else
      read_unknown(lexer);
    break;
  case '?': single(lexer, SL_TOKEN_QUESTION); break;
  case '|': single(lexer, SL_TOKEN_PIPE); break;
  case '"': read_string(lexer); break;
  default: read_unknown(lexer); break;
  }
}

void sl_lexer_next(sl_lexer *lexer)
{
  lexer->length = 0;
  lexer->last_end = lexer->at;
  bool line_end = skip_to_token(lexer);
  lexer->glue = false;
  lexer->start = lexer->at;
  lexer->loc = loc_of(lexer, lexer->at);
  if (line_end) {
    lexer->start--;
    lexer->loc--;
    lexer->kind = SL_TOKEN_NEWLINE;
    lexer->fresh = true;
    return;
  }
  char c = *lexer->at;
  if (c == ';') {
    lexer->kind = SL_TOKEN_NEWLINE;
    lexer->newlines = 0;
    read_semicolon(lexer);
    return;
  }
  note_blank(lexer);
  lexer->own_line = lexer->fresh = false;
  if (has_class(c, LETTER)) {
    read_name(lexer);
  } else if (has_class(c, DIGIT)) {
    read_number(lexer);
  } else if (c == '\0' && lexer->at == lexer->end) {
    lexer->kind = SL_TOKEN_END;
    lexer->fresh = true;
    return;
  } else {
    read_punctuation(lexer);
  }
  if (!lexer->length && lexer->kind != SL_TOKEN_STRING)
    lexer->length = (uint32_t)(lexer->at - lexer->start);
}

void sl_lexer_back_to_line_end(sl_lexer *lexer)
{
  const char *line_end = memchr(lexer->last_end, '\n', (size_t)(lexer->start - lexer->last_end));
  if (!lexer->depth || !line_end)
    return;
  lexer->depth = 0;
  lexer->start = lexer->last_end;
  lexer->loc = loc_of(lexer, lexer->start);
  lexer->length = 0;
  lexer->kind = SL_TOKEN_NEWLINE;
  lexer->at = line_end + 1;
  lexer->own_line = lexer->fresh = true;
  lexer->newlines = 1;
}

void sl_lexer_join_dashes(sl_lexer *lexer)
{
  const char *at = lexer->start + lexer->length;
  if (lexer->kind != SL_TOKEN_NAME)
    return;
  while (*at == '-' && has_class(at[1], LETTER))
    for (at++; has_class(*at, WORD); at++)
      continue;
  lexer->at = at;
  lexer->length = (uint32_t)(at - lexer->start);
}

sl_name sl_lexer_string(sl_lexer *lexer)
{
  sl_program *program = lexer->program;
  const char *at = lexer->start, *end = at + lexer->length;
  if (!memchr(at, '\\', lexer->length))
    return sl_names_add(&program->names, &program->heap, at, lexer->length);
  sl_buf buf;
  sl_buf_init(&buf, &program->heap);
  while (at < end) {
    size_t length = *at == '\\' ? escape_length(at) : 0;
    if (!length)
      sl_buf_putc(&buf, *at++);
    else if (length == 4)
      sl_buf_putc(&buf, (char)(digit_value(at[2]) * 16 + digit_value(at[3])));
    else
      sl_buf_putc(&buf, at[1] == 'n' ? '\n' : at[1] == 't' ? '\t' : at[1] == 'r' ? '\r' : at[1]);
    at += length;
  }
  sl_name name = sl_names_add(&program->names, &program->heap, buf.data ? buf.data : "", buf.len);
  sl_heap_free(&program->heap, buf.data);
  return name;
}

char sl_lexer_peek(const sl_lexer *lexer)
{
  const char *at = lexer->at;
  while (has_class(*at, SPACE))
    at++;
  return *at;
}

void sl_lexer_describe(const sl_lexer *lexer, sl_buf *buf)
{
  int length = lexer->length < 60 ? (int)lexer->length : 60;
  switch (lexer->kind) {
  case SL_TOKEN_END: sl_buf_puts(buf, "the end of the text"); break;
  case SL_TOKEN_NEWLINE: sl_buf_puts(buf, *lexer->start == ';' ? "';'" : "the end of the line"); break;
  case SL_TOKEN_REGISTER: sl_buf_printf(buf, "register '%%%.*s'", length, lexer->start); break;
  case SL_TOKEN_STRING: sl_buf_puts(buf, "a string"); break;
  default: sl_buf_printf(buf, "'%.*s'", length, lexer->start); break;
  }
}

/* ---- words ---- */

bool sl_is_reserved(const char *text, size_t length)
{
  switch (length) {
  case 2: return memcmp(text, "or", 2) == 0;
  case 3: return memcmp(text, "inc", 3) == 0 || memcmp(text, "set", 3) == 0 || memcmp(text, "and", 3) == 0;
  case 4: return memcmp(text, "wait", 4) == 0 || memcmp(text, "from", 4) == 0;
  default: return false;
  }
}

static bool is_identifier(const char *text, size_t length)
{
  if (length == 0 || !has_class(text[0], LETTER))
    return false;
  for (size_t i = 1; i < length; i++)
    if (!has_class(text[i], WORD))
      return false;
  return true;
}

bool sl_is_name(const char *text, size_t length)
{
  return is_identifier(text, length) && !sl_is_reserved(text, length);
}

bool sl_is_label(const char *text, size_t length)
{
  size_t at = 0;
  while (at < length && text[at] != '.' && text[at] != '@')
    at++;
  if (!sl_is_name(text, at))
    return false;
  while (at < length) {
    if (text[at] != '.' && text[at] != '@')
      return false;
    size_t digits = ++at;
    while (at < length && has_class(text[at], DIGIT))
      at++;
    if (at == digits)
      return false;
  }
  return true;
}
