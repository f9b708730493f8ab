/* total.c - is a `~>` template total: does it give a node whenever the guards hold?
 *
 * Lets and guards stand before the arrow and may fail; what may not fail is the template. Constants built from numbers
 * are shown to fit by intervals: of captured constants (their dtypes), of lets, and of what guards of the form
 * `name < number` say. */
#include <string.h>

#include "check.h"
#include "lex.h"

__extension__ typedef __int128 i128;

#define LIMIT ((i128)1 << 100)

/* known: an exact number certainly exists; within: it lies between 0 and a captured constant of the dtype wanted. */
typedef struct range {
  i128 lo, hi;
  bool nonzero, known, within;
} range;

typedef struct total {
  un__pat *p;
  const un__rule *r;
  const un__infer *in;
  int tv; /* class of the constant being built */
} total;

static const range anything = {-LIMIT, LIMIT, false, false, false};

static range clip(i128 lo, i128 hi, bool known) {
  if (lo < -LIMIT || hi > LIMIT) return anything;
  return (range){lo, hi, lo > 0 || hi < 0, known, false};
}

/* ---- dtypes ---- */

static range of_scalar(int dt) {
  static const struct {
    int dt;
    i128 lo, hi;
  } ints[] = {{UN__PDT_BOOL, 0, 1},         {UN__PDT_I8, INT8_MIN, INT8_MAX},
              {UN__PDT_U8, 0, UINT8_MAX},   {UN__PDT_I16, INT16_MIN, INT16_MAX},
              {UN__PDT_U16, 0, UINT16_MAX}, {UN__PDT_I32, INT32_MIN, INT32_MAX},
              {UN__PDT_U32, 0, UINT32_MAX}, {UN__PDT_I64, INT64_MIN, INT64_MAX},
              {UN__PDT_U64, 0, UINT64_MAX}, {UN__PDT_INDEX, INT64_MIN, INT64_MAX}};
  for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
    if (ints[i].dt == dt) return clip(ints[i].lo, ints[i].hi, true);
  return anything;
}

/* Everything any dtype of the mask holds (all: hull) or every one of them holds. */
static range of_mask(uint32_t mask, bool hull) {
  range r = hull ? (range){LIMIT, -LIMIT, false, true, false} : clip(-LIMIT, LIMIT, true);
  uint32_t floats = un__optab_class("float");
  for (int i = 0; i < UN__PDT_COUNT; i++) {
    if (!(mask >> i & 1)) continue;
    if (floats >> i & 1) {
      r.known = r.known && !hull; /* a float capture has no number; a float constant takes any small one */
      continue;
    }
    range s = of_scalar(i);
    if (hull ? s.lo < r.lo : s.lo > r.lo) r.lo = s.lo;
    if (hull ? s.hi > r.hi : s.hi < r.hi) r.hi = s.hi;
  }
  return r.lo > r.hi && hull ? anything : r;
}

static range of_class(const total *t, int tv, bool hull) {
  return tv < 0 ? anything : of_mask(un__infer_mask(t->in, tv), hull);
}

/* ---- what guards say ---- */

static bool literal(const un__ex *e, i128 *out) {
  bool minus = e->kind == UN__EX_UNARY && e->tok == UN__T_MINUS;
  if (minus) e = e->args.at[0];
  if (e->kind != UN__EX_INT) return false;
  *out = minus ? -(i128)e->num : (i128)e->num;
  return true;
}

static void learn(range *r, int tok, i128 k) {
  if (tok == UN__T_LT && k - 1 < r->hi) r->hi = k - 1;
  if (tok == UN__T_LE && k < r->hi) r->hi = k;
  if (tok == UN__T_GT && k + 1 > r->lo) r->lo = k + 1;
  if (tok == UN__T_GE && k > r->lo) r->lo = k;
  if (tok == UN__T_EQ) r->lo = r->hi = k;
  if (tok == UN__T_NE && k == 0) r->nonzero = true;
  if (r->lo > 0 || r->hi < 0) r->nonzero = true;
}

static int mirrored(int tok) {
  return tok == UN__T_LT   ? UN__T_GT
         : tok == UN__T_LE ? UN__T_GE
         : tok == UN__T_GT ? UN__T_LT
         : tok == UN__T_GE ? UN__T_LE
                           : tok;
}

