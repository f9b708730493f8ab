/* index.c - index tuples through movement ops, reductions and gathers. */
#include "index.h"

#include <string.h>
#include "uop/eval.h"

static const un_uop *add(un__graph *g, const un_uop *a, const un_uop *b) {
  if (a && un__is_const_int(a, 0)) return b;
  if (b && un__is_const_int(b, 0)) return a;
  return un__binary(g, UN__OP_ADD, a, b);
}

static const un_uop *mul(un__graph *g, const un_uop *a, const un_uop *b) {
  if (a && b && un__is_const(a) && un__is_const(b)) {
    int64_t r;
    if (!__builtin_mul_overflow(un__const_int(a), un__const_int(b), &r)) return un__idx(g, r);
  }
  if (a && un__is_const_int(a, 1)) return b;
  if (b && un__is_const_int(b, 1)) return a;
  return un__binary(g, UN__OP_MUL, a, b);
}

static const un_uop *both(un__graph *g, const un_uop *a, const un_uop *b) {
  return !a ? b : !b || a == b ? a : un__binary(g, UN__OP_AND, a, b);
}

static bool is_one(const un_uop *dim) { return un__is_const_int(dim, 1); }
static bool is_zero(const un_uop *dim) { return un__is_const_int(dim, 0); }

/* ---- validity ---------------------------------------------------------------------------------------------- */

const un_uop *un__rf_split_valid(un__graph *g, const un_uop *const *i, uint32_t n, const un_uop **out_bare) {
  const un_uop *valid = NULL;
  for (uint32_t k = 0; k < n; k++) {
    out_bare[k] = i[k];
    while (out_bare[k]->op == UN__OP_VALID) {
      valid = both(g, valid, out_bare[k]->src[1]);
      out_bare[k] = out_bare[k]->src[0];
    }
    if (out_bare[k]->op != UN__OP_INVALID) continue;
    valid = both(g, valid, un__const_i(g, UN__DT(UN_BOOL), 0));
    out_bare[k] = un__idx(g, 0);
  }
  return valid;
}

/* A tuple under way: bare indices and their validity. */
typedef struct tuple {
  uint32_t n;
  const un_uop *at[UN__MAX_RANK], *valid;
} tuple;

/* False when there are more indices than a tensor can have axes, or memory is short. */
static bool open_tuple(un__rw *rw, un__span i, tuple *t) {
  if (i.n > UN__MAX_RANK) return false;
  t->n = i.n;
  t->valid = un__rf_split_valid(rw->g, i.at, i.n, t->at);
  for (uint32_t k = 0; k < t->n; k++)
    if (!t->at[k]) return false;
  return true;
}

static un__span close_tuple(un__rw *rw, const tuple *t) {
  un__span none = {NULL, 0};
  const un_uop **at = un__arena_alloc(un__workspace_arena(rw->g), (t->n + 1) * sizeof *at);
  if (!at) {
    un__fail(un__graph_err(rw->g), UN_ERR_NOMEM, "rangeify: out of memory");
    return none;
  }
  for (uint32_t k = 0; k < t->n; k++)
    if (!(at[k] = t->at[k])) return none;
  if (t->valid && t->n) {
    const un_uop *src[] = {at[0], t->valid};
    at[0] = un__uop(rw->g, UN__OP_VALID, 0, src, 2, NULL, 0);
    if (!at[0]) return none;
  }
  return (un__span){at, t->n};
}

const un_uop *un__fn_bare(un__rw *rw, const un_uop *i) {
  while (i->op == UN__OP_VALID) i = i->src[0];
  return i->op == UN__OP_INVALID ? un__idx(rw->g, 0) : i;
}

static const un_uop *index_of(un__graph *g, const un_uop *x, un__span i) {
  const un_uop *src[UN__MAX_RANK + 2];
  if (!i.at || i.n > UN__MAX_RANK) return NULL;
  src[0] = x;
  memcpy(src + 1, i.at, i.n * sizeof *src);
  return un__uop(g, UN__OP_INDEX, x->dtype, src, i.n + 1, NULL, 0);
}

/* ---- views --------------------------------------------------------------------------------------------------- */

