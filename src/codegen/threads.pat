// threads.pat - what GLOBAL, LOCAL, WARP and GROUP_REDUCE ranges mean on a GPU. The ranges themselves become digits of the
// numbers of block and thread by one substitution at the end (un__threads).
include "simplify/tuple.pat"
c_include "codegen/threads.h"
c_include "codegen/expand.h"

extern pred dealt(n: node)
extern fn   own(n: node): nodes
extern fn   groups(n: node): nodes
extern fn   gets(tuple: node): nodes
extern fn   combine_of(c: node, xs: nodes): node

extern pred idle(n: node)
extern fn   once(n: node): node
extern fn   once_if(g: node, n: node): node
extern pred numbers(n: node)
extern fn   real_loops(n: node): nodes
extern fn   together(n: node): nodes
extern fn   only(xs: nodes): node
extern fn   copied(n: node): int

ruleset deal {
  /// Every thread reduces what it was dealt, then the threads' results are reduced.
  @proof(fuzz)
  rule deal_reduce: REDUCE<op>(x:!void, ..) if dealt(root) => REDUCE<op>(REDUCE<op>(x, *own(root)), *groups(root))
    test REDUCE<ADD>(CAST<i32>(RANGE<0, GROUP_REDUCE>(4)), RANGE<1, REDUCE>(3), RANGE<0, GROUP_REDUCE>(4))
      -> REDUCE<ADD>(REDUCE<ADD>(CAST<i32>(RANGE<0, GROUP_REDUCE>(4)), RANGE<1, REDUCE>(3)), RANGE<0, GROUP_REDUCE>(4))
    test REDUCE<ADD>(CAST<i32>(RANGE<0, GROUP_REDUCE>(4)), RANGE<0, GROUP_REDUCE>(4)) -> nomatch
    test REDUCE<ADD>(CAST<i32>(RANGE<0, REDUCE>(4)), RANGE<0, REDUCE>(4)) -> nomatch

  /// The same for a tuple.
  @proof(fuzz)
  rule deal_tuple: REDUCE<COMBINE>(c = COMBINE(..), ..) if dealt(root)
    => REDUCE<COMBINE>(combine_of(c, gets(REDUCE<COMBINE>(c, *own(root)))), *groups(root))
    test REDUCE<COMBINE>(COMBINE(TUPLE(ADD(ARG<0>():i32, ARG<1>():i32)), CAST<i32>(RANGE<0, GROUP_REDUCE>(4)), 0:i32), RANGE<1, REDUCE>(3), RANGE<0, GROUP_REDUCE>(4)) -> fires
    test REDUCE<COMBINE>(COMBINE(TUPLE(ADD(ARG<0>():i32, ARG<1>():i32)), CAST<i32>(RANGE<0, REDUCE>(4)), 0:i32), RANGE<0, REDUCE>(4)) -> nomatch
}

ruleset threads ctx un__threading {
  /// What many threads have, one of them stores.
  @proof(fuzz)
  rule store_once: STORE(INDEX(p, i), v) if idle(root) => STORE(INDEX(p, i, once(root)), v)
    test STORE(INDEX(p:ptr, v:index), w:f32) -> fires
    test STORE(INDEX(p:ptr, RANGE<0, LOCAL>(8)), w:f32) -> nomatch

  /// The same where the store has a gate already.
  @proof(fuzz)
  rule store_once_guarded: STORE(INDEX(p, i, g:bool), v) if idle(root) => STORE(INDEX(p, i, once_if(g, root)), v)
    test STORE(INDEX(p:ptr, v:index, c:bool), w:f32) -> fires
    test STORE(INDEX(p:ptr, RANGE<0, LOCAL>(8), c:bool), w:f32) -> nomatch

  /// A number that the launch gives is no loop.
  @proof(fuzz)
  rule end_of_numbers: END(t, ..) if numbers(root) && len(real_loops(root)) > 0 => END(t, *real_loops(root))
    test END(STORE(INDEX(p:ptr, RANGE<0, LOCAL>(8)), w:f32), RANGE<1, LOOP>(2), RANGE<0, LOCAL>(8))
      -> END(STORE(INDEX(p, RANGE<0, LOCAL>(8)), w), RANGE<1, LOOP>(2))
    test END(STORE(INDEX(p:ptr, RANGE<0, LOCAL>(8)), w:f32), RANGE<0, LOCAL>(8)) -> nomatch

  /// The same when there are no others.
  @proof(fuzz)
  rule end_of_all: END(t:void, ..) if numbers(root) && len(real_loops(root)) == 0 => t
    test END(STORE(INDEX(p:ptr, RANGE<0, LOCAL>(8)), w:f32), RANGE<0, LOCAL>(8)) -> STORE(INDEX(p, RANGE<0, LOCAL>(8)), w)
    test END(STORE(INDEX(p:ptr, RANGE<1, LOOP>(8)), w:f32), RANGE<1, LOOP>(8)) -> nomatch

  /// What the threads of a group have is combined: all of them get the same, bit for bit.
  @proof(fuzz)
  rule reduce_together: REDUCE<_>(_:!void, ..) => only(together(root))
    test REDUCE<ADD>(v:i32, RANGE<1, GROUP_REDUCE>(4)) -> fires
    test REDUCE<ADD>(v:i32, RANGE<2, REDUCE>(4)) -> nomatch

  /// The same for a tuple.
  @proof(fuzz)
  rule reduce_tuple_together: REDUCE<COMBINE>(COMBINE(..), ..) => TUPLE(*together(root))
    test REDUCE<COMBINE>(COMBINE(TUPLE(ADD(ARG<0>():i32, ARG<1>():i32)), v:i32, 0:i32), RANGE<1, GROUP_REDUCE>(4)) -> fires
    test REDUCE<COMBINE>(COMBINE(TUPLE(ADD(ARG<0>():i32, ARG<1>():i32)), v:i32, 0:i32), RANGE<2, REDUCE>(4)) -> nomatch
}

ruleset copies ctx un__threading {
  /// What may be stored late is copied without passing through registers.
  @proof(fuzz)
  rule copy_async: STORE(to = INDEX(_, ..), ASYNC(LOAD(from = INDEX(_, ..)))) => COPY_ASYNC<copied(root)>(to, from)
    test STORE(INDEX(p:ptr, v:index), ASYNC(LOAD(INDEX(q:ptr, w:index)):f32)) -> COPY_ASYNC<1>(INDEX(p, v), INDEX(q, w))
    test STORE(INDEX(p:ptr, v:index), LOAD(INDEX(q:ptr, w:index)):f32) -> nomatch
}

stage deal { use deal, tuple walk once fuel 4 }
stage threads { use threads, copies, tuple walk once fuel 4 }
