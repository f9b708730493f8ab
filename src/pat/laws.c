/* laws.c - rules that can never match, rules that undo themselves, rules that change float arithmetic unlicensed. */
#include <string.h>

#include "check.h"
#include "lex.h"

/* ---- contradiction ---- */

static void contradiction(un__pat *p, const un__variant *v, un__pat_loc loc, const char *what) {
  un__pat_error(p, loc, "contradiction", "rule '%s' can never match: %s", v->rule->name, what);
}

static bool ops_clash(const un__variant *v, int a, int b) {
  return v->sites.at[a].op && v->sites.at[b].op && v->sites.at[a].op != v->sites.at[b].op;
}

/* Two constraints of one site. */
static const char *clash(const un__cons *a, const un__cons *b) {
  if (a->kind != b->kind) return NULL;
  if (a->kind == UN__CK_LANES && a->a != b->a) return "a node cannot be both scalar and vector";
  if (a->kind == UN__CK_INT && a->a != b->a) return "a constant has one value";
  if (a->kind == UN__CK_TYPE && !((uint32_t)a->a & (uint32_t)b->a)) return "no dtype is in both classes";
  bool tf = (a->a == UN__SEM_TRUE && b->a == UN__SEM_FALSE) || (a->a == UN__SEM_ZERO && b->a == UN__SEM_ONE) ||
            (a->a == UN__SEM_ZERO && b->a == UN__SEM_MINUS_ONE);
  return a->kind == UN__CK_SEM && tf ? "a constant has one value" : NULL;
}

/* The site that stands for `site` under the SAME constraints. */
static int same_as(const un__variant *v, int site) {
  for (size_t i = 0; i < v->cons.n; i++)
    if (v->cons.at[i].kind == UN__CK_SAME && v->cons.at[i].site == site && v->cons.at[i].site2 < site)
      return same_as(v, v->cons.at[i].site2);
  return site;
}

static bool is_inside(const un__variant *v, int outer, int site) {
  for (site = v->sites.at[site].parent; site >= 0; site = v->sites.at[site].parent)
    if (site == outer) return true;
  return false;
}

void un__check_contradiction(un__pat *p, const un__variant *v) {
  for (size_t i = 0; i < v->cons.n; i++) {
    const un__cons *a = &v->cons.at[i];
    bool same = a->kind == UN__CK_SAME;
    if (same && ops_clash(v, a->site, a->site2)) contradiction(p, v, a->loc, "one node cannot have two operations");
    if (same && (is_inside(v, a->site, a->site2) || is_inside(v, a->site2, a->site)))
      contradiction(p, v, a->loc, "no node is its own source");
    for (size_t k = 0; k < i; k++) {
      const un__cons *b = &v->cons.at[k];
      const char *why = same_as(v, a->site) == same_as(v, b->site) ? clash(a, b) : NULL;
      if (why) contradiction(p, v, a->loc, why);
    }
  }
}

/* ---- self-loop: the right side certainly matches the left side again ---- */

typedef struct fit {
  const un__infer *in;
  const un__rule *r;
  struct {
    const char *name;
    const un__ex *e;
  } bound[32];
  int n;
} fit;

static bool same_ex(const un__ex *a, const un__ex *b) {
  if (a->kind != b->kind || a->op != b->op || a->tok != b->tok || a->sem != b->sem || a->num != b->num ||
      a->fnum != b->fnum)
    return false;
  if ((a->name == NULL) != (b->name == NULL) || (a->name && strcmp(a->name, b->name))) return false;
  if (a->args.n != b->args.n || a->attrs.n != b->attrs.n || a->type || b->type) return false;
  for (size_t i = 0; i < a->args.n; i++)
    if (!same_ex(a->args.at[i], b->args.at[i])) return false;
  for (size_t i = 0; i < a->attrs.n; i++)
    if (!same_ex(a->attrs.at[i], b->attrs.at[i])) return false;
  return true;
}

static bool bind(fit *f, const char *name, const un__ex *e) {
  for (int i = 0; i < f->n; i++)
    if (!strcmp(f->bound[i].name, name)) return same_ex(f->bound[i].e, e);
  if (f->n == 32) return false;
  f->bound[f->n].name = name;
  f->bound[f->n++].e = e;
  return true;
}

static bool fits(fit *f, const un__pn *pn, const un__ex *e);

