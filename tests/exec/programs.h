/* programs.h - what the programs of programs_*.c share: data, and comparison with what a plain loop computes. */
#ifndef UN_TESTS_PROGRAMS_H
#define UN_TESTS_PROGRAMS_H

#include <unir/unir.h>

extern un_ctx *cx;

uint32_t random_u32(void);                      /* the same numbers on every run */
/* Halves between -8 and 8: sums of few products of them are exact, in any order. */
void fill(float *out, size_t n);

un_tensor *floats(const float *v, un_dims shape);
un_tensor *ints(const int32_t *v, un_dims shape);

/* Realises t and compares its n elements with `want`, which has the dtype of t. Floats may be off by `tolerance`, relative
 * above 1 and absolute below. most: the most kernels that t may take; 0: any number. */
void same(const char *name, un_tensor *t, const void *want, size_t n, double tolerance, uint64_t most);

/* Windows of `size` on the last axis, each `step` after the one before: (.., n) -> (.., windows, size). Movement only. */
un_tensor *windows(un_tensor *x, int64_t size, int64_t step);

/* name, function */
#define PROGRAMS(P)                                                                                                    \
  P(indices) P(promotion) P(slices) P(triangles) P(bits) P(byte_products) P(hashing) P(histogram) P(prefix_sums)       \
  P(tree_sum) P(sorting) P(fourier) P(life) P(mandelbrot) P(resize) P(k_means) P(power_iteration) P(cholesky)          \
  P(convolution) P(pooling) P(products) P(attention) P(recurrent) P(batch_norm) P(cross_entropy) P(table_gradient)

#define P(name) void name(void);
PROGRAMS(P)
#undef P

#endif
