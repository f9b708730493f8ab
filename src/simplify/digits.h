/* digits.h - which digits of a kernel's block number and thread number its GLOBAL, LOCAL, WARP and GROUP_REDUCE ranges are.
 *
 * A range of size n and stride s is (number / s) mod n. Ranges that one value depends on have digits apart; others may share
 * them, as the rows' sums and what is then done with them do. WARP ranges are the innermost digits of the thread number,
 * GROUP_REDUCE ranges come next, so that those who combine values are neighbours, LOCAL ranges last. GLOBAL ranges are digits
 * of the block number.
 */
#ifndef UN_SIMPLIFY_DIGITS_H
#define UN_SIMPLIFY_DIGITS_H

#include "affine.h"

enum { UN__MAX_DIGITS = 64 };

typedef struct un__digit {
  const un_uop *range;         /* NULL: one that is only thought of */
  un__axis axis;
  int64_t size, stride;
  uint64_t apart;              /* the digits that must not overlap it, by number */
} un__digit;

typedef struct un__digits {
  uint32_t n;
  un__digit digit[UN__MAX_DIGITS];
  int64_t blocks, threads;     /* the numbers lie below these. Threads fill warps, or are fewer than one */
} un__digits;

static inline bool un__axis_is_block(un__axis a) { return a == UN__AXIS_GLOBAL; }
static inline bool un__axis_is_thread(un__axis a) {
  return a == UN__AXIS_LOCAL || a == UN__AXIS_WARP || a == UN__AXIS_GROUP_REDUCE;
}
static inline bool un__axis_is_number(un__axis a) { return un__axis_is_block(a) || un__axis_is_thread(a); }

/* NULL, or what is wrong: a size is not constant, there are too many. `warp` is the target's. */
const char *un__digits_of(un__digits *out, const un__topo *nodes, uint32_t warp);
/* The strides of digits that are listed, inner ones of a nest first, and how many blocks and threads that makes. */
const char *un__digits_assign(un__digits *d, uint32_t warp);
/* Of a range, or NULL. */
const un__digit *un__digit_of(const un__digits *d, const un_uop *range);

#endif
