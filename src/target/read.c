/* read.c: reads target descriptions: the blocks of docs/targets.md, `like`, parameters, defines, sources, exclusions.
 * Requires nothing of the text. Errors are reported line by line and reading goes on behind the line or block; a target is
 * checked as a whole (check.c) only when its text had no errors. O(length * items of a kind that are looked up by scanning).
 */
#include "target/reader.h"

#include "target/cost.h"

enum { ENGINES_MAX = 64, SPACES_MAX = 64, OPCODES_MAX = 4096, NAMED_MAX = 1024 /* parameters, defines, sources */ };

/* ---- like ---- */

static void inherit_statements(struct sl_statement *about, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) {
    about[i].loc = SL_NO_LOC;
    if (about[i].stated)
      about[i].stated = SL_INHERITED;
  }
}

#define COPY(field)                                \
  memset(&target->field, 0, sizeof target->field); \
  sl_vec_copy(heap, &target->field, &base->field)

/* A target that starts as a copy of another: arrays of its own, the strings shared. */
static void copy_target(sl_heap *heap, struct sl_target *target, const struct sl_target *base)
{
  *target = *base;
  COPY(engines);
  COPY(spaces);
  COPY(opcodes);
  COPY(params);
  COPY(defines);
  COPY(sources);
  COPY(exclusions);
  sl_names_copy(&target->engine_names, heap, &base->engine_names);
  sl_names_copy(&target->space_names, heap, &base->space_names);
  sl_names_copy(&target->opcode_names, heap, &base->opcode_names);
  for (uint32_t i = 0; i < SL_SECTION_ENGINE; i++)
    inherit_statements(target->about[i], SL_STATEMENT_MAX);
  for (uint32_t i = 0; i < target->engines.len; i++) {
    target->engines.data[i].loc = SL_NO_LOC;
    inherit_statements(target->engines.data[i].about, SL_STATEMENT_MAX);
  }
  for (uint32_t i = 0; i < target->spaces.len; i++) {
    target->spaces.data[i].loc = SL_NO_LOC;
    inherit_statements(target->spaces.data[i].about, SL_STATEMENT_MAX);
  }
  for (uint32_t i = 0; i < target->opcodes.len; i++) {
    target->opcodes.data[i].loc = SL_NO_LOC;
    inherit_statements(target->opcodes.data[i].about, SL_STATEMENT_MAX);
  }
  for (uint32_t i = 0; i < target->params.len; i++)
    target->params.data[i].stated = SL_INHERITED;
  for (uint32_t i = 0; i < target->defines.len; i++) {
    target->defines.data[i].stated = SL_INHERITED;
    target->defines.data[i].loc = SL_NO_LOC;
  }
  for (uint32_t i = 0; i < target->sources.len; i++)
    target->sources.data[i].stated = SL_INHERITED;
  for (uint32_t i = 0; i < target->exclusions.len; i++)
    target->exclusions.data[i].stated = SL_INHERITED;
}

static const struct sl_target *find_base(const struct sl_reader *reader, const char *name)
{
  for (uint32_t i = reader->made.len; i-- > 0;)
    if (strcmp(reader->made.data[i]->name, name) == 0)
      return reader->made.data[i];
  return sl_target_find(reader->set, name);
}

static bool fail_unknown_target(struct sl_reader *reader, sl_loc loc, const char *name)
{
  sl_vec(const char *) known = { 0 };
  for (uint32_t i = 0; i < reader->set->targets.len; i++)
    sl_vec_add(reader->report->heap, &known, reader->set->targets.data[i]->name);
  for (uint32_t i = 0; i < reader->made.len; i++)
    sl_vec_add(reader->report->heap, &known, reader->made.data[i]->name);
  return sl_reader_unknown(reader, loc, "target", name, known.data, known.len);
}

/* ---- names ---- */

/* A name that kernels or formulas use: an identifier of the language, and no word of this one. */
static const char *read_identifier(struct sl_reader *reader, const char *what)
{
  static const char *const reserved[] = { "all",        "any",     "none", "in",  "documented", "derived",
                                          "calibrated", "assumed", "and",  "or",  "not",        "cycles",
                                          "ns",         "value",   "wait", "inc", "set",        "from" };
  sl_loc loc = reader->scan.token.loc;
  const char *name = sl_read_word(reader, what);
  if (!name)
    return NULL;
  bool bad = strpbrk(name, "-/") != NULL;
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
    bad = bad || strcmp(name, reserved[i]) == 0;
  if (!bad)
    return name;
  sl_reader_fail(reader, loc, "'%s' cannot be %s", name, what);
  return NULL;
}

