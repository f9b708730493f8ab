#include "online.h"

#include <math.h>

enum { MAX_RANGES = 2 * UN__MAX_RANK };

bool un__pred_along(un__rw *rw, const un_uop *x, un__span r, const un_uop *y, un__span s) {
  if (r.n != s.n || x->dtype != y->dtype) return false;
  for (uint32_t i = 0; i < r.n; i++) {
    bool ranges = un__is(r.at[i], UN__OP_RANGE) && un__is(s.at[i], UN__OP_RANGE);
    if (!ranges || r.at[i]->src[0] != s.at[i]->src[0]) return false;
  }
  return un__substitute(rw->g, y, s.at, r.at, r.n) == x;
}

bool un__pred_counts(un__rw *rw, const un_uop *n, un__span r) {
  int64_t points = 1;
  for (uint32_t i = 0; i < r.n; i++) {
    int64_t size = un__is(r.at[i], UN__OP_RANGE) ? un__known_size(r.at[i]->src[0]) : -1;
    if (size < 0 || __builtin_mul_overflow(points, size, &points)) return false;
  }
  return un__is_const(n) && points > 0 && (double)points == un__const_float(n) &&
         (double)points <= ldexp(1, un__dt_info(n->dtype)->mantissa);
}

const un_uop *un__fn_at_start(un__rw *rw, const un_uop *x, un__span r) {
  const un_uop *zero[MAX_RANGES];
  if (r.n > MAX_RANGES) return NULL;
  for (uint32_t i = 0; i < r.n; i++) zero[i] = un__idx(rw->g, 0);
  return un__substitute(rw->g, x, r.at, zero, r.n);
}
