// expand.pat - UPCAST and UNROLL ranges become copies (tiles) and vectors (lanes).
//
// Lanes keep every node's dtype while they grow: UNROLL(v) is a scalar that stands for the lanes of v, CONTRACT(x) is the
// vector of the lanes of x, and CONTRACT(UNROLL(v)) is v. So each rule is local.
include "simplify/tuple.pat"
c_include "codegen/expand.h"

extern pred tiled(n: node)
extern pred laned(n: node)
extern pred apart(n: node)
extern fn   loops(n: node): nodes
extern fn   scalar_loops(n: node): nodes
extern fn   lane(n: node): nodes
extern fn   copies(n: node): nodes
extern fn   sums(n: node): nodes
extern pred in_rows(access: node)
extern fn   row(access: node): node
extern pred of_row(element: node)
extern fn   column(element: node): node
extern fn   joined(xs: nodes, op: int): node
extern pred is_lane(r: node)
extern pred moves(access: node)
extern pred consecutive(access: node)
extern fn   lanes(n: node): int
extern fn   address(access: node): node
extern fn   each(access: node): nodes
extern fn   spread(vector: node, n: node): node
extern fn   gathered(x: node, n: node): node
extern fn   iota(r: node): nodes
extern pred any_spread(xs: nodes)
extern pred uniform(x: node)
extern fn   widened(n: node): node
extern fn   elements(c: node): nodes
extern fn   combine_of(c: node, xs: nodes): node
extern fn   gets(tuple: node): nodes
extern fn   joined_tuples(xs: nodes): nodes
extern fn   halved(c: node, n: node): nodes
extern fn   widened_tuple(get: node): node

opset Elementwise = NEG | RECIP | SQRT | EXP | EXP2 | LOG | LOG2 | SIN | COS | TANH | TRUNC | FLOOR | NOT | ADD | SUB | MUL | FDIV
  | FLOORDIV | FLOORMOD | TRUNCDIV | TRUNCMOD | MAX | MIN | POW | LT | NE | EQ | AND | OR | XOR | SHL | SHR | THREEFRY
  | WHERE | MULACC | CAST | BITCAST | ASYNC