/* ---- blocks ---- */

static bool open_block(struct sl_reader *reader)
{
  if (!sl_scan_accept(&reader->scan, "{"))
    return sl_reader_fail(reader, reader->scan.token.loc, "expected '{'");
  return true;
}

static void skip_lines(struct sl_reader *reader)
{
  while (reader->scan.token.kind == SL_TOKEN_LINE)
    sl_scan_next(&reader->scan);
}

/* Behind a line that could not be read; the end of the block around stays ahead. */
static void recover(struct sl_reader *reader)
{
  sl_scan_skip(&reader->scan);
  skip_lines(reader);
}

static bool read_property_line(struct sl_reader *reader, const struct sl_section_info *section, void *item,
                               struct sl_statement *about)
{
  const char *known[SL_STATEMENT_MAX];
  for (uint32_t i = 0; i < section->count; i++) {
    if (sl_scan_is(&reader->scan, section->properties[i].key))
      return sl_read_property(reader, &section->properties[i], item, &about[i]);
    known[i] = section->properties[i].key;
  }
  sl_loc loc = reader->scan.token.loc;
  sl_buf what;
  sl_buf_init(&what, reader->report->heap);
  sl_buf_printf(&what, "a property of %s", section->name);
  const char *key = sl_read_word(reader, sl_buf_text(&what));
  return key && sl_reader_unknown(reader, loc, "property", key, known, section->count);
}

/* The lines of a block behind its `{`, and its `}`. */
static bool read_properties(struct sl_reader *reader, const struct sl_section_info *section, void *item,
                            struct sl_statement *about)
{
  for (skip_lines(reader); !sl_scan_is(&reader->scan, "}"); skip_lines(reader)) {
    if (reader->scan.token.kind == SL_TOKEN_END)
      return sl_reader_fail(reader, reader->scan.token.loc, "the text ends inside '%s'; '}' is missing", section->name);
    if (!read_property_line(reader, section, item, about))
      recover(reader);
  }
  sl_scan_next(&reader->scan);
  return sl_read_line_end(reader);
}

static bool read_section(struct sl_reader *reader, enum sl_section section)
{
  sl_loc loc = reader->scan.token.loc;
  sl_scan_next(&reader->scan);
  if (reader->section_loc[section])
    return sl_reader_fail(reader, loc, "'%s' stands twice", sl_sections[section].name);
  reader->section_loc[section] = loc;
  return open_block(reader) &&
         read_properties(reader, &sl_sections[section], reader->target, reader->target->about[section]);
}

/* The index of a named item; a new name gives `count`, the place to add it at. -1: it is there from this text already, or
 * there is no room. */
static int place_item(struct sl_reader *reader, sl_names *names, const char *name, sl_loc loc, const char *what,
                      uint32_t count, uint32_t limit)
{
  sl_name known = sl_names_find(names, name, strlen(name));
  if (known)
    return (int)known - 1;
  if (count >= limit) {
    sl_reader_fail(reader, loc, "more than %u of kind '%s'", limit, what);
    return -1;
  }
  sl_names_add(names, reader->heap, name, strlen(name));
  return (int)count;
}

static bool fail_twice(struct sl_reader *reader, sl_loc loc, sl_loc before, const char *what, const char *name)
{
  sl_report_begin(reader->report, SLUICE_ERROR, SL_RULE_TARGET, loc, "%s '%s' stands twice", what, name);
  if (before)
    sl_report_note(reader->report, before, "it stands here already");
  sl_report_end(reader->report);
  return false;
}

static bool read_engine(struct sl_reader *reader)
{
  struct sl_target *target = reader->target;
  sl_loc loc = reader->scan.token.loc;
  const char *name = read_identifier(reader, "the name of an engine");
  if (!name)
    return false;
  int index = place_item(reader, &target->engine_names, name, loc, "engine", target->engines.len, ENGINES_MAX);
  if (index < 0)
    return false;
  if ((uint32_t)index == target->engines.len) {
    struct sl_engine_desc *made = sl_vec_push(reader->heap, &target->engines);
    made->name = name;
    made->summary = "";
  }
  struct sl_engine_desc *engine = &target->engines.data[index];
  if (engine->loc)
    return fail_twice(reader, loc, engine->loc, "engine", name);
  engine->loc = loc;
  const char *summary = sl_read_string(reader);
  if (summary)
    engine->summary = summary;
  return open_block(reader) && read_properties(reader, &sl_sections[SL_SECTION_ENGINE], engine, engine->about);
}

