/* pack.h - staging an operand: what a reduction reads again and again is copied into scratch once, in the order it is
 * read. The step STAGE of a range says: for each value of this range, before the loops inside it. */
#ifndef UN_OPT_PACK_H
#define UN_OPT_PACK_H

#include "kernel.h"

typedef struct un__opt_pack {
  const un_uop *load; /* what is read from scratch instead */
  uint64_t panel;     /* the axes that one copy covers: those of the reduction and the expanded ones */
  int64_t size;       /* elements */
} un__opt_pack;

/* Whether only arithmetic on loop variables leads to a load's address, and nothing stores where it reads: then the load
 * may be done elsewhere as well. */
bool un__opt_pack_plain(const un__opt_kernel *k, const un_uop *load);
/* What can be staged at an axis; the reason when nothing can. */
const char *un__opt_pack_of(const un__opt_kernel *k, uint32_t axis, const un__target *t, un__opt_pack *out);
const un_uop *un__opt_pack_apply(un__graph *g, const un_uop *kernel, const un__opt_kernel *k, const un__opt_pack *p);

#endif
