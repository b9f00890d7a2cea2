/* embedded.h: the parts of the report's page as text inside the binary, made by the build from src/view/page.* (cmake/embed.cmake).
 */
#ifndef SL_VIEW_EMBEDDED_H
#define SL_VIEW_EMBEDDED_H

struct sl_embedded_page {
  const char *name; /* of the file's kind: css, html, js */
  const char *text; /* NUL-terminated */
};

extern const struct sl_embedded_page sl_embedded_pages[];
extern const unsigned sl_embedded_page_count;

#endif
