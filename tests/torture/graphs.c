/* graphs.c - scenarios below the API: texts, rules, each stage of the compiler, files, programs on host arrays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/folder.h"
#include "base/npy.h"
#include "codegen/codegen.h"
#include "engine/program.h"
#include "engine/tuning.h"
#include "interp/interp.h"
#include "opt/search.h"
#include "programs.h"
#include "rangeify/rangeify.h"
#include "render_c/render_c.h"
#include "render_cuda/render_cuda.h"
#include "render_llvm/render_llvm.h"
#include "simplify/simplify.h"
#include "torture.h"
#include "uop/text.h"

/* A text that may have failed is no result. */
static un_status see_buffer(trial *t, un__strbuf *text) {
  if (text->failed) return UN_ERR_NOMEM;
  see_text(t, un__sb_str(text));
  return UN_OK;
}

static un_status see_graph(trial *t, const un_uop *root, un__stage stage) {
  un__strbuf text;
  un__sb_init(&text);
  un__print_text(&text, root, "g", stage, true);
  un__print_tree(&text, root, true);
  un_status status = see_buffer(t, &text);
  un__sb_finish(&text);
  return status;
}

/* Runs `body` with a workspace of its own. */
static un_status in_workspace(trial *t, un_status (*body)(trial *t, un__graph *ws)) {
  un__err err = {0};
  un__graph *ws = un__workspace_create(&err);
  un_status status = ws ? body(t, ws) : err.status;
  un__workspace_destroy(ws);
  return status;
}

/* ---- texts ---- */

static un_status parse(un__graph *ws, const char *text, un__parsed_graph *out) {
  size_t n;
  return un__parse_text(ws, "t", text, strlen(text), out, 1, &n);
}

static const char sound[] =
  "unir 1\ngraph @g stage=tensor {\n  %n = const index [val=4]\n  %x = buffer f32 %n [slot=0 device=0]\n"
  "  %y = exp f32 %x\n  %z = add f32 %x, %y\n  sink %z, %y\n}\n";

static un_status parse_sound(trial *t, un__graph *ws) {
  un__parsed_graph g;
  UN__TRY(parse(ws, sound, &g));
  UN__TRY(un__verify(g.root, g.stage, un__graph_err(ws), NULL));
  return see_graph(t, g.root, g.stage);
}

static const char *const hostile[] = {
  "", "unir 2\n", "unir 1\ngraph @g", "unir 1\ngraph @g stage=tensor {\n  %0 = const index [val=4]\n",
  "unir 1\ngraph @g stage=moon {\n}\n",
  "unir 1\ngraph @g stage=tensor {\n  %0 = explode f32 %1\n  sink %0\n}\n",
  "unir 1\ngraph @g stage=tensor {\n  %0 = const index [val=4]\n  %0 = const index [val=5]\n  sink %0\n}\n",
  "unir 1\ngraph @g stage=tensor {\n  %0 = const index [val=99999999999999999999]\n  sink %0\n}\n",
  "unir 1\ngraph @g stage=tensor {\n  %0 = buffer f32 [slot=-1]\n  sink %0\n}\n",
  "unir 1\ngraph @g stage=tensor {\n  %0 = const f32 [val=1.0]\n  %1 = const f64 [val=1.0]\n  %2 = add f32 %0, %1\n  sink %2\n}\n",
  "unir 1\ngraph @g stage=linear {\n  %0 = const i32 [val=1]\n  linear %0..%9999999\n}\n",
  "\xff\xfe\x00 binary",
};

static un_status parse_hostile(trial *t, un__graph *ws) {
  un__err *err = un__graph_err(ws);
  for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
    un__parsed_graph g;
    un_status status = parse(ws, hostile[i], &g);
    if (status != UN_ERR_PARSE) return status == UN_OK ? UN_ERR_INTERNAL : status;
    see_text(t, err->text);
    un__err_clear(err);
  }
  return UN_OK;
}

/* A graph with faults: the verifier's report and the annotated text. */
static const char faulty[] =
  "unir 1\ngraph @g stage=schedule {\n  %n = const index [val=4]\n  %p = param ptr.f32 %n [slot=0]\n"
  "  %r = range index %n [id=0 axis=loop]\n  %k = range index %n [id=1 axis=reduce]\n  %i = index ptr.f32 %p, %k\n"
  "  %l = load f64 %i\n  %a = reduce f64 %l, %k [op=add]\n  %b = reduce f64 %l, %k [op=sub]\n  %c = add f64 %a, %b\n"
  "  %o = index ptr.f32 %p, %r\n  %s = store void %o, %c\n  %e = end void %s, %r\n  %t = sink void %e\n"
  "  %m = kernel void %t\n  linear %m, %m\n}\n";

