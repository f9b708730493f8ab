// fma.pat - a product and a sum in one rounding, where the target has the instruction and the numerics level grants it.

ruleset fma {
  /// a * b + c.
  @fp(contract) @proof(fuzz)
  rule mul_add: ADD[MUL(a:f32|f64, b), c] ~> MULACC(a, b, c)
    test(contract) ADD(MUL(a:f32, b:f32), c:f32) -> MULACC(a:f32, b:f32, c:f32)
    test ADD(MUL(a:f32, b:f32), c:f32) -> nomatch

  /// a * b - c.
  @fp(contract) @proof(fuzz)
  rule mul_sub: SUB(MUL(a:f32|f64, b), c) ~> MULACC(a, b, NEG(c))
    test(contract) SUB(MUL(a:f64, b:f64), c:f64) -> MULACC(a:f64, b:f64, NEG(c:f64))
    test(contract) SUB(MUL(a:i32, b:i32), c:i32) -> nomatch

  /// c - a * b.
  @fp(contract) @proof(fuzz)
  rule sub_mul: SUB(c, MUL(a:f32|f64, b)) ~> MULACC(NEG(a), b, c)
    test(contract) SUB(c:f32, MUL(a:f32, b:f32)) -> MULACC(NEG(a:f32), b:f32, c:f32)
    test SUB(c:f32, MUL(a:f32, b:f32)) -> nomatch
}

ruleset core_sums {
  /// What a tensor core's product is added to, it adds up itself.
  @fp(reduce_order) @proof(fuzz)
  rule core_first: ADD[WMMA<f>(a, b, @zero), c] ~> WMMA<f>(a, b, c):dtype(root)
    test(reduce_order) ADD(VECTORIZE(c:f32):with_lanes(f32, 4), WMMA<0>(VECTORIZE(a:bf16):with_lanes(bf16, 8), VECTORIZE(b:bf16):with_lanes(bf16, 4), 0.0:with_lanes(f32, 4)):with_lanes(f32, 4)) -> fires
    test ADD(VECTORIZE(c:f32):with_lanes(f32, 4), WMMA<0>(VECTORIZE(a:bf16):with_lanes(bf16, 8), VECTORIZE(b:bf16):with_lanes(bf16, 4), 0.0:with_lanes(f32, 4)):with_lanes(f32, 4)) -> nomatch

  /// The same where it adds something up already.
  @fp(reduce_order) @proof(fuzz)
  rule core_more: ADD[WMMA<f>(a, b, c), d] ~> WMMA<f>(a, b, c + d):dtype(root)
    test(reduce_order) ADD(VECTORIZE(d:f32):with_lanes(f32, 4), WMMA<0>(VECTORIZE(a:bf16):with_lanes(bf16, 8), VECTORIZE(b:bf16):with_lanes(bf16, 4), VECTORIZE(c:f32):with_lanes(f32, 4)):with_lanes(f32, 4)) -> fires
    test ADD(VECTORIZE(d:f32):with_lanes(f32, 4), WMMA<0>(VECTORIZE(a:bf16):with_lanes(bf16, 8), VECTORIZE(b:bf16):with_lanes(bf16, 4), VECTORIZE(c:f32):with_lanes(f32, 4)):with_lanes(f32, 4)) -> nomatch
}

stage fma { use fma, core_sums  walk post  fuel 64 }
