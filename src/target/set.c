/* set.c: sets of targets: the built-in ones, loading, looking up. See <sluice/target.h> and target.h. */
#include <assert.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "target/embedded.h"
#include "target/reader.h"

/* ---- looking up ---- */

const struct sl_target *sl_target_find(const sluice_targets *targets, const char *name)
{
  for (uint32_t i = 0; i < targets->targets.len; i++)
    if (strcmp(targets->targets.data[i]->name, name) == 0)
      return targets->targets.data[i];
  return NULL;
}

static int find_name(const sl_names *names, const char *name)
{
  return (int)sl_names_find(names, name, strlen(name)) - 1;
}

int sl_target_engine(const struct sl_target *target, const char *name)
{
  return find_name(&target->engine_names, name);
}

int sl_target_space(const struct sl_target *target, const char *name)
{
  return find_name(&target->space_names, name);
}

int sl_target_opcode(const struct sl_target *target, const char *name)
{
  return find_name(&target->opcode_names, name);
}

int sl_target_param_index(const struct sl_target *target, const char *name)
{
  for (uint32_t i = 0; i < target->params.len; i++)
    if (strcmp(target->params.data[i].name, name) == 0)
      return (int)i;
  return -1;
}

double sl_target_param(const struct sl_target *target, const char *name, double otherwise)
{
  int index = sl_target_param_index(target, name);
  return index < 0 ? otherwise : target->params.data[index].fact.value;
}

size_t sluice_targets_count(const sluice_targets *targets)
{
  return targets->targets.len;
}

const char *sluice_targets_name(const sluice_targets *targets, size_t index)
{
  assert(index < targets->targets.len);
  return targets->targets.data[index]->name;
}

const char *sluice_targets_summary(const sluice_targets *targets, size_t index)
{
  assert(index < targets->targets.len);
  return targets->targets.data[index]->summary;
}

/* ---- loading ---- */

enum { ERRORS_SHOWN = 50 };

struct load_call {
  sluice_targets *targets;
  sl_heap scratch; /* the text and the messages */
  const char *name, *text;
  size_t length;
  const sluice_sink *sink;
};

/* The last step, which cannot fail half way: room for all first. */
static void add_targets(sluice_targets *targets, const struct sl_reader *reader)
{
  sl_vec_reserve(&targets->heap, &targets->targets, reader->made.len);
  for (uint32_t i = 0; i < reader->made.len; i++) {
    struct sl_target *target = reader->made.data[i];
    uint32_t at = 0;
    while (at < targets->targets.len && strcmp(targets->targets.data[at]->name, target->name) != 0)
      at++;
    if (at == targets->targets.len)
      targets->targets.len++;
    targets->targets.data[at] = target;
  }
}

/* Names and notes go into JSON and messages. */
static bool check_utf8(struct sl_reader *reader)
{
  const struct sl_scan *scan = &reader->scan;
  for (uint32_t at = 0; at < scan->length;) {
    size_t bytes = sl_utf8_length(scan->text + at, scan->length - at);
    if (!bytes)
      return sl_reader_fail(reader, at + 1, "the text is not UTF-8 here");
    at += (uint32_t)bytes;
  }
  return true;
}

static int load_guarded(void *arg)
{
  struct load_call *call = arg;
  sl_source source;
  sl_report report;
  sl_source_init(&source, &call->scratch, call->name, call->text, call->length);
  sl_report_init(&report, &call->scratch, call->sink, &source);
  report.error_limit = ERRORS_SHOWN;
  struct sl_reader reader = { .heap = &call->targets->heap, .report = &report, .set = call->targets };
  sl_scan_init(&reader.scan, source.text, source.length);
  if (check_utf8(&reader))
    sl_target_read(&reader);
  if (report.errors)
    return SLUICE_E_INPUT;
  add_targets(call->targets, &reader);
  return SLUICE_OK;
}

