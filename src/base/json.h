/* json.h: JSON read into an array of nodes that know their places, and JSON written to a buffer.
 *
 * Reading is our own because diagnostics need the line and column of every value and because the API promises to
 * survive a failed allocation anywhere: jansson 2.14 ignores a failed growth of its token buffer (lex_save in load.c) and
 * then reads behind it, and its allocator can only be changed for the whole process. A unit test and a fuzz entry point
 * hold the two readers against each other.
 *
 *   sl_json json;
 *   if (sl_json_read(&json, heap, text, length, report)) ... json.nodes.data[SL_JSON_ROOT] ...
 *
 * Strings are UTF-8, checked, without NUL. Numbers without fraction and exponent are 64-bit integers. O(length).
 */
#ifndef SL_BASE_JSON_H
#define SL_BASE_JSON_H

#include "base/report.h"
#include "base/vec.h"

enum sl_json_kind {
  SL_JSON_NULL,
  SL_JSON_FALSE,
  SL_JSON_TRUE,
  SL_JSON_INT,
  SL_JSON_REAL,
  SL_JSON_STRING,
  SL_JSON_ARRAY,
  SL_JSON_OBJECT
};

enum { SL_JSON_ROOT = 1, SL_JSON_DEPTH = 2048 /* deeper nesting is an error, as in jansson */ };

struct sl_json_node {
  uint8_t kind;
  sl_loc loc;     /* of the first character of the value */
  sl_loc key_loc; /* of a member's key; 0 outside of objects */
  uint32_t key;   /* of a member: index into text */
  uint32_t next;  /* the next element or member; 0 = last */
  uint32_t count; /* ARRAY, OBJECT: elements; STRING: bytes */
  union {
    int64_t integer;
    uint32_t text;  /* STRING, REAL (as written): index into text, NUL-terminated there */
    uint32_t first; /* ARRAY, OBJECT: first element; 0 = empty */
  } u;
};

typedef struct sl_json {
  sl_vec(struct sl_json_node) nodes; /* (from 1) */
  sl_vec(char) text;
} sl_json;

/* Reads one value and nothing behind it. Returns false after reporting (rules `json` and `nesting`). */
bool sl_json_read(sl_json *json, sl_heap *heap, const char *text, uint32_t length, sl_report *report);

static inline const struct sl_json_node *sl_json_at(const sl_json *json, uint32_t node)
{
  return &json->nodes.data[node];
}
static inline const char *sl_json_key(const sl_json *json, uint32_t node)
{
  return json->text.data + json->nodes.data[node].key;
}
static inline const char *sl_json_string(const sl_json *json, uint32_t node)
{
  return json->text.data + json->nodes.data[node].u.text;
}
/* "an object", "a string", ...: for messages. */
const char *sl_json_kind_name(enum sl_json_kind kind);

/* ---- writing ---- */

/* Two-space indentation; a container opened with `in_line` stays on one line with all that is in it. */
typedef struct sl_json_writer {
  sl_buf *buf;
  uint32_t depth, in_line_depth; /* open containers; of them on one line */
  bool is_first;                 /* nothing was put into the innermost container yet */
} sl_json_writer;

void sl_json_writer_init(sl_json_writer *writer, sl_buf *buf);
/* Each puts one value: with its key inside of an object, with key NULL inside of an array or at the top. */
void sl_json_open(sl_json_writer *writer, const char *key, char bracket, bool in_line);
void sl_json_close(sl_json_writer *writer, char bracket);
void sl_json_put_string(sl_json_writer *writer, const char *key, const char *text, size_t length);
void sl_json_put_text(sl_json_writer *writer, const char *key, const char *text);
void sl_json_put_int(sl_json_writer *writer, const char *key, int64_t value);
/* A finite number with all its digits, whatever the locale is. */
void sl_json_put_real(sl_json_writer *writer, const char *key, double value);
void sl_json_put_null(sl_json_writer *writer, const char *key);
void sl_json_put_bool(sl_json_writer *writer, const char *key, bool value);

#endif
