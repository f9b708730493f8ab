/* calls.c - calls of the tensor API in random programs: what the ops alone do not reach. Each is built as the public call
 * builds it, from tensors of the program. */
#include "make.h"

#include <stdio.h>
#include <string.h>

#include "tensor/tensor.h"

typedef const un_uop *node;

static un__graph *graph_of(const maker *m) { return m->p->ws; }

/* What is known of a result: integers from exact operands are exact; floats went through rounded operations. */
static fact computed(un__dtype d, const fact *a) {
  return un__dt_is_float(d) ? (fact){false, 1e30, a->eps > eps_of(d) ? a->eps : eps_of(d)} : (fact){true, 1, 0};
}

/* Keeps results that have elements and are not too large; others were built all the same. */
static void finish(maker *m, node n, fact f) {
  if (n && numel(n) > 0 && numel(n) <= MAX_NUMEL && n->shape->rank <= 10) keep(m, n, f);
}

static un_dims dims_of(const un_uop *x) {
  un_dims d;
  return un__tensor_dims(NULL, x, &d), d;
}

static un_dims some_axes(maker *m, node x) {
  un_dims d = {0};
  if (rng_below(m->r, 4) == 0) return (un_dims){.rank = UN_DIMS_ALL};
  for (int i = 0; i < (int)x->shape->rank; i++)
    if (rng_below(m->r, 2)) d.dim[d.rank++] = rng_below(m->r, 2) ? i : i - (int)x->shape->rank;
  return d;
}

static int an_axis(maker *m, node x) { return (int)rng_below(m->r, x->shape->rank) - (rng_below(m->r, 2) ? (int)x->shape->rank : 0); }

/* A tensor with at least one axis. */
static uint32_t pick_ranked(maker *m, const char *classes, bool exact) {
  for (int tries = 0; tries < 8; tries++) {
    uint32_t a = pick(m, classes, exact);
    if (a == UINT32_MAX || m->tensor[a]->shape->rank) return a;
  }
  return UINT32_MAX;
}

/* ---- one operand ---- */

typedef node (*unary_call)(un__graph *g, node x);

static void call_unary(maker *m) {
  static const struct { unary_call of; const char *classes; bool same; } calls[] = {
    {un__tensor_abs, "iuf", true}, {un__tensor_sign, "iuf", true}, {un__tensor_ceil, "f", true}, {un__tensor_round, "f", true},
    {un__tensor_isnan, "iuf", true}, {un__tensor_square, "iuf", false}, {un__tensor_relu, "iuf", false}, {un__tensor_rsqrt, "f", false},
    {un__tensor_tan, "f", false}, {un__tensor_sigmoid, "biuf", false}, {un__tensor_tanh, "f", false}, {un__tensor_erf, "f", false},
    {un__tensor_silu, "f", false}, {un__tensor_gelu, "f", false}, {un__tensor_gelu_tanh, "f", false}, {un__tensor_cos, "iuf", false},
  };
  uint32_t k = rng_below(m->r, sizeof calls / sizeof *calls), a = pick(m, calls[k].classes, true);
  if (a == UINT32_MAX) return;
  node n = calls[k].of(graph_of(m), m->tensor[a]);
  if (n) finish(m, n, calls[k].same ? exact_fact(n->dtype, 1e30) : computed(n->dtype, &m->fact_of[a]));
}

/* ---- movement ---- */

static void call_slice(maker *m) {
  uint32_t a = pick_ranked(m, "*", false);
  if (a == UINT32_MAX) return;
  int axis = an_axis(m, m->tensor[a]);
  int64_t bound[2], step = (int64_t)rng_below(m->r, 7) - 3;
  for (int i = 0; i < 2; i++) bound[i] = rng_below(m->r, 3) ? (int64_t)rng_below(m->r, 24) - 12 : UN_OPEN;
  finish(m, un__tensor_slice(graph_of(m), m->tensor[a], axis, bound[0], bound[1], step ? step : -1), m->fact_of[a]);
}

static void call_pad_value(maker *m) {
  uint32_t a = any(m);
  un_dims before = dims_of(m->tensor[a]), after = before;
  for (int i = 0; i < before.rank; i++) before.dim[i] = rng_below(m->r, 3), after.dim[i] = rng_below(m->r, 3);
  finish(m, un__tensor_pad_value(graph_of(m), m->tensor[a], &before, &after, 1), m->fact_of[a]);
}

