// decompose.pat - EXP EXP2 LOG LOG2 SIN of f32 as arithmetic that vectorises: polynomials, exponent tricks on the bits,
// WHERE for special values. No table, no gather. Within 2 ULP over all inputs with and without fma; tests/unit has the
// sampled check and tests/exec the sweep of all of f32.
//
// The reductions (x - n*hi) - n*lo are exact by the choice of hi, so contraction cannot hurt them; reassociation
// would, so no stage that reassociates floats runs after this one.
include "codegen/decompose64.pat"
include "codegen/pow.pat"
include "codegen/random.pat"
include "simplify/fold.pat"

// ---- powers of two ----

/// The nearest integer of x, |x| < 2^22, as i32: the sum's last bits are the integer.
fn nearest_i32(x: node): node = BITCAST<i32>(x + 0x1.8p23) - 0x4b400000

fn pow2_f32(n: node): node = BITCAST<f32>((n + 127) << 23)

/// p * 2^n for n in [-152, 130]: in two steps, so that each factor is a normal number and a subnormal result is
/// rounded once.
fn scale_f32(p: node, n: node): node = p * pow2_f32(n >> 1) * pow2_f32(n - (n >> 1))

/// 2^f for f in [-0.5, 0.5].
fn exp2_poly_f32(f: node): node =
  (((((0.000154533613 * f + 0.00133910938) * f + 0.00961808208) * f + 0.0555035658) * f + 0.240226507) * f +
   0.693147182) * f + 1.0

fn exp2_at_f32(x: node, n: node): node = scale_f32(exp2_poly_f32(x - CAST<f32>(n)), n)
fn exp2_in_f32(x: node): node = exp2_at_f32(x, nearest_i32(x))

/// e^r for |r| <= ln2 / 2.
fn exp_poly_f32(r: node): node =
  ((((0.00139264844 * r + 0.00836341921) * r + 0.0416665524) * r + 0.166665763) * r + 0.5) * (r * r) + r + 1.0

/// x - n * ln2; 0x1.63p-1 has 9 bits, so its products are exact.
fn ln2_less_f32(x: node, n: node): node = (x - n * 0x1.63p-1) + n * 2.12194440e-4
fn exp_at_f32(x: node, n: node): node = scale_f32(exp_poly_f32(ln2_less_f32(x, CAST<f32>(n))), n)
fn exp_in_f32(x: node): node = exp_at_f32(x, nearest_i32(x * 1.44269504))

// The clamps are where the result is 0 or infinity for certain; NaN passes through them, which MIN and MAX would give
// too, for more instructions.
fn exp2_capped_f32(x: node): node = exp2_in_f32(WHERE(LT(130.0, x), 130.0, x))
fn exp_capped_f32(x: node): node = exp_in_f32(WHERE(LT(90.0, x), 90.0, x))

ruleset decompose_exp_f32 {
  @proof(fuzz)
  rule exp2_f32: EXP2(x:f32) ~> exp2_capped_f32(WHERE(LT(x, -152.0), -152.0, x))

  @proof(fuzz)
  rule exp_f32: EXP(x:f32) ~> exp_capped_f32(WHERE(LT(x, -105.0), -105.0, x))
}

// ---- logarithms ----

/// (log(1 + f) - f + f*f/2) / f^3 for 1 + f in [sqrt(1/2), sqrt(2)].
fn log_poly_f32(f: node): node =
  (((((((0.0697338432 * f - 0.11485105) * f + 0.116872571) * f - 0.124251194) * f + 0.142488301) * f - 0.166678175) * f +
    0.200007215) * f - 0.24999997) * f + 0.333333313

/// The exponent e for which v * 2^-e is in [sqrt(1/2), sqrt(2)); v has the bits of a normal number.
fn exponent_f32(v: node): node = (v - 0x3f3504f3) >> 23
fn mantissa_f32(v: node, e: node): node = BITCAST<f32>(v - (e << 23))

/// log(1 + f) - f
fn log_tail_f32(f: node, z: node): node = z * f * log_poly_f32(f) - z * 0.5

fn log_of_f32(f: node, w: node, e: node): node = (f + (w - e * 2.12194440e-4)) + e * 0x1.63p-1
fn log_with_f32(f: node, e: node): node = log_of_f32(f, log_tail_f32(f, f * f), e)
fn log_at_f32(v: node, e: node, shift: node): node = log_with_f32(mantissa_f32(v, e) - 1.0, CAST<f32>(e) - shift)

/// e + (f + w) * log2(e): f + w in two parts, so that the product with the first 12 bits of log2(e) is exact.
fn log2_sum_f32(hi: node, lo: node, e: node): node =
  (hi * 1.44287109375 + ((lo + hi) * -1.7605285393e-4 + lo * 1.44287109375)) + e
fn log2_hi_f32(f: node, w: node): node = BITCAST<f32>(BITCAST<i32>(f + w) & -4096)
fn log2_parts_f32(f: node, w: node, hi: node, e: node): node = log2_sum_f32(hi, (f - hi) + w, e)
fn log2_of_f32(f: node, w: node, e: node): node = log2_parts_f32(f, w, log2_hi_f32(f, w), e)
fn log2_with_f32(f: node, e: node): node = log2_of_f32(f, log_tail_f32(f, f * f), e)
fn log2_at_f32(v: node, e: node, shift: node): node = log2_with_f32(mantissa_f32(v, e) - 1.0, CAST<f32>(e) - shift)

