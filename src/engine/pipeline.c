/* pipeline.c - the whole story on one screen: tensor graph, schedule, kernel, linear list, text, code.
 *
 * Each step is another folder's; the graph between two steps keeps the contract of docs/stages.md. */
#include "engine_parts.h"

#include <string.h>

#include "codegen/codegen.h"
#include "kept.h"
#include "opt/opt.h"
#include "rangeify/rangeify.h"
#include "render_c/render_c.h"
#include "render_cuda/render_cuda.h"
#include "render_llvm/render_llvm.h"
#include "tuned.h"
#include "uop/text.h"
#include "verdict.h"

const char un__kernel_entry[] = "kernel";

const un_uop *un__schedule(un__graph *ws, const un_uop *root, int64_t ninputs, int device, const un__target *t, uint32_t licences,
                           int64_t *out_result_slots) {
  un__rangeify_options opt = {.licences = licences, .device = device, .threads = t->threads, .min_parallel_work = t->min_parallel_work,
                              .online = t->online_pays};
  /* A quarter of a GPU at work costs less than a kernel more; who takes that kernel gets parts for all of it. */
  if (t->gpu.arch) opt.threads = t->gpu.units / 4, opt.parts = 2 * t->gpu.units;
  return un__rangeify(ws, root, ninputs, &opt, out_result_slots);
}

const un_uop *un__optimise(un__graph *ws, const un_uop *body, const un__target *t, uint32_t licences, un__strbuf *why) {
  un__opt_plan plan;
  un_status status = un__opt_heuristic(body, t, licences, &plan, why);
  if (status == UN_OK) return un__opt_apply(ws, body, &plan, t, licences);
  un__fail(un__graph_err(ws), status, "a kernel cannot be optimised: %s", un_status_str(status));
  return NULL;
}

static void say_plan(const un__opt_found *found, un__strbuf *why) {
  un__sb_printf(why, "tuned: best of %u candidates, ", found->candidates);
  un__put_scaled(why, found->seconds);
  un__sb_puts(why, "s, ");
  un__put_scaled(why, found->heuristic_seconds);
  un__sb_puts(why, "s by the heuristics\n");
  un__opt_plan_print(&found->plan, why);
}

static const un_uop *optimise_as(un__engine *e, un__graph *ws, const un_uop *body, const un__target *t, uint32_t licences,
                                 const un__opt_found *plan, un__strbuf *why) {
  if (e->planner) return e->planner(e->planner_data, ws, body, t, licences);
  if (!plan) return un__optimise(ws, body, t, licences, why);
  if (why) say_plan(plan, why);
  return un__opt_apply(ws, body, &plan->plan, t, licences);
}

bool un__lower_kernel(un__engine *e, un__graph *ws, const un_uop *body, const un__target *t, uint32_t licences,
                      const un__opt_found *plan, un__strbuf *why, un__lowered *out) {
  *out = (un__lowered){.kernel = body, .optimised = optimise_as(e, ws, body, t, licences, plan, why)};
  out->linear = out->optimised ? un__lower(ws, out->optimised, t, licences) : NULL;
  return out->linear != NULL;
}

/* ---- what each kind of device takes ---- */

static un_status render_llvm(const un_uop *linear, const un__device *d, un__strbuf *out, un__err *err) {
  return un__render_llvm(linear, un__kernel_entry, d->target, out, err);
}

static un_status render_c(const un_uop *linear, const un__device *d, un__strbuf *out, un__err *err) {
  return un__render_c(linear, un__kernel_entry, d->target, out, err);
}

static un_status render_cuda(const un_uop *linear, const un__device *d, un__strbuf *out, un__err *err) {
  return un__render_cuda(linear, un__kernel_entry, d->target, out, err);
}

static un_status render_un(const un_uop *linear, const un__device *d, un__strbuf *out, un__err *err) {
  un__print_text(out, linear, un__kernel_entry, UN__STAGE_LINEAR, false);
  return UN_OK;
}

typedef struct renderer {
  const char *kind;
  un__format format;
  un_status (*render)(const un_uop *linear, const un__device *d, un__strbuf *out, un__err *err);
} renderer;

/* null is fed what cpu would compile. */
static const renderer renderers[] = {
  {"cpu", UN__FORMAT_LLVM_IR, render_llvm},
  {"cc", UN__FORMAT_C, render_c},
  {"cuda", UN__FORMAT_CUDA_C, render_cuda},
  {"interp", UN__FORMAT_UN_LINEAR, render_un},
  {"null", UN__FORMAT_LLVM_IR, render_llvm},
};

static const renderer *renderer_of(const un__device *d) {
  for (size_t i = 0; i < sizeof renderers / sizeof *renderers; i++)
    if (strcmp(renderers[i].kind, d->vt->kind) == 0) return &renderers[i];
  return NULL;
}

