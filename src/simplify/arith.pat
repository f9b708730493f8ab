// arith.pat - sums, products and bit operations: one form for equal expressions.
//
// The normal form of an index expression is a sum of terms: a chain that leans left, ((t0 + t1) + t2) + c, each term
// a constant times a product, terms in the order of `after` (outer loops first; parts of one division side by
// side), like terms collected, the constant last. Fixed-width integers wrap, so the same laws hold for them, but
// their sums are left in the order written: only constants move.
//
// Why it ends: every rule lowers, in this order, (SUB and NEG and shifts of index, products over sums, nodes that are
// not constants inside a chain's constant, nodes, chains that lean right, pairs of terms out of order).
include "simplify/externs.pat"
c_include "simplify/simplify.h"

opset Assoc    = ADD | MUL | AND | OR | XOR
opset Extreme  = MAX | MIN
opset Idem     = MAX | MIN | AND | OR
opset Chained  = ADD | MUL

ruleset arith {
  // ---- identities ----

  /// x + 0 is x.
  @proof(smt)
  rule add_zero: ADD[x:int|index, @zero] ~> x
    test ADD(v:i32, 0:i32) -> v
    test ADD(v:f32, 0.0:f32) -> nomatch
  /// For floats x + 0.0 turns -0.0 into 0.0, hence the licence.
  @fp(nsz) @proof(smt)
  rule add_zero_float: ADD[x:float, @zero] ~> x
    test(nsz) ADD(v:f32, 0.0:f32) -> v
    test ADD(v:f32, 0.0:f32) -> nomatch
  /// x - 0.0 is x for every x: -0.0 - 0.0 is -0.0.
  @proof(smt)
  rule sub_zero_float: SUB(x:float, @zero) ~> x
    test SUB(v:f32, 0.0:f32) -> v
  /// x * 1 is x, also for floats.
  @proof(smt)
  rule mul_one: MUL[x, @one] ~> x
    test MUL(v:f32, 1.0:f32) -> v
    test MUL(v:index, 1:index) -> v
  /// Integers only: inf * 0 is NaN, -1.0 * 0 is -0.0.
  @proof(smt)
  rule mul_zero: MUL[_:int|index, z = @zero] ~> z
    test MUL(v:i8, 0:i8) -> 0:i8
    test MUL(v:f32, 0.0:f32) -> nomatch
  @fp(nsz nnan ninf) @proof(smt)
  rule mul_zero_float: MUL[_:float, z = @zero] ~> z
    test(nsz nnan ninf) MUL(v:f32, 0.0:f32) -> 0.0:f32
  /// x / 1 is x.
  @proof(smt)
  rule fdiv_one: FDIV(x, @one) ~> x
    test FDIV(v:f32, 1.0:f32) -> v
  /// A NEG is cheaper than a product, and exact.
  @proof(smt)
  @order("no rule makes a product of a float NEG")
  rule mul_minus_one_float: MUL[x:float, @minus_one] ~> NEG(x)
    test MUL(v:f32, -1.0:f32) -> NEG(v:f32)
  @proof(smt)
  rule neg_neg: NEG(NEG(x:float)) ~> x
    test NEG(NEG(v:f32)) -> v
  @proof(smt)
  rule not_not: NOT(NOT(x)) ~> x
    test NOT(NOT(v:u8)) -> v
  /// Minimum, maximum, and, or of a value with itself.
  @proof(smt)
  for op in Idem {
    rule idempotent: op(x, x) ~> x
      test MAX(v:f32, v) -> v
      test AND(v:bool, v) -> v
      test OR(v:u8, w:u8) -> nomatch
  }
  @proof(smt)
  rule xor_self: XOR(x, x) ~> @zero
    test XOR(v:u32, v:u32) -> 0:u32
  @proof(smt)
  rule and_zero: AND[_, z = @zero] ~> z
    test AND(v:i32, 0:i32) -> 0:i32
  @proof(smt)
  rule and_ones: AND[x:int|index, @minus_one] ~> x
    test AND(v:i32, -1:i32) -> v
  @proof(smt)
  rule and_true: AND[x:bool, @true] ~> x
    test AND(v:bool, @true:bool) -> v
  @proof(smt)
  rule or_zero: OR[x, @zero] ~> x
    test OR(v:u8, 0:u8) -> v
  @proof(smt)
  rule or_ones: OR[_:int, z = @minus_one] ~> z
    test OR(v:i8, -1:i8) -> -1:i8
  @proof(smt)
  rule or_true: OR[_:bool, z = @true] ~> z
    test OR(v:bool, @true:bool) -> @true:bool
  @proof(smt)
  rule xor_zero: XOR[x, @zero] ~> x
    test XOR(v:i16, 0:i16) -> v
  @proof(smt)
  rule xor_ones: XOR[x:int, @minus_one] ~> NOT(x)
    test XOR(v:i16, -1:i16) -> NOT(v:i16)
  @proof(smt)
  rule xor_true: XOR[x:bool, @true] ~> NOT(x)
    test XOR(v:bool, @true:bool) -> NOT(v:bool)
  @proof(smt)
  rule and_not_self: AND[x:int|bool, NOT(x)] ~> @zero
    test AND(v:bool, NOT(v:bool)) -> @false:bool
  @proof(smt)
  rule or_not_self: OR[x:bool, NOT(x)] ~> @true
    test OR(NOT(v:bool), v:bool) -> @true:bool
  /// x & (x | y) is x, x | (x & y) is x.
  @proof(smt)
  rule and_absorb: AND[x, OR[x, _]] ~> x
    test AND(v:bool, OR(w:bool, v:bool)) -> v
  @proof(smt)
  rule or_absorb: OR[x, AND[x, _]] ~> x
    test OR(v:bool, AND(w:bool, v:bool)) -> v
  @proof(smt)
  rule shl_zero: SHL(x, @zero) ~> x
    test SHL(v:i32, 0:i32) -> v
  @proof(smt)
  rule shr_zero: SHR(x, @zero) ~> x
    test SHR(v:i32, 0:i32) -> v

  // ---- one operator for one meaning ----

  /// Differences are sums with a factor of -1, so that like terms meet.
  @proof(smt)
  rule sub_to_add: SUB(x:int|index, y) ~> ADD(x, MUL(y, @minus_one))
    test SUB(v:index, w:index) -> ADD(v:index, MUL(w:index, -1:index))
  @proof(smt)
  rule neg_to_mul: NEG(x:int|index) ~> MUL(x, @minus_one)
    test NEG(v:i32) -> MUL(v:i32, -1:i32)
  /// On index, shifts and masks are division and modulus by a power of two (two's complement without end).
  @proof(smt)
  rule shl_to_mul: SHL(x:index, #c) if c in [0, 62] ~> MUL(x, #(1 << c))
    test SHL(v:index, 3:index) -> MUL(v:index, 8:index)
  @proof(smt)
  rule shr_to_div: SHR(x:index, #c) if c in [0, 62] ~> FLOORDIV(x, #(1 << c))
    test SHR(v:index, 3:index) -> FLOORDIV(v:index, 8:index)
  @proof(smt)
  @order("an AND of index with a constant never comes back")
  rule and_to_mod: AND(x:index, #c) if c > 0 && (c & (c + 1)) == 0 => FLOORMOD(x, #(c + 1))
    test AND(v:index, 7:index) -> FLOORMOD(v:index, 8:index)
    test AND(v:index, 6:index) -> nomatch

  // ---- constants move out ----

  @proof(smt)
  for op in Assoc {
    rule assoc_const: op(op(x:int|index|bool, #a), #b) => op(x, #eval(op, a, b))
      test ADD(ADD(v:u8, 200:u8), 100:u8) -> ADD(v, 44:u8)
      test MUL(MUL(v:index, 3:index), 4:index) -> MUL(v, 12:index)
      test MUL(MUL(v:index, 4611686018427387904:index), 4:index) -> nomatch
      test ADD(ADD(v:f32, 1.0:f32), 2.0:f32) -> nomatch
    @order("constants only move outwards in a chain")
    rule const_out: op[op(x:int|index|bool, c:const), y] if !is_const(y) && !is_const(x) ~> op(op(x, y), c)
      test ADD(ADD(v:index, 5:index), w:index) -> ADD(ADD(v, w), 5:index)
      test ADD(w:i32, ADD(v:i32, 5:i32)) -> ADD(ADD(v, w), 5:i32)
      test ADD(ADD(v:index, w:index), 5:index) -> nomatch
  }
  /// Also for floats: which of -0.0 and 0.0 a maximum gives is open.
  @proof(smt)
  for op in Extreme {
    rule extreme_const: op(op(x, #a), #b) => op(x, #eval(op, a, b))
      test MAX(MAX(v:f32, 1.0:f32), 2.0:f32) -> MAX(v, 2.0:f32)
      test MIN(MIN(v:i8, 1:i8), 2:i8) -> MIN(v, 1:i8)
    @order("constants only move outwards in a chain")
    rule extreme_out: op[op(x, c:const), y] if !is_const(y) && !is_const(x) ~> op(op(x, y), c)
      test MAX(MAX(v:i32, 1:i32), w:i32) -> MAX(MAX(v, w), 1:i32)
    rule extreme_again: op[op[x, y], x] ~> op(x, y)
      test MIN(MIN(v:f32, w:f32), v) -> MIN(v, w)
  }
  @proof(smt)
  rule and_again: AND[AND[x, y], x] ~> AND(x, y)
    test AND(AND(v:bool, w:bool), v:bool) -> AND(v:bool, w:bool)
  @proof(smt)
  rule or_again: OR[OR[x, y], x] ~> OR(x, y)
    test OR(OR(v:bool, w:bool), v:bool) -> OR(v:bool, w:bool)

  // ---- like terms ----

  @proof(smt)
  @order("fewer terms in a chain")
  rule double: ADD(x:int|index, x) ~> MUL(x, #2)
    test ADD(v:index, v:index) -> MUL(v:index, 2:index)
  @proof(smt)
  rule collect_one: ADD[x:int|index, MUL(x, #a)] => MUL(x, #(a + 1))
    test ADD(v:index, MUL(v:index, 3:index)) -> MUL(v:index, 4:index)
  @proof(smt)
  rule collect_two: ADD[MUL(x:int|index, #a), MUL(x, #b)] => MUL(x, #(a + b))
    test ADD(MUL(v:i32, 3:i32), MUL(v:i32, 5:i32)) -> MUL(v:i32, 8:i32)
  @proof(smt)
  @order("fewer terms in a chain")
  rule chain_double: ADD[ADD[y, x:int|index], x] ~> ADD(y, MUL(x, #2))
    test ADD(ADD(w:index, v:index), v:index) -> ADD(w:index, MUL(v:index, 2:index))
  @proof(smt)
  rule chain_collect_first: ADD[ADD[y, x:int|index], MUL(x, #a)] => ADD(y, MUL(x, #(a + 1)))
    test ADD(ADD(w:index, v:index), MUL(v:index, -1:index)) -> ADD(w:index, MUL(v:index, 0:index))
  @proof(smt)
  rule chain_collect_last: ADD[ADD[y, MUL(x:int|index, #a)], x] => ADD(y, MUL(x, #(a + 1)))
    test ADD(ADD(w:index, MUL(v:index, 2:index)), v:index) -> ADD(w:index, MUL(v:index, 3:index))
  @proof(smt)
  rule chain_collect_two: ADD[ADD[y, MUL(x:int|index, #a)], MUL(x, #b)] => ADD(y, MUL(x, #(a + b)))
    test ADD(ADD(w:index, MUL(v:index, 2:index)), MUL(v:index, 3:index)) -> ADD(w:index, MUL(v:index, 5:index))
  /// A constant factor goes to the terms, where it may cancel, collect, or divide.
  @proof(smt)
  @order("sums rise over products, and are never factored")
  rule distribute: MUL(ADD(x:index, y), #c) ~> ADD(MUL(x, #c), MUL(y, #c))
    test MUL(ADD(v:index, w:index), 4:index) -> ADD(MUL(v:index, 4:index), MUL(w:index, 4:index))

  // ---- order of chains, index only ----

  @proof(smt)
  for op in Chained {
    @order("chains that lean right get fewer")
    rule lean_left: op[x = op(_, _):index, op[y, z]] if is_link(op, z) ~> op(op(x, y), z)
      test ADD(ADD(a:index, b:index), ADD(c:index, 1:index)) -> ADD(ADD(ADD(a, b), 1), c)
    @order("pairs of terms out of order get fewer")
    rule sort_chain: op[op[x:index, y], z] if after(op, y, z) ~> op(op(x, z), y)
      test ADD(ADD(u:index, RANGE<0, LOOP>(8)), v:index) -> ADD(ADD(u, v), RANGE<0, LOOP>(8))
      test MUL(MUL(u:index, RANGE<0, LOOP>(8)), v:index) -> MUL(MUL(u, v), RANGE<0, LOOP>(8))
  }
}