const un_uop *un__rf_flat(un__graph *g, const un__shape *s, const un_uop *const *i) {
  const un_uop *flat = un__idx(g, 0), *stride = un__idx(g, 1);
  for (uint32_t k = s->rank; k-- > 0;) {
    if (is_one(s->dim[k])) continue;
    flat = add(g, mul(g, i[k], stride), flat);
    stride = mul(g, stride, s->dim[k]);
  }
  return flat;
}

/* A run of axes without those of size 1. */
typedef struct axes { uint32_t n; uint32_t at[UN__MAX_RANK]; const un_uop *size[UN__MAX_RANK]; } axes;

static axes real_axes(const un__shape *s) {
  axes a = {0};
  for (uint32_t k = 0; k < s->rank; k++) {
    if (is_one(s->dim[k])) continue;
    a.size[a.n] = s->dim[k];
    a.at[a.n++] = k;
  }
  return a;
}

/* The shortest run of axes of both shapes from (*i, *j) on with as many elements; all that are left when sizes are
 * symbolic and do not match one to one. */
static void next_group(const axes *a, const axes *b, uint32_t *i, uint32_t *j) {
  if (a->size[*i] == b->size[*j]) {
    (*i)++;
    (*j)++;
    return;
  }
  int64_t x = un__known_size(a->size[(*i)++]), y = un__known_size(b->size[(*j)++]);
  while (x > 0 && y > 0 && x != y) {
    if (x < y ? *i == a->n : *j == b->n) break;
    int64_t next = x < y ? un__known_size(a->size[(*i)++]) : un__known_size(b->size[(*j)++]);
    if (next < 0 || __builtin_mul_overflow(x < y ? x : y, next, x < y ? &x : &y)) break;
  }
  if (x == y && x > 0) return;
  *i = a->n;
  *j = b->n;
}

/* Indices over the axes [i0, i1) of `a` from those over the axes [j0, j1) of `b`, by the element number in between. */
static void regroup(un__graph *g, const axes *a, uint32_t i0, uint32_t i1, const axes *b, uint32_t j0, uint32_t j1,
                    const tuple *in, tuple *out) {
  const un_uop *flat = un__idx(g, 0), *stride = un__idx(g, 1);
  for (uint32_t j = j1; j-- > j0;) {
    flat = add(g, mul(g, in->at[b->at[j]], stride), flat);
    stride = mul(g, stride, b->size[j]);
  }
  stride = un__idx(g, 1);
  for (uint32_t i = i1; i-- > i0;) {
    const un_uop *at = is_one(stride) ? flat : un__binary(g, UN__OP_FLOORDIV, flat, stride);
    out->at[a->at[i]] = i == i0 ? at : un__binary(g, UN__OP_FLOORMOD, at, a->size[i]);
    stride = mul(g, stride, a->size[i]);
  }
}

static bool through_reshape(un__graph *g, const un_uop *view, const tuple *in, tuple *out) {
  const un__shape *from = view->src[0]->shape;
  axes a = real_axes(from), b = real_axes(view->shape);
  out->n = from->rank;
  for (uint32_t k = 0; k < from->rank; k++) out->at[k] = un__idx(g, 0);
  for (uint32_t i = 0, j = 0; i < a.n && j < b.n;) {
    uint32_t i0 = i, j0 = j;
    next_group(&a, &b, &i, &j);
    regroup(g, &a, i0, i, &b, j0, j, in, out);
  }
  return true;
}

static bool through_permute(un__graph *g, const un_uop *view, const tuple *in, tuple *out) {
  out->n = in->n;
  for (uint32_t k = 0; k < in->n; k++) out->at[un__attr(view, k)] = in->at[k];
  return true;
}

static bool through_expand(un__graph *g, const un_uop *view, const tuple *in, tuple *out) {
  out->n = in->n;
  for (uint32_t k = 0; k < in->n; k++) out->at[k] = is_one(view->src[0]->shape->dim[k]) ? un__idx(g, 0) : in->at[k];
  return true;
}

static bool through_shrink(un__graph *g, const un_uop *view, const tuple *in, tuple *out) {
  out->n = in->n;
  for (uint32_t k = 0; k < in->n; k++) out->at[k] = add(g, in->at[k], view->src[1 + k]);
  return true;
}

