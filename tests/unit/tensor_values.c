/* tensor_values.c - what tensor calls compute, through the interpreter; expected values were worked out by hand or with
 * libm. */
#include "tensor_kit.h"

static kit k;
static void setup(void) { kit_init(&k); }
static void teardown(void) { kit_finish(&k); }
TestSuite(tensor_values, .init = setup, .fini = teardown);

#define inf ((double)INFINITY)
#define nan_ ((double)NAN)

Test(tensor_values, create) {
  EXPECT(&k, un__tensor_full(k.g, UN_F32, D(2, 2), 1.5), UN_F32, D(2, 2), 1.5, 1.5, 1.5, 1.5);
  EXPECT(&k, un__tensor_full(k.g, UN_U8, SCALAR_SHAPE, 255), UN_U8, SCALAR_SHAPE, 255);
  EXPECT(&k, un__tensor_arange(k.g, UN_I32, 2, 11, 3), UN_I32, D(3), 2, 5, 8);
  EXPECT(&k, un__tensor_arange(k.g, UN_I32, 3, 0, -1), UN_I32, D(3), 3, 2, 1);
  EXPECT(&k, un__tensor_arange(k.g, UN_F32, 0, 1, 0.25), UN_F32, D(4), 0, 0.25, 0.5, 0.75);
  EXPECT(&k, un__tensor_arange(k.g, UN_F16, -1, 1, 0.5), UN_F16, D(4), -1, -0.5, 0, 0.5);
  EXPECT(&k, un__tensor_arange(k.g, UN_I8, -128, 128, 85), UN_I8, D(4), -128, -43, 42, 127);
  EXPECT(&k, un__tensor_arange(k.g, UN_U8, 200, 256, 20), UN_U8, D(3), 200, 220, 240);
  EXPECT(&k, un__tensor_arange(k.g, UN_U32, 4294967290.0, 4294967296.0, 5), UN_U32, D(2), 4294967290.0, 4294967295.0);
  EXPECT(&k, un__tensor_arange(k.g, UN_U64, 0x1p63, 0x1p63 + 8192, 4096), UN_U64, D(2), 0x1p63, 0x1p63 + 4096);
  EXPECT(&k, un__tensor_arange(k.g, UN_I64, -0x1p63, 0, 0x1p62), UN_I64, D(2), -0x1p63, -0x1p62);
  EXPECT(&k, un__tensor_arange(k.g, UN_I32, 5, 5, 1), UN_I32, D(0), 0);
  EXPECT(&k, un__tensor_eye(k.g, UN_F32, 2, 3), UN_F32, D(2, 3), 1, 0, 0, 0, 1, 0);
  EXPECT(&k, un__tensor_eye(k.g, UN_BOOL, 2, 2), UN_BOOL, D(2, 2), 1, 0, 0, 1);
}

Test(tensor_values, arithmetic_broadcasts_and_promotes) {
  const un_uop *a = IN(&k, UN_F32, D(2, 3), 1, 2, 3, 4, 5, 6), *row = IN(&k, UN_I32, D(3), 10, 20, 30);
  const un_uop *col = IN(&k, UN_F16, D(2, 1), 0.5, 2);
  EXPECT(&k, un__tensor_add(k.g, a, row), UN_F32, D(2, 3), 11, 22, 33, 14, 25, 36);
  EXPECT(&k, un__tensor_mul(k.g, col, row), UN_F16, D(2, 3), 5, 10, 15, 20, 40, 60);
  EXPECT(&k, un__tensor_sub(k.g, row, col), UN_F16, D(2, 3), 9.5, 19.5, 29.5, 8, 18, 28);
  EXPECT(&k, un__tensor_div(k.g, row, un__tensor_scalar_like(k.g, row, 4)), UN_F32, D(3), 2.5, 5, 7.5);
  const un_uop *t = IN(&k, UN_BOOL, D(2), 1, 1);
  EXPECT(&k, un__tensor_add(k.g, t, t), UN_I32, D(2), 2, 2);
  const un_uop *i8 = IN(&k, UN_I8, D(2), 127, -1), *u8 = IN(&k, UN_U8, D(2), 255, 1);
  EXPECT(&k, un__tensor_add(k.g, i8, u8), UN_I16, D(2), 382, 0);
  EXPECT(&k, un__tensor_add(k.g, i8, i8), UN_I8, D(2), -2, -2);
  const un_uop *u64 = IN(&k, UN_U64, D(1), 3);
  EXPECT(&k, un__tensor_add(k.g, i8, u64), UN_F32, D(2), 130, 2);
}

