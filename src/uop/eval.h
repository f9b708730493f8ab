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

un__value un__value_i(un__dtype dt, int64_t v);        /* reduced to the width of dt */
un__value un__value_f(un__dtype dt, double v);         /* rounded to nearest even */
/* To and from storage (the dtype's bit pattern, little end of the word). */
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

/* Rounding between float formats, exact and locale-free. */
double un__round_float(un_dtype dt, double v);

#endif
