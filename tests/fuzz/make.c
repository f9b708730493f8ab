/* make.c - random tensor programs, driven by the op table: every elementwise op is reached through its row.
 *
 * Where backends may differ in the last bits, what follows must not blow that up: operations that are discontinuous
 * or amplify (comparisons, conversions to integers, EXP, division, POW ...) take exact operands only, and the others keep a
 * bound. Values come out of small ranges, so bounds stay meaningful. */
#include "make.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "uop/eval.h"

uint64_t rng_next(rng *r) {
  uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

uint32_t rng_below(rng *r, uint32_t n) { return (uint32_t)(rng_next(r) >> 33) % n; }
double rng_unit(rng *r) { return (double)(rng_next(r) >> 11) * 0x1p-53; }

static const un_dtype dtypes[] = {UN_BOOL, UN_I8, UN_U8, UN_I16, UN_U16, UN_I32, UN_U32, UN_I64, UN_U64, UN_F16, UN_BF16, UN_F32, UN_F64,
                                  UN_F32, UN_F32, UN_I32};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

double eps_of(un__dtype d) { return ldexp(1.0, -(int)un__dt_info(d)->mantissa - 1); }
int64_t numel(const un_uop *n) { return un__shape_known_numel(n->shape); }
int64_t dim(const un_uop *n, uint32_t i) { return un__known_size(n->shape->dim[i]); }

/* Device 1 has a kernel to run where there is more than one axis. */
static const un_uop *there_and_back(maker *m, const un_uop *n) {
  un__graph *g = m->p->ws;
  int64_t axes[UN__MAX_RANK];
  uint32_t rank = n->shape->rank;
  for (uint32_t i = 0; i < rank; i++) axes[i] = rank - 1 - i;
  n = un__uop(g, UN__OP_COPY, n->dtype, &n, 1, (int64_t[]){1}, 1);
  if (rank > 1 && n) n = un__uop(g, UN__OP_PERMUTE, n->dtype, &n, 1, axes, rank);
  if (rank > 1 && n) n = un__uop(g, UN__OP_CONTIGUOUS, n->dtype, &n, 1, NULL, 0);
  if (rank > 1 && n) n = un__uop(g, UN__OP_PERMUTE, n->dtype, &n, 1, axes, rank);
  return n ? un__uop(g, UN__OP_COPY, n->dtype, &n, 1, (int64_t[]){0}, 1) : NULL;
}

const un_uop *keep(maker *m, const un_uop *n, fact f) {
  if (n && m->copies && rng_below(&m->copies_of, 4) == 0) n = there_and_back(m, n);
  if (n && m->n < MAX_TENSORS) {
    m->tensor[m->n] = n;
    m->fact_of[m->n++] = f;
  }
  return n;
}

fact exact_fact(un__dtype d, double scale) { return (fact){true, scale, un__dt_is_float(d) ? eps_of(d) : 0}; }
/* The largest magnitude of input data, by dtype (see fill_input). */
double data_scale(un__dtype d) { return un__dt_is_float(d) ? 4.0 : 1.0; }

/* ---- leaves ---- */

uint32_t random_shape(maker *m, int64_t *dims) {
  static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33};
  uint32_t rank = rng_below(m->r, 24) ? rng_below(m->r, 4) : 5 + rng_below(m->r, 4);
  for (int64_t n = MAX_NUMEL, i = 0; i < rank; i++) {
    do dims[i] = sizes[rng_below(m->r, sizeof sizes / sizeof *sizes)];
    while (dims[i] > n);
    n /= dims[i];
  }
  return rank;
}

static const un_uop *spread(maker *m, const un_uop *scalar, uint32_t rank, const int64_t *dims) {
  un__graph *g = m->p->ws;
  const un_uop *src[UN__MAX_RANK + 1] = {scalar};
  if (!rank) return scalar;
  for (uint32_t i = 0; i < rank; i++) src[i + 1] = un__idx(g, 1);
  src[0] = un__uop(g, UN__OP_RESHAPE, 0, src, rank + 1, NULL, 0);
  for (uint32_t i = 0; i < rank; i++) src[i + 1] = un__idx(g, dims[i]);
  return un__uop(g, UN__OP_EXPAND, 0, src, rank + 1, NULL, 0);
}

