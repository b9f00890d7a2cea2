/* json_read.c: see json_read.h. Everything is linear in what it reads. */
#include "ir/json_read.h"

#include <assert.h>

#include "ir/construct.h"
#include "ir/lexer.h"

/* ---- objects through tables of keys ---- */

static const char *kinds_text(unsigned takes)
{
  switch (takes & ~(unsigned)REQUIRED) {
  case TAKES_INT: return "an integer";
  case TAKES_STRING: return "a string";
  case TAKES_ARRAY: return "an array";
  case TAKES_OBJECT: return "an object";
  case TAKES_BOOL: return "true or false";
  case TAKES_INT | TAKES_OBJECT: return "an integer or an object";
  case TAKES_STRING | TAKES_NULL: return "a string or null";
  case TAKES_STRING | TAKES_OBJECT: return "a string or an object";
  default: return "of another kind";
  }
}

bool sl_input_check_kind(struct sl_input *in, uint32_t node, const char *what, unsigned takes)
{
  const struct sl_json_node *value = sl_input_node(in, node);
  if (takes & 1u << value->kind)
    return true;
  sl_error(in->report, SL_RULE_JSON, value->loc, "%s must be %s, not %s", what, kinds_text(takes),
           sl_json_kind_name((enum sl_json_kind)value->kind));
  return false;
}

static void unknown_key(struct sl_input *in, uint32_t member, const struct sl_field *fields, size_t count)
{
  const char *known[SL_MAX_FIELDS], *key = sl_json_key(&in->json, member);
  for (size_t i = 0; i < count; i++)
    known[i] = fields[i].key;
  const char *closest = sl_closest(key, known, count);
  sl_error(in->report, SL_RULE_JSON, sl_input_node(in, member)->key_loc, "unknown key \"%.60s\"%s%s%s", key,
           closest ? "; did you mean \"" : "", closest ? closest : "", closest ? "\"?" : "");
}

static bool read_member(struct sl_input *in, uint32_t member, const struct sl_field *fields, size_t count,
                        struct sl_members *members)
{
  for (size_t i = 0; i < count; i++) {
    if (strcmp(sl_json_key(&in->json, member), fields[i].key) != 0)
      continue;
    if (members->at[i]) {
      sl_error(in->report, SL_RULE_JSON, sl_input_node(in, member)->key_loc, "the key \"%s\" stands twice",
               fields[i].key);
      return false;
    }
    members->at[i] = member;
    return sl_input_check_kind(in, member, fields[i].key, fields[i].takes);
  }
  unknown_key(in, member, fields, count);
  return false;
}

/* False after reporting whatever is wrong with the object's shape. */
bool sl_input_members(struct sl_input *in, uint32_t object, const char *what, const struct sl_field *fields,
                      size_t count, struct sl_members *members)
{
  assert(count <= SL_MAX_FIELDS);
  memset(members, 0, sizeof *members);
  members->object = object;
  if (!sl_input_check_kind(in, object, what, TAKES_OBJECT))
    return false;
  bool ok = true;
  FOR_EACH (in, member, object)
    ok &= read_member(in, member, fields, count, members);
  for (size_t i = 0; i < count; i++) {
    if (!(fields[i].takes & REQUIRED) || members->at[i])
      continue;
    INPUT_ERROR(in, object, "%s lacks the key \"%s\"", what, fields[i].key);
    ok = false;
  }
  return ok;
}

/* ---- values ---- */

bool sl_input_true(const struct sl_input *in, uint32_t node)
{
  return node && sl_input_node(in, node)->kind == SL_JSON_TRUE;
}

bool sl_input_int(struct sl_input *in, uint32_t node, int64_t low, int64_t high, int64_t *value)
{
  *value = sl_input_node(in, node)->u.integer;
  if (*value >= low && *value <= high)
    return true;
  INPUT_ERROR(in, node, "the integer must be in %lld..%lld", (long long)low, (long long)high);
  return false;
}

bool sl_input_uint32(struct sl_input *in, uint32_t node, uint32_t low, uint32_t *value)
{
  int64_t integer;
  if (!sl_input_int(in, node, low, UINT32_MAX, &integer))
    return false;
  *value = (uint32_t)integer;
  return true;
}

/* The number of elements of an array, as the tree can hold it. */
bool sl_input_count(struct sl_input *in, uint32_t array, uint16_t *count)
{
  uint32_t elements = array ? sl_input_node(in, array)->count : 0;
  *count = (uint16_t)elements;
  if (elements <= UINT16_MAX)
    return true;
  INPUT_ERROR(in, array, "more than %d elements", UINT16_MAX);
  return false;
}

