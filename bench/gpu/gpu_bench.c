/* gpu_bench.c - what the GPU does, each row beside its peers of the same run (peers.py).
 *
 * usage: gpu-bench [--device=cuda:0] [--peers=FILE] [PART]...
 *
 * A row is one tensor program on random data, run again and again over buffers that rotate, so that none is found in the
 * L2 cache; figures are the median over bursts that begin on an idle card. FILE is what peers.py printed. A goal is a
 * ratio: of the bandwidth of a copy in the same run, or of the best peer. Exit status: 1 when a program failed. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unir/unir.h>

enum { SIDE = 8192, BURSTS = 7, RUNS = 60, MAX_SETS = 64, MAX_PEERS = 256 };

/* ---- rows ---- */

typedef enum metric { BYTES, FLOPS } metric;

/* The tensors of one run: operands, and what is made of them. */
typedef struct operands { un_tensor *a, *b; } operands;

typedef struct row {
  const char *part, *name;
  un_dtype dtype;
  int64_t rows, columns, inner;      /* inner: of products, a is (rows, inner), b is (inner, columns); else 0 */
  un_tensor *(*make)(operands in);
  metric metric;
  double work;                       /* bytes or flops of one run, divided by rows * columns (* inner) elements of it */
  double of_copy, of_peer, rate;     /* goals; 0: none. rate: TB or TFLOP a second */
} row;

static un_tensor *copy(operands in) { return un_muls(in.a, 1.0000001); }

static un_tensor *chain(operands in) {
  un_tensor *x = in.a;
  return un_add(un_mul(un_tanh(un_adds(un_muls(x, 0.5), 1.0)), x), un_exp(un_neg(un_mul(x, x))));
}

static un_tensor *row_sum(operands in) { return un_sum(in.a, un_list(1), false); }
static un_tensor *column_sum(operands in) { return un_sum(in.a, un_list(0), false); }
static un_tensor *row_max(operands in) { return un_max(in.a, un_list(1), false); }
static un_tensor *argmax(operands in) { return un_argmax(in.a, 1, false); }
static un_tensor *softmax(operands in) { return un_softmax(in.a, 1); }
static un_tensor *layer_norm(operands in) { return un_layer_norm(in.a, un_list(1), 1e-5); }
static un_tensor *rms_norm(operands in) { return un_rms_norm(in.a, un_list(1), 1e-5); }
static un_tensor *transpose(operands in) { return un_contiguous(un_transpose(in.a, 0, 1)); }
static un_tensor *product(operands in) { return un_matmul(in.a, in.b); }

/* Bytes an element: read and written, or read. */
#define SQUARE(name, fn, passes)                                                                             \
  {"memory", name " f32", UN_F32, SIDE, SIDE, 0, fn, BYTES, 4 * (passes), 0.93, 0.98, 0},                       \
  {"memory", name " bf16", UN_BF16, SIDE, SIDE, 0, fn, BYTES, 2 * (passes), 0.93, 0.98, 0}
#define GEMV(text, n, k, rate) {"gemv", "gemv bf16 " text, UN_BF16, n, 1, k, product, BYTES, 2, 0, 0, rate}
#define MATMUL(text, dtype, n, share) {"matmul", "matmul " text, dtype, n, n, n, product, FLOPS, 2, 0, share, 0}

