/* reduce_reference.c: see reduce_reference.h. The names are those of the procedure there. */
#include "oracle/reduce_reference.h"

#include <stdlib.h>
#include <string.h>

#include "oracle/walk.h"

enum { INFINITE = 1 << 28 };

struct reduction {
  const struct sl_kernel *kernel;
  const struct sl_oracle_edge *edges;
  uint32_t edge_count;
  bool *implied;
  bool *same;        /* by edge: another one of the same ends has no larger distance */
  uint32_t nodes;    /* I of operation o is 2 o, R is 2 o + 1 */
  sl_index *stmt;    /* by operation */
  uint32_t *op_of;   /* by statement */
  int **distance;    /* by block: D, nodes * nodes */
  bool **pre, **suf; /* by block: nodes * nodes; pre[u][x], suf[y][v] */
};

/* ---- where things stand ---- */

static bool is_inside(const struct sl_kernel *kernel, sl_index block, sl_index outer)
{
  while (block && block != outer)
    block = sl_block_parent(kernel, block);
  return block != SL_NONE;
}

static sl_index block_of(const struct reduction *r, uint32_t node)
{
  return r->kernel->stmts.data[r->stmt[node / 2]].block;
}

static bool is_in(const struct reduction *r, uint32_t node, sl_index block)
{
  return is_inside(r->kernel, block_of(r, node), block);
}

static bool is_direct(const struct reduction *r, uint32_t node, sl_index block)
{
  return block_of(r, node) == block;
}

/* The child block of L that holds the node; 0 when the node is direct. */
static sl_index child_of(const struct reduction *r, uint32_t node, sl_index block)
{
  sl_index child = SL_NONE;
  for (sl_index at = block_of(r, node); at != block; at = sl_block_parent(r->kernel, at))
    child = at;
  return child;
}

/* The statement of L's body that is the node's, or holds it. */
static sl_index statement_of(const struct reduction *r, uint32_t node, sl_index block)
{
  sl_index child = child_of(r, node, block);
  return child ? r->kernel->blocks.data[child].owner : r->stmt[node / 2];
}

static bool stands_before(const struct sl_kernel *kernel, sl_index a, sl_index b)
{
  for (a = kernel->stmts.data[a].next; a && a != b;)
    a = kernel->stmts.data[a].next;
  return a != SL_NONE;
}

static bool is_arm(const struct sl_kernel *kernel, sl_index block)
{
  sl_index owner = kernel->blocks.data[block].owner;
  return owner && kernel->stmts.data[owner].kind == SL_STMT_IF;
}

static bool is_issue(uint32_t node)
{
  return node % 2 == 0;
}

static bool on_one_chain(const struct reduction *r, uint32_t u, uint32_t v)
{
  uint32_t us = sl_stmt_op(r->kernel, r->stmt[u / 2])->stream, vs = sl_stmt_op(r->kernel, r->stmt[v / 2])->stream;
  if (is_issue(u) != is_issue(v))
    return false;
  return is_issue(u) ? sl_oracle_issue_stream(r->kernel, us) == sl_oracle_issue_stream(r->kernel, vs) : us == vs;
}

/* ---- b, pre and suf, F ---- */

static int edge_weight(const struct reduction *r, uint32_t u, uint32_t v, sl_index block, uint32_t without)
{
  int weight = INFINITE;
  for (uint32_t i = 0; i < r->edge_count && !is_issue(u) && is_issue(v); i++) {
    const struct sl_oracle_edge *edge = &r->edges[i];
    if (edge->counts && !r->same[i] && i != without && edge->block == block && edge->producer == r->stmt[u / 2] &&
        edge->consumer == r->stmt[v / 2] && (int)edge->k < weight)
      weight = (int)edge->k;
  }
  return weight;
}

static int base(const struct reduction *r, uint32_t u, uint32_t v, sl_index block, uint32_t without)
{
  int weight = edge_weight(r, u, v, block, without);
  sl_index child = child_of(r, u, block);
  if (child && child == child_of(r, v, block) && is_arm(r->kernel, child) && r->distance[child][u * r->nodes + v] == 0)
    return 0;
  if (is_issue(u) && v == u + 1 && !child)
    return 0;
  if (on_one_chain(r, u, v)) {
    sl_index us = statement_of(r, u, block), vs = statement_of(r, v, block);
    int chain = us != vs && stands_before(r->kernel, us, vs) ? 0 : 1;
    return chain < weight ? chain : weight;
  }
  return weight;
}

