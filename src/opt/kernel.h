/* kernel.h - what the optimiser knows about one kernel: its loops, what they enclose, and what costs time.
 *
 * Sets of axes are 64-bit masks, so a kernel with more than 64 ranges is not described (and not optimised). Work is
 * counted in scalar operations, saturating; a symbolic size counts as its largest value.
 */
#ifndef UN_OPT_KERNEL_H
#define UN_OPT_KERNEL_H

#include "opt.h"
#include "simplify/affine.h"

enum { UN__OPT_MAX_AXES = 64 };

/* One RANGE, ordered by id. */
typedef struct un__opt_axis {
  const un_uop *range;
  int64_t id, size; /* size: the largest when symbolic */
  un__axis type;
  bool known, reduce; /* constant size; closed by a REDUCE */
  uint32_t scope;
} un__opt_axis;

/* A loop nest: the ranges that one END or REDUCE, or several with the same ranges, close. */
typedef struct un__opt_scope {
  const un_uop *node; /* the first of them in the toposort */
  bool reduce;
  uint32_t n;
  uint8_t order[UN__OPT_MAX_AXES]; /* axes, outermost first */
  uint64_t axes, outer;            /* own axes; axes of the loops it stands in */
  bool float_order;                /* a REDUCE of it rounds, so that its order matters */
} un__opt_scope;

typedef enum un__opt_kind { UN__OPT_ALU, UN__OPT_LOAD, UN__OPT_STORE, UN__OPT_COMBINE } un__opt_kind;

/* A node that takes time each time it is computed. */
typedef struct un__opt_value {
  const un_uop *node;
  un__opt_kind kind;
  uint32_t cost;        /* of one scalar execution */
  uint64_t moves, live; /* axes it depends on; axes of all loops around it */
  int32_t scope;        /* the innermost around it; -1: none */
} un__opt_value;

typedef struct un__opt_kernel {
  un__topo nodes;
  uint32_t naxes, nscopes, nvalues;
  un__opt_axis axis[UN__OPT_MAX_AXES];
  un__opt_scope *scope;
  un__opt_value *value;
  uint64_t *mask;  /* by node position: axes it depends on */
  bool *stored;    /* by node position: computed from what a LOAD or a REDUCE gives */
  uint32_t width;  /* bytes of the widest element */
  int64_t next_id; /* the first unused range id */
} un__opt_kernel;

/* UN_ERR_UNSUPPORTED with the reason when it cannot be described. */
un_status un__opt_kernel_of(un__opt_kernel *k, const un_uop *kernel, const un__target *t, un__err *err);
void un__opt_kernel_finish(un__opt_kernel *k);

int32_t un__opt_axis_by_id(const un__opt_kernel *k, int64_t id); /* -1: none */
/* Whether the kernel loads from memory that it stores to: what is stored twice may then differ. */
bool un__opt_updates(const un__opt_kernel *k);
/* Whether the target can leave out lanes of every load of the kernel. */
bool un__opt_masks(const un__opt_kernel *k, const un__target *t);
/* Product of the sizes of a set of axes, saturating. */
uint64_t un__opt_trips(const un__opt_kernel *k, uint64_t axes);
static inline uint64_t un__opt_sat_mul(uint64_t a, uint64_t b) {
  uint64_t r;
  return __builtin_mul_overflow(a, b, &r) ? UINT64_MAX : r;
}
static inline uint64_t un__opt_sat_add(uint64_t a, uint64_t b) {
  uint64_t r;
  return __builtin_add_overflow(a, b, &r) ? UINT64_MAX : r;
}

#endif
