// externs.pat - what the rules of this folder ask of C: orders, choices of a factor, and simplification under a guard.
// Each is a function of its arguments alone. The identities that use the answers are the rules' own.
c_include "simplify/simplify.h"

/// Bounds at the ends of int64 stand for infinities (and for u64 beyond them): they are not values.
pred finite(v: int) = v > -9223372036854775808 && v < 9223372036854775807

// ---- chains of an associative op (order.c) ----

/// z is no chain of the op and no constant: one link of a chain.
extern pred is_link(o: op, z: node)           smt "true"
/// Both are links, and z stands before y in the normal form.
extern pred after(o: op, y: node, z: node)    smt "true"

// ---- sums x = g*multiple + rest: rest holds the terms that g does not divide and a constant in [0, g) (terms.c) ----

extern fn multiple(x: node, g: int): node
extern fn rest(x: node, g: int): node
/// The largest number that divides every coefficient of a sum (its constant aside).
extern fn gcd_of(x: node): int
/// The largest g > 1 that divides c and leaves a rest of x in [0, g); no match when there is none.
extern fn factor(x: node, c: int): int
/// Does c divide a term's coefficient, or is the constant outside [0, c)?
extern pred has_multiple(x: node, c: int)
/// x with every coefficient of at least c in size, and the constant, reduced modulo c; no match when none is.
extern fn reduced(x: node, c: int): node
/// x with y in place of k * (y % m) wherever c divides k * m; no match when there is none.
extern fn without_inner_mod(x: node, c: int): node
/// q, when x is c*q + s for a sum s of small coefficients within [0, c); no match otherwise. And that s.
extern fn whole_quotient(x: node, c: int): node
extern fn whole_remainder(x: node, c: int): node

// ---- dtypes (casts.c) ----

/// Every value of a is a value of b (floats: zeros, infinities and NaN included).
extern pred embeds(a: dtype, b: dtype)                 smt "embeds"
/// CAST<c>(CAST<b>(x)) is CAST<c>(x) for every x of dtype a.
extern pred cast_through(a: dtype, b: dtype, c: dtype) smt "cast_through"
/// x converts to dtype a without loss: a embeds its dtype, or its bounds fit.
extern pred exact(x: node, a: dtype)                   smt "exact"
/// lo and hi are values of the integer dtype a.
extern pred holds(a: dtype, lo: int, hi: int)          smt "holds"

// ---- guards (guard.c) ----

/// x, simplified under the assumption that c holds (holds != 0) or does not; no match unless that makes it smaller.
extern fn under(x: node, c: node, holds: int): node

// ---- reductions (ranges.c) ----

/// x depends on none of the ranges r.
extern pred indep(x: node, r: nodes) smt "noarg"
/// How often the ranges r turn, as an index expression.
extern fn turns(r: nodes): node
extern pred nonempty(r: nodes)
/// Every use of r below x is in the address of an INDEX, through arithmetic that a VALID can leave.
extern pred addresses_only(x: node, r: node)
extern fn subst(x: node, from: node, to: node): node
