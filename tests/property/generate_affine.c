/* generate_affine.c: kernels without dependence lines, for the judges of dependence inference. They verify on the
 * generic targets, every instruction has a label, and every index that is not `?` or a register lies within its
 * dimension for all parameters up to SL_AFFINE_MAX_PARAM.
 *
 * What they cover: nesting to depth 3 with trip counts by constant (0 to 6, steps too), parameter and outer variable;
 * branches with opaque and affine conditions; engines, queues that share triggers with them, copies; buffers of all
 * spaces with 1 to 3 dimensions, at addresses that overlap by bytes or of their own, aliases; indices affine in the
 * variables, remainders and quotients of them, rotations that restart or go on across loops, ranges of fixed and
 * varying extent, `?`, registers.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "property/generate.h"
#include "property/text.h"

enum {
  MAX_LOOPS = 3,
  MAX_BUFFERS = 4,
  MAX_DIMS = 3,
  MAX_INSTRUCTIONS = 12,
  INDEX_TEXT = 64,
  PARAMS = 2,
  MAX_ENGINES = 4,
  NO_ENGINE = MAX_ENGINES
};

struct buffer {
  const char *space;
  unsigned sizes[MAX_DIMS], dim_count;
};

struct open_loop {
  int low, high;   /* least and greatest value of the variable; high < low when it makes no trip */
  char bound[16];  /* what its variable stays below, when that is a constant or a parameter and the loop starts at 0 */
  int bound_value; /* greatest value of the bound */
};

/* An expression and the values it can take. */
struct affine {
  char text[INDEX_TEXT];
  int low, high;
};

struct affine_generator {
  struct sl_text *text;
  struct sl_choices *choices;
  unsigned engines, queues;
  struct buffer buffers[MAX_BUFFERS];
  unsigned buffer_count;
  struct open_loop loops[MAX_LOOPS];
  unsigned loop_count, instruction_count, next_opaque;
  bool has_register[MAX_ENGINES]; /* by engine: %r was loaded in a block around here */
};

static const char *const variables[MAX_LOOPS] = { "i", "j", "k" };

static unsigned choose(struct affine_generator *g, unsigned count)
{
  return sl_choose(g->choices, count);
}

static bool chance(struct affine_generator *g, unsigned in)
{
  return sl_chance(g->choices, in);
}

/* ---- declarations ---- */

static void address(struct affine_generator *g, bool partitioned)
{
  static const unsigned addresses[] = { 0, 4, 8, 16, 2, 6, 3, 32 };
  if (choose(g, 3) != 2)
    return;
  sl_text_puts(g->text, " at ");
  if (partitioned && chance(g, 3))
    sl_text_printf(g->text, "%up, ", 1 + choose(g, 3));
  sl_text_printf(g->text, "%u", addresses[choose(g, 8)]);
}

static void buffer(struct affine_generator *g)
{
  static const char *const spaces[] = { "sbuf", "hbm", "psum", "sbuf" };
  static const char *const types[] = { "f32", "bf16", "i8", "f32" };
  static const unsigned sizes[] = { 2, 3, 4, 8, 6, 1, 5, 12 };
  static const unsigned dim_counts[] = { 1, 2, 1, 2, 3, 2, 2, 3 };
  struct buffer *buffer = &g->buffers[g->buffer_count];
  unsigned space = choose(g, 4);
  bool partitioned = space != 1;
  buffer->space = spaces[space];
  buffer->dim_count = dim_counts[choose(g, 8)];
  unsigned partition = chance(g, 3) ? choose(g, buffer->dim_count) : 0;
  sl_text_printf(g->text, "  buffer b%u : %s %s[", g->buffer_count, buffer->space, types[choose(g, 4)]);
  for (unsigned d = 0; d < buffer->dim_count; d++) {
    buffer->sizes[d] = sizes[choose(g, 8)];
    sl_text_printf(g->text, "%s%u%s", d ? ", " : "", buffer->sizes[d], partitioned && d == partition ? "p" : "");
  }
  sl_text_puts(g->text, "]");
  address(g, partitioned);
  sl_text_puts(g->text, "\n");
  g->buffer_count++;
}

/* Memory of one space may be shared. */
static void alias(struct affine_generator *g)
{
  if (g->buffer_count < 2 || !chance(g, 4))
    return;
  unsigned a = choose(g, g->buffer_count), b = (a + 1 + choose(g, g->buffer_count - 1)) % g->buffer_count;
  if (!strcmp(g->buffers[a].space, g->buffers[b].space))
    sl_text_printf(g->text, "  alias b%u b%u\n", a, b);
}