ruleset expand_tiles ctx un__expansion {
  /// The lane of a reduction is combined last, once: the loop adds up vectors.
  @proof(fuzz)
  rule lane_outside: REDUCE<op>(x:!void, *r) if len(r) > 1 && laned(root)
    => REDUCE<op>(REDUCE<op>(x, *scalar_loops(root)), *lane(root))
    test REDUCE<ADD>(CAST<i32>(RANGE<0, UNROLL>(4)), RANGE<1, REDUCE>(3), RANGE<0, UNROLL>(4))
      -> REDUCE<ADD>(REDUCE<ADD>(CAST<i32>(RANGE<0, UNROLL>(4)), RANGE<1, REDUCE>(3)), RANGE<0, UNROLL>(4))
    test REDUCE<ADD>(CAST<i32>(RANGE<0, UNROLL>(3)), RANGE<1, REDUCE>(3), RANGE<0, UNROLL>(3)) -> nomatch

  /// The same for a tuple: its lanes are combined by its own body.
  @proof(fuzz)
  rule lane_outside_tuple: REDUCE<COMBINE>(c = COMBINE(..), *r) if len(r) > 1 && laned(root)
    => REDUCE<COMBINE>(combine_of(c, gets(REDUCE<COMBINE>(c, *scalar_loops(root)))), *lane(root))
    test REDUCE<COMBINE>(COMBINE(TUPLE(ADD(ARG<0>():i32, ARG<1>():i32)), CAST<i32>(RANGE<0, UNROLL>(4)), 0:i32), RANGE<1, REDUCE>(3), RANGE<0, UNROLL>(4)) -> fires
    test REDUCE<COMBINE>(COMBINE(TUPLE(ADD(ARG<0>():i32, ARG<1>():i32)), CAST<i32>(RANGE<0, UNROLL>(4)), 0:i32), RANGE<0, UNROLL>(4)) -> nomatch

  /// A tile of stores: the stores of every copy.
  @proof(fuzz)
  rule tile_stores: END(_, ..) if tiled(root) && len(loops(root)) > 0 => END(GROUP(*copies(root)), *loops(root))
    test END(STORE(INDEX(p:ptr, ADD(RANGE<1, LOOP>(2), RANGE<0, UPCAST>(3))), v:f32), RANGE<1, LOOP>(2), RANGE<0, UPCAST>(3)) -> fires
    test END(STORE(INDEX(p:ptr, RANGE<0, UPCAST>(3)), v:f32), RANGE<0, UPCAST>(3)) -> nomatch

  /// The same when no loop is left.
  @proof(fuzz)
  rule tile_all_stores: END(_, ..) if tiled(root) && len(loops(root)) == 0 => GROUP(*copies(root))
    test END(STORE(INDEX(p:ptr, RANGE<0, UPCAST>(3)), v:f32), RANGE<0, UPCAST>(3))
      -> GROUP(STORE(INDEX(p, 0:index), v), STORE(INDEX(p, 1:index), v), STORE(INDEX(p, 2:index), v))
    test END(STORE(INDEX(p:ptr, RANGE<0, LOOP>(3)), v:f32), RANGE<0, LOOP>(3)) -> nomatch

  /// An unrolled reduction without a loop is an expression.
  @proof(fuzz)
  rule tile_whole_sum: REDUCE<op>(_:!void, ..) if tiled(root) && len(loops(root)) == 0 => joined(copies(root), op)
    test REDUCE<ADD>(CAST<i32>(RANGE<0, UNROLL>(3)), RANGE<0, UNROLL>(3)) -> fires
    test REDUCE<ADD>(CAST<i32>(RANGE<0, REDUCE>(3)), RANGE<0, REDUCE>(3)) -> nomatch

  /// What lanes read far apart and the copies of a tile side by side is loaded by rows, one for each lane: UNROLL over the
  /// tile. The copies become elements of the rows.
  @proof(fuzz)
  rule load_row: LOAD(INDEX(_, ..)) if in_rows(root) => row(root)
    test LOAD(INDEX(p:ptr, ADD(MUL(RANGE<1, UPCAST>(4), 8), RANGE<0, UPCAST>(4)))):f32 -> fires
    test LOAD(INDEX(p:ptr, ADD(RANGE<1, UPCAST>(4), MUL(RANGE<0, UPCAST>(4), 8)))):f32 -> nomatch

  /// Copies with an accumulator each: none waits for another. They share one loop and are combined after it.
  @proof(fuzz)
  rule tile_sums_apart: REDUCE<op>(_:!void, ..) if tiled(root) && len(loops(root)) > 0 && apart(root) => joined(sums(root), op)
    test REDUCE<ADD>(MUL(CAST<i32>(RANGE<0, UNROLL>(3)), CAST<i32>(RANGE<1, REDUCE>(2))), RANGE<1, REDUCE>(2), RANGE<0, UNROLL>(3)) -> fires
    test REDUCE<ADD>(CAST<i32>(RANGE<0, UNROLL>(3)), RANGE<0, UNROLL>(3)) -> nomatch

  /// Where registers are short the copies are combined inside the loop.
  @proof(fuzz)
  rule tile_sums_inside: REDUCE<op>(_:!void, ..) if tiled(root) && len(loops(root)) > 0 && !apart(root)
    => REDUCE<op>(joined(copies(root), op), *loops(root))
    test REDUCE<ADD>(MUL(CAST<i32>(RANGE<0, UNROLL>(5)), CAST<i32>(RANGE<1, REDUCE>(2))), RANGE<1, REDUCE>(2), RANGE<0, UNROLL>(5)) -> fires
    test REDUCE<ADD>(CAST<i32>(RANGE<0, UNROLL>(3)), RANGE<0, UNROLL>(3)) -> nomatch

  /// The same three for tuples.
  @proof(fuzz)
  rule tile_whole_tuple: REDUCE<COMBINE>(COMBINE(..), ..) if tiled(root) && len(loops(root)) == 0
    => TUPLE(*joined_tuples(copies(root)))
    test REDUCE<COMBINE>(COMBINE(TUPLE(ADD(ARG<0>():i32, ARG<1>():i32)), CAST<i32>(RANGE<0, UNROLL>(3)), 0:i32), RANGE<0, UNROLL>(3)) -> fires
  @proof(fuzz)
  rule tile_tuples_apart: REDUCE<COMBINE>(COMBINE(..), ..) if tiled(root) && len(loops(root)) > 0 && apart(root)
    => TUPLE(*joined_tuples(sums(root)))
    test REDUCE<COMBINE>(COMBINE(TUPLE(ADD(ARG<0>():i32, ARG<1>():i32)), MUL(CAST<i32>(RANGE<0, UNROLL>(3)), CAST<i32>(RANGE<1, REDUCE>(2))), 0:i32), RANGE<1, REDUCE>(2), RANGE<0, UNROLL>(3)) -> fires
  @proof(fuzz)
  rule tile_tuples_inside: REDUCE<COMBINE>(c = COMBINE(..), ..) if tiled(root) && len(loops(root)) > 0 && !apart(root)
    => REDUCE<COMBINE>(combine_of(c, joined_tuples(copies(root))), *loops(root))
    test REDUCE<COMBINE>(COMBINE(TUPLE(ADD(ARG<0>():i32, ARG<1>():i32)), MUL(CAST<i32>(RANGE<0, UNROLL>(5)), CAST<i32>(RANGE<1, REDUCE>(2))), 0:i32), RANGE<1, REDUCE>(2), RANGE<0, UNROLL>(5)) -> fires
}

