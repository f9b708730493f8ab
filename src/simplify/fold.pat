// fold.pat - constants: what the evaluators of the op table can compute, and what bounds decide.
//
// All rulesets of this folder speak of scalars (and vectors as scalars lane by lane): graphs of the kernel and linear
// stages, and the dims of tensors. They build constants without a shape, so they are not for shaped nodes.
include "simplify/externs.pat"
c_include "simplify/simplify.h"

opset Evaluable = NEG | RECIP | SQRT | EXP | EXP2 | LOG | LOG2 | SIN | TRUNC | FLOOR | NOT
                | ADD | SUB | MUL | FDIV | FLOORDIV | FLOORMOD | TRUNCDIV | TRUNCMOD | MAX | MIN | POW
                | LT | NE | EQ | AND | OR | XOR | SHL | SHR | THREEFRY | WHERE | MULACC | CAST | BITCAST
opset Bounded = ADD | SUB | MUL | NEG | FLOORDIV | FLOORMOD | TRUNCDIV | TRUNCMOD | MAX | MIN | LT | NE | EQ | AND | OR
              | XOR | SHL | SHR | NOT | WHERE | CAST

ruleset fold order nodes(*) {
  /// An op on constants: the reference evaluator's value. It declines where index arithmetic leaves int64.
  @proof(eval)
  for op in Evaluable {
    rule const_fold: op(*cs:const) => #eval(op, *cs)
  }

  /// Bounds that leave one value leave a constant.
  @proof(fuzz)
  for op in Bounded {
    rule one_value: op(..):int|index|bool if vmin(root) == vmax(root) && finite(vmin(root)) => #(vmin(root))
  }
}
