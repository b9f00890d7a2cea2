/* verify_decl.c: declarations of a kernel. Leaves every declared name in the scope. O(declarations), expected. */
#include "ir/types.h"
#include "ir/verify.h"

/* Enters a name, or reports that it stands already. */
static void declare(struct sl_verifier *v, sl_name name, enum sl_symbol_kind kind, sl_index item, sl_loc loc)
{
  const struct sl_symbol *known = sl_scope_find(&v->scope, name);
  if (known->kind == SL_SYMBOL_NONE) {
    sl_scope_set(&v->scope, name, kind, item, loc);
    return;
  }
  sl_loc first = known->loc;
  sl_verify_begin(v, SL_RULE_REDEFINED, loc, "'%s' is declared already, as %s", sl_text(v->program, name),
                  sl_symbol_text(known->kind));
  sl_verify_end_at(v, first, "first declared here");
}

/* A negative default would make a parameter what none can be. Reported once, by the parameter it starts with. */
static void check_param_value(struct sl_verifier *v, const struct sl_param *param, struct sl_constant value)
{
  const char *name = sl_text(v->program, param->name);
  if (value.state == SL_CONST_KNOWN && value.value < 0)
    sl_verify_error(v, SL_RULE_LITERAL, param->loc, "parameter '%s' is %lld by default: parameters are never negative",
                    name, (long long)value.value);
  else if (value.state == SL_CONST_DIVISION)
    sl_verify_error(v, SL_RULE_LITERAL, param->loc, "the default of parameter '%s' divides by zero", name);
  else if (value.state == SL_CONST_OVERFLOW)
    sl_verify_error(v, SL_RULE_LITERAL, param->loc, "the default of parameter '%s' does not fit 64 bits", name);
}

static void check_params(struct sl_verifier *v)
{
  struct sl_kernel *kernel = v->kernel;
  uint32_t errors = v->report->errors;
  for (uint32_t i = 0; i < kernel->params.len; i++) {
    struct sl_param param = kernel->params.data[i];
    (void)sl_verify_expr(v, param.value, 0); /* before it is declared: defaults use earlier parameters */
    declare(v, param.name, SL_SYMBOL_PARAM, i, param.loc);
  }
  if (v->report->errors != errors)
    return; /* values follow from what was reported */
  struct sl_param_values values;
  sl_param_values_init(&values, v->heap, kernel, false);
  for (uint32_t i = 0; i < kernel->params.len; i++)
    check_param_value(v, &kernel->params.data[i], values.values.data[i]);
  sl_param_values_free(&values, v->heap);
}

static void check_type(struct sl_verifier *v, const struct sl_buffer *buffer, sl_loc loc)
{
  const char *type = sl_text(v->program, buffer->type);
  if (sl_element_type_find(type))
    return;
  sl_vec(const char *) names = { 0 };
  for (size_t i = 0; i < sl_element_type_count; i++)
    sl_vec_add(v->heap, &names, sl_element_types[i].name);
  const char *closest = sl_closest(type, names.data, names.len);
  sl_verify_error(v, SL_RULE_UNDEFINED, loc, "'%s' is no element type%s%s%s", type, closest ? ": did you mean '" : "",
                  closest ? closest : "", closest ? "'?" : "");
  sl_vec_free(v->heap, &names);
}

static void check_dims(struct sl_verifier *v, const struct sl_buffer *buffer, sl_loc loc)
{
  const char *name = sl_text(v->program, buffer->name);
  uint32_t partition_dims = 0;
  if (buffer->dim_count == 0)
    sl_verify_error(v, SL_RULE_DIMENSIONS, loc, "buffer '%s' has no dimensions", name);
  for (uint32_t i = 0; i < buffer->dim_count; i++) {
    struct sl_dim dim = v->kernel->dims.data[buffer->first_dim + i];
    struct sl_constant size = sl_verify_expr(v, dim.size, 0);
    if (size.state == SL_CONST_KNOWN && size.value < 1)
      sl_verify_error(v, SL_RULE_DIMENSIONS, loc, "dimension %u of buffer '%s' is %lld: at least 1 is needed", i, name,
                      (long long)size.value);
    partition_dims += dim.partition;
  }
  if (partition_dims > 1)
    sl_verify_error(v, SL_RULE_DIMENSIONS, loc, "buffer '%s' has %u partition dimensions: one can be marked with 'p'",
                    name, partition_dims);
}

