/* eval.h - the reference value of every ALU op on scalars: the evaluator column of ops.def.
 *
 * One value in its dtype's own terms: bool and integers in `i` (u64 as its bits; sign- or zero-extended otherwise),
 * floats in `f`, already rounded to the dtype. Integers wrap; index is unbounded, so an evaluator returns false when
 * the result leaves int64.
 */
#ifndef UN_UOP_EVAL_H
#define UN_UOP_EVAL_H

#include "uop.h"

typedef struct un__value {
  un__dtype dtype;      /* scalar */
  union { int64_t i; double f; };
} un__value;

/* One evaluator for each stem of ops.def's eval column. `dt` is the result's scalar dtype; operands carry their own.
 * False: no defined value (index overflow). The stem NONE is declared by the same loop and never defined: the op
 * table has NULL there. */
#define OP(ID, text, min, max, dtype, shape, operands, eval, ...) \
  bool un__ev_##eval(un__dtype dt, const un__value *args, un__value *out);
#include "ops.def"
#undef OP

un__value un__value_i(un__dtype dt, int64_t v);        /* reduced to the width of dt */
un__value un__value_f(un__dtype dt, double v);         /* rounded to nearest even; every NaN is the canonical one */
/* To and from storage (the dtype's bit pattern, little end of the word). Reading and writing keeps the sign and
 * payload of a NaN, so that a BITCAST or a copy is exact; whatever computes gives the canonical quiet NaN. */
uint64_t un__value_bits(un__value v);
un__value un__value_from_bits(un__dtype dt, uint64_t bits);
un__value un__value_load(un__dtype dt, const void *p);
void un__value_store(un__value v, void *p);

/* Applies an op with an evaluator; `dt` is the result's scalar dtype. False: no value (index overflow). */
bool un__eval(un__op op, un__dtype dt, const un__value *args, un__value *out);
/* The neutral element of an associative op (ADD 0, MUL 1, MAX -inf or the smallest, ...). False: has none. */
bool un__identity(un__op op, un__dtype dt, un__value *out);

/* Folds a node whose sources are all constants; NULL when it has no evaluator or declines. */
const un_uop *un__fold(un__graph *g, const un_uop *n);
/* The same for an op applied to constants, as #eval in pattern files. */
const un_uop *un__fold_op(un__graph *g, un__op op, un__dtype dt, const un_uop *const *args, uint32_t nargs);

/* Rounds to the nearest value of a float dtype, ties to even, subnormals included. What overflows becomes infinity, in
 * F8E4M3 (which has none) NaN. A NaN stays some NaN. */
double un__round_float(un_dtype dt, double v);
/* The nearest value of a float dtype to an integer of 64 bits, rounded once. */
double un__round_integer(un_dtype dt, int64_t v, bool is_unsigned);
/* Bit patterns of a float dtype; `v` is one of its values. A NaN keeps its sign and the payload bits that fit. */
uint64_t un__float_bits(un_dtype dt, double v);
double un__float_from_bits(un_dtype dt, uint64_t bits);
/* The largest finite value, and whether the dtype has infinities. */
double un__float_max(un_dtype dt);
bool un__float_has_inf(un_dtype dt);

#endif
