/* footprint.h: what instructions read and write, as boxes of elements and as bytes.
 *
 * An access of a buffer is an interval of elements per dimension, its first element a form (affine.h). Two accesses of one
 * buffer overlap when they do in every dimension. Accesses of two buffers that share memory (placed at overlapping
 * addresses) are compared as partition interval and hull of bytes; two buffers under `alias` are taken to overlap
 * everywhere.
 *
 * For finding candidates an access also has a place: the sum of the terms that vary, and around it the interval
 * [min, max) of bytes within a partition, and of partitions. Accesses of one memory with equal sums have fixed places to
 * each other.
 */
#ifndef SL_DEPS_FOOTPRINT_H
#define SL_DEPS_FOOTPRINT_H

#include "deps/affine.h"
#include "target/target.h"

struct sl_interval {
  int64_t min, max; /* [min, max); SL_NO_MIN, SL_NO_MAX: no end */
};

/* Everywhere an interval can be that moves by something within a range. */
static inline struct sl_interval sl_interval_widen(struct sl_interval interval, struct sl_range by)
{
  return (struct sl_interval){ sl_add_ends(interval.min, by.min, SL_NO_MIN),
                               sl_add_ends(interval.max, by.max, SL_NO_MAX) };
}

/* One dimension of an access: `length` elements from `first` on; anywhere in the dimension when first is not known, and of
 * unknown length when length is 0. */
struct sl_access_dim {
  sl_form first;
  int64_t length; /* 0 = not known */
};

enum {
  SL_FOOTPRINT_READS = 1,
  SL_FOOTPRINT_WRITES = 2,
  SL_FOOTPRINT_DENSE = 4,     /* a box without holes: it covers its whole place */
  SL_FOOTPRINT_EXACT = 8,     /* the place is the access, seen from inside all its loops */
  SL_FOOTPRINT_ANYWHERE = 16, /* some index is `?`, a register, or cannot be told */
  SL_FOOTPRINT_STALLS = 32    /* of a load: its engine stops for it */
};

/* What is asked again and again of accesses all over a large kernel stands first. */
struct sl_footprint {
  sl_index stmt, block; /* block: where it stands */
  uint32_t position;    /* number of the statement in the text, from 1 */
  uint32_t stream;      /* it retires on */
  uint32_t met;         /* for whoever goes through accesses: the last time it came by */
  /* The place, as seen from the loops that are still open: `copies` times, `stride` bytes apart (a rotation whose loop has
   * been left). */
  sl_sum varying;
  uint16_t operand;
  uint8_t flags, copies;
  uint32_t memory; /* number of what may overlap */
  struct sl_interval place;
  int32_t place_row_min, place_row_max;
  int64_t stride;
  sl_index buffer;
  uint32_t first_dim; /* into dims, one per dimension of the buffer; SL_NO_DIMS: its bytes and rows tell all */
  /* As bytes within a partition and as partitions, for accesses of other buffers: a hull. */
  sl_sum byte_sum, row_sum;
  struct sl_interval bytes; /* [min, max) around the sum; no end: not known */
  int32_t row_min, row_max; /* the same for partitions; INT32_MAX: no end */
};
enum { SL_NO_DIMS = 0xffffffffu };

/* Iterations of a loop per visit: least 0 and most SL_NO_MAX when nothing is known before the run. */
struct sl_trips {
  int64_t least, most;
  sl_form count; /* where the step is 1: what they are when they are not 0 */
};

struct sl_memory_buffer {
  uint32_t memory;
  uint32_t element_bytes;
  int space;         /* of the target */
  int partition_dim; /* -1 = none */
  int64_t partition_start;
  int64_t address; /* 0 when not placed */
  int64_t bytes;   /* of one partition, or in all; -1 = not known */
  bool is_placed, is_aliased;
  uint32_t first_stride; /* into strides, one per dimension: bytes; 0 of the partition dimension, -1 = not known */
  uint32_t first_size;   /* into sizes: elements; -1 = not known */
};

struct sl_footprints {
  sl_heap *heap;
  const struct sl_kernel *kernel;
  const struct sl_target *target;
  struct sl_forms forms;
  sl_vec(struct sl_memory_buffer) buffers; /* as the kernel's */
  sl_vec(int64_t) strides, sizes;
  sl_vec(struct sl_trips) trips; /* by block, of loops entered */
  sl_map buffer_of;              /* name -> buffer */
  sl_vec(struct sl_access_dim) dims;
  sl_vec(struct sl_footprint) accesses; /* in text order; of one instruction in the order of its operands */
};

/* Buffers and memories. O(buffers log buffers). */
void sl_footprints_init(struct sl_footprints *footprints, sl_heap *heap, const sl_program *program,
                        const struct sl_kernel *kernel, const struct sl_target *target);
/* Appends the accesses of an instruction, number `position` in the text, indices by what loop variables stand for now.
 * O(operands). */
void sl_footprints_add(struct sl_footprints *footprints, sl_index stmt, uint32_t position);
/* Enters a loop: its variable stands for its iterations from now on. */
struct sl_trips sl_footprints_enter(struct sl_footprints *footprints, sl_index stmt);
/* Of a loop entered, by its body: at most; and always, SL_NO_MAX when that is not known. */
static inline int64_t sl_footprint_trips(const struct sl_footprints *footprints, sl_index body)
{
  return footprints->trips.data[body].most;
}
static inline int64_t sl_footprint_exact_trips(const struct sl_footprints *footprints, sl_index body)
{
  struct sl_trips trips = footprints->trips.data[body];
  return trips.least == trips.most ? trips.most : SL_NO_MAX;
}
/* Sees an access from outside a loop: its place becomes what it covers in all iterations. */
void sl_footprint_leave(struct sl_footprints *footprints, struct sl_footprint *access, sl_index body);

/* Copy number `copy` of the place. */
static inline struct sl_interval sl_footprint_place(const struct sl_footprint *access, uint32_t copy)
{
  int64_t by = (int64_t)copy * access->stride;
  return (struct sl_interval){ access->place.min + by, access->place.max + by };
}

#endif
