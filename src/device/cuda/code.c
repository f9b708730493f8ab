/* code.c - kernels of the device: loaded and launched. */
#include "base/mem.h"
#include "compile.h"
#include "cuda.h"
#include "nvrtc.h"

struct un__code {
  cu_module module;
  cu_function function;
  uint32_t nargs, nvars, group, local_bytes;
  bool overlaps;             /* it may begin before the kernel in front of it has ended */
  un__launch_formula tasks;
  un__code_facts facts;
};

/* ---- loading ---- */

/* More than 48 KiB of shared memory must be asked for. */
enum { SHARED_FOR_ALL = 48 * 1024 };

static un_status load(un__cuda *c, const void *cubin, const char *entry, un__code *code, un__err *err) {
  cu_result r;
  UN__CUDA_WITH_MEMORY(c, r, c->cu->module_load(&code->module, cubin));
  UN__TRY(un__cuda_check(c, r, "loading a kernel", err));
  UN__TRY(un__cuda_check(c, c->cu->module_function(&code->function, code->module, entry), "finding a kernel", err));
  if (code->local_bytes > SHARED_FOR_ALL)
    UN__TRY(un__cuda_check(c, c->cu->function_set(code->function, CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)code->local_bytes),
                           "asking for shared memory", err));
  return UN_OK;
}

/* The driver knows better than the compiler's log, where it answers. */
static void read_facts(un__cuda *c, un__code *code) {
  int registers = 0, local = 0, shared = 0;
  if (c->cu->function_attribute(&registers, CU_FUNCTION_REGISTERS, code->function) == 0) code->facts.registers = (uint32_t)registers;
  if (c->cu->function_attribute(&local, CU_FUNCTION_LOCAL, code->function) == 0) code->facts.local_bytes = (uint32_t)local;
  if (c->cu->function_attribute(&shared, CU_FUNCTION_SHARED, code->function) == 0)
    code->facts.shared_bytes = (uint32_t)shared + code->local_bytes;
}

static un_status enter_and_load(un__cuda *c, const un__artifact *a, const void *cubin, un__code *code, un__err *err) {
  UN__TRY(un__cuda_enter(c, err));
  un_status status = load(c, cubin, a->entry, code, err);
  if (status == UN_OK) read_facts(c, code);
  else if (code->module) c->cu->module_unload(code->module);
  un__cuda_leave(c);
  return status;
}

/* What another process compiled is loaded as it is. */
un_status un__cuda_compile(un__device *d, const un__artifact *a, un__code **out, un__err *err) {
  un__cuda *c = un__cuda_of(d);
  un__blob own = {NULL, 0};
  *out = NULL;
  UN__TRY(un__cuda_check_artifact(a, d->target, err));
  un__code *code = un__calloc(1, sizeof *code);
  if (!code) return un__fail(err, UN_ERR_NOMEM, "no memory for compiled code");
  *code = (un__code){.nargs = a->nargs, .nvars = a->nvars, .group = a->group, .local_bytes = a->local_bytes, .tasks = a->tasks,
                     .overlaps = a->waits && un__gpu_overlaps(&d->target->gpu)};
  un_status status = a->binary.bytes ? UN_OK : un__cuda_cubin(a, d->target, c->cu->version, &own, &code->facts, err);
  if (status == UN_OK) status = enter_and_load(c, a, own.bytes ? own.bytes : a->binary.bytes, code, err);
  if (status == UN_OK && a->keep && own.bytes) *a->keep = own;
  else un__free(own.bytes);
  if (status == UN_OK) *out = code;
  else un__free(code);
  return status;
}

un_status un__cuda_identity(un__device *d, un__strbuf *out, un__err *err) {
  int major, minor;
  UN__TRY(un__nvrtc_version(un__cuda_of(d)->cu->version, &major, &minor, err));
  un__sb_printf(out, "cuda %s NVRTC %d.%d%s", d->target->gpu.arch, major, minor, un__nvrtc_options);
  return out->failed ? un__fail(err, UN_ERR_NOMEM, "no memory for a device's identity") : UN_OK;
}

