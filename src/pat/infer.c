/* infer.c - see infer.h. Kinds go top down (what the place wants), classes bottom up. */
#include "infer.h"

#include <string.h>

#include "lex.h"

/* ---- classes ---- */

static int find(const un__infer *in, int tv) {
  while (tv >= 0 && in->classes.at[tv].up != tv) tv = in->classes.at[tv].up;
  return tv;
}

/* Lanes may differ where scalars do not: a lane and its vector. */
static int find_scalar(const un__infer *in, int tv) {
  while (tv >= 0 && in->classes.at[tv].scalar_up != tv) tv = in->classes.at[tv].scalar_up;
  return tv;
}

static int new_class(un__infer *in, uint32_t mask, const char *source) {
  int self = (int)in->classes.n;
  un__tclass c = {.up = self, .scalar_up = self, .mask = mask, .source = source, .truth_of = -1};
  return un__pat_push(in->p, &in->classes, c) ? c.up : -1;
}

static const char *mask_text(un__pat *p, uint32_t mask) {
  static const char *const names[] = {"int", "sint", "uint", "float", "index", "bool", "void"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (mask == un__optab_class(names[i])) return names[i];
  const char *s = "";
  for (int i = 0; i < UN__PDT_COUNT; i++)
    if (mask >> i & 1) s = un__pat_fmt(p, "%s%s%s", s, *s ? "|" : "", un__pat_dtype_text[i]);
  if (mask & UN__PAT_PTR) s = un__pat_fmt(p, "%s%sptr", s, *s ? "|" : "");
  return *s ? s : "nothing";
}

static void restrict_to(un__infer *in, int tv, uint32_t mask, un__pat_loc loc) {
  tv = find_scalar(in, tv);
  if (tv < 0) return;
  un__tclass *c = &in->classes.at[tv];
  if (c->mask && !(c->mask & mask))
    un__pat_error(in->p, loc, "type", "a dtype must be both %s and %s here", mask_text(in->p, c->mask),
                  mask_text(in->p, mask));
  c->mask &= mask;
}

static void unify_scalar(un__infer *in, int a, int b, un__pat_loc loc) {
  a = find_scalar(in, a), b = find_scalar(in, b);
  if (a < 0 || b < 0 || a == b) return;
  restrict_to(in, a, in->classes.at[b].mask, loc);
  in->classes.at[b].scalar_up = a;
}

static int unify(un__infer *in, int a, int b, un__pat_loc loc) {
  unify_scalar(in, a, b, loc);
  a = find(in, a), b = find(in, b);
  if (a < 0 || b < 0) return a < 0 ? b : a;
  if (a == b) return a;
  if (b < a) {
    int t = a;
    a = b, b = t;
  }
  un__tclass *x = &in->classes.at[a], *y = &in->classes.at[b];
  if (!x->source) x->source = y->source;
  if (!x->late || (y->late && y->late_no < x->late_no)) x->late = y->late, x->late_no = y->late_no;
  if (x->truth_of < 0) x->truth_of = y->truth_of;
  y->up = a;
  return a;
}

const char *un__infer_whole_dtype(const un__infer *in, int tv) {
  tv = find(in, tv);
  if (tv < 0) return NULL;
  const un__tclass *c = &in->classes.at[tv];
  if (c->source) return c->source;
  if (c->late && c->late_no <= in->lets_made) return c->late;
  if (c->truth_of < 0 || find(in, c->truth_of) == tv) return NULL;
  const char *of = un__infer_dtype(in, c->truth_of);
  return of ? un__pat_fmt(in->p, "un__dt_with_scalar(%s, UN_BOOL)", of) : NULL;
}

const char *un__infer_dtype(const un__infer *in, int tv) {
  const char *whole = un__infer_whole_dtype(in, tv);
  if (whole || find(in, tv) < 0) return whole;
  for (int i = 0; i < UN__PDT_COUNT; i++)
    if (in->classes.at[find_scalar(in, tv)].mask == (uint32_t)1 << i)
      return un__pat_fmt(in->p, "UN__DT(UN_%s)", un__pat_dtype_id[i]);
  return NULL;
}

uint32_t un__infer_mask(const un__infer *in, int tv) {
  tv = find_scalar(in, tv);
  return tv < 0 ? UINT32_MAX : in->classes.at[tv].mask;
}

int un__infer_class(const un__infer *in, int tv) { return find(in, tv); }
int un__infer_scalar_class(const un__infer *in, int tv) { return find_scalar(in, tv); }

bool un__infer_same_scalar(const un__infer *in, int a, int b) {
  return a >= 0 && b >= 0 && find_scalar(in, a) == find_scalar(in, b);
}

void un__infer_learn(un__infer *in, int tv, const char *source) {
  tv = find(in, tv);
  if (tv < 0) return;
  in->classes.at[tv].late = source;
  in->classes.at[tv].late_no = 0;
}

/* ---- names ---- */

const un__name *un__infer_name(const un__infer *in, const char *name) {
  for (size_t i = in->names.n; i-- > 0;)
    if (!strcmp(in->names.at[i].name, name)) return &in->names.at[i];
  return NULL;
}

static void add_name(un__infer *in, un__name n) { un__pat_push(in->p, &in->names, n); }

int un__infer_op(const un__infer *in, const un__ex *e) {
  if (e->op >= 0 && e->op < UN__POP_COUNT) return e->op;
  const un__name *n = e->name ? un__infer_name(in, e->name) : NULL;
  return n && n->kind == UN__K_OP ? n->value : 0;
}

static void unbound(un__infer *in, const un__ex *e) {
  un__diag *d = un__pat_error(in->p, e->loc, "unbound", "'%s' is not bound on the left side", e->name);
  const char *names[128];
  size_t n = 0;
  for (; n < in->names.n && n < 128; n++) names[n] = in->names.at[n].name;
  const char *near = un__pat_nearest(e->name, names, n);
  if (near && *near != '\'') un__pat_note_plain(in->p, d, "did you mean '%s'?", near);
}

/* ---- wanted kinds ---- */

static const char *kind_text(un__kind k) {
  static const char *const names[] = {
      [UN__K_NONE] = "nothing",        [UN__K_INT] = "a number",     [UN__K_NODE] = "a node",
      [UN__K_NODES] = "several nodes", [UN__K_DTYPE] = "a dtype",    [UN__K_INTS] = "an attribute of several numbers",
      [UN__K_OP] = "an operation",     [UN__K_ATTR] = "an attribute"};
  return names[k];
}

static void want(un__infer *in, const un__ex *e, un__kind need, un__kind got) {
  un__pat_error(in->p, e->loc, "type", "this must be %s, but is %s", kind_text(need), kind_text(got));
}

static void walk_int(un__infer *in, un__ex *e);
static int walk_node(un__infer *in, un__ex *e);
static void walk_dtype(un__infer *in, un__ex *e);
static void walk_nodes(un__infer *in, un__ex *e);
static void walk_ints(un__infer *in, un__ex *e);

static int walk_as(un__infer *in, un__ex *e, un__kind k) {
  switch (k) {
  case UN__K_INT:
    walk_int(in, e);
    break;
  case UN__K_NODE:
    return walk_node(in, e);
  case UN__K_NODES:
    walk_nodes(in, e);
    break;
  case UN__K_DTYPE:
    walk_dtype(in, e);
    break;
  case UN__K_INTS:
    walk_ints(in, e);
    break;
  case UN__K_ATTR:
    return walk_as(in, e, un__infer_kind(in, e) == UN__K_INTS ? UN__K_INTS : UN__K_INT);
  case UN__K_OP:
    if (e->kind == UN__EX_UPPER ? un__optab_find(e->name) < 0 : un__infer_kind(in, e) != UN__K_OP)
      want(in, e, k, un__infer_kind(in, e));
    break;
  default:
    break;
  }
  return -1;
}

static void wrong_arguments(un__infer *in, const un__ex *e, size_t n) {
  un__pat_error(in->p, e->loc, "arity", "'%s' takes %zu argument%s, not %zu", e->name, n, n == 1 ? "" : "s", e->args.n);
}

/* attr(x, name): x must be a capture of a known op. */
static void walk_attr_call(un__infer *in, un__ex *e) {
  if (e->args.n != 2 || e->args.at[1]->kind != UN__EX_NAME) {
    un__pat_error(in->p, e->loc, "arity", "'attr' takes a captured node and the name of an attribute");
    return;
  }
  walk_node(in, e->args.at[0]);
  const un__ex *x = e->args.at[0];
  const un__name *n = x->kind == UN__EX_NAME ? un__infer_name(in, x->name) : NULL;
  int op = n && n->cap ? in->v->sites.at[n->cap->site].op : 0;
  if (x->kind == UN__EX_NAME && !strcmp(x->name, "root") && in->v) op = in->v->sites.at[0].op;
  if (!op)
    un__pat_error(in->p, x->loc, "bad-attr",
                  "the operation of this node is not known: bind a pattern with an operation");
  else if (un__optab_attr_by_name(&un__optab[op], e->args.at[1]->name) < 0)
    un__pat_error(in->p, e->args.at[1]->loc, "bad-attr", "%s has no attribute '%s'", un__optab[op].name,
                  e->args.at[1]->name);
}

/* Arguments of a call; the result's class for nodes, else -1. */
static int walk_call(un__infer *in, un__ex *e) {
  const un__decl *d = un__pat_find_decl(in->p, e->name);
  const un__builtin *b = un__infer_builtin(e->name);
  if (d) {
    if (e->args.n != d->params.n) wrong_arguments(in, e, d->params.n);
    for (size_t i = 0; i < e->args.n && i < d->params.n; i++) walk_as(in, e->args.at[i], d->params.at[i].kind);
    return d->result == UN__K_NODE ? new_class(in, UINT32_MAX, NULL) : -1;
  }
  if (!b) {
    un__diag *dg = un__pat_error(in->p, e->loc, "unknown-name", "there is no function '%s'", e->name);
    un__infer_suggest_call(in->p, dg, e->name);
    return -1;
  }
  if (!strcmp(b->name, "attr")) {
    walk_attr_call(in, e);
    return -1;
  }
  if (!strcmp(b->name, "len")) {
    if (e->args.n != 1)
      wrong_arguments(in, e, 1);
    else if (un__infer_kind(in, e->args.at[0]) == UN__K_INTS)
      walk_ints(in, e->args.at[0]);
    else
      walk_nodes(in, e->args.at[0]);
    return -1;
  }
  if (!strcmp(b->name, "with_src")) {
    int tv = e->args.n ? walk_node(in, e->args.at[0]) : -1;
    for (size_t i = 1; i < e->args.n; i++)
      if (un__infer_kind(in, e->args.at[i]) == UN__K_NODES)
        walk_nodes(in, e->args.at[i]);
      else
        walk_node(in, e->args.at[i]);
    (void)tv;
    return new_class(in, UINT32_MAX, NULL);
  }
  size_t n = 0;
  while (n < 4 && b->args[n] != UN__K_NONE) n++;
  if (e->args.n != n) wrong_arguments(in, e, n);
  for (size_t i = 0; i < e->args.n && i < n; i++) {
    bool node_for_dtype = b->args[i] == UN__K_DTYPE && un__infer_kind(in, e->args.at[i]) != UN__K_DTYPE;
    walk_as(in, e->args.at[i], node_for_dtype ? UN__K_NODE : b->args[i]);
  }
  return b->result == UN__K_NODE ? new_class(in, UINT32_MAX, NULL) : -1;
}

static void walk_comparison(un__infer *in, un__ex *e) {
  un__kind a = un__infer_kind(in, e->args.at[0]), b = un__infer_kind(in, e->args.at[1]);
  bool eq = e->tok == UN__T_EQ || e->tok == UN__T_NE;
  un__kind k = a == UN__K_DTYPE || b == UN__K_DTYPE ? UN__K_DTYPE
               : a == UN__K_NODE || b == UN__K_NODE ? UN__K_NODE
                                                    : UN__K_INT;
  if (a == UN__K_OP || b == UN__K_OP) k = UN__K_OP;
  if (k != UN__K_INT && !eq) want(in, e->args.at[0], UN__K_INT, k);
  walk_as(in, e->args.at[0], k);
  walk_as(in, e->args.at[1], k);
}

static bool is_comparison(int tok) { return tok >= UN__T_EQ && tok <= UN__T_GE; }

static void walk_in(un__infer *in, un__ex *e) {
  if (un__infer_kind(in, e->args.at[0]) == UN__K_NODE)
    walk_node(in, e->args.at[0]);
  else
    walk_int(in, e->args.at[0]);
  walk_int(in, e->args.at[1]);
  walk_int(in, e->args.at[2]);
}

static void unknown_upper(un__infer *in, const un__ex *e) {
  un__diag *d = un__pat_error(in->p, e->loc, "unknown-name", "'%s' is neither an operation nor an axis type", e->name);
  const char *names[UN__POP_COUNT + UN__PAXIS_COUNT] = {0};
  for (int i = 1; i < UN__POP_COUNT; i++) names[i] = un__optab[i].name;
  for (int i = 0; i < UN__PAXIS_COUNT; i++) names[UN__POP_COUNT + i] = un__pat_axis_id[i];
  un__pat_suggest(in->p, d, e->name, names, sizeof names / sizeof *names);
}

static void walk_int(un__infer *in, un__ex *e) {
  const un__name *n;
  switch (e->kind) {
  case UN__EX_INT:
    return;
  case UN__EX_NAME:
    n = un__infer_name(in, e->name);
    if (!n)
      unbound(in, e);
    else if (n->kind != UN__K_INT && n->kind != UN__K_OP)
      want(in, e, UN__K_INT, n->kind);
    return;
  case UN__EX_UPPER:
    if (un__optab_axis(e->name) < 0 && un__optab_find(e->name) < 0) unknown_upper(in, e);
    return;
  case UN__EX_UNARY:
    walk_int(in, e->args.at[0]);
    return;
  case UN__EX_BINARY:
    if (is_comparison(e->tok))
      walk_comparison(in, e);
    else
      walk_int(in, e->args.at[0]), walk_int(in, e->args.at[1]);
    return;
  case UN__EX_COND:
    for (size_t i = 0; i < e->args.n; i++) walk_int(in, e->args.at[i]);
    return;
  case UN__EX_IN:
    walk_in(in, e);
    return;
  case UN__EX_CALL: {
    un__kind k = un__infer_kind(in, e);
    walk_call(in, e);
    if (k != UN__K_INT && k != UN__K_NONE) want(in, e, UN__K_INT, k);
    return;
  }
  default:
    want(in, e, UN__K_INT, un__infer_kind(in, e));
  }
}

static void walk_dtype(un__infer *in, un__ex *e) {
  if (e->kind == UN__EX_TYPE) {
    if (!e->type->mask || (e->type->mask & (e->type->mask - 1)) || e->type->is_const || e->type->lanes)
      un__pat_error(in->p, e->loc, "type", "a single dtype is needed here");
  } else if (e->kind == UN__EX_TYVAR) {
    if (!un__infer_name(in, un__pat_fmt(in->p, "'%s", e->name)))
      un__pat_error(in->p, e->loc, "unbound", "type variable '%s is not bound on the left side", e->name);
  } else if (un__infer_kind(in, e) == UN__K_DTYPE && e->kind == UN__EX_CALL) {
    walk_call(in, e);
  } else if (un__infer_kind(in, e) == UN__K_DTYPE && e->kind == UN__EX_NAME) {
    return;
  } else if (e->kind == UN__EX_COND) {
    walk_int(in, e->args.at[0]);
    walk_dtype(in, e->args.at[1]);
    walk_dtype(in, e->args.at[2]);
  } else {
    want(in, e, UN__K_DTYPE, un__infer_kind(in, e));
  }
}

static void walk_nodes(un__infer *in, un__ex *e) {
  if (e->kind == UN__EX_SPLICE) {
    walk_nodes(in, e->args.at[0]);
    return;
  }
  const un__name *n = e->kind == UN__EX_NAME ? un__infer_name(in, e->name) : NULL;
  if (e->kind == UN__EX_NAME && !n)
    unbound(in, e);
  else if (un__infer_kind(in, e) != UN__K_NODES)
    want(in, e, UN__K_NODES, un__infer_kind(in, e));
  else if (e->kind == UN__EX_CALL)
    walk_call(in, e);
}

static void walk_ints(un__infer *in, un__ex *e) {
  if (e->kind == UN__EX_NAME && !un__infer_name(in, e->name))
    unbound(in, e);
  else if (un__infer_kind(in, e) != UN__K_INTS)
    want(in, e, UN__K_INTS, un__infer_kind(in, e));
  else if (e->kind == UN__EX_CALL)
    walk_call(in, e);
}

/* ---- dtypes of ops ---- */

static bool one_dtype(int op, const un__oprow *row) {
  return ((row->flags & UN__PF_ELEM) && row->max >= 2 && row->max <= 3 && op != UN__POP_WHERE) || op == UN__POP_STACK;
}

/* What an op says about its result (class tv) and its source i (class kid, first: class of source 0). */
static void relate(un__infer *in, int op, int tv, int first, uint32_t i, int kid, un__pat_loc loc) {
  const un__oprow *row = &un__optab[op];
  uint32_t letters = un__optab_letters(row->operands);
  if (kid < 0) return;
  if (op == UN__POP_WHERE && i == 0) {
    restrict_to(in, kid, un__optab_class("bool"), loc);
    if (in->classes.at[find(in, kid)].truth_of < 0) in->classes.at[find(in, kid)].truth_of = tv;
    return;
  }
  if (op == UN__POP_WHERE || (row->dtype == UN__PDR_FIRST && i == 0)) unify(in, tv, kid, loc);
  if (one_dtype(op, row) && i > 0 && first >= 0) unify(in, first, kid, loc);
  if (row->flags & UN__PF_ELEM) restrict_to(in, kid, letters, loc);
  if (row->dtype == UN__PDR_TRUTH && i == 0) in->classes.at[find(in, tv)].truth_of = kid;
  bool tail_index = op == UN__POP_REDUCE || op == UN__POP_STAGE || op == UN__POP_RESHAPE || op == UN__POP_EXPAND ||
                    op == UN__POP_PAD || op == UN__POP_SHRINK || op == UN__POP_END;
  bool all_index = op == UN__POP_RANGE || op == UN__POP_VAR || op == UN__POP_BUFFER || op == UN__POP_IOTA ||
                   op == UN__POP_PARAM || op == UN__POP_SPECIAL;
  if (all_index || (tail_index && i > 0) || (op == UN__POP_VALID && i == 0))
    restrict_to(in, kid, un__optab_class("index"), loc);
  bool same_scalar = op == UN__POP_GEP || op == UN__POP_UNROLL || op == UN__POP_CONTRACT || op == UN__POP_HREDUCE;
  if (op == UN__POP_VECTORIZE || (same_scalar && i == 0)) unify_scalar(in, tv, kid, loc);
  if (op == UN__POP_END && i == 0) restrict_to(in, kid, un__optab_class("void"), loc);
  if (op == UN__POP_VALID && i == 1) restrict_to(in, kid, un__optab_class("bool"), loc);
  if ((op == UN__POP_REDUCE || op == UN__POP_REDUCE_AXIS || op == UN__POP_HREDUCE) && i == 0)
    restrict_to(in, kid, letters, loc);
}

static void relate_result(un__infer *in, int op, int tv, un__pat_loc loc) {
  const un__oprow *row = &un__optab[op];
  if (row->dtype == UN__PDR_TRUTH) restrict_to(in, tv, un__optab_class("bool"), loc);
  if (row->dtype == UN__PDR_INDEX) restrict_to(in, tv, un__optab_class("index"), loc);
  if (row->dtype == UN__PDR_VOID) restrict_to(in, tv, un__optab_class("void"), loc);
  if (op == UN__POP_CAST || op == UN__POP_BITCAST) restrict_to(in, tv, un__optab_letters(row->operands), loc);
  if (op == UN__POP_CONST) restrict_to(in, tv, ~(UN__PAT_PTR | un__optab_class("void")), loc);
}

static void annotate(un__infer *in, un__ex *e, int tv) {
  un__pat_type *t = e->type;
  if (!t || tv < 0) return;
  if (t->mask != UINT32_MAX) restrict_to(in, tv, t->mask, t->loc);
  if (t->expr) walk_dtype(in, t->expr);
  if (t->expr && t->expr->kind == UN__EX_CALL && !strcmp(t->expr->name, "dtype") && t->expr->args.n == 1)
    unify(in, t->expr->args.at[0]->tv, tv, t->loc);
  if (!t->var) return;
  const un__name *n = un__infer_name(in, un__pat_fmt(in->p, "'%s", t->var));
  if (!n)
    un__pat_error(in->p, t->loc, "unbound", "type variable '%s is not bound on the left side", t->var);
  else if (n->tv >= 0)
    unify(in, n->tv, tv, t->loc);
}

static void walk_attrs(un__infer *in, un__ex *e, const un__oprow *row) {
  uint32_t n = un__optab_nattr(row);
  bool list = n && row->attr[n - 1].kind == UN__PAK_INTS;
  if (list ? e->attrs.n < n : e->attrs.n != n) {
    un__pat_error(in->p, e->loc, "bad-attr", "%s has %u attribute%s, not %zu", row->name, n, n == 1 ? "" : "s",
                  e->attrs.n);
    return;
  }
  for (uint32_t i = 0; i < e->attrs.n; i++) {
    un__ex *a = e->attrs.at[i];
    un__pat_ak ak = row->attr[i < n ? i : n - 1].kind;
    if (ak == UN__PAK_NAME ||
        (ak == UN__PAK_INTS && e->attrs.n == n && un__infer_kind(in, a) != UN__K_INT && a->kind != UN__EX_INT)) {
      walk_ints(in, a);
    } else if (a->kind == UN__EX_INT) {
      continue;
    } else if (ak == UN__PAK_OP && a->kind == UN__EX_NAME && un__infer_kind(in, a) == UN__K_OP) {
      continue;
    } else if (a->kind == UN__EX_UPPER) {
      if (ak == UN__PAK_OP ? un__optab_find(a->name) < 0 : ak != UN__PAK_AXIS || un__optab_axis(a->name) < 0)
        un__pat_error(in->p, a->loc, "bad-attr", "'%s' is no value of attribute '%s' of %s", a->name, row->attr[i].name,
                      row->name);
    } else {
      walk_int(in, a);
    }
  }
}

static int walk_op(un__infer *in, un__ex *e) {
  int op = un__infer_op(in, e);
  if (op <= 0) return -1;
  const un__oprow *row = &un__optab[op];
  bool open = false;
  for (size_t i = 0; i < e->args.n; i++) open |= un__infer_kind(in, e->args.at[i]) == UN__K_NODES;
  if (e->args.n - (open ? 1 : 0) > row->max || (!open && e->args.n < row->min))
    un__pat_error(in->p, e->loc, "arity", "%s takes %u operand%s, not %zu", row->name, row->min,
                  row->min == 1 ? "" : "s", e->args.n);
  int tv = new_class(in, UINT32_MAX, NULL), first = -1;
  relate_result(in, op, tv, e->loc);
  annotate(in, e, tv);
  walk_attrs(in, e, row);
  for (size_t i = 0; i < e->args.n; i++) {
    un__ex *a = e->args.at[i];
    if (un__infer_kind(in, a) == UN__K_NODES) {
      walk_nodes(in, a);
      continue;
    }
    int kid = walk_node(in, a);
    if (i == 0) first = kid;
    relate(in, op, tv, first, (uint32_t)i, kid, a->loc);
  }
  bool no_rule = row->dtype == UN__PDR_GIVEN && !e->type;
  if (no_rule && op == UN__POP_INDEX && first >= 0) unify(in, tv, first, e->loc);
  return tv;
}

int un__infer_binary_op(int tok) {
  static const struct {
    int tok, op;
  } map[] = {{UN__T_PLUS, UN__POP_ADD},   {UN__T_MINUS, UN__POP_SUB}, {UN__T_STAR, UN__POP_MUL},
             {UN__T_SLASH, UN__POP_FDIV}, {UN__T_AND, UN__POP_AND},   {UN__T_OR, UN__POP_OR},
             {UN__T_XOR, UN__POP_XOR},    {UN__T_SHL, UN__POP_SHL},   {UN__T_SHR, UN__POP_SHR},
             {UN__T_LT, UN__POP_LT},      {UN__T_GT, UN__POP_LT},     {UN__T_EQ, UN__POP_EQ},
             {UN__T_NE, UN__POP_NE}};
  for (size_t i = 0; i < sizeof map / sizeof *map; i++)
    if (map[i].tok == tok) return map[i].op;
  return 0;
}

static int walk_binary_node(un__infer *in, un__ex *e) {
  int op = un__infer_binary_op(e->tok);
  if (!op) {
    un__pat_error(in->p, e->loc, "type",
                  "this operator does not build a node: write the operation (FLOORMOD, NOT(LT(...)), ...)");
    return -1;
  }
  int tv = new_class(in, UINT32_MAX, NULL), a = walk_node(in, e->args.at[0]), b = walk_node(in, e->args.at[1]);
  relate_result(in, op, tv, e->loc);
  relate(in, op, tv, a, 0, a, e->args.at[0]->loc);
  relate(in, op, tv, a, 1, b, e->args.at[1]->loc);
  return tv;
}

static int walk_name_node(un__infer *in, un__ex *e) {
  const un__name *n = un__infer_name(in, e->name);
  if (!n && in->in_test) {
    int tv = new_class(in, e->type ? e->type->mask : UINT32_MAX, NULL);
    if (!e->type || (e->type->mask & (e->type->mask - 1)))
      un__pat_error(in->p, e->loc, "type", "give variable '%s' a single dtype where it first appears: %s:i32", e->name,
                    e->name);
    add_name(in, (un__name){.name = e->name, .kind = UN__K_NODE, .tv = tv});
    if (in->p->oom) return -1;
    in->classes.at[tv].source = un__pat_fmt(in->p, "v_%s->dtype", e->name);
    return tv;
  }
  if (!n) {
    unbound(in, e);
    return -1;
  }
  if (n->kind == UN__K_NODE || n->is_const) return n->tv;
  if (n->kind == UN__K_INT)
    un__pat_error(in->p, e->loc, "type", "'%s' is a number here: write #%s to build a constant", e->name, e->name);
  else
    want(in, e, UN__K_NODE, n->kind);
  return -1;
}

static int walk_sem(un__infer *in, un__ex *e) {
  static const char *const classes[UN__SEM_COUNT] = {[UN__SEM_TRUE] = "bool",
                                                     [UN__SEM_FALSE] = "bool",
                                                     [UN__SEM_INF] = "float",
                                                     [UN__SEM_NAN] = "float",
                                                     [UN__SEM_INVALID] = "index"};
  int tv = new_class(in, ~(UN__PAT_PTR | un__optab_class("void")), NULL);
  if (classes[e->sem]) restrict_to(in, tv, un__optab_class(classes[e->sem]), e->loc);
  if (e->sem == UN__SEM_IDENT && e->args.n && un__infer_kind(in, e->args.at[0]) != UN__K_OP &&
      (e->args.at[0]->kind != UN__EX_UPPER || un__optab_find(e->args.at[0]->name) < 0))
    un__pat_error(in->p, e->loc, "unknown-op", "@ident takes an operation");
  return tv;
}

static int walk_eval(un__infer *in, un__ex *e) {
  int op = un__infer_op(in, e), tv = new_class(in, UINT32_MAX, NULL), first = -1;
  if (op <= 0) return tv;
  if (!(un__optab[op].flags & UN__PF_EVAL))
    un__pat_error(in->p, e->loc, "type", "%s has no evaluator", un__optab[op].name);
  relate_result(in, op, tv, e->loc);
  for (size_t i = 0; i < e->args.n; i++) {
    if (un__infer_kind(in, e->args.at[i]) == UN__K_NODES) {
      walk_nodes(in, e->args.at[i]);
      continue;
    }
    int kid = walk_node(in, e->args.at[i]);
    if (i == 0) first = kid;
    relate(in, op, tv, first, (uint32_t)i, kid, e->args.at[i]->loc);
  }
  return tv;
}

static int walk_cond_node(un__infer *in, un__ex *e) {
  int tv = new_class(in, UINT32_MAX, NULL);
  bool static_choice = un__infer_kind(in, e->args.at[0]) == UN__K_INT;
  if (static_choice)
    walk_int(in, e->args.at[0]);
  else
    relate(in, UN__POP_WHERE, tv, -1, 0, walk_node(in, e->args.at[0]), e->args.at[0]->loc);
  for (int i = 1; i < 3; i++) unify(in, tv, walk_node(in, e->args.at[i]), e->args.at[i]->loc);
  return tv;
}

static int walk_node_inner(un__infer *in, un__ex *e) {
  int tv;
  switch (e->kind) {
  case UN__EX_NAME:
    return walk_name_node(in, e);
  case UN__EX_OP:
    return walk_op(in, e);
  case UN__EX_BINARY:
    return walk_binary_node(in, e);
  case UN__EX_COND:
    return walk_cond_node(in, e);
  case UN__EX_EVAL:
    return walk_eval(in, e);
  case UN__EX_SEM:
    return walk_sem(in, e);
  case UN__EX_INT:
    return new_class(in, ~(UN__PAT_PTR | un__optab_class("void")), NULL);
  case UN__EX_FLOAT:
    return new_class(in, un__optab_class("float"), NULL);
  case UN__EX_UNARY: {
    int a = walk_node(in, e->args.at[0]);
    tv = new_class(in, UINT32_MAX, NULL);
    relate(in, e->tok == UN__T_MINUS ? UN__POP_NEG : UN__POP_NOT, tv, a, 0, a, e->loc);
    return tv;
  }
  case UN__EX_CONST:
    tv = new_class(
        in, e->args.at[0]->kind == UN__EX_FLOAT ? un__optab_class("float") : ~(UN__PAT_PTR | un__optab_class("void")),
        NULL);
    if (e->args.at[0]->kind != UN__EX_FLOAT) walk_int(in, e->args.at[0]);
    return tv;
  case UN__EX_CALL: {
    un__kind k = un__infer_kind(in, e);
    tv = walk_call(in, e);
    if (k != UN__K_NODE && k != UN__K_NONE) want(in, e, UN__K_NODE, k);
    return tv;
  }
  case UN__EX_IN:
    if (!in->in_test) break;
    tv = walk_node(in, e->args.at[0]);
    walk_int(in, e->args.at[1]);
    walk_int(in, e->args.at[2]);
    return tv;
  default:
    break;
  }
  want(in, e, UN__K_NODE, un__infer_kind(in, e));
  return -1;
}

/* Classes are not all there once memory has run out. */
static int walk_node(un__infer *in, un__ex *e) {
  if (in->p->oom) return -1;
  e->tv = walk_node_inner(in, e);
  if (e->kind != UN__EX_OP) annotate(in, e, e->tv);
  return e->tv;
}

/* ---- the left side ---- */

static void left_classes(un__infer *in) {
  const un__variant *v = in->v;
  for (size_t i = 0; i < v->sites.n; i++) new_class(in, UINT32_MAX, i ? NULL : "n->dtype");
  if (in->p->oom) return;
  un__pat_loc loc = v->rule->lhs->loc;
  for (size_t i = 0; i < v->sites.n; i++)
    if (v->sites.at[i].op) relate_result(in, v->sites.at[i].op, (int)i, loc);
  for (size_t i = 0; i < v->cons.n; i++) {
    const un__cons *c = &v->cons.at[i];
    if (c->kind == UN__CK_TYPE) restrict_to(in, c->site, (uint32_t)c->a, c->loc);
    if (c->kind == UN__CK_SAME || c->kind == UN__CK_DTYPE_EQ) unify(in, c->site, c->site2, c->loc);
    if (c->kind == UN__CK_SEM && (c->a == UN__SEM_TRUE || c->a == UN__SEM_FALSE))
      restrict_to(in, c->site, un__optab_class("bool"), c->loc);
    int op = v->sites.at[c->site].op;
    bool reduces = op == UN__POP_REDUCE || op == UN__POP_REDUCE_AXIS || op == UN__POP_HREDUCE;
    if (c->kind == UN__CK_ATTR && reduces && c->a == 0 && c->b > 0 && c->b < UN__POP_COUNT)
      restrict_to(in, c->site, un__optab_letters(un__optab[c->b].operands), c->loc);
    if ((c->kind == UN__CK_SEM && (c->a == UN__SEM_INF || c->a == UN__SEM_NAN)))
      restrict_to(in, c->site, un__optab_class("float"), c->loc);
  }
  for (size_t i = 1; i < v->sites.n; i++) {
    int parent = v->sites.at[i].parent, op = v->sites.at[parent].op, first = -1;
    for (size_t k = 1; k < v->sites.n && first < 0; k++)
      if (v->sites.at[k].parent == parent && v->sites.at[k].index == 0) first = (int)k;
    if (!op) continue;
    relate(in, op, parent, first, v->sites.at[i].index, (int)i, loc);
    if (op == UN__POP_INDEX && v->sites.at[i].index == 0) unify(in, parent, (int)i, loc);
  }
}

static void left_names(un__infer *in) {
  const un__variant *v = in->v;
  add_name(in, (un__name){.name = "root", .kind = UN__K_NODE, .tv = 0});
  for (size_t i = 0; i < v->rule->loops.n; i++)
    add_name(in, (un__name){.name = v->rule->loops.at[i].var, .kind = UN__K_OP, .tv = -1, .value = v->loop_ops.at[i]});
  for (size_t i = 0; i < v->caps.n; i++) {
    const un__cap *c = &v->caps.at[i];
    static const un__kind kinds[] = {
        [UN__CAP_NODE] = UN__K_NODE, [UN__CAP_CONST] = UN__K_INT, [UN__CAP_SPAN] = UN__K_NODES,
        [UN__CAP_WORD] = UN__K_INT,  [UN__CAP_INTS] = UN__K_INTS, [UN__CAP_DTYPE] = UN__K_DTYPE};
    un__name n = {.name = c->name,
                  .kind = kinds[c->kind],
                  .is_const = c->kind == UN__CAP_CONST,
                  .attr = c->attr,
                  .tv = -1,
                  .cap = c};
    if (c->kind == UN__CAP_NODE || c->kind == UN__CAP_CONST || c->kind == UN__CAP_DTYPE) n.tv = c->site;
    add_name(in, n);
    if (n.tv < 0 || in->p->oom) continue;
    un__tclass *k = &in->classes.at[find(in, n.tv)];
    if (k->source) continue;
    k->source =
        c->kind == UN__CAP_DTYPE ? un__pat_fmt(in->p, "t_%s", c->name + 1) : un__pat_fmt(in->p, "v_%s->dtype", c->name);
  }
}

/* The right side may not ask for more than the left side has checked. A class that may still be void is one about
 * which the left side says nothing; guards are trusted there. */
static void check_narrowing(un__infer *in, const uint32_t *mask, const int *root, size_t n) {
  const un__rule *r = in->v->rule;
  uint32_t aside = un__optab_class("void") | UN__PAT_PTR;
  for (size_t i = 0; i < n; i++) {
    uint32_t now = in->classes.at[find_scalar(in, (int)i)].mask;
    if ((now & ~aside) == (mask[i] & ~aside) || !now || (mask[i] & un__optab_class("void") & ~now)) continue;
    un__diag *d = un__pat_error(in->p, r->rhs->loc, "type", "the right side needs %s where the left side allows %s",
                                mask_text(in->p, now), mask_text(in->p, mask[i]));
    un__pat_note_plain(in->p, d, "say so on the left: ':%s'", mask_text(in->p, now));
    return;
  }
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < i; k++) {
      bool single = mask[i] && !(mask[i] & (mask[i] - 1)) && mask[i] == mask[k];
      bool unsaid = (mask[i] | mask[k]) & un__optab_class("void");
      if (root[i] == root[k] || single || unsaid || find_scalar(in, (int)i) != find_scalar(in, (int)k)) continue;
      un__diag *d = un__pat_error(in->p, r->rhs->loc, "type",
                                  "the right side needs two dtypes to be equal that may differ on the left");
      un__pat_note_plain(in->p, d, "tie them with a type variable: x:'T, y:'T");
      return;
    }
}

