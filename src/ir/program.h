/* program.h: the program tree. One tree for kernels with and without synchronization.
 *
 * A program is a list of kernels and a table of names. A kernel is a set of arrays; everything refers to everything else
 * by 32-bit index (not pointer), so a kernel is copied by copying arrays, and printing is deterministic. Index 0 of the
 * arrays marked (from 1) is reserved for "none".
 *
 *   kernel --root--> block --first--> stmt <-> stmt <-> ...        (doubly linked siblings)
 *                                      | item
 *                                      +-- op / loop / branch      (arrays of their own; barrier and epilogue have none)
 *                                             loop.body, branch.then_block, branch.else_block --> block
 *
 * Glossary
 *   block    a statement list: the kernel's root, a loop's body, or one arm of a branch. A dependence's carrying "loop" is
 *            a block, so that arms and the root can carry too.
 *   stream   an engine, or a DMA queue: what retires in order. A queue issues on its trigger stream.
 *   op       one instruction; a register operation, nop, drain and the like are ops too (see opcodes.def).
 *   trivia   comments around an item, kept for the printer.
 */
#ifndef SL_IR_PROGRAM_H
#define SL_IR_PROGRAM_H

#include "base/map.h"
#include "base/names.h"
#include "base/source.h"
#include "base/vec.h"

typedef uint32_t sl_index;

enum { SL_NONE = 0, SL_NO_STREAM = 0xffffffffu };

/* ---- trivia: comments and blank lines ---- */

struct sl_comment {
  sl_name text; /* without '#', without the blanks after it that the printer puts back; see printer. 0 = an empty line
                   between comments, or between the last one and the item: not first in an item's list (SL_BLANK_BEFORE is
                   for that), not last before a `}`, not twice in a row. No control characters, no blanks at the end. */
  sl_index next;
};
/* Index 0 = none. A comment line of its own stands before its item; a trailing one on the item's line. */
struct sl_trivia {
  sl_index first_comment; /* list of own-line comments, in order */
  sl_name trailing;       /* comment at the end of the item's line, or 0 */
};

/* A place in another tool's source: `from "f.pto":12:3`. */
struct sl_origin_loc {
  sl_name file;
  uint32_t line, column; /* column 0 = not given */
};

/* ---- expressions ---- */

enum sl_expr_kind { SL_EXPR_INT, SL_EXPR_NAME, SL_EXPR_REG, SL_EXPR_NEG, SL_EXPR_ADD, SL_EXPR_SUB, SL_EXPR_MUL,
                    SL_EXPR_DIV, SL_EXPR_MOD };

/* INT: value. NAME, REG: name = (sl_name)value, a parameter or loop variable / a register. NEG: lhs. Others: lhs, rhs. */
struct sl_expr {
  uint8_t kind;
  sl_loc loc;
  union {
    int64_t value;
    struct {
      sl_index lhs, rhs;
    } sub;
  } u;
};

enum sl_compare { SL_CMP_EQ, SL_CMP_NE, SL_CMP_LT, SL_CMP_LE, SL_CMP_GT, SL_CMP_GE, SL_CMP_OPAQUE };

/* OPAQUE: `?name`, decided by the run. */
struct sl_cmp {
  uint8_t op;
  sl_index lhs, rhs;
  sl_name opaque;
  sl_loc loc;
};

/* cmps[first .. first+count), joined by `and` or by `or`. count 0 = no condition. */
struct sl_cond {
  uint32_t first;
  uint16_t count;
  bool any; /* joined by `or` */
};

/* ---- operations ---- */

enum sl_operand_kind {
  SL_OPERAND_NAME, /* buffer, semaphore, parameter or loop variable, by what the name declares; indices may follow */
  SL_OPERAND_REG,
  SL_OPERAND_INT
};

struct sl_operand {
  uint8_t kind;
  bool read_write;      /* `+name` */
  bool indexed;         /* has [ ] (index_count may not be 0 then) */
  uint16_t index_count;
  uint32_t first_index; /* into indices */
  int64_t value;        /* INT: the value; NAME, REG: the sl_name */
  sl_loc loc;
};

