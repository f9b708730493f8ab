// fma.pat - a product and a sum in one rounding, where the target has the instruction and the numerics level grants it.

ruleset fma {
  @fp(contract) @proof(fuzz)
  rule mul_add: ADD[MUL(a:f32|f64, b), c] ~> MULACC(a, b, c)
    test(contract) ADD(MUL(a:f32, b:f32), c:f32) -> MULACC(a:f32, b:f32, c:f32)
    test ADD(MUL(a:f32, b:f32), c:f32) -> nomatch

  @fp(contract) @proof(fuzz)
  rule mul_sub: SUB(MUL(a:f32|f64, b), c) ~> MULACC(a, b, NEG(c))

  @fp(contract) @proof(fuzz)
  rule sub_mul: SUB(c, MUL(a:f32|f64, b)) ~> MULACC(NEG(a), b, c)
}

stage fma { use fma  walk post  fuel 16 }
