/* cone.h - the expression of one planned node, cut out of the tensor graph.
 *
 * In a cone every stored tensor is BUFFER(slot = its number among the cone's leaves), so cones that differ only in
 * which buffers they read are the same node. Leaves are numbered in order of first visit; operands of commutative ops
 * are visited in the order of their nameless hashes, because the interner's order depends on slots.
 */
#ifndef UN_RANGEIFY_CONE_H
#define UN_RANGEIFY_CONE_H

#include "base/vec.h"
#include "plan.h"

typedef UN__VEC(uint32_t) un__rf_positions;

typedef struct un__rf_cutter {
  const un__rf_plan *plan;
  const un_uop **made;          /* by position: what the node became in this cone */
  uint32_t *round;              /* by position: the cone for which `made` and `leaf` hold */
  uint32_t now;
  un__rf_positions stack;
} un__rf_cutter;

un_status un__rf_cutter_init(un__rf_cutter *c, const un__rf_plan *p);
void un__rf_cutter_finish(un__rf_cutter *c);

/* The expression of the planned node at `root`. `leaves` lists the positions behind slots 0.. already taken and grows.
 * NULL on failure. */
const un_uop *un__rf_cut(un__rf_cutter *c, uint32_t root, un__rf_positions *leaves);

#endif
