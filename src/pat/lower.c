/* lower.c - rules into variants. Choices (loop ops, alternatives, optional ops, operand orders) are digits of an
 * odometer: the rule is lowered once for every reading. */
#include "lower.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CHOICES = 24, MAX_VARIANTS = 4096, MAX_ORDERS = 16, MAX_SITES = 256 };

typedef struct lowering {
  un__pat *p;
  un__rule *r;
  un__variant *v;
  int digit[MAX_CHOICES], radix[MAX_CHOICES];
  bool is_order[MAX_CHOICES];
  int used, errors0;
} lowering;

static int choose(lowering *lw, int n, bool order) {
  if (n <= 1 || lw->used >= MAX_CHOICES) return 0;
  int k = lw->used++;
  lw->radix[k] = n;
  lw->is_order[k] = order;
  if (!order) un__pat_push(lw->p, &lw->v->shape, lw->digit[k]);
  return lw->digit[k];
}

/* Next reading; false after the last. Later digits turn first. */
static bool turn(lowering *lw) {
  for (int k = lw->used - 1; k >= 0; k--) {
    if (++lw->digit[k] < lw->radix[k]) return true;
    lw->digit[k] = 0;
  }
  return false;
}

static void constrain(lowering *lw, un__cons c) { un__pat_push(lw->p, &lw->v->cons, c); }

static int new_site(lowering *lw, int parent, uint32_t index) {
  if (lw->v->sites.n >= MAX_SITES) {
    un__pat_error(lw->p, lw->r->loc, "blow-up", "the left side of rule '%s' has more than %d nodes", lw->r->name,
                  MAX_SITES);
    return 0;
  }
  un__site s = {.parent = parent, .index = index};
  un__pat_push(lw->p, &lw->v->sites, s);
  return lw->p->oom ? 0 : (int)lw->v->sites.n - 1;
}

const un__cap *un__variant_cap(const un__variant *v, const char *name) {
  for (size_t i = 0; i < v->caps.n; i++)
    if (!strcmp(v->caps.at[i].name, name)) return &v->caps.at[i];
  return NULL;
}

int un__variant_loop_op(const un__variant *v, const char *name) {
  for (size_t i = v->rule->loops.n; i-- > 0;)
    if (!strcmp(v->rule->loops.at[i].var, name) && i < v->loop_ops.n) return v->loop_ops.at[i];
  return 0;
}

/* ---- names ---- */

static void clash(lowering *lw, const un__cap *old, un__pat_loc loc) {
  un__diag *d = un__pat_error(lw->p, loc, "type", "'%s' stands for two different kinds of things", old->name);
  un__pat_note_at(lw->p, d, old->loc, "first here");
}

static void capture(lowering *lw, const char *name, un__cap c) {
  if (!strcmp(name, "_")) return;
  c.name = name;
  if (!strcmp(name, "root")) un__pat_error(lw->p, c.loc, "syntax", "'root' always is the matched node");
  un__pat_push(lw->p, &lw->v->caps, c);
}

static void bind_node(lowering *lw, const char *name, int site, un__pat_loc loc) {
  const un__cap *old = un__variant_cap(lw->v, name);
  if (!old)
    capture(lw, name, (un__cap){.kind = UN__CAP_NODE, .site = site, .loc = loc});
  else if (old->kind == UN__CAP_NODE || old->kind == UN__CAP_CONST)
    constrain(lw, (un__cons){.kind = UN__CK_SAME, .site = site, .site2 = old->site, .loc = loc});
  else
    clash(lw, old, loc);
}

static void bind_const(lowering *lw, const char *name, int site, un__pat_loc loc) {
  const un__cap *old = un__variant_cap(lw->v, name);
  if (!old)
    capture(lw, name, (un__cap){.kind = UN__CAP_CONST, .site = site, .loc = loc});
  else if (old->kind == UN__CAP_CONST)
    constrain(lw, (un__cons){.kind = UN__CK_SAME_CONST, .site = site, .site2 = old->site, .loc = loc});
  else
    clash(lw, old, loc);
}

