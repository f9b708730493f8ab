/* bench.h - rows of the benchmark table: a name, a figure, its goal, PASS or the ratio missed. */
#ifndef UN_BENCH_BENCH_H
#define UN_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

double bench_seconds(void);                                  /* monotonic clock */
double bench_cpu_seconds(void);                              /* of this thread: for rates a core */
double bench_median(double *values, size_t n);               /* reorders */

/* Prints one row. goal 0: only to know. */
typedef enum bench_sense { AT_LEAST, AT_MOST } bench_sense;
void bench_row(const char *name, double value, const char *unit, double goal, bench_sense sense, const char *note);
void bench_fail(const char *name, const char *why);
/* Rows that missed their goal or failed, so far. */
unsigned bench_misses(void);

void bench_compile_side(void);                               /* compile.c */
void bench_run_side(const char *self);                       /* run.c */
void bench_kernels(void);                                    /* kernels.c */
int bench_cold_start(void);                                  /* run.c: the child process of the cold-start row */

/* peers.c: what the figures of kernels.c stand beside. Compiled at -O3 for this machine. */
void peer_matmul(float *c, const float *a, const float *b, int n);
void peer_chain(float *y, const float *x, size_t n);
float peer_sum(const float *x, size_t n);
void peer_softmax(float *y, const float *x, size_t rows, size_t columns);
void peer_matmul_nt(float *c, const float *a, const float *b, int n);
void peer_matmul_tn(float *c, const float *a, const float *b, int n);
void peer_gemv(float *y, const float *a, const float *x, size_t rows, size_t columns);
void peer_row_sum(float *y, const float *x, size_t rows, size_t columns);
void peer_column_sum(float *y, const float *x, size_t rows, size_t columns);
void peer_layer_norm(float *y, const float *x, size_t rows, size_t columns);
void peer_transpose(float *y, const float *x, size_t rows, size_t columns);
/* OpenBLAS's sgemm when libopenblas is installed, c(n, m) = a(n, n) b(n, m), either operand stored transposed; false when
 * it is not. */
bool peer_openblas(float *c, const float *a, const float *b, int n, int m, bool turn_a, bool turn_b);

#endif
