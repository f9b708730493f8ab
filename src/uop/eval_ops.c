/* eval_ops.c - the evaluators named in ops.def: what each ALU op means on scalars.
 *
 * Floats are computed in double and rounded once to the dtype. For + - * / and sqrt that is the correctly rounded
 * result of every narrower format (53 >= 2 * 24 + 2 bits). MULACC needs more care and says so. Transcendental functions
 * of f64 go through long double, whose extra bits (where it has some) make the rounded result right nearly always.
 */
#include "eval.h"

#include <math.h>

static bool give_f(un__dtype dt, double v, un__value *out) {
  *out = un__value_f(dt, v);
  return true;
}

static bool give_i(un__dtype dt, int64_t v, un__value *out) {
  *out = un__value_i(dt, v);
  return true;
}

/* Result of a checked 64-bit operation: narrower integers and 64 bits wrap, index has no value when it overflowed. */
static bool give_wrapped(un__dtype dt, int64_t v, bool overflow, un__value *out) {
  if (overflow && un__dt_is_index(dt)) return false;
  return give_i(dt, v, out);
}

static bool is_float(un__dtype dt) { return un__dt_is_float(dt); }
static bool is_unsigned(un__dtype dt) { return un__dt_class(dt) == UN__CLASS_UINT; }
static int width(un__dtype dt) { return un__dt_info(dt)->mantissa; }

/* ---- unary ---- */

bool un__ev_neg(un__dtype dt, const un__value *a, un__value *out) {
  if (is_float(dt)) return give_f(dt, -a[0].f, out);
  int64_t r;
  bool overflow = __builtin_sub_overflow((int64_t)0, a[0].i, &r);
  return give_wrapped(dt, r, overflow, out);
}

bool un__ev_not(un__dtype dt, const un__value *a, un__value *out) {
  return give_i(dt, un__dt_is_bool(dt) ? !a[0].i : ~a[0].i, out);
}

bool un__ev_recip(un__dtype dt, const un__value *a, un__value *out) { return give_f(dt, 1.0 / a[0].f, out); }
bool un__ev_sqrt(un__dtype dt, const un__value *a, un__value *out) { return give_f(dt, sqrt(a[0].f), out); }
bool un__ev_trunc(un__dtype dt, const un__value *a, un__value *out) { return give_f(dt, trunc(a[0].f), out); }
bool un__ev_floor(un__dtype dt, const un__value *a, un__value *out) { return give_f(dt, floor(a[0].f), out); }

#define TRANSCENDENTAL(name)                                                                                           \
  bool un__ev_##name(un__dtype dt, const un__value *a, un__value *out) {                                               \
    bool wide = un__dt_scalar(dt) == UN_F64;                                                                           \
    return give_f(dt, wide ? (double)name##l((long double)a[0].f) : name(a[0].f), out);                                \
  }

TRANSCENDENTAL(exp)
TRANSCENDENTAL(exp2)
TRANSCENDENTAL(log)
TRANSCENDENTAL(log2)
TRANSCENDENTAL(sin)
TRANSCENDENTAL(cos)
TRANSCENDENTAL(tanh)

/* 1 whatever the other operand is, as C says of quiet NaNs; the C library makes an exception of signalling ones. */
bool un__ev_pow(un__dtype dt, const un__value *a, un__value *out) {
  if (a[1].f == 0 || a[0].f == 1) return give_f(dt, 1.0, out);
  bool wide = un__dt_scalar(dt) == UN_F64;
  return give_f(dt, wide ? (double)powl((long double)a[0].f, (long double)a[1].f) : pow(a[0].f, a[1].f), out);
}

/* ---- arithmetic ---- */

bool un__ev_add(un__dtype dt, const un__value *a, un__value *out) {
  if (is_float(dt)) return give_f(dt, a[0].f + a[1].f, out);
  int64_t r;
  bool overflow = __builtin_add_overflow(a[0].i, a[1].i, &r);
  return give_wrapped(dt, r, overflow, out);
}

bool un__ev_sub(un__dtype dt, const un__value *a, un__value *out) {
  if (is_float(dt)) return give_f(dt, a[0].f - a[1].f, out);
  int64_t r;
  bool overflow = __builtin_sub_overflow(a[0].i, a[1].i, &r);
  return give_wrapped(dt, r, overflow, out);
}

bool un__ev_mul(un__dtype dt, const un__value *a, un__value *out) {
  if (is_float(dt)) return give_f(dt, a[0].f * a[1].f, out);
  int64_t r;
  bool overflow = __builtin_mul_overflow(a[0].i, a[1].i, &r);
  return give_wrapped(dt, r, overflow, out);
}

bool un__ev_fdiv(un__dtype dt, const un__value *a, un__value *out) { return give_f(dt, a[0].f / a[1].f, out); }

