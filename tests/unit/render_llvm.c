/* Linear kernels as LLVM IR: what is written compiles, and computes what the list says. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/device.h"
#include "render_llvm/render_llvm.h"
#include "uop/text.h"

static un__err err;
static un__graph *ws;
static un__device *cpu;

static void setup(void) {
  err = (un__err){0};
  ws = un__workspace_create(&err);
  cr_assert_eq(un__cpu_open(NULL, 1, &cpu, &err), UN_OK, "%s", err.text);
}
static void teardown(void) {
  un__workspace_destroy(ws);
  cpu->vt->destroy(cpu);
}
TestSuite(render_llvm, .init = setup, .fini = teardown);

/* Parses a linear graph, renders and compiles it, and runs it on float buffers. */
static void run(const char *text, float *const *buf, const size_t *n, uint32_t nargs, int64_t tasks) {
  un__parsed_graph parsed;
  size_t count;
  cr_assert_eq(un__parse_text(ws, "test", text, strlen(text), &parsed, 1, &count), UN_OK, "%s", err.text);
  un__strbuf ir;
  un__sb_init(&ir);
  cr_assert_eq(un__render_llvm(parsed.root, "f", cpu->target, &ir, &err), UN_OK, "%s", err.text);
  un__artifact a = {.format = UN__FORMAT_LLVM_IR, .bytes = ir.at, .size = ir.n, .entry = "f", .nargs = nargs};
  a.tasks.n = 1;
  a.tasks.code[0].arg = tasks;
  un__code *code;
  cr_assert_eq(cpu->vt->compile(cpu, &a, &code, &err), UN_OK, "%s\n%s", err.text, ir.at);
  un__mem *mem[4];
  for (uint32_t i = 0; i < nargs; i++) cr_assert_eq(cpu->vt->wrap(cpu, buf[i], n[i] * 4, &mem[i], &err), UN_OK);
  cr_assert_eq(cpu->vt->launch(cpu, code, mem, NULL, &err), UN_OK, "%s", err.text);
  for (uint32_t i = 0; i < nargs; i++) cpu->vt->free(cpu, mem[i]);
  cpu->vt->code_release(cpu, code);
  un__sb_finish(&ir);
}

Test(render_llvm, loops_and_accumulators) {
  static const char text[] =
    "unir 1\ngraph @rowsum stage=linear {\n"
    "  %n = const index [val=1]\n  %sz = const index [val=32]\n  %szo = const index [val=8]\n"
    "  %c8 = const i32 [val=8]\n  %c4 = const i32 [val=4]\n  %z = const i32 [val=0]\n  %f0 = const f32 [val=0.0]\n"
    "  %p0 = param ptr.f32 %szo [slot=0]\n  %p1 = param ptr.f32 %sz [slot=1]\n"
    "  %i = range i32 %c8 [id=0 axis=loop]\n  %acc = define_reg ptr.reg.f32 %n [id=0]\n"
    "  %ai = index ptr.reg.f32 %acc, %z\n  %s0 = store void %ai, %f0\n"
    "  %k = range i32 %c4 [id=1 axis=reduce]\n  %m = mul i32 %i, %c4\n  %a = add i32 %m, %k\n"
    "  %x = index ptr.f32 %p1, %a\n  %v = load f32 %x\n  %o = load f32 %ai\n  %s = add f32 %o, %v\n"
    "  %s1 = store void %ai, %s\n  %e = end void %s1, %k\n  %y = index ptr.f32 %p0, %i\n  %s2 = store void %y, %o\n"
    "  %e2 = end void %s2, %i\n"
    "  linear %n, %sz, %szo, %c8, %c4, %z, %f0, %p0, %p1, %i, %acc, %ai, %s0, %k, %m, %a, %x, %v, %o, %s, %s1, %e, %y, %s2, %e2\n}\n";
  float out[8], in[32];
  for (int i = 0; i < 32; i++) in[i] = (float)i;
  run(text, (float *[]){out, in}, (size_t[]){8, 32}, 2, 1);
  /* The store takes the value loaded before the last update: the list order is what runs. */
  for (int i = 0; i < 8; i++) cr_assert_eq(out[i], in[4 * i] + in[4 * i + 1] + in[4 * i + 2]);
}

Test(render_llvm, vectors_gates_and_nan) {
  static const char text[] =
    "unir 1\ngraph @v stage=linear {\n"
    "  %sz = const index [val=4]\n  %p0 = param ptr.f32 %sz [slot=0]\n  %p1 = param ptr.f32 %sz [slot=1]\n"
    "  %z = const i32 [val=0]\n  %lane = const i32x4 [val=2]\n  %l0 = const i32 [val=1]\n  %l1 = const i32 [val=2]\n  %l2 = const i32 [val=3]\n"
    "  %iota = vectorize i32x4 %z, %l0, %l1, %l2\n  %g = lt boolx4 %iota, %lane\n"
    "  %xi = index ptr.f32 %p1, %z, %g\n  %x = load f32x4 %xi\n  %q = recip f32x4 %x\n  %m = max f32x4 %x, %q\n"
    "  %no = const bool [val=false]\n  %h = hreduce f32 %x [op=max]\n"
    "  %yi = index ptr.f32 %p0, %z\n  %st = store void %yi, %m\n"
    "  %y3 = index ptr.f32 %p0, %l2\n  %st3 = store void %y3, %h\n"
    "  %y9 = index ptr.f32 %p0, %l1, %no\n  %st9 = store void %y9, %h\n"
    "  linear %sz, %p0, %p1, %z, %lane, %l0, %l1, %l2, %iota, %g, %xi, %x, %q, %m, %no, %h, %yi, %st, %y3, %st3, %y9, %st9\n}\n";
  float out[4], in[4] = {4, NAN, 7, 7};
  run(text, (float *[]){out, in}, (size_t[]){4, 4}, 2, 1);
  cr_assert_eq(out[0], 4);
  cr_assert(isnan(out[1]));
  cr_assert(isinf(out[2]), "1 / a masked lane, which is 0");
  cr_assert(isnan(out[3]), "NaN wins a maximum");
}
