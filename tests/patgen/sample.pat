// Rules that use every part of the language; their tests run in the build. Not part of the library.
c_include "sample_ctx.h"

opset Foldable = NEG | ADD | MUL | MAX | FLOORDIV | FLOORMOD | LT | NE | AND | OR | XOR | WHERE
opset Assoc    = ADD | MUL | MAX | AND | OR | XOR

pred pow2(c: int) = c > 0 && (c & (c - 1)) == 0
fn twice(x: node): node = x + x
fn wide(x: node): dtype = is_float(x) ? f64 : i64
extern pred indep(x: node, r: nodes)
extern pred lossless(a: dtype, b: dtype)
extern fn   reversed(i: nodes, p: attr): nodes
extern fn   split_of(r: node): int
extern fn   negated(x: node): node

ruleset fold {
  /// Pure op on constants: the reference evaluator.
  @proof(eval)
  for op in Foldable {
    rule const_fold: op(*cs:const) => #eval(op, *cs)
      test ADD(2:i32, 3:i32) -> 5:i32
      test FLOORDIV(7:index, 2:index) -> 3:index
      test LT(1.0:f32, 2.0:f32) -> @true:bool
      test NEG(v:i32) -> nomatch
  }

  /// x + 0 is x. For floats x + +0.0 turns -0.0 into +0.0, hence nsz.
  @fp(nsz) @proof(smt)
  rule add_zero: ADD[x, @zero] ~> x
    test ADD(0:i32, v:i32) -> v
    test ADD(v:f32, 0.0:f32) -> nomatch
    test(nsz) ADD(v:f32, 0.0:f32) -> v
    test(nsz) ADD(v:f32, -0.0:f32) -> v

  @proof(smt)
  rule mul_zero: MUL[_:int|bool|index, z = @zero] ~> z
    test MUL(v:f32, 0.0:f32) -> nomatch
    test MUL(0:u8, v:u8) -> 0:u8

  @fp(reassoc)
  for op in Assoc {
    rule assoc_const: op[op[x, #a], #b] => op(x, #eval(op, a, b))
      test ADD(ADD(v:i32, 2:i32), 3:i32) -> ADD(v, 5:i32)
      test AND(AND(v:u8, 12:u8), 6:u8) -> AND(v, 4:u8)
      test MUL(MUL(v:f32, 2.0:f32), 3.0:f32) -> nomatch
      test(reassoc) MUL(MUL(v:f32, 2.0:f32), 3.0:f32) -> MUL(v, 6.0:f32)
  }

  for op in Assoc {
    rule identity: op[x:int|bool|index, @ident(op)] ~> x
      test MUL(v:i32, 1:i32) -> v
      test AND(v:u8, 255:u8) -> v
      test MAX(v:i8, -128:i8) -> v
      test ADD(v:i8, 1:i8) -> nomatch
  }
}

ruleset where_fold {
  @proof(smt, inst) @proof(fuzz, rtol 1e-5) @eg(subsume) @overlap(where_const)
  rule where_same: WHERE(_, x, x) ~> x
    test WHERE(c:bool, v:f32, v) -> v
    test WHERE(c:bool, v:f32, w:f32) -> nomatch
  rule where_const: WHERE(#c:bool, t, f) ~> c ? t : f
    test WHERE(@true:bool, v:f32, w:f32) -> v
    test WHERE(@false:bool, v:f32, w:f32) -> w
  rule where_not: WHERE(NE[c:bool, @true], t, f) if !is_invalid(f) ~> WHERE(c, f, t)
    test WHERE(NE(c:bool, @true:bool), v:f32, w:f32) -> WHERE(c, w, v)
    test WHERE(NE(@true:bool, c:bool), v:index, @invalid) -> nomatch
  rule where_nest: WHERE(a, WHERE(b, x, y), y) ~> WHERE(a & b, x, y)
    test WHERE(a:bool, WHERE(b:bool, v:i32, w:i32), w) -> WHERE(AND(a, b), v, w)
}

ruleset divmod : fold {
  /// The whole range of x falls in one bucket.
  rule fdiv_bucket: FLOORDIV(x:index, #c)
    if c != 0  let q = fdiv(vmin(x), c)  if fdiv(vmax(x), c) == q => #q
    test FLOORDIV(v:index in [8, 11], 4:index) -> 2:index
    test FLOORDIV(v:index in [8, 12], 4:index) -> nomatch
    test FLOORDIV(v:index in [8, 12], 0:index) -> nomatch
  rule fmod_small: FLOORMOD(x:index, #c) if x in [0, c) ~> x
    test FLOORMOD(v:index in [0, 4), 4:index) -> v
    test FLOORMOD(v:index in [0, 4], 4:index) -> nomatch
  rule fdiv_fdiv: FLOORDIV(FLOORDIV(x:index, #a), #b) if b > 0 && a != 0 => FLOORDIV(x, #(a * b))
    test FLOORDIV(FLOORDIV(v:index, 3:index), 4:index) -> FLOORDIV(v, 12:index)
    test FLOORDIV(FLOORDIV(v:index, 3:index), -4:index) -> nomatch
    test FLOORDIV(FLOORDIV(v:index, 0x7000000000000000:index), 4:index) -> nomatch
  rule fdiv_addmul: FLOORDIV(ADD[MUL[x, #c], y:index], #c) if c != 0 ~> x + FLOORDIV(y, #c)
    test FLOORDIV(ADD(v:index, MUL(w:index, 3:index)), 3:index) -> ADD(w, FLOORDIV(v, 3:index))
    test FLOORDIV(ADD(v:index, MUL(w:index, 3:index)), 2:index) -> nomatch
  rule lt_add: LT(ADD[x:index, #a], #b) => LT(x, #(b - a))
    test LT(ADD(v:index, 3:index), 5:index) -> LT(v, 2)
  rule recombine: ADD[MUL[FLOORDIV(x:index, #c), #c], FLOORMOD(x, #c)] if c != 0 ~> x
    test ADD(MUL(FLOORDIV(v:index, 3:index), 3:index), FLOORMOD(v, 3:index)) -> v
    test ADD(FLOORMOD(v:index, 3:index), MUL(FLOORDIV(v, 3:index), 3:index)) -> v
  rule mul_pow2: MUL(x:u32|i32, #c) if is_pow2(c) && pow2(c) && c > 1 => SHL(x, #log2(c))
    test MUL(v:i32, 8:i32) -> SHL(v, 3:i32)
    test MUL(v:i32, 6:i32) -> nomatch
  rule square_of: ADD(MUL(x:i32, x), ^(2 * 3 - 2)) ~> MULACC(x, x, 4)
    test ADD(MUL(v:i32, v), 4:i32) -> MULACC(v, v, 4:i32)
    test ADD(MUL(v:i32, v), 5:i32) -> nomatch
}

ruleset casts {
  rule cast_cast: CAST<'B>(CAST<'A>(x:'X)) if lossless('X, 'A) ~> CAST<'B>(x)
    test CAST<i64>(CAST<i32>(v:i16)) -> CAST<i64>(v)
    test CAST<i64>(CAST<i8>(v:i16)) -> nomatch
  rule cast_where: CAST<f32>(WHERE(c, #a:bool, #_)) ~> WHERE(c, a ? @one:f32 : @zero, @minus_one)
    test CAST<f32>(WHERE(c:bool, @true, @false)) -> WHERE(c, 1.0:f32, -1.0:f32)
  rule half: FDIV(x, 2.0) ~> x * 0.5
    test FDIV(v:f32, 2.0:f32) -> MUL(v, 0.5)
    test FDIV(v:f64, 2.0:f64) -> MUL(v, 0.5)
  rule sqrt_twice: SQRT(x:f64) ~> twice(x):f64
    test SQRT(v:f64) -> ADD(v, v)
    test SQRT(only_in_tests(v:f32)) -> nomatch
  rule widen: TRUNC(x:f32) ~> CAST<f32>(TRUNC(CAST<wide_of(x)>(x)))
    test TRUNC(v:f32) -> CAST<f32>(TRUNC(CAST<f64>(v)))
}
fn only_in_tests(x: node): node = twice(x) - x
fn wide_of(x: node): dtype = wide(x)

ruleset reduce : where_fold {
  @fp(reassoc) @proof(smt, unroll 4) @order("products move outwards")
  rule reduce_factor: REDUCE<ADD>(MUL[x, y], *r) if indep(y, r) ~> MUL(REDUCE<ADD>(x, *r), y)
    test REDUCE<ADD>(MUL(CAST<i32>(RANGE<0, REDUCE>(8)), v:i32), RANGE<0, REDUCE>(8)) -> MUL(REDUCE<ADD>(CAST<i32>(RANGE<0, REDUCE>(8)), RANGE<0, REDUCE>(8)), v)
  rule push: NEG(m = {SQRT|FLOOR|TRUNC}(x)) => with_src(m, negated(x))
    test NEG(FLOOR(v:f32)) -> FLOOR(NEG(v))
    test NEG(NEG(v:f32)) -> nomatch
}

ruleset mops ctx sample_ctx {
  rule reshape_twice: RESHAPE(RESHAPE(x, ..), *d) ~> RESHAPE(x, *d)
    test RESHAPE(RESHAPE(v:f32, 1, 1), 1) -> RESHAPE(v, 1)
  rule index_any: INDEX(m = {RESHAPE|EXPAND}(x, *d), *i) if len(i) == 2 && len(d) == 2 => {
    // The block sees captures by name; braces in "strings }" and '}' do not count.
    const un_uop *src[3] = {x, i.at[1], i.at[0]};
    if (i.n != 2 || root->op != UN__OP_INDEX || m->op == UN__OP_EXPAND) DECLINE;
    if ((cx && cx->off) || !x->shape || x->shape->rank != 2) DECLINE;
    return un__uop(rw->g, UN__OP_INDEX, x->dtype, src, 3, NULL, 0);
  }
    test INDEX(RESHAPE(BUFFER<0, 0>(2, 3):f32, 3, 2), a:index in [0, 1], b:index in [0, 1]) -> INDEX(BUFFER<0, 0>(2, 3):f32, b, a)
    test INDEX(RESHAPE(BUFFER<0, 0>(6):f32, 3, 2), a:index in [0, 1], b:index in [0, 1]) -> nomatch
}

ruleset split ctx sample_ctx {
  rule split_range: r = RANGE<_, LOOP>(#n) let k = split_of(r)  if k > 1 && n % k == 0
    => RANGE<fresh(), LOOP>(#(n / k)) * #k + RANGE<fresh(), UPCAST>(#k)
    test RANGE<7, LOOP>(8) -> ADD(MUL(RANGE<0, LOOP>(2), 4), RANGE<1, UPCAST>(4))
    test RANGE<7, REDUCE>(8) -> nomatch
    test RANGE<7, LOOP>(7) -> nomatch
  rule perm: PERMUTE<p>(PERMUTE<p>(x)) if len(p) == 2 && p2(len(p)) ~> x
    test PERMUTE<1, 0>(PERMUTE<1, 0>(BUFFER<0, 0>(2, 3):f32)) -> BUFFER<0, 0>(2, 3):f32
    test PERMUTE<0, 1>(PERMUTE<1, 0>(BUFFER<0, 0>(2, 3):f32)) -> nomatch
  rule perm_any: PERMUTE<p>(EXPAND(x, *d)) if len(d) == 2 => EXPAND(PERMUTE<1, 0>(x), *reversed(d, p))
    test PERMUTE<1, 0>(EXPAND(BUFFER<0, 0>(1, 3):f32, 2, 3)) -> EXPAND(PERMUTE<1, 0>(BUFFER<0, 0>(1, 3):f32), 3, 2)
  rule axis_of: END(s, r = RANGE<id, ax>(_), *rest) if attr(r, axis) == REDUCE && ax == attr(r, axis) ~> END(s, *rest, RANGE<id, UNROLL>(4))
    test END(BARRIER(), RANGE<3, REDUCE>(8)) -> END(BARRIER(), RANGE<3, UNROLL>(4))
    test END(BARRIER(), RANGE<3, LOOP>(8)) -> nomatch
}
pred p2(x: int) = x in [2, 2] || x in [4, 5)

stage simplify { use fold, where_fold, divmod, casts, reduce  walk post  fix node  fuel 64 }
stage lower_mops { use mops, fold  walk pre  fuel 256 }
stage shrink { use where_fold  walk post  fix none  order nodes(WHERE), nodes(*) }
