/* order.c: see order.h. */
#include "oracle/order.h"

static bool is_load(const struct sl_trace *trace, uint32_t instance)
{
  const struct sl_op *op = sl_stmt_op(trace->view.kernel, trace->instances[instance].stmt);
  return sl_opcode_table[op->code].op_class == SL_CLASS_LOAD;
}

bool sl_hardware_gives(const struct sl_trace *trace, struct sl_oracle_hardware hardware, uint32_t earlier,
                       uint32_t later)
{
  const struct sl_trace_instance *p = &trace->instances[earlier], *c = &trace->instances[later];
  if (is_load(trace, earlier) && p->issue == c->issue)
    return true;
  if (p->stream != c->stream)
    return false;
  return trace->view.kernel->streams.data[p->stream].is_queue ? hardware.queues_ordered : hardware.engines_interlock;
}

void sl_order_close(struct sl_relation *before, const struct sl_relation *waits, const struct sl_trace *trace,
                    struct sl_oracle_hardware hardware)
{
  uint32_t words = before->words, last_issued[SL_ORACLE_MAX_STREAMS], last_retired[SL_ORACLE_MAX_STREAMS];
  struct sl_relation retired = sl_relation_new(trace->count); /* what has retired when an instance has */
  for (uint32_t s = 0; s < SL_ORACLE_MAX_STREAMS; s++)
    last_issued[s] = last_retired[s] = SL_NO_INSTANCE;
  for (uint32_t x = 0; x < trace->count; x++) {
    const struct sl_trace_instance *instance = &trace->instances[x];
    uint64_t *at_issue = sl_relation_row(before, x), *at_retirement = sl_relation_row(&retired, x);
    uint32_t issued = last_issued[instance->issue], retired_last = last_retired[instance->stream];
    if (issued != SL_NO_INSTANCE)
      sl_row_join(at_issue, sl_relation_row(is_load(trace, issued) ? &retired : before, issued), words);
    for (uint32_t y = 0; y < x; y++) {
      if (sl_relation_has(waits, y, x) && !sl_hardware_gives(trace, hardware, y, x))
        sl_row_join(at_issue, sl_relation_row(&retired, y), words);
    }
    sl_row_join(at_retirement, at_issue, words);
    if (retired_last != SL_NO_INSTANCE)
      sl_row_join(at_retirement, sl_relation_row(&retired, retired_last), words);
    sl_relation_add(&retired, x, x);
    last_issued[instance->issue] = last_retired[instance->stream] = x;
  }
  sl_relation_free(&retired);
}
