/* cpu.c - the device "cpu": LLVM IR through ORC, tasks on a pool of threads. */
#include <pthread.h>
#include <stdio.h>

#include "base/mem.h"
#include "device/host_mem.h"
#include "jit.h"
#include "pool.h"

typedef struct cpu {
  un__host_device host;
  pthread_mutex_t lock;        /* guards jit and pool being created, and launches */
  un__jit *jit;                /* created by the first compilation */
  un__pool *pool;              /* created by the first parallel launch */
  uint32_t threads;
} cpu;

struct un__code {
  un__jit_code *jit_code;
  un__cpu_kernel fn;
  uint32_t nargs, nvars;
  un__launch_formula tasks;
  void **args;                 /* of a launch, under the device's lock */
};

static cpu *of(un__device *d) { return (cpu *)d; }

static un_status need_jit(cpu *c, un__err *err) {
  const un__target *t = c->host.base.target;
  pthread_mutex_lock(&c->lock);
  un_status status = c->jit ? UN_OK : un__jit_create(t, &c->jit, err);
  pthread_mutex_unlock(&c->lock);
  return status;
}

static un_status check_format(const un__artifact *a, un__err *err) {
  if (a->format == UN__FORMAT_LLVM_IR) return UN_OK;
  return un__fail(err, UN_ERR_UNSUPPORTED, "cpu: artifacts are LLVM IR text");
}

static un_status compile(un__device *d, const un__artifact *a, un__code **out, un__err *err) {
  UN__TRY(check_format(a, err));
  if (!un__target_runs_here(d->target))
    return un__fail(err, UN_ERR_UNSUPPORTED, "cpu: code for %s cannot run on this machine; it can be shown", d->target->name);
  UN__TRY(need_jit(of(d), err));
  un__code *code = un__calloc(1, sizeof *code);
  if (code) code->args = un__alloc(a->nargs * sizeof *code->args);
  if (!code || !code->args) {
    un__free(code);
    return un__fail(err, UN_ERR_NOMEM, "no memory for compiled code");
  }
  un_status status = un__jit_compile(of(d)->jit, a->bytes, a->size, a->entry, &code->jit_code, &code->fn, err);
  if (status != UN_OK) {
    un__free(code->args);
    un__free(code);
    return status;
  }
  code->nargs = a->nargs;
  code->nvars = a->nvars;
  code->tasks = a->tasks;
  *out = code;
  return UN_OK;
}

static void code_release(un__device *d, un__code *code) {
  if (!code) return;
  un__jit_release(of(d)->jit, code->jit_code);
  un__free(code->args);
  un__free(code);
}

typedef struct job { un__cpu_kernel fn; void *const *args; const int64_t *vars; } job;

static void run_task(void *data, int64_t i) {
  const job *j = data;
  j->fn(j->args, j->vars, i);
}

static un_status launch(un__device *d, un__code *code, un__mem *const *args, const int64_t *vars, un__err *err) {
  cpu *c = of(d);
  int64_t tasks;
  UN__TRY(un__launch_eval(&code->tasks, vars, code->nvars, &tasks, err));
  job j = {code->fn, code->args, vars};
  pthread_mutex_lock(&c->lock);
  for (uint32_t i = 0; i < code->nargs; i++) code->args[i] = args[i]->data;
  if (tasks > 1 && !c->pool) c->pool = un__pool_create(c->threads);
  if (tasks > 1 && c->pool) un__pool_run(c->pool, run_task, &j, tasks);
  else for (int64_t i = 0; i < tasks; i++) run_task(&j, i);
  pthread_mutex_unlock(&c->lock);
  return UN_OK;
}

static un_status disassemble(un__device *d, const un__artifact *a, char **out, un__err *err) {
  UN__TRY(check_format(a, err));
  UN__TRY(need_jit(of(d), err));
  return un__jit_assembly(of(d)->jit, a->bytes, a->size, out, err);
}

static void destroy(un__device *d) {
  cpu *c = of(d);
  un__pool_destroy(c->pool);
  un__jit_destroy(c->jit);
  un__host_heap_destroy(c->host.heap);
  pthread_mutex_destroy(&c->lock);
  un__free(c);
}

static const un__device_vtable vtable = {
  .kind = "cpu", .compile = compile, .code_release = code_release, .launch = launch, .disassemble = disassemble,
  .destroy = destroy, UN__HOST_MEMORY,
};

un_status un__cpu_open(const un__target *t, uint32_t threads, un__device **out, un__err *err) {
  *out = NULL;
  cpu *c = un__calloc(1, sizeof *c);
  un__host_heap *heap = c ? un__host_heap_create() : NULL;
  if (!heap) {
    un__free(c);
    return un__fail(err, UN_ERR_NOMEM, "no memory for a device");
  }
  c->host.base.vt = &vtable;
  c->host.base.target = t ? t : un__target_host();
  snprintf(c->host.base.name, sizeof c->host.base.name, "cpu");
  c->host.heap = heap;
  c->threads = threads ? threads : un__target_host()->threads;
  pthread_mutex_init(&c->lock, NULL);
  *out = &c->host.base;
  return UN_OK;
}
