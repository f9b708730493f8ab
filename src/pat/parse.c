/* parse.c - files, declarations, stages, and the parser's helpers. */
#include "parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INCLUDE_DEPTH = 16, MAX_FILES = 256 };

/* ---- helpers ---- */

static un__token fetch(un__parser *ps) {
  for (;;) {
    un__token t = un__lex_next(&ps->lx);
    if (t.kind != UN__T_DOC) return t;
    ps->doc = ps->doc ? un__pat_fmt(ps->p, "%s\n%s", ps->doc, t.text) : t.text;
  }
}

void un__ps_advance(un__parser *ps) {
  ps->tok = ps->has_ahead ? ps->ahead : fetch(ps);
  ps->has_ahead = false;
}

un__tok un__ps_peek(un__parser *ps) {
  if (!ps->has_ahead) ps->ahead = fetch(ps);
  ps->has_ahead = true;
  return ps->ahead.kind;
}

bool un__ps_accept(un__parser *ps, un__tok t) {
  if (ps->bad || ps->tok.kind != t) return false;
  un__ps_advance(ps);
  return true;
}

static const char *quoted(un__parser *ps, un__tok t) {
  bool punct = t > UN__T_DOC && t < UN__T_BAD;
  return punct ? un__pat_fmt(ps->p, "'%s'", un__tok_text(t)) : un__tok_text(t);
}

static const char *found(un__parser *ps) {
  const un__token *t = &ps->tok;
  if (t->kind == UN__T_NAME || t->kind == UN__T_OPNAME) return un__pat_fmt(ps->p, "'%.60s'", t->text);
  return quoted(ps, t->kind);
}

void un__ps_fail(un__parser *ps, const char *expected) {
  if (!ps->bad && ps->tok.kind != UN__T_BAD)
    un__pat_error(ps->p, ps->tok.loc, "syntax", "expected %s, found %s", expected, found(ps));
  ps->bad = true;
}

bool un__ps_expect(un__parser *ps, un__tok t, const char *where) {
  if (ps->bad) return false;
  if (ps->tok.kind == t) {
    un__ps_advance(ps);
    return true;
  }
  un__ps_fail(ps, un__pat_fmt(ps->p, "%s %s", quoted(ps, t), where));
  return false;
}

bool un__ps_word(const un__parser *ps, const char *word) {
  return ps->tok.kind == UN__T_NAME && !strcmp(ps->tok.text, word);
}

bool un__ps_accept_word(un__parser *ps, const char *word) {
  if (ps->bad || !un__ps_word(ps, word)) return false;
  un__ps_advance(ps);
  return true;
}

bool un__ps_enter(un__parser *ps) {
  if (++ps->depth <= UN__PAT_MAX_DEPTH) return true;
  if (!ps->bad) un__pat_error(ps->p, ps->tok.loc, "syntax", "nested deeper than %d levels", UN__PAT_MAX_DEPTH);
  ps->bad = true;
  return false;
}

bool un__ps_is_loop_var(const un__parser *ps, const char *name) {
  for (size_t i = 0; i < ps->loops.n; i++)
    if (!strcmp(ps->loops.at[i].var, name)) return true;
  return false;
}

un__pat_loc un__ps_span(un__pat_loc from, const un__parser *ps) {
  size_t end = ps->has_ahead ? ps->tok.loc.off : ps->lx.at;
  if (ps->tok.loc.off < end) end = ps->tok.loc.off;
  const char *text = ps->lx.text;
  while (end > from.off && (text[end - 1] == ' ' || text[end - 1] == '\n')) end--;
  const char *nl = end > from.off ? memchr(text + from.off, '\n', end - from.off) : NULL;
  if (nl) end = (size_t)(nl - text);
  from.len = end > from.off ? (uint32_t)(end - from.off) : 1;
  return from;
}