static void facts(const un__ex *e, const char *name, range *r) {
  i128 k;
  if (e->kind == UN__EX_IN && e->args.at[0]->kind == UN__EX_NAME && !strcmp(e->args.at[0]->name, name)) {
    if (literal(e->args.at[1], &k)) learn(r, UN__T_GE, k);
    if (literal(e->args.at[2], &k)) learn(r, e->closed ? UN__T_LE : UN__T_LT, k);
  }
  if (e->kind == UN__EX_CALL && !strcmp(e->name, "is_pow2") && e->args.n == 1 && e->args.at[0]->kind == UN__EX_NAME &&
      !strcmp(e->args.at[0]->name, name))
    learn(r, UN__T_GT, 0);
  if (e->kind != UN__EX_BINARY) return;
  const un__ex *a = e->args.at[0], *b = e->args.at[1];
  if (e->tok == UN__T_ANDAND) {
    facts(a, name, r);
    facts(b, name, r);
  }
  if (a->kind == UN__EX_NAME && !strcmp(a->name, name) && literal(b, &k)) learn(r, e->tok, k);
  if (b->kind == UN__EX_NAME && !strcmp(b->name, name) && literal(a, &k)) learn(r, mirrored(e->tok), k);
}

/* ---- numbers ---- */

static range value(const total *t, const un__ex *e, int depth);

static range name_value(const total *t, const un__ex *e, int depth) {
  const un__name *n = un__infer_name(t->in, e->name);
  range r = anything;
  if (n && n->is_const)
    r = of_class(t, n->tv, true), r.within = un__infer_same_scalar(t->in, n->tv, t->tv);
  else if (n && n->kind == UN__K_OP)
    r = clip(0, 255, true);
  else if (n && n->cap)
    r = clip(INT64_MIN, INT64_MAX, true);
  for (size_t i = 0; n && n->is_let && i < t->r->clauses.n; i++) {
    const un__clause *c = &t->r->clauses.at[i];
    if (c->is_let && !strcmp(c->name, e->name) && depth < 16) r = value(t, c->expr, depth + 1);
  }
  if (n && n->is_let) r.known = true; /* it has been made */
  for (size_t i = 0; i < t->r->clauses.n; i++)
    if (!t->r->clauses.at[i].is_let) facts(t->r->clauses.at[i].expr, e->name, &r);
  return r;
}

static range product(range a, range b, bool known) {
  i128 m = (i128)1 << 62 << 1; /* operands of 64 bits; larger ones would overflow here */
  if (a.lo < -m || a.hi > 2 * m || b.lo < -m || b.hi > 2 * m) return anything;
  if (a.hi >= m && b.hi >= m) return anything;
  i128 c[4] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi}, lo = c[0], hi = c[0];
  for (int i = 1; i < 4; i++) {
    if (c[i] < lo) lo = c[i];
    if (c[i] > hi) hi = c[i];
  }
  return clip(lo, hi, known);
}

/* |a / b| <= |a|; a / b has the sign of a when b > 0. */
static range quotient(range a, range b) {
  bool known = a.known && b.known && b.nonzero;
  i128 m = a.hi > -a.lo ? a.hi : -a.lo;
  range r = b.lo > 0 ? clip(a.lo < 0 ? a.lo : 0, a.hi > 0 ? a.hi : 0, known) : clip(-m, m, known);
  r.within = a.within && b.lo > 0;
  return r;
}

static range remainder_of(range a, range b) {
  i128 m = b.hi > -b.lo ? b.hi : -b.lo;
  bool known = a.known && b.known && b.nonzero;
  range r = b.lo > 0 ? clip(0, m - 1, known) : clip(-m, m, known);
  r.within = b.within;
  return r;
}

