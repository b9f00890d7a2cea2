/* parser.c: reads kernel text into the program tree, by recursive descent over the tokens of lexer.c. The grammar is in
 * docs/language.md; the functions below stand in its order from the inside out and bear its names.
 *
 * Requires  a program fresh from sl_program_new with a source text.
 * Leaves    on success a tree whose names are not resolved and nothing is checked but the grammar; on failure messages in the
 *           report and a tree to be thrown away.
 * Cost      O(length), no backtracking; recursion is bounded by SL_NESTING_BLOCKS and SL_NESTING_EXPR.
 *
 * Errors    Every parse function returns false (or a node without expression) after an error that was reported. The item it
 *           happened in is skipped up to its line end, a block behind it is still read, and reading goes on, so that one run
 *           shows all errors up to ERROR_LIMIT.
 * Comments  collect in lexer.pending while an item is read. At the item's end (or the `{` of its block) they become its
 *           trivia: those before its first token keep empty lines between them, those inside it follow, and one that ends the
 *           line trails.
 *
 * Map: errors, tokens | trivia | expressions, conditions | attributes | operands, clauses, operations | blocks, loops,
 * branches | declarations | dependences | items and recovery | kernel, file | entry points
 */
#include <sluice/base.h>

#include "ir/ir.h"
#include "ir/lexer.h"

enum { ERROR_LIMIT = 20 };

struct parser {
  sl_lexer lex;
  sl_program *program;
  sl_heap *heap;
  sl_report *report;
  struct sl_kernel *kernel;
  uint32_t depth;       /* of open blocks */
  uint32_t expr_depth;  /* of open parentheses of an expression */
  uint32_t limit;       /* errors after which reading stops */
  uint8_t section;      /* enum section: how far the kernel has come */
  sl_loc item_loc;      /* first token of the current item */
  sl_index block;       /* where the current item stands */
  uint32_t lead;        /* comments and empty lines in lex.pending before the current item */
  bool in_attributes;   /* for recovery: a `{` of attributes is open */
  bool stopped;         /* reading was given up; no further messages */
  bool kernel_missing_end; /* a `kernel` line stands where the current one has not ended: leave all blocks */
};

enum section { SECTION_DECL, SECTION_STMT, SECTION_DEP };

/* ---- errors and tokens ---- */

/* Gives up on the rest of the text. */
static void stop(struct parser *p)
{
  p->stopped = true;
  p->lex.quiet = true;
  p->lex.depth = 0;
  p->lex.at = p->lex.end;
  sl_lexer_next(&p->lex);
}

/* "expected X, found Y" at the current token; the lexer has reported an error token by itself. Returns false. */
static bool expected(struct parser *p, const char *what)
{
  if (p->stopped || p->lex.kind == SL_TOKEN_ERROR)
    return false;
  sl_buf found;
  sl_buf_init(&found, p->heap);
  sl_lexer_describe(&p->lex, &found);
  sl_error(p->report, SL_RULE_SYNTAX, p->lex.loc, "expected %s, found %s", what, sl_buf_text(&found));
  sl_heap_free(p->heap, found.data);
  return false;
}

/* The same with the closest of some words as a suggestion. */
static bool expected_word(struct parser *p, const char *what, const char *const *words, size_t count)
{
  if (p->stopped || p->lex.kind != SL_TOKEN_NAME)
    return expected(p, what);
  char *found = sl_heap_strndup(p->heap, p->lex.start, p->lex.length < 60 ? p->lex.length : 60);
  const char *closest = sl_closest(found, words, count);
  if (!closest || strcmp(closest, found) == 0)
    return expected(p, what);
  sl_error(p->report, SL_RULE_SYNTAX, p->lex.loc, "expected %s, found `%s`; did you mean `%s`?", what, found, closest);
  return false;
}

static inline void next(struct parser *p)
{
  sl_lexer_next(&p->lex);
}

static inline bool at(const struct parser *p, enum sl_token_kind kind)
{
  return p->lex.kind == kind;
}

/* Moves over a token if it is the current one. */
static inline bool accept(struct parser *p, enum sl_token_kind kind)
{
  if (p->lex.kind != kind)
    return false;
  sl_lexer_next(&p->lex);
  return true;
}

static inline bool expect(struct parser *p, enum sl_token_kind kind, const char *what)
{
  if (p->lex.kind != kind)
    return expected(p, what);
  sl_lexer_next(&p->lex);
  return true;
}

#define at_word(p, word) sl_lexer_is(&(p)->lex, (word), sizeof(word) - 1)

static bool accept_word(struct parser *p, const char *word)
{
  if (!sl_lexer_is(&p->lex, word, strlen(word)))
    return false;
  next(p);
  return true;
}

static inline sl_name intern_token(struct parser *p)
{
  return sl_names_add(&p->program->names, p->heap, p->lex.start, p->lex.length);
}

/* A name that is not reserved; 0 after reporting. */
static inline sl_name take_name(struct parser *p, const char *what)
{
  if (p->lex.kind != SL_TOKEN_NAME) {
    expected(p, what);
    return 0;
  }
  if (sl_is_reserved(p->lex.start, p->lex.length)) {
    sl_error(p->report, SL_RULE_SYNTAX, p->lex.loc, "expected %s, found the reserved word `%.*s`", what,
             (int)p->lex.length, p->lex.start);
    return 0;
  }
  sl_name name = intern_token(p);
  next(p);
  return name;
}

/* A name with or without copies `.0.1`. */
static inline sl_name take_label(struct parser *p)
{
  if (p->lex.kind != SL_TOKEN_LABEL)
    return take_name(p, "a label");
  sl_name name = intern_token(p);
  next(p);
  return name;
}

/* An integer between min and max; false after reporting. */
static bool take_int(struct parser *p, int64_t *value, int64_t min, int64_t max, const char *what)
{
  if (!at(p, SL_TOKEN_INT))
    return expected(p, what);
  if (p->lex.value > (uint64_t)max || (int64_t)p->lex.value < min) {
    sl_error(p->report, SL_RULE_LITERAL, p->lex.loc, "%s must be between %lld and %lld", what, (long long)min,
             (long long)max);
    return false;
  }
  *value = (int64_t)p->lex.value;
  next(p);
  return true;
}

static bool take_u32(struct parser *p, uint32_t *value, uint32_t min, const char *what)
{
  int64_t wide;
  if (!take_int(p, &wide, min, UINT32_MAX, what))
    return false;
  *value = (uint32_t)wide;
  return true;
}

/* Counts one more element of a list; the tree counts lists in 16 bits. */
static inline bool count_one(struct parser *p, uint16_t *count, const char *what)
{
  if (*count == UINT16_MAX) {
    sl_error(p->report, SL_RULE_NESTING, p->lex.loc, "more than %d %s", UINT16_MAX, what);
    return false;
  }
  ++*count;
  return true;
}

static bool too_deep(struct parser *p, sl_loc loc, const char *what, int limit)
{
  if (!p->stopped)
    sl_error(p->report, SL_RULE_NESTING, loc, "%s nest deeper than %d", what, limit);
  return false;
}

/* ---- trivia ---- */

