/* shape.c - shapes as numbers: checks, axes, broadcasting, and the texts that errors show. */
#include "tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

un__shape_text un__tensor_show(const un_dims *d) {
  un__shape_text t;
  int n = snprintf(t.at, sizeof t.at, "(");
  for (int i = 0; i < d->rank && i < UN_MAX_RANK; i++)
    n += snprintf(t.at + n, sizeof t.at - (size_t)n, "%s%" PRId64, i ? "," : "", d->dim[i]);
  snprintf(t.at + n, sizeof t.at - (size_t)n, ")");
  return t;
}

un__number_text un__tensor_number(double v) {
  union { double f; uint64_t bits; } u = {.f = v};
  un__number_text t;
  if (isnan(v)) memcpy(t.at, "nan", sizeof "nan");
  else un__float_text(t.at, UN__FORMAT_F64, u.bits);
  return t;
}

const un_uop *un__tensor_fail(un__graph *g, un_status status, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  un__vfail(un__graph_err(g), status, fmt, ap);
  va_end(ap);
  return NULL;
}

bool un__tensor_dims(un__graph *g, const un_uop *x, un_dims *out) {
  *out = (un_dims){0};
  if (!x) return false;
  if (!x->shape) return un__tensor_fail(g, UN_ERR_SHAPE, "%s has no shape", un__info(x)->name) != NULL;
  out->rank = (int)x->shape->rank;
  for (int i = 0; i < out->rank; i++) {
    out->dim[i] = un__known_size(x->shape->dim[i]);
    if (out->dim[i] < 0)
      return un__tensor_fail(g, UN_ERR_UNSUPPORTED, "axis %d of %s has a symbolic size", i, un__info(x)->name) != NULL;
  }
  return true;
}

int64_t un__tensor_count(const un_dims *d) {
  int64_t n = 1;
  for (int i = 0; i < d->rank; i++)
    if (d->dim[i] == 0) return 0;     /* the others may be of any size */
  for (int i = 0; i < d->rank; i++) n *= d->dim[i];
  return n;
}

bool un__tensor_same_dims(const un_dims *a, const un_dims *b) {
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++)
    if (a->dim[i] != b->dim[i]) return false;
  return true;
}

bool un__tensor_check_shape(un__graph *g, const char *what, const un_dims *d) {
  if (d->rank < 0 || d->rank > UN_MAX_RANK)
    return un__tensor_fail(g, UN_ERR_SHAPE,
                           "%s: not a shape: expected 0 to %d sizes and, in un_shape, as many as it announces", what,
                           UN_MAX_RANK) != NULL;
  int64_t n = 1;
  bool empty = false, large = false;
  for (int i = 0; i < d->rank; i++) {
    if (d->dim[i] < 0)
      return un__tensor_fail(g, UN_ERR_SHAPE, "%s: negative size in %s", what, un__tensor_show(d).at) != NULL;
    if (d->dim[i] == 0) empty = true;
    else if (__builtin_mul_overflow(n, d->dim[i], &n) || n > INT64_MAX / 16) large = true, n = 1;
  }
  if (large && !empty)
    return un__tensor_fail(g, UN_ERR_SHAPE, "%s: %s has more than %" PRId64 " elements", what, un__tensor_show(d).at,
                           INT64_MAX / 16) != NULL;
  return true;
}

bool un__tensor_check_dtype(un__graph *g, const char *what, un_dtype dtype) {
  if (dtype >= UN_BOOL && dtype <= UN_F64) return true;
  un__tensor_fail(g, UN_ERR_DTYPE, "%s: %s (%d) is not a dtype of tensors", what, un_dtype_name(dtype), (int)dtype);
  return false;
}

bool un__tensor_axis(un__graph *g, const char *what, int64_t axis, int rank, int *out) {
  if (axis < -rank || axis >= rank) {
    un__tensor_fail(g, UN_ERR_SHAPE, "%s: no axis %" PRId64 " in a tensor of rank %d", what, axis, rank);
    return false;
  }
  *out = (int)(axis < 0 ? axis + rank : axis);
  return true;
}

bool un__tensor_axes(un__graph *g, const char *what, const un_dims *axes, int rank, uint32_t *out) {
  *out = 0;
  if (axes->rank == UN_DIMS_ALL) return *out = (1u << rank) - 1, true;
  if (axes->rank < 0 || axes->rank > UN_MAX_RANK)
    return un__tensor_fail(g, UN_ERR_INVALID_ARG, "%s: not a list of axes", what) != NULL;
  for (int i = 0; i < axes->rank; i++) {
    int axis;
    if (!un__tensor_axis(g, what, axes->dim[i], rank, &axis)) return false;
    if (*out >> axis & 1) return un__tensor_fail(g, UN_ERR_SHAPE, "%s: axis %d is listed twice", what, axis) != NULL;
    *out |= 1u << axis;
  }
  return true;
}

bool un__tensor_broadcast_dims(un__graph *g, const char *what, const un_dims *a, const un_dims *b, un_dims *out) {
  un_dims r = {.rank = a->rank > b->rank ? a->rank : b->rank};
  for (int i = 1; i <= r.rank; i++) {
    int64_t x = i <= a->rank ? a->dim[a->rank - i] : 1, y = i <= b->rank ? b->dim[b->rank - i] : 1;
    if (x != y && x != 1 && y != 1)
      return un__tensor_fail(g, UN_ERR_SHAPE, "%s: shapes do not broadcast: lhs %s, rhs %s", what,
                             un__tensor_show(a).at, un__tensor_show(b).at) != NULL;
    r.dim[r.rank - i] = x == 1 ? y : x;
  }
  *out = r;
  return un__tensor_check_shape(g, what, &r);
}

const un_uop *un__tensor_view(un__graph *g, un__op op, const un_uop *x, const un_dims *to) {
  un_dims have;
  if (!un__tensor_dims(g, x, &have)) return NULL;
  if (un__tensor_same_dims(&have, to)) return x;
  const un_uop *src[1 + UN_MAX_RANK] = {x};
  for (int i = 0; i < to->rank; i++)
    if (!(src[1 + i] = un__idx(g, to->dim[i]))) return NULL;
  return un__uop(g, op, 0, src, 1 + (uint32_t)to->rank, NULL, 0);
}

const un_uop *un__tensor_broadcast(un__graph *g, const char *what, const un_uop *x, const un_dims *to) {
  un_dims have;
  if (!un__tensor_dims(g, x, &have)) return NULL;
  int missing = to->rank - have.rank;
  un_dims lead = {.rank = to->rank};
  bool fits = missing >= 0;
  for (int i = 0; fits && i < to->rank; i++) {
    lead.dim[i] = i < missing ? 1 : have.dim[i - missing];
    fits = lead.dim[i] == to->dim[i] || lead.dim[i] == 1;
  }
  if (!fits)
    return un__tensor_fail(g, UN_ERR_SHAPE, "%s: %s does not broadcast to %s", what, un__tensor_show(&have).at,
                           un__tensor_show(to).at);
  return un__tensor_view(g, UN__OP_EXPAND, un__tensor_view(g, UN__OP_RESHAPE, x, &lead), to);
}

const un_uop *un__tensor_spread(un__graph *g, const un_uop *scalar, const un_dims *to) {
  return un__tensor_broadcast(g, "fill", scalar, to);
}
