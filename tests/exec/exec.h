/* exec.h - one table of cases, many ways to run them.
 *
 * A case is one op on one dtype with operands and expected results from tests/exec/reference. A backend computes the
 * results; exec_ops.c compares. All in one plain process with TAP output, because devices are slow to open.
 */
#ifndef UN_TESTS_EXEC_H
#define UN_TESTS_EXEC_H

#include "base/status.h"
#include "uop/eval.h"

enum { EXEC_OPERANDS = 3 };

typedef struct exec_case {
  char name[64];                        /* "cast f32 i8" */
  un__op op;
  un_dtype result, operand[EXEC_OPERANDS];
  uint32_t noperands;
  size_t n;
  void *data[EXEC_OPERANDS];            /* n elements in storage form */
  const uint64_t *want;                 /* n bit patterns */
} exec_case;

typedef struct exec_backend {
  const char *name;
  bool reference;                       /* the reference itself: held to tighter bounds than devices */
  un_status (*open)(void **out, un__err *err);
  /* Fills n elements of storage. UN_ERR_UNSUPPORTED: the case is skipped. */
  un_status (*run)(void *self, const exec_case *c, void *out, un__err *err);
  void (*close)(void *self);
  bool may_miss;                        /* a machine without it skips its tests */
} exec_backend;

extern const exec_backend exec_eval, exec_tensor, exec_kernel;
#ifdef UN_EXEC_LOWER
extern const exec_backend exec_kernel_opt, exec_interp, exec_interp_opt, exec_cc_opt, exec_cuda, exec_cuda_opt, exec_cuda_compiled;
#ifdef UN_EXEC_CPU
extern const exec_backend exec_cpu, exec_cpu_opt;
#endif
#endif

/* The kernel that computes a case: out[i] = op(operand 0 [i], ...); results in PARAM 0. NULL: see the graph's error. */
const un_uop *exec_kernel_of(un__graph *ws, const exec_case *c);
/* Interprets such a kernel on the case's memory. */
un_status exec_interpret(const un_uop *kernel, const exec_case *c, void *out, un__err *err);

#endif
