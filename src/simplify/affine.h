/* affine.h - how integer nodes move along a loop.
 *
 * A range seen in groups of `extent` values is r = extent * q + lane with lane in [0, extent). For every integer node
 * the scan finds, when it can, value = step * lane + rest, where rest is the same for all lanes of a group and always
 * a multiple of `mult`. Division and modulus stay linear when a group cannot cross a multiple of the divisor.
 *
 * opt asks with the lanes it thinks of; codegen asks with the lanes that it has.
 */
#ifndef UN_SIMPLIFY_AFFINE_H
#define UN_SIMPLIFY_AFFINE_H

#include "uop/uop.h"

/* The nodes below a root, sources first, numbered densely. */
typedef struct un__topo {
  const un_uop **at;
  size_t n;
  uint32_t *number; /* by node id; 0: not below the root, else position + 1 */
  uint32_t limit;   /* entries of number */
} un__topo;

bool un__topo_of(un__topo *out, const un_uop *root); /* false: no memory */
void un__topo_finish(un__topo *nodes);
/* The position of a node, or -1. */
static inline int64_t un__topo_find(const un__topo *nodes, const un_uop *n) {
  return n->id < nodes->limit ? (int64_t)nodes->number[n->id] - 1 : -1;
}

typedef struct un__affine {
  int64_t step;
  int64_t mult; /* at least 0; 0: rest is 0 */
  int32_t axis; /* the range that moves it, by position in the scan; -1: none does */
  bool linear;  /* false: it moves, and nothing is known about how */
} un__affine;

typedef struct un__affine_axis {
  const un_uop *range;
  int64_t extent; /* 0: the scan is of where this range is 0 */
} un__affine_axis;

/* out[i] describes nodes->at[i]. A node that two of the axes move is not linear. */
void un__affine_scan(const un__topo *nodes, const un__affine_axis *axes, uint32_t naxes, un__affine *out);

#endif
