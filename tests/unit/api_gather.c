/* api_gather.c - elements by index from stored data, on every device that runs: an index outside the axis gives 0,
 * whatever its dtype, and nothing is ever read outside the tensor. */
#include <criterion/criterion.h>

#include <stdint.h>
#include <string.h>

#include <unir/unir.h>

static un_ctx *cx;

/* Runs the rest of the test once for each device; the last round leaves cx NULL. */
static bool next_device(int *i) {
  static const char *const devices[] = {"interp", "cpu"};
  if (cx) {
    cr_expect_eq(un_error_status(cx), UN_OK, "%s: %s", un_device(cx), un_error(cx));
    un_ctx_destroy(cx);
  }
  cx = NULL;
  for (; *i < 2; ++*i) {
    bool built = false;
    for (size_t k = 0; un_device_kind(k); k++) built |= !strcmp(un_device_kind(k), devices[*i]);
    if (!built) continue;
    un_ctx_options opt = UN_CTX_OPTIONS_INIT;
    opt.device = devices[(*i)++];
    cr_assert_eq(un_ctx_create(&opt, &cx), UN_OK);
    return true;
  }
  return false;
}

#define FOR_EACH_DEVICE for (int device_ = 0; next_device(&device_);)

static void reads(int line, un_tensor *t, size_t n, const float *want) {
  float have[64];
  cr_assert_eq((un_read)(t, have, n * sizeof *have), UN_OK, "line %d, %s: %s", line, un_device(cx), un_error(cx));
  for (size_t i = 0; i < n; i++)
    cr_expect_eq(have[i], want[i], "line %d, %s: element %zu is %g, expected %g", line, un_device(cx), i, have[i],
                 want[i]);
}
#define READS(t, n, ...) reads(__LINE__, (t), (n), (const float[]){__VA_ARGS__})

static un_tensor *table(void) {
  static const float v[] = {1, 2, 3, 4, 5, 6};
  return un_from_data(cx, UN_F32, un_shape(2, 3, 2), v);
}

/* 0, the last row, one past it, and the extremes of the dtype. */
#define EXTREMES(type, dtype, lo, hi)                                                                                  \
  do {                                                                                                                 \
    const type at[] = {0, 2, 3, (lo), (hi), 1};                                                                        \
    un_tensor *i = un_from_data(cx, (dtype), un_shape(1, 6), at);                                                      \
    float row0 = (lo) == 0 ? 1 : 0, row1 = (lo) == 0 ? 2 : 0;                                                          \
    READS(un_embedding(table(), i), 12, 1, 2, 5, 6, 0, 0, row0, row1, 0, 0, 3, 4);                                     \
    READS(un_sum(un_one_hot(i, 3, UN_F32), un_list(1), false), 6, 1, 1, 0, row0, 0, 1);                                \
    un_tensor *column = un_expand(un_reshape(un_slice(i, 0, 0, 5, 1), un_shape(2, 5, 1)), un_shape(2, 5, 2));          \
    READS(un_gather(table(), 0, column), 10, 1, 2, 5, 6, 0, 0, row0, row1, 0, 0);                                      \
  } while (0)

Test(gather, extremes_of_every_integer_dtype) {
  FOR_EACH_DEVICE {
    EXTREMES(int8_t, UN_I8, INT8_MIN, INT8_MAX);
    EXTREMES(uint8_t, UN_U8, 0, UINT8_MAX);
    EXTREMES(int16_t, UN_I16, INT16_MIN, INT16_MAX);
    EXTREMES(uint16_t, UN_U16, 0, UINT16_MAX);
    EXTREMES(int32_t, UN_I32, INT32_MIN, INT32_MAX);
    EXTREMES(uint32_t, UN_U32, 0, UINT32_MAX);
    EXTREMES(int64_t, UN_I64, INT64_MIN, INT64_MAX);
    EXTREMES(uint64_t, UN_U64, 0, UINT64_MAX);
  }
}

