/* relation.h: a relation between the instances of a run, as rows of bits: which earlier ones belong to each. Test
 * support: allocation failure aborts.
 */
#ifndef SL_TESTS_ORACLE_RELATION_H
#define SL_TESTS_ORACLE_RELATION_H

#include <stdlib.h>

#include "oracle/walk.h"

struct sl_relation {
  uint32_t count, words; /* rows; words of a row */
  uint64_t *bits;
};

static inline struct sl_relation sl_relation_new(uint32_t count)
{
  struct sl_relation relation = { count, (count + 63) / 64, NULL };
  relation.bits = sl_oracle_calloc((size_t)count * relation.words, sizeof *relation.bits);
  return relation;
}

static inline void sl_relation_free(struct sl_relation *relation)
{
  free(relation->bits);
  relation->bits = NULL;
}

static inline uint64_t *sl_relation_row(const struct sl_relation *relation, uint32_t later)
{
  return relation->bits + (size_t)later * relation->words;
}

static inline void sl_relation_add(struct sl_relation *relation, uint32_t earlier, uint32_t later)
{
  sl_relation_row(relation, later)[earlier / 64] |= (uint64_t)1 << (earlier % 64);
}

static inline bool sl_relation_has(const struct sl_relation *relation, uint32_t earlier, uint32_t later)
{
  return sl_relation_row(relation, later)[earlier / 64] >> (earlier % 64) & 1;
}

/* Adds the bits of one row to another, which may belong to another relation of as many instances. */
static inline void sl_row_join(uint64_t *to, const uint64_t *from, uint32_t words)
{
  for (uint32_t w = 0; w < words; w++)
    to[w] |= from[w];
}

/* Makes the relation transitive. Every pair must go forward: the earlier one has the smaller number. */
static inline void sl_relation_close(struct sl_relation *relation)
{
  for (uint32_t later = 0; later < relation->count; later++) {
    for (uint32_t earlier = later; earlier-- > 0;) {
      if (sl_relation_has(relation, earlier, later))
        sl_row_join(sl_relation_row(relation, later), sl_relation_row(relation, earlier), relation->words);
    }
  }
}

#endif
