// decompose.pat - EXP EXP2 LOG LOG2 SIN COS TANH of f32 as arithmetic that vectorises: polynomials, exponent tricks on the bits,
// WHERE for special values. No table, no gather. Within 2 ULP over all inputs, with and without fma; tests/unit has the
// sampled check and tests/exec the sweep of all of f32.
//
// The reductions (x - n*hi) - n*lo are exact by the choice of hi, so contraction cannot hurt them; reassociation
// would, so no stage that reassociates floats runs after this one.
c_include "codegen/lower.h"
include "codegen/decompose64.pat"
include "codegen/pow.pat"
include "codegen/random.pat"
include "simplify/fold.pat"

/// The function is the target's own, where the numerics level lets backends differ.
extern pred own_function(x: node)

/// The nearest integer of x, |x| < 2^22, as i32: it is in the last bits of the sum.
fn nearest_i32(x: node): node = BITCAST<i32>(x + 0x1.8p23) - 0x4b400000

fn pow2_f32(n: node): node = BITCAST<f32>((n + 127) << 23)

fn rounded_f32(x: node): node = BITCAST<f32>(BITCAST<u32>(x))

/// p * 2^n for n in [-152, 130]: in two steps, so that each factor is a normal number and a subnormal result is
/// rounded once.
fn scale_f32(p: node, n: node): node = rounded_f32(p * pow2_f32(n >> 1) * pow2_f32(n - (n >> 1)))

/// 2^f for f in [-0.5, 0.5].
fn exp2_poly_f32(f: node): node =
  (((((0.000154533613 * f + 0.00133910938) * f + 0.00961808208) * f + 0.0555035658) * f + 0.240226507) * f +
   0.693147182) * f + 1.0

/// e^r for |r| <= ln2 / 2.
fn exp_poly_f32(r: node): node =
  (((((0.00139264844 * r + 0.00836341921) * r + 0.0416665524) * r + 0.166665763) * r + 0.5) * (r * r) + r) + 1.0

/// (log(1 + f) - f + f*f/2) / f^3 for 1 + f in [sqrt(1/2), sqrt(2)].
fn log_poly_f32(f: node): node =
  (((((((0.0697338432 * f - 0.11485105) * f + 0.116872571) * f - 0.124251194) * f + 0.142488301) * f - 0.166678175) * f +
    0.200007215) * f - 0.24999997) * f + 0.333333313

/// log(1 + f) - f
fn log_tail_f32(f: node, z: node): node = z * f * log_poly_f32(f) - z * 0.5

/// sin(pi * r) for z = r^2, |r| < 0.57, in f64: good for f32.
fn sin_poly_short(r: node, z: node): node =
  (((((-0.006928709449588804 * z + 0.08198593034878161) * z - 0.5992376997290281) * z + 2.5501620015225206) * z -
    5.167712723347543) * z + 3.141592653333978) * r

/// tanh(a) / a - 1 for z = a^2, a < 5/8 (Cephes, tanhf.c).
fn tanh_small_f32(z: node): node =
  ((((-0.00570498872745 * z + 0.0206390887954) * z - 0.0537397155531) * z + 0.133314422036) * z - 0.333332819422) * z
/// y, which is not negative, with the sign of x.
fn signed_f32(y: node, x: node): node = BITCAST<f32>(BITCAST<u32>(y) | (BITCAST<u32>(x) & 0x80000000))

/// A piece of 1/pi by the size of x: c0 below 2^53, c1 below 2^82, c2 below 2^111, else c3.
fn by_size(a: node, c0: node, c1: node, c2: node, c3: node): node =
  WHERE(LT(a, 0x1.0p53), c0, WHERE(LT(a, 0x1.0p82), c1, WHERE(LT(a, 0x1.0p111), c2, c3)))

/// 1/pi in pieces of 29 bits from the one that matters for |x| = a on; d says the dtype.
fn inverse_pi_0(a: node, d: node): node =
  by_size(a, 0x1.45f306cp-2:dtype(d), 0x1.c9c882ap-30:dtype(d), 0x1.4fe13aap-60:dtype(d), 0x1.e8fa9a6p-88:dtype(d))
fn inverse_pi_1(a: node, d: node): node =
  by_size(a, 0x1.c9c882ap-30:dtype(d), 0x1.4fe13aap-60:dtype(d), 0x1.e8fa9a6p-88:dtype(d), 0x1.dc0db62p-117:dtype(d))
fn inverse_pi_2(a: node, d: node): node =
  by_size(a, 0x1.4fe13aap-60:dtype(d), 0x1.e8fa9a6p-88:dtype(d), 0x1.dc0db62p-117:dtype(d), 0x1.2b32788p-146:dtype(d))
fn inverse_pi_3(a: node, d: node): node =
  by_size(a, 0x1.e8fa9a6p-88:dtype(d), 0x1.dc0db62p-117:dtype(d), 0x1.2b32788p-146:dtype(d), 0x1.c820ff8p-176:dtype(d))

/// -1 for an odd number, 1 for an even one.
fn sign_of_turns(q: node): node = 1.0 - (q - FLOOR(q * 0.5) * 2.0) * 2.0

