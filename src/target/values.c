/* values.c: the values of properties, by the kinds of schema.h. See reader.h. */
#include <stdarg.h>

#include "target/reader.h"

/* ---- errors ---- */

bool sl_reader_fail(struct sl_reader *reader, sl_loc loc, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  sl_report_vbegin(reader->report, SLUICE_ERROR, SL_RULE_TARGET, loc, format, args);
  va_end(args);
  sl_report_end(reader->report);
  return false;
}

bool sl_reader_unknown(struct sl_reader *reader, sl_loc loc, const char *what, const char *name,
                       const char *const *known, size_t count)
{
  const char *closest = sl_closest(name, known, count);
  if (closest)
    return sl_reader_fail(reader, loc, "unknown %s '%s'; did you mean '%s'?", what, name, closest);
  return sl_reader_fail(reader, loc, "unknown %s '%s'", what, name);
}

bool sl_reader_unknown_engine(struct sl_reader *reader, sl_loc loc, const char *name)
{
  const char *known[64];
  for (uint32_t i = 0; i < reader->target->engines.len; i++)
    known[i] = reader->target->engines.data[i].name;
  return sl_reader_unknown(reader, loc, "engine", name, known, reader->target->engines.len);
}

bool sl_reader_unknown_space(struct sl_reader *reader, sl_loc loc, const char *name)
{
  const char *known[64];
  for (uint32_t i = 0; i < reader->target->spaces.len; i++)
    known[i] = reader->target->spaces.data[i].name;
  return sl_reader_unknown(reader, loc, "space", name, known, reader->target->spaces.len);
}

/* ---- pieces of a line ---- */

static bool at_line_end(const struct sl_reader *reader)
{
  uint8_t kind = reader->scan.token.kind;
  return kind == SL_TOKEN_LINE || kind == SL_TOKEN_END || sl_scan_is(&reader->scan, "}");
}

/* Reports what stands where something else is expected. */
static bool fail_expected(struct sl_reader *reader, const char *what)
{
  const struct sl_token *token = &reader->scan.token;
  if (token->kind == SL_TOKEN_LINE)
    return sl_reader_fail(reader, token->loc, "expected %s before the end of the line", what);
  if (token->kind == SL_TOKEN_END)
    return sl_reader_fail(reader, token->loc, "expected %s before the end of the text", what);
  if (token->kind == SL_TOKEN_BAD && token->text > reader->scan.text && token->text[-1] == '"')
    return sl_reader_fail(reader, token->loc, "the string does not end on its line");
  if (token->kind == SL_TOKEN_BAD && (token->text[0] < ' ' || token->text[0] > '~'))
    return sl_reader_fail(reader, token->loc, "expected %s; byte 0x%02x does not belong here", what,
                          (unsigned)(unsigned char)token->text[0]);
  int length = token->length > 40 ? 40 : (int)token->length;
  return sl_reader_fail(reader, token->loc, "expected %s, not '%.*s'", what, length, token->text);
}

bool sl_read_line_end(struct sl_reader *reader)
{
  if (!at_line_end(reader))
    return fail_expected(reader, "the end of the line");
  if (reader->scan.token.kind == SL_TOKEN_LINE)
    sl_scan_next(&reader->scan);
  return true;
}

static const char *take(struct sl_reader *reader)
{
  const struct sl_token *token = &reader->scan.token;
  const char *text = sl_heap_strndup(reader->heap, token->text, token->length);
  sl_scan_next(&reader->scan);
  return text;
}

const char *sl_read_word(struct sl_reader *reader, const char *what)
{
  if (reader->scan.token.kind == SL_TOKEN_WORD)
    return take(reader);
  fail_expected(reader, what);
  return NULL;
}

const char *sl_read_string(struct sl_reader *reader)
{
  return reader->scan.token.kind == SL_TOKEN_STRING ? take(reader) : NULL;
}

static int provenance_here(const struct sl_reader *reader)
{
  for (int i = 0; i < 4; i++)
    if (sl_scan_is(&reader->scan, sl_provenance_text[i]))
      return i;
  return -1;
}

static bool check_source_tag(struct sl_reader *reader, sl_loc loc, const char *tag)
{
  sl_vec(const char *) known = { 0 };
  for (uint32_t i = 0; i < reader->target->sources.len; i++) {
    if (strcmp(reader->target->sources.data[i].tag, tag) == 0)
      return true;
    sl_vec_add(reader->report->heap, &known, reader->target->sources.data[i].tag);
  }
  return sl_reader_unknown(reader, loc, "source tag", tag, known.data, known.len);
}

