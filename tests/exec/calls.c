/* calls.c - every call of unir/tensor.h on every dtype it takes: realised on a device, through all stages, and beside it
 * evaluated as it stands by the interpreter of tensor graphs. One test for each call and dtype; TAP.
 *
 *     exec_calls DEVICE [large] [DTYPE]...      large: sizes that are split over threads, vectors and tiles, and leave a rest
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UN_USE_UNSTABLE
#define UN_NO_HERE
#include <unir/unir.h>
#include <unir/unstable.h>

#include "base/mem.h"
#include "interp/interp.h"

enum { LEAVES = 8, FIRST = UN_BOOL, LAST = UN_F64 };

/* slack multiplies the tolerance: the reference sums in order, which loses digits over many elements. */
typedef struct sizes { int64_t rows, columns; double slack; } sizes;

/* Tensors with data: x and y (rows, columns), v (columns), of the dtype under test; i (columns) and k (3), i32. */
typedef struct leaves {
  un_ctx *cx;
  sizes size;
  un_tensor *x, *y, *v, *i, *k;
  un_tensor *handle[LEAVES];
  void *data[LEAVES];
  size_t n;
} leaves;

static int tests, failures, refused;

static void report(bool ok, const char *call, un_dtype d, const char *why) {
  printf("%s %d - %s %s%s%s\n", ok ? "ok" : "not ok", ++tests, call, un_dtype_name(d), why[0] ? ": " : "", why);
  failures += !ok;
}

/* ---- data ---- */

static un_tensor *leaf(leaves *l, un_dtype d, un_dims shape, const double *values, size_t n) {
  size_t size = un_dtype_size(d);
  char *data = calloc(n, size);
  for (size_t i = 0; data && i < n; i++) {
    bool is_float = un__dt_is_float(UN__DT(d));
    un__value_store(is_float ? un__value_f(UN__DT(d), values[i]) : un__value_i(UN__DT(d), (int64_t)values[i]), data + i * size);
  }
  un_tensor *t = un_from_data(l->cx, d, shape, data);
  l->handle[l->n] = t;
  l->data[l->n++] = data;
  return t;
}

/* Small numbers with repeats, zeros and fractions; floats also get NaN, infinities and -0 at the end of x. */
static void make_leaves(leaves *l, un_ctx *cx, un_dtype d, sizes size) {
  static const double pool[] = {0, 1, 2, 3, -1, 0.5, -2.25, 7, 3, 1.75, -3, 5, 0.125, 11, -0.75};
  int64_t count = size.rows * size.columns;
  double *x = calloc((size_t)(3 * count), sizeof *x), *y = x + count, *at = y + count;
  bool is_float = un__dt_is_float(UN__DT(d));
  for (int64_t i = 0; i < count; i++) {
    x[i] = pool[(i * 7 + i / 5) % 15];
    y[i] = pool[(i * 11 + 3) % 15];
    at[i] = (double)((i * 3) % (size.columns + 2) - 1);      /* some outside on both sides */
    if (!is_float) x[i] = trunc(x[i] * 4), y[i] = trunc(y[i] * 2);
  }
  const double special[] = {NAN, INFINITY, -INFINITY, -0.0};
  if (is_float) memcpy(x + count - 4, special, sizeof special);
  un_dims matrix = {2, {size.rows, size.columns}}, row = {1, {size.columns}};
  *l = (leaves){.cx = cx, .size = size};
  l->x = leaf(l, d, matrix, x, (size_t)count);
  l->y = leaf(l, d, matrix, y, (size_t)count);
  l->v = leaf(l, d, row, y, (size_t)size.columns);
  l->i = leaf(l, UN_I32, row, at, (size_t)size.columns);
  l->k = leaf(l, UN_I32, (un_dims){1, {3}}, (const double[]){4, 0, 5}, 3);
  free(x);
}

/* ---- the reference ---- */

static bool bind(const leaves *l, const un__slot_map *serials, un__itensor *in) {
  for (size_t s = 0; s < serials->n; s++) {
    size_t k = 0;
    while (k < l->n && un__attr(un_node(l->handle[k]), 0) != serials->at[s]) k++;
    if (k == l->n) return false;
    un_dims d = un_shape_of(l->handle[k]);
    in[s] = (un__itensor){.dtype = UN__DT(un_dtype_of(l->handle[k])), .rank = (uint32_t)d.rank, .data = l->data[k]};
    memcpy(in[s].dim, d.dim, sizeof in[s].dim);
  }
  return true;
}

