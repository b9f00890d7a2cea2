/* check.c: what must hold of a target as a whole. See reader.h. Requires a target whose text had no errors. Leaves true: the
 * properties the tables require are there, names and numbers agree with each other, every formula is compiled.
 */
#include "target/cost.h"
#include "target/reader.h"

static sl_loc place(const struct sl_reader *reader, sl_loc loc)
{
  return loc ? loc : reader->target_loc;
}

/* The row of a property that the section surely has. */
static uint32_t row_of(enum sl_section section, const char *key)
{
  uint32_t row = 0;
  while (strcmp(sl_sections[section].properties[row].key, key) != 0)
    row++;
  return row;
}

static uint64_t low_bits(uint32_t count)
{
  return count >= 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1;
}

/* ---- required properties ---- */

static void require_properties(struct sl_reader *reader, enum sl_section section, const char *name, sl_loc loc,
                               const struct sl_statement *about)
{
  const struct sl_section_info *info = &sl_sections[section];
  for (uint32_t i = 0; i < info->count; i++)
    if (info->properties[i].required && !about[i].stated)
      sl_reader_fail(reader, place(reader, loc), "%s%s%s%s does not state '%s'", info->name, name ? " '" : "",
                     name ? name : "", name ? "'" : "", info->properties[i].key);
}

static bool any_stated(const struct sl_statement *about)
{
  for (uint32_t i = 0; i < SL_STATEMENT_MAX; i++)
    if (about[i].stated)
      return true;
  return false;
}

static void require_sections(struct sl_reader *reader)
{
  const struct sl_target *target = reader->target;
  for (uint32_t i = 0; i < SL_SECTION_ENGINE; i++) {
    bool present = i == SL_SECTION_TARGET || reader->section_loc[i] || any_stated(target->about[i]);
    if (present)
      require_properties(reader, (enum sl_section)i, NULL, reader->section_loc[i], target->about[i]);
    else if (sl_sections[i].required)
      sl_reader_fail(reader, reader->target_loc, "target '%s' has no '%s'", target->name, sl_sections[i].name);
  }
  for (uint32_t i = 0; i < target->engines.len; i++)
    require_properties(reader, SL_SECTION_ENGINE, target->engines.data[i].name, target->engines.data[i].loc,
                       target->engines.data[i].about);
  for (uint32_t i = 0; i < target->spaces.len; i++)
    require_properties(reader, SL_SECTION_SPACE, target->spaces.data[i].name, target->spaces.data[i].loc,
                       target->spaces.data[i].about);
  for (uint32_t i = 0; i < target->opcodes.len; i++)
    require_properties(reader, SL_SECTION_OPCODE, target->opcodes.data[i].name, target->opcodes.data[i].loc,
                       target->opcodes.data[i].about);
  if (!target->engines.len)
    sl_reader_fail(reader, reader->target_loc, "target '%s' has no engine", target->name);
}

static void require_params(struct sl_reader *reader)
{
  const struct sl_target *target = reader->target;
  for (uint32_t i = 0; i < sl_standard_param_count; i++) {
    const struct sl_standard_param *standard = &sl_standard_params[i];
    int index = sl_target_param_index(target, standard->name);
    if (index < 0)
      sl_reader_fail(reader, reader->target_loc, "target '%s' has no parameter '%s' (in %s: %s)", target->name,
                     standard->name, standard->unit, standard->summary);
    else if (strcmp(target->params.data[index].unit, standard->unit) != 0)
      sl_reader_fail(reader, reader->target_loc, "parameter '%s' must be in %s", standard->name, standard->unit);
  }
}

/* ---- agreement ---- */

static void check_clock(struct sl_reader *reader, const struct sl_engine_desc *engine)
{
  double ticks = engine->clock_ghz.value * engine->ticks_per_cycle.value, tick = reader->target->tick_ghz.value;
  if (ticks > tick * 1.000001 || ticks < tick * 0.999999)
    sl_reader_fail(reader, place(reader, engine->loc),
                   "engine '%s': clock times ticks is %g GHz, but the tick is %g GHz", engine->name, ticks, tick);
  double whole = (double)(uint64_t)engine->ticks_per_cycle.value; /* at most 1e9 */
  if (whole != engine->ticks_per_cycle.value)
    sl_reader_fail(reader, place(reader, engine->loc), "engine '%s': 'ticks' is not a whole number", engine->name);
}