static bool read_space(struct sl_reader *reader)
{
  struct sl_target *target = reader->target;
  sl_loc loc = reader->scan.token.loc;
  const char *name = read_identifier(reader, "the name of a space");
  if (!name)
    return false;
  int index = place_item(reader, &target->space_names, name, loc, "space", target->spaces.len, SPACES_MAX);
  if (index < 0)
    return false;
  if ((uint32_t)index == target->spaces.len) {
    struct sl_space_desc *made = sl_vec_push(reader->heap, &target->spaces);
    made->name = name;
    made->summary = "";
  }
  struct sl_space_desc *space = &target->spaces.data[index];
  if (space->loc)
    return fail_twice(reader, loc, space->loc, "space", name);
  space->loc = loc;
  const char *summary = sl_read_string(reader);
  if (summary)
    space->summary = summary;
  return open_block(reader) && read_properties(reader, &sl_sections[SL_SECTION_SPACE], space, space->about);
}

/* ---- opcodes ---- */

/* `opcode * { ... }`: the block once for each inherited opcode that has no block of its own so far. */
static bool read_all_opcodes(struct sl_reader *reader, sl_loc loc)
{
  if (!open_block(reader))
    return false;
  struct sl_scan start = reader->scan;
  uint32_t errors = reader->report->errors;
  bool done = false, any = false;
  reader->rewriting = start.token.loc;
  for (uint32_t i = 0; i < reader->target->opcodes.len && reader->report->errors == errors; i++) {
    struct sl_opcode_desc *opcode = &reader->target->opcodes.data[i];
    if (opcode->loc)
      continue;
    any = true;
    reader->scan = start;
    done = read_properties(reader, &sl_sections[SL_SECTION_OPCODE], opcode, opcode->about);
  }
  reader->rewriting = SL_NO_LOC;
  if (any)
    return done;
  sl_reader_fail(reader, loc, "there are no inherited opcodes to change");
  while (reader->scan.token.kind != SL_TOKEN_END && !sl_scan_is(&reader->scan, "}"))
    sl_scan_next(&reader->scan);
  return sl_scan_accept(&reader->scan, "}") && sl_read_line_end(reader);
}

static bool is_language_opcode(const char *name)
{
  static const char *const names[] = {
#define SL_OPCODE(name, text, class, dsts, srcs, summary) text,
#include "ir/opcodes.def"
#undef SL_OPCODE
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i], name) == 0)
      return true;
  return false;
}

static struct sl_opcode_desc *add_opcode(struct sl_reader *reader, const char *name)
{
  struct sl_opcode_desc *opcode = sl_vec_push(reader->heap, &reader->target->opcodes);
  opcode->name = name;
  opcode->summary = opcode->source = "";
  opcode->interval = opcode->latency = "";
  opcode->dst_all = opcode->src_all = true;
  return opcode;
}

static bool read_opcode(struct sl_reader *reader)
{
  struct sl_target *target = reader->target;
  sl_loc loc = reader->scan.token.loc;
  if (sl_scan_accept(&reader->scan, "*"))
    return read_all_opcodes(reader, loc);
  const char *name = read_identifier(reader, "the name of an opcode");
  if (!name)
    return false;
  if (is_language_opcode(name))
    return sl_reader_fail(reader, loc, "'%s' belongs to the language on every target", name);
  int index = place_item(reader, &target->opcode_names, name, loc, "opcode", target->opcodes.len, OPCODES_MAX);
  if (index < 0)
    return false;
  bool is_new = (uint32_t)index == target->opcodes.len;
  struct sl_opcode_desc *opcode = is_new ? add_opcode(reader, name) : &target->opcodes.data[index];
  if (opcode->loc)
    return fail_twice(reader, loc, opcode->loc, "opcode", name);
  opcode->loc = loc;
  const char *summary = sl_read_string(reader);
  if (summary)
    opcode->summary = summary;
  struct sl_statement statement = { .provenance = opcode->provenance, .source = opcode->source };
  if (!sl_read_statement(reader, &statement, !is_new))
    return false;
  opcode->provenance = statement.provenance;
  opcode->source = statement.source;
  return open_block(reader) && read_properties(reader, &sl_sections[SL_SECTION_OPCODE], opcode, opcode->about);
}

