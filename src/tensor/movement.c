/* movement.c - views of one tensor: reshape, permute, expand, pad, shrink, slice, flip. */
#include "tensor.h"

#include <inttypes.h>

/* Replaces the one -1 of `to` by what is left of n elements. */
static bool fill_in(un__graph *g, const un_dims *have, un_dims *to) {
  int open = -1;
  int64_t known = 1;
  for (int i = 0; i < to->rank && to->rank <= UN_MAX_RANK; i++) {
    if (to->dim[i] == -1 && open >= 0)
      return un__tensor_fail(g, UN_ERR_SHAPE, "reshape: more than one -1 in %s", un__tensor_show(to).at) != NULL;
    if (to->dim[i] == -1) open = i;
    else if (to->dim[i] >= 0 && __builtin_mul_overflow(known, to->dim[i], &known)) known = 0;
  }
  if (open < 0) return true;
  int64_t n = un__tensor_count(have);
  if (known <= 0 || n % known)
    return un__tensor_fail(g, UN_ERR_SHAPE, "reshape: %s of %" PRId64 " elements leaves no size for the -1 of %s",
                           un__tensor_show(have).at, n, un__tensor_show(to).at) != NULL;
  to->dim[open] = n / known;
  return true;
}

const un_uop *un__tensor_reshape(un__graph *g, const un_uop *x, const un_dims *shape) {
  un_dims have, to = *shape;
  if (!un__tensor_dims(g, x, &have) || !fill_in(g, &have, &to) || !un__tensor_check_shape(g, "reshape", &to))
    return NULL;
  if (un__tensor_count(&have) != un__tensor_count(&to))
    return un__tensor_fail(g, UN_ERR_SHAPE, "reshape: numbers of elements differ: from %s to %s",
                           un__tensor_show(&have).at, un__tensor_show(&to).at);
  return un__tensor_view(g, UN__OP_RESHAPE, x, &to);
}

const un_uop *un__tensor_flatten(un__graph *g, const un_uop *x, int first, int last) {
  un_dims have, to = {0};
  if (!un__tensor_dims(g, x, &have)) return NULL;
  if (have.rank == 0) return un__tensor_view(g, UN__OP_RESHAPE, x, &(un_dims){1, {1}});
  if (!un__tensor_axis(g, "flatten", first, have.rank, &first) ||
      !un__tensor_axis(g, "flatten", last, have.rank, &last))
    return NULL;
  if (first > last)
    return un__tensor_fail(g, UN_ERR_SHAPE, "flatten: first axis %d is after last axis %d", first, last);
  for (int i = 0; i < have.rank; i++) {
    if (i <= first || i > last) to.dim[to.rank++] = have.dim[i];
    else if (__builtin_mul_overflow(to.dim[to.rank - 1], have.dim[i], &to.dim[to.rank - 1]))
      return un__tensor_fail(g, UN_ERR_SHAPE, "flatten: axes %d to %d of %s become too long", first, last,
                             un__tensor_show(&have).at);
  }
  return un__tensor_view(g, UN__OP_RESHAPE, x, &to);
}

const un_uop *un__tensor_squeeze(un__graph *g, const un_uop *x, int axis) {
  un_dims have, to = {0};
  if (!un__tensor_dims(g, x, &have) || !un__tensor_axis(g, "squeeze", axis, have.rank, &axis)) return NULL;
  if (have.dim[axis] != 1)
    return un__tensor_fail(g, UN_ERR_SHAPE, "squeeze: axis %d of %s is not of size 1", axis, un__tensor_show(&have).at);
  for (int i = 0; i < have.rank; i++)
    if (i != axis) to.dim[to.rank++] = have.dim[i];
  return un__tensor_view(g, UN__OP_RESHAPE, x, &to);
}