/* The value of the node as it stands; out->data is the caller's. */
static bool reference(const leaves *l, const un_tensor *t, un__itensor *out, un__err *err) {
  un__graph *ws = un__workspace_create(err);
  un__slot_map serials = {0};
  un__itensor in[LEAVES];
  const un_uop *root = ws ? un__import(ws, un_node(t), &serials) : NULL;
  bool ok = root && bind(l, &serials, in) && un__interp_tensor(&root, 1, in, (uint32_t)serials.n, out, err) == UN_OK;
  un__vec_finish(&serials);
  un__workspace_destroy(ws);
  return ok;
}

/* ---- comparison ---- */

/* How far results may be from the reference: a few units in the last place, for functions of several steps and for sums in
 * another order. Integers are exact. */
static double tolerance(un_dtype d) {
  switch (d) {
    case UN_F16: return 4e-3;
    case UN_BF16: return 3e-2;
    case UN_F32: return 2e-6;
    case UN_F64: return 4e-15;
    default: return 0;
  }
}

static bool close_enough(un__value a, un__value b, double tol) {
  if (!un__dt_is_float(a.dtype)) return a.i == b.i;
  if (isnan(a.f) || isnan(b.f)) return isnan(a.f) && isnan(b.f);
  return a.f == b.f || fabs(a.f - b.f) <= tol * (1 + fabs(b.f));
}

static void compare(const leaves *l, const un_tensor *t, const un__itensor *want, const char *have, const char *call,
                    un_dtype d) {
  char why[160] = "";
  un_dtype out = un_dtype_of(t);
  size_t size = un_dtype_size(out);
  for (int64_t i = 0; i < un_numel(t) && !why[0]; i++) {
    un__value a = un__value_load(UN__DT(out), have + (size_t)i * size);
    un__value b = un__value_load(UN__DT(out), (char *)want->data + (size_t)i * size);
    if (close_enough(a, b, l->size.slack * tolerance(out))) continue;
    if (un__dt_is_float(UN__DT(out))) snprintf(why, sizeof why, "element %" PRId64 " is %.9g, expected %.9g", i, a.f, b.f);
    else snprintf(why, sizeof why, "element %" PRId64 " is %" PRId64 ", expected %" PRId64, i, a.i, b.i);
  }
  report(!why[0], call, d, why);
}

static void check(leaves *l, un_tensor *t, const char *call, un_dtype d) {
  un_ctx *cx = l->cx;
  if (!t && un_error_status(cx) == UN_ERR_DTYPE) {     /* not for this dtype, and it said so */
    un_clear_error(cx);
    refused++;
    return;
  }
  un__err err = {0};
  un__itensor want = {0};
  if (!t) report(false, call, d, un_error(cx));
  else if (!reference(l, t, &want, &err)) report(false, call, d, err.text);
  else {
    size_t size = (size_t)un_numel(t) * un_dtype_size(un_dtype_of(t));
    char *have = malloc(size + 1);
    if (un_read(t, have, size) == UN_OK) compare(l, t, &want, have, call, d);
    else report(false, call, d, un_error(cx));
    free(have);
  }
  un_clear_error(cx);
  un__free(want.data);
}

/* ---- the calls ---- */

static un_dims D(int n, int64_t a, int64_t b, int64_t c) { return (un_dims){n, {a, b, c}}; }
static un_tensor *other(const leaves *l) { return un_flip(l->y, D(1, 0, 0, 0)); }

