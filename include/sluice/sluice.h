/* sluice/sluice.h: the whole public API. */
#ifndef SLUICE_SLUICE_H
#define SLUICE_SLUICE_H

#include <sluice/base.h>
#include <sluice/builder.h>
#include <sluice/check.h>
#include <sluice/deps.h>
#include <sluice/diag.h>
#include <sluice/explain.h>
#include <sluice/program.h>
#include <sluice/sim.h>
#include <sluice/sync.h>
#include <sluice/target.h>
#include <sluice/view.h>

#endif
