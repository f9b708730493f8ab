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

stage fma { use fma  walk post  fuel 16 }