static bool read_source_tags(struct sl_reader *reader, struct sl_statement *statement)
{
  sl_buf tags;
  sl_buf_init(&tags, reader->report->heap);
  do {
    sl_loc loc = reader->scan.token.loc;
    const char *tag = sl_read_word(reader, "a source tag");
    if (!tag || !check_source_tag(reader, loc, tag))
      return false;
    sl_buf_printf(&tags, "%s%s", tags.len ? ", " : "", tag);
  } while (sl_scan_accept(&reader->scan, ","));
  statement->source = sl_heap_strndup(reader->heap, tags.data, tags.len);
  return true;
}

bool sl_read_statement(struct sl_reader *reader, struct sl_statement *statement, bool optional)
{
  int provenance = provenance_here(reader);
  if (provenance < 0 && optional)
    return true;
  if (provenance < 0)
    return fail_expected(reader, "documented, derived, calibrated or assumed");
  sl_scan_next(&reader->scan);
  statement->provenance = (uint8_t)provenance;
  statement->source = statement->note = "";
  if (reader->scan.token.kind == SL_TOKEN_WORD) {
    if (!read_source_tags(reader, statement))
      return false;
  } else if (provenance == SL_DOCUMENTED || provenance == SL_DERIVED) {
    return fail_expected(reader, "a source tag");
  }
  const char *note = sl_read_string(reader);
  if (note)
    statement->note = note;
  return true;
}

bool sl_read_formula(struct sl_reader *reader, const char **formula, uint8_t *unit, sl_loc *loc)
{
  struct sl_token token = sl_scan_formula(&reader->scan);
  if (!token.length)
    return sl_reader_fail(reader, token.loc, "expected a formula");
  if (token.kind == SL_TOKEN_BAD)
    return sl_reader_fail(reader, token.loc, "a parenthesis of the formula stays open");
  for (uint8_t i = 0; i < 3; i++) {
    if (!sl_scan_accept(&reader->scan, sl_cost_unit_text[i]))
      continue;
    *formula = sl_heap_strndup(reader->heap, token.text, token.length);
    *unit = i;
    *loc = token.loc;
    return true;
  }
  return fail_expected(reader, "the unit of the formula: cycles, ns or value");
}

/* ---- kinds of values ---- */

static bool read_whole(struct sl_reader *reader, uint64_t limit, uint64_t *value)
{
  const struct sl_token *token = &reader->scan.token;
  if (token->kind != SL_TOKEN_NUMBER)
    return fail_expected(reader, "a whole number");
  if (token->number > (double)limit || token->number != (double)(uint64_t)token->number)
    return sl_reader_fail(reader, token->loc, "expected a whole number up to %llu", (unsigned long long)limit);
  *value = (uint64_t)token->number;
  sl_scan_next(&reader->scan);
  return true;
}

/* `unlimited`, kept as 0; or a number above 0 where 0 means that. */
static bool read_limit(struct sl_reader *reader, const struct sl_property *property, char *item, uint64_t limit,
                       uint64_t *value)
{
  bool unlimited = sl_scan_is(&reader->scan, "unlimited");
  sl_loc loc = reader->scan.token.loc;
  if (unlimited && !property->unlimited)
    return sl_reader_fail(reader, loc, "'%s' cannot be unlimited", property->key);
  if (property->unlimited && property->also)
    *(bool *)(item + property->also) = unlimited;
  *value = 0;
  if (unlimited) {
    sl_scan_next(&reader->scan);
    return true;
  }
  if (!read_whole(reader, limit, value))
    return false;
  if (*value == 0 && property->unlimited && !property->also)
    return sl_reader_fail(reader, loc, "'%s' must be above 0, or unlimited", property->key);
  return true;
}

enum { COUNT_MAX = 0x7fffffff };
static const uint64_t size_max = (uint64_t)1 << 50;

static bool read_count(struct sl_reader *reader, const struct sl_property *property, char *item)
{
  uint64_t value;
  if (!read_limit(reader, property, item, COUNT_MAX, &value))
    return false;
  *(uint32_t *)(void *)(item + property->offset) = (uint32_t)value;
  return true;
}