/* a * b + c rounded to odd: `p` is exact, and of the sum the error term says whether bits were cut and on which side,
 * so a result whose last bit is even is moved one step towards the exact sum. A later rounding to at least two bits
 * less is then the rounding of the exact value. */
static double sum_to_odd(double p, double c) {
  double s = p + c;
  if (!isfinite(s)) return s;
  double t = s - p, lost = (p - (s - t)) + (c - t);
  if (lost == 0) return s;
  union {
    double f;
    uint64_t u;
  } v = {.f = s};
  return v.u & 1 ? s : nextafter(s, lost > 0 ? (double)INFINITY : -(double)INFINITY);
}

static double fused(un_dtype dt, double a, double b, double c) {
  if (dt == UN_F64) return fma(a, b, c);
  if (dt == UN_F32) return (double)fmaf((float)a, (float)b, (float)c);
  return sum_to_odd(a * b, c);
}

bool un__ev_mulacc(un__dtype dt, const un__value *a, un__value *out) {
  if (is_float(dt)) return give_f(dt, fused(un__dt_scalar(dt), a[0].f, a[1].f, a[2].f), out);
  int64_t product, r;
  bool overflow = __builtin_mul_overflow(a[0].i, a[1].i, &product);
  overflow |= __builtin_add_overflow(product, a[2].i, &r);
  return give_wrapped(dt, r, overflow, out);
}

/* ---- division ---- */

/* Quotient towards zero with its remainder; b is not 0. False where the quotient leaves int64: MIN / -1. */
static bool divide(int64_t a, int64_t b, int64_t *quotient, int64_t *remainder) {
  if (b == -1) {
    *remainder = 0;
    return !__builtin_sub_overflow((int64_t)0, a, quotient);
  }
  *quotient = a / b;
  *remainder = a % b;
  return true;
}

bool un__ev_truncdiv(un__dtype dt, const un__value *a, un__value *out) {
  int64_t q, r;
  if (a[1].i == 0) return give_i(dt, 0, out);
  if (is_unsigned(dt)) return give_i(dt, (int64_t)((uint64_t)a[0].i / (uint64_t)a[1].i), out);
  bool fits = divide(a[0].i, a[1].i, &q, &r);
  return give_wrapped(dt, q, !fits, out);
}

bool un__ev_truncmod(un__dtype dt, const un__value *a, un__value *out) {
  int64_t q, r;
  if (a[1].i == 0) return give_i(dt, a[0].i, out);
  if (is_unsigned(dt)) return give_i(dt, (int64_t)((uint64_t)a[0].i % (uint64_t)a[1].i), out);
  divide(a[0].i, a[1].i, &q, &r);
  return give_i(dt, r, out);
}

bool un__ev_floordiv(un__dtype dt, const un__value *a, un__value *out) {
  int64_t q, r;
  if (is_unsigned(dt) || a[1].i == 0) return un__ev_truncdiv(dt, a, out);
  bool fits = divide(a[0].i, a[1].i, &q, &r);
  bool below = r != 0 && (r < 0) != (a[1].i < 0);
  return give_wrapped(dt, below ? q - 1 : q, !fits, out);
}

bool un__ev_floormod(un__dtype dt, const un__value *a, un__value *out) {
  int64_t q, r;
  if (is_unsigned(dt) || a[1].i == 0) return un__ev_truncmod(dt, a, out);
  divide(a[0].i, a[1].i, &q, &r);
  bool below = r != 0 && (r < 0) != (a[1].i < 0);
  return give_i(dt, below ? r + a[1].i : r, out);
}

/* ---- order ---- */

/* Of operands of one dtype, neither NaN. */
static bool less(const un__value *a, const un__value *b) {
  if (is_float(a->dtype)) return a->f < b->f;
  return is_unsigned(a->dtype) ? (uint64_t)a->i < (uint64_t)b->i : a->i < b->i;
}

static bool equal(const un__value *a, const un__value *b) { return is_float(a->dtype) ? a->f == b->f : a->i == b->i; }

bool un__ev_lt(un__dtype dt, const un__value *a, un__value *out) { return give_i(dt, less(&a[0], &a[1]), out); }
bool un__ev_eq(un__dtype dt, const un__value *a, un__value *out) { return give_i(dt, equal(&a[0], &a[1]), out); }
bool un__ev_ne(un__dtype dt, const un__value *a, un__value *out) { return give_i(dt, !equal(&a[0], &a[1]), out); }

/* The operand that MAX (or MIN) gives. +0 counts as larger than -0, so that the order of the operands never matters. */
static bool pick(un__dtype dt, const un__value *a, bool want_less, un__value *out) {
  if (is_float(dt)) {
    if (isnan(a[0].f) || isnan(a[1].f)) return give_f(dt, (double)NAN, out);
    if (a[0].f == a[1].f) {
      *out = (signbit(a[0].f) != 0) == want_less ? a[0] : a[1];
      return true;
    }
  }
  *out = less(&a[0], &a[1]) == want_less ? a[0] : a[1];
  return true;
}

