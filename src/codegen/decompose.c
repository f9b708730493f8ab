/* decompose.c - the two decompositions that are loops over tables, which a template cannot say. */
#include "decompose.h"

/* Shorthand for nodes of one graph; every helper passes NULL on. */
typedef struct maker { un__graph *g; uint32_t lanes; } maker;
typedef const un_uop *node;

static node c64(maker m, uint64_t v) { return un__const_i(m.g, un__dt_vec(UN_U64, m.lanes), (int64_t)v); }
static node op2(maker m, un__op op, node a, node b) { return un__binary(m.g, op, a, b); }
static node add(maker m, node a, node b) { return op2(m, UN__OP_ADD, a, b); }
static node mul(maker m, node a, node b) { return op2(m, UN__OP_MUL, a, b); }
static node or2(maker m, node a, node b) { return op2(m, UN__OP_OR, a, b); }
static node mask(maker m, node a, uint64_t bits) { return op2(m, UN__OP_AND, a, c64(m, bits)); }
static node right(maker m, node a, uint64_t n) { return op2(m, UN__OP_SHR, a, c64(m, n)); }
static node left(maker m, node a, uint64_t n) { return op2(m, UN__OP_SHL, a, c64(m, n)); }
static node where(maker m, node c, node a, node b) { return un__ternary(m.g, UN__OP_WHERE, c, a, b); }
static node cast(maker m, un_dtype d, node a) { return un__cast(m.g, un__dt_vec(d, m.lanes), a); }

static node bitcast(maker m, un_dtype d, node a) {
  return un__uop(m.g, UN__OP_BITCAST, un__dt_vec(d, m.lanes), &a, 1, NULL, 0);
}

/* ---- sine and cosine of large arguments ---- */

/* 64 zero bits, then 1/pi from the bit of weight 1 on: enough for the largest exponent of f64. */
enum { PI_WORDS = 20 };
static const uint64_t inverse_pi[PI_WORDS] = {
  0x0000000000000000, 0x28be60db9391054a, 0x7f09d5f47d4d3770, 0x36d8a5664f10e410, 0x7f9458eaf7aef158,
  0x6dc91b8e909374b8, 0x01924bba82746487, 0x3f877ac72c4a69cf, 0xba208d7d4baed121, 0x3a671c09ad17df90,
  0x4e64758e60d4ce7d, 0x272117e2ef7e4a0e, 0xc7fe25fff7816603, 0xfbcbc462d6829b47, 0xdb4d9fb3c9f2c26d,
  0xd3d18fd9a797fa8b, 0x5d49eeb1faf97c5e, 0xcf41ce7de294a4ba, 0x9afed7ec47e35742, 0x1580cc11bf1edaea,
};

/* out[0..3]: words k..k+3 of the table for the word number k in [0, 16], by one choice a bit of k. */
static void select_words(maker m, node k, node out[4]) {
  node w[PI_WORDS];
  for (int i = 0; i < PI_WORDS; i++) w[i] = c64(m, inverse_pi[i]);
  for (int step = 16, keep = 4 + 15; step; step /= 2, keep = 4 + step - 1) {
    node far = op2(m, UN__OP_NE, mask(m, k, (uint64_t)step), c64(m, 0));
    for (int i = 0; i < keep && i + step < PI_WORDS; i++) w[i] = where(m, far, w[i + step], w[i]);
  }
  for (int i = 0; i < 4; i++) out[i] = w[i];
}

/* 64 bits from bit n (0 to 63) of the 128 bits hi, lo. A shift by 64 gives 0, as SHR says. */
static node funnel(maker m, node hi, node lo, node n) {
  node back = op2(m, UN__OP_SUB, c64(m, 64), n);
  return or2(m, op2(m, UN__OP_SHL, hi, n), op2(m, UN__OP_SHR, lo, back));
}

/* The high word of a * b, for a below 2^53, from products of 32-bit halves; no sum overflows. */
static node mul_high(maker m, node a, node b) {
  node al = mask(m, a, UINT32_MAX), ah = right(m, a, 32), bl = mask(m, b, UINT32_MAX), bh = right(m, b, 32);
  node t = add(m, mul(m, ah, bl), right(m, mul(m, al, bl), 32));
  node u = add(m, mul(m, al, bh), mask(m, t, UINT32_MAX));
  return add(m, add(m, mul(m, ah, bh), right(m, t, 32)), right(m, u, 32));
}