static void check_engines(struct sl_reader *reader)
{
  struct sl_target *target = reader->target;
  for (uint32_t i = 0; i < target->engines.len; i++) {
    struct sl_engine_desc *engine = &target->engines.data[i];
    check_clock(reader, engine);
    if (engine->reads_all)
      engine->reads = low_bits(target->spaces.len);
    if (engine->writes_all)
      engine->writes = low_bits(target->spaces.len);
    for (uint32_t j = 0; j < i; j++)
      if (target->engines.data[j].ordinal == engine->ordinal)
        sl_reader_fail(reader, place(reader, engine->loc), "engines '%s' and '%s' have the same ordinal %u",
                       target->engines.data[j].name, engine->name, engine->ordinal);
  }
}

/* `usable` goes with the size it was stated for. */
static void settle_usable(struct sl_space_desc *space)
{
  uint32_t bytes = row_of(SL_SECTION_SPACE, "bytes"), usable = row_of(SL_SECTION_SPACE, "usable");
  bool stale = space->about[bytes].stated == SL_STATED && space->about[usable].stated == SL_INHERITED;
  if (stale)
    memset(&space->about[usable], 0, sizeof space->about[usable]);
  if (!space->about[usable].stated)
    space->usable = space->bytes;
}

static void check_spaces(struct sl_reader *reader)
{
  for (uint32_t i = 0; i < reader->target->spaces.len; i++) {
    struct sl_space_desc *space = &reader->target->spaces.data[i];
    settle_usable(space);
    sl_loc loc = place(reader, space->loc);
    if (space->bytes && space->usable > space->bytes)
      sl_reader_fail(reader, loc, "space '%s': 'usable' is more than 'bytes'", space->name);
    if (space->bank_bytes && space->bytes % space->bank_bytes)
      sl_reader_fail(reader, loc, "space '%s': 'bytes' is not a multiple of 'bank'", space->name);
    if (space->partition_start_rule && !space->partitions)
      sl_reader_fail(reader, loc, "space '%s' has a rule for partitions but no partitions", space->name);
  }
}

static void check_reserved(struct sl_reader *reader, enum sl_section section, uint32_t count, uint32_t reserved)
{
  if (count && reserved >= count)
    sl_reader_fail(reader, place(reader, reader->section_loc[section]), "%s: 'reserved' must be below 'count'",
                   sl_sections[section].name);
}

static void check_width(struct sl_reader *reader, enum sl_section section, uint32_t width)
{
  if (width < 8 || width > 64)
    sl_reader_fail(reader, place(reader, reader->section_loc[section]), "%s: 'width' must be from 8 to 64 bits",
                   sl_sections[section].name);
}

static void check_queues(struct sl_reader *reader)
{
  const struct sl_target *target = reader->target;
  const char *trigger = target->queue.default_trigger;
  if (!trigger)
    return;
  sl_loc loc = place(reader, reader->section_loc[SL_SECTION_QUEUES]);
  int engine = sl_target_engine(target, trigger);
  if (engine < 0)
    sl_reader_unknown_engine(reader, loc, trigger);
  else if (!target->engines.data[engine].may_trigger)
    sl_reader_fail(reader, loc, "the default trigger '%s' is not an engine that may trigger queues", trigger);
}

static void check_limits(struct sl_reader *reader)
{
  const struct sl_target *target = reader->target;
  check_reserved(reader, SL_SECTION_SEMAPHORES, target->sem.count, target->sem.reserved);
  check_reserved(reader, SL_SECTION_EVENTS, target->events.count, target->events.reserved);
  check_reserved(reader, SL_SECTION_REGISTERS, target->registers.count, target->registers.reserved);
  check_width(reader, SL_SECTION_SEMAPHORES, target->sem.width);
  check_width(reader, SL_SECTION_REGISTERS, target->registers.width);
  sl_loc loc = place(reader, reader->section_loc[SL_SECTION_SLOTS]);
  if (!target->slot.carrier_waits || !target->slot.carrier_updates)
    sl_reader_fail(reader, loc,
                   "slots: 'carrier-waits' and 'carrier-updates' must be above 0: what an ordinary slot "
                   "cannot carry goes there");
  if (!target->slot.bytes)
    sl_reader_fail(reader, loc, "slots: 'bytes' must be above 0");
  check_queues(reader);
}

/* ---- opcodes ---- */