/* ---- parameters, defines, sources, exclusions ---- */

static bool is_variable(const char *name)
{
  for (uint32_t i = 0; i < SL_COST_VARIABLE_COUNT; i++)
    if (strcmp(sl_cost_variables[i].name, name) == 0)
      return true;
  return false;
}

static int find_define(const struct sl_target *target, const char *name)
{
  for (uint32_t i = 0; i < target->defines.len; i++)
    if (strcmp(target->defines.data[i].name, name) == 0)
      return (int)i;
  return -1;
}

static bool read_unit(struct sl_reader *reader, const char **unit)
{
  sl_loc loc = reader->scan.token.loc;
  *unit = sl_read_word(reader, "a unit");
  for (uint32_t i = 0; *unit && i < sl_param_unit_count; i++)
    if (strcmp(*unit, sl_param_units[i]) == 0)
      return true;
  return *unit && sl_reader_unknown(reader, loc, "unit", *unit, sl_param_units, sl_param_unit_count);
}

/* `param NAME NUMBER UNIT provenance [source] ["summary"]` */
static bool read_param(struct sl_reader *reader)
{
  struct sl_target *target = reader->target;
  sl_loc loc = reader->scan.token.loc;
  const char *name = read_identifier(reader, "the name of a parameter");
  if (!name)
    return false;
  int index = sl_target_param_index(target, name);
  if (is_variable(name) || find_define(target, name) >= 0)
    return sl_reader_fail(reader, loc, "'%s' has another meaning in formulas", name);
  if (index >= 0 && target->params.data[index].stated == SL_STATED)
    return fail_twice(reader, loc, SL_NO_LOC, "parameter", name);
  if (target->params.len >= NAMED_MAX)
    return sl_reader_fail(reader, loc, "more than %d parameters", NAMED_MAX);
  struct sl_cost_param param = { .name = name,
                                 .summary = index >= 0 ? target->params.data[index].summary : "",
                                 .stated = SL_STATED };
  struct sl_statement statement = { .stated = SL_STATED };
  if (reader->scan.token.kind != SL_TOKEN_NUMBER)
    return sl_reader_fail(reader, reader->scan.token.loc, "expected a number");
  param.fact.value = reader->scan.token.number;
  sl_scan_next(&reader->scan);
  if (!read_unit(reader, &param.unit) || !sl_read_statement(reader, &statement, false))
    return false;
  param.fact.provenance = statement.provenance;
  param.fact.source = statement.source;
  if (statement.note[0])
    param.summary = statement.note;
  if (index >= 0 && strcmp(target->params.data[index].unit, param.unit) != 0)
    return sl_reader_fail(reader, loc, "'%s' is in %s in the target it is inherited from", name,
                          target->params.data[index].unit);
  if (index >= 0)
    target->params.data[index] = param;
  else
    sl_vec_add(reader->heap, &target->params, param);
  return sl_read_line_end(reader);
}

/* `define NAME = formula unit provenance [source] ["note"]` */
static bool read_define(struct sl_reader *reader)
{
  struct sl_target *target = reader->target;
  sl_loc loc = reader->scan.token.loc;
  struct sl_define define = { .name = read_identifier(reader, "the name of a define"), .stated = SL_STATED };
  if (!define.name)
    return false;
  if (is_variable(define.name) || sl_target_param_index(target, define.name) >= 0)
    return sl_reader_fail(reader, loc, "'%s' has another meaning in formulas", define.name);
  int index = find_define(target, define.name);
  if (index >= 0 && target->defines.data[index].stated == SL_STATED)
    return fail_twice(reader, loc, target->defines.data[index].loc, "define", define.name);
  if (target->defines.len >= NAMED_MAX)
    return sl_reader_fail(reader, loc, "more than %d defines", NAMED_MAX);
  if (!sl_scan_is(&reader->scan, "="))
    return sl_reader_fail(reader, reader->scan.token.loc, "expected '='");
  sl_scan_next(&reader->scan);
  struct sl_statement statement = { .stated = SL_STATED };
  if (!sl_read_formula(reader, &define.formula, &define.unit, &define.loc) ||
      !sl_read_statement(reader, &statement, false))
    return false;
  define.provenance = statement.provenance;
  define.source = statement.source;
  define.note = statement.note;
  if (index >= 0)
    target->defines.data[index] = define;
  else
    sl_vec_add(reader->heap, &target->defines, define);
  return sl_read_line_end(reader);
}