sl_name sl_input_string(struct sl_input *in, uint32_t node)
{
  return sl_names_add(&in->program->names, &in->program->heap, sl_json_string(&in->json, node),
                      sl_input_node(in, node)->count);
}

/* An identifier; 0 after reporting. */
sl_name sl_input_name(struct sl_input *in, uint32_t node)
{
  const char *text = sl_json_string(&in->json, node);
  if (sl_is_name(text, sl_input_node(in, node)->count))
    return sl_input_string(in, node);
  INPUT_ERROR(in, node, "\"%.60s\" is not a name", text);
  return 0;
}

sl_name sl_input_target(struct sl_input *in, uint32_t node)
{
  const char *text = sl_json_string(&in->json, node);
  if (sl_is_target_name(text, sl_input_node(in, node)->count))
    return sl_input_string(in, node);
  INPUT_ERROR(in, node, "\"%.60s\" is not the name of a target", text);
  return 0;
}

sl_name sl_input_label(struct sl_input *in, uint32_t node)
{
  const char *text = sl_json_string(&in->json, node);
  if (sl_is_label(text, sl_input_node(in, node)->count))
    return sl_input_string(in, node);
  INPUT_ERROR(in, node, "\"%.60s\" is not a label", text);
  return 0;
}

/* The place of a string's content, when each of its bytes has its own place in the text: when nothing is escaped. */
static sl_loc content_loc(const struct sl_input *in, uint32_t node)
{
  return sl_input_node(in, node)->loc + 1;
}

sl_index sl_input_expr(struct sl_input *in, uint32_t node)
{
  return sl_expr_from_text(in->program, in->kernel, sl_json_string(&in->json, node), content_loc(in, node), in->report);
}

bool sl_input_cond(struct sl_input *in, uint32_t node, struct sl_cond *cond)
{
  return sl_cond_from_text(in->program, in->kernel, cond, sl_json_string(&in->json, node), content_loc(in, node),
                           in->report);
}

/* ---- comments, origins, attributes ---- */

/* A comment, without the blanks at its end, which the language does not keep. */
static bool read_comment(struct sl_input *in, uint32_t node, sl_name *comment)
{
  const char *text = sl_json_string(&in->json, node);
  size_t length = sl_input_node(in, node)->count;
  for (size_t i = 0; i < length; i++) {
    if (((unsigned char)text[i] >= ' ' && text[i] != 0x7f) || text[i] == '\t')
      continue;
    INPUT_ERROR(in, node, "a comment is one line without control characters");
    return false;
  }
  while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
    length--;
  *comment = sl_names_add(&in->program->names, &in->program->heap, text, length);
  return true;
}

bool sl_input_comments(struct sl_input *in, uint32_t array, unsigned blanks, sl_comment_lines *lines)
{
  bool after_text = (blanks & SL_BLANK_FIRST) != 0;
  FOR_EACH (in, node, array) {
    sl_name text = 0;
    if (!sl_input_check_kind(in, node, "a comment", TAKES_STRING | TAKES_NULL))
      return false;
    bool is_text = sl_input_node(in, node)->kind == SL_JSON_STRING;
    bool blank_fits = after_text && (sl_input_node(in, node)->next || blanks & SL_BLANK_LAST);
    if (!is_text && !blank_fits) {
      INPUT_ERROR(in, node, "no empty line can stand here");
      return false;
    }
    if (is_text && !read_comment(in, node, &text))
      return false;
    after_text = is_text;
    sl_vec_add(&in->program->heap, lines, text);
  }
  return true;
}

/* Comments around an item or at the end of a block, and the one at the end of its line. */
static bool read_trivia(struct sl_input *in, uint32_t comments, uint32_t trailing, unsigned blanks, sl_index *trivia)
{
  struct sl_kernel *kernel = in->kernel;
  struct sl_trivia made = { 0 };
  sl_comment_lines lines = { 0 };
  if (!comments && !trailing)
    return true;
  bool ok = sl_input_comments(in, comments, blanks, &lines);
  if (trailing)
    ok &= read_comment(in, trailing, &made.trailing);
  if (lines.len)
    made.first_comment = kernel->comments.len;
  for (uint32_t i = 0; i < lines.len; i++) {
    struct sl_comment *comment = sl_vec_push(kernel->heap, &kernel->comments);
    comment->text = lines.data[i];
    comment->next = i + 1 < lines.len ? kernel->comments.len : SL_NONE;
  }
  sl_vec_free(kernel->heap, &lines);
  if (made.first_comment || made.trailing) {
    *trivia = kernel->trivias.len;
    sl_vec_add(kernel->heap, &kernel->trivias, made);
  }
  return ok;
}

