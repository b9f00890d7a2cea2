/* json_read.h: what the readers of the JSON form share: objects through tables of keys, and the values in them.
 *
 * Every kind of object has a table of its keys, each with the kinds of value it takes. Reading an object through its
 * table finds unknown, repeated and missing keys and wrong kinds of values, all with their places, and gives the
 * members by number. Every function that can fail reports why and then returns false, 0 or SL_NONE.
 */
#ifndef SL_IR_JSON_READ_H
#define SL_IR_JSON_READ_H

#include "base/json.h"
#include "ir/ir.h"

struct sl_input {
  sl_program *program;
  struct sl_kernel *kernel;
  sl_report *report;
  sl_json json;
};

enum {
  TAKES_NULL = 1 << SL_JSON_NULL,
  TAKES_INT = 1 << SL_JSON_INT,
  TAKES_STRING = 1 << SL_JSON_STRING,
  TAKES_ARRAY = 1 << SL_JSON_ARRAY,
  TAKES_OBJECT = 1 << SL_JSON_OBJECT,
  TAKES_BOOL = 1 << SL_JSON_TRUE | 1 << SL_JSON_FALSE,
  REQUIRED = 1 << 15
};

struct sl_field {
  const char *key;
  unsigned takes; /* kinds of value, and REQUIRED */
};

enum { SL_MAX_FIELDS = 24 };

/* The members of an object by their number in its table; 0 = absent. */
struct sl_members {
  uint32_t object;
  uint32_t at[SL_MAX_FIELDS];
};

/* What declarations, statements and dependence lines have in common: the first rows of their tables. */
enum { KIND, BLANK, SAME_LINE, COMMENTS, TRAILING, FIRST_OWN };
#define COMMON_FIELDS                                                                        \
  { "kind", TAKES_STRING | REQUIRED }, { "blank", TAKES_BOOL }, { "same_line", TAKES_BOOL }, \
    { "comments", TAKES_ARRAY },                                                             \
  {                                                                                          \
    "trailing", TAKES_STRING                                                                 \
  }

static inline const struct sl_json_node *sl_input_node(const struct sl_input *in, uint32_t node)
{
  return sl_json_at(&in->json, node);
}

static inline uint32_t sl_input_first(const struct sl_input *in, uint32_t array)
{
  return array ? sl_input_node(in, array)->u.first : 0;
}

/* Over the elements of an array or the members of an object; 0 counts as empty. */
#define FOR_EACH(in, node, array) \
  for (uint32_t node = sl_input_first((in), (array)); node; node = sl_input_node((in), node)->next)
/* An error at a value. */
#define INPUT_ERROR(in, node, ...) sl_error((in)->report, SL_RULE_JSON, sl_input_node((in), (node))->loc, __VA_ARGS__)

/* Whether the value is of one of the kinds. `what` names it in messages, here and below. */
bool sl_input_check_kind(struct sl_input *in, uint32_t node, const char *what, unsigned takes);
/* Finds the members of an object and checks its shape. */
bool sl_input_members(struct sl_input *in, uint32_t object, const char *what, const struct sl_field *fields,
                      size_t count, struct sl_members *members);
#define READ_MEMBERS(in, object, what, fields, members) \
  sl_input_members(in, object, what, fields, sizeof(fields) / sizeof *(fields), members)

/* Values of checked kind. A node 0 counts as false and as an empty array. */
bool sl_input_true(const struct sl_input *in, uint32_t node);
bool sl_input_int(struct sl_input *in, uint32_t node, int64_t low, int64_t high, int64_t *value);
bool sl_input_uint32(struct sl_input *in, uint32_t node, uint32_t low, uint32_t *value);
/* The number of elements, as the tree can hold it. */
bool sl_input_count(struct sl_input *in, uint32_t array, uint16_t *count);
sl_name sl_input_string(struct sl_input *in, uint32_t node);
sl_name sl_input_name(struct sl_input *in, uint32_t node);
sl_name sl_input_label(struct sl_input *in, uint32_t node);
sl_name sl_input_target(struct sl_input *in, uint32_t node);
sl_index sl_input_expr(struct sl_input *in, uint32_t node);
bool sl_input_cond(struct sl_input *in, uint32_t node, struct sl_cond *cond);

/* The lines of a list of comments; 0 is an empty line. */
typedef sl_vec(sl_name) sl_comment_lines;
/* Where an empty line, written null, may stand in a list of comments beside between two comments. */
enum { SL_BLANK_FIRST = 1, SL_BLANK_LAST = 2 };
bool sl_input_comments(struct sl_input *in, uint32_t array, unsigned blanks, sl_comment_lines *lines);
/* Comments before an item and the one at the end of its line; *trivia stays when there are none. */
bool sl_input_lead(struct sl_input *in, uint32_t comments, uint32_t trailing, sl_index *trivia);
/* Comments before and behind a closing brace. */
bool sl_input_end(struct sl_input *in, uint32_t comments, uint32_t trailing, bool is_empty, sl_index *trivia);

/* {"file", "line", "column"}; *origin stays when the node is 0. */
bool sl_input_origin(struct sl_input *in, uint32_t node, sl_index *origin);
bool sl_input_attributes(struct sl_input *in, uint32_t array, uint32_t *first, uint16_t *count);

/* json_op.c: operations. The keys of one, and its members as an op that is not in the kernel yet. */
enum {
  OP_LABEL = FIRST_OWN,
  OP_STREAM,
  OP_OPCODE,
  OP_OPERANDS,
  OP_DESTINATIONS,
  OP_SOURCES,
  OP_ATTRIBUTES,
  OP_WAITS,
  OP_UPDATES,
  OP_SETS,
  OP_FROM,
  OP_FIELDS
};
extern const struct sl_field sl_op_fields[OP_FIELDS];
bool sl_input_op(struct sl_input *in, const struct sl_members *m, struct sl_op *op);

#endif
