/* interp.h - the reference: runs graphs without generating code. */
#ifndef UN_INTERP_INTERP_H
#define UN_INTERP_INTERP_H

#include "base/vec.h"
#include "device/device.h"
#include "uop/eval.h"
#include "uop/graph.h"

/* A dense row-major tensor of the interpreter; elements in storage form. */
typedef struct un__itensor { un__dtype dtype; uint32_t rank; int64_t dim[UN__MAX_RANK]; void *data; } un__itensor;

/* Evaluates tensor-stage nodes: BUFFER slot i reads inputs[i]; results are allocated (un__free data). */
un_status un__interp_tensor(const un_uop *const *roots, uint32_t nroots, const un__itensor *inputs, uint32_t ninputs,
                            un__itensor *out, un__err *err);

/* The same, and how far a backend under `precise` may be from each element (design 7): out_bound[i] is NULL where all
 * of result i must agree exactly, else one double an element (un__free), INFINITY where the error may tip a comparison
 * or a conversion so that anything can come out. A NaN or infinity with bound 0 must be matched. Sums are bounded by
 * the sum of absolute terms; out_bound may be NULL. */
un_status un__interp_tensor_bounded(const un_uop *const *roots, uint32_t nroots, const un__itensor *inputs,
                                    uint32_t ninputs, un__itensor *out, double **out_bound, un__err *err);

/* Executes a kernel at stage kernel or linear for one task (on a GPU one block, all its threads in step), checking every access against PARAM sizes (an access out of
 * bounds is UN_ERR_INTERNAL with the node). sizes are in elements. vars[i] is the value of the i-th VAR in the order of
 * un__toposort. At stage kernel every range is a loop, so task is not looked at. */
un_status un__interp_kernel(const un_uop *kernel, void *const *args, const int64_t *sizes, uint32_t nargs,
                            const int64_t *vars, int64_t task, un__err *err);

/* Executes a linear kernel of a GPU, all of its blocks one after the other, and looks for races: where two threads, without a
 * barrier between them (blocks never have one), touch one element of shared or device memory and one of them changes it, it is
 * UN_ERR_INTERNAL with the node. */
un_status un__interp_grid(const un_uop *kernel, void *const *args, const int64_t *sizes, uint32_t nargs,
                          const int64_t *vars, int64_t blocks, un__err *err);

/* What a kernel at stage kernel, as rangeify makes it, stores at a few places, and how far a backend under `precise` may be from it
 * there: 0 where it must agree to the bit, INFINITY where nothing is promised. The places are the first of its loops' rounds, the
 * last, and some between, the same each time. Nothing is stored; args of results may be NULL. At most `steps` steps are taken, else
 * it is UN_ERR_UNSUPPORTED. out: to be finished by the caller, also on failure. */
typedef struct un__isample { uint32_t arg; int64_t at; un__value value; double bound; } un__isample;
typedef UN__VEC(un__isample) un__isamples;
un_status un__interp_samples(const un_uop *kernel, void *const *args, const int64_t *sizes, uint32_t nargs, uint32_t count, uint64_t steps,
                             un__isamples *out, un__err *err);

/* Whether two values of one dtype are at most `bound` apart; floats that are no numbers are alike. */
bool un__values_agree(un__value a, un__value b, double bound);

/* The device "interp": artifacts are .un text of linear kernels, made for target t (NULL: un__target_interp), whose blocks and
 * threads it acts out one after the other; races between threads are errors. */
un_status un__interp_open(const un__target *t, un__device **out, un__err *err);

#endif
