#include "strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool reserve(un__strbuf *s, size_t more) {
  if (s->failed) return false;
  size_t want = s->n + more + 1;
  if (want <= s->cap) return true;
  size_t cap = s->cap ? s->cap : 256;
  while (cap < want) cap *= 2;
  char *at = un__realloc(s->at, cap);
  if (!at) {
    s->failed = true;
    return false;
  }
  s->at = at;
  s->cap = cap;
  return true;
}

void un__sb_putn(un__strbuf *s, const char *text, size_t n) {
  if (!reserve(s, n)) return;
  memcpy(s->at + s->n, text, n);
  s->n += n;
  s->at[s->n] = '\0';
}

void un__sb_puts(un__strbuf *s, const char *text) { un__sb_putn(s, text, strlen(text)); }

void un__sb_putc(un__strbuf *s, char c) { un__sb_putn(s, &c, 1); }

void un__sb_printf(un__strbuf *s, const char *fmt, ...) {
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  if (n >= 0 && reserve(s, (size_t)n)) {
    vsnprintf(s->at + s->n, (size_t)n + 1, fmt, again);
    s->n += (size_t)n;
  }
  va_end(again);
}

void un__sb_puti64(un__strbuf *s, int64_t v) {
  char text[20], *p = text + sizeof text;
  uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  do *--p = (char)('0' + u % 10);
  while (u /= 10);
  if (v < 0) *--p = '-';
  un__sb_putn(s, p, (size_t)(text + sizeof text - p));
}
