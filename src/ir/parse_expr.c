/* parse_expr.c: expressions, conditions, attributes and `from`; see parse.h. Every expression is at most SL_NESTING_EXPR
 * high, parentheses included, which bounds the recursion here and of whoever walks it.
 */
#include "ir/parse.h"

/* ---- expressions ---- */

/* An expression with the height of its tree, which bounds the recursion of whoever walks it. expr 0: failed. */
struct node {
  sl_index expr;
  uint32_t height;
};

static const struct node no_node = { SL_NONE, 0 };

static struct node parse_expr_node(struct parser *p);

static struct node parse_factor(struct parser *p)
{
  struct node node = { SL_NONE, 1 };
  sl_loc loc = p->lex.loc;
  switch (p->lex.kind) {
  case SL_TOKEN_INT: {
    int64_t value;
    if (sl_parse_int(p, &value, 0, INT64_MAX, "an integer"))
      node.expr = sl_expr_int(p->kernel, value, loc);
    return node;
  }
  case SL_TOKEN_NAME: {
    sl_name name = sl_parse_name(p, "an expression");
    if (name)
      node.expr = sl_expr_name(p->kernel, SL_EXPR_NAME, name, loc);
    return node;
  }
  case SL_TOKEN_REGISTER:
    node.expr = sl_expr_name(p->kernel, SL_EXPR_REG, intern_token(p), loc);
    next(p);
    return node;
  case SL_TOKEN_LPAREN:
    if (p->expr_depth == SL_NESTING_EXPR) {
      sl_parse_too_deep(p, loc, "parentheses", SL_NESTING_EXPR);
      return no_node;
    }
    p->expr_depth++;
    next(p);
    node = parse_expr_node(p);
    p->expr_depth--;
    if (node.expr && !expect(p, SL_TOKEN_RPAREN, "')'"))
      return no_node;
    return node;
  case SL_TOKEN_FLOAT:
    sl_parse_expected(p, "an expression (a fraction can stand only alone, as the value of an attribute)");
    return no_node;
  default:
    sl_parse_expected(p, "an expression");
    return no_node;
  }
}

static struct node combine(struct parser *p, enum sl_expr_kind kind, struct node lhs, struct node rhs, sl_loc loc)
{
  uint32_t height = (lhs.height > rhs.height ? lhs.height : rhs.height) + 1;
  if (!rhs.expr)
    return no_node;
  if (height > SL_NESTING_EXPR) {
    sl_parse_too_deep(p, loc, "operators of an expression", SL_NESTING_EXPR);
    return no_node;
  }
  struct node node = { sl_expr_binary(p->kernel, kind, lhs.expr, rhs.expr, loc), height };
  return node;
}

static struct node parse_term(struct parser *p)
{
  struct node node = parse_factor(p);
  while (node.expr) {
    enum sl_expr_kind kind;
    switch (p->lex.kind) {
    case SL_TOKEN_STAR: kind = SL_EXPR_MUL; break;
    case SL_TOKEN_SLASH: kind = SL_EXPR_DIV; break;
    case SL_TOKEN_PERCENT: kind = SL_EXPR_MOD; break;
    case SL_TOKEN_REGISTER:
      sl_parse_expected(p, "an operator (the remainder is written with a blank after the '%')");
      return no_node;
    default: return node;
    }
    sl_loc loc = p->lex.loc;
    next(p);
    node = combine(p, kind, node, parse_factor(p), loc);
  }
  return node;
}

/* A term after a minus sign at `loc`. The sign of a lone integer becomes part of it. */
static struct node parse_negative(struct parser *p, sl_loc loc)
{
  if (at(p, SL_TOKEN_INT) && p->lex.value == (uint64_t)1 << 63) {
    next(p);
    if (!at(p, SL_TOKEN_STAR) && !at(p, SL_TOKEN_SLASH) && !at(p, SL_TOKEN_PERCENT)) {
      struct node least = { sl_expr_int(p->kernel, INT64_MIN, loc), 1 };
      return least;
    }
    sl_error(p->report, SL_RULE_LITERAL, loc, "integer does not fit into 64 bits");
    return no_node;
  }
  struct node node = parse_term(p);
  if (!node.expr)
    return node;
  struct sl_expr *expr = &p->kernel->exprs.data[node.expr];
  if (expr->kind == SL_EXPR_INT && expr->u.value >= 0) {
    expr->u.value = -expr->u.value;
    expr->loc = loc;
    return node;
  }
  if (node.height >= SL_NESTING_EXPR) {
    sl_parse_too_deep(p, loc, "operators of an expression", SL_NESTING_EXPR);
    return no_node;
  }
  struct node negated = { sl_expr_binary(p->kernel, SL_EXPR_NEG, node.expr, SL_NONE, loc), node.height + 1 };
  return negated;
}

/* The terms after the first one. */
static struct node parse_sum(struct parser *p, struct node node)
{
  while (node.expr && (at(p, SL_TOKEN_PLUS) || at(p, SL_TOKEN_MINUS))) {
    enum sl_expr_kind kind = at(p, SL_TOKEN_PLUS) ? SL_EXPR_ADD : SL_EXPR_SUB;
    sl_loc loc = p->lex.loc;
    next(p);
    node = combine(p, kind, node, parse_term(p), loc);
  }
  return node;
}

static struct node parse_expr_node(struct parser *p)
{
  sl_loc loc = p->lex.loc;
  return parse_sum(p, accept(p, SL_TOKEN_MINUS) ? parse_negative(p, loc) : parse_term(p));
}

bool sl_parse_expression(struct parser *p, sl_index *expr)
{
  *expr = parse_expr_node(p).expr;
  return *expr != SL_NONE;
}

/* ---- conditions ---- */

