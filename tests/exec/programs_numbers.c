/* programs_numbers.c - algorithms on numbers: indices, bits, scans, sorting, transforms, iterations. */
#include "programs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- indices and positions ---- */

static un_tensor *integers(un_dtype d, const int64_t *v, int64_t n) {
  return un_contiguous(un_cast(un_from_data(cx, UN_I64, un_shape(1, n), v), d));
}

/* Elements, rows and one-hots by index of every integer dtype; what lies outside on either side is 0. In u64 the negative
 * ones are numbers that no i64 holds. */
void indices(void) {
  enum { ROWS = 9, COLUMNS = 6, N = 16 };
  static const int64_t at[N] = {3, 0, 8, 9, 100, 7, 7, 1, -1, -128, 2, 5, 4, 6, 3, 127};
  float table[ROWS * COLUMNS], rows[N * COLUMNS] = {0}, hot[N * ROWS], column[N] = {0}, most[ROWS] = {0};
  fill(table, ROWS * COLUMNS);
  for (int i = 0; i < N; i++) {
    bool inside = at[i] >= 0 && at[i] < ROWS;
    if (inside) memcpy(rows + i * COLUMNS, table + at[i] * COLUMNS, COLUMNS * sizeof *rows);
    if (inside) column[i] = table[at[i] * COLUMNS + 2];
    for (int j = 0; j < ROWS; j++) hot[i * ROWS + j] = at[i] == j, most[j] = fmaxf(most[j], hot[i * ROWS + j]);
  }
  un_tensor *x = floats(table, un_shape(2, ROWS, COLUMNS));
  for (int d = UN_I8; d <= UN_U64; d++) {
    char name[64];
    un_tensor *i = integers((un_dtype)d, at, N);
    un_realize(cx, 1, &i);
    snprintf(name, sizeof name, "rows by %s", un_dtype_name((un_dtype)d));
    same(name, un_embedding(x, i), rows, N * COLUMNS, 0, 1);
    snprintf(name, sizeof name, "elements by %s", un_dtype_name((un_dtype)d));
    same(name, un_gather(un_select(x, 1, 2), 0, un_slice(i, 0, 0, N, 1)), column, N, 0, 1);
    snprintf(name, sizeof name, "one-hot of %s", un_dtype_name((un_dtype)d));
    same(name, un_one_hot(i, ROWS, UN_F32), hot, N * ROWS, 0, 1);
    snprintf(name, sizeof name, "one-hot of %s, reduced", un_dtype_name((un_dtype)d));
    same(name, un_max(un_one_hot(i, ROWS, UN_F32), un_list(0), false), most, ROWS, 0, 1);
  }
}

void slices(void) {
  enum { A = 7, B = 11, C = 5 };
  static const struct { int axis; int64_t start, stop, step; } cases[] = {
    {0, UN_OPEN, UN_OPEN, -1}, {1, 8, 2, -2}, {1, -1, 0, -3}, {2, UN_OPEN, UN_OPEN, 2}, {1, 3, 100, 4},
    {1, -100, -2, 3}, {2, 4, UN_OPEN, -4}, {1, 10, UN_OPEN, -7}, {0, UN_OPEN, UN_OPEN, -INT64_MAX},
    {2, UN_OPEN, UN_OPEN, INT64_MIN}};
  static const int size[] = {A, B, C};
  int32_t v[A * B * C], want[A * B * C];
  for (int i = 0; i < A * B * C; i++) v[i] = i;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    int64_t n = size[cases[k].axis], step = cases[k].step, start = cases[k].start, stop = cases[k].stop, at[B], count = 0;
    if (start == UN_OPEN) start = step > 0 ? 0 : n - 1;
    else if (start < 0) start = start + n < 0 ? 0 : start + n;
    if (stop == UN_OPEN) stop = step > 0 ? n : -1;
    else if (stop < 0) stop += n;
    for (int64_t i = start; step > 0 ? i < stop && i < n : i > stop && i >= 0; i += step) at[count++] = i;
    int64_t d[3] = {A, B, C};
    d[cases[k].axis] = count;
    size_t m = 0;     /* seen with the axes turned round and the middle one backwards */
    for (int64_t c = 0; c < d[2]; c++)
      for (int64_t a = 0; a < d[0]; a++)
        for (int64_t b = d[1] - 1; b >= 0; b--) {
          int64_t i[3] = {a, b, c};
          i[cases[k].axis] = at[i[cases[k].axis]];
          want[m++] = v[(i[0] * B + i[1]) * C + i[2]];
        }
    un_tensor *s = un_slice(ints(v, un_shape(3, A, B, C)), cases[k].axis, cases[k].start, cases[k].stop, step);
    same("slice, flip, permute", un_permute(un_flip(s, un_list(1)), un_list(2, 0, 1)), want, m, 0, 1);
  }
}

