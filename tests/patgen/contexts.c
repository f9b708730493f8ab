/* contexts.c - the contexts that rulesets name (`ctx T`), as tests need them: what a pass would have found out about
 * the kernel is found out about the term.
 *
 *   un__split         RANGE 0 of size n becomes RANGE<1, LOOP>(ceil(n / 4)) * 4 + RANGE<2, UPCAST>(4); an UNROLL range
 * is clamped, others are gated when 4 does not divide n un__expansion     ranges of type UPCAST and UNROLL are lanes
 * when their size is a power of two, else tiles; four accumulators fit un__accumulation  the term's own REDUCE is
 * ready, its accumulators have numbers from 0 un__rf_push       fresh ranges are counted from 7 un__rf_memory     leaf 0 is
 * computed in place as the index tuple's first index, as i32; no other is
 *   un__threading     one block of 8 threads; each range of threads is a digit of stride 1
 *   un__tensor_cores  those of an H200; WARP ranges are digits of the thread's number, the one of the lowest id first
 */
#include <stdlib.h>

#include "codegen/expand.h"
#include "codegen/tensor.h"
#include "codegen/threads.h"
#include "opt/split.h"
#include "rangeify/memory.h"
#include "rewrite/match_test.h"
#include "target/target.h"
#include "uop/combine.h"

static struct {
  un__split split;
  un__expansion expansion;
  un__accumulation accumulation;
  const un_uop *reg[UN__MAX_COMBINE];
  un__rf_push push;
  un__rf_memory memory;
  un__rf_nest nest;
  un__rf_use use;
  un__threading threading;
  un__tensor_cores cores;
} now;

static void forget(void) {
  un__rows_finish(&now.expansion);
  un__topo_finish(&now.accumulation.order);
  un__vec_finish(&now.expansion.lanes);
  free(now.expansion.affine);
  free(now.accumulation.reg);
  memset(&now, 0, sizeof now);
}

static const un_uop *find_range(const un__topo *order, int64_t id) {
  for (size_t i = 0; i < order->n; i++)
    if (order->at[i]->op == UN__OP_RANGE && un__range_id(order->at[i]) == id) return order->at[i];
  return NULL;
}

static void *split_of(un__rw *rw, const un_uop *left) {
  un__topo order = {0};
  const un_uop *r = un__topo_of(&order, left) ? find_range(&order, 0) : NULL;
  un__topo_finish(&order);
  int64_t n = r ? un__known_size(r->src[0]) : -1;
  if (n < 1) return NULL;
  un__split *s = &now.split;
  s->range = r;
  s->clamp = un__range_axis(r) == UN__AXIS_UNROLL;
  s->rest = un__range(rw->g, un__idx(rw->g, (n + 3) / 4), UN__AXIS_LOOP, 1);
  s->part = un__range(rw->g, un__idx(rw->g, 4), UN__AXIS_UPCAST, 2);
  s->value = un__binary(rw->g, UN__OP_ADD, un__binary(rw->g, UN__OP_MUL, s->rest, un__idx(rw->g, 4)), s->part);
  if (n % 4) s->inside = un__binary(rw->g, UN__OP_LT, s->value, un__idx(rw->g, n));
  return s;
}

static bool may_be_lane(const un_uop *n) {
  if (n->op != UN__OP_RANGE) return false;
  int64_t size = un__known_size(n->src[0]);
  bool expands = un__range_axis(n) == UN__AXIS_UPCAST || un__range_axis(n) == UN__AXIS_UNROLL;
  return expands && size > 1 && !(size & (size - 1));
}

static const un_uop *lane_below(const un_uop *left) {
  un__topo order = {0};
  const un_uop *lane = NULL;
  bool good = un__topo_of(&order, left);
  for (size_t i = 0; good && i < order.n; i++) {
    const un_uop *n = order.at[i];
    if (may_be_lane(n) && (!lane || un__range_id(n) > un__range_id(lane))) lane = n;
  }
  un__topo_finish(&order);
  return lane;
}

static void *expansion_of(const un_uop *left) {
  un__expansion *x = &now.expansion;
  const un_uop *lane = lane_below(left);
  un__affine_axis axis = {lane, lane ? un__known_size(lane->src[0]) : 0};
  x->max_sums = 4;
  if (lane && (!un__vec_push(&x->lanes, lane) || un__find_rows(x, left) != UN_OK)) return NULL;
  if (!lane && !un__topo_of(&x->order, left)) return NULL;
  x->affine = calloc(x->order.n, sizeof *x->affine);
  if (!x->affine) return NULL;
  un__affine_scan(&x->order, &axis, lane != NULL, x->affine);
  return x;
}

