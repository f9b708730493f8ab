/* combine.c - builds COMBINEs, applies their bodies and answers questions about them. None of this enters the graph
 * around a body, nor the rewrite engine the body. */
#include "combine.h"

#include <string.h>

#include "base/ptrmap.h"
#include "eval.h"
#include "graph.h"

enum { MAX_RANGES = 64 };

/* ---- building ---- */

const un_uop *un__arg(un__graph *g, un__dtype dtype, uint32_t i) {
  int64_t attr = i;
  return un__uop(g, UN__OP_ARG, dtype, NULL, 0, &attr, 1);
}

const un_uop *un__combine(un__graph *g, const un_uop *body, const un_uop *const *x, const un_uop *const *identity,
                          uint32_t n) {
  const un_uop *src[1 + 2 * UN__MAX_COMBINE] = {body};
  if (n > UN__MAX_COMBINE) {
    un__fail(un__graph_err(g), UN_ERR_UNSUPPORTED, "combine: %u values together, at most %d", n, UN__MAX_COMBINE);
    return NULL;
  }
  memcpy(src + 1, x, n * sizeof *x);
  memcpy(src + 1 + n, identity, n * sizeof *identity);
  return un__uop(g, UN__OP_COMBINE, 0, src, 1 + 2 * n, NULL, 0);
}

const un_uop *un__combine_with(un__graph *g, const un_uop *combine, const un_uop *const *x) {
  return un__combine(g, un__combine_body(combine), x, combine->src + 1 + un__combine_width(combine),
                     un__combine_width(combine));
}

const un_uop *un__get(un__graph *g, const un_uop *tuple, un__dtype dtype, uint32_t i) {
  int64_t attr = i;
  return un__uop(g, UN__OP_GET, dtype, &tuple, 1, &attr, 1);
}

/* ---- reductions of either form ---- */

const un_uop *un__reduce_identity(un__graph *g, const un_uop *reduce, uint32_t i) {
  un__value v;
  if (un__is_combined(reduce)) return un__combine_identity(reduce->src[0], i);
  if (!un__identity((un__op)un__attr(reduce, 0), UN__DT(un__dt_scalar(reduce->dtype)), &v)) return NULL;
  return un__const_bits(g, UN__DT(un__dt_scalar(reduce->dtype)), un__value_bits(v));
}

const un_uop *un__reduce_value(un__graph *g, const un_uop *reduce, uint32_t i) {
  return un__is_combined(reduce) ? un__get(g, reduce, un__reduce_element(reduce, i)->dtype, i) : reduce;
}

const un_uop *un__reduce_over(un__graph *g, const un_uop *reduce, const un_uop *const *x, const un_uop *const *range,
                              uint32_t nrange) {
  const un_uop *src[1 + MAX_RANGES] = {un__is_combined(reduce) ? un__combine_with(g, reduce->src[0], x) : x[0]};
  if (nrange > MAX_RANGES) {
    un__fail(un__graph_err(g), UN_ERR_UNSUPPORTED, "reduce: over %u ranges, at most %d", nrange, MAX_RANGES);
    return NULL;
  }
  memcpy(src + 1, range, nrange * sizeof *range);
  return un__uop(g, UN__OP_REDUCE, 0, src, nrange + 1, un__attrs(reduce), reduce->nattr);
}

/* ---- application ---- */

typedef struct application {
  un__graph *g;
  const un_uop *const *a, *const *b;
  uint32_t n;
  un__ptrmap value;        /* body node -> what it is here */
} application;

static const un_uop *value_of(const application *p, const un_uop *n) {
  return (const un_uop *)*un__ptrmap_get(&p->value, n);
}

static const un_uop *splat(un__graph *g, const un_uop *x, uint32_t lanes) {
  un__dtype wide = un__dt_with_lanes(x->dtype, lanes);
  if (un__lanes(x) == lanes) return x;
  return un__is_const(x) ? un__with_dtype(g, x, wide) : un__uop(g, UN__OP_VECTORIZE, wide, &x, 1, NULL, 0);
}

/* An elementwise op over the values of its sources, as wide as the widest. */
static const un_uop *apply_op(const application *p, const un_uop *n) {
  const un_uop *src[3];
  uint32_t lanes = 1;
  if (n->nsrc > 3) return NULL;
  for (uint32_t i = 0; i < n->nsrc; i++) {
    src[i] = value_of(p, n->src[i]);
    if (un__lanes(src[i]) > lanes) lanes = un__lanes(src[i]);
  }
  for (uint32_t i = 0; i < n->nsrc; i++) src[i] = splat(p->g, src[i], lanes);
  bool given = un__info(n)->dtype_rule == UN__DR_GIVEN;
  return un__uop(p->g, (un__op)n->op, given ? un__dt_with_lanes(n->dtype, lanes) : 0, src, n->nsrc, un__attrs(n), n->nattr);
}