static void check_buffer(struct sl_verifier *v, const struct sl_decl *decl)
{
  struct sl_buffer buffer = v->kernel->buffers.data[decl->item];
  declare(v, buffer.name, SL_SYMBOL_BUFFER, decl->item, decl->loc);
  check_type(v, &buffer, decl->loc);
  check_dims(v, &buffer, decl->loc);
  if (buffer.has_address) {
    struct sl_constant address = sl_verify_expr(v, buffer.address, 0);
    if ((address.state == SL_CONST_KNOWN && address.value < 0) ||
        (buffer.has_partition_start && buffer.partition_start < 0))
      sl_verify_error(v, SL_RULE_LITERAL, decl->loc, "the address of buffer '%s' is negative",
                      sl_text(v->program, buffer.name));
  }
  sl_verify_attrs(v, buffer.first_attr, buffer.attr_count, 0);
}

/* Streams are interned by name, so a queue that is declared twice has two declarations of one stream. */
static void check_queue(struct sl_verifier *v, const struct sl_decl *decl)
{
  struct sl_stream stream = v->kernel->streams.data[decl->item];
  const char *name = sl_text(v->program, stream.name);
  if (v->stream_marks.data[decl->item] == v->mark) {
    sl_verify_begin(v, SL_RULE_REDEFINED, decl->loc, "queue '%s' is declared already", name);
    sl_verify_end_at(v, stream.loc == decl->loc ? SL_NO_LOC : stream.loc, "first declared here");
  }
  v->stream_marks.data[decl->item] = v->mark;
  uint32_t trigger = stream.trigger_name ? sl_stream_get(v->kernel, stream.trigger_name) : SL_NO_STREAM;
  if (trigger != SL_NO_STREAM && v->kernel->streams.data[trigger].is_queue)
    sl_verify_error(v, SL_RULE_KIND, decl->loc,
                    "queue '%s' cannot be triggered by '%s', which is a queue: an engine is "
                    "needed",
                    name, sl_text(v->program, stream.trigger_name));
}

static void check_event(struct sl_verifier *v, const struct sl_decl *decl)
{
  struct sl_event event = v->kernel->events.data[decl->item];
  declare(v, event.name, SL_SYMBOL_EVENT, decl->item, decl->loc);
  if (event.count == 0)
    sl_verify_error(v, SL_RULE_DIMENSIONS, decl->loc, "event '%s' has no elements", sl_text(v->program, event.name));
}

static void check_alias(struct sl_verifier *v, const struct sl_decl *decl)
{
  struct sl_alias alias = v->kernel->aliases.data[decl->item];
  bool known = sl_verify_name(v, alias.a, decl->loc, 1u << SL_SYMBOL_BUFFER, "a buffer");
  known = sl_verify_name(v, alias.b, decl->loc, 1u << SL_SYMBOL_BUFFER, "a buffer") && known;
  if (known && alias.a == alias.b)
    sl_verify_error(v, SL_RULE_KIND, decl->loc, "buffer '%s' is an alias of itself", sl_text(v->program, alias.a));
}

void sl_verify_decls(struct sl_verifier *v)
{
  struct sl_kernel *kernel = v->kernel;
  check_params(v);
  for (uint32_t i = v->stream_marks.len; i < kernel->streams.len; i++)
    sl_vec_add(v->heap, &v->stream_marks, 0);
  v->mark++;
  for (uint32_t i = 0; i < kernel->decls.len; i++)
    if (kernel->decls.data[i].kind == SL_DECL_QUEUE)
      check_queue(v, &kernel->decls.data[i]);
  for (uint32_t i = 0; i < kernel->decls.len; i++) {
    struct sl_decl decl = kernel->decls.data[i];
    switch ((enum sl_decl_kind)decl.kind) {
    case SL_DECL_QUEUE:
    case SL_DECL_ALIAS: break;
    case SL_DECL_BUFFER: check_buffer(v, &decl); break;
    case SL_DECL_SEM: declare(v, kernel->sems.data[decl.item].name, SL_SYMBOL_SEM, decl.item, decl.loc); break;
    case SL_DECL_EVENT: check_event(v, &decl); break;
    }
  }
  for (uint32_t i = 0; i < kernel->decls.len; i++)
    if (kernel->decls.data[i].kind == SL_DECL_ALIAS)
      check_alias(v, &kernel->decls.data[i]);
}