/* |x| / pi modulo 2 as a fraction of 128 bits: out[0] the high word, whose top bit has weight 1. */
static void turns(maker m, node bits, node out[2]) {
  node mantissa = or2(m, mask(m, bits, UINT64_C(0xfffffffffffff)), c64(m, UINT64_C(1) << 52));
  /* The bit of 1/pi whose product with the mantissa's last bit has weight 1. Smaller arguments, which are not asked
   * for, and infinities must only stay inside the table. */
  node exponent = mask(m, right(m, bits, 52), 2047);
  node place = op2(m, UN__OP_SUB, op2(m, UN__OP_MIN, op2(m, UN__OP_MAX, exponent, c64(m, 1043)), c64(m, 2046)), c64(m, 1011));
  node word[4], part[3], shift = mask(m, place, 63);
  select_words(m, right(m, place, 6), word);
  for (int i = 0; i < 3; i++) part[i] = funnel(m, word[i], word[i + 1], shift);
  node middle = mul(m, mantissa, part[1]);
  out[1] = add(m, middle, mul_high(m, mantissa, part[2]));
  node carry = where(m, op2(m, UN__OP_LT, out[1], middle), c64(m, 1), c64(m, 0));
  out[0] = add(m, add(m, mul(m, mantissa, part[0]), mul_high(m, mantissa, part[1])), carry);
}

/* The angle in [-pi/2, pi/2] with the sine of pi * t, negated where the top bit of `flip` is set; NaN where x is not finite. */
static node angle_of(maker m, node x, node bits, const node t[2], node flip) {
  un__dtype f64 = un__dt_vec(UN_F64, m.lanes);
  /* Without its top bit the fraction is in [0, 1); as a signed number in [-1/2, 1/2), one half turn more when below 0. */
  node high = cast(m, UN_F64, bitcast(m, UN_I64, or2(m, left(m, t[0], 1), right(m, t[1], 63))));
  node low = cast(m, UN_F64, left(m, t[1], 1));
  node fraction = add(m, mul(m, high, un__const_f(m.g, f64, 0x1p-64)), mul(m, low, un__const_f(m.g, f64, 0x1p-128)));
  node angle = mul(m, fraction, un__const_f(m.g, f64, 0x1.921fb54442d18p+1));
  node half_turns = op2(m, UN__OP_XOR, t[0], left(m, t[0], 1));
  node sign = mask(m, op2(m, UN__OP_XOR, half_turns, flip), UINT64_C(1) << 63);
  node signed_angle = bitcast(m, UN_F64, op2(m, UN__OP_XOR, bitcast(m, UN_U64, angle), sign));
  node finite = op2(m, UN__OP_LT, mask(m, bits, INT64_MAX), c64(m, UINT64_C(0x7ff0000000000000)));
  return where(m, finite, signed_angle, op2(m, UN__OP_SUB, x, x));
}

const un_uop *un__fn_sin_f64_large(un__rw *rw, const un_uop *x) {
  maker m = {rw->g, un__lanes(x)};
  node bits = bitcast(m, UN_U64, x), t[2];
  turns(m, bits, t);
  return angle_of(m, x, bits, t, bits);
}

/* cos x = sin(|x| + pi/2): half a turn of pi more, and the sign of x does not matter. */
const un_uop *un__fn_cos_f64_large(un__rw *rw, const un_uop *x) {
  maker m = {rw->g, un__lanes(x)};
  node bits = bitcast(m, UN_U64, x), t[2];
  turns(m, bits, t);
  t[0] = add(m, t[0], c64(m, UINT64_C(1) << 62));
  return angle_of(m, x, bits, t, c64(m, 0));
}

/* ---- random numbers ---- */

const un_uop *un__fn_threefry_rounds(un__rw *rw, const un_uop *counter, const un_uop *key) {
  static const uint8_t rotation[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  maker m = {rw->g, un__lanes(counter)};
  un__dtype u32 = un__dt_vec(UN_U32, m.lanes);
  node k[3] = {cast(m, UN_U32, key), cast(m, UN_U32, right(m, key, 32)), NULL};
  k[2] = op2(m, UN__OP_XOR, op2(m, UN__OP_XOR, k[0], k[1]), un__const_i(m.g, u32, 0x1BD11BDA));
  node x0 = add(m, cast(m, UN_U32, counter), k[0]), x1 = add(m, cast(m, UN_U32, right(m, counter, 32)), k[1]);
  for (uint32_t round = 0; round < 20; round++) {
    int64_t by = rotation[round % 8];
    x0 = add(m, x0, x1);
    node turned = or2(m, op2(m, UN__OP_SHL, x1, un__const_i(m.g, u32, by)), op2(m, UN__OP_SHR, x1, un__const_i(m.g, u32, 32 - by)));
    x1 = op2(m, UN__OP_XOR, turned, x0);
    if (round % 4 != 3) continue;
    uint32_t injection = round / 4 + 1;
    x0 = add(m, x0, k[injection % 3]);
    x1 = add(m, add(m, x1, k[(injection + 1) % 3]), un__const_i(m.g, u32, injection));
  }
  return or2(m, left(m, cast(m, UN_U64, x1), 32), cast(m, UN_U64, x0));
}
