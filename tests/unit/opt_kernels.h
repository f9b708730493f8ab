/* opt_kernels.h - kernels for the tests of opt and codegen, and running them on random data. */
#ifndef UN_TESTS_OPT_KERNELS_H
#define UN_TESTS_OPT_KERNELS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "interp/interp.h"
#include "opt/opt.h"
#include "uop/combine.h"
#include "uop/eval.h"
#include "uop/text.h"

/* A machine with registers of 64 bytes, whatever runs the tests. */
static const un__target wide = {
    .name = "cpu-512",
    .threads = 4,
    .vector_bytes = 64,
    .vector_registers = 32,
    .l1_bytes = 48 << 10,
    .l2_bytes = 1 << 20,
    .cache_line = 64,
    .has_threads = true,
    .fma = true,
    .min_parallel_work = 32768,
};

/* A GPU, and one whose warps and blocks are so small that little kernels fill several. */
#define GPU(NAME, WARP, GROUP, ...)                                                                                          \
  {.name = NAME, .vector_bytes = 16, .vector_registers = 255, .l1_bytes = 128 << 10, .l2_bytes = 60 << 20, .cache_line = 128,   \
   .has_local = true, .fma = true, .f16_convert = true, .threads = 1,                                                        \
   .gpu = {.arch = "sm_90a", .warp = WARP, .max_group = GROUP, .unit_threads = 2048, .unit_registers = 65536,  \
           .shared_bytes = 227 << 10, .unit_shared_bytes = 228 << 10, .l2_bytes = 60 << 20, .bytes_per_second = 4.8e12,      \
           .f32_flops = 67e12, __VA_ARGS__}}
static const un__target big_gpu = GPU("gpu-test", 32, 1024, .units = 132);
static const un__target little_gpu = GPU("gpu-little", 4, 64, .units = 132);
/* One with all tensor cores, and copies that run on. */
static const un__target core_gpu = GPU("gpu-cores", 32, 1024, .units = 132, .tensor_cores = (1u << UN__TENSOR_CORES) - 1, .async_copies = true);

enum { MAX_ARGS = 4, MAX_BYTES = 8 };

/* A kernel and the sizes of its arguments; results come first. */
typedef struct kern {
  const un_uop *root;
  uint32_t nargs, nresults;
  un__dtype dt[MAX_ARGS];
  int64_t size[MAX_ARGS];
  int64_t vars[1];
} kern;

typedef struct build {
  un__graph *g;
  kern k;
} build;

/* ---- pieces ---- */

static inline const un_uop *b_param(build *b, un_dtype dt, int64_t size) {
  uint32_t slot = b->k.nargs++;
  b->k.dt[slot] = UN__DT(dt);
  b->k.size[slot] = size;
  const un_uop *n = un__idx(b->g, size);
  int64_t attr = slot;
  return un__uop(b->g, UN__OP_PARAM, un__dt_ptr(dt, UN__SPACE_GLOBAL), &n, 1, &attr, 1);
}
static inline const un_uop *b_out(build *b, un_dtype dt, int64_t size) {
  b->k.nresults++;
  return b_param(b, dt, size);
}
static inline const un_uop *b_loop(build *b, int64_t size, int64_t id) {
  return un__range(b->g, un__idx(b->g, size), UN__AXIS_LOOP, id);
}
static inline const un_uop *b_red(build *b, int64_t size, int64_t id) {
  return un__range(b->g, un__idx(b->g, size), UN__AXIS_REDUCE, id);
}
static inline const un_uop *b_mul(build *b, const un_uop *x, int64_t c) {
  return c == 1 ? x : un__binary(b->g, UN__OP_MUL, x, un__idx(b->g, c));
}
static inline const un_uop *b_add(build *b, const un_uop *x, const un_uop *y) {
  return un__binary(b->g, UN__OP_ADD, x, y);
}
/* r * n + c */
static inline const un_uop *b_at(build *b, const un_uop *r, int64_t n, const un_uop *c) {
  return b_add(b, b_mul(b, r, n), c);
}
static inline const un_uop *b_index(build *b, const un_uop *p, const un_uop *i, const un_uop *gate) {
  return un__uop(b->g, UN__OP_INDEX, p->dtype, (const un_uop *[]){p, i, gate}, gate ? 3 : 2, NULL, 0);
}
static inline const un_uop *b_load_if(build *b, const un_uop *p, const un_uop *i, const un_uop *gate) {
  const un_uop *a = b_index(b, p, i, gate);
  return un__uop(b->g, UN__OP_LOAD, UN__DT(un__dt_scalar(p->dtype)), &a, 1, NULL, 0);
}
static inline const un_uop *b_load(build *b, const un_uop *p, const un_uop *i) { return b_load_if(b, p, i, NULL); }
static inline const un_uop *b_store(build *b, const un_uop *p, const un_uop *i, const un_uop *v) {
  return un__binary(b->g, UN__OP_STORE, b_index(b, p, i, NULL), v);
}
static inline const un_uop *b_close(build *b, un__op op, const un_uop *x, const un_uop *r0, const un_uop *r1,
                                    int64_t attr) {
  return un__uop(b->g, op, 0, (const un_uop *[]){x, r0, r1}, r1 ? 3 : 2, &attr, op == UN__OP_REDUCE);
}
static inline const un_uop *b_reduce(build *b, un__op op, const un_uop *x, const un_uop *r0) {
  return b_close(b, UN__OP_REDUCE, x, r0, NULL, op);
}
static inline const un_uop *b_end(build *b, const un_uop *t, const un_uop *r0, const un_uop *r1) {
  return b_close(b, UN__OP_END, t, r0, r1, 0);
}
static inline kern b_done(build *b, const un_uop *end) {
  b->k.root = un__sink(b->g, &end, 1);
  return b->k;
}
/* The sum-like and the product-like op of a dtype. */
static inline un__op b_plus(un_dtype d) { return d == UN_BOOL ? UN__OP_OR : UN__OP_ADD; }
static inline un__op b_times(un_dtype d) { return d == UN_BOOL ? UN__OP_AND : UN__OP_MUL; }

