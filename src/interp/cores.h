/* cores.h - what a tensor core computes, as the reference does. Private to interp. */
#ifndef UN_INTERP_CORES_H
#define UN_INTERP_CORES_H

#include "uop/eval.h"

enum { UN__IWARP = 32, UN__ICORE_LEFT = 16 };      /* threads; the most lanes of a left operand */

/* The fragments of a warp, by thread; docs/gpu.md says which elements a lane holds. `result` is c, then the product added to it. */
typedef struct un__icore {
  un__dtype operand, sum;
  un__value left[UN__IWARP][UN__ICORE_LEFT], right[UN__IWARP][UN__ICORE_LEFT / 2], result[UN__IWARP][4];
} un__icore;

/* Lanes of the operand. */
static inline uint32_t un__icore_lanes(const un__icore *x, bool left) { return (left ? 16u : 8u) / un__dt_info(x->operand)->size; }

/* Float sums are of exact products, in f64, rounded once; f32 operands lose the 13 last bits, as tf32. */
void un__icore_multiply(un__icore *x);

#endif