enum sl_access_kind { SL_INDEX_AT, SL_INDEX_RANGE /* lo:hi */, SL_INDEX_LENGTH /* lo+:len */, SL_INDEX_ALL /* : */,
                      SL_INDEX_ANY /* ? */ };

struct sl_access_index {
  uint8_t kind;
  sl_index first, second; /* expressions */
};

enum sl_attr_kind { SL_ATTR_EXPR, SL_ATTR_COND, SL_ATTR_FLOAT, SL_ATTR_STRING };

/* EXPR: expr. COND: cond. FLOAT, STRING: text (as written; strings without quotes, escapes resolved). */
struct sl_attr {
  sl_name name;
  uint8_t kind;
  sl_index expr;
  struct sl_cond cond;
  sl_name text;
  sl_loc loc;
};

enum sl_gate_kind { SL_GATE_SEM, SL_GATE_EVENT };
enum sl_threshold_kind { SL_THRESHOLD_INT, SL_THRESHOLD_REG, SL_THRESHOLD_NAME /* enclosing loop variable */ };

struct sl_gate {
  uint8_t kind;
  bool equal;         /* `==` instead of `>=` */
  uint8_t threshold;  /* sl_threshold_kind */
  sl_name name;       /* semaphore or event */
  sl_index event_index; /* expression, or 0 */
  sl_loc loc;
  int64_t value;      /* INT: the value; REG, NAME: the sl_name */
};

struct sl_inc {
  sl_name sem;
  uint32_t by; /* >= 1 */
  sl_loc loc;
};

struct sl_event_set {
  sl_name event;
  sl_index index; /* expression, or 0 */
  sl_loc loc;
};

/* The operations that belong to the language and not to a target: opcodes.def. */
enum sl_opcode {
  SL_OP_TARGET, /* an opcode of the target's description, by name */
#define SL_OPCODE(name, text, class, dsts, srcs, summary) SL_OP_##name,
#include "ir/opcodes.def"
#undef SL_OPCODE
  SL_OPCODE_COUNT
};

enum sl_op_class {
  SL_CLASS_DATAPATH,  /* issues, stays in flight, retires in order */
  SL_CLASS_REGISTER,  /* register operation: control, immediate in stream order */
  SL_CLASS_LOAD,      /* reg_load: waits and reads at issue, the stream stops until the value is there */
  SL_CLASS_SEMAPHORE, /* sem_set: control, immediate */
  SL_CLASS_NOP,       /* carrier of clauses: goes through the pipeline without work */
  SL_CLASS_DRAIN      /* waits for the stream's own work in flight and that of its queues */
};

struct sl_opcode_info {
  const char *text;
  uint8_t op_class;
  int8_t destinations, sources; /* -1: any number */
  const char *summary;
};
/* Rows by enum sl_opcode; row SL_OP_TARGET is { "", SL_CLASS_DATAPATH, -1, -1, ... }. */
extern const struct sl_opcode_info sl_opcode_table[SL_OPCODE_COUNT];
/* SL_OP_TARGET when the name is no opcode of the language. */
enum sl_opcode sl_opcode_find(const char *text, size_t length);

/* Operands: destinations first, then sources, contiguous from first_operand. For register operations, whose operands stand
 * behind commas without an arrow, the first operand is the destination and all are counted in dst_count. */
struct sl_op {
  sl_name label;      /* "name" or "name.0.1"; 0 = none */
  sl_name opcode;     /* the name as written */
  uint8_t code;       /* enum sl_opcode */
  bool all_engines;   /* `*.`: stream_count is 0 then */
  bool has_arrow;
  uint16_t stream_count; /* 1 for most; copies for `a|b.` */
  uint32_t stream;    /* stream_count 1: index into streams; more: first index into stream_lists */
  uint32_t first_operand;
  uint16_t dst_count, src_count;
  uint32_t first_attr, first_wait, first_inc, first_set;
  uint16_t attr_count, inc_count, set_count;
  uint32_t wait_count;
};

