/* schema.h: the properties a target description can state, as tables. They drive the reader, the checks and both forms of
 * `sluice targets NAME`; docs/targets.md explains each.
 */
#ifndef SL_TARGET_SCHEMA_H
#define SL_TARGET_SCHEMA_H

#include "target/target.h"

/* The first six stand at most once: sl_target.about has a row for each. */
enum sl_section {
  SL_SECTION_TARGET,
  SL_SECTION_SEMAPHORES,
  SL_SECTION_EVENTS,
  SL_SECTION_REGISTERS,
  SL_SECTION_SLOTS,
  SL_SECTION_QUEUES,
  SL_SECTION_ENGINE,
  SL_SECTION_SPACE,
  SL_SECTION_OPCODE,
  SL_SECTION_COUNT
};

enum sl_property_kind {
  SL_PROPERTY_FACT,   /* number with a fixed unit -> struct sl_fact */
  SL_PROPERTY_COUNT,  /* whole number -> uint32_t */
  SL_PROPERTY_SIZE,   /* whole number of B, KiB, MiB, GiB -> uint64_t */
  SL_PROPERTY_FLAG,   /* one of two words -> bool */
  SL_PROPERTY_NAME,   /* word -> const char * */
  SL_PROPERTY_SPACES, /* names of spaces, `any` or `none` -> uint64_t, and bool for `any` */
  /* of opcodes only */
  SL_PROPERTY_PLACE,    /* ("engines" | "queues" | "both") ("all" | names) */
  SL_PROPERTY_OPERANDS, /* [range] ["in" ("any" | names)], dst or src */
  SL_PROPERTY_SHAPE,
  SL_PROPERTY_ATTRS,
  SL_PROPERTY_FORMULA
};

struct sl_property {
  const char *key;
  uint8_t kind;
  bool required;        /* in every item of the section (of a target: after `like`) */
  bool unlimited;       /* COUNT, SIZE: may be `unlimited`, kept as 0; a written 0 is an error unless `also` is set */
  bool bare;            /* says itself how far it can be trusted: no provenance is asked for */
  uint32_t offset;      /* into the item, or into sl_target for sections that stand once */
  uint32_t also;        /* offset of a second place: the bool of `unlimited`, `any`; 0 = none */
  const char *unit;     /* FACT: the unit */
  const char *words[2]; /* FLAG: for false, for true */
  const char *summary;
};

struct sl_section_info {
  const char *name;
  const struct sl_property *properties;
  uint32_t count;
  bool required; /* must stand in a target */
};

extern const struct sl_section_info sl_sections[SL_SECTION_COUNT];

/* A parameter that the operations of the language itself cost, which every target must give. */
struct sl_standard_param {
  const char *name, *unit, *summary;
};
extern const struct sl_standard_param sl_standard_params[];
extern const uint32_t sl_standard_param_count;

/* Units of parameters. */
extern const char *const sl_param_units[];
extern const uint32_t sl_param_unit_count;

/* Names of enum sl_shape_rule. */
extern const char *const sl_shape_text[3];

#endif
