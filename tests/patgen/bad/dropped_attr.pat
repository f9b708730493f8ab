ruleset a {
  rule any_op: REDUCE(REDUCE(x:int, *r), *s) ~> REDUCE<ADD>(x, *r, *s)
    test REDUCE<ADD>(REDUCE<ADD>(v:i32, RANGE<0, REDUCE>(8)), RANGE<1, REDUCE>(4)) -> REDUCE<ADD>(v, RANGE<0, REDUCE>(8), RANGE<1, REDUCE>(4))
  rule any_axis: r = RANGE<i, _>(n) if attr(r, id) == 3 ~> RANGE<i, LOOP>(n)
    test RANGE<3, REDUCE>(4) -> RANGE<3, LOOP>(4)
  rule said: RANGE<i, UPCAST>(n) ~> RANGE<i, LOOP>(n)
    test RANGE<3, UPCAST>(4) -> RANGE<3, LOOP>(4)
  rule read: r = RANGE<i, _>(n) if attr(r, axis) == UNROLL ~> RANGE<i, LOOP>(n)
    test RANGE<3, UNROLL>(4) -> RANGE<3, LOOP>(4)
  rule passed: RANGE<_, x>(n) let y = n ~> RANGE<7, x>(y)
    test RANGE<3, UNROLL>(4) -> RANGE<7, UNROLL>(4)
}