struct sl_loop {
  sl_name var;
  bool has_range;      /* false: only `while` */
  bool short_range;    /* written `loop v < e`: lo is 0, step is 1 */
  bool divergent;
  sl_index lo, hi, step; /* expressions; lo, step 0 when short_range; step 0 = 1 */
  struct sl_cond while_cond; /* count 0 = none */
  uint32_t unroll;     /* 0 = no request */
  sl_index body;       /* block */
};

struct sl_branch {
  struct sl_cond cond;
  sl_index then_block, else_block; /* else_block 0 = none */
};

enum sl_stmt_kind { SL_STMT_OP, SL_STMT_LOOP, SL_STMT_IF, SL_STMT_BARRIER, SL_STMT_BARRIER_RESET, SL_STMT_EPILOGUE };

enum { SL_BLANK_BEFORE = 1 /* an empty line stands before it */, SL_GENERATED = 2 /* made by a pass, not by the author */,
       SL_SAME_LINE = 4 /* stands on the line of the item before, if both may share one: an item with a trailing comment
                           is joined to the one before only then. Layout, no content: sl_program_equal ignores it. */ };

struct sl_stmt {
  uint8_t kind, flags;
  sl_index item;       /* op, loop or branch */
  sl_index block;      /* where it stands */
  sl_index next, prev; /* siblings */
  sl_index trivia, origin;
  sl_loc loc;
};

struct sl_block {
  sl_index first, last; /* statements */
  sl_index owner;       /* the loop or if statement; 0 for the root */
  sl_index end_trivia;  /* own-line comments before the closing brace */
};

/* ---- declarations ---- */

enum sl_decl_kind { SL_DECL_QUEUE, SL_DECL_BUFFER, SL_DECL_ALIAS, SL_DECL_SEM, SL_DECL_EVENT };

/* The declarations in the order of the text; queues, semaphores and events that stand in one declaration are neighbours
 * here, one entry each, and the printer joins neighbours again. */
struct sl_decl {
  uint8_t kind, flags;
  sl_index item; /* queue: stream index; others: index into their array */
  sl_index trivia;
  sl_loc loc;
};

struct sl_param {
  sl_name name;
  bool is_static;
  sl_index value; /* expression of the default, or 0 */
  sl_loc loc;
};

struct sl_stream {
  sl_name name;
  bool is_queue;
  sl_name trigger_name; /* queues: as declared; 0 = the target's default */
  uint32_t trigger;     /* issue stream: itself for engines; SL_NO_STREAM until resolved against the target */
  uint32_t engine;      /* index into the target's engines: of the engine itself, or of a queue's trigger; SL_NO_STREAM
                           until resolved */
  sl_loc loc;
};

struct sl_dim {
  sl_index size; /* expression */
  bool partition; /* written with `p` */
};

struct sl_buffer {
  sl_name name, space, type;
  uint32_t first_dim; /* into dims */
  uint16_t dim_count;
  bool has_address, has_partition_start;
  int64_t partition_start;
  sl_index address; /* expression: byte offset within a partition, or in the space when it has no partitions */
  uint32_t first_attr;
  uint16_t attr_count;
};

struct sl_alias {
  sl_name a, b;
};

struct sl_sem {
  sl_name name;
  uint32_t initial;
  bool has_id;
  uint32_t id; /* hardware id asked for with `at` */
  bool generated;
};

struct sl_event {
  sl_name name, from, to; /* streams by name */
  bool is_array;
  uint32_t count; /* 1 when not an array */
  bool has_id;
  uint32_t id;
};

/* ---- dependences ---- */

struct sl_distance {
  sl_name loop; /* loop variable */
  int32_t k;
  bool across;  /* counted through all visits of the loop; then the only component of its line */
};

struct sl_dep {
  sl_name producer, consumer; /* labels; a label names all its copies `label.N` */
  bool removed;               /* `nodep` */
  uint8_t flags;
  uint16_t distance_count;    /* 0: this iteration of the innermost common loop */
  uint32_t first_distance;    /* into distances */
  sl_name reason;             /* nodep: the string */
  sl_index trivia;
  sl_loc loc;
};

/* ---- kernel and program ---- */

