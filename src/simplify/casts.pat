// casts.pat - conversions. A CAST maps values, so a step through a dtype that holds every value of the source is none.
include "simplify/externs.pat"
c_include "simplify/simplify.h"

ruleset casts {
  @proof(smt)
  rule cast_same: CAST<'A>(x:'A) ~> x
    test CAST<f32>(v:f32) -> v:f32
  @proof(smt)
  rule bitcast_same: BITCAST<'A>(x:'A) ~> x
    test BITCAST<f32>(v:f32) -> v:f32
  /// Not by way of bool, which keeps only whether a byte is 0.
  @proof(smt)
  rule bitcast_twice: BITCAST<'B>(BITCAST(x):!bool) ~> BITCAST<'B>(x)
    test BITCAST<i32>(BITCAST<f32>(v:u32)) -> BITCAST<i32>(v:u32)
    test BITCAST<u8>(BITCAST<bool>(v:u8)) -> nomatch
  @proof(fuzz)
  rule cast_cast: CAST<'B>(m = CAST(x)) if cast_through(dtype(x), dtype(m), dtype(root)) ~> CAST<'B>(x)
    test CAST<f64>(CAST<f32>(v:i16)) -> CAST<f64>(v:i16)
    test CAST<i8>(CAST<i16>(v:i64)) -> CAST<i8>(v:i64)
    test CAST<f64>(CAST<f32>(v:i32)) -> nomatch
    test CAST<u8>(CAST<f32>(v:i8)) -> nomatch
  /// To bool is x != 0.
  @proof(smt)
  rule cast_bool: CAST<bool>(x:int|index|float) ~> NE(x, @zero)
    test CAST<bool>(v:i32) -> NE(v:i32, 0:i32)
  /// A bool as a number, compared with 0 or 1.
  @proof(smt)
  rule ne_zero_of_bool: NE(CAST(c:bool), @zero) ~> c
    test NE(CAST<i32>(v:bool), 0:i32) -> v:bool
  @proof(smt)
  rule eq_zero_of_bool: EQ(CAST(c:bool), @zero) ~> NOT(c)
    test EQ(CAST<f32>(v:bool), 0.0:f32) -> NOT(v:bool)
  @proof(smt)
  rule ne_one_of_bool: NE(CAST(c:bool), @one) ~> NOT(c)
    test NE(CAST<i32>(v:bool), 1:i32) -> NOT(v:bool)
  @proof(smt)
  rule eq_one_of_bool: EQ(CAST(c:bool), @one) ~> c
    test EQ(CAST<f32>(v:bool), 1.0:f32) -> v:bool
  /// A bool as an integer factor selects.
  @proof(smt)
  rule mul_bool: MUL[CAST(c:bool), y:int|index] ~> WHERE(c, y, @zero)
    test MUL(CAST<i32>(v:bool), w:i32) -> WHERE(v:bool, w:i32, 0:i32)
  @proof(smt)
  @order("a selection of constants never comes back")
  rule where_to_cast: WHERE(c, @one:int|float, @zero) ~> CAST(c):dtype(root)
    test WHERE(c:bool, 1:f32, 0:f32) -> CAST<f32>(c:bool)
  /// Comparisons do not change when both sides are converted without loss (and float to float keeps the order).
  @proof(smt)
  rule lt_casts: LT(a = CAST(x:'X), CAST(y:'X)) if exact(x, dtype(a)) && exact(y, dtype(a)) ~> LT(x, y)
    test LT(CAST<i64>(v:i32), CAST<i64>(w:i32)) -> LT(v:i32, w:i32)
  @proof(smt)
  rule ne_casts: NE(a = CAST(x:'X), CAST(y:'X)) if exact(x, dtype(a)) && exact(y, dtype(a)) ~> NE(x, y)
    test NE(CAST<f32>(v:i16), CAST<f32>(w:i16)) -> NE(v:i16, w:i16)
  @proof(smt)
  rule eq_casts: EQ(a = CAST(x:'X), CAST(y:'X)) if exact(x, dtype(a)) && exact(y, dtype(a)) ~> EQ(x, y)
    test EQ(CAST<i64>(v:i32), CAST<i64>(w:i32)) -> EQ(v:i32, w:i32)
  @proof(smt)
  rule lt_cast_const: LT(a = CAST(x:sint|index|u8|u16|u32):sint|index, #c)
    if exact(x, dtype(a)) && holds(dtype(x), c, c) => LT(x, #c)
    test LT(CAST<i64>(v:i32), 5:i64) -> LT(v:i32, 5:i32)
    test LT(CAST<i64>(v:i8), 500:i64) -> nomatch
    test LT(CAST<i32>(v:index in [0, 9]), 5:i32) -> LT(v, 5)
    test LT(CAST<i8>(v:index in [0, 200]), 5:i8) -> nomatch
  @proof(smt)
  rule gt_cast_const: LT(#c, a = CAST(x:sint|index|u8|u16|u32):sint|index)
    if exact(x, dtype(a)) && holds(dtype(x), c, c) => LT(#c, x)
    test LT(5:i64, CAST<i64>(v:i32)) -> LT(5:i32, v:i32)
  @proof(smt)
  rule eq_cast_const: EQ(a = CAST(x:sint|index|u8|u16|u32):sint|index, #c)
    if exact(x, dtype(a)) && holds(dtype(x), c, c) => EQ(x, #c)
    test EQ(CAST<i64>(v:i32), 5:i64) -> EQ(v:i32, 5:i32)
  @proof(smt)
  rule ne_cast_const: NE(a = CAST(x:sint|index|u8|u16|u32):sint|index, #c)
    if exact(x, dtype(a)) && holds(dtype(x), c, c) => NE(x, #c)
    test NE(CAST<i64>(v:i32), 5:i64) -> NE(v:i32, 5:i32)
  /// There and back: x fits in A, so nothing is lost on the way.
  @proof(smt)
  rule cast_back: CAST<'X>(a = CAST(x:'X)):int|index if exact(x, dtype(a)) ~> x
    test CAST<index>(CAST<i32>(v:index in [0, 9])) -> v:index in [0, 9]
    test CAST<index>(CAST<i8>(v:index in [0, 200])) -> nomatch
}
