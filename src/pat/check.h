/* check.h - the parts of un__pat_check. Private to src/pat. */
#ifndef UN_PAT_CHECK_H
#define UN_PAT_CHECK_H

#include "infer.h"

/* total.c: `~>` right sides that may decline. `in` has been inferred for this rule. */
void un__check_total(un__pat *p, const un__rule *r, const un__infer *in);
/* laws.c: a variant that can never match; a rule that undoes itself; float arithmetic changed without a licence; an
 * attribute replaced by a fixed one. */
void un__check_contradiction(un__pat *p, const un__variant *v);
void un__check_self_loop(un__pat *p, const un__rule *r, const un__infer *in);
void un__check_licence(un__pat *p, const un__rule *r, const un__infer *in);
void un__check_dropped_attr(un__pat *p, const un__rule *r, const un__infer *in);
/* May a template or an expression in it give nothing? */
bool un__check_partial(un__pat *p, const un__ex *e);
/* measure.c: rules of a stage that do not lower its order. */
void un__check_order(un__pat *p, const un__stage_ast *s);
/* cycle.c: rules that undo each other. */
void un__check_cycles(un__pat *p, un__rule *const *rules, size_t n);
/* overlap.c: between the rules of one set. */
void un__check_overlap(un__pat *p, const un__ruleset_ast *s);

/* Does an expression mention a name? */
bool un__check_mentions(const un__ex *e, const char *name);

#endif