int un__ps_opname(un__parser *ps, const un__token *t) {
  int op = un__optab_find(t->text);
  if (op > 0 || ps->bad) return op > 0 ? op : 0;
  const char *names[UN__POP_COUNT] = {0};
  for (int i = 1; i < UN__POP_COUNT; i++) names[i] = un__optab[i].name;
  un__diag *d = un__pat_error(ps->p, t->loc, "unknown-op", "there is no operation '%s'", t->text);
  const char *near = un__pat_nearest(t->text, names, UN__POP_COUNT);
  if (near) un__pat_note_plain(ps->p, d, "did you mean '%s'?", near);
  return 0;
}

/* ---- declarations ---- */

static void opset(un__parser *ps) {
  un__opset *s = un__pat_alloc(ps->p, sizeof *s);
  un__ps_advance(ps);
  s->name = ps->tok.text;
  s->loc = ps->tok.loc;
  if (ps->tok.kind == UN__T_OPNAME) un__ps_fail(ps, "a name that is not all upper case, after 'opset'");
  un__ps_expect(ps, UN__T_NAME, "after 'opset'");
  un__ps_expect(ps, UN__T_ASSIGN, "after the name of an opset");
  do {
    const un__opset *other = ps->tok.kind == UN__T_NAME ? un__pat_find_opset(ps->p, ps->tok.text) : NULL;
    int op = ps->tok.kind == UN__T_OPNAME ? un__ps_opname(ps, &ps->tok) : 0;
    if (op > 0) un__pat_push(ps->p, &s->ops, op);
    for (size_t i = 0; other && i < other->ops.n; i++) un__pat_push(ps->p, &s->ops, other->ops.at[i]);
    if (!other && ps->tok.kind != UN__T_OPNAME) un__ps_fail(ps, "an operation or an opset");
    un__ps_advance(ps);
  } while (!ps->bad && un__ps_accept(ps, UN__T_OR));
  if (!ps->bad) un__pat_push(ps->p, &ps->p->opsets, s);
}

static un__kind param_kind(un__parser *ps) {
  static const struct {
    const char *name;
    un__kind kind;
  } kinds[] = {{"node", UN__K_NODE}, {"nodes", UN__K_NODES}, {"int", UN__K_INT}, {"attr", UN__K_ATTR},
               {"ints", UN__K_INTS}, {"dtype", UN__K_DTYPE}, {"op", UN__K_OP},   {"bool", UN__K_INT}};
  for (size_t i = 0; ps->tok.kind == UN__T_NAME && i < sizeof kinds / sizeof *kinds; i++) {
    if (strcmp(ps->tok.text, kinds[i].name)) continue;
    un__ps_advance(ps);
    return kinds[i].kind;
  }
  un__ps_fail(ps, "one of node nodes int attr ints dtype op");
  return UN__K_NONE;
}

static void params(un__parser *ps, un__decl *d) {
  un__ps_expect(ps, UN__T_LPAREN, "before the parameters");
  while (!ps->bad && ps->tok.kind != UN__T_RPAREN) {
    un__param pm = {.name = ps->tok.text};
    un__ps_expect(ps, UN__T_NAME, "as parameter");
    un__ps_expect(ps, UN__T_COLON, "after a parameter's name");
    if (ps->bad) return;
    pm.kind = param_kind(ps);
    un__pat_push(ps->p, &d->params, pm);
    if (!un__ps_accept(ps, UN__T_COMMA)) break;
  }
  un__ps_expect(ps, UN__T_RPAREN, "after the parameters");
}

