/* guard.c - un__fn_under: simplification of an expression under a condition.
 *
 * The condition is read as facts: bounds on index expressions, and truth of conditions. Each expression is replaced
 * by a VAR with the narrower bounds, each condition by its value; the result is simplified as usual and the VARs are
 * put back. The answer counts only when it is smaller as a tree than what was given: so no two guards can undo each
 * other's work, and rules that use it end. */
#include "simplify.h"
#include "terms.h"

#include <string.h>

enum { MAX_FACTS = 24, MAX_RANGES = 8, MAX_CONDITIONS = 16, MAX_WORK = 1024, MAX_DEPTH = 3 };

typedef struct fact { const un_uop *e; int64_t lo, hi; } fact;
typedef struct facts { fact at[MAX_FACTS]; uint32_t n; } facts;

/* ---- reading the condition ---- */

static void learn(facts *f, const un_uop *e, int64_t lo, int64_t hi) {
  if (un__is_const(e) || (lo <= e->vmin && hi >= e->vmax)) return;
  for (uint32_t i = 0; i < f->n; i++) {
    if (f->at[i].e != e) continue;
    if (lo > f->at[i].lo) f->at[i].lo = lo;
    if (hi < f->at[i].hi) f->at[i].hi = hi;
    return;
  }
  if (f->n < MAX_FACTS) f->at[f->n++] = (fact){e, lo > e->vmin ? lo : e->vmin, hi < e->vmax ? hi : e->vmax};
}

static bool finite(int64_t v) { return v != UN__NEG_INF && v != UN__POS_INF; }

static int64_t clamp(__int128 v) {
  return v <= UN__NEG_INF ? UN__NEG_INF : v >= UN__POS_INF ? UN__POS_INF : (int64_t)v;
}

/* a < b. */
static void learn_less(facts *f, const un_uop *a, const un_uop *b) {
  if (finite(b->vmax)) learn(f, a, UN__NEG_INF, b->vmax - 1);
  if (finite(a->vmin)) learn(f, b, a->vmin + 1, UN__POS_INF);
}

static void learn_equal(facts *f, const un_uop *a, const un_uop *b) {
  learn(f, a, b->vmin, b->vmax);
  learn(f, b, a->vmin, a->vmax);
}

static void learn_condition(facts *f, const un_uop *c, bool holds) {
  learn(f, c, holds, holds);
  if (!un__has_flag(c, UN__F_CMP) || !un__dt_is_index(c->src[0]->dtype)) return;
  const un_uop *a = c->src[0], *b = c->src[1];
  if (un__is(c, UN__OP_LT) && holds) learn_less(f, a, b);
  if (un__is(c, UN__OP_LT) && !holds) {      /* b <= a */
    if (finite(b->vmin)) learn(f, a, b->vmin, UN__POS_INF);
    if (finite(a->vmax)) learn(f, b, UN__NEG_INF, a->vmax);
  }
  if (c->op == (holds ? UN__OP_EQ : UN__OP_NE)) learn_equal(f, a, b);
}

/* The parts of a conjunction that holds, of a disjunction that does not. */
static void read_condition(facts *f, const un_uop *c, bool holds) {
  struct { const un_uop *c; bool holds; } todo[MAX_CONDITIONS];
  uint32_t n = 0;
  todo[n].c = c;
  todo[n++].holds = holds;
  while (n) {
    c = todo[--n].c;
    holds = todo[n].holds;
    bool splits = c->op == (holds ? UN__OP_AND : UN__OP_OR) && n + 2 <= MAX_CONDITIONS;
    if (un__is(c, UN__OP_NOT)) {
      todo[n].c = c->src[0];
      todo[n++].holds = !holds;
      continue;
    }
    if (!splits) {
      learn_condition(f, c, holds);
      continue;
    }
    for (int i = 1; i >= 0; i--) {
      todo[n].c = c->src[i];
      todo[n++].holds = holds;
    }
  }
}

typedef __int128 wide;

static wide floor_div(wide a, wide b) {
  wide q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}

/* lo <= coef * e, and coef * e <= hi; either may be absent. */
static void learn_scaled(facts *f, const un__term *t, const wide *lo, const wide *hi) {
  const wide *low = t->coef > 0 ? lo : hi, *high = t->coef > 0 ? hi : lo;
  int64_t at_least = low ? clamp(-floor_div(-*low, t->coef)) : UN__NEG_INF;
  learn(f, t->base, at_least, high ? clamp(floor_div(*high, t->coef)) : UN__POS_INF);
}

/* A bound on a sum bounds a term when the others are bounded. */
static void read_term(facts *f, const fact *whole, const un__sum *s, uint32_t k) {
  wide lo = s->k, hi = s->k;
  for (uint32_t j = 0; j < s->n; j++) {
    wide a, b;
    if (j == k) continue;
    if (!un__term_bounds(&s->t[j], &a, &b)) return;
    lo += a;
    hi += b;
  }
  wide least = whole->lo - hi, most = whole->hi - lo;
  if (s->t[k].coef) learn_scaled(f, &s->t[k], finite(whole->lo) ? &least : NULL, finite(whole->hi) ? &most : NULL);
}

static void read_sums(facts *f) {
  for (uint32_t i = 0, given = f->n; i < given; i++) {
    fact whole = f->at[i];
    un__sum s;
    if (!un__is(whole.e, UN__OP_ADD) || !un__sum_split(whole.e, &s)) continue;
    for (uint32_t k = 0; k < s.n; k++) read_term(f, &whole, &s, k);
  }
}