/* ---- kernels ---- */

/* out[i,j] = x[i,j] * y[j] + x[i,j] */
static inline kern k_chain(un__graph *g, un_dtype d, int64_t m, int64_t n) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, d, m * n), *x = b_param(&b, d, m * n), *y = b_param(&b, d, n);
  const un_uop *i = b_loop(&b, m, 0), *j = b_loop(&b, n, 1), *v = b_load(&b, x, b_at(&b, i, n, j));
  v = un__binary(g, b_plus(d), un__binary(g, b_times(d), v, b_load(&b, y, j)), v);
  return b_done(&b, b_end(&b, b_store(&b, o, b_at(&b, i, n, j), v), i, j));
}

/* out[i] = x[i] + x[i] */
static inline kern k_flat(un__graph *g, un_dtype d, int64_t n) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, d, n), *x = b_param(&b, d, n), *i = b_loop(&b, n, 0), *v = b_load(&b, x, i);
  return b_done(&b, b_end(&b, b_store(&b, o, i, un__binary(g, b_plus(d), v, v)), i, NULL));
}

/* out[i] = op over j of x[i,j] (rows) or x[j,i] */
static inline kern k_reduce(un__graph *g, un_dtype d, un__op op, int64_t m, int64_t n, bool rows) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, d, m), *x = b_param(&b, d, m * n), *i = b_loop(&b, m, 0), *j = b_red(&b, n, 1);
  const un_uop *v = b_load(&b, x, rows ? b_at(&b, i, n, j) : b_at(&b, j, m, i));
  return b_done(&b, b_end(&b, b_store(&b, o, i, b_reduce(&b, op, v, j)), i, NULL));
}

/* out[0] = sum over all of x */
static inline kern k_total(un__graph *g, un_dtype d, int64_t n) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, d, 1), *x = b_param(&b, d, n), *j = b_red(&b, n, 0);
  return b_done(&b, b_store(&b, o, un__idx(g, 0), b_reduce(&b, b_plus(d), b_load(&b, x, j), j)));
}

/* out[i] = sum of (x[i,j] - max of x[i]) over j, times the max: two reductions, one inside the other. */
static inline kern k_nested(un__graph *g, un_dtype d, int64_t m, int64_t n) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, d, m), *x = b_param(&b, d, m * n), *i = b_loop(&b, m, 0);
  const un_uop *j = b_red(&b, n, 1), *k = b_red(&b, n, 2);
  const un_uop *most = b_reduce(&b, UN__OP_MAX, b_load(&b, x, b_at(&b, i, n, j)), j);
  const un_uop *v = un__binary(g, d == UN_BOOL ? UN__OP_XOR : UN__OP_SUB, b_load(&b, x, b_at(&b, i, n, k)), most);
  v = un__binary(g, b_times(d), b_reduce(&b, b_plus(d), v, k), most);
  return b_done(&b, b_end(&b, b_store(&b, o, i, v), i, NULL));
}