static int load(sluice_targets *targets, const char *name, const char *text, size_t length, const sluice_sink *sink)
{
  struct load_call call = { .targets = targets, .name = name, .text = text, .length = length, .sink = sink };
  sl_heap_init(&call.scratch, &targets->guard);
  int status = sl_guard_run(&targets->guard, load_guarded, &call);
  sl_heap_free_all(&call.scratch);
  return status;
}

int sluice_targets_load(sluice_targets *targets, const char *name, const char *text, size_t length,
                        const sluice_sink *sink)
{
  if (length <= INT32_MAX)
    return load(targets, name, text, length, sink);
  sluice_diag diag = {
    .severity = SLUICE_ERROR, .rule = sl_rule_id(SL_RULE_TARGET), .file = name, .text = "the text is larger than 2 GiB"
  };
  if (sink && sink->emit)
    sink->emit(sink->user, &diag);
  return SLUICE_E_INPUT;
}

/* ---- the built-in targets ---- */

/* The name behind `like` in the head of a description, as a span of the text; length 0 when there is none. */
static struct sl_token base_of(const char *text)
{
  struct sl_scan scan;
  sl_scan_init(&scan, text, (uint32_t)strlen(text));
  while (scan.token.kind != SL_TOKEN_END && !sl_scan_is(&scan, "{")) {
    if (sl_scan_accept(&scan, "like"))
      return scan.token;
    sl_scan_next(&scan);
  }
  return (struct sl_token){ .length = 0 };
}

static bool is_loaded(const sluice_targets *targets, struct sl_token name)
{
  for (uint32_t i = 0; i < targets->targets.len; i++) {
    const char *known = targets->targets.data[i]->name;
    if (strlen(known) == name.length && memcmp(known, name.text, name.length) == 0)
      return true;
  }
  return false;
}

static int embedded_place(const char *name)
{
  for (unsigned i = 0; i < sl_embedded_target_count; i++)
    if (strcmp(sl_embedded_targets[i].name, name) == 0)
      return (int)i;
  return (int)sl_embedded_target_count;
}

/* In the order of the table, although bases are loaded first. */
static void sort_embedded(sluice_targets *targets)
{
  for (uint32_t i = 1; i < targets->targets.len; i++) {
    struct sl_target *target = targets->targets.data[i];
    uint32_t at = i;
    for (; at > 0 && embedded_place(targets->targets.data[at - 1]->name) > embedded_place(target->name); at--)
      targets->targets.data[at] = targets->targets.data[at - 1];
    targets->targets.data[at] = target;
  }
}

/* Each round loads the targets whose base is there; a target that never gets its base is a fault of the build, which
 * tests/unit/test_target.c would find. */
static int load_embedded(sluice_targets *targets)
{
  uint32_t before;
  do {
    before = targets->targets.len;
    for (unsigned i = 0; i < sl_embedded_target_count; i++) {
      const struct sl_embedded_target *embedded = &sl_embedded_targets[i];
      struct sl_token base = base_of(embedded->text);
      if (sl_target_find(targets, embedded->name) || (base.length && !is_loaded(targets, base)))
        continue;
      int status = load(targets, embedded->name, embedded->text, strlen(embedded->text), NULL);
      if (status)
        return status;
    }
  } while (targets->targets.len != before);
  sort_embedded(targets);
  return SLUICE_OK;
}

int sluice_targets_new(sluice_targets **targets)
{
  *targets = NULL;
  sluice_targets *made = calloc(1, sizeof *made);
  if (!made)
    return SLUICE_E_NO_MEMORY;
  sl_heap_init(&made->heap, &made->guard);
  int status = load_embedded(made);
  if (status) {
    sluice_targets_free(made);
    return status;
  }
  *targets = made;
  return SLUICE_OK;
}

void sluice_targets_free(sluice_targets *targets)
{
  if (!targets)
    return;
  sl_heap_free_all(&targets->heap);
  free(targets);
}
