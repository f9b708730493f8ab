#include "cores.h"

#include <string.h>

#include "rewrite/rewrite.h"

enum { ROWS = 8, COLUMNS = 4 };

const un_uop *un__tensor_range(const un_uop *reduce) {
  for (uint32_t i = 1; i < reduce->nsrc; i++)
    if (un__is(reduce->src[i], UN__OP_RANGE) && un__range_axis(reduce->src[i]) == UN__AXIS_TENSOR) return reduce->src[i];
  return NULL;
}

/* ---- what is multiplied ---- */

static const un_uop *narrow(const un_uop *x) { return un__is(x, UN__OP_CAST) ? x->src[0] : x; }

static bool has_dtype(const un_uop *n, const char *name) { return un__lanes(n) == 1 && strcmp(un__dt_info(n->dtype)->name, name) == 0; }

/* Products of less than the sum's width are exact in it. */
static bool takes(const un__tensor_core *c, const un_uop *reduce, const un_uop *a, const un_uop *b, uint32_t licences) {
  if (!has_dtype(reduce, c->sum) || !has_dtype(a, c->operand) || !has_dtype(b, c->operand)) return false;
  if (c->rounds && !(licences & UN__LIC_APPROX)) return false;
  return !un__dt_is_float(reduce->dtype) || (licences & UN__LIC_REDUCE_ORDER && licences & UN__LIC_CONTRACT);
}

const un__tensor_core *un__core_of(const un_uop *reduce, uint32_t cores, uint32_t licences, const un_uop **left,
                                   const un_uop **right) {
  if (!un__is(reduce, UN__OP_REDUCE) || un__attr(reduce, 0) != UN__OP_ADD || !un__is(reduce->src[0], UN__OP_MUL)) return NULL;
  *left = narrow(reduce->src[0]->src[0]);
  *right = narrow(reduce->src[0]->src[1]);
  for (uint32_t i = 0; i < UN__TENSOR_CORES; i++)
    if (cores >> i & 1 && takes(&un__tensor_core_table[i], reduce, *left, *right, licences)) return &un__tensor_core_table[i];
  return NULL;
}

/* ---- along what ---- */

static const un_uop *warp_range(const un__digits *d, int64_t stride, int64_t size, const un_uop *in) {
  for (uint32_t i = 0; i < d->n; i++) {
    const un__digit *x = &d->digit[i];
    if (x->axis == UN__AXIS_WARP && x->stride == stride && x->size == size && un__depends_on(in, x->range)) return x->range;
  }
  return NULL;
}

static bool closes(const un_uop *reduce, const un_uop *range) {
  for (uint32_t i = 1; i < reduce->nsrc; i++)
    if (reduce->src[i] == range) return true;
  return false;
}

/* A range of two copies along which the one operand moves and the other does not. */
static const un_uop *range_of_two(const un_uop *reduce, const un_uop *moves, const un_uop *not) {
  for (uint32_t i = 0; i < moves->ranges->n; i++) {
    const un_uop *r = moves->ranges->range[i];
    bool copies = un__range_axis(r) == UN__AXIS_UPCAST || un__range_axis(r) == UN__AXIS_UNROLL;
    if (copies && un__known_size(r->src[0]) == 2 && !closes(reduce, r) && !un__depends_on(not, r)) return r;
  }
  return NULL;
}

static void swap(un__core_product *p) {
  const un_uop *x = p->left;
  p->left = p->right;
  p->right = x;
}

const char *un__core_product_of(const un_uop *reduce, const un__digits *d, const un__target *t, uint32_t licences,
                                un__core_product *out) {
  un__core_product p = {.depth = un__tensor_range(reduce)};
  p.core = un__core_of(reduce, t->gpu.tensor_cores, licences, &p.left, &p.right);
  if (!p.core) return "no tensor core of the target adds up what it does";
  if (p.depth && un__known_size(p.depth->src[0]) != p.core->depth) return "not the depth of the target's tensor core";
  p.row = warp_range(d, COLUMNS, ROWS, reduce->src[0]);
  p.column = warp_range(d, 1, COLUMNS, reduce->src[0]);
  if (!p.row || !p.column) return "no warp has 8 of its rows times 4 of its columns";
  if (!un__depends_on(p.left, p.row)) swap(&p);
  if (!un__depends_on(p.left, p.row) || un__depends_on(p.right, p.row) || !un__depends_on(p.right, p.column) ||
      un__depends_on(p.left, p.column))
    return "its operands do not move along rows and columns";
  p.half = range_of_two(reduce, p.left, p.right);
  p.pair = range_of_two(reduce, p.right, p.left);
  if (!p.half || !p.pair) return "no thread has 2 rows and 2 columns";
  *out = p;
  return NULL;
}
