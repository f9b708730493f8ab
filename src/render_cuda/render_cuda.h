/* render_cuda.h - a linear kernel as CUDA C that needs no header.
 *
 * The function is `extern "C" __global__ void <entry>(T0 *p0, .., long long n0, ..)`: the arguments by slot, then the variables
 * in the order of listing. A block has as many threads as the LOCAL range, and its number is blockIdx.x; of a grid of more than
 * 2^31 - 1 blocks it is blockIdx.x + blockIdx.y * gridDim.x, and blocks past the last do nothing. Shared memory is dynamic: the
 * DEFINE_LOCALs in the order of listing, each at a multiple of UN__LOCAL_ALIGN. To be compiled without contraction of floats. */
#ifndef UN_RENDER_CUDA_RENDER_CUDA_H
#define UN_RENDER_CUDA_RENDER_CUDA_H

#include "base/strbuf.h"
#include "target/target.h"
#include "uop/uop.h"

/* Whether the kernel waits for the one in front of it by itself (un__gpu_overlaps); else it begins when that has ended. */
bool un__cuda_waits(const un_uop *linear);
un_status un__render_cuda(const un_uop *linear, const char *entry, const un__target *t, un__strbuf *out, un__err *err);

#endif
