/* diag.c - memory of a un__pat and its diagnostics. */
#include "pat.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void un__pat_init(un__pat *p) {
  *p = (un__pat){0};
  un__arena_init(&p->arena);
}

void un__pat_finish(un__pat *p) {
  un__arena_finish(&p->arena);
  *p = (un__pat){0};
}

void *un__pat_alloc(un__pat *p, size_t size) {
  void *at = p->oom ? NULL : un__arena_alloc(&p->arena, size);
  if (!at) {
    p->oom = true;
    at = p->reserve;
    if (size > sizeof p->reserve) size = sizeof p->reserve;
  }
  return memset(at, 0, size);
}

char *un__pat_textn(un__pat *p, const char *s, size_t n) {
  char *at = n < UN__PAT_MAX_BYTES * 2 ? un__pat_alloc(p, n + 1) : un__pat_alloc(p, 1);
  if (p->oom) {
    at[0] = '\0';
    return at;
  }
  memcpy(at, s, n);
  at[n] = '\0';
  return at;
}

static char *vfmt(un__pat *p, const char *fmt, va_list ap) {
  char buf[2048];
  int n = vsnprintf(buf, sizeof buf, fmt, ap);
  if (n < 0) n = 0;
  return un__pat_textn(p, buf, (size_t)n < sizeof buf ? (size_t)n : sizeof buf - 1);
}

char *un__pat_fmt(un__pat *p, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *s = vfmt(p, fmt, ap);
  va_end(ap);
  return s;
}

typedef UN__VEC(void) raw_vec;

bool un__pat_grow(un__pat *p, void *vec, size_t want, size_t size) {
  raw_vec v;
  memcpy(&v, vec, sizeof v);
  if (want <= v.cap) return !p->oom;
  size_t cap = v.cap ? v.cap * 2 : 4;
  while (cap < want) cap *= 2;
  void *at = p->oom ? NULL : un__arena_alloc(&p->arena, cap * size);
  if (!at) {
    p->oom = true;
    return false;
  }
  if (v.n) memcpy(at, v.at, v.n * size);
  v.at = at;
  v.cap = cap;
  memcpy(vec, &v, sizeof v);
  return true;
}

/* ---- reporting ---- */

static bool same_place(un__pat_loc a, un__pat_loc b) { return a.file == b.file && a.off == b.off; }

static un__diag *report(un__pat *p, un__severity sev, un__pat_loc loc, const char *code, const char *text) {
  bool fault = sev == UN__SEV_ERROR;
  if (p->oom) return un__pat_alloc(p, sizeof(un__diag)); /* what is missing now is not missing in the file */
  for (size_t i = 0; i < p->werror.n && sev == UN__SEV_WARNING; i++)
    if (!strcmp(p->werror.at[i], code) || !strcmp(p->werror.at[i], "all")) sev = UN__SEV_ERROR;
  for (size_t i = 0; i < p->diags.n; i++) {
    un__diag *d = &p->diags.at[i];
    if (same_place(d->loc, loc) && !strcmp(d->code, code) && !strcmp(d->text, text)) {
      un__diag *again = un__pat_alloc(p, sizeof *again); /* takes the notes of the copy, printed by nobody */
      return again;
    }
  }
  if (sev == UN__SEV_ERROR) p->errors++;
  if (fault) p->faults++;
  un__diag d = {.severity = sev, .code = code, .text = text, .loc = loc};
  if (p->diags.n >= UN__PAT_MAX_ERRORS * 4 || !un__pat_push(p, &p->diags, d)) return un__pat_alloc(p, sizeof d);
  return &p->diags.at[p->diags.n - 1];
}

un__diag *un__pat_error(un__pat *p, un__pat_loc loc, const char *code, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *text = vfmt(p, fmt, ap);
  va_end(ap);
  return report(p, UN__SEV_ERROR, loc, code, text);
}

un__diag *un__pat_warn(un__pat *p, un__pat_loc loc, const char *code, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *text = vfmt(p, fmt, ap);
  va_end(ap);
  return report(p, UN__SEV_WARNING, loc, code, text);
}

void un__pat_note_at(un__pat *p, un__diag *d, un__pat_loc loc, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  un__pat_note note = {.loc = loc, .text = vfmt(p, fmt, ap)};
  va_end(ap);
  un__pat_push(p, &d->notes, note);
}

