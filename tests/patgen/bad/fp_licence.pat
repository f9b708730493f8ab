ruleset a {
  rule add_zero: ADD[x, @zero] ~> x
  rule sub_self: SUB(x, x) ~> @zero
  rule mul_zero: MUL[x, z = @zero] ~> z
  rule assoc: ADD[ADD[x, y], #c] ~> ADD(x, ADD(y, c))
  rule fine: ADD[x:!float, z = @zero] ~> x
  @fp(nsz)
  rule licensed: ADD[x, @zero] if vmin(x) == 3 ~> x
}
