// narrow.pat - f16, bf16 and fp8: arithmetic in f32 between conversions, and the conversions that no instruction does.
// Rounding once is the point: f32 has more than twice the bits of f16 plus two, so an f32 result rounded to f16 is the
// f16 result; what comes from f64 or wide integers is rounded to odd on the way, which keeps what the last rounding needs.
c_include "codegen/lower.h"

opset InF32One = NEG | RECIP | SQRT | TRUNC | FLOOR | EXP | EXP2 | LOG | LOG2 | SIN | COS | TANH
opset InF32Two = ADD | SUB | MUL | FDIV | MAX | MIN | POW
opset Compared = LT | NE | EQ

/// The target has no arithmetic on values of this dtype.
extern pred emulated(x: node)
/// The target has no conversions between f16 and f32.
extern pred soft_f16(x: node)
/// The target does not round f32 to bf16.
extern pred soft_bf16(x: node)
/// The target has instructions near functions of f32, and the numerics level lets backends differ.
extern pred own_function(x: node)

// ---- f32 and its bits ----

/// x (f64) as f32, rounded to odd: towards zero, with the last bit set when something was cut off.
fn odd_bits(x: node, d: node, y: node): node =
  WHERE(EQ(d, x), y,
    (y - CAST<u32>(LT(BITCAST<u64>(x) & 0x7fffffffffffffff, BITCAST<u64>(d) & 0x7fffffffffffffff))) | 1)
fn odd_near(x: node, y: node): node = BITCAST<f32>(odd_bits(x, CAST<f64>(y), BITCAST<u32>(y)))
fn odd_f32(x: node): node = odd_near(x, CAST<f32>(x))

/// An integer of 64 bits as f64, rounded to odd at bit 12 where it would not fit: still exact enough for bf16.
fn odd_f64(x: node): node = CAST<f64>((x >> 12) | CAST(NE(x & 4095, 0)):dtype(x)) * 4096.0