struct sl_kernel {
  sl_heap *heap;
  sl_name name, target;
  bool is_explicit; /* only `dep` lines count */
  sl_index root;    /* block */
  sl_index trivia, end_trivia, origin;
  uint8_t flags;
  sl_loc loc;
  sl_vec(struct sl_param) params;
  sl_vec(struct sl_stream) streams; /* in the order of first mention: declared queues and engines with statements */
  sl_vec(struct sl_decl) decls;
  sl_vec(struct sl_buffer) buffers; /* (from 1) */
  sl_vec(struct sl_alias) aliases;  /* (from 1) */
  sl_vec(struct sl_sem) sems;       /* (from 1) */
  sl_vec(struct sl_event) events;   /* (from 1) */
  sl_vec(struct sl_dim) dims;
  sl_vec(struct sl_stmt) stmts;     /* (from 1) */
  sl_vec(struct sl_block) blocks;   /* (from 1) */
  sl_vec(struct sl_op) ops;         /* (from 1) */
  sl_vec(struct sl_loop) loops;     /* (from 1) */
  sl_vec(struct sl_branch) branches; /* (from 1) */
  sl_vec(struct sl_operand) operands;
  sl_vec(struct sl_access_index) indices;
  sl_vec(struct sl_attr) attrs;
  sl_vec(struct sl_gate) waits;
  sl_vec(struct sl_inc) incs;
  sl_vec(struct sl_event_set) sets;
  sl_vec(uint32_t) stream_lists;
  sl_vec(struct sl_expr) exprs;     /* (from 1) */
  sl_vec(struct sl_cmp) cmps;
  sl_vec(struct sl_dep) deps;
  sl_vec(struct sl_distance) distances;
  sl_vec(struct sl_comment) comments; /* (from 1) */
  sl_vec(struct sl_trivia) trivias;   /* (from 1) */
  sl_vec(struct sl_origin_loc) origins; /* (from 1) */
  sl_map stream_by_name;            /* name -> stream index */
};

struct sluice_program {
  sl_heap heap;
  sl_guard guard;
  sl_source source;
  sl_names names;
  uint32_t version; /* of the language; 0 when the file does not say */
  bool has_version;
  sl_vec(struct sl_kernel *) kernels;
  sl_vec(sl_name) header_comments;  /* comment lines before `sluice 1` */
  sl_vec(sl_name) footer_comments;  /* comment lines after the last kernel */
};
typedef struct sluice_program sl_program;

enum { SL_LANGUAGE_VERSION = 1 };

/* A new empty program, or NULL when memory is out. `name` is used in diagnostics; text may be NULL. */
sl_program *sl_program_new(const char *name, const char *text, size_t length);
/* A deep copy inside the guard of `to` (a program just made by sl_program_new with the same source). */
void sl_program_copy_into(sl_program *to, const sl_program *from);

/* A new kernel of the program, with its reserved zero entries and an empty root block. */
struct sl_kernel *sl_kernel_add(sl_program *program);

/* Names. */
static inline const char *sl_text(const sl_program *program, sl_name name)
{
  return sl_names_text(&program->names, name);
}
sl_name sl_intern(sl_program *program, const char *text);
__attribute__((format(printf, 2, 3))) sl_name sl_internf(sl_program *program, const char *format, ...);

/* The stream of that name, or SL_NO_STREAM; sl_stream_put makes an engine stream when it is new. */
uint32_t sl_stream_get(const struct sl_kernel *kernel, sl_name name);
uint32_t sl_stream_put(struct sl_kernel *kernel, sl_name name, sl_loc loc);
/* The k-th stream of an op (0 <= k < stream_count). */
static inline uint32_t sl_op_stream(const struct sl_kernel *kernel, const struct sl_op *op, uint32_t k)
{
  return op->stream_count == 1 ? op->stream : kernel->stream_lists.data[op->stream + k];
}
/* The register that an operation writes, its first operand; 0 = none. */
static inline sl_name sl_op_written_register(const struct sl_kernel *kernel, const struct sl_op *op)
{
  uint8_t op_class = sl_opcode_table[op->code].op_class;
  bool writes = op_class == SL_CLASS_REGISTER || op_class == SL_CLASS_LOAD;
  return writes ? (sl_name)kernel->operands.data[op->first_operand].value : 0;
}
/* The stream whose sequencer issues what belongs to `stream`: the trigger of a queue, else itself. */
static inline uint32_t sl_issue_stream(const struct sl_kernel *kernel, uint32_t stream)
{
  return kernel->streams.data[stream].trigger;
}

