ruleset a {
  rule name: MUL[x:int, @zero] ~> @zero
    test MUL(v:i32, 0:i32) -> 0:i32
  rule span: SINK(x, y, *r) if vmin(x) == vmin(y) ~> SINK(x)
    test SINK(v:i32, v) -> SINK(v)
  rule let_only: NEG(NEG(x:index)) let k = vmin(x) ~> x
    test NEG(NEG(v:index)) -> v
  rule in_c: NEG(m = NOT(x:u8)) => { return un__unary(rw->g, UN__OP_NOT, m->src[0]); }
    test NEG(NOT(v:u8)) -> NOT(v)
}
