/* parser.c: reads kernel text into the program tree, by recursive descent over the tokens of lexer.c. The grammar is in
 * docs/language.md; the functions bear its names. parse.h is the map of the parser's files.
 *
 * Requires  a program fresh from sl_program_new with a source text.
 * Leaves    on success a tree whose names are not resolved and nothing is checked but the grammar; on failure messages in
 *           the report and a tree to be thrown away.
 * Cost      O(length), no backtracking; recursion is bounded by SL_NESTING_BLOCKS and SL_NESTING_EXPR.
 * Errors    The item in which an error was reported is skipped up to its line end, a block behind it is still read, and
 *           reading goes on, so that one run shows all errors up to ERROR_LIMIT.
 */
#include "ir/parse.h"

enum { ERROR_LIMIT = 20 };

/* The parts of a kernel, in their order. */
enum section { SECTION_DECL, SECTION_STMT, SECTION_DEP };

/* ---- blocks, loops, branches ---- */

/* The `{` of a block: how many pending comments belong to its head, with the one that ends the line of the `{`. */
static bool open_brace(struct parser *p, uint32_t *head_comments)
{
  static const char *const words[] = { "while", "divergent", "unroll", "from" };
  uint32_t count = p->lex.pending.len;
  if (!at(p, SL_TOKEN_LBRACE))
    return sl_parse_expected_word(p, "'{'", words, sizeof words / sizeof *words);
  next(p);
  if (p->lex.pending.len > count && p->lex.pending.data[count].text && !p->lex.pending.data[count].own_line)
    count++;
  *head_comments = count;
  return true;
}

static void parse_items(struct parser *p);

/* The items of a block whose `{` at `opened` has been read, through its `}`. */
static bool parse_block(struct parser *p, sl_index block, sl_loc opened)
{
  if (p->depth == SL_NESTING_BLOCKS) {
    sl_parse_too_deep(p, opened, "blocks", SL_NESTING_BLOCKS);
    sl_parse_stop(p);
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
      sl_report_begin(p->report, SLUICE_ERROR, SL_RULE_SYNTAX, p->lex.loc, "expected '}', found the end of the text");
      sl_report_note(p->report, opened, "the block starts here");
      sl_report_end(p->report);
      sl_parse_stop(p);
    }
    return false;
  }
  struct sl_kernel *kernel = p->kernel;
  sl_index comments = sl_parse_end_comments(p, kernel->blocks.data[block].first == SL_NONE);
  next(p);
  kernel->blocks.data[block].end_trivia = sl_parse_trivia(kernel, comments, sl_parse_comment_after_brace(p));
  accept(p, SL_TOKEN_NEWLINE);
  return true;
}

static bool take_loop_range(struct parser *p, struct sl_loop *loop)
{
  if (accept(p, SL_TOKEN_LT)) {
    loop->has_range = loop->short_range = true;
    return sl_parse_expression(p, &loop->hi);
  }
  if (!accept_word(p, "in"))
    return true;
  loop->has_range = true;
  if (!sl_parse_expression(p, &loop->lo) || !expect(p, SL_TOKEN_DOTDOT, "'..'") || !sl_parse_expression(p, &loop->hi))
    return false;
  if (!accept_word(p, "step"))
    return true;
  int64_t step;
  sl_loc loc = p->lex.loc;
  if (!sl_parse_int(p, &step, 1, INT64_MAX, "the step"))
    return false;
  loop->step = sl_expr_int(p->kernel, step, loc);
  return true;
}

static bool parse_loop_head(struct parser *p, struct sl_loop *loop, sl_index *origin)
{
  loop->var = sl_parse_name(p, "a loop variable");
  if (!loop->var || !take_loop_range(p, loop))
    return false;
  if (accept_word(p, "while")) {
    if (!sl_parse_condition(p, SL_NONE, &loop->while_cond))
      return false;
  } else if (!loop->has_range) {
    return sl_parse_expected(p, "the range of the loop: '< e', 'in lo..hi' or 'while c'");
  }
  loop->divergent = accept_word(p, "divergent");
  if (accept_word(p, "unroll") && !sl_parse_u32(p, &loop->unroll, 1, "the unroll factor"))
    return false;
  return !accept_word(p, "from") || sl_parse_origin(p, origin);
}

