/* generate_hand.c: small kernels synchronized the way a person would do it, with every means the language has, for the
 * checker and the explorer to judge. They verify on generic and generic-weak; most are right, and many wait too much.
 *
 * The tree is made first, as a list of items with room for text before and after each; then the dependences, each with a
 * means of its own:
 *
 *   count      the producer increments a semaphore, which others may increment too; the consumer's engine keeps in a
 *              register what its value is by the text's order, and waits for that, or for what it was k iterations ago
 *   variable   a semaphore of its own that starts at k - 1, awaited with the loop variable as it stands
 *   event      set and awaited in one block, or one iteration later behind an `if`
 *   exact      `==` on a counter that the producer holds back until the consumer has seen it
 *   set        the consumer sets the semaphore back with sem_set, and tells the producer
 *   barrier    a barrier, plain or with reset, stands between them
 *
 * Registers are named by engine (the register belongs to it), semaphore and dependence.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "property/text.h"

enum { MAX_OPS = 7, MAX_ITEMS = 64, MAX_DEPS = 8, MAX_ENGINES = 4, MAX_QUEUES = 2, MAX_SEMS = 4, MAX_OPEN = 3 };

enum item_kind { ITEM_OP, ITEM_LOOP, ITEM_IF, ITEM_ELSE, ITEM_CLOSE, ITEM_BARRIER, ITEM_BARRIER_RESET };

struct item {
  enum item_kind kind;
  struct sl_text before, head, waits, incs, sets, after;
  unsigned id;                          /* OP: its number. LOOP: its number from 1 */
  unsigned stream, engine;              /* OP: streams are engines, then queues; the engine that issues it */
  unsigned loops[MAX_OPEN], loop_count; /* loops around it */
  unsigned block;                       /* where it stands; 0 is the kernel */
  bool plain;                           /* OP: no load */
};

struct generator {
  struct sl_text *text;
  struct sl_choices *choices;
  unsigned engines, queues, sems;
  unsigned trigger[MAX_QUEUES], start[MAX_SEMS];
  struct item items[MAX_ITEMS];
  unsigned item_count, op_count, ops[MAX_OPS]; /* item of each op */
  unsigned loops[MAX_OPEN], loop_count, loop_total, block, block_total, opaque;
  unsigned sem_of[MAX_OPS], units[MAX_OPS]; /* counted producers: semaphore + 1, and by how much */
  bool shadowed[MAX_ENGINES][MAX_SEMS];
  struct sl_text head, decls, deps;
  unsigned dep_count;
  bool seen[MAX_OPS][MAX_OPS][4];
};

static unsigned choose(struct generator *g, unsigned count)
{
  return sl_choose(g->choices, count);
}

static const char *variable(unsigned depth)
{
  static const char *const names[MAX_OPEN] = { "i", "j", "k" };
  return names[depth];
}

/* ---- the tree ---- */

static struct item *add_item(struct generator *g, enum item_kind kind)
{
  if (g->item_count == MAX_ITEMS)
    abort();
  struct item *item = &g->items[g->item_count++];
  item->kind = kind;
  memcpy(item->loops, g->loops, sizeof item->loops);
  item->loop_count = g->loop_count;
  item->block = g->block;
  return item;
}

static void add_op(struct generator *g)
{
  if (g->op_count == MAX_OPS)
    return;
  struct item *item = add_item(g, ITEM_OP);
  unsigned kind = choose(g, 16);
  item->id = g->op_count;
  item->stream = choose(g, g->engines);
  item->plain = kind < 14;
  if (kind >= 8 && item->plain && g->queues)
    item->stream = g->engines + choose(g, g->queues);
  item->engine = item->stream < g->engines ? item->stream : g->trigger[item->stream - g->engines];
  if (item->stream < g->engines)
    sl_text_printf(&item->head, "x%u: e%u.", item->id, item->stream);
  else
    sl_text_printf(&item->head, "x%u: q%u.", item->id, item->stream - g->engines);
  if (item->plain)
    sl_text_puts(&item->head, "op");
  else
    sl_text_printf(&item->head, "reg_load %%v%u <- table[%u] { assume = 1 }", item->id, item->id);
  g->ops[g->op_count++] = g->item_count - 1;
}

static void block(struct generator *g, unsigned depth);

static void close(struct generator *g)
{
  add_item(g, ITEM_CLOSE);
}

