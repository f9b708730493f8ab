/* Error bounds: exact work has none, other orders of summation and contracted products stay inside, and they stay
 * small. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "interp/interp.h"
#include "workspace_suite.h"

WORKSPACE_SUITE(interp_bound, ws);

enum { N = 1000 };
static float data[N], other[N];

static const un_uop *vector(un_dtype dt, int64_t slot) {
  const un_uop *n = un__idx(ws, N);
  return un__uop(ws, UN__OP_BUFFER, UN__DT(dt), &n, 1, (int64_t[]){slot, 0}, 2);
}

static const un_uop *sum_of(const un_uop *x, un__op op) {
  return un__uop(ws, UN__OP_REDUCE_AXIS, 0, &x, 1, (int64_t[]){op, 0}, 2);
}

static const un_uop *widened(const un_uop *scalar) {
  const un_uop *one[] = {scalar, un__idx(ws, 1)}, *wide[] = {NULL, un__idx(ws, N)};
  wide[0] = un__uop(ws, UN__OP_RESHAPE, 0, one, 2, NULL, 0);
  return un__uop(ws, UN__OP_EXPAND, 0, wide, 2, NULL, 0);
}

/* Deterministic numbers of mixed sign and size. */
static void fill(void) {
  uint32_t state = 12345;
  for (int i = 0; i < N; i++) {
    state = state * 1664525 + 1013904223;
    data[i] = (float)((int32_t)state) / 65536.0f * (i % 3 ? 1e-3f : 1.0f);
    state = state * 1664525 + 1013904223;
    other[i] = (float)(state >> 8) / 1e7f;
  }
}

typedef struct result {
  un__itensor value;
  double *bound;
} result;

static result run(const un_uop *root) {
  un__itensor in[2] = {{.dtype = UN__DT(UN_F32), .rank = 1, .dim = {N}, .data = data},
                       {.dtype = UN__DT(UN_F32), .rank = 1, .dim = {N}, .data = other}};
  result r;
  cr_assert_not_null(root, "%s", err.text);
  un_status st = un__interp_tensor_bounded(&root, 1, in, 2, &r.value, &r.bound, &err);
  cr_assert_eq(st, UN_OK, "%s", err.text);
  return r;
}

static void finish(result r) {
  un__free(r.value.data);
  un__free(r.bound);
}

Test(interp_bound, exact_work_has_no_bound) {
  fill();
  const un_uop *x = vector(UN_F32, 0), *y = vector(UN_F32, 1);
  const un_uop *sum = un__binary(ws, UN__OP_ADD, un__unary(ws, UN__OP_NEG, x), y);
  result r = run(un__binary(ws, UN__OP_LT, sum, un__binary(ws, UN__OP_FDIV, x, y)));
  cr_assert_null(r.bound);
  finish(r);
  r = run(sum_of(un__cast(ws, UN__DT(UN_I32), x), UN__OP_ADD));
  cr_assert_null(r.bound, "integers are exact in any order");
  finish(r);
  r = run(sum_of(x, UN__OP_MAX));
  cr_assert_null(r.bound, "so is a maximum");
  finish(r);
}

/* A sum may take it as it was before it became infinite; what is infinite by its operands stays so. */
Test(interp_bound, a_product_that_overflows_may_be_contracted) {
  float x[] = {1e38f, -1e38f, INFINITY, 1e19f}, y[] = {10, 10, 2, 1e19f};
  un__itensor in[] = {{.dtype = UN__DT(UN_F32), .rank = 1, .dim = {4}, .data = x}, {.dtype = UN__DT(UN_F32), .rank = 1, .dim = {4}, .data = y}};
  const un_uop *n = un__idx(ws, 4), *a = un__uop(ws, UN__OP_BUFFER, UN__DT(UN_F32), &n, 1, (int64_t[]){0, 0}, 2);
  const un_uop *b = un__uop(ws, UN__OP_BUFFER, UN__DT(UN_F32), &n, 1, (int64_t[]){1, 0}, 2), *p = un__binary(ws, UN__OP_MUL, a, b);
  un__itensor out;
  double *bound;
  cr_assert_eq(un__interp_tensor_bounded(&p, 1, in, 2, &out, &bound, &err), UN_OK, "%s", err.text);
  cr_assert(bound);
  for (int i = 0; i < 4; i++) cr_expect_eq(isinf(bound[i]), i < 2, "element %d: %g", i, bound[i]);
  un__free(bound);
  un__free(out.data);
}

Test(interp_bound, a_product_must_match_but_may_be_contracted) {
  fill();
  const un_uop *x = vector(UN_F32, 0), *y = vector(UN_F32, 1);
  result product = run(un__binary(ws, UN__OP_MUL, x, y));
  result sum = run(un__binary(ws, UN__OP_ADD, un__binary(ws, UN__OP_MUL, x, y), x));
  int differ = 0;
  for (int i = 0; i < N; i++) {
    float p = data[i] * other[i], step = nextafterf(fabsf(p), INFINITY) - fabsf(p);
    cr_assert(product.bound[i] < step, "less than one step: only the same number will do");
    float fused = fmaf(data[i], other[i], data[i]), plain = ((float *)sum.value.data)[i];
    differ += fused != plain;
    cr_assert(fabs((double)fused - plain) <= sum.bound[i]);
  }
  cr_assert_gt(differ, 0, "the data shows the difference");
  finish(product);
  finish(sum);
}

