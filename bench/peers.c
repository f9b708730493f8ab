/* peers.c - plain C, and OpenBLAS through dlopen. */
#include <dlfcn.h>
#include <math.h>

#include "bench.h"

void peer_matmul(float *c, const float *a, const float *b, int n) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) c[i * n + j] = 0;
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
  }
}

void peer_chain(float *y, const float *x, size_t n) {
  for (size_t i = 0; i < n; i++) {
    float v = x[i] * x[i] - 0.1f;
    y[i] = (v > 0 ? v : 0) * 3.0f;
  }
}

float peer_sum(const float *x, size_t n) {
  float s = 0;
  for (size_t i = 0; i < n; i++) s += x[i];
  return s;
}

void peer_softmax(float *y, const float *x, size_t rows, size_t columns) {
  for (size_t r = 0; r < rows; r++) {
    const float *p = x + r * columns;
    float *q = y + r * columns, m = p[0], s = 0;
    for (size_t i = 1; i < columns; i++) m = p[i] > m ? p[i] : m;
    for (size_t i = 0; i < columns; i++) s += q[i] = expf(p[i] - m);
    for (size_t i = 0; i < columns; i++) q[i] /= s;
  }
}

typedef void (*sgemm_fn)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb,
                         float beta, float *c, int ldc);

void peer_matmul_nt(float *c, const float *a, const float *b, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float s = 0;
      for (int k = 0; k < n; k++) s += a[i * n + k] * b[j * n + k];
      c[i * n + j] = s;
    }
}

void peer_matmul_tn(float *c, const float *a, const float *b, int n) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) c[i * n + j] = 0;
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++) c[i * n + j] += a[k * n + i] * b[k * n + j];
  }
}

void peer_gemv(float *y, const float *a, const float *x, size_t rows, size_t columns) {
  for (size_t r = 0; r < rows; r++) {
    float s = 0;
    for (size_t i = 0; i < columns; i++) s += a[r * columns + i] * x[i];
    y[r] = s;
  }
}

void peer_row_sum(float *y, const float *x, size_t rows, size_t columns) {
  for (size_t r = 0; r < rows; r++) y[r] = peer_sum(x + r * columns, columns);
}

void peer_column_sum(float *y, const float *x, size_t rows, size_t columns) {
  for (size_t i = 0; i < columns; i++) y[i] = 0;
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < columns; i++) y[i] += x[r * columns + i];
}

void peer_layer_norm(float *y, const float *x, size_t rows, size_t columns) {
  for (size_t r = 0; r < rows; r++) {
    const float *p = x + r * columns;
    float *q = y + r * columns, mean = peer_sum(p, columns) / (float)columns, s = 0;
    for (size_t i = 0; i < columns; i++) s += (p[i] - mean) * (p[i] - mean);
    float scale = 1 / sqrtf(s / (float)columns + 1e-5f);
    for (size_t i = 0; i < columns; i++) q[i] = (p[i] - mean) * scale;
  }
}

void peer_transpose(float *y, const float *x, size_t rows, size_t columns) {
  for (size_t i = 0; i < columns; i++)
    for (size_t r = 0; r < rows; r++) y[i * rows + r] = x[r * columns + i];
}

bool peer_openblas(float *c, const float *a, const float *b, int n, int m, bool turn_a, bool turn_b) {
  static sgemm_fn sgemm;
  static bool tried;
  if (!tried) {
    tried = true;
    void *lib = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    void *symbol = lib ? dlsym(lib, "cblas_sgemm") : NULL;
    *(void **)&sgemm = symbol;
  }
  if (!sgemm) return false;
  enum { ROW_MAJOR = 101, AS_STORED = 111, TURNED = 112 };
  sgemm(ROW_MAJOR, turn_a ? TURNED : AS_STORED, turn_b ? TURNED : AS_STORED, n, m, n, 1, a, n, b, turn_b ? n : m, 0, c, m);
  return true;
}