const un_uop *make_buffer(maker *m, un__dtype d, uint32_t rank, const int64_t *dims) {
  const un_uop *src[UN__MAX_RANK];
  if (m->p->ninputs == MAX_INPUTS) return NULL;
  for (uint32_t i = 0; i < rank; i++) src[i] = un__idx(m->p->ws, dims[i]);
  const un_uop *n = un__uop(m->p->ws, UN__OP_BUFFER, d, src, rank, (int64_t[]){m->p->ninputs, 0}, 2);
  if (n) m->p->ninputs++;
  return keep(m, n, exact_fact(d, data_scale(d)));
}

static const un_uop *make_leaf(maker *m) {
  int64_t dims[UN__MAX_RANK];
  un__dtype d = UN__DT(dtypes[rng_below(m->r, DTYPES)]);
  uint32_t rank = random_shape(m, dims), kind = rng_below(m->r, 8);
  if (kind == 0) {
    const un_uop *c = un__const_i(m->p->ws, d, (int64_t)rng_below(m->r, 5) - 2);
    return keep(m, spread(m, c, rank, dims), exact_fact(d, data_scale(d)));
  }
  if (kind == 1 && un__dt_is_int(d)) {
    const un_uop *size = un__idx(m->p->ws, 1 + rng_below(m->r, 40));
    return keep(m, un__uop(m->p->ws, UN__OP_IOTA, d, &size, 1, NULL, 0), exact_fact(d, 1));
  }
  return make_buffer(m, d, rank, dims);
}

/* ---- picking operands ---- */

uint32_t any(maker *m) { return rng_below(m->r, m->n); }

static bool takes(const char *classes, un__dtype d) {
  static const char letter[] = {[UN__CLASS_BOOL] = 'b', [UN__CLASS_INT] = 'i', [UN__CLASS_UINT] = 'u', [UN__CLASS_FLOAT] = 'f'};
  return classes[0] == '*' || strchr(classes, letter[un__dt_class(d)]);
}

/* A tensor whose dtype is in the classes; exact when that is asked. Falls back on a new input. */
uint32_t pick(maker *m, const char *classes, bool exact) {
  for (int tries = 0; tries < 24; tries++) {
    uint32_t i = any(m);
    if (takes(classes, m->tensor[i]->dtype) && (m->fact_of[i].exact || !exact)) return i;
  }
  un__dtype d;
  do d = UN__DT(dtypes[rng_below(m->r, DTYPES)]);
  while (!takes(classes, d));
  int64_t dims[UN__MAX_RANK];
  uint32_t rank = random_shape(m, dims);
  return make_buffer(m, d, rank, dims) ? m->n - 1 : UINT32_MAX;
}

/* A second operand like the first in dtype and shape: an existing tensor, one broadcast to it, a constant or an input. */
uint32_t pick_like(maker *m, const un_uop *like, un__dtype d, bool exact) {
  int64_t dims[UN__MAX_RANK];
  uint32_t rank = like->shape->rank;
  for (uint32_t i = 0; i < rank; i++) dims[i] = dim(like, i);
  for (int tries = 0; tries < 24; tries++) {
    uint32_t i = any(m);
    if (m->tensor[i]->dtype == d && m->tensor[i]->shape == like->shape && (m->fact_of[i].exact || !exact)) return i;
  }
  if (rng_below(m->r, 3) == 0 || m->p->ninputs == MAX_INPUTS) {
    const un_uop *c = un__const_i(m->p->ws, d, 1 + rng_below(m->r, 3));
    return keep(m, spread(m, c, rank, dims), exact_fact(d, data_scale(d))) ? m->n - 1 : UINT32_MAX;
  }
  /* Some axes of size 1, then expanded: broadcasting as the API does it. */
  int64_t small[UN__MAX_RANK];
  const un_uop *src[UN__MAX_RANK + 1];
  for (uint32_t i = 0; i < rank; i++) small[i] = rng_below(m->r, 3) ? dims[i] : 1;
  if (!(src[0] = make_buffer(m, d, rank, small))) return UINT32_MAX;
  for (uint32_t i = 0; i < rank; i++) src[i + 1] = un__idx(m->p->ws, dims[i]);
  const un_uop *n = rank ? un__uop(m->p->ws, UN__OP_EXPAND, 0, src, rank + 1, NULL, 0) : src[0];
  return keep(m, n, exact_fact(d, data_scale(d))) ? m->n - 1 : UINT32_MAX;
}