static void declaration(un__parser *ps) {
  un__decl *d = un__pat_alloc(ps->p, sizeof *d);
  d->is_extern = un__ps_accept_word(ps, "extern");
  d->is_pred = un__ps_word(ps, "pred");
  if (!d->is_pred && !un__ps_word(ps, "fn")) un__ps_fail(ps, "'pred' or 'fn'");
  un__ps_advance(ps);
  d->name = ps->tok.text;
  d->loc = ps->tok.loc;
  un__ps_expect(ps, UN__T_NAME, "as the name of a function");
  if (!ps->bad) params(ps, d);
  d->result = UN__K_INT;
  if (!d->is_pred && !ps->bad) {
    un__ps_expect(ps, UN__T_COLON, "before the result of a fn");
    if (un__ps_word(ps, "attr")) un__ps_fail(ps, "int or ints, not attr, as a result");
    if (!ps->bad) d->result = param_kind(ps);
  }
  if (un__ps_accept(ps, UN__T_ASSIGN)) {
    if (d->is_extern) un__ps_fail(ps, "no body: the function is extern");
    d->body = un__ps_expr(ps);
  } else if (!d->is_extern) {
    un__ps_fail(ps, "'=' and a body, or 'extern' in front");
  }
  if (un__ps_accept_word(ps, "smt")) {
    d->smt = ps->tok.text;
    un__ps_expect(ps, UN__T_STRING, "after 'smt'");
  }
  if (ps->bad) return;
  const un__decl *twin = un__pat_find_decl(ps->p, d->name);
  if (twin) {
    un__diag *dg = un__pat_error(ps->p, d->loc, "duplicate", "'%s' is declared twice", d->name);
    un__pat_note_at(ps->p, dg, twin->loc, "first here");
    return;
  }
  if (ps->p->decls.n >= UN__PAT_MAX_DECLS)
    un__ps_fail(ps, "at most 4096 functions");
  else
    un__pat_push(ps->p, &ps->p->decls, d);
}

static void stage_walk(un__parser *ps, un__stage_ast *s) {
  static const char *const walks[][2] = {{"post", "POST"}, {"pre", "PRE"}, {"once", "ONCE"}};
  for (int i = 0; i < 3; i++)
    if (un__ps_accept_word(ps, walks[i][0])) {
      s->walk = walks[i][1];
      return;
    }
  un__ps_fail(ps, "post, pre or once");
}

static void measure_ops(un__parser *ps, un__measure *m) {
  do {
    const un__opset *set = ps->tok.kind == UN__T_NAME ? un__pat_find_opset(ps->p, ps->tok.text) : NULL;
    int op = ps->tok.kind == UN__T_OPNAME ? un__ps_opname(ps, &ps->tok) : 0;
    if (op > 0) un__pat_push(ps->p, &m->ops, op);
    for (size_t i = 0; set && i < set->ops.n; i++) un__pat_push(ps->p, &m->ops, set->ops.at[i]);
    if (!set && ps->tok.kind != UN__T_OPNAME) un__ps_fail(ps, "'*', an operation or an opset");
    un__ps_advance(ps);
  } while (!ps->bad && un__ps_accept(ps, UN__T_COMMA));
}

static void stage_order(un__parser *ps, un__stage_ast *s) {
  do {
    un__measure m = {.loc = ps->tok.loc};
    if (!un__ps_accept_word(ps, "nodes")) un__ps_fail(ps, "a measure: nodes(...)");
    un__ps_expect(ps, UN__T_LPAREN, "after 'nodes'");
    m.all = un__ps_accept(ps, UN__T_STAR);
    if (!m.all && !ps->bad) measure_ops(ps, &m);
    un__ps_expect(ps, UN__T_RPAREN, "to close the measure");
    m.loc = un__ps_span(m.loc, ps);
    if (!ps->bad) un__pat_push(ps->p, &s->order, m);
  } while (!ps->bad && un__ps_accept(ps, UN__T_COMMA));
}

/* `fix node`: a result is rewritten again until nothing fires, as post and pre do; `fix none`: it is final. */
static void stage_fix(un__parser *ps, un__stage_ast *s) {
  s->fix_loc = ps->tok.loc;
  if (un__ps_accept_word(ps, "none"))
    s->fix = UN__FIX_NONE;
  else if (un__ps_accept_word(ps, "node"))
    s->fix = UN__FIX_NODE;
  else
    un__ps_fail(ps, "node or none");
}

