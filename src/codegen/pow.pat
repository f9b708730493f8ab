// pow.pat - POW. f32: |a|^b as 2^(b * log2 |a|) in f64. f64: the same with log2 in two doubles (about 100 bits), within
// 2 ULP. Special values as C's pow has them.
include "codegen/decompose64.pat"

// ---- special values ----

fn is_whole(b: node): node = EQ(TRUNC(b), b)
/// Whole numbers whose half is not whole.
fn is_odd(b: node): node = AND(is_whole(b), NE(TRUNC(b * 0.5), b * 0.5))

/// r is m^b, m = |a|, right unless m is 0, 1 or infinite.
fn pow_ends(b: node, m: node, r: node): node =
  WHERE(AND(EQ(m, 1.0), EQ(b, b)), 1.0:dtype(r),
    WHERE(OR(EQ(m, 0.0), EQ(m, @inf)),
      WHERE(EQ(LT(b, 0.0), EQ(m, 0.0)), @inf:dtype(r), 0.0:dtype(r)), r))

/// below: a has its sign bit set. Negative and finite, to a power that is finite and not whole, is NaN (infinite powers
/// are whole). a = 1 and b = 0 give 1 even with a NaN.
fn pow_signs(a: node, b: node, below: node, r: node): node =
  WHERE(OR(EQ(a, 1.0), EQ(b, 0.0)), 1.0:dtype(r),
    WHERE(OR(NE(a, a), NE(b, b)), a + b,
      WHERE(AND(AND(LT(a, 0.0), LT(-@inf, a)), NOT(is_whole(b))), @nan,
        WHERE(AND(below, is_odd(b)), -r, r))))

// ---- f32, in f64 ----

/// log2(m) = e + 2 * atanh(s) / ln2 for z = s^2, s = (m - 1) / (m + 1).
fn atanh_short(z: node): node =
  (((((0.24292568227583428 * z + 0.26144347275912627) * z + 0.32061641150083475) * z + 0.4121984017274641) * z +
     0.5770780172482943) * z + 0.9617966939243302) * z + 2.885390081777927

/// 2^f for f in [-0.5, 0.5].
fn exp2_short(f: node): node =
  ((((((0.00001530370071136569 * f + 0.00015469729214118296) * f + 0.0013333478473685416) * f + 0.009618025613318034) * f +
     0.055504109063258665) * f + 0.24022651213498092) * f + 0.6931471805568324) * f + 0.9999999999595618

// ---- f64, in pairs of doubles ----
//
// A number in two parts (h, l) is h + l with |l| <= ulp(h) / 2. Factors are split by masking, not by multiplying, so that
// nothing overflows.

fn top26(x: node): node = BITCAST<f64>(BITCAST<u64>(x) & 0xfffffffff8000000)
fn mul_err_split(p: node, ah: node, al: node, bh: node, bl: node): node = (((ah * bh - p) + ah * bl) + al * bh) + al * bl
fn mul_err_top(a: node, b: node, p: node, ah: node, bh: node): node = mul_err_split(p, ah, a - ah, bh, b - bh)
/// a * b - p, where p is a * b rounded.
fn mul_err(a: node, b: node, p: node): node = mul_err_top(a, b, p, top26(a), top26(b))
fn add_err_part(a: node, b: node, s: node, t: node): node = (a - (s - t)) + (b - t)
/// a + b - s, where s is a + b rounded.
fn add_err(a: node, b: node, s: node): node = add_err_part(a, b, s, s - a)

/// (((atanh(s) / s - 1) / z) - 1/3) / z for z = s^2
fn atanh_poly(z: node): node =
  ((((((0x1.e032e4f5a5cc8p-5 * z + 0x1.df7c5bc488f61p-5) * z + 0x1.1118c9ee6ddf1p-4) * z + 0x1.3b1395c880b88p-4) *
  z + 0x1.745d177aad03ep-4) * z + 0x1.c71c71c6ea871p-4) * z + 0x1.2492492492522p-3) * z + 0x1.999999999999ap-3

