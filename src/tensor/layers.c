/* layers.c - matmul, softmax and the norms.
 *
 * They keep their whole computation in f32 (f64 for f64) and convert once at the end. */
#include "tensor.h"

#include <math.h>

/* ---- matmul ---- */

/* A 1-D operand as a matrix; the common leading axes; (m, k) and (n, k) as (.., m, 1, k) and (.., 1, n, k). */
typedef struct product {
  un_dims a, b;           /* as given, then at least 2-D */
  un_dims full;           /* (.., m, n, k) */
  bool row, column;       /* a was 1-D, b was 1-D */
} product;

static bool plan_product(un__graph *g, const un_uop *lhs, const un_uop *rhs, product *p) {
  *p = (product){0};
  if (!un__tensor_dims(g, lhs, &p->a) || !un__tensor_dims(g, rhs, &p->b)) return false;
  if (p->a.rank == 0 || p->b.rank == 0)
    return un__tensor_fail(g, UN_ERR_SHAPE, "matmul: expected rank 1 or more: lhs %s, rhs %s",
                           un__tensor_show(&p->a).at, un__tensor_show(&p->b).at) != NULL;
  un_dims a = p->a, b = p->b;
  if ((p->row = a.rank == 1)) a = (un_dims){2, {1, p->a.dim[0]}};
  if ((p->column = b.rank == 1)) b = (un_dims){2, {p->b.dim[0], 1}};
  int64_t m = a.dim[a.rank - 2], k = a.dim[a.rank - 1], n = b.dim[b.rank - 1];
  if (b.dim[b.rank - 2] != k)
    return un__tensor_fail(g, UN_ERR_SHAPE, "matmul: inner dims differ: lhs %s, rhs %s", un__tensor_show(&p->a).at,
                           un__tensor_show(&p->b).at) != NULL;
  un_dims batch_a = a, batch_b = b;
  batch_a.rank -= 2;
  batch_b.rank -= 2;
  if (!un__tensor_broadcast_dims(g, "matmul", &batch_a, &batch_b, &p->full)) return false;
  if (p->full.rank + 3 > UN_MAX_RANK)
    return un__tensor_fail(g, UN_ERR_UNSUPPORTED, "matmul: more than %d axes", UN_MAX_RANK - 1) != NULL;
  for (int i = 0; i < 3; i++) p->full.dim[p->full.rank++] = (int64_t[]){m, n, k}[i];
  p->a = a;
  p->b = b;
  return un__tensor_check_shape(g, "matmul", &p->full);
}

/* x with a 1 put in at `place`, counted from the end, repeated to `full`. */
static const un_uop *operand(un__graph *g, const un_uop *x, int place, const un_dims *full) {
  un_dims d, wide = {0};
  if (!un__tensor_dims(g, x, &d)) return NULL;
  for (int i = 0; i < d.rank; i++) {
    if (d.rank - i == place) wide.dim[wide.rank++] = 1;
    wide.dim[wide.rank++] = d.dim[i];
  }
  return un__tensor_broadcast(g, "matmul", un__tensor_view(g, UN__OP_RESHAPE, x, &wide), full);
}

const un_uop *un__tensor_matmul(un__graph *g, const un_uop *a, const un_uop *b) {
  product p;
  if (!plan_product(g, a, b, &p)) return NULL;
  un_dtype d = un__dt_promote(un__tensor_dtype(a), un__tensor_dtype(b)), wide = un__tensor_accumulator(d);
  if (d == UN_VOID)
    return un__tensor_fail(g, UN_ERR_DTYPE, "matmul: no common dtype of %s and %s", un_dtype_name(un__tensor_dtype(a)),
                           un_dtype_name(un__tensor_dtype(b)));
  a = un__tensor_view(g, UN__OP_RESHAPE, un__cast(g, UN__DT(wide), a), &p.a);
  b = un__tensor_view(g, UN__OP_RESHAPE, un__cast(g, UN__DT(wide), b), &p.b);
  b = un__tensor_transpose(g, b, -1, -2);
  a = operand(g, a, 1, &p.full);
  b = operand(g, b, 2, &p.full);
  const un_uop *y = un__tensor_sum(g, un__binary(g, UN__OP_MUL, a, b), &(un_dims){1, {-1}}, false);
  un_dims result = p.full;
  result.rank -= 3;
  if (!p.row) result.dim[result.rank++] = p.full.dim[p.full.rank - 3];
  if (!p.column) result.dim[result.rank++] = p.full.dim[p.full.rank - 2];
  y = un__tensor_view(g, UN__OP_RESHAPE, y, &result);
  return y && un__dt_is_float(UN__DT(d)) ? un__cast(g, UN__DT(d), y) : y;
}