/* Links pending[from..to) into a list of the kernel, with or without its empty lines; the first entry, 0 when empty. */
static sl_index make_comments(struct parser *p, uint32_t from, uint32_t to, bool keep_blanks)
{
  struct sl_kernel *kernel = p->kernel;
  sl_index first = SL_NONE, last = SL_NONE;
  for (uint32_t i = from; i < to; i++) {
    sl_name text = p->lex.pending.data[i].text;
    if (!text && !keep_blanks)
      continue;
    sl_index comment = kernel->comments.len;
    sl_vec_push(kernel->heap, &kernel->comments)->text = text;
    if (last)
      kernel->comments.data[last].next = comment;
    else
      first = comment;
    last = comment;
  }
  return first;
}

/* Appends list `more` to list `first` of the kernel's comments. */
static sl_index join_comments(struct sl_kernel *kernel, sl_index first, sl_index more)
{
  if (!first)
    return more;
  sl_index last = first;
  while (kernel->comments.data[last].next)
    last = kernel->comments.data[last].next;
  kernel->comments.data[last].next = more;
  return first;
}

static sl_index make_trivia(struct sl_kernel *kernel, sl_index comments, sl_name trailing)
{
  if (!comments && !trailing)
    return SL_NONE;
  sl_index index = kernel->trivias.len;
  struct sl_trivia *trivia = sl_vec_push(kernel->heap, &kernel->trivias);
  trivia->first_comment = comments;
  trivia->trailing = trailing;
  return index;
}

static inline void drop_pending(struct parser *p, uint32_t count)
{
  uint32_t left = p->lex.pending.len - count;
  if (left)
    memmove(p->lex.pending.data, p->lex.pending.data + count, left * sizeof *p->lex.pending.data);
  p->lex.pending.len = left;
}

/* What stands around an item, before it is put into the tree. */
struct around {
  sl_index comments;
  sl_name trailing;
  uint8_t flags;
};

/* Takes pending[0..end) as what stands around the current item; `first`: nothing stands before it in its block, so that an
 * empty line there does not count. */
static struct around take_around(struct parser *p, uint32_t end, bool first)
{
  struct around around = { SL_NONE, 0, 0 };
  struct sl_pending *pending = p->lex.pending.data;
  uint32_t from = 0;
  if (end == 0)
    return around;
  if (p->lead > 0 && !pending[0].text) {
    from = 1;
    if (!first)
      around.flags = SL_BLANK_BEFORE;
  }
  uint32_t inside_end = end;
  if (end > p->lead && pending[end - 1].text && !pending[end - 1].own_line)
    around.trailing = pending[--inside_end].text;
  around.comments = make_comments(p, from, p->lead, true);
  around.comments = join_comments(p->kernel, around.comments, make_comments(p, p->lead, inside_end, false));
  drop_pending(p, end);
  return around;
}

static bool is_first_item(const struct parser *p)
{
  const struct sl_kernel *kernel = p->kernel;
  if (p->block != kernel->root)
    return kernel->blocks.data[p->block].first == SL_NONE;
  return kernel->blocks.data[kernel->root].first == SL_NONE && kernel->decls.len == 0 && kernel->deps.len == 0;
}

/* Puts what stands around the current statement into it. */
static inline void finish_stmt(struct parser *p, sl_index stmt, uint32_t end)
{
  if (end == 0)
    return;
  struct around around = take_around(p, end, is_first_item(p));
  p->kernel->stmts.data[stmt].flags |= around.flags;
  p->kernel->stmts.data[stmt].trivia = make_trivia(p->kernel, around.comments, around.trailing);
}

/* The `{` of a block: how many pending comments belong to its head, with the one that ends the line of the `{`. */
static bool open_brace(struct parser *p, uint32_t *head_comments)
{
  static const char *const words[] = { "while", "divergent", "unroll", "from" };
  uint32_t count = p->lex.pending.len;
  if (!at(p, SL_TOKEN_LBRACE))
    return expected_word(p, "`{`", words, sizeof words / sizeof *words);
  next(p);
  if (p->lex.pending.len > count && p->lex.pending.data[count].text && !p->lex.pending.data[count].own_line)
    count++;
  *head_comments = count;
  return true;
}

/* The own-line comments before a `}`, without the empty lines at their end (and start, when nothing precedes them). */
static sl_index take_end_comments(struct parser *p, bool nothing_before)
{
  uint32_t from = 0, to = p->lex.pending.len;
  while (to > 0 && !p->lex.pending.data[to - 1].text)
    to--;
  if (nothing_before && to > 0 && !p->lex.pending.data[0].text)
    from = 1;
  sl_index comments = make_comments(p, from, to, true);
  p->lex.pending.len = 0;
  return comments;
}

/* The comment that follows a `}` on its line. */
static sl_name take_comment_after_brace(struct parser *p)
{
  if (!p->lex.pending.len || p->lex.pending.data[0].own_line)
    return 0;
  sl_name text = p->lex.pending.data[0].text;
  drop_pending(p, 1);
  return text;
}

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
    if (take_int(p, &value, 0, INT64_MAX, "an integer"))
      node.expr = sl_expr_int(p->kernel, value, loc);
    return node;
  }
  case SL_TOKEN_NAME: {
    sl_name name = take_name(p, "an expression");
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
      too_deep(p, loc, "parentheses", SL_NESTING_EXPR);
      return no_node;
    }
    p->expr_depth++;
    next(p);
    node = parse_expr_node(p);
    p->expr_depth--;
    if (node.expr && !expect(p, SL_TOKEN_RPAREN, "`)`"))
      return no_node;
    return node;
  case SL_TOKEN_FLOAT:
    expected(p, "an expression (a fraction can stand only alone, as the value of an attribute)");
    return no_node;
  default:
    expected(p, "an expression");
    return no_node;
  }
}

static struct node combine(struct parser *p, enum sl_expr_kind kind, struct node lhs, struct node rhs, sl_loc loc)
{
  uint32_t height = (lhs.height > rhs.height ? lhs.height : rhs.height) + 1;
  if (!rhs.expr)
    return no_node;
  if (height > SL_NESTING_EXPR) {
    too_deep(p, loc, "operators of an expression", SL_NESTING_EXPR);
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
      expected(p, "an operator (the remainder is written with a blank after the `%`)");
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
    too_deep(p, loc, "operators of an expression", SL_NESTING_EXPR);
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

static inline bool parse_expr(struct parser *p, sl_index *expr)
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
    cmp.opaque = take_name(p, "the name of a condition after `?`");
    if (!cmp.opaque)
      return false;
  } else {
    if (!lhs && !parse_expr(p, &cmp.lhs))
      return false;
    if (!compare_of(p->lex.kind, &cmp.op))
      return expected(p, "a comparison (== != < <= > >=)");
    next(p);
    if (!parse_expr(p, &cmp.rhs))
      return false;
  }
  sl_vec_add(p->heap, &p->kernel->cmps, cmp);
  return count_one(p, &cond->count, "comparisons in a condition");
}

