/* programs_layers.c - layers of networks: convolutions, pooling, attention, recurrent cells, losses. */
#include "programs.h"

#include <math.h>
#include <string.h>

/* ---- convolution and pooling ---- */

enum { IMAGES = 2, IN = 3, OUT = 4, HIGH = 12, WIDE = 13, KERNEL = 3 };

/* Windows of both image axes: (n, c, h, w) -> (n, c, rows, columns, KERNEL, KERNEL). */
static un_tensor *patches(un_tensor *x, int64_t step) {
  un_tensor *across = windows(x, KERNEL, step);
  return un_permute(windows(un_permute(across, un_list(0, 1, 3, 4, 2)), KERNEL, step), un_list(0, 1, 4, 2, 5, 3));
}

static size_t convolve(const float *x, const float *w, int step, int pad, float *out) {
  int rows = (HIGH + 2 * pad - KERNEL) / step + 1, columns = (WIDE + 2 * pad - KERNEL) / step + 1;
  size_t n = 0;
  for (int b = 0; b < IMAGES; b++)
    for (int o = 0; o < OUT; o++)
      for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++, n++) {
          out[n] = 0;
          for (int k = 0; k < IN * KERNEL * KERNEL; k++) {
            int i = k / (KERNEL * KERNEL), y = r * step - pad + k / KERNEL % KERNEL, z = c * step - pad + k % KERNEL;
            if (y < 0 || y >= HIGH || z < 0 || z >= WIDE) continue;
            out[n] += x[((b * IN + i) * HIGH + y) * WIDE + z] * w[o * IN * KERNEL * KERNEL + k];
          }
        }
  return n;
}

void convolution(void) {
  float x[IMAGES * IN * HIGH * WIDE], w[OUT * IN * KERNEL * KERNEL], want[IMAGES * OUT * 16 * 16];
  fill(x, sizeof x / sizeof *x);
  fill(w, sizeof w / sizeof *w);
  for (int step = 1; step <= 3; step++)
    for (int pad = 0; pad < 2; pad++) {
      size_t n = convolve(x, w, step, pad, want);
      char name[64];
      un_tensor *image = un_pad(floats(x, un_shape(4, IMAGES, IN, HIGH, WIDE)), un_list(0, 0, pad, pad), un_list(0, 0, pad, pad));
      un_tensor *p = un_permute(patches(image, step), un_list(0, 2, 3, 1, 4, 5));
      int64_t rows = un_dim(p, 1), columns = un_dim(p, 2);
      un_tensor *weight = floats(w, un_shape(6, OUT, 1, 1, IN, KERNEL, KERNEL));
      un_tensor *sum = un_sum(un_mul(un_unsqueeze(p, 1), weight), un_list(-3, -2, -1), false);
      snprintf(name, sizeof name, "convolution, step %d, padding %d", step, pad);
      same(name, sum, want, n, 0, 1);
      un_tensor *columns_of = un_reshape(p, un_shape(2, IMAGES * rows * columns, -1));
      un_tensor *product = un_matmul(columns_of, un_transpose(un_reshape(weight, un_shape(2, OUT, -1)), 0, 1));
      snprintf(name, sizeof name, "convolution as a product, step %d, padding %d", step, pad);
      same(name, un_permute(un_reshape(product, un_shape(4, IMAGES, rows, columns, OUT)), un_list(0, 3, 1, 2)), want, n, 0, 2);
    }
}

void pooling(void) {
  enum { N = 103 };
  float x[IN * HIGH * WIDE], line[4 * N], most[IN * HIGH * WIDE], mean[IN * HIGH * WIDE], part[4 * N];
  fill(x, IN * HIGH * WIDE);
  fill(line, 4 * N);
  for (int step = 1; step <= 3; step++) {
    size_t n = 0;
    for (int c = 0; c < IN; c++)
      for (int r = 0; r + KERNEL <= HIGH; r += step)
        for (int q = 0; q + KERNEL <= WIDE; q += step, n++) {
          most[n] = -INFINITY, mean[n] = 0;
          for (int k = 0; k < KERNEL * KERNEL; k++) {
            float v = x[(c * HIGH + r + k / KERNEL) * WIDE + q + k % KERNEL];
            most[n] = fmaxf(most[n], v), mean[n] += v / (KERNEL * KERNEL);
          }
        }
    un_tensor *p = patches(floats(x, un_shape(4, 1, IN, HIGH, WIDE)), step);
    same("max pooling of an image", un_max(p, un_list(4, 5), false), most, n, 0, 1);
    same("mean pooling of an image", un_mean(p, un_list(4, 5), false), mean, n, 1e-6, 1);
    size_t m = 0;
    for (int r = 0; r < 4; r++)
      for (int i = 0; i + 4 <= N; i += step + 3, m++)
        part[m] = line[r * N + i] + line[r * N + i + 1] + line[r * N + i + 2] + line[r * N + i + 3];
    same("sum pooling of lines", un_sum(windows(floats(line, un_shape(2, 4, N)), 4, step + 3), un_list(-1), false), part, m, 0, 1);
  }
}

