// mops.pat - what happens to an INDEX that stands on a tensor expression: it goes down, and movement turns into
// arithmetic on its indices. It stops at BUFFERs.
//
// Here INDEX(x, *i) with scalar indices is one element of the tensor x. When i is not valid (VALID on its first index,
// never elsewhere) the element may be anything, because the WHERE above selects something else; only loads must know.

c_include "rangeify/index.h"

opset Unary = NEG | RECIP | SQRT | EXP | EXP2 | LOG | LOG2 | SIN | TRUNC | FLOOR | NOT
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
ruleset tensor_form order nodes(*) {
  /// Values pass a DETACH unchanged.
  @proof(trusted "values only")
  rule detach: DETACH(x) ~> x

  /// Only the last of several RESHAPEs counts: each keeps the row-major order.
  @proof(fuzz)
  rule reshape_reshape: RESHAPE(RESHAPE(x, ..), *d) ~> RESHAPE(x, *d)

  /// A kernel takes a limited number of buffers.
  @proof(fuzz)
  rule stack_in_groups: m = STACK(..) => stack_in_groups(m)

  /// Storing what is stored.
  @proof(trusted "storage only")
  rule contiguous_stored: CONTIGUOUS(x = {BUFFER|CONTIGUOUS|COPY}(..)) ~> x
}

/// What uses an index that may be none: the WHERE that a gather or PAD left above selects something else there.
ruleset valid_used {
  @proof(trusted "undefined operand")
  for op in Comparison {
    rule valid_compared: op(VALID(a, _), b) ~> op(a, b)
    rule valid_comparing: op(a, VALID(b, _)) ~> op(a, b)
  }
  @proof(trusted "undefined operand")
  rule valid_cast: CAST<'B>(VALID(a, _)) ~> CAST<'B>(a)
  @proof(fuzz)
  rule valid_then: WHERE(p, VALID(a, c), b) ~> VALID(WHERE(p, a, b), OR(NOT(p), c))
  @proof(fuzz)
  rule valid_else: WHERE(p, a, VALID(b, c)) ~> VALID(WHERE(p, a, b), OR(p, c))
}

/// VALID rises through index arithmetic and views of tensors, up to the gather that uses it.
ruleset valid_up : valid_used {
  @proof(fuzz)
  for op in Arithmetic {
    rule valid_left: op(VALID(a, c), b) ~> VALID(op(a, b), c)
    rule valid_right: op(a, VALID(b, c)) ~> VALID(op(a, b), c)
  }
  @proof(fuzz)
  rule valid_neg: NEG(VALID(a, c)) ~> VALID(NEG(a), c)
  @proof(fuzz)
  rule valid_valid: VALID(VALID(a, c), d) ~> VALID(a, AND(c, d))
  @proof(fuzz)
  for op in Resized {
    rule valid_resized: op(VALID(a, c), *d) ~> VALID(op(a, *d), op(c, *d))
  }
  @proof(fuzz)
  rule valid_shrink: SHRINK(VALID(a, c), *b) ~> VALID(SHRINK(a, *b), SHRINK(c, *b))
  @proof(fuzz)
  rule valid_permute: PERMUTE<p>(VALID(a, c)) ~> VALID(PERMUTE<p>(a), PERMUTE<p>(c))
  @proof(fuzz)
  rule valid_flip: FLIP<f>(VALID(a, c)) ~> VALID(FLIP<f>(a), FLIP<f>(c))
  /// The elements that PAD adds are valid zeros.
  @proof(fuzz)
  rule valid_pad: PAD(VALID(a, c), *b) ~> VALID(PAD(a, *b), NOT(PAD(NOT(c), *b)))
  @proof(fuzz)
  rule valid_contiguous: CONTIGUOUS(VALID(a, c)) ~> VALID(a, c)
  /// All validity of a gather is said on its first index.
  @proof(fuzz)
  rule valid_gather: g = INDEX(x:'T, ..) => INDEX(x, *gathered_valid(g)):'T
}

ruleset mops order nodes(*) {
  @proof(fuzz)
  for op in Unary {
    rule index_unary: INDEX(op(x:'T), *i) ~> op(INDEX(x, *i):'T)
  }
  @proof(fuzz)
  for op in Binary {
    rule index_binary: INDEX(op(x:'T, y:'T), *i) ~> op(INDEX(x, *i):'T, INDEX(y, *i):'T)
  }
  @proof(fuzz)
  rule index_where: INDEX(WHERE(c, x:'T, y), *i) ~> WHERE(INDEX(c, *i):bool, INDEX(x, *i):'T, INDEX(y, *i):'T)
  @proof(fuzz)
  rule index_cast: INDEX(CAST<'B>(x:'T), *i) ~> CAST<'B>(INDEX(x, *i):'T)
  @proof(fuzz)
  rule index_bitcast: INDEX(BITCAST<'B>(x:'T), *i) ~> BITCAST<'B>(INDEX(x, *i):'T)
  @proof(fuzz)
  for op in Transparent {
    rule index_transparent: INDEX(op(x:'T), *i) ~> INDEX(x, *i):'T
  }

  /// A scalar has no axes to index.
  @proof(fuzz)
  rule index_const: INDEX(x:const) ~> x
  @proof(fuzz)
  rule index_var: INDEX(v = VAR(_, _)) ~> v
  @proof(fuzz)
  rule index_iota: INDEX(IOTA(_), i):int|index => CAST(bare(i)):dtype(root)

  /// Movement moves indices.
  @proof(fuzz)
  rule index_view: INDEX(m = {RESHAPE|PERMUTE|EXPAND|SHRINK|FLIP}(x:'T, ..), *i) => INDEX(x, *view_index(m, i)):'T
  /// Outside of what was padded the value is zero and nothing is read.
  @proof(fuzz)
  rule index_pad: INDEX(m = PAD(x:'T, ..), *i):bool|int|float|index
    => WHERE(pad_inside(m, i), INDEX(x, *pad_index(m, i)):'T, @zero)
  @proof(fuzz)
  rule index_stack: INDEX(m = STACK(..), *i) => stack_select(m, i)

  /// A gather reads at the indices that its index tensors hold; where they are not valid its value is zero.
  @proof(fuzz)
  rule index_gather: INDEX(g = INDEX(..), *i) => gather(g, i)
}

/// The reduced axes get ranges of their own, drawn from the kernel's counter.
ruleset reductions ctx un__rf_push {
  @proof(fuzz)
  rule index_reduce: INDEX(m = REDUCE_AXIS(_), *i) => reduce_over(m, i)
}

stage tensor_form { use tensor_form walk post fuel 16 }
stage tensor_valid { use tensor_form, valid_up walk post fuel 64 }
stage push_index { use mops, reductions walk pre fuel 256 }
