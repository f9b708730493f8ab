/* cycle.c - rules that undo each other: a term exists that two to four rules, each at its root, bring back to itself.
 *
 * Found by narrowing: the right side of a rule is unified with the left side of the next, and the last right side with
 * the first left side. Only rules that certainly fire take part (no guard, a template that cannot decline), so what is
 * reported is a term on which the rules run in a circle. Sources and attributes alike are operands of a term; dtypes
 * are looked at as sets, where they must share a member. */
#include <string.h>

#include "check.h"
#include "lex.h"

enum { MAX_LENGTH = 4, MAX_STEPS = 200000, MAX_OPERANDS = 16 };

typedef enum term_kind { TERM_VAR, TERM_OP, TERM_NUMBER } term_kind;

typedef struct term term;
struct term {
  term_kind kind;
  int op;         /* OP */
  int64_t number; /* NUMBER: of an attribute, or the value of a CONST */
  uint32_t mask;  /* scalars it may have */
  bool is_const;  /* VAR: a constant */
  term *to;       /* VAR: what it stands for */
  int n;
  term *arg[MAX_OPERANDS];
};

/* One reading of a rule. A rule stands at most once in a circle, so its variables need no renaming. */
typedef struct rewriting {
  un__rule *rule;
  const un__variant *v;
  un__infer *in;
  term *left, *right;
} rewriting;

typedef struct search {
  un__pat *p;
  UN__VEC(rewriting) all;
  UN__VEC(term *) trail; /* variables bound, to be undone */
  size_t path[MAX_LENGTH];
  int length, steps;
  bool found;
} search;

static term *new_term(un__pat *p, term_kind kind, uint32_t mask) {
  term *t = un__pat_alloc(p, sizeof *t);
  t->kind = kind;
  t->mask = mask;
  return t;
}

static term *number(un__pat *p, int64_t v) {
  term *t = new_term(p, TERM_NUMBER, UINT32_MAX);
  t->number = v;
  return t;
}

/* ---- rules as terms ---- */

/* A rule being put into terms. `named` are the captures, by their number in the variant. */
typedef struct copy {
  un__pat *p;
  const rewriting *r;
  term **site, **named;
  bool bad; /* the rule is outside of what this file can say */
} copy;

/* Constants with a meaning: 0, 1 and -1 are those numbers, the rest numbers nobody writes. */
static int64_t sem_number(int sem) {
  if (sem == UN__SEM_ZERO || sem == UN__SEM_FALSE) return 0;
  if (sem == UN__SEM_ONE || sem == UN__SEM_TRUE) return 1;
  return sem == UN__SEM_MINUS_ONE ? -1 : INT64_MIN + sem;
}

static term *constant(copy *c, term *value, uint32_t mask) {
  term *t = new_term(c->p, TERM_OP, mask);
  t->op = UN__POP_CONST;
  t->n = 1;
  t->arg[0] = value;
  return t;
}

static term *left_const(copy *c, int site, uint32_t mask) {
  for (size_t i = 0; i < c->r->v->cons.n; i++) {
    const un__cons *k = &c->r->v->cons.at[i];
    if (k->site != site) continue;
    if (k->kind == UN__CK_INT) return constant(c, number(c->p, k->a), mask);
    if (k->kind == UN__CK_FLOAT) c->bad = true;
    if (k->kind == UN__CK_SEM && k->a == UN__SEM_IDENT) c->bad = true;
    if (k->kind == UN__CK_SEM) return constant(c, number(c->p, sem_number((int)k->a)), mask);
    if (k->kind == UN__CK_SAME_CONST) return constant(c, c->site[k->site2]->arg[0], mask);
  }
  return constant(c, new_term(c->p, TERM_VAR, UINT32_MAX), mask);
}