void triangles(void) {
  enum { N = 9 };
  float v[N * N], upper[N * N], diagonal[N], trace = 0;
  fill(v, N * N);
  for (int i = 0; i < N * N; i++) upper[i] = i % N >= i / N ? v[i] : 0;
  for (int i = 0; i < N; i++) trace += diagonal[i] = v[i * N + i];
  un_tensor *x = floats(v, un_shape(2, N, N)), *column = un_arange(cx, UN_I32, 0, N, 1), *row = un_unsqueeze(column, 1);
  same("upper triangle", un_where(un_ge(column, row), x, un_scalar(cx, UN_F32, 0)), upper, N * N, 0, 1);
  un_tensor *on = un_cast(un_eq(row, column), UN_F32);
  same("trace", un_sum(un_mul(on, x), un_every_axis(), false), &trace, 1, 0, 1);
  un_tensor *longer = un_reshape(un_pad(un_flatten(x, 0, 1), un_list(0), un_list(N)), un_shape(2, N, N + 1));
  same("diagonal by movement", un_select(longer, 1, 0), diagonal, N, 0, 1);
}

/* ---- integers ---- */

static int32_t floor_div(int32_t a, int32_t b) { return b ? a / b - (a % b && (a < 0) != (b < 0)) : 0; }
static int32_t floor_mod(int32_t a, int32_t b) { return b ? a - b * floor_div(a, b) : a; }

/* Divisors that are known only as numbers in a loop, 0 and -1 among them; results in a dtype of two operands. */
void promotion(void) {
  enum { N = 37 };
  static const double first[] = {0, -20, 3, -36, 17}, step[] = {-1, 1, 1, 1, -2};
  int32_t v[N], div[N], mod[N], trunc_div[N], trunc_mod[N];
  for (int i = 0; i < N; i++) v[i] = (int32_t)(random_u32() % 200) - 100;
  for (int k = 0; k < 5; k++) {
    for (int i = 0; i < N; i++) {
      int32_t b = (int32_t)(first[k] + i * step[k]);
      div[i] = floor_div(v[i], b), mod[i] = floor_mod(v[i], b);
      trunc_div[i] = b ? v[i] / b : 0, trunc_mod[i] = b ? v[i] % b : v[i];
    }
    un_tensor *x = ints(v, un_shape(1, N)), *b = un_arange(cx, UN_I32, first[k], first[k] + N * step[k], step[k]);
    same("floor division by a range", un_floordiv(x, b), div, N, 0, 1);
    same("floor modulus by a range", un_floormod(x, b), mod, N, 0, 1);
    same("truncating division by a range", un_truncdiv(x, b), trunc_div, N, 0, 1);
    same("truncating modulus by a range", un_truncmod(x, b), trunc_mod, N, 0, 1);
    /* A divisor chosen of two ranges. */
    for (int i = 0; i < N; i++) div[i] = floor_div(v[i], (int32_t)(first[k] + (v[i] > 0 ? i : N - 1 - i) * step[k]));
    un_tensor *chosen = un_where(un_gts(x, 0), b, un_flip(b, un_list(0)));
    same("division by one of two ranges", un_floordiv(x, chosen), div, N, 0, 1);
  }
  const int16_t small[] = {-300, 7, 32000};
  const uint16_t large[] = {65535, 7, 1};
  un_tensor *sum = un_add(un_from_data(cx, UN_I16, un_shape(1, 3), small), un_from_data(cx, UN_U16, un_shape(1, 3), large));
  same("i16 + u16 is i32", sum, (const int32_t[]){65235, 14, 32001}, 3, 0, 1);
}

