extern pred p(x: node)
extern pred p(x: node)
ruleset a {
  rule one: NEG(NEG(x)) ~> x
  rule one: NOT(NOT(x)) ~> x
  rule two: NEG(x:i32) let x = 3 ~> x
}
ruleset a { }