/* size - 1 - i */
static bool through_flip(un__graph *g, const un_uop *view, const tuple *in, tuple *out) {
  out->n = in->n;
  for (uint32_t k = 0; k < in->n; k++) {
    bool flipped = un__attr(view, 0) >> k & 1;
    out->at[k] = in->at[k];
    if (!flipped || is_one(view->shape->dim[k])) continue;
    const un_uop *last = add(g, view->shape->dim[k], un__idx(g, -1));
    if (un__known_size(view->shape->dim[k]) >= 0) last = un__idx(g, un__known_size(view->shape->dim[k]) - 1);
    out->at[k] = add(g, mul(g, in->at[k], un__idx(g, -1)), last);
  }
  return true;
}

un__span un__fn_view_index(un__rw *rw, const un_uop *view, un__span i) {
  static bool (*const through[UN__OP_COUNT])(un__graph *, const un_uop *, const tuple *, tuple *) = {
    [UN__OP_RESHAPE] = through_reshape, [UN__OP_PERMUTE] = through_permute, [UN__OP_EXPAND] = through_expand,
    [UN__OP_SHRINK] = through_shrink,   [UN__OP_FLIP] = through_flip,
  };
  tuple in, out;
  if (!through[view->op] || !view->shape || i.n != view->shape->rank || !open_tuple(rw, i, &in))
    return (un__span){NULL, 0};
  out.valid = in.valid;
  if (!through[view->op](rw->g, view, &in, &out)) return (un__span){NULL, 0};
  return close_tuple(rw, &out);
}

/* lo <= i, where that is not known; NULL when it always holds. */
static const un_uop *not_below(un__graph *g, const un_uop *i, const un_uop *lo) {
  if (i->vmin >= lo->vmax) return NULL;
  if (un__is_const(lo)) return un__binary(g, UN__OP_LT, un__idx(g, un__const_int(lo) - 1), i);
  return un__unary(g, UN__OP_NOT, un__binary(g, UN__OP_LT, i, lo));
}

static const un_uop *below(un__graph *g, const un_uop *i, const un_uop *hi) {
  return i->vmax < hi->vmin ? NULL : un__binary(g, UN__OP_LT, i, hi);
}

/* NULL when every element is inside. */
static const un_uop *inside(un__graph *g, const un_uop *pad, const tuple *in) {
  const un__shape *from = pad->src[0]->shape;
  const un_uop *c = NULL;
  for (uint32_t k = 0; k < from->rank; k++) {
    const un_uop *lo = pad->src[1 + k], *hi = add(g, lo, from->dim[k]);
    if (un__is_const(lo) && un__is_const(from->dim[k]))
      hi = un__idx(g, un__const_int(lo) + un__const_int(from->dim[k]));
    if (is_zero(from->dim[k])) return un__const_i(g, UN__DT(UN_BOOL), 0);
    if (!hi || !in->at[k]) return NULL;
    c = both(g, c, not_below(g, in->at[k], lo));
    c = both(g, c, below(g, in->at[k], hi));
  }
  return c;
}

un__span un__fn_pad_index(un__rw *rw, const un_uop *pad, un__span i) {
  tuple in, out;
  if (!pad->shape || i.n != pad->shape->rank || !open_tuple(rw, i, &in)) return (un__span){NULL, 0};
  out.n = in.n;
  out.valid = both(rw->g, in.valid, inside(rw->g, pad, &in));
  for (uint32_t k = 0; k < in.n; k++) {
    const un_uop *lo = pad->src[1 + k];
    const un_uop *down = un__is_const(lo) ? un__idx(rw->g, -un__const_int(lo)) : un__unary(rw->g, UN__OP_NEG, lo);
    out.at[k] = is_one(pad->src[0]->shape->dim[k]) ? un__idx(rw->g, 0) : add(rw->g, in.at[k], down);
  }
  return close_tuple(rw, &out);
}

const un_uop *un__fn_pad_inside(un__rw *rw, const un_uop *pad, un__span i) {
  tuple in;
  if (!pad->shape || i.n != pad->shape->rank || !open_tuple(rw, i, &in)) return NULL;
  const un_uop *c = inside(rw->g, pad, &in);
  return c ? c : un__const_i(rw->g, UN__DT(UN_BOOL), 1);
}