/* Two numbers of 16 bits to a word, doubled before bytes multiply them. */
static void doubled_halves(void) {
  enum { N = 1024, K = 2 };
  int16_t a[N * K];
  uint8_t b[N * K];
  int32_t want[N] = {0};
  for (int i = 0; i < N * K; i++) {
    a[i] = (int16_t)random_u32(), b[i] = (uint8_t)random_u32();
    want[i / K] += (int16_t)(2 * a[i]) * b[i];
  }
  un_tensor *x = un_from_data(cx, UN_I16, un_shape(2, N, K), a), *y = un_from_data(cx, UN_U8, un_shape(2, N, K), b);
  un_tensor *z = un_mul(un_cast(un_add(x, x), UN_I32), un_cast(y, UN_I32));
  same("doubled halves of words by bytes", un_sum(z, un_list(1), false), want, N, 0, 1);
}

/* Sums of products of what fits a byte, cut out of words by loads or by shifts and changed before it is multiplied: compilers
 * have instructions for such sums, and take a factor by its place in the word. */
void byte_products(void) {
  enum { N = 24, K = 4, CHANGES = 7 };
  static const char *const change[CHANGES] = {"as they are", "doubled", "times 4", "halved", "shifted right", "negated", "low bits"};
  int8_t a[N * K], b[N * K];
  int32_t w[N], plain[N], numbered[N], high[N] = {0};
  for (int i = 0; i < N * K; i++) a[i] = (int8_t)random_u32(), b[i] = (int8_t)random_u32();
  un_tensor *x = un_from_data(cx, UN_I8, un_shape(2, N, K), a), *y = un_from_data(cx, UN_I8, un_shape(2, N, K), b);
  un_tensor *wide = un_cast(x, UN_I32), *number = un_arange(cx, UN_I32, 1, K + 1, 1);
  un_tensor *changed[CHANGES] = {y, un_add(y, y), un_muls(y, 4), un_truncdivs(y, 2), un_shrs(y, 3), un_neg(y), un_ands(y, 7)};
  for (int c = 0; c < CHANGES; c++) {
    char name[64];
    memset(plain, 0, sizeof plain);
    memset(numbered, 0, sizeof numbered);
    for (int i = 0; i < N * K; i++) {
      int v = b[i];
      const int new[CHANGES] = {v, (int8_t)(2 * v), (int8_t)(4 * v), v / 2, v >> 3, (int8_t)-v, v & 7};
      plain[i / K] += a[i] * new[c];
      numbered[i / K] += (i % K + 1) * new[c];
    }
    un_tensor *z = un_cast(changed[c], UN_I32);
    snprintf(name, sizeof name, "products of bytes, %s", change[c]);
    same(name, un_sum(un_mul(wide, z), un_list(1), false), plain, N, 0, 1);
    snprintf(name, sizeof name, "bytes by numbers, %s", change[c]);
    same(name, un_sum(un_mul(z, number), un_list(1), false), numbered, N, 0, 1);
  }
  doubled_halves();
  for (int i = 0; i < N; i++) {
    w[i] = (int32_t)random_u32();
    for (int k = 0; k < K; k++) high[i] += a[i * K + k] * ((int32_t)((uint32_t)w[i] << (24 - 8 * k)) >> 28);
  }
  un_tensor *left = un_shl(ints(w, un_shape(2, N, 1)), un_arange(cx, UN_I32, 24, -8, -8));
  same("high halves of a word's bytes", un_sum(un_mul(wide, un_shrs(left, 28)), un_list(1), false), high, N, 0, 1);
}

