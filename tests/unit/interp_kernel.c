/* The interpreter of kernels: loop nests and linear lists, what they compute and what they refuse. */
#include <criterion/criterion.h>
#include <string.h>

#include "interp/interp.h"
#include "uop/text.h"
#include "workspace_suite.h"

WORKSPACE_SUITE(interp_kernel, ws);

#define F32 UN__DT(UN_F32)

static const un_uop *op(un__op o, un__dtype dt, const un_uop *a, const un_uop *b, const un_uop *c, const int64_t *attr,
                        uint32_t nattr) {
  const un_uop *src[] = {a, b, c};
  uint32_t n = c ? 3 : b ? 2 : a ? 1 : 0;
  return un__uop(ws, o, dt, src, n, attr, nattr);
}

static const un_uop *param(un_dtype dt, int64_t slot, int64_t n) {
  const un_uop *size = un__idx(ws, n);
  return un__uop(ws, UN__OP_PARAM, un__dt_ptr(dt, UN__SPACE_GLOBAL), &size, 1, &slot, 1);
}

static const un_uop *element(const un_uop *p, const un_uop *i, const un_uop *gate) {
  return op(UN__OP_INDEX, p->dtype, p, i, gate, NULL, 0);
}

static const un_uop *load(const un_uop *address) {
  return op(UN__OP_LOAD, UN__DT(un__dt_scalar(address->dtype)), address, NULL, NULL, NULL, 0);
}

static const un_uop *store(const un_uop *address, const un_uop *value) {
  return op(UN__OP_STORE, 0, address, value, NULL, NULL, 0);
}

static const un_uop *reduce(un__op how, const un_uop *x, const un_uop *r0, const un_uop *r1) {
  int64_t attr = how;
  return op(UN__OP_REDUCE, 0, x, r0, r1, &attr, 1);
}

static const un_uop *end(const un_uop *token, const un_uop *r0, const un_uop *r1) {
  return op(UN__OP_END, 0, token, r0, r1, NULL, 0);
}

static const un_uop *range(int64_t n, un__axis axis, int64_t id) { return un__range(ws, un__idx(ws, n), axis, id); }
static const un_uop *add(const un_uop *a, const un_uop *b) { return un__binary(ws, UN__OP_ADD, a, b); }
static const un_uop *mul(const un_uop *a, const un_uop *b) { return un__binary(ws, UN__OP_MUL, a, b); }
static const un_uop *times(const un_uop *a, int64_t n) { return mul(a, un__idx(ws, n)); }

static const un_uop *matmul(int64_t n) {
  const un_uop *i = range(n, UN__AXIS_LOOP, 0), *j = range(n, UN__AXIS_LOOP, 1), *k = range(n, UN__AXIS_REDUCE, 2);
  const un_uop *a = load(element(param(UN_F32, 1, n * n), add(times(i, n), k), NULL));
  const un_uop *b = load(element(param(UN_F32, 2, n * n), add(times(k, n), j), NULL));
  const un_uop *sum = reduce(UN__OP_ADD, mul(a, b), k, NULL);
  const un_uop *done = end(store(element(param(UN_F32, 0, n * n), add(times(i, n), j), NULL), sum), i, j);
  return un__sink(ws, &done, 1);
}

enum { N = 64 };
static float a[N * N], b[N * N], c[N * N];

Test(interp_kernel, matmul_nest) {
  for (int i = 0; i < N * N; i++) a[i] = (float)(i % 7) - 3, b[i] = (float)(i % 5) * 0.25f, c[i] = -1;
  const un_uop *kernel = matmul(N);
  cr_assert_not_null(kernel, "%s", err.text);
  un_status st = un__interp_kernel(kernel, (void *[]){c, a, b}, (int64_t[]){N * N, N * N, N * N}, 3, NULL, 0, &err);
  cr_assert_eq(st, UN_OK, "%s", err.text);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      float want = 0;
      for (int k = 0; k < N; k++) want += a[i * N + k] * b[k * N + j];
      cr_assert_eq(c[i * N + j], want);
    }
}

