/* What a warp does in the interpreter: products of known matrices, whose fragments are laid out here as the PTX manual says
 * (mma.m16n8k8, k16 and k32), and rows of shared memory that LDMATRIX deals out. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "interp/interp.h"
#include "target/target.h"
#include "uop/text.h"
#include "workspace_suite.h"

WORKSPACE_SUITE(interp_cores, ws);

enum { WARP = 32, SUMS = 192, MOST = 4 * SUMS };

static const un_uop *parsed(const char *text) {
  un__parsed_graph g;
  size_t n;
  cr_assert_eq(un__parse_text(ws, "test", text, strlen(text), &g, 1, &n), UN_OK, "%s\n%s", err.text, text);
  cr_assert_eq(un__verify(g.root, UN__STAGE_LINEAR, &err, NULL), UN_OK, "%s\n%s", err.text, text);
  return g.root;
}

/* ---- the manual's layouts, of elements of 1, 2 and 4 bytes ---- */

typedef struct place { int row, column; } place;

/* Element i of thread t: of a (rows x depth) ... */
static place of_left(int t, int i, int size) {
  int word = 4 / size, which = i / word;
  return (place){t / 4 + (which % 2) * 8, t % 4 * word + i % word + (which / 2) * 4 * word};
}

/* ... of b (depth x columns) ... */
static place of_right(int t, int i, int size) {
  int word = 4 / size;
  return (place){t % 4 * word + i % word + i / word * 4 * word, t / 4};
}

/* ... of c and the result. */
static place of_sum(int t, int i) { return (place){t / 4 + i / 2 * 8, t % 4 * 2 + i % 2}; }

/* ---- products ---- */

static un_dtype dtype_named(const char *name) {
  un_dtype d = 0;
  while (d < UN_DTYPE_COUNT && strcmp(un__dt_info(UN__DT(d))->name, name) != 0) d++;
  cr_assert_lt(d, UN_DTYPE_COUNT, "no dtype %s", name);
  return d;
}

static void put(un_dtype d, void *out, int at, double v) {
  un__value x = un__dt_is_float(UN__DT(d)) ? un__value_f(UN__DT(d), v) : un__value_i(UN__DT(d), (int64_t)v);
  un__value_store(x, (char *)out + (size_t)at * un__dt_info(UN__DT(d))->size);
}

static double get(un_dtype d, const void *from, int at) {
  un__value x = un__value_load(UN__DT(d), (const char *)from + (size_t)at * un__dt_info(UN__DT(d))->size);
  return un__dt_is_float(x.dtype) ? x.f : (double)x.i;
}

static const char *product_text(const un__tensor_core *core, int left, int right) {
  static char text[2048];
  const char *a = core->operand, *c = core->sum;
  snprintf(text, sizeof text,
           "unir 1\ngraph @k stage=linear {\n %%32 = const i32 [val=32]\n %%l = const i32 [val=%d]\n %%r = const i32 [val=%d]\n"
           " %%nl = const i64 [val=%d]\n %%nr = const i64 [val=%d]\n %%nc = const i64 [val=%d]\n"
           " %%o = param ptr.%s %%nc [slot=0]\n %%a = param ptr.%s %%nl [slot=1]\n %%b = param ptr.%s %%nr [slot=2]\n %%c = param ptr.%s %%nc [slot=3]\n"
           " %%t = special i32 %%32 [axis=local]\n %%al = mul i32 %%t, %%l\n %%ar = mul i32 %%t, %%r\n %%h = add i32 %%t, %%t\n %%ac = add i32 %%h, %%h\n"
           " %%ia = index ptr.%s %%a, %%al\n %%ib = index ptr.%s %%b, %%ar\n %%ic = index ptr.%s %%c, %%ac\n %%io = index ptr.%s %%o, %%ac\n"
           " %%x = load %sx%d %%ia\n %%y = load %sx%d %%ib\n %%z = load %sx4 %%ic\n %%w = wmma %sx4 %%x, %%y, %%z [form=0]\n %%s = store void %%io, %%w\n"
           " linear %%32, %%l, %%r, %%nl, %%nr, %%nc, %%o, %%a, %%b, %%c, %%t, %%al, %%ar, %%h, %%ac, %%ia, %%ib, %%ic, %%io, %%x, %%y, %%z, %%w, %%s\n}\n",
           left, right, WARP * left, WARP * right, SUMS, c, a, a, c, a, a, c, c, a, left, a, right, c, c);
  return text;
}

