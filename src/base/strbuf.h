/* strbuf.h - text under construction. A failed allocation sets `failed` and later calls do nothing,
 * so a printer checks once, at the end. Number output never depends on the locale. */
#ifndef UN_BASE_STRBUF_H
#define UN_BASE_STRBUF_H

#include <unir/base.h>
#include "vec.h"

typedef struct un__strbuf {
  char *at;          /* always NUL-terminated once anything was written */
  size_t n, cap;
  bool failed;
} un__strbuf;

static inline void un__sb_init(un__strbuf *s) { *s = (un__strbuf){0}; }
static inline void un__sb_finish(un__strbuf *s) { un__free(s->at); *s = (un__strbuf){0}; }
void un__sb_putn(un__strbuf *s, const char *text, size_t n);
void un__sb_puts(un__strbuf *s, const char *text);
void un__sb_putc(un__strbuf *s, char c);
void un__sb_printf(un__strbuf *s, const char *fmt, ...) UN__PRINTF(2, 3);   /* no %f %e %g: use un__sb_putf64 */
void un__sb_puti64(un__strbuf *s, int64_t v);
/* The text so far; "" when empty. */
static inline const char *un__sb_str(const un__strbuf *s) { return s->at ? s->at : ""; }

#endif