/* ---- size ---- */

/* Nodes of the tree below x, divisions thrice; 0 when there are more than MAX_WORK, or when x accesses memory: a load
 * happens whether or not the condition holds, so its index and gate must not rely on it; nor does what another thread has. */
static uint32_t tree_size(const un_uop *x) {
  const un_uop *todo[MAX_WORK];
  uint32_t n = 0, size = 0, seen = 0;
  todo[n++] = x;
  while (n) {
    x = todo[--n];
    if (un__has_flag(x, UN__F_MEM) || ++seen > MAX_WORK || n + x->nsrc > MAX_WORK) return 0;
    size += un__is(x, UN__OP_FLOORDIV) || un__is(x, UN__OP_FLOORMOD) ? 3 : 1;
    for (uint32_t i = 0; i < x->nsrc; i++) todo[n++] = x->src[i];
  }
  return size;
}

/* ---- substitution ---- */

/* A stand-in for e with narrower bounds. Its name holds e's structural hash: two expressions under one guard do not
 * share a stand-in, and no user's VAR has a name that starts with '?'. */
static const un_uop *stand_in(un__graph *g, const fact *f) {
  if (f->lo == f->hi) return un__const_i(g, f->e->dtype, f->lo);
  char name[UN__NAME_WORDS * 8] = {'?'};
  uint64_t h = f->e->hash;
  for (int i = 1; i < 15; i++, h /= 26) name[i] = (char)('a' + h % 26);
  int64_t words[UN__NAME_WORDS];
  memcpy(words, name, sizeof words);
  const un_uop *ends[2] = {un__idx(g, f->lo), un__idx(g, f->hi)};
  return un__uop(g, UN__OP_VAR, 0, ends, 2, words, UN__NAME_WORDS);
}

static bool usable(const fact *f) {
  if (f->lo > f->hi || un__lanes(f->e) != 1) return false;
  return f->lo == f->hi || un__dt_is_index(f->e->dtype);
}

static bool all_distinct(const un_uop *const *at, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = i + 1; j < n; j++)
      if (at[i] == at[j] && !un__is_const(at[i])) return false;
  return true;
}

/* What is replaced by what, and what of it comes back. */
typedef struct exchange {
  const un_uop *from[MAX_FACTS + MAX_RANGES], *to[MAX_FACTS + MAX_RANGES];
  const un_uop *vars[MAX_FACTS + MAX_RANGES], *back[MAX_FACTS + MAX_RANGES];
  uint32_t n, nvars;
} exchange;

static bool replaced(const exchange *x, const un_uop *e) {
  for (uint32_t i = 0; i < x->n; i++)
    if (x->from[i] == e) return true;
  return false;
}

static bool put(un__graph *g, exchange *x, const fact *f) {
  const un_uop *to = stand_in(g, f);
  if (!to) return false;
  x->from[x->n] = f->e;
  x->to[x->n++] = to;
  if (un__is_const(to)) return true;
  x->vars[x->nvars] = to;
  x->back[x->nvars++] = f->e;
  return true;
}

/* A loop is the same node everywhere, and what holds for one use of it does not hold for its size: a RANGE whose size
 * is computed is out of sight while a condition is taken for granted. */
static bool hide_ranges(un__graph *g, exchange *x, const un_uop *e) {
  uint32_t hidden = 0;
  for (uint32_t i = 0; i < e->ranges->n; i++) {
    const un_uop *r = e->ranges->range[i];
    if (un__known_size(r->src[0]) >= 0 || replaced(x, r)) continue;
    if (hidden++ == MAX_RANGES || !put(g, x, &(fact){r, r->vmin, r->vmax})) return false;
  }
  return true;
}

/* x simplified with stand-ins, these taken back out, and simplified again. */
static const un_uop *simplified(un__rw *rw, const un_uop *x, const facts *f) {
  un__graph *g = rw->g;
  un__rw_options opt = {.licences = rw->licences};
  exchange ex = {.n = 0};
  for (uint32_t i = 0; i < f->n; i++)
    if (usable(&f->at[i]) && !put(g, &ex, &f->at[i])) return NULL;
  if (!ex.n || !hide_ranges(g, &ex, x) || !all_distinct(ex.to, ex.n)) return NULL;
  const un_uop *y = un__substitute(g, x, ex.from, ex.to, ex.n);
  if (!y || y == x) return NULL;
  y = un__graph_rewrite(g, y, &un__pass_simplify, &opt);
  if (y && ex.nvars) y = un__substitute(g, y, ex.vars, ex.back, ex.nvars);
  return y ? un__graph_rewrite(g, y, &un__pass_simplify, &opt) : NULL;
}

const un_uop *un__simplify(un__graph *g, const un_uop *root) {
  return un__graph_rewrite(g, root, &un__pass_simplify, NULL);
}

const un_uop *un__fn_under(un__rw *rw, const un_uop *x, const un_uop *c, int64_t holds) {
  uint32_t size;
  if (un__is_const(x) || un__is_const(c) || un__rewrite_depth(rw->g) > MAX_DEPTH || !(size = tree_size(x))) return NULL;
  facts f = {.n = 0};
  read_condition(&f, c, holds != 0);
  read_sums(&f);
  const un_uop *y = simplified(rw, x, &f);
  if (!y || y == x) return NULL;
  /* A RANGE whose size was simplified under the condition is another RANGE: a loop that nobody closes. */
  if (!un__rangeset_subset(y->ranges, x->ranges)) return NULL;
  uint32_t now = tree_size(y);
  return now && now < size ? y : NULL;
}
