/* reduce.c - reductions over axes, and what is made of them. */
#include "tensor.h"

#include <inttypes.h>

#include "uop/eval.h"

/* A reduction being built: which axes, and the shapes around it. */
typedef struct reduction {
  un_dims have, kept, result;   /* of x; with the axes as 1s; with them dropped unless keepdim */
  uint32_t axes;
  int64_t count;                /* elements combined into one */
} reduction;

static bool plan(un__graph *g, const char *what, const un_uop *x, const un_dims *axes, bool keepdim, reduction *r) {
  *r = (reduction){.count = 1};
  if (!un__tensor_dims(g, x, &r->have) || !un__tensor_axes(g, what, axes, r->have.rank, &r->axes)) return false;
  r->kept = r->have;
  for (int i = 0; i < r->have.rank; i++) {
    int64_t n = r->have.dim[i];
    /* More than INT64_MAX elements each only when there is no result. */
    if (r->axes >> i & 1) r->count = n && r->count > INT64_MAX / n ? INT64_MAX : r->count * n, r->kept.dim[i] = 1;
    else r->result.dim[r->result.rank++] = r->have.dim[i];
  }
  if (keepdim) r->result = r->kept;
  return un__tensor_check_shape(g, what, &r->result);
}

/* Axes of size 1 are dropped by a reshape; nothing at all combines to the identity. */
static const un_uop *combine(un__graph *g, un__op op, const un_uop *x, const reduction *r) {
  un__value unit;
  if (!x) return NULL;
  if (r->count == 0)
    return un__identity(op, x->dtype, &unit)
               ? un__tensor_spread(g, un__const_bits(g, x->dtype, un__value_bits(unit)), &r->result)
               : NULL;
  int64_t attrs[1 + UN_MAX_RANK] = {op};
  uint32_t n = 1;
  for (int i = 0; i < r->have.rank; i++)
    if (r->axes >> i & 1 && r->have.dim[i] != 1) attrs[n++] = i;
  if (n > 1) x = un__uop(g, UN__OP_REDUCE_AXIS, 0, &x, 1, attrs, n);
  return un__tensor_view(g, UN__OP_RESHAPE, x, &r->result);
}

/* Combined in the accumulator's dtype; f16 and bf16 come back. */
static const un_uop *accumulate(un__graph *g, const char *what, un__op op, const un_uop *x, const un_dims *axes,
                                bool keepdim) {
  reduction r;
  if (!plan(g, what, x, axes, keepdim, &r)) return NULL;
  un_dtype d = un__tensor_dtype(x), wide = un__tensor_accumulator(d);
  const un_uop *y = combine(g, op, un__cast(g, UN__DT(wide), x), &r);
  return y && un__dt_is_float(x->dtype) ? un__cast(g, x->dtype, y) : y;
}

const un_uop *un__tensor_sum(un__graph *g, const un_uop *x, const un_dims *axes, bool keepdim) {
  return accumulate(g, "sum", UN__OP_ADD, x, axes, keepdim);
}

const un_uop *un__tensor_prod(un__graph *g, const un_uop *x, const un_dims *axes, bool keepdim) {
  return accumulate(g, "prod", UN__OP_MUL, x, axes, keepdim);
}

static const un_uop *extreme(un__graph *g, const char *what, un__op op, const un_uop *x, const un_dims *axes,
                             bool keepdim) {
  reduction r;
  if (!plan(g, what, x, axes, keepdim, &r)) return NULL;
  if (r.count == 0 && un__tensor_count(&r.result) != 0)
    return un__tensor_fail(g, UN_ERR_SHAPE, "%s: of no elements: shape %s", what, un__tensor_show(&r.have).at);
  return combine(g, op, x, &r);
}

const un_uop *un__tensor_max(un__graph *g, const un_uop *x, const un_dims *axes, bool keepdim) {
  return extreme(g, "max", UN__OP_MAX, x, axes, keepdim);
}

const un_uop *un__tensor_min(un__graph *g, const un_uop *x, const un_dims *axes, bool keepdim) {
  return extreme(g, "min", UN__OP_MIN, x, axes, keepdim);
}

static const un_uop *truth(un__graph *g, const char *what, un__op op, const un_uop *x, const un_dims *axes,
                           bool keepdim) {
  reduction r;
  if (!plan(g, what, x, axes, keepdim, &r)) return NULL;
  return combine(g, op, un__cast(g, UN__DT(UN_BOOL), x), &r);
}

const un_uop *un__tensor_any(un__graph *g, const un_uop *x, const un_dims *axes, bool keepdim) {
  return truth(g, "any", UN__OP_MAX, x, axes, keepdim);
}

const un_uop *un__tensor_all(un__graph *g, const un_uop *x, const un_dims *axes, bool keepdim) {
  return truth(g, "all", UN__OP_MIN, x, axes, keepdim);
}

/* ---- averages ---- */