static void enter(struct generator *g, unsigned depth)
{
  unsigned outer = g->block;
  g->block = ++g->block_total;
  block(g, depth + 1);
  g->block = outer;
}

static void loop(struct generator *g, unsigned depth)
{
  struct item *item = add_item(g, ITEM_LOOP);
  unsigned kind = choose(g, 8), level = g->loop_count;
  item->id = ++g->loop_total;
  if (kind == 7)
    sl_text_printf(&item->head, "loop %s < 3 while ?c%u {", variable(level), g->opaque++);
  else if (kind >= 5)
    sl_text_printf(&item->head, "loop %s < %u {", variable(level), 1 + choose(g, 3));
  else
    sl_text_printf(&item->head, "loop %s < n%u {", variable(level), level ? 1 : 0);
  g->loops[g->loop_count++] = item->id;
  enter(g, depth);
  g->loop_count--;
  close(g);
}

static void branch(struct generator *g, unsigned depth)
{
  struct item *item = add_item(g, ITEM_IF);
  if (g->loop_count && choose(g, 3) == 2)
    sl_text_printf(&item->head, "if %s %% 2 == 0 {", variable(choose(g, g->loop_count)));
  else
    sl_text_printf(&item->head, "if ?c%u {", g->opaque++);
  enter(g, depth);
  if (choose(g, 3) == 2) {
    sl_text_puts(&add_item(g, ITEM_ELSE)->head, "} else {");
    enter(g, depth);
  }
  close(g);
}

static void block(struct generator *g, unsigned depth)
{
  static const unsigned counts[] = { 2, 2, 3, 3, 4, 3, 1, 2 };
  unsigned count = counts[choose(g, 8)] + (depth == 0);
  for (unsigned n = 0; n < count && g->op_count < MAX_OPS; n++) {
    unsigned kind = choose(g, 16);
    if (kind < 9 || depth == MAX_OPEN)
      add_op(g);
    else if (kind < 13)
      loop(g, depth);
    else if (kind < 15)
      branch(g, depth);
    else
      (void)add_item(g, choose(g, 2) ? ITEM_BARRIER_RESET : ITEM_BARRIER);
  }
}

/* ---- means ---- */

/* Adds a wait to an op, or to a carrier in front of it. */
static void add_wait(struct generator *g, struct item *op, const char *gate)
{
  switch (choose(g, 16)) {
  case 13: sl_text_printf(&op->before, "e%u.nop wait %s\n", op->engine, gate); return;
  case 14: sl_text_printf(&op->before, "e%u.drain wait %s\n", op->engine, gate); return;
  case 15: sl_text_printf(&op->before, "e%u.reg_set %%z, 0 wait %s\n", op->engine, gate); return;
  default: break;
  }
  sl_text_printf(&op->waits, "%s%s", op->waits.length ? ", " : "  wait ", gate);
}

static void add_inc(struct item *op, const char *sem, unsigned by)
{
  sl_text_printf(&op->incs, "%s%s", op->incs.length ? ", " : "  inc ", sem);
  if (by > 1)
    sl_text_printf(&op->incs, " by %u", by);
}

struct dep {
  struct item *producer, *consumer;
  unsigned k, level; /* carried by the loop at that depth around both */
  bool across;       /* counted through all visits of that loop */
  bool is_vector;    /* there is a second distance, at the loop below; what makes it hold keeps the first */
  int inner_k;
};

static void use_shadow(struct generator *g, unsigned engine, unsigned sem)
{
  if (!g->shadowed[engine][sem])
    sl_text_printf(&g->head, "e%u.reg_set %%g%u, %u\n", engine, sem, g->start[sem]);
  g->shadowed[engine][sem] = true;
}

/* The items that open and close the loop of a dependence. */
static struct item *loop_item(struct generator *g, unsigned id, struct item **end)
{
  unsigned at = 0, depth = 0;
  while (g->items[at].kind != ITEM_LOOP || g->items[at].id != id)
    at++;
  unsigned close_at = at;
  do {
    enum item_kind kind = g->items[close_at].kind;
    depth += kind == ITEM_LOOP || kind == ITEM_IF;
    depth -= kind == ITEM_CLOSE;
    close_at += depth > 0;
  } while (depth > 0);
  *end = &g->items[close_at];
  return &g->items[at];
}