/* out[i,j] = x[i,j] - max of x[i] + sum of (x[i,k] - max of x[i]): the shape of softmax. */
static inline kern k_softmax(un__graph *g, un_dtype d, int64_t m, int64_t n) {
  build b = {.g = g};
  un__op minus = d == UN_BOOL ? UN__OP_XOR : UN__OP_SUB;
  const un_uop *o = b_out(&b, d, m * n), *x = b_param(&b, d, m * n), *i = b_loop(&b, m, 0), *j = b_loop(&b, n, 1);
  const un_uop *k = b_red(&b, n, 2), *l = b_red(&b, n, 3);
  const un_uop *most = b_reduce(&b, UN__OP_MAX, b_load(&b, x, b_at(&b, i, n, k)), k);
  const un_uop *sum = b_reduce(&b, b_plus(d), un__binary(g, minus, b_load(&b, x, b_at(&b, i, n, l)), most), l);
  const un_uop *v = un__binary(g, minus, b_load(&b, x, b_at(&b, i, n, j)), most);
  return b_done(&b, b_end(&b, b_store(&b, o, b_at(&b, i, n, j), un__binary(g, b_plus(d), v, sum)), i, j));
}

/* out[i] = max of x[i] - min of x[i], in one loop. */
static inline kern k_spread(un__graph *g, un_dtype d, int64_t m, int64_t n) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, d, m), *x = b_param(&b, d, m * n), *i = b_loop(&b, m, 0), *j = b_red(&b, n, 1);
  const un_uop *v = b_load(&b, x, b_at(&b, i, n, j));
  v = un__binary(g, d == UN_BOOL ? UN__OP_XOR : UN__OP_SUB, b_reduce(&b, UN__OP_MAX, v, j),
                 b_reduce(&b, UN__OP_MIN, v, j));
  return b_done(&b, b_end(&b, b_store(&b, o, i, v), i, NULL));
}

/* out = a . b; at, bt: the operand is stored transposed. */
static inline kern k_matmul(un__graph *g, un_dtype d, int64_t m, int64_t n, int64_t k, bool at, bool bt) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, d, m * n), *x = b_param(&b, d, m * k), *y = b_param(&b, d, k * n);
  const un_uop *i = b_loop(&b, m, 0), *j = b_loop(&b, n, 1), *r = b_red(&b, k, 2);
  const un_uop *u = b_load(&b, x, at ? b_at(&b, r, m, i) : b_at(&b, i, k, r));
  const un_uop *v = b_load(&b, y, bt ? b_at(&b, j, k, r) : b_at(&b, r, n, j));
  v = b_reduce(&b, b_plus(d), un__binary(g, b_times(d), u, v), r);
  return b_done(&b, b_end(&b, b_store(&b, o, b_at(&b, i, n, j), v), i, j));
}

/* ---- products that a tensor core computes ---- */

typedef enum core_prologue { PLAIN, FROM_F32, DOUBLED, GATED, ENDLESS, PROLOGUES } core_prologue;
typedef enum core_epilogue { SUM, NARROW, BIAS, RELU, SIBLING, EPILOGUES } core_epilogue;
typedef struct core_product {
  un_dtype d;
  int64_t batch, m, n, k;                 /* batch 0: none */
  bool left_across, right_along, shared;  /* (k,m); (n,k); every batch has the same right operand */
  core_prologue prologue;                 /* of the left operand */
  core_epilogue epilogue;
} core_product;

/* Row r of n elements of a batch's matrix. */
static inline const un_uop *core_at(build *b, const un_uop *batch, int64_t rows, const un_uop *r, int64_t n, const un_uop *c) {
  return b_at(b, batch ? b_at(b, batch, rows, r) : r, n, c);
}

static inline const un_uop *core_left(build *b, const core_product *p, const un_uop *x, const un_uop *batch, const un_uop *i, const un_uop *r) {
  const un_uop *at = p->left_across ? core_at(b, batch, p->k, r, p->m, i) : core_at(b, batch, p->m, i, p->k, r);
  const un_uop *gate = p->prologue == GATED ? un__binary(b->g, UN__OP_LT, r, un__idx(b->g, (p->k + 1) / 2)) : NULL;
  const un_uop *v = b_load_if(b, x, at, gate);
  if (p->prologue == FROM_F32) return un__cast(b->g, UN__DT(p->d), v);
  if (p->prologue == ENDLESS)         /* beyond the end, which no thread may notice */
    return un__ternary(b->g, UN__OP_WHERE, un__binary(b->g, UN__OP_LT, r, un__idx(b->g, p->k)), v, un__const_f(b->g, UN__DT(p->d), INFINITY));
  return p->prologue == DOUBLED ? un__binary(b->g, UN__OP_ADD, v, v) : v;
}

