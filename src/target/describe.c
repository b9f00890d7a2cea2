/* describe.c: a target as readable text: every property with its value and how far it can be trusted. See
 * <sluice/target.h>. Driven by the tables of schema.h, so a new property shows by itself. O(size of the description).
 */
#include "target/describe.h"

/* ---- values ---- */

static const char *at(const void *item, uint32_t offset)
{
  return (const char *)item + offset;
}

static void add_double(sl_buf *buf, double value)
{
  size_t start = buf->len;
  sl_buf_printf(buf, "%.10g", value);
  for (size_t i = start; i < buf->len; i++)
    if (buf->data[i] == ',') /* the decimal point of some locales */
      buf->data[i] = '.';
}

static void add_size(sl_buf *buf, uint64_t bytes)
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
  int unit = 0;
  while (bytes && bytes % 1024 == 0 && unit < 3) {
    bytes /= 1024;
    unit++;
  }
  sl_buf_printf(buf, "%llu %s", (unsigned long long)bytes, units[unit]);
}

static void add_spaces(sl_buf *buf, const struct sl_target *target, uint64_t mask, bool all)
{
  if (all || !mask)
    sl_buf_puts(buf, all ? "any" : "none");
  const char *before = "";
  for (uint32_t i = 0; !all && i < target->spaces.len; i++) {
    if (!(mask >> i & 1))
      continue;
    sl_buf_printf(buf, "%s%s", before, target->spaces.data[i].name);
    before = " ";
  }
}

static void add_place(sl_buf *buf, const struct sl_target *target, const struct sl_opcode_desc *opcode)
{
  sl_buf_puts(buf, opcode->on_engine && opcode->on_queue ? "both" : opcode->on_queue ? "queues" : "engines");
  if (opcode->engines_all)
    sl_buf_puts(buf, " all");
  for (uint32_t i = 0; !opcode->engines_all && i < target->engines.len; i++)
    if (opcode->engines >> i & 1)
      sl_buf_printf(buf, " %s", target->engines.data[i].name);
}

static void add_operands(sl_buf *buf, const struct sl_target *target, int least, int most, uint64_t mask, bool all)
{
  sl_buf_printf(buf, "%d", least);
  if (most != least)
    sl_buf_puts(buf, "..");
  if (most > least)
    sl_buf_printf(buf, "%d", most);
  if (most == 0)
    return;
  sl_buf_puts(buf, " in ");
  add_spaces(buf, target, mask, all);
}

/* A formula may have been written on several lines. */
static void add_formula(sl_buf *buf, const char *formula, enum sl_cost_unit unit)
{
  bool blank = false;
  for (; *formula; formula++) {
    bool is_blank = *formula == ' ' || *formula == '\n' || *formula == '\t' || *formula == '\r';
    if (!is_blank && blank)
      sl_buf_putc(buf, ' ');
    if (!is_blank)
      sl_buf_putc(buf, *formula);
    blank = is_blank;
  }
  sl_buf_printf(buf, " %s", sl_cost_unit_text[unit]);
}

static void add_count(sl_buf *buf, const struct sl_property *property, const void *item)
{
  uint32_t count = *(const uint32_t *)(const void *)at(item, property->offset);
  bool unlimited = property->also ? *(const bool *)at(item, property->also) : property->unlimited && count == 0;
  if (unlimited)
    sl_buf_puts(buf, "unlimited");
  else
    sl_buf_int(buf, count);
}