bool un__ev_max(un__dtype dt, const un__value *a, un__value *out) { return pick(dt, a, false, out); }
bool un__ev_min(un__dtype dt, const un__value *a, un__value *out) { return pick(dt, a, true, out); }

bool un__ev_where(un__dtype dt, const un__value *a, un__value *out) {
  *out = a[0].i ? a[1] : a[2];
  return true;
}

/* ---- bits ---- */

bool un__ev_and(un__dtype dt, const un__value *a, un__value *out) { return give_i(dt, a[0].i & a[1].i, out); }
bool un__ev_or(un__dtype dt, const un__value *a, un__value *out) { return give_i(dt, a[0].i | a[1].i, out); }
bool un__ev_xor(un__dtype dt, const un__value *a, un__value *out) { return give_i(dt, a[0].i ^ a[1].i, out); }

/* index has no bits to shift out: a count outside [0, 64) or a product outside int64 is no value. */
static bool shift_index(int64_t a, int64_t count, un__value *out) {
  if (count < 0 || count > 63) return false;
  int64_t r = (int64_t)((uint64_t)a << count);
  return r >> count == a && give_i(UN__DT(UN_INDEX), r, out);
}

bool un__ev_shl(un__dtype dt, const un__value *a, un__value *out) {
  if (un__dt_is_index(dt)) return shift_index(a[0].i, a[1].i, out);
  bool in_range = a[1].i >= 0 && a[1].i < width(dt);
  return give_i(dt, in_range ? (int64_t)((uint64_t)a[0].i << a[1].i) : 0, out);
}

bool un__ev_shr(un__dtype dt, const un__value *a, un__value *out) {
  bool in_range = a[1].i >= 0 && a[1].i < width(dt);
  if (is_unsigned(dt)) return give_i(dt, in_range ? (int64_t)((uint64_t)a[0].i >> a[1].i) : 0, out);
  return give_i(dt, a[0].i >> (in_range ? a[1].i : 63), out);
}

/* ---- random bits ---- */

static uint32_t rotate_left(uint32_t v, unsigned n) { return v << n | v >> (32 - n); }

/* Threefry-2x32, 20 rounds. The low half of a u64 is word 0 of the counter, key and result, the high half word 1. */
bool un__ev_threefry(un__dtype dt, const un__value *a, un__value *out) {
  static const uint8_t rotation[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  uint64_t counter = (uint64_t)a[0].i, key = (uint64_t)a[1].i;
  uint32_t k[3] = {(uint32_t)key, (uint32_t)(key >> 32), 0x1BD11BDA};
  k[2] ^= k[0] ^ k[1];
  uint32_t x0 = (uint32_t)counter + k[0], x1 = (uint32_t)(counter >> 32) + k[1];
  for (uint32_t round = 0; round < 20; round++) {
    x0 += x1;
    x1 = rotate_left(x1, rotation[round % 8]) ^ x0;
    if (round % 4 != 3) continue;
    uint32_t injection = round / 4 + 1;
    x0 += k[injection % 3];
    x1 += k[(injection + 1) % 3] + injection;
  }
  return give_i(dt, (int64_t)((uint64_t)x1 << 32 | x0), out);
}

/* ---- conversions ---- */

/* Towards zero; what is out of range gives the nearest end, NaN gives 0. index has no ends. */
static bool float_to_integer(un__dtype dt, double v, un__value *out) {
  if (isnan(v)) return give_i(dt, 0, out);
  bool has_sign = !is_unsigned(dt);
  int bits = width(dt) - has_sign;
  double end = ldexp(1.0, bits); /* first value too large */
  uint64_t max = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
  v = trunc(v);
  bool above = v >= end, below = v < (has_sign ? -end : 0);
  if (un__dt_is_index(dt) && (above || below)) return false;
  if (above) return give_i(dt, (int64_t)max, out);
  if (below) return give_i(dt, has_sign ? (int64_t)~max : 0, out);
  return give_i(dt, has_sign ? (int64_t)v : (int64_t)(uint64_t)v, out);
}

bool un__ev_cast(un__dtype dt, const un__value *a, un__value *out) {
  bool from_float = is_float(a->dtype), from_unsigned = is_unsigned(a->dtype);
  if (un__dt_is_bool(dt)) return give_i(dt, from_float ? a->f != 0 : a->i != 0, out);
  if (is_float(dt)) {
    double v = from_float ? a->f : un__round_integer(un__dt_scalar(dt), a->i, from_unsigned);
    return give_f(dt, v, out);
  }
  if (from_float) return float_to_integer(dt, a->f, out);
  if (un__dt_is_index(dt) && from_unsigned && a->i < 0) return false;
  return give_i(dt, a->i, out);
}

bool un__ev_bitcast(un__dtype dt, const un__value *a, un__value *out) {
  *out = un__value_from_bits(dt, un__value_bits(a[0]));
  return true;
}