static void bind_word(lowering *lw, const char *name, un__cap c) {
  const un__cap *old = un__variant_cap(lw->v, name);
  if (!old)
    capture(lw, name, c);
  else if (old->kind != c.kind)
    clash(lw, old, c.loc);
  else
    constrain(lw, (un__cons){.kind = c.kind == UN__CAP_WORD ? UN__CK_ATTR_EQ : UN__CK_INTS_EQ,
                             .site = c.site,
                             .a = c.index,
                             .site2 = old->site,
                             .b = old->index,
                             .loc = c.loc});
}

static void bind_dtype(lowering *lw, const char *name, int site, un__pat_loc loc) {
  const char *key = un__pat_fmt(lw->p, "'%s", name);
  const un__cap *old = un__variant_cap(lw->v, key);
  if (!old)
    capture(lw, key, (un__cap){.kind = UN__CAP_DTYPE, .site = site, .loc = loc});
  else
    constrain(lw, (un__cons){.kind = UN__CK_DTYPE_EQ, .site = site, .site2 = old->site, .loc = loc});
}

static void bind_span(lowering *lw, const char *name, int site, uint32_t from, un__pat_loc loc) {
  const un__cap *old = un__variant_cap(lw->v, name);
  if (!old)
    capture(lw, name, (un__cap){.kind = UN__CAP_SPAN, .site = site, .index = from, .loc = loc});
  else if (old->kind != UN__CAP_SPAN)
    clash(lw, old, loc);
  else
    constrain(
        lw,
        (un__cons){.kind = UN__CK_SPAN_EQ, .site = site, .a = from, .site2 = old->site, .b = old->index, .loc = loc});
}

/* ---- operand orders ---- */

static bool only_consts(const un__pn *pn) {
  if (pn->type && pn->type->is_const) return true;
  if (pn->kind == UN__PK_OP) return pn->heads.n == 1 && pn->heads.at[0].op == UN__POP_CONST && !pn->optional;
  if (pn->kind == UN__PK_SEM) return pn->sem != UN__SEM_INVALID;
  return pn->kind == UN__PK_CONST || pn->kind == UN__PK_INT || pn->kind == UN__PK_FLOAT || pn->kind == UN__PK_PIN;
}

static int count_pattern(const un__pn *pn, const char *name) {
  int n = (pn->bind && !strcmp(pn->bind, name)) + (pn->name && pn->kind != UN__PK_OP && !strcmp(pn->name, name));
  for (size_t i = 0; i < pn->args.n; i++)
    if (pn->args.at[i].pat) n += count_pattern(pn->args.at[i].pat, name);
  return n;
}

static bool mentions(const un__ex *e, const char *name) {
  if (e->kind == UN__EX_NAME && !strcmp(e->name, name)) return true;
  if (e->type && e->type->expr && mentions(e->type->expr, name)) return true;
  for (size_t i = 0; i < e->args.n; i++)
    if (mentions(e->args.at[i], name)) return true;
  for (size_t i = 0; i < e->attrs.n; i++)
    if (mentions(e->attrs.at[i], name)) return true;
  return false;
}

/* A name seen only here, or `_`: whatever it stands for, the rest of the match is the same. */
static bool is_free(const un__rule *r, const un__pn *pn) {
  if (pn->bind ||
      (pn->type && (pn->type->is_const || pn->type->lanes || pn->type->var || pn->type->mask != UINT32_MAX)))
    return false;
  if (pn->kind == UN__PK_WILD) return true;
  if (pn->kind != UN__PK_NAME || count_pattern(r->lhs, pn->name) != 1) return false;
  for (size_t i = 0; i < r->clauses.n; i++)
    if (mentions(r->clauses.at[i].expr, pn->name)) return false;
  return true;
}

/* How many orders of [a, b] must be tried, and whether the only one is the swapped one. Workspaces keep constants
 * last; when the other operand is a constant too, folding sees to it. */
