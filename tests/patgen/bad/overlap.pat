ruleset a {
  rule left: AND(NOT(x:bool), y) ~> NOT(OR(x, NOT(y)))
    test AND(NOT(v:bool), w:bool) -> NOT(OR(v, NOT(w)))
  rule right: AND(x:bool, NOT(y)) ~> NOT(OR(NOT(x), y))
    test AND(v:bool, NOT(w:bool)) -> NOT(OR(NOT(v), w))
  @overlap(left)
  rule meant: AND(x:bool, OR(y, z)) ~> OR(AND(x, y), AND(x, z))
    test AND(v:bool, OR(w:bool, u:bool)) -> OR(AND(v, w), AND(v, u))
}
