extern fn ext(x: node): node
ruleset a {
  rule fold: ADD(#a, #b) ~> #eval(ADD, a, b)
  rule product: FLOORDIV(FLOORDIV(x:index, #a), #b) if b > 0 && a != 0 ~> FLOORDIV(x, #(a * b))
  rule quotient: MUL(x:index, #a) ~> MUL(x, #(4 / a))
  rule bound: NEG(x:index) ~> #vmin(x)
  rule function: NEG(x:i32) ~> ext(x)
  rule literal: NEG(x:i8|i32) ~> MUL(x, 300)
  rule good: FLOORDIV(x:i8|i32, #c) if is_pow2(c) && c > 1 ~> SHR(AND(x, #(c - 1)), #log2(c))
    test NEG(v:i32) -> nomatch
}
