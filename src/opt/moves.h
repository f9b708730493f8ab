/* moves.h - what the search may do to a plan: one step more, or one step otherwise. */
#ifndef UN_OPT_MOVES_H
#define UN_OPT_MOVES_H

#include "base/vec.h"
#include "opt.h"

typedef UN__VEC(un__opt_step) un__opt_steps;

/* Every legal step of the table of moves, in its order, on a kernel as un__opt_take left it. UN_ERR_UNSUPPORTED when the kernel
 * cannot be described. */
un_status un__opt_moves(const un_uop *kernel, const un__target *t, uint32_t licences, un__opt_steps *out, un__err *err);

/* The plan with step `step` changed in the i-th way, from 0; false behind the last. *out_differs: the way makes another plan of it.
 * Whether that is legal is not asked. next_id: the first unused range id of the kernel that the plan is for. */
bool un__opt_vary(const un__opt_plan *plan, uint32_t step, uint32_t i, int64_t next_id, un__opt_plan *out, bool *out_differs);

#endif
