// accumulate.pat - a reduction is a loop around an accumulator.
include "simplify/tuple.pat"
c_include "codegen/expand.h"

extern pred ready(n: node)
extern fn   accumulator(n: node): node
extern fn   neutral(x: node, op: int): node

extern fn   combined(op: int, a: node, b: node): node
extern fn   accumulated(n: node): nodes

ruleset accumulate ctx un__accumulation {
  /// The accumulator starts as the neutral element, before the loop; each iteration combines one element into it; after
  /// the loop it is the result. AFTER puts each access where it belongs: the read in the loop after the start (and
  /// inside the ranges), the read of the result after the loop.
  @proof(fuzz)
  rule accumulate: REDUCE<op>(x:!void, *r) if ready(root) => LOAD(INDEX(AFTER(accumulator(root), END(
      STORE(INDEX(accumulator(root), 0:index):dtype(accumulator(root)),
        combined(op,
          LOAD(INDEX(AFTER(accumulator(root),
              STORE(INDEX(accumulator(root), 0:index):dtype(accumulator(root)), neutral(x, op)), *r),
            0:index):dtype(accumulator(root))):dtype(x),
          x)),
      *r)), 0:index):dtype(accumulator(root)))
    test REDUCE<ADD>(CAST<f32>(RANGE<0, REDUCE>(8)), RANGE<0, REDUCE>(8)) -> fires

  /// The same with an accumulator for each value of a tuple: all are read before the body's results are written.
  @proof(fuzz)
  rule accumulate_tuple: REDUCE<COMBINE>(COMBINE(..), ..) if ready(root) => TUPLE(*accumulated(root))
    test REDUCE<COMBINE>(COMBINE(TUPLE(ADD(ARG<0>():i32, ARG<1>():i32)), CAST<i32>(RANGE<0, REDUCE>(8)), 0:i32), RANGE<0, REDUCE>(8)) -> fires
}

stage accumulate { use accumulate, tuple walk once fuel 4 }
