/* simplify.h - the rulesets of this folder, the pass that runs them all, and what their rules ask of C.
 *
 * Other stages `include "simplify/<file>.pat"` and `use` these rulesets by name: fold, bounds, arith, where_fold,
 * casts, divmod, recombine, compare, valid, reduce, tuple. externs.pat says what each function below must answer. */
#ifndef UN_SIMPLIFY_SIMPLIFY_H
#define UN_SIMPLIFY_SIMPLIFY_H

#include "rewrite/rewrite.h"

extern const un__pass un__pass_simplify;

/* Integers and index in normal form: everything below `root` through un__pass_simplify. NULL: see the graph's err. */
const un_uop *un__simplify(un__graph *g, const un_uop *root);

/* order.c */
bool un__pred_is_link(un__rw *rw, un__op o, const un_uop *z);
bool un__pred_after(un__rw *rw, un__op o, const un_uop *y, const un_uop *z);

/* terms.c */
const un_uop *un__fn_multiple(un__rw *rw, const un_uop *x, int64_t g);
const un_uop *un__fn_rest(un__rw *rw, const un_uop *x, int64_t g);
bool un__fn_gcd_of(un__rw *rw, const un_uop *x, int64_t *out);
bool un__fn_factor(un__rw *rw, const un_uop *x, int64_t c, int64_t *out);
bool un__pred_has_multiple(un__rw *rw, const un_uop *x, int64_t c);
const un_uop *un__fn_reduced(un__rw *rw, const un_uop *x, int64_t c);
const un_uop *un__fn_without_inner_mod(un__rw *rw, const un_uop *x, int64_t c);
const un_uop *un__fn_whole_quotient(un__rw *rw, const un_uop *x, int64_t c);
const un_uop *un__fn_whole_remainder(un__rw *rw, const un_uop *x, int64_t c);

/* conversions.c */
bool un__pred_embeds(un__rw *rw, un__dtype a, un__dtype b);
bool un__pred_cast_through(un__rw *rw, un__dtype a, un__dtype b, un__dtype c);
bool un__pred_exact(un__rw *rw, const un_uop *x, un__dtype a);
bool un__pred_holds(un__rw *rw, un__dtype a, int64_t lo, int64_t hi);

/* guard.c */
const un_uop *un__fn_under(un__rw *rw, const un_uop *x, const un_uop *c, int64_t holds);

/* For tuple.pat (ranges.c). */
const un_uop *un__fn_nth(un__rw *rw, un__span xs, int64_t i);

/* ranges.c */
bool un__pred_indep(un__rw *rw, const un_uop *x, un__span r);
const un_uop *un__fn_turns(un__rw *rw, un__span r);
bool un__pred_nonempty(un__rw *rw, un__span r);
bool un__pred_addresses_only(un__rw *rw, const un_uop *x, const un_uop *r);
const un_uop *un__fn_subst(un__rw *rw, const un_uop *x, const un_uop *from, const un_uop *to);

#endif
