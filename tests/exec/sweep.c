/* sweep.c - EXP EXP2 LOG LOG2 SIN COS TANH of f32, as compiled for the CPU or a GPU, against the C library in double: every input, or
 * every STEP-th. usage: sweep cpu|cuda FUNCTION [STEP]. TAP output; fails above 2 units in the last place, or where a special
 * value or the sign of a zero differs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "codegen/codegen.h"
#include "device/device.h"
#include "opt/opt.h"
#include "render_cuda/render_cuda.h"
#include "render_llvm/render_llvm.h"
#include "uop/graph.h"

enum { CHUNK = 1 << 20 };

typedef struct function { const char *name; un__op op; double (*of)(double); } function;
static const function functions[] = {
  {"exp", UN__OP_EXP, exp}, {"exp2", UN__OP_EXP2, exp2}, {"log", UN__OP_LOG, log}, {"log2", UN__OP_LOG2, log2}, {"sin", UN__OP_SIN, sin},
  {"cos", UN__OP_COS, cos}, {"tanh", UN__OP_TANH, tanh},
};

/* Where it runs. */
typedef struct backend {
  const char *name;
  un_status (*open)(un__device **out);
  un__format format;
  un_status (*render)(const un_uop *linear, const char *entry, const un__target *t, un__strbuf *out, un__err *err);
} backend;

static un__err err;

static un_status open_cpu(un__device **out) { return un__cpu_open(NULL, 2, out, &err); }
static un_status open_cuda(un__device **out) { return un__cuda_open("0", out, &err); }
static const backend backends[] = {
  {"cpu", open_cpu, UN__FORMAT_LLVM_IR, un__render_llvm}, {"cuda", open_cuda, UN__FORMAT_CUDA_C, un__render_cuda}};

static const un_uop *param(un__graph *g, int64_t slot) {
  const un_uop *size = un__idx(g, CHUNK);
  return un__uop(g, UN__OP_PARAM, un__dt_ptr(UN_F32, UN__SPACE_GLOBAL), &size, 1, &slot, 1);
}

static const un_uop *element(un__graph *g, const un_uop *p, const un_uop *i) {
  return un__uop(g, UN__OP_INDEX, p->dtype, (const un_uop *[]){p, i}, 2, NULL, 0);
}

/* out[i] = op(in[i]) */
static const un_uop *kernel(un__graph *g, un__op op, const un__target *t) {
  const un_uop *i = un__range(g, un__idx(g, CHUNK), UN__AXIS_LOOP, 0), *at = element(g, param(g, 1), i);
  const un_uop *x = un__uop(g, UN__OP_LOAD, UN__DT(UN_F32), &at, 1, NULL, 0);
  const un_uop *store = un__binary(g, UN__OP_STORE, element(g, param(g, 0), i), un__unary(g, op, x));
  const un_uop *end = un__binary(g, UN__OP_END, store, i), *sink = un__sink(g, &end, 1);
  un__opt_plan plan;
  if (!sink || un__opt_heuristic(sink, t, UN__LIC_PRECISE, &plan, NULL) != UN_OK) return NULL;
  return un__opt_apply(g, sink, &plan, t, UN__LIC_PRECISE);
}

static un_status compile(un__device *d, const backend *b, un__op op, un__code **out) {
  un__graph *g = un__workspace_create(&err);
  const un_uop *k = g ? kernel(g, op, d->target) : NULL, *list = k ? un__lower(g, k, d->target, UN__LIC_PRECISE) : NULL;
  un__strbuf text;
  un__sb_init(&text);
  if (list && b->render(list, "swept", d->target, &text, &err) == UN_OK) {
    un__linear_facts facts = un__linear_facts_of(list);
    un__artifact art = {.format = b->format, .bytes = un__sb_str(&text), .size = text.n, .entry = "swept", .nargs = facts.nargs,
                        .tasks = {.n = 1, .code = {{UN__LAUNCH_CONST, facts.tasks}}}, .group = (uint32_t)facts.group,
                        .local_bytes = facts.local_bytes};
    d->vt->compile(d, &art, out, &err);
  }
  un__sb_finish(&text);
  un__workspace_destroy(g);
  return err.status;
}

