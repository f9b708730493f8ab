// pow.pat - POW. f32: |a|^b as 2^(b * log2 |a|) in f64. f64: the same with log2 in two doubles (about 100 bits).
// Special values as C's pow has them.

// ---- special values, for both ----

fn is_whole(b: node): node = EQ(TRUNC(b), b)
/// Whole numbers whose half is not whole.
fn is_odd(b: node): node = AND(is_whole(b), NE(TRUNC(b * 0.5), b * 0.5))

/// r is |a|^b, right unless |a| is 0, 1 or infinite. below: a has its sign bit set.
fn pow_ends(a: node, b: node, m: node, r: node): node =
  WHERE(AND(EQ(m, 1.0), EQ(b, b)), 1.0:dtype(a),
    WHERE(OR(EQ(m, 0.0), EQ(m, @inf)),
      WHERE(EQ(LT(b, 0.0), EQ(m, 0.0)), @inf:dtype(a), 0.0:dtype(a)), r))
fn pow_signed(a: node, b: node, below: node, r: node): node = WHERE(AND(below, is_odd(b)), -r, r)
/// Negative and finite, to a power that is finite and not whole (an infinite power is whole): NaN.
fn pow_domain(a: node, b: node, r: node): node =
  WHERE(AND(AND(LT(a, 0.0), LT(-@inf, a)), AND(NOT(is_whole(b)), EQ(b, b))), @nan, r)
fn pow_nans(a: node, b: node, r: node): node =
  WHERE(OR(EQ(a, 1.0), EQ(b, 0.0)), 1.0:dtype(a), WHERE(OR(NE(a, a), NE(b, b)), a + b, r))
fn pow_special(a: node, b: node, below: node, m: node, r: node): node =
  pow_nans(a, b, pow_domain(a, b, pow_signed(a, b, below, pow_ends(a, b, m, r))))

// ---- f32 ----

/// log2(m) for a positive normal double: exponent and 2 * atanh(s) / ln2, s = (m - 1) / (m + 1).
fn log2_atanh(z: node, s: node): node =
  ((((((0.24292568227583428 * z + 0.26144347275912627) * z + 0.32061641150083475) * z + 0.4121984017274641) * z +
     0.5770780172482943) * z + 0.9617966939243302) * z + 2.885390081777927) * s
fn log2_ratio(e: node, s: node): node = log2_atanh(s * s, s) + e
fn log2_mantissa(m: node, e: node): node = log2_ratio(e, (m - 1.0) / (m + 1.0))
fn log2_bits(v: node): node = log2_mantissa(pow_mantissa(v), pow_exponent(v))

/// As in decompose64.pat: v counts its exponent from sqrt(1/2).
fn pow_mantissa(v: node): node = BITCAST<f64>((v & 0xfffffffffffff) + 0x3fe6a09e667f3bcd)
fn pow_exponent(v: node): node = BITCAST<f64>((v >> 52) | 0x4330000000000000) - 0x1.00000000003ffp52
fn pow_biased(x: node): node = BITCAST<u64>(x) + 0x95f619980c433
fn pow_two(n: node): node = BITCAST<f64>((BITCAST<i64>(n + 0x1.8p52) + 1023) << 52)

fn exp2_short(f: node): node =
  ((((((0.00001530370071136569 * f + 0.00015469729214118296) * f + 0.0013333478473685416) * f + 0.009618025613318034) * f +
     0.055504109063258665) * f + 0.24022651213498092) * f + 0.6931471805568324) * f + 0.9999999999595618
