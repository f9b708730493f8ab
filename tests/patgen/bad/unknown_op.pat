ruleset a {
  rule typo: FLORDIV(x, y) ~> x
  rule far: FROBNICATE(x) ~> x
  rule right: NEG(x) ~> NEGG(x)
}
opset Set = ADD | MULL
