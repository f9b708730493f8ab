/* device.h - what a device is to the engine: memory, programs, launch. It receives artifacts, never graphs. */
#ifndef UN_DEVICE_DEVICE_H
#define UN_DEVICE_DEVICE_H

#include "base/status.h"
#include "base/strbuf.h"
#include "target/target.h"

typedef enum un__format {
  UN__FORMAT_LLVM_IR,     /* text: cpu, null */
  UN__FORMAT_UN_LINEAR,   /* .un text of a linear kernel: interp */
  UN__FORMAT_C,           /* text: cc */
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

/* Machine code in the device's own form, good for other processes with the same identity(). */
typedef struct un__blob { void *bytes; size_t size; } un__blob;

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
  bool waits;                    /* by itself, for the launches before it, where the device lets kernels overlap */
  un__blob binary;             /* what compiling the same gave in another process, borrowed: then the text may be missing.
                                    Bytes NULL: compile */
  un__blob *keep;              /* compile() leaves here what is worth keeping, the caller's (un__free); NULL: not wanted */
} un__artifact;

/* What a compiler says of a kernel that it compiled. */
typedef struct un__code_facts {
  uint32_t registers;            /* of one thread */
  uint32_t spill_bytes;          /* moved by the stores and loads of values that found no register */
  uint32_t local_bytes;          /* memory of one thread in place of registers: arrays and spilled values */
  uint32_t shared_bytes;         /* of one block, what a launch asks for included */
} un__code_facts;

typedef struct un__device un__device;
typedef struct un__code un__code;        /* compiled kernel */
typedef struct un__mem un__mem;          /* device memory */
typedef struct un__timer un__timer;      /* a running clock */

/* One step of a program that is run again and again: a kernel, or (code NULL) a copy of `bytes` bytes, args[1] to args[0].
 * The arrays belong to the caller and stay where they are as long as the recording; what is in them may change. */
typedef struct un__launch {
  un__code *code;
  un__mem *const *args;
  uint32_t nargs;
  size_t bytes;
} un__launch;
typedef struct un__recording un__recording;     /* a list of launches, made ready */

typedef struct un__device_vtable {
  const char *kind;                      /* "cpu", "cc", "cuda", "interp", "null" */
  un_status (*compile)(un__device *d, const un__artifact *a, un__code **out, un__err *err);   /* any thread */
  void (*code_release)(un__device *d, un__code *c);
  un_status (*alloc)(un__device *d, size_t size, un__mem **out, un__err *err);      /* zero-size allowed; 64-byte aligned */
  /* The host's memory as it is now: borrowed where the device can reach it, else copied. Read only. */
  un_status (*wrap)(un__device *d, void *host, size_t size, un__mem **out, un__err *err);
  void (*free)(un__device *d, un__mem *m);
  un_status (*write)(un__device *d, un__mem *m, size_t offset, const void *src, size_t size, un__err *err);
  un_status (*read)(un__device *d, const un__mem *m, size_t offset, void *dst, size_t size, un__err *err);
  /* Where the memory is for the host, who may read and write it while nothing is launched. NULL: out of its reach. */
  void *(*address)(un__device *d, const un__mem *m);
  un_status (*launch)(un__device *d, un__code *c, un__mem *const *args, const int64_t *vars, un__err *err);
  un_status (*sync)(un__device *d, un__err *err);
  /* Within the device: the first `size` bytes. */
  un_status (*copy)(un__device *d, un__mem *dst, const un__mem *src, size_t size, un__err *err);
  /* A whole program in one launch. All four, or all NULL: then the engine launches step by step. update: the arguments of
   * launch i are others from now on. replay allocates nothing on the host. */
  un_status (*record)(un__device *d, const un__launch *launches, uint32_t n, un__recording **out, un__err *err);
  un_status (*update)(un__device *d, un__recording *r, uint32_t i, un__err *err);
  un_status (*replay)(un__device *d, un__recording *r, un__err *err);
  void (*recording_release)(un__device *d, un__recording *r);
  /* Machine code as assembly text for `unir show --stage=asm`; UN_ERR_UNSUPPORTED where there is none. The text is
   * the caller's (un__free). */
  un_status (*disassemble)(un__device *d, const un__artifact *a, char **out, un__err *err);
  /* Whatever decides, beside the artifact, what compile() makes of it: compiler and version, options, processor. NULL:
   * nothing is kept for other processes. */
  un_status (*identity)(un__device *d, un__strbuf *out, un__err *err);
  /* NULL: the compiler does not say. */
  void (*facts)(const un__device *d, const un__code *c, un__code_facts *out);
  /* The time from one call to the other on the device's own clock, launches between them included; stop waits for them and
   * frees the timer, also on failure. NULL: launches return when they are done, so any clock will do. */
  un_status (*timer_start)(un__device *d, un__timer **out, un__err *err);
  un_status (*timer_stop)(un__device *d, un__timer *t, double *out_seconds, un__err *err);
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
un_status un__cc_open(const un__target *t, uint32_t threads, un__device **out, un__err *err);
un_status un__null_open(const un__target *t, un__device **out, un__err *err);
/* which: the number of a GPU, "0"; or the name of a GPU's description, "sm_90a", for a device that compiles but cannot run. */
un_status un__cuda_open(const char *which, un__device **out, un__err *err);
/* interp's opener lives in interp/interp.h: it needs graphs. */

/* How many GPUs can be opened, without opening one. *out is 0 on failure, which says why there is none. */
un_status un__cuda_count(int *out, un__err *err);
/* A line for people about one of them. UN_ERR_NOMEM only of the text. */
un_status un__cuda_describe(int ordinal, un__strbuf *out, un__err *err);

/* Evaluates a launch formula; overflow or a negative result is UN_ERR_INVALID_ARG. */
un_status un__launch_eval(const un__launch_formula *f, const int64_t *vars, uint32_t nvars, int64_t *out, un__err *err);

/* CPU kernels have this signature; task is in [0, tasks). */
typedef void (*un__cpu_kernel)(void *const *args, const int64_t *vars, int64_t task);

#endif
