/* rangeify_build.h - tensor graphs in a few words, and running what they become. Shared by the rangeify tests. */
#ifndef UN_TESTS_RANGEIFY_BUILD_H
#define UN_TESTS_RANGEIFY_BUILD_H

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "interp/interp.h"
#include "rangeify/rangeify.h"
#include "uop/text.h"

typedef const un_uop *T;

enum { MAX_INPUTS = 220 };

static un__graph *g;
static un__err err;
static int64_t n_inputs;
static T inputs[MAX_INPUTS];

static inline void begin(void) {
  un__err_clear(&err);
  g = un__workspace_create(&err);
  n_inputs = 0;
  cr_assert(g);
}

static inline void end(void) { un__workspace_destroy(g); }

/* ---- tensors ---- */

typedef struct S { uint32_t rank; int64_t d[UN__MAX_RANK]; } S;
#define S_(...) ((S){sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}})
#define S0 ((S){0, {0}})

static inline S shape_of(T x) {
  S s = {x->shape->rank, {0}};
  for (uint32_t i = 0; i < s.rank; i++) s.d[i] = un__const_int(x->shape->dim[i]);
  return s;
}

static inline T node(un__op op, un__dtype dt, const T *src, uint32_t n, const int64_t *attrs, uint32_t nattr) {
  return un__uop(g, op, dt, src, n, attrs, nattr);
}

static inline T in(un_dtype dt, S s) {
  T dim[UN__MAX_RANK];
  for (uint32_t i = 0; i < s.rank; i++) dim[i] = un__idx(g, s.d[i]);
  return inputs[n_inputs] = node(UN__OP_BUFFER, UN__DT(dt), dim, s.rank, (int64_t[]){n_inputs, 0}, 2), inputs[n_inputs++];
}

static inline T f32(S s) { return in(UN_F32, s); }

static inline T with_dims(un__op op, T x, S s) {
  T src[UN__MAX_RANK + 1] = {x};
  for (uint32_t i = 0; i < s.rank; i++) src[i + 1] = un__idx(g, s.d[i]);
  return node(op, 0, src, s.rank + 1, NULL, 0);
}
static inline T reshape(T x, S s) { return with_dims(UN__OP_RESHAPE, x, s); }
static inline T expand(T x, S s) { return with_dims(UN__OP_EXPAND, x, s); }

static inline T permute(T x, S p) { return node(UN__OP_PERMUTE, 0, &x, 1, p.d, p.rank); }
static inline T flip(T x, int64_t axes) { return node(UN__OP_FLIP, 0, &x, 1, &axes, 1); }

static inline T box(un__op op, T x, S lo, S hi) {
  T src[2 * UN__MAX_RANK + 1] = {x};
  for (uint32_t i = 0; i < lo.rank; i++) {
    src[1 + i] = un__idx(g, lo.d[i]);
    src[1 + lo.rank + i] = un__idx(g, hi.d[i]);
  }
  return node(op, 0, src, 2 * lo.rank + 1, NULL, 0);
}
static inline T pad(T x, S lo, S hi) { return box(UN__OP_PAD, x, lo, hi); }
static inline T shrink(T x, S lo, S hi) { return box(UN__OP_SHRINK, x, lo, hi); }

static inline T stack(const T *x, uint32_t n) { return node(UN__OP_STACK, 0, x, n, NULL, 0); }

static inline T reduce(un__op op, T x, S axes) {
  int64_t attrs[UN__MAX_RANK + 1] = {op};
  memcpy(attrs + 1, axes.d, axes.rank * sizeof *attrs);
  return node(UN__OP_REDUCE_AXIS, 0, &x, 1, attrs, axes.rank + 1);
}
static inline T sum(T x, int64_t axis) { return reduce(UN__OP_ADD, x, S_(axis)); }

static inline T keep(un__op op, T x, int64_t axis) {
  S s = shape_of(x);
  s.d[axis] = 1;
  return reshape(reduce(op, x, S_(axis)), s);
}

/* Repeats axes of size 1, after adding leading ones. */
static inline T broadcast(T x, S to) {
  S s = shape_of(x), one = {to.rank, {0}};
  for (uint32_t i = 0; i < to.rank; i++) one.d[i] = i + s.rank < to.rank ? 1 : s.d[i + s.rank - to.rank];
  if (s.rank != to.rank) x = reshape(x, one);
  return memcmp(one.d, to.d, to.rank * sizeof *to.d) == 0 ? x : expand(x, to);
}

static inline S common(S x, S y) {
  S s = x.rank > y.rank ? x : y;
  for (uint32_t i = 0; i < s.rank; i++) {
    int64_t p = i + x.rank < s.rank ? 1 : x.d[i + x.rank - s.rank], q = i + y.rank < s.rank ? 1 : y.d[i + y.rank - s.rank];
    s.d[i] = p == 1 ? q : p;
  }
  return s;
}

