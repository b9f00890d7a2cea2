/* cli.h: the command line tool. A client of the public API alone.
 *
 * One table (main.c) has a row for every command: name, summary, arguments, options, function. Parsing, --help, the man
 * page and the shell completion all come from it. A command is one file cmd_NAME.c and one row.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdio.h>

#include <sluice/sluice.h>

enum { CLI_DONE = 0, CLI_NO = 1, CLI_BAD = 2, CLI_UNDECIDED = 3 };

/* What the value of an option is; decides how it is checked and completed. */
enum cli_value {
  CLI_FLAG,
  CLI_FILE,
  CLI_NAME,
  CLI_NUMBER,
  CLI_FORM,
  CLI_REPORT,
  CLI_STRATEGY,
  CLI_PASS,
  CLI_COUNTERS,
  CLI_CLEANUPS /* a list with commas */
};

/* The short form of an option of compilers that has two letters and a value: -MF FILE. */
#define CLI_PAIR(first, second) ((first) << 8 | (second))

struct cli_option {
  const char *name; /* as in --name; NULL ends a list */
  int letter;       /* as in -o, a CLI_PAIR, or 0 */
  enum cli_value kind;
  const char *value_name; /* for help; NULL for flags */
  const char *summary;
};

struct cli_call;

struct cli_command {
  const char *name, *summary;
  const char *arguments; /* for help: "FILE..." */
  const char *description;
  const struct cli_option *options;
  unsigned least, most; /* number of arguments */
  int (*run)(struct cli_call *call);
};

extern const struct cli_command cli_commands[];
extern const size_t cli_command_count;
const struct cli_command *cli_find_command(const char *name);

/* ---- options.c: one call of a command ---- */

struct cli_given {
  const struct cli_option *option;
  const char *value; /* NULL for flags */
};

struct cli_call {
  const struct cli_command *command;
  struct cli_given *given; /* in the order of the command line */
  size_t given_count;
  char **arguments;
  size_t argument_count;
  bool wants_help;
};

/* Reads argv[1...]; false after reporting what is wrong. */
bool cli_parse(struct cli_call *call, const struct cli_command *command, int argc, char **argv);
void cli_call_free(struct cli_call *call);
bool cli_has(const struct cli_call *call, const char *option);
/* The value of an option, of its last use; NULL when it is not given. */
const char *cli_value_of(const struct cli_call *call, const char *option);
/* Whether an option was given with this value. */
bool cli_has_value(const struct cli_call *call, const char *option, const char *value);
/* The value of an option of kind CLI_NUMBER, `otherwise` when it is not given. */
uint64_t cli_number(const struct cli_call *call, const char *option, uint64_t otherwise);
/* The short form of an option without its dash: "o", "MF", or "". */
struct cli_letters {
  char text[3];
};
struct cli_letters cli_letters(const struct cli_option *option);
/* Words that a kind of value knows, 0 when it takes any; *words is freed by the caller, the words are not. */
size_t cli_words(enum cli_value kind, const char ***words);
/* What --alloc, --counters and --cleanup choose. */
void cli_choose(sluice_sync_options *options, const struct cli_call *call);

/* ---- document.c: the table as text ---- */

void cli_print_usage(FILE *file);
void cli_print_help(FILE *file);
void cli_print_command_help(FILE *file, const struct cli_command *command);
void cli_print_man(FILE *file);
void cli_print_completion(FILE *file);

/* ---- messages.c ---- */

/* Where messages of this thread go: stderr, or what it was redirected to; NULL is stderr again. */
FILE *cli_messages(void);
void cli_redirect_messages(FILE *file);
/* `sluice: error: text [rule]`, a message. */
__attribute__((format(printf, 2, 3))) void cli_error(const char *rule, const char *format, ...);
/* A note with the closest of some words, if one is close. */
void cli_suggest(const char *text, const char *const *words, size_t count);
/* Makes each diagnostic a message. */
extern const sluice_sink cli_sink;
/* The exit code for a status of the library; reports what has no diagnostic of its own. */
int cli_exit_code(int status);
/* Memory, or the end of the program with a message. */
void *cli_alloc(size_t size);
void *cli_realloc(void *memory, size_t size);
char *cli_copy(const char *text);

/* ---- input.c ---- */

struct cli_text {
  char *data;
  size_t length;
  const char *name; /* for messages */
};