Test(tensor_values, integer_division) {
  const un_uop *a = IN(&k, UN_I32, D(5), 7, -7, 7, -7, 5), *b = IN(&k, UN_I32, D(5), 2, 2, -2, -2, 0);
  EXPECT(&k, un__tensor_floordiv(k.g, a, b), UN_I32, D(5), 3, -4, -4, 3, 0);
  EXPECT(&k, un__tensor_floormod(k.g, a, b), UN_I32, D(5), 1, 1, -1, -1, 5);
  EXPECT(&k, un__tensor_truncdiv(k.g, a, b), UN_I32, D(5), 3, -3, -3, 3, 0);
  EXPECT(&k, un__tensor_truncmod(k.g, a, b), UN_I32, D(5), 1, -1, 1, -1, 5);
}

Test(tensor_values, shifts_of_any_count_dtype) {
  const un_uop *a = IN(&k, UN_I8, D(4), 1, -128, -128, 3);
  EXPECT(&k, un__tensor_shl(k.g, a, IN(&k, UN_I32, D(4), 6, 1, 8, 300)), UN_I8, D(4), 64, 0, 0, 0);
  EXPECT(&k, un__tensor_shr(k.g, a, IN(&k, UN_I32, D(4), 1, 3, 256, 1)), UN_I8, D(4), 0, -16, -1, 1);
  EXPECT(&k, un__tensor_shr(k.g, a, IN(&k, UN_I64, D(4), -1, 7, 7, 257)), UN_I8, D(4), 0, -1, -1, 0);
  EXPECT(&k, un__tensor_shl(k.g, IN(&k, UN_U64, D(1), 1), IN(&k, UN_U8, D(3), 63, 64, 255)), UN_U64, D(3), 0x1p63, 0,
         0);
}

Test(tensor_values, comparisons_with_nan) {
  const un_uop *a = IN(&k, UN_F32, D(4), 1, 2, nan_, 1), *b = IN(&k, UN_F32, D(4), 2, 2, 1, nan_);
  EXPECT(&k, un__tensor_lt(k.g, a, b), UN_BOOL, D(4), 1, 0, 0, 0);
  EXPECT(&k, un__tensor_le(k.g, a, b), UN_BOOL, D(4), 1, 1, 0, 0);
  EXPECT(&k, un__tensor_gt(k.g, b, a), UN_BOOL, D(4), 1, 0, 0, 0);
  EXPECT(&k, un__tensor_ge(k.g, b, a), UN_BOOL, D(4), 1, 1, 0, 0);
  EXPECT(&k, un__tensor_eq(k.g, a, b), UN_BOOL, D(4), 0, 1, 0, 0);
  EXPECT(&k, un__tensor_ne(k.g, a, b), UN_BOOL, D(4), 1, 0, 1, 1);
  EXPECT(&k, un__tensor_maximum(k.g, a, b), UN_F32, D(4), 2, 2, nan_, nan_);
  const un_uop *i = IN(&k, UN_U8, D(2), 3, 200), *j = IN(&k, UN_U8, D(2), 3, 100);
  EXPECT(&k, un__tensor_le(k.g, i, j), UN_BOOL, D(2), 1, 0);
  EXPECT(&k, un__tensor_ge(k.g, i, j), UN_BOOL, D(2), 1, 1);
}

