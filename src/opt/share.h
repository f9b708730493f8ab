/* share.h - staging on a GPU: what threads of a block read again, or out of order, they copy into shared memory together. The
 * step STAGE of a range says: for each value of this range, a loop of a reduction or a range of blocks, all operands that
 * move along threads inside of it. */
#ifndef UN_OPT_SHARE_H
#define UN_OPT_SHARE_H

#include "kernel.h"

enum { UN__OPT_MAX_SHARED = 4, UN__OPT_MAX_STAGES = 8 };

typedef struct un__opt_panel {
  const un_uop *load;                /* what is read from shared memory instead */
  uint32_t n;
  uint8_t axis[UN__OPT_MAX_AXES];    /* that one copy covers, in the order of the operand's memory: the last are closest */
  int64_t step[UN__OPT_MAX_AXES];    /* how far apart neighbours along each are there; INT64_MAX: not known */
  int64_t size, row, pad;            /* elements; of them side by side in shared memory, and left out behind each row */
  int64_t lanes;                     /* that a thread copies at once */
  bool natural;                      /* rows of the operand's own order, for a tensor core */
  int64_t pieces;                    /* of 16 bytes that are permuted in a row; 1: none are */
  bool held;                         /* of a ring: the next round is in registers until this one is read */
  int64_t parts;                     /* of its memory */
} un__opt_panel;

typedef struct un__opt_share {
  uint32_t n;
  un__opt_panel panel[UN__OPT_MAX_SHARED];
  int64_t threads;                   /* that copy: all of the block */
  uint32_t axis;
  int64_t stages;                    /* rounds of the loop that are in shared memory at once; 1: each is copied when it comes */
} un__opt_share;

/* Bytes of shared memory for what is staged. */
uint64_t un__opt_share_room(const un__target *t, int64_t stages);

/* What can be staged at an axis; the reason when nothing can. With 2 stages or more copies run asynchronously, so many rounds
 * ahead less one. */
const char *un__opt_share_of(const un__opt_kernel *k, uint32_t axis, int64_t stages, const un__target *t, un__opt_share *out);
const un_uop *un__opt_share_apply(un__graph *g, const un_uop *kernel, const un__opt_kernel *k, const un__opt_share *s);

#endif
