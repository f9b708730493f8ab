ruleset a {
  rule left: ADD[MUL[x:int, #c], MUL[y, #c]] if c > 2 ~> MUL(ADD(x, y), #c)
    test NEG(v:i32) -> nomatch
  rule renamed: ADD[MUL[a:int, #k], MUL[b, #k]] if k > 2 ~> MUL(ADD(a, b), #k)
    test NEG(v:i32) -> nomatch
}
