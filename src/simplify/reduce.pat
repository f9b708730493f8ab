// reduce.pat - reductions over ranges whose value can be given without a loop, or with a smaller one.
include "simplify/externs.pat"
c_include "simplify/simplify.h"

ruleset reduce order nodes(REDUCE), nodes(*) {
  /// A sum of equal terms is a product. Integers only: floats round at every step.
  @proof(fuzz)
  rule sum_of_equal: REDUCE<ADD>(x:int|index, *r) if indep(x, r) => MUL(x, CAST(turns(r)):dtype(x))
  @proof(fuzz)
  rule sum_partly_equal: REDUCE<ADD>(x:int|index, *r) if !indep(x, r)
    => REDUCE<ADD>(MUL(x, CAST(turns(loose(x, r))):dtype(x)), *tight(x, r))
  /// The extreme of equal values, when there is one at all.
  @proof(fuzz)
  rule max_of_equal: REDUCE<MAX>(x, *r) if indep(x, r) && nonempty(r) ~> x
  @proof(fuzz)
  rule min_of_equal: REDUCE<MIN>(x, *r) if indep(x, r) && nonempty(r) ~> x
  @proof(fuzz)
  rule and_of_equal: REDUCE<AND>(x, *r) if indep(x, r) && nonempty(r) ~> x
  @proof(fuzz)
  rule or_of_equal: REDUCE<OR>(x, *r) if indep(x, r) && nonempty(r) ~> x
  /// A factor that does not change leaves the sum.
  @proof(fuzz)
  rule factor_out: REDUCE<ADD>(MUL[x, y:int|index], *r) if indep(y, r) ~> MUL(REDUCE<ADD>(x, *r), y)
  @fp(reassoc) @proof(fuzz)
  rule factor_out_float: REDUCE<ADD>(MUL[x, y:float], *r) if indep(y, r) ~> MUL(REDUCE<ADD>(x, *r), y)
  /// How many of the first n numbers lie below e.
  @proof(fuzz)
  rule count_below: REDUCE<ADD>(WHERE(LT(r = RANGE(n), e:index), c:int|index, @zero), r) if !depends_on(e, r) && !depends_on(c, r)
    ~> MUL(CAST(MIN(MAX(e, @zero), n)):dtype(c), c)
  /// Of all the terms one counts: a gather. The index is guarded, so that what lies outside [0, n) is not read.
  @proof(fuzz)
  rule pick: REDUCE<ADD>(WHERE(EQ[r = RANGE(n), e:index], x:int|float|index, z = @zero), r) if !depends_on(e, r) && addresses_only(x, r)
    => WHERE(AND(LT(@minus_one, e), LT(e, n)), ADD(subst(x, r, VALID(e, AND(LT(@minus_one, e), LT(e, n)))), z), z)
  @proof(fuzz)
  rule pick_cast: REDUCE<ADD>(WHERE(EQ[m = CAST(r = RANGE(_)), e:int], x, z), r)
    if holds(dtype(m), vmin(r), vmax(r)) ~> REDUCE<ADD>(WHERE(EQ(r, CAST<index>(e)), x, z), r)
}