static bool type_fits(const fit *f, const un__pat_type *t, const un__ex *e) {
  if (!t) return true;
  bool const_ok = !t->is_const || e->kind == UN__EX_CONST || e->kind == UN__EX_SEM || e->kind == UN__EX_INT ||
                  e->kind == UN__EX_FLOAT;
  return const_ok && !t->lanes && !t->var && !(un__infer_mask(f->in, e->tv) & ~t->mask);
}

static bool attrs_fit(const un__pn *pn, const un__ex *e) {
  if (pn->attrs.n && pn->attrs.n != e->attrs.n) return false;
  for (size_t i = 0; i < pn->attrs.n; i++) {
    const un__ex *a = pn->attrs.at[i], *b = e->attrs.at[i];
    bool constant = a->kind == UN__EX_INT || a->kind == UN__EX_UPPER;
    if (constant && !same_ex(a, b)) return false;
  }
  return true;
}

static bool args_fit(fit *f, const un__pn *pn, const un__ex *e, bool swap) {
  for (size_t i = 0; i < pn->args.n; i++)
    if (!fits(f, pn->args.at[i].pat, e->args.at[swap ? 1 - i : i])) return false;
  return true;
}

static bool op_fits(fit *f, const un__pn *pn, const un__ex *e) {
  int op = e->kind == UN__EX_BINARY ? un__infer_binary_op(e->tok) : e->kind == UN__EX_OP ? un__infer_op(f->in, e) : 0;
  const un__phead *h = &pn->heads.at[0];
  int want = h->var ? un__variant_loop_op(f->in->v, h->var) : h->op;
  if (pn->heads.n != 1 || pn->optional || pn->dtype || op != want || pn->args.n != e->args.n || !attrs_fit(pn, e))
    return false;
  for (size_t i = 0; i < pn->args.n; i++)
    if (pn->args.at[i].kind != UN__ARG_ONE || un__infer_kind(f->in, e->args.at[i]) == UN__K_NODES) return false;
  int n = f->n;
  if (args_fit(f, pn, e, e->kind == UN__EX_BINARY && e->tok == UN__T_GT)) return true;
  f->n = n;
  return pn->args.n == 2 && (un__optab[op].flags & UN__PF_COMM) && args_fit(f, pn, e, true);
}

static bool fits(fit *f, const un__pn *pn, const un__ex *e) {
  if (!type_fits(f, pn->type, e) || (pn->bind && !bind(f, pn->bind, e))) return false;
  switch (pn->kind) {
  case UN__PK_WILD:
    return true;
  case UN__PK_NAME:
    return bind(f, pn->name, e);
  case UN__PK_CONST:
    return (e->kind == UN__EX_CONST || e->kind == UN__EX_INT) && bind(f, pn->name, e);
  case UN__PK_SEM:
    return e->kind == UN__EX_SEM && e->sem == pn->sem && pn->sem != UN__SEM_IDENT;
  case UN__PK_INT:
    return e->kind == UN__EX_INT && e->num == pn->expr->num;
  case UN__PK_OP:
    return op_fits(f, pn, e);
  default:
    return false;
  }
}

bool un__check_partial(un__pat *p, const un__ex *e) {
  const un__decl *d = e->kind == UN__EX_CALL ? un__pat_find_decl(p, e->name) : NULL;
  if (e->kind == UN__EX_EVAL || (d && d->partial) || (e->kind == UN__EX_CALL && !d)) return true;
  for (size_t i = 0; i < e->args.n; i++)
    if (un__check_partial(p, e->args.at[i])) return true;
  return false;
}

/* Is `a`, said of what its names became, the guard `b` of what they were? */
static bool same_guard(const fit *f, const un__ex *a, const un__ex *b) {
  if (a->kind == UN__EX_NAME)
    for (int i = 0; i < f->n; i++)
      if (!strcmp(f->bound[i].name, a->name)) {
        const un__ex *e = f->bound[i].e;
        if (e->kind == UN__EX_CONST && e->args.n == 1) e = e->args.at[0]; /* #c: the guard speaks of its number */
        return same_ex(e, b);
      }
  bool same = a->kind == b->kind && a->op == b->op && a->tok == b->tok && a->sem == b->sem && a->num == b->num &&
              a->fnum == b->fnum && a->closed == b->closed && a->args.n == b->args.n && !a->attrs.n && !b->attrs.n &&
              !a->type && !b->type && (a->name == NULL) == (b->name == NULL) && (!a->name || !strcmp(a->name, b->name));
  for (size_t i = 0; same && i < a->args.n; i++) same = same_guard(f, a->args.at[i], b->args.at[i]);
  return same;
}