/// The bits of |f32| with bits a, in a format with m = 23 - shift mantissa bits: rounded to nearest even. small: the
/// bits of the float whose last bit weighs as much as the smallest number of the format; rebias: the difference of the
/// exponents' biases, in place; least: the bits of the smallest normal number.
fn round_normal(a: node, shift: int, rebias: int): node = ((a + #((1 << (shift - 1)) - 1) + ((a >> #shift) & 1)) >> #shift) - #rebias
fn round_small(a: node, small: int): node = BITCAST<u32>(BITCAST<f32>(a) + BITCAST<f32>((#small):dtype(a))) - #small
fn round_bits(a: node, shift: int, rebias: int, least: int, small: int): node =
  WHERE(LT(a, #least), round_small(a, small), round_normal(a, shift, rebias))

fn f16_magnitude(a: node): node =
  WHERE(LT(#0x7f800000, a), (#0x7e00):dtype(a), MIN(round_bits(a, 13, 0x1c000, 0x38800000, 0x3f000000), #0x7c00))
fn f16_code(u: node): node = CAST<u16>(f16_magnitude(u & 0x7fffffff) | ((u >> 16) & 0x8000))

fn e5m2_magnitude(a: node): node =
  WHERE(LT(#0x7f800000, a), (#0x7e):dtype(a), MIN(round_bits(a, 21, 0x1c0, 0x38800000, 0x43000000), #0x7c))
fn e5m2_code(u: node): node = CAST<u8>(e5m2_magnitude(u & 0x7fffffff) | ((u >> 24) & 0x80))

/// No infinity: what is too large is NaN, 0x7f.
fn e4m3_magnitude(a: node): node = MIN(round_bits(a, 20, 0x3c0, 0x3c800000, 0x46800000), #0x7f)
fn e4m3_code(u: node): node = CAST<u8>(e4m3_magnitude(u & 0x7fffffff) | ((u >> 24) & 0x80))

/// Round to nearest even on the upper half; NaN stays NaN, and quiet.
fn bf16_code(x: node, u: node): node =
  CAST<u16>(WHERE(NE(x, x), (u >> 16) | 0x40, (u + ((u >> 16) & 1) + 0x7fff) >> 16))

/// u: the bits of an f16 as u32. Its magnitude is an f32 with another bias; infinity and NaN get the largest exponent.
fn f16_scaled(m: node): node = BITCAST<u32>(BITCAST<f32>(m << 13) * 0x1.0p112)
fn f16_value(m: node): node = WHERE(LT(m, #0x7c00), f16_scaled(m), f16_scaled(m) | 0x7f800000)
fn f16_decoded(u: node): node = BITCAST<f32>(f16_value(u & 0x7fff) | ((u & 0x8000) << 16))

fn e4m3_value(m: node): node = WHERE(EQ(m, #0x7f), (#0x7fc00000):dtype(m), BITCAST<u32>(BITCAST<f32>(m << 20) * 0x1.0p120))
fn e4m3_decoded(u: node): node = BITCAST<f32>(e4m3_value(u & 0x7f) | ((u & 0x80) << 24))

// ---- near functions ----

/// 2^2a, from an instruction that gives no subnormals: the square does. It is rounded before it meets a sum, which an infinity must
/// have reached by then.
fn square(x: node): node = BITCAST<f32>(BITCAST<u32>(x * x))
fn near_exp2(half: node): node = square(EXP2_NEAR(half))

/// What an operation on values that came from f32 would round to bf16 and widen again: under `contract` the digits stay, as they would
/// in a fused multiplication and addition. Not what is rounded to f16, whose infinities begin long before those of f32. A conversion to f32 and back that the program asks for is not touched.
ruleset unrounded ctx un__target {
  /// Two such operands.
  for op in InF32Two {
    @fp(contract) @proof(fuzz)
    rule unrounded_both: op(CAST<bf16>(x:f32), CAST<bf16>(y:f32)) if emulated(root) => CAST(op(x, y)):dtype(root)
      test(contract) ADD(CAST<bf16>(v:f32), CAST<bf16>(w:f32)) -> CAST<bf16>(ADD(v:f32, w:f32))
      test ADD(CAST<bf16>(v:f32), CAST<bf16>(w:f32)) -> nomatch
  }
  /// The first of two.
  for op in InF32Two {
    @fp(contract) @proof(fuzz)
    rule unrounded_left: op(CAST<bf16>(x:f32), y) if emulated(root) => CAST(op(x, CAST<f32>(y))):dtype(root)
      test(contract) SUB(CAST<bf16>(v:f32), w:bf16) -> CAST<bf16>(SUB(v:f32, CAST<f32>(w:bf16)))
  }
  /// The second of two.
  for op in InF32Two {
    @fp(contract) @proof(fuzz)
    rule unrounded_right: op(x, CAST<bf16>(y:f32)) if emulated(root) => CAST(op(CAST<f32>(x), y)):dtype(root)
      test(contract) SUB(v:bf16, CAST<bf16>(w:f32)) -> CAST<bf16>(SUB(CAST<f32>(v:bf16), w:f32))
  }
  /// The only one.
  for op in InF32One {
    @fp(contract) @proof(fuzz)
    rule unrounded_one: op(CAST<bf16>(x:f32)) if emulated(root) => CAST(op(x)):dtype(root)
      test(contract) NEG(CAST<bf16>(v:f32)) -> CAST<bf16>(NEG(v:f32))
      test NEG(CAST<bf16>(v:f32)) -> nomatch
  }
}

/// Functions of narrow floats for which an instruction is near enough. Operands that came from f32 stay as they were.
ruleset near ctx un__gpu_target {
  /// e^x to 2^-16 of it: the argument, 64 at most, is 2^-18 off.
  @fp(contract) @proof(fuzz)
  rule near_exp: EXP(CAST<bf16>(x:f32)) if own_function(root) => CAST(near_exp2(x * 0.72134752)):dtype(root)
    test(contract) EXP(CAST<bf16>(v:f32)) -> CAST<bf16>(near_exp2(v:f32 * 0.72134752))
    test EXP(CAST<bf16>(v:f32)) -> nomatch
  /// Of what was narrow before.
  @fp(contract) @proof(fuzz)
  rule near_exp_narrow: EXP(x:f16|bf16) if own_function(x) => CAST(near_exp2(CAST<f32>(x) * 0.72134752)):dtype(x)
    test(contract) EXP(v:f16) -> CAST<f16>(near_exp2(CAST<f32>(v:f16) * 0.72134752))
    test EXP(v:f16) -> nomatch
  /// 2^x to 2^-19 of it.
  @fp(contract) @proof(fuzz)
  rule near_exp2: EXP2(CAST<bf16>(x:f32)) if own_function(root) => CAST(near_exp2(x * 0.5)):dtype(root)
    test(contract) EXP2(CAST<bf16>(v:f32)) -> CAST<bf16>(near_exp2(v:f32 * 0.5))
  /// Of what was narrow before.
  @fp(contract) @proof(fuzz)
  rule near_exp2_narrow: EXP2(x:f16|bf16) if own_function(x) => CAST(near_exp2(CAST<f32>(x) * 0.5)):dtype(x)
    test(contract) EXP2(v:f16) -> CAST<f16>(near_exp2(CAST<f32>(v:f16) * 0.5))
  /// The instruction is within 2^-11, a quarter of a bf16's last place; too much for f16.
  @fp(contract) @proof(fuzz)
  rule near_tanh: TANH(CAST<bf16>(x:f32)) if own_function(root) => CAST<bf16>(TANH_NEAR(x))
    test(contract) TANH(CAST<bf16>(v:f32)) -> CAST<bf16>(TANH_NEAR(v:f32))
    test(contract) TANH(CAST<f16>(v:f32)) -> nomatch
  /// Of what was narrow before.
  @fp(contract) @proof(fuzz)
  rule near_tanh_narrow: TANH(x:bf16) if own_function(x) => CAST<bf16>(TANH_NEAR(CAST<f32>(x)))
    test(contract) TANH(v:bf16) -> CAST<bf16>(TANH_NEAR(CAST<f32>(v:bf16)))
}

ruleset narrow ctx un__target {
  /// One operand: computed in f32 and rounded once.
  for op in InF32One {
    @proof(fuzz)
    rule narrow_one: op(x:f16|bf16|f8e4m3|f8e5m2) if emulated(x) => CAST(op(CAST<f32>(x))):dtype(x)
      test NEG(v:bf16) -> CAST<bf16>(NEG(CAST<f32>(v:bf16)))
      test NEG(v:f32) -> nomatch
  }
  /// Two operands: f32 has more than twice their bits plus two, so rounding twice is rounding once.
  for op in InF32Two {
    @proof(fuzz)
    rule narrow_two: op(x:f16|bf16|f8e4m3|f8e5m2, y) if emulated(x) => CAST(op(CAST<f32>(x), CAST<f32>(y))):dtype(x)
      test ADD(v:f16, w:f16) -> CAST<f16>(ADD(CAST<f32>(v:f16), CAST<f32>(w:f16)))
  }
  /// The product is exact in f64. The sum is rounded to odd: what it lost is known (Knuth's two-sum), and a result whose
  /// last bit is even moves one step towards the exact sum, so that the one rounding that counts is the last.
  @proof(fuzz)
  rule narrow_mulacc: MULACC(x:f16|bf16|f8e4m3|f8e5m2, y, z) if emulated(x)
    let p = CAST<f64>(x) * CAST<f64>(y)
    let c = CAST<f64>(z)
    let s = p + c
    let t = s - p
    let lost = (p - (s - t)) + (c - t)
    let bits = BITCAST<i64>(s)
    let odd = (bits - CAST<i64>(NE(LT(lost, 0.0), LT(s, 0.0)))) | 1
    => CAST(BITCAST<f64>(WHERE(LT(lost, 0.0) | LT(0.0:dtype(s), lost), odd, bits))):dtype(x)
    test MULACC(v:f16, w:f16, z:f16) -> fires
    test MULACC(v:f32, w:f32, z:f32) -> nomatch
  /// Comparisons are exact in f32.
  for op in Compared {
    @proof(fuzz)
    rule narrow_compare: op(x:f16|bf16|f8e4m3|f8e5m2, y) if emulated(x) => op(CAST<f32>(x), CAST<f32>(y))
      test LT(v:bf16, w:bf16) -> LT(CAST<f32>(v:bf16), CAST<f32>(w:bf16))
  }
  /// Lanes are combined in f32: the order is fixed, the roundings in between are fewer.
  @proof(fuzz)
  rule narrow_lanes: HREDUCE<k>(x:f16|bf16|f8e4m3|f8e5m2):f16|bf16|f8e4m3|f8e5m2 if emulated(x) => CAST(HREDUCE<k>(CAST<f32>(x)):f32):dtype(root)
    test HREDUCE<ADD>(VECTORIZE(v:f16, w:f16)):f16 -> CAST<f16>(HREDUCE<ADD>(CAST<f32>(VECTORIZE(v, w))):f32)
    test HREDUCE<ADD>(VECTORIZE(v:f32, w:f32)):f32 -> nomatch

  /// A choice between bit patterns, which every target has.
  @proof(fuzz)
  rule choose_bf16: WHERE(c, x:bf16, y) => BITCAST<bf16>(WHERE(c, BITCAST<u16>(x), BITCAST<u16>(y)))
    test WHERE(c:bool, v:bf16, w:bf16) -> BITCAST<bf16>(WHERE(c:bool, BITCAST<u16>(v:bf16), BITCAST<u16>(w:bf16)))
    test WHERE(c:bool, v:f16, w:f16) -> nomatch
  /// Likewise for a byte.
  @proof(fuzz)
  rule choose_f8: WHERE(c, x:f8e4m3|f8e5m2, y) => BITCAST(WHERE(c, BITCAST<u8>(x), BITCAST<u8>(y))):dtype(x)
    test WHERE(c:bool, v:f8e5m2, w:f8e5m2) -> BITCAST<f8e5m2>(WHERE(c:bool, BITCAST<u8>(v:f8e5m2), BITCAST<u8>(w:f8e5m2)))
}

ruleset narrow_casts ctx un__target {
  // ---- to narrow floats, by way of f32 ----

  /// Rounded to odd in f32, so that the second rounding sees what was cut off.
  @proof(fuzz)
  rule narrow_f64: CAST<f16|bf16|f8e4m3|f8e5m2>(x:f64) => CAST(odd_f32(x)):dtype(root)
    test CAST<f16>(v:f64) -> CAST<f16>(odd_f32(v:f64))
    test CAST<f32>(v:f64) -> nomatch

  /// Every number of up to 16 bits is an f32. A larger one that is not overflows f16 and fp8 either way.
  @proof(fuzz)
  rule narrow_small_int: CAST<f16|f8e4m3|f8e5m2>(x:int|bool) => CAST(CAST<f32>(x)):dtype(root)
    test CAST<f16>(v:i32) -> CAST<f16>(CAST<f32>(v:i32))
    test CAST<bf16>(v:i32) -> nomatch
  /// f32 holds every value of the narrower formats.
  @proof(fuzz)
  rule narrow_other: CAST<f16|bf16|f8e4m3|f8e5m2>(x:f16|bf16|f8e4m3|f8e5m2) if dtype(x) != dtype(root) => CAST(CAST<f32>(x)):dtype(root)
    test CAST<f16>(v:bf16) -> CAST<f16>(CAST<f32>(v:bf16))
  /// f32 holds every integer of 16 bits.
  @proof(fuzz)
  rule bf16_small_int: CAST<bf16>(x:i8|u8|i16|u16|bool) => CAST<bf16>(CAST<f32>(x))
    test CAST<bf16>(v:i16) -> CAST<bf16>(CAST<f32>(v:i16))
  /// f64 holds every integer of 32 bits.
  @proof(fuzz)
  rule bf16_int: CAST<bf16>(x:i32|u32) => CAST<bf16>(CAST<f64>(x))
    test CAST<bf16>(v:u32) -> CAST<bf16>(CAST<f64>(v:u32))
  /// Beyond 2^53 rounded to odd first.
  @proof(fuzz)
  rule bf16_i64: CAST<bf16>(x:i64)
    => CAST<bf16>(WHERE(LT(x, -0x20000000000000) | LT(0x20000000000000:dtype(x), x), odd_f64(x), CAST<f64>(x)))
    test CAST<bf16>(v:i64) -> fires
    test CAST<bf16>(v:i32) -> nomatch
  /// The same without a sign.
  @proof(fuzz)
  rule bf16_u64: CAST<bf16>(x:u64) => CAST<bf16>(WHERE(LT(0x20000000000000:dtype(x), x), odd_f64(x), CAST<f64>(x)))
    test CAST<bf16>(v:u64) -> fires
    test CAST<bf16>(v:i64) -> nomatch

  /// On the bits, where no instruction does it.
  @proof(fuzz)
  rule f16_encode: CAST<f16>(x:f32) if soft_f16(x) => BITCAST<f16>(f16_code(BITCAST<u32>(x)))
    test CAST<f16>(v:f32) -> BITCAST<f16>(f16_code(BITCAST<u32>(v:f32)))
  /// The upper half of the bits, rounded.
  @proof(fuzz)
  rule bf16_encode: CAST<bf16>(x:f32) if soft_bf16(x) => BITCAST<bf16>(bf16_code(x, BITCAST<u32>(x)))
    test CAST<bf16>(v:f32) -> BITCAST<bf16>(bf16_code(v:f32, BITCAST<u32>(v)))
  /// As f16, with 2 bits of mantissa.
  @proof(fuzz)
  rule e5m2_encode: CAST<f8e5m2>(x:f32) => BITCAST<f8e5m2>(e5m2_code(BITCAST<u32>(x)))
    test CAST<f8e5m2>(v:f32) -> BITCAST<f8e5m2>(e5m2_code(BITCAST<u32>(v:f32)))
  /// With 3 bits of mantissa and no infinity.
  @proof(fuzz)
  rule e4m3_encode: CAST<f8e4m3>(x:f32) => BITCAST<f8e4m3>(e4m3_code(BITCAST<u32>(x)))
    test CAST<f8e4m3>(v:f32) -> BITCAST<f8e4m3>(e4m3_code(BITCAST<u32>(v:f32)))

  /// A bool is stored as a byte, 0 or 1.
  @proof(fuzz)
  rule bits_of_bool: BITCAST<i8|u8|f8e4m3|f8e5m2>(x:bool) => BITCAST(CAST<u8>(x)):dtype(root)
    test BITCAST<i8>(v:bool) -> BITCAST<i8>(CAST<u8>(v:bool))
  /// Any byte but 0 is true.
  @proof(fuzz)
  rule bool_of_bits: BITCAST<bool>(x:i8|u8|f8e4m3|f8e5m2) => NE(BITCAST<u8>(x), 0)
    test BITCAST<bool>(v:i8) -> NE(BITCAST<u8>(v:i8), 0:u8)

  // ---- from narrow floats ----

  /// Exact, and from f32 everything else is one conversion.
  @proof(fuzz)
  rule widen_first: CAST<f64|bool|int>(x:f16|bf16|f8e4m3|f8e5m2) => CAST(CAST<f32>(x)):dtype(root)
    test CAST<i32>(v:f16) -> CAST<i32>(CAST<f32>(v:f16))
    test CAST<f32>(v:f16) -> nomatch
  /// On the bits, where no instruction does it.
  @proof(fuzz)
  rule f16_decode: CAST<f32>(x:f16) if soft_f16(x) => f16_decoded(CAST<u32>(BITCAST<u16>(x)))
    test CAST<f32>(v:f16) -> f16_decoded(CAST<u32>(BITCAST<u16>(v:f16)))
  /// A bf16 is the upper half of an f32.
  @proof(fuzz)
  rule bf16_decode: CAST<f32>(x:bf16) => BITCAST<f32>(CAST<u32>(BITCAST<u16>(x)) << 16)
    test CAST<f32>(v:bf16) -> BITCAST<f32>(SHL(CAST<u32>(BITCAST<u16>(v:bf16)), 16:u32))
  /// An e5m2 is the upper half of an f16.
  @proof(fuzz)
  rule e5m2_decode: CAST<f32>(x:f8e5m2) => CAST<f32>(BITCAST<f16>(CAST<u16>(BITCAST<u8>(x)) << 8))
    test CAST<f32>(v:f8e5m2) -> CAST<f32>(BITCAST<f16>(SHL(CAST<u16>(BITCAST<u8>(v:f8e5m2)), 8:u16)))
  /// By a product that moves the exponent.
  @proof(fuzz)
  rule e4m3_decode: CAST<f32>(x:f8e4m3) => e4m3_decoded(CAST<u32>(BITCAST<u8>(x)))
    test CAST<f32>(v:f8e4m3) -> e4m3_decoded(CAST<u32>(BITCAST<u8>(v:f8e4m3)))
}

stage narrow { use near, unrounded, narrow, narrow_casts  walk post  fuel 64 }