static const un_uop *zero_of(un__graph *g, un__dtype dtype) {
  return un__dt_is_float(dtype) ? un__const_f(g, dtype, 0.0) : un__const_i(g, dtype, 0);
}

/* ---- selection ------------------------------------------------------------------------------------------------ */

/* Element `i` of source k, which is read only where the first index is k. */
static const un_uop *stack_part(un__rw *rw, const un_uop *stack, const tuple *in, uint32_t k) {
  un__graph *g = rw->g;
  tuple rest = {.n = in->n - 1};
  memcpy(rest.at, in->at + 1, rest.n * sizeof *rest.at);
  rest.valid = both(g, in->valid, un__binary(g, UN__OP_EQ, in->at[0], un__idx(g, k)));
  return index_of(g, stack->src[k], close_tuple(rw, &rest));
}

const un_uop *un__fn_stack_select(un__rw *rw, const un_uop *stack, un__span i) {
  tuple in;
  if (!i.n || !open_tuple(rw, i, &in)) return NULL;
  const un_uop *first = in.at[0];
  if (un__is_const(first) && un__const_int(first) >= 0 && un__const_int(first) < stack->nsrc) {
    tuple rest = {.n = in.n - 1, .valid = in.valid};
    memcpy(rest.at, in.at + 1, rest.n * sizeof *rest.at);
    return index_of(rw->g, stack->src[un__const_int(first)], close_tuple(rw, &rest));
  }
  const un_uop *out = stack_part(rw, stack, &in, stack->nsrc - 1);
  for (uint32_t k = stack->nsrc - 1; out && k-- > 0;) {
    const un_uop *here = un__binary(rw->g, UN__OP_EQ, first, un__idx(rw->g, k));
    out = un__ternary(rw->g, UN__OP_WHERE, here, stack_part(rw, stack, &in, k), out);
  }
  return out;
}

/* An index from data may be anything where it is not valid. Inside the axis the clamp changes nothing, and it is what
 * proves that the address arithmetic built on it fits. */
static const un_uop *clamped(un__graph *g, const un_uop *i, const un_uop *size) {
  if (!i || (i->vmin >= 0 && i->vmax < size->vmin)) return i;
  const un_uop *last = add(g, size, un__idx(g, -1));
  if (un__is_const(size)) last = un__idx(g, un__const_int(size) - 1);
  return un__binary(g, UN__OP_MIN, un__binary(g, UN__OP_MAX, i, un__idx(g, 0)), last);
}

const un_uop *un__fn_gather(un__rw *rw, const un_uop *gather, un__span i) {
  un__graph *g = rw->g;
  const un_uop *x = gather->src[0], *given = NULL;
  tuple in, out = {.n = gather->nsrc - 1};
  if (!out.n || out.n > UN__MAX_RANK || !open_tuple(rw, i, &in)) return NULL;
  un__span through = close_tuple(rw, &in);
  for (uint32_t k = 0; k < out.n; k++) {
    const un_uop *t = gather->src[1 + k];
    for (; t->op == UN__OP_VALID; t = t->src[0]) given = both(g, given, index_of(g, t->src[1], through));
    out.at[k] = clamped(g, index_of(g, t, through), x->shape->dim[k]);
  }
  out.valid = both(g, in.valid, given);
  const un_uop *value = index_of(g, x, close_tuple(rw, &out));
  return given ? un__ternary(g, UN__OP_WHERE, given, value, zero_of(g, x->dtype)) : value;
}

un__span un__fn_gathered_valid(un__rw *rw, const un_uop *gather) {
  tuple t;
  bool stray = false;
  for (uint32_t k = 2; k < gather->nsrc; k++) stray |= gather->src[k]->op == UN__OP_VALID;
  if (!stray || !open_tuple(rw, (un__span){gather->src + 1, gather->nsrc - 1}, &t)) return (un__span){NULL, 0};
  return close_tuple(rw, &t);
}

enum { STACK_GROUP = 32 };

