/* verify_expr.c: names in expressions, conditions and attributes. O(size); recursion is bounded by SL_NESTING_EXPR, the
 * number of nodes too, because a tree built through the API may share its parts. */
#include "ir/verify.h"

enum { NODE_LIMIT = 1 << 20 };

bool sl_verify_name(struct sl_verifier *v, sl_name name, sl_loc loc, unsigned kinds, const char *what)
{
  const struct sl_symbol *symbol = sl_scope_find(&v->scope, name);
  const char *text = sl_text(v->program, name);
  if (kinds >> symbol->kind & 1u)
    return true;
  if (symbol->kind == SL_SYMBOL_CLOSED_LOOP) {
    if (kinds >> SL_SYMBOL_LOOP & 1u)
      sl_verify_error(v, SL_RULE_SCOPE, loc, "loop variable '%s' is used outside its loop", text);
    else
      sl_verify_error(v, SL_RULE_KIND, loc, "'%s' is a loop variable, %s is needed", text, what);
    return false;
  }
  if (symbol->kind != SL_SYMBOL_NONE) {
    sl_loc declared = symbol->loc;
    sl_verify_begin(v, SL_RULE_KIND, loc, "'%s' is %s, %s is needed", text, sl_symbol_text(symbol->kind), what);
    sl_verify_end_at(v, declared, "declared here");
    return false;
  }
  const char *closest = sl_scope_closest(&v->scope, name, kinds);
  if (closest)
    sl_verify_error(v, SL_RULE_UNDEFINED, loc, "'%s' is not declared: did you mean '%s'?", text, closest);
  else
    sl_verify_error(v, SL_RULE_UNDEFINED, loc, "'%s' is not declared, %s is needed", text, what);
  return false;
}

struct expr_check {
  struct sl_verifier *v;
  unsigned may_use;
  uint32_t nodes;
  bool stopped; /* reported as too deep or too large: say it once */
};

static void stop(struct expr_check *check, sl_loc loc, const char *why)
{
  if (!check->stopped)
    sl_verify_error(check->v, SL_RULE_NESTING, loc, "the expression %s", why);
  check->stopped = true;
}

static void check_leaf_name(struct expr_check *check, const struct sl_expr *expr)
{
  unsigned kinds = 1u << SL_SYMBOL_PARAM;
  const char *what = "a parameter";
  if (check->may_use & SL_MAY_USE_LOOPS) {
    kinds |= 1u << SL_SYMBOL_LOOP;
    what = "a parameter or enclosing loop variable";
  }
  (void)sl_verify_name(check->v, (sl_name)expr->u.value, expr->loc, kinds, what);
}

static struct sl_constant check_expr(struct expr_check *check, sl_index index, uint32_t depth);

static struct sl_constant check_parts(struct expr_check *check, const struct sl_expr *expr, uint32_t depth)
{
  struct sl_constant lhs = check_expr(check, expr->u.sub.lhs, depth + 1);
  if (expr->kind == SL_EXPR_NEG)
    return sl_constant_binary(SL_EXPR_SUB, sl_constant_of(0), lhs);
  struct sl_constant rhs = check_expr(check, expr->u.sub.rhs, depth + 1);
  return sl_constant_binary((enum sl_expr_kind)expr->kind, lhs, rhs);
}

static struct sl_constant check_expr(struct expr_check *check, sl_index index, uint32_t depth)
{
  struct sl_expr expr = check->v->kernel->exprs.data[index];
  struct sl_constant unknown = sl_constant_none(SL_CONST_UNKNOWN);
  if (depth > SL_NESTING_EXPR + 1) /* the operand of the innermost operator */
    stop(check, expr.loc, "nests too deeply");
  else if (++check->nodes > NODE_LIMIT)
    stop(check, expr.loc, "is too large");
  if (check->stopped)
    return unknown;
  switch ((enum sl_expr_kind)expr.kind) {
  case SL_EXPR_INT: return sl_constant_of(expr.u.value);
  case SL_EXPR_NAME: check_leaf_name(check, &expr); return unknown;
  case SL_EXPR_REG:
    if (!(check->may_use & SL_MAY_USE_REGISTERS))
      sl_verify_error(check->v, SL_RULE_KIND, expr.loc,
                      "register '%%%s' cannot be used here: the value must be known "
                      "before the kernel runs",
                      sl_text(check->v->program, (sl_name)expr.u.value));
    return unknown;
  default: break;
  }
  struct sl_constant value = check_parts(check, &expr, depth);
  if (value.state == SL_CONST_DIVISION)
    sl_verify_error(check->v, SL_RULE_LITERAL, expr.loc, "division by the constant 0");
  else if (value.state == SL_CONST_OVERFLOW)
    sl_verify_error(check->v, SL_RULE_LITERAL, expr.loc, "the constant does not fit 64 bits");
  return value.state == SL_CONST_KNOWN ? value : unknown;
}

struct sl_constant sl_verify_expr(struct sl_verifier *v, sl_index expr, unsigned may_use)
{
  if (!expr)
    return sl_constant_none(SL_CONST_UNKNOWN);
  struct expr_check check = { .v = v, .may_use = may_use };
  return check_expr(&check, expr, 1);
}

void sl_verify_cond(struct sl_verifier *v, struct sl_cond cond, unsigned may_use)
{
  for (uint32_t i = 0; i < cond.count; i++) {
    struct sl_cmp cmp = v->kernel->cmps.data[cond.first + i];
    if (cmp.op == SL_CMP_OPAQUE)
      continue;
    (void)sl_verify_expr(v, cmp.lhs, may_use);
    (void)sl_verify_expr(v, cmp.rhs, may_use);
  }
}

/* A lone name that nothing declares is a keyword of the opcode: `func = exp`. */
static bool is_keyword(const struct sl_verifier *v, const struct sl_attr *attr)
{
  return attr->kind == SL_ATTR_EXPR && v->kernel->exprs.data[attr->expr].kind == SL_EXPR_NAME;
}

void sl_verify_attrs(struct sl_verifier *v, uint32_t first, uint32_t count, unsigned may_use)
{
  uint32_t mark = ++v->mark;
  for (uint32_t i = 0; i < count; i++) {
    struct sl_attr attr = v->kernel->attrs.data[first + i];
    if (v->attr_marks.data[attr.name] == mark)
      sl_verify_error(v, SL_RULE_REDEFINED, attr.loc, "attribute '%s' is given twice", sl_text(v->program, attr.name));
    v->attr_marks.data[attr.name] = mark;
    if (attr.kind == SL_ATTR_COND)
      sl_verify_cond(v, attr.cond, may_use);
    else if (attr.kind == SL_ATTR_EXPR && !is_keyword(v, &attr))
      (void)sl_verify_expr(v, attr.expr, may_use);
  }
}