static bool parse_cond(struct parser *p, sl_index lhs, struct sl_cond *cond)
{
  cond->first = p->kernel->cmps.len;
  cond->count = 0;
  cond->any = false;
  if (!parse_cmp(p, lhs, cond))
    return false;
  cond->any = at_word(p, "or");
  while (at_word(p, "and") || at_word(p, "or")) {
    if (at_word(p, "or") != cond->any) {
      sl_error(p->report, SL_RULE_SYNTAX, p->lex.loc, "`and` and `or` cannot be mixed in one condition");
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
    return parse_cond(p, SL_NONE, &attr->cond);
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
  return parse_cond(p, node.expr, &attr->cond);
}

/* At the `{`. Line ends do not count inside. */
static bool parse_attrs(struct parser *p, uint32_t *first, uint16_t *count)
{
  *first = p->kernel->attrs.len;
  p->in_attributes = true;
  p->lex.depth++;
  next(p);
  do {
    struct sl_attr attr = { .loc = p->lex.loc };
    attr.name = take_name(p, "the name of an attribute");
    if (!attr.name || !expect(p, SL_TOKEN_ASSIGN, "`=`") || !parse_attr_value(p, &attr) ||
        !count_one(p, count, "attributes"))
      return false;
    sl_vec_add(p->heap, &p->kernel->attrs, attr);
  } while (accept(p, SL_TOKEN_COMMA));
  if (!at(p, SL_TOKEN_RBRACE))
    return expected(p, "`,` or `}`");
  p->in_attributes = false;
  p->lex.depth--;
  next(p);
  return true;
}

/* `from "file":line:column`, with `from` read. */
static bool parse_origin(struct parser *p, sl_index *origin)
{
  struct sl_origin_loc place = { 0, 0, 0 };
  if (*origin) {
    sl_error(p->report, SL_RULE_SYNTAX, p->lex.loc, "a second `from`");
    return false;
  }
  if (!at(p, SL_TOKEN_STRING))
    return expected(p, "a file name in quotes");
  place.file = sl_lexer_string(&p->lex);
  next(p);
  if (!expect(p, SL_TOKEN_COLON, "`:` and a line number") || !take_u32(p, &place.line, 0, "a line number"))
    return false;
  if (accept(p, SL_TOKEN_COLON) && !take_u32(p, &place.column, 1, "a column"))
    return false;
  *origin = p->kernel->origins.len;
  sl_vec_add(p->heap, &p->kernel->origins, place);
  return true;
}

/* ---- operands and clauses ---- */

static bool parse_index(struct parser *p, struct sl_access_index *index)
{
  if (accept(p, SL_TOKEN_QUESTION)) {
    index->kind = SL_INDEX_ANY;
    return true;
  }
  if (accept(p, SL_TOKEN_COLON)) {
    index->kind = SL_INDEX_ALL;
    return true;
  }
  index->kind = SL_INDEX_AT;
  if (!parse_expr(p, &index->first))
    return false;
  if (accept(p, SL_TOKEN_COLON))
    index->kind = SL_INDEX_RANGE;
  else if (accept(p, SL_TOKEN_PLUS_COLON))
    index->kind = SL_INDEX_LENGTH;
  return index->kind == SL_INDEX_AT || parse_expr(p, &index->second);
}

/* At the `[`. */
static bool parse_indices(struct parser *p, struct sl_operand *operand)
{
  operand->indexed = true;
  operand->first_index = p->kernel->indices.len;
  next(p);
  do {
    struct sl_access_index index = { 0, SL_NONE, SL_NONE };
    if (!parse_index(p, &index) || !count_one(p, &operand->index_count, "indices"))
      return false;
    sl_vec_add(p->heap, &p->kernel->indices, index);
  } while (accept(p, SL_TOKEN_COMMA));
  return expect(p, SL_TOKEN_RBRACKET, "`,` or `]`");
}

static bool parse_operand(struct parser *p)
{
  struct sl_operand operand = { .loc = p->lex.loc };
  switch (p->lex.kind) {
  case SL_TOKEN_REGISTER:
    operand.kind = SL_OPERAND_REG;
    operand.value = intern_token(p);
    next(p);
    break;
  case SL_TOKEN_INT:
    operand.kind = SL_OPERAND_INT;
    if (!take_int(p, &operand.value, 0, INT64_MAX, "an integer"))
      return false;
    break;
  default:
    operand.kind = SL_OPERAND_NAME;
    operand.read_write = accept(p, SL_TOKEN_PLUS);
    operand.value = take_name(p, operand.read_write ? "a buffer after `+`" : "an operand");
    if (!operand.value || (at(p, SL_TOKEN_LBRACKET) && !parse_indices(p, &operand)))
      return false;
    break;
  }
  sl_vec_add(p->heap, &p->kernel->operands, operand);
  return true;
}

static bool parse_operands(struct parser *p, uint16_t *count)
{
  do {
    if (!parse_operand(p) || !count_one(p, count, "operands"))
      return false;
  } while (accept(p, SL_TOKEN_COMMA));
  return true;
}

/* `name [ "[" expr "]" ]`, the name read. */
static bool parse_event_index(struct parser *p, sl_index *index)
{
  if (!accept(p, SL_TOKEN_LBRACKET))
    return true;
  return parse_expr(p, index) && expect(p, SL_TOKEN_RBRACKET, "`]`");
}

static bool parse_gate(struct parser *p, struct sl_gate *gate)
{
  gate->loc = p->lex.loc;
  gate->name = take_name(p, "a semaphore or event");
  if (!gate->name)
    return false;
  gate->equal = at(p, SL_TOKEN_EQ);
  if (!gate->equal && !at(p, SL_TOKEN_GE)) {
    gate->kind = SL_GATE_EVENT;
    return parse_event_index(p, &gate->event_index);
  }
  next(p);
  switch (p->lex.kind) {
  case SL_TOKEN_INT:
    gate->threshold = SL_THRESHOLD_INT;
    return take_int(p, &gate->value, 0, INT64_MAX, "a threshold");
  case SL_TOKEN_REGISTER:
    gate->threshold = SL_THRESHOLD_REG;
    gate->value = intern_token(p);
    next(p);
    return true;
  default:
    gate->threshold = SL_THRESHOLD_NAME;
    gate->value = take_name(p, "a threshold (an integer, a register or a loop variable)");
    return gate->value != 0;
  }
}

static bool parse_waits(struct parser *p, struct sl_op *op)
{
  do {
    struct sl_gate gate = { 0 };
    if (!parse_gate(p, &gate))
      return false;
    sl_vec_add(p->heap, &p->kernel->waits, gate);
    op->wait_count++;
  } while (accept(p, SL_TOKEN_COMMA));
  return true;
}

static bool parse_incs(struct parser *p, struct sl_op *op)
{
  do {
    struct sl_inc inc = { 0, 1, p->lex.loc };
    inc.sem = take_name(p, "a semaphore");
    if (!inc.sem || (accept_word(p, "by") && !take_u32(p, &inc.by, 1, "the increment")) ||
        !count_one(p, &op->inc_count, "increments on one operation"))
      return false;
    sl_vec_add(p->heap, &p->kernel->incs, inc);
  } while (accept(p, SL_TOKEN_COMMA));
  return true;
}

static bool parse_sets(struct parser *p, struct sl_op *op)
{
  do {
    struct sl_event_set set = { 0, SL_NONE, p->lex.loc };
    set.event = take_name(p, "an event");
    if (!set.event || !parse_event_index(p, &set.index) || !count_one(p, &op->set_count, "events set by one operation"))
      return false;
    sl_vec_add(p->heap, &p->kernel->sets, set);
  } while (accept(p, SL_TOKEN_COMMA));
  return true;
}

static bool parse_clauses(struct parser *p, struct sl_op *op, sl_index *origin)
{
  for (;;) {
    bool fine;
    if (!at(p, SL_TOKEN_NAME))
      return true;
    if (accept_word(p, "wait"))
      fine = parse_waits(p, op);
    else if (accept_word(p, "inc"))
      fine = parse_incs(p, op);
    else if (accept_word(p, "set"))
      fine = parse_sets(p, op);
    else if (accept_word(p, "from"))
      fine = parse_origin(p, origin);
    else
      return true;
    if (!fine)
      return false;
  }
}

/* ---- operations ---- */

/* The end of a line, the text, or the block; the token stays. */
static bool at_line_end(const struct parser *p)
{
  return at(p, SL_TOKEN_NEWLINE) || at(p, SL_TOKEN_RBRACE) || at(p, SL_TOKEN_END);
}

static bool expect_line_end(struct parser *p, const char *what)
{
  static const char *const words[] = { "wait", "inc", "set", "from", "by", "at", "via", "reset" };
  if (at_line_end(p))
    return true;
  return expected_word(p, what, words, sizeof words / sizeof *words);
}

/* stream = "*" | name { "|" name }, the first name read. */
static bool parse_streams(struct parser *p, struct sl_op *op, sl_name name, sl_loc loc)
{
  struct sl_kernel *kernel = p->kernel;
  op->stream = sl_stream_put(kernel, name, loc);
  op->stream_count = 1;
  if (!at(p, SL_TOKEN_PIPE))
    return true;
  uint32_t first = kernel->stream_lists.len;
  sl_vec_add(p->heap, &kernel->stream_lists, op->stream);
  op->stream = first;
  while (accept(p, SL_TOKEN_PIPE)) {
    loc = p->lex.loc;
    name = take_name(p, "an engine or queue after `|`");
    if (!name || !count_one(p, &op->stream_count, "streams of one operation"))
      return false;
    sl_vec_add(p->heap, &kernel->stream_lists, sl_stream_put(kernel, name, loc));
  }
  return true;
}

/* label and stream: `[ label ":" ] stream`. */
static bool parse_op_start(struct parser *p, struct sl_op *op)
{
  sl_loc loc = p->lex.loc;
  sl_name name = 0;
  if (!at(p, SL_TOKEN_STAR)) {
    bool dotted = at(p, SL_TOKEN_LABEL);
    name = take_label(p);
    if (!name)
      return false;
    if (dotted || at(p, SL_TOKEN_COLON)) {
      if (!expect(p, SL_TOKEN_COLON, "`:` after the label"))
        return false;
      op->label = name;
      loc = p->lex.loc;
      name = at(p, SL_TOKEN_STAR) ? 0 : take_name(p, "an engine, a queue or `*` after the label");
      if (!name && !at(p, SL_TOKEN_STAR))
        return false;
    }
  }
  if (name)
    return parse_streams(p, op, name, loc);
  next(p);
  op->all_engines = true;
  return true;
}

/* Whether the token starts an operand rather than a clause or the end. */
static inline bool at_operand(const struct parser *p)
{
  switch (p->lex.kind) {
  case SL_TOKEN_NAME: return !sl_is_reserved(p->lex.start, p->lex.length);
  case SL_TOKEN_PLUS: case SL_TOKEN_REGISTER: case SL_TOKEN_INT: return true;
  default: return false;
  }
}

static bool parse_op_parts(struct parser *p, struct sl_op *op, sl_index *origin)
{
  if (!parse_op_start(p, op) || !expect(p, SL_TOKEN_DOT, "`.` and an opcode"))
    return false;
  if (at(p, SL_TOKEN_NAME))
    op->code = (uint8_t)sl_opcode_find(p->lex.start, p->lex.length);
  op->opcode = take_name(p, "an opcode");
  if (!op->opcode || (at_operand(p) && !parse_operands(p, &op->dst_count)))
    return false;
  if (accept(p, SL_TOKEN_LEFT_ARROW)) {
    op->has_arrow = true;
    if (!parse_operands(p, &op->src_count))
      return false;
  }
  if (at(p, SL_TOKEN_LBRACE) && !parse_attrs(p, &op->first_attr, &op->attr_count))
    return false;
  return parse_clauses(p, op, origin) &&
         expect_line_end(p, "a clause (wait, inc, set, from) or the end of the line");
}

static bool parse_op(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel;
  struct sl_op op = { 0 };
  sl_index origin = SL_NONE;
  op.first_operand = kernel->operands.len;
  op.first_attr = kernel->attrs.len;
  op.first_wait = kernel->waits.len;
  op.first_inc = kernel->incs.len;
  op.first_set = kernel->sets.len;
  if (!parse_op_parts(p, &op, &origin))
    return false;
  sl_index stmt = sl_op_stmt_new(kernel, p->item_loc);
  kernel->stmts.data[stmt].origin = origin;
  *sl_stmt_op(kernel, stmt) = op;
  finish_stmt(p, stmt, p->lex.pending.len);
  sl_stmt_append(kernel, p->block, stmt);
  return true;
}

/* ---- blocks, loops, branches ---- */

static void parse_items(struct parser *p);

/* The items of a block whose `{` at `opened` has been read, through its `}`. */
static bool parse_block(struct parser *p, sl_index block, sl_loc opened)
{
  if (p->depth == SL_NESTING_BLOCKS) {
    too_deep(p, opened, "blocks", SL_NESTING_BLOCKS);
    stop(p);
    return false;
  }
  sl_index outer = p->block;
  p->block = block;
  p->depth++;
  parse_items(p);
  p->depth--;
  p->block = outer;
  if (!at(p, SL_TOKEN_RBRACE)) {
    if (!p->stopped && !p->kernel_missing_end) {
      sl_report_begin(p->report, SLUICE_ERROR, SL_RULE_SYNTAX, p->lex.loc, "expected `}`, found the end of the text");
      sl_report_note(p->report, opened, "the block starts here");
      sl_report_end(p->report);
      stop(p);
    }
    return false;
  }
  struct sl_kernel *kernel = p->kernel;
  sl_index comments = take_end_comments(p, kernel->blocks.data[block].first == SL_NONE);
  next(p);
  kernel->blocks.data[block].end_trivia = make_trivia(kernel, comments, take_comment_after_brace(p));
  accept(p, SL_TOKEN_NEWLINE);
  return true;
}

static bool take_loop_range(struct parser *p, struct sl_loop *loop)
{
  if (accept(p, SL_TOKEN_LT)) {
    loop->has_range = loop->short_range = true;
    return parse_expr(p, &loop->hi);
  }
  if (!accept_word(p, "in"))
    return true;
  loop->has_range = true;
  if (!parse_expr(p, &loop->lo) || !expect(p, SL_TOKEN_DOTDOT, "`..`") || !parse_expr(p, &loop->hi))
    return false;
  if (!accept_word(p, "step"))
    return true;
  int64_t step;
  sl_loc loc = p->lex.loc;
  if (!take_int(p, &step, 1, INT64_MAX, "the step"))
    return false;
  loop->step = sl_expr_int(p->kernel, step, loc);
  return true;
}

static bool parse_loop_head(struct parser *p, struct sl_loop *loop, sl_index *origin)
{
  loop->var = take_name(p, "a loop variable");
  if (!loop->var || !take_loop_range(p, loop))
    return false;
  if (accept_word(p, "while")) {
    if (!parse_cond(p, SL_NONE, &loop->while_cond))
      return false;
  } else if (!loop->has_range) {
    return expected(p, "the range of the loop: `< e`, `in lo..hi` or `while c`");
  }
  loop->divergent = accept_word(p, "divergent");
  if (accept_word(p, "unroll") && !take_u32(p, &loop->unroll, 1, "the unroll factor"))
    return false;
  return !accept_word(p, "from") || parse_origin(p, origin);
}

static bool parse_loop(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel;
  struct sl_loop loop = { 0 };
  sl_index origin = SL_NONE;
  uint32_t head_comments;
  sl_loc item_loc = p->item_loc;
  if (!parse_loop_head(p, &loop, &origin))
    return false;
  sl_loc opened = p->lex.loc;
  if (!open_brace(p, &head_comments))
    return false;
  sl_index stmt = sl_stmt_new(kernel, SL_STMT_LOOP, item_loc);
  loop.body = sl_block_new(kernel, stmt);
  kernel->stmts.data[stmt].item = kernel->loops.len;
  kernel->stmts.data[stmt].origin = origin;
  sl_vec_add(p->heap, &kernel->loops, loop);
  finish_stmt(p, stmt, head_comments);
  sl_stmt_append(kernel, p->block, stmt);
  (void)parse_block(p, loop.body, opened); /* what is wrong inside has been dealt with there */
  return true;
}

static bool parse_if(struct parser *p);

static bool at_keyword(const struct parser *p, const char *word);

/* Comments on own lines between `}` and `else` belong to the end of the block before. */
static void keep_comments_before_else(struct parser *p, sl_index block)
{
  struct sl_kernel *kernel = p->kernel;
  sl_index comments = make_comments(p, 0, p->lex.pending.len, false);
  p->lex.pending.len = 0;
  if (!comments)
    return;
  sl_index old = kernel->blocks.data[block].end_trivia;
  sl_index joined = join_comments(kernel, old ? kernel->trivias.data[old].first_comment : SL_NONE, comments);
  sl_name trailing = old ? kernel->trivias.data[old].trailing : 0;
  kernel->blocks.data[block].end_trivia = make_trivia(kernel, joined, trailing);
}

/* `else` has been seen but not read. */
static bool parse_else(struct parser *p, sl_index stmt)
{
  struct sl_kernel *kernel = p->kernel;
  struct sl_branch *branch = &kernel->branches.data[kernel->stmts.data[stmt].item];
  keep_comments_before_else(p, branch->then_block);
  sl_index block = sl_block_new(kernel, stmt);
  kernel->branches.data[kernel->stmts.data[stmt].item].else_block = block;
  next(p);
  if (!at_word(p, "if")) {
    sl_loc opened = p->lex.loc;
    if (!expect(p, SL_TOKEN_LBRACE, "`{` or `if` after `else`"))
      return false;
    parse_block(p, block, opened);
    return true;
  }
  if (p->depth == SL_NESTING_BLOCKS) {
    too_deep(p, p->lex.loc, "blocks", SL_NESTING_BLOCKS);
    stop(p);
    return false;
  }
  sl_index outer = p->block;
  p->block = block;
  p->depth++;
  p->item_loc = p->lex.loc;
  p->lead = 0;
  next(p);
  bool fine = parse_if(p);
  p->depth--;
  p->block = outer;
  return fine;
}

static bool parse_if(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel;
  struct sl_branch branch = { 0 };
  sl_index origin = SL_NONE;
  uint32_t head_comments;
  sl_loc item_loc = p->item_loc;
  if (!parse_cond(p, SL_NONE, &branch.cond) || (accept_word(p, "from") && !parse_origin(p, &origin)))
    return false;
  sl_loc opened = p->lex.loc;
  if (!open_brace(p, &head_comments))
    return false;
  sl_index stmt = sl_stmt_new(kernel, SL_STMT_IF, item_loc);
  branch.then_block = sl_block_new(kernel, stmt);
  kernel->stmts.data[stmt].item = kernel->branches.len;
  kernel->stmts.data[stmt].origin = origin;
  sl_vec_add(p->heap, &kernel->branches, branch);
  finish_stmt(p, stmt, head_comments);
  sl_stmt_append(kernel, p->block, stmt);
  if (!parse_block(p, branch.then_block, opened))
    return true; /* dealt with there */
  return !at_keyword(p, "else") || parse_else(p, stmt);
}

static bool parse_simple(struct parser *p, enum sl_stmt_kind kind)
{
  if (!expect_line_end(p, "the end of the line"))
    return false;
  sl_index stmt = sl_stmt_new(p->kernel, kind, p->item_loc);
  finish_stmt(p, stmt, p->lex.pending.len);
  sl_stmt_append(p->kernel, p->block, stmt);
  return true;
}

static bool parse_barrier(struct parser *p)
{
  return parse_simple(p, accept_word(p, "reset") ? SL_STMT_BARRIER_RESET : SL_STMT_BARRIER);
}

static bool parse_epilogue(struct parser *p)
{
  return parse_simple(p, SL_STMT_EPILOGUE);
}

/* ---- declarations ---- */

static void add_decl(struct parser *p, enum sl_decl_kind kind, sl_index item, sl_loc loc)
{
  struct sl_decl *decl = sl_vec_push(p->heap, &p->kernel->decls);
  decl->kind = (uint8_t)kind;
  decl->item = item;
  decl->loc = loc;
}

/* The end of a line of declarations, of which the first is number `first`: comments before the line go to the first, the one
 * at its end to the last. */
static bool finish_decls(struct parser *p, uint32_t first, const char *what)
{
  struct sl_kernel *kernel = p->kernel;
  if (!expect_line_end(p, what))
    return false;
  if (p->lex.pending.len == 0)
    return true;
  bool nothing_before = first == 0 && kernel->blocks.data[kernel->root].first == SL_NONE && kernel->deps.len == 0;
  struct around around = take_around(p, p->lex.pending.len, nothing_before);
  uint32_t last = kernel->decls.len - 1;
  kernel->decls.data[first].flags = around.flags;
  kernel->decls.data[first].trivia = make_trivia(kernel, around.comments, first == last ? around.trailing : 0);
  if (first != last)
    kernel->decls.data[last].trivia = make_trivia(kernel, SL_NONE, around.trailing);
  return true;
}

static bool declare_queue(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel;
  sl_loc loc = p->lex.loc;
  sl_name name = take_name(p, "the name of a queue");
  if (!name)
    return false;
  uint32_t index = sl_stream_get(kernel, name);
  if (index != SL_NO_STREAM && kernel->streams.data[index].is_queue) {
    sl_report_begin(p->report, SLUICE_ERROR, SL_RULE_REDEFINED, loc, "queue `%s` is declared twice",
                    sl_text(p->program, name));
    sl_report_note(p->report, kernel->streams.data[index].loc, "the first declaration is here");
    sl_report_end(p->report);
    return false;
  }
  index = sl_stream_put(kernel, name, loc);
  struct sl_stream *stream = &kernel->streams.data[index];
  stream->is_queue = true;
  stream->trigger = SL_NO_STREAM;
  stream->loc = loc;
  add_decl(p, SL_DECL_QUEUE, index, loc);
  return true;
}

static bool parse_queue(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel;
  uint32_t first = kernel->decls.len;
  do {
    if (!declare_queue(p))
      return false;
  } while (accept(p, SL_TOKEN_COMMA));
  if (accept_word(p, "via")) {
    sl_name trigger = take_name(p, "the engine that triggers the queue");
    if (!trigger)
      return false;
    for (uint32_t i = first; i < kernel->decls.len; i++)
      kernel->streams.data[kernel->decls.data[i].item].trigger_name = trigger;
  }
  return finish_decls(p, first, "`,`, `via` or the end of the line");
}

static bool parse_dims(struct parser *p, struct sl_buffer *buffer)
{
  buffer->first_dim = p->kernel->dims.len;
  if (!expect(p, SL_TOKEN_LBRACKET, "`[` and the dimensions"))
    return false;
  do {
    struct sl_dim dim = { SL_NONE, false };
    if (!parse_expr(p, &dim.size) || !count_one(p, &buffer->dim_count, "dimensions"))
      return false;
    dim.partition = accept_word(p, "p");
    sl_vec_add(p->heap, &p->kernel->dims, dim);
  } while (accept(p, SL_TOKEN_COMMA));
  return expect(p, SL_TOKEN_RBRACKET, "`,` or `]`");
}

/* `at [ int "p" "," ] expr`, `at` read. */
static bool parse_address(struct parser *p, struct sl_buffer *buffer)
{
  buffer->has_address = true;
  if (!parse_expr(p, &buffer->address))
    return false;
  const struct sl_expr *expr = &p->kernel->exprs.data[buffer->address];
  if (!at_word(p, "p") || expr->kind != SL_EXPR_INT || expr->u.value < 0)
    return true;
  buffer->has_partition_start = true;
  buffer->partition_start = expr->u.value;
  next(p);
  return expect(p, SL_TOKEN_COMMA, "`,` and the address within the partition") && parse_expr(p, &buffer->address);
}

static bool parse_buffer(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel;
  struct sl_buffer buffer = { 0 };
  sl_loc loc = p->lex.loc;
  buffer.first_attr = kernel->attrs.len;
  buffer.name = take_name(p, "the name of a buffer");
  if (!buffer.name || !expect(p, SL_TOKEN_COLON, "`:`"))
    return false;
  buffer.space = take_name(p, "a memory space");
  if (!buffer.space)
    return false;
  buffer.type = take_name(p, "an element type");
  if (!buffer.type || !parse_dims(p, &buffer) || (accept_word(p, "at") && !parse_address(p, &buffer)))
    return false;
  if (at(p, SL_TOKEN_LBRACE) && !parse_attrs(p, &buffer.first_attr, &buffer.attr_count))
    return false;
  uint32_t first = kernel->decls.len;
  add_decl(p, SL_DECL_BUFFER, kernel->buffers.len, loc);
  sl_vec_add(p->heap, &kernel->buffers, buffer);
  return finish_decls(p, first, "`at`, attributes or the end of the line");
}

static bool parse_alias(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel;
  struct sl_alias alias;
  sl_loc loc = p->lex.loc;
  alias.a = take_name(p, "the name of a buffer");
  if (!alias.a)
    return false;
  alias.b = take_name(p, "the name of a second buffer");
  if (!alias.b)
    return false;
  uint32_t first = kernel->decls.len;
  add_decl(p, SL_DECL_ALIAS, kernel->aliases.len, loc);
  sl_vec_add(p->heap, &kernel->aliases, alias);
  return finish_decls(p, first, "the end of the line");
}

static bool parse_sem(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel;
  uint32_t first = kernel->decls.len;
  do {
    struct sl_sem sem = { 0 };
    sl_loc loc = p->lex.loc;
    sem.name = take_name(p, "the name of a semaphore");
    if (!sem.name)
      return false;
    if (accept(p, SL_TOKEN_ASSIGN) && !take_u32(p, &sem.initial, 0, "the initial value"))
      return false;
    sem.has_id = accept_word(p, "at");
    if (sem.has_id && !take_u32(p, &sem.id, 0, "the number of a semaphore"))
      return false;
    add_decl(p, SL_DECL_SEM, kernel->sems.len, loc);
    sl_vec_add(p->heap, &kernel->sems, sem);
  } while (accept(p, SL_TOKEN_COMMA));
  return finish_decls(p, first, "`=`, `at`, `,` or the end of the line");
}

static bool parse_one_event(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel;
  struct sl_event event = { .count = 1 };
  sl_loc loc = p->lex.loc;
  event.name = take_name(p, "the name of an event");
  if (!event.name)
    return false;
  event.is_array = accept(p, SL_TOKEN_LBRACKET);
  if (event.is_array && (!take_u32(p, &event.count, 1, "the number of events") || !expect(p, SL_TOKEN_RBRACKET, "`]`")))
    return false;
  if (!expect(p, SL_TOKEN_COLON, "`:`"))
    return false;
  event.from = take_name(p, "the stream that sets the event");
  if (!event.from || !expect(p, SL_TOKEN_RIGHT_ARROW, "`->`"))
    return false;
  event.to = take_name(p, "the stream that waits for the event");
  if (!event.to)
    return false;
  event.has_id = accept_word(p, "at");
  if (event.has_id && !take_u32(p, &event.id, 0, "the number of an event"))
    return false;
  add_decl(p, SL_DECL_EVENT, kernel->events.len, loc);
  sl_vec_add(p->heap, &kernel->events, event);
  return true;
}

static bool parse_event(struct parser *p)
{
  uint32_t first = p->kernel->decls.len;
  do {
    if (!parse_one_event(p))
      return false;
  } while (accept(p, SL_TOKEN_COMMA));
  return finish_decls(p, first, "`at`, `,` or the end of the line");
}

/* ---- dependences ---- */

/* At the `(`. */
static bool parse_distances(struct parser *p, struct sl_dep *dep)
{
  dep->first_distance = p->kernel->distances.len;
  next(p);
  do {
    struct sl_distance distance;
    int64_t k;
    distance.loop = take_name(p, "the variable of a loop");
    if (!distance.loop || !expect(p, SL_TOKEN_COLON, "`:` and a distance"))
      return false;
    bool negative = accept(p, SL_TOKEN_MINUS);
    if (!take_int(p, &k, 0, INT32_MAX, "a distance") || !count_one(p, &dep->distance_count, "distances"))
      return false;
    distance.k = (int32_t)(negative ? -k : k);
    sl_vec_add(p->heap, &p->kernel->distances, distance);
  } while (accept(p, SL_TOKEN_COMMA));
  return expect(p, SL_TOKEN_RPAREN, "`,` or `)`");
}

static bool parse_dependence(struct parser *p, bool removed)
{
  struct sl_kernel *kernel = p->kernel;
  struct sl_dep dep = { .removed = removed, .loc = p->item_loc };
  dep.producer = take_label(p);
  if (!dep.producer || !expect(p, SL_TOKEN_RIGHT_ARROW, "`->`"))
    return false;
  dep.consumer = take_label(p);
  if (!dep.consumer || (at(p, SL_TOKEN_LPAREN) && !parse_distances(p, &dep)))
    return false;
  if (removed) {
    if (!at(p, SL_TOKEN_STRING))
      return expected(p, "the reason in quotes");
    dep.reason = sl_lexer_string(&p->lex);
    next(p);
  }
  if (!expect_line_end(p, removed ? "the end of the line" : "`(` or the end of the line"))
    return false;
  if (p->lex.pending.len) {
    struct around around = take_around(p, p->lex.pending.len, is_first_item(p));
    dep.flags = around.flags;
    dep.trivia = make_trivia(kernel, around.comments, around.trailing);
  }
  sl_vec_add(p->heap, &kernel->deps, dep);
  return true;
}

static bool parse_dep(struct parser *p)
{
  return parse_dependence(p, false);
}

static bool parse_nodep(struct parser *p)
{
  return parse_dependence(p, true);
}

/* ---- items and recovery ---- */

/* The words that start an item. They are no reserved words: a name that is followed by `:`, `.` or `|` is a label or a
 * stream whatever it is called. */
static const struct keyword {
  const char *word;
  enum section section;
  bool (*parse)(struct parser *p);
} keywords[] = {
  { "dep", SECTION_DEP, parse_dep },           { "nodep", SECTION_DEP, parse_nodep },
  { "loop", SECTION_STMT, parse_loop },        { "if", SECTION_STMT, parse_if },
  { "barrier", SECTION_STMT, parse_barrier },  { "epilogue", SECTION_STMT, parse_epilogue },
  { "queue", SECTION_DECL, parse_queue },      { "buffer", SECTION_DECL, parse_buffer },
  { "alias", SECTION_DECL, parse_alias },      { "sem", SECTION_DECL, parse_sem },
  { "event", SECTION_DECL, parse_event },
};

enum { KEYWORD_COUNT = sizeof keywords / sizeof *keywords };

static const char *const section_order[] = {
  "declarations stand before the statements and dependences of a kernel",
  "statements stand before the dependence lines of a kernel",
  "dependence lines stand at the end of a kernel, in no block"
};

static inline bool at_label_or_stream(const struct parser *p)
{
  char c = sl_lexer_peek(&p->lex);
  return c == ':' || c == '.' || c == '|';
}

static bool at_keyword(const struct parser *p, const char *word)
{
  return sl_lexer_is(&p->lex, word, strlen(word)) && !at_label_or_stream(p);
}

/* Checks the order of the parts of a kernel; a part out of order is read all the same. */
static void enter_section(struct parser *p, enum section section)
{
  bool nested = p->depth > 1 && section != SECTION_STMT;
  if (nested || section < (enum section)p->section)
    sl_error(p->report, SL_RULE_SYNTAX, p->item_loc, "%s", section_order[section]);
  if (!nested)
    p->section = (uint8_t)section;
}

static bool unknown_item(struct parser *p)
{
  const char *words[KEYWORD_COUNT + 1];
  for (size_t i = 0; i < KEYWORD_COUNT; i++)
    words[i] = keywords[i].word;
  words[KEYWORD_COUNT] = "kernel";
  if (at_word(p, "else"))
    return expected(p, "a statement (no `if` ends before this line)");
  return expected_word(p, "a statement", words, KEYWORD_COUNT + 1);
}

/* A `kernel NAME` line inside a kernel: the `}` before it is missing. */
static bool at_next_kernel(const struct parser *p)
{
  return at_keyword(p, "kernel");
}

static bool parse_item(struct parser *p)
{
  if (at(p, SL_TOKEN_NAME) && !at_label_or_stream(p)) {
    for (size_t i = 0; i < KEYWORD_COUNT; i++) {
      if (!sl_lexer_is(&p->lex, keywords[i].word, strlen(keywords[i].word)))
        continue;
      if (p->section != keywords[i].section || p->depth > 1)
        enter_section(p, keywords[i].section);
      next(p);
      return keywords[i].parse(p);
    }
    return unknown_item(p);
  }
  if (!at(p, SL_TOKEN_NAME) && !at(p, SL_TOKEN_LABEL) && !at(p, SL_TOKEN_STAR))
    return expected(p, "a statement");
  if (p->section != SECTION_STMT)
    enter_section(p, SECTION_STMT);
  return parse_op(p);
}

/* Whether the current `{` opens a block rather than attributes: nothing follows it on its line. */
static bool at_block_brace(const struct parser *p)
{
  char c = sl_lexer_peek(&p->lex);
  return at(p, SL_TOKEN_LBRACE) && (c == '\n' || c == '\r' || c == '#');
}

/* Skips the rest of an item with an error. A block behind it is read for its own errors and thrown away. */
static void skip_item(struct parser *p)
{
  uint32_t braces = p->in_attributes ? 1 : 0;
  p->in_attributes = false;
  p->lex.quiet = true;
  p->lex.depth = 0;
  while (!at(p, SL_TOKEN_END) && !at(p, SL_TOKEN_NEWLINE)) {
    if (at(p, SL_TOKEN_RBRACE) && braces-- == 0)
      break;
    if (at(p, SL_TOKEN_LBRACE)) {
      if (at_block_brace(p)) {
        sl_loc opened = p->lex.loc;
        p->lex.quiet = p->stopped;
        next(p);
        p->lex.pending.len = 0;
        parse_block(p, sl_block_new(p->kernel, SL_NONE), opened);
        return;
      }
      braces++;
    }
    next(p);
    p->lex.depth = 0;
  }
  p->lex.quiet = p->stopped;
  p->lex.pending.len = 0;
}

/* Stops after too many errors: what follows a broken place helps nobody. */
static void check_limit(struct parser *p)
{
  if (p->stopped || p->report->errors < p->limit)
    return;
  p->report->error_limit = 0;
  sl_error(p->report, SL_RULE_SYNTAX, p->lex.loc, "too many errors; the rest of the text was not read");
  stop(p);
}

/* Items up to the `}` of their block, the end of the text or the next kernel. */
static void parse_items(struct parser *p)
{
  for (;;) {
    if (at(p, SL_TOKEN_RBRACE) || at(p, SL_TOKEN_END) || p->kernel_missing_end)
      return;
    if (at(p, SL_TOKEN_NAME) && p->lex.length == 6 && at_next_kernel(p)) {
      p->kernel_missing_end = true;
      return;
    }
    p->item_loc = p->lex.loc;
    p->lead = p->lex.pending.len;
    if (!parse_item(p)) {
      check_limit(p);
      skip_item(p);
    }
    accept(p, SL_TOKEN_NEWLINE);
  }
}

/* ---- kernel and file ---- */

static bool parse_param(struct parser *p)
{
  struct sl_param param = { .loc = p->lex.loc };
  param.name = take_name(p, "a parameter");
  if (param.name && at(p, SL_TOKEN_NAME) && strcmp(sl_text(p->program, param.name), "static") == 0) {
    param.is_static = true;
    param.loc = p->lex.loc;
    param.name = take_name(p, "a parameter");
  }
  if (!param.name || (accept(p, SL_TOKEN_ASSIGN) && !parse_expr(p, &param.value)))
    return false;
  sl_vec_add(p->heap, &p->kernel->params, param);
  return true;
}

static bool parse_params(struct parser *p)
{
  if (!accept(p, SL_TOKEN_LPAREN))
    return true;
  do {
    if (!parse_param(p))
      return false;
  } while (accept(p, SL_TOKEN_COMMA));
  return expect(p, SL_TOKEN_RPAREN, "`,` or `)`");
}

static bool parse_kernel_head(struct parser *p)
{
  static const char *const words[] = { "target", "explicit", "from" };
  struct sl_kernel *kernel = p->kernel;
  kernel->name = take_name(p, "the name of a kernel");
  if (!kernel->name || !parse_params(p))
    return false;
  if (!accept_word(p, "target"))
    return expected_word(p, kernel->params.len ? "`target`" : "`(` or `target`", words, 1);
  sl_lexer_join_dashes(&p->lex);
  kernel->target = take_name(p, "the name of a target");
  if (!kernel->target)
    return false;
  kernel->is_explicit = accept_word(p, "explicit");
  if (accept_word(p, "from") && !parse_origin(p, &kernel->origin))
    return false;
  return at(p, SL_TOKEN_LBRACE) || expected_word(p, "`{`", words + 1, 2);
}

/* After an error in a kernel's head: to its `{`, or to where the next kernel starts. */
static void skip_kernel_head(struct parser *p)
{
  p->lex.quiet = true;
  p->lex.depth = 0;
  bool line_start = false;
  while (!at(p, SL_TOKEN_END) && !at(p, SL_TOKEN_LBRACE) && !(line_start && at_keyword(p, "kernel"))) {
    line_start = at(p, SL_TOKEN_NEWLINE);
    next(p);
    p->lex.depth = 0;
  }
  p->lex.quiet = p->stopped;
}

static void parse_kernel_body(struct parser *p, sl_loc opened)
{
  struct sl_kernel *kernel = p->kernel;
  p->section = SECTION_DECL;
  p->depth = 1;
  p->block = kernel->root;
  parse_items(p);
  if (!at(p, SL_TOKEN_RBRACE)) {
    if (p->stopped)
      return;
    sl_report_begin(p->report, SLUICE_ERROR, SL_RULE_SYNTAX, p->lex.loc, "expected `}` at the end of kernel `%s`",
                    sl_text(p->program, kernel->name));
    sl_report_note(p->report, opened, "the kernel starts here");
    sl_report_end(p->report);
    p->kernel_missing_end = false;
    return;
  }
  sl_index comments = take_end_comments(p, is_first_item(p));
  next(p);
  kernel->end_trivia = make_trivia(kernel, comments, take_comment_after_brace(p));
  if (!at(p, SL_TOKEN_NEWLINE) && !at(p, SL_TOKEN_END))
    expected(p, "the end of the line after the kernel");
  accept(p, SL_TOKEN_NEWLINE);
}

static void parse_kernel(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel = sl_kernel_add(p->program);
  uint32_t head_comments;
  kernel->loc = p->lex.loc;
  p->item_loc = p->lex.loc;
  p->lead = p->lex.pending.len;
  next(p);
  if (!parse_kernel_head(p)) {
    check_limit(p);
    skip_kernel_head(p);
  }
  sl_loc opened = p->lex.loc;
  if (!at(p, SL_TOKEN_LBRACE) || !open_brace(p, &head_comments))
    return;
  struct around around = take_around(p, head_comments, true);
  kernel->trivia = make_trivia(kernel, around.comments, around.trailing);
  parse_kernel_body(p, opened);
}

/* Moves the pending comments into a list of the program, without empty lines at its ends. */
static void keep_file_comments(struct parser *p, bool trim_end)
{
  struct sl_pending *pending = p->lex.pending.data;
  uint32_t from = 0, to = p->lex.pending.len;
  while (from < to && !pending[from].text)
    from++;
  while (trim_end && to > from && !pending[to - 1].text)
    to--;
  for (uint32_t i = from; i < to; i++) {
    if (trim_end)
      sl_vec_add(p->heap, &p->program->footer_comments, pending[i].text);
    else
      sl_vec_add(p->heap, &p->program->header_comments, pending[i].text);
  }
  p->lex.pending.len = 0;
}

/* "sluice" int nl */
static void parse_version(struct parser *p)
{
  p->program->has_version = true;
  keep_file_comments(p, false);
  next(p);
  sl_loc loc = p->lex.loc;
  int64_t version;
  if (!take_int(p, &version, 0, INT64_MAX, "a version number"))
    return;
  if (version != SL_LANGUAGE_VERSION)
    sl_error(p->report, SL_RULE_VERSION, loc, "version %lld of the language is not known; this is version %d",
             (long long)version, SL_LANGUAGE_VERSION);
  p->program->version = (uint32_t)SL_LANGUAGE_VERSION;
  if (!at(p, SL_TOKEN_NEWLINE) && !at(p, SL_TOKEN_END))
    expected(p, "the end of the line");
  keep_file_comments(p, false);
  accept(p, SL_TOKEN_NEWLINE);
}

/* Anything but a kernel: one message, then on to the next line that starts with `kernel`. */
static void parse_garbage(struct parser *p)
{
  static const char *const words[] = { "kernel", "sluice" };
  expected_word(p, "`kernel`", words, 2);
  check_limit(p);
  p->lex.quiet = true;
  do {
    next(p);
    p->lex.depth = 0;
  } while (!at(p, SL_TOKEN_END) && !at_keyword(p, "kernel"));
  p->lex.quiet = p->stopped;
}

static void parse_file(struct parser *p)
{
  if (at_word(p, "sluice"))
    parse_version(p);
  while (!at(p, SL_TOKEN_END)) {
    if (at_word(p, "kernel"))
      parse_kernel(p);
    else
      parse_garbage(p);
    check_limit(p);
  }
  keep_file_comments(p, true);
}

/* ---- entry points ---- */

static void start(struct parser *p, sl_program *program, sl_report *report, const char *text, size_t length)
{
  memset(p, 0, sizeof *p);
  p->program = program;
  p->heap = &program->heap;
  p->report = report;
  p->limit = report->errors + ERROR_LIMIT;
  report->error_limit = p->limit;
  sl_lexer_init(&p->lex, program, report, text, length);
}

int sl_parse_program(sl_program *program, sl_report *report)
{
  struct parser p;
  uint32_t errors = report->errors, error_limit = report->error_limit;
  start(&p, program, report, program->source.text, program->source.length);
  parse_file(&p);
  check_limit(&p);
  report->error_limit = error_limit;
  sl_vec_free(p.heap, &p.lex.pending);
  return report->errors == errors ? SLUICE_OK : SLUICE_E_INPUT;
}

/* A text that holds one expression or condition. Line ends in it do not count; comments are dropped. */
static bool parse_fragment(sl_program *program, struct sl_kernel *kernel, const char *text, sl_report *report,
                           sl_index *expr, struct sl_cond *cond)
{
  struct parser p;
  uint32_t errors = report->errors, error_limit = report->error_limit;
  start(&p, program, report, text, strlen(text));
  p.kernel = kernel;
  p.lex.depth = 1;
  bool fine = expr ? parse_expr(&p, expr) : parse_cond(&p, SL_NONE, cond);
  if (fine && !at(&p, SL_TOKEN_END))
    expected(&p, expr ? "an operator or the end of the expression" : "an operator or the end of the condition");
  report->error_limit = error_limit;
  sl_vec_free(p.heap, &p.lex.pending);
  return report->errors == errors;
}

sl_index sl_parse_expr(sl_program *program, struct sl_kernel *kernel, const char *text, sl_report *report)
{
  sl_index expr = SL_NONE;
  return parse_fragment(program, kernel, text, report, &expr, NULL) ? expr : SL_NONE;
}

bool sl_parse_cond(sl_program *program, struct sl_kernel *kernel, struct sl_cond *cond, const char *text,
                   sl_report *report)
{
  return parse_fragment(program, kernel, text, report, NULL, cond);
}
