#include "cores.h"

enum { ROWS = 16, COLUMNS = 8, TF32_LOST = 13 };

typedef struct element { uint32_t thread, lane; } element;

static uint32_t word_of(const un__icore *x) { return 4u / un__dt_info(x->operand)->size; }

/* Where element k of row r of the left operand is; of column r of the right one, which has no halves of rows. */
static element left_at(const un__icore *x, uint32_t r, uint32_t k) {
  uint32_t e = word_of(x);
  return (element){r % 8 * 4 + k / e % 4, k % e + e * (r / 8 + 2 * (k / (4 * e)))};
}

static element right_at(const un__icore *x, uint32_t c, uint32_t k) {
  uint32_t e = word_of(x);
  return (element){c * 4 + k / e % 4, k % e + e * (k / (4 * e))};
}

static un__value as_tf32(un__value v) {
  if (un__dt_scalar(v.dtype) != UN_F32) return v;
  return un__value_from_bits(v.dtype, un__value_bits(v) >> TF32_LOST << TF32_LOST);
}

static void multiply_one(un__icore *x, uint32_t r, uint32_t c) {
  un__value *out = &x->result[r % 8 * 4 + c / 2][r / 8 * 2 + c % 2];
  bool is_float = un__dt_is_float(x->sum);
  double sum = is_float ? out->f : 0;
  uint64_t whole = is_float ? 0 : (uint64_t)out->i;
  for (uint32_t k = 0; k < 8 * word_of(x); k++) {
    element i = left_at(x, r, k), j = right_at(x, c, k);
    un__value a = as_tf32(x->left[i.thread][i.lane]), b = as_tf32(x->right[j.thread][j.lane]);
    if (is_float) sum += a.f * b.f;
    else whole += (uint64_t)a.i * (uint64_t)b.i;
  }
  *out = is_float ? un__value_f(x->sum, sum) : un__value_i(x->sum, (int64_t)whole);
}

void un__icore_multiply(un__icore *x) {
  for (uint32_t r = 0; r < ROWS; r++)
    for (uint32_t c = 0; c < COLUMNS; c++) multiply_one(x, r, c);
}