static un_status verify_faulty(trial *t, un__graph *ws) {
  un__parsed_graph g;
  un__strbuf report;
  un__sb_init(&report);
  UN__TRY(parse(ws, faulty, &g));
  un_status status = un__verify(g.root, g.stage, un__graph_err(ws), &report);
  if (status == UN_ERR_VERIFY) {
    see_text(t, un__graph_err(ws)->text);
    status = see_buffer(t, &report);
  } else if (status == UN_OK) {
    status = UN_ERR_INTERNAL;      /* the faults were missed */
  }
  un__sb_finish(&report);
  return status;
}

static un_status parsing(trial *t) { return in_workspace(t, parse_sound); }
static un_status refusing(trial *t) { return in_workspace(t, parse_hostile); }
static un_status verifying(trial *t) { return in_workspace(t, verify_faulty); }

/* ---- rules ---- */

/* Index arithmetic as views make it: flattened, split, flattened again. */
static const char views[] =
  "unir 1\ngraph @g stage=kernel {\n  %a = const index [val=6]\n  %b = const index [val=4]\n  %m = const index [val=48]\n"
  "  %p = param ptr.f32 %m [slot=0]\n  %q = param ptr.f32 %m [slot=1]\n  %t = const index [val=2]\n"
  "  %i = range index %a [id=0 axis=loop]\n  %j = range index %b [id=1 axis=loop]\n  %k = range index %t [id=2 axis=reduce]\n"
  "  %u = mul index %i, %b\n  %v = add index %u, %j\n  %w = floordiv index %v, %b\n  %x = floormod index %v, %b\n"
  "  %y = mul index %w, %b\n  %z = add index %y, %x\n  %f = mul index %k, %m\n  %g = add index %z, %f\n"
  "  %h = floormod index %g, %m\n  %l = index ptr.f32 %q, %h\n  %d = load f32 %l\n  %r = reduce f32 %d, %k [op=add]\n"
  "  %o = index ptr.f32 %p, %z\n  %s = store void %o, %r\n  %e = end void %s, %i, %j\n  sink %e\n}\n";

static un_status simplify_views(trial *t, un__graph *ws) {
  un__parsed_graph g;
  UN__TRY(parse(ws, views, &g));
  const un_uop *root = un__simplify(ws, g.root);
  return root ? see_graph(t, root, g.stage) : un__graph_status(ws);
}

static un_status simplifying(trial *t) { return in_workspace(t, simplify_views); }

/* ---- the compiler ---- */

static const un_uop *schedule_step(un__graph *ws) {
  int64_t ninputs, slots[3];
  const un_uop *root = program_regression_step(ws, 8, &ninputs);
  un__rangeify_options opt = {.licences = UN__LIC_PRECISE, .threads = 2, .min_parallel_work = 32768};
  return root ? un__rangeify(ws, root, ninputs, &opt, slots) : NULL;
}

static un_status schedule_and_see(trial *t, un__graph *ws) {
  const un_uop *schedule = schedule_step(ws);
  return schedule ? see_graph(t, schedule, UN__STAGE_SCHEDULE) : un__graph_status(ws);
}

typedef un_status renderer(const un_uop *linear, const char *entry, const un__target *t, un__strbuf *out, un__err *err);

/* What it is all for: a target and the languages of its kernels. */
typedef struct machine { const char *target; renderer *render[2]; } machine;

static un_status compile_kernel(trial *t, un__graph *ws, const un_uop *kernel, const machine *m, un__strbuf *why, un__strbuf *source) {
  const un__target *target = un__target_by_name(m->target);
  un__opt_plan plan;
  UN__TRY(un__opt_heuristic(kernel, target, UN__LIC_PRECISE, &plan, why));
  const un_uop *optimised = un__opt_apply(ws, kernel, &plan, target, UN__LIC_PRECISE);
  const un_uop *linear = optimised ? un__lower(ws, optimised, target, UN__LIC_PRECISE) : NULL;
  if (!linear) return un__graph_status(ws);
  UN__TRY(see_graph(t, optimised, UN__STAGE_KERNEL));
  UN__TRY(see_graph(t, linear, UN__STAGE_LINEAR));
  for (int i = 0; i < 2 && m->render[i]; i++) UN__TRY(m->render[i](linear, "kernel", target, source, un__graph_err(ws)));
  UN__TRY(see_buffer(t, why));
  return see_buffer(t, source);
}

