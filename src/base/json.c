/* json.c: see json.h. The reader is a loop with a stack of open containers, so nesting costs no C stack. */
#include "base/json.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

const char *sl_json_kind_name(enum sl_json_kind kind)
{
  static const char *const names[] = { "null",       "false",    "true",     "an integer",
                                       "a fraction", "a string", "an array", "an object" };
  return names[kind];
}

/* ---- reading ---- */

struct open_container {
  uint32_t node, last; /* last: its newest element, 0 = none */
};

struct reader {
  sl_json *json;
  sl_heap *heap;
  sl_report *report;
  const char *text;
  uint32_t at, length;
  sl_vec(struct open_container) open;
};

/* The next byte; -1 at the end of the text. */
static int peek(const struct reader *reader)
{
  return reader->at < reader->length ? (unsigned char)reader->text[reader->at] : -1;
}

static bool fail(struct reader *reader, const char *expected)
{
  int c = peek(reader);
  sl_loc loc = reader->at + 1;
  if (c < 0)
    sl_error(reader->report, SL_RULE_JSON, loc, "expected %s, found the end of the text", expected);
  else if (c > ' ' && c < 0x7f)
    sl_error(reader->report, SL_RULE_JSON, loc, "expected %s, found '%c'", expected, c);
  else
    sl_error(reader->report, SL_RULE_JSON, loc, "expected %s, found byte 0x%02x", expected, (unsigned)c);
  return false;
}

static void skip_blanks(struct reader *reader)
{
  while (reader->at < reader->length) {
    char c = reader->text[reader->at];
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
      return;
    reader->at++;
  }
}

static void add_char(struct reader *reader, char c)
{
  sl_vec_add(reader->heap, &reader->json->text, c);
}

static void add_code_point(struct reader *reader, uint32_t code)
{
  if (code < 0x80) {
    add_char(reader, (char)code);
    return;
  }
  if (code < 0x800) {
    add_char(reader, (char)(0xc0 | code >> 6));
  } else {
    if (code < 0x10000) {
      add_char(reader, (char)(0xe0 | code >> 12));
    } else {
      add_char(reader, (char)(0xf0 | code >> 18));
      add_char(reader, (char)(0x80 | (code >> 12 & 0x3f)));
    }
    add_char(reader, (char)(0x80 | (code >> 6 & 0x3f)));
  }
  add_char(reader, (char)(0x80 | (code & 0x3f)));
}

/* Four hexadecimal digits behind `\u`; the text stands on the first of them. */
static bool read_hex(struct reader *reader, uint32_t *code)
{
  *code = 0;
  for (int i = 0; i < 4; i++) {
    int c = peek(reader);
    uint32_t digit;
    if (c >= '0' && c <= '9')
      digit = (uint32_t)(c - '0');
    else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
      digit = (uint32_t)((c | 0x20) - 'a' + 10);
    else
      return fail(reader, "four hexadecimal digits");
    *code = *code << 4 | digit;
    reader->at++;
  }
  return true;
}

static bool read_unicode_escape(struct reader *reader)
{
  sl_loc loc = reader->at - 1;
  uint32_t code;
  if (!read_hex(reader, &code))
    return false;
  if (code >= 0xd800 && code <= 0xdbff) {
    uint32_t low = 0;
    if (reader->length - reader->at >= 2 && memcmp(reader->text + reader->at, "\\u", 2) == 0) {
      reader->at += 2;
      if (!read_hex(reader, &low))
        return false;
    }
    if (low < 0xdc00 || low > 0xdfff) {
      sl_error(reader->report, SL_RULE_JSON, loc, "half a surrogate pair");
      return false;
    }
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  } else if (code >= 0xdc00 && code <= 0xdfff) {
    sl_error(reader->report, SL_RULE_JSON, loc, "half a surrogate pair");
    return false;
  } else if (code == 0) {
    sl_error(reader->report, SL_RULE_JSON, loc, "a string cannot hold a NUL");
    return false;
  }
  add_code_point(reader, code);
  return true;
}

