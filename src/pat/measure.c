/* measure.c - does a stage end? Its `order` names measures; every firing must lower the first one that it changes.
 *
 * A measure counts nodes: `nodes(FLOORDIV, FLOORMOD)` those operations, `nodes(*)` all. Both sides of a rule are
 * counted as polynomials over what the rule does not see: nodes known by operation, and how often each captured subtree
 * stands there. When no subtree stands more often on the right, the difference is that of the known nodes, whatever the
 * subtrees are, and a rewriting inside a larger term lowers the measure of the whole. */
#include <string.h>

#include "check.h"
#include "lex.h"

/* Captured things: sites by number, then lists of sources. */
enum { MAX_SPANS = 16, MAX_CALLS = 16 };

typedef struct count {
  int op[UN__POP_COUNT];
  int *site;             /* v->sites.n + MAX_SPANS: sites whose operation is not known, then lists */
  const un__ex *unknown; /* something of unknown size */
} count;

typedef struct binding { /* a `let`, or a parameter of a function whose body is being counted */
  const char *name;
  const count *value;
} binding;

typedef struct counting {
  un__pat *p;
  const un__infer *in;
  const un__variant *v;
  UN__VEC(const un__cap *) spans;
  UN__VEC(binding) bound;
  size_t visible; /* bindings before this one belong to a caller */
  int calls;
} counting;

static count *zero(counting *c) {
  count *k = un__pat_alloc(c->p, sizeof *k);
  k->site = un__pat_alloc(c->p, (c->v->sites.n + MAX_SPANS) * sizeof *k->site);
  return k;
}

static void add(const counting *c, count *to, const count *k) {
  if (c->p->oom) return;
  for (int i = 0; i < UN__POP_COUNT; i++) to->op[i] += k->op[i];
  for (size_t i = 0; i < c->v->sites.n + MAX_SPANS; i++) to->site[i] += k->site[i];
  if (!to->unknown) to->unknown = k->unknown;
}

/* The larger of two, count by count: what a choice made at match time is worth. */
static void widen(const counting *c, count *to, const count *k) {
  if (c->p->oom) return;
  for (int i = 0; i < UN__POP_COUNT; i++) to->op[i] = k->op[i] > to->op[i] ? k->op[i] : to->op[i];
  for (size_t i = 0; i < c->v->sites.n + MAX_SPANS; i++)
    to->site[i] = k->site[i] > to->site[i] ? k->site[i] : to->site[i];
  if (!to->unknown) to->unknown = k->unknown;
}

/* ---- the left side ---- */

static int representative(const un__variant *v, int site) {
  for (size_t i = 0; i < v->cons.n; i++)
    if (v->cons.at[i].kind == UN__CK_SAME && v->cons.at[i].site == site && v->cons.at[i].site2 < site)
      return representative(v, v->cons.at[i].site2);
  return site;
}

static int span_index(const counting *c, const un__cap *cap) {
  for (size_t i = 0; i < c->spans.n; i++)
    if (c->spans.at[i] == cap) return (int)(c->v->sites.n + i);
  return (int)c->v->sites.n;
}

/* The lists of a site: captured there, or equal to one captured elsewhere. */
static void add_spans(const counting *c, int site, count *to) {
  for (size_t i = 0; i < c->spans.n; i++) {
    const un__cap *cap = c->spans.at[i];
    to->site[c->v->sites.n + i] += cap->site == site;
    for (size_t k = 0; k < c->v->cons.n; k++) {
      const un__cons *x = &c->v->cons.at[k];
      to->site[c->v->sites.n + i] += x->kind == UN__CK_SPAN_EQ && x->site == site && x->site2 == cap->site;
    }
  }
}

static void add_site(const counting *c, int site, count *to) {
  site = representative(c->v, site);
  int op = c->v->sites.at[site].op;
  if (!op) {
    to->site[site]++;
    return;
  }
  to->op[op]++;
  add_spans(c, site, to);
  for (size_t i = (size_t)site + 1; i < c->v->sites.n; i++)
    if (c->v->sites.at[i].parent == site) add_site(c, (int)i, to);
}

/* ---- the right side ---- */

