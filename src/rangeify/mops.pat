// mops.pat - what happens to an INDEX that stands on a tensor expression: it goes down, and movement turns into
// arithmetic on its indices. It stops at BUFFERs.
//
// Here INDEX(x, *i) with scalar indices is one element of the tensor x. When i is not valid (VALID on its first index,
// never elsewhere) the element may be anything, because the WHERE above selects something else; only loads must know.

c_include "rangeify/index.h"

opset Unary = NEG | RECIP | SQRT | EXP | EXP2 | LOG | LOG2 | SIN | COS | TANH | TRUNC | FLOOR | NOT
opset Binary = ADD | SUB | MUL | FDIV | FLOORDIV | FLOORMOD | TRUNCDIV | TRUNCMOD | MAX | MIN | POW | LT | NE | EQ | AND
             | OR | XOR | SHL | SHR | THREEFRY
opset Arithmetic = ADD | SUB | MUL | FLOORDIV | FLOORMOD | TRUNCDIV | TRUNCMOD | MAX | MIN
opset Comparison = LT | NE | EQ
opset Transparent = CONTIGUOUS | DETACH | COPY
opset Resized = RESHAPE | EXPAND

extern fn view_index(view: node, i: nodes): nodes
extern fn pad_index(pad: node, i: nodes): nodes
extern fn pad_inside(pad: node, i: nodes): node
extern fn stack_select(stack: node, i: nodes): node
extern fn stack_in_groups(stack: node): node
extern fn reduce_over(reduce: node, i: nodes): node
extern fn gather(gather: node, i: nodes): node
extern fn gathered_valid(gather: node): nodes
extern fn bare(i: node): node

/// Rewrites of the tensor graph before storage is planned.
ruleset tensor_form {
  /// Values pass a DETACH unchanged.
  @proof(trusted "values only")
  rule detach: DETACH(x) ~> x
    test DETACH(v:f32) -> v

  /// Only the last of several RESHAPEs counts: each keeps the row-major order.
  @proof(fuzz)
  rule reshape_reshape: RESHAPE(RESHAPE(x, ..), *d) ~> RESHAPE(x, *d)
    test RESHAPE(RESHAPE(v:f32, 1), 1, 1) -> RESHAPE(v, 1, 1)

  /// A kernel takes a limited number of buffers.
  @proof(fuzz)
  rule stack_in_groups: m = STACK(..) => stack_in_groups(m)
    test STACK(v:f32, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v) -> fires
    test STACK(v:f32, w:f32) -> nomatch

  /// What is stored on the way is read back without its bounds. Every i64 is an index all the same, but not every u64.
  @proof(fuzz)
  rule index_by_i64: CAST<index>(x:u64) if vmax(x) < 9223372036854775807 => CAST<index>(CAST<i64>(x))
    test CAST<index>(v:u64 in [0, 5]) -> CAST<index>(CAST<i64>(v))
    test CAST<index>(v:u64) -> nomatch
    test CAST<index>(v:i64) -> nomatch

  /// Storing what is stored.
  @proof(trusted "storage only")
  rule contiguous_stored: CONTIGUOUS(x = {BUFFER|CONTIGUOUS|COPY}(..)) ~> x
    test CONTIGUOUS(v:f32) -> v
    test CONTIGUOUS(EXP(v:f32)) -> nomatch

  /// Between devices go whole buffers, which both sides have: what is copied is stored.
  @proof(trusted "storage only")
  rule copy_contiguous: COPY<device>(CONTIGUOUS(x)) ~> COPY<device>(x)
    test COPY<1>(CONTIGUOUS(EXP(v:f32))) -> COPY<1>(EXP(v))
    test COPY<1>(EXP(v:f32)) -> nomatch

  /// The elements keep their order, so the copy's kernel has one index on both sides, which is how a transfer is known.
  @proof(trusted "storage only")
  rule copy_reshape: COPY<device>(RESHAPE(x, *d)) ~> RESHAPE(COPY<device>(x), *d)
    test COPY<1>(RESHAPE(v:f32, 1)) -> RESHAPE(COPY<1>(v), 1)
    test COPY<1>(EXP(v:f32)) -> nomatch
}

