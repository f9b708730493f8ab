/* math.c - elementwise calls composed of several ops. Formulas: unir/tensor.h.
 *
 * f16 and bf16 go through f32 in functions of several steps and are rounded once, at the end. */
#include "tensor.h"

#include <math.h>

typedef const un_uop *node;

static node add(un__graph *g, node a, node b) { return un__binary(g, UN__OP_ADD, a, b); }
static node sub(un__graph *g, node a, node b) { return un__binary(g, UN__OP_SUB, a, b); }
static node mul(un__graph *g, node a, node b) { return un__binary(g, UN__OP_MUL, a, b); }
static node fdiv(un__graph *g, node a, node b) { return un__binary(g, UN__OP_FDIV, a, b); }
static node lt(un__graph *g, node a, node b) { return un__binary(g, UN__OP_LT, a, b); }
static node pick(un__graph *g, node c, node a, node b) { return un__ternary(g, UN__OP_WHERE, c, a, b); }
static node num(un__graph *g, node x, double v) { return un__tensor_like(g, x, v); }
static node scale(un__graph *g, node x, double v) { return mul(g, x, num(g, x, v)); }

static bool is_unsigned(node x) { return un__dt_is_bool(x->dtype) || un__dt_class(x->dtype) == UN__CLASS_UINT; }

/* Applies f to x as f32 or f64 and brings the result back to x's float dtype. */
static node in_f32(un__graph *g, node x, node (*f)(un__graph *, node)) {
  x = un__tensor_as_float(g, x);
  if (!x) return NULL;
  un__dtype d = x->dtype;
  node y = f(g, un__cast(g, UN__DT(un__tensor_accumulator(un__dt_scalar(d))), x));
  return y ? un__cast(g, d, y) : NULL;
}

#define FLOAT_CALL(name) \
  node un__tensor_##name(un__graph *g, node x) { return in_f32(g, x, name##_of); }

/* ---- sign and rounding ---- */

/* Clears the sign bit. */
static node float_abs(un__graph *g, node x) {
  static const un_dtype by_size[] = {[1] = UN_U8, [2] = UN_U16, [4] = UN_U32, [8] = UN_U64};
  size_t size = un_dtype_size(un__tensor_dtype(x));
  un__dtype bits = UN__DT(by_size[size]);
  un_dims d;
  if (!un__tensor_dims(g, x, &d)) return NULL;
  node mask = un__tensor_spread(g, un__const_bits(g, bits, (UINT64_C(1) << (8 * size - 1)) - 1), &d);
  node y = un__uop(g, UN__OP_BITCAST, bits, &x, 1, NULL, 0);
  y = un__binary(g, UN__OP_AND, y, mask);
  return y ? un__uop(g, UN__OP_BITCAST, x->dtype, &y, 1, NULL, 0) : NULL;
}

node un__tensor_abs(un__graph *g, node x) {
  if (!x || is_unsigned(x)) return x;
  if (un__dt_is_float(x->dtype)) return float_abs(g, x);
  return pick(g, lt(g, x, num(g, x, 0)), un__unary(g, UN__OP_NEG, x), x);
}

node un__tensor_sign(un__graph *g, node x) {
  if (!x || un__dt_is_bool(x->dtype)) return x;
  node up = pick(g, lt(g, num(g, x, 0), x), num(g, x, 1), x);
  return is_unsigned(x) ? up : pick(g, lt(g, x, num(g, x, 0)), num(g, x, -1), up);
}

node un__tensor_ceil(un__graph *g, node x) {
  if (!x || !un__dt_is_float(x->dtype)) return x;
  return un__unary(g, UN__OP_NEG, un__unary(g, UN__OP_FLOOR, un__unary(g, UN__OP_NEG, x)));
}

/* t = trunc x and the rest r = |x - t| are exact. Away from zero when r > 1/2, or r = 1/2 and t is odd. Large x have no
 * rest; infinities have the rest NaN, which compares false. */
node un__tensor_round(un__graph *g, node x) {
  if (!x || !un__dt_is_float(x->dtype)) return x;
  node t = un__unary(g, UN__OP_TRUNC, x), half = num(g, x, 0.5), h = mul(g, t, half);
  node d = sub(g, x, t);
  node rest = d ? float_abs(g, d) : NULL;
  node odd = un__binary(g, UN__OP_NE, h, un__unary(g, UN__OP_TRUNC, h));
  node tie = un__binary(g, UN__OP_AND, un__binary(g, UN__OP_EQ, rest, half), odd);
  node away = un__binary(g, UN__OP_OR, lt(g, half, rest), tie);
  node one = pick(g, lt(g, x, num(g, x, 0)), num(g, x, -1), num(g, x, 1));
  return pick(g, away, add(g, t, one), t);
}

node un__tensor_isnan(un__graph *g, node x) {
  if (!x) return NULL;
  if (un__dt_is_float(x->dtype)) return un__binary(g, UN__OP_NE, x, x);
  un_dims d;
  return un__tensor_dims(g, x, &d) ? un__tensor_spread(g, un__const_i(g, UN__DT(UN_BOOL), 0), &d) : NULL;
}