static void add_value(sl_buf *buf, const struct sl_target *target, const struct sl_property *property, const void *item)
{
  const char *value = at(item, property->offset);
  const struct sl_opcode_desc *opcode = item; /* for the kinds that only opcodes have */
  switch ((enum sl_property_kind)property->kind) {
  case SL_PROPERTY_FACT:
    add_double(buf, ((const struct sl_fact *)(const void *)value)->value);
    if (property->unit)
      sl_buf_printf(buf, " %s", property->unit);
    break;
  case SL_PROPERTY_COUNT: add_count(buf, property, item); break;
  case SL_PROPERTY_SIZE: {
    uint64_t bytes = *(const uint64_t *)(const void *)value;
    if (bytes || !property->unlimited)
      add_size(buf, bytes);
    else
      sl_buf_puts(buf, "unlimited");
    break;
  }
  case SL_PROPERTY_FLAG: sl_buf_puts(buf, property->words[*(const bool *)value]); break;
  case SL_PROPERTY_NAME: sl_buf_puts(buf, *(const char *const *)(const void *)value); break;
  case SL_PROPERTY_SPACES:
    add_spaces(buf, target, *(const uint64_t *)(const void *)value, *(const bool *)at(item, property->also));
    break;
  case SL_PROPERTY_PLACE: add_place(buf, target, opcode); break;
  case SL_PROPERTY_OPERANDS:
    if (property->key[0] == 'd')
      add_operands(buf, target, opcode->dst_min, opcode->dst_max, opcode->dst_spaces, opcode->dst_all);
    else
      add_operands(buf, target, opcode->src_min, opcode->src_max, opcode->src_spaces, opcode->src_all);
    break;
  case SL_PROPERTY_SHAPE: sl_buf_puts(buf, sl_shape_text[opcode->shape]); break;
  case SL_PROPERTY_ATTRS:
    for (uint32_t i = 0; i < opcode->attrs.len; i++)
      sl_buf_printf(buf, "%s%s", i ? " " : "", opcode->attrs.data[i]);
    break;
  case SL_PROPERTY_FORMULA:
    add_formula(buf, *(const char *const *)(const void *)value,
                (enum sl_cost_unit) * (const uint8_t *)at(item, property->also));
    break;
  }
}

/* ---- lines ---- */

enum { VALUE_COLUMN = 21, TRUST_COLUMN = 44 };

static void fill_to(sl_buf *buf, size_t line_start, size_t column)
{
  size_t now = buf->len - line_start;
  sl_buf_fill(buf, ' ', now < column ? column - now : 1);
}

static void add_trust(sl_buf *buf, size_t line_start, uint8_t provenance, const char *source, const char *note)
{
  fill_to(buf, line_start, TRUST_COLUMN);
  sl_buf_printf(buf, "%-10s", sl_provenance_text[provenance]);
  if (source[0])
    sl_buf_printf(buf, " %s", source);
  if (note[0])
    sl_buf_printf(buf, " (%s)", note);
  while (buf->data[buf->len - 1] == ' ')
    buf->len--;
}

static void add_properties(sl_buf *buf, const struct sl_target *target, enum sl_section section, const void *item,
                           const struct sl_statement *about, const char *indent)
{
  const struct sl_section_info *info = &sl_sections[section];
  for (uint32_t i = 0; i < info->count; i++) {
    if (!about[i].stated)
      continue;
    size_t start = buf->len;
    sl_buf_printf(buf, "%s%s", indent, info->properties[i].key);
    fill_to(buf, start, VALUE_COLUMN);
    add_value(buf, target, &info->properties[i], item);
    if (!info->properties[i].bare)
      add_trust(buf, start, about[i].provenance, about[i].source, about[i].note);
    sl_buf_putc(buf, '\n');
  }
}

static void add_item_head(sl_buf *buf, const char *kind, const char *name, const char *summary)
{
  sl_buf_printf(buf, "\n%s %s%s%s\n", kind, name, summary[0] ? ": " : "", summary);
}

static void add_single_sections(sl_buf *buf, const struct sl_target *target)
{
  for (uint32_t i = SL_SECTION_TARGET + 1; i < SL_SECTION_ENGINE; i++) {
    sl_buf_printf(buf, "\n%s\n", sl_sections[i].name);
    size_t before = buf->len;
    add_properties(buf, target, (enum sl_section)i, target, target->about[i], "  ");
    if (buf->len == before)
      sl_buf_puts(buf, "  none\n");
  }
}

static void add_exclusions(sl_buf *buf, const struct sl_target *target)
{
  if (target->exclusions.len)
    sl_buf_puts(buf, "\nnever at the same time\n");
  for (uint32_t i = 0; i < target->exclusions.len; i++) {
    const struct sl_exclusion *exclusion = &target->exclusions.data[i];
    size_t start = buf->len;
    sl_buf_printf(buf, "  %s, %s on %s%s", target->engines.data[exclusion->a].name,
                  target->engines.data[exclusion->b].name, target->spaces.data[exclusion->space].name,
                  exclusion->same_bank ? ", same bank" : "");
    add_trust(buf, start, exclusion->provenance, exclusion->source, exclusion->note);
    sl_buf_putc(buf, '\n');
  }
}

