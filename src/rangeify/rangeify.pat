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
  @proof(fuzz)
  rule max_max: REDUCE<MAX>(REDUCE<MAX>(x:float, *r), *s) ~> REDUCE<MAX>(x, *s, *r)
  @proof(fuzz)
  rule min_min: REDUCE<MIN>(REDUCE<MIN>(x:float, *r), *s) ~> REDUCE<MIN>(x, *s, *r)
  /// Sums and products of floats, where that changes the order of operations.
  @fp(reduce_order) @proof(fuzz)
  rule reduce_reduce_float: REDUCE<o>(REDUCE<o>(x:float, *r), *s) ~> REDUCE<o>(x, *s, *r)

  /// When the condition says that one range equals something that does not depend on it, one term of the sum counts: a
  /// one-hot product or a gather written by hand becomes an access.
  @proof(fuzz)
  rule one_hot: REDUCE<ADD>(WHERE(c, x, @zero), *r) => pick(c, x, r)
  @proof(fuzz)
  rule one_hot_count: m = REDUCE<ADD>(CAST(c:bool), *r) => pick(c, one_like(m), r)

  /// A bool factor is a choice. On floats 0 * inf is not 0, and -1 * 0 is -0.
  @fp(nnan, ninf, nsz) @proof(fuzz)
  rule mul_bool_float: MUL[CAST(c:bool), x:float] ~> WHERE(c, x, @zero)
}

/// The element of a leaf that is computed in place is its expression.
ruleset stages ctx un__rf_memory {
  @proof(trusted "placement")
  rule stage_in_place: INDEX(b = BUFFER(..), ..) => in_place(b)
}

/// The element of a buffer is a LOAD.
ruleset memory order nodes(BUFFER) {
  @proof(trusted "placement")
  rule element: INDEX(b = BUFFER(..), *i) => element(b, i)
}

ruleset address_gates {
  /// A LOAD whose gate is false is zero already.
  @proof(fuzz)
  rule where_load: WHERE(c, v = LOAD(INDEX(_, _, g)), @zero) if implied(g, c) ~> v
}

stage stages_in_place { use stages walk pre fuel 256 }
stage push_memory { use memory walk pre fuel 256 }
/// What is run after every step: validity to the indices, smaller loops, everything that simplify knows.
stage rangeify_clean {
  use valid_used, collapse, address_gates, fold, bounds, arith, where_fold, casts, divmod, recombine, compare, valid, reduce
  walk post
  fuel 64
}
