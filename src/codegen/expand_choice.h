/* expand_choice.h - which of a nest's ranges is its lane, for expand.c and the functions of its rules. */
#ifndef UN_CODEGEN_EXPAND_CHOICE_H
#define UN_CODEGEN_EXPAND_CHOICE_H

#include "expand.h"

static inline bool un__expands(un__axis a) { return a == UN__AXIS_UPCAST || a == UN__AXIS_UNROLL; }
bool un__is_chosen(const un__expansion *x, const un_uop *range);
/* The lane of an END or REDUCE: its UPCAST (UNROLL) range with the highest id when that is a power of two, unless its
 * values move along the lane of another nest already. NULL: none. */
const un_uop *un__lane_of(const un__expansion *x, const un_uop *n);

/* The lane that a node moves along, or NULL. */
const un_uop *un__moved_by(const un__expansion *x, const un_uop *n);

/* What the functions of rules build with. NULL on failure. */
const un_uop **un__expand_list(un__rw *rw, size_t n);                                       /* in the workspace's arena */
const un_uop *un__contract_along(un__rw *rw, const un_uop *x, const un_uop *lane);
const un_uop *un__unrolled(un__rw *rw, const un_uop *vector, int64_t id);
const un_uop *un__splat_to(un__rw *rw, const un_uop *x, uint32_t lanes);

#endif