/* Softmax: two REDUCEs of one row, the second over a value that needs the first, then the loop over the columns. */
Test(interp_kernel, reduces_follow_each_other) {
  const un_uop *i = range(2, UN__AXIS_LOOP, 0), *k = range(4, UN__AXIS_REDUCE, 1), *l = range(4, UN__AXIS_REDUCE, 2);
  const un_uop *j = range(4, UN__AXIS_LOOP, 3), *x = param(UN_F32, 1, 8);
  const un_uop *row = times(i, 4);
  const un_uop *most = reduce(UN__OP_MAX, load(element(x, add(row, k), NULL)), k, NULL);
  const un_uop *sum =
      reduce(UN__OP_ADD, un__binary(ws, UN__OP_SUB, load(element(x, add(row, l), NULL)), most), l, NULL);
  const un_uop *value = add(load(element(x, add(row, j), NULL)), sum);
  const un_uop *done = end(store(element(param(UN_F32, 0, 8), add(row, j), NULL), value), i, j);
  float in[8] = {1, 5, 2, 4, -3, -1, -2, -8}, out[8];
  un_status st = un__interp_kernel(un__sink(ws, &done, 1), (void *[]){out, in}, (int64_t[]){8, 8}, 2, NULL, 0, &err);
  cr_assert_eq(st, UN_OK, "%s", err.text);
  const float want[8] = {1 - 8, 5 - 8, 2 - 8, 4 - 8, -3 - 10, -1 - 10, -2 - 10, -8 - 10};
  for (int e = 0; e < 8; e++) cr_assert_eq(out[e], want[e], "%d: %g", e, out[e]);
}

/* Two REDUCEs share their loop; a value that only the second one needs must still come before the loop. */
Test(interp_kernel, sibling_reduces_share_a_loop) {
  const un_uop *k = range(4, UN__AXIS_REDUCE, 0), *x = param(UN_F32, 1, 4), *y = param(UN_F32, 2, 1),
               *out = param(UN_F32, 0, 2);
  const un_uop *v = load(element(x, k, NULL));
  const un_uop *sum = reduce(UN__OP_ADD, v, k, NULL);
  const un_uop *first = store(element(out, un__idx(ws, 0), NULL), un__unary(ws, UN__OP_NEG, sum));
  const un_uop *scaled = mul(v, un__unary(ws, UN__OP_NEG, load(element(y, un__idx(ws, 0), NULL))));
  const un_uop *second = store(element(out, un__idx(ws, 1), NULL), reduce(UN__OP_MAX, scaled, k, NULL));
  const un_uop *both[] = {first, second};
  float in[4] = {1, 2, 3, 4}, scale[1] = {-10}, got[2];
  un_status st =
      un__interp_kernel(un__sink(ws, both, 2), (void *[]){got, in, scale}, (int64_t[]){2, 4, 1}, 3, NULL, 0, &err);
  cr_assert_eq(st, UN_OK, "%s", err.text);
  cr_assert_eq(got[0], -10);
  cr_assert_eq(got[1], 40);
}

Test(interp_kernel, gates_give_zero_and_store_nothing) {
  const un_uop *i = range(8, UN__AXIS_LOOP, 0), *gate = un__binary(ws, UN__OP_LT, i, un__idx(ws, 3));
  const un_uop *not_last = un__binary(ws, UN__OP_LT, i, un__idx(ws, 6));
  const un_uop *v = load(element(param(UN_I32, 1, 3), i, gate));
  const un_uop *done = end(store(element(param(UN_I32, 0, 6), i, not_last), v), i, NULL);
  int32_t in[3] = {7, 8, 9}, out[6] = {-1, -1, -1, -1, -1, -1};
  un_status st = un__interp_kernel(un__sink(ws, &done, 1), (void *[]){out, in}, (int64_t[]){6, 3}, 2, NULL, 0, &err);
  cr_assert_eq(st, UN_OK, "%s", err.text);
  const int32_t want[6] = {7, 8, 9, 0, 0, 0};
  cr_assert_eq(memcmp(out, want, sizeof want), 0);
}

