ruleset a {
  @fp(fast) @proof(magic) @colour(red)
  rule licence: NEG(NEG(x)) ~> x
  rule count: RANGE<1>(n) ~> n
  rule none: NEG<1>(x) ~> x
  rule axis: RANGE<_, ADD>(n) ~> n
  rule axis_right: RANGE<i, LOOP>(n) ~> RANGE<i, MUL>(n)
  rule dtype: ADD<f32>(x, y) ~> x
  rule attr: r = RANGE<_, LOOP>(n) if attr(r, size) == 1 ~> n
  rule unknown: NEG(x:i32) if attr(x, id) == 1 ~> x
}