const un_uop *un__tensor_unsqueeze(un__graph *g, const un_uop *x, int axis) {
  un_dims have, to = {0};
  if (!un__tensor_dims(g, x, &have) || !un__tensor_axis(g, "unsqueeze", axis, have.rank + 1, &axis)) return NULL;
  if (have.rank == UN_MAX_RANK) return un__tensor_fail(g, UN_ERR_SHAPE, "unsqueeze: more than %d axes", UN_MAX_RANK);
  for (int i = 0; i <= have.rank; i++) to.dim[to.rank++] = i == axis ? 1 : have.dim[i - (i > axis)];
  return un__tensor_view(g, UN__OP_RESHAPE, x, &to);
}

/* order: every axis once. The same node when nothing moves. */
static const un_uop *permuted(un__graph *g, const un_uop *x, const un_dims *order) {
  bool moves = false;
  for (int i = 0; i < order->rank; i++) moves |= order->dim[i] != i;
  return moves ? un__uop(g, UN__OP_PERMUTE, 0, &x, 1, order->dim, (uint32_t)order->rank) : x;
}

const un_uop *un__tensor_permute(un__graph *g, const un_uop *x, const un_dims *order) {
  un_dims have, axes = {0};
  uint32_t seen;
  if (!un__tensor_dims(g, x, &have) || !un__tensor_axes(g, "permute", order, have.rank, &seen)) return NULL;
  if (order->rank != have.rank)
    return un__tensor_fail(g, UN_ERR_SHAPE, "permute: expected the %d axes of %s, each once, got %s", have.rank,
                           un__tensor_show(&have).at, un__tensor_show(order).at);
  axes.rank = have.rank;
  for (int i = 0; i < have.rank; i++) axes.dim[i] = order->dim[i] < 0 ? order->dim[i] + have.rank : order->dim[i];
  return permuted(g, x, &axes);
}

const un_uop *un__tensor_transpose(un__graph *g, const un_uop *x, int axis0, int axis1) {
  un_dims have, order = {0};
  if (!un__tensor_dims(g, x, &have) || !un__tensor_axis(g, "transpose", axis0, have.rank, &axis0) ||
      !un__tensor_axis(g, "transpose", axis1, have.rank, &axis1))
    return NULL;
  order.rank = have.rank;
  for (int i = 0; i < have.rank; i++) order.dim[i] = i == axis0 ? axis1 : i == axis1 ? axis0 : i;
  return permuted(g, x, &order);
}

const un_uop *un__tensor_expand(un__graph *g, const un_uop *x, const un_dims *shape) {
  un_dims have, to = *shape;
  if (!un__tensor_dims(g, x, &have)) return NULL;
  int missing = to.rank - have.rank;
  for (int i = missing < 0 ? 0 : missing; i < to.rank && i < UN_MAX_RANK; i++)
    if (to.dim[i] == -1 && missing >= 0) to.dim[i] = have.dim[i - missing];
  return un__tensor_check_shape(g, "expand", &to) ? un__tensor_broadcast(g, "expand", x, &to) : NULL;
}

/* ---- boxes ---- */

static const un_uop *box(un__graph *g, un__op op, const un_uop *x, const un_dims *lo, const un_dims *hi) {
  const un_uop *src[1 + 2 * UN_MAX_RANK] = {x};
  for (int i = 0; i < lo->rank; i++) {
    src[1 + i] = un__idx(g, lo->dim[i]);
    src[1 + lo->rank + i] = un__idx(g, hi->dim[i]);
    if (!src[1 + i] || !src[1 + lo->rank + i]) return NULL;
  }
  return un__uop(g, op, 0, src, 1 + 2 * (uint32_t)lo->rank, NULL, 0);
}

static bool check_lists(un__graph *g, const char *what, const un_dims *have, const un_dims *a, const un_dims *b) {
  if (a->rank == have->rank && b->rank == have->rank) return true;
  un__tensor_fail(g, UN_ERR_SHAPE, "%s: expected two lists with %d entries each for shape %s, got %s and %s", what,
                  have->rank, un__tensor_show(have).at, un__tensor_show(a).at, un__tensor_show(b).at);
  return false;
}