Test(interp_kernel, out_of_bounds_is_found) {
  const un_uop *i = range(8, UN__AXIS_LOOP, 0), *one = un__const_f(ws, F32, 1);
  const un_uop *done = end(store(element(param(UN_F32, 0, 7), i, NULL), one), i, NULL);
  un_status st = un__interp_kernel(un__sink(ws, &done, 1), (void *[]){c}, (int64_t[]){7}, 1, NULL, 0, &err);
  cr_assert_eq(st, UN_ERR_INTERNAL);
  cr_assert(strstr(err.text, "index 7") && strstr(err.text, "7 elements"), "%s", err.text);
}

Test(interp_kernel, too_small_arguments_are_refused) {
  const un_uop *kernel = matmul(4);
  cr_assert_eq(un__interp_kernel(kernel, (void *[]){c, a, b}, (int64_t[]){16, 15, 16}, 3, NULL, 0, &err),
               UN_ERR_INVALID_ARG);
  un__err_clear(&err);
  cr_assert_eq(un__interp_kernel(kernel, (void *[]){c, a}, (int64_t[]){16, 16}, 2, NULL, 0, &err), UN_ERR_INVALID_ARG);
}

Test(interp_kernel, a_loop_that_uses_its_own_result_is_refused) {
  const un_uop *k = range(4, UN__AXIS_REDUCE, 0);
  const un_uop *sum = reduce(UN__OP_ADD, load(element(param(UN_F32, 1, 4), k, NULL)), k, NULL);
  const un_uop *done = end(store(element(param(UN_F32, 0, 4), k, NULL), sum), k, NULL);
  cr_assert_eq(un__interp_kernel(un__sink(ws, &done, 1), (void *[]){c, a}, (int64_t[]){4, 4}, 2, NULL, 0, &err),
               UN_ERR_INTERNAL);
}

/* ---- linear ---- */

static const un_uop *parsed(const char *text) {
  un__parsed_graph g;
  size_t n;
  un_status st = un__parse_text(ws, "test", text, strlen(text), &g, 1, &n);
  cr_assert_eq(st, UN_OK, "%s", un__graph_err(ws)->text);
  return g.root;
}

/* sum of 8 floats by lanes of 4, a task for each row of 8 */
static const char row_sum[] = "unir 1\n"
                              "graph @rows stage=linear {\n"
                              "  %0 = const i32 [val=2]\n"
                              "  %1 = const i32 [val=4]\n"
                              "  %2 = const i32 [val=8]\n"
                              "  %3 = const i32 [val=0]\n"
                              "  %4 = const i32 [val=1]\n"
                              "  %5 = const f32x4 [val=0.0]\n"
                              "  %6 = const index [val=2]\n"
                              "  %7 = const index [val=16]\n"
                              "  %8 = param ptr.f32 %6 [slot=0]\n"
                              "  %9 = param ptr.f32 %7 [slot=1]\n"
                              "  %10 = special i32 %0 [axis=thread dim=0]\n"
                              "  %11 = define_reg ptr.reg.f32x4 %4 [id=0]\n"
                              "  %12 = index ptr.reg.f32x4 %11, %3\n"
                              "  %13 = store void %12, %5\n"
                              "  %14 = after ptr.reg.f32x4 %11, %13\n"
                              "  %15 = range i32 %0 [id=0 axis=reduce]\n"
                              "  %16 = mul i32 %10, %2\n"
                              "  %17 = mul i32 %15, %1\n"
                              "  %18 = add i32 %16, %17\n"
                              "  %19 = index ptr.f32 %9, %18\n"
                              "  %20 = load f32x4 %19\n"
                              "  %21 = index ptr.reg.f32x4 %14, %3\n"
                              "  %22 = load f32x4 %21\n"
                              "  %23 = add f32x4 %20, %22\n"
                              "  %24 = store void %21, %23\n"
                              "  %25 = end void %24, %15\n"
                              "  %26 = after ptr.reg.f32x4 %11, %25\n"
                              "  %27 = index ptr.reg.f32x4 %26, %3\n"
                              "  %28 = load f32x4 %27\n"
                              "  %29 = hreduce f32 %28 [op=add]\n"
                              "  %30 = index ptr.f32 %8, %10\n"
                              "  %31 = store void %30, %29\n"
                              "  linear %0..%31\n"
                              "}\n";

