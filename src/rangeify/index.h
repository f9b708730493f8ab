/* index.h - what mops.pat and rangeify.pat see of C: arithmetic on index tuples.
 *
 * An index tuple says which element of a tensor is meant, one index an axis. Validity is never inside arithmetic: a tuple
 * that may be invalid has VALID as the top of its first index only. Functions here take it off, compute, and put it
 * back. What an INDEX with an invalid tuple is worth is nobody's business: the WHERE that the PAD or gather left above
 * selects something else.
 */
#ifndef UN_RANGEIFY_INDEX_H
#define UN_RANGEIFY_INDEX_H

#include "rangeify.h"

/* Context of the passes that push INDEX down. */
typedef struct un__rf_push { int64_t next_range; } un__rf_push;

/* The tuple with which `view` (RESHAPE, PERMUTE, EXPAND, SHRINK, FLIP) reads its source. */
un__span un__fn_view_index(un__rw *rw, const un_uop *view, un__span i);
/* The same for PAD; and whether the tuple is inside the padded tensor. */
un__span un__fn_pad_index(un__rw *rw, const un_uop *pad, un__span i);
const un_uop *un__fn_pad_inside(un__rw *rw, const un_uop *pad, un__span i);
/* One of the sources of a STACK, by the first index. */
const un_uop *un__fn_stack_select(un__rw *rw, const un_uop *stack, un__span i);
/* A STACK of very many tensors by way of stored groups, so that no kernel reads them all; NULL when it is small. */
const un_uop *un__fn_stack_in_groups(un__rw *rw, const un_uop *stack);
/* REDUCE over fresh ranges (a un__rf_push is the context) of a REDUCE_AXIS. */
const un_uop *un__fn_reduce_over(un__rw *rw, const un_uop *reduce, un__span i);
/* A gather seen through `i`: an element of its source, zero where the gather's own indices are not valid. */
const un_uop *un__fn_gather(un__rw *rw, const un_uop *gather, un__span i);
/* `i` without its validity. */
const un_uop *un__fn_bare(un__rw *rw, const un_uop *i);

/* A gather with all validity on its first index. */
un__span un__fn_gathered_valid(un__rw *rw, const un_uop *gather);

/* The sum of `value` over r where c holds, when c says e == y with e a range of r and y independent of r: the one term
 * there is. */
const un_uop *un__fn_pick(un__rw *rw, const un_uop *c, const un_uop *value, un__span r);
/* 1 in the dtype of x. */
const un_uop *un__fn_one_like(un__rw *rw, const un_uop *x);
/* Every condition of `c` is one of `gate`. */
bool un__pred_implied(un__rw *rw, const un_uop *gate, const un_uop *c);

/* Row-major element number of a tuple without validity, and the tuple's validity or NULL. */
const un_uop *un__rf_flat(un__graph *g, const un__shape *s, const un_uop *const *i);
const un_uop *un__rf_split_valid(un__graph *g, const un_uop *const *i, uint32_t n, const un_uop **out_bare);

#endif
