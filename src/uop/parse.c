/* parse.c - .un text to graphs: the cursor, errors, values by name, graphs and files. Lines of nodes are read by
 * parse_node.c. Hostile input is normal input: every limit is checked before anything grows, and the work is linear
 * in the length of the text. */
#include "parse.h"

#include <stdio.h>
#include <string.h>

/* ---- errors ---- */

enum { SHOWN_COLUMNS = 100 };

/* The line around `at`, cut to what fits, with bytes that would disturb a terminal replaced; then a caret below. */
static void show_line(un__strbuf *out, const un__parser *p, const char *at) {
  const char *from = at, *to = at;
  while (from > p->text && from[-1] != '\n' && at - from < SHOWN_COLUMNS / 2) from--;
  while (to < p->end && *to != '\n' && to - from < SHOWN_COLUMNS) to++;
  un__sb_puts(out, "  ");
  for (const char *c = from; c < to; c++) un__sb_putc(out, *c == '\t' ? ' ' : *c >= 32 && *c < 127 ? *c : '?');
  un__sb_puts(out, "\n  ");
  for (const char *c = from; c < at; c++) un__sb_putc(out, ' ');
  un__sb_putc(out, '^');
}

static void put_place(un__strbuf *out, const un__parser *p, const char *at) {
  size_t line = 1;
  const char *start = p->text;
  for (const char *c = p->text; c < at; c++)
    if (*c == '\n') line++, start = c + 1;
  un__sb_printf(out, "%.200s:%zu:%zu: ", p->file ? p->file : "<text>", line, (size_t)(at - start) + 1);
}

