extern fn split_of(r: node): int
ruleset a {
  rule right: NEG(NEG(value)) ~> valve
  rule guard: ADD(x:index, #c) if d > 0 => ADD(x, #c)
  rule optional: NEG(CAST?<'T>(x:i32)) if is_float('T) ~> NEG(CAST<'T>(x))
  rule tyvar: CAST<'A>(x:i32) ~> CAST<'B>(x)
  rule let_order: NEG(x:i32) if k > 0 let k = split_of(x) ~> x
  rule unknown: NEG(x:i32) if frob(x) ~> x
}