static void count(struct generator *g, const struct dep *dep)
{
  unsigned engine = dep->consumer->engine, p = dep->producer->id;
  char gate[64];
  if (!g->sem_of[p]) {
    g->sem_of[p] = 1 + choose(g, g->sems);
    g->units[p] = choose(g, 6) == 5 ? 2 : 1;
  }
  unsigned sem = g->sem_of[p] - 1;
  use_shadow(g, engine, sem);
  snprintf(gate, sizeof gate, "s%u %s %%g%u", sem, choose(g, 24) == 23 ? "==" : ">=", sem);
  if (dep->k) {
    struct item *end, *start = loop_item(g, dep->consumer->loops[dep->level], &end);
    for (unsigned j = dep->k; j > 0; j--) {
      sl_text_printf(dep->across ? &g->head : &start->before, "e%u.reg_set %%d%u_%u, 0\n", engine, g->dep_count, j);
      if (j > 1)
        sl_text_printf(&end->before, "e%u.reg_set %%d%u_%u, %%d%u_%u\n", engine, g->dep_count, j, g->dep_count, j - 1);
      else
        sl_text_printf(&end->before, "e%u.reg_set %%d%u_1, %%g%u\n", engine, g->dep_count, sem);
    }
    snprintf(gate, sizeof gate, "s%u >= %%d%u_%u", sem, g->dep_count, dep->k);
  }
  add_wait(g, dep->consumer, gate);
}

/* Both ends stand in one block: the body of a loop, or an arm, that belongs to an outermost loop. */
static bool share_outer_loop(const struct dep *dep)
{
  return dep->producer->block == dep->consumer->block && dep->consumer->loop_count == 1;
}

static bool use_variable(struct generator *g, const struct dep *dep)
{
  if (!dep->k || !share_outer_loop(dep))
    return false;
  char name[32], gate[64];
  snprintf(name, sizeof name, "v%u", g->dep_count);
  snprintf(gate, sizeof gate, "%s >= i", name);
  sl_text_printf(&g->decls, "  sem %s = %u\n", name, dep->k - 1);
  add_inc(dep->producer, name, 1);
  add_wait(g, dep->consumer, gate);
  return true;
}

static void name_stream(const struct generator *g, const struct item *op, char *name, size_t size)
{
  bool is_queue = op->stream >= g->engines;
  snprintf(name, size, "%s%u", is_queue ? "q" : "e", is_queue ? op->stream - g->engines : op->stream);
}

static bool use_event(struct generator *g, const struct dep *dep)
{
  if (dep->producer->block != dep->consumer->block || dep->k > 1)
    return false;
  char from[16], gate[64];
  name_stream(g, dep->producer, from, sizeof from);
  bool array = share_outer_loop(dep) && !dep->k && choose(g, 3) == 2;
  sl_text_printf(&g->decls, "  event t%u%s : %s -> e%u\n", g->dep_count, array ? "[4]" : "", from,
                 dep->consumer->engine);
  snprintf(gate, sizeof gate, "t%u%s", g->dep_count, array ? "[i]" : "");
  sl_text_printf(&dep->producer->sets, "%s%s", dep->producer->sets.length ? ", " : "  set ", gate);
  if (!dep->k) {
    add_wait(g, dep->consumer, gate);
    return true;
  }
  struct item *end;
  (void)loop_item(g, dep->consumer->loops[dep->level], &end);
  const char *var = variable(dep->level);
  sl_text_printf(&dep->consumer->before, "if %s > 0 { e%u.nop wait %s }\n", var, dep->consumer->engine, gate);
  if (choose(g, 4)) /* what the last iteration set: taken back, if the loop ran */
    sl_text_printf(&end->after, "if n%u > 0 { e%u.nop wait %s }\n", dep->level ? 1 : 0, dep->consumer->engine, gate);
  return true;
}

