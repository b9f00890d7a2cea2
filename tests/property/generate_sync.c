/* generate_sync.c: kernels to be synchronized. They verify on the generic targets, or on trn2, have explicit dependences only,
 * every instruction a label, and no dependence at distance 0 whose producer stands after its consumer.
 *
 * What they cover: nesting to depth 4, branches with opaque conditions and conditions over loop variables,
 * parameters and registers, `while`, bounds by parameter, constant, register and outer loop variable, queues that
 * share triggers with engines, engines without instructions in some loops, any carrying loop, distances 0 to 4 within
 * a visit and across visits, vectors of two and more distances, ops on several engines.
 * On trn2 three to six queues move between 16 KiB and 4 MiB at a time, so that transfers meet and share the
 * bandwidth, some of them in descriptors too small for all of it, some in a class of service of their own.
 */
#include <string.h>

#include "property/text.h"

enum { MAX_DEPTH = 4, MAX_INSTRUCTIONS = 24, MAX_REGISTERS = 8, MAX_DEPS = 40 };

struct instruction {
  unsigned loops[MAX_DEPTH]; /* ids of the loops around it, outermost first */
  unsigned loop_count;
  bool is_load;
};

struct dep {
  unsigned producer, consumer, k;
  unsigned carrier; /* id of the loop; 0 = none */
  bool across;
  unsigned inner; /* of a vector: id of the second loop; 0 = none */
  int inner_k;
};

struct sync_generator {
  struct sl_text *text;
  struct sl_choices *choices;
  bool is_trn2;
  unsigned engines, queues;
  struct instruction instructions[MAX_INSTRUCTIONS];
  unsigned instruction_count;
  unsigned loops[MAX_DEPTH];         /* ids of the open loops */
  unsigned loop_count;               /* open now */
  unsigned next_loop;                /* ids from 1 */
  unsigned registers[MAX_REGISTERS]; /* ids of the registers that every engine has here */
  unsigned register_count, next_register;
  unsigned next_opaque;
  struct dep deps[MAX_DEPS];
  unsigned dep_count;
  unsigned loop_depth_of[256]; /* by loop id: its depth, for its variable */
};

static const char *const variables[MAX_DEPTH] = { "i", "j", "k", "l" };

static unsigned choose(struct sync_generator *g, unsigned count)
{
  return sl_choose(g->choices, count);
}

static const char *engine_name(const struct sync_generator *g, unsigned engine)
{
  static const char *const generic[] = { "e0", "e1", "e2", "e3", "e4" }, *const trn2[] = { "act", "dve", "pool" };
  return g->is_trn2 ? trn2[engine] : generic[engine];
}

/* Columns of the buffers that operations and transfers of trn2 work on; of the last one transfers take every row in pieces. */
enum { TILES = 6 };
static const unsigned tile_columns[TILES] = { 1024, 4096, 16384, 256, 8192, 4096 };

static void trn2_header(struct sync_generator *g)
{
  static const char *const triggers[] = { "sp", "act", "pool" };
  g->engines = 3;
  g->queues = 3 + choose(g, 4);
  sl_text_printf(g->text,
                 "sluice 1\n\nkernel generated(n0 = 2, n1 = 3, n2 = 1, static m = %u) target trn2 explicit {\n",
                 choose(g, 4));
  for (unsigned q = 0; q < g->queues; q++)
    sl_text_printf(g->text, "  queue q%u via %s\n", q, triggers[choose(g, 3)]);
  for (unsigned b = 0; b < TILES; b++)
    sl_text_printf(g->text, "  buffer h%u : hbm bf16[128, %u]\n  buffer t%u : sbuf bf16[2, 128p, %u]\n", b,
                   tile_columns[b], b, tile_columns[b]);
  sl_text_puts(g->text, "  buffer table : hbm i32[16]\n");
}

static void header(struct sync_generator *g)
{
  if (g->is_trn2) {
    trn2_header(g);
    return;
  }
  const char *target = choose(g, 4) == 3 ? "generic-weak" : "generic";
  g->engines = 2 + choose(g, 4);
  g->queues = choose(g, 4);
  bool fixed = choose(g, 6) == 5; /* then loops can mostly be written out */
  const char *word = fixed ? "static " : "";
  sl_text_printf(g->text,
                 "sluice 1\n\nkernel generated(%sn0 = %u, %sn1 = 3, %sn2 = %u, static m = %u) target %s explicit {\n",
                 word, fixed ? 4u : 2u, word, word, fixed ? 2u : 1u, choose(g, 4), target);
  for (unsigned q = 0; q < g->queues; q++)
    sl_text_printf(g->text, "  queue q%u via e%u\n", q, choose(g, g->engines));
  sl_text_puts(g->text, "  buffer table : hbm i32[16]\n");
}

