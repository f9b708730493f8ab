// online.pat - two reductions of which one needs the other's result, as one reduction of several values.
//
// The inner one, over the ranges s, and the outer one, over r, look at the same elements. The new one keeps what both need
// and corrects what was summed up so far whenever the inner value changes. Values of the inner one stay as they are: it is a
// value of the tuple too, and fusing siblings finds that out.
//
// ARG 0 to n-1 are what is there (a), ARG n to 2n-1 what is added (b).
include "simplify/externs.pat"
c_include "simplify/simplify.h"
c_include "rangeify/online.h"

extern pred along(x: node, r: nodes, y: node, s: nodes)
extern pred counts(n: node, r: nodes)
extern fn   at_start(x: node, r: nodes): node

opset Extreme = MAX | MIN

/// p where x is as good as the best, which is one of two, else z. NaN is the best of all, and equals nothing.
fn place(x: node, best: node, p: node, z: node): node = WHERE(OR(EQ(x, best), NE(x, x)), p, z)
fn exact_place(x: node, best: node, p: node, z: node): node = WHERE(EQ(x, best), p, z)

ruleset one_pass {
  /// The first place of the largest (smallest), in one pass: of two partial answers that one counts whose value is better; when
  /// both do, the smaller place.
  @proof(fuzz)
  for op in Extreme {
    rule first_place: REDUCE<MIN>(WHERE(OR[EQ[x:float, m = REDUCE<op>(y, *s)], NE(x, x)], i:int, #c), *r)
      if vmax(i) <= c && indep(m, r) && along(x, r, y, s)
      => GET<1>(REDUCE<COMBINE>(COMBINE(TUPLE(
          op(ARG<0>():dtype(x), ARG<2>():dtype(x)),
          MIN(place(ARG<0>():dtype(x), op(ARG<0>():dtype(x), ARG<2>():dtype(x)), ARG<1>():dtype(i), #c:dtype(i)),
              place(ARG<2>():dtype(x), op(ARG<0>():dtype(x), ARG<2>():dtype(x)), ARG<3>():dtype(i), #c:dtype(i)))),
        x, i, @ident(op):dtype(x), #c:dtype(i)), *r)):dtype(i)
      test REDUCE<MIN>(WHERE(OR(EQ(CAST<f32>(RANGE<0, REDUCE>(8)), REDUCE<MAX>(CAST<f32>(RANGE<1, REDUCE>(8)), RANGE<1, REDUCE>(8))), NE(CAST<f32>(RANGE<0, REDUCE>(8)), CAST<f32>(RANGE<0, REDUCE>(8)))), CAST<i32>(RANGE<0, REDUCE>(8)), 99:i32), RANGE<0, REDUCE>(8)) -> fires
      test REDUCE<MIN>(WHERE(OR(EQ(CAST<f32>(RANGE<0, REDUCE>(8)), REDUCE<MIN>(CAST<f32>(RANGE<1, REDUCE>(8)), RANGE<1, REDUCE>(8))), NE(CAST<f32>(RANGE<0, REDUCE>(8)), CAST<f32>(RANGE<0, REDUCE>(8)))), CAST<i32>(RANGE<0, REDUCE>(8)), 99:i32), RANGE<0, REDUCE>(8)) -> fires
      test REDUCE<MIN>(WHERE(OR(EQ(CAST<f32>(RANGE<0, REDUCE>(8)), REDUCE<MAX>(CAST<f32>(RANGE<1, REDUCE>(8)), RANGE<1, REDUCE>(8))), NE(CAST<f32>(RANGE<0, REDUCE>(8)), CAST<f32>(RANGE<0, REDUCE>(8)))), CAST<i32>(RANGE<0, REDUCE>(8)), 5:i32), RANGE<0, REDUCE>(8)) -> nomatch

    rule first_place_exact: REDUCE<MIN>(WHERE(EQ[x, m = REDUCE<op>(y, *s)], i:int, #c), *r)
      if vmax(i) <= c && indep(m, r) && along(x, r, y, s)
      => GET<1>(REDUCE<COMBINE>(COMBINE(TUPLE(
          op(ARG<0>():dtype(x), ARG<2>():dtype(x)),
          MIN(exact_place(ARG<0>():dtype(x), op(ARG<0>():dtype(x), ARG<2>():dtype(x)), ARG<1>():dtype(i), #c:dtype(i)),
              exact_place(ARG<2>():dtype(x), op(ARG<0>():dtype(x), ARG<2>():dtype(x)), ARG<3>():dtype(i), #c:dtype(i)))),
        x, i, @ident(op):dtype(x), #c:dtype(i)), *r)):dtype(i)
      test REDUCE<MIN>(WHERE(EQ(CAST<i32>(RANGE<0, REDUCE>(8)), REDUCE<MAX>(CAST<i32>(RANGE<1, REDUCE>(8)), RANGE<1, REDUCE>(8))), CAST<i32>(RANGE<0, REDUCE>(8)), 99:i32), RANGE<0, REDUCE>(8)) -> fires
      test REDUCE<MIN>(WHERE(EQ(CAST<i32>(RANGE<0, REDUCE>(8)), REDUCE<MIN>(CAST<i32>(RANGE<1, REDUCE>(8)), RANGE<1, REDUCE>(8))), CAST<i32>(RANGE<0, REDUCE>(8)), 99:i32), RANGE<0, REDUCE>(8)) -> fires
      test REDUCE<MIN>(WHERE(EQ(CAST<i32>(RANGE<0, REDUCE>(8)), REDUCE<MAX>(CAST<i32>(RANGE<1, REDUCE>(8)), RANGE<1, REDUCE>(8))), CAST<i32>(RANGE<0, REDUCE>(8)), 5:i32), RANGE<0, REDUCE>(8)) -> nomatch
  }
}

/// How much a sum under the maximum m loses under the maximum of m and n. Equal infinities lose nothing.
fn loss(m: node, n: node): node = WHERE(EQ(m, n), 1.0, EXP(MIN(m - n, n - m)))
/// Sums s under m and t under n, under the larger of m and n.
fn rescaled(m: node, s: node, n: node, t: node): node =
  WHERE(LT(m, n), s * loss(m, n) + t, s + t * loss(m, n))
/// The sum of squares around the mean of a values that sum up to s and b values that sum up to t, less those of each. From the
/// difference of the means, weighed before it is squared: nothing on the way is larger than the result.
fn weighed_square(d: node, w: node): node = d * w * d
fn between(s: node, a: node, t: node, b: node): node =
  WHERE(EQ(a * b, 0.0), 0.0, weighed_square(t / b - s / a, a * b / (a + b)))
/// x, or NaN where m is infinite or NaN.
fn where_finite(x: node, m: node): node = x + (m - m)

ruleset online {
  /// The sum of e^(x - max x), as softmax has it: the sum under the maximum so far is scaled when that rises. An infinite maximum
  /// makes it NaN, as inf - inf does in the two passes.
  @fp(online) @proof(fuzz)
  rule exp_sum: REDUCE<ADD>(EXP(SUB(x:float, m = REDUCE<MAX>(y, *s))), *r)
    if nonempty(r) && indep(m, r) && along(x, r, y, s)
    let t = REDUCE<COMBINE>(COMBINE(TUPLE(
        MAX(ARG<0>():dtype(x), ARG<2>():dtype(x)),
        rescaled(ARG<0>():dtype(x), ARG<1>():dtype(x), ARG<2>():dtype(x), ARG<3>():dtype(x))),
      x, 1.0:dtype(x), @ident(MAX):dtype(x), 0.0:dtype(x)), *r)
    => where_finite(GET<1>(t):dtype(x), GET<0>(t):dtype(x))
    test(online) REDUCE<ADD>(EXP(SUB(CAST<f32>(RANGE<0, REDUCE>(8)), REDUCE<MAX>(CAST<f32>(RANGE<1, REDUCE>(8)), RANGE<1, REDUCE>(8)))), RANGE<0, REDUCE>(8)) -> fires
    test REDUCE<ADD>(EXP(SUB(CAST<f32>(RANGE<0, REDUCE>(8)), REDUCE<MAX>(CAST<f32>(RANGE<1, REDUCE>(8)), RANGE<1, REDUCE>(8)))), RANGE<0, REDUCE>(8)) -> nomatch

  /// The sum of squares around the mean, from sums, sums of squares and counts of parts (Chan, Golub, LeVeque 1983), all of them
  /// around the first element: it is at most sqrt(n) deviations from the mean, and so is what cancellation can cost.
  @fp(online) @proof(fuzz)
  rule square_sum: REDUCE<ADD>(MUL(d = SUB(x:float, FDIV(m = REDUCE<ADD>(y, *s), n)), d), *r)
    if counts(n, r) && indep(m, r) && along(x, r, y, s)
    let k = at_start(x, r)
    let t = REDUCE<COMBINE>(COMBINE(TUPLE(
        ADD(ARG<0>():dtype(x), ARG<3>():dtype(x)),
        ADD(ADD(ARG<1>():dtype(x), ARG<4>():dtype(x)),
            between(ARG<0>():dtype(x), ARG<2>():dtype(x), ARG<3>():dtype(x), ARG<5>():dtype(x))),
        ADD(ARG<2>():dtype(x), ARG<5>():dtype(x))),
      x - k, 0.0:dtype(x), 1.0:dtype(x), 0.0:dtype(x), 0.0:dtype(x), 0.0:dtype(x)), *r)
    => where_finite(GET<1>(t):dtype(x), GET<0>(t):dtype(x))
    test(online) REDUCE<ADD>(MUL(SUB(CAST<f32>(RANGE<0, REDUCE>(8)), FDIV(REDUCE<ADD>(CAST<f32>(RANGE<1, REDUCE>(8)), RANGE<1, REDUCE>(8)), 8.0:f32)), SUB(CAST<f32>(RANGE<0, REDUCE>(8)), FDIV(REDUCE<ADD>(CAST<f32>(RANGE<1, REDUCE>(8)), RANGE<1, REDUCE>(8)), 8.0:f32))), RANGE<0, REDUCE>(8)) -> fires
    test(online) REDUCE<ADD>(MUL(SUB(CAST<f32>(RANGE<0, REDUCE>(8)), FDIV(REDUCE<ADD>(CAST<f32>(RANGE<1, REDUCE>(8)), RANGE<1, REDUCE>(8)), 7.0:f32)), SUB(CAST<f32>(RANGE<0, REDUCE>(8)), FDIV(REDUCE<ADD>(CAST<f32>(RANGE<1, REDUCE>(8)), RANGE<1, REDUCE>(8)), 7.0:f32))), RANGE<0, REDUCE>(8)) -> nomatch
}

stage rangeify_one_pass { use one_pass walk post fuel 64 }
stage rangeify_online { use one_pass, online walk post fuel 64 }
