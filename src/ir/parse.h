/* parse.h: what the files of the parser share. Nobody else includes it: the parser's offers are in ir.h.
 *
 *   parser.c        blocks, loops, branches; items and recovery from errors; kernels, the file; entry points
 *   parse_op.c      operands, clauses, operations
 *   parse_decl.c    declarations, dependence lines
 *   parse_expr.c    expressions, conditions, attributes, `from`
 *   parse_token.c   messages, names and numbers, comments
 *
 * Every parse function returns false (names: 0) after an error that it has reported. The caller passes it up to parse_items in
 * parser.c, which skips the item.
 */
#ifndef SL_IR_PARSE_H
#define SL_IR_PARSE_H

#include <sluice/base.h>

#include "ir/ir.h"
#include "ir/lexer.h"

struct parser {
  sl_lexer lex;
  sl_program *program;
  sl_heap *heap;
  sl_report *report;
  struct sl_kernel *kernel;
  const char *expected_to; /* dependence lines up to here have been read ahead */
  uint32_t depth;          /* of open blocks */
  uint32_t expr_depth;     /* of open parentheses of an expression */
  uint32_t limit;          /* errors after which reading stops */
  uint8_t section;         /* enum section: how far the kernel has come */
  sl_loc item_loc;         /* first token of the current item */
  sl_index block;          /* where the current item stands */
  bool same_line;          /* the current item stands behind another one and a `;` */
  uint32_t lead;           /* comments and empty lines in lex.pending before the current item */
  bool in_attributes;      /* for recovery: a `{` of attributes is open */
  bool stopped;            /* reading was given up; no further messages */
  bool kernel_missing_end; /* a `kernel` line stands where the current one has not ended: leave all blocks */
};

/* ---- parse_token.c ---- */

/* Gives up on the rest of the text. */
void sl_parse_stop(struct parser *p);
/* "expected X, found Y" at the current token; the lexer has reported an error token by itself. Returns false. */
bool sl_parse_expected(struct parser *p, const char *what);
/* The same with the closest of some words as a suggestion. */
bool sl_parse_expected_word(struct parser *p, const char *what, const char *const *words, size_t count);
/* "blocks nest deeper than 200" and the like; returns false. */
bool sl_parse_too_deep(struct parser *p, sl_loc loc, const char *what, int limit);
/* A name that is not reserved; 0 after reporting. */
sl_name sl_parse_name(struct parser *p, const char *what);
/* A name with or without copies `.0.1`. */
sl_name sl_parse_label(struct parser *p);
/* An integer between min and max. */
bool sl_parse_int(struct parser *p, int64_t *value, int64_t min, int64_t max, const char *what);
bool sl_parse_u32(struct parser *p, uint32_t *value, uint32_t min, const char *what);
/* Counts one more element of a list; the tree counts most lists in 16 bits. */
bool sl_parse_count(struct parser *p, uint16_t *count, const char *what);
/* An end of the line as at_line_end has it, or a message. */
bool sl_parse_line_end(struct parser *p, const char *what);

/* What stands around an item, before it is put into the tree. */
struct around {
  sl_index comments;
  sl_name trailing;
  uint8_t flags;
};
/* Takes pending[0..end) as what stands around the current item; `first`: nothing stands before it in its block, so that an
 * empty line there does not count. */
struct around sl_parse_around(struct parser *p, uint32_t end, bool first);
bool sl_parse_is_first_item(const struct parser *p);
/* Puts pending[0..end) into the current statement. */
void sl_parse_finish_stmt(struct parser *p, sl_index stmt, uint32_t end);
/* Links pending[from..to) into a list of the kernel, with or without its empty lines; the first entry, 0 when empty. */
sl_index sl_parse_comments(struct parser *p, uint32_t from, uint32_t to, bool keep_blanks);
/* Appends list `more` to list `first` of the kernel's comments. */
sl_index sl_parse_join_comments(struct sl_kernel *kernel, sl_index first, sl_index more);
sl_index sl_parse_trivia(struct sl_kernel *kernel, sl_index comments, sl_name trailing);
/* The own-line comments before a `}`, without the empty lines at their end (and start, when nothing precedes them). */
sl_index sl_parse_end_comments(struct parser *p, bool nothing_before);
/* The comment that follows a `}` on its line. */
sl_name sl_parse_comment_after_brace(struct parser *p);

/* ---- parse_expr.c ---- */

bool sl_parse_expression(struct parser *p, sl_index *expr);
/* A condition; `lhs` is the left side of its first comparison when that has been read, else 0. */
bool sl_parse_condition(struct parser *p, sl_index lhs, struct sl_cond *cond);
/* Attributes, at their `{`. Line ends do not count inside. */
bool sl_parse_attrs(struct parser *p, uint32_t *first, uint16_t *count);
/* `from "file":line:column`, with `from` read. */
bool sl_parse_origin(struct parser *p, sl_index *origin);

/* ---- parse_op.c ---- */

bool sl_parse_op(struct parser *p);

/* ---- parse_decl.c: the keyword has been read ---- */

bool sl_parse_queue(struct parser *p);
bool sl_parse_buffer(struct parser *p);
bool sl_parse_alias(struct parser *p);
bool sl_parse_sem(struct parser *p);
bool sl_parse_event(struct parser *p);
bool sl_parse_dep(struct parser *p);
bool sl_parse_nodep(struct parser *p);

/* ---- tokens ---- */

static inline void next(struct parser *p)
{
  sl_lexer_next(&p->lex);
}

static inline bool at(const struct parser *p, enum sl_token_kind kind)
{
  return p->lex.kind == kind;
}

/* The end of a line, the text, or the block; the token stays. */
static inline bool at_line_end(const struct parser *p)
{
  return at(p, SL_TOKEN_NEWLINE) || at(p, SL_TOKEN_RBRACE) || at(p, SL_TOKEN_END);
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
    return sl_parse_expected(p, what);
  sl_lexer_next(&p->lex);
  return true;
}

#define at_word(p, word) sl_lexer_is(&(p)->lex, (word), sizeof(word) - 1)

static inline bool accept_word(struct parser *p, const char *word)
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

#endif