static inline const un_uop *core_sum(build *b, const core_product *p, const un_uop *left, const un_uop *y, const un_uop *batch, const un_uop *j,
                                     const un_uop *r) {
  un_dtype sum = un__dt_is_float(UN__DT(p->d)) ? UN_F32 : UN_I32;
  const un_uop *own = p->shared ? NULL : batch;
  const un_uop *right = b_load(b, y, p->right_along ? core_at(b, own, p->n, j, p->k, r) : core_at(b, own, p->k, r, p->n, j));
  if (sum != p->d) left = un__cast(b->g, UN__DT(sum), left), right = un__cast(b->g, UN__DT(sum), right);
  return b_reduce(b, UN__OP_ADD, un__binary(b->g, UN__OP_MUL, left, right), r);
}

/* out[b,i,j] = sum of x[b,i,r] * y[b,r,j]. Ranges: 0 is j's, 1 i's, 2 the sum's, 3 the batch's. */
static inline kern k_core(un__graph *g, const core_product *p) {
  build b = {.g = g};
  int64_t batches = p->batch ? p->batch : 1, rights = p->shared ? 1 : batches;
  un_dtype sum = un__dt_is_float(UN__DT(p->d)) ? UN_F32 : UN_I32;
  const un_uop *o = b_out(&b, p->epilogue == NARROW ? p->d : sum, batches * p->m * p->n);
  const un_uop *x = b_param(&b, p->prologue == FROM_F32 ? UN_F32 : p->d, batches * p->m * p->k), *y = b_param(&b, p->d, rights * p->k * p->n);
  const un_uop *j = b_loop(&b, p->n, 0), *i = b_loop(&b, p->m, 1), *r = b_red(&b, p->k, 2), *batch = p->batch ? b_loop(&b, p->batch, 3) : NULL;
  const un_uop *left = core_left(&b, p, x, batch, i, r), *v = core_sum(&b, p, left, y, batch, j, r);
  if (p->epilogue == NARROW) v = un__cast(g, UN__DT(p->d), v);
  if (p->epilogue == BIAS || p->epilogue == RELU) v = un__binary(g, UN__OP_ADD, v, b_load(&b, b_param(&b, sum, p->n), j));
  if (p->epilogue == RELU) v = un__binary(g, UN__OP_MAX, v, un__const_i(g, UN__DT(sum), 0));
  if (p->epilogue == SIBLING) v = un__binary(g, UN__OP_SUB, v, core_sum(&b, p, left, b_param(&b, p->d, rights * p->k * p->n), batch, j, r));
  const un_uop *end[4] = {b_store(&b, o, core_at(&b, batch, p->m, i, p->n, j), v), batch ? batch : i, batch ? i : j, j};
  return b_done(&b, un__uop(g, UN__OP_END, 0, end, batch ? 4 : 3, NULL, 0));
}

/* out[i,j] = x[j,i]; flat: one loop with division and modulus. */
static inline kern k_transpose(un__graph *g, un_dtype d, int64_t m, int64_t n, bool flat) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, d, m * n), *x = b_param(&b, d, m * n), *i, *j, *r;
  if (flat) {
    r = b_loop(&b, m * n, 0);
    i = un__binary(g, UN__OP_FLOORDIV, r, un__idx(g, n));
    j = un__binary(g, UN__OP_FLOORMOD, r, un__idx(g, n));
    return b_done(&b, b_end(&b, b_store(&b, o, r, b_load(&b, x, b_at(&b, j, m, i))), r, NULL));
  }
  i = b_loop(&b, m, 0);
  j = b_loop(&b, n, 1);
  return b_done(&b, b_end(&b, b_store(&b, o, b_at(&b, i, n, j), b_load(&b, x, b_at(&b, j, m, i))), i, j));
}

/* out[i,j] = t[idx[i], j], 0 where idx[i] is out of range */
static inline kern k_gather(un__graph *g, un_dtype d, int64_t m, int64_t n) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, d, m * n), *t = b_param(&b, d, m * n), *at = b_param(&b, UN_I32, m);
  const un_uop *i = b_loop(&b, m, 0), *j = b_loop(&b, n, 1);
  const un_uop *row = un__cast(g, UN__DT(UN_INDEX), b_load(&b, at, i));
  const un_uop *gate = un__binary(g, UN__OP_AND, un__binary(g, UN__OP_LT, un__idx(g, -1), row),
                                  un__binary(g, UN__OP_LT, row, un__idx(g, m)));
  return b_done(&b, b_end(&b, b_store(&b, o, b_at(&b, i, n, j), b_load_if(&b, t, b_at(&b, row, n, j), gate)), i, j));
}