/* Reads a whole file, `-` is stdin; false after reporting. free(data) ends it. */
bool cli_read(struct cli_text *text, const char *path);
/* Whether a file is to be read as JSON: by --from, or by its name. */
bool cli_is_json(const struct cli_call *call, const char *path);
/* The built-in targets and those of every --target-file. Returns an exit code. */
int cli_load_targets(sluice_targets **targets, const struct cli_call *call);
/* Reads and chooses --kernel. Returns an exit code. */
int cli_load_as_written(sluice_program **program, const struct cli_call *call, const struct cli_text *text,
                        bool is_json);
/* The same and applies every --define. */
int cli_load(sluice_program **program, const struct cli_call *call, const struct cli_text *text, bool is_json);
/* Reads a file as written, for commands that choose parameters' values themselves, and verifies. Returns an exit code;
 * *program is to be freed in any case. */
int cli_load_verified(sluice_program **program, const struct cli_call *call, const char *path,
                      const sluice_targets *targets);
/* The same and applies every --define. */
int cli_load_defined(sluice_program **program, const struct cli_call *call, const char *path,
                     const sluice_targets *targets);

/* ---- inputs.c ---- */

/* Every -D NAME=VALUE,... as the library takes them. */
struct cli_inputs {
  sluice_input *list;
  size_t count;
};
/* False after reporting; cli_free_inputs ends them also then. */
bool cli_read_inputs(struct cli_inputs *inputs, const struct cli_call *call);
void cli_free_inputs(struct cli_inputs *inputs);
/* Gives parameters these values as defaults, the last one of several: strategies may read them. What is no parameter is left to
 * the simulation. */
void cli_define_parameters(sluice_program *program, const struct cli_inputs *inputs);
/* That every kernel of a verified program asks for each. Returns an exit code. */
int cli_check_inputs(const sluice_program *program, const sluice_targets *targets, const struct cli_inputs *inputs);

/* ---- progress.c ---- */

/* A line on a terminal that is written over and over; nothing is shown when stderr is not one. */
struct cli_progress {
  bool is_shown;
  int width;         /* of what stands there */
  uint64_t shown_at; /* in ms */
};
struct cli_progress cli_progress_begin(void);
/* Whether it is time to draw again: for work that reports often. */
bool cli_progress_is_due(struct cli_progress *progress);
__attribute__((format(printf, 2, 3))) void cli_progress_draw(struct cli_progress *progress, const char *format, ...);
/* Before anything else is written to stderr, and at the end. */
void cli_progress_clear(struct cli_progress *progress);

/* ---- settings.c ---- */

/* Every --set NAME=VALUE as the simulator takes them. */
struct cli_settings {
  sluice_setting *list;
  size_t count;
};
/* False after reporting; cli_free_settings ends them also then. */
bool cli_read_settings(struct cli_settings *settings, const struct cli_call *call);
void cli_free_settings(struct cli_settings *settings);

/* ---- output.c ---- */

/* Writes to a file by way of a temporary one beside it, so that the file is there whole or as it was; NULL and `-` are
 * stdout. False after reporting. */
bool cli_write(const char *path, const char *text, size_t length);
/* Flushes stdout; false after reporting that something was lost. */
bool cli_flush(void);
/* A file that is written piece by piece and, like with cli_write, is there only once it is closed with `keep`. Functions
 * report and answer NULL or false when something cannot be written. One at a time, and not while cli_write runs. */
struct cli_stream;
struct cli_stream *cli_stream_open(const char *path);
bool cli_stream_write(void *stream, const char *text, size_t length);
bool cli_stream_close(struct cli_stream *stream, bool keep);
/* A program as text or, with json, as JSON. Returns an exit code. */
int cli_render(char **text, size_t *length, const sluice_program *program, bool json);

/* ---- timelines.c ---- */

/* What --trace and --html ask for. */
struct cli_timelines {
  const char *trace_path, *html_path; /* NULL: not asked for */
  bool with_flows;
  sluice_view_filter filter;
  char *text; /* of --streams, cut into names */
  const char **names;
  struct cli_stream *stream;
  sluice_trace_file *file;
  sluice_report *report;
  char *kernel;               /* of the report */
  const char *unknown;        /* a name of --streams that a simulated kernel does not have */
  const sluice_trace *to[2];  /* where the running simulation goes */
  size_t to_count;
  sluice_trace tee;
};
/* Reads the options; false after reporting. cli_timelines_finish ends it also then. */
bool cli_timelines_init(struct cli_timelines *timelines, const struct cli_call *call);
/* Whether stdout is taken. */
bool cli_timelines_use_stdout(const struct cli_timelines *timelines);
/* Around each simulation; *trace is NULL when none is wanted. Return exit codes. */
int cli_timelines_begin(const sluice_trace **trace, struct cli_timelines *timelines, const char *kernel, const char *version);
int cli_timelines_end(struct cli_timelines *timelines, const sluice_sim_result *result);
/* Writes the files when all went well so far. Returns an exit code. */
int cli_timelines_finish(struct cli_timelines *timelines, int code);