/* What `walk` and `fix` say together. */
static void settle_walk(un__parser *ps, un__stage_ast *s) {
  bool once = !strcmp(s->walk, "ONCE"), pre = !strcmp(s->walk, "PRE");
  if (s->fix == UN__FIX_NONE && pre)
    un__pat_error(ps->p, s->fix_loc, "contradiction", "'walk pre' goes on to a fixpoint: it has no 'fix none'");
  else if (s->fix == UN__FIX_NODE && once)
    un__pat_error(ps->p, s->fix_loc, "contradiction", "'walk once' looks at no result again: it has no 'fix node'");
  else if (s->fix == UN__FIX_NONE)
    s->walk = "ONCE";
}

static void unknown_set(un__parser *ps, const un__use *u) {
  un__diag *d = un__pat_error(ps->p, u->loc, "unknown-name", "there is no ruleset '%s'", u->name);
  if (!un__ps_suggest_set(ps, d, u->name))
    un__pat_note_plain(ps->p, d, "a ruleset of another file needs: include \"folder/file.pat\"");
}

static void stage_item(un__parser *ps, un__stage_ast *s) {
  if (un__ps_accept_word(ps, "use")) do {
      un__use u = {.name = ps->tok.text, .loc = ps->tok.loc};
      un__ps_expect(ps, UN__T_NAME, "as ruleset to use");
      u.set = ps->bad ? NULL : un__pat_find_set(ps->p, u.name);
      if (!ps->bad && !u.set) unknown_set(ps, &u);
      un__pat_push(ps->p, &s->uses, u);
    } while (!ps->bad && un__ps_accept(ps, UN__T_COMMA));
  else if (un__ps_accept_word(ps, "walk"))
    stage_walk(ps, s);
  else if (un__ps_accept_word(ps, "fix"))
    stage_fix(ps, s);
  else if (un__ps_accept_word(ps, "order"))
    stage_order(ps, s);
  else if (un__ps_accept_word(ps, "fuel")) {
    s->fuel = ps->tok.num;
    if (ps->tok.kind == UN__T_INT && s->fuel > UINT32_MAX) un__ps_fail(ps, "fuel below 2^32");
    un__ps_expect(ps, UN__T_INT, "after 'fuel'");
  } else
    un__ps_fail(ps, "use, walk, fix, fuel or order");
}

static void stage(un__parser *ps) {
  un__stage_ast *s = un__pat_alloc(ps->p, sizeof *s);
  *s = (un__stage_ast){.walk = "POST", .fuel = 64, .main_file = ps->main_file};
  un__ps_advance(ps);
  s->name = ps->tok.text;
  s->loc = ps->tok.loc;
  un__ps_expect(ps, UN__T_NAME, "after 'stage'");
  un__ps_expect(ps, UN__T_LBRACE, "to open the stage");
  while (!ps->bad && ps->tok.kind != UN__T_RBRACE) stage_item(ps, s);
  un__ps_expect(ps, UN__T_RBRACE, "to close the stage");
  if (ps->bad) return;
  settle_walk(ps, s);
  for (size_t i = 0; i < ps->p->stages.n; i++) {
    if (strcmp(ps->p->stages.at[i]->name, s->name)) continue;
    un__diag *d = un__pat_error(ps->p, s->loc, "duplicate", "stage '%s' is defined twice", s->name);
    un__pat_note_at(ps->p, d, ps->p->stages.at[i]->loc, "first here");
    return;
  }
  un__pat_push(ps->p, &ps->p->stages, s);
}

/* ---- files ---- */

