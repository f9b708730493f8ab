/* finish.h - from nests to kernels as the schedule has them.
 *
 * Usually a nest, or several over the same loops, is one kernel. There are more when a reduction cannot stand in the nest (the ranges it depends on are no
 * outer part of it), or is so large beside its result that parts of it should run in parallel: such a reduction, or the
 * parts of it, are stored by a draft of their own first.
 */
#ifndef UN_RANGEIFY_FINISH_H
#define UN_RANGEIFY_FINISH_H

#include "nest.h"

/* What a kernel stores and reads, by number: its results first. Numbers below the nest's number of leaves are leaves, then
 * come its results, then temporaries. */
typedef struct un__rf_kernel {
  const un_uop *sink;
  uint32_t nresult, narg;
  const uint32_t *arg;
} un__rf_kernel;

typedef struct un__rf_kernels {
  uint32_t n;
  un__rf_kernel *at;            /* in order of dependence */
  uint32_t ntemp;
  const un_uop **temp;          /* BUFFERs: number, shape and dtype of each temporary */
} un__rf_kernels;

/* Loops that store values: a kernel in the making, still with INDEX on leaves. A BUFFER's slot is its number. */
typedef struct un__rf_draft {
  uint32_t nstore, nout;
  const un_uop *value;                       /* the value, or a TUPLE of nstore values */
  const un_uop *result[UN__RF_MAX_STORES];   /* BUFFERs */
  const un_uop *flat[UN__RF_MAX_STORES];     /* element numbers that are written */
  const un_uop *out[2 * UN__MAX_RANK];       /* loops, ids 0.. */
} un__rf_draft;

typedef struct un__rf_drafts {
  un__rf_builder *b;
  UN__VEC(un__rf_draft) at;                  /* the nest's own first, then what is stored for it, in any order */
  uint32_t nleaf, next_number;               /* for results and temporaries */
  int64_t next_range;
} un__rf_drafts;

/* The kernels that store the values of nests over the same loops; found once for each combination. `nleaf` leaves in all.
 * The map of a nest alone must be the identity. NULL on failure. */
const un__rf_kernels *un__rf_finish(un__rf_builder *b, const un__rf_member *m, uint32_t n, uint32_t nleaf);

/* loops.c: makes draft number `i` obey the placement rules of stage kernel; may add drafts. */
un_status un__rf_settle_loops(un__rf_drafts *d, uint32_t i);
/* Is a reduction so long, for so few points, that it is cut into parts that are stored? What is left of it where it stands
 * is to combine the parts. */
bool un__rf_is_cut(const un__rangeify_options *opt, const un_uop *reduce);
/* siblings.c: reductions of draft number `i` that need each other but can be one pass become one (online.pat), and those
 * over the same ranges become one of several values, `most` at most. */
un_status un__rf_one_pass(un__rf_drafts *d, uint32_t i, bool online);
un_status un__rf_fuse_siblings(un__rf_drafts *d, uint32_t i, uint32_t most);
/* A temporary of as many elements as the ranges have points. */
const un_uop *un__rf_temporary(un__rf_drafts *d, un__dtype dtype, const un_uop *const *range, uint32_t n);
/* Row-major number of a point of the ranges. */
const un_uop *un__rf_point(un__graph *g, const un_uop *const *range, uint32_t n);

/* merge.c: joins adjacent loops whose every use is one loop's; numbers ranges and arguments. `store` is a STORE or a GROUP
 * of them; returns the SINK. out_arg receives numbers (room for UN__RF_KERNEL_ARGS). */
enum { UN__RF_KERNEL_ARGS = 2 * UN__RF_KERNEL_LEAVES };
const un_uop *un__rf_seal(un__rf_builder *b, const un_uop *const *store, uint32_t nstore, const un_uop **out, uint32_t nout,
                          uint32_t *out_arg, uint32_t *out_narg);

#endif