Test(gather, negative_positions_are_outside) {
  FOR_EACH_DEVICE {
    const int8_t at[] = {-1, -3, 1, -128};
    un_tensor *i = un_from_data(cx, UN_I8, un_shape(1, 4), at);
    READS(un_take(table(), 0, i), 8, 0, 0, 0, 0, 3, 4, 0, 0);
    READS(un_take(table(), 1, i), 12, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 6, 0);
  }
}

/* A large index that wraps in 32 bits, or whose row number times the row size does, is outside like any other. */
Test(gather, nothing_wraps_into_range) {
  FOR_EACH_DEVICE {
    const int64_t at[] = {INT64_C(1) << 32, (INT64_C(1) << 32) + 1, INT64_C(1) << 62, INT64_C(1) << 63 >> 1, 1};
    un_tensor *i = un_from_data(cx, UN_I64, un_shape(1, 5), at);
    READS(un_embedding(table(), i), 10, 0, 0, 0, 0, 0, 0, 0, 0, 3, 4);
    const uint64_t high[] = {UINT64_MAX, (UINT64_C(1) << 63) + 1, UINT64_C(1) << 32, 2};
    READS(un_embedding(table(), un_from_data(cx, UN_U64, un_shape(1, 4), high)), 8, 0, 0, 0, 0, 0, 0, 5, 6);
  }
}

Test(gather, without_elements) {
  FOR_EACH_DEVICE {
    un_tensor *none = un_from_data(cx, UN_I32, un_shape(1, 0), NULL);
    un_tensor *rows = un_embedding(table(), none), *grid = un_take(table(), 1, un_reshape(none, un_shape(2, 3, 0)));
    cr_expect(un_rank(rows) == 2 && un_dim(rows, 0) == 0 && un_dim(rows, 1) == 2);
    cr_expect(un_rank(grid) == 3 && un_numel(grid) == 0);
    un_tensor *both[] = {rows, grid};
    cr_expect_eq(un_realize(cx, 2, both), UN_OK, "%s", un_error(cx));
    READS(un_sum(rows, un_list(0), false), 2, 0, 0);
    const int32_t at[] = {0, -1, 7};
    un_tensor *i = un_from_data(cx, UN_I32, un_shape(1, 3), at);
    READS(un_embedding(un_zeros(cx, UN_F32, un_shape(2, 0, 2)), i), 6, 0, 0, 0, 0, 0, 0);
    READS(un_gather(un_zeros(cx, UN_F32, un_shape(1, 0)), 0, i), 3, 0, 0, 0);
    cr_expect_eq(un_numel(un_one_hot(i, 0, UN_F32)), 0);
    cr_expect_eq(un_numel(un_embedding(un_zeros(cx, UN_F32, un_shape(2, 3, 0)), i)), 0);
  }
}

/* Index tensors are values like others: computed, viewed, padded, put together. */
Test(gather, computed_indices) {
  FOR_EACH_DEVICE {
    const int32_t at[] = {2, 0, 1};
    un_tensor *i = un_from_data(cx, UN_I32, un_shape(1, 3), at);
    READS(un_embedding(table(), un_flip(i, un_list(0))), 6, 3, 4, 1, 2, 5, 6);
    READS(un_embedding(table(), un_pad(i, un_list(1), un_list(1))), 10, 1, 2, 5, 6, 1, 2, 3, 4, 1, 2);
    READS(un_embedding(table(), un_subs(i, 1)), 6, 3, 4, 0, 0, 1, 2);
    un_tensor *two[] = {i, un_muls(i, 2)};
    READS(un_embedding(table(), un_cat(cx, 2, two, 0)), 12, 5, 6, 1, 2, 3, 4, 0, 0, 1, 2, 5, 6);
    READS(un_flip(un_embedding(table(), un_embedding(i, i)), un_list(0)), 6, 1, 2, 5, 6, 3, 4);
  }
}