static un_status compile_for(trial *t, un__graph *ws, const machine *m) {
  const un_uop *schedule = schedule_step(ws);
  if (!schedule) return un__graph_status(ws);
  un_status status = UN_OK;
  for (uint32_t i = 0; i < schedule->nsrc && status == UN_OK; i++) {
    un__strbuf why, source;
    un__sb_init(&why);
    un__sb_init(&source);
    status = compile_kernel(t, ws, schedule->src[i]->src[0], m, &why, &source);
    un__sb_finish(&why);
    un__sb_finish(&source);
  }
  return status;
}

static un_status compile_and_see(trial *t, un__graph *ws) {
  return compile_for(t, ws, &(machine){"generic", {un__render_llvm, un__render_c}});
}
static un_status compile_for_gpu(trial *t, un__graph *ws) {
  return compile_for(t, ws, &(machine){"sm_90a", {un__render_cuda}});
}

/* A product of matrices for a tensor core, in two rounds: its operands are staged ahead. The depth is padded, the left operand computed. */
static const char product[] =
  "unir 1\ngraph @g stage=kernel {\n  %a = const index [val=16]\n  %b = const index [val=56]\n  %m = const index [val=256]\n  %n = const index [val=1024]\n"
  "  %p = param ptr.f32 %m [slot=0]\n  %q = param ptr.f16 %n [slot=1]\n  %r = param ptr.f16 %n [slot=2]\n"
  "  %i = range index %a [id=0 axis=loop]\n  %j = range index %a [id=1 axis=loop]\n  %k = range index %b [id=2 axis=reduce]\n"
  "  %u = mul index %i, %b\n  %v = add index %u, %k\n  %w = index ptr.f16 %q, %v\n  %x = load f16 %w\n  %xn = neg f16 %x\n  %y = cast f32 %xn\n"
  "  %c = mul index %k, %a\n  %d = add index %c, %j\n  %e = index ptr.f16 %r, %d\n  %f = load f16 %e\n  %g = cast f32 %f\n"
  "  %h = mul f32 %y, %g\n  %l = reduce f32 %h, %k [op=add]\n  %o = mul index %i, %a\n  %s = add index %o, %j\n"
  "  %t = index ptr.f32 %p, %s\n  %z = store void %t, %l\n  %0 = end void %z, %i, %j\n  sink %0\n}\n";

static un_status compile_product(trial *t, un__graph *ws) {
  un__parsed_graph g;
  un__strbuf why, source;
  UN__TRY(parse(ws, product, &g));
  un__sb_init(&why);
  un__sb_init(&source);
  un_status status = compile_kernel(t, ws, g.root, &(machine){"sm_90a", {un__render_cuda}}, &why, &source);
  un__sb_finish(&why);
  un__sb_finish(&source);
  return status;
}

static un_status scheduling(trial *t) { return in_workspace(t, schedule_and_see); }
static un_status compiling(trial *t) { return in_workspace(t, compile_and_see); }
static un_status compiling_product(trial *t) { return in_workspace(t, compile_product); }
static un_status compiling_for_gpu(trial *t) { return in_workspace(t, compile_for_gpu); }

/* ---- plans that are searched ---- */

/* Longer plans take less time, but not for ever. */
static un_status time_by_length(void *data, const un__opt_candidate *c, uint32_t n, double *out_seconds) {
  for (uint32_t i = 0; i < n; i++) out_seconds[i] = c[i].plan.n < 3 ? 1.0 / (1 + c[i].plan.n) : 1;
  return UN_OK;
}

static bool is_right(void *data, uint32_t i) { return i != 1; }

static un_status search_and_see(trial *t, un__graph *ws) {
  un__parsed_graph g;
  un__opt_found found, again;
  un__strbuf text;
  UN__TRY(parse(ws, views, &g));
  UN__TRY(un__opt_search(ws, g.root, un__target_generic(), UN__LIC_PRECISE, &(un__opt_search_options){2, 30},
                         &(un__opt_judge){NULL, time_by_length, is_right, NULL}, &found, un__graph_err(ws)));
  un__sb_init(&text);
  un__record_print(&found, &text);
  un_status status = see_buffer(t, &text);
  if (status == UN_OK) status = un__record_parse(un__sb_str(&text), text.n, &again, un__graph_err(ws));
  if (status == UN_OK && !un__opt_apply(ws, g.root, &again.plan, un__target_generic(), UN__LIC_PRECISE)) status = un__graph_status(ws);
  un__sb_finish(&text);
  return status;
}

