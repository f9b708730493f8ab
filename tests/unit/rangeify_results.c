/* rangeify_results.c - several results: slots, sharing, kernels with more than one store; and inputs that are refused. */
#include "rangeify_build.h"

static const un__rangeify_options one_thread = {UN__LIC_PRECISE, 1, 1 << 14};

static T sink_of(const T *x, uint32_t n) { return un__sink(g, x, n); }

static T last_slots_schedule(T sink, int64_t *slots) { return schedule_of(sink, &one_thread, slots); }

Test(rangeify_results, slots) {
  int64_t slots[5];
  begin();
  T x = f32(S_(4, 6)), y = add(x, num(1)), z = sum(y, 1);
  T out = last_slots_schedule(sink_of((T[]){y, x, z, y, reshape(x, S_(24))}, 5), slots);
  cr_expect_eq(out->nsrc, 2);
  cr_expect_eq(slots[0], 1);
  cr_expect_eq(slots[1], 0, "a buffer is its own result");
  cr_expect_eq(slots[2], 3);
  cr_expect_eq(slots[3], 1, "the same tensor has one slot");
  cr_expect_eq(slots[4], 0, "a reshaped buffer has its elements already");
  end();
}

Test(rangeify_results, temporaries_follow) {
  int64_t slots[1];
  begin();
  T out = last_slots_schedule(sink1(matmul(relu(matmul(f32(S_(4, 5)), f32(S_(5, 3)))), f32(S_(3, 6)))), slots);
  cr_assert_eq(out->nsrc, 2);
  cr_expect_eq(un__attr(out->src[0]->src[1], 0), 4);
  cr_expect_eq(un__attr(out->src[1]->src[1], 0), 3);
  cr_expect_eq(slots[0], 3);
  end();
}

Test(rangeify_results, shared) {
  begin();
  T x = f32(S_(4, 6));
  /* Two sums of one tensor: one pass. */
  cr_expect_eq(check("two sums", sink_of((T[]){sum(x, 1), sum(mul(x, x), 1)}, 2), &one_thread), 1);
  /* A value and its sum: the sum reads the value. */
  T y = op1(UN__OP_EXP, x);
  cr_expect_eq(check("value and sum", sink_of((T[]){y, sum(y, 1)}, 2), &one_thread), 2);
  end();
}

Test(rangeify_results, optimiser_step) { /* m, v and w of one gradient */
  begin();
  T grad = f32(S_(8, 4)), m = f32(S_(8, 4)), v = f32(S_(8, 4)), w = f32(S_(8, 4)), rate = f32(S0);
  T m1 = add(mul(m, num(0.9)), mul(grad, num(0.1))), v1 = add(mul(v, num(0.99)), mul(mul(grad, grad), num(0.01)));
  T w1 = sub(w, mul(rate, divide(m1, add(op1(UN__OP_SQRT, v1), num(1e-8)))));
  cr_expect_eq(check("adam", sink_of((T[]){m1, v1, w1}, 3), &one_thread), 1);
  end();
}

Test(rangeify_results, used_where_made) {
  begin();
  T x = f32(S_(4, 6)), w = f32(S_(6, 5)), b = f32(S_(4, 5));
  T y = relu(matmul(x, w)), z = add(y, b);
  cr_expect_eq(check("value and its use", sink_of((T[]){y, z}, 2), &one_thread), 1);
  cr_expect_eq(check("a chain of uses", sink_of((T[]){z, y, mul(z, y), op1(UN__OP_NEG, mul(z, y))}, 4), &one_thread), 1);
  /* Not where it is made. */
  cr_expect_eq(check("transposed use", sink_of((T[]){y, add(permute(y, S_(1, 0)), num(1))}, 2), &one_thread), 2);
  T s = f32(S_(4, 4)), a = contiguous(add(s, num(1)));
  cr_expect_eq(check("both ways", sink_of((T[]){a, add(a, permute(a, S_(1, 0)))}, 2), &one_thread), 2);
  /* What it reads besides is made on the same level. */
  T c = contiguous(permute(mul(s, num(3)), S_(1, 0)));
  T d = contiguous(add(permute(c, S_(1, 0)), a)), e = contiguous(add(permute(a, S_(1, 0)), c));
  cr_expect_leq(check("no circle", sink_of((T[]){a, c, d, e}, 4), &one_thread), 4);
  end();
}

