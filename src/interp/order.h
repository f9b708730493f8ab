/* order.h - the nodes below some roots, sources first, with their positions. Positions, not ids, are what messages show
 * and what the interpreter's arrays are indexed by. */
#ifndef UN_INTERP_ORDER_H
#define UN_INTERP_ORDER_H

#include "uop/uop.h"

typedef struct un__iorder {
  const un_uop **node;
  size_t n;
  uint32_t *by_id;       /* position + 1 of the node with that id; 0: not below the roots */
  size_t id_limit;
} un__iorder;

un_status un__iorder_init(un__iorder *o, const un_uop *const *roots, uint32_t nroots, un__err *err);
void un__iorder_finish(un__iorder *o);

/* `n` must be below the roots. */
static inline uint32_t un__iorder_at(const un__iorder *o, const un_uop *n) { return o->by_id[n->id] - 1; }

#endif