/* An engine that can reach none of the spaces an operand may be in cannot execute the opcode. */
static void check_reach(struct sl_reader *reader, const struct sl_opcode_desc *opcode,
                        const struct sl_engine_desc *engine)
{
  sl_loc loc = place(reader, opcode->loc);
  if (opcode->dst_min > 0 && !(opcode->dst_spaces & engine->writes))
    sl_reader_fail(reader, loc, "opcode '%s': engine '%s' writes none of the spaces of its destinations", opcode->name,
                   engine->name);
  if (opcode->src_min > 0 && !(opcode->src_spaces & engine->reads))
    sl_reader_fail(reader, loc, "opcode '%s': engine '%s' reads none of the spaces of its sources", opcode->name,
                   engine->name);
}

/* A source that may be missing cannot say where the others go. */
static void check_index(struct sl_reader *reader, const struct sl_opcode_desc *opcode)
{
  sl_loc loc = opcode->about[row_of(SL_SECTION_OPCODE, "index")].loc;
  if (opcode->index_source > (uint32_t)opcode->src_min)
    sl_reader_fail(reader, place(reader, loc), "opcode '%s': 'index' is source %u, of %d that are always there",
                   opcode->name, opcode->index_source, opcode->src_min);
}

static void check_opcode(struct sl_reader *reader, struct sl_opcode_desc *opcode)
{
  const struct sl_target *target = reader->target;
  if (opcode->engines_all)
    opcode->engines = low_bits(target->engines.len);
  if (opcode->dst_all)
    opcode->dst_spaces = low_bits(target->spaces.len);
  if (opcode->src_all)
    opcode->src_spaces = low_bits(target->spaces.len);
  check_index(reader, opcode);
  bool triggers = false;
  for (uint32_t i = 0; i < target->engines.len; i++) {
    if (!(opcode->engines >> i & 1))
      continue;
    triggers = triggers || target->engines.data[i].may_trigger;
    if (opcode->on_engine)
      check_reach(reader, opcode, &target->engines.data[i]);
  }
  if (opcode->on_queue && !triggers)
    sl_reader_fail(reader, place(reader, opcode->loc), "opcode '%s': none of its engines may trigger queues",
                   opcode->name);
}

static void check_opcodes(struct sl_reader *reader)
{
  uint32_t errors = reader->report->errors;
  for (uint32_t i = 0; i < reader->target->opcodes.len && reader->report->errors == errors; i++)
    check_opcode(reader, &reader->target->opcodes.data[i]);
}

/* ---- formulas ---- */

static struct sl_cost *compile(struct sl_reader *reader, const char *formula, enum sl_cost_unit unit,
                               uint32_t define_count, sl_loc loc)
{
  struct sl_cost_text text = { formula, (uint8_t)unit, define_count, place(reader, loc), loc == SL_NO_LOC };
  return sl_cost_compile(reader->heap, reader->target, &text, reader->report);
}

static struct sl_cost *compile_of(struct sl_reader *reader, struct sl_opcode_desc *opcode, const char *key,
                                  const char *formula, enum sl_cost_unit unit)
{
  sl_loc loc = opcode->about[row_of(SL_SECTION_OPCODE, key)].loc;
  if (unit == SL_COST_VALUE)
    sl_reader_fail(reader, place(reader, loc), "opcode '%s': '%s' must be in cycles or ns", opcode->name, key);
  return compile(reader, formula, unit, reader->target->defines.len, loc);
}

/* Again also for inherited formulas: what they name may have changed. */
static void compile_formulas(struct sl_reader *reader)
{
  struct sl_target *target = reader->target;
  for (uint32_t i = 0; i < target->defines.len; i++) {
    struct sl_define *define = &target->defines.data[i];
    define->cost = compile(reader, define->formula, define->unit, i, define->loc);
  }
  for (uint32_t i = 0; i < target->opcodes.len; i++) {
    struct sl_opcode_desc *opcode = &target->opcodes.data[i];
    opcode->interval_cost = compile_of(reader, opcode, "interval", opcode->interval, opcode->interval_unit);
    opcode->latency_cost = compile_of(reader, opcode, "latency", opcode->latency, opcode->latency_unit);
  }
}

void sl_target_check(struct sl_reader *reader)
{
  uint32_t errors = reader->report->errors;
  require_sections(reader);
  require_params(reader);
  if (reader->report->errors != errors)
    return; /* the rest would complain about what is missing */
  check_engines(reader);
  check_spaces(reader);
  check_limits(reader);
  check_opcodes(reader);
  compile_formulas(reader);
}