const char *un__source_comment(const un__device *d) {
  static const char *const mark[] = {
    [UN__FORMAT_LLVM_IR] = "; ", [UN__FORMAT_UN_LINEAR] = "# ", [UN__FORMAT_C] = "// ", [UN__FORMAT_CUDA_C] = "// "};
  const renderer *r = renderer_of(d);
  return r ? mark[r->format] : "# ";
}

/* What is wrong with a list must be known before LLVM gets it: its own errors end the process. */
un_status un__render(const un_uop *linear, const un__device *d, un__format *out_format, un__strbuf *out, un__err *err) {
  UN__TRY(un__verify(linear, UN__STAGE_LINEAR, err, NULL));
  const renderer *r = renderer_of(d);
  if (!r) return un__fail(err, UN_ERR_INTERNAL, "no renderer for device %s", d->name);
  *out_format = r->format;
  UN__TRY(r->render(linear, d, out, err));
  return out->failed ? un__fail(err, UN_ERR_NOMEM, "no memory for a kernel's text") : UN_OK;
}

un__artifact un__artifact_of(const un_uop *linear, un__format format, const un__strbuf *text) {
  un__linear_facts f = un__linear_facts_of(linear);
  un__artifact a = {.format = format, .bytes = un__sb_str(text), .size = text->n, .entry = un__kernel_entry,
                    .nargs = f.nargs, .nvars = f.nvars, .group = f.group < 0 ? 0 : (uint32_t)f.group,
                    .local_bytes = f.local_bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)f.local_bytes,
                    .waits = format == UN__FORMAT_CUDA_C && un__cuda_waits(linear)};
  a.tasks.n = 1;
  a.tasks.code[0].op = UN__LAUNCH_CONST;
  a.tasks.code[0].arg = f.tasks;
  return a;
}

/* Kernel to code. key: under which the code is kept for other processes; NULL: it is not. */
static void compile_body(un__engine *e, un__graph *ws, const un_uop *body, un__device *d, uint32_t licences,
                         const un__opt_found *plan, const un__strbuf *key, un__kernel *out, un__err *err) {
  un__strbuf text;
  un__sb_init(&text);
  un__lowered stages;
  un__format format;
  un__blob binary = {NULL, 0};
  if (un__lower_kernel(e, ws, body, d->target, licences, plan, NULL, &stages) &&
      un__render(stages.linear, d, &format, &text, err) == UN_OK) {
    un__artifact a = un__artifact_of(stages.linear, format, &text);
    a.keep = key ? &binary : NULL;
    out->nargs = a.nargs;
    if (a.nvars) un__fail(err, UN_ERR_UNSUPPORTED, "kernels with variables cannot be launched yet");
    else if (d->vt->compile(d, &a, &out->code, err) == UN_OK && binary.bytes) un__kept_save(e, key, &a, &binary);
  }
  un__free(binary.bytes);
  un__sb_finish(&text);
}

/* By the plan of a tuning record or, where there is none or it is not asked for, by that of the heuristics. */
static bool compile_once(un__engine *e, const un_uop *body, un__device *d, uint32_t licences, bool ask, un__kernel *out, un__err *err) {
  bool tuned = false;
  un__graph *ws = un__workspace_create(err);
  const un_uop *own = ws ? un__import(ws, body, NULL) : NULL;
  if (own) {
    un__strbuf key;
    un__opt_found found;
    tuned = ask && un__tuned_plan(e, d, own, licences, &found, &err->log);
    bool kept = un__kept_key(e, own, d, licences, tuned ? &found.plan : NULL, &key, &err->log);
    if (!kept || !un__kept_load(e, d, &key, out))
      compile_body(e, ws, own, d, licences, tuned ? &found : NULL, kept ? &key : NULL, out, err);
    un__sb_finish(&key);
    if (tuned && !out->code && err->status != UN_ERR_NOMEM) un__tuned_forget(e, d, own, licences, &err->log);
  }
  un__workspace_destroy(ws);
  return tuned;
}

un_status un__compile_kernel(un__engine *e, const un_uop *body, int device, uint32_t licences, un__kernel *out, un__err *err) {
  un__device *d = e->device[device];
  un__err local = {.log = err->log};
  bool tuned = compile_once(e, body, d, licences, true, out, &local);
  if (tuned && !out->code && local.status != UN_ERR_NOMEM) {      /* what another compiler took */
    local = (un__err){.log = err->log};
    compile_once(e, body, d, licences, false, out, &local);
  }
  if (!out->code) un__fail(&local, UN_ERR_INTERNAL, "a kernel was not compiled, and no stage said why");
  if (local.status == UN_ERR_VERIFY) local.status = UN_ERR_INTERNAL;      /* no user wrote that list */
  un__crash_file(body, UN__STAGE_KERNEL, &local);
  return un__err_copy(err, &local);
}
