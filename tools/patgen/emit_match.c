/* emit_match.c - matchers: one function for each root op of a ruleset.
 *
 * The variants of an op are a list in order of preference. A list is written as a sequence of groups: the first
 * variant, and with it every later one that shares a test with it and may be moved up because it is disjoint from all
 * it passes. The test is written once, the group below it is again a list. A test on the op of a site becomes a
 * switch over all ops that variants ask for there. So each variant is written once, tests are shared, and no rule is
 * moved above an earlier one that accepts a common node. With --linear nothing is shared. */
#include <string.h>

#include "gen.h"

enum { LEAVES_A_FUNCTION = 40, LEAVES_A_GROUP = 12, LEAVES_A_TREE = 240 };

/* A constraint on sites that all variants of the op number alike. */
typedef struct test {
  un__cons c;
  int site, site2;
  bool done;
} test;

typedef struct item {
  const un__variant *v;
  size_t index; /* in the set's variants */
  test *tests;
  size_t ntests;
  int *site; /* variant's site -> shared site */
} item;

typedef struct gsite {
  int parent;
  uint32_t index;
} gsite;

typedef struct tree {
  un__pat *p;
  const un__set_code *s;
  const char *name; /* of the op */
  bool linear;
  int parts; /* functions split off so far */
  UN__VEC(gsite) sites;
  un__strbuf *functions; /* finished functions */
} tree;

/* One function under construction: where it goes and which sites it has loaded, by nesting level. */
typedef struct fn {
  tree *t;
  un__strbuf out;
  int indent, leaves;
  int *level; /* per site: nesting level at which it was loaded, 0: not */
} fn;

typedef UN__VEC(item *) items;

/* ---- sites and tests ---- */

static int shared_site(tree *t, int parent, uint32_t index) {
  for (size_t i = 0; i < t->sites.n; i++)
    if (t->sites.at[i].parent == parent && t->sites.at[i].index == index) return (int)i;
  gsite g = {parent, index};
  return un__pat_push(t->p, &t->sites, g) ? (int)t->sites.n - 1 : 0;
}

static item *make_item(tree *t, size_t index) {
  const un__variant *v = t->s->variants.at[index];
  item *it = un__pat_alloc(t->p, sizeof *it);
  *it = (item){.v = v, .index = index};
  it->site = un__pat_alloc(t->p, (v->sites.n + 1) * sizeof *it->site);
  it->tests = un__pat_alloc(t->p, (v->cons.n + 1) * sizeof *it->tests);
  if (t->p->oom) return it;
  for (size_t i = 0; i < v->sites.n; i++)
    it->site[i] = shared_site(t, i ? it->site[v->sites.at[i].parent] : -1, v->sites.at[i].index);
  for (size_t i = 0; i < v->cons.n; i++) {
    const un__cons *c = &v->cons.at[i];
    if (c->kind == UN__CK_OP && c->site == 0) continue; /* the table has looked */
    it->tests[it->ntests++] =
        (test){*c, it->site[c->site], un__emit_two_sites(c->kind) ? it->site[c->site2] : -1, false};
  }
  return it;
}

static bool same_test(const test *a, const test *b) {
  return a->c.kind == b->c.kind && a->site == b->site && a->site2 == b->site2 && a->c.a == b->c.a && a->c.b == b->c.b &&
         !memcmp(&a->c.f, &b->c.f, sizeof a->c.f);
}

static bool above(const tree *t, int ancestor, int site) {
  while (site >= 0 && site != ancestor) site = t->sites.at[site].parent;
  return site >= 0;
}

/* May `x` be tested now: everything above its sites has been, and its own op where the test reads what only that op
 * has? */
static bool available(const tree *t, const item *it, const test *x) {
  bool any_node = x->c.kind == UN__CK_OP || x->c.kind == UN__CK_SAME || x->c.kind == UN__CK_TYPE ||
                  x->c.kind == UN__CK_LANES || x->c.kind == UN__CK_DTYPE_EQ;
  for (size_t i = 0; i < it->ntests; i++) {
    const test *y = &it->tests[i];
    if (y->done || y == x || (y->c.kind != UN__CK_OP && y->c.kind != UN__CK_NSRC)) continue;
    bool own = y->site == x->site || y->site == x->site2;
    bool over = above(t, y->site, x->site) || (x->site2 >= 0 && above(t, y->site, x->site2));
    if (!own && over) return false;
    if (own && !any_node && !(x->c.kind == UN__CK_NSRC && y->c.kind == UN__CK_NSRC)) return false;
  }
  return true;
}

