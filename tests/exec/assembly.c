#include "assembly.h"

#include <stdlib.h>
#include <string.h>

/* ---- the lines ---- */

typedef struct line {
  const char *text; /* of a label or an instruction, without the indentation */
  size_t n;         /* bytes, without a comment */
  bool label;
} line;

typedef struct listing {
  line *at;
  size_t n;
} listing;

static bool read_lines(const char *text, listing *out) {
  size_t lines = 1;
  for (const char *p = text; *p; p++) lines += *p == '\n';
  *out = (listing){calloc(lines, sizeof *out->at), 0};
  if (!out->at) return false;
  for (const char *end; *text; text = *end ? end + 1 : end) {
    end = text + strcspn(text, "\n");
    bool indented = *text == '\t' || *text == ' ';
    const char *start = text + strspn(text, "\t ");
    size_t n = strcspn(start, "#\n");
    while (n && (start[n - 1] == ' ' || start[n - 1] == '\t')) n--;
    bool label = !indented && n && start[n - 1] == ':', directive = indented && *start == '.';
    if (n && !directive) out->at[out->n++] = (line){start, label ? n - 1 : n, label};
  }
  return true;
}

static bool starts(const line *l, const char *prefix) { return strncmp(l->text, prefix, strlen(prefix)) == 0; }

static bool has(const line *l, const char *what) {
  for (size_t i = 0, n = strlen(what); i + n <= l->n; i++)
    if (strncmp(l->text + i, what, n) == 0) return true;
  return false;
}

/* A mnemonic that ends with "ss" or "sd" and is not of integers: one float. */
static bool on_one_float(const line *l) {
  size_t n = strcspn(l->text, " \t\n");
  return n > 3 && l->text[1] != 'p' && l->text[n - 2] == 's' && (l->text[n - 1] == 's' || l->text[n - 1] == 'd');
}

static bool any_of(const line *l, const char *const *prefixes) {
  for (; *prefixes; prefixes++)
    if (starts(l, *prefixes)) return true;
  return false;
}

/* ---- loops ---- */

typedef struct span {
  size_t first, last;
} span;

/* The target of a jump as a place before it; l itself: it does not jump back. */
static size_t jumps_back_to(const listing *a, size_t at) {
  const line *l = &a->at[at];
  if (l->label || *l->text != 'j') return at;
  size_t skip = strcspn(l->text, " \t");
  const char *target = l->text + skip + strspn(l->text + skip, " \t");
  size_t n = l->n - (size_t)(target - l->text);
  for (size_t i = 0; i < at; i++)
    if (a->at[i].label && a->at[i].n == n && strncmp(a->at[i].text, target, n) == 0) return i;
  return at;
}

/* The loops that contain no other, in order. */
static bool innermost_loops(const listing *a, span **out, size_t *n) {
  *out = calloc(a->n + 1, sizeof **out);
  *n = 0;
  for (size_t i = 0; *out && i < a->n; i++) {
    size_t to = jumps_back_to(a, i);
    /* Loops close from the inside out: one that begins before the last one closed contains it. */
    if (to != i && (*n == 0 || to > (*out)[*n - 1].last)) (*out)[(*n)++] = (span){to, i};
  }
  return *out != NULL;
}

/* ---- classes ---- */

/* Whether the last operand, the target, is memory: a mask may follow it. */
static bool writes_memory(const line *l) {
  size_t n = l->n;
  if (n && l->text[n - 1] == '}')
    while (n && l->text[n - 1] != ' ') n--;
  while (n && (l->text[n - 1] == ' ')) n--;
  return n && l->text[n - 1] == ')';
}

static void count_move(const line *l, bool whole, asm_counts *c) {
  bool memory = has(l, "("), store = memory && writes_memory(l);
  if (!memory) return;
  if (has(l, "(%rsp") || has(l, "(%rbp"))
    c->spills += whole;
  else if (!whole)
    c->single++;
  else if (store)
    c->stores++;
  else
    c->loads++;
}

static void count_line(const line *l, const char *widest, asm_counts *c) {
  static const char *const lanes[] = {"vinsertps", "vextractps", "vpinsr",    "vpextr", "vgather",
                                      "vpgather",  "vscatter",   "vpscatter", NULL};
  static const char *const shuffles[] = {
      "vunpck",    "vpunpck",   "vperm",    "vpermt2", "vshuf",    "vpshuf",    "vinsert", "vpermi2",  "vextract",
      "valign",    "vpalign",   "vmovlh",   "vmovhl",  "vpack",    "vpack",     "vpblend", "vblendps", "vblendpd",
      "vmovshdup", "vmovsldup", "vmovddup", "vexpand", "vpexpand", "vcompress", NULL};
  static const char *const halves[] = {"vmovlps", "vmovhps", "vmovlpd", "vmovhpd", NULL};
  static const char *const moves[] = {"vmov", "vlddqu", "vpmovm", "vmaskmov", "vpmaskmov", NULL};
  if (starts(l, "call")) c->calls++;
  bool vector = has(l, "%xmm") || has(l, "%ymm") || has(l, "%zmm");
  if (*l->text != 'v' || !vector) return;
  if (starts(l, "vbroadcast") || starts(l, "vpbroadcast") || has(l, "{1to"))
    c->splats += has(l, "(");
  else if (has(l, "(") && !any_of(l, moves) && !any_of(l, lanes) && !on_one_float(l))
    *(writes_memory(l) ? &c->stores : &c->loads) += 1;
  if (starts(l, "vbroadcast") || starts(l, "vpbroadcast") || starts(l, "vzero")) return;
  if (any_of(l, lanes))
    c->scalar++;
  else if (any_of(l, shuffles))
    c->shuffles++;
  else if (any_of(l, moves))
    count_move(l, !on_one_float(l) && !any_of(l, halves), c);
  else if (on_one_float(l))
    c->scalar++;
  else if (has(l, widest))
    c->math++;
  else
    c->narrower++;
}

bool asm_count(const char *text, const char *widest, asm_counts *out) {
  *out = (asm_counts){0};
  listing a;
  span *loops = NULL;
  size_t n = 0;
  bool ok = read_lines(text, &a) && innermost_loops(&a, &loops, &n);
  for (size_t i = 0; ok && i < n; i++)
    for (size_t j = loops[i].first; j <= loops[i].last; j++)
      if (!a.at[j].label) count_line(&a.at[j], widest, out);
  out->loops = (int)n;
  free(loops);
  free(a.at);
  return ok;
}