ruleset expand_lanes ctx un__expansion {
  /// A vector store needs no loop over its lanes.
  @proof(fuzz)
  rule lane_stores: END(t, *r) if len(r) > 1 && laned(root) => END(t, *scalar_loops(root))
    test END(STORE(INDEX(p:ptr, RANGE<0, UPCAST>(4)), v:f32), RANGE<1, LOOP>(2), RANGE<0, UPCAST>(4))
      -> END(STORE(INDEX(p, RANGE<0, UPCAST>(4)), v), RANGE<1, LOOP>(2))
    test END(STORE(INDEX(p:ptr, RANGE<0, UPCAST>(4)), v:f32), RANGE<0, UPCAST>(4)) -> nomatch

  /// The same when it was the only loop.
  @proof(fuzz)
  rule lane_only_stores: END(t:void, _) if laned(root) => t
    test END(STORE(INDEX(p:ptr, RANGE<0, UPCAST>(4)), v:f32), RANGE<0, UPCAST>(4)) -> STORE(INDEX(p, RANGE<0, UPCAST>(4)), v)
    test END(STORE(INDEX(p:ptr, RANGE<0, UPCAST>(3)), v:f32), RANGE<0, UPCAST>(3)) -> nomatch

  /// Combining over the lane alone is horizontal.
  @proof(fuzz)
  rule lane_sum: REDUCE<op>(x:!void, _) if laned(root) => HREDUCE<op>(gathered(x, root))
    test REDUCE<ADD>(CAST<i32>(RANGE<0, UNROLL>(4)), RANGE<0, UNROLL>(4)) -> fires
    test REDUCE<ADD>(CAST<i32>(RANGE<0, REDUCE>(4)), RANGE<0, REDUCE>(4)) -> nomatch

  /// A tuple's lanes are combined by its body: pairs at half the distance, until one lane is left.
  @proof(fuzz)
  rule lane_tuple: REDUCE<COMBINE>(c = COMBINE(..), _) if laned(root) => TUPLE(*halved(c, root))
    test REDUCE<COMBINE>(COMBINE(TUPLE(ADD(ARG<0>():i32, ARG<1>():i32)), CAST<i32>(RANGE<0, UNROLL>(4)), 0:i32), RANGE<0, UNROLL>(4)) -> fires

  /// Elements in order: one vector load.
  @proof(fuzz)
  rule load_vector: LOAD(INDEX(_, ..)) if consecutive(root)
    => spread(LOAD(address(root)):with_lanes(dtype(root), lanes(root)), root)
    test LOAD(INDEX(p:ptr, RANGE<0, UPCAST>(4))):f32 -> fires
    test LOAD(INDEX(p:ptr, MUL(RANGE<0, UPCAST>(4), 2))):f32 -> nomatch

  /// Any other order: a load for each lane.
  @proof(fuzz)
  rule load_each: LOAD(INDEX(_, ..)) if moves(root) && !consecutive(root)
    => spread(VECTORIZE(*each(root)):with_lanes(dtype(root), lanes(root)), root)
    test LOAD(INDEX(p:ptr, MUL(RANGE<0, UPCAST>(4), 2))):f32 -> fires
    test LOAD(INDEX(p:ptr, RANGE<0, UPCAST>(4))):f32 -> nomatch

  /// The same element of every row: a column. Rows become columns by shuffles, which the other elements share.
  @proof(fuzz)
  rule load_column: GEP<_>(LOAD(INDEX(_, ..))) if of_row(root)
    => spread(column(root), root)
    test GEP<1>(LOAD(INDEX(p:ptr, MUL(RANGE<1, UPCAST>(4), 8))):with_lanes(f32, 4)):f32 -> fires
    test GEP<1>(LOAD(INDEX(p:ptr, v:index)):with_lanes(f32, 4)):f32 -> nomatch

  /// Elements in order: one vector store.
  @proof(fuzz)
  rule store_vector: STORE(INDEX(_, ..), v) if consecutive(root) => STORE(address(root), gathered(v, root))
    test STORE(INDEX(p:ptr, RANGE<0, UPCAST>(4)), v:f32) -> fires
    test STORE(INDEX(p:ptr, MUL(RANGE<0, UPCAST>(4), 2)), v:f32) -> nomatch

  /// Any other order: a store for each lane.
  @proof(fuzz)
  rule store_each: STORE(INDEX(_, ..), _) if moves(root) && !consecutive(root) => GROUP(*each(root))
    test STORE(INDEX(p:ptr, MUL(RANGE<0, UPCAST>(4), 2)), v:f32) -> fires
    test STORE(INDEX(p:ptr, RANGE<0, UPCAST>(4)), v:f32) -> nomatch
}