static void infer_clauses(un__infer *in, un__rule *r) {
  for (size_t i = 0; i < in->v->pins.n; i++) walk_int(in, in->v->pins.at[i].expr);
  for (size_t i = 0; i < r->clauses.n && !in->p->oom; i++) {
    un__clause *c = &r->clauses.at[i];
    if (!c->is_let) {
      walk_int(in, c->expr);
      continue;
    }
    un__kind k = un__infer_kind(in, c->expr);
    int tv = walk_as(in, c->expr, k);
    if (k == UN__K_NONE) walk_int(in, c->expr); /* reports what is wrong with it */
    if (un__infer_name(in, c->name)) un__pat_error(in->p, c->loc, "duplicate", "'%s' is bound already", c->name);
    in->lets++;
    un__tclass *late = k == UN__K_NODE && tv >= 0 ? &in->classes.at[find(in, tv)] : NULL;
    if (late && !late->late) late->late = un__pat_fmt(in->p, "v_%s->dtype", c->name), late->late_no = in->lets;
    add_name(in, (un__name){.name = c->name, .kind = k, .tv = tv, .is_let = true});
  }
}

void un__pat_infer(un__pat *p, const un__variant *v, un__infer *in) {
  *in = (un__infer){.p = p, .v = v};
  un__rule *r = v->rule;
  left_classes(in);
  if (p->oom) return;
  left_names(in);
  size_t n = v->sites.n;
  uint32_t *mask = un__pat_alloc(p, n * sizeof *mask);
  int *root = un__pat_alloc(p, n * sizeof *root);
  if (p->oom) return;
  for (size_t i = 0; i < n; i++) root[i] = find_scalar(in, (int)i), mask[i] = in->classes.at[root[i]].mask;
  uint32_t before = p->errors;
  infer_clauses(in, r);
  if (!r->rhs || p->oom) return;
  unify(in, 0, walk_node(in, r->rhs), r->rhs->loc);
  if (p->errors == before) check_narrowing(in, mask, root, n);
}

void un__pat_infer_test(un__pat *p, const un__ptest *t, un__infer *in) {
  *in = (un__infer){.p = p, .in_test = true};
  int a = walk_node(in, t->lhs);
  if (t->rhs) unify(in, a, walk_node(in, t->rhs), t->rhs->loc);
}

void un__pat_infer_decl(un__pat *p, const un__decl *d, un__infer *in) {
  *in = (un__infer){.p = p};
  for (size_t i = 0; i < d->params.n; i++) {
    un__name n = {.name = d->params.at[i].name, .kind = d->params.at[i].kind, .tv = -1};
    if (n.kind == UN__K_NODE) n.tv = new_class(in, UINT32_MAX, un__pat_fmt(p, "v_%s->dtype", n.name));
    add_name(in, n);
  }
  if (d->body && !p->oom) walk_as(in, d->body, d->result);
}
