/* bound.h - how far a backend may be from the interpreter: the error bounds of the numerics level `precise`. */
#ifndef UN_INTERP_BOUND_H
#define UN_INTERP_BOUND_H

#include "tensor.h"

/* Fills e->bound[pos] from the node's value, its operands' values and their bounds. */
un_status un__ibound_node(un__ieval *e, uint32_t pos);

/* The bound of one result element of an op. `x` and `err` are the nsrc operands and their bounds, `r` is the result. */
double un__ibound_element(un__op op, un__dtype dtype, uint32_t nsrc, const un__value *x, const double *err, un__value r);
/* The bound of a reduction from what its terms add up to. */
typedef struct un__iterms {
  int64_t n;
  double err_sum, err_max;   /* of the terms' bounds */
  double abs_sum;            /* of |x| + bound */
  double product, abs_product;   /* of |x|, of |x| + bound */
  double finite;             /* of |x| + bound where that is finite */
  double growth, shrinkage;  /* products of |x| + bound above 1; of |x| below 1 but not 0 */
  bool fractions;            /* some term is no whole number, or may be off */
} un__iterms;
/* From all 0: one term more. */
void un__iterms_add(un__iterms *t, un__value v, double err);
/* Whether the sum of the terms has one value in any order: whole numbers, and few enough for the dtype. */
bool un__iterms_exact(un__dtype dt, const un__iterms *t);
double un__ibound_reduce(un__op op, un__dtype dt, const un__iterms *t, un__value r);

#endif