static bool read_escape(struct reader *reader)
{
  static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  int c = peek(reader);
  if (c == 'u') {
    reader->at++;
    return read_unicode_escape(reader);
  }
  const char *letter = c > 0 ? memchr(letters, c, sizeof letters - 1) : NULL;
  if (!letter)
    return fail(reader, "an escape");
  add_char(reader, meanings[letter - letters]);
  reader->at++;
  return true;
}

/* A string into the pool; the text stands on its opening quote. */
static bool read_string(struct reader *reader, uint32_t *start, uint32_t *count)
{
  *start = reader->json->text.len;
  reader->at++;
  for (;;) {
    int c = peek(reader);
    if (c < ' ')
      return fail(reader, "the end of the string");
    if (c == '"')
      break;
    if (c == '\\') {
      reader->at++;
      if (!read_escape(reader))
        return false;
      continue;
    }
    size_t bytes = sl_utf8_length(reader->text + reader->at, reader->length - reader->at);
    if (bytes == 0)
      return fail(reader, "well-formed UTF-8");
    for (size_t i = 0; i < bytes; i++)
      add_char(reader, reader->text[reader->at++]);
  }
  reader->at++;
  *count = reader->json->text.len - *start;
  add_char(reader, '\0');
  return true;
}

static bool skip_digits(struct reader *reader)
{
  int c = peek(reader);
  if (c < '0' || c > '9')
    return fail(reader, "a digit");
  while ((c = peek(reader)) >= '0' && c <= '9')
    reader->at++;
  return true;
}

/* The digits from `start` to here as an integer. */
static bool read_integer(struct reader *reader, uint32_t start, int64_t *value)
{
  bool negative = reader->text[start] == '-';
  uint64_t magnitude = 0, limit = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
  for (uint32_t i = start + negative; i < reader->at; i++) {
    uint64_t digit = (uint64_t)(reader->text[i] - '0');
    if (magnitude > (limit - digit) / 10) {
      sl_error(reader->report, SL_RULE_JSON, start + 1, "the integer does not fit 64 bits");
      return false;
    }
    magnitude = magnitude * 10 + digit;
  }
  *value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
  return true;
}

static bool read_number(struct reader *reader, struct sl_json_node *node)
{
  uint32_t start = reader->at;
  if (peek(reader) == '-')
    reader->at++;
  if (peek(reader) == '0')
    reader->at++;
  else if (!skip_digits(reader))
    return false;
  node->kind = SL_JSON_INT;
  if (peek(reader) == '.') {
    node->kind = SL_JSON_REAL;
    reader->at++;
    if (!skip_digits(reader))
      return false;
  }
  if (peek(reader) == 'e' || peek(reader) == 'E') {
    node->kind = SL_JSON_REAL;
    reader->at++;
    if (peek(reader) == '+' || peek(reader) == '-')
      reader->at++;
    if (!skip_digits(reader))
      return false;
  }
  if (node->kind == SL_JSON_INT)
    return read_integer(reader, start, &node->u.integer);
  node->u.text = reader->json->text.len;
  for (uint32_t i = start; i < reader->at; i++)
    add_char(reader, reader->text[i]);
  add_char(reader, '\0');
  return true;
}

static bool read_word(struct reader *reader, struct sl_json_node *node)
{
  static const struct {
    const char *text;
    uint8_t kind;
  } words[] = { { "null", SL_JSON_NULL }, { "false", SL_JSON_FALSE }, { "true", SL_JSON_TRUE } };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t length = strlen(words[i].text);
    if (reader->length - reader->at < length || memcmp(reader->text + reader->at, words[i].text, length) != 0)
      continue;
    node->kind = words[i].kind;
    reader->at += (uint32_t)length;
    return true;
  }
  return fail(reader, "a value");
}