/* `source TAG "title"` */
static bool read_source(struct sl_reader *reader)
{
  struct sl_target *target = reader->target;
  sl_loc loc = reader->scan.token.loc;
  struct sl_source_tag source = { .tag = read_identifier(reader, "a source tag"), .stated = SL_STATED };
  if (!source.tag)
    return false;
  source.title = sl_read_string(reader);
  if (!source.title)
    return sl_reader_fail(reader, reader->scan.token.loc, "expected the title of the source in quotes");
  for (uint32_t i = 0; i < target->sources.len; i++) {
    if (strcmp(target->sources.data[i].tag, source.tag) != 0)
      continue;
    if (target->sources.data[i].stated == SL_STATED)
      return fail_twice(reader, loc, SL_NO_LOC, "source", source.tag);
    target->sources.data[i] = source;
    return sl_read_line_end(reader);
  }
  if (target->sources.len >= NAMED_MAX)
    return sl_reader_fail(reader, loc, "more than %d sources", NAMED_MAX);
  sl_vec_add(reader->heap, &target->sources, source);
  return sl_read_line_end(reader);
}

static bool read_engine_name(struct sl_reader *reader, uint32_t *index)
{
  sl_loc loc = reader->scan.token.loc;
  const char *name = sl_read_word(reader, "the name of an engine");
  if (!name)
    return false;
  int found = sl_target_engine(reader->target, name);
  *index = (uint32_t)found;
  return found >= 0 || sl_reader_unknown_engine(reader, loc, name);
}

static bool keep_exclusion(struct sl_reader *reader, sl_loc loc, const struct sl_exclusion *exclusion)
{
  struct sl_target *target = reader->target;
  if (exclusion->a == exclusion->b)
    return sl_reader_fail(reader, loc, "an engine cannot exclude itself");
  for (uint32_t i = 0; i < target->exclusions.len; i++) {
    struct sl_exclusion *other = &target->exclusions.data[i];
    bool same = (other->a == exclusion->a && other->b == exclusion->b) ||
                (other->a == exclusion->b && other->b == exclusion->a);
    if (!same || other->space != exclusion->space)
      continue;
    if (other->stated == SL_STATED)
      return sl_reader_fail(reader, loc, "this exclusion stands twice");
    *other = *exclusion;
    return sl_read_line_end(reader);
  }
  sl_vec_add(reader->heap, &target->exclusions, *exclusion);
  return sl_read_line_end(reader);
}

/* `exclusive ENGINE ENGINE SPACE ["same-bank"] provenance ...`, or `exclusive none` to drop the inherited ones. */
static bool read_exclusion(struct sl_reader *reader)
{
  sl_loc loc = reader->scan.token.loc;
  if (sl_scan_accept(&reader->scan, "none")) {
    reader->target->exclusions.len = 0;
    return sl_read_line_end(reader);
  }
  struct sl_exclusion exclusion = { .stated = SL_STATED };
  if (!read_engine_name(reader, &exclusion.a) || !read_engine_name(reader, &exclusion.b))
    return false;
  sl_loc space_loc = reader->scan.token.loc;
  const char *name = sl_read_word(reader, "the name of a space");
  int space = name ? sl_target_space(reader->target, name) : -1;
  if (space < 0)
    return name && sl_reader_unknown_space(reader, space_loc, name);
  exclusion.space = (uint32_t)space;
  exclusion.same_bank = sl_scan_accept(&reader->scan, "same-bank");
  struct sl_statement statement = { .stated = SL_STATED };
  if (!sl_read_statement(reader, &statement, false))
    return false;
  exclusion.provenance = statement.provenance;
  exclusion.source = statement.source;
  exclusion.note = statement.note;
  return keep_exclusion(reader, loc, &exclusion);
}

/* ---- targets ---- */

static const struct statement_kind {
  const char *word;
  bool (*read)(struct sl_reader *reader);
} statement_kinds[] = {
  { "source", read_source }, { "engine", read_engine }, { "space", read_space },         { "param", read_param },
  { "define", read_define }, { "opcode", read_opcode }, { "exclusive", read_exclusion },
};
enum { STATEMENT_KINDS = sizeof statement_kinds / sizeof *statement_kinds };

