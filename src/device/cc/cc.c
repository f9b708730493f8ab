/* cc.c - the device "cc": C through the system's compiler, loaded into this process. What it shares with GPUs, the C-like
 * renderer, is thereby run and compared on machines that have none. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "compiler.h"
#include "device/host_mem.h"
#include "device/host_run.h"

typedef struct cc {
  un__host_device host;
  un__host_runner runner;
  un__target target;
  char target_name[104];
  pthread_mutex_t lock;      /* guards what follows */
  char *named, *identity;    /* of the compiler that UNIR_CC named when it was asked; NULL: not asked */
} cc;

struct un__code {
  void *library;
  un__host_kernel kernel;
};

static cc *of(un__device *d) { return (cc *)d; }

static un_status check_format(const un__artifact *a, un__err *err) {
  return a->format == UN__FORMAT_C ? UN_OK : un__fail(err, UN_ERR_UNSUPPORTED, "cc: artifacts are C text");
}

static un_status find_entry(un__code *code, const char *name, un__err *err) {
  void *entry = dlsym(code->library, name);
  if (!entry) return un__fail(err, UN_ERR_COMPILE, "cc: there is no function %s in what was compiled", name);
  *(void **)&code->kernel.fn = entry;      /* as POSIX wants it */
  return UN_OK;
}

static void code_release(un__device *d, un__code *code) {
  if (!code) return;
  if (code->library) dlclose(code->library);
  un__host_kernel_finish(&code->kernel);
  un__free(code);
}

static un_status load(un__device *d, const un__artifact *a, void **out_library, un__err *err) {
  if (a->binary.bytes) return un__cc_load(&a->binary, out_library, err);
  return un__cc_compile(a->bytes, a->size, d->target, out_library, a->keep, err);
}

static un_status compile(un__device *d, const un__artifact *a, un__code **out, un__err *err) {
  UN__TRY(check_format(a, err));
  if (!un__target_runs_here(d->target))
    return un__fail(err, UN_ERR_UNSUPPORTED, "cc: code for %s cannot run on this machine; it can be shown", d->target->name);
  un__code *code = un__calloc(1, sizeof *code);
  un_status status = code ? un__host_kernel_init(&code->kernel, a, err) : un__fail(err, UN_ERR_NOMEM, "no memory for compiled code");
  if (status == UN_OK) status = load(d, a, &code->library, err);
  if (status == UN_OK) status = find_entry(code, a->entry, err);
  if (status == UN_OK) return *out = code, UN_OK;
  code_release(d, code);
  return status;
}

static un_status launch(un__device *d, un__code *code, un__mem *const *args, const int64_t *vars, un__err *err) {
  return un__host_run(&of(d)->runner, &code->kernel, args, vars, err);
}

static un_status disassemble(un__device *d, const un__artifact *a, char **out, un__err *err) {
  UN__TRY(check_format(a, err));
  return un__cc_assembly(a->bytes, a->size, d->target, out, err);
}

/* ---- who compiles ---- */

static void forget_compiler(cc *c) {
  un__free(c->named);
  un__free(c->identity);
  c->named = c->identity = NULL;
}

static un_status ask_compiler(cc *c, un__err *err) {
  un__strbuf text;
  un__sb_init(&text);
  forget_compiler(c);
  un_status status = un__cc_identity(&text, err);
  if (status == UN_OK && !(c->named = un__strdup(un__cc_name()))) status = un__fail(err, UN_ERR_NOMEM, "no memory for a compiler's name");
  if (status == UN_OK) c->identity = text.at;
  else un__sb_finish(&text);
  return status;
}

/* The compiler is asked once, and again when the environment names another one. */
static un_status identity(un__device *d, un__strbuf *out, un__err *err) {
  cc *c = of(d);
  pthread_mutex_lock(&c->lock);
  bool known = c->named && strcmp(c->named, un__cc_name()) == 0;
  un_status status = known ? UN_OK : ask_compiler(c, err);
  if (status == UN_OK) un__sb_puts(out, c->identity);
  pthread_mutex_unlock(&c->lock);
  return status;
}

static void destroy(un__device *d) {
  cc *c = of(d);
  forget_compiler(c);
  pthread_mutex_destroy(&c->lock);
  un__host_runner_finish(&c->runner);
  un__host_device_destroy(d);
}

static const un__device_vtable vtable = {
  .kind = "cc", .compile = compile, .code_release = code_release, .launch = launch, .disassemble = disassemble,
  .identity = identity, .destroy = destroy, UN__HOST_MEMORY,
};

/* The machine as plain C has it: there are no conversions of f16 that every compiler knows. Vectors stay: a register of
 * lanes is a block of scalars here, which compilers put together again. */
static void describe(cc *c, const un__target *t) {
  c->target = *t;
  c->target.f16_convert = c->target.native_f16 = c->target.native_bf16 = false;
  if (c->target.vector_bytes > 16) c->target.vector_bytes = 16;
  snprintf(c->target_name, sizeof c->target_name, "cc-%s", t->name);
  c->target.name = c->target_name;
}

un_status un__cc_open(const un__target *t, uint32_t threads, un__device **out, un__err *err) {
  *out = NULL;
  if (t && t->gpu.arch) return un__fail(err, UN_ERR_DEVICE, "device \"cc\" makes no code for %s", t->name);
  cc *c = un__host_device_create(sizeof *c, &vtable, NULL, "cc", err);
  if (!c) return UN_ERR_NOMEM;
  pthread_mutex_init(&c->lock, NULL);
  describe(c, t ? t : un__target_host());
  c->host.base.target = &c->target;
  un__host_runner_init(&c->runner, threads);
  *out = &c->host.base;
  return UN_OK;
}
