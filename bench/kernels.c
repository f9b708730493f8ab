/* kernels.c - running code beside a plain C loop at -O3 and OpenBLAS, in one process and one run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unir/unir.h>

#include "bench.h"

enum { ROUNDS = 9 };

typedef struct contest { un_ctx *cx; float *out; size_t out_bytes; un_tensor *in[2]; float *x, *z; size_t n, rows, columns; } contest;

static float *random_floats(size_t n, unsigned seed) {
  float *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
  uint32_t s = seed;
  for (size_t i = 0; x && i < n; i++) {
    s = s * 1664525u + 1013904223u;
    x[i] = (float)(s >> 8) / (float)(1 << 24) - 0.5f;
  }
  return x;
}

/* Median milliseconds of realising what `make` builds; each round builds the graph anew, as a program would. */
static double time_unir(contest *c, un_tensor *(*make)(contest *c)) {
  double ms[ROUNDS];
  for (int i = -2; i < ROUNDS; i++) {
    un_scope_push(c->cx);
    un_tensor *t = make(c);
    double start = bench_seconds();
    bool ok = un_realize(c->cx, 1, &t) == UN_OK;
    if (i >= 0) ms[i] = (bench_seconds() - start) * 1e3;
    if (ok && i == ROUNDS - 1) ok = un_read(t, c->out, c->out_bytes) == UN_OK;
    un_scope_pop(c->cx);
    if (!ok) return -1;
  }
  return bench_median(ms, ROUNDS);
}

static double time_peer(contest *c, void (*run)(contest *c)) {
  double ms[ROUNDS];
  for (int i = -1; i < ROUNDS; i++) {
    double start = bench_seconds();
    run(c);
    if (i >= 0) ms[i] = (bench_seconds() - start) * 1e3;
  }
  return bench_median(ms, ROUNDS);
}

static void compare(const char *name, contest *c, un_tensor *(*make)(contest *c), void (*plain)(contest *c), void (*library)(contest *c)) {
  double unir = time_unir(c, make);
  if (unir < 0) {
    bench_fail(name, un_error(c->cx));
    return;
  }
  double loop = time_peer(c, plain);
  char note[96];
  snprintf(note, sizeof note, "plain C %.2f ms (%.2fx)", loop, loop / unir);
  if (library) {
    double lib = time_peer(c, library);
    snprintf(note + strlen(note), sizeof note - strlen(note), ", OpenBLAS %.2f ms (%.2fx)", lib, lib / unir);
  }
  bench_row(name, unir, "ms", 0, AT_MOST, note);
}

static float *peer_out;