static bool read_size(struct sl_reader *reader, const struct sl_property *property, char *item)
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
  sl_loc loc = reader->scan.token.loc;
  uint64_t value;
  if (!read_limit(reader, property, item, size_max, &value))
    return false;
  for (uint32_t i = 0; value && i < 4; i++) {
    if (!sl_scan_accept(&reader->scan, units[i]))
      continue;
    if (value > size_max >> (10 * i))
      return sl_reader_fail(reader, loc, "the size is too large");
    *(uint64_t *)(void *)(item + property->offset) = value << (10 * i);
    return true;
  }
  if (value)
    return fail_expected(reader, "B, KiB, MiB or GiB");
  *(uint64_t *)(void *)(item + property->offset) = 0;
  return true;
}

static bool read_fact(struct sl_reader *reader, const struct sl_property *property, char *item)
{
  if (reader->scan.token.kind != SL_TOKEN_NUMBER)
    return fail_expected(reader, "a number");
  struct sl_fact *fact = (void *)(item + property->offset);
  fact->value = reader->scan.token.number;
  if (fact->value <= 0 || fact->value > 1e9)
    return sl_reader_fail(reader, reader->scan.token.loc, "'%s' must be above 0 and at most 1e9", property->key);
  sl_scan_next(&reader->scan);
  if (property->unit && !sl_scan_accept(&reader->scan, property->unit))
    return fail_expected(reader, property->unit);
  return true;
}

static bool read_flag(struct sl_reader *reader, const struct sl_property *property, char *item)
{
  bool *flag = (bool *)(item + property->offset);
  for (int i = 0; i < 2; i++)
    if (sl_scan_accept(&reader->scan, property->words[i])) {
      *flag = i == 1;
      return true;
    }
  sl_buf expected;
  sl_buf_init(&expected, reader->report->heap);
  sl_buf_printf(&expected, "%s or %s", property->words[0], property->words[1]);
  return fail_expected(reader, sl_buf_text(&expected));
}

/* Names of spaces up to a provenance or the end of the line, `any`, or `none`. */
static bool read_spaces(struct sl_reader *reader, uint64_t *mask, bool *all)
{
  *mask = 0;
  *all = sl_scan_accept(&reader->scan, "any");
  if (*all || sl_scan_accept(&reader->scan, "none"))
    return true;
  do {
    sl_loc loc = reader->scan.token.loc;
    static const char expected[] = "the name of a space, any or none";
    if (provenance_here(reader) >= 0)
      return fail_expected(reader, expected);
    const char *name = sl_read_word(reader, expected);
    if (!name)
      return false;
    int space = sl_target_space(reader->target, name);
    if (space < 0)
      return sl_reader_unknown_space(reader, loc, name);
    *mask |= (uint64_t)1 << space;
  } while (!at_line_end(reader) && provenance_here(reader) < 0);
  return true;
}

static bool read_place(struct sl_reader *reader, struct sl_opcode_desc *opcode)
{
  bool both = sl_scan_is(&reader->scan, "both");
  opcode->on_engine = both || sl_scan_is(&reader->scan, "engines");
  opcode->on_queue = both || sl_scan_is(&reader->scan, "queues");
  if (!opcode->on_engine && !opcode->on_queue)
    return fail_expected(reader, "engines, queues or both");
  sl_scan_next(&reader->scan);
  opcode->engines = 0;
  opcode->engines_all = sl_scan_accept(&reader->scan, "all");
  while (!opcode->engines_all && (!at_line_end(reader) || !opcode->engines)) {
    sl_loc loc = reader->scan.token.loc;
    const char *name = sl_read_word(reader, "the name of an engine, or all");
    if (!name)
      return false;
    int engine = sl_target_engine(reader->target, name);
    if (engine < 0)
      return sl_reader_unknown_engine(reader, loc, name);
    opcode->engines |= (uint64_t)1 << engine;
  }
  return true;
}

/* `2`, `1..3`, `0..` */
static bool read_range(struct sl_reader *reader, int8_t *least, int8_t *most)
{
  sl_loc loc = reader->scan.token.loc;
  uint64_t low = 0, high = 0;
  if (!read_whole(reader, 100, &low))
    return false;
  *least = *most = (int8_t)low;
  if (!sl_scan_accept(&reader->scan, ".."))
    return true;
  *most = -1;
  if (reader->scan.token.kind != SL_TOKEN_NUMBER)
    return true;
  if (!read_whole(reader, 100, &high))
    return false;
  *most = (int8_t)high;
  return low <= high || sl_reader_fail(reader, loc, "the range is empty");
}