/// What uses an index that may be none: the WHERE that a gather or PAD left above selects something else there.
ruleset valid_used {
  @proof(trusted "undefined operand")
  for op in Comparison {
    rule valid_compared: op(VALID(a, _), b) ~> op(a, b)
      test LT(VALID(i:index, c:bool), j:index) -> LT(i, j)
    rule valid_comparing: op(a, VALID(b, _)) ~> op(a, b)
      test LT(j:index, VALID(i:index, c:bool)) -> LT(j, i)
  }
  @proof(trusted "undefined operand")
  rule valid_cast: CAST<'B>(VALID(a, _)) ~> CAST<'B>(a)
    test CAST<i32>(VALID(i:index, c:bool)) -> CAST<i32>(i)
  @proof(fuzz)
  rule valid_then: WHERE(p, VALID(a, c), b) ~> VALID(WHERE(p, a, b), OR(NOT(p), c))
    test WHERE(p:bool, VALID(i:index, c:bool), j:index) -> VALID(WHERE(p, i, j), OR(NOT(p), c))
  @proof(fuzz)
  rule valid_else: WHERE(p, a, VALID(b, c)) ~> VALID(WHERE(p, a, b), OR(p, c))
    test WHERE(p:bool, j:index, VALID(i:index, c:bool)) -> VALID(WHERE(p, j, i), OR(p, c))
}

