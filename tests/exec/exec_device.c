/* exec_device.c - backends that run lowered code: a case becomes a kernel, is (or is not) optimised, lowered, rendered
 * and run by a device. On interp that checks the lowering alone, on cpu and cc also the renderer and the compiler. The
 * optimised interp pretends to have the generic CPU's vectors, so that vector lists are interpreted too. */
#include "exec.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "codegen/codegen.h"
#include "device/cuda/nvrtc.h"
#include "interp/interp.h"
#include "opt/opt.h"
#include "render_c/render_c.h"
#include "render_cuda/render_cuda.h"
#include "render_llvm/render_llvm.h"
#include "uop/text.h"

static const char entry[] = "exec_case";

/* The case's kernel, optimised for a target or as it is; NULL on failure. */
static const un_uop *kernel_for(un__graph *ws, const exec_case *c, const un__target *t, bool optimise) {
  const un_uop *kernel = exec_kernel_of(ws, c);
  un__opt_plan plan;
  if (!kernel || !optimise) return kernel;
  if (un__opt_heuristic(kernel, t, UN__LIC_PRECISE, &plan, NULL) != UN_OK) return NULL;
  return un__opt_apply(ws, kernel, &plan, t, UN__LIC_PRECISE);
}

static un_status render(const un_uop *linear, un__format format, const un__target *t, un__strbuf *out, un__err *err) {
  if (format == UN__FORMAT_C) return un__render_c(linear, entry, t, out, err);
  if (format == UN__FORMAT_CUDA_C) return un__render_cuda(linear, entry, t, out, err);
  if (format == UN__FORMAT_LLVM_IR) return un__render_llvm(linear, entry, t, out, err);
  un__print_text(out, linear, entry, UN__STAGE_LINEAR, false);
  return UN_OK;
}

static un_status artifact_of(un__graph *ws, const exec_case *c, un__format format, const un__target *t, bool optimise,
                             un__strbuf *text, un__artifact *out, un__err *err) {
  const un_uop *kernel = kernel_for(ws, c, t, optimise);
  const un_uop *linear = kernel ? un__lower(ws, kernel, t, UN__LIC_PRECISE) : NULL;
  if (!linear) return un__graph_status(ws);
  UN__TRY(render(linear, format, t, text, err));
  un__linear_facts facts = un__linear_facts_of(linear);
  *out = (un__artifact){.format = format,
                        .bytes = un__sb_str(text),
                        .size = text->n,
                        .entry = entry,
                        .nargs = facts.nargs,
                        .nvars = facts.nvars,
                        .group = (uint32_t)facts.group,
                        .local_bytes = (uint32_t)facts.local_bytes,
                        .tasks = {.n = 1, .code = {{UN__LAUNCH_CONST, facts.tasks}}}};
  return text->failed ? un__fail(err, UN_ERR_NOMEM, "no memory for text") : UN_OK;
}

static un_status launch(un__device *d, un__code *code, const exec_case *c, void *out, un__err *err) {
  un__mem *mem[EXEC_OPERANDS + 1] = {NULL};
  size_t size = c->n * un__dtype_table[c->result].size;
  un_status st = d->vt->alloc(d, size, &mem[0], err);
  for (uint32_t k = 1; st == UN_OK && k <= c->noperands; k++)
    st = d->vt->wrap(d, c->data[k - 1], c->n * un__dtype_table[c->operand[k - 1]].size, &mem[k], err);
  if (st == UN_OK) st = d->vt->launch(d, code, mem, NULL, err);
  if (st == UN_OK) st = d->vt->sync(d, err);
  if (st == UN_OK) st = d->vt->read(d, mem[0], 0, out, size, err);
  for (uint32_t k = 0; k <= c->noperands; k++)
    if (mem[k]) d->vt->free(d, mem[k]);
  return st;
}

static un_status run_on(un__device *d, const un__target *t, un__format format, bool optimise, const exec_case *c,
                        void *out, un__err *err) {
  un__graph *ws = un__workspace_create(err);
  if (!ws) return un__fail(err, UN_ERR_NOMEM, "no workspace");
  un__strbuf text;
  un__artifact art;
  un__code *code;
  un__sb_init(&text);
  un_status st = artifact_of(ws, c, format, t, optimise, &text, &art, err);
  if (st == UN_OK) st = d->vt->compile(d, &art, &code, err);
  if (st == UN_OK) {
    st = launch(d, code, c, out, err);
    d->vt->code_release(d, code);
  }
  un__sb_finish(&text);
  un__workspace_destroy(ws);
  return st;
}

