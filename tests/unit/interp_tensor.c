/* The interpreter of tensor programs: one test an idea, expected values written out. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "interp/interp.h"
#include "workspace_suite.h"

WORKSPACE_SUITE(interp_tensor, ws);

#define DIMS(...) (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

static const un_uop *with_sizes(un__op op, un__dtype dt, const un_uop *x, const int64_t *size, size_t n,
                                const int64_t *attr, uint32_t nattr) {
  const un_uop *src[1 + 2 * UN__MAX_RANK];
  uint32_t k = 0;
  if (x) src[k++] = x;
  for (size_t i = 0; i < n; i++) src[k++] = un__idx(ws, size[i]);
  return un__uop(ws, op, dt, src, k, attr, nattr);
}

static const un_uop *buffer(un_dtype dt, int64_t slot, const int64_t *dim, size_t rank) {
  return with_sizes(UN__OP_BUFFER, UN__DT(dt), NULL, dim, rank, (int64_t[]){slot, 0}, 2);
}

static const un_uop *move(un__op op, const un_uop *x, const int64_t *size, size_t n) {
  return with_sizes(op, 0, x, size, n, NULL, 0);
}

static const un_uop *permute(const un_uop *x, const int64_t *perm, size_t n) {
  return un__uop(ws, UN__OP_PERMUTE, 0, &x, 1, perm, (uint32_t)n);
}

static const un_uop *reduce(un__op op, const un_uop *x, int64_t axis) {
  return un__uop(ws, UN__OP_REDUCE_AXIS, 0, &x, 1, (int64_t[]){op, axis}, 2);
}

static const un_uop *scalar_as(const un_uop *c, const int64_t *dim, size_t rank) {
  int64_t ones[UN__MAX_RANK];
  for (size_t i = 0; i < rank; i++) ones[i] = 1;
  return move(UN__OP_EXPAND, move(UN__OP_RESHAPE, c, ones, rank), dim, rank);
}

static un__itensor input(un_dtype dt, const int64_t *dim, size_t rank, void *data) {
  un__itensor t = {.dtype = UN__DT(dt), .rank = (uint32_t)rank, .data = data};
  for (size_t i = 0; i < rank; i++) t.dim[i] = dim[i];
  return t;
}

static void check(const un_uop *root, const un__itensor *in, uint32_t n, const int64_t *dim, size_t rank,
                  const void *want, size_t size) {
  un__itensor out;
  cr_assert_not_null(root, "%s", err.text);
  un_status st = un__interp_tensor(&root, 1, in, n, &out, &err);
  cr_assert_eq(st, UN_OK, "%s", err.text);
  cr_assert_eq(out.rank, rank);
  for (size_t i = 0; i < rank; i++) cr_assert_eq(out.dim[i], dim[i]);
  cr_assert_eq(memcmp(out.data, want, size), 0);
  un__free(out.data);
}

static float six[6] = {1, 2, 3, 4, 5, 6};

Test(interp_tensor, movement) {
  const un_uop *x = buffer(UN_F32, 0, DIMS(2, 3));
  un__itensor in = input(UN_F32, DIMS(2, 3), six);
  const float transposed[] = {1, 4, 2, 5, 3, 6}, flipped[] = {6, 5, 4, 3, 2, 1}, box[] = {2, 3};
  const float padded[] = {0, 0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6}, doubled[] = {1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1};
  check(permute(x, DIMS(1, 0)), &in, 1, DIMS(3, 2), transposed, sizeof transposed);
  const un_uop *flip = un__uop(ws, UN__OP_FLIP, 0, &x, 1, (int64_t[]){3}, 1);
  check(flip, &in, 1, DIMS(2, 3), flipped, sizeof flipped);
  check(move(UN__OP_SHRINK, x, DIMS(0, 1, 1, 3)), &in, 1, DIMS(1, 2), box, sizeof box);
  check(move(UN__OP_PAD, x, DIMS(1, 1, 0, 0)), &in, 1, DIMS(3, 4), padded, sizeof padded);
  const un_uop *pair[] = {x, flip};
  check(un__uop(ws, UN__OP_STACK, 0, pair, 2, NULL, 0), &in, 1, DIMS(2, 2, 3), doubled, sizeof doubled);
  check(x, &in, 1, DIMS(2, 3), six, sizeof six);
}

Test(interp_tensor, matmul_by_views) {
  const un_uop *a = buffer(UN_F32, 0, DIMS(2, 3)), *b = buffer(UN_F32, 1, DIMS(3, 2));
  const un_uop *wide_a = move(UN__OP_EXPAND, move(UN__OP_RESHAPE, a, DIMS(2, 1, 3)), DIMS(2, 2, 3));
  const un_uop *wide_b =
      move(UN__OP_EXPAND, move(UN__OP_RESHAPE, permute(b, DIMS(1, 0)), DIMS(1, 2, 3)), DIMS(2, 2, 3));
  const un_uop *c = reduce(UN__OP_ADD, un__binary(ws, UN__OP_MUL, wide_a, wide_b), 2);
  un__itensor in[2] = {input(UN_F32, DIMS(2, 3), six), input(UN_F32, DIMS(3, 2), six)};
  const float want[] = {22, 28, 49, 64};
  check(c, in, 2, DIMS(2, 2), want, sizeof want);
}

Test(interp_tensor, reductions_of_every_kind) {
  int8_t data[6] = {100, 100, -7, 3, -128, 127};
  const un_uop *x = buffer(UN_I8, 0, DIMS(2, 3));
  un__itensor in = input(UN_I8, DIMS(2, 3), data);
  const int8_t sum[] = {(int8_t)193, 2}, product[] = {(int8_t)-70000, (int8_t)(3 * -128 * 127)}, most[] = {100, 127},
               least[] = {-7, -128};
  check(reduce(UN__OP_ADD, x, 1), &in, 1, DIMS(2), sum, 2);
  check(reduce(UN__OP_MUL, x, 1), &in, 1, DIMS(2), product, 2);
  check(reduce(UN__OP_MAX, x, 1), &in, 1, DIMS(2), most, 2);
  check(reduce(UN__OP_MIN, x, 1), &in, 1, DIMS(2), least, 2);
}

Test(interp_tensor, empty_reductions_give_the_identity) {
  const un_uop *x = buffer(UN_F32, 0, DIMS(0, 2));
  un__itensor in = input(UN_F32, DIMS(0, 2), six);
  const float zero[] = {0, 0}, low[] = {-INFINITY, -INFINITY};
  check(reduce(UN__OP_ADD, x, 0), &in, 1, DIMS(2), zero, sizeof zero);
  check(reduce(UN__OP_MAX, x, 0), &in, 1, DIMS(2), low, sizeof low);
}

Test(interp_tensor, gather_with_valid) {
  const un_uop *x = buffer(UN_F32, 0, DIMS(3)), *at = buffer(UN_I32, 1, DIMS(4));
  const un_uop *i = un__cast(ws, UN__DT(UN_INDEX), at);
  const un_uop *zero = scalar_as(un__idx(ws, 0), DIMS(4)), *three = scalar_as(un__idx(ws, 3), DIMS(4));
  const un_uop *below = un__binary(ws, UN__OP_LT, i, three), *negative = un__binary(ws, UN__OP_LT, i, zero);
  const un_uop *holds = un__binary(ws, UN__OP_AND, un__unary(ws, UN__OP_NOT, negative), below);
  const un_uop *src[] = {x, un__binary(ws, UN__OP_VALID, i, holds)};
  int32_t where[4] = {2, -1, 0, 3};
  un__itensor in[2] = {input(UN_F32, DIMS(3), six), input(UN_I32, DIMS(4), where)};
  const float want[] = {3, 0, 1, 0};
  check(un__uop(ws, UN__OP_INDEX, UN__DT(UN_F32), src, 2, NULL, 0), in, 2, DIMS(4), want, sizeof want);
  src[1] = i;
  const un_uop *wild = un__uop(ws, UN__OP_INDEX, UN__DT(UN_F32), src, 2, NULL, 0);
  un__itensor out;
  cr_assert_eq(un__interp_tensor(&wild, 1, in, 2, &out, &err), UN_ERR_INTERNAL);
  cr_assert_null(out.data);
}

Test(interp_tensor, several_roots_share_work) {
  const un_uop *x = buffer(UN_F32, 0, DIMS(6)), *y = un__unary(ws, UN__OP_NEG, x),
               *roots[] = {y, un__binary(ws, UN__OP_MUL, y, y), x};
  un__itensor in = input(UN_F32, DIMS(6), six), out[3];
  cr_assert_eq(un__interp_tensor(roots, 3, &in, 1, out, &err), UN_OK, "%s", err.text);
  for (int i = 0; i < 6; i++) {
    cr_assert_eq(((float *)out[0].data)[i], -six[i]);
    cr_assert_eq(((float *)out[1].data)[i], six[i] * six[i]);
    cr_assert_eq(((float *)out[2].data)[i], six[i]);
  }
  for (int i = 0; i < 3; i++) un__free(out[i].data);
}

Test(interp_tensor, iota_and_casts) {
  const un_uop *n = un__idx(ws, 5), *iota = un__uop(ws, UN__OP_IOTA, UN__DT(UN_U8), &n, 1, NULL, 0);
  const un_uop *x = un__cast(ws, UN__DT(UN_F16), iota);
  const uint16_t want[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400};
  check(x, NULL, 0, DIMS(5), want, sizeof want);
}

Test(interp_tensor, wrong_inputs_are_refused) {
  const un_uop *x = buffer(UN_F32, 0, DIMS(2, 3));
  un__itensor in = input(UN_F32, DIMS(3, 2), six), out;
  cr_assert_eq(un__interp_tensor(&x, 1, &in, 1, &out, &err), UN_ERR_INVALID_ARG);
  un__err_clear(&err);
  cr_assert_eq(un__interp_tensor(&x, 1, &in, 0, &out, &err), UN_ERR_INVALID_ARG);
}

/* A chain longer than any stack would take. */
Test(interp_tensor, deep_chains) {
  const un_uop *x = buffer(UN_I32, 0, DIMS(2)), *y = x;
  for (int i = 0; i < 200000; i++) y = un__binary(ws, i % 2 ? UN__OP_XOR : UN__OP_ADD, y, x);
  int32_t data[2] = {3, 5};
  un__itensor in = input(UN_I32, DIMS(2), data), out;
  cr_assert_eq(un__interp_tensor(&y, 1, &in, 1, &out, &err), UN_OK, "%s", err.text);
  un__free(out.data);
}
