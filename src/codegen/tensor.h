/* tensor.h - sums of products become instructions of a tensor core.
 *
 *   un__tensor   no TENSOR range is left: a REDUCE over one is a REDUCE over WMMA, or a loop where the target has no core for it
 *
 * Every thread of a warp has a fragment of each operand. A word of 4 bytes holds `e` elements that follow each other along the
 * depth; a thread in row r and column c (of 8 and 4) has of the left operand, for both halves h of the depth and both rows
 * r + 8 half, the elements at depth 4 e h + e c and the next, of the right one those of column r. Of the result it has columns
 * 2 c and 2 c + 1 of both its rows.
 */
#ifndef UN_CODEGEN_TENSOR_H
#define UN_CODEGEN_TENSOR_H

#include "rewrite/rewrite.h"
#include "simplify/cores.h"

const un_uop *un__tensor(un__graph *ws, const un_uop *kernel, const un__target *t, uint32_t licences);

/* What the rules of tensor.pat share. */
typedef struct un__tensor_cores {
  const un__target *target;
  un__digits digits;
} un__tensor_cores;

bool un__pred_on_core(un__rw *rw, const un_uop *reduce);
un__span un__fn_core_loops(un__rw *rw, const un_uop *reduce);
const un_uop *un__fn_core_product(un__rw *rw, const un_uop *reduce);
const un_uop *un__fn_core_lane(un__rw *rw, const un_uop *reduce);

#endif