static void add_ex(counting *c, const un__ex *e, count *to);

static const count *bound_to(const counting *c, const char *name) {
  for (size_t i = c->bound.n; i-- > c->visible;)
    if (!strcmp(c->bound.at[i].name, name)) return c->bound.at[i].value;
  return NULL;
}

static void add_name(counting *c, const un__ex *e, count *to) {
  const count *k = bound_to(c, e->name);
  const un__cap *cap = c->calls ? NULL : un__variant_cap(c->v, e->name);
  if (k)
    add(c, to, k);
  else if (!c->calls && !strcmp(e->name, "root"))
    add_site(c, 0, to);
  else if (cap && cap->kind == UN__CAP_SPAN)
    to->site[span_index(c, cap)]++;
  else if (cap && (cap->kind == UN__CAP_NODE || cap->kind == UN__CAP_CONST))
    add_site(c, cap->site, to);
}

/* A function with a body stands for that body. */
static void add_own_call(counting *c, const un__decl *d, const un__ex *e, count *to) {
  size_t visible = c->visible, n = c->bound.n;
  UN__VEC(binding) args = {0};
  for (size_t i = 0; i < e->args.n && i < d->params.n; i++) {
    binding b = {d->params.at[i].name, NULL};
    if (d->params.at[i].kind == UN__K_NODE || d->params.at[i].kind == UN__K_NODES) {
      count *k = zero(c);
      add_ex(c, e->args.at[i], k);
      b.value = k;
      un__pat_push(c->p, &args, b);
    }
  }
  c->visible = n;
  for (size_t i = 0; i < args.n; i++) un__pat_push(c->p, &c->bound, args.at[i]);
  c->calls++;
  if (c->calls <= MAX_CALLS)
    add_ex(c, d->body, to);
  else
    to->unknown = e;
  c->calls--;
  c->bound.n = n;
  c->visible = visible;
}

static void add_call(counting *c, const un__ex *e, count *to) {
  const un__decl *d = un__pat_find_decl(c->p, e->name);
  bool list = !strcmp(e->name, "first") || !strcmp(e->name, "rest"), dtype = !strcmp(e->name, "with_dtype");
  if (d && d->body)
    add_own_call(c, d, e, to);
  else if (!d && (list || dtype) && e->args.n)
    add_ex(c, e->args.at[0], to); /* at most all of it */
  else if (!to->unknown)
    to->unknown = e;
}

static void add_choice(counting *c, const un__ex *e, count *to) {
  count *a = zero(c), *b = zero(c);
  add_ex(c, e->args.at[1], a);
  add_ex(c, e->args.at[2], b);
  widen(c, a, b);
  add(c, to, a);
}

static void add_ex(counting *c, const un__ex *e, count *to) {
  if (c->p->oom) return;
  int op = 0;
  switch (e->kind) {
  case UN__EX_NAME:
    add_name(c, e, to);
    return;
  case UN__EX_CALL:
    add_call(c, e, to);
    return;
  case UN__EX_SEM:
    to->op[e->sem == UN__SEM_INVALID ? UN__POP_INVALID : UN__POP_CONST]++;
    return;
  case UN__EX_EVAL:
  case UN__EX_INT:
  case UN__EX_FLOAT:
  case UN__EX_CONST:
    to->op[UN__POP_CONST]++;
    return;
  case UN__EX_COND:
    if (un__infer_kind(c->in, e->args.at[0]) == UN__K_INT) {
      add_choice(c, e, to);
      return;
    }
    op = UN__POP_WHERE;
    break;
  case UN__EX_UNARY:
    if (e->args.at[0]->kind == UN__EX_INT || e->args.at[0]->kind == UN__EX_FLOAT) break; /* a negative constant */
    op = e->tok == UN__T_MINUS ? UN__POP_NEG : UN__POP_NOT;
    break;
  case UN__EX_BINARY:
    op = un__infer_binary_op(e->tok);
    break;
  case UN__EX_OP:
    op = un__infer_op(c->in, e);
    break;
  default:
    break;
  }
  if (op > 0) to->op[op]++;
  for (size_t i = 0; i < e->args.n; i++) add_ex(c, e->args.at[i], to);
}

