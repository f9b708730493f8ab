/* unir/device.h - where things run.
 *
 * A device is named by a string: "cpu" (all processors), "cc" (the same by way of C and the system's compiler, or the one
 * that UNIR_CC in the environment names: for looking at C; kernels take long to compile), "cuda:0", "cuda:1" (NVIDIA GPUs;
 * "cuda" is the first), "interp" (the reference interpreter), "null" (compiles and runs nothing: for looking at kernels). A
 * context runs on one device, chosen when it is created, but for what un_to (unir/tensor.h) moves to another one.
 *
 * "cpu", "cc", "cuda" and "null" may be followed by what they compile for: "cpu:host" (this machine, as without it),
 * "cpu:generic" (a fixed x86-64 with AVX2), "cpu:avx512" (a fixed x86-64 with AVX-512), "cuda:sm_80", "cuda:sm_90a",
 * "cuda:sm_100a", "cuda:sm_120a" (GPUs by architecture, without a driver). Code that this machine cannot run can still be
 * printed (unir/text.h).
 *
 * docs/gpu.md says what "cuda" needs and what its errors mean.
 */
#ifndef UNIR_DEVICE_H
#define UNIR_DEVICE_H

#include <unir/ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name of the device of cx; NULL for NULL. Lives as long as cx. */
UN_API UN_KEEP const char *un_device(const un_ctx *cx);

/* The name of the i-th device kind that this library was built with, from 0; NULL after the last. Static storage, any
 * thread. Whether it can be opened on this machine shows un_ctx_create. */
UN_API UN_KEEP const char *un_device_kind(size_t i);

/* How many devices of a kind this machine has: GPUs that a driver shows for "cuda", 1 for the other kinds, 0 for what this
 * library was not built with and for NULL. Nothing is opened. Why there is no GPU says un_ctx_create. Any thread. */
UN_API int un_device_count(const char *kind);

#ifdef __cplusplus
}
#endif
#endif