static int orders(const un__rule *r, const un__pn *a, const un__pn *b, bool *swapped) {
  bool ca = only_consts(a), cb = only_consts(b);
  *swapped = ca && !cb;
  if (ca != cb) return 1;
  if (!r->may_decline && is_free(r, a) && is_free(r, b)) return 1;
  return 2;
}

/* ---- patterns ---- */

static void lower_pattern(lowering *lw, const un__pn *pn, int site);

static void lower_type(lowering *lw, const un__pat_type *t, int site) {
  if (!t) return;
  un__cons c = {.site = site, .loc = t->loc};
  if (t->is_const) {
    lw->v->sites.at[site].op = UN__POP_CONST;
    c.kind = UN__CK_OP, c.a = UN__POP_CONST;
    constrain(lw, c);
  }
  if (t->mask != UINT32_MAX) {
    c.kind = UN__CK_TYPE, c.a = t->mask;
    constrain(lw, c);
  }
  if (t->lanes) {
    c.kind = UN__CK_LANES, c.a = t->lanes;
    constrain(lw, c);
  }
  if (t->var) bind_dtype(lw, t->var, site, t->loc);
}

static void fix_op(lowering *lw, int site, int op, un__pat_loc loc) {
  un__site *s = &lw->v->sites.at[site];
  if (s->op && s->op != op)
    un__pat_error(lw->p, loc, "contradiction", "one node cannot be both %s and %s", un__optab[s->op].name,
                  un__optab[op].name);
  if (s->op != op) constrain(lw, (un__cons){.kind = UN__CK_OP, .site = site, .a = op, .loc = loc});
  s->op = op;
}

static void lower_attr(lowering *lw, const un__oprow *row, uint32_t i, const un__ex *e, int site) {
  un__pat_ak ak = row->attr[i].kind;
  uint32_t word = un__optab_attr_word(row, i);
  un__cons c = {.kind = UN__CK_ATTR, .site = site, .a = word, .loc = e->loc};
  if (e->kind == UN__EX_NAME) {
    int loop_op = un__variant_loop_op(lw->v, e->name);
    c.b = loop_op;
    if (loop_op)
      constrain(lw, c);
    else if (strcmp(e->name, "_"))
      bind_word(lw, e->name,
                (un__cap){.kind = ak == UN__PAK_INTS || ak == UN__PAK_NAME ? UN__CAP_INTS : UN__CAP_WORD,
                          .site = site,
                          .index = word,
                          .attr = ak,
                          .loc = e->loc});
    return;
  }
  if (e->kind == UN__EX_INT)
    c.b = (int64_t)e->num;
  else if (e->kind == UN__EX_UNARY && e->args.n && e->args.at[0]->kind == UN__EX_INT)
    c.b = -(int64_t)e->args.at[0]->num;
  else if (e->kind == UN__EX_UPPER)
    c.b = ak == UN__PAK_OP ? un__optab_find(e->name) : ak == UN__PAK_AXIS ? un__optab_axis(e->name) : -1;
  else
    c.b = -1;
  if (e->kind == UN__EX_UPPER && c.b < 0) {
    un__diag *d = un__pat_error(lw->p, e->loc, "bad-attr", "'%s' is no value of attribute '%s' of %s", e->name,
                                row->attr[i].name, row->name);
    un__pat_note_plain(lw->p, d,
                       ak == UN__PAK_OP     ? "it takes an operation"
                       : ak == UN__PAK_AXIS ? "it takes an axis type"
                                            : "it takes a number or a name");
  }
  if (ak == UN__PAK_INTS || ak == UN__PAK_NAME)
    un__pat_error(lw->p, e->loc, "bad-attr", "attribute '%s' of %s can only be bound to a name", row->attr[i].name,
                  row->name);
  constrain(lw, c);
}

