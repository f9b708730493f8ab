/* cores.h - which reductions a tensor core computes.
 *
 * A warp computes 16 x 8 sums of products, of a left operand that moves along rows and a right one that moves along columns.
 * The number of a thread in its warp is 4 * row + column, of ranges with these digits: WARP ranges of 8 and of 4. The other
 * digits of a row and of a column are ranges that become copies, `half` of two rows and `pair` of two columns: which rows and
 * columns they are of makes no difference. The sum's TENSOR range is the instruction's depth.
 */
#ifndef UN_SIMPLIFY_CORES_H
#define UN_SIMPLIFY_CORES_H

#include "digits.h"
#include "target/target.h"

typedef struct un__core_product {
  const un__tensor_core *core;
  const un_uop *left, *right;         /* the operands, as narrow as the core takes them */
  const un_uop *row, *column;         /* WARP */
  const un_uop *half, *pair, *depth;
} un__core_product;

/* The core that multiplies and adds up what the REDUCE does; NULL: none. `left` and `right` are set, in no order. */
const un__tensor_core *un__core_of(const un_uop *reduce, uint32_t cores, uint32_t licences, const un_uop **left,
                                   const un_uop **right);
/* NULL and *out, or why no tensor core computes this REDUCE as its ranges are dealt. `depth` is its TENSOR range, NULL where it has
 * none yet. */
const char *un__core_product_of(const un_uop *reduce, const un__digits *d, const un__target *t, uint32_t licences,
                                un__core_product *out);
/* The TENSOR range that a REDUCE closes, or NULL. */
const un_uop *un__tensor_range(const un_uop *reduce);

#endif
