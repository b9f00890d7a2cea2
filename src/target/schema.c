/* schema.c: see schema.h. A new property is one row here, one field in target.h and one line in docs/targets.md. */
#include "target/schema.h"

#include <stddef.h>

const char *const sl_provenance_text[4] = { "documented", "derived", "calibrated", "assumed" };
const char *const sl_shape_text[3] = { "any", "elementwise", "same-count" };

#define AT(type, field) (uint32_t) offsetof(struct type, field)

/* The common fields of a row; macros need other names than the fields they fill. */
#define ROW(key_, kind_, required_, summary_) .key = key_, .kind = kind_, .required = required_, .summary = summary_
#define COUNT(key_, required_, field_, summary_)                                       \
  {                                                                                    \
    ROW(key_, SL_PROPERTY_COUNT, required_, summary_), .offset = AT(sl_target, field_) \
  }
#define LIMIT(key_, required_, field_, summary_)                                                          \
  {                                                                                                       \
    ROW(key_, SL_PROPERTY_COUNT, required_, summary_), .offset = AT(sl_target, field_), .unlimited = true \
  }
#define FLAG(type_, key_, required_, field_, no_, yes_, summary_)                                         \
  {                                                                                                       \
    ROW(key_, SL_PROPERTY_FLAG, required_, summary_), .offset = AT(type_, field_), .words = { no_, yes_ } \
  }
#define BARE(key_, kind_, required_, summary_)          \
  {                                                     \
    ROW(key_, kind_, required_, summary_), .bare = true \
  }

static const struct sl_property target_properties[] = {
  { ROW("tick", SL_PROPERTY_FACT, true, "integer time base: ticks per nanosecond"), .offset = AT(sl_target, tick_ghz),
    .unit = "GHz" },
};

static const struct sl_property semaphore_properties[] = {
  LIMIT("count", true, sem.count, "semaphores of the core"),
  COUNT("reserved", false, sem.reserved, "of these, what the runtime keeps"),
  COUNT("width", true, sem.width, "bits of a value"),
  FLAG(sl_target, "compare", true, sem.is_signed, "unsigned", "signed", "how `>=` compares"),
  FLAG(sl_target, "wrap", true, sem.modular, "plain", "modular", "whether values may run around"),
};

static const struct sl_property event_properties[] = {
  { ROW("count", SL_PROPERTY_COUNT, true, "one-bit events of the core; 0 = none"),
    .offset = AT(sl_target, events.count), .also = AT(sl_target, events.unlimited), .unlimited = true },
  COUNT("reserved", false, events.reserved, "of these, what the runtime keeps"),
};

static const struct sl_property register_properties[] = {
  LIMIT("count", true, registers.count, "registers of each engine"),
  COUNT("reserved", false, registers.reserved, "of these, what the runtime keeps"),
  COUNT("width", true, registers.width, "bits of a register"),
};

static const struct sl_property slot_properties[] = {
  COUNT("bytes", true, slot.bytes, "size of one instruction slot, in bytes"),
  COUNT("waits", true, slot.waits, "waits on an ordinary slot"),
  COUNT("updates", true, slot.updates, "updates on an ordinary slot"),
  COUNT("carrier-waits", true, slot.carrier_waits, "waits on a wait-only slot"),
  COUNT("carrier-updates", true, slot.carrier_updates, "updates on a wait-only slot"),
  FLAG(sl_target, "shared-value", true, slot.shared_value, "no", "yes",
       "wait and update of a slot share one value: beside a wait, the update is by 1"),
  COUNT("register-op", true, slot.register_op, "slots of a register operation"),
  COUNT("branch", true, slot.branch, "slots of one compare-and-branch"),
  COUNT("loop-setup", true, slot.loop_setup, "slots before a loop, on each engine that walks it"),
  COUNT("loop-step", true, slot.loop_step, "slots of an iteration's control, on each engine"),
  COUNT("barrier-engine", true, slot.barrier_engine, "slots of a barrier on each engine"),
  COUNT("barrier-once", true, slot.barrier_once, "slots of a barrier in all, beside those"),
  COUNT("barrier-reset-once", true, slot.barrier_reset_once, "further slots in all when it resets"),
  COUNT("epilogue-engine", true, slot.epilogue_engine, "slots of the epilogue on each engine"),
  COUNT("epilogue-once", true, slot.epilogue_once, "slots of the epilogue in all, beside those"),
};

static const struct sl_property queue_properties[] = {
  FLAG(sl_target, "ordered", true, queue.ordered, "no", "yes", "a queue retires in order and orders its own transfers"),
  { ROW("default-trigger", SL_PROPERTY_NAME, false, "engine that triggers a queue declared without `via`"),
    .offset = AT(sl_target, queue.default_trigger) },
  COUNT("per-transfer", true, queue.per_transfer, "hardware updates that one transfer makes"),
  LIMIT("limit", true, queue.limit, "queues the runtime allows"),
  COUNT("classes", false, queue.classes, "classes of service that transfers can ask for; 1 when not given"),
};