/* ---- elementwise ---- */

/* How an op treats differences between backends. */
typedef enum treatment {
  EXACT_ONLY,     /* takes exact operands; its own result is exact */
  ROUGH,          /* takes exact operands; its result differs in the last bits */
  KEEPS,          /* exact from exact, else no larger error */
  CHOOSES,        /* of two zeros either may come out, so what follows may not ask for the sign */
  ADDS, MULTIPLIES
} treatment;

static treatment treatment_of(un__op op) {
  switch (op) {
  case UN__OP_EXP: case UN__OP_EXP2: case UN__OP_LOG: case UN__OP_LOG2: case UN__OP_SIN: case UN__OP_COS: case UN__OP_TANH: case UN__OP_POW:
    return ROUGH;
  case UN__OP_NEG: return KEEPS;
  case UN__OP_MAX: case UN__OP_MIN: return CHOOSES;
  case UN__OP_ADD: case UN__OP_SUB: return ADDS;
  case UN__OP_MUL: return MULTIPLIES;
  default: return EXACT_ONLY;
  }
}

/* exp and pow can be large: their scale is what they may reach from data of this size; beyond it the program is dull
 * but still right, because infinities compare as they are. */
static double rough_scale(un__op op) { return op == UN__OP_SIN || op == UN__OP_COS || op == UN__OP_TANH ? 1.0 : op == UN__OP_POW ? 1e4 : op == UN__OP_EXP || op == UN__OP_EXP2 ? 64.0 : 16.0; }

/* Whether what was rounded to d is read as it was rounded: under `contract` narrow floats may not be. */
static bool read_as_rounded(const maker *m, un__dtype d) { return m->strict || !un__dt_is_float(d) || un__dt_info(d)->size >= 4; }

static fact elementwise_fact(const maker *m, un__op op, un__dtype d, const fact *a, const fact *b) {
  double eps = fmax(fmax(a->eps, b ? b->eps : 0), un__dt_is_float(d) ? eps_of(d) : 0);
  bool exact = a->exact && (!b || b->exact);
  if (!un__dt_is_float(d)) return (fact){true, 1, 0};
  switch (treatment_of(op)) {
  case ROUGH: return (fact){false, rough_scale(op), eps};
  case CHOOSES: return (fact){false, fmax(a->scale, b->scale), eps};
  case KEEPS: return (fact){exact, fmax(a->scale, b ? b->scale : 0), eps};
  /* Without the licence `contract` an addition is one rounding everywhere; with it a product may be fused into it. */
  case ADDS: return (fact){exact && m->strict, a->scale + b->scale, eps};
  case MULTIPLIES: return (fact){exact && read_as_rounded(m, d), a->scale * b->scale, eps};
  default: return (fact){read_as_rounded(m, d), 1e30, eps};
  }
}

static const un_uop *make_elementwise(maker *m, un__op op) {
  const un__op_info *info = &un__op_table[op];
  treatment t = treatment_of(op);
  bool exact = t == EXACT_ONLY || t == ROUGH;
  uint32_t a = op == UN__OP_THREEFRY ? UINT32_MAX : pick(m, info->operands, exact), b = a;
  if (op == UN__OP_THREEFRY) {
    int64_t dims[UN__MAX_RANK];
    uint32_t rank = random_shape(m, dims);
    a = make_buffer(m, UN__DT(UN_U64), rank, dims) ? m->n - 1 : UINT32_MAX;
  }
  if (a == UINT32_MAX) return NULL;
  const un_uop *x = m->tensor[a];
  if (info->min_src == 1) {
    const un_uop *n = un__unary(m->p->ws, op, x);
    return n ? keep(m, n, elementwise_fact(m, op, n->dtype, &m->fact_of[a], NULL)) : NULL;
  }
  if ((b = pick_like(m, x, x->dtype, exact)) == UINT32_MAX) return NULL;
  const un_uop *y = m->tensor[b];
  const un_uop *n = rng_below(m->r, 2) ? un__binary(m->p->ws, op, x, y) : un__binary(m->p->ws, op, y, x);
  return n ? keep(m, n, elementwise_fact(m, op, n->dtype, &m->fact_of[a], &m->fact_of[b])) : NULL;
}