void bits(void) {
  enum { N = 100 };
  uint8_t bytes[N], bit[N * 8];
  uint32_t words[N], ones[N] = {0};
  for (int i = 0; i < N; i++) bytes[i] = (uint8_t)random_u32(), words[i] = random_u32();
  for (int i = 0; i < N * 8; i++) bit[i] = bytes[i / 8] >> (7 - i % 8) & 1;
  for (int i = 0; i < N * 32; i++) ones[i / 32] += words[i / 32] >> i % 32 & 1;
  un_tensor *shift = un_arange(cx, UN_U8, 7, -1, -1);
  un_tensor *b = un_ands(un_shr(un_unsqueeze(un_from_data(cx, UN_U8, un_shape(1, N), bytes), 1), shift), 1);
  same("bytes to bits", b, bit, N * 8, 0, 1);
  same("and back", un_cast(un_sum(un_shl(b, shift), un_list(1), false), UN_U8), bytes, N, 0, 1);
  un_tensor *x = un_from_data(cx, UN_U32, un_shape(1, N), words);
  x = un_sub(x, un_ands(un_shrs(x, 1), 0x55555555));
  x = un_add(un_ands(x, 0x33333333), un_ands(un_shrs(x, 2), 0x33333333));
  x = un_shrs(un_muls(un_ands(un_add(x, un_shrs(x, 4)), 0x0f0f0f0f), 0x01010101), 24);
  same("count of ones", x, ones, N, 0, 1);
}

void hashing(void) {
  enum { N = 500 };
  uint32_t h[N];
  uint64_t g[N];
  for (int i = 0; i < N; i++) h[i] = random_u32(), g[i] = (uint64_t)random_u32() << 32 | random_u32();
  un_tensor *x = un_from_data(cx, UN_U32, un_shape(1, N), h), *y = un_from_data(cx, UN_U64, un_shape(1, N), g);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < N; i++) {
      h[i] = (h[i] ^ h[i] >> 16) * 0x85ebca6bu;
      h[i] = (h[i] ^ h[i] >> 13) * 0xc2b2ae35u;
      h[i] ^= h[i] >> 16;
    }
    x = un_muls(un_xor(x, un_shrs(x, 16)), 0x85ebca6bu);
    x = un_muls(un_xor(x, un_shrs(x, 13)), 0xc2b2ae35u);
    x = un_xor(x, un_shrs(x, 16));
  }
  same("three rounds of a hash of u32", x, h, N, 0, 1);
  static const uint64_t factor[] = {0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu};
  for (int i = 0; i < N; i++) {
    g[i] = (g[i] ^ g[i] >> 30) * factor[0];
    g[i] = (g[i] ^ g[i] >> 27) * factor[1];
    g[i] ^= g[i] >> 31;
  }
  y = un_mul(un_xor(y, un_shrs(y, 30)), un_from_data(cx, UN_U64, un_shape(0), &factor[0]));
  y = un_mul(un_xor(y, un_shrs(y, 27)), un_from_data(cx, UN_U64, un_shape(0), &factor[1]));
  same("a hash of u64", un_xor(y, un_shrs(y, 31)), g, N, 0, 1);
}

void histogram(void) {
  enum { N = 1000, BINS = 17 };
  uint8_t v[N];
  int32_t want[BINS] = {0};
  for (int i = 0; i < N; i++) want[v[i] = (uint8_t)(random_u32() % BINS)]++;
  un_tensor *bins = un_unsqueeze(un_arange(cx, UN_U8, 0, BINS, 1), 1);
  un_tensor *hits = un_eq(bins, un_from_data(cx, UN_U8, un_shape(1, N), v));
  same("histogram", un_sum(hits, un_list(1), false), want, BINS, 0, 1);
}

