/* terms.h - an index sum taken apart. Private to src/simplify. */
#ifndef UN_SIMPLIFY_TERMS_H
#define UN_SIMPLIFY_TERMS_H

#include "rewrite/rewrite.h"

enum { UN__MAX_TERMS = 48 };

typedef struct un__term { const un_uop *base; int64_t coef; } un__term;   /* base: no constant, ADD, or multiple */
typedef struct un__sum {
  un__term t[UN__MAX_TERMS];     /* in the order of the chain */
  uint32_t n;
  int64_t k;                     /* the constant */
} un__sum;

/* False: not of dtype index, too long, or a constant out of int64. */
bool un__sum_split(const un_uop *x, un__sum *s);
/* The chain of these terms: leans left, zero coefficients dropped, the constant last. */
const un_uop *un__sum_build(un__graph *g, un__dtype dt, const un__sum *s);
/* Bounds of coef * base; false when one of them is not finite. */
bool un__term_bounds(const un__term *t, __int128 *lo, __int128 *hi);

#endif
