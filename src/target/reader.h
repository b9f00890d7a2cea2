/* reader.h: what the files that read target descriptions share. read.c has the blocks, values.c the properties in them,
 * check.c what must hold of a target as a whole.
 */
#ifndef SL_TARGET_READER_H
#define SL_TARGET_READER_H

#include "target/scan.h"
#include "target/schema.h"

struct sl_reader {
  sl_heap *heap; /* of the set: names and arrays of targets */
  sl_report *report;
  struct sl_scan scan;
  const sluice_targets *set; /* where `like` looks, after the targets made so far */
  sl_vec(struct sl_target *) made;
  struct sl_target *target; /* being read */
  sl_loc target_loc;
  sl_loc section_loc[SL_SECTION_ENGINE]; /* of the sections that stand once; SL_NO_LOC when not in this text */
  sl_loc rewriting;                      /* start of the block of `opcode *` being read, or SL_NO_LOC */
};

/* read.c: every target of a text. Errors are reported; then `made` is not to be used. */
void sl_target_read(struct sl_reader *reader);

/* values.c. All report errors; false = the rest of the line is to be skipped. */
bool sl_read_property(struct sl_reader *reader, const struct sl_property *property, void *item,
                      struct sl_statement *about);
/* `documented T2 "note"`; the provenance may be missing when optional. */
bool sl_read_statement(struct sl_reader *reader, struct sl_statement *statement, bool optional);
/* A formula with its unit, as a new string. */
bool sl_read_formula(struct sl_reader *reader, const char **formula, uint8_t *unit, sl_loc *loc);
/* The end of a line, or a closing brace ahead. */
bool sl_read_line_end(struct sl_reader *reader);
/* A copy of the current token, which must be a word or string (`what` names it in the error); NULL otherwise. */
const char *sl_read_word(struct sl_reader *reader, const char *what);
const char *sl_read_string(struct sl_reader *reader);

__attribute__((format(printf, 3, 4))) bool sl_reader_fail(struct sl_reader *reader, sl_loc loc, const char *format,
                                                          ...);
/* `what` 'name' is unknown, with the closest known one. */
bool sl_reader_unknown(struct sl_reader *reader, sl_loc loc, const char *what, const char *name,
                       const char *const *known, size_t count);
bool sl_reader_unknown_engine(struct sl_reader *reader, sl_loc loc, const char *name);
bool sl_reader_unknown_space(struct sl_reader *reader, sl_loc loc, const char *name);

/* check.c: resolves `all` and `any`, compiles the formulas, and reports what is missing or contradicts itself. */
void sl_target_check(struct sl_reader *reader);

#endif