/* `==` or sem_set, with an answer that holds the next update back; of some the answer is forgotten. */
static bool use_handshake(struct generator *g, const struct dep *dep, bool sets)
{
  bool in_loop = share_outer_loop(dep);
  if (dep->k || (!in_loop && (dep->producer->block || dep->consumer->block)))
    return false;
  unsigned n = g->dep_count, engine = dep->consumer->engine;
  char gate[64], name[32];
  sl_text_printf(&g->decls, "  sem a%u\n  sem r%u\n", n, n);
  snprintf(name, sizeof name, "a%u", n);
  add_inc(dep->producer, name, 1);
  snprintf(gate, sizeof gate, "r%u >= i", n);
  if (in_loop && choose(g, 8) != 7)
    add_wait(g, dep->producer, gate);
  if (sets) {
    snprintf(gate, sizeof gate, "a%u %s 1", n, choose(g, 2) ? "==" : ">=");
    sl_text_printf(&dep->consumer->after, "e%u.sem_set a%u, 0\ne%u.nop inc r%u\n", engine, n, engine, n);
  } else {
    sl_text_printf(&g->head, "e%u.reg_set %%h%u, 0\n", engine, n);
    sl_text_printf(&dep->consumer->before, "e%u.reg_add %%h%u, %%h%u, 1\n", engine, n, n);
    snprintf(gate, sizeof gate, "a%u == %%h%u", n, n);
    snprintf(name, sizeof name, "r%u", n);
    add_inc(dep->consumer, name, 1);
  }
  add_wait(g, dep->consumer, gate);
  return true;
}

static bool barrier_between(const struct generator *g, const struct dep *dep)
{
  if (dep->k || dep->producer->block != dep->consumer->block)
    return false;
  for (const struct item *item = dep->producer; item < dep->consumer; item++) {
    if ((item->kind == ITEM_BARRIER || item->kind == ITEM_BARRIER_RESET) && item->block == dep->consumer->block)
      return true;
  }
  (void)g;
  return false;
}

static void make_dependence_hold(struct generator *g, const struct dep *dep)
{
  bool done = false;
  if (barrier_between(g, dep) && choose(g, 4))
    return;
  switch (choose(g, 12)) {
  case 4:
  case 6: done = use_handshake(g, dep, true); break;
  case 5:
  case 7: done = use_handshake(g, dep, false); break;
  case 8:
  case 9: done = use_event(g, dep); break;
  case 10:
  case 11: done = use_variable(g, dep); break;
  default: break;
  }
  if (!done)
    count(g, dep);
}

static unsigned common_loops(const struct item *a, const struct item *b)
{
  unsigned common = 0;
  while (common < a->loop_count && common < b->loop_count && a->loops[common] == b->loops[common])
    common++;
  return common;
}

static void dependence(struct generator *g)
{
  static const unsigned distances[] = { 1, 1, 1, 2, 1, 2, 3, 1 };
  unsigned p = choose(g, g->op_count), c = choose(g, g->op_count);
  if (g->items[g->ops[p]].stream == g->items[g->ops[c]].stream) /* most targets order those by themselves */
    c = choose(g, g->op_count);
  struct dep dep = { .producer = &g->items[g->ops[p]], .consumer = &g->items[g->ops[c]] };
  unsigned common = common_loops(dep.producer, dep.consumer);
  if (common && (p >= c || choose(g, 3) == 2)) {
    dep.k = distances[choose(g, 8)];
    dep.level = choose(g, common);
    unsigned form = choose(g, 8);
    dep.across = form >= 6;
    dep.is_vector = (form == 4 || form == 5) && dep.level + 1 < common;
    dep.inner_k = (int)choose(g, 4) - 2;
  } else if (p > c) {
    struct item *other = dep.producer;
    dep.producer = dep.consumer;
    dep.consumer = other;
  } else if (p == c) {
    return;
  }
  if (g->seen[dep.producer->id][dep.consumer->id][dep.k])
    return;
  g->seen[dep.producer->id][dep.consumer->id][dep.k] = true;
  sl_text_printf(&g->deps, "  dep x%u -> x%u", dep.producer->id, dep.consumer->id);
  if (dep.k)
    sl_text_printf(&g->deps, " (%s%s: %u", dep.across ? "across " : "", variable(dep.level), dep.k);
  if (dep.is_vector)
    sl_text_printf(&g->deps, ", %s: %d", variable(dep.level + 1), dep.inner_k);
  if (dep.k)
    sl_text_puts(&g->deps, ")");
  sl_text_puts(&g->deps, "\n");
  if (dep.producer->stream != dep.consumer->stream || choose(g, 2))
    make_dependence_hold(g, &dep);
  g->dep_count++;
}

/* ---- the text ---- */

/* The engines that wait for a semaphore follow its updates; behind `barrier reset` it starts again. Delay lines that
 * live across it would hold old values: they are left as they are, and the kernel may be wrong. */