static void lower_attrs(lowering *lw, const un__pn *pn, const un__oprow *row, int site) {
  uint32_t n = un__optab_nattr(row);
  const un__ex *only = n == 0 && pn->attrs.n == 1 && row->dtype == UN__PDR_GIVEN ? pn->attrs.at[0] : NULL;
  if (only && only->kind == UN__EX_NAME && !strcmp(only->name, "_")) return; /* CAST<_>: any dtype */
  if (pn->attrs.n > n) {
    un__pat_error(lw->p, pn->attrs.at[n]->loc, "bad-attr", "%s has %u attribute%s, not %zu", row->name, n,
                  n == 1 ? "" : "s", pn->attrs.n);
    return;
  }
  if (pn->attrs.n && pn->attrs.n < n)
    un__pat_error(lw->p, pn->loc, "bad-attr", "%s has %u attributes: write '_' for those that do not matter", row->name,
                  n);
  for (size_t i = 0; i < pn->attrs.n; i++) lower_attr(lw, row, (uint32_t)i, pn->attrs.at[i], site);
  if (pn->dtype && row->dtype != UN__PDR_GIVEN)
    un__pat_error(lw->p, pn->dtype->loc, "bad-attr", "the dtype of %s follows from its sources; use ':'", row->name);
  lower_type(lw, pn->dtype, site);
}

/* Checks the number of operands; true when it is right. Adds the NSRC test where the op leaves it open. */
static bool lower_arity(lowering *lw, const un__pn *pn, const un__oprow *row, int site) {
  size_t fixed = pn->args.n;
  bool open = false;
  for (size_t i = 0; i < pn->args.n; i++) {
    if (pn->args.at[i].kind == UN__ARG_ONE) continue;
    if (i + 1 != pn->args.n) {
      un__pat_error(lw->p, pn->args.at[i].loc, "syntax", "'..' and '*' must come last");
      return false;
    }
    open = true;
    fixed--;
  }
  if (fixed > row->max || (!open && fixed < row->min)) {
    const char *want = row->min == row->max     ? un__pat_fmt(lw->p, "%u", row->min)
                       : row->max == UINT32_MAX ? un__pat_fmt(lw->p, "at least %u", row->min)
                                                : un__pat_fmt(lw->p, "%u to %u", row->min, row->max);
    un__pat_error(lw->p, pn->loc, "arity", "%s takes %s operand%s, not %zu", row->name, want,
                  row->min == 1 && row->max == 1 ? "" : "s", fixed);
    return false;
  }
  if (row->min == row->max || (open && fixed <= row->min)) return true;
  constrain(lw, (un__cons){.kind = UN__CK_NSRC, .site = site, .a = (int64_t)fixed, .b = open, .loc = pn->loc});
  return true;
}

static void lower_rest(lowering *lw, const un__parg *a, int site, uint32_t from) {
  const un__pn *pn = a->pat;
  if (a->kind == UN__ARG_REST) return;
  if ((pn->kind != UN__PK_NAME && pn->kind != UN__PK_WILD) || pn->bind ||
      (pn->type && (pn->type->var || pn->type->lanes))) {
    un__pat_error(lw->p, pn->loc, "syntax", "'*' takes a name, with ':const' or a class of dtypes");
    return;
  }
  if (pn->kind == UN__PK_NAME) bind_span(lw, pn->name, site, from, pn->loc);
  un__cons c = {.kind = UN__CK_SPAN_CONST, .site = site, .a = from, .loc = pn->loc};
  if (pn->type && pn->type->is_const) constrain(lw, c);
  c.kind = UN__CK_SPAN_TYPE;
  c.b = pn->type ? pn->type->mask : UINT32_MAX;
  if (c.b != UINT32_MAX) constrain(lw, c);
}

