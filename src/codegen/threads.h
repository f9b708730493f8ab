/* threads.h - the blocks and threads of a GPU: GLOBAL, LOCAL, WARP and GROUP_REDUCE ranges become digits of the numbers that
 * the launch gives, and what threads reduce together is combined by shuffles and through shared memory.
 *
 *   un__deal     a REDUCE with GROUP_REDUCE ranges is one of each thread, and one over these ranges alone of what that gives
 *   un__threads  no such range is left; both SPECIALs are of one dimension
 *
 * Between them ranges are expanded. Kernels of other machines go through untouched. */
#ifndef UN_CODEGEN_THREADS_H
#define UN_CODEGEN_THREADS_H

#include "rewrite/rewrite.h"
#include "simplify/digits.h"
#include "target/target.h"

const un_uop *un__deal(un__graph *ws, const un_uop *kernel, const un__target *t, uint32_t licences);
const un_uop *un__threads(un__graph *ws, const un_uop *kernel, const un__target *t, uint32_t licences);

/* What the rules of threads.pat share. */
typedef struct un__threading {
  un__digits digits;
  const un_uop *block, *thread;    /* their numbers: SPECIALs, or 0 where there is one only */
  int64_t warp;
  int64_t next_local;              /* id of the next DEFINE_LOCAL */
} un__threading;

/* group.c: the values of a REDUCE over GROUP_REDUCE ranges, the same in every thread of a group. */
un__span un__fn_together(un__rw *rw, const un_uop *reduce);
const un_uop *un__fn_only(un__rw *rw, un__span xs);        /* the one there is */

/* The ranges that an END or REDUCE closes for which `which` says `wanted`. */
un__span un__chosen_ranges(un__rw *rw, const un_uop *closer, bool (*which)(const un_uop *), bool wanted);

/* For threads.pat. */
bool un__pred_dealt(un__rw *rw, const un_uop *reduce);     /* closes GROUP_REDUCE ranges, and others */
un__span un__fn_own(un__rw *rw, const un_uop *reduce);     /* the others */
un__span un__fn_groups(un__rw *rw, const un_uop *reduce);  /* these */
bool un__pred_idle(un__rw *rw, const un_uop *store);       /* several blocks or threads would store the same */
const un_uop *un__fn_once(un__rw *rw, const un_uop *store);                       /* whether this one is the first of them */
const un_uop *un__fn_once_if(un__rw *rw, const un_uop *gate, const un_uop *store); /* ... and the gate holds, lane by lane */
bool un__pred_numbers(un__rw *rw, const un_uop *end);      /* closes such ranges */
un__span un__fn_real_loops(un__rw *rw, const un_uop *end); /* the others */

bool un__fn_copied(un__rw *rw, const un_uop *store, int64_t *out);   /* how many elements it stores */

/* number / stride mod size, where the number lies below `all`. */
const un_uop *un__number_part(un__graph *g, const un_uop *number, int64_t stride, int64_t size, int64_t all);

#endif