fn exp2_near(x: node, n: node): node = exp2_short(x - n) * pow_two(n)
fn exp2_wide(x: node): node = exp2_near(x, FLOOR(x + 0.5))
fn exp2_over(x: node): node = exp2_under(WHERE(LT(x, -400.0), -400.0, x))
fn exp2_under(x: node): node = exp2_wide(WHERE(LT(400.0, x), 400.0, x))
/// m: |a|, never subnormal as a double.
fn pow_f32_size(m: node, b: node): node = exp2_over(b * log2_bits(pow_biased(m)))
fn pow_f32_of(a: node, b: node, m: node): node = CAST<f32>(pow_f32_size(CAST<f64>(m), CAST<f64>(b)))
fn pow_f32_with(a: node, b: node, m: node): node =
  pow_special(a, b, LT(BITCAST<i32>(a), 0), m, pow_f32_of(a, b, m))

// ---- f64 ----
//
// A number in two parts (h, l) is h + l with |l| <= ulp(h) / 2. Products are split by masking, not by multiplying, so
// that nothing overflows; every partial product is exact, so contraction changes nothing.

fn top26(x: node): node = BITCAST<f64>(BITCAST<u64>(x) & 0xfffffffff8000000)
fn mul_err_split(p: node, ah: node, al: node, bh: node, bl: node): node = (((ah * bh - p) + ah * bl) + al * bh) + al * bl
fn mul_err_of(a: node, b: node, p: node, ah: node, bh: node): node = mul_err_split(p, ah, a - ah, bh, b - bh)
/// a * b - p, where p is a * b rounded.
fn mul_err(a: node, b: node, p: node): node = mul_err_of(a, b, p, top26(a), top26(b))
fn add_err_of(a: node, b: node, s: node, t: node): node = (a - (s - t)) + (b - t)
/// a + b - s, where s is a + b rounded.
fn add_err(a: node, b: node, s: node): node = add_err_of(a, b, s, s - a)

/// (((atanh(s) / s - 1) / z) - 1/3) / z for z = s^2
fn atanh_poly(z: node): node =
  ((((((0x1.e032e4f5a5cc8p-5 * z + 0x1.df7c5bc488f61p-5) * z + 0x1.1118c9ee6ddf1p-4) * z + 0x1.3b1395c880b88p-4) *
  z + 0x1.745d177aad03ep-4) * z + 0x1.c71c71c6ea871p-4) * z + 0x1.2492492492522p-3) * z + 0x1.999999999999ap-3

/// Last step: 2^(p + l), p clamped (then l means nothing).
fn pow_exp_poly(r: node): node = exp2_poly_f64(r) * r + 1.0
fn pow_exp_at(p: node, l: node, n: node): node = scale_f64(pow_exp_poly((p - n) + l), n)
fn pow_exp(p: node, l: node): node = pow_exp_at(p, l, FLOOR(p + 0.5))
fn pow_clamped(p: node, l: node, c: node): node = pow_exp(c, WHERE(EQ(c, p), l, 0.0:dtype(p)))
fn pow_under(p: node, l: node, c: node): node = pow_clamped(p, l, WHERE(LT(1100.0, c), 1100.0, c))
fn pow_power(p: node, l: node): node = pow_under(p, l, WHERE(LT(p, -1100.0), -1100.0, p))
/// b * (h + l). Beyond 2^66 the result is 0, 1 or infinite whatever b is exactly.
fn pow_times(b: node, h: node, l: node, p: node): node = pow_power(p, mul_err(b, h, p) + b * l)
fn pow_scaled(b: node, h: node, l: node): node = pow_times(b, h, l, b * h)
fn pow_log2_sum(b: node, e: node, g: node, gl: node, h: node): node = pow_scaled(b, h, add_err(e, g, h) + gl)
fn pow_log2(b: node, e: node, g: node, gl: node): node = pow_log2_sum(b, e, g, gl, e + g)
/// times 2 / ln2
fn pow_to_log2(b: node, e: node, w: node, wl: node, g: node): node =
  pow_log2(b, e, g, mul_err(w, 0x1.71547652b82fep+1:dtype(w), g) + (w * 0x1.777d0ffda0d24p-55 + wl * 0x1.71547652b82fep+1))