/* out[i] = x[i - 2], 0 outside: a pad */
static inline kern k_pad(un__graph *g, un_dtype d, int64_t n) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, d, n + 5), *x = b_param(&b, d, n), *i = b_loop(&b, n + 5, 0);
  const un_uop *gate = un__binary(g, UN__OP_AND, un__binary(g, UN__OP_LT, un__idx(g, 1), i),
                                  un__binary(g, UN__OP_LT, i, un__idx(g, n + 2)));
  return b_done(&b, b_end(&b, b_store(&b, o, i, b_load_if(&b, x, b_add(&b, i, un__idx(g, -2)), gate)), i, NULL));
}

/* out[i] = i * 3 + 1 as values, and where(i < n / 2, that, x[i]) */
static inline kern k_values(un__graph *g, un_dtype d, int64_t n) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, d, n), *x = b_param(&b, d, n), *i = b_loop(&b, n, 0);
  const un_uop *v = un__cast(g, UN__DT(d), b_add(&b, b_mul(&b, i, 3), un__idx(g, 1)));
  v = un__ternary(g, UN__OP_WHERE, un__binary(g, UN__OP_LT, i, un__idx(g, n / 2)), v, b_load(&b, x, i));
  return b_done(&b, b_end(&b, b_store(&b, o, i, v), i, NULL));
}

/* Two results of one nest: out0[i,j] = x + x, out1[j,i] = x * x */
static inline kern k_two(un__graph *g, un_dtype d, int64_t m, int64_t n) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, d, m * n), *p = b_out(&b, d, m * n), *x = b_param(&b, d, m * n);
  const un_uop *i = b_loop(&b, m, 0), *j = b_loop(&b, n, 1), *v = b_load(&b, x, b_at(&b, i, n, j));
  const un_uop *both[2] = {b_store(&b, o, b_at(&b, i, n, j), un__binary(g, b_plus(d), v, v)),
                           b_store(&b, p, b_at(&b, j, m, i), un__binary(g, b_times(d), v, v))};
  return b_done(&b, b_end(&b, un__uop(g, UN__OP_GROUP, 0, both, 2, NULL, 0), i, j));
}

/* out[i] = x[i] + x[i] for i < v, a symbolic size up to n. */
static inline kern k_symbolic(un__graph *g, un_dtype d, int64_t n, int64_t value) {
  build b = {.g = g, .k.vars = {value}};
  int64_t name[UN__NAME_WORDS] = {'v'};
  const un_uop *size =
      un__uop(g, UN__OP_VAR, 0, (const un_uop *[]){un__idx(g, 1), un__idx(g, n)}, 2, name, UN__NAME_WORDS);
  const un_uop *o = b_out(&b, d, n), *x = b_param(&b, d, n), *i = un__range(g, size, UN__AXIS_LOOP, 0);
  const un_uop *v = b_load(&b, x, i);
  return b_done(&b, b_end(&b, b_store(&b, o, i, un__binary(g, b_plus(d), v, v)), i, NULL));
}

/* out[i] = sum of x[i,j] for j < v. */
static inline kern k_symbolic_sum(un__graph *g, un_dtype d, int64_t m, int64_t n, int64_t value) {
  build b = {.g = g, .k.vars = {value}};
  int64_t name[UN__NAME_WORDS] = {'v'};
  const un_uop *size =
      un__uop(g, UN__OP_VAR, 0, (const un_uop *[]){un__idx(g, 1), un__idx(g, n)}, 2, name, UN__NAME_WORDS);
  const un_uop *o = b_out(&b, d, m), *x = b_param(&b, d, m * n), *i = b_loop(&b, m, 0);
  const un_uop *j = un__range(g, size, UN__AXIS_REDUCE, 1);
  const un_uop *v = b_reduce(&b, b_plus(d), b_load(&b, x, b_at(&b, i, n, j)), j);
  return b_done(&b, b_end(&b, b_store(&b, o, i, v), i, NULL));
}

/* ---- tuples ---- */

