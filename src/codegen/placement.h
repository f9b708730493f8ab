/* placement.h - where every node of a kernel runs: the loop tree, and the block of each node.
 *
 * A block is the body of one loop; block 0 is the kernel's own. Nodes are named by their position in the kernel's
 * topological order, loops by 1.. in order of first visit. */
#ifndef UN_CODEGEN_PLACEMENT_H
#define UN_CODEGEN_PLACEMENT_H

#include "uop/graph.h"

enum { UN__NO_LOOP = UINT32_MAX };

typedef struct un__loop {
  const un_uop *range;
  uint32_t parent, depth;      /* depth of block 0 is 0 */
  uint32_t range_at;           /* position of the RANGE */
  uint32_t first_end;          /* position of the first END that closes it */
  uint64_t *outer;             /* the loops that must be open around it, as a bitset; parents included when placed */
  bool placed;
} un__loop;

typedef struct un__placement {
  const un_uop **order;        /* the kernel's nodes, sources first */
  uint32_t n;
  uint32_t *at;                /* position by node id */
  uint32_t *block;             /* by position; of a RANGE that is a loop: the block it opens; of an END: where its loop stands */
  uint32_t *closes;            /* by position: the loop that an END closes, else UN__NO_LOOP */
  un__loop *loop;
  uint32_t nloops;             /* block 0 included */
  uint32_t words;              /* of a bitset of loops */
} un__placement;

/* A RANGE that becomes an index given from outside (SPECIAL) instead of a loop. */
bool un__range_is_special(const un_uop *range);

/* False on failure: no memory, or loops that do not nest (UN_ERR_INTERNAL). The graph's err has the reason.
 * un__placement_finish frees what there is either way. */
bool un__place(un__graph *ws, const un_uop *kernel, un__placement *out);
void un__placement_finish(un__placement *p);

#endif