static void follow_updates(struct generator *g)
{
  for (unsigned n = 0; n < g->op_count; n++) {
    struct item *op = &g->items[g->ops[n]];
    if (!g->sem_of[n])
      continue;
    char name[16];
    snprintf(name, sizeof name, "s%u", g->sem_of[n] - 1);
    add_inc(op, name, g->units[n]);
    for (unsigned e = 0; e < g->engines; e++) {
      if (g->shadowed[e][g->sem_of[n] - 1])
        sl_text_printf(&op->after, "e%u.reg_add %%g%u, %%g%u, %u\n", e, g->sem_of[n] - 1, g->sem_of[n] - 1,
                       g->units[n]);
    }
  }
  for (unsigned i = 0; i < g->item_count; i++) {
    for (unsigned cell = 0; g->items[i].kind == ITEM_BARRIER_RESET && cell < MAX_ENGINES * MAX_SEMS; cell++) {
      unsigned e = cell / MAX_SEMS, sem = cell % MAX_SEMS;
      if (g->shadowed[e][sem])
        sl_text_printf(&g->items[i].after, "e%u.reg_set %%g%u, %u\n", e, sem, g->start[sem]);
    }
  }
}

static void put(struct generator *g, const struct sl_text *piece)
{
  if (piece->length)
    sl_text_puts(g->text, piece->data);
}

static void print_item(struct generator *g, struct item *item)
{
  put(g, &item->before);
  put(g, &item->head);
  put(g, &item->waits);
  put(g, &item->incs);
  put(g, &item->sets);
  if (item->kind == ITEM_CLOSE)
    sl_text_puts(g->text, "}");
  if (item->kind == ITEM_BARRIER || item->kind == ITEM_BARRIER_RESET)
    sl_text_puts(g->text, item->kind == ITEM_BARRIER ? "barrier" : "barrier reset");
  sl_text_puts(g->text, "\n");
  put(g, &item->after);
  struct sl_text *pieces[] = { &item->before, &item->head, &item->waits, &item->incs, &item->sets, &item->after };
  for (unsigned p = 0; p < 6; p++)
    free(pieces[p]->data);
}

static void declarations(struct generator *g)
{
  g->engines = 2 + choose(g, MAX_ENGINES - 1);
  g->queues = choose(g, MAX_QUEUES + 1);
  g->sems = 1 + choose(g, MAX_SEMS);
  for (unsigned q = 0; q < g->queues; q++) {
    g->trigger[q] = choose(g, g->engines);
    sl_text_printf(&g->decls, "  queue q%u via e%u\n", q, g->trigger[q]);
  }
  sl_text_puts(&g->decls, "  buffer table : hbm i32[16]\n");
  for (unsigned s = 0; s < g->sems; s++) {
    g->start[s] = choose(g, 4) == 3 ? 1 + choose(g, 2) : 0;
    sl_text_printf(&g->decls, "  sem s%u = %u\n", s, g->start[s]);
  }
}

void sl_generate_hand(struct sl_text *text, struct sl_choices *choices)
{
  struct generator g;
  static const unsigned trips[] = { 1, 2, 2, 3, 2, 3, 2, 0 };
  struct sl_choices tree = *choices, rest = *choices;
  tree.length = choices->length / 2;
  rest.used = tree.length;
  memset(&g, 0, sizeof g);
  g.text = text;
  g.choices = &tree;
  sl_text_printf(text, "sluice 1\n\nkernel generated(n0 = %u, n1 = %u) target %s explicit {\n", trips[choose(&g, 8)],
                 trips[choose(&g, 8)], choose(&g, 5) == 4 ? "generic-weak" : "generic");
  declarations(&g);
  block(&g, 0);
  if (!g.op_count)
    add_op(&g);
  g.choices = &rest;
  unsigned wanted = 1 + choose(&g, MAX_DEPS);
  for (unsigned d = 0; d < wanted; d++)
    dependence(&g);
  follow_updates(&g);
  put(&g, &g.decls);
  put(&g, &g.head);
  for (unsigned i = 0; i < g.item_count; i++)
    print_item(&g, &g.items[i]);
  if (choose(&g, 8) != 7)
    sl_text_puts(text, "epilogue\n");
  put(&g, &g.deps);
  sl_text_puts(text, "}\n");
  free(g.decls.data);
  free(g.head.data);
  free(g.deps.data);
}
