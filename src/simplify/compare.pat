// compare.pat - comparisons. On integers each compares an expression with a constant where it can: `x < c` bounds x
// from above, `c < x` from below; bounds.c of the core then decides what it can, and guards (valid.pat) read their
// bounds. Index only where the other form would overflow a fixed width.
//
// Why it ends: each rule drops a node, or moves a term or factor from the left of a comparison into its constant.
include "simplify/externs.pat"
c_include "simplify/simplify.h"

opset Both = AND | OR

ruleset compare {
  // ---- equal operands ----

  /// Also for floats: NaN < NaN is false.
  @proof(smt)
  rule lt_self: LT(x, x) ~> @false
    test LT(v:f32, v:f32) -> @false:bool
  @proof(smt)
  rule ne_self: NE(x:int|index|bool, x) ~> @false
    test NE(v:i32, v:i32) -> @false:bool
    test NE(v:f32, v:f32) -> nomatch
  @proof(smt)
  rule eq_self: EQ(x:int|index|bool, x) ~> @true
    test EQ(v:i32, v:i32) -> @true:bool

  // ---- bool operands are logic ----

  @proof(smt)
  rule ne_true: NE(x:bool, @true) ~> NOT(x)
    test NE(v:bool, @true:bool) -> NOT(v:bool)
  @proof(smt)
  rule ne_false: NE(x:bool, @false) ~> x
    test NE(v:bool, @false:bool) -> v:bool
  @proof(smt)
  rule eq_true: EQ(x:bool, @true) ~> x
    test EQ(v:bool, @true:bool) -> v:bool
  @proof(smt)
  rule eq_false: EQ(x:bool, @false) ~> NOT(x)
    test EQ(v:bool, @false:bool) -> NOT(v:bool)
  @proof(smt)
  rule lt_bool: LT(x:bool, y) ~> AND(NOT(x), y)
    test LT(v:bool, w:bool) -> AND(NOT(v:bool), w:bool)

  // ---- NOT of a comparison ----

  @proof(smt)
  rule not_ne: NOT(NE(x, y)) ~> EQ(x, y)
    test NOT(NE(v:f32, w:f32)) -> EQ(v:f32, w:f32)
  @proof(smt)
  rule not_eq: NOT(EQ(x, y)) ~> NE(x, y)
    test NOT(EQ(v:f32, w:f32)) -> NE(v:f32, w:f32)
  /// not x < c is c - 1 < x. Only where c - 1 is a value of the dtype: index, and constants above the least.
  @proof(smt)
  rule not_lt: NOT(LT(x:index|sint|u8|u16|u32, #c)) if c > vmin(x) => LT(#(c - 1), x)
    test NOT(LT(v:index, 5:index)) -> LT(4:index, v:index)
    test NOT(LT(v:i8, -128:i8)) -> nomatch
  @proof(smt)
  rule not_gt: NOT(LT(#c, x:index|sint|u8|u16|u32)) if c < vmax(x) => LT(x, #(c + 1))
    test NOT(LT(5:index, v:index)) -> LT(v:index, 6:index)
    test NOT(LT(127:i8, v:i8)) -> nomatch

  // ---- index: constants and factors to one side ----

  @proof(smt)
  rule lt_add: LT(ADD(x:index, #a), #b) => LT(x, #(b - a))
    test LT(ADD(v:index, 3:index), 5:index) -> LT(v:index, 2:index)
  @proof(smt)
  rule gt_add: LT(#b, ADD(x:index, #a)) => LT(#(b - a), x)
    test LT(5:index, ADD(v:index, 3:index)) -> LT(2:index, v:index)
  @proof(smt)
  rule lt_mul: LT(MUL(x:index, #a), #b) if a > 0 => LT(x, #(0 - fdiv(0 - b, a)))
    test LT(MUL(v:index, 4:index), 10:index) -> LT(v:index, 3:index)
    test LT(MUL(v:index, 4:index), -7:index) -> LT(v:index, -1:index)
  @proof(smt)
  rule gt_mul: LT(#b, MUL(x:index, #a)) if a > 0 => LT(#(fdiv(b, a)), x)
    test LT(10:index, MUL(v:index, 4:index)) -> LT(2:index, v:index)
  /// x * -a < b is floor(-b / a) < x.
  @proof(smt)
  rule lt_mul_neg: LT(MUL(x:index, #a), #b) if a < 0 => LT(#(fdiv(0 - b, 0 - a)), x)
    test LT(MUL(v:index, -4:index), 10:index) -> LT(-3:index, v:index)
  @proof(smt)
  rule gt_mul_neg: LT(#b, MUL(x:index, #a)) if a < 0 => LT(x, #(0 - fdiv(b, 0 - a)))
    test LT(10:index, MUL(v:index, -4:index)) -> LT(v:index, -2:index)
  @proof(smt)
  rule lt_div: LT(FLOORDIV(x:index, #d), #c) if d > 0 => LT(x, #(c * d))
    test LT(FLOORDIV(v:index, 4:index), 3:index) -> LT(v:index, 12:index)
  @proof(smt)
  rule gt_div: LT(#c, FLOORDIV(x:index, #d)) if d > 0 => LT(#((c + 1) * d - 1), x)
    test LT(3:index, FLOORDIV(v:index, 4:index)) -> LT(15:index, v:index)
  /// g*X < c is X < ceil(c / g).
  @proof(smt)
  @order("the coefficients shrink")
  rule lt_gcd: LT(x = ADD(_, _):index, #c) let g = gcd_of(x) if g > 1 => LT(multiple(x, g):index, #(0 - fdiv(0 - c, g)))
    test LT(ADD(MUL(v:index, 4:index), MUL(w:index, 6:index)), 7:index)
      -> LT(ADD(MUL(v:index, 2:index), MUL(w:index, 3:index)), 4:index)
  @proof(smt)
  @order("the coefficients shrink")
  rule gt_gcd: LT(#c, x = ADD(_, _):index) let g = gcd_of(x) if g > 1 => LT(#(fdiv(c, g)), multiple(x, g):index)
    test LT(7:index, ADD(MUL(v:index, 4:index), MUL(w:index, 6:index)))
      -> LT(3:index, ADD(MUL(v:index, 2:index), MUL(w:index, 3:index)))
  /// g*X + r < g*c, r in [0, g), is X < c.
  @proof(fuzz)
  @order("the coefficients shrink")
  rule lt_rest: LT(x = ADD(_, _):index, #c) let g = factor(x, c) => LT(multiple(x, g):index, #(c / g))
    test LT(ADD(MUL(v:index, 4:index), w:index in [0, 3]), 8:index) -> LT(v:index, 2:index)
    test LT(ADD(MUL(v:index, 4:index), w:index in [0, 3]), 7:index) -> nomatch
  /// g*c - 1 < g*X + r is c - 1 < X.
  @proof(fuzz)
  @order("the coefficients shrink")
  rule gt_rest: LT(#b, x = ADD(_, _):index) let g = factor(x, b + 1) => LT(#((b + 1) / g - 1), multiple(x, g):index)
    test LT(7:index, ADD(MUL(v:index, 4:index), w:index in [0, 3])) -> LT(1:index, v:index)
  /// Both sides lose what they share.
  @proof(smt)
  rule lt_cancel: LT(ADD[x:index, y], ADD[x, z]) ~> LT(y, z)
    test LT(ADD(u:index, v:index), ADD(u:index, w:index)) -> LT(v:index, w:index)
  @proof(smt)
  rule lt_cancel_right: LT(ADD[x:index, y], x) ~> LT(y, @zero)
    test LT(ADD(u:index, v:index), u:index) -> LT(v:index, 0:index)
  @proof(smt)
  rule lt_cancel_left: LT(x:index, ADD[x, z]) ~> LT(@zero, z)
    test LT(u:index, ADD(u:index, w:index)) -> LT(0:index, w:index)
  /// Wrapping sums are equal when the rest is.
  @proof(smt)
  rule eq_add: EQ(ADD(x:int|index, #a), #b) => EQ(x, #eval(SUB, b, a))
    test EQ(ADD(v:u8, 3:u8), 1:u8) -> EQ(v:u8, 254:u8)
  @proof(smt)
  rule ne_add: NE(ADD(x:int|index, #a), #b) => NE(x, #eval(SUB, b, a))
    test NE(ADD(v:i32, 3:i32), 5:i32) -> NE(v:i32, 2:i32)
  @proof(smt)
  rule eq_mul: EQ(MUL(x:index, #a), #b) if a != 0 && b % a == 0 => EQ(x, #(b / a))
    test EQ(MUL(v:index, 4:index), 8:index) -> EQ(v:index, 2:index)
  @proof(smt)
  rule eq_mul_never: EQ(MUL(_:index, #a), #b) if a != 0 && b % a != 0 ~> @false
    test EQ(MUL(v:index, 4:index), 7:index) -> @false:bool
  @proof(smt)
  rule ne_mul: NE(MUL(x:index, #a), #b) if a != 0 && b % a == 0 => NE(x, #(b / a))
    test NE(MUL(v:index, 4:index), 8:index) -> NE(v:index, 2:index)
  @proof(smt)
  rule ne_mul_always: NE(MUL(_:index, #a), #b) if a != 0 && b % a != 0 ~> @true
    test NE(MUL(v:index, 4:index), 7:index) -> @true:bool
  @proof(smt)
  rule eq_cancel: EQ[ADD[x:int|index, y], ADD[x, z]] ~> EQ(y, z)
    test EQ(ADD(u:index, v:index), ADD(u:index, w:index)) -> EQ(v:index, w:index)
  @proof(smt)
  rule ne_cancel: NE[ADD[x:int|index, y], ADD[x, z]] ~> NE(y, z)
    test NE(ADD(u:index, v:index), ADD(u:index, w:index)) -> NE(v:index, w:index)

  // ---- a loop variable and its size ----

  @proof(fuzz)
  rule range_below_size: LT(RANGE(n), n) ~> @true
    test LT(RANGE<0, LOOP>(v:index), v:index) -> @true:bool

  // ---- conjunctions of bounds on one expression ----

  @proof(smt)
  rule and_lt_lt: AND[LT(x:sint|index, #a), LT(x, #b)] if a <= b ~> LT(x, #a)
    test AND(LT(v:index, 5:index), LT(v:index, 7:index)) -> LT(v:index, 5:index)
  @proof(smt)
  rule and_gt_gt: AND[LT(#a, x:sint|index), LT(#b, x)] if a >= b ~> LT(#a, x)
    test AND(LT(5:index, v:index), LT(7:index, v:index)) -> LT(7:index, v:index)
  /// Nothing lies between.
  @proof(smt)
  rule and_empty: AND[LT(x:sint|index, #a), LT(#b, x)] if a <= b + 1 ~> @false
    test AND(LT(v:index, 5:index), LT(4:index, v:index)) -> @false:bool
  @proof(smt)
  rule and_single: AND[LT(x:sint|index, #a), LT(#b, x)] if a == b + 2 => EQ(x, #(b + 1))
    test AND(LT(v:index, 6:index), LT(4:index, v:index)) -> EQ(v:index, 5:index)
  @proof(smt)
  rule or_lt_lt: OR[LT(x:sint|index, #a), LT(x, #b)] if a <= b ~> LT(x, #b)
    test OR(LT(v:index, 5:index), LT(v:index, 7:index)) -> LT(v:index, 7:index)
  @proof(smt)
  rule or_gt_gt: OR[LT(#a, x:sint|index), LT(#b, x)] if a >= b ~> LT(#b, x)
    test OR(LT(5:index, v:index), LT(7:index, v:index)) -> LT(5:index, v:index)
  @proof(smt)
  rule or_all: OR[LT(x:sint|index, #a), LT(#b, x)] if b < a ~> @true
    test OR(LT(v:index, 5:index), LT(3:index, v:index)) -> @true:bool
  @proof(smt)
  rule chain_and_lt: AND[AND[y, LT(x:sint|index, #a)], LT(x, #b)] ~> AND(y, LT(x, #(a < b ? a : b)))
    test AND(AND(c:bool, LT(v:index, 5:index)), LT(v:index, 7:index)) -> AND(c:bool, LT(v:index, 5:index))
  @proof(smt)
  rule chain_and_gt: AND[AND[y, LT(#a, x:sint|index)], LT(#b, x)] ~> AND(y, LT(#(a < b ? b : a), x))
    test AND(AND(c:bool, LT(5:index, v:index)), LT(7:index, v:index)) -> AND(c:bool, LT(7:index, v:index))
  @proof(smt)
  rule chain_and_empty: AND[AND[_, LT(x:sint|index, #a)], LT(#b, x)] if a <= b + 1 ~> @false
    test AND(AND(c:bool, LT(v:index, 5:index)), LT(4:index, v:index)) -> @false:bool
  @proof(smt)
  rule chain_and_empty_gt: AND[AND[_, LT(#b, x:sint|index)], LT(x, #a)] if a <= b + 1 ~> @false
    test AND(AND(c:bool, LT(4:index, v:index)), LT(v:index, 5:index)) -> @false:bool

  // ---- chains of conditions lean left, conditions on one expression side by side ----

  @proof(smt)
  for op in Both {
    @order("chains that lean right get fewer")
    rule lean_left_cond: op[x = op(_, _):bool, op[y, z]] if is_link(op, z) ~> op(op(x, y), z)
      test AND(AND(a:bool, b:bool), AND(c:bool, d:bool)) -> AND(AND(AND(a, b), c), d)
      test AND(AND(a:bool, b:bool), c:bool) -> nomatch
    @order("pairs of conditions out of order get fewer")
    rule sort_conds: op[op[x:bool, y], z] if after(op, y, z) ~> op(op(x, z), y)
      test AND(AND(c:bool, LT(RANGE<1, LOOP>(8), 3)), LT(RANGE<0, LOOP>(8), 3))
        -> AND(AND(c, LT(RANGE<0, LOOP>(8), 3)), LT(RANGE<1, LOOP>(8), 3))
      test OR(OR(c:bool, LT(RANGE<1, LOOP>(8), 3)), LT(RANGE<0, LOOP>(8), 3))
        -> OR(OR(c, LT(RANGE<0, LOOP>(8), 3)), LT(RANGE<1, LOOP>(8), 3))
  }
}
