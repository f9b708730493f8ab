// reduce.pat - reductions whose value can be given without a loop, or with less work in it. None takes away a part of
// the ranges: reductions that share a loop must keep the same ranges.
include "simplify/externs.pat"
c_include "simplify/simplify.h"

ruleset reduce {
  /// A sum of equal terms is a product. Integers only: floats round at every step.
  @proof(fuzz)
  @order("the reduction goes")
  rule sum_of_equal: REDUCE<ADD>(x:int|index, *r) if indep(x, r) => MUL(x, CAST(turns(r)):dtype(x))
    test REDUCE<ADD>(v:i32, RANGE<0, REDUCE>(8), RANGE<1, REDUCE>(4)) -> MUL(v, CAST<i32>(MUL(8:index, 4:index)))
    test REDUCE<ADD>(v:f32, RANGE<0, REDUCE>(8)) -> nomatch
    test REDUCE<ADD>(RANGE<0, REDUCE>(8), RANGE<0, REDUCE>(8)) -> nomatch
  /// The extreme of equal values, when there is one at all.
  @proof(fuzz)
  rule max_of_equal: REDUCE<MAX>(x, *r) if indep(x, r) && nonempty(r) ~> x
    test REDUCE<MAX>(v:f32, RANGE<0, REDUCE>(8)) -> v
    test REDUCE<MAX>(v:f32, RANGE<0, REDUCE>(n:index in [0, 8])) -> nomatch
  @proof(fuzz)
  rule min_of_equal: REDUCE<MIN>(x, *r) if indep(x, r) && nonempty(r) ~> x
    test REDUCE<MIN>(v:i8, RANGE<0, REDUCE>(8)) -> v
  @proof(fuzz)
  rule and_of_equal: REDUCE<AND>(x, *r) if indep(x, r) && nonempty(r) ~> x
    test REDUCE<AND>(v:bool, RANGE<0, REDUCE>(8)) -> v
  @proof(fuzz)
  rule or_of_equal: REDUCE<OR>(x, *r) if indep(x, r) && nonempty(r) ~> x
    test REDUCE<OR>(v:bool, RANGE<0, REDUCE>(8)) -> v
  /// A factor that does not change leaves the sum.
  @proof(fuzz)
  @order("products inside of reductions get fewer")
  rule factor_out: REDUCE<ADD>(MUL[x, y:int|index], *r) if indep(y, r) ~> MUL(REDUCE<ADD>(x, *r), y)
    test REDUCE<ADD>(MUL(CAST<i32>(RANGE<0, REDUCE>(8)), v:i32), RANGE<0, REDUCE>(8))
      -> MUL(REDUCE<ADD>(CAST<i32>(RANGE<0, REDUCE>(8)), RANGE<0, REDUCE>(8)), v)
  @fp(reassoc) @proof(fuzz)
  @order("products inside of reductions get fewer")
  rule factor_out_float: REDUCE<ADD>(MUL[x, y:float], *r) if indep(y, r) ~> MUL(REDUCE<ADD>(x, *r), y)
    test(reassoc) REDUCE<ADD>(MUL(CAST<f32>(RANGE<0, REDUCE>(8)), v:f32), RANGE<0, REDUCE>(8))
      -> MUL(REDUCE<ADD>(CAST<f32>(RANGE<0, REDUCE>(8)), RANGE<0, REDUCE>(8)), v)
    test REDUCE<ADD>(MUL(CAST<f32>(RANGE<0, REDUCE>(8)), v:f32), RANGE<0, REDUCE>(8)) -> nomatch
  /// How many of the first n numbers lie below e.
  @proof(fuzz)
  rule count_below: REDUCE<ADD>(WHERE(LT(r = RANGE(n), e:index), c:int|index, @zero), r)
    if !depends_on(e, r) && !depends_on(c, r)
    ~> MUL(CAST(MIN(MAX(e, @zero), n)):dtype(c), c)
    test REDUCE<ADD>(WHERE(LT(RANGE<0, REDUCE>(8), v:index), w:i32, 0:i32), RANGE<0, REDUCE>(8))
      -> MUL(CAST<i32>(MIN(MAX(v, 0), 8)), w)
  @proof(fuzz)
  rule count_below_ones: REDUCE<ADD>(CAST(LT(r = RANGE(n), e:index)):int|index, r) if !depends_on(e, r)
    ~> CAST(MIN(MAX(e, @zero), n)):dtype(root)
    test REDUCE<ADD>(CAST<i32>(LT(RANGE<0, REDUCE>(8), v:index)), RANGE<0, REDUCE>(8)) -> CAST<i32>(MIN(MAX(v, 0), 8))
  /// How many lie above e.
  @proof(fuzz)
  rule count_above: REDUCE<ADD>(WHERE(LT(e, r = RANGE(n)), c:int|index, @zero), r)
    if !depends_on(e, r) && !depends_on(c, r)
    ~> MUL(CAST(MIN(MAX(n - e - @one, @zero), n)):dtype(c), c)
    test REDUCE<ADD>(WHERE(LT(v:index, RANGE<0, REDUCE>(8)), w:i32, 0:i32), RANGE<0, REDUCE>(8))
      -> MUL(CAST<i32>(MIN(MAX(SUB(SUB(8, v), 1), 0), 8)), w)
  @proof(fuzz)
  rule count_above_ones: REDUCE<ADD>(CAST(LT(e, r = RANGE(n))):int|index, r) if !depends_on(e, r)
    ~> CAST(MIN(MAX(n - e - @one, @zero), n)):dtype(root)
    test REDUCE<ADD>(CAST<i32>(LT(v:index, RANGE<0, REDUCE>(8))), RANGE<0, REDUCE>(8))
      -> CAST<i32>(MIN(MAX(SUB(SUB(8, v), 1), 0), 8))
  /// Is e among the first n numbers?
  @proof(fuzz)
  @order("the reduction goes")
  rule count_one: REDUCE<ADD>(CAST(EQ[r = RANGE(n), e:index]):int|index, r) if !depends_on(e, r)
    ~> CAST(AND(LT(@minus_one, e), LT(e, n))):dtype(root)
    test REDUCE<ADD>(CAST<i32>(EQ(RANGE<0, REDUCE>(8), v:index)), RANGE<0, REDUCE>(8))
      -> CAST<i32>(AND(LT(-1, v), LT(v, 8)))
  /// Of all the terms one counts: a gather. The index is guarded, so that what lies outside [0, n) is not read.
  @proof(fuzz)
  @order("the reduction goes")
  rule pick: REDUCE<ADD>(WHERE(EQ[r = RANGE(n), e:index], x:int|float|index, z = @zero), r)
    if !depends_on(e, r) && addresses_only(x, r)
    => WHERE(AND(LT(@minus_one, e), LT(e, n)), ADD(subst(x, r, VALID(e, AND(LT(@minus_one, e), LT(e, n)))), z), z)
    test REDUCE<ADD>(WHERE(EQ(RANGE<0, REDUCE>(8), v:index), w:i32, 0:i32), RANGE<0, REDUCE>(8))
      -> WHERE(AND(LT(-1, v), LT(v, 8)), ADD(w, 0:i32), 0:i32)
    test REDUCE<ADD>(WHERE(EQ(RANGE<0, REDUCE>(8), v:index), CAST<i32>(RANGE<0, REDUCE>(8)), 0:i32),
                     RANGE<0, REDUCE>(8))
      -> nomatch
  @proof(fuzz)
  @order("conversions inside of reductions get fewer")
  rule pick_cast: REDUCE<ADD>(WHERE(EQ[m = CAST(r = RANGE(_)), e:int], x, z), r)
    if holds(dtype(m), vmin(r), vmax(r)) ~> REDUCE<ADD>(WHERE(EQ(r, CAST<index>(e)), x, z), r)
    test REDUCE<ADD>(WHERE(EQ(CAST<i32>(RANGE<0, REDUCE>(8)), v:i32), w:f32, 0.0:f32), RANGE<0, REDUCE>(8))
      -> REDUCE<ADD>(WHERE(EQ(RANGE<0, REDUCE>(8), CAST<index>(v)), w, 0.0:f32), RANGE<0, REDUCE>(8))
    test REDUCE<ADD>(WHERE(EQ(CAST<i8>(RANGE<0, REDUCE>(200)), v:i8), w:f32, 0.0:f32), RANGE<0, REDUCE>(200)) -> nomatch
}
