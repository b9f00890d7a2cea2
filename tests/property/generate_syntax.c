/* generate_syntax.c: text that uses every feature of the grammar, in every spelling the grammar allows: comments and
 * blank lines everywhere, `;`, line breaks where they do not count, CRLF. It parses; names need not mean anything.
 */
#include <string.h>

#include "property/text.h"

enum { MAX_DEPTH = 5, MAX_EXPR_DEPTH = 4 };

struct syntax_generator {
  struct sl_text *text;
  struct sl_choices *choices;
  const char *newline;
  unsigned next_name; /* declared names, labels and loop variables are all different */
  unsigned statements;
};

static unsigned choose(struct syntax_generator *g, unsigned count)
{
  return sl_choose(g->choices, count);
}

static bool chance(struct syntax_generator *g, unsigned in)
{
  return sl_chance(g->choices, in);
}

static void put(struct syntax_generator *g, const char *string)
{
  sl_text_puts(g->text, string);
}

static void comment_text(struct syntax_generator *g)
{
  static const char *const texts[] = { "# a note",
                                       "#",
                                       "#no blank before",
                                       "#  two blanks, # again, trailing blank ",
                                       "# \xc3\xa9\xe2\x86\x92 utf-8",
                                       "# \"quotes\" { [ ( ; wait s >= 4",
                                       "#\ttab" };
  put(g, texts[choose(g, 7)]);
}

static void own_line_comments(struct syntax_generator *g, unsigned depth)
{
  while (chance(g, 6)) {
    if (chance(g, 4))
      put(g, g->newline);
    sl_text_indent(g->text, depth);
    comment_text(g);
    put(g, g->newline);
  }
  while (chance(g, 8))
    put(g, g->newline);
}

static void end_line(struct syntax_generator *g)
{
  if (chance(g, 6)) {
    put(g, "  ");
    comment_text(g);
  }
  put(g, g->newline);
}

/* Where a line break does not count. */
static void soft_break(struct syntax_generator *g)
{
  if (chance(g, 24)) {
    put(g, " ");
    comment_text(g);
    put(g, g->newline);
  } else if (chance(g, 12)) {
    put(g, g->newline);
  }
  put(g, chance(g, 8) ? "   " : " ");
}

static void old_name(struct syntax_generator *g)
{
  static const char *const names[] = { "x", "n",  "tile", "a1", "very_long_name_of_a_buffer_that_breaks_lines",
                                       "y", "_z", "B" };
  put(g, names[choose(g, 8)]);
}

static void new_name(struct syntax_generator *g, const char *prefix)
{
  sl_text_printf(g->text, "%s%u", prefix, g->next_name++);
}

static void reg(struct syntax_generator *g)
{
  static const char *const registers[] = { "%r", "%sg_s_e0", "%x1", "%_" };
  put(g, registers[choose(g, 4)]);
}

static void integer(struct syntax_generator *g)
{
  static const char *const numbers[] = { "0", "1", "2", "7", "128", "4294967295", "9223372036854775807", "0x1f" };
  put(g, numbers[choose(g, 8)]);
}

static void string(struct syntax_generator *g)
{
  static const char *const strings[] = { "\"f.pto\"", "\"\"", "\"a b#c\"", "\"q\\\"uote\\\\\"", "\"\xc3\xbc\"" };
  put(g, strings[choose(g, 5)]);
}

static void expr(struct syntax_generator *g, unsigned depth)
{
  static const char *const operators[] = { " + ", " - ", " * ", " / ", " % ", "+", "*", "-" };
  if (chance(g, 10))
    put(g, "-");
  for (unsigned terms = 0;; terms++) {
    switch (depth < MAX_EXPR_DEPTH ? choose(g, 8) : choose(g, 3)) {
    case 1: integer(g); break;
    case 2: reg(g); break;
    case 3:
    case 4:
      put(g, "(");
      soft_break(g);
      expr(g, depth + 1);
      put(g, ")");
      break;
    default: old_name(g); break;
    }
    if (terms == 4 || choose(g, 3) != 2)
      return;
    put(g, operators[choose(g, 8)]);
  }
}

static void comparison(struct syntax_generator *g)
{
  static const char *const operators[] = { " == ", " != ", " < ", " <= ", " > ", " >= ", "<=", ">=" };
  if (chance(g, 3)) {
    put(g, "?");
    old_name(g);
    return;
  }
  expr(g, MAX_EXPR_DEPTH - 1);
  put(g, operators[choose(g, 8)]);
  expr(g, MAX_EXPR_DEPTH - 1);
}

