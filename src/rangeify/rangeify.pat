// rangeify.pat - loops that need not be, and the way from tensor elements to memory.

include "simplify/simplify.pat"
include "rangeify/mops.pat"
c_include "rangeify/index.h"
c_include "rangeify/memory.h"

extern fn pick(c: node, value: node, r: nodes): node
extern fn one_like(x: node): node
extern pred implied(gate: node, c: node)
extern fn in_place(b: node): node
extern fn element(b: node, i: nodes): node

ruleset collapse {
  /// Integers: a reduction of reductions is one over all ranges. Also a choice of floats.
  @proof(fuzz)
  rule reduce_reduce: REDUCE<o>(REDUCE<o>(x:!float, *r), *s) ~> REDUCE<o>(x, *s, *r)
    test REDUCE<ADD>(REDUCE<ADD>(v:i32, RANGE<0, REDUCE>(8)), RANGE<1, REDUCE>(4)) -> REDUCE<ADD>(v, RANGE<1, REDUCE>(4), RANGE<0, REDUCE>(8))
    test REDUCE<ADD>(REDUCE<MUL>(v:i32, RANGE<0, REDUCE>(8)), RANGE<1, REDUCE>(4)) -> nomatch
  @proof(fuzz)
  rule max_max: REDUCE<MAX>(REDUCE<MAX>(x:float, *r), *s) ~> REDUCE<MAX>(x, *s, *r)
    test REDUCE<MAX>(REDUCE<MAX>(v:f32, RANGE<0, REDUCE>(8)), RANGE<1, REDUCE>(4)) -> REDUCE<MAX>(v, RANGE<1, REDUCE>(4), RANGE<0, REDUCE>(8))
  @proof(fuzz)
  rule min_min: REDUCE<MIN>(REDUCE<MIN>(x:float, *r), *s) ~> REDUCE<MIN>(x, *s, *r)
    test REDUCE<MIN>(REDUCE<MIN>(v:f32, RANGE<0, REDUCE>(8)), RANGE<1, REDUCE>(4)) -> REDUCE<MIN>(v, RANGE<1, REDUCE>(4), RANGE<0, REDUCE>(8))
  /// Sums and products of floats, where that changes the order of operations.
  @fp(reduce_order) @proof(fuzz)
  rule reduce_reduce_float: REDUCE<o>(REDUCE<o>(x:float, *r), *s) ~> REDUCE<o>(x, *s, *r)
    test(reduce_order) REDUCE<ADD>(REDUCE<ADD>(v:f32, RANGE<0, REDUCE>(8)), RANGE<1, REDUCE>(4)) -> REDUCE<ADD>(v, RANGE<1, REDUCE>(4), RANGE<0, REDUCE>(8))

  /// When the condition says that one range equals something that does not depend on it, one term of the sum counts: a
  /// one-hot product or a gather written by hand becomes an access.
  @proof(fuzz)
  rule one_hot: REDUCE<ADD>(WHERE(c, x, @zero), *r) => pick(c, x, r)
    test REDUCE<ADD>(WHERE(EQ(RANGE<0, REDUCE>(8), i:index in [0, 7]), v:f32, 0.0:f32), RANGE<0, REDUCE>(8)) -> ADD(v, 0.0:f32)
    test REDUCE<ADD>(WHERE(EQ(RANGE<0, REDUCE>(8), i:index in [0, 7]), CAST<i32>(RANGE<0, REDUCE>(8)), 0:i32), RANGE<0, REDUCE>(8)) -> CAST<i32>(i)
    test REDUCE<ADD>(WHERE(EQ(RANGE<0, REDUCE>(8), i:index in [0, 9]), CAST<i32>(RANGE<0, REDUCE>(8)), 0:i32), RANGE<0, REDUCE>(8))
      -> WHERE(LT(i, 8), CAST<i32>(VALID(MIN(MAX(i, 0), 7), LT(i, 8))), 0:i32)
    test REDUCE<ADD>(WHERE(LT(RANGE<0, REDUCE>(8), i:index in [0, 7]), v:f32, 0.0:f32), RANGE<0, REDUCE>(8)) -> nomatch
  @proof(fuzz)
  rule one_hot_count: m = REDUCE<ADD>(CAST(c:bool), *r) => pick(c, one_like(m), r)
    test REDUCE<ADD>(CAST<i32>(EQ(RANGE<0, REDUCE>(8), i:index in [0, 7])), RANGE<0, REDUCE>(8)) -> 1:i32

  /// A bool factor is a choice. On floats 0 * inf is not 0, and -1 * 0 is -0.
  @fp(nnan, ninf, nsz) @proof(fuzz)
  rule mul_bool_float: MUL[CAST(c:bool), x:float] ~> WHERE(c, x, @zero)
    test(nnan ninf nsz) MUL(CAST<f32>(c:bool), v:f32) -> WHERE(c, v, 0.0:f32)
}

/// A clamp of data is done in its own dtype: there its bounds are known, while an index from i64 or u64 has none.
ruleset data_bounds {
  @proof(fuzz)
  rule max_of_data: MAX[CAST(y:int):index, #c] if holds(dtype(y), c, c) => CAST(MAX(y, #c)):index
    test MAX(CAST<index>(v:i64), 0) -> CAST<index>(MAX(v, 0))
    test MAX(CAST<index>(v:i8), 300) -> nomatch
  @proof(fuzz)
  rule min_of_data: MIN[CAST(y:int):index, #c] if holds(dtype(y), c, c) => CAST(MIN(y, #c)):index
    test MIN(CAST<index>(v:u64), 9) -> CAST<index>(MIN(v, 9))
}

/// The element of a leaf that is computed in place is its expression.
ruleset stages ctx un__rf_memory {
  @proof(trusted "placement")
  rule stage_in_place: INDEX(b = BUFFER(..), ..) => in_place(b)
    test INDEX(BUFFER<0, 0>(4):i32, i:index):i32 -> CAST<i32>(i)
    test INDEX(BUFFER<1, 0>(4):i32, i:index):i32 -> nomatch
}

/// The element of a buffer is a LOAD.
ruleset memory {
  @proof(trusted "placement")
  rule element: INDEX(b = BUFFER(..), *i) => element(b, i)
    test INDEX(BUFFER<0, 0>(4):f32, i:index):f32 -> fires
}

ruleset gated_loads {
  /// A LOAD whose gate is false is zero already.
  @proof(fuzz)
  rule where_load: WHERE(c, v = LOAD(INDEX(_, _, g)), @zero) if implied(g, c) ~> v
    test WHERE(c:bool, LOAD(INDEX(p:ptr, i:index, c)):f32, 0.0:f32) -> LOAD(INDEX(p, i, c)):f32
    test WHERE(d:bool, LOAD(INDEX(p:ptr, i:index, c:bool)):f32, 0.0:f32) -> nomatch
}

stage stages_in_place { use stages walk pre fuel 256 }
stage push_memory { use memory walk pre fuel 256 }
/// What is run after every step: validity to the indices, smaller loops, everything that simplify knows.
stage rangeify_clean {
  use valid_used, collapse, gated_loads, data_bounds, fold, bounds, arith, where_fold, casts, divmod, recombine, compare, valid, reduce
  walk post
  fuel 64
}
