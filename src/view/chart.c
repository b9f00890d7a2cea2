/* chart.c: groups of bars as an SVG picture. O(bars). */
#include <sluice/view.h>

#include <assert.h>
#include <string.h>

#include "base/buf.h"

enum { LEFT = 56, RIGHT = 16, TOP = 64, PLOT = 220, BELOW = 58, BAR = 14, GAP = 26, LEAST_WIDTH = 560, LEGEND = 120 };

static const char *const palette[] = { "#3b6fb6", "#2a9d8f", "#8a5fbf", "#97852f", "#5b8c3e", "#f2a541", "#c2577b", "#8d99ae" };

/* A chart that is being drawn. */
struct drawing {
  sl_heap heap;
  sl_guard guard;
  const sluice_chart *chart;
  sl_buf buf;
  double most, step; /* of the axis */
  unsigned width, group_width;
  char *text;
  size_t length;
};

static void put_text(sl_buf *buf, const char *text)
{
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '<' || c == '>' || c == '&' || c == '"')
      sl_buf_printf(buf, "&#%u;", (unsigned)c);
    else
      sl_buf_putc(buf, c < 0x20 ? ' ' : *text);
  }
}

static double value_of(const sluice_chart *chart, size_t group, size_t series)
{
  return chart->values[group * chart->series_count + series];
}

/* The axis goes to the first step at or above the greatest value; a value that is no number or absurd has no bar. */
static bool is_bar(double value)
{
  return value >= 0 && value < 1e12;
}

static void measure(struct drawing *drawing)
{
  const sluice_chart *chart = drawing->chart;
  double most = 0;
  for (size_t i = 0; i < chart->group_count * chart->series_count; i++)
    if (is_bar(chart->values[i]) && chart->values[i] > most)
      most = chart->values[i];
  drawing->step = .25;
  while (most / drawing->step > 8)
    drawing->step *= 2;
  drawing->most = drawing->step;
  while (drawing->most < most)
    drawing->most += drawing->step;
  drawing->group_width = (unsigned)chart->series_count * BAR + GAP;
  unsigned width = LEFT + (unsigned)chart->group_count * drawing->group_width + RIGHT;
  unsigned legend = LEFT + (unsigned)chart->series_count * LEGEND + RIGHT;
  width = legend > width ? legend : width;
  drawing->width = width > LEAST_WIDTH ? width : LEAST_WIDTH;
}

static double height_of(const struct drawing *drawing, double value)
{
  return PLOT * value / drawing->most;
}

static void put_axis(struct drawing *drawing)
{
  sl_buf *buf = &drawing->buf;
  for (double at = 0; at <= drawing->most + drawing->step / 2; at += drawing->step) {
    double y = TOP + PLOT - height_of(drawing, at);
    bool is_reference = drawing->chart->reference > 0 && at > drawing->chart->reference - drawing->step / 4 &&
                        at < drawing->chart->reference + drawing->step / 4;
    sl_buf_printf(buf, "<path d=\"M%d %.1fH%u\" stroke=\"%s\"/>\n", LEFT, y, drawing->width - RIGHT,
                  is_reference ? "#1c2430" : "#e3e6eb");
    sl_buf_printf(buf, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" fill=\"#667085\">%.2f</text>\n", LEFT - 8, y + 4, at);
  }
}

static void put_legend(struct drawing *drawing)
{
  for (size_t s = 0; s < drawing->chart->series_count; s++) {
    unsigned x = LEFT + (unsigned)s * LEGEND;
    sl_buf_printf(&drawing->buf, "<rect x=\"%u\" y=\"38\" width=\"10\" height=\"10\" fill=\"%s\"/><text x=\"%u\" y=\"47\">", x,
                  palette[s % (sizeof palette / sizeof *palette)], x + 15);
    put_text(&drawing->buf, drawing->chart->series[s]);
    sl_buf_puts(&drawing->buf, "</text>\n");
  }
}

static void put_bar(struct drawing *drawing, size_t group, size_t series)
{
  const sluice_chart *chart = drawing->chart;
  sl_buf *buf = &drawing->buf;
  double value = value_of(chart, group, series);
  if (!is_bar(value))
    return;
  double height = height_of(drawing, value);
  unsigned x = LEFT + (unsigned)group * drawing->group_width + GAP / 2 + (unsigned)series * BAR;
  sl_buf_printf(buf, "<rect class=\"bar\" x=\"%u\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\"><title>", x,
                TOP + PLOT - height, BAR - 1, height, palette[series % (sizeof palette / sizeof *palette)]);
  put_text(buf, chart->groups[group]);
  sl_buf_puts(buf, ", ");
  put_text(buf, chart->series[series]);
  sl_buf_printf(buf, ": %.3f</title></rect>\n", value);
}

static void put_group(struct drawing *drawing, size_t group)
{
  unsigned middle = LEFT + (unsigned)group * drawing->group_width + drawing->group_width / 2;
  for (size_t s = 0; s < drawing->chart->series_count; s++)
    put_bar(drawing, group, s);
  sl_buf_printf(&drawing->buf, "<text x=\"%u\" y=\"%d\" text-anchor=\"middle\">", middle, TOP + PLOT + 18);
  put_text(&drawing->buf, drawing->chart->groups[group]);
  sl_buf_puts(&drawing->buf, "</text>\n");
}

static int draw(void *arg)
{
  struct drawing *drawing = arg;
  const sluice_chart *chart = drawing->chart;
  sl_buf *buf = &drawing->buf;
  sl_buf_init(buf, &drawing->heap);
  measure(drawing);
  sl_buf_printf(buf,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%d\" viewBox=\"0 0 %u %d\" font-size=\"12\" "
                "font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, 'Liberation Sans', sans-serif\" fill=\"#1c2430\">\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n<text x=\"%d\" y=\"22\" font-size=\"15\" "
                "font-weight=\"600\">",
                drawing->width, TOP + PLOT + BELOW, drawing->width, TOP + PLOT + BELOW, LEFT);
  put_text(buf, chart->title);
  sl_buf_puts(buf, "</text>\n");
  put_legend(drawing);
  put_axis(drawing);
  for (size_t g = 0; g < chart->group_count; g++)
    put_group(drawing, g);
  sl_buf_printf(buf, "<text x=\"%d\" y=\"%d\" fill=\"#667085\" font-size=\"11\">", LEFT, TOP + PLOT + BELOW - 14);
  put_text(buf, chart->note);
  sl_buf_puts(buf, "</text>\n</svg>\n");
  drawing->length = buf->len;
  drawing->text = sl_buf_export(buf);
  return SLUICE_OK;
}

int sluice_chart_print(char **text, size_t *length, const sluice_chart *chart)
{
  assert(text && chart && chart->title && chart->note);
  struct drawing drawing = { .chart = chart };
  sl_heap_init(&drawing.heap, &drawing.guard);
  int status = sl_guard_run(&drawing.guard, draw, &drawing);
  sl_heap_free_all(&drawing.heap);
  *text = status == SLUICE_OK ? drawing.text : NULL;
  if (length)
    *length = status == SLUICE_OK ? drawing.length : 0;
  return status;
}
