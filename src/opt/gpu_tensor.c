/* gpu_tensor.c - the shape of kernels whose products a tensor core computes.
 *
 * A warp has a tile of results: rows of 16, columns of 8. Warps of a block read the same operands from shared memory. A tile of
 * 64 x 64 for each of four warps reads the least a product of what fits into registers. */
#include "gpu.h"
#include "simplify/cores.h"

#define BIT(a) (UINT64_C(1) << (a))

enum {
  ROW_THREADS = 8, ROW_HALVES = 2, COLUMN_THREADS = 4, COLUMN_PAIR = 2, /* of the instruction */
  ROW_COPIES = 4, COLUMN_COPIES = 8,                                    /* instructions of a warp */
  SIDE_WARPS = 2,                                                       /* warps of a block along each side */
  STAGES = 4,                                                           /* of them, in shared memory at once */
  TOGETHER = 8,
  DEPTH_COPIES = 2,                                                     /* instructions of one result that are staged at a time */
};

/* The core that computes every value which the scope reduces; NULL: none. */
static const un__tensor_core *core_of(const un__opt_gpu *x, int32_t scope) {
  const un__opt_kernel *k = x->c->k;
  const un__tensor_core *core = NULL;
  for (uint32_t i = 0; i < k->nvalues; i++) {
    const un_uop *n = k->value[i].node, *a, *b;
    if (!un__is(n, UN__OP_REDUCE) || !un__same_ranges(n, k->scope[scope].node)) continue;
    const un__tensor_core *one = un__core_of(n, x->c->t->gpu.tensor_cores, x->c->licences, &a, &b);
    if (!one || (core && one != core)) return NULL;
    core = one;
  }
  return core;
}

/* Copies are clamped where they are ragged, and then nothing is loaded in order: rather fewer of them, and the rest to warps. */
static int64_t fit_copies(const un__opt_gpu *x, uint32_t axis, int64_t want) {
  int64_t left = un__opt_gpu_left(x, axis);
  for (int64_t n = want; n > 1; n--)
    if (left % n == 0) return n;
  return 1;
}

static void fill(un__opt_gpu *x, const un__opt_gpu_product *p) {
  un__opt_pick *row = &x->c->pick[p->row], *column = &x->c->pick[p->column];
  row->core = UN__OPT_CORE_ROW;
  row->warp = ROW_THREADS;
  row->inner = ROW_HALVES;
  row->copies = fit_copies(x, (uint32_t)p->row, ROW_COPIES);
  row->threads = un__opt_gpu_fit(x, (uint32_t)p->row, SIDE_WARPS);
  column->core = UN__OPT_CORE_COLUMN;
  column->lanes = COLUMN_PAIR;
  column->warp = COLUMN_THREADS;
  column->copies = fit_copies(x, (uint32_t)p->column, COLUMN_COPIES);
  column->threads = un__opt_gpu_fit(x, (uint32_t)p->column, SIDE_WARPS);
}

/* Fewer copies until nearly every multiprocessor has a block. */
static bool make_smaller(un__opt_pick *row, un__opt_pick *column) {
  un__opt_pick *larger = row->copies * 2 > column->copies ? row : column;
  if (larger->copies < 2) larger = larger == row ? column : row;
  if (larger->copies < 2) return false;
  larger->copies /= 2;
  return true;
}

/* Blocks that run at a time read fewer different operands where they form a square: so many rows of them are numbered together. */
static void pick_order(un__opt_gpu *x, const un__opt_gpu_product *p) {
  int64_t rows = un__opt_gpu_left(x, (uint32_t)p->row), n = TOGETHER;
  while (n > 1 && rows % n) n--;
  if (n > 1 && rows > n) x->c->pick[p->row].together = n;
}

static void pick_depth(un__opt_gpu *x, const un__opt_gpu_product *p, uint32_t axis, const un__tensor_core *core) {
  un__opt_pick *depth = &x->c->pick[axis];
  depth->core = UN__OPT_CORE_DEPTH;
  depth->lanes = core->depth;
  depth->copies = un__opt_gpu_fit(x, axis, DEPTH_COPIES);
  int64_t rounds = un__opt_gpu_left(x, axis);
  if (rounds > 1) depth->stage = true;
  if (x->c->t->gpu.async_copies) depth->stages = rounds < STAGES ? rounds : STAGES;
  if (rounds > 1) return;
  if (un__opt_gpu_left(x, (uint32_t)p->row) > 1) x->c->pick[p->row].stage = true;
  else if (un__opt_gpu_left(x, (uint32_t)p->column) > 1) x->c->pick[p->column].stage = true;
}

bool un__opt_gpu_pick_tensor(un__opt_gpu *x) {
  un__opt_gpu_product p;
  const un__tensor_core *core = un__opt_gpu_find_product(x, &p) ? core_of(x, p.scope) : NULL;
  if (!core || x->c->t->gpu.warp != ROW_THREADS * COLUMN_THREADS) return false;
  if (p.turned) {                            /* threads are numbered along the inner axis */
    int32_t row = p.row;
    p.row = p.column;
    p.column = row;
  }
  const un__opt_scope *s = &x->c->k->scope[p.scope];
  uint32_t depth = s->order[s->n - 1];
  const uint32_t axes[] = {(uint32_t)p.row, (uint32_t)p.column, depth};
  for (int i = 0; i < 3; i++)
    if (!x->c->k->axis[axes[i]].known) return false;
  if (un__opt_gpu_size(x, depth) <= core->depth / 2) return false;
  fill(x, &p);
  while (un__opt_gpu_product_blocks(x, &p) * 8 < (int64_t)x->c->t->gpu.units * 7 && make_smaller(&x->c->pick[p.row], &x->c->pick[p.column])) continue;
  pick_depth(x, &p, depth, core);
  pick_order(x, &p);
  const un__opt_pick *r = &x->c->pick[p.row], *c = &x->c->pick[p.column];
  un__opt_say(x->c, "%s products of %u x %u x %u: %lld x %lld of them a warp, %lld x %lld warps a block, %lld blocks", core->operand,
              core->rows, core->columns, core->depth, (long long)r->copies, (long long)c->copies, (long long)(r->threads ? r->threads : 1),
              (long long)(c->threads ? c->threads : 1), (long long)un__opt_gpu_product_blocks(x, &p));
  return true;
}
