/* online.h - what the rules of online.pat ask about two loops that may be one. */
#ifndef UN_RANGEIFY_ONLINE_H
#define UN_RANGEIFY_ONLINE_H

#include "rewrite/rewrite.h"

/* y over the ranges s is x over the ranges r, name for name. */
bool un__pred_along(un__rw *rw, const un_uop *x, un__span r, const un_uop *y, un__span s);
/* The float constant n is the number of points of the ranges, and every count up to it is exact in its dtype. */
bool un__pred_counts(un__rw *rw, const un_uop *n, un__span r);
/* x where every range is 0. */
const un_uop *un__fn_at_start(un__rw *rw, const un_uop *x, un__span r);

#endif