/* Many axes, most of size 1. */
static void call_rank_up(maker *m) {
  uint32_t a = any(m);
  un_dims have = dims_of(m->tensor[a]), to = {0};
  if (have.rank > 4) return;
  for (int i = 0; i <= have.rank; i++) {
    for (uint32_t ones = rng_below(m->r, 3); ones > 0; ones--) to.dim[to.rank++] = 1;
    if (i == have.rank) break;
    bool halves = have.dim[i] % 2 == 0 && rng_below(m->r, 2);
    if (halves) to.dim[to.rank++] = 2;
    to.dim[to.rank++] = halves ? have.dim[i] / 2 : have.dim[i];
  }
  finish(m, un__tensor_reshape(graph_of(m), m->tensor[a], &to), m->fact_of[a]);
}

/* Slices of one tensor, without elements too, joined. */
static void call_join(maker *m) {
  uint32_t a = pick_ranked(m, "*", false);
  if (a == UINT32_MAX) return;
  node x = m->tensor[a], part[3];
  un__graph *g = graph_of(m);
  size_t n = 1 + rng_below(m->r, 3);
  int axis = an_axis(m, x);
  bool stacks = rng_below(m->r, 3) == 0;
  for (size_t i = 0; i < n; i++) {
    int64_t from = rng_below(m->r, 6), to = from + rng_below(m->r, 6);
    part[i] = stacks ? x : un__tensor_slice(g, x, axis, from, to, rng_below(m->r, 2) ? 1 : 2);
  }
  node y = stacks ? un__tensor_stack(g, part, n, (int)rng_below(m->r, x->shape->rank + 1)) : un__tensor_cat(g, part, n, axis);
  finish(m, y, m->fact_of[a]);
}

/* ---- reductions ---- */

typedef node (*reduce_call)(un__graph *g, node x, const un_dims *axes, bool keepdim);

static void call_reduce(maker *m) {
  static const struct { reduce_call of; bool exact; } calls[] = {
    {un__tensor_any, true}, {un__tensor_all, true}, {un__tensor_sum, false}, {un__tensor_prod, true}, {un__tensor_mean, false},
    {un__tensor_max, false}, {un__tensor_min, false},
  };
  uint32_t k = rng_below(m->r, sizeof calls / sizeof *calls);
  const char *classes = calls[k].of == un__tensor_prod ? "biu" : "biuf";
  uint32_t a = pick(m, classes, calls[k].exact);
  if (a == UINT32_MAX) return;
  un_dims axes = some_axes(m, m->tensor[a]);
  node n = calls[k].of(graph_of(m), m->tensor[a], &axes, rng_below(m->r, 2));
  if (n) finish(m, n, computed(n->dtype, &m->fact_of[a]));
}

/* Of no elements on an axis: the identity. */
static void call_reduce_nothing(maker *m) {
  static const reduce_call calls[] = {un__tensor_any, un__tensor_all, un__tensor_sum, un__tensor_prod, un__tensor_mean};
  uint32_t a = pick_ranked(m, "*", false);
  if (a == UINT32_MAX) return;
  int axis = an_axis(m, m->tensor[a]);
  node none = un__tensor_slice(graph_of(m), m->tensor[a], axis, 3, 3, 1);
  node n = none ? calls[rng_below(m->r, 5)](graph_of(m), none, &(un_dims){1, {axis}}, true) : NULL;
  if (n) finish(m, n, computed(n->dtype, &m->fact_of[a]));
}

static void call_argmax(maker *m) {
  uint32_t a = pick_ranked(m, "biuf", true);
  if (a == UINT32_MAX) return;
  int axis = an_axis(m, m->tensor[a]);
  node (*of)(un__graph *, node, int, bool) = rng_below(m->r, 2) ? un__tensor_argmax : un__tensor_argmin;
  finish(m, of(graph_of(m), m->tensor[a], axis, rng_below(m->r, 2)), exact_fact(UN__DT(UN_I32), 1));
}

static void call_layer(maker *m) {
  uint32_t a = pick_ranked(m, "f", true), kind = rng_below(m->r, 5);
  if (a == UINT32_MAX) return;
  node x = m->tensor[a], n;
  un__graph *g = graph_of(m);
  int axis = an_axis(m, x);
  un_dims axes = {1, {axis}};
  if (kind == 0) n = un__tensor_softmax(g, x, axis);
  else if (kind == 1) n = un__tensor_log_softmax(g, x, axis);
  else if (kind == 2) n = un__tensor_layer_norm(g, x, &axes, 1e-5);
  else if (kind == 3) n = un__tensor_rms_norm(g, x, &axes, 1e-5);
  else n = un__tensor_var(g, x, &axes, (int)rng_below(m->r, 2), rng_below(m->r, 2));
  if (n) finish(m, n, computed(n->dtype, &m->fact_of[a]));
}