static inline T op2(un__op op, T a, T b) {
  S s = common(shape_of(a), shape_of(b));
  return un__binary(g, op, broadcast(a, s), broadcast(b, s));
}
static inline T add(T a, T b) { return op2(UN__OP_ADD, a, b); }
static inline T sub(T a, T b) { return op2(UN__OP_SUB, a, b); }
static inline T mul(T a, T b) { return op2(UN__OP_MUL, a, b); }
static inline T divide(T a, T b) { return op2(UN__OP_FDIV, a, b); }
static inline T op1(un__op op, T a) { return un__unary(g, op, a); }
static inline T num(double v) { return un__const_f(g, UN__DT(UN_F32), v); }
static inline T whole(un_dtype dt, int64_t v) { return un__const_i(g, UN__DT(dt), v); }
static inline T cast(un_dtype dt, T x) { return un__cast(g, UN__DT(dt), x); }
static inline T relu(T x) { return op2(UN__OP_MAX, x, num(0)); }
static inline T contiguous(T x) { return op1(UN__OP_CONTIGUOUS, x); }

static inline T where(T c, T a, T b) {
  S s = common(shape_of(c), common(shape_of(a), shape_of(b)));
  return un__ternary(g, UN__OP_WHERE, broadcast(c, s), broadcast(a, s), broadcast(b, s));
}

static inline T iota(un_dtype dt, int64_t n) {
  T size = un__idx(g, n);
  return node(UN__OP_IOTA, UN__DT(dt), &size, 1, NULL, 0);
}

static inline T matmul(T a, T b) {
  S x = shape_of(a), y = shape_of(b);
  T l = expand(reshape(a, S_(x.d[0], x.d[1], 1)), S_(x.d[0], x.d[1], y.d[1]));
  T r = expand(reshape(b, S_(1, y.d[0], y.d[1])), S_(x.d[0], x.d[1], y.d[1]));
  return sum(un__binary(g, UN__OP_MUL, l, r), 1);
}

/* VALID(i, 0 <= i < n) of an integer tensor. */
static inline T in_range(T i, int64_t n) {
  T x = cast(UN_INDEX, i);
  T above = op2(UN__OP_LT, whole(UN_INDEX, -1), x), below = op2(UN__OP_LT, x, whole(UN_INDEX, n));
  T src[] = {x, un__binary(g, UN__OP_AND, above, below)};
  return node(UN__OP_VALID, 0, src, 2, NULL, 0);
}
static inline T gather1(T x, T i) {
  T src[] = {x, i};
  return node(UN__OP_INDEX, x->dtype, src, 2, NULL, 0);
}
static inline T gather2(T x, T i, T j) {
  T src[] = {x, i, j};
  return node(UN__OP_INDEX, x->dtype, src, 3, NULL, 0);
}

/* ---- data ---- */

static uint64_t seed;
static inline uint32_t next_random(void) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(seed >> 33);
}

/* What float inputs hold, over and over; NULL: random numbers. */
static const double *given;
static int64_t given_n;

static inline void *random_data(T b) {
  int64_t n = un__shape_known_numel(b->shape);
  size_t size = un__dt_info(b->dtype)->size;
  char *at = calloc((size_t)n + 1, size);
  for (int64_t i = 0; i < n; i++) {
    un__value v;
    if (un__dt_is_float(b->dtype) && given) v = un__value_f(b->dtype, given[i % given_n]);
    else if (un__dt_is_float(b->dtype)) v = un__value_f(b->dtype, (double)(int)(next_random() % 4001) / 1000.0 - 2.0);
    else if (un__dt_is_bool(b->dtype)) v = un__value_i(b->dtype, next_random() & 1);
    else v = un__value_i(b->dtype, (int64_t)(next_random() % 16) - 3);
    un__value_store(v, at + (size_t)i * size);
  }
  return at;
}

/* ---- running ---- */

typedef struct storage { void *at[1024]; int64_t size[1024]; } storage;

static inline T schedule_of(T sink, const un__rangeify_options *opt, int64_t *slots) {
  T out = un__rangeify(g, sink, n_inputs, opt, slots);
  cr_assert(out, "rangeify failed: %s", err.text);
  return out;
}

static inline void verify(const char *name, T root, un__stage stage) {
  un__err e = {0};
  un__strbuf text = {0};
  if (un__verify(root, stage, &e, &text) != UN_OK) {
    cr_expect(false, "%s: %s\n%s", name, e.text, un__sb_str(&text));
  }
  un__sb_finish(&text);
}

