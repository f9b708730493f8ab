/* program.h - random tensor programs: made, filled with data, run, compared. */
#ifndef UN_FUZZ_PROGRAM_H
#define UN_FUZZ_PROGRAM_H

#include "interp/interp.h"

/* splitmix64: the same sequence everywhere. */
typedef struct rng { uint64_t state; } rng;
uint64_t rng_next(rng *r);
uint32_t rng_below(rng *r, uint32_t n);      /* in [0, n); n > 0 */
double rng_unit(rng *r);                     /* in [0, 1) */

enum { MAX_TENSORS = 96, MAX_INPUTS = 15, MAX_RESULTS = 4 };

/* What is known of a tensor of the program, for comparison: backends may differ by tolerance * scale * eps where the
 * value went through operations that are not exact (reductions of floats, sums that may be fused, EXP and its kin). */
typedef struct fact {
  bool exact;          /* every backend gives the same bits */
  double scale;        /* at least the largest |value|, and the magnitude its error is relative to */
  double eps;          /* unit roundoff of the coarsest float dtype on the way */
} fact;

typedef struct program {
  un__graph *ws;
  const un_uop *sink;
  fact result[MAX_RESULTS];
  uint32_t ninputs;
  un__itensor input[MAX_INPUTS];
} program;

/* A program of about `size` operations. strict: sums are exact too (the numerics level grants no licence). copies: some tensors
 * go to device 1, are laid out anew there and come back. products: nothing but one to three products of matrices, whatever the size.
 * False when memory is short; never for another reason. */
typedef struct program_kind { bool strict, copies, products; } program_kind;
bool program_make(program *p, rng *r, unsigned size, program_kind kind, un__err *err);
void program_finish(program *p);

/* Counts the ops of a graph into counts[UN__OP_COUNT]. */
void count_ops(const un_uop *root, uint64_t *counts);

/* Fills a new array for BUFFER node n with values that depend only on its slot, dtype and shape. */
bool fill_input(const un_uop *buffer, un__itensor *out);

/* Whether b agrees with a: exactly where f says so, else within the interpreter's bounds (NULL: exactly); the first
 * difference as text in `out`. */
bool tensors_agree(const un__itensor *a, const un__itensor *b, const fact *f, const double *bound, char *out, size_t size);

#endif
