// gates.pat - gates on loads and stores: what is known is dropped, and a gate that protects nothing becomes a selection,
// which costs less than a masked access.
include "simplify/fold.pat"
c_include "codegen/lower.h"

/// Every element that the access touches lies in its buffer, whatever the gate says.
extern pred always_inside(access: node)
/// On a GPU, a gate that all threads have alike: it costs no access of a few, it saves one of all.
extern pred alike(g: node)
/// A gate as one bool for each lane of the access.
extern fn gate_lanes(g: node, access: node): node
/// The constant c with the lanes of a vector.
extern fn in_every_lane(c: node, vector: node): node

ruleset gates {
  /// A constant in every lane is a constant.
  @proof(fuzz)
  rule splat_const: VECTORIZE(c:const):bool|int|float|index => in_every_lane(c, root)
    test VECTORIZE(3:i32):with_lanes(i32, 4) -> fires
    test VECTORIZE(v:i32, v:i32) -> nomatch

  /// A gate that always holds.
  @proof(fuzz)
  rule gate_true: INDEX(p, i, @true) ~> INDEX(p, i)
    test INDEX(p:ptr, i:index, @true:bool) -> INDEX(p, i)

  /// A load that never happens is 0.
  @proof(fuzz)
  rule load_never: LOAD(INDEX(_, _, @false)):bool|int|float ~> @zero
    test LOAD(INDEX(p:ptr, i:index, @false:bool)):f32 -> 0.0:f32

  /// A load whose gate is false is 0 already.
  @proof(fuzz)
  rule where_gated: WHERE(g, x = LOAD(INDEX(_, _, g)), @zero) ~> x
    test WHERE(g:bool, LOAD(INDEX(p:ptr, i:index, g)):f32, 0.0:f32) -> LOAD(INDEX(p, i, g)):f32
    test WHERE(h:bool, LOAD(INDEX(p:ptr, i:index, g:bool)):f32, 0.0:f32) -> nomatch

  /// What is not copied asynchronously is loaded and stored at once.
  @proof(fuzz)
  rule async_at_once: ASYNC(x) ~> x
    test ASYNC(v:f32) -> v

  /// A gate that protects nothing is a selection.
  @proof(fuzz)
  rule gate_to_where: x = LOAD(INDEX(p, i, g:bool)):bool|int|float if always_inside(x) && !alike(g)
    => WHERE(gate_lanes(g, x), LOAD(INDEX(p, i)):dtype(x), @zero)
    test LOAD(INDEX(p:ptr, i:index in [0, 9], g:bool)):f32 -> WHERE(g, LOAD(INDEX(p, i)):f32, 0.0:f32)
    test LOAD(INDEX(p:ptr, i:index in [0, 1000], g:bool)):f32 -> nomatch
}

stage gates { use gates, fold  walk post  fuel 64 }