static void header(struct affine_generator *g)
{
  const char *target = chance(g, 6) ? "generic-weak" : "generic";
  g->engines = 2 + choose(g, 3);
  g->queues = choose(g, 3);
  sl_text_printf(g->text, "sluice 1\n\nkernel generated(n0 = 3, n1 = 2) target %s {\n", target);
  for (unsigned q = 0; q < g->queues; q++)
    sl_text_printf(g->text, "  queue q%u via e%u\n", q, choose(g, g->engines));
  sl_text_puts(g->text, "  buffer table : hbm i32[8]\n");
  static const unsigned counts[] = { 1, 2, 2, 3, 2, 1, 3, 4 };
  unsigned count = counts[choose(g, 8)];
  while (g->buffer_count < count)
    buffer(g);
  alias(g);
}

/* ---- indices ---- */

__attribute__((format(printf, 3, 4))) static struct affine affine(int low, int high, const char *format, ...)
{
  struct affine e = { "", low, high };
  va_list args;
  va_start(args, format);
  int length = vsnprintf(e.text, sizeof e.text, format, args);
  va_end(args);
  if (length < 0 || length >= INDEX_TEXT)
    abort();
  return e;
}

static struct affine constant(unsigned value)
{
  return affine((int)value, (int)value, "%u", value);
}

/* The variable of the loop of that depth; of one that makes no trip, with its first value. */
static struct affine variable(const struct affine_generator *g, unsigned depth)
{
  const struct open_loop *loop = &g->loops[depth];
  return affine(loop->low, loop->high < loop->low ? loop->low : loop->high, "%s", variables[depth]);
}

/* (N*i + j): counts on through the visits of the inner loop when N is its bound. */
static struct affine ring(struct affine_generator *g, unsigned outer, unsigned inner)
{
  const struct open_loop *loop = &g->loops[inner];
  struct affine i = variable(g, outer), j = variable(g, inner);
  if (loop->bound[0] && !chance(g, 4))
    return affine(0, loop->bound_value * i.high + j.high, "%s*%s + %s", loop->bound, i.text, j.text);
  int factor = (int)choose(g, 4);
  return affine(0, factor * i.high + j.high, "%d*%s + %s", factor, i.text, j.text);
}

static struct affine linear(struct affine_generator *g)
{
  unsigned kind = choose(g, 8), which = choose(g, 18);
  unsigned depth = g->loop_count - 1 - which % g->loop_count;
  int c = 1 + (int)(which / 6);
  struct affine v = variable(g, depth);
  if (kind == 7 && depth > 0)
    return ring(g, choose(g, depth), depth);
  switch (kind) {
  default: return v;
  case 2:
  case 3: return affine(v.low + c, v.high + c, "%s + %d", v.text, c);
  case 4: return affine(2 * v.low + c - 1, 2 * v.high + c - 1, "2*%s + %d", v.text, c - 1);
  case 5: return affine(v.low - c, v.high - c, "%s - %d", v.text, c);
  case 6: return affine(v.low / 2, v.high / 2, "%s / 2", v.text);
  }
}

static struct affine remainder_of(struct affine e, unsigned divisor)
{
  bool is_sum = strpbrk(e.text, "+-*/") != NULL;
  return affine(0, (int)divisor - 1, is_sum ? "(%s) %% %u" : "%s %% %u", e.text, divisor);
}

/* An index below `limit`, which is at least 1. What may lie outside is made a rotation or a constant. */
static struct affine index_below(struct affine_generator *g, unsigned limit)
{
  unsigned kind = choose(g, 8);
  if (g->loop_count == 0 || kind == 7)
    return constant(choose(g, limit));
  struct affine e = linear(g);
  if (kind >= 5 && limit > 1)
    return remainder_of(e, 2 + choose(g, limit - 1 < 3 ? limit - 1 : 3));
  if (e.low >= 0 && e.high < (int)limit)
    return e;
  return limit > 1 ? remainder_of(e, limit) : constant(0);
}

