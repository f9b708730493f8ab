// valid.pat - VALID, INDEX gates, and simplification under what they guarantee.
//
// VALID(i, g) is the index i where g holds and no index elsewhere, so arithmetic on it may be done inside. It moves
// outwards until an INDEX takes the condition as its gate.
include "simplify/externs.pat"
c_include "simplify/simplify.h"

opset Through = ADD | SUB | MUL | FLOORDIV | FLOORMOD | MAX | MIN

ruleset valid {
  @proof(smt)
  rule valid_true: VALID(i, @true) ~> i
    test VALID(v:index, @true:bool) -> v:index
  @proof(smt)
  rule valid_false: VALID(_, @false) ~> @invalid
    test VALID(v:index, @false:bool) -> INVALID()
  @proof(smt)
  rule valid_valid: VALID(VALID(i, a), b) ~> VALID(i, AND(a, b))
    test VALID(VALID(v:index, a:bool), b:bool) -> VALID(v:index, AND(a:bool, b:bool))
  @proof(smt)
  rule valid_invalid: VALID(i = INVALID(), _) ~> i
    test VALID(INVALID(), c:bool) -> INVALID()
  @proof(smt)
  rule where_else_invalid: WHERE(c, i, INVALID()) ~> VALID(i, c)
    test WHERE(c:bool, v:index, INVALID()) -> VALID(v:index, c:bool)
  @proof(smt)
  rule where_then_invalid: WHERE(c, INVALID(), i) ~> VALID(i, NOT(c))
    test WHERE(c:bool, INVALID(), v:index) -> VALID(v:index, NOT(c:bool))
  /// Arithmetic on no index gives no index.
  @proof(fuzz)
  for op in Through {
    @order("VALID only moves outwards")
    rule valid_left: op(VALID(i, g), y:index) ~> VALID(op(i, y), g)
      test FLOORDIV(VALID(v:index, c:bool), 4:index) -> VALID(FLOORDIV(v, 4), c)
    @order("VALID only moves outwards")
    rule valid_right: op(y:index, VALID(i, g)) ~> VALID(op(y, i), g)
      test FLOORMOD(8:index, VALID(v:index, c:bool)) -> VALID(FLOORMOD(8, v), c)
    rule invalid_left: op(i = INVALID(), _) ~> i
      test FLOORDIV(INVALID(), 4:index) -> INVALID()
    rule invalid_right: op(_, i = INVALID()) ~> i
      test FLOORDIV(v:index, INVALID()) -> INVALID()
  }
  /// An address takes the condition as its gate.
  @proof(fuzz)
  rule index_valid: INDEX(p:ptr, VALID(i, g)) ~> INDEX(p, i, g)
    test INDEX(p:ptr, VALID(i:index, c:bool)) -> INDEX(p, i, c)
  @proof(fuzz)
  @order("VALID only moves outwards")
  rule index_valid_gate: INDEX(p:ptr, VALID(i, g), h:bool) ~> INDEX(p, i, AND(g, h))
    test INDEX(p:ptr, VALID(i:index, c:bool), d:bool) -> INDEX(p, i, AND(c, d))
  @proof(fuzz)
  rule index_gate_true: INDEX(p:ptr, i, @true) ~> INDEX(p, i)
    test INDEX(p:ptr, i:index, @true:bool) -> INDEX(p, i)
    test INDEX(p:ptr, i:index, c:bool) -> nomatch
  /// Nothing is loaded where the gate is false.
  @proof(fuzz)
  rule load_never: LOAD(INDEX(_, _, @false)):bool|int|float ~> @zero
    test LOAD(INDEX(p:ptr, i:index, @false:bool)):f32 -> 0.0:f32
    test LOAD(INDEX(p:ptr, i:index, c:bool)):f32 -> nomatch
  @proof(fuzz)
  rule load_invalid: LOAD(INDEX(_, INVALID())):bool|int|float ~> @zero
    test LOAD(INDEX(p:ptr, INVALID())):f32 -> 0.0:f32

  // ---- under a guard ----

  /// The address counts only where the gate holds.
  @proof(fuzz)
  @order("`under` gives something smaller or nothing")
  rule index_under_gate: INDEX(p:ptr, i, g) if !is_const(g) => INDEX(p, under(i, g, 1), g)
    test INDEX(p:ptr, FLOORMOD(v:index in [0, 9], 4), LT(v, 4)) -> INDEX(p, v, LT(v, 4))
    test INDEX(p:ptr, FLOORMOD(v:index in [0, 9], 4), LT(v, 5)) -> nomatch
  @proof(fuzz)
  @order("`under` gives something smaller or nothing")
  rule valid_under_gate: VALID(i, g) if !is_const(g) => VALID(under(i, g, 1), g)
    test VALID(FLOORMOD(v:index in [0, 9], 4), LT(v, 4)) -> VALID(v, LT(v, 4))
    test VALID(FLOORMOD(v:index in [0, 9], 4), LT(v, 5)) -> nomatch
  @proof(fuzz)
  @order("`under` gives something smaller or nothing")
  rule where_then: WHERE(c, t:index, f) if !is_const(c) => WHERE(c, under(t, c, 1), f)
    test WHERE(LT(v:index in [0, 9], 4), FLOORDIV(v, 4), 7) -> WHERE(LT(v, 4), 0, 7)
    test WHERE(LT(4, ADD(v:index in [0, 9], w:index in [0, 9])), FLOORDIV(ADD(v, w), 17), 7) -> nomatch
  @proof(fuzz)
  @order("`under` gives something smaller or nothing")
  rule where_else: WHERE(c, t:index, f) if !is_const(c) => WHERE(c, t, under(f, c, 0))
    test WHERE(LT(v:index in [0, 9], 4), 7, MAX(v, 4)) -> WHERE(LT(v, 4), 7, v)
  /// Of a conjunction each part counts only where the other holds; of a disjunction, only where it does not.
  @proof(fuzz)
  @order("`under` gives something smaller or nothing")
  rule and_under: AND[a:bool, b] => AND(under(a, b, 1), b)
    test AND(LT(FLOORMOD(v:index in [0, 9], 4), w:index in [0, 9]), LT(v, 4)) -> AND(LT(v, w), LT(v, 4))
    test AND(LT(FLOORMOD(v:index in [0, 9], 4), w:index in [0, 9]), LT(v, 5)) -> nomatch
  @proof(fuzz)
  @order("`under` gives something smaller or nothing")
  rule or_under: OR[a:bool, b] => OR(under(a, b, 0), b)
    test OR(LT(w:index in [0, 9], FLOORMOD(v:index in [0, 9], 4)), LT(3, v)) -> OR(LT(w, v), LT(3, v))
}