static const un_uop *apply_node(const application *p, const un_uop *n) {
  if (n->op == UN__OP_CONST) return n;
  if (n->op != UN__OP_ARG) return apply_op(p, n);
  uint64_t i = (uint64_t)un__attr(n, 0);
  if (i < 2 * (uint64_t)p->n) return i < p->n ? p->a[i] : p->b[i - p->n];
  un__fail(un__graph_err(p->g), UN_ERR_INTERNAL, "combine: its body has a foreign placeholder");
  return NULL;
}

static bool put_value(application *p, const un_uop *n) {
  const un_uop *to = apply_node(p, n);
  uintptr_t *place = to ? un__ptrmap_put(&p->value, n, NULL) : NULL;
  if (to && !place) un__fail(un__graph_err(p->g), UN_ERR_NOMEM, "combine: no memory");
  if (!place) return false;
  *place = (uintptr_t)to;
  return true;
}

bool un__combine_apply(un__graph *g, const un_uop *combine, const un_uop *const *a, const un_uop *const *b,
                       const un_uop **out) {
  application p = {g, a, b, un__combine_width(combine), {0}};
  const un_uop *body = un__combine_body(combine);
  size_t n;
  const un_uop **order = un__toposort(body, &n);
  bool ok = order != NULL;
  if (!ok) un__fail(un__graph_err(g), UN_ERR_NOMEM, "combine: no memory");
  for (size_t i = 0; ok && i + 1 < n; i++) ok = put_value(&p, order[i]);
  for (uint32_t i = 0; ok && i < p.n; i++) out[i] = value_of(&p, body->src[i]);
  un__free(order);
  un__ptrmap_finish(&p.value);
  return ok;
}

/* ---- questions ---- */

static bool is_arg(const un_uop *n, uint32_t i) { return n->op == UN__OP_ARG && un__attr(n, 0) == (int64_t)i; }

un__op un__combine_plain(const un_uop *combine, uint32_t i) {
  const un_uop *r = un__combine_body(combine)->src[i];
  uint32_t n = un__combine_width(combine);
  if (!un__has_flag(r, UN__F_ASSOC) || r->nsrc != 2) return UN__OP_NONE;
  bool straight = is_arg(r->src[0], i) && is_arg(r->src[1], n + i);
  bool crossed = is_arg(r->src[1], i) && is_arg(r->src[0], n + i);
  return straight || crossed ? (un__op)r->op : UN__OP_NONE;
}

/* Ops that give one of their float operands, or one with its sign changed. */
static bool is_exact(const un_uop *n) {
  static const uint8_t exact[] = {UN__OP_ARG, UN__OP_CONST, UN__OP_WHERE, UN__OP_MAX, UN__OP_MIN, UN__OP_NEG};
  return !un__dt_is_float(n->dtype) || memchr(exact, n->op, sizeof exact);
}

bool un__reduce_rounds(const un_uop *reduce) {
  int64_t op = un__attr(reduce, 0);
  if (!un__is_combined(reduce)) return un__dt_is_float(reduce->dtype) && op != UN__OP_MAX && op != UN__OP_MIN;
  size_t n;
  const un_uop **order = un__toposort(un__combine_body(reduce->src[0]), &n);
  bool rounds = order == NULL;      /* when in doubt it does */
  for (size_t i = 0; order && i < n; i++) rounds |= !is_exact(order[i]);
  un__free(order);
  return rounds;
}

bool un__combine_needs(const un_uop *combine, uint32_t *mask) {
  uint32_t n = un__combine_width(combine);
  const un_uop *body = un__combine_body(combine);
  for (uint32_t i = 0; i < n; i++) {
    size_t count;
    const un_uop **order = un__toposort(body->src[i], &count);
    if (!order) return false;
    mask[i] = UINT32_C(1) << i;
    for (size_t k = 0; k < count; k++)
      if (order[k]->op == UN__OP_ARG) mask[i] |= UINT32_C(1) << (un__attr(order[k], 0) % n);
    un__free(order);
  }
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t k = 0; k < n; k++) {
        if (!(mask[i] >> k & 1) || (mask[i] | mask[k]) == mask[i]) continue;
        mask[i] |= mask[k];
        more = true;
      }
  }
  return true;
}