/* ---- over one axis ---- */

/* x in f32 or f64; *out is the float dtype to come back to. */
static const un_uop *widen(un__graph *g, const un_uop *x, un__dtype *out) {
  x = un__tensor_as_float(g, x);
  if (!x) return NULL;
  *out = x->dtype;
  return un__cast(g, UN__DT(un__tensor_accumulator(un__tensor_dtype(x))), x);
}

/* x minus its maximum over the axis; an axis without elements has no maximum and stays as it is. */
static const un_uop *below_max(un__graph *g, const un_uop *x, const un_dims *axes) {
  un_dims d;
  if (!un__tensor_dims(g, x, &d) || un__tensor_count(&d) == 0) return x;
  return un__tensor_sub(g, x, un__tensor_max(g, x, axes, true));
}

static bool one_axis(un__graph *g, const char *what, const un_uop *x, int axis, un_dims *out) {
  un_dims d;
  if (!un__tensor_dims(g, x, &d) || !un__tensor_axis(g, what, axis, d.rank, &axis)) return false;
  *out = (un_dims){1, {axis}};
  return true;
}

const un_uop *un__tensor_softmax(un__graph *g, const un_uop *x, int axis) {
  un__dtype d;
  un_dims axes;
  x = widen(g, x, &d);
  if (!one_axis(g, "softmax", x, axis, &axes)) return NULL;
  const un_uop *e = un__unary(g, UN__OP_EXP, below_max(g, x, &axes));
  /* The sum is between 1 and the number of elements: one division a slice, and its inverse is a normal number. */
  const un_uop *y = un__tensor_mul(g, e, un__unary(g, UN__OP_RECIP, un__tensor_sum(g, e, &axes, true)));
  return y ? un__cast(g, d, y) : NULL;
}

const un_uop *un__tensor_log_softmax(un__graph *g, const un_uop *x, int axis) {
  un__dtype d;
  un_dims axes;
  x = widen(g, x, &d);
  if (!one_axis(g, "log_softmax", x, axis, &axes)) return NULL;
  const un_uop *low = below_max(g, x, &axes);
  const un_uop *sum = un__tensor_sum(g, un__unary(g, UN__OP_EXP, low), &axes, true);
  const un_uop *y = un__tensor_sub(g, low, un__unary(g, UN__OP_LOG, sum));
  return y ? un__cast(g, d, y) : NULL;
}

/* ---- norms ---- */

/* x times 1 / sqrt(mean(x^2) + eps), brought to dtype d. */
static const un_uop *normalised(un__graph *g, const un_uop *x, const un_dims *axes, double eps, un__dtype d) {
  const un_uop *power = un__tensor_mean(g, un__tensor_square(g, x), axes, true);
  if (!power) return NULL;
  const un_uop *y = un__tensor_mul(g, x, un__tensor_rsqrt(g, un__tensor_add(g, power, un__tensor_like(g, power, eps))));
  return y ? un__cast(g, d, y) : NULL;
}

static bool check_norm(un__graph *g, const char *what, const un_uop *x, const un_dims *axes, double eps) {
  un_dims have;
  uint32_t set;
  if (!un__tensor_dims(g, x, &have) || !un__tensor_axes(g, what, axes, have.rank, &set)) return false;
  return (eps >= 0 && isfinite(eps)) ||
         un__tensor_fail(g, UN_ERR_INVALID_ARG, "%s: expected a finite eps >= 0, got %s", what,
                         un__tensor_number(eps).at);
}

const un_uop *un__tensor_layer_norm(un__graph *g, const un_uop *x, const un_dims *axes, double eps) {
  un__dtype d;
  x = widen(g, x, &d);
  if (!check_norm(g, "layer_norm", x, axes, eps)) return NULL;
  return normalised(g, un__tensor_sub(g, x, un__tensor_mean(g, x, axes, true)), axes, eps, d);
}

const un_uop *un__tensor_rms_norm(un__graph *g, const un_uop *x, const un_dims *axes, double eps) {
  un__dtype d;
  x = widen(g, x, &d);
  if (!check_norm(g, "rms_norm", x, axes, eps)) return NULL;
  return normalised(g, x, axes, eps, d);
}
