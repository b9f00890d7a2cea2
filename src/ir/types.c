/* types.c: the table of element types; see types.h. */
#include "ir/types.h"

#include <string.h>

/* tf32 keeps 19 bits but is stored in a 32-bit word. f8e4 is the 8-bit float with 4 exponent bits, and so on. */
const struct sl_element_type sl_element_types[] = {
  { "f64", 8, "64-bit float" },
  { "f32", 4, "32-bit float" },
  { "tf32", 4, "float of 19 bits in a 32-bit word" },
  { "f16", 2, "16-bit float, 5 exponent bits" },
  { "bf16", 2, "16-bit float, 8 exponent bits" },
  { "f8e3", 1, "8-bit float, 3 exponent bits" },
  { "f8e4", 1, "8-bit float, 4 exponent bits" },
  { "f8e5", 1, "8-bit float, 5 exponent bits" },
  { "i64", 8, "64-bit signed integer" },
  { "u64", 8, "64-bit unsigned integer" },
  { "i32", 4, "32-bit signed integer" },
  { "u32", 4, "32-bit unsigned integer" },
  { "i16", 2, "16-bit signed integer" },
  { "u16", 2, "16-bit unsigned integer" },
  { "i8", 1, "8-bit signed integer" },
  { "u8", 1, "8-bit unsigned integer" },
};
const size_t sl_element_type_count = sizeof sl_element_types / sizeof *sl_element_types;

const struct sl_element_type *sl_element_type_find(const char *name)
{
  for (size_t i = 0; i < sl_element_type_count; i++)
    if (strcmp(sl_element_types[i].name, name) == 0)
      return &sl_element_types[i];
  return NULL;
}