static char *read_file(un__pat *p, const char *path, size_t *out_len) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  char *text = NULL;
  size_t n = 0, cap = 0;
  for (;;) {
    if (n == cap) {
      cap = cap ? cap * 2 : 16384;
      char *more = cap > (size_t)UN__PAT_MAX_BYTES * 2 ? NULL : un__realloc(text, cap);
      if (!more) break;
      text = more;
    }
    size_t got = fread(text + n, 1, cap - n, f);
    n += got;
    if (!got) break;
  }
  bool bad = ferror(f) != 0;
  fclose(f);
  char *copy = bad || !text ? NULL : un__pat_textn(p, text, n);
  un__free(text);
  *out_len = n;
  return copy;
}

static bool add_file(un__pat *p, const char *path, const char *name, const char *text, size_t len) {
  un__pat_file f = {.path = path, .name = name, .text = text, .len = len};
  if (!un__pat_push(p, &p->files, f)) return false;
  if (len <= UN__PAT_MAX_BYTES) return true;
  un__pat_loc top = {.file = (uint32_t)p->files.n - 1};
  un__pat_error(p, top, "lex", "file is larger than %d bytes", UN__PAT_MAX_BYTES);
  return false;
}

/* The path below the -I directory that holds the file, so that no output depends on where the tree lies. */
static const char *short_name(un__pat *p, const char *path) {
  const char *best = path;
  char *full = realpath(path, NULL);
  for (size_t i = 0; full && i < p->dirs.n; i++) {
    char *dir = realpath(p->dirs.at[i], NULL);
    size_t n = dir ? strlen(dir) : 0;
    if (n && !strncmp(full, dir, n) && full[n] == '/') best = un__pat_textn(p, full + n + 1, strlen(full + n + 1));
    free(dir);
  }
  free(full);
  while (!strncmp(best, "../", 3) || !strncmp(best, "./", 2)) best += best[1] == '.' ? 3 : 2;
  return best;
}

static bool open_path(un__pat *p, const char *path) {
  size_t len = 0;
  char *text = read_file(p, path, &len);
  if (!text) return false;
  add_file(p, un__pat_textn(p, path, strlen(path)), short_name(p, un__pat_textn(p, path, strlen(path))), text, len);
  return true;
}

static bool open_include(un__pat *p, uint32_t from, const char *name) {
  const char *base = p->files.at[from].path, *slash = strrchr(base, '/');
  const char *beside = slash ? un__pat_fmt(p, "%.*s/%s", (int)(slash - base), base, name) : name;
  if (open_path(p, beside)) return true;
  for (size_t i = 0; i < p->dirs.n; i++)
    if (open_path(p, un__pat_fmt(p, "%s/%s", p->dirs.at[i], name))) return true;
  return false;
}

static bool already_open(const un__pat *p, const char *name) {
  size_t n = strlen(name);
  for (size_t i = 0; i < p->files.n; i++) {
    size_t m = strlen(p->files.at[i].name);
    if (m >= n && !strcmp(p->files.at[i].name + m - n, name) && (m == n || p->files.at[i].name[m - n - 1] == '/'))
      return true;
  }
  return false;
}

static void include(un__parser *ps, uint32_t file, int depth) {
  un__ps_advance(ps);
  un__token t = ps->tok;
  if (!un__ps_expect(ps, UN__T_STRING, "after 'include'")) return;
  if (!strcmp(t.text, "ops.pat") || already_open(ps->p, t.text)) return; /* ops come from ops.def */
  if (depth >= MAX_INCLUDE_DEPTH || ps->p->files.n >= MAX_FILES) {
    un__pat_error(ps->p, t.loc, "include", "too many nested includes");
    ps->p->broken = true;
  } else if (!open_include(ps->p, file, t.text)) {
    ps->p->broken = true;
    un__pat_error(ps->p, t.loc, "include", "cannot read '%s'", t.text);
  } else if (!ps->p->errors) {
    un__ps_file(ps->p, (uint32_t)ps->p->files.n - 1, false, depth + 1);
  }
}

