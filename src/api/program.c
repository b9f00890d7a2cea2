/* program.c: the entry points of sluice/program.h. Each runs its work under a guard, so that a failed allocation ends
 * it with SLUICE_E_NO_MEMORY; the work itself is elsewhere.
 */
#include <sluice/program.h>

#include <assert.h>
#include <stdlib.h>

#include "api/call.h"
#include "deps/explicit.h"
#include "ir/ir.h"
#include "ir/verify.h"
#include "target/legality.h"
#include "target/resolve.h"

const char *sluice_closest(const char *text, const char *const *candidates, size_t count)
{
  assert(text);
  return sl_closest(text, candidates, count);
}

void sluice_program_free(sluice_program *program)
{
  if (!program)
    return;
  sl_heap_free_all(&program->heap);
  free(program);
}

/* ---- reading ---- */

enum { LONGEST_TEXT = 0x7ffffffe };

struct parse_call {
  struct sl_call call;
  int (*parse)(sl_program *program, sl_report *report);
  bool too_long;
};

static int parse_guarded(void *arg)
{
  struct parse_call *parse = arg;
  if (!parse->too_long)
    return parse->parse(parse->call.program, &parse->call.report);
  sl_error(&parse->call.report, SL_RULE_IO, SL_NO_LOC, "the text is longer than %d bytes", LONGEST_TEXT);
  return SLUICE_E_INPUT;
}

static int parse_text(sluice_program **out, const char *name, const char *text, size_t length, const sluice_sink *sink,
                      int (*parse)(sl_program *program, sl_report *report))
{
  assert(out && name && (text || !length));
  struct parse_call call = { .parse = parse, .too_long = length > LONGEST_TEXT };
  *out = NULL;
  sl_program *program = sl_program_new(name, call.too_long || !text ? "" : text, call.too_long ? 0 : length);
  if (!program)
    return SLUICE_E_NO_MEMORY;
  sl_call_begin(&call.call, program, sink);
  int status = sl_call_run(&call.call, parse_guarded, &call);
  if (status == SLUICE_OK)
    *out = program;
  else
    sluice_program_free(program);
  return status;
}

int sluice_program_parse(sluice_program **program, const char *name, const char *text, size_t length,
                         const sluice_sink *sink)
{
  return parse_text(program, name, text, length, sink, sl_parse_program);
}

int sluice_program_parse_json(sluice_program **program, const char *name, const char *text, size_t length,
                              const sluice_sink *sink)
{
  return parse_text(program, name, text, length, sink, sl_parse_json);
}

/* ---- verifying ---- */

struct verify_call {
  struct sl_call call;
  const sluice_targets *targets;
};

static void unknown_target(struct verify_call *verify, const struct sl_kernel *kernel)
{
  size_t count = sluice_targets_count(verify->targets);
  const char **known = sl_heap_alloc(&verify->call.scratch, count * sizeof *known);
  for (size_t i = 0; i < count; i++)
    known[i] = sluice_targets_name(verify->targets, i);
  const char *name = sl_text(verify->call.program, kernel->target), *closest = sl_closest(name, known, count);
  sl_error(&verify->call.report, SL_RULE_TARGET, kernel->loc, "kernel '%s': unknown target '%s'%s%s%s",
           sl_text(verify->call.program, kernel->name), name, closest ? "; did you mean '" : "", closest ? closest : "",
           closest ? "'?" : "");
}

/* Against the machine. Requires a kernel that is correct without knowing it. */
static int verify_kernel(struct verify_call *verify, struct sl_kernel *kernel)
{
  sl_program *program = verify->call.program;
  sl_report *report = &verify->call.report;
  const struct sl_target *target = sl_target_find(verify->targets, sl_text(program, kernel->target));
  if (!target) {
    unknown_target(verify, kernel);
    return SLUICE_E_INPUT;
  }
  bool registers_left = sl_registers_need_target(kernel);
  int status = sl_target_resolve(program, kernel, target, report);
  if (status == SLUICE_OK && registers_left)
    status = sl_verify_registers(program, kernel, report);
  if (status == SLUICE_OK)
    status = sl_legality_check(program, kernel, target, report);
  if (status == SLUICE_OK)
    status = sl_lines_check(program, kernel, report);
  return status;
}

static int verify_guarded(void *arg)
{
  struct verify_call *verify = arg;
  sl_program *program = verify->call.program;
  int status = sl_verify_program(program, &verify->call.report);
  for (uint32_t i = 0; status == SLUICE_OK && i < program->kernels.len; i++)
    (void)verify_kernel(verify, program->kernels.data[i]);
  return verify->call.report.errors ? SLUICE_E_INPUT : status;
}

int sluice_program_verify(sluice_program *program, const sluice_targets *targets, const sluice_sink *sink)
{
  assert(program && targets);
  struct verify_call verify = { .targets = targets };
  sl_call_begin(&verify.call, program, sink);
  return sl_call_run(&verify.call, verify_guarded, &verify);
}

