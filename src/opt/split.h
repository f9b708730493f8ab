/* split.h - one range split, as the rules of split.pat see it.
 *
 * The range r of size n becomes `value`, an expression over the parts. Ways when the factor k does not divide n:
 *   overlap   UPCAST and UNROLL where n is known and at least k: the last part starts at n - k, so that every access is
 *             inside. Outputs are computed twice there, to the same value; in a reduction what the part before had counts as
 *             the identity
 *   gates     the same of shorter ranges, of reductions where the target has masked accesses, and THREAD and GLOBAL of
 *             symbolic ranges; on GPUs all of these, all parts of reductions, and LOCAL, WARP and GROUP_REDUCE: r runs past n; accesses get the gate
 *             value < n, reductions its WHERE
 *   clamp     UNROLL of shorter outputs (copies that are never lanes): reads see min(value, n - 1), stores get the gate
 *   bounds    loops: the inner part's size is what is left, min(k, n - outer * k)
 */
#ifndef UN_OPT_SPLIT_H
#define UN_OPT_SPLIT_H

#include "rewrite/rewrite.h"

typedef enum un__split_place { UN__SPLIT_BESIDE, UN__SPLIT_FIRST, UN__SPLIT_LAST_LOOP } un__split_place;

typedef struct un__split {
  const un_uop *range;       /* the old one */
  const un_uop *rest, *part; /* what takes its place in END and REDUCE; rest may be NULL: only one value */
  un__split_place place;     /* where part goes in the list of loops; BESIDE: right after rest; FIRST: behind GLOBAL ranges */
  const un_uop *value;       /* what r is now */
  const un_uop *inside;      /* whether the value counts; NULL: always */
  bool clamp, safe;          /* safe: a value that does not count is that of another element, and may be accessed */
} un__split;

/* For split.pat. */
bool un__pred_split_pads(un__rw *rw, const un_uop *x);     /* an access through x may fall into the padding */
bool un__pred_split_overruns(un__rw *rw, const un_uop *x); /* a store through x may be of a clamped copy */
bool un__pred_split_closes(un__rw *rw, un__span ranges);
bool un__pred_split_loads_zeros(un__rw *rw, const un_uop *x); /* both factors of a product in the padding */
bool un__pred_split_closes_padded(un__rw *rw, un__span ranges);
bool un__pred_split_to_core(un__rw *rw, un__span ranges);  /* a tensor core is to compute the sum over the parts */
const un_uop *un__fn_split_zeroed(un__rw *rw, const un_uop *x); /* a factor, as narrow as a core takes it, 0 in the padding */
const un_uop *un__fn_split_inside(un__rw *rw, const un_uop *x);
un__span un__fn_split_loops(un__rw *rw, un__span ranges); /* the list with the parts in place of the range */
const un_uop *un__fn_split_identity(un__rw *rw, const un_uop *x, int64_t op);
const un_uop *un__fn_split_padded(un__rw *rw, const un_uop *combine); /* its identities outside of the old domain */

#endif
