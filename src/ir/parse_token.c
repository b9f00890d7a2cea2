/* parse_token.c: messages of the parser, names and numbers, and the comments between items; see parse.h.
 *
 * Comments collect in lexer.pending while an item is read. At the item's end (or behind the `{` of its block) they become its
 * trivia: those before its first token keep the empty lines between them, those inside it follow, and one that ends the line
 * trails.
 */
#include "ir/parse.h"

/* ---- errors and tokens ---- */

/* Gives up on the rest of the text. */
void sl_parse_stop(struct parser *p)
{
  p->stopped = true;
  p->lex.quiet = true;
  p->lex.depth = 0;
  p->lex.at = p->lex.end;
  sl_lexer_next(&p->lex);
}

/* "expected X, found Y" at the current token; the lexer has reported an error token by itself. Returns false. */
bool sl_parse_expected(struct parser *p, const char *what)
{
  if (p->stopped || p->lex.kind == SL_TOKEN_ERROR)
    return false;
  sl_lexer_back_to_line_end(&p->lex);
  sl_buf found;
  sl_buf_init(&found, p->heap);
  sl_lexer_describe(&p->lex, &found);
  sl_error(p->report, SL_RULE_SYNTAX, p->lex.loc, "expected %s, found %s", what, sl_buf_text(&found));
  sl_heap_free(p->heap, found.data);
  return false;
}

/* The same with the closest of some words as a suggestion. */
bool sl_parse_expected_word(struct parser *p, const char *what, const char *const *words, size_t count)
{
  sl_lexer_back_to_line_end(&p->lex);
  if (p->stopped || p->lex.kind != SL_TOKEN_NAME)
    return sl_parse_expected(p, what);
  char *found = sl_heap_strndup(p->heap, p->lex.start, p->lex.length < 60 ? p->lex.length : 60);
  const char *closest = sl_closest(found, words, count);
  if (!closest || strcmp(closest, found) == 0)
    return sl_parse_expected(p, what);
  sl_error(p->report, SL_RULE_SYNTAX, p->lex.loc, "expected %s, found '%s': did you mean '%s'?", what, found, closest);
  return false;
}

/* A name that is not reserved; 0 after reporting. */
sl_name sl_parse_name(struct parser *p, const char *what)
{
  if (p->lex.kind != SL_TOKEN_NAME) {
    sl_parse_expected(p, what);
    return 0;
  }
  if (sl_is_reserved(p->lex.start, p->lex.length)) {
    sl_error(p->report, SL_RULE_SYNTAX, p->lex.loc, "expected %s, found the reserved word '%.*s'", what,
             (int)p->lex.length, p->lex.start);
    return 0;
  }
  sl_name name = intern_token(p);
  next(p);
  return name;
}

/* A name with or without copies `.0.1`. */
sl_name sl_parse_label(struct parser *p)
{
  if (p->lex.kind != SL_TOKEN_LABEL)
    return sl_parse_name(p, "a label");
  sl_name name = intern_token(p);
  next(p);
  return name;
}

/* An integer between min and max; false after reporting. */
bool sl_parse_int(struct parser *p, int64_t *value, int64_t min, int64_t max, const char *what)
{
  if (!at(p, SL_TOKEN_INT))
    return sl_parse_expected(p, what);
  if (p->lex.value > (uint64_t)max || (int64_t)p->lex.value < min) {
    sl_error(p->report, SL_RULE_LITERAL, p->lex.loc, "%s must be between %lld and %lld", what, (long long)min,
             (long long)max);
    return false;
  }
  *value = (int64_t)p->lex.value;
  next(p);
  return true;
}

bool sl_parse_u32(struct parser *p, uint32_t *value, uint32_t min, const char *what)
{
  int64_t wide;
  if (!sl_parse_int(p, &wide, min, UINT32_MAX, what))
    return false;
  *value = (uint32_t)wide;
  return true;
}

/* Counts one more element of a list; the tree counts lists in 16 bits. */
bool sl_parse_count(struct parser *p, uint16_t *count, const char *what)
{
  if (*count == UINT16_MAX) {
    sl_error(p->report, SL_RULE_NESTING, p->lex.loc, "more than %d %s", UINT16_MAX, what);
    return false;
  }
  ++*count;
  return true;
}

bool sl_parse_too_deep(struct parser *p, sl_loc loc, const char *what, int limit)
{
  if (!p->stopped)
    sl_error(p->report, SL_RULE_NESTING, loc, "%s nest deeper than %d", what, limit);
  return false;
}

bool sl_parse_line_end(struct parser *p, const char *what)
{
  static const char *const words[] = { "wait", "inc", "set", "from", "by", "at", "via", "reset" };
  if (at_line_end(p))
    return true;
  return sl_parse_expected_word(p, what, words, sizeof words / sizeof *words);
}

/* ---- trivia ---- */

/* Links pending[from..to) into a list of the kernel, with or without its empty lines; the first entry, 0 when empty. */
sl_index sl_parse_comments(struct parser *p, uint32_t from, uint32_t to, bool keep_blanks)
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
sl_index sl_parse_join_comments(struct sl_kernel *kernel, sl_index first, sl_index more)
{
  if (!first)
    return more;
  sl_index last = first;
  while (kernel->comments.data[last].next)
    last = kernel->comments.data[last].next;
  kernel->comments.data[last].next = more;
  return first;
}

sl_index sl_parse_trivia(struct sl_kernel *kernel, sl_index comments, sl_name trailing)
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

/* Takes pending[0..end) as what stands around the current item; `first`: nothing stands before it in its block, so that an
 * empty line there does not count. */
struct around sl_parse_around(struct parser *p, uint32_t end, bool first)
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
  around.comments = sl_parse_comments(p, from, p->lead, true);
  around.comments = sl_parse_join_comments(p->kernel, around.comments, sl_parse_comments(p, p->lead, inside_end, false));
  drop_pending(p, end);
  return around;
}

bool sl_parse_is_first_item(const struct parser *p)
{
  const struct sl_kernel *kernel = p->kernel;
  if (p->block != kernel->root)
    return kernel->blocks.data[p->block].first == SL_NONE;
  return kernel->blocks.data[kernel->root].first == SL_NONE && kernel->decls.len == 0 && kernel->deps.len == 0;
}

/* Puts what stands around the current statement into it. */
void sl_parse_finish_stmt(struct parser *p, sl_index stmt, uint32_t end)
{
  if (p->same_line)
    p->kernel->stmts.data[stmt].flags = SL_SAME_LINE;
  if (end == 0)
    return;
  struct around around = sl_parse_around(p, end, sl_parse_is_first_item(p));
  p->kernel->stmts.data[stmt].flags |= around.flags;
  p->kernel->stmts.data[stmt].trivia = sl_parse_trivia(p->kernel, around.comments, around.trailing);
}

/* The own-line comments before a `}`, without the empty lines at their end (and start, when nothing precedes them). */
sl_index sl_parse_end_comments(struct parser *p, bool nothing_before)
{
  uint32_t from = 0, to = p->lex.pending.len;
  while (to > 0 && !p->lex.pending.data[to - 1].text)
    to--;
  if (nothing_before && to > 0 && !p->lex.pending.data[0].text)
    from = 1;
  sl_index comments = sl_parse_comments(p, from, to, true);
  p->lex.pending.len = 0;
  return comments;
}

/* The comment that follows a `}` on its line. */
sl_name sl_parse_comment_after_brace(struct parser *p)
{
  if (!p->lex.pending.len || p->lex.pending.data[0].own_line)
    return 0;
  sl_name text = p->lex.pending.data[0].text;
  drop_pending(p, 1);
  return text;
}