/* ---- printing ---- */

struct print_call {
  sl_guard guard;
  sl_heap heap;
  const sl_program *program;
  void (*print)(sl_buf *buf, const sl_program *program);
  char *text;
  size_t length;
};

static int print_guarded(void *arg)
{
  struct print_call *print = arg;
  sl_buf buf;
  sl_buf_init(&buf, &print->heap);
  print->print(&buf, print->program);
  print->length = buf.len;
  print->text = sl_buf_export(&buf);
  return SLUICE_OK;
}

/* The program is only read and the heap is the call's own, so that threads may print one program at once. */
static int print_text(char **text, size_t *length, const sl_program *program,
                      void (*print)(sl_buf *buf, const sl_program *program))
{
  assert(text && program);
  struct print_call call = { .program = program, .print = print };
  sl_heap_init(&call.heap, &call.guard);
  int status = sl_guard_run(&call.guard, print_guarded, &call);
  sl_heap_free_all(&call.heap);
  *text = call.text;
  if (length)
    *length = status == SLUICE_OK ? call.length : 0;
  return status;
}

int sluice_program_print(char **text, size_t *length, const sluice_program *program)
{
  return print_text(text, length, program, sl_print_program);
}

int sluice_program_print_json(char **text, size_t *length, const sluice_program *program)
{
  return print_text(text, length, program, sl_print_json);
}

/* ---- asking and choosing ---- */

bool sluice_program_equal(const sluice_program *a, const sluice_program *b, const char **why)
{
  assert(a && b);
  return sl_program_equal(a, b, why);
}

size_t sluice_program_kernel_count(const sluice_program *program)
{
  assert(program);
  return program->kernels.len;
}

const char *sluice_program_kernel_name(const sluice_program *program, size_t kernel)
{
  assert(program && kernel < program->kernels.len);
  return sl_text(program, program->kernels.data[kernel]->name);
}

struct name_call {
  struct sl_call call;
  const char *name;
  int64_t value;
};

/* Reports that nothing has the name, with the closest of `known` (interned names, each once or more often). */
static int unknown_name(struct name_call *call, const char *what, const sl_name *known, uint32_t count)
{
  const char **texts = sl_heap_alloc(&call->call.scratch, (count ? count : 1) * sizeof *texts);
  for (uint32_t i = 0; i < count; i++)
    texts[i] = sl_text(call->call.program, known[i]);
  const char *closest = sl_closest(call->name, texts, count);
  sl_error(&call->call.report, SL_RULE_UNDEFINED, SL_NO_LOC, "no %s '%s'%s%s%s", what, call->name,
           closest ? "; did you mean '" : "", closest ? closest : "", closest ? "'?" : "");
  return SLUICE_E_INPUT;
}

static int select_guarded(void *arg)
{
  struct name_call *call = arg;
  sl_program *program = call->call.program;
  sl_vec(sl_name) known = { 0 };
  for (uint32_t i = 0; i < program->kernels.len; i++) {
    struct sl_kernel *kernel = program->kernels.data[i];
    if (strcmp(sl_text(program, kernel->name), call->name) == 0) {
      program->kernels.data[0] = kernel;
      program->kernels.len = 1;
      return SLUICE_OK;
    }
    sl_vec_add(&call->call.scratch, &known, kernel->name);
  }
  return unknown_name(call, "kernel is named", known.data, known.len);
}

int sluice_program_select(sluice_program *program, const char *kernel, const sluice_sink *sink)
{
  assert(program && kernel);
  struct name_call call = { .name = kernel };
  sl_call_begin(&call.call, program, sink);
  return sl_call_run(&call.call, select_guarded, &call);
}

static int define_guarded(void *arg)
{
  struct name_call *call = arg;
  sl_program *program = call->call.program;
  sl_name name = sl_names_find(&program->names, call->name, strlen(call->name));
  sl_vec(sl_name) known = { 0 };
  bool found = false;
  for (uint32_t i = 0; i < program->kernels.len; i++) {
    struct sl_kernel *kernel = program->kernels.data[i];
    for (uint32_t k = 0; k < kernel->params.len; k++) {
      sl_vec_add(&call->call.scratch, &known, kernel->params.data[k].name);
      if (kernel->params.data[k].name != name)
        continue;
      kernel->params.data[k].value = sl_expr_int(kernel, call->value, SL_NO_LOC);
      found = true;
    }
  }
  return found ? SLUICE_OK : unknown_name(call, "kernel has a parameter", known.data, known.len);
}

int sluice_program_define(sluice_program *program, const char *name, int64_t value, const sluice_sink *sink)
{
  assert(program && name && value >= 0);
  struct name_call call = { .name = name, .value = value };
  sl_call_begin(&call.call, program, sink);
  return sl_call_run(&call.call, define_guarded, &call);
}