Test(rangeify_results, no_circle) {
  /* a1 -> b2 and a2 -> b1: joining both pairs would be a circle. */
  begin();
  T x = f32(S_(4, 4));
  T a1 = contiguous(add(x, num(1))), a2 = contiguous(mul(x, num(2)));
  T b2 = contiguous(add(permute(a1, S_(1, 0)), x)), b1 = contiguous(mul(permute(a2, S_(1, 0)), x));
  cr_expect_leq(check("crossed", sink_of((T[]){a1, b1, a2, b2}, 4), &one_thread), 4);
  end();
}

Test(rangeify_results, same_kernel_is_same_node) {
  int64_t slots[1];
  begin();
  T x = f32(S_(8, 16));
  for (int i = 0; i < 6; i++) x = relu(add(matmul(x, f32(S_(16, 16))), f32(S_(16))));
  T out = last_slots_schedule(sink1(x), slots);
  cr_assert_eq(out->nsrc, 6);
  for (uint32_t i = 1; i < 6; i++) cr_expect_eq(out->src[i]->src[0], out->src[0]->src[0], "kernel %u differs", i);
  end();
}

Test(rangeify_results, parts_of_a_large_sum) {
  un__rangeify_options many = {UN__LIC_PRECISE, 4, 1 << 10};
  begin();
  cr_expect_eq(check("parts", sink1(reduce(UN__OP_ADD, f32(S_(300, 41)), S_(0, 1))), &many), 2);
  cr_expect_eq(check("rest", sink1(reduce(UN__OP_MAX, f32(S_(3, 4099)), S_(1))), &many), 2);
  T x = f32(S_(64, 64));
  cr_expect_eq(check("normalise", sink1(divide(x, reduce(UN__OP_ADD, x, S_(0, 1)))), &many), 2);
  many.licences = UN__LIC_STRICT;
  cr_expect_eq(check("strict", sink1(reduce(UN__OP_ADD, f32(S_(300, 41)), S_(0, 1))), &many), 1);
  end();
}

static T softmax_of(T x) {
  T e = op1(UN__OP_EXP, sub(x, keep(UN__OP_MAX, x, 1)));
  return divide(e, keep(UN__OP_ADD, e, 1));
}
static T log_softmax_of(T x) {
  T c = sub(x, keep(UN__OP_MAX, x, 1));
  return sub(c, op1(UN__OP_LOG, keep(UN__OP_ADD, op1(UN__OP_EXP, c), 1)));
}
static T norm_of(T x, int64_t n) {
  T c = sub(x, divide(keep(UN__OP_ADD, x, 1), num((double)n)));
  return divide(c, op1(UN__OP_SQRT, add(divide(keep(UN__OP_ADD, mul(c, c), 1), num((double)n)), num(1e-5))));
}

/* Rows too few for the threads are cut into parts: one kernel for the parts of both reductions, one for the rest. */
Test(rangeify_results, rows_fewer_than_threads) {
  un__rangeify_options many = {UN__LIC_PRECISE, 16, 1 << 10};
  for (int64_t rows = 1; rows <= 3; rows += 2) {
    begin();
    cr_expect_eq(check("softmax", sink1(softmax_of(f32(S_(rows, 5003)))), &many), 2);
    cr_expect_eq(check("log softmax", sink1(log_softmax_of(f32(S_(rows, 5003)))), &many), 2);
    cr_expect_eq(check("norm", sink1(norm_of(f32(S_(rows, 5003)), 5003)), &many), 2);
    end();
  }
}

/* More reductions of one row than one kernel stores parts of. */
Test(rangeify_results, many_statistics_of_a_long_row) {
  un__rangeify_options many = {UN__LIC_PRECISE, 4, 1 << 10};
  begin();
  T x = f32(S_(1, 5003)), all = sum(x, 1);
  for (int k = 1; k < 300; k++) all = add(all, k % 2 ? sum(add(x, num(k)), 1) : reduce(UN__OP_MAX, add(x, num(k)), S_(1)));
  check("statistics", sink1(all), &many);
  end();
}

Test(rangeify_results, bad_input) {
  int64_t slots[1];
  begin();
  T i = iota(UN_INDEX, 4);
  cr_expect_null(un__rangeify(g, sink1(i), 0, &one_thread, slots));
  cr_expect_eq(err.status, UN_ERR_DTYPE);
  end();
  begin();
  cr_expect_null(un__rangeify(g, f32(S_(3)), 1, &one_thread, slots));
  cr_expect_eq(err.status, UN_ERR_INVALID_ARG);
  end();
  begin();
  cr_expect_null(un__rangeify(g, NULL, 0, &one_thread, slots));
  end();
  begin();
  T none = un__rangeify(g, un__sink(g, NULL, 0), 0, &one_thread, slots);
  cr_assert(none);
  cr_expect_eq(none->nsrc, 0);
  end();
}