Test(tensor_values, rounding) {
  const double x[] = {0.5, 1.5, 2.5,  -0.5, -1.5, -2.5, 0.3,       -0.7,
                      2.7, inf, -inf, nan_, 0.0,  -0.0, 8388609.0, 0.49999997};
  const un_uop *a = kit_input(&k, UN_F32, D(16), x);
  EXPECT(&k, un__tensor_round(k.g, a), UN_F32, D(16), 0, 2, 2, -0.0, -2, -2, 0, -1, 3, inf, -inf, nan_, 0, -0.0,
         8388609.0, 0);
  EXPECT(&k, un__tensor_floor(k.g, a), UN_F32, D(16), 0, 1, 2, -1, -2, -3, 0, -1, 2, inf, -inf, nan_, 0, -0.0,
         8388609.0, 0);
  EXPECT(&k, un__tensor_ceil(k.g, a), UN_F32, D(16), 1, 2, 3, -0.0, -1, -2, 1, -0.0, 3, inf, -inf, nan_, 0, -0.0,
         8388609.0, 1);
  EXPECT(&k, un__tensor_trunc(k.g, a), UN_F32, D(16), 0, 1, 2, -0.0, -1, -2, 0, -0.0, 2, inf, -inf, nan_, 0, -0.0,
         8388609.0, 0);
  const un_uop *i = IN(&k, UN_I32, D(2), 5, -5);
  cr_expect_eq(un__tensor_round(k.g, i), i);
}

Test(tensor_values, signs) {
  const un_uop *a = IN(&k, UN_F32, D(6), -2, 0, -0.0, 3, nan_, -inf), *i = IN(&k, UN_I8, D(3), -128, 0, 7);
  EXPECT(&k, un__tensor_abs(k.g, a), UN_F32, D(6), 2, 0, 0, 3, nan_, inf);
  EXPECT(&k, un__tensor_abs(k.g, i), UN_I8, D(3), -128, 0, 7);
  EXPECT(&k, un__tensor_sign(k.g, a), UN_F32, D(6), -1, 0, -0.0, 1, nan_, -1);
  EXPECT(&k, un__tensor_sign(k.g, i), UN_I8, D(3), -1, 0, 1);
  EXPECT(&k, un__tensor_sign(k.g, IN(&k, UN_U8, D(2), 0, 200)), UN_U8, D(2), 0, 1);
  NEAR(&k, un__tensor_relu(k.g, a), UN_F32, D(6), 1e-9, 0, 0, 0, 3, nan_, 0);
  EXPECT(&k, un__tensor_neg(k.g, i), UN_I8, D(3), -128, 0, -7);
  EXPECT(&k, un__tensor_isnan(k.g, a), UN_BOOL, D(6), 0, 0, 0, 0, 1, 0);
  EXPECT(&k, un__tensor_isnan(k.g, i), UN_BOOL, D(3), 0, 0, 0);
}

/* f in f32 and f64 beside libm on a grid; worst error in units of the last place of the f32 or f64 result. */
static void sweep(const char *name, const un_uop *(*f)(un__graph *, const un_uop *), double (*ref)(double), double lo,
                  double hi, double ulps32, double ulps64) {
  enum { N = 1001 };
  double x[N], want[N];
  for (int pass = 0; pass < 2; pass++) {
    un_dtype d = pass ? UN_F64 : UN_F32;
    for (int i = 0; i < N; i++) {
      x[i] = lo + (hi - lo) * i / (N - 1);
      if (!pass) x[i] = (float)x[i];
      want[i] = ref(x[i]);
    }
    kit_eval(&k, f(k.g, kit_input(&k, d, D(N), x)));
    cr_assert_eq(k.dtype, d);
    double worst = 0, at = 0;
    for (int i = 0; i < N; i++) {
      double ulp = pass ? fabs(nextafter(want[i], INFINITY) - want[i])
                        : (double)fabsf(nextafterf((float)want[i], INFINITY) - (float)want[i]);
      double err = fabs(k.v[i] - want[i]) / ulp;
      if (err > worst) worst = err, at = x[i];
    }
    cr_expect(worst <= (pass ? ulps64 : ulps32), "%s %s: %.2f ulp at %.9g", name, un_dtype_name(d), worst, at);
    kit_drop_inputs(&k);
  }
}

static double ref_sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double ref_silu(double x) { return x / (1 + exp(-x)); }
static double ref_rsqrt(double x) { return 1 / sqrt(x); }