static void c_include(un__parser *ps) {
  un__ps_advance(ps);
  un__token t = ps->tok;
  if (!un__ps_expect(ps, UN__T_STRING, "after 'c_include'")) return;
  for (size_t i = 0; i < ps->p->c_includes.n; i++)
    if (!strcmp(ps->p->c_includes.at[i], t.text)) return;
  un__pat_push(ps->p, &ps->p->c_includes, t.text);
}

static bool starts_top(const un__parser *ps) {
  static const char *const words[] = {"include", "c_include", "opset", "pred", "extern", "fn", "ruleset", "stage"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (un__ps_word(ps, words[i])) return true;
  return false;
}

static void top(un__parser *ps, uint32_t file, int depth) {
  if (un__ps_word(ps, "include"))
    include(ps, file, depth);
  else if (un__ps_word(ps, "c_include"))
    c_include(ps);
  else if (un__ps_word(ps, "opset"))
    opset(ps);
  else if (un__ps_word(ps, "ruleset"))
    un__ps_ruleset(ps);
  else if (un__ps_word(ps, "stage"))
    stage(ps);
  else if (starts_top(ps))
    declaration(ps);
  else
    un__ps_fail(ps, "include, c_include, opset, pred, fn, ruleset or stage");
}

void un__ps_file(un__pat *p, uint32_t file, bool main_file, int depth) {
  un__parser *ps = un__pat_alloc(p, sizeof *ps);
  if (p->oom) return;
  *ps = (un__parser){.p = p, .main_file = main_file};
  un__lex_init(&ps->lx, p, file);
  un__ps_advance(ps);
  while (ps->tok.kind != UN__T_EOF && !p->oom && p->errors < UN__PAT_MAX_ERRORS) {
    top(ps, file, depth);
    if (!ps->bad) continue;
    p->broken = true;
    ps->bad = false;
    ps->loops.n = 0;
    ps->depth = 0;
    if (!starts_top(ps)) un__ps_advance(ps);
    while (ps->tok.kind != UN__T_EOF && !starts_top(ps)) un__ps_advance(ps);
  }
}

bool un__pat_load(un__pat *p, const char *path) {
  if (!open_path(p, path)) {
    add_file(p, path, path, "", 0);
    un__pat_error(p, (un__pat_loc){0}, "include", "cannot read '%s'", path);
    return false;
  }
  if (!p->errors) un__ps_file(p, 0, true, 0);
  return true;
}

bool un__pat_load_text(un__pat *p, const char *path, const char *text, size_t len) {
  if (!add_file(p, path, path, text, len)) return false;
  un__ps_file(p, 0, true, 0);
  return true;
}

/* ---- look-up ---- */

bool un__ps_suggest_set(un__parser *ps, un__diag *d, const char *name) {
  const char **names = un__pat_alloc(ps->p, (ps->p->sets.n + 1) * sizeof *names);
  for (size_t i = 0; i < ps->p->sets.n && !ps->p->oom; i++) names[i] = ps->p->sets.at[i]->name;
  size_t before = d->notes.n;
  if (!ps->p->oom) un__pat_suggest(ps->p, d, name, names, ps->p->sets.n);
  return d->notes.n > before;
}

un__ruleset_ast *un__pat_find_set(const un__pat *p, const char *name) {
  for (size_t i = 0; i < p->sets.n; i++)
    if (!strcmp(p->sets.at[i]->name, name)) return p->sets.at[i];
  return NULL;
}

const un__opset *un__pat_find_opset(const un__pat *p, const char *name) {
  for (size_t i = 0; i < p->opsets.n; i++)
    if (!strcmp(p->opsets.at[i]->name, name)) return p->opsets.at[i];
  return NULL;
}

un__decl *un__pat_find_decl(const un__pat *p, const char *name) {
  for (size_t i = 0; i < p->decls.n; i++)
    if (!strcmp(p->decls.at[i]->name, name)) return p->decls.at[i];
  return NULL;
}