/* ---- scans and sorting ---- */

void prefix_sums(void) {
  enum { ROWS = 3, N = 64 };
  int32_t v[ROWS * N], sum[ROWS * N], most[ROWS * N];
  for (int i = 0; i < ROWS * N; i++) {
    v[i] = (int32_t)(random_u32() % 1000) - 500;
    sum[i] = i % N ? sum[i - 1] + v[i] : v[i];
    most[i] = i % N && most[i - 1] > v[i] ? most[i - 1] : v[i];
  }
  un_tensor *x = ints(v, un_shape(2, ROWS, N)), *at = un_arange(cx, UN_I32, 0, N, 1);
  un_tensor *below = un_cast(un_le(un_unsqueeze(at, 1), at), UN_I32);
  same("prefix sums by a triangle", un_matmul(x, below), sum, ROWS * N, 0, 1);
  /* Row i of the skewed square begins i + 1 places earlier, so that it ends in elements 0 to i. */
  un_tensor *wide = un_expand(un_unsqueeze(un_pad(x, un_list(0, N - 1), un_list(0, 0)), 1), un_shape(3, ROWS, N + 1, 2 * N - 1));
  un_tensor *skewed = un_slice(un_reshape(wide, un_shape(2, ROWS, -1)), 1, 0, 2 * N * N, 1);
  skewed = un_slice(un_reshape(skewed, un_shape(3, ROWS, N, 2 * N)), 2, 0, N, 1);
  same("prefix sums by movement", un_sum(skewed, un_list(1), false), sum, ROWS * N, 0, 1);
  un_tensor *s = x, *m = x;
  for (int k = 1; k < N; k *= 2) {
    s = un_add(s, un_slice(un_pad(s, un_list(0, k), un_list(0, 0)), 1, 0, N, 1));
    m = un_maximum(m, un_slice(un_pad_value(m, un_list(0, k), un_list(0, 0), INT32_MIN), 1, 0, N, 1));
  }
  same("prefix sums by doubling", s, sum, ROWS * N, 0, 0);
  same("prefix maxima by doubling", m, most, ROWS * N, 0, 0);
}

void tree_sum(void) {
  enum { N = 256 };
  int64_t v[N], sum = 0;
  for (int i = 0; i < N; i++) sum += v[i] = (int64_t)random_u32() - 1000;
  un_tensor *x = un_from_data(cx, UN_I64, un_shape(1, N), v);
  while (un_numel(x) > 1) {
    x = un_reshape(x, un_shape(2, -1, 2));
    x = un_add(un_select(x, 1, 0), un_select(x, 1, 1));
  }
  same("sum as a tree", x, &sum, 1, 0, 0);
}

void sorting(void) {
  enum { N = 32 };
  int32_t v[N], want[N];
  for (int i = 0; i < N; i++) {
    int32_t e = v[i] = (int32_t)(random_u32() % 1000) - 500;
    int k = i;
    for (; k && want[k - 1] > e; k--) want[k] = want[k - 1];
    want[k] = e;
  }
  un_tensor *x = ints(v, un_shape(1, N)), *at = un_arange(cx, UN_I32, 0, N, 1);
  for (int run = 2; run <= N; run *= 2)
    for (int j = run / 2; j; j /= 2) {
      un_dims pairs = un_shape(3, N / (2 * j), 2, j);
      un_tensor *p = un_reshape(x, pairs), *a = un_select(p, 1, 0), *b = un_select(p, 1, 1);
      un_tensor *up = un_eqs(un_ands(un_select(un_reshape(at, pairs), 1, 0), run), 0), *low = un_minimum(a, b), *high = un_maximum(a, b);
      un_tensor *part[] = {un_where(up, low, high), un_where(up, high, low)};
      x = un_reshape(un_stack(cx, 2, part, 1), un_shape(1, N));
    }
  same("sorting network", x, want, N, 0, 0);
}

/* ---- transforms and grids ---- */