static const struct sl_property engine_properties[] = {
  { ROW("ordinal", SL_PROPERTY_COUNT, true, "number in encodings"), .offset = AT(sl_engine_desc, ordinal) },
  { ROW("clock", SL_PROPERTY_FACT, true, "clock of the engine"), .offset = AT(sl_engine_desc, clock_ghz),
    .unit = "GHz" },
  { ROW("ticks", SL_PROPERTY_FACT, true, "ticks per cycle"), .offset = AT(sl_engine_desc, ticks_per_cycle) },
  FLAG(sl_engine_desc, "interlock", true, interlock, "no", "yes", "orders dependent instructions of its own stream"),
  FLAG(sl_engine_desc, "trigger", true, may_trigger, "no", "yes", "may own DMA queues"),
  { ROW("reads", SL_PROPERTY_SPACES, true, "spaces its instructions can read"), .offset = AT(sl_engine_desc, reads),
    .also = AT(sl_engine_desc, reads_all) },
  { ROW("writes", SL_PROPERTY_SPACES, true, "spaces its instructions can write"), .offset = AT(sl_engine_desc, writes),
    .also = AT(sl_engine_desc, writes_all) },
};

static const struct sl_property space_properties[] = {
  { ROW("class", SL_PROPERTY_NAME, true, "memory class: spaces of different classes never overlap"), .bare = true,
    .offset = AT(sl_space_desc, memory_class) },
  { ROW("partitions", SL_PROPERTY_COUNT, true, "partitions; 0 = no partition dimension"),
    .offset = AT(sl_space_desc, partitions) },
  { ROW("bytes", SL_PROPERTY_SIZE, true, "size of a partition, or of the space when it has none"),
    .offset = AT(sl_space_desc, bytes), .unlimited = true },
  { ROW("usable", SL_PROPERTY_SIZE, false, "of these, what the runtime leaves; all when not given"),
    .offset = AT(sl_space_desc, usable) },
  { ROW("bank", SL_PROPERTY_SIZE, false, "size of a bank"), .offset = AT(sl_space_desc, bank_bytes) },
  FLAG(sl_space_desc, "partition-start", false, partition_start_rule, "any", "aligned",
       "aligned: above 64 partitions start at 0, 33 to 64 at 0 or 64, up to 32 at a multiple of 32"),
};

static const struct sl_property opcode_properties[] = {
  BARE("on", SL_PROPERTY_PLACE, true, "engines, or queues of trigger engines, that execute it"),
  BARE("dst", SL_PROPERTY_OPERANDS, true, "number of destinations and their spaces"),
  BARE("src", SL_PROPERTY_OPERANDS, true, "number of sources and their spaces"),
  BARE("shape", SL_PROPERTY_SHAPE, true, "how the shapes must match"),
  { ROW("one-bank", SL_PROPERTY_FLAG, false, "a destination lies within one bank"), .bare = true,
    .words = { "no", "yes" }, .offset = AT(sl_opcode_desc, dst_one_bank) },
  { ROW("index", SL_PROPERTY_COUNT, false, "the source, counted from 1, that says where the others go; 0 = none"),
    .bare = true, .offset = AT(sl_opcode_desc, index_source) },
  BARE("attrs", SL_PROPERTY_ATTRS, false, "attributes it understands"),
  { ROW("slots", SL_PROPERTY_COUNT, true, "instruction slots"), .offset = AT(sl_opcode_desc, slots) },
  { ROW("interval", SL_PROPERTY_FORMULA, true, "time until the stream may start its next operation"),
    .offset = AT(sl_opcode_desc, interval), .also = AT(sl_opcode_desc, interval_unit) },
  { ROW("latency", SL_PROPERTY_FORMULA, true, "from there until the result is visible"),
    .offset = AT(sl_opcode_desc, latency), .also = AT(sl_opcode_desc, latency_unit) },
};

#define SECTION(name, properties, required)                            \
  {                                                                    \
    name, properties, sizeof properties / sizeof *properties, required \
  }
const struct sl_section_info sl_sections[SL_SECTION_COUNT] = {
  [SL_SECTION_TARGET] = SECTION("target", target_properties, true),
  [SL_SECTION_SEMAPHORES] = SECTION("semaphores", semaphore_properties, true),
  [SL_SECTION_EVENTS] = SECTION("events", event_properties, false),
  [SL_SECTION_REGISTERS] = SECTION("registers", register_properties, true),
  [SL_SECTION_SLOTS] = SECTION("slots", slot_properties, true),
  [SL_SECTION_QUEUES] = SECTION("queues", queue_properties, true),
  [SL_SECTION_ENGINE] = SECTION("engine", engine_properties, false),
  [SL_SECTION_SPACE] = SECTION("space", space_properties, false),
  [SL_SECTION_OPCODE] = SECTION("opcode", opcode_properties, false),
};

_Static_assert(sizeof slot_properties / sizeof *slot_properties <= SL_STATEMENT_MAX, "room for every statement");

const struct sl_standard_param sl_standard_params[] = {
  { "register_op", "ns", "reg_set, reg_add and the other register operations" },
  { "register_load", "ns", "reg_load, from issue until the value is there" },
  { "branch", "ns", "one compare-and-branch" },
  { "semaphore_set", "ns", "sem_set" },
  { "dispatch", "ns", "handing an instruction to the datapath; all that a nop costs" },
  { "semaphore_visibility", "ns", "from an update until a wait on another engine sees it" },
  { "drain", "ns", "drain, after the last work has retired" },
  { "handshake_arrive", "ns", "barrier: announcing arrival" },
  { "handshake_release", "ns", "barrier: leaving, after the release is visible" },
  { "range_clear", "ns", "barrier: clearing the semaphores" },
  { "run_ahead", "count", "datapath instructions that control may run ahead of" },
};
const uint32_t sl_standard_param_count = sizeof sl_standard_params / sizeof *sl_standard_params;

const char *const sl_param_units[] = { "ns", "cycles", "GHz", "B", "B/ns", "count", "factor" };
const uint32_t sl_param_unit_count = sizeof sl_param_units / sizeof *sl_param_units;
