/* programs.h - the tensor programs that benchmarks and instruction counts run: built with the tensor layer, in any graph. */
#ifndef UN_BENCH_PROGRAMS_H
#define UN_BENCH_PROGRAMS_H

#include "tensor/tensor.h"

/* Float32 BUFFER number `slot`. */
const un_uop *program_input(un__graph *g, int64_t slot, int64_t rows, int64_t columns);

/* An MLP of `layers` layers, each matmul + bias + relu, batch x width; SINK of its result. Inputs: x in slot 0, then a
 * weight and a bias a layer. */
const un_uop *program_mlp(un__graph *g, int layers, int64_t batch, int64_t width, int64_t *out_ninputs);

/* The same forward, and backward written out: gradients of every weight and bias for the sum of the last layer; SINK of
 * them all. */
const un_uop *program_mlp_backward(un__graph *g, int layers, int64_t batch, int64_t width, int64_t *out_ninputs);

/* One step of softmax regression on (rows, 64) pixels and 10 classes with learning rate and gradients, as
 * examples/digits.c does it: SINK of the loss, the new weights and the new bias. Inputs: x, one-hot labels, w, b. */
const un_uop *program_regression_step(un__graph *g, int64_t rows, int64_t *out_ninputs);

#endif
