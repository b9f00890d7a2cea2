/* parse_decl.c: declarations and dependence lines; see parse.h. A declaration of several queues, semaphores or events becomes
 * one entry each; the printer joins neighbours again.
 */
#include "ir/parse.h"

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
  if (!sl_parse_line_end(p, what))
    return false;
  for (uint32_t i = p->same_line ? first : first + 1; i < kernel->decls.len; i++)
    kernel->decls.data[i].flags = SL_SAME_LINE;
  if (p->lex.pending.len == 0)
    return true;
  bool nothing_before = first == 0 && kernel->blocks.data[kernel->root].first == SL_NONE && kernel->deps.len == 0;
  struct around around = sl_parse_around(p, p->lex.pending.len, nothing_before);
  uint32_t last = kernel->decls.len - 1;
  kernel->decls.data[first].flags |= around.flags;
  kernel->decls.data[first].trivia = sl_parse_trivia(kernel, around.comments, first == last ? around.trailing : 0);
  if (first != last)
    kernel->decls.data[last].trivia = sl_parse_trivia(kernel, SL_NONE, around.trailing);
  return true;
}

static bool declare_queue(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel;
  sl_loc loc = p->lex.loc;
  sl_name name = sl_parse_name(p, "the name of a queue");
  if (!name)
    return false;
  uint32_t index = sl_stream_get(kernel, name);
  if (index != SL_NO_STREAM && kernel->streams.data[index].is_queue) {
    sl_report_begin(p->report, SLUICE_ERROR, SL_RULE_REDEFINED, loc, "queue '%s' is declared twice",
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

bool sl_parse_queue(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel;
  uint32_t first = kernel->decls.len;
  do {
    if (!declare_queue(p))
      return false;
  } while (accept(p, SL_TOKEN_COMMA));
  if (accept_word(p, "via")) {
    sl_name trigger = sl_parse_name(p, "the engine that triggers the queue");
    if (!trigger)
      return false;
    for (uint32_t i = first; i < kernel->decls.len; i++)
      kernel->streams.data[kernel->decls.data[i].item].trigger_name = trigger;
  }
  return finish_decls(p, first, "',', 'via' or the end of the line");
}

static bool parse_dims(struct parser *p, struct sl_buffer *buffer)
{
  buffer->first_dim = p->kernel->dims.len;
  if (!expect(p, SL_TOKEN_LBRACKET, "'[' and the dimensions"))
    return false;
  do {
    struct sl_dim dim = { SL_NONE, false };
    if (!sl_parse_expression(p, &dim.size) || !sl_parse_count(p, &buffer->dim_count, "dimensions"))
      return false;
    dim.partition = accept_word(p, "p");
    sl_vec_add(p->heap, &p->kernel->dims, dim);
  } while (accept(p, SL_TOKEN_COMMA));
  return expect(p, SL_TOKEN_RBRACKET, "',' or ']'");
}

/* `at [ int "p" "," ] expr`, `at` read. */
static bool parse_address(struct parser *p, struct sl_buffer *buffer)
{
  buffer->has_address = true;
  if (!sl_parse_expression(p, &buffer->address))
    return false;
  const struct sl_expr *expr = &p->kernel->exprs.data[buffer->address];
  if (!at_word(p, "p") || expr->kind != SL_EXPR_INT || expr->u.value < 0)
    return true;
  buffer->has_partition_start = true;
  buffer->partition_start = expr->u.value;
  next(p);
  return expect(p, SL_TOKEN_COMMA, "',' and the address within the partition") && sl_parse_expression(p, &buffer->address);
}

bool sl_parse_buffer(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel;
  struct sl_buffer buffer = { 0 };
  sl_loc loc = p->lex.loc;
  buffer.first_attr = kernel->attrs.len;
  buffer.name = sl_parse_name(p, "the name of a buffer");
  if (!buffer.name || !expect(p, SL_TOKEN_COLON, "':'"))
    return false;
  buffer.space = sl_parse_name(p, "a memory space");
  if (!buffer.space)
    return false;
  buffer.type = sl_parse_name(p, "an element type");
  if (!buffer.type || !parse_dims(p, &buffer) || (accept_word(p, "at") && !parse_address(p, &buffer)))
    return false;
  if (at(p, SL_TOKEN_LBRACE) && !sl_parse_attrs(p, &buffer.first_attr, &buffer.attr_count))
    return false;
  uint32_t first = kernel->decls.len;
  add_decl(p, SL_DECL_BUFFER, kernel->buffers.len, loc);
  sl_vec_add(p->heap, &kernel->buffers, buffer);
  return finish_decls(p, first, "'at', attributes or the end of the line");
}

bool sl_parse_alias(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel;
  struct sl_alias alias;
  sl_loc loc = p->lex.loc;
  alias.a = sl_parse_name(p, "the name of a buffer");
  if (!alias.a)
    return false;
  alias.b = sl_parse_name(p, "the name of a second buffer");
  if (!alias.b)
    return false;
  uint32_t first = kernel->decls.len;
  add_decl(p, SL_DECL_ALIAS, kernel->aliases.len, loc);
  sl_vec_add(p->heap, &kernel->aliases, alias);
  return finish_decls(p, first, "the end of the line");
}

bool sl_parse_sem(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel;
  uint32_t first = kernel->decls.len;
  do {
    struct sl_sem sem = { 0 };
    sl_loc loc = p->lex.loc;
    sem.name = sl_parse_name(p, "the name of a semaphore");
    if (!sem.name)
      return false;
    if (accept(p, SL_TOKEN_ASSIGN) && !sl_parse_u32(p, &sem.initial, 0, "the initial value"))
      return false;
    sem.has_id = accept_word(p, "at");
    if (sem.has_id && !sl_parse_u32(p, &sem.id, 0, "the number of a semaphore"))
      return false;
    add_decl(p, SL_DECL_SEM, kernel->sems.len, loc);
    sl_vec_add(p->heap, &kernel->sems, sem);
  } while (accept(p, SL_TOKEN_COMMA));
  return finish_decls(p, first, "'=', 'at', ',' or the end of the line");
}

static bool parse_one_event(struct parser *p)
{
  struct sl_kernel *kernel = p->kernel;
  struct sl_event event = { .count = 1 };
  sl_loc loc = p->lex.loc;
  event.name = sl_parse_name(p, "the name of an event");
  if (!event.name)
    return false;
  event.is_array = accept(p, SL_TOKEN_LBRACKET);
  if (event.is_array && (!sl_parse_u32(p, &event.count, 1, "the number of events") || !expect(p, SL_TOKEN_RBRACKET, "']'")))
    return false;
  if (!expect(p, SL_TOKEN_COLON, "':'"))
    return false;
  event.from = sl_parse_name(p, "the stream that sets the event");
  if (!event.from || !expect(p, SL_TOKEN_RIGHT_ARROW, "'->'"))
    return false;
  event.to = sl_parse_name(p, "the stream that waits for the event");
  if (!event.to)
    return false;
  event.has_id = accept_word(p, "at");
  if (event.has_id && !sl_parse_u32(p, &event.id, 0, "the number of an event"))
    return false;
  add_decl(p, SL_DECL_EVENT, kernel->events.len, loc);
  sl_vec_add(p->heap, &kernel->events, event);
  return true;
}

bool sl_parse_event(struct parser *p)
{
  uint32_t first = p->kernel->decls.len;
  do {
    if (!parse_one_event(p))
      return false;
  } while (accept(p, SL_TOKEN_COMMA));
  return finish_decls(p, first, "'at', ',' or the end of the line");
}

/* ---- dependences ---- */

/* `i`, or `across i`: `across` is a word only where another name follows, so a loop may have it as its variable. */
static bool parse_distance_loop(struct parser *p, struct sl_distance *distance)
{
  distance->loop = sl_parse_name(p, "the variable of a loop");
  distance->across = distance->loop && at(p, SL_TOKEN_NAME) && strcmp(sl_text(p->program, distance->loop), "across") == 0;
  if (distance->across)
    distance->loop = sl_parse_name(p, "the variable of a loop");
  return distance->loop != 0;
}

/* At the `(`. */
static bool parse_distances(struct parser *p, struct sl_dep *dep)
{
  dep->first_distance = p->kernel->distances.len;
  next(p);
  do {
    struct sl_distance distance;
    int64_t k;
    if (!parse_distance_loop(p, &distance) || !expect(p, SL_TOKEN_COLON, "':' and a distance"))
      return false;
    bool negative = accept(p, SL_TOKEN_MINUS);
    if (!sl_parse_int(p, &k, 0, INT32_MAX, "a distance") || !sl_parse_count(p, &dep->distance_count, "distances"))
      return false;
    distance.k = (int32_t)(negative ? -k : k);
    sl_vec_add(p->heap, &p->kernel->distances, distance);
  } while (accept(p, SL_TOKEN_COMMA));
  return expect(p, SL_TOKEN_RPAREN, "',' or ')'");
}

/* Asks for the producer of the dependence line at `at`, if one starts there. */
static void expect_producer(const struct parser *p, const char *at)
{
  const char *end = p->lex.end;
  while (at < end && *at == ' ')
    at++;
  if (end - at < 4 || memcmp(at, "dep ", 4) != 0)
    return;
  const char *label = at + 4, *label_end = label;
  while (label_end < end && *label_end > ' ')
    label_end++;
  sl_names_expect(&p->program->names, label, (size_t)(label_end - label));
}

/* Dependence lines follow each other by the million and name labels from anywhere in the kernel: producers are asked for some
 * lines before they are looked up. Whatever stands there, this only reads ahead. */
static void expect_producers(struct parser *p)
{
  enum { BYTES_AHEAD = 128 };
  if (p->expected_to < p->lex.at)
    p->expected_to = p->lex.at;
  while (p->expected_to < p->lex.end && p->expected_to - p->lex.at < BYTES_AHEAD) {
    const char *line_end = memchr(p->expected_to, '\n', (size_t)(p->lex.end - p->expected_to));
    p->expected_to = line_end ? line_end + 1 : p->lex.end;
    expect_producer(p, p->expected_to);
  }
}

static bool parse_dependence(struct parser *p, bool removed)
{
  struct sl_kernel *kernel = p->kernel;
  expect_producers(p);
  struct sl_dep dep = { .removed = removed, .loc = p->item_loc };
  dep.producer = sl_parse_label(p);
  if (!dep.producer || !expect(p, SL_TOKEN_RIGHT_ARROW, "'->'"))
    return false;
  dep.consumer = sl_parse_label(p);
  if (!dep.consumer || (at(p, SL_TOKEN_LPAREN) && !parse_distances(p, &dep)))
    return false;
  if (removed) {
    if (!at(p, SL_TOKEN_STRING))
      return sl_parse_expected(p, "the reason in quotes");
    dep.reason = sl_lexer_string(&p->lex);
    next(p);
  }
  if (!sl_parse_line_end(p, removed ? "the end of the line" : "'(' or the end of the line"))
    return false;
  if (p->lex.pending.len) {
    struct around around = sl_parse_around(p, p->lex.pending.len, sl_parse_is_first_item(p));
    dep.flags = around.flags;
    dep.trivia = sl_parse_trivia(kernel, around.comments, around.trailing);
  }
  sl_vec_add(p->heap, &kernel->deps, dep);
  return true;
}

bool sl_parse_dep(struct parser *p)
{
  return parse_dependence(p, false);
}

bool sl_parse_nodep(struct parser *p)
{
  return parse_dependence(p, true);
}