ruleset decompose_f32 ctx un__target {
  /// Clamped to where the result is 0 or infinity for certain. NaN passes, as it would through MIN and MAX.
  @proof(fuzz)
  rule exp2_f32: EXP2(x:f32) if !own_function(x)
    let low = WHERE(LT(x, -152.0), -152.0, x)
    let c = WHERE(LT(130.0, low), 130.0, low)
    let n = nearest_i32(c)
    => scale_f32(exp2_poly_f32(c - CAST<f32>(n)), n)
    test EXP2(v:f32) -> fires
    test EXP2(v:f64) -> nomatch

  /// ln2 in two parts: the first has 9 bits, so its product with n is exact.
  @proof(fuzz)
  rule exp_f32: EXP(x:f32) if !own_function(x)
    let low = WHERE(LT(x, -105.0), -105.0, x)
    let c = WHERE(LT(90.0, low), 90.0, low)
    let n = nearest_i32(c * 1.44269504)
    let nf = CAST<f32>(n)
    => scale_f32(exp_poly_f32((c - nf * 0.693359375) + nf * 2.12194440e-4), n)
    test EXP(v:f32) -> fires
    test EXP(v:f64) -> nomatch

  /// a + a * g for a = |x|, from 5/8 on 1 + g: either way one division, and a sum that one multiplication may be contracted into.
  @proof(fuzz)
  rule tanh_f32: TANH(x:f32) if !own_function(x)
    let a = BITCAST<f32>(BITCAST<u32>(x) & 0x7fffffff)
    let small = LT(a, 0.625)
    let g = WHERE(small, tanh_small_f32(a * a), -2.0 / (EXP(a + a) + 1.0))
    let base = WHERE(small, a, 1.0)
    => signed_f32(base * g + base, x)
    test TANH(v:f32) -> fires
    test TANH(v:f64) -> nomatch

  /// x = m * 2^e with m in [sqrt(1/2), sqrt(2)); subnormals are scaled up first.
  @proof(fuzz)
  rule log_f32: LOG(x:f32) if !own_function(x)
    let small = LT(x, 0x1.0p-126)
    let v = BITCAST<i32>(WHERE(small, x * 0x1.0p23, x))
    let e = (v - 0x3f3504f3) >> 23
    let f = BITCAST<f32>(v - (e << 23)) - 1.0
    let ef = CAST<f32>(e) - WHERE(small, 23.0:dtype(x), 0.0:dtype(x))
    let w = log_tail_f32(f, f * f) - ef * 2.12194440e-4
    => log_ends(x, ef * 0.693359375 + (f + w))
    test LOG(v:f32) -> fires
    test LOG(v:f64) -> nomatch

  /// e + log(m) * log2(e), the factors in two parts: the product of the first 12 bits of each is exact.
  @proof(fuzz)
  rule log2_f32: LOG2(x:f32) if !own_function(x)
    let small = LT(x, 0x1.0p-126)
    let v = BITCAST<i32>(WHERE(small, x * 0x1.0p23, x))
    let e = (v - 0x3f3504f3) >> 23
    let f = BITCAST<f32>(v - (e << 23)) - 1.0
    let ef = CAST<f32>(e) - WHERE(small, 23.0:dtype(x), 0.0:dtype(x))
    let w = log_tail_f32(f, f * f)
    let hi = BITCAST<f32>(BITCAST<i32>(f + w) & -4096)
    let lo = (f - hi) + w
    => log_ends(x, (hi * 1.44287109375 + ((lo + hi) * -1.7605285393e-4 + lo * 1.44287109375)) + ef)
    test LOG2(v:f32) -> fires
    test LOG2(v:f64) -> nomatch

  /// In f64: x times a 29-bit piece of 1/pi is exact, so the part below 1 of x/pi comes out right for every x from the
  /// four pieces that matter at its size; the ones before them give even integers. q is odd: the sign changes.
  @proof(fuzz)
  rule sin_f32: SIN(x:f32)
    let d = CAST<f64>(x)
    let a = BITCAST<f64>(BITCAST<u64>(d) & 0x7fffffffffffffff)
    let t0 = d * inverse_pi_0(a, d)
    let t1 = d * inverse_pi_1(a, d)
    let q0 = FLOOR(t0 + 0.5)
    let q1 = FLOOR(t1 + 0.5)
    let s = (t0 - q0) + (t1 - q1)
    let q2 = FLOOR(s + 0.5)
    let r = (s - q2) + (d * inverse_pi_2(a, d) + d * inverse_pi_3(a, d))
    let q = q0 + q1 + q2
    => CAST<f32>(sin_poly_short(r, r * r) * sign_of_turns(q))
    test SIN(v:f32) -> fires
    test SIN(v:f64) -> nomatch

  /// The sine of x + pi/2: half a turn is added to x/pi where that is exact, before the pieces are put together.
  @proof(fuzz)
  rule cos_f32: COS(x:f32)
    let d = CAST<f64>(x)
    let a = BITCAST<f64>(BITCAST<u64>(d) & 0x7fffffffffffffff)
    let t0 = d * inverse_pi_0(a, d)
    let t1 = d * inverse_pi_1(a, d)
    let q0 = FLOOR(t0 + 0.5)
    let q1 = FLOOR(t1 + 0.5)
    let s = ((t0 - q0) + 0.5) + (t1 - q1)
    let q2 = FLOOR(s + 0.5)
    let r = (s - q2) + (d * inverse_pi_2(a, d) + d * inverse_pi_3(a, d))
    let q = q0 + q1 + q2
    => CAST<f32>(sin_poly_short(r, r * r) * sign_of_turns(q))
    test COS(v:f32) -> fires
    test COS(v:f64) -> nomatch
}

stage decompose {
  use decompose_f32, decompose_f64, decompose_pow, decompose_random, fold
  walk post  fuel 64
}