static void add_instruction(struct sync_generator *g, bool is_load)
{
  struct instruction *instruction = &g->instructions[g->instruction_count++];
  memcpy(instruction->loops, g->loops, sizeof g->loops);
  instruction->loop_count = g->loop_count;
  instruction->is_load = is_load;
}

/* A tile of two copies, which rotate with a loop or not. */
static void tile_operand(struct sync_generator *g, unsigned tile)
{
  sl_text_printf(g->text, "t%u[", tile);
  if (g->loop_count && choose(g, 4))
    sl_text_printf(g->text, "%s %% 2", variables[choose(g, g->loop_count)]);
  else
    sl_text_printf(g->text, "%u", choose(g, 2));
  sl_text_puts(g->text, tile == TILES - 1 ? ", :, 0:64]" : "]");
}

/* One opcode and its operands. */
static void work(struct sync_generator *g, bool is_transfer)
{
  if (!g->is_trn2) { /* without a choice, so that bytes mean what they meant */
    sl_text_puts(g->text, "op\n");
    return;
  }
  unsigned tile = choose(g, TILES);
  bool writes_tile = !is_transfer || choose(g, 2), reads_tile = !is_transfer || !writes_tile;
  const char *part = tile == TILES - 1 ? "[:, 0:64]" : "";
  sl_text_puts(g->text, is_transfer ? "dma_copy " : "tensor_copy ");
  if (writes_tile)
    tile_operand(g, tile);
  else
    sl_text_printf(g->text, "h%u%s", tile, part);
  sl_text_puts(g->text, " <- ");
  if (reads_tile)
    tile_operand(g, tile);
  else
    sl_text_printf(g->text, "h%u%s", tile, part);
  unsigned service_class = is_transfer ? choose(g, 8) : 0;
  if (service_class && service_class < 4)
    sl_text_printf(g->text, " { qos = %u }", service_class);
  sl_text_puts(g->text, "\n");
}

static void op(struct sync_generator *g, unsigned depth)
{
  if (g->instruction_count == MAX_INSTRUCTIONS)
    return;
  sl_text_indent(g->text, depth);
  unsigned kind = choose(g, 16), engine = choose(g, g->engines);
  bool is_transfer = g->queues && kind < 15 && kind >= (g->is_trn2 ? 3 : 9);
  sl_text_printf(g->text, "x%u: ", g->instruction_count);
  if (kind == 15)
    sl_text_printf(g->text, "%s|%s.", engine_name(g, engine), engine_name(g, (engine + 1) % g->engines));
  else if (is_transfer)
    sl_text_printf(g->text, "q%u.", choose(g, g->queues));
  else
    sl_text_printf(g->text, "%s.", engine_name(g, engine));
  work(g, is_transfer);
  add_instruction(g, false);
}

/* A value known on every engine: parameter, register, outer loop variable, and of 8 kinds also numbers. */
static void value_of(struct sync_generator *g, unsigned kinds)
{
  switch (choose(g, kinds)) {
  case 0: sl_text_puts(g->text, "n0"); break;
  case 1: sl_text_puts(g->text, "n1"); break;
  case 2: sl_text_puts(g->text, "n2"); break;
  case 3: sl_text_puts(g->text, "m"); break;
  case 4:
    if (g->register_count) {
      sl_text_printf(g->text, "%%r%u", g->registers[choose(g, g->register_count)]);
      break;
    } /* fall through */
  case 5:
    if (g->loop_count) {
      sl_text_puts(g->text, variables[choose(g, g->loop_count)]);
      break;
    } /* fall through */
  default: sl_text_printf(g->text, "%u", choose(g, 6)); break;
  }
}

static void value(struct sync_generator *g)
{
  value_of(g, 8);
}

static void comparison(struct sync_generator *g)
{
  static const char *const operators[] = { "==", "!=", "<", "<=", ">", ">=" };
  unsigned kind = choose(g, 8);
  if (kind < 4) {
    sl_text_printf(g->text, "?c%u", g->next_opaque);
    g->next_opaque += choose(g, 4) != 3; /* sometimes one name at two places */
    return;
  }
  if (kind == 4 && g->loop_count)
    sl_text_printf(g->text, "%s %% 2", variables[choose(g, g->loop_count)]);
  else
    value_of(g, 5);
  sl_text_printf(g->text, " %s ", operators[choose(g, 6)]);
  value(g);
}

static void condition(struct sync_generator *g)
{
  unsigned kind = choose(g, 8);
  comparison(g);
  if (kind >= 6) {
    sl_text_puts(g->text, kind == 6 ? " and " : " or ");
    comparison(g);
  }
}

