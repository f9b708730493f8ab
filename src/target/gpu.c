/* gpu.c - descriptions of GPUs: what all have in common, and four that are known without being present. */
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIB = 1024, MIB = 1024 * 1024 };

/* Arithmetic of f16 and bf16 is f32 between conversions. The CUDA C Programming Guide bounds expf, logf and log2f by 1 ULP, tanhf
 * by 2, over all inputs: they rest on instructions for 2^x and log2 x; exp2 is the renderer's (0.92). The PTX manual bounds tanh.approx.f32 by 2^-11 of the result. An access of one thread is 16 bytes at most. A thread has 255
 * registers. What one block does in a few microseconds is not cut into parts, which takes a kernel more. */
#define GPU_COMMON                                                                                                   \
  .triple = "", .cpu = "", .features = "", .threads = 1, .vector_bytes = 16, .vector_registers = 255,                \
  .l1_bytes = 128 * KIB, .cache_line = 128, .has_local = true, .fma = true, .f16_convert = true, .bf16_convert = true, \
  .f32_functions = true,                                                                                             \
  .min_parallel_work = 1 << 19

/* Every GPU from sm_80 on. */
#define UNIT_COMMON .warp = 32, .max_group = 1024, .unit_registers = 65536

const un__tensor_core un__tensor_core_table[UN__TENSOR_CORES] = {
  {"f16", "f32", 16, 8, 16, 80, false},
  {"bf16", "f32", 16, 8, 16, 80, false},
  {"f32", "f32", 16, 8, 8, 80, true},      /* as tf32 */
  {"i8", "i32", 16, 8, 32, 80, false},
  {"u8", "i32", 16, 8, 32, 80, false},
  {"f8e4m3", "f32", 16, 8, 32, 89, false},
  {"f8e5m2", "f32", 16, 8, 32, 89, false},
};
#define CORES_80 0x1f
#define CORES_89 0x7f

static uint32_t cores_of(const char *arch) {
  unsigned number = 0;
  uint32_t set = 0;
  sscanf(arch, "sm_%u", &number);
  for (int i = 0; i < UN__TENSOR_CORES; i++)
    if (un__tensor_core_table[i].arch <= number) set |= UINT32_C(1) << i;
  return set;
}

static const un__target gpus[] = {
  /* A100 80GB SXM */
  {.name = "gpu-sm_80", GPU_COMMON, .l2_bytes = 40 * MIB,
   .gpu = {.arch = "sm_80", UNIT_COMMON, .units = 108, .unit_threads = 2048, .shared_bytes = 163 * KIB,
           .unit_shared_bytes = 164 * KIB, .l2_bytes = 40 * MIB, .bytes_per_second = 2.0e12, .f32_flops = 19.5e12, .async_copies = true, .tensor_cores = CORES_80}},
  /* H200 SXM */
  {.name = "gpu-sm_90a", GPU_COMMON, .l2_bytes = 60 * MIB,
   .gpu = {.arch = "sm_90a", UNIT_COMMON, .units = 132, .unit_threads = 2048, .shared_bytes = 227 * KIB,
           .unit_shared_bytes = 228 * KIB, .l2_bytes = 60 * MIB, .bytes_per_second = 4.8e12, .f32_flops = 67e12, .async_copies = true, .tensor_cores = CORES_89}},
  /* B200 */
  {.name = "gpu-sm_100a", GPU_COMMON, .l2_bytes = 126 * MIB,
   .gpu = {.arch = "sm_100a", UNIT_COMMON, .units = 148, .unit_threads = 2048, .shared_bytes = 227 * KIB,
           .unit_shared_bytes = 228 * KIB, .l2_bytes = 126 * MIB, .bytes_per_second = 7.7e12, .f32_flops = 75e12, .async_copies = true, .tensor_cores = CORES_89}},
  /* RTX 5090 */
  {.name = "gpu-sm_120a", GPU_COMMON, .l2_bytes = 96 * MIB,
   .gpu = {.arch = "sm_120a", UNIT_COMMON, .units = 170, .unit_threads = 1536, .shared_bytes = 99 * KIB,
           .unit_shared_bytes = 100 * KIB, .l2_bytes = 96 * MIB, .bytes_per_second = 1.8e12, .f32_flops = 104e12, .async_copies = true, .tensor_cores = CORES_89}},
};
enum { GPUS = sizeof gpus / sizeof *gpus };

const un__target *un__target_gpu(size_t i) { return i < GPUS ? &gpus[i] : NULL; }

void un__target_of_gpu(const un__gpu *gpu, char *name, un__target *out) {
  static const un__target common = {GPU_COMMON};
  memcpy(out, &common, sizeof *out);      /* with the bytes between fields */
  out->name = name;
  out->l2_bytes = (uint32_t)gpu->l2_bytes;
  memcpy(&out->gpu, gpu, sizeof *gpu);
  out->gpu.tensor_cores = cores_of(gpu->arch);
  out->gpu.async_copies = true;            /* since sm_80, the least that is taken */
  snprintf(name, UN__GPU_NAME, "gpu-%s-u%u-t%u-r%u-s%u-%u-l%u-b%u-f%u", gpu->arch, gpu->units, gpu->unit_threads,
           gpu->unit_registers, gpu->shared_bytes / KIB, gpu->unit_shared_bytes / KIB, (unsigned)(gpu->l2_bytes / MIB),
           (unsigned)(gpu->bytes_per_second / 1e9), (unsigned)(gpu->f32_flops / 1e9));
}

bool un__gpu_overlaps(const un__gpu *gpu) { return gpu->arch && atoi(gpu->arch + strlen("sm_")) >= 90; }
