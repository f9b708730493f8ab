ruleset a {
  rule stray: NEG(NEG(x)) ~> $x
  rule number: ADD(x, 99999999999999999999) ~> x
  rule malformed: ADD(x, 12ab) ~> x
  rule open: NEG(x) => { if (x) { return x; }
