/* describe_json.c: a target as JSON. The same tables as describe.c drive it. Nothing here allocates from a heap of the
 * library: its failure would jump past the references that jansson needs back.
 */
#include <jansson.h>
#include <stdlib.h>

#include "target/describe.h"

/* An allocation that fails makes `failed` stick; what is built then is thrown away. */
struct writer {
  const struct sl_target *target;
  bool failed;
};

static void put(struct writer *w, json_t *object, const char *key, json_t *value)
{
  if (json_object_set_new(object, key, value) != 0)
    w->failed = true;
}

static void append(struct writer *w, json_t *array, json_t *value)
{
  if (json_array_append_new(array, value) != 0)
    w->failed = true;
}

static json_t *object(struct writer *w)
{
  json_t *made = json_object();
  w->failed = w->failed || !made;
  return made;
}

/* An array put into an object; NULL, harmless to append to, when memory is out. */
static json_t *put_array(struct writer *w, json_t *in, const char *key)
{
  json_t *made = json_array();
  put(w, in, key, made);
  return made;
}

static json_t *number(double value)
{
  if (value >= -9e15 && value <= 9e15 && value == (double)(json_int_t)value)
    return json_integer((json_int_t)value);
  return json_real(value);
}

static json_t *limit(uint64_t value, bool unlimited)
{
  return unlimited ? json_null() : json_integer((json_int_t)value);
}

static void put_trust(struct writer *w, json_t *in, uint8_t provenance, const char *source, const char *note)
{
  put(w, in, "provenance", json_string(sl_provenance_text[provenance]));
  if (source[0])
    put(w, in, "source", json_string(source));
  if (note[0])
    put(w, in, "note", json_string(note));
}

static json_t *space_names(struct writer *w, uint64_t mask)
{
  json_t *names = json_array();
  for (uint32_t i = 0; i < w->target->spaces.len; i++)
    if (mask >> i & 1)
      append(w, names, json_string(w->target->spaces.data[i].name));
  return names;
}

static json_t *engine_names(struct writer *w, uint64_t mask)
{
  json_t *names = json_array();
  for (uint32_t i = 0; i < w->target->engines.len; i++)
    if (mask >> i & 1)
      append(w, names, json_string(w->target->engines.data[i].name));
  return names;
}

static json_t *place(struct writer *w, const struct sl_opcode_desc *opcode)
{
  json_t *made = object(w);
  put(w, made, "engine", json_boolean(opcode->on_engine));
  put(w, made, "queue", json_boolean(opcode->on_queue));
  put(w, made, "engines", engine_names(w, opcode->engines));
  return made;
}

static json_t *operands(struct writer *w, int least, int most, uint64_t mask)
{
  json_t *made = object(w);
  put(w, made, "min", json_integer(least));
  put(w, made, "max", most < 0 ? json_null() : json_integer(most));
  put(w, made, "spaces", space_names(w, mask));
  return made;
}

static json_t *attributes(struct writer *w, const struct sl_opcode_desc *opcode)
{
  json_t *names = json_array();
  for (uint32_t i = 0; i < opcode->attrs.len; i++)
    append(w, names, json_string(opcode->attrs.data[i]));
  return names;
}

static json_t *value_of(struct writer *w, const struct sl_property *property, const void *item)
{
  const void *value = (const char *)item + property->offset;
  const void *also = (const char *)item + property->also;
  const struct sl_opcode_desc *opcode = item; /* for the kinds that only opcodes have */
  switch ((enum sl_property_kind)property->kind) {
  case SL_PROPERTY_FACT: return number(((const struct sl_fact *)value)->value);
  case SL_PROPERTY_COUNT: {
    uint32_t count = *(const uint32_t *)value;
    return limit(count, property->also ? *(const bool *)also : property->unlimited && count == 0);
  }
  case SL_PROPERTY_SIZE: return limit(*(const uint64_t *)value, property->unlimited && *(const uint64_t *)value == 0);
  case SL_PROPERTY_FLAG: {
    bool is_set = *(const bool *)value;
    return strcmp(property->words[1], "yes") == 0 ? json_boolean(is_set) : json_string(property->words[is_set]);
  }
  case SL_PROPERTY_NAME: return json_string(*(const char *const *)value);
  case SL_PROPERTY_SPACES: return space_names(w, *(const uint64_t *)value);
  case SL_PROPERTY_PLACE: return place(w, opcode);
  case SL_PROPERTY_OPERANDS:
    return property->key[0] == 'd' ? operands(w, opcode->dst_min, opcode->dst_max, opcode->dst_spaces)
                                   : operands(w, opcode->src_min, opcode->src_max, opcode->src_spaces);
  case SL_PROPERTY_SHAPE: return json_string(sl_shape_text[opcode->shape]);
  case SL_PROPERTY_ATTRS: return attributes(w, opcode);
  case SL_PROPERTY_FORMULA: break;
  }
  return json_string(*(const char *const *)value);
}