#define ROWS (l->size.rows)
#define COLUMNS (l->size.columns)
#define CALLS(CALL)                                                                         \
  CALL(adds, un_adds(l->x, 1))                                                              \
  CALL(muls_of_sum, un_muls(un_add(l->x, l->v), 2))                                         \
  CALL(where, un_where(un_lt(l->x, l->y), l->x, l->v))                                      \
  CALL(to_bool, un_cast(l->x, UN_BOOL))                                                     \
  CALL(to_i8, un_cast(l->x, UN_I8))                                                         \
  CALL(to_u16, un_cast(l->x, UN_U16))                                                       \
  CALL(to_i64, un_cast(l->x, UN_I64))                                                       \
  CALL(to_f16, un_cast(l->x, UN_F16))                                                       \
  CALL(to_bf16, un_cast(l->x, UN_BF16))                                                     \
  CALL(to_f32, un_cast(l->x, UN_F32))                                                       \
  CALL(to_f64, un_cast(l->x, UN_F64))                                                       \
  CALL(mixed_i32, un_add(l->x, l->i))                                                       \
  CALL(transpose, un_transpose(l->x, 0, 1))                                                 \
  CALL(transpose_add, un_add(un_transpose(l->x, 0, 1), un_reshape(l->y, D(2, COLUMNS, ROWS, 0))))   \
  CALL(reshape, un_reshape(un_transpose(l->x, 0, 1), D(2, ROWS, COLUMNS, 0)))               \
  CALL(expand, un_expand(un_unsqueeze(l->v, 0), D(3, 2, 3, COLUMNS)))                       \
  CALL(pad, un_pad(l->x, D(2, 1, 0, 0), D(2, 2, 3, 0)))                                     \
  CALL(pad_value, un_pad_value(l->x, D(2, 1, 2, 0), D(2, 0, 1, 0), 1))                      \
  CALL(pad_of_sum, un_pad(un_add(l->x, l->y), D(2, 1, 1, 0), D(2, 1, 1, 0)))                \
  CALL(sum_of_pad, un_sum(un_pad(l->x, D(2, 0, 0, 0), D(2, 2, 0, 0)), D(1, 0, 0, 0), false)) \
  CALL(shrink, un_shrink(l->x, D(2, 1, 2, 0), D(2, 4, 6, 0)))                               \
  CALL(slice_back, un_slice(l->x, 1, UN_OPEN, UN_OPEN, -2))                                 \
  CALL(slice_step, un_slice(l->x, 0, 1, UN_OPEN, 3))                                        \
  CALL(select, un_select(l->x, 1, -2))                                                      \
  CALL(flip, un_flip(l->x, D(2, 0, 1, 0)))                                                  \
  CALL(cat, un_cat(l->cx, 3, (un_tensor *[]){l->x, l->y, other(l)}, 1))                     \
  CALL(stack, un_stack(l->cx, 2, (un_tensor *[]){l->x, l->y}, 2))                           \
  CALL(sum_rows, un_sum(l->x, D(1, 1, 0, 0), false))                                        \
  CALL(sum_columns, un_sum(l->y, D(1, 0, 0, 0), true))                                      \
  CALL(sum_all, un_sum(l->y, un_every_axis(), false))                                       \
  CALL(prod, un_prod(l->y, D(1, 1, 0, 0), false))                                           \
  CALL(max, un_max(l->x, D(1, 1, 0, 0), false))                                             \
  CALL(min, un_min(l->y, D(1, 0, 0, 0), false))                                             \
  CALL(mean, un_mean(l->y, D(1, 1, 0, 0), false))                                           \
  CALL(var, un_var(l->y, D(1, 1, 0, 0), 1, false))                                          \
  CALL(std, un_std(l->y, un_every_axis(), 0, true))                                         \
  CALL(any, un_any(l->x, D(1, 0, 0, 0), false))                                             \
  CALL(all, un_all(l->x, D(1, 1, 0, 0), false))                                             \
  CALL(argmax, un_argmax(l->x, 1, false))                                                   \
  CALL(argmin, un_argmin(l->x, 0, true))                                                    \
  CALL(centred, un_sub(l->y, un_mean(l->y, D(1, 1, 0, 0), true)))                           \
  CALL(matmul, un_matmul(l->y, un_transpose(l->y, 0, 1)))                                   \
  CALL(matmul_chain, un_matmul(un_matmul(l->y, un_transpose(l->y, 0, 1)), l->y))            \
  CALL(matmul_vector, un_matmul(l->y, l->v))                                                \
  CALL(matmul_batch, un_matmul(un_reshape(l->y, D(3, ROWS, 1, COLUMNS)), un_unsqueeze(l->v, -1)))   \
  CALL(softmax, un_softmax(l->y, 1))                                                        \
  CALL(softmax_special, un_softmax(l->x, 1))                                                \
  CALL(log_softmax, un_log_softmax(l->y, 0))                                                \
  CALL(layer_norm, un_layer_norm(l->y, D(1, -1, 0, 0), 1e-5))                               \
  CALL(rms_norm, un_rms_norm(l->y, D(1, -1, 0, 0), 1e-5))                                   \
  CALL(gather, un_gather(l->x, 0, un_expand(un_unsqueeze(l->k, 1), D(2, 3, COLUMNS, 0))))   \
  CALL(take, un_take(l->x, 1, l->i))                                                        \
  CALL(embedding, un_embedding(l->x, l->k))                                                 \
  CALL(one_hot, un_one_hot(l->i, 8, un_dtype_of(l->x)))                                     \
  CALL(take_at_own, un_take(l->v, 0, l->x))                                                 \
  CALL(one_hot_of_own, un_one_hot(l->x, 7, UN_I32))                                         \
  CALL(exp_minus_itself, un_sub(un_exp(un_muls(l->x, 16)), un_exp(un_muls(l->x, 16))))      \
  CALL(exp2_minus_itself, un_sub(un_exp2(un_muls(l->x, 32)), un_exp2(un_muls(l->x, 32))))   \
  CALL(one_hot_matmul, un_matmul(un_one_hot(l->k, ROWS, un_dtype_of(l->x)), l->y))          \
  CALL(arange, un_add(un_arange(l->cx, un_dtype_of(l->x), 1, (double)COLUMNS + 1, 1), l->v))                  \
  CALL(eye, un_mul(un_eye(l->cx, un_dtype_of(l->x), ROWS, COLUMNS), l->y))                  \
  CALL(full, un_full(l->cx, un_dtype_of(l->x), D(2, 3, 2, 0), 1))                           \
  CALL(contiguous, un_add(un_contiguous(un_transpose(l->x, 0, 1)), un_transpose(l->y, 0, 1))) \
  CALL(detach, un_neg(un_detach(l->y)))                                                     \
  CALL(diamond, un_add(un_sum(un_mul(l->y, l->y), D(1, 1, 0, 0), true), un_mul(l->y, l->y)))

