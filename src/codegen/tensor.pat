// tensor.pat - sums of products that a tensor core computes. un__tensor looks at a kernel's digits first; which reductions these
// are says simplify/cores.h.
c_include "codegen/tensor.h"
c_include "codegen/expand.h"

/// One of those.
extern pred on_core(n: node)
/// The loops around the instruction.
extern fn   core_loops(n: node): nodes
/// The warp's product, of all copies of the reduction: 4 lanes.
extern fn   core_product(n: node): node
/// Which of the lanes.
extern fn   core_lane(n: node): node

ruleset tensor ctx un__tensor_cores {
  /// A loop adds up products of a warp; each thread has four of their elements.
  @fp(contract reduce_order) @proof(fuzz)
  rule core_sum: REDUCE<ADD>(_:!void, ..) if on_core(root) && len(core_loops(root)) > 0
    => EXTRACT(REDUCE<ADD>(core_product(root), *core_loops(root)), core_lane(root)):dtype(root)
    test(contract reduce_order) REDUCE<ADD>(MUL(CAST<f32>(LOAD(INDEX(p:ptr, ADD(RANGE<1, WARP>(8), ADD(RANGE<3, UNROLL>(2), RANGE<2, TENSOR>(16))))):bf16),
                          CAST<f32>(LOAD(INDEX(q:ptr, ADD(RANGE<0, WARP>(4), ADD(RANGE<4, UPCAST>(2), RANGE<2, TENSOR>(16))))):bf16)),
      RANGE<5, REDUCE>(3), RANGE<2, TENSOR>(16)) -> fires
    test REDUCE<ADD>(MUL(a:f32, b:f32), RANGE<0, TENSOR>(16)) -> nomatch

  /// The same when the instruction is all.
  @fp(contract reduce_order) @proof(fuzz)
  rule core_whole: REDUCE<ADD>(_:!void, ..) if on_core(root) && len(core_loops(root)) == 0
    => EXTRACT(core_product(root), core_lane(root)):dtype(root)
    test(contract reduce_order) REDUCE<ADD>(MUL(CAST<f32>(LOAD(INDEX(p:ptr, ADD(RANGE<1, WARP>(8), ADD(RANGE<3, UNROLL>(2), RANGE<2, TENSOR>(16))))):bf16),
                          CAST<f32>(LOAD(INDEX(q:ptr, ADD(RANGE<0, WARP>(4), ADD(RANGE<4, UPCAST>(2), RANGE<2, TENSOR>(16))))):bf16)),
      RANGE<2, TENSOR>(16)) -> fires
    test REDUCE<ADD>(MUL(a:f32, b:f32), RANGE<0, TENSOR>(16)) -> nomatch
}

stage tensor { use tensor walk once fuel 4 }
