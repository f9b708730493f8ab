/* nest.h - one kernel under construction: a value over output ranges, with elements of leaves in it.
 *
 * A nest knows its leaves by number only (BUFFER(slot) of the cone), so every kernel of the same form shares one nest,
 * and what is found out about it is found out once. A nest never changes: computing a leaf in place gives another
 * nest, kept as a child under (leaf, cone of the leaf).
 */
#ifndef UN_RANGEIFY_NEST_H
#define UN_RANGEIFY_NEST_H

#include "cone.h"
#include "index.h"

enum { UN__RF_MAX_SETS = 8, UN__RF_MAX_STORES = 8 };

typedef struct un__rf_use {
  const un_uop *element;        /* INDEX(leaf, *i), when there is exactly one */
  const un_uop *in_place;       /* what that element is, for a leaf computed in this nest */
  bool many;                    /* read under several index tuples */
} un__rf_use;

struct un__rf_kernels;

typedef struct un__rf_nest {
  const un_uop *value;
  const un__shape *shape;
  uint32_t nout;
  const un_uop *out[UN__MAX_RANK];      /* LOOP ranges, ids 0.., one an axis whose size is not 1 */
  const un_uop *index[UN__MAX_RANK];    /* one an axis: a range or 0 */
  uint32_t nuse;
  un__rf_use *use;                      /* by leaf number */
  uint32_t nsets;
  uint32_t set[UN__RF_MAX_SETS];        /* the distinct sets of output ranges (bits) that reductions depend on */
  uint32_t nreduce;
  const un_uop *reduce;                 /* the last of the reductions seen */
  bool crossed;                         /* more sets than fit, or two of which neither contains the other */
  int64_t next_range;
  int64_t work;                         /* about how many element operations */
  struct un__rf_nest *child, *sibling;
  uint32_t leaf;                        /* how it came from its parent */
  const un_uop *cone;
  struct un__rf_kernels *kernels;       /* finish.h */
} un__rf_nest;

/* A nest of a kernel, and the kernel's number of each of its leaves, or UN__RF_RESULT and the number of an earlier member,
 * when the leaf is that one's result and is read where it is made. */
#define UN__RF_RESULT 0x80000000u
typedef struct un__rf_member { un__rf_nest *nest; const uint32_t *map; } un__rf_member;

/* Kernels of several nests, kept for the next time the same ones come together. */
typedef struct un__rf_finished {
  uint32_t n, nleaf;
  un__rf_member member[UN__RF_MAX_STORES];
  struct un__rf_kernels *kernels;
} un__rf_finished;

typedef struct un__rf_builder {
  un__graph *g;
  un__arena *arena;
  const un__rangeify_options *opt;
  UN__VEC(un__rf_nest *) by_cone;       /* by node id of the cone */
  UN__VEC(un__rf_finished) finished;
  UN__VEC(uint32_t) scratch;
} un__rf_builder;

/* The nest that stores `cone` (which has `nleaf` leaves). NULL on failure. */
un__rf_nest *un__rf_nest_open(un__rf_builder *b, const un_uop *cone, uint32_t nleaf);
/* The same kernel with leaf number `leaf`, used once, computed in place; its expression is `cone`. */
un__rf_nest *un__rf_nest_in_place(un__rf_builder *b, un__rf_nest *n, uint32_t leaf, const un_uop *cone, uint32_t nleaf);
void un__rf_builder_finish(un__rf_builder *b);

/* Bits of the output ranges in a set of ranges; *out_inner: it has other ranges too. */
uint32_t un__rf_outer_set(const un__rangeset *s, bool *out_inner);
/* Product of the sizes of ranges, saturating. */
int64_t un__rf_extent(const un_uop *const *range, uint32_t n);
int64_t un__rf_extent_of_set(const un__rf_nest *n, uint32_t set);
int64_t un__rf_saturating_mul(int64_t a, int64_t b);

/* A word for every node of the graph, for one walk; what is in them is left over from others. NULL: no memory. */
uint32_t *un__rf_scratch(un__rf_builder *b);

/* Simplifies an expression under construction. */
const un_uop *un__rf_clean(un__rf_builder *b, const un_uop *x);

#endif