static const un_uop *make_where(maker *m, un__op op) {
  (void)op;
  uint32_t a = pick(m, "biuf", false);
  if (a == UINT32_MAX) return NULL;
  uint32_t b = pick_like(m, m->tensor[a], m->tensor[a]->dtype, false);
  uint32_t c = b == UINT32_MAX ? b : pick_like(m, m->tensor[a], UN__DT(UN_BOOL), true);
  if (c == UINT32_MAX) return NULL;
  fact f = m->fact_of[a], g = m->fact_of[b];
  f = (fact){f.exact && g.exact, fmax(f.scale, g.scale), fmax(f.eps, g.eps)};
  return keep(m, un__ternary(m->p->ws, UN__OP_WHERE, m->tensor[c], m->tensor[a], m->tensor[b]), f);
}

static const un_uop *make_cast(maker *m, un__op op) {
  uint32_t a = pick(m, op == UN__OP_CAST ? "biuf" : "iuf", true);
  if (a == UINT32_MAX) return NULL;
  un__dtype d, from = m->tensor[a]->dtype;
  do d = UN__DT(dtypes[rng_below(m->r, DTYPES)]);
  while (op == UN__OP_BITCAST && (un__dt_info(d)->size != un__dt_info(from)->size || un__dt_is_bool(d)));
  /* The bits of a NaN are the backend's choice. */
  if (op == UN__OP_BITCAST && un__dt_is_float(from) && !un__is(m->tensor[a], UN__OP_BUFFER)) return NULL;
  fact f = exact_fact(d, 1e30);
  f.exact = op == UN__OP_BITCAST || read_as_rounded(m, d);
  return keep(m, un__uop(m->p->ws, op, d, &m->tensor[a], 1, NULL, 0), f);
}

/* ---- movement ---- */

static const un_uop *make_reshape(maker *m, uint32_t a) {
  const un_uop *x = m->tensor[a], *src[4] = {x};
  int64_t left = numel(x);
  uint32_t rank = 1 + rng_below(m->r, 3);
  for (uint32_t i = 0; i + 1 < rank; i++) {
    int64_t d = 1;
    for (int64_t f = 2; f <= 9; f++)
      if (left % f == 0 && rng_below(m->r, 2)) {
        d = f;
        break;
      }
    src[i + 1] = un__idx(m->p->ws, d);
    left /= d;
  }
  src[rank] = un__idx(m->p->ws, left);
  return un__uop(m->p->ws, UN__OP_RESHAPE, 0, src, rank + 1, NULL, 0);
}

static const un_uop *make_permute(maker *m, uint32_t a) {
  const un_uop *x = m->tensor[a];
  int64_t perm[UN__MAX_RANK];
  uint32_t rank = x->shape->rank;
  for (uint32_t i = 0; i < rank; i++) perm[i] = i;
  for (uint32_t i = rank; i > 1; i--) {
    uint32_t j = rng_below(m->r, i);
    int64_t t = perm[i - 1];
    perm[i - 1] = perm[j];
    perm[j] = t;
  }
  return un__uop(m->p->ws, UN__OP_PERMUTE, 0, &x, 1, perm, rank);
}

static const un_uop *make_expand(maker *m, uint32_t a) {
  const un_uop *src[UN__MAX_RANK + 1] = {m->tensor[a]};
  int64_t total = numel(m->tensor[a]);
  uint32_t rank = m->tensor[a]->shape->rank;
  for (uint32_t i = 0; i < rank; i++) {
    int64_t d = dim(m->tensor[a], i), want = 1 + rng_below(m->r, 9);
    if (d != 1 || total * want > MAX_NUMEL) want = d;
    else total *= want;
    src[i + 1] = un__idx(m->p->ws, want);
  }
  return un__uop(m->p->ws, UN__OP_EXPAND, 0, src, rank + 1, NULL, 0);
}

