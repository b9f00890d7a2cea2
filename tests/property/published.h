/* published.h: whether every dependence of a kernel is one of the published allocatable cases (arXiv 2608.13757, 5.2, and the
 * forward one at distance 1 directly below): the closed-form strategies must accept such a kernel. Written from the statement of
 * the cases alone; shares no code with src/sync or src/deps.
 */
#ifndef SLUICE_TESTS_PROPERTY_PUBLISHED_H
#define SLUICE_TESTS_PROPERTY_PUBLISHED_H

#include "ir/program.h"

bool sl_all_published(const struct sl_kernel *kernel);

#endif
