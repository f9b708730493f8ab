// split.pat - what else changes when a range becomes an expression over its parts. The substitution itself is the
// engine's (un__substitute); these rules run once over the kernel before it, accesses first: while reductions still close
// the range, what lies outside of them does not depend on it. split.h says what the words mean.
c_include "opt/split.h"

extern pred split_pads(x: node)
extern pred split_overruns(x: node)
extern pred split_closes(r: nodes)
extern pred split_closes_padded(r: nodes)
extern pred split_loads_zeros(x: node)
extern pred split_to_core(r: nodes)
extern fn   split_zeroed(x: node): node
extern fn   split_inside(x: node): node
extern fn   split_loops(r: nodes): nodes
extern fn   split_identity(x: node, op: int): node
extern fn   split_padded(c: node): node

ruleset split_accesses ctx un__split {
  /// An access that moves along a padded range happens only inside the old domain.
  @proof(fuzz)
  rule gate_access: INDEX(p, i) if split_pads(i) => INDEX(p, i, split_inside(i))
    test INDEX(p:ptr, RANGE<0, LOOP>(7)) -> INDEX(p, RANGE<0, LOOP>(7), LT(ADD(MUL(RANGE<1, LOOP>(2), 4), RANGE<2, UPCAST>(4)), 7))
    test INDEX(p:ptr, RANGE<0, LOOP>(8)) -> nomatch

  /// The same where there is a gate already. The gate may be all that moves.
  @proof(fuzz)
  rule gate_guarded: INDEX(p, i, g:bool) if split_pads(i) || split_pads(g) => INDEX(p, i, AND(g, split_inside(i)))
    test INDEX(p:ptr, v:index, LT(RANGE<0, LOOP>(7), 3)) -> INDEX(p, v, AND(LT(RANGE<0, LOOP>(7), 3), LT(ADD(MUL(RANGE<1, LOOP>(2), 4), RANGE<2, UPCAST>(4)), 7)))
    test INDEX(p:ptr, v:index, LT(RANGE<0, LOOP>(8), 3)) -> nomatch

  /// Copies beyond the end compute the last value again and store nothing.
  @proof(fuzz)
  rule gate_store: STORE(INDEX(p, i), v) if split_overruns(i) => STORE(INDEX(p, i, split_inside(i)), v)
    test STORE(INDEX(p:ptr, RANGE<0, UNROLL>(7)), v:f32) -> STORE(INDEX(p, RANGE<0, UNROLL>(7), LT(ADD(MUL(RANGE<1, LOOP>(2), 4), RANGE<2, UPCAST>(4)), 7)), v)
    test STORE(INDEX(p:ptr, RANGE<0, LOOP>(7)), v:f32) -> nomatch

  /// The same where the store has a gate already.
  @proof(fuzz)
  rule gate_guarded_store: STORE(INDEX(p, i, g:bool), v) if split_overruns(i)
    => STORE(INDEX(p, i, AND(g, split_inside(i))), v)
    test STORE(INDEX(p:ptr, RANGE<0, UNROLL>(7), c:bool), v:f32) -> STORE(INDEX(p, RANGE<0, UNROLL>(7), AND(c, LT(ADD(MUL(RANGE<1, LOOP>(2), 4), RANGE<2, UPCAST>(4)), 7))), v)
    test STORE(INDEX(p:ptr, RANGE<0, UNROLL>(8), c:bool), v:f32) -> nomatch
}

