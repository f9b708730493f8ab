extern fn other(x: node): node
opset Division = FLOORDIV | FLOORMOD
fn twice(x: node): node = x + x
ruleset a {
  rule fewer: FLOORDIV(FLOORDIV(x:index, #c), #d) if c > 0 && d > 0 => FLOORDIV(x, #(c * d))
    test FLOORDIV(FLOORDIV(v:index, 3), 4) -> FLOORDIV(v, 12)
  rule more: NEG(NEG(x:int)) ~> x - (@zero - x)
    test NEG(NEG(v:i32)) -> SUB(v, SUB(0, v))
  rule grows: NEG(x:int) ~> FLOORDIV(x, @minus_one)
    test NEG(v:i32) -> FLOORDIV(v, -1)
  rule moves: LT(NEG(x:int), y) ~> LT(x, NEG(y))
    test LT(NEG(v:i32), w:i32) -> LT(v, NEG(w))
  rule inlined: NOT(x:u8) ~> twice(x)
    test NOT(v:u8) -> ADD(v, v)
  rule called: NOT(x:u16) => other(x)
    test NEG(v:u16) -> nomatch
  rule by_let: NOT(x:u32) let y = x + x => NEG(y)
    test NOT(v:u32) -> NEG(ADD(v, v))
  rule choice: ADD(x:i64, #c) ~> c > 0 ? NOT(NOT(x)) : x
    test ADD(v:i64, 0:i64) -> v
  rule block: NOT(x:u64) => { return x; }
    test NOT(v:u64) -> v
  rule list: SINK(_, *r) ~> SINK(*r, *r)
    test SINK(v:i32) -> SINK()
  rule drops: WHERE(_, x:int, FLOORDIV(x, _)) ~> x
    test WHERE(c:bool, v:i32, FLOORDIV(v, w:i32)) -> v
  @order("NEG only goes to the left")
  rule sorted: MAX(x:int, NEG(y)) if is_const(x) ~> MAX(NEG(x), y)
    test MAX(1:i32, NEG(v:i32)) -> nomatch
}
stage ends { use a  order nodes(Division), nodes(*) }
stage unclaimed { use a }