/* ---- products ---- */

void products(void) {
  enum { B = 3, C = 2, M = 4, K = 5, N = 6 };
  float a[B * M * K], b[C * K * N], want[B * C * M * N];
  fill(a, sizeof a / sizeof *a);
  fill(b, sizeof b / sizeof *b);
  memset(want, 0, sizeof want);
  for (int i = 0; i < B * C * M * N * K; i++) {
    int k = i % K, n = i / K % N, m = i / K / N % M, c = i / K / N / M % C, h = i / K / N / M / C;
    want[i / K] += a[(h * M + m) * K + k] * b[(c * K + k) * N + n];
  }
  un_tensor *x = floats(a, un_shape(4, B, 1, M, K)), *y = floats(b, un_shape(3, C, K, N));
  same("product with broadcast batches", un_matmul(x, y), want, B * C * M * N, 0, 1);
  float one[N] = {0};
  for (int i = 0; i < K * N; i++) one[i % N] += a[i / N] * b[i];
  un_tensor *row = un_reshape(un_slice(un_flatten(x, 0, -1), 0, 0, K, 1), un_shape(1, K));
  same("row times matrix", un_matmul(row, un_select(y, 0, 0)), one, N, 0, 1);
  un_tensor *none = un_matmul(un_zeros(cx, UN_F32, un_shape(2, M, 0)), un_zeros(cx, UN_F32, un_shape(2, 0, N)));
  same("product over nothing", none, (float[M * N]){0}, M * N, 0, 1);
}

/* ---- attention ---- */

void attention(void) {
  enum { HEADS = 6, T = 17, D = 8 };
  float q[HEADS * T * D], k[HEADS * T * D], v[HEADS * T * D], want[HEADS * T * D];
  fill(q, HEADS * T * D);
  fill(k, HEADS * T * D);
  fill(v, HEADS * T * D);
  for (int i = 0; i < HEADS * T; i++) {
    int first = i / T * T;
    double weight[T], most = -INFINITY, total = 0;
    for (int j = 0; j <= i - first; j++) {
      double dot = 0;
      for (int d = 0; d < D; d++) dot += (double)(q[i * D + d] * k[(first + j) * D + d]);
      most = fmax(most, weight[j] = dot / 16);
    }
    for (int j = 0; j <= i - first; j++) total += weight[j] = exp(weight[j] - most);
    for (int d = 0; d < D; d++) {
      double sum = 0;
      for (int j = 0; j <= i - first; j++) sum += weight[j] / total * (double)v[(first + j) * D + d];
      want[i * D + d] = (float)sum;
    }
  }
  un_dims shape = un_shape(4, 2, HEADS / 2, T, D);
  un_tensor *score = un_divs(un_matmul(floats(q, shape), un_transpose(floats(k, shape), -1, -2)), 16);
  un_tensor *at = un_arange(cx, UN_I32, 0, T, 1), *seen = un_ge(un_unsqueeze(at, 1), at);
  score = un_where(seen, score, un_scalar(cx, UN_F32, -INFINITY));
  same("causal attention", un_matmul(un_softmax(score, -1), floats(v, shape)), want, HEADS * T * D, 1e-5, 4);
}

/* ---- recurrent cells ---- */

static double logistic(double x) { return 1 / (1 + exp(-x)); }