/* From a place that varies, so many elements. */
static void range(struct affine_generator *g, unsigned size)
{
  unsigned length = 1 + choose(g, size);
  struct affine first = index_below(g, size - length + 1);
  if (choose(g, 2))
    sl_text_printf(g->text, "%s +: %u", first.text, length);
  else if (first.low == first.high)
    sl_text_printf(g->text, "%s:%u", first.text, (unsigned)first.low + length);
  else
    sl_text_printf(g->text, "%s:%s + %u", first.text, first.text, length);
}

static void access_index(struct affine_generator *g, unsigned engine, unsigned size)
{
  switch (choose(g, 16)) {
  default: sl_text_puts(g->text, index_below(g, size).text); break;
  case 9:
  case 10:
  case 11: range(g, size); break;
  case 12:
  case 13: sl_text_puts(g->text, ":"); break;
  case 14: sl_text_printf(g->text, "0:%s + 1", index_below(g, size).text); break;
  case 15:
    if (engine != NO_ENGINE && g->has_register[engine] && choose(g, 2))
      sl_text_puts(g->text, "%r");
    else
      sl_text_puts(g->text, chance(g, 3) ? "?" : "0");
    break;
  }
}

static void operand(struct affine_generator *g, unsigned engine)
{
  unsigned b = choose(g, g->buffer_count), indices = g->buffers[b].dim_count, form = choose(g, 16);
  sl_text_printf(g->text, "b%u", b);
  if (form == 15)
    return; /* all of it */
  indices -= form == 14 && indices > 1;
  for (unsigned d = 0; d < indices; d++) {
    sl_text_puts(g->text, d ? ", " : "[");
    access_index(g, engine, g->buffers[b].sizes[d]);
  }
  sl_text_puts(g->text, "]");
}

/* ---- statements ---- */

/* Writes the stream; returns the engine whose registers its operands may hold, or NO_ENGINE. */
static unsigned stream(struct affine_generator *g)
{
  unsigned which = choose(g, 32), engine = which % g->engines;
  if (which == 31)
    sl_text_printf(g->text, "e%u|e%u", engine, (engine + 1) % g->engines);
  else if (which >= 20 && g->queues)
    sl_text_printf(g->text, "q%u", which % g->queues);
  else
    sl_text_printf(g->text, "e%u", engine);
  return which == 31 || (which >= 20 && g->queues) ? NO_ENGINE : engine;
}

static void op(struct affine_generator *g, unsigned depth)
{
  static const unsigned operands[][2] = {
    { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 0 }, { 0, 1 }, { 1, 2 }, { 2, 1 }, { 1, 3 }
  };
  if (g->instruction_count == MAX_INSTRUCTIONS)
    return;
  sl_text_indent(g->text, depth);
  sl_text_printf(g->text, "x%u: ", g->instruction_count++);
  unsigned engine = stream(g), form = choose(g, 16);
  const unsigned *counts = operands[form % 8];
  sl_text_puts(g->text, ".op ");
  for (unsigned d = 0; d < counts[0]; d++) {
    sl_text_puts(g->text, d ? ", " : "");
    sl_text_puts(g->text, form >= 12 ? "+" : "");
    operand(g, engine);
  }
  for (unsigned s = 0; s < counts[1]; s++) {
    sl_text_puts(g->text, s ? ", " : counts[0] ? " <- " : "<- ");
    operand(g, engine);
  }
  sl_text_puts(g->text, "\n");
}

/* Loads a word that others may write: `%r` of one engine. */
static void load(struct affine_generator *g, unsigned depth)
{
  if (g->instruction_count == MAX_INSTRUCTIONS)
    return;
  unsigned engine = choose(g, g->engines);
  sl_text_indent(g->text, depth);
  sl_text_printf(g->text, "x%u: e%u.reg_load %%r <- ", g->instruction_count++, engine);
  if (chance(g, 2))
    sl_text_printf(g->text, "table[%s]", index_below(g, 8).text);
  else
    operand(g, NO_ENGINE);
  sl_text_puts(g->text, " { assume = 0 }\n");
  g->has_register[engine] = true;
}

static void block(struct affine_generator *g, unsigned depth);

static void set_loop(struct open_loop *loop, int low, int high, const char *bound, int bound_value)
{
  loop->low = low;
  loop->high = high;
  loop->bound_value = bound_value;
  snprintf(loop->bound, sizeof loop->bound, "%s", bound);
}

