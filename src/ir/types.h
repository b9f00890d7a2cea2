/* types.h: element types of buffers, the same on every target. */
#ifndef SL_IR_TYPES_H
#define SL_IR_TYPES_H

#include <stddef.h>
#include <stdint.h>

struct sl_element_type {
  const char *name; /* as written: "bf16" */
  uint32_t bytes;   /* of one element in memory */
  const char *summary;
};

extern const struct sl_element_type sl_element_types[];
extern const size_t sl_element_type_count;

/* The row of that name, or NULL. */
const struct sl_element_type *sl_element_type_find(const char *name);

#endif