/* Does every guard hold of the result because some guard held before? */
static bool guards_hold_again(const fit *f) {
  for (size_t i = 0; i < f->r->clauses.n; i++) {
    bool held = false;
    for (size_t k = 0; k < f->r->clauses.n && !held; k++)
      held = same_guard(f, f->r->clauses.at[i].expr, f->r->clauses.at[k].expr);
    if (f->r->clauses.at[i].is_let || !held) return false;
  }
  return true;
}

void un__check_self_loop(un__pat *p, const un__rule *r, const un__infer *in) {
  if (!r->rhs || un__check_partial(p, r->rhs)) return;
  fit f = {.in = in, .r = r};
  bool root_again = r->rhs->kind == UN__EX_NAME &&
                    (!strcmp(r->rhs->name, "root") || (r->lhs->bind && !strcmp(r->lhs->bind, r->rhs->name)));
  if (!root_again && (!fits(&f, r->lhs, r->rhs) || !guards_hold_again(&f))) return;
  un__diag *d = un__pat_error(p, r->rhs->loc, "self-loop", "rule '%s' matches what it makes", r->name);
  un__pat_note_plain(p, d, "it would fire until the fuel is gone; add a guard that its result breaks");
}

/* ---- attributes that get lost ---- */

/* Does the left side accept any value of an attribute, at a node of this op? */
static const un__site *accepts_any(const un__variant *v, int op, uint32_t word) {
  for (size_t s = 0; s < v->sites.n; s++) {
    bool looked_at = v->sites.at[s].op != op;
    for (size_t i = 0; i < v->cons.n && !looked_at; i++) {
      const un__cons *c = &v->cons.at[i];
      bool attr = c->kind == UN__CK_ATTR || c->kind == UN__CK_ATTR_EQ || c->kind == UN__CK_INTS_EQ;
      looked_at = attr && c->site == (int)s && (uint32_t)c->a == word;
    }
    for (size_t i = 0; i < v->caps.n && !looked_at; i++) {
      const un__cap *c = &v->caps.at[i];
      looked_at = (c->kind == UN__CAP_WORD || c->kind == UN__CAP_INTS) && c->site == (int)s && c->index == word;
    }
    if (!looked_at) return &v->sites.at[s];
  }
  return NULL;
}

/* Is the attribute read somewhere: attr(x, name)? Then the rule knows about it. */
static bool reads_attr(const un__ex *e, const char *name) {
  if (e->kind == UN__EX_CALL && !strcmp(e->name, "attr") && e->args.n == 2 && e->args.at[1]->kind == UN__EX_NAME &&
      !strcmp(e->args.at[1]->name, name))
    return true;
  for (size_t i = 0; i < e->args.n; i++)
    if (reads_attr(e->args.at[i], name)) return true;
  for (size_t i = 0; i < e->attrs.n; i++)
    if (reads_attr(e->attrs.at[i], name)) return true;
  return false;
}

static bool rule_reads_attr(const un__rule *r, const char *name) {
  for (size_t i = 0; i < r->clauses.n; i++)
    if (reads_attr(r->clauses.at[i].expr, name)) return true;
  return reads_attr(r->rhs, name);
}

static void dropped_attr(un__pat *p, const un__rule *r, const un__infer *in, const un__ex *e) {
  int op = e->kind == UN__EX_OP ? un__infer_op(in, e) : 0;
  const un__oprow *row = &un__optab[op > 0 ? op : 0];
  for (uint32_t i = 0; op > 0 && i < e->attrs.n && i < un__optab_nattr(row); i++) {
    const un__ex *a = e->attrs.at[i];
    bool fixed = a->kind == UN__EX_INT || a->kind == UN__EX_UPPER;
    if (!fixed || rule_reads_attr(r, row->attr[i].name) || !accepts_any(in->v, op, un__optab_attr_word(row, i)))
      continue;
    un__diag *d =
        un__pat_warn(p, a->loc, "dropped-attr", "%s is rebuilt with a fixed '%s', but the left side accepts any",
                     row->name, row->attr[i].name);
    un__pat_note_plain(p, d, "bind it on the left and pass it on, or write the value that is meant there too");
  }
  for (size_t i = 0; i < e->args.n; i++) dropped_attr(p, r, in, e->args.at[i]);
}