bool un__parse_fail(un__parser *p, const char *at, const char *fmt, ...) {
  if (p->status != UN_OK) return false;
  char message[512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(message, sizeof message, fmt, ap);
  va_end(ap);
  un__strbuf text = {0};
  put_place(&text, p, at);
  un__sb_puts(&text, message);
  un__sb_putc(&text, '\n');
  show_line(&text, p, at);
  p->status = text.failed ? un__fail(un__graph_err(p->g), UN_ERR_NOMEM, "no memory to parse")
                          : un__fail(un__graph_err(p->g), UN_ERR_PARSE, "%s", un__sb_str(&text));
  un__sb_finish(&text);
  return false;
}

bool un__parse_nomem(un__parser *p) {
  if (p->status == UN_OK) p->status = un__fail(un__graph_err(p->g), UN_ERR_NOMEM, "no memory to parse");
  return false;
}

/* ---- the cursor ---- */

void un__skip_spaces(un__parser *p) {
  while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r')) p->at++;
  if (p->at == p->end || *p->at != '#') return;
  while (p->at < p->end && *p->at != '\n') p->at++;
}

void un__skip_lines(un__parser *p) {
  for (un__skip_spaces(p); p->at < p->end && *p->at == '\n'; un__skip_spaces(p)) p->at++;
}

bool un__take(un__parser *p, char c) {
  un__skip_spaces(p);
  if (p->at == p->end || *p->at != c) return false;
  p->at++;
  return true;
}

bool un__expect(un__parser *p, char c, const char *where) {
  return un__take(p, c) || un__parse_fail(p, p->at, "expected `%c` %s", c, where);
}

bool un__expect_line_end(un__parser *p) {
  un__skip_spaces(p);
  if (p->at == p->end || *p->at == '\n') return true;
  return un__parse_fail(p, p->at, "expected the end of the line");
}

un__token un__take_word(un__parser *p) {
  un__skip_spaces(p);
  const char *from = p->at;
  while (p->at < p->end && un__is_name_char(*p->at)) p->at++;
  return (un__token){from, (size_t)(p->at - from)};
}

bool un__token_is(un__token t, const char *word) { return strlen(word) == t.len && memcmp(t.at, word, t.len) == 0; }

/* ---- values by name ---- */

static uint32_t hash_name(un__token t) {
  uint64_t h = t.len;
  for (size_t i = 0; i < t.len; i++) {
    h = (h ^ (unsigned char)t.at[i]) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 29;
  }
  return (uint32_t)(h >> 32);
}

/* The slot of a name: where it is, or where it would go. */
static uint32_t seek_name(const un__parser *p, un__token name) {
  uint32_t mask = (uint32_t)p->slots.n - 1, at = hash_name(name) & mask;
  for (; p->slots.at[at]; at = (at + 1) & mask) {
    un__token other = p->values.at[p->slots.at[at] - 1].name;
    if (other.len == name.len && memcmp(other.at, name.at, name.len) == 0) break;
  }
  return at;
}

static bool grow_slots(un__parser *p) {
  size_t n = p->slots.n ? p->slots.n * 2 : 64;
  if (!un__vec_reserve(&p->slots, n)) return un__parse_nomem(p);
  p->slots.n = n;
  memset(p->slots.at, 0, n * sizeof *p->slots.at);
  for (size_t i = 0; i < p->values.n; i++) p->slots.at[seek_name(p, p->values.at[i].name)] = (uint32_t)i + 1;
  return true;
}

const un_uop *un__find_value(const un__parser *p, un__token name, uint32_t *out_index) {
  if (p->slots.n == 0) return NULL;
  uint32_t value = p->slots.at[seek_name(p, name)];
  if (value == 0) return NULL;
  if (out_index) *out_index = value - 1;
  return p->values.at[value - 1].node;
}

bool un__define_value(un__parser *p, un__token name, const un_uop *n) {
  if ((p->values.n + 1) * 2 > p->slots.n && !grow_slots(p)) return false;
  if (!un__vec_push(&p->values, ((un__named){name, n}))) return un__parse_nomem(p);
  p->slots.at[seek_name(p, name)] = (uint32_t)p->values.n;
  return true;
}

static void forget_values(un__parser *p) {
  p->values.n = 0;
  if (p->slots.n) memset(p->slots.at, 0, p->slots.n * sizeof *p->slots.at);
  /* A graph with many values must not make every later small one pay for clearing its table. */
  if (p->slots.n > 4096) un__vec_finish(&p->slots);
}

/* ---- the end of a graph: `sink %a, ..`, `linear %a..%b` or `root %n` ---- */

static bool parse_root(un__parser *p, const un_uop **out) {
  un__skip_lines(p);
  const char *at = p->at;
  un__token word = un__take_word(p);
  bool sink = un__token_is(word, "sink"), linear = un__token_is(word, "linear");
  if (!sink && !linear && !un__token_is(word, "root"))
    return un__parse_fail(p, at, "expected a node (`%%n = ...`), or the root: `sink`, `linear` or `root`");
  p->src.n = 0;
  if (!un__parse_sources(p, sink || linear) || !un__expect_line_end(p)) return false;
  if (sink || linear) {
    *out = un__parse_build(p, at, sink ? UN__OP_SINK : UN__OP_LINEAR, UN__DT(UN_VOID), NULL, 0);
    return *out != NULL;
  }
  if (p->src.n != 1) return un__parse_fail(p, at, "`root` takes one value, not %zu", p->src.n);
  *out = p->src.at[0];
  return true;
}

static bool parse_stage(un__parser *p, un__stage *out) {
  *out = UN__STAGE_TENSOR;
  un__skip_spaces(p);
  const char *at = p->at;
  un__token word = un__take_word(p);
  if (word.len == 0) return true;
  if (!un__token_is(word, "stage") || !un__take(p, '=')) return un__parse_fail(p, at, "expected `stage=` or `{`");
  un__skip_spaces(p);
  at = p->at;
  word = un__take_word(p);
  if (un__stage_by_name(word.at, word.len, out)) return true;
  return un__parse_fail(p, at, "no stage `%.*s`: it is tensor, kernel, linear or schedule",
                        (int)(word.len < 64 ? word.len : 64), word.at);
}

static bool parse_head(un__parser *p, un__parsed_graph *out) {
  if (!un__expect(p, '@', "and the graph's name")) return false;
  const char *at = p->at;
  un__token name = un__take_word(p);
  if (name.at != at || name.len == 0) return un__parse_fail(p, at, "expected the graph's name after `@`");
  if (name.len > UN__GRAPH_NAME_MAX) return un__parse_fail(p, at, "a name has at most %d bytes", UN__GRAPH_NAME_MAX);
  memcpy(out->name, name.at, name.len);
  out->name[name.len] = '\0';
  return parse_stage(p, &out->stage) && un__expect(p, '{', "to open the graph") && un__expect_line_end(p);
}

/* After the word `graph`. */
static bool parse_graph(un__parser *p, un__parsed_graph *out) {
  *out = (un__parsed_graph){{0}, UN__STAGE_TENSOR, NULL};
  if (!parse_head(p, out)) return false;
  forget_values(p);
  for (un__skip_lines(p); p->at < p->end && *p->at == '%'; un__skip_lines(p))
    if (!un__parse_node(p)) return false;
  if (!parse_root(p, &out->root)) return false;
  un__skip_lines(p);
  return un__expect(p, '}', "after the root, to close the graph") && un__expect_line_end(p);
}

/* ---- files ---- */

static bool parse_version(un__parser *p) {
  un__skip_spaces(p);
  const char *at = p->at;
  un__token word = un__take_word(p);
  if (un__token_is(word, "1")) return un__expect_line_end(p);
  return un__parse_fail(p, at, "expected version 1 of the text form");
}

/* A line `---`: what follows is what a golden expects, so that goldens can be given to any tool as they are. */
static bool at_end_mark(const un__parser *p) {
  if (p->end - p->at < 3 || memcmp(p->at, "---", 3) != 0 || (p->at > p->text && p->at[-1] != '\n')) return false;
  return p->end - p->at == 3 || p->at[3] == '\n';
}

/* The head is needed before the first graph and allowed before each, so that texts can be put one after another. */
static bool parse_file(un__parser *p, un__parsed_graph *out, size_t cap, size_t *out_n) {
  bool headed = false;
  for (un__skip_lines(p); p->at < p->end && !at_end_mark(p); un__skip_lines(p)) {
    const char *at = p->at;
    un__token word = un__take_word(p);
    if (un__token_is(word, "unir")) {
      if (!parse_version(p)) return false;
      headed = true;
      continue;
    }
    if (!headed) return un__parse_fail(p, at, "expected `unir 1` at the start");
    if (!un__token_is(word, "graph")) return un__parse_fail(p, at, "expected `graph`");
    if (*out_n == cap) return un__parse_fail(p, at, "more than %zu graphs", cap);
    if (!parse_graph(p, &out[*out_n])) return false;
    ++*out_n;
  }
  return headed || un__parse_fail(p, p->at, "expected `unir 1` at the start");
}

un_status un__parse_text(un__graph *g, const char *file, const char *text, size_t len, un__parsed_graph *out,
                         size_t cap, size_t *out_n) {
  *out_n = 0;
  if (un__graph_status(g) != UN_OK) return un__graph_status(g);
  un__parser p = {.g = g, .file = file, .text = text, .end = text + len, .at = text};
  if (!parse_file(&p, out, cap, out_n)) *out_n = 0;
  un__vec_finish(&p.values);
  un__vec_finish(&p.slots);
  un__vec_finish(&p.src);
  return p.status;
}
