// decompose64.pat - EXP EXP2 LOG LOG2 SIN COS TANH of f64 in the manner of decompose.pat, within 3 ULP of samples.
c_include "codegen/decompose.h"

extern fn sin_f64_large(x: node): node
extern fn cos_f64_large(x: node): node

/// A product as it is rounded. One whose error is about to be computed must not be contracted into the sum beside it, nor
/// one that is a function's result: the sum there is the user's, and exp(x) - exp(x) is 0 or, past the largest number, NaN.
fn rounded(x: node): node = BITCAST<f64>(BITCAST<u64>(x))

/// 2^n of an integral double in [-1074, 1100): its low bits, once it is added to 1.5 * 2^52, are n.
fn pow2_f64(n: node): node = BITCAST<f64>((BITCAST<i64>(n + 0x1.8p52) + 1023) << 52)
fn scale_half_f64(p: node, n: node, half: node): node = rounded(p * pow2_f64(half) * pow2_f64(n - half))
/// p * 2^n in two steps, as for f32.
fn scale_f64(p: node, n: node): node = scale_half_f64(p, n, FLOOR(n * 0.5))

/// (2^f - 1) / f for f in [-0.5, 0.5].
fn exp2_poly_f64(f: node): node =
  ((((((((((0x1.c4a2aaa2b01d9p-36 * f + 0x1.e9ec3d7558475p-32) * f + 0x1.e4cf10d1896bep-28) * f +
  0x1.b524ebc089f66p-24) * f + 0x1.62c02242bb0bdp-20) * f + 0x1.ffcbfc6dad6adp-17) * f + 0x1.430912f86b7d4p-13) *
  f + 0x1.5d87fe78a3f8cp-10) * f + 0x1.3b2ab6fba4e79p-7) * f + 0x1.c6b08d704a0c6p-5) * f + 0x1.ebfbdff82c58fp-3) *
  f + 0x1.62e42fefa39efp-1

/// (e^r - 1 - r) / r^2 for |r| <= ln2 / 2.
fn exp_poly_f64(r: node): node =
  (((((((((0x1.1f7315649f2d7p-29 * r + 0x1.af4e092e1705bp-26) * r + 0x1.27e4db5bb725ap-22) * r +
  0x1.71de02225a2f3p-19) * r + 0x1.a01a01a6db488p-16) * r + 0x1.a01a01abeccc3p-13) * r + 0x1.6c16c16c162cfp-10) *
  r + 0x1.11111111100d3p-7) * r + 0x1.5555555555556p-5) * r + 0x1.5555555555557p-3) * r + 0.5

/// ((log(1 + s) - log(1 - s)) / s - 2) / s^2 for z = s^2, |s| <= 0.1716.
fn log_poly_f64(z: node): node =
  (((((0x1.2b5b5fb2eec9bp-3 * z + 0x1.39fe208c32e37p-3) * z + 0x1.7462b697053bcp-3) * z + 0x1.c71c62debf86ap-3) *
  z + 0x1.2492492df6947p-2) * z + 0x1.99999999952b2p-2) * z + 0x1.5555555555558p-1

/// The logarithm takes x = m * 2^e with m in [sqrt(1/2), sqrt(2)), from the bits of x plus those of 1 less those of
/// sqrt(1/2): their exponent field counts from there.
fn biased_f64(x: node): node = BITCAST<u64>(x) + 0x95f619980c433
fn mantissa_f64(v: node): node = BITCAST<f64>((v & 0xfffffffffffff) + 0x3fe6a09e667f3bcd)
/// e as a double: a small integer under the exponent of 2^52.
fn exponent_f64(v: node): node = BITCAST<f64>((v >> 52) | 0x4330000000000000) - 0x1.00000000003ffp52

/// r is the logarithm of x unless x is 0, less, infinite or NaN.
fn log_ends(x: node, r: node): node = WHERE(EQ(x, 0.0), -@inf, WHERE(LT(x, 0.0), @nan, WHERE(LT(x, @inf), r, x)))

/// (sin(r) - r) / r^3 for z = r^2, |r| <= pi / 2.
fn sin_poly_f64(z: node): node =
  (((((((-0x1.275eb4e1d472dp-57 * z + 0x1.9507fa9eae2e3p-49) * z - 0x1.ae7ee39713d23p-41) * z +
  0x1.612460b68a795p-33) * z - 0x1.ae64567e72f5dp-26) * z + 0x1.71de3a556b9b1p-19) * z - 0x1.a01a01a01a00dp-13) *
  z + 0x1.1111111111111p-7) * z - 0x1.5555555555555p-3

/// (tanh(a) / a - 1) / z for z = a^2, a < 5/8, as p / q (Cephes, tanh.c).
fn tanh_p_f64(z: node): node = (-9.64399179425052238628e-1 * z - 9.92877231001918586564e1) * z - 1.61468768441708447952e3
fn tanh_q_f64(z: node): node = ((z + 1.12811678491632931402e2) * z + 2.23548839060100448583e3) * z + 4.84406305325125486048e3
fn signed_f64(y: node, x: node): node = BITCAST<f64>(BITCAST<u64>(y) | (BITCAST<u64>(x) & 0x8000000000000000))

fn sin_near_f64(r: node, z: node): node = r * z * sin_poly_f64(z) + r