/* Small whole numbers: every sum is exact. */
static double left_value(int row, int k) { return (row * 7 + k * 5) % 4; }
static double right_value(const un__tensor_core *core, int k, int column) { return (k * 3 + column * 11) % 5 - (core->operand[0] == 'u' ? 0 : 2); }
static double sum_value(int row, int column) { return row * 8 - column; }

static void check_product(const un__tensor_core *core) {
  un_dtype d = dtype_named(core->operand), sum = dtype_named(core->sum);
  int size = (int)un__dt_info(UN__DT(d))->size, left = 16 / size, right = 8 / size;
  static _Alignas(16) char a[MOST], b[MOST], c[MOST], out[MOST];
  cr_assert_eq(core->depth, 32u / (uint32_t)size, "%s", core->operand);
  for (int t = 0; t < WARP; t++) {
    for (int i = 0; i < left; i++) put(d, a, t * left + i, left_value(of_left(t, i, size).row, of_left(t, i, size).column));
    for (int i = 0; i < right; i++) put(d, b, t * right + i, right_value(core, of_right(t, i, size).row, of_right(t, i, size).column));
    for (int i = 0; i < 4; i++) put(sum, c, t * 4 + i, sum_value(of_sum(t, i).row, of_sum(t, i).column));
  }
  const un_uop *kernel = parsed(product_text(core, left, right));
  un_status st = un__interp_grid(kernel, (void *[]){out, a, b, c}, (int64_t[]){SUMS, WARP * left, WARP * right, SUMS}, 4, NULL, 1, &err);
  cr_assert_eq(st, UN_OK, "%s: %s", core->operand, err.text);
  for (int t = 0; t < WARP; t++)
    for (int i = 0; i < 4; i++) {
      place p = of_sum(t, i);
      double want = sum_value(p.row, p.column);
      for (int k = 0; k < (int)core->depth; k++) want += left_value(p.row, k) * right_value(core, k, p.column);
      cr_expect_eq(get(sum, out, t * 4 + i), want, "%s: row %d, column %d: %g, expected %g", core->operand, p.row, p.column, get(sum, out, t * 4 + i), want);
    }
}

Test(interp_cores, products_are_those_of_the_matrices_for_every_core) {
  for (int i = 0; i < UN__TENSOR_CORES; i++) check_product(&un__tensor_core_table[i]);
}

/* A warp's product of all equal operands, one element of the result. */
static float uniform(float a, float b, float c) {
  static float left[WARP * 4], right[WARP * 2], sum[SUMS], out[SUMS];
  for (int i = 0; i < WARP * 4; i++) left[i] = i % 4 == 0 && i / 4 % 4 == 0 ? a : 0, sum[i] = c;      /* column 0 of a */
  for (int i = 0; i < WARP * 2; i++) right[i] = b;
  const un__tensor_core *tf32 = NULL;
  for (int i = 0; i < UN__TENSOR_CORES; i++)
    if (un__tensor_core_table[i].rounds) tf32 = &un__tensor_core_table[i];
  cr_assert(tf32);
  cr_assert_eq(un__interp_grid(parsed(product_text(tf32, 4, 2)), (void *[]){out, left, right, sum}, (int64_t[]){SUMS, 128, 64, SUMS}, 4, NULL, 1, &err), UN_OK,
               "%s", err.text);
  return out[0];
}

Test(interp_cores, tf32_loses_what_it_has_no_bits_for) {
  cr_expect_eq(uniform(1 + 0x1p-10f, 1, 0), 1 + 0x1p-10f);
  cr_expect_eq(uniform(1 + 0x1p-11f, 1, 0), 1);
  cr_expect_eq(uniform(1, 3 + 0x1p-12f, 0), 3);
  cr_expect_eq(uniform(1, 1, 0x1p-23f), 1 + 0x1p-23f, "the sum is f32");
}

/* ---- rows of shared memory ---- */