void fourier(void) {
  enum { N = 64, BITS = 6 };
  static const double tau = 6.283185307179586;
  float re[N], im[N], want_re[N], want_im[N];
  fill(re, N);
  fill(im, N);
  for (int k = 0; k < N; k++) {
    double a = 0, b = 0;
    for (int i = 0; i < N; i++) {
      double c = cos(tau * (i * k % N) / N), s = -sin(tau * (i * k % N) / N);
      a += (double)re[i] * c - (double)im[i] * s, b += (double)re[i] * s + (double)im[i] * c;
    }
    want_re[k] = (float)a, want_im[k] = (float)b;
  }
  un_dims bit = un_shape(BITS, 2, 2, 2, 2, 2, 2), reversed = un_list(5, 4, 3, 2, 1, 0);
  un_tensor *r = un_reshape(un_permute(un_reshape(floats(re, un_shape(1, N)), bit), reversed), un_shape(1, N));
  un_tensor *i = un_reshape(un_permute(un_reshape(floats(im, un_shape(1, N)), bit), reversed), un_shape(1, N));
  for (int m = 2; m <= N; m *= 2) {
    un_dims half = un_shape(3, N / m, 2, m / 2);
    un_tensor *angle = un_muls(un_arange(cx, UN_F32, 0, m / 2, 1), -tau / m), *c = un_cos(angle), *s = un_sin(angle);
    un_tensor *r0 = un_select(un_reshape(r, half), 1, 0), *r1 = un_select(un_reshape(r, half), 1, 1);
    un_tensor *i0 = un_select(un_reshape(i, half), 1, 0), *i1 = un_select(un_reshape(i, half), 1, 1);
    un_tensor *tr = un_sub(un_mul(r1, c), un_mul(i1, s)), *ti = un_add(un_mul(r1, s), un_mul(i1, c));
    un_tensor *real[] = {un_add(r0, tr), un_sub(r0, tr)}, *imaginary[] = {un_add(i0, ti), un_sub(i0, ti)};
    r = un_reshape(un_stack(cx, 2, real, 1), un_shape(1, N));
    i = un_reshape(un_stack(cx, 2, imaginary, 1), un_shape(1, N));
  }
  un_tensor *both[] = {r, i};
  un_realize(cx, 2, both);
  same("real part of a Fourier transform", r, want_re, N, 1e-4, 0);
  same("imaginary part of a Fourier transform", i, want_im, N, 1e-4, 0);
}

void life(void) {
  enum { H = 31, W = 37, STEPS = 4 };
  uint8_t now[H * W], next[H * W];
  for (int i = 0; i < H * W; i++) now[i] = random_u32() % 5 < 2;
  un_tensor *x = un_from_data(cx, UN_U8, un_shape(2, H, W), now);
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < H * W; i++) {
      int around = -now[i];
      for (int k = 0; k < 9; k++) {
        int y = i / W + k / 3 - 1, z = i % W + k % 3 - 1;
        around += y >= 0 && y < H && z >= 0 && z < W && now[y * W + z];
      }
      next[i] = around == 3 || (around == 2 && now[i]);
    }
    memcpy(now, next, sizeof now);
    un_tensor *framed = un_pad(x, un_list(1, 1), un_list(1, 1)), *around = un_neg(x);
    for (int k = 0; k < 9; k++)
      around = un_add(around, un_shrink(framed, un_list(k / 3, k % 3), un_list(k / 3 + H, k % 3 + W)));
    x = un_cast(un_or(un_eqs(around, 3), un_and(un_eqs(around, 2), un_eqs(x, 1))), UN_U8);
  }
  same("game of life, 4 steps in one run", x, now, H * W, 0, STEPS);
}

