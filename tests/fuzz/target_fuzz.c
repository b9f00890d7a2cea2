/* target_fuzz.c: any bytes to the reader of target descriptions, beside the built-in targets. It must end, report an error or
 * add targets; an added target must describe itself, as text and as JSON that can be read, and its formulas must give costs
 * for any operands.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "target/cost.h"

#include "fuzz.h"

static void check_description(const sluice_targets *targets, const char *name)
{
  char *text;
  if (sluice_targets_describe(&text, targets, name, false) != SLUICE_OK)
    abort();
  sluice_string_free(text);
  int status = sluice_targets_describe(&text, targets, name, true);
  json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  if (status != SLUICE_OK || !root)
    abort();
  json_decref(root);
  sluice_string_free(text);
}

static void check_cost(double cost)
{
  if (!(cost >= 0 && cost <= 1e150))
    abort();
}

static void check_costs(const struct sl_target *target)
{
  static const double values[] = { 0, 1, 1e-300, 1e300, -1e300, 511.5 };
  for (uint32_t i = 0; i < target->opcodes.len; i++)
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
      struct sl_cost_env env;
      sl_cost_env_init(&env, i % target->engines.len, NULL, 0);
      for (int k = 0; k < SL_COST_VARIABLE_COUNT; k++)
        env.variables[k] = values[(v + (size_t)k) % (sizeof values / sizeof *values)];
      check_cost(sl_cost_interval(target, &target->opcodes.data[i], &env));
      check_cost(sl_cost_latency(target, &target->opcodes.data[i], &env));
    }
}

/* Reading the built-in targets costs more than most inputs: a set is used until an input changed it, or has left a lot of
 * rubbish in it.
 */
static sluice_targets *take_targets(bool fresh)
{
  static sluice_targets *targets;
  static unsigned uses;
  if (fresh || ++uses % 100 == 0) {
    sluice_targets_free(targets);
    targets = NULL;
  }
  if (!targets && sluice_targets_new(&targets) != SLUICE_OK)
    abort();
  return targets;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  size_t errors = 0;
  sluice_sink sink = { count_error, &errors };
  sluice_targets *targets = take_targets(false);
  size_t before = sluice_targets_count(targets);
  int status = sluice_targets_load(targets, "fuzz", (const char *)data, size, &sink);
  if (status == SLUICE_OK) {
    for (size_t i = 0; i < sluice_targets_count(targets); i++) {
      check_costs(targets->targets.data[i]);
      if (i >= before)
        check_description(targets, sluice_targets_name(targets, i));
    }
    take_targets(true);
  } else if (status != SLUICE_E_INPUT || errors == 0 || sluice_targets_count(targets) != before) {
    abort(); /* refused without a word, or half added */
  }
  return 0;
}