/* The sum of x, f32 or f64, divided by a count. */
static const un_uop *average(un__graph *g, const un_uop *x, const reduction *r, double count) {
  const un_uop *sum = combine(g, UN__OP_ADD, x, r);
  return sum ? un__binary(g, UN__OP_FDIV, sum, un__tensor_like(g, sum, count)) : NULL;
}

const un_uop *un__tensor_mean(un__graph *g, const un_uop *x, const un_dims *axes, bool keepdim) {
  reduction r;
  x = un__tensor_as_float(g, x);
  if (!plan(g, "mean", x, axes, keepdim, &r)) return NULL;
  const un_uop *wide = un__cast(g, UN__DT(un__tensor_accumulator(un__tensor_dtype(x))), x);
  const un_uop *y = average(g, wide, &r, (double)r.count);
  return y ? un__cast(g, x->dtype, y) : NULL;
}

/* x - mean over the axes, x being f32 or f64. */
static const un_uop *centred(un__graph *g, const un_uop *x, const reduction *r) {
  reduction keep = *r;
  keep.result = r->kept;
  const un_uop *mean = average(g, x, &keep, (double)r->count);
  return mean ? un__binary(g, UN__OP_SUB, x, un__tensor_broadcast(g, "var", mean, &r->have)) : NULL;
}

/* The variance in the wide dtype; *out is the dtype to come back to. */
static const un_uop *spread_of(un__graph *g, const char *what, const un_uop *x, const un_dims *axes, int ddof,
                               bool keepdim, un__dtype *out) {
  reduction r;
  x = un__tensor_as_float(g, x);
  if (!plan(g, what, x, axes, keepdim, &r)) return NULL;
  if (ddof < 0) return un__tensor_fail(g, UN_ERR_INVALID_ARG, "%s: expected ddof >= 0, got %d", what, ddof);
  *out = x->dtype;
  const un_uop *c = centred(g, un__cast(g, UN__DT(un__tensor_accumulator(un__tensor_dtype(x))), x), &r);
  double n = (double)r.count - ddof;
  return average(g, un__binary(g, UN__OP_MUL, c, c), &r, n > 0 ? n : 0);
}

const un_uop *un__tensor_var(un__graph *g, const un_uop *x, const un_dims *axes, int ddof, bool keepdim) {
  un__dtype d;
  const un_uop *v = spread_of(g, "var", x, axes, ddof, keepdim, &d);
  return v ? un__cast(g, d, v) : NULL;
}

const un_uop *un__tensor_std(un__graph *g, const un_uop *x, const un_dims *axes, int ddof, bool keepdim) {
  un__dtype d;
  const un_uop *v = un__unary(g, UN__OP_SQRT, spread_of(g, "std", x, axes, ddof, keepdim, &d));
  return v ? un__cast(g, d, v) : NULL;
}

/* ---- positions ---- */

/* The smallest position at which x is its extreme. If the extreme is NaN, then at which x is NaN. Narrow floats are compared in f32,
 * which holds them all: once converted, they need not be for each comparison. */
static const un_uop *position(un__graph *g, const char *what, un__op op, const un_uop *x, int axis, bool keepdim) {
  reduction r;
  un_dims have;
  if (x && un__dt_is_float(x->dtype)) x = un__cast(g, UN__DT(un__tensor_accumulator(un__tensor_dtype(x))), x);
  if (!un__tensor_dims(g, x, &have) || !un__tensor_axis(g, what, axis, have.rank, &axis)) return NULL;
  if (!plan(g, what, x, &(un_dims){1, {axis}}, keepdim, &r)) return NULL;
  if (r.count == 0 && un__tensor_count(&r.result) != 0)
    return un__tensor_fail(g, UN_ERR_SHAPE, "%s: axis %d of %s has no elements", what, axis, un__tensor_show(&have).at);
  if (r.count > INT32_MAX)
    return un__tensor_fail(g, UN_ERR_UNSUPPORTED, "%s: axis %d has %" PRId64 " elements, more than an i32 can number",
                           what, axis, r.count);
  reduction keep = r;
  keep.result = r.kept;
  const un_uop *best = combine(g, op, x, &keep);
  if (!best) return NULL;
  const un_uop *hit = un__binary(g, UN__OP_EQ, x, un__tensor_broadcast(g, what, best, &have));
  if (un__dt_is_float(x->dtype)) hit = un__binary(g, UN__OP_OR, hit, un__binary(g, UN__OP_NE, x, x));
  const un_uop *at = un__tensor_iota(g, UN_I32, &have, axis);
  if (!at) return NULL;
  return combine(g, UN__OP_MIN, un__ternary(g, UN__OP_WHERE, hit, at, un__tensor_like(g, at, INT32_MAX)), &r);
}

const un_uop *un__tensor_argmax(un__graph *g, const un_uop *x, int axis, bool keepdim) {
  return position(g, "argmax", UN__OP_MAX, x, axis, keepdim);
}

const un_uop *un__tensor_argmin(un__graph *g, const un_uop *x, int axis, bool keepdim) {
  return position(g, "argmin", UN__OP_MIN, x, axis, keepdim);
}