static const un_uop *padded_by(un__graph *g, const char *what, const un_uop *x, const un_dims *before, const un_dims *after) {
  un_dims have, to = {0};
  if (!un__tensor_dims(g, x, &have) || !check_lists(g, what, &have, before, after)) return NULL;
  to.rank = have.rank;
  for (int i = 0; i < have.rank; i++) {
    if (before->dim[i] < 0 || after->dim[i] < 0)
      return un__tensor_fail(g, UN_ERR_SHAPE, "%s: negative padding: before %s, after %s", what, un__tensor_show(before).at,
                             un__tensor_show(after).at);
    if (__builtin_add_overflow(have.dim[i], before->dim[i], &to.dim[i]) ||
        __builtin_add_overflow(to.dim[i], after->dim[i], &to.dim[i]))
      return un__tensor_fail(g, UN_ERR_SHAPE, "%s: axis %d of %s becomes too long: before %s, after %s", what, i,
                             un__tensor_show(&have).at, un__tensor_show(before).at, un__tensor_show(after).at);
  }
  if (!un__tensor_check_shape(g, what, &to)) return NULL;
  if (un__tensor_same_dims(&have, &to)) return x;
  if (un__tensor_count(&have) == 0) return un__tensor_spread(g, un__const_i(g, x->dtype, 0), &to);
  return box(g, UN__OP_PAD, x, before, after);
}

const un_uop *un__tensor_pad(un__graph *g, const un_uop *x, const un_dims *before, const un_dims *after) {
  return padded_by(g, "pad", x, before, after);
}

const un_uop *un__tensor_pad_value(un__graph *g, const un_uop *x, const un_dims *before, const un_dims *after,
                                   double value) {
  const un_uop *padded = padded_by(g, "pad_value", x, before, after);
  if (!padded || padded == x) return padded;
  un_dims have, to;
  un_dtype d = un__tensor_dtype(x);
  const un_uop *fill = un__tensor_filled(g, "pad_value", d, &(un_dims){0}, value);
  if (!fill || !un__tensor_dims(g, x, &have) || !un__tensor_dims(g, padded, &to)) return NULL;
  const un_uop *inside = un__tensor_pad(g, un__tensor_full(g, UN_BOOL, &have, 1), before, after);
  return un__ternary(g, UN__OP_WHERE, inside, padded, un__tensor_spread(g, fill, &to));
}

const un_uop *un__tensor_shrink(un__graph *g, const un_uop *x, const un_dims *begin, const un_dims *end) {
  un_dims have;
  bool cuts = false;
  if (!un__tensor_dims(g, x, &have) || !check_lists(g, "shrink", &have, begin, end)) return NULL;
  for (int i = 0; i < have.rank; i++) {
    if (begin->dim[i] < 0 || begin->dim[i] > end->dim[i] || end->dim[i] > have.dim[i])
      return un__tensor_fail(g, UN_ERR_SHAPE, "shrink: box from %s to %s is not inside %s", un__tensor_show(begin).at,
                             un__tensor_show(end).at, un__tensor_show(&have).at);
    cuts |= begin->dim[i] != 0 || end->dim[i] != have.dim[i];
  }
  return cuts ? box(g, UN__OP_SHRINK, x, begin, end) : x;
}

const un_uop *un__tensor_flip(un__graph *g, const un_uop *x, const un_dims *axes) {
  un_dims have;
  uint32_t set;
  if (!un__tensor_dims(g, x, &have) || !un__tensor_axes(g, "flip", axes, have.rank, &set)) return NULL;
  for (int i = 0; i < have.rank; i++)
    if (have.dim[i] <= 1) set &= ~(1u << i);
  return set ? un__uop(g, UN__OP_FLIP, 0, &x, 1, (int64_t[]){set}, 1) : x;
}

/* ---- slices ---- */