/* ---- disjoint variants ---- */

static bool clash(const test *a, const test *b) {
  if (a->site != b->site || a->c.kind != b->c.kind) return false;
  switch (a->c.kind) {
  case UN__CK_OP:
    return a->c.a != b->c.a;
  case UN__CK_INT:
    return a->c.a != b->c.a;
  case UN__CK_NSRC:
    return !a->c.b && !b->c.b && a->c.a != b->c.a;
  case UN__CK_ATTR:
    return a->c.a == b->c.a && a->c.b != b->c.b;
  case UN__CK_TYPE:
    return !((uint32_t)a->c.a & (uint32_t)b->c.a);
  case UN__CK_LANES:
    return a->c.a != b->c.a;
  default:
    return false;
  }
}

static bool disjoint(const item *a, const item *b) {
  for (size_t i = 0; i < a->ntests; i++)
    for (size_t k = 0; k < b->ntests; k++)
      if (clash(&a->tests[i], &b->tests[k])) return true;
  return false;
}

/* ---- writing ---- */

static void put(fn *f, const char *text) {
  for (int i = 0; i < f->indent; i++) un__sb_puts(&f->out, "  ");
  un__sb_puts(&f->out, text);
  un__sb_putc(&f->out, '\n');
}

static const char *load(fn *f, int site) {
  if (site == 0) return "n";
  const char *name = un__pat_fmt(f->t->p, "s%d", site);
  if (f->level[site]) return name;
  const gsite *g = &f->t->sites.at[site];
  const char *parent = load(f, g->parent);
  put(f, un__pat_fmt(f->t->p, "const un_uop *%s = %s->src[%u];", name, parent, g->index));
  f->level[site] = f->indent;
  return name;
}

static void open_block(fn *f, const char *text) {
  put(f, text);
  f->indent++;
}

static void close_block(fn *f, const char *text) {
  for (size_t i = 0; i < f->t->sites.n; i++)
    if (f->level[i] == f->indent) f->level[i] = 0;
  f->indent--;
  put(f, text);
}

/* C that is true when the test fails; loads what it needs first. */
static const char *failed(fn *f, const item *it, const test *x) {
  const gsite *g = &f->t->sites.at[x->site];
  bool by_parent = x->c.kind == UN__CK_OP && x->site && g->index < 4;
  const char *parent = by_parent ? load(f, g->parent) : NULL, *site = by_parent ? NULL : load(f, x->site);
  const char *site2 = x->site2 >= 0 ? load(f, x->site2) : NULL;
  return un__emit_test_failed(f->t->p, it->v, &x->c, site, site2, parent);
}

/* The rest of one variant: its tests in a row, then the action. */
static void leaf(fn *f, item *it) {
  un__pat *p = f->t->p;
  const un__rule *r = it->v->rule;
  unsigned number = (unsigned)f->t->s->rule_no.at[it->index];
  f->leaves++;
  open_block(f, un__pat_fmt(p, "do { /* %s:%u %s */", p->files.at[r->loc.file].name, (unsigned)r->loc.line, r->name));
  for (size_t i = 0; i < it->ntests; i++)
    if (!it->tests[i].done) put(f, un__pat_fmt(p, "if (%s) break;", failed(f, it, &it->tests[i])));
  const char **site = un__pat_alloc(p, (it->v->sites.n + 1) * sizeof *site);
  if (p->oom) return;
  for (size_t i = 0; i < it->v->caps.n; i++) site[it->v->caps.at[i].site] = load(f, it->site[it->v->caps.at[i].site]);
  if (r->licences)
    put(f, un__pat_fmt(p, "if (!un__m_licensed(rw, n, 0x%xu)) break;", (unsigned)r->licences));
  else
    put(f, un__pat_fmt(p, "if (!un__rw_enabled(rw, %u)) break;", number));
  const char *call = un__emit_call(p, f->t->s, it->index, site);
  put(f, un__pat_fmt(p, "if ((to = un__rw_fire(rw, %u, n, %s))) return to;", number, call));
  close_block(f, "} while (0);");
}

/* ---- grouping ---- */

