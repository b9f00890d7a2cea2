/* target.h: machine descriptions as the library's inside sees them. Read from text (targets/NAME.target), nothing about a
 * machine is written in code: whoever needs a property asks the description, never the name.
 */
#ifndef SL_TARGET_TARGET_H
#define SL_TARGET_TARGET_H

#include <sluice/target.h>

#include "base/names.h"
#include "base/report.h"
#include "base/vec.h"

/* How far a number can be trusted. */
enum sl_provenance { SL_DOCUMENTED, SL_DERIVED, SL_CALIBRATED, SL_ASSUMED };
extern const char *const sl_provenance_text[4]; /* "documented", ... */

/* What a description says beside the value: one per property of an item, in the order of the property tables (schema.h). */
enum { SL_STATEMENT_MAX = 16 };
enum sl_stated { SL_UNSTATED, SL_INHERITED /* from the target named by `like` */, SL_STATED };
struct sl_statement {
  uint8_t stated;     /* enum sl_stated */
  uint8_t provenance; /* enum sl_provenance */
  sl_loc loc;         /* in the text being read; SL_NO_LOC when inherited */
  const char *source; /* tag, "" when none is given */
  const char *note;   /* "" when none is given */
};

/* A number with its provenance and source tag. */
struct sl_fact {
  double value;
  uint8_t provenance;
  const char *source; /* e.g. "T2", "DRV"; "" when assumed */
};

struct sl_engine_desc {
  sl_loc loc;       /* of its block in the text being read; SL_NO_LOC when inherited unchanged */
  const char *name; /* "pe" */
  const char *summary;
  uint32_t ordinal;
  struct sl_fact clock_ghz;
  struct sl_fact ticks_per_cycle;
  bool interlock;   /* orders dependent instructions of its own stream: they need no wait */
  bool may_trigger; /* may own DMA queues */
  uint64_t reads,
      writes; /* bit i: space i is reachable by its sources / destinations (queues it triggers: by opcode alone) */
  bool reads_all, writes_all; /* `any`: also of spaces that are declared later */
  struct sl_statement about[SL_STATEMENT_MAX];
};

struct sl_space_desc {
  sl_loc loc;                 /* as of engines */
  const char *name, *summary; /* "sbuf", "psum", "hbm" */
  const char *memory_class;
  uint32_t partitions;       /* 0: the space has no partition dimension */
  uint64_t bytes;            /* per partition, or in all when partitions is 0; 0 = unlimited */
  uint64_t usable;           /* of bytes, after what the runtime reserves */
  uint64_t bank_bytes;       /* 0 = not banked */
  bool partition_start_rule; /* >64 partitions: start 0; 33..64: 0/64; <=32: 0/32/64/96 */
  struct sl_statement about[SL_STATEMENT_MAX];
};

enum sl_shape_rule {
  SL_SHAPE_ANY,
  SL_SHAPE_ELEMENTWISE, /* up to broadcasting */
  SL_SHAPE_SAME_COUNT   /* as many elements in any shape, or elementwise: a copy may also broadcast */
};

/* An opcode of the target. */
struct sl_opcode_desc {
  sl_loc loc; /* as of engines */
  const char *name, *summary;
  uint64_t engines; /* bit i: legal on engine i; for queue operations: on queues triggered by engine i */
  bool on_engine, on_queue;
  int8_t dst_min, dst_max, src_min, src_max; /* max -1 = any number */
  uint64_t dst_spaces, src_spaces;           /* bit i: space i is reachable by destinations / sources */
  bool dst_one_bank;                         /* a destination must lie within one bank (matmul) */
  uint8_t shape;
  uint32_t index_source;                        /* the source that says where the others go, from 1; 0 = none */
  uint32_t slots;                               /* instruction slots of one such operation */
  const char *interval;                         /* cost formula as written; see cost.h */
  const char *latency;                          /* completion beyond the interval */
  uint8_t interval_unit, latency_unit;          /* enum sl_cost_unit: cycles of the engine, or nanoseconds */
  struct sl_cost *interval_cost, *latency_cost; /* the same, compiled; never NULL in a target of a set */
  sl_vec(const char *) attrs; /* attributes it understands, beside those every operation has (`cycles`) */
  uint8_t provenance;         /* of engines, operands and spaces; the formulas and slots have theirs in `about` */
  const char *source;
  bool engines_all, dst_all, src_all; /* `all`, `any`: also of what is declared later */
  struct sl_statement about[SL_STATEMENT_MAX];
};

/* A named cost parameter: `param dma_start 1300 ns calibrated FIT`. */
struct sl_cost_param {
  const char *name, *unit, *summary;
  struct sl_fact fact;
  uint8_t stated; /* enum sl_stated */
};

struct sl_cost; /* cost.h */

/* What the result of a formula is: `cycles`, `ns`, `value` (no unit of time). */
enum sl_cost_unit { SL_COST_VALUE, SL_COST_CYCLES, SL_COST_NS };
extern const char *const sl_cost_unit_text[3];

/* A named part of formulas: `define dma_rate = ... value derived AGT`. It may name parameters and earlier defines. */
struct sl_define {
  const char *name, *formula, *source, *note;
  uint8_t unit, provenance;
  uint8_t stated;       /* enum sl_stated */
  sl_loc loc;           /* of the formula */
  struct sl_cost *cost; /* compiled; NULL before, and when it is wrong */
};

