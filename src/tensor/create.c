/* create.c - tensors from nothing: constants, IOTA and what is made of it. */
#include "tensor.h"

#include <inttypes.h>
#include <math.h>

/* A double is a value of every float dtype (rounded); of an integer dtype when it is a whole number in its range. */
static bool holds(un_dtype dtype, double v) {
  if (un__dt_is_float(UN__DT(dtype))) return true;
  if (!isfinite(v) || trunc(v) != v) return false;
  if (dtype == UN_BOOL) return v == 0 || v == 1;
  int bits = un__dt_info(UN__DT(dtype))->mantissa;
  bool is_signed = un__dt_class(UN__DT(dtype)) == UN__CLASS_INT;
  double lo = is_signed ? -ldexp(1, bits - 1) : 0, end = ldexp(1, is_signed ? bits - 1 : bits);
  return v >= lo && v < end;
}

static const un_uop *constant(un__graph *g, const char *what, un_dtype dtype, double value) {
  if (!holds(dtype, value))
    return un__tensor_fail(g, UN_ERR_DTYPE, "%s: %s does not hold the value %s", what, un_dtype_name(dtype),
                           un__tensor_number(value).at);
  return un__const_f(g, UN__DT(dtype), value);
}

const un_uop *un__tensor_filled(un__graph *g, const char *what, un_dtype dtype, const un_dims *shape, double value) {
  if (!un__tensor_check_dtype(g, what, dtype) || !un__tensor_check_shape(g, what, shape)) return NULL;
  return un__tensor_spread(g, constant(g, what, dtype, value), shape);
}

const un_uop *un__tensor_full(un__graph *g, un_dtype dtype, const un_dims *shape, double value) {
  return un__tensor_filled(g, "full", dtype, shape, value);
}

const un_uop *un__tensor_literal(un__graph *g, const char *what, const un_uop *like, double value) {
  if (!like) return NULL;
  un_dtype dtype = un__tensor_dtype(like);
  if (dtype == UN_BOOL) dtype = UN_I32;
  if (!un__dt_is_float(UN__DT(dtype)) && trunc(value) != value) dtype = UN_F32;   /* NaN too */
  if (!un__dt_is_float(UN__DT(dtype)) && isinf(value)) dtype = UN_F32;
  return constant(g, what, dtype, value);
}

const un_uop *un__tensor_scalar_like(un__graph *g, const un_uop *like, double value) {
  return un__tensor_literal(g, "scalar_like", like, value);
}

const un_uop *un__tensor_like(un__graph *g, const un_uop *x, double value) {
  un_dims d;
  if (!un__tensor_dims(g, x, &d)) return NULL;
  return un__tensor_spread(g, un__const_f(g, x->dtype, value), &d);
}

const un_uop *un__tensor_iota(un__graph *g, un_dtype dtype, const un_dims *shape, int axis) {
  const un_uop *size = un__idx(g, shape->dim[axis]);
  const un_uop *line = size ? un__uop(g, UN__OP_IOTA, UN__DT(dtype), &size, 1, NULL, 0) : NULL;
  un_dims column = {.rank = shape->rank};
  for (int i = 0; i < shape->rank; i++) column.dim[i] = i == axis ? shape->dim[i] : 1;
  return un__tensor_view(g, UN__OP_EXPAND, un__tensor_view(g, UN__OP_RESHAPE, line, &column), shape);
}

/* How many values start, start + step, ... lie before stop; negative: too many. */
static int64_t steps(double start, double stop, double step) {
  double n = ceil((stop - start) / step);
  if (!(n > 0)) return 0;
  return n < ldexp(1, 59) ? (int64_t)n : -1;
}

static bool check_arange(un__graph *g, un_dtype dtype, double start, double stop, double step, int64_t *out_n) {
  if (!un__tensor_check_dtype(g, "arange", dtype)) return false;
  if (dtype == UN_BOOL) return un__tensor_fail(g, UN_ERR_DTYPE, "arange: not for bool") != NULL;
  if (!isfinite(start) || !isfinite(stop) || !isfinite(step) || step == 0)
    return un__tensor_fail(g, UN_ERR_INVALID_ARG,
                           "arange: expected finite bounds and a finite step that is not 0, got %s, %s, "
                           "step %s",
                           un__tensor_number(start).at, un__tensor_number(stop).at, un__tensor_number(step).at) != NULL;
  *out_n = steps(start, stop, step);
  if (*out_n < 0) return un__tensor_fail(g, UN_ERR_SHAPE, "arange: too many elements: from %s to %s, step %s", un__tensor_number(start).at,
                           un__tensor_number(stop).at, un__tensor_number(step).at) != NULL;
  double last = start + (double)(*out_n > 0 ? *out_n - 1 : 0) * step;
  if (!un__dt_is_float(UN__DT(dtype)) && (trunc(step) != step || !holds(dtype, start) || !holds(dtype, last)))
    return un__tensor_fail(g, UN_ERR_DTYPE, "arange: %s does not hold %s, step %s, to %s", un_dtype_name(dtype),
                           un__tensor_number(start).at, un__tensor_number(step).at, un__tensor_number(last).at) != NULL;
  return true;
}

/* The value in a float dtype; in an integer dtype modulo 2^bits. */
static const un_uop *term(un__graph *g, un_dtype dtype, double v, const un_dims *shape) {
  const un_uop *c = un__dt_is_float(UN__DT(dtype)) ? un__const_f(g, UN__DT(dtype), v)
                    : un__const_i(g, UN__DT(dtype), v < 0 ? (int64_t)v : (int64_t)(uint64_t)v);
  return un__tensor_spread(g, c, shape);
}

/* Integers wrap, so start + i * step may pass outside the range on its way; it is exact at its end. */
const un_uop *un__tensor_arange(un__graph *g, un_dtype dtype, double start, double stop, double step) {
  int64_t n = 0;
  if (!check_arange(g, dtype, start, stop, step, &n)) return NULL;
  un_dims shape = {1, {n}};
  bool is_float = un__dt_is_float(UN__DT(dtype)),
       wide = n > INT32_MAX || dtype == UN_U32 || dtype == UN_I64 || dtype == UN_U64;
  un_dtype count = wide ? UN_I64 : UN_I32, work = !is_float ? count : dtype == UN_F64 ? UN_F64 : UN_F32;
  const un_uop *i = un__tensor_iota(g, count, &shape, 0);
  if (i) i = un__cast(g, UN__DT(work), i);
  if (step != 1 && n > 1) i = un__binary(g, UN__OP_MUL, i, term(g, work, step, &shape));
  if (start != 0) i = un__binary(g, UN__OP_ADD, i, term(g, work, start, &shape));
  return i ? un__cast(g, UN__DT(dtype), i) : NULL;
}

const un_uop *un__tensor_eye(un__graph *g, un_dtype dtype, int64_t rows, int64_t columns) {
  un_dims shape = {2, {rows, columns}};
  if (!un__tensor_check_dtype(g, "eye", dtype) || !un__tensor_check_shape(g, "eye", &shape)) return NULL;
  const un_uop *on =
      un__binary(g, UN__OP_EQ, un__tensor_iota(g, UN_INDEX, &shape, 0), un__tensor_iota(g, UN_INDEX, &shape, 1));
  return on ? un__cast(g, UN__DT(dtype), on) : NULL;
}