void un__pat_note_plain(un__pat *p, un__diag *d, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  un__pat_note note = {.text = vfmt(p, fmt, ap)};
  va_end(ap);
  un__pat_push(p, &d->notes, note);
}

/* ---- printing ---- */

static void put_caret(un__strbuf *out, const char *line, size_t len, un__pat_loc loc) {
  un__sb_puts(out, "      | ");
  size_t start = loc.col ? loc.col - 1 : 0;
  for (size_t i = 0; i < start && i < len; i++) un__sb_putc(out, line[i] == '\t' ? '\t' : ' ');
  size_t run = loc.len ? loc.len : 1;
  if (start + run > len) run = start < len ? len - start : 1;
  un__sb_putc(out, '^');
  for (size_t i = 1; i < run; i++) un__sb_putc(out, '~');
  un__sb_putc(out, '\n');
}

/* The source line, cut at 200 bytes, unprintable bytes as '?'. */
static void put_line(un__strbuf *out, const un__pat *p, un__pat_loc loc) {
  const un__pat_file *f = &p->files.at[loc.file];
  size_t start = loc.off > f->len ? f->len : loc.off;
  while (start > 0 && f->text[start - 1] != '\n') start--;
  size_t end = start;
  while (end < f->len && f->text[end] != '\n' && end - start < 200) end++;
  un__sb_printf(out, "%5u | ", (unsigned)loc.line);
  for (size_t i = start; i < end; i++) {
    unsigned char c = (unsigned char)f->text[i];
    un__sb_putc(out, c == '\t' || c >= 32 ? (char)c : '?');
  }
  un__sb_putc(out, '\n');
  if (loc.col <= 200) put_caret(out, f->text + start, end - start, loc);
}

static void put_place(un__strbuf *out, const un__pat *p, un__pat_loc loc) {
  const char *name = loc.file < p->files.n ? p->files.at[loc.file].name : "?";
  un__sb_printf(out, "%s:%u:%u: ", name, (unsigned)loc.line, (unsigned)loc.col);
}

static void print_one(const un__pat *p, const un__diag *d, un__strbuf *out) {
  put_place(out, p, d->loc);
  un__sb_printf(out, "%s: %s [%s]\n", d->severity == UN__SEV_ERROR ? "error" : "warning", d->text, d->code);
  bool readable = d->loc.file < p->files.n && d->loc.line;
  if (readable) put_line(out, p, d->loc);
  for (size_t i = 0; i < d->notes.n; i++) {
    const un__pat_note *n = &d->notes.at[i];
    if (n->loc.line) {
      put_place(out, p, n->loc);
      un__sb_printf(out, "note: %s\n", n->text);
      put_line(out, p, n->loc);
    } else {
      un__sb_printf(out, "      = note: %s\n", n->text);
    }
  }
}

static int by_place(const void *a, const void *b) {
  const un__diag *x = *(const un__diag *const *)a, *y = *(const un__diag *const *)b;
  if (x->loc.file != y->loc.file) return x->loc.file < y->loc.file ? -1 : 1;
  if (x->loc.off != y->loc.off) return x->loc.off < y->loc.off ? -1 : 1;
  return x < y ? -1 : x > y; /* order of reporting: both lie in one array */
}

/* All of them by place, to be freed; NULL when memory is short. */
static const un__diag **sorted(const un__pat *p, un__strbuf *out) {
  const un__diag **order = un__alloc((p->diags.n + 1) * sizeof *order);
  if (!order) {
    out->failed = true;
    return NULL;
  }
  for (size_t i = 0; i < p->diags.n; i++) order[i] = &p->diags.at[i];
  qsort(order, p->diags.n, sizeof *order, by_place);
  return order;
}

void un__pat_print_diags(const un__pat *p, un__strbuf *out) {
  const un__diag **order = sorted(p, out);
  if (!order) return;
  for (size_t i = 0; i < p->diags.n && i < UN__PAT_MAX_ERRORS; i++) print_one(p, order[i], out);
  if (p->diags.n > UN__PAT_MAX_ERRORS)
    un__sb_printf(out, "... and %zu more\n", p->diags.n - (size_t)UN__PAT_MAX_ERRORS);
  un__free(order);
}

/* ---- JSON ---- */

