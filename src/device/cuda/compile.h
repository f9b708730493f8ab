/* compile.h - from an artifact to what a target runs. A device need not be there. */
#ifndef UN_DEVICE_CUDA_COMPILE_H
#define UN_DEVICE_CUDA_COMPILE_H

#include "device/device.h"

/* Whether a block of t can be what the artifact asks for. */
un_status un__cuda_check_artifact(const un__artifact *a, const un__target *t, un__err *err);
/* Machine code, the caller's (un__free); bytes NULL on failure. driver: the version of the one that will load it, 0 for none. */
un_status un__cuda_cubin(const un__artifact *a, const un__target *t, int driver, un__blob *out, un__code_facts *facts, un__err *err);
/* PTX, and before it what became of it; the caller's (un__free). */
un_status un__cuda_assembly(const un__artifact *a, const un__target *t, int driver, char **out, un__err *err);

/* A device that compiles for t and runs nothing. */
un_status un__cuda_open_offline(const un__target *t, un__device **out, un__err *err);

#endif
