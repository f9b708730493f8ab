/* gpu.h - plans for GPUs: what becomes a block, a thread, a vector and a copy in registers. Private to opt.
 *
 * Along one axis an element's place has the digits, outermost first: block or loop, copy, thread, neighbour, inner copy, lane.
 * Lanes are one access of a thread, threads lie side by side in memory, copies are accesses under way at once, inner copies
 * what a thread keeps side by side. Of a reduction the `tile` steps inside of a loop come before all of these.
 */
#ifndef UN_OPT_GPU_H
#define UN_OPT_GPU_H

#include "choose.h"

/* What the strategies look at first. */
typedef struct un__opt_gpu {
  un__opt_choice *c;
  const un__opt_scope *nest;  /* that every result is stored in; NULL: there is none */
  uint64_t kept;              /* its axes that reductions depend on */
  uint64_t rest;              /* those that they do not */
  bool reduces;
} un__opt_gpu;

typedef struct un__opt_gpu_shape {
  const char *name;
  bool (*pick)(un__opt_gpu *x); /* false: not this one */
} un__opt_gpu_shape;

/* gpu_shapes.c: in this order; the last one takes everything. */
extern const un__opt_gpu_shape un__opt_gpu_shapes[];
extern const size_t un__opt_gpu_nshapes;

void un__opt_gpu_pick(un__opt_choice *c);
void un__opt_gpu_write(un__opt_choice *c, un__opt_plan *plan);

/* ---- questions that shapes share (gpu.c) ---- */

/* How much is read and written in order along an axis, in bytes, by values for which (v->scope's axes & where) or, where 0, by
 * all; stores count a little more. */
uint64_t un__opt_gpu_in_order(const un__opt_gpu *x, uint32_t axis, int32_t scope);
/* The one of a set of axes of a scope along which most is; the innermost of equals; -1: none. */
int32_t un__opt_gpu_fast(const un__opt_gpu *x, const un__opt_scope *s, uint64_t axes, int32_t scope);
/* Elements of one access of a thread along an axis: all of them in order, aligned, and no rest; else 1. */
int64_t un__opt_gpu_lanes(const un__opt_gpu *x, uint32_t axis);
int64_t un__opt_gpu_size(const un__opt_gpu *x, uint32_t axis);
/* What lanes, warp, threads and copies leave of an axis. */
int64_t un__opt_gpu_left(const un__opt_gpu *x, uint32_t axis);
/* `want`, halved as long as half of it would be padding of what is left of an axis. */
int64_t un__opt_gpu_fit(const un__opt_gpu *x, uint32_t axis, int64_t want);
/* Deals up to `want` threads to the axes of a scope that are in the set, from `first` (or the innermost) outwards. The number dealt. */
int64_t un__opt_gpu_deal(un__opt_gpu *x, const un__opt_scope *s, uint64_t axes, int32_t first, int64_t want);
int64_t un__opt_gpu_floor2(int64_t n); /* the power of two at most n; 1 for less */

/* A reduction whose operands move along an axis each: that of the one, that of the other; `column` is the one along memory,
 * turned: that is the outer one. */
typedef struct un__opt_gpu_product {
  int32_t scope, row, column;
  bool turned;
} un__opt_gpu_product;

/* The innermost pair of axes with an operand each; false: there is none. */
bool un__opt_gpu_find_product(const un__opt_gpu *x, un__opt_gpu_product *out);
int64_t un__opt_gpu_product_blocks(const un__opt_gpu *x, const un__opt_gpu_product *p);

bool un__opt_gpu_pick_tensor(un__opt_gpu *x); /* gpu_tensor.c */

#endif