/* Bare properties are plain values, others objects: {"value": ..., "unit": ..., "provenance": ..., "source": ...}. */
static void put_properties(struct writer *w, json_t *in, enum sl_section section, const void *item,
                           const struct sl_statement *about)
{
  const struct sl_section_info *info = &sl_sections[section];
  for (uint32_t i = 0; i < info->count; i++) {
    const struct sl_property *property = &info->properties[i];
    if (!about[i].stated)
      continue;
    json_t *value = value_of(w, property, item);
    if (property->bare) {
      put(w, in, property->key, value);
      continue;
    }
    json_t *stated = object(w);
    put(w, stated, "value", value);
    if (property->kind == SL_PROPERTY_FORMULA)
      put(w, stated, "unit", json_string(sl_cost_unit_text[*((const uint8_t *)item + property->also)]));
    else if (property->kind == SL_PROPERTY_SIZE)
      put(w, stated, "unit", json_string("B"));
    else if (property->unit)
      put(w, stated, "unit", json_string(property->unit));
    put_trust(w, stated, about[i].provenance, about[i].source, about[i].note);
    put(w, in, property->key, stated);
  }
}

static json_t *named(struct writer *w, const char *name, const char *summary)
{
  json_t *made = object(w);
  put(w, made, "name", json_string(name));
  if (summary[0])
    put(w, made, "summary", json_string(summary));
  return made;
}

static void put_machine(struct writer *w, json_t *root)
{
  const struct sl_target *target = w->target;
  json_t *engines = put_array(w, root, "engines");
  for (uint32_t i = 0; i < target->engines.len; i++) {
    const struct sl_engine_desc *engine = &target->engines.data[i];
    json_t *made = named(w, engine->name, engine->summary);
    put_properties(w, made, SL_SECTION_ENGINE, engine, engine->about);
    append(w, engines, made);
  }
  json_t *spaces = put_array(w, root, "spaces");
  for (uint32_t i = 0; i < target->spaces.len; i++) {
    const struct sl_space_desc *space = &target->spaces.data[i];
    json_t *made = named(w, space->name, space->summary);
    put_properties(w, made, SL_SECTION_SPACE, space, space->about);
    append(w, spaces, made);
  }
  json_t *exclusions = put_array(w, root, "exclusive");
  for (uint32_t i = 0; i < target->exclusions.len; i++) {
    const struct sl_exclusion *exclusion = &target->exclusions.data[i];
    json_t *made = object(w);
    put(w, made, "engines", engine_names(w, (uint64_t)1 << exclusion->a | (uint64_t)1 << exclusion->b));
    put(w, made, "space", json_string(target->spaces.data[exclusion->space].name));
    put(w, made, "same_bank", json_boolean(exclusion->same_bank));
    put_trust(w, made, exclusion->provenance, exclusion->source, exclusion->note);
    append(w, exclusions, made);
  }
  for (uint32_t i = SL_SECTION_TARGET + 1; i < SL_SECTION_ENGINE; i++) {
    json_t *section = object(w);
    put_properties(w, section, (enum sl_section)i, target, target->about[i]);
    put(w, root, sl_sections[i].name, section);
  }
}

static void put_costs(struct writer *w, json_t *root)
{
  const struct sl_target *target = w->target;
  json_t *params = put_array(w, root, "params");
  for (uint32_t i = 0; i < target->params.len; i++) {
    const struct sl_cost_param *param = &target->params.data[i];
    json_t *made = named(w, param->name, param->summary);
    put(w, made, "value", number(param->fact.value));
    put(w, made, "unit", json_string(param->unit));
    put_trust(w, made, param->fact.provenance, param->fact.source, "");
    append(w, params, made);
  }
  json_t *defines = put_array(w, root, "defines");
  for (uint32_t i = 0; i < target->defines.len; i++) {
    const struct sl_define *define = &target->defines.data[i];
    json_t *made = named(w, define->name, "");
    put(w, made, "formula", json_string(define->formula));
    put(w, made, "unit", json_string(sl_cost_unit_text[define->unit]));
    put_trust(w, made, define->provenance, define->source, define->note);
    append(w, defines, made);
  }
  json_t *opcodes = put_array(w, root, "opcodes");
  for (uint32_t i = 0; i < target->opcodes.len; i++) {
    const struct sl_opcode_desc *opcode = &target->opcodes.data[i];
    json_t *made = named(w, opcode->name, opcode->summary);
    put_trust(w, made, opcode->provenance, opcode->source, "");
    put_properties(w, made, SL_SECTION_OPCODE, opcode, opcode->about);
    append(w, opcodes, made);
  }
}

static json_t *describe(struct writer *w)
{
  const struct sl_target *target = w->target;
  json_t *root = object(w);
  put(w, root, "schema", json_string("sluice-target-1"));
  put(w, root, "name", json_string(target->name));
  put(w, root, "summary", json_string(target->summary));
  if (target->base)
    put(w, root, "like", json_string(target->base));
  put_properties(w, root, SL_SECTION_TARGET, target, target->about[SL_SECTION_TARGET]);
  put_machine(w, root);
  put_costs(w, root);
  json_t *sources = object(w);
  for (uint32_t i = 0; i < target->sources.len; i++)
    put(w, sources, target->sources.data[i].tag, json_string(target->sources.data[i].title));
  put(w, root, "sources", sources);
  return root;
}

int sl_target_describe_json(char **text, const struct sl_target *target)
{
  struct writer w = { target, false };
  json_t *root = describe(&w);
  char *dumped = w.failed ? NULL : json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
  json_decref(root);
  *text = dumped ? malloc(strlen(dumped) + 2) : NULL;
  if (*text) {
    size_t length = strlen(dumped);
    memcpy(*text, dumped, length);
    memcpy(*text + length, "\n", 2);
  }
  json_free_t release;
  json_get_alloc_funcs(NULL, &release); /* the application may have given jansson an allocator of its own */
  if (dumped)
    release(dumped);
  return *text ? SLUICE_OK : SLUICE_E_NO_MEMORY;
}
