/* device.h - what a device is to the engine: memory, programs, launch. It receives artifacts, never graphs. */
#ifndef UN_DEVICE_DEVICE_H
#define UN_DEVICE_DEVICE_H

#include "base/status.h"
#include "target/target.h"

typedef enum un__format {
  UN__FORMAT_LLVM_IR,     /* text: cpu, null */
  UN__FORMAT_UN_LINEAR,   /* .un text of a linear kernel: interp */
  UN__FORMAT_C,           /* text */
  UN__FORMAT_CUDA_C       /* text */
} un__format;

enum { UN__LAUNCH_MAX = 32 };

/* How many tasks to launch, as postfix bytecode over the kernel's VAR values, evaluated with checked int64. */
typedef enum un__launch_op { UN__LAUNCH_CONST, UN__LAUNCH_VAR, UN__LAUNCH_ADD, UN__LAUNCH_SUB, UN__LAUNCH_MUL,
                             UN__LAUNCH_FLOORDIV, UN__LAUNCH_MAX_OF, UN__LAUNCH_MIN_OF } un__launch_op;
typedef struct un__launch_formula {
  uint32_t n;
  struct { un__launch_op op; int64_t arg; } code[UN__LAUNCH_MAX];
} un__launch_formula;

typedef struct un__artifact {
  un__format format;
  const char *bytes;             /* borrowed for the call */
  size_t size;
  const char *entry;             /* symbol of the kernel */
  uint32_t nargs;                /* buffers */
  uint32_t nvars;
  un__launch_formula tasks;      /* the grid: pool tasks of a CPU, blocks of a GPU */
  uint32_t group;                /* threads of one block; 1 on a CPU */
  uint32_t local_bytes;          /* memory that the threads of a block share */
} un__artifact;

typedef struct un__device un__device;
typedef struct un__code un__code;        /* compiled kernel */
typedef struct un__mem un__mem;          /* device memory */

typedef struct un__device_vtable {
  const char *kind;                      /* "cpu", "interp", "null" */
  un_status (*compile)(un__device *d, const un__artifact *a, un__code **out, un__err *err);   /* any thread */
  void (*code_release)(un__device *d, un__code *c);
  un_status (*alloc)(un__device *d, size_t size, un__mem **out, un__err *err);      /* zero-size allowed; 64-byte aligned */
  un_status (*wrap)(un__device *d, void *host, size_t size, un__mem **out, un__err *err);   /* borrow host memory */
  void (*free)(un__device *d, un__mem *m);
  un_status (*write)(un__device *d, un__mem *m, size_t offset, const void *src, size_t size, un__err *err);
  un_status (*read)(un__device *d, const un__mem *m, size_t offset, void *dst, size_t size, un__err *err);
  un_status (*launch)(un__device *d, un__code *c, un__mem *const *args, const int64_t *vars, un__err *err);
  un_status (*sync)(un__device *d, un__err *err);
  /* Machine code as assembly text for `unir show --stage=asm`; UN_ERR_UNSUPPORTED where there is none. The text is
   * the caller's (un__free). */
  un_status (*disassemble)(un__device *d, const un__artifact *a, char **out, un__err *err);
  void (*destroy)(un__device *d);
} un__device_vtable;

struct un__device {
  const un__device_vtable *vt;
  const un__target *target;
  char name[32];                         /* "cpu", "cpu:avx512", "cuda:0" */
};

/* Opens a device. t: what it compiles for, NULL means this machine; a device whose code this machine cannot run still
 * disassembles. Threads: 0 means one per online processor. Devices are safe to use from several threads;
 * launches on one device run one after another. */
un_status un__cpu_open(const un__target *t, uint32_t threads, un__device **out, un__err *err);
un_status un__null_open(const un__target *t, un__device **out, un__err *err);
/* interp's opener lives in interp/interp.h: it needs graphs. */

/* Evaluates a launch formula; overflow or a negative result is UN_ERR_INVALID_ARG. */
un_status un__launch_eval(const un__launch_formula *f, const int64_t *vars, uint32_t nvars, int64_t *out, un__err *err);

/* CPU kernels have this signature; task is in [0, tasks). */
typedef void (*un__cpu_kernel)(void *const *args, const int64_t *vars, int64_t task);

#endif
