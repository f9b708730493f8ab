ruleset a {
  rule two_ops: SUB(m = ADD(_, _), m = MUL(_, _)) ~> m
  rule lanes: NEG(x:scalar:vec) ~> x
  rule own_source: SUB(m = NEG(m), _) ~> m
}