static void lower_args(lowering *lw, const un__pn *pn, const un__oprow *row, int site) {
  bool swap = false;
  if (pn->any_order) {
    if (!(row->flags & UN__PF_COMM)) {
      un__diag *d = un__pat_error(lw->p, pn->loc, "not-commutative", "%s is not commutative", row->name);
      un__pat_note_plain(lw->p, d, "write %s(...) for operands in this order", row->name);
      return;
    }
    if (pn->args.n == 2 && pn->args.at[0].kind == UN__ARG_ONE && pn->args.at[1].kind == UN__ARG_ONE) {
      int n = orders(lw->r, pn->args.at[0].pat, pn->args.at[1].pat, &swap);
      if (n == 2) swap = choose(lw, 2, true) == 1;
    }
  }
  if (!lower_arity(lw, pn, row, site)) return;
  int kid[2] = {0, 0};
  for (size_t i = 0; i < pn->args.n; i++) {
    const un__parg *a = &pn->args.at[i];
    if (a->kind != UN__ARG_ONE) {
      lower_rest(lw, a, site, (uint32_t)i);
      continue;
    }
    uint32_t index = swap ? (uint32_t)(1 - i) : (uint32_t)i;
    int s = new_site(lw, site, index);
    if (lw->p->oom) return;
    if (pn->any_order && i < 2)
      kid[i] = s;
    else
      lower_pattern(lw, a->pat, s);
  }
  /* Names are bound in the order written, whatever the operands' order is. */
  for (size_t i = 0; pn->any_order && i < pn->args.n && i < 2; i++)
    if (pn->args.at[i].kind == UN__ARG_ONE) lower_pattern(lw, pn->args.at[i].pat, kid[i]);
}

static void lower_op(lowering *lw, const un__pn *pn, int site) {
  const un__phead *h = &pn->heads.at[choose(lw, (int)pn->heads.n, false)];
  int op = h->var ? un__variant_loop_op(lw->v, h->var) : h->op;
  if (op <= 0) return;
  if (pn->optional) {
    const un__oprow *row = &un__optab[op];
    if (pn->args.n != 1 || pn->args.at[0].kind != UN__ARG_ONE || row->min != 1) {
      un__pat_error(lw->p, pn->loc, "arity", "only an operation of one operand can be optional");
      return;
    }
    if (choose(lw, 2, false)) {
      lower_pattern(lw, pn->args.at[0].pat, site);
      return;
    }
  }
  fix_op(lw, site, op, h->loc);
  lower_attrs(lw, pn, &un__optab[op], site);
  lower_args(lw, pn, &un__optab[op], site);
}

static void lower_const(lowering *lw, const un__pn *pn, int site) {
  un__cons c = {.site = site, .loc = pn->loc};
  if (pn->kind == UN__PK_SEM && pn->sem == UN__SEM_INVALID) {
    fix_op(lw, site, UN__POP_INVALID, pn->loc);
    return;
  }
  fix_op(lw, site, UN__POP_CONST, pn->loc);
  if (pn->kind == UN__PK_CONST) {
    bind_const(lw, pn->name, site, pn->loc);
  } else if (pn->kind == UN__PK_PIN) {
    un__pat_pin pin = {un__pat_fmt(lw->p, "pin%zu", lw->v->pins.n), pn->expr};
    capture(lw, pin.cap, (un__cap){.kind = UN__CAP_CONST, .site = site, .loc = pn->loc, .hidden = true});
    un__pat_push(lw->p, &lw->v->pins, pin);
  } else if (pn->kind == UN__PK_SEM) {
    c.kind = UN__CK_SEM, c.a = pn->sem;
    c.b = pn->sem == UN__SEM_ZERO && (lw->r->licences & UN__PAT_NSZ);
    const un__ex *of = pn->sem == UN__SEM_IDENT && pn->expr->args.n ? pn->expr->args.at[0] : NULL;
    if (of)
      c.b = of->kind == UN__EX_NAME    ? un__variant_loop_op(lw->v, of->name)
            : of->kind == UN__EX_UPPER ? un__optab_find(of->name)
                                       : 0;
    if (of && c.b <= 0) un__pat_error(lw->p, pn->loc, "unknown-op", "@ident takes an operation");
    constrain(lw, c);
  } else {
    c.kind = pn->kind == UN__PK_INT ? UN__CK_INT : UN__CK_FLOAT;
    c.a = (int64_t)pn->expr->num;
    c.f = pn->expr->fnum;
    constrain(lw, c);
  }
}

