/* sluice/view.h: what a simulation looks like: trace files for Perfetto and Chrome, a report as one HTML page.
 *
 * Both are made of the trace of sluice/sim.h: give the pointer that the maker returns as `options.trace`. docs/simulator.md,
 * "Timelines", says how to read them.
 */
#ifndef SLUICE_VIEW_H
#define SLUICE_VIEW_H

#include <sluice/base.h>
#include <sluice/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What of a run is shown. Slices that touch [from, to) are shown whole. */
typedef struct sluice_view_filter {
  double from_ns, to_ns;      /**< to_ns: INFINITY or anything large is the end */
  const char *const *streams; /**< names; a name that the kernel does not have matches nothing */
  size_t stream_count;        /**< 0: all streams */
} sluice_view_filter;
#define SLUICE_VIEW_FILTER_INIT { 0, 1e300, NULL, 0 }

/* ---- trace files ---- */

/** Takes text piece by piece; false: no more is sent, the trace's status becomes SLUICE_E_IO. */
typedef struct sluice_writer {
  bool (*write)(void *user, const char *text, size_t length);
  void *user;
} sluice_writer;

typedef struct sluice_trace_file_options {
  sluice_view_filter filter;
  bool flows; /**< an arrow to each wait from the instruction that ended it */
} sluice_trace_file_options;
#define SLUICE_TRACE_FILE_OPTIONS_INIT { SLUICE_VIEW_FILTER_INIT, false }

/** Writes one simulation in the JSON format of Chrome's trace viewer, which Perfetto reads: a process per stream, a thread
 * per lane, slices of a lane nested or apart; one more process with a counter per semaphore. Times are whole nanoseconds. Its
 * memory depends on what is in flight at once, not on the length of the trace. */
typedef struct sluice_trace_file sluice_trace_file;
/** The filter's list of names is used until the free. */
SLUICE_API int sluice_trace_file_new(sluice_trace_file **file, const sluice_trace_file_options *options,
                                     const sluice_writer *writer);
/** For sluice_sim_options.trace of one simulation; borrowed. */
SLUICE_API const sluice_trace *sluice_trace_file_get(sluice_trace_file *file);
/** SLUICE_OK when all of a simulation that has ended was sent, else SLUICE_E_IO or SLUICE_E_NO_MEMORY. */
SLUICE_API int sluice_trace_file_status(const sluice_trace_file *file);
SLUICE_API void sluice_trace_file_free(sluice_trace_file *file);

/* ---- reports ---- */

typedef struct sluice_report_options {
  sluice_view_filter filter;
  size_t max_slices; /**< of each version; behind them the timeline ends, and says so. Bounds memory and size */
} sluice_report_options;
#define SLUICE_REPORT_OPTIONS_INIT { SLUICE_VIEW_FILTER_INIT, 100000 }

/** One self-contained HTML page: versions of a kernel compared, a timeline that can be zoomed, the waits that cost most. */
typedef struct sluice_report sluice_report;
/** The filter's list of names is used until the free. */
SLUICE_API int sluice_report_new(sluice_report **report, const sluice_report_options *options);
/** Begins a version, named `name` on the page. *trace (borrowed) is for the one simulation of it. */
SLUICE_API int sluice_report_begin(const sluice_trace **trace, sluice_report *report, const char *name);
/** Ends the version with the simulation's answer. */
SLUICE_API int sluice_report_end(sluice_report *report, const sluice_sim_result *result);
/** The page; *text is ended with sluice_string_free, length may be NULL. */
SLUICE_API int sluice_report_print(char **text, size_t *length, sluice_report *report);
SLUICE_API void sluice_report_free(sluice_report *report);

/* ---- charts ---- */

/** Bars in groups. */
typedef struct sluice_chart {
  const char *title, *note;   /**< above and below */
  const char *const *groups;
  size_t group_count;
  const char *const *series;  /**< the bars of a group, from left to right */
  size_t series_count;
  const double *values;       /**< of series s in group g: values[g * series_count + s]; no bar where negative */
  double reference;           /**< this value's line stands out; 0: none */
} sluice_chart;

/** As an SVG picture; *text is ended with sluice_string_free, length may be NULL. */
SLUICE_API int sluice_chart_print(char **text, size_t *length, const sluice_chart *chart);

#ifdef __cplusplus
}
#endif
#endif