static const un_uop *make_box(maker *m, uint32_t a, un__op op) {
  const un_uop *src[2 * UN__MAX_RANK + 1] = {m->tensor[a]};
  uint32_t rank = m->tensor[a]->shape->rank;
  int64_t total = numel(m->tensor[a]);
  for (uint32_t i = 0; i < rank; i++) {
    int64_t d = dim(m->tensor[a], i), lo = 0, hi = op == UN__OP_PAD ? 0 : d;
    if (op == UN__OP_PAD && total * 2 <= MAX_NUMEL) {
      lo = rng_below(m->r, 3);
      hi = rng_below(m->r, 3);
      total = d ? total / d * (lo + d + hi) : 0;
    } else if (op == UN__OP_SHRINK && d > 1) {
      lo = rng_below(m->r, (uint32_t)d);
      hi = lo + 1 + rng_below(m->r, (uint32_t)(d - lo));
    }
    src[1 + i] = un__idx(m->p->ws, lo);
    src[1 + rank + i] = un__idx(m->p->ws, hi);
  }
  return un__uop(m->p->ws, op, 0, src, 1 + 2 * rank, NULL, 0);
}

static const un_uop *make_flip(maker *m, uint32_t a) {
  int64_t axes = rng_below(m->r, 1u << m->tensor[a]->shape->rank);
  return un__uop(m->p->ws, UN__OP_FLIP, 0, &m->tensor[a], 1, &axes, 1);
}

static const un_uop *make_movement(maker *m, un__op op) {
  uint32_t a = any(m);
  fact f = m->fact_of[a];
  const un_uop *n = NULL;
  switch (op) {
  case UN__OP_RESHAPE: n = make_reshape(m, a); break;
  case UN__OP_PERMUTE: n = make_permute(m, a); break;
  case UN__OP_EXPAND: n = make_expand(m, a); break;
  case UN__OP_PAD: case UN__OP_SHRINK: n = make_box(m, a, op); break;
  case UN__OP_FLIP: n = make_flip(m, a); break;
  case UN__OP_CONTIGUOUS: case UN__OP_DETACH: n = un__unary(m->p->ws, op, m->tensor[a]); break;
  default: break;
  }
  return keep(m, n, f);
}

static const un_uop *make_stack(maker *m, un__op op) {
  uint32_t a = any(m);
  if (numel(m->tensor[a]) * 2 > MAX_NUMEL || m->tensor[a]->shape->rank > 4) return NULL;
  uint32_t b = pick_like(m, m->tensor[a], m->tensor[a]->dtype, false);
  if (b == UINT32_MAX) return NULL;
  fact f = m->fact_of[a], g = m->fact_of[b];
  f = (fact){f.exact && g.exact, fmax(f.scale, g.scale), fmax(f.eps, g.eps)};
  return keep(m, un__uop(m->p->ws, op, 0, (const un_uop *[]){m->tensor[a], m->tensor[b]}, 2, NULL, 0), f);
}

/* ---- reductions, gathers, products ---- */

static const un_uop *make_reduce(maker *m, un__op op) {
  static const un__op ops[] = {UN__OP_ADD, UN__OP_ADD, UN__OP_MAX, UN__OP_MIN, UN__OP_MUL, UN__OP_AND, UN__OP_OR, UN__OP_XOR};
  un__op combine = ops[rng_below(m->r, sizeof ops / sizeof *ops)];
  uint32_t a = pick(m, un__op_table[combine].operands, combine == UN__OP_MUL);
  if (a == UINT32_MAX) return NULL;
  const un_uop *x = m->tensor[a];
  int64_t attrs[1 + UN__MAX_RANK] = {combine};
  uint32_t n = 1;
  double elements = 1;
  for (uint32_t i = 0; i < x->shape->rank; i++)
    if (rng_below(m->r, 2)) {
      attrs[n++] = i;
      elements *= (double)dim(x, i);
    }
  if (n == 1 || (combine == UN__OP_MUL && elements > 12)) return NULL;
  const un_uop *node = un__uop(m->p->ws, op, 0, &x, 1, attrs, n);
  fact f = m->fact_of[a];
  if (un__dt_is_float(x->dtype)) f.exact = f.exact && combine != UN__OP_MAX && combine != UN__OP_MIN;
  if (un__dt_is_float(x->dtype) && combine == UN__OP_ADD) f = (fact){f.exact && m->strict, f.scale * elements, f.eps};
  if (un__dt_is_float(x->dtype) && combine == UN__OP_MUL) f = (fact){f.exact && m->strict, pow(f.scale + 1, elements), f.eps};
  return keep(m, node, f);
}

