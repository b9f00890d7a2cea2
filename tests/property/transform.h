/* transform.h: changes of a kernel that leave its instances, their order and what they touch as they are.
 */
#ifndef SL_TESTS_PROPERTY_TRANSFORM_H
#define SL_TESTS_PROPERTY_TRANSFORM_H

#include "ir/program.h"

enum sl_transform {
  SL_TRANSFORM_RENAME, /* parameters, variables, buffers, labels */
  SL_TRANSFORM_MOVE,   /* buffers lie elsewhere; what overlapped still does, and nothing else */
  SL_TRANSFORM_SPLIT,  /* an access in two, one beside the other */
  SL_TRANSFORM_UNROLL, /* a loop by two */
  SL_TRANSFORMS
};
extern const char *const sl_transform_names[SL_TRANSFORMS];

/* Changes the kernel, which is in the form its text has (copies not expanded); `random` decides where. False when
 * there is nothing to change. The program should be printed and read again. */
bool sl_transform(sl_program *program, enum sl_transform transform, uint64_t random);

#endif
