// index.pat - unbounded integers become i32 or i64, by proof.
//
// A lowered index is CAST<index>(y) with y of a fixed width, or a leaf: CONST, RANGE, SPECIAL, VAR. Each op on lowered
// operands moves below the CAST when its own bounds and those of its operands fit the width; what consumes an index
// (INDEX, comparisons, CAST to a value) then takes y. The leaves get their width at the end, everywhere at once, by
// substitution. What keeps dtype index has no proof, and lowering reports it.
c_include "codegen/lower.h"
include "simplify/fold.pat"

opset Sums = ADD | SUB | MUL | MAX | MIN | AND | XOR | SHL | SHR | TRUNCDIV | TRUNCMOD
opset Order = LT | NE | EQ

/// 32 or 64: the width of integer in which an op may be computed, because its index operands and its result fit. No
/// match without that proof, or when an operand is not lowered yet.
extern fn width(x: node): int
/// A lowered index as an integer of that width.
extern fn as_int(x: node, bits: int): node
/// A VECTORIZE of lowered indices, likewise.
extern fn as_lanes(x: node, bits: int): node
/// A lowered index as a value of another dtype. No match when that is what it is.
extern fn as_value(x: node, d: dtype): node

ruleset floor_division {
  /// Shifting right is flooring, whatever the sign.
  @proof(smt)
  rule floordiv_pow2: FLOORDIV(x:int|index, #c) if is_pow2(c) ~> SHR(x, #log2(c))
    test FLOORDIV(v:i32, 8:i32) -> SHR(v, 3:i32)
    test FLOORDIV(v:i32, 6:i32) -> nomatch
  @proof(smt)
  rule floormod_pow2: FLOORMOD(x:int|index, #c) if is_pow2(c) ~> AND(x, #(c - 1))
    test FLOORMOD(v:i64, 8:i64) -> AND(v, 7:i64)

  /// Where nothing is negative, flooring is truncating.
  @proof(smt)
  rule floordiv_same: FLOORDIV(x:int|index, y) if vmin(x) >= 0 && vmin(y) >= 0 ~> TRUNCDIV(x, y)
    test FLOORDIV(v:u32, w:u32) -> TRUNCDIV(v, w)
  @proof(smt)
  rule floormod_same: FLOORMOD(x:int|index, y) if vmin(x) >= 0 && vmin(y) >= 0 ~> TRUNCMOD(x, y)
    test FLOORMOD(v:u64, w:u64) -> TRUNCMOD(v, w)

  /// A positive divisor: one less where the remainder is negative.
  @proof(smt)
  rule floordiv_positive: FLOORDIV(x:int|index, y) if vmin(y) > 0
    ~> TRUNCDIV(x, y) - CAST(LT(TRUNCMOD(x, y), 0)):dtype(x)
    test FLOORDIV(v:i32, 3:i32) -> SUB(TRUNCDIV(v:i32, 3:i32), CAST<i32>(LT(TRUNCMOD(v:i32, 3:i32), 0:i32)))
    test FLOORDIV(v:i32, -3:i32) -> nomatch
  @proof(smt)
  rule floormod_positive: FLOORMOD(x:int|index, y) if vmin(y) > 0
    ~> WHERE(LT(TRUNCMOD(x, y), 0), TRUNCMOD(x, y) + y, TRUNCMOD(x, y))
    test FLOORMOD(v:i32, w:i32) -> nomatch
    test FLOORMOD(v:i32, 3:i32)
      -> WHERE(LT(TRUNCMOD(v:i32, 3:i32), 0:i32), ADD(TRUNCMOD(v:i32, 3:i32), 3:i32), TRUNCMOD(v:i32, 3:i32))

  /// Any divisor, 0 included: x // 0 is 0 and x mod 0 is x.
  @proof(smt)
  rule floordiv_any: FLOORDIV(x:int|index, y)
    ~> WHERE(AND(AND(NE(TRUNCMOD(x, y), 0), NE(LT(x, 0), LT(y, 0))), NE(y, 0)), TRUNCDIV(x, y) - 1, TRUNCDIV(x, y))
    test FLOORDIV(v:i32, w:i32)
      -> WHERE(AND(AND(NE(TRUNCMOD(v:i32, w:i32), 0:i32), NE(LT(v:i32, 0:i32), LT(w:i32, 0:i32))), NE(w:i32, 0:i32)),
               SUB(TRUNCDIV(v:i32, w:i32), 1:i32), TRUNCDIV(v:i32, w:i32))
  @proof(smt)
  rule floormod_any: FLOORMOD(x:int|index, y)
    ~> WHERE(AND(NE(TRUNCMOD(x, y), 0), NE(LT(x, 0), LT(y, 0))), TRUNCMOD(x, y) + y, TRUNCMOD(x, y))
    test FLOORMOD(v:i32, w:i32)
      -> WHERE(AND(NE(TRUNCMOD(v:i32, w:i32), 0:i32), NE(LT(v:i32, 0:i32), LT(w:i32, 0:i32))),
               ADD(TRUNCMOD(v:i32, w:i32), w:i32), TRUNCMOD(v:i32, w:i32))
}

ruleset index_width ctx un__target {
  /// In the narrowest width that holds the operands and the result, so nothing wraps.
  for op in Sums {
    @proof(fuzz)
    rule index_op: op(x:index, y)
      let w = width(root)
      => CAST(op(as_int(x, w), as_int(y, w))):dtype(x)
      test ADD(CAST<index>(v:i16), 5:index) -> CAST<index>(ADD(CAST<i32>(v:i16), 5:i32))
      test ADD(CAST<index>(v:i32), 5:index) -> CAST<index>(ADD(CAST<i64>(v:i32), 5:i64))
      test MUL(CAST<index>(v:i64), 2:index) -> nomatch
      test ADD(v:index in [0, 9], ADD(w:index, 1:index)) -> nomatch
  }
  /// The same for the one unary op.
  @proof(fuzz)
  rule index_neg: NEG(x:index)
    let w = width(root)
    => CAST(NEG(as_int(x, w))):dtype(x)
    test NEG(CAST<index>(v:i8)) -> CAST<index>(NEG(CAST<i32>(v:i8)))
    test NEG(CAST<index>(v:i64)) -> nomatch
  /// A selection holds what its arms hold.
  @proof(fuzz)
  rule index_where: WHERE(c, x:index, y)
    let w = width(root)
    => CAST(WHERE(c, as_int(x, w), as_int(y, w))):dtype(x)
    test WHERE(c:bool, CAST<index>(v:i32), 5:index) -> CAST<index>(WHERE(c:bool, v:i32, 5:i32))
  /// Compared in a width that holds both.
  for op in Order {
    @proof(fuzz)
    rule index_order: op(x:index, y)
      let w = width(root)
      => op(as_int(x, w), as_int(y, w))
      test LT(CAST<index>(v:i32), 5:index) -> LT(v:i32, 5:i32)
      test LT(CAST<index>(v:i32), 5000000000:index) -> LT(CAST<i64>(v:i32), 5000000000:i64)
  }
  /// An index as a value: the conversion is the integer's.
  @proof(fuzz)
  rule index_value: CAST(x:index) if !is_index(root) => as_value(x, dtype(root))
    test CAST<f32>(CAST<index>(v:i32)) -> CAST<f32>(v:i32)
    test CAST<i64>(v:index in [0, 9]) -> nomatch

  /// Lanes are converted before they are put together.
  @proof(fuzz)
  rule index_vector: VECTORIZE(_:index, ..):index
    let w = width(root)
    => CAST(as_lanes(root, w)):dtype(root)
    test VECTORIZE(CAST<index>(v:i32), CAST<index>(w:i32)) -> CAST<index>(VECTORIZE(v, w))
    test VECTORIZE(ADD(a:index, b:index), ADD(a, c:index)) -> nomatch
  /// Lanes of a lowered vector.
  @proof(fuzz)
  rule index_lanes: GEP<l>(x:index):index
    let w = width(root)
    => CAST(GEP<l>(as_int(x, w))):dtype(root)
    test GEP<0>(CAST<index>(VECTORIZE(v:i32, w:i32))) -> CAST<index>(GEP<0>(VECTORIZE(v, w)))
    test GEP<0>(VECTORIZE(ADD(a:index, b:index), ADD(a, c:index))) -> nomatch

  /// The address takes the integer.
  @proof(fuzz)
  rule address: INDEX(p, i:index, *gate)
    let w = width(i)
    => INDEX(p, as_int(i, w), *gate)
    test INDEX(p:ptr, CAST<index>(v:i32)) -> INDEX(p, v)
    test INDEX(p:ptr, ADD(v:index, w:index)) -> nomatch

  /// So does a part of memory.
  @proof(fuzz)
  rule slot: SLOT<o, n>(p, i:index)
    let w = width(i)
    => SLOT<o, n>(p, as_int(i, w))
    test SLOT<1, 4>(p:ptr, CAST<index>(v:i32)) -> SLOT<1, 4>(p, v)
    test SLOT<1, 4>(p:ptr, ADD(v:index, w:index)) -> nomatch
}

stage index_division { use floor_division, fold  walk post  fuel 64 }
stage index_width { use index_width, fold  walk post  fuel 64 }