static void run_dtype(un_ctx *cx, un_dtype d, sizes size) {
  leaves at, *l = &at;
  make_leaves(l, cx, d, size);
#define UNARY(name) check(l, un_##name(l->x), #name, d);
#define BINARY(name) check(l, un_##name(l->x, l->y), #name, d);
#include "tensor/tensor.def"
#define CALL(name, expr) check(l, expr, #name, d);
  CALLS(CALL)
  static const un_dtype same_size[] = {[1] = UN_U8, [2] = UN_I16, [4] = UN_U32, [8] = UN_I64};
  check(l, un_bitcast(l->x, same_size[un_dtype_size(d)]), "bitcast", d);
  for (size_t i = 0; i < l->n; i++) free(l->data[i]);
}

/* Without names all are. */
static bool is_wanted(un_dtype d, char **names) {
  if (!*names) return true;
  while (*names && strcmp(*names, un_dtype_name(d)) != 0) names++;
  return *names != NULL;
}

int main(int argc, char **argv) {
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  bool large = argc > 2 && !strcmp(argv[2], "large");
  char **names = argv + (argc < 2 ? argc : large ? 3 : 2);
  sizes size = large ? (sizes){150, 259, 60} : (sizes){5, 7, 1};
  if (argc > 1) opt.device = argv[1];
  un_ctx *cx;
  if (!strncmp(opt.device, "cuda", 4) && !un_device_count("cuda")) return printf("1..0 # SKIP calls on %s: there is no GPU\n", opt.device), 0;
  if (un_ctx_create(&opt, &cx) != UN_OK) return printf("Bail out! no device %s\n", opt.device), 1;
  for (int d = FIRST; d <= LAST; d++) {
    if (!is_wanted((un_dtype)d, names)) continue;
    un_scope_push(cx);
    run_dtype(cx, (un_dtype)d, size);
    un_scope_pop(cx);
  }
  un_collect(cx);
  un_stats s = UN_STATS_INIT;
  un_get_stats(cx, &s);
  report(s.live_nodes == 0 && s.bytes_live == 0, "nothing is left", UN_VOID, "");
  printf("1..%d\n# %d calls refused their dtype\n", tests, refused);
  un_ctx_destroy(cx);
  return failures != 0;
}