/* ---- outputs.c, depfile.c: many files ---- */

/* The path of every argument's output, NULL is stdout; made from -o and --suffix. NULL after reporting that there is no
 * sense in these, or that the directory cannot be made. cli_outputs_free ends it. */
char **cli_outputs(const struct cli_call *call);
void cli_outputs_free(char **outputs, const struct cli_call *call);
/* Whether the depfile asked for, if any, can be written; false after reporting. */
bool cli_depfile_is_sensible(const struct cli_call *call, char *const *outputs);
/* Writes it, if asked for. Returns an exit code. */
int cli_write_depfile(const struct cli_call *call, char *const *outputs);

/* ---- parallel.c ---- */

/* codes[i] = work(context, i) for every i < count, in threads. What an item says as messages comes out on stderr whole and in
 * the order of items; a terminal also gets a line that counts what is done. */
void cli_parallel(int *codes, size_t count, size_t threads, int (*work)(void *context, size_t item), void *context);
size_t cli_processor_count(void);

/* ---- published.c: figures of other people ---- */

extern const char cli_published_source[];
/* What the published table says of one variant of one kernel. */
struct cli_published {
  int semaphores, registers; /* CLI_UNPUBLISHED when the table leaves it out; registers are per engine */
  unsigned code;             /* in tenths of a KiB */
  unsigned latency;          /* in hundredths of the latency with barriers */
};
enum { CLI_UNPUBLISHED = -1 };
/* By the base name of the kernel's file and the name of our strategy; NULL when the table has no such row or column. */
const struct cli_published *cli_published(const char *path, const char *strategy);
/* Code size in slots of 64 bytes. */
unsigned cli_published_slots(const struct cli_published *published);

/* ---- verdict.c, sarif.c: what the checker found ---- */

/* A finding as text, as diagnostics are printed. */
void cli_print_finding(FILE *file, const sluice_finding *finding);
/* How a kernel came out, from its findings and its summary, which is NULL when it was not run. */
enum sluice_verdict cli_kernel_verdict(const char *kernel, const sluice_finding *findings, size_t count,
                                       const sluice_check_summary *summary);
const char *cli_verdict_name(enum sluice_verdict verdict);

/* What a report is about. */
struct cli_report {
  const sluice_program *program; /* the checked one */
  const char *file, *against;    /* names of files; against is NULL without --against */
  const sluice_check_result *result;
};
void cli_report_text(const struct cli_report *report);
/* Return exit codes. */
int cli_report_json(const struct cli_report *report);
int cli_report_sarif(const struct cli_report *report);
/* A text as JSON; bytes of a file name that is not UTF-8 become question marks. */
struct json_t *cli_json_text(const char *text);
/* Prints and ends a document; NULL is a failure to make it. Returns an exit code. */
int cli_print_json(struct json_t *root);

/* ---- dependences.c, graph.c: the dependences of a kernel ---- */

/* What is shown of one kernel. */
struct cli_dependences {
  const char *kernel;
  const sluice_deps_result *result;
  const char *memory_class; /* only what meets in memory of this class; NULL: all */
  bool with_implied;        /* also what needs no wait */
};
/* Whether a dependence is to be shown. */
bool cli_dependence_is_shown(const struct cli_dependences *shown, const sluice_dep *dep);
/* Whether waits have to enforce it. */
bool cli_dependence_is_kept(const sluice_dep *dep);
void cli_print_dependences(FILE *file, const struct cli_dependences *shown);
/* All of one kernel, the others only left out by memory class; NULL is a failure to make it. */
struct json_t *cli_json_of_dependences(const struct cli_dependences *shown);
void cli_print_graph(FILE *file, const struct cli_dependences *shown);

/* ---- commands ---- */

extern const struct cli_option cli_sync_options[], cli_check_options[], cli_fmt_options[], cli_targets_options[],
    cli_bench_options[], cli_sim_options[], cli_explain_options[], cli_deps_options[], cli_no_options[];
int cli_sync(struct cli_call *call);
int cli_check(struct cli_call *call);
int cli_fmt(struct cli_call *call);
int cli_targets(struct cli_call *call);
int cli_bench(struct cli_call *call);
int cli_sim(struct cli_call *call);
int cli_explain(struct cli_call *call);
int cli_deps(struct cli_call *call);
int cli_rules(struct cli_call *call);
int cli_help(struct cli_call *call);

#endif
