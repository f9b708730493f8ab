ruleset a {
  rule no_test: NEG(NEG(x)) ~> x
}