static bool read_operands(struct sl_reader *reader, struct sl_opcode_desc *opcode, bool destinations)
{
  if (at_line_end(reader))
    return fail_expected(reader, "a number of operands");
  if (!sl_scan_is(&reader->scan, "in") && !read_range(reader, destinations ? &opcode->dst_min : &opcode->src_min,
                                                      destinations ? &opcode->dst_max : &opcode->src_max))
    return false;
  if (!sl_scan_accept(&reader->scan, "in"))
    return true;
  return destinations ? read_spaces(reader, &opcode->dst_spaces, &opcode->dst_all)
                      : read_spaces(reader, &opcode->src_spaces, &opcode->src_all);
}

static bool read_shape(struct sl_reader *reader, struct sl_opcode_desc *opcode)
{
  for (uint8_t i = 0; i < 3; i++)
    if (sl_scan_accept(&reader->scan, sl_shape_text[i])) {
      opcode->shape = i;
      return true;
    }
  return fail_expected(reader, "any, elementwise or same-count");
}

static bool read_attrs(struct sl_reader *reader, struct sl_opcode_desc *opcode)
{
  memset(&opcode->attrs, 0, sizeof opcode->attrs); /* an inherited list is shared with its target */
  if (sl_scan_accept(&reader->scan, "none"))
    return true;
  do {
    sl_loc loc = reader->scan.token.loc;
    const char *name = sl_read_word(reader, "the name of an attribute, or none");
    if (!name)
      return false;
    for (uint32_t i = 0; i < opcode->attrs.len; i++)
      if (strcmp(opcode->attrs.data[i], name) == 0)
        return sl_reader_fail(reader, loc, "attribute '%s' stands twice", name);
    sl_vec_add(reader->heap, &opcode->attrs, name);
  } while (!at_line_end(reader));
  return true;
}

static bool read_value(struct sl_reader *reader, const struct sl_property *property, char *item, sl_loc *loc)
{
  struct sl_opcode_desc *opcode = (void *)item; /* for the kinds that only opcodes have */
  switch ((enum sl_property_kind)property->kind) {
  case SL_PROPERTY_FACT: return read_fact(reader, property, item);
  case SL_PROPERTY_COUNT: return read_count(reader, property, item);
  case SL_PROPERTY_SIZE: return read_size(reader, property, item);
  case SL_PROPERTY_FLAG: return read_flag(reader, property, item);
  case SL_PROPERTY_NAME: {
    const char *name = sl_read_word(reader, "a name");
    *(const char **)(void *)(item + property->offset) = name;
    return name != NULL;
  }
  case SL_PROPERTY_SPACES:
    return read_spaces(reader, (uint64_t *)(void *)(item + property->offset), (bool *)(item + property->also));
  case SL_PROPERTY_PLACE: return read_place(reader, opcode);
  case SL_PROPERTY_OPERANDS: return read_operands(reader, opcode, property->key[0] == 'd');
  case SL_PROPERTY_SHAPE: return read_shape(reader, opcode);
  case SL_PROPERTY_ATTRS: return read_attrs(reader, opcode);
  case SL_PROPERTY_FORMULA: break;
  }
  return sl_read_formula(reader, (const char **)(void *)(item + property->offset), (uint8_t *)(item + property->also),
                         loc);
}

/* The provenance of a number is kept with the number too. */
static void note_fact(const struct sl_property *property, char *item, const struct sl_statement *about)
{
  if (property->kind != SL_PROPERTY_FACT)
    return;
  struct sl_fact *fact = (void *)(item + property->offset);
  fact->provenance = about->provenance;
  fact->source = about->source;
}

bool sl_read_property(struct sl_reader *reader, const struct sl_property *property, void *item,
                      struct sl_statement *about)
{
  sl_loc loc = reader->scan.token.loc;
  if (about->stated == SL_STATED || (reader->rewriting && about->loc >= reader->rewriting))
    return sl_reader_fail(reader, loc, "'%s' is stated twice", property->key);
  sl_scan_next(&reader->scan);
  struct sl_statement statement = {
    .stated = reader->rewriting ? SL_INHERITED : SL_STATED, .loc = loc, .source = "", .note = ""
  };
  about->stated = statement.stated; /* also when the value is wrong: it is not missing then */
  if (!read_value(reader, property, item, &statement.loc))
    return false;
  if (!property->bare && !sl_read_statement(reader, &statement, false))
    return false;
  *about = statement;
  note_fact(property, item, about);
  return sl_read_line_end(reader);
}