/* A simple value, or the opening bracket of a container. */
static bool read_value(struct reader *reader, struct sl_json_node *node)
{
  int c = peek(reader);
  node->loc = reader->at + 1;
  if (c == '"') {
    node->kind = SL_JSON_STRING;
    return read_string(reader, &node->u.text, &node->count);
  }
  if (c == '{' || c == '[') {
    node->kind = c == '{' ? SL_JSON_OBJECT : SL_JSON_ARRAY;
    reader->at++;
    return true;
  }
  if (c == '-' || (c >= '0' && c <= '9'))
    return read_number(reader, node);
  return read_word(reader, node);
}

/* The key of a member and its colon. */
static bool read_key(struct reader *reader, struct sl_json_node *node)
{
  uint32_t count;
  skip_blanks(reader);
  if (peek(reader) != '"')
    return fail(reader, "a key in quotes");
  node->key_loc = reader->at + 1;
  if (!read_string(reader, &node->key, &count))
    return false;
  skip_blanks(reader);
  if (peek(reader) != ':')
    return fail(reader, "':' after the key");
  reader->at++;
  return true;
}

/* Appends a node to the innermost open container. */
static uint32_t link_node(struct reader *reader, const struct sl_json_node *node)
{
  sl_json *json = reader->json;
  uint32_t index = json->nodes.len;
  sl_vec_add(reader->heap, &json->nodes, *node);
  if (!reader->open.len)
    return index;
  struct open_container *container = &reader->open.data[reader->open.len - 1];
  if (container->last)
    json->nodes.data[container->last].next = index;
  else
    json->nodes.data[container->node].u.first = index;
  json->nodes.data[container->node].count++;
  container->last = index;
  return index;
}

static uint8_t innermost_kind(const struct reader *reader)
{
  return reader->json->nodes.data[reader->open.data[reader->open.len - 1].node].kind;
}

/* After a value: closes containers as far as the text does. *done when the outermost value is complete; else the text
 * stands where a further element follows. */
static bool read_separators(struct reader *reader, bool *done)
{
  while (reader->open.len) {
    bool is_object = innermost_kind(reader) == SL_JSON_OBJECT;
    skip_blanks(reader);
    int c = peek(reader);
    if (c != ',' && c != (is_object ? '}' : ']'))
      return fail(reader, is_object ? "',' or '}'" : "',' or ']'");
    reader->at++;
    if (c == ',')
      return true;
    reader->open.len--;
  }
  *done = true;
  return true;
}

/* Opens a container; *is_empty when it closes again at once. */
static bool open_container(struct reader *reader, uint32_t node, bool *is_empty)
{
  if (reader->open.len == SL_JSON_DEPTH) {
    sl_error(reader->report, SL_RULE_NESTING, reader->at, "JSON nests deeper than %d levels", SL_JSON_DEPTH);
    return false;
  }
  skip_blanks(reader);
  bool is_object = reader->json->nodes.data[node].kind == SL_JSON_OBJECT;
  *is_empty = peek(reader) == (is_object ? '}' : ']');
  if (*is_empty) {
    reader->at++;
    return true;
  }
  struct open_container container = { node, 0 };
  sl_vec_add(reader->heap, &reader->open, container);
  return true;
}

static bool read_document(struct reader *reader)
{
  for (bool done = false; !done;) {
    struct sl_json_node node = { 0 };
    if (reader->open.len && innermost_kind(reader) == SL_JSON_OBJECT && !read_key(reader, &node))
      return false;
    skip_blanks(reader);
    if (!read_value(reader, &node))
      return false;
    uint32_t index = link_node(reader, &node);
    if (node.kind == SL_JSON_OBJECT || node.kind == SL_JSON_ARRAY) {
      bool is_empty;
      if (!open_container(reader, index, &is_empty))
        return false;
      if (!is_empty)
        continue;
    }
    if (!read_separators(reader, &done))
      return false;
  }
  skip_blanks(reader);
  return reader->at == reader->length || fail(reader, "the end of the text");
}