Test(tensor_values, accuracy_of_composed_functions) {
  sweep("cos", un__tensor_cos, cos, -20, 20, 8, 8);
  sweep("cos", un__tensor_cos, cos, 1.5, 1.6, 8, 8);
  sweep("tan", un__tensor_tan, tan, -20, 20, 10, 10);
  sweep("tanh", un__tensor_tanh, tanh, -9, 9, 4, 4);
  sweep("erf", un__tensor_erf, erf, -4, 4, 6, 6);
  sweep("sigmoid", un__tensor_sigmoid, ref_sigmoid, -20, 20, 4, 4);
  sweep("silu", un__tensor_silu, ref_silu, -20, 20, 4, 4);
  sweep("rsqrt", un__tensor_rsqrt, ref_rsqrt, 0.01, 50, 2, 2);
}

Test(tensor_values, special_values_of_functions) {
  const un_uop *a = IN(&k, UN_F32, D(5), -inf, inf, nan_, 0.0, -0.0);
  EXPECT(&k, un__tensor_tanh(k.g, a), UN_F32, D(5), -1, 1, nan_, 0, -0.0);
  EXPECT(&k, un__tensor_erf(k.g, a), UN_F32, D(5), -1, 1, nan_, 0, -0.0);
  EXPECT(&k, un__tensor_sigmoid(k.g, a), UN_F32, D(5), 0, 1, nan_, 0.5, 0.5);
  EXPECT(&k, un__tensor_cos(k.g, a), UN_F32, D(5), nan_, nan_, nan_, 1, 1);
  NEAR(&k, un__tensor_cos(k.g, IN(&k, UN_F32, D(2), 3e38, 1e38)), UN_F32, D(2), 1e-6, cos((float)3e38),
       cos((float)1e38));
  NEAR(&k, un__tensor_gelu(k.g, IN(&k, UN_F32, D(3), -1, 0, 2)), UN_F32, D(3), 1e-6, -0.15865525, 0, 1.9544997);
  NEAR(&k, un__tensor_gelu_tanh(k.g, IN(&k, UN_F32, D(3), -1, 0, 2)), UN_F32, D(3), 1e-6, -0.15880801, 0, 1.9545977);
  NEAR(&k, un__tensor_tanh(k.g, IN(&k, UN_F16, D(2), 1, -0.25)), UN_F16, D(2), 5e-4, tanh(1), tanh(-0.25));
}

Test(tensor_values, where_and_casts) {
  const un_uop *c = IN(&k, UN_I32, D(2, 1), 0, -3), *a = IN(&k, UN_F32, D(3), 1, 2, 3),
               *b = IN(&k, UN_I32, SCALAR_SHAPE, 9);
  EXPECT(&k, un__tensor_where(k.g, c, a, b), UN_F32, D(2, 3), 9, 9, 9, 1, 2, 3);
  EXPECT(&k, un__tensor_cast(k.g, IN(&k, UN_F32, D(5), 300.7, -5, nan_, 2.5, -0.9), UN_U8), UN_U8, D(5), 255, 0, 0, 2,
         0);
  EXPECT(&k, un__tensor_cast(k.g, IN(&k, UN_I32, D(2), 257, -1), UN_U8), UN_U8, D(2), 1, 255);
  EXPECT(&k, un__tensor_bitcast(k.g, IN(&k, UN_F32, D(2), 1, -0.0), UN_U32), UN_U32, D(2), 0x3f800000, 0x80000000u);
}