static const row rows[] = {
  SQUARE("copy", copy, 2), SQUARE("chain", chain, 2), SQUARE("row sum", row_sum, 1), SQUARE("column sum", column_sum, 1),
  SQUARE("row max", row_max, 1), SQUARE("argmax", argmax, 1), SQUARE("softmax", softmax, 2),
  SQUARE("layer norm", layer_norm, 2), SQUARE("rms norm", rms_norm, 2), SQUARE("transpose", transpose, 2),
  GEMV("10240x2560", 10240, 2560, 3.7), GEMV("2560x10240", 2560, 10240, 3.7), GEMV("262144x2560", 262144, 2560, 4.3),
  GEMV("2048x2560", 2048, 2560, 2.3),
  MATMUL("f32 2048", UN_F32, 2048, 0.9), MATMUL("f32 4096", UN_F32, 4096, 0.9), MATMUL("f32 8192", UN_F32, 8192, 0.9),
  MATMUL("bf16 2048", UN_BF16, 2048, 0.45), MATMUL("bf16 4096", UN_BF16, 4096, 0.45), MATMUL("bf16 8192", UN_BF16, 8192, 0.45),
  MATMUL("f16 2048", UN_F16, 2048, 0.45), MATMUL("f16 4096", UN_F16, 4096, 0.45), MATMUL("f16 8192", UN_F16, 8192, 0.45),
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- peers ---- */

typedef struct peer { char row[64], name[32]; double seconds; } peer;
static peer peers[MAX_PEERS];
static size_t npeers;

static bool read_peers(const char *path) {
  FILE *f = fopen(path, "r");
  if (!f) return false;
  while (npeers < MAX_PEERS &&
         fscanf(f, "%63[^\t]\t%31[^\t]\t%lf ", peers[npeers].row, peers[npeers].name, &peers[npeers].seconds) == 3)
    npeers++;
  fclose(f);
  return true;
}

/* The fastest peer of a row, or NULL. */
static const peer *best_peer(const char *name) {
  const peer *best = NULL;
  for (size_t i = 0; i < npeers; i++)
    if (strcmp(peers[i].row, name) == 0 && (!best || peers[i].seconds < best->seconds)) best = &peers[i];
  return best;
}

/* ---- time ---- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void rest(void) { nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); }

static int by_value(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

/* Waits for all that was launched: one element of a result is computed and read. */
static bool wait_for(un_ctx *cx) {
  static un_tensor *one;      /* the bench has one context */
  double value;
  if (!one) one = un_keep(un_from_data(cx, UN_F32, un_shape(1, 1), &(float){1}));
  un_scope_push(cx);
  bool ok = un_item(un_adds(one, 1), &value) == UN_OK;
  un_scope_pop(cx);
  return ok;
}

/* One program that does the row's work once for every set. */
static un_program *capture(un_ctx *cx, const row *r, const operands *in, size_t sets) {
  un_tensor *results[MAX_SETS], *inputs[MAX_SETS];
  for (size_t i = 0; i < sets; i++) {
    inputs[i] = in[i].a;
    if (!(results[i] = r->make(in[i]))) return NULL;
  }
  return un_program_capture(cx, sets, inputs, sets, results, 0, NULL);
}

/* A burst is so long that waiting for its end, 30 us, is nothing. */
static const double BURST = 5e-3;

/* Seconds of one work, of which a run of the program is `sets`. */
static bool burst(un_ctx *cx, un_program *p, size_t runs, size_t sets, double *out) {
  rest();
  double start = now();
  for (size_t i = 0; i < runs; i++)
    if (un_program_run(p, 0, NULL) != UN_OK) return false;
  if (!wait_for(cx)) return false;
  *out = (now() - start) / (double)(runs * sets);
  return true;
}

/* ---- data ---- */

static un_tensor *random_tensor(un_ctx *cx, un_dtype dtype, int64_t r, int64_t c) {
  static uint32_t s = 1;
  size_t n = (size_t)(r * c);
  float *x = malloc(n * sizeof *x);
  for (size_t i = 0; x && i < n; i++) {
    s = s * 1664525u + 1013904223u;
    x[i] = (float)(s >> 8) / (float)(1 << 24) - 0.5f;
  }
  un_tensor *t = x ? un_contiguous(un_cast(un_from_data(cx, UN_F32, un_shape(2, r, c), x), dtype)) : NULL;
  bool ok = t && un_realize(cx, 1, &t) == UN_OK;
  free(x);
  return ok ? t : NULL;
}

/* Enough sets of operands that a whole round is eight times an L2 cache. */
static size_t make_sets(un_ctx *cx, const row *r, operands *out) {
  size_t elements = (size_t)(r->rows * (r->inner ? r->inner : r->columns));
  size_t n = ((size_t)1 << 29) / (elements * un_dtype_size(r->dtype)) + 1;
  if (n < 2) n = 2;
  if (n > MAX_SETS) n = MAX_SETS;
  for (size_t i = 0; i < n; i++) {
    out[i].a = random_tensor(cx, r->dtype, r->rows, r->inner ? r->inner : r->columns);
    out[i].b = r->inner ? random_tensor(cx, r->dtype, r->inner, r->columns) : NULL;
    if (!out[i].a || (r->inner && !out[i].b)) return 0;
  }
  return n;
}

/* ---- the table ---- */

static double work_of(const row *r) {
  bool of_matrix = r->metric == BYTES && r->inner;      /* gemv: the weights */
  double elements = (double)r->rows * (double)(of_matrix ? r->inner : r->columns);
  return r->work * elements * (r->metric == FLOPS ? (double)r->inner : 1);
}

static void print_goal(const char *what, double got, double goal) {
  if (goal > 0) printf("  %.2f of %s (goal %.2f) %s", got, what, goal, got >= goal ? "PASS" : "MISSED");
  else if (got > 0) printf("  %.2f of %s", got, what);
}

static void print_row(const row *r, double seconds, double copy_rate) {
  double rate = work_of(r) / seconds / 1e12;
  const peer *p = best_peer(r->name);
  printf("%-24s %9.1f us  %7.2f %s", r->name, seconds * 1e6, rate, r->metric == BYTES ? "TB/s   " : "TFLOP/s");
  if (copy_rate > 0 && r->of_copy > 0) print_goal("copy", rate * 1e12 / copy_rate, r->of_copy);
  if (p) print_goal(p->name, p->seconds / seconds, r->of_peer);
  if (r->rate > 0) printf("  (goal %.2f) %s", r->rate, rate >= r->rate ? "PASS" : "MISSED");
  printf("\n");
  fflush(stdout);
}

static bool measure(un_ctx *cx, const row *r, double copy_rate) {
  operands in[MAX_SETS];
  double seconds[BURSTS];
  un_scope_push(cx);
  size_t sets = make_sets(cx, r, in);
  un_program *p = sets ? capture(cx, r, in, sets) : NULL;
  size_t runs = sets ? (RUNS + sets - 1) / sets : 0;
  bool ok = p && burst(cx, p, runs, sets, &seconds[0]);       /* the first one warms up */
  while (ok && seconds[0] * (double)(runs * sets) < BURST) runs *= 2;
  for (int i = 0; ok && i < BURSTS; i++) ok = burst(cx, p, runs, sets, &seconds[i]);
  if (ok) {
    qsort(seconds, BURSTS, sizeof *seconds, by_value);
    print_row(r, seconds[BURSTS / 2], copy_rate);
  } else {
    printf("%-24s FAILED: %s\n", r->name, un_error(cx));
    un_clear_error(cx);
  }
  un_program_destroy(p);
  un_scope_pop(cx);
  return ok;
}

/* ---- replay: kernels of almost no work, each reading what other blocks of the one before have written ---- */

enum { STEPS = 300, REPLAYS = 20, SMALL = 132 * 256 };

static un_program *capture_steps(un_ctx *cx) {
  un_tensor *x = random_tensor(cx, UN_F32, SMALL, 1), *y = x;
  for (int i = 0; i < STEPS && y; i++) y = un_contiguous(un_adds(un_flip(y, un_list(1, 0)), 1));
  return y ? un_program_capture(cx, 1, &x, 1, &y, 0, NULL) : NULL;
}

static bool measure_replay(un_ctx *cx, const char *name) {
  const double goal = 1.0;
  double seconds[BURSTS];
  un_scope_push(cx);
  un_program *p = capture_steps(cx);
  bool ok = p && burst(cx, p, REPLAYS, STEPS, &seconds[0]);
  for (int i = 0; ok && i < BURSTS; i++) ok = burst(cx, p, REPLAYS, STEPS, &seconds[i]);
  if (ok) {
    qsort(seconds, BURSTS, sizeof *seconds, by_value);
    double us = seconds[BURSTS / 2] * 1e6;
    printf("%-24s %9.2f us  a kernel of %d in one program  (goal %.2f) %s\n", name, us, STEPS, goal, us <= goal ? "PASS" : "MISSED");
  } else {
    printf("%-24s FAILED: %s\n", name, un_error(cx));
    un_clear_error(cx);
  }
  un_program_destroy(p);
  un_scope_pop(cx);
  return ok;
}

/* ---- compilation ---- */

typedef struct compile_row {
  const char *name;
  row of;
  double goal;                       /* milliseconds */
} compile_row;

static const compile_row compile_rows[] = {
  {"compile elementwise", {.dtype = UN_F32, .rows = 4096, .columns = 4096, .make = copy}, 45},
  {"compile matmul", {.dtype = UN_BF16, .rows = 4096, .columns = 4096, .inner = 4096, .make = product}, 220},
};
enum { COMPILE_ROWS = sizeof compile_rows / sizeof *compile_rows, COMPILATIONS = 5 };

static un_tensor *zeros(un_ctx *cx, un_dtype dtype, int64_t r, int64_t c) {
  un_tensor *t = un_contiguous(un_zeros(cx, dtype, un_shape(2, r, c)));
  return t && un_realize(cx, 1, &t) == UN_OK ? t : NULL;
}

/* Number i of the programs of a row, which differ in a constant: from the graph to a loaded kernel. */
static bool compile_once(un_ctx *cx, const row *r, int i, double *out) {
  un_scope_push(cx);
  un_tensor *a = zeros(cx, r->dtype, r->rows, r->inner ? r->inner : r->columns);
  un_tensor *b = r->inner ? zeros(cx, r->dtype, r->inner, r->columns) : NULL;
  un_tensor *y = a && (b || !r->inner) ? un_muls(r->make((operands){a, b}), 3 + i) : NULL;
  double start = now();
  un_program *p = y ? un_program_capture(cx, 1, &a, 1, &y, 0, NULL) : NULL;
  *out = now() - start;
  un_program_destroy(p);
  un_scope_pop(cx);
  return p != NULL;
}

static bool measure_compile(un_ctx *cx, const compile_row *r) {
  double seconds[COMPILATIONS];
  bool ok = true;
  for (int i = 0; ok && i < COMPILATIONS; i++) ok = compile_once(cx, &r->of, i, &seconds[i]);
  if (ok) {
    qsort(seconds, COMPILATIONS, sizeof *seconds, by_value);
    double ms = seconds[COMPILATIONS / 2] * 1e3;
    printf("%-24s %9.1f ms  a kernel, from the graph  (goal %.0f) %s\n", r->name, ms, r->goal, ms <= r->goal ? "PASS" : "MISSED");
  } else {
    printf("%-24s FAILED: %s\n", r->name, un_error(cx));
    un_clear_error(cx);
  }
  return ok;
}

/* ---- all of it ---- */

static bool is_wanted(const char *part, const char *name, char **parts, int n) {
  for (int i = 0; i < n; i++)
    if (strcmp(parts[i], part) == 0 || strcmp(parts[i], name) == 0) return true;
  return n == 0;
}

int main(int argc, char **argv) {
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  opt.device = "cuda:0";
  int first = 1, failures = 0;
  for (; first < argc && strncmp(argv[first], "--", 2) == 0; first++) {
    if (strncmp(argv[first], "--device=", 9) == 0) opt.device = argv[first] + 9;
    else if (strncmp(argv[first], "--peers=", 8) != 0 || !read_peers(argv[first] + 8)) {
      fprintf(stderr, "gpu-bench: expected --device=NAME or --peers=FILE (which can be read), got %s\n", argv[first]);
      return 2;
    }
  }
  un_ctx *cx;
  if (un_ctx_create(&opt, &cx) != UN_OK) {
    fprintf(stderr, "gpu-bench: device %s cannot be opened\n", opt.device);
    return 1;
  }
  const peer *device_copy = best_peer("device copy f32");
  double copy_rate = device_copy ? 2.0 * 4 * SIDE * SIDE / device_copy->seconds : 0;
  if (copy_rate > 0) printf("%-24s %9.1f us  %7.2f TB/s\n", "device copy", device_copy->seconds * 1e6, copy_rate / 1e12);
  for (size_t i = 0; i < ROWS; i++)
    if (is_wanted(rows[i].part, rows[i].name, argv + first, argc - first)) failures += !measure(cx, &rows[i], copy_rate);
  if (is_wanted("replay", "replay", argv + first, argc - first)) failures += !measure_replay(cx, "replay");
  for (size_t i = 0; i < COMPILE_ROWS; i++)
    if (is_wanted("compile", compile_rows[i].name, argv + first, argc - first)) failures += !measure_compile(cx, &compile_rows[i]);
  un_ctx_destroy(cx);
  return failures != 0;
}
