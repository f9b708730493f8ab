/* bound_tensor.c - error bounds of whole tensors, node by node beside their values. NULL stands for: exact everywhere.
 */
#include "bound.h"

#include <math.h>
#include <string.h>

static double *new_bounds(un__ieval *e, uint32_t pos) {
  int64_t count = un__itensor_count(&e->value[pos]);
  double *b = un__calloc((size_t)count, sizeof *b);
  if (!b) un__ieval_no_memory(e);
  return b;
}

static const double *operand_bounds(const un__ieval *e, const un_uop *n, uint32_t i) {
  return e->bound[un__iorder_at(&e->order, un__ieval_operand_node(n, i))];
}

/* Drops bounds that turned out to be 0 everywhere: later nodes are then exact for free. */
static void keep(un__ieval *e, uint32_t pos, double *b) {
  int64_t count = un__itensor_count(&e->value[pos]);
  for (int64_t i = 0; i < count; i++) {
    if (b[i] == 0) continue;
    e->bound[pos] = b;
    return;
  }
  un__free(b);
}

static void bound_alu(un__ieval *e, uint32_t pos, double *out) {
  const un_uop *n = e->order.node[pos];
  int64_t count = un__itensor_count(&e->value[pos]);
  for (int64_t i = 0; i < count; i++) {
    un__value x[3] = {{0}};
    double err[3] = {0};
    for (uint32_t k = 0; k < n->nsrc; k++) {
      const double *b = operand_bounds(e, n, k);
      x[k] = un__itensor_load(un__ieval_operand(e, n, k), i);
      err[k] = b ? b[i] : 0;
    }
    out[i] = un__ibound_element((un__op)n->op, n->dtype, n->nsrc, x, err, un__itensor_load(&e->value[pos], i));
  }
}

typedef struct mover {
  double *to;
  const double *from;
} mover;

static void move_bound(void *data, int64_t to, int64_t from) {
  mover *m = data;
  m->to[to] = from < 0 ? 0 : m->from[from];
}

static void bound_view(un__ieval *e, uint32_t pos, double *out) {
  const un_uop *n = e->order.node[pos];
  un__iview v;
  un__iview_of(n, &e->value[pos], un__ieval_operand(e, n, 0), &v);
  un__iview_walk(&v, move_bound, &(mover){out, operand_bounds(e, n, 0)});
}

static void bound_copy(un__ieval *e, uint32_t pos, double *out) {
  const un_uop *n = e->order.node[pos];
  for (uint32_t k = 0; k < un__ieval_operands(n); k++) {
    size_t count = (size_t)un__itensor_count(un__ieval_operand(e, n, k));
    const double *b = operand_bounds(e, n, k);
    if (b) memcpy(out, b, count * sizeof *out);
    out += count;
  }
}

/* Where an index or its validity is uncertain, any element (or 0) may come out. */
static void bound_gather(un__ieval *e, uint32_t pos, double *out) {
  const un_uop *n = e->order.node[pos];
  const un__itensor *x = un__ieval_operand(e, n, 0);
  const double *values = operand_bounds(e, n, 0);
  int64_t stride[UN__MAX_RANK], count = un__itensor_count(&e->value[pos]);
  un__itensor_strides(x, stride);
  for (int64_t i = 0; i < count; i++) {
    int64_t at = 0;
    bool valid = true, uncertain = false;
    for (uint32_t d = 0; d < x->rank; d++) {
      const double *b = operand_bounds(e, n, d + 1);
      int64_t index = un__itensor_load(un__ieval_operand(e, n, d + 1), i).i;
      uncertain = uncertain || (b && b[i] > 0);
      valid = valid && index != UN__INVALID_INDEX;
      if (valid) at += index * stride[d];
    }
    out[i] = uncertain ? (double)INFINITY : valid && values ? values[at] : 0;
  }
}

static void bound_valid(un__ieval *e, uint32_t pos, double *out) {
  const un_uop *n = e->order.node[pos];
  const double *index = operand_bounds(e, n, 0), *holds = operand_bounds(e, n, 1);
  for (int64_t i = 0, count = un__itensor_count(&e->value[pos]); i < count; i++)
    out[i] = (index && index[i] > 0) || (holds && holds[i] > 0) ? (double)INFINITY : 0;
}

typedef struct summer {
  un__iterms *terms;
  const un__itensor *in;
  const double *err;
} summer;

static void add_term(void *data, int64_t from, int64_t to) {
  summer *s = data;
  un__iterms_add(&s->terms[to], un__itensor_load(s->in, from), s->err ? s->err[from] : 0);
}

static un_status bound_reduce(un__ieval *e, uint32_t pos, double *out) {
  const un_uop *n = e->order.node[pos];
  const un__itensor *in = un__ieval_operand(e, n, 0), *result = &e->value[pos];
  int64_t count = un__itensor_count(result);
  un__iterms *terms = un__calloc((size_t)count, sizeof *terms);
  un__iview v;
  if (!terms) return un__ieval_no_memory(e);
  un_status st = un__ieval_reduce_view(e, pos, in, result, &v);
  if (st == UN_OK) {
    un__iview_walk(&v, add_term, &(summer){terms, in, operand_bounds(e, n, 0)});
    for (int64_t i = 0; i < count; i++)
      out[i] = un__ibound_reduce((un__op)un__attr(n, 0), n->dtype, &terms[i], un__itensor_load(result, i));
  }
  un__free(terms);
  return st;
}

typedef void (*bound_fn)(un__ieval *e, uint32_t pos, double *out);

static const bound_fn bound_table[UN__OP_COUNT] = {
    [UN__OP_PERMUTE] = bound_view, [UN__OP_EXPAND] = bound_view, [UN__OP_PAD] = bound_view,
    [UN__OP_SHRINK] = bound_view,  [UN__OP_FLIP] = bound_view,   [UN__OP_RESHAPE] = bound_copy,
    [UN__OP_STACK] = bound_copy,   [UN__OP_COPY] = bound_copy,   [UN__OP_CONTIGUOUS] = bound_copy,
    [UN__OP_DETACH] = bound_copy,  [UN__OP_GET] = bound_copy,    [UN__OP_INDEX] = bound_gather,
    [UN__OP_VALID] = bound_valid,
};

/* Float operations may be inexact by themselves; everything else is exact on exact operands. */
static bool is_exact(const un__ieval *e, const un_uop *n) {
  for (uint32_t k = 0; k < un__ieval_operands(n); k++)
    if (operand_bounds(e, n, k)) return false;
  bool computes = un__has_flag(n, UN__F_ELEM) || n->op == UN__OP_REDUCE_AXIS;
  return !computes || !un__dt_is_float(n->dtype);
}

un_status un__ibound_node(un__ieval *e, uint32_t pos) {
  const un_uop *n = e->order.node[pos];
  if (is_exact(e, n)) return UN_OK;
  double *out = new_bounds(e, pos);
  if (!out) return UN_ERR_NOMEM;
  un_status st = UN_OK;
  if (n->op == UN__OP_REDUCE_AXIS)
    st = bound_reduce(e, pos, out);
  else
    (un__has_flag(n, UN__F_ELEM) ? bound_alu : bound_table[n->op])(e, pos, out);
  if (st == UN_OK)
    keep(e, pos, out);
  else
    un__free(out);
  return st;
}
