/* terms.c - sums of index terms: their order, their common factors, their parts for a divisor. Arithmetic that leaves
 * int64 is no answer, never a wrong one. */
#include "terms.h"

#include "base/intmath.h"
#include "simplify.h"

typedef __int128 wide;

static bool to_i64(wide v, int64_t *out) {
  *out = (int64_t)v;
  return v == *out;
}

static int64_t floor_mod(int64_t a, int64_t b) {      /* b > 0 */
  int64_t r = a % b;
  return r < 0 ? r + b : r;
}

static uint64_t magnitude(int64_t v) { return v < 0 ? 0 - (uint64_t)v : (uint64_t)v; }

static uint64_t gcd(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

/* ---- taking apart and putting together ---- */

static bool add_term(const un_uop *x, un__sum *s) {
  if (un__is_const(x)) return !__builtin_add_overflow(s->k, un__const_int(x), &s->k);
  if (s->n == UN__MAX_TERMS) return false;
  bool scaled = un__is(x, UN__OP_MUL) && x->kop[1] == UN__OP_CONST;
  s->t[s->n++] = scaled ? (un__term){x->src[0], un__const_int(x->src[1])} : (un__term){x, 1};
  return true;
}

bool un__sum_split(const un_uop *x, un__sum *s) {
  s->n = 0;
  s->k = 0;
  if (!un__dt_is_index(x->dtype)) return false;
  const un_uop *todo[UN__MAX_TERMS + 1];
  uint32_t n = 0;
  todo[n++] = x;
  while (n) {
    const un_uop *top = todo[--n];
    if (!un__is(top, UN__OP_ADD)) {
      if (!add_term(top, s)) return false;
      continue;
    }
    if (n + 2 > UN__MAX_TERMS) return false;
    todo[n++] = top->src[1];
    todo[n++] = top->src[0];
  }
  return true;
}

const un_uop *un__sum_build(un__graph *g, un__dtype dt, const un__sum *s) {
  const un_uop *x = NULL;
  for (uint32_t i = 0; i < s->n; i++) {
    if (s->t[i].coef == 0) continue;
    const un_uop *t = s->t[i].base;
    if (s->t[i].coef != 1) t = un__binary(g, UN__OP_MUL, t, un__const_i(g, dt, s->t[i].coef));
    x = x ? un__binary(g, UN__OP_ADD, x, t) : t;
    if (!x) return NULL;
  }
  if (!x) return un__const_i(g, dt, s->k);
  return s->k ? un__binary(g, UN__OP_ADD, x, un__const_i(g, dt, s->k)) : x;
}

bool un__term_bounds(const un__term *t, wide *lo, wide *hi) {
  if (t->coef == 0) {
    *lo = *hi = 0;
    return true;
  }
  if (un__is_inf(t->base->vmin) || un__is_inf(t->base->vmax)) return false;
  wide a = (wide)t->coef * t->base->vmin, b = (wide)t->coef * t->base->vmax;
  *lo = a < b ? a : b;
  *hi = a < b ? b : a;
  return true;
}

static bool sum_bounds(const un__sum *s, wide *lo, wide *hi) {
  *lo = *hi = s->k;
  for (uint32_t i = 0; i < s->n; i++) {
    wide a, b;
    if (!un__term_bounds(&s->t[i], &a, &b)) return false;
    *lo += a;
    *hi += b;
  }
  return true;
}

/* ---- the parts for a divisor ---- */

static void part_multiple(const un__sum *s, int64_t g, un__sum *out) {
  out->n = 0;
  out->k = un__floor_div(s->k, g);
  for (uint32_t i = 0; i < s->n; i++)
    if (s->t[i].coef % g == 0) out->t[out->n++] = (un__term){s->t[i].base, s->t[i].coef / g};
}

static void part_rest(const un__sum *s, int64_t g, un__sum *out) {
  out->n = 0;
  out->k = floor_mod(s->k, g);
  for (uint32_t i = 0; i < s->n; i++)
    if (s->t[i].coef % g != 0) out->t[out->n++] = s->t[i];
}

const un_uop *un__fn_multiple(un__rw *rw, const un_uop *x, int64_t g) {
  un__sum s, part;
  if (g < 1 || !un__sum_split(x, &s)) return NULL;
  part_multiple(&s, g, &part);
  return un__sum_build(rw->g, x->dtype, &part);
}

const un_uop *un__fn_rest(un__rw *rw, const un_uop *x, int64_t g) {
  un__sum s, part;
  if (g < 1 || !un__sum_split(x, &s)) return NULL;
  part_rest(&s, g, &part);
  return un__sum_build(rw->g, x->dtype, &part);
}

bool un__fn_gcd_of(un__rw *rw, const un_uop *x, int64_t *out) {
  un__sum s;
  if (!un__sum_split(x, &s) || s.k) return false;
  uint64_t all = 0;
  for (uint32_t i = 0; i < s.n; i++) all = gcd(magnitude(s.t[i].coef), all);
  *out = (int64_t)all;
  return all > 0 && all < INT64_MAX;
}

bool un__fn_factor(un__rw *rw, const un_uop *x, int64_t c, int64_t *out) {
  un__sum s, left;
  if (!un__sum_split(x, &s)) return false;
  int64_t best = 1;
  for (uint32_t i = 0; i < s.n; i++) {
    uint64_t both = gcd(magnitude(s.t[i].coef), magnitude(c));
    if (both > INT64_MAX || (int64_t)both <= best) continue;
    wide lo, hi;
    part_rest(&s, (int64_t)both, &left);
    if (sum_bounds(&left, &lo, &hi) && lo >= 0 && hi < (wide)both) best = (int64_t)both;
  }
  *out = best;
  return best > 1;
}

bool un__pred_has_multiple(un__rw *rw, const un_uop *x, int64_t c) {
  un__sum s;
  if (c < 1 || !un__sum_split(x, &s)) return false;
  for (uint32_t i = 0; i < s.n; i++)
    if (s.t[i].coef % c == 0) return true;
  return s.k < 0 || s.k >= c;
}

const un_uop *un__fn_reduced(un__rw *rw, const un_uop *x, int64_t c) {
  un__sum s;
  if (c < 1 || !un__sum_split(x, &s)) return NULL;
  bool changed = s.k < 0 || s.k >= c;
  s.k = floor_mod(s.k, c);
  for (uint32_t i = 0; i < s.n; i++) {
    if (magnitude(s.t[i].coef) < (uint64_t)c) continue;
    s.t[i].coef = floor_mod(s.t[i].coef, c);
    changed = true;
  }
  return changed ? un__sum_build(rw->g, x->dtype, &s) : NULL;
}

const un_uop *un__fn_without_inner_mod(un__rw *rw, const un_uop *x, int64_t c) {
  un__sum s;
  if (c < 1 || !un__sum_split(x, &s)) return NULL;
  bool changed = false;
  for (uint32_t i = 0; i < s.n; i++) {
    const un_uop *b = s.t[i].base;
    if (!un__is(b, UN__OP_FLOORMOD) || b->kop[1] != UN__OP_CONST) continue;
    int64_t m = un__const_int(b->src[1]);
    if (m <= 0 || (wide)s.t[i].coef * m % c != 0) continue;
    s.t[i].base = b->src[0];
    changed = true;
  }
  return changed ? un__sum_build(rw->g, x->dtype, &s) : NULL;
}

/* Splits each coefficient into c*q + r. nearest: the r of least size, else r in [0, c). True when the sum of the r*base
 * lies within one bucket [m*c, (m+1)*c); then quotient and remainder are complete. */
static bool split_whole(const un__sum *s, int64_t c, bool nearest, un__sum *quot, un__sum *left) {
  quot->n = left->n = s->n;
  quot->k = un__floor_div(s->k, c);
  left->k = floor_mod(s->k, c);
  for (uint32_t i = 0; i < s->n; i++) {
    int64_t q = un__floor_div(s->t[i].coef, c), r = floor_mod(s->t[i].coef, c);
    if (nearest && r > c - r) {
      r -= c;
      q++;
    }
    quot->t[i] = (un__term){s->t[i].base, q};
    left->t[i] = (un__term){s->t[i].base, r};
  }
  wide lo, hi;
  if (!sum_bounds(left, &lo, &hi)) return false;
  wide m = lo >= 0 ? lo / c : -((-lo + c - 1) / c);
  if (hi >= (m + 1) * c) return false;
  return to_i64((wide)quot->k + m, &quot->k) && to_i64(left->k - m * c, &left->k);
}

const un_uop *un__fn_whole_quotient(un__rw *rw, const un_uop *x, int64_t c) {
  un__sum s, quot, left;
  if (c < 1 || !un__sum_split(x, &s)) return NULL;
  if (!split_whole(&s, c, false, &quot, &left) && !split_whole(&s, c, true, &quot, &left)) return NULL;
  return un__sum_build(rw->g, x->dtype, &quot);
}

const un_uop *un__fn_whole_remainder(un__rw *rw, const un_uop *x, int64_t c) {
  un__sum s, quot, left;
  if (c < 1 || !un__sum_split(x, &s)) return NULL;
  if (!split_whole(&s, c, false, &quot, &left) && !split_whole(&s, c, true, &quot, &left)) return NULL;
  return un__sum_build(rw->g, x->dtype, &left);
}
