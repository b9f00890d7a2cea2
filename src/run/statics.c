/* statics.c: see statics.h. */
#include "run/statics.h"

#include <string.h>

#include "ir/eval.h"

void sl_static_set(struct sl_kernel *kernel, uint32_t param, int64_t value)
{
  kernel->params.data[param].value = sl_expr_int(kernel, value, SL_NO_LOC);
}

/* The number of the kernel's parameter of that name, or UINT32_MAX. */
static uint32_t param_of_name(const sl_program *program, const struct sl_kernel *kernel, const char *text)
{
  sl_name name = sl_names_find(&program->names, text, strlen(text));
  for (uint32_t i = 0; i < kernel->params.len; i++)
    if (kernel->params.data[i].name == name)
      return i;
  return UINT32_MAX;
}

void sl_statics_agree(sl_heap *scratch, const sl_program *program, const struct sl_kernel *kernel,
                      const sl_program *other, struct sl_kernel *giving)
{
  struct sl_param_values values;
  sl_param_values_init(&values, scratch, kernel, true);
  for (uint32_t i = 0; i < giving->params.len; i++) {
    uint32_t own = param_of_name(program, kernel, sl_text(other, giving->params.data[i].name));
    if (giving->params.data[i].is_static && own != UINT32_MAX && values.values.data[own].state == SL_CONST_KNOWN)
      sl_static_set(giving, i, values.values.data[own].value);
  }
  sl_param_values_free(&values, scratch);
}
