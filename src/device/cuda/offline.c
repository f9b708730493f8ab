/* offline.c - the device "cuda:sm_90a" and its like: a GPU that is described, not present. Kernels are compiled for it and can
 * be looked at; what would run them is missing, so its memory is the host's and a launch is a status. */
#include <stdio.h>

#include "base/mem.h"
#include "compile.h"
#include "device/host_mem.h"

struct un__code { un__code_facts facts; };

static un_status compile(un__device *d, const un__artifact *a, un__code **out, un__err *err) {
  un__blob cubin;
  *out = NULL;
  un__code *code = un__calloc(1, sizeof *code);
  if (!code) return un__fail(err, UN_ERR_NOMEM, "no memory for compiled code");
  un_status status = un__cuda_cubin(a, d->target, 0, &cubin, &code->facts, err);
  un__free(cubin.bytes);
  if (status == UN_OK) *out = code;
  else un__free(code);
  return status;
}

static void code_release(un__device *d, un__code *code) { un__free(code); }
static void facts(const un__device *d, const un__code *code, un__code_facts *out) { *out = code->facts; }

static un_status launch(un__device *d, un__code *code, un__mem *const *args, const int64_t *vars, un__err *err) {
  return un__fail(err, UN_ERR_UNSUPPORTED, "%s: a GPU that is described only cannot run kernels; they can be shown", d->name);
}

static un_status disassemble(un__device *d, const un__artifact *a, char **out, un__err *err) {
  *out = NULL;
  return un__cuda_assembly(a, d->target, 0, out, err);
}

static const un__device_vtable vtable = {
  .kind = "cuda", .compile = compile, .code_release = code_release, .launch = launch, .disassemble = disassemble, .facts = facts,
  .destroy = un__host_device_destroy, UN__HOST_MEMORY,
};

un_status un__cuda_open_offline(const un__target *t, un__device **out, un__err *err) {
  char name[32];
  snprintf(name, sizeof name, "cuda:%s", t->gpu.arch);
  *out = un__host_device_create(sizeof(un__host_device), &vtable, t, name, err);
  return *out ? UN_OK : UN_ERR_NOMEM;
}