/// log of 0, of less, of infinity and of NaN.
fn log_special(x: node, r: node): node =
  WHERE(EQ(x, 0.0), -@inf, WHERE(LT(x, 0.0), @nan, WHERE(LT(x, @inf), r, x)))

fn log_bits_f32(v: node, shift: node): node = log_at_f32(v, exponent_f32(v), shift)
fn log2_bits_f32(v: node, shift: node): node = log2_at_f32(v, exponent_f32(v), shift)
/// Subnormals are scaled up by 2^23 first.
fn normal_f32(x: node, small: node): node = BITCAST<i32>(WHERE(small, x * 0x1.0p23, x))
fn log_small_f32(x: node, small: node): node = log_bits_f32(normal_f32(x, small), WHERE(small, 23.0, 0.0):f32)
fn log2_small_f32(x: node, small: node): node = log2_bits_f32(normal_f32(x, small), WHERE(small, 23.0, 0.0):f32)

ruleset decompose_log_f32 {
  @proof(fuzz)
  rule log_f32: LOG(x:f32) ~> log_special(x, log_small_f32(x, LT(x, 0x1.0p-126)))

  @proof(fuzz)
  rule log2_f32: LOG2(x:f32) ~> log_special(x, log2_small_f32(x, LT(x, 0x1.0p-126)))
}

// ---- sine ----
//
// In f64: x times four 29-bit pieces of 1/pi is exact piece by piece, so the part below 1 of x/pi comes out exact for
// every x. Which four pieces matter depends on the size of x: those whose product is an even integer are left out.

fn sin_poly(r: node, z: node): node =
  (((((-0.006928709449588804 * z + 0.08198593034878161) * z - 0.5992376997290281) * z + 2.5501620015225206) * z -
    5.167712723347543) * z + 3.141592653333978) * r

/// sin(pi * (r + p)) for |r| < 0.57 and an integer p below 2^53: p odd changes the sign.
fn sin_sign(p: node): node = 1.0 - (p - FLOOR(p * 0.5) * 2.0) * 2.0
fn sin_pi(r: node, p: node): node = sin_poly(r, r * r) * sin_sign(p)

fn nearest(x: node): node = FLOOR(x + 0.5)
fn sin_sum(s: node, t: node, p: node, q: node): node = sin_pi((s - q) + t, p + q)
fn sin_two(r0: node, r1: node, t: node, p: node): node = sin_sum(r0 + r1, t, p, nearest(r0 + r1))
fn sin_near(t0: node, t1: node, t: node, p0: node, p1: node): node = sin_two(t0 - p0, t1 - p1, t, p0 + p1)
fn sin_parts(t0: node, t1: node, t: node): node = sin_near(t0, t1, t, nearest(t0), nearest(t1))
fn sin_pieces(x: node, c0: node, c1: node, c2: node, c3: node): node = sin_parts(x * c0, x * c1, x * c2 + x * c3)

/// One of the pieces i.. of 1/pi by size: a0 below 2^53, a1 below 2^82, a2 below 2^111, else a3.
fn piece(b0: node, b1: node, b2: node, a0: node, a1: node, a2: node, a3: node): node =
  WHERE(b0, a0, WHERE(b1, a1, WHERE(b2, a2, a3)))
fn sin_sized(x: node, b0: node, b1: node, b2: node): node =
  sin_pieces(x,
    piece(b0, b1, b2, 0x1.45f306cp-2:dtype(x), 0x1.c9c882ap-30:dtype(x), 0x1.4fe13aap-60:dtype(x), 0x1.e8fa9a6p-88:dtype(x)),
    piece(b0, b1, b2, 0x1.c9c882ap-30:dtype(x), 0x1.4fe13aap-60:dtype(x), 0x1.e8fa9a6p-88:dtype(x), 0x1.dc0db62p-117:dtype(x)),
    piece(b0, b1, b2, 0x1.4fe13aap-60:dtype(x), 0x1.e8fa9a6p-88:dtype(x), 0x1.dc0db62p-117:dtype(x), 0x1.2b32788p-146:dtype(x)),
    piece(b0, b1, b2, 0x1.e8fa9a6p-88:dtype(x), 0x1.dc0db62p-117:dtype(x), 0x1.2b32788p-146:dtype(x), 0x1.c820ff8p-176:dtype(x)))
fn sin_by_size(x: node, a: node): node = sin_sized(x, LT(a, 0x1.0p53), LT(a, 0x1.0p82), LT(a, 0x1.0p111))
fn sin_f64_of(x: node): node = sin_by_size(x, BITCAST<f64>(BITCAST<u64>(x) & 0x7fffffffffffffff))

ruleset decompose_sin_f32 {
  @proof(fuzz)
  rule sin_f32: SIN(x:f32) ~> CAST<f32>(sin_f64_of(CAST<f64>(x)))
}

stage un_decompose {
  use decompose_exp_f32, decompose_log_f32, decompose_sin_f32, decompose_f64, decompose_pow, decompose_random, fold
  walk post  fuel 64
}