Test(interp_kernel, linear_list_with_lanes_and_tasks) {
  const un_uop *linear = parsed(row_sum);
  float in[16], out[2] = {-1, -1};
  for (int i = 0; i < 16; i++) in[i] = (float)(i * i);
  for (int64_t task = 0; task < 2; task++) {
    un_status st = un__interp_kernel(linear, (void *[]){out, in}, (int64_t[]){2, 16}, 2, NULL, task, &err);
    cr_assert_eq(st, UN_OK, "%s", err.text);
  }
  cr_assert_eq(out[0], 140);
  cr_assert_eq(out[1], 1240 - 140);
}

Test(interp_kernel, device_runs_text) {
  un__device *d;
  cr_assert_eq(un__interp_open(NULL, &d, &err), UN_OK);
  un__artifact art = {.format = UN__FORMAT_UN_LINEAR,
                      .bytes = row_sum,
                      .size = strlen(row_sum),
                      .entry = "rows",
                      .nargs = 2,
                      .tasks = {.n = 1, .code = {{UN__LAUNCH_CONST, 2}}}};
  un__code *code;
  un__mem *mem[2];
  float in[16], out[2] = {-1, -1};
  for (int i = 0; i < 16; i++) in[i] = (float)i;
  cr_assert_eq(d->vt->compile(d, &art, &code, &err), UN_OK, "%s", err.text);
  cr_assert_eq(d->vt->alloc(d, sizeof out, &mem[0], &err), UN_OK);
  cr_assert_eq(d->vt->wrap(d, in, sizeof in, &mem[1], &err), UN_OK);
  cr_assert_eq(d->vt->launch(d, code, mem, NULL, &err), UN_OK, "%s", err.text);
  cr_assert_eq(d->vt->read(d, mem[0], 0, out, sizeof out, &err), UN_OK);
  cr_assert_eq(out[0], 28);
  cr_assert_eq(out[1], 92);
  d->vt->free(d, mem[0]);
  d->vt->free(d, mem[1]);
  d->vt->code_release(d, code);
  art.nargs = 1;
  cr_assert_eq(d->vt->compile(d, &art, &code, &err), UN_ERR_COMPILE);
  un__err_clear(&err);
  art.bytes = "unir 1\ngraph @x stage=linear {";
  art.size = strlen(art.bytes);
  cr_assert_eq(d->vt->compile(d, &art, &code, &err), UN_ERR_PARSE);
  d->vt->destroy(d);
}

Test(interp_kernel, unwritten_registers_are_found) {
  const un_uop *linear = parsed("unir 1\n"
                                "graph @r stage=linear {\n"
                                "  %0 = const i32 [val=1]\n"
                                "  %1 = const i32 [val=0]\n"
                                "  %2 = define_reg ptr.reg.f32 %0 [id=0]\n"
                                "  %3 = index ptr.reg.f32 %2, %1\n"
                                "  %4 = load f32 %3\n"
                                "  linear %0..%4\n"
                                "}\n");
  cr_assert_eq(un__interp_kernel(linear, NULL, NULL, 0, NULL, 0, &err), UN_ERR_INTERNAL, "%s", err.text);
  cr_assert(strstr(err.text, "never written"), "%s", err.text);
}

Test(interp_kernel, values_do_not_leave_their_loop) {
  const un_uop *linear = parsed("unir 1\n"
                                "graph @r stage=linear {\n"
                                "  %0 = const i32 [val=4]\n"
                                "  %1 = const index [val=4]\n"
                                "  %2 = param ptr.i32 %1 [slot=0]\n"
                                "  %3 = range i32 %0 [id=0 axis=loop]\n"
                                "  %4 = add i32 %3, %0\n"
                                "  %5 = end void %4, %3\n"
                                "  %6 = index ptr.i32 %2, %4\n"
                                "  %7 = store void %6, %4\n"
                                "  linear %0..%7\n"
                                "}\n");
  int32_t out[4];
  cr_assert_eq(un__interp_kernel(linear, (void *[]){out}, (int64_t[]){4}, 1, NULL, 0, &err), UN_ERR_INTERNAL);
  cr_assert(strstr(err.text, "outside of the loop"), "%s", err.text);
}

/* ---- samples ---- */

enum { SAMPLES = 9 };

