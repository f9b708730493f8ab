/* overlap.c - rules of one set that accept the same nodes: copies, rules that can never fire, and (a warning) rules of
 * which neither contains the other.
 *
 * Variants are compared as sets of constraints on paths. Constraint lists only ever narrow, so "every constraint of a
 * follows from one of b's" means that a accepts every node that b accepts. */
#include <string.h>

#include "check.h"

typedef struct entry {
  const un__variant *v;
  size_t rule;
  int *site;      /* variant's site -> path number */
  uint32_t *mask; /* scalars that each site can have, by inference */
} entry;

typedef struct path {
  int parent;
  uint32_t index;
} path;

typedef struct overlaps {
  un__pat *p;
  const un__ruleset_ast *set;
  un__rule **rules;
  size_t n;
  UN__VEC(path) paths;
  UN__VEC(entry) entries;
  size_t *first; /* per rule: its first entry; first[n] ends the last */
} overlaps;

static int path_of(overlaps *o, int parent, uint32_t index) {
  for (size_t i = 0; i < o->paths.n; i++)
    if (o->paths.at[i].parent == parent && o->paths.at[i].index == index) return (int)i;
  path x = {parent, index};
  return un__pat_push(o->p, &o->paths, x) ? (int)o->paths.n - 1 : 0;
}

static void add_rule(overlaps *o, size_t i) {
  un__variants vs = {0};
  o->first[i] = o->entries.n;
  un__pat_lower(o->p, o->rules[i], &vs);
  for (size_t k = 0; k < vs.list.n && !o->p->oom; k++) {
    const un__variant *v = vs.list.at[k];
    entry e = {.v = v, .rule = i, .site = un__pat_alloc(o->p, (v->sites.n + 1) * sizeof *e.site)};
    for (size_t s = 0; s < v->sites.n && !o->p->oom; s++)
      e.site[s] = path_of(o, s ? e.site[v->sites.at[s].parent] : -1, v->sites.at[s].index);
    e.mask = un__pat_alloc(o->p, (v->sites.n + 1) * sizeof *e.mask);
    un__infer in;
    if (!o->p->oom) un__pat_infer(o->p, v, &in);
    for (size_t s = 0; s < v->sites.n && !o->p->oom; s++) e.mask[s] = un__infer_mask(&in, (int)s);
    un__pat_push(o->p, &o->entries, e);
  }
}

/* ---- implication between constraints ---- */

static bool follows(const entry *a, const un__cons *x, const entry *b, const un__cons *y) {
  if (a->site[x->site] != b->site[y->site]) return false;
  bool same = x->kind == y->kind && x->a == y->a && x->b == y->b && !memcmp(&x->f, &y->f, sizeof x->f);
  bool two = x->kind == UN__CK_SAME || x->kind == UN__CK_SAME_CONST || x->kind == UN__CK_ATTR_EQ ||
             x->kind == UN__CK_INTS_EQ || x->kind == UN__CK_DTYPE_EQ || x->kind == UN__CK_SPAN_EQ;
  if (two) return same && a->site[x->site2] == b->site[y->site2];
  if (x->kind == UN__CK_TYPE && y->kind == UN__CK_TYPE) return !((uint32_t)y->a & ~(uint32_t)x->a);
  if (x->kind == UN__CK_NSRC && y->kind == UN__CK_NSRC) return x->b ? y->a >= x->a : same;
  if (x->kind == UN__CK_SEM && x->a == UN__SEM_ZERO && y->kind == UN__CK_INT) return y->a == 0;
  return same;
}

/* Is a's type test at a path met by what b's sites can be there? */
static bool type_follows(const entry *a, const un__cons *x, const entry *b) {
  for (size_t s = 0; x->kind == UN__CK_TYPE && s < b->v->sites.n; s++)
    if (b->site[s] == a->site[x->site] && !(b->mask[s] & ~(uint32_t)x->a)) return true;
  return false;
}

/* Does a accept every node that b accepts? */
static bool contains(const entry *a, const entry *b) {
  for (size_t i = 0; i < a->v->cons.n; i++) {
    bool found = type_follows(a, &a->v->cons.at[i], b);
    for (size_t k = 0; k < b->v->cons.n && !found; k++) found = follows(a, &a->v->cons.at[i], b, &b->v->cons.at[k]);
    if (!found) return false;
  }
  return true;
}

static bool clash(const entry *a, const un__cons *x, const entry *b, const un__cons *y) {
  if (a->site[x->site] != b->site[y->site] || x->kind != y->kind) return false;
  switch (x->kind) {
  case UN__CK_OP:
  case UN__CK_INT:
  case UN__CK_LANES:
    return x->a != y->a;
  case UN__CK_SEM:
    return x->a != y->a;
  case UN__CK_NSRC:
    return !x->b && !y->b && x->a != y->a;
  case UN__CK_ATTR:
    return x->a == y->a && x->b != y->b;
  case UN__CK_TYPE:
    return !((uint32_t)x->a & (uint32_t)y->a);
  default:
    return false;
  }
}

static bool disjoint(const entry *a, const entry *b) {
  for (size_t i = 0; i < a->v->cons.n; i++)
    for (size_t k = 0; k < b->v->cons.n; k++)
      if (clash(a, &a->v->cons.at[i], b, &b->v->cons.at[k])) return true;
  return false;
}

/* ---- copies ---- */

/* Captures by path, so that renamed rules compare equal. */
static bool same_capture(const entry *a, const char *x, const entry *b, const char *y) {
  const un__cap *c = un__variant_cap(a->v, x), *d = un__variant_cap(b->v, y);
  if (!c || !d) return !c && !d && !strcmp(x, y);
  return c->kind == d->kind && a->site[c->site] == b->site[d->site] && c->index == d->index;
}