/* Each thread stores a row of 16 bytes, then the warp reads `lanes` of them each. */
static const char *matrix_text(const char *dtype, int row, int lanes, int trans) {
  static char text[2048];
  char read[16];
  snprintf(read, sizeof read, lanes > 1 ? "%sx%d" : "%s", dtype, lanes);
  snprintf(text, sizeof text,
           "unir 1\ngraph @k stage=linear {\n %%32 = const i32 [val=32]\n %%e = const i32 [val=%d]\n %%n = const i64 [val=%d]\n %%g = const i32 [val=%d]\n %%no = const i64 [val=%d]\n"
           " %%o = param ptr.%s %%no [slot=0]\n %%a = param ptr.%s %%n [slot=1]\n %%t = special i32 %%32 [axis=local]\n %%u = mul i32 %%t, %%e\n %%v = mul i32 %%t, %%g\n"
           " %%m = define_local ptr.local.%s %%n [id=0]\n %%ia = index ptr.%s %%a, %%u\n %%x = load %sx%d %%ia\n %%im = index ptr.local.%s %%m, %%u\n %%s = store void %%im, %%x\n"
           " %%b = barrier void %%s\n %%f = after ptr.local.%s %%m, %%b\n %%ir = index ptr.local.%s %%f, %%u\n %%w = ldmatrix %s %%ir [trans=%d]\n"
           " %%io = index ptr.%s %%o, %%v\n %%p = store void %%io, %%w\n"
           " linear %%32, %%e, %%n, %s%%o, %%a, %%t, %%u, %s%%m, %%ia, %%x, %%im, %%s, %%b, %%f, %%ir, %%w, %%io, %%p\n}\n",
           row, WARP * row, lanes, WARP * lanes, dtype, dtype, dtype, dtype, dtype, row, dtype, dtype, dtype, read, trans, dtype,
           lanes == row ? "" : "%g, %no, ", lanes == row ? "" : "%v, ");
  return text;
}

static void check_matrices(un_dtype d, int words, int trans) {
  int size = (int)un__dt_info(UN__DT(d))->size, word = 4 / size, row = 16 / size, lanes = words * word;
  static _Alignas(16) char in[MOST], out[MOST];
  for (int i = 0; i < WARP * row; i++) put(d, in, i, i % 120);
  const char *name = un__dt_info(UN__DT(d))->name;
  un_status st = un__interp_grid(parsed(matrix_text(name, row, lanes, trans)), (void *[]){out, in}, (int64_t[]){WARP * lanes, WARP * row}, 2, NULL, 1, &err);
  cr_assert_eq(st, UN_OK, "%s: %s", name, err.text);
  for (int t = 0; t < WARP; t++)
    for (int i = 0; i < lanes; i++) {
      int along = t % 4 * word + i % word, line = t / 4, first = i / word * 8;
      int at = trans ? (first + along) * row + line : (first + line) * row + along;
      cr_expect_eq(get(d, out, t * lanes + i), get(d, in, at), "%s x%d: thread %d, lane %d", name, words, t, i);
    }
}

Test(interp_cores, ldmatrix_deals_out_rows) {
  static const un_dtype all[] = {UN_F16, UN_BF16, UN_F32, UN_I8, UN_U8};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (int words = 1; words <= 4; words *= 2) check_matrices(all[i], words, 0);
}

Test(interp_cores, ldmatrix_deals_out_columns) {
  for (int words = 1; words <= 4; words *= 2) check_matrices(UN_F16, words, 1);
}

Test(interp_cores, a_row_begins_at_a_multiple_of_16_bytes) {
  char text[2048];
  const char *aligned = matrix_text("f16", 8, 4, 0), *at = strstr(aligned, "%ir = index ptr.local.f16 %f, %u");
  cr_assert(at);
  snprintf(text, sizeof text, "%.*s%%ir = index ptr.local.f16 %%f, %%v%s", (int)(at - aligned), aligned, at + strlen("%ir = index ptr.local.f16 %f, %u"));
  char in[MOST] = {0}, out[MOST];
  cr_expect_eq(un__interp_grid(parsed(text), (void *[]){out, in}, (int64_t[]){WARP * 4, WARP * 8}, 2, NULL, 1, &err), UN_ERR_INTERNAL);
  cr_expect(strstr(err.text, "inside of 16 bytes"), "%s", err.text);
}