ruleset expand_extracts ctx un__expansion {
  /// Another lane of a vector in each lane.
  @proof(fuzz)
  rule extract_each: EXTRACT(_, _) if moves(root)
    => spread(VECTORIZE(*each(root)):with_lanes(dtype(root), lanes(root)), root)
    test EXTRACT(VECTORIZE(a:f32, b:f32), RANGE<0, UPCAST>(2)):f32 -> fires
    test EXTRACT(VECTORIZE(a:f32, b:f32), RANGE<0, LOOP>(2)):f32 -> nomatch
}

ruleset expand_values ctx un__expansion {
  /// The loop variable itself, as a value.
  @proof(fuzz)
  rule lane_values: r = RANGE(_) if is_lane(r)
    => spread(VECTORIZE(*iota(r)):with_lanes(dtype(r), lanes(r)), r)
    test RANGE<0, UPCAST>(4) -> fires
    test RANGE<0, LOOP>(4) -> nomatch

  /// Arithmetic on lanes is vector arithmetic; scalars among the operands are splat.
  @proof(fuzz)
  for op in Elementwise {
    rule lane_math: op(*xs) if any_spread(xs) => widened(root)
      test ADD(UNROLL<0, 4>(VECTORIZE(a:f32, b:f32, c:f32, d:f32)):f32, v:f32) -> fires
      test ADD(w:f32, v:f32) -> nomatch
  }

  /// A loop around lanes accumulates vectors.
  @proof(fuzz)
  rule sum_of_lanes: REDUCE<op>(UNROLL<a>(v:bool|int|float|index), *r) => UNROLL<a>(REDUCE<op>(v, *r))
    test REDUCE<ADD>(UNROLL<0, 4>(VECTORIZE(a:f32, b:f32, c:f32, d:f32)):f32, RANGE<1, REDUCE>(3)) -> fires

  /// The same for a tuple. Values that need nothing that moves along the lane stay scalars.
  @proof(fuzz)
  rule tuple_of_lanes: GET<_>(REDUCE<COMBINE>(c = COMBINE(..), ..)) if any_spread(elements(c)) => widened_tuple(root)
    test GET<0>(REDUCE<COMBINE>(COMBINE(TUPLE(ADD(ARG<0>():f32, ARG<1>():f32)), UNROLL<0, 4>(VECTORIZE(a:f32, b:f32, c:f32, d:f32)):f32, 0.0:f32), RANGE<1, REDUCE>(3))):f32 -> fires

  /// Taking together what was spread out.
  @proof(fuzz)
  rule gather_spread: CONTRACT<a>(UNROLL<a>(v:'T)):'T ~> v
    test CONTRACT<0, 4>(UNROLL<0, 4>(VECTORIZE(a:f32, b:f32, c:f32, d:f32)):f32):with_lanes(f32, 4) -> VECTORIZE(a, b, c, d)

  /// A value that is the same in every lane.
  @proof(fuzz)
  rule gather_uniform: CONTRACT<_>(x) if uniform(x) => VECTORIZE(x)
    test CONTRACT<0, 4>(v:f32):with_lanes(f32, 4) -> fires
    test CONTRACT<0, 4>(UNROLL<0, 4>(VECTORIZE(a:f32, b:f32, c:f32, d:f32)):f32):with_lanes(f32, 4) -> nomatch

  /// One lane of a splat.
  @proof(fuzz)
  rule lane_of_splat: GEP<_>(VECTORIZE(x:'T)):'T ~> x
    test GEP<1>(VECTORIZE(v:f32):with_lanes(f32, 4)):f32 -> v
}

stage expand_tiles { use expand_tiles, tuple walk post fuel 64 }
stage expand_lanes { use expand_lanes, expand_extracts walk pre fuel 64 }
stage expand_values { use expand_values, tuple walk post fuel 64 }