/* The attribute words of a site, as the operands behind its sources. */
static void left_attrs(copy *c, int site, term *t) {
  const un__oprow *row = &un__optab[t->op];
  for (uint32_t w = 0; w < un__optab_nattr(row) && t->n < MAX_OPERANDS; w++) {
    term *value = new_term(c->p, TERM_VAR, UINT32_MAX);
    for (size_t i = 0; i < c->r->v->cons.n; i++) {
      const un__cons *k = &c->r->v->cons.at[i];
      if (k->site == site && k->kind == UN__CK_ATTR && (uint32_t)k->a == w) value = number(c->p, k->b);
      if (k->site == site && (k->kind == UN__CK_ATTR_EQ || k->kind == UN__CK_INTS_EQ)) c->bad = true;
    }
    for (size_t i = 0; i < c->r->v->caps.n; i++) {
      const un__cap *cap = &c->r->v->caps.at[i];
      if (cap->site == site && (cap->kind == UN__CAP_WORD || cap->kind == UN__CAP_INTS) && cap->index == w)
        c->named[i] = value;
    }
    t->arg[t->n++] = value;
  }
}

static bool closed(const un__variant *v, int site, const un__oprow *row) {
  bool fixed = row->min == row->max;
  for (size_t i = 0; i < v->cons.n; i++) {
    const un__cons *k = &v->cons.at[i];
    if (k->site == site && k->kind == UN__CK_NSRC && !k->b) fixed = true;
    if (k->site == site && (k->kind == UN__CK_SPAN_EQ || k->kind == UN__CK_SPAN_CONST || k->kind == UN__CK_SPAN_TYPE))
      return false;
  }
  return fixed;
}

static term *left_term(copy *c, int site) {
  const un__variant *v = c->r->v;
  uint32_t mask = un__infer_mask(c->r->in, site);
  for (size_t i = 0; i < v->cons.n; i++)
    if (v->cons.at[i].kind == UN__CK_SAME && v->cons.at[i].site == site) return c->site[v->cons.at[i].site2];
  int op = v->sites.at[site].op;
  if (op == UN__POP_CONST) return left_const(c, site, mask);
  if (!op) return new_term(c->p, TERM_VAR, mask);
  term *t = new_term(c->p, TERM_OP, mask);
  t->op = op;
  if (!closed(v, site, &un__optab[op])) c->bad = true;
  return t;
}

/* Sites stand after their parents, so a parent's operands are filled in as they come. */
static term *left_side(copy *c) {
  const un__variant *v = c->r->v;
  for (size_t i = 0; i < v->sites.n && !c->bad && !c->p->oom; i++) {
    c->site[i] = left_term(c, (int)i);
    const un__site *s = &v->sites.at[i];
    if (s->parent < 0) continue;
    term *up = c->site[s->parent];
    if (s->index >= MAX_OPERANDS / 2 || up->kind != TERM_OP || up->op == UN__POP_CONST) {
      c->bad = true;
      continue;
    }
    up->arg[s->index] = c->site[i];
    if ((int)s->index >= up->n) up->n = (int)s->index + 1;
  }
  for (size_t i = 0; i < v->sites.n && !c->bad && !c->p->oom; i++) {
    term *t = c->site[i];
    bool own = t->kind == TERM_OP && t->op != UN__POP_CONST && v->sites.at[i].op;
    for (int k = 0; own && k < t->n; k++) c->bad |= !t->arg[k];
    if (own && !c->bad) left_attrs(c, (int)i, t);
  }
  for (size_t i = 0; i < v->caps.n && !c->bad && !c->p->oom; i++)
    if (v->caps.at[i].kind == UN__CAP_NODE || v->caps.at[i].kind == UN__CAP_CONST)
      c->named[i] = c->site[v->caps.at[i].site];
  return c->bad ? NULL : c->site[0];
}

static term *named(copy *c, const char *name) {
  const un__variant *v = c->r->v;
  if (!strcmp(name, "root")) return c->site[0];
  for (size_t i = 0; i < v->caps.n; i++)
    if (!strcmp(v->caps.at[i].name, name)) return c->named[i];
  return NULL;
}

static term *right_attr(copy *c, const un__ex *a, un__pat_ak kind) {
  if (a->kind == UN__EX_INT) return number(c->p, (int64_t)a->num);
  if (a->kind == UN__EX_UPPER)
    return number(c->p, kind == UN__PAK_OP ? un__optab_find(a->name) : un__optab_axis(a->name));
  if (a->kind != UN__EX_NAME) return NULL;
  int loop_op = un__variant_loop_op(c->r->v, a->name);
  return loop_op ? number(c->p, loop_op) : named(c, a->name);
}

