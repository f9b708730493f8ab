/* cpu.c - the device "cpu": LLVM IR through ORC, tasks on a pool of threads. */
#include <pthread.h>

#include "base/mem.h"
#include "device/host_mem.h"
#include "device/host_run.h"
#include "jit.h"

typedef struct cpu {
  un__host_device host;
  un__host_runner runner;
  pthread_mutex_t lock;        /* guards jit being created */
  un__jit *jit;                /* created by the first compilation */
} cpu;

struct un__code {
  un__jit_code *jit_code;
  un__host_kernel kernel;
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

/* The object of another process, or a new one. What is kept is the caller's. */
static un_status load(cpu *c, const un__artifact *a, un__code *code, un__err *err) {
  if (a->binary.bytes) return un__jit_load(c->jit, &a->binary, a->entry, &code->jit_code, &code->kernel.fn, err);
  un__blob object;
  UN__TRY(un__jit_compile(c->jit, a->bytes, a->size, a->entry, &object, err));
  un_status status = un__jit_load(c->jit, &object, a->entry, &code->jit_code, &code->kernel.fn, err);
  if (status == UN_OK && a->keep) *a->keep = object;
  else un__free(object.bytes);
  return status;
}

static un_status compile(un__device *d, const un__artifact *a, un__code **out, un__err *err) {
  UN__TRY(check_format(a, err));
  if (!un__target_runs_here(d->target))
    return un__fail(err, UN_ERR_UNSUPPORTED, "cpu: code for %s cannot run on this machine; it can be shown", d->target->name);
  UN__TRY(need_jit(of(d), err));
  un__code *code = un__calloc(1, sizeof *code);
  un_status status = code ? un__host_kernel_init(&code->kernel, a, err) : un__fail(err, UN_ERR_NOMEM, "no memory for compiled code");
  if (status == UN_OK) status = load(of(d), a, code, err);
  if (status == UN_OK) return *out = code, UN_OK;
  if (code) un__host_kernel_finish(&code->kernel);
  un__free(code);
  return status;
}

static void code_release(un__device *d, un__code *code) {
  if (!code) return;
  un__jit_release(of(d)->jit, code->jit_code);
  un__host_kernel_finish(&code->kernel);
  un__free(code);
}

static un_status launch(un__device *d, un__code *code, un__mem *const *args, const int64_t *vars, un__err *err) {
  return un__host_run(&of(d)->runner, &code->kernel, args, vars, err);
}

static un_status disassemble(un__device *d, const un__artifact *a, char **out, un__err *err) {
  UN__TRY(check_format(a, err));
  UN__TRY(need_jit(of(d), err));
  return un__jit_assembly(of(d)->jit, a->bytes, a->size, out, err);
}

static un_status identity(un__device *d, un__strbuf *out, un__err *err) {
  un__jit_identity(d->target, out);
  return UN_OK;
}

static void destroy(un__device *d) {
  cpu *c = of(d);
  un__host_runner_finish(&c->runner);
  un__jit_destroy(c->jit);
  pthread_mutex_destroy(&c->lock);
  un__host_device_destroy(d);
}

static const un__device_vtable vtable = {
  .kind = "cpu", .compile = compile, .code_release = code_release, .launch = launch, .disassemble = disassemble,
  .identity = identity, .destroy = destroy, UN__HOST_MEMORY,
};

un_status un__cpu_open(const un__target *t, uint32_t threads, un__device **out, un__err *err) {
  cpu *c = un__host_device_create(sizeof *c, &vtable, t ? t : un__target_host(), "cpu", err);
  *out = NULL;
  if (!c) return UN_ERR_NOMEM;
  un__host_runner_init(&c->runner, threads);
  pthread_mutex_init(&c->lock, NULL);
  *out = &c->host.base;
  return UN_OK;
}