ruleset decompose_f64 {
  /// As for f32, the small ones by a quotient of their own: one division does both.
  @proof(fuzz)
  rule tanh_f64: TANH(x:f64)
    let a = BITCAST<f64>(BITCAST<u64>(x) & 0x7fffffffffffffff)
    let small = LT(a, 0.625)
    let z = a * a
    let g = WHERE(small, z * tanh_p_f64(z), -2.0) / WHERE(small, tanh_q_f64(z), EXP(a + a) + 1.0)
    let base = WHERE(small, a, 1.0)
    => signed_f64(base * g + base, x)
    test TANH(v:f64) -> fires
    test TANH(v:f32) -> nomatch

  /// 2^x = 2^n * 2^f, n the nearest integer.
  @proof(fuzz)
  rule exp2_f64: EXP2(x:f64)
    let low = WHERE(LT(x, -1080.0), -1080.0, x)
    let c = WHERE(LT(1030.0, low), 1030.0, low)
    let n = FLOOR(c + 0.5)
    let f = c - n
    => scale_f64(exp2_poly_f64(f) * f + 1.0, n)
    test EXP2(v:f64) -> fires
    test EXP2(v:f32) -> nomatch

  /// The first part of ln2 has 32 bits, so its product with n is exact.
  @proof(fuzz)
  rule exp_f64: EXP(x:f64)
    let low = WHERE(LT(x, -750.0), -750.0, x)
    let c = WHERE(LT(715.0, low), 715.0, low)
    let n = FLOOR(c * 0x1.71547652b82fep+0 + 0.5)
    let r = (c - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33
    => scale_f64((exp_poly_f64(r) * (r * r) + r) + 1.0, n)
    test EXP(v:f64) -> fires
    test EXP(v:f32) -> nomatch

  /// log(1 + f) = f - h + s * (h + ...), s = f / (2 + f), h = f^2 / 2.
  @proof(fuzz)
  rule log_f64: LOG(x:f64)
    let small = LT(x, 0x1.0p-1022)
    let v = biased_f64(WHERE(small, x * 0x1.0p54, x))
    let e = exponent_f64(v) - WHERE(small, 54.0:dtype(x), 0.0:dtype(x))
    let f = mantissa_f64(v) - 1.0
    let s = FDIV(f, f + 2.0)
    let z = s * s
    let h = f * f * 0.5
    let t = s * (h + z * log_poly_f64(z))
    => log_ends(x, e * 0x1.62e42feep-1 - ((h - (t + e * 0x1.a39ef35793c76p-33)) - f))
    test LOG(v:f64) -> fires
    test LOG(v:f32) -> nomatch

  /// The high half of log(m) has 21 bits and so has the first part of log2(e): their product is exact.
  @proof(fuzz)
  rule log2_f64: LOG2(x:f64)
    let small = LT(x, 0x1.0p-1022)
    let v = biased_f64(WHERE(small, x * 0x1.0p54, x))
    let e = exponent_f64(v) - WHERE(small, 54.0:dtype(x), 0.0:dtype(x))
    let f = mantissa_f64(v) - 1.0
    let s = FDIV(f, f + 2.0)
    let z = s * s
    let h = f * f * 0.5
    let t = s * (h + z * log_poly_f64(z))
    let hi = BITCAST<f64>(BITCAST<u64>(f - h) & 0xffffffff00000000)
    let lo = ((f - hi) - h) + t
    let high = hi * 0x1.71547652p+0
    let low = (lo + hi) * 0x1.705fc2eefa2p-33 + lo * 0x1.71547652p+0
    let w = e + high
    => log_ends(x, (low + ((e - w) + high)) + w)
    test LOG2(v:f64) -> fires
    test LOG2(v:f32) -> nomatch

  /// Below 2^20 pi in three parts, the first two of 32 bits, is enough; above, as many bits of 1/pi as it takes. A zero
  /// keeps its sign.
  @proof(fuzz)
  rule sin_f64: SIN(x:f64)
    let a = BITCAST<f64>(BITCAST<u64>(x) & 0x7fffffffffffffff)
    let n = FLOOR(x * 0x1.45f306dc9c883p-2 + 0.5)
    let odd = n - FLOOR(n * 0.5) * 2.0
    let near = (((x - n * 0x1.921fb544p+1) - n * 0x1.0b4611a6p-33) - n * 0x1.3198a2e037073p-68) * (1.0 - odd * 2.0)
    let r = WHERE(LT(a, 0x1.0p20), near, sin_f64_large(x))
    => WHERE(EQ(x, 0.0), x, sin_near_f64(r, r * r))
    test SIN(v:f64) -> fires
    test SIN(v:f32) -> nomatch

  /// cos x is the sine of what is left of x beside an odd multiple of pi/2, n = k + 1/2 times pi; negated when k is even.
  @proof(fuzz)
  rule cos_f64: COS(x:f64)
    let a = BITCAST<f64>(BITCAST<u64>(x) & 0x7fffffffffffffff)
    let k = FLOOR(x * 0x1.45f306dc9c883p-2)
    let n = k + 0.5
    let odd = k - FLOOR(k * 0.5) * 2.0
    let near = (((x - n * 0x1.921fb544p+1) - n * 0x1.0b4611a6p-33) - n * 0x1.3198a2e037073p-68) * (odd * 2.0 - 1.0)
    let r = WHERE(LT(a, 0x1.0p20), near, cos_f64_large(x))
    => sin_near_f64(r, r * r)
    test COS(v:f64) -> fires
    test COS(v:f32) -> nomatch
}
