ruleset a {
  rule expand_mul: MUL[x:int, ADD[a, b]] ~> x * a + x * b
    test MUL(v:i32, ADD(w:i32, u:i32)) -> ADD(MUL(v, w), MUL(v, u))
  rule factor_mul: ADD[MUL[x:int, a], MUL[x, b]] ~> x * (a + b)
    test ADD(MUL(v:i32, w:i32), MUL(v, u:i32)) -> MUL(v, ADD(w, u))
  rule one: SQRT(x) ~> EXP(x)
    test SQRT(v:f32) -> EXP(v)
  rule two: EXP(SIN(x)) ~> LOG(x)
    test EXP(SIN(v:f32)) -> LOG(v)
  rule three: LOG(x) ~> SQRT(SIN(x))
    test LOG(v:f32) -> SQRT(SIN(v))
  rule no_way_back: NOT(x:u16) ~> NEG(x)
    test NOT(v:u16) -> NEG(v)
}
// Across the sets of a stage.
ruleset left { rule to_sub: ADD(x:int, NEG(y)) ~> x - y
    test ADD(v:i32, NEG(w:i32)) -> SUB(v, w) }
ruleset right { rule to_add: SUB(x:int, y) ~> x + -y
    test SUB(v:i32, w:i32) -> ADD(v, NEG(w)) }
// Guards and reasons are believed.
ruleset guarded {
  rule there: AND(x:bool, y) if !is_const(y) ~> OR(x, y)
    test AND(v:bool, w:bool) -> OR(v, w)
  rule back: OR(x:bool, y) ~> AND(x, y)
    test OR(v:bool, w:bool) -> AND(v, w)
  @order("by hand")
  rule up: MAX(x:int, y) ~> MIN(x, y)
    test MAX(v:i32, w:i32) -> MIN(v, w)
  rule down: MIN(x:int, y) ~> MAX(x, y)
    test MIN(v:i32, w:i32) -> MAX(v, w)
}
stage both { use left, right }