bool sl_json_read(sl_json *json, sl_heap *heap, const char *text, uint32_t length, sl_report *report)
{
  memset(json, 0, sizeof *json);
  (void)sl_vec_push(heap, &json->nodes);
  struct reader reader = { .json = json, .heap = heap, .report = report, .text = text, .length = length };
  bool ok = read_document(&reader);
  sl_vec_free(heap, &reader.open);
  return ok;
}

/* ---- writing ---- */

void sl_json_writer_init(sl_json_writer *writer, sl_buf *buf)
{
  *writer = (sl_json_writer){ .buf = buf, .is_first = true };
}

static void put_quoted(sl_buf *buf, const char *text, size_t length)
{
  sl_buf_putc(buf, '"');
  for (size_t i = 0; i < length;) {
    unsigned char c = (unsigned char)text[i];
    size_t bytes = sl_utf8_length(text + i, length - i);
    if (c == '"' || c == '\\')
      sl_buf_putc(buf, '\\');
    if (c < ' ')
      sl_buf_printf(buf, "\\u%04x", c);
    else if (bytes == 0)
      sl_buf_puts(buf, "\xef\xbf\xbd"); /* U+FFFD: JSON has no way to carry a stray byte */
    else
      sl_buf_add(buf, text + i, bytes);
    i += bytes ? bytes : 1;
  }
  sl_buf_putc(buf, '"');
}

static void new_line(sl_json_writer *writer)
{
  sl_buf_putc(writer->buf, '\n');
  sl_buf_fill(writer->buf, ' ', (size_t)writer->depth * 2);
}

static void begin_value(sl_json_writer *writer, const char *key)
{
  if (!writer->is_first)
    sl_buf_putc(writer->buf, ',');
  if (writer->depth && !writer->in_line_depth)
    new_line(writer);
  else if (!writer->is_first)
    sl_buf_putc(writer->buf, ' ');
  writer->is_first = false;
  if (key) {
    put_quoted(writer->buf, key, strlen(key));
    sl_buf_puts(writer->buf, ": ");
  }
}

void sl_json_open(sl_json_writer *writer, const char *key, char bracket, bool in_line)
{
  begin_value(writer, key);
  sl_buf_putc(writer->buf, bracket);
  writer->depth++;
  if (in_line || writer->in_line_depth)
    writer->in_line_depth++;
  writer->is_first = true;
}

void sl_json_close(sl_json_writer *writer, char bracket)
{
  assert(writer->depth > 0);
  writer->depth--;
  if (writer->in_line_depth)
    writer->in_line_depth--;
  else if (!writer->is_first)
    new_line(writer);
  sl_buf_putc(writer->buf, bracket);
  writer->is_first = false;
}

void sl_json_put_string(sl_json_writer *writer, const char *key, const char *text, size_t length)
{
  begin_value(writer, key);
  put_quoted(writer->buf, text, length);
}

void sl_json_put_text(sl_json_writer *writer, const char *key, const char *text)
{
  sl_json_put_string(writer, key, text, strlen(text));
}

void sl_json_put_int(sl_json_writer *writer, const char *key, int64_t value)
{
  begin_value(writer, key);
  sl_buf_int(writer->buf, value);
}

void sl_json_put_real(sl_json_writer *writer, const char *key, double value)
{
  enum { SHORT = 15, EXACT = 17 };
  char text[32];
  snprintf(text, sizeof text, "%.*g", SHORT, value);
  double again = strtod(text, NULL);
  if (again < value || again > value)
    snprintf(text, sizeof text, "%.*g", EXACT, value);
  char *mark = strpbrk(text, ".,"); /* the locale's */
  if (mark)
    *mark = '.';
  begin_value(writer, key);
  sl_buf_puts(writer->buf, text);
}

void sl_json_put_null(sl_json_writer *writer, const char *key)
{
  begin_value(writer, key);
  sl_buf_puts(writer->buf, "null");
}

void sl_json_put_bool(sl_json_writer *writer, const char *key, bool value)
{
  begin_value(writer, key);
  sl_buf_puts(writer->buf, value ? "true" : "false");
}
