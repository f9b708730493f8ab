ruleset a {
  rule sub: SUB[x, x] ~> @zero
  rule lt: LT[x, @zero] ~> @false
}
