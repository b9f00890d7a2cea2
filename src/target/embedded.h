/* embedded.h: the machine descriptions of targets/ as text inside the binary. The build makes the array from the files
 * (cmake/embed.cmake): trn1, trn2, generic and generic-weak first, in this order, then any others by name.
 */
#ifndef SL_TARGET_EMBEDDED_H
#define SL_TARGET_EMBEDDED_H

struct sl_embedded_target {
  const char *name; /* of the file, without .target */
  const char *text; /* NUL-terminated */
};

extern const struct sl_embedded_target sl_embedded_targets[];
extern const unsigned sl_embedded_target_count;

#endif