void un__check_dropped_attr(un__pat *p, const un__rule *r, const un__infer *in) {
  if (r->rhs) dropped_attr(p, r, in, r->rhs);
}

/* ---- licences ---- */

enum { LIC_NSZ = 8, LIC_NNAN = 16, LIC_REASSOC = 64 };

static bool may_be_float(const un__infer *in, int tv) {
  return (un__infer_mask(in, tv) & un__optab_class("float")) != 0;
}

static void unlicensed(un__pat *p, const un__rule *r, const char *licence, const char *why) {
  un__diag *d = un__pat_error(p, r->loc, "fp-licence", "on floats rule '%s' %s", r->name, why);
  un__pat_note_plain(p, d, "write @fp(%s), or exclude floats on the left: ':!float'", licence);
}

static bool arithmetic(int op) {
  static const int ops[] = {UN__POP_ADD, UN__POP_SUB, UN__POP_MUL, UN__POP_FDIV};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (ops[i] == op) return true;
  return false;
}

static int count_op_ex(const un__infer *in, const un__ex *e, int op) {
  int n = (e->kind == UN__EX_OP || e->kind == UN__EX_EVAL) && un__infer_op(in, e) == op;
  n += e->kind == UN__EX_BINARY && un__infer_binary_op(e->tok) == op;
  for (size_t i = 0; i < e->args.n; i++) n += count_op_ex(in, e->args.at[i], op);
  return n;
}

/* ADD of an ADD, MUL of a MUL on the left, and the op again on the right: the grouping changes. */
static bool regroups(const un__infer *in, const un__rule *r) {
  const un__variant *v = in->v;
  for (size_t i = 1; i < v->sites.n; i++) {
    int parent = v->sites.at[i].parent, op = v->sites.at[i].op;
    if ((op != UN__POP_ADD && op != UN__POP_MUL) || v->sites.at[parent].op != op || !may_be_float(in, parent)) continue;
    if (count_op_ex(in, r->rhs, op)) return true;
  }
  return false;
}

/* Is the right side a constant, whatever the unknown operands are? */
static bool is_constant(const un__infer *in, const un__ex *e) {
  const un__name *n = e->kind == UN__EX_NAME ? un__infer_name(in, e->name) : NULL;
  if (n && n->cap && in->v->sites.at[n->cap->site].op == UN__POP_CONST) return true;
  return e->kind == UN__EX_CONST || e->kind == UN__EX_SEM || e->kind == UN__EX_INT || e->kind == UN__EX_FLOAT;
}

static bool unknown_operand(const un__variant *v) {
  for (size_t i = 1; i < v->sites.n; i++)
    if (v->sites.at[i].parent == 0 && v->sites.at[i].op != UN__POP_CONST) return true;
  return false;
}

/* x + 0 -> x: -0.0 + +0.0 is +0.0. */
static bool adds_zero(const un__variant *v, const un__rule *r) {
  if (v->sites.at[0].op != UN__POP_ADD || r->rhs->kind != UN__EX_NAME) return false;
  for (size_t i = 0; i < v->cons.n; i++) {
    const un__cons *c = &v->cons.at[i];
    if (c->kind == UN__CK_SEM && c->a == UN__SEM_ZERO && v->sites.at[c->site].parent == 0) return true;
  }
  return false;
}

void un__check_licence(un__pat *p, const un__rule *r, const un__infer *in) {
  const un__variant *v = in->v;
  if (!r->rhs || p->oom) return;
  if (!(r->licences & LIC_REASSOC) && regroups(in, r)) unlicensed(p, r, "reassoc", "changes the order of rounding");
  bool folds = r->rhs->kind == UN__EX_EVAL;
  if (!may_be_float(in, 0) || folds) return;
  if (!(r->licences & LIC_NSZ) && adds_zero(v, r)) unlicensed(p, r, "nsz", "turns the sum of -0.0 and 0.0 into -0.0");
  if (!(r->licences & LIC_NNAN) && arithmetic(v->sites.at[0].op) && is_constant(in, r->rhs) && unknown_operand(v))
    unlicensed(p, r, "nnan", "gives a number where an operand may be NaN");
}
