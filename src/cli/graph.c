/* graph.c: the dependences of a kernel as a graph for Graphviz. Laying it out is Graphviz's work. */
#include "cli.h"

#include <stdlib.h>

/* What stands in which block, as lists: index + 1 of the first and of the next, 0 = none. */
struct nesting {
  const sluice_deps_block *blocks;
  const sluice_deps_instruction *instructions;
  size_t *first_block, *next_block, *first_instruction, *next_instruction;
};

static size_t *zeroes(size_t count)
{
  size_t *list = cli_alloc((count + 1) * sizeof *list);
  for (size_t i = 0; i <= count; i++)
    list[i] = 0;
  return list;
}

static struct nesting make_nesting(const sluice_deps_result *result)
{
  size_t blocks, instructions;
  struct nesting nesting = { .blocks = sluice_deps_blocks(result, &blocks),
                             .instructions = sluice_deps_instructions(result, &instructions) };
  nesting.first_block = zeroes(blocks);
  nesting.next_block = zeroes(blocks);
  nesting.first_instruction = zeroes(blocks);
  nesting.next_instruction = zeroes(instructions);
  for (size_t i = blocks; i-- > 1;) {
    nesting.next_block[i] = nesting.first_block[nesting.blocks[i].parent];
    nesting.first_block[nesting.blocks[i].parent] = i + 1;
  }
  for (size_t i = instructions; i-- > 0;) {
    nesting.next_instruction[i] = nesting.first_instruction[nesting.instructions[i].block];
    nesting.first_instruction[nesting.instructions[i].block] = i + 1;
  }
  return nesting;
}

static void free_nesting(struct nesting *nesting)
{
  free(nesting->first_block);
  free(nesting->next_block);
  free(nesting->first_instruction);
  free(nesting->next_instruction);
}

static void put_text(FILE *file, const char *text)
{
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      fputc('\\', file);
    fputc(*text, file);
  }
}

static void put_quoted(FILE *file, const char *text)
{
  fputc('"', file);
  put_text(file, text);
  fputc('"', file);
}

/* What stands in a block, loops and arms as clusters. As deep as kernels nest, which is bounded. */
static void put_block(FILE *file, const struct nesting *nesting, size_t block, int depth)
{
  for (size_t i = nesting->first_instruction[block]; i; i = nesting->next_instruction[i - 1]) {
    const sluice_deps_instruction *instruction = &nesting->instructions[i - 1];
    fprintf(file, "%*sn%zu [label=\"", 2 * depth, "", i - 1);
    put_text(file, instruction->name);
    fputs("\\n", file);
    put_text(file, instruction->stream);
    fputs("\"];\n", file);
  }
  for (size_t i = nesting->first_block[block]; i; i = nesting->next_block[i - 1]) {
    const sluice_deps_block *inner = &nesting->blocks[i - 1];
    fprintf(file, "%*ssubgraph cluster_%zu {\n%*slabel=", 2 * depth, "", i - 1, 2 * depth + 2, "");
    put_quoted(file, inner->text);
    fprintf(file, "; style=%s;\n", inner->is_loop ? "rounded" : "dotted");
    put_block(file, nesting, i - 1, depth + 1);
    fprintf(file, "%*s}\n", 2 * depth, "");
  }
}

static const char *color_of(enum sluice_dep_kind kind)
{
  switch (kind) {
  case SLUICE_DEP_STATED: return "black";
  case SLUICE_DEP_FLOW: return "blue3";
  case SLUICE_DEP_ANTI: return "darkorange3";
  case SLUICE_DEP_OUTPUT: return "red3";
  case SLUICE_DEP_ORDERED: return "gray50";
  case SLUICE_DEP_INDEX: return "green4";
  }
  return "black";
}

/* A dependence carried by a loop points back to the next iteration and must not turn the drawing upside down. */
static void put_edge(FILE *file, const sluice_dep *dep)
{
  const char *kind = sluice_dep_kind_name(dep->kind);
  fprintf(file, "  n%zu -> n%zu [class=%s, color=%s, label=", dep->producer.instruction, dep->consumer.instruction, kind,
          color_of(dep->kind));
  put_quoted(file, dep->distances);
  fputs(", tooltip=", file);
  put_quoted(file, dep->text);
  if (dep->distance)
    fputs(", constraint=false", file);
  if (!cli_dependence_is_kept(dep))
    fputs(", style=dashed", file);
  fputs("];\n", file);
}

void cli_print_graph(FILE *file, const struct cli_dependences *shown)
{
  size_t count;
  const sluice_dep *deps = sluice_deps_edges(shown->result, &count);
  struct nesting nesting = make_nesting(shown->result);
  fputs("digraph ", file);
  put_quoted(file, shown->kernel);
  fputs(" {\n  label=", file);
  put_quoted(file, shown->kernel);
  fputs(";\n  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n  edge [fontname=\"sans-serif\", fontsize=9];\n", file);
  put_block(file, &nesting, 0, 1);
  for (size_t i = 0; i < count; i++)
    if (cli_dependence_is_shown(shown, &deps[i]))
      put_edge(file, &deps[i]);
  fputs("}\n", file);
  free_nesting(&nesting);
}
