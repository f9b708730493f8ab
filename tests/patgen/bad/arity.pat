extern pred p(x: node)
ruleset a {
  rule few: ADD(x) ~> x
  rule many: NEG(x, y) ~> x
  rule right: NEG(x) ~> ADD(x)
  rule call: NEG(x:i32) if p(x, x) ~> x
  rule optional: ADD?(x, y) ~> x
  rule built: NEG(x:i32) if vmin(x, x) > 0 ~> x
}