static un_status sample_and_see(trial *t, un__graph *ws) {
  static float data[48];
  un__parsed_graph g;
  un__isamples samples = {0};
  UN__TRY(parse(ws, views, &g));
  for (int i = 0; i < 48; i++) data[i] = (float)i / 3;
  un_status status = un__interp_samples(g.root, (void *[]){NULL, data}, (int64_t[]){48, 48}, 2, 5, 10000, &samples, un__graph_err(ws));
  for (size_t i = 0; status == UN_OK && i < samples.n; i++) see(t, &samples.at[i].value.f, sizeof samples.at[i].value.f);
  un__vec_finish(&samples);
  return status;
}

static un_status searching(trial *t) { return in_workspace(t, search_and_see); }
static un_status sampling(trial *t) { return in_workspace(t, sample_and_see); }

/* ---- .npy files ---- */

static un_status see_file(trial *t, const char *path) {
  static const int64_t dim[] = {2, 3};
  static const int16_t data[] = {1, 2, 3, 4, 5, 6};
  un__err err = {0};
  un__npy a;
  void *bytes = NULL;
  UN__TRY(un__npy_save(path, UN_I16, 2, dim, data, &err));
  un_status status = un__npy_load(path, &bytes, &a, &err);
  if (status == UN_OK) {
    see(t, a.dim, a.rank * sizeof *a.dim);
    see(t, a.data, a.size);
  }
  un__free(bytes);
  return status;
}

static un_status npy_files(trial *t) {
  char folder[512], path[600];
  if (!un__temp_folder("torture", folder, sizeof folder)) return UN_ERR_IO;
  snprintf(path, sizeof path, "%s/file.npy", folder);
  un_status status = see_file(t, path);
  un__remove_folder(folder);
  if (status != UN_OK) return status;
  un__err err = {0};
  un__npy a;
  void *bytes = NULL;
  status = un__npy_load("/nonexistent/file.npy", &bytes, &a, &err);
  un__free(bytes);
  if (status != UN_ERR_IO) return status == UN_OK ? UN_ERR_INTERNAL : status;
  see_text(t, err.text);
  err = (un__err){0};
  status = un__npy_parse("t", "\x93NUMPY\x01\x00\xff\xff{'descr': '<f4', ", 27, &a, &err);
  see_text(t, err.text);
  return status == UN_ERR_PARSE ? UN_OK : status == UN_OK ? UN_ERR_INTERNAL : status;
}

/* ---- programs on host arrays: what `unir run` does ---- */

static un_status run_program(trial *t, un__graph *ws, un__world *world, un__err *err) {
  static float data[4] = {1, 2, 3, 4};
  un__itensor in = {.dtype = UN__DT(UN_F32), .rank = 1, .dim = {4}, .data = data}, out[2] = {0};
  un__parsed_graph g;
  UN__TRY(parse(ws, sound, &g));
  un__session *session = un__session_create(world, err);
  un__engine *engine = NULL;
  int device;
  un_status status = session ? un__engine_create(world, &engine, err) : err->status;
  if (status == UN_OK) status = un__engine_device(engine, "interp", &device, err);
  if (status == UN_OK) status = un__engine_run(engine, session, g.root, &in, 1, device, UN__LIC_PRECISE, out, err);
  for (int i = 0; i < 2; i++) {
    if (status == UN_OK) see(t, out[i].data, sizeof data);
    un__free(out[i].data);
  }
  un__session_destroy(session);
  un__engine_destroy(engine);
  return status;
}

static un_status programs(trial *t) {
  un__err err = {0}, graph_err = {0};
  un__graph *ws = un__workspace_create(&graph_err);
  un__world *world = un__world_create();
  un_status status = ws && world ? run_program(t, ws, world, &err) : UN_ERR_NOMEM;
  un__world_release(world);
  un__workspace_destroy(ws);
  return status;
}

const scenario graph_scenarios[] = {
  {"parsing", NULL, parsing},         {"refusing", NULL, refusing},     {"verifying", NULL, verifying},
  {"simplifying", NULL, simplifying}, {"scheduling", NULL, scheduling}, {"compiling", NULL, compiling},
  {"npy files", NULL, npy_files},     {"programs", NULL, programs},     {"compiling for a GPU", NULL, compiling_for_gpu},
  {"searching", NULL, searching},     {"sampling", NULL, sampling},
  {"compiling for tensor cores", NULL, compiling_product},
};
const size_t graph_nscenarios = sizeof graph_scenarios / sizeof *graph_scenarios;
