ruleset a {
  rule swap: ADD(x:int, y) ~> ADD(y, x)
  rule twice: NEG(x) ~> NEG(NEG(x))
  rule same: m = NOT(_) ~> m
  rule typed: MUL(x:int, y) ~> y * x
}
