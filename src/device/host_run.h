/* host_run.h - how a device whose kernels are functions of this process runs them: tasks on a pool of threads. */
#ifndef UN_DEVICE_HOST_RUN_H
#define UN_DEVICE_HOST_RUN_H

#include <pthread.h>

#include "device.h"
#include "pool.h"

typedef struct un__host_runner {
  pthread_mutex_t lock;        /* launches run one after another */
  un__pool *pool;              /* created by the first parallel launch */
  uint32_t threads;
} un__host_runner;

/* What a launch needs to know of a kernel. */
typedef struct un__host_kernel {
  un__cpu_kernel fn;
  uint32_t nargs, nvars;
  un__launch_formula tasks;
  void **args;                 /* of a launch, under the runner's lock: launching allocates nothing */
} un__host_kernel;

/* threads: 0 means one per online processor. */
void un__host_runner_init(un__host_runner *r, uint32_t threads);
void un__host_runner_finish(un__host_runner *r);
/* All but the function itself. */
un_status un__host_kernel_init(un__host_kernel *k, const un__artifact *a, un__err *err);
void un__host_kernel_finish(un__host_kernel *k);
un_status un__host_run(un__host_runner *r, un__host_kernel *k, un__mem *const *args, const int64_t *vars, un__err *err);

#endif