/* ---- products and indices ---- */

static void call_matmul(maker *m) {
  uint32_t a = pick_ranked(m, "biuf", true);
  if (a == UINT32_MAX || m->tensor[a]->shape->rank > 4) return;
  int64_t k = dim(m->tensor[a], m->tensor[a]->shape->rank - 1), dims[2] = {k, 1 + rng_below(m->r, 6)};
  node b = make_buffer(m, m->tensor[a]->dtype, 1 + rng_below(m->r, 2), dims), n;
  if (!b || numel(m->tensor[a]) * dims[1] > 4 * MAX_NUMEL) return;
  if ((n = un__tensor_matmul(graph_of(m), m->tensor[a], b))) finish(m, n, computed(n->dtype, &m->fact_of[a]));
}

static void call_by_index(maker *m) {
  uint32_t a = pick_ranked(m, "*", false), i = pick(m, "iu", true), kind = rng_below(m->r, 3);
  if (a == UINT32_MAX || i == UINT32_MAX) return;
  node x = m->tensor[a], index = m->tensor[i];
  un__graph *g = graph_of(m);
  if (kind == 0 && numel(index) <= 256 && index->shape->rank < 8) {
    static const un_dtype as[] = {UN_F32, UN_BOOL, UN_U8, UN_BF16};
    un_dtype d = as[rng_below(m->r, 4)];
    finish(m, un__tensor_one_hot(g, index, rng_below(m->r, 8), d), exact_fact(UN__DT(d), 1));
  }
  if (kind == 1 && x->shape->rank + index->shape->rank < 10 && numel(x) * numel(index) <= 8 * MAX_NUMEL)
    finish(m, un__tensor_take(g, x, an_axis(m, x), index), m->fact_of[a]);
  if (kind == 2 && (i = pick_like(m, x, index->dtype, true)) != UINT32_MAX)
    finish(m, un__tensor_gather(g, x, an_axis(m, x), m->tensor[i]), m->fact_of[a]);
}

/* ---- two operands ---- */

typedef node (*binary_call)(un__graph *g, node a, node b);

/* Of different integer dtypes, and powers and shifts of them. */
static void call_integers(maker *m) {
  static const binary_call calls[] = {un__tensor_pow, un__tensor_shl, un__tensor_shr, un__tensor_floordiv, un__tensor_floormod,
                                      un__tensor_truncdiv, un__tensor_truncmod, un__tensor_le, un__tensor_ge, un__tensor_maximum};
  static const un_dtype dtypes[] = {UN_I8, UN_U8, UN_I16, UN_U16, UN_I32, UN_U32, UN_I64, UN_U64};
  uint32_t a = pick(m, "iu", true), b = UINT32_MAX;
  if (a != UINT32_MAX) b = pick_like(m, m->tensor[a], UN__DT(dtypes[rng_below(m->r, 8)]), true);
  if (b == UINT32_MAX) return;
  node n = calls[rng_below(m->r, 10)](graph_of(m), m->tensor[a], m->tensor[b]);
  if (n) finish(m, n, computed(n->dtype, &m->fact_of[a]));
}

static void call_create(maker *m) {
  static const un_dtype dtypes[] = {UN_I8, UN_U8, UN_I32, UN_I64, UN_U64, UN_F16, UN_F32, UN_F64};
  un_dtype d = dtypes[rng_below(m->r, 8)];
  int64_t n = 1 + rng_below(m->r, 12);
  node x = rng_below(m->r, 2) ? un__tensor_eye(graph_of(m), d, n, 1 + rng_below(m->r, 12))
                              : un__tensor_arange(graph_of(m), d, 20, 20 + 2 * (double)n, rng_below(m->r, 2) ? 1 : 3);
  finish(m, x, exact_fact(UN__DT(d), 100));
}

static void (*const calls[])(maker *) = {call_unary,  call_slice,          call_pad_value, call_rank_up,  call_join,
                                         call_reduce, call_reduce_nothing, call_argmax,    call_layer,    call_matmul,
                                         call_by_index, call_integers,     call_create,    call_unary,    call_join};

void make_call(maker *m) { calls[rng_below(m->r, sizeof calls / sizeof *calls)](m); }