/* REDUCE of n elements over r by a body. */
static inline const un_uop *b_tuple(build *b, const un_uop *const *results, const un_uop *const *x,
                                    const un_uop *const *identity, uint32_t n, const un_uop *r) {
  const un_uop *body = un__uop(b->g, UN__OP_TUPLE, 0, results, n, NULL, 0);
  return b_reduce(b, UN__OP_COMBINE, un__combine(b->g, body, x, identity, n), r);
}
static inline const un_uop *b_identity(build *b, un__op op, un_dtype d) {
  un__value v = {0};
  un__identity(op, UN__DT(d), &v);
  return un__const_bits(b->g, UN__DT(d), un__value_bits(v));
}
static inline const un_uop *b_where(build *b, const un_uop *c, const un_uop *x, const un_uop *y) {
  return un__ternary(b->g, UN__OP_WHERE, c, x, y);
}

/* out[i] = the first j at which x[i,j] (rows) or x[j,i] is largest. */
static inline kern k_argmax(un__graph *g, un_dtype d, int64_t m, int64_t n, bool rows) {
  build b = {.g = g};
  un__dtype t = UN__DT(d), at = UN__DT(UN_I32);
  const un_uop *o = b_out(&b, UN_I32, m), *x = b_param(&b, d, m * n), *i = b_loop(&b, m, 0), *j = b_red(&b, n, 1);
  const un_uop *v = b_load(&b, x, rows ? b_at(&b, i, n, j) : b_at(&b, j, m, i));
  const un_uop *a = un__arg(g, t, 0), *p = un__arg(g, at, 1), *c = un__arg(g, t, 2), *q = un__arg(g, at, 3);
  const un_uop *tie = un__binary(g, UN__OP_AND, un__binary(g, UN__OP_EQ, a, c), un__binary(g, UN__OP_LT, q, p));
  const un_uop *better = un__binary(g, UN__OP_OR, un__binary(g, UN__OP_LT, a, c), tie);
  const un_uop *body[] = {b_where(&b, better, c, a), b_where(&b, better, q, p)};
  const un_uop *unit[] = {b_identity(&b, UN__OP_MAX, d), un__const_i(g, at, INT32_MAX)};
  v = b_tuple(&b, body, (const un_uop *[]){v, un__cast(g, at, j)}, unit, 2, j);
  return b_done(&b, b_end(&b, b_store(&b, o, i, un__get(g, v, at, 1)), i, NULL));
}

/* out0[i] = max of x[i], out1[i] = how often: the second result needs the first at every step. */
static inline kern k_count_of_max(un__graph *g, un_dtype d, int64_t m, int64_t n) {
  build b = {.g = g};
  un__dtype t = UN__DT(d), count = UN__DT(UN_I32);
  const un_uop *o = b_out(&b, d, m), *p = b_out(&b, UN_I32, m), *x = b_param(&b, d, m * n);
  const un_uop *i = b_loop(&b, m, 0), *j = b_red(&b, n, 1);
  const un_uop *a = un__arg(g, t, 0), *k = un__arg(g, count, 1), *c = un__arg(g, t, 2), *l = un__arg(g, count, 3);
  const un_uop *all = un__binary(g, UN__OP_ADD, k, l), *more = b_where(&b, un__binary(g, UN__OP_LT, a, c), l, k);
  const un_uop *body[] = {un__binary(g, UN__OP_MAX, a, c), b_where(&b, un__binary(g, UN__OP_EQ, a, c), all, more)};
  const un_uop *unit[] = {b_identity(&b, UN__OP_MAX, d), un__const_i(g, count, 0)};
  const un_uop *v = b_tuple(&b, body, (const un_uop *[]){b_load(&b, x, b_at(&b, i, n, j)), un__const_i(g, count, 1)},
                            unit, 2, j);
  const un_uop *both[] = {b_store(&b, o, i, un__get(g, v, t, 0)), b_store(&b, p, i, un__get(g, v, count, 1))};
  return b_done(&b, b_end(&b, un__uop(g, UN__OP_GROUP, 0, both, 2, NULL, 0), i, NULL));
}

