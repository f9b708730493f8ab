/* opt.h - the AxisType-driven optimiser: chooses splits of a kernel's ranges and applies them as substitutions. */
#ifndef UN_OPT_OPT_H
#define UN_OPT_OPT_H

#include "rewrite/rewrite.h"
#include "target/target.h"

typedef enum un__opt_step_kind { UN__OPT_SPLIT, UN__OPT_STAGE } un__opt_step_kind;

/* One choice. SPLIT: split range `range_id` so that the new range of `factor` values has AxisType `axis`; inner: it is the
 * inner part (r = outer * factor + new), else the outer part. Ceiling splits gate. factor 0: the whole range changes
 * its AxisType. STAGE: an operand is staged in scratch for each value of the range; axis says nothing, a factor of 2 or more how
 * many values are there at once, copied asynchronously. */
typedef struct un__opt_step { int64_t range_id; un__axis axis; int64_t factor; bool inner; un__opt_step_kind kind; } un__opt_step;

enum { UN__OPT_MAX_STEPS = 32 };
typedef struct un__opt_plan { uint32_t n; un__opt_step step[UN__OPT_MAX_STEPS]; } un__opt_plan;

/* Chooses by heuristics. why (may be NULL) receives one line of text per choice with the numbers that made it. */
un_status un__opt_heuristic(const un_uop *kernel, const un__target *t, uint32_t licences, un__opt_plan *out,
                            un__strbuf *why);
/* Whether a step is legal on this kernel; the reason in err when not. */
bool un__opt_legal(const un_uop *kernel, const un__opt_step *s, const un__target *t, uint32_t licences, un__err *err);
/* Applies a plan. NULL on failure. */
const un_uop *un__opt_apply(un__graph *ws, const un_uop *kernel, const un__opt_plan *plan, const un__target *t,
                            uint32_t licences);
/* The same with the ids that further steps of the plan count on: those of loops alone are not put in order. */
const un_uop *un__opt_take(un__graph *ws, const un_uop *kernel, const un__opt_plan *plan, const un__target *t,
                           uint32_t licences);

/* A plan as text, a line a step: "split 0 inner 8 upcast", "split 1 outer 4 thread", "whole 0 global", "stage 1", "stage 2 ring 3"; the first
 * number is the range's id. Reading checks the form only: what the kernel makes of it, un__opt_apply says. */
void un__opt_plan_print(const un__opt_plan *plan, un__strbuf *out);
un_status un__opt_plan_parse(const char *text, size_t n, un__opt_plan *out, un__err *err);

#endif