static void load_register(struct sync_generator *g, unsigned depth)
{
  if (g->register_count == MAX_REGISTERS || g->instruction_count == MAX_INSTRUCTIONS)
    return;
  unsigned id = g->next_register++;
  sl_text_indent(g->text, depth);
  if (choose(g, 3)) {
    sl_text_printf(g->text, "x%u: *.reg_load %%r%u <- table[%u] { assume = ", g->instruction_count, id, id % 16);
    value(g);
    sl_text_puts(g->text, " }\n");
    add_instruction(g, true);
  } else {
    bool adds = choose(g, 2);
    sl_text_printf(g->text, "*.%s %%r%u, ", adds ? "reg_add" : "reg_set", id);
    value(g);
    sl_text_puts(g->text, adds ? ", 1\n" : "\n");
  }
  g->registers[g->register_count++] = id;
}

static void load_or_barrier(struct sync_generator *g, unsigned depth)
{
  if (choose(g, 8) < 7) {
    load_register(g, depth);
    return;
  }
  sl_text_indent(g->text, depth);
  sl_text_puts(g->text, "barrier\n");
}

static void loop_head(struct sync_generator *g, const char *var)
{
  sl_text_printf(g->text, "loop %s", var);
  switch (choose(g, 16)) {
  case 10: sl_text_printf(g->text, " in 1..n%u + 1", choose(g, 3)); break;
  case 11: sl_text_printf(g->text, " in %u..5 step 2", choose(g, 7)); break;
  case 12: sl_text_printf(g->text, " < n%u - 1", choose(g, 3)); break;
  case 13: sl_text_printf(g->text, " < n%u while ?c%u", choose(g, 3), g->next_opaque++); break;
  case 14: sl_text_printf(g->text, " while ?c%u", g->next_opaque++); break;
  case 15: sl_text_printf(g->text, " while %s < n%u", var, choose(g, 3)); break;
  case 9: sl_text_printf(g->text, " < n%u + 2", choose(g, 3)); break;
  default:
    sl_text_puts(g->text, " < ");
    value(g);
    break;
  }
  if (choose(g, 16) == 15)
    sl_text_printf(g->text, " unroll %u", 1 + choose(g, 4));
  sl_text_puts(g->text, " {\n");
}

static void block(struct sync_generator *g, unsigned depth);

static void loop(struct sync_generator *g, unsigned depth)
{
  sl_text_indent(g->text, depth);
  unsigned level = g->loop_count;
  loop_head(g, variables[level]);
  g->loop_depth_of[g->next_loop % 256] = level;
  g->loops[g->loop_count++] = g->next_loop++;
  block(g, depth + 1);
  g->loops[--g->loop_count] = 0;
  sl_text_indent(g->text, depth);
  sl_text_puts(g->text, "}\n");
}

static void branch(struct sync_generator *g, unsigned depth)
{
  sl_text_indent(g->text, depth);
  for (unsigned chain = 0;; chain++) {
    sl_text_puts(g->text, "if ");
    condition(g);
    sl_text_puts(g->text, " {\n");
    block(g, depth + 1);
    sl_text_indent(g->text, depth);
    unsigned otherwise = choose(g, 6);
    if (otherwise < 3)
      break;
    sl_text_puts(g->text, "} else ");
    if (otherwise == 5 && chain < 2)
      continue;
    sl_text_puts(g->text, "{\n");
    block(g, depth + 1);
    sl_text_indent(g->text, depth);
    break;
  }
  sl_text_puts(g->text, "}\n");
}

static void block(struct sync_generator *g, unsigned depth)
{
  static const unsigned counts[] = { 1, 2, 2, 3, 3, 4, 1, 0 };
  unsigned count = counts[choose(g, 8)] + (depth == 1 ? 2 : 0), registers = g->register_count;
  for (unsigned i = 0; i < count; i++) {
    unsigned kind = choose(g, 16);
    if (kind < 9 || (depth > MAX_DEPTH && kind < 15))
      op(g, depth);
    else if (kind < 13)
      loop(g, depth);
    else if (kind < 15)
      branch(g, depth);
    else
      load_or_barrier(g, depth);
  }
  g->register_count = registers;
}

static unsigned common_loops(const struct instruction *a, const struct instruction *b)
{
  unsigned count = 0;
  while (count < a->loop_count && count < b->loop_count && a->loops[count] == b->loops[count])
    count++;
  return count;
}

static bool is_known(const struct sync_generator *g, const struct dep *dep)
{
  for (unsigned d = 0; d < g->dep_count; d++) {
    if (!memcmp(&g->deps[d], dep, sizeof *dep))
      return true;
  }
  return false;
}