void recurrent(void) {
  enum { STEPS = 4, B = 5, I = 9, H = 16 };
  float x[STEPS * B * I], wx[I * 4 * H], wh[H * 4 * H], bias[4 * H], state[B * H] = {0}, cell[B * H] = {0};
  fill(x, sizeof x / sizeof *x);
  fill(wx, sizeof wx / sizeof *wx);
  fill(wh, sizeof wh / sizeof *wh);
  fill(bias, 4 * H);
  for (int i = 0; i < I * 4 * H; i++) wx[i] /= 64;
  for (int i = 0; i < H * 4 * H; i++) wh[i] /= 64;
  un_tensor *h = un_zeros(cx, UN_F32, un_shape(2, B, H)), *c = h, *tx = floats(x, un_shape(3, STEPS, B, I));
  un_tensor *twx = floats(wx, un_shape(2, I, 4 * H)), *twh = floats(wh, un_shape(2, H, 4 * H)), *tb = floats(bias, un_shape(1, 4 * H));
  for (int t = 0; t < STEPS; t++) {
    float next[B * H];
    for (int e = 0; e < B * H; e++) {
      double gate[4];
      for (int g = 0; g < 4; g++) {
        int j = g * H + e % H;
        gate[g] = (double)bias[j];
        for (int k = 0; k < I; k++) gate[g] += (double)(x[(t * B + e / H) * I + k] * wx[k * 4 * H + j]);
        for (int k = 0; k < H; k++) gate[g] += (double)(state[e / H * H + k] * wh[k * 4 * H + j]);
      }
      cell[e] = (float)(logistic(gate[1]) * (double)cell[e] + logistic(gate[0]) * tanh(gate[2]));
      next[e] = (float)(logistic(gate[3]) * tanh((double)cell[e]));
    }
    memcpy(state, next, sizeof state);
    un_tensor *z = un_add(un_add(un_matmul(un_select(tx, 0, t), twx), un_matmul(h, twh)), tb), *g[4];
    for (int i = 0; i < 4; i++) g[i] = un_slice(z, 1, i * H, (i + 1) * H, 1);
    c = un_add(un_mul(un_sigmoid(g[1]), c), un_mul(un_sigmoid(g[0]), un_tanh(g[2])));
    h = un_mul(un_sigmoid(g[3]), un_tanh(c));
  }
  same("long short-term memory, 4 steps in one run", h, state, B * H, 1e-5, 16);
}

/* ---- normalisation and loss ---- */

void batch_norm(void) {
  enum { N = 8, C = 5, S = 42 };
  float x[N * C * S], want[N * C * S];
  fill(x, N * C * S);
  for (int c = 0; c < C; c++) {
    double sum = 0, square = 0;
    for (int i = 0; i < N * S; i++) sum += (double)x[(i / S * C + c) * S + i % S];
    for (int i = 0; i < N * S; i++) square += pow((double)x[(i / S * C + c) * S + i % S] - sum / (N * S), 2);
    for (int i = 0; i < N * S; i++) {
      int at = (i / S * C + c) * S + i % S;
      want[at] = (float)(((double)x[at] - sum / (N * S)) / sqrt(square / (N * S) + 1e-5));
    }
  }
  un_tensor *t = floats(x, un_shape(4, N, C, 6, S / 6));
  un_tensor *mean = un_mean(t, un_list(0, 2, 3), true), *var = un_var(t, un_list(0, 2, 3), 0, true);
  same("batch normalisation", un_mul(un_sub(t, mean), un_rsqrt(un_adds(var, 1e-5))), want, N * C * S, 1e-5, 3);
}

void cross_entropy(void) {
  enum { N = 33, CLASSES = 101 };
  float x[N * CLASSES], right = 0;
  int32_t label[N];
  double loss = 0;
  fill(x, N * CLASSES);
  for (int i = 0; i < N; i++) {
    const float *row = x + i * CLASSES;
    int best = 0;
    double total = 0;
    for (int j = 0; j < CLASSES; j++) best = row[j] > row[best] ? j : best;
    for (int j = 0; j < CLASSES; j++) total += exp((double)(row[j] - row[best]));
    label[i] = i % 3 ? (int)(random_u32() % CLASSES) : best;
    loss += (log(total) - (double)(row[label[i]] - row[best])) / N;
    right += (float)(label[i] == best) / N;
  }
  un_tensor *t = floats(x, un_shape(2, N, CLASSES)), *y = ints(label, un_shape(1, N)), *logs = un_log_softmax(t, 1);
  float want = (float)loss;
  un_tensor *picked = un_sum(un_mul(logs, un_one_hot(y, CLASSES, UN_F32)), un_list(1), false);
  same("cross entropy by one-hot", un_neg(un_mean(picked, un_every_axis(), false)), &want, 1, 1e-5, 3);
  picked = un_gather(logs, 1, un_unsqueeze(y, 1));
  same("cross entropy by gather", un_neg(un_mean(picked, un_every_axis(), false)), &want, 1, 1e-5, 3);
  un_tensor *hits = un_cast(un_eq(un_argmax(t, 1, false), y), UN_F32);
  same("accuracy by argmax", un_mean(hits, un_every_axis(), false), &right, 1, 1e-6, 3);
}

void table_gradient(void) {
  enum { ROWS = 20, D = 11, N = 42 };
  float g[N * D], want[ROWS * D] = {0};
  int32_t at[N];
  fill(g, N * D);
  for (int i = 0; i < N; i++) at[i] = (int32_t)(random_u32() % ROWS);
  for (int i = 0; i < N * D; i++) want[at[i / D] * D + i % D] += g[i];
  un_tensor *hot = un_one_hot(ints(at, un_shape(1, N)), ROWS, UN_F32);
  same("gradient of an embedding", un_matmul(un_transpose(hot, 0, 1), floats(g, un_shape(2, N, D))), want, ROWS * D, 0, 1);
}