/* Sources [from, from + STACK_GROUP) of a STACK, stored; past the end the last one again. */
static const un_uop *stack_group(un__graph *g, const un_uop *stack, uint32_t from) {
  const un_uop *src[STACK_GROUP];
  for (uint32_t k = 0; k < STACK_GROUP; k++) src[k] = stack->src[from + k < stack->nsrc ? from + k : stack->nsrc - 1];
  return un__unary(g, UN__OP_CONTIGUOUS, un__uop(g, UN__OP_STACK, 0, src, STACK_GROUP, NULL, 0));
}

const un_uop *un__fn_stack_in_groups(un__rw *rw, const un_uop *stack) {
  un__graph *g = rw->g;
  uint32_t n = (stack->nsrc + STACK_GROUP - 1) / STACK_GROUP, rank = stack->src[0]->shape->rank;
  if (stack->nsrc <= STACK_GROUP || rank >= UN__MAX_RANK) return NULL;
  const un_uop **group = un__arena_alloc(un__workspace_arena(g), n * sizeof *group);
  if (!group) {
    un__fail(un__graph_err(g), UN_ERR_NOMEM, "rangeify: out of memory");
    return NULL;
  }
  for (uint32_t k = 0; k < n; k++) group[k] = stack_group(g, stack, k * STACK_GROUP);
  /* (n, group, ...) -> (n * group, ...) -> (sources, ...) */
  const un_uop *flat[UN__MAX_RANK + 2], *part[2 * UN__MAX_RANK + 1];
  flat[0] = un__uop(g, UN__OP_STACK, 0, group, n, NULL, 0);
  flat[1] = un__idx(g, (int64_t)n * STACK_GROUP);
  for (uint32_t k = 0; k < rank; k++) flat[k + 2] = stack->shape->dim[k + 1];
  part[0] = un__uop(g, UN__OP_RESHAPE, 0, flat, rank + 2, NULL, 0);
  for (uint32_t k = 0; k <= rank; k++) {
    part[1 + k] = un__idx(g, 0);
    part[2 + rank + k] = stack->shape->dim[k];
  }
  return un__uop(g, UN__OP_SHRINK, 0, part, 2 * rank + 3, NULL, 0);
}

/* ---- reductions ------------------------------------------------------------------------------------------------ */

static const un_uop *identity_of(un__graph *g, un__op op, un__dtype dtype) {
  un__value v;
  return un__identity(op, dtype, &v) ? un__const_bits(g, dtype, un__value_bits(v)) : NULL;
}

static const un_uop *make_reduce(un__graph *g, un__op op, const un_uop *x, const un_uop *const *r, uint32_t n) {
  const un_uop *src[UN__MAX_RANK * 2 + 1];
  if (!n || n > UN__MAX_RANK * 2) return n ? NULL : x;
  src[0] = x;
  memcpy(src + 1, r, n * sizeof *src);
  return un__uop(g, UN__OP_REDUCE, 0, src, n + 1, (int64_t[]){op}, 1);
}

const un_uop *un__fn_reduce_over(un__rw *rw, const un_uop *reduce, un__span i) {
  un__graph *g = rw->g;
  un__rf_push *push = rw->ctx;
  const un__shape *from = reduce->src[0]->shape;
  un__op op = (un__op)un__attr(reduce, 0);
  tuple in, full = {.n = from->rank};
  const un_uop *range[UN__MAX_RANK];
  uint32_t nrange = 0, nout = 0, axis = 1;
  if (!open_tuple(rw, i, &in) || in.n + reduce->nattr - 1 != from->rank) return NULL;
  full.valid = in.valid;
  for (uint32_t k = 0; k < from->rank; k++) {
    bool reduced = axis < reduce->nattr && un__attr(reduce, axis) == k;
    axis += reduced;
    if (!reduced) {
      full.at[k] = in.at[nout++];
    } else if (is_one(from->dim[k])) {
      full.at[k] = un__idx(g, 0);
    } else {
      if (is_zero(from->dim[k])) return identity_of(g, op, reduce->dtype);
      full.at[k] = range[nrange++] = un__range(g, from->dim[k], UN__AXIS_REDUCE, push->next_range++);
    }
  }
  return make_reduce(g, op, index_of(g, reduce->src[0], close_tuple(rw, &full)), range, nrange);
}

