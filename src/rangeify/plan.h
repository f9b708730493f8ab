/* plan.h - which tensors of a graph get storage.
 *
 * The plan is a side table over the tensor graph in toposort order. A node is
 *
 *   PLAIN      computed again wherever it is used
 *   OPTIONAL   the end of a reduction and its epilogue: stored, unless fuse.c finds one kernel that can compute it in
 *              place without repeating work
 *   STORED     has a buffer: wanted by the sink, CONTIGUOUS, COPY, or too costly (or too large) to compute again
 *
 * BUFFERs are leaves and never planned. Numbers in the plan are positions, so nothing depends on addresses or ids.
 */
#ifndef UN_RANGEIFY_PLAN_H
#define UN_RANGEIFY_PLAN_H

#include "rangeify.h"

typedef enum un__rf_keep { UN__RF_PLAIN, UN__RF_OPTIONAL, UN__RF_STORED } un__rf_keep;

enum {
  UN__RF_NONE = UINT32_MAX,
  UN__RF_MANY = UINT32_MAX - 1,
  UN__RF_MAX_REDUCED = 64,      /* reductions in one expression: each has loops of its own until they are joined */
  UN__RF_MAX_LEVEL = 192,       /* a chain of elementwise nodes longer than this becomes several kernels */
  UN__RF_PLAN_LEAVES = 32,      /* buffers that the expression of one planned node reads */
  UN__RF_KERNEL_LEAVES = 64,    /* and one kernel, after fusing */
  UN__RF_HEAVY = 4,             /* weight from which a value repeated inside a reduction is stored */
  UN__RF_REPEAT = 64            /* weight times repetitions from which a value used in several ways is stored */
};

typedef struct un__rf_leaves { uint32_t n; uint32_t at[]; } un__rf_leaves;   /* ascending positions */

typedef struct un__rf_fact {
  const un_uop *node;
  uint64_t hash;                /* of the expression with buffers and stored nodes as nameless leaves */
  const un__rf_leaves *leaves;
  uint32_t user;                /* position of the only user; UN__RF_NONE, UN__RF_MANY */
  uint32_t context, contexts;   /* which index tuples it is used under, and about how many */
  uint16_t weight;              /* about how much work one element is, saturating at 255 */
  uint16_t nreduce;             /* reductions of the expression, saturating at UN__RF_MAX_REDUCED + 1 */
  uint16_t level;               /* longest chain of plain nodes below */
  uint8_t keep;                 /* un__rf_keep */
  bool chained;                 /* in the epilogue of some reduction */
  bool reduced;                 /* a plain path leads up to a REDUCE_AXIS */
  int32_t device;               /* where it is computed */
} un__rf_fact;

typedef struct un__rf_plan {
  un__graph *g;
  un__arena *arena;
  uint32_t n;
  un__rf_fact *fact;            /* toposort order */
  uint32_t *position;           /* by node id */
  uint32_t ids;                 /* entries of position */
  uint32_t nresults;
  uint32_t *result;             /* per sink source: position of the node that holds its elements, in the same order */
} un__rf_plan;

/* Sources of `n` that are tensors; the rest are sizes. */
uint32_t un__rf_tensor_sources(const un_uop *n);
/* The position of a source of a planned node. */
static inline uint32_t un__rf_position(const un__rf_plan *p, const un_uop *n) { return p->position[n->id]; }
static inline un__rf_fact *un__rf_fact_of(const un__rf_plan *p, const un_uop *n) {
  return &p->fact[p->position[n->id]];
}
/* Known size of every dim, its upper bound when symbolic; saturates. */
int64_t un__rf_numel(const un__shape *s);
static inline bool un__rf_is_leaf(const un__rf_fact *f) {
  return f->node->op == UN__OP_BUFFER || f->keep != UN__RF_PLAIN;
}

/* device: of what neither reads a BUFFER nor is needed by what does. */
un_status un__rf_plan_make(un__rf_plan *p, un__graph *g, const un_uop *sink, int32_t device);

#endif
