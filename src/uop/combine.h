/* combine.h - reductions of several values together: what a COMBINE says, and its body applied.
 *
 * REDUCE<COMBINE>(COMBINE(body, x0.., id0..), ranges..) starts n accumulators with the identities and, for every value
 * of the ranges, replaces them by the body's n results with the accumulators as ARG 0..n-1 and the elements as
 * ARG n..2n-1. Elements may depend on different ranges and, while lanes are expanded, have different numbers of lanes;
 * the body is made of scalars and applied lane by lane. */
#ifndef UN_UOP_COMBINE_H
#define UN_UOP_COMBINE_H

#include "uop.h"

enum { UN__MAX_COMBINE = 32 };   /* values that are combined together */

static inline bool un__is_combined(const un_uop *reduce) {
  return reduce->op == UN__OP_REDUCE && reduce->src[0]->op == UN__OP_COMBINE;
}
static inline uint32_t un__combine_width(const un_uop *combine) { return (combine->nsrc - 1) / 2; }
static inline const un_uop *un__combine_body(const un_uop *combine) { return combine->src[0]; }
static inline const un_uop *un__combine_element(const un_uop *combine, uint32_t i) { return combine->src[1 + i]; }
static inline const un_uop *un__combine_identity(const un_uop *combine, uint32_t i) {
  return combine->src[1 + un__combine_width(combine) + i];
}

/* Number of values that a REDUCE gives: 1 when it is simple. */
static inline uint32_t un__reduce_width(const un_uop *reduce) {
  return un__is_combined(reduce) ? un__combine_width(reduce->src[0]) : 1;
}

/* Simple or not, a REDUCE has elements, identities and values. The identity is a CONST; value i is the REDUCE itself when
 * it is simple, else a GET. */
static inline const un_uop *un__reduce_element(const un_uop *reduce, uint32_t i) {
  return un__is_combined(reduce) ? un__combine_element(reduce->src[0], i) : reduce->src[0];
}
const un_uop *un__reduce_identity(un__graph *g, const un_uop *reduce, uint32_t i);
const un_uop *un__reduce_value(un__graph *g, const un_uop *reduce, uint32_t i);
/* The same reduction of other elements over other ranges. */
const un_uop *un__reduce_over(un__graph *g, const un_uop *reduce, const un_uop *const *x, const un_uop *const *range,
                              uint32_t nrange);

/* Constructors. `x` and `identity` have n members. */
const un_uop *un__arg(un__graph *g, un__dtype dtype, uint32_t i);
const un_uop *un__combine(un__graph *g, const un_uop *body, const un_uop *const *x, const un_uop *const *identity,
                          uint32_t n);
const un_uop *un__get(un__graph *g, const un_uop *tuple, un__dtype dtype, uint32_t i);
/* The same way of combining other elements. */
const un_uop *un__combine_with(un__graph *g, const un_uop *combine, const un_uop *const *x);

/* out[0..n) = the body's results with a[i] for ARG i and b[i] for ARG n + i. Scalars among vectors are splat. False on
 * failure (recorded). */
bool un__combine_apply(un__graph *g, const un_uop *combine, const un_uop *const *a, const un_uop *const *b,
                       const un_uop **out);

/* The op when result i is op(ARG i, ARG n + i) and so a simple reduction of its own, else UN__OP_NONE. */
un__op un__combine_plain(const un_uop *combine, uint32_t i);
/* Whether the order of combination may show in the result: the body does float arithmetic that rounds. */
bool un__reduce_rounds(const un_uop *reduce);
/* mask[i]: bit k is set when result i depends on ARG k or ARG n + k, also through other results from one round to the
 * next. False when memory is short. */
bool un__combine_needs(const un_uop *combine, uint32_t *mask);

#endif