static void *accumulation_of(un__rw *rw, const un_uop *left) {
  un__accumulation *a = &now.accumulation;
  if (left->op != UN__OP_REDUCE || !un__topo_of(&a->order, left)) return NULL;
  a->reg = calloc(a->order.n, sizeof *a->reg);
  if (!a->reg) return NULL;
  for (uint32_t i = 0; i < un__reduce_width(left); i++) {
    un__dtype ptr = un__dt_ptr(un__dt_scalar(un__reduce_element(left, i)->dtype), UN__SPACE_REG);
    now.reg[i] = un__uop(rw->g, UN__OP_DEFINE_REG, ptr, (const un_uop *[]){un__idx(rw->g, 1)}, 1, (const int64_t[]){i}, 1);
  }
  a->reg[un__topo_find(&a->order, left)] = (un__span){now.reg, un__reduce_width(left)};
  return a;
}

static void *memory_of(un__rw *rw, const un_uop *left) {
  now.memory.nest = &now.nest;
  now.nest.use = &now.use;
  now.nest.nuse = 1;
  now.use.in_place = left->nsrc > 1 ? un__cast(rw->g, left->src[0]->dtype, left->src[1]) : NULL;
  return &now.memory;
}

static void *cores_of(const un_uop *left) {
  un__topo order = {0};
  now.cores.target = un__target_by_name("sm_90a");
  un__digits *d = &now.cores.digits;
  bool good = un__topo_of(&order, left);
  int64_t stride = 1;
  for (int64_t id = 0; good && id < 8; id++) {
    const un_uop *r = find_range(&order, id);
    if (!r || un__range_axis(r) != UN__AXIS_WARP) continue;
    d->digit[d->n++] = (un__digit){.range = r, .axis = UN__AXIS_WARP, .size = un__known_size(r->src[0]), .stride = stride};
    stride *= un__known_size(r->src[0]);
  }
  un__topo_finish(&order);
  return &now.cores;
}

static void *threading_of(un__rw *rw, const un_uop *left) {
  un__threading *t = &now.threading;
  un__topo order = {0};
  if (!un__topo_of(&order, left)) return NULL;
  for (size_t i = 0; i < order.n; i++) {
    const un_uop *r = order.at[i];
    if (r->op != UN__OP_RANGE || !un__axis_is_thread(un__range_axis(r))) continue;
    t->digits.digit[t->digits.n++] = (un__digit){.range = r, .axis = un__range_axis(r), .size = un__known_size(r->src[0]), .stride = 1};
  }
  un__topo_finish(&order);
  const un_uop *n = un__idx(rw->g, 8);
  t->digits.blocks = 1;
  t->digits.threads = 8;
  t->warp = 32;
  t->thread = un__uop(rw->g, UN__OP_SPECIAL, 0, &n, 1, (const int64_t[]){UN__AXIS_LOCAL, 0}, 2);
  t->block = un__idx(rw->g, 0);
  return t;
}

bool un__mt_context(un__rw *rw, const char *ctx, const un_uop *left) {
  forget();
  rw->ctx = NULL;
  if (!strcmp(ctx, "un__target") || !strcmp(ctx, "sample_ctx")) return true; /* NULL: the interpreter's, or none */
  if (!strcmp(ctx, "un__gpu_target")) rw->ctx = (void *)un__target_gpu(0);
  if (!strcmp(ctx, "un__split")) rw->ctx = split_of(rw, left);
  if (!strcmp(ctx, "un__expansion")) rw->ctx = expansion_of(left);
  if (!strcmp(ctx, "un__accumulation")) rw->ctx = accumulation_of(rw, left);
  if (!strcmp(ctx, "un__rf_memory")) rw->ctx = memory_of(rw, left);
  if (!strcmp(ctx, "un__threading")) rw->ctx = threading_of(rw, left);
  if (!strcmp(ctx, "un__tensor_cores")) rw->ctx = cores_of(left);
  if (!strcmp(ctx, "un__rf_push")) now.push.next_range = 7, rw->ctx = &now.push;
  return rw->ctx != NULL;
}
