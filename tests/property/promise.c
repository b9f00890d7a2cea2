/* promise.c: see promise.h. */
#include "property/promise.h"

/* The iteration of a block that is going on at a time: the first that ends later. */
static uint32_t iteration_at(const struct sl_trace_block *block, uint64_t time)
{
  uint32_t low = 0, high = block->iteration_count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (block->iterations[middle].end > time)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* The number of an iteration in its visit, from 0. */
static uint32_t number_in_visit(const struct sl_trace_block *block, uint32_t iteration)
{
  return iteration - block->visits[block->iterations[iteration].visit].first_iteration;
}

static struct sl_target_time time_of_iteration(const struct sl_trace_block *block, uint32_t iteration)
{
  bool is_first = number_in_visit(block, iteration) == 0;
  uint64_t start =
      is_first ? block->visits[block->iterations[iteration].visit].arrival : block->iterations[iteration - 1].end;
  return (struct sl_target_time){ start, block->iterations[iteration].end };
}

/* The visit of the inner block of a vector in one iteration of the outer block; its iterations are counted up to the
 * next visit. */
static struct sl_target_time vector_target(const struct sl_trace *trace, const struct sl_edge *edge, uint32_t outer,
                                           uint64_t consumer_time)
{
  const struct sl_target_time none = { 0, 0 };
  const struct sl_trace_block *inner = &trace->blocks[edge->inner_block];
  struct sl_target_time within = time_of_iteration(&trace->blocks[edge->block], outer);
  uint32_t visit = 0;
  while (visit < inner->visit_count && inner->visits[visit].arrival < within.start)
    visit++;
  if (visit == inner->visit_count || inner->visits[visit].arrival > within.end)
    return none;
  uint32_t first = inner->visits[visit].first_iteration;
  uint32_t count =
      (visit + 1 < inner->visit_count ? inner->visits[visit + 1].first_iteration : inner->iteration_count) - first;
  int64_t number = (int64_t)number_in_visit(inner, iteration_at(inner, consumer_time)) - edge->inner_k;
  if (number < 0)
    return none;
  if (count == 0)
    return (struct sl_target_time){ inner->visits[visit].arrival, inner->visits[visit].arrival };
  return time_of_iteration(inner, first + (number < count ? (uint32_t)number : count - 1));
}

struct sl_target_time sl_edge_target(const struct sl_trace *trace, const struct sl_edge *edge, uint32_t consumer)
{
  const struct sl_target_time none = { 0, 0 };
  const struct sl_trace_block *block = &trace->blocks[edge->block];
  uint64_t time = trace->instances[consumer].time;
  uint32_t iteration = iteration_at(block, time);
  if (edge->k == 0)
    return (struct sl_target_time){ time_of_iteration(block, iteration).start, time };
  if ((edge->across ? iteration : number_in_visit(block, iteration)) < edge->k)
    return none;
  if (sl_edge_is_vector(edge))
    return vector_target(trace, edge, iteration - edge->k, time);
  return time_of_iteration(block, iteration - edge->k);
}

uint32_t sl_edge_needs(const struct sl_trace *trace, const struct sl_edge *edge, uint32_t consumer)
{
  uint64_t end = sl_edge_target(trace, edge, consumer).end;
  const struct sl_trace_list *producers = &trace->of_stmt[edge->producer];
  uint32_t low = 0, high = producers->count; /* the last one that executes before `end` */
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (trace->instances[producers->instances[middle]].time < end)
      low = middle + 1;
    else
      high = middle;
  }
  return low ? producers->instances[low - 1] : SL_NO_INSTANCE;
}