static bool same_expr(const entry *a, const un__ex *x, const entry *b, const un__ex *y) {
  if (x->kind != y->kind || x->op != y->op || x->tok != y->tok || x->sem != y->sem || x->num != y->num ||
      x->fnum != y->fnum)
    return false;
  if (x->closed != y->closed || x->args.n != y->args.n || x->attrs.n != y->attrs.n ||
      (x->type == NULL) != (y->type == NULL))
    return false;
  if (x->type && (x->type->mask != y->type->mask || x->type->var || y->type->var || x->type->expr || y->type->expr))
    return false;
  if ((x->name == NULL) != (y->name == NULL)) return false;
  if (x->name && x->kind == UN__EX_NAME ? !same_capture(a, x->name, b, y->name) : x->name && strcmp(x->name, y->name))
    return false;
  for (size_t i = 0; i < x->args.n; i++)
    if (!same_expr(a, x->args.at[i], b, y->args.at[i])) return false;
  for (size_t i = 0; i < x->attrs.n; i++)
    if (!same_expr(a, x->attrs.at[i], b, y->attrs.at[i])) return false;
  return true;
}

static bool copies(const entry *a, const entry *b) {
  const un__rule *r = a->v->rule, *s = b->v->rule;
  if (!r->rhs || !s->rhs || r->clauses.n != s->clauses.n || r->licences != s->licences || !contains(a, b) ||
      !contains(b, a))
    return false;
  for (size_t i = 0; i < r->clauses.n; i++)
    if (r->clauses.at[i].is_let || s->clauses.at[i].is_let ||
        !same_expr(a, r->clauses.at[i].expr, b, s->clauses.at[i].expr))
      return false;
  return same_expr(a, r->rhs, b, s->rhs);
}

/* ---- reports ---- */

static bool always_fires(const un__rule *r) { return !r->may_decline && !r->clauses.n && !r->c_body; }

static bool allowed(const un__rule *r, const un__rule *s) {
  for (size_t i = 0; i < r->overlap_ok.n; i++)
    if (!strcmp(r->overlap_ok.at[i], s->name)) return true;
  return false;
}

/* Is every variant of rule b contained in one of rule a? */
static bool rule_contains(const overlaps *o, size_t a, size_t b) {
  for (size_t k = o->first[b]; k < o->first[b + 1]; k++) {
    bool found = false;
    for (size_t i = o->first[a]; i < o->first[a + 1] && !found; i++)
      found = !o->entries.at[i].v->pins.n && contains(&o->entries.at[i], &o->entries.at[k]);
    if (!found) return false;
  }
  return o->first[b] < o->first[b + 1];
}

static bool rule_meets(const overlaps *o, size_t a, size_t b) {
  for (size_t i = o->first[a]; i < o->first[a + 1]; i++)
    for (size_t k = o->first[b]; k < o->first[b + 1]; k++) {
      const entry *x = &o->entries.at[i], *y = &o->entries.at[k];
      if (un__variant_root_op(x->v) == un__variant_root_op(y->v) && !disjoint(x, y)) return true;
    }
  return false;
}

static bool rule_copies(const overlaps *o, size_t a, size_t b) {
  if (o->first[a] == o->first[a + 1] || o->first[b + 1] - o->first[b] != o->first[a + 1] - o->first[a]) return false;
  for (size_t i = o->first[a]; i < o->first[a + 1]; i++) {
    bool found = false;
    for (size_t k = o->first[b]; k < o->first[b + 1] && !found; k++)
      found = copies(&o->entries.at[i], &o->entries.at[k]);
    if (!found) return false;
  }
  return true;
}

static void compare(overlaps *o, size_t a, size_t b) {
  un__rule *early = o->rules[a], *late = o->rules[b];
  un__diag *d;
  if (rule_copies(o, a, b)) {
    d = un__pat_error(o->p, late->loc, "duplicate", "rule '%s' is a copy of '%s'", late->name, early->name);
    un__pat_note_at(o->p, d, early->loc, "the same rule but for names and order of operands");
  } else if (always_fires(early) && !(early->licences & ~late->licences) && rule_contains(o, a, b)) {
    d = un__pat_error(o->p, late->loc, "shadowed", "rule '%s' can never fire", late->name);
    un__pat_note_at(o->p, d, early->loc, "'%s' comes first and accepts every node this rule accepts", early->name);
  } else if (un__pat_asked(o->p, "overlap") && !allowed(early, late) && !allowed(late, early) &&
             !rule_contains(o, a, b) && !rule_contains(o, b, a) && rule_meets(o, a, b)) {
    d = un__pat_warn(o->p, late->loc, "overlap",
                     "rules '%s' and '%s' accept common nodes, and neither contains the other", early->name,
                     late->name);
    un__pat_note_at(o->p, d, early->loc, "'%s' is tried first; say @overlap(%s) if that is meant", early->name,
                    early->name);
  }
}

void un__check_overlap(un__pat *p, const un__ruleset_ast *s) {
  overlaps *o = un__pat_alloc(p, sizeof *o);
  *o = (overlaps){.p = p, .set = s};
  o->rules = un__pat_set_rules(p, s, &o->n);
  o->first = un__pat_alloc(p, (o->n + 1) * sizeof *o->first);
  for (size_t i = 0; i < o->n && !p->oom; i++) add_rule(o, i);
  if (p->oom) return;
  o->first[o->n] = o->entries.n;
  for (size_t b = 0; b < o->n; b++)
    for (size_t a = 0; a < b && p->errors < UN__PAT_MAX_ERRORS; a++)
      if (o->rules[b]->set == s) compare(o, a, b);
}