/* The range that `e` counts with: e is it, or a CAST of it that holds all its values. */
static const un_uop *counter_of(const un_uop *e, un__span r) {
  const un_uop *range = e->op == UN__OP_CAST ? e->src[0] : e;
  if (range->op != UN__OP_RANGE || range->vmax == UN__POS_INF || e->vmax != range->vmax) return NULL;
  if (!un__dt_is_int(e->dtype) && !un__dt_is_index(e->dtype)) return NULL;
  for (uint32_t k = 0; k < r.n; k++)
    if (r.at[k] == range) return range;
  return NULL;
}

static bool depends_on_any(const un_uop *x, un__span r) {
  for (uint32_t k = 0; k < r.n; k++)
    if (un__depends_on(x, r.at[k])) return true;
  return false;
}

/* range == y in one conjunct of a condition. */
typedef struct equation { const un_uop *range, *y, *rest; } equation;

static bool solve(const un_uop *eq, un__span r, equation *out) {
  for (int side = 0; side < 2 && eq->op == UN__OP_EQ; side++) {
    out->range = counter_of(eq->src[side], r);
    out->y = eq->src[1 - side];
    if (out->range && !depends_on_any(out->y, r)) return true;
  }
  return false;
}

/* Looks through a chain of ANDs that leans left, as simplified conditions do. */
static bool find_equation(un__graph *g, const un_uop *c, un__span r, equation *out) {
  const un_uop *rest = NULL;
  for (;; c = c->src[0]) {
    bool chain = c->op == UN__OP_AND;
    if (solve(chain ? c->src[1] : c, r, out)) {
      out->rest = both(g, chain ? c->src[0] : NULL, rest);
      return true;
    }
    if (!chain) return false;
    rest = both(g, c->src[1], rest);
  }
}

const un_uop *un__fn_pick(un__rw *rw, const un_uop *c, const un_uop *value, un__span r) {
  un__graph *g = rw->g;
  const un_uop *others[UN__MAX_RANK * 2], *zero = zero_of(g, value->dtype);
  equation e;
  uint32_t n = 0;
  if (r.n > UN__MAX_RANK * 2 || !find_equation(g, c, r, &e)) return NULL;
  for (uint32_t k = 0; k < r.n; k++)
    if (r.at[k] != e.range) others[n++] = r.at[k];
  const un_uop *i = un__cast(g, UN__DT(UN_INDEX), e.y);
  if (!i) return NULL;
  const un_uop *valid = both(g, not_below(g, i, un__idx(g, 0)), below(g, i, e.range->src[0]));
  const un_uop *src[] = {clamped(g, i, e.range->src[0]), valid};
  const un_uop *to = valid ? un__uop(g, UN__OP_VALID, 0, src, 2, NULL, 0) : i;
  if (e.rest) value = un__ternary(g, UN__OP_WHERE, e.rest, value, zero);
  const un_uop *term = un__substitute(g, value, &e.range, &to, 1);
  if (valid) term = un__ternary(g, UN__OP_WHERE, valid, term, zero);
  term = make_reduce(g, UN__OP_ADD, term, others, n);
  /* A sum of one term and zeros is not -0.0, even when the term is. */
  return un__dt_is_float(value->dtype) ? un__binary(g, UN__OP_ADD, term, zero) : term;
}

const un_uop *un__fn_one_like(un__rw *rw, const un_uop *x) {
  return un__dt_is_float(x->dtype) ? un__const_f(rw->g, x->dtype, 1.0) : un__const_i(rw->g, x->dtype, 1);
}

/* Whether `c` is one of the conjuncts of `gate`; gates with very many are given up on. */
static bool has_condition(const un_uop *gate, const un_uop *c) {
  const un_uop *todo[32];
  uint32_t n = 0;
  todo[n++] = gate;
  while (n) {
    const un_uop *at = todo[--n];
    if (at == c) return true;
    if (at->op != UN__OP_AND || n + 2 > sizeof todo / sizeof *todo) continue;
    todo[n++] = at->src[1];
    todo[n++] = at->src[0];
  }
  return false;
}

bool un__pred_implied(un__rw *rw, const un_uop *gate, const un_uop *c) {
  for (; c->op == UN__OP_AND && !has_condition(gate, c); c = c->src[0])
    if (!has_condition(gate, c->src[1])) return false;
  return has_condition(gate, c);
}