/* out[i] = (max of x[i]) - (min of x[i]): simple reductions as one tuple. */
static inline kern k_spread_tuple(un__graph *g, un_dtype d, int64_t m, int64_t n) {
  build b = {.g = g};
  un__dtype t = UN__DT(d);
  const un_uop *o = b_out(&b, d, m), *x = b_param(&b, d, m * n), *i = b_loop(&b, m, 0), *j = b_red(&b, n, 1);
  const un_uop *v = b_load(&b, x, b_at(&b, i, n, j));
  const un_uop *body[] = {un__binary(g, UN__OP_MAX, un__arg(g, t, 0), un__arg(g, t, 2)),
                          un__binary(g, UN__OP_MIN, un__arg(g, t, 1), un__arg(g, t, 3))};
  const un_uop *unit[] = {b_identity(&b, UN__OP_MAX, d), b_identity(&b, UN__OP_MIN, d)};
  v = b_tuple(&b, body, (const un_uop *[]){v, v}, unit, 2, j);
  v = un__binary(g, d == UN_BOOL ? UN__OP_XOR : UN__OP_SUB, un__get(g, v, t, 0), un__get(g, v, t, 1));
  return b_done(&b, b_end(&b, b_store(&b, o, i, v), i, NULL));
}

/* out[i,j] = the largest y[k,j] among the k at which x[i,k] is largest: elements of different shapes, as attention has. */
static inline kern k_attend(un__graph *g, un_dtype d, int64_t m, int64_t n, int64_t k) {
  build b = {.g = g};
  un__dtype t = UN__DT(d);
  const un_uop *o = b_out(&b, d, m * n), *x = b_param(&b, d, m * k), *y = b_param(&b, d, k * n);
  const un_uop *i = b_loop(&b, m, 0), *j = b_loop(&b, n, 1), *r = b_red(&b, k, 2);
  const un_uop *a = un__arg(g, t, 0), *u = un__arg(g, t, 1), *c = un__arg(g, t, 2), *w = un__arg(g, t, 3);
  const un_uop *tie = b_where(&b, un__binary(g, UN__OP_EQ, a, c), un__binary(g, UN__OP_MAX, u, w), u);
  const un_uop *body[] = {un__binary(g, UN__OP_MAX, a, c), b_where(&b, un__binary(g, UN__OP_LT, a, c), w, tie)};
  const un_uop *low = b_identity(&b, UN__OP_MAX, d), *unit[] = {low, low};
  const un_uop *v = b_tuple(
      &b, body, (const un_uop *[]){b_load(&b, x, b_at(&b, i, k, r)), b_load(&b, y, b_at(&b, r, n, j))}, unit, 2, r);
  return b_done(&b, b_end(&b, b_store(&b, o, b_at(&b, i, n, j), un__get(g, v, t, 1)), i, j));
}

enum { KERNEL_KINDS = 25 };

/* Kernel number `kind` with sizes up to m x n. */
static inline kern k_any(un__graph *g, uint32_t kind, un_dtype d, int64_t m, int64_t n, int64_t k) {
  switch (kind) {
  case 0:
    return k_chain(g, d, m, n);
  case 1:
    return k_flat(g, d, m * n);
  case 2:
    return k_reduce(g, d, b_plus(d), m, n, true);
  case 3:
    return k_reduce(g, d, b_plus(d), m, n, false);
  case 4:
    return k_reduce(g, d, UN__OP_MAX, m, n, true);
  case 5:
    return k_reduce(g, d, UN__OP_MIN, m, n, false);
  case 6:
    return k_total(g, d, m * n);
  case 7:
    return k_nested(g, d, m, n);
  case 8:
    return k_softmax(g, d, m, n);
  case 9:
    return k_spread(g, d, m, n);
  case 10:
    return k_matmul(g, d, m, n, k, false, false);
  case 11:
    return k_matmul(g, d, m, n, k, true, false);
  case 12:
    return k_matmul(g, d, m, n, k, false, true);
  case 13:
    return k_transpose(g, d, m, n, k % 2);
  case 14:
    return k_gather(g, d, m, n);
  case 15:
    return k_pad(g, d, n);
  case 16:
    return k_values(g, d, m * n);
  case 17:
    return k_two(g, d, m, n);
  case 18:
    return k_symbolic(g, d, m * n, (m * n + 1) / 2);
  case 19:
    return k_symbolic_sum(g, d, m, n, (n + 1) / 2);
  case 20:
    return k_argmax(g, d, m, n, true);
  case 21:
    return k_argmax(g, d, m, n, false);
  case 22:
    return k_count_of_max(g, d, m, n);
  case 23:
    return k_spread_tuple(g, d, m, n);
  default:
    return k_attend(g, d, m, n, k);
  }
}

/* ---- running ---- */

typedef struct rng {
  uint64_t s;
} rng;
static inline uint64_t rng_next(rng *r) {
  r->s = r->s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  uint64_t x = (r->s ^ r->s >> 33) * UINT64_C(0xff51afd7ed558ccd);
  return x ^ x >> 29;
}
static inline int64_t rng_upto(rng *r, int64_t n) { return (int64_t)(rng_next(r) % (uint64_t)n); }