ruleset split ctx un__split {
  /// The loops that close the range close its parts.
  @proof(fuzz)
  rule split_end: END(t, *r) if split_closes(r) => END(t, *split_loops(r))
    test END(STORE(INDEX(p:ptr, RANGE<0, LOOP>(8)), v:f32), RANGE<0, LOOP>(8), RANGE<5, LOOP>(3))
      -> END(STORE(INDEX(p, RANGE<0, LOOP>(8)), v), RANGE<1, LOOP>(2), RANGE<2, UPCAST>(4), RANGE<5, LOOP>(3))
    test END(STORE(INDEX(p:ptr, RANGE<0, LOOP>(8)), v:f32), RANGE<5, LOOP>(3)) -> nomatch

  /// Padding adds products of zeros where both factors are loaded: nothing need be selected, and a tensor core can have it.
  @proof(fuzz)
  rule split_padded_product: REDUCE<ADD>(x = MUL(_, _), *r) if split_closes_padded(r) && split_loads_zeros(x)
    => REDUCE<ADD>(x, *split_loops(r))
    test REDUCE<ADD>(MUL(LOAD(INDEX(p:ptr, RANGE<0, REDUCE>(7))):f32, LOAD(INDEX(q:ptr, MUL(RANGE<0, REDUCE>(7), 3))):f32), RANGE<0, REDUCE>(7))
      -> REDUCE<ADD>(MUL(LOAD(INDEX(p, RANGE<0, REDUCE>(7))):f32, LOAD(INDEX(q, MUL(RANGE<0, REDUCE>(7), 3))):f32), RANGE<1, LOOP>(2), RANGE<2, UPCAST>(4))
    test REDUCE<ADD>(MUL(LOAD(INDEX(p:ptr, RANGE<0, REDUCE>(7))):f32, v:f32), RANGE<0, REDUCE>(7)) -> nomatch

  /// A tensor core multiplies, it does not select: the factors that are not zero in the padding become zero themselves. Both, as zero
  /// times what is computed from the padding may be a NaN.
  @proof(fuzz)
  rule split_padded_factors: REDUCE<ADD>(MUL(a, b), *r) if split_closes_padded(r) && split_to_core(r)
    => REDUCE<ADD>(MUL(split_zeroed(a), split_zeroed(b)), *split_loops(r))
    test REDUCE<ADD>(MUL(CAST<f32>(NEG(LOAD(INDEX(p:ptr, RANGE<0, REDUCE>(7))):bf16)), CAST<f32>(LOAD(INDEX(q:ptr, RANGE<0, REDUCE>(7))):bf16)), RANGE<0, REDUCE>(7), RANGE<5, TENSOR>(16))
      -> REDUCE<ADD>(MUL(CAST<f32>(WHERE(LT(ADD(MUL(RANGE<1, LOOP>(2), 4), RANGE<2, UPCAST>(4)), 7), NEG(LOAD(INDEX(p, RANGE<0, REDUCE>(7))):bf16), 0.0:bf16)), CAST<f32>(LOAD(INDEX(q, RANGE<0, REDUCE>(7))):bf16)), RANGE<1, LOOP>(2), RANGE<2, UPCAST>(4), RANGE<5, TENSOR>(16))
    test REDUCE<ADD>(MUL(a:f32, b:f32), RANGE<0, REDUCE>(8), RANGE<5, TENSOR>(16)) -> nomatch

  /// Padding takes part in a reduction as its neutral element.
  @proof(fuzz)
  rule split_padded_reduce: REDUCE<op>(x:!void, *r) if split_closes_padded(r)
    => REDUCE<op>(WHERE(split_inside(x), x, split_identity(x, op)), *split_loops(r))
    test REDUCE<ADD>(CAST<i32>(RANGE<0, REDUCE>(7)), RANGE<0, REDUCE>(7))
      -> REDUCE<ADD>(WHERE(LT(ADD(MUL(RANGE<1, LOOP>(2), 4), RANGE<2, UPCAST>(4)), 7), CAST<i32>(RANGE<0, REDUCE>(7)), 0:i32), RANGE<1, LOOP>(2), RANGE<2, UPCAST>(4))
    test REDUCE<ADD>(CAST<i32>(RANGE<0, REDUCE>(8)), RANGE<0, REDUCE>(8)) -> nomatch

  /// The same for each element of a tuple.
  @proof(fuzz)
  rule split_padded_tuple: REDUCE<COMBINE>(c = COMBINE(..), *r) if split_closes_padded(r)
    => REDUCE<COMBINE>(split_padded(c), *split_loops(r))
    test REDUCE<COMBINE>(COMBINE(TUPLE(ADD(ARG<0>():i32, ARG<1>():i32)), CAST<i32>(RANGE<0, REDUCE>(7)), 0:i32), RANGE<0, REDUCE>(7))
      -> REDUCE<COMBINE>(COMBINE(TUPLE(ADD(ARG<0>():i32, ARG<1>():i32)), WHERE(LT(ADD(MUL(RANGE<1, LOOP>(2), 4), RANGE<2, UPCAST>(4)), 7), CAST<i32>(RANGE<0, REDUCE>(7)), 0:i32), 0:i32), RANGE<1, LOOP>(2), RANGE<2, UPCAST>(4))
    test REDUCE<COMBINE>(COMBINE(TUPLE(ADD(ARG<0>():i32, ARG<1>():i32)), CAST<i32>(RANGE<0, REDUCE>(8)), 0:i32), RANGE<0, REDUCE>(8)) -> nomatch

  /// A reduction over the range is one over its parts.
  @proof(fuzz)
  rule split_reduce: REDUCE<op>(x, *r) if split_closes(r) => REDUCE<op>(x, *split_loops(r))
    test REDUCE<ADD>(CAST<i32>(RANGE<0, REDUCE>(8)), RANGE<0, REDUCE>(8)) -> REDUCE<ADD>(CAST<i32>(RANGE<0, REDUCE>(8)), RANGE<1, LOOP>(2), RANGE<2, UPCAST>(4))
    test REDUCE<ADD>(CAST<i32>(RANGE<0, REDUCE>(8)), RANGE<5, REDUCE>(3)) -> nomatch
}

stage opt_split_accesses { use split_accesses walk once fuel 4 }
stage opt_split { use split walk once fuel 4 }
