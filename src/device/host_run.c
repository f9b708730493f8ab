#include "host_run.h"

#include "base/mem.h"
#include "host_mem.h"

void un__host_runner_init(un__host_runner *r, uint32_t threads) {
  *r = (un__host_runner){.threads = threads ? threads : un__target_host()->threads};
  pthread_mutex_init(&r->lock, NULL);
}

void un__host_runner_finish(un__host_runner *r) {
  un__pool_destroy(r->pool);
  pthread_mutex_destroy(&r->lock);
}

un_status un__host_kernel_init(un__host_kernel *k, const un__artifact *a, un__err *err) {
  *k = (un__host_kernel){.nargs = a->nargs, .nvars = a->nvars, .tasks = a->tasks, .args = un__alloc(a->nargs * sizeof *k->args)};
  return k->args ? UN_OK : un__fail(err, UN_ERR_NOMEM, "no memory for compiled code");
}

void un__host_kernel_finish(un__host_kernel *k) { un__free(k->args); }

typedef struct job { const un__host_kernel *kernel; const int64_t *vars; } job;

static void run_task(void *data, int64_t i) {
  const job *j = data;
  j->kernel->fn(j->kernel->args, j->vars, i);
}

un_status un__host_run(un__host_runner *r, un__host_kernel *k, un__mem *const *args, const int64_t *vars, un__err *err) {
  int64_t tasks;
  UN__TRY(un__launch_eval(&k->tasks, vars, k->nvars, &tasks, err));
  job j = {k, vars};
  pthread_mutex_lock(&r->lock);
  for (uint32_t i = 0; i < k->nargs; i++) k->args[i] = args[i]->data;
  if (tasks > 1 && !r->pool) r->pool = un__pool_create(r->threads);
  if (tasks > 1 && r->pool) un__pool_run(r->pool, run_task, &j, tasks);
  else for (int64_t i = 0; i < tasks; i++) run_task(&j, i);
  pthread_mutex_unlock(&r->lock);
  return UN_OK;
}