static un_status sample_matmul(float scale, float fraction, uint64_t steps, un__isamples *out) {
  for (int i = 0; i < 64; i++) a[i] = (float)(1 + i % 4) * scale + fraction, b[i] = (float)(1 + i % 3);
  return un__interp_samples(matmul(8), (void *[]){NULL, a, b}, (int64_t[]){64, 64, 64}, 3, SAMPLES, steps, out, &err);
}

static void check_samples(const un__isamples *s, float scale, float fraction, double most) {
  cr_assert_eq(s->n, SAMPLES);
  cr_expect_eq(s->at[0].at, 0);
  cr_expect_eq(s->at[1].at, 63);
  for (size_t i = 0; i < s->n; i++) {
    int row = (int)s->at[i].at / 8, column = (int)s->at[i].at % 8;
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += ((float)(1 + (row * 8 + k) % 4) * scale + fraction) * (float)(1 + (k * 8 + column) % 3);
    cr_expect_eq(s->at[i].arg, 0);
    cr_expect_float_eq((float)s->at[i].value.f, sum, 1e-6f * sum, "%g and %g", s->at[i].value.f, (double)sum);
    cr_expect(s->at[i].bound <= most && (s->at[i].bound > 0) == (most > 0), "bound %g", s->at[i].bound);
  }
}

/* Whole numbers add up to the same in any order; fractions do not, and very large numbers do not. */
Test(interp_kernel, samples_say_how_far_others_may_be) {
  un__isamples s = {0};
  cr_assert_eq(sample_matmul(1, 0, 100000, &s), UN_OK, "%s", err.text);
  check_samples(&s, 1, 0, 0);
  s.n = 0;
  cr_assert_eq(sample_matmul(1, 0.1f, 100000, &s), UN_OK);
  check_samples(&s, 1, 0.1f, 8 * 100 * 0x1p-23);
  s.n = 0;
  cr_assert_eq(sample_matmul(0x1p22f, 0, 100000, &s), UN_OK);
  check_samples(&s, 0x1p22f, 0, 8 * 0x1p30 * 0x1p-23);
  un__vec_finish(&s);
}

Test(interp_kernel, samples_end_with_their_steps) {
  un__isamples s = {0};
  cr_expect_eq(sample_matmul(1, 0, 200, &s), UN_ERR_UNSUPPORTED);
  un__vec_finish(&s);
  un__err_clear(&err);
  cr_expect_eq(un__interp_samples(matmul(8), (void *[]){NULL}, (int64_t[]){64}, 1, 2, 1000, &s, &err), UN_ERR_INVALID_ARG);
  un__vec_finish(&s);
}

/* Through a function and a reduction over what it gives; and a maximum, which any order finds. */
Test(interp_kernel, samples_of_functions) {
  float x[16], *args[] = {NULL, x};
  for (int i = 0; i < 16; i++) x[i] = (float)(1 + i % 4);
  const un_uop *r = range(16, UN__AXIS_REDUCE, 0), *v = load(element(param(UN_F32, 1, 16), r, NULL));
  const un_uop *e = op(UN__OP_EXP, F32, v, NULL, NULL, NULL, 0), *to = element(param(UN_F32, 0, 1), un__idx(ws, 0), NULL);
  const un_uop *sum = store(to, reduce(UN__OP_ADD, e, r, NULL)), *largest = store(to, reduce(UN__OP_MAX, v, r, NULL));
  un__isamples s = {0};
  cr_assert_eq(un__interp_samples(un__sink(ws, &sum, 1), (void **)args, (int64_t[]){1, 16}, 2, 1, 1000, &s, &err), UN_OK, "%s", err.text);
  cr_expect_gt(s.at[0].bound, 16 * 0x1p-23);
  cr_expect_lt(s.at[0].bound, 16 * 55 * 20 * 0x1p-23);
  cr_assert_eq(un__interp_samples(un__sink(ws, &largest, 1), (void **)args, (int64_t[]){1, 16}, 2, 1, 1000, &s, &err), UN_OK, "%s", err.text);
  cr_expect(s.at[1].value.f == 4 && s.at[1].bound == 0);
  un__vec_finish(&s);
}