/* Does it have a test like x (for OP: any op at that site) that may be made now? */
static test *like(const tree *t, item *it, const test *x) {
  for (size_t i = 0; i < it->ntests; i++) {
    test *y = &it->tests[i];
    if (y->done || !available(t, it, y)) continue;
    if (x->c.kind == UN__CK_OP ? y->c.kind == UN__CK_OP && y->site == x->site : same_test(x, y)) return y;
  }
  return NULL;
}

/* The later variants that can join the first one's test x: *in and *rest split the list. */
static void split(const tree *t, const items *list, const test *x, items *in, items *rest) {
  in->n = rest->n = 0;
  for (size_t i = 0; i < list->n; i++) {
    item *it = list->at[i];
    bool joins = like(t, it, x) != NULL;
    for (size_t k = 0; k < rest->n && joins; k++) joins = disjoint(rest->at[k], it);
    un__pat_push(t->p, joins ? in : rest, it);
  }
}

/* Cheap tests first among those that gather as many variants. */
static int cost(un__ck k) {
  static const int order[] = {
      [UN__CK_OP] = 0,       [UN__CK_NSRC] = 1,       [UN__CK_ATTR] = 1,       [UN__CK_TYPE] = 2,
      [UN__CK_LANES] = 2,    [UN__CK_INT] = 3,        [UN__CK_SEM] = 3,        [UN__CK_FLOAT] = 3,
      [UN__CK_SAME] = 4,     [UN__CK_SAME_CONST] = 4, [UN__CK_ATTR_EQ] = 4,    [UN__CK_INTS_EQ] = 5,
      [UN__CK_DTYPE_EQ] = 4, [UN__CK_SPAN_EQ] = 5,    [UN__CK_SPAN_CONST] = 5, [UN__CK_SPAN_TYPE] = 5};
  return order[k];
}

static const test *choose(const tree *t, const items *list) {
  item *first = list->at[0];
  const test *best = NULL;
  size_t best_n = 0;
  for (size_t i = 0; i < first->ntests; i++) {
    const test *x = &first->tests[i];
    if (x->done || !available(t, first, x)) continue;
    items in = {0}, rest = {0};
    split(t, list, x, &in, &rest);
    if (!best || in.n > best_n || (in.n == best_n && cost(x->c.kind) < cost(best->c.kind))) best = x, best_n = in.n;
  }
  return best_n > 1 ? best : NULL;
}

static void mark(const tree *t, const items *list, const test *x, bool done) {
  for (size_t i = 0; i < list->n; i++) {
    item *it = list->at[i];
    for (size_t k = 0; k < it->ntests; k++)
      if (same_test(&it->tests[k], x)) it->tests[k].done = done;
  }
}

static void write_list(fn *f, const items *list);

/* Moves a list into a function of its own, which loads its sites anew. */
static void write_call(fn *f, const items *list) {
  tree *t = f->t;
  const char *name = un__pat_fmt(t->p, "m_%s_%s_%d", t->s->set->name, t->name, ++t->parts);
  fn g = {.t = t, .indent = 1, .level = un__pat_alloc(t->p, (t->sites.n + 1) * sizeof *g.level)};
  if (t->p->oom) return;
  write_list(&g, list);
  un__sb_printf(t->functions,
                "static const un_uop *%s(un__rw *rw, const un_uop *n) {\n  const un_uop *to;\n%s  return NULL;\n}\n\n",
                name, un__sb_str(&g.out));
  un__sb_finish(&g.out);
  put(f, un__pat_fmt(t->p, "if ((to = %s(rw, n))) return to;", name));
}

static void write_group(fn *f, const items *list) {
  if (list->n > LEAVES_A_GROUP)
    write_call(f, list);
  else
    write_list(f, list);
}

static void write_switch(fn *f, const test *x, const items *group) {
  tree *t = f->t;
  const gsite *g = &t->sites.at[x->site];
  const char *what = g->index < 4 ? un__pat_fmt(t->p, "%s->kop[%u]", load(f, g->parent), g->index)
                                  : un__pat_fmt(t->p, "%s->op", load(f, x->site));
  put(f, un__pat_fmt(t->p, "switch (%s) {", what));
  for (int op = 1; op < UN__POP_COUNT; op++) {
    items same = {0};
    test probe = *x;
    probe.c.a = op;
    for (size_t i = 0; i < group->n; i++)
      if (like(t, group->at[i], x)->c.a == op) un__pat_push(t->p, &same, group->at[i]);
    if (!same.n) continue;
    open_block(f, un__pat_fmt(t->p, "case UN__OP_%s: {", un__optab[op].name));
    mark(t, &same, &probe, true);
    write_group(f, &same);
    mark(t, &same, &probe, false);
    put(f, "break;");
    close_block(f, "}");
  }
  put(f, "default: break;");
  put(f, "}");
}