void mandelbrot(void) {
  enum { H = 24, W = 32, STEPS = 12 };
  int32_t want[H * W] = {0};
  for (int i = 0; i < H * W; i++) {
    float x = (float)(i % W) / 8 - 3, y = (float)(i / W) / 8 - 1.5f, a = 0, b = 0;
    for (int k = 0; k < STEPS; k++) {
      float next = (a * a - b * b) + x;
      b = 2 * a * b + y, a = next;
      want[i] += a * a + b * b < 4;
    }
  }
  un_tensor *x = un_subs(un_divs(un_arange(cx, UN_F32, 0, W, 1), 8), 3);
  un_tensor *y = un_unsqueeze(un_subs(un_divs(un_arange(cx, UN_F32, 0, H, 1), 8), 1.5), 1);
  un_tensor *a = un_zeros(cx, UN_F32, un_shape(2, H, W)), *b = a, *count = un_zeros(cx, UN_I32, un_shape(2, H, W));
  for (int k = 0; k < STEPS; k++) {
    un_tensor *next = un_add(un_sub(un_mul(a, a), un_mul(b, b)), x);
    b = un_add(un_mul(un_muls(a, 2), b), y), a = next;
    count = un_add(count, un_cast(un_lts(un_add(un_mul(a, a), un_mul(b, b)), 4), UN_I32));
  }
  same("mandelbrot set", count, want, H * W, 0, 1);
}

/* Positions of m points on an axis of n, as the elements on both sides and the way between them. */
static void between(int64_t n, int64_t m, un_tensor **low, un_tensor **high, un_tensor **way) {
  un_tensor *at = un_muls(un_arange(cx, UN_F32, 0, (double)m, 1), (double)(n - 1) / (double)m);
  *way = un_sub(at, un_floor(at));
  *low = un_cast(un_floor(at), UN_I32);
  *high = un_minimums(un_adds(*low, 1), (double)n - 1);
}

void resize(void) {
  enum { H = 9, W = 5, TALL = 16, WIDE = 32 };      /* steps of 1/2 and 1/8: exact */
  float v[H * W], want[TALL * WIDE];
  fill(v, H * W);
  for (int i = 0; i < TALL * WIDE; i++) {
    float y = (float)(i / WIDE) / 2, x = (float)(i % WIDE) / 8, f = y - floorf(y), g = x - floorf(x);
    int r = (int)y, c = (int)x, below = r + 1 < H ? r + 1 : H - 1, right = c + 1 < W ? c + 1 : W - 1;
    float top = v[r * W + c] * (1 - g) + v[r * W + right] * g, bottom = v[below * W + c] * (1 - g) + v[below * W + right] * g;
    want[i] = top * (1 - f) + bottom * f;
  }
  un_tensor *t = floats(v, un_shape(2, H, W)), *y0, *y1, *f, *x0, *x1, *g;
  between(H, TALL, &y0, &y1, &f);
  between(W, WIDE, &x0, &x1, &g);
  un_tensor *left = un_take(t, 1, x0), *right = un_take(t, 1, x1), *back = un_add(un_neg(g), un_scalar(cx, UN_F32, 1));
  un_tensor *row = un_add(un_mul(left, back), un_mul(right, g)), *down = un_unsqueeze(f, 1);
  un_tensor *top = un_take(row, 0, y0), *bottom = un_take(row, 0, y1), *up = un_add(un_neg(down), un_scalar(cx, UN_F32, 1));
  same("bilinear resize", un_add(un_mul(top, up), un_mul(bottom, down)), want, TALL * WIDE, 0, 1);
}

/* ---- iterations ---- */