static void condition(struct syntax_generator *g)
{
  const char *joint = choose(g, 2) ? " or " : " and ";
  comparison(g);
  while (chance(g, 4)) {
    put(g, joint);
    comparison(g);
  }
}

static void origin(struct syntax_generator *g)
{
  soft_break(g);
  put(g, "from ");
  string(g);
  sl_text_printf(g->text, chance(g, 2) ? ":%u:7" : ":%u", choose(g, 200));
}

/* ---- operations ---- */

static void access(struct syntax_generator *g)
{
  put(g, "[");
  for (;;) {
    switch (choose(g, 6)) {
    case 1: put(g, "?"); break;
    case 2: put(g, ":"); break;
    case 3:
      expr(g, 2);
      put(g, " : ");
      expr(g, 2);
      break;
    case 4:
      expr(g, 2);
      put(g, " +: ");
      expr(g, 2);
      break;
    default: expr(g, 2); break;
    }
    if (choose(g, 2) == 0)
      break;
    put(g, ",");
    soft_break(g);
  }
  put(g, "]");
}

static void operand(struct syntax_generator *g)
{
  switch (choose(g, 8)) {
  case 1: integer(g); return;
  case 2: reg(g); return;
  case 3: put(g, "+"); break;
  default: break;
  }
  old_name(g);
  if (choose(g, 2))
    access(g);
}

static void operands(struct syntax_generator *g)
{
  operand(g);
  while (chance(g, 3)) {
    put(g, ",");
    soft_break(g);
    operand(g);
  }
}

static void attributes(struct syntax_generator *g)
{
  put(g, " {");
  for (unsigned i = 0;; i++) {
    soft_break(g);
    sl_text_printf(g->text, "k%u = ", i);
    switch (choose(g, 6)) {
    case 1: condition(g); break;
    case 2: put(g, "1.5"); break;
    case 3: put(g, "2.5e-3"); break;
    case 4: string(g); break;
    default: expr(g, 2); break;
    }
    if (!chance(g, 3))
      break;
    put(g, ",");
  }
  put(g, " }");
}

static void event(struct syntax_generator *g)
{
  old_name(g);
  if (chance(g, 3)) {
    put(g, "[");
    expr(g, 3);
    put(g, "]");
  }
}

static void gate(struct syntax_generator *g)
{
  unsigned kind = choose(g, 6);
  if (kind == 5) {
    event(g);
    return;
  }
  old_name(g);
  put(g, choose(g, 4) == 3 ? " == " : " >= ");
  if (kind < 2)
    integer(g);
  else if (kind < 4)
    reg(g);
  else
    old_name(g);
}

static void list(struct syntax_generator *g, const char *keyword, void (*item)(struct syntax_generator *g))
{
  soft_break(g);
  put(g, keyword);
  put(g, " ");
  item(g);
  while (chance(g, 3)) {
    put(g, ",");
    soft_break(g);
    item(g);
  }
}

static void update(struct syntax_generator *g)
{
  old_name(g);
  if (choose(g, 2))
    sl_text_printf(g->text, " by %u", 1 + choose(g, 20));
}

static void clauses(struct syntax_generator *g)
{
  if (chance(g, 3))
    list(g, "wait", gate);
  if (chance(g, 3))
    list(g, "inc", update);
  if (chance(g, 8))
    list(g, "set", event);
  if (chance(g, 8))
    origin(g);
}

static void stream(struct syntax_generator *g)
{
  static const char *const streams[] = { "e0", "e1", "pe", "act", "q0", "dve" };
  if (chance(g, 8)) {
    put(g, "*");
    return;
  }
  unsigned first = choose(g, 6), count = chance(g, 6) ? 1 + choose(g, 3) : 1;
  for (unsigned i = 0; i < count; i++)
    sl_text_printf(g->text, "%s%s", i ? "|" : "", streams[(first + i) % 6]);
}

static void register_op(struct syntax_generator *g)
{
  static const char *const opcodes[] = { "reg_add", "reg_sub", "reg_mul", "reg_gt", "reg_min", "reg_max" };
  stream(g);
  bool sets = choose(g, 2) == 0;
  sl_text_printf(g->text, ".%s ", sets ? "reg_set" : opcodes[choose(g, 6)]);
  reg(g);
  for (unsigned i = 0; i < (sets ? 1u : 2u); i++) {
    put(g, ",");
    soft_break(g);
    switch (choose(g, 3)) {
    case 1: integer(g); break;
    case 2: old_name(g); break;
    default: reg(g); break;
    }
  }
}