/* What a source tag stands for: `source T2 "..."`. */
struct sl_source_tag {
  const char *tag, *title;
  uint8_t stated; /* enum sl_stated */
};

/* Two engines that cannot touch a space at the same time: a structural hazard, for the cycle model. */
struct sl_exclusion {
  uint32_t a, b, space; /* engines, space */
  bool same_bank;       /* only while both touch one bank */
  uint8_t provenance;
  const char *source, *note;
  uint8_t stated; /* enum sl_stated */
};

struct sl_target {
  const char *name, *summary;
  const char *base;        /* the target named by `like`, or NULL */
  struct sl_fact tick_ghz; /* ticks per ns: the integer time base */
  sl_vec(struct sl_engine_desc) engines;
  sl_vec(struct sl_space_desc) spaces;
  sl_vec(struct sl_opcode_desc) opcodes;
  sl_vec(struct sl_cost_param) params;
  sl_vec(struct sl_define) defines;
  sl_vec(struct sl_source_tag) sources;
  sl_vec(struct sl_exclusion) exclusions;
  sl_names engine_names, space_names, opcode_names; /* id i is item i - 1: lookup in O(length) */
  struct sl_statement about[6][SL_STATEMENT_MAX];   /* of the sections that stand once: schema.h, enum sl_section */
  struct {
    uint32_t count, reserved; /* count 0 = unlimited; usable = count - reserved */
    uint32_t width;           /* bits */
    bool is_signed;           /* compare mode; default unsigned */
    bool modular;             /* wraps around: compare is modular; else plain */
  } sem;
  struct {
    uint32_t count, reserved; /* 0 = no events at all, unless events_unlimited */
    bool unlimited;
  } events;
  struct {
    uint32_t count, reserved; /* per engine; count 0 = unlimited */
    uint32_t width;           /* bits */
  } registers;
  struct {
    uint32_t waits, updates;                 /* on an ordinary slot */
    uint32_t carrier_waits, carrier_updates; /* on a wait-only slot (event-semaphore slot) */
    bool shared_value;                       /* wait and update share one value: with a wait, the update must be by 1 */
    uint32_t bytes;                          /* of one slot */
    uint32_t register_op, branch;            /* slots of a register operation, of one compare-and-branch */
    uint32_t loop_setup, loop_step;          /* slots per engine: before the loop, and per iteration's control */
    uint32_t barrier_engine, barrier_once, barrier_reset_once; /* slots of a barrier: per engine, and in all */
    uint32_t epilogue_engine, epilogue_once;
  } slot;
  struct {
    bool ordered; /* a queue retires in order and orders its own transfers (FIFO ring): no wait inside it */
    const char *default_trigger; /* engine that triggers a queue declared without `via`; NULL = must be said */
    uint32_t per_transfer; /* hardware updates per transfer (16 on Trainium), for the split-completion test mode */
    uint32_t limit;        /* queues the runtime allows; 0 = unlimited */
    uint32_t classes;      /* of service; 0 = not given, one */
  } queue;
};

struct sluice_targets {
  sl_heap heap;
  sl_guard guard;
  sl_vec(struct sl_target *) targets;
};

const struct sl_target *sl_target_find(const sluice_targets *targets, const char *name);
/* Index into engines / spaces / opcodes, or -1. */
int sl_target_engine(const struct sl_target *target, const char *name);
int sl_target_space(const struct sl_target *target, const char *name);
int sl_target_opcode(const struct sl_target *target, const char *name);
int sl_target_param_index(const struct sl_target *target, const char *name);
/* The value of a cost parameter, or `otherwise`. */
double sl_target_param(const struct sl_target *target, const char *name, double otherwise);

/* Usable semaphores / registers of one engine; UINT32_MAX when unlimited. */
static inline uint32_t sl_target_usable_sems(const struct sl_target *target)
{
  return target->sem.count ? target->sem.count - target->sem.reserved : UINT32_MAX;
}
static inline uint32_t sl_target_usable_registers(const struct sl_target *target)
{
  return target->registers.count ? target->registers.count - target->registers.reserved : UINT32_MAX;
}

/* The largest number of so many bits; a sign takes one of them. */
static inline uint64_t sl_largest_value(uint32_t width, bool is_signed)
{
  uint32_t bits = is_signed && width > 0 ? width - 1 : width;
  return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}
/* How far a semaphore counts. */
static inline uint64_t sl_target_largest_sem(const struct sl_target *target)
{
  return sl_largest_value(target->sem.width, target->sem.is_signed);
}
/* Whether `wait s >= threshold` opens at a value. Machines that execute kernels count with 32 bits, so a counter that is
 * wider does not run around in them. */
static inline bool sl_target_sem_reached(const struct sl_target *target, uint32_t value, uint32_t threshold)
{
  if (target->sem.modular) {
    uint32_t unused = target->sem.width < 32 ? 32 - target->sem.width : 0;
    return (int32_t)((value - threshold) << unused) >= 0;
  }
  return target->sem.is_signed ? (int32_t)value >= (int32_t)threshold : value >= threshold;
}

#endif