/// VALID rises through index arithmetic and views of tensors, up to the gather that uses it.
ruleset valid_up : valid_used {
  @proof(fuzz)
  for op in Arithmetic {
    rule valid_left: op(VALID(a, c), b) ~> VALID(op(a, b), c)
      test SUB(VALID(i:index, c:bool), j:index) -> VALID(SUB(i, j), c)
    rule valid_right: op(a, VALID(b, c)) ~> VALID(op(a, b), c)
      test SUB(j:index, VALID(i:index, c:bool)) -> VALID(SUB(j, i), c)
  }
  @proof(fuzz)
  rule valid_neg: NEG(VALID(a, c)) ~> VALID(NEG(a), c)
    test NEG(VALID(i:index, c:bool)) -> VALID(NEG(i), c)
  @proof(fuzz)
  rule valid_valid: VALID(VALID(a, c), d) ~> VALID(a, AND(c, d))
    test VALID(VALID(i:index, c:bool), d:bool) -> VALID(i, AND(c, d))
  @proof(fuzz)
  for op in Resized {
    rule valid_resized: op(VALID(a, c), *d) ~> VALID(op(a, *d), op(c, *d))
      test RESHAPE(VALID(i:index, c:bool), 1) -> VALID(RESHAPE(i, 1), RESHAPE(c, 1))
  }
  @proof(fuzz)
  rule valid_shrink: SHRINK(VALID(a, c), *b) ~> VALID(SHRINK(a, *b), SHRINK(c, *b))
    test SHRINK(VALID(RESHAPE(i:index, 1), RESHAPE(c:bool, 1)), 0, 1) -> VALID(SHRINK(RESHAPE(i, 1), 0, 1), SHRINK(RESHAPE(c, 1), 0, 1))
  @proof(fuzz)
  rule valid_permute: PERMUTE<p>(VALID(a, c)) ~> VALID(PERMUTE<p>(a), PERMUTE<p>(c))
    test PERMUTE<0>(VALID(RESHAPE(i:index, 1), RESHAPE(c:bool, 1))) -> VALID(PERMUTE<0>(RESHAPE(i, 1)), PERMUTE<0>(RESHAPE(c, 1)))
  @proof(fuzz)
  rule valid_flip: FLIP<f>(VALID(a, c)) ~> VALID(FLIP<f>(a), FLIP<f>(c))
    test FLIP<1>(VALID(RESHAPE(i:index, 1), RESHAPE(c:bool, 1))) -> VALID(FLIP<1>(RESHAPE(i, 1)), FLIP<1>(RESHAPE(c, 1)))
  /// The elements that PAD adds are valid zeros.
  @proof(fuzz)
  rule valid_pad: PAD(VALID(a, c), *b) ~> VALID(PAD(a, *b), NOT(PAD(NOT(c), *b)))
    test PAD(VALID(RESHAPE(i:index, 1), RESHAPE(c:bool, 1)), 1, 0) -> VALID(PAD(RESHAPE(i, 1), 1, 0), NOT(PAD(NOT(RESHAPE(c, 1)), 1, 0)))
  @proof(fuzz)
  rule valid_contiguous: CONTIGUOUS(VALID(a, c)) ~> VALID(a, c)
    test CONTIGUOUS(VALID(i:index, c:bool)) -> VALID(i, c)
  /// All validity of a gather is said on its first index.
  @proof(fuzz)
  rule valid_gather: g = INDEX(x:'T, ..) => INDEX(x, *gathered_valid(g)):'T
    test INDEX(RESHAPE(v:f32, 1, 1), i:index, VALID(j:index, c:bool)):f32 -> INDEX(RESHAPE(v, 1, 1), VALID(i, c), j):f32
    test INDEX(RESHAPE(v:f32, 1), VALID(i:index, c:bool)):f32 -> nomatch
}

ruleset mops {
  @proof(fuzz)
  for op in Unary {
    rule index_unary: INDEX(op(x:'T), *i) ~> op(INDEX(x, *i):'T)
      test INDEX(EXP(RESHAPE(v:f32, 1)), i:index):f32 -> EXP(INDEX(RESHAPE(v, 1), i):f32)
  }
  @proof(fuzz)
  for op in Binary {
    rule index_binary: INDEX(op(x:'T, y:'T), *i) ~> op(INDEX(x, *i):'T, INDEX(y, *i):'T)
      test INDEX(SUB(RESHAPE(v:f32, 1), RESHAPE(w:f32, 1)), i:index):f32
        -> SUB(INDEX(RESHAPE(v, 1), i):f32, INDEX(RESHAPE(w, 1), i):f32)
  }
  @proof(fuzz)
  rule index_where: INDEX(WHERE(c, x:'T, y), *i) ~> WHERE(INDEX(c, *i):bool, INDEX(x, *i):'T, INDEX(y, *i):'T)
    test INDEX(WHERE(c:bool, v:f32, w:f32)):f32 -> WHERE(INDEX(c):bool, INDEX(v):f32, INDEX(w):f32)
  @proof(fuzz)
  rule index_cast: INDEX(CAST<'B>(x:'T), *i) ~> CAST<'B>(INDEX(x, *i):'T)
    test INDEX(CAST<i32>(v:f32)):i32 -> CAST<i32>(INDEX(v):f32)
  @proof(fuzz)
  rule index_bitcast: INDEX(BITCAST<'B>(x:'T), *i) ~> BITCAST<'B>(INDEX(x, *i):'T)
    test INDEX(BITCAST<i32>(v:f32)):i32 -> BITCAST<i32>(INDEX(v):f32)
  @proof(fuzz)
  for op in Transparent {
    rule index_transparent: INDEX(op(x:'T), *i) ~> INDEX(x, *i):'T
      test INDEX(CONTIGUOUS(RESHAPE(v:f32, 1)), i:index):f32 -> INDEX(RESHAPE(v, 1), i):f32
  }

  /// A scalar has no axes to index.
  @proof(fuzz)
  rule index_const: INDEX(x:const) ~> x
    test INDEX(3.0:f32):f32 -> 3.0:f32
  @proof(fuzz)
  rule index_var: INDEX(v = VAR(_, _)) ~> v
    test INDEX(n:index):index -> n
  @proof(fuzz)
  rule index_iota: INDEX(IOTA(_), i):int|index => CAST(bare(i)):dtype(root)
    test INDEX(IOTA(8):i32, i:index):i32 -> CAST<i32>(i)
    test INDEX(IOTA(8):i32, VALID(i:index, c:bool)):i32 -> CAST<i32>(i)

  /// Movement moves indices.
  @proof(fuzz)
  rule index_view: INDEX(m = {RESHAPE|PERMUTE|EXPAND|SHRINK|FLIP}(x:'T, ..), *i) => INDEX(x, *view_index(m, i)):'T
    test INDEX(PERMUTE<1, 0>(RESHAPE(v:f32, 1, 1)), i:index, j:index):f32 -> INDEX(RESHAPE(v, 1, 1), j, i):f32
    test INDEX(EXPAND(RESHAPE(v:f32, 1), 4), i:index):f32 -> INDEX(RESHAPE(v, 1), 0:index):f32
    test INDEX(SHRINK(EXPAND(RESHAPE(v:f32, 1), 4), 1, 3), VALID(i:index, c:bool)):f32
      -> INDEX(EXPAND(RESHAPE(v, 1), 4), VALID(ADD(i, 1), c)):f32
    test INDEX(FLIP<1>(EXPAND(RESHAPE(v:f32, 1), 4)), i:index):f32
      -> INDEX(EXPAND(RESHAPE(v, 1), 4), ADD(MUL(i, -1), 3)):f32
    test INDEX(RESHAPE(EXPAND(RESHAPE(v:f32, 1), 6), 2, 3), i:index, j:index):f32
      -> INDEX(EXPAND(RESHAPE(v, 1), 6), ADD(MUL(i, 3), j)):f32
    test INDEX(RESHAPE(EXPAND(RESHAPE(v:f32, 1, 1), 2, 3), 6), i:index):f32
      -> INDEX(EXPAND(RESHAPE(v, 1, 1), 2, 3), FLOORDIV(i, 3), FLOORMOD(i, 3)):f32
  /// Outside of what was padded the value is zero and nothing is read.
  @proof(fuzz)
  rule index_pad: INDEX(m = PAD(x:'T, ..), *i):bool|int|float|index
    => WHERE(pad_inside(m, i), INDEX(x, *pad_index(m, i)):'T, @zero)
  test INDEX(PAD(EXPAND(RESHAPE(v:f32, 1), 4), 1, 1), i:index):f32
      -> WHERE(AND(LT(0, i), LT(i, 5)),
               INDEX(EXPAND(RESHAPE(v, 1), 4), VALID(ADD(i, -1), AND(LT(0, i), LT(i, 5)))):f32, 0.0:f32)
  @proof(fuzz)
  rule index_stack: INDEX(m = STACK(..), *i) => stack_select(m, i)
    test INDEX(STACK(v:f32, w:f32), i:index):f32 -> WHERE(EQ(i, 0), INDEX(v):f32, INDEX(w):f32)
    test INDEX(STACK(v:f32, w:f32), 1:index):f32 -> INDEX(w):f32

  /// A gather reads at the indices that its index tensors hold; where they are not valid its value is zero.
  @proof(fuzz)
  rule index_gather: INDEX(g = INDEX(..), *i) => gather(g, i)
    test INDEX(INDEX(RESHAPE(v:f32, 1), RESHAPE(i:index in [0, 0], 1)):f32, j:index):f32
      -> INDEX(RESHAPE(v, 1), INDEX(RESHAPE(i, 1), j):index):f32
    test INDEX(INDEX(RESHAPE(v:f32, 1), VALID(RESHAPE(i:index, 1), RESHAPE(c:bool, 1))):f32, j:index):f32
      -> WHERE(INDEX(RESHAPE(c, 1), j):bool,
               INDEX(RESHAPE(v, 1), VALID(MIN(MAX(INDEX(RESHAPE(i, 1), j):index, 0), 0),
                                          INDEX(RESHAPE(c, 1), j):bool)):f32, 0.0:f32)
}

/// The reduced axes get ranges of their own, drawn from the kernel's counter.
ruleset reductions ctx un__rf_push {
  @proof(fuzz)
  rule index_reduce: INDEX(m = REDUCE_AXIS(_), *i) => reduce_over(m, i)
    test INDEX(REDUCE_AXIS<ADD, 0>(EXPAND(RESHAPE(v:i32, 1), 4))):i32
      -> REDUCE<ADD>(INDEX(EXPAND(RESHAPE(v, 1), 4), RANGE<7, REDUCE>(4)):i32, RANGE<7, REDUCE>(4))
}

stage tensor_form { use tensor_form walk post fuel 16 }
stage tensor_valid { use tensor_form, valid_up walk post fuel 64 }
stage push_index { use mops, reductions walk pre fuel 256 }