/* |got - want| in units of the last place of f32 at want; an infinity counts as 2^128. */
static double ulps(float got, double want) {
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : HUGE_VAL;
  if (isinf(want)) return got == want ? 0 : HUGE_VAL;
  if (want == 0 && (got != 0 || !signbit(got) != !signbit(want))) return HUGE_VAL;
  double g = isinf(got) ? copysign(0x1p128, got) : got;
  if (fabs(want) > 0x1p128) want = copysign(0x1p128, want);
  int e = want == 0 ? -126 : ilogb(want) < -126 ? -126 : ilogb(want);
  return fabs(g - want) / ldexp(1, e - 23);
}

typedef struct worst { double ulp; float at; uint64_t count; } worst;

static void compare(const function *f, const float *in, const float *out, worst *w) {
  for (int i = 0; i < CHUNK; i++) {
    double want = f->of((double)in[i]);
    float nearest = (float)want;
    if (memcmp(&nearest, &out[i], sizeof nearest) == 0) continue;
    double u = ulps(out[i], want);
    if (u > w->ulp) w->ulp = u, w->at = in[i];
  }
  w->count += CHUNK;
}

/* The bits of the next chunk; the last one of a stepped sweep wraps around, which does no harm. */
static void fill(float *in, uint64_t *bits, uint64_t step) {
  for (int i = 0; i < CHUNK; i++, *bits += step) {
    uint32_t b = (uint32_t)*bits;
    memcpy(&in[i], &b, sizeof b);
  }
}

/* One chunk through the device. */
static bool run_chunk(un__device *d, un__code *code, un__mem *const mem[2], const float *in, float *out) {
  return d->vt->write(d, mem[1], 0, in, CHUNK * sizeof *in, &err) == UN_OK && d->vt->launch(d, code, mem, NULL, &err) == UN_OK &&
         d->vt->sync(d, &err) == UN_OK && d->vt->read(d, mem[0], 0, out, CHUNK * sizeof *out, &err) == UN_OK;
}

static un_status sweep(un__device *d, un__code *code, const function *f, uint64_t step, worst *w) {
  float *in = calloc(CHUNK, sizeof *in), *out = calloc(CHUNK, sizeof *out);
  un__mem *mem[2] = {NULL, NULL};
  if (!in || !out) un__fail(&err, UN_ERR_NOMEM, "no memory for the samples");
  for (int k = 0; k < 2 && err.status == UN_OK; k++) d->vt->alloc(d, CHUNK * sizeof *in, &mem[k], &err);
  for (uint64_t bits = 0; err.status == UN_OK && bits < UINT64_C(1) << 32;) {
    fill(in, &bits, step);
    if (run_chunk(d, code, mem, in, out)) compare(f, in, out, w);
  }
  for (int k = 0; k < 2; k++)
    if (mem[k]) d->vt->free(d, mem[k]);
  free(in);
  free(out);
  return err.status;
}

static int run(const backend *b, const function *f, uint64_t step) {
  un__device *d;
  un__code *code = NULL;
  worst w = {0};
  if (b->open(&d) != UN_OK) {
    printf("1..0 # SKIP %s: %s\n", b->name, err.text);
    return 0;
  }
  if (compile(d, b, f->op, &code) == UN_OK) sweep(d, code, f, step, &w);
  if (code) d->vt->code_release(d, code);
  d->vt->destroy(d);
  bool good = err.status == UN_OK && w.ulp <= 2;
  printf("1..1\n%sok 1 - %s: %.4f ulp at %.9g over %llu inputs\n", good ? "" : "not ", f->name, w.ulp, w.at, (unsigned long long)w.count);
  if (err.status != UN_OK) printf("# %s\n", err.text);
  return good ? 0 : 1;
}

static const backend *backend_of(const char *name) {
  for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
    if (!strcmp(backends[i].name, name)) return &backends[i];
  return NULL;
}

static const function *function_of(const char *name) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (!strcmp(functions[i].name, name)) return &functions[i];
  return NULL;
}

int main(int argc, char **argv) {
  const backend *b = argc > 2 ? backend_of(argv[1]) : NULL;
  const function *f = argc > 2 ? function_of(argv[2]) : NULL;
  uint64_t step = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
  if (b && f && step) return run(b, f, step);
  fprintf(stderr, "usage: sweep cpu|cuda exp|exp2|log|log2|sin|cos|tanh [STEP]\n");
  return 2;
}