fn pow_atanh(b: node, e: node, w: node, wl: node): node = pow_to_log2(b, e, w, wl, w * 0x1.71547652b82fep+1)
fn pow_atanh_sum(b: node, e: node, s: node, sl: node, u: node, ul: node, w: node): node =
  pow_atanh(b, e, w, add_err(s, u, w) + (ul + sl))
fn pow_cubed(b: node, e: node, s: node, sl: node, c: node, cl: node, u: node): node =
  pow_atanh_sum(b, e, s, sl, u, mul_err(s, c, u) + (s * cl + sl * c), s + u)
fn pow_square(b: node, e: node, s: node, sl: node, z: node, zl: node, q: node, ql: node, c: node): node =
  pow_cubed(b, e, s, sl, c, mul_err(z, q, c) + (z * ql + zl * q), s * c)
fn pow_series(b: node, e: node, s: node, sl: node, z: node, zl: node, q: node, ql: node): node =
  pow_square(b, e, s, sl, z, zl, q, ql, z * q)
fn pow_third(b: node, e: node, s: node, sl: node, z: node, zl: node, t: node, third: node, q: node): node =
  pow_series(b, e, s, sl, z, zl, q, add_err(third, t, q) + 0x1.5555555555555p-56)
fn pow_tail(b: node, e: node, s: node, sl: node, z: node, zl: node, t: node): node =
  pow_third(b, e, s, sl, z, zl, t, 0x1.5555555555555p-2:dtype(t), t + 0x1.5555555555555p-2)
fn pow_squared(b: node, e: node, s: node, sl: node, z: node): node =
  pow_tail(b, e, s, sl, z, mul_err(s, s, z) + s * sl * 2.0, z * atanh_poly(z))
fn pow_ratio(b: node, e: node, s: node, sl: node): node = pow_squared(b, e, s, sl, s * s)
/// s = f / d with d + dl = m + 1, and what the division left over.
fn pow_quotient(b: node, e: node, f: node, d: node, dl: node, s: node, p: node): node =
  pow_ratio(b, e, s, (((f - p) - mul_err(s, d, p)) - s * dl) / d)
fn pow_divided(b: node, e: node, f: node, d: node, dl: node, s: node): node = pow_quotient(b, e, f, d, dl, s, s * d)
fn pow_divide(b: node, e: node, f: node, d: node, dl: node): node = pow_divided(b, e, f, d, dl, f / d)
fn pow_mantissa_of(b: node, e: node, m: node, d: node): node = pow_divide(b, e, m - 1.0, d, (1.0 - d) + m)
fn pow_start(b: node, e: node, m: node): node = pow_mantissa_of(b, e, m, m + 1.0)
fn pow_f64_size(b: node, v: node, shift: node): node = pow_start(b, pow_exponent(v) - shift, pow_mantissa(v))
fn pow_f64_small(b: node, m: node, small: node): node =
  pow_f64_size(b, pow_biased(WHERE(small, m * 0x1.0p54, m)), WHERE(small, 54.0:dtype(m), 0.0:dtype(m)))
fn pow_f64_under(m: node, b: node): node = pow_f64_small(WHERE(LT(0x1.0p66, b), 0x1.0p66, b), m, LT(m, 0x1.0p-1022))
fn pow_f64_of(m: node, b: node): node = pow_f64_under(m, WHERE(LT(b, -0x1.0p66), -0x1.0p66, b))
fn pow_f64_with(a: node, b: node, m: node): node = pow_special(a, b, LT(BITCAST<i64>(a), 0), m, pow_f64_of(m, b))

ruleset decompose_pow {
  @proof(fuzz)
  rule pow_f32: POW(a:f32, b) ~> pow_f32_with(a, b, BITCAST<f32>(BITCAST<u32>(a) & 0x7fffffff))

  @proof(fuzz)
  rule pow_f64: POW(a:f64, b) ~> pow_f64_with(a, b, BITCAST<f64>(BITCAST<u64>(a) & 0x7fffffffffffffff))
}