Test(tensor_values, movement) {
  const un_uop *a = un__tensor_reshape(k.g, un__tensor_arange(k.g, UN_I32, 0, 12, 1), D(3, -1));
  EXPECT(&k, un__tensor_transpose(k.g, a, 0, 1), UN_I32, D(4, 3), 0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11);
  EXPECT(&k, un__tensor_select(k.g, a, 0, -1), UN_I32, D(4), 8, 9, 10, 11);
  EXPECT(&k, un__tensor_flip(k.g, un__tensor_select(k.g, a, 1, 0), D(0)), UN_I32, D(3), 8, 4, 0);
  EXPECT(&k, un__tensor_pad(k.g, un__tensor_select(k.g, a, 1, 1), D(1), D(2)), UN_I32, D(6), 0, 1, 5, 9, 0, 0);
  EXPECT(&k, un__tensor_pad_value(k.g, un__tensor_select(k.g, a, 1, 1), D(1), D(2), -7), UN_I32, D(6), -7, 1, 5, 9, -7,
         -7);
  EXPECT(&k, un__tensor_shrink(k.g, a, D(1, 2), D(3, 4)), UN_I32, D(2, 2), 6, 7, 10, 11);
  EXPECT(&k, un__tensor_flatten(k.g, a, 0, -1), UN_I32, D(12), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
  EXPECT(&k, un__tensor_expand(k.g, un__tensor_shrink(k.g, a, D(0, 0), D(1, 2)), D(2, -1, 2)), UN_I32, D(2, 1, 2), 0, 1,
         0, 1);
  EXPECT(&k, un__tensor_pad(k.g, un__tensor_shrink(k.g, a, D(0, 0), D(0, 4)), D(1, 0), D(0, 0)), UN_I32, D(1, 4), 0, 0,
         0, 0);
}

/* Against Python's own rule, worked out element by element. */
Test(tensor_values, slices) {
  enum { N = 7 };
  const un_uop *a = un__tensor_arange(k.g, UN_I32, 0, N, 1);
  const int64_t at[] = {UN_OPEN, -20, -8, -7, -3, -1, 0, 1, 3, 6, 7, 9};
  const int64_t steps[] = {1, 2, 3, 6, 7, 50, -1, -2, -3, -7, -50};
  for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
      for (size_t j = 0; j < sizeof at / sizeof *at; j++) {
        int64_t step = steps[s], lo = at[i], hi = at[j], n = 0;
        int64_t low = step > 0 ? 0 : -1, high = step > 0 ? N : N - 1;
        if (lo == UN_OPEN) lo = step > 0 ? low : high;
        else lo = lo < 0 ? (lo + N < low ? low : lo + N) : lo > high ? high : lo;
        if (hi == UN_OPEN) hi = step > 0 ? high : low;
        else hi = hi < 0 ? (hi + N < low ? low : hi + N) : hi > high ? high : hi;
        double want[N];
        for (int64_t p = lo; step > 0 ? p < hi : p > hi; p += step) want[n++] = (double)p;
        kit_expect(&k, (int)(s * 10000 + i * 100 + j), un__tensor_slice(k.g, a, 0, at[i], at[j], step), UN_I32, D(n), 0,
                   want);
      }
  const un_uop *m = un__tensor_reshape(k.g, un__tensor_arange(k.g, UN_I32, 0, 12, 1), D(3, 4));
  EXPECT(&k, un__tensor_slice(k.g, m, 1, UN_OPEN, UN_OPEN, -2), UN_I32, D(3, 2), 3, 1, 7, 5, 11, 9);
}

Test(tensor_values, cat_and_stack_keep_every_bit) {
  const un_uop *a = IN(&k, UN_F32, D(2), -0.0, nan_), *b = IN(&k, UN_F32, D(1), -0.0), *e = IN(&k, UN_F32, D(0), 0),
               *i = IN(&k, UN_I8, D(2), 1, -1);
  EXPECT(&k, un__tensor_cat(k.g, (const un_uop *[]){a, e, b, i}, 4, 0), UN_F32, D(5), -0.0, nan_, -0.0, 1, -1);
  EXPECT(&k, un__tensor_cat(k.g, (const un_uop *[]){e, e}, 2, 0), UN_F32, D(0), 0);
  EXPECT(&k, un__tensor_cat(k.g, (const un_uop *[]){e, a, e}, 3, 0), UN_F32, D(2), -0.0, nan_);
  EXPECT(&k, un__tensor_stack(k.g, (const un_uop *[]){a, i}, 2, 0), UN_F32, D(2, 2), -0.0, nan_, 1, -1);
  EXPECT(&k, un__tensor_stack(k.g, (const un_uop *[]){a, i}, 2, -1), UN_F32, D(2, 2), -0.0, 1, nan_, -1);
  const un_uop *m = un__tensor_reshape(k.g, un__tensor_arange(k.g, UN_I32, 0, 4, 1), D(2, 2));
  EXPECT(&k, un__tensor_cat(k.g, (const un_uop *[]){m, m}, 2, 1), UN_I32, D(2, 4), 0, 1, 0, 1, 2, 3, 2, 3);
  EXPECT(&k, un__tensor_stack(k.g, (const un_uop *[]){m, m}, 2, 1), UN_I32, D(2, 2, 2), 0, 1, 0, 1, 2, 3, 2, 3);
}

Test(tensor_values, reductions) {
  const un_uop *a = IN(&k, UN_F32, D(2, 3), 1, 2, 3, 4, 5, 6), *i = IN(&k, UN_I8, D(3), 100, 100, -1);
  EXPECT(&k, un__tensor_sum(k.g, a, D(1), false), UN_F32, D(2), 6, 15);
  EXPECT(&k, un__tensor_sum(k.g, a, D(-2), true), UN_F32, D(1, 3), 5, 7, 9);
  EXPECT(&k, un__tensor_sum(k.g, a, EVERY, false), UN_F32, SCALAR_SHAPE, 21);
  EXPECT(&k, un__tensor_sum(k.g, i, EVERY, false), UN_I32, SCALAR_SHAPE, 199);
  EXPECT(&k, un__tensor_prod(k.g, i, EVERY, true), UN_I32, D(1), -10000);
  EXPECT(&k, un__tensor_max(k.g, i, EVERY, false), UN_I8, SCALAR_SHAPE, 100);
  EXPECT(&k, un__tensor_min(k.g, a, D(0), false), UN_F32, D(3), 1, 2, 3);
  EXPECT(&k, un__tensor_mean(k.g, i, EVERY, false), UN_F32, SCALAR_SHAPE, (float)(199.0 / 3));
  NEAR(&k, un__tensor_var(k.g, a, D(1), 1, false), UN_F32, D(2), 1e-6, 1, 1);
  NEAR(&k, un__tensor_std(k.g, a, D(1), 0, true), UN_F32, D(2, 1), 1e-6, sqrt(2.0 / 3), sqrt(2.0 / 3));
  EXPECT(&k, un__tensor_any(k.g, a, D(1), false), UN_BOOL, D(2), 1, 1);
  EXPECT(&k, un__tensor_all(k.g, IN(&k, UN_F32, D(2, 2), 1, 0, nan_, 2), D(1), false), UN_BOOL, D(2), 0, 1);
  EXPECT(&k, un__tensor_sum(k.g, IN(&k, UN_F16, D(3), 2048, 1, 1), EVERY, false), UN_F16, SCALAR_SHAPE, 2050);
}

Test(tensor_values, reductions_of_nothing) {
  const un_uop *e = IN(&k, UN_F32, D(2, 0), 0);
  EXPECT(&k, un__tensor_sum(k.g, e, D(1), false), UN_F32, D(2), 0, 0);
  EXPECT(&k, un__tensor_prod(k.g, e, D(1), true), UN_F32, D(2, 1), 1, 1);
  EXPECT(&k, un__tensor_any(k.g, e, D(1), false), UN_BOOL, D(2), 0, 0);
  EXPECT(&k, un__tensor_all(k.g, e, D(1), false), UN_BOOL, D(2), 1, 1);
  EXPECT(&k, un__tensor_mean(k.g, e, D(1), false), UN_F32, D(2), nan_, nan_);
  EXPECT(&k, un__tensor_max(k.g, e, D(0), false), UN_F32, D(0), 0);
  EXPECT(&k, un__tensor_softmax(k.g, e, -1), UN_F32, D(2, 0), 0);
  EXPECT(&k, un__tensor_matmul(k.g, e, un__tensor_full(k.g, UN_F32, D(0, 2), 1)), UN_F32, D(2, 2), 0, 0, 0, 0);
}

Test(tensor_values, positions) {
  const un_uop *a = IN(&k, UN_F32, D(2, 4), 1, 5, 5, 2, 3, nan_, 9, nan_);
  EXPECT(&k, un__tensor_argmax(k.g, a, 1, false), UN_I32, D(2), 1, 1);
  EXPECT(&k, un__tensor_argmin(k.g, a, -1, true), UN_I32, D(2, 1), 0, 1);
  EXPECT(&k, un__tensor_argmax(k.g, a, 0, false), UN_I32, D(4), 1, 1, 1, 1);
  EXPECT(&k, un__tensor_argmax(k.g, IN(&k, UN_F32, D(2), -inf, -inf), 0, false), UN_I32, SCALAR_SHAPE, 0);
  EXPECT(&k, un__tensor_argmax(k.g, IN(&k, UN_BOOL, D(3), 0, 1, 1), 0, false), UN_I32, SCALAR_SHAPE, 1);
}

Test(tensor_values, matmul) {
  const un_uop *a = IN(&k, UN_F32, D(2, 3), 1, 2, 3, 4, 5, 6), *b = IN(&k, UN_F32, D(3, 2), 7, 8, 9, 10, 11, 12),
               *v = IN(&k, UN_F32, D(3), 1, 0, -1);
  EXPECT(&k, un__tensor_matmul(k.g, a, b), UN_F32, D(2, 2), 58, 64, 139, 154);
  EXPECT(&k, un__tensor_matmul(k.g, a, v), UN_F32, D(2), -2, -2);
  EXPECT(&k, un__tensor_matmul(k.g, v, b), UN_F32, D(2), -4, -4);
  EXPECT(&k, un__tensor_matmul(k.g, v, v), UN_F32, SCALAR_SHAPE, 2);
  const un_uop *batch = un__tensor_stack(k.g, (const un_uop *[]){a, un__tensor_neg(k.g, a)}, 2, 0);
  EXPECT(&k, un__tensor_matmul(k.g, batch, b), UN_F32, D(2, 2, 2), 58, 64, 139, 154, -58, -64, -139, -154);
  const un_uop *wide = un__tensor_reshape(k.g, batch, D(2, 1, 2, 3)),
               *rhs = un__tensor_reshape(k.g, un__tensor_stack(k.g, (const un_uop *[]){b, b, b}, 3, 0), D(3, 3, 2));
  kit_eval(&k, un__tensor_matmul(k.g, wide, rhs));
  cr_expect(un__tensor_same_dims(&k.dims, D(2, 3, 2, 2)), "%s", un__tensor_show(&k.dims).at);
  cr_expect(k.v[0] == 58 && k.v[12] == -58 && k.v[23] == -154);
  const un_uop *h = IN(&k, UN_F16, D(1, 2), 300, 300);
  EXPECT(&k, un__tensor_matmul(k.g, h, un__tensor_reshape(k.g, IN(&k, UN_F16, D(2), 300, -300), D(2, 1))), UN_F16,
         D(1, 1), 0);
  const un_uop *i = IN(&k, UN_I8, D(1, 2), 100, 100);
  EXPECT(&k, un__tensor_matmul(k.g, i, un__tensor_transpose(k.g, i, 0, 1)), UN_I32, D(1, 1), 20000);
}

Test(tensor_values, softmax_and_norms) {
  const un_uop *x = IN(&k, UN_F32, D(2, 3), 1, 2, 3, 1000, 1000, -inf);
  double e1 = exp(-2), e2 = exp(-1), s = e1 + e2 + 1;
  NEAR(&k, un__tensor_softmax(k.g, x, -1), UN_F32, D(2, 3), 1e-6, e1 / s, e2 / s, 1 / s, 0.5, 0.5, 0);
  NEAR(&k, un__tensor_log_softmax(k.g, x, 1), UN_F32, D(2, 3), 1e-6, -2 - log(s), -1 - log(s), -log(s), -log(2),
       -log(2), -inf);
  const un_uop *y = IN(&k, UN_F16, D(1, 4), 1, 2, 3, 4);
  double r = 1 / sqrt(1.25 + 1e-5), q = 1 / sqrt(7.5 + 1e-5);
  NEAR(&k, un__tensor_layer_norm(k.g, y, D(-1), 1e-5), UN_F16, D(1, 4), 1e-3, -1.5 * r, -0.5 * r, 0.5 * r, 1.5 * r);
  NEAR(&k, un__tensor_rms_norm(k.g, y, D(-1), 1e-5), UN_F16, D(1, 4), 1e-3, q, 2 * q, 3 * q, 4 * q);
}

Test(tensor_values, gather_take_one_hot) {
  const un_uop *x = un__tensor_reshape(k.g, un__tensor_arange(k.g, UN_F32, 1, 13, 1), D(3, 4));
  const un_uop *i = IN(&k, UN_I32, D(2, 2), 0, 2, 5, -1);
  EXPECT(&k, un__tensor_gather(k.g, x, 0, i), UN_F32, D(2, 2), 1, 10, 0, 0);
  EXPECT(&k, un__tensor_gather(k.g, x, 1, i), UN_F32, D(2, 2), 1, 3, 0, 0);
  EXPECT(&k, un__tensor_take(k.g, x, 0, IN(&k, UN_U8, D(2), 2, 3)), UN_F32, D(2, 4), 9, 10, 11, 12, 0, 0, 0, 0);
  EXPECT(&k, un__tensor_take(k.g, x, 1, i), UN_F32, D(3, 2, 2), 1, 3, 0, 0, 5, 7, 0, 0, 9, 11, 0, 0);
  EXPECT(&k, un__tensor_take(k.g, x, 1, IN(&k, UN_I64, SCALAR_SHAPE, 1)), UN_F32, D(3), 2, 6, 10);
  EXPECT(&k, un__tensor_one_hot(k.g, IN(&k, UN_U8, D(3), 1, 0, 3), 3, UN_F32), UN_F32, D(3, 3), 0, 1, 0, 1, 0, 0, 0, 0,
         0);
  kit_eval(&k, un__tensor_one_hot(k.g, IN(&k, UN_U8, D(1), 1), 300, UN_BOOL));
  for (int j = 0; j < 300; j++) cr_expect_eq(k.v[j], j == 1);
  EXPECT(&k, un__tensor_take(k.g, un__tensor_full(k.g, UN_F32, D(0, 2), 1), 0, IN(&k, UN_I32, D(1), 0)), UN_F32,
         D(1, 2), 0, 0);
}

Test(tensor_values, assigned) {
  const un_uop *dst = IN(&k, UN_F32, D(2, 2), 0, 0, 0, 0);
  EXPECT(&k, un__tensor_assigned(k.g, "assign", dst, IN(&k, UN_I32, D(2), 3, 4)), UN_F32, D(2, 2), 3, 4, 3, 4);
}

/* ---- powers of integers ---- */

Test(tensor_values, powers_of_integers_are_exact) {
  const un_uop *a = IN(&k, UN_I32, D(6), 3, -3, 2, 46341, 16777217, -1), *e = IN(&k, UN_I32, D(6), 5, 3, 31, 2, 1, 7);
  EXPECT(&k, un__tensor_pow(k.g, a, e), UN_I32, D(6), 243, -27, INT32_MIN, -2147479015, 16777217, -1);
  const un_uop *base = IN(&k, UN_I8, D(5), 1, -1, -1, 2, 0), *below = IN(&k, UN_I8, D(5), -3, -3, -4, -1, -1);
  EXPECT(&k, un__tensor_pow(k.g, base, below), UN_I8, D(5), 1, -1, 1, 0, 0);
}

Test(tensor_values, powers_of_mixed_and_known_exponents) {
  const un_uop *a = IN(&k, UN_I32, D(6), 3, -3, 2, 46341, 16777217, -1);
  EXPECT(&k, un__tensor_pow(k.g, IN(&k, UN_I8, D(3), 0, 5, -2), IN(&k, UN_U8, D(3), 0, 255, 7)), UN_I16, D(3), 1, 6349, -128);
  EXPECT(&k, un__tensor_pow(k.g, a, un__tensor_scalar_like(k.g, a, 2)), UN_I32, D(6), 9, 9, 4, -2147479015, 33554433, 1);
  EXPECT(&k, un__tensor_pow(k.g, a, un__tensor_scalar_like(k.g, a, 0)), UN_I32, D(6), 1, 1, 1, 1, 1, 1);
  EXPECT(&k, un__tensor_pow(k.g, a, un__tensor_scalar_like(k.g, a, -1)), UN_I32, D(6), 0, 0, 0, 0, 0, -1);
  EXPECT(&k, un__tensor_pow(k.g, IN(&k, UN_BOOL, D(2), 0, 1), IN(&k, UN_BOOL, D(2), 0, 0)), UN_I32, D(2), 1, 1);
  EXPECT(&k, un__tensor_pow(k.g, IN(&k, UN_U64, D(2), 3, 2), IN(&k, UN_U64, D(2), 3, 64)), UN_U64, D(2), 27, 0);
}
