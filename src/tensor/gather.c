/* gather.c - elements by index: INDEX(x, i0, i1, ...) with one index tensor an axis, all of one shape.
 *
 * Positions that come from data are VALID(i, 0 <= i and i < n), so an element outside is 0; the others are IOTAs,
 * in range by their bounds. */
#include "tensor.h"

static bool check_index(un__graph *g, const char *what, const un_uop *index) {
  if (!index) return false;
  if (un__dt_is_int(index->dtype)) return true;
  un__tensor_fail(g, UN_ERR_DTYPE, "%s: expected an index of integers, got %s", what,
                  un_dtype_name(un__tensor_dtype(index)));
  return false;
}

/* index in dtype index. Not every 64-bit integer is proved to fit there: those are clipped to just outside an axis of n
 * first. */
static const un_uop *as_index(un__graph *g, const un_uop *index, int64_t n) {
  un_dims d;
  if (!un__tensor_dims(g, index, &d)) return NULL;
  un_dtype dt = un__tensor_dtype(index);
  if (dt == UN_I64) index = un__binary(g, UN__OP_MAX, index, un__tensor_spread(g, un__const_i(g, UN__DT(dt), -1), &d));
  if (un_dtype_size(dt) == 8)
    index = un__binary(g, UN__OP_MIN, index, un__tensor_spread(g, un__const_i(g, UN__DT(dt), n), &d));
  return un__cast(g, UN__DT(UN_INDEX), index);
}

/* index as positions on an axis of n. */
static const un_uop *checked(un__graph *g, const un_uop *index, int64_t n) {
  un_dims d;
  const un_uop *i = as_index(g, index, n);
  if (!un__tensor_dims(g, i, &d)) return NULL;
  const un_uop *low = un__unary(g, UN__OP_NOT, un__binary(g, UN__OP_LT, i, un__tensor_spread(g, un__idx(g, 0), &d)));
  const un_uop *high = un__binary(g, UN__OP_LT, i, un__tensor_spread(g, un__idx(g, n), &d));
  return un__binary(g, UN__OP_VALID, i, un__binary(g, UN__OP_AND, low, high));
}

/* The gather itself; from a tensor without elements every position is outside. */
static const un_uop *pick(un__graph *g, const un_uop *x, const un_dims *have, const un_uop *const *at,
                          const un_dims *shape) {
  const un_uop *src[1 + UN_MAX_RANK] = {x};
  if (un__tensor_count(have) == 0) return un__tensor_spread(g, un__const_i(g, x->dtype, 0), shape);
  for (int i = 0; i < have->rank; i++)
    if (!(src[1 + i] = at[i])) return NULL;
  return un__uop(g, UN__OP_INDEX, x->dtype, src, 1 + (uint32_t)have->rank, NULL, 0);
}

const un_uop *un__tensor_gather(un__graph *g, const un_uop *x, int axis, const un_uop *index) {
  un_dims have, d;
  if (!un__tensor_dims(g, x, &have) || !un__tensor_dims(g, index, &d) || !check_index(g, "gather", index)) return NULL;
  if (!un__tensor_axis(g, "gather", axis, have.rank, &axis)) return NULL;
  bool fits = have.rank == d.rank;
  for (int i = 0; fits && i < d.rank; i++) fits = i == axis || d.dim[i] <= have.dim[i];
  if (!fits)
    return un__tensor_fail(g, UN_ERR_SHAPE, "gather: index %s does not lie inside %s beside axis %d",
                           un__tensor_show(&d).at, un__tensor_show(&have).at, axis);
  const un_uop *at[UN_MAX_RANK];
  for (int i = 0; i < d.rank; i++)
    at[i] = i == axis ? checked(g, index, have.dim[axis]) : un__tensor_iota(g, UN_INDEX, &d, i);
  return pick(g, x, &have, at, &d);
}

/* x.shape[:axis] + index.shape + x.shape[axis + 1:] */
static bool take_shape(un__graph *g, const char *what, const un_dims *have, int axis, const un_dims *d, un_dims *out) {
  *out = (un_dims){0};
  if (have->rank - 1 + d->rank > UN_MAX_RANK)
    return un__tensor_fail(g, UN_ERR_SHAPE, "%s: more than %d axes: %s by index %s", what, UN_MAX_RANK,
                           un__tensor_show(have).at, un__tensor_show(d).at) != NULL;
  for (int i = 0; i < axis; i++) out->dim[out->rank++] = have->dim[i];
  for (int i = 0; i < d->rank; i++) out->dim[out->rank++] = d->dim[i];
  for (int i = axis + 1; i < have->rank; i++) out->dim[out->rank++] = have->dim[i];
  return un__tensor_check_shape(g, what, out);
}

static const un_uop *take(un__graph *g, const char *what, const un_uop *x, int axis, const un_uop *index) {
  un_dims have, d, to, lead = {0};
  if (!un__tensor_dims(g, x, &have) || !un__tensor_dims(g, index, &d) || !check_index(g, what, index)) return NULL;
  if (!un__tensor_axis(g, what, axis, have.rank, &axis) || !take_shape(g, what, &have, axis, &d, &to)) return NULL;
  lead.rank = to.rank;
  for (int i = 0; i < to.rank; i++) lead.dim[i] = i >= axis && i < axis + d.rank ? d.dim[i - axis] : 1;
  index = un__tensor_view(g, UN__OP_EXPAND, un__tensor_view(g, UN__OP_RESHAPE, index, &lead), &to);
  const un_uop *at[UN_MAX_RANK];
  for (int i = 0; i < have.rank; i++)
    at[i] = i == axis ? checked(g, index, have.dim[axis])
                      : un__tensor_iota(g, UN_INDEX, &to, i < axis ? i : i + d.rank - 1);
  return pick(g, x, &have, at, &to);
}

const un_uop *un__tensor_take(un__graph *g, const un_uop *x, int axis, const un_uop *index) {
  return take(g, "take", x, axis, index);
}

const un_uop *un__tensor_embedding(un__graph *g, const un_uop *table, const un_uop *index) {
  return take(g, "embedding", table, 0, index);
}

const un_uop *un__tensor_one_hot(un__graph *g, const un_uop *index, int64_t n, un_dtype dtype) {
  un_dims d;
  if (!un__tensor_dims(g, index, &d) || !check_index(g, "one_hot", index)) return NULL;
  if (!un__tensor_check_dtype(g, "one_hot", dtype)) return NULL;
  if (d.rank == UN_MAX_RANK) return un__tensor_fail(g, UN_ERR_SHAPE, "one_hot: more than %d axes", UN_MAX_RANK);
  un_dims column = d, to = d;
  column.dim[column.rank++] = 1;
  to.dim[to.rank++] = n;
  if (!un__tensor_check_shape(g, "one_hot", &to)) return NULL;
  const un_uop *i = un__tensor_view(g, UN__OP_RESHAPE, as_index(g, index, n), &column);
  i = un__tensor_view(g, UN__OP_EXPAND, i, &to);
  const un_uop *on = un__binary(g, UN__OP_EQ, i, un__tensor_iota(g, UN_INDEX, &to, to.rank - 1));
  return on ? un__cast(g, UN__DT(dtype), on) : NULL;
}
