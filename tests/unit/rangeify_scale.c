/* rangeify_scale.c - graphs that are deep, wide or shared: time stays linear, kernels stay of a reasonable size. */
#include <time.h>

#include "rangeify_build.h"

static const un__rangeify_options one_thread = {UN__LIC_PRECISE, 1, 1 << 14};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static size_t body_nodes(T kernel) {
  size_t n = 0;
  un__free(un__toposort(kernel->src[0], &n));
  return n;
}

static void expect_modest(T schedule, size_t nodes) {
  for (uint32_t k = 0; k < schedule->nsrc; k++) {
    cr_expect_leq(body_nodes(schedule->src[k]), nodes);
    cr_expect_leq(schedule->src[k]->nsrc, 70);
  }
}

static T mlp(int layers) {
  T x = f32(S_(32, 256)), w[8], b[8];
  for (int i = 0; i < 8; i++) {
    w[i] = f32(S_(256, 256));
    b[i] = f32(S_(256));
  }
  for (int i = 0; i < layers; i++) x = relu(add(matmul(x, w[i % 8]), b[i % 8]));
  return sink1(x);
}

Test(rangeify_scale, mlp) {
  int64_t slots[1];
  for (int round = 0; round < 3; round++) {
    begin();
    T sink = mlp(200);
    double t = now();
    T out = schedule_of(sink, &one_thread, slots);
    t = now() - t;
    cr_log_info("200 layers: %.2f ms, %u nodes, %.0f interned", t * 1e3, un__graph_id_limit(g), (double)un__graph_lookups(g));
    cr_assert_eq(out->nsrc, 200);
    for (uint32_t i = 1; i < 200; i++) cr_assert_eq(out->src[i]->src[0], out->src[0]->src[0]);
    end();
  }
}

/* Forward and backward of an MLP, the gradients written out: every weight and bias has one. */
static T mlp_gradients(int layers) {
  T x = f32(S_(32, 256)), w[64], out[128], in_of[64], h[64];
  for (int i = 0; i < layers; i++) {
    w[i] = f32(S_(256, 256));
    in_of[i] = x;
    h[i] = add(matmul(x, w[i]), f32(S_(256)));
    x = relu(h[i]);
  }
  T grad = mul(x, num(2.0 / 32));
  for (int i = layers; i-- > 0;) {
    grad = where(op2(UN__OP_LT, num(0), h[i]), grad, num(0));
    out[2 * i] = matmul(permute(in_of[i], S_(1, 0)), grad);
    out[2 * i + 1] = sum(grad, 0);
    grad = matmul(grad, permute(w[i], S_(1, 0)));
  }
  return un__sink(g, out, 2 * (uint32_t)layers);
}

Test(rangeify_scale, mlp_gradients) {
  int64_t slots[128];
  for (int round = 0; round < 3; round++) {
    begin();
    T sink = mlp_gradients(50);
    double t = now();
    T out = schedule_of(sink, &one_thread, slots);
    t = now() - t;
    size_t distinct = 0;
    for (uint32_t i = 0; i < out->nsrc; i++) {
      bool seen = false;
      for (uint32_t k = 0; k < i && !seen; k++) seen = out->src[k]->src[0] == out->src[i]->src[0];
      distinct += !seen;
    }
    cr_log_info("50 layers and back: %.2f ms, %u kernels, %zu distinct", t * 1e3, out->nsrc, distinct);
    cr_expect_lt(distinct, 20);
    cr_expect_leq(out->nsrc, 50 * 4);
    end();
  }
}

/* Blocks of attention and layer norm: most stages are computed in place. */
static T transformer(int layers) {
  T x = f32(S_(16, 32));
  for (int i = 0; i < layers; i++) {
    T w[5];
    for (int k = 0; k < 5; k++) w[k] = f32(S_(32, 32));
    T c = sub(x, mul(keep(UN__OP_ADD, x, 1), num(1.0 / 32)));
    T var = mul(keep(UN__OP_ADD, mul(c, c), 1), num(1.0 / 32));
    T y = mul(c, op1(UN__OP_RECIP, op1(UN__OP_SQRT, add(var, num(1e-5)))));
    T s = matmul(matmul(y, w[0]), permute(matmul(y, w[1]), S_(1, 0)));
    T e = op1(UN__OP_EXP, sub(s, keep(UN__OP_MAX, s, 1)));
    x = add(x, matmul(matmul(divide(e, keep(UN__OP_ADD, e, 1)), matmul(y, w[2])), w[3]));
    x = add(x, relu(matmul(x, w[4])));
  }
  return sink1(x);
}

Test(rangeify_scale, transformer) {
  int64_t slots[1];
  for (int round = 0; round < 2; round++) {
    begin();
    T sink = transformer(32);
    double t = now();
    T out = schedule_of(sink, &one_thread, slots);
    t = now() - t;
    cr_log_info("32 transformer layers: %.2f ms, %u kernels", t * 1e3, out->nsrc);
    cr_expect_leq(out->nsrc, 32 * 9);
    cr_expect_lt(t, 1.0);
    end();
  }
}

Test(rangeify_scale, long_chain) {
  int64_t slots[1];
  begin();
  T x = f32(S_(8)), c = broadcast(num(0.5), S_(8));
  for (int i = 0; i < 50000; i++) x = un__binary(g, i & 1 ? UN__OP_ADD : UN__OP_MUL, x, c);
  double t = now();
  T out = schedule_of(sink1(x), &one_thread, slots);
  t = now() - t;
  cr_log_info("chain of 50000: %.1f ms, %u kernels", t * 1e3, out->nsrc);
  cr_expect_lt(t, 5.0);
  expect_modest(out, 2000);
  end();
}

Test(rangeify_scale, many_buffers) {
  int64_t slots[1];
  begin();
  T x = f32(S_(8));
  for (int i = 1; i < 190; i++) x = add(x, f32(S_(8)));
  T out = schedule_of(sink1(x), &one_thread, slots);
  expect_modest(out, 2000);
  end();
  begin();
  T part[190];
  for (int i = 0; i < 190; i++) part[i] = f32(S_(3));
  out = schedule_of(sink1(stack(part, 190)), &one_thread, slots);
  expect_modest(out, 4000);
  cr_expect_leq(check("stack", sink1(stack(part, 190)), &one_thread), 12);
  end();
}

Test(rangeify_scale, shared_doubling) {
  /* Every level uses the one below under two index tuples: as a tree it would have 2^40 nodes. */
  int64_t slots[1];
  begin();
  T x = f32(S_(64));
  for (int i = 0; i < 40; i++) x = add(shrink(pad(x, S_(1), S_(0)), S_(0), S_(64)), flip(x, 1));
  double t = now();
  T out = schedule_of(sink1(x), &one_thread, slots);
  cr_expect_lt(now() - t, 5.0);
  expect_modest(out, 20000);
  end();
}

Test(rangeify_scale, squares) {
  begin();
  T x = f32(S_(4));
  for (int i = 0; i < 60; i++) x = mul(un__binary(g, UN__OP_ADD, x, x), num(0.5));
  cr_expect_leq(check("doubling", sink1(x), &one_thread), 2);
  end();
}

Test(rangeify_scale, wide) {
  int64_t slots[64];
  begin();
  T x = f32(S_(16)), out[64];
  for (int i = 0; i < 64; i++) out[i] = op1(UN__OP_SQRT, add(x, num(i)));
  T s = un__rangeify(g, un__sink(g, out, 64), n_inputs, &one_thread, slots);
  cr_assert(s);
  cr_expect_leq(s->nsrc, 64);
  end();
}