void k_means(void) {
  enum { N = 200, K = 4, ROUNDS = 5 };
  float x[N * 2], centre[K * 2];
  for (int i = 0; i < N * 2; i++) x[i] = (float)(random_u32() % 1024) / 256 + (float)(i / 2 % K * (i % 2 ? 9 : 4));
  memcpy(centre, x, sizeof centre);
  un_tensor *t = floats(x, un_shape(2, N, 2)), *c = floats(centre, un_shape(2, K, 2));
  for (int round = 0; round < ROUNDS; round++) {
    float sum[K * 2] = {0}, count[K] = {0};
    for (int i = 0; i < N; i++) {
      int best = 0;
      float least = INFINITY;
      for (int k = 0; k < K; k++) {
        float p = x[2 * i] - centre[2 * k], q = x[2 * i + 1] - centre[2 * k + 1];
        if (p * p + q * q < least) least = p * p + q * q, best = k;
      }
      sum[2 * best] += x[2 * i], sum[2 * best + 1] += x[2 * i + 1], count[best]++;
    }
    for (int k = 0; k < K * 2; k++) centre[k] = sum[k] / count[k / 2];
    un_tensor *distance = un_sum(un_square(un_sub(un_unsqueeze(t, 1), c)), un_list(2), false);
    un_tensor *mine = un_one_hot(un_argmin(distance, 1, false), K, UN_F32);
    c = un_div(un_matmul(un_transpose(mine, 0, 1), t), un_unsqueeze(un_sum(mine, un_list(0), false), 1));
  }
  same("k-means, 5 rounds in one run", c, centre, K * 2, 1e-4, 0);
}

void power_iteration(void) {
  enum { N = 30, ROUNDS = 30 };
  float a[N * N];
  double v[N];
  fill(a, N * N);
  for (int i = 0; i < N * N; i++) a[i] = i % N <= i / N ? a[i] : a[i % N * N + i / N];
  for (int i = 0; i < N; i++) a[i * N + i] += i == 3 ? 100 : 0, v[i] = 1;
  un_tensor *m = floats(a, un_shape(2, N, N)), *t = un_ones(cx, UN_F32, un_shape(1, N));
  for (int round = 0; round < ROUNDS; round++) {
    double next[N] = {0}, length = 0;
    for (int i = 0; i < N * N; i++) next[i / N] += (double)a[i] * v[i % N];
    for (int i = 0; i < N; i++) length += next[i] * next[i];
    for (int i = 0; i < N; i++) v[i] = next[i] / sqrt(length);
    t = un_matmul(m, t);
    t = un_div(t, un_sqrt(un_sum(un_square(t), un_every_axis(), false)));
  }
  float want[N];
  for (int i = 0; i < N; i++) want[i] = (float)v[i];
  same("power iteration, 30 rounds in one run", t, want, N, 1e-4, 2 * ROUNDS);
}

/* Column by column, realised now and then. */
void cholesky(void) {
  enum { N = 12 };
  float a[N * N];
  double l[N * N] = {0};
  fill(a, N * N);
  for (int i = 0; i < N * N; i++) a[i] = i % N <= i / N ? a[i] / 8 : a[i % N * N + i / N];
  for (int i = 0; i < N; i++) a[i * N + i] += N + 4;
  for (int j = 0; j < N; j++)
    for (int i = j; i < N; i++) {
      double s = (double)a[i * N + j];
      for (int k = 0; k < j; k++) s -= l[i * N + k] * l[j * N + k];
      l[i * N + j] = i == j ? sqrt(s) : s / l[j * N + j];
    }
  un_tensor *x = floats(a, un_shape(2, N, N)), *t = un_zeros(cx, UN_F32, un_shape(2, N, N)), *at = un_arange(cx, UN_I32, 0, N, 1);
  for (int j = 0; j < N; j++) {
    un_tensor *column = un_sub(un_select(x, 1, j), un_matmul(t, un_select(t, 0, j)));
    column = un_where(un_ges(at, j), column, un_scalar(cx, UN_F32, 0));
    column = un_div(column, un_sqrt(un_select(column, 0, j)));
    t = un_add(t, un_mul(un_unsqueeze(column, 1), un_cast(un_eqs(at, j), UN_F32)));
    if (j % 4 == 3) un_realize(cx, 1, &t);
  }
  float want[N * N];
  for (int i = 0; i < N * N; i++) want[i] = (float)l[i];
  same("cholesky", t, want, N * N, 1e-4, 0);
}