static bool one_op_only(const tree *t, const test *x, const items *group) {
  for (size_t i = 0; i < group->n; i++)
    if (like(t, group->at[i], x)->c.a != x->c.a) return false;
  return true;
}

static void write_list(fn *f, const items *list) {
  tree *t = f->t;
  items todo = *list, in = {0}, rest = {0};
  while (todo.n && !t->p->oom) {
    if (f->indent == 1 && f->leaves >= LEAVES_A_FUNCTION && todo.n > 1) {
      write_call(f, &todo);
      return;
    }
    const test *x = t->linear ? NULL : choose(t, &todo);
    if (!x) {
      leaf(f, todo.at[0]);
      todo.at++, todo.n--, todo.cap = todo.n;
      continue;
    }
    in = (items){0}, rest = (items){0};
    split(t, &todo, x, &in, &rest);
    if (x->c.kind == UN__CK_OP && !one_op_only(t, x, &in)) {
      write_switch(f, x, &in);
    } else {
      test copy = *x;
      open_block(f, un__pat_fmt(t->p, "if (!(%s)) {", failed(f, in.at[0], x)));
      mark(t, &in, &copy, true);
      write_group(f, &in);
      mark(t, &in, &copy, false);
      close_block(f, "}");
    }
    todo = rest;
  }
}

/* ---- functions ---- */

static void part(tree *t, const items *list, size_t from, size_t n, const char *name, un__strbuf *out) {
  fn f = {.t = t, .indent = 1, .level = un__pat_alloc(t->p, (t->sites.n + 1) * sizeof *f.level)};
  un__strbuf functions = {0};
  t->functions = &functions;
  items chunk = {.at = list->at + from, .n = n, .cap = n};
  if (!t->p->oom) write_list(&f, &chunk);
  un__sb_puts(out, un__sb_str(&functions));
  un__sb_printf(out,
                "static const un_uop *%s(un__rw *rw, const un_uop *n) {\n  const un_uop *to;\n%s  return NULL;\n}\n\n",
                name, un__sb_str(&f.out));
  if (f.out.failed || functions.failed) out->failed = true;
  un__sb_finish(&f.out);
  un__sb_finish(&functions);
}

/* Functions of at most `most` variants that are called in turn. */
static void in_parts(tree *t, const items *list, size_t most, const char *name, un__strbuf *out) {
  size_t n = 0;
  const char *calls = "";
  for (size_t from = 0; from < list->n; from += most) {
    size_t count = list->n - from < most ? list->n - from : most;
    const char *part_name = un__pat_fmt(t->p, "%s_p%zu", name, ++n);
    part(t, list, from, count, part_name, out);
    calls = un__pat_fmt(t->p, "%s  if ((to = %s(rw, n))) return to;\n", calls, part_name);
  }
  un__sb_printf(out,
                "static const un_uop *%s(un__rw *rw, const un_uop *n) {\n  const un_uop *to;\n%s  return NULL;\n}\n\n",
                name, calls);
}

static void one_op(un__pat *p, const un__set_code *s, int op, const un__emit_options *o, un__strbuf *out) {
  tree t = {.p = p, .s = s, .name = un__optab[op].name, .linear = o->linear};
  items list = {0};
  for (size_t i = 0; i < s->variants.n && !p->oom; i++)
    if (un__variant_root_op(s->variants.at[i]) == op) un__pat_push(p, &list, make_item(&t, i));
  if (!list.n || p->oom) return;
  const char *name = un__pat_fmt(p, "m_%s_%s", s->set->name, t.name);
  un__sb_printf(out, "/* %s: %s, %zu variants */\n", s->set->name, t.name, list.n);
  size_t most = t.linear ? LEAVES_A_FUNCTION : LEAVES_A_TREE;
  if (list.n > most)
    in_parts(&t, &list, most, name, out);
  else
    part(&t, &list, 0, list.n, name, out);
}

void un__emit_matchers(un__pat *p, const un__set_code *s, const un__emit_options *o, un__strbuf *out) {
  for (int op = 1; op < UN__POP_COUNT && !p->oom; op++) one_op(p, s, op, o, out);
}
