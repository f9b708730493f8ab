/* unir/tensor.h - lazy tensors. (Draft of the surface; each function gets its contract in place.) */
#ifndef UNIR_TENSOR_H
#define UNIR_TENSOR_H

#include <stdbool.h>
#include <stdio.h>
#include <unir/ctx.h>
#include <unir/dtype.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { UN_MAX_RANK = 16 };

typedef struct un_tensor un_tensor;

/* A small value type so that shapes can be written in place: un_shape(2, 64, 784). */
typedef struct un_dims { int rank; int64_t dim[UN_MAX_RANK]; } un_dims;
UN_API un_dims un_shape(int rank, ...);      /* rank values of type int */

typedef enum un_stage { UN_STAGE_TENSOR, UN_STAGE_SCHEDULE, UN_STAGE_KERNEL, UN_STAGE_OPT, UN_STAGE_LINEAR, UN_STAGE_SOURCE,
                        UN_STAGE_ASM } un_stage;

#ifdef __cplusplus
}
#endif
#endif
