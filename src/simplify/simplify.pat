// simplify.pat - the pass that every stage can run. Other passes name these rulesets in their own stages:
//   fold, arith, where_fold, compare, divmod, recombine, bounds, casts, valid, reduce, tuple
//
// Why it ends, all rulesets together: (divisions; SUB, NEG, shifts of index; products over sums; conversions;
// conditions nested in selections; nodes; order of chains) falls lexicographically. `under` accepts only what is
// smaller.
include "simplify/fold.pat"
include "simplify/arith.pat"
include "simplify/where.pat"
include "simplify/compare.pat"
include "simplify/divmod.pat"
include "simplify/bounds.pat"
include "simplify/casts.pat"
include "simplify/valid.pat"
include "simplify/reduce.pat"
include "simplify/tuple.pat"

stage simplify {
  use fold, bounds, arith, where_fold, casts, divmod, recombine, compare, valid, reduce, tuple
  walk post
  fuel 64
  order nodes(TRUNCDIV, TRUNCMOD), nodes(REDUCE), nodes(SHL, SHR), nodes(FLOORDIV, FLOORMOD), nodes(SUB), nodes(MAX, MIN),
    nodes(CAST, BITCAST), nodes(WHERE), nodes(LT, NE, EQ), nodes(VALID), nodes(NEG), nodes(*)
}