/* A slot that only carries waits, beside the instruction that has more of them. */
static inline bool sl_op_is_wait_only(const struct sl_op *op)
{
  return op->code == SL_OP_NOP && !op->label && !op->inc_count && !op->set_count;
}
/* Of a statement that is one, the instruction whose waits it carries: the next of its issue stream in the block. Else the
 * statement itself. */
sl_index sl_stmt_waiting(const struct sl_kernel *kernel, sl_index stmt);

/* The distances of a line, NULL when it has none. */
static inline const struct sl_distance *sl_dep_distances(const struct sl_kernel *kernel, const struct sl_dep *dep)
{
  return dep->distance_count ? &kernel->distances.data[dep->first_distance] : NULL;
}

/* Statements. A new one is not linked anywhere until one of the insert functions is called. */
sl_index sl_stmt_new(struct sl_kernel *kernel, enum sl_stmt_kind kind, sl_loc loc);
sl_index sl_op_stmt_new(struct sl_kernel *kernel, sl_loc loc); /* with a fresh op; see sl_stmt_op */
sl_index sl_block_new(struct sl_kernel *kernel, sl_index owner);
void sl_stmt_append(struct sl_kernel *kernel, sl_index block, sl_index stmt);
void sl_stmt_insert_before(struct sl_kernel *kernel, sl_index at, sl_index stmt);
void sl_stmt_unlink(struct sl_kernel *kernel, sl_index stmt);

static inline struct sl_stmt *sl_stmt_get(const struct sl_kernel *kernel, sl_index stmt)
{
  return &kernel->stmts.data[stmt];
}
static inline struct sl_op *sl_stmt_op(const struct sl_kernel *kernel, sl_index stmt)
{
  return &kernel->ops.data[kernel->stmts.data[stmt].item];
}
static inline struct sl_loop *sl_stmt_loop(const struct sl_kernel *kernel, sl_index stmt)
{
  return &kernel->loops.data[kernel->stmts.data[stmt].item];
}
static inline struct sl_branch *sl_stmt_branch(const struct sl_kernel *kernel, sl_index stmt)
{
  return &kernel->branches.data[kernel->stmts.data[stmt].item];
}
/* The block around a block: where its owner stands; 0 for the root. */
static inline sl_index sl_block_parent(const struct sl_kernel *kernel, sl_index block)
{
  sl_index owner = kernel->blocks.data[block].owner;
  return owner ? kernel->stmts.data[owner].block : SL_NONE;
}

/* Text-order walk of every statement below `block`: sl_walk_first, then sl_walk_next until SL_NONE. A loop or if comes
 * before what is in it; the then-arm before the else-arm. */
sl_index sl_walk_first(const struct sl_kernel *kernel, sl_index block);
sl_index sl_walk_next(const struct sl_kernel *kernel, sl_index root_block, sl_index stmt);

/* Expressions. */
sl_index sl_expr_new(struct sl_kernel *kernel, enum sl_expr_kind kind, sl_loc loc);
sl_index sl_expr_int(struct sl_kernel *kernel, int64_t value, sl_loc loc);
sl_index sl_expr_name(struct sl_kernel *kernel, enum sl_expr_kind kind, sl_name name, sl_loc loc);
sl_index sl_expr_binary(struct sl_kernel *kernel, enum sl_expr_kind kind, sl_index lhs, sl_index rhs, sl_loc loc);

/* Whether two programs are the same: kernels, declarations, statements, dependences, comments, locations of other tools.
 * Indices, source offsets and unreachable array entries do not count. When they differ and `why` is not NULL, *why names
 * the first difference (static storage). */
bool sl_program_equal(const sl_program *a, const sl_program *b, const char **why);

#endif