static void lower_pattern(lowering *lw, const un__pn *pn, int site) {
  if (lw->p->oom) return;
  if (pn->kind == UN__PK_NAME)
    bind_node(lw, pn->name, site, pn->loc);
  else if (pn->kind == UN__PK_OP)
    lower_op(lw, pn, site);
  else if (pn->kind != UN__PK_WILD)
    lower_const(lw, pn, site);
  if (pn->bind) bind_node(lw, pn->bind, site, pn->bind_loc);
  lower_type(lw, pn->type, site);
}

/* ---- rules ---- */

static bool lower_once(lowering *lw) {
  lw->used = 0;
  lw->v = un__pat_alloc(lw->p, sizeof *lw->v);
  lw->v->rule = lw->r;
  for (size_t i = 0; i < lw->r->loops.n; i++) {
    const un__opset *s = lw->r->loops.at[i].set;
    if (!s->ops.n) return false;
    int op = s->ops.at[choose(lw, (int)s->ops.n, false)];
    un__pat_push(lw->p, &lw->v->loop_ops, op);
  }
  new_site(lw, -1, 0);
  if (lw->p->oom) return false;
  lower_pattern(lw, lw->r->lhs, 0);
  if (!lw->p->oom && lw->p->errors == (uint32_t)lw->errors0 && !un__variant_root_op(lw->v))
    un__pat_error(lw->p, lw->r->lhs->loc, "syntax", "the left side must start with an operation or a constant");
  return !lw->p->oom;
}

static bool too_many(lowering *lw) {
  int n = 1;
  for (int k = 0; k < lw->used; k++)
    if (lw->is_order[k]) n *= 2;
  if (n <= MAX_ORDERS) return false;
  un__pat_error(lw->p, lw->r->loc, "blow-up", "rule '%s' stands for %d operand orders; %d are allowed", lw->r->name, n,
                MAX_ORDERS);
  return true;
}

void un__pat_lower(un__pat *p, un__rule *r, un__variants *out) {
  lowering *lw = un__pat_alloc(p, sizeof *lw);
  if (p->oom) return; /* the reserve holds one thing at a time */
  *lw = (lowering){.p = p, .r = r, .errors0 = (int)p->errors};
  size_t first = out->list.n;
  do {
    if (!lower_once(lw) || p->errors != (uint32_t)lw->errors0 || too_many(lw)) break;
    un__pat_push(p, &out->list, lw->v);
    if (lw->used >= MAX_CHOICES || out->list.n - first > MAX_VARIANTS) {
      un__pat_error(p, r->loc, "blow-up", "rule '%s' stands for too many variants", r->name);
      break;
    }
  } while (turn(lw));
  if (p->errors != (uint32_t)lw->errors0) out->list.n = first;
}

un__rule **un__pat_set_rules(un__pat *p, const un__ruleset_ast *s, size_t *out_n) {
  UN__VEC(const un__ruleset_ast *) order = {0};
  UN__VEC(un__rule *) rules = {0};
  /* Depth-first over bases, each set once; bases are defined before their users, so there are no cycles. */
  UN__VEC(const un__ruleset_ast *) stack = {0};
  un__pat_push(p, &stack, s);
  while (stack.n && !p->oom) {
    const un__ruleset_ast *top = stack.at[stack.n - 1];
    const un__ruleset_ast *next = NULL;
    for (size_t i = 0; i < top->bases.n && !next; i++) {
      bool done = false;
      for (size_t k = 0; k < order.n; k++) done |= order.at[k] == top->bases.at[i];
      if (!done) next = top->bases.at[i];
    }
    if (next) {
      un__pat_push(p, &stack, next);
      continue;
    }
    stack.n--;
    un__pat_push(p, &order, top);
    for (size_t i = 0; i < top->rules.n; i++) un__pat_push(p, &rules, top->rules.at[i]);
  }
  *out_n = p->oom ? 0 : rules.n;
  return rules.at;
}
