/* describe.h: what describe.c (text) and describe_json.c share. */
#ifndef SL_TARGET_DESCRIBE_H
#define SL_TARGET_DESCRIBE_H

#include "target/schema.h"

/* A malloc'ed JSON text, ending with a newline: schema "sluice-target-1" of docs/targets.md. SLUICE_OK or
 * SLUICE_E_NO_MEMORY. */
int sl_target_describe_json(char **text, const struct sl_target *target);

#endif