Test(interp_bound, sums_in_other_orders) {
  fill();
  result r = run(sum_of(vector(UN_F32, 0), UN__OP_ADD));
  float forward = *(float *)r.value.data, backward = 0, lanes[8] = {0};
  double exact = 0, absolute = 0;
  for (int i = 0; i < N; i++) {
    backward += data[N - 1 - i];
    lanes[i % 8] += data[i];
    exact += data[i];
    absolute += fabsf(data[i]);
  }
  float split = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
  cr_assert(forward != backward || forward != split, "the data shows the difference");
  cr_assert(fabs((double)forward - backward) <= r.bound[0]);
  cr_assert(fabs((double)forward - split) <= r.bound[0]);
  cr_assert(fabs(forward - exact) <= r.bound[0]);
  cr_assert(r.bound[0] <= 2 * N * 0x1p-23 * absolute, "and it is no wider than the theory");
  finish(r);
}

/* softmax against double arithmetic: inside the bound, and the bound says something. */
Test(interp_bound, a_chain_of_everything) {
  fill();
  const un_uop *x = vector(UN_F32, 1);
  const un_uop *e = un__unary(ws, UN__OP_EXP, un__binary(ws, UN__OP_SUB, x, widened(sum_of(x, UN__OP_MAX))));
  result r = run(un__binary(ws, UN__OP_FDIV, e, widened(sum_of(e, UN__OP_ADD))));
  double most = 0, total = 0;
  for (int i = 0; i < N; i++) most = fmax(most, other[i]);
  for (int i = 0; i < N; i++) total += exp((double)(float)(other[i] - (float)most));
  for (int i = 0; i < N; i++) {
    double want = exp((double)(float)(other[i] - (float)most)) / total, got = ((float *)r.value.data)[i];
    cr_assert(fabs(got - want) <= r.bound[i]);
    cr_assert(r.bound[i] < 1e-3 * got);
  }
  finish(r);
}

/* 1.5 is only near, so what is decided by comparing with it is open; far from it nothing is. */
Test(interp_bound, errors_that_tip_a_decision) {
  fill();
  const un_uop *x = vector(UN_F32, 1), *third = un__unary(ws, UN__OP_EXP, un__unary(ws, UN__OP_LOG, x));
  result value = run(third);
  const un_uop *less = un__binary(ws, UN__OP_LT, third, x);
  result decided = run(less), chosen = run(un__ternary(ws, UN__OP_WHERE, less, x, un__unary(ws, UN__OP_NEG, x)));
  result floored = run(un__cast(ws, UN__DT(UN_I32), third));
  for (int i = 0; i < N; i++) {
    double got = ((float *)value.value.data)[i];
    bool open = fabs(got - other[i]) <= value.bound[i];
    cr_assert(open, "exp(log(x)) is x, within the bound");
    cr_assert_eq(decided.bound[i], 1);
    cr_assert_eq(chosen.bound[i], 2.0 * other[i]);
    bool near_integer = floor(got + value.bound[i]) != floor(got - value.bound[i]);
    cr_assert_eq(floored.bound ? floored.bound[i] : 0, near_integer ? 1 : 0);
  }
  finish(value);
  finish(decided);
  finish(chosen);
  finish(floored);
}

Test(interp_bound, infinities_and_nans) {
  fill();
  data[0] = INFINITY;
  data[1] = NAN;
  data[2] = 3e38f;
  data[3] = -1;
  const un_uop *x = vector(UN_F32, 0);
  result r = run(un__unary(ws, UN__OP_NEG, un__unary(ws, UN__OP_SIN, x))), s = run(un__unary(ws, UN__OP_EXP, x));
  cr_assert_eq(r.bound[0], 0, "sin(inf) is NaN for everybody");
  cr_assert_eq(r.bound[1], 0);
  cr_assert(isinf(((float *)s.value.data)[2]) && s.bound[2] == 0);
  cr_assert(s.bound[3] > 0 && s.bound[3] < 1e-6);
  finish(r);
  finish(s);
}

/* Whether a sum of finite numbers overflows depends on the order, and on whether there is a sum at all: the variance of equal
 * numbers is 0 in one pass, whatever their sum. That of an infinite number is infinite for everybody. */
Test(interp_bound, sums_that_overflow_are_anything) {
  memset(data, 0, sizeof data);
  data[0] = data[1] = 3e38f;
  result r = run(sum_of(vector(UN_F32, 0), UN__OP_ADD));
  cr_assert(isinf(*(float *)r.value.data));
  cr_assert(isinf(r.bound[0]));
  finish(r);
  data[0] = INFINITY;
  r = run(sum_of(vector(UN_F32, 0), UN__OP_ADD));
  cr_assert(isinf(*(float *)r.value.data) && !r.bound);
  finish(r);
  data[0] = -INFINITY, data[2] = 3e38f;
  r = run(sum_of(vector(UN_F32, 0), UN__OP_ADD));
  cr_assert(r.bound && isinf(r.bound[0]), "the finite ones first, and it is no number");
  finish(r);
}

/* The same for products: a zero comes first or finds infinity. */
Test(interp_bound, products_that_overflow_on_the_way_are_anything) {
  for (int i = 0; i < N; i++) data[i] = 1;
  data[0] = data[1] = 3e38f;
  data[2] = 0;
  result r = run(sum_of(vector(UN_F32, 0), UN__OP_MUL));
  cr_assert(isnan(*(float *)r.value.data));
  cr_assert(r.bound && isinf(r.bound[0]));
  finish(r);
  data[0] = 0, data[2] = 3e38f;
  r = run(sum_of(vector(UN_F32, 0), UN__OP_MUL));
  cr_assert_eq(*(float *)r.value.data, 0);
  cr_assert(r.bound && isinf(r.bound[0]));
  finish(r);
  for (int i = 0; i < 4; i++) data[i] = i % 2 ? 1e30f : 1e-30f;
  r = run(sum_of(vector(UN_F32, 0), UN__OP_MUL));
  cr_assert(r.bound && r.bound[0] >= 1, "1e-30 twice is 0 before 1e30 comes");
  finish(r);
}