static bool parse_loop(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel;
  struct sl_loop loop = { 0 };
  sl_index origin = SL_NONE;
  uint32_t head_comments = 0;
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
  sl_parse_finish_stmt(p, stmt, head_comments);
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
  sl_index comments = sl_parse_comments(p, 0, p->lex.pending.len, false);
  p->lex.pending.len = 0;
  if (!comments)
    return;
  sl_index old = kernel->blocks.data[block].end_trivia;
  sl_index joined = sl_parse_join_comments(kernel, old ? kernel->trivias.data[old].first_comment : SL_NONE, comments);
  sl_name trailing = old ? kernel->trivias.data[old].trailing : 0;
  kernel->blocks.data[block].end_trivia = sl_parse_trivia(kernel, joined, trailing);
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
    if (!expect(p, SL_TOKEN_LBRACE, "'{' or 'if' after 'else'"))
      return false;
    parse_block(p, block, opened);
    return true;
  }
  if (p->depth == SL_NESTING_BLOCKS) {
    sl_parse_too_deep(p, p->lex.loc, "blocks", SL_NESTING_BLOCKS);
    sl_parse_stop(p);
    return false;
  }
  sl_index outer = p->block;
  p->block = block;
  p->depth++;
  p->item_loc = p->lex.loc;
  p->lead = 0;
  p->same_line = false;
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
  uint32_t head_comments = 0;
  sl_loc item_loc = p->item_loc;
  if (!sl_parse_condition(p, SL_NONE, &branch.cond) || (accept_word(p, "from") && !sl_parse_origin(p, &origin)))
    return false;
  sl_loc opened = p->lex.loc;
  if (!open_brace(p, &head_comments))
    return false;
  sl_index stmt = sl_stmt_new(kernel, SL_STMT_IF, item_loc);
  branch.then_block = sl_block_new(kernel, stmt);
  kernel->stmts.data[stmt].item = kernel->branches.len;
  kernel->stmts.data[stmt].origin = origin;
  sl_vec_add(p->heap, &kernel->branches, branch);
  sl_parse_finish_stmt(p, stmt, head_comments);
  sl_stmt_append(kernel, p->block, stmt);
  if (!parse_block(p, branch.then_block, opened))
    return true; /* dealt with there */
  return !at_keyword(p, "else") || parse_else(p, stmt);
}

static bool parse_simple(struct parser *p, enum sl_stmt_kind kind)
{
  if (!sl_parse_line_end(p, "the end of the line"))
    return false;
  sl_index stmt = sl_stmt_new(p->kernel, kind, p->item_loc);
  sl_parse_finish_stmt(p, stmt, p->lex.pending.len);
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

/* ---- items and recovery ---- */

/* The words that start an item. They are no reserved words: a name that is followed by `:`, `.` or `|` is a label or a
 * stream whatever it is called. */
static const struct keyword {
  const char *word;
  enum section section;
  bool (*parse)(struct parser *p);
} keywords[] = {
  { "dep", SECTION_DEP, sl_parse_dep },           { "nodep", SECTION_DEP, sl_parse_nodep },
  { "loop", SECTION_STMT, parse_loop },        { "if", SECTION_STMT, parse_if },
  { "barrier", SECTION_STMT, parse_barrier },  { "epilogue", SECTION_STMT, parse_epilogue },
  { "queue", SECTION_DECL, sl_parse_queue },      { "buffer", SECTION_DECL, sl_parse_buffer },
  { "alias", SECTION_DECL, sl_parse_alias },      { "sem", SECTION_DECL, sl_parse_sem },
  { "event", SECTION_DECL, sl_parse_event },
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
    return sl_parse_expected(p, "a statement (no 'if' ends before this line)");
  return sl_parse_expected_word(p, "a statement", words, KEYWORD_COUNT + 1);
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
    return sl_parse_expected(p, "a statement");
  if (p->section != SECTION_STMT)
    enter_section(p, SECTION_STMT);
  return sl_parse_op(p);
}

/* Whether the current `{` opens a block rather than attributes: nothing follows it on its line. */
static bool at_block_brace(const struct parser *p)
{
  char c = sl_lexer_peek(&p->lex);
  return at(p, SL_TOKEN_LBRACE) && (c == '\n' || c == '\r' || c == '#');
}

/* Reads a block behind an item with an error, for the errors in it. True when nothing of the item follows. */
static bool skip_block(struct parser *p)
{
  sl_loc opened = p->lex.loc;
  p->lex.quiet = p->stopped;
  next(p);
  p->lex.pending.len = 0;
  parse_block(p, sl_block_new(p->kernel, SL_NONE), opened);
  p->lex.quiet = true;
  return !at_keyword(p, "else");
}

/* Skips the rest of an item with an error: to its line end or the `}` of its block, blocks behind it included. */
static void skip_item(struct parser *p)
{
  uint32_t braces = p->in_attributes ? 1 : 0;
  p->in_attributes = false;
  p->lex.quiet = true;
  p->lex.depth = 0;
  while (!at(p, SL_TOKEN_END) && !at(p, SL_TOKEN_NEWLINE)) {
    if (at(p, SL_TOKEN_RBRACE) && braces-- == 0)
      break;
    if (at_block_brace(p)) {
      if (skip_block(p))
        break;
      continue;
    }
    if (at(p, SL_TOKEN_LBRACE))
      braces++;
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
  sl_parse_stop(p);
}

/* Items up to the `}` of their block, the end of the text or the next kernel. */
static void parse_items(struct parser *p)
{
  p->same_line = false;
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
    const char *line_end = p->lex.start;
    p->same_line = accept(p, SL_TOKEN_NEWLINE) && *line_end == ';' &&
                   !memchr(line_end, '\n', (size_t)(p->lex.start - line_end));
  }
}

/* ---- kernel and file ---- */

static bool parse_param(struct parser *p)
{
  struct sl_param param = { .loc = p->lex.loc };
  param.name = sl_parse_name(p, "a parameter");
  if (param.name && at(p, SL_TOKEN_NAME) && strcmp(sl_text(p->program, param.name), "static") == 0) {
    param.is_static = true;
    param.loc = p->lex.loc;
    param.name = sl_parse_name(p, "a parameter");
  }
  if (!param.name || (accept(p, SL_TOKEN_ASSIGN) && !sl_parse_expression(p, &param.value)))
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
  return expect(p, SL_TOKEN_RPAREN, "',' or ')'");
}

static bool parse_kernel_head(struct parser *p)
{
  static const char *const words[] = { "target", "explicit", "from" };
  struct sl_kernel *kernel = p->kernel;
  kernel->name = sl_parse_name(p, "the name of a kernel");
  if (!kernel->name || !parse_params(p))
    return false;
  if (!accept_word(p, "target"))
    return sl_parse_expected_word(p, kernel->params.len ? "'target'" : "'(' or 'target'", words, 1);
  sl_lexer_join_dashes(&p->lex);
  kernel->target = sl_parse_name(p, "the name of a target");
  if (!kernel->target)
    return false;
  kernel->is_explicit = accept_word(p, "explicit");
  if (accept_word(p, "from") && !sl_parse_origin(p, &kernel->origin))
    return false;
  return at(p, SL_TOKEN_LBRACE) || sl_parse_expected_word(p, "'{'", words + 1, 2);
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
    sl_report_begin(p->report, SLUICE_ERROR, SL_RULE_SYNTAX, p->lex.loc, "expected '}' at the end of kernel '%s'",
                    sl_text(p->program, kernel->name));
    sl_report_note(p->report, opened, "the kernel starts here");
    sl_report_end(p->report);
    p->kernel_missing_end = false;
    return;
  }
  sl_index comments = sl_parse_end_comments(p, sl_parse_is_first_item(p));
  next(p);
  kernel->end_trivia = sl_parse_trivia(kernel, comments, sl_parse_comment_after_brace(p));
  if (!at(p, SL_TOKEN_NEWLINE) && !at(p, SL_TOKEN_END))
    sl_parse_expected(p, "the end of the line after the kernel");
  accept(p, SL_TOKEN_NEWLINE);
}