static void loop_head(struct affine_generator *g)
{
  static const unsigned trip_counts[MAX_LOOPS][8] = { { 3, 4, 5, 6, 2, 1, 4, 0 },
                                                      { 2, 3, 4, 3, 2, 1, 4, 0 },
                                                      { 2, 3, 2, 3, 2, 1, 3, 0 } };
  static const char *const params[PARAMS] = { "n0", "n1" };
  unsigned depth = g->loop_count, kind = choose(g, 16), trips = trip_counts[depth][choose(g, 8)];
  struct open_loop *loop = &g->loops[depth];
  char bound[16];
  snprintf(bound, sizeof bound, "%u", trips);
  sl_text_printf(g->text, "loop %s ", variables[depth]);
  if (kind == 13) {
    unsigned low = choose(g, 4), step = 1 + choose(g, 3);
    sl_text_printf(g->text, "in %u..%u step %u {\n", low, low + trips, step);
    set_loop(loop, (int)low, (int)(low + trips) - 1, "", 0);
  } else if (kind == 14) {
    const char *param = params[choose(g, PARAMS)];
    sl_text_printf(g->text, "< %s {\n", param);
    set_loop(loop, 0, SL_AFFINE_MAX_PARAM - 1, param, SL_AFFINE_MAX_PARAM);
  } else if (kind == 15 && depth > 0) {
    sl_text_printf(g->text, "< %s + 1 {\n", variables[depth - 1]);
    set_loop(loop, 0, variable(g, depth - 1).high, "", 0);
  } else {
    sl_text_printf(g->text, "< %u {\n", trips);
    set_loop(loop, 0, (int)trips - 1, bound, (int)trips);
  }
}

static void inner_block(struct affine_generator *g, unsigned depth)
{
  bool kept[MAX_ENGINES];
  memcpy(kept, g->has_register, sizeof kept);
  block(g, depth + 1);
  memcpy(g->has_register, kept, sizeof kept);
  sl_text_indent(g->text, depth);
}

static void loop(struct affine_generator *g, unsigned depth)
{
  sl_text_indent(g->text, depth);
  loop_head(g);
  g->loop_count++;
  inner_block(g, depth);
  g->loop_count--;
  sl_text_puts(g->text, "}\n");
}

static void comparison(struct affine_generator *g)
{
  static const char *const operators[] = { "==", "<", ">=", "!=", "<=", ">" };
  unsigned kind = choose(g, 4);
  if (kind == 0 || g->loop_count == 0) {
    sl_text_printf(g->text, "?c%u", g->next_opaque++);
    return;
  }
  struct affine v = variable(g, choose(g, g->loop_count));
  if (kind == 1)
    sl_text_printf(g->text, "%s %% 2 == %u", v.text, choose(g, 2));
  else
    sl_text_printf(g->text, "%s %s %u", v.text, operators[choose(g, 6)], choose(g, 4));
}

static void branch(struct affine_generator *g, unsigned depth)
{
  sl_text_indent(g->text, depth);
  sl_text_puts(g->text, "if ");
  comparison(g);
  if (chance(g, 5)) {
    sl_text_puts(g->text, choose(g, 2) ? " and " : " or ");
    comparison(g);
  }
  sl_text_puts(g->text, " {\n");
  inner_block(g, depth);
  if (chance(g, 3)) {
    sl_text_puts(g->text, "} else {\n");
    inner_block(g, depth);
  }
  sl_text_puts(g->text, "}\n");
}

/* When the bytes are used up, all that could follow would be alike. */
static bool has_choices(const struct affine_generator *g)
{
  return g->choices->used < g->choices->length;
}

/* `depth` of the text: loops and branches. */
static void block(struct affine_generator *g, unsigned depth)
{
  static const unsigned counts[] = { 1, 2, 3, 2, 3, 2, 4, 3 };
  unsigned count = counts[choose(g, 8)] + (depth == 1);
  for (unsigned n = 0; n < count && (n == 0 || has_choices(g)); n++) {
    unsigned kind = choose(g, 16);
    if (kind >= (depth == 1 ? 4 : 7) && kind < 13 && g->loop_count < MAX_LOOPS && depth <= 4)
      loop(g, depth);
    else if (kind >= 13 && kind < 15 && depth <= 4)
      branch(g, depth);
    else if (kind == 15)
      load(g, depth);
    else
      op(g, depth);
  }
}

void sl_generate_affine(struct sl_text *text, struct sl_choices *choices)
{
  struct affine_generator g;
  memset(&g, 0, sizeof g);
  g.text = text;
  g.choices = choices;
  header(&g);
  block(&g, 1);
  sl_text_puts(text, "}\n");
}
