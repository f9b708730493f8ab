// split_ends.pat - an END over several ranges is a nest of loops, outermost first.

ruleset split_ends {
  /// The outermost range is closed last.
  @proof(fuzz)
  rule split_end: END(x, r, s, *more) ~> END(END(x, s, *more), r)
}

stage split_ends { use split_ends  walk post  fuel 64 }