static term *right_term(copy *c, const un__ex *e);

static term *right_op(copy *c, const un__ex *e, int op) {
  const un__oprow *row = &un__optab[op];
  bool swap = e->kind == UN__EX_BINARY && e->tok == UN__T_GT;
  term *t = new_term(c->p, TERM_OP, un__infer_mask(c->r->in, e->tv));
  t->op = op;
  if (op <= 0 || e->args.n + e->attrs.n > MAX_OPERANDS ||
      e->attrs.n != (e->kind == UN__EX_OP ? un__optab_nattr(row) : 0)) {
    c->bad = true;
    return t;
  }
  for (size_t i = 0; i < e->args.n; i++) t->arg[t->n++] = right_term(c, e->args.at[swap ? e->args.n - 1 - i : i]);
  for (uint32_t i = 0; i < e->attrs.n; i++) t->arg[t->n++] = right_attr(c, e->attrs.at[i], row->attr[i].kind);
  for (int i = 0; i < t->n; i++) c->bad |= !t->arg[i];
  return t;
}

static term *right_constant(copy *c, const un__ex *e, const un__ex *value) {
  uint32_t mask = un__infer_mask(c->r->in, e->tv);
  if (value->kind == UN__EX_INT) return constant(c, number(c->p, (int64_t)value->num), mask);
  term *t = value->kind == UN__EX_NAME ? named(c, value->name) : NULL;
  return t && t->kind == TERM_OP && t->op == UN__POP_CONST ? constant(c, t->arg[0], mask) : NULL;
}

/* NULL: outside of what terms can say. */
static term *right_term(copy *c, const un__ex *e) {
  if (un__infer_kind(c->r->in, e) == UN__K_NODES || c->p->oom) return NULL;
  switch (e->kind) {
  case UN__EX_NAME:
    return named(c, e->name);
  case UN__EX_SEM:
    if (e->sem == UN__SEM_INVALID) return right_op(c, e, UN__POP_INVALID);
    if (e->sem == UN__SEM_IDENT) return NULL;
    return constant(c, number(c->p, sem_number(e->sem)), un__infer_mask(c->r->in, e->tv));
  case UN__EX_INT:
    return right_constant(c, e, e);
  case UN__EX_CONST:
    return right_constant(c, e, e->args.at[0]);
  case UN__EX_UNARY:
    if (e->args.at[0]->kind == UN__EX_INT)
      return constant(c, number(c->p, -(int64_t)e->args.at[0]->num), un__infer_mask(c->r->in, e->tv));
    return right_op(c, e, e->tok == UN__T_MINUS ? UN__POP_NEG : UN__POP_NOT);
  case UN__EX_BINARY:
    return right_op(c, e, un__infer_binary_op(e->tok));
  case UN__EX_OP:
    return right_op(c, e, un__infer_op(c->r->in, e));
  default:
    return NULL;
  }
}

/* False: the rule cannot be said in terms. */
static bool to_terms(un__pat *p, rewriting *r) {
  copy c = {.p = p, .r = r};
  c.site = un__pat_alloc(p, (r->v->sites.n + 1) * sizeof *c.site);
  c.named = un__pat_alloc(p, (r->v->caps.n + 1) * sizeof *c.named);
  if (p->oom) return false;
  r->left = left_side(&c);
  r->right = r->left ? right_term(&c, r->rule->rhs) : NULL;
  return r->left && r->right && !c.bad && !p->oom;
}

/* ---- unification ---- */

static term *follow(term *t) {
  while (t->kind == TERM_VAR && t->to) t = t->to;
  return t;
}

/* Terms share parts, so looking through one may take long: then it counts as found. */
static bool occurs(search *s, const term *v, term *in) {
  in = follow(in);
  if (in == v || ++s->steps > MAX_STEPS) return true;
  for (int i = 0; i < in->n; i++)
    if (occurs(s, v, in->arg[i])) return true;
  return false;
}

