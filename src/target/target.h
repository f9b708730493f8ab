/* target.h - plain-data descriptions of what code runs on. Leaf: knows no device and no graph. */
#ifndef UN_TARGET_TARGET_H
#define UN_TARGET_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a tensor core computes, by a warp: rows x columns results of dtype `sum`, each a sum of `depth` products of dtype
 * `operand`, both named as in text. */
typedef struct un__tensor_core {
  const char *operand, *sum;
  uint32_t rows, columns, depth;
  uint32_t arch;                 /* 80: from sm_80 on */
  bool rounds;                   /* operands lose bits: only where approximations are allowed */
} un__tensor_core;

enum { UN__TENSOR_CORES = 7 };
extern const un__tensor_core un__tensor_core_table[UN__TENSOR_CORES];

/* What a GPU adds. Its vector_bytes are the widest access of one thread, its threads are 1. */
typedef struct un__gpu {
  const char *arch;              /* what NVRTC compiles for: "sm_90a"; NULL: no GPU */
  uint32_t units;                /* multiprocessors */
  uint32_t warp;                 /* lanes that run together */
  uint32_t max_group;            /* threads of one block */
  uint32_t unit_threads;         /* threads that one multiprocessor holds */
  uint32_t unit_registers;       /* 32-bit registers of one multiprocessor */
  uint32_t shared_bytes;         /* of one block, at most */
  uint32_t unit_shared_bytes;    /* of one multiprocessor */
  uint64_t l2_bytes;
  double bytes_per_second;       /* of device memory */
  double f32_flops;              /* a second, fma counted as two, no tensor cores */
  bool async_copies;             /* from device memory to shared memory, past registers */
  uint32_t tensor_cores;         /* bit i: those of un__tensor_core_table[i] */
} un__gpu;

/* Where the pieces of a block's shared memory begin: at multiples of it. */
enum { UN__LOCAL_ALIGN = 128 };

/* Keys of kernels on disk hold the bytes of a description: those between fields are 0, or its kernels are not found again. */
typedef struct un__target {
  const char *name;              /* goes into keys: same description, same kernels */
  const char *triple;            /* LLVM's target triple; "": this machine's */
  const char *cpu, *features;    /* LLVM's cpu and feature string; "" off the CPU */
  uint32_t threads;              /* parallel tasks that make sense */
  uint32_t vector_bytes;         /* widest SIMD register; 0: scalar only */
  uint32_t vector_registers;     /* how many of them */
  uint32_t mask_bytes;           /* the narrowest element whose vectors are loaded under a mask; 0: none are */
  uint32_t l1_bytes, l2_bytes;   /* per core */
  uint64_t l3_bytes;             /* shared */
  uint32_t cache_line;
  bool has_threads, has_local;   /* which AxisTypes exist */
  bool fma, native_f16, native_bf16;
  bool f16_convert;              /* f16 <-> f32 conversions in hardware */
  bool bf16_convert;             /* f32 -> bf16, too */
  bool f32_functions;            /* EXP EXP2 LOG LOG2 TANH of f32 within 2 ULP, in fewer instructions than are written
                                    out; EXP2_NEAR and TANH_NEAR */
  bool wide_index;               /* scalar addresses are cheapest in 64 bits */
  bool online_pays;              /* a second pass over memory costs more than rescaling sums. On CPUs it does not: rows lie in a
                                    cache, and softmax in one pass took 1.0 to 1.6 times as long, a variance up to 2 times. On a
                                    GPU neither: a block holds its row in registers, and a layer norm of 8192 x 8192 took
                                    289 us in one pass on an H200, where reading and writing it takes 130 */
  uint32_t min_parallel_work;    /* scalar operations below which one thread does it all */
  un__gpu gpu;                   /* of a GPU, else all 0 */
} un__target;

/* Fills in the machine this process runs on (cpuid-derived fields of /sys and sysconf; deterministic per machine).
 * The description is static, any thread. UNIR_THREADS overrides threads. */
const un__target *un__target_host(void);
const un__target *un__target_generic(void);   /* a fixed AVX2-class description with 2 threads: goldens use it */
const un__target *un__target_interp(void);    /* nothing parallel, nothing vector: interp */

/* Descriptions by name: "host", "generic", "avx512" (a fixed AVX-512-class one with 4 threads), "interp", and the GPUs by
 * their architecture: "sm_80" (A100), "sm_90a" (H200), "sm_100a" (B200), "sm_120a" (RTX 5090). NULL: none. */
const un__target *un__target_by_name(const char *name);
const char *un__target_name(size_t i);        /* the i-th name, from 0; NULL after the last */
const un__target *un__target_gpu(size_t i);   /* of these the i-th GPU */
/* Whether machine code for t can run in this process. */
bool un__target_runs_here(const un__target *t);

/* What a machine reaches at best: bytes a second from memory, f32 operations a second, an fma counted as two. 0: not known. A CPU's
 * arithmetic is threads x lanes x an fma in each of two pipes x the clock, which only this machine's own description has (from
 * /sys); nothing tells a CPU's bandwidth. */
typedef struct un__peak { double bytes_per_second, f32_flops; } un__peak;
un__peak un__target_peak(const un__target *t);

/* How many blocks of a kernel one multiprocessor holds at a time, and what sets the limit. */
typedef struct un__occupancy { uint32_t blocks, warps, max_warps; const char *limit; } un__occupancy;
/* registers of one thread; 0: not known, so no limit. blocks 0: not one fits. */
un__occupancy un__gpu_occupancy(const un__gpu *gpu, uint32_t threads, uint32_t registers, uint32_t shared_bytes);

/* Room for the name of a GPU's description. */
enum { UN__GPU_NAME = 96 };
/* The description of a GPU whose own fields are known, named by all that decides about kernels. `name` holds UN__GPU_NAME
 * bytes and lives as long as *out, like the text of gpu->arch. */
void un__target_of_gpu(const un__gpu *gpu, char *name, un__target *out);
/* Whether a kernel may begin before the one in front of it has ended, and waits for that by an instruction: from sm_90 on. */
bool un__gpu_overlaps(const un__gpu *gpu);

#endif