static void target_op(struct syntax_generator *g)
{
  static const char *const opcodes[] = { "op", "copy", "matmul", "activation_with_a_long_name" };
  stream(g);
  sl_text_printf(g->text, ".%s", opcodes[choose(g, 4)]);
  unsigned shape = choose(g, 4);
  if (shape) {
    put(g, " ");
    operands(g);
  }
  if (shape > 1) {
    put(g, " <-");
    soft_break(g);
    operands(g);
  }
}

static void op(struct syntax_generator *g)
{
  if (chance(g, 2)) {
    new_name(g, "op");
    if (chance(g, 4))
      sl_text_printf(g->text, chance(g, 2) ? ".%u.0" : ".%u", choose(g, 3));
    put(g, ": ");
  }
  switch (choose(g, 8)) {
  case 4:
  case 5: register_op(g); break;
  case 6:
    stream(g);
    put(g, choose(g, 2) ? ".nop" : ".drain");
    break;
  case 7:
    stream(g);
    put(g, ".reg_load ");
    reg(g);
    put(g, " <- tile[0]");
    break;
  default: target_op(g); break;
  }
  if (chance(g, 3))
    attributes(g);
  clauses(g);
}

/* ---- statements ---- */

static void block(struct syntax_generator *g, unsigned depth);

static void close(struct syntax_generator *g, unsigned depth)
{
  own_line_comments(g, depth + 1);
  sl_text_indent(g->text, depth);
  put(g, "}");
}

static void loop(struct syntax_generator *g, unsigned depth)
{
  put(g, "loop ");
  new_name(g, "v");
  unsigned kind = choose(g, 6);
  if (kind < 4) {
    put(g, kind < 2 ? " < " : " in ");
    expr(g, 2);
    if (kind >= 2) {
      put(g, " .. ");
      expr(g, 2);
    }
    if (kind == 3)
      sl_text_printf(g->text, " step %u", 1 + choose(g, 5));
  }
  if (kind >= 4 || chance(g, 4)) {
    put(g, " while ");
    condition(g);
  }
  if (chance(g, 6))
    put(g, " divergent");
  if (chance(g, 6))
    sl_text_printf(g->text, " unroll %u", 1 + choose(g, 9));
  if (chance(g, 10))
    origin(g);
  put(g, " {");
  end_line(g);
  block(g, depth + 1);
  close(g, depth);
}

static void branch(struct syntax_generator *g, unsigned depth)
{
  for (;;) {
    put(g, "if ");
    condition(g);
    if (chance(g, 10))
      origin(g);
    put(g, " {");
    end_line(g);
    block(g, depth + 1);
    close(g, depth);
    unsigned otherwise = choose(g, 4);
    if (otherwise < 2)
      return;
    put(g, " else ");
    if (otherwise == 2)
      break;
  }
  put(g, "{");
  end_line(g);
  block(g, depth + 1);
  close(g, depth);
}

static void block(struct syntax_generator *g, unsigned depth)
{
  unsigned count = choose(g, 5);
  for (unsigned i = 0; i < count && g->statements < 60; i++) {
    g->statements++;
    own_line_comments(g, depth);
    sl_text_indent(g->text, depth);
    unsigned kind = choose(g, 12);
    if (kind == 11) {
      put(g, choose(g, 2) ? "barrier reset" : "barrier");
    } else if (kind >= 9 && depth < MAX_DEPTH) {
      branch(g, depth);
    } else if (kind >= 7 && depth < MAX_DEPTH) {
      loop(g, depth);
    } else {
      op(g);
      while (chance(g, 4)) {
        put(g, "; ");
        op(g);
      }
    }
    end_line(g);
  }
}

/* ---- declarations, dependences, kernels ---- */

static void queue(struct syntax_generator *g)
{
  put(g, "queue ");
  new_name(g, "q");
  while (chance(g, 3)) {
    put(g, ",");
    soft_break(g);
    new_name(g, "q");
  }
  put(g, choose(g, 2) ? " via e1" : " via act");
}

