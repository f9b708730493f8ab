// bounds.pat - what the bounds of the operands decide. Saturated bounds (infinities, u64 above int64) decide nothing.
include "simplify/externs.pat"
c_include "simplify/simplify.h"

ruleset bounds {
  @proof(smt)
  rule max_known: MAX[x:int|index|bool, y] if vmin(x) >= vmax(y) && finite(vmax(y)) ~> x
    test MAX(v:index in [5, 9], w:index in [0, 5]) -> v:index in [5, 9]
    test MAX(v:index in [0, 5], 5:index) -> 5:index
    test MAX(v:index in [0, 6], 5:index) -> nomatch
  @proof(smt)
  rule min_known: MIN[x:int|index|bool, y] if vmax(x) <= vmin(y) && finite(vmax(x)) ~> x
    test MIN(v:index in [0, 5], 5:index) -> v:index in [0, 5]
    test MIN(v:index in [5, 9], w:index in [0, 5]) -> w:index in [0, 5]
    test MIN(v:index in [0, 6], 5:index) -> nomatch
  /// A bool is 0 or 1: its maximum is OR, its minimum AND.
  @proof(smt)
  rule max_bool: MAX(x:bool, y) ~> OR(x, y)
    test MAX(v:bool, w:bool) -> OR(v:bool, w:bool)
  @proof(smt)
  rule min_bool: MIN(x:bool, y) ~> AND(x, y)
    test MIN(v:bool, w:bool) -> AND(v:bool, w:bool)
  /// A variable with one value.
  @proof(smt)
  rule var_value: VAR(#a, #b) if a == b ~> #a
    test v:index in [3, 3] -> 3:index
}
