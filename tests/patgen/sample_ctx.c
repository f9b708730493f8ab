#include "sample_ctx.h"

bool un__pred_indep(un__rw *rw, const un_uop *x, un__span r) {
  for (uint32_t i = 0; i < r.n; i++)
    if (un__depends_on(x, r.at[i])) return false;
  return true;
}

bool un__pred_lossless(un__rw *rw, un__dtype a, un__dtype b) { return un__dt_info(a)->size <= un__dt_info(b)->size; }

un__span un__fn_reversed(un__rw *rw, un__span i, un__ints p) {
  if (i.n != p.n) return (un__span){NULL, 0};
  const un_uop **at = un__arena_alloc(un__workspace_arena(rw->g), i.n * sizeof *at);
  for (uint32_t k = 0; at && k < i.n; k++) at[k] = i.at[i.n - 1 - k];
  return (un__span){at, i.n};
}

bool un__fn_split_of(un__rw *rw, const un_uop *r, int64_t *out) {
  *out = 4;
  return true;
}

const un_uop *un__fn_negated(un__rw *rw, const un_uop *x) { return un__unary(rw->g, UN__OP_NEG, x); }
