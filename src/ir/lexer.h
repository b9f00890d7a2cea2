/* lexer.h: tokens of the language, one at a time, with the comments and empty lines between them.
 *
 * Requires a text that ends with a NUL at text[length] (sl_source_init makes one). The lexer holds one current token; names
 * are not interned until the parser asks, nothing is allocated per token.
 *
 * Line ends are tokens only where they end something: not inside ( ) and [ ] (`depth`), not after `,` `<-` `{`, not before a
 * line that starts with a clause keyword, and several in a row are one. `;` counts as a line end.
 *
 * Comments and empty lines go to `pending` in the order of the text; the parser attaches them to items and empties it.
 */
#ifndef SL_IR_LEXER_H
#define SL_IR_LEXER_H

#include "base/buf.h"
#include "base/report.h"
#include "ir/program.h"

enum sl_token_kind {
  SL_TOKEN_END,
  SL_TOKEN_ERROR, /* reported by the lexer already */
  SL_TOKEN_NEWLINE,
  SL_TOKEN_NAME,
  SL_TOKEN_LABEL,    /* name with copies and iterations: `ex.0.1`, `ex@2` */
  SL_TOKEN_REGISTER, /* start and length without the `%` */
  SL_TOKEN_INT,      /* value, at most 2^63 */
  SL_TOKEN_FLOAT,
  SL_TOKEN_STRING, /* start and length without the quotes, escapes not resolved */
  SL_TOKEN_LPAREN,
  SL_TOKEN_RPAREN,
  SL_TOKEN_LBRACKET,
  SL_TOKEN_RBRACKET,
  SL_TOKEN_LBRACE,
  SL_TOKEN_RBRACE,
  SL_TOKEN_COMMA,
  SL_TOKEN_COLON,
  SL_TOKEN_DOT,
  SL_TOKEN_DOTDOT,
  SL_TOKEN_PLUS,
  SL_TOKEN_PLUS_COLON,
  SL_TOKEN_MINUS,
  SL_TOKEN_STAR,
  SL_TOKEN_SLASH,
  SL_TOKEN_PERCENT,
  SL_TOKEN_LEFT_ARROW,
  SL_TOKEN_RIGHT_ARROW,
  SL_TOKEN_ASSIGN,
  SL_TOKEN_EQ,
  SL_TOKEN_NE,
  SL_TOKEN_LT,
  SL_TOKEN_LE,
  SL_TOKEN_GT,
  SL_TOKEN_GE,
  SL_TOKEN_QUESTION,
  SL_TOKEN_PIPE
};

/* A comment (text without `#` and one blank after it), or an empty line (text SL_NONE). */
struct sl_pending {
  sl_name text;
  bool own_line; /* no token before it on its line */
};

typedef struct sl_lexer {
  sl_program *program; /* names and heap for comments */
  sl_report *report;
  const char *text, *at, *end;
  /* The current token. */
  enum sl_token_kind kind;
  const char *start;
  uint32_t length;
  uint64_t value;
  sl_loc loc;
  const char *last_end; /* of the token before */
  /* Between tokens. */
  uint32_t depth;    /* of open brackets and attribute braces: line ends inside do not count */
  uint32_t newlines; /* since the last token or comment */
  bool own_line;     /* no token yet on the current line */
  bool glue;         /* the last token was `,` or `<-` */
  bool fresh;        /* a line end here would end nothing: start of the text, after `{` or a line end */
  const char *clause_at; /* the clause keyword that clause_follows has found: line ends before it do not count */
  bool quiet;        /* errors are not reported: the parser skips a statement that has one already */
  sl_vec(struct sl_pending) pending;
} sl_lexer;

void sl_lexer_init(sl_lexer *lexer, sl_program *program, sl_report *report, const char *text, size_t length);
/* Moves on to the next token. After SL_TOKEN_END it stays there. */
void sl_lexer_next(sl_lexer *lexer);
/* Extends the current name token by `-name` parts that follow without a space, as in target names. */
void sl_lexer_join_dashes(sl_lexer *lexer);
/* When the current token stands on a later line than the one before, inside brackets: goes back to the line end between them,
 * which becomes the current token. For messages about brackets that are not closed. */
void sl_lexer_back_to_line_end(sl_lexer *lexer);
/* Interns the current string token, escapes resolved. */
sl_name sl_lexer_string(sl_lexer *lexer);
/* Whether the current token is this word. */
static inline bool sl_lexer_is(const sl_lexer *lexer, const char *word, size_t length)
{
  return lexer->kind == SL_TOKEN_NAME && lexer->length == length && memcmp(lexer->start, word, length) == 0;
}
/* The first character after the current token and blanks. */
char sl_lexer_peek(const sl_lexer *lexer);
/* The current token, for messages: "name `x`", "`;`", "the end of the line". */
void sl_lexer_describe(const sl_lexer *lexer, sl_buf *buf);

/* The words that cannot be names. */
bool sl_is_reserved(const char *text, size_t length);
/* `name` or `name.0.1`. */
bool sl_is_label(const char *text, size_t length);

#endif