static void find_ends(struct reduction *r, sl_index block)
{
  uint32_t n = r->nodes;
  bool *pre = r->pre[block] = sl_oracle_calloc((size_t)n * n + 1, sizeof *pre);
  bool *suf = r->suf[block] = sl_oracle_calloc((size_t)n * n + 1, sizeof *suf);
  for (uint32_t u = 0; u < n; u++) {
    if (!is_in(r, u, block))
      continue;
    pre[u * n + u] = suf[u * n + u] = true;
    sl_index child = child_of(r, u, block);
    for (uint32_t x = 0; x < n && child; x++) {
      bool direct = is_direct(r, x, child);
      pre[u * n + x] |= r->pre[child][u * n + x] || (direct && r->distance[child][u * n + x] == 0);
      suf[x * n + u] |= r->suf[child][x * n + u] || (direct && r->distance[child][x * n + u] == 0);
    }
  }
}

static void close_over_direct(const struct reduction *r, int *f, const int *b, sl_index block)
{
  uint32_t n = r->nodes;
  for (uint32_t u = 0; u < n; u++) {
    for (uint32_t v = 0; v < n; v++) {
      bool direct = is_direct(r, u, block) && is_direct(r, v, block);
      f[u * n + v] = !direct ? INFINITE : u == v ? 0 : b[u * n + v];
    }
  }
  for (uint32_t a = 0; a < n; a++) {
    for (uint32_t u = 0; u < n && is_direct(r, a, block); u++) {
      for (uint32_t v = 0; v < n && f[u * n + a] < INFINITE; v++) {
        int through = f[u * n + a] + f[a * n + v];
        f[u * n + v] = through < f[u * n + v] ? through : f[u * n + v];
      }
    }
  }
}

/* ---- min-plus products ---- */

static void multiply(int *out, const int *a, const int *b, uint32_t n)
{
  for (size_t i = 0; i < (size_t)n * n; i++)
    out[i] = INFINITE;
  for (uint32_t u = 0; u < n; u++) {
    for (uint32_t x = 0; x < n; x++) {
      for (uint32_t v = 0; v < n && a[u * n + x] < INFINITE; v++) {
        int sum = a[u * n + x] + b[x * n + v];
        out[u * n + v] = sum < out[u * n + v] ? sum : out[u * n + v];
      }
    }
  }
}

struct work {
  int *b, *f, *middle, *other, *ends;
};

static struct work work_new(uint32_t n)
{
  int *all = sl_oracle_calloc(5 * (size_t)n * n + 1, sizeof *all);
  size_t size = (size_t)n * n;
  return (struct work){ all, all + size, all + 2 * size, all + 3 * size, all + 4 * size };
}

static void as_weights(int *out, const bool *set, uint32_t n)
{
  for (size_t i = 0; i < (size_t)n * n; i++)
    out[i] = set[i] ? 0 : INFINITE;
}

/* min(b, b F b), what leads from pre to suf. */
static void find_middle(const struct reduction *r, struct work *w, sl_index block, uint32_t without)
{
  uint32_t n = r->nodes;
  for (uint32_t u = 0; u < n; u++) {
    for (uint32_t v = 0; v < n; v++)
      w->b[u * n + v] = is_in(r, u, block) && is_in(r, v, block) ? base(r, u, v, block, without) : INFINITE;
  }
  close_over_direct(r, w->f, w->b, block);
  multiply(w->other, w->b, w->f, n);
  multiply(w->middle, w->other, w->b, n);
  for (size_t i = 0; i < (size_t)n * n; i++)
    w->middle[i] = w->b[i] < w->middle[i] ? w->b[i] : w->middle[i];
}

static void find_distances(struct reduction *r, struct work *w, sl_index block)
{
  uint32_t n = r->nodes;
  find_middle(r, w, block, UINT32_MAX);
  r->distance[block] = sl_oracle_calloc((size_t)n * n + 1, sizeof(int));
  as_weights(w->ends, r->pre[block], n);
  multiply(w->other, w->ends, w->middle, n);
  as_weights(w->ends, r->suf[block], n);
  multiply(r->distance[block], w->other, w->ends, n);
}