/* Launches of it may be on the way. */
void un__cuda_code_release(un__device *d, un__code *code) {
  un__cuda *c = un__cuda_of(d);
  if (!code) return;
  if (un__cuda_enter(c, NULL) != UN_OK) {
    un__free(code);
    return;
  }
  un__cuda_check(c, c->cu->stream_sync(c->stream), "waiting for kernels", NULL);
  c->cu->module_unload(code->module);
  un__free(code);
  un__cuda_leave(c);
}

void un__cuda_code_facts(const un__device *d, const un__code *code, un__code_facts *out) { *out = code->facts; }

/* ---- launching ---- */

enum { MAX_Y = 65535 };
static const int64_t max_x = INT32_MAX;

/* More blocks than the first dimension holds go on in the second; the kernel leaves those past the last alone. */
static un_status grid_of(const un__cuda *c, int64_t tasks, unsigned *x, unsigned *y, un__err *err) {
  int64_t rows = tasks / max_x + (tasks % max_x != 0);
  if (rows > MAX_Y)
    return un__fail(err, UN_ERR_UNSUPPORTED, "%s: a kernel of %lld blocks: expected at most %lld", c->base.name, (long long)tasks,
                    (long long)(max_x * MAX_Y));
  *y = (unsigned)rows;
  *x = rows ? (unsigned)(tasks / rows + (tasks % rows != 0)) : 0;
  return UN_OK;
}

un_status un__cuda_prepare(const un__cuda *c, const un__code *code, un__mem *const *args, const int64_t *vars, un__cuda_launching *out,
                           un__err *err) {
  uint32_t n = code->nargs + code->nvars;
  int64_t tasks;
  out->params = out->on_stack;
  out->overlaps = code->overlaps;
  UN__TRY(un__launch_eval(&code->tasks, vars, code->nvars, &tasks, err));
  out->node = (cu_kernel_node){.function = code->function, .gz = 1, .bx = code->group, .by = 1, .bz = 1, .shared = code->local_bytes};
  UN__TRY(grid_of(c, tasks, &out->node.gx, &out->node.gy, err));
  if (n > UN__CUDA_ON_STACK && !(out->params = un__alloc(n * sizeof *out->params)))
    return un__fail(err, UN_ERR_NOMEM, "no memory to launch a kernel");
  for (uint32_t i = 0; i < code->nargs; i++) out->params[i] = (void *)&args[i]->at;
  for (uint32_t i = 0; i < code->nvars; i++) out->params[code->nargs + i] = (void *)&vars[i];
  out->node.params = out->params;
  return UN_OK;
}

void un__cuda_prepared(un__cuda_launching *l) {
  if (l->params != l->on_stack) un__free(l->params);
}

static un_status start(un__cuda *c, const un__cuda_launching *l, un__err *err) {
  const cu_kernel_node *k = &l->node;
  static const cu_attribute early = {.id = CU_LAUNCH_PROGRAMMATIC, .value.flag = 1};
  const cu_launch how = {k->gx, k->gy, k->gz, k->bx, k->by, k->bz, k->shared, c->stream, &early, l->overlaps};
  cu_result r;
  if (!k->gx) return un__cuda_alive(c, err);
  UN__TRY(un__cuda_enter(c, err));
  UN__CUDA_WITH_MEMORY(c, r, c->cu->launch(&how, k->function, k->params, NULL));
  un_status status = un__cuda_check(c, r, "launching a kernel", err);
  un__cuda_leave(c);
  return status;
}

un_status un__cuda_launch(un__device *d, un__code *code, un__mem *const *args, const int64_t *vars, un__err *err) {
  un__cuda_launching l;
  un_status status = un__cuda_prepare(un__cuda_of(d), code, args, vars, &l, err);
  if (status == UN_OK) status = start(un__cuda_of(d), &l, err);
  un__cuda_prepared(&l);
  return status;
}