node un__tensor_square(un__graph *g, node x) { return un__tensor_mul(g, x, x); }

node un__tensor_relu(un__graph *g, node x) {
  if (!x || is_unsigned(x)) return x;
  return un__binary(g, UN__OP_MAX, x, num(g, x, 0));
}

/* ---- trigonometry ---- */

static node tan_of(un__graph *g, node x) {
  return fdiv(g, un__unary(g, UN__OP_SIN, x), un__unary(g, UN__OP_COS, x));
}

/* ---- exponentials ---- */

static node rsqrt_of(un__graph *g, node x) { return un__unary(g, UN__OP_RECIP, un__unary(g, UN__OP_SQRT, x)); }

/* 1 + exp(-x) */
static node logistic_denominator(un__graph *g, node x) {
  return x ? add(g, un__unary(g, UN__OP_EXP, un__unary(g, UN__OP_NEG, x)), num(g, x, 1)) : NULL;
}

static node sigmoid_of(un__graph *g, node x) { return un__unary(g, UN__OP_RECIP, logistic_denominator(g, x)); }
static node silu_of(un__graph *g, node x) { return x ? fdiv(g, x, logistic_denominator(g, x)) : NULL; }

node un__tensor_tanh(un__graph *g, node x) { return un__unary(g, UN__OP_TANH, un__tensor_as_float(g, x)); }

/* c[0] x^(n-1) + ... + c[n-1] */
static node polynomial(un__graph *g, node x, const double *c, int n) {
  node y = num(g, x, c[0]);
  for (int i = 1; i < n; i++) y = add(g, i == 1 && c[0] == 1 ? x : mul(g, y, x), num(g, x, c[i]));
  return y;
}

static node rational(un__graph *g, node x, const double *p, int np, const double *q, int nq) {
  return fdiv(g, polynomial(g, x, p, np), polynomial(g, x, q, nq));
}

/* The sign of x on a magnitude that is not negative. */
static node with_sign_of(un__graph *g, node x, node magnitude) {
  return pick(g, lt(g, x, num(g, x, 0)), un__unary(g, UN__OP_NEG, magnitude), magnitude);
}

/* Coefficients: S. L. Moshier, Cephes, ndtr.c (f64): erf on |x| < 1, erfc on [1, 8). */
static node erf_of(un__graph *g, node x) {
  static const double t[] = {9.60497373987051638749E0, 9.00260197203842689217E1, 2.23200534594684319226E3,
                             7.00332514112805075473E3, 5.55923013010394962768E4};
  static const double u[] = {1, 3.35617141647503099647E1, 5.21357949780152679795E2, 4.59432382970980127987E3,
                             2.26290000613890934246E4, 4.92673942608635921086E4};
  static const double p[] = {2.46196981473530512524E-10, 5.64189564831068821977E-1, 7.46321056442269912687E0,
                             4.86371970985681366614E1, 1.96520832956077098242E2, 5.26445194995477358631E2,
                             9.34528527171957607540E2, 1.02755188689515710272E3, 5.57535335369399327526E2};
  static const double q[] = {1, 1.32281951154744992508E1, 8.67072140885989742329E1, 3.54937778887819891062E2,
                             9.75708501743205489753E2, 1.82390916687909736289E3, 2.24633760818710981792E3,
                             1.65666309194161350182E3, 5.57535340817727675546E2};
  if (!x) return NULL;
  node z = mul(g, x, x), a = float_abs(g, x);
  if (!z || !a) return NULL;
  node small = mul(g, x, rational(g, z, t, 5, u, 6));
  /* erf is 1 to the last bit of f64 beyond 6; clipping keeps p and q finite and NaN a NaN. */
  node c = un__binary(g, UN__OP_MIN, a, num(g, x, 6));
  if (!c) return NULL;
  node tail = mul(g, un__unary(g, UN__OP_EXP, un__unary(g, UN__OP_NEG, mul(g, c, c))), rational(g, c, p, 9, q, 9));
  node large = sub(g, num(g, x, 1), tail);
  return pick(g, lt(g, a, num(g, x, 1)), small, with_sign_of(g, x, large));
}

/* x/2 * (1 + y) */
static node gate(un__graph *g, node x, node y) { return y ? mul(g, scale(g, x, 0.5), add(g, y, num(g, y, 1))) : NULL; }

static node gelu_of(un__graph *g, node x) {
  return x ? gate(g, x, erf_of(g, scale(g, x, 0.70710678118654752440))) : NULL;
}

static node gelu_tanh_of(un__graph *g, node x) {
  node cube = mul(g, mul(g, x, x), x);
  node inner = cube ? add(g, x, scale(g, cube, 0.044715)) : NULL;
  return inner ? gate(g, x, un__unary(g, UN__OP_TANH, scale(g, inner, 0.79788456080286535588))) : NULL;
}

FLOAT_CALL(tan)
FLOAT_CALL(rsqrt)
FLOAT_CALL(sigmoid)
FLOAT_CALL(silu)
FLOAT_CALL(erf)
FLOAT_CALL(gelu)
FLOAT_CALL(gelu_tanh)