static range binary_value(const total *t, const un__ex *e, int depth) {
  range a = value(t, e->args.at[0], depth), b = value(t, e->args.at[1], depth), r;
  bool known = a.known && b.known;
  if (e->tok >= UN__T_EQ && e->tok <= UN__T_GE) return clip(0, 1, known);
  switch (e->tok) {
  case UN__T_PLUS:
    return clip(a.lo + b.lo, a.hi + b.hi, known);
  case UN__T_MINUS:
    r = clip(a.lo - b.hi, a.hi - b.lo, known);
    r.within = a.within && b.lo >= 0 && r.lo >= 0;
    return r;
  case UN__T_SHL:
    return b.lo < 0 || b.hi > 90 ? anything : product(a, clip((i128)1 << b.lo, (i128)1 << b.hi, true), known);
  case UN__T_SHR:
    r = b.lo < 0 || b.hi > 90 ? anything : clip(a.lo < 0 ? a.lo : 0, a.hi > 0 ? a.hi : 0, known);
    r.within = a.within;
    return r;
  case UN__T_STAR:
    return product(a, b, known);
  case UN__T_SLASH:
    return quotient(a, b);
  case UN__T_PERCENT:
    return remainder_of(a, b);
  case UN__T_ANDAND:
  case UN__T_OROR:
    return clip(0, 1, known);
  case UN__T_AND:
    return a.lo >= 0 && b.lo >= 0 ? clip(0, a.hi < b.hi ? a.hi : b.hi, known) : anything;
  default:
    return anything;
  }
}

static bool pow2_fact(const un__ex *e, const char *name) {
  if (e->kind == UN__EX_BINARY && e->tok == UN__T_ANDAND)
    return pow2_fact(e->args.at[0], name) || pow2_fact(e->args.at[1], name);
  return e->kind == UN__EX_CALL && !strcmp(e->name, "is_pow2") && e->args.n == 1 &&
         e->args.at[0]->kind == UN__EX_NAME && !strcmp(e->args.at[0]->name, name);
}

static bool says_pow2(const total *t, const un__ex *x) {
  for (size_t i = 0; x->kind == UN__EX_NAME && i < t->r->clauses.n; i++)
    if (!t->r->clauses.at[i].is_let && pow2_fact(t->r->clauses.at[i].expr, x->name)) return true;
  return false;
}

static range call_value(const total *t, const un__ex *e, int depth) {
  const un__decl *d = un__pat_find_decl(t->p, e->name);
  if (d && d->is_pred) return clip(0, 1, true);
  if (d) return (range){INT64_MIN, INT64_MAX, false, false, false};
  range a = e->args.n > 0 ? value(t, e->args.at[0], depth) : anything,
        b = e->args.n > 1 ? value(t, e->args.at[1], depth) : anything;
  if (!strcmp(e->name, "vmin") || !strcmp(e->name, "vmax"))
    return (range){INT64_MIN + 1, INT64_MAX - 1, false, false, false};
  if (!strcmp(e->name, "fdiv") || !strcmp(e->name, "tdiv")) return quotient(a, b);
  if (!strcmp(e->name, "fmod")) return remainder_of(a, b);
  if (!strcmp(e->name, "min") || !strcmp(e->name, "max") || !strcmp(e->name, "gcd")) {
    i128 lo = a.lo < b.lo ? a.lo : b.lo, hi = a.hi > b.hi ? a.hi : b.hi;
    range r =
        !strcmp(e->name, "gcd") ? clip(0, hi > -lo ? hi : -lo, a.known && b.known) : clip(lo, hi, a.known && b.known);
    r.within = a.within && b.within && e->name[0] == 'm';
    return r;
  }
  static const char *const small[] = {"lanes", "bits", "nsrc", "len"};
  for (size_t i = 0; i < sizeof small / sizeof *small; i++)
    if (!strcmp(e->name, small[i])) return clip(0, UINT32_MAX, true);
  if (!strcmp(e->name, "fresh") || !strcmp(e->name, "attr")) return clip(INT64_MIN, INT64_MAX, true);
  if (!strcmp(e->name, "log2")) {
    int bits = 0;
    while (bits < 100 && a.hi >> bits > 1) bits++;
    return clip(0, bits, a.known && a.lo > 0 && says_pow2(t, e->args.at[0]));
  }
  if (!strncmp(e->name, "is_", 3) || !strcmp(e->name, "depends_on")) return clip(0, 1, true);
  return anything;
}