static bool is_implied(const struct reduction *r, struct work *w, uint32_t e)
{
  const struct sl_oracle_edge *edge = &r->edges[e];
  uint32_t n = r->nodes, p = 2 * r->op_of[edge->producer] + 1, c = 2 * r->op_of[edge->consumer];
  find_middle(r, w, edge->block, e);
  for (uint32_t x = 0; x < n; x++) {
    for (uint32_t y = 0; y < n; y++) {
      if (r->pre[edge->block][p * n + x] && r->suf[edge->block][y * n + c] && w->middle[x * n + y] <= (int)edge->k)
        return true;
    }
  }
  return false;
}

/* ---- all of it ---- */

static void find_same(struct reduction *r)
{
  for (uint32_t i = 0; i < r->edge_count; i++) {
    for (uint32_t j = 0; j < r->edge_count; j++) {
      const struct sl_oracle_edge *a = &r->edges[i], *b = &r->edges[j];
      bool together = a->producer == b->producer && a->consumer == b->consumer && a->block == b->block;
      if (i != j && together && (b->k < a->k || (b->k == a->k && j < i)))
        r->same[i] = true;
    }
  }
}

static void reduce_block(struct reduction *r, struct work *w, sl_index block)
{
  find_ends(r, block);
  for (uint32_t e = 0; e < r->edge_count; e++) {
    if (r->edges[e].block == block && !r->edges[e].is_given)
      r->implied[e] = r->same[e] || is_implied(r, w, e);
  }
  find_distances(r, w, block);
}

/* Inner blocks first; recursion is bounded by SL_NESTING_BLOCKS. */
static void reduce_all(struct reduction *r, struct work *w, sl_index block)
{
  const struct sl_kernel *kernel = r->kernel;
  for (sl_index at = kernel->blocks.data[block].first; at; at = kernel->stmts.data[at].next) {
    if (kernel->stmts.data[at].kind == SL_STMT_LOOP)
      reduce_all(r, w, sl_stmt_loop(kernel, at)->body);
    if (kernel->stmts.data[at].kind == SL_STMT_IF) {
      reduce_all(r, w, sl_stmt_branch(kernel, at)->then_block);
      if (sl_stmt_branch(kernel, at)->else_block)
        reduce_all(r, w, sl_stmt_branch(kernel, at)->else_block);
    }
  }
  reduce_block(r, w, block);
}

/* Only the ends of dependences matter: others add nothing to a chain. */
static void find_nodes(struct reduction *r)
{
  bool *takes_part = sl_oracle_calloc(r->kernel->stmts.len, sizeof *takes_part);
  for (uint32_t e = 0; e < r->edge_count; e++)
    takes_part[r->edges[e].producer] = takes_part[r->edges[e].consumer] = true;
  for (sl_index s = 0; s < r->kernel->stmts.len; s++) {
    if (takes_part[s]) {
      r->op_of[s] = r->nodes / 2;
      r->stmt[r->nodes / 2] = s;
      r->nodes += 2;
    }
  }
  free(takes_part);
}

void sl_oracle_reduce(bool *implied, const struct sl_kernel *kernel, const struct sl_oracle_edge *edges, uint32_t count)
{
  uint32_t blocks = kernel->blocks.len;
  struct reduction r = { .kernel = kernel, .edges = edges, .edge_count = count, .implied = implied };
  memset(implied, 0, count * sizeof *implied);
  r.same = sl_oracle_calloc(count + 1u, sizeof *r.same);
  r.stmt = sl_oracle_calloc(kernel->stmts.len + 1u, sizeof *r.stmt);
  r.op_of = sl_oracle_calloc(kernel->stmts.len + 1u, sizeof *r.op_of);
  r.distance = sl_oracle_calloc(blocks, sizeof *r.distance);
  r.pre = sl_oracle_calloc(blocks, sizeof *r.pre);
  r.suf = sl_oracle_calloc(blocks, sizeof *r.suf);
  find_nodes(&r);
  find_same(&r);
  struct work w = work_new(r.nodes);
  reduce_all(&r, &w, kernel->root);
  for (uint32_t b = 0; b < blocks; b++) {
    free(r.distance[b]);
    free(r.pre[b]);
    free(r.suf[b]);
  }
  free(w.b);
  free(r.same);
  free(r.stmt);
  free(r.op_of);
  free(r.distance);
  free(r.pre);
  free(r.suf);
}