static void parse_kernel(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel = sl_kernel_add(p->program);
  uint32_t head_comments = 0;
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
  struct around around = sl_parse_around(p, head_comments, true);
  kernel->trivia = sl_parse_trivia(kernel, around.comments, around.trailing);
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

static void skip_line(struct parser *p)
{
  p->lex.quiet = true;
  while (!at(p, SL_TOKEN_NEWLINE) && !at(p, SL_TOKEN_END)) {
    next(p);
    p->lex.depth = 0;
  }
  p->lex.quiet = p->stopped;
}

/* "sluice" int nl */
static void parse_version(struct parser *p)
{
  p->program->has_version = true;
  p->program->version = SL_LANGUAGE_VERSION;
  keep_file_comments(p, false);
  next(p);
  sl_loc loc = p->lex.loc;
  int64_t version = SL_LANGUAGE_VERSION;
  bool fine = sl_parse_int(p, &version, 0, INT64_MAX, "a version number");
  if (version != SL_LANGUAGE_VERSION)
    sl_error(p->report, SL_RULE_VERSION, loc, "version %lld of the language is not known; this is version %d",
             (long long)version, SL_LANGUAGE_VERSION);
  if (!fine || !at_line_end(p)) {
    if (fine)
      sl_parse_expected(p, "the end of the line");
    skip_line(p);
  }
  keep_file_comments(p, false);
  accept(p, SL_TOKEN_NEWLINE);
}

/* Anything but a kernel: one message, then on to the next line that starts with `kernel`. */
static void parse_garbage(struct parser *p)
{
  static const char *const words[] = { "kernel", "sluice" };
  sl_parse_expected_word(p, "'kernel'", words, 2);
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
  p->expected_to = text;
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
  bool fine = expr ? sl_parse_expression(&p, expr) : sl_parse_condition(&p, SL_NONE, cond);
  if (fine && !at(&p, SL_TOKEN_END))
    sl_parse_expected(&p, expr ? "an operator or the end of the expression" : "an operator or the end of the condition");
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