static un_tensor *make_chain(contest *c) { return un_muls(un_relu(un_adds(un_mul(c->in[0], c->in[0]), -0.1)), 3.0); }
static void plain_chain(contest *c) { peer_chain(peer_out, c->x, c->n); }
static un_tensor *make_sum(contest *c) { return un_sum(c->in[0], un_every_axis(), false); }
static void plain_sum(contest *c) { peer_out[0] = peer_sum(c->x, c->n); }
static un_tensor *make_softmax(contest *c) { return un_softmax(c->in[0], 1); }
static void plain_softmax(contest *c) { peer_softmax(peer_out, c->x, c->rows, c->columns); }
static un_tensor *make_matmul(contest *c) { return un_matmul(c->in[0], c->in[1]); }
static void plain_matmul(contest *c) { peer_matmul(peer_out, c->x, c->z, (int)c->rows); }
static void blas_matmul(contest *c) { peer_openblas(peer_out, c->x, c->z, (int)c->rows, (int)c->rows, false, false); }
static un_tensor *make_matmul_nt(contest *c) { return un_matmul(c->in[0], un_transpose(c->in[1], 0, 1)); }
static void plain_matmul_nt(contest *c) { peer_matmul_nt(peer_out, c->x, c->z, (int)c->rows); }
static void blas_matmul_nt(contest *c) { peer_openblas(peer_out, c->x, c->z, (int)c->rows, (int)c->rows, false, true); }
static un_tensor *make_matmul_tn(contest *c) { return un_matmul(un_transpose(c->in[0], 0, 1), c->in[1]); }
static void plain_matmul_tn(contest *c) { peer_matmul_tn(peer_out, c->x, c->z, (int)c->rows); }
static void blas_matmul_tn(contest *c) { peer_openblas(peer_out, c->x, c->z, (int)c->rows, (int)c->rows, true, false); }
/* The first column of the other matrix, as a vector of its own. */
static un_tensor *make_gemv(contest *c) { return un_matmul(c->in[0], un_reshape(un_slice(c->in[1], 0, 0, 1, 1), un_shape(2, (int)c->columns, 1))); }
static void plain_gemv(contest *c) { peer_gemv(peer_out, c->x, c->z, c->rows, c->columns); }
static void blas_gemv(contest *c) { peer_openblas(peer_out, c->x, c->z, (int)c->rows, 1, false, false); }
static un_tensor *make_row_sum(contest *c) { return un_sum(c->in[0], un_list(1), false); }
static void plain_row_sum(contest *c) { peer_row_sum(peer_out, c->x, c->rows, c->columns); }
static un_tensor *make_column_sum(contest *c) { return un_sum(c->in[0], un_list(0), false); }
static void plain_column_sum(contest *c) { peer_column_sum(peer_out, c->x, c->rows, c->columns); }
static un_tensor *make_layer_norm(contest *c) { return un_layer_norm(c->in[0], un_list(1), 1e-5); }
static void plain_layer_norm(contest *c) { peer_layer_norm(peer_out, c->x, c->rows, c->columns); }
static un_tensor *make_transpose(contest *c) { return un_contiguous(un_transpose(c->in[0], 0, 1)); }
static void plain_transpose(contest *c) { peer_transpose(peer_out, c->x, c->rows, c->columns); }
static bool open_contest(contest *c, size_t rows, size_t columns) {
  memset(c, 0, sizeof *c);
  c->rows = rows;
  c->columns = columns;
  c->n = rows * columns;
  c->x = random_floats(c->n, 1);
  c->z = random_floats(c->n, 2);
  c->out = random_floats(c->n, 3);
  peer_out = random_floats(c->n, 4);
  c->out_bytes = c->n * sizeof(float);
  if (!c->x || !c->z || !c->out || !peer_out || un_ctx_create(NULL, &c->cx) != UN_OK) return false;
  un_dims shape = un_shape(2, (int)rows, (int)columns);
  c->in[0] = un_from_data(c->cx, UN_F32, shape, c->x);
  c->in[1] = un_from_data(c->cx, UN_F32, shape, c->z);
  return c->in[0] && c->in[1];
}

static void close_contest(contest *c) {
  un_ctx_destroy(c->cx);
  free(c->x);
  free(c->z);
  free(c->out);
  free(peer_out);
}

static bool has_blas(void) {
  float a = 1, b = 1, out;
  return peer_openblas(&out, &a, &b, 1, 1, false, false);
}

void bench_kernels(void) {
  contest c;
  if (open_contest(&c, 4096, 4096)) {
    compare("elementwise chain, 16 M f32", &c, make_chain, plain_chain, NULL);
    compare("softmax over rows, 4096x4096 f32", &c, make_softmax, plain_softmax, NULL);
    compare("layer norm over rows, 4096x4096 f32", &c, make_layer_norm, plain_layer_norm, NULL);
    compare("transpose, 4096x4096 f32", &c, make_transpose, plain_transpose, NULL);
    c.out_bytes = 4096 * sizeof(float);
    compare("sums of rows, 4096x4096 f32", &c, make_row_sum, plain_row_sum, NULL);
    compare("sums of columns, 4096x4096 f32", &c, make_column_sum, plain_column_sum, NULL);
    compare("matrix by vector, 4096x4096 f32", &c, make_gemv, plain_gemv, has_blas() ? blas_gemv : NULL);
    c.out_bytes = sizeof(float);
    compare("sum, 16 M f32", &c, make_sum, plain_sum, NULL);
  }
  close_contest(&c);
  if (open_contest(&c, 1024, 1024)) {
    compare("matmul 1024^3 f32", &c, make_matmul, plain_matmul, has_blas() ? blas_matmul : NULL);
    compare("matmul 1024^3 f32, right one transposed", &c, make_matmul_nt, plain_matmul_nt, has_blas() ? blas_matmul_nt : NULL);
    compare("matmul 1024^3 f32, left one transposed", &c, make_matmul_tn, plain_matmul_tn, has_blas() ? blas_matmul_tn : NULL);
    if (!has_blas()) printf("%-48s (libopenblas is not installed: no row)\n", "");
  }
  close_contest(&c);
  if (open_contest(&c, 64, 64)) compare("matmul 64^3 f32", &c, make_matmul, plain_matmul, has_blas() ? blas_matmul : NULL);
  close_contest(&c);
}