static void buffer(struct syntax_generator *g)
{
  put(g, "buffer ");
  new_name(g, "b");
  put(g, choose(g, 2) ? " : sbuf bf16[" : " : hbm f32[");
  for (;;) {
    switch (choose(g, 3)) {
    case 1: put(g, "128p"); break;
    case 2: expr(g, 2); break;
    default: integer(g); break;
    }
    if (choose(g, 2) == 0)
      break;
    put(g, ",");
    soft_break(g);
  }
  put(g, "]");
  if (chance(g, 3)) {
    put(g, " at ");
    if (choose(g, 2))
      put(g, "32p, ");
    expr(g, 2);
  }
  if (chance(g, 4))
    attributes(g);
}

static void semaphores(struct syntax_generator *g)
{
  put(g, "sem ");
  for (;;) {
    new_name(g, "s");
    if (chance(g, 3))
      sl_text_printf(g->text, " = %u", choose(g, 9));
    if (chance(g, 5))
      sl_text_printf(g->text, " at %u", choose(g, 200));
    if (choose(g, 2) == 0)
      return;
    put(g, ",");
    soft_break(g);
  }
}

static void event_decl(struct syntax_generator *g)
{
  put(g, "event ");
  new_name(g, "ev");
  if (choose(g, 2))
    sl_text_printf(g->text, "[%u]", 1 + choose(g, 8));
  put(g, " : e0 -> act");
  if (chance(g, 4))
    sl_text_printf(g->text, " at %u", choose(g, 200));
}

static void declarations(struct syntax_generator *g)
{
  while (choose(g, 4)) {
    own_line_comments(g, 1);
    put(g, "  ");
    switch (choose(g, 6)) {
    case 1: buffer(g); break;
    case 2: semaphores(g); break;
    case 3: event_decl(g); break;
    case 4:
      put(g, "alias ");
      old_name(g);
      put(g, " b0");
      break;
    case 5: queue(g); break;
    default: semaphores(g); break;
    }
    end_line(g);
  }
}

static void dependence(struct syntax_generator *g)
{
  bool removed = chance(g, 4);
  sl_text_printf(g->text, "%s op%u -> op%u", removed ? "nodep" : "dep", choose(g, 20), choose(g, 20));
  if (choose(g, 2)) {
    put(g, " (");
    for (unsigned i = 0;; i++) {
      put(g, chance(g, 4) ? "across " : "");
      if (chance(g, 8))
        put(g, "across");
      else
        sl_text_printf(g->text, "v%u", choose(g, 20));
      sl_text_printf(g->text, ": %s%u", i && choose(g, 2) ? "-" : "", choose(g, 5));
      if (choose(g, 3) < 2)
        break;
      put(g, ",");
      soft_break(g);
    }
    put(g, ")");
  }
  if (removed) {
    put(g, " ");
    string(g);
  }
}

static void kernel(struct syntax_generator *g, unsigned number)
{
  sl_text_printf(g->text, "kernel k%u", number);
  if (choose(g, 2)) {
    put(g, "(");
    for (;;) {
      if (chance(g, 3))
        put(g, "static ");
      new_name(g, "n");
      if (choose(g, 2)) {
        put(g, " = ");
        expr(g, 2);
      }
      if (choose(g, 2) == 0)
        break;
      put(g, ",");
      soft_break(g);
    }
    put(g, ")");
  }
  put(g, choose(g, 2) ? " target generic" : " target trn2");
  if (choose(g, 2))
    put(g, " explicit");
  if (chance(g, 8))
    origin(g);
  put(g, " {");
  end_line(g);
  declarations(g);
  block(g, 1);
  if (chance(g, 4)) {
    put(g, "  epilogue");
    end_line(g);
  }
  while (choose(g, 3)) {
    own_line_comments(g, 1);
    put(g, "  ");
    dependence(g);
    end_line(g);
  }
  close(g, 0);
  end_line(g);
}

void sl_generate_syntax(struct sl_text *text, struct sl_choices *choices)
{
  struct syntax_generator g = { .text = text, .choices = choices };
  g.newline = chance(&g, 8) ? "\r\n" : "\n";
  own_line_comments(&g, 0);
  if (choose(&g, 4)) {
    put(&g, "sluice 1");
    end_line(&g);
  }
  unsigned count = 1 + choose(&g, 2);
  for (unsigned k = 0; k < count; k++) {
    own_line_comments(&g, 0);
    kernel(&g, k);
  }
  own_line_comments(&g, 0);
}