static bool compare_of(enum sl_token_kind kind, uint8_t *compare)
{
  switch (kind) {
  case SL_TOKEN_EQ: *compare = SL_CMP_EQ; return true;
  case SL_TOKEN_NE: *compare = SL_CMP_NE; return true;
  case SL_TOKEN_LT: *compare = SL_CMP_LT; return true;
  case SL_TOKEN_LE: *compare = SL_CMP_LE; return true;
  case SL_TOKEN_GT: *compare = SL_CMP_GT; return true;
  case SL_TOKEN_GE: *compare = SL_CMP_GE; return true;
  default: return false;
  }
}

/* One comparison; `lhs` is its left side when that has been read, else 0. */
static bool parse_cmp(struct parser *p, sl_index lhs, struct sl_cond *cond)
{
  struct sl_cmp cmp = { SL_CMP_OPAQUE, lhs, SL_NONE, 0, lhs ? p->kernel->exprs.data[lhs].loc : p->lex.loc };
  if (!lhs && accept(p, SL_TOKEN_QUESTION)) {
    cmp.opaque = sl_parse_name(p, "the name of a condition after '?'");
    if (!cmp.opaque)
      return false;
  } else {
    if (!lhs && !sl_parse_expression(p, &cmp.lhs))
      return false;
    if (!compare_of(p->lex.kind, &cmp.op))
      return sl_parse_expected(p, "a comparison (== != < <= > >=)");
    next(p);
    if (!sl_parse_expression(p, &cmp.rhs))
      return false;
  }
  sl_vec_add(p->heap, &p->kernel->cmps, cmp);
  return sl_parse_count(p, &cond->count, "comparisons in a condition");
}

bool sl_parse_condition(struct parser *p, sl_index lhs, struct sl_cond *cond)
{
  cond->first = p->kernel->cmps.len;
  cond->count = 0;
  cond->any = false;
  if (!parse_cmp(p, lhs, cond))
    return false;
  cond->any = at_word(p, "or");
  while (at_word(p, "and") || at_word(p, "or")) {
    if (at_word(p, "or") != cond->any) {
      sl_error(p->report, SL_RULE_SYNTAX, p->lex.loc, "'and' and 'or' cannot be mixed in one condition");
      return false;
    }
    next(p);
    if (!parse_cmp(p, SL_NONE, cond))
      return false;
  }
  return true;
}

/* ---- attributes ---- */

static bool take_float(struct parser *p, struct sl_attr *attr, bool negative)
{
  attr->kind = SL_ATTR_FLOAT;
  if (negative)
    attr->text = sl_internf(p->program, "-%.*s", (int)p->lex.length, p->lex.start);
  else
    attr->text = intern_token(p);
  next(p);
  return true;
}

static bool parse_attr_value(struct parser *p, struct sl_attr *attr)
{
  sl_loc loc = p->lex.loc;
  struct node node;
  if (at(p, SL_TOKEN_STRING)) {
    attr->kind = SL_ATTR_STRING;
    attr->text = sl_lexer_string(&p->lex);
    next(p);
    return true;
  }
  if (at(p, SL_TOKEN_FLOAT))
    return take_float(p, attr, false);
  if (at(p, SL_TOKEN_QUESTION)) {
    attr->kind = SL_ATTR_COND;
    return sl_parse_condition(p, SL_NONE, &attr->cond);
  }
  if (accept(p, SL_TOKEN_MINUS)) {
    if (at(p, SL_TOKEN_FLOAT))
      return take_float(p, attr, true);
    node = parse_sum(p, parse_negative(p, loc));
  } else {
    node = parse_expr_node(p);
  }
  uint8_t compare;
  attr->expr = node.expr;
  if (!node.expr || !compare_of(p->lex.kind, &compare))
    return node.expr != SL_NONE;
  attr->kind = SL_ATTR_COND;
  attr->expr = SL_NONE;
  return sl_parse_condition(p, node.expr, &attr->cond);
}

/* At the `{`. Line ends do not count inside. */
bool sl_parse_attrs(struct parser *p, uint32_t *first, uint16_t *count)
{
  *first = p->kernel->attrs.len;
  p->in_attributes = true;
  p->lex.depth++;
  next(p);
  do {
    struct sl_attr attr = { .loc = p->lex.loc };
    attr.name = sl_parse_name(p, "the name of an attribute");
    if (!attr.name || !expect(p, SL_TOKEN_ASSIGN, "'='") || !parse_attr_value(p, &attr) ||
        !sl_parse_count(p, count, "attributes"))
      return false;
    sl_vec_add(p->heap, &p->kernel->attrs, attr);
  } while (accept(p, SL_TOKEN_COMMA));
  if (!at(p, SL_TOKEN_RBRACE))
    return sl_parse_expected(p, "',' or '}'");
  p->in_attributes = false;
  p->lex.depth--;
  next(p);
  return true;
}

/* `from "file":line:column`, with `from` read. */
bool sl_parse_origin(struct parser *p, sl_index *origin)
{
  struct sl_origin_loc place = { 0, 0, 0 };
  if (*origin) {
    sl_error(p->report, SL_RULE_SYNTAX, p->lex.loc, "a second 'from'");
    return false;
  }
  if (!at(p, SL_TOKEN_STRING))
    return sl_parse_expected(p, "a file name in quotes");
  place.file = sl_lexer_string(&p->lex);
  next(p);
  if (!expect(p, SL_TOKEN_COLON, "':' and a line number") || !sl_parse_u32(p, &place.line, 0, "a line number"))
    return false;
  if (accept(p, SL_TOKEN_COLON) && !sl_parse_u32(p, &place.column, 1, "a column"))
    return false;
  *origin = p->kernel->origins.len;
  sl_vec_add(p->heap, &p->kernel->origins, place);
  return true;
}
