// fold.pat - constants: what the evaluators of the op table can compute, and what bounds decide.
//
// All rulesets of this folder speak of scalars (and vectors as scalars lane by lane): graphs of the kernel and linear
// stages, and the dims of tensors. They build constants without a shape, so they are not for shaped nodes.
include "simplify/externs.pat"
c_include "simplify/simplify.h"

opset Evaluable = NEG | RECIP | SQRT | EXP | EXP2 | LOG | LOG2 | SIN | COS | TANH | TRUNC | FLOOR | NOT
                | ADD | SUB | MUL | FDIV | FLOORDIV | FLOORMOD | TRUNCDIV | TRUNCMOD | MAX | MIN | POW
                | LT | NE | EQ | AND | OR | XOR | SHL | SHR | THREEFRY | WHERE | MULACC | CAST | BITCAST
opset Bounded = ADD | SUB | MUL | NEG | FLOORDIV | FLOORMOD | TRUNCDIV | TRUNCMOD | MAX | MIN | LT | NE | EQ | AND | OR
              | XOR | SHL | SHR | NOT | WHERE | CAST

ruleset fold {
  /// An op on constants: the reference evaluator's value. It declines where index arithmetic leaves int64.
  @proof(eval)
  for op in Evaluable {
    @order("a constant is final")
    rule const_fold: op(*cs:const) => #eval(op, *cs)
      test ADD(250:u8, 10:u8) -> 4:u8
      test FLOORDIV(-7:index, 2:index) -> -4:index
      test TRUNCDIV(-7:i32, 2:i32) -> -3:i32
      test FLOORDIV(1:index, 0:index) -> 0:index
      test FDIV(1.0:f32, 0.0:f32) -> @inf:f32
      test WHERE(@true:bool, 1:i8, 2:i8) -> 1:i8
      test CAST<u8>(300:i32) -> 44:u8
      test MUL(4611686018427387904:index, 2:index) -> nomatch
      test ADD(v:i32, 1:i32) -> nomatch
  }

  /// Bounds that leave one value leave a constant.
  @proof(fuzz)
  for op in Bounded {
    @order("a constant is final")
    rule one_value: op(..):int|index|bool if vmin(root) == vmax(root) && finite(vmin(root)) => #(vmin(root))
      test FLOORDIV(v:index in [8, 11], 4:index) -> 2:index
      test LT(v:index in [0, 3], 4:index) -> @true:bool
      test LT(v:index in [0, 4], 4:index) -> nomatch
      test MUL(CAST<u64>(v:u8), 18446744073709551615:u64) -> nomatch
  }
}
