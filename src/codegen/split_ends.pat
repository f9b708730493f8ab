// split_ends.pat - an END over several ranges is a nest of loops, outermost first.

ruleset split_ends {
  /// The outermost range is closed last.
  @proof(fuzz)
  rule split_end: END(x, r, s, *more) ~> END(END(x, s, *more), r)
    test END(STORE(INDEX(p:ptr, RANGE<0, LOOP>(3)), v:f32), RANGE<1, LOOP>(2), RANGE<0, LOOP>(3))
      -> END(END(STORE(INDEX(p, RANGE<0, LOOP>(3)), v), RANGE<0, LOOP>(3)), RANGE<1, LOOP>(2))
    test END(STORE(INDEX(p:ptr, RANGE<0, LOOP>(3)), v:f32), RANGE<0, LOOP>(3)) -> nomatch
}

stage split_ends { use split_ends  walk post  fuel 64 }