ruleset decompose_pow {
  /// |a| as a double is never subnormal.
  @proof(fuzz)
  rule pow_f32: POW(a:f32, b)
    let m = BITCAST<f32>(BITCAST<u32>(a) & 0x7fffffff)
    let v = biased_f64(CAST<f64>(m))
    let x = mantissa_f64(v)
    let s = FDIV(x - 1.0, x + 1.0)
    let p = CAST<f64>(b) * (atanh_short(s * s) * s + exponent_f64(v))
    let low = WHERE(LT(p, -400.0), -400.0, p)
    let c = WHERE(LT(400.0, low), 400.0, low)
    let n = FLOOR(c + 0.5)
    let r = CAST<f32>(exp2_short(c - n) * pow2_f64(n))
    => pow_signs(a, b, LT(BITCAST<i32>(a), 0), pow_ends(b, m, r))
    test POW(v:f32, w:f32) -> fires
    test POW(v:f64, w:f64) -> nomatch

  /// log2 of |a| in two parts, times b in two parts, and 2 to the sum.
  @proof(fuzz)
  rule pow_f64: POW(a:f64, b)
    let m = BITCAST<f64>(BITCAST<u64>(a) & 0x7fffffffffffffff)
    let small = LT(m, 0x1.0p-1022)
    let v = biased_f64(WHERE(small, m * 0x1.0p54, m))
    let e = exponent_f64(v) - WHERE(small, 54.0:dtype(a), 0.0:dtype(a))
    let x = mantissa_f64(v)
    // s + sl = (x - 1) / (x + 1); the divisor is d + dl
    let f = x - 1.0
    let d = x + 1.0
    let dl = (1.0 - d) + x
    let s = FDIV(f, d)
    let sd = rounded(s * d)
    let sl = FDIV(((f - sd) - mul_err(s, d, sd)) - s * dl, d)
    // w + wl = atanh(s) = s + s * z * (1/3 + z * ...)
    let z = rounded(s * s)
    let zl = mul_err(s, s, z) + s * sl * 2.0
    let third = (#0x1.5555555555555p-2):dtype(a)
    let t = rounded(z * atanh_poly(z))
    let q = third + t
    let ql = add_err(third, t, q) + 0x1.5555555555555p-56
    let k = rounded(z * q)
    let kl = mul_err(z, q, k) + (z * ql + zl * q)
    let u = rounded(s * k)
    let ul = mul_err(s, k, u) + (s * kl + sl * k)
    let w = s + u
    let wl = add_err(s, u, w) + (ul + sl)
    // h + l = log2(m) = e + (w + wl) * 2 / ln2
    let scale = (#0x1.71547652b82fep+1):dtype(a)
    let g = rounded(w * scale)
    let gl = mul_err(w, scale, g) + (w * 0x1.777d0ffda0d24p-55 + wl * scale)
    let h = e + g
    let l = add_err(e, g, h) + gl
    // c + cl = b * log2(m); beyond 2^66 the result is 0, 1 or infinite whatever b is
    let b_low = WHERE(LT(b, -0x1.0p66), -0x1.0p66, b)
    let b_in = WHERE(LT(0x1.0p66, b_low), 0x1.0p66, b_low)
    let p = rounded(b_in * h)
    let p_low = WHERE(LT(p, -1100.0), -1100.0, p)
    let c = WHERE(LT(1100.0, p_low), 1100.0, p_low)
    let cl = WHERE(EQ(c, p), mul_err(b_in, h, p) + b_in * l, 0.0:dtype(a))
    let n = FLOOR(c + 0.5)
    let y = (c - n) + cl
    => pow_signs(a, b, LT(BITCAST<i64>(a), 0), pow_ends(b, m, scale_f64(exp2_poly_f64(y) * y + 1.0, n)))
    test POW(v:f64, w:f64) -> fires
    test POW(v:f32, w:f32) -> nomatch
}