static inline void hold(storage *st, T buffer) {
  int64_t slot = un__attr(buffer, 0), n = un__shape_known_numel(buffer->shape);
  size_t bytes = (size_t)n * un__dt_info(buffer->dtype)->size;
  cr_assert_lt(slot, 1024);
  if (st->at[slot]) return;
  st->at[slot] = malloc(bytes + 1);
  memset(st->at[slot], 0xa5, bytes);
  st->size[slot] = n;
}

/* What is run instead of a kernel's body, in how many tasks; NULL: the body. */
static T (*prepare)(T body, int64_t *out_tasks);

static inline void run_schedule(const char *name, T schedule, storage *st) {
  for (uint32_t k = 0; k < schedule->nsrc; k++) {
    T kernel = schedule->src[k];
    void *args[256];
    int64_t sizes[256];
    for (uint32_t i = 1; i < kernel->nsrc; i++) {
      hold(st, kernel->src[i]);
      args[i - 1] = st->at[un__attr(kernel->src[i], 0)];
      sizes[i - 1] = st->size[un__attr(kernel->src[i], 0)];
    }
    un__err e = {0};
    int64_t tasks = 1;
    T body = prepare ? prepare(kernel->src[0], &tasks) : kernel->src[0];
    for (int64_t task = 0; task < tasks; task++) {
      un_status s = un__interp_kernel(body, args, sizes, kernel->nsrc - 1, NULL, task, &e);
      cr_assert_eq(s, UN_OK, "%s: kernel %u: %s", name, k, e.text);
    }
  }
}

static inline bool near(un__value a, un__value b) {
  if (!un__dt_is_float(a.dtype)) return a.i == b.i;
  if (isnan(a.f) || isnan(b.f)) return isnan(a.f) && isnan(b.f);
  if (a.f == b.f) return true;
  return fabs(a.f - b.f) <= 2e-4 * (1 + fabs(a.f) + fabs(b.f));
}

static inline void compare(const char *name, uint32_t result, const un__itensor *want, const void *got) {
  size_t size = un__dt_info(want->dtype)->size;
  int64_t n = 1;
  for (uint32_t i = 0; i < want->rank; i++) n *= want->dim[i];
  for (int64_t i = 0; i < n; i++) {
    un__value a = un__value_load(want->dtype, (const char *)want->data + (size_t)i * size);
    un__value b = un__value_load(want->dtype, (const char *)got + (size_t)i * size);
    if (near(a, b)) continue;
    if (un__dt_is_float(a.dtype)) cr_expect(false, "%s: result %u[%ld]: want %g, got %g", name, result, (long)i, a.f, b.f);
    else cr_expect(false, "%s: result %u[%ld]: want %ld, got %ld", name, result, (long)i, (long)a.i, (long)b.i);
    return;
  }
}

/* Schedules, verifies, runs, compares with the interpreter's answer; the number of kernels. */
static inline uint32_t check(const char *name, T sink, const un__rangeify_options *opt) {
  int64_t slots[64];
  cr_assert(sink, "%s: building failed: %s", name, err.text);
  T schedule = schedule_of(sink, opt, slots);
  verify(name, schedule, UN__STAGE_SCHEDULE);
  for (uint32_t k = 0; k < schedule->nsrc; k++) verify(name, schedule->src[k]->src[0], UN__STAGE_KERNEL);
  static storage st;
  memset(&st, 0, sizeof st);
  un__itensor data[MAX_INPUTS], want[64];
  seed = 12345;
  for (int64_t i = 0; i < n_inputs; i++) {
    S s = shape_of(inputs[i]);
    data[i] = (un__itensor){inputs[i]->dtype, s.rank, {0}, random_data(inputs[i])};
    memcpy(data[i].dim, s.d, sizeof s.d);
    st.at[i] = data[i].data;
    st.size[i] = un__shape_known_numel(inputs[i]->shape);
  }
  un__err e = {0};
  cr_assert_eq(un__interp_tensor(sink->src, sink->nsrc, data, (uint32_t)n_inputs, want, &e), UN_OK, "%s: %s", name, e.text);
  run_schedule(name, schedule, &st);
  for (uint32_t i = 0; i < sink->nsrc; i++) {
    int64_t n = un__shape_known_numel(sink->src[i]->shape);
    if (n) cr_assert(st.at[slots[i]], "%s: result %u was not computed", name, i);
    if (n) compare(name, i, &want[i], st.at[slots[i]]);
    un__free(want[i].data);
  }
  for (int i = 0; i < 1024; i++) free(st.at[i]);
  return schedule->nsrc;
}

static inline T sink1(T x) { return x ? un__sink(g, &x, 1) : NULL; }

#endif