/* The optimised kernel itself: every split range is a loop, and the result is the same. */
static un_status run_kernel_opt(void *self, const exec_case *c, void *out, un__err *err) {
  (void)self;
  un__graph *ws = un__workspace_create(err);
  if (!ws) return un__fail(err, UN_ERR_NOMEM, "no workspace");
  const un_uop *kernel = kernel_for(ws, c, un__target_generic(), true);
  un_status st = kernel ? exec_interpret(kernel, c, out, err) : un__graph_status(ws);
  un__workspace_destroy(ws);
  return st;
}

static un_status open_nothing(void **out, un__err *err) {
  (void)err;
  *out = NULL;
  return UN_OK;
}

static void close_nothing(void *self) { (void)self; }

const exec_backend exec_kernel_opt = {"kernel_opt", true, open_nothing, run_kernel_opt, close_nothing};

static void close_device(void *self) { ((un__device *)self)->vt->destroy(self); }

static un_status open_interp(void **out, un__err *err) { return un__interp_open(NULL, (un__device **)out, err); }

static un_status run_interp(void *self, const exec_case *c, void *out, un__err *err) {
  return run_on(self, un__target_interp(), UN__FORMAT_UN_LINEAR, false, c, out, err);
}

static un_status run_interp_opt(void *self, const exec_case *c, void *out, un__err *err) {
  return run_on(self, un__target_generic(), UN__FORMAT_UN_LINEAR, true, c, out, err);
}

const exec_backend exec_interp = {"interp", false, open_interp, run_interp, close_device};
const exec_backend exec_interp_opt = {"interp_opt", false, open_interp, run_interp_opt, close_device};

/* A compiler is started for each case, so only the optimised kernels are run. */
static un_status open_cc(void **out, un__err *err) { return un__cc_open(NULL, 2, (un__device **)out, err); }

static un_status run_cc_opt(void *self, const exec_case *c, void *out, un__err *err) {
  return run_on(self, ((un__device *)self)->target, UN__FORMAT_C, true, c, out, err);
}

const exec_backend exec_cc_opt = {"cc_opt", false, open_cc, run_cc_opt, close_device};

static un_status open_cuda(void **out, un__err *err) { return un__cuda_open("0", (un__device **)out, err); }

static un_status run_cuda(void *self, const exec_case *c, void *out, un__err *err) {
  return run_on(self, ((un__device *)self)->target, UN__FORMAT_CUDA_C, false, c, out, err);
}

static un_status run_cuda_opt(void *self, const exec_case *c, void *out, un__err *err) {
  return run_on(self, ((un__device *)self)->target, UN__FORMAT_CUDA_C, true, c, out, err);
}

/* Without a GPU: the compiler takes every kernel, and there it ends, as skipped. */
static un_status open_compiler(void **out, un__err *err) {
  int major, minor;
  UN__TRY(un__nvrtc_version(0, &major, &minor, err));
  return un__cuda_open("sm_90a", (un__device **)out, err);
}

/* Nothing else may be what is not supported. */
static un_status run_compiler(void *self, const exec_case *c, void *out, un__err *err) {
  un_status st = run_cuda_opt(self, c, out, err);
  return st == UN_ERR_UNSUPPORTED && !strstr(err->text, "cannot run kernels") ? UN_ERR_COMPILE : st;
}

const exec_backend exec_cuda_compiled = {"cuda_compiled", false, open_compiler, run_compiler, close_device, .may_miss = true};
const exec_backend exec_cuda = {"cuda", false, open_cuda, run_cuda, close_device, .may_miss = true};
const exec_backend exec_cuda_opt = {"cuda_opt", false, open_cuda, run_cuda_opt, close_device, .may_miss = true};

#ifdef UN_EXEC_CPU
static un_status open_cpu(void **out, un__err *err) { return un__cpu_open(NULL, 2, (un__device **)out, err); }

static un_status run_cpu(void *self, const exec_case *c, void *out, un__err *err) {
  return run_on(self, ((un__device *)self)->target, UN__FORMAT_LLVM_IR, false, c, out, err);
}

static un_status run_cpu_opt(void *self, const exec_case *c, void *out, un__err *err) {
  return run_on(self, ((un__device *)self)->target, UN__FORMAT_LLVM_IR, true, c, out, err);
}

const exec_backend exec_cpu = {"cpu", false, open_cpu, run_cpu, close_device};
const exec_backend exec_cpu_opt = {"cpu_opt", false, open_cpu, run_cpu_opt, close_device};
#endif