/* [lo, hi) of one axis. */
static const un_uop *cut(un__graph *g, const un_uop *x, int axis, int64_t lo, int64_t hi) {
  un_dims have, begin, end;
  if (!un__tensor_dims(g, x, &have)) return NULL;
  begin = end = have;
  for (int i = 0; i < have.rank; i++) begin.dim[i] = 0;
  begin.dim[axis] = lo;
  end.dim[axis] = hi;
  return un__tensor_shrink(g, x, &begin, &end);
}

/* Elements 0, step, 2 step, ... of an axis: rows of `step`, of which the first column is kept. */
static const un_uop *strided(un__graph *g, const un_uop *x, int axis, int64_t step) {
  un_dims have, zero, fill, rows = {0};
  if (!un__tensor_dims(g, x, &have)) return NULL;
  if (step == 1 || have.dim[axis] == 0) return x;
  if (step >= have.dim[axis]) return cut(g, x, axis, 0, 1);
  if (have.rank == UN_MAX_RANK)
    return un__tensor_fail(g, UN_ERR_UNSUPPORTED, "slice: a step needs a free axis; the tensor has %d already",
                           UN_MAX_RANK);
  int64_t n = (have.dim[axis] + step - 1) / step;
  zero = fill = have;
  for (int i = 0; i < have.rank; i++) zero.dim[i] = fill.dim[i] = 0;
  fill.dim[axis] = n * step - have.dim[axis];
  for (int i = 0; i < have.rank; i++) {
    rows.dim[rows.rank++] = i == axis ? n : have.dim[i];
    if (i == axis) rows.dim[rows.rank++] = step;
  }
  x = un__tensor_view(g, UN__OP_RESHAPE, un__tensor_pad(g, x, &zero, &fill), &rows);
  return un__tensor_squeeze(g, cut(g, x, axis + 1, 0, 1), axis + 1);
}

/* A bound as a position in [lowest, highest]. */
static int64_t position(int64_t at, int64_t n, int64_t open, int64_t lowest, int64_t highest) {
  if (at == UN_OPEN) return open;
  if (at < 0) at += n;
  return at < lowest ? lowest : at > highest ? highest : at;
}

const un_uop *un__tensor_slice(un__graph *g, const un_uop *x, int axis, int64_t start, int64_t stop, int64_t step) {
  un_dims have;
  if (!un__tensor_dims(g, x, &have) || !un__tensor_axis(g, "slice", axis, have.rank, &axis)) return NULL;
  if (step == 0) return un__tensor_fail(g, UN_ERR_INVALID_ARG, "slice: expected a step that is not 0");
  if (step == INT64_MIN) step++;      /* longer than any axis too, and its negative is a number */
  int64_t n = have.dim[axis];
  if (step > 0) {
    int64_t lo = position(start, n, 0, 0, n), hi = position(stop, n, n, 0, n);
    return strided(g, cut(g, x, axis, lo, hi < lo ? lo : hi), axis, step);
  }
  /* Backwards: from `lo` down to, not including, `hi`; both may be -1. */
  int64_t lo = position(start, n, n - 1, -1, n - 1), hi = position(stop, n, -1, -1, n - 1);
  if (hi >= lo) return cut(g, x, axis, 0, 0);
  un_dims flipped = {1, {axis}};
  return strided(g, un__tensor_flip(g, cut(g, x, axis, hi + 1, lo + 1), &flipped), axis, -step);
}

const un_uop *un__tensor_select(un__graph *g, const un_uop *x, int axis, int64_t i) {
  un_dims have;
  if (!un__tensor_dims(g, x, &have) || !un__tensor_axis(g, "select", axis, have.rank, &axis)) return NULL;
  int64_t n = have.dim[axis], at = i < 0 ? i + n : i;
  if (at < 0 || at >= n)
    return un__tensor_fail(g, UN_ERR_SHAPE, "select: no element %" PRId64 " on axis %d of %s", i, axis,
                           un__tensor_show(&have).at);
  return un__tensor_squeeze(g, cut(g, x, axis, at, at + 1), axis);
}
