/* expand.h - the first half of codegen: AxisTypes become copies, vectors and accumulators.
 *
 *   un__expand       no UPCAST and no UNROLL range is left: tiles are copies, lanes are vectors
 *   un__accumulate   no REDUCE is left: accumulators are DEFINE_REG, and reductions over the same ranges share a loop
 *
 * Both take and give a kernel's SINK; NULL on failure.
 */
#ifndef UN_CODEGEN_EXPAND_H
#define UN_CODEGEN_EXPAND_H

#include "rewrite/rewrite.h"
#include "simplify/affine.h"
#include "target/target.h"

const un_uop *un__expand(un__graph *ws, const un_uop *kernel, const un__target *t, uint32_t licences);
const un_uop *un__accumulate(un__graph *ws, const un_uop *kernel, const un__target *t, uint32_t licences);

enum { UN__MAX_VECTOR = 64 }; /* lanes */

/* What expand.pat's rules share. A node moves along at most one lane: nests choose their lane from the outside in, and
 * a reduction inside a lane has none of its own. */
typedef struct un__expansion {
  UN__VEC(const un_uop *) lanes; /* the RANGEs that become lanes */
  un__topo order;               /* of the kernel whose accesses become vectors */
  un__affine *affine;            /* by position in it */
  const un_uop **rows;           /* by position in it: the tile along which LOADs at an index are rows, or NULL; NULL: none are */
  bool gpu;                      /* shared memory is read by rows, copies of results are listed there and back */
  uint32_t max_sums;             /* accumulators side by side before copies are added up inside the loop */
} un__expansion;

/* For expand.pat. `n` is an END or REDUCE, `access` a LOAD or STORE. */
bool un__pred_tiled(un__rw *rw, const un_uop *n);                 /* closes an expanded range that is no lane */
bool un__pred_laned(un__rw *rw, const un_uop *n);                 /* closes a lane */
bool un__pred_apart(un__rw *rw, const un_uop *n);                 /* its copies may have accumulators of their own */
un__span un__fn_loops(un__rw *rw, const un_uop *n);               /* what it closes besides tiles */
un__span un__fn_scalar_loops(un__rw *rw, const un_uop *n);        /* ... besides its lane */
un__span un__fn_lane(un__rw *rw, const un_uop *n);                /* its lane */
un__span un__fn_copies(un__rw *rw, const un_uop *n);              /* source 0 for every value of its tiles */
un__span un__fn_sums(un__rw *rw, const un_uop *n);                /* REDUCE of each copy over what is left */
const un_uop *un__fn_joined(un__rw *rw, un__span xs, int64_t op); /* xs combined by op: a balanced tree */

/* rows.c: loads that lanes scatter and a tile does not. */
un_status un__find_rows(un__expansion *x, const un_uop *kernel);
void un__rows_finish(un__expansion *x);
bool un__pred_in_rows(un__rw *rw, const un_uop *access);
const un_uop *un__fn_row(un__rw *rw, const un_uop *access);
bool un__pred_of_row(un__rw *rw, const un_uop *element);
const un_uop *un__fn_column(un__rw *rw, const un_uop *element);
/* n with every row along `tile` replaced by its element `at`. */
const un_uop *un__rows_at(un__graph *g, const un_uop *n, const un_uop *tile, int64_t at);

bool un__pred_is_lane(un__rw *rw, const un_uop *range);
bool un__pred_moves(un__rw *rw, const un_uop *access);          /* its address or gate moves along a lane */
bool un__pred_consecutive(un__rw *rw, const un_uop *access);    /* one element a lane, in order */
bool un__fn_lanes(un__rw *rw, const un_uop *n, int64_t *out);   /* lanes of the lane that n moves along */
const un_uop *un__fn_address(un__rw *rw, const un_uop *access); /* its INDEX at lane 0, with a gate for each lane */
un__span un__fn_each(un__rw *rw, const un_uop *access);         /* the scalar access of each lane */
const un_uop *un__fn_spread(un__rw *rw, const un_uop *vector, const un_uop *n); /* UNROLL: scalar n, as a vector */
const un_uop *un__fn_gathered(un__rw *rw, const un_uop *x, const un_uop *n);    /* CONTRACT x along the lane of n */
un__span un__fn_iota(un__rw *rw, const un_uop *range);                          /* the constants 0, 1, ... */
bool un__pred_any_spread(un__rw *rw, un__span xs);
bool un__pred_uniform(un__rw *rw, const un_uop *x);        /* moves along no lane */
const un_uop *un__fn_widened(un__rw *rw, const un_uop *n); /* an elementwise op on whole vectors, as UNROLL */

/* expand_tuples.c: reductions of several values. `c` is a COMBINE. */
un__span un__fn_elements(un__rw *rw, const un_uop *c);
const un_uop *un__fn_combine_of(un__rw *rw, const un_uop *c, un__span xs); /* c over other elements */
un__span un__fn_gets(un__rw *rw, const un_uop *tuple);                     /* the values of a tuple REDUCE */
un__span un__fn_joined_tuples(un__rw *rw, un__span xs); /* COMBINEs or tuple REDUCEs of one body: all combined, a tree */
un__span un__fn_halved(un__rw *rw, const un_uop *c, const un_uop *n);      /* c's lanes along the lane of n, combined */
const un_uop *un__fn_widened_tuple(un__rw *rw, const un_uop *get);         /* GET of a tuple with lanes, as UNROLL */

/* What accumulate.pat's rules share: the reductions that can be turned into loops now. */
typedef struct un__accumulation {
  un__topo order;
  un__span *reg;      /* by position: the DEFINE_REGs of a ready REDUCE, one a value; at NULL: not ready */
  int64_t next_id;    /* of a DEFINE_REG */
} un__accumulation;

bool un__pred_ready(un__rw *rw, const un_uop *reduce);
const un_uop *un__fn_accumulator(un__rw *rw, const un_uop *reduce);
const un_uop *un__fn_neutral(un__rw *rw, const un_uop *x, int64_t op);
const un_uop *un__fn_combined(un__rw *rw, int64_t op, const un_uop *a, const un_uop *b);
un__span un__fn_accumulated(un__rw *rw, const un_uop *reduce); /* the results of a tuple REDUCE, loop and all */

#endif