/* INDEX with one VALID index tensor an axis; the indices are data and may lie outside. */
static const un_uop *make_gather(maker *m, un__op op) {
  uint32_t a = any(m);
  const un_uop *x = m->tensor[a], *src[UN__MAX_RANK + 1] = {x};
  uint32_t rank = x->shape->rank;
  if (!rank || rank > 3) return NULL;
  un__graph *g = m->p->ws;
  uint32_t first = UINT32_MAX;
  for (uint32_t i = 0; i < rank; i++) {
    uint32_t k = first == UINT32_MAX ? pick(m, "iu", true) : pick_like(m, m->tensor[first], UN__DT(UN_I32), true);
    if (k == UINT32_MAX) return NULL;
    if (first == UINT32_MAX) first = k;
    const un_uop *index = un__cast(g, UN__DT(UN_INDEX), m->tensor[k]);
    if (!index) return NULL;
    int64_t dims[UN__MAX_RANK];
    for (uint32_t d = 0; d < index->shape->rank; d++) dims[d] = dim(index, d);
    const un_uop *zero = spread(m, un__idx(g, 0), index->shape->rank, dims), *size = spread(m, x->shape->dim[i], index->shape->rank, dims);
    const un_uop *low = un__unary(g, UN__OP_NOT, un__binary(g, UN__OP_LT, index, zero)), *high = un__binary(g, UN__OP_LT, index, size);
    src[i + 1] = un__binary(g, UN__OP_VALID, index, un__binary(g, UN__OP_AND, low, high));
  }
  if (un__dt_info(m->tensor[first]->dtype)->size == 8) return NULL;     /* needs clipping: see call_by_index */
  return keep(m, un__uop(g, op, x->dtype, src, rank + 1, NULL, 0), m->fact_of[a]);
}

/* ---- programs ---- */

typedef const un_uop *(*make_fn)(maker *m, un__op op);

/* How each op of the tensor stage comes about; elementwise ops not listed go by the op table. */
static make_fn maker_of(un__op op) {
  const un__op_info *info = &un__op_table[op];
  switch (op) {
  case UN__OP_WHERE: return make_where;
  case UN__OP_CAST: case UN__OP_BITCAST: return make_cast;
  case UN__OP_STACK: return make_stack;
  case UN__OP_REDUCE_AXIS: return make_reduce;
  case UN__OP_INDEX: return make_gather;
  case UN__OP_CONTIGUOUS: case UN__OP_DETACH: return make_movement;
  default: break;
  }
  if (!(info->stages & UN__STAGE_TENSOR)) return NULL;
  if (info->flags & UN__F_VIEW) return make_movement;
  return info->flags & UN__F_ELEM ? make_elementwise : NULL;
}

static void make_step(maker *m) {
  uint32_t kind = rng_below(m->r, 14);
  if (kind == 0) make_leaf(m);
  if (kind >= 11) make_call(m);
  if (kind == 0 || kind >= 11) return;
  un__op op;
  if (kind == 1) op = UN__OP_REDUCE_AXIS;
  else if (kind == 2) op = UN__OP_INDEX;
  else do op = (un__op)(1 + rng_below(m->r, UN__OP_COUNT - 1));
  while (!maker_of(op));
  maker_of(op)(m, op);
}

bool program_make(program *p, rng *r, unsigned size, program_kind kind, un__err *err) {
  *p = (program){.ws = un__workspace_create(err)};
  if (!p->ws) return false;
  maker m = {.p = p, .r = r, .strict = kind.strict, .copies = kind.copies, .copies_of = {~r->state}};
  for (; kind.products && !m.n && err->status == UN_OK; size = 0) make_products(&m);
  while (!m.n && err->status == UN_OK) make_leaf(&m);
  for (unsigned i = 0; i < size && err->status == UN_OK; i++) make_step(&m);
  const un_uop *roots[MAX_RESULTS];
  uint32_t n = 1 + rng_below(r, MAX_RESULTS);
  for (uint32_t i = 0; i < n; i++) {
    /* Late tensors have the longest histories. */
    uint32_t k = i == 0 ? m.n - 1 : any(&m);
    roots[i] = m.tensor[k];
    p->result[i] = m.fact_of[k];
  }
  p->sink = un__sink(p->ws, roots, n);
  return p->sink != NULL;
}

void program_finish(program *p) {
  un__workspace_destroy(p->ws);
  for (uint32_t i = 0; i < MAX_INPUTS; i++) un__free(p->input[i].data);
}

