/* store.h - what node.c, world.c and graph.c share: where nodes of one graph live. Private to src/uop. */
#ifndef UN_UOP_STORE_H
#define UN_UOP_STORE_H

#include <threads.h>
#include "graph.h"
#include "base/ptrmap.h"
#include "base/vec.h"
#include "hashcons/intern.h"
#include "hashcons/slab.h"

enum { UN__NODE_ZEROED = 1 };     /* un_uop.flags: on its world's list of nodes without references */


/* The nodes of a workspace or of a world. */
typedef struct un__store {
  un__intern nodes, shapes, rangesets;
  un__intern value_of, node_of;  /* world: un__value_entry by node and by buffer (values.c) */
  un__arena arena;               /* workspace: nodes, shapes, range sets, scratch */
  un__slab slab;                 /* world: nodes and shapes */
  uint32_t next_id;
  UN__VEC(uint32_t) free_ids;    /* world: ids of freed nodes */
  un_uop *zeroed;                /* world: nodes to be freed once no epoch protects them */
  size_t nzeroed;
  uint64_t epoch;
  uint64_t lookups;
  size_t live;
  int64_t next_range, next_serial;
  const un__rangeset *no_ranges;
} un__store;

struct un__graph {
  un__store *store;
  un__world *world;              /* NULL: a workspace */
  un__err *err;
  un__store own;                 /* a workspace's store */
  void *attached;                /* of the layer above; freed by detach() */
  void (*detach)(void *p);
};

/* un__uop without the lock. */
const un_uop *un__build(un__graph *g, un__op op, un__dtype dtype, const un_uop *const *src, uint32_t nsrc,
                        const int64_t *attrs, uint32_t nattr);
const un_uop *un__build_const(un__graph *g, un__dtype dtype, int64_t bits);

/* Interned shape with these dims; takes an edge on each dim in a world. Its users are counted by node.c. */
const un__shape *un__shape_make(un__graph *g, uint32_t rank, const un_uop *const *dim);
void un__shape_drop(un__store *st, un__shape *s, uint64_t stamp);   /* world: a user goes away */

/* The shape of a node to be, by the op's rule. True and *out (may be NULL: no shape), or false with the error set. */
bool un__infer_shape(un__graph *g, un__op op, const un_uop *const *src, uint32_t nsrc, const int64_t *attrs,
                     uint32_t nattr, const un__shape **out);
/* Bounds of a node whose other fields are filled in. */
void un__infer_bounds(un_uop *n);
/* Open ranges of a node whose sources are filled in; NULL when memory is short. */
const un__rangeset *un__infer_ranges(un__graph *g, const un_uop *n);

static inline size_t un__node_size(uint32_t nsrc, uint32_t nattr) {
  return sizeof(un_uop) + (nsrc + (size_t)nattr) * sizeof(int64_t);
}

void un__list_zeroed(un__store *st, un_uop *n);

/* A node is about to be freed: the entry of its value, or of what it is the value of, goes. */
typedef struct un__value_entry un__value_entry;
void un__values_forget(un__store *st, const un_uop *n);
void un__values_finish(un__store *st);

/* A source edge or pin goes away; nodes that reach zero are listed with the later of `stamp` and their own. */
void un__unref(un__store *st, const un_uop *n, uint64_t stamp);
void un__world_lock(un__world *w);
void un__world_unlock(un__world *w);

#endif