static range value(const total *t, const un__ex *e, int depth) {
  range a, b, c;
  switch (e->kind) {
  case UN__EX_INT:
    return clip((i128)e->num, (i128)e->num, true);
  case UN__EX_NAME:
    return name_value(t, e, depth);
  case UN__EX_UPPER:
    return clip(0, 255, true);
  case UN__EX_IN:
    return clip(0, 1, true);
  case UN__EX_UNARY:
    a = value(t, e->args.at[0], depth);
    return e->tok == UN__T_BANG ? clip(0, 1, a.known) : e->tok == UN__T_MINUS ? clip(-a.hi, -a.lo, a.known) : anything;
  case UN__EX_BINARY:
    return binary_value(t, e, depth);
  case UN__EX_COND:
    a = value(t, e->args.at[1], depth), b = value(t, e->args.at[2], depth);
    c = clip(a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi,
             a.known && b.known && value(t, e->args.at[0], depth).known);
    c.within = a.within && b.within;
    return c;
  case UN__EX_CALL:
    return call_value(t, e, depth);
  default:
    return anything;
  }
}

/* ---- templates ---- */

static void declines(const total *t, const un__ex *e, const char *why) {
  un__diag *d = un__pat_error(t->p, e->loc, "infallible", "%s, but '~>' says that the rule cannot decline", why);
  un__pat_note_plain(t->p, d, "write '=>', or a guard that excludes it");
}

static void check_number(const total *t, const un__ex *e, const un__ex *number) {
  const un__name *n = number->kind == UN__EX_NAME ? un__infer_name(t->in, number->name) : NULL;
  uint32_t mask = e->tv < 0 ? 0 : un__infer_mask(t->in, e->tv);
  if (n && n->is_const && !(un__infer_mask(t->in, n->tv) & ~mask) && un__infer_same_scalar(t->in, n->tv, e->tv)) return;
  total here = *t;
  here.tv = e->tv;
  range have = value(&here, number, 0), room = of_mask(mask, false);
  if (!have.known)
    declines(t, e, "this number may overflow or not exist");
  else if (!have.within && (have.lo < room.lo || have.hi > room.hi))
    declines(t, e, "this number may not fit the dtype");
}

static void check_call(const total *t, const un__ex *e) {
  const un__decl *d = un__pat_find_decl(t->p, e->name);
  if (d && d->partial && d->result != UN__K_DTYPE && !d->is_pred)
    declines(t, e, un__pat_fmt(t->p, "'%s' may give nothing", e->name));
  if (!d && un__infer_partial(e->name)) declines(t, e, un__pat_fmt(t->p, "'%s' may not fit", e->name));
}

static void walk(const total *t, const un__ex *e) {
  switch (e->kind) {
  case UN__EX_EVAL:
    declines(t, e, "an evaluator may have no value");
    return;
  case UN__EX_CONST:
    if (e->args.at[0]->kind != UN__EX_FLOAT) check_number(t, e, e->args.at[0]);
    return;
  case UN__EX_INT:
    if (e->tv >= 0) check_number(t, e, e);
    return;
  case UN__EX_CALL:
    check_call(t, e);
    break;
  case UN__EX_COND:
    if (un__infer_kind(t->in, e->args.at[0]) == UN__K_INT) {
      if (!value(t, e->args.at[0], 0).known) declines(t, e->args.at[0], "this number may overflow or not exist");
      walk(t, e->args.at[1]);
      walk(t, e->args.at[2]);
      return;
    }
    break;
  default:
    break;
  }
  for (size_t i = 0; i < e->args.n; i++) walk(t, e->args.at[i]);
  for (size_t i = 0; e->kind == UN__EX_OP && i < e->attrs.n; i++) {
    const un__ex *a = e->attrs.at[i];
    if (a->kind == UN__EX_UPPER || un__infer_kind(t->in, a) != UN__K_INT) continue;
    range have = value(t, a, 0);
    if (!have.known)
      declines(t, a, "this number may overflow or not exist");
    else if (have.lo < INT64_MIN || have.hi > INT64_MAX)
      declines(t, a, "this number may not fit an attribute");
  }
}

void un__check_total(un__pat *p, const un__rule *r, const un__infer *in) {
  if (r->may_decline || !r->rhs) return;
  total t = {p, r, in, -1};
  walk(&t, r->rhs);
}