void count_ops(const un_uop *root, uint64_t *counts) {
  size_t n;
  const un_uop **order = un__toposort(root, &n);
  for (size_t i = 0; order && i < n; i++) counts[order[i]->op]++;
  un__free(order);
}

/* ---- data and comparison ---- */

/* What the values of an input are like: its slot says it, so that a program read from a file has the same data. */
typedef enum temper { TAME, WIDE, SPECIAL } temper;
static temper temper_of(int64_t slot) { return slot % 5 == 3 ? WIDE : slot % 5 == 4 ? SPECIAL : TAME; }

static un__value special_float(rng *r, un__dtype d) {
  static const double special[] = {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, INFINITY, -INFINITY, NAN, 0x1p31, -0x1p31, 0x1p63, 65504.0, 127.5,
                                   -128.5, 0x1.fffffep127};
  uint32_t i = rng_below(r, sizeof special / sizeof *special + 2);
  if (i < sizeof special / sizeof *special) return un__value_f(d, special[i]);
  uint64_t subnormal = 1 + (rng_next(r) & ((UINT64_C(1) << un__dt_info(d)->mantissa) - 1)) / 2;
  return un__value_from_bits(d, subnormal | (uint64_t)(i & 1) << (8 * un__dt_info(d)->size - 1));
}

/* The ends of the dtype, and the values around 0 and its width. */
static un__value special_int(rng *r, un__dtype d) {
  int64_t width = 8 * (int64_t)un__dt_info(d)->size;
  const int64_t special[] = {0, 1, -1, 2, INT64_MIN >> (64 - width), INT64_MAX >> (64 - width), width, width - 1, width + 1, -width, 3};
  return un__value_i(d, special[rng_below(r, sizeof special / sizeof *special)]);
}

static un__value random_value(rng *r, un__dtype d, temper t) {
  if (un__dt_is_bool(d)) return un__value_i(d, rng_below(r, 2));
  bool is_float = un__dt_is_float(d);
  if (t == SPECIAL || rng_below(r, 48) == 0) return is_float ? special_float(r, d) : special_int(r, d);
  if (t == WIDE) return is_float ? un__value_from_bits(d, rng_next(r) >> (64 - 8 * un__dt_info(d)->size)) : un__value_i(d, (int64_t)rng_next(r));
  return is_float ? un__value_f(d, rng_unit(r) * 8 - 4) : un__value_i(d, (int64_t)rng_below(r, 12) - 3);
}

bool fill_input(const un_uop *buffer, un__itensor *out) {
  int64_t n = un__shape_known_numel(buffer->shape), slot = un__attr(buffer, 0);
  size_t size = un__dt_info(buffer->dtype)->size;
  rng r = {(uint64_t)slot * 7919 + buffer->dtype + (uint64_t)n * 104729};
  *out = (un__itensor){.dtype = buffer->dtype, .rank = buffer->shape->rank, .data = un__alloc((size_t)n * size)};
  if (!out->data) return false;
  for (uint32_t i = 0; i < out->rank; i++) out->dim[i] = un__known_size(buffer->shape->dim[i]);
  for (int64_t i = 0; i < n; i++)
    un__value_store(random_value(&r, buffer->dtype, temper_of(slot)), (char *)out->data + (size_t)i * size);
  return true;
}

bool tensors_agree(const un__itensor *a, const un__itensor *b, const fact *f, const double *bound, char *out, size_t size) {
  int64_t n = 1;
  for (uint32_t i = 0; i < a->rank; i++) n *= a->dim[i];
  size_t width = un__dt_info(a->dtype)->size;
  for (int64_t i = 0; i < n; i++) {
    un__value x = un__value_load(a->dtype, (const char *)a->data + (size_t)i * width);
    un__value y = un__value_load(a->dtype, (const char *)b->data + (size_t)i * width);
    double off = bound && !f->exact ? bound[i] : 0;
    if (un__values_agree(x, y, off)) continue;
    if (un__dt_is_float(a->dtype)) snprintf(out, size, "element %lld: %.17g and %.17g (bound %.3g)", (long long)i, x.f, y.f, off);
    else snprintf(out, size, "element %lld: %lld and %lld", (long long)i, (long long)x.i, (long long)y.i);
    return false;
  }
  return true;
}