/* ---- the comparison ---- */

static const char *measure_text(un__pat *p, const un__measure *m) {
  if (m->all) return "nodes(*)";
  const char *s = "";
  for (size_t i = 0; i < m->ops.n; i++) s = un__pat_fmt(p, "%s%s%s", s, i ? ", " : "", un__optab[m->ops.at[i]].name);
  return un__pat_fmt(p, "nodes(%s)", s);
}

static int change(const counting *c, const un__measure *m, const count *left, const count *right) {
  int d = 0;
  for (int i = 1; m->all && i < UN__POP_COUNT; i++) d += right->op[i] - left->op[i];
  for (size_t i = 0; m->all && i < c->v->sites.n + MAX_SPANS; i++) {
    bool has_a_node = i < c->v->sites.n; /* a list may be empty */
    d += has_a_node ? right->site[i] - left->site[i] : 0;
  }
  for (size_t i = 0; i < m->ops.n; i++) d += right->op[m->ops.at[i]] - left->op[m->ops.at[i]];
  return d;
}

/* NULL: the rule lowers the order. Else what is wrong. */
static const char *fault(const counting *c, const un__stage_ast *s, const count *left, const count *right) {
  if (right->unknown) return "what its right side calls may be of any size";
  for (size_t i = 0; i < c->v->sites.n + MAX_SPANS; i++)
    if (right->site[i] > left->site[i]) return "something captured stands on the right more often than on the left";
  for (size_t i = 0; i < s->order.n; i++) {
    int d = change(c, &s->order.at[i], left, right);
    if (d < 0) return NULL;
    if (d > 0) return un__pat_fmt(c->p, "%s grows by %d", measure_text(c->p, &s->order.at[i]), d);
  }
  return "no measure changes";
}

static const char *variant_fault(un__pat *p, const un__stage_ast *s, const un__variant *v) {
  un__infer in;
  un__pat_infer(p, v, &in);
  counting c = {.p = p, .in = &in, .v = v};
  for (size_t i = 0; i < v->caps.n && c.spans.n < MAX_SPANS; i++)
    if (v->caps.at[i].kind == UN__CAP_SPAN) un__pat_push(p, &c.spans, &v->caps.at[i]);
  count *left = zero(&c), *right = zero(&c);
  if (p->oom) return NULL;
  add_site(&c, 0, left);
  for (size_t i = 0; i < v->rule->clauses.n && !p->oom; i++) {
    const un__clause *k = &v->rule->clauses.at[i];
    if (!k->is_let || un__infer_kind(&in, k->expr) != UN__K_NODE) continue;
    count *value = zero(&c);
    add_ex(&c, k->expr, value);
    binding b = {k->name, value};
    un__pat_push(p, &c.bound, b);
  }
  add_ex(&c, v->rule->rhs, right);
  return p->oom ? NULL : fault(&c, s, left, right);
}

static void check_rule(un__pat *p, const un__stage_ast *s, un__rule *r) {
  if (r->order) return;
  const char *why = r->rhs ? NULL : "a C block may build anything";
  un__variants vs = {0};
  if (r->rhs) un__pat_lower(p, r, &vs);
  for (size_t i = 0; i < vs.list.n && !why && !p->oom; i++) why = variant_fault(p, s, vs.list.at[i]);
  if (!why) return;
  un__diag *d = un__pat_error(p, r->loc, "nonterm", "rule '%s' does not lower the order of stage '%s': %s", r->name,
                              s->name, why);
  un__pat_note_at(p, d, s->order.at[0].loc, "the order is declared here");
  un__pat_note_plain(p, d, "say why it ends all the same: @order(\"...\")");
}

void un__check_order(un__pat *p, const un__stage_ast *s) {
  for (size_t i = 0; s->order.n && i < s->uses.n; i++) {
    if (!s->uses.at[i].set) continue;
    size_t n;
    un__rule **rules = un__pat_set_rules(p, s->uses.at[i].set, &n);
    for (size_t k = 0; k < n && !p->oom; k++) check_rule(p, s, rules[k]);
  }
}
