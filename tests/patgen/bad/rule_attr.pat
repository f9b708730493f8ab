ruleset a {
  @proof(trusted) rule no_reason: NEG(NEG(x)) ~> x
  @proof(smt, unroll) rule no_number: NEG(NEG(x)) ~> x
  @order rule no_why: NEG(NEG(x)) ~> x
  @order(because) rule no_text: NEG(NEG(x)) ~> x
  @overlap(missing) rule nobody: NEG(NEG(x)) ~> x
    test NEG(NEG(v:i32)) -> v
  @eg(perhaps) rule maybe: NEG(NEG(x)) ~> x
  @proof(smt fuzz, rtol 1e-3, unroll 4) @proof(trusted "why") @eg(skip) @order("why") @overlap(nobody)
  rule fine: NOT(NOT(x)) ~> x
    test NOT(NOT(v:i32)) -> v
}