static bool read_target_line(struct sl_reader *reader)
{
  const struct sl_section_info *own = &sl_sections[SL_SECTION_TARGET];
  const char *known[STATEMENT_KINDS + SL_SECTION_ENGINE + SL_STATEMENT_MAX];
  size_t count = 0;
  for (uint32_t i = 0; i < STATEMENT_KINDS; i++) {
    if (sl_scan_accept(&reader->scan, statement_kinds[i].word))
      return statement_kinds[i].read(reader);
    known[count++] = statement_kinds[i].word;
  }
  for (uint32_t i = SL_SECTION_TARGET + 1; i < SL_SECTION_ENGINE; i++) {
    if (sl_scan_is(&reader->scan, sl_sections[i].name))
      return read_section(reader, (enum sl_section)i);
    known[count++] = sl_sections[i].name;
  }
  for (uint32_t i = 0; i < own->count; i++) {
    if (sl_scan_is(&reader->scan, own->properties[i].key))
      return sl_read_property(reader, &own->properties[i], reader->target,
                              &reader->target->about[SL_SECTION_TARGET][i]);
    known[count++] = own->properties[i].key;
  }
  sl_loc loc = reader->scan.token.loc;
  const char *word = sl_read_word(reader, "a statement of a target");
  return word && sl_reader_unknown(reader, loc, "statement", word, known, count);
}

/* `target NAME "summary" [like BASE]` */
static bool read_target_head(struct sl_reader *reader)
{
  struct sl_target *target = reader->target;
  sl_loc loc = reader->scan.token.loc;
  reader->target_loc = loc;
  const char *name = sl_read_word(reader, "the name of a target");
  if (!name)
    return false;
  for (uint32_t i = 0; i < reader->made.len; i++)
    if (strcmp(reader->made.data[i]->name, name) == 0)
      return fail_twice(reader, loc, SL_NO_LOC, "target", name);
  const char *summary = sl_read_string(reader);
  if (!summary)
    return sl_reader_fail(reader, reader->scan.token.loc, "expected a summary of the target in quotes");
  const char *base_name = NULL;
  if (sl_scan_accept(&reader->scan, "like")) {
    sl_loc base_loc = reader->scan.token.loc;
    base_name = sl_read_word(reader, "the name of a target");
    const struct sl_target *base = base_name ? find_base(reader, base_name) : NULL;
    if (!base)
      return base_name && fail_unknown_target(reader, base_loc, base_name);
    copy_target(reader->heap, target, base);
  } else {
    sl_names_init(&target->engine_names, reader->heap);
    sl_names_init(&target->space_names, reader->heap);
    sl_names_init(&target->opcode_names, reader->heap);
  }
  target->name = name;
  target->summary = summary;
  target->base = base_name;
  return open_block(reader);
}

static bool read_target(struct sl_reader *reader)
{
  uint32_t errors = reader->report->errors;
  reader->target = sl_heap_arena(reader->heap, sizeof *reader->target);
  memset(reader->section_loc, 0, sizeof reader->section_loc);
  if (!read_target_head(reader))
    return false;
  for (skip_lines(reader); !sl_scan_is(&reader->scan, "}"); skip_lines(reader)) {
    if (reader->scan.token.kind == SL_TOKEN_END)
      return sl_reader_fail(reader, reader->scan.token.loc, "the text ends inside 'target'; '}' is missing");
    if (!read_target_line(reader))
      recover(reader);
  }
  sl_scan_next(&reader->scan);
  if (!sl_read_line_end(reader))
    return false;
  if (reader->report->errors == errors)
    sl_target_check(reader);
  sl_vec_add(reader->heap, &reader->made, reader->target);
  return true;
}

void sl_target_read(struct sl_reader *reader)
{
  for (skip_lines(reader); reader->scan.token.kind != SL_TOKEN_END; skip_lines(reader)) {
    if (sl_scan_accept(&reader->scan, "target") && read_target(reader))
      continue;
    if (reader->report->errors == 0)
      sl_reader_fail(reader, reader->scan.token.loc, "expected 'target'");
    sl_scan_skip(&reader->scan);
    if (sl_scan_accept(&reader->scan, "}"))
      sl_scan_skip(&reader->scan);
  }
  if (reader->made.len == 0 && reader->report->errors == 0)
    sl_reader_fail(reader, SL_NO_LOC, "the text holds no target");
}
