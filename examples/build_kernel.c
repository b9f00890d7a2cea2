/* build_kernel.c: builds a kernel through the C API, prints it, synchronizes it and prints it again.
 *
 *   cc -std=c11 build_kernel.c $(pkg-config --cflags --libs sluice) -o build_kernel && ./build_kernel
 *
 * The kernel is `softsum`: for each of n tiles, exponentials are taken m times and summed. A queue loads the tile, the
 * scalar engine (act) computes, the vector engine (dve) accumulates, another queue stores the sum. The tile buffer xt has two
 * copies, tmp and acc have one; the dependences below say what that asks for.
 */
#include <stdio.h>
#include <stdlib.h>

#include <sluice/sluice.h>

/* ---- building ---- */

/* A memory operand: the whole buffer, or one row `name[index]`. */
static sluice_operand whole(const char *name)
{
  return (sluice_operand){ .kind = SLUICE_OPERAND_MEMORY, .name = name };
}

static sluice_operand row(const char *name, const sluice_index *index)
{
  return (sluice_operand){ .kind = SLUICE_OPERAND_MEMORY, .name = name, .indices = index, .index_count = 1 };
}

static void buffer(sluice_builder *b, const char *name, const char *space, const char *type, const char *const *sizes,
                   size_t count, int partition_dim)
{
  sluice_expr dims[4];
  for (size_t i = 0; i < count; i++)
    dims[i] = sluice_expr_text(b, sizes[i]);
  sluice_build_buffer(b, name, space, type, dims, count, partition_dim);
}

static void declare(sluice_builder *b)
{
  sluice_build_param(b, "n", sluice_expr_int(b, 8), false);
  sluice_build_param(b, "m", sluice_expr_int(b, 4), false);
  sluice_build_queue(b, "q0", "sp");
  sluice_build_queue(b, "q1", "pool");
  buffer(b, "x", "hbm", "bf16", (const char *[]){ "n", "128", "512" }, 3, -1);
  buffer(b, "y", "hbm", "f32", (const char *[]){ "n", "128", "512" }, 3, -1);
  buffer(b, "xt", "sbuf", "bf16", (const char *[]){ "2", "128", "512" }, 3, 1);
  buffer(b, "tmp", "sbuf", "f32", (const char *[]){ "128", "512" }, 2, 0);
  buffer(b, "acc", "sbuf", "f32", (const char *[]){ "128", "512" }, 2, 0);
}

/* loop i < n { ld; loop j < m { ex; ad }; st } */
static void statements(sluice_builder *b)
{
  const sluice_index tile = { SLUICE_INDEX_AT, sluice_expr_name(b, "i"), 0 };
  const sluice_index copy = { SLUICE_INDEX_AT, sluice_expr_text(b, "i % 2"), 0 };
  const sluice_operand x = row("x", &tile), y = row("y", &tile), xt = row("xt", &copy);
  const sluice_operand tmp = whole("tmp"), acc = whole("acc");
  sluice_operand sum = acc;
  sum.read_write = true;
  const sluice_attribute exponential = { .name = "func", .value = sluice_expr_name(b, "exp") };
  const sluice_comparison first = { SLUICE_EQ, sluice_expr_name(b, "j"), sluice_expr_int(b, 0), NULL };
  const sluice_condition at_first = { &first, 1, false };
  const sluice_attribute start = { .name = "start", .condition = &at_first };

  sluice_build_loop(b, "i", sluice_expr_name(b, "n"), 0);
  sluice_build_op(b, &(sluice_op){ .label = "ld",
                                   .stream = "q0",
                                   .opcode = "dma_copy",
                                   .destinations = &xt,
                                   .destination_count = 1,
                                   .sources = &x,
                                   .source_count = 1 });
  sluice_build_loop(b, "j", sluice_expr_name(b, "m"), 0);
  sluice_build_op(b, &(sluice_op){ .label = "ex",
                                   .stream = "act",
                                   .opcode = "activation",
                                   .destinations = &tmp,
                                   .destination_count = 1,
                                   .sources = &xt,
                                   .source_count = 1,
                                   .attributes = &exponential,
                                   .attribute_count = 1 });
  sluice_build_op(b, &(sluice_op){ .label = "ad",
                                   .stream = "dve",
                                   .opcode = "accumulate",
                                   .destinations = &sum,
                                   .destination_count = 1,
                                   .sources = &tmp,
                                   .source_count = 1,
                                   .attributes = &start,
                                   .attribute_count = 1 });
  sluice_build_end(b);
  sluice_build_op(b, &(sluice_op){ .label = "st",
                                   .stream = "q1",
                                   .opcode = "dma_copy",
                                   .destinations = &y,
                                   .destination_count = 1,
                                   .sources = &acc,
                                   .source_count = 1 });
  sluice_build_end(b);
}

static void dependences(sluice_builder *b)
{
  const sluice_distance two_tiles = { "i", 2 }, one_tile = { "i", 1 }, one_step = { "j", 1 };
  sluice_build_dep(b, "ld", "ex", NULL, 0);       /* the tile is there */
  sluice_build_dep(b, "ex", "ld", &two_tiles, 1); /* the tile's copy is free again */
  sluice_build_dep(b, "ex", "ad", NULL, 0);       /* tmp is there */
  sluice_build_dep(b, "ad", "ex", &one_step, 1);  /* tmp is free again, within a tile ... */
  sluice_build_dep(b, "ad", "ex", &one_tile, 1);  /* ... and from one tile to the next */
  sluice_build_dep(b, "ad", "st", NULL, 0);       /* the sum is complete */
  sluice_build_dep(b, "st", "ad", &one_tile, 1);  /* acc is free again */
}

static int build(sluice_program **program, const sluice_sink *sink)
{
  sluice_builder *b;
  int status = sluice_builder_new(&b, "build_kernel");
  if (status != SLUICE_OK)
    return status;
  sluice_build_kernel(b, "softsum", "trn2", SLUICE_KERNEL_EXPLICIT);
  declare(b);
  statements(b);
  dependences(b);
  sluice_build_end(b);
  return sluice_builder_finish(program, b, sink); /* reports whatever went wrong above */
}

/* ---- using ---- */

static void print_diagnostic(void *user, const sluice_diag *diag)
{
  char *text;
  (void)user;
  if (sluice_diag_format(&text, diag) != SLUICE_OK)
    return;
  fputs(text, stderr);
  sluice_string_free(text);
}

static int print(const sluice_program *program)
{
  char *text;
  int status = sluice_program_print(&text, NULL, program);
  if (status == SLUICE_OK)
    fputs(text, stdout);
  sluice_string_free(text);
  return status;
}

int main(void)
{
  const sluice_sink sink = { print_diagnostic, NULL };
  const sluice_sync_options options = SLUICE_SYNC_OPTIONS_INIT;
  sluice_targets *targets = NULL;
  sluice_program *kernel = NULL, *synchronized = NULL;

  int status = sluice_targets_new(&targets);
  if (status == SLUICE_OK)
    status = build(&kernel, &sink);
  if (status == SLUICE_OK)
    status = sluice_program_verify(kernel, targets, &sink);
  if (status == SLUICE_OK)
    status = print(kernel);
  if (status == SLUICE_OK)
    status = sluice_sync(&synchronized, kernel, targets, &options, &sink);
  if (status == SLUICE_OK)
    status = print(synchronized);
  if (status != SLUICE_OK)
    fprintf(stderr, "build_kernel: %s\n", sluice_status_name(status));

  sluice_program_free(synchronized);
  sluice_program_free(kernel);
  sluice_targets_free(targets);
  return status == SLUICE_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