static void undo(search *s, size_t to) {
  while (s->trail.n > to) s->trail.at[--s->trail.n]->to = NULL;
}

static bool unify(search *s, term *a, term *b) {
  a = follow(a), b = follow(b);
  if (a == b) return true;
  if (!(a->mask & b->mask) || ++s->steps > MAX_STEPS) return false;
  bool narrower = a->kind == TERM_VAR && b->kind == TERM_VAR && !(a->mask & ~b->mask);
  if ((a->kind != TERM_VAR && b->kind == TERM_VAR) || narrower) {
    term *t = a;
    a = b, b = t;
  }
  if (a->kind == TERM_VAR) {
    if (occurs(s, a, b)) return false;
    a->to = b;
    return un__pat_push(s->p, &s->trail, a);
  }
  if (a->kind != b->kind || a->op != b->op || a->number != b->number || a->n != b->n) return false;
  for (int i = 0; i < a->n; i++)
    if (!unify(s, a->arg[i], b->arg[i])) return false;
  return true;
}

/* ---- the search ---- */

static void report(search *s) {
  const un__rule *first = s->all.at[s->path[0]].rule, *last = s->all.at[s->path[s->length - 1]].rule;
  un__diag *d = s->length == 2 ? un__pat_error(s->p, last->loc, "cycle", "rules '%s' and '%s' rewrite into each other",
                                               first->name, last->name)
                               : un__pat_error(s->p, last->loc, "cycle", "%d rules rewrite into each other", s->length);
  for (int i = 0; i + 1 < s->length; i++)
    un__pat_note_at(s->p, d, s->all.at[s->path[i]].rule->loc, "'%s' makes what '%s' takes",
                    s->all.at[s->path[i]].rule->name, s->all.at[s->path[i + 1]].rule->name);
  un__pat_note_plain(s->p, d, "put them into different stages, or add a guard that one of the results breaks");
  s->found = true;
}

static void go_on(search *s, term *start, term *now) {
  size_t trail = s->trail.n;
  if (s->length >= 2 && unify(s, now, start)) report(s);
  undo(s, trail);
  if (s->length == MAX_LENGTH || follow(now)->kind == TERM_VAR) return;
  for (size_t i = s->path[0] + 1; i < s->all.n && !s->found && s->steps < MAX_STEPS && !s->p->oom; i++) {
    const rewriting *r = &s->all.at[i];
    bool skip = r->left->op != follow(now)->op;
    for (int k = 0; k < s->length; k++) skip |= s->all.at[s->path[k]].rule == r->rule;
    if (skip) continue;
    if (unify(s, now, r->left)) {
      s->path[s->length++] = i;
      go_on(s, start, r->right);
      s->length--;
    }
    undo(s, trail);
  }
}

/* A rule that fires whenever its left side matches, and whose right side is one of the terms above. */
static bool takes_part(un__pat *p, const un__rule *r) {
  return r->rhs && !r->clauses.n && !r->order && !un__check_partial(p, r->rhs);
}

static void add_rule(search *s, un__rule *r) {
  un__variants vs = {0};
  if (!takes_part(s->p, r)) return;
  un__pat_lower(s->p, r, &vs);
  for (size_t i = 0; i < vs.list.n && !s->p->oom; i++) {
    rewriting one = {.rule = r, .v = vs.list.at[i], .in = un__pat_alloc(s->p, sizeof *one.in)};
    if (one.v->pins.n || s->p->oom) continue;
    un__pat_infer(s->p, one.v, one.in);
    if (to_terms(s->p, &one)) un__pat_push(s->p, &s->all, one);
  }
}

void un__check_cycles(un__pat *p, un__rule *const *rules, size_t n) {
  search s = {.p = p};
  for (size_t i = 0; i < n && !p->oom; i++) add_rule(&s, rules[i]);
  for (size_t i = 0; i < s.all.n && !p->oom && p->errors < UN__PAT_MAX_ERRORS; i++) {
    s.path[0] = i, s.length = 1, s.steps = 0, s.found = false;
    go_on(&s, s.all.at[i].left, s.all.at[i].right);
    undo(&s, 0);
  }
}