/* Bytes that are no UTF-8 text of their own (controls, and whatever a hostile file holds) as \u00xx. */
void un__pat_json_string(un__strbuf *out, const char *s) {
  un__sb_putc(out, '"');
  for (; s && *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\')
      un__sb_printf(out, "\\%c", c);
    else if (c < 32 || c >= 127)
      un__sb_printf(out, "\\u%04x", c);
    else
      un__sb_putc(out, (char)c);
  }
  un__sb_putc(out, '"');
}

static void json_place(const un__pat *p, un__pat_loc loc, un__strbuf *out) {
  un__sb_puts(out, "\"file\": ");
  un__pat_json_string(out, loc.file < p->files.n ? p->files.at[loc.file].name : "?");
  un__sb_printf(out, ", \"line\": %u, \"column\": %u, \"length\": %u", (unsigned)loc.line, (unsigned)loc.col,
                (unsigned)loc.len);
}

static void json_one(const un__pat *p, const un__diag *d, un__strbuf *out) {
  un__sb_printf(out, "  {\"severity\": \"%s\", \"code\": \"%s\", \"text\": ",
                d->severity == UN__SEV_ERROR ? "error" : "warning", d->code);
  un__pat_json_string(out, d->text);
  un__sb_puts(out, ", ");
  json_place(p, d->loc, out);
  un__sb_puts(out, ", \"notes\": [");
  for (size_t i = 0; i < d->notes.n; i++) {
    un__sb_puts(out, i ? ", {\"text\": " : "{\"text\": ");
    un__pat_json_string(out, d->notes.at[i].text);
    if (d->notes.at[i].loc.line) {
      un__sb_puts(out, ", ");
      json_place(p, d->notes.at[i].loc, out);
    }
    un__sb_putc(out, '}');
  }
  un__sb_puts(out, "]}");
}

void un__pat_json_diags(const un__pat *p, un__strbuf *out) {
  const un__diag **order = sorted(p, out);
  if (!order) return;
  un__sb_putc(out, '[');
  for (size_t i = 0; i < p->diags.n; i++) {
    un__sb_puts(out, i ? ",\n" : "\n");
    json_one(p, order[i], out);
  }
  un__sb_puts(out, p->diags.n ? "\n]\n" : "]\n");
  un__free(order);
}

/* ---- codes ---- */

bool un__pat_is_code(const char *code) {
  static const char *const codes[] = {
      "arity",        "bad-attr",  "blow-up",    "contradiction", "cycle",         "dropped-attr",    "duplicate",
      "fp-licence",   "include",   "infallible", "lex",           "nonterm",       "not-commutative", "overlap",
      "recursive",    "self-loop", "shadowed",   "syntax",        "type",          "unbound",         "unknown-op",
      "unknown-name", "unproved",  "untested",   "unused",        "untested-guard"};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (!strcmp(codes[i], code)) return true;
  return false;
}

bool un__pat_asked(const un__pat *p, const char *code) {
  for (size_t i = 0; i < p->asked.n; i++)
    if (!strcmp(p->asked.at[i], code)) return true;
  return false;
}

/* ---- near misses ---- */

enum { NEAR_MAX = 40 };

static size_t edit_distance(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b), row[NEAR_MAX + 1];
  if (n > NEAR_MAX || m > NEAR_MAX) return SIZE_MAX;
  for (size_t j = 0; j <= m; j++) row[j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= m; j++) {
      size_t cost = diagonal + (a[i - 1] != b[j - 1]), up = row[j] + 1, left = row[j - 1] + 1;
      diagonal = row[j];
      row[j] = cost < up ? cost : up;
      if (left < row[j]) row[j] = left;
    }
  }
  return row[m];
}

const char *un__pat_nearest(const char *name, const char *const *names, size_t n) {
  const char *best = NULL;
  size_t n_name = strlen(name), best_d = n_name / 3; /* one letter in three may be wrong */
  for (size_t i = 0; i < n; i++) {
    size_t d = names[i] ? edit_distance(name, names[i]) : SIZE_MAX;
    if (d < best_d || (d == best_d && !best)) best = names[i], best_d = d;
  }
  return best;
}

void un__pat_suggest(un__pat *p, un__diag *d, const char *name, const char *const *names, size_t n) {
  const char *near = un__pat_nearest(name, names, n);
  if (near) un__pat_note_plain(p, d, "did you mean '%s'?", near);
}