/* Comments before an item may end with an empty line; one before them is the item's "blank". */
bool sl_input_lead(struct sl_input *in, uint32_t comments, uint32_t trailing, sl_index *trivia)
{
  return read_trivia(in, comments, trailing, SL_BLANK_LAST, trivia);
}

/* Comments before a closing brace. */
bool sl_input_end(struct sl_input *in, uint32_t comments, uint32_t trailing, bool is_empty, sl_index *trivia)
{
  return read_trivia(in, comments, trailing, is_empty ? 0 : SL_BLANK_FIRST, trivia);
}

bool sl_input_origin(struct sl_input *in, uint32_t node, sl_index *origin)
{
  enum { FILE_NAME, LINE, COLUMN };
  static const struct sl_field fields[] = { { "file", TAKES_STRING | REQUIRED },
                                            { "line", TAKES_INT | REQUIRED },
                                            { "column", TAKES_INT } };
  struct sl_members m;
  struct sl_origin_loc made = { 0 };
  if (!node)
    return true;
  if (!READ_MEMBERS(in, node, "an origin", fields, &m) || !sl_input_uint32(in, m.at[LINE], 0, &made.line) ||
      (m.at[COLUMN] && !sl_input_uint32(in, m.at[COLUMN], 1, &made.column)))
    return false;
  made.file = sl_input_string(in, m.at[FILE_NAME]);
  *origin = in->kernel->origins.len;
  sl_vec_add(in->kernel->heap, &in->kernel->origins, made);
  return true;
}

static bool read_attribute(struct sl_input *in, uint32_t node, struct sl_attr *attr)
{
  enum { NAME, EXPR, COND, FLOAT_TEXT, STRING };
  static const struct sl_field fields[] = { { "name", TAKES_STRING | REQUIRED },
                                            { "expr", TAKES_STRING },
                                            { "cond", TAKES_STRING },
                                            { "float", TAKES_STRING },
                                            { "string", TAKES_STRING } };
  struct sl_members m;
  if (!READ_MEMBERS(in, node, "an attribute", fields, &m))
    return false;
  int values = !!m.at[EXPR] + !!m.at[COND] + !!m.at[FLOAT_TEXT] + !!m.at[STRING];
  if (values != 1) {
    INPUT_ERROR(in, node, "an attribute has exactly one of \"expr\", \"cond\", \"float\" and \"string\"");
    return false;
  }
  attr->loc = sl_input_node(in, node)->loc;
  attr->name = sl_input_name(in, m.at[NAME]);
  if (m.at[EXPR]) {
    attr->kind = SL_ATTR_EXPR;
    return (attr->expr = sl_input_expr(in, m.at[EXPR])) && attr->name;
  }
  if (m.at[COND]) {
    attr->kind = SL_ATTR_COND;
    return sl_input_cond(in, m.at[COND], &attr->cond) && attr->name;
  }
  uint32_t text = m.at[FLOAT_TEXT] ? m.at[FLOAT_TEXT] : m.at[STRING];
  attr->kind = m.at[FLOAT_TEXT] ? SL_ATTR_FLOAT : SL_ATTR_STRING;
  if (m.at[FLOAT_TEXT] && !sl_is_float(sl_json_string(&in->json, text), sl_input_node(in, text)->count)) {
    INPUT_ERROR(in, text, "\"%.60s\" is not a floating-point number", sl_json_string(&in->json, text));
    return false;
  }
  attr->text = sl_input_string(in, text);
  return attr->name != 0;
}

bool sl_input_attributes(struct sl_input *in, uint32_t array, uint32_t *first, uint16_t *count)
{
  struct sl_kernel *kernel = in->kernel;
  bool ok = sl_input_count(in, array, count);
  *first = sl_vec_extend(kernel->heap, &kernel->attrs, *count);
  uint32_t at = *first;
  FOR_EACH (in, node, ok ? array : 0) {
    struct sl_attr attr = { 0 };
    ok &= read_attribute(in, node, &attr);
    kernel->attrs.data[at++] = attr;
  }
  return ok;
}