static void add_params(sl_buf *buf, const struct sl_target *target)
{
  sl_buf_puts(buf, "\nparameters\n");
  for (uint32_t i = 0; i < target->params.len; i++) {
    const struct sl_cost_param *param = &target->params.data[i];
    size_t start = buf->len;
    sl_buf_printf(buf, "  %s", param->name);
    fill_to(buf, start, 26);
    add_double(buf, param->fact.value);
    sl_buf_printf(buf, " %s", param->unit);
    add_trust(buf, start, param->fact.provenance, param->fact.source, param->summary);
    sl_buf_putc(buf, '\n');
  }
  if (target->defines.len)
    sl_buf_puts(buf, "\nparts of formulas\n");
  for (uint32_t i = 0; i < target->defines.len; i++) {
    const struct sl_define *define = &target->defines.data[i];
    size_t start = buf->len;
    sl_buf_printf(buf, "  %s", define->name);
    fill_to(buf, start, VALUE_COLUMN);
    sl_buf_puts(buf, "= ");
    add_formula(buf, define->formula, define->unit);
    add_trust(buf, start, define->provenance, define->source, define->note);
    sl_buf_putc(buf, '\n');
  }
}

static void add_opcodes(sl_buf *buf, const struct sl_target *target)
{
  for (uint32_t i = 0; i < target->opcodes.len; i++) {
    const struct sl_opcode_desc *opcode = &target->opcodes.data[i];
    add_item_head(buf, "opcode", opcode->name, opcode->summary);
    size_t start = buf->len;
    sl_buf_puts(buf, "  roles");
    add_trust(buf, start, opcode->provenance, opcode->source, "");
    sl_buf_putc(buf, '\n');
    add_properties(buf, target, SL_SECTION_OPCODE, opcode, opcode->about, "  ");
  }
}

static void add_sources(sl_buf *buf, const struct sl_target *target)
{
  if (target->sources.len)
    sl_buf_puts(buf, "\nsources\n");
  for (uint32_t i = 0; i < target->sources.len; i++)
    sl_buf_printf(buf, "  %-6s %s\n", target->sources.data[i].tag, target->sources.data[i].title);
}

static void add_target(sl_buf *buf, const struct sl_target *target)
{
  sl_buf_printf(buf, "target %s: %s\n", target->name, target->summary);
  if (target->base)
    sl_buf_printf(buf, "  like %s\n", target->base);
  add_properties(buf, target, SL_SECTION_TARGET, target, target->about[SL_SECTION_TARGET], "  ");
  for (uint32_t i = 0; i < target->engines.len; i++) {
    const struct sl_engine_desc *engine = &target->engines.data[i];
    add_item_head(buf, "engine", engine->name, engine->summary);
    add_properties(buf, target, SL_SECTION_ENGINE, engine, engine->about, "  ");
  }
  for (uint32_t i = 0; i < target->spaces.len; i++) {
    const struct sl_space_desc *space = &target->spaces.data[i];
    add_item_head(buf, "space", space->name, space->summary);
    add_properties(buf, target, SL_SECTION_SPACE, space, space->about, "  ");
  }
  add_exclusions(buf, target);
  add_single_sections(buf, target);
  add_params(buf, target);
  add_opcodes(buf, target);
  add_sources(buf, target);
  sl_buf_puts(
      buf, "\nA calibrated value is fitted so that the model lands near published results. It is not a measurement.\n");
}

/* ---- entry point ---- */

struct describe_call {
  sl_heap *heap;
  const struct sl_target *target;
  char *text;
};

static int describe_guarded(void *arg)
{
  struct describe_call *call = arg;
  sl_buf buf;
  sl_buf_init(&buf, call->heap);
  add_target(&buf, call->target);
  call->text = sl_buf_export(&buf);
  return SLUICE_OK;
}

int sluice_targets_describe(char **text, const sluice_targets *targets, const char *name, bool json)
{
  *text = NULL;
  const struct sl_target *target = sl_target_find(targets, name);
  if (!target)
    return SLUICE_E_INPUT;
  if (json)
    return sl_target_describe_json(text, target);
  sl_guard guard; /* of its own: other threads may be reading the set */
  sl_heap heap;
  sl_heap_init(&heap, &guard);
  struct describe_call call = { &heap, target, NULL };
  int status = sl_guard_run(&guard, describe_guarded, &call);
  sl_heap_free_all(&heap);
  *text = call.text;
  return status;
}
