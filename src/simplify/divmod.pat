// divmod.pat - floor division and modulus of index expressions by constants, and by sizes that are not known.
//
// Of a divisor c > 0 the dividend is a sum of terms a*t and a constant. The terms that c divides leave the division;
// a common factor of the rest cancels; what lies in one bucket of c has no quotient. `multiple(x, g)` and `rest(x,
// g)` are the two halves of x = g*multiple + rest; choosing g is C's part (terms.c), the identity used is the rule's.
//
// Why it ends: each rule lowers (sum of divisors, terms below a division, nodes), except fdiv_of_fmod, which lowers the
// number of divisions above moduli.
include "simplify/externs.pat"
c_include "simplify/simplify.h"

ruleset divmod {
  // ---- any integers ----

  @proof(smt)
  rule fdiv_one: FLOORDIV(x, @one) ~> x
    test FLOORDIV(v:i32, 1:i32) -> v:i32
  @proof(smt)
  rule fmod_one: FLOORMOD(_, @one) ~> @zero
    test FLOORMOD(v:i32, 1:i32) -> 0:i32
  /// The op table says that x // 0 is 0 and x mod 0 is x.
  @proof(smt)
  rule fdiv_zero: FLOORDIV(_, z = @zero) ~> z
    test FLOORDIV(v:i32, 0:i32) -> 0:i32
  @proof(smt)
  rule fmod_zero: FLOORMOD(x, @zero) ~> x
    test FLOORMOD(v:i32, 0:i32) -> v:i32
  @proof(smt)
  rule fdiv_of_zero: FLOORDIV(z = @zero, _) ~> z
    test FLOORDIV(0:i32, v:i32) -> 0:i32
  @proof(smt)
  rule fmod_of_zero: FLOORMOD(z = @zero, _) ~> z
    test FLOORMOD(0:i32, v:i32) -> 0:i32
  @proof(smt)
  rule tdiv_one: TRUNCDIV(x, @one) ~> x
    test TRUNCDIV(v:i32, 1:i32) -> v:i32
  @proof(smt)
  rule tmod_one: TRUNCMOD(_, @one) ~> @zero
    test TRUNCMOD(v:i32, 1:i32) -> 0:i32
  /// Without negative operands the two divisions are one.
  @proof(smt)
  rule tdiv_to_fdiv: TRUNCDIV(x:int|index, y) if vmin(x) >= 0 && vmin(y) >= 0 ~> FLOORDIV(x, y)
    test TRUNCDIV(v:index in [0, 9], 4:index) -> FLOORDIV(v:index in [0, 9], 4:index)
  @proof(smt)
  rule tmod_to_fmod: TRUNCMOD(x:int|index, y) if vmin(x) >= 0 && vmin(y) >= 0 ~> FLOORMOD(x, y)
    test TRUNCMOD(v:index in [0, 9], 4:index) -> FLOORMOD(v:index in [0, 9], 4:index)
  /// A value below the divisor has no quotient.
  @proof(smt)
  rule fdiv_small: FLOORDIV(x:int|index, y) if vmin(x) >= 0 && vmax(x) < vmin(y) ~> @zero
    test FLOORDIV(v:index in [0, 3], 4:index) -> 0:index
  @proof(smt)
  rule fmod_small: FLOORMOD(x:int|index, y) if vmin(x) >= 0 && vmax(x) < vmin(y) ~> x
    test FLOORMOD(v:index in [0, 3], 4:index) -> v:index in [0, 3]
    test FLOORMOD(v:index in [0, 4], 4:index) -> nomatch

  // ---- constants as divisors ----

  @proof(smt)
  @order("negative divisors get fewer")
  rule fdiv_negative: FLOORDIV(x:index, #c) if c < 0 => FLOORDIV(MUL(x, @minus_one), #(0 - c))
    test FLOORDIV(v:index, -3:index) -> FLOORDIV(MUL(v:index, -1:index), 3:index)
  @proof(smt)
  @order("negative divisors get fewer")
  rule fmod_negative: FLOORMOD(x:index, #c) if c < 0 => MUL(FLOORMOD(MUL(x, @minus_one), #(0 - c)), @minus_one)
    test FLOORMOD(v:index, -3:index) -> MUL(FLOORMOD(MUL(v:index, -1:index), 3:index), -1:index)
  /// The whole range of x falls in one bucket.
  @proof(smt)
  rule fmod_bucket: FLOORMOD(x:index, #c)
    if c > 0 && vmin(x) > -4611686018427387904 && vmax(x) < 4611686018427387904
    let q = fdiv(vmin(x), c) if fdiv(vmax(x), c) == q => ADD(x, #(0 - q * c))
    test FLOORMOD(v:index in [8, 11], 4:index) -> ADD(v:index in [8, 11], -8:index)
    test FLOORMOD(v:index in [7, 11], 4:index) -> nomatch
  /// Coefficients by which c divides nearly: all of the quotient is known.
  @proof(fuzz)
  @order("the division goes, and what is left is a part of its dividend")
  rule fdiv_whole: FLOORDIV(x:index, #c) if c > 1 => whole_quotient(x, c)
    test FLOORDIV(ADD(MUL(v:index in [0, 1], 5:index), w:index in [0, 2]), 4:index) -> v:index in [0, 1]
  @proof(fuzz)
  @order("the division goes, and what is left is a part of its dividend")
  rule fmod_whole: FLOORMOD(x:index, #c) if c > 1 => whole_remainder(x, c)
    test FLOORMOD(ADD(MUL(v:index, 4:index), w:index in [0, 3]), 4:index) -> w:index in [0, 3]

  // ---- nested ----

  /// Floor division only.
  @proof(smt)
  rule fdiv_fdiv: FLOORDIV(FLOORDIV(x:index, #a), #b) if a > 0 && b > 0 => FLOORDIV(x, #(a * b))
    test FLOORDIV(FLOORDIV(v:index, 3:index), 4:index) -> FLOORDIV(v:index, 12:index)
  @proof(smt)
  rule fdiv_fdiv_add: FLOORDIV(ADD(FLOORDIV(x:index, #a), #k), #b) if a > 0 && b > 0
    => FLOORDIV(ADD(x, #(k * a)), #(a * b))
    test FLOORDIV(ADD(FLOORDIV(v:index, 3:index), 2:index), 4:index) -> FLOORDIV(ADD(v:index, 6:index), 12:index)
  @proof(smt)
  rule fmod_fmod: FLOORMOD(FLOORMOD(x:index, #a), #b) if b > 0 && a % b == 0 ~> FLOORMOD(x, #b)
    test FLOORMOD(FLOORMOD(v:index, 12:index), 4:index) -> FLOORMOD(v:index, 4:index)
    test FLOORMOD(FLOORMOD(v:index, 6:index), 4:index) -> nomatch
  @proof(smt)
  @order("divisions above moduli get fewer, divisors do not grow")
  rule fdiv_of_fmod: FLOORDIV(FLOORMOD(x:index, #a), #b) if b > 1 && a > 0 && a % b == 0
    ~> FLOORMOD(FLOORDIV(x, #b), #(a / b))
    test FLOORDIV(FLOORMOD(v:index, 12:index), 4:index) -> FLOORMOD(FLOORDIV(v:index, 4:index), 3:index)
  @proof(fuzz)
  @order("moduli below moduli get fewer")
  rule fmod_inner: FLOORMOD(x:index, #c) if c > 1 => FLOORMOD(without_inner_mod(x, c), #c)
    test FLOORMOD(ADD(FLOORMOD(v:index, 12:index), w:index), 4:index) -> FLOORMOD(ADD(v:index, w:index), 4:index)

  // ---- sums ----

  /// (g*X + r) // (g*d) is X // d for r in [0, g).
  @proof(fuzz)
  @order("the divisor shrinks")
  rule fdiv_factor: FLOORDIV(x:index, #c) if c > 1 let g = factor(x, c) => FLOORDIV(multiple(x, g), #(c / g))
    test FLOORDIV(ADD(MUL(v:index, 4:index), w:index in [0, 3]), 12:index) -> FLOORDIV(v:index, 3:index)
    test FLOORDIV(ADD(MUL(v:index, 4:index), w:index in [0, 4]), 12:index) -> nomatch
  /// (g*X + r) mod (g*d) is g*(X mod d) + r.
  @proof(fuzz)
  @order("the divisor shrinks")
  rule fmod_factor: FLOORMOD(x:index, #c) if c > 1 let g = factor(x, c)
    => ADD(MUL(FLOORMOD(multiple(x, g), #(c / g)), #g), rest(x, g))
    test FLOORMOD(ADD(MUL(v:index, 4:index), w:index in [0, 3]), 12:index)
      -> ADD(MUL(FLOORMOD(v:index, 3:index), 4:index), w:index in [0, 3])
  /// (c*X + r) // c is X + r // c.
  @proof(fuzz)
  @order("terms below a division get fewer")
  rule fdiv_pull: FLOORDIV(x:index, #c) if c > 1 && has_multiple(x, c)
    => ADD(multiple(x, c), FLOORDIV(rest(x, c), #c))
    test FLOORDIV(ADD(MUL(v:index, 8:index), w:index), 4:index)
      -> ADD(MUL(v:index, 2:index), FLOORDIV(w:index, 4:index))
    test FLOORDIV(ADD(v:index, 5:index), 4:index) -> ADD(1:index, FLOORDIV(ADD(v:index, 1:index), 4:index))
  @proof(fuzz)
  @order("coefficients below a division shrink")
  rule fmod_reduce: FLOORMOD(x:index, #c) if c > 1 => FLOORMOD(reduced(x, c), #c)
    test FLOORMOD(ADD(MUL(v:index, 8:index), w:index), 4:index) -> FLOORMOD(w:index, 4:index)
    test FLOORMOD(MUL(v:index, 7:index), 4:index) -> FLOORMOD(MUL(v:index, 3:index), 4:index)

  // ---- sizes that are not known ----

  @proof(smt)
  rule fdiv_self: FLOORDIV(x:index|int, x) if vmin(x) > 0 ~> @one
    test FLOORDIV(v:index in [1, 9], v:index in [1, 9]) -> 1:index
  @proof(smt)
  rule fmod_self: FLOORMOD(x:index|int, x) ~> @zero
    test FLOORMOD(v:index, v:index) -> 0:index
  @proof(smt)
  rule fdiv_mul: FLOORDIV(MUL[x:index, y], y) if vmin(y) > 0 ~> x
    test FLOORDIV(MUL(v:index, w:index in [1, 9]), w:index in [1, 9]) -> v:index
  @proof(smt)
  rule fmod_mul: FLOORMOD(MUL[_:index, y], y) ~> @zero
    test FLOORMOD(MUL(v:index, w:index), w:index) -> 0:index
  @proof(smt)
  rule fdiv_mul_add: FLOORDIV(ADD[MUL[x:index, y], z], y) if vmin(y) > 0 ~> ADD(x, FLOORDIV(z, y))
    test FLOORDIV(ADD(MUL(v:index, w:index in [1, 9]), u:index), w:index in [1, 9])
      -> ADD(v:index, FLOORDIV(u:index, w:index in [1, 9]))
  @proof(smt)
  rule fmod_mul_add: FLOORMOD(ADD[MUL[_:index, y], z], y) if vmin(y) > 0 ~> FLOORMOD(z, y)
    test FLOORMOD(ADD(MUL(v:index, w:index in [1, 9]), u:index), w:index in [1, 9])
      -> FLOORMOD(u:index, w:index in [1, 9])
  /// A factor common to both: (x*k) // (n*k) is x // n.
  @proof(smt)
  rule fdiv_common: FLOORDIV(MUL(x:index, #a), MUL(y, #b)) if a > 0 && a == b ~> FLOORDIV(x, y)
    test FLOORDIV(MUL(v:index, 4:index), MUL(w:index, 4:index)) -> FLOORDIV(v:index, w:index)
  @proof(smt)
  rule fmod_common: FLOORMOD(MUL(x:index, #a), MUL(y, #b)) if a > 0 && a == b ~> MUL(FLOORMOD(x, y), #a)
    test FLOORMOD(MUL(v:index, 4:index), MUL(w:index, 4:index)) -> MUL(FLOORMOD(v:index, w:index), 4:index)
  /// A loop variable is below its size.
  @proof(fuzz)
  rule fdiv_range: FLOORDIV(RANGE(n), n) ~> @zero
    test FLOORDIV(RANGE<0, LOOP>(v:index), v:index) -> 0:index
  @proof(fuzz)
  rule fmod_range: FLOORMOD(r = RANGE(n), n) ~> r
    test FLOORMOD(RANGE<0, LOOP>(v:index), v:index) -> RANGE<0, LOOP>(v:index)
}

ruleset recombine {
  // ---- (x//c)*c + x%c and its kin; q is the position of the upper digit, p of the lower. `e == a*d` says that the
  //      digits are neighbours. Chains keep the parts of one dividend side by side (`after`), so neighbours suffice.

  @proof(smt)
  rule whole: ADD[MUL(FLOORDIV(x:index, #c), #e), FLOORMOD(x, #c)] if c > 0 && e == c ~> x
    test ADD(MUL(FLOORDIV(v:index, 4:index), 4:index), FLOORMOD(v:index, 4:index)) -> v:index
  @proof(smt)
  rule whole_times: ADD[MUL(FLOORDIV(x:index, #c), #e), MUL(FLOORMOD(x, #c), #d)] if c > 0 && e == c * d
    ~> MUL(x, #d)
    test ADD(MUL(FLOORDIV(v:index, 4:index), 12:index), MUL(FLOORMOD(v:index, 4:index), 3:index))
      -> MUL(v:index, 3:index)
  @proof(smt)
  rule top: ADD[MUL(FLOORDIV(x:index, #q), #e), FLOORMOD(FLOORDIV(x, #p), #a)]
    if p > 0 && a > 0 && q == p * a && e == a ~> FLOORDIV(x, #p)
    test ADD(MUL(FLOORDIV(v:index, 12:index), 4:index), FLOORMOD(FLOORDIV(v:index, 3:index), 4:index))
      -> FLOORDIV(v:index, 3:index)
  @proof(smt)
  rule top_times: ADD[MUL(FLOORDIV(x:index, #q), #e), MUL(FLOORMOD(FLOORDIV(x, #p), #a), #d)]
    if p > 0 && a > 0 && q == p * a && e == a * d ~> MUL(FLOORDIV(x, #p), #d)
    test ADD(MUL(FLOORDIV(v:index, 12:index), 8:index), MUL(FLOORMOD(FLOORDIV(v:index, 3:index), 4:index), 2:index))
      -> MUL(FLOORDIV(v:index, 3:index), 2:index)
  @proof(smt)
  rule digits: ADD[MUL(FLOORMOD(FLOORDIV(x:index, #a), #b), #e), FLOORMOD(x, #a)] if a > 0 && b > 0 && e == a
    => FLOORMOD(x, #(a * b))
    test ADD(MUL(FLOORMOD(FLOORDIV(v:index, 3:index), 4:index), 3:index), FLOORMOD(v:index, 3:index))
      -> FLOORMOD(v:index, 12:index)
  @proof(smt)
  rule digits_times: ADD[MUL(FLOORMOD(FLOORDIV(x:index, #a), #b), #e), MUL(FLOORMOD(x, #a), #d)]
    if a > 0 && b > 0 && e == a * d => MUL(FLOORMOD(x, #(a * b)), #d)
    test ADD(MUL(FLOORMOD(FLOORDIV(v:index, 3:index), 4:index), 6:index), MUL(FLOORMOD(v:index, 3:index), 2:index))
      -> MUL(FLOORMOD(v:index, 12:index), 2:index)
  @proof(smt)
  rule mid: ADD[MUL(FLOORMOD(FLOORDIV(x:index, #q), #b), #e), FLOORMOD(FLOORDIV(x, #p), #a)]
    if p > 0 && a > 0 && b > 0 && q == p * a && e == a => FLOORMOD(FLOORDIV(x, #p), #(a * b))
    test ADD(MUL(FLOORMOD(FLOORDIV(v:index, 6:index), 5:index), 3:index), FLOORMOD(FLOORDIV(v:index, 2:index), 3:index))
      -> FLOORMOD(FLOORDIV(v:index, 2:index), 15:index)
  @proof(smt)
  rule mid_times: ADD[MUL(FLOORMOD(FLOORDIV(x:index, #q), #b), #e), MUL(FLOORMOD(FLOORDIV(x, #p), #a), #d)]
    if p > 0 && a > 0 && b > 0 && q == p * a && e == a * d => MUL(FLOORMOD(FLOORDIV(x, #p), #(a * b)), #d)
    test ADD(MUL(FLOORMOD(FLOORDIV(v:index, 6:index), 5:index), 6:index),
             MUL(FLOORMOD(FLOORDIV(v:index, 2:index), 3:index), 2:index))
      -> MUL(FLOORMOD(FLOORDIV(v:index, 2:index), 15:index), 2:index)
  /// x - (x//c)*c is x%c, x - x%c is (x//c)*c.
  @proof(smt)
  rule minus_floor: ADD[x:index, MUL(FLOORDIV(x, #c), #e)] if c > 0 && e == 0 - c ~> FLOORMOD(x, #c)
    test ADD(v:index, MUL(FLOORDIV(v:index, 4:index), -4:index)) -> FLOORMOD(v:index, 4:index)
  @proof(smt)
  rule minus_mod: ADD[x:index, MUL(FLOORMOD(x, #c), -1)] if c > 0 ~> MUL(FLOORDIV(x, #c), #c)
    test ADD(v:index, MUL(FLOORMOD(v:index, 4:index), -1:index)) -> MUL(FLOORDIV(v:index, 4:index), 4:index)

  // ---- the same inside a chain y + upper + lower ----

  @proof(smt)
  rule chain_whole: ADD[ADD[y, MUL(FLOORDIV(x:index, #c), #e)], FLOORMOD(x, #c)] if c > 0 && e == c ~> ADD(y, x)
    test ADD(ADD(w:index, MUL(FLOORDIV(v:index, 4:index), 4:index)), FLOORMOD(v:index, 4:index))
      -> ADD(w:index, v:index)
  @proof(smt)
  rule chain_whole_times: ADD[ADD[y, MUL(FLOORDIV(x:index, #c), #e)], MUL(FLOORMOD(x, #c), #d)]
    if c > 0 && e == c * d ~> ADD(y, MUL(x, #d))
    test ADD(ADD(w:index, MUL(FLOORDIV(v:index, 4:index), 12:index)), MUL(FLOORMOD(v:index, 4:index), 3:index))
      -> ADD(w:index, MUL(v:index, 3:index))
  @proof(smt)
  rule chain_top: ADD[ADD[y, MUL(FLOORDIV(x:index, #q), #e)], FLOORMOD(FLOORDIV(x, #p), #a)]
    if p > 0 && a > 0 && q == p * a && e == a ~> ADD(y, FLOORDIV(x, #p))
    test ADD(ADD(w:index, MUL(FLOORDIV(v:index, 12:index), 4:index)), FLOORMOD(FLOORDIV(v:index, 3:index), 4:index))
      -> ADD(w:index, FLOORDIV(v:index, 3:index))
  @proof(smt)
  rule chain_top_times: ADD[ADD[y, MUL(FLOORDIV(x:index, #q), #e)], MUL(FLOORMOD(FLOORDIV(x, #p), #a), #d)]
    if p > 0 && a > 0 && q == p * a && e == a * d ~> ADD(y, MUL(FLOORDIV(x, #p), #d))
    test ADD(ADD(w:index, MUL(FLOORDIV(v:index, 12:index), 8:index)),
             MUL(FLOORMOD(FLOORDIV(v:index, 3:index), 4:index), 2:index))
      -> ADD(w:index, MUL(FLOORDIV(v:index, 3:index), 2:index))
  @proof(smt)
  rule chain_digits: ADD[ADD[y, MUL(FLOORMOD(FLOORDIV(x:index, #a), #b), #e)], FLOORMOD(x, #a)]
    if a > 0 && b > 0 && e == a => ADD(y, FLOORMOD(x, #(a * b)))
    test ADD(ADD(w:index, MUL(FLOORMOD(FLOORDIV(v:index, 3:index), 4:index), 3:index)), FLOORMOD(v:index, 3:index))
      -> ADD(w:index, FLOORMOD(v:index, 12:index))
  @proof(smt)
  rule chain_digits_times: ADD[ADD[y, MUL(FLOORMOD(FLOORDIV(x:index, #a), #b), #e)], MUL(FLOORMOD(x, #a), #d)]
    if a > 0 && b > 0 && e == a * d => ADD(y, MUL(FLOORMOD(x, #(a * b)), #d))
    test ADD(ADD(w:index, MUL(FLOORMOD(FLOORDIV(v:index, 3:index), 4:index), 6:index)),
             MUL(FLOORMOD(v:index, 3:index), 2:index))
      -> ADD(w:index, MUL(FLOORMOD(v:index, 12:index), 2:index))
  @proof(smt)
  rule chain_mid: ADD[ADD[y, MUL(FLOORMOD(FLOORDIV(x:index, #q), #b), #e)], FLOORMOD(FLOORDIV(x, #p), #a)]
    if p > 0 && a > 0 && b > 0 && q == p * a && e == a => ADD(y, FLOORMOD(FLOORDIV(x, #p), #(a * b)))
    test ADD(ADD(w:index, MUL(FLOORMOD(FLOORDIV(v:index, 6:index), 5:index), 3:index)),
             FLOORMOD(FLOORDIV(v:index, 2:index), 3:index))
      -> ADD(w:index, FLOORMOD(FLOORDIV(v:index, 2:index), 15:index))
  @proof(smt)
  rule chain_mid_times:
    ADD[ADD[y, MUL(FLOORMOD(FLOORDIV(x:index, #q), #b), #e)], MUL(FLOORMOD(FLOORDIV(x, #p), #a), #d)]
    if p > 0 && a > 0 && b > 0 && q == p * a && e == a * d => ADD(y, MUL(FLOORMOD(FLOORDIV(x, #p), #(a * b)), #d))
    test ADD(ADD(w:index, MUL(FLOORMOD(FLOORDIV(v:index, 6:index), 5:index), 6:index)),
             MUL(FLOORMOD(FLOORDIV(v:index, 2:index), 3:index), 2:index))
      -> ADD(w:index, MUL(FLOORMOD(FLOORDIV(v:index, 2:index), 15:index), 2:index))
  @proof(smt)
  rule chain_minus_floor: ADD[ADD[y, x:index], MUL(FLOORDIV(x, #c), #e)] if c > 0 && e == 0 - c
    ~> ADD(y, FLOORMOD(x, #c))
    test ADD(ADD(w:index, v:index), MUL(FLOORDIV(v:index, 4:index), -4:index))
      -> ADD(w:index, FLOORMOD(v:index, 4:index))
  @proof(smt)
  rule chain_minus_mod: ADD[ADD[y, x:index], MUL(FLOORMOD(x, #c), -1)] if c > 0
    ~> ADD(y, MUL(FLOORDIV(x, #c), #c))
    test ADD(ADD(w:index, v:index), MUL(FLOORMOD(v:index, 4:index), -1:index))
      -> ADD(w:index, MUL(FLOORDIV(v:index, 4:index), 4:index))
}
