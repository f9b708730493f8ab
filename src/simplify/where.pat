// where.pat - selection and boolean glue. Every rule drops a node or moves a condition outwards.
include "simplify/externs.pat"
c_include "simplify/simplify.h"

ruleset where_fold {
  @proof(smt)
  rule where_true: WHERE(@true, t, _) ~> t
    test WHERE(@true:bool, v:f32, w:f32) -> v:f32
  @proof(smt)
  rule where_false: WHERE(@false, _, f) ~> f
    test WHERE(@false:bool, v:f32, w:f32) -> w:f32
  @proof(smt)
  rule where_same: WHERE(_, x, x) ~> x
    test WHERE(c:bool, v:f32, v:f32) -> v:f32
  @proof(smt)
  rule where_not: WHERE(NOT(c), t, f) ~> WHERE(c, f, t)
    test WHERE(NOT(c:bool), v:i32, w:i32) -> WHERE(c:bool, w:i32, v:i32)
  @proof(smt)
  rule where_bool: WHERE(c, @true, @false) ~> c
    test WHERE(c:bool, @true:bool, @false:bool) -> c:bool
  @proof(smt)
  rule where_bool_not: WHERE(c, @false:bool, @true) ~> NOT(c)
    test WHERE(c:bool, @false:bool, @true:bool) -> NOT(c:bool)
  @proof(smt)
  rule where_or: WHERE(c, @true:bool, x) ~> OR(c, x)
    test WHERE(c:bool, @true:bool, v:bool) -> OR(c:bool, v:bool)
  @proof(smt)
  rule where_and: WHERE(c, x:bool, @false) ~> AND(c, x)
    test WHERE(c:bool, v:bool, @false:bool) -> AND(c:bool, v:bool)
  @proof(smt)
  rule where_and_not: WHERE(c, @false:bool, x) ~> AND(NOT(c), x)
    test WHERE(c:bool, @false:bool, v:bool) -> AND(NOT(c:bool), v:bool)
  @proof(smt)
  rule where_or_not: WHERE(c, x:bool, @true) ~> OR(NOT(c), x)
    test WHERE(c:bool, v:bool, @true:bool) -> OR(NOT(c:bool), v:bool)

  // ---- one WHERE inside another ----

  @proof(smt)
  rule where_then_same: WHERE(c, WHERE(c, t, _), f) ~> WHERE(c, t, f)
    test WHERE(c:bool, WHERE(c:bool, v:f32, w:f32), x:f32) -> WHERE(c:bool, v:f32, x:f32)
  @proof(smt)
  rule where_else_same: WHERE(c, t, WHERE(c, _, f)) ~> WHERE(c, t, f)
    test WHERE(c:bool, v:f32, WHERE(c:bool, w:f32, x:f32)) -> WHERE(c:bool, v:f32, x:f32)
  @proof(smt)
  rule where_nest_and: WHERE(a, WHERE(b, x, y), y) ~> WHERE(AND(a, b), x, y)
    test WHERE(a:bool, WHERE(b:bool, v:f32, w:f32), w:f32) -> WHERE(AND(a:bool, b:bool), v:f32, w:f32)
  @proof(smt)
  rule where_nest_or: WHERE(a, x, WHERE(b, x, y)) ~> WHERE(OR(a, b), x, y)
    test WHERE(a:bool, v:f32, WHERE(b:bool, v:f32, w:f32)) -> WHERE(OR(a:bool, b:bool), v:f32, w:f32)

  // ---- constants through a WHERE of constants ----

  @proof(smt)
  rule add_where: ADD(WHERE(c, #a, #b), #k) => WHERE(c, #eval(ADD, a, k), #eval(ADD, b, k))
    test ADD(WHERE(c:bool, 1:index, 2:index), 3:index) -> WHERE(c:bool, 4:index, 5:index)
  @proof(smt)
  rule mul_where: MUL(WHERE(c, #a, #b), #k) => WHERE(c, #eval(MUL, a, k), #eval(MUL, b, k))
    test MUL(WHERE(c:bool, 1:index, 2:index), 3:index) -> WHERE(c:bool, 3:index, 6:index)
  @proof(smt)
  rule lt_where: LT(WHERE(c, #a, #b), #k) => WHERE(c, #eval(LT, a, k), #eval(LT, b, k))
    test LT(WHERE(c:bool, 1:index, 5:index), 3:index) -> WHERE(c:bool, @true:bool, @false:bool)
  @proof(smt)
  rule ne_where: NE(WHERE(c, #a, #b), #k) => WHERE(c, #eval(NE, a, k), #eval(NE, b, k))
    test NE(WHERE(c:bool, 1:i32, 0:i32), 0:i32) -> WHERE(c:bool, @true:bool, @false:bool)
  @proof(smt)
  rule eq_where: EQ(WHERE(c, #a, #b), #k) => WHERE(c, #eval(EQ, a, k), #eval(EQ, b, k))
    test EQ(WHERE(c:bool, 1:i32, 0:i32), 0:i32) -> WHERE(c:bool, @false:bool, @true:bool)
  /// Sums of selections under one condition select the sums.
  @proof(smt)
  rule add_wheres: ADD(WHERE(c, a:int|index, @zero), WHERE(c, b, @zero)) ~> WHERE(c, ADD(a, b), @zero)
    test ADD(WHERE(c:bool, v:i32, 0:i32), WHERE(c:bool, w:i32, 0:i32)) -> WHERE(c:bool, ADD(v:i32, w:i32), 0:i32)
}
