ruleset a {
  rule left: AND(NOT(x:bool), y) ~> NOT(OR(x, NOT(y)))
    test NEG(v:i32) -> nomatch
  rule right: AND(x:bool, NOT(y)) ~> NOT(OR(NOT(x), y))
    test NEG(v:i32) -> nomatch
  @overlap(left)
  rule meant: AND(x:bool, OR(y, z)) ~> OR(AND(x, y), AND(x, z))
    test NEG(v:i32) -> nomatch
}
