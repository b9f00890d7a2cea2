/* opcodes.c: the table of the language's own operations, made from opcodes.def. */
#include "ir/program.h"

const struct sl_opcode_info sl_opcode_table[SL_OPCODE_COUNT] = {
  { "", SL_CLASS_DATAPATH, -1, -1, "an operation of the target" },
#define SL_OPCODE(name, text, class, dsts, srcs, summary) { text, class, dsts, srcs, summary },
#include "ir/opcodes.def"
#undef SL_OPCODE
};

/* Called once per statement: most opcodes are the target's and leave at the first test. O(rows). */
enum sl_opcode sl_opcode_find(const char *text, size_t length)
{
  if (length == 0 || !strchr("rsnd", text[0]))
    return SL_OP_TARGET;
  for (int code = SL_OP_TARGET + 1; code < SL_OPCODE_COUNT; code++)
    if (strncmp(sl_opcode_table[code].text, text, length) == 0 && sl_opcode_table[code].text[length] == '\0')
      return (enum sl_opcode)code;
  return SL_OP_TARGET;
}
