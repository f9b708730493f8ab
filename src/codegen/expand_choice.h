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

#endif