#define STAGED UN__AXIS_COUNT

/* A random range of a kernel. */
static inline int64_t k_random_range(const un_uop *kernel, rng *r) {
  size_t n, ranges = 0;
  const un_uop **order = un__toposort(kernel, &n);
  for (size_t i = 0; i < n; i++) ranges += un__is(order[i], UN__OP_RANGE);
  int64_t pick = ranges ? rng_upto(r, (int64_t)ranges) : 0, id = 0;
  for (size_t i = 0; i < n; i++)
    if (un__is(order[i], UN__OP_RANGE) && pick-- == 0) id = un__range_id(order[i]);
  un__free(order);
  return id;
}

/* A random step on it; most are not legal. */
static inline un__opt_step k_random_step(const un_uop *kernel, rng *r) {
  static const int64_t factors[] = {0, 2, 3, 4, 5, 8, 16};
  static const un__axis axes[] = {UN__AXIS_LOOP,   UN__AXIS_THREAD, UN__AXIS_UPCAST, UN__AXIS_UPCAST,
                                  UN__AXIS_UNROLL, UN__AXIS_UNROLL, UN__AXIS_REDUCE, STAGED};
  int64_t id = k_random_range(kernel, r);
  un__axis axis = axes[rng_upto(r, 8)];
  if (axis == STAGED) return (un__opt_step){.range_id = id, .kind = UN__OPT_STAGE};
  return (un__opt_step){id, axis, factors[rng_upto(r, 7)], axis != UN__AXIS_THREAD, UN__OPT_SPLIT};
}

/* The same on a GPU. */
static inline un__opt_step k_random_gpu_step(const un_uop *kernel, rng *r) {
  static const int64_t factors[] = {0, 2, 3, 4, 5, 8, 16};
  static const un__axis axes[] = {UN__AXIS_GLOBAL, UN__AXIS_GLOBAL, UN__AXIS_LOCAL,        UN__AXIS_LOCAL,        UN__AXIS_WARP,
                                  UN__AXIS_UPCAST, UN__AXIS_UNROLL, UN__AXIS_GROUP_REDUCE, UN__AXIS_GROUP_REDUCE, UN__AXIS_LOOP,
                                  UN__AXIS_REDUCE, STAGED};
  int64_t id = k_random_range(kernel, r);
  un__axis axis = axes[rng_upto(r, 12)];
  if (axis == STAGED) return (un__opt_step){.range_id = id, .kind = UN__OPT_STAGE};
  return (un__opt_step){id, axis, factors[rng_upto(r, 7)], axis != UN__AXIS_GLOBAL, UN__OPT_SPLIT};
}

typedef struct data {
  void *arg[MAX_ARGS];
} data;

/* Small whole numbers: float sums of them are exact in any order. */
static inline data data_new(const kern *k, uint64_t seed) {
  data d = {{0}};
  rng r = {seed};
  for (uint32_t a = 0; a < k->nargs; a++) {
    size_t bytes = un__dt_info(k->dt[a])->size;
    d.arg[a] = calloc((size_t)k->size[a] + 1, MAX_BYTES);
    for (int64_t i = 0; i < k->size[a]; i++) {
      int64_t v = rng_upto(&r, 7) - (un__dt_class(k->dt[a]) == UN__CLASS_UINT ? 0 : 2);
      bool flt = un__dt_is_float(k->dt[a]);
      un__value_store(flt ? un__value_f(k->dt[a], (double)v)
                          : un__value_i(k->dt[a], un__dt_is_bool(k->dt[a]) ? v > 0 : v),
                      (char *)d.arg[a] + (size_t)i * bytes);
    }
  }
  return d;
}
static inline void data_free(data *d) {
  for (uint32_t a = 0; a < MAX_ARGS; a++) free(d->arg[a]);
}

/* Whether two runs left the same results behind. */
static inline bool data_same(const kern *k, const data *a, const data *b) {
  for (uint32_t i = 0; i < k->nargs; i++) {
    size_t bytes = un__dt_info(k->dt[i])->size;
    if (memcmp(a->arg[i], b->arg[i], (size_t)k->size[i] * bytes)) return false;
  }
  return true;
}

static inline un_status k_run(const kern *k, const un_uop *root, data *d, un__err *err) {
  return un__interp_kernel(root, d->arg, k->size, k->nargs, k->vars, 0, err);
}

#endif
