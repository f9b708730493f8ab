extern fn ext(x: node): int
ruleset a {
  rule clash: ADD(x:f32, y:i32) ~> x
  rule narrow: ADD(x, y) ~> SQRT(x)
  rule different: WHERE(c, CAST<f32>(x:f16), y) ~> WHERE(c, x, y)
  rule ambiguous: LOAD(INDEX(p, i)) ~> LOAD(INDEX(p, MUL(#1, #2)))
  rule operands: SQRT(x:int) ~> x
  rule node_as_number: NEG(x:i32) if x > 3 ~> x
  rule number_as_node: NEG(x:i32) let k = ext(x) => ADD(x, k)
  rule operator: ADD(x:i32, y) ~> x % y
  rule two_kinds: RANGE<n, LOOP>(n) ~> n
  rule number: ADD(x:i32, y) if dtype(x) > 3 ~> x
  rule untyped: NEG(NEG(x)) ~> x
    test NEG(NEG(v)) -> v
}