/* Mostly of the producer's innermost loop and the one around it, which is what strategies keep exactly; else any two. */
static void make_vector(struct sync_generator *g, struct dep *dep, unsigned common)
{
  static const int distances[] = { 0, -1, 1, -1, 2, -2, 1, -4 };
  const struct instruction *producer = &g->instructions[dep->producer];
  unsigned outer = producer->loop_count <= common ? producer->loop_count - 2 : common - 2, inner = outer + 1;
  if (choose(g, 8) == 7) {
    inner = 1 + choose(g, common - 1);
    outer = choose(g, inner);
  }
  dep->carrier = producer->loops[outer];
  dep->inner = producer->loops[inner];
  dep->inner_k = distances[choose(g, 8)];
}

static void distance(struct sync_generator *g, const struct dep *dep, unsigned common)
{
  if (dep->k == 0) {
    if (common && choose(g, 4) == 3) /* the innermost common loop may be named */
      sl_text_printf(g->text, " (%s: 0)", variables[common - 1]);
    return;
  }
  sl_text_printf(g->text, " (%s%s: %u", dep->across ? "across " : "", variables[g->loop_depth_of[dep->carrier % 256]],
                 dep->k);
  if (dep->inner) {
    unsigned level = g->loop_depth_of[dep->inner % 256];
    sl_text_printf(g->text, ", %s: %d", variables[level], dep->inner_k);
    if (level + 1 < common && choose(g, 4) == 3) /* more than two: only the first counts */
      sl_text_printf(g->text, ", %s: 1", variables[level + 1]);
  }
  sl_text_puts(g->text, ")");
}

/* Distances above 0 are carried by any common loop; 0 needs the producer first. */
static void dependence(struct sync_generator *g)
{
  struct dep dep;
  memset(&dep, 0, sizeof dep);
  dep.consumer = choose(g, g->instruction_count);
  dep.producer = choose(g, g->instruction_count);
  unsigned common = common_loops(&g->instructions[dep.producer], &g->instructions[dep.consumer]);
  /* Of two producers the one with more loops in common: most pairs share none. */
  unsigned other_producer = choose(g, g->instruction_count);
  unsigned other_common = common_loops(&g->instructions[other_producer], &g->instructions[dep.consumer]);
  if (other_common > common) {
    dep.producer = other_producer;
    common = other_common;
  }
  bool carried = choose(g, 3);
  if (common == 0 && dep.producer > dep.consumer) {
    unsigned other = dep.producer;
    dep.producer = dep.consumer;
    dep.consumer = other;
  }
  if (common && (carried || dep.producer >= dep.consumer)) {
    static const unsigned distances[] = { 1, 1, 2, 1, 2, 2, 3, 4 };
    dep.carrier = g->instructions[dep.consumer].loops[choose(g, common)];
    dep.k = distances[choose(g, 8)];
    unsigned form = choose(g, 8);
    dep.across = form == 7 || form == 6;
    if (common >= 2 && form >= 2 && !dep.across)
      make_vector(g, &dep, common);
  }
  if ((dep.k == 0 && dep.producer >= dep.consumer) || is_known(g, &dep))
    return;
  g->deps[g->dep_count++] = dep;
  sl_text_printf(g->text, "  dep x%u -> x%u", dep.producer, dep.consumer);
  distance(g, &dep, common);
  sl_text_puts(g->text, "\n");
}

static bool names_an_engine(const struct sync_generator *g)
{
  for (unsigned i = 0; i < g->instruction_count; i++) {
    if (!g->instructions[i].is_load)
      return true;
  }
  return false;
}

static void generate(struct sl_text *text, struct sl_choices *choices, bool is_trn2)
{
  struct sync_generator g;
  /* The last third of the bytes is for the dependences, so that big kernels have some too. */
  struct sl_choices tree = *choices, deps = *choices;
  tree.length = choices->length - choices->length / 3;
  deps.used = tree.length;
  memset(&g, 0, sizeof g);
  g.text = text;
  g.choices = &tree;
  g.next_loop = 1;
  g.is_trn2 = is_trn2;
  header(&g);
  block(&g, 1);
  if (!names_an_engine(&g))
    op(&g, 1); /* `*` means no engine at all where none is named */
  g.choices = &deps;
  unsigned wanted = 1 + g.instruction_count / 2 + choose(&g, 2 * g.instruction_count);
  for (unsigned d = 0; d < wanted && g.dep_count < MAX_DEPS; d++)
    dependence(&g);
  sl_text_puts(text, "}\n");
}

void sl_generate_sync(struct sl_text *text, struct sl_choices *choices)
{
  generate(text, choices, false);
}

void sl_generate_transfers(struct sl_text *text, struct sl_choices *choices)
{
  generate(text, choices, true);
}
